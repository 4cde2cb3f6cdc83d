/* SPDX-License-Identifier: Apache-2.0 */
/* test_bound_fit.c: which bounds may be shown for which losses: the classes of the adversaries against the losses they
 * really make, and the premises of plans against the classes. */
#include "sim/plain_trial.h"

#include <math.h>

#include "show/bound_fit.h"

#define SEED 3u
#define CLIENTS 3u
#define EXPERTS 8u
#define ROUNDS 64u

/* Some expert has no loss at all, and whether clients see the same, trial by trial. */
static void classes_are_true(void **state) {
    (void)state;
    static float rows[CLIENTS][ROUNDS * EXPERTS];
    for (int kind = 0; kind < CAUCUS_ADVERSARY_COUNT; kind++) {
        if (kind == CAUCUS_ADVERSARY_MOVIELENS || kind == CAUCUS_ADVERSARY_LOSSES || kind == CAUCUS_ADVERSARY_ADAPTIVE)
            continue; /* read, or told, not made */
        caucus_adversary_settings a = {.kind = (caucus_adversary_kind)kind,
                                       .seed = SEED,
                                       .clients = CLIENTS,
                                       .experts = EXPERTS,
                                       .rounds = ROUNDS,
                                       .epsilon = 0.05,
                                       .segments = 4,
                                       .drift = 0.1};
        const caucus_adversary_class is = caucus_adversary_class_of(&a);
        caucus_adversary *adversary = adversary_of(&a);
        for (uint32_t trial = 0; trial < 20; trial++) {
            caucus_adversary_trial *losses = NULL;
            bool faultless = false, same = true;
            assert_int_equal(caucus_adversary_trial_new(adversary, trial, &losses), CAUCUS_OK);
            for (uint32_t i = 0; i < CLIENTS; i++) {
                caucus_adversary_fill(losses, i + 1, 0, ROUNDS, rows[i]);
                same = same && memcmp(rows[i], rows[0], sizeof rows[0]) == 0;
            }
            for (uint32_t n = 0; n < EXPERTS; n++) {
                bool clean = true;
                for (uint32_t i = 0; i < CLIENTS; i++)
                    for (uint32_t t = 0; t < ROUNDS; t++)
                        clean = clean && !(rows[i][t * EXPERTS + n] > 0);
                faultless = faultless || clean;
            }
            assert_int_equal(faultless, is.faultless);
            assert_false(is.iid_clients && same); /* independent draws do not coincide */
            caucus_adversary_trial_free(losses);
        }
        assert_false(is.iid_clients && !is.iid_rounds);
        caucus_adversary_close(adversary);
    }
    const caucus_adversary_settings losses = {.kind = CAUCUS_ADVERSARY_LOSSES},
                                    movielens = {.kind = CAUCUS_ADVERSARY_MOVIELENS};
    assert_false(caucus_adversary_class_of(&losses).faultless);
    assert_false(caucus_adversary_class_of(&losses).iid_rounds);
    assert_false(caucus_adversary_class_of(&movielens).iid_rounds);
}

static caucus_settings settings_of(caucus_algorithm algorithm) {
    caucus_settings s;
    caucus_settings_init(&s);
    s.algorithm = algorithm;
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.experts = EXPERTS;
    s.rounds = ROUNDS;
    s.epsilon = 10;
    return s;
}

static caucus_bound_fit fit(const caucus_settings *s, caucus_adversary_kind kind) {
    caucus_plan *plan = plan_of(s);
    const caucus_bound_fit found = caucus_bound_fit_of(plan, &(caucus_adversary_settings){.kind = kind});
    caucus_plan_free(plan);
    return found;
}

static void premises(void **state) {
    (void)state;
    enum { H = CAUCUS_BOUND_FIT_HOLDS, U = CAUCUS_BOUND_FIT_UNKNOWN, F = CAUCUS_BOUND_FIT_FAILS };
    enum { N = CAUCUS_BOUND_FIT_NONE };
    enum { ALGORITHMS = CAUCUS_ALGORITHM_LEADER + 1 }; /* those whose premises are written down here */
    static const int want[CAUCUS_ADVERSARY_COUNT][ALGORITHMS] = {
        /* svt, stoch, hedge, sparse-vector, limited-updates, leader */
        [CAUCUS_ADVERSARY_GAUSSIAN] = {F, H, H, F, H, N},
        [CAUCUS_ADVERSARY_BERNOULLI] = {F, H, H, F, H, N},
        [CAUCUS_ADVERSARY_REALIZABLE] = {H, H, H, H, H, N},
        [CAUCUS_ADVERSARY_HALVING] = {H, F, H, H, F, N},
        [CAUCUS_ADVERSARY_CREEPING] = {H, F, H, H, F, N},
        [CAUCUS_ADVERSARY_CROSS_ENTROPY] = {F, H, H, F, H, N},
        [CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE] = {H, F, H, H, F, N},
        [CAUCUS_ADVERSARY_LOWER_BOUND_OBLIVIOUS] = {F, F, H, F, H, N}, /* one client alone sees fair coins */
        [CAUCUS_ADVERSARY_MOVIELENS] = {H, F, H, H, F, N},
        [CAUCUS_ADVERSARY_LOSSES] = {U, U, H, U, U, N},
        [CAUCUS_ADVERSARY_SHIFTING] = {F, F, H, F, F, N},
        [CAUCUS_ADVERSARY_DRIFTING] = {F, F, H, F, F, N},
        [CAUCUS_ADVERSARY_ADAPTIVE] = {F, F, H, F, F, N},
    };
    for (int kind = 0; kind < CAUCUS_ADVERSARY_COUNT; kind++)
        for (int algorithm = 0; algorithm < ALGORITHMS; algorithm++) {
            caucus_settings s = settings_of((caucus_algorithm)algorithm);
            if ((int)fit(&s, (caucus_adversary_kind)kind) != want[kind][algorithm])
                fail_msg("%s against %s", caucus_algorithm_word((caucus_algorithm)algorithm),
                         caucus_adversary_kind_word((caucus_adversary_kind)kind));
        }
}

/* Clients that differ are not draws from one distribution; one alone has none to differ from. */
static void clients_that_differ(void **state) {
    (void)state;
    const caucus_adversary_settings alike = {.kind = CAUCUS_ADVERSARY_BERNOULLI},
                                    spread = {.kind = CAUCUS_ADVERSARY_BERNOULLI, .spread = 0.05};
    caucus_settings s = settings_of(CAUCUS_ALGORITHM_STOCH);
    caucus_plan *plan = plan_of(&s);
    assert_true(caucus_bound_holds(plan, &alike));
    assert_int_equal(caucus_bound_fit_of(plan, &spread), CAUCUS_BOUND_FIT_FAILS);
    caucus_plan_free(plan);
    s.clients = 1;
    plan = plan_of(&s);
    assert_true(caucus_bound_holds(plan, &spread));
    caucus_plan_free(plan);
}

/* With a longest phase the distribution may change as often as was said, and no more often. */
static void losses_that_shift(void **state) {
    (void)state;
    caucus_settings s = settings_of(CAUCUS_ALGORITHM_STOCH);
    s.rounds = 2000;
    s.longest_phase = 16;
    s.changes = 1.5; /* three in all */
    caucus_plan *plan = plan_of(&s);
    assert_string_equal(caucus_premise_word(caucus_premise_of(plan)), "segments");
    caucus_adversary_settings shifting = {.kind = CAUCUS_ADVERSARY_SHIFTING, .segments = 4};
    assert_true(caucus_bound_holds(plan, &shifting));
    shifting.segments = 5;
    assert_int_equal(caucus_bound_fit_of(plan, &shifting), CAUCUS_BOUND_FIT_FAILS);
    shifting.segments = 4, shifting.spread = 0.1;
    assert_int_equal(caucus_bound_fit_of(plan, &shifting), CAUCUS_BOUND_FIT_FAILS);
    const caucus_adversary_settings bernoulli = {.kind = CAUCUS_ADVERSARY_BERNOULLI, .segments = 9},
                                    drifting = {.kind = CAUCUS_ADVERSARY_DRIFTING};
    assert_true(caucus_bound_holds(plan, &bernoulli)); /* cut into segments, it does not change */
    assert_int_equal(caucus_bound_fit_of(plan, &drifting), CAUCUS_BOUND_FIT_FAILS);
    caucus_plan_free(plan);
    s.longest_phase = 0; /* doubling phases are proved for one distribution */
    plan = plan_of(&s);
    shifting.spread = 0;
    assert_int_equal(caucus_bound_fit_of(plan, &shifting), CAUCUS_BOUND_FIT_FAILS);
    caucus_plan_free(plan);
}

/* Unit client: clients may have laws of their own; but rounds may not. */
static void own_laws(void **state) {
    (void)state;
    caucus_settings s = settings_of(CAUCUS_ALGORITHM_STOCH);
    for (int client = 0; client < 2; client++) {
        s.unit = client ? CAUCUS_UNIT_CLIENT : CAUCUS_UNIT_EVENT;
        caucus_plan *plan = plan_of(&s);
        caucus_adversary_settings own = {.kind = CAUCUS_ADVERSARY_BERNOULLI, .spread = 0.1};
        assert_int_equal(caucus_bound_fit_of(plan, &own), client ? CAUCUS_BOUND_FIT_HOLDS : CAUCUS_BOUND_FIT_FAILS);
        own.kind = CAUCUS_ADVERSARY_DRIFTING;
        assert_int_equal(caucus_bound_fit_of(plan, &own), CAUCUS_BOUND_FIT_FAILS);
        caucus_plan_free(plan);
    }
    s.evaluate = 1; /* an expert is judged by those who have evaluated it, not by all clients */
    caucus_plan *plan = plan_of(&s);
    caucus_adversary_settings own = {.kind = CAUCUS_ADVERSARY_BERNOULLI, .spread = 0.1};
    assert_int_equal(caucus_bound_fit_of(plan, &own), CAUCUS_BOUND_FIT_FAILS);
    own.spread = 0;
    assert_int_equal(caucus_bound_fit_of(plan, &own), CAUCUS_BOUND_FIT_HOLDS);
    caucus_plan_free(plan);
}

/* A range that begins below 0 makes a loss of 0 cost something: L* must allow for it. */
static void losses_within_lstar(void **state) {
    (void)state;
    for (int means = 0; means < 2; means++) {
        caucus_settings s = settings_of(CAUCUS_ALGORITHM_SVT);
        s.unit = means ? CAUCUS_UNIT_CLIENT_BLOCK : CAUCUS_UNIT_EVENT;
        s.interval = means ? 4 : 1;
        assert_int_equal(fit(&s, CAUCUS_ADVERSARY_HALVING), CAUCUS_BOUND_FIT_HOLDS);
        s.lstar = 3;
        assert_int_equal(fit(&s, CAUCUS_ADVERSARY_HALVING), CAUCUS_BOUND_FIT_HOLDS);
        assert_int_equal(fit(&s, CAUCUS_ADVERSARY_BERNOULLI), CAUCUS_BOUND_FIT_FAILS);
        s.lo = -1;
        s.hi = 3;
        s.lstar = 0;
        assert_int_equal(fit(&s, CAUCUS_ADVERSARY_HALVING), CAUCUS_BOUND_FIT_FAILS);
        s.lstar = ROUNDS * 0.9;
        assert_int_equal(fit(&s, CAUCUS_ADVERSARY_HALVING), CAUCUS_BOUND_FIT_FAILS);
        s.lstar = ROUNDS; /* 0 - lo in every round */
        assert_int_equal(fit(&s, CAUCUS_ADVERSARY_HALVING), CAUCUS_BOUND_FIT_HOLDS);
        s.lo = 0.25; /* above 0: what is below the range is moved to its end and costs nothing */
        s.hi = 1;
        s.lstar = 0;
        assert_int_equal(fit(&s, CAUCUS_ADVERSARY_HALVING), CAUCUS_BOUND_FIT_HOLDS);
    }
}

/* The convex adversary does not keep to its clamps, so its plan's bound is not for it; nor is there one for votes. */
static void convex_and_votes(void **state) {
    (void)state;
    caucus_settings s = settings_of(CAUCUS_ALGORITHM_STOCH);
    s.trust = CAUCUS_TRUST_NOBODY;
    assert_int_equal(fit(&s, CAUCUS_ADVERSARY_GAUSSIAN), CAUCUS_BOUND_FIT_NONE);
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
    s.smoothness = 0.5;
    caucus_plan *plan = plan_of(&s);
    assert_int_equal(plan->bound_kind, CAUCUS_BOUND_EXPECTATION); /* for losses that have these constants */
    assert_string_equal(caucus_premise_word(caucus_premise_of(plan)), "iid-smooth");
    assert_int_equal(caucus_bound_fit_of(plan, &(caucus_adversary_settings){.kind = CAUCUS_ADVERSARY_CROSS_ENTROPY}),
                     CAUCUS_BOUND_FIT_FAILS);
    caucus_plan_free(plan);
}

static caucus_played_bound played(const caucus_plan *plan, const caucus_adversary_settings *adversary) {
    return caucus_bound_played(&(caucus_run_result){.plan = plan}, adversary);
}

/* Runs without an end: svt and stoch have a bound for any number of rounds, cycles of hedge add up; of cycles of svt
 * nothing is proved for what was played. */
static void without_an_end(void **state) {
    (void)state;
    caucus_adversary_settings a = {.kind = CAUCUS_ADVERSARY_REALIZABLE, .rounds = 4096};
    caucus_settings s = settings_of(CAUCUS_ALGORITHM_SVT);
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    s.nominal_rounds = a.rounds;
    caucus_plan *plan = plan_of(&s);
    const caucus_played_bound nominal = played(plan, &a); /* tests/plan/test_plan_nominal.c: its value */
    assert_int_equal(nominal.fit, CAUCUS_BOUND_FIT_HOLDS);
    assert_true(fabs(nominal.uncapped - plan->bound_uncapped) < 1e-3 && nominal.value == nominal.uncapped);
    a.rounds *= 8;
    const caucus_played_bound more = played(plan, &a);
    assert_true(more.uncapped > nominal.uncapped && more.uncapped < 1.5 * nominal.uncapped); /* as ln n */
    a.rounds = 1;
    assert_true(played(plan, &a).value == 1); /* vacuous */
    a.kind = CAUCUS_ADVERSARY_BERNOULLI;
    assert_int_equal(played(plan, &a).fit, CAUCUS_BOUND_FIT_FAILS);
    a.kind = CAUCUS_ADVERSARY_LOSSES;
    assert_int_equal(played(plan, &a).fit, CAUCUS_BOUND_FIT_UNKNOWN);
    assert_int_equal(caucus_bound_fit_of(plan, &a), CAUCUS_BOUND_FIT_NONE); /* of the plan's own bound: unchanged */
    caucus_plan_free(plan);

    s = settings_of(CAUCUS_ALGORITHM_HEDGE);
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    s.renew = 512;
    plan = plan_of(&s);
    a = (caucus_adversary_settings){.kind = CAUCUS_ADVERSARY_BERNOULLI, .rounds = 3 * 512 - 1};
    assert_int_equal(played(plan, &a).fit, CAUCUS_BOUND_FIT_HOLDS);
    assert_true(fabs(played(plan, &a).uncapped - 3 * plan->bound_uncapped) < 1e-9);
    caucus_plan_free(plan);

    s.algorithm = CAUCUS_ALGORITHM_SVT; /* each cycle with its own probability */
    plan = plan_of(&s);
    a.kind = CAUCUS_ADVERSARY_REALIZABLE;
    assert_int_equal(played(plan, &a).fit, CAUCUS_BOUND_FIT_NONE);
    caucus_plan_free(plan);

    s = settings_of(CAUCUS_ALGORITHM_STOCH);
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    s.longest_phase = 16;
    s.changes = 0.5;
    plan = plan_of(&s);
    a = (caucus_adversary_settings){.kind = CAUCUS_ADVERSARY_SHIFTING, .segments = 3, .rounds = 4000};
    assert_int_equal(played(plan, &a).fit, CAUCUS_BOUND_FIT_HOLDS);
    s.rounds = a.rounds; /* a plan that ends there and reckons with as many changes says the same */
    caucus_plan *finite = plan_of(&s);
    assert_true(fabs(played(plan, &a).uncapped - finite->bound_uncapped) < 1e-9);
    caucus_plan_free(finite);
    a.spread = 0.1;
    assert_int_equal(played(plan, &a).fit, CAUCUS_BOUND_FIT_FAILS);
    a = (caucus_adversary_settings){.kind = CAUCUS_ADVERSARY_BERNOULLI, .segments = 3, .rounds = 1};
    assert_true(played(plan, &a).fit == CAUCUS_BOUND_FIT_HOLDS && played(plan, &a).value == 1); /* vacuous */
    a.kind = CAUCUS_ADVERSARY_DRIFTING;
    assert_int_equal(played(plan, &a).fit, CAUCUS_BOUND_FIT_FAILS);
    a.kind = CAUCUS_ADVERSARY_LOSSES;
    assert_int_equal(played(plan, &a).fit, CAUCUS_BOUND_FIT_UNKNOWN);
    caucus_plan_free(plan);
}

/* At the devices' own pace: what the trials found for their counts, on average; where devices are alike. */
static void own_pace(void **state) {
    (void)state;
    caucus_settings s = settings_of(CAUCUS_ALGORITHM_STOCH);
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    s.pace = CAUCUS_PACE_OWN;
    caucus_plan *plan = plan_of(&s);
    caucus_trial_result trial[2] = {{.bound = 3, .losses = 1000}, {.bound = 5, .losses = 1000}};
    const caucus_run_result result = {.plan = plan, .trial = trial, .trials = 2, .done = 2};
    caucus_adversary_settings a = {.kind = CAUCUS_ADVERSARY_SHIFTING, .segments = 9, .rounds = 9 * CAUCUS_SLOT_ROWS};
    caucus_played_bound found = caucus_bound_played(&result, &a);
    assert_true(found.fit == CAUCUS_BOUND_FIT_HOLDS && fabs(found.value - 4) < 1e-12);
    trial[0].losses = trial[1].losses = 3 * plan->settings.clients; /* never more than all that could be lost */
    assert_true(fabs(caucus_bound_played(&result, &a).value - 3) < 1e-12);
    a.spread = 0.1;
    assert_int_equal(caucus_bound_played(&result, &a).fit, CAUCUS_BOUND_FIT_FAILS);
    trial[0].bound = (double)NAN; /* votes */
    assert_int_equal(caucus_bound_played(&result, &a).fit, CAUCUS_BOUND_FIT_NONE);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(classes_are_true),
                                       cmocka_unit_test(premises),
                                       cmocka_unit_test(clients_that_differ),
                                       cmocka_unit_test(losses_that_shift),
                                       cmocka_unit_test(without_an_end),
                                       cmocka_unit_test(own_pace),
                                       cmocka_unit_test(own_laws),
                                       cmocka_unit_test(losses_within_lstar),
                                       cmocka_unit_test(convex_and_votes)};
    printf("seed %u\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
