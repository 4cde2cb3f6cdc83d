/* SPDX-License-Identifier: Apache-2.0 */
/* statement.c: `caucus statement`: one page about a plan, for the person who signs it off. */
#include "show/signing/statement.h"
#include "cli/complain.h"
#include "cli/terminal/screen.h"
#include "cli/verbs.h"
#include "store/atomic_file.h"

#include <caucus/plan_file.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A page of text is this wide unless the terminal is narrower. */
enum { PAGE_WIDTH = 80 };

enum { OPTION_HTML, OPTION_DATE, OPTIONS };
static const caucus_option options[] = {
    [OPTION_HTML] = {"html", "FILE", NULL, "write it as HTML that prints on one sheet, instead of text"},
    [OPTION_DATE] = {"date", "TEXT", "today", "the date of the statement"},
    [OPTIONS] = {NULL, NULL, NULL, NULL},
};

typedef struct request {
    const char *file;
    const char *value[OPTIONS];
} request;

static int take_option(void *user, size_t index, const char *value) {
    request *r = user;
    if (value[0] == '\0')
        return caucus_usage("statement", "--%s: must not be empty", options[index].name);
    r->value[index] = value;
    return 0;
}

static const caucus_small_verb verb = {
    .name = "statement",
    .word = "plan",
    .options = options,
    .take = take_option,
    .help =
        "caucus statement: one page about a plan, for the person who signs it off\n"
        "\n"
        "  caucus statement plan.yaml\n"
        "  caucus statement plan.yaml --html statement.html\n"
        "\n"
        "Who is protected against whom, for what unit and what that comes to for a person, what epsilon means, what\n"
        "is not protected, who must be trusted with what, where proof and audit are, and a place for a name.\n",
};

static const char *today(char *ret, size_t ret_bytes) {
    const time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local) == NULL || strftime(ret, ret_bytes, "%Y-%m-%d", &local) == 0)
        return "____________________"; /* a clock that is out of reach: to be filled in by hand */
    return ret;
}

static int write_html(const caucus_statement *statement, const char *path) {
    caucus_atomic_file file;
    bool written = caucus_atomic_file_begin(&file, path, 0666);
    if (written) {
        caucus_statement_html(file.out, statement);
        written = caucus_atomic_file_end(&file, true);
    }
    if (!written) {
        fprintf(stderr, "caucus statement: --html %s: %s\n", path, strerror(errno));
        return caucus_exit_code(CAUCUS_E_PATH);
    }
    fprintf(stderr, "caucus statement: %s is the statement of plan %s\n", path, caucus_plan_hash_text(statement->plan));
    return CAUCUS_EXIT_DONE;
}

static int state(const request *r, const caucus_plan *plan) {
    char date[32];
    const caucus_statement statement = {
        plan, r->file, r->value[OPTION_DATE] != NULL ? r->value[OPTION_DATE] : today(date, sizeof date)};
    if (r->value[OPTION_HTML] != NULL)
        return write_html(&statement, r->value[OPTION_HTML]);
    const int width = caucus_screen_width(STDOUT_FILENO, PAGE_WIDTH);
    caucus_statement_text(stdout, &statement, width < PAGE_WIDTH ? width : PAGE_WIDTH);
    return CAUCUS_EXIT_DONE;
}

int caucus_cli_statement(int argc, char **argv) {
    request r = {.file = NULL};
    int code = 0;
    if (caucus_small_verb_over(&verb, argc, argv, &r, &r.file, &code))
        return code;
    if (r.file == NULL)
        return caucus_usage("statement", "which plan? — caucus statement plan.yaml (caucus plan … --write plan.yaml)");
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    const caucus_status status = caucus_plan_file_read(r.file, &plan, &error);
    if (status != CAUCUS_OK)
        return caucus_complain("statement", options, status, &error);
    code = state(&r, plan);
    caucus_plan_free(plan);
    return code;
}
