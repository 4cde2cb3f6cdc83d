/* SPDX-License-Identifier: Apache-2.0 */
/* out_file.h: one file of a directory of results, written whole or not at all.
 * layer: show */
#ifndef CAUCUS_SHOW_OUT_FILE_H
#define CAUCUS_SHOW_OUT_FILE_H

#include "store/atomic_file.h"

/** Begin DIRECTORY/NAME; write to file->out. Returns: CAUCUS_OK, CAUCUS_E_PATH, CAUCUS_E_FULL, CAUCUS_E_IO. */
caucus_status caucus_out_file_begin(caucus_atomic_file *file, const char *directory, const char *name,
                                    caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Close and put in place; on failure an older file stays.
 *  Returns: CAUCUS_OK, CAUCUS_E_PATH, CAUCUS_E_FULL, CAUCUS_E_IO. */
caucus_status caucus_out_file_end(caucus_atomic_file *file, caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
