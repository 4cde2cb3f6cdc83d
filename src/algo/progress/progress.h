/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h: of each client, which of its items comes next.
 * layer: algo
 *
 * A number a client, and of most clients the same: they are in step. So a client has a byte that says where its number
 * is to be found, and only those that are out of step have a word of their own:
 *
 *   IN     in step: `common`, the number that everybody in step had when the step in hand began
 *   MOVED  in step, and has sent what is asked for: `moved`, which is `common` of the next step
 *   OUT    `value` of the client
 *
 * Closing a step makes IN of who MOVED, which is a pass over bytes of those chunks of clients in which somebody did,
 * and touches no other client but those that have just fallen behind or caught up: they are written down as changed, by
 * chunk, so that keeping the state costs what has changed (coordinator_state.h).
 *
 * What a client is told has been counted of it must be durable and announced: it is what the numbers were when
 * caucus_progress_show() was called last. For who is in step that is the common value of then. Who is not, or has just
 * caught up, keeps what it is told in `shown` (OWN) until it may be told more; FRESH says that its number has changed
 * since the last step was closed, so that showing what was committed leaves it alone. It may be told less than is true
 * for that long, never more.
 *
 * Threads may put numbers of different clients at the same time. Closing, showing, saving: nobody puts meanwhile. */
#ifndef CAUCUS_ALGO_PROGRESS_H
#define CAUCUS_ALGO_PROGRESS_H

#include <caucus/status.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAUCUS_CHUNK_CLIENTS 65536u /* clients that are kept together (coordinator_state.h) */

/** How many of `clients` are in a chunk (0, 1, ...); *ret_first is the first one's index in arrays over all of them. */
static inline uint32_t caucus_chunk_clients(uint32_t clients, uint32_t chunk, uint32_t *ret_first) {
    *ret_first = chunk * CAUCUS_CHUNK_CLIENTS;
    return clients - *ret_first < CAUCUS_CHUNK_CLIENTS ? clients - *ret_first : CAUCUS_CHUNK_CLIENTS;
}

enum {
    CAUCUS_PROGRESS_IN = 0,
    CAUCUS_PROGRESS_MOVED = 1,
    CAUCUS_PROGRESS_OUT = 2,
    CAUCUS_PROGRESS_KIND = 3, /* mask of the three above */
    CAUCUS_PROGRESS_OWN = 4,
    CAUCUS_PROGRESS_FRESH = 8
};

typedef struct caucus_progress {
    uint32_t clients;
    uint64_t common, moved, shown_common;
    bool asked;               /* the step in hand asks for an item of this kind: `moved` means something */
    uint8_t *form;            /* [clients] */
    uint64_t *value, *shown;  /* [clients]; pages of them that nobody needs are never touched */
    _Atomic uint8_t *changed; /* [chunks]: since they were saved */
    _Atomic uint8_t *moves;   /* [chunks]: somebody may have MOVED in the step in hand */
    _Atomic uint8_t *touched; /* [chunks]: `value` or `shown` hold something to be wiped */
    uint8_t *own;             /* [chunks]: OWN without FRESH is in it */
} caucus_progress;

/** Everybody is in step, at `common`. Returns: NULL without memory. */
caucus_progress *caucus_progress_new(uint32_t clients, uint64_t common);
/** Wipes: who took part is nobody's business. NULL is allowed. */
void caucus_progress_free(caucus_progress *progress);

/** The number of client i, from 0. */
static inline uint64_t caucus_progress_get(const caucus_progress *p, size_t i) {
    const unsigned kind = p->form[i] & CAUCUS_PROGRESS_KIND;
    return kind == CAUCUS_PROGRESS_IN ? p->common : kind == CAUCUS_PROGRESS_MOVED ? p->moved : p->value[i];
}
/** What it may be told. */
static inline uint64_t caucus_progress_shown(const caucus_progress *p, size_t i) {
    const unsigned form = p->form[i];
    return form & CAUCUS_PROGRESS_OWN                             ? p->shown[i]
           : (form & CAUCUS_PROGRESS_KIND) == CAUCUS_PROGRESS_OUT ? p->value[i]
                                                                  : p->shown_common;
}
void caucus_progress_put_slowly(caucus_progress *progress, size_t i, uint64_t value);
/** Somebody of this client's chunk has moved. Threads look first: a line that nobody writes is shared by all. */
static inline void caucus_progress_moves(caucus_progress *p, size_t i) {
    _Atomic uint8_t *moves = &p->moves[i / CAUCUS_CHUNK_CLIENTS];
    if (atomic_load_explicit(moves, memory_order_relaxed) == 0)
        atomic_store_explicit(moves, 1, memory_order_relaxed);
}
static inline void caucus_progress_put(caucus_progress *p, size_t i, uint64_t value) {
    caucus_progress_moves(p, i);
    if (p->form[i] <= CAUCUS_PROGRESS_MOVED && p->asked && value == p->moved)
        p->form[i] = CAUCUS_PROGRESS_MOVED;
    else
        caucus_progress_put_slowly(p, i, value);
}
/** Has it sent what the step in hand asks for? */
static inline bool caucus_progress_has_moved(const caucus_progress *p, size_t i) {
    return p->asked && caucus_progress_get(p, i) == p->moved;
}

/** A step begins: it asks for an item of this kind, after which `moved` comes next. */
void caucus_progress_ask(caucus_progress *progress, uint64_t moved);
/** It is over. follow: who has answered is in step from now on, and who has not is not; else, if hardly anybody has
 *  answered, it is the other way round. No number changes. What was closed before is shown, if it is not yet. */
void caucus_progress_close(caucus_progress *progress, bool follow);
/** Between steps: the same number for everybody. */
void caucus_progress_reset(caucus_progress *progress, uint64_t common);
/** What was closed last may be told. */
void caucus_progress_show(caucus_progress *progress);
/** The first client from i on, counted from 0, that has not sent what is asked for; `clients` if there is none. */
uint32_t caucus_progress_silent(const caucus_progress *progress, uint32_t i);

/* For saved states and followers: everybody in step at `common`; one client's number; all numbers, [clients]. */
void caucus_progress_restore(caucus_progress *progress, uint64_t common);
void caucus_progress_restore_one(caucus_progress *progress, size_t i, uint64_t value);
void caucus_progress_restore_all(caucus_progress *progress, const uint64_t *value);

#endif
