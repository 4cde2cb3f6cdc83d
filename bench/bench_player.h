/* SPDX-License-Identifier: Apache-2.0 */
/* bench_player.h: many relays in one process, played: one connection to a real nats-server, a sealed session each,
 * partials whose clients are all in step and neighbours, and a word a second with the chain over what was heard, as
 * real relays send them. What is played is said: the coordinator cannot tell it from relays, and no machine has
 * connections for ten million clients. */
#ifndef CAUCUS_BENCH_PLAYER_H
#define CAUCUS_BENCH_PLAYER_H

#include "bench_process.h"

#include <fcntl.h>
#include <poll.h>

#include "algo/relayed/relayed.h"
#include "num/little_endian.h"
#include "relay/keys.h"
#include "relay/saying.h"
#include "store/clock.h"
#include "store/coordinator/chain.h"

#define PLACES_A_MESSAGE 2000u
#define CHUNK 65536u

/* ---- nats-server, on this machine, without TLS ---- */

typedef struct bench_nats {
    pid_t pid;
    char url[64];
} bench_nats;

/* False: there is none. */
static inline bool bench_nats_start(bench_nats *n, const char *dir) {
    char file[256], text[512];
    *n = (bench_nats){.pid = fork()};
    if (n->pid == 0) {
        const int null = open("/dev/null", O_RDWR);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(null, 1);
        dup2(null, 2);
        setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin", 1);
        execlp("nats-server", "nats-server", "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", dir, NULL);
        _exit(127);
    }
    snprintf(file, sizeof file, "%s/nats-server_%ld.ports", dir, (long)n->pid);
    for (int tries = 0; tries < 500 && !n->url[0] && waitpid(n->pid, NULL, WNOHANG) == 0; tries++) {
        FILE *in = fopen(file, "r");
        const size_t size = in ? fread(text, 1, sizeof text - 1, in) : 0;
        unsigned port = 0;
        text[size] = '\0';
        const char *at = strstr(text, "127.0.0.1:");
        if (at && strchr(at, ']') && sscanf(at, "127.0.0.1:%5u", &port) == 1)
            snprintf(n->url, sizeof n->url, "nats://127.0.0.1:%u", port);
        if (in)
            fclose(in);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return n->url[0] != '\0';
}

/* ---- who is who ---- */

typedef struct bench_keys {
    caucus_seal_owner coordinator, *relay;
    char list[300], coordinator_secret[300], coordinator_public[300], relay_secret[300]; /* files; of relay 1 */
} bench_keys;

static inline void bench_keys_make(bench_keys *k, const char *dir, uint32_t relays) {
    k->relay = calloc(relays, sizeof *k->relay);
    snprintf(k->list, sizeof k->list, "%s/relays.list", dir);
    snprintf(k->coordinator_secret, sizeof k->list, "%s/coordinator.secret", dir);
    snprintf(k->coordinator_public, sizeof k->list, "%s/coordinator.public", dir);
    snprintf(k->relay_secret, sizeof k->list, "%s/relay-1.secret", dir);
    FILE *list = fopen(k->list, "w"), *secret = fopen(k->coordinator_secret, "w"),
         *public_key = fopen(k->coordinator_public, "w"), *relay = fopen(k->relay_secret, "w");
    bool good = list && secret && public_key && relay && caucus_seal_owner_new(&k->coordinator) == CAUCUS_OK &&
                caucus_keys_write_secret(secret, &k->coordinator) &&
                caucus_keys_write_public(public_key, k->coordinator.public_key);
    for (uint32_t i = 0; good && i < relays; i++)
        good = caucus_seal_owner_new(&k->relay[i]) == CAUCUS_OK &&
               caucus_keys_write_listed(list, (uint16_t)(i + 1), k->relay[i].public_key);
    good = good && caucus_keys_write_secret(relay, &k->relay[0]);
    if (!good || fclose(list) + fclose(secret) + fclose(public_key) + fclose(relay) != 0)
        bench_die(dir, "keys could not be written");
}

/* ---- the player ---- */

typedef struct player_settings {
    const char *url;
    const bench_keys *keys;
    uint8_t plan_hash[32];
    uint32_t relays, clients, experts; /* clients are dealt to relays, neighbours together */
    bool sums;                         /* each item has a vector, of zeros; else it is one number, 0 */
} player_settings;

typedef struct player_relay {
    caucus_seal_about about;
    caucus_seal_greeted greeted;
    caucus_seal seal;
    bool has_state, started;
    uint32_t placed;
    uint64_t n, committed;
    uint64_t chained; /* of the announcements, from the first on, so many are in `chain` */
    uint8_t chain[CAUCUS_CHAIN_BYTES];
    caucus_announcement now;
    char up[CAUCUS_LINE_SUBJECT_BYTES], down[CAUCUS_LINE_SUBJECT_BYTES];
    uint64_t here_ns; /* when it last said so */
    uint8_t *partial;
    size_t size;
} player_relay;

typedef struct player {
    const player_settings *set;
    caucus_line *line;
    player_relay *relay;
    caucus_saying say;
} player;

static inline uint32_t player_first(const player_settings *s, uint32_t relay) {
    return (uint32_t)((uint64_t)s->clients * relay / s->relays);
}

/* Its clients as groups, rising; what changes with the step is written when it is sent. */
static inline void player_make_partial(const player *p, uint32_t relay) {
    player_relay *r = &p->relay[relay];
    const uint32_t from = player_first(p->set, relay), to = player_first(p->set, relay + 1);
    const size_t values = p->set->sums ? (size_t)8 * p->set->experts : 0;
    r->partial = calloc(1, 33 + ((size_t)(to - from) / CHUNK + 2) * (8 + CHUNK / 8) + values);
    uint8_t *at = r->partial + 33;
    uint32_t groups = 0;
    for (uint32_t chunk = from / CHUNK; chunk * CHUNK < to; chunk++, groups++) {
        const uint32_t first = chunk * CHUNK, end = first + CHUNK < to ? first + CHUNK : to;
        const uint32_t lo = from > first ? from : first, count = end - lo;
        const uint32_t all = p->set->clients - first < CHUNK ? p->set->clients - first : CHUNK;
        at = caucus_le_put32(caucus_le_put32(at, chunk), count);
        if (count <= 4096) {
            for (uint32_t i = lo; i < end; i++)
                at = caucus_le_put(at, i - first, 2);
        } else {
            for (uint32_t i = lo - first; i < end - first; i++)
                at[i / 8] = (uint8_t)(at[i / 8] | 1u << i % 8);
            at += (all + 7) / 8;
        }
    }
    r->partial[24] = p->set->sums;
    (void)caucus_le_put32(r->partial + 25, groups);
    r->size = (size_t)(at - r->partial) + values;
}

static inline void player_say(player *p, player_relay *r) {
    if (!caucus_saying_send(&p->say, &r->seal, p->line, r->up))
        bench_die("a message was not sent", "NATS");
}

static inline void player_here(player *p, player_relay *r) {
    caucus_saying_begin(&p->say, CAUCUS_SAY_HERE);
    const uint64_t heard = r->started ? r->committed : 0;
    caucus_saying_put(&p->say, heard, 8);
    if (heard > 0 && heard == r->chained)
        caucus_saying_put_bytes(&p->say, r->chain, sizeof r->chain);
    player_say(p, r);
    r->here_ns = caucus_clock_ns();
}

static inline void player_news(player_relay *r, caucus_hearing *m) {
    r->committed = caucus_hearing_get(m, 8);
    r->started = caucus_hearing_get(m, 1) != 0;
    (void)caucus_hearing_get(m, 8);
    r->now = caucus_hearing_announcement(m);
    if (r->now.serial != r->chained)
        return;
    if (r->chained++ == 0)
        caucus_chain_begin(r->about.plan, r->chain);
    caucus_chain_add(r->chain, &r->now);
}

static inline void player_take(player *p, player_relay *r, caucus_letter *letter) {
    uint8_t *open = letter->bytes + 8;
    if (r->seal.session == 0) {
        if (caucus_seal_hear(&r->greeted, p->set->keys->coordinator.public_key, letter->bytes, letter->size,
                             &r->seal) == CAUCUS_OK)
            player_here(p, r);
        return;
    }
    if (letter->size < CAUCUS_SEAL_MORE_BYTES ||
        caucus_seal_take(&r->seal, r->down, letter->bytes, letter->size, open) != CAUCUS_OK)
        return;
    caucus_hearing m = {.at = open, .end = open + (letter->size - CAUCUS_SEAL_MORE_BYTES)};
    const caucus_saying_kind kind = (caucus_saying_kind)caucus_hearing_get(&m, 1);
    if (kind == CAUCUS_SAY_STATE) {
        (void)caucus_hearing_bytes(&m, 20);
        player_news(r, &m);
        if (!r->has_state) {
            r->has_state = true;
            caucus_saying_begin(&p->say, CAUCUS_SAY_HISTORY);
            caucus_saying_put(&p->say, 0, 8);
            player_say(p, r);
        }
    } else if (kind == CAUCUS_SAY_NEWS) {
        player_news(r, &m);
    } else if (kind == CAUCUS_SAY_PLACED) {
        r->placed += (uint32_t)caucus_hearing_get(&m, 4);
    } else if (kind == CAUCUS_SAY_TAKEN) {
        r->n = caucus_hearing_get(&m, 8);
        (void)caucus_hearing_get(&m, 8);
        if (caucus_hearing_get(&m, 1) != CAUCUS_ANSWER_TAKEN)
            bench_die("a partial was refused", "played");
    }
}

static inline void player_turn(player *p) {
    struct pollfd wait = {.fd = caucus_line_wait(p->line), .events = POLLIN};
    (void)poll(&wait, 1, 200);
    for (caucus_letter *letter = caucus_line_take(p->line), *next; letter; letter = next) {
        const uint16_t number = caucus_subject_relay(letter->subject);
        next = letter->next;
        if (number >= 1 && number <= p->set->relays)
            player_take(p, &p->relay[number - 1], letter);
        free(letter);
    }
}

/* Sessions of all, and places for their clients, a message at a time: the coordinator says when it has them. */
static inline void player_begin(player *p) {
    char all[CAUCUS_LINE_SUBJECT_BYTES];
    caucus_error error = {0};
    p->relay = calloc(p->set->relays, sizeof *p->relay);
    if (caucus_line_open(&(caucus_line_settings){.url = p->set->url, .name = "played"}, &p->line, &error) != CAUCUS_OK)
        bench_die("nats", error.text);
    for (uint32_t i = 0; i < p->set->relays; i++) {
        player_relay *r = &p->relay[i];
        r->about.relay = (uint16_t)(i + 1);
        memcpy(r->about.plan, p->set->plan_hash, sizeof r->about.plan);
        caucus_seal_run(p->set->plan_hash, "live", r->about.run);
        caucus_subject(&r->about, true, i + 1, r->up);
        caucus_subject(&r->about, false, i + 1, r->down);
        player_make_partial(p, i);
    }
    caucus_subject(&p->relay[0].about, false, 0, all);
    if (caucus_line_hear(p->line, all) != CAUCUS_OK)
        bench_die("nats", "cannot subscribe");
    for (int tries = 0; tries < 500 && !caucus_line_is_up(p->line); tries++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    for (uint32_t i = 0; i < p->set->relays; i++) {
        player_relay *r = &p->relay[i];
        for (int tries = 0; tries < 200 && !r->has_state; tries++) {
            if (tries % 50 == 0 && caucus_seal_greet(&p->set->keys->relay[i], &r->about, &r->greeted) == CAUCUS_OK)
                (void)caucus_line_say(p->line, r->up, r->greeted.greeting, sizeof r->greeted.greeting);
            player_turn(p);
        }
        if (!r->has_state)
            bench_die("a played relay", "has no session");
    }
    for (uint32_t i = 0; i < p->set->relays; i++) {
        player_relay *r = &p->relay[i];
        const uint32_t to = player_first(p->set, i + 1);
        for (uint32_t from = player_first(p->set, i), count; from < to; from += count) {
            count = to - from < PLACES_A_MESSAGE ? to - from : PLACES_A_MESSAGE;
            const uint32_t placed = r->placed + count;
            caucus_saying_begin(&p->say, CAUCUS_SAY_PLACE);
            caucus_saying_put(&p->say, count, 4);
            for (uint32_t k = 0; k < count; k++) {
                caucus_saying_put(&p->say, k + 1, 8);
                caucus_saying_put(&p->say, from + k + 1, 4);
                caucus_saying_put(&p->say, 0, 8);
                caucus_saying_put_text(&p->say, "");
            }
            player_say(p, r);
            while (r->placed < placed)
                player_turn(p);
        }
        if (i % 8 == 0) /* those that wait are here all the same */
            for (uint32_t k = 0; k < p->set->relays; k++)
                player_here(p, &p->relay[k]);
    }
    while (!p->relay[0].started)
        player_turn(p);
}

/* One step: a partial of each, and the announcement that follows. */
static inline void player_step(player *p) {
    const uint64_t committed = p->relay[0].committed;
    for (uint32_t i = 0; i < p->set->relays; i++) {
        player_relay *r = &p->relay[i];
        while (r->committed < committed || !r->started)
            player_turn(p);
        (void)caucus_le_put(r->partial, r->now.serial, 8);
        (void)caucus_le_put(r->partial + 16, r->now.block, 8);
        caucus_saying_begin(&p->say, CAUCUS_SAY_PARTIAL);
        caucus_saying_put(&p->say, r->n + 1, 8);
        caucus_saying_put(&p->say, r->size, 4);
        caucus_saying_put(&p->say, 0, 4);
        caucus_saying_put_bytes(&p->say, r->partial, r->size);
        player_say(p, r);
        if (caucus_clock_ns() - r->here_ns > 1000000000u) /* once a second, as a relay does */
            player_here(p, r);
    }
    while (p->relay[0].committed == committed)
        player_turn(p);
}

/* A process that plays: commands are numbers of steps, answered when they are done; the first answer says that all
 * are placed. */
static inline void player_run(void *argument, int control) {
    player p = {.set = argument};
    uint32_t steps = 0;
    player_begin(&p);
    for (;;) {
        bench_send(control, &steps, sizeof steps);
        bench_receive(control, &steps, sizeof steps);
        for (uint32_t i = 0; i < steps; i++)
            player_step(&p);
    }
}

#endif
