/* SPDX-License-Identifier: Apache-2.0 */
/* kept.c: see kept.h. */
#include "net/relay/kept.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "algo/wipe.h"

#define LONG_BYTES 1024u /* of values, from which on room is used again */

void caucus_kept_init(caucus_kept *k) {
    *k = (caucus_kept){.last = &k->first};
}

static void free_spares(caucus_kept *k) {
    for (caucus_kept_report *r = k->spare, *next; r; r = next) {
        next = r->next;
        free(r);
    }
    k->spare = NULL;
}

/* Room for so many bytes of values: what another one has left, or new. Both together are never more than was kept at
 * once: what is left of another length goes first. */
static caucus_kept_report *make_room(caucus_kept *k, size_t bytes) {
    if (bytes >= LONG_BYTES && bytes != k->spare_bytes)
        free_spares(k);
    if (!k->spare || bytes != k->spare_bytes)
        return malloc(sizeof(caucus_kept_report) + bytes);
    caucus_kept_report *ret = k->spare;
    k->spare = ret->next;
    return ret;
}

bool caucus_kept_add(caucus_kept *k, caucus_kept_room *room, const caucus_report *report,
                     const caucus_follower_mark *before) {
    size_t bytes = (size_t)report->count * sizeof *report->value;
    if (atomic_fetch_add_explicit(&room->used, bytes, memory_order_relaxed) + bytes > room->most) {
        atomic_fetch_sub_explicit(&room->used, bytes, memory_order_relaxed);
        bytes = 0;
    }
    caucus_kept_report *kept = make_room(k, bytes);
    if (!kept) {
        atomic_fetch_sub_explicit(&room->used, bytes, memory_order_relaxed);
        return false;
    }
    *kept = (caucus_kept_report){.order = atomic_fetch_add_explicit(&room->order, 1, memory_order_relaxed),
                                 .bytes = bytes,
                                 .before = *before,
                                 .report = *report};
    kept->report.value = kept->value;
    if (bytes > 0)
        memcpy(kept->value, report->value, bytes);
    caucus_kept_put(k, kept);
    return true;
}

void caucus_kept_put(caucus_kept *k, caucus_kept_report *report) {
    report->next = NULL;
    k->before_last = k->last;
    *k->last = report;
    k->last = &report->next;
}

void caucus_kept_drop(caucus_kept *k, caucus_kept_report *report, caucus_kept_room *room) {
    const size_t bytes = report->bytes;
    atomic_fetch_sub_explicit(&room->used, bytes, memory_order_relaxed);
    if (bytes < LONG_BYTES) {
        caucus_wipe_free(report, sizeof *report + bytes);
        return;
    }
    sodium_memzero(report, sizeof *report + bytes);
    if (bytes != k->spare_bytes)
        free_spares(k);
    k->spare_bytes = bytes;
    report->next = k->spare;
    k->spare = report;
}

void caucus_kept_drop_last(caucus_kept *k, caucus_kept_room *room) {
    caucus_kept_report *last = *k->before_last;
    *k->before_last = NULL;
    k->last = k->before_last;
    caucus_kept_drop(k, last, room);
}

void caucus_kept_sent(caucus_kept *k, uint64_t n) {
    for (caucus_kept_report *r = k->first; r; r = r->next)
        if (r->n == 0)
            r->n = n;
}

caucus_kept_report *caucus_kept_take_all(caucus_kept *k) {
    caucus_kept_report *ret = k->first;
    k->first = NULL;
    k->last = &k->first;
    return ret;
}

void caucus_kept_free(caucus_kept *k, caucus_kept_room *room) {
    for (caucus_kept_report *r = caucus_kept_take_all(k), *next; r; r = next) {
        next = r->next;
        caucus_kept_drop(k, r, room);
    }
    free_spares(k);
}
