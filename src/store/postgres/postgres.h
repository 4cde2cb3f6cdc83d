/* SPDX-License-Identifier: Apache-2.0 */
/* postgres.h: a store in PostgreSQL: what its files share.
 * layer: store
 *
 * Tables of version 1, in the schema that the connection finds first (search_path), which holds one run:
 *   caucus_store(version)                                                             one row
 *   caucus_run(id = 1, plan, seeded, begun, term, announcements, lines, chunks, first, past, seal, root, stop)
 *   caucus_chunk(number PRIMARY KEY, bytes)                                           0 to chunks - 1
 *   caucus_announcement(serial PRIMARY KEY, expert, epoch, ask, block, leaf, list)    first, first + 1, ...
 *   caucus_ledger(line PRIMARY KEY, text)                                             1, 2, 3, ... without gaps
 * as in SQLite (store/coordinator/sqlite.h); root and chunks are sealed (store/coordinator/sealed.h). `stop` is a
 * request to end the run, and not sealed.
 *
 * Two connections: one for reading and committing, and one that says that this coordinator is alive (keeper.c). */
#ifndef CAUCUS_STORE_POSTGRES_H
#define CAUCUS_STORE_POSTGRES_H

#include "store/coordinator/backend.h"

#include <libpq-fe.h>

#define CAUCUS_PG_VERSION 1
#define CAUCUS_PG_SERVER_LEAST 140000 /* client_connection_check_interval, idle_session_timeout */
#define CAUCUS_PG_READ_MS 30000
#define CAUCUS_PG_COMMIT_MS 30000
#define CAUCUS_PG_PAGE_ROWS "4096"

typedef struct caucus_pg_keeper caucus_pg_keeper;

typedef struct caucus_postgres {
    caucus_store_place place; /* label and folder: what messages call it */
    char *where;              /* as given */
    char *label;
    PGconn *db;
    bool warned;   /* a notice or warning came since it was last set to false */
    bool snapshot; /* a transaction that only reads is open: everything is read as of one moment */
    bool prepared; /* the statement of change.c */
    caucus_pg_keeper *keeper;
} caucus_postgres;

/* connect.c */

/* "PostgreSQL DATABASE on HOST", for messages: no user, no password. To be freed; NULL with an error: it cannot be
 * understood, holds a password, or there is no memory. */
char *caucus_pg_label(const char *where, caucus_error *ret_error);
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
/* Are our tables here, of this version? *ret_found false: no tables. */
caucus_status caucus_pg_identify(PGconn *db, const char *label, bool *ret_found, caucus_error *ret_error);
caucus_status caucus_pg_refuse_empty(const char *label, caucus_error *ret_error);

/* Columns of a binary result. */
int64_t caucus_pg_int64(const PGresult *result, int row, int column); /* int8; 0 if NULL */
bool caucus_pg_bytes(const PGresult *result, int row, int column, size_t size, uint8_t *ret);
bool caucus_pg_piece(const PGresult *result, int row, int column, caucus_piece *ret);

/* rows.c: of the table of operations. */
caucus_status caucus_pg_look(caucus_store_place *place, bool *ret_found, caucus_store_row *ret,
                             caucus_error *ret_error);
caucus_status caucus_pg_load(caucus_store_place *place, uint32_t chunks, caucus_store_state *ret,
                             caucus_error *ret_error);
caucus_status caucus_pg_announcements(caucus_store_place *place, void (*each)(void *user, const caucus_announcement *),
                                      void *user, caucus_error *ret_error);
caucus_status caucus_pg_ledger(caucus_store_place *place, bool whole, caucus_ledger **ret, caucus_error *ret_error);
/* By whoever looks on, with a connection of its own. */
bool caucus_pg_exists(const char *where);
caucus_status caucus_pg_open_ledger(const char *where, caucus_ledger **ret, caucus_error *ret_error);
caucus_status caucus_pg_peek(const char *where, bool *ret_any, caucus_announcement *ret, caucus_error *ret_error);
caucus_status caucus_pg_request_stop(const char *where, caucus_error *ret_error);
/* End the transaction that look() began. */
caucus_status caucus_pg_end_snapshot(caucus_postgres *p, caucus_error *ret_error);

/* change.c */
caucus_status caucus_pg_create(caucus_store_place *place, const caucus_store_row *row, caucus_error *ret_error);
caucus_status caucus_pg_change(caucus_store_place *place, const caucus_store_change *change, caucus_error *ret_error);

/* schema.c */
caucus_status caucus_pg_init(const char *where, caucus_error *ret_error);
caucus_status caucus_pg_check(const char *where, caucus_store_report *ret, caucus_error *ret_error);

caucus_status caucus_pg_held(caucus_store_place *place, bool *ret, caucus_error *ret_error);

/* keeper.c */

/* Take the lock, or CAUCUS_E_BUSY, and keep it from now on. where and label live as long as it does. */
caucus_status caucus_pg_keeper_start(const char *where, const char *label, caucus_pg_keeper **ret,
                                     caucus_error *ret_error);
void caucus_pg_keeper_stop(caucus_pg_keeper *keeper);
bool caucus_pg_keeper_stop_requested(const caucus_pg_keeper *keeper);

#endif
