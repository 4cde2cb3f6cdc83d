/* SPDX-License-Identifier: Apache-2.0 */
/* pick.c: see pick.h. */
#include "plan/pick.h"

#include "plan/account.h"
#include "plan/calibrate.h"

#include <math.h>

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
