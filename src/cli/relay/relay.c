/* SPDX-License-Identifier: Apache-2.0 */
/* relay.c: `caucus relay`: to clients a coordinator, to the coordinator the sums of what they report.
 *
 * A session with the coordinator is one life of a server (net/relay/relay.h); this opens one after the other until the
 * run is over or somebody stops it. */
#include "net/relay/relay.h"
#include "cli/complain.h"
#include "cli/config.h"
#include "cli/given.h"
#include "cli/serve/listener_options.h"
#include "cli/serve/serve_log.h"
#include "cli/serve/serve_print.h"
#include "cli/signals.h"
#include "cli/terminal/dress.h"
#include "cli/verbs.h"
#include "dial/address.h"
#include "net/http.h"
#include "net/relay/relay_texts.h"
#include "net/server.h"
#include "plan/plan.h"
#include <caucus/plan_file.h>

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* X(NAME, "word", "VALUE", "default", "help"), in the order of the sections of help below. */
#define OPTION_LIST(X)                                                                                                 \
    X(PLAN, "plan", "FILE", NULL, "what is run: the same file as the coordinator's and the clients'")                  \
    X(NUMBER, "number", "N", NULL, "which relay this is, in the coordinator's list")                                   \
    X(NATS, "nats", "URL", NULL, "the NATS server between them: tls://HOST:PORT, several with commas")                 \
    CAUCUS_NATS_OPTIONS(X)                                                                                             \
    X(RELAY_KEY, "relay-key", "FILE", NULL, "this relay's secret key (caucus certify --relays)")                       \
    X(COORDINATOR, "coordinator", "FILE", NULL, "the coordinator's public key")                                        \
    X(NAME, "name", "NAME", "the plan's, else live", "of the run: as the coordinator has it")                          \
    CAUCUS_LISTENER_OPTIONS(X, "this relay's", "beside the coordinator's list", "no TLS for clients")                  \
    CAUCUS_LOAD_OPTIONS(X)                                                                                             \
    X(GATHER, "gather", "MS", "20", "how long further answers are waited for after the first, 1 to 60000")             \
    X(KEEP, "keep", "MB", "256", "of reports that are not durable yet; clients send again what does not fit")          \
    X(CUT_OFF, "cut-off", "SECONDS", "30",                                                                             \
      "so long without the coordinator: clients are told to go elsewhere, 3 to 3600")                                  \
    X(HTTP, "http", "HOST:PORT", NULL, "a page of this relay, /metrics and /readyz; this machine only; port 0 = any")  \
    CAUCUS_PRINT_OPTIONS(X)                                                                                            \
    X(LOG_LEVEL, "log-level", "NAME", "notice", "error, notice (who comes and goes), or detail")                       \
    X(CONFIG, "config", "FILE", NULL, CAUCUS_CONFIG_HELP("gather: 50"))
enum option { OPTION_LIST(CAUCUS_OPTION_NUMBER) OPTION_COUNT };

static const caucus_option options[] = {OPTION_LIST(CAUCUS_OPTION_ROW){NULL, NULL, NULL, NULL}};

typedef struct relaying {
    const char *value[OPTION_COUNT];
    caucus_plan *plan;
    caucus_relay_settings relay_set;
    caucus_server_settings set;
    caucus_log *log;
    caucus_relay *relay;
    caucus_server *server;
    caucus_relay_texts texts;
    caucus_http *http;
    bool json;
    char listen[CAUCUS_ADDRESS_BYTES];
} relaying;

static caucus_server *running; /* for the signal handler */

static void end_waiting(int number) {
    static const char words[] = "caucus relay: stopped while it waited for the coordinator\n";
    (void)number;
    (void)!write(STDERR_FILENO, words, sizeof words - 1);
    _exit(CAUCUS_EXIT_DONE);
}

static void on_signal(int number) {
    (void)number;
    caucus_server_stop(running);
}

static void on_hangup(int number) {
    (void)number;
    if (running)
        caucus_server_reload(running);
}

static const caucus_option_section sections[] = {
    {"Between coordinator and clients", OPTION_PLAN, OPTION_LISTEN, NULL},
    {"Who may join", OPTION_LISTEN, OPTION_GATHER, NULL},
    {"What is sent when", OPTION_GATHER, OPTION_HTTP, NULL},
    {"What is shown", OPTION_HTTP, OPTION_CONFIG, NULL},
    {"All of these from a file", OPTION_CONFIG, OPTION_CONFIG + 1, NULL},
    {NULL, 0, 0, NULL},
};

static void print_help(void) {
    fputs("caucus relay: to clients a coordinator, to the coordinator the sums of what they report\n"
          "\n"
          "  caucus relay --plan plan.yaml --number 1 --nats tls://nats.example:4222 --nats-ca certs/ca.pem \\\n"
          "      --nats-key certs/relay-1.nkey --relay-key certs/relay-1.secret --coordinator certs/coordinator.public "
          "\\\n"
          "      --listen 0.0.0.0:7400 --cert certs/relay-1.pem --key certs/relay-1.key --client-ca certs/ca.pem\n"
          "\n"
          "It listens once the coordinator has been heard, keeps nothing on disk, decides nothing, and ends with the "
          "run.\n"
          "A relay reads its clients' reports: with trust coordinator it is trusted as the coordinator is "
          "(docs/SCALE.md).\n",
          stdout);
    caucus_options_sections(options, sections);
}

static caucus_given given(relaying *r) {
    return (caucus_given){.verb = "relay", .options = options, .value = r->value};
}

static int take_option(void *user, size_t index, const char *value) {
    const caucus_given g = given(user);
    return caucus_given_take(&g, index, value);
}

static bool has_all(const caucus_given *g) {
    static const enum option needed[] = {OPTION_PLAN, OPTION_NUMBER, OPTION_NATS, OPTION_RELAY_KEY, OPTION_COORDINATOR};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!g->value[needed[i]])
            return caucus_usage("relay", "--%s is missing — %s", options[needed[i]].name, options[needed[i]].help) == 0;
    return caucus_given_certificates(g, &(caucus_given_listener){OPTION_CERT, OPTION_KEY, OPTION_CLIENT_CA,
                                                                 OPTION_INSECURE, "caucus certify --relays"});
}

static bool read_options(relaying *r, size_t *ret_level, bool *ret_log_json) {
    uint64_t number = 0, max_clients = 0, max_strangers = 0, loops = 0, gather = 0, keep = 0, cut_off = 0;
    const caucus_given g = given(r);
    *ret_level = CAUCUS_LOG_NOTICE;
    if (!has_all(&g) || !caucus_given_number(&g, OPTION_NUMBER, 1, UINT16_MAX, &number) ||
        !caucus_given_number(&g, OPTION_MAX_CLIENTS, 0, UINT32_MAX, &max_clients) ||
        !caucus_given_number(&g, OPTION_MAX_STRANGERS, 0, UINT32_MAX, &max_strangers) ||
        !caucus_given_number(&g, OPTION_LOOPS, 0, UINT32_MAX, &loops) ||
        !caucus_given_number(&g, OPTION_GATHER, 1, 60000, &gather) ||
        !caucus_given_number(&g, OPTION_KEEP, 1, 1u << 20, &keep) ||
        !caucus_given_number(&g, OPTION_CUT_OFF, 3, 3600, &cut_off) ||
        !caucus_given_json(&g, OPTION_FORMAT, &r->json) || !caucus_given_json(&g, OPTION_LOG_FORMAT, ret_log_json) ||
        !caucus_given_log_level(&g, OPTION_LOG_LEVEL, ret_level))
        return false;
    if (r->json)
        caucus_dress_data();
    r->relay_set = (caucus_relay_settings){.line = {.url = r->value[OPTION_NATS],
                                                    .ca = r->value[OPTION_NATS_CA],
                                                    .seed = r->value[OPTION_NATS_KEY],
                                                    .name = "caucus relay"},
                                           .key = r->value[OPTION_RELAY_KEY],
                                           .coordinator = r->value[OPTION_COORDINATOR],
                                           .number = (uint16_t)number,
                                           .gather_ms = (uint32_t)gather,
                                           .keep_bytes = keep << 20,
                                           .cut_off_ms = (uint32_t)cut_off * 1000};
    r->set = (caucus_server_settings){.listen = r->value[OPTION_LISTEN] ? r->value[OPTION_LISTEN] : "127.0.0.1:7400",
                                      .loops = (uint32_t)loops,
                                      .max_clients = (uint32_t)max_clients,
                                      .max_strangers = (uint32_t)max_strangers,
                                      .cert = r->value[OPTION_CERT],
                                      .key_file = r->value[OPTION_KEY],
                                      .client_ca = r->value[OPTION_CLIENT_CA],
                                      .revoked = r->value[OPTION_REVOKED]};
    return true;
}

static int fail(caucus_status status, const caucus_error *error) {
    return caucus_complain("relay", options, status, error);
}

/* It answers from now on until the end, also while the coordinator is waited for. */
static int open_http(relaying *r) {
    caucus_error error = {0};
    caucus_address place;
    const char *http = r->value[OPTION_HTTP];
    caucus_status status = http ? caucus_address_resolve(http, "http", true, &place, &error) : CAUCUS_OK;
    if (status == CAUCUS_OK && http && !place.loopback)
        return caucus_usage("relay", "--http %s: must be on this machine, 127.0.0.1:PORT or [::1]:PORT", http);
    if (status == CAUCUS_OK && http) {
        caucus_relay_texts_init(&r->texts, r->relay, r->relay_set.number, caucus_plan_hash_text(r->plan));
        status =
            caucus_http_open(NULL, &(caucus_http_settings){.listen = http, .texts = &r->texts.http}, &r->http, &error);
    }
    return status == CAUCUS_OK ? 0 : fail(status, &error);
}

static int open_relay(relaying *r, size_t level, bool log_json) {
    caucus_error error = {0};
    caucus_status status = caucus_plan_file_read(r->value[OPTION_PLAN], &r->plan, &error);
    if (status == CAUCUS_OK)
        status = caucus_log_open("relay", (caucus_log_level)level, log_json, &r->log, &error);
    if (status != CAUCUS_OK)
        return fail(status, &error);
    memcpy(r->relay_set.plan_hash, caucus_plan_hash(r->plan), sizeof r->relay_set.plan_hash);
    r->relay_set.name = r->value[OPTION_NAME] ? r->value[OPTION_NAME] : caucus_plan_federation(r->plan);
    memcpy(r->set.plan_hash, r->relay_set.plan_hash, sizeof r->set.plan_hash);
    r->set.plan = r->plan;
    r->set.log = caucus_log_put;
    r->set.log_user = r->log;
    status = caucus_relay_open(&r->relay_set, &r->relay, &error);
    r->set.relay = r->relay;
    return status == CAUCUS_OK ? open_http(r) : fail(status, &error);
}

/* One session. Returns: an exit code; CAUCUS_OPTIONS_HELP: another one follows. */
static int relay_once(relaying *r, bool first) {
    caucus_error error = {0};
    caucus_on_signals(end_waiting);
    caucus_status status = caucus_server_open(&r->set, &r->server, &error);
    if (status != CAUCUS_OK)
        return fail(status, &error);
    running = r->server;
    caucus_on_signals(on_signal);
    caucus_on_signal(SIGHUP, on_hangup);
    if (first) {
        /* The next session listens at the same port, also if any would have done. */
        const char *colon = strrchr(r->set.listen, ':');
        const uint16_t port = caucus_server_port(r->server);
        caucus_serve_listening(r->json, r->set.listen, port, caucus_plan_hash_text(r->plan),
                               r->http ? caucus_http_port(r->http) : 0, false);
        (void)snprintf(r->listen, sizeof r->listen, "%.*s:%u", (int)(colon - r->set.listen), r->set.listen, port);
        r->set.listen = r->listen;
    }
    status = caucus_server_run(r->server, &error);
    caucus_on_signals(SIG_IGN);
    caucus_on_signal(SIGHUP, SIG_IGN);
    running = NULL;
    caucus_server_close(r->server);
    r->server = NULL;
    if (status != CAUCUS_OK)
        return fail(status, &error);
    const caucus_relay_end end = caucus_relay_ended(r->relay);
    return end == CAUCUS_RELAY_OVER || end == CAUCUS_RELAY_STOPPED ? CAUCUS_EXIT_DONE : -1;
}

static void summarise(const relaying *r) {
    caucus_relay_own_status now;
    caucus_relay_get_status(r->relay, &now);
    if (r->json)
        printf("{\"version\": 1, \"partials\": %" PRIu64 ", \"accepted\": %" PRIu64 ", \"stale\": %" PRIu64
               ", \"refused\": %" PRIu64 ", \"hung_up\": %" PRIu64 "}\n",
               now.sent, now.accepted, now.stale, now.refused, now.hung_up);
    else
        printf("%" PRIu64 " partials sent, %" PRIu64 " accepted\n", now.sent, now.accepted);
}

int caucus_cli_relay(int argc, char **argv) {
    relaying r = {0};
    size_t level = 0;
    bool log_json = false;
    caucus_on_signals(end_waiting);
    caucus_on_signal(SIGHUP, SIG_IGN);
    int code = caucus_options_parse("relay", options, argc, argv, take_option, &r);
    if (caucus_options_over(&code, print_help))
        return code;
    if (code == 0 && r.value[OPTION_CONFIG])
        code = caucus_config_read("relay", options, r.value[OPTION_CONFIG], r.value, take_option, &r);
    if (code == 0)
        code = read_options(&r, &level, &log_json) ? open_relay(&r, level, log_json) : CAUCUS_EXIT_USAGE;
    if (code == 0) {
        for (bool first = true; (code = relay_once(&r, first)) < 0; first = false)
            caucus_log_say(r.log, CAUCUS_LOG_NOTICE, "relay", "the session is over: beginning another");
        if (code == CAUCUS_EXIT_DONE)
            summarise(&r);
    }
    caucus_server_close(r.server);
    caucus_http_close(r.http);
    caucus_relay_close(r.relay);
    caucus_log_close(r.log);
    caucus_plan_free(r.plan);
    return code;
}
