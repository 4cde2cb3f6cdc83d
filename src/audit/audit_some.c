/* SPDX-License-Identifier: Apache-2.0 */
/* audit_some.c: what is likely where clients evaluate some experts only. See audit_ratio.c.
 *
 * Sums, counts, W and rate are those of the machines: the same functions (plan/stoch/evaluate.h) on both worlds'
 * losses. All clients report here, so counts and rate are the same in both. */
#include "audit/audit_stage.h"

#include "algo/schedule.h"
#include "plan/stoch/evaluate.h"

#include <stdlib.h>
#include <string.h>

typedef struct space {
    uint64_t *count, *own; /* [d]: of everybody, of one client */
    int64_t *sum;          /* [d] */
    int64_t *score[2];     /* [d] */
    uint32_t *who;         /* [d] */
    double *ratio;         /* [d] */
} space;

/* What phase p learns from in one world, and what was counted. */
static void add_up(const caucus_audit_stage *s, uint64_t p, unsigned world, space *at) {
    const caucus_plan *plan = s->plan;
    const uint64_t from = caucus_evaluate_from(&plan->settings, p - 1), first = caucus_phase_first(plan, from);
    const uint64_t end = first + caucus_stoch_phase_of(plan, p)->samples;
    const uint32_t d = s->d, k = caucus_evaluate_k(&plan->settings);
    const bool means = caucus_settings_means(&plan->settings);
    memset(at->sum, 0, d * sizeof *at->sum);
    memset(at->count, 0, d * sizeof *at->count);
    for (uint32_t i = 0; i < s->m; i++) {
        memset(at->own, 0, d * sizeof *at->own);
        memset(at->score[world], 0, d * sizeof *at->sum); /* of this client, until they are everybody's */
        for (uint64_t round = first, phase = from; round < end; round++) {
            const double *row = s->loss[world] + ((size_t)i * s->rounds + round - 1) * d;
            phase += round == caucus_phase_first(plan, phase + 1);
            uint32_t y = caucus_evaluate_first(plan, phase, round - caucus_phase_first(plan, phase), round, i + 1);
            for (uint32_t j = 0; j < k; j++, y = (y + 1) % d) {
                at->score[world][y] += caucus_audit_step_of(s, &row[y]);
                at->own[y]++;
            }
        }
        for (uint32_t y = 0; y < d; y++) {
            const int64_t n_y = (int64_t)at->own[y];
            at->sum[y] += means && n_y > 0 ? (at->score[world][y] + n_y / 2) / n_y : at->score[world][y];
            at->count[y] += means ? n_y > 0 : at->own[y];
        }
    }
}

static void expect_phase(caucus_audit_stage *s, uint64_t p, space *at, long double *law) {
    const caucus_stoch_phase *phase = caucus_stoch_phase_of(s->plan, p);
    uint64_t least = 0, most = 0;
    uint32_t candidates = 0;
    for (unsigned w = 0; w < 2; w++) {
        add_up(s, p, w, at);
        candidates = caucus_evaluate_scores(s->plan, at->sum, at->count, at->score[w], at->who, &least, &most);
    }
    caucus_rational rate;
    if (candidates == 0 || least < phase->least ||
        !caucus_evaluate_rate(s->plan, phase->select_budget, caucus_evaluate_width(s->plan, least, most), &rate))
        return;
    const int64_t *const both[2] = {at->score[0], at->score[1]};
    caucus_audit_law_ratio(s->plan->stoch.select, both, candidates, rate, law, at->ratio);
    for (uint32_t i = 0; i < candidates; i++)
        s->choice[p * CAUCUS_AUDIT_ROOTS * s->d + at->who[i]] = at->ratio[i];
}

caucus_status caucus_audit_expect_some(caucus_audit_stage *s, long double *law) {
    const size_t d = s->d;
    uint64_t *memory = calloc(6 * d, sizeof *memory); /* all of them of eight bytes at most */
    double *ratio = calloc(d, sizeof *ratio);
    if (memory == NULL || ratio == NULL) {
        free(memory);
        free(ratio);
        return CAUCUS_E_MEMORY;
    }
    space at = {.count = memory,
                .own = memory + d,
                .sum = (int64_t *)(memory + 2 * d),
                .score = {(int64_t *)(memory + 3 * d), (int64_t *)(memory + 4 * d)},
                .who = (uint32_t *)(memory + 5 * d),
                .ratio = ratio};
    for (uint64_t p = 2; p <= s->steps; p++)
        expect_phase(s, p, &at, law);
    free(memory);
    free(ratio);
    return CAUCUS_OK;
}
