/* SPDX-License-Identifier: Apache-2.0 */
/* join_open.c: everything that `caucus join` needs before it plays: the plan, the device's ledger, certificates, the
 * key, the state that it goes on from, and losses. */
#include "cli/complain.h"
#include "cli/config.h"
#include "cli/join/join_law.h"
#include "cli/join/joining.h"
#include "cli/terminal/dress.h"
#include "cli/wanted.h"
#include "plan/pace/pace.h"
#include "scenario/scenario.h"
#include <caucus/plan_file.h>

#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

bool caucus_join_own_pace(const caucus_joining *j) {
    return j->plan->settings.pace == CAUCUS_PACE_OWN;
}

int caucus_join_refuse(const char *option, const char *value, const char *why) {
    return caucus_config_refuse("join", option, value, "%s", why);
}

int caucus_join_complain(caucus_status status, const caucus_error *error) {
    return caucus_complain("join", caucus_join_table, status, error);
}

static int read_plan(caucus_joining *j) {
    caucus_error error = {0};
    caucus_status status = caucus_plan_file_read(j->text[CAUCUS_JOIN_PLAN], &j->plan, &error);
    if (status != CAUCUS_OK)
        return caucus_join_complain(status, &error);
    char weak[CAUCUS_PLAN_WEAKNESSES][CAUCUS_PLAN_WEAKNESS_BYTES];
    const size_t weaknesses = caucus_plan_weaknesses(j->plan, weak);
    for (size_t i = 0; i < weaknesses; i++)
        fprintf(stderr, "%s: WEAK: %s\n", caucus_program("join"), weak[i]);
    if (j->plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX)
        return caucus_join_refuse("plan", j->text[CAUCUS_JOIN_PLAN],
                                  "its losses are convex functions — use the C interface, caucus/link.h");
    const bool endless = caucus_plan_is_endless(j->plan);
    if (j->text[CAUCUS_JOIN_PLAY] && !endless)
        return caucus_join_refuse("play", j->text[CAUCUS_JOIN_PLAY],
                                  "goes with a plan without an end; this one says how many rounds are played");
    if (j->text[CAUCUS_JOIN_ADVERSARY] && endless && !j->text[CAUCUS_JOIN_PLAY])
        return caucus_join_refuse("play", NULL,
                                  "is needed: for how many rounds of a run without an end shall losses be simulated?");
    if (j->plan->settings.trust != CAUCUS_TRUST_COORDINATOR && !caucus_join_own_pace(j) &&
        !j->text[CAUCUS_JOIN_STATE] && !j->text[CAUCUS_JOIN_SEED])
        return caucus_join_refuse(
            "state", NULL,
            "is needed where clients add the noise: without it a restart would draw noise for the same losses again");
    if (j->tick > 0 && j->plan->settings.trust != CAUCUS_TRUST_NOBODY)
        return caucus_join_refuse(
            "tick", j->text[CAUCUS_JOIN_TICK],
            "goes with trust nobody: elsewhere the coordinator, which sees the time, sees the sums too");
    return 0;
}

/* The device's own ledger. Where the coordinator is trusted the budget is kept by it. */
static int read_budget(caucus_joining *j) {
    caucus_complaint complaint;
    caucus_status status =
        caucus_wanted_budget(j->text[CAUCUS_JOIN_LEDGER], j->text[CAUCUS_JOIN_BUDGET], &j->budget, &complaint);
    if (status != CAUCUS_OK)
        return caucus_complain_scenario("join", status, &complaint);
    const bool trusted = j->plan->settings.trust == CAUCUS_TRUST_COORDINATOR;
    if (j->text[CAUCUS_JOIN_LEDGER] && trusted)
        return caucus_join_refuse("ledger", j->text[CAUCUS_JOIN_LEDGER],
                                  "the plan trusts the coordinator, which keeps the budget — caucus serve --ledger");
    if (j->text[CAUCUS_JOIN_LEDGER] && !j->text[CAUCUS_JOIN_STATE])
        return caucus_join_refuse("ledger", j->text[CAUCUS_JOIN_LEDGER],
                                  "needs --state FILE: a run is reserved once for each");
    if (j->text[CAUCUS_JOIN_REPLAY] && caucus_join_own_pace(j) && !j->text[CAUCUS_JOIN_STATE])
        return caucus_join_refuse(
            "replay", NULL,
            "needs --state FILE at its own pace: without one it is not known which losses were reported");
    if (j->text[CAUCUS_JOIN_NEW_DEVICE] && caucus_join_own_pace(j))
        return caucus_join_refuse("new-device", NULL,
                                  "is not needed at its own pace: a client without a state begins with its next slot");
    if (j->text[CAUCUS_JOIN_NEW_DEVICE] && trusted)
        return caucus_join_refuse("new-device", NULL,
                                  "is for plans that trust nobody: here no noise is drawn by clients");
    return 0;
}

/* Before anything can be sent. Returns an exit code, 0: reserved, or there is no ledger. */
static int reserve(const caucus_joining *j) {
    if (j->budget.path == NULL)
        return 0;
    caucus_error error = {0};
    caucus_status status =
        caucus_journal_reserve(j->journal, j->plan, j->index, j->text[CAUCUS_JOIN_SEED] != NULL, j->budget.path,
                               j->budget.given ? j->budget.epsilon : (double)NAN, j->budget.delta, &error);
    return status == CAUCUS_OK ? 0 : caucus_join_complain(status, &error);
}

static int open_dial(caucus_joining *j) {
    caucus_error error = {0};
    bool plain = j->text[CAUCUS_JOIN_INSECURE] != NULL;
    caucus_dial_settings settings = {.cert = plain ? NULL : j->text[CAUCUS_JOIN_CERT],
                                     .key = j->text[CAUCUS_JOIN_KEY],
                                     .ca = j->text[CAUCUS_JOIN_CA],
                                     .tick_ms = (uint32_t)j->tick};
    caucus_status status = caucus_join_dial_open(&j->out, j->text[CAUCUS_JOIN_CONNECT], &settings, &error);
    if (status != CAUCUS_OK)
        return caucus_join_complain(status, &error);
    if (!plain)
        j->index = j->out.index;
    if (j->index == 0)
        return caucus_join_refuse("cert", j->text[CAUCUS_JOIN_CERT], "its common name is not a client's number");
    return 0;
}

static int open_key(caucus_joining *j) {
    if (!j->text[CAUCUS_JOIN_SEED]) {
        if (caucus_key_generate(&j->key) == CAUCUS_OK)
            return 0;
        return caucus_join_complain(CAUCUS_E_RANDOM, &(caucus_error){0});
    }
    caucus_key seeded, run;
    caucus_key_from_seed(j->seed, &seeded);
    caucus_key_derive(&seeded, 0, &run);
    caucus_key_derive(&run, j->index, &j->key);
    fprintf(stderr, "%s: NOT PRIVATE (seeded): whoever knows the seed can subtract the noise\n",
            caucus_program("join"));
    return 0;
}

/* The link knows what is wrong with a state, and not which file it came from. */
int caucus_join_complain_state(const caucus_joining *j, caucus_status status, const caucus_error *error) {
    char line[CAUCUS_ERROR_LINE_BYTES];
    caucus_complain_line(caucus_join_table, status, error, line);
    fprintf(stderr, "%s: --state %s: %s\n", caucus_program("join"), j->text[CAUCUS_JOIN_STATE], line);
    return caucus_exit_code(status);
}

static caucus_status new_link(caucus_joining *j, const uint8_t *state, size_t bytes, caucus_error *ret_error) {
    caucus_link_settings settings;
    caucus_link_settings_init(&settings);
    settings.plan = j->plan;
    settings.index = j->index;
    settings.key = &j->key;
    settings.state = state;
    settings.state_bytes = bytes;
    settings.save = j->journal ? caucus_journal_write : NULL;
    settings.user = j->journal;
    settings.new_device = j->text[CAUCUS_JOIN_NEW_DEVICE] != NULL;
    settings.address = j->out.address;
    settings.addresses = j->out.addresses;
    return caucus_link_new(&settings, &j->link, ret_error);
}

static int open_link(caucus_joining *j) {
    caucus_error error = {0};
    uint8_t *state = NULL;
    size_t bytes = 0;
    caucus_status status = CAUCUS_OK;
    if (j->text[CAUCUS_JOIN_STATE]) {
        status = caucus_journal_open(j->text[CAUCUS_JOIN_STATE], &j->journal, &error);
        if (status == CAUCUS_OK)
            status = caucus_journal_read(j->journal, &state, &bytes, &error);
    }
    bool restoring = status == CAUCUS_OK && bytes > 0;
    int code = 0;
    if (status == CAUCUS_OK)
        status = new_link(j, state, bytes, &error);
    caucus_key_wipe(&j->key);
    if (status == CAUCUS_OK)
        code = reserve(j);
    if (state)
        sodium_memzero(state, bytes);
    free(state);
    if (status != CAUCUS_OK)
        return restoring ? caucus_join_complain_state(j, status, &error) : caucus_join_complain(status, &error);
    if (code != 0)
        return code;
    uint64_t round = caucus_link_round(j->link);
    if (bytes > 0 && caucus_client_stopped(caucus_link_client(j->link)))
        fprintf(stderr, "%s: this run was ended for good\n", caucus_program("join"));
    else if (bytes > 0 && (caucus_join_own_pace(j) ? caucus_link_done(j->link) : round == j->plan->settings.rounds))
        fprintf(stderr, "%s: all rounds were played before\n", caucus_program("join"));
    else if (bytes > 0)
        fprintf(stderr, "%s: going on at %s %" PRIu64 "\n", caucus_program("join"),
                caucus_join_own_pace(j) ? "loss" : "round", round + 1);
    j->printed = round;
    /* Unit client: what was lost with a state is in no mean that will be sent, and a record is the client anyway. */
    j->from_the_start = caucus_join_own_pace(j) && !caucus_pace_by_question(&j->plan->settings) &&
                        (j->text[CAUCUS_JOIN_REPLAY] || j->text[CAUCUS_JOIN_LOSSES]) && bytes == 0;
    return 0;
}

static int open_losses(caucus_joining *j) {
    caucus_error error = {0};
    caucus_status status;
    if (j->text[CAUCUS_JOIN_LOSSES]) {
        status = caucus_losses_from_npy(&j->losses, j->plan, j->index, j->text[CAUCUS_JOIN_LOSSES], &j->play, &error);
    } else if (j->text[CAUCUS_JOIN_ADVERSARY]) {
        caucus_adversary_settings a = {
            .seed = j->seed, .data = j->text[CAUCUS_JOIN_DATA], .genre = j->text[CAUCUS_JOIN_GENRE]};
        status = caucus_adversary_kind_parse(j->text[CAUCUS_JOIN_ADVERSARY], &a.kind, &error);
        const caucus_law_texts law = {j->text[CAUCUS_JOIN_SEGMENTS], j->text[CAUCUS_JOIN_MEANS],
                                      j->text[CAUCUS_JOIN_SPREAD], j->text[CAUCUS_JOIN_DRIFT],
                                      j->text[CAUCUS_JOIN_ACTIVITY]};
        if (status == CAUCUS_OK && caucus_join_law(&law, j->plan, j->play, &a) != 0)
            return CAUCUS_EXIT_USAGE;
        if (status == CAUCUS_OK)
            status = caucus_losses_from_adversary(&j->losses, j->plan, j->index, &a, j->play, &error);
    } else {
        status = caucus_losses_from_lines(&j->losses, j->plan,
                                          j->text[CAUCUS_JOIN_REPLAY] ? caucus_link_round(j->link) : 0, &error);
    }
    j->losses.lines.slots = caucus_join_own_pace(j) && j->text[CAUCUS_JOIN_SEED] != NULL;
    j->pace = (caucus_join_pace){.link = j->link,
                                 .losses = &j->losses,
                                 .plan = j->plan,
                                 .client = j->index,
                                 .seeded = j->text[CAUCUS_JOIN_SEED] != NULL,
                                 .play = j->losses.trial && !caucus_plan_is_endless(j->plan)
                                             ? j->plan->settings.rounds /* slots */
                                             : j->play,
                                 .delay_ms = j->delay};
    if (status == CAUCUS_OK && caucus_join_own_pace(j))
        status = caucus_join_pace_begin(&j->pace, &error);
    return status == CAUCUS_OK ? 0 : caucus_join_complain(status, &error);
}

int caucus_join_open(caucus_joining *j) {
    static int (*const steps[])(caucus_joining *) = {read_plan, read_budget, open_dial,
                                                     open_key,  open_link,   open_losses};
    int code = 0;
    caucus_dress_data(); /* the experts, a line each, which a program reads */
    for (size_t i = 0; code == 0 && i < sizeof steps / sizeof steps[0]; i++)
        code = steps[i](j);
    return code;
}

void caucus_join_close(caucus_joining *j) {
    caucus_join_pace_end(&j->pace);
    caucus_losses_close(&j->losses);
    caucus_link_free(j->link);
    caucus_join_dial_close(&j->out);
    caucus_journal_close(j->journal);
    caucus_plan_free(j->plan);
}
