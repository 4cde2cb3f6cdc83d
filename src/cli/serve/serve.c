/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c: `caucus serve`: the coordinator of a live federation. */
#include "cli/complain.h"
#include "cli/config.h"
#include "cli/given.h"
#include "cli/serve/listener_options.h"
#include "cli/serve/serve_log.h"
#include "cli/serve/serve_print.h"
#include "cli/serve/serve_stay.h"
#include "cli/signals.h"
#include "cli/terminal/dress.h"
#include "cli/verbs.h"
#include "cli/wanted.h"
#include "net/http.h"
#include "net/page/standby_texts.h"
#include "net/server.h"
#include "num/number_text.h"
#include "plan/plan.h"
#include <caucus/plan_file.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <sodium.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* X(NAME, "word", "VALUE", "default", "help"), in the order of the sections of help below. */
#define OPTION_LIST(X)                                                                                                 \
    X(PLAN, "plan", "FILE", NULL, "what is run: made by caucus plan --write; clients need the same file")              \
    X(STATE, "state", "DIR", NULL,                                                                                     \
      "where decisions are kept, and the run goes on from; or postgresql://HOST/DATABASE or service=NAME")             \
    X(STATE_KEY, "state-key", "FILE", NULL,                                                                            \
      "of a state in PostgreSQL: what seals it, and how far it has come (caucus store init)")                          \
    X(STANDBY, "standby", NULL, NULL,                                                                                  \
      "wait while another coordinator has this state, in PostgreSQL, and take over when it is gone")                   \
    X(REQUIRE_SYNC, "require-sync", NULL, NULL,                                                                        \
      "commit only while the server waits for its standbys (synchronous_standby_names), always the same")              \
    X(PROMOTED, "promoted", "SERIAL", NULL,                                                                            \
      "go on with a server that was promoted: you know that this announcement was the last that was made")             \
    X(LEDGER, "ledger", "FILE", NULL,                                                                                  \
      "runs on the same data share it: this one is reserved, or refused if the budget has no room")                    \
    X(BUDGET, "budget", "E[,D]", NULL,                                                                                 \
      "of a new ledger, for all runs on this data together; an old one must have the same")                            \
    CAUCUS_LISTENER_OPTIONS(X, "the coordinator's", "one per line; looked at every second", "no TLS")                  \
    X(DEADLINE, "deadline", "SECONDS", "0", "how long a step waits for everybody; 0 = for ever")                       \
    X(QUORUM, "quorum", "N", "all", "answers enough to go on at the --deadline, and clients enough to start")          \
    X(EXCUSED, "excused", "FILE", NULL,                                                                                \
      "clients that nobody waits for, a number or a range (3-7) per line; looked at every second")                     \
    X(MISSED, "missed", "K", "never",                                                                                  \
      "a client that missed so many deadlines in a row is waited for no more until it is back")                        \
    X(LINGER, "linger", "SECONDS", "30", "how long to stay after the end for clients that have not heard of it")       \
    X(TICK, "tick", "MS", "0",                                                                                         \
      "decisions are shown, and reports taken, only at multiples of so many ms (to 1000); 0 = once kept")              \
    CAUCUS_LOAD_OPTIONS(X)                                                                                             \
    X(NATS, "nats", "URL", NULL,                                                                                       \
      "hear relays by this NATS server: tls://HOST:PORT, several with commas (docs/SCALE.md)")                         \
    CAUCUS_NATS_OPTIONS(X)                                                                                             \
    X(RELAYS, "relays", "FILE", NULL, "which relays there are: numbers and public keys (caucus certify --relays)")     \
    X(RELAY_KEY, "relay-key", "FILE", NULL, "the coordinator's secret key for them")                                   \
    X(HTTP, "http", "HOST:PORT", NULL, "status page and /metrics")                                                     \
    X(TOKEN, "token", "FILE", NULL, "first line: the bearer token that --http wants beyond this machine")              \
    X(STAY, "stay", NULL, NULL, "after the end, keep the page and answer clients that were away, until stopped")       \
    X(NAME, "name", "NAME", "the plan's, else live", "of the run, for the page and the ledger")                        \
    CAUCUS_PRINT_OPTIONS(X)                                                                                            \
    X(LOG_LEVEL, "log-level", "NAME", "notice",                                                                        \
      "error, notice (who comes and goes, changes of expert), or detail (every step)")                                 \
    X(QUIET, "quiet", NULL, NULL, "the same as --log-level error")                                                     \
    X(SEED, "seed", "N", NULL,                                                                                         \
      "repeatable noise: NOT PRIVATE; the same experts as caucus simulate --seed N --trials 1")                        \
    X(IGNORE_CLAIMS, "ignore-claims", NULL, NULL,                                                                      \
      "decide although clients have heard more than this state holds: only if you know why")                           \
    X(FAULT_COMMIT, "fault-commit", "N[:after]", NULL, "for tests: die at commit N, before or after it is made")       \
    X(TRUST, "trust", "WHOM", NULL, NULL) /* said by the plan; here only to explain */                                 \
    X(CONFIG, "config", "FILE", NULL, CAUCUS_CONFIG_HELP("deadline: 60"))
enum option { OPTION_LIST(CAUCUS_OPTION_NUMBER) OPTION_COUNT };

static const caucus_option options[] = {OPTION_LIST(CAUCUS_OPTION_ROW){NULL, NULL, NULL, NULL}};

typedef struct serving {
    const char *value[OPTION_COUNT];
    caucus_server_settings settings;
    caucus_plan *plan;
    char token[258]; /* at most 256 characters */
    bool json, quiet, seeded, log_json, stands_by;
    uint64_t promoted;
    size_t log_level; /* a caucus_log_level */
    caucus_log *log;
    caucus_server *server;
    caucus_http *http;
    caucus_staying staying;
    caucus_standing standing;
} serving;

static caucus_server *running; /* for the signal handler */
static volatile sig_atomic_t stopped;

/* Before there is a coordinator a signal ends the process where it is, and that is in order: nothing has left, and
 * whatever is half made is found by the next start as after SIGKILL. */
static void end_start(int number) {
    static const char words[] = "caucus serve: stopped before it listened\n";
    (void)number;
    (void)!write(STDERR_FILENO, words, sizeof words - 1);
    _exit(CAUCUS_EXIT_DONE);
}

static void on_signal(int number) {
    (void)number;
    bool again = caucus_signal_again();
    if (!stopped || again)
        caucus_server_stop(running);
    stopped = 1;
}

/* Files are to be read again; without a coordinator yet they are about to be read. */
static void on_hangup(int number) {
    (void)number;
    caucus_server *server = running;
    if (server)
        caucus_server_reload(server);
}

static const caucus_option_section sections[] = {
    {"What is run", OPTION_PLAN, OPTION_CERT, NULL},
    {"Who may join", OPTION_CERT, OPTION_DEADLINE, NULL},
    {"Whom to wait for", OPTION_DEADLINE, OPTION_NATS, NULL},
    {"Relays", OPTION_NATS, OPTION_HTTP, NULL},
    {"All of these from a file", OPTION_CONFIG, OPTION_CONFIG + 1, NULL},
    {"What is shown", OPTION_HTTP, OPTION_SEED, NULL},
    {"For tests", OPTION_SEED, OPTION_TRUST, NULL},
    {NULL, 0, 0, NULL},
};

static void print_help(void) {
    fputs("caucus serve: the coordinator of a live federation\n"
          "\n"
          "  caucus serve --plan plan.yaml --state state --listen 0.0.0.0:7400 \\\n"
          "      --cert certs/coordinator.pem --key certs/coordinator.key --client-ca certs/ca.pem\n"
          "  caucus serve --plan plan.yaml --state state --insecure          to try things on this machine\n"
          "\n"
          "It prints where it listens, waits for the plan's clients (caucus join), and ends when the run is over. "
          "Stopped or killed,\n"
          "it goes on from --state: no decision is lost, and no noise is drawn twice.\n",
          stdout);
    caucus_options_sections(options, sections);
}

static caucus_given given(serving *s) {
    return (caucus_given){.verb = "serve", .options = options, .value = s->value};
}

static int take_option(void *user, size_t index, const char *value) {
    serving *s = user;
    if (index == OPTION_TRUST) {
        if (strcmp(value, "sum") == 0)
            fputs("caucus serve: --trust sum: not there yet — plan with --trust coordinator or --trust nobody\n",
                  stderr);
        else
            fputs("caucus serve: --trust: the plan says whom to trust — caucus plan --trust makes one\n", stderr);
        return CAUCUS_EXIT_USAGE;
    }
    const caucus_given g = given(s);
    return caucus_given_take(&g, index, value);
}

static bool is_on(serving *s, enum option option) {
    const caucus_given g = given(s);
    return caucus_given_on(&g, option);
}

/* A whole number up to `most`; false: said on stderr. *ret stays as it is if the option was not given. */
static bool read_number(serving *s, enum option option, uint64_t most, uint64_t *ret) {
    const caucus_given g = given(s);
    return caucus_given_number(&g, option, 0, most, ret);
}

static bool read_count(serving *s, enum option option, uint32_t *ret) {
    uint64_t number = 0;
    if (!read_number(s, option, UINT32_MAX, &number))
        return false;
    *ret = (uint32_t)number;
    return true;
}

/* Seconds to milliseconds; up to a month. */
static bool read_seconds(const serving *s, enum option option, uint32_t *ret_ms) {
    const char *text = s->value[option];
    if (!text)
        return true;
    double seconds;
    if (!caucus_real_parse(text, &seconds) || !(seconds >= 0 && seconds <= 2592000) ||
        (seconds > 0 && seconds < 0.001)) {
        return !caucus_config_refuse("serve", options[option].name, text,
                                     "seconds are expected, 0.001 to 2592000, or 0");
    }
    *ret_ms = (uint32_t)lround(seconds * 1000);
    return true;
}

/* Clients give an announcement two seconds beyond the deadline: a tick must be well within. */
static bool read_tick(serving *s) {
    uint64_t ms = 0;
    if (!read_number(s, OPTION_TICK, 1000, &ms))
        return false;
    s->settings.tick_ms = (uint32_t)ms;
    return true;
}

/* N or N:after. */
static bool read_fault(serving *s) {
    const char *text = s->value[OPTION_FAULT_COMMIT];
    if (!text)
        return true;
    char *end;
    errno = 0;
    s->settings.fault_commit = strtoull(text, &end, 10);
    s->settings.fault_after = strcmp(end, ":after") == 0;
    if (text[0] >= '0' && text[0] <= '9' && errno == 0 && (*end == '\0' || s->settings.fault_after))
        return true;
    return !caucus_config_refuse("serve", "fault-commit", text, "write N or N:after");
}

/* The coordinator's key: from the operating system, or as caucus simulate --seed N --trials 1 has it. Returns an exit
 * code, 0: made. */
static int make_key(serving *s) {
    uint64_t seed = 0;
    if (!read_number(s, OPTION_SEED, UINT64_MAX, &seed))
        return CAUCUS_EXIT_USAGE;
    if (!s->value[OPTION_SEED]) {
        caucus_status status = caucus_key_generate(&s->settings.key);
        return status == CAUCUS_OK ? 0 : caucus_complain("serve", options, status, &(caucus_error){0});
    }
    caucus_key seeded, trial;
    caucus_key_from_seed(seed, &seeded);
    caucus_key_derive(&seeded, 0, &trial);
    caucus_key_derive(&trial, 0, &s->settings.key);
    s->seeded = true;
    return 0;
}

static bool read_token(serving *s) {
    const char *path = s->value[OPTION_TOKEN];
    if (!path)
        return true;
    FILE *file = fopen(path, "r");
    bool read = file && fgets(s->token, sizeof s->token, file) != NULL;
    if (file)
        fclose(file);
    size_t length = strcspn(s->token, "\r\n");
    if (length == sizeof s->token - 1) { /* all that was read, and no end of the line */
        fprintf(stderr, "caucus serve: --token %s: longer than %zu characters — make one with: openssl rand -hex 32\n",
                path, sizeof s->token - 2);
        return false;
    }
    s->token[length] = '\0';
    if (read && s->token[0] != '\0')
        return true;
    fprintf(stderr, "caucus serve: --token %s: %s — a file with the token on its first line is expected\n", path,
            file ? "empty" : strerror(errno));
    return false;
}

static bool read_log(serving *s) {
    const caucus_given g = given(s);
    s->log_level = CAUCUS_LOG_NOTICE;
    if (s->quiet && s->value[OPTION_LOG_LEVEL]) {
        fputs("caucus serve: --quiet: not together with --log-level, which says it better\n", stderr);
        return false;
    }
    return caucus_given_json(&g, OPTION_LOG_FORMAT, &s->log_json) &&
           caucus_given_log_level(&g, OPTION_LOG_LEVEL, &s->log_level);
}

static bool is_never(const serving *s, enum option option) {
    return s->value[option] && strcmp(s->value[option], "never") == 0;
}

/* Everything that can be wrong with the words. */
static bool read_options(serving *s) {
    const caucus_given g = given(s);
    s->quiet = is_on(s, OPTION_QUIET);
    if (!caucus_given_json(&g, OPTION_FORMAT, &s->json))
        return false;
    if (s->json)
        caucus_dress_data();
    if (!s->value[OPTION_PLAN] || !s->value[OPTION_STATE]) {
        fprintf(stderr, "caucus serve: --%s is missing — %s\n", s->value[OPTION_PLAN] ? "state" : "plan",
                s->value[OPTION_PLAN] ? "a directory for the decisions, new or of this run"
                                      : "caucus plan --write plan.yaml makes one");
        return false;
    }
    if (!caucus_given_certificates(
            &g, &(caucus_given_listener){OPTION_CERT, OPTION_KEY, OPTION_CLIENT_CA, OPTION_INSECURE, "caucus certify"}))
        return false;
    if (s->value[OPTION_TOKEN] && !s->value[OPTION_HTTP]) {
        fputs("caucus serve: --token: is for the status page — give --http HOST:PORT too\n", stderr);
        return false;
    }
    if (!s->value[OPTION_NATS] != !s->value[OPTION_RELAYS] || !s->value[OPTION_NATS] != !s->value[OPTION_RELAY_KEY] ||
        (!s->value[OPTION_NATS] && (s->value[OPTION_NATS_CA] || s->value[OPTION_NATS_KEY]))) {
        fputs("caucus serve: --nats, --relays and --relay-key belong together — caucus certify --relays makes the "
              "files\n",
              stderr);
        return false;
    }
    s->settings.linger_ms = 30000;
    s->settings.ignore_claims = is_on(s, OPTION_IGNORE_CLAIMS);
    s->settings.require_sync = is_on(s, OPTION_REQUIRE_SYNC);
    s->settings.promoted = s->value[OPTION_PROMOTED] ? &s->promoted : NULL;
    return read_seconds(s, OPTION_DEADLINE, &s->settings.deadline_ms) &&
           read_seconds(s, OPTION_LINGER, &s->settings.linger_ms) &&
           read_count(s, OPTION_QUORUM, &s->settings.quorum) &&
           (is_never(s, OPTION_MISSED) || read_count(s, OPTION_MISSED, &s->settings.missed)) &&
           read_count(s, OPTION_MAX_CLIENTS, &s->settings.max_clients) &&
           read_count(s, OPTION_MAX_STRANGERS, &s->settings.max_strangers) &&
           read_count(s, OPTION_LOOPS, &s->settings.loops) && read_tick(s) && read_fault(s) && read_log(s) &&
           read_number(s, OPTION_PROMOTED, INT64_MAX, &s->promoted) && read_token(s);
}

/* Where this run is to be reserved, and out of how much. Returns an exit code, 0: read. */
static int read_budget(serving *s) {
    caucus_complaint complaint;
    caucus_status status =
        caucus_wanted_budget(s->value[OPTION_LEDGER], s->value[OPTION_BUDGET], &s->settings.budget, &complaint);
    return status == CAUCUS_OK ? 0 : caucus_complain_scenario("serve", status, &complaint);
}

static int fail(caucus_status status, const caucus_error *error) {
    return caucus_complain("serve", options, status, error);
}

static void summarise(void *user) {
    const serving *s = user;
    caucus_server_status now;
    caucus_server_get_status(s->server, &now);
    caucus_serve_summary(s->json, &now, s->plan, s->settings.name ? s->settings.name : "live", s->settings.state_dir);
}

static void say_standing_by(void *user, const caucus_store_waiting *now) {
    serving *s = user;
    if (!s->stands_by)
        caucus_log_say(s->log, CAUCUS_LOG_NOTICE, "standby", "standing by: another coordinator has this run");
    s->stands_by = true;
    caucus_standing_say(&s->standing, now);
}

/* Nothing listens meanwhile but the page: a client that reached us would wait here instead of at the coordinator that
 * is at work. */
static caucus_status stand_by(serving *s, caucus_error *ret_error) {
    const caucus_store_where where = {
        .state = s->settings.state_dir, .key_file = s->settings.state_key, .require_sync = s->settings.require_sync};
    s->stands_by = false;
    return caucus_store_wait(&where, s->settings.plan_hash, s->seeded, say_standing_by, s, ret_error);
}

static int open_all(serving *s) {
    caucus_error error = {0};
    caucus_status status = caucus_plan_file_read(s->value[OPTION_PLAN], &s->plan, &error);
    if (status != CAUCUS_OK)
        return fail(status, &error);
    const bool own = s->plan->settings.pace == CAUCUS_PACE_OWN;
    if (own && (s->value[OPTION_DEADLINE] || s->value[OPTION_MISSED]))
        return caucus_usage("serve", "--%s: goes with clients in step; at their own pace the clock decides",
                            s->value[OPTION_DEADLINE] ? "deadline" : "missed");
    caucus_server_settings *set = &s->settings;
    set->plan = s->plan;
    memcpy(set->plan_hash, caucus_plan_hash(s->plan), sizeof set->plan_hash);
    set->state_dir = s->value[OPTION_STATE];
    set->state_key = s->value[OPTION_STATE_KEY];
    set->listen = s->value[OPTION_LISTEN] ? s->value[OPTION_LISTEN] : "127.0.0.1:7400";
    set->cert = s->value[OPTION_CERT];
    set->key_file = s->value[OPTION_KEY];
    set->client_ca = s->value[OPTION_CLIENT_CA];
    set->revoked = s->value[OPTION_REVOKED];
    set->excused = s->value[OPTION_EXCUSED];
    set->relays = (caucus_hub_settings){.line = {.url = s->value[OPTION_NATS],
                                                 .ca = s->value[OPTION_NATS_CA],
                                                 .seed = s->value[OPTION_NATS_KEY],
                                                 .name = "caucus coordinator"},
                                        .list = s->value[OPTION_RELAYS],
                                        .key = s->value[OPTION_RELAY_KEY]};
    set->name = s->value[OPTION_NAME] ? s->value[OPTION_NAME] : caucus_plan_federation(s->plan);
    status = caucus_log_open("serve", s->quiet ? CAUCUS_LOG_ERROR : (caucus_log_level)s->log_level, s->log_json,
                             &s->log, &error);
    if (status != CAUCUS_OK)
        return fail(status, &error);
    set->log = caucus_log_put;
    set->log_user = s->log;
    set->stay = is_on(s, OPTION_STAY);
    set->over = caucus_stay_over;
    set->over_user = &s->staying;
    s->staying.json = s->json;
    s->staying.log = s->log;
    s->staying.summary = summarise;
    s->staying.user = s;
    caucus_http_settings http = {.listen = s->value[OPTION_HTTP],
                                 .token = s->token[0] ? s->token : NULL,
                                 .name = set->name,
                                 .plan = s->plan,
                                 .plan_hash = set->plan_hash,
                                 .log_dropped = caucus_log_dropped(s->log)};
    /* Bound before the state is opened: what is refused here leaves no state behind. */
    if (http.listen && (status = caucus_http_bind(&http, &http.listener, &error)) != CAUCUS_OK)
        return fail(status, &error);
    if (is_on(s, OPTION_STANDBY)) {
        caucus_standing_init(&s->standing, set->name, caucus_plan_hash_text(s->plan));
        http.texts = &s->standing.texts;
        if (http.listen)
            status = caucus_http_open(NULL, &http, &s->http, &error);
        if (status == CAUCUS_OK)
            status = stand_by(s, &error);
        if (status != CAUCUS_OK)
            return fail(status, &error);
    }
    status = caucus_server_open(set, &s->server, &error);
    while (status == CAUCUS_E_BUSY && is_on(s, OPTION_STANDBY)) { /* another standby was faster, or a commit came */
        status = stand_by(s, &error);
        if (status == CAUCUS_OK)
            status = caucus_server_open(set, &s->server, &error);
    }
    if (status != CAUCUS_OK)
        return fail(status, &error);
    if (s->http)
        status = caucus_http_take_over(s->http, s->server, &http, &error);
    else if (http.listen)
        status = caucus_http_open(s->server, &http, &s->http, &error);
    s->staying.http = s->http;
    return status == CAUCUS_OK ? 0 : fail(status, &error);
}

static int serve(serving *s) {
    int code = open_all(s);
    if (code != 0)
        return code;
    running = s->server;
    caucus_on_signals(on_signal);
    caucus_on_signal(SIGHUP, on_hangup);
    if (s->seeded)
        caucus_log_say(s->log, CAUCUS_LOG_ERROR, "not-private",
                       "NOT PRIVATE (seeded): whoever knows the seed can subtract the noise");
    if (isinf(s->plan->guarantee.epsilon_choices))
        caucus_log_say(s->log, CAUCUS_LOG_ERROR, "not-private", "NOT PRIVATE: this plan has no privacy");
    char weak[CAUCUS_PLAN_WEAKNESSES][CAUCUS_PLAN_WEAKNESS_BYTES];
    const size_t weaknesses = caucus_plan_weaknesses(s->plan, weak);
    for (size_t i = 0; i < weaknesses; i++) {
        char words[CAUCUS_PLAN_WEAKNESS_BYTES + 8];
        (void)snprintf(words, sizeof words, "WEAK: %s", weak[i]);
        caucus_log_say(s->log, CAUCUS_LOG_ERROR, "weak", words);
    }
    caucus_serve_listening(s->json, s->settings.listen, caucus_server_port(s->server), caucus_plan_hash_text(s->plan),
                           s->http ? caucus_http_port(s->http) : 0, s->seeded);
    caucus_error error = {0};
    bool said = false;
    caucus_status status = is_on(s, OPTION_STAY) ? caucus_stay_run(s->server, &s->staying, &said, &error)
                                                 : caucus_server_run(s->server, &error);
    if (status != CAUCUS_OK)
        return fail(status, &error);
    if (!said) {
        caucus_on_signals(SIG_DFL); /* whoever does not read the summary must not keep the program alive */
        summarise(s);
    }
    return CAUCUS_EXIT_DONE;
}

/* From here on a signal finds nothing to stop: what it would reach is about to be freed. */
static void ignore_signals(void) {
    caucus_on_signals(SIG_IGN);
    caucus_on_signal(SIGHUP, SIG_IGN);
    running = NULL;
}

int caucus_cli_serve(int argc, char **argv) {
    serving s = {0};
    caucus_on_signals(end_start);
    caucus_on_signal(SIGHUP, SIG_IGN); /* it asks for files to be read again: they are about to be read */
    int code = caucus_options_parse("serve", options, argc, argv, take_option, &s);
    if (code == CAUCUS_OPTIONS_HELP) {
        print_help();
        return CAUCUS_EXIT_DONE;
    }
    if (code == 0 && s.value[OPTION_CONFIG])
        code = caucus_config_read("serve", options, s.value[OPTION_CONFIG], s.value, take_option, &s);
    if (code == 0)
        code = read_options(&s) ? read_budget(&s) : CAUCUS_EXIT_USAGE;
    if (code == 0)
        code = make_key(&s);
    if (code == 0)
        code = serve(&s);
    ignore_signals();
    caucus_http_close(s.http);
    caucus_server_close(s.server);
    caucus_log_close(s.log);
    caucus_plan_free(s.plan);
    caucus_key_wipe(&s.settings.key);
    return code;
}
