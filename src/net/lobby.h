/* SPDX-License-Identifier: Apache-2.0 */
/* lobby.h: connections that have not said who they are: a pool of their own, shared by address.
 * layer: net
 *
 * Anybody can open a connection; only a HELLO with a certificate makes it a client's. Until then it stands in the lobby
 * of its event loop, which has a limit of its own, so that strangers take no client's place. One address (an IPv6
 * network of 64 bits counts as one) has at most half of the lobby. When the lobby is full, or the newcomer's address
 * has its half, somebody goes:
 *
 *  - it is one of the address that has most connections here, the newcomer counted, so who floods pays for it;
 *  - of that address one that was told to go already, then the one that has been silent longest;
 *  - only if none of them is silent, and the newcomer's address has fewer, one that is in the middle of its handshake,
 *    the latest. A client behind a slow line, whose handshake takes long, is not the first to go;
 *  - else the newcomer.
 *
 * Nothing is allocated for a stranger until its first bytes have come, but its entry here. */
#ifndef CAUCUS_NET_LOBBY_H
#define CAUCUS_NET_LOBBY_H

#include <caucus/status.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define CAUCUS_LOBBY_LEAST 16u /* a loop's lobby has room for so many at least */

struct caucus_connection;
typedef struct caucus_lobby caucus_lobby;

/** A lobby with room for `most` connections. */
caucus_status caucus_lobby_new(uint32_t most, caucus_lobby **ret) CAUCUS_MUST_CHECK;
void caucus_lobby_free(caucus_lobby *lobby);

/** Somebody comes from this address. Returns: whether it may come in. *ret_victim: who has to go for it; NULL: nobody.
 *  The caller ends the victim's connection; it stands in the lobby no longer. */
bool caucus_lobby_admit(caucus_lobby *lobby, const struct sockaddr_storage *from,
                        struct caucus_connection **ret_victim);
/** It has come in, as caucus_lobby_admit() allowed. */
void caucus_lobby_enter(caucus_lobby *lobby, struct caucus_connection *c, const struct sockaddr_storage *from);
/** It is in the middle of its handshake. */
void caucus_lobby_speaks(caucus_lobby *lobby, struct caucus_connection *c);
/** It was told to go: it is the first that does. */
void caucus_lobby_told(caucus_lobby *lobby, struct caucus_connection *c);
/** It has joined, or is gone. Nothing happens if it does not stand here. */
void caucus_lobby_leave(caucus_lobby *lobby, struct caucus_connection *c);
/** How many stand here. */
uint32_t caucus_lobby_count(const caucus_lobby *lobby);

#endif
