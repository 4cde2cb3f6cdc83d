/* SPDX-License-Identifier: Apache-2.0 */
/* up_print.c: how a live federation went, for people and for programs. See up.h. */
#include "cli/terminal/dress.h"
#include "cli/up/up.h"
#include "show/bound_fit.h"
#include "show/output.h"
#include "show/plan_words.h"
#include "store/atomic_file.h"
#include "store/json.h"
#include "store/look_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool caucus_up_number(const char *text, const char *key, unsigned long long *ret) {
    const char *at = strstr(text, key);
    char *end = NULL;
    if (!at)
        return false;
    *ret = strtoull(at + strlen(key), &end, 10);
    return end != at + strlen(key);
}

static void print_json(const caucus_up *u, const caucus_up_compared *c) {
    const caucus_settings *s = &u->prepared.plan[0]->settings;
    unsigned long long scalars = 0, in = 0, out = 0, commits = 0;
    (void)caucus_up_number(u->summary, "\"scalars_up\": ", &scalars);
    (void)caucus_up_number(u->summary, "\"bytes_in\": ", &in);
    (void)caucus_up_number(u->summary, "\"bytes_out\": ", &out);
    (void)caucus_up_number(u->summary, "\"commits\": ", &commits);
    caucus_json j;
    caucus_dress_data();
    caucus_json_begin(&j, stdout, false);
    caucus_history_json(&j, u->history);
    caucus_json_truth(&j, "equal", c->equal && c->look);
    caucus_json_text(&j, "algorithm", caucus_algorithm_word(s->algorithm));
    caucus_json_text(&j, "adversary", caucus_adversary_kind_word(u->prepared.run[0].adversary.kind));
    caucus_json_text(&j, "trust", caucus_trust_word(s->trust));
    caucus_json_whole(&j, "clients", s->clients);
    caucus_json_whole(&j, "relays", u->relays);
    caucus_json_whole(&j, "experts", s->experts);
    caucus_json_whole(&j, "rounds", caucus_run_rounds(&u->prepared.run[0], s));
    caucus_json_truth(&j, "endless", caucus_plan_is_endless(u->prepared.plan[0]));
    caucus_json_whole(&j, "seed", u->prepared.run[0].seed);
    caucus_json_truth(&j, "private", false);
    caucus_json_real(&j, "epsilon", s->epsilon);
    caucus_json_text(&j, "unit", caucus_unit_word(s->unit));
    caucus_json_real(&j, "epsilon_device", caucus_plan_epsilon_device(u->prepared.plan[0]));
    caucus_json_real(&j, "regret", c->regret_live);
    caucus_json_real(&j, "regret_simulated", c->simulation.regret);
    caucus_json_whole(&j, "switches", c->simulation.switches);
    caucus_json_whole(&j, "expert", c->simulation.last);
    caucus_json_text(&j, "expert_name", caucus_plan_expert_name(u->prepared.plan[0], c->simulation.last));
    caucus_json_whole(&j, "best", c->simulation.best);
    caucus_json_text(&j, "best_name", caucus_plan_expert_name(u->prepared.plan[0], c->simulation.best));
    caucus_look_json(&j, "look", c->simulation.look.clients > 0 && c->look ? &c->simulation.look : NULL,
                     u->prepared.plan[0]);
    caucus_json_whole(&j, "scalars_up", scalars);
    caucus_json_whole(&j, "scalars_up_simulated", c->simulation.scalars_up);
    caucus_json_whole(&j, "bytes_in", in);
    caucus_json_whole(&j, "bytes_out", out);
    caucus_json_whole(&j, "commits", commits);
    caucus_json_real(&j, "seconds", round(u->seconds * 1000) / 1000);
    caucus_json_end(&j);
}

static void print_weak(const caucus_plan *plan) {
    char weak[CAUCUS_PLAN_WEAKNESSES][CAUCUS_PLAN_WEAKNESS_BYTES];
    const size_t count = caucus_plan_weaknesses(plan, weak);
    for (size_t i = 0; i < count; i++)
        printf("  WEAK: %s\n", weak[i]);
}

static void print_table(const caucus_up *u, const caucus_up_compared *c) {
    const caucus_plan *plan = u->prepared.plan[0];
    const caucus_settings *s = &plan->settings;
    unsigned long long scalars = 0, in = 0, out = 0, paper = 0;
    (void)caucus_up_number(u->summary, "\"scalars_up\": ", &scalars);
    (void)caucus_up_number(u->summary, "\"scalars_paper\": ", &paper);
    (void)caucus_up_number(u->summary, "\"bytes_in\": ", &in);
    (void)caucus_up_number(u->summary, "\"bytes_out\": ", &out);
    const caucus_adversary_settings *losses = &u->prepared.run[0].adversary;
    const bool own = losses->kind == CAUCUS_ADVERSARY_LOSSES;
    const bool unnamed = u->scenario.field[CAUCUS_FIELD_ALGORITHM].count == 0;
    printf("  NOT PRIVATE (seeded): seed %llu%s%s.\n", (unsigned long long)u->prepared.run[0].seed,
           !own      ? ", simulated losses"
           : unnamed ? ""
                     : ", your own losses",
           unnamed ? caucus_output_unnamed(&u->prepared.run[0]).text : "");
    print_weak(plan);
    char behind[40] = "";
    if (u->relays > 0)
        (void)snprintf(behind, sizeof behind, " behind %u relay%s", u->relays, u->relays == 1 ? "" : "s");
    printf("  %s %s %s: %u clients over mutual TLS%s, %u experts, %" PRIu64 " %s, epsilon %g, %.1f s\n",
           caucus_algorithm_word(s->algorithm), own ? "on" : "against",
           own ? caucus_path_tail(losses->losses) : caucus_adversary_kind_word(losses->kind), s->clients, behind,
           s->experts, caucus_run_rounds(&u->prepared.run[0], s), s->pace == CAUCUS_PACE_OWN ? "phases" : "rounds",
           s->epsilon, u->seconds);
    printf("  Unit        %s\n", caucus_words_unit(s));
    if (caucus_plan_is_endless(plan))
        printf("  Device      everything that one client contributes to a run without an end: no bound\n");
    else
        printf("  Device      everything that one client contributes: epsilon %.4g at most%s\n",
               caucus_plan_epsilon_device(plan), caucus_words_delta(caucus_plan_delta(plan)).text);
    printf("  Regret      %.4g per client", c->regret_live);
    if (caucus_bound_holds(plan, &u->prepared.run[0].adversary))
        printf(" (proven \xe2\x89\xa4 %.4g)", plan->bound);
    printf(", %" PRIu64 " switches\n", c->simulation.switches);
    printf("  Expert      %s in force at the end; best in hindsight: %s\n",
           caucus_plan_expert_words(plan, c->simulation.last).text,
           caucus_plan_expert_words(plan, c->simulation.best).text);
    printf("  Traffic     %.1f numbers up per client (the paper's protocol: %.1f)", (double)scalars / s->clients,
           (double)paper / s->clients);
    if (u->relays == 0) /* else it is the relays that have it */
        printf("; %llu bytes in, %llu bytes out", in, out);
    putchar('\n');
    if (c->simulation.look.clients > 0) {
        char look[CAUCUS_LOOK_WORDS_BYTES];
        caucus_look_words(&c->simulation.look, look);
        printf("  Loss shown  %s, of expert %s in phase %" PRIu64 "%s\n", look,
               caucus_plan_expert_words(plan, c->simulation.look.expert).text, c->simulation.look.phase,
               c->look ? "" : " in the simulation; NOT the one that was shown live");
    }
    if (c->equal)
        printf("  Simulation  equal, expert for expert: %llu choices\n",
               (unsigned long long)s->clients * caucus_run_rounds(&u->prepared.run[0], s));
    else if (c->live == UINT32_MAX)
        printf("  Simulation  NOT equal: client %u has played nothing in round %" PRIu64 ", the simulation expert %s\n",
               c->client, c->round, caucus_plan_expert_words(plan, c->simulated).text);
    else
        printf("  Simulation  NOT equal: client %u, round %" PRIu64 ": expert %s live, %s simulated\n", c->client,
               c->round, caucus_plan_expert_words(plan, c->live).text,
               caucus_plan_expert_words(plan, c->simulated).text);
}

/* What `caucus simulate` says about the same losses. */
static void print_remarks(const caucus_up *u, const caucus_up_compared *c) {
    caucus_trial_result trial = c->simulation;
    const caucus_run_result result = {.plan = u->prepared.plan[0], .trials = 1, .done = 1, .trial = &trial};
    const caucus_outcome outcome = {.run = u->prepared.run, .result = &result, .count = 1, .history = u->history};
    caucus_output_remarks(stderr, &outcome);
}

void caucus_up_print(const caucus_up *u, const caucus_up_compared *compared) {
    if (u->wanted.format == CAUCUS_FORMAT_JSON)
        print_json(u, compared);
    else
        print_table(u, compared);
    fflush(stdout);
    print_remarks(u, compared);
}
