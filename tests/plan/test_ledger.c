/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger: amounts add up exactly, nothing goes beyond a budget, and an altered or torn file is noticed.
 * docs/PRIVACY.md, statement 29. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <caucus/ledger.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/ledger.h"
#include "plan/plan.h"

static const caucus_rational none = {0, 1};

static caucus_plan plan_of(double choices, double messages, double delta) {
    caucus_plan plan = {0};
    caucus_settings_init(&plan.settings);
    plan.settings.trust = isnan(messages) ? CAUCUS_TRUST_COORDINATOR : CAUCUS_TRUST_NOBODY;
    plan.guarantee = (caucus_guarantee){.epsilon_choices = choices, .epsilon_messages = messages, .delta = delta};
    return plan;
}

static caucus_ledger *ledger_of(double epsilon, double delta) {
    caucus_ledger *ledger = NULL;
    caucus_error e;
    assert_int_equal(caucus_ledger_new(epsilon, delta, &ledger, &e), CAUCUS_OK);
    assert_non_null(ledger);
    return ledger;
}

static caucus_status open_run(caucus_ledger *ledger, double choices, double messages, double delta, uint32_t *ret) {
    caucus_plan plan = plan_of(choices, messages, delta);
    return caucus_ledger_reserve(ledger, &plan, "trial", false, ret, NULL);
}

static caucus_ledger_totals totals(const caucus_ledger *ledger) {
    caucus_ledger_totals t = caucus_ledger_totals_of(ledger);
    return t;
}

static void a_budget_has_a_range(void **state) {
    (void)state;
    const double bad_epsilon[] = {-1e-300, -1, (double)NAN, -INFINITY, 1e12},
                 bad_delta[] = {-1e-9, 1, (double)NAN, INFINITY};
    caucus_ledger *ledger = NULL;
    caucus_error e;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(caucus_ledger_new(bad_epsilon[i], 0, &ledger, &e), CAUCUS_E_RANGE);
        assert_string_equal(e.field, "epsilon");
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(caucus_ledger_new(1, bad_delta[i], &ledger, &e), CAUCUS_E_RANGE);
        assert_string_equal(e.field, "delta");
    }
    assert_null(ledger);
    caucus_ledger_free(NULL);
}

/* A plan that releases nothing needs nothing, and a budget of nothing lets nothing else through; also when read
 * back. */
static void a_budget_of_nothing(void **state) {
    (void)state;
    caucus_settings s;
    caucus_settings_init(&s);
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.rounds = 1;
    caucus_plan *one = NULL, *more = NULL;
    assert_int_equal(caucus_plan_new(&s, &one, NULL), CAUCUS_OK);
    s.rounds = 100;
    assert_int_equal(caucus_plan_new(&s, &more, NULL), CAUCUS_OK);
    assert_true(one->guarantee.epsilon_choices == 0);
    caucus_ledger *ledger = ledger_of(0, 0), *back = NULL;
    caucus_error e;
    uint32_t run = 0;
    assert_int_equal(caucus_ledger_reserve(ledger, more, "spends", false, &run, &e), CAUCUS_E_BUDGET);
    assert_int_equal(caucus_ledger_reserve(ledger, one, "spends nothing", false, &run, &e), CAUCUS_OK);
    for (size_t i = 0; i < caucus_ledger_count(ledger); i++) {
        char line[CAUCUS_LEDGER_LINE_BYTES];
        assert_int_equal(caucus_ledger_line(ledger, i, line, sizeof line), CAUCUS_OK);
        assert_int_equal(caucus_ledger_append_line(&back, line, i + 1, &e), CAUCUS_OK);
    }
    assert_int_equal(caucus_ledger_count(back), 2);
    caucus_ledger_free(back);
    caucus_ledger_free(ledger);
    caucus_plan_free(one);
    caucus_plan_free(more);
}

/* Names go to pages and JSON: UTF-8, whole. */
static void a_name_is_utf8(void **state) {
    (void)state;
    const char *const bad[] = {"a\xff",
                               "\xc3",
                               "\xc3(",
                               "\xc0\xaf",
                               "\xe0\x80\x80",
                               "\xed\xa0\x80",
                               "\xf5\x80\x80\x80",
                               "\xf0\x80\x80\x80",
                               "\xf4\x90\x80\x80",
                               "\x80",
                               "a\xc2\x85"};
    const char *const good[] = {"caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "live"};
    caucus_settings s;
    caucus_settings_init(&s);
    s.trust = CAUCUS_TRUST_COORDINATOR;
    caucus_plan *plan = NULL;
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    caucus_ledger *ledger = ledger_of(INFINITY, 0.5);
    caucus_error e;
    uint32_t run = 0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(caucus_ledger_reserve(ledger, plan, bad[i], false, &run, &e), CAUCUS_E_RANGE);
        assert_string_equal(e.field, "name");
    }
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_int_equal(caucus_ledger_reserve(ledger, plan, good[i], false, &run, &e), CAUCUS_OK);
    caucus_ledger_free(ledger);
    caucus_plan_free(plan);
}

static void runs_share_the_budget(void **state) {
    (void)state;
    caucus_ledger *ledger = ledger_of(4, 1e-6);
    uint32_t run = 0;
    assert_int_equal(open_run(ledger, 1, (double)NAN, 5e-7, &run), CAUCUS_OK);
    assert_int_equal(run, 1);
    assert_int_equal(open_run(ledger, 0.5, 2, 0, &run), CAUCUS_OK); /* charged 2, the larger */
    assert_int_equal(run, 2);
    caucus_ledger_totals t = totals(ledger);
    assert_true(t.left_epsilon == 1 && t.left_delta == 5e-7 && t.runs == 2 && t.releases == 0 && !t.any_seeded);
    assert_true(t.reserved_choices == 1.5 && t.reserved_messages == 2 && t.budget_epsilon == 4);
    caucus_plan big = plan_of(1.0000001, (double)NAN, 0);
    caucus_error e;
    assert_int_equal(caucus_ledger_reserve(ledger, &big, "big", false, &run, &e), CAUCUS_E_BUDGET);
    assert_string_equal(e.field, "epsilon");
    assert_non_null(strstr(e.text, "1 of 4 left"));
    assert_int_equal(open_run(ledger, 0.5, (double)NAN, 6e-7, &run), CAUCUS_E_BUDGET); /* delta */
    assert_int_equal(run, 2);
    assert_int_equal(caucus_ledger_count(ledger), 3);
    assert_int_equal(open_run(ledger, 1, (double)NAN, 5e-7, &run), CAUCUS_OK);
    assert_int_equal(run, 3);
    t = totals(ledger);
    assert_true(t.left_epsilon == 0 && t.left_delta == 0);
    assert_int_equal(open_run(ledger, 0x1p-40, (double)NAN, 0, &run), CAUCUS_E_BUDGET); /* rounded up, never lost */
    assert_int_equal(open_run(ledger, 0, (double)NAN, 0, &run), CAUCUS_OK);             /* no check, nothing spent */
    caucus_ledger_free(ledger);
}

/* Ten runs of 1e-7 have a delta of 1e-6 although their doubles do not add up to it. */
static void decimal_deltas_add_up(void **state) {
    (void)state;
    caucus_ledger *ledger = ledger_of(10, 1e-6);
    uint32_t run;
    for (int i = 0; i < 10; i++)
        assert_int_equal(open_run(ledger, 1, (double)NAN, 1e-7, &run), CAUCUS_OK);
    assert_int_equal(open_run(ledger, 0, (double)NAN, 1e-12, &run), CAUCUS_E_BUDGET);
    caucus_ledger_free(ledger);
}

/* Parts of an epsilon fit into their sum as people write it, and nothing after them does; also where the ledger is read
 * back between any two of them. What is refused is told with the numbers that were typed. */
static void decimal_epsilons_add_up(void **state) {
    (void)state;
    static const struct {
        double part;
        int count;
        double budget;
        const char *words;
    } cases[] = {
        {0.1, 3, 0.3, "0.1 asked, 0 of 0.3 left"},
        {0.1, 10, 1, "0.1 asked, 0 of 1 left"},
        {0.1, 30, 3, "0.1 asked, 0 of 3 left"},
        {0.7, 10, 7, "0.7 asked, 0 of 7 left"},
        {0.15, 20, 3, "0.15 asked, 0 of 3 left"},
        {0.333333333, 3, 0.999999999, "0.333333333 asked, 0 of 0.999999999 left"},
        {1e-9, 7, 7e-9, "1e-09 asked, 0 of 7e-09 left"},
        {1234.1, 10, 12341, "1234.1 asked, 0 of 12341 left"},
        {0.1 - 0x1p-40, 10, 1, "0.1 asked, 0 of 1 left"}, /* as plans come out that ask for 0.1 */
        {0.12345678912, 1, 0.12345678912, "0.12345679 asked, 0 of 0.12345679 left"}}; /* ten digits are shown */
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        caucus_ledger *ledger = ledger_of(cases[k].budget, 0), *again = NULL;
        caucus_plan plan = plan_of(cases[k].part, (double)NAN, 0);
        caucus_error e = {0};
        uint32_t run;
        for (int i = 0; i < cases[k].count; i++)
            assert_int_equal(caucus_ledger_reserve(ledger, &plan, "part", false, &run, &e), CAUCUS_OK);
        assert_true(totals(ledger).left_epsilon == 0 && totals(ledger).budget_epsilon >= cases[k].budget);
        for (size_t i = 0; i < caucus_ledger_count(ledger); i++) {
            char line[CAUCUS_LEDGER_LINE_BYTES];
            assert_int_equal(caucus_ledger_line(ledger, i, line, sizeof line), CAUCUS_OK);
            assert_int_equal(caucus_ledger_append_line(&again, line, i + 1, &e), CAUCUS_OK);
        }
        assert_int_equal(caucus_ledger_reserve(again, &plan, "more", false, &run, &e), CAUCUS_E_BUDGET);
        assert_string_equal(e.text, cases[k].words);
        plan = plan_of(1e-12, (double)NAN, 0); /* however little */
        assert_int_equal(caucus_ledger_reserve(ledger, &plan, "more", false, &run, &e), CAUCUS_E_BUDGET);
        caucus_ledger_free(again);
        caucus_ledger_free(ledger);
    }
    /* Never less than is spent: three thirds are more than 0.9999. */
    caucus_ledger *ledger = ledger_of(0.9999, 0);
    uint32_t run;
    for (int i = 0; i < 3; i++)
        assert_int_equal(open_run(ledger, 1.0 / 3, (double)NAN, 0, &run), i < 2 ? CAUCUS_OK : CAUCUS_E_BUDGET);
    caucus_ledger_free(ledger);
}

static void infinite_needs_an_infinite_budget(void **state) {
    (void)state;
    uint32_t run = 0;
    caucus_ledger *ledger = ledger_of(100, 0);
    assert_int_equal(open_run(ledger, INFINITY, (double)NAN, 0, &run), CAUCUS_E_BUDGET);
    assert_int_equal(open_run(ledger, 1, INFINITY, 0, &run), CAUCUS_E_BUDGET);
    assert_int_equal(open_run(ledger, (double)NAN, (double)NAN, 0, &run), CAUCUS_E_RANGE);
    assert_int_equal(open_run(ledger, -1, (double)NAN, 0, &run), CAUCUS_E_RANGE);
    assert_int_equal(open_run(ledger, 1, (double)NAN, (double)NAN, &run), CAUCUS_E_RANGE);
    caucus_ledger_free(ledger);
    ledger = ledger_of(INFINITY, 0);
    assert_int_equal(open_run(ledger, INFINITY, (double)NAN, 0, &run), CAUCUS_OK);
    assert_int_equal(open_run(ledger, 5, (double)NAN, 0, &run), CAUCUS_OK);
    assert_int_equal(caucus_ledger_release(ledger, 1, 0, "selection", (caucus_rational){1u << 31, 1}, none, NULL),
                     CAUCUS_OK);
    caucus_ledger_totals t = totals(ledger);
    assert_true(isinf(t.reserved_choices) && isinf(t.left_epsilon) && isinf(t.budget_epsilon));
    assert_true(t.released_choices == 0x1p31);
    char line[CAUCUS_LEDGER_LINE_BYTES];
    assert_int_equal(caucus_ledger_line(ledger, 1, line, sizeof line), CAUCUS_OK);
    assert_non_null(strstr(line, "\tinfinite\t0\t0\t"));
    caucus_ledger_free(ledger);
}

static void releases_stay_within_their_run(void **state) {
    (void)state;
    caucus_ledger *ledger = ledger_of(10, 0);
    uint32_t run, other;
    caucus_error e;
    assert_int_equal(open_run(ledger, 1, 0.5, 0, &run), CAUCUS_OK);
    assert_int_equal(open_run(ledger, 5, (double)NAN, 0, &other), CAUCUS_OK);
    /* Three thirds are one: rounding is paid once, one step of 10^-9, not three times, and is not shown as spent. */
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(caucus_ledger_release(ledger, run, i, "selection", (caucus_rational){1, 3}, none, &e),
                         CAUCUS_OK);
    assert_true(totals(ledger).released_choices == 1);
    assert_int_equal(caucus_ledger_entry(ledger, 3)->choices + caucus_ledger_entry(ledger, 4)->choices +
                         caucus_ledger_entry(ledger, 5)->choices,
                     1000000001);
    size_t count = caucus_ledger_count(ledger);
    assert_int_equal(caucus_ledger_release(ledger, run, 3, "selection", (caucus_rational){1, 1000}, none, &e),
                     CAUCUS_E_BUDGET);
    assert_string_equal(e.field, "release");
    assert_int_equal(caucus_ledger_release(ledger, run, 3, "vote", none, (caucus_rational){501, 1000}, &e),
                     CAUCUS_E_BUDGET);
    assert_int_equal(caucus_ledger_count(ledger), count); /* nothing recorded */
    assert_int_equal(caucus_ledger_release(ledger, run, 3, "vote", none, (caucus_rational){1, 2}, &e), CAUCUS_OK);
    assert_int_equal(caucus_ledger_release(ledger, run, 4, "check", none, none, &e),
                     CAUCUS_OK); /* a check that costs nothing */
    assert_int_equal(caucus_ledger_release(ledger, other, 0, "selection", (caucus_rational){5, 1}, none, &e),
                     CAUCUS_OK);
    assert_true(totals(ledger).releases == 6 && totals(ledger).released_messages == 0.5);
    assert_int_equal(caucus_ledger_release(ledger, 0, 0, "x", none, none, &e), CAUCUS_E_RANGE);
    assert_int_equal(caucus_ledger_release(ledger, 3, 0, "x", none, none, &e), CAUCUS_E_RANGE);
    assert_int_equal(caucus_ledger_release(ledger, 1, 0, "x", (caucus_rational){UINT64_MAX, 1}, none, &e),
                     CAUCUS_E_RANGE);
    assert_int_equal(caucus_ledger_release(ledger, 1, 0, "x", (caucus_rational){1, 0}, none, &e), CAUCUS_E_RANGE);
    caucus_ledger_free(ledger);
}

/* Many tiny amounts are not lost: at a 64th of a step each, a run of 1000 steps ends after 64,000 of them (and the
 * slack of 64 steps of 10^-9). */
static void small_amounts_are_not_lost(void **state) {
    (void)state;
    caucus_ledger *ledger = ledger_of(1, 0);
    uint32_t run, done = 0;
    assert_int_equal(open_run(ledger, 1e-6, (double)NAN, 0, &run), CAUCUS_OK);
    while (done < 1u << 21 &&
           caucus_ledger_release(ledger, run, done, "c", (caucus_rational){1, 64000000000}, none, NULL) == CAUCUS_OK)
        done++;
    assert_int_equal(done, (1000 + 64) * 64);
    assert_true(totals(ledger).released_choices == 1e-6); /* all that is reserved; the slack is rounding */
    caucus_ledger_free(ledger);
}

static void names_are_checked(void **state) {
    (void)state;
    caucus_ledger *ledger = ledger_of(10, 0);
    caucus_plan plan = plan_of(0.5, (double)NAN, 0);
    uint32_t run = 0;
    char longest[80];
    memset(longest, 'n', sizeof longest);
    longest[70] = '\0';
    const char *bad[] = {"", " a", "a ", "a\tb", "a\nb", "a\x7f", "a\xc2\x85", NULL};
    for (int i = 0; i < 8; i++) {
        assert_int_equal(caucus_ledger_reserve(ledger, &plan, bad[i], false, &run, NULL), CAUCUS_E_RANGE);
        assert_int_equal(caucus_ledger_count(ledger), 1);
    }
    assert_int_equal(caucus_ledger_reserve(ledger, &plan, longest, false, &run, NULL), CAUCUS_OK);
    longest[70] = 'n';
    longest[71] = '\0';
    assert_int_equal(caucus_ledger_reserve(ledger, &plan, longest, false, &run, NULL), CAUCUS_E_RANGE);
    assert_int_equal(caucus_ledger_reserve(ledger, &plan, "K\xc3\xb6ln 2", true, &run, NULL), CAUCUS_OK);
    assert_string_equal(caucus_ledger_entry(ledger, 2)->what, "K\xc3\xb6ln 2 coordinator event");
    assert_true(totals(ledger).any_seeded && caucus_ledger_entry(ledger, 2)->seeded);
    assert_int_equal(caucus_ledger_release(ledger, 2, 0, "bad\n", none, none, NULL), CAUCUS_E_RANGE);
    assert_null(caucus_ledger_entry(ledger, 3));
    caucus_ledger_free(ledger);
}

/* A ledger that gives back the memory of its releases goes on as one that has kept them. */
static void releases_can_be_dropped(void **state) {
    (void)state;
    enum { RELEASES = 40 };
    caucus_ledger *kept = ledger_of(7, 0), *sums = ledger_of(7, 0);
    uint32_t run;
    char line[CAUCUS_LEDGER_LINE_BYTES], other[CAUCUS_LEDGER_LINE_BYTES];
    assert_int_equal(open_run(kept, 1, (double)NAN, 0, &run), CAUCUS_OK);
    assert_int_equal(open_run(sums, 1, (double)NAN, 0, &run), CAUCUS_OK);
    for (uint32_t i = 0; i < RELEASES; i++) {
        assert_int_equal(caucus_ledger_release(kept, 1, i, "draw", (caucus_rational){1, 41}, none, NULL), CAUCUS_OK);
        assert_int_equal(caucus_ledger_release(sums, 1, i, "draw", (caucus_rational){1, 41}, none, NULL), CAUCUS_OK);
        assert_int_equal(caucus_ledger_line(kept, 2 + i, line, sizeof line), CAUCUS_OK);
        assert_int_equal(caucus_ledger_line(sums, 2 + i, other, sizeof other), CAUCUS_OK);
        assert_string_equal(line, other);
        if (i % 3 != 0)
            continue;
        caucus_ledger_drop_releases(sums);
        assert_null(caucus_ledger_entry(sums, 2 + i));
        assert_int_equal(caucus_ledger_line(sums, 2, other, sizeof other), CAUCUS_E_RANGE);
    }
    assert_int_equal(caucus_ledger_count(sums), 2 + RELEASES);
    assert_int_equal(caucus_ledger_releases_of(sums, 1), RELEASES);
    assert_int_equal(caucus_ledger_entry(sums, 0)->kind, CAUCUS_ENTRY_BUDGET);
    assert_int_equal(caucus_ledger_entry(sums, 1)->kind, CAUCUS_ENTRY_RUN);
    caucus_ledger_totals a = totals(kept), b = totals(sums);
    assert_true(a.released_choices == b.released_choices && a.releases == b.releases && b.runs == 1);
    assert_int_equal(caucus_ledger_release(sums, 1, 99, "draw", (caucus_rational){1, 1}, none, NULL), CAUCUS_E_BUDGET);
    /* A second run, and what comes after it, stays. */
    caucus_ledger_drop_releases(sums);
    assert_int_equal(open_run(sums, 1, (double)NAN, 0, &run), CAUCUS_OK);
    assert_int_equal(caucus_ledger_release(sums, 2, 1, "draw", (caucus_rational){1, 41}, none, NULL), CAUCUS_OK);
    caucus_ledger_drop_releases(sums);
    assert_int_equal(caucus_ledger_entry(sums, 2 + RELEASES)->kind, CAUCUS_ENTRY_RUN);
    assert_int_equal(caucus_ledger_entry(sums, 3 + RELEASES)->run, 2);
    assert_int_equal(caucus_ledger_releases_of(sums, 2), 1);
    caucus_ledger_free(kept);
    caucus_ledger_free(sums);
}

#define LINES 8
typedef char line_text[CAUCUS_LEDGER_LINE_BYTES];

/* A small history with every kind of entry. */
static caucus_ledger *history(line_text *ret) {
    caucus_ledger *ledger = ledger_of(7.25, 3e-6);
    uint32_t run;
    caucus_plan seeded = plan_of(2, 1.5, 1.0 / 3 * 1e-6);
    assert_int_equal(open_run(ledger, 1, (double)NAN, 1e-6, &run), CAUCUS_OK);
    assert_int_equal(caucus_ledger_release(ledger, 1, 0, "check", (caucus_rational){1, 7}, none, NULL), CAUCUS_OK);
    assert_int_equal(caucus_ledger_reserve(ledger, &seeded, "dry run", true, &run, NULL), CAUCUS_OK);
    assert_int_equal(caucus_ledger_release(ledger, 2, 3, "vote", none, (caucus_rational){3, 2}, NULL), CAUCUS_OK);
    assert_int_equal(caucus_ledger_release(ledger, 1, 4000000000u, "selection", (caucus_rational){6, 7}, none, NULL),
                     CAUCUS_OK);
    assert_int_equal(open_run(ledger, 0, (double)NAN, 0, &run), CAUCUS_OK);
    assert_int_equal(open_run(ledger, 4.25, (double)NAN, 5e-324, &run), CAUCUS_OK);
    assert_int_equal(caucus_ledger_count(ledger), LINES);
    for (size_t i = 0; i < LINES; i++)
        assert_int_equal(caucus_ledger_line(ledger, i, ret[i], sizeof ret[i]), CAUCUS_OK);
    return ledger;
}

static void lines_round_trip(void **state) {
    (void)state;
    line_text lines[LINES], again;
    caucus_ledger *a = history(lines), *b = NULL;
    caucus_error e;
    for (size_t i = 0; i < LINES; i++)
        assert_int_equal(caucus_ledger_append_line(&b, lines[i], i + 1, &e), CAUCUS_OK);
    for (size_t i = 0; i < LINES; i++) {
        assert_int_equal(caucus_ledger_line(b, i, again, sizeof again), CAUCUS_OK);
        assert_string_equal(again, lines[i]);
    }
    caucus_ledger_totals x = totals(a), y = totals(b);
    assert_true(x.left_epsilon == y.left_epsilon && x.reserved_delta == y.reserved_delta &&
                x.released_choices == y.released_choices && x.released_messages == y.released_messages &&
                x.runs == y.runs && x.releases == y.releases && y.any_seeded);
    /* Both go on in the same way. */
    assert_int_equal(caucus_ledger_release(a, 2, 9, "vote", (caucus_rational){2, 1}, none, NULL), CAUCUS_OK);
    assert_int_equal(caucus_ledger_release(b, 2, 9, "vote", (caucus_rational){2, 1}, none, NULL), CAUCUS_OK);
    assert_memory_equal(caucus_ledger_entry(a, LINES)->hash, caucus_ledger_entry(b, LINES)->hash, CAUCUS_HASH_BYTES);
    assert_int_equal(caucus_ledger_line(a, LINES + 1, again, sizeof again), CAUCUS_E_RANGE);
    assert_int_equal(caucus_ledger_line(a, 0, again, strlen(lines[0])), CAUCUS_E_RANGE);
    assert_int_equal(caucus_ledger_line(a, 0, again, strlen(lines[0]) + 1), CAUCUS_OK);
    caucus_ledger_free(a);
    caucus_ledger_free(b);
}

/* A run's entry holds what its epsilon comes to for a whole device, in field 3, rounded up, and reads it back. A ledger
 * from before has 0 there, and is read as it is. */
static void a_run_says_what_a_device_gets(void **state) {
    (void)state;
    caucus_settings settings;
    caucus_plan *plan = NULL;
    caucus_ledger *ledger = ledger_of(INFINITY, 0), *again = NULL, *old = NULL;
    line_text line[2];
    uint32_t run;
    caucus_settings_init(&settings);
    settings.trust = CAUCUS_TRUST_COORDINATOR;
    assert_int_equal(caucus_plan_new(&settings, &plan, NULL), CAUCUS_OK);
    assert_int_equal(caucus_ledger_reserve(ledger, plan, "fleet", false, &run, NULL), CAUCUS_OK);
    const double device = caucus_plan_epsilon_device(plan),
                 kept = (double)caucus_ledger_entry(ledger, 1)->device * 1e-9;
    assert_true(device > caucus_plan_epsilon_choices(plan) && kept >= device && kept < device + 1e-6);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(caucus_ledger_line(ledger, i, line[i], sizeof line[i]), CAUCUS_OK);
        assert_int_equal(caucus_ledger_append_line(&again, line[i], i + 1, NULL), CAUCUS_OK);
    }
    assert_true(caucus_ledger_entry(again, 1)->device == caucus_ledger_entry(ledger, 1)->device);
    assert_true(caucus_ledger_entry(again, 1)->block == settings.clients && settings.clients > 0);
    assert_int_equal(caucus_ledger_append_line(&old,
                                               "budget\t0\t0\tcaucus ledger 1\tprivate\t10737418240\t0\t1e-5\t"
                                               "f7594f799d3cd30afa7ce1cb66c58ba394f1655574006adfefd6948c7f743fea",
                                               1, NULL),
                     CAUCUS_OK);
    assert_int_equal(
        caucus_ledger_append_line(&old,
                                  "run\t1\t0\tsimulate stoch nobody event\tseeded\t2147483648\t2147483648\t0\t"
                                  "c919975a247fbb02d4d8819758026ae31b0022d8f588ca63af29981c937b341a",
                                  2, NULL),
        CAUCUS_OK);
    assert_true(caucus_ledger_entry(old, 1)->device == 0 && caucus_ledger_entry(old, 1)->block == 0);
    /* It goes on in its own steps: 2^30 to one, and without a number of clients. */
    assert_true(totals(old).left_epsilon == 8 && totals(old).budget_epsilon == 10);
    assert_true(caucus_ledger_has_budget(old, 10, 1e-5) && !caucus_ledger_has_budget(old, 9.9, 1e-5));
    assert_int_equal(open_run(old, 0.5, (double)NAN, 0, &run), CAUCUS_OK);
    assert_true(caucus_ledger_entry(old, 2)->choices == 1u << 29 && caucus_ledger_entry(old, 2)->block == 0);
    assert_true(totals(old).left_epsilon == 7.5);
    caucus_plan_free(plan);
    caucus_ledger_free(ledger);
    caucus_ledger_free(again);
    caucus_ledger_free(old);
}

/* The first `count` lines, the last of them replaced. */
static caucus_status read_back(line_text *lines, size_t count, const char *last, caucus_error *e) {
    caucus_ledger *ledger = NULL;
    caucus_status status = CAUCUS_OK;
    for (size_t i = 0; i < count && status == CAUCUS_OK; i++)
        status = caucus_ledger_append_line(&ledger, i + 1 == count ? last : lines[i], i + 1, e);
    caucus_ledger_free(ledger);
    return status;
}

static void every_altered_byte_is_noticed(void **state) {
    (void)state;
    line_text lines[LINES], bad;
    caucus_ledger_free(history(lines));
    int tried = 0;
    for (size_t i = 0; i < LINES; i++)
        for (size_t at = 0; lines[i][at] != '\0'; at++)
            for (int flip = 1; flip < 256; flip <<= 1) {
                memcpy(bad, lines[i], sizeof bad);
                bad[at] = (char)(bad[at] ^ flip);
                caucus_error e = {0};
                assert_int_equal(read_back(lines, i + 1, bad, &e), CAUCUS_E_FORMAT);
                assert_int_equal(e.line, i + 1);
                tried++;
            }
    assert_true(tried > 5000);
}

static void torn_missing_and_swapped_lines_are_noticed(void **state) {
    (void)state;
    line_text lines[LINES], bad;
    caucus_ledger_free(history(lines));
    caucus_error e;
    for (size_t i = 0; i < LINES; i++) {
        for (size_t length = 0; length < strlen(lines[i]); length++) {
            memcpy(bad, lines[i], sizeof bad);
            bad[length] = '\0';
            assert_int_equal(read_back(lines, i + 1, bad, &e), CAUCUS_E_FORMAT);
        }
        snprintf(bad, sizeof bad, "%.300s\n", lines[i]);
        assert_int_equal(read_back(lines, i + 1, bad, &e), CAUCUS_E_FORMAT);
        snprintf(bad, sizeof bad, "%.300s\t", lines[i]);
        assert_int_equal(read_back(lines, i + 1, bad, &e), CAUCUS_E_FORMAT);
        for (size_t j = 0; j < LINES; j++)
            if (j != i)
                assert_int_equal(read_back(lines, i + 1, lines[j], &e), CAUCUS_E_FORMAT);
    }
}

/* Lines with a correct chain hash but contents no ledger would write: made by chaining them here. */
static void hostile_lines_are_refused(void **state) {
    (void)state;
    char big[4000];
    memset(big, '1', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    caucus_ledger *ledger = NULL;
    caucus_error e;
    const char *bad[] = {
        "",
        "\t\t\t\t\t\t\t\t",
        "budget",
        "budget\t0\t0\tcaucus ledger 1\tprivate\t1\t0\t0\tzz",
        "budget\t0\t0\tcaucus ledger "
        "1\tprivate\t1\t0\tnan\t0000000000000000000000000000000000000000000000000000000000000000",
        "budget\t0\t0\tcaucus ledger "
        "1\tprivate\t1\t0\t1\t0000000000000000000000000000000000000000000000000000000000000000",
        "budget\t0\t0\tcaucus ledger "
        "1\tprivate\t18446744073709551615\t0\t0\t0000000000000000000000000000000000000000000000000000000000000000",
        "budget\t4294967296\t0\tcaucus ledger "
        "1\tprivate\t1\t0\t0\t0000000000000000000000000000000000000000000000000000000000000000",
        "budget\t+0\t0\tcaucus ledger "
        "1\tprivate\t1\t0\t0\t0000000000000000000000000000000000000000000000000000000000000000",
        "budget\t00\t0\tcaucus ledger "
        "1\tprivate\t1\t0\t0\t0000000000000000000000000000000000000000000000000000000000000000",
        "budget\t0\t0\tcaucus ledger "
        "1\tmaybe\t1\t0\t0\t0000000000000000000000000000000000000000000000000000000000000000",
        "budget\t0\t0\tcaucus ledger "
        "1\tprivate\t1\t0\t0\t0000000000000000000000000000000000000000000000000000000000000000",
        "grant\t0\t0\tcaucus ledger "
        "1\tprivate\t1\t0\t0\t0000000000000000000000000000000000000000000000000000000000000000",
        big};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(caucus_ledger_append_line(&ledger, bad[i], 17, &e), CAUCUS_E_FORMAT);
        assert_null(ledger);
        assert_int_equal(e.line, 17);
    }
}

/* A chain that is right in itself cannot smuggle a run past the budget: a line of a richer ledger does not fit. */
static void a_run_line_must_fit_the_budget(void **state) {
    (void)state;
    caucus_ledger *rich = ledger_of(8, 0), *again = NULL;
    uint32_t run;
    line_text line, altered;
    assert_int_equal(open_run(rich, 8, (double)NAN, 0, &run), CAUCUS_OK);
    assert_int_equal(caucus_ledger_line(rich, 0, line, sizeof line), CAUCUS_OK);
    assert_int_equal(caucus_ledger_append_line(&again, line, 1, NULL), CAUCUS_OK);
    assert_int_equal(open_run(again, 5, (double)NAN, 0, &run), CAUCUS_OK);
    assert_int_equal(caucus_ledger_line(rich, 1, altered, sizeof altered), CAUCUS_OK);
    assert_int_equal(caucus_ledger_append_line(&again, altered, 2, NULL), CAUCUS_E_FORMAT);
    assert_int_equal(caucus_ledger_append_line(&again, line, 2, NULL), CAUCUS_E_FORMAT); /* a second budget */
    assert_int_equal(caucus_ledger_count(again), 2);
    caucus_ledger_free(rich);
    caucus_ledger_free(again);
}

/* A run that is read back after every release still gets its last one: the slack absorbs the rounding. */
static void restarts_do_not_eat_the_budget(void **state) {
    (void)state;
    caucus_ledger *ledger = ledger_of(1, 0);
    uint32_t run;
    assert_int_equal(open_run(ledger, 1, (double)NAN, 0, &run), CAUCUS_OK);
    for (uint32_t i = 0; i < 30; i++) {
        assert_int_equal(caucus_ledger_release(ledger, run, i, "selection", (caucus_rational){1, 30}, none, NULL),
                         CAUCUS_OK);
        caucus_ledger *next = NULL;
        for (size_t k = 0; k < caucus_ledger_count(ledger); k++) {
            line_text line;
            assert_int_equal(caucus_ledger_line(ledger, k, line, sizeof line), CAUCUS_OK);
            assert_int_equal(caucus_ledger_append_line(&next, line, k + 1, NULL), CAUCUS_OK);
        }
        caucus_ledger_free(ledger);
        ledger = next;
    }
    assert_int_equal(caucus_ledger_release(ledger, run, 31, "selection", (caucus_rational){1, 30}, none, NULL),
                     CAUCUS_E_BUDGET);
    caucus_ledger_free(ledger);
}

/* Totals are running sums: after every entry, also one that was refused, they are what its entries add up to. */
static void totals_are_the_sums_of_the_entries(void **state) {
    (void)state;
    caucus_ledger *ledger = ledger_of(INFINITY, 0.5);
    uint32_t runs = 0, seed = 1;
    for (int i = 0; i < 500; i++) {
        seed = seed * 1664525u + 1013904223u;
        if (runs == 0 || seed >> 28 == 0)
            assert_int_equal(open_run(ledger, 3 + (seed >> 8 & 7), seed >> 12 & 1 ? NAN : 2, 1e-6, &runs), CAUCUS_OK);
        else /* some are beyond what was reserved, and refused */
            (void)!caucus_ledger_release(ledger, 1 + seed % runs, (uint32_t)i, "draw",
                                         (caucus_rational){seed >> 16 & 255, 1000},
                                         (caucus_rational){seed >> 24 & 15, 1000}, NULL);
        uint64_t reserved[2] = {0}, released[2] = {0}, releases = 0;
        for (size_t k = 1; k < caucus_ledger_count(ledger); k++) {
            const caucus_entry *e = caucus_ledger_entry(ledger, k);
            assert_int_equal(e->size, sizeof *e);
            uint64_t *sums = e->kind == CAUCUS_ENTRY_RUN ? reserved : released;
            sums[0] += e->choices;
            sums[1] += e->messages;
            releases += e->kind == CAUCUS_ENTRY_RELEASE;
        }
        const caucus_ledger_totals t = totals(ledger);
        assert_true(t.reserved_choices == (double)reserved[0] / 1e9);
        assert_true(t.reserved_choices == caucus_ledger_epsilon(ledger, reserved[0]));
        assert_true(t.reserved_messages == (double)reserved[1] / 1e9);
        assert_true(t.released_choices == (double)released[0] / 1e9);
        assert_true(t.released_messages == (double)released[1] / 1e9);
        assert_true(t.releases == releases && t.runs == runs && !t.any_seeded);
    }
    assert_true(runs > 5 && totals(ledger).releases > 100);
    caucus_ledger_free(ledger);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_budget_has_a_range),
        cmocka_unit_test(a_budget_of_nothing),
        cmocka_unit_test(a_name_is_utf8),
        cmocka_unit_test(runs_share_the_budget),
        cmocka_unit_test(decimal_deltas_add_up),
        cmocka_unit_test(decimal_epsilons_add_up),
        cmocka_unit_test(infinite_needs_an_infinite_budget),
        cmocka_unit_test(releases_stay_within_their_run),
        cmocka_unit_test(small_amounts_are_not_lost),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(releases_can_be_dropped),
        cmocka_unit_test(lines_round_trip),
        cmocka_unit_test(a_run_says_what_a_device_gets),
        cmocka_unit_test(every_altered_byte_is_noticed),
        cmocka_unit_test(torn_missing_and_swapped_lines_are_noticed),
        cmocka_unit_test(hostile_lines_are_refused),
        cmocka_unit_test(a_run_line_must_fit_the_budget),
        cmocka_unit_test(restarts_do_not_eat_the_budget),
        cmocka_unit_test(totals_are_the_sums_of_the_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
