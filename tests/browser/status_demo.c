/* SPDX-License-Identifier: Apache-2.0 */
/* status_demo.c: a federation for tests/browser: real machines and a real ledger in one process, seeded, behind the
 * real status pages. It moves only when told to on standard input, so a browser test waits for nothing but the page.
 *
 *    status_demo [CLIENTS [endless | waiting | hedge | long]]      24 clients, a run with an end that has begun;
 *                                                              long: hedge, and names as long as they may be
 *
 *    steps N    decide N steps (or as many as there are)
 *    answer N   clients 1..N answer the step in hand, and no more
 *    away I     client I leaves                back I     it is back
 *    overdue    the step is past its deadline  refuse N   N more were refused
 *    claim N    N clients have heard more than is committed; with 4 or more it is an older copy
 *    relays N   there are N relays; the last of them is away, and the others have the clients
 *    minutes N  the clock goes on by N minutes
 *    begin      a run that waits begins
 *
 * Prints "port P" when it answers, then "done" after each command; ends with its input. */
#include <stdio.h>
#include <stdlib.h>

#include <caucus/caucus.h>

#include "algo/releases.h"
#include "net/fake_server.h" /* tests/net */
#include "net/http.h"
#include "plan/ledger.h"
#include "testing_settings.h"

#define CLIENTS_MOST FAKE_CLIENTS
#define EXPERTS 40
#define ROUNDS 256
#define GOOD 17u /* the expert that never fails */

static caucus_server server = {.lock = PTHREAD_MUTEX_INITIALIZER};
static caucus_plan *plan;
static caucus_coordinator *coordinator;
static uint32_t clients = 24;
static bool endless, waiting, hedge, long_names;
static double minutes; /* that the clock went on by command */
static caucus_client *client[CLIENTS_MOST];
static caucus_ledger *ledger;
static caucus_releases releases;

static void must(caucus_status status, const caucus_error *error) {
    if (status == CAUCUS_OK)
        return;
    (void)fprintf(stderr, "status_demo: %s: %s\n", error->field,
                  error->text[0] ? error->text : caucus_status_text(status));
    exit(1);
}

/* Every expert but one begins to fail some day. */
static void losses(uint32_t i, uint32_t round, double *ret) {
    for (uint32_t y = 0; y < EXPERTS; y++) {
        uint32_t fails_from = 10 + y * 53 % 97;
        uint32_t noise = (i * 2654435761u ^ round * 40503u ^ y * 2246822519u) >> 8 & 1023u;
        ret[y] = y != GOOD && round >= fails_from ? 0.5 + noise / 2048.0 : 0;
    }
}

static void publish(void) {
    const caucus_announcement *now = caucus_coordinator_announcement(coordinator);
    caucus_ledger_totals totals = caucus_ledger_totals_of(ledger);
    pthread_mutex_lock(&server.lock);
    if (server.announced <= now->serial)
        server.history[server.announced++] = *now;
    caucus_server_status *s = &server.status;
    s->now = *now;
    s->selections = caucus_coordinator_selections(coordinator);
    s->checks = caucus_coordinator_checks(coordinator);
    s->steps_decided = now->serial;
    s->commits = now->serial + 1;
    s->epsilon_spent = totals.released_choices;
    s->finished = now->ask == CAUCUS_ASK_NOTHING;
    uint64_t blocks = now->block > 0 ? now->block - 1 : 0;
    s->scalars_paper = (uint64_t)blocks * clients * EXPERTS;
    s->epsilon_reserved = caucus_plan_epsilon_choices(plan);
    s->epsilon_device = caucus_plan_epsilon_device(plan);
    s->budget_epsilon = 3 * s->epsilon_reserved;
    s->left_epsilon = 2 * s->epsilon_reserved;
    s->seconds_in_step = 2.4;
    s->uptime_seconds = 3 + 2.5 * (double)now->serial + 60 * minutes;
    s->answered = 0;
    for (uint32_t i = 0; i < clients; i++)
        if (server.presence[i] == 2)
            server.presence[i] = 1;
    pthread_mutex_unlock(&server.lock);
}

/* Everybody plays until a report is due, reports, and the step is decided. */
static void step(void) {
    caucus_error error = {0};
    caucus_announcement before = *caucus_coordinator_announcement(coordinator);
    if (before.ask == CAUCUS_ASK_NOTHING)
        return;
    for (uint32_t i = 0; i < clients; i++) {
        double row[EXPERTS];
        while (!caucus_client_report(client[i]) && caucus_client_rounds_left(client[i]) > 0) {
            losses(i + 1, (uint32_t)caucus_client_round(client[i]) + 1, row);
            must(caucus_client_observe(client[i], row, 1), &error);
        }
        const caucus_report *report = caucus_client_report(client[i]);
        if (!report)
            continue;
        must(caucus_coordinator_receive(coordinator, report), &error);
        pthread_mutex_lock(&server.lock);
        server.status.reports++;
        server.status.scalars_up += report->count;
        server.status.bytes_in += caucus_report_bytes(report);
        pthread_mutex_unlock(&server.lock);
    }
    must(caucus_coordinator_decide(coordinator), &error);
    const caucus_announcement *now = caucus_coordinator_announcement(coordinator);
    must(caucus_releases_record(&releases, &before, now, &error), &error);
    for (uint32_t i = 0; i < clients; i++)
        must(caucus_client_hear(client[i], now), &error);
    pthread_mutex_lock(&server.lock);
    server.status.bytes_out += clients * caucus_announcement_bytes(now);
    pthread_mutex_unlock(&server.lock);
    publish();
}

/* Experts as an engineer would name them: a size and a way to store the weights. */
static const char *names_of_experts(void) {
    static const char *const size[] = {"tiny", "small", "base", "large", "distilled"};
    static const char *const stored[] = {"fp32", "fp16", "int8", "int4", "sparse", "pruned", "lora", "shared"};
    static char text[EXPERTS * 66];
    size_t length = 0;
    for (uint32_t y = 0; y < EXPERTS; y++)
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "%s%s-%s%.*s", y > 0 ? "," : "", size[y % 5],
                             stored[y / 5], long_names ? (int)(63 - strlen(size[y % 5]) - strlen(stored[y / 5])) : 0,
                             "quantisedanddistilledagainfromthelargestofthemodelsthattherewere");
    return text;
}

static void open_federation(void) {
    caucus_error error = {0};
    caucus_settings settings =
        testing_settings(hedge ? CAUCUS_ALGORITHM_HEDGE : CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, clients,
                         EXPERTS, endless ? CAUCUS_ROUNDS_ENDLESS : ROUNDS, 10);
    settings.names = names_of_experts();
    must(caucus_plan_new(&settings, &plan, &error), &error);
    caucus_key seed, trial, key;
    caucus_key_from_seed(1, &seed);
    caucus_key_derive(&seed, 0, &trial);
    caucus_key_derive(&trial, 0, &key);
    must(caucus_coordinator_new(plan, &key, &coordinator), &error);
    for (uint32_t i = 0; i < clients; i++) {
        caucus_key_derive(&trial, i + 1, &key);
        must(caucus_client_new(plan, i + 1, &key, &client[i]), &error);
        must(caucus_client_hear(client[i], caucus_coordinator_announcement(coordinator)), &error);
        server.presence[i] = 1;
    }
    uint32_t run = 0;
    must(caucus_ledger_new(plan->guarantee.epsilon_choices, 0, &ledger, &error), &error);
    must(caucus_ledger_reserve(ledger, plan, "demo", true, &run, &error), &error);
    caucus_releases_init(&releases, plan, ledger, run);
    server.status = (caucus_server_status){.clients = clients,
                                           .present = clients,
                                           .started = !waiting,
                                           .seeded = true,
                                           .term = 1,
                                           .selections_allowed = hedge ? 0 : plan->svt.switches,
                                           .blocks = caucus_plan_blocks(plan),
                                           .epsilon_choices = plan->guarantee.epsilon_choices,
                                           .epsilon_messages = plan->guarantee.epsilon_messages,
                                           .deadline_seconds = 10,
                                           .uptime_seconds = 754};
    publish();
}

static void presence(uint32_t index, uint8_t value) {
    if (index < 1 || index > clients || server.presence[index - 1] == value)
        return;
    pthread_mutex_lock(&server.lock);
    if (server.presence[index - 1] == 2)
        server.status.answered--;
    server.status.answered += value == 2;
    server.presence[index - 1] = value;
    server.status.present = 0;
    for (uint32_t i = 0; i < clients; i++)
        server.status.present += server.presence[i] > 0;
    pthread_mutex_unlock(&server.lock);
}

static void have_relays(uint32_t count) {
    pthread_mutex_lock(&server.lock);
    caucus_hub_status *all = &server.status.relays;
    *all = (caucus_hub_status){.count = count, .here = count - 1, .clients = clients, .up = true};
    for (uint32_t i = 0; i < count && i < CAUCUS_RELAYS_LISTED; i++) {
        const bool here = i + 1 < count;
        server.status.relay[i] =
            (caucus_relay_status){.number = (uint16_t)(i + 1),
                                  .here = here,
                                  .clients = here ? clients / (count - 1) + (i < clients % (count - 1)) : 0,
                                  .accepted = server.announced,
                                  .stale = i % 3,
                                  .durable = server.announced};
        all->accepted += server.announced;
        all->stale += i % 3;
    }
    all->reports = server.status.reports;
    pthread_mutex_unlock(&server.lock);
}

/* What is not of the machines. */
static void happen(const char *word, uint32_t number) {
    pthread_mutex_lock(&server.lock);
    caucus_server_status *s = &server.status;
    if (word[0] == 'r')
        s->refused += number;
    else if (word[0] == 'c') {
        s->rollback_claims = number;
        s->rolled_back = number >= 4;
    } else if (word[0] == 'm') {
        minutes += number;
        s->uptime_seconds += 60.0 * number;
    } else {
        s->started = true;
    }
    pthread_mutex_unlock(&server.lock);
}

static void command(const char *word, uint32_t number) {
    if (strcmp(word, "steps") == 0)
        for (uint32_t i = 0; i < number; i++)
            step();
    else if (strcmp(word, "answer") == 0)
        for (uint32_t i = 1; i <= number; i++)
            presence(i, 2);
    else if (strcmp(word, "away") == 0)
        presence(number, 0);
    else if (strcmp(word, "back") == 0)
        presence(number, 1);
    else if (strcmp(word, "overdue") == 0) {
        pthread_mutex_lock(&server.lock);
        server.status.seconds_in_step = server.status.deadline_seconds + 3;
        pthread_mutex_unlock(&server.lock);
    } else if (strcmp(word, "relays") == 0 && number > 1) {
        have_relays(number);
    } else if (strcmp(word, "refuse") == 0 || strcmp(word, "claim") == 0 || strcmp(word, "minutes") == 0 ||
               strcmp(word, "begin") == 0) {
        happen(word, number);
    } else {
        (void)fprintf(stderr, "status_demo: no command '%s'\n", word);
        exit(2);
    }
}

int main(int argc, char **argv) {
    caucus_error error = {0};
    if (argc > 1)
        clients = (uint32_t)strtoul(argv[1], NULL, 10);
    endless = argc > 2 && strcmp(argv[2], "endless") == 0;
    waiting = argc > 2 && strcmp(argv[2], "waiting") == 0;
    long_names = argc > 2 && strcmp(argv[2], "long") == 0;
    hedge = long_names || (argc > 2 && strcmp(argv[2], "hedge") == 0);
    if (clients < 1 || clients > CLIENTS_MOST || (argc > 2 && !endless && !waiting && !hedge)) {
        (void)fputs("usage: status_demo [CLIENTS [endless | waiting | hedge | long]]\n", stderr);
        return 2;
    }
    uint8_t hash[32];
    for (size_t i = 0; i < sizeof hash; i++)
        hash[i] = (uint8_t)(0x3f + 41 * i);
    open_federation();
    caucus_http *http = NULL;
    caucus_http_settings settings = {.listen = "127.0.0.1:0",
                                     .name =
                                         getenv("CAUCUS_DEMO_NAME") ? getenv("CAUCUS_DEMO_NAME") : "Ward <7> & friends",
                                     .plan = plan,
                                     .plan_hash = hash};
    must(caucus_http_open(&server, &settings, &http, &error), &error);
    (void)printf("port %u\n", caucus_http_port(http));
    (void)fflush(stdout);
    char word[16];
    unsigned number = 0;
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        number = 0;
        if (sscanf(line, "%15s %u", word, &number) < 1)
            continue;
        command(word, number);
        (void)puts("done");
        (void)fflush(stdout);
    }
    caucus_http_close(http);
    for (uint32_t i = 0; i < clients; i++)
        caucus_client_free(client[i]);
    caucus_coordinator_free(coordinator);
    caucus_ledger_free(ledger);
    caucus_plan_free(plan);
    return 0;
}
