/* SPDX-License-Identifier: Apache-2.0 */
/* threshold.h: above-threshold with the epoch rule that makes it cheap.
 * layer: dp
 *
 * In one epoch the expert in force is constant and its cost q restarts at 0, so replacing one loss
 * shifts every later check by the same c, |c| <= W. Then an epoch is max(W*rate_T, W*rate_Q)-DP and epochs
 * compose in parallel (docs/PRIVACY.md, lemma AT). This type holds q itself and refuses cost of another
 * expert, so that the lemma's conditions are true by construction, not by convention.
 *
 * A noise and a threshold are values in the memory of the caller: their shape is frozen within a soname. */
#ifndef CAUCUS_THRESHOLD_H
#define CAUCUS_THRESHOLD_H

#include <caucus/samplers.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A law of noise on the integers. */
typedef enum caucus_noise_kind {
    CAUCUS_NOISE_NONE = 0,  /* always 0 */
    CAUCUS_NOISE_GEOMETRIC, /* one-sided: parameter = rate */
    CAUCUS_NOISE_LAPLACE,   /* two-sided: parameter = rate */
    CAUCUS_NOISE_GAUSSIAN,  /* parameter = variance */
    CAUCUS_NOISE_KNORM      /* vectors only: parameter = rate */
} caucus_noise_kind;

/** A law and its parameter, per unit of the integer grid.
 *  Fixed: every law here has one parameter; one with more would be another type. */
typedef struct caucus_noise {
    caucus_noise_kind kind;    /* the law */
    caucus_rational parameter; /* its rate or variance */
} caucus_noise;

/** One draw of a scalar noise (not KNORM). NONE gives 0. */
CAUCUS_API int64_t caucus_noise_draw(caucus_stream *stream, const caucus_noise *noise);
/** n draws (for KNORM: one vector of dimension n), added to value[] with saturation at +-2^62. */
CAUCUS_API void caucus_noise_add(caucus_stream *stream, const caucus_noise *noise, int64_t *value, size_t n);

/** One epoch of above-threshold.
 *  Fixed: it is the mechanism's whole state; another mechanism would be another type. */
typedef struct caucus_threshold {
    uint32_t expert; /* the one expert this epoch is about */
    uint64_t epoch;  /* its number */
    bool open;       /* false before the first epoch and after a check fired */
    int64_t q;       /* cost of the expert since the epoch began */
    int64_t theta;   /* threshold plus its noise, drawn once per epoch */
    uint64_t checks; /* made in this epoch */
} caucus_threshold;

/** Begin an epoch: q = 0, theta = threshold + fresh noise. */
CAUCUS_API void caucus_threshold_begin(caucus_threshold *above, uint64_t epoch, uint32_t expert, int64_t threshold,
                                       const caucus_noise *noise, caucus_stream *stream);

/** Add cost of `expert` in `epoch` to q.
 *  Returns: CAUCUS_OK, CAUCUS_E_ORDER (no open epoch, another epoch or another expert: nothing is added). */
CAUCUS_API caucus_status caucus_threshold_add(caucus_threshold *above, uint64_t epoch, uint32_t expert,
                                              int64_t cost) CAUCUS_MUST_CHECK;

/** One check: *ret_fired = q + fresh noise > theta (strict). Firing closes the epoch. The noisy value is never output.
 *  Returns: CAUCUS_OK, CAUCUS_E_ORDER (no open epoch). */
CAUCUS_API caucus_status caucus_threshold_check(caucus_threshold *above, const caucus_noise *noise,
                                                caucus_stream *stream, bool *ret_fired) CAUCUS_MUST_CHECK;

/** The same against a threshold that has been raised by `more` since the epoch began: q + fresh noise > theta + more.
 *  `more` is a public number, at least 0. */
CAUCUS_API caucus_status caucus_threshold_check_raised(caucus_threshold *above, int64_t more, const caucus_noise *noise,
                                                       caucus_stream *stream, bool *ret_fired) CAUCUS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
