/* SPDX-License-Identifier: Apache-2.0 */
/* claims.c: what must hold, and whether it did. See study.h.
 * layer: study
 *
 * The limits are ours: they are what the calibration of docs/PRIVACY.md reaches, with room for the spread of the mean.
 * A claim about something that was not run is left out, never passed. */
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plan/family.h"
#include "show/bound_fit.h"
#include "study/parts.h"

#define SVT_LIMIT 2.5        /* regret per client, figure 2, N = 1 */
#define SVT_SPEED_UP 4.0     /* of ten clients over one, at the paper's constants */
#define STOCH_SPEED_UP 3.0   /* of ten clients over one */
#define PAPER_SPEED_UP 2.0   /* the same with the paper's losses, constants and local noise */
#define NOTHING 0.01         /* a difference that nobody sees in a figure */
#define RATINGS_SPEED_UP 5.0 /* of ten clients over one, MovieLens in the paper's units, N = 1 */
#define SVT_FACTOR 5.0       /* tight against the paper's constants at equal guaranteed epsilon, N = 1 */
#define MOVIELENS_FACTOR 4.0 /* likewise */
#define NO_BETTER 0.9        /* of one client alone: less than this would be "better" */
#define TRAFFIC_FACTOR 30.0  /* the paper's messages against two steps, N = 1, d = 100 */
#define SLOPE_TRAFFIC 0.02   /* message counts are exact; T/N - 1 is not quite T/N */
#define BELOW_ERRORS 4.0     /* a mean may be this many standard errors below what nobody can beat: 3e-5 by chance */
#define FIT_ERRORS 3.0       /* and a slope this many of its fit above its theory and the room of scaling.c */

caucus_claim *caucus_study_claim(caucus_study *study, caucus_section section, bool holds, const char *text) {
    assert(study->claims < CAUCUS_CLAIMS_MAX);
    caucus_claim *claim = &study->claim[study->claims++];
    *claim = (caucus_claim){.section = section, .holds = holds};
    (void)snprintf(claim->text, sizeof claim->text, "%s", text);
    return claim;
}

static void CAUCUS_PRINTF(2, 3) measured(caucus_claim *claim, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(claim->measured, sizeof claim->measured, format, args);
    va_end(args);
}

/* "21.1 ± 2.2", into one of four buffers that take turns: at most four in one call. */
static const char *shown(const caucus_series *series) {
    static _Thread_local char buffer[4][48];
    static _Thread_local unsigned turn;
    caucus_summary s = caucus_run_regret(&series->run);
    caucus_text text = {0};
    caucus_text_spread(&text, s.mean, s.std);
    char *to = buffer[turn++ % 4];
    (void)snprintf(to, sizeof buffer[0], "%s", text.data ? text.data : "");
    caucus_text_free(&text);
    return to;
}

double caucus_study_within(const caucus_run_result *run) {
    uint32_t within = 0;
    for (uint32_t i = 0; i < run->done; i++)
        within += run->trial[i].regret <= run->plan->bound;
    return run->done ? (double)within / run->done : 0;
}

/* The paper's figure 1 with its own losses, in both readings of them. */
static void judge_entropy(caucus_study *study) {
    for (int reading = 0; reading < 2; reading++) {
        const caucus_experiment at = reading ? CAUCUS_EXPERIMENT_MIXTURE : CAUCUS_EXPERIMENT_PER_EXPERT;
        const caucus_series *ten = caucus_study_series(study, at, "stoch-paper-local");
        const caucus_series *one = caucus_study_series(study, at, "limited-updates-paper");
        if (!ten || !one)
            continue;
        const double ratio = caucus_run_regret(&one->run).mean / caucus_run_regret(&ten->run).mean;
        measured(reading
                     ? caucus_study_claim(study, CAUCUS_SECTION_STOCH, fabs(ratio - 1) <= NOTHING,
                                          "figure 1, cross-entropy of the mixture: ten clients gain nothing visible")
                     : caucus_study_claim(study, CAUCUS_SECTION_STOCH, ratio >= PAPER_SPEED_UP,
                                          "figure 1, cross-entropy per expert: ten clients lose at most half of one "
                                          "alone"),
                 "%s against %s, with the paper's constants and local noise", shown(ten), shown(one));
    }
}

/* `less` loses at most one part in `factor` of what `more` does. */
static void judge_times(caucus_study *study, caucus_section section, const caucus_series *less,
                        const caucus_series *more, double factor, const char *text) {
    const double ratio = caucus_run_regret(&more->run).mean / caucus_run_regret(&less->run).mean;
    measured(caucus_study_claim(study, section, ratio >= factor, text), "%s against %s: %.1f times less", shown(less),
             shown(more), ratio);
}

static void judge_stoch(caucus_study *study) {
    const caucus_section section = CAUCUS_SECTION_STOCH;
    const caucus_series *ten = caucus_study_series(study, CAUCUS_EXPERIMENT_STOCH, "stoch");
    const caucus_series *one = caucus_study_series(study, CAUCUS_EXPERIMENT_STOCH, "limited-updates");
    if (!ten || !one)
        return;
    judge_times(study, section, ten, one, STOCH_SPEED_UP, "stoch: ten clients lose at most a third of one alone");
    const caucus_series *central = caucus_study_series(study, CAUCUS_EXPERIMENT_STOCH, "stoch-paper-equal");
    const caucus_series *local = caucus_study_series(study, CAUCUS_EXPERIMENT_STOCH, "stoch-paper-local-equal");
    const double mean = caucus_run_regret(&ten->run).mean;
    measured(
        caucus_study_claim(study, section,
                           mean < caucus_run_regret(&central->run).mean && mean < caucus_run_regret(&local->run).mean,
                           "stoch loses less than with the paper's constants at equal guaranteed epsilon"),
        "%s against %s (central noise) and %s (local noise)", shown(ten), shown(central), shown(local));
}

/* Reports that are too rare eat up what ten clients gain: said where the gains are. */
static void judge_rare_reports(caucus_study *study) {
    const caucus_section section = CAUCUS_SECTION_SVT;
    const caucus_series *rare = caucus_study_series(study, CAUCUS_EXPERIMENT_SVT, "svt-50");
    const caucus_series *alone = caucus_study_series(study, CAUCUS_EXPERIMENT_SVT, "sparse-vector");
    const caucus_series *paper = caucus_study_series(study, CAUCUS_EXPERIMENT_SVT, "svt-50-paper-equal");
    measured(caucus_study_claim(study, section,
                                caucus_run_regret(&rare->run).mean >= NO_BETTER * caucus_run_regret(&alone->run).mean,
                                "svt with a report every 50 rounds does not beat one client that decides every round"),
             "%s against %s, both with our constants (the paper's at equal guaranteed epsilon: %s)", shown(rare),
             shown(alone), shown(paper));
}

static void judge_svt(caucus_study *study) {
    const caucus_section section = CAUCUS_SECTION_SVT;
    const caucus_series *tight = caucus_study_series(study, CAUCUS_EXPERIMENT_SVT, "svt-1");
    const caucus_series *paper = caucus_study_series(study, CAUCUS_EXPERIMENT_SVT, "svt-1-paper");
    const caucus_series *equal = caucus_study_series(study, CAUCUS_EXPERIMENT_SVT, "svt-1-paper-equal");
    const caucus_series *alone = caucus_study_series(study, CAUCUS_EXPERIMENT_SVT, "sparse-vector-paper");
    const caucus_series *wordy = caucus_study_series(study, CAUCUS_EXPERIMENT_SVT, "svt-1-paper-protocol");
    if (!tight || !paper || !equal || !alone || !wordy)
        return;
    double mean = caucus_run_regret(&tight->run).mean, mean_paper = caucus_run_regret(&paper->run).mean;
    double mean_alone = caucus_run_regret(&alone->run).mean, mean_equal = caucus_run_regret(&equal->run).mean;
    measured(caucus_study_claim(study, section, mean_alone >= SVT_SPEED_UP * mean_paper,
                                "svt at the paper's constants: ten clients lose at most a quarter of one alone"),
             "%s against %s: %.1f times less", shown(paper), shown(alone), mean_alone / mean_paper);
    measured(caucus_study_claim(study, section, mean <= SVT_LIMIT, "svt with our constants: at most 2.5 per client"),
             "%s", shown(tight));
    measured(caucus_study_claim(study, section, mean_equal >= SVT_FACTOR * mean,
                                "svt with our constants: at most a fifth of the paper's at equal guaranteed epsilon"),
             "%s against %s: %.1f times less (at equal epsilon asked for the paper's give %s)", shown(tight),
             shown(equal), mean_equal / mean, shown(paper));
    judge_rare_reports(study);
    uint32_t same = 0;
    for (uint32_t i = 0; i < tight->run.done; i++)
        same += tight->run.trial[i].digest == wordy->run.trial[i].digest;
    measured(caucus_study_claim(study, section, same == tight->run.done,
                                "two steps and the paper's messages choose the same experts"),
             "%u of %u trials identical, choice for choice", same, tight->run.done);
    double few = caucus_run_mean_u64(&tight->run, offsetof(caucus_trial_result, scalars_up));
    double many = caucus_run_mean_u64(&wordy->run, offsetof(caucus_trial_result, scalars_up));
    double m = study->figure[CAUCUS_EXPERIMENT_SVT].spec->clients;
    measured(caucus_study_claim(study, section, many >= TRAFFIC_FACTOR * few,
                                "two steps send at least 30 times fewer numbers"),
             "%.0f per client instead of %.0f (means): %.0f times fewer", few / m, many / m, many / few);
}

/* MovieLens as the paper has it: its order of curves, and what ten clients gain. */
static void judge_ratings(caucus_study *study) {
    static const char *const keys[] = {"svt-1-paper", "svt-30-paper", "svt-50-paper", "sparse-vector-paper"};
    const caucus_series *series[4];
    bool ordered = true;
    for (int i = 0; i < 4; i++) {
        series[i] = caucus_study_series(study, CAUCUS_EXPERIMENT_MOVIELENS_PAPER, keys[i]);
        if (!series[i])
            return;
        ordered = ordered &&
                  (i == 0 || caucus_run_regret(&series[i]->run).mean > caucus_run_regret(&series[i - 1]->run).mean);
    }
    const double ratio = caucus_run_regret(&series[3]->run).mean / caucus_run_regret(&series[0]->run).mean;
    measured(caucus_study_claim(study, CAUCUS_SECTION_MOVIELENS, ordered && ratio >= RATINGS_SPEED_UP,
                                "MovieLens in the paper's units: its order of curves, and a fifth for ten clients"),
             "N = 1, 30, 50 and one alone: %s, %s, %s, %s", shown(series[0]), shown(series[1]), shown(series[2]),
             shown(series[3]));
}

static void judge_movielens(caucus_study *study) {
    const caucus_series *tight = caucus_study_series(study, CAUCUS_EXPERIMENT_MOVIELENS, "svt-1");
    const caucus_series *paper = caucus_study_series(study, CAUCUS_EXPERIMENT_MOVIELENS, "svt-1-paper-equal");
    if (tight && paper)
        judge_times(study, CAUCUS_SECTION_MOVIELENS, tight, paper, MOVIELENS_FACTOR,
                    "MovieLens-1M: at most a quarter of the paper's constants at equal guaranteed epsilon");
}

/* What the bounds of a study came to. */
typedef struct bound_count {
    uint32_t plans, holding, skipped;
    double worst, need; /* smallest share within, and what it needed; or the largest mean over its bound */
} bound_count;

static void count_bound(const caucus_run_result *run, bound_count *likely, bound_count *mean) {
    const bool probable = run->plan->bound_kind == CAUCUS_BOUND_PROBABILITY;
    bound_count *t = probable ? likely : mean;
    if (caucus_plan_is_vacuous(run->plan)) { /* nothing could ever be above it */
        t->skipped++;
        return;
    }
    const double need = 1 - run->plan->settings.rho;
    const double found = probable ? caucus_study_within(run) : caucus_run_regret(run).mean / run->plan->bound;
    if (t->plans++ == 0 || (probable ? found < t->worst : found > t->worst)) {
        t->worst = found;
        t->need = need;
    }
    t->holding += probable ? found >= need : found <= 1;
}

/* Regret below the printed bound, over all runs of the figures at the main seed whose losses are what it assumes. */
static void judge_bounds(caucus_study *study) {
    bound_count likely = {0}, mean = {0};
    for (unsigned e = 0; e < CAUCUS_EXPERIMENT_COUNT; e++) {
        const caucus_figure *figure = &study->figure[e];
        for (uint32_t i = 0; figure->spec && !figure->missing[0] && i < figure->count; i++) {
            const caucus_run_result *run = &figure->series[i].run;
            if (caucus_bound_holds(run->plan, &(caucus_adversary_settings){.kind = figure->spec->adversary}))
                count_bound(run, &likely, &mean);
        }
    }
    if (likely.plans)
        measured(
            caucus_study_claim(study, CAUCUS_SECTION_COUNT, likely.holding == likely.plans,
                               "bounds in probability hold in 1 - rho of the trials"),
            "%u of %u plans; at least %.0f %% of a plan's trials within (needed: %.0f %%); skipped, being vacuous: %u",
            likely.holding, likely.plans, 100 * likely.worst, 100 * likely.need, likely.skipped);
    if (mean.plans)
        measured(caucus_study_claim(study, CAUCUS_SECTION_COUNT, mean.holding == mean.plans,
                                    "bounds in expectation are above the mean"),
                 "%u of %u plans; the closest mean is at %.0f %% of its bound; skipped, being vacuous: %u",
                 mean.holding, mean.plans, 100 * mean.worst, mean.skipped);
}

/* Message counts are exact, so their slopes must be. */
static void judge_traffic(caucus_study *study) {
    double worst = 0;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < study->scaling.count; i++) {
        const caucus_sweep *s = &study->scaling.sweep[i];
        if (s->spec->value == CAUCUS_SWEEP_SCALARS &&
            (s->spec->protocol == CAUCUS_PROTOCOL_PAPER ||
             caucus_family_ops(caucus_algorithm_family(s->spec->algorithm))->phases)) {
            worst = fmax(worst, fabs(s->slope - s->spec->slope));
            rows++;
        }
    }
    measured(caucus_study_claim(study, CAUCUS_SECTION_SCALING, worst <= SLOPE_TRAFFIC, "traffic grows as Table 1 says"),
             "%u slopes, at most %.3f from the theory", rows, worst);
}

/* Theorems bound regret from above, so a slope must not be above theirs; below is no contradiction. */
static void judge_slopes(caucus_study *study) {
    caucus_text found = {0};
    bool holds = true;
    for (uint32_t i = 0; i < study->scaling.count; i++) {
        const caucus_sweep *s = &study->scaling.sweep[i];
        if (isnan(s->spec->room))
            continue;
        /* written so that a slope that is no number fails */
        holds = holds && s->slope <= s->spec->slope + s->spec->room + FIT_ERRORS * s->slope_error;
        caucus_text_add(&found, "%s%s %s: %.2f", found.length ? "; " : "", caucus_algorithm_word(s->spec->algorithm),
                        s->spec->theory, s->slope);
    }
    measured(caucus_study_claim(study, CAUCUS_SECTION_SCALING, holds,
                                "regret grows no faster than the upper bounds of Table 1"),
             "slopes: %s", found.data ? found.data : "none");
    caucus_text_free(&found);
}

/* Theorem 2, the part that holds: against fair coins that all clients share nobody, private or not, loses less. */
static void judge_identical(caucus_study *study, const caucus_sweep *open, const caucus_sweep *noisy) {
    const double floor = caucus_study_fair_coins(open->spec->rounds, open->spec->experts);
    const caucus_sweep_extent a = caucus_study_extent(open, floor), b = caucus_study_extent(noisy, floor);
    measured(
        caucus_study_claim(study, CAUCUS_SECTION_SCALING, fmax(a.below, b.below) <= BELOW_ERRORS,
                           "identical losses: however many join, nobody loses less than everybody must (Theorem 2)"),
        "all must lose %.1f on average; found without privacy %.1f, at epsilon %g %.1f to %.1f; the lowest is %.1f "
        "standard errors below",
        floor, a.least, noisy->spec->epsilon, b.least, b.most, fmax(0, fmax(a.below, b.below)));
}

/* Theorem 3 by elements: no epsilon-private algorithm has mean total regret below floor(ln d/(2 epsilon))/16. */
static void judge_last_rounds(caucus_study *study, const caucus_sweep *end) {
    const double floor_total = floor(log(end->spec->experts) / (2 * end->spec->epsilon)) / 16;
    double least = INFINITY;
    for (uint32_t i = 0; i < end->points; i++)
        least = fmin(least, end->regret[i].mean * end->x[i]);
    measured(caucus_study_claim(study, CAUCUS_SECTION_SCALING, least >= floor_total,
                                "losses only at the end: nobody beats Theorem 3"),
             "total regret %.1f or more, the theorem says %.2f", least, floor_total);
}

static void judge_scaling(caucus_study *study) {
    const caucus_sweep *open = caucus_study_sweep(study, "identical-regret-clients"),
                       *noisy = caucus_study_sweep(study, "identical-private-clients"),
                       *end = caucus_study_sweep(study, "last-rounds-regret-clients");
    if (!open || !noisy || !end)
        return;
    judge_traffic(study);
    judge_slopes(study);
    judge_identical(study, open, noisy);
    judge_last_rounds(study, end);
}

void caucus_study_judge(caucus_study *study) {
    judge_entropy(study);
    judge_stoch(study);
    judge_svt(study);
    judge_ratings(study);
    judge_movielens(study);
    judge_bounds(study);
    judge_scaling(study);
    caucus_study_judge_fleet(study);
}
