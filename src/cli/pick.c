/* SPDX-License-Identifier: Apache-2.0 */
/* pick.c: `caucus pick`: one private choice of one of d columns, from a table or from sums.
 *
 * The mechanism is plan/pick.c; this reads the file and the command line. What is printed on standard output is
 * private as stated; what is said on standard error about values that were clamped is for the owner of the data. */
#include "plan/pick.h"
#include "cli/complain.h"
#include "cli/verbs.h"
#include "data/csv_table.h"
#include "data/npy.h"
#include "num/fail.h"
#include "num/label.h"
#include "num/number_text.h"
#include "plan/plan.h"
#include "scenario/labels.h"
#include "scenario/scenario_convert.h"
#include "store/atomic_file.h"
#include "store/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EPSILON, LARGEST, RANGE, SUMMED, SENSITIVITY, NAMES, SEED, FORMAT, OPTIONS };
static const caucus_option options[] = {
    [EPSILON] = {"epsilon", "E", NULL, "privacy of the choice, above 0 (must be said)"},
    [LARGEST] = {"largest", NULL, NULL, "the largest total wins, not the smallest"},
    [RANGE] = {"range", "LO,HI", "0,1", "public range of a value; others are moved to its end, and counted"},
    [SUMMED] = {"summed", NULL, NULL, "the file has one row: sums that were made elsewhere"},
    [SENSITIVITY] = {"sensitivity", "S", NULL, "with --summed: how much one person can change one sum, at most"},
    [NAMES] = {"names", "A,B", "the header's", "what the columns are called: labels, or @FILE with one a line"},
    [SEED] = {"seed", "N", NULL, "repeat a choice: NOT PRIVATE"},
    [FORMAT] = {"format", "NAME", "text", "text or json on standard output"},
    [OPTIONS] = {NULL, NULL, NULL, NULL},
};

typedef struct picking {
    const char *text[OPTIONS]; /* as given; NULL: not given */
    const char *file;
    double epsilon, lo, hi, sensitivity;
    uint64_t seed;
    bool json;
    caucus_csv_table csv;
    caucus_npy npy;
    bool has_npy;
    caucus_labels labels;
    uint32_t d;
    uint64_t rows;
    caucus_clips clips;
    uint32_t moved; /* sums */
    int64_t *score;
    caucus_pick pick;
    uint32_t choice;
} picking;

static void print_help(void) {
    caucus_options_page(
        "caucus pick: one private choice, exactly: the column with the smallest total, differentially private\n"
        "\n"
        "  caucus pick scores.csv --epsilon 1\n"
        "  caucus pick ratings.npy --epsilon 0.5 --largest --range 1,5 --names small,distilled,large\n"
        "  caucus pick sums.csv --epsilon 1 --summed --sensitivity 1\n"
        "\n"
        "One row per person, one column per candidate: a CSV file, whose first line may name the columns (numbers in "
        "it are\n"
        "a person's), or a NumPy file, persons x candidates; with --summed a vector will do. Whoever sees the choice "
        "learns\n"
        "next to nothing about any one row: replacing a row by any other changes the probability of every choice by a "
        "factor of\n"
        "at most e^epsilon (docs/PRIVACY.md, \"One choice\"). Each run spends that epsilon again. Sums beyond 2^30 "
        "times the\n"
        "sensitivity are moved there, and counted.\n",
        options, OPTIONS);
}

static int usage(const char *option, const char *value, const char *why) {
    return caucus_usage("pick", "--%s%s%s%s %s", option, value ? " " : "", value ? value : "", value ? ":" : "", why);
}

static int complain(caucus_status status, const caucus_error *error) {
    return caucus_complain("pick", options, status, error);
}

static int take_option(void *user, size_t index, const char *value) {
    picking *p = user;
    if (index == SIZE_MAX)
        return caucus_take_word("pick", "file", value, &p->file);
    if (p->text[index] != NULL)
        return usage(options[index].name, value, "given twice");
    if (options[index].argument == NULL && strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
        return usage(options[index].name, value, "must be true or false");
    p->text[index] = options[index].argument == NULL && strcmp(value, "false") == 0 ? NULL : value;
    return 0;
}

static bool range(const char *text, double *ret_lo, double *ret_hi) {
    char *end = NULL;
    *ret_lo = strtod(text, &end);
    return end != text && *end == ',' && caucus_real_parse(end + 1, ret_hi) && caucus_pick_is_range(*ret_lo, *ret_hi);
}

/* What belongs together, before the file is opened. */
static int check_options(picking *p) {
    const char *const *t = p->text;
    if (p->file == NULL) {
        fputs(
            "caucus pick: which file? — a CSV or NumPy file, one row per person: caucus pick scores.csv --epsilon 1\n",
            stderr);
        return CAUCUS_EXIT_USAGE;
    }
    if (t[EPSILON] == NULL)
        return usage("epsilon", NULL, "is missing: how private shall the choice be? 0.1 to 10 is usual");
    if (!caucus_real_parse(t[EPSILON], &p->epsilon) || !(p->epsilon > 0 && p->epsilon <= 1000))
        return usage("epsilon", t[EPSILON], "must be above 0, at most 1000");
    p->lo = 0, p->hi = 1;
    if (t[RANGE] != NULL && !range(t[RANGE], &p->lo, &p->hi))
        return usage("range", t[RANGE], "must be a lower and a higher number, for example 0,1");
    if (t[SUMMED] == NULL && t[SENSITIVITY] != NULL)
        return usage("sensitivity", t[SENSITIVITY], "goes with --summed; of rows the range says it");
    if (t[SUMMED] != NULL && t[SENSITIVITY] == NULL)
        return usage("sensitivity", NULL, "is missing: how much can one person change one of the sums, at most?");
    if (t[SUMMED] != NULL && t[RANGE] != NULL)
        return usage("range", t[RANGE], "is of one person's values; with --summed say --sensitivity");
    if (t[SENSITIVITY] != NULL &&
        (!caucus_real_parse(t[SENSITIVITY], &p->sensitivity) || !caucus_pick_is_sensitivity(p->sensitivity)))
        return usage("sensitivity", t[SENSITIVITY], "must be a number above 0");
    if (t[SEED] != NULL && !caucus_whole_parse(t[SEED], 0, UINT64_MAX, &p->seed))
        return usage("seed", t[SEED], "must be a whole number");
    return caucus_take_format("pick", t[FORMAT], &p->json);
}

/* A NumPy file by its first bytes; everything else is taken for CSV. */
static caucus_status read_file(picking *p, caucus_error *ret_error) {
    caucus_status status = caucus_npy_is(p->file, &p->has_npy, ret_error);
    if (status == CAUCUS_OK && p->has_npy)
        status = caucus_npy_open_rows(p->file, &p->npy, ret_error);
    else if (status == CAUCUS_OK)
        status = caucus_csv_table_read(p->file, &p->csv, ret_error);
    if (status != CAUCUS_OK)
        return status;
    const char *name = caucus_path_tail(p->file);
    if (p->has_npy && !p->npy.single)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s: three dimensions — expected persons × candidates",
                           name);
    if (p->has_npy && p->npy.vector && p->text[SUMMED] == NULL)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                           "%s: one dimension — expected persons × candidates; one row of sums is for --summed", name);
    const char *first = p->csv.name != NULL ? p->csv.name[0] : "";
    if (strcmp(first, "client") == 0 || strcmp(first, "round") == 0)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                           "%s: its first column is '%s' — expected one row per person and nothing but candidates; "
                           "losses over rounds are for caucus simulate",
                           name, first);
    p->d = p->has_npy ? p->npy.experts : p->csv.columns;
    p->rows = p->has_npy ? p->npy.rounds : p->csv.rows;
    if (p->d < 2)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s: one column — expected 2 or more to choose from", name);
    if (p->text[SUMMED] != NULL && p->rows != 1)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s: %" PRIu64 " rows — expected one, the sums", name,
                           p->rows);
    return p->rows <= CAUCUS_PICK_ROWS ? CAUCUS_OK
                                       : caucus_fail(ret_error, CAUCUS_E_OVERFLOW, "", "%s: more than 2^41 rows", name);
}

/* Labels that were given beside a header: the same ones, in the same order. */
static caucus_status match_header(const picking *p, caucus_error *ret_error) {
    if (p->csv.name == NULL)
        return CAUCUS_OK;
    char *header = caucus_labels_text((const char *const *)p->csv.name, p->d),
         *names = caucus_labels_text((const char *const *)p->labels.label, p->d);
    const caucus_status status = header != NULL && names != NULL
                                     ? caucus_labels_match(header, names, caucus_path_tail(p->file), 1, ret_error)
                                     : caucus_fail_memory(ret_error, "names");
    free(header);
    free(names);
    return status;
}

static caucus_status read_names(picking *p, caucus_error *ret_error) {
    caucus_status status = CAUCUS_OK;
    if (p->text[NAMES] != NULL)
        status = caucus_labels_read(p->text[NAMES], &p->labels, ret_error);
    else if (p->csv.name != NULL)
        status = caucus_labels_copy((const char *const *)p->csv.name, p->csv.columns, &p->labels, ret_error);
    if (status == CAUCUS_OK && p->labels.count != 0 && p->labels.count != p->d)
        status = caucus_fail(ret_error, CAUCUS_E_CONFLICT, "names", "%u labels, and %s has %u columns", p->labels.count,
                             caucus_path_tail(p->file), p->d);
    return status == CAUCUS_OK && p->text[NAMES] != NULL ? match_header(p, ret_error) : status;
}

static caucus_status add_scores(picking *p, caucus_error *ret_error) {
    double *row = calloc(p->d, sizeof *row);
    p->score = calloc(p->d, sizeof *p->score);
    if (row == NULL || p->score == NULL) {
        free(row);
        return caucus_fail_memory(ret_error, "");
    }
    const bool largest = p->text[LARGEST] != NULL;
    for (uint64_t i = 0; i < p->rows; i++) {
        const double *values = row;
        if (p->has_npy)
            caucus_npy_fill64(&p->npy, 0, i, 1, row);
        else
            values = p->csv.values + (size_t)i * p->d;
        if (p->text[SUMMED] != NULL)
            p->moved = caucus_pick_sums(p->sensitivity, largest, values, p->d, p->score);
        else
            caucus_pick_add(p->lo, p->hi, largest, values, p->d, p->score, &p->clips);
    }
    free(row);
    return p->has_npy ? caucus_npy_whole(&p->npy, caucus_path_tail(p->file), ret_error) : CAUCUS_OK;
}

static caucus_status choose(picking *p, caucus_error *ret_error) {
    caucus_key key;
    caucus_stream stream;
    caucus_status status = CAUCUS_OK;
    if (p->text[SEED] != NULL)
        caucus_key_from_seed(p->seed, &key);
    else
        status = caucus_key_generate(&key);
    if (status != CAUCUS_OK)
        return caucus_fail(ret_error, status, "", "%s", caucus_status_text(status));
    caucus_stream_init(&stream, &key, CAUCUS_PURPOSE_SELECT, 0, 0, 0);
    p->choice = caucus_pick_draw(&p->pick, &stream, p->score, p->d);
    caucus_stream_wipe(&stream);
    caucus_key_wipe(&key);
    return CAUCUS_OK;
}

static void print_text(const picking *p) {
    if (p->labels.count > 0)
        printf("%s (%u)\n", p->labels.label[p->choice], p->choice);
    else
        printf("%u\n", p->choice);
    if (p->pick.epsilon > CAUCUS_PLAN_WEAK_EPSILON) {
        char epsilon[CAUCUS_REAL_TEXT_BYTES];
        caucus_real_apart(p->pick.epsilon, CAUCUS_PLAN_WEAK_EPSILON, 6, epsilon);
        printf("  WEAK        epsilon %s is above %d: it protects little\n", epsilon, CAUCUS_PLAN_WEAK_EPSILON);
    }
    printf("  Privacy     epsilon %.6g (pure)%s\n", p->pick.epsilon,
           p->text[SEED] != NULL ? ", but seeded: NOT PRIVATE" : "");
    if (p->text[SUMMED] != NULL)
        printf("  Unit        one person, who changes each of %u sums by at most %.6g\n", p->d, p->sensitivity);
    else
        printf("  Unit        one of %" PRIu64 " rows, replaced by any other; values in %.6g to %.6g\n", p->rows, p->lo,
               p->hi);
    printf("  Choice      of %u columns, the %s total, by permute-and-flip\n", p->d,
           p->text[LARGEST] != NULL ? "largest" : "smallest");
}

static void print_json(const picking *p) {
    caucus_json j;
    caucus_json_begin(&j, stdout, false);
    caucus_json_whole(&j, "choice", p->choice);
    caucus_json_text(&j, "name", p->labels.count > 0 ? p->labels.label[p->choice] : NULL);
    caucus_json_whole(&j, "candidates", p->d);
    caucus_json_text(&j, "wanted", p->text[LARGEST] != NULL ? "largest" : "smallest");
    caucus_json_real(&j, "epsilon", p->pick.epsilon);
    caucus_json_real(&j, "epsilon_asked", p->epsilon);
    caucus_json_text(&j, "unit", p->text[SUMMED] != NULL ? "person" : "row");
    if (p->text[SUMMED] != NULL) {
        caucus_json_null(&j, "rows");
        caucus_json_null(&j, "range");
        caucus_json_real(&j, "sensitivity", p->sensitivity);
    } else {
        caucus_json_whole(&j, "rows", p->rows);
        caucus_json_list_row(&j, "range");
        caucus_json_real(&j, NULL, p->lo);
        caucus_json_real(&j, NULL, p->hi);
        caucus_json_close(&j);
        caucus_json_null(&j, "sensitivity");
    }
    caucus_json_truth(&j, "private", p->text[SEED] == NULL);
    caucus_json_end(&j);
}

/* For who holds the data, and for nobody else: these counts are not private. That is also why sums beyond the limit are
 * moved to it and not refused: a refusal depends on the data, and everybody would see it. */
static void say_clamped(const picking *p) {
    const uint64_t outside = p->clips.low + p->clips.high;
    if (p->moved > 0)
        fprintf(stderr,
                "caucus pick: %u of %u sums are beyond 2^30 times the sensitivity (%g), or no numbers, and were moved "
                "there: columns beyond it cannot be told apart — is --sensitivity %s right? (this count is not "
                "private)\n",
                p->moved, p->d, ldexp(p->sensitivity, 30), p->text[SENSITIVITY]);
    if (p->clips.nan > 0)
        fprintf(stderr,
                "caucus pick: %" PRIu64 " values that are not numbers were taken for the worst there is (this count is "
                "not private)\n",
                p->clips.nan);
    if (outside > 0)
        fprintf(stderr,
                "caucus pick: %" PRIu64 " of %" PRIu64 " values outside the range were moved to its end (this count is "
                "not private)\n",
                outside, p->rows * p->d);
}

static int pick(picking *p, int argc, char **argv) {
    int code = caucus_options_parse("pick", options, argc, argv, take_option, p);
    if (code == 0)
        code = check_options(p);
    if (code != 0)
        return code;
    caucus_error error = {0};
    const int64_t sensitivity = CAUCUS_PICK_GRID + (p->text[SUMMED] != NULL);
    caucus_status status = caucus_pick_new(p->epsilon, sensitivity, &p->pick, &error);
    if (status == CAUCUS_OK)
        status = read_file(p, &error);
    if (status == CAUCUS_OK)
        status = read_names(p, &error);
    if (status == CAUCUS_OK)
        status = add_scores(p, &error);
    if (status == CAUCUS_OK)
        status = choose(p, &error);
    if (status != CAUCUS_OK)
        return complain(status, &error);
    if (p->text[SEED] != NULL)
        fputs("caucus pick: NOT PRIVATE: whoever knows the seed can repeat the draw\n", stderr);
    say_clamped(p);
    if (p->json)
        print_json(p);
    else
        print_text(p);
    return CAUCUS_EXIT_DONE;
}

int caucus_cli_pick(int argc, char **argv) {
    picking p = {0};
    int code = pick(&p, argc, argv);
    if (code == CAUCUS_OPTIONS_HELP) {
        print_help();
        code = CAUCUS_EXIT_DONE;
    }
    caucus_csv_table_free(&p.csv);
    if (p.has_npy)
        caucus_npy_close(&p.npy);
    caucus_labels_free(&p.labels);
    free(p.score);
    return code;
}
