/* SPDX-License-Identifier: Apache-2.0 */
/* noise.c: a law and its parameter, drawn by the exact samplers.
 * layer: dp */
#include <caucus/threshold.h>

#include "dp/real.h"
#include "num/checked.h"

#include <sodium.h>
#include <stdlib.h>

/* Draws made at once: 2 KB of stack. */
#define BATCH 256

/* n independent draws of a scalar law. */
static void fill(caucus_stream *stream, const caucus_noise *noise, int64_t *ret, size_t n) {
    switch (noise->kind) {
    case CAUCUS_NOISE_GEOMETRIC:
        caucus_geometric_fill(stream, noise->parameter, ret, n);
        return;
    case CAUCUS_NOISE_LAPLACE:
        caucus_laplace_fill(stream, noise->parameter, ret, n);
        return;
    case CAUCUS_NOISE_GAUSSIAN:
        caucus_gaussian_fill(stream, noise->parameter, ret, n);
        return;
    case CAUCUS_NOISE_NONE:
    case CAUCUS_NOISE_KNORM:
        break;
    }
    abort();
}

int64_t caucus_noise_draw(caucus_stream *stream, const caucus_noise *noise) {
    int64_t value = 0;
    if (noise->kind != CAUCUS_NOISE_NONE)
        fill(stream, noise, &value, 1); /* a K-norm noise is a vector: a caller's bug */
    return value;
}

/* A radius, and given the radius the coordinates are independent, so that a vector of any length needs no working
 * space. docs/PRIVACY.md, "Samplers". */
static void add_knorm(caucus_stream *stream, caucus_rational rate, int64_t *value, size_t n) {
    caucus_steps steps = caucus_steps_prepare(rate, stream->seeded);
    caucus_reals reals;
    caucus_reals_open(&reals, stream);
    uint64_t radius = caucus_real_knorm_radius(&reals, &steps, n);
    for (size_t i = 0; i < n; i++) {
        int64_t z = (int64_t)caucus_real_uniform(&reals, 2 * radius + 1) - (int64_t)radius;
        value[i] = caucus_add_saturating(value[i], z);
    }
    caucus_reals_wipe(&reals);
}

void caucus_noise_add(caucus_stream *stream, const caucus_noise *noise, int64_t *value, size_t n) {
    if (noise->kind == CAUCUS_NOISE_NONE || n == 0)
        return;
    if (noise->kind == CAUCUS_NOISE_KNORM) {
        add_knorm(stream, noise->parameter, value, n);
        return;
    }
    int64_t draw[BATCH];
    for (size_t done = 0; done < n;) {
        size_t now = n - done < BATCH ? n - done : BATCH;
        fill(stream, noise, draw, now);
        for (size_t i = 0; i < now; i++)
            value[done + i] = caucus_add_saturating(value[done + i], draw[i]);
        done += now;
    }
    sodium_memzero(draw, sizeof draw);
}
