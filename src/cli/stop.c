/* SPDX-License-Identifier: Apache-2.0 */
/* stop.c: `caucus stop`: end a run for good, whether its coordinator is running or not.
 *
 * Without a coordinator the end is committed here. With one, it is asked by a file in the state and this program waits
 * until the end is committed there; if the coordinator ends meanwhile it is committed here after all. Both are looked
 * at in turn, so it does not matter which of them is true when. */
#include "cli/complain.h"
#include "cli/signals.h"
#include "cli/verbs.h"
#include "plan/plan.h"
#include "store/clock.h"
#include "store/coordinator/store.h"
#include "store/json.h"

#include <caucus/plan_file.h>

#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_NS 50000000
#define WAIT_SECONDS_MAX 86400.0

enum { STATE, STATE_KEY, PLAN, WAIT, FORMAT, OPTIONS };
static const caucus_option options[] = {
    {"state", "DIR", NULL, "the --state of caucus serve"},
    {"state-key", "FILE", NULL, "its --state-key, if the state is in PostgreSQL"},
    {"plan", "FILE", NULL, "its --plan: refuse to end a run of another plan, and show the expert's name"},
    {"wait", "SECONDS", "60", "for a coordinator that is running, at most"},
    {"format", "NAME", "text", "text or json on standard output"},
    {NULL, NULL, NULL, NULL},
};

typedef struct stopping {
    const char *text[OPTIONS];
    double wait_seconds;
    bool json;
    caucus_plan *plan; /* --plan; NULL: none was given */
} stopping;

static void print_help(void) {
    caucus_options_page(
        "caucus stop: end a run for good\n"
        "\n"
        "  caucus stop --state state\n"
        "  caucus stop --state state --plan plan.yaml\n"
        "\n"
        "The coordinator makes a last announcement: clients that hear it end with 0, and play no further round. Sums, "
        "thresholds\n"
        "and keys are wiped from the state; its ledger stays. It works while the coordinator runs, on the same "
        "machine, and when\n"
        "it does not; a state in PostgreSQL from any machine with a copy of its key file. Afterwards caucus serve "
        "refuses this state\n"
        "(exit code 3); with --stay it tells clients that were away.\n"
        "A state holds the hash of its plan, not the names of the experts: with --plan the expert that was in force "
        "is shown by\n"
        "name, and a state of another plan is left as it is. To end the program only, and go on later: SIGTERM.\n",
        options, OPTIONS);
}

static int refuse(const char *option, const char *value, const char *why) {
    fprintf(stderr, "caucus stop: --%s%s%s: %s\n", option, value[0] != '\0' ? " " : "", value, why);
    return CAUCUS_EXIT_USAGE;
}

static int take_option(void *user, size_t index, const char *value) {
    stopping *s = user;
    if (index == SIZE_MAX) {
        fprintf(stderr, "caucus stop: '%s': every setting has a name — caucus stop --state DIR\n", value);
        return CAUCUS_EXIT_USAGE;
    }
    if (s->text[index] != NULL)
        return refuse(options[index].name, value, "given twice");
    s->text[index] = value;
    return 0;
}

static int read_options(stopping *s) {
    int code = caucus_take_format("stop", s->text[FORMAT], &s->json);
    if (code != 0)
        return code;
    if (!s->text[STATE])
        return refuse("state", "", "is needed: the directory that caucus serve was given");
    s->wait_seconds = 60;
    if (s->text[WAIT]) {
        char *end = NULL;
        s->wait_seconds = strtod(s->text[WAIT], &end);
        if (end == s->text[WAIT] || *end != '\0' || !(s->wait_seconds >= 0 && s->wait_seconds <= WAIT_SECONDS_MAX))
            return refuse("wait", s->text[WAIT], "must be seconds, 0 to 86400 (a day)");
    }
    return 0;
}

static int complain(caucus_status status, const caucus_error *error) {
    char line[CAUCUS_ERROR_LINE_BYTES];
    caucus_complain_line(options, status, error, line);
    fprintf(stderr, "caucus stop: %s\n", line);
    return caucus_exit_code(status);
}

static int say(const stopping *s, const caucus_announcement *last, bool running, bool before) {
    if (s->json) {
        caucus_json j;
        caucus_json_begin(&j, stdout, true);
        caucus_json_truth(&j, "stopped", true);
        caucus_json_truth(&j, "before", before);
        caucus_json_truth(&j, "coordinator_running", running);
        caucus_json_whole(&j, "serial", last->serial);
        caucus_json_whole(&j, "expert", last->expert);
        caucus_json_text(&j, "expert_name", s->plan ? caucus_plan_expert_name(s->plan, last->expert) : NULL);
        caucus_json_end(&j);
        return CAUCUS_EXIT_DONE;
    }
    caucus_expert_words expert;
    if (s->plan)
        expert = caucus_plan_expert_words(s->plan, last->expert);
    else
        (void)snprintf(expert.text, sizeof expert.text, "%u", last->expert);
    if (before)
        printf("this run was ended before: its last announcement is number %" PRIu64 "; expert %s was in force\n",
               last->serial, expert.text);
    else
        printf("the run is ended for good with announcement %" PRIu64 "; expert %s was in force\n", last->serial,
               expert.text);
    if (!before && !running)
        puts("no coordinator was running: clients hear of it from caucus serve --stay, with the same --state");
    return CAUCUS_EXIT_DONE;
}

/* A coordinator has the state: ask it, and wait. */
static int ask(const stopping *s) {
    const char *state = s->text[STATE];
    const caucus_store_where where = {.state = state, .key_file = s->text[STATE_KEY]};
    const int64_t until = caucus_clock_ms() + (int64_t)lround(s->wait_seconds * 1000);
    caucus_error error = {0};
    caucus_announcement last;
    caucus_store_glance now;
    bool before = false;
    caucus_status status = caucus_store_peek(state, &now, &error);
    if (status == CAUCUS_OK && now.any && caucus_announcement_stops(&now.last)) /* it stays to tell others */
        return say(s, &now.last, true, true);
    status = caucus_store_request_stop(state, &error);
    while (status == CAUCUS_OK && !caucus_stopped() && caucus_clock_ms() < until) {
        status = caucus_store_peek(state, &now, &error);
        if (status == CAUCUS_OK && now.any && caucus_announcement_stops(&now.last))
            return say(s, &now.last, true, false);
        status = caucus_store_end(&where, &last, &before, &error); /* it has gone meanwhile? */
        if (status == CAUCUS_OK)
            return say(s, &last, false, false);
        if (status != CAUCUS_E_BUSY)
            break;
        status = CAUCUS_OK;
        (void)nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
    if (status != CAUCUS_OK)
        return complain(status, &error);
    fprintf(stderr,
            "caucus stop: the coordinator has not ended the run yet; it will once it comes to it, as would the next "
            "one: the request is in %s%s\n",
            state, caucus_store_is_remote(state) ? "" : "/stop");
    return CAUCUS_EXIT_FAILED;
}

/* Read --plan, and compare it with the state before anything is ended. A run keeps its plan for as long as it is kept,
 * so what is seen here is still so when it is ended. Returns: 0, or an exit code. */
static int read_plan(stopping *s) {
    const char *state = s->text[STATE];
    caucus_error error = {0};
    caucus_status status = caucus_plan_file_read(s->text[PLAN], &s->plan, &error);
    if (status != CAUCUS_OK)
        return complain(status, &error);
    caucus_store_glance now = {0};
    if (caucus_store_is_remote(state) || caucus_store_exists(state))
        status = caucus_store_peek(state, &now, &error);
    if (status != CAUCUS_OK)
        return complain(status, &error);
    if (!now.found || memcmp(now.plan, caucus_plan_hash(s->plan), sizeof now.plan) == 0)
        return 0; /* without a run in it: ending it says so */
    char found[9];
    (void)sodium_bin2hex(found, sizeof found, now.plan, 4);
    fprintf(stderr, "caucus stop: --plan %s: is plan %.8s…, and the state is of plan %s…: nothing was ended\n",
            s->text[PLAN], caucus_plan_hash_text(s->plan), found);
    return CAUCUS_EXIT_USAGE;
}

static int end_run(const stopping *s) {
    caucus_error error = {0};
    caucus_announcement last;
    bool before = false;
    const caucus_store_where where = {.state = s->text[STATE], .key_file = s->text[STATE_KEY]};
    caucus_status status = caucus_store_end(&where, &last, &before, &error);
    if (status == CAUCUS_E_BUSY)
        return ask(s);
    return status == CAUCUS_OK ? say(s, &last, false, before) : complain(status, &error);
}

int caucus_cli_stop(int argc, char **argv) {
    stopping s = {0};
    int code = caucus_options_parse("stop", options, argc, argv, take_option, &s);
    if (caucus_options_over(&code, print_help))
        return code;
    code = read_options(&s);
    if (code == 0 && s.text[PLAN])
        code = read_plan(&s);
    if (code == 0) {
        caucus_stop_on_signals();
        code = end_run(&s);
    }
    caucus_plan_free(s.plan);
    return code;
}
