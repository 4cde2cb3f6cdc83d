/* SPDX-License-Identifier: Apache-2.0 */
/* budget.c: see budget.h. */
#include "store/budget.h"

#include "num/fail.h"
#include "plan/ledger.h"
#include "store/atomic_file.h"
#include "store/ledger_file.h"

#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAN_DIGITS 8
#define ID_DIGITS (2 * CAUCUS_RUN_ID_BYTES)

void caucus_run_tag(const uint8_t plan_hash[32], const uint8_t id[CAUCUS_RUN_ID_BYTES],
                    char ret[CAUCUS_RUN_TAG_BYTES]) {
    (void)sodium_bin2hex(ret, PLAN_DIGITS + 1, plan_hash, PLAN_DIGITS / 2);
    ret[PLAN_DIGITS] = '-';
    (void)sodium_bin2hex(ret + PLAN_DIGITS + 1, ID_DIGITS + 1, id, CAUCUS_RUN_ID_BYTES);
}

caucus_status caucus_run_label(const char *name, const char *tag, char ret[CAUCUS_RUN_NAME_BYTES],
                               caucus_error *ret_error) {
    char whole[CAUCUS_RUN_NAME_BYTES];
    if (!caucus_ledger_text_name(name, NULL, whole) || strlen(whole) > CAUCUS_RUN_LABEL_MAX)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "name",
                           "'%.48s' (accepted: 1 to %d bytes of UTF-8 without control characters, no "
                           "space at either end)",
                           name, CAUCUS_RUN_LABEL_MAX);
    (void)snprintf(ret, CAUCUS_RUN_NAME_BYTES, "%.*s #%.*s", CAUCUS_RUN_LABEL_MAX, whole, CAUCUS_RUN_TAG_BYTES - 1,
                   tag);
    return CAUCUS_OK;
}

bool caucus_run_tag_of(const char *what, size_t *ret_at, char ret[CAUCUS_RUN_TAG_BYTES]) {
    static const char digits[] = "0123456789abcdef";
    const char *mark = NULL; /* the last one: a name may hold the sign itself */
    for (const char *c = strstr(what, " #"); c != NULL; c = strstr(c + 1, " #"))
        mark = c + 2;
    if (mark == NULL || strspn(mark, digits) != PLAN_DIGITS || mark[PLAN_DIGITS] != '-' ||
        strspn(mark + PLAN_DIGITS + 1, digits) != ID_DIGITS)
        return false;
    const char after = mark[CAUCUS_RUN_TAG_BYTES - 1];
    if (after != ' ' && after != '\0')
        return false;
    memcpy(ret, mark, CAUCUS_RUN_TAG_BYTES - 1);
    ret[CAUCUS_RUN_TAG_BYTES - 1] = '\0';
    *ret_at = (size_t)(mark - 1 - what);
    return true;
}

/* Has the run of this label an entry? */
static bool is_reserved(const caucus_ledger *ledger, const char *label) {
    char own[CAUCUS_RUN_TAG_BYTES], other[CAUCUS_RUN_TAG_BYTES];
    size_t at;
    if (!caucus_run_tag_of(label, &at, own))
        return false;
    for (size_t i = 0; i < caucus_ledger_count(ledger); i++) {
        const caucus_entry *e = caucus_ledger_entry(ledger, i);
        if (e->kind == CAUCUS_ENTRY_RUN && caucus_run_tag_of(e->what, &at, other) && strcmp(own, other) == 0)
            return true;
    }
    return false;
}

caucus_status caucus_budget_reserve(const caucus_budget *budget, const caucus_plan *plan, const char *label,
                                    bool seeded, bool trial, caucus_ledger_totals *ret, caucus_error *ret_error) {
    caucus_ledger_file file = {.fd = -1};
    caucus_error why = {0};
    caucus_status status = caucus_ledger_file_open(budget->path, budget->given ? budget->epsilon : 0,
                                                   budget->given ? budget->delta : 0, budget->given, &file, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (file.fd < 0 && !budget->given) {
        (void)caucus_fail_os(ret_error, CAUCUS_E_PATH, ENOENT, "ledger", "%s", caucus_path_tail(budget->path));
        status = caucus_fail_hint(ret_error, CAUCUS_E_PATH, "'budget' E or E,D begins one");
    }
    uint32_t run = 0;
    const bool found = status == CAUCUS_OK && is_reserved(file.ledger, label);
    if (status == CAUCUS_OK && !found) {
        status = caucus_ledger_reserve(file.ledger, plan, label, seeded, &run, &why);
        if (status == CAUCUS_E_BUDGET)
            (void)caucus_fail(ret_error, status, "ledger", "%s: the budget does not allow this run: %s %s",
                              caucus_path_tail(budget->path), why.field, why.text);
        else if (status != CAUCUS_OK && ret_error != NULL)
            *ret_error = why;
    }
    if (status == CAUCUS_OK && !found && !trial)
        status = caucus_ledger_file_sync(&file, ret_error);
    if (status == CAUCUS_OK)
        *ret = caucus_ledger_totals_of(file.ledger);
    caucus_ledger_file_close(&file);
    return status;
}

caucus_status caucus_budget_note(const char *dir, const char *ledger, caucus_error *ret_error) {
    char *path = caucus_path_in(dir, CAUCUS_RESERVED_FILE), *whole = realpath(ledger, NULL);
    caucus_status status = CAUCUS_OK;
    if (path == NULL) {
        status = caucus_fail_memory(ret_error, "");
    } else if (whole == NULL) {
        status = caucus_fail_os(ret_error, CAUCUS_E_PATH, errno, "ledger", "%s", caucus_path_tail(ledger));
    } else {
        const size_t length = strlen(whole);
        whole[length] = '\n'; /* in place of the final 0 */
        if (!caucus_atomic_file_write(path, whole, length + 1, 0600, true))
            status = caucus_fail_os(ret_error, CAUCUS_E_PATH, errno, "", "%s: writing", caucus_path_tail(path));
    }
    free(whole);
    free(path);
    return status;
}

/* The first line of a small file, without its newline; NULL: there is none. */
static char *first_line(const char *path) {
    char *line = NULL;
    size_t room = 0;
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return NULL;
    const ssize_t length = getline(&line, &room, in);
    (void)fclose(in);
    if (length > 1 && line[length - 1] == '\n') {
        line[length - 1] = '\0';
        return line;
    }
    free(line);
    return NULL;
}

bool caucus_budget_noted(const char *dir, const caucus_ledger *own, char **ret_path, caucus_ledger_totals *ret) {
    caucus_ledger *ledger = NULL;
    bool found = false;
    char *path = caucus_path_in(dir, CAUCUS_RESERVED_FILE);
    *ret_path = path != NULL ? first_line(path) : NULL;
    free(path);
    if (*ret_path == NULL || caucus_ledger_file_read(*ret_path, &ledger, NULL) != CAUCUS_OK)
        return false;
    for (size_t i = 0; i < caucus_ledger_count(own) && !found; i++) {
        const caucus_entry *e = caucus_ledger_entry(own, i);
        found = e != NULL && e->kind == CAUCUS_ENTRY_RUN && is_reserved(ledger, e->what);
    }
    if (found)
        *ret = caucus_ledger_totals_of(ledger);
    caucus_ledger_free(ledger);
    return found;
}

void caucus_budget_words(double reserved, double used, double budget, double left, bool over, const char *instead,
                         char ret[CAUCUS_BUDGET_WORDS_BYTES]) {
    char of[48] = "", rest[96] = "; no ledger here: other runs on this data are not counted";
    if (instead != NULL)
        (void)snprintf(rest, sizeof rest, "; %s", instead);
    else if (!isnan(budget)) {
        if (isinf(budget))
            (void)snprintf(rest, sizeof rest, "; the ledger sets no limit");
        else
            (void)snprintf(rest, sizeof rest, ", %.6g left", left);
        if (!isinf(budget))
            (void)snprintf(of, sizeof of, " of %.6g", budget);
    }
    (void)snprintf(ret, CAUCUS_BUDGET_WORDS_BYTES,
                   "Reserved %.6g%s by this run (%.6g used%s; the rest is not given back)%s", reserved, of, used,
                   over ? "" : " so far", rest);
}
