/* SPDX-License-Identifier: Apache-2.0 */
/* test_study.c: the parts of the report that compute or could lose files: slopes, and folders put in place at once. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "show/bound_fit.h"
#include "study/parts.h"

static void test_fit(void **state) {
    (void)state;
    double x[] = {1, 2, 4, 8}, y[4], slope, error;
    for (int i = 0; i < 4; i++)
        y[i] = 3 * pow(x[i], -0.5);
    caucus_study_fit(x, y, 4, &slope, &error);
    assert_true(fabs(slope + 0.5) < 1e-12 && fabs(error) < 1e-7);
    /* ln y = 0, 1, 0 at ln x = 0, 1, 2: slope 0; residuals -1/3, 2/3, -1/3: error sqrt((6/9)/1/2). */
    double e = exp(1), xs[] = {1, e, e * e}, ys[] = {1, e, 1};
    caucus_study_fit(xs, ys, 3, &slope, &error);
    assert_true(fabs(slope) < 1e-12 && fabs(error - sqrt(6.0 / 9 / 2)) < 1e-12);
    caucus_study_fit(xs, ys, 2, &slope, &error);
    assert_true(fabs(slope - 1) < 1e-12 && isnan(error));
}

/* E of the largest of d centred binomials, by enumeration where that is possible. */
static void test_fair_coins(void **state) {
    (void)state;
    /* One round: the best of d coins is ahead by 1/2 unless all are heads: 1/2 - 2^-d. */
    for (uint32_t d = 2; d < 12; d++)
        assert_true(fabs(caucus_study_fair_coins(1, d) - (0.5 - pow(0.5, d))) < 1e-12);
    /* Two rounds, two experts: losses 0, 1, 2 with 1/4, 1/2, 1/4; the smaller has mean 5/8. */
    assert_true(fabs(caucus_study_fair_coins(2, 2) - 0.375) < 1e-12);
    /* Many rounds: 100 normals have an expected maximum of 2.50759. */
    assert_true(fabs(caucus_study_fair_coins(1 << 16, 100) / 128 - 2.50759) < 0.01);
}

/* A study with sweeps made by hand: what the scaling section would have measured. */
enum { SVT_M, STOCH_T, OPEN, NOISY, END, TRAFFIC, SWEEPS };
typedef struct made {
    caucus_sweep_spec spec[SWEEPS];
    caucus_sweep sweep[SWEEPS];
    caucus_study study;
} made;

static void make(made *m) {
    static const char *const keys[SWEEPS] = {"svt-regret-clients",         "stoch-regret-rounds",
                                             "identical-regret-clients",   "identical-private-clients",
                                             "last-rounds-regret-clients", "stoch-traffic-clients"};
    memset(m, 0, sizeof *m);
    const double floor = caucus_study_fair_coins(64, 100);
    for (int i = 0; i < SWEEPS; i++) {
        m->spec[i] = (caucus_sweep_spec){.key = keys[i],
                                         .label = keys[i],
                                         .theory = "1/m",
                                         .slope = -1,
                                         .room = i <= STOCH_T ? 0.1 : NAN,
                                         .value = i == TRAFFIC ? CAUCUS_SWEEP_SCALARS : CAUCUS_SWEEP_REGRET,
                                         .algorithm = i == TRAFFIC ? CAUCUS_ALGORITHM_STOCH : CAUCUS_ALGORITHM_SVT,
                                         .experts = 100,
                                         .rounds = 64,
                                         .epsilon = 0.25};
        m->sweep[i] = (caucus_sweep){.spec = &m->spec[i], .points = 2, .trials = 100, .slope = -1, .x = {1, 2}};
        for (int k = 0; k < 2; k++)
            m->sweep[i].regret[k] = (caucus_summary){.mean = i == END ? 8.0 / (k + 1) : floor, .std = 2};
    }
    m->spec[STOCH_T].slope = 0.5;
    m->spec[TRAFFIC].slope = m->sweep[TRAFFIC].slope = 1;
    m->sweep[STOCH_T].slope = 0.3;
    m->sweep[OPEN].slope = m->sweep[NOISY].slope = 0;
    m->study.scaling = (caucus_scaling){m->sweep, SWEEPS, 0};
    m->study.options.only[CAUCUS_SECTION_SCALING] = true;
}

/* How many claims hold, of the four that scaling makes; and the first that does not. */
static uint32_t holding(made *m, const char **ret_fails) {
    uint32_t hold = 0;
    *ret_fails = "";
    m->study.claims = 0;
    caucus_study_judge(&m->study);
    assert_int_equal(m->study.claims, 4);
    for (uint32_t i = 0; i < 5; i++) {
        hold += m->study.claim[i].holds;
        if (!m->study.claim[i].holds && !(*ret_fails)[0])
            *ret_fails = m->study.claim[i].text;
    }
    return hold;
}

/* Every claim about scaling can fail, and alone. */
static void test_scaling_claims_can_fail(void **state) {
    (void)state;
    made m;
    const char *fails;
    make(&m);
    assert_int_equal(holding(&m, &fails), 4);
    static const struct {
        int sweep;
        double slope, error;
        const char *text; /* NULL: all hold */
    } slopes[] = {
        {SVT_M, -1.5, 0, NULL}, /* better than an upper bound is no contradiction */
        {SVT_M, -0.91, 0, NULL},
        {SVT_M, -0.8, 0, "no faster than the upper bounds"},
        {SVT_M, -0.8, 0.04, NULL}, /* within the error of the fit */
        {SVT_M, NAN, NAN, "no faster than the upper bounds"},
        {STOCH_T, 0.7, 0.01, "no faster than the upper bounds"},
        {TRAFFIC, 1.1, 0, "traffic grows"},
    };
    for (size_t i = 0; i < sizeof slopes / sizeof slopes[0]; i++) {
        make(&m);
        m.sweep[slopes[i].sweep].slope = slopes[i].slope;
        m.sweep[slopes[i].sweep].slope_error = slopes[i].error;
        assert_int_equal(holding(&m, &fails), slopes[i].text ? 3 : 4);
        assert_non_null(strstr(fails, slopes[i].text ? slopes[i].text : ""));
    }
    for (int sweep = OPEN; sweep <= NOISY; sweep++) /* somebody who loses less than everybody must */
        for (int errors = 3; errors <= 5; errors += 2) {
            make(&m);
            m.sweep[sweep].regret[1].mean -= errors * 2 / sqrt(100);
            assert_int_equal(holding(&m, &fails), errors == 3 ? 4 : 3);
            assert_non_null(strstr(fails, errors == 3 ? "" : "nobody loses less"));
        }
    make(&m);
    m.sweep[END].regret[0].mean = 0.5; /* floor(ln 100/0.5)/16 = 0.5625 */
    assert_int_equal(holding(&m, &fails), 3);
    assert_non_null(strstr(fails, "nobody beats Theorem 3"));
}

/* Title and paragraph say what was found. */
static void test_scaling_words(void **state) {
    (void)state;
    made m;
    caucus_text text = {0};
    make(&m);
    m.sweep[SVT_M].slope = -0.97;
    caucus_scaling_title(&m.study, &text);
    assert_non_null(strstr(text.data, "falls like m^-0.97 with svt"));
    assert_non_null(strstr(text.data, "the same losses it does not change"));
    caucus_text_free(&text);
    m.sweep[SVT_M].slope = 0.4;
    m.sweep[OPEN].slope = -0.5;
    caucus_scaling_title(&m.study, &text);
    assert_non_null(strstr(text.data, "grows like m^0.40 with svt"));
    assert_non_null(strstr(text.data, "the same losses it falls like m^-0.50"));
    caucus_text_free(&text);
}

/* Bounds: one that nothing could exceed is skipped and said to be; one that is exceeded fails. */
static void test_bound_claims_can_fail(void **state) {
    (void)state;
    static const caucus_series_spec series_spec = {.key = "svt-1", .label = "svt"};
    const caucus_figure_spec spec = {.adversary = CAUCUS_ADVERSARY_REALIZABLE};
    caucus_figure_spec other = {.adversary = CAUCUS_ADVERSARY_BERNOULLI};
    caucus_plan plan[2] = {{.bound_kind = CAUCUS_BOUND_PROBABILITY, .bound = 10, .bound_uncapped = 10},
                           {.bound_kind = CAUCUS_BOUND_PROBABILITY, .bound = 512, .bound_uncapped = 600}};
    caucus_trial_result trial[2][20] = {{{0}}};
    caucus_series series[2];
    caucus_study study = {0};
    for (int i = 0; i < 2; i++) {
        caucus_settings_init(&plan[i].settings);
        for (int k = 0; k < 20; k++)
            trial[i][k].regret = 9;
        series[i] = (caucus_series){&series_spec, 1, {.plan = &plan[i], .trial = trial[i], .trials = 20, .done = 20}};
    }
    study.figure[CAUCUS_SECTION_SVT] = (caucus_figure){.spec = &spec, .series = series, .count = 2};
    caucus_study_judge(&study);
    assert_int_equal(study.claims, 1);
    assert_true(study.claim[0].holds);
    assert_non_null(strstr(study.claim[0].measured, "1 of 1 plans"));
    assert_non_null(strstr(study.claim[0].measured, "skipped, being vacuous: 1"));
    trial[0][3].regret = 11; /* 95 % within: still what was promised */
    study.claims = 0;
    caucus_study_judge(&study);
    assert_true(study.claim[0].holds);
    trial[0][4].regret = 11;
    study.claims = 0;
    caucus_study_judge(&study);
    assert_false(study.claim[0].holds);
    study.figure[CAUCUS_SECTION_SVT].spec = &other; /* losses it was never proved for: nothing is claimed */
    study.claims = 0;
    caucus_study_judge(&study);
    assert_int_equal(study.claims, 0);
    plan[0].bound_kind = CAUCUS_BOUND_EXPECTATION;
    plan[0].settings.algorithm = CAUCUS_ALGORITHM_HEDGE;
    for (int above = 0; above < 2; above++) {
        for (int k = 0; k < 20; k++)
            trial[0][k].regret = above ? 10.5 : 9.5;
        study.claims = 0;
        caucus_study_judge(&study);
        assert_int_equal(study.claims, 1);
        assert_int_equal(study.claim[0].holds, !above);
    }
}

/* The page shows a plan's bound beside its regret: the losses of every figure must be what its plans assume. */
static void test_figures_fit_their_bounds(void **state) {
    (void)state;
    uint32_t proved = 0;
    for (size_t f = 0; f < CAUCUS_EXPERIMENT_COUNT; f++)
        for (const caucus_series_spec *s = caucus_figure_specs[f].series; s->key; s++) {
            caucus_settings settings;
            caucus_plan *plan = NULL;
            caucus_error error;
            caucus_settings_init(&settings);
            settings.algorithm = s->algorithm;
            settings.trust = s->trust;
            settings.calibration = s->calibration;
            settings.interval = s->interval;
            settings.experts = caucus_figure_specs[f].experts;
            settings.rounds = caucus_figure_specs[f].rounds;
            settings.epsilon = caucus_figure_specs[f].epsilon;
            if (caucus_figure_specs[f].convex) { /* nothing is shown as proven of these: page_tables.c */
                settings.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
                settings.trees = 1;
            }
            assert_int_equal(caucus_plan_new(&settings, &plan, &error), CAUCUS_OK);
            const caucus_bound_fit fit =
                caucus_bound_fit_of(plan, &(caucus_adversary_settings){.kind = caucus_figure_specs[f].adversary});
            if (caucus_figure_specs[f].convex)
                assert_int_equal(fit, CAUCUS_BOUND_FIT_FAILS);
            else
                assert_true(fit == CAUCUS_BOUND_FIT_HOLDS || fit == CAUCUS_BOUND_FIT_NONE);
            proved += fit == CAUCUS_BOUND_FIT_HOLDS;
            caucus_plan_free(plan);
        }
    assert_true(proved >= 20);
}

/* Series made by hand: one trial each, whose regrets are given. */
enum { HANDMADE = 12 };
typedef struct handmade {
    caucus_plan plan;
    caucus_trial_result trial[HANDMADE][2];
    caucus_series_spec spec[HANDMADE];
    caucus_series series[HANDMADE];
} handmade;

static void make_figure(handmade *h, caucus_experiment experiment, const double *regret, caucus_figure *ret) {
    memset(h, 0, sizeof *h);
    caucus_settings_init(&h->plan.settings);
    h->plan.bound_kind = CAUCUS_BOUND_NONE;
    uint32_t count = 0;
    for (const caucus_series_spec *s = caucus_figure_specs[experiment].series; s->key; s++, count++) {
        h->spec[count] = *s;
        h->trial[count][0].regret = regret[count] - 0.25;
        h->trial[count][1].regret = regret[count] + 0.25;
        h->series[count] =
            (caucus_series){&h->spec[count], 1, {.plan = &h->plan, .trial = h->trial[count], .trials = 2, .done = 2}};
    }
    *ret = (caucus_figure){.spec = &caucus_figure_specs[experiment], .series = h->series, .count = count};
}

/* The claims about the paper's own figures can fail, each for its own reason. */
static void test_paper_claims_can_fail(void **state) {
    (void)state;
    static const struct {
        caucus_experiment experiment;
        double regret[4];
        bool holds;
        const char *text;
    } cases[] = {
        {CAUCUS_EXPERIMENT_PER_EXPERT, {4.1, 14.5}, true, "per expert"},
        {CAUCUS_EXPERIMENT_PER_EXPERT, {8, 14.5}, false, "per expert"},
        {CAUCUS_EXPERIMENT_MIXTURE, {5064, 5071}, true, "nothing visible"},
        {CAUCUS_EXPERIMENT_MIXTURE, {5064, 5171}, false, "nothing visible"},
        {CAUCUS_EXPERIMENT_MIXTURE, {5171, 5064}, false, "nothing visible"},
        {CAUCUS_EXPERIMENT_MOVIELENS_PAPER, {14.7, 26.9, 40.2, 143}, true, "the paper's units"},
        {CAUCUS_EXPERIMENT_MOVIELENS_PAPER, {14.7, 40.2, 26.9, 143}, false, "the paper's units"},
        {CAUCUS_EXPERIMENT_MOVIELENS_PAPER, {14.7, 26.9, 40.2, 60}, false, "the paper's units"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        caucus_study study = {0};
        handmade h;
        make_figure(&h, cases[i].experiment, cases[i].regret, &study.figure[cases[i].experiment]);
        caucus_study_judge(&study);
        assert_int_equal(study.claims, 1);
        assert_int_equal(study.claim[0].holds, cases[i].holds);
        assert_non_null(strstr(study.claim[0].text, cases[i].text));
    }
}

/* So can those about fleets. */
static void test_fleet_claims_can_fail(void **state) {
    (void)state;
    enum { SERIES = 4, CLAIMS = 3 };
    static const char *const keys[SERIES] = {"changes-doubling", "changes-auto", "evaluate-500", "device-whole"};
    static const double at[SERIES] = {5, 5, 1, 2000};
    static const struct {
        double regret[SERIES];
        bool holds[CLAIMS];
    } cases[] = {{{1000, 50, 1.4, 0.4}, {true, true, true}},
                 {{1000, 150, 1.4, 0.4}, {false, true, true}},
                 {{1000, 50, 3.1, 0.4}, {true, false, true}},
                 {{1000, 50, 1.4, 1.1}, {true, true, false}},
                 {{1000, (double)NAN, 1.4, 0.4}, {false, true, true}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        caucus_fleet_spec spec[SERIES];
        caucus_fleet_series series[SERIES];
        for (int k = 0; k < SERIES; k++) {
            spec[k] = (caucus_fleet_spec){.key = keys[k]};
            series[k] = (caucus_fleet_series){.spec = &spec[k], .points = 1, .x = {at[k]}, .trials = 2};
            series[k].regret[0].mean = cases[i].regret[k];
        }
        caucus_study study = {.fleet = {.series = series, .count = SERIES}};
        caucus_study_judge(&study);
        assert_int_equal(study.claims, CLAIMS);
        for (int k = 0; k < CLAIMS; k++)
            assert_int_equal(study.claim[k].holds, cases[i].holds[k]);
    }
}

/* No curve hides another: in every panel widths fall from line to line, so that of two that coincide both are seen. */
static void test_no_curve_is_hidden(void **state) {
    (void)state;
    for (size_t p = 0; p < CAUCUS_PANELS; p++) {
        static const double regret[HANDMADE] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
        caucus_study study = {0};
        handmade h;
        caucus_text script = {0};
        uint32_t lines = 0;
        double last = INFINITY;
        make_figure(&h, caucus_panels[p].experiment, regret, &study.figure[caucus_panels[p].experiment]);
        caucus_study_draw_panel(&study, &caucus_panels[p], &script);
        const char *end = strstr(script.data, "keyentry");
        assert_non_null(end);
        assert_null(strstr(script.data, "logscale"));
        for (const char *at = script.data; (at = strstr(at, "using 1:2 with lines")) && at < end; at++, lines++) {
            const double width = strtod(strstr(at, " lw ") + 4, NULL);
            assert_true(width > 0 && width < last);
            last = width;
        }
        uint32_t wanted = 0;
        while (caucus_panels[p].line[wanted].key)
            wanted++;
        assert_int_equal(lines, wanted);
        assert_true(wanted >= 2);
        caucus_text_free(&script);
    }
}

static void test_sections(void **state) {
    (void)state;
    caucus_section section;
    caucus_error error;
    for (unsigned i = 0; i < CAUCUS_SECTION_COUNT; i++) {
        const char number[] = {(char)('1' + i), '\0'};
        assert_int_equal(caucus_section_parse(caucus_section_word((caucus_section)i), &section, &error), CAUCUS_OK);
        assert_int_equal(section, i);
        assert_int_equal(caucus_section_parse(number, &section, &error), CAUCUS_OK);
        assert_int_equal(section, i);
    }
    assert_int_equal(caucus_section_parse("0", &section, &error), CAUCUS_E_RANGE);
    assert_int_equal(caucus_section_parse("12", &section, &error), CAUCUS_E_RANGE);
}

static void write_report(const char *path, const char *extra) {
    caucus_atomic_folder folder;
    caucus_error error;
    caucus_text page = {0}, more = {0};
    caucus_text_add(&page, "<!doctype html><meta name=\"generator\" content=\"caucus reproduce\">");
    caucus_text_add(&more, "1\n");
    assert_int_equal(caucus_folder_begin(path, &folder, &error), CAUCUS_OK);
    assert_int_equal(caucus_folder_add(&folder, "index.html", &page, &error), CAUCUS_OK);
    assert_int_equal(caucus_folder_add(&folder, extra, &more, &error), CAUCUS_OK);
    assert_int_equal(caucus_folder_finish(&folder, &error), CAUCUS_OK);
    assert_int_not_equal(access(folder.draft, F_OK), 0);
    caucus_text_free(&page);
    caucus_text_free(&more);
}

static void test_folder(void **state) {
    (void)state;
    char root[] = "/tmp/caucus-report-XXXXXX", path[64], file[96];
    assert_non_null(mkdtemp(root));
    (void)snprintf(path, sizeof path, "%s/a/b/report", root);
    write_report(path, "one.csv");
    write_report(path, "two.csv"); /* replaces */
    (void)snprintf(file, sizeof file, "%s/one.csv", path);
    assert_int_not_equal(access(file, F_OK), 0);
    (void)snprintf(file, sizeof file, "%s/two.csv", path);
    assert_int_equal(access(file, F_OK), 0);

    /* A stranger's file appears while a report is being built: it stays, and so does what was there. */
    caucus_atomic_folder folder;
    caucus_error error = {0};
    assert_int_equal(caucus_folder_begin(path, &folder, &error), CAUCUS_OK);
    (void)snprintf(file, sizeof file, "%s/notes.txt", path);
    FILE *notes = fopen(file, "w");
    assert_non_null(notes);
    assert_int_equal(fclose(notes), 0);
    assert_int_equal(caucus_folder_finish(&folder, &error), CAUCUS_E_EXISTS);
    assert_non_null(strstr(error.text, "notes.txt"));
    caucus_atomic_folder_drop(&folder);
    assert_int_equal(access(file, F_OK), 0);
    assert_int_not_equal(access(folder.draft, F_OK), 0);
    assert_int_equal(caucus_folder_check(path, &error), CAUCUS_E_EXISTS);
    assert_int_equal(caucus_folder_check("", &error), CAUCUS_E_RANGE);

    const char *left[] = {
        "a/b/report/notes.txt", "a/b/report/two.csv", "a/b/report/index.html", "a/b/report", "a/b", "a"};
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        (void)snprintf(file, sizeof file, "%s/%s", root, left[i]);
        assert_int_equal(remove(file), 0);
    }
    assert_int_equal(remove(root), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fit),
                                       cmocka_unit_test(test_fair_coins),
                                       cmocka_unit_test(test_scaling_claims_can_fail),
                                       cmocka_unit_test(test_scaling_words),
                                       cmocka_unit_test(test_bound_claims_can_fail),
                                       cmocka_unit_test(test_figures_fit_their_bounds),
                                       cmocka_unit_test(test_paper_claims_can_fail),
                                       cmocka_unit_test(test_fleet_claims_can_fail),
                                       cmocka_unit_test(test_no_curve_is_hidden),
                                       cmocka_unit_test(test_sections),
                                       cmocka_unit_test(test_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
