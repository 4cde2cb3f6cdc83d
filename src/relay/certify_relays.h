/* SPDX-License-Identifier: Apache-2.0 */
/* certify_relays.h: the keys of relays and of their coordinator, and a configuration for the NATS server between them.
 * layer: relay
 *
 *   coordinator.secret, coordinator.public, relay-1.secret, ..., relays.list    who is who (keys.h)
 *   coordinator.nkey, relay-1.nkey, ...    who may use the NATS server: an Ed25519 key in its own alphabet, the public
 *                                          one (U…) on the first line and the seed (SU…) on the second
 *   nats.conf                              TLS, and for each nkey the subjects it may use, and no others */
#ifndef CAUCUS_RELAY_CERTIFY_RELAYS_H
#define CAUCUS_RELAY_CERTIFY_RELAYS_H

#include "dial/certify.h"

/** For caucus_certify_settings.more. Returns: CAUCUS_OK, CAUCUS_E_RANDOM, CAUCUS_E_PATH, CAUCUS_E_FULL, CAUCUS_E_IO. */
caucus_status caucus_certify_relays(int at, const struct caucus_certify_settings *settings,
                                    caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
