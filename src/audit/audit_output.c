/* SPDX-License-Identifier: Apache-2.0 */
/* audit_output.c: results of audits as a table, JSON and CSV, and as files. See audit.h. */
#include "audit/audit.h"

#include "show/out_dir.h"
#include "show/out_file.h"
#include "store/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *expect_word(const caucus_audit_result *r) {
    return r->holds ? "holds" : "fails";
}

static const char *verdict_word(const caucus_audit_result *r) {
    return r->pass ? "pass" : "fail";
}

/* Twenty columns, the claim in the middle: what was measured, from the left. */
static void print_bar(FILE *out, const caucus_audit_result *r) {
    enum { HALF = 10 };
    int length = (int)lround(fmin(2, r->lower_bound / r->claimed) * HALF);
    for (int i = 0; i < 2 * HALF; i++)
        fputs(i == HALF ? (i < length ? "╋" : "│") : i < length ? "━" : " ", out);
}

void caucus_audit_table_print(FILE *out, const caucus_audit_result *result, size_t count) {
    size_t wrong = 0;
    fprintf(out, "  %-29s%-50s%-9s%-10s%-21s %-8s%s\n", "audit", "of", "claimed", "measured", "0       claim      2x",
            "claim", "verdict");
    for (size_t i = 0; i < count; i++) {
        const caucus_audit_result *r = &result[i];
        fprintf(out, "  %-29s%-50s%-9g≥ %-8.3f", r->name, r->target, r->claimed, r->lower_bound);
        print_bar(out, r);
        fprintf(out, "  %-8s%s\n", expect_word(r), r->pass ? "pass" : "FAIL");
        wrong += !r->pass;
    }
    fprintf(out, "\n  %zu audit%s, ", count, count == 1 ? "" : "s");
    if (wrong == 0)
        fputs("all as expected: what should hold was not refuted, what should fail was.\n", out);
    else
        fprintf(out, "%zu NOT as expected.\n", wrong);
    if (count > 0)
        fprintf(out, "  Measured: a lower bound on epsilon, wrong with probability at most %.3g in each audit.\n",
                1 - result[0].confidence);
    if (count > 0 && result[0].seeded)
        fprintf(out, "  NOT PRIVATE (seeded): seed %" PRIu64 ".\n", result[0].seed);
}

void caucus_audit_json(FILE *out, const caucus_audit_result *result, size_t count) {
    caucus_json j;
    caucus_json_begin(&j, out, false);
    caucus_json_list(&j, "audits");
    for (size_t i = 0; i < count; i++) {
        const caucus_audit_result *r = &result[i];
        caucus_json_object(&j, NULL);
        caucus_json_text(&j, "name", r->name);
        caucus_json_text(&j, "target", r->target);
        caucus_json_real(&j, "claimed", r->claimed);
        caucus_json_real(&j, "delta", r->delta);
        caucus_json_real(&j, "lower_bound", r->lower_bound);
        caucus_json_whole(&j, "trials", r->trials);
        caucus_json_real(&j, "confidence", r->confidence);
        if (r->seeded)
            caucus_json_whole(&j, "seed", r->seed);
        else
            caucus_json_null(&j, "seed");
        caucus_json_text(&j, "expect", expect_word(r));
        caucus_json_text(&j, "verdict", verdict_word(r));
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

void caucus_audit_csv(FILE *out, const caucus_audit_result *result, size_t count) {
    fputs("name,target,claimed,delta,lower_bound,trials,confidence,seed,hits,hits_other,expect,verdict\n", out);
    for (size_t i = 0; i < count; i++) {
        const caucus_audit_result *r = &result[i];
        csv_text(out, r->name);
        fputc(',', out);
        csv_text(out, r->target);
        fprintf(out, ",%.17g,%.17g,%.17g,%" PRIu64 ",%.17g,", r->claimed, r->delta, r->lower_bound, r->trials,
                r->confidence);
        if (r->seeded)
            fprintf(out, "%" PRIu64, r->seed);
        fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%s,%s\n", r->hits, r->hits_other, expect_word(r), verdict_word(r));
    }
}

caucus_status caucus_audit_write(const char *directory, const caucus_audit_result *result, size_t count,
                                 caucus_error *ret_error) {
    static const struct {
        const char *name;
        void (*write)(FILE *out, const caucus_audit_result *result, size_t count);
    } files[] = {{"audit.csv", caucus_audit_csv}, {"audit.json", caucus_audit_json}, {"audit.html", caucus_audit_page}};
    bool made = false;
    caucus_status status = caucus_out_dir_make(directory, &made, ret_error);
    for (size_t i = 0; status == CAUCUS_OK && i < sizeof files / sizeof files[0]; i++) {
        caucus_atomic_file file;
        status = caucus_out_file_begin(&file, directory, files[i].name, ret_error);
        if (status != CAUCUS_OK)
            break;
        files[i].write(file.out, result, count);
        status = caucus_out_file_end(&file, ret_error);
    }
    return status;
}
