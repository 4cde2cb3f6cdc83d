/* SPDX-License-Identifier: Apache-2.0 */
/* nkey.h: what a connection shows to a NATS server: an Ed25519 key in the form of nkeys, and signatures by it.
 * layer: relay
 *
 * The file has two lines, as `caucus certify --relays` and the tool nk write them: the public key (U…) and the seed
 * (SU…). */
#ifndef CAUCUS_RELAY_NKEY_H
#define CAUCUS_RELAY_NKEY_H

#include <caucus/status.h>
#include <stdint.h>

typedef struct caucus_nkey {
    char name[64];          /* the public key, as text */
    uint8_t secret_key[64]; /* seed and public key: the holder wipes it */
} caucus_nkey;

/** Read one. Returns: CAUCUS_OK; CAUCUS_E_PATH: the file cannot be read; CAUCUS_E_FORMAT: it holds no nkey of a user,
 *  or one whose public key belongs to another seed. */
caucus_status caucus_nkey_read(const char *path, caucus_nkey *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Sign what the server has said. No signature begins with a zero byte: libnats (3.4) takes such a one for an empty
 *  text and sends none, the server refuses the connection, and the library gives up; that was one in 256. */
void caucus_nkey_sign(const caucus_nkey *key, const char *nonce, uint8_t ret[64]);

#endif
