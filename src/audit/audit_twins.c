/* SPDX-License-Identifier: Apache-2.0 */
/* audit_twins.c: which faults which audit notices: the table of broken twins of docs/AUDIT.md. See audit.h.
 *
 * A row per audit, a column per factor of wrongness, one for rules that are broken. A cell is the bound that was found
 * and the runs it took. Where no twin is listed, or where one was not refuted, it reads "no power": such a fault would
 * pass this audit. */
#include "audit/audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const columns[] = {"noise / 1.25", "noise / 1.5", "noise / 2", "losses up to 5"};
#define COLUMNS (sizeof columns / sizeof columns[0])

/* Runs in short: 400k, 4M. */
static void runs_words(uint64_t runs, char ret[24]) {
    if (runs >= 1000000 && runs % 100000 == 0)
        (void)snprintf(ret, 24, "%gM", (double)runs / 1e6);
    else if (runs >= 1000 && runs % 1000 == 0)
        (void)snprintf(ret, 24, "%" PRIu64 "k", runs / 1000);
    else
        (void)snprintf(ret, 24, "%" PRIu64, runs);
}

static size_t column_of(const caucus_audit_result *r) {
    size_t c = 0;
    while (c < COLUMNS && strcmp(columns[c], r->wrong) != 0)
        c++;
    return c;
}

/* The twins of an audit in one column; the last column names what is wrong. */
static void cell(FILE *out, const caucus_audit_result *result, size_t count, const char *name, size_t column) {
    unsigned found = 0;
    for (size_t i = 0; i < count; i++) {
        const caucus_audit_result *r = &result[i];
        char runs[24];
        if (r->twin_of == NULL || strcmp(r->twin_of, name) != 0 || column_of(r) != column || !r->refuted)
            continue;
        runs_words(r->trials, runs);
        fprintf(out, "%s%s%s%.2f (%s)", found++ > 0 ? "; " : "", column == COLUMNS ? r->wrong : "",
                column == COLUMNS ? ": " : "", r->lower_bound, runs);
    }
    fputs(found > 0 ? " |" : "no power |", out);
}

void caucus_audit_twins(FILE *out, const caucus_audit_report *report) {
    const caucus_audit_result *result = report->result;
    const size_t count = report->count;
    fputs("| audit | claimed | at least |", out);
    for (size_t c = 0; c < COLUMNS; c++)
        fprintf(out, " %s |", columns[c]);
    fputs(" a rule broken |\n|---|---|---|", out);
    for (size_t c = 0; c <= COLUMNS; c++)
        fputs("---|", out);
    fputc('\n', out);
    for (size_t i = 0; i < count; i++) {
        const caucus_audit_result *r = &result[i];
        char runs[24];
        if (r->twin_of != NULL)
            continue;
        runs_words(r->trials, runs);
        fprintf(out, "| %s | %g | %s%.2f (%s) |", r->name, r->claimed, r->refuted ? "REFUTED: " : "", r->lower_bound,
                runs);
        for (size_t c = 0; c <= COLUMNS; c++) {
            fputc(' ', out);
            cell(out, result, count, r->name, c);
        }
        fputc('\n', out);
    }
}
