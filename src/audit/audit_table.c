/* SPDX-License-Identifier: Apache-2.0 */
/* audit_table.c: what is audited of single mechanisms, and on which worst case; whole runs are in audit_table_runs.c.
 * See audit.h; docs/PRIVACY.md has the claims, docs/AUDIT.md the table of twins.
 *
 * Every sound entry is followed by its broken twins. Scores, costs and thresholds of single mechanisms are in steps of
 * a grid of 1024, so that W = 1024 is the most one loss can move them. The neighbours are those for which the exact
 * tests (tests/{dp,algo}/test_exact_*.c) find the largest ratio, or come close to it with an event that is not rare. */
#include "audit/audit_rows.h"

#define W 1024

/* Permute-and-flip with two experts: P(challenger) = e^(-rate*gap)/2 for every gap >= 0, so gaps 0 and 2W reach
 * epsilon. */
#define SELECT(kind, d, low, high, num, den)                                                                           \
    {                                                                                                                  \
        CAUCUS_SELECT_##kind, d, {(low) + (W), (high)}, {W, 0}, {                                                      \
            num, den                                                                                                   \
        }                                                                                                              \
    }
static const caucus_audit_select
    flip = SELECT(FLIP, 2, 0, 2 * W, 1, 2 * W),
    flip_range = {CAUCUS_SELECT_FLIP, 2, {5 * W, 10 * W}, {5 * W, 0}, {1, 2 * W}},
    /* The exponential mechanism approaches epsilon as the challenger gets unlikely. */
    exponential = SELECT(EXPONENTIAL, 2, 4 * W, 6 * W, 1, 2 * W),
    exponential_near = SELECT(EXPONENTIAL, 2, 0, 2 * W, 1, 2 * W),
    exponential_100 = SELECT(EXPONENTIAL, 100, -4 * W, -2 * W, 1, 2 * W),
    flip_100 = SELECT(FLIP, 100, -4 * W, -2 * W, 1, 2 * W),
    /* Noisy-min, gaps 4W and 6W: P = e^-x (2+x)/4, x = gap*rate. The paper's rate is 1/W, the right one 1/(2W). */
    noisy_min_paper = SELECT(NOISY_MIN, 2, 4 * W, 6 * W, 1, W),
    noisy_min = SELECT(NOISY_MIN, 2, 4 * W, 6 * W, 1, 2 * W);

/* The difference of two geometric noises falls like e^(-rate*c) on either side: costs at the threshold and W off it
 * reach epsilon, above it for "keep", below it for "fired". */
static const caucus_audit_threshold
    fires = {.checks = 1, .threshold = 8 * W, .cost = {{7 * W}, {8 * W}}, .rate = {1, W}},
    silent = {.checks = 8, .threshold = 8 * W, .cost = {{8 * W}, {9 * W}}, .rate = {1, W}},
    fires_range = {.checks = 1, .threshold = 8 * W, .cost = {{3 * W}, {8 * W}}, .rate = {1, W}},
    /* Two epochs: a check that keeps, one that fires for sure, one in the next epoch with its cost at the threshold. A
     * kept threshold has to be high for the first and low for the last. */
    refresh = {.checks = 3,
               .threshold = 8 * W,
               .cost = {{8 * W, 99 * W, 8 * W}, {9 * W, 99 * W, 8 * W}},
               .rate = {1, W}},
    /* Two epochs, fired at once in both: with q kept the replaced loss pays twice. */
    restart = {.checks = 2, .threshold = 8 * W, .cost = {{7 * W, 8 * W}, {8 * W, 8 * W}}, .rate = {1, W}},
    restart_idle = {.checks = 2, .threshold = 8 * W, .cost = {{7 * W, 0}, {8 * W, 0}}, .rate = {1, W}};

#define SELECTION(which, text, eps, quick, full, setting)                                                              \
    { which, text, eps, 0, quick, full, 2, &caucus_audit_select_family, &(setting) }
#define CHECKS(which, text, quick, full, setting)                                                                      \
    { which, text, 1, 0, quick, full, 1 << CAUCUS_AUDIT_CHECKS, &caucus_audit_threshold_family, &(setting) }

static const caucus_audit mechanisms[] = {
    SELECTION(SOUND("flip"), "permute-and-flip, 2 experts", 1, 400 * K, 10 * M, flip),
    SELECTION(NOISE_125("flip"), "permute-and-flip, 2 experts", 1, 200 * K, 2 * M, flip),
    SELECTION(HALF_NOISE("flip"), "permute-and-flip, 2 experts", 1, 100 * K, 2 * M, flip),
    SELECTION(RANGE_5("flip"), "permute-and-flip, 2 experts", 1, 100 * K, 2 * M, flip_range),
    SELECTION(SOUND("flip-100"), "permute-and-flip, 100 experts", 1, 50 * K, 1 * M, flip_100),
    SELECTION(NOISE_125("flip-100"), "permute-and-flip, 100 experts", 1, 0, 1 * M, flip_100),
    SELECTION(HALF_NOISE("flip-100"), "permute-and-flip, 100 experts", 1, 0, 1 * M, flip_100),
    SELECTION(SOUND("exponential"), "exponential mechanism, 2 experts", 1, 1 * M, 10 * M, exponential),
    SELECTION(NOISE_125("exponential"), "exponential mechanism, 2 experts", 1, 0, 8 * M, exponential),
    SELECTION(HALF_NOISE("exponential"), "exponential mechanism, 2 experts", 1, 200 * K, 2 * M, exponential_near),
    SELECTION(SOUND("exponential-100"), "exponential mechanism, 100 experts", 1, 50 * K, 1 * M, exponential_100),
    SELECTION(NOISE_125("exponential-100"), "exponential mechanism, 100 experts", 1, 0, 1 * M, exponential_100),
    SELECTION(HALF_NOISE("exponential-100"), "exponential mechanism, 100 experts", 1, 0, 1 * M, exponential_100),
    SELECTION(SOUND("noisy-min"), "noisy-min at the right scale", 1, 1 * M, 10 * M, noisy_min),
    SELECTION(NOISE_150("noisy-min"), "noisy-min at the right scale", 1, 0, 10 * M, noisy_min),
    SELECTION(PAPERS("paper-noisy-min", "noisy-min", "the paper's scale"),
              "the paper's noisy-min scale at a right vertex", 1, 2 * M, 4 * M, noisy_min_paper),

    CHECKS(SOUND("check-fires"), "above-threshold: the last check fires", 200 * K, 10 * M, fires),
    CHECKS(NOISE_125("check-fires"), "above-threshold: the last check fires", 200 * K, 2 * M, fires),
    CHECKS(HALF_NOISE("check-fires"), "above-threshold: the last check fires", 100 * K, 2 * M, fires),
    CHECKS(RANGE_5("check-fires"), "above-threshold: the last check fires", 100 * K, 2 * M, fires_range),
    CHECKS(SOUND("check-silent"), "above-threshold: eight checks keep", 200 * K, 4 * M, silent),
    CHECKS(NOISE_125("check-silent"), "above-threshold: eight checks keep", 200 * K, 2 * M, silent),
    CHECKS(HALF_NOISE("check-silent"), "above-threshold: eight checks keep", 100 * K, 2 * M, silent),
    CHECKS(SOUND("epochs-refresh"), "two epochs, a fresh threshold for each", 200 * K, 4 * M, refresh),
    CHECKS(NOISE_125("epochs-refresh"), "two epochs, a fresh threshold for each", 0, 2 * M, refresh),
    CHECKS(WRONG("epochs-refresh", "kept", KEEP_THETA, "threshold kept"), "two epochs, a fresh threshold for each",
           100 * K, 4 * M, refresh),
    CHECKS(SOUND("epochs-restart"), "two epochs, the cost restarts", 200 * K, 10 * M, restart),
    CHECKS(NOISE_125("epochs-restart"), "two epochs, the cost restarts", 0, 2 * M, restart),
    CHECKS(WRONG("epochs-restart", "kept", KEEP_Q, "q kept"), "two epochs, the cost restarts", 100 * K, 4 * M,
           restart_idle),
};

const caucus_audit *caucus_audit_at(size_t i) {
    const size_t first = sizeof mechanisms / sizeof mechanisms[0];
    size_t runs = 0;
    const caucus_audit *rest = caucus_audit_table_runs(&runs);
    return i < first ? &mechanisms[i] : i - first < runs ? &rest[i - first] : NULL;
}
