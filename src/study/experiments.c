/* SPDX-License-Identifier: Apache-2.0 */
/* experiments.c: the experiments of specs.c, played. See study.h.
 * layer: study */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data/movielens.h"
#include "data/movielens_read.h"
#include "num/choice.h"
#include "num/nearest.h"
#include "sim/convex.h"
#include "store/atomic_file.h"
#include "store/clock.h"
#include "study/parts.h"

CAUCUS_CHOICE_WORDS(section, CAUCUS_SECTION_LIST)

/* A number from 1 is a section too. */
caucus_status caucus_section_parse(const char *word, caucus_section *ret, caucus_error *ret_error) {
    for (unsigned i = 0; i < section_count; i++) {
        const char number[2] = {(char)('1' + i), '\0'};
        if (strcmp(word, section_choices[i].word) == 0 || strcmp(word, number) == 0) {
            *ret = (caucus_section)i;
            return CAUCUS_OK;
        }
    }
    const char *words[CAUCUS_SECTION_COUNT + 1] = {NULL};
    for (unsigned i = 0; i < section_count; i++)
        words[i] = section_choices[i].word;
    return caucus_fail(ret_error, CAUCUS_E_RANGE, "only",
                       "'%s' (accepted: 1 or stoch, 2 or svt, 3 or movielens, 4 or scaling, 5 or fleet)%s", word,
                       caucus_meant_of(word, words).text);
}

typedef struct stepper {
    const caucus_study_options *options;
    const char *step;
} stepper;

static void forward(void *user, uint64_t done, uint64_t trials) {
    const stepper *s = user;
    s->options->progress(s->options->progress_user, s->step, done, trials);
}

caucus_status caucus_study_play(caucus_study *study, const char *step, const caucus_run *run,
                                const caucus_adversary *shared, caucus_run_result *ret, caucus_error *ret_error) {
    stepper s = {&study->options, step};
    caucus_run mine = *run;
    mine.threads = study->options.threads;
    mine.stop = study->options.stop;
    mine.ranks = study->options.ranks;
    mine.progress = study->options.progress ? forward : NULL;
    mine.progress_user = &s;
    caucus_status status = caucus_run_play(&mine, shared, ret, ret_error);
    if (status == CAUCUS_OK && ret->done < ret->trials) {
        caucus_run_result_free(ret);
        return caucus_fail(ret_error, CAUCUS_E_STOPPED, "", "stopped");
    }
    if (status == CAUCUS_OK) {
        study->runs++;
        study->trials += ret->done;
    }
    return status;
}

/* What the paper's constants must be asked for so that they guarantee `epsilon`. Every noise scale and rate of theirs
 * is proportional to what is asked, and so is the guarantee. */
static caucus_status ask_for_guarantee(caucus_settings *settings, double epsilon, caucus_error *ret_error) {
    caucus_plan *plan = NULL;
    settings->epsilon = epsilon;
    caucus_status status = caucus_plan_new(settings, &plan, ret_error);
    if (status == CAUCUS_OK)
        settings->epsilon = epsilon * epsilon / plan->guarantee.epsilon_choices;
    caucus_plan_free(plan);
    return status;
}

static caucus_status play_series(caucus_study *study, const caucus_figure_spec *spec, const caucus_adversary *shared,
                                 uint32_t trials, caucus_series *series, caucus_error *ret_error) {
    const caucus_series_spec *s = series->spec;
    caucus_run run = {.trials = trials, .seed = series->seed, .adversary = {.kind = spec->adversary}};
    caucus_settings_init(&run.settings);
    run.settings.algorithm = s->algorithm;
    run.settings.trust = s->trust;
    run.settings.calibration = s->calibration;
    run.settings.protocol = s->protocol;
    run.settings.interval = s->interval;
    run.settings.clients = spec->clients;
    run.settings.experts = spec->experts;
    run.settings.rounds = spec->rounds;
    run.settings.epsilon = spec->epsilon;
    if (spec->convex) { /* the paper's T1 = 1 */
        run.settings.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
        run.settings.trees = 1;
        caucus_convex_clamps(spec->experts, &run.settings.lipschitz, &run.settings.smoothness);
    } else if (shared)
        caucus_adversary_range(shared, &run.settings.lo, &run.settings.hi);
    if (s->equal) {
        const caucus_status status = ask_for_guarantee(&run.settings, spec->epsilon, ret_error);
        if (status != CAUCUS_OK)
            return status;
    }
    return caucus_study_play(study, s->key, &run, shared, &series->run, ret_error);
}

/* The losses every series of a figure meets. Returns CAUCUS_OK with *ret NULL and figure->missing set if the data is
 * not there. */
static caucus_status open_losses(const caucus_study *study, const caucus_figure_spec *spec, uint64_t seed,
                                 caucus_figure *figure, caucus_adversary **ret, caucus_error *ret_error) {
    caucus_adversary_settings a = {.kind = spec->adversary,
                                   .seed = seed,
                                   .clients = spec->clients,
                                   .experts = spec->experts,
                                   .rounds = spec->rounds,
                                   .epsilon = spec->epsilon,
                                   .convex = spec->convex};
    if (spec->adversary == CAUCUS_ADVERSARY_MOVIELENS) {
        a.data = study->options.data ? study->options.data : caucus_movielens_find();
        if (!a.data) {
            (void)snprintf(figure->missing, sizeof figure->missing,
                           "MovieLens-1M is not here. Get ml-1m.zip from " CAUCUS_MOVIELENS_ORIGIN
                           " (its licence forbids passing it on, so it is not part of this program), unpack it "
                           "to " CAUCUS_MOVIELENS_HERE ", or say where it is (the setting data).");
            return CAUCUS_OK;
        }
        figure->data = a.data;
    }
    caucus_error error = {0};
    caucus_status status = caucus_adversary_open(&a, ret, &error);
    if (a.data && status == CAUCUS_E_CONFLICT) /* other users or genres than the experiment's */
        return caucus_fail(ret_error, status, "data",
                           "%s: not MovieLens-1M, whose 6,040 users and 18 genres the experiment needs",
                           caucus_path_tail(a.data));
    if (status != CAUCUS_OK)
        *ret_error = error;
    return status;
}

static caucus_status run_main(caucus_study *study, caucus_figure *figure, caucus_error *ret_error) {
    const caucus_figure_spec *spec = figure->spec;
    caucus_adversary *losses = NULL;
    const caucus_ranks *ranks = study->options.ranks;
    caucus_status status = open_losses(study, spec, study->options.seed, figure, &losses, ret_error);
    status = caucus_ranks_agree(ranks, status, ret_error);
    if (status == CAUCUS_OK && caucus_ranks_any(ranks, !losses) && !figure->missing[0])
        (void)snprintf(figure->missing, sizeof figure->missing, "MovieLens-1M is not on every machine of this run.");
    if (status != CAUCUS_OK || figure->missing[0]) {
        caucus_adversary_close(losses);
        return status;
    }
    for (uint32_t i = 0; status == CAUCUS_OK && i < figure->count; i++) {
        figure->series[i] = (caucus_series){.spec = &spec->series[i], .seed = study->options.seed};
        const uint32_t trials = study->options.quick ? spec->quick_trials : spec->trials;
        status = play_series(study, spec, losses, trials, &figure->series[i], ret_error);
    }
    caucus_adversary_close(losses);
    return status;
}

static caucus_status run_seeds(caucus_study *study, caucus_figure *figure, caucus_error *ret_error) {
    const caucus_figure_spec *spec = figure->spec;
    uint32_t trials = study->options.quick ? spec->quick_seed_trials : spec->seed_trials;
    caucus_status status = CAUCUS_OK;
    for (uint32_t s = 0; status == CAUCUS_OK && s < figure->seeds; s++) {
        caucus_series *at = figure->small + (size_t)s * figure->small_count;
        caucus_adversary *losses = NULL;
        uint64_t seed = study->options.seed + s + 1;
        status = open_losses(study, spec, seed, figure, &losses, ret_error);
        for (uint32_t i = 0; status == CAUCUS_OK && i < figure->count; i++)
            if (spec->series[i].small != CAUCUS_STROKE_HIDDEN) {
                *at = (caucus_series){.spec = &spec->series[i], .seed = seed};
                status = play_series(study, spec, losses, trials, at++, ret_error);
            }
        caucus_adversary_close(losses);
    }
    return status;
}

caucus_status caucus_study_figure_run(caucus_study *study, caucus_experiment experiment, caucus_error *ret_error) {
    caucus_figure *figure = &study->figure[experiment];
    const caucus_figure_spec *spec = &caucus_figure_specs[experiment];
    double start = caucus_clock_seconds();
    figure->spec = spec;
    figure->seeds = study->options.quick ? spec->quick_seeds : spec->seeds;
    for (const caucus_series_spec *s = spec->series; s->key; s++) {
        figure->count++;
        figure->small_count += s->small != CAUCUS_STROKE_HIDDEN;
    }
    figure->series = calloc(figure->count, sizeof *figure->series);
    figure->small = calloc((size_t)figure->seeds * figure->small_count + 1, sizeof *figure->small);
    if (!figure->series || !figure->small)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "no memory for a report");
    caucus_status status = run_main(study, figure, ret_error);
    if (status == CAUCUS_OK && !figure->missing[0])
        status = run_seeds(study, figure, ret_error);
    figure->seconds = caucus_clock_seconds() - start;
    return status;
}

/* A directory that somebody named is never passed over in silence, also where this report would not read it. */
static caucus_status check_named_data(const char *directory, caucus_error *ret_error) {
    char path[CAUCUS_PATH_BYTES];
    struct stat info;
    if (!directory || (caucus_path_join(directory, "ratings.dat", path) && stat(path, &info) == 0))
        return CAUCUS_OK;
    const char *shown = caucus_path_tail(directory);
    if (caucus_path_join(directory, "u.data", path) && stat(path, &info) == 0)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "data",
                           "%s: this is MovieLens 100K, the paper’s experiment needs the 6,040 users of "
                           "MovieLens-1M",
                           shown);
    if (stat(directory, &info) != 0)
        return caucus_fail_os(ret_error, CAUCUS_E_PATH, errno, "data", "%s", shown);
    return caucus_fail(ret_error, CAUCUS_E_RANGE, "data",
                       "%s: no ratings.dat in it — give the directory that ml-1m.zip unpacks to", shown);
}

static caucus_status fail_missing(caucus_error *ret_error) {
    return caucus_fail_hint(ret_error,
                            caucus_fail(ret_error, CAUCUS_E_PATH, "only",
                                        "movielens: no MovieLens-1M in " CAUCUS_MOVIELENS_HERE
                                        " or " CAUCUS_MOVIELENS_SHARED),
                            "get ml-1m.zip from " CAUCUS_MOVIELENS_ORIGIN ", unpack it to " CAUCUS_MOVIELENS_HERE
                            ", or name its directory as 'data'");
}

caucus_status caucus_study_run(const caucus_study_options *options, caucus_study *ret, caucus_error *ret_error) {
    *ret = (caucus_study){.options = *options};
    double start = caucus_clock_seconds();
    caucus_status status = caucus_ranks_agree(options->ranks, check_named_data(options->data, ret_error), ret_error);
    /* The one that reads files comes first: what is wrong with them should not be found out at the end. */
    static const caucus_experiment order[] = {CAUCUS_EXPERIMENT_MOVIELENS, CAUCUS_EXPERIMENT_MOVIELENS_PAPER,
                                              CAUCUS_EXPERIMENT_STOCH,     CAUCUS_EXPERIMENT_PER_EXPERT,
                                              CAUCUS_EXPERIMENT_MIXTURE,   CAUCUS_EXPERIMENT_SVT};
    for (size_t i = 0; status == CAUCUS_OK && i < sizeof order / sizeof order[0]; i++)
        if (options->only[caucus_figure_specs[order[i]].section]) {
            status = caucus_study_figure_run(ret, order[i], ret_error);
            if (status == CAUCUS_OK && options->chosen && ret->figure[order[i]].missing[0])
                status = fail_missing(ret_error);
        }
    if (status == CAUCUS_OK && options->only[CAUCUS_SECTION_SCALING])
        status = caucus_study_scaling_run(ret, ret_error);
    if (status == CAUCUS_OK && options->only[CAUCUS_SECTION_FLEET])
        status = caucus_study_fleet_run(ret, ret_error);
    ret->seconds = caucus_clock_seconds() - start;
    if (status == CAUCUS_OK)
        caucus_study_judge(ret);
    return status;
}

void caucus_study_free(caucus_study *study) {
    for (unsigned e = 0; e < CAUCUS_EXPERIMENT_COUNT; e++) {
        caucus_figure *figure = &study->figure[e];
        for (uint32_t i = 0; figure->series && i < figure->count; i++)
            caucus_run_result_free(&figure->series[i].run);
        for (uint32_t i = 0; figure->small && i < figure->seeds * figure->small_count; i++)
            caucus_run_result_free(&figure->small[i].run);
        free(figure->series);
        free(figure->small);
    }
    free(study->scaling.sweep);
    free(study->fleet.series);
    *study = (caucus_study){0};
}

const caucus_series *caucus_study_series(const caucus_study *study, caucus_experiment experiment, const char *key) {
    const caucus_figure *figure = &study->figure[experiment];
    for (uint32_t i = 0; figure->spec && !figure->missing[0] && i < figure->count; i++)
        if (strcmp(figure->series[i].spec->key, key) == 0)
            return &figure->series[i];
    return NULL;
}

double caucus_study_mean(const caucus_study *study, caucus_experiment experiment, const char *key) {
    const caucus_series *series = caucus_study_series(study, experiment, key);
    return series ? caucus_run_regret(&series->run).mean : NAN;
}
