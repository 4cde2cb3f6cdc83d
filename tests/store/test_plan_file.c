/* test_plan_file.c: plan files: every kind of plan comes back as it was, every altered line is refused by its number,
 * and nothing is replaced by accident. */
#include "store/plan_file.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[64], path[96];

static int make_directory(void **state) {
    (void)state;
    (void)snprintf(directory, sizeof directory, "/tmp/caucus-plan-XXXXXX");
    if (mkdtemp(directory) == NULL)
        return -1;
    (void)snprintf(path, sizeof path, "%s/p.yaml", directory);
    return 0;
}

/* Fails if anything but the plan is left, a draft for example. */
static int remove_directory(void **state) {
    (void)state;
    (void)unlink(path);
    return rmdir(directory);
}

static caucus_settings settings_of(caucus_algorithm algorithm, caucus_trust trust) {
    caucus_settings s;
    caucus_settings_init(&s);
    s.algorithm = algorithm;
    s.trust = trust;
    s.epsilon = 2;
    s.experts = 12;
    s.rounds = 100;
    return s;
}

static caucus_plan *plan_of(const caucus_settings *s) {
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    if (caucus_plan_new(s, &plan, &error) != CAUCUS_OK)
        fail_msg("%s %s", error.field, error.text);
    return plan;
}

static char *text_of(const caucus_plan *plan, size_t *ret_size) {
    char *text = NULL;
    assert_int_equal(caucus_plan_file_text(plan, &text, ret_size), CAUCUS_OK);
    return text;
}

/* One of each kind of plan. */
enum { KINDS = 14 };
static caucus_settings kind(int i) {
    caucus_settings s = settings_of(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    static const caucus_message messages[] = {CAUCUS_MESSAGE_VOTE, CAUCUS_MESSAGE_SHORTLIST, CAUCUS_MESSAGE_KNORM,
                                              CAUCUS_MESSAGE_LAPLACE_D, CAUCUS_MESSAGE_GAUSS};
    if (i == 0)
        s.front_load = true;
    if (i == 1) {
        s.delta = 1e-6;
        s.lstar = 0.1;
        s.lo = -1.5;
        s.hi = 2.25;
        s.interval = 7;
    }
    if (i == 2)
        s.interval = 100; /* no checks, no switches */
    if (i == 3)
        s.calibration = CAUCUS_CALIBRATION_PAPER;
    if (i == 4)
        s = settings_of(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR);
    if (i == 5) {
        s = settings_of(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR);
        s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
        s.smoothness = 0.1;
        s.trees = 2;
    }
    if (i >= 6 && i <= 10) {
        s = settings_of(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY);
        s.message = messages[i - 6];
        s.delta = s.message == CAUCUS_MESSAGE_GAUSS ? 1e-6 : 0;
    }
    if (i == 11) {
        s = settings_of(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_PAPER_LOCAL);
        s.calibration = CAUCUS_CALIBRATION_PAPER;
    }
    if (i == 12)
        s = settings_of(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR);
    if (i == 13)
        s = settings_of(CAUCUS_ALGORITHM_LEADER, CAUCUS_TRUST_COORDINATOR);
    return s;
}

static void test_comes_back(void **state) {
    (void)state;
    for (int i = 0; i < KINDS; i++) {
        caucus_settings s = kind(i);
        caucus_plan *plan = plan_of(&s), *back = NULL;
        caucus_error error = {0};
        size_t size = 0, again_size = 0;
        char *text = text_of(plan, &size);
        if (caucus_plan_file_parse("p", text, size, &back, &error) != CAUCUS_OK)
            fail_msg("kind %d: %s", i, error.text);
        char *again = text_of(back, &again_size);
        assert_string_equal(text, again);
        assert_memory_equal(&plan->guarantee.epsilon_choices, &back->guarantee.epsilon_choices, sizeof(double));
        assert_true(plan->bound == back->bound);
        free(text);
        free(again);
        caucus_plan_free(plan);
        caucus_plan_free(back);
    }
}

/* The text with line `number` (from 1) replaced, removed (NULL) or doubled (the empty string). */
static char *edited(const char *text, unsigned number, const char *line) {
    size_t room = 2 * strlen(text) + 512, used = 0;
    char *made = calloc(1, room);
    assert_non_null(made);
    bool twice = line != NULL && line[0] == '\0';
    for (unsigned n = 1; *text != '\0'; n++) {
        int length = (int)strcspn(text, "\n") + 1;
        for (int times = n != number ? 1 : twice ? 2 : 0; times > 0; times--)
            used += (size_t)snprintf(made + used, room - used, "%.*s", length, text);
        if (n == number && line != NULL && !twice)
            used += (size_t)snprintf(made + used, room - used, "%s\n", line);
        assert_true(used < room);
        text += length;
    }
    return made;
}

/* Refused with this status, and the error names this line (0: none). */
static void refused(const char *text, caucus_status status, unsigned line) {
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    char place[32];
    (void)snprintf(place, sizeof place, line == 0 ? "p: " : "p:%u: ", line);
    caucus_status got = caucus_plan_file_parse("p", text, strlen(text), &plan, &error);
    if (got != status || strncmp(error.text, place, strlen(place)) != 0 || error.field[0] != '\0')
        fail_msg("expected %d at '%s', got %d: %s", (int)status, place, (int)got, error.text);
    assert_null(plan);
    assert_null(strchr(error.text, '\n'));
}

/* Every line that says something: left out, doubled, or with another last digit, is no plan any more. */
static void test_every_line_counts(void **state) {
    (void)state;
    static const int kinds[] = {0, 5, 7, 12};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        caucus_settings s = kind(kinds[i]);
        caucus_plan *plan = plan_of(&s), *back = NULL;
        size_t size = 0;
        char *text = text_of(plan, &size), *line = text;
        for (unsigned n = 1; *line != '\0'; n++, line += strcspn(line, "\n") + 1) {
            if (line[0] == '#')
                continue;
            caucus_error error = {0};
            char *without = edited(text, n, NULL), *twice = edited(text, n, "");
            assert_int_not_equal(caucus_plan_file_parse("p", without, strlen(without), &back, &error), CAUCUS_OK);
            assert_int_not_equal(caucus_plan_file_parse("p", twice, strlen(twice), &back, &error), CAUCUS_OK);
            free(without);
            free(twice);
        }
        free(text);
        caucus_plan_free(plan);
    }
}

static unsigned line_of(const char *text, const char *start) {
    unsigned n = 1;
    for (; *text != '\0'; n++, text += strcspn(text, "\n") + 1)
        if (strncmp(text, start, strlen(start)) == 0)
            return n;
    fail_msg("no line begins with '%s'", start);
    return 0;
}

static void test_altered(void **state) {
    (void)state;
    caucus_settings s = settings_of(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    caucus_plan *plan = plan_of(&s);
    size_t size = 0;
    char *text = text_of(plan, &size);
    static const struct {
        const char *line, *with;
        caucus_status status;
    } cases[] = {
        {"  epsilon:", "  epsilon: 20", CAUCUS_E_CONFLICT}, /* the integers are of epsilon 2 */
        {"  switches:", "  switches: 99", CAUCUS_E_CONFLICT},
        {"  threshold-noise:", "  threshold-noise: geometric 1/2", CAUCUS_E_CONFLICT},
        {"  threshold-noise:", "  threshold-noise: none", CAUCUS_E_CONFLICT},
        {"  threshold-noise:", "  threshold-noise: geometric 2/4", CAUCUS_E_FORMAT},
        {"  threshold-noise:", "  threshold-noise: geometric 1/0", CAUCUS_E_FORMAT},
        {"  thresholds:", "  thresholds: [1, 2]", CAUCUS_E_CONFLICT},
        {"  thresholds:", "  thresholds: 1", CAUCUS_E_FORMAT},
        {"  select-rates:", "  select-rates: [1/2]", CAUCUS_E_CONFLICT},
        {"  epsilon-choices:", "  epsilon-choices: 1", CAUCUS_E_CONFLICT},
        {"  epsilon-messages:", "  epsilon-messages: 1", CAUCUS_E_CONFLICT},
        {"  delta:", "  delta: nan", CAUCUS_E_FORMAT},
        {"  clients:", "  clients: 010", CAUCUS_E_FORMAT},
        {"  clients:", "  clients: -1", CAUCUS_E_FORMAT},
        {"  clients:", "  clients: 99999999999999999999", CAUCUS_E_FORMAT},
        {"  clients:", "  clients: \"10\"", CAUCUS_E_FORMAT},
        {"  clients:", "  clients: &a 10", CAUCUS_E_FORMAT},
        {"  clients:", "  clients: !!int 10", CAUCUS_E_FORMAT},
        {"  clients:", "  client: 10", CAUCUS_E_FORMAT},
        {"  clients:", "  clients: [10]", CAUCUS_E_FORMAT},
        {"  clients:", "  clients: {a: 1}", CAUCUS_E_FORMAT},
        {"  trust:", "  trust: everybody", CAUCUS_E_FORMAT},
        {"  range:", "  range: [0, 1, 2]", CAUCUS_E_FORMAT},
        {"  range:", "  range: [0]", CAUCUS_E_FORMAT},
        {"  trees:", "  trees: 8", CAUCUS_E_FORMAT},
        {"  front-load:", "  front-load: yes", CAUCUS_E_FORMAT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned n = line_of(text, cases[i].line);
        char *bad = edited(text, n, cases[i].with);
        /* Another epsilon shows where its integers stand. */
        refused(bad, cases[i].status, strcmp(cases[i].line, "  epsilon:") == 0 ? line_of(text, "  switches:") : n);
        free(bad);
    }
    char *bad = edited(text, line_of(text, "caucus-plan:"), "caucus-plan: 2");
    refused(bad, CAUCUS_E_FORMAT, 0);
    free(bad);
    bad = edited(text, line_of(text, "  epsilon:"), "  epsilon: 0");
    refused(bad, CAUCUS_E_RANGE, 0);
    free(bad);
    bad = edited(text, line_of(text, "  grid:"), "  grid: 0");
    refused(bad, CAUCUS_E_RANGE, 0);
    free(bad);
    refused("", CAUCUS_E_FORMAT, 1);
    refused("[[[[[[[[", CAUCUS_E_FORMAT, 1);
    refused("\xff\xfe\xff", CAUCUS_E_FORMAT, 0);
    free(text);
    caucus_plan_free(plan);
}

/* A rate that rounds the other way on another machine: accepted, and in force; a rate that spends more is not. */
static void test_other_rounding(void **state) {
    (void)state;
    caucus_settings s = settings_of(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR);
    s.clients = 1;
    s.epsilon = 40;
    caucus_plan *plan = plan_of(&s), *back = NULL;
    size_t size = 0;
    caucus_error error = {0};
    char *text = text_of(plan, &size), line[80];
    const unsigned n = line_of(text, "  rate:");
    const caucus_rational rate = plan->hedge.rate;
    assert_true(rate.num % 2 == 1 &&
                rate.num > (uint64_t)1 << 31); /* two less is odd again, so in lowest terms, and close enough */
    (void)snprintf(line, sizeof line, "  rate: %llu/%llu", (unsigned long long)rate.num - 2,
                   (unsigned long long)rate.den);
    char *less = edited(text, n, line);
    assert_int_equal(caucus_plan_file_parse("p", less, strlen(less), &back, &error), CAUCUS_OK);
    assert_true(back->hedge.rate.num == rate.num - 2);
    assert_true(back->guarantee.epsilon_choices < plan->guarantee.epsilon_choices);
    caucus_plan_free(back);
    back = NULL;
    /* Within the tolerance of rounding, but above what was asked: the accountant refuses. */
    (void)snprintf(line, sizeof line, "  rate: %llu/%llu", (unsigned long long)(rate.num + (rate.num >> 31) * 2),
                   (unsigned long long)rate.den);
    char *most = edited(text, n, line);
    refused(most, CAUCUS_E_INFEASIBLE, 0);
    free(less);
    free(most);
    free(text);
    caucus_plan_free(plan);
}

static void test_hash(void **state) {
    (void)state;
    char hash[CAUCUS_PLAN_HEX_BYTES];
    caucus_plan_file_hash("abc", 3, hash); /* FIPS 180-2, appendix B.1 */
    assert_string_equal(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void test_files(void **state) {
    (void)state;
    caucus_settings s = kind(4), other = kind(12);
    caucus_plan *plan = plan_of(&s), *another = plan_of(&other), *back = NULL;
    caucus_error error = {0};
    char hash[CAUCUS_PLAN_HEX_BYTES], again[CAUCUS_PLAN_HEX_BYTES];
    assert_int_equal(caucus_plan_file_read(path, &back, hash, &error), CAUCUS_E_PATH);
    assert_int_equal(caucus_plan_file_write(plan, path, false, hash, &error), CAUCUS_OK);
    assert_int_equal(caucus_plan_file_write(plan, path, false, again, &error), CAUCUS_OK); /* the same: nothing to do */
    assert_string_equal(hash, again);
    assert_int_equal(caucus_plan_file_read(path, &back, again, &error), CAUCUS_OK);
    assert_string_equal(hash, again);
    caucus_plan_free(back);
    back = NULL;
    assert_int_equal(caucus_plan_file_write(another, path, false, again, &error), CAUCUS_E_EXISTS);
    assert_int_equal(caucus_plan_file_read(path, &back, again, &error), CAUCUS_OK);
    assert_string_equal(hash, again); /* still the first */
    caucus_plan_free(back);
    back = NULL;
    assert_int_equal(caucus_plan_file_write(another, path, true, again, &error), CAUCUS_OK);
    assert_string_not_equal(hash, again);
    assert_int_equal(caucus_plan_file_read(path, &back, hash, &error), CAUCUS_OK);
    assert_string_equal(hash, again);
    assert_int_equal(back->settings.algorithm, CAUCUS_ALGORITHM_HEDGE);
    caucus_plan_free(back);
    back = NULL;
    assert_int_equal(truncate(path, CAUCUS_PLAN_FILE_BYTES + 1), 0); /* a hole, not bytes on the disk */
    assert_int_equal(caucus_plan_file_read(path, &back, hash, &error), CAUCUS_E_FORMAT);
    assert_int_equal(caucus_plan_file_write(plan, path, false, hash, &error), CAUCUS_E_EXISTS);
    assert_int_equal(caucus_plan_file_read(directory, &back, hash, &error), CAUCUS_E_PATH);
    assert_int_equal(caucus_plan_file_write(plan, directory, true, hash, &error), CAUCUS_E_PATH);
    caucus_plan_free(plan);
    caucus_plan_free(another);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comes_back),
        cmocka_unit_test(test_every_line_counts),
        cmocka_unit_test(test_altered),
        cmocka_unit_test(test_other_rounding),
        cmocka_unit_test(test_hash),
        cmocka_unit_test_setup_teardown(test_files, make_directory, remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
