/* SPDX-License-Identifier: Apache-2.0 */
/* server_impl.h: what the parts of the coordinator process share.
 * layer: net
 *
 *    server.c         open, run, free; numbers for people
 *    server_restore.c what the store holds, or a state of its own
 *    server_step.c    the machine: count, decide, commit, publish; who speaks for a client
 *    server_commit.c  a decision into the store, by a thread of its own, and what to do if it is not known whether it
 *                     is there
 *    server_waits.c   whom a step waits for
 *    waits/           what is kept of that, and whose certificate is whose
 *    history.c        what was announced
 *    relays/          relays of this coordinator: places, partials
 *    relay/           this is a relay: what takes the place of deciding, committing and the store
 *    server_stop.c    a run that is ended for good
 *    server_budget.c  the ledger that several runs share
 *    loop.c           one event loop: listener, connections, their clocks
 *    loop_input.c     bytes to frames: hello, reports in batches, goodbye
 *    loop_output.c    announcements to bytes, refusals, TLS and plain writes
 *    lobby.c          those who have not said who they are: who has to go if they are too many
 *    descriptors.c    open files: enough for all that may come?
 *    loop_log.c       who came, who went, who was turned away
 *    watch.c          certificates, once a second: who is revoked by now
 *
 * What is shared, and the rules that keep it whole.
 *
 * The machine, store and ledger belong to `lock`. Counting is the exception, since it is what happens all the time: a
 * loop adds reports up in a partial of its own under its own lock, which it takes once per batch and which nobody else
 * wants but while a step is decided. Whoever decides a step holds `lock` and then every loop's: it merges the partials,
 * decides, copies what is to be committed, and lets go; a thread commits, takes all locks again, and publishes. Between
 * the two (`commit.what`) nothing is counted or decided, and the store belongs to that thread. So
 *  - what counting reads of the machine (the announcement in force, the epoch), `commit.what`, `held_ns` and `failure`
 *    are written with all locks held: a loop may read them under its own. A report that comes while a decision is being
 *    committed, or waits for its tick (caucus_commit_closed), waits, and is then counted, or not, by the announcement
 *    that came of it: the loop waits a moment for a commit (caucus_commit_await), and reads no client any further while
 *    one takes longer, or a tick is waited for (`parked`). One that comes after a commit has failed is not counted;
 *  - what belongs to one client in the machine (which of its items are counted) is written by the loop that has the
 *    client's session, under that loop's lock, and by nobody else. A loop counts a report only if the connection it
 *    came by is still in force, and finds out under its own lock; a session is taken from a loop only under that loop's
 *    lock (take_session), or given up by the loop itself when nothing of the connection is left to count (reap). Both
 *    are atomic changes of session[client], so whatever the loop before has written of the client happened before
 *    anything that the next one writes. That is why an item that comes by two connections at once, on two loops, is
 *    counted once: by the time the second is allowed to count, the first one's entry is there to be seen, or the first
 *    one's report is no longer counted (the client sends it again, docs/PROTOCOL.md);
 *  - has everybody answered? Each batch adds to `answered` and then looks at `enough`; whoever changes `enough` then
 *    looks at `answered`. One of the two sees the other, so no step is left open. Finding out that it is time to decide
 *    takes no lock; whether it still is, is looked at again under `lock`.
 *
 * What loops need to announce (history, who is connected) is written after a commit and read without a lock: history
 * grows in chunks that never move. What is durably counted of a client is the machine's (caucus_coordinator_shown), and
 * read under the lock of the loop that has the client. None of it is visited when a step is decided.
 *
 * HELLO takes the lock of its own loop, or of the one that has had the client, and `lock` only if that changes whom a
 * step waits for or may let the run begin: many that come at once wait for nobody but a decision.
 *
 * Order of locks: `lock`, then loops by number. Who holds a loop's lock never asks for `lock`. */
#ifndef CAUCUS_NET_SERVER_IMPL_H
#define CAUCUS_NET_SERVER_IMPL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <time.h>

#include "algo/relayed/relayed.h"
#include "algo/releases.h"
#include "dial/address.h"
#include "dial/tls.h"
#include "net/excused.h"
#include "net/history.h"
#include "net/revoked.h"
#include "net/server.h"
#include "net/waits/serials.h"
#include "plan/ledger.h"
#include "plan/plan.h"
#include "wire/wire.h"

#define CAUCUS_LOOPS_MAX 64u

/* Why nobody waits for a client; the first that is true of it is the one it is counted under. */
enum {
    CAUCUS_WAITS_EXCUSED = 1,
    CAUCUS_WAITS_REVOKED = 2,
    CAUCUS_WAITS_MISSED = 4,
    CAUCUS_WAITS_EXPIRED = 8,
    CAUCUS_WAITS_REASONS = 4
};

typedef struct caucus_loop caucus_loop;

/* What is being committed. */
typedef enum caucus_commit_what {
    CAUCUS_COMMIT_NONE,
    CAUCUS_COMMIT_DECISION, /* the machine, its announcement, lines of the ledger */
    CAUCUS_COMMIT_START,    /* that the run has begun */
    CAUCUS_COMMIT_STOP      /* the end of the run, which the machine has announced, and nothing of the state */
} caucus_commit_what;

/* The commit in hand (server_commit.c). */
typedef struct caucus_commit {
    pthread_t thread;
    pthread_cond_t wake, over; /* of `lock`: there is something to commit, or it is time to end; it is committed */
    bool running, ending;
    caucus_commit_what what; /* written with all locks held; the rest by whoever has begun it, and then the thread */
    uint64_t since_ns;
    _Atomic uint64_t since_shown_ns; /* the same for who holds no lock; 0: there is none */
    _Atomic bool held;               /* `held_ns` is not 0, likewise */
    caucus_announcement announcement;
    caucus_coordinator_tally tally;
    char (*text)[CAUCUS_LEDGER_LINE_BYTES]; /* [lines] */
    const char **line;                      /* [lines] */
    size_t lines;
    caucus_status status; /* what came of it */
    caucus_error error;
    struct { /* of a decision, for when it is committed */
        uint64_t serial;
        uint32_t answered;
        bool ends_epoch, passed;
    } decided;
} caucus_commit;

struct caucus_server {
    caucus_server_settings set; /* strings and plan borrowed from the caller */
    uint32_t clients, experts;
    size_t frame_max; /* longest frame of this plan */
    bool secure;      /* TLS; else plain TCP on loopback */
    SSL_CTX *tls;     /* NULL if not secure; replaced when certificates are read again: under tls_lock */
    pthread_mutex_t tls_lock;
    int64_t expiry_said, expiry_warn_from; /* when it was last said that it expires; since when to say so; loop 0's */
    caucus_revoked *revoked;
    uint16_t port;
    uint32_t loops;
    caucus_loop *loop[CAUCUS_LOOPS_MAX];
    int listener[CAUCUS_LOOPS_MAX]; /* bound before the state is opened; -1: none, or the loop has it */
    int timer;                      /* timerfd, CLOCK_MONOTONIC: deadline of the step, a tick, or the end */
    uint64_t opened_ns;
    int64_t opened_seconds; /* the same moment as the time of day, in seconds since 1970 */
    pthread_mutex_t log_lock;
    pthread_mutex_t shared_lock; /* apart from `lock`: who reads a page must not wait for a commit */
    struct {                     /* of the ledger that several runs share, as last seen */
        caucus_ledger_totals totals;
        struct timespec changed;
        off_t size;
    } shared;

    caucus_hub *relays;         /* NULL: none */
    struct caucus_relay *relay; /* this is a relay: the machine is a follower, store and ledger are NULL */

    pthread_mutex_t lock; /* guards from here to the next remark; the machine: see above */
    caucus_store *store;
    caucus_coordinator *machine;
    caucus_ledger *ledger; /* of this run alone; part of the state */
    caucus_releases releases;
    caucus_piece root, *chunk; /* [chunks]: working space for a commit: the machine's, then those of server_waits.c */
    uint32_t chunks;
    bool wipe_failed; /* and that was logged */
    uint64_t step_ns; /* when the step in hand was opened */
    struct {          /* of the last commit: what the machine holds beyond it is not public if a commit has failed */
        caucus_coordinator_tally tally;
        uint64_t commits, commit_ns;
        double epsilon_spent;
        uint32_t looks;
        caucus_look look[CAUCUS_LOOKS];
    } shown;
    caucus_commit commit;
    uint64_t commit_ns; /* of this process: see caucus_server_status */
    uint64_t held_ns;   /* a verdict is committed and will be announced at this tick; 0: none waits. With all locks */
    bool overdue;       /* its deadline has passed */
    bool begun;         /* = `started`, but under the lock */
    uint64_t finished_ns;
    int64_t strike_ns; /* own pace: when the step in hand is decided, by the clock that is set; 0: by its answers */
    bool passing;      /* the step in hand is passed over instead of decided (caucus_coordinator_pass) */
    uint64_t last_ns;  /* somebody wants to stop: the step in hand is the last, until then at most; 0: nobody does */
    caucus_status failure; /* why the run ends early; read under a loop's lock, too */
    caucus_error failure_error;
    struct {                                /* whom a step waits for (server_waits.c); written with all locks held */
        uint8_t *off;                       /* [m]: why nobody waits for this client; 0: it is waited for */
        uint32_t count;                     /* how many clients are waited for */
        uint32_t why[CAUCUS_WAITS_REASONS]; /* and how many are not, each counted once */
        uint32_t *missed;                   /* [m]: deadlines missed in a row */
        uint32_t *late, lates;  /* [m]: the clients that have missed any, and some that are back; how many */
        uint32_t *barred, bars; /* [m]: the clients that were found revoked, and some that are not any more */
        uint8_t *listed;        /* [m]: in which of the two it is */
        uint32_t awaited; /* the client before one that was not here when the beginning of the run was last looked at */
        uint8_t *missed_changed;  /* [chunks]: since it was saved */
        caucus_excused excused;   /* loop 0 alone */
        uint8_t *list;            /* [m]: loop 0 alone */
        caucus_serials serials;   /* of the certificates with which clients came last; has a lock of its own */
        uint32_t kept;            /* chunks of the state that hold `missed`; 0: in a state of an earlier version none */
        uint32_t kept_serials;    /* likewise of `serials`, behind those */
        _Atomic bool list_broken; /* the list of the excused cannot be read */
        _Atomic uint32_t answered; /* answers to the step in hand of who is waited for */
    } waits;
    /* Without the lock. */

    caucus_announced history;
    _Atomic uint64_t committed;            /* announcements in history */
    _Atomic uint32_t answered;             /* answers to the step in hand, in the machine and in all partials */
    _Atomic uint32_t enough;               /* so many of them close it; UINT32_MAX: none do */
    _Atomic uint32_t enough_waited, least; /* so do so many of those waited for, if at least so many have answered */
    _Atomic bool started;                  /* announcements may be sent */
    _Atomic bool finished;                 /* nothing more is asked */
    _Atomic bool ended;                    /* before its time: `caucus stop` (server_stop.c) */
    _Atomic bool told_over;                /* set.over() was called */
    _Atomic bool last_wanted;              /* caucus_server_stop() was called */
    _Atomic bool stopping;                 /* say goodbye and end */
    _Atomic bool aborting;                 /* end without a word: a commit failed */
    _Atomic bool wipe_due;                 /* an epoch has ended: its state is still in the store's log */
    _Atomic uint64_t term;                 /* of the store, as of the last commit */
    _Atomic uint64_t unknown_outcomes;     /* of this process: see caucus_server_status */
    _Atomic uint64_t sessions;             /* given out so far */
    _Atomic uint32_t start_at;             /* the run may begin with so many present; UINT32_MAX: it has begun */
    _Atomic uint64_t *session; /* [m]: the connection in force: a number times CAUCUS_LOOPS_MAX + loop; 0: away */
    uint16_t *placed;          /* [m]: at which relay it is; 0: at none. NULL: there are none. Written under the lock
                                * of the loop that has had the client, or under all of them */
    _Atomic uint8_t *expected; /* [m]: has joined (or may have, before a restart) and not said goodbye */
    _Atomic uint8_t *claim;    /* [m]: has heard more than is committed here (server_claims.c) */
    _Atomic uint32_t claims;   /* how many of them */
    _Atomic uint32_t present, expected_count, joined;
    _Atomic uint32_t connections; /* of clients: those that have said who they are, until they are closed */
    _Atomic uint64_t reports, scalars_up;
    _Atomic uint64_t refused[CAUCUS_REASON_COUNT];
    _Atomic uint64_t files_out, files_out_ns;  /* connections not accepted for want of files; when that was logged */
    _Atomic bool reload_wanted, reload_failed; /* caucus_server_reload(); what was read before stays in force */
    _Atomic int64_t ends;                      /* when the certificate expires, in seconds since 1970; 0: none */
    _Atomic bool list_broken;                  /* the list of the revoked cannot be read; that was logged */
    caucus_limiter limiter;                    /* of lines about strangers and clients that come and go */
};

/* server_restore.c */

/** What a new state would begin with, before anything is written: a name, or a run that the shared ledger's budget does
 *  not allow, leaves no trace. */
caucus_status caucus_step_reserve(caucus_server *server, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Open the store, and make the machine, its ledger and the history of what it holds, or begin. */
caucus_status caucus_step_restore(caucus_server *server, bool *ret_restored, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/* server_step.c */

/** Restore what the store holds, or begin. */
caucus_status caucus_step_open(caucus_server *server, caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_step_close(caucus_server *server);

/** Count the loop's batch into its partial: answer[i] is the machine's answer to report[i]. Decide the step if that was
 *  the last of it. */
void caucus_step_count(caucus_loop *loop);
/** From now on reports of this client are counted if they come by this session of the loop, and by no other. A
 *  connection that had its place finds out by its session number.
 *  Returns: the session; what was before; and caucus_coordinator_answered() and caucus_coordinator_shown() at the
 *  moment it was taken: afterwards a third connection may have the client, and count for it. */
typedef struct caucus_taken {
    uint64_t session, before;
    uint64_t answered, cost_next, sums_next;
} caucus_taken;
caucus_taken caucus_step_take_session(caucus_loop *loop, uint32_t client);
/** Merge a partial of a relay, if it is the next one, and decide the step if that was the last of it.
 *  Out:     *taken = n, and the items in it; with all locks held.
 *  Returns: as caucus_relayed_take(); CAUCUS_E_ORDER also if nothing is counted at present. */
caucus_status caucus_step_take(caucus_server *server, const caucus_relayed *partial, const caucus_relayed_from *from,
                               uint64_t *taken, uint64_t n, uint32_t *ret_items) CAUCUS_MUST_CHECK;
/** A relay has heard more than is committed, or something else: this is an older copy of the state. */
void caucus_step_rolled_back(caucus_server *server, uint16_t relay, uint64_t heard);
/** All locks are held: end the run, since what it depends on could not be kept. */
void caucus_step_give_up(caucus_server *server, caucus_status status, const caucus_error *error);
/** Somebody has joined: begin, if that is due now. */
void caucus_step_joined(caucus_server *server);
/** Under `lock`: stop all counting, and let it go on. */
void caucus_step_hold_loops(caucus_server *server);
void caucus_step_release_loops(caucus_server *server);
/** Under `lock`: end the run for good, because somebody asked for it. */
void caucus_step_stop(caucus_server *server);
/** Somebody has joined or left, or the clock has rung: start, close or end what is due. */
void caucus_step_look(caucus_server *server);
void caucus_step_clock(caucus_server *server);
/** If caucus_server_stop() was called: the step in hand is the last one of this process. */
void caucus_step_last(caucus_server *server);
/** If an epoch has ended: wipe it off the store. For when the news has been sent. */
void caucus_step_wipe(caucus_server *server);

/** The run is over and whoever was there has heard of it, or was waited for long enough: stop, or stay. */
void caucus_step_over(caucus_server *server);

/** The thread that commits: `lock` is held, and what was to be committed is, or it is certain that it is not, or nobody
 *  can tell. */
void caucus_step_committed(caucus_server *server);

/* server_commit.c */

/** All locks are held, and nothing is being committed: commit this, of a decision with the ledger's lines from
 *  `first_line` on. By the thread, and caucus_step_committed() is called then; before there is one, at once, and
 *  caucus_commit_over() is the caller's.
 *  Returns: CAUCUS_OK: it is begun; anything else: nothing of it may leave. */
caucus_status caucus_commit_begin(caucus_server *server, caucus_commit_what what, size_t first_line,
                                  caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** All locks are held: it is over. Returns: CAUCUS_OK: it is durable; anything else: nothing of it may leave. */
caucus_status caucus_commit_over(caucus_server *server, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Under any of the locks: is there a verdict that is not public, since it is being committed or waits for its tick?
 *  Then nothing is counted: the answer to a report, and what is told of it, would tell the verdict. */
static inline bool caucus_commit_closed(const caucus_server *server) {
    return server->commit.what != CAUCUS_COMMIT_NONE || server->held_ns != 0;
}
/** All locks are held: what was committed is announced at this time; 0: it is public. */
void caucus_commit_hold(caucus_server *server, uint64_t until_ns);
/** Without a lock: wait a moment until that is not so. Returns: false if it still is. */
bool caucus_commit_await(caucus_server *server);
/** Is it so for longer than that, or until a tick? */
bool caucus_commit_is_long(const caucus_server *server);
void caucus_commit_open(caucus_server *server);
/** Start the thread; have it finish what it is at, and end. */
caucus_status caucus_commit_run(caucus_server *server, caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_commit_end(caucus_server *server);
void caucus_commit_close(caucus_server *server);

/* server_waits.c */

caucus_status caucus_waits_open(caucus_server *server, caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_waits_close(caucus_server *server);
/** Deadlines missed and certificates' serial numbers, as waits.kept and waits.kept_serials chunks of the state, and
 *  back (net/waits/waits_state.c). The pieces must be those of last time: what has not changed stays as it was.
 *  Returns: false without memory; false if that is not what was saved. */
bool caucus_waits_save(caucus_server *server, caucus_piece *chunk) CAUCUS_MUST_CHECK;
bool caucus_waits_restore(caucus_server *server, const caucus_piece *chunk) CAUCUS_MUST_CHECK;
/** All locks are held, or nobody else is there yet: from now on, or no longer, nobody waits for it because of this; it
 *  has missed so many deadlines. */
void caucus_waits_set(caucus_server *server, uint32_t client, uint8_t why, bool on);
void caucus_waits_set_missed(caucus_server *server, uint32_t client, uint32_t missed);
/** Is this client waited for? Under any of the locks. */
bool caucus_waits_for(const caucus_server *server, uint32_t client);
/** All locks are held: count again who has answered the step in hand. */
void caucus_waits_recount(caucus_server *server);
/** All locks are held, before a decision: who has missed its deadline, who has not. */
void caucus_waits_decided(caucus_server *server);
/** Under `lock`: is everybody connected who is waited for? */
bool caucus_waits_all_here(caucus_server *server, uint32_t present);
/** From a loop, without its lock: it is cut off, because the list of the revoked has its number or this serial number
 *  (NULL: of no certificate), or because its certificate has expired; somebody who says that he is this client was
 *  turned away because of the list (a client that is connected with another certificate has nothing to do with that);
 *  it has joined, with the certificate of this serial number. */
void caucus_waits_revoked(caucus_server *server, uint32_t client, const char *serial);
void caucus_waits_expired(caucus_server *server, uint32_t client);
void caucus_waits_refused(caucus_server *server, uint32_t client, const char *serial);
void caucus_waits_joined(caucus_loop *loop, uint32_t client, const char *serial);
/** The end of the run is not held up for this client's goodbye: it has said it, or is not let in any more. */
void caucus_waits_expects_not(caucus_server *server, uint32_t client);
/** Loop 0, once a second, without its lock: who is on the list of the revoked, and who is not any more? news: it has
 *  changed; else only those that were found on it are looked up again. */
void caucus_waits_list(caucus_server *server, bool news);
/** Loop 0, once a second: has the list of the excused changed? Or at once, whether it has or not. */
void caucus_waits_turn(caucus_loop *loop);
void caucus_waits_reload(caucus_loop *loop);
void caucus_waits_status(const caucus_server *server, caucus_server_status *ret);

/* server_stop.c */

/** All locks are held: end the run for good, whatever is being asked. The announcement that says so is in the machine
 *  and in the history; it is the caller's to commit and to publish. */
caucus_status caucus_stop_prepare(caucus_server *server, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** A state whose run was ended: refused, unless the coordinator is to stay and tell those who were away. */
caucus_status caucus_stop_restore(caucus_server *server, const caucus_store_state *state,
                                  caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Loop 0, once a second: is the run to be ended? */
void caucus_stop_turn(caucus_loop *loop);

/* server_budget.c */

/** The run's entry of a new state, "NAME #TAG": the tag is made here. */
caucus_status caucus_budget_label(caucus_server *server, char ret[CAUCUS_RUN_NAME_BYTES],
                                  caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Reserve the run in the shared ledger, if there is one, unless it is; `trial`: only look whether it fits. */
caucus_status caucus_budget_open(caucus_server *server, const char *label, bool trial,
                                 caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** What the shared ledger says by now: other runs may have reserved since. */
void caucus_budget_look(caucus_server *server, caucus_server_status *ret);

/* server_claims.c */

/** A client says that it has heard more than was committed. Returns: false if claims are ignored: refuse it. */
bool caucus_claims_note(caucus_server *server, uint32_t client, uint64_t heard, uint64_t committed);
/** It says so no longer, or is revoked. */
void caucus_claims_drop(caucus_server *server, uint32_t client);
/** How many claims are open; while there is one no step is decided. */
uint32_t caucus_claims_open(const caucus_server *server);
/** Enough of them to hold that this state is an older copy. */
bool caucus_claims_rolled_back(const caucus_server *server);

/* watch.c */

/** Loop 0: read certificates, key, authority and lists again; what cannot be used leaves what was read before in
 *  force. */
void caucus_watch_reload(caucus_loop *loop);
/** The certificate in force is this one. */
void caucus_watch_own(caucus_server *server);
/** Look at the list of the revoked, and log when it can no longer be read, or can again. */
void caucus_watch_list(caucus_server *server);

/* descriptors.c */

/** Do others have some of the clients: is it a relay, or has it relays? */
static inline bool caucus_server_is_shared(const caucus_server *server) {
    return server->relay || server->set.relays.line.url;
}
/** Are there enough open files for all that may come? Sets max_clients and max_strangers where they are 0. */
caucus_status caucus_descriptors_check(caucus_server *server, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/* server.c */

void caucus_server_log(caucus_server *server, int level, const char *format, ...) CAUCUS_PRINTF(3, 4);
/** The same with fields; `about` without its text. */
void caucus_server_log_about(caucus_server *server, const caucus_log_line *about, const char *format, ...)
    CAUCUS_PRINTF(3, 4);
void caucus_server_wake(caucus_server *server); /* every loop; async-signal-safe */

#endif
