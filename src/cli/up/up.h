/* SPDX-License-Identifier: Apache-2.0 */
/* up.h (internal): one live federation on this machine, as `caucus up` sees it.
 * layer: cli
 *
 * up.c reads what is wanted and says in which order things happen; up_files.c makes and removes the directory,
 * up_processes.c starts coordinator and clients and listens to them, up_relays.c nats-server and relays between them,
 * up_page.c shows the status page, up_print.c tells how it went. */
#ifndef CAUCUS_CLI_UP_H
#define CAUCUS_CLI_UP_H

#include "cli/children.h"
#include "cli/options.h"
#include "cli/up/up_compare.h"
#include "cli/wanted.h"
#include "show/choice/history.h"

#define CAUCUS_UP_PATH_BYTES 512
#define CAUCUS_UP_RELAYS_MAX 16u

typedef struct caucus_up {
    caucus_scenario scenario;
    caucus_wanted wanted;
    caucus_prepared prepared;
    const char *file, *keep, *delay, *http, *open, *relay_count; /* as given; NULL: not given */
    char dir[CAUCUS_UP_PATH_BYTES];                              /* "" until it is made */
    char connect[80], page[160];            /* where the coordinator listens, and its page; "" until known */
    caucus_child *child;                    /* the coordinator, m clients; with relays nats-server and they */
    size_t children;                        /* all of them, also those that are not started yet */
    uint32_t relays;                        /* how many; 0: clients speak to the coordinator itself */
    char nats_server[CAUCUS_UP_PATH_BYTES]; /* the program; "" without relays */
    char nats[48], relay_at[CAUCUS_UP_RELAYS_MAX][48]; /* where they listen; "" until known */
    uint32_t *expert;                                  /* [m][T]: what was played */
    uint64_t *played;                                  /* [m] */
    char summary[2048];                                /* the coordinator's last line about the run */
    bool opens;                                        /* the page is to be opened: the coordinator stays for it */
    bool opened;                                       /* something was started that shows it */
    bool shown;                                        /* somebody has loaded it */
    double start, seconds;
    caucus_history found;          /* of somebody's own losses */
    const caucus_history *history; /* NULL: not looked at */
    pid_t watcher;                 /* removes the directory if this process is killed; 0: none */
    int watched;                   /* it waits for the end of this pipe */
} caucus_up;

/** Set by a signal: end everything. */
extern volatile int caucus_up_stop;

/* up_files.c */
typedef char caucus_up_path[CAUCUS_UP_PATH_BYTES + 64];
/** A file of this federation. */
void caucus_up_file(const caucus_up *u, caucus_up_path ret, const char *format, ...) CAUCUS_PRINTF(3, 4);
/** The directory, certificates and the plan. Returns: 0 or an exit code; it has said why. */
int caucus_up_make_files(caucus_up *u);
/** What --keep does not keep. */
void caucus_up_remove_files(caucus_up *u);

/* up_processes.c */
/** Returns: 0 when it listens (u->connect, u->page), or an exit code. */
int caucus_up_start_coordinator(caucus_up *u);
/** Start the clients and listen until the run is over. Returns: 0 or an exit code. */
int caucus_up_play(caucus_up *u);
/** Take what the coordinator says, for at most timeout_ms. Returns: whether it is still there. */
bool caucus_up_listen(caucus_up *u, int timeout_ms);

/** A child ended badly: say so, with the last line of its log. Returns: the code to end with. */
int caucus_up_say_why(const caucus_child *child, const char *what);
/** The line of a child of this program that says where it listens. False: it is another one. */
bool caucus_up_listens_at(const char *line, char *ret, size_t room);

/* up_relays.c */
/** Read --relay-count, and look for nats-server. Returns: 0 or an exit code. */
int caucus_up_relays_wanted(caucus_up *u);
/** nats-server, before the coordinator; the relays, after it. Returns: 0 when they listen, or an exit code. */
int caucus_up_start_nats(caucus_up *u);
int caucus_up_start_relays(caucus_up *u);
/** Which child is nats-server; those after it are the relays. */
size_t caucus_up_nats_child(const caucus_up *u);
/** A line of a relay's output. */
void caucus_up_take_relay_line(caucus_up *u, uint32_t relay, const char *line);
/** To whom a client connects: its own relay first, then the others. */
void caucus_up_relays_for(const caucus_up *u, uint32_t client, char *ret, size_t room);
/** Whether one of them has ended before its time. Returns: 0 or an exit code. */
int caucus_up_check_relays(const caucus_up *u);

/* up_page.c */
/** Read --http and --open: sets u->opens. Returns: 0 or an exit code. */
int caucus_up_page_wanted(caucus_up *u);
/** Say where the page is and, if wanted, have it opened. */
void caucus_up_page_open(caucus_up *u);
/** After the end: keep the page for whoever is looking. */
void caucus_up_page_stay(caucus_up *u);

/* up_print.c */
void caucus_up_print(const caucus_up *u, const caucus_up_compared *compared);
/** The whole number after `key` in a line of JSON. False: there is none. */
bool caucus_up_number(const char *text, const char *key, unsigned long long *ret);

#endif
