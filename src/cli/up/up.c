/* SPDX-License-Identifier: Apache-2.0 */
/* up.c: `caucus up`: a live federation on this machine, from certificates to summary, with nothing left behind.
 *
 * The coordinator and every client are processes of this program, talking over mutual TLS on loopback. At the end what
 * each client played is held against `caucus simulate` with the same flags and seed. */
#include "cli/up/up.h"
#include "cli/complain.h"
#include "cli/signals.h"
#include "cli/verbs.h"
#include "num/number_text.h"
#include "plan/family.h"
#include "show/output.h"
#include "store/clock.h"
#include "store/look_json.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLIENTS_MAX 500u /* each is a process */

enum { KEEP = CAUCUS_FIELD_COUNT, DELAY, HTTP, OPEN, RELAY_COUNT };
static const caucus_option options[] = {
#define OPTION(name, word, list, argument, fallback, help) {word, argument, fallback, help},
    CAUCUS_FIELD_LIST(OPTION)
#undef OPTION
        {"keep", "DIR", NULL, "keep certificates, plan, states and logs there (must not exist)"},
    {"delay", "MS", "0", "wait so long before each round, at most a day, to have time to look"},
    {"http", "HOST:PORT", "127.0.0.1:0", "where the status page is, on this machine; port 0 = any"},
    {"open", "WHEN", "auto", "have a browser show it: yes, no, or auto = at a terminal with a desktop"},
    {"relay-count", "N", "0", "clients behind so many relays (1 to 16) and a nats-server of their own"},
    {NULL, NULL, NULL, NULL},
};

volatile int caucus_up_stop;

static void on_signal(int number) {
    (void)number;
    caucus_up_stop = 1;
}

static const caucus_option_section sections[] = {
    {"What is played", CAUCUS_FIELD_ALGORITHM, CAUCUS_FIELD_EPSILON, NULL},
    {"Privacy and mechanisms", CAUCUS_FIELD_EPSILON, CAUCUS_FIELD_TRUST,
     "  --trust WHOM           who may see what (coordinator)\n"},
    {"", CAUCUS_FIELD_TRUST + 1, CAUCUS_FIELD_SEGMENTS, NULL},
    {"Simulated losses", CAUCUS_FIELD_SEGMENTS, CAUCUS_FIELD_DATA, NULL},
    {"Data", CAUCUS_FIELD_DATA, CAUCUS_FIELD_TRIALS, NULL},
    {"Running and results", CAUCUS_FIELD_SEED, CAUCUS_FIELD_SEED + 1,
     "  --format NAME          table or json on standard output (table)\n"},
    {"", KEEP, KEEP + 5, NULL},
    {NULL, 0, 0, NULL},
};

static void print_help(void) {
    fputs("caucus up: a live federation on this machine: certificates, coordinator, clients over mutual TLS, summary\n"
          "\n"
          "  caucus up\n"
          "  caucus up --clients 20 --epsilon 10 --delay 50\n"
          "  caucus up --adversary movielens --epsilon 10 --format json\n"
          "\n"
          "Takes the flags of caucus simulate (one value each; one trial), and ends by comparing what every client "
          "played with that\n"
          "simulation. Losses are simulated, or a file's (--losses), and the noise is seeded: NOT PRIVATE, a "
          "demonstration. Nothing\n"
          "stays, no process and no file, unless --keep is given. At a terminal with a desktop a browser shows the "
          "status page,\n"
          "which stays until you press Enter. With --relay-count 2 clients speak to relays, and those over NATS to the "
          "coordinator.\n",
          stdout);
    caucus_options_sections(options, sections);
}

static int complain(const caucus_complaint *c, caucus_status status) {
    return caucus_complain_scenario("up", status, c);
}

static int take_option(void *user, size_t index, const char *value) {
    caucus_up *u = user;
    if (index == SIZE_MAX)
        return caucus_take_word("up", "scenario file", value, &u->file);
    if (index >= CAUCUS_FIELD_COUNT) {
        const char **into[] = {&u->keep, &u->delay, &u->http, &u->open, &u->relay_count};
        *into[index - KEEP] = value;
        return 0;
    }
    if (index == CAUCUS_FIELD_OUT || index == CAUCUS_FIELD_LEDGER || index == CAUCUS_FIELD_BUDGET)
        return caucus_usage("up", "--%s: for caucus simulate; --keep DIR keeps the files of a live run",
                            options[index].name);
    if (index == CAUCUS_FIELD_THREADS)
        return caucus_usage("up", "--threads: for caucus simulate; a live run is one process per client");
    if (index == CAUCUS_FIELD_TRIALS && strcmp(value, "1") != 0)
        return caucus_usage("up", "--trials %s: a live run is one trial; caucus simulate plays many", value);
    caucus_complaint complaint;
    caucus_status status = caucus_scenario_set(&u->scenario, (caucus_scenario_field)index, value, &complaint);
    return status == CAUCUS_OK ? 0 : complain(&complaint, status);
}

/* What simulate wants to be told, and a demonstration may assume. */
static caucus_status set_default(caucus_up *u, caucus_scenario_field field, const char *value, bool always,
                                 caucus_complaint *ret) {
    bool given = u->scenario.field[field].count > 0 && !(always && u->scenario.field[field].line > 0);
    return given ? CAUCUS_OK : caucus_scenario_set(&u->scenario, field, value, ret);
}

static int check_run(const caucus_up *u) {
    const caucus_run *run = &u->prepared.run[0];
    const caucus_plan *plan = u->prepared.plan[0];
    if (u->prepared.count != 1)
        return caucus_usage("up", "%zu runs: a live run has one value per flag; caucus simulate plays many",
                            u->prepared.count);
    if (u->wanted.format == CAUCUS_FORMAT_CSV)
        return caucus_usage("up", "--format csv: must be table or json");
    if (caucus_adversary_follows(u->prepared.adversary[0]))
        return caucus_usage("up", "--adversary %s: follows what was announced — caucus simulate plays it",
                            caucus_adversary_kind_word(run->adversary.kind));
    if (plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX)
        return caucus_usage(
            "up", "--trees with cross-entropy: convex losses are for the C interface (caucus/link.h) and for caucus "
                  "simulate");
    if (caucus_algorithm_variant(run->settings.algorithm)->alone)
        return caucus_usage("up", "--algorithm %s: is for one client alone — %s federate",
                            caucus_algorithm_word(run->settings.algorithm), caucus_federating(" and ").text);
    if (run->settings.protocol == CAUCUS_PROTOCOL_PAPER)
        return caucus_usage("up",
                            "--protocol paper: is for caucus simulate; live runs are two-step, with the same experts");
    if (plan->settings.clients > CLIENTS_MAX)
        return caucus_usage("up", "--clients %u: each is a process, at most %u — caucus simulate takes millions",
                            plan->settings.clients, CLIENTS_MAX);
    double delay = 0;
    if (u->delay && !(caucus_real_parse(u->delay, &delay) && delay >= 0 && delay <= CAUCUS_DELAY_MAX))
        return caucus_usage("up", "--delay %s: must be milliseconds, at most 86400000 (a day)", u->delay);
    return 0;
}

static int read_settings(caucus_up *u, int argc, char **argv) {
    caucus_complaint complaint;
    int code = caucus_options_parse("up", options, argc, argv, take_option, u);
    if (code != 0)
        return code;
    caucus_status status = u->file ? caucus_scenario_load(&u->scenario, u->file, &complaint) : CAUCUS_OK;
    if (status == CAUCUS_OK)
        status = set_default(u, CAUCUS_FIELD_TRUST, "coordinator", false, &complaint);
    if (status == CAUCUS_OK && u->scenario.field[CAUCUS_FIELD_DATA].count > 0)
        status = set_default(u, CAUCUS_FIELD_ADVERSARY, "movielens", false, &complaint);
    if (status == CAUCUS_OK)
        status = set_default(u, CAUCUS_FIELD_TRIALS, "1", true, &complaint);
    if (status == CAUCUS_OK)
        status = caucus_wanted_read(&u->scenario, &u->wanted, &complaint);
    if (status == CAUCUS_OK)
        status = caucus_scenario_resolve(&u->scenario, &u->prepared, &complaint);
    code = status == CAUCUS_OK ? check_run(u) : complain(&complaint, status);
    if (code == 0)
        code = caucus_up_relays_wanted(u);
    return code == 0 ? caucus_up_page_wanted(u) : code;
}

static int run(caucus_up *u, int argc, char **argv) {
    int code = read_settings(u, argc, argv);
    if (code != 0)
        return code;
    caucus_error error = {0};
    caucus_status status =
        caucus_outcome_look(&u->prepared.run[0], u->prepared.adversary[0], &u->found, &u->history, &error);
    if (status != CAUCUS_OK)
        return caucus_complain("up", options, status, &error);
    const caucus_settings *s = &u->prepared.plan[0]->settings;
    u->children = (size_t)s->clients + 1 + (u->relays ? u->relays + 1 : 0);
    u->child = calloc(u->children, sizeof *u->child);
    u->played = calloc(s->clients, sizeof *u->played);
    u->expert = calloc((size_t)s->clients * caucus_run_rounds(&u->prepared.run[0], s), sizeof *u->expert);
    if (!u->child || !u->played || !u->expert)
        return caucus_complain_memory("up");
    for (size_t i = 0; i < u->children; i++)
        u->child[i].out = -1; /* not started yet */
    caucus_on_signals(on_signal);
    caucus_on_signal(SIGHUP, on_signal);
    u->start = caucus_clock_seconds();
    code = caucus_up_make_files(u);
    if (code == 0)
        code = caucus_up_start_nats(u);
    if (code == 0)
        code = caucus_up_start_coordinator(u);
    if (code == 0)
        code = caucus_up_start_relays(u);
    if (code != 0)
        return code;
    caucus_up_page_open(u);
    code = caucus_up_play(u);
    if (code != 0)
        return code;
    caucus_up_compared compared;
    status = caucus_up_compare(u->prepared.plan[0], u->prepared.adversary[0], u->prepared.run[0].seed, u->expert,
                               u->played, &caucus_up_stop, &compared);
    if (status != CAUCUS_OK)
        return caucus_complain("up", options, status, &(caucus_error){0});
    char look[CAUCUS_LOOK_BYTES] = "\"look\": null"; /* part of the coordinator's summary, byte for byte */
    if (compared.simulation.look.clients > 0)
        caucus_look_text(&compared.simulation.look, u->prepared.plan[0], look);
    compared.look = strstr(u->summary, look) != NULL;
    caucus_up_print(u, &compared);
    caucus_up_page_stay(u);
    return compared.equal && compared.look ? CAUCUS_EXIT_DONE : CAUCUS_EXIT_FAILED;
}

int caucus_cli_up(int argc, char **argv) {
    caucus_up *u = calloc(1, sizeof *u);
    if (!u)
        return caucus_complain_memory("up");
    caucus_scenario_init(&u->scenario);
    int code = run(u, argc, argv);
    if (code == CAUCUS_OPTIONS_HELP) {
        print_help();
        code = CAUCUS_EXIT_DONE;
    }
    if (u->child)
        caucus_children_end(u->child, u->children);
    caucus_up_remove_files(u);
    free(u->child);
    free(u->played);
    free(u->expert);
    caucus_prepared_free(&u->prepared);
    caucus_scenario_free(&u->scenario);
    free(u);
    return code;
}
