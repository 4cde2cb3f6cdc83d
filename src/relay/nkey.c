/* SPDX-License-Identifier: Apache-2.0 */
/* nkey.c: see nkey.h. The form is described in certify_relays.c, which writes it. */
#include "relay/nkey.h"

#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "num/fail.h"
#include "store/atomic_file.h"

#define PUBLIC_BYTES (1u + 32u + 2u) /* prefix, key, CRC */
#define SEED_BYTES (2u + 32u + 2u)

/* Returns: whether the text up to the end of its line is that many bytes in base32, without padding. */
static bool decode(const char *text, size_t size, uint8_t *ret) {
    uint32_t held = 0;
    unsigned bits = 0;
    size_t done = 0;
    for (; *text != '\0' && *text != '\r' && *text != '\n'; text++) {
        const bool letter = *text >= 'A' && *text <= 'Z', digit = *text >= '2' && *text <= '7';
        if ((!letter && !digit) || done == size)
            return false;
        held = held << 5 | (uint32_t)(letter ? *text - 'A' : *text - '2' + 26);
        bits += 5;
        if (bits >= 8) {
            bits -= 8;
            ret[done++] = (uint8_t)(held >> bits);
        }
    }
    return done == size;
}

caucus_status caucus_nkey_read(const char *path, caucus_nkey *ret, caucus_error *ret_error) {
    FILE *file = fopen(path, "r");
    if (!file)
        return caucus_fail_path(ret_error, CAUCUS_E_PATH, "nats-key", path);
    char line[128];
    uint8_t named[PUBLIC_BYTES], seed[SEED_BYTES], public_key[32];
    bool has_name = false, has_seed = false;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == 'U' && decode(line, sizeof named, named)) {
            has_name = true;
            line[strcspn(line, "\r\n")] = '\0';
            (void)snprintf(ret->name, sizeof ret->name, "%.63s", line);
        } else if (line[0] == 'S' && line[1] == 'U') {
            has_seed = decode(line, sizeof seed, seed);
        }
    }
    fclose(file);
    caucus_status status = CAUCUS_OK;
    if (!has_name || !has_seed) {
        status = caucus_fail(ret_error, CAUCUS_E_FORMAT, "nats-key",
                             "%.100s: a line with the public key (U…) and one with the seed (SU…) are expected", path);
    } else {
        (void)crypto_sign_seed_keypair(public_key, ret->secret_key, seed + 2);
        if (memcmp(public_key, named + 1, sizeof public_key) != 0)
            status = caucus_fail(ret_error, CAUCUS_E_FORMAT, "nats-key",
                                 "%.100s: the public key (U…) is not that of the seed (SU…)", path);
    }
    sodium_memzero(line, sizeof line);
    sodium_memzero(seed, sizeof seed);
    if (status != CAUCUS_OK)
        sodium_memzero(ret, sizeof *ret);
    return status;
}

/* SHA-512 of the point, the public key and the message, as a scalar. */
static void challenge(const uint8_t point[32], const uint8_t public_key[32], const char *message, uint8_t ret[32]) {
    crypto_hash_sha512_state state;
    uint8_t hash[crypto_hash_sha512_BYTES];
    (void)crypto_hash_sha512_init(&state);
    (void)crypto_hash_sha512_update(&state, point, 32);
    (void)crypto_hash_sha512_update(&state, public_key, 32);
    (void)crypto_hash_sha512_update(&state, (const uint8_t *)message, strlen(message));
    (void)crypto_hash_sha512_final(&state, hash);
    crypto_core_ed25519_scalar_reduce(ret, hash);
}

/* Ed25519 derives the secret scalar r of a signature (rB, r + ka) from key and message; one that is drawn makes a
 * signature that is verified alike, and another point rB. */
static void sign_drawn(const caucus_nkey *key, const char *nonce, uint8_t ret[64]) {
    uint8_t r[32], k[32], a[64] = {0};
    (void)crypto_sign_ed25519_sk_to_curve25519(a, key->secret_key); /* the clamped half of the seed's hash: a */
    crypto_core_ed25519_scalar_reduce(a, a);
    do {
        crypto_core_ed25519_scalar_random(r);
        (void)crypto_scalarmult_ed25519_base_noclamp(ret, r);
    } while (ret[0] == 0);
    challenge(ret, key->secret_key + 32, nonce, k);
    crypto_core_ed25519_scalar_mul(k, k, a);
    crypto_core_ed25519_scalar_add(ret + 32, r, k);
    sodium_memzero(r, sizeof r);
    sodium_memzero(k, sizeof k);
    sodium_memzero(a, sizeof a);
}

void caucus_nkey_sign(const caucus_nkey *key, const char *nonce, uint8_t ret[64]) {
    (void)crypto_sign_detached(ret, NULL, (const uint8_t *)nonce, strlen(nonce), key->secret_key);
    if (ret[0] == 0)
        sign_drawn(key, nonce, ret);
}
