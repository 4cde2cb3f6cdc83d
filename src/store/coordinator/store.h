/* SPDX-License-Identifier: Apache-2.0 */
/* store.h: what a coordinator must never forget, whatever keeps it.
 * layer: store
 *
 * One commit holds a decision whole: the machine's state, the announcement that says it, and the ledger's lines. It
 * returns only when that is durable; no byte that depends on the decision may leave before.
 *
 * Three rules make this safe with any backend (backend.h):
 *  - Term. Who opens a store raises its term, in a commit of its own, and every later commit is made only if the term
 *    is still that one and the last announcement is the one it follows. So whoever was there before can commit no more,
 *    also if it is still running and believes that it is alone.
 *  - Unknown outcome. A commit is done, or it is not, or nobody can tell: the disk failed while it synced, the
 *    connection broke after the commit was sent. Then nothing is announced, and nothing else is committed, until
 *    caucus_store_settle() has found out.
 *  - Rollback. Beside the store a file of its own (mark.h) says how far it has come; what the store holds is
 *    sealed with the hash chain over all announcements (chain.h). A store behind its mark, or one whose parts
 *    do not belong together, is refused. */
#ifndef CAUCUS_STORE_COORDINATOR_STORE_H
#define CAUCUS_STORE_COORDINATOR_STORE_H

#include <caucus/ledger.h>
#include <caucus/message.h>

#include "algo/coordinator_state.h"

typedef struct caucus_store caucus_store;
struct caucus_store_backend;

/* Where a store is kept. */
typedef struct caucus_store_where {
    /* A directory: SQLite in DIR/coordinator.db, mode 0600 in a directory of mode 0700. "postgresql://...",
     * "postgres://..." or "service=...": tables in that database, made by `caucus store init`. */
    const char *state;
    const char *key_file; /* PostgreSQL: the key file (mark.h); SQLite: NULL */
    /* PostgreSQL: commit only where synchronous_standby_names is what it was when the run was opened, and not empty. */
    bool require_sync;
    /* PostgreSQL: a person says that this is the serial of the last announcement that was made; NULL: nobody does. */
    const uint64_t *promoted;
    const struct caucus_store_backend *backend; /* NULL: what `state` names */
} caucus_store_where;

/* What `caucus store check` shows. */
typedef struct caucus_store_report {
    char server[32];          /* version of the server */
    char synchronous[64];     /* synchronous_standby_names: "" if it waits for none */
    bool tables;              /* ours are there, of this version */
    bool found;               /* a run is in them */
    bool running;             /* a coordinator has it now */
    bool seeded, begun, stop; /* stop: somebody has asked for its end */
    uint8_t plan[32];         /* hash of the plan */
    uint64_t term, announcements, lines;
} caucus_store_report;
/** Databases only. Make the tables, in one transaction.
 *  Returns: CAUCUS_OK, CAUCUS_E_EXISTS (they are there), CAUCUS_E_PATH, CAUCUS_E_NETWORK, CAUCUS_E_IO. */
caucus_status caucus_store_init(const char *state, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Databases only. Bring tables of an older version to this one, in one transaction; nothing to do is no error.
 *  Out:     versions before and after.
 *  Returns: CAUCUS_OK, CAUCUS_E_BUSY (a coordinator is at work), CAUCUS_E_FORMAT (of a newer version), otherwise as
 *           caucus_store_init(). */
caucus_status caucus_store_migrate(const char *state, uint32_t *ret_from, uint32_t *ret_to,
                                   caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Look at a database as a coordinator would: what would be refused is refused. Nothing is changed. */
caucus_status caucus_store_check(const char *state, caucus_store_report *ret,
                                 caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Does this name a database, and not a directory? */
bool caucus_store_is_remote(const char *state);
/** The version of libpq, for people; NULL: built without PostgreSQL. */
const char *caucus_store_postgres_version(void);

/** Open or create.
 *  Returns: CAUCUS_OK, CAUCUS_E_MISMATCH (another plan: the error shows both hashes), CAUCUS_E_CONFLICT (a private run
 *           and a seed, or the other way round), CAUCUS_E_BUSY (in use by another process), CAUCUS_E_PATH
 *           (permissions), CAUCUS_E_FULL, CAUCUS_E_IO, CAUCUS_E_UNKNOWN, CAUCUS_E_DAMAGED (damaged),
 *           CAUCUS_E_ROLLED_BACK (it holds fewer announcements than were made: an older copy, or a log that is damaged
 *           or gone; or it may hold fewer: a database that was promoted), CAUCUS_E_FORMAT (not a store, or one of
 *           another version). */
caucus_status caucus_store_open_where(const caucus_store_where *where, const uint8_t plan_hash[32], bool seeded,
                                      caucus_store **ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** The same for a directory. */
caucus_status caucus_store_open(const char *dir, const uint8_t plan_hash[32], bool seeded, caucus_store **ret,
                                caucus_error *ret_error) CAUCUS_MUST_CHECK;
/* What a coordinator that stands by has seen last. */
typedef struct caucus_store_waiting {
    bool reached; /* the database answers */
    uint64_t term, announcements;
} caucus_store_waiting;
/** Databases only: wait until no coordinator has the run, and then return: whoever opens it now may still find that
 *  another one was faster (CAUCUS_E_BUSY), and waits again. Meanwhile the key file follows what is committed, and a
 *  database that is gone for a while is waited for.
 *  In:      waiting  called if there is something to wait for, and whenever what was seen is something else; NULL:
 *                    nobody asks.
 *  Returns: CAUCUS_OK; what an opening would refuse, as soon as it is seen; what is wrong at the first look. */
caucus_status caucus_store_wait(const caucus_store_where *where, const uint8_t plan_hash[32], bool seeded,
                                void (*waiting)(void *user, const caucus_store_waiting *now), void *user,
                                caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_store_close(caucus_store *store);
/** Is there a store already? */
bool caucus_store_exists(const char *state);

/* The latest committed state of the machine. */
typedef struct caucus_store_state {
    caucus_piece root; /* size 0: none yet */
    caucus_piece *chunk;
    uint32_t chunks;
} caucus_store_state;
/** Free it with caucus_store_state_free(), which wipes. */
caucus_status caucus_store_load(caucus_store *store, caucus_store_state *ret,
                                caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_store_state_free(caucus_store_state *state);

/** From now on keep the last announcement alone, of those that are committed: for a run without an end. What was
 *  announced before stays in the chain, and so in the mark: an older copy is refused as ever. */
void caucus_store_keep_last(caucus_store *store);
/** The serial of the first announcement that is kept. */
uint64_t caucus_store_first(const caucus_store *store);

/** Every announcement kept, in order of its serial (0, 1, 2, ... without gaps; or the last one alone). */
caucus_status caucus_store_announcements(caucus_store *store, void (*each)(void *user, const caucus_announcement *),
                                         void *user, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Commit one decision: the state in parts, its announcement, and ledger lines (text as caucus_ledger_line gives it).
 *  In:      chunk  of all clients, as many as in every commit before; those that have not changed are not written.
 *  Returns: CAUCUS_OK: it is durable; CAUCUS_E_IO, CAUCUS_E_FULL, CAUCUS_E_MEMORY, CAUCUS_E_NETWORK: it is not, and
 *           nothing of it is: send nothing, and either try the same commit again or end; CAUCUS_E_UNKNOWN: send
 *           nothing and settle; CAUCUS_E_FENCED: another coordinator has taken the run over: end; CAUCUS_E_ORDER: the
 *           announcement's serial is not the next one, or an outcome is not settled. */
caucus_status caucus_store_commit(caucus_store *store, const caucus_piece *root, const caucus_piece *chunk,
                                  uint32_t chunks, const caucus_announcement *announcement,
                                  const char *const *ledger_line, size_t ledger_lines,
                                  caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** After CAUCUS_E_UNKNOWN: find out what became of it. Afterwards nothing that was on its way can arrive any more.
 *  Out:     *ret_done  whether it is committed; if not, the same may be committed again.
 *  Returns: CAUCUS_OK, CAUCUS_E_FENCED (as above), otherwise it is still not known: send nothing, try again or end. */
caucus_status caucus_store_settle(caucus_store *store, bool *ret_done, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Keep that the run has begun, before announcement 0 leaves: after a restart only the store can say whether somebody
 *  may have heard it. A commit of its own, once per run.
 *  Returns: as caucus_store_commit(). */
caucus_status caucus_store_begin(caucus_store *store, caucus_error *ret_error) CAUCUS_MUST_CHECK;
bool caucus_store_begun(const caucus_store *store);

/** End the run for good, as `caucus stop` does: commit an announcement that ends it (caucus_announcement_stops) and
 *  leave of the state what is public (algo/coordinator_state.h). A store that was ended so opens as before;
 *  caucus_store_load() gives a root that caucus_coordinator_tally_read() reads, and empty chunks.
 *  Returns: as caucus_store_commit(). */
caucus_status caucus_store_stop(caucus_store *store, const caucus_announcement *last,
                                const caucus_coordinator_tally *tally, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** The last announcement committed, NULL if there is none yet. */
const caucus_announcement *caucus_store_last(const caucus_store *store);

/* A request to end the run, for a coordinator that is running: a file in its directory, or a word in its database. It
 * stays until the run is ended, so it is heard at the latest by the next coordinator that opens the store. */
caucus_status caucus_store_request_stop(const char *state, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** By the coordinator, from any thread: no lock, no waiting. */
bool caucus_store_stop_requested(const caucus_store *store);
void caucus_store_stop_heard(caucus_store *store);
/** From any thread, no lock, no waiting: another coordinator was seen to have the run, so that every commit of this one
 *  will be refused. Not seen is not known: only a commit tells. */
bool caucus_store_taken_over(const caucus_store *store);
/** The error of that, and of a commit that was refused for it. Returns: CAUCUS_E_FENCED. */
caucus_status caucus_store_refuse_fenced(const caucus_store *store, caucus_error *ret_error);

/** End the run of a store that nobody has open, without its plan: nothing of the state is needed for that.
 *  Out:     *ret_last   the last announcement, also if the run was ended before: *ret_before.
 *  Returns: CAUCUS_OK: it is ended; CAUCUS_E_BUSY: a coordinator is running; CAUCUS_E_PATH: no run is kept here;
 *           otherwise as caucus_store_open() and caucus_store_commit(). */
caucus_status caucus_store_end(const caucus_store_where *where, caucus_announcement *ret_last, bool *ret_before,
                               caucus_error *ret_error) CAUCUS_MUST_CHECK;
/* What a store that may be in use holds at this moment. */
typedef struct caucus_store_glance {
    bool found;               /* a run is kept here; otherwise nothing below is set */
    uint8_t plan[32];         /* hash of its plan */
    bool any;                 /* something was announced: `last` */
    caucus_announcement last; /* the last announcement */
} caucus_store_glance;
/** For who wants to know whose run it is before ending it, and who waits for a request to be heard. */
caucus_status caucus_store_peek(const char *state, caucus_store_glance *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Leave nothing of earlier states: after a commit that ended an epoch, and at the end of the run. Never needed for
 *  anything else to be right, so it may be late, and it may fail:
 *  Returns: CAUCUS_OK: no file holds a byte of a state before the last commit; CAUCUS_E_BUSY: somebody reads the store
 *           at this moment; CAUCUS_E_IO, CAUCUS_E_FULL, CAUCUS_E_MEMORY: as said. Whatever was committed is there as
 *           before; try again after the next commit. Closing and opening do the same. */
caucus_status caucus_store_wipe(caucus_store *store, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** The ledger as committed, verified line by line (NULL if none yet). Read-only use (caucus privacy) goes through
 *  caucus_store_open_ledger, which needs no lock.
 *  In:      whole  false: its sums, budget and runs, without releases one by one (caucus_ledger_drop_releases). */
caucus_status caucus_store_ledger(caucus_store *store, bool whole, caucus_ledger **ret,
                                  caucus_error *ret_error) CAUCUS_MUST_CHECK;
caucus_status caucus_store_open_ledger(const char *state, caucus_ledger **ret,
                                       caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** The term of this process: every coordinator that opens the store has a higher one than those before it. */
uint64_t caucus_store_term(const caucus_store *store);
/** Commits so far by this process, and the chunks and the bytes of the state they wrote, for metrics and tests. */
uint64_t caucus_store_commits(const caucus_store *store);
uint64_t caucus_store_chunks_written(const caucus_store *store);
uint64_t caucus_store_bytes_written(const caucus_store *store);

/** Test hook: kill -9 this process at commit number n (from 1), before or after it is made. n = 0: never. */
void caucus_store_fault(caucus_store *store, uint64_t n, bool after);

#endif
