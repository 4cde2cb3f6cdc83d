/* SPDX-License-Identifier: Apache-2.0 */
/* bench_side.h: one server, the coordinator or the bare loop, in a process of its own, and its load in another. */
#ifndef CAUCUS_BENCH_SIDE_H
#define CAUCUS_BENCH_SIDE_H

#include "bare_loop.h"
#include "bench_load.h"

#include <caucus/caucus.h>
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>

#include "net/server.h"

#define EXPERTS 100u
#define SERVER_CORE 0
#define LOAD_CORE 1

/* ---- the coordinator in a process of its own ---- */

typedef struct serve_settings {
    const caucus_plan *plan;
    const char *certificates, *state;
    uint32_t loops;
} serve_settings;

static inline void *run_server(void *argument) {
    caucus_error error = {0};
    must(caucus_server_run(argument, &error), &error);
    return NULL;
}

static const uint8_t plan_hash[32] = {0xbe, 0x9c};

static inline void serve(void *argument, int control) {
    const serve_settings *set = argument;
    char cert[512], key[512], ca[512];
    caucus_server_settings s = {
        .plan = set->plan, .state_dir = set->state, .listen = "127.0.0.1:0", .loops = set->loops, .linger_ms = 600000};
    memcpy(s.plan_hash, plan_hash, sizeof plan_hash);
    caucus_key_from_seed(1, &s.key);
    if (set->certificates) {
        snprintf(cert, sizeof cert, "%s/coordinator.pem", set->certificates);
        snprintf(key, sizeof key, "%s/coordinator.key", set->certificates);
        snprintf(ca, sizeof ca, "%s/ca.pem", set->certificates);
        s.cert = cert;
        s.key_file = key;
        s.client_ca = ca;
    }
    caucus_server *server = NULL;
    caucus_error error = {0};
    pthread_t thread;
    must(caucus_server_open(&s, &server, &error), &error);
    if (pthread_create(&thread, NULL, run_server, server) != 0)
        bench_die("cannot start a thread", strerror(errno));
    uint16_t port = caucus_server_port(server);
    bench_send(control, &port, sizeof port);
    for (;;) { /* whoever asks is told the status */
        char ask;
        caucus_server_status status;
        bench_receive(control, &ask, sizeof ask);
        caucus_server_get_status(server, &status);
        bench_send(control, &status, sizeof status);
    }
}

static inline void serve_bare(void *argument, int control) {
    bare_serve(argument, control);
}

static inline caucus_server_status ask_status(bench_child *server) {
    caucus_server_status status;
    bench_send(server->control, "?", 1);
    if (recv(server->control, &status, sizeof status, MSG_WAITALL) != (ssize_t)sizeof status)
        exit(1);
    return status;
}

/* ---- where things are kept ---- */

static char scratch[2][64]; /* in memory, on disk */
static pid_t owner;

static inline void remove_scratch(void) {
    for (int i = 0; i < 2 && getpid() == owner; i++)
        if (scratch[i][0])
            bench_remove(scratch[i]);
}

static inline void make_scratch(void) {
    struct stat info;
    snprintf(scratch[0], sizeof scratch[0], "%s/caucus-bench.XXXXXX",
             stat("/dev/shm", &info) == 0 ? "/dev/shm" : "/tmp");
    snprintf(scratch[1], sizeof scratch[1], "/var/tmp/caucus-bench.XXXXXX");
    for (int i = 0; i < 2; i++)
        if (!mkdtemp(scratch[i]))
            bench_die(scratch[i], strerror(errno));
    owner = getpid();
    atexit(remove_scratch);
}

static inline char *new_state(bool disk, char ret[128]) {
    static unsigned made;
    snprintf(ret, 128, "%s/state-%u", scratch[disk], made++);
    return ret;
}

/* ---- one server and its load ---- */

typedef struct side {
    bench_child server, load;
    caucus_plan *plan; /* NULL: the bare loop */
    char state[128];
    double resident_before, resident_after;
    size_t report_bytes, announcement_bytes;
} side;

static inline caucus_plan *make_plan(bool hedge, uint32_t clients) {
    return bench_plan(hedge, clients, EXPERTS, 1024);
}

/* What the bare loop reads and writes: an announcement like any other, and the report that answers it. */
static inline bare_sizes sizes_of(bool hedge) {
    caucus_frame frame = {.kind = CAUCUS_FRAME_ANNOUNCEMENT,
                          .cost_next = hedge ? 0 : 50,
                          .sums_next = hedge ? 50 : 1,
                          .announcement = {.serial = 50,
                                           .expert = 7,
                                           .epoch = hedge ? 0 : 1,
                                           .ask = hedge ? CAUCUS_ASK_SUMS : CAUCUS_ASK_COST,
                                           .block = 50}};
    bare_sizes sizes = {0};
    uint8_t bytes[4096];
    int64_t value[EXPERTS] = {0};
    sizes.reply = caucus_wire_put(&frame, sizes.reply_bytes, sizeof sizes.reply_bytes);
    caucus_frame report = {.kind = CAUCUS_FRAME_REPORT,
                           .report = {.client = 1,
                                      .kind = frame.announcement.ask,
                                      .first = 50,
                                      .block = 50,
                                      .epoch_or_leaf = frame.announcement.epoch,
                                      .count = hedge ? EXPERTS : 1,
                                      .value = value}};
    sizes.report = caucus_wire_put(&report, bytes, sizeof bytes);
    return sizes;
}

static inline uint16_t receive_port(bench_child *server) {
    uint16_t port;
    if (recv(server->control, &port, sizeof port, MSG_WAITALL) != (ssize_t)sizeof port)
        exit(1);
    return port;
}

static const load_identity *identities;

/* What a side is to be. */
typedef struct side_settings {
    caucus_plan *plan; /* NULL: the bare loop */
    uint32_t clients;
    uint32_t loops; /* 0 = 1; several of them run on any core, and so does their load */
    const char *certificates;
    bool disk;
    int64_t cost; /* svt: of the expert in force, per client and block */
} side_settings;

static inline void open_side(side *s, side_settings set) {
    *s = (side){.plan = set.plan};
    uint32_t loops = set.loops ? set.loops : 1;
    serve_settings serves = {
        .plan = set.plan, .certificates = set.certificates, .state = new_state(set.disk, s->state), .loops = loops};
    bare_settings bare = {.clients = set.clients, .loops = loops, .certificates = set.certificates};
    load_settings loads = {.clients = set.clients,
                           .experts = EXPERTS,
                           .certificates = set.certificates,
                           .identity = identities,
                           .cost = set.cost};
    memcpy(loads.plan_hash, plan_hash, sizeof plan_hash);
    int core = loops == 1 ? SERVER_CORE : -1;
    s->server = set.plan ? bench_start(serve, &serves, core) : bench_start(serve_bare, &bare, core);
    loads.port = receive_port(&s->server);
    if (!set.plan) {
        bare_sizes sizes = sizes_of(true);
        bench_send(s->server.control, &sizes, sizeof sizes);
    }
    s->resident_before = bench_resident(s->server.pid);
    s->load = bench_start(load_run, &loads, loops == 1 ? LOAD_CORE : -1);
    load_do(&s->load, LOAD_JOIN, 0);
    s->resident_after = bench_resident(s->server.pid);
}

/* The bare loop changes size between turns; whatever its clients hold is of the size before, so they play it out. */
static inline void resize_bare(side *s, bool hedge) {
    bare_sizes sizes = sizes_of(hedge);
    if (!hedge) { /* replies say what the next reports are: the reports under way are still the long ones */
        bare_sizes first = sizes;
        first.report = sizes_of(true).report;
        bench_send(s->server.control, &first, sizeof first);
        receive_port(&s->server);
        load_do(&s->load, LOAD_PLAY, 1);
    }
    bench_send(s->server.control, &sizes, sizeof sizes);
    receive_port(&s->server);
}

static inline void close_side(side *s) {
    bench_end(&s->load);
    bench_end(&s->server);
    caucus_plan_free(s->plan);
}

#endif
