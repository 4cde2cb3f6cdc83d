/* SPDX-License-Identifier: Apache-2.0 */
/* plan_file.h: plans as files, for the coordinator and its clients.
 * layer: store
 *
 * A plan file holds the settings of a plan and every integer that calibration made of them, in one fixed form, the
 * canonical text: keys in a fixed order, fractions in lowest terms (docs/PROTOCOL.md, "The plan file"). The SHA-256 of
 * its bytes names the plan (caucus_plan_hash()): whoever has the same 64 digits has the same plan.
 *
 * A reader does not believe a file. It calibrates the settings again, refuses integers that calibration does not
 * explain (rounding of the last digits by another machine's mathematical library is allowed, and then the file's
 * numbers are the ones in force), lets the accountant judge them (docs/PRIVACY.md, "The accountant"), and refuses a
 * file whose bytes are not the canonical text of what it says. */
#ifndef CAUCUS_PLAN_FILE_H
#define CAUCUS_PLAN_FILE_H

#include <caucus/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the format that is written and read; older and newer ones are refused in words. */
#define CAUCUS_PLAN_FILE_VERSION 2
/* More is no plan; it bounds what a hostile file can ask for. */
#define CAUCUS_PLAN_FILE_BYTES ((size_t)1 << 21)

/** The canonical text of a plan: the bytes of its file.
 *  Out:     *ret  ends in a zero that is not counted in *ret_size; freed by the caller with free().
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
CAUCUS_API caucus_status caucus_plan_file_text(const caucus_plan *plan, char **ret, size_t *ret_size) CAUCUS_MUST_CHECK;

/** A plan from the bytes of a file.
 *  In:      name  what errors call the file.
 *  Out:     *ret  free with caucus_plan_free(); written only on success.
 *  Returns: CAUCUS_OK, CAUCUS_E_FORMAT (the error says file, line and what is wrong: another version, an unknown key, a
 *           line that is not canonical), CAUCUS_E_CONFLICT (numbers that its settings do not give), CAUCUS_E_MEMORY, or
 *           what caucus_plan_new() says of its settings. */
CAUCUS_API caucus_status caucus_plan_file_parse(const char *name, const void *bytes, size_t size, caucus_plan **ret,
                                                caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Read a plan.
 *  Returns: as above, or CAUCUS_E_PATH, CAUCUS_E_IO, CAUCUS_E_CHANGED (somebody wrote it meanwhile). */
CAUCUS_API caucus_status caucus_plan_file_read(const char *path, caucus_plan **ret,
                                               caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Write a plan, whole or not at all. A file that holds the same bytes already is left alone; another one is replaced
 *  only if `replace` is set.
 *  Returns: CAUCUS_OK, CAUCUS_E_EXISTS (something else is there), CAUCUS_E_PATH, CAUCUS_E_FULL, CAUCUS_E_IO,
 *           CAUCUS_E_MEMORY. */
CAUCUS_API caucus_status caucus_plan_file_write(const caucus_plan *plan, const char *path, bool replace,
                                                caucus_error *ret_error) CAUCUS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
