/* SPDX-License-Identifier: Apache-2.0 */
/* slot_regret.c: see slot_regret.h.
 *
 * Against the best realised of a segment, whose minimum is below that of the expectations, the bound has R
 * sqrt(ln d V/2) more per segment, V the number of its losses, or of means the sum of 1/n over devices and slots. */
#include "sim/slot/slot_regret.h"

#include <math.h>
#include <stdlib.h>

#include "dp/wide.h"
#include "num/vector.h"
#include "plan/pace/pace.h"

/* A choice in force: B, and the oldest slot that it was made from. */
typedef struct choice {
    double error;
    uint64_t oldest;
} choice;

struct caucus_slot_regret {
    const caucus_plan *plan;
    bool means;
    double range;
    uint64_t slot;             /* in hand, from 0 */
    uint64_t segment_first;    /* first slot of the segment in hand */
    choice before, now;        /* in force early in the slot in hand, and late */
    caucus_stoch_counted seen; /* in the slot in hand, as far as items count it */
    double early, late;        /* weights of what was played in it */
    caucus_stoch_counted *ago; /* [past]: of the slots that are over, the newest first */
    uint64_t *counted;     /* [m]: unit client: losses of each device so far, as far as items count them; else NULL */
    uint64_t phase;        /* the one that the decision in force begins */
    double segment_spread; /* of all that was played in the segment */
    double weight, excess; /* of all that was played; what is proved of it */
    uint64_t pairs;        /* devices and slots with losses */
    int64_t cost, best;    /* over these, rounded means: what was played; the best of segments that are over */
    int64_t *totals;       /* [d]: the segment in hand */
};

caucus_slot_regret *caucus_slot_regret_new(const caucus_plan *plan) {
    caucus_slot_regret *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->plan = plan;
    r->means = caucus_settings_means(&plan->settings);
    r->range = plan->settings.hi - plan->settings.lo;
    r->before = r->now = (choice){.error = r->range};
    r->phase = 1;
    r->ago = calloc(plan->stoch.past, sizeof *r->ago);
    r->totals = calloc(plan->settings.experts, sizeof *r->totals);
    const bool all = caucus_pace_by_question(&plan->settings);
    r->counted = all ? calloc(plan->settings.clients, sizeof *r->counted) : NULL;
    if (!r->ago || !r->totals || (all && !r->counted)) {
        caucus_slot_regret_free(r);
        return NULL;
    }
    return r;
}

void caucus_slot_regret_free(caucus_slot_regret *r) {
    if (!r)
        return;
    free(r->ago);
    free(r->counted);
    free(r->totals);
    free(r);
}

/* Unit client: a decision is made from everything that a device has seen so far. */
static caucus_stoch_counted all_so_far(const caucus_slot_regret *r) {
    caucus_stoch_counted all = {0, 0};
    for (uint32_t i = 0; i < r->plan->settings.clients; i++)
        if (r->counted[i] > 0) {
            all.mass++;
            all.spread += 1 / (double)r->counted[i];
        }
    return all;
}

void caucus_slot_regret_decided(caucus_slot_regret *r) {
    const uint32_t past = r->plan->stoch.past, ages = r->slot < past ? (uint32_t)r->slot : past;
    const caucus_stoch_counted all = r->counted ? all_so_far(r) : (caucus_stoch_counted){0, 0};
    const double error = caucus_bounds_stoch_counted(r->plan, ++r->phase, r->counted ? &all : r->ago, ages);
    r->now = (choice){.error = isnan(error) ? error : fmin(r->range, error), .oldest = r->counted ? 0 : r->slot - ages};
}

static int64_t mean_of(int64_t sum, uint64_t n) {
    const caucus_ratio one = caucus_ratio_prepare(1, n);
    return caucus_rounded_mean(sum, (int64_t)n, &one);
}

void caucus_slot_regret_device(caucus_slot_regret *r, const caucus_slot_seen *seen) {
    const uint64_t n = seen->early + seen->late, most = r->plan->settings.most, counted = n < most ? n : most;
    if (n == 0)
        return;
    if (r->counted)
        r->counted[seen->device] += counted;
    for (uint32_t y = 0; y < r->plan->settings.experts; y++)
        r->totals[y] += mean_of(seen->early_sums[y] + seen->late_sums[y], n);
    r->cost += mean_of(seen->early_sums[seen->before] + seen->late_sums[seen->now], n);
    r->pairs++;
    r->seen.mass += r->means ? 1 : (double)counted;
    r->seen.spread += r->means ? 1 / (double)counted : (double)counted;
    r->early += r->means ? (double)seen->early / (double)n : (double)seen->early;
    r->late += r->means ? (double)seen->late / (double)n : (double)seen->late;
    r->segment_spread += r->means ? 1 / (double)n : (double)n;
}

/* What a choice may cost per unit of weight in the slot in hand. */
static double error_here(const caucus_slot_regret *r, const choice *c) {
    return isnan(c->error) || c->oldest >= r->segment_first ? c->error : r->range;
}

void caucus_slot_regret_slot(caucus_slot_regret *r) {
    r->weight += r->early + r->late;
    r->excess += r->early * error_here(r, &r->before) + r->late * error_here(r, &r->now);
    for (uint32_t a = r->plan->stoch.past; a-- > 1;)
        r->ago[a] = r->ago[a - 1];
    r->ago[0] = r->seen;
    r->seen = (caucus_stoch_counted){0, 0};
    r->early = r->late = 0;
    r->before = r->now;
    r->slot++;
}

void caucus_slot_regret_segment(caucus_slot_regret *r) {
    const uint32_t d = r->plan->settings.experts;
    r->best += caucus_vector_min_i64(r->totals, d);
    for (uint32_t y = 0; y < d; y++)
        r->totals[y] = 0;
    r->excess += r->range * sqrt(log((double)d) * r->segment_spread / 2);
    r->segment_spread = 0;
    r->segment_first = r->slot;
}

/* Means are rounded once more here than in the decisions. */
void caucus_slot_regret_end(const caucus_slot_regret *r, caucus_trial_result *ret) {
    const double step = r->range / (double)r->plan->grid, m = r->plan->settings.clients;
    const double per_pair = r->pairs > 0 ? (double)ret->losses / m / (double)r->pairs : 0;
    const double rounding = r->weight * (caucus_bounds_stoch_rounding(r->plan) + (r->means ? step : 0));
    ret->regret_devices = (double)(r->cost - r->best) * step * per_pair;
    ret->bound = (r->excess + rounding) * (r->means ? per_pair : 1 / m);
}
