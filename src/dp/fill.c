/* fill.c: many draws at once, by exact inversion (exponential_draw.h). The same laws as the scalar samplers
 * beside their densities, not the same draws: one word decides what takes the scalar samplers about ten. */
#include "dp/draws.h"
#include "dp/exponential_draw.h"

#include <assert.h>
#include <stdlib.h>

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

void caucus_geometric_fill(caucus_stream *stream, caucus_rational rate, int64_t *ret, size_t n) {
    caucus_inversion inv = caucus_inversion_prepare(rate);
    for (size_t i = 0; i < n; i++) {
        ret[i] = inv.scalar ? caucus_geometric(stream, rate) : caucus_inversion_draw(stream, &inv);
        if (ret[i] >= CAUCUS_DRAW_LIMIT) {
            abort();
        }
    }
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

void caucus_laplace_fill(caucus_stream *stream, caucus_rational rate, int64_t *ret, size_t n) {
    caucus_inversion inv = caucus_inversion_prepare(rate);
    sign_bits signs = {0, 0};
    for (size_t i = 0; i < n; i++) {
        ret[i] = inv.scalar ? caucus_laplace(stream, rate) : signed_draw(stream, &inv, &signs);
        if (ret[i] >= CAUCUS_DRAW_LIMIT || ret[i] <= -CAUCUS_DRAW_LIMIT) {
            abort();
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
    assert(d >= 1);
    uint64_t r;
    do {
        int64_t extra;
        caucus_geometric_fill(stream, rate, ret, d);
        caucus_geometric_fill(stream, rate, &extra, 1);
        r = (uint64_t)extra;
        for (size_t n = 0; n < d; n++) {
            r += (uint64_t)ret[n];
            if (r >= (uint64_t)CAUCUS_DRAW_LIMIT) {
                abort();
            }
        }
    } while (!caucus_knorm_accept(stream, r, d));
    for (size_t n = 0; n < d; n++) {
        ret[n] = (int64_t)caucus_uniform(stream, 2 * r + 1) - (int64_t)r;
    }
}
