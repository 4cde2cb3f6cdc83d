/* SPDX-License-Identifier: Apache-2.0 */
/* address.h: "host:port", for listeners and for those who dial.
 * layer: dial */
#ifndef CAUCUS_DIAL_ADDRESS_H
#define CAUCUS_DIAL_ADDRESS_H

#include <caucus/status.h>
#include <stdbool.h>
#include <sys/socket.h>

#define CAUCUS_HOST_BYTES 256
#define CAUCUS_ADDRESS_BYTES (CAUCUS_HOST_BYTES + 16)

typedef struct caucus_address {
    char host[CAUCUS_HOST_BYTES]; /* as written, without the brackets of [::1] */
    uint16_t port;
    struct sockaddr_storage socket;
    socklen_t bytes;
    bool loopback; /* nobody but this machine can reach it */
} caucus_address;

/** Split "host:port" without looking anything up: "localhost:7400", "10.0.0.1:0", "[::1]:7400".
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (the error shows how it is written); `field` is what errors call it. */
caucus_status caucus_address_split(const char *text, const char *field, caucus_address *ret,
                                   caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Split and look up. listening: for bind(), else for connect().
 *  Returns: as above, and CAUCUS_E_NETWORK (no such host). */
caucus_status caucus_address_resolve(const char *text, const char *field, bool listening, caucus_address *ret,
                                     caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Split and look up all that the name stands for, in the order the system prefers, for connect().
 *  Out:     ret[0 .. *ret_count - 1], at most CAUCUS_ADDRESSES_MOST of them.
 *  Returns: as above. */
#define CAUCUS_ADDRESSES_MOST 16u
caucus_status caucus_address_resolve_all(const char *text, const char *field, caucus_address ret[CAUCUS_ADDRESSES_MOST],
                                         size_t *ret_count, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** The same address and the same port? */
bool caucus_address_same(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

/** Is this the address of this machine to itself (127.0.0.0/8, ::1)? */
bool caucus_address_is_loopback(const struct sockaddr_storage *address);

/** "host:port" of a socket's address, numbers only. */
void caucus_address_text(const struct sockaddr_storage *address, char ret[CAUCUS_ADDRESS_BYTES]);
uint16_t caucus_address_port(const struct sockaddr_storage *address);
void caucus_address_set_port(struct sockaddr_storage *address, uint16_t port);

#endif
