/* SPDX-License-Identifier: Apache-2.0 */
/* keeper.c: who is at work: a lock in the database that ends with its holder.
 *
 * An advisory lock, held by a session of its own, keeps a second coordinator out while the first one is alive. It is
 * for that alone: two that both believe to have it do no harm, since only one has the term. The session asks for a word
 * every PING_MS; a process that is stopped, or a machine that is gone, does not, and the server ends an idle session
 * after IDLE_MS, and its lock with it. If the session is lost it is made again, and the lock taken again if nobody else
 * has it.
 *
 * What it asks for is whether somebody wants the run ended (`caucus stop`), and the term: a coordinator that was
 * stopped past a takeover and has no answers to decide on would otherwise never hear that the run is another's, and
 * clients would wait at it for nothing. */
#include "store/postgres/postgres.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "num/fail.h"
#include "num/hand_over.h"
#include "store/clock.h"
#include "store/timed_wait.h"

#define PING_MS 500
#define PING_ANSWER_MS 2000
#define TAKE_MS 1000
#define TRY_NS 50000000
/* "CAUC" and the table's own number: one lock for each run in a database. */
#define LOCK "SELECT pg_try_advisory_lock((1128355139::bigint << 32) | 'caucus_run'::regclass::oid::bigint)"
#define IDLE "SET idle_session_timeout = 2000"

struct caucus_pg_keeper {
    const char *where, *label;
    PGconn *db; /* of the thread, once it runs; NULL: lost */
    bool held;  /* this session has the lock; of the thread */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stopping; /* under `lock` */
    _Atomic bool stop_requested;
    _Atomic uint64_t term; /* the latest that was seen; 0: none yet */
};

/* One truth, or false if it cannot be had. */
static bool is_true(PGconn *db, const char *label, const char *sql, int timeout_ms, bool *ret) {
    PGresult *result = NULL;
    if (caucus_pg_query(db, label, sql, 0, NULL, timeout_ms, &result, NULL) != CAUCUS_OK)
        return false;
    *ret = PQntuples(result) == 1 && PQgetlength(result, 0, 0) == 1 && PQgetvalue(result, 0, 0)[0] == 1;
    PQclear(result);
    return true;
}

/* The server needs a moment to notice that a process is gone: it is waited for. */
static bool take_lock(PGconn *db, const char *label, int64_t wait_ms, bool *ret_held) {
    const int64_t until = caucus_clock_ms() + wait_ms;
    while (is_true(db, label, LOCK, CAUCUS_PG_READ_MS, ret_held)) {
        if (*ret_held || caucus_clock_ms() >= until)
            return true;
        (void)nanosleep(&(struct timespec){.tv_nsec = TRY_NS}, NULL);
    }
    return false;
}

/* *ret: a session that ends by itself if nothing is asked for. */
static caucus_status begin_session(const char *where, const char *label, PGconn **ret, caucus_error *ret_error) {
    PGconn *db = NULL;
    PGresult *result = NULL;
    caucus_status status = caucus_pg_connect(where, label, NULL, &db, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_pg_identify(db, label, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_pg_query(db, label, IDLE, 0, NULL, CAUCUS_PG_READ_MS, &result, ret_error);
    PQclear(result);
    return CAUCUS_HAND_OVER(status, ret, db, PQfinish(db));
}

/* *ret: a session that has the lock. */
static caucus_status take(const char *where, const char *label, PGconn **ret, caucus_error *ret_error) {
    PGconn *db = NULL;
    bool held = false;
    caucus_status status = begin_session(where, label, &db, ret_error);
    if (status == CAUCUS_OK && !take_lock(db, label, TAKE_MS, &held))
        status = caucus_pg_fail(db, NULL, label, "taking the lock", ret_error);
    if (status == CAUCUS_OK && !held)
        status = caucus_fail(ret_error, CAUCUS_E_BUSY, "",
                             "%.100s is in use by another coordinator — stop it first, or use another state", label);
    return CAUCUS_HAND_OVER(status, ret, db, PQfinish(db));
}

/* The two things that it asks for; false: no answer. */
static bool ask(caucus_pg_keeper *k) {
    PGresult *result = NULL;
    if (caucus_pg_query(k->db, k->label, "SELECT stop, term FROM caucus_run", 0, NULL, PING_ANSWER_MS, &result, NULL) !=
        CAUCUS_OK)
        return false;
    if (PQntuples(result) == 1 && PQgetlength(result, 0, 0) == 1) {
        if (PQgetvalue(result, 0, 0)[0] == 1)
            atomic_store(&k->stop_requested, true);
        atomic_store(&k->term, (uint64_t)caucus_pg_int64(result, 0, 1));
    }
    PQclear(result);
    return true;
}

/* What cannot be had now is tried again in half a second. */
static void ping(caucus_pg_keeper *k) {
    if (k->db == NULL && begin_session(k->where, k->label, &k->db, NULL) != CAUCUS_OK)
        return;
    if ((k->held || is_true(k->db, k->label, LOCK, PING_ANSWER_MS, &k->held)) && ask(k))
        return;
    PQfinish(k->db);
    k->db = NULL;
    k->held = false;
}

static void *keep(void *user) {
    caucus_pg_keeper *k = user;
    pthread_mutex_lock(&k->lock);
    while (!k->stopping) {
        (void)caucus_timed_wait(&k->wake, &k->lock, caucus_clock_ns() + PING_MS * UINT64_C(1000000));
        if (k->stopping)
            break;
        pthread_mutex_unlock(&k->lock);
        ping(k);
        pthread_mutex_lock(&k->lock);
    }
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

static bool start_thread(caucus_pg_keeper *k) {
    caucus_timed_init(&k->wake);
    if (pthread_create(&k->thread, NULL, keep, k) == 0)
        return true;
    (void)pthread_cond_destroy(&k->wake);
    return false;
}

caucus_status caucus_pg_keeper_start(const char *where, const char *label, caucus_pg_keeper **ret,
                                     caucus_error *ret_error) {
    caucus_pg_keeper *k = calloc(1, sizeof *k);
    if (k == NULL)
        return caucus_fail_memory(ret_error, "");
    k->where = where;
    k->label = label;
    (void)pthread_mutex_init(&k->lock, NULL); /* cannot fail on Linux */
    caucus_status status = take(where, label, &k->db, ret_error);
    k->held = status == CAUCUS_OK;
    if (status == CAUCUS_OK && !start_thread(k)) {
        PQfinish(k->db);
        status = caucus_fail_memory(ret_error, "");
    }
    if (status == CAUCUS_OK) {
        *ret = k;
        return CAUCUS_OK;
    }
    (void)pthread_mutex_destroy(&k->lock);
    free(k);
    return status;
}

void caucus_pg_keeper_stop(caucus_pg_keeper *k) {
    if (k == NULL)
        return;
    pthread_mutex_lock(&k->lock);
    k->stopping = true;
    (void)pthread_cond_signal(&k->wake);
    pthread_mutex_unlock(&k->lock);
    (void)pthread_join(k->thread, NULL);
    bool given = false; /* whoever comes next need not wait for the server to notice */
    if (k->db != NULL)
        (void)is_true(k->db, k->label, "SELECT pg_advisory_unlock_all() IS NOT NULL", PING_ANSWER_MS, &given);
    PQfinish(k->db);
    (void)pthread_cond_destroy(&k->wake);
    (void)pthread_mutex_destroy(&k->lock);
    free(k);
}

bool caucus_pg_keeper_stop_requested(const caucus_pg_keeper *k) {
    return atomic_load(&k->stop_requested);
}

uint64_t caucus_pg_keeper_term(const caucus_pg_keeper *k) {
    return atomic_load(&k->term);
}
