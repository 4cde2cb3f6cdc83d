/* SPDX-License-Identifier: Apache-2.0 */
/* server_waits.c: whom a step waits for.
 *
 * A step is closed early when everybody who is waited for has answered, and so many as the quorum asks for (one, where
 * none was given); at its deadline by the quorum, as ever. Nobody waits for a client
 *  - that is excused: a person has put it on a list (excused.h), because it is in repair, or gone;
 *  - that is revoked: it is not let in, as long as the list says so: by its number, or by the serial number of the
 *    certificate that it came with last, which is part of the state: a list that names it is understood while it is
 *    away, and by a coordinator that was started since;
 *  - whose certificate has expired, until it joins with another (or the coordinator is started again);
 *  - that has missed `missed` deadlines in a row, until it is back: until it joins again or answers a step.
 * All of them may answer all the same, if they are there, and what they say is counted as anybody's. Who is waited for
 * depends on lists, connections and clocks, and on no loss: docs/PRIVACY.md, statement 26.
 *
 * What is written here is written with all locks held (server_impl.h); loops read it under their own. */
#include "net/loop.h"

#include <inttypes.h>
#include <stdlib.h>

#include "num/error_line.h"
#include "num/fail.h"

#define LOOK_MS 1000u

enum {
    EXCUSED = CAUCUS_WAITS_EXCUSED,
    REVOKED = CAUCUS_WAITS_REVOKED,
    MISSED = CAUCUS_WAITS_MISSED,
    EXPIRED = CAUCUS_WAITS_EXPIRED
};
enum { LATE = 1, BARRED = 2 }; /* waits.listed */

caucus_status caucus_waits_open(caucus_server *s, caucus_error *ret_error) {
    s->waits.off = calloc(s->clients, sizeof *s->waits.off);
    s->waits.missed = calloc(s->clients, sizeof *s->waits.missed);
    s->waits.late = calloc(s->clients, sizeof *s->waits.late);
    s->waits.barred = calloc(s->clients, sizeof *s->waits.barred);
    s->waits.listed = calloc(s->clients, 1);
    s->waits.list = calloc(s->clients, 1);
    s->waits.count = s->clients;
    s->waits.kept = s->waits.kept_serials = caucus_coordinator_chunks(s->set.plan);
    s->waits.missed_changed = calloc(s->waits.kept, 1);
    if (!s->waits.off || !s->waits.missed || !s->waits.late || !s->waits.barred || !s->waits.listed || !s->waits.list ||
        !s->waits.missed_changed || !caucus_serials_open(&s->waits.serials, s->clients))
        return caucus_fail_memory(ret_error, "");
    if (!s->set.excused)
        return CAUCUS_OK;
    s->waits.excused = (caucus_excused){.path = s->set.excused, .clients = s->clients};
    bool news = false;
    caucus_status status = caucus_excused_look(&s->waits.excused, s->waits.list, &news, ret_error);
    for (uint32_t i = 0; status == CAUCUS_OK && i < s->clients; i++)
        if (s->waits.list[i])
            caucus_waits_set(s, i + 1, EXCUSED, true);
    return status;
}

void caucus_waits_close(caucus_server *s) {
    free(s->waits.off);
    free(s->waits.missed);
    free(s->waits.late);
    free(s->waits.barred);
    free(s->waits.listed);
    free(s->waits.list);
    free(s->waits.missed_changed);
    caucus_serials_close(&s->waits.serials);
}

/* The place in `why` under which a client is counted that nobody waits for. */
static unsigned reason_of(uint8_t off) {
    return off & EXCUSED ? 0 : off & REVOKED ? 1 : off & EXPIRED ? 2 : 3;
}

/* Put it on a list of those that have to be looked at; taken off again when it is looked at (keep_listed). */
static void enlist(caucus_server *s, uint32_t client, uint8_t which, uint32_t *list, uint32_t *count) {
    if (s->waits.listed[client - 1] & which)
        return;
    s->waits.listed[client - 1] |= which;
    list[(*count)++] = client;
}

/* Keep of a list those of whom `keeps` says so. */
static void keep_listed(caucus_server *s, uint8_t which, uint32_t *list, uint32_t *count,
                        bool (*keeps)(caucus_server *s, uint32_t client, void *user), void *user) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++) {
        const uint32_t client = list[i];
        if (keeps(s, client, user))
            list[kept++] = client;
        else
            s->waits.listed[client - 1] &= (uint8_t)~which;
    }
    *count = kept;
}

void caucus_waits_set(caucus_server *s, uint32_t client, uint8_t why, bool on) {
    uint8_t *off = &s->waits.off[client - 1], before = *off;
    *off = on ? before | why : before & (uint8_t)~why;
    *(before ? &s->waits.why[reason_of(before)] : &s->waits.count) -= 1;
    *(*off ? &s->waits.why[reason_of(*off)] : &s->waits.count) += 1;
    if (*off & REVOKED)
        enlist(s, client, BARRED, s->waits.barred, &s->waits.bars);
}

void caucus_waits_set_missed(caucus_server *s, uint32_t client, uint32_t missed) {
    uint32_t *own = &s->waits.missed[client - 1];
    if (*own == missed)
        return;
    *own = missed;
    if (missed > 0)
        enlist(s, client, LATE, s->waits.late, &s->waits.lates);
    if (s->waits.kept > 0)
        s->waits.missed_changed[(client - 1) / CAUCUS_CHUNK_CLIENTS] = 1;
}

bool caucus_waits_for(const caucus_server *s, uint32_t client) {
    return s->waits.off[client - 1] == 0;
}

/* All locks are held: answers to the step in hand of those who are waited for. */
void caucus_waits_recount(caucus_server *s) {
    uint32_t answered = 0;
    for (uint32_t i = 1; i <= s->clients; i++) {
        uint64_t cost, sums;
        bool has = false;
        if (caucus_waits_for(s, i))
            caucus_coordinator_counted(s->machine, i, &cost, &sums, &has);
        answered += has;
    }
    atomic_store(&s->waits.answered, answered);
}

/* All locks are held: change one client while a step is open. */
static void set_now(caucus_server *s, uint32_t client, uint8_t why, bool on) {
    uint64_t cost, sums;
    bool answered = false;
    const bool before = caucus_waits_for(s, client);
    caucus_waits_set(s, client, why, on);
    if (caucus_waits_for(s, client) == before)
        return;
    caucus_coordinator_counted(s->machine, client, &cost, &sums, &answered);
    if (answered)
        atomic_fetch_add(&s->waits.answered, before ? UINT32_MAX : 1); /* one less, or one more */
}

/* From a loop, without its lock: change one client, and see whether that closes the step. */
static bool change(caucus_server *s, uint32_t client, uint8_t why, bool on) {
    pthread_mutex_lock(&s->lock);
    bool changes = ((s->waits.off[client - 1] & why) != 0) != on; /* several reasons are only ever taken away */
    if (changes) {
        caucus_step_hold_loops(s);
        set_now(s, client, why, on);
        caucus_step_release_loops(s);
    }
    pthread_mutex_unlock(&s->lock);
    if (changes)
        caucus_step_look(s);
    return changes;
}

static void not_let_in(caucus_server *s, uint32_t client, uint8_t why) {
    if (change(s, client, why, true))
        caucus_server_log(s, 1, "client %u is not let in any more: nobody waits for it", client);
}

void caucus_waits_revoked(caucus_server *s, uint32_t client, const char *serial) {
    caucus_serials_note(&s->waits.serials, client, serial);
    not_let_in(s, client, REVOKED);
}

void caucus_waits_refused(caucus_server *s, uint32_t client, const char *serial) {
    if (atomic_load(&s->session[client - 1]) == 0 || caucus_revoked_lists(s->revoked, client, "-"))
        caucus_waits_revoked(s, client, serial);
}

void caucus_waits_expired(caucus_server *s, uint32_t client) {
    not_let_in(s, client, EXPIRED);
}

void caucus_waits_expects_not(caucus_server *s, uint32_t client) {
    if (atomic_exchange(&s->expected[client - 1], 0) == 1)
        atomic_fetch_sub(&s->expected_count, 1);
}

/* A look at the list of the revoked, with all locks held: whether anything has come of it. */
typedef struct look {
    caucus_server *server;
    bool changed;
} look;

static void say_revoked(look *l, uint32_t client, bool on) {
    caucus_server *s = l->server;
    l->changed = true;
    set_now(s, client, REVOKED, on);
    if (on && s->placed && s->placed[client - 1] != 0)
        caucus_hub_remove(s->relays, client, CAUCUS_REFUSAL_IDENTITY, CAUCUS_REVOKED_TEXT);
    if (on && atomic_load(&s->session[client - 1]) == 0)
        caucus_waits_expects_not(s, client);
    caucus_server_log(s, 1,
                      on ? "client %u is not let in any more: nobody waits for it"
                         : "client %u is let in again: it is waited for again",
                      client);
}

/* Of those that were found on the list: which of them are still on it? */
static bool still_revoked(caucus_server *s, uint32_t client, void *user) {
    char serial[CAUCUS_SERIAL_BYTES];
    caucus_serials_of(&s->waits.serials, client, serial, sizeof serial);
    const bool was = (s->waits.off[client - 1] & REVOKED) != 0;
    if (was && caucus_revoked_lists(s->revoked, client, serial))
        return true;
    if (was)
        say_revoked(user, client, false);
    return false;
}

static void found_revoked(void *user, uint32_t client) {
    look *l = user;
    if ((l->server->waits.off[client - 1] & REVOKED) == 0)
        say_revoked(l, client, true);
}

static void take_entry(void *user, uint32_t client, const char *serial) {
    look *l = user;
    if (client != 0 && client <= l->server->clients)
        found_revoked(l, client);
    else if (client == 0)
        caucus_serials_find(&l->server->waits.serials, serial, found_revoked, l);
}

void caucus_waits_list(caucus_server *s, bool news) {
    look l = {.server = s};
    pthread_mutex_lock(&s->lock);
    caucus_step_hold_loops(s); /* before the locks of the list and of serials, as whoever decides a step takes them */
    keep_listed(s, BARRED, s->waits.barred, &s->waits.bars, still_revoked, &l);
    if (news)
        caucus_revoked_each(s->revoked, take_entry, &l);
    caucus_step_release_loops(s);
    pthread_mutex_unlock(&s->lock);
    if (l.changed)
        caucus_step_look(s);
}

void caucus_waits_joined(caucus_loop *loop, uint32_t client, const char *serial) {
    caucus_server *s = loop->server;
    const uint8_t over = REVOKED | EXPIRED | MISSED;
    caucus_serials_note(&s->waits.serials, client, serial);
    pthread_mutex_lock(&loop->lock);
    const bool as_ever = (s->waits.off[client - 1] & over) == 0 && s->waits.missed[client - 1] == 0;
    pthread_mutex_unlock(&loop->lock);
    if (as_ever)
        return;
    pthread_mutex_lock(&s->lock);
    caucus_step_hold_loops(s);
    const bool back = (s->waits.off[client - 1] & MISSED) != 0;
    caucus_waits_set_missed(s, client, 0);
    set_now(s, client, over, false);
    caucus_step_release_loops(s);
    pthread_mutex_unlock(&s->lock);
    caucus_step_look(s);
    if (back)
        caucus_server_log(s, 1, "client %u is back: it is waited for again", client);
}

/* Of those that have missed deadlines: which of them are still away? */
static bool still_late(caucus_server *s, uint32_t client, void *user) {
    uint64_t cost, sums;
    bool has = false;
    (void)user;
    caucus_coordinator_counted(s->machine, client, &cost, &sums, &has);
    if (has) {
        if (s->waits.off[client - 1] & MISSED)
            caucus_server_log(s, 1, "client %u is back: it is waited for again", client);
        caucus_waits_set(s, client, MISSED, false);
        caucus_waits_set_missed(s, client, 0);
    }
    return s->waits.missed[client - 1] > 0;
}

void caucus_waits_decided(caucus_server *s) {
    if (s->set.missed == 0)
        return;
    keep_listed(s, LATE, s->waits.late, &s->waits.lates, still_late, NULL);
    for (uint32_t i = 1; s->overdue && (i = caucus_coordinator_silent(s->machine, i)) <= s->clients; i++) {
        const uint32_t missed = s->waits.missed[i - 1];
        if (missed >= s->set.missed)
            continue;
        caucus_waits_set_missed(s, i, missed + 1);
        if (missed + 1 < s->set.missed)
            continue;
        caucus_waits_set(s, i, MISSED, true);
        caucus_server_log(s, 1, "client %u has missed %u deadlines: it is waited for no more until it is back", i,
                          s->set.missed);
    }
}

bool caucus_waits_all_here(caucus_server *s, uint32_t present) {
    const uint32_t least = s->set.quorum ? s->set.quorum : 1;
    if (present < least || present < s->waits.count)
        return false;
    for (uint32_t i = 0; i < s->clients; i++) { /* beginning with who was missing the last time */
        const uint32_t client = (s->waits.awaited + i) % s->clients + 1;
        if (caucus_waits_for(s, client) && atomic_load(&s->session[client - 1]) == 0) {
            s->waits.awaited = client - 1;
            return false;
        }
    }
    return true;
}

/* The list has changed: who is new on it, and who is off it. */
static void take_list(caucus_server *s) {
    pthread_mutex_lock(&s->lock);
    caucus_step_hold_loops(s);
    for (uint32_t i = 1; i <= s->clients; i++) {
        bool was = (s->waits.off[i - 1] & EXCUSED) != 0, is = s->waits.list[i - 1] != 0;
        if (was != is)
            caucus_server_log(s, 1,
                              is ? "client %u is excused: it is waited for no more"
                                 : "client %u is not excused any more: it is waited for again",
                              i);
        caucus_waits_set(s, i, EXCUSED, is);
    }
    caucus_waits_recount(s);
    caucus_step_release_loops(s);
    pthread_mutex_unlock(&s->lock);
    caucus_step_look(s);
}

void caucus_waits_reload(caucus_loop *loop) {
    caucus_excused_again(&loop->server->waits.excused);
    if (loop->waits_ns != 0)
        loop->waits_ns = loop->now_ns;
}

void caucus_waits_turn(caucus_loop *loop) {
    caucus_server *s = loop->server;
    if (loop->waits_ns == 0 || loop->waits_ns > loop->now_ns)
        return;
    loop->waits_ns = loop->now_ns + LOOK_MS * 1000000u;
    caucus_error error = {0};
    bool news = false;
    caucus_status status = caucus_excused_look(&s->waits.excused, s->waits.list, &news, &error);
    const bool was_broken = atomic_exchange(&s->waits.list_broken, !s->waits.excused.good);
    if (status != CAUCUS_OK) {
        char line[CAUCUS_ERROR_LINE_BYTES];
        caucus_error_line(&error, status, line);
        caucus_server_log(s, 0, "the list of the excused cannot be read: %.300s; the last good one stays in force",
                          line);
    } else if (news) {
        if (was_broken)
            caucus_server_log(s, 1, "the list of the excused can be read again");
        take_list(s);
    }
}

void caucus_waits_status(const caucus_server *s, caucus_server_status *ret) {
    ret->waited_for = s->waits.count;
    ret->excused_broken = atomic_load(&s->waits.list_broken);
    ret->excused = s->waits.why[0];
    ret->revoked = s->waits.why[1];
    ret->expired = s->waits.why[2];
    ret->missing = s->waits.why[3];
}
