/* SPDX-License-Identifier: Apache-2.0 */
/* history.h: every announcement so far, in memory: whoever comes late is told from here.
 * layer: net
 *
 * An announcement takes 28 bytes, and 32 more where experts are listed. Chunks double and never move, so that what has
 * been committed is read without a lock while the next announcement is added (server_impl.h).
 *
 * A run without an end keeps the last CAUCUS_HISTORY_KEPT of them, in places that are used again: there who reads holds
 * the lock of its loop, and who adds holds all of them. */
#ifndef CAUCUS_NET_HISTORY_H
#define CAUCUS_NET_HISTORY_H

#include <caucus/message.h>
#include <stdatomic.h>

#define CAUCUS_HISTORY_FIRST 64u /* chunk k holds 64 << k announcements: 59 of them hold all serials there can be */
#define CAUCUS_HISTORY_CHUNKS 59u
#define CAUCUS_HISTORY_KEPT 64u

/* An announcement without its serial, which is its place, and without its list. Words of 32 bits: no gaps. */
typedef struct caucus_past {
    uint32_t epoch[2], block[2]; /* low, high */
    uint32_t expert, leaf;
    uint8_t ask, listed, unused[2];
} caucus_past;

typedef struct caucus_past_list {
    uint32_t expert[CAUCUS_SHORTLIST];
} caucus_past_list;

/* Begin with = {0}. */
typedef struct caucus_announced {
    caucus_past *_Atomic past[CAUCUS_HISTORY_CHUNKS];
    caucus_past_list *_Atomic list[CAUCUS_HISTORY_CHUNKS]; /* NULL: nothing is listed in this chunk */
    bool endless;                                          /* the last ones only */
    _Atomic uint64_t first;                                /* the first that was added */
} caucus_announced;

/** Add the announcement at the place of its serial; all before it are there, or it is the first. One thread at a time.
 *  Returns: false without memory. */
bool caucus_history_add(caucus_announced *history, const caucus_announcement *announcement);
/** One that was added, and published since. Any thread. */
caucus_announcement caucus_history_get(const caucus_announced *history, uint64_t serial);
/** The first announcement that there is, if `count` is the serial of the next. */
uint64_t caucus_history_from(const caucus_announced *history, uint64_t count);
void caucus_history_free(caucus_announced *history);

#endif
