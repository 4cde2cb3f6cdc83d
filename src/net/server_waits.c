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
 * depends on lists, connections and clocks, and on no loss: docs/PRIVACY.md, "Who is waited for".
 *
 * What is written here is written with all locks held (server_impl.h); loops read it under their own. */
#include "net/loop.h"

#include <ctype.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "num/error_line.h"
#include "num/fail.h"
#include "num/little_endian.h"

#define LOOK_MS 1000u

enum { EXCUSED = 1, REVOKED = 2, MISSED = 4, EXPIRED = 8 };

/* Two kinds of chunks of the state, each of 65,536 clients (algo/coordinator_state.h), least significant byte first:
 * how many clients 4, then for each of them, rising: client - first client of the chunk 2, and
 *  - of the first kind: deadlines missed 4;
 *  - of the second: of the serial number of its certificate the length 1, and so many bytes, most significant first.
 * They are apart because the one changes with every deadline and the other hardly ever. */
#define HEAD_BYTES 4u
#define ENTRY_BYTES 6u
#define SERIAL_HEAD_BYTES 3u
#define SERIAL_MOST_BYTES ((CAUCUS_SERIAL_BYTES - 1u) / 2u)

caucus_status caucus_waits_open(caucus_server *s, caucus_error *ret_error) {
    s->waits.off = calloc(s->clients, sizeof *s->waits.off);
    s->waits.missed = calloc(s->clients, sizeof *s->waits.missed);
    s->waits.list = calloc(s->clients, 1);
    s->waits.serial = calloc(s->clients, sizeof *s->waits.serial);
    s->waits.count = s->clients;
    s->waits.serials_changed = true;
    s->waits.kept = s->waits.kept_serials = caucus_coordinator_chunks(s->set.plan);
    if (!s->waits.off || !s->waits.missed || !s->waits.list || !s->waits.serial)
        return caucus_fail_memory(ret_error, "");
    if (!s->set.excused)
        return CAUCUS_OK;
    s->waits.excused = (caucus_excused){.path = s->set.excused, .clients = s->clients};
    bool news = false;
    caucus_status status = caucus_excused_look(&s->waits.excused, s->waits.list, &news, ret_error);
    for (uint32_t i = 0; status == CAUCUS_OK && i < s->clients; i++)
        if (s->waits.list[i]) {
            s->waits.off[i] = EXCUSED;
            s->waits.count--;
        }
    return status;
}

void caucus_waits_close(caucus_server *s) {
    free(s->waits.off);
    free(s->waits.missed);
    free(s->waits.list);
    for (uint32_t i = 0; s->waits.serial && i < s->clients; i++)
        free(s->waits.serial[i]);
    free(s->waits.serial);
}

/* All locks are held. */
static void set_off(caucus_server *s, uint32_t client, uint8_t why, bool on) {
    uint8_t *off = &s->waits.off[client - 1], before = *off;
    *off = on ? before | why : before & (uint8_t)~why;
    if (before == 0 && *off != 0)
        s->waits.count--;
    if (before != 0 && *off == 0)
        s->waits.count++;
}

/* Clients of a chunk; *ret_first is the first one's place in the arrays. */
static uint32_t chunk_clients(const caucus_server *s, uint32_t number, uint32_t *ret_first) {
    *ret_first = number * CAUCUS_CHUNK_CLIENTS;
    return s->clients - *ret_first < CAUCUS_CHUNK_CLIENTS ? s->clients - *ret_first : CAUCUS_CHUNK_CLIENTS;
}

/* A serial number as bytes; 0: none is known, or one that no authority gives out (zero, negative): it is not kept. */
static size_t serial_bytes(const char *serial, uint8_t ret[SERIAL_MOST_BYTES]) {
    size_t size = 0;
    if (!serial || sodium_hex2bin(ret, SERIAL_MOST_BYTES, serial, strlen(serial), NULL, &size, NULL) != 0)
        return 0;
    return size;
}

static bool save_serials(const caucus_server *s, uint32_t number, caucus_piece *chunk) {
    uint8_t bytes[SERIAL_MOST_BYTES];
    uint32_t first, known = 0;
    size_t size = HEAD_BYTES, length;
    const uint32_t count = chunk_clients(s, number, &first);
    for (uint32_t i = 0; i < count; i++)
        if ((length = serial_bytes(s->waits.serial[first + i], bytes)) > 0) {
            size += SERIAL_HEAD_BYTES + length;
            known++;
        }
    if (!caucus_piece_resize(chunk, size))
        return false;
    uint8_t *to = caucus_le_put(chunk->bytes, known, 4);
    for (uint32_t i = 0; i < count; i++)
        if ((length = serial_bytes(s->waits.serial[first + i], bytes)) > 0) {
            to = caucus_le_put(caucus_le_put(to, i, 2), length, 1);
            memcpy(to, bytes, length);
            to += length;
        }
    return true;
}

static bool read_serials(const caucus_piece *chunk, uint32_t clients, char **serial) {
    if (chunk->size < HEAD_BYTES)
        return false;
    const uint8_t *from = chunk->bytes + HEAD_BYTES, *end = chunk->bytes + chunk->size;
    const size_t known = (size_t)caucus_le_get(chunk->bytes, 4);
    uint32_t next = 0;
    for (size_t i = 0; i < known; i++) {
        if ((size_t)(end - from) < SERIAL_HEAD_BYTES)
            return false;
        const uint32_t at = (uint32_t)caucus_le_get(from, 2);
        const size_t length = from[2];
        from += SERIAL_HEAD_BYTES;
        if (at < next || at >= clients || length == 0 || length > SERIAL_MOST_BYTES || (size_t)(end - from) < length)
            return false;
        char text[CAUCUS_SERIAL_BYTES];
        (void)sodium_bin2hex(text, sizeof text, from, length);
        for (char *letter = text; *letter; letter++) /* as OpenSSL writes it */
            *letter = (char)toupper((unsigned char)*letter);
        free(serial[at]);
        serial[at] = strdup(text); /* without memory: as if it had never come */
        from += length;
        next = at + 1;
    }
    return from == end;
}

bool caucus_waits_save(caucus_server *s, caucus_piece *chunk) {
    for (uint32_t k = 0; k < s->waits.kept_serials && s->waits.serials_changed; k++)
        if (!save_serials(s, k, &chunk[s->waits.kept + k]))
            return false;
    s->waits.serials_changed = false;
    for (uint32_t k = 0; k < s->waits.kept; k++) {
        uint32_t first, late = 0;
        const uint32_t count = chunk_clients(s, k, &first), *missed = s->waits.missed + first;
        for (uint32_t i = 0; i < count; i++)
            late += missed[i] > 0;
        if (!caucus_piece_resize(&chunk[k], HEAD_BYTES + (size_t)late * ENTRY_BYTES))
            return false;
        uint8_t *to = caucus_le_put(chunk[k].bytes, late, 4);
        for (uint32_t i = 0; i < count; i++)
            if (missed[i] > 0)
                to = caucus_le_put(caucus_le_put(to, i, 2), missed[i], 4);
    }
    return true;
}

static bool read_chunk(const caucus_piece *chunk, uint32_t clients, uint32_t *missed) {
    if (chunk->size < HEAD_BYTES)
        return false;
    const uint8_t *from = chunk->bytes + HEAD_BYTES;
    const size_t late = (size_t)caucus_le_get(chunk->bytes, 4);
    if (late > clients || chunk->size != HEAD_BYTES + late * ENTRY_BYTES)
        return false;
    uint32_t next = 0;
    for (size_t i = 0; i < late; i++, from += ENTRY_BYTES) {
        const uint32_t at = (uint32_t)caucus_le_get(from, 2), times = (uint32_t)caucus_le_get(from + 2, 4);
        if (at < next || at >= clients || times == 0)
            return false;
        missed[at] = times;
        next = at + 1;
    }
    return true;
}

bool caucus_waits_restore(caucus_server *s, const caucus_piece *chunk) {
    for (uint32_t k = 0; k < s->waits.kept; k++) {
        uint32_t first;
        const uint32_t count = chunk_clients(s, k, &first);
        if (!read_chunk(&chunk[k], count, s->waits.missed + first))
            return false;
    }
    for (uint32_t k = 0; k < s->waits.kept_serials; k++) {
        uint32_t first;
        const uint32_t count = chunk_clients(s, k, &first);
        if (!read_serials(&chunk[s->waits.kept + k], count, s->waits.serial + first))
            return false;
    }
    for (uint32_t i = 1; i <= s->clients && s->set.missed > 0; i++)
        if (s->waits.missed[i - 1] >= s->set.missed) {
            set_off(s, i, MISSED, true);
            caucus_server_log(s, 1, "client %u had missed %u deadlines: it is waited for no more until it is back", i,
                              s->waits.missed[i - 1]);
        }
    return true;
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

/* From a loop, without its lock: change one client, and see whether that closes the step. */
static bool change(caucus_server *s, uint32_t client, uint8_t why, bool on) {
    pthread_mutex_lock(&s->lock);
    bool changes = ((s->waits.off[client - 1] & why) != 0) != on; /* several reasons are only ever taken away */
    if (changes) {
        caucus_step_hold_loops(s);
        set_off(s, client, why, on);
        caucus_waits_recount(s);
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

/* With which certificate it came last; NULL or "": with none. */
static void note_serial(caucus_server *s, uint32_t client, const char *serial) {
    char *copy = serial && serial[0] ? strdup(serial) : NULL; /* without memory: as if it had come with none */
    pthread_mutex_lock(&s->lock);
    char **own = &s->waits.serial[client - 1];
    if (!*own || !copy || strcmp(*own, copy) != 0)
        s->waits.serials_changed = true;
    free(*own);
    *own = copy;
    pthread_mutex_unlock(&s->lock);
}

void caucus_waits_revoked(caucus_server *s, uint32_t client, const char *serial) {
    note_serial(s, client, serial);
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

void caucus_waits_list(caucus_server *s, bool news) {
    bool changed = false;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 1; i <= s->clients; i++) {
        const bool was = (s->waits.off[i - 1] & REVOKED) != 0;
        const char *serial = s->waits.serial[i - 1];
        if ((!news && !was) || caucus_revoked_lists(s->revoked, i, serial ? serial : "-") == was)
            continue;
        if (!changed)
            caucus_step_hold_loops(s);
        changed = true;
        set_off(s, i, REVOKED, !was);
        if (!was && atomic_load(&s->session[i - 1]) == 0)
            caucus_waits_expects_not(s, i);
        caucus_server_log(s, 1,
                          was ? "client %u is let in again: it is waited for again"
                              : "client %u is not let in any more: nobody waits for it",
                          i);
    }
    if (changed) {
        caucus_waits_recount(s);
        caucus_step_release_loops(s);
    }
    pthread_mutex_unlock(&s->lock);
    if (changed)
        caucus_step_look(s);
}

void caucus_waits_joined(caucus_server *s, uint32_t client, const char *serial) {
    pthread_mutex_lock(&s->lock);
    s->waits.missed[client - 1] = 0;
    pthread_mutex_unlock(&s->lock);
    note_serial(s, client, serial);
    (void)change(s, client, REVOKED | EXPIRED, false);
    if (change(s, client, MISSED, false))
        caucus_server_log(s, 1, "client %u is back: it is waited for again", client);
}

void caucus_waits_decided(caucus_server *s) {
    for (uint32_t i = 1; i <= s->clients && s->set.missed > 0; i++) {
        uint64_t cost, sums;
        bool has = false;
        caucus_coordinator_counted(s->machine, i, &cost, &sums, &has);
        uint32_t *missed = &s->waits.missed[i - 1];
        if (has) {
            *missed = 0;
            if (s->waits.off[i - 1] & MISSED)
                caucus_server_log(s, 1, "client %u is back: it is waited for again", i);
            set_off(s, i, MISSED, false);
        } else if (s->overdue && *missed < s->set.missed && ++*missed == s->set.missed) {
            set_off(s, i, MISSED, true);
            caucus_server_log(s, 1, "client %u has missed %u deadlines: it is waited for no more until it is back", i,
                              s->set.missed);
        }
    }
}

bool caucus_waits_all_here(const caucus_server *s, uint32_t present) {
    const uint32_t least = s->set.quorum ? s->set.quorum : 1;
    if (present < least || present < s->waits.count)
        return false;
    for (uint32_t i = 1; i <= s->clients; i++)
        if (caucus_waits_for(s, i) && atomic_load(&s->session[i - 1]) == 0)
            return false;
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
        set_off(s, i, EXCUSED, is);
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

/* Each client that is not waited for is counted once, by the first of these that is true of it. */
void caucus_waits_status(const caucus_server *s, caucus_server_status *ret) {
    ret->waited_for = s->waits.count;
    ret->excused_broken = atomic_load(&s->waits.list_broken);
    for (uint32_t i = 0; i < s->clients; i++) {
        const uint8_t off = s->waits.off[i];
        *(off & EXCUSED   ? &ret->excused
          : off & REVOKED ? &ret->revoked
          : off & EXPIRED ? &ret->expired
                          : &ret->missing) += off != 0;
    }
}
