/* up_print.c: how a live federation went, for people and for programs. See up.h. */
#include "cli/up/up.h"
#include "show/bound_fit.h"

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

static void print_json(const caucus_up *u, const caucus_compared *c) {
    const caucus_settings *s = &u->prepared.plan[0]->settings;
    unsigned long long scalars = 0, in = 0, out = 0, commits = 0;
    (void)caucus_up_number(u->summary, "\"scalars_up\": ", &scalars);
    (void)caucus_up_number(u->summary, "\"bytes_in\": ", &in);
    (void)caucus_up_number(u->summary, "\"bytes_out\": ", &out);
    (void)caucus_up_number(u->summary, "\"commits\": ", &commits);
    printf("{\"equal\": %s, \"algorithm\": \"%s\", \"adversary\": \"%s\", \"trust\": \"%s\", \"clients\": %u, "
           "\"experts\": %u, \"rounds\": %" PRIu64 ", "
           "\"seed\": %llu, \"private\": false,\n",
           c->equal ? "true" : "false", caucus_algorithm_word(s->algorithm),
           caucus_adversary_kind_word(u->prepared.run[0].adversary.kind), caucus_trust_word(s->trust), s->clients,
           s->experts, s->rounds, (unsigned long long)u->prepared.run[0].seed);
    if (isfinite(s->epsilon))
        printf(" \"epsilon\": %.17g,", s->epsilon);
    else
        fputs(" \"epsilon\": null,", stdout);
    printf(" \"regret\": %.17g, \"regret_simulated\": %.17g, \"switches\": %" PRIu64 ", \"scalars_up\": %llu, "
           "\"scalars_up_simulated\": %llu,\n",
           c->regret_live, c->simulation.regret, c->simulation.switches, scalars,
           (unsigned long long)c->simulation.scalars_up);
    printf(" \"bytes_in\": %llu, \"bytes_out\": %llu, \"commits\": %llu, \"seconds\": %.3f}\n", in, out, commits,
           u->seconds);
}

static void print_table(const caucus_up *u, const caucus_compared *c) {
    const caucus_plan *plan = u->prepared.plan[0];
    const caucus_settings *s = &plan->settings;
    unsigned long long scalars = 0, in = 0, out = 0, paper = 0;
    (void)caucus_up_number(u->summary, "\"scalars_up\": ", &scalars);
    (void)caucus_up_number(u->summary, "\"scalars_paper\": ", &paper);
    (void)caucus_up_number(u->summary, "\"bytes_in\": ", &in);
    (void)caucus_up_number(u->summary, "\"bytes_out\": ", &out);
    printf("  %s against %s: %u clients over mutual TLS, %u experts, %" PRIu64 " rounds, epsilon %g, %.1f s\n",
           caucus_algorithm_word(s->algorithm), caucus_adversary_kind_word(u->prepared.run[0].adversary.kind),
           s->clients, s->experts, s->rounds, s->epsilon, u->seconds);
    printf("  Regret      %.4g per client", c->regret_live);
    if (caucus_bound_holds(plan, u->prepared.run[0].adversary.kind))
        printf(" (proven \xe2\x89\xa4 %.4g)", plan->bound);
    printf(", %" PRIu64 " switches\n", c->simulation.switches);
    printf("  Traffic     %.1f numbers up per client (the paper's protocol: %.1f); %llu bytes in, %llu bytes out\n",
           (double)scalars / s->clients, (double)paper / s->clients, in, out);
    if (c->equal)
        printf("  Simulation  equal, expert for expert: %llu choices\n", (unsigned long long)s->clients * s->rounds);
    else if (c->live == UINT32_MAX)
        printf("  Simulation  NOT equal: client %u has played nothing in round %" PRIu64 ", the simulation expert %u\n",
               c->client, c->round, c->simulated);
    else
        printf("  Simulation  NOT equal: client %u, round %" PRIu64 ": expert %u live, %u simulated\n", c->client,
               c->round, c->live, c->simulated);
    printf("\n  NOT PRIVATE (seeded): seed %llu, simulated losses.\n", (unsigned long long)u->prepared.run[0].seed);
}

void caucus_up_print(const caucus_up *u, const caucus_compared *compared) {
    if (u->wanted.format == CAUCUS_FORMAT_JSON)
        print_json(u, compared);
    else
        print_table(u, compared);
    fflush(stdout);
}
