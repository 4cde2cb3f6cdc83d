/* SPDX-License-Identifier: Apache-2.0 */
/* standby_texts.h: what the second port says of a coordinator that stands by: its role, and how far it follows the run.
 * layer: net
 *
 * It has no clients and no machine, so that there is little to say; but whoever watches it has to know whether it would
 * take over, and a database that it cannot reach is worth an alarm before it is needed. */
#ifndef CAUCUS_NET_STANDBY_TEXTS_H
#define CAUCUS_NET_STANDBY_TEXTS_H

#include <pthread.h>

#include "net/http.h"

typedef struct caucus_standing {
    pthread_mutex_t lock; /* of `now` */
    caucus_store_waiting now;
    const char *name, *plan; /* borrowed: the federation, the plan's hash in hexadecimal */
    caucus_http_texts texts;
} caucus_standing;

void caucus_standing_init(caucus_standing *ret, const char *name, const char *plan);
/** This is what it has seen. From any thread. */
void caucus_standing_say(caucus_standing *standing, const caucus_store_waiting *now);

#endif
