/* SPDX-License-Identifier: Apache-2.0 */
/* bench_commit.c: what a step of a large fleet costs the coordinator beside counting, and how much a commit writes.
 *
 *     bench_commit [CLIENTS [DIRECTORY]]     10,000,000 clients, in a new directory under /dev/shm or the one given
 *
 * The machine and the store, without the network: svt, one number a client and step. Everybody in step; one client in a
 * hundred away, always the same ones; one in a hundred away, others each time. For each, over some steps: bytes of the
 * state that a commit writes, bytes by which SQLite's log grows with it, and the processor time of deciding, saving,
 * committing and showing, without that of counting. One in step costs a byte of memory that is passed over; what else
 * there is costs by the clients that fall behind and come back. A commit that writes more than it should (64 KB; where
 * others are away each time 2 MB for ten million clients) ends the program with 1. */
#include "bench_process.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <time.h>

#include "algo/coordinator_state.h"
#include "num/fail.h"
#include "store/coordinator/store.h"

#define EXPERTS 100u
#define STEPS 8u
#define SHARE 100u /* one in so many is away */

static char dir[256];

static void remove_dir(void) {
    if (dir[0])
        bench_remove(dir);
    dir[0] = '\0';
}

typedef struct fleet {
    caucus_plan *plan;
    caucus_coordinator *machine;
    caucus_partial *partial;
    caucus_store *store;
    caucus_piece root, *chunk;
    uint32_t chunks, clients;
} fleet;

static double own_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void commit(fleet *f, caucus_error *error) {
    must(caucus_coordinator_save_parts(f->machine, &f->root, f->chunk), error);
    must(caucus_store_commit(f->store, &f->root, f->chunk, f->chunks, caucus_coordinator_announcement(f->machine), NULL,
                             0, error),
         error);
    caucus_coordinator_show(f->machine);
}

static void fleet_open(fleet *f, uint32_t clients, const char *under) {
    caucus_settings s;
    caucus_error error = {0};
    caucus_key key;
    uint8_t hash[32] = {0};
    memset(f, 0, sizeof *f);
    caucus_settings_init(&s);
    s.algorithm = CAUCUS_ALGORITHM_SVT;
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.clients = f->clients = clients;
    s.experts = EXPERTS;
    s.rounds = 1000;
    caucus_key_from_seed(1, &key);
    must(caucus_plan_new(&s, &f->plan, &error), &error);
    must(caucus_coordinator_new(f->plan, &key, &f->machine), &error);
    must(caucus_partial_new(f->machine, &f->partial), &error);
    f->chunks = caucus_coordinator_chunks(f->plan);
    f->chunk = calloc(f->chunks, sizeof *f->chunk);
    snprintf(dir, sizeof dir, "%s/caucus-bench.XXXXXX", under);
    if (!f->chunk || !mkdtemp(dir))
        bench_die(dir, strerror(errno));
    must(caucus_store_open(dir, hash, true, &f->store, &error), &error);
    commit(f, &error);
}

static void fleet_close(fleet *f) {
    caucus_store_close(f->store);
    caucus_partial_free(f->partial);
    caucus_coordinator_free(f->machine);
    caucus_plan_free(f->plan);
    caucus_piece_free(&f->root);
    for (uint32_t i = 0; i < f->chunks; i++)
        caucus_piece_free(&f->chunk[i]);
    free(f->chunk);
}

static double log_bytes(void) {
    char path[300];
    struct stat info;
    snprintf(path, sizeof path, "%s/coordinator.db-wal", dir);
    return stat(path, &info) == 0 ? (double)info.st_size : 0;
}

/* Everybody sends what it has not sent: costs that no check fires at; but for one in a hundred, `away` of 100. */
static void answer(fleet *f, uint32_t away) {
    const int64_t cost = 0;
    const caucus_announcement *now = caucus_coordinator_announcement(f->machine);
    for (uint32_t i = 1; i <= f->clients; i++) {
        uint64_t next, sums;
        bool answered;
        if (i % SHARE == away)
            continue;
        caucus_coordinator_counted(f->machine, i, &next, &sums, &answered);
        for (; next <= now->block; next++) {
            const caucus_report r = {.client = i,
                                     .kind = CAUCUS_ASK_COST,
                                     .first = next,
                                     .block = next,
                                     .epoch_or_leaf = now->epoch,
                                     .count = 1,
                                     .value = &cost};
            if (caucus_coordinator_count(f->machine, f->partial, &r) != CAUCUS_OK)
                bench_die("count", "a report was not counted");
        }
    }
}

typedef enum fashion { IN_STEP, ABSENT, CHANGING } fashion;

static uint32_t absent(fashion how, uint32_t step) {
    return how == IN_STEP ? SHARE : how == ABSENT ? 7 : step % SHARE;
}

static double most_bytes(const fleet *f, fashion how) {
    return 64e3 + (how == CHANGING ? (2e6 - 64e3) * f->clients / 1e7 : 0);
}

static void measure(fleet *f, fashion how, const char *words) {
    caucus_error error = {0};
    double seconds = 0, log = 0;
    uint64_t bytes = 0;
    for (uint32_t step = 0; step < STEPS + 2; step++) { /* two to come into the way of it */
        answer(f, absent(how, step));
        const uint64_t bytes_before = caucus_store_bytes_written(f->store);
        must(caucus_store_wipe(f->store, &error), &error); /* the log begins again */
        const double log_before = log_bytes(), before = own_seconds();
        caucus_coordinator_merge(f->machine, f->partial);
        must(caucus_coordinator_decide(f->machine), &error);
        if (caucus_coordinator_announcement(f->machine)->ask != CAUCUS_ASK_COST)
            bench_die("svt", "a check has fired");
        commit(f, &error);
        if (step < 2)
            continue;
        seconds += own_seconds() - before;
        bytes += caucus_store_bytes_written(f->store) - bytes_before;
        log += log_bytes() - log_before;
    }
    printf("  %-34s %12.1f %12.1f %10.2f\n", words, (double)bytes / STEPS / 1e3, log / STEPS / 1e3,
           1e3 * seconds / STEPS);
    fflush(stdout);
    if ((double)bytes / STEPS >= most_bytes(f, how))
        bench_die(words, "a commit writes too much");
}

int main(int argc, char **argv) {
    const uint32_t clients = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000000;
    if (clients < 1000 || clients > 16000000) {
        fprintf(stderr, "usage: bench_commit [CLIENTS [DIRECTORY]], CLIENTS 1000 to 16000000\n");
        return 2;
    }
    const char *under = argc > 2 ? argv[2] : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    fleet f;
    atexit(remove_dir);
    fleet_open(&f, clients, under);
    printf("svt, %u clients, %u experts, in %s: a step without counting\n"
           "  %-34s %12s %12s %10s\n"
           "  %-34s %12s %12s %10s\n",
           clients, EXPERTS, dir, "", "KB of the", "KB of", "ms of", "", "state", "log", "CPU");
    measure(&f, IN_STEP, "all in step");
    measure(&f, ABSENT, "1 % absent, the same");
    measure(&f, CHANGING, "1 % absent, others each time");
    printf("  resident %.0f MB\n", bench_resident(getpid()) / 1e6);
    fleet_close(&f);
    return 0;
}
