/* SPDX-License-Identifier: Apache-2.0 */
/* gather.c: count reports as the coordinator would, and remember which items they were. See relayed.h. */
#include <stdlib.h>
#include <string.h>

#include "algo/machine.h"
#include "algo/relayed/relayed_bytes.h"
#include "algo/wipe.h"
#include "num/hand_over.h"
#include "num/little_endian.h"

struct caucus_gather {
    caucus_coordinator *follower;
    caucus_partial *partial;
    uint32_t chunks, groups; /* groups: chunks of which somebody is in step */
    uint32_t *count;         /* [chunks]: clients of the chunk that are */
    uint8_t **bits;          /* [chunks]: NULL: nobody ever was */
    uint8_t *item;           /* the list, as it is written */
    uint32_t items;
    size_t item_room;
    bool votes; /* its values are votes */
};

caucus_status caucus_gather_new(caucus_coordinator *follower, caucus_gather **ret) {
    caucus_gather *g = calloc(1, sizeof *g);
    if (!g)
        return CAUCUS_E_MEMORY;
    g->follower = follower;
    g->chunks = caucus_coordinator_chunks(follower->plan);
    g->count = calloc(g->chunks, sizeof *g->count);
    g->bits = calloc(g->chunks, sizeof *g->bits);
    const caucus_status status = g->count && g->bits ? caucus_partial_new(follower, &g->partial) : CAUCUS_E_MEMORY;
    return CAUCUS_HAND_OVER(status, ret, g, caucus_gather_free(g));
}

void caucus_gather_free(caucus_gather *g) {
    if (!g)
        return;
    for (uint32_t i = 0; g->bits && i < g->chunks; i++)
        caucus_wipe_free(g->bits[i], CAUCUS_CHUNK_CLIENTS / 8);
    free(g->bits);
    free(g->count);
    caucus_wipe_free(g->item, g->item_room);
    caucus_partial_free(g->partial);
    free(g);
}

/* Room to remember one more item. */
static bool make_room(caucus_gather *g, const caucus_report *r, bool in_step) {
    const uint32_t chunk = (r->client - 1) / CAUCUS_CHUNK_CLIENTS;
    if (in_step) {
        if (!g->bits[chunk])
            g->bits[chunk] = calloc(1, CAUCUS_CHUNK_CLIENTS / 8);
        return g->bits[chunk] != NULL;
    }
    const size_t used = (size_t)g->items * CAUCUS_RELAYED_ITEM_BYTES;
    if (g->item_room - used >= CAUCUS_RELAYED_ITEM_BYTES)
        return true;
    const size_t room = g->item_room ? 2 * g->item_room : (size_t)64 * CAUCUS_RELAYED_ITEM_BYTES;
    uint8_t *grown = caucus_wipe_grow(g->item, used, g->item_room, room);
    if (!grown)
        return false;
    g->item = grown;
    g->item_room = room;
    return true;
}

static void remember(caucus_gather *g, const caucus_report *r, bool in_step) {
    if (in_step) {
        const uint32_t chunk = (r->client - 1) / CAUCUS_CHUNK_CLIENTS, i = (r->client - 1) % CAUCUS_CHUNK_CLIENTS;
        g->bits[chunk][i / 8] |= (uint8_t)(1u << i % 8);
        g->groups += g->count[chunk]++ == 0;
        return;
    }
    uint8_t *to = g->item + (size_t)g->items++ * CAUCUS_RELAYED_ITEM_BYTES;
    to = caucus_le_put(caucus_le_put(to, r->client, 4), (uint64_t)r->kind, 1);
    (void)caucus_le_put(caucus_le_put(caucus_le_put(to, r->first, 8), r->block, 8), r->epoch_or_leaf, 8);
}

caucus_status caucus_gather_count(caucus_gather *g, const caucus_report *r) {
    const caucus_coordinator *c = g->follower;
    const caucus_report asked = caucus_coordinator_item_asked(c, caucus_coordinator_first_in_step(c));
    if (r->client < 1 || r->client > c->plan->settings.clients)
        return CAUCUS_E_RANGE;
    const bool in_step = r->kind == asked.kind && r->first == asked.first && r->block == asked.block &&
                         r->epoch_or_leaf == asked.epoch_or_leaf;
    if (!make_room(g, r, in_step))
        return CAUCUS_E_MEMORY;
    const caucus_status status = caucus_coordinator_count(g->follower, g->partial, r);
    if (status != CAUCUS_OK)
        return status;
    remember(g, r, in_step);
    g->votes = g->votes || r->kind == CAUCUS_ASK_VOTE;
    return CAUCUS_OK;
}

uint64_t caucus_gather_items(const caucus_gather *g) {
    uint64_t items = g->items;
    for (uint32_t i = 0; i < g->chunks; i++)
        items += g->count[i];
    return items;
}

static size_t group_bytes(const caucus_gather *g, uint32_t chunk) {
    uint32_t first;
    const uint32_t clients = caucus_relayed_chunk(g->follower->plan, chunk, &first), count = g->count[chunk];
    return CAUCUS_RELAYED_GROUP_BYTES + (count <= CAUCUS_RELAYED_LIST_MAX ? (size_t)2 * count : (clients + 7) / 8);
}

static uint8_t values_of(const caucus_gather *g) {
    return !g->partial->filled ? CAUCUS_RELAYED_NOTHING : g->votes ? CAUCUS_RELAYED_VOTES : CAUCUS_RELAYED_SUMS;
}

size_t caucus_gather_bytes(const caucus_gather *g) {
    const size_t each = values_of(g) == CAUCUS_RELAYED_SUMS ? 8 : values_of(g) == CAUCUS_RELAYED_VOTES ? 4 : 0;
    size_t bytes = CAUCUS_RELAYED_HEAD_BYTES + (size_t)g->items * CAUCUS_RELAYED_ITEM_BYTES +
                   each * g->follower->plan->settings.experts;
    for (uint32_t i = 0; i < g->chunks; i++)
        bytes += g->count[i] > 0 ? group_bytes(g, i) : 0;
    return bytes;
}

static uint8_t *write_group(const caucus_gather *g, uint32_t chunk, uint8_t *to) {
    uint32_t first;
    const uint32_t clients = caucus_relayed_chunk(g->follower->plan, chunk, &first), count = g->count[chunk];
    to = caucus_le_put(caucus_le_put(to, chunk, 4), count, 4);
    if (count > CAUCUS_RELAYED_LIST_MAX) {
        memcpy(to, g->bits[chunk], (clients + 7) / 8);
        return to + (clients + 7) / 8;
    }
    for (uint32_t i = 0; i < clients; i++)
        if (g->bits[chunk][i / 8] >> i % 8 & 1)
            to = caucus_le_put(to, i, 2);
    return to;
}

void caucus_gather_write(const caucus_gather *g, uint8_t *ret) {
    const caucus_partial *p = g->partial;
    const uint32_t d = g->follower->plan->settings.experts;
    uint8_t *to = caucus_le_put(caucus_le_put(ret, g->follower->now.serial, 8), (uint64_t)p->q, 8);
    to = caucus_le_put(caucus_le_put(to, caucus_coordinator_first_in_step(g->follower), 8), values_of(g), 1);
    to = caucus_le_put(caucus_le_put(to, g->groups, 4), g->items, 4);
    for (uint32_t i = 0; i < g->chunks; i++)
        if (g->count[i] > 0)
            to = write_group(g, i, to);
    if (g->items > 0)
        memcpy(to, g->item, (size_t)g->items * CAUCUS_RELAYED_ITEM_BYTES);
    to += (size_t)g->items * CAUCUS_RELAYED_ITEM_BYTES;
    for (uint32_t y = 0; y < d && values_of(g) == CAUCUS_RELAYED_SUMS; y++)
        to = caucus_le_put(to, (uint64_t)p->sum[y], 8);
    for (uint32_t y = 0; y < d && values_of(g) == CAUCUS_RELAYED_VOTES; y++)
        to = caucus_le_put(to, p->votes[y], 4);
}

void caucus_gather_clear(caucus_gather *g) {
    for (uint32_t i = 0; i < g->chunks; i++)
        if (g->count[i] > 0) {
            sodium_memzero(g->bits[i], CAUCUS_CHUNK_CLIENTS / 8);
            g->count[i] = 0;
        }
    if (g->items > 0)
        sodium_memzero(g->item, (size_t)g->items * CAUCUS_RELAYED_ITEM_BYTES);
    g->items = g->groups = 0;
    g->votes = false;
    caucus_partial_clear(g->partial);
}
