/* SPDX-License-Identifier: Apache-2.0 */
/* bench_endless.c: a run without an end, live: does anything grow?
 *
 *     bench_endless [STEPS [DIRECTORY]]      2,000 steps, with its state under /dev/shm or in the directory given
 *
 * The real coordinator in a process of its own and twenty clients in another, over loopback, as fast as it goes: stoch
 * with phases of one round, so that every step is a selection, and with a look, so that every step shows something. Ten
 * lines, one for each tenth of the run: time per step, the coordinator's resident memory, its database, bytes of the
 * wire per step, lines of the ledger. It fails if one of them grows after the first tenth; `tools/nightly` plays a
 * million steps, the test `bench-endless` a few. Numbers of steps get longer on the wire, by a byte when they have
 * seven bits more. */
#include "bench_side.h"

#include <inttypes.h>

#define CLIENTS 20u
#define TENTHS 10

typedef struct figures {
    double resident, database, wire; /* bytes; the last a step */
    uint64_t steps;
} figures;

static caucus_plan *endless_plan(void) {
    caucus_error error = {0};
    caucus_plan *plan = NULL;
    caucus_settings c;
    caucus_settings_init(&c);
    c.trust = CAUCUS_TRUST_COORDINATOR;
    c.algorithm = CAUCUS_ALGORITHM_STOCH;
    c.clients = CLIENTS;
    c.experts = EXPERTS;
    c.rounds = CAUCUS_ROUNDS_ENDLESS;
    c.longest_phase = 1;
    c.epsilon = 4;
    c.show_loss = 1;
    must(caucus_plan_new(&c, &plan, &error), &error);
    return plan;
}

static double file_bytes(const char *state) {
    static const char *const file[] = {"coordinator.db", "coordinator.db-wal"};
    double bytes = 0;
    for (size_t i = 0; i < sizeof file / sizeof file[0]; i++) {
        char path[256];
        struct stat info;
        snprintf(path, sizeof path, "%s/%s", state, file[i]);
        bytes += stat(path, &info) == 0 ? (double)info.st_size : 0;
    }
    return bytes;
}

/* Play a tenth and print what it took. */
static figures play_tenth(bench_child *server, bench_child *fleet, const char *state, uint32_t steps) {
    const caucus_server_status before = ask_status(server);
    const load_answer answer = load_do(fleet, LOAD_PLAY, steps);
    const caucus_server_status now = ask_status(server);
    const figures f = {.resident = bench_resident(server->pid),
                       .database = file_bytes(state),
                       .wire = (double)(now.bytes_in - before.bytes_in + now.bytes_out - before.bytes_out) / steps,
                       .steps = now.steps_decided};
    printf("  %9" PRIu64 "  %8.1f  %8.2f  %8.2f  %10.1f  %6u\n", f.steps, 1e6 * answer.seconds / steps,
           f.resident / 1e6, f.database / 1e6, f.wire, now.looks);
    fflush(stdout);
    return f;
}

/* A sanitizer keeps what was freed: of the program's own memory it says nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

/* Half a megabyte and a twentieth: pages that are touched late, and a log that is cut back now and then. */
static int grows(const char *what, double last, double first, double slack) {
    if (last <= first * 1.05 + slack)
        return 0;
    fprintf(stderr, "bench_endless: %s grows with time: %.0f after a tenth, %.0f at the end\n", what, first, last);
    return 1;
}

int main(int argc, char **argv) {
    const unsigned long long steps = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000;
    if (steps < 100 || steps > UINT32_MAX / 2) {
        fprintf(stderr, "usage: bench_endless [STEPS [DIRECTORY]], STEPS at least 100\n");
        return 2;
    }
    char state[256];
    make_scratch();
    snprintf(state, sizeof state, argc > 2 ? "%.255s" : "%.63s/state", argc > 2 ? argv[2] : scratch[0]);
    caucus_plan *plan = endless_plan();
    serve_settings set = {.plan = plan, .state = state, .loops = 1};
    bench_child server = bench_start(serve, &set, -1);
    load_settings from = {.clients = CLIENTS, .experts = EXPERTS};
    memcpy(from.plan_hash, plan_hash, sizeof plan_hash);
    bench_receive(server.control, &from.port, sizeof from.port);
    bench_child fleet = bench_start(load_run, &from, -1);
    (void)load_do(&fleet, LOAD_JOIN, 0);
    printf("stoch without an end, %u clients, %u experts, a look at every step, in %s\n"
           "      steps     us of  resident  database    bytes of   looks\n"
           "                clock        MB        MB    the wire    kept\n",
           CLIENTS, EXPERTS, state);
    figures first = {0}, last = {0};
    for (unsigned i = 0; i < TENTHS; i++) {
        last = play_tenth(&server, &fleet, state, (uint32_t)(steps * (i + 1) / TENTHS - steps * i / TENTHS));
        first = i == 0 ? last : first;
    }
    bench_end(&fleet);
    bench_end(&server);
    caucus_plan_free(plan);
    return (!SANITIZED && grows("resident memory", last.resident, first.resident, 0.5e6)) |
           grows("the database", last.database, first.database, 4.5e6) | /* its log is cut back at 4 MB */
           grows("what is sent for a step", last.wire, first.wire, 8.0 * CLIENTS);
}
