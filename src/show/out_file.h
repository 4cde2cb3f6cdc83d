/* out_file.h: one file, written whole or not at all: a draft beside it, synced, then renamed.
 * layer: show */
#ifndef CAUCUS_SHOW_OUT_FILE_H
#define CAUCUS_SHOW_OUT_FILE_H

#include <caucus/status.h>
#include <stdio.h>

typedef struct caucus_out_file {
    FILE *out; /* write here; errors are found at the end */
    char path[4096], draft[4096];
} caucus_out_file;

/** Returns: CAUCUS_OK, CAUCUS_E_IO. */
caucus_status caucus_out_file_begin(caucus_out_file *file, const char *directory, const char *name,
                                    caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Close and put in place; on failure the draft is removed and an older file stays. Returns: CAUCUS_OK, CAUCUS_E_IO. */
caucus_status caucus_out_file_end(caucus_out_file *file, caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
