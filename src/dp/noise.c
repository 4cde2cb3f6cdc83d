/* noise.c: a law and its parameter, drawn by the exact samplers.
 * layer: dp */
#include <caucus/threshold.h>

#include "dp/draws.h"
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

/* By inversion, like many: it takes one word where the scalar samplers take about ten, so one ChaCha20 block serves. */
int64_t caucus_noise_draw(caucus_stream *stream, const caucus_noise *noise) {
    int64_t value = 0;
    if (noise->kind != CAUCUS_NOISE_NONE)
        fill(stream, noise, &value, 1); /* a K-norm noise is a vector: a caller's bug */
    return value;
}

/* The radius of a K-norm vector: P(r) ~ (2r+1)^n e^(-rate*r). docs/PRIVACY.md, "Samplers". */
static uint64_t knorm_radius(caucus_stream *stream, caucus_rational rate, size_t n) {
    int64_t part[BATCH];
    uint64_t radius;
    do {
        radius = 0;
        for (size_t left = n + 1; left > 0;) {
            size_t now = left < BATCH ? left : BATCH;
            caucus_geometric_fill(stream, rate, part, now);
            for (size_t i = 0; i < now; i++)
                radius = (uint64_t)caucus_add_saturating((int64_t)radius, part[i]);
            left -= now;
        }
    } while (!caucus_knorm_accept(stream, radius, n));
    sodium_memzero(part, sizeof part);
    return radius;
}

/* Given the radius the coordinates are independent, so that a vector of any length needs no working space. */
static void add_knorm(caucus_stream *stream, caucus_rational rate, int64_t *value, size_t n) {
    uint64_t radius = knorm_radius(stream, rate, n);
    for (size_t i = 0; i < n; i++) {
        int64_t z = (int64_t)caucus_uniform(stream, 2 * radius + 1) - (int64_t)radius;
        value[i] = caucus_add_saturating(value[i], z);
    }
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
