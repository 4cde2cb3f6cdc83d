/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_file.c: plan files: every kind of plan comes back as it was, every altered line is refused by its number,
 * and nothing is replaced by accident. */
#include <caucus/plan_file.h>

#include "plan/plan.h"

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
#include <sodium.h>

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

/* The plan is named after its text. */
static void expect_hash(const caucus_plan *plan, const char *text, size_t size) {
    uint8_t digest[CAUCUS_PLAN_HASH_BYTES];
    char hex[2 * sizeof digest + 1];
    (void)crypto_hash_sha256(digest, (const uint8_t *)text, size);
    assert_memory_equal(caucus_plan_hash(plan), digest, sizeof digest);
    assert_string_equal(caucus_plan_hash_text(plan), sodium_bin2hex(hex, sizeof hex, digest, sizeof digest));
}

/* One of each kind of plan. */
enum { KINDS = 20 };
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
    if (i == 14) {
        s = settings_of(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR);
        s.past_phases = true;
    }
    if (i == 17 || i == 18) {
        s = settings_of(i == 17 ? CAUCUS_ALGORITHM_SVT : CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR);
        s.renew = 20;
        return s;
    }
    if (i == 15 || i == 16) {
        s = settings_of(CAUCUS_ALGORITHM_STOCH, i == 15 ? CAUCUS_TRUST_COORDINATOR : CAUCUS_TRUST_NOBODY);
        s.longest_phase = i == 15 ? CAUCUS_PHASE_AUTO : 7;
        s.first_phase = i == 15 ? 3 : 1;
        s.changes = i == 15 ? 1 : 0.3;
    }
    if (i == 19) {
        s.experts = 4;
        s.names = "small,gr\xc3\xb6\xc3\x9f"
                  "er,x: #y [z] \\ & *,true";
        s.federation = "- phones: {a}";
    }
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
        expect_hash(plan, text, size);
        expect_hash(back, text, size);
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

/* Refused with this status, and the error names this line (0: none) and says this. */
static void refused_with(const char *text, caucus_status status, unsigned line, const char *says) {
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    char place[32];
    (void)snprintf(place, sizeof place, line == 0 ? "p: " : "p:%u: ", line);
    caucus_status got = caucus_plan_file_parse("p", text, strlen(text), &plan, &error);
    if (got != status || strncmp(error.text, place, strlen(place)) != 0 || error.field[0] != '\0')
        fail_msg("expected %d at '%s', got %d: %s", (int)status, place, (int)got, error.text);
    if (strstr(error.text, says) == NULL)
        fail_msg("'%s' is not in: %s", says, error.text);
    assert_null(plan);
    assert_null(strchr(error.text, '\n'));
}

static void refused(const char *text, caucus_status status, unsigned line) {
    refused_with(text, status, line, "");
}

/* Every line that says something: left out, doubled, or with another last digit, is no plan any more. */
static void test_every_line_counts(void **state) {
    (void)state;
    static const int kinds[] = {0, 5, 7, 9, 11, 12, 14};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        caucus_settings s = kind(kinds[i]);
        caucus_plan *plan = plan_of(&s), *back = NULL;
        size_t size = 0;
        char *text = text_of(plan, &size), *line = text;
        for (unsigned n = 1; *line != '\0'; n++, line += strcspn(line, "\n") + 1) {
            caucus_error error = {0};
            char *without = edited(text, n, NULL), *twice = edited(text, n, "");
            assert_int_not_equal(caucus_plan_file_parse("p", without, strlen(without), &back, &error), CAUCUS_OK);
            assert_null(strstr(error.text, "no key that this caucus knows")); /* what we write ourselves is known */
            assert_int_not_equal(caucus_plan_file_parse("p", twice, strlen(twice), &back, &error), CAUCUS_OK);
            assert_null(strstr(error.text, "no key that this caucus knows"));
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

/* The line that the error about a text names; it lies in the section of the algorithm. */
static unsigned mismatch_line(const char *text) {
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    assert_int_equal(caucus_plan_file_parse("p", text, strlen(text), &plan, &error), CAUCUS_E_CONFLICT);
    unsigned line = (unsigned)strtoul(error.text + 2, NULL, 10);
    assert_in_range(line, line_of(text, "svt:") + 1, line_of(text, "guarantee:") - 1);
    return line;
}

static void test_altered(void **state) {
    (void)state;
    caucus_settings s = settings_of(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    s.front_load = true;
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
        {"  front-load:", "  front-load: false", CAUCUS_E_CONFLICT}, /* the integers are of front-load */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned n = line_of(text, cases[i].line);
        char *bad = edited(text, n, cases[i].with);
        /* Another epsilon shows where its integers stand, and so does another option. */
        const bool later = cases[i].status == CAUCUS_E_CONFLICT && n < line_of(text, "svt:");
        if (later)
            refused_with(bad, cases[i].status, mismatch_line(bad), "but these settings give");
        else
            refused(bad, cases[i].status, n);
        free(bad);
    }
    char *bad = edited(text, line_of(text, "caucus-plan:"), "caucus-plan: 1");
    refused_with(bad, CAUCUS_E_FORMAT, 0, "made by an older caucus; this one reads version 2 — make it again");
    free(bad);
    bad = edited(text, line_of(text, "caucus-plan:"), "caucus-plan: 3");
    refused_with(bad, CAUCUS_E_FORMAT, 0, "made by a newer caucus; this one reads version 2");
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
    assert_true(caucus_plan_epsilon_choices(back) == caucus_plan_epsilon_choices(plan)); /* as the file says */
    expect_hash(back, less, strlen(less));
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

/* The shortest digits that give this number back, as plans have them. */
static void shortest(double value, char *ret, size_t bytes) {
    for (int digits = 1; digits <= 17; digits++) {
        (void)snprintf(ret, bytes, "%.*g", digits, value);
        if (strtod(ret, NULL) == value)
            return;
    }
}

/* A file may say that a plan guarantees a little less than the accountant finds, as another machine's rounding would;
 * never that it guarantees more. */
static void test_stated_guarantee(void **state) {
    (void)state;
    caucus_settings s = kind(1); /* delta > 0: a logarithm decides */
    caucus_plan *plan = plan_of(&s), *back = NULL;
    size_t size = 0;
    char *text = text_of(plan, &size), digits[40], line[80];
    const unsigned n = line_of(text, "  epsilon-choices:");
    const double ours = caucus_plan_epsilon_choices(plan);
    static const struct {
        double factor;
        bool accepted;
    } cases[] = {{1 + 1e-10, true}, {1 - 0x1p-50, true}, {1 - 1e-11, false}, {1 + 1e-8, false}, {1 - 1e-8, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        shortest(ours * cases[i].factor, digits, sizeof digits);
        (void)snprintf(line, sizeof line, "  epsilon-choices: %s", digits);
        char *other = edited(text, n, line);
        if (cases[i].accepted) {
            assert_int_equal(caucus_plan_file_parse("p", other, strlen(other), &back, NULL), CAUCUS_OK);
            assert_true(caucus_plan_epsilon_choices(back) == strtod(digits, NULL));
            expect_hash(back, other, strlen(other));
            caucus_plan_free(back);
        } else {
            refused(other, CAUCUS_E_CONFLICT, n);
        }
        back = NULL;
        free(other);
    }
    free(text);
    caucus_plan_free(plan);
}

/* The text with `more` put in before line `number`. */
static char *with_line(const char *text, unsigned number, const char *more) {
    size_t room = strlen(text) + strlen(more) + 1;
    char *made = malloc(room);
    const char *at = text;
    assert_non_null(made);
    for (unsigned n = 1; n < number; n++)
        at += strcspn(at, "\n") + 1;
    (void)snprintf(made, room, "%.*s%s%s", (int)(at - text), text, more, at);
    return made;
}

/* A plan has one file: what reads as the same plan and has other bytes is refused where it differs. */
static void test_not_canonical(void **state) {
    (void)state;
    caucus_settings s = kind(4);
    caucus_plan *plan = plan_of(&s);
    size_t size = 0;
    char *text = text_of(plan, &size);
    const struct {
        unsigned line;
        const char *more;
    } cases[] = {{1, "# mine\n"},
                 {2, "\n"},
                 {line_of(text, "  epsilon:"), "  # asked for\n"},
                 {line_of(text, "  grid:"), "  front-load: false\n"},
                 {line_of(text, "guarantee:"), "\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *bad = with_line(text, cases[i].line, cases[i].more);
        refused_with(bad, CAUCUS_E_FORMAT, cases[i].line, "not the canonical text of this plan: ");
        free(bad);
    }
    char *bad = edited(text, line_of(text, "  clients:"), "  clients:  10"); /* another space */
    refused_with(bad, CAUCUS_E_FORMAT, line_of(text, "  clients:"), "'  clients:  10' where '  clients: 10' is");
    free(bad);
    bad = with_line(text, line_of(text, "guarantee:") + 5, "# the end\n");
    refused_with(bad, CAUCUS_E_FORMAT, line_of(text, "guarantee:") + 5,
                 "'# the end' where the end of the file is expected");
    free(bad);
    bad = with_line(text, 3, "\r\n");
    refused_with(bad, CAUCUS_E_FORMAT, 3, "a carriage return");
    free(bad);
    bad = with_line(text, line_of(text, "guarantee:") + 5, "\n");
    refused_with(bad, CAUCUS_E_FORMAT, line_of(text, "guarantee:") + 5,
                 "the end of the line where the end of the file is expected");
    free(bad);
    bad = edited(text, line_of(text, "# Its name"), "# Its name is what I say");
    refused(bad, CAUCUS_E_FORMAT, 2);
    free(bad);
    text[size - 1] = '\0'; /* without the end of its last line */
    refused(text, CAUCUS_E_FORMAT, line_of(text, "guarantee:") + 4);
    free(text);
    caucus_plan_free(plan);
}

/* A key of a later version is refused by its name; one that is known and misplaced is told apart. */
static void test_unknown_keys(void **state) {
    (void)state;
    caucus_settings s = kind(4);
    caucus_plan *plan = plan_of(&s);
    size_t size = 0;
    char *text = text_of(plan, &size);
    unsigned after = 1; /* the line behind the last section */
    for (const char *c = text; *c != '\0'; c++)
        after += *c == '\n';
    const struct {
        unsigned line;
        const char *more, *says;
    } cases[] = {
        {after, "weather: 8\n", "'weather' is no key that this caucus knows"},
        {after, "weather:\n  wind: 8\n", "'weather' is no key that this caucus knows"},
        {after, "settings: 1\n", "'settings' where 'the end of the plan' is expected"},
        {line_of(text, "  grid:"), "  longest-ago: 64\n",
         "'longest-ago' is no key that this caucus knows — the plan was"},
        {line_of(text, "  grid:"), "  renewed-ago: never\n", "'renewed-ago' is no key that this caucus knows"},
        {line_of(text, "stoch:"), "  weather: 8\n", "'weather' is no key that this caucus knows"},
        {line_of(text, "stoch:"), "labels: [a, b]\n", "'labels' is no key that this caucus knows"},
        {line_of(text, "  phase-3:"), "    tide: 2\n", "'tide' is no key that this caucus knows"},
        {line_of(text, "  grid:"), "  clients: 10\n", "'clients' where 'grid' is expected — given twice, left out or"},
        {line_of(text, "stoch:"), "  clients: 10\n", "'clients' where 'the end of the section' is expected"},
        {line_of(text, "  phase-3:"), "  phase-4:\n", "'phase-4' where 'phase-3' is expected"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *bad = with_line(text, cases[i].line, cases[i].more);
        refused_with(bad, CAUCUS_E_FORMAT, cases[i].line, cases[i].says);
        free(bad);
    }
    free(text);
    caucus_plan_free(plan);
}

static void test_files(void **state) {
    (void)state;
    caucus_settings s = kind(4), other = kind(12);
    caucus_plan *plan = plan_of(&s), *another = plan_of(&other), *back = NULL;
    caucus_error error = {0};
    assert_int_equal(caucus_plan_file_read(path, &back, &error), CAUCUS_E_PATH);
    assert_int_equal(caucus_plan_file_write(plan, path, false, &error), CAUCUS_OK);
    assert_int_equal(caucus_plan_file_write(plan, path, false, &error), CAUCUS_OK); /* the same: nothing to do */
    assert_int_equal(caucus_plan_file_read(path, &back, &error), CAUCUS_OK);
    assert_string_equal(caucus_plan_hash_text(back), caucus_plan_hash_text(plan));
    caucus_plan_free(back);
    back = NULL;
    assert_int_equal(caucus_plan_file_write(another, path, false, &error), CAUCUS_E_EXISTS);
    assert_int_equal(caucus_plan_file_read(path, &back, &error), CAUCUS_OK);
    assert_string_equal(caucus_plan_hash_text(back), caucus_plan_hash_text(plan)); /* still the first */
    caucus_plan_free(back);
    back = NULL;
    assert_int_equal(caucus_plan_file_write(another, path, true, &error), CAUCUS_OK);
    assert_string_not_equal(caucus_plan_hash_text(another), caucus_plan_hash_text(plan));
    assert_int_equal(caucus_plan_file_read(path, &back, &error), CAUCUS_OK);
    assert_string_equal(caucus_plan_hash_text(back), caucus_plan_hash_text(another));
    assert_int_equal(back->settings.algorithm, CAUCUS_ALGORITHM_HEDGE);
    caucus_plan_free(back);
    back = NULL;
    assert_int_equal(truncate(path, CAUCUS_PLAN_FILE_BYTES + 1), 0); /* a hole, not bytes on the disk */
    assert_int_equal(caucus_plan_file_read(path, &back, &error), CAUCUS_E_FORMAT);
    assert_int_equal(caucus_plan_file_write(plan, path, false, &error), CAUCUS_E_EXISTS);
    assert_int_equal(caucus_plan_file_read(directory, &back, &error), CAUCUS_E_PATH);
    assert_int_equal(caucus_plan_file_write(plan, directory, true, &error), CAUCUS_E_PATH);
    caucus_plan_free(plan);
    caucus_plan_free(another);
}

/* Names are part of the text and of the hash; a file with other names, or names that are none, is refused. */
static void test_names(void **state) {
    (void)state;
    static const struct {
        const char *line, *says;
    } bad[] = {{"  names: 'a,b'", "2 labels for 4 experts"},
               {"  names: 'a,b,c,a'", "names both expert 0 and expert 3"},
               {"  names: a,b,c,d", "expected labels in single quotes"},
               {"  names: \"a,b,c,d\"", "expected labels in single quotes"},
               {"  names: 'a,,c,d'", "0 bytes"},
               {"  names: 'a,b,c,it''s'", "holds a quote"},
               {"  names: ['a', 'b', 'c', 'd']", "expected labels in single quotes"},
               {"  names:  'a,b,c,d'", "canonical"}};
    caucus_settings s = kind(19), plain = s;
    plain.names = plain.federation = NULL;
    caucus_plan *plan = plan_of(&s), *other = plan_of(&plain);
    assert_memory_not_equal(caucus_plan_hash(plan), caucus_plan_hash(other), CAUCUS_PLAN_HASH_BYTES);
    size_t size = 0;
    char *text = text_of(plan, &size);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *altered = edited(text, line_of(text, "  names:"), bad[i].line);
        caucus_plan *back = NULL;
        caucus_error error = {0};
        assert_int_not_equal(caucus_plan_file_parse("p", altered, strlen(altered), &back, &error), CAUCUS_OK);
        if (strstr(error.text, bad[i].says) == NULL)
            fail_msg("'%s' not in '%s'", bad[i].says, error.text);
        free(altered);
    }
    free(text);
    caucus_plan_free(plan);
    caucus_plan_free(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comes_back),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_every_line_counts),
        cmocka_unit_test(test_altered),
        cmocka_unit_test(test_other_rounding),
        cmocka_unit_test(test_stated_guarantee),
        cmocka_unit_test(test_not_canonical),
        cmocka_unit_test(test_unknown_keys),
        cmocka_unit_test_setup_teardown(test_files, make_directory, remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
