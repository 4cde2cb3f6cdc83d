/* SPDX-License-Identifier: Apache-2.0 */
/* postgres.h: a store in PostgreSQL: what its files share.
 * layer: store
 *
 * Tables of version 2, in the schema that the connection finds first (search_path), which holds one run:
 *   caucus_store(version)                                                             one row
 *   caucus_run(id = 1, plan, seeded, begun, term, announcements, lines, chunks, first, past, seal, root, stop,
 *              system, timeline, names)
 *   caucus_chunk(number PRIMARY KEY, bytes)                                           0 to chunks - 1
 *   caucus_announcement(serial PRIMARY KEY, expert, epoch, ask, block, leaf, list)    first, first + 1, ...
 *   caucus_ledger(line PRIMARY KEY, text)                                             1, 2, 3, ... without gaps
 * as in SQLite (store/coordinator/sqlite.h); root and chunks are sealed (store/coordinator/sealed.h). `stop` is a
 * request to end the run, and not sealed. `system`, `timeline` and `names` say where the last commit was made
 * (origin.c); version 1 had none of them.
 *
 * Two connections: one for reading and committing, and one that says that this coordinator is alive (keeper.c). */
#ifndef CAUCUS_STORE_POSTGRES_H
#define CAUCUS_STORE_POSTGRES_H

#include "store/coordinator/backend.h"

#include <libpq-fe.h>
#include <stdatomic.h>

#define CAUCUS_PG_VERSION 2
#define CAUCUS_PG_SERVER_LEAST 140000 /* client_connection_check_interval, idle_session_timeout */
#define CAUCUS_PG_READ_MS 30000
#define CAUCUS_PG_COMMIT_MS 30000
#define CAUCUS_PG_PAGE_ROWS "4096"

#define CAUCUS_PG_NAME 64
#define CAUCUS_PG_NAMES 512

typedef struct caucus_pg_keeper caucus_pg_keeper;

/* Where a commit is made. */
typedef struct caucus_pg_origin {
    uint64_t system;             /* the server's identifier, the same for its standbys; 0: not known */
    uint32_t timeline;           /* another one after each promotion */
    char names[CAUCUS_PG_NAMES]; /* synchronous_standby_names that the commit demands; "": it demands nothing */
} caucus_pg_origin;

typedef struct caucus_postgres {
    caucus_store_place place; /* label and folder: what messages call it */
    char *where;              /* as given */
    char *label;
    PGconn *db;
    bool warned;   /* a notice or warning came since it was last set to false */
    bool snapshot; /* a transaction that only reads is open: everything is read as of one moment */
    bool prepared; /* the statement of change.c */
    bool require_sync;
    uint64_t *promoted;        /* what a person says is the last announcement; NULL: nobody says so */
    caucus_pg_origin recorded; /* of the last commit, as look() found it */
    caucus_pg_origin here;     /* of this connection */
    char own[CAUCUS_PG_NAME];  /* cluster_name of this server */
    uint64_t sent;             /* bytes of parameters of all changes so far */
    caucus_pg_keeper *keeper;
    _Atomic uint64_t term; /* of the last change of this process; 0: none yet */
} caucus_postgres;

/* connect.c */

/* "PostgreSQL DATABASE on HOST", for messages: no user, no password. To be freed; *ret NULL unless CAUCUS_OK: it cannot
 * be understood or holds a password (CAUCUS_E_PATH), or there is no memory. */
caucus_status caucus_pg_label(const char *where, char **ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/* A connection to a server that can be trusted with a commit: not through a pool, new enough, fsync on, and with every
 * warning shown. *warned (not NULL): set whenever something is said. */
caucus_status caucus_pg_connect(const char *where, const char *label, bool *warned, PGconn **ret,
                                caucus_error *ret_error);
/* One statement without parameters, or with text ones ($1, ...), binary results. *ret only on CAUCUS_OK; PQclear it. */
caucus_status caucus_pg_query(PGconn *db, const char *label, const char *sql, int count, const char *const *text,
                              int timeout_ms, PGresult **ret, caucus_error *ret_error);
/* Wait for everything that was sent to be answered, up to the time when the server is ready for the next.
 * Out:     *ret  the first result, or NULL; *ret_more  another one that was an error came after it.
 * Returns: whether all of it came in time. */
bool caucus_pg_wait(PGconn *db, int timeout_ms, PGresult **ret, bool *ret_more);
/* What the server has said. */
caucus_status caucus_pg_fail(const PGconn *db, const PGresult *result, const char *label, const char *doing,
                             caucus_error *ret_error);
/* Of which version are our tables? 0: there are none. */
caucus_status caucus_pg_version(PGconn *db, const char *label, int64_t *ret, caucus_error *ret_error);
/* Is it this one? */
caucus_status caucus_pg_check_version(const char *label, int64_t version, caucus_error *ret_error);
/* Both. */
caucus_status caucus_pg_identify(PGconn *db, const char *label, caucus_error *ret_error);

/* Columns of a binary result. */
int64_t caucus_pg_int64(const PGresult *result, int row, int column); /* int8; 0 if NULL */
bool caucus_pg_bytes(const PGresult *result, int row, int column, size_t size, uint8_t *ret);
bool caucus_pg_piece(const PGresult *result, int row, int column, caucus_piece *ret);

#define CAUCUS_PG_ANNOUNCEMENT "serial, expert, epoch, ask, block, leaf, list"
caucus_status caucus_pg_damaged(const char *label, const char *how, caucus_error *ret_error);
/* Numbers of 63 bits, those of an expert, an ask and a leaf of 32; false if they cannot be ours. */
bool caucus_pg_take_announcement(const PGresult *result, int row, caucus_announcement *ret);
caucus_status caucus_pg_read_ledger(PGconn *db, const char *label, bool whole, caucus_ledger **ret,
                                    caucus_error *ret_error);

/* rows.c: of the table of operations. */
caucus_status caucus_pg_look(caucus_store_place *place, bool *ret_found, caucus_store_row *ret,
                             caucus_error *ret_error);
caucus_status caucus_pg_load(caucus_store_place *place, uint32_t chunks, caucus_store_state *ret,
                             caucus_error *ret_error);
caucus_status caucus_pg_announcements(caucus_store_place *place, void (*each)(void *user, const caucus_announcement *),
                                      void *user, caucus_error *ret_error);
caucus_status caucus_pg_ledger(caucus_store_place *place, bool whole, caucus_ledger **ret, caucus_error *ret_error);
/* End the transaction that look() began. */
caucus_status caucus_pg_end_snapshot(caucus_postgres *p, caucus_error *ret_error);

/* origin.c */

/* Which server the connection is to, into p->here and p->own; refused if it demands no standby and has to. */
caucus_status caucus_pg_here(caucus_postgres *p, caucus_error *ret_error);
/* system, timeline and names from that column on; false if they cannot be ours. */
bool caucus_pg_take_origin(const PGresult *result, int column, caucus_pg_origin *ret);
/* Must every commit under this synchronous_standby_names wait for all that it lists, and is `own` one of them? */
bool caucus_pg_demands_all(const char *names, const char *own);
caucus_status caucus_pg_may_go_on(caucus_store_place *place, uint64_t announcements, caucus_error *ret_error);

/* visit.c: by whoever looks on, with a connection of its own. */

/* To be freed and finished by the caller; version 0: no tables are there. */
caucus_status caucus_pg_visit(const char *where, char **ret_label, PGconn **ret, int64_t *ret_version,
                              caucus_error *ret_error);
bool caucus_pg_exists(const char *where);
caucus_status caucus_pg_open_ledger(const char *where, caucus_ledger **ret, caucus_error *ret_error);
caucus_status caucus_pg_peek(const char *where, caucus_store_glance *ret, caucus_error *ret_error);
caucus_status caucus_pg_request_stop(const char *where, caucus_error *ret_error);

/* change.c */
caucus_status caucus_pg_create(caucus_store_place *place, const caucus_store_row *row, caucus_error *ret_error);
caucus_status caucus_pg_change(caucus_store_place *place, const caucus_store_change *change, caucus_error *ret_error);

/* schema.c */
caucus_status caucus_pg_init(const char *where, caucus_error *ret_error);
caucus_status caucus_pg_migrate(const char *where, uint32_t *ret_from, uint32_t *ret_to, caucus_error *ret_error);
caucus_status caucus_pg_check(const char *where, caucus_store_report *ret, caucus_error *ret_error);
caucus_status caucus_pg_held(caucus_store_place *place, bool *ret, caucus_error *ret_error);

/* keeper.c */

/* Take the lock, or CAUCUS_E_BUSY, and keep it from now on. where and label live as long as it does. */
caucus_status caucus_pg_keeper_start(const char *where, const char *label, caucus_pg_keeper **ret,
                                     caucus_error *ret_error);
void caucus_pg_keeper_stop(caucus_pg_keeper *keeper);
bool caucus_pg_keeper_stop_requested(const caucus_pg_keeper *keeper);
uint64_t caucus_pg_keeper_term(const caucus_pg_keeper *keeper); /* the latest that it has seen in the database */

#endif
