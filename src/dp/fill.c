/* SPDX-License-Identifier: Apache-2.0 */
/* fill.c: many draws at once, by exact inversion (real.h; the Gaussian by exponential_draw.h). The same laws as the
 * scalar samplers beside their densities, not the same draws. */
#include "dp/draws.h"
#include "dp/real.h"

#include <caucus/threshold.h>

#include <string.h>

/* Fair bits, 64 from one word. */
typedef struct sign_bits {
    uint64_t bits;
    unsigned left;
} sign_bits;

static inline uint64_t next_sign(sign_bits *signs, caucus_stream *stream) {
    if (signs->left == 0) {
        signs->bits = caucus_word(stream);
        signs->left = 64;
    }
    uint64_t bit = signs->bits & 1;
    signs->bits >>= 1;
    signs->left--;
    return bit;
}

/* Inlined with `draw` known, so that the loop has no call in it. */
static inline __attribute__((always_inline)) void fill(caucus_stream *stream, caucus_rational rate,
                                                       int64_t (*draw)(caucus_reals *, const caucus_steps *),
                                                       int64_t *ret, size_t n) {
    caucus_steps steps = caucus_steps_prepare(rate, stream->seeded);
    caucus_reals reals;
    caucus_reals_open(&reals, stream);
    for (size_t i = 0; i < n; i++)
        ret[i] = draw(&reals, &steps);
    caucus_reals_wipe(&reals);
}

void caucus_geometric_fill(caucus_stream *stream, caucus_rational rate, int64_t *ret, size_t n) {
    fill(stream, rate, caucus_real_geometric, ret, n);
}

void caucus_laplace_fill(caucus_stream *stream, caucus_rational rate, int64_t *ret, size_t n) {
    fill(stream, rate, caucus_real_laplace, ret, n);
}

/* A geometric with a sign; -0 is drawn again, or 0 would count twice. */
static inline int64_t signed_draw(caucus_stream *stream, const caucus_inversion *inv, sign_bits *signs) {
    for (;;) {
        int64_t y = caucus_inversion_draw(stream, inv);
        int64_t minus = -(int64_t)next_sign(signs, stream); /* 0 or -1 */
        if (__builtin_expect((y | ~minus) != 0, 1)) {
            return (y ^ minus) - minus;
        }
    }
}

void caucus_gaussian_fill(caucus_stream *stream, caucus_rational variance, int64_t *ret, size_t n) {
    caucus_gaussian_proposal g = caucus_gaussian_prepare(variance);
    caucus_inversion inv = caucus_inversion_prepare((caucus_rational){1, g.t});
    caucus_divisor divisor = caucus_divisor_prepare(g.b);
    sign_bits signs = {0, 0};
    for (size_t i = 0; i < n;) {
        int64_t y = signed_draw(stream, &inv, &signs);
        caucus_u128 distance = caucus_gaussian_distance(&g, y);
        bool keep = distance >> 64 == 0 ? caucus_exp_coin(stream, distance * distance, &divisor)
                                        : caucus_gaussian_accept(stream, &g, distance);
        ret[i] = y;
        i += keep;
    }
}

void caucus_knorm_fill(caucus_stream *stream, caucus_rational rate, int64_t *ret, size_t d) {
    memset(ret, 0, d * sizeof *ret);
    caucus_noise_add(stream, &(caucus_noise){CAUCUS_NOISE_KNORM, rate}, ret, d);
}
