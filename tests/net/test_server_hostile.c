/* SPDX-License-Identifier: Apache-2.0 */
/* test_server_hostile.c: whatever peers send, however slowly: it is refused with a reason, it costs a bounded time, and
 * the federation goes on to the same experts. */
#include "net/server_testing.h"
#include "testing_settings.h"

#include <inttypes.h>
#include <netinet/tcp.h>
#include <time.h>

#define SEED 11
#define CLIENTS 3

typedef struct fixture {
    federation f;
    hall h;
    peer *p;
} fixture;

/* patience_ms: for strangers and for half frames; 0: what it is without a test. */
static void open_patient(fixture *x, caucus_algorithm algorithm, caucus_trust trust, uint32_t patience_ms) {
    caucus_settings s = testing_settings(algorithm, trust, CLIENTS, 12, 32, 20);
    s.message = trust == CAUCUS_TRUST_NOBODY ? CAUCUS_MESSAGE_VOTE : CAUCUS_MESSAGE_AUTO;
    federation_open(&x->f, &s, SEED);
    federation_play(&x->f, hashed_losses);
    hall_init(&x->h, x->f.plan, SEED);
    x->h.settings.hello_ms = x->h.settings.stall_ms = patience_ms;
    hall_open(&x->h);
    x->p = calloc(CLIENTS, sizeof *x->p);
    assert_non_null(x->p);
    for (uint32_t i = 0; i < CLIENTS; i++)
        peer_open(&x->p[i], x->f.plan, SEED, i + 1);
}

static void open_fixture(fixture *x, caucus_algorithm algorithm, caucus_trust trust) {
    open_patient(x, algorithm, trust, 0);
}

/* Whatever has happened: the honest clients play the undisturbed run. */
/* A coordinator that is full may say "come again", or nothing at all: then they come again. */
static void come_again(fixture *x) {
    for (uint32_t i = 0; i < CLIENTS; i++) {
        peer *p = &x->p[i];
        if (p->connected || p->over)
            continue;
        caucus_frame hello = hello_of(&x->h, p->index, caucus_client_heard(p->client));
        wire_open(&p->wire, caucus_server_port(x->h.server));
        p->connected = wire_send(&p->wire, &hello);
        if (!p->connected)
            wire_close(&p->wire);
    }
}

static void close_fixture(fixture *x) {
    for (int idle = 0; !peers_over(x->p, CLIENTS); idle++) {
        come_again(x);
        while (peers_turn(x->p, CLIENTS, x->f.plan, hashed_losses, 50))
            idle = 0;
        if (idle > PATIENCE_MS / 50)
            fail_msg("the federation hangs: client 1 has heard %u announcements", x->p[0].announcements);
    }
    hall_wait(&x->h);
    peers_equal(x->p, &x->f);
    for (uint32_t i = 0; i < CLIENTS; i++)
        peer_close(&x->p[i]);
    free(x->p);
    hall_free(&x->h);
    federation_close(&x->f);
}

/* The connection must end, with this refusal before (0: with none). */
static void expect_end(wire_end *w, uint32_t code) {
    caucus_frame frame;
    uint32_t got_code = 0;
    for (;;) {
        int got = wire_receive(w, 12, &frame, PATIENCE_MS);
        assert_true(got >= 0);
        if (got == 0)
            break;
        if (frame.kind == CAUCUS_FRAME_REFUSAL) {
            got_code = frame.code;
            assert_true(strlen(frame.text) > 5);
        }
    }
    assert_int_equal(got_code, code);
    wire_close(w);
}

static void join_as(wire_end *w, const fixture *x, uint32_t client) {
    wire_open(w, caucus_server_port(x->h.server));
    caucus_frame hello = hello_of(&x->h, client, 0), frame;
    assert_true(wire_send(w, &hello));
    assert_int_equal(wire_receive(w, 12, &frame, PATIENCE_MS), 1);
    assert_int_equal(frame.kind, CAUCUS_FRAME_WELCOME);
    assert_memory_equal(frame.plan, x->h.settings.plan_hash, sizeof frame.plan);
}

static void test_garbage(void **state) {
    (void)state;
    fixture x;
    open_fixture(&x, CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    uint64_t word = 88172645463325252u; /* xorshift: any bytes, the same every time */
    for (int k = 0; k < 200; k++) {
        wire_end w;
        uint8_t bytes[64];
        wire_open(&w, caucus_server_port(x.h.server));
        for (size_t i = 0; i < sizeof bytes; i++) {
            word ^= word << 13, word ^= word >> 7, word ^= word << 17;
            bytes[i] = (uint8_t)(word >> 32);
        }
        if (k % 2) /* a length that would be allowed */
            memcpy(bytes, (uint8_t[]){40, 0, 0, 0}, 4);
        assert_true(wire_send_bytes(&w, bytes, sizeof bytes));
        expect_end(&w, CAUCUS_REFUSAL_FORMAT);
    }
    wire_end w;
    wire_open(&w, caucus_server_port(x.h.server));
    assert_true(wire_send_bytes(&w, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 27));
    expect_end(&w, CAUCUS_REFUSAL_FORMAT);
    caucus_server_status now;
    caucus_server_get_status(x.h.server, &now);
    assert_int_equal(now.refused, 201);
    assert_int_equal(now.present, 0);
    close_fixture(&x);
}

static void test_hello(void **state) {
    (void)state;
    fixture x;
    open_fixture(&x, CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    const struct {
        uint32_t version, client;
        uint64_t heard;
        int plan; /* added to a byte of the hash */
        caucus_refusal_code code;
    } bad[] = {{CAUCUS_WIRE_VERSION - 1, 1, 0, 0, CAUCUS_REFUSAL_VERSION},
               {CAUCUS_WIRE_VERSION + 1, 1, 0, 0, CAUCUS_REFUSAL_VERSION},
               {CAUCUS_WIRE_VERSION, 1, 0, 1, CAUCUS_REFUSAL_PLAN},
               {CAUCUS_WIRE_VERSION, 0, 0, 0, CAUCUS_REFUSAL_IDENTITY},
               {CAUCUS_WIRE_VERSION, CLIENTS + 1, 0, 0, CAUCUS_REFUSAL_IDENTITY},
               {CAUCUS_WIRE_VERSION, UINT32_MAX, 0, 0, CAUCUS_REFUSAL_IDENTITY},
               {CAUCUS_WIRE_VERSION, 1, 1, 0, CAUCUS_REFUSAL_LATER}, /* nothing has been said: the run has not begun */
               {CAUCUS_WIRE_VERSION, 1, 2, 0, CAUCUS_REFUSAL_LATER},
               {CAUCUS_WIRE_VERSION, 1, UINT32_MAX, 0, CAUCUS_REFUSAL_LATER},
               {CAUCUS_WIRE_VERSION, 1, (uint64_t)1 << 32, 0, CAUCUS_REFUSAL_LATER},
               {CAUCUS_WIRE_VERSION, 1, UINT64_MAX, 0, CAUCUS_REFUSAL_LATER}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        wire_end w;
        wire_open(&w, caucus_server_port(x.h.server));
        caucus_frame hello = hello_of(&x.h, bad[k].client, bad[k].heard);
        hello.version = bad[k].version;
        hello.plan[31] = (uint8_t)(hello.plan[31] + bad[k].plan);
        assert_true(wire_send(&w, &hello));
        expect_end(&w, bad[k].code);
    }
    caucus_server_status now;
    caucus_server_get_status(x.h.server, &now);
    assert_false(now.started);
    wire_end w;
    int64_t one = 1;
    caucus_frame early = {
        .kind = CAUCUS_FRAME_REPORT,
        .report = {.client = 1, .kind = CAUCUS_ASK_COST, .first = 1, .block = 1, .count = 1, .value = &one}};
    wire_open(&w, caucus_server_port(x.h.server));
    assert_true(wire_send(&w, &early)); /* a report before HELLO */
    expect_end(&w, CAUCUS_REFUSAL_FORMAT);
    join_as(&w, &x, 1);
    caucus_frame twice = hello_of(&x.h, 1, 0);
    assert_true(wire_send(&w, &twice));
    expect_end(&w, CAUCUS_REFUSAL_FORMAT);
    close_fixture(&x);
}

/* A process that died before it was answered leaves a HELLO and an end, which come at once: it takes nobody's place. */
static void test_left_behind(void **state) {
    (void)state;
    fixture x;
    open_fixture(&x, CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    wire_end here, gone;
    join_as(&here, &x, 1);
    for (int k = 0; k < 20; k++) {
        int together = 1;
        wire_open(&gone, caucus_server_port(x.h.server));
        assert_int_equal(setsockopt(gone.fd, IPPROTO_TCP, TCP_CORK, &together, sizeof together), 0);
        caucus_frame hello = hello_of(&x.h, 1, 0);
        assert_true(wire_send(&gone, &hello));
        assert_int_equal(shutdown(gone.fd, SHUT_WR), 0);
        expect_end(&gone, 0);
    }
    caucus_frame frame;
    assert_int_equal(wire_receive(&here, 12, &frame, 100), -1); /* nothing has come: it has its place */
    wire_close(&here);
    close_fixture(&x);
}

/* After HELLO: reports that no honest client sends, each with its refusal. */
static void test_reports(void **state) {
    (void)state;
    int64_t value[12] = {99};
    for (int votes = 0; votes < 2; votes++) {
        fixture x;
        open_fixture(&x, votes ? CAUCUS_ALGORITHM_STOCH : CAUCUS_ALGORITHM_SVT,
                     votes ? CAUCUS_TRUST_NOBODY : CAUCUS_TRUST_COORDINATOR);
        wire_end w;
        caucus_frame bad = {.kind = CAUCUS_FRAME_REPORT};
        caucus_ask kind = votes ? CAUCUS_ASK_VOTE : CAUCUS_ASK_COST;
        uint32_t block = votes ? 2 : 1;
        bad.report =
            (caucus_report){.client = 2, .kind = kind, .first = block, .block = block, .count = 1, .value = value};
        join_as(&w, &x, 1);
        assert_true(wire_send(&w, &bad)); /* in another's name */
        expect_end(&w, CAUCUS_REFUSAL_IDENTITY);
        bad.report.client = 1;
        bad.report.count = votes ? 1 : 2; /* a vote for nobody; two costs */
        join_as(&w, &x, 1);
        assert_true(wire_send(&w, &bad));
        expect_end(&w, CAUCUS_REFUSAL_FORMAT);
        if (!votes) {
            bad.report.kind = CAUCUS_ASK_SUMS;
            bad.report.count = 11; /* d is 12 */
            join_as(&w, &x, 1);
            assert_true(wire_send(&w, &bad));
            expect_end(&w, CAUCUS_REFUSAL_FORMAT);
        }
        bad.report.kind = kind;
        bad.report.count = 1;
        for (int odd = 0; !votes && odd < 2; odd++) { /* a cost of an epoch that has not come; of two blocks */
            bad.report.epoch_or_leaf = odd == 0;
            bad.report.block = 1 + (uint32_t)(odd == 1);
            join_as(&w, &x, 1);
            assert_true(wire_send(&w, &bad));
            expect_end(&w, CAUCUS_REFUSAL_FORMAT);
        }
        bad.report.block = bad.report.first = 7; /* not its turn: ignored, as a late one is */
        bad.report.count = 1;
        join_as(&w, &x, 1);
        assert_true(wire_send(&w, &bad));
        caucus_frame goodbye = {.kind = CAUCUS_FRAME_GOODBYE, .text = "bye"};
        assert_true(wire_send(&w, &goodbye));
        expect_end(&w, 0);
        close_fixture(&x);
    }
}

static void test_oversized(void **state) {
    (void)state;
    fixture x;
    open_fixture(&x, CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    wire_end w;
    size_t most = caucus_wire_max_bytes(12);
    const uint32_t lengths[] = {UINT32_MAX, 0x7fffffff, 1u << 24, (uint32_t)most - CAUCUS_WIRE_HEAD_BYTES + 1};
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        for (int joined = 0; joined < 2; joined++) {
            if (joined)
                join_as(&w, &x, 1);
            else
                wire_open(&w, caucus_server_port(x.h.server));
            uint8_t head[4] = {(uint8_t)lengths[k], (uint8_t)(lengths[k] >> 8), (uint8_t)(lengths[k] >> 16),
                               (uint8_t)(lengths[k] >> 24)};
            if (k % 2) { /* the head in two halves */
                assert_true(wire_send_bytes(&w, head, 2));
                usleep(5000);
                assert_true(wire_send_bytes(&w, head + 2, 2));
            } else {
                assert_true(wire_send_bytes(&w, head, 4));
            }
            expect_end(&w, CAUCUS_REFUSAL_FORMAT); /* at once: the rest was never waited for */
        }
    close_fixture(&x);
}

static void test_slow(void **state) {
    (void)state;
    fixture x;
    open_patient(&x, CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, 600);
    wire_end w, half;
    wire_open(&w, caucus_server_port(x.h.server));
    expect_end(&w, 0); /* says nothing */
    wire_open(&w, caucus_server_port(x.h.server));
    uint8_t bytes[512];
    caucus_frame hello = hello_of(&x.h, 1, 0);
    size_t size = caucus_wire_put(&hello, bytes, sizeof bytes);
    size_t sent = 0;
    for (; sent + 1 < size && wire_send_bytes(&w, bytes + sent, 1); sent++)
        usleep(20000); /* a byte now and then: progress does not buy a stranger more time */
    expect_end(&w, 0);
    join_as(&half, &x, 1);
    assert_true(wire_send_bytes(&half, (uint8_t[]){30, 0, 0, 0, 1, 2}, 6));
    expect_end(&half, 0); /* half a frame and no more */
    join_as(&half, &x, 1);
    uint8_t drip[60] = {sizeof drip - 4};
    for (sent = 0; sent < sizeof drip && wire_send_bytes(&half, drip + sent, 1); sent++)
        usleep(25000); /* a frame has its time as a whole: if it could come to its end, it would be refused */
    expect_end(&half, 0);
    join_as(&half, &x, 2);
    usleep(1200000); /* a client that says nothing for long is welcome: it has nothing to say */
    caucus_server_status now;
    caucus_server_get_status(x.h.server, &now);
    assert_int_equal(now.present, 1);
    wire_close(&half);
    close_fixture(&x);
}

/* Frames cut at every place, a few bytes at a time, are the same frames. */
static void test_cut_frames(void **state) {
    (void)state;
    fixture x;
    open_fixture(&x, CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    uint8_t bytes[512];
    caucus_frame hello = hello_of(&x.h, 1, 0), frame;
    size_t size = caucus_wire_put(&hello, bytes, sizeof bytes);
    for (size_t cut = 1; cut < size; cut++) {
        wire_end w;
        wire_open(&w, caucus_server_port(x.h.server));
        assert_true(wire_send_bytes(&w, bytes, cut));
        if (cut % 8 == 0)
            usleep(2000);
        assert_true(wire_send_bytes(&w, bytes + cut, size - cut));
        assert_int_equal(wire_receive(&w, 12, &frame, PATIENCE_MS), 1);
        assert_int_equal(frame.kind, CAUCUS_FRAME_WELCOME);
        wire_close(&w);
    }
    close_fixture(&x);
}

static void test_elsewhere(void **state) {
    (void)state;
    fixture x;
    open_fixture(&x, CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    wire_end first, second;
    for (int k = 0; k < 20; k++) { /* on the same loop or on another */
        join_as(&first, &x, 2);
        join_as(&second, &x, 2);
        expect_end(&first, CAUCUS_REFUSAL_ELSEWHERE);
        caucus_server_status now;
        caucus_server_get_status(x.h.server, &now);
        assert_int_equal(now.present, 1);
        caucus_frame goodbye = {.kind = CAUCUS_FRAME_GOODBYE, .text = "bye"};
        assert_true(wire_send(&second, &goodbye));
        expect_end(&second, 0);
    }
    caucus_server_status now;
    caucus_server_get_status(x.h.server, &now);
    assert_int_equal(now.refused, 0); /* nothing to worry about */
    close_fixture(&x);
}

/* Strangers who fill every place cannot keep a client out. */
static void test_crowd(void **state) {
    (void)state;
    fixture x;
    open_fixture(&x, CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    int crowd[200];
    for (size_t i = 0; i < 200; i++)
        crowd[i] = dial_port(caucus_server_port(x.h.server));
    /* Each event loop makes room among its own strangers; while all of them are with the other loop, a client is told
     * to come again, as caucus join does. */
    wire_end w;
    caucus_frame hello = hello_of(&x.h, 1, 0), frame = {0};
    for (int tries = 0; tries < 400 && frame.kind != CAUCUS_FRAME_WELCOME; tries++) {
        wire_open(&w, caucus_server_port(x.h.server));
        if (wire_send(&w, &hello) && wire_receive(&w, 12, &frame, PATIENCE_MS) == 1 &&
            frame.kind == CAUCUS_FRAME_WELCOME)
            break;
        assert_true(frame.kind != CAUCUS_FRAME_REFUSAL || frame.code == CAUCUS_REFUSAL_FULL);
        wire_close(&w);
        usleep(25000);
    }
    assert_int_equal(frame.kind, CAUCUS_FRAME_WELCOME);
    for (size_t i = 0; i < 200; i++)
        if (crowd[i] >= 0)
            close(crowd[i]);
    wire_close(&w);
    close_fixture(&x);
}

/* Somebody who never reads costs nothing and holds up nobody. */
static void test_never_reads(void **state) {
    (void)state;
    fixture x;
    open_fixture(&x, CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    for (uint32_t i = 1; i < CLIENTS; i++)
        peer_connect(&x.p[i], &x.h, caucus_server_port(x.h.server));
    wire_end w;
    join_as(&w, &x, 1); /* the run begins; it hears nothing of it */
    for (uint32_t i = 0; i < 6; i++)
        (void)peers_turn(x.p, CLIENTS, x.f.plan, hashed_losses, 50);
    close_fixture(&x);
    wire_close(&w);
}

/* ---- a client that lies about its sums ---- */

/* As far as its lies can go: the worst losses for all experts but one, whose losses are the best... */
static void one_is_best(uint32_t client, uint32_t round, uint32_t d, double *ret) {
    hashed_losses(client, round, d, ret);
    for (uint32_t y = 0; client == 1 && y < d; y++)
        ret[y] = y == 3 ? 0 : 1;
}

/* ... or for all of them, while a second liar says the opposite. */
static void all_are_bad(uint32_t client, uint32_t round, uint32_t d, double *ret) {
    hashed_losses(client, round, d, ret);
    for (uint32_t y = 0; client <= 2 && y < d; y++)
        ret[y] = client == 1 ? 1 : 0;
}

/* Its reports say more than any losses could: they count as those, and everybody plays what that would have given. */
static void test_liar(void **state) {
    (void)state;
    const caucus_algorithm algorithms[] = {CAUCUS_ALGORITHM_SVT, CAUCUS_ALGORITHM_HEDGE};
    for (size_t k = 0; k < 4; k++) {
        loss_function lying_losses = k < 2 ? one_is_best : all_are_bad;
        caucus_settings s = testing_settings(algorithms[k % 2], CAUCUS_TRUST_COORDINATOR, CLIENTS, 12, 120, 10);
        s.interval = 2;
        federation f;
        federation_open(&f, &s, SEED);
        federation_play(&f, lying_losses);
        hall h;
        hall_init(&h, f.plan, SEED);
        h.settings.linger_ms = 60000;
        hall_open(&h);
        peer *p = calloc(CLIENTS, sizeof *p);
        assert_non_null(p);
        for (uint32_t i = 0; i < CLIENTS; i++)
            peer_open(&p[i], f.plan, SEED, i + 1);
        p[0].lies = true;
        p[1].lies = k >= 2;
        for (uint32_t i = 0; i < CLIENTS; i++)
            peer_connect(&p[i], &h, caucus_server_port(h.server));
        peers_finish(p, CLIENTS, f.plan, lying_losses);
        hall_wait(&h);
        peers_equal(p, &f);
        assert_true(p[0].items > 5);
        print_message("%u steps, %" PRIu64 " selections\n", f.announcements,
                      caucus_coordinator_selections(f.coordinator));
        assert_true(caucus_coordinator_selections(f.coordinator) > 1);
        for (uint32_t i = 0; i < CLIENTS; i++)
            peer_close(&p[i]);
        free(p);
        hall_free(&h);
        federation_close(&f);
    }
}

/* ---- the log says which ---- */

typedef struct book {
    pthread_mutex_t lock;
    char line[64][256];
    uint32_t lines;
} book;

static void note(void *user, const caucus_log_line *line) {
    book *b = user;
    pthread_mutex_lock(&b->lock);
    if (line->level < 2 && b->lines < 64)
        (void)snprintf(b->line[b->lines++], sizeof b->line[0], "%s", line->text);
    pthread_mutex_unlock(&b->lock);
}

static void wait_for_line(book *b, const char *words) {
    for (int tries = 0; tries < PATIENCE_MS / 10; tries++) {
        bool found = false;
        pthread_mutex_lock(&b->lock);
        for (uint32_t i = 0; i < b->lines; i++)
            found = found || (strstr(b->line[i], "refused 127.0.0.1:") && strstr(b->line[i], words));
        pthread_mutex_unlock(&b->lock);
        if (found)
            return;
        usleep(10000);
    }
    fail_msg("the log does not say '%s'", words);
}

/* Who is given up for its silence, or to make room, stands in the log like anybody who is refused. */
static void test_logged(void **state) {
    (void)state;
    caucus_settings s;
    caucus_settings_init(&s);
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.clients = CLIENTS;
    caucus_plan *plan = NULL;
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    for (int crowded = 0; crowded < 2; crowded++) {
        book b = {.lock = PTHREAD_MUTEX_INITIALIZER};
        fixture x = {0};
        hall_init(&x.h, plan, SEED);
        x.h.settings.hello_ms = crowded ? 60000 : 1000; /* an honest HELLO comes in less */
        x.h.settings.stall_ms = 100;
        x.h.settings.loops = 1;
        x.h.settings.max_strangers = 1; /* a lobby has room for 16, half of it for one address */
        x.h.settings.log = note;
        x.h.settings.log_user = &b;
        hall_open(&x.h);
        static wire_end w[16];
        for (int i = 0; i < (crowded ? 16 : 1); i++)
            wire_open(&w[i], caucus_server_port(x.h.server));
        wait_for_line(&b, crowded ? "its place is wanted" : "no HELLO in time");
        for (int i = 0; i < (crowded ? 16 : 1); i++)
            wire_close(&w[i]);
        if (!crowded) {
            usleep(1100000); /* at most a line a second */
            join_as(&w[0], &x, 1);
            assert_true(wire_send_bytes(&w[0], (uint8_t[]){30, 0, 0, 0, 1, 2}, 6));
            wait_for_line(&b, "half a frame");
            wire_close(&w[0]);
        }
        hall_stop(&x.h);
        hall_free(&x.h);
    }
    caucus_plan_free(plan);
}

static void test_settings(void **state) {
    (void)state;
    fixture x;
    open_fixture(&x, CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    caucus_server *second = NULL;
    caucus_error error = {0};
    caucus_server_settings bad = x.h.settings;
    assert_int_equal(caucus_server_open(&bad, &second, &error), CAUCUS_E_BUSY); /* the directory is in use */
    char dir[] = "/tmp/caucus-test-XXXXXX", poor[] = "/tmp/caucus-test-XXXXXX", listen[32];
    assert_non_null(mkdtemp(dir));
    assert_non_null(mkdtemp(poor));
    bad.state_dir = dir;
    snprintf(listen, sizeof listen, "127.0.0.1:%u", (unsigned)caucus_server_port(x.h.server));
    bad.listen = listen;
    assert_int_equal(caucus_server_open(&bad, &second, &error), CAUCUS_E_BUSY); /* and so is the port */
    bad.listen = "0.0.0.0:0";
    assert_int_equal(caucus_server_open(&bad, &second, &error), CAUCUS_E_RANGE); /* plain TCP stays on this machine */
    bad.listen = "127.0.0.1";
    assert_int_equal(caucus_server_open(&bad, &second, &error), CAUCUS_E_RANGE);
    bad = x.h.settings;
    bad.state_dir = dir;
    bad.quorum = CLIENTS + 1;
    assert_int_equal(caucus_server_open(&bad, &second, &error), CAUCUS_E_RANGE);
    assert_string_equal(error.field, "quorum");
    bad.quorum = CLIENTS - 1; /* looked at when a deadline has passed, and there is none */
    assert_int_equal(caucus_server_open(&bad, &second, &error), CAUCUS_E_RANGE);
    assert_string_equal(error.field, "quorum");
    assert_non_null(strstr(error.hint, "'deadline'"));
    bad = x.h.settings;
    bad.state_dir = poor;
    char ledger[64];
    (void)snprintf(ledger, sizeof ledger, "%s/ledger", dir);
    bad.budget = (caucus_budget){.path = ledger, .given = true, .epsilon = 1}; /* the plan wants 20 */
    assert_int_equal(caucus_server_open(&bad, &second, &error), CAUCUS_E_BUDGET);
    assert_string_equal(error.field, "ledger");
    bad = x.h.settings;
    bad.state_dir = poor;
    bad.name = "a\xff";
    assert_int_equal(caucus_server_open(&bad, &second, &error), CAUCUS_E_RANGE);
    assert_string_equal(error.field, "name");
    assert_int_equal(rmdir(dir), 0); /* none of them has left anything */
    assert_int_equal(rmdir(poor), 0);
    close_fixture(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_garbage),     cmocka_unit_test(test_hello),     cmocka_unit_test(test_left_behind),
        cmocka_unit_test(test_reports),     cmocka_unit_test(test_oversized), cmocka_unit_test(test_slow),
        cmocka_unit_test(test_cut_frames),  cmocka_unit_test(test_elsewhere), cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_never_reads), cmocka_unit_test(test_settings),  cmocka_unit_test(test_liar),
        cmocka_unit_test(test_logged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
