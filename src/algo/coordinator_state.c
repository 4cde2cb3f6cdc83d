/* SPDX-License-Identifier: Apache-2.0 */
/* coordinator_state.c: a coordinator's state as bytes, and back.
 *
 * Saved when a step has been decided: then nothing of the next step has been counted, and whatever arrives later and is
 * lost with the process is sent again by its client. The epoch's key is part of it, so that a verdict that was never
 * committed is computed again with the same noise; the run key is not: the epochs after this one are the new process's
 * (coordinator_epoch.c). When nothing more is asked, key, threshold and sums in it are zeros. */
#include "algo/coordinator_state.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>

#include "algo/announcement_pack.h"
#include "algo/machine.h"
#include "algo/pack.h"
#include "algo/wipe.h"
#include "num/little_endian.h"

/* A state and a root from before they said since when their expert is in force are read as well: since now, then. */
#define MAGIC 0x34436361u                                /* "acC4" */
#define MAGIC_BEFORE 0x33436361u                         /* "acC3" */
#define ROOT_MAGIC 0x32526361u                           /* "acR2": in parts */
#define ROOT_BEFORE 0x31526361u                          /* "acR1" */
#define END_MAGIC 0x31456361u                            /* "acE1": of a run that was ended for good */
#define ANNOUNCEMENT_BYTES (40u + 4u * CAUCUS_SHORTLIST) /* in a state: announcement_pack.c */
#define LIST_MAX 4095u                                   /* from here on a bitmap is shorter */

/* READ: is this what an earlier version wrote? */
static bool is_before(const caucus_pack *p) {
    return p->mode == CAUCUS_PACK_READ && p->size >= 4 &&
           caucus_le_get(p->from, 4) == (p->parts ? ROOT_BEFORE : MAGIC_BEFORE);
}

static void pack_fields(caucus_pack *p, caucus_coordinator *c) {
    const caucus_plan *plan = c->plan;
    const bool before = is_before(p);
    size_t m = plan->settings.clients, d = plan->settings.experts;
    caucus_pack_head(p, p->parts ? (before ? ROOT_BEFORE : ROOT_MAGIC) : (before ? MAGIC_BEFORE : MAGIC), (uint32_t)m,
                     (uint32_t)d);
    caucus_pack_announcement(p, plan, &c->now);
    caucus_pack_u32(p, &c->answered);
    caucus_pack_u64(p, &c->selections);
    caucus_pack_u64(p, &c->checks);
    if (before) {
        c->since_serial = c->now.serial;
        c->since_block = c->now.block;
    } else {
        caucus_pack_u64(p, &c->since_serial);
        caucus_pack_u64(p, &c->since_block);
    }
    if (plan->settings.renew != 0) {
        caucus_pack_u64(p, &c->renewals);
        caucus_pack_u64(p, &c->cycle_first);
    }
    caucus_pack_bytes(p, c->key.bytes, sizeof c->key.bytes);
    caucus_pack_bool(p, &c->key.seeded);
    if (c->ops->pack)
        c->ops->pack(p, c);
    caucus_pack_seal(p);
}

static void pack_tally(caucus_pack *p, caucus_coordinator_tally *tally, bool since) {
    caucus_pack_u64(p, &tally->selections);
    caucus_pack_u64(p, &tally->checks);
    if (!since)
        return;
    caucus_pack_u64(p, &tally->since_serial);
    caucus_pack_u64(p, &tally->since_block);
}

caucus_status caucus_coordinator_tally_save(const caucus_coordinator_tally *tally, caucus_piece *ret) {
    caucus_coordinator_tally copy = *tally;
    uint32_t magic = END_MAGIC;
    if (!caucus_piece_resize(ret, 4 + sizeof copy + CAUCUS_PACK_HASH_BYTES))
        return CAUCUS_E_MEMORY;
    caucus_pack p = {.mode = CAUCUS_PACK_WRITE, .to = ret->bytes, .size = ret->size};
    caucus_pack_u32(&p, &magic);
    pack_tally(&p, &copy, true);
    caucus_pack_seal(&p);
    assert(!p.failed && p.used == ret->size);
    return CAUCUS_OK;
}

caucus_status caucus_coordinator_tally_read(const caucus_piece *root, const caucus_announcement *last,
                                            caucus_coordinator_tally *ret) {
    caucus_coordinator_tally tally = {.since_serial = last->serial, .since_block = last->block};
    uint8_t skipped[8 + ANNOUNCEMENT_BYTES + 4]; /* sizes, announcement, answers */
    caucus_pack p;
    uint32_t magic = 0;
    if (root->size > 0) { /* an end that an earlier version has kept says nothing */
        if (!caucus_pack_init_read(&p, root->bytes, root->size))
            return CAUCUS_E_FORMAT;
        caucus_pack_u32(&p, &magic);
        if (magic == ROOT_MAGIC || magic == ROOT_BEFORE)
            caucus_pack_bytes(&p, skipped, sizeof skipped);
        else if (magic != END_MAGIC)
            return CAUCUS_E_FORMAT;
        pack_tally(&p, &tally, magic != ROOT_BEFORE);
        if (p.failed)
            return CAUCUS_E_FORMAT;
    }
    *ret = tally;
    return CAUCUS_OK;
}

size_t caucus_coordinator_state_bytes(const caucus_coordinator *c) {
    caucus_pack p = {.mode = CAUCUS_PACK_MEASURE};
    caucus_coordinator copy = *c; /* measuring reads the arrays and changes nothing */
    pack_fields(&p, &copy);
    sodium_memzero(&copy, sizeof copy);
    return p.used;
}

caucus_status caucus_coordinator_save(const caucus_coordinator *c, uint8_t *ret, size_t ret_bytes) {
    caucus_pack p = {.mode = CAUCUS_PACK_WRITE, .to = ret, .size = ret_bytes};
    caucus_coordinator copy = *c;
    pack_fields(&p, &copy);
    sodium_memzero(&copy, sizeof copy);
    return p.failed ? CAUCUS_E_RANGE : CAUCUS_OK;
}

/* What the fields must be to one another; the plan's part in it was checked as they were read. */
static bool is_sound(caucus_coordinator *c) {
    const caucus_plan *plan = c->plan;
    if (c->answered > plan->settings.clients || c->since_serial > c->now.serial || c->since_block > c->now.block ||
        c->cycle_first > c->selections || c->renewals > caucus_settings_cycles(&plan->settings) - 1)
        return false;
    /* There is a key as long as something can be drawn from it: zeros would be noise that everybody knows. */
    if ((sodium_is_zero(c->key.bytes, sizeof c->key.bytes) == 1) != (c->now.ask == CAUCUS_ASK_NOTHING))
        return false;
    return c->ops->sound(c);
}

size_t caucus_coordinator_arrays(const caucus_coordinator *c, caucus_progress *ret[CAUCUS_CLIENT_ARRAYS]) {
    caucus_progress *const all[CAUCUS_CLIENT_ARRAYS] = {c->cost_next, c->sums_next, c->step_done};
    size_t count = 0;
    for (size_t i = 0; i < CAUCUS_CLIENT_ARRAYS; i++)
        if (all[i])
            ret[count++] = all[i];
    return count;
}

bool caucus_piece_resize(caucus_piece *piece, size_t size) {
    if (size > piece->room || !piece->bytes) {
        uint8_t *grown = malloc(size > 0 ? size : 1);
        if (!grown)
            return false;
        caucus_wipe_free(piece->bytes, piece->room);
        *piece = (caucus_piece){.bytes = grown, .room = size};
    }
    sodium_memzero(piece->bytes, piece->room);
    piece->size = size;
    piece->stamp = 0;
    return true;
}

void caucus_piece_free(caucus_piece *piece) {
    caucus_wipe_free(piece->bytes, piece->room);
    *piece = (caucus_piece){0};
}

void caucus_piece_stamp(caucus_piece *piece) {
    static _Atomic uint64_t stamps; /* of all pieces of this process */
    piece->stamp = atomic_fetch_add_explicit(&stamps, 1, memory_order_relaxed) + 1;
}

uint32_t caucus_coordinator_chunks(const caucus_plan *plan) {
    return (plan->settings.clients - 1) / CAUCUS_CHUNK_CLIENTS + 1;
}

/* Is client i anywhere but in step? */
static bool differs(const caucus_progress *of, size_t i) {
    return (of->form[i] & CAUCUS_PROGRESS_KIND) != CAUCUS_PROGRESS_IN && caucus_progress_get(of, i) != of->common;
}

static size_t different(const caucus_progress *of, size_t first, size_t count) {
    size_t found = 0;
    for (size_t i = first; i < first + count; i++)
        found += differs(of, i);
    return found;
}

static size_t array_bytes(size_t clients, size_t differ) {
    if (differ == 0)
        return 1;
    return 1 + (differ <= LIST_MAX ? 4 + 10 * differ : (clients + 7) / 8 + 8 * differ);
}

static uint8_t *write_array(uint8_t *to, const caucus_progress *of, size_t first, size_t clients, size_t differ) {
    const bool list = differ <= LIST_MAX;
    *to++ = differ == 0 ? 0 : list ? 1 : 2;
    if (differ == 0)
        return to;
    uint8_t *bits = to;
    if (list)
        to = caucus_le_put(to, differ, 4);
    else
        to += (clients + 7) / 8; /* zeros: the piece is new */
    for (size_t i = 0; i < clients; i++) {
        if (!differs(of, first + i))
            continue;
        if (list)
            to = caucus_le_put(to, i, 2);
        else
            bits[i / 8] |= (uint8_t)(1u << i % 8);
        to = caucus_le_put(to, caucus_progress_get(of, first + i), 8);
    }
    return to;
}

static bool save_chunk(const caucus_coordinator *c, uint32_t number, caucus_piece *ret) {
    caucus_progress *array[CAUCUS_CLIENT_ARRAYS];
    uint32_t first;
    size_t differ[CAUCUS_CLIENT_ARRAYS], bytes = 0;
    const size_t arrays = caucus_coordinator_arrays(c, array),
                 clients = caucus_chunk_clients(c->plan->settings.clients, number, &first);
    bool changed = ret->stamp == 0; /* it is empty, or was not written here */
    for (size_t i = 0; i < arrays; i++)
        changed = changed || atomic_load_explicit(&array[i]->changed[number], memory_order_relaxed) != 0;
    if (!changed)
        return true;
    for (size_t i = 0; i < arrays; i++) {
        differ[i] = different(array[i], first, clients);
        bytes += array_bytes(clients, differ[i]);
    }
    if (!caucus_piece_resize(ret, bytes))
        return false;
    uint8_t *to = ret->bytes;
    for (size_t i = 0; i < arrays; i++) {
        to = write_array(to, array[i], first, clients, differ[i]);
        atomic_store_explicit(&array[i]->changed[number], 0, memory_order_relaxed);
    }
    assert(to == ret->bytes + bytes);
    caucus_piece_stamp(ret);
    return true;
}

caucus_status caucus_coordinator_save_parts(const caucus_coordinator *c, caucus_piece *root, caucus_piece *chunk) {
    caucus_coordinator copy = *c;
    caucus_pack p = {.mode = CAUCUS_PACK_MEASURE, .parts = true};
    pack_fields(&p, &copy);
    caucus_status status = caucus_piece_resize(root, p.used) ? CAUCUS_OK : CAUCUS_E_MEMORY;
    if (status == CAUCUS_OK) {
        p = (caucus_pack){.mode = CAUCUS_PACK_WRITE, .to = root->bytes, .size = root->size, .parts = true};
        pack_fields(&p, &copy);
        assert(!p.failed);
    }
    sodium_memzero(&copy, sizeof copy);
    const uint32_t chunks = caucus_coordinator_chunks(c->plan);
    for (uint32_t i = 0; status == CAUCUS_OK && i < chunks; i++)
        status = save_chunk(c, i, &chunk[i]) ? CAUCUS_OK : CAUCUS_E_MEMORY;
    return status;
}

/* The clients of a chunk whose numbers are read. */
typedef struct readers {
    caucus_progress *of;
    size_t first, clients;
} readers;

/* The next entry of a list: which client, its value; it must come after `from`. */
static bool take_listed(const uint8_t *entry, size_t from, const readers *r) {
    const size_t at = (size_t)caucus_le_get(entry, 2);
    const uint64_t got = caucus_le_get(entry + 2, 8);
    if (at < from || at >= r->clients || got == r->of->common)
        return false;
    caucus_progress_restore_one(r->of, r->first + at, got);
    return true;
}

static bool read_list(const uint8_t **from, const uint8_t *end, const readers *r) {
    if (end - *from < 4)
        return false;
    const size_t count = (size_t)caucus_le_get(*from, 4);
    *from += 4;
    if (count == 0 || count > LIST_MAX || (size_t)(end - *from) / 10 < count)
        return false;
    for (size_t i = 0, next = 0; i < count; i++, *from += 10) {
        if (!take_listed(*from, next, r))
            return false;
        next = (size_t)caucus_le_get(*from, 2) + 1;
    }
    return true;
}

static bool read_bitmap(const uint8_t **from, const uint8_t *end, const readers *r) {
    const size_t bytes = (r->clients + 7) / 8;
    const uint8_t *bits = *from;
    size_t count = 0;
    if ((size_t)(end - *from) < bytes)
        return false;
    *from += bytes;
    for (size_t i = 0; i < 8 * bytes; i++) {
        if (!(bits[i / 8] >> i % 8 & 1))
            continue;
        if (i >= r->clients || end - *from < 8)
            return false;
        const uint64_t got = caucus_le_get(*from, 8);
        if (got == r->of->common)
            return false;
        caucus_progress_restore_one(r->of, r->first + i, got);
        *from += 8;
        count++;
    }
    return count > LIST_MAX;
}

static bool read_chunk(caucus_coordinator *c, uint32_t number, const caucus_piece *chunk) {
    caucus_progress *array[CAUCUS_CLIENT_ARRAYS];
    uint32_t first;
    const size_t arrays = caucus_coordinator_arrays(c, array),
                 clients = caucus_chunk_clients(c->plan->settings.clients, number, &first);
    const uint8_t *from = chunk->bytes, *end = from + chunk->size;
    for (size_t i = 0; i < arrays; i++) {
        const int form = from < end ? *from++ : -1;
        const readers r = {.of = array[i], .first = first, .clients = clients};
        if (!(form == 0 || (form == 1 && read_list(&from, end, &r)) || (form == 2 && read_bitmap(&from, end, &r))))
            return false;
    }
    return from == end;
}

/* What a machine was restored to: sound, and of the kind that the key is. Frees it otherwise. */
static caucus_status finish_restore(caucus_coordinator *c, bool good, const caucus_key *key, caucus_coordinator **ret) {
    caucus_status status = CAUCUS_OK;
    if (!good || !is_sound(c))
        status = CAUCUS_E_FORMAT;
    else if (c->key.seeded != key->seeded)
        status =
            CAUCUS_E_CONFLICT; /* a private run must not go on with a seed, nor a seeded one as if it were private */
    if (status == CAUCUS_OK)
        caucus_coordinator_aim(c);
    return caucus_coordinator_hand_over(c, status, ret);
}

caucus_status caucus_coordinator_restore(const caucus_plan *plan, const caucus_key *key, const uint8_t *state,
                                         size_t bytes, caucus_coordinator **ret) {
    caucus_pack p;
    if (!caucus_pack_init_read(&p, state, bytes))
        return CAUCUS_E_FORMAT;
    caucus_coordinator *c = NULL;
    caucus_status status = caucus_coordinator_new(plan, key, &c);
    if (status != CAUCUS_OK)
        return status;
    pack_fields(&p, c);
    return finish_restore(c, !p.failed, key, ret);
}

caucus_status caucus_coordinator_restore_parts(const caucus_plan *plan, const caucus_key *key, const caucus_piece *root,
                                               const caucus_piece *chunk, uint32_t chunks, caucus_coordinator **ret) {
    caucus_pack p;
    if (chunks != caucus_coordinator_chunks(plan) || !caucus_pack_init_read(&p, root->bytes, root->size))
        return CAUCUS_E_FORMAT;
    caucus_coordinator *c = NULL;
    caucus_status status = caucus_coordinator_new(plan, key, &c);
    if (status != CAUCUS_OK)
        return status;
    p.parts = true;
    pack_fields(&p, c);
    bool good = !p.failed;
    for (uint32_t i = 0; good && i < chunks; i++)
        good = read_chunk(c, i, &chunk[i]);
    return finish_restore(c, good, key, ret);
}

bool caucus_coordinator_has_answered(const caucus_coordinator *c, uint32_t client, const caucus_announcement *asked) {
    if (c->step_done)
        return caucus_progress_get(c->step_done, client - 1) == asked->serial + 1;
    const caucus_progress *of = asked->ask == CAUCUS_ASK_COST ? c->cost_next : c->sums_next;
    return of && caucus_progress_get(of, client - 1) > asked->block;
}

void caucus_coordinator_counted(const caucus_coordinator *c, uint32_t client, uint64_t *ret_cost_next,
                                uint64_t *ret_sums_next, bool *ret_answered) {
    *ret_cost_next = c->cost_next ? caucus_progress_get(c->cost_next, client - 1) : 0;
    *ret_sums_next = c->sums_next ? caucus_progress_get(c->sums_next, client - 1) : 0;
    *ret_answered = caucus_coordinator_has_answered(c, client, &c->now);
    if (c->step_done && c->sums_next && *ret_answered) /* own pace: an item is acknowledged with its decision */
        --*ret_sums_next;
}

void caucus_coordinator_shown(const caucus_coordinator *c, uint32_t client, uint64_t *ret_cost_next,
                              uint64_t *ret_sums_next) {
    *ret_cost_next = c->cost_next ? caucus_progress_shown(c->cost_next, client - 1) : 0;
    *ret_sums_next = c->sums_next ? caucus_progress_shown(c->sums_next, client - 1) : 0;
}

uint32_t caucus_coordinator_silent(const caucus_coordinator *c, uint32_t client) {
    return c->now.ask == CAUCUS_ASK_NOTHING ? c->plan->settings.clients + 1
                                            : caucus_progress_silent(caucus_coordinator_asked(c), client - 1) + 1;
}

uint64_t caucus_coordinator_answered(const caucus_coordinator *c, uint32_t client) {
    if (c->step_done)
        return caucus_progress_get(c->step_done, client - 1);
    const bool cost = c->cost_next && caucus_progress_get(c->cost_next, client - 1) > 1,
               sums = c->sums_next && caucus_progress_get(c->sums_next, client - 1) > 1;
    return cost || sums;
}
