/* SPDX-License-Identifier: Apache-2.0 */
/* audit_output.c: results of audits as a table, JSON and CSV, and as files. See audit.h. */
#include "audit/audit.h"

#include "show/out_dir.h"
#include "show/out_file.h"
#include "show/wrap.h"
#include "store/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *finding_word(bool refuted) {
    return refuted ? "refuted" : "not refuted";
}

void caucus_audit_words(const caucus_audit_result *r, char ret[CAUCUS_AUDIT_WORDS_BYTES]) {
    (void)snprintf(ret, CAUCUS_AUDIT_WORDS_BYTES, "%s: at least %.3f of the %g claimed", finding_word(r->refuted),
                   r->lower_bound, r->claimed);
}

/* What it is of, and of a broken twin what is broken. */
static void of_words(const caucus_audit_result *r, char *ret, size_t bytes) {
    if (r->wrong != NULL)
        (void)snprintf(ret, bytes, "broken: %s", r->wrong);
    else
        (void)snprintf(ret, bytes, "%s", r->target);
}

/* Twenty columns, the claim in the middle: what was measured, from the left. */
static void print_bar(FILE *out, const caucus_audit_result *r) {
    enum { HALF = 10 };
    int length = (int)lround(fmin(2, r->lower_bound / r->claimed) * HALF);
    for (int i = 0; i < 2 * HALF; i++)
        fputs(i == HALF ? (i < length ? "╋" : "│") : i < length ? "━" : " ", out);
}

static void print_plan(FILE *out, const caucus_audit_plan_result *p) {
    fprintf(out, "plan %s\n", p->hash);
    fprintf(out, "  unit         %s: %s\n", caucus_unit_word(p->unit), p->record);
    fprintf(out, "  run          %s%s\n", p->reduced[0] != '\0' ? "reduced, with the same rates: " : "as it is",
            p->reduced);
    fprintf(out, "  worst pair   of %" PRIu32 ": %s\n\n", p->pairs, p->pair);
}

/* Of the twins of a plan: was it refuted? */
static bool has_power(const caucus_audit_report *report, const caucus_audit_result *r) {
    return report->plan == NULL || r->twin_of == NULL || r->refuted;
}

static void print_summary(FILE *out, const caucus_audit_report *report) {
    size_t wrong = 0, refuted = 0;
    bool blind = false;
    for (size_t i = 0; i < report->count; i++) {
        wrong += !caucus_audit_pass(&report->result[i]);
        refuted += report->result[i].expected;
        blind = blind || !has_power(report, &report->result[i]);
    }
    if (report->plan != NULL) {
        fprintf(out, "\n  The plan is %s.%s\n", finding_word(report->result[0].refuted),
                blind ? " No power: such a fault would not have been noticed." : "");
        return;
    }
    fprintf(out, "\n  %zu audit%s, ", report->count, report->count == 1 ? "" : "s");
    if (wrong > 0)
        fprintf(out, "%zu NOT as expected.\n", wrong);
    else if (refuted > 0)
        fprintf(out, "all as expected: nothing was refuted but the %zu that %s broken.\n", refuted,
                refuted == 1 ? "is" : "are");
    else
        fputs("as expected.\n", out);
}

/* What a line of the table needs; below that a row is its bar, and its words stand under it. */
enum { WHOLE_WIDTH = 150 };

static void print_row(FILE *out, const caucus_audit_report *report, const caucus_audit_result *r, bool narrow) {
    char words[CAUCUS_AUDIT_WORDS_BYTES], of[64];
    const char *unexpected = caucus_audit_pass(r) ? "" : "  NOT AS EXPECTED";
    const char *blind = has_power(report, r) ? "" : ": no power";
    caucus_audit_words(r, words);
    of_words(r, of, sizeof of);
    if (!narrow) {
        fprintf(out, "  %-29s%-46s", r->name, of);
        print_bar(out, r);
        fprintf(out, "  %s%s%s\n", words, unexpected, blind);
        return;
    }
    char below[CAUCUS_AUDIT_WORDS_BYTES + 32];
    fprintf(out, "  %-29s", r->name);
    print_bar(out, r);
    fputc('\n', out);
    (void)snprintf(below, sizeof below, "%s%s%s", words, unexpected, blind);
    caucus_wrap_put(out, report->width, "      ", of);
    caucus_wrap_put(out, report->width, "      ", below);
}

void caucus_audit_print(FILE *out, const caucus_audit_report *report) {
    const caucus_audit_result *result = report->result;
    const size_t count = report->count;
    if (count > 0 && result[0].seeded)
        fprintf(out, "  NOT PRIVATE (seeded): seed %" PRIu64 "; the runs repeat to the last bit.\n", result[0].seed);
    if (report->plan != NULL)
        print_plan(out, report->plan);
    const bool narrow = report->width > 0 && report->width < WHOLE_WIDTH;
    if (narrow)
        fprintf(out, "  %-29s%s\n", "audit", "0       claim      2x");
    else
        fprintf(out, "  %-29s%-46s%-22s%s\n", "audit", "of", "0       claim      2x", "finding");
    for (size_t i = 0; i < count; i++)
        print_row(out, report, &result[i], narrow);
    if (count > 0)
        print_summary(out, report);
    if (count > 0)
        fprintf(out,
                "  A bound on epsilon from below, wrong with probability at most %.3g in each audit; it proves no "
                "claim.\n",
                1 - result[0].confidence);
}

static void json_text_or_null(caucus_json *j, const char *key, const char *text) {
    if (text != NULL)
        caucus_json_text(j, key, text);
    else
        caucus_json_null(j, key);
}

static void json_plan(caucus_json *j, const caucus_audit_plan_result *p) {
    caucus_json_object(j, "plan");
    caucus_json_text(j, "hash", p->hash);
    caucus_json_text(j, "unit", caucus_unit_word(p->unit));
    json_text_or_null(j, "reduced", p->reduced[0] != '\0' ? p->reduced : NULL);
    caucus_json_whole(j, "pairs", p->pairs);
    caucus_json_text(j, "pair", p->pair);
    caucus_json_close(j);
}

void caucus_audit_json(FILE *out, const caucus_audit_report *report) {
    const caucus_audit_result *result = report->result;
    const size_t count = report->count;
    caucus_json j;
    caucus_json_begin(&j, out, false);
    if (report->plan != NULL)
        json_plan(&j, report->plan);
    caucus_json_list(&j, "audits");
    for (size_t i = 0; i < count; i++) {
        const caucus_audit_result *r = &result[i];
        char words[CAUCUS_AUDIT_WORDS_BYTES];
        caucus_json_object(&j, NULL);
        caucus_json_text(&j, "name", r->name);
        caucus_json_text(&j, "target", r->target);
        json_text_or_null(&j, "twin_of", r->twin_of);
        json_text_or_null(&j, "wrong", r->wrong);
        caucus_json_real(&j, "claimed", r->claimed);
        caucus_json_real(&j, "delta", r->delta);
        caucus_json_real(&j, "lower_bound", r->lower_bound);
        caucus_json_whole(&j, "trials", r->trials);
        caucus_json_real(&j, "confidence", r->confidence);
        if (r->seeded)
            caucus_json_whole(&j, "seed", r->seed);
        else
            caucus_json_null(&j, "seed");
        caucus_json_text(&j, "expect", finding_word(r->expected));
        caucus_json_text(&j, "finding", finding_word(r->refuted));
        caucus_audit_words(r, words);
        caucus_json_text(&j, "words", words);
        caucus_json_close(&j);
    }
    caucus_json_close(&j);
    caucus_json_end(&j);
}

static void csv_text(FILE *out, const char *text) {
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void caucus_audit_csv(FILE *out, const caucus_audit_report *report) {
    const caucus_audit_result *result = report->result;
    const size_t count = report->count;
    fputs("name,target,twin_of,wrong,claimed,delta,lower_bound,trials,confidence,seed,hits,hits_other,expect,finding\n",
          out);
    for (size_t i = 0; i < count; i++) {
        const caucus_audit_result *r = &result[i];
        csv_text(out, r->name);
        fputc(',', out);
        csv_text(out, r->target);
        fputc(',', out);
        csv_text(out, r->twin_of != NULL ? r->twin_of : "");
        fputc(',', out);
        csv_text(out, r->wrong != NULL ? r->wrong : "");
        fprintf(out, ",%.17g,%.17g,%.17g,%" PRIu64 ",%.17g,", r->claimed, r->delta, r->lower_bound, r->trials,
                r->confidence);
        if (r->seeded)
            fprintf(out, "%" PRIu64, r->seed);
        fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%s,%s\n", r->hits, r->hits_other, finding_word(r->expected),
                finding_word(r->refuted));
    }
}

caucus_status caucus_audit_write(const char *directory, const caucus_audit_report *report, caucus_error *ret_error) {
    static const struct {
        const char *name;
        void (*write)(FILE *out, const caucus_audit_report *report);
    } files[] = {{"audit.csv", caucus_audit_csv},
                 {"audit.json", caucus_audit_json},
                 {"audit.html", caucus_audit_page},
                 {"twins.md", caucus_audit_twins}};
    bool made = false;
    caucus_status status = caucus_out_dir_make(directory, &made, ret_error);
    for (size_t i = 0; status == CAUCUS_OK && i < sizeof files / sizeof files[0]; i++) {
        caucus_atomic_file file;
        status = caucus_out_file_begin(&file, directory, files[i].name, ret_error);
        if (status != CAUCUS_OK)
            break;
        files[i].write(file.out, report);
        status = caucus_out_file_end(&file, ret_error);
    }
    return status;
}
