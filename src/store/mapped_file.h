/* SPDX-License-Identifier: Apache-2.0 */
/* mapped_file.h: a whole file, read-only, in memory, without reading it.
 * layer: store
 *
 * Reading past the end of a file that somebody cut while it was mapped would end the process (SIGBUS). Here it reads
 * zeros instead, and whoever used what was read asks afterwards whether the file is still whole. */
#ifndef CAUCUS_STORE_MAPPED_FILE_H
#define CAUCUS_STORE_MAPPED_FILE_H

#include <caucus/status.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct caucus_mapping caucus_mapping;

typedef struct caucus_mapped {
    const uint8_t *bytes; /* never NULL after opening, also for an empty file */
    size_t size;
    caucus_mapping *map; /* NULL if the file is empty */
} caucus_mapped;

/** Map a regular file.
 *  Returns: CAUCUS_OK, CAUCUS_E_PATH (the error's text begins with the path), CAUCUS_E_MEMORY. */
caucus_status caucus_mapped_open(const char *path, caucus_mapped *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Unmap; a zeroed struct is fine. */
void caucus_mapped_close(caucus_mapped *file);

/** Has the file become shorter since it was opened? Then bytes read so far may be zeros that it never held. */
bool caucus_mapped_cut(const caucus_mapped *file);

#endif
