/* SPDX-License-Identifier: Apache-2.0 */
/* The status pages over a socket: who is answered, with which headers, and that nothing is shown but what is on the
 * list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include <caucus/caucus.h>

#include "net/fake_server.h" /* tests/net */
#include "net/http.h"
#include "net/http_view.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static caucus_plan *plan;
static caucus_server server;
static uint8_t hash[32] = {0x3f, 0x9c};

static int make_plan(void **state) {
    (void)state;
    caucus_settings settings;
    caucus_error error;
    caucus_settings_init(&settings);
    settings.trust = CAUCUS_TRUST_COORDINATOR;
    settings.epsilon = 10;
    return caucus_plan_new(&settings, &plan, &error) == CAUCUS_OK ? 0 : -1;
}

static int free_plan(void **state) {
    (void)state;
    caucus_plan_free(plan);
    return 0;
}

/* A run in its eighth block with three experts so far. */
static void fill_server(void) {
    memset(&server, 0, sizeof server);
    pthread_mutex_init(&server.lock, NULL);
    server.status = (caucus_server_status){.clients = 10,
                                           .present = 9,
                                           .answered = 6,
                                           .started = true,
                                           .selections = 2,
                                           .selections_allowed = 10,
                                           .checks = 7,
                                           .steps_decided = 9,
                                           .blocks = 512,
                                           .epsilon_choices = 10,
                                           .epsilon_messages = NAN,
                                           .epsilon_device = 5120,
                                           .epsilon_spent = 2.5,
                                           .epsilon_reserved = 10,
                                           .budget_epsilon = 30,
                                           .budget_delta = 1e-6,
                                           .left_epsilon = 15,
                                           .left_delta = 1e-6,
                                           .bytes_in = 123456,
                                           .bytes_out = 999,
                                           .reports = 70,
                                           .refused = 1,
                                           .commits = 11,
                                           .scalars_up = 743,
                                           .scalars_paper = 51200,
                                           .seconds_in_step = 4.5,
                                           .deadline_seconds = 30,
                                           .uptime_seconds = 3700};
    static const uint32_t experts[] = {41, 41, 41, 7, 7, 7, 93, 93};
    for (uint32_t i = 0; i < 8; i++)
        fake_announce(&server, experts[i], i + 1, CAUCUS_ASK_COST);
    memcpy(server.presence, "\2\2\2\2\2\2\1\1\1\0", 10);
}

static caucus_http *open_pages(const char *listen, const char *token, const char *name) {
    caucus_http *http = NULL;
    caucus_error error = {0};
    caucus_http_settings settings = {.listen = listen, .token = token, .name = name, .plan = plan, .plan_hash = hash};
    if (caucus_http_open(&server, &settings, &http, &error) != CAUCUS_OK)
        fail_msg("%s: %s", error.field, error.text);
    assert_true(caucus_http_port(http) > 0);
    return http;
}

static int dial(const caucus_http *http) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(caucus_http_port(http))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* Send bytes, read until the other side closes. Returns: the answer, to be freed. */
static char *talk(const caucus_http *http, const char *bytes, size_t size) {
    int fd = dial(http);
    size_t room = 1u << 20, length = 0;
    char *answer = malloc(room);
    assert_non_null(answer);
    for (size_t sent = 0; sent < size;) {
        ssize_t n = send(fd, bytes + sent, size - sent, MSG_NOSIGNAL);
        if (n <= 0)
            break; /* refused before all was sent: the answer says why */
        sent += (size_t)n;
    }
    for (;;) {
        ssize_t n = recv(fd, answer + length, room - 1 - length, 0);
        if (n <= 0)
            break;
        length += (size_t)n;
    }
    answer[length] = 0;
    (void)close(fd);
    return answer;
}

static char *ask(const caucus_http *http, const char *method, const char *path, const char *headers) {
    char request[1024];
    int length = snprintf(request, sizeof request, "%s %s HTTP/1.1\r\n%sConnection: close\r\n\r\n", method, path,
                          headers ? headers : "Host: localhost\r\n");
    return talk(http, request, (size_t)length);
}

static int code_of(const char *answer) {
    int code = 0;
    assert_int_equal(sscanf(answer, "HTTP/1.1 %d ", &code), 1);
    return code;
}

static const char *body_of(const char *answer) {
    const char *end = strstr(answer, "\r\n\r\n");
    assert_non_null(end);
    return end + 4;
}

static void expect(const caucus_http *http, const char *method, const char *path, const char *headers, int code) {
    char *answer = ask(http, method, path, headers);
    if (code_of(answer) != code)
        fail_msg("%s %s: expected %d, got %s", method, path, code, answer);
    assert_non_null(strstr(answer, "Content-Security-Policy: default-src 'self'"));
    assert_non_null(strstr(answer, "X-Content-Type-Options: nosniff"));
    assert_non_null(strstr(answer, "Referrer-Policy: no-referrer"));
    assert_non_null(strstr(answer, "X-Frame-Options: DENY"));
    assert_non_null(strstr(answer, "Cache-Control: no-store"));
    if (strcmp(method, "HEAD") == 0)
        assert_string_equal(body_of(answer), "");
    free(answer);
}

static void paths_and_methods(void **state) {
    (void)state;
    fill_server();
    caucus_http *http = open_pages("127.0.0.1:0", NULL, NULL);
    static const char *const paths[] = {"/",       "/api/v1/status", "/metrics",   "/healthz", "/livez",
                                        "/readyz", "/app.js",        "/style.css", "/icon.svg"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        expect(http, "GET", paths[i], NULL, 200);
        expect(http, "HEAD", paths[i], NULL, 200);
        expect(http, "POST", paths[i], NULL, 405);
    }
    expect(http, "PUT", "/", NULL, 405);
    expect(http, "DELETE", "/api/v1/status", NULL, 405);
    expect(http, "OPTIONS", "/", NULL, 405);
    expect(http, "GET", "/nothing", NULL, 404);
    expect(http, "GET", "/../etc/passwd", NULL, 404);
    expect(http, "GET", "/index.html", NULL, 404);
    expect(http, "GET", "/", "Host: localhost\r\nContent-Length: 5\r\n", 400);
    expect(http, "GET", "/", "Host: localhost\r\nTransfer-Encoding: chunked\r\n", 400);
    char *answer = ask(http, "POST", "/", NULL);
    assert_non_null(strstr(answer, "Allow: GET, HEAD"));
    free(answer);
    caucus_http_close(http);
}

static void other_hosts_are_not_answered(void **state) {
    (void)state;
    fill_server();
    caucus_http *http = open_pages("127.0.0.1:0", NULL, NULL);
    expect(http, "GET", "/", "Host: evil.example\r\n", 421);
    expect(http, "GET", "/", "Host: localhost.evil.example\r\n", 421);
    expect(http, "GET", "/", "Host: 127.0.0.1.evil.example\r\n", 421);
    expect(http, "GET", "/", "Host: 127.0.0.1:8080\r\n", 200);
    expect(http, "GET", "/", "Host: [::1]:8080\r\n", 200);
    expect(http, "GET", "/", "Host: LocalHost:1\r\n", 200);
    caucus_http_close(http);
}

static caucus_status try_open(const char *listen, const char *token, caucus_error *error) {
    caucus_http *http = NULL;
    caucus_http_settings settings = {.listen = listen, .token = token, .plan = plan, .plan_hash = hash};
    caucus_status status = caucus_http_open(&server, &settings, &http, error);
    caucus_http_close(http);
    return status;
}

static void beyond_loopback_a_token(void **state) {
    (void)state;
    fill_server();
    caucus_error error = {0};
    assert_int_equal(try_open("0.0.0.0:0", NULL, &error), CAUCUS_E_RANGE);
    assert_non_null(strstr(error.hint, "'token'"));
    assert_int_equal(try_open("[::]:0", NULL, &error), CAUCUS_E_RANGE);
    assert_int_equal(try_open("0.0.0.0:0", "short", &error), CAUCUS_E_RANGE);
    assert_int_equal(try_open("127.0.0.1:0", "", &error), CAUCUS_E_RANGE);
    assert_string_equal(error.field, "token");
    assert_int_equal(try_open("127.0.0.1", NULL, &error), CAUCUS_E_RANGE);
    assert_int_equal(try_open("127.0.0.1:http", NULL, &error), CAUCUS_E_RANGE);

    caucus_http *http = open_pages("0.0.0.0:0", TOKEN, NULL);
    static const char *const paths[] = {"/", "/api/v1/status", "/metrics", "/healthz", "/style.css", "/nothing"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        expect(http, "GET", paths[i], NULL, 401);
        expect(http, "GET", paths[i], "Host: h\r\nAuthorization: Bearer " TOKEN "\r\n", i < 5 ? 200 : 404);
    }
    expect(http, "GET", "/", "Host: h\r\nAuthorization: Bearer 0123456789abcdef\r\n", 401);
    expect(http, "GET", "/", "Host: h\r\nAuthorization: Bearer " TOKEN "0\r\n", 401);
    expect(http, "GET", "/", "Host: h\r\nAuthorization: Bearer\r\n", 401);
    expect(http, "GET", "/", "Host: h\r\nAuthorization: Basic " TOKEN "\r\n", 401);
    char *answer = ask(http, "GET", "/metrics", NULL);
    assert_non_null(strstr(answer, "WWW-Authenticate: Bearer"));
    assert_null(strstr(answer, "caucus_"));
    free(answer);
    caucus_http_close(http);
}

static void a_port_in_use(void **state) {
    (void)state;
    fill_server();
    caucus_http *http = open_pages("127.0.0.1:0", NULL, NULL);
    char listen[32];
    (void)snprintf(listen, sizeof listen, "127.0.0.1:%u", caucus_http_port(http));
    caucus_error error = {0};
    assert_int_equal(try_open(listen, NULL, &error), CAUCUS_E_BUSY);
    assert_non_null(strstr(error.text, listen));
    caucus_http_close(http);
}

/* Everything the JSON may hold. A new key is added here only if it is public or private by construction. */
static const char *const allowed[] = {"version",
                                      "name",
                                      "program",
                                      "plan",
                                      "algorithm",
                                      "trust",
                                      "unit",
                                      "experts",
                                      "rounds",
                                      "block_word",
                                      "blocks",
                                      "state",
                                      "seeded",
                                      "expert",
                                      "expert_name",
                                      "since_block",
                                      "since_serial",
                                      "serial",
                                      "block",
                                      "leaf",
                                      "ask",
                                      "clients",
                                      "present",
                                      "waited_for",
                                      "excused",
                                      "revoked",
                                      "expired",
                                      "missing",
                                      "answered",
                                      "expected",
                                      "overdue",
                                      "seconds_in_step",
                                      "deadline_seconds",
                                      "uptime_seconds",
                                      "epsilon_choices",
                                      "epsilon_messages",
                                      "delta",
                                      "epsilon_device",
                                      "epsilon_spent",
                                      "epsilon_reserved",
                                      "budget_epsilon",
                                      "budget_delta",
                                      "left_epsilon",
                                      "left_delta",
                                      "selections",
                                      "selections_allowed",
                                      "checks",
                                      "steps_decided",
                                      "commits",
                                      "committing_seconds",
                                      "term",
                                      "unknown_outcomes",
                                      "reports",
                                      "refused",
                                      "rollback_claims",
                                      "bytes_in",
                                      "bytes_out",
                                      "scalars_up",
                                      "scalars_paper",
                                      "look",
                                      "history_left_off",
                                      "history",
                                      "presence",
                                      "relays",
                                      "nats_up",
                                      "count",
                                      "here",
                                      "accepted",
                                      "stale",
                                      "cut_off",
                                      "each",
                                      "relay",
                                      "durable"};
#define ALLOWED (sizeof allowed / sizeof *allowed)

/* Counts each key; fails on one that is not allowed. Strings are skipped whole, so a value is never taken for a key. */
static void count_keys(const char *json, unsigned seen[ALLOWED]) {
    for (const char *p = json; *p; p++) {
        if (*p != '"')
            continue;
        const char *start = ++p;
        while (*p && *p != '"')
            p += *p == '\\' ? 2 : 1;
        if (p[1] != ':')
            continue;
        size_t length = (size_t)(p - start), i = 0;
        while (i < ALLOWED && (strlen(allowed[i]) != length || memcmp(allowed[i], start, length) != 0))
            i++;
        if (i == ALLOWED)
            fail_msg("a key that is not on the list: %.*s", (int)length, start);
        seen[i]++;
    }
}

/* Two relays, of which the second is away. */
static void fill_relays(void) {
    server.status.relays = (caucus_hub_status){
        .count = 2, .here = 1, .clients = 4, .accepted = 30, .stale = 2, .refused = 1, .reports = 55, .up = true};
    server.status.relay[0] =
        (caucus_relay_status){.number = 1, .here = true, .clients = 4, .accepted = 21, .stale = 2, .durable = 20};
    server.status.relay[1] = (caucus_relay_status){.number = 7, .accepted = 9, .refused = 1, .durable = 9};
}

static void json_shows_the_list_and_nothing_else(void **state) {
    (void)state;
    fill_server();
    fill_relays();
    caucus_http *http = open_pages("127.0.0.1:0", NULL, "a \"name\"\\ \n of: <b>");
    char *answer = ask(http, "GET", "/api/v1/status", NULL);
    const char *json = body_of(answer);
    assert_non_null(strstr(answer, "Content-Type: application/json"));
    unsigned seen[ALLOWED] = {0};
    count_keys(json, seen);
    for (size_t i = 0; i < ALLOWED; i++)
        if (seen[i] == 0)
            fail_msg("%s is missing", allowed[i]);
    static const char *const parts[] = {
        "\"name\": \"a \\\"name\\\"\\\\ \\u000a of: <b>\"",
        "\"plan\": \"3f9c0000",
        "\"expert\": 93,",
        "\"since_block\": 7,",
        "\"since_serial\": 6,",
        "\"serial\": 7,",
        "\"epsilon_choices\": 10,",
        "\"epsilon_messages\": null,",
        "\"epsilon_device\": 5120,",
        "\"epsilon_spent\": 2.5,",
        "\"epsilon_reserved\": 10,",
        "\"budget_epsilon\": 30,",
        "\"left_epsilon\": 15,",
        "\"presence\": \"2222221110\"",
        "\"scalars_paper\": 51200,",
        "\"state\": \"running\"",
        "\"overdue\": false",
        "\"nats_up\": true,",
        "\"here\": 1,",
        "\"reports\": 55,",
        ("{\"relay\": 1, \"here\": true, \"clients\": 4, \"accepted\": 21, \"stale\": 2, \"refused\": 0, "
         "\"durable\": 20}"),
        "{\"relay\": 7, \"here\": false, \"clients\": 0,",
        ("\"history\": [{\"serial\": 0, \"block\": 1, \"expert\": 41, \"name\": null, \"uptime_seconds\": null}, "
         "{\"serial\": 3, \"block\": 4, \"expert\": 7, \"name\": null, \"uptime_seconds\": null}, "
         "{\"serial\": 6, \"block\": 7, \"expert\": 93, \"name\": null, \"uptime_seconds\": null}]")};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(json, parts[i]))
            fail_msg("%s is not in %s", parts[i], json);
    free(answer);
    caucus_http_close(http);
}

static void nothing_is_shown_before_the_start(void **state) {
    (void)state;
    fill_server();
    server.status.started = false;
    caucus_http *http = open_pages("127.0.0.1:0", NULL, NULL);
    char *answer = ask(http, "GET", "/api/v1/status", NULL);
    assert_non_null(strstr(answer, "\"expert\": null"));
    assert_non_null(strstr(answer, "\"history\": []"));
    assert_non_null(strstr(answer, "\"state\": \"waiting\""));
    free(answer);
    answer = ask(http, "GET", "/", NULL);
    assert_non_null(strstr(answer, "none yet"));
    assert_null(strstr(answer, ">93<"));
    free(answer);
    answer = ask(http, "GET", "/metrics", NULL);
    assert_null(strstr(answer, "caucus_expert "));
    free(answer);
    caucus_http_close(http);
}

/* A line of the Prometheus format is HELP, then TYPE, then the sample of the same name. */
static void metrics_are_well_formed(void **state) {
    (void)state;
    fill_server();
    server.status.epsilon_choices = INFINITY;
    server.status.term = 7;
    server.status.unknown_outcomes = 2;
    server.status.commit_seconds = 1.5;
    caucus_http *http = open_pages("127.0.0.1:0", NULL, NULL);
    char *answer = ask(http, "GET", "/metrics", NULL), name[64], type[16], sample[64], rest[256];
    assert_non_null(strstr(answer, "Content-Type: text/plain; version=0.0.4"));
    unsigned metrics = 0;
    char *line = strstr(answer, "\r\n\r\n") + 4;
    while (*line) {
        int used = 0;
        if (sscanf(line, "# HELP %63[a-z_] %255[^\n]\n# TYPE %63[a-z_] %15[a-z]\n%n", name, rest, sample, type,
                   &used) != 4 ||
            used == 0)
            fail_msg("not well formed: %.200s", line);
        assert_string_equal(name, sample);
        line += used;
        assert_int_equal(sscanf(line, "%63[a-z_]", sample), 1);
        assert_string_equal(name, sample);
        assert_int_equal(strncmp(name, "caucus_", 7), 0);
        size_t length = strlen(name);
        bool total = length > 6 && strcmp(name + length - 6, "_total") == 0;
        assert_string_equal(type, total ? "counter" : "gauge");
        do /* one sample, or one for each label */
            line += strcspn(line, "\n") + 1;
        while (strncmp(line, name, length) == 0 && line[length] == '{');
        metrics++;
    }
    assert_true(metrics >= 36); /* tests/cli/operations.sh knows them by name */
    assert_non_null(strstr(answer, "\ncaucus_role{role=\"primary\"} 1\n"));
    assert_non_null(strstr(answer, "\ncaucus_term 7\n"));
    assert_non_null(strstr(answer, "\ncaucus_unknown_outcomes_total 2\n"));
    assert_non_null(strstr(answer, "\ncaucus_commit_seconds_total 1.5\n"));
    assert_non_null(strstr(answer, "\ncaucus_epsilon_device 5120\n"));
    assert_non_null(strstr(answer, "\ncaucus_epsilon_choices +Inf\n"));
    assert_non_null(strstr(answer, "\ncaucus_epsilon_messages NaN\n"));
    assert_non_null(strstr(answer, "\ncaucus_expert 93\n"));
    assert_non_null(strstr(answer, "\ncaucus_received_bytes_total 123456\n"));
    assert_non_null(strstr(answer, "\ncaucus_clients_answered 6\n"));
    free(answer);
    caucus_http_close(http);
}

static void health(void **state) {
    (void)state;
    static const struct {
        double seconds, deadline;
        bool started, finished;
        int code;
    } cases[] = {{4, 30, true, false, 200},   {60, 30, true, false, 200},  {71, 30, true, false, 503},
                 {9999, 0, true, false, 200}, {71, 30, false, false, 200}, {71, 30, true, true, 200}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fill_server();
        server.status.seconds_in_step = cases[i].seconds;
        server.status.deadline_seconds = cases[i].deadline;
        server.status.started = cases[i].started;
        server.status.finished = cases[i].finished;
        caucus_http *http = open_pages("127.0.0.1:0", NULL, NULL);
        expect(http, "GET", "/healthz", NULL, cases[i].code);
        caucus_http_close(http);
    }
    fill_server(); /* nobody new can join */
    server.status.list_broken = true;
    caucus_http *http = open_pages("127.0.0.1:0", NULL, NULL);
    expect(http, "GET", "/healthz", NULL, 503);
    char *answer = ask(http, "GET", "/metrics", NULL);
    assert_non_null(strstr(answer, "\ncaucus_revoked_list_broken 1\n"));
    free(answer);
    caucus_http_close(http);
}

static unsigned occurrences(const char *text, const char *part) {
    unsigned count = 0;
    for (const char *p = text; (p = strstr(p, part)); p++)
        count++;
    return count;
}

static void the_page_is_whole(void **state) {
    (void)state;
    fill_server();
    caucus_http *http = open_pages("127.0.0.1:0", NULL, "Ward <7> & \"co\"");
    char *answer = ask(http, "GET", "/", NULL);
    const char *page = body_of(answer);
    static const char *const parts[] = {
        "<h1>Ward &lt;7&gt; &amp; &quot;co&quot;</h1>",
        "data-live>93</p>",
        "<span class=\"state running\">running</span>",
        "since block 7 (announcement 6)",
        "Reserved 10 of 30 by this run (2.5 used so far; the rest is not given back), 15 left",
        ("reserved, by this run and others\"><rect class=\"whole\" width=\"100%\" height=\"100%\" rx=\"7\"/>"
         "<rect class=\"part\" width=\"50.00%\""),
        "verything one client contributes to the run: epsilon 5120 at most",
        "2 of 10 used, 8 left",
        "6 of 10 reported, 9 connected",
        "7 of 512 blocks done",
        "Not connected: client 10 (not seen yet). ",
        "<span>block 8, now</span>",
        "93, in force: 14 %</span>",
        "41: 43 %</span>",
        "123 kB in",
        ">block 8</p>",
        "3f9c00000000",
        "1 h 1 min"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(page, parts[i]))
            fail_msg("%s is not on the page: %s", parts[i], page);
    assert_int_equal(occurrences(page, "<i class=reported title"), 6);
    assert_int_equal(occurrences(page, "<i class=expected title"), 3);
    assert_int_equal(occurrences(page, "<i class=away title"), 1);
    assert_int_equal(occurrences(page, "<g><title>expert "), 3);
    /* Nothing left to fill in, nothing that the security policy forbids, no other host. */
    static const char *const never[] = {"{{",      "}}",       " style=",  "javascript:", " onclick",
                                        "http://", "https://", "src=\"//", "NOT PRIVATE", "WEAK",
                                        "paper",   "51,200",   "finished"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strstr(page, never[i]))
            fail_msg("%s is on the page", never[i]);
    free(answer);
    caucus_http_close(http);
}

/* Epsilon above 10 and delta above 1/clients stand above everything else on the page. */
static void a_weak_plan_is_said_first(void **state) {
    (void)state;
    fill_server();
    caucus_settings settings;
    caucus_error error;
    caucus_plan *whole = plan, *weak = NULL;
    caucus_settings_init(&settings);
    settings.trust = CAUCUS_TRUST_COORDINATOR;
    settings.epsilon = 20;
    settings.delta = 0.09;
    settings.clients = 12; /* more than one of them */
    assert_int_equal(caucus_plan_new(&settings, &weak, &error), CAUCUS_OK);
    plan = weak;
    caucus_http *http = open_pages("127.0.0.1:0", NULL, NULL);
    char *answer = ask(http, "GET", "/", NULL);
    const char *first = strstr(answer, "is above 10: it protects little"), *second = strstr(answer, "above 1/clients");
    assert_true(first != NULL && second != NULL);
    assert_true(first < strstr(answer, "<main>") && second < strstr(answer, "<main>"));
    free(answer);
    caucus_http_close(http);
    plan = whole;
    caucus_plan_free(weak);
}

static void seeded_late_or_resumed_runs_say_so(void **state) {
    (void)state;
    fill_server();
    server.status.seeded = true;
    server.status.seconds_in_step = 31;
    caucus_http *http = open_pages("127.0.0.1:0", NULL, NULL);
    char *answer = ask(http, "GET", "/", NULL);
    assert_non_null(strstr(answer, "NOT PRIVATE (seeded)"));
    assert_int_equal(occurrences(answer, "<i class=late title"), 3);
    assert_non_null(strstr(answer, "Late: client "));
    assert_null(strstr(answer, "started again"));
    free(answer);
    caucus_http_close(http);
    /* After a restart what clients sent is not the whole run's. */
    server.status.commits = 3;
    http = open_pages("127.0.0.1:0", NULL, NULL);
    answer = ask(http, "GET", "/", NULL);
    assert_non_null(strstr(answer, " numbers, since the coordinator was started again"));
    free(answer);
    caucus_http_close(http);
}

/* A run that has not begun says whom it waits for, and one that is over looks like it. */
static void the_page_says_where_the_run_stands(void **state) {
    (void)state;
    fill_server();
    server.status.finished = true;
    caucus_http *http = open_pages("127.0.0.1:0", NULL, NULL);
    char *answer = ask(http, "GET", "/", NULL);
    assert_non_null(strstr(answer, "<strong>Expert 93 stays in force.</strong>"));
    assert_int_equal(occurrences(answer, ">finished<"), 1);
    assert_non_null(strstr(answer, "10 clients; 9 still connected."));
    static const char *const never[] = {"10 reported", "<i class=expected", "Step in hand", "Running for"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strstr(answer, never[i]))
            fail_msg("a run that is over shows '%s'", never[i]);
    assert_non_null(strstr(answer, "512 of 512 blocks done"));
    assert_null(strstr(answer, "Not connected"));
    assert_null(strstr(answer, "stays open"));
    free(answer);
    caucus_http_close(http);
    server.status.finished = server.status.started = false;
    http = open_pages("127.0.0.1:0", NULL, NULL);
    answer = ask(http, "GET", "/", NULL);
    assert_non_null(strstr(answer, "Waiting: 9 of 10 clients are here"));
    assert_null(strstr(answer, "finished"));
    assert_int_equal(occurrences(answer, "9 of 10 "), 1); /* who is here is said once */
    free(answer);
    caucus_http_close(http);
}

static void long_histories_and_large_fleets_are_bounded(void **state) {
    (void)state;
    fill_server();
    while (server.announced < FAKE_ANNOUNCEMENTS)
        fake_announce(&server, server.announced % 90, server.announced, CAUCUS_ASK_COST);
    caucus_http *http = open_pages("127.0.0.1:0", NULL, NULL);
    char *answer = ask(http, "GET", "/api/v1/status", NULL), left_off[64];
    assert_int_equal(occurrences(answer, "{\"serial\""), CAUCUS_VIEW_STRETCHES);
    /* 8 announcements of 3 experts first, then a new expert each time. */
    (void)snprintf(left_off, sizeof left_off, "\"history_left_off\": %d,",
                   FAKE_ANNOUNCEMENTS - 8 + 3 - CAUCUS_VIEW_STRETCHES);
    assert_non_null(strstr(answer, left_off));
    free(answer);
    caucus_http_close(http);

    uint32_t clients = plan->settings.clients;
    plan->settings.clients = server.status.clients = CAUCUS_VIEW_LISTED + 1;
    http = open_pages("127.0.0.1:0", NULL, NULL);
    answer = ask(http, "GET", "/api/v1/status", NULL);
    assert_non_null(strstr(answer, "\"presence\": null"));
    assert_non_null(strstr(answer, "\"expected\": 3,"));
    free(answer);
    caucus_http_close(http);
    plan->settings.clients = clients;
}

/* Ten thousand clients are a hundred squares, in a page that is not longer than that of ten. */
static void many_clients_are_shown_by_density(void **state) {
    (void)state;
    enum { MANY = 10000 };
    fill_server();
    const uint32_t clients = plan->settings.clients;
    plan->settings.clients = server.status.clients = server.status.present = MANY;
    memset(server.presence, CAUCUS_VIEW_ANSWERED, MANY);
    memset(server.presence + 300, CAUCUS_VIEW_HERE, 100);
    server.presence[150] = server.presence[9999] = CAUCUS_VIEW_AWAY;
    server.status.present = MANY - 2;
    server.status.answered = MANY - 102;
    caucus_http *http = open_pages("127.0.0.1:0", NULL, NULL);
    char *answer = ask(http, "GET", "/", NULL);
    assert_int_equal(occurrences(answer, "#some\" class=\"c"), 100);
    assert_int_equal(occurrences(answer, "title=\"client "), 0);
    assert_non_null(strstr(answer, "class=\"c4\" title=\"clients 1 to 100: 100 reported, 0 expected, 0 away\""));
    assert_non_null(
        strstr(answer, "class=\"c3 has-away\" title=\"clients 101 to 200: 99 reported, 0 expected, 1 away\""));
    assert_non_null(strstr(answer, "class=\"c0\" title=\"clients 301 to 400: 0 reported, 100 expected, 0 away\""));
    assert_non_null(strstr(answer, "Each square is 100 clients"));
    assert_non_null(strstr(answer, "Not connected: client 151 (not seen yet), 10000 (not seen yet)"));
    assert_true(strlen(answer) < 60000);
    free(answer);
    caucus_http_close(http);

    plan->settings.clients = server.status.clients = server.status.present = CAUCUS_VIEW_DOTS; /* the most dots */
    http = open_pages("127.0.0.1:0", NULL, NULL);
    answer = ask(http, "GET", "/", NULL);
    assert_int_equal(occurrences(answer, "title=\"client "), CAUCUS_VIEW_DOTS);
    assert_true(strlen(answer) < 60000);
    free(answer);
    caucus_http_close(http);
    plan->settings.clients = clients;
}

/* Who is missing is told with when it was last seen: what a look of this process saw. */
static void the_missing_were_last_seen(void **state) {
    (void)state;
    caucus_http_settings settings = {.plan = plan, .plan_hash = hash};
    caucus_view view;
    char *text = NULL;
    size_t size = 0;
    fill_server();
    server.status.uptime_seconds = 100;
    assert_int_equal(caucus_view_open(&view, &server, &settings), CAUCUS_OK);
    assert_true(caucus_view_refresh(&view, 0));
    server.status.uptime_seconds = 100 + 3 * 60 + 5;
    memcpy(server.presence, "\2\2\2\2\2\1\1\1\0\0", 10); /* 6 has not answered, 9 has gone */
    server.status.seconds_in_step = 31;
    server.status.present = 8;
    assert_true(caucus_view_refresh(&view, 0));
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    caucus_view_missing(&view, to);
    assert_int_equal(fclose(to), 0);
    assert_string_equal(text, "Late: client 6 (last report 3 min ago), 7, 8. Not "
                              "connected: client 9 (last seen 3 min ago), 10 (not seen yet). ");
    free(text);
    caucus_view_close(&view);
}

/* When an expert came: between the looks before and after it; what was there before the first look has no time. */
static void experts_have_times(void **state) {
    (void)state;
    caucus_http_settings settings = {.plan = plan, .plan_hash = hash};
    caucus_view view;
    char *text = NULL;
    size_t size = 0;
    fill_server();
    server.status.uptime_seconds = 100;
    assert_int_equal(caucus_view_open(&view, &server, &settings), CAUCUS_OK);
    assert_true(caucus_view_refresh(&view, 0));
    fake_announce(&server, 11, 200, CAUCUS_ASK_COST);
    fake_announce(&server, 11, 220, CAUCUS_ASK_COST); /* and is in force for long enough to have a title */
    server.status.uptime_seconds = 160;
    assert_true(caucus_view_refresh(&view, 0));
    server.status.uptime_seconds = 160 + 7 * 60;
    assert_true(caucus_view_refresh(&view, 0));
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    caucus_figure_strip(&view, to);
    caucus_view_json(&view, to);
    assert_int_equal(fclose(to), 0);
    assert_non_null(strstr(text, "<span>block 1</span>"));
    assert_non_null(strstr(text, ", now</span>"));
    assert_non_null(strstr(text, "<title>expert 93 from block 7</title>"));
    assert_non_null(strstr(text, "<title>expert 11 from block 200, 7 min ago</title>"));
    assert_non_null(strstr(text, "\"expert\": 11, \"name\": null, \"uptime_seconds\": 127.75}"));
    free(text);
    caucus_view_close(&view);
}

/* Relays have a card, where there are any: who is away, what each carries, whether anybody can be heard at all. */
static void relays_have_a_card(void **state) {
    (void)state;
    fill_server();
    caucus_http *http = open_pages("127.0.0.1:0", NULL, NULL);
    char *answer = ask(http, "GET", "/", NULL);
    assert_null(strstr(answer, "relays-title"));
    assert_null(strstr(answer, "what relays send"));
    free(answer);
    answer = ask(http, "GET", "/api/v1/status", NULL);
    assert_non_null(strstr(answer, "\"relays\": null"));
    free(answer);
    caucus_http_close(http);

    fill_relays();
    http = open_pages("127.0.0.1:0", NULL, NULL);
    answer = ask(http, "GET", "/", NULL);
    assert_non_null(
        strstr(answer, "<p id=\"relays\">1 of 2 relays here, with 4 clients; 55 reports came through them"));
    assert_non_null(strstr(answer, "Not here: relay 7. "));
    assert_non_null(strstr(answer, "<tr><td>1</td><td>here</td><td>4</td><td>21</td><td>2</td></tr>"));
    assert_non_null(strstr(answer, "<tr><td>7</td><td>away</td><td>0</td><td>9</td><td>1</td></tr>"));
    assert_non_null(strstr(answer, "what relays send is not in it"));
    assert_null(strstr(answer, "NATS is not connected"));
    free(answer);
    caucus_http_close(http);

    server.status.relays.up = false;
    server.status.relays.cut_off = 1;
    server.status.relays.count = 100; /* more than are listed */
    http = open_pages("127.0.0.1:0", NULL, NULL);
    answer = ask(http, "GET", "/", NULL);
    assert_non_null(strstr(answer, "<strong>NATS is not connected.</strong>"));
    assert_non_null(strstr(answer, "<strong>Cut off: 1.</strong>"));
    assert_non_null(strstr(answer, "and 87 more. "));
    assert_non_null(strstr(answer, "The first 64 of 100."));
    free(answer);
    caucus_http_close(http);
}

/* Clients that have heard more than is committed are told of first. */
static void claims_are_shown(void **state) {
    (void)state;
    fill_server();
    server.status.rollback_claims = 1;
    caucus_http *http = open_pages("127.0.0.1:0", NULL, NULL);
    char *answer = ask(http, "GET", "/", NULL);
    assert_non_null(strstr(answer, "<strong>Rolled back?</strong> 1 client says to have heard more"));
    free(answer);
    caucus_http_close(http);
    server.status.rollback_claims = 4;
    server.status.rolled_back = true;
    http = open_pages("127.0.0.1:0", NULL, NULL);
    answer = ask(http, "GET", "/", NULL);
    assert_non_null(strstr(answer, "<strong>Rolled back.</strong> 4 clients have heard more than this state holds"));
    assert_non_null(strstr(answer, "<span class=\"state stopped\">stopped</span>"));
    assert_null(strstr(answer, ">running<"));
    free(answer);
    caucus_http_close(http);
}

/* The last hour, minute by minute, in as much memory after a year as after a minute. */
static void the_last_hour_is_kept(void **state) {
    (void)state;
    caucus_recent recent = {0};
    caucus_recent_counts now = {100, 1000, 10};
    caucus_recent_note(&recent, 61, &now); /* in which minute the hundred were is not known */
    assert_int_equal(recent.known, 1);
    assert_int_equal(caucus_recent_at(&recent, 0)->steps, 0);
    recent = (caucus_recent){0};
    caucus_recent_note(&recent, 30, &now);
    assert_int_equal(recent.known, 1);
    assert_int_equal(caucus_recent_at(&recent, 0)->steps, 100);
    now = (caucus_recent_counts){103, 1030, 10};
    caucus_recent_note(&recent, 59.9, &now);
    now = (caucus_recent_counts){107, 1070, 12};
    caucus_recent_note(&recent, 60, &now);
    assert_int_equal(recent.known, 2);
    assert_int_equal(caucus_recent_at(&recent, 1)->steps, 103);
    assert_int_equal(caucus_recent_at(&recent, 1)->reports, 1030);
    assert_int_equal(caucus_recent_at(&recent, 0)->steps, 4);
    assert_int_equal(caucus_recent_at(&recent, 0)->refused, 2);
    now.steps++;
    caucus_recent_note(&recent, 6 * 60, &now); /* nobody looked for five minutes */
    assert_int_equal(recent.known, 7);
    assert_int_equal(caucus_recent_at(&recent, 0)->steps, 1);
    for (uint32_t ago = 1; ago < 5; ago++)
        assert_int_equal(caucus_recent_at(&recent, ago)->steps, 0);
    assert_int_equal(caucus_recent_at(&recent, 5)->steps, 4);
    caucus_recent_note(&recent, 5 * 60, &now); /* a clock that goes back */
    assert_int_equal(recent.known, 7);
    for (uint32_t minute = 7; minute < 200; minute++) {
        now.steps += minute;
        caucus_recent_note(&recent, 60.0 * minute, &now);
    }
    assert_int_equal(recent.known, CAUCUS_RECENT_MINUTES);
    for (uint32_t ago = 0; ago < CAUCUS_RECENT_MINUTES; ago++)
        assert_int_equal(caucus_recent_at(&recent, ago)->steps, 199 - ago);
    now.refused += 5;
    caucus_recent_note(&recent, 60.0 * 500000, &now); /* about a year without a look */
    assert_int_equal(recent.known, CAUCUS_RECENT_MINUTES);
    assert_int_equal(caucus_recent_at(&recent, 0)->refused, 5);
    for (uint32_t ago = 1; ago < CAUCUS_RECENT_MINUTES; ago++)
        assert_int_equal(caucus_recent_at(&recent, ago)->steps, 0);
}

/* What is not HTTP, too long, or never finished must not keep others from being answered. */
static void hostile_bytes(void **state) {
    (void)state;
    fill_server();
    caucus_http *http = open_pages("127.0.0.1:0", NULL, NULL);
    int idle[8];
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) {
        idle[i] = dial(http);
        assert_int_equal(send(idle[i], "GET / HT", 8, MSG_NOSIGNAL), 8);
    }
    static char big[100000];
    memset(big, 'a', sizeof big);
    memcpy(big, "GET /", 5);
    free(talk(http, big, sizeof big));
    memcpy(big, "GET / HTTP/1.1\r\nX: ", 19);
    free(talk(http, big, sizeof big));
    uint64_t random = 88172645463325252u; /* xorshift */
    for (int round = 0; round < 50; round++) {
        char noise[256];
        for (size_t i = 0; i < sizeof noise; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            noise[i] = (char)random;
        }
        memcpy(noise + 252, "\r\n\r\n", 4);
        int fd = dial(http);
        (void)!send(fd, noise, sizeof noise, MSG_NOSIGNAL);
        (void)close(fd);
    }
    expect(http, "GET", "/healthz", NULL, 200);
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        (void)close(idle[i]);
    caucus_http_close(http);
}

/* ---- one byte now and then ---- */

static int dial_from(const caucus_http *http, uint32_t last) { /* from 127.0.0.LAST */
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000000u + last)};
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(caucus_http_port(http)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

typedef struct dripping {
    int fd[64];
    atomic_bool stop;
    pthread_t thread;
} dripping;

static void *drip(void *user) {
    dripping *d = user;
    while (!atomic_load(&d->stop)) {
        for (int i = 0; i < 64; i++)
            (void)!send(d->fd[i], "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        usleep(200000);
    }
    return NULL;
}

/* Every place is taken by somebody who never finishes its request: each of them has a limit, and others get in. */
static void slow_requests_end(void **state) {
    (void)state;
    fill_server();
    caucus_http *http = open_pages("127.0.0.1:0", NULL, NULL);
    dripping d = {.stop = false};
    for (uint32_t i = 0; i < 64; i++) {
        d.fd[i] = dial_from(http, 1 + i % 2);
        assert_true(send(d.fd[i], "GET /healthz HTTP/1.1\r\nHost: ", 29, MSG_NOSIGNAL) == 29);
    }
    assert_int_equal(pthread_create(&d.thread, NULL, drip, &d), 0);
    usleep(300000);
    int fd = dial_from(http, 3);
    struct timeval most = {.tv_sec = 60}; /* without a limit they would stay for ever */
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most), 0);
    static const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    char answer[64] = "";
    assert_true(send(fd, request, sizeof request - 1, MSG_NOSIGNAL) == (ssize_t)sizeof request - 1);
    assert_true(recv(fd, answer, sizeof answer - 1, 0) > 12);
    assert_memory_equal(answer, "HTTP/1.1 200", 12);
    atomic_store(&d.stop, true);
    assert_int_equal(pthread_join(d.thread, NULL), 0);
    for (int i = 0; i < 64; i++)
        (void)close(d.fd[i]);
    (void)close(fd);
    caucus_http_close(http);
}

/* A probe, from an address of its own or one that slow readers have, while nobody's time is over. */
static void expect_probe(const caucus_http *http, uint32_t last, const char *path) {
    int fd = dial_from(http, last);
    struct timeval most = {.tv_sec = 60}; /* a test that hangs must end */
    char request[128], answer[64] = "";
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most), 0);
    int bytes =
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    assert_true(send(fd, request, (size_t)bytes, MSG_NOSIGNAL) == bytes);
    assert_true(recv(fd, answer, sizeof answer - 1, 0) > 12);
    assert_memory_equal(answer, "HTTP/1.1 200", 12);
    (void)close(fd);
}

/* 32 of one address that never finish a request, then 200: probes are answered, before the slow ones' time is over:
 * they have not been ended for it, as the first 32 show. */
static void slow_readers_keep_no_probe_out(void **state) {
    (void)state;
    fill_server();
    caucus_http *http = open_pages("127.0.0.1:0", NULL, NULL);
    int fd[200];
    char byte;
    for (int i = 0; i < 200; i++) {
        fd[i] = dial_from(http, 1);
        assert_true(send(fd[i], "GET /", 5, MSG_NOSIGNAL) == 5);
        if (i == 31) {
            expect_probe(http, 1, "/livez");
            expect_probe(http, 1, "/readyz");
            for (int j = 0; j < 32; j++)
                assert_true(recv(fd[j], &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
        }
    }
    expect_probe(http, 1, "/livez");
    expect_probe(http, 3, "/readyz");
    for (int i = 0; i < 200; i++)
        (void)close(fd[i]);
    caucus_http_close(http);
}

/* A disk that hangs holds up a decision, not the pages: what is alive says so, what is not ready says why. */
static void a_hanging_disk_is_not_ready_and_alive(void **state) {
    (void)state;
    fill_server();
    server.busy = true;
    caucus_http *http = open_pages("127.0.0.1:0", NULL, NULL);
    expect(http, "GET", "/livez", NULL, 200);
    expect(http, "GET", "/readyz", NULL, 503);
    expect(http, "GET", "/", NULL, 503); /* nothing was ever seen */
    pthread_mutex_lock(&server.lock);
    server.busy = false;
    pthread_mutex_unlock(&server.lock);
    usleep(150000); /* a view is not taken more often */
    expect(http, "GET", "/readyz", NULL, 200);
    expect(http, "GET", "/", NULL, 200);
    pthread_mutex_lock(&server.lock);
    server.busy = true;
    pthread_mutex_unlock(&server.lock);
    usleep(150000);
    expect(http, "GET", "/readyz", NULL, 503);
    expect(http, "GET", "/metrics", NULL, 200); /* as last seen */
    caucus_http_close(http);
    server.busy = false;
}

/* Names stand beside numbers, and nothing in them is markup. */
static void experts_with_names(void **state) {
    (void)state;
    fill_server();
    caucus_settings settings = *caucus_plan_settings(plan);
    char names[2048] = "x0";
    for (unsigned n = 1; n < settings.experts; n++)
        (void)snprintf(names + strlen(names), sizeof names - strlen(names), n == 93 ? ",<b>&%u\\" : ",x%u", n);
    settings.names = names;
    caucus_plan *whole = plan, *named = NULL;
    assert_int_equal(caucus_plan_new(&settings, &named, NULL), CAUCUS_OK);
    plan = named;
    caucus_http *http = open_pages("127.0.0.1:0", NULL, "run");
    char *page = ask(http, "GET", "/", NULL), *json = ask(http, "GET", "/api/v1/status", NULL),
         *metrics = ask(http, "GET", "/metrics", NULL);
    assert_non_null(strstr(page, "&lt;b&gt;&amp;93\\ (93)"));
    assert_non_null(strstr(page, "<g><title>expert x41 (41) from"));
    assert_null(strstr(page, "<b>&93"));
    assert_non_null(strstr(json, "\"expert\": 93,\n  \"since_block\""));
    assert_non_null(strstr(json, "\"expert_name\": \"<b>&93\\\\\""));
    assert_non_null(strstr(json, "\"expert\": 41, \"name\": \"x41\","));
    assert_non_null(strstr(metrics, "\ncaucus_expert_info{name=\"<b>&93\\\\\",number=\"93\"} 1\n"));
    free(page);
    free(json);
    free(metrics);
    caucus_http_close(http);
    plan = whole;
    caucus_plan_free(named);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(experts_with_names),
        cmocka_unit_test(paths_and_methods),
        cmocka_unit_test(other_hosts_are_not_answered),
        cmocka_unit_test(beyond_loopback_a_token),
        cmocka_unit_test(a_port_in_use),
        cmocka_unit_test(json_shows_the_list_and_nothing_else),
        cmocka_unit_test(nothing_is_shown_before_the_start),
        cmocka_unit_test(metrics_are_well_formed),
        cmocka_unit_test(health),
        cmocka_unit_test(the_page_is_whole),
        cmocka_unit_test(a_weak_plan_is_said_first),
        cmocka_unit_test(seeded_late_or_resumed_runs_say_so),
        cmocka_unit_test(the_page_says_where_the_run_stands),
        cmocka_unit_test(long_histories_and_large_fleets_are_bounded),
        cmocka_unit_test(many_clients_are_shown_by_density),
        cmocka_unit_test(experts_have_times),
        cmocka_unit_test(the_missing_were_last_seen),
        cmocka_unit_test(relays_have_a_card),
        cmocka_unit_test(claims_are_shown),
        cmocka_unit_test(the_last_hour_is_kept),
        cmocka_unit_test(hostile_bytes),
        cmocka_unit_test(slow_requests_end),
        cmocka_unit_test(slow_readers_keep_no_probe_out),
        cmocka_unit_test(a_hanging_disk_is_not_ready_and_alive),
    };
    return cmocka_run_group_tests(tests, make_plan, free_plan);
}
