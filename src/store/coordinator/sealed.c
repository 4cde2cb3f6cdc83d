/* SPDX-License-Identifier: Apache-2.0 */
/* sealed.c: see sealed.h. */
#include "store/coordinator/sealed.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "num/little_endian.h"

#define FORMAT 1
#define KEY_BYTES crypto_aead_xchacha20poly1305_ietf_KEYBYTES
#define NONCE_BYTES crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
#define TAG_BYTES crypto_aead_xchacha20poly1305_ietf_ABYTES
#define HEAD_BYTES 9 /* of a root: format and term */
#define LENGTH_BYTES 8
#define ROOT_AD_BYTES (32 + 8 + 8 + 8 + CAUCUS_CHAIN_BYTES + 32)

/* One key for each use. */
static void derive(const uint8_t key[32], const char *use, uint8_t ret[KEY_BYTES]) {
    (void)crypto_generichash(ret, KEY_BYTES, (const uint8_t *)use, strlen(use), key, 32);
}

static void root_key(const caucus_commit_mark *mark, uint64_t count, uint8_t ret[KEY_BYTES]) {
    uint8_t key[32];
    caucus_mark_state_key(mark, count, key);
    derive(key, "caucus: root of a state", ret);
    sodium_memzero(key, sizeof key);
}

static void root_associated(const caucus_commit_mark *mark, const caucus_store_row *row, uint64_t term,
                            const uint8_t chain[CAUCUS_CHAIN_BYTES], uint8_t ret[ROOT_AD_BYTES]) {
    memcpy(ret, mark->plan, 32);
    uint8_t *to = caucus_le_put(ret + 32, term, 8);
    to = caucus_le_put(to, row->announcements, 8);
    to = caucus_le_put(to, row->lines, 8);
    memcpy(to, chain, CAUCUS_CHAIN_BYTES);
    memcpy(to + CAUCUS_CHAIN_BYTES, row->last_line, 32);
}

bool caucus_seal_root(const caucus_commit_mark *mark, const caucus_store_row *row,
                      const uint8_t chain[CAUCUS_CHAIN_BYTES], const caucus_piece *root, caucus_piece *ret) {
    if (root->size == 0)
        return caucus_piece_resize(ret, 0);
    const size_t padded =
        (LENGTH_BYTES + root->size + CAUCUS_SEALED_STEP - 1) / CAUCUS_SEALED_STEP * CAUCUS_SEALED_STEP;
    if (!caucus_piece_resize(ret, HEAD_BYTES + NONCE_BYTES + padded + TAG_BYTES))
        return false;
    uint8_t *nonce = ret->bytes + HEAD_BYTES, *text = nonce + NONCE_BYTES, key[KEY_BYTES], associated[ROOT_AD_BYTES];
    ret->bytes[0] = FORMAT;
    (void)caucus_le_put(ret->bytes + 1, row->term, 8);
    randombytes_buf(nonce, NONCE_BYTES);
    (void)caucus_le_put(text, root->size, LENGTH_BYTES);
    memcpy(text + LENGTH_BYTES, root->bytes, root->size);
    memset(text + LENGTH_BYTES + root->size, 0, padded - LENGTH_BYTES - root->size);
    root_key(mark, row->announcements, key);
    root_associated(mark, row, row->term, chain, associated);
    (void)crypto_aead_xchacha20poly1305_ietf_encrypt(text, NULL, text, padded, associated, sizeof associated, NULL,
                                                     nonce, key);
    sodium_memzero(key, sizeof key);
    return true;
}

caucus_status caucus_unseal_root(const caucus_commit_mark *mark, const caucus_store_row *row,
                                 const uint8_t chain[CAUCUS_CHAIN_BYTES], caucus_piece *root) {
    if (root->size == 0)
        return CAUCUS_OK;
    if (root->size < HEAD_BYTES + NONCE_BYTES + LENGTH_BYTES + TAG_BYTES || root->bytes[0] != FORMAT ||
        row->announcements < mark->count)
        return CAUCUS_E_DAMAGED;
    uint8_t *nonce = root->bytes + HEAD_BYTES, *text = nonce + NONCE_BYTES, key[KEY_BYTES], associated[ROOT_AD_BYTES];
    const size_t sealed = root->size - HEAD_BYTES - NONCE_BYTES;
    root_key(mark, row->announcements, key);
    root_associated(mark, row, caucus_le_get(root->bytes + 1, 8), chain, associated);
    const bool good = crypto_aead_xchacha20poly1305_ietf_decrypt(text, NULL, NULL, text, sealed, associated,
                                                                 sizeof associated, nonce, key) == 0;
    sodium_memzero(key, sizeof key);
    const uint64_t size = good ? caucus_le_get(text, LENGTH_BYTES) : UINT64_MAX;
    if (size > sealed - TAG_BYTES - LENGTH_BYTES)
        return CAUCUS_E_DAMAGED;
    memmove(root->bytes, text + LENGTH_BYTES, (size_t)size);
    sodium_memzero(root->bytes + size, root->size - (size_t)size);
    root->size = (size_t)size;
    return CAUCUS_OK;
}

static void chunk_associated(const caucus_commit_mark *mark, uint32_t number, uint8_t ret[36]) {
    memcpy(ret, mark->plan, 32);
    (void)caucus_le_put32(ret + 32, number);
}

bool caucus_seal_chunk(const caucus_commit_mark *mark, uint32_t number, const caucus_piece *chunk, caucus_piece *ret) {
    if (chunk->size == 0)
        return caucus_piece_resize(ret, 0);
    if (!caucus_piece_resize(ret, NONCE_BYTES + chunk->size + TAG_BYTES))
        return false;
    uint8_t associated[36], key[KEY_BYTES], nonce_key[KEY_BYTES], *nonce = ret->bytes, *text = nonce + NONCE_BYTES;
    crypto_generichash_state hash;
    chunk_associated(mark, number, associated);
    derive(mark->fixed_key, "caucus: nonces of chunks", nonce_key);
    (void)crypto_generichash_init(&hash, nonce_key, sizeof nonce_key, NONCE_BYTES);
    (void)crypto_generichash_update(&hash, associated, sizeof associated);
    (void)crypto_generichash_update(&hash, chunk->bytes, chunk->size);
    (void)crypto_generichash_final(&hash, nonce, NONCE_BYTES);
    derive(mark->fixed_key, "caucus: chunks of a state", key);
    (void)crypto_aead_xchacha20poly1305_ietf_encrypt(text, NULL, chunk->bytes, chunk->size, associated,
                                                     sizeof associated, NULL, nonce, key);
    sodium_memzero(key, sizeof key);
    sodium_memzero(nonce_key, sizeof nonce_key);
    sodium_memzero(&hash, sizeof hash);
    return true;
}

caucus_status caucus_unseal_chunk(const caucus_commit_mark *mark, uint32_t number, caucus_piece *chunk) {
    if (chunk->size == 0)
        return CAUCUS_OK;
    if (chunk->size < NONCE_BYTES + TAG_BYTES)
        return CAUCUS_E_DAMAGED;
    uint8_t associated[36], key[KEY_BYTES], *text = chunk->bytes + NONCE_BYTES;
    const size_t sealed = chunk->size - NONCE_BYTES;
    chunk_associated(mark, number, associated);
    derive(mark->fixed_key, "caucus: chunks of a state", key);
    const bool good = crypto_aead_xchacha20poly1305_ietf_decrypt(text, NULL, NULL, text, sealed, associated,
                                                                 sizeof associated, chunk->bytes, key) == 0;
    sodium_memzero(key, sizeof key);
    if (!good)
        return CAUCUS_E_DAMAGED;
    memmove(chunk->bytes, text, sealed - TAG_BYTES);
    chunk->size = sealed - TAG_BYTES;
    return CAUCUS_OK;
}

void caucus_seal_row(const caucus_commit_mark *mark, const caucus_store_row *row, uint8_t seal[CAUCUS_CHAIN_BYTES]) {
    uint8_t key[KEY_BYTES], both[CAUCUS_CHAIN_BYTES + 32];
    derive(mark->fixed_key, "caucus: seals of a store", key);
    memcpy(both, seal, CAUCUS_CHAIN_BYTES);
    memcpy(both + CAUCUS_CHAIN_BYTES, row->last_line, 32);
    (void)crypto_generichash(seal, CAUCUS_CHAIN_BYTES, both, sizeof both, key, sizeof key);
    sodium_memzero(key, sizeof key);
}
