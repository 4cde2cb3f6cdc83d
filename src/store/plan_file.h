/* plan_file.h: plans as files, for the coordinator and its clients.
 * layer: store
 *
 * A plan file holds the settings of a plan and every integer that calibration made of them, in one fixed form: keys
 * in a fixed order, fractions in lowest terms. Its name is the SHA-256 of its bytes: whoever has the same 64 digits has
 * the same plan. A reader does not believe a file: it calibrates the settings again, refuses integers that calibration
 * does not explain (rounding of the last digits by another machine's mathematical library is allowed, and then the
 * file's integers are the ones in force), and lets the accountant judge them (docs/PRIVACY.md, "The accountant"). */
#ifndef CAUCUS_STORE_PLAN_FILE_H
#define CAUCUS_STORE_PLAN_FILE_H

#include "plan/plan_text.h"

/* More is no plan; it bounds what a hostile file can ask for. */
#define CAUCUS_PLAN_FILE_BYTES ((size_t)1 << 21)

/** A plan from the bytes of a file; `name` is what errors call it.
 *  Returns: CAUCUS_OK, CAUCUS_E_FORMAT (file, line, what is wrong), CAUCUS_E_MISMATCH (integers that its settings do
 * not give), CAUCUS_E_MEMORY, or what caucus_plan_new() and caucus_plan_account() say of it. *ret only on success. */
caucus_status caucus_plan_file_parse(const char *name, const void *bytes, size_t size, caucus_plan **ret,
                                     caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Read a plan and its hash.
 *  Returns: as above, or CAUCUS_E_PATH, CAUCUS_E_IO. */
caucus_status caucus_plan_file_read(const char *path, caucus_plan **ret, char ret_hash[CAUCUS_PLAN_HEX_BYTES],
                                    caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Write a plan, whole or not at all. A file that holds the same bytes already is left alone; another one is replaced
 *  only if `replace` is set.
 *  Returns: CAUCUS_OK, CAUCUS_E_EXISTS (something else is there), CAUCUS_E_PATH, CAUCUS_E_FULL, CAUCUS_E_IO,
 *           CAUCUS_E_MEMORY. */
caucus_status caucus_plan_file_write(const caucus_plan *plan, const char *path, bool replace,
                                     char ret_hash[CAUCUS_PLAN_HEX_BYTES], caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
