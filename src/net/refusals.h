/* SPDX-License-Identifier: Apache-2.0 */
/* refusals.h: why somebody is turned away, for logs and metrics; and how many lines of a kind are worth writing.
 * layer: net
 *
 * Whoever knocks must not fill a disk, and must not hide others behind itself: a line is held back only because the
 * same was said of the same address less than a second ago. Addresses are told apart by 64 bits (an IPv6 network of
 * one customer is one address); there are CAUCUS_REFUSAL_SLOTS places, chosen by a hash with a secret, and so at most
 * that many lines a second from everybody together. What is held back is counted, and the count is given out a second
 * later whether the same happens again or not: a burst of refusals leaves two lines, and never one alone. */
#ifndef CAUCUS_NET_REFUSALS_H
#define CAUCUS_NET_REFUSALS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "wire/wire.h"

/* X(NAME, word): the word is a metric's label and a log's field. New ones go to the end. */
#define CAUCUS_REASON_LIST(X)                                                                                          \
    X(VERSION, "version")               /* speaks another version of the protocol */                                   \
    X(PLAN, "plan")                     /* has another plan */                                                         \
    X(IDENTITY, "identity")             /* no client of this plan, or not the one it says */                           \
    X(REVOKED, "revoked")               /* on the list */                                                              \
    X(AHEAD, "ahead")                   /* has heard more than is committed here */                                    \
    X(LATER, "later")                   /* not its fault: told to come again */                                        \
    X(FULL, "full")                     /* as many connections as allowed */                                           \
    X(HANDSHAKE, "handshake")           /* TLS failed: no certificate, a wrong one, no TLS at all */                   \
    X(FORMAT, "format")                 /* bytes that are no frame of this protocol, or not now */                     \
    X(REPORT, "report")                 /* a report that this plan never asks for, or in another's name */             \
    X(SLOW_HANDSHAKE, "slow-handshake") /* no handshake in time */                                                     \
    X(SLOW_HELLO, "slow-hello")         /* no HELLO in time */                                                         \
    X(SLOW_FRAME, "slow-frame")         /* half a frame, and not the rest in time */                                   \
    X(EXPIRED, "expired")               /* its certificate has expired while it was connected */

typedef enum caucus_reason {
#define CAUCUS_REASON_ENTRY(name, word) CAUCUS_REASON_##name,
    CAUCUS_REASON_LIST(CAUCUS_REASON_ENTRY)
#undef CAUCUS_REASON_ENTRY
        CAUCUS_REASON_COUNT
} caucus_reason;

const char *caucus_reason_word(caucus_reason reason);
/** What a refusal's code says of the reason, where nothing more is known. */
caucus_reason caucus_reason_of(caucus_refusal_code code);

#define CAUCUS_REFUSAL_SLOTS 128

typedef struct caucus_limiter {
    pthread_mutex_t lock;
    uint8_t secret[16];
    struct caucus_limiter_slot {
        uint8_t key[16]; /* hash of what and whose */
        uint64_t said_ns;
        uint64_t held_back;
        uint32_t what, client;
        struct sockaddr_storage from;
    } slot[CAUCUS_REFUSAL_SLOTS];
    uint64_t others, others_ns; /* held back because all places were taken; when that was last given out */
} caucus_limiter;

/* Lines that were held back: how many, and like which. */
typedef struct caucus_held_back {
    uint64_t count;
    bool others; /* of more kinds and addresses than there are places for: the rest says nothing */
    uint32_t what, client;
    struct sockaddr_storage from; /* the last address of its network */
} caucus_held_back;

void caucus_limiter_init(caucus_limiter *limiter);
void caucus_limiter_close(caucus_limiter *limiter);
/** May this be said now? `what` and `client` tell kinds of lines apart (0: no client).
 *  Out:     ret_held_back  written if so: lines of this kind that were not written since the last one. */
bool caucus_limiter_ask(caucus_limiter *limiter, uint32_t what, uint32_t client, const struct sockaddr_storage *from,
                        uint64_t now_ns, uint64_t *ret_held_back);
/** Lines that were held back and are due to be told by their number. Returns: false: there are no more of them. */
bool caucus_limiter_take(caucus_limiter *limiter, uint64_t now_ns, caucus_held_back *ret);

#endif
