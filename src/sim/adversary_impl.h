/* SPDX-License-Identifier: Apache-2.0 */
/* adversary_impl.h: what the adversary's files share. Private to adversary*.c and convex.c.
 * layer: sim */
#ifndef CAUCUS_SIM_ADVERSARY_IMPL_H
#define CAUCUS_SIM_ADVERSARY_IMPL_H

#include "data/movielens.h"
#include "data/npy.h"
#include "sim/adversary.h"
#include "sim/fast_random.h"
#include "sim/slot/activity.h"

#define CAUCUS_ADVERSARY_EXPERTS_MAX (1u << 20)

/* One kind of losses. An adversary of CAUCUS_ADVERSARY_LIST has the table caucus_adversary_NAME, in the file where its
 * rows are made. */
typedef struct caucus_adversary_ops {
    caucus_adversary_class class;
    double highest; /* upper end of the public range of a loss, which begins at 0 */
    bool convex;    /* has a value and a gradient at a mixture too (convex.h) */
    bool follows;   /* losses follow what was announced (caucus_adversary_tell) */
    bool means;     /* losses are coins whose means the settings bound (adversary_means.c) */
    /* Read data, and take from it what the settings leave open (clients, experts, rounds). NULL: there is none. */
    caucus_status (*load)(const caucus_adversary_settings *settings, caucus_adversary *adversary,
                          caucus_error *ret_error);
    /* Refuse what cannot be and note what follows from the settings; clients, experts and rounds are right. NULL: all
     * is well. */
    caucus_status (*check)(const caucus_adversary_settings *settings, caucus_adversary *adversary,
                           caucus_error *ret_error);
    /* Draw the constants of a trial; false: out of memory. NULL: it has none. */
    bool (*draw)(caucus_adversary_trial *trial);
    /* Rows first .. first+count-1 of a client, from 1 on. */
    void (*fill)(const caucus_adversary_trial *trial, uint32_t client, uint64_t first, uint64_t count, float *ret);
    /* The same as doubles. NULL: fill says it all. */
    void (*fill64)(const caucus_adversary_trial *trial, uint32_t client, uint64_t first, uint64_t count, double *ret);
} caucus_adversary_ops;

struct caucus_adversary {
    const caucus_adversary_ops *ops;
    caucus_adversary_kind kind;
    uint64_t seed;
    uint32_t clients, experts;
    uint64_t rounds;
    bool convex;
    uint64_t segments;
    double mean_lo, mean_hi, spread, drift; /* adversary_means.c */
    double activity_mean, activity_spread;  /* activity.c */
    uint64_t elements; /* lower-bound-realizable: how many (round, client) pairs at the end carry loss */
    float gain;        /* cross-entropy: K of convex.h */
    caucus_movielens *movielens;
    uint32_t best;      /* movielens: g* */
    float *user_losses; /* movielens: [users][genres] */
    caucus_npy npy;     /* losses */
    char *path;         /* losses: of the file */
};

/* Tables of d parameters are repeated up to d + CAUCUS_FAST_RUN entries, so that a run of draws starting at any expert
 * reads them in a straight line. */
struct caucus_adversary_trial {
    const caucus_adversary *adversary;
    caucus_fast_key key; /* of this trial; a client's draws come from its child */
    uint32_t hidden;     /* realizable, lower-bound-realizable: the good expert */
    float *mean;         /* gaussian, cross-entropy, tiled */
    float *deviation;    /* gaussian, cross-entropy, tiled */
    uint32_t *threshold; /* bernoulli without a spread, lower-bound-oblivious, tiled: mean*2^32 */
    double *means;       /* bernoulli with a spread [d]; shifting [segments][d]; drifting: see adversary_walk.c */
    uint32_t *rank;      /* halving, creeping: place of an expert in the hidden order */
    uint32_t *user;      /* movielens: permuted user numbers */
    uint32_t before;     /* adaptive: the expert of the block before */
};

/** The draws of a client's rows come from its own child of the trial's key. */
caucus_fast_key caucus_adversary_client_key(const caucus_adversary_trial *trial, uint32_t client);

/** Constants of a trial (adversary_trial.c): means and deviations of Gaussians; thresholds of means lo + (hi-lo)*U in
 *  2^-32; the hidden expert; a hidden order of n. false: out of memory. */
bool caucus_adversary_draw_normals(caucus_adversary_trial *trial);
bool caucus_adversary_draw_thresholds(caucus_adversary_trial *trial, double lo, double hi);
bool caucus_adversary_draw_means(caucus_adversary_trial *trial, uint64_t segments);
bool caucus_adversary_draw_hidden(caucus_adversary_trial *trial);
bool caucus_adversary_draw_order(caucus_adversary_trial *trial, uint32_t n, uint32_t **ret);
/** drifting (adversary_walk.c): the walk's table. */
bool caucus_adversary_draw_walk(caucus_adversary_trial *trial);

/** A mean as a share of 2^32, at most 2^32 - 1: a loss whose mean is 1 is 0 with probability 2^-32. */
uint32_t caucus_adversary_threshold(double mean);

/** Rows between two changes of a mean that walks: one, or those of a slot. */
static inline uint64_t caucus_adversary_step_rows(const caucus_adversary *adversary) {
    return adversary->activity_mean > 0 ? CAUCUS_SLOT_ROWS : 1;
}

/** drifting: means of experts first_expert .. +count-1 (count <= CAUCUS_WALK_WIDTH) in rounds first .. first+rounds-1,
 *  one call of `row` a round, in order; at the devices' own pace rounds are slots. */
#define CAUCUS_WALK_WIDTH 128u
typedef void (*caucus_walk_row)(void *user, uint64_t round, const double *mean);
void caucus_adversary_walk(const caucus_adversary_trial *trial, uint32_t first_expert, uint32_t count, uint64_t first,
                           uint64_t rounds, caucus_walk_row row, void *user);

/** Child of a client's key for what a client draws once: its differences from the mean. */
#define CAUCUS_ADVERSARY_LABEL_SPREAD 1u

/* Calls `draw` for pieces of a run of rows; `phase` is the expert a piece begins with. */
#define CAUCUS_FOR_PIECES(d, first, count, draw)                                                                       \
    do {                                                                                                               \
        uint64_t begin = (first) * (d), left = (count) * (d);                                                          \
        size_t phase = 0, at = 0;                                                                                      \
        while (left > 0) {                                                                                             \
            size_t piece = left < CAUCUS_FAST_RUN ? (size_t)left : CAUCUS_FAST_RUN;                                    \
            draw;                                                                                                      \
            at += piece;                                                                                               \
            left -= piece;                                                                                             \
            phase = (phase + piece) % (d);                                                                             \
        }                                                                                                              \
    } while (0)

/** cross-entropy: e^score of `count` experts from `first` on; y is this over its sum. count <= CAUCUS_FAST_RUN. */
void caucus_adversary_scores(const caucus_adversary_trial *trial, uint32_t client, uint64_t round, uint32_t first,
                             uint32_t count, float *ret);

#endif
