/* SPDX-License-Identifier: Apache-2.0 */
/* test_peer.c: three Python peers (tests/e2e/peer.py, written from docs/PROTOCOL.md, sharing no code with us) against
 * the coordinator's machine behind the plainest listener there can be. One peer sends every report twice, one breaks
 * its connection again and again. Every round of every peer must be played with the expert that the same losses and the
 * same seed give in one process, which is what `caucus simulate` plays. (Over TLS: tests/e2e/equality.sh.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <caucus/client.h>
#include <caucus/coordinator.h>

#include "sim/trial.h"
#include "testing_settings.h"
#include "wire/wire.h"
#include <caucus/plan_file.h>

#define CLIENTS 3u
#define EXPERTS 5u
#define ROUNDS 64u
#define INTERVAL 3u
#define SEED 11u
#define CONNECTIONS 64
#define HISTORY 256

static double loss[CLIENTS][ROUNDS][EXPERTS];

/* Halves of the grid, values outside the range, infinities, not a number. */
static void make_losses(void) {
    uint64_t state = SEED;
    for (uint32_t i = 0; i < CLIENTS; i++)
        for (uint32_t t = 0; t < ROUNDS; t++)
            for (uint32_t y = 0; y < EXPERTS; y++) {
                state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                uint32_t word = (uint32_t)(state >> 33);
                double u = (double)(word % 8192) / 4096 - 0.25 + (t / 16 == y ? 0.6 : 0);
                loss[i][t][y] = word % 97 == 0 ? NAN : word % 89 == 0 ? INFINITY : word % 83 == 0 ? -INFINITY : u;
            }
}

static void write_npy(const char *path) {
    char head[128];
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    int n = snprintf(head + 10, sizeof head - 10, "{'descr': '<f8', 'fortran_order': False, 'shape': (%u, %u, %u), }",
                     CLIENTS, ROUNDS, EXPERTS);
    head[10 + n] = ' ';
    head[127] = '\n';
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(head, 1, sizeof head, file), sizeof head);
    assert_int_equal(fwrite(loss, 1, sizeof loss, file), sizeof loss);
    assert_int_equal(fclose(file), 0);
}

typedef struct setup {
    const char *name;
    caucus_algorithm algorithm;
    caucus_trust trust;
    caucus_message message;
    caucus_unit unit;
} setup;

static caucus_plan *make_plan(const setup *from) {
    caucus_settings s = testing_settings(from->algorithm, from->trust, CLIENTS, EXPERTS, ROUNDS, 20);
    s.message = from->message;
    s.unit = from->unit;
    s.interval = from->algorithm == CAUCUS_ALGORITHM_STOCH ? 1 : INTERVAL;
    s.delta = from->message == CAUCUS_MESSAGE_GAUSS ? 1e-6 : 0;
    s.lo = -0.125;
    s.hi = 1.75;
    s.grid = 1000; /* no power of two: the scale is rounded */
    caucus_plan *plan = NULL;
    caucus_error error;
    if (caucus_plan_new(&s, &plan, &error) != CAUCUS_OK)
        fail_msg("%s: %s: %s", from->name, error.field, error.text);
    return plan;
}

/* As of a simulation's first trial: 0 is the coordinator, then the clients. */
static void key_of(uint32_t entity, caucus_key *ret) {
    caucus_key seeded, run;
    caucus_key_from_seed(SEED, &seeded);
    caucus_key_derive(&seeded, 0, &run);
    caucus_key_derive(&run, entity, ret);
}

/* What `caucus simulate` plays: the same for every client without mixtures. */
static void take_expert(void *user, uint64_t round, const caucus_announcement *a) {
    uint32_t *expert = user;
    for (uint64_t t = round; t < ROUNDS; t++)
        expert[t] = a->expert;
}

static void play_simulated(const caucus_plan *plan, const char *path, uint32_t expert[ROUNDS]) {
    caucus_adversary_settings settings = {.kind = CAUCUS_ADVERSARY_LOSSES, .losses = path};
    caucus_adversary *losses;
    caucus_trial_result result;
    assert_int_equal(caucus_adversary_open(&settings, &losses, NULL), CAUCUS_OK);
    assert_int_equal(caucus_trial_play(plan, losses, SEED, 0, NULL, take_expert, expert, &result), CAUCUS_OK);
    caucus_adversary_close(losses);
}

/* The same federation in one process: expert[i][t]. Returns the number of announcements. */
static uint32_t play_in_process(const caucus_plan *plan, uint32_t expert[CLIENTS][ROUNDS]) {
    caucus_coordinator *coordinator;
    caucus_client *client[CLIENTS];
    caucus_key key;
    key_of(0, &key);
    assert_int_equal(caucus_coordinator_new(plan, &key, &coordinator), CAUCUS_OK);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        key_of(i + 1, &key);
        assert_int_equal(caucus_client_new(plan, i + 1, &key, &client[i]), CAUCUS_OK);
    }
    bool over = false;
    uint64_t serial = 0;
    while (!over) {
        const caucus_announcement *a = caucus_coordinator_announcement(coordinator);
        serial = a->serial;
        over = a->ask == CAUCUS_ASK_NOTHING;
        for (uint32_t i = 0; i < CLIENTS; i++) {
            assert_int_equal(caucus_client_hear(client[i], a), CAUCUS_OK);
            while (caucus_client_rounds_left(client[i]) > 0) {
                uint64_t t = caucus_client_round(client[i]);
                expert[i][t] = caucus_client_expert(client[i]);
                assert_int_equal(caucus_client_observe(client[i], loss[i][t], 1), CAUCUS_OK);
            }
            if (!over)
                assert_int_equal(caucus_coordinator_receive(coordinator, caucus_client_report(client[i])), CAUCUS_OK);
        }
        if (!over)
            assert_int_equal(caucus_coordinator_decide(coordinator), CAUCUS_OK);
    }
    caucus_coordinator_free(coordinator);
    for (uint32_t i = 0; i < CLIENTS; i++)
        caucus_client_free(client[i]);
    return (uint32_t)serial + 1;
}

/* ---- the plainest listener ---- */

typedef struct connection {
    int fd; /* -1: free */
    uint32_t client;
    uint8_t bytes[8192];
    size_t size;
} connection;

typedef struct listener {
    caucus_coordinator *coordinator;
    caucus_announcement history[HISTORY];
    uint8_t plan_hash[32];
    uint32_t announced, repeats, hellos, goodbyes;
    uint64_t cost_next[CLIENTS], sums_next[CLIENTS]; /* as of the last close: what a crash would leave */
    connection connection[CONNECTIONS];
    int fd;
    uint16_t port;
} listener;

static void remember(listener *l) {
    assert_true(l->announced < HISTORY);
    l->history[l->announced++] = *caucus_coordinator_announcement(l->coordinator);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        bool answered;
        caucus_coordinator_counted(l->coordinator, i + 1, &l->cost_next[i], &l->sums_next[i], &answered);
    }
}

/* A peer that has gone is no error: it comes again. */
static void send_frame(const listener *l, const connection *c, caucus_frame *frame) {
    uint8_t bytes[1024];
    frame->cost_next = l->cost_next[c->client - 1];
    frame->sums_next = l->sums_next[c->client - 1];
    size_t size = caucus_wire_put(frame, bytes, sizeof bytes);
    assert_true(size > 0);
    (void)!send(c->fd, bytes, size, MSG_NOSIGNAL);
}

static void announce(const listener *l, const connection *c, uint64_t serial) {
    caucus_frame frame = {.kind = CAUCUS_FRAME_ANNOUNCEMENT, .announcement = l->history[serial]};
    send_frame(l, c, &frame);
}

static void drop(connection *c) {
    close(c->fd);
    c->fd = -1;
}

static void take_hello(listener *l, connection *c, const caucus_frame *hello) {
    assert_int_equal(hello->version, CAUCUS_WIRE_VERSION);
    assert_memory_equal(hello->plan, l->plan_hash, sizeof l->plan_hash);
    assert_true(hello->client >= 1 && hello->client <= CLIENTS && hello->heard <= l->announced);
    c->client = hello->client;
    l->hellos++;
    caucus_frame welcome = {.kind = CAUCUS_FRAME_WELCOME, .version = CAUCUS_WIRE_VERSION};
    memcpy(welcome.plan, hello->plan, sizeof welcome.plan);
    send_frame(l, c, &welcome);
    for (uint64_t serial = hello->heard; serial < l->announced; serial++)
        announce(l, c, serial);
}

static void take_report(listener *l, const connection *c, const caucus_report *report) {
    assert_int_equal(report->client, c->client);
    caucus_status status = caucus_coordinator_receive(l->coordinator, report);
    assert_true(status == CAUCUS_OK || status == CAUCUS_E_DUPLICATE || status == CAUCUS_E_ORDER);
    l->repeats += status != CAUCUS_OK;
    if (caucus_coordinator_announcement(l->coordinator)->ask == CAUCUS_ASK_NOTHING ||
        caucus_coordinator_waiting(l->coordinator) > 0)
        return;
    assert_int_equal(caucus_coordinator_decide(l->coordinator), CAUCUS_OK);
    remember(l);
    for (int i = 0; i < CONNECTIONS; i++)
        if (l->connection[i].fd >= 0 && l->connection[i].client > 0)
            announce(l, &l->connection[i], l->announced - 1);
}

static void take_bytes(listener *l, connection *c) {
    ssize_t got = recv(c->fd, c->bytes + c->size, sizeof c->bytes - c->size, 0);
    if (got <= 0) {
        drop(c);
        return;
    }
    c->size += (size_t)got;
    for (;;) {
        int64_t scratch[EXPERTS];
        caucus_frame frame;
        caucus_error error;
        size_t used;
        if (caucus_wire_take(c->bytes, c->size, EXPERTS, scratch, &used, &frame, &error) != CAUCUS_OK)
            fail_msg("a peer's frame: %s: %s", error.field, error.text);
        if (used == 0)
            return;
        if (frame.kind == CAUCUS_FRAME_HELLO && c->client == 0) {
            take_hello(l, c, &frame);
        } else if (frame.kind == CAUCUS_FRAME_REPORT && c->client > 0) {
            take_report(l, c, &frame.report);
        } else {
            assert_int_equal(frame.kind, CAUCUS_FRAME_GOODBYE);
            l->goodbyes++;
        }
        memmove(c->bytes, c->bytes + used, c->size - used);
        c->size -= used;
    }
}

static void open_listener(listener *l) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(l->fd >= 0 && bind(l->fd, (struct sockaddr *)&address, size) == 0 && listen(l->fd, CONNECTIONS) == 0);
    assert_int_equal(getsockname(l->fd, (struct sockaddr *)&address, &size), 0);
    l->port = ntohs(address.sin_port);
    for (int i = 0; i < CONNECTIONS; i++)
        l->connection[i].fd = -1;
}

static void accept_one(listener *l) {
    for (int i = 0; i < CONNECTIONS; i++)
        if (l->connection[i].fd < 0) {
            l->connection[i].client = 0;
            l->connection[i].size = 0;
            l->connection[i].fd = accept(l->fd, NULL, NULL);
            return;
        }
    fail_msg("too many connections");
}

/* Until every peer has said goodbye and gone. A minute of silence is a failure, not a hang. */
static void serve(listener *l) {
    for (;;) {
        struct pollfd wait[CONNECTIONS + 1] = {{.fd = l->fd, .events = POLLIN}};
        bool idle = true;
        for (int i = 0; i < CONNECTIONS; i++) {
            wait[i + 1] = (struct pollfd){.fd = l->connection[i].fd, .events = POLLIN};
            idle = idle && l->connection[i].fd < 0;
        }
        if (idle && l->goodbyes == CLIENTS)
            return;
        if (poll(wait, CONNECTIONS + 1, 60000) <= 0)
            fail_msg("the peers are silent");
        for (int i = 0; i < CONNECTIONS; i++)
            if (wait[i + 1].fd >= 0 && wait[i + 1].revents)
                take_bytes(l, &l->connection[i]);
        if (wait[0].revents)
            accept_one(l);
    }
}

/* ---- peers ---- */

static FILE *start_peer(const char *dir, uint16_t port, uint32_t client) {
    static const char *const habits[CLIENTS] = {"", "--twice", "--cut 2 --twice"};
    const char *source = getenv("CAUCUS_SOURCE");
    char command[1024];
    snprintf(command, sizeof command,
             "exec python3 '%s/tests/e2e/peer.py' --insecure --connect 127.0.0.1:%u --client %u --plan '%s/plan.yaml' "
             "--seed %u --losses '%s/losses.npy' %s",
             source ? source : ".", port, client, dir, SEED, dir, habits[client - 1]);
    FILE *peer = popen(command, "r");
    assert_non_null(peer);
    return peer;
}

static void check_peer(FILE *peer, const uint32_t *expert) {
    unsigned round, played, t = 0;
    for (; fscanf(peer, "%u %u\n", &round, &played) == 2; t++) {
        assert_true(t < ROUNDS);
        assert_int_equal(round, t + 1);
        assert_int_equal(played, expert[t]);
    }
    assert_int_equal(t, ROUNDS);
    assert_int_equal(pclose(peer), 0);
}

static void run_setup(const setup *from) {
    char dir[] = "/tmp/caucus-peer-XXXXXX", path[64], plan_path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/losses.npy", dir);
    snprintf(plan_path, sizeof plan_path, "%s/plan.yaml", dir);
    make_losses();
    write_npy(path);
    caucus_plan *plan = make_plan(from);
    assert_int_equal(caucus_plan_file_write(plan, plan_path, false, NULL), CAUCUS_OK);
    static uint32_t expert[CLIENTS][ROUNDS], simulated[ROUNDS];
    uint32_t announcements = play_in_process(plan, expert), changes = 0;
    for (uint32_t t = 1; t < ROUNDS; t++)
        changes += expert[0][t] != expert[0][t - 1];
    play_simulated(plan, path, simulated);
    for (uint32_t i = 0; i < CLIENTS; i++)
        assert_memory_equal(expert[i], simulated, sizeof simulated);

    listener *l = calloc(1, sizeof *l);
    assert_non_null(l);
    memcpy(l->plan_hash, caucus_plan_hash(plan), sizeof l->plan_hash);
    caucus_key key;
    key_of(0, &key);
    assert_int_equal(caucus_coordinator_new(plan, &key, &l->coordinator), CAUCUS_OK);
    remember(l);
    open_listener(l);
    FILE *peer[CLIENTS];
    for (uint32_t i = 0; i < CLIENTS; i++)
        peer[i] = start_peer(dir, l->port, i + 1);
    serve(l);
    for (uint32_t i = 0; i < CLIENTS; i++)
        check_peer(peer[i], expert[i]);
    printf("%s: %u announcements, %u changes of expert, %u connections, %u repeated reports\n", from->name,
           l->announced, changes, l->hellos, l->repeats);
    assert_int_equal(l->announced, announcements);
    assert_true(changes > 0 && l->hellos > CLIENTS && l->repeats > 0); /* the test tests something */
    close(l->fd);
    caucus_coordinator_free(l->coordinator);
    free(l);
    caucus_plan_free(plan);
    remove(path);
    remove(plan_path);
    rmdir(dir);
}

#define COORDINATOR CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO
#define NOBODY(message) CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_##message, CAUCUS_UNIT_EVENT

static void test_coordinator(void **user) {
    (void)user;
    static const setup setups[] = {
        {"svt", CAUCUS_ALGORITHM_SVT, COORDINATOR, CAUCUS_UNIT_EVENT},
        {"svt, client-block", CAUCUS_ALGORITHM_SVT, COORDINATOR, CAUCUS_UNIT_CLIENT_BLOCK},
        {"hedge", CAUCUS_ALGORITHM_HEDGE, COORDINATOR, CAUCUS_UNIT_EVENT},
        {"stoch", CAUCUS_ALGORITHM_STOCH, COORDINATOR, CAUCUS_UNIT_EVENT},
        {"stoch, client-block", CAUCUS_ALGORITHM_STOCH, COORDINATOR, CAUCUS_UNIT_CLIENT_BLOCK},
        {"stoch, client", CAUCUS_ALGORITHM_STOCH, COORDINATOR, CAUCUS_UNIT_CLIENT},
    };
    for (size_t k = 0; k < sizeof setups / sizeof setups[0]; k++)
        run_setup(&setups[k]);
}

static void test_nobody(void **user) {
    (void)user;
    static const setup setups[] = {
        {"stoch, nobody: auto", NOBODY(AUTO)},
        {"stoch, nobody: vote", NOBODY(VOTE)},
        {"stoch, nobody: shortlist", NOBODY(SHORTLIST)},
        {"stoch, nobody: laplace-d", NOBODY(LAPLACE_D)},
        {"stoch, nobody: knorm", NOBODY(KNORM)},
        {"stoch, nobody: gauss", NOBODY(GAUSS)},
        {"stoch, nobody: vote, client-block", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_VOTE,
         CAUCUS_UNIT_CLIENT_BLOCK},
        {"stoch, nobody: shortlist, client", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_SHORTLIST,
         CAUCUS_UNIT_CLIENT},
        {"stoch, nobody: knorm, client", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_KNORM,
         CAUCUS_UNIT_CLIENT},
    };
    for (size_t k = 0; k < sizeof setups / sizeof setups[0]; k++)
        run_setup(&setups[k]);
}

int main(void) {
    printf("seed %u\n", SEED);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_coordinator), cmocka_unit_test(test_nobody)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
