/* SPDX-License-Identifier: Apache-2.0 */
/* keys.h: the files that say who is who between relays and the coordinator.
 * layer: relay
 *
 *   a secret key    a line "caucus relay key 1", a line with the Ed25519 secret key (seed, public key) in hexadecimal
 *   a public key    a line "caucus relay public key 1", a line with it
 *   list of relays  a line each: number, public key in hexadecimal; lines that begin with # are remarks
 * `caucus certify --relays N` makes them. */
#ifndef CAUCUS_RELAY_KEYS_H
#define CAUCUS_RELAY_KEYS_H

#include <stdio.h>

#include "relay/seal.h"

#define CAUCUS_RELAYS_MAX 4096u

typedef struct caucus_relay_entry {
    uint16_t number; /* from 1 */
    uint8_t key[32];
} caucus_relay_entry;

/** Read one. Returns: CAUCUS_OK, CAUCUS_E_PATH, CAUCUS_E_FORMAT, CAUCUS_E_MEMORY; the error names `field`. */
caucus_status caucus_keys_read_secret(const char *path, const char *field, caucus_seal_owner *ret,
                                      caucus_error *ret_error) CAUCUS_MUST_CHECK;
caucus_status caucus_keys_read_public(const char *path, const char *field, uint8_t ret[32],
                                      caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** *ret is the caller's to free; *ret_count from 1, rising numbers. */
caucus_status caucus_keys_read_list(const char *path, const char *field, caucus_relay_entry **ret, uint32_t *ret_count,
                                    caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Write one. Returns: false: the file could not be written. */
bool caucus_keys_write_secret(FILE *to, const caucus_seal_owner *owner);
bool caucus_keys_write_public(FILE *to, const uint8_t key[32]);
bool caucus_keys_write_listed(FILE *to, uint16_t number, const uint8_t key[32]);

#endif
