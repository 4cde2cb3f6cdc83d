/* SPDX-License-Identifier: Apache-2.0 */
/* audit_worlds.c: the losses of the two worlds. They differ in one record, of client 1. See audit_parts.h. */
#include "audit/audit_stage.h"

#include "plan/family.h"

#include <math.h>

/* What a noise of this rate exceeds with a probability below e^-12, in losses. */
static double reach(const caucus_audit_stage *s) {
    const caucus_svt_plan *svt = &s->plan->svt;
    double t = caucus_rational_double(svt->threshold_noise.parameter),
           q = caucus_rational_double(svt->check_noise.parameter);
    return 12 * (1 / t + 1 / q) / (double)s->plan->grid;
}

/* The threshold of epoch k, in losses; one that grows is that of the check after block k + 1, where it is met. */
static double edge(const caucus_audit_stage *s, uint64_t k) {
    return (double)caucus_svt_threshold(s->plan, (uint32_t)k, k + 1) / (double)s->plan->grid;
}

/* SECOND: how much less expert 0 costs in the first block, so that it is the one that is chosen. */
static double head_start(const caucus_audit_stage *s) {
    return fmax(0, fmin(edge(s, 0) / 2, (double)s->records - edge(s, 0) - reach(s)));
}

/* EDGE: what all losses of a block without the replaced one add up to, for expert y, in losses. In a run that renews
 * itself every cycle is alike. */
static double total(const caucus_audit_stage *s, uint64_t number, uint32_t y) {
    const uint64_t switches = s->plan->svt.switches;
    const uint64_t block = s->setting.renew != 0 ? number % (s->setting.renew / s->plan->settings.interval) : number;
    if (s->setting.losses != CAUCUS_AUDIT_EDGE)
        return 0;
    switch (s->setting.around) {
    case CAUCUS_AUDIT_AT:
        return block < switches ? edge(s, block) : 0;
    case CAUCUS_AUDIT_FIRES:
        return block < switches ? edge(s, block) + reach(s) : 0;
    case CAUCUS_AUDIT_SECOND:
        return block == 0 ? edge(s, 0) + reach(s) + (y == 0 ? 0 : head_start(s)) : 0;
    default:
        return 0;
    }
}

/* A loss of the block or phase that holds the replaced loss: that of record k; record 0 is the replaced one. In
 * units of the range. */
static double near(const caucus_audit_stage *s, unsigned world, uint64_t k, uint32_t y) {
    const caucus_audit_federation *a = &s->setting;
    const bool against = world == 1;
    if (a->losses == CAUCUS_AUDIT_ONES)
        return k == 0 && world == 1;
    if (a->losses == CAUCUS_AUDIT_GAP) {
        if (k == 0)
            return against == (y == 0);
        return (double)k <= fabs(a->gap) && (a->gap > 0) == (y == 0);
    }
    if (a->losses != CAUCUS_AUDIT_EDGE)
        return 0; /* their gradients have a rule of their own, below */
    /* EDGE: the replaced loss adds 1 to the first expert's cost, or to the others' */
    if (k == 0)
        return against == (y == 0);
    const bool second = a->around == CAUCUS_AUDIT_SECOND;
    double at = edge(s, second ? 1 : 0);
    double share = y == 0 ? at - 1 + a->lift : at + a->gap - (second ? head_start(s) : 0);
    return fmin(1, fmax(0, share) / (double)(s->records > 1 ? s->records - 1 : 1));
}

static void fill(caucus_audit_stage *s, unsigned world) {
    const double lo = s->plan->settings.lo, width = s->plan->settings.hi - lo;
    const bool blocks = caucus_settings_means(&s->plan->settings);
    double *to = s->loss[world];
    for (uint32_t i = 0; i < s->m; i++)
        for (uint64_t t = 0; t < s->rounds; t++)
            for (uint32_t y = 0; y < s->d; y++) {
                bool here = t >= s->replaced && t < s->replaced + s->window;
                double loss = here ? near(s, world, blocks ? i : i * s->window + (t - s->replaced), y)
                                   : fmin(1, total(s, t / s->plan->settings.interval, y) / (double)s->records);
                *to++ = lo + width * loss;
            }
}

void caucus_audit_worlds(caucus_audit_stage *s) {
    for (unsigned w = 0; w < 2; w++)
        fill(s, w);
}

/* Convex losses by their gradients. Of the two that need a tree: ROOT: the two root samples of phase 4 (rounds 4 and
 * 5). RIGHT: round 6 is the right vertex's; its gradient changes sign from expert 0 to expert 1, so that the difference
 * between two mixtures is as large as any. Others are linear functions: the gradient is the loss, from -1 to 1. */
void caucus_audit_gradient(void *user, uint64_t round, const double *x, double *ret, uint32_t experts) {
    const caucus_audit_slope *at = user;
    const caucus_audit_stage *s = at->stage;
    const double most = s->plan->settings.lipschitz;
    const bool root = s->setting.losses == CAUCUS_AUDIT_TREE_ROOT;
    if (root || s->setting.losses == CAUCUS_AUDIT_TREE_RIGHT) { /* these have two experts */
        double sign = at->client == 1 && at->world == 0 && round == (root ? 4 : 6) ? -1 : 1;
        double size = root ? (round == 4 || round == 5) : round == 6 ? x[0] - x[1] : 0;
        ret[0] = sign * size;
        ret[1] = -sign * size;
        return;
    }
    const double lo = s->plan->settings.lo, width = s->plan->settings.hi - lo;
    const double *loss = s->loss[at->world] + ((size_t)(at->client - 1) * s->rounds + round - 1) * s->d;
    for (uint32_t y = 0; y < experts; y++)
        ret[y] = most * (2 * (loss[y] - lo) / width - 1);
}
