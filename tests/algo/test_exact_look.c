/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_look.c: a private look, exactly (docs/PRIVACY.md, statement 20).
 *
 * Claim 1, of which E0 = .25 pays for the figure, for every pair of sums that one record can make of each other: the
 * law of (choice, figure) is a product, and two of them may differ by e^1 at most. Controls that must fail: a
 * selection that does not know of the look, a figure made of weighted scores, one that is drawn again after a
 * restart, a divisor that leaves out who has seen nothing. Then the machines: what they show is the sum and one
 * draw of the stream that is named for it, in every mode, and choice and figure together follow the law. */
#include "dp/exact.h"

#include "algo/coordinator.h"
#include "algo/look/look.h"
#include "plan/stoch.h"
#include "plan/stoch/evaluate.h"
#include "plan/stoch/look.h"

#include <caucus/client.h>
#include <caucus/coordinator.h>

#define D 2
#define M 30 /* as many as it takes to show anything on a grid of 1: 2 t = 24 */
#define E0 0.25
#define WIDEST 6 /* sums beyond it change nothing: a selection sees their difference */
#define REACH 4  /* figures further out have the ratio of the outermost */

static caucus_settings settings_of(double show) {
    caucus_settings s;
    exact_settings(&s, CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, 1);
    s.clients = M;
    s.experts = D;
    s.grid = 1;
    s.rounds = 4;
    s.select = CAUCUS_SELECT_FLIP;
    s.show_loss = show;
    return s;
}

/* The largest |ln| over choices and figures, the figure being of expert x, `draws` times drawn. */
static long double largest(caucus_select select, caucus_rational rate, const caucus_noise *noise, const int64_t *a,
                           const int64_t *b, uint32_t x, unsigned draws) {
    long double p[D], q[D], worst = 0;
    exact_select_law(select, a, D, rate, p);
    exact_select_law(select, b, D, rate, q);
    for (uint32_t y = 0; y < D; y++)
        for (int64_t figure = -REACH; figure <= WIDEST + REACH; figure++) {
            const long double here = logl(exact_pmf(noise, figure - a[x])),
                              there = logl(exact_pmf(noise, figure - b[x]));
            exact_raise(&worst, fabsl(logl(p[y]) - logl(q[y]) + (long double)draws * (here - there)));
        }
    return worst;
}

/* All sums up to WIDEST, and all that a record makes of them: each coordinate moves by G = 1 at most. */
static long double worst_of(caucus_select select, caucus_rational rate, const caucus_noise *noise, unsigned draws) {
    long double worst = 0;
    for (int64_t i = 0; i < (WIDEST + 1) * (WIDEST + 1) * 9; i++) {
        const int64_t a[D] = {i / 9 % (WIDEST + 1), i / 9 / (WIDEST + 1)};
        const int64_t b[D] = {a[0] + i % 3 - 1, a[1] + i / 3 % 3 - 1};
        for (uint32_t x = 0; x < D; x++)
            exact_raise(&worst, largest(select, rate, noise, a, b, x, draws));
    }
    return worst;
}

static void test_law(void **state) {
    (void)state;
    for (int em = 0; em <= 1; em++) {
        const caucus_select select = em ? CAUCUS_SELECT_EXPONENTIAL : CAUCUS_SELECT_FLIP;
        caucus_settings s = settings_of(E0), plain = settings_of(0);
        s.select = plain.select = select;
        caucus_plan *plan = exact_plan(&s), *whole = exact_plan(&plain);
        const caucus_noise *noise = &plan->stoch.show_noise;
        const caucus_rational rate = plan->stoch.phase[0].select_rate[0];
        assert_true(plan->guarantee.epsilon_choices <= 1);
        exact_assert("choice and figure", worst_of(select, rate, noise, 1), 1, em ? 0.8L : 0.999999L);
        exact_assert_broken("a selection that has all of epsilon",
                            worst_of(select, whole->stoch.phase[0].select_rate[0], noise, 1), 1, em ? 1.1L : 1.249999L);
        exact_assert_broken("drawn again after a restart: 2 E0", worst_of(select, rate, noise, 2), 1,
                            em ? 1.1L : 1.249999L);
        caucus_plan_free(plan);
        caucus_plan_free(whole);
    }
}

/* Unit client, growth 2, 16 rounds: four decisions, from means that a client moves by G in all of them. The worst cases
 * of all of them add up to the claim; so do those of the figures to E0. Controls: figures that have E0 each, alone and
 * with the choices. */
static caucus_settings client_settings(void) {
    caucus_settings s = settings_of(E0);
    s.unit = CAUCUS_UNIT_CLIENT;
    s.growth = 2;
    s.rounds = 16;
    s.clients = 100; /* at a quarter of E0 the noise reaches four times as far: 2 t = 96 */
    return s;
}

static void test_client_law(void **state) {
    (void)state;
    caucus_settings s = client_settings();
    caucus_plan *plan = exact_plan(&s);
    const caucus_noise quarter = plan->stoch.show_noise;
    caucus_noise whole = quarter;
    whole.parameter.num *= 4;
    assert_int_equal(plan->stoch.described, 4);
    assert_true(fabsl(exact_rate(quarter.parameter) - E0 / 4) < 1e-9L);
    assert_true(plan->guarantee.epsilon_choices <= 1);
    long double all = 0, broken = 0, figures = 0, each = 0;
    for (uint32_t k = 0; k < 4; k++) {
        const caucus_rational rate = plan->stoch.phase[k].select_rate[0];
        all += worst_of(CAUCUS_SELECT_FLIP, rate, &quarter, 1);
        broken += worst_of(CAUCUS_SELECT_FLIP, rate, &whole, 1);
        figures += exact_ratio(exact_pmf(&quarter, 0), exact_pmf(&quarter, 1));
        each += exact_ratio(exact_pmf(&whole, 0), exact_pmf(&whole, 1));
    }
    exact_assert("unit client: choices and figures", all, 1, 0.999999L);
    exact_assert("unit client: figures", figures, E0, 0.999999L);
    exact_assert_broken("unit client: E0 for each figure", each, E0, 3.999999L);
    exact_assert_broken("unit client: choices, and E0 for each figure", broken, 1, 1.749999L);
    caucus_plan_free(plan);
}

/* A figure made of scores that weigh 8, 4, 2, 1, with noise for the largest weight: a record is in four of them. */
static void test_weighted(void **state) {
    (void)state;
    const caucus_settings s = settings_of(E0);
    caucus_plan *plan = exact_plan(&s);
    caucus_noise noise = plan->stoch.show_noise;
    noise.parameter.den *= 8;
    long double once = 0, sum = 0;
    for (int64_t weight = 8; weight >= 1; weight /= 2) {
        long double worst = 0;
        for (int64_t figure = -20; figure <= 20; figure++)
            exact_raise(&worst, exact_ratio(exact_pmf(&noise, figure), exact_pmf(&noise, figure - weight)));
        once = weight == 8 ? worst : once;
        sum += worst;
    }
    exact_assert("one weighted figure", once, E0, 0.999999L);
    exact_assert_broken("weighted figures", sum, E0, 1.874999L);
    caucus_plan_free(plan);
}

/* A divisor of those that have seen something: it is shown, and differs. */
static void test_divisor(void **state) {
    (void)state;
    const long double seen[2] = {1, 0}, not_seen[2] = {0, 1}; /* P(divisor = 29), P(divisor = 30) */
    long double worst = 0;
    for (int i = 0; i < 2; i++)
        exact_raise(&worst, exact_ratio(seen[i], not_seen[i]));
    exact_assert_broken("the divisor tells who has seen something", worst, 1, (long double)INFINITY);
}

/* ---- the machines ---- */

static caucus_coordinator *opened(const caucus_plan *plan, uint64_t seed) {
    caucus_coordinator *c = NULL;
    caucus_key key;
    caucus_key_from_seed(seed, &key);
    assert_int_equal(caucus_coordinator_new(plan, &key, &c), CAUCUS_OK);
    return c;
}

static void through_bytes(const caucus_plan *plan, uint64_t seed, caucus_coordinator **c) {
    const size_t bytes = caucus_coordinator_state_bytes(*c);
    uint8_t *saved = malloc(bytes);
    caucus_key key;
    caucus_key_from_seed(seed, &key);
    assert_int_equal(caucus_coordinator_save(*c, saved, bytes), CAUCUS_OK);
    caucus_coordinator_free(*c);
    *c = NULL;
    assert_int_equal(caucus_coordinator_restore(plan, &key, saved, bytes, c), CAUCUS_OK);
    free(saved);
}

static void report_one(caucus_coordinator *c, uint32_t client, uint64_t item, const int64_t *value) {
    const caucus_announcement *a = caucus_coordinator_announcement(c);
    const caucus_report report = {.client = client,
                                  .kind = a->ask,
                                  .first = item,
                                  .block = item,
                                  .epoch_or_leaf = 0,
                                  .count = c->plan->settings.experts,
                                  .value = value};
    assert_int_equal(caucus_coordinator_receive(c, &report), CAUCUS_OK);
}

/* The one draw that the step in hand has for its look. */
static int64_t draw_of(const caucus_coordinator *c) {
    caucus_stream stream;
    caucus_stream_init(&stream, &c->key, CAUCUS_PURPOSE_LOOK, c->now.block, 0, 0);
    return caucus_noise_draw(&stream, &c->plan->stoch.show_noise);
}

/* Client i's value of expert y in a phase. */
static int64_t value_of(uint64_t block, uint32_t i, uint32_t y) {
    return (int64_t)((block * 7 + i * 5 + y * 3) % 4 == 0);
}

/* What the public interface says of each phase, one by one. */
static void assert_same_as_one_by_one(const caucus_coordinator *c, const caucus_look *look) {
    const uint32_t count = caucus_coordinator_looks(c);
    caucus_look one;
    for (uint32_t i = 0; i < 2; i++) {
        caucus_look_init(&one);
        assert_int_equal(caucus_coordinator_look(c, i, &one), CAUCUS_OK);
        assert_memory_equal(&one, &look[i], sizeof one);
    }
    assert_int_equal(caucus_coordinator_look(c, count, &one), CAUCUS_E_RANGE);
    assert_memory_equal(&one, &look[1], sizeof one);
    one.size++;
    assert_int_equal(caucus_coordinator_look(c, 0, &one), CAUCUS_E_RANGE);
}

/* In step, event and means: the sum of the expert that was in force, and one draw; what the API says of it. */
static void test_in_step(void **state) {
    (void)state;
    for (int means = 0; means <= 1; means++) {
        caucus_settings s = settings_of(E0);
        s.unit = means ? CAUCUS_UNIT_CLIENT_BLOCK : CAUCUS_UNIT_EVENT;
        s.past_phases = true;
        s.rounds = 64;
        s.lo = 2;
        s.hi = 6;
        caucus_plan *plan = exact_plan(&s);
        caucus_coordinator *c = opened(plan, 17);
        caucus_look look[CAUCUS_LOOKS];
        uint32_t shown = 0;
        while (c->now.ask != CAUCUS_ASK_NOTHING) {
            const uint64_t block = c->now.block, n = plan->stoch.phase[block - 2].samples;
            const uint32_t x = c->now.expert, m = block == 3 ? M - 2 : M;
            int64_t sum = 0;
            for (uint32_t i = 1; i <= m; i++) {
                const int64_t value[D] = {value_of(block, i, 0), value_of(block, i, 1)};
                report_one(c, i, block, value);
                sum += value[x];
                if (i == 9)
                    through_bytes(plan, 17, &c);
            }
            const int64_t want = sum + draw_of(c);
            assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
            through_bytes(plan, 17, &c);
            assert_int_equal(c->look->count, ++shown);
            assert_int_equal(c->look->shown[0].sum, want);
            assert_int_equal(c->look->shown[0].expert, x);
            assert_int_equal(c->look->shown[0].phase, block - 1);
            assert_int_equal(c->look->shown[0].divisor, means ? m : m * n);
            assert_int_equal(caucus_look_all(c, look, CAUCUS_LOOKS), shown);
            const double loss = 2 + 4 * (double)want / (double)(means ? m : m * n);
            const double half = 4 * 12.0 / (double)(means ? m : m * n);
            assert_true(fabs(look[0].loss - fmin(fmax(loss, 2), 6)) < 1e-12);
            assert_true(fabs(look[0].low - fmin(fmax(loss - half, 2), 6)) < 1e-12);
            assert_true(fabs(look[0].high - fmin(fmax(loss + half, 2), 6)) < 1e-12);
            assert_int_equal(look[0].clients, m);
        }
        assert_int_equal(shown, plan->stoch.phases - 1);
        assert_int_equal(caucus_look_all(c, look, 2), 2);
        assert_int_equal(look[1].phase, look[0].phase - 1);
        assert_same_as_one_by_one(c, look);
        caucus_coordinator_free(c);
        caucus_plan_free(plan);
    }
}

/* Unit client: of each decision the sum of means of everything so far, over those that answered; with few evaluations
 * over those that have evaluated the expert. */
static void test_client(void **state) {
    (void)state;
    for (uint32_t k = 0; k <= 1; k++) {
        caucus_settings s = client_settings();
        s.evaluate = k;
        s.clients += 100 * k;
        caucus_plan *plan = exact_plan(&s);
        caucus_coordinator *c = opened(plan, 29);
        while (c->now.ask != CAUCUS_ASK_NOTHING) {
            const uint64_t block = c->now.block, n = plan->stoch.phase[block - 2].samples;
            const uint32_t x = c->now.expert, m = block == 3 ? s.clients - 3 : s.clients, before = c->look->count;
            uint64_t count[D] = {k > 0 ? 0 : m, k > 0 ? 0 : m};
            int64_t sum = 0;
            for (uint32_t i = 1; i <= m; i++) {
                const int64_t value[D] = {value_of(block, i, 0), value_of(block, i, 1)};
                report_one(c, i, block, value);
                sum += value[x];
                if (k > 0)
                    caucus_evaluate_touched(plan, 1, 1, n, i, count);
                if (i == 9)
                    through_bytes(plan, 29, &c);
            }
            const int64_t want = sum + draw_of(c);
            const bool shows = count[x] >= 2 * (uint64_t)plan->stoch.show_reach; /* on a grid of 1 */
            assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
            through_bytes(plan, 29, &c);
            assert_int_equal(c->look->count, before + shows);
            if (!shows)
                continue;
            assert_int_equal(c->look->shown[0].sum, want);
            assert_int_equal(c->look->shown[0].expert, x);
            assert_int_equal(c->look->shown[0].phase, block - 1);
            assert_int_equal(c->look->shown[0].divisor, count[x]);
        }
        assert_true(k == 0 ? c->look->count == 4 : c->look->count >= 1);
        caucus_coordinator_free(c);
        caucus_plan_free(plan);
    }
}

/* Fewer answers than an interval of half the range needs: nothing is drawn, nothing is shown. */
static void test_too_few(void **state) {
    (void)state;
    caucus_settings s = settings_of(E0);
    s.rounds = 2;
    caucus_plan *plan = exact_plan(&s);
    for (uint32_t m = 22; m <= 25; m++) {
        caucus_coordinator *c = opened(plan, m);
        for (uint32_t i = 1; i <= m; i++)
            report_one(c, i, 2, (const int64_t[D]){1, 0});
        assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
        assert_int_equal(c->look->count, m >= 24);
        caucus_coordinator_free(c);
    }
    caucus_plan_free(plan);
}

/* A decision that is made again from the same saved state shows the same; the next process draws on its own. */
static void test_restarts(void **state) {
    (void)state;
    caucus_settings s = settings_of(E0);
    s.longest_phase = 1;
    s.rounds = 64;
    caucus_plan *plan = exact_plan(&s);
    int64_t sum[3];
    for (uint64_t k = 0; k < 3; k++) {
        caucus_coordinator *c = opened(plan, 5);
        for (uint64_t block = 2; block <= 4; block++) {
            if (block == 4) /* the third one: of another process, whose key comes after the one that was saved */
                through_bytes(plan, 5 + k, &c);
            for (uint32_t i = 1; i <= M; i++)
                report_one(c, i, block, (const int64_t[D]){1, 0});
            assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
        }
        sum[k] = c->look->shown[0].sum;
        caucus_coordinator_free(c);
    }
    assert_int_equal(sum[0], sum[1]);
    assert_int_equal(sum[0], sum[2]);
    caucus_plan_free(plan);
}

/* Few evaluations: over the evaluations of that expert. */
static void test_evaluate(void **state) {
    (void)state;
    caucus_settings s = settings_of(E0);
    s.evaluate = 1;
    s.rounds = 16;
    caucus_plan *plan = exact_plan(&s);
    caucus_coordinator *c = opened(plan, 3);
    while (c->now.ask != CAUCUS_ASK_NOTHING) {
        const uint64_t block = c->now.block, n = plan->stoch.phase[block - 2].samples;
        const uint32_t x = c->now.expert;
        uint64_t count[D];
        caucus_evaluate_everybody(plan, block - 1, n, count);
        const uint32_t before = c->look->count;
        for (uint32_t i = 1; i <= M; i++)
            report_one(c, i, block, (const int64_t[D]){(int64_t)(i % 2), 1});
        const int64_t want = (x == 0 ? M / 2 : M) + draw_of(c);
        assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
        assert_int_equal(c->look->count, before + (count[x] >= 24));
        if (count[x] >= 24) {
            assert_int_equal(c->look->shown[0].sum, want);
            assert_int_equal(c->look->shown[0].divisor, count[x]);
        }
    }
    assert_true(c->look->count >= 2);
    caucus_coordinator_free(c);
    caucus_plan_free(plan);
}

/* At their own pace: who has seen nothing enters with the last figure, and before the first with half of the range; the
 * divisor is those that answered. Clients say that they have seen nothing by themselves, and it shifts no score. */
static void test_own_pace(void **state) {
    (void)state;
    caucus_settings s = settings_of(E0);
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    s.pace = CAUCUS_PACE_OWN;
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    s.grid = 8;
    caucus_plan *plan = exact_plan(&s);
    caucus_coordinator *c = opened(plan, 23);
    caucus_client *client = NULL;
    caucus_key key;
    caucus_key_from_seed(1, &key);
    assert_int_equal(caucus_client_new(plan, M, &key, &client), CAUCUS_OK);
    int64_t last = 4;
    for (uint64_t slot = 0; slot <= 6; slot++) {
        if (slot == 0 || slot > 2) /* a new one */
            assert_int_equal(caucus_client_hear(client, caucus_coordinator_announcement(c)), CAUCUS_OK);
        assert_int_equal(caucus_client_slot(client, slot), CAUCUS_OK);
        if (slot == 2)
            assert_int_equal(caucus_client_observe(client, (const double[D]){0.5, 1}, 1), CAUCUS_OK);
        const caucus_report *r = caucus_client_report(client);
        if (slot < 2) {
            assert_null(r); /* the first slot does not count */
            continue;
        }
        const bool saw = slot == 3;
        assert_int_equal(r->count, D);
        assert_int_equal(r->value[0], saw ? 4 : -1);
        assert_int_equal(r->value[1], saw ? 8 : -1);
        const uint32_t x = c->now.expert;
        int64_t sum = saw ? r->value[x] : last, scores[D] = {saw ? 4 : 0, saw ? 8 : 0};
        assert_int_equal(caucus_coordinator_receive(c, r), CAUCUS_OK);
        for (uint32_t i = 1; i < M - 3; i++) { /* the last three are away */
            const bool nothing = i % 3 == 0;
            const int64_t value[D] = {nothing ? -1 : 5, nothing ? -1 : 7};
            report_one(c, i, slot - 1, value);
            sum += nothing ? last : value[x];
            scores[0] += nothing ? 0 : 5;
            scores[1] += nothing ? 0 : 7;
            if (i == 7)
                through_bytes(plan, 23, &c);
        }
        assert_memory_equal(c->sum, scores, sizeof scores);
        const int64_t want = sum + draw_of(c);
        assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
        assert_int_equal(c->look->shown[0].sum, want);
        assert_int_equal(c->look->shown[0].divisor, M - 3);
        assert_int_equal(c->look->unseen, 0);
        last = want < 0 ? 0 : want / (M - 3) > 8 ? 8 : want / (M - 3);
        assert_int_equal(caucus_client_acknowledge(client, slot), CAUCUS_OK);
    }
    caucus_client_free(client);
    caucus_coordinator_free(c);
    caucus_plan_free(plan);
}

/* Trust nobody: what clients sent, added up, as it is; of twenty of them at least. Votes show nothing. */
static void test_nobody(void **state) {
    (void)state;
    for (int vote = 0; vote <= 1; vote++) {
        caucus_settings s = settings_of(0);
        s.trust = CAUCUS_TRUST_NOBODY;
        s.select = CAUCUS_SELECT_AUTO;
        s.message = vote ? CAUCUS_MESSAGE_VOTE : CAUCUS_MESSAGE_KNORM;
        s.epsilon = 10;
        s.rounds = 16;
        s.grid = 1u << 20;
        caucus_plan *plan = exact_plan(&s);
        assert_int_equal(caucus_look_shows(plan), !vote);
        caucus_coordinator *c = opened(plan, 9);
        for (uint64_t block = 2; !vote && c->now.ask != CAUCUS_ASK_NOTHING; block++) {
            const uint32_t x = c->now.expert, m = block == 3 ? 19 : M;
            int64_t sum = 0;
            for (uint32_t i = 1; i <= m; i++) {
                const int64_t value[D] = {(int64_t)i * 1000003 - 9999999, -(int64_t)i * 77};
                report_one(c, i, block, value);
                sum += value[x];
            }
            const uint32_t before = c->look->count;
            assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
            assert_int_equal(c->look->count, before + (m >= 20));
            assert_int_equal(c->look->shown[0].sum, m >= 20 ? sum : c->look->shown[0].sum);
        }
        caucus_look none;
        if (vote)
            assert_int_equal(caucus_look_all(c, &none, 1), 0);
        caucus_coordinator_free(c);
        caucus_plan_free(plan);
    }
}

/* Choice and figure of one decision, many times: the product of their laws. False-alarm rate 1e-6, seed fixed. */
static void test_machines_follow_the_law(void **state) {
    (void)state;
    enum { FIGURES = 13, CELLS = D * FIGURES };
    const uint64_t seed = 4100, n = 40000;
    caucus_settings s = settings_of(E0);
    s.rounds = 2;
    caucus_plan *plan = exact_plan(&s);
    const caucus_noise *noise = &plan->stoch.show_noise;
    uint64_t count[CELLS] = {0};
    long double law[CELLS], choice[D];
    exact_select_law(CAUCUS_SELECT_FLIP, (const int64_t[D]){14, 16}, D, plan->stoch.phase[0].select_rate[0], choice);
    for (uint32_t y = 0; y < D; y++)
        for (int64_t f = 0; f < FIGURES; f++) /* -6 or less, -5, .. 5, 6 or more of noise */
            law[y * FIGURES + (uint32_t)f] = choice[y] * (f == 0             ? exact_not_above(noise, -6)
                                                          : f == FIGURES - 1 ? exact_above(noise, 5)
                                                                             : exact_pmf(noise, f - 6));
    for (uint64_t r = 0; r < n; r++) {
        caucus_coordinator *c = opened(plan, seed + r);
        const uint32_t x = c->now.expert;
        for (uint32_t i = 1; i <= M; i++)
            report_one(c, i, 2, (const int64_t[D]){i <= 14, i <= 16});
        assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
        int64_t z = c->look->shown[0].sum - (x == 0 ? 14 : 16);
        z = z < -6 ? -6 : z > 6 ? 6 : z;
        count[c->now.expert * FIGURES + (uint32_t)(z + 6)]++;
        caucus_coordinator_free(c);
    }
    const double p = exact_chi2(count, law, CELLS, n);
    printf("  p = %.4f (seed %llu)\n", p, (unsigned long long)seed);
    assert_true(p > EXACT_P_VALUE);
    caucus_plan_free(plan);
}

/* A state whose figures no run can have shown is no state. */
static void test_saved(void **state) {
    (void)state;
    const caucus_settings s = settings_of(E0);
    caucus_plan *plan = exact_plan(&s);
    caucus_coordinator *c = opened(plan, 2);
    for (uint32_t i = 1; i <= M; i++)
        report_one(c, i, 2, (const int64_t[D]){1, 1});
    assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
    caucus_shown *shown = &c->look->shown[0], good = *shown;
    assert_true(caucus_look_sound(c));
    const caucus_shown bad[] = {{.phase = 0, .divisor = 30, .expert = 0, .answers = 30},
                                {.phase = 3, .divisor = 30, .expert = 0, .answers = 30},
                                {.phase = 1, .divisor = 0, .expert = 0, .answers = 30},
                                {.phase = 1, .divisor = 31, .expert = 0, .answers = 30},
                                {.phase = 1, .divisor = 30, .expert = D, .answers = 30},
                                {.phase = 1, .divisor = 30, .expert = 0, .answers = 31},
                                {.phase = 1, .divisor = 30, .expert = 0, .answers = 0}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        *shown = bad[i];
        assert_false(caucus_look_sound(c));
    }
    *shown = good;
    c->look->count = CAUCUS_LOOKS + 1;
    assert_false(caucus_look_sound(c));
    c->look->count = 1;
    c->look->unseen = 1;
    assert_false(caucus_look_sound(c));
    caucus_coordinator_free(c);
    caucus_plan_free(plan);
}

/* The latest CAUCUS_LOOKS are kept. */
static void test_many(void **state) {
    (void)state;
    caucus_settings s = settings_of(E0);
    s.longest_phase = 1;
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    caucus_plan *plan = exact_plan(&s);
    caucus_coordinator *c = opened(plan, 2);
    for (uint64_t block = 2; block < 50; block++) {
        for (uint32_t i = 1; i <= M; i++)
            report_one(c, i, block, (const int64_t[D]){1, 1});
        assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
    }
    caucus_look look[CAUCUS_LOOKS];
    assert_int_equal(caucus_look_all(c, look, CAUCUS_LOOKS), CAUCUS_LOOKS);
    for (uint32_t i = 0; i < CAUCUS_LOOKS; i++)
        assert_int_equal(look[i].phase, 48 - i);
    caucus_coordinator_free(c);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_law),      cmocka_unit_test(test_client_law),
        cmocka_unit_test(test_client),   cmocka_unit_test(test_weighted),
        cmocka_unit_test(test_divisor),  cmocka_unit_test(test_in_step),
        cmocka_unit_test(test_too_few),  cmocka_unit_test(test_restarts),
        cmocka_unit_test(test_evaluate), cmocka_unit_test(test_own_pace),
        cmocka_unit_test(test_nobody),   cmocka_unit_test(test_machines_follow_the_law),
        cmocka_unit_test(test_saved),    cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
