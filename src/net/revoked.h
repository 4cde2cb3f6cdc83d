/* SPDX-License-Identifier: Apache-2.0 */
/* revoked.h: the list of certificates that no longer count.
 * layer: net
 *
 * One client's index (up to 8 decimal digits) or one serial number (hexadecimal) per line, # for remarks. The file is
 * read again when it has changed. One that cannot be read is a mistake of the person who keeps it, not of any client:
 * the last good list stays in force, whoever is on it is refused for good, and whoever is not may be on the one that
 * cannot be read, so it is told to come again later. */
#ifndef CAUCUS_NET_REVOKED_H
#define CAUCUS_NET_REVOKED_H

#include "dial/tls.h"

typedef struct caucus_revoked caucus_revoked;

typedef enum caucus_revoked_answer {
    CAUCUS_REVOKED_NO,
    CAUCUS_REVOKED_YES,
    CAUCUS_REVOKED_UNKNOWN /* not on the last good list, and the present one cannot be read */
} caucus_revoked_answer;

/** Returns: CAUCUS_OK, CAUCUS_E_PATH, CAUCUS_E_FORMAT (names the line), CAUCUS_E_IO, CAUCUS_E_MEMORY. */
caucus_status caucus_revoked_open(const char *path, caucus_revoked **ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_revoked_close(caucus_revoked *revoked);

/* All of them are safe from several threads, and wait for each other only while the file is being read; the first three
 * look at the file. A look-up takes the logarithm of the list's length. */

/** Is it on the list? */
caucus_revoked_answer caucus_revoked_ask(caucus_revoked *revoked, uint32_t client, const char *serial);
/** Has a good list been read since *seen (from 0)? Then *seen is brought up to date. */
bool caucus_revoked_news(caucus_revoked *revoked, uint64_t *seen);
/** Can the file not be read at present? ret_why: the reason, if so; may be NULL. */
bool caucus_revoked_broken(caucus_revoked *revoked, caucus_error *ret_why);
/** Is it on the last good list? */
bool caucus_revoked_lists(caucus_revoked *revoked, uint32_t client, const char *serial);
/** Each entry of the last good list: a client, or 0 and a serial number without the zeros before it. Nothing of the
 *  list may be asked for meanwhile. */
void caucus_revoked_each(caucus_revoked *revoked, void (*each)(void *user, uint32_t client, const char *serial),
                         void *user);
/** Read the file again with the next question, whether or not it looks changed. */
void caucus_revoked_again(caucus_revoked *revoked);

#endif
