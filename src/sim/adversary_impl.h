/* adversary_impl.h: what the adversary's files share. Private to adversary*.c and convex.c.
 * layer: sim */
#ifndef CAUCUS_SIM_ADVERSARY_IMPL_H
#define CAUCUS_SIM_ADVERSARY_IMPL_H

#include "data/movielens.h"
#include "data/npy.h"
#include "sim/adversary.h"
#include "sim/fast_random.h"

struct caucus_adversary {
    caucus_adversary_kind kind;
    uint64_t seed;
    uint32_t clients, experts;
    uint64_t rounds;
    bool convex;
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
    uint32_t *threshold; /* bernoulli, lower-bound-oblivious, tiled: mean*2^32 */
    uint32_t *rank;      /* halving, creeping: place of an expert in the hidden order */
    uint32_t *user;      /* movielens: permuted user numbers */
};

/** cross-entropy: e^score of `count` experts from `first` on; y is this over its sum. count <= CAUCUS_FAST_RUN. */
void caucus_adversary_scores(const caucus_adversary_trial *trial, uint32_t client, uint64_t round, uint32_t first,
                             uint32_t count, float *ret);

#endif
