/* SPDX-License-Identifier: Apache-2.0 */
/* serials.h: with which certificate each client came last, and which clients came with a certificate.
 * layer: net
 *
 * The first question is asked when a client joins, the second when the list of the revoked names a serial number: then
 * nobody looks through all clients. Zeros before a serial number mean nothing: programs differ in them.
 *
 * Its lock is held for a moment: nobody waits for a disk. */
#ifndef CAUCUS_NET_SERIALS_H
#define CAUCUS_NET_SERIALS_H

#include <pthread.h>

#include "algo/coordinator_state.h"

typedef struct caucus_serials {
    pthread_rwlock_t lock; /* alone: to change something */
    bool open;             /* the lock is there */
    uint32_t clients;
    char **serial;    /* [clients]: NULL: none is known */
    uint8_t *changed; /* [chunks]: since it was saved */
    uint32_t *table;  /* [room]: clients, by the hash of their serial number; 0: nobody. Those that have another by now
                       * stay until it is made anew. */
    uint32_t room, used;
} caucus_serials;

/** Returns: false without memory; then nothing is open. */
bool caucus_serials_open(caucus_serials *serials, uint32_t clients);
void caucus_serials_close(caucus_serials *serials);

/** It has come with this one; NULL or "": with none. Without memory: as if it had come with none. */
void caucus_serials_note(caucus_serials *serials, uint32_t client, const char *serial);
/** Does this text, of a list, name the certificate that the client came with last? */
bool caucus_serials_is(caucus_serials *serials, uint32_t client, const char *serial);
/** The same as a text, "-" if none is known. ret has `bytes`. */
void caucus_serials_of(caucus_serials *serials, uint32_t client, char *ret, size_t bytes);
/** Every client that came last with this one. */
void caucus_serials_find(caucus_serials *serials, const char *serial, void (*each)(void *user, uint32_t client),
                         void *user);

/** A chunk of the state (waits_state.c): written if it has changed or the piece is empty; and read.
 *  Returns: false without memory; false if that is not what was saved. */
bool caucus_serials_save(caucus_serials *serials, uint32_t number, caucus_piece *chunk) CAUCUS_MUST_CHECK;
bool caucus_serials_restore(caucus_serials *serials, uint32_t number, const caucus_piece *chunk) CAUCUS_MUST_CHECK;

#endif
