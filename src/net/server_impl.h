/* server_impl.h: what the parts of the coordinator process share.
 * layer: net
 *
 *    server.c         open, run, free; numbers for people
 *    server_step.c    the machine under its lock: count, close, commit, publish
 *    loop.c           one event loop: listener, connections, their clocks
 *    loop_input.c     bytes to frames: hello, reports in batches, goodbye
 *    loop_output.c    announcements to bytes, refusals, TLS and plain writes
 *
 * Two kinds of shared data. The machine, store and ledger are touched under `lock` only. What loops need to announce
 * (history, what is durably counted of each client, who is connected) is written after a commit and read without a
 * lock: history grows in chunks that never move, and counts only ever grow. */
#ifndef CAUCUS_NET_SERVER_IMPL_H
#define CAUCUS_NET_SERVER_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "algo/releases.h"
#include "net/address.h"
#include "net/server.h"
#include "net/tls.h"
#include "wire/wire.h"

#define CAUCUS_LOOPS_MAX 64u
#define CAUCUS_HISTORY_FIRST 64u /* chunk k holds 64 << k announcements: 26 of them hold all serials there can be */
#define CAUCUS_HISTORY_CHUNKS 26u

typedef struct caucus_loop caucus_loop;

struct caucus_server {
    caucus_server_settings set; /* strings and plan borrowed from the caller */
    uint32_t clients, experts;
    size_t frame_max; /* longest frame of this plan */
    SSL_CTX *tls;     /* NULL: plain TCP on loopback */
    caucus_revoked *revoked;
    uint16_t port;
    uint32_t loops;
    caucus_loop *loop[CAUCUS_LOOPS_MAX];
    int timer; /* timerfd, CLOCK_MONOTONIC: deadline of the step, or of the end */
    uint64_t opened_ns;
    pthread_mutex_t log_lock;

    pthread_mutex_t lock; /* guards from here to the next remark */
    caucus_store *store;
    caucus_coordinator *machine;
    caucus_ledger *ledger;
    caucus_releases releases;
    uint8_t *state; /* working space for a commit */
    size_t state_room;
    bool wipe_failed; /* and that was logged */
    uint64_t step_ns; /* when the step in hand was opened */
    struct {          /* of the last commit: what the machine holds beyond it is not public if a commit has failed */
        uint32_t selections, checks;
        double epsilon_spent;
    } shown;
    bool overdue; /* its deadline has passed */
    bool begun;   /* = `started`, but under the lock */
    uint64_t finished_ns;
    caucus_status failure; /* why the run ends early */
    caucus_error failure_error;
    /* Without the lock. */

    caucus_announcement *_Atomic history[CAUCUS_HISTORY_CHUNKS];
    _Atomic uint32_t committed;  /* announcements in history */
    _Atomic bool started;        /* announcements may be sent */
    _Atomic bool finished;       /* nothing more is asked */
    _Atomic bool stopping;       /* say goodbye and end */
    _Atomic bool aborting;       /* end without a word: a commit failed */
    _Atomic bool wipe_due;       /* an epoch has ended: its state is still in the store's log */
    _Atomic uint32_t *cost_next; /* [m], durably counted */
    _Atomic uint32_t *sums_next;
    _Atomic uint64_t *session; /* [m]: number of the connection in force, 0: away */
    _Atomic uint8_t *owed;     /* [m]: has joined (or may have, before a restart) and not said goodbye */
    _Atomic uint64_t sessions; /* last number given */
    _Atomic uint32_t present, owing, joined, connections;
    _Atomic uint64_t bytes_in, bytes_out, reports, refused, scalars_up;
    _Atomic uint64_t refusal_logged_ns;
};

/* server_step.c */

/** Restore what the store holds, or begin. */
caucus_status caucus_step_open(caucus_server *server, caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_step_free(caucus_server *server);

/** Count reports under one lock, and close the step if they complete it. ret[i] is the machine's answer to report[i].
 */
void caucus_step_receive(caucus_server *server, const caucus_report *report, size_t count, caucus_status *ret);
/** Somebody has joined (heard: announcements it has heard), or the clock has rung: start, close or end what is due. */
void caucus_step_look(caucus_server *server, uint32_t heard);
void caucus_step_clock(caucus_server *server);

/** If an epoch has ended: wipe it off the store. For when the news has been sent. */
void caucus_step_wipe(caucus_server *server);

/** The announcement of a serial below `committed`. */
const caucus_announcement *caucus_step_announcement(caucus_server *server, uint32_t serial);

/* server.c */

void caucus_server_log(caucus_server *server, int level, const char *format, ...) CAUCUS_PRINTF(3, 4);
void caucus_server_wake(caucus_server *server); /* every loop; async-signal-safe */
uint64_t caucus_server_now_ns(void);            /* CLOCK_MONOTONIC: somebody who sets the clock changes nothing */

#endif
