/* mapped_file.h: a whole file, read-only, in memory, without reading it.
 * layer: sim */
#ifndef CAUCUS_SIM_MAPPED_FILE_H
#define CAUCUS_SIM_MAPPED_FILE_H

#include <caucus/status.h>
#include <stddef.h>

typedef struct caucus_mapped {
    const uint8_t *bytes; /* never NULL after opening, also for an empty file */
    size_t size;
    void *map; /* NULL if the file is empty */
} caucus_mapped;

/** Map a regular file. It must not shrink while it is mapped (the system would end the process).
 *  Returns: CAUCUS_OK, CAUCUS_E_IO (the error's text begins with the path). */
caucus_status caucus_mapped_open(const char *path, caucus_mapped *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Unmap; a zeroed struct is fine. */
void caucus_mapped_close(caucus_mapped *file);

/** The path, or its end if it would fill an error's line. */
const char *caucus_path_tail(const char *path);

#endif
