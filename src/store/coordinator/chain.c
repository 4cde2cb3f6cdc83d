/* SPDX-License-Identifier: Apache-2.0 */
/* chain.c: see chain.h. */
#include "store/coordinator/chain.h"

#include <sodium.h>

#include "num/little_endian.h"

#define FIXED_BYTES 48

void caucus_chain_begin(const uint8_t plan_hash[32], uint8_t ret[CAUCUS_CHAIN_BYTES]) {
    static const uint8_t what[] = "caucus announcements 1";
    crypto_hash_sha256_state hash;
    (void)crypto_hash_sha256_init(&hash);
    (void)crypto_hash_sha256_update(&hash, what, sizeof what - 1);
    (void)crypto_hash_sha256_update(&hash, plan_hash, 32);
    (void)crypto_hash_sha256_final(&hash, ret);
}

void caucus_chain_add(uint8_t chain[CAUCUS_CHAIN_BYTES], const caucus_announcement *a) {
    uint8_t bytes[FIXED_BYTES + 4 * CAUCUS_SHORTLIST], *to = bytes;
    to = caucus_le_put(to, a->serial, 8);
    to = caucus_le_put(to, a->expert, 4);
    to = caucus_le_put(to, a->epoch, 8);
    to = caucus_le_put(to, (uint32_t)a->ask, 4);
    to = caucus_le_put(to, a->block, 8);
    to = caucus_le_put(to, a->leaf, 8);
    to = caucus_le_put(to, a->listed, 4);
    for (uint32_t i = 0; i < a->listed; i++)
        to = caucus_le_put(to, a->list[i], 4);
    crypto_hash_sha256_state hash;
    (void)crypto_hash_sha256_init(&hash);
    (void)crypto_hash_sha256_update(&hash, chain, CAUCUS_CHAIN_BYTES);
    (void)crypto_hash_sha256_update(&hash, bytes, (unsigned long long)(to - bytes));
    (void)crypto_hash_sha256_final(&hash, chain);
}

void caucus_chain_seal(const uint8_t chain[CAUCUS_CHAIN_BYTES], const caucus_store_row *row,
                       const uint8_t root_hash[CAUCUS_CHAIN_BYTES], const uint8_t (*chunk_hash)[CAUCUS_CHAIN_BYTES],
                       uint8_t ret[CAUCUS_CHAIN_BYTES]) {
    static const uint8_t what[] = "caucus store 1";
    uint8_t fields[30], *to = fields;
    to = caucus_le_put(to, row->seeded, 1);
    to = caucus_le_put(to, row->begun, 1);
    to = caucus_le_put(to, row->term, 8);
    to = caucus_le_put(to, row->announcements, 8);
    to = caucus_le_put(to, row->lines, 8);
    to = caucus_le_put(to, row->chunks, 4);
    crypto_hash_sha256_state hash;
    (void)crypto_hash_sha256_init(&hash);
    (void)crypto_hash_sha256_update(&hash, what, sizeof what - 1);
    (void)crypto_hash_sha256_update(&hash, chain, CAUCUS_CHAIN_BYTES);
    (void)crypto_hash_sha256_update(&hash, fields, (unsigned long long)(to - fields));
    (void)crypto_hash_sha256_update(&hash, root_hash, CAUCUS_CHAIN_BYTES);
    for (uint32_t i = 0; i < row->chunks; i++)
        (void)crypto_hash_sha256_update(&hash, chunk_hash[i], CAUCUS_CHAIN_BYTES);
    (void)crypto_hash_sha256_final(&hash, ret);
}
