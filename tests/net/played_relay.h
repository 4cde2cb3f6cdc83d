/* SPDX-License-Identifier: Apache-2.0 */
/* played_relay.h: relays that a test plays, against a coordinator of this process and a real nats-server: the codec of
 * sealed messages and the machine that counts, but none of the code that a relay has for when to send what. So a test
 * says what is sent, in which order, and how it is wrong. */
#ifndef CAUCUS_TEST_PLAYED_RELAY_H
#define CAUCUS_TEST_PLAYED_RELAY_H

#include "net/server_testing.h"

#include <sys/wait.h>

#include "algo/relayed/relayed.h"
#include "relay/keys.h"
#include "relay/saying.h"
#include "store/clock.h"

#define PLAYED_CLIENTS 4u
#define PLAYED_ROUNDS 24u

/* ---- a nats-server ---- */

typedef struct broker {
    char dir[64], url[64];
    pid_t pid;
} broker;

/* Its configuration, in force when it is started, or told by SIGHUP. */
static inline void broker_configure(const broker *b, const char *text) {
    char file[128];
    (void)snprintf(file, sizeof file, "%s/nats.conf", b->dir);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
    if (b->pid > 0)
        assert_int_equal(kill(b->pid, SIGHUP), 0);
}

static inline void broker_open_as(broker *b, const char *configuration) {
    char file[128], text[512], own[128];
    *b = (broker){.dir = "/tmp/caucus-nats-XXXXXX"};
    assert_non_null(mkdtemp(b->dir));
    broker_configure(b, configuration);
    (void)snprintf(own, sizeof own, "%s/nats.conf", b->dir);
    b->pid = forked();
    if (b->pid == 0) {
        const int null = open("/dev/null", O_RDWR);
        (void)dup2(null, 1);
        (void)dup2(null, 2);
        (void)setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin", 1);
        (void)execlp("nats-server", "nats-server", "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", b->dir, "-c", own,
                     NULL);
        _exit(127);
    }
    (void)snprintf(file, sizeof file, "%s/nats-server_%ld.ports", b->dir, (long)b->pid);
    for (int tries = 0; tries < PATIENCE_MS / 10 && !b->url[0]; tries++) {
        FILE *in = fopen(file, "r");
        const size_t size = in ? fread(text, 1, sizeof text - 1, in) : 0;
        unsigned port = 0;
        text[size] = '\0';
        const char *at = strstr(text, "127.0.0.1:");
        if (at && strchr(at, ']') && sscanf(at, "127.0.0.1:%5u", &port) == 1)
            (void)snprintf(b->url, sizeof b->url, "nats://127.0.0.1:%u", port);
        if (in)
            (void)fclose(in);
        (void)poll(NULL, 0, 10);
    }
    assert_true(b->url[0] != '\0');
}

static inline void broker_open(broker *b) {
    broker_open_as(b, "");
}

static inline void broker_close(broker *b) {
    char command[128];
    (void)kill(b->pid, SIGKILL);
    (void)waitpid(b->pid, NULL, 0);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", b->dir);
    assert_int_equal(system(command), 0);
}

/* ---- a relay ---- */

typedef struct played {
    uint16_t number;
    const caucus_plan *plan;
    caucus_line *line;
    const caucus_seal_owner *owner;
    uint8_t coordinator[32];
    caucus_seal_about about;
    caucus_seal seal;
    char up[CAUCUS_LINE_SUBJECT_BYTES], down[CAUCUS_LINE_SUBJECT_BYTES];
    caucus_saying say;
    caucus_coordinator *follower;
    caucus_gather *gather;
    uint64_t n;                          /* of the last partial that was taken */
    uint64_t committed, durable, states; /* states: how often one was heard */
    bool started;
    uint64_t session[PLAYED_CLIENTS]; /* of each client that is placed here; 0: it is not */
    caucus_announcement last;
    /* What was last heard of a kind. */
    uint64_t taken_n, outs;
    int taken; /* a caucus_partial_answer; -1: none since it was asked */
    uint32_t names, name[8], out_client;
    uint64_t out_session;
    uint8_t placed_code;
    bool placed_heard;
    bool past;
} played;

static inline void played_open(played *p, uint16_t number, const char *url, const caucus_plan *plan,
                               const uint8_t plan_hash[32], const char *run, const caucus_seal_owner *owner,
                               const caucus_seal_owner *coordinator) {
    caucus_error error = {0};
    *p = (played){.number = number, .plan = plan, .owner = owner, .taken = -1};
    memcpy(p->coordinator, coordinator->public_key, sizeof p->coordinator);
    p->about.relay = number;
    memcpy(p->about.plan, plan_hash, sizeof p->about.plan);
    caucus_seal_run(plan_hash, run, p->about.run);
    caucus_subject(&p->about, true, number, p->up);
    caucus_subject(&p->about, false, number, p->down);
    if (caucus_line_open(&(caucus_line_settings){.url = url, .name = "played"}, &p->line, &error) != CAUCUS_OK)
        fail_msg("nats: %s", error.text);
    assert_int_equal(caucus_line_hear(p->line, p->down), CAUCUS_OK);
    for (int tries = 0; !caucus_line_is_up(p->line) && tries < PATIENCE_MS / 10; tries++)
        (void)poll(NULL, 0, 10);
}

static inline void played_close(played *p) {
    caucus_line_close(p->line);
    caucus_gather_free(p->gather);
    caucus_coordinator_free(p->follower);
    caucus_seal_end(&p->seal);
    caucus_saying_free(&p->say);
}

static inline void played_hear_news(played *p, caucus_hearing *m) {
    p->committed = caucus_hearing_get(m, 8);
    p->started = caucus_hearing_get(m, 1) != 0;
    p->durable = caucus_hearing_get(m, 8);
    p->last = caucus_hearing_announcement(m);
    assert_false(m->failed);
    if (p->follower && p->last.serial == caucus_coordinator_announcement(p->follower)->serial + 1) {
        assert_int_equal(caucus_follower_hear(p->follower, &p->last), CAUCUS_OK);
        caucus_gather_clear(p->gather);
        assert_true(p->durable <= p->n);
    }
}

static inline void played_hear_state(played *p, caucus_hearing *m) {
    (void)caucus_hearing_get(m, 4);
    const uint64_t cost_next = caucus_hearing_get(m, 8), sums_next = caucus_hearing_get(m, 8);
    caucus_gather_free(p->gather);
    caucus_coordinator_free(p->follower);
    p->gather = NULL;
    p->follower = NULL;
    played_hear_news(p, m);
    assert_int_equal(caucus_follower_new(p->plan, &p->last, cost_next, sums_next, &p->follower), CAUCUS_OK);
    assert_int_equal(caucus_gather_new(p->follower, &p->gather), CAUCUS_OK);
    p->states++;
}

static inline void played_hear_placed(played *p, caucus_hearing *m) {
    const uint32_t count = (uint32_t)caucus_hearing_get(m, 4);
    for (uint32_t i = 0; i < count; i++) {
        char text[256];
        (void)caucus_hearing_get(m, 8);
        const uint32_t client = (uint32_t)caucus_hearing_get(m, 4);
        p->placed_code = (uint8_t)caucus_hearing_get(m, 1);
        const uint64_t session = caucus_hearing_get(m, 8), cost = caucus_hearing_get(m, 8);
        const uint64_t sums = caucus_hearing_get(m, 8), answered = caucus_hearing_get(m, 8);
        (void)caucus_hearing_bytes(m, 24);
        caucus_hearing_text(m, text, sizeof text);
        assert_false(m->failed);
        if (p->placed_code != 0)
            continue;
        p->session[client - 1] = session;
        caucus_follower_place(p->follower, client, cost, sums, answered);
    }
    p->placed_heard = true;
}

static inline void played_hear_taken(played *p, caucus_hearing *m) {
    p->taken_n = caucus_hearing_get(m, 8);
    (void)caucus_hearing_get(m, 8);
    p->taken = (int)caucus_hearing_get(m, 1);
    if (p->taken == CAUCUS_ANSWER_TAKEN && p->taken_n > p->n)
        p->n = p->taken_n;
    p->names = (uint32_t)caucus_hearing_get(m, 4);
    assert_true(p->names <= sizeof p->name / sizeof p->name[0]);
    for (uint32_t i = 0; i < p->names; i++)
        p->name[i] = (uint32_t)caucus_hearing_get(m, 4);
    assert_false(m->failed);
}

static inline void played_take(played *p, caucus_letter *letter) {
    uint8_t *open = letter->bytes + 8;
    if (letter->size < CAUCUS_SEAL_MORE_BYTES || p->seal.session == 0 ||
        caucus_seal_take(&p->seal, p->down, letter->bytes, letter->size, open) != CAUCUS_OK)
        return;
    caucus_hearing m = {.at = open, .end = open + (letter->size - CAUCUS_SEAL_MORE_BYTES)};
    switch ((caucus_saying_kind)caucus_hearing_get(&m, 1)) {
    case CAUCUS_SAY_STATE:
        played_hear_state(p, &m);
        break;
    case CAUCUS_SAY_NEWS:
        played_hear_news(p, &m);
        break;
    case CAUCUS_SAY_PLACED:
        played_hear_placed(p, &m);
        break;
    case CAUCUS_SAY_TAKEN:
        played_hear_taken(p, &m);
        break;
    case CAUCUS_SAY_OUT:
        p->outs++;
        p->out_client = (uint32_t)caucus_hearing_get(&m, 4);
        p->out_session = caucus_hearing_get(&m, 8);
        break;
    case CAUCUS_SAY_PAST:
        p->past = true;
        break;
    default:
        break;
    }
}

/* Take what has come, or wait for something for at most so long. */
static inline void played_turn(played *p, int wait_ms) {
    struct pollfd wait = {.fd = caucus_line_wait(p->line), .events = POLLIN};
    (void)poll(&wait, 1, wait_ms);
    for (caucus_letter *letter = caucus_line_take(p->line), *next; letter; letter = next) {
        next = letter->next;
        played_take(p, letter);
        free(letter);
    }
}

#define PLAYED_UNTIL(p, condition)                                                                                     \
    do {                                                                                                               \
        const uint64_t played_end = caucus_clock_ns() + (uint64_t)PATIENCE_MS * 1000000u;                              \
        while (!(condition)) {                                                                                         \
            played_turn(p, 20);                                                                                        \
            if (caucus_clock_ns() > played_end)                                                                        \
                fail_msg("relay %u: %s does not come true", (p)->number, #condition);                                  \
        }                                                                                                              \
    } while (0)

static inline void played_say(played *p) {
    assert_true(caucus_saying_send(&p->say, &p->seal, p->line, p->up));
}

/* Greet, and wait for the answer. Returns: false: there is none within wait_ms. */
static inline bool played_greet(played *p, int wait_ms) {
    caucus_seal_greeted greeted;
    caucus_seal made;
    bool answered = false;
    assert_int_equal(caucus_seal_greet(p->owner, &p->about, &greeted), CAUCUS_OK);
    assert_true(caucus_line_say(p->line, p->up, greeted.greeting, sizeof greeted.greeting));
    for (int waited = 0; !answered && waited < wait_ms; waited += 10) {
        struct pollfd wait = {.fd = caucus_line_wait(p->line), .events = POLLIN};
        (void)poll(&wait, 1, 10);
        for (caucus_letter *letter = caucus_line_take(p->line), *next; letter; letter = next) {
            next = letter->next;
            if (caucus_seal_hear(&greeted, p->coordinator, letter->bytes, letter->size, &made) == CAUCUS_OK) {
                caucus_seal_end(&p->seal);
                p->seal = made;
                answered = true;
            }
            free(letter);
        }
    }
    caucus_seal_forget(&greeted);
    return answered;
}

static inline void played_here(played *p) {
    caucus_saying_begin(&p->say, CAUCUS_SAY_HERE);
    caucus_saying_put(&p->say, p->started ? p->committed : 0, 8);
    played_say(p);
}

/* A session, from the greeting on; whoever was placed here is not any more. */
static inline void played_begin(played *p) {
    const uint64_t states = p->states;
    memset(p->session, 0, sizeof p->session);
    p->n = 0;
    assert_true(played_greet(p, PATIENCE_MS));
    played_here(p);
    PLAYED_UNTIL(p, p->states > states);
    p->past = false;
    caucus_saying_begin(&p->say, CAUCUS_SAY_HISTORY);
    caucus_saying_put(&p->say, 0, 8);
    played_say(p);
    PLAYED_UNTIL(p, p->past);
}

/* Ask for a place. Returns: the code of the refusal; 0: it is placed. */
static inline uint8_t played_place(played *p, uint32_t client, uint64_t heard) {
    caucus_saying_begin(&p->say, CAUCUS_SAY_PLACE);
    caucus_saying_put(&p->say, 1, 4);
    caucus_saying_put(&p->say, 1, 8);
    caucus_saying_put(&p->say, client, 4);
    caucus_saying_put(&p->say, heard, 8);
    caucus_saying_put_text(&p->say, "");
    p->placed_heard = false;
    played_say(p);
    PLAYED_UNTIL(p, p->placed_heard);
    return p->placed_code;
}

static inline void played_left(played *p, uint32_t client, uint64_t session, bool goodbye) {
    caucus_saying_begin(&p->say, CAUCUS_SAY_LEFT);
    caucus_saying_put(&p->say, 1, 4);
    caucus_saying_put(&p->say, client, 4);
    caucus_saying_put(&p->say, session, 8);
    caucus_saying_put(&p->say, goodbye, 1);
    played_say(p);
}

/* Send a partial under a number, without waiting for the answer. */
static inline void played_send(played *p, uint64_t n, const uint8_t *bytes, size_t size) {
    caucus_saying_begin(&p->say, CAUCUS_SAY_PARTIAL);
    caucus_saying_put(&p->say, n, 8);
    caucus_saying_put(&p->say, size, 4);
    caucus_saying_put(&p->say, 0, 4);
    caucus_saying_put_bytes(&p->say, bytes, size);
    p->taken = -1;
    played_say(p);
}

/* And with it: a caucus_partial_answer. */
static inline int played_offer(played *p, uint64_t n, const uint8_t *bytes, size_t size) {
    played_send(p, n, bytes, size);
    PLAYED_UNTIL(p, p->taken >= 0);
    assert_int_equal(p->taken_n, n);
    return p->taken;
}

/* The partial so far; the caller frees it. */
static inline uint8_t *played_partial(const played *p, size_t *ret_size) {
    *ret_size = caucus_gather_bytes(p->gather);
    uint8_t *bytes = malloc(*ret_size);
    assert_non_null(bytes);
    caucus_gather_write(p->gather, bytes);
    return bytes;
}

#endif
