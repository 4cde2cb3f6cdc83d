/* SPDX-License-Identifier: Apache-2.0 */
/* http_view.h: what the status pages show, taken from the server in one go, and the texts made of it.
 * layer: net
 *
 * A view holds only what is public or private by construction: the plan's words, choices, switches, budget,
 * participation, bytes. There is no way from here to a sum or a loss. */
#ifndef CAUCUS_NET_HTTP_VIEW_H
#define CAUCUS_NET_HTTP_VIEW_H

#include <stdio.h>

#include "net/http.h"
#include "net/page/recent.h"
#include "plan/plan.h"
#include "store/html.h"

#define CAUCUS_VIEW_STRETCHES 256 /* stretches of the history that are kept and shown, the latest */
#define CAUCUS_VIEW_COLOURS 7     /* classes e0..e6 in style.css; the last one is that of all other experts */
#define CAUCUS_VIEW_TOLD 6u       /* experts with a colour of their own, by name in the key of the strip */
#define CAUCUS_VIEW_DOTS 200      /* clients shown one by one; beyond it their density */
#define CAUCUS_VIEW_CELLS 100     /* squares that show it, and rows of the list of the missing, at most */
#define CAUCUS_VIEW_SHOWN 100 /* of the clients that squares stand for are shown one by one, where that is asked for */
#define CAUCUS_VIEW_NAMED 12  /* of the late, and of the away, are named in a sentence; beyond it there is a list */
#define CAUCUS_VIEW_LISTED 1024    /* clients whose presence is in the JSON, one by one */
#define CAUCUS_VIEW_CLIENTS 65536  /* beyond it only their counts */
#define CAUCUS_VIEW_BUSY_SECONDS 1 /* a commit that takes longer than this is worth a word */
#define CAUCUS_VIEW_EXPERTS 65536  /* beyond it nobody counts for how long each was in force */

/* What caucus_server_presence() says of a client. */
enum { CAUCUS_VIEW_AWAY, CAUCUS_VIEW_HERE, CAUCUS_VIEW_ANSWERED };

/* A stretch of announcements with one expert in force. */
typedef struct caucus_stretch {
    uint64_t serial; /* of its first announcement */
    uint64_t block;  /* that announcement's block or phase */
    uint32_t expert;
    double seen_at; /* when it was announced, in seconds since the process started; below 0: before that */
} caucus_stretch;

typedef struct caucus_view {
    caucus_server *server;
    const caucus_plan *plan;
    char name[128];
    char plan_hash[65]; /* hexadecimal */
    caucus_server_status status;
    uint64_t read; /* announcements read from the server so far */
    caucus_stretch stretch[CAUCUS_VIEW_STRETCHES];
    uint32_t stretches;                  /* entries of `stretch` */
    uint32_t told[CAUCUS_VIEW_TOLD];     /* experts, by colour; UINT32_MAX: the colour is free */
    uint64_t left_off;                   /* earlier ones that are no longer kept */
    bool skipped;                        /* announcements came and went before they were read: a run without an end */
    bool looked;                         /* before */
    double ended_at;                     /* when the run was over; below 0: not yet, or before that */
    double looked_at;                    /* the last look, and so far back what is new may have come */
    const _Atomic uint64_t *log_dropped; /* NULL: nobody counts */
    uint64_t first_block;                /* that was in hand when the run was first seen; 0: it was not yet */
    double first_uptime;                 /* and when that was */
    uint64_t pace_blocks;                /* blocks since then, and how long they took */
    double pace_seconds;
    caucus_recent recent;
    /* One per expert: rounds in force, up to the stretch in hand (net/page/experts.c). NULL: more than
     * CAUCUS_VIEW_EXPERTS. */
    uint64_t *in_force;
    /* One per client; NULL above CAUCUS_VIEW_CLIENTS. The times are those of a look, in seconds since the process
     * started; below 0: never. */
    uint8_t *presence;
    double *seen_at, *reported_at;
    uint32_t from; /* of many clients: the first that is wanted one by one, from 1; 0: none is. As one request asks */
} caucus_view;

/** In: settings as of caucus_http_open. Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_view_open(caucus_view *view, caucus_server *server,
                               const caucus_http_settings *settings) CAUCUS_MUST_CHECK;
void caucus_view_close(caucus_view *view);
/** Take the server's present state. Cost: what is new in the history, and 17 bytes per client shown.
 *  Returns: false, and the view is as it was, if the coordinator is busy with one decision for more than wait_ms. */
bool caucus_view_refresh(caucus_view *view, uint32_t wait_ms);

/* Derived, for all texts alike. */
const char *caucus_view_state(const caucus_view *view);      /* "waiting", "running", "finished" */
const char *caucus_view_ask(const caucus_view *view);        /* what the step in hand asks for, for people */
const char *caucus_view_block_word(const caucus_view *view); /* "block" or "phase" */
bool caucus_view_whole(const caucus_view *view);             /* the run was played to the end that its plan has */
uint64_t caucus_view_blocks(const caucus_view *view);        /* of the whole run */
/** The step has been open for more than its deadline allows: too few have answered to decide it. */
bool caucus_view_overdue(const caucus_view *view);
/** This process has gone on with a run that an earlier one began: its own counts are not the whole run's. */
bool caucus_view_resumed(const caucus_view *view);
/** The stretch in force; NULL before the run has started. */
const caucus_stretch *caucus_view_now(const caucus_view *view);
/** Clients that are connected and have not answered the step in hand. */
uint32_t caucus_view_expected(const caucus_view *view);

/* Each writes one whole text; a failing FILE is noticed by the caller (ferror). */
void caucus_view_json(const caucus_view *view, FILE *to);
void caucus_view_metrics(const caucus_view *view, FILE *to);
void caucus_view_page(const caucus_view *view, FILE *to);
/** Returns: true and "ok", or false and why not. */
bool caucus_view_health(const caucus_view *view, FILE *to);

/** 51200 -> 51,200 */
void caucus_put_thousands(FILE *to, uint64_t value);
/** 4.1 kB */
void caucus_put_bytes(FILE *to, uint64_t bytes);
/** "2 h 5 min" */
void caucus_put_duration(FILE *to, double seconds);
/** "3 min ago" and the like, rounded down to what matters. */
void caucus_put_ago(FILE *to, double seconds);

/* The page's figures (http_figures.c, net/page/strip.c): SVG and plain elements that need no script. */
void caucus_figure_bar(FILE *to, double part, double whole, const char *label);
void caucus_figure_strip(const caucus_view *view, FILE *to);
void caucus_figure_look(const caucus_view *view, FILE *to);
void caucus_figure_clock(const caucus_view *view, FILE *to);

/* The cards of the clients (net/page/clients.c), of the step in hand (net/page/step.c) and of the last hour
 * (net/page/charts.c). */
void caucus_view_clients(const caucus_view *view, FILE *to);
void caucus_view_step(const caucus_view *view, FILE *to);
bool caucus_view_has_step(const caucus_view *view);
void caucus_figure_hour(const caucus_view *view, FILE *to);
void caucus_view_relays(const caucus_view *view, FILE *to); /* net/page/relays.c */
/** Who is missing, by number, and since when: the first few. */
void caucus_view_missing(const caucus_view *view, FILE *to);
/** All of them, range by range, where they are too many for the sentence (net/page/missing.c). */
void caucus_view_missing_list(const caucus_view *view, FILE *to);

/* Changes of the expert (net/page/switches.c). */
void caucus_view_switch_word(const caucus_view *view, FILE *to);
void caucus_view_switches(const caucus_view *view, FILE *to);
void caucus_figure_switches(const caucus_view *view, FILE *to);

/* Experts and their shares (net/page/experts.c). */
/** The latest stretch is over: another expert is in force from a block or phase on. */
void caucus_view_stretch_over(caucus_view *view, uint64_t next_block);
/** Rounds (of blocks: as many times their length) that an expert was in force, as far as this process has read. */
uint64_t caucus_view_in_force(const caucus_view *view, uint32_t expert);
/** Choose the experts that the key tells, the one in force among them; who was told before keeps its colour. */
void caucus_view_choose_told(caucus_view *view);
/** Below CAUCUS_VIEW_COLOURS. */
uint32_t caucus_view_colour(const caucus_view *view, uint32_t expert);
void caucus_figure_expert_key(const caucus_view *view, FILE *to);
void caucus_view_history_words(const caucus_view *view, FILE *to);

#endif
