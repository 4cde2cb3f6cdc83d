/* SPDX-License-Identifier: Apache-2.0 */
/* comparison_play.c: the candidates, played against the same losses. See comparison.h. */
#include "show/choice/comparison.h"
#include "sim/slot/activity.h"

#include <math.h>

enum { ROUNDS_LEAST = 256, ENDLESS_ROUNDS = 2048 };
/* At their own pace: phases of about CAUCUS_SLOT_LOSSES losses, and changes that lie between them. */
enum { SLOTS_LEAST = 8, SLOTS = 32, SLOT_SEGMENTS = 4 };
#define SLOT_SPREAD 1.0
/* What the clients of a trial may take. */
#define MEMORY_BYTES 5e8

static bool own_pace(const caucus_comparison *c) {
    return c->settings.pace == CAUCUS_PACE_OWN;
}

/* A round of a client costs about as much as 150 losses more; the slowest candidates half as much again (quick.c
 * counts in the same currency). */
void caucus_comparison_scale(caucus_comparison *c, double losses) {
    const caucus_settings *s = &c->settings;
    const uint64_t asked = own_pace(c) ? SLOTS : s->rounds == CAUCUS_ROUNDS_ENDLESS ? ENDLESS_ROUNDS : s->rounds;
    caucus_scale *scale = &c->scale;
    *scale = (caucus_scale){.clients = s->clients, .rounds = asked};
    if (c->own && c->own_clients < scale->clients)
        scale->clients = c->own_clients;
    if (c->own && c->own_rounds < scale->rounds)
        scale->rounds = c->own_rounds;
    const double fit = MEMORY_BYTES / (32.0 * s->experts);
    if (fit < scale->clients)
        scale->clients = fit < 1 ? 1 : (uint32_t)fit;
    const double each = 1.5 * (s->experts + 150.0) * (own_pace(c) ? CAUCUS_SLOT_LOSSES : 1);
    caucus_scale_cut(scale, each, own_pace(c) ? SLOTS_LEAST : ROUNDS_LEAST, losses);
    scale->shorter = scale->rounds < asked;
    scale->fewer = scale->clients < s->clients;
}

bool caucus_comparison_playable(const caucus_comparison *c) {
    return c->own || !own_pace(c) || caucus_activity_takes(caucus_knowledge_adversary(c->known, false));
}

caucus_adversary_kind caucus_comparison_losses(const caucus_comparison *c) {
    return caucus_comparison_playable(c) ? caucus_knowledge_adversary(c->known, false) : CAUCUS_ADVERSARY_SHIFTING;
}

static caucus_adversary_settings losses_of(const caucus_comparison *c) {
    const caucus_settings *s = &c->settings;
    caucus_adversary_settings a = {.seed = 1,
                                   .clients = c->scale.clients,
                                   .experts = s->experts,
                                   .rounds = c->scale.rounds,
                                   .epsilon = s->epsilon};
    if (c->own) {
        a.kind = CAUCUS_ADVERSARY_LOSSES;
        a.losses = c->question->losses;
        a.array = c->question->array;
        a.segments =
            c->history.drift == CAUCUS_HISTORY_DRIFTS && a.rounds >= CAUCUS_HISTORY_PARTS ? CAUCUS_HISTORY_PARTS : 1;
        return a;
    }
    a.kind = caucus_comparison_losses(c);
    if (a.kind == CAUCUS_ADVERSARY_SHIFTING && own_pace(c))
        a.segments = SLOT_SEGMENTS;
    else
        a.segments = caucus_knowledge_segments(s, a.kind, a.rounds);
    if (own_pace(c)) {
        a.rounds *= CAUCUS_SLOT_ROWS;
        a.activity_mean = CAUCUS_SLOT_LOSSES;
        a.activity_spread = SLOT_SPREAD;
    }
    return a;
}

static caucus_status play_one(caucus_comparison *c, caucus_candidate *x, const caucus_adversary *adversary,
                              const caucus_adversary_settings *losses, caucus_error *ret_error) {
    caucus_plan *plan = NULL;
    caucus_scale scale = c->scale;
    if (x->alone)
        scale.clients = x->plan->settings.clients;
    caucus_run run = {.settings = caucus_scale_settings(&scale, x->plan, c->own),
                      .adversary = *losses,
                      .trials = scale.trials,
                      .seed = 1};
    caucus_status status = caucus_plan_new(&run.settings, &plan, &x->unplayed);
    if (status == CAUCUS_E_MEMORY)
        return caucus_fail(ret_error, status, "", "%s", caucus_status_text(status));
    if (status != CAUCUS_OK) /* it does not fit at the size that is played: said in its row */
        return CAUCUS_OK;
    run.plan = plan;
    caucus_run_result result;
    status = caucus_run_play(&run, adversary, &result, ret_error);
    if (status == CAUCUS_OK) {
        caucus_quick_note(&x->quick, &run, &result, c->own ? 1 : c->settings.hi - c->settings.lo);
        caucus_run_result_free(&result);
    }
    caucus_plan_free(plan);
    return status;
}

caucus_status caucus_comparison_play(caucus_comparison *c, caucus_error *ret_error) {
    const caucus_adversary_settings losses = losses_of(c);
    caucus_adversary *adversary = NULL;
    c->segments = losses.segments;
    for (size_t i = 0; i < c->count; i++)
        c->candidate[i].quick = (caucus_quick){.done = false};
    caucus_status status = caucus_adversary_open(&losses, &adversary, ret_error);
    for (size_t i = 0; status == CAUCUS_OK && i < c->count; i++) {
        caucus_candidate *x = &c->candidate[i];
        if (x->plan != NULL && (!x->alone || c->own || caucus_knowledge_of(x->asked.algorithm) == c->known))
            status = play_one(c, x, adversary, &losses, ret_error);
    }
    caucus_adversary_close(adversary);
    return status;
}
