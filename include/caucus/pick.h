/* SPDX-License-Identifier: Apache-2.0 */
/* pick.h: one private choice of one of d columns, from a table or from sums; what `caucus pick` does.
 * layer: plan
 *
 * docs/PRIVACY.md, "One choice". From a table each row is one person's: its values are clamped to a public range,
 * rounded to integers and added up. From sums that somebody else made, the caller states by how much one person can
 * move one of them. The choice is permute-and-flip, in integers. */
#ifndef CAUCUS_PICK_H
#define CAUCUS_PICK_H

#include <caucus/rng.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Set up by caucus_pick_settings_init(), then changed field by field; it grows at its end. In brackets: what init
 * sets. */
typedef struct caucus_pick_settings {
    size_t size;    /* of this struct, as the caller knows it; set by caucus_pick_settings_init() */
    double epsilon; /* above 0, at most 1000; mandatory (0) */
    double lo, hi;  /* public range of a value of a table (0, 1) */
    double
        sensitivity; /* 0: values are a table; above 0: they are sums, and one person moves one by at most this (0) */
    bool largest;    /* the largest total wins, not the smallest (false) */
} caucus_pick_settings;

/** The size and the values in brackets. */
CAUCUS_API void caucus_pick_settings_init(caucus_pick_settings *ret);

/** What came of it. The struct grows at its end. */
typedef struct caucus_picked {
    size_t size;      /* of this struct, as the caller knows it; caucus_picked_init() sets it */
    uint32_t choice;  /* the column, from 0: the one thing here that is private */
    double epsilon;   /* what the choice guarantees, recomputed from the integers; not above what was asked */
    uint64_t clamped; /* values outside their range, which were moved to its end; for the owner of the data alone */
    uint64_t nan;     /* values that are no numbers, taken for the worst there is; likewise */
} caucus_picked;
/** Zeros, and the size. */
CAUCUS_API void caucus_picked_init(caucus_picked *ret);

/** Choose a column.
 *  In:      value  rows x columns, row by row; borrowed for the call. Sums are one row. columns: 2 or more.
 *           key    NULL: a fresh one from the operating system. A key from a seed repeats a choice: NOT PRIVATE.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (the error names the setting; "size": not set up by an init of this version),
 *           CAUCUS_E_FORMAT (one column, or sums in more than one row), CAUCUS_E_INFEASIBLE, CAUCUS_E_OVERFLOW,
 *           CAUCUS_E_RANDOM, CAUCUS_E_MEMORY.
 *  Privacy: each call spends epsilon.
 *  Cost:    O(rows*columns). */
CAUCUS_API caucus_status caucus_pick_choose(const caucus_pick_settings *settings, const double *value, uint64_t rows,
                                            uint32_t columns, const caucus_key *key, caucus_picked *ret,
                                            caucus_error *ret_error) CAUCUS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
