/* SPDX-License-Identifier: Apache-2.0 */
/* seal.c: two signed messages, then sealed ones. See seal.h. */
#include "relay/seal.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "num/little_endian.h"

#define LABEL_BYTES 8u
#define SIGNATURE_BYTES 64u
#define KEY_BYTES 32u
#define COUNTER_BYTES 8u

static const uint8_t greeting_label[LABEL_BYTES] = "CAUCrel1", answer_label[LABEL_BYTES] = "CAUCrel2";
static const char keys_label[] = "caucus relay keys 1", message_label[] = "caucus relay 1";

_Static_assert(CAUCUS_SEAL_GREETING_BYTES == LABEL_BYTES + 2 + 2 + 4 + 32 + 32 + 2 + KEY_BYTES + SIGNATURE_BYTES,
               "as seal.h says");
_Static_assert(CAUCUS_SEAL_ANSWER_BYTES == LABEL_BYTES + 2 + 8 + 8 + KEY_BYTES + 32 + SIGNATURE_BYTES,
               "as seal.h says");
_Static_assert(CAUCUS_SEAL_MORE_BYTES == COUNTER_BYTES + crypto_aead_xchacha20poly1305_ietf_ABYTES, "as seal.h says");

/* Where fields of the two messages are. */
enum { OLDEST = 8, NEWEST = 10, RULES = 12, PLAN = 16, RUN = 48, RELAY = 80, RELAY_FRESH = 82 };
enum { VERSION = 8, TERM = 10, SESSION = 18, FRESH = 26, GREETED = 58 };

caucus_status caucus_seal_owner_new(caucus_seal_owner *ret) {
    if (sodium_init() < 0)
        return CAUCUS_E_RANDOM;
    (void)crypto_sign_keypair(ret->public_key, ret->secret_key);
    return CAUCUS_OK;
}

static uint8_t *put_bytes(uint8_t *to, const uint8_t *from, size_t size) {
    memcpy(to, from, size);
    return to + size;
}

static void sign(uint8_t *message, size_t size, const caucus_seal_owner *by) {
    (void)crypto_sign_detached(message + size - SIGNATURE_BYTES, NULL, message, size - SIGNATURE_BYTES, by->secret_key);
}

static bool is_signed(const uint8_t *message, size_t size, const uint8_t key[KEY_BYTES]) {
    return crypto_sign_verify_detached(message + size - SIGNATURE_BYTES, message, size - SIGNATURE_BYTES, key) == 0;
}

static bool is_message(const uint8_t *message, size_t size, size_t expected, const uint8_t *label) {
    return size == expected && memcmp(message, label, LABEL_BYTES) == 0;
}

caucus_status caucus_seal_greet(const caucus_seal_owner *relay, const caucus_seal_about *about,
                                caucus_seal_greeted *ret) {
    uint8_t fresh[KEY_BYTES];
    if (sodium_init() < 0)
        return CAUCUS_E_RANDOM;
    ret->about = *about;
    randombytes_buf(ret->secret, sizeof ret->secret);
    (void)crypto_scalarmult_base(fresh, ret->secret);
    uint8_t *to = put_bytes(ret->greeting, greeting_label, LABEL_BYTES);
    to = caucus_le_put(caucus_le_put(to, CAUCUS_SEAL_VERSION, 2), CAUCUS_SEAL_VERSION, 2);
    to = put_bytes(caucus_le_put(to, CAUCUS_SEAL_RULES, 4), about->plan, sizeof about->plan);
    to = caucus_le_put(put_bytes(to, about->run, sizeof about->run), about->relay, 2);
    (void)put_bytes(to, fresh, sizeof fresh);
    sign(ret->greeting, sizeof ret->greeting, relay);
    return CAUCUS_OK;
}

void caucus_seal_forget(caucus_seal_greeted *greeted) {
    sodium_memzero(greeted, sizeof *greeted);
}

uint16_t caucus_seal_greets(const uint8_t *greeting, size_t size) {
    return is_message(greeting, size, CAUCUS_SEAL_GREETING_BYTES, greeting_label)
               ? (uint16_t)caucus_le_get(greeting + RELAY, 2)
               : 0;
}

/* The session's keys, of the secret of one side and the fresh key of the other. False: that is no key. */
static bool make_keys(caucus_seal *seal, const uint8_t secret[KEY_BYTES], const uint8_t fresh[KEY_BYTES],
                      const uint8_t *greeting, const uint8_t *answer) {
    uint8_t common[KEY_BYTES], keys[2 * KEY_BYTES];
    crypto_generichash_state hash;
    if (crypto_scalarmult(common, secret, fresh) != 0) /* a point of small order */
        return false;
    (void)crypto_generichash_init(&hash, NULL, 0, sizeof keys);
    (void)crypto_generichash_update(&hash, (const uint8_t *)keys_label, sizeof keys_label - 1);
    (void)crypto_generichash_update(&hash, common, sizeof common);
    (void)crypto_generichash_update(&hash, greeting, CAUCUS_SEAL_GREETING_BYTES);
    (void)crypto_generichash_update(&hash, answer, CAUCUS_SEAL_ANSWER_BYTES);
    (void)crypto_generichash_final(&hash, keys, sizeof keys);
    memcpy(seal->relay ? seal->send_key : seal->take_key, keys, KEY_BYTES);
    memcpy(seal->relay ? seal->take_key : seal->send_key, keys + KEY_BYTES, KEY_BYTES);
    sodium_memzero(common, sizeof common);
    sodium_memzero(keys, sizeof keys);
    sodium_memzero(&hash, sizeof hash);
    return true;
}

static caucus_status check_greeting(const uint8_t relay_key[KEY_BYTES], const caucus_seal_about *about,
                                    const uint8_t *greeting, size_t size) {
    if (!is_message(greeting, size, CAUCUS_SEAL_GREETING_BYTES, greeting_label))
        return CAUCUS_E_FORMAT;
    if (caucus_le_get(greeting + RELAY, 2) != about->relay || !is_signed(greeting, size, relay_key))
        return CAUCUS_E_REFUSED;
    if (memcmp(greeting + PLAN, about->plan, sizeof about->plan) != 0)
        return CAUCUS_E_MISMATCH;
    if (memcmp(greeting + RUN, about->run, sizeof about->run) != 0 ||
        caucus_le_get(greeting + OLDEST, 2) > CAUCUS_SEAL_VERSION ||
        caucus_le_get(greeting + NEWEST, 2) < CAUCUS_SEAL_VERSION ||
        caucus_le_get32(greeting + RULES) != CAUCUS_SEAL_RULES)
        return CAUCUS_E_CONFLICT;
    return CAUCUS_OK;
}

caucus_status caucus_seal_answer(const caucus_seal_owner *coordinator, const uint8_t relay_key[KEY_BYTES],
                                 const caucus_seal_about *about, uint64_t term, uint64_t session,
                                 const uint8_t *greeting, size_t size, uint8_t *ret_answer, caucus_seal *ret) {
    uint8_t secret[KEY_BYTES], fresh[KEY_BYTES], answer[CAUCUS_SEAL_ANSWER_BYTES], hash[32];
    if (sodium_init() < 0)
        return CAUCUS_E_RANDOM;
    const caucus_status status = check_greeting(relay_key, about, greeting, size);
    if (status != CAUCUS_OK)
        return status;
    randombytes_buf(secret, sizeof secret);
    (void)crypto_scalarmult_base(fresh, secret);
    (void)crypto_generichash(hash, sizeof hash, greeting, size, NULL, 0);
    uint8_t *to = caucus_le_put(put_bytes(answer, answer_label, LABEL_BYTES), CAUCUS_SEAL_VERSION, 2);
    to = put_bytes(caucus_le_put(caucus_le_put(to, term, 8), session, 8), fresh, sizeof fresh);
    (void)put_bytes(to, hash, sizeof hash);
    sign(answer, sizeof answer, coordinator);
    caucus_seal made = {.term = term, .session = session, .about = *about};
    const bool good = make_keys(&made, secret, greeting + RELAY_FRESH, greeting, answer);
    sodium_memzero(secret, sizeof secret);
    if (good) {
        memcpy(ret_answer, answer, sizeof answer);
        *ret = made;
    }
    caucus_seal_end(&made);
    return good ? CAUCUS_OK : CAUCUS_E_FORMAT;
}

caucus_status caucus_seal_hear(const caucus_seal_greeted *greeted, const uint8_t coordinator_key[KEY_BYTES],
                               const uint8_t *answer, size_t size, caucus_seal *ret) {
    uint8_t hash[32];
    if (!is_message(answer, size, CAUCUS_SEAL_ANSWER_BYTES, answer_label))
        return CAUCUS_E_FORMAT;
    if (!is_signed(answer, size, coordinator_key))
        return CAUCUS_E_REFUSED;
    (void)crypto_generichash(hash, sizeof hash, greeted->greeting, sizeof greeted->greeting, NULL, 0);
    if (memcmp(answer + GREETED, hash, sizeof hash) != 0)
        return CAUCUS_E_ORDER;
    if (caucus_le_get(answer + VERSION, 2) != CAUCUS_SEAL_VERSION)
        return CAUCUS_E_CONFLICT;
    caucus_seal made = {.term = caucus_le_get(answer + TERM, 8),
                        .session = caucus_le_get(answer + SESSION, 8),
                        .about = greeted->about,
                        .relay = true};
    const bool good = make_keys(&made, greeted->secret, answer + FRESH, greeted->greeting, answer);
    if (good)
        *ret = made;
    caucus_seal_end(&made);
    return good ? CAUCUS_OK : CAUCUS_E_FORMAT;
}

void caucus_seal_end(caucus_seal *seal) {
    sodium_memzero(seal, sizeof *seal);
}

#define AROUND_BYTES (sizeof message_label - 1 + 32 + 32 + 8 + 1 + CAUCUS_SEAL_SUBJECT_BYTES)

/* What is authenticated beside the message. Returns its size. */
static size_t around(const caucus_seal *seal, const char *subject, bool from_relay, uint8_t ret[AROUND_BYTES]) {
    const size_t length = strnlen(subject, CAUCUS_SEAL_SUBJECT_BYTES + 1);
    assert(length <= CAUCUS_SEAL_SUBJECT_BYTES);
    uint8_t *to = put_bytes(ret, (const uint8_t *)message_label, sizeof message_label - 1);
    to = put_bytes(to, seal->about.plan, sizeof seal->about.plan);
    to = put_bytes(to, seal->about.run, sizeof seal->about.run);
    to = caucus_le_put(caucus_le_put(to, seal->session, 8), from_relay, 1);
    return (size_t)(put_bytes(to, (const uint8_t *)subject, length) - ret);
}

static void nonce_of(uint64_t counter, uint8_t ret[crypto_aead_xchacha20poly1305_ietf_NPUBBYTES]) {
    memset(ret, 0, crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);
    (void)caucus_le_put(ret, counter, COUNTER_BYTES);
}

void caucus_seal_put(caucus_seal *seal, const char *subject, const uint8_t *message, size_t size, uint8_t *ret) {
    uint8_t beside[AROUND_BYTES], nonce[crypto_aead_xchacha20poly1305_ietf_NPUBBYTES];
    const size_t bytes = around(seal, subject, seal->relay, beside);
    nonce_of(++seal->sent, nonce);
    (void)caucus_le_put(ret, seal->sent, COUNTER_BYTES);
    (void)crypto_aead_xchacha20poly1305_ietf_encrypt(ret + COUNTER_BYTES, NULL, message, size, beside, bytes, NULL,
                                                     nonce, seal->send_key);
}

caucus_status caucus_seal_take(caucus_seal *seal, const char *subject, const uint8_t *sealed, size_t size,
                               uint8_t *ret) {
    uint8_t beside[AROUND_BYTES], nonce[crypto_aead_xchacha20poly1305_ietf_NPUBBYTES];
    if (size < CAUCUS_SEAL_MORE_BYTES)
        return CAUCUS_E_FORMAT;
    const uint64_t counter = caucus_le_get(sealed, COUNTER_BYTES);
    const size_t bytes = around(seal, subject, !seal->relay, beside);
    nonce_of(counter, nonce);
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(ret, NULL, NULL, sealed + COUNTER_BYTES, size - COUNTER_BYTES,
                                                   beside, bytes, nonce, seal->take_key) != 0)
        return CAUCUS_E_FORMAT;
    if (counter <= seal->taken) {
        sodium_memzero(ret, size - CAUCUS_SEAL_MORE_BYTES);
        return CAUCUS_E_DUPLICATE;
    }
    seal->taken = counter;
    return CAUCUS_OK;
}
