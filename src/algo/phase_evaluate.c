/* SPDX-License-Identifier: Apache-2.0 */
/* phase_evaluate.c: stoch where clients evaluate some of the experts (plan/stoch/evaluate.h): what a client adds up,
 * and how the coordinator selects.
 *
 * A selection from scores that are scaled to one number of evaluations moves with one record by W at most, which
 * depends on who has reported. The plan says what a selection may cost; the coordinator works the rate out from W, in
 * integers, holds it against the plan's budget again, and keeps W and rate in the state that is committed with the
 * decision. docs/PRIVACY.md, statement 15. */
#include <string.h>

#include <caucus/select.h>

#include "algo/look/look.h"
#include "algo/machine.h"
#include "algo/schedule.h"
#include "dp/wide.h"
#include "plan/stoch/evaluate.h"

/* ---- the client ---- */

caucus_status caucus_client_evaluate(const caucus_client *c, uint32_t *ret, size_t ret_count) {
    const caucus_settings *s = &c->plan->settings;
    const uint32_t k = caucus_evaluate_k(s);
    if (ret_count < k)
        return CAUCUS_E_RANGE;
    uint32_t y = 0;
    if (caucus_evaluates_some(s))
        y = caucus_evaluate_first(c->plan, c->phase, c->round + 1 - caucus_phase_first(c->plan, c->phase), c->round + 1,
                                  c->index);
    for (uint32_t j = 0; j < k; j++) {
        ret[j] = y;
        y = y + 1 < s->experts ? y + 1 : 0;
    }
    return CAUCUS_OK;
}

static void add_cells(const caucus_client *c, int64_t *acc, caucus_rows rows, size_t at, const caucus_grid_cells *cells,
                      caucus_clips *clips) {
    if (rows.f32)
        caucus_grid_add_cells_f32(&c->grid, acc, rows.f32 + at, cells, clips);
    else
        caucus_grid_add_cells_f64(&c->grid, acc, rows.f64 + at, cells, clips);
}

/* What was played has cost. Whole rows are a simulator's, which also wants to know that; what a device has not
 * evaluated it does not know. A loss out of range is counted where it is evaluated. */
static void pay(caucus_client *c, caucus_rows rows, size_t at, const caucus_grid_cells *cells) {
    if (rows.whole) {
        const caucus_grid_cells column = {
            .d = 1, .k = 1, .count = cells->count, .stride = cells->stride, .whole = true};
        add_cells(c, &c->cost, rows, at + c->expert, &column, NULL);
        return;
    }
    const caucus_clips clips = c->clips;
    for (size_t r = 0; r < cells->count; r++) {
        const size_t y = cells->first[r], place = c->expert >= y ? c->expert - y : c->expert + cells->d - y;
        if (place < cells->k)
            c->cost += caucus_rows_loss(c, rows, at + r * cells->stride + place);
    }
    c->clips = clips;
}

void caucus_phase_observe_some(caucus_client *c, caucus_rows rows, uint64_t rounds) {
    const uint32_t d = c->plan->settings.experts, k = caucus_evaluate_k(&c->plan->settings);
    const uint64_t before = caucus_phase_first(c->plan, c->phase);
    const bool used = c->phase < c->plan->stoch.phases, counts = used && caucus_phase_counts(c->plan);
    uint32_t first[CAUCUS_EVALUATE_BATCH];
    caucus_grid_cells cells = {.d = d, .k = k, .stride = rows.whole ? d : k, .first = first, .whole = rows.whole};
    for (uint64_t r = 0; r < rounds; r += cells.count) {
        const uint64_t global = c->round + 1 + r;
        const size_t at = (size_t)r * cells.stride;
        cells.count = rounds - r < CAUCUS_EVALUATE_BATCH ? (size_t)(rounds - r) : CAUCUS_EVALUATE_BATCH;
        if (!used && rows.whole && rows.f32 && caucus_grid_within_f32(&c->grid, rows.f32 + at, cells.count * d)) {
            pay(c, rows, at, &cells); /* nothing is added up, and no clip to be counted */
            continue;
        }
        caucus_evaluate_firsts(c->plan, c->phase, global - before, global, c->index, cells.count, first);
        add_cells(c, used ? c->root : NULL, rows, at, &cells, &c->clips);
        for (size_t i = 0; counts && i < cells.count; i++)
            for (uint32_t j = 0, y = first[i]; j < k; j++, y = y + 1 < d ? y + 1 : 0)
                c->root[d + y]++;
        pay(c, rows, at, &cells);
    }
    c->round += rounds;
}

/* How many there are is public. */
static int64_t mean_of(int64_t sum, int64_t n) {
    if (n == 0)
        return 0;
    const caucus_ratio one = caucus_ratio_prepare(1, (uint64_t)n);
    return caucus_rounded_mean(sum, n, &one);
}

/* Unit client-block: the mean of this client's evaluations of each expert; 0, and not counted, where it has none. */
void caucus_phase_means_of_some(caucus_client *c, int64_t *value) {
    const uint32_t d = c->plan->settings.experts;
    const uint64_t p = c->heard.block - 1;
    uint64_t *evaluated = c->common->evaluated;
    memset(evaluated, 0, d * sizeof *evaluated);
    caucus_evaluate_add(c->plan, p, caucus_phase_first(c->plan, p),
                        caucus_stoch_phase_of(c->plan, c->heard.block)->samples, c->index, false, evaluated);
    for (uint32_t y = 0; y < d; y++) {
        const int64_t n = (int64_t)evaluated[y];
        value[y] = mean_of(value[y], n);
    }
}

/* Unit client: the same of everything so far. Out: ret [d]. */
void caucus_phase_means_so_far(const caucus_client *c, int64_t *ret) {
    const uint32_t d = c->plan->settings.experts;
    for (uint32_t y = 0; y < d; y++) {
        const int64_t n = c->root[d + y];
        ret[y] = mean_of(c->root[y], n);
    }
}

/* A saved state: sums of as many losses as it says, which cannot be more than there were rounds. */
bool caucus_phase_counts_sound(const caucus_client *c) {
    const uint32_t d = c->plan->settings.experts;
    for (uint32_t y = 0; caucus_phase_counts(c->plan) && y < d; y++) {
        const int64_t n = c->root[d + y];
        if (n < 0 || (uint64_t)n > c->round || c->root[y] < 0 || c->root[y] > n * c->plan->grid)
            return false;
    }
    return true;
}

/* ---- the coordinator ---- */

#define PAST_MAX 40

typedef struct evaluating {
    caucus_rational rate;      /* of the last selection; 0/1: none was made */
    uint64_t width;            /* W that it was made for */
    uint64_t widths[PAST_MAX]; /* W of the phases whose scores weigh in, newest first; 0: left out */
    uint64_t *count;           /* [d], behind this struct */
    int64_t *score;            /* [d] */
    uint32_t *who;             /* [d] */
} evaluating;

size_t caucus_phase_own_bytes(const caucus_plan *plan) {
    const size_t d = plan->settings.experts;
    return caucus_evaluates_some(&plan->settings)
               ? sizeof(evaluating) + d * (sizeof(uint64_t) + sizeof(int64_t) + sizeof(uint32_t))
               : 0;
}

/* Where its arrays are; they hold nothing between two decisions. */
static evaluating *own_of(caucus_coordinator *c) {
    evaluating *own = c->own;
    const size_t d = c->plan->settings.experts;
    own->count = (uint64_t *)(own + 1);
    own->score = (int64_t *)(own->count + d);
    own->who = (uint32_t *)(own->score + d);
    return own;
}

/* What was counted of each expert in the phase in hand (unit client: so far), of the clients that reported. If all
 * have, their evaluations are known in closed form; if some are missing theirs are taken off, or those there added
 * up, whichever are fewer. */
static void count_evaluations(const caucus_coordinator *c, uint64_t *count) {
    const caucus_plan *plan = c->plan;
    const uint32_t d = plan->settings.experts, m = plan->settings.clients;
    const uint64_t p = caucus_evaluate_from(&plan->settings, c->now.block - 1), first = caucus_phase_first(plan, p);
    const uint64_t n = caucus_coordinator_phase(c)->samples;
    const bool means = caucus_settings_means(&plan->settings);
    const bool subtract = !means && c->answered > m / 2;
    memset(count, 0, d * sizeof *count);
    if (subtract)
        caucus_evaluate_everybody(plan, p, n, count);
    if (c->answered == 0 || (subtract && c->answered == m))
        return;
    for (uint32_t i = 0; i < m; i++) {
        /* Where clients are dealt over processes only their own have marks here; but then all of them report. */
        const bool there = c->answered == m || caucus_progress_get(c->step_done, i) == c->now.serial + 1;
        if (means && there)
            caucus_evaluate_touched(plan, p, first, n, i + 1, count);
        else if (!means && there != subtract)
            caucus_evaluate_add(plan, p, first, n, i + 1, subtract, count);
    }
}

/* With weights on earlier phases: a phase in which some expert was not evaluated often enough is left out for all of
 * them, so that none looks better for having been looked at less. Returns: W, the largest of the phases that weigh in;
 * 0: the newest is left out. */
static uint64_t weigh(caucus_coordinator *c, evaluating *own, bool whole, uint64_t width) {
    const caucus_stoch_plan *plan = &c->plan->stoch;
    const size_t d = c->plan->settings.experts;
    memmove(c->past + d, c->past, (plan->past - 1) * d * sizeof *c->past);
    memmove(own->widths + 1, own->widths, (plan->past - 1) * sizeof *own->widths);
    own->widths[0] = whole ? width : 0;
    if (whole)
        memcpy(c->past, own->score, d * sizeof *c->past);
    else
        memset(c->past, 0, d * sizeof *c->past);
    uint64_t most = 0;
    for (uint32_t a = 0; a < plan->past; a++)
        most = own->widths[a] > most ? own->widths[a] : most;
    for (size_t y = 0; y < d; y++) {
        int64_t score = 0; /* below 2^62: checked when the plan was made */
        for (uint32_t a = 0; a < plan->past; a++)
            score += (int64_t)plan->past_weights[a] * c->past[a * d + y];
        own->score[y] = score;
    }
    return whole ? most : 0;
}

uint32_t caucus_phase_choose_some(caucus_coordinator *c) {
    evaluating *own = own_of(c);
    const caucus_stoch_phase *phase = caucus_coordinator_phase(c);
    const uint32_t d = c->plan->settings.experts;
    uint64_t least = 0, most = 0;
    count_evaluations(c, own->count);
    caucus_look_take(c, own->count[c->now.expert]);
    const uint32_t candidates =
        caucus_evaluate_scores(c->plan, c->sum, own->count, own->score, own->who, &least, &most);
    const bool enough = candidates > 0 && least >= phase->least;
    uint64_t width = enough ? caucus_evaluate_width(c->plan, least, most) : 0;
    if (c->plan->stoch.past > 1)
        width = weigh(c, own, enough && candidates == d, width);
    caucus_rational rate = {0, 1};
    const bool selects = width > 0 && caucus_evaluate_rate(c->plan, phase->select_budget, width, &rate) &&
                         caucus_evaluate_pays(c->plan, phase->select_budget, width, rate);
    own->width = selects ? width : 0;
    own->rate = selects ? rate : (caucus_rational){0, 1};
    const uint32_t chosen = selects ? own->who[caucus_phase_draw(c, own->score, candidates, rate)] : c->now.expert;
    memset(own->count, 0, d * (sizeof *own->count + sizeof *own->score + sizeof *own->who));
    return chosen;
}

void caucus_phase_pack_some(caucus_pack *p, caucus_coordinator *c) {
    evaluating *own = c->own;
    if (!own)
        return;
    caucus_pack_u64(p, &own->rate.num);
    caucus_pack_u64(p, &own->rate.den);
    caucus_pack_u64(p, &own->width);
    caucus_pack_u64s(p, own->widths, c->plan->stoch.past);
}

/* A selection that was made was paid for; before the first, and after the end, there is none. */
bool caucus_phase_sound_some(const caucus_coordinator *c) {
    const evaluating *own = c->own;
    if (!own)
        return true;
    for (uint32_t a = 0; a < c->plan->stoch.past; a++)
        if (own->widths[a] >> 62 != 0)
            return false;
    if (own->rate.num == 0)
        return own->width == 0 && own->rate.den <= 1;
    const uint64_t decided = c->now.ask == CAUCUS_ASK_NOTHING ? c->now.block : c->now.block - 1;
    return decided >= 2 &&
           caucus_evaluate_pays(c->plan, caucus_stoch_phase_of(c->plan, decided)->select_budget, own->width, own->rate);
}
