/* SPDX-License-Identifier: Apache-2.0 */
/* fake_server.h: the status functions of net/server.h over plain memory, to test the status pages without a network.
 * A program that includes it has these functions itself, so the linker does not take the real ones from the library. */
#ifndef CAUCUS_TEST_FAKE_SERVER_H
#define CAUCUS_TEST_FAKE_SERVER_H

#include <pthread.h>
#include <string.h>

#include "net/server.h"

#define FAKE_ANNOUNCEMENTS 4096
#define FAKE_CLIENTS 16384

struct caucus_server {
    pthread_mutex_t lock;
    caucus_server_status status;
    caucus_announcement history[FAKE_ANNOUNCEMENTS];
    uint32_t announced, from; /* the first that is not forgotten */
    uint8_t presence[FAKE_CLIENTS];
    bool busy; /* a decision is being committed, and the disk does not answer */
};

bool caucus_server_try_status(caucus_server *server, uint32_t wait_ms, caucus_server_status *ret,
                              uint8_t *ret_presence) {
    (void)wait_ms;
    pthread_mutex_lock(&server->lock);
    bool taken = !server->busy;
    if (taken)
        *ret = server->status;
    if (taken && ret_presence)
        memcpy(ret_presence, server->presence, server->status.clients);
    pthread_mutex_unlock(&server->lock);
    return taken;
}

uint64_t caucus_server_history_from(caucus_server *server) {
    return server->from;
}

uint64_t caucus_server_history(caucus_server *server, uint64_t first, caucus_announcement *ret, uint32_t room) {
    pthread_mutex_lock(&server->lock);
    uint32_t total = server->announced;
    for (uint32_t i = 0; i < room && first + i < total; i++)
        ret[i] = server->history[first + i];
    pthread_mutex_unlock(&server->lock);
    return total;
}

/* For tests: announce `expert` asking for `block`, as a coordinator would. */
static inline void fake_announce(caucus_server *server, uint32_t expert, uint32_t block, caucus_ask ask) {
    pthread_mutex_lock(&server->lock);
    caucus_announcement next = {.serial = server->announced, .expert = expert, .block = block, .ask = ask};
    server->history[server->announced++] = next;
    server->status.now = next;
    pthread_mutex_unlock(&server->lock);
}

#endif
