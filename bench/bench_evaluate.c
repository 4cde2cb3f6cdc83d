/* SPDX-License-Identifier: Apache-2.0 */
/* bench_evaluate.c: what evaluating k of d experts costs, on a device and in the simulator.
 *
 *   bench_evaluate [--json]
 *
 * On a device an expert is a small linear model, a dot product of 4096 floats: far less work than any model that is
 * worth choosing. A client plays 255 rounds of a plan with d = 20 experts, evaluates what caucus_client_evaluate() says
 * and observes it, for k = d (the plan without `evaluate`) and for fewer. Losses that were computed are counted; the
 * goal for the time is k/d of it and at most 20 % of that more. The inputs are generated, or read from a file that is
 * mapped, as a device would read its own: the k cells that are wanted of each row and no others.
 *
 * The simulator makes every loss whatever its clients evaluate, since the best expert in hindsight is known from all of
 * them; so there the goal is that few evaluations cost at most 20 % more than all, for generated losses and for those
 * of a file.
 *
 * All are measured in turn in one run, in processor time, the best of several each; the program ends with 1 where a
 * goal is missed. */
#include "bench.h"
#include "data/npy.h"
#include "sim/run.h"

#include <caucus/caucus.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXPERTS = 20, WEIGHTS = 4096, ROUNDS = 255, REPEATS = 30 };
enum { FLEET = 500, FLEET_ROUNDS = 1023, FLEET_REPEATS = 15 };
static const uint32_t few[] = {1, 5, 10};
enum { COUNT = sizeof few / sizeof few[0] };

static bool json, any_line, good = true;
static float model[EXPERTS][WEIGHTS], input[WEIGHTS];
static caucus_npy from_file; /* [FLEET][FLEET_ROUNDS][EXPERTS] */
static uint64_t computed;    /* losses, on the device */

/* Processor time: others on the machine change it little, and everything here is one thread at a time. */
static double cpu_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* A ratio beside its goal. */
static void report(const char *what, uint32_t k, double ratio, double goal) {
    good = good && ratio <= goal;
    if (json)
        printf("%s  \"%s, %u of 20\": %.4g", any_line ? ",\n" : "{\n", what, k, ratio);
    else
        printf("  %-44s %2u of 20   %.4f of evaluating all (goal: at most %.4f)%s\n", what, k, ratio, goal,
               ratio <= goal ? "" : "   MISSED");
    any_line = true;
}

static caucus_plan *plan_of(uint32_t k, uint64_t rounds) {
    caucus_settings s;
    caucus_error error = {0};
    caucus_plan *plan = NULL;
    caucus_settings_init(&s);
    s.algorithm = CAUCUS_ALGORITHM_STOCH;
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.clients = FLEET;
    s.experts = EXPERTS;
    s.rounds = rounds;
    s.evaluate = k;
    must(caucus_plan_new(&s, &plan, &error), &error);
    return plan;
}

/* ---- a device ---- */

static double evaluate(bool file, uint64_t round, uint32_t expert) {
    float sum = 0;
    if (file) /* the model's answer is compared with what the file says */
        memcpy(&sum, from_file.values + (round * EXPERTS + expert) * sizeof sum, sizeof sum);
    for (int i = 0; i < WEIGHTS; i++)
        sum += model[expert][i] * input[i];
    computed++;
    return (double)(sum < 0 ? -sum : sum) / (1 + (double)(sum < 0 ? -sum : sum));
}

/* Nanoseconds of one run of one client, losses included. */
static double play(const caucus_plan *plan, bool file) {
    caucus_error error = {0};
    caucus_client *client = NULL;
    caucus_key key;
    caucus_announcement a = {.ask = CAUCUS_ASK_LEAF, .block = 2};
    const uint32_t k = caucus_plan_evaluate(plan);
    caucus_key_from_seed(1, &key);
    must(caucus_client_new(plan, 1, &key, &client), &error);
    must(caucus_client_hear(client, &a), &error);
    computed = 0;
    const double begin = cpu_ns();
    for (;;) {
        while (caucus_client_rounds_left(client) > 0) {
            uint32_t which[EXPERTS];
            double row[EXPERTS];
            must(caucus_client_evaluate(client, which, k), &error);
            for (uint32_t j = 0; j < k; j++)
                row[j] = evaluate(file, caucus_client_round(client), which[j]);
            must(caucus_client_observe(client, row, 1), &error);
        }
        if (caucus_client_round(client) == ROUNDS)
            break;
        (void)caucus_client_report(client);
        a.serial++;
        a.block++;
        if (a.block > caucus_plan_blocks(plan))
            a.ask = CAUCUS_ASK_NOTHING;
        must(caucus_client_hear(client, &a), &error);
    }
    const double time = cpu_ns() - begin;
    caucus_client_free(client);
    return time;
}

static void bench_device(bool file) {
    caucus_plan *all = plan_of(0, ROUNDS), *plan[COUNT];
    double best_all = 1e30, best[COUNT];
    uint64_t losses_all = 0, losses[COUNT];
    for (int i = 0; i < COUNT; i++) {
        plan[i] = plan_of(few[i], ROUNDS);
        best[i] = 1e30;
    }
    for (int r = 0; r < REPEATS; r++) { /* in turn, so that a busy moment meets all of them */
        const double time = play(all, file);
        best_all = time < best_all ? time : best_all;
        losses_all = computed;
        for (int i = 0; i < COUNT; i++) {
            const double own = play(plan[i], file);
            best[i] = own < best[i] ? own : best[i];
            losses[i] = computed;
        }
    }
    for (int i = 0; i < COUNT; i++) {
        report(file ? "device, losses of a file: losses computed" : "device, generated losses: losses computed", few[i],
               (double)losses[i] / (double)losses_all, (double)few[i] / EXPERTS);
        report(file ? "device, losses of a file: time" : "device, generated losses: time", few[i], best[i] / best_all,
               1.2 * few[i] / EXPERTS);
        caucus_plan_free(plan[i]);
    }
    caucus_plan_free(all);
}

/* ---- the simulator ---- */

static double simulate(const caucus_plan *plan, const caucus_adversary *adversary) {
    caucus_error error = {0};
    caucus_run run = {.settings = *caucus_plan_settings(plan), .plan = plan, .trials = 1, .threads = 1, .seed = 1};
    caucus_run_result result;
    const double begin = cpu_ns();
    must(caucus_run_play(&run, adversary, &result, &error), &error);
    const double time = cpu_ns() - begin;
    caucus_run_result_free(&result);
    return time;
}

static void bench_simulator(const char *what, const caucus_adversary_settings *settings) {
    caucus_error error = {0};
    caucus_adversary *adversary = NULL;
    caucus_plan *all = plan_of(0, FLEET_ROUNDS), *plan[COUNT];
    double best_all = 1e30, best[COUNT];
    must(caucus_adversary_open(settings, &adversary, &error), &error);
    for (int i = 0; i < COUNT; i++) {
        plan[i] = plan_of(few[i], FLEET_ROUNDS);
        best[i] = 1e30;
    }
    for (int r = 0; r < FLEET_REPEATS; r++) {
        const double time = simulate(all, adversary);
        best_all = time < best_all ? time : best_all;
        for (int i = 0; i < COUNT; i++) {
            const double own = simulate(plan[i], adversary);
            best[i] = own < best[i] ? own : best[i];
        }
    }
    for (int i = 0; i < COUNT; i++) {
        report(what, few[i], best[i] / best_all, 1.2);
        caucus_plan_free(plan[i]);
    }
    caucus_plan_free(all);
    caucus_adversary_close(adversary);
}

/* A NumPy file of coins, and its path. */
static void make_file(char path[32]) {
    enum { CELLS = EXPERTS * FLEET_ROUNDS };
    static float row[CELLS];
    char head[128];
    uint64_t state = 1;
    (void)snprintf(path, 32, "/tmp/bench_evaluate.XXXXXX");
    const int fd = mkstemp(path);
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    const int used =
        snprintf(head + 10, sizeof head - 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d, %d)}", FLEET,
                 FLEET_ROUNDS, EXPERTS);
    head[10 + used] = ' ';
    head[sizeof head - 1] = '\n';
    bool whole = file != NULL && fwrite(head, sizeof head, 1, file) == 1;
    for (int client = 0; whole && client < FLEET; client++) {
        for (int i = 0; i < CELLS; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            row[i] = (double)(state >> 40) < (0.1 + 0.02 * (i % EXPERTS)) * 0x1p24 ? 1 : 0;
        }
        whole = fwrite(row, sizeof row, 1, file) == 1;
    }
    if (file == NULL || fclose(file) != 0 || !whole) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv) {
    char path[32];
    caucus_error error = {0};
    json = argc > 1 && strcmp(argv[1], "--json") == 0;
    for (int y = 0; y < EXPERTS; y++)
        for (int i = 0; i < WEIGHTS; i++)
            model[y][i] = (float)((y * 37 + i * 11) % 101 - 50) / 5000;
    for (int i = 0; i < WEIGHTS; i++)
        input[i] = (float)(i % 7) / 7;
    make_file(path);
    must(caucus_npy_open(path, &from_file, &error), &error);
    bench_device(false);
    bench_device(true);
    const caucus_adversary_settings coins = {
        .kind = CAUCUS_ADVERSARY_BERNOULLI, .seed = 1, .clients = FLEET, .experts = EXPERTS, .rounds = FLEET_ROUNDS};
    const caucus_adversary_settings own = {.kind = CAUCUS_ADVERSARY_LOSSES, .losses = path};
    bench_simulator("simulator, generated losses: time", &coins);
    bench_simulator("simulator, losses of a file: time", &own);
    caucus_npy_close(&from_file);
    (void)unlink(path);
    printf(json ? "\n}\n" : "");
    return good ? 0 : 1;
}
