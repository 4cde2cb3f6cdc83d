/* SPDX-License-Identifier: Apache-2.0 */
/* certify.h: a directory of certificates to try a live federation with.
 * layer: dial
 *
 * ca.pem, coordinator.pem and .key, client-1.pem and .key, ...; with relays also relay-1.pem and .key, ..., nats.pem
 * and .key, and what relay/certify_relays.h adds. The directory appears whole or not at all. The authority's own key
 * is never written: once it is done, nothing more can be signed in its name.
 *
 * Relays stand in many places and see what clients send, so their certificates are short, and are signed by a second
 * authority that signs servers only: relay-ca.pem, which is in ca.pem too, and relay-ca.key, which stays where they
 * were made, to sign them again (certify_renew.c). */
#ifndef CAUCUS_DIAL_CERTIFY_H
#define CAUCUS_DIAL_CERTIFY_H

#include <caucus/status.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CAUCUS_CERTIFY_MAX_CLIENTS 100000u
#define CAUCUS_CERTIFY_MAX_RELAYS 1000u
#define CAUCUS_CERTIFY_MAX_DAYS 3650u
#define CAUCUS_CERTIFY_RELAY_DAYS 7u /* of a relay's certificate; fewer if all are shorter */

typedef struct caucus_certify_settings {
    const char *dir;
    uint32_t clients; /* 1 .. CAUCUS_CERTIFY_MAX_CLIENTS */
    const char *host; /* further name or address of the coordinator; NULL: this machine only */
    uint32_t days;    /* 1 .. CAUCUS_CERTIFY_MAX_DAYS */
    uint32_t relays;  /* how many; each has a certificate as the coordinator has */
    /* What else belongs to relays (relay/certify_relays.h): written into the directory `at`; NULL: nothing. */
    caucus_status (*more)(int at, const struct caucus_certify_settings *settings, caucus_error *ret_error);
    const volatile int *stop; /* not zero: give up, leave nothing behind; may be NULL */
} caucus_certify_settings;

/** For `more`: a new file, and its end. Returns: NULL, false: it could not be written. */
FILE *caucus_certify_create(int at, const char *name, unsigned mode);
bool caucus_certify_finish(FILE *out, bool written);

/** Make it. A directory made by an earlier call is replaced at once; one with other contents is refused.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (settings, or other contents), CAUCUS_E_PATH, CAUCUS_E_FULL, CAUCUS_E_IO,
 *           CAUCUS_E_MEMORY, CAUCUS_E_STOPPED. */
caucus_status caucus_certify(const caucus_certify_settings *settings, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Sign the certificates of the relays of such a directory again, each in its place, for so many days. Their keys stay
 *  as they are, and need not be there.
 *  Out:     *ret_count  how many
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (days; no relays were made there), CAUCUS_E_PATH, CAUCUS_E_FORMAT, CAUCUS_E_FULL,
 *           CAUCUS_E_IO, CAUCUS_E_MEMORY. */
caucus_status caucus_certify_renew(const char *dir, uint32_t days, uint32_t *ret_count,
                                   caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
