/* SPDX-License-Identifier: Apache-2.0 */
/* audit_ratio.c: log-likelihood ratios as statistics. See audit_stage.h.
 *
 * By Neyman and Pearson no event says more than one by likelihood ratio, so where a run has many outputs their ratio,
 * computed from the plan's parameters and the two worlds' sums, is the statistic. It judges nothing by itself: what is
 * approximate here (a check as if its threshold were new, noisy-min as if it were exponential) costs power and nothing
 * else, since the event is counted on fresh runs. */
#include "audit/audit_stage.h"

#include "algo/look/look.h"
#include "algo/schedule.h"
#include "algo/tree.h"
#include "dp/laws.h"
#include "num/grid.h"
#include "plan/stoch/evaluate.h"

#include <caucus/select.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Permute-and-flip's exact law takes d^2 operations. */
#define FLIP_EXPERTS_MAX 256

static size_t row_at(const caucus_audit_stage *s, uint64_t step, uint32_t tree) {
    return (caucus_audit_phases(s) ? step * CAUCUS_AUDIT_ROOTS + tree : step) * s->d;
}

/* ret[y] = ln P(y | score[1]) / P(y | score[0]). */
void caucus_audit_law_ratio(caucus_select kind, const int64_t *const score[2], uint32_t d, caucus_rational rate,
                            long double *scratch, double *ret) {
    for (unsigned w = 0; w < 2; w++) {
        if (kind == CAUCUS_SELECT_FLIP && d <= FLIP_EXPERTS_MAX)
            caucus_select_flip_law(score[w], d, rate, scratch);
        else
            caucus_select_exponential_law(score[w], d, rate, scratch);
        for (uint32_t y = 0; y < d; y++) {
            double value = (double)logl(scratch[y] > 0 ? scratch[y] : 1e-4000L);
            ret[y] = w == 0 ? -value : ret[y] + value;
        }
    }
}

/* Where a loss lies on the grid: of gradients from -G to G. */
int64_t caucus_audit_step_of(const caucus_audit_stage *s, const double *loss) {
    const caucus_grid grid = {s->plan->settings.lo, s->plan->settings.hi, s->plan->grid};
    int64_t at = caucus_grid_step(&grid, *loss);
    return s->plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX ? 2 * at - s->plan->grid : at;
}

/* The mean of a record of n losses, as the clients round it (unit client-block). */
static int64_t mean_of(int64_t sum, int64_t n) {
    return (sum + n / 2) / n;
}

static void sum_blocks(caucus_audit_stage *s, unsigned w) {
    const caucus_settings *settings = &s->plan->settings;
    const bool means = settings->unit == CAUCUS_UNIT_CLIENT_BLOCK;
    for (uint64_t b = 1; b <= s->steps; b++) {
        uint64_t from = (b - 1) * settings->interval,
                 end = from + settings->interval < s->rounds ? from + settings->interval : s->rounds;
        int64_t *row = s->sum[w] + row_at(s, b, 0);
        memcpy(row, s->sum[w] + row_at(s, b - 1, 0), s->d * sizeof *row);
        for (uint32_t i = 0; i < s->m; i++)
            for (uint32_t y = 0; y < s->d; y++) {
                int64_t sum = 0;
                for (uint64_t t = from; t < end; t++)
                    sum += caucus_audit_step_of(s, s->loss[w] + ((size_t)i * s->rounds + t) * s->d + y);
                row[y] += means ? mean_of(sum, (int64_t)(end - from)) : sum;
            }
    }
}

static void sum_phases(caucus_audit_stage *s, unsigned w) {
    const bool means = caucus_settings_means(&s->plan->settings);
    for (uint64_t p = 2; p <= s->steps; p++) {
        const caucus_stoch_phase *phase = caucus_stoch_phase_of(s->plan, p);
        const bool all = s->plan->settings.unit == CAUCUS_UNIT_CLIENT;
        const uint64_t first = all ? 0 : caucus_phase_first(s->plan, p - 1) - 1;
        caucus_leaf leaf;
        caucus_leaf_first(&leaf, phase->trees, phase->batch);
        do {
            if (leaf.depth != 0)
                continue;
            for (uint32_t i = 0; i < s->m; i++)
                for (uint32_t y = 0; y < s->d; y++) {
                    int64_t sum = 0;
                    for (uint64_t t = 0; t < leaf.count; t++)
                        sum += caucus_audit_step_of(
                            s, s->loss[w] + ((size_t)i * s->rounds + first + leaf.offset + t) * s->d + y);
                    sum = means ? mean_of(sum, (int64_t)phase->samples) : sum;
                    s->sum[w][row_at(s, p, leaf.tree) + y] += sum;
                    if (i == 0)
                        s->own[w][row_at(s, p, leaf.tree) + y] = sum;
                }
        } while (caucus_leaf_next(&leaf));
    }
}

/* Scores of svt have a floor; those of stoch may weigh earlier phases in. */
static void score_of(const caucus_audit_stage *s, unsigned w, uint64_t step, uint32_t tree, int64_t *ret) {
    const caucus_plan *plan = s->plan;
    for (uint32_t y = 0; y < s->d; y++) {
        ret[y] = s->sum[w][row_at(s, step, tree) + y];
        if (caucus_audit_phases(s) && plan->stoch.past > 1) {
            ret[y] = 0;
            for (uint64_t a = 0; a < plan->stoch.past && step >= a + 2; a++)
                ret[y] += (int64_t)plan->stoch.past_weights[a] * s->sum[w][row_at(s, step - a, 0) + y];
        } else if (plan->svt.switches > 0 && ret[y] < plan->svt.score_floor) {
            ret[y] = plan->svt.score_floor;
        }
    }
}

/* The ratios of one selection, and of client 1's vote. */
static void expect_step(caucus_audit_stage *s, uint64_t step, uint32_t tree, int64_t *score, long double *law) {
    const caucus_plan *plan = s->plan;
    const int64_t *const both[2] = {score, score + s->d};
    const size_t at = row_at(s, step, tree);
    score_of(s, 0, step, tree, score);
    score_of(s, 1, step, tree, score + s->d);
    if (plan->svt.switches > 0) {
        for (uint64_t k = 0; k < plan->svt.switches; k++)
            caucus_audit_law_ratio(CAUCUS_SELECT_EXPONENTIAL, both, s->d, plan->svt.select_rate[k], law,
                                   s->choice + ((size_t)step * plan->svt.switches + k) * s->d);
    } else if (!caucus_audit_phases(s)) {
        if (plan->hedge.rate.num > 0)
            caucus_audit_law_ratio(CAUCUS_SELECT_EXPONENTIAL, both, s->d, plan->hedge.rate, law, s->choice + at);
    } else if (plan->settings.trust == CAUCUS_TRUST_COORDINATOR) {
        const caucus_rational rate = caucus_stoch_phase_of(plan, step)->select_rate[tree];
        if (rate.num > 0)
            caucus_audit_law_ratio(plan->stoch.select, both, s->d, rate, law, s->choice + at);
    } else if (caucus_stoch_phase_of(plan, step)->vote_rate.num > 0) {
        const int64_t *const own[2] = {s->own[0] + at, s->own[1] + at};
        caucus_audit_law_ratio(CAUCUS_SELECT_FLIP, own, s->d, caucus_stoch_phase_of(plan, step)->vote_rate, law,
                               s->vote + at);
    }
}

caucus_status caucus_audit_expect(caucus_audit_stage *s) {
    const bool phases = caucus_audit_phases(s);
    const size_t rows = (size_t)(s->steps + 1) * (phases ? CAUCUS_AUDIT_ROOTS : 1) * s->d;
    const size_t choices = s->plan->svt.switches > 0 ? rows * s->plan->svt.switches : rows;
    int64_t *score = calloc(2 * (size_t)s->d, sizeof *score);
    long double *law = calloc(s->d, sizeof *law);
    bool ok = score != NULL && law != NULL;
    for (unsigned w = 0; w < 2; w++) {
        s->sum[w] = calloc(rows, sizeof *s->sum[w]);
        s->own[w] = calloc(rows, sizeof *s->own[w]);
        ok = ok && s->sum[w] != NULL && s->own[w] != NULL;
    }
    s->choice = calloc(choices, sizeof *s->choice);
    s->vote = calloc(rows, sizeof *s->vote);
    ok = ok && s->choice != NULL && s->vote != NULL;
    for (unsigned w = 0; ok && w < 2; w++) {
        if (phases)
            sum_phases(s, w);
        else
            sum_blocks(s, w);
    }
    const bool some = ok && caucus_evaluates_some(&s->plan->settings);
    if (some)
        ok = caucus_audit_expect_some(s, law) == CAUCUS_OK;
    for (uint64_t step = phases ? 2 : 1; ok && !some && step <= s->steps; step++)
        for (uint32_t tree = 0; tree <= (phases ? caucus_stoch_phase_of(s->plan, step)->trees : 0); tree++)
            expect_step(s, step, tree, score, law);
    free(score);
    free(law);
    return ok ? CAUCUS_OK : CAUCUS_E_MEMORY;
}

/* ln P(fired or not) for a cost q against a threshold with fresh noise, both geometric with the smaller of the two
 * rates: their difference has P(k) ~ e^(-rate*|k|). */
static double check_log(const caucus_audit_stage *s, uint64_t epoch, int64_t q, bool fired) {
    const caucus_svt_plan *svt = &s->plan->svt;
    double rate = fmin(caucus_rational_double(svt->threshold_noise.parameter),
                       caucus_rational_double(svt->check_noise.parameter));
    double under = (double)(svt->threshold[epoch] - q);
    double one = 1 / (1 + exp(-rate)); /* of the smaller side */
    bool small = (under >= 0) == fired;
    double tail = one * exp(-rate * (under >= 0 ? under + 1 : -under));
    return log(small ? fmax(tail, 1e-300) : 1 - fmin(tail, 1 - 1e-15));
}

static double svt_ratio(const caucus_audit_stage *s, const caucus_announcement *asked, const caucus_announcement *now,
                        caucus_audit_before *before) {
    const bool two_step = s->plan->settings.protocol == CAUCUS_PROTOCOL_TWO_STEP;
    const bool selected = now->epoch > asked->epoch;
    double ratio = 0;
    if ((!two_step || asked->ask == CAUCUS_ASK_COST) && asked->epoch < s->plan->svt.switches) {
        bool fired = two_step ? now->ask == CAUCUS_ASK_SUMS : selected;
        for (unsigned w = 0; w < 2; w++) {
            int64_t q = s->sum[w][row_at(s, asked->block, 0) + asked->expert] -
                        s->sum[w][row_at(s, before->blocks, 0) + asked->expert];
            ratio += (w == 0 ? -1 : 1) * check_log(s, asked->epoch, q, fired);
        }
    }
    if (selected) {
        ratio += s->choice[((size_t)asked->block * s->plan->svt.switches + asked->epoch) * s->d + now->expert];
        before->blocks = asked->block;
    }
    return ratio;
}

double caucus_audit_choice_ratio(const caucus_audit_stage *s, const caucus_announcement *asked,
                                 const caucus_announcement *now, caucus_audit_before *before) {
    if (s->plan->svt.switches > 0)
        return svt_ratio(s, asked, now, before);
    if (!caucus_audit_phases(s))
        return s->choice[row_at(s, asked->block, 0) + now->expert];
    const caucus_stoch_phase *phase = caucus_stoch_phase_of(s->plan, asked->block);
    caucus_leaf leaf;
    caucus_leaf_at(&leaf, phase->trees, phase->batch, asked->leaf);
    return s->choice[row_at(s, asked->block, leaf.tree) + now->expert];
}

/* ln of P(value | sums of world 1) / P(value | sums of world 0), for noise added to the listed (NULL: all) sums. */
static double noise_ratio(const int64_t *const sum[2], const caucus_noise *noise, const int64_t *value, uint32_t count,
                          const uint32_t *list) {
    double all = 0, most[2] = {0, 0}, parameter = caucus_rational_double(noise->parameter);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t y = list != NULL ? list[i] : i;
        double off0 = fabs((double)(value[i] - sum[0][y])), off1 = fabs((double)(value[i] - sum[1][y]));
        most[0] = fmax(most[0], off0);
        most[1] = fmax(most[1], off1);
        all += noise->kind == CAUCUS_NOISE_GAUSSIAN ? (off0 * off0 - off1 * off1) / (2 * parameter)
                                                    : parameter * (off0 - off1);
    }
    return noise->kind == CAUCUS_NOISE_KNORM ? parameter * (most[0] - most[1]) : all;
}

/* Of the clients that evaluate some experts only the sums are not kept: their choices say enough. */
double caucus_audit_look_ratio(const caucus_audit_stage *s, const caucus_coordinator *c,
                               const caucus_announcement *asked) {
    const struct caucus_looking *look = c->look;
    if (look == NULL || look->count == 0 || look->shown[0].phase != asked->block - 1 ||
        !(s->plan->settings.show_loss > 0) || s->plan->settings.evaluate != 0)
        return 0;
    const int64_t *const both[2] = {s->sum[0] + row_at(s, asked->block, 0) + asked->expert,
                                    s->sum[1] + row_at(s, asked->block, 0) + asked->expert};
    return noise_ratio(both, &s->plan->stoch.show_noise, &look->shown[0].sum, 1, NULL);
}

/* What a client whose gradient is TREE_RIGHT's sends at the right vertex: 2^h times a difference that the clamp
 * bounds; nothing if the leaf before has chosen the expert that was played at the root, otherwise by the sign of the
 * one it has chosen. */
static double right_ratio(const caucus_audit_stage *s, const caucus_stoch_phase *phase, const caucus_report *r,
                          const caucus_announcement *asked, const caucus_audit_before *before, uint32_t depth) {
    if (s->setting.losses != CAUCUS_AUDIT_TREE_RIGHT || asked->expert == before->expert || r->count != 2)
        return 0;
    int64_t size = phase->clamp[depth] * ((int64_t)1 << depth) * (asked->expert == 0 ? 1 : -1);
    const int64_t up[2] = {size, -size}, down[2] = {-size, size};
    const int64_t *const both[2] = {down, up};
    return noise_ratio(both, &phase->vertex_noise[depth], r->value, r->count, NULL);
}

double caucus_audit_message_ratio(const caucus_audit_stage *s, const caucus_report *r, const caucus_announcement *asked,
                                  caucus_audit_before *before) {
    if (r->client != 1 || !caucus_audit_phases(s) || r->block < 2)
        return 0;
    const caucus_stoch_phase *phase = caucus_stoch_phase_of(s->plan, r->block);
    caucus_leaf leaf;
    caucus_leaf_at(&leaf, phase->trees, phase->batch, (uint32_t)r->epoch_or_leaf);
    const size_t at = row_at(s, r->block, leaf.tree);
    const int64_t *const own[2] = {s->own[0] + at, s->own[1] + at};
    if (r->kind == CAUCUS_ASK_VOTE)
        return s->vote[at + (size_t)r->value[0]];
    if (r->kind == CAUCUS_ASK_SHORTLIST)
        return noise_ratio(own, &phase->shortlist_noise, r->value, r->count, asked->list);
    if (s->plan->settings.trust == CAUCUS_TRUST_PAPER_LOCAL) /* every leaf of the tree holds its root's sums */
        return noise_ratio(own, &phase->leaf_noise[leaf.tree], r->value, r->count, NULL);
    if (leaf.depth > 0)
        return right_ratio(s, phase, r, asked, before, leaf.depth);
    before->expert = asked->expert;
    return noise_ratio(own, &phase->vertex_noise[0], r->value, r->count, NULL);
}
