/* SPDX-License-Identifier: Apache-2.0 */
/* store.c: `caucus store`: the tables in PostgreSQL that a coordinator keeps its state in, and its key file. */
#include "store/coordinator/store.h"
#include "cli/complain.h"
#include "cli/verbs.h"
#include "store/coordinator/mark.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { STATE, STATE_KEY, OPTIONS };
static const caucus_option options[] = {
    {"state", "DB", NULL, "postgresql://HOST/DATABASE or service=NAME; no password: it belongs into ~/.pgpass"},
    {"state-key", "FILE", NULL, "init: also make a key file, for the coordinator and copies of it for its standbys"},
    {NULL, NULL, NULL, NULL},
};

typedef struct request {
    const char *what, *text[OPTIONS];
} request;

static int take_option(void *user, size_t index, const char *value) {
    request *r = user;
    if (r->text[index] != NULL)
        return caucus_usage("store", "--%s %s: given twice", options[index].name, value);
    r->text[index] = value;
    return 0;
}

static const caucus_small_verb verb = {
    .name = "store",
    .word = "action",
    .options = options,
    .take = take_option,
    .help =
        "caucus store: tables in PostgreSQL for a coordinator's state\n"
        "\n"
        "  caucus store init --state postgresql://host/database --state-key run.key\n"
        "  caucus store check --state postgresql://host/database\n"
        "  caucus store migrate --state postgresql://host/database\n"
        "\n"
        "init makes the tables, and a key file if one is named. check looks at the server as a coordinator would, and "
        "at the run.\n"
        "migrate brings tables that an older caucus has made to this version, while no coordinator is at work.\n"
        "A database holds one run, or each of its schemas does (options=-csearch_path=NAME). The state is sealed: "
        "without the key\n"
        "file nobody can read it, and nobody can go on with the run either. A directory needs none of this.\n",
};

static int init(const request *r) {
    caucus_error error = {0};
    caucus_status status = CAUCUS_OK;
    if (r->text[STATE_KEY] != NULL) /* first: tables without a key are of no use, and a key file is easily removed */
        status = caucus_key_file_make(r->text[STATE_KEY], &error);
    if (status != CAUCUS_OK)
        return caucus_complain("store", options, status, &error);
    status = caucus_store_init(r->text[STATE], &error);
    if (status != CAUCUS_OK) {
        if (r->text[STATE_KEY] != NULL)
            (void)remove(r->text[STATE_KEY]);
        return caucus_complain("store", options, status, &error);
    }
    puts("the tables are made");
    if (r->text[STATE_KEY] != NULL)
        printf("%s: the key of this run: copy it to the machines of its standbys, and to nobody else\n",
               r->text[STATE_KEY]);
    return CAUCUS_EXIT_DONE;
}

static void print_report(const caucus_store_report *s, const char *plan) {
    printf("PostgreSQL %s, synchronous standbys: %s\n", s->server, s->synchronous[0] != '\0' ? s->synchronous : "none");
    if (!s->found) {
        puts("no run is kept here yet");
        return;
    }
    printf("plan %.8s…, term %" PRIu64 ", %" PRIu64 " announcements, %" PRIu64 " ledger lines\n", plan, s->term,
           s->announcements, s->lines);
    printf("%s%s%s\n", s->running ? "a coordinator is at work" : "no coordinator is at work",
           s->stop ? "; somebody has asked for the end" : "", s->seeded ? "; NOT PRIVATE (seeded)" : "");
}

static int check(const request *r) {
    caucus_error error = {0};
    caucus_store_report s;
    caucus_status status = caucus_store_check(r->text[STATE], &s, &error);
    if (status != CAUCUS_OK)
        return caucus_complain("store", options, status, &error);
    char plan[65];
    (void)sodium_bin2hex(plan, sizeof plan, s.plan, sizeof s.plan);
    print_report(&s, plan);
    return CAUCUS_EXIT_DONE;
}

static int migrate(const request *r) {
    caucus_error error = {0};
    uint32_t from = 0, to = 0;
    caucus_status status = caucus_store_migrate(r->text[STATE], &from, &to, &error);
    if (status != CAUCUS_OK)
        return caucus_complain("store", options, status, &error);
    if (from == to)
        printf("the tables are of version %" PRIu32 ": nothing to do\n", to);
    else
        printf("the tables are of version %" PRIu32 " now; they were of version %" PRIu32 "\n", to, from);
    return CAUCUS_EXIT_DONE;
}

static const struct {
    const char *name;
    int (*act)(const request *r);
} actions[] = {{"init", init}, {"check", check}, {"migrate", migrate}};

int caucus_cli_store(int argc, char **argv) {
    request r = {0};
    int code = 0;
    if (caucus_small_verb_over(&verb, argc, argv, &r, &r.what, &code))
        return code;
    if (r.what == NULL)
        return caucus_usage("store", "what to do? — init makes the tables, check looks at them, migrate updates them");
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(r.what, actions[i].name) != 0)
            continue;
        if (r.text[STATE] == NULL)
            return caucus_usage("store", "--state is missing — postgresql://HOST/DATABASE or service=NAME");
        if (actions[i].act != init && r.text[STATE_KEY] != NULL)
            return caucus_usage("store", "--state-key: goes with init");
        return actions[i].act(&r);
    }
    return caucus_usage("store",
                        "'%s': no such action — init makes the tables, check looks at them, migrate updates "
                        "them",
                        r.what);
}
