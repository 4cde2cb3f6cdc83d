/* SPDX-License-Identifier: Apache-2.0 */
/* history.c: see history.h. */
#include "net/history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(CAUCUS_HISTORY_KEPT <= CAUCUS_HISTORY_FIRST, "the places are those of the first chunk");
static_assert(sizeof(caucus_past) == 28 && sizeof(caucus_past) + sizeof(caucus_past_list) == 60,
              "what docs/OPERATIONS.md says of an announcement in memory");

static uint32_t chunk_of(const caucus_announced *h, uint64_t serial, uint64_t *ret_at) {
    if (h->endless) {
        *ret_at = serial % CAUCUS_HISTORY_KEPT;
        return 0;
    }
    const uint32_t k = 63u - (uint32_t)__builtin_clzll(serial / CAUCUS_HISTORY_FIRST + 1);
    *ret_at = serial - CAUCUS_HISTORY_FIRST * (((uint64_t)1 << k) - 1);
    return k;
}

static size_t chunk_room(uint32_t k) {
    return (size_t)CAUCUS_HISTORY_FIRST << k;
}

/* Most of its pages are never touched: lists are few. */
static bool add_list(caucus_announced *h, uint32_t k, uint64_t at, const caucus_announcement *a) {
    caucus_past_list *chunk = atomic_load_explicit(&h->list[k], memory_order_relaxed);
    if (!chunk) {
        chunk = calloc(chunk_room(k), sizeof *chunk);
        if (!chunk)
            return false;
        atomic_store_explicit(&h->list[k], chunk, memory_order_release);
    }
    memcpy(chunk[at].expert, a->list, a->listed * sizeof a->list[0]);
    return true;
}

bool caucus_history_add(caucus_announced *h, const caucus_announcement *a) {
    uint64_t at;
    const uint32_t k = chunk_of(h, a->serial, &at);
    caucus_past *chunk = atomic_load_explicit(&h->past[k], memory_order_relaxed);
    if (!chunk) {
        chunk = malloc(chunk_room(k) * sizeof *chunk);
        if (!chunk)
            return false;
        atomic_store_explicit(&h->past[k], chunk, memory_order_release);
        if (k == 0)
            atomic_store(&h->first, h->endless ? a->serial : 0);
    }
    assert(a->listed <= CAUCUS_SHORTLIST);
    if (a->listed > 0 && !add_list(h, k, at, a))
        return false;
    chunk[at] = (caucus_past){.epoch = {(uint32_t)a->epoch, (uint32_t)(a->epoch >> 32)},
                              .block = {(uint32_t)a->block, (uint32_t)(a->block >> 32)},
                              .expert = a->expert,
                              .leaf = a->leaf,
                              .ask = (uint8_t)a->ask,
                              .listed = (uint8_t)a->listed};
    return true;
}

caucus_announcement caucus_history_get(const caucus_announced *h, uint64_t serial) {
    uint64_t at;
    const uint32_t k = chunk_of(h, serial, &at);
    const caucus_past *p = &atomic_load_explicit(&h->past[k], memory_order_acquire)[at];
    caucus_announcement ret = {.serial = serial,
                               .epoch = p->epoch[0] | (uint64_t)p->epoch[1] << 32,
                               .block = p->block[0] | (uint64_t)p->block[1] << 32,
                               .expert = p->expert,
                               .ask = (caucus_ask)p->ask,
                               .leaf = p->leaf,
                               .listed = p->listed};
    if (p->listed > 0)
        memcpy(ret.list, atomic_load_explicit(&h->list[k], memory_order_acquire)[at].expert,
               p->listed * sizeof ret.list[0]);
    return ret;
}

uint64_t caucus_history_from(const caucus_announced *h, uint64_t count) {
    const uint64_t first = atomic_load(&h->first), kept = CAUCUS_HISTORY_KEPT - 1; /* the next may be there already */
    return h->endless && count - first > kept ? count - kept : first;
}

void caucus_history_free(caucus_announced *h) {
    for (uint32_t k = 0; k < CAUCUS_HISTORY_CHUNKS; k++) {
        free(atomic_load(&h->past[k]));
        free(atomic_load(&h->list[k]));
    }
}
