/* SPDX-License-Identifier: Apache-2.0 */
/* excused.h: the clients that a person has excused: nobody waits for them.
 * layer: net
 *
 * A file: one client's number or a range of them (3-7) per line, # for remarks. It is read again when it has changed.
 * One that cannot be read changes nothing: the last good one stays in force, somebody is told, and it is tried again at
 * every look: it need not be the file that was wrong. */
#ifndef CAUCUS_NET_EXCUSED_H
#define CAUCUS_NET_EXCUSED_H

#include <caucus/status.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

typedef struct caucus_excused {
    const char *path; /* borrowed */
    uint32_t clients;
    struct stat seen;   /* of the file as it was read last, good or bad */
    bool read, good;    /* it was looked at; what was found then was a list */
    caucus_status told; /* what was last said to be wrong with it, and the errno behind that; CAUCUS_OK: nothing */
    int32_t told_errno;
} caucus_excused;

/** Look at the file, if it is new, has changed, or could not be read.
 *  In:      ret_list  one byte per client, 0 or 1: written if there are news, and only then.
 *  Out:     ret_news  a list was read.
 *  Returns: CAUCUS_OK, or what is wrong with the file, unless that was said and the file is the same:
 *           CAUCUS_E_PATH, CAUCUS_E_FORMAT (names the line), CAUCUS_E_IO, CAUCUS_E_MEMORY. */
caucus_status caucus_excused_look(caucus_excused *excused, uint8_t *ret_list, bool *ret_news,
                                  caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** The next look reads it, whether it has changed or not, and says what is wrong with it. */
void caucus_excused_again(caucus_excused *excused);

#endif
