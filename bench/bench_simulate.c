/* SPDX-License-Identifier: Apache-2.0 */
/* bench_simulate.c: what the simulator costs beyond making the losses, how cost grows, and the plain NumPy version.
 *
 *  - a full trial against only making the same losses and adding them up (the floor), one core;
 *  - seconds per loss as m, T and d grow: flat lines mean linear cost;
 *  - the NumPy version in bench/reference, one core against one. */
#include "bench.h"

#include <unistd.h>

#include <caucus/caucus.h>

#include "num/grid.h"
#include "sim/trial.h"

typedef struct setup {
    caucus_plan *plan;
    caucus_adversary *adversary;
    uint32_t trials; /* played at a time: a measurement must outlast the machine's moods */
    double sink;
} setup;

static void open_setup(setup *s, bool stoch, uint32_t m, uint32_t d, uint32_t rounds, double epsilon) {
    caucus_error error = {0};
    caucus_settings c;
    caucus_settings_init(&c);
    c.trust = CAUCUS_TRUST_COORDINATOR;
    c.algorithm = stoch ? CAUCUS_ALGORITHM_STOCH : CAUCUS_ALGORITHM_SVT;
    c.clients = m;
    c.experts = d;
    c.rounds = rounds;
    c.epsilon = epsilon;
    *s = (setup){.trials = 1};
    must(caucus_plan_new(&c, &s->plan, &error), &error);
    caucus_adversary_settings a = {.kind = stoch ? CAUCUS_ADVERSARY_GAUSSIAN : CAUCUS_ADVERSARY_REALIZABLE,
                                   .seed = 1,
                                   .clients = m,
                                   .experts = d,
                                   .rounds = rounds,
                                   .epsilon = epsilon};
    must(caucus_adversary_open(&a, &s->adversary, &error), &error);
}

static void close_setup(setup *s) {
    caucus_plan_free(s->plan);
    caucus_adversary_close(s->adversary);
}

static void one_trial(setup *s, uint32_t number) {
    caucus_trial_result result;
    caucus_error error = {0};
    must(caucus_trial_play(s->plan, s->adversary, 1, number, NULL, NULL, NULL, &result), &error);
    s->sink += result.regret;
}

/* The floor: the same losses, made in runs, each client's rows added up once. */
static void losses_of_one(setup *s, uint32_t number) {
    uint32_t m = s->plan->settings.clients, d = s->plan->settings.experts;
    uint64_t rounds = s->plan->settings.rounds;
    uint32_t chunk = 8192 / d ? 8192 / d : 1;
    caucus_adversary_trial *trial;
    caucus_error error = {0};
    must(caucus_adversary_trial_new(s->adversary, number, &trial), &error);
    float *rows = malloc(sizeof *rows * chunk * d);
    int64_t *sums = calloc(d, sizeof *sums);
    caucus_grid grid = {.lo = 0, .hi = 1, .steps = s->plan->grid};
    caucus_clips clips = {0};
    for (uint32_t i = 1; i <= m; i++)
        for (uint64_t t = 0; t < rounds; t += chunk) {
            uint64_t count = rounds - t < chunk ? rounds - t : chunk;
            caucus_adversary_fill(trial, i, t, count, rows);
            caucus_grid_add_rows_f32(&grid, sums, NULL, rows, d, count, &clips);
        }
    s->sink += (double)sums[0];
    free(rows);
    free(sums);
    caucus_adversary_trial_free(trial);
}

static void full_trials(void *argument) {
    setup *s = argument;
    for (uint32_t k = 0; k < s->trials; k++)
        one_trial(s, k);
}

static void only_losses(void *argument) {
    setup *s = argument;
    for (uint32_t k = 0; k < s->trials; k++)
        losses_of_one(s, k);
}

/* Seconds per trial of the NumPy version, or -1 if it cannot run here: then *ret_why says why not. */
static double numpy_seconds(const char *source, const char *arguments, const char **ret_why) {
    char command[8192], line[1 << 16];
    snprintf(command, sizeof command, "%s/bench/reference/__main__.py", source);
    if (access(command, R_OK) != 0) {
        *ret_why = "bench/reference was not found (CAUCUS_SOURCE is the source directory)";
        return -1;
    }
    *ret_why = "bench/reference needs python3-numpy";
    snprintf(command, sizeof command, "/usr/bin/python3 '%s/bench/reference' %s 2>/dev/null", source, arguments);
    FILE *pipe = popen(command, "r");
    double seconds = -1;
    while (pipe && fgets(line, sizeof line, pipe)) {
        const char *key = strstr(line, "\"seconds_per_trial\":");
        if (key)
            seconds = strtod(key + strlen("\"seconds_per_trial\":"), NULL);
    }
    return pipe && pclose(pipe) == 0 ? seconds : -1;
}

typedef struct figure {
    const char *name;
    bool stoch;
    uint32_t rounds;
    size_t turns;
    uint32_t trials; /* in a turn */
    double floor_goal, numpy_goal;
    const char *numpy;
} figure;

int main(int argc, char **argv) {
    bool json = bench_wants_json(argc, argv);
    const char *source = getenv("CAUCUS_SOURCE") ? getenv("CAUCUS_SOURCE") : BENCH_SOURCE;
    char where[256];
    bench_where(where, sizeof where);
    static const figure figures[] = {
        {"Figure 1 (stoch)", true, 1 << 14, 11, 1, 1.3, 8,
         "--algorithm stoch --clients 10 --experts 100 --rounds 16384 --epsilon 10 --adversary gaussian --trials 3 "
         "--seed 1"},
        {"Figure 2 (svt, N = 1)", false, 512, 41, 20, 2, 4,
         "--algorithm svt --clients 10 --experts 100 --rounds 512 --interval 1 --epsilon 10 --adversary realizable "
         "--trials 20 --seed 1"},
    };
    printf(json ? "{\"where\": \"%s\", \"figures\": ["
                : "%s\n\n  one trial, one core      ms   / losses only (goal)   NumPy / ours (goal)\n",
           where);
    for (size_t i = 0; i < 2; i++) {
        const figure *f = &figures[i];
        setup s;
        open_setup(&s, f->stoch, 10, 100, f->rounds, 10);
        s.trials = f->trials;
        bench_pair pair = bench_side_by_side(full_trials, &s, only_losses, &s, f->turns);
        pair.a /= f->trials;
        const char *why = "";
        double numpy = numpy_seconds(source, f->numpy, &why);
        char times[32] = "null";
        if (numpy >= 0)
            snprintf(times, sizeof times, "%.2f", numpy / pair.a);
        if (json)
            printf("%s{\"name\": \"%s\", \"ms\": %.4f, \"over_losses\": %.3f, \"goal\": %.1f, \"numpy_over_ours\": "
                   "%s, \"numpy_goal\": %.0f}",
                   i ? ", " : "", f->name, pair.a * 1e3, pair.ratio, f->floor_goal, times, f->numpy_goal);
        else if (numpy < 0)
            printf("  %-22s %6.2f   %5.2f (<= %.1f)          not measured: %s\n", f->name, pair.a * 1e3, pair.ratio,
                   f->floor_goal, why);
        else
            printf("  %-22s %6.2f   %5.2f (<= %.1f)          %5s (>= %.0f)\n", f->name, pair.a * 1e3, pair.ratio,
                   f->floor_goal, times, f->numpy_goal);
        close_setup(&s);
    }
    printf(json ? "], \"growth\": [" : "\n  growth (stoch)     m      d       T   ns per loss\n");
    static const uint32_t sizes[][3] = {{10, 100, 4096},  {20, 100, 4096}, {40, 100, 4096},  {80, 100, 4096},
                                        {10, 200, 4096},  {10, 400, 4096}, {10, 1600, 4096}, {10, 100, 16384},
                                        {10, 100, 65536}, {1000, 100, 256}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        setup s;
        open_setup(&s, true, sizes[i][0], sizes[i][1], sizes[i][2], 10);
        bench_pair pair = bench_side_by_side(full_trials, &s, only_losses, &s, 3);
        double per_loss = pair.a * 1e9 / ((double)sizes[i][0] * sizes[i][1] * sizes[i][2]);
        printf(json ? "%s{\"clients\": %u, \"experts\": %u, \"rounds\": %u, \"ns_per_loss\": %.3f}"
                    : "%s              %6u %6u %7u   %6.2f\n",
               json && i ? ", " : "", sizes[i][0], sizes[i][1], sizes[i][2], per_loss);
        close_setup(&s);
    }
    if (json)
        printf("]}\n");
    return 0;
}
