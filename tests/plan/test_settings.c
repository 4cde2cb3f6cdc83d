/* SPDX-License-Identifier: Apache-2.0 */
/* Settings: every range and every contradiction is refused with one line that names the field; nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <caucus/plan.h>

#include <math.h>
#include <string.h>

#define ALGORITHM(name) CAUCUS_ALGORITHM_##name

static caucus_settings base(caucus_algorithm algorithm, caucus_trust trust) {
    caucus_settings s;
    caucus_settings_init(&s);
    s.algorithm = algorithm;
    s.trust = trust;
    if (trust == CAUCUS_TRUST_PAPER_LOCAL)
        s.calibration = CAUCUS_CALIBRATION_PAPER;
    return s;
}

static void accept_it(caucus_settings s) {
    caucus_error e = {0};
    caucus_status status = caucus_settings_check(&s, &e);
    if (status != CAUCUS_OK)
        print_message("refused: %s: %s\n", e.field, e.text);
    assert_int_equal(status, CAUCUS_OK);
}

static void refuse_it(caucus_settings s, caucus_status expected, const char *field, const char *says) {
    caucus_settings before = s;
    caucus_error e = {0};
    assert_int_equal(caucus_settings_check(&s, &e), expected);
    assert_string_equal(e.field, field);
    if (strstr(e.text, says) == NULL)
        print_message("'%s' not in: %s\n", says, e.text);
    assert_non_null(strstr(e.text, says));
    assert_true(strlen(e.text) < sizeof e.text - 1); /* nothing cut off */
    assert_memory_equal(&s, &before, sizeof s);
    assert_int_equal(caucus_settings_check(&s, NULL), expected);
}

#define REFUSE(status, field_name, says, algorithm, trust, change)                                                     \
    do {                                                                                                               \
        caucus_settings s = base(CAUCUS_ALGORITHM_##algorithm, CAUCUS_TRUST_##trust);                                  \
        change;                                                                                                        \
        refuse_it(s, CAUCUS_##status, field_name, says);                                                               \
    } while (0)
#define ACCEPT(algorithm, trust, change)                                                                               \
    do {                                                                                                               \
        caucus_settings s = base(CAUCUS_ALGORITHM_##algorithm, CAUCUS_TRUST_##trust);                                  \
        change;                                                                                                        \
        accept_it(s);                                                                                                  \
    } while (0)

static void words_round_trip(void **state) {
    (void)state;
    int words = 0;
#define CHECK_WORDS(type, field_word, TYPE)                                                                            \
    for (int i = 0; i < CAUCUS_##TYPE##_COUNT; i++) {                                                                  \
        caucus_##type value = CAUCUS_##TYPE##_COUNT;                                                                   \
        const char *word = caucus_##type##_word((caucus_##type)i);                                                     \
        assert_int_equal(caucus_##type##_parse(word, &value, NULL), CAUCUS_OK);                                        \
        assert_int_equal(value, i);                                                                                    \
        assert_true(strlen(caucus_##type##_help((caucus_##type)i)) > 10);                                              \
        caucus_error e = {0};                                                                                          \
        assert_int_equal(caucus_##type##_parse("no such word", &value, &e), CAUCUS_E_RANGE);                           \
        assert_string_equal(e.field, field_word);                                                                      \
        assert_non_null(strstr(e.text, word));                                                                         \
        assert_non_null(strstr(e.text, "'no such word'"));                                                             \
        assert_int_equal(value, i);                                                                                    \
        words++;                                                                                                       \
    }                                                                                                                  \
    assert_string_equal(caucus_##type##_word(CAUCUS_##TYPE##_COUNT), "?");                                             \
    assert_string_equal(caucus_##type##_help(CAUCUS_##TYPE##_COUNT), "?");
    CHECK_WORDS(algorithm, "algorithm", ALGORITHM)
    CHECK_WORDS(trust, "trust", TRUST)
    CHECK_WORDS(calibration, "calibration", CALIBRATION)
    CHECK_WORDS(protocol, "protocol", PROTOCOL)
    CHECK_WORDS(unit, "unit", UNIT)
    CHECK_WORDS(select, "select", SELECT)
    CHECK_WORDS(message, "message", MESSAGE)
    CHECK_WORDS(loss_shape, "loss-shape", LOSS_SHAPE)
    assert_int_equal(words, CAUCUS_ALGORITHM_COUNT + 3 + 2 + 2 + 3 + 4 + 6 + 2);
    caucus_trust t = CAUCUS_TRUST_NOBODY;
    caucus_error e;
    assert_int_equal(caucus_trust_parse(NULL, &t, &e), CAUCUS_E_RANGE);
    assert_int_equal(caucus_trust_parse("", &t, &e), CAUCUS_E_RANGE);
    assert_int_equal(caucus_trust_parse("Nobody", &t, &e), CAUCUS_E_RANGE);
    assert_int_equal(caucus_trust_parse("nobody ", &t, &e), CAUCUS_E_RANGE);
    assert_int_equal(caucus_trust_parse("a\nvery long word with a newline in it, much longer than any", &t, &e),
                     CAUCUS_E_RANGE);
    assert_null(strchr(e.text, '\n'));
    assert_non_null(strstr(e.text, "paper-local"));
}

static void defaults_need_only_trust(void **state) {
    (void)state;
    caucus_settings silent;
    caucus_settings_init(&silent);
    refuse_it(silent, CAUCUS_E_RANGE, "trust", "missing (accepted: coordinator, nobody, paper-local)");
    for (int a = 0; a < CAUCUS_ALGORITHM_COUNT; a++)
        accept_it(base((caucus_algorithm)a, CAUCUS_TRUST_COORDINATOR));
    ACCEPT(STOCH, NOBODY, (void)s);
    ACCEPT(LIMITED_UPDATES, NOBODY, (void)s);
    ACCEPT(STOCH, PAPER_LOCAL, (void)s);
}

static void silent_adjustments(void **state) {
    (void)state;
    caucus_settings s = base(ALGORITHM(SPARSE_VECTOR), CAUCUS_TRUST_COORDINATOR);
    s.clients = 50;
    assert_int_equal(caucus_settings_check(&s, NULL), CAUCUS_OK);
    assert_int_equal(s.clients, 1);
    s = base(ALGORITHM(LIMITED_UPDATES), CAUCUS_TRUST_NOBODY);
    assert_int_equal(caucus_settings_check(&s, NULL), CAUCUS_OK);
    assert_int_equal(s.clients, 1);
    s = base(ALGORITHM(LEADER), CAUCUS_TRUST_COORDINATOR);
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    s.delta = 1e-6;
    assert_int_equal(caucus_settings_check(&s, NULL), CAUCUS_OK);
    assert_true(isinf(s.epsilon) && s.delta == 0 && s.unit == CAUCUS_UNIT_EVENT && s.clients == 10);
}

static void ranges(void **state) {
    (void)state;
    REFUSE(E_RANGE, "algorithm", "svt, stoch, hedge", SVT, COORDINATOR, s.algorithm = CAUCUS_ALGORITHM_COUNT);
    REFUSE(E_RANGE, "loss-shape", "linear, convex", SVT, COORDINATOR, s.loss_shape = (caucus_loss_shape)99);
    REFUSE(E_RANGE, "clients", "0 (accepted: 1 to 16777216)", SVT, COORDINATOR, s.clients = 0);
    REFUSE(E_RANGE, "clients", "16777217", SVT, COORDINATOR, s.clients = (1u << 24) + 1);
    REFUSE(E_RANGE, "experts", "1 (accepted: 2 to", SVT, COORDINATOR, s.experts = 1);
    REFUSE(E_RANGE, "experts", "to 1048576", SVT, COORDINATOR, s.experts = UINT32_MAX);
    REFUSE(E_RANGE, "rounds", "0 (", SVT, COORDINATOR, s.rounds = 0);
    REFUSE(E_RANGE, "rounds", "1073741825", SVT, COORDINATOR, s.rounds = (1u << 30) + 1);
    REFUSE(E_RANGE, "interval", "1073741825 (", SVT, COORDINATOR, s.interval = (1u << 30) + 1);
    REFUSE(E_INFEASIBLE, "interval", "auto with svt (accepted: a number of rounds; auto is for hedge and leader)", SVT,
           COORDINATOR, s.interval = CAUCUS_INTERVAL_AUTO);
    REFUSE(E_INFEASIBLE, "interval", "auto with stoch", STOCH, NOBODY, s.interval = CAUCUS_INTERVAL_AUTO);
    ACCEPT(HEDGE, COORDINATOR, s.interval = CAUCUS_INTERVAL_AUTO);
    REFUSE(E_RANGE, "grid", "1048577", SVT, COORDINATOR, s.grid = (1u << 20) + 1);
    REFUSE(E_RANGE, "trees", "8 (accepted: 0 to 7, or auto)", STOCH, COORDINATOR, s.trees = 8);
    REFUSE(E_RANGE, "trees", "-2", STOCH, COORDINATOR, s.trees = -2);
    ACCEPT(SVT, COORDINATOR, (s.clients = 1, s.experts = 2, s.rounds = 1, s.interval = 1u << 30, s.grid = 1));
    ACCEPT(STOCH, COORDINATOR, (s.trees = 7, s.experts = 1u << 20, s.grid = 1u << 20));
}

static void real_ranges(void **state) {
    (void)state;
    const double bad_epsilon[] = {0, -1, 1000.5, (double)NAN, -INFINITY};
    for (int i = 0; i < 5; i++)
        REFUSE(E_RANGE, "epsilon", "above 0, at most 1000; or infinite", SVT, COORDINATOR, s.epsilon = bad_epsilon[i]);
    const double bad_delta[] = {-1e-9, 0.1, 1, (double)NAN, INFINITY};
    for (int i = 0; i < 5; i++)
        REFUSE(E_RANGE, "delta", "below 0.1", SVT, COORDINATOR, s.delta = bad_delta[i]);
    const double bad_rho[] = {0, -1, 0.51, (double)NAN, INFINITY};
    for (int i = 0; i < 5; i++)
        REFUSE(E_RANGE, "rho", "at most 0.5", SVT, COORDINATOR, s.rho = bad_rho[i]);
    const double bad_number[] = {(double)NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        REFUSE(E_RANGE, "lo", "finite", SVT, COORDINATOR, s.lo = bad_number[i]);
        REFUSE(E_RANGE, "hi", "finite", SVT, COORDINATOR, s.hi = bad_number[i]);
        REFUSE(E_RANGE, "lstar", "rounds*(hi-lo)", SVT, COORDINATOR, s.lstar = bad_number[i]);
        REFUSE(E_RANGE, "lipschitz", "finite, above 0", STOCH, COORDINATOR, s.lipschitz = bad_number[i]);
        REFUSE(E_RANGE, "smoothness", "0 or above", STOCH, COORDINATOR, s.smoothness = bad_number[i]);
    }
    REFUSE(E_RANGE, "hi", "above lo, which is 1", SVT, COORDINATOR, s.lo = 1);
    REFUSE(E_RANGE, "hi", "hi - lo", SVT, COORDINATOR, (s.lo = -1e308, s.hi = 1e308));
    REFUSE(E_RANGE, "hi", "hi - lo", SVT, COORDINATOR, s.hi = 1e-310);
    REFUSE(E_RANGE, "lstar", "513 (accepted: 0 to rounds*(hi-lo) = 512)", SVT, COORDINATOR, s.lstar = 513);
    REFUSE(E_RANGE, "lstar", "-1", SVT, COORDINATOR, s.lstar = -1);
    REFUSE(E_RANGE, "lipschitz", "0 (", STOCH, COORDINATOR, s.lipschitz = 0);
    ACCEPT(SVT, COORDINATOR, (s.epsilon = 1000, s.delta = 0.0999, s.rho = 0.5, s.lo = -5, s.hi = 3, s.lstar = 4096));
}

static void privacy_contradictions(void **state) {
    (void)state;
    REFUSE(E_INFEASIBLE, "trust", "nobody with svt", SVT, NOBODY, (void)s);
    REFUSE(E_INFEASIBLE, "trust", "paper-local with sparse-vector", SPARSE_VECTOR, PAPER_LOCAL, (void)s);
    REFUSE(E_INFEASIBLE, "trust", "nobody with hedge", HEDGE, NOBODY, (void)s);
    REFUSE(E_INFEASIBLE, "trust", "nobody with leader", LEADER, NOBODY, (void)s);
    REFUSE(E_INFEASIBLE, "trust", "calibration paper", STOCH, PAPER_LOCAL, s.calibration = CAUCUS_CALIBRATION_TIGHT);
    REFUSE(E_INFEASIBLE, "calibration", "no message-private calibration; use trust paper-local or calibration tight",
           STOCH, NOBODY, s.calibration = CAUCUS_CALIBRATION_PAPER);
    REFUSE(E_INFEASIBLE, "calibration", "hedge", HEDGE, COORDINATOR, s.calibration = CAUCUS_CALIBRATION_PAPER);
    REFUSE(E_INFEASIBLE, "epsilon", "use algorithm hedge or leader", SVT, COORDINATOR, s.epsilon = INFINITY);
    REFUSE(E_INFEASIBLE, "epsilon", "hedge or leader", LIMITED_UPDATES, COORDINATOR, s.epsilon = INFINITY);
    REFUSE(E_INFEASIBLE, "unit", "client-block with hedge", HEDGE, COORDINATOR, s.unit = CAUCUS_UNIT_CLIENT_BLOCK);
    REFUSE(E_INFEASIBLE, "trees", "client-block", STOCH, COORDINATOR, (s.unit = CAUCUS_UNIT_CLIENT_BLOCK, s.trees = 1));
    ACCEPT(HEDGE, COORDINATOR, s.epsilon = INFINITY);
    ACCEPT(SVT, COORDINATOR, (s.unit = CAUCUS_UNIT_CLIENT_BLOCK, s.interval = 8));
    ACCEPT(STOCH, NOBODY, (s.unit = CAUCUS_UNIT_CLIENT_BLOCK, s.trees = 0));
    ACCEPT(SVT, COORDINATOR, s.calibration = CAUCUS_CALIBRATION_PAPER);
}

static void misplaced_options(void **state) {
    (void)state;
    REFUSE(E_INFEASIBLE, "select", "flip (", SVT, COORDINATOR, s.select = CAUCUS_SELECT_FLIP);
    REFUSE(E_INFEASIBLE, "select", "noisy-min", STOCH, NOBODY, s.select = CAUCUS_SELECT_NOISY_MIN);
    ACCEPT(STOCH, COORDINATOR, s.select = CAUCUS_SELECT_NOISY_MIN);
    REFUSE(E_INFEASIBLE, "message", "vote (", STOCH, COORDINATOR, s.message = CAUCUS_MESSAGE_VOTE);
    REFUSE(E_INFEASIBLE, "message", "knorm", SVT, COORDINATOR, s.message = CAUCUS_MESSAGE_KNORM);
    REFUSE(E_INFEASIBLE, "message", "knorm", STOCH, PAPER_LOCAL, s.message = CAUCUS_MESSAGE_KNORM);
    REFUSE(E_INFEASIBLE, "delta", "0 with message gauss", STOCH, NOBODY, s.message = CAUCUS_MESSAGE_GAUSS);
    ACCEPT(STOCH, NOBODY, (s.message = CAUCUS_MESSAGE_GAUSS, s.delta = 1e-6));
    REFUSE(E_INFEASIBLE, "trees", "message vote", STOCH, NOBODY, (s.message = CAUCUS_MESSAGE_VOTE, s.trees = 1));
    REFUSE(E_INFEASIBLE, "trees", "message shortlist", STOCH, NOBODY,
           (s.message = CAUCUS_MESSAGE_SHORTLIST, s.trees = 3));
    ACCEPT(STOCH, NOBODY, (s.message = CAUCUS_MESSAGE_KNORM, s.trees = 3));
    REFUSE(E_INFEASIBLE, "trees", "1 with svt", SVT, COORDINATOR, s.trees = 1);
    ACCEPT(SVT, COORDINATOR, s.trees = 0);
    REFUSE(E_INFEASIBLE, "protocol", "paper with stoch", STOCH, COORDINATOR, s.protocol = CAUCUS_PROTOCOL_PAPER);
    REFUSE(E_INFEASIBLE, "protocol", "paper with hedge", HEDGE, COORDINATOR, s.protocol = CAUCUS_PROTOCOL_PAPER);
    ACCEPT(SPARSE_VECTOR, COORDINATOR, s.protocol = CAUCUS_PROTOCOL_PAPER);
    REFUSE(E_INFEASIBLE, "interval", "once per phase", STOCH, COORDINATOR, s.interval = 2);
    REFUSE(E_INFEASIBLE, "lstar", "only svt", HEDGE, COORDINATOR, s.lstar = 1);
    REFUSE(E_INFEASIBLE, "front-load", "only for svt", STOCH, COORDINATOR, s.front_load = true);
    REFUSE(E_INFEASIBLE, "front-load", "calibration tight", SVT, COORDINATOR,
           (s.front_load = true, s.calibration = CAUCUS_CALIBRATION_PAPER));
    ACCEPT(SVT, COORDINATOR, s.front_load = true);
    REFUSE(E_INFEASIBLE, "loss-shape", "convex with svt", SVT, COORDINATOR, s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX);
    REFUSE(E_INFEASIBLE, "smoothness", "linear", STOCH, COORDINATOR, s.smoothness = 1);
    REFUSE(E_INFEASIBLE, "lipschitz", "linear", STOCH, COORDINATOR, s.lipschitz = 2);
    ACCEPT(STOCH, COORDINATOR, (s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX, s.smoothness = 1, s.lipschitz = 2));
    REFUSE(E_INFEASIBLE, "past-phases", "only for stoch", SVT, COORDINATOR, s.past_phases = true);
    REFUSE(E_INFEASIBLE, "past-phases", "trust coordinator", STOCH, NOBODY, s.past_phases = true);
    REFUSE(E_INFEASIBLE, "past-phases", "linear", STOCH, COORDINATOR,
           (s.past_phases = true, s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX));
    REFUSE(E_INFEASIBLE, "past-phases", "no trees", STOCH, COORDINATOR, (s.past_phases = true, s.trees = 1));
    ACCEPT(STOCH, COORDINATOR, s.past_phases = true);
}

static void sums_must_fit(void **state) {
    (void)state;
    REFUSE(E_OVERFLOW, "rounds", "below 2^62", SVT, COORDINATOR, (s.clients = 1u << 24, s.rounds = 1u << 30));
    REFUSE(E_OVERFLOW, "rounds", "1048576 steps", SVT, COORDINATOR,
           (s.clients = 1u << 12, s.rounds = 1u << 30, s.grid = 1u << 20)); /* exactly 2^62 */
    ACCEPT(SVT, COORDINATOR, (s.clients = 1u << 12, s.rounds = (1u << 30) - 1, s.grid = 1u << 20));
    ACCEPT(SVT, COORDINATOR, (s.clients = 1u << 12, s.rounds = 1u << 30));           /* the plan will choose 2^16 */
    ACCEPT(SPARSE_VECTOR, COORDINATOR, (s.clients = 1u << 24, s.rounds = 1u << 30)); /* planned with one client */
}

/* A caller that was compiled against an older struct knows less of it; one compiled against a newer one asks for what
 * this library does not know. */
static void sizes(void **state) {
    (void)state;
    caucus_settings s = base(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    caucus_error e = {0};
    caucus_plan *plan = NULL;
    assert_int_equal(s.size, sizeof s);
    const size_t refused[] = {0,       sizeof s.size, offsetof(caucus_settings, grid) - 1, sizeof s - 1, sizeof s + 8,
                              SIZE_MAX};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        s.size = refused[i];
        assert_int_equal(caucus_settings_check(&s, &e), CAUCUS_E_RANGE);
        assert_string_equal(e.field, "size");
        assert_int_equal(caucus_plan_new(&s, &plan, &e), CAUCUS_E_RANGE);
        assert_string_equal(e.field, "size");
        assert_null(plan);
        assert_true((strstr(e.text, "later version") != NULL) == (refused[i] > sizeof s));
    }
    /* The struct before it had a grid: what lies behind it is not read, and not written. */
    s.size = offsetof(caucus_settings, grid);
    s.grid = 0xdeadbeef;
    assert_int_equal(caucus_settings_check(&s, &e), CAUCUS_OK);
    assert_int_equal(s.size, offsetof(caucus_settings, grid));
    assert_int_equal(s.grid, 0xdeadbeef);
    assert_int_equal(caucus_plan_new(&s, &plan, &e), CAUCUS_OK);
    assert_int_equal(caucus_plan_settings(plan)->size, sizeof s);
    assert_int_equal(caucus_plan_settings(plan)->grid, 1u << 20);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_round_trip),
        cmocka_unit_test(defaults_need_only_trust),
        cmocka_unit_test(silent_adjustments),
        cmocka_unit_test(ranges),
        cmocka_unit_test(real_ranges),
        cmocka_unit_test(privacy_contradictions),
        cmocka_unit_test(misplaced_options),
        cmocka_unit_test(sums_must_fit),
        cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
