/* SPDX-License-Identifier: Apache-2.0 */
/* bench_relay.c: what relays cost, and what they save the coordinator.
 *
 *     bench_relay [CLIENTS]     10,000,000 for the last row
 *
 *  - processor time of a relay per client and step, beside that of a coordinator with the same clients: by turns, the
 *    same load (bench_load.h), mutual TLS, hedge, d = 100 and 1,000, reports kept until they are durable (goal 1.15);
 *  - processor time of the coordinator per step behind two relays with 100,000 clients, beside 1,000 (goal 1.5): hedge,
 *    d = 100;
 *  - ten million clients behind 200 relays: processor time of the coordinator per step, and its memory (goal: below
 *    30 ms, below 1 GiB): svt, one number a client.
 * In the last two rows relays are played (bench_player.h), over a real nats-server: no machine has connections for so
 * many clients. The coordinator's state is in memory (/dev/shm). */
#include "bench_load.h"
#include "bench_player.h"

#include <caucus/caucus.h>
#include <pthread.h>
#include <sys/stat.h>

#include "dial/certify.h"
#include "net/relay/relay.h"
#include "net/server.h"

#define TURNS 7u
#define STEPS 20u
#define CLIENTS 400u
#define PLAYED_RELAYS 200u

static char dir[64];
static pid_t owner;
static bench_nats nats;
static const uint8_t hash[32] = {0xbe, 0x9c};

static void tidy(void) {
    if (getpid() == owner && nats.pid > 0)
        kill(nats.pid, SIGKILL);
    if (getpid() == owner && dir[0])
        bench_remove(dir);
}

/* A server of its own: the coordinator, or a relay. */
typedef struct serving {
    const caucus_plan *plan;
    const char *certificates; /* NULL: plain */
    const bench_keys *keys;   /* NULL: without relays */
    bool relay;
} serving;

static void *run_server(void *argument) {
    caucus_error error = {0};
    must(caucus_server_run(argument, &error), &error);
    return NULL;
}

static void serve(void *argument, int control) {
    const serving *set = argument;
    static unsigned made;
    char cert[300], key[300], ca[300], state[128];
    caucus_error error = {0};
    caucus_server *server = NULL;
    caucus_relay *relay = NULL;
    pthread_t thread;
    snprintf(state, sizeof state, "%s/state-%d-%u", dir, (int)getpid(), made++);
    caucus_server_settings s = {
        .plan = set->plan, .state_dir = state, .listen = "127.0.0.1:0", .loops = 1, .linger_ms = 600000};
    memcpy(s.plan_hash, hash, sizeof hash);
    caucus_key_from_seed(1, &s.key);
    if (set->certificates) {
        snprintf(cert, sizeof cert, "%s/coordinator.pem", set->certificates);
        snprintf(key, sizeof key, "%s/coordinator.key", set->certificates);
        snprintf(ca, sizeof ca, "%s/ca.pem", set->certificates);
        s.cert = cert;
        s.key_file = key;
        s.client_ca = ca;
    }
    if (set->relay) {
        caucus_relay_settings r = {.line = {.url = nats.url},
                                   .key = set->keys->relay_secret,
                                   .coordinator = set->keys->coordinator_public,
                                   .number = 1};
        memcpy(r.plan_hash, hash, sizeof hash);
        must(caucus_relay_open(&r, &relay, &error), &error);
        s.relay = relay;
    } else if (set->keys) {
        s.relays = (caucus_hub_settings){
            .line = {.url = nats.url}, .list = set->keys->list, .key = set->keys->coordinator_secret};
    }
    must(caucus_server_open(&s, &server, &error), &error);
    if (pthread_create(&thread, NULL, run_server, server) != 0)
        bench_die("cannot start a thread", strerror(errno));
    uint16_t port = caucus_server_port(server);
    bench_send(control, &port, sizeof port);
    char ask;
    bench_receive(control, &ask, sizeof ask); /* until it is ended */
}

static uint16_t started(bench_child *child) {
    uint16_t port;
    if (recv(child->control, &port, sizeof port, MSG_WAITALL) != (ssize_t)sizeof port)
        exit(1);
    return port;
}

/* ---- a relay beside a coordinator ---- */

static bench_child start_load(uint16_t port, uint32_t experts, const char *certificates, const load_identity *who) {
    static load_settings loads;
    loads = (load_settings){
        .clients = CLIENTS, .experts = experts, .certificates = certificates, .identity = who, .port = port};
    memcpy(loads.plan_hash, hash, sizeof hash);
    bench_child child = bench_start(load_run, &loads, 1);
    load_do(&child, LOAD_JOIN, 0);
    return child;
}

static double cpu_of(pid_t pid, bench_child *loads) {
    const double before = bench_cpu(pid);
    load_do(loads, LOAD_PLAY, STEPS);
    return bench_cpu(pid) - before;
}

static void beside(uint32_t experts, const char *certificates, const load_identity *who, const bench_keys *keys) {
    caucus_plan *plan = bench_plan(true, CLIENTS, experts, 4096);
    serving direct = {.plan = plan, .certificates = certificates}, behind = direct, relays = direct;
    behind.keys = relays.keys = keys;
    relays.relay = true;
    bench_child alone = bench_start(serve, &direct, 0), coordinator = bench_start(serve, &behind, 1);
    const uint16_t alone_port = started(&alone);
    (void)started(&coordinator);
    bench_child relay = bench_start(serve, &relays, 0);
    const uint16_t relay_port = started(&relay);
    bench_child loaded[2] = {start_load(alone_port, experts, certificates, who),
                             start_load(relay_port, experts, certificates, who)};
    double ratio[TURNS], each[TURNS], own[TURNS];
    (void)cpu_of(alone.pid, &loaded[0]);
    (void)cpu_of(relay.pid, &loaded[1]);
    for (uint32_t i = 0; i < TURNS; i++) {
        own[i] = cpu_of(alone.pid, &loaded[0]) / STEPS / CLIENTS * 1e6;
        each[i] = cpu_of(relay.pid, &loaded[1]) / STEPS / CLIENTS * 1e6;
        ratio[i] = each[i] / own[i];
    }
    printf("relay, d = %-5u CPU per client and step %6.2f us, coordinator alone %6.2f us: %.2f (goal 1.15)\n", experts,
           bench_median(each, TURNS), bench_median(own, TURNS), bench_median(ratio, TURNS));
    for (int i = 0; i < 2; i++)
        bench_end(&loaded[i]);
    bench_end(&relay);
    bench_end(&coordinator);
    bench_end(&alone);
    caucus_plan_free(plan);
}

/* ---- a coordinator behind played relays ---- */

typedef struct behind_played {
    caucus_plan *plan;
    player_settings played;
    serving serves;
    bench_child coordinator, player;
} behind_played;

static void wait_steps(behind_played *b) {
    uint32_t steps;
    if (recv(b->player.control, &steps, sizeof steps, MSG_WAITALL) != (ssize_t)sizeof steps)
        exit(1);
}

static void open_behind(behind_played *b, bool hedge, uint32_t clients, uint32_t relays, const bench_keys *keys) {
    b->plan = bench_plan(hedge, clients, 100, 4096);
    b->serves = (serving){.plan = b->plan, .keys = keys};
    b->coordinator = bench_start(serve, &b->serves, 0);
    (void)started(&b->coordinator);
    b->played = (player_settings){
        .url = nats.url, .keys = keys, .relays = relays, .clients = clients, .experts = 100, .sums = hedge};
    memcpy(b->played.plan_hash, hash, sizeof hash);
    b->player = bench_start(player_run, &b->played, 1);
    wait_steps(b);
}

static double step_cpu(behind_played *b, uint32_t steps) {
    const double before = bench_cpu(b->coordinator.pid);
    bench_send(b->player.control, &steps, sizeof steps);
    wait_steps(b);
    return (bench_cpu(b->coordinator.pid) - before) / steps;
}

static void close_behind(behind_played *b) {
    bench_end(&b->player);
    bench_end(&b->coordinator);
    caucus_plan_free(b->plan);
}

/* One after the other, since both runs have the same name: a figure of each is the median over its turns. */
static void two_sizes(const bench_keys *keys) {
    static const uint32_t clients[2] = {1000, 100000};
    double median[2];
    for (int k = 0; k < 2; k++) {
        behind_played b;
        double each[TURNS];
        open_behind(&b, true, clients[k], 2, keys);
        (void)step_cpu(&b, 2);
        for (uint32_t i = 0; i < TURNS; i++)
            each[i] = step_cpu(&b, STEPS);
        median[k] = bench_median(each, TURNS);
        close_behind(&b);
    }
    printf("coordinator behind 2 played relays, CPU per step: 1,000 clients %.3f ms, 100,000 clients %.3f ms: %.2f "
           "(goal 1.5)\n",
           1e3 * median[0], 1e3 * median[1], median[1] / median[0]);
}

static void ten_million(uint32_t clients, const bench_keys *keys) {
    behind_played b;
    double each[TURNS];
    open_behind(&b, false, clients, PLAYED_RELAYS, keys);
    (void)step_cpu(&b, 2);
    for (uint32_t i = 0; i < TURNS; i++)
        each[i] = step_cpu(&b, 3);
    printf("%u clients behind %u played relays: coordinator CPU %.1f ms a step (goal 30), %.0f MiB (goal 1024)\n",
           clients, PLAYED_RELAYS, 1e3 * bench_median(each, TURNS), bench_resident(b.coordinator.pid) / 1048576);
    close_behind(&b);
}

int main(int argc, char **argv) {
    char where[512], certificates[128];
    struct stat info;
    bench_keys keys;
    caucus_error error = {0};
    const unsigned long clients = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000000;
    if (!caucus_line_version()) {
        printf("relays are not measured: this program was built without NATS\n");
        return 0;
    }
    snprintf(dir, sizeof dir, "%s/caucus-bench.XXXXXX", stat("/dev/shm", &info) == 0 ? "/dev/shm" : "/tmp");
    owner = getpid();
    if (!mkdtemp(dir))
        bench_die(dir, strerror(errno));
    atexit(tidy);
    if (!bench_nats_start(&nats, dir)) {
        printf("relays are not measured: nats-server is not installed\n");
        return 0;
    }
    bench_where(where, sizeof where);
    printf("%s\n", where);
    bench_files(4096);
    bench_keys_make(&keys, dir, PLAYED_RELAYS);
    snprintf(certificates, sizeof certificates, "%s/certs", dir);
    must(caucus_certify(&(caucus_certify_settings){.dir = certificates, .clients = CLIENTS, .days = 1}, &error),
         &error);
    const load_identity *who = load_identities(certificates, CLIENTS);
    beside(100, certificates, who, &keys);
    beside(1000, certificates, who, &keys);
    two_sizes(&keys);
    ten_million((uint32_t)clients, &keys);
    return 0;
}
