/* SPDX-License-Identifier: Apache-2.0 */
/* bench_steps.c: what a step costs a coordinator that has decided many.
 *
 *     bench_steps [STEPS [DIRECTORY]]        20,000 steps, in new directories under /dev/shm or the one given
 *
 * The real coordinator with its real store, without the network (long_run.h): hedge, which releases something at every
 * step, and svt, which seldom does. Ten lines each, one for each tenth of the run: processor and wall time per step in
 * it, resident memory, the database, the ledger's lines. Then the run is taken up again from the store, which reads all
 * of it once. `tools/nightly` plays a million steps; docs/OPERATIONS.md, "Sizing", says what came out. */
#include "bench_process.h"
#include "long_run.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "plan/ledger.h"

static char dir[256];

static void remove_dir(void) {
    if (dir[0])
        bench_remove(dir);
    dir[0] = '\0';
}

static double database_bytes(void) {
    static const char *const file[] = {"coordinator.db", "coordinator.db-wal"};
    double bytes = 0;
    for (size_t i = 0; i < 2; i++) {
        char path[300];
        struct stat info;
        snprintf(path, sizeof path, "%s/%s", dir, file[i]);
        bytes += stat(path, &info) == 0 ? (double)info.st_size : 0;
    }
    return bytes;
}

static void play(long_run *l, uint64_t steps, uint64_t first) {
    const double start = caucus_clock_seconds(), cpu = bench_cpu(getpid());
    for (uint64_t i = 0; i < steps; i++)
        if (!long_run_step(l)) {
            fprintf(stderr, "bench_steps: no step after %" PRIu64 ": %s\n", first + i, l->server->failure_error.text);
            exit(1);
        }
    printf("  %9" PRIu64 "  %8.1f  %8.1f  %8.1f  %9.1f  %9zu\n", first + steps,
           1e6 * (bench_cpu(getpid()) - cpu) / (double)steps, 1e6 * (caucus_clock_seconds() - start) / (double)steps,
           bench_resident(getpid()) / 1e6, database_bytes() / 1e6, caucus_ledger_count(l->server->ledger));
    fflush(stdout);
}

static void play_run(caucus_algorithm algorithm, uint64_t steps, const char *under) {
    caucus_error error = {0};
    caucus_plan *plan = NULL;
    long_run l;
    snprintf(dir, sizeof dir, "%s/caucus-bench.XXXXXX", under);
    if (!mkdtemp(dir))
        bench_die(dir, strerror(errno));
    must(long_run_plan(algorithm, steps, &plan, &error), &error);
    must(long_run_open(&l, plan, dir, &error), &error);
    printf("%s, %u clients, %u experts, in %s\n"
           "      steps     us of     us of  resident   database   lines of\n"
           "                  CPU     clock        MB         MB     ledger\n",
           caucus_algorithm_word(algorithm), LONG_RUN_CLIENTS, LONG_RUN_EXPERTS, dir);
    for (uint64_t i = 0; i < 10; i++)
        play(&l, steps * (i + 1) / 10 - steps * i / 10, steps * i / 10);
    long_run_close(&l);
    const double start = caucus_clock_seconds();
    must(long_run_open(&l, plan, dir, &error), &error);
    printf("  taken up again in %.2f s, %.1f MB resident\n", caucus_clock_seconds() - start,
           bench_resident(getpid()) / 1e6);
    long_run_close(&l);
    caucus_plan_free(plan);
    remove_dir();
}

int main(int argc, char **argv) {
    const uint64_t steps = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000;
    if (steps < 10) {
        fprintf(stderr, "usage: bench_steps [STEPS [DIRECTORY]], STEPS at least 10\n");
        return 2;
    }
    const char *under = argc > 2 ? argv[2] : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    atexit(remove_dir);
    static const caucus_algorithm algorithm[] = {CAUCUS_ALGORITHM_HEDGE, CAUCUS_ALGORITHM_SVT};
    for (size_t i = 0; i < sizeof algorithm / sizeof algorithm[0]; i++) { /* a process each: memory is its own */
        int result = 0;
        const pid_t pid = fork();
        if (pid < 0)
            bench_die("fork", strerror(errno));
        if (pid == 0) {
            play_run(algorithm[i], steps, under);
            exit(0);
        }
        if (waitpid(pid, &result, 0) != pid || result != 0)
            return 1;
    }
    return 0;
}
