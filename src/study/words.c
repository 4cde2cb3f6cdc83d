/* SPDX-License-Identifier: Apache-2.0 */
/* words.c: what each figure says, in words made from its numbers. See parts.h.
 * layer: study */
#include <math.h>

#include "study/parts.h"

/* What a slope in m says. */
static void trend(caucus_text *ret, const caucus_study *study, const char *key) {
    const caucus_sweep *sweep = caucus_study_sweep(study, key);
    const double slope = sweep ? sweep->slope : NAN;
    if (!(fabs(slope) > 0.1))
        caucus_text_add(ret, isnan(slope) ? "cannot be told" : "does not change");
    else
        caucus_text_add(ret, "%s like m^%.2f", slope < 0 ? "falls" : "grows", slope);
}

void caucus_scaling_title(const caucus_study *study, caucus_text *ret) {
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

void caucus_scaling_alternative(const caucus_study *study, caucus_text *ret) {
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

void caucus_scaling_paragraph(const caucus_study *study, caucus_text *ret) {
    caucus_text_add(ret,
                    "A rate such as 1/m is a straight line on two logarithmic axes; its <dfn>slope</dfn> is measured "
                    "here by least squares over a small sweep. Theorems bound regret from above, so a steeper "
                    "fall is no contradiction. <dfn>hedge</dfn> draws an expert anew with weights that fall with "
                    "what it has cost; it needs no good expert. ");
    scaling_identical(study, ret);
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
    const bool curves = section < CAUCUS_SECTION_SCALING;
    const char *data = curves ? study->figure[section].data : NULL;
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
    if (section == CAUCUS_SECTION_FLEET) {
        caucus_text_add(
            ret,
            "caucus simulate --algorithm stoch --adversary shifting --segments 5 --means 0.1,0.5 --clients 50 "
            "--experts 20 --rounds 20000 --longest-phase none,64,auto --changes 0.25 --epsilon 1 --trust "
            "coordinator --trials %u --seed %llu\n",
            study->fleet.series[0].trials, seed);
        caucus_text_add(
            ret,
            "caucus simulate --algorithm stoch --adversary bernoulli --means 0.1,0.5 --evaluate 1,2,5,10,all "
            "--clients 50,500 --experts 20 --rounds 1024 --epsilon 1 --trust coordinator --trials %u --seed "
            "%llu",
            caucus_study_fleet_series(study, "evaluate-500")->trials, seed);
        caucus_text_add(
            ret,
            "\ncaucus simulate --algorithm stoch --adversary bernoulli --means 0.1,0.5 --unit event,client "
            "--clients 100,200,500,2000 --experts 20 --rounds 1024 --epsilon 1 --trust coordinator --trials "
            "%u --seed %llu",
            caucus_study_fleet_series(study, "device-whole")->trials, seed);
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
