/* SPDX-License-Identifier: Apache-2.0 */
/* words.c: what each figure says, in words made from its numbers. See parts.h.
 * layer: study */
#include <math.h>

#include "study/parts.h"

/* "9.5" below ten, "12" above. */
static void times(caucus_text *ret, double factor) {
    caucus_text_add(ret, factor < 9.95 ? "%.1f" : "%.0f", factor);
}

static double ratio(const caucus_study *study, caucus_section section, const char *above, const char *below) {
    return caucus_study_mean(study, section, above) / caucus_study_mean(study, section, below);
}

/* A finding with its direction: "lose 9.5 times less", or "more" where that is what was found. */
static void less(caucus_text *ret, double factor) {
    times(ret, factor >= 1 ? factor : 1 / factor);
    caucus_text_add(ret, factor >= 1 ? " times less" : " times more");
}

/* What a slope in m says. */
static void trend(caucus_text *ret, const caucus_study *study, const char *key) {
    const caucus_sweep *sweep = caucus_study_sweep(study, key);
    const double slope = sweep ? sweep->slope : NAN;
    if (!(fabs(slope) > 0.1))
        caucus_text_add(ret, isnan(slope) ? "cannot be told" : "does not change");
    else
        caucus_text_add(ret, "%s like m^%.2f", slope < 0 ? "falls" : "grows", slope);
}

static void scaling_title(const caucus_study *study, caucus_text *ret) {
    caucus_text_add(ret, "As clients join, each one’s regret ");
    trend(ret, study, "svt-regret-clients");
    caucus_text_add(ret, " with svt and ");
    trend(ret, study, "stoch-regret-clients");
    caucus_text_add(ret, " with stoch; where all see the same losses it ");
    trend(ret, study, "identical-regret-clients");
}

/* Where all clients see the same coins: what was found against what nobody can beat. */
static void scaling_identical(const caucus_study *study, caucus_text *ret) {
    const caucus_sweep *open = caucus_study_sweep(study, "identical-regret-clients"),
                       *noisy = caucus_study_sweep(study, "identical-private-clients"),
                       *halving = caucus_study_sweep(study, "hedge-regret-clients");
    if (!open || !noisy || !halving)
        return;
    const double floor = caucus_study_fair_coins(open->spec->rounds, open->spec->experts);
    const caucus_sweep_extent a = caucus_study_extent(open, floor), b = caucus_study_extent(noisy, floor);
    caucus_text_add(
        ret,
        "Where all clients see the same fair coins (grey) every algorithm loses %.1f on average, whatever it "
        "does and however many join; measured: %.1f to %.1f without privacy, where the sum of m equal losses "
        "at a learning rate of 1/m is one and the same algorithm, and %.1f to %.1f at ε = %g. That is the "
        "part of Theorem 2 that holds; its private part does not (below): with losses that halve the field, "
        "the regret of <code>hedge</code> at ε = %g ",
        floor, a.least, a.most, b.least, b.most, noisy->spec->epsilon, halving->spec->epsilon);
    trend(ret, study, "hedge-regret-clients");
    caucus_text_add(ret, ".");
}

void caucus_study_title(const caucus_study *study, caucus_section section, caucus_text *ret) {
    switch (section) {
    case CAUCUS_SECTION_STOCH:
        caucus_text_add(ret, "Ten clients together lose ");
        less(ret, ratio(study, section, "limited-updates", "stoch"));
        caucus_text_add(ret, " than one alone");
        break;
    case CAUCUS_SECTION_SVT:
        caucus_text_add(ret, "At the same guaranteed ε our constants lose ");
        less(ret, ratio(study, section, "svt-1-paper-equal", "svt-1"));
        caucus_text_add(ret, " than the paper’s, and ten clients ");
        less(ret, ratio(study, section, "sparse-vector", "svt-1"));
        caucus_text_add(ret, " than one");
        break;
    case CAUCUS_SECTION_MOVIELENS:
        if (study->figure[section].missing[0]) {
            caucus_text_add(ret, "MovieLens-1M: the data is not here");
            break;
        }
        caucus_text_add(ret, "On a million real ratings our constants lose ");
        less(ret, ratio(study, section, "svt-1-paper-equal", "svt-1"));
        caucus_text_add(ret, " than the paper’s at the same guaranteed ε");
        break;
    case CAUCUS_SECTION_SCALING:
        scaling_title(study, ret);
        break;
    case CAUCUS_SECTION_COUNT:
        break;
    }
}

static void alternative_curves(const caucus_figure *figure, caucus_text *ret) {
    caucus_text_add(
        ret, "Regret per client against the round, %u rounds. At the end, mean and standard deviation over trials: ",
        figure->spec->rounds);
    const char *comma = "";
    for (uint32_t i = 0; i < figure->count; i++) {
        if (figure->series[i].spec->stroke == CAUCUS_STROKE_HIDDEN)
            continue;
        caucus_summary s = caucus_run_regret(&figure->series[i].run);
        caucus_text_add(ret, "%s%s%s ", comma, figure->series[i].spec->label,
                        figure->series[i].spec->calibration == CAUCUS_CALIBRATION_PAPER ? " with the paper’s constants"
                                                                                        : "");
        caucus_text_spread(ret, s.mean, s.std);
        comma = "; ";
    }
    caucus_text_add(ret, ".");
}

void caucus_study_alternative(const caucus_study *study, caucus_section section, caucus_text *ret) {
    if (section != CAUCUS_SECTION_SCALING) {
        alternative_curves(&study->figure[section], ret);
        return;
    }
    caucus_text_add(ret, "Regret per client against the number of clients, both axes logarithmic. Slopes: ");
    const char *comma = "";
    for (uint32_t i = 0; i < study->scaling.count; i++) {
        const caucus_sweep *w = &study->scaling.sweep[i];
        if (w->spec->stroke == CAUCUS_STROKE_HIDDEN)
            continue;
        caucus_text_add(ret, "%s%s %.2f ± %.2f", comma, w->spec->label, w->slope, w->slope_error);
        comma = "; ";
    }
    caucus_text_add(ret, ".");
}

void caucus_study_paragraph(const caucus_study *study, caucus_section section, caucus_text *ret) {
    const caucus_figure *figure = section < CAUCUS_SECTION_SCALING ? &study->figure[section] : NULL;
    switch (section) {
    case CAUCUS_SECTION_STOCH:
        caucus_text_add(
            ret,
            "Losses are drawn anew each round: every one of the %u experts has its own mean and variance, "
            "uniform in [0,1], and its "
            "losses are normal, cut to [0,1]. These are our losses, not the paper’s softmax and cross-entropy "
            "(explained below), so only the order of its curves can be compared. "
            "<code>stoch</code> lets %u "
            "clients learn together in phases that double; <code>limited-updates</code> is one client "
            "alone. With the paper’s "
            "constants (grey) ten clients lose ",
            figure->spec->experts, figure->spec->clients);
        less(ret, ratio(study, section, "stoch", "stoch-paper"));
        caucus_text_add(ret, ", and at the same guaranteed ε (the paper’s constants guarantee half of what is asked "
                             "for) ");
        less(ret, ratio(study, section, "stoch", "stoch-paper-equal"));
        caucus_text_add(ret, ": they divide the budget over two selections a phase, for trees that linear losses do "
                             "not need. <code>trust nobody</code> is "
                             "private from the coordinator too, and costs ");
        less(ret, ratio(study, section, "stoch", "stoch-nobody"));
        caucus_text_add(ret, ".");
        break;
    case CAUCUS_SECTION_SVT:
        caucus_text_add(
            ret,
            "Losses are uniform in [0,1]; one hidden expert of %u never errs. <code>svt</code> keeps an "
            "expert until it has cost too "
            "much, and checks every N rounds. The vertical axis is logarithmic: ten clients at N = 1 "
            "settle after a few rounds. At "
            "N = 30 and 50 nothing can change before the first report, and that wait is nearly all the "
            "regret. The paper’s "
            "constants (grey) switch later than privacy asks for: they guarantee three quarters of the ε that "
            "is asked for. The table has them also where they guarantee ε itself.",
            figure->spec->experts);
        break;
    case CAUCUS_SECTION_MOVIELENS:
        caucus_text_add(
            ret, "Every (client, round) is another of the 6,040 users; experts are the 18 genres, and a genre’s "
                 "loss is what the user’s "
                 "mean rating falls short of that for the reference genre, Drama, 0 to 5 points. The reference "
                 "is fixed beforehand: taken "
                 "from the ratings, as in the paper, it would make every loss depend on every user. Both "
                 "calibrations scale by the range "
                 "5, so ε is what it says; the paper does not scale, and its ε = 10 is 50 here, so its figure is "
                 "another experiment. A genre that a user has not rated counts as rated 0, which is an "
                 "assumption. Ten trials, as in the paper; the band is one standard deviation.");
        break;
    case CAUCUS_SECTION_SCALING:
        caucus_text_add(ret, "A rate such as 1/m is a straight line on two logarithmic axes; its slope is measured "
                             "here by least squares over a small sweep. Theorems bound regret from above, so a steeper "
                             "fall is no contradiction. ");
        scaling_identical(study, ret);
        break;
    case CAUCUS_SECTION_COUNT:
        break;
    }
}

static void add_data(caucus_text *ret, const char *directory) {
    if (!directory)
        return;
    caucus_text_add(ret, " --data ");
    caucus_text_shell(ret, directory);
}

/* What makes it again. */
void caucus_study_command(const caucus_study *study, caucus_section section, caucus_text *ret) {
    unsigned long long seed = (unsigned long long)study->options.seed;
    const char *data = study->figure[section].data;
    caucus_text_add(ret, "caucus reproduce --only %u%s --seed %llu", (unsigned)section + 1,
                    study->options.quick ? " --quick" : "", seed);
    add_data(ret, data);
    caucus_text_add(ret, "\n");
    if (section == CAUCUS_SECTION_SCALING) {
        caucus_text_add(ret,
                        "caucus simulate --algorithm svt --adversary realizable --clients 1,2,4,8,16,32 --experts 100 "
                        "--rounds 4096 "
                        "--epsilon 1 --trust coordinator --trials %u --seed %llu",
                        study->scaling.sweep[0].trials, seed);
        return;
    }
    const caucus_figure_spec *spec = study->figure[section].spec;
    uint32_t trials = study->options.quick ? spec->quick_trials : spec->trials;
    caucus_text_add(ret, "caucus simulate --algorithm %s --calibration tight,paper%s --adversary %s",
                    section == CAUCUS_SECTION_STOCH ? "stoch,limited-updates" : "svt,sparse-vector",
                    section == CAUCUS_SECTION_STOCH ? "" : " --interval 1,30,50",
                    caucus_adversary_kind_word(spec->adversary));
    add_data(ret, data);
    caucus_text_add(ret,
                    " --clients %u --experts %u --rounds %u --epsilon %g --trust coordinator --trials %u --seed %llu",
                    spec->clients, spec->experts, spec->rounds, spec->epsilon, trials, seed);
}
