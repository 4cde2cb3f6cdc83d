/* SPDX-License-Identifier: Apache-2.0 */
/* relay_texts.h: a relay's own page, metrics and readiness, for net/http.h.
 * layer: net
 *
 * They hold what caucus_relay_get_status() says: counts of partials and clients, and whether the coordinator is heard.
 * What the run has decided and spent is on the coordinator's page. */
#ifndef CAUCUS_NET_RELAY_RELAY_TEXTS_H
#define CAUCUS_NET_RELAY_RELAY_TEXTS_H

#include "net/http.h"
#include "net/relay/relay.h"

typedef struct caucus_relay_texts {
    caucus_http_texts http;
    const caucus_relay *relay; /* borrowed */
    uint16_t number;
    char plan[65];
} caucus_relay_texts;

void caucus_relay_texts_init(caucus_relay_texts *ret, const caucus_relay *relay, uint16_t number, const char *plan);

#endif
