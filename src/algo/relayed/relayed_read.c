/* SPDX-License-Identifier: Apache-2.0 */
/* relayed_read.c: the bytes of a partial that somebody else has made, read where they lie. See relayed.h.
 *
 * Everything here is hostile until it was read: lengths before what they are lengths of, order, ranges, and nothing is
 * left over. What is read after that (relayed_take.c) relies on it. */
#include <string.h>

#include "algo/relayed/relayed_bytes.h"
#include "num/little_endian.h"
#include "plan/plan.h"

typedef struct reader {
    const uint8_t *at, *end;
} reader;

/* The next `bytes` of them; NULL: there are not so many. */
static const uint8_t *take(reader *r, uint64_t bytes) {
    if ((uint64_t)(r->end - r->at) < bytes)
        return NULL;
    const uint8_t *ret = r->at;
    r->at += bytes;
    return ret;
}

uint32_t caucus_relayed_chunk(const caucus_plan *plan, uint32_t chunk, uint32_t *ret_first) {
    const uint32_t m = plan->settings.clients;
    *ret_first = chunk * CAUCUS_CHUNK_CLIENTS;
    return m - *ret_first < CAUCUS_CHUNK_CLIENTS ? m - *ret_first : CAUCUS_CHUNK_CLIENTS;
}

static bool read_listed(const uint8_t *list, uint32_t count, uint32_t clients) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = (uint32_t)caucus_le_get(list + (size_t)2 * i, 2);
        if (at < next || at >= clients)
            return false;
        next = at + 1;
    }
    return true;
}

static bool read_bitmap(const uint8_t *bits, uint32_t count, uint32_t clients) {
    const uint32_t bytes = (clients + 7) / 8;
    uint32_t found = 0, i = 0;
    for (; bytes - i >= 8; i += 8)
        found += (uint32_t)__builtin_popcountll(caucus_le_get(bits + i, 8));
    for (; i < bytes; i++)
        found += (uint32_t)__builtin_popcount(bits[i]);
    return found == count && (clients % 8 == 0 || bits[clients / 8] >> clients % 8 == 0);
}

static bool read_group(const caucus_plan *plan, reader *r, uint32_t *next) {
    const uint8_t *head = take(r, CAUCUS_RELAYED_GROUP_BYTES);
    if (!head)
        return false;
    const uint32_t chunk = caucus_le_get32(head), count = caucus_le_get32(head + 4);
    if (chunk < *next || chunk >= caucus_coordinator_chunks(plan))
        return false;
    uint32_t first;
    const uint32_t clients = caucus_relayed_chunk(plan, chunk, &first);
    if (count == 0 || count > clients)
        return false;
    *next = chunk + 1;
    const bool listed = count <= CAUCUS_RELAYED_LIST_MAX;
    const uint8_t *of = take(r, listed ? (uint64_t)2 * count : (clients + 7) / 8);
    return of && (listed ? read_listed(of, count, clients) : read_bitmap(of, count, clients));
}

static bool read_items(const caucus_plan *plan, const caucus_relayed *p) {
    for (uint32_t i = 0; i < p->items; i++) {
        const caucus_report item = caucus_relayed_item(p, i);
        if (item.client == 0 || item.client > plan->settings.clients || item.kind == CAUCUS_ASK_NOTHING ||
            item.kind > CAUCUS_ASK_SHORTLIST)
            return false;
    }
    return true;
}

caucus_status caucus_relayed_read(const caucus_plan *plan, const uint8_t *bytes, size_t size, caucus_relayed *ret) {
    reader r = {.at = bytes, .end = bytes + size};
    const uint8_t *head = take(&r, CAUCUS_RELAYED_HEAD_BYTES);
    if (!head || head[24] > CAUCUS_RELAYED_VOTES)
        return CAUCUS_E_FORMAT;
    const uint64_t q = caucus_le_get(head + 8, 8);
    caucus_relayed p = {.serial = caucus_le_get(head, 8),
                        .first = caucus_le_get(head + 16, 8),
                        .values = head[24],
                        .groups = caucus_le_get32(head + 25),
                        .items = caucus_le_get32(head + 29),
                        .group = r.at};
    memcpy(&p.q, &q, sizeof p.q);
    uint32_t next = 0;
    for (uint32_t i = 0; i < p.groups; i++)
        if (!read_group(plan, &r, &next))
            return CAUCUS_E_FORMAT;
    p.item = take(&r, (uint64_t)p.items * CAUCUS_RELAYED_ITEM_BYTES);
    if (!p.item || !read_items(plan, &p))
        return CAUCUS_E_FORMAT;
    const uint64_t each = p.values == CAUCUS_RELAYED_SUMS ? 8 : p.values == CAUCUS_RELAYED_VOTES ? 4 : 0;
    p.value = take(&r, each * plan->settings.experts);
    if (!p.value || r.at != r.end)
        return CAUCUS_E_FORMAT;
    *ret = p;
    return CAUCUS_OK;
}

uint32_t caucus_relayed_count(const caucus_plan *plan, const caucus_relayed *p) {
    uint32_t items = p->items, first;
    const uint8_t *group = p->group;
    for (uint32_t i = 0; i < p->groups; i++) {
        const uint32_t clients = caucus_relayed_chunk(plan, caucus_le_get32(group), &first),
                       count = caucus_le_get32(group + 4);
        items += count;
        group += CAUCUS_RELAYED_GROUP_BYTES + (count <= CAUCUS_RELAYED_LIST_MAX ? 2 * count : (clients + 7) / 8);
    }
    return items;
}

static uint64_t scalars_of(const caucus_plan *plan, caucus_ask kind, const caucus_announcement *now) {
    return kind == CAUCUS_ASK_COST || kind == CAUCUS_ASK_VOTE ? 1
           : kind == CAUCUS_ASK_SHORTLIST                     ? now->listed
                                                              : plan->settings.experts;
}

uint64_t caucus_relayed_scalars(const caucus_plan *plan, const caucus_relayed *p, const caucus_announcement *now) {
    uint64_t scalars = (uint64_t)(caucus_relayed_count(plan, p) - p->items) * scalars_of(plan, now->ask, now);
    for (uint32_t i = 0; i < p->items; i++)
        scalars += scalars_of(plan, caucus_relayed_item(p, i).kind, now);
    return scalars;
}

const uint8_t *caucus_relayed_walk(const caucus_plan *plan, const uint8_t *group,
                                   bool (*each)(void *user, uint32_t client), void *user) {
    uint32_t first;
    const uint32_t clients = caucus_relayed_chunk(plan, caucus_le_get32(group), &first),
                   count = caucus_le_get32(group + 4);
    const uint8_t *of = group + CAUCUS_RELAYED_GROUP_BYTES;
    if (count <= CAUCUS_RELAYED_LIST_MAX) {
        for (uint32_t i = 0; i < count; i++)
            if (!each(user, first + (uint32_t)caucus_le_get(of + (size_t)2 * i, 2) + 1))
                return NULL;
        return of + (size_t)2 * count;
    }
    for (uint32_t i = 0; i < clients; i++)
        if ((of[i / 8] >> i % 8 & 1) && !each(user, first + i + 1))
            return NULL;
    return of + (clients + 7) / 8;
}

caucus_report caucus_relayed_item(const caucus_relayed *p, uint32_t i) {
    const uint8_t *at = p->item + (size_t)i * CAUCUS_RELAYED_ITEM_BYTES;
    return (caucus_report){.client = caucus_le_get32(at),
                           .kind = (caucus_ask)at[4],
                           .first = caucus_le_get(at + 5, 8),
                           .block = caucus_le_get(at + 13, 8),
                           .epoch_or_leaf = caucus_le_get(at + 21, 8)};
}

int64_t caucus_relayed_sum(const caucus_relayed *p, uint32_t y) {
    const uint64_t bits = caucus_le_get(p->value + (size_t)8 * y, 8);
    int64_t ret;
    memcpy(&ret, &bits, sizeof ret);
    return ret;
}

uint32_t caucus_relayed_votes(const caucus_relayed *p, uint32_t y) {
    return caucus_le_get32(p->value + (size_t)4 * y);
}
