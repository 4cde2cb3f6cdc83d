/* SPDX-License-Identifier: Apache-2.0 */
/* long_run.h: a coordinator that plays a long run in this process, for the benchmark and the test of what a step costs
 * after many of them.
 *
 * It is the real one (net/server.h) with its real store: steps are counted, decided, recorded, committed, published and
 * wiped by the functions that its loops call. Only sockets are left out: reports are handed to the loop as if they had
 * just been read, because moving bytes costs the same at every step (bench_serve.c) and takes most of the time. */
#ifndef CAUCUS_BENCH_LONG_RUN_H
#define CAUCUS_BENCH_LONG_RUN_H

#include <stdlib.h>
#include <string.h>

#include "net/loop.h"

#define LONG_RUN_CLIENTS 2u
#define LONG_RUN_EXPERTS 8u

typedef struct long_run {
    caucus_plan *plan;
    caucus_server *server;
    caucus_connection from[LONG_RUN_CLIENTS];
    int64_t value[LONG_RUN_EXPERTS];
} long_run;

/* One report and one step a round. hedge releases something at every step, so it is what fills a ledger the most; svt
 * never, since nobody here has a loss. */
static inline caucus_status long_run_plan(caucus_algorithm algorithm, uint64_t steps, caucus_plan **ret,
                                          caucus_error *ret_error) {
    caucus_settings c;
    caucus_settings_init(&c);
    c.trust = CAUCUS_TRUST_COORDINATOR;
    c.algorithm = algorithm;
    c.clients = LONG_RUN_CLIENTS;
    c.experts = LONG_RUN_EXPERTS;
    c.rounds = steps + 1; /* after the last block nothing is drawn */
    return caucus_plan_new(&c, ret, ret_error);
}

/* Take it up where the directory says, or begin: all clients join. */
static inline caucus_status long_run_open(long_run *l, caucus_plan *plan, const char *dir, caucus_error *ret_error) {
    caucus_server_settings set = {.plan = plan, .state_dir = dir, .listen = "127.0.0.1:0", .loops = 1};
    memset(l, 0, sizeof *l);
    l->plan = plan;
    caucus_key_from_seed(1, &set.key);
    caucus_status status = caucus_server_open(&set, &l->server, ret_error);
    if (status != CAUCUS_OK)
        return status;
    for (uint32_t i = 0; i < LONG_RUN_EXPERTS; i++)
        l->value[i] = i;
    for (uint32_t i = 0; i < LONG_RUN_CLIENTS; i++) {
        l->from[i] = (caucus_connection){.loop = l->server->loop[0], .client = i + 1};
        l->from[i].session = caucus_step_take_session(l->server->loop[0], i + 1).session;
    }
    caucus_step_look(l->server);
    return CAUCUS_OK;
}

static inline void long_run_close(long_run *l) {
    caucus_server_close(l->server);
    l->server = NULL;
}

/* Everybody answers the step in hand, which is decided by that. False: it could not be kept, or the run is over. */
static inline bool long_run_step(long_run *l) {
    caucus_server *s = l->server;
    caucus_loop *loop = s->loop[0];
    caucus_announcement now;
    const uint64_t serial = caucus_server_history(s, 0, NULL, 0);
    (void)caucus_server_history(s, serial - 1, &now, 1);
    if (now.ask == CAUCUS_ASK_NOTHING)
        return false;
    for (uint32_t i = 0; i < LONG_RUN_CLIENTS; i++) {
        loop->report[i] = (caucus_report){.client = i + 1,
                                          .kind = now.ask,
                                          .first = now.block,
                                          .block = now.block,
                                          .epoch_or_leaf = now.epoch,
                                          .count = now.ask == CAUCUS_ASK_COST ? 1 : LONG_RUN_EXPERTS,
                                          .value = l->value};
        loop->from[i] = &l->from[i];
    }
    loop->reports = LONG_RUN_CLIENTS;
    caucus_step_count(loop);
    loop->reports = 0;
    caucus_step_wipe(s);
    return s->failure == CAUCUS_OK && caucus_server_history(s, 0, NULL, 0) == serial + 1;
}

#endif
