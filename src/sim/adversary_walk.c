/* SPDX-License-Identifier: Apache-2.0 */
/* adversary_walk.c: means that walk (adversary drifting), for any round at once.
 * layer: sim
 *
 * An expert's position is X(0) = its first mean, uniform in [LO, HI], X(t+1) = X(t) + drift*z with standard normal z;
 * its mean in round t is X(t) reflected at LO and HI. (Reflecting the position in the end is, in law, reflecting every
 * step, since steps are symmetric.) Rounds must be to be had in any order, so X is not summed up but halved (Levy's
 * construction): given X(a) and X(b), b = a + 2h, the middle has the law
 *      X(a+h) = (X(a) + X(b))/2 + drift*sqrt(h/2)*z,
 * z one of its own per interval and expert: normal number node*d + expert, where [k 2^j, (k+1) 2^j) is node
 * 2^(TOP-j) + k of a binary tree. From X(0) and X(2^TOP) = X(0) + drift*2^(TOP/2)*z, number expert, every X(t) follows
 * in TOP halvings and depends on t, the key and d alone, whatever T is.
 *
 * At the devices' own pace a step of the walk is a slot, whose rows have one mean: read "slot" for "round" here.
 *
 * A trial keeps a table of X at multiples of a stride, the smallest power of two with which it has at most TABLE_MAX
 * entries; from there a row costs two halvings on average. With stride 1 the table holds the means themselves. */
#include "sim/adversary_impl.h"

#include <math.h>
#include <stdlib.h>

#define TOP 32u /* rounds are at most 2^30 (adversary.c); even, so that its root is a power of two */
#define TABLE_MAX ((uint64_t)1 << 20)

enum { LABEL_MEAN = 1, LABEL_WALK = 5 }; /* beside those of adversary_trial.c; the first mean is drawn as there */

typedef struct walk {
    const caucus_adversary *adversary;
    caucus_fast_key key;
    uint32_t expert, count; /* experts expert .. expert+count-1, at most CAUCUS_WALK_WIDTH */
    uint32_t leaf;          /* halve down to intervals of 2^leaf rounds */
    uint64_t from, until;   /* rounds that are wanted */
    caucus_walk_row row;    /* gets the positions at the beginning of every leaf that meets them */
    void *user;
} walk;

static walk walk_of(const caucus_adversary_trial *trial, uint32_t expert, uint32_t left) {
    return (walk){.adversary = trial->adversary,
                  .key = caucus_fast_child(trial->key, LABEL_WALK),
                  .expert = expert,
                  .count = left < CAUCUS_WALK_WIDTH ? left : CAUCUS_WALK_WIDTH};
}

/* Interval [k 2^j, (k+1) 2^j), positions known at its ends. As deep as j, at most TOP. */
static void halve(const walk *w, uint32_t j, uint64_t k, const double *left, const double *right) {
    const uint64_t begin = k << j;
    if (begin >= w->until || begin + ((uint64_t)1 << j) <= w->from)
        return;
    if (j == w->leaf) {
        w->row(w->user, begin, left);
        return;
    }
    float z[CAUCUS_WALK_WIDTH];
    double middle[CAUCUS_WALK_WIDTH];
    const double deviation = w->adversary->drift * (sqrt(ldexp(1, (int)j)) / 2); /* sqrt(h/2), h = 2^(j-1) */
    const uint64_t node = ((uint64_t)1 << (TOP - j)) + k;
    caucus_fast_normal(w->key, node * w->adversary->experts + w->expert, w->count, z);
    for (uint32_t n = 0; n < w->count; n++)
        middle[n] = (left[n] + right[n]) / 2 + deviation * (double)z[n];
    halve(w, j - 1, 2 * k, left, middle);
    halve(w, j - 1, 2 * k + 1, middle, right);
}

/* From both ends of the tree. */
static void halve_all(const caucus_adversary_trial *trial, const walk *w) {
    const caucus_adversary *adversary = trial->adversary;
    const caucus_fast_key mean = caucus_fast_child(trial->key, LABEL_MEAN);
    const double deviation = adversary->drift * ldexp(1, (int)TOP / 2);
    float z[CAUCUS_WALK_WIDTH];
    double left[CAUCUS_WALK_WIDTH], right[CAUCUS_WALK_WIDTH];
    caucus_fast_normal(w->key, w->expert, w->count, z);
    for (uint32_t n = 0; n < w->count; n++) {
        left[n] =
            adversary->mean_lo + (adversary->mean_hi - adversary->mean_lo) * caucus_fast_double(mean, w->expert + n);
        right[n] = left[n] + deviation * (double)z[n];
    }
    halve(w, TOP, 0, left, right);
}

static double reflect(const caucus_adversary *adversary, double position) {
    const double lo = adversary->mean_lo, width = adversary->mean_hi - lo;
    if (!(width > 0))
        return lo;
    const double at = fmod(fabs(position - lo), 2 * width);
    return lo + (at > width ? 2 * width - at : at);
}

static uint64_t steps_of(const caucus_adversary *adversary) {
    return adversary->rounds / caucus_adversary_step_rows(adversary);
}

static uint32_t stride_bits(const caucus_adversary *adversary) {
    uint32_t bits = 0;
    while (bits < TOP - 1 && (((steps_of(adversary) - 1) >> bits) + 2) * adversary->experts > TABLE_MAX)
        bits++;
    return bits;
}

typedef struct table {
    const walk *walk;
    double *entry; /* [points][d] */
} table;

static void keep_row(void *user, uint64_t round, const double *position) {
    const table *t = user;
    const walk *w = t->walk;
    double *row = t->entry + (round >> w->leaf) * w->adversary->experts + w->expert;
    for (uint32_t n = 0; n < w->count; n++)
        row[n] = w->leaf == 0 ? reflect(w->adversary, position[n]) : position[n];
}

/* The last stride that holds a round ends at a point too. */
bool caucus_adversary_draw_walk(caucus_adversary_trial *trial) {
    const caucus_adversary *adversary = trial->adversary;
    const uint32_t d = adversary->experts, bits = stride_bits(adversary);
    const uint64_t points = ((steps_of(adversary) - 1) >> bits) + 2;
    trial->means = malloc((size_t)points * d * sizeof *trial->means);
    if (trial->means == NULL)
        return false;
    for (uint32_t n = 0; n < d; n += CAUCUS_WALK_WIDTH) {
        walk w = walk_of(trial, n, d - n);
        table t = {.walk = &w, .entry = trial->means};
        w.leaf = bits;
        w.until = points << bits;
        w.row = keep_row;
        w.user = &t;
        halve_all(trial, &w);
    }
    return true;
}

typedef struct rows {
    const walk *walk;
    caucus_walk_row row;
    void *user;
} rows;

static void reflect_row(void *user, uint64_t round, const double *position) {
    const rows *r = user;
    double mean[CAUCUS_WALK_WIDTH];
    for (uint32_t n = 0; n < r->walk->count; n++)
        mean[n] = reflect(r->walk->adversary, position[n]);
    r->row(r->user, round, mean);
}

void caucus_adversary_walk(const caucus_adversary_trial *trial, uint32_t first_expert, uint32_t count, uint64_t first,
                           uint64_t rounds, caucus_walk_row row, void *user) {
    const size_t d = trial->adversary->experts;
    const uint32_t bits = stride_bits(trial->adversary);
    const double *entry = trial->means + first_expert;
    if (bits == 0) {
        for (uint64_t t = first; t < first + rounds; t++)
            row(user, t, entry + t * d);
        return;
    }
    walk w = walk_of(trial, first_expert, count);
    rows r = {.walk = &w, .row = row, .user = user};
    w.from = first;
    w.until = first + rounds;
    w.row = reflect_row;
    w.user = &r;
    for (uint64_t k = first >> bits; k << bits < w.until; k++)
        halve(&w, bits, k, entry + k * d, entry + (k + 1) * d);
}
