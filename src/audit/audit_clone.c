/* SPDX-License-Identifier: Apache-2.0 */
/* audit_clone.c: a plan's numbers in a plan of their own, as they are or on a smaller stage. See audit_stage.h.
 *
 * What privacy depends on stays: the grid, every rate, every noise, how many selections a loss can meet. What it does
 * not depend on may shrink: experts and clients that only make a run longer, rounds within a block or of a mean, phases
 * after those that can be run (each loss is in the decisions of one phase), and by how much a threshold is above 0 (the
 * noise is the same wherever it is). Where selections or phases have to be left out, what is audited is less than the
 * claim, and the words say so. */
#include "audit/audit_stage.h"

#include "algo/schedule.h"
#include "plan/family.h"
#include "plan/stoch.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Losses of one run that is still run very often. */
#define CELLS_MAX 16384
#define SWITCHES_MAX 32 /* selections of svt ... */
#define DRAWS_MAX 256   /* ... and of hedge in a reduced plan */

static void *copy_of(const void *from, size_t bytes) {
    void *to = from != NULL && bytes > 0 ? malloc(bytes) : NULL;
    if (to != NULL)
        memcpy(to, from, bytes);
    return to;
}

caucus_plan *caucus_audit_clone(const caucus_plan *plan) {
    caucus_plan *to = copy_of(plan, sizeof *plan);
    if (to == NULL)
        return NULL;
    /* Names are for people, and belong to the plan that is audited: an audit's runs have none. */
    to->names = to->federation = NULL;
    to->label = NULL;
    to->settings.names = to->settings.federation = NULL;
    to->part = copy_of(plan->part, caucus_plan_ops_of(plan)->part_bytes);
    const size_t switches = plan->svt.switches, phases = plan->stoch.described;
    to->svt.threshold = copy_of(plan->svt.threshold, switches * sizeof *to->svt.threshold);
    to->svt.select_rate = copy_of(plan->svt.select_rate, switches * sizeof *to->svt.select_rate);
    to->stoch.phase = copy_of(plan->stoch.phase, phases * sizeof *to->stoch.phase);
    if ((switches > 0 && (to->svt.threshold == NULL || to->svt.select_rate == NULL)) ||
        (phases > 0 && to->stoch.phase == NULL) || (plan->part != NULL && to->part == NULL)) {
        caucus_plan_free(to);
        return NULL;
    }
    return to;
}

/* A list of what was made smaller. */
typedef struct list {
    char *to;
    size_t room, used;
} list;

static void add(list *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(list *l, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (l->used > 0 && l->used + 2 < l->room)
        l->used += (size_t)snprintf(l->to + l->used, l->room - l->used, ", ");
    int n = l->used < l->room ? vsnprintf(l->to + l->used, l->room - l->used, format, arguments) : 0;
    l->used += n > 0 ? (size_t)n : 0;
    va_end(arguments);
}

static void fewer(uint32_t *count, uint32_t most, const char *what, list *l) {
    if (*count <= most)
        return;
    add(l, "%u of %u %s", most, *count, what);
    *count = most;
}

/* svt: one block per switch and one more; blocks long enough for a cost to reach a threshold. */
static void reduce_svt(caucus_plan *plan, list *l) {
    caucus_settings *s = &plan->settings;
    caucus_svt_plan *svt = &plan->svt;
    const double grid = (double)plan->grid;
    const double noise = 24 / (grid * fmin(caucus_rational_double(svt->threshold_noise.parameter),
                                           caucus_rational_double(svt->check_noise.parameter)));
    fewer(&plan->settings.experts, 2, "experts", l);
    const bool means = s->unit == CAUCUS_UNIT_CLIENT_BLOCK;
    if (!means)
        fewer(&plan->settings.clients, 4, "clients", l);
    if (svt->switches > SWITCHES_MAX) {
        add(l, "%d of %u switches", SWITCHES_MAX, svt->switches);
        svt->switches = SWITCHES_MAX;
    }
    if (svt->checks > svt->switches) {
        svt->checks = svt->switches;
        svt->blocks = svt->checks + 1;
    }
    const double room = (double)CELLS_MAX / (double)(2 * svt->blocks);
    double most = 0;
    for (uint32_t k = 0; k < svt->switches; k++)
        most = fmax(most, (double)svt->threshold[k] / grid);
    const double lower = fmax(0, ceil(fmin(most - 4, 1.5 * most + noise - room)));
    if (lower > 0)
        add(l, "thresholds lower by %.0f losses", lower);
    for (uint32_t k = 0; k < svt->switches; k++) {
        svt->threshold[k] -= (int64_t)(lower * grid);
        svt->threshold[k] = svt->threshold[k] > 4 * plan->grid ? svt->threshold[k] : 4 * plan->grid;
    }
    svt->score_floor = 0;
    const double records = ceil(1.5 * (most - lower) + noise) + 1; /* that a block needs */
    if (means) {
        add(l, "%.0f clients", records);
        s->clients = (uint32_t)records;
        s->interval = 1;
    } else {
        s->interval = (uint64_t)ceil(records / s->clients);
    }
    add(l, "%" PRIu64 " blocks of %" PRIu64 " rounds", svt->blocks, s->interval);
    s->rounds = s->interval * svt->blocks;
}

static void reduce_hedge(caucus_plan *plan, list *l) {
    caucus_settings *s = &plan->settings;
    fewer(&plan->settings.experts, 2, "experts", l);
    fewer(&plan->settings.clients, 2, "clients", l);
    if (plan->hedge.blocks > DRAWS_MAX + 1) {
        add(l, "%d of %" PRIu64 " draws", DRAWS_MAX, plan->hedge.blocks - 1);
        plan->hedge.blocks = DRAWS_MAX + 1;
    }
    const uint64_t each = CELLS_MAX / (4 * plan->hedge.blocks), most = each > 8 ? 8 : each > 0 ? each : 1;
    if (s->interval > most) {
        add(l, "blocks of %" PRIu64 " rounds", most);
        s->interval = most;
    }
    s->rounds = s->interval * plan->hedge.blocks;
}

static void reduce_stoch(caucus_plan *plan, list *l) {
    caucus_settings *s = &plan->settings;
    const uint64_t phases = plan->stoch.phases;
    /* Noise for d coordinates is d times as large: fewer of them would not show what it costs. */
    const bool sums = plan->stoch.message == CAUCUS_MESSAGE_LAPLACE_D || plan->stoch.message == CAUCUS_MESSAGE_GAUSS;
    if (s->evaluate > 1) /* several scores still move at a time, and one is not evaluated */
        fewer(&plan->settings.evaluate, 3, "evaluations", l);
    const uint32_t most = s->evaluate != 0 ? s->evaluate + 1 : s->trust == CAUCUS_TRUST_COORDINATOR || !sums ? 2 : 64;
    fewer(&plan->settings.experts, most, "experts", l);
    for (uint32_t i = 0; s->evaluate != 0 && i < plan->stoch.described; i++)
        plan->stoch.phase[i].least = 1; /* for fewer clients there is less to count */
    plan->stoch.show_reach = 0;         /* a look is shown of however few clients */
    fewer(&plan->settings.clients, 2, "clients", l);
    if (s->unit == CAUCUS_UNIT_CLIENT && s->growth > 2) { /* a mean is a mean of however many losses */
        s->growth = 2;
        s->rounds = (uint64_t)1 << (phases - 1);
        for (uint32_t i = 0; i < plan->stoch.described; i++) {
            caucus_stoch_extent(s, i + 2, &plan->stoch.phase[i]);
            plan->stoch.phase[i].batch = plan->stoch.phase[i].samples;
        }
        add(l, "phases that double");
    }
    while (plan->stoch.phases > 2 &&
           (caucus_phase_first(plan, plan->stoch.phases) + caucus_stoch_phase_of(plan, plan->stoch.phases)->length) *
                   s->clients * s->experts >
               CELLS_MAX)
        plan->stoch.phases--;
    if (plan->stoch.described > plan->stoch.phases - 1)
        plan->stoch.described = (uint32_t)plan->stoch.phases - 1;
    s->rounds =
        caucus_phase_first(plan, plan->stoch.phases) + caucus_stoch_phase_of(plan, plan->stoch.phases)->length - 1;
    if (plan->stoch.phases < phases)
        add(l, "%" PRIu64 " of %" PRIu64 " phases", plan->stoch.phases, phases);
}

/* A run that renews itself: cycles use different losses, so one of them shows what all of them cost. */
static void one_cycle(caucus_plan *plan, list *l) {
    caucus_settings *s = &plan->settings;
    if (s->renew == 0 || s->renew >= s->rounds)
        return;
    if (s->rounds == CAUCUS_ROUNDS_ENDLESS)
        add(l, "one cycle");
    else
        add(l, "one of %" PRIu64 " cycles", (s->rounds - 1) / s->renew + 1);
    s->rounds = s->renew;
    s->renew = 0;
    const uint64_t blocks = (s->rounds - 1) / s->interval + 1;
    if (plan->svt.switches > 0) {
        plan->svt.blocks = blocks;
        plan->svt.checks = blocks - 1;
    } else {
        plan->hedge.blocks = blocks;
    }
}

/* A run without an end: phases learn from different losses, so its beginning, with some full phases, shows what all of
 * them cost. */
static void beginning(caucus_plan *plan, list *l) {
    if (!caucus_plan_is_endless(plan))
        return;
    if (plan->svt.switches > 0) { /* thresholds are public: that they grow changes nothing about privacy */
        plan->svt.checks = plan->svt.switches;
        plan->svt.blocks = plan->svt.checks + 1;
        plan->settings.rounds = plan->svt.blocks * plan->settings.interval;
        add(l, "its first %" PRIu64 " blocks, with the threshold that it begins with", plan->svt.blocks);
        return;
    }
    plan->stoch.phases = (uint64_t)plan->stoch.described + 3;
    plan->settings.rounds = caucus_phase_first(plan, plan->stoch.phases + 1) - 1;
    add(l, "its first %" PRIu64 " phases", plan->stoch.phases);
}

/* Devices at their own pace: an item is in one decision whatever its slots were, so that phases of a few losses each,
 * played in step, show what a decision costs. What slots are for, that a device's losses of one slot are in one item,
 * is what the audit `own-pace` is about. */
static void in_step(caucus_plan *plan, list *l) {
    enum { LOSSES = 4 };
    caucus_settings *s = &plan->settings;
    if (s->pace != CAUCUS_PACE_OWN)
        return;
    s->pace = CAUCUS_PACE_TOGETHER;
    if (s->unit == CAUCUS_UNIT_CLIENT) { /* a mean is in 0..G however many losses it is of */
        s->start = 1;
        add(l, "devices in step, one loss a slot");
        return;
    }
    s->longest_phase = s->first_phase = s->most < LOSSES ? s->most : LOSSES;
    for (uint32_t i = 0; i < plan->stoch.described; i++) {
        caucus_stoch_extent(s, i + 2, &plan->stoch.phase[i]);
        plan->stoch.phase[i].batch = plan->stoch.phase[i].samples;
    }
    add(l, "devices in step, %" PRIu64 " losses a slot", s->longest_phase);
}

/* Can one block of svt bring a cost from 0 to a threshold, and beyond its noise? */
static bool reaches(const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    const caucus_svt_plan *svt = &plan->svt;
    const double records = s->clients * (s->unit == CAUCUS_UNIT_CLIENT_BLOCK ? 1.0 : (double)s->interval);
    const double rate = fmin(caucus_rational_double(svt->threshold_noise.parameter),
                             caucus_rational_double(svt->check_noise.parameter));
    for (uint32_t k = 0; k < svt->switches; k++)
        if (records < (1.5 * (double)svt->threshold[k] + 24 / rate) / (double)plan->grid + 1)
            return false;
    return true;
}

caucus_plan *caucus_audit_reduced(const caucus_plan *plan, char *ret_words, size_t ret_bytes) {
    caucus_plan *to = caucus_audit_clone(plan);
    list l = {ret_words, ret_bytes, 0};
    ret_words[0] = '\0';
    if (to == NULL)
        return NULL;
    one_cycle(to, &l);
    in_step(to, &l);
    beginning(to, &l);
    const caucus_settings *s = &to->settings;
    const bool small = (double)s->clients * (double)s->rounds * s->experts <= CELLS_MAX;
    if (small && reaches(to))
        return to;
    if (plan->svt.switches > 0)
        reduce_svt(to, &l);
    else if (caucus_plan_ops_of(plan)->phases)
        reduce_stoch(to, &l);
    else
        reduce_hedge(to, &l);
    return to;
}
