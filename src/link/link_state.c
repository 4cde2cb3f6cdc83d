/* SPDX-License-Identifier: Apache-2.0 */
/* link_state.c: what a client must never forget, as bytes and back.
 *
 *   "cLk2" | plan hash 32 | client | answered (64 bit) | over | machine bytes (64 bit) | items | machine's state |
 *   items x ( serial (64 bit) | bytes | frame ) | SHA-256 of all before it    (little-endian, 32 bit where not said)
 *
 * The machine alone knows the report that is due; reports before it that are not known to be counted are
 * only here. */
#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "algo/wipe.h"
#include "link/link_impl.h"

#include "num/fail.h"
#include "num/little_endian.h"

#define MAGIC 0x326b4c63u     /* "cLk2" */
#define MAGIC_OLD 0x316b4c63u /* "cLk1": 32-bit serials and blocks */
#define HEAD_BYTES (4 + CAUCUS_PLAN_HASH_BYTES + 4 + 8 + 4 + 8 + 4)
#define ITEM_HEAD_BYTES 12

static size_t state_bytes(const caucus_link *link) {
    size_t bytes = HEAD_BYTES + caucus_client_state_bytes(link->machine) + crypto_hash_sha256_BYTES;
    for (size_t i = 0; i < link->items; i++)
        bytes += ITEM_HEAD_BYTES + link->item[i].size;
    return bytes;
}

static void write_state(const caucus_link *link, uint8_t *ret, size_t bytes) {
    size_t machine = caucus_client_state_bytes(link->machine);
    uint8_t *to = caucus_le_put32(ret, MAGIC);
    memcpy(to, link->plan_hash, CAUCUS_PLAN_HASH_BYTES);
    to = caucus_le_put32(to + CAUCUS_PLAN_HASH_BYTES, link->index);
    to = caucus_le_put(to, link->answered, 8);
    to = caucus_le_put32(to, link->over);
    to = caucus_le_put(to, machine, 8);
    to = caucus_le_put32(to, (uint32_t)link->items);
    if (caucus_client_save(link->machine, to, machine) != CAUCUS_OK)
        abort(); /* it was measured above */
    to += machine;
    for (size_t i = 0; i < link->items; i++) {
        to = caucus_le_put(to, link->item[i].serial, 8);
        to = caucus_le_put32(to, (uint32_t)link->item[i].size);
        memcpy(to, link->item[i].bytes, link->item[i].size);
        to += link->item[i].size;
    }
    assert((size_t)(to - ret) + crypto_hash_sha256_BYTES == bytes);
    crypto_hash_sha256(to, ret, bytes - crypto_hash_sha256_BYTES);
}

caucus_status caucus_link_store(caucus_link *link, caucus_error *ret_error) {
    if (link->save) {
        size_t bytes = state_bytes(link);
        uint8_t *state = malloc(bytes);
        if (!state)
            return caucus_fail_memory(ret_error, "state");
        write_state(link, state, bytes);
        bool saved = link->save(link->user, state, bytes);
        sodium_memzero(state, bytes); /* it holds this client's sums */
        free(state);
        if (!saved)
            return caucus_fail(
                ret_error, CAUCUS_E_SAVE, "state",
                "could not be saved; reports wait until it can, since one that is sent must survive a restart");
    }
    for (size_t i = 0; i < link->items; i++)
        link->item[i].saved = true;
    link->over_saved = link->over;
    link->unkept = false;
    return CAUCUS_OK;
}

static caucus_status damaged(caucus_error *ret_error, const char *what) {
    return caucus_fail(ret_error, CAUCUS_E_FORMAT, "state", "%s", what);
}

/* One item; what it is about is read from its own frame. *ret_used: the bytes it took.
 * Returns: CAUCUS_OK, CAUCUS_E_FORMAT (no item of this client), CAUCUS_E_MEMORY. */
static caucus_status load_item(caucus_link *link, const uint8_t *from, size_t left, size_t *ret_used) {
    if (left < ITEM_HEAD_BYTES || caucus_le_get32(from + 8) > left - ITEM_HEAD_BYTES)
        return CAUCUS_E_FORMAT;
    size_t size = caucus_le_get32(from + 8), used = 0;
    caucus_frame *frame = malloc(sizeof *frame);
    uint8_t *bytes = malloc(size ? size : 1);
    caucus_status status = frame && bytes ? CAUCUS_OK : CAUCUS_E_MEMORY;
    if (status == CAUCUS_OK) {
        memcpy(bytes, from + ITEM_HEAD_BYTES, size);
        status = caucus_wire_take(bytes, size, link->plan->settings.experts, link->scratch, &used, frame, NULL);
    }
    if (status == CAUCUS_OK &&
        (used == 0 || used != size || frame->kind != CAUCUS_FRAME_REPORT || frame->report.client != link->index ||
         caucus_le_get(from, 8) >= caucus_client_heard(link->machine)))
        status = CAUCUS_E_FORMAT;
    caucus_link_item *item = status == CAUCUS_OK ? caucus_link_item_add(link) : NULL;
    if (item) {
        *item = (caucus_link_item){.bytes = bytes,
                                   .size = size,
                                   .serial = caucus_le_get(from, 8),
                                   .kind = frame->report.kind,
                                   .block = frame->report.block,
                                   .saved = true,
                                   .sent = true};
        *ret_used = ITEM_HEAD_BYTES + size;
    } else {
        caucus_wipe_free(bytes, size);
        status = status == CAUCUS_OK ? CAUCUS_E_MEMORY : status;
    }
    free(frame);
    return status;
}

caucus_status caucus_link_load(caucus_link *link, const caucus_key *key, const uint8_t *state, size_t bytes,
                               caucus_error *ret_error) {
    uint8_t hash[crypto_hash_sha256_BYTES];
    if (bytes >= 4 && caucus_le_get32(state) == MAGIC_OLD)
        return damaged(ret_error, "is of an older version of caucus: end that run with the version that began it");
    if (bytes < HEAD_BYTES + sizeof hash || caucus_le_get32(state) != MAGIC)
        return damaged(ret_error, "is not the state of a client");
    size_t end = bytes - sizeof hash;
    crypto_hash_sha256(hash, state, end);
    if (memcmp(hash, state + end, sizeof hash) != 0)
        return damaged(ret_error, "is damaged: its checksum is wrong");
    const uint8_t *from = state + 4;
    if (memcmp(from, link->plan_hash, CAUCUS_PLAN_HASH_BYTES) != 0)
        return caucus_fail(ret_error, CAUCUS_E_MISMATCH, "state",
                           "belongs to another plan: a run cannot change its plan; use a new state");
    from += CAUCUS_PLAN_HASH_BYTES;
    if (caucus_le_get32(from) != link->index)
        return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "state", "belongs to client %u, and this is client %u",
                           caucus_le_get32(from), link->index);
    link->answered = caucus_le_get(from + 4, 8);
    link->over = link->over_saved = caucus_le_get32(from + 12) != 0;
    uint64_t machine = caucus_le_get(from + 16, 8);
    uint32_t items = caucus_le_get32(from + 24);
    size_t at = HEAD_BYTES;
    if (machine > end - at || items > CAUCUS_LINK_ITEMS)
        return damaged(ret_error, "is damaged: its lengths are wrong");
    caucus_status status =
        caucus_client_restore(link->plan, link->index, key, state + at, (size_t)machine, &link->machine);
    if (status != CAUCUS_OK)
        return caucus_fail(ret_error, status, "state", "the machine's part: %s", caucus_status_text(status));
    const bool own = link->plan->settings.pace == CAUCUS_PACE_OWN;
    if (link->answered > (own ? caucus_client_item(link->machine) : caucus_client_heard(link->machine)))
        return damaged(ret_error, "is damaged: it has answered what it never heard");
    at += (size_t)machine;
    for (uint32_t i = 0; i < items; i++) {
        size_t used = 0;
        status = load_item(link, state + at, end - at, &used);
        if (status == CAUCUS_E_MEMORY)
            return caucus_fail(ret_error, status, "state", "%s", caucus_status_text(status));
        if (status != CAUCUS_OK)
            return damaged(ret_error, "is damaged: a report in it cannot be read");
        at += used;
    }
    return at == end ? CAUCUS_OK : damaged(ret_error, "is damaged: its lengths are wrong");
}
