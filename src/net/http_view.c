/* SPDX-License-Identifier: Apache-2.0 */
/* http_view.c: the view that all status texts are made of.
 *
 * The history can be long (one announcement per block); it is read once, piece by piece, and only its stretches of one
 * expert are kept, the latest CAUCUS_VIEW_STRETCHES of them. */
#include "net/http_view.h"

#include "plan/family.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 64
#define SOON 10 /* seconds: a first look in that time may say when a run began that this process has begun */

/* Bytes of a UTF-8 text that fit into `room`, never half a character. */
static size_t fitting(const char *text, size_t room) {
    size_t length = strlen(text);
    if (length <= room)
        return length;
    length = room;
    while (length > 0 && ((unsigned char)text[length] & 0xc0u) == 0x80u)
        length--;
    return length;
}

caucus_status caucus_view_open(caucus_view *view, caucus_server *server, const caucus_http_settings *settings) {
    memset(view, 0, sizeof *view);
    view->server = server;
    view->plan = settings->plan;
    view->log_dropped = settings->log_dropped;
    view->ended_at = -1;
    for (uint32_t i = 0; i < CAUCUS_VIEW_TOLD; i++)
        view->told[i] = UINT32_MAX;
    const char *name = settings->name && settings->name[0] ? settings->name : "caucus";
    memcpy(view->name, name, fitting(name, sizeof view->name - 1));
    (void)sodium_bin2hex(view->plan_hash, sizeof view->plan_hash, settings->plan_hash, sizeof view->plan_hash / 2);
    if (settings->plan->settings.experts <= CAUCUS_VIEW_EXPERTS) {
        view->in_force = calloc(settings->plan->settings.experts, sizeof *view->in_force);
        if (!view->in_force)
            return CAUCUS_E_MEMORY;
    }
    uint32_t clients = settings->plan->settings.clients;
    if (clients > CAUCUS_VIEW_CLIENTS)
        return CAUCUS_OK;
    view->presence = calloc(clients, 1);
    view->seen_at = calloc(clients, sizeof *view->seen_at);
    view->reported_at = calloc(clients, sizeof *view->reported_at);
    if (!view->presence || !view->seen_at || !view->reported_at) {
        caucus_view_close(view);
        return CAUCUS_E_MEMORY;
    }
    for (uint32_t i = 0; i < clients; i++)
        view->seen_at[i] = view->reported_at[i] = -1;
    return CAUCUS_OK;
}

void caucus_view_close(caucus_view *view) {
    free(view->in_force);
    free(view->presence);
    free(view->seen_at);
    free(view->reported_at);
    view->in_force = NULL;
    view->presence = NULL;
    view->seen_at = view->reported_at = NULL;
}

/* When announcement `serial` came, of those from `first` on that are new since the last look: the latest as long ago as
 * its step is open, those before it one after the other between that look and then. Below 0: before this process. */
static double came_at(const caucus_view *view, uint64_t first, uint64_t serial) {
    const caucus_server_status *s = &view->status;
    const bool begun = !caucus_view_resumed(view) && (s->now.serial == 0 || s->uptime_seconds < SOON);
    if (!view->looked && !begun)
        return -1;
    const double end = fmax(s->uptime_seconds - s->seconds_in_step, view->looked_at);
    const double share = s->now.serial > first ? (double)(serial - first + 1) / (double)(s->now.serial - first + 1) : 1;
    return view->looked_at + (end - view->looked_at) * fmin(share, 1);
}

static void extend(caucus_view *view, const caucus_announcement *announcement, double came) {
    if (view->stretches > 0 && view->stretch[view->stretches - 1].expert == announcement->expert)
        return;
    if (view->stretches > 0)
        caucus_view_stretch_over(view, announcement->block);
    if (view->stretches == CAUCUS_VIEW_STRETCHES) {
        memmove(view->stretch, view->stretch + 1, (CAUCUS_VIEW_STRETCHES - 1) * sizeof view->stretch[0]);
        view->stretches--;
        view->left_off++;
    }
    const caucus_server_status *s = &view->status;
    /* The first that is known of a run without an end may have been in force for long. */
    const bool longer = view->stretches == 0 && s->since_serial < announcement->serial;
    caucus_stretch *last = &view->stretch[view->stretches++];
    last->serial = longer ? s->since_serial : announcement->serial;
    last->block = longer ? s->since_block : announcement->block;
    last->expert = announcement->expert;
    last->seen_at = came;
}

/* How fast blocks go by, from the first one that was seen: what a restart or a wait for clients took does not count. */
static void note_pace(caucus_view *view) {
    const caucus_server_status *s = &view->status;
    if (!s->started)
        return;
    if (view->first_block == 0) {
        view->first_block = s->now.block > 0 ? s->now.block : 1;
        view->first_uptime = s->uptime_seconds;
    }
    if (s->now.block > view->first_block && s->uptime_seconds > view->first_uptime) {
        view->pace_blocks = s->now.block - view->first_block;
        view->pace_seconds = s->uptime_seconds - view->first_uptime;
    }
}

static void note_clients(caucus_view *view) {
    const double now = view->status.uptime_seconds;
    for (uint32_t i = 0; view->presence && i < view->plan->settings.clients; i++) {
        if (view->presence[i] != CAUCUS_VIEW_AWAY)
            view->seen_at[i] = now;
        if (view->presence[i] == CAUCUS_VIEW_ANSWERED)
            view->reported_at[i] = now;
    }
}

bool caucus_view_refresh(caucus_view *view, uint32_t wait_ms) {
    if (!caucus_server_try_status(view->server, wait_ms, &view->status, view->presence))
        return false;
    const caucus_server_status *s = &view->status;
    note_pace(view);
    note_clients(view);
    caucus_recent_note(&view->recent, s->uptime_seconds,
                       &(caucus_recent_counts){s->steps_decided, s->reports, s->refused});
    /* Nothing is announced before the run has started. */
    if (view->status.started) {
        caucus_announcement piece[PIECE];
        uint64_t total;
        if (s->finished && view->ended_at < 0)
            view->ended_at = came_at(view, s->now.serial, s->now.serial);
        const uint64_t from = caucus_server_history_from(view->server);
        if (view->read < from) { /* a run without an end: what came before is not known any more */
            view->read = from;
            view->skipped = true;
        }
        const uint64_t first = view->read;
        do {
            total = caucus_server_history(view->server, view->read, piece, PIECE);
            for (uint32_t i = 0; i < PIECE && view->read < total; i++, view->read++)
                extend(view, &piece[i], came_at(view, first, piece[i].serial));
        } while (view->read < total);
        caucus_view_choose_told(view);
    }
    view->looked = true;
    view->looked_at = s->uptime_seconds;
    return true;
}

const char *caucus_view_state(const caucus_view *view) {
    if (view->status.finished)
        return "finished";
    return view->status.started ? "running" : "waiting";
}

const char *caucus_view_block_word(const caucus_view *view) {
    return caucus_plan_ops_of(view->plan)->phases ? "phase" : "block";
}

uint64_t caucus_view_blocks(const caucus_view *view) {
    return caucus_plan_blocks(view->plan);
}

const char *caucus_view_ask(const caucus_view *view) {
    if (!view->status.started)
        return "nothing yet: waiting for clients to join";
    switch (view->status.now.ask) {
    case CAUCUS_ASK_NOTHING:
        break;
    case CAUCUS_ASK_COST:
        return "one number per client: what the expert in force cost";
    case CAUCUS_ASK_SUMS:
        return "the sums of all experts";
    case CAUCUS_ASK_LEAF:
        return "an estimate for all experts";
    case CAUCUS_ASK_VOTE:
        return "a private vote";
    case CAUCUS_ASK_SHORTLIST:
        return "noisy sums of a shortlist";
    }
    return "nothing more: the expert stays in force to the end";
}

bool caucus_view_overdue(const caucus_view *view) {
    const caucus_server_status *s = &view->status;
    return s->started && !s->finished && s->deadline_seconds > 0 && s->seconds_in_step > s->deadline_seconds &&
           s->now.ask != CAUCUS_ASK_NOTHING;
}

/* Every announcement is one commit, the first one included. */
bool caucus_view_resumed(const caucus_view *view) {
    return view->status.commits <= view->status.now.serial;
}

bool caucus_view_whole(const caucus_view *view) {
    return view->status.finished && !caucus_plan_is_endless(view->plan) &&
           !caucus_announcement_stops(&view->status.now);
}

const caucus_stretch *caucus_view_now(const caucus_view *view) {
    return view->stretches > 0 ? &view->stretch[view->stretches - 1] : NULL;
}

uint32_t caucus_view_expected(const caucus_view *view) {
    if (!view->presence)
        return view->status.present > view->status.answered ? view->status.present - view->status.answered : 0;
    uint32_t expected = 0;
    for (uint32_t i = 0; i < view->plan->settings.clients; i++)
        expected += view->presence[i] == CAUCUS_VIEW_HERE;
    return expected;
}

/* At a deadline alone a step is decided once the quorum has answered. Twice that and ten seconds more mean that it
 * cannot be. */
bool caucus_view_health(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    if (s->rolled_back) {
        (void)fprintf(to, "rolled back: %u clients have heard more than this state holds; nothing more is decided\n",
                      s->rollback_claims);
        return false;
    }
    if (caucus_view_overdue(view) && s->seconds_in_step > 2 * s->deadline_seconds + 10) {
        (void)fprintf(to,
                      "stalled: %u of %u clients have answered, %u are connected; the step is open for %.0f s, "
                      "its deadline was %.0f s\n",
                      s->answered, s->clients, s->present, s->seconds_in_step, s->deadline_seconds);
        return false;
    }
    if (s->committing_seconds > CAUCUS_VIEW_BUSY_SECONDS) {
        (void)fprintf(to, "busy: one decision is being committed for %.0f s: look at the disk, or the database\n",
                      s->committing_seconds);
        return false;
    }
    if (s->list_broken) {
        (void)fputs("the list of the revoked cannot be read: newcomers are told to come again\n", to);
        return false;
    }
    (void)fputs("ok\n", to);
    return true;
}
