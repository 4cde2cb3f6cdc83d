/* SPDX-License-Identifier: Apache-2.0 */
/* key.c: where the bits begin.
 *
 * A live entity takes 32 bytes from the operating system and gives them to nobody. A simulation hashes
 * its seed (BLAKE2b of a fixed label and the seed, little-endian) and derives one subkey per entity
 * (libsodium's kdf, context "caucus__"), so a run repeats on every machine and is marked NOT PRIVATE.
 * A coordinator draws from the subkeys of its own key, one per epoch (context "epoch___"). What a nonce has no room for
 * is in a subkey too (contexts "phase___", "index___": stream.c). The kdf is keyed BLAKE2b, a pseudorandom function of
 * its context and number: whoever finds one subkey knows no other. */
#include "rng/words.h"

#include "num/little_endian.h"

#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SEED_LABEL "caucus: run key from a seed, v1" /* frozen: changing it changes every seeded run */
#define KDF_CONTEXT "caucus__"
#define EPOCH_CONTEXT "epoch___"
#define PHASE_CONTEXT "phase___"
#define INDEX_CONTEXT "index___"

_Static_assert(crypto_kdf_KEYBYTES == CAUCUS_KEY_BYTES, "kdf key size");
_Static_assert(sizeof KDF_CONTEXT - 1 == crypto_kdf_CONTEXTBYTES, "kdf context size");
_Static_assert(sizeof EPOCH_CONTEXT - 1 == crypto_kdf_CONTEXTBYTES, "kdf context size");
_Static_assert(sizeof PHASE_CONTEXT - 1 == crypto_kdf_CONTEXTBYTES, "kdf context size");
_Static_assert(sizeof INDEX_CONTEXT - 1 == crypto_kdf_CONTEXTBYTES, "kdf context size");

bool caucus_rng_ready(void) {
    static atomic_bool ready;
    if (atomic_load_explicit(&ready, memory_order_acquire)) {
        return true;
    }
    if (sodium_init() < 0) { /* takes a lock of its own; 1 if somebody else was first */
        return false;
    }
    atomic_store_explicit(&ready, true, memory_order_release);
    return true;
}

caucus_status caucus_key_generate(caucus_key *ret_key) {
    if (!caucus_rng_ready()) {
        return CAUCUS_E_RANDOM;
    }
    randombytes_buf(ret_key->bytes, sizeof ret_key->bytes);
    ret_key->seeded = false;
    return CAUCUS_OK;
}

void caucus_key_from_seed(uint64_t seed, caucus_key *ret_key) {
    uint8_t message[sizeof SEED_LABEL - 1 + 8];
    memcpy(message, SEED_LABEL, sizeof SEED_LABEL - 1);
    (void)caucus_le_put(message + sizeof SEED_LABEL - 1, seed, 8);
    if (!caucus_rng_ready() ||
        crypto_generichash(ret_key->bytes, sizeof ret_key->bytes, message, sizeof message, NULL, 0) != 0) {
        abort();
    }
    ret_key->seeded = true;
}

static void derive(const caucus_key *run, const char *context, uint64_t number, caucus_key *ret_key) {
    caucus_key derived = {.seeded = run->seeded};
    if (!caucus_rng_ready() ||
        crypto_kdf_derive_from_key(derived.bytes, sizeof derived.bytes, number, context, run->bytes) != 0) {
        abort();
    }
    *ret_key = derived; /* through a copy: run and ret_key may be the same */
    caucus_key_wipe(&derived);
}

void caucus_key_derive(const caucus_key *run, uint64_t entity, caucus_key *ret_key) {
    derive(run, KDF_CONTEXT, entity, ret_key);
}

void caucus_key_epoch(const caucus_key *run, uint64_t epoch, caucus_key *ret_key) {
    derive(run, EPOCH_CONTEXT, epoch, ret_key);
}

void caucus_key_high_phase(const caucus_key *key, uint64_t high, caucus_key *ret_key) {
    derive(key, PHASE_CONTEXT, high, ret_key);
}

void caucus_key_high_index(const caucus_key *key, uint64_t high, caucus_key *ret_key) {
    derive(key, INDEX_CONTEXT, high, ret_key);
}

void caucus_key_wipe(caucus_key *key) {
    sodium_memzero(key, sizeof *key);
}
