/* report_claims.c: what must hold, and whether it did. See report.h.
 * layer: sim
 *
 * The limits are ours: they are what the calibration of docs/PRIVACY.md reaches, with room for the spread of the mean.
 * A claim about something that was not run is left out, never passed. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/report_parts.h"

#define SVT_LIMIT 2.5        /* regret per client, figure 2, N = 1 */
#define SVT_SPEED_UP 4.0     /* of ten clients over one, at the paper's constants */
#define STOCH_SPEED_UP 3.0   /* of ten clients over one */
#define MOVIELENS_FACTOR 4.0 /* tight against the paper's constants, N = 1 */
#define TRAFFIC_FACTOR 30.0  /* the paper's messages against two steps, N = 1, d = 100 */
#define SLOPE_TRAFFIC 0.02   /* message counts are exact; T/N - 1 is not quite T/N */
#define SLOPE_IDENTICAL 0.05 /* no speed-up on identical losses */

static caucus_claim *add(caucus_study *study, caucus_section section, bool holds, const char *text) {
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

static void judge_stoch(caucus_study *study) {
    const caucus_section section = CAUCUS_SECTION_STOCH;
    const caucus_series *ten = caucus_study_series(study, section, "stoch");
    const caucus_series *one = caucus_study_series(study, section, "limited-updates");
    if (!ten || !one)
        return;
    double ratio = caucus_run_regret(&one->run).mean / caucus_run_regret(&ten->run).mean;
    measured(add(study, section, ratio >= STOCH_SPEED_UP, "stoch: ten clients lose at most a third of one alone"),
             "%s against %s: %.1f times less", shown(ten), shown(one), ratio);
}

static void judge_svt(caucus_study *study) {
    const caucus_section section = CAUCUS_SECTION_SVT;
    const caucus_series *tight = caucus_study_series(study, section, "svt-1");
    const caucus_series *paper = caucus_study_series(study, section, "svt-1-paper");
    const caucus_series *alone = caucus_study_series(study, section, "sparse-vector-paper");
    const caucus_series *wordy = caucus_study_series(study, section, "svt-1-paper-protocol");
    if (!tight || !paper || !alone || !wordy)
        return;
    double mean = caucus_run_regret(&tight->run).mean, mean_paper = caucus_run_regret(&paper->run).mean;
    double mean_alone = caucus_run_regret(&alone->run).mean;
    measured(add(study, section, mean_alone >= SVT_SPEED_UP * mean_paper,
                 "svt at the paper's constants: ten clients lose at most a quarter of one alone"),
             "%s against %s: %.1f times less", shown(paper), shown(alone), mean_alone / mean_paper);
    measured(add(study, section, mean <= SVT_LIMIT, "svt with our constants, same epsilon: at most 2.5 per client"),
             "%s, where the paper's constants give %s", shown(tight), shown(paper));
    uint32_t same = 0;
    for (uint32_t i = 0; i < tight->run.done; i++)
        same += tight->run.trial[i].digest == wordy->run.trial[i].digest;
    measured(add(study, section, same == tight->run.done, "two steps and the paper's messages choose the same experts"),
             "%u of %u trials identical, choice for choice", same, tight->run.done);
    double few = caucus_run_mean_u64(&tight->run, offsetof(caucus_trial_result, scalars_up));
    double many = caucus_run_mean_u64(&wordy->run, offsetof(caucus_trial_result, scalars_up));
    double m = study->figure[section].spec->clients;
    measured(add(study, section, many >= TRAFFIC_FACTOR * few, "two steps send at least 30 times fewer numbers"),
             "%.0f per client instead of %.0f (means): %.0f times fewer", few / m, many / m, many / few);
}

static void judge_movielens(caucus_study *study) {
    const caucus_section section = CAUCUS_SECTION_MOVIELENS;
    const caucus_series *tight = caucus_study_series(study, section, "svt-1");
    const caucus_series *paper = caucus_study_series(study, section, "svt-1-paper");
    if (!tight || !paper)
        return;
    double ratio = caucus_run_regret(&paper->run).mean / caucus_run_regret(&tight->run).mean;
    measured(add(study, section, ratio >= MOVIELENS_FACTOR,
                 "MovieLens-1M: at most a quarter of the regret of the paper's constants"),
             "%s against %s: %.1f times less", shown(tight), shown(paper), ratio);
}

/* Regret below the printed bound, over all runs of the figures at the main seed. */
static void judge_bounds(caucus_study *study) {
    uint32_t likely = 0, mean = 0, mean_below = 0;
    double worst_share = 1, worst_need = 1, closest = 0;
    caucus_section section = CAUCUS_SECTION_COUNT;
    bool likely_holds = true;
    for (unsigned s = 0; s < CAUCUS_SECTION_SCALING; s++) {
        const caucus_figure *figure = &study->figure[s];
        for (uint32_t i = 0; figure->spec && !figure->missing[0] && i < figure->count; i++) {
            const caucus_run_result *run = &figure->series[i].run;
            section = (caucus_section)s;
            if (run->plan->bound_kind == CAUCUS_BOUND_PROBABILITY) {
                double share = caucus_study_within(run), need = 1 - run->plan->settings.rho;
                likely++;
                likely_holds = likely_holds && share >= need;
                if (share <= worst_share) {
                    worst_share = share;
                    worst_need = need;
                }
            } else if (run->plan->bound_kind == CAUCUS_BOUND_EXPECTATION) {
                double of_bound = caucus_run_regret(run).mean / run->plan->bound;
                mean++;
                mean_below += of_bound <= 1;
                closest = of_bound > closest ? of_bound : closest;
            }
        }
    }
    if (likely)
        measured(add(study, section, likely_holds, "bounds in probability hold in 1 - rho of the trials"),
                 "%u plans; at least %.0f %% of a plan's trials within (needed: %.0f %%)", likely, 100 * worst_share,
                 100 * worst_need);
    if (mean)
        measured(add(study, section, mean_below == mean, "bounds in expectation are above the mean"),
                 "%u of %u plans; the closest mean is at %.0f %% of its bound", mean_below, mean, 100 * closest);
}

static const caucus_sweep *sweep_of(const caucus_study *study, const char *key) {
    for (uint32_t i = 0; i < study->scaling.count; i++)
        if (strcmp(study->scaling.sweep[i].spec->key, key) == 0)
            return &study->scaling.sweep[i];
    return NULL;
}

static void judge_scaling(caucus_study *study) {
    const caucus_section section = CAUCUS_SECTION_SCALING;
    const caucus_sweep *same = sweep_of(study, "identical-regret-clients"),
                       *end = sweep_of(study, "last-rounds-regret-clients");
    if (!same || !end)
        return;
    double worst = 0;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < study->scaling.count; i++) {
        const caucus_sweep *s = &study->scaling.sweep[i];
        if (s->spec->value == CAUCUS_SWEEP_SCALARS &&
            (s->spec->protocol == CAUCUS_PROTOCOL_PAPER || s->spec->algorithm == CAUCUS_ALGORITHM_STOCH)) {
            worst = fmax(worst, fabs(s->slope - s->spec->slope));
            rows++;
        }
    }
    measured(add(study, section, worst <= SLOPE_TRAFFIC, "traffic grows as Table 1 says"),
             "%u slopes, at most %.3f from the theory", rows, worst);
    measured(add(study, section, fabs(same->slope) <= SLOPE_IDENTICAL,
                 "identical losses: more clients do not help (Theorem 2)"),
             "slope %.3f ± %.3f in m", same->slope, same->slope_error);
    /* Theorem 3 by elements: no epsilon-private algorithm has mean total regret below floor(ln d/(2 epsilon))/16. */
    double floor_total = floor(log(end->spec->experts) / (2 * end->spec->epsilon)) / 16, least = INFINITY;
    for (uint32_t i = 0; i < end->points; i++)
        least = fmin(least, end->regret[i].mean * end->x[i]);
    measured(
        add(study, section, least >= floor_total, "losses only at the end: nobody beats Theorem 3, and 1/m is reached"),
        "total regret %.1f or more, the theorem says %.2f; slope %.2f ± %.2f", least, floor_total, end->slope,
        end->slope_error);
}

void caucus_study_judge(caucus_study *study) {
    judge_stoch(study);
    judge_svt(study);
    judge_movielens(study);
    judge_bounds(study);
    judge_scaling(study);
}
