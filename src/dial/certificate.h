/* SPDX-License-Identifier: Apache-2.0 */
/* certificate.h: a small certificate authority, made for one federation and thrown away.
 * layer: dial
 *
 * P-256 keys, ECDSA with SHA-256, X.509 version 3. A client's certificate has its index, in decimal, as its common
 * name; that is who it is for the coordinator. Only for trying things out: real federations have an authority of their
 * own. */
#ifndef CAUCUS_DIAL_CERTIFICATE_H
#define CAUCUS_DIAL_CERTIFICATE_H

#include <caucus/status.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdbool.h>

typedef enum caucus_certificate_role {
    CAUCUS_CERTIFICATE_CA,
    CAUCUS_CERTIFICATE_RELAY_CA, /* signs relays, which are servers to clients, and nobody else */
    CAUCUS_CERTIFICATE_COORDINATOR,
    CAUCUS_CERTIFICATE_CLIENT
} caucus_certificate_role;

typedef struct caucus_certificate {
    EVP_PKEY *key;
    X509 *x509;
} caucus_certificate;

/** A new key and its certificate.
 *  In:      issuer  who signs; NULL: it signs itself (role CA).
 *           name    the common name, at most 64 bytes.
 *           host    COORDINATOR: a further name or address, besides localhost, 127.0.0.1 and ::1; NULL: none. See
 *                   caucus_certificate_host_ok.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY (or whatever OpenSSL failed at, in its words). */
caucus_status caucus_certificate_new(caucus_certificate_role role, const caucus_certificate *issuer, const char *name,
                                     const char *host, uint32_t days, caucus_certificate *ret,
                                     caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Sign a certificate of role COORDINATOR again: the same name, key, hosts; a new serial number and new days. ret->key
 *  stays NULL: its owner has it.
 *  Returns: as caucus_certificate_new(). */
caucus_status caucus_certificate_again(const caucus_certificate *issuer, X509 *old, uint32_t days,
                                       caucus_certificate *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_certificate_free(caucus_certificate *certificate);

/** A host name (letters, digits, hyphens, dots) or a numeric address. */
bool caucus_certificate_host_ok(const char *host);

#endif
