/* SPDX-License-Identifier: Apache-2.0 */
/* bench_ranks.c: two ranks (caucus-mpi) against two threads (caucus): the same trials, by turns.
 *
 * What is compared is the time that the programs themselves say they played ("seconds" of their JSON), so that what
 * mpirun takes to start is not in it; that is printed beside it. Goal: ranks play at least 0.95 as many trials a second
 * as threads do. Not measured where there is no caucus-mpi or no mpirun. */
#include "bench.h"

#include <unistd.h>

/* A turn is threads, ranks, ranks, threads, so that a machine that grows slower meanwhile counts for both. One turn is
 * off by 5 % and more where the machine has neighbours. */
#define TURNS 11
#define TRIALS 8000

typedef struct program {
    const char *command;
    double seconds; /* played, in the last turn */
} program;

/* Run it and read how long its run took. */
static void play(void *argument) {
    program *p = argument;
    char line[4096];
    FILE *pipe = popen(p->command, "r");
    p->seconds = 0;
    while (pipe != NULL && fgets(line, sizeof line, pipe) != NULL) {
        const char *key = strstr(line, "\"seconds\":");
        if (key != NULL)
            p->seconds += strtod(key + strlen("\"seconds\":"), NULL);
    }
    if (pipe == NULL || pclose(pipe) != 0 || p->seconds <= 0) {
        fprintf(stderr, "bench_ranks: failed: %s\n", p->command);
        exit(1);
    }
}

int main(int argc, char **argv) {
    bool json = bench_wants_json(argc, argv);
    static const char setting[] =
        "simulate --algorithm svt --trust coordinator --epsilon 10 --clients 10 --experts 100 "
        "--rounds 512 --format json";
    char where[256], threads[1024], ranks[1024];
    bench_where(where, sizeof where);
    if (BENCH_CAUCUS_MPI[0] == '\0' || access(BENCH_CAUCUS_MPI, X_OK) != 0 ||
        system("mpirun --version >/dev/null 2>&1")) {
        printf(json ? "{\"where\": \"%s\", \"ranks_over_threads\": null}\n"
                    : "%s\n\n  not measured: no caucus-mpi or no mpirun (tools/install-deps --test)\n",
               where);
        return 0;
    }
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    snprintf(threads, sizeof threads, "'%s' %s --trials %d --threads 2", BENCH_CAUCUS, setting, TRIALS);
    snprintf(ranks, sizeof ranks, "mpirun --oversubscribe --bind-to none -n 2 '%s' %s --trials %d --threads 1",
             BENCH_CAUCUS_MPI, setting, TRIALS);
    program two_threads = {threads, 0}, two_ranks = {ranks, 0};
    double ratio[TURNS], thread_seconds[TURNS], rank_seconds[TURNS], start[TURNS];
    play(&two_threads);
    for (size_t i = 0; i < TURNS; i++) {
        play(&two_threads);
        thread_seconds[i] = two_threads.seconds;
        double begin = caucus_clock_seconds();
        play(&two_ranks);
        rank_seconds[i] = two_ranks.seconds;
        play(&two_ranks);
        rank_seconds[i] = (rank_seconds[i] + two_ranks.seconds) / 2;
        start[i] = (caucus_clock_seconds() - begin) / 2 - rank_seconds[i];
        play(&two_threads);
        thread_seconds[i] = (thread_seconds[i] + two_threads.seconds) / 2;
        ratio[i] = thread_seconds[i] / rank_seconds[i];
    }
    double median = bench_median(ratio, TURNS);
    printf(json ? "{\"where\": \"%s\", \"trials\": %d, \"threads_s\": %.3f, \"ranks_s\": %.3f, \"start_s\": %.3f, "
                  "\"ranks_over_threads\": %.3f, \"goal\": 0.95}\n"
                : "%s\n\n  %d trials of Figure 2 (svt): two threads %.2f s, two ranks %.2f s (and %.2f s to start)\n"
                  "  ranks / threads, trials a second: %.3f (>= 0.95)\n",
           where, TRIALS, bench_median(thread_seconds, TURNS), bench_median(rank_seconds, TURNS),
           bench_median(start, TURNS), median);
    return 0;
}
