/* SPDX-License-Identifier: Apache-2.0 */
/* privacy.c: `caucus privacy`: what has been released about one body of data, and what is left. */
#include "cli/complain.h"
#include "cli/terminal/screen.h"
#include "cli/verbs.h"
#include "show/ledger_view.h"
#include "store/coordinator/store.h"
#include "store/ledger_file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPTION_FORMAT, OPTION_RELEASES, OPTION_ASCII, OPTIONS };
static const caucus_option options[] = {
    {"format", "NAME", "text", "text or json on standard output"},
    {"releases", NULL, NULL, "list every release"},
    {"ascii", NULL, NULL, "draw with plain characters (the default where the locale is not UTF-8)"},
    {NULL, NULL, NULL, NULL},
};

typedef struct request {
    const char *path;
    bool json;
    bool flag[OPTIONS];
} request;

static int take_option(void *user, size_t index, const char *value) {
    request *r = user;
    if (index == OPTION_FORMAT)
        return caucus_take_format("privacy", value, &r->json);
    return caucus_take_switch("privacy", options[index].name, value, &r->flag[index]);
}

static const caucus_small_verb verb = {
    .name = "privacy",
    .word = "ledger",
    .options = options,
    .take = take_option,
    .help =
        "caucus privacy: what has been released, against which budget, and what is left\n"
        "\n"
        "  caucus privacy runs.ledger\n"
        "  caucus privacy runs.ledger --releases --format json\n"
        "  caucus privacy state                       the --state of caucus serve, also while it runs\n"
        "  caucus privacy postgresql://host/database  the same, in PostgreSQL\n"
        "\n"
        "A ledger is kept by --ledger FILE of caucus simulate, serve and join, and by caucus serve in its state. Runs "
        "on the same data\n"
        "belong into the same ledger: they add up, each with all it has reserved. What is left is what other runs may "
        "still reserve.\n"
        "Nothing is written: a copy on a read-only file system is shown like any other.\n"
        "Each entry holds a hash of the one before: a torn or altered file is refused with its line. That catches "
        "accidents,\n"
        "not somebody who can rewrite all of it.\n",
};

/* A ledger's file, or the state of a coordinator, which may be running: a directory or a database. */
static caucus_status read_ledger(const char *path, caucus_ledger **ret, bool *ret_state, caucus_error *ret_error) {
    struct stat info;
    *ret_state = caucus_store_is_remote(path) || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
    if (!*ret_state)
        return caucus_ledger_file_read(path, ret, ret_error);
    caucus_status status = caucus_store_open_ledger(path, ret, ret_error);
    if (status == CAUCUS_OK && *ret == NULL)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%.150s: no run has begun here", path);
    return status;
}

int caucus_cli_privacy(int argc, char **argv) {
    request r = {.path = NULL};
    int code = 0;
    if (caucus_small_verb_over(&verb, argc, argv, &r, &r.path, &code))
        return code;
    if (r.path == NULL) {
        fputs("caucus privacy: which ledger? — caucus privacy FILE (caucus simulate --ledger FILE) or DIR (caucus "
              "serve --state DIR)\n",
              stderr);
        return CAUCUS_EXIT_USAGE;
    }
    caucus_ledger *ledger = NULL;
    caucus_error error = {0};
    bool state = false;
    caucus_status status = read_ledger(r.path, &ledger, &state, &error);
    if (status != CAUCUS_OK) {
        char line[CAUCUS_ERROR_LINE_BYTES]; /* begins with the file, and the line where one is at fault */
        caucus_complain_line(options, status, &error, line);
        fprintf(stderr, "%s\n", line);
        return caucus_exit_code(status);
    }
    caucus_ledger_view view;
    caucus_ledger_totals shared = {0};
    char *reserved_in = NULL;
    const bool known = state && caucus_budget_noted(r.path, ledger, &reserved_in, &shared);
    status = caucus_ledger_view_init(r.path, ledger, state, &view);
    if (status != CAUCUS_OK) {
        caucus_ledger_free(ledger);
        free(reserved_in);
        return caucus_complain("privacy", options, status, &error);
    }
    view.reserved_in = reserved_in;
    view.shared = known ? &shared : NULL;
    if (r.json)
        caucus_ledger_view_json(stdout, &view, r.flag[OPTION_RELEASES]);
    else
        caucus_ledger_view_print(stdout, &view, r.flag[OPTION_ASCII] || !caucus_screen_utf8(), r.flag[OPTION_RELEASES],
                                 caucus_screen_table_width());
    caucus_ledger_view_free(&view);
    caucus_ledger_free(ledger);
    free(reserved_in);
    return CAUCUS_EXIT_DONE;
}
