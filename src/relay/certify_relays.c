/* SPDX-License-Identifier: Apache-2.0 */
/* certify_relays.c: see certify_relays.h.
 *
 * An nkey is base32(prefix | key | CRC-16 of both, low byte first) without padding: the prefix of a user's public
 * key is 20 << 3 ("U"); that of its seed is two bytes, 18 << 3 and the user's prefix, of which the second begins in
 * the low three bits of the first ("SU"). */
#include "relay/certify_relays.h"

#include <sodium.h>
#include <string.h>

#include "num/fail.h"
#include "relay/keys.h"
#include "store/atomic_file.h"

#define PREFIX_USER (20u << 3)
#define PREFIX_SEED (18u << 3)
#define NKEY_BYTES 64u /* of the text, with its end */

/* CRC-16 with the polynomial x^16 + x^12 + x^5 + 1, as nkeys have it. */
static uint16_t crc16(const uint8_t *bytes, size_t size) {
    uint32_t crc = 0;
    for (size_t i = 0; i < size; i++) {
        crc ^= (uint32_t)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 0x8000u ? crc << 1 ^ 0x1021u : crc << 1;
        crc &= 0xffffu;
    }
    return (uint16_t)crc;
}

static void base32(const uint8_t *bytes, size_t size, char *ret) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    uint32_t held = 0;
    unsigned bits = 0;
    for (size_t i = 0; i < size; i++) {
        held = held << 8 | bytes[i];
        for (bits += 8; bits >= 5; bits -= 5)
            *ret++ = alphabet[held >> (bits - 5) & 31];
    }
    if (bits > 0)
        *ret++ = alphabet[held << (5 - bits) & 31];
    *ret = '\0';
}

static void encode(const uint8_t *prefix, size_t prefix_bytes, const uint8_t key[32], char ret[NKEY_BYTES]) {
    uint8_t bytes[2 + 32 + 2];
    memcpy(bytes, prefix, prefix_bytes);
    memcpy(bytes + prefix_bytes, key, 32);
    const size_t size = prefix_bytes + 32;
    const uint16_t crc = crc16(bytes, size);
    bytes[size] = (uint8_t)crc;
    bytes[size + 1] = (uint8_t)(crc >> 8);
    base32(bytes, size + 2, ret);
    sodium_memzero(bytes, sizeof bytes);
}

static bool write_nkey(FILE *to, char ret_public[NKEY_BYTES]) {
    caucus_seal_owner owner;
    uint8_t seed[32];
    char text[NKEY_BYTES];
    static const uint8_t user[] = {PREFIX_USER}, seeds[] = {PREFIX_SEED | PREFIX_USER >> 5, (PREFIX_USER & 31u) << 3};
    if (caucus_seal_owner_new(&owner) != CAUCUS_OK)
        return false;
    (void)crypto_sign_ed25519_sk_to_seed(seed, owner.secret_key);
    encode(user, sizeof user, owner.public_key, ret_public);
    encode(seeds, sizeof seeds, seed, text);
    const bool good = fprintf(to, "%s\n%s\n", ret_public, text) > 0;
    sodium_memzero(&owner, sizeof owner);
    sodium_memzero(seed, sizeof seed);
    sodium_memzero(text, sizeof text);
    return good;
}

/* One party: its signing key, its nkey, and what the server lets it do. */
static caucus_status make_party(int at, const char *who, uint32_t relay, FILE *conf, FILE *list,
                                caucus_error *ret_error) {
    char name[48], nkey[NKEY_BYTES], number[16] = "*";
    caucus_seal_owner owner;
    if (relay > 0)
        (void)snprintf(number, sizeof number, "%u", relay);
    if (caucus_seal_owner_new(&owner) != CAUCUS_OK)
        return caucus_fail(ret_error, CAUCUS_E_RANDOM, "", "%s", caucus_status_text(CAUCUS_E_RANDOM));
    (void)snprintf(name, sizeof name, "%s.secret", who);
    FILE *out = caucus_certify_create(at, name, 0600);
    bool good = out && caucus_certify_finish(out, caucus_keys_write_secret(out, &owner));
    if (good) {
        (void)snprintf(name, sizeof name, "%s.nkey", who);
        out = caucus_certify_create(at, name, 0600);
        good = out && caucus_certify_finish(out, write_nkey(out, nkey));
    }
    if (good && relay == 0) {
        (void)snprintf(name, sizeof name, "%s.public", who);
        out = caucus_certify_create(at, name, 0644);
        good = out && caucus_certify_finish(out, caucus_keys_write_public(out, owner.public_key));
    }
    if (good && relay > 0)
        good = caucus_keys_write_listed(list, (uint16_t)relay, owner.public_key);
    if (good)
        good = fprintf(conf,
                       "        { nkey: %s # %s\n"
                       "          permissions: { publish: \"caucus.*.%s.%s\", subscribe: \"caucus.*.%s.%s\" } }\n",
                       nkey, who, relay ? "up" : "down", number, relay ? "down" : "up", number) > 0;
    sodium_memzero(&owner, sizeof owner);
    return good ? CAUCUS_OK : caucus_fail_path(ret_error, CAUCUS_E_PATH, "", name);
}

static const char conf_head[] = "# For nats-server 2.9 or later, started in this directory: nats-server -c nats.conf\n"
                                "# Made by caucus certify. Whoever is not named below cannot use it, and who is, only\n"
                                "# the subjects that a relay, or the coordinator, needs.\n"
                                "listen: \"0.0.0.0:4222\"\n"
                                "max_payload: 1MB\n"
                                "tls {\n"
                                "    cert_file: \"nats.pem\"\n"
                                "    key_file: \"nats.key\"\n"
                                "}\n"
                                "authorization {\n"
                                "    users = [\n";

caucus_status caucus_certify_relays(int at, const struct caucus_certify_settings *s, caucus_error *ret_error) {
    FILE *conf = caucus_certify_create(at, "nats.conf", 0600), *list = caucus_certify_create(at, "relays.list", 0644);
    caucus_status status = CAUCUS_OK;
    if (!conf || !list || fputs(conf_head, conf) < 0)
        status = caucus_fail_path(ret_error, CAUCUS_E_PATH, "", "nats.conf");
    if (status == CAUCUS_OK)
        status = make_party(at, "coordinator", 0, conf, list, ret_error);
    for (uint32_t i = 1; status == CAUCUS_OK && i <= s->relays; i++) {
        char who[24];
        (void)snprintf(who, sizeof who, "relay-%u", i);
        status = make_party(at, who, i, conf, list, ret_error);
    }
    const bool ended = conf && caucus_certify_finish(conf, fputs("    ]\n}\n", conf) >= 0);
    const bool listed = list && caucus_certify_finish(list, true);
    if (status == CAUCUS_OK && !(ended && listed))
        status = caucus_fail_path(ret_error, CAUCUS_E_PATH, "", ended ? "relays.list" : "nats.conf");
    return status;
}
