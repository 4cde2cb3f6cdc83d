/* SPDX-License-Identifier: Apache-2.0 */
/* hall.h: a coordinator machine and links in one process, joined by pipes that break where a test wants them to.
 *
 * The coordinator's side speaks the real wire format and does what a live one does: commits at every close, welcomes
 * with what is committed, repeats its announcements. It also remembers every report frame it ever saw: a second one for
 * the same item must have the same bytes, and none may be counted twice. */
#ifndef CAUCUS_TEST_HALL_H
#define CAUCUS_TEST_HALL_H

#include <caucus/link.h>

#include "algo/federation.h"
#include "link/plain_link.h"
#include "wire/wire.h"

#define PIPE_BYTES 65536
#define HALL_SEEN 8192

typedef struct pipe_buffer {
    uint8_t bytes[PIPE_BYTES];
    size_t size;
} pipe_buffer;

typedef struct seat {
    caucus_link *link;
    bool connected, hello;
    pipe_buffer up, down;
    uint8_t *saved; /* what the link's save was last given */
    size_t saved_bytes;
    bool disk_full;
    uint64_t saves;
    size_t sent; /* bytes handed out on this connection */
    size_t hello_bytes;
    uint32_t expert[512];          /* played, by round */
    uint64_t cost_next, sums_next; /* committed */
    uint32_t handled;              /* calls into the link, for tests that count */
    uint64_t moved_up, moved_down; /* bytes delivered */
} seat;

typedef struct seen_item {
    uint32_t client, kind;
    uint64_t block, epoch_or_leaf;
    uint8_t *frame;
    size_t size;
    unsigned counted, arrived;
} seen_item;

typedef struct hall {
    const caucus_plan *plan;
    caucus_coordinator *coordinator;
    caucus_announcement said[4096];
    uint32_t said_count;
    seat seat[MAX_CLIENTS];
    uint32_t m, d;
    uint8_t hash[32];
    seen_item seen[HALL_SEEN];
    size_t seen_count;
    uint64_t seed;
    bool silent; /* never acknowledge */
} hall;

static inline void client_key(uint64_t seed, uint32_t entity, caucus_key *ret) {
    caucus_key run;
    caucus_key_from_seed(seed, &run);
    caucus_key_derive(&run, entity, ret);
}

static inline bool seat_save(void *user, const uint8_t *bytes, size_t size) {
    seat *s = user;
    if (s->disk_full)
        return false;
    s->saved = realloc(s->saved, size);
    assert_non_null(s->saved);
    memcpy(s->saved, bytes, size);
    s->saved_bytes = size;
    s->saves++;
    return true;
}

/* (Re)start the link of client i from what it saved; key_seed: of its key. */
static inline void hall_start(hall *h, uint32_t i, uint64_t key_seed) {
    seat *s = &h->seat[i];
    caucus_key key;
    caucus_error error = {0};
    client_key(key_seed, i + 1, &key);
    caucus_link_free(s->link);
    s->link = NULL;
    caucus_status status =
        plain_link(h->plan, h->hash, i + 1, &key, s->saved, s->saved_bytes, seat_save, s, &s->link, &error);
    if (status != CAUCUS_OK)
        fail_msg("link: %s %s", error.field, error.text);
    s->connected = s->hello = false;
    s->up.size = s->down.size = 0;
}

static inline void hall_open(hall *h, const caucus_plan *plan, uint64_t seed) {
    memset(h, 0, sizeof *h);
    h->plan = plan;
    h->m = plan->settings.clients;
    h->d = plan->settings.experts;
    h->seed = seed;
    memset(h->hash, 0xa5, sizeof h->hash);
    caucus_key key;
    client_key(seed, 0, &key);
    assert_int_equal(caucus_coordinator_new(plan, &key, &h->coordinator), CAUCUS_OK);
    h->said[h->said_count++] = *caucus_coordinator_announcement(h->coordinator);
    for (uint32_t i = 0; i < h->m; i++)
        hall_start(h, i, seed);
}

static inline void hall_close(hall *h) {
    for (uint32_t i = 0; i < h->m; i++) {
        caucus_link_free(h->seat[i].link);
        free(h->seat[i].saved);
    }
    for (size_t k = 0; k < h->seen_count; k++)
        free(h->seen[k].frame);
    caucus_coordinator_free(h->coordinator);
}

static inline void put_frame(pipe_buffer *to, const caucus_frame *frame) {
    size_t size = caucus_wire_put(frame, to->bytes + to->size, PIPE_BYTES - to->size);
    assert_true(size > 0);
    to->size += size;
}

static inline void announce_to(hall *h, uint32_t i, uint64_t serial) {
    seat *s = &h->seat[i];
    caucus_frame frame = {.kind = CAUCUS_FRAME_ANNOUNCEMENT, .announcement = h->said[serial]};
    if (!h->silent) {
        frame.cost_next = s->cost_next;
        frame.sums_next = s->sums_next;
    }
    put_frame(&s->down, &frame);
}

static inline void hall_connect(hall *h, uint32_t i) {
    seat *s = &h->seat[i];
    s->up.size = s->down.size = 0;
    s->connected = true;
    s->hello = false;
    s->sent = 0;
    caucus_link_connected(s->link, 0);
    assert_non_null(caucus_link_to_send(s->link, &s->hello_bytes));
}

/* The connection breaks: what was under way is lost. lose: the link had handed out all it had, and none of it
 * arrived. */
static inline void hall_break(hall *h, uint32_t i, bool lose) {
    seat *s = &h->seat[i];
    size_t size = 0;
    while (s->connected && lose && caucus_link_to_send(s->link, &size) != NULL)
        caucus_link_sent(s->link, size);
    s->connected = s->hello = false;
    s->up.size = s->down.size = 0;
    caucus_link_disconnected(s->link, 0);
}

static inline void note_item(hall *h, const caucus_report *r, const uint8_t *frame, size_t size, bool counted) {
    size_t k = 0;
    while (k < h->seen_count && !(h->seen[k].client == r->client && h->seen[k].kind == (uint32_t)r->kind &&
                                  h->seen[k].block == r->block && h->seen[k].epoch_or_leaf == r->epoch_or_leaf))
        k++;
    if (k == h->seen_count) {
        assert_true(k < HALL_SEEN);
        h->seen[h->seen_count++] = (seen_item){.client = r->client,
                                               .kind = (uint32_t)r->kind,
                                               .block = r->block,
                                               .epoch_or_leaf = r->epoch_or_leaf,
                                               .frame = malloc(size),
                                               .size = size};
        assert_non_null(h->seen[k].frame);
        memcpy(h->seen[k].frame, frame, size);
    }
    assert_int_equal(h->seen[k].size, size);
    assert_memory_equal(h->seen[k].frame, frame, size); /* never other noise for the same item */
    h->seen[k].arrived++;
    h->seen[k].counted += counted;
    assert_true(h->seen[k].counted <= 1);
}

static inline void hall_decide(hall *h) {
    assert_int_equal(caucus_coordinator_decide(h->coordinator), CAUCUS_OK);
    assert_true(h->said_count < 4096);
    h->said[h->said_count++] = *caucus_coordinator_announcement(h->coordinator);
    for (uint32_t i = 0; i < h->m; i++) {
        bool answered;
        caucus_coordinator_counted(h->coordinator, i + 1, &h->seat[i].cost_next, &h->seat[i].sums_next, &answered);
        if (h->seat[i].hello)
            announce_to(h, i, h->said_count - 1);
    }
}

static inline void hall_hello(hall *h, uint32_t i, const caucus_frame *frame) {
    seat *s = &h->seat[i];
    assert_false(s->hello);
    assert_int_equal(frame->client, i + 1);
    assert_memory_equal(frame->plan, h->hash, 32);
    assert_true(frame->heard <= h->said_count);
    s->hello = true;
    caucus_frame welcome = {.kind = CAUCUS_FRAME_WELCOME, .version = CAUCUS_WIRE_VERSION};
    memcpy(welcome.plan, h->hash, 32);
    if (!h->silent) {
        welcome.cost_next = s->cost_next;
        welcome.sums_next = s->sums_next;
    }
    put_frame(&s->down, &welcome);
    for (uint64_t serial = frame->heard; serial < h->said_count; serial++)
        announce_to(h, i, serial);
}

/* The coordinator reads what has arrived from client i. */
static inline void hall_read(hall *h, uint32_t i) {
    seat *s = &h->seat[i];
    static int64_t scratch[4096];
    for (;;) {
        caucus_frame frame;
        size_t used = 0;
        assert_int_equal(caucus_wire_take(s->up.bytes, s->up.size, h->d, scratch, &used, &frame, NULL), CAUCUS_OK);
        if (used == 0)
            return;
        if (frame.kind == CAUCUS_FRAME_HELLO) {
            hall_hello(h, i, &frame);
        } else if (frame.kind == CAUCUS_FRAME_REPORT) {
            assert_true(s->hello);
            caucus_status status = caucus_coordinator_receive(h->coordinator, &frame.report);
            assert_true(status == CAUCUS_OK || status == CAUCUS_E_DUPLICATE || status == CAUCUS_E_ORDER);
            note_item(h, &frame.report, s->up.bytes, used, status == CAUCUS_OK);
        } else {
            assert_int_equal(frame.kind, CAUCUS_FRAME_GOODBYE);
        }
        memmove(s->up.bytes, s->up.bytes + used, s->up.size - used);
        s->up.size -= used;
        if (h->said[h->said_count - 1].ask != CAUCUS_ASK_NOTHING && caucus_coordinator_waiting(h->coordinator) == 0)
            hall_decide(h);
    }
}

/* Everything of a report that is handed out has been saved before. */
static inline void check_saved(const seat *s, const uint8_t *bytes, size_t size) {
    bool found = false;
    for (size_t at = 0; !found && at + size <= s->saved_bytes; at++)
        found = memcmp(s->saved + at, bytes, size) == 0;
    assert_true(found);
}

/* At most `most` bytes from the link to the coordinator. Returns how many. */
static inline size_t hall_up(hall *h, uint32_t i, size_t most) {
    seat *s = &h->seat[i];
    size_t done = 0, size = 0;
    const uint8_t *bytes;
    while (s->connected && done < most && (bytes = caucus_link_to_send(s->link, &size)) != NULL) {
        size_t n = size < most - done ? size : most - done;
        if (s->sent >= s->hello_bytes)
            check_saved(s, bytes, size);
        assert_true(s->up.size + n <= PIPE_BYTES);
        memcpy(s->up.bytes + s->up.size, bytes, n);
        s->up.size += n;
        s->sent += n;
        s->moved_up += n;
        caucus_link_sent(s->link, n);
        s->handled++;
        hall_read(h, i);
        done += n;
    }
    return done;
}

/* At most `most` bytes from the coordinator to the link. */
static inline size_t hall_down(hall *h, uint32_t i, size_t most) {
    seat *s = &h->seat[i];
    size_t n = s->down.size < most ? s->down.size : most;
    if (n == 0)
        return 0;
    caucus_error error = {0};
    caucus_status status = caucus_link_receive(s->link, s->down.bytes, n, &error);
    if (status != CAUCUS_OK)
        fail_msg("receive: %s %s", error.field, error.text);
    memmove(s->down.bytes, s->down.bytes + n, s->down.size - n);
    s->down.size -= n;
    s->moved_down += n;
    s->handled++;
    return n;
}

/* One round, if it can be played. A round played again after a restart must play the same expert. */
static inline bool hall_play(hall *h, uint32_t i) {
    seat *s = &h->seat[i];
    double row[64];
    if (!caucus_link_ready(s->link))
        return false;
    uint64_t round = caucus_link_round(s->link);
    s->expert[round] = caucus_link_expert(s->link);
    hashed_losses(i + 1, (uint32_t)round + 1, h->d, row);
    caucus_error error = {0};
    caucus_status status = caucus_link_observe(s->link, row, &error);
    if (status != CAUCUS_OK && !(status == CAUCUS_E_SAVE && s->disk_full))
        fail_msg("observe: %s %s", error.field, error.text);
    s->handled++;
    return true;
}

static inline bool hall_done(const hall *h) {
    for (uint32_t i = 0; i < h->m; i++)
        if (!caucus_link_done(h->seat[i].link))
            return false;
    return true;
}

#endif
