/* SPDX-License-Identifier: Apache-2.0 */
/* pick.c: see pick.h. */
#include "plan/pick.h"

#include "plan/account.h"
#include "plan/calibrate.h"

#include <caucus/pick.h>

#include <math.h>
#include <sodium.h>
#include <stdlib.h>

/* Beyond this many sensitivities a sum is clamped. In units of sensitivity/G it is then below 2^50: one division, which
 * is off by at most 2^-53 of its result, moves a score by at most 2^-3 before it is rounded to a whole number. Two sums
 * that differ by at most one sensitivity so differ by at most G + 1/4 before rounding, and by at most G + 1 after. */
#define SUM_MAX 0x1p30

caucus_status caucus_pick_new(double epsilon, int64_t sensitivity, caucus_pick *ret, caucus_error *ret_error) {
    caucus_pick pick = {.sensitivity = sensitivity};
    if (!(epsilon > 0 && epsilon <= 1000))
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "epsilon", "%g (accepted: above 0, at most 1000)", epsilon);
    caucus_status status = caucus_calibrate_rate(epsilon / (2 * (double)sensitivity), epsilon, &pick.rate, ret_error);
    if (status != CAUCUS_OK)
        return status;
    /* The accountant's own arithmetic: 2*rate*W, every step rounded up. */
    pick.epsilon = account_double(account_cost(2, sensitivity, pick.rate));
    if (!(pick.epsilon <= epsilon))
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "epsilon", "%g cannot be kept: the rate gives %.17g",
                           epsilon, pick.epsilon);
    *ret = pick;
    return CAUCUS_OK;
}

/* The larger the better is the smaller the better of the opposite values, whose range is the opposite one. */
void caucus_pick_add(double lo, double hi, bool largest, const double *row, uint32_t d, int64_t *score,
                     caucus_clips *clips) {
    const caucus_grid grid = {.lo = largest ? -hi : lo, .hi = largest ? -lo : hi, .steps = CAUCUS_PICK_GRID};
    if (!largest) {
        caucus_grid_add_f64(&grid, score, row, d, clips);
        return;
    }
    for (uint32_t n = 0; n < d; n++)
        score[n] += caucus_grid_loss(&grid, -row[n], clips);
}

uint32_t caucus_pick_sums(double sensitivity, bool largest, const double *sum, uint32_t d, int64_t *ret) {
    uint32_t moved = 0;
    for (uint32_t n = 0; n < d; n++) {
        double times = (largest ? -sum[n] : sum[n]) / sensitivity;
        moved += !(fabs(times) <= SUM_MAX);
        times = !(times < SUM_MAX) ? SUM_MAX : times > -SUM_MAX ? times : -SUM_MAX; /* no number: the worst */
        ret[n] = llrint(times * (double)CAUCUS_PICK_GRID);
    }
    return moved;
}

uint32_t caucus_pick_draw(const caucus_pick *pick, caucus_stream *stream, const int64_t *score, uint32_t d) {
    return caucus_select_flip(stream, score, d, pick->rate);
}

void caucus_pick_settings_init(caucus_pick_settings *ret) {
    *ret = (caucus_pick_settings){.size = sizeof *ret, .hi = 1};
}

void caucus_picked_init(caucus_picked *ret) {
    *ret = (caucus_picked){.size = sizeof *ret};
}

bool caucus_pick_is_range(double lo, double hi) {
    return isfinite(lo) && isfinite(hi) && lo < hi && hi - lo >= 1e-200 && hi - lo <= 1e200;
}

bool caucus_pick_is_sensitivity(double sensitivity) {
    return isfinite(sensitivity) && sensitivity >= 1e-200;
}

static caucus_status check(const caucus_pick_settings *s, uint64_t rows, uint32_t columns, caucus_error *ret_error) {
    if (s->size != sizeof *s)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "size", "not set up by caucus_pick_settings_init()");
    if (!caucus_pick_is_range(s->lo, s->hi))
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "range",
                           "%g,%g: must be a lower and a higher number, for example 0,1", s->lo, s->hi);
    if (s->sensitivity != 0 && !caucus_pick_is_sensitivity(s->sensitivity)) /* NaN is not 0 */
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "sensitivity", "%g: must be a number above 0", s->sensitivity);
    if (columns < 2)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "one column — expected 2 or more to choose from");
    if (rows == 0 || (s->sensitivity != 0 && rows != 1))
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%llu rows — expected %s", (unsigned long long)rows,
                           rows == 0 ? "1 or more" : "one, the sums");
    return rows <= CAUCUS_PICK_ROWS ? CAUCUS_OK : caucus_fail(ret_error, CAUCUS_E_OVERFLOW, "", "more than 2^41 rows");
}

/* *score: [columns], zeros. */
static void add_up(const caucus_pick_settings *s, const double *value, uint64_t rows, uint32_t columns, int64_t *score,
                   caucus_picked *picked) {
    caucus_clips clips = {0};
    if (s->sensitivity != 0)
        picked->clamped = caucus_pick_sums(s->sensitivity, s->largest, value, columns, score);
    for (uint64_t i = 0; s->sensitivity == 0 && i < rows; i++)
        caucus_pick_add(s->lo, s->hi, s->largest, value + (size_t)i * columns, columns, score, &clips);
    picked->clamped += clips.low + clips.high;
    picked->nan = clips.nan;
}

caucus_status caucus_pick_choose(const caucus_pick_settings *settings, const double *value, uint64_t rows,
                                 uint32_t columns, const caucus_key *key, caucus_picked *ret, caucus_error *ret_error) {
    caucus_pick pick = {0};
    caucus_key fresh = {.seeded = false};
    caucus_status status = check(settings, rows, columns, ret_error);
    if (status == CAUCUS_OK && ret->size != sizeof *ret)
        status = caucus_fail(ret_error, CAUCUS_E_RANGE, "size", "not set up by caucus_picked_init()");
    if (status == CAUCUS_OK) /* sums move by one step more, see pick.h */
        status = caucus_pick_new(settings->epsilon, CAUCUS_PICK_GRID + (settings->sensitivity != 0), &pick, ret_error);
    if (status != CAUCUS_OK)
        return status;
    int64_t *score = calloc(columns, sizeof *score);
    status = score == NULL ? CAUCUS_E_MEMORY : key == NULL ? caucus_key_generate(&fresh) : CAUCUS_OK;
    if (status != CAUCUS_OK) {
        free(score);
        return caucus_fail(ret_error, status, "", "%s", caucus_status_text(status));
    }
    caucus_picked picked = {.size = sizeof picked, .epsilon = pick.epsilon};
    caucus_stream stream;
    add_up(settings, value, rows, columns, score, &picked);
    caucus_stream_init(&stream, key != NULL ? key : &fresh, CAUCUS_PURPOSE_SELECT, 0, 0, 0);
    picked.choice = caucus_pick_draw(&pick, &stream, score, columns);
    caucus_stream_wipe(&stream);
    caucus_key_wipe(&fresh);
    sodium_memzero(score, columns * sizeof *score);
    free(score);
    *ret = picked;
    return CAUCUS_OK;
}
