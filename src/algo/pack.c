/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c: measuring, writing and reading integers. See pack.h. */
#include "algo/pack.h"

#include "algo/progress/progress.h"

#include "num/little_endian.h"

#include <sodium.h>
#include <string.h>

/* The next `bytes` bytes: NULL if there is nothing to read or write them to. */
static void word(caucus_pack *pack, uint64_t *value, size_t bytes) {
    if (pack->mode == CAUCUS_PACK_READ) {
        if (pack->failed || pack->size - pack->used < bytes) {
            pack->failed = true;
            *value = 0;
            return;
        }
        *value = caucus_le_get(pack->from + pack->used, bytes);
    } else if (pack->mode == CAUCUS_PACK_WRITE) {
        if (pack->failed || pack->size - pack->used < bytes) {
            pack->failed = true;
            return;
        }
        (void)caucus_le_put(pack->to + pack->used, *value, bytes);
    }
    pack->used += bytes;
}

void caucus_pack_u32(caucus_pack *pack, uint32_t *value) {
    uint64_t wide = *value;
    word(pack, &wide, 4);
    *value = (uint32_t)wide;
}

void caucus_pack_u64(caucus_pack *pack, uint64_t *value) {
    word(pack, value, 8);
}

void caucus_pack_i64(caucus_pack *pack, int64_t *value) {
    uint64_t bits = (uint64_t)*value;
    word(pack, &bits, 8);
    memcpy(value, &bits, sizeof bits);
}

void caucus_pack_bool(caucus_pack *pack, bool *value) {
    uint64_t wide = *value;
    word(pack, &wide, 1);
    caucus_pack_below(pack, wide, 2);
    *value = wide == 1;
}

void caucus_pack_bytes(caucus_pack *pack, uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t wide = bytes[i];
        word(pack, &wide, 1);
        bytes[i] = (uint8_t)wide;
    }
}

void caucus_pack_u32s(caucus_pack *pack, uint32_t *values, size_t count) {
    for (size_t i = 0; values && i < count; i++)
        caucus_pack_u32(pack, &values[i]);
}

void caucus_pack_u64s(caucus_pack *pack, uint64_t *values, size_t count) {
    for (size_t i = 0; values && i < count; i++)
        caucus_pack_u64(pack, &values[i]);
}

void caucus_pack_progress(caucus_pack *pack, caucus_progress *progress) {
    const bool read = pack->mode == CAUCUS_PACK_READ;
    if (pack->parts) {
        uint64_t common = progress->common;
        caucus_pack_u64(pack, &common);
        if (read)
            caucus_progress_restore(progress, common);
        return;
    }
    for (size_t i = 0; i < progress->clients; i++) {
        uint64_t value = read ? 0 : caucus_progress_get(progress, i);
        caucus_pack_u64(pack, &value);
        if (read)
            progress->value[i] = value;
    }
    if (read)
        caucus_progress_restore_all(progress, progress->value);
}

void caucus_pack_i64s(caucus_pack *pack, int64_t *values, size_t count) {
    for (size_t i = 0; values && i < count; i++)
        caucus_pack_i64(pack, &values[i]);
}

void caucus_pack_below(caucus_pack *pack, uint64_t value, uint64_t limit) {
    if (pack->mode == CAUCUS_PACK_READ && value >= limit)
        pack->failed = true;
}

void caucus_pack_head(caucus_pack *pack, uint32_t magic, uint32_t clients, uint32_t experts) {
    uint32_t m = magic, c = clients, d = experts;
    caucus_pack_u32(pack, &m);
    caucus_pack_u32(pack, &c);
    caucus_pack_u32(pack, &d);
    if (m != magic || c != clients || d != experts)
        pack->failed = true;
}

void caucus_pack_seal(caucus_pack *pack) {
    if (pack->mode == CAUCUS_PACK_WRITE && (pack->failed || pack->size - pack->used < CAUCUS_PACK_HASH_BYTES)) {
        sodium_memzero(pack->to, pack->size); /* half a state is of no use, and holds what a whole one holds */
        pack->failed = true;
        return;
    }
    if (pack->mode == CAUCUS_PACK_WRITE)
        crypto_hash_sha256(pack->to + pack->used, pack->to, pack->used);
    if (pack->mode == CAUCUS_PACK_READ && pack->used + CAUCUS_PACK_HASH_BYTES != pack->size)
        pack->failed = true; /* something is left over */
    pack->used += CAUCUS_PACK_HASH_BYTES;
}

bool caucus_pack_init_read(caucus_pack *ret, const uint8_t *bytes, size_t size) {
    uint8_t hash[CAUCUS_PACK_HASH_BYTES];
    *ret = (caucus_pack){.mode = CAUCUS_PACK_READ, .from = bytes, .size = size};
    if (size < CAUCUS_PACK_HASH_BYTES)
        return false;
    crypto_hash_sha256(hash, bytes, size - CAUCUS_PACK_HASH_BYTES);
    return sodium_memcmp(hash, bytes + size - CAUCUS_PACK_HASH_BYTES, sizeof hash) == 0;
}
