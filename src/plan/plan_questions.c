/* SPDX-License-Identifier: Apache-2.0 */
/* plan_questions.c: what a plan is asked by name (<caucus/plan.h>), and what follows from settings alone (plan.h). */
#include "num/int128.h"
#include "num/number_text.h"
#include "plan/family.h"
#include "plan/pace/pace.h"
#include "plan/stoch.h"
#include "plan/stoch/evaluate.h"
#include "plan/zcdp.h"

#include <math.h>
#include <stdio.h>

const uint8_t *caucus_plan_hash(const caucus_plan *plan) {
    return plan->hash;
}

const char *caucus_plan_hash_text(const caucus_plan *plan) {
    return plan->hash_text;
}

const caucus_settings *caucus_plan_settings(const caucus_plan *plan) {
    return &plan->settings;
}

uint32_t caucus_plan_clients(const caucus_plan *plan) {
    return plan->settings.clients;
}

uint32_t caucus_plan_experts(const caucus_plan *plan) {
    return plan->settings.experts;
}

uint64_t caucus_plan_rounds(const caucus_plan *plan) {
    return plan->settings.rounds;
}

uint32_t caucus_plan_evaluate(const caucus_plan *plan) {
    return caucus_evaluate_k(&plan->settings);
}

bool caucus_plan_is_endless(const caucus_plan *plan) {
    return plan->settings.rounds == CAUCUS_ROUNDS_ENDLESS;
}

uint64_t caucus_plan_blocks(const caucus_plan *plan) {
    return caucus_plan_ops_of(plan)->blocks(plan);
}

uint64_t caucus_plan_selections(const caucus_plan *plan) {
    const bool any = caucus_plan_is_endless(plan) && !caucus_settings_grow(&plan->settings);
    return any ? CAUCUS_ROUNDS_ENDLESS : caucus_plan_ops_of(plan)->selections(plan);
}

int64_t caucus_plan_grid(const caucus_plan *plan) {
    return plan->grid;
}

double caucus_plan_epsilon_choices(const caucus_plan *plan) {
    return plan->guarantee.epsilon_choices;
}

double caucus_plan_epsilon_messages(const caucus_plan *plan) {
    return plan->guarantee.epsilon_messages;
}

/* docs/PRIVACY.md, statement 11. */
double caucus_plan_epsilon_device(const caucus_plan *plan) {
    const caucus_guarantee *g = &plan->guarantee;
    const double messages = isnan(g->epsilon_messages) ? 0 : g->epsilon_messages;
    const double record = fmax(g->epsilon_choices, messages);
    const caucus_plan_ops *ops = caucus_plan_ops_of(plan);
    if (isinf(record) || caucus_plan_is_endless(plan)) /* a device contributes for ever */
        return INFINITY;
    const double rounds = (double)plan->settings.rounds; /* group privacy: at most a record a round */
    const caucus_device_cost cost =
        ops->device ? ops->device(plan) : (caucus_device_cost){.linear = rounds, .square = rounds * rounds};
    if (!(g->delta > 0 && g->rho_zcdp > 0))
        return cost.linear * record;
    /* Where every mechanism is pure by itself both bounds hold. Squares grow faster than the number of records does, so
     * for many records the pure one is the smaller. */
    const double mixed = caucus_zcdp_epsilon_with_pure(cost.square * g->rho_zcdp, cost.linear * cost.pure, g->delta);
    return cost.record > 0 ? fmin(mixed, cost.linear * cost.record) : mixed;
}

double caucus_plan_delta(const caucus_plan *plan) {
    return plan->guarantee.delta;
}

double caucus_plan_rho_zcdp(const caucus_plan *plan) {
    return plan->guarantee.rho_zcdp;
}

const char *caucus_plan_note(const caucus_plan *plan) {
    return plan->guarantee.note;
}

caucus_bound_kind caucus_plan_bound_kind(const caucus_plan *plan) {
    return plan->bound_kind;
}

double caucus_plan_bound(const caucus_plan *plan) {
    return plan->bound;
}

double caucus_plan_bound_uncapped(const caucus_plan *plan) {
    return plan->bound_uncapped;
}

caucus_status caucus_plan_select_rate(const caucus_plan *plan, uint64_t selection, caucus_rational *ret) {
    const caucus_plan_ops *ops = caucus_plan_ops_of(plan);
    if (selection >= caucus_plan_selections(plan) || !ops->select_rate)
        return CAUCUS_E_RANGE;
    return ops->select_rate(plan, selection, ret) ? CAUCUS_OK : CAUCUS_E_RANGE;
}

size_t caucus_plan_weaknesses(const caucus_plan *plan, char ret[CAUCUS_PLAN_WEAKNESSES][CAUCUS_PLAN_WEAKNESS_BYTES]) {
    const caucus_guarantee *g = &plan->guarantee;
    size_t count = 0;
    char epsilon[CAUCUS_REAL_TEXT_BYTES];
    if (isfinite(g->epsilon_choices) && g->epsilon_choices > CAUCUS_PLAN_WEAK_EPSILON) {
        caucus_real_apart(g->epsilon_choices, CAUCUS_PLAN_WEAK_EPSILON, 6, epsilon);
        (void)snprintf(ret[count++], CAUCUS_PLAN_WEAKNESS_BYTES, "epsilon %s is above %d: it protects little", epsilon,
                       CAUCUS_PLAN_WEAK_EPSILON);
    }
    if (isfinite(g->epsilon_messages) && g->epsilon_messages > CAUCUS_PLAN_WEAK_EPSILON &&
        g->epsilon_messages > g->epsilon_choices) {
        caucus_real_apart(g->epsilon_messages, CAUCUS_PLAN_WEAK_EPSILON, 6, epsilon);
        (void)snprintf(ret[count++], CAUCUS_PLAN_WEAKNESS_BYTES,
                       "epsilon %s for what clients send is above %d: it protects little", epsilon,
                       CAUCUS_PLAN_WEAK_EPSILON);
    }
    if (plan->settings.trust == CAUCUS_TRUST_PAPER_LOCAL)
        (void)snprintf(ret[count++], CAUCUS_PLAN_WEAKNESS_BYTES,
                       "trust paper-local is for reproducing a paper, not for people's data");
    if (g->delta * plan->settings.clients > 1)
        (void)snprintf(ret[count++], CAUCUS_PLAN_WEAKNESS_BYTES,
                       "delta %.6g is above 1/clients: some client may be exposed entirely", g->delta);
    return count;
}

uint64_t caucus_settings_blocks(const caucus_settings *s) {
    return s->rounds == CAUCUS_ROUNDS_ENDLESS ? CAUCUS_ROUNDS_ENDLESS : (s->rounds - 1) / s->interval + 1;
}

uint64_t caucus_settings_cycle(const caucus_settings *s) {
    return s->renew != 0 && s->renew < s->rounds ? s->renew : s->rounds;
}

uint64_t caucus_settings_cycles(const caucus_settings *s) {
    return (s->rounds - 1) / caucus_settings_cycle(s) + 1;
}

bool caucus_settings_grow(const caucus_settings *s) {
    return s->rounds == CAUCUS_ROUNDS_ENDLESS && s->renew == 0 &&
           caucus_algorithm_takes(s->algorithm, CAUCUS_OPTION_NOMINAL);
}

uint64_t caucus_settings_most_blocks(const caucus_settings *s, int64_t grid) {
    const caucus_u128 records = s->unit == CAUCUS_UNIT_CLIENT_BLOCK ? s->clients : s->clients * s->interval;
    return (uint64_t)((((caucus_u128)1 << 62) - 1) / (records * (uint64_t)grid));
}

uint64_t caucus_settings_span(const caucus_settings *s) {
    if (caucus_settings_grow(s))
        return s->nominal_rounds;
    if (caucus_pace_by_question(s)) /* a client adds up all that counts of every slot; below 2^51 */
        return s->rounds * s->most;
    const uint64_t cycle = caucus_settings_cycle(s);
    uint64_t longest = s->longest_phase;
    double bound;
    if (longest == CAUCUS_PHASE_AUTO && s->rounds == CAUCUS_ROUNDS_ENDLESS) /* which will be this */
        longest = caucus_stoch_longest(s, &bound);
    return longest != 0 && longest < cycle ? longest : cycle;
}
