/* SPDX-License-Identifier: Apache-2.0 */
/* postgres.c: opening and closing a store in PostgreSQL: its table of operations. See postgres.h. */
#include "store/postgres/postgres.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "num/fail.h"
#include "num/hand_over.h"
#include "store/clock.h"

/* After an outcome that is not known: how long a server may take to come back, and how often it is tried. */
#define SETTLE_MS 60000
#define SETTLE_PAUSE_NS 200000000

static void disconnect(caucus_postgres *p) {
    PQfinish(p->db);
    p->db = NULL;
    p->snapshot = p->prepared = false;
}

static void close_place(caucus_store_place *place, bool kept) {
    caucus_postgres *p = (caucus_postgres *)place;
    (void)kept;
    disconnect(p);
    caucus_pg_keeper_stop(p->keeper);
    free(p->promoted);
    free(p->where);
    free(p->label);
    free(p);
}

static bool keep_promoted(caucus_postgres *p, uint64_t serial) {
    p->promoted = malloc(sizeof *p->promoted);
    if (p->promoted != NULL)
        *p->promoted = serial;
    return p->promoted != NULL;
}

/* Connect, and know where: what a coordinator does. */
static caucus_status connect_here(caucus_postgres *p, caucus_error *ret_error) {
    caucus_status status = caucus_pg_connect(p->where, p->label, &p->warned, &p->db, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_pg_here(p, ret_error);
    if (status != CAUCUS_OK)
        disconnect(p);
    return status;
}

static caucus_status open_any(const caucus_store_where *where, bool keep, caucus_store_place **ret,
                              caucus_error *ret_error) {
    caucus_postgres *p = calloc(1, sizeof *p);
    if (p == NULL)
        return caucus_fail_memory(ret_error, "");
    p->where = strdup(where->state);
    caucus_status status = p->where != NULL ? CAUCUS_OK : caucus_fail_memory(ret_error, "");
    if (status == CAUCUS_OK)
        status = caucus_pg_label(where->state, &p->label, ret_error);
    if (status == CAUCUS_OK && where->promoted != NULL && !keep_promoted(p, *where->promoted))
        status = caucus_fail_memory(ret_error, "");
    p->require_sync = where->require_sync;
    p->place = (caucus_store_place){.label = p->label, .folder = p->label};
    if (status == CAUCUS_OK && keep)
        status = caucus_pg_keeper_start(p->where, p->label, &p->keeper, ret_error);
    if (status == CAUCUS_OK)
        status = connect_here(p, ret_error);
    return CAUCUS_HAND_OVER(status, ret, &p->place, close_place(&p->place, false));
}

static caucus_status open_place(const caucus_store_where *where, caucus_store_place **ret, caucus_error *ret_error) {
    return open_any(where, true, ret, ret_error);
}

static caucus_status watch(const caucus_store_where *where, caucus_store_place **ret, caucus_error *ret_error) {
    return open_any(where, false, ret, ret_error);
}

/* A server that was killed needs a while: it is waited for, since without it nothing can be announced anyway. It may be
 * another one then, promoted meanwhile: this coordinator knows what was committed, and finds it there or not. */
static caucus_status settle(caucus_store_place *place, caucus_error *ret_error) {
    caucus_postgres *p = (caucus_postgres *)place;
    const int64_t until = caucus_clock_ms() + SETTLE_MS;
    disconnect(p);
    caucus_status status = connect_here(p, ret_error);
    while (status != CAUCUS_OK && status != CAUCUS_E_MEMORY && caucus_clock_ms() < until) {
        (void)nanosleep(&(struct timespec){.tv_nsec = SETTLE_PAUSE_NS}, NULL);
        status = connect_here(p, ret_error);
    }
    return status;
}

/* What was there before is in the server's log and in copies of it: sealed, and its key is gone (mark.h). */
static caucus_status wipe(caucus_store_place *place, caucus_error *ret_error) {
    (void)place, (void)ret_error;
    return CAUCUS_OK;
}

static bool stop_requested(caucus_store_place *place) {
    return caucus_pg_keeper_stop_requested(((caucus_postgres *)place)->keeper);
}

/* A term is raised by the first change of a process, so one that is higher than this process's last is another's. */
static bool taken_over(caucus_store_place *place) {
    caucus_postgres *p = (caucus_postgres *)place;
    const uint64_t own = atomic_load(&p->term);
    return own != 0 && caucus_pg_keeper_term(p->keeper) > own;
}

/* The word stays: the run is ended, and nobody asks again. */
static void stop_heard(caucus_store_place *place) {
    (void)place;
}

const caucus_store_backend caucus_store_postgres = {
    .name = "postgres",
    .remote = true,
    .exists = caucus_pg_exists,
    .open = open_place,
    .look = caucus_pg_look,
    .may_go_on = caucus_pg_may_go_on,
    .load = caucus_pg_load,
    .announcements = caucus_pg_announcements,
    .ledger = caucus_pg_ledger,
    .create = caucus_pg_create,
    .change = caucus_pg_change,
    .settle = settle,
    .wipe = wipe,
    .close = close_place,
    .open_ledger = caucus_pg_open_ledger,
    .peek = caucus_pg_peek,
    .request_stop = caucus_pg_request_stop,
    .stop_requested = stop_requested,
    .stop_heard = stop_heard,
    .taken_over = taken_over,
    .init = caucus_pg_init,
    .check = caucus_pg_check,
    .migrate = caucus_pg_migrate,
    .watch = watch,
    .held = caucus_pg_held,
};
