/* SPDX-License-Identifier: Apache-2.0 */
/* npy.h: losses from a NumPy file, read where they lie.
 * layer: data
 *
 * Format (numpy.lib.format): "\x93NUMPY", version 1.0, 2.0 or 3.0, header length (2 bytes little-endian in 1.0, else
 * 4), a Python dictionary literal with 'descr', 'fortran_order' and 'shape', then the values. Accepted: '<f4' or '<f8',
 * C order, three dimensions clients x rounds x experts. Everything else is refused with what to do about it.
 *
 * Whatever does not begin so is read as CSV (csv_table.h), into memory: a header
 * `client,round,NAME,...` (or `round,client,NAME,...`) and a row per client and round, in any order; of one client's
 * own losses the column of clients, or both of them, or the header, may be left out. The names are labels (num/label.h)
 * and differ from each other. */
#ifndef CAUCUS_DATA_NPY_H
#define CAUCUS_DATA_NPY_H

#include "store/mapped_file.h"
#include <caucus/losses.h>

#include <stdbool.h>

typedef struct caucus_npy {
    uint32_t clients, experts;
    uint64_t rounds;
    bool wide;             /* float64 rather than float32 */
    bool single;           /* the file had rounds x experts only: one client's losses */
    bool vector;           /* and it had experts only: one row */
    const uint8_t *values; /* [clients][rounds][experts]; not necessarily aligned */
    caucus_mapped file;    /* zero if parsed from memory */
    double *read;          /* CSV: where `values` lie; NULL for NumPy's */
    char *names;           /* CSV: what its header calls the experts, separated by commas; NULL: it has none */
    uint32_t first_column; /* and the number of the first expert's column, from 1; 0 without names */
} caucus_npy;

/** Losses that lie in memory already, as if they had been read; they stay borrowed by the result. */
caucus_npy caucus_npy_borrow(const caucus_loss_array *losses);

/** Was it set up by caucus_loss_array_init()? Returns: CAUCUS_OK (NULL, too), CAUCUS_E_RANGE ("size"). */
caucus_status caucus_loss_array_check(const caucus_loss_array *losses, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Parse a whole file in memory.
 *  In:      name   what errors call it; bytes stay borrowed by *ret.
 *  Returns: CAUCUS_OK, CAUCUS_E_FORMAT (the error's text begins with the name). No allocation.
 *  Checked: every length against size, the shape for zeros and overflow, and that the values fill the file exactly. */
caucus_status caucus_npy_parse(const char *name, const uint8_t *bytes, size_t size, caucus_npy *ret,
                               caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Map and parse a file, NumPy or CSV. Returns: as caucus_npy_parse, and CAUCUS_E_PATH, CAUCUS_E_MEMORY. */
caucus_status caucus_npy_open(const char *path, caucus_npy *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** The same, for one client: rounds x experts is accepted too (then `clients` is 1 and `single` is set). */
caucus_status caucus_npy_open_own(const char *path, caucus_npy *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** The same, and one row of experts is accepted too (then `rounds` is 1 and `vector` is set, as `single` is). */
caucus_status caucus_npy_open_rows(const char *path, caucus_npy *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Does a file begin as a NumPy file does? Returns: CAUCUS_OK, CAUCUS_E_PATH. */
caucus_status caucus_npy_is(const char *path, bool *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_npy_close(caucus_npy *npy);

/** Values of rounds first .. first+count-1 of a client (from 0), as floats (float64: rounded) or doubles (exact). */
void caucus_npy_fill(const caucus_npy *npy, uint32_t client, uint64_t first, uint64_t count, float *ret);
void caucus_npy_fill64(const caucus_npy *npy, uint32_t client, uint64_t first, uint64_t count, double *ret);

/** CAUCUS_OK, or CAUCUS_E_CHANGED if the file has become shorter: what was filled since it was opened may be wrong. */
caucus_status caucus_npy_whole(const caucus_npy *npy, const char *name, caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
