/* SPDX-License-Identifier: Apache-2.0 */
/* server.h: the live coordinator: connections, steps, commits.
 * layer: net
 *
 * One event loop per core, each with its own listener (SO_REUSEPORT), its own connections, buffers and partial sums.
 * Loops parse frames where they lie and add values up from there, a whole batch per wake-up, without waiting for each
 * other (server_impl.h says how). Whoever completes a step (or the clock at its deadline) decides it: merge, decide; a
 * thread commits it and then tells every loop to announce. */
#ifndef CAUCUS_NET_SERVER_H
#define CAUCUS_NET_SERVER_H

#include <caucus/coordinator.h>

#include "net/hub/hub.h"
#include "net/refusals.h"
#include "store/budget.h"
#include "store/coordinator/store.h"

/* A line of the log. What is not known, or does not belong to it, is 0 or NULL. */
typedef struct caucus_log_line {
    int level;         /* 0 error, 1 notice, 2 detail */
    const char *event; /* one word: joined, left, expert, refused, ...; NULL: a remark */
    const char *text;  /* for people; never a loss or a sum */
    uint32_t client;
    bool has_expert; /* it names an expert: its number and, where experts have names, its label */
    uint32_t expert;
    const char *expert_name;
    const char *address, *reason, *certificate, *certificate_serial; /* reason: a word of net/refusals.h */
} caucus_log_line;

typedef struct caucus_server_settings {
    const caucus_plan *plan;
    uint8_t plan_hash[32];
    caucus_key key;                             /* from the operating system, or seeded (NOT PRIVATE) */
    const char *state_dir;                      /* --state: a directory, or a database (store.h) */
    const char *state_key;                      /* --state-key: its key file; NULL for a directory */
    bool require_sync;                          /* of a database: see store.h */
    const uint64_t *promoted;                   /* of a database: see store.h; NULL: nobody says so */
    const struct caucus_store_backend *backend; /* what keeps the store; NULL: what `state_dir` names */
    const char *listen;                         /* host:port; port 0 = any (see caucus_server_port) */
    uint32_t loops;                             /* 0 = one per core */
    const char *cert, *key_file, *client_ca; /* PEM files; all NULL = plain TCP, refused unless `listen` is loopback */
    const char *revoked;                     /* optional file: one client index or certificate serial per line */
    const char *excused;                     /* optional file: clients that nobody waits for (net/excused.h) */
    uint32_t missed;          /* deadlines missed in a row until a client is waited for no more; 0: any */
    uint32_t deadline_ms;     /* a step stays open this long; 0 = until everybody has answered */
    uint32_t quorum;          /* clients needed to close at the deadline (and to start); 0 = all */
    uint32_t tick_ms;         /* announcements leave on multiples of this; 0 = as soon as committed */
    uint32_t max_clients;     /* connections of clients at once; 0 = 2 * clients + 64 */
    uint32_t max_strangers;   /* connections that have not said who they are; 0 = clients + 256 */
    uint32_t linger_ms;       /* how long to stay after the end for clients that have not heard of it */
    bool stay;                /* after that, go on answering who was away, until stopped */
    void (*over)(void *user); /* stay: called once, when it would have ended; from any thread */
    void *over_user;
    caucus_hub_settings relays; /* line.url NULL: none */
    struct caucus_relay *relay; /* this is a relay, not a coordinator (net/relay/relay.h); NULL: it is none */
    caucus_budget budget;       /* the ledger that runs on the same data share; no path: none */
    const char *name;           /* of the run in the ledger; NULL = "live" */
    uint32_t hello_ms,
        stall_ms;       /* a stranger's time to say who it is (0 = 10 s); a frame's, from its first byte (0 = 30 s) */
    bool ignore_claims; /* go on although clients have heard more than is committed: a person knows better */
    uint64_t fault_commit; /* test hook, see caucus_store_fault */
    bool fault_after;
    void (*log)(void *user, const caucus_log_line *line); /* NULL: nobody listens */
    void *log_user;
} caucus_server_settings;

typedef struct caucus_server caucus_server;

/** Check everything and bind, then open the store, restore or begin.
 *  Returns: CAUCUS_OK or what is wrong, named; what is wrong with the settings, files or addresses is found before
 *           anything is written. */
caucus_status caucus_server_open(const caucus_server_settings *settings, caucus_server **ret,
                                 caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_server_close(caucus_server *server);
uint16_t caucus_server_port(const caucus_server *server);

/** Serve until the run is over and the clients have gone, or caucus_server_stop() was called. */
caucus_status caucus_server_run(caucus_server *server, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Stop in order: when the step in hand is decided everybody is told goodbye. It is waited for until its deadline,
 *  without one for linger_ms, and not at all if the run has not begun or nobody is there. Called again: goodbye at
 *  once. Async-signal-safe. */
void caucus_server_stop(caucus_server *server);

/** Read certificates, key, authority and the list of the revoked again. Connections stay; new ones see the new
 *  certificate. What is wrong with the files is logged, and what was read before stays in force. Async-signal-safe. */
void caucus_server_reload(caucus_server *server);

/* What may be shown to anybody: public, or private by construction. Never a sum, never a loss. */
typedef struct caucus_server_status {
    uint32_t clients, present, answered; /* enrolled, connected, answered the step in hand */
    uint32_t waited_for;                 /* of those enrolled: the step in hand is closed when they have answered */
    uint32_t excused, revoked, expired;  /* not waited for, each counted once: on a list; with such a certificate; */
    uint32_t missing;                    /* missed too many deadlines */
    bool excused_broken;                 /* the list of the excused cannot be read: the last good one is in force */
    bool started, finished, seeded;
    caucus_announcement now;
    uint64_t selections, selections_allowed, checks, steps_decided, blocks; /* blocks: or phases */
    uint64_t since_serial, since_block; /* of the announcement with which the expert in force came */
    double epsilon_choices, epsilon_messages, delta, epsilon_spent; /* guarantee of the plan; spent so far on choices */
    double epsilon_device;   /* what the larger of the two comes to for everything one client contributes */
    double epsilon_reserved; /* what this run counts with, from its first release to the end and after it */
    double budget_epsilon, budget_delta, left_epsilon, left_delta; /* of the shared ledger; NAN: none is kept */
    uint64_t bytes_in, bytes_out, reports, refused, commits;
    uint64_t term, unknown_outcomes;           /* of this process: commits of which nobody could tell at first */
    double commit_seconds;                     /* of this process, all of its commits together, in tenths */
    double committing_seconds;                 /* since when a decision is being committed, in tenths; 0: none is */
    uint64_t refused_for[CAUCUS_REASON_COUNT]; /* `refused` by reason */
    uint32_t rollback_claims; /* clients that have heard more than is committed: no step is decided meanwhile */
    bool rolled_back;         /* enough of them: this state is an older copy */
    uint64_t files_out;       /* connections that could not be accepted for want of open files */
    uint32_t strangers;       /* connections that have not said who they are */
    int64_t certificate_ends, client_certificate_ends; /* seconds since 1970: the coordinator's, and the first of those
                                                        * of clients that are connected; 0: none */
    bool reload_failed;                 /* certificates could not be read again: those from before stay in force */
    bool list_broken;                   /* the list of the revoked cannot be read: the last good one stays in force */
    uint32_t looks;                     /* entries of `look`, the latest first */
    caucus_look look[CAUCUS_LOOKS];     /* what was shown of the losses, phase by phase */
    uint64_t scalars_up, scalars_paper; /* received, and what the paper's protocol would have sent by now */
    caucus_hub_status relays;           /* count 0: there are none */
    caucus_relay_status relay[CAUCUS_RELAYS_LISTED];          /* the first of them, one by one */
    double seconds_in_step, deadline_seconds, uptime_seconds; /* tenths: what took how long is nobody's business */
} caucus_server_status;
void caucus_server_get_status(caucus_server *server, caucus_server_status *ret);
/** The same, and who is present (NULL: not asked), for who must not wait for a disk: false, and nothing is written, if
 *  the coordinator has not let go of a decision within wait_ms. */
bool caucus_server_try_status(caucus_server *server, uint32_t wait_ms, caucus_server_status *ret,
                              uint8_t *ret_presence);
/** Announcements so far: serial -> expert, block; for the history strip. Returns how many there are; fills at most
 *  `room` from `first`. */
uint64_t caucus_server_history(caucus_server *server, uint64_t first, caucus_announcement *ret, uint32_t room);
/** The first announcement that caucus_server_history() still has: 0, or a later one in a run without an end. */
uint64_t caucus_server_history_from(caucus_server *server);
/** Presence of each client: 0 away, 1 present, 2 answered. ret has `clients` bytes. */
void caucus_server_presence(caucus_server *server, uint8_t *ret);

#endif
