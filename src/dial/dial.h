/* SPDX-License-Identifier: Apache-2.0 */
/* dial.h: the socket under a link: dial out, shake hands, move bytes, and come again when it breaks.
 * layer: dial
 *
 * One poll() per step; nothing blocks but the look-up of a name. Which address is dialled, when, and how long it is
 * waited for, is the link's business (link/redial.h). */
#ifndef CAUCUS_DIAL_DIAL_H
#define CAUCUS_DIAL_DIAL_H

#include <caucus/link.h>

typedef struct caucus_dial_settings {
    const char *cert, *key, *ca;                  /* PEM files, borrowed; all NULL: plain TCP, to this machine only */
    uint32_t tick_ms;                             /* bytes leave on multiples of this; 0: as soon as they can */
    void (*notice)(void *user, const char *line); /* what went wrong and is tried again; may be NULL */
    void *user;
    uint32_t repeat_ms; /* what is said again and again is said so seldom; 0: every ten minutes */
} caucus_dial_settings;

typedef struct caucus_dial caucus_dial;

/** Read the certificates; nothing is dialled yet. Returns: CAUCUS_OK, or what is wrong with which file. */
caucus_status caucus_dial_new(const caucus_dial_settings *settings, caucus_dial **ret,
                              caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_dial_free(caucus_dial *dial);

/** Is this something to dial: host:port, and without certificates an address of this machine? The error names
 *  "connect". The addresses of a link that is given to this dialler should have been asked about here. */
caucus_status caucus_dial_check(const caucus_dial *dial, const char *connect,
                                caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Read certificate, key and authority again, and dial again with them. What is wrong with them is returned, and what
 *  was read before stays in use; so is a certificate of another client (CAUCUS_E_CONFLICT). Without certificates
 *  nothing happens. */
caucus_status caucus_dial_reload(caucus_dial *dial, caucus_link *link, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** When this side's own certificate expires, in seconds since 1970; 0: it has none. *ret_soon: it is time to renew. */
int64_t caucus_dial_expiry(const caucus_dial *dial, bool *ret_soon);

/** The index that this side's own certificate gives it, 0 if none. */
uint32_t caucus_dial_index(const caucus_dial *dial);

/** Do what can be done now; then, if nothing could, wait until something happens, `wake` can be read (-1: none) or
 *  timeout_ms have passed.
 *  Out:     *ret_awake  whether `wake` can be read.
 *  Returns: CAUCUS_OK, also when the connection broke and will be tried again; CAUCUS_E_SAVE: the link's state could
 *           not be saved; a status for which caucus_status_is_final() holds: refused for good (another plan, a
 *           certificate that is not accepted, on either side): do not come again. */
caucus_status caucus_dial_step(caucus_dial *dial, caucus_link *link, int wake, int timeout_ms, bool *ret_awake,
                               caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Connected, and the handshake is over. */
bool caucus_dial_is_open(const caucus_dial *dial);
/** Drop the connection because of what came over it (a link said CAUCUS_E_FORMAT), and say so. */
void caucus_dial_drop(caucus_dial *dial, caucus_link *link, const caucus_error *why);
/** Send what is left (a farewell), for at most timeout_ms, and hang up. */
void caucus_dial_finish(caucus_dial *dial, caucus_link *link, int timeout_ms);

#endif
