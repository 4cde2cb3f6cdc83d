/* SPDX-License-Identifier: Apache-2.0 */
/* up_processes.c: the coordinator and the clients of a live federation as processes of this program. See up.h. */
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/up/up.h"
#include "store/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_SECONDS 20.0
#define END_SECONDS 20.0
#define PAGE_DEFAULT "127.0.0.1:0"

/* A child ended badly: what and, from the last line of its log, why. What it refused for good, or for its input, is
 * refused here for the same reason, and with the same code.
 * Returns: the code to end with. */
int caucus_up_say_why(const caucus_child *child, const char *what) {
    FILE *file = child->log ? fopen(child->log, "r") : NULL;
    char line[1024], last[1024] = "no reason given";
    while (file && fgets(line, sizeof line, file))
        (void)snprintf(last, sizeof last, "%s", line);
    if (file)
        (void)fclose(file);
    last[strcspn(last, "\n")] = '\0';
    caucus_usage("up", "%s: %s", what, last);
    return child->code == CAUCUS_EXIT_USAGE || child->code == CAUCUS_EXIT_REFUSED ? child->code : CAUCUS_EXIT_FAILED;
}

bool caucus_up_listens_at(const char *line, char *ret, size_t room) {
    static const char key[] = "\"listening\": \"";
    const char *at = strstr(line, key);
    if (at)
        (void)snprintf(ret, room, "%.*s", (int)strcspn(at + sizeof key - 1, "\""), at + sizeof key - 1);
    return at != NULL;
}

/* The coordinator speaks JSON lines, the first where it listens, the last how it went; a client prints experts. */
static void take_line(void *user, size_t number, const char *line) {
    caucus_up *u = user;
    unsigned long long port = 0;
    if (number == 0) {
        if (caucus_up_listens_at(line, u->connect, sizeof u->connect) &&
            caucus_up_number(line, "\"http_port\": ", &port)) {
            const char *http = u->http ? u->http : PAGE_DEFAULT, *colon = strrchr(http, ':');
            (void)snprintf(u->page, sizeof u->page, "http://%.*s:%llu/", colon ? (int)(colon - http) : 0, http, port);
        }
        if (strstr(line, "\"finished\":"))
            (void)snprintf(u->summary, sizeof u->summary, "%s", line);
        u->shown = u->shown || strstr(line, "\"page\": \"shown\"");
        return;
    }
    if (number > u->prepared.plan[0]->settings.clients) {
        if (number > caucus_up_nats_child(u))
            caucus_up_take_relay_line(u, (uint32_t)(number - caucus_up_nats_child(u)), line);
        return;
    }
    uint64_t rounds = caucus_run_rounds(&u->prepared.run[0], &u->prepared.plan[0]->settings);
    uint32_t i = (uint32_t)number - 1;
    char *end = NULL;
    unsigned long expert = strtoul(line, &end, 10);
    if (u->played[i] < rounds)
        u->expert[i * rounds + u->played[i]++] =
            end != line && (*end == '\0' || *end == ' ') ? (uint32_t)expert : UINT32_MAX;
}

int caucus_up_start_coordinator(caucus_up *u) {
    char plan[sizeof(caucus_up_path)], state[sizeof(caucus_up_path)], cert[sizeof(caucus_up_path)],
        key[sizeof(caucus_up_path)], ca[sizeof(caucus_up_path)], log[sizeof(caucus_up_path)],
        nkey[sizeof(caucus_up_path)], list[sizeof(caucus_up_path)], secret[sizeof(caucus_up_path)], seed[32];
    caucus_up_file(u, plan, "plan.yaml");
    caucus_up_file(u, state, "coordinator");
    caucus_up_file(u, cert, "certs/coordinator.pem");
    caucus_up_file(u, key, "certs/coordinator.key");
    caucus_up_file(u, ca, "certs/ca.pem");
    caucus_up_file(u, log, "coordinator.log");
    caucus_up_file(u, nkey, "certs/coordinator.nkey");
    caucus_up_file(u, list, "certs/relays.list");
    caucus_up_file(u, secret, "certs/coordinator.secret");
    (void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)u->prepared.run[0].seed);
    const char *argv[40] = {
        "caucus", "serve", "--plan",   plan,  "--state",     state, "--listen", "127.0.0.1:0",
        "--cert", cert,    "--key",    key,   "--client-ca", ca,    "--http",   u->http ? u->http : PAGE_DEFAULT,
        "--seed", seed,    "--format", "json"};
    size_t n = 20;
    if (u->opens)
        argv[n++] = "--stay";
    const char *const relayed[] = {"--nats",   u->nats, "--nats-ca",   ca,    "--nats-key", nkey,
                                   "--relays", list,    "--relay-key", secret};
    for (size_t i = 0; u->relays > 0 && i < sizeof relayed / sizeof relayed[0]; i++)
        argv[n++] = relayed[i];
    if (!caucus_child_start(&u->child[0], argv, log)) {
        caucus_usage("up", "the coordinator could not be started: %s", strerror(errno));
        return CAUCUS_EXIT_FAILED;
    }
    double until = caucus_clock_seconds() + START_SECONDS;
    while (!caucus_up_stop && !u->connect[0] && caucus_clock_seconds() < until && caucus_up_listen(u, 100))
        ;
    if (u->connect[0] || caucus_up_stop)
        return caucus_up_stop ? CAUCUS_EXIT_FAILED : 0;
    return caucus_up_say_why(&u->child[0], "the coordinator did not start");
}

static int start_client(caucus_up *u, uint32_t index) {
    char plan[sizeof(caucus_up_path)], state[sizeof(caucus_up_path)], cert[sizeof(caucus_up_path)],
        key[sizeof(caucus_up_path)], ca[sizeof(caucus_up_path)], log[sizeof(caucus_up_path)], seed[32];
    const caucus_run *run = &u->prepared.run[0];
    caucus_up_file(u, plan, "plan.yaml");
    caucus_up_file(u, state, "client-%u.state", index);
    caucus_up_file(u, cert, "certs/client-%u.pem", index);
    caucus_up_file(u, key, "certs/client-%u.key", index);
    caucus_up_file(u, ca, "certs/ca.pem");
    caucus_up_file(u, log, "client-%u.log", index);
    char connect[CAUCUS_UP_RELAYS_MAX * sizeof u->relay_at[0]];
    (void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
    (void)snprintf(connect, sizeof connect, "%s", u->connect);
    if (u->relays > 0)
        caucus_up_relays_for(u, index, connect, sizeof connect);
    const char *argv[40] = {"caucus", "join", "--connect", connect, "--plan", plan, "--cert",    cert, "--key", key,
                            "--ca",   ca,     "--state",   state,   "--seed", seed, "--give-up", "30"};
    size_t n = 18;
    bool file = run->adversary.kind == CAUCUS_ADVERSARY_LOSSES;
    argv[n++] = file ? "--losses" : "--adversary";
    argv[n++] = file ? run->adversary.losses : caucus_adversary_kind_word(run->adversary.kind);
    if (run->adversary.kind == CAUCUS_ADVERSARY_MOVIELENS) {
        argv[n++] = "--data";
        argv[n++] = run->adversary.data;
        argv[n++] = "--genre";
        argv[n++] = run->adversary.genre ? run->adversary.genre : CAUCUS_GENRE_DEFAULT;
    }
    static const caucus_scenario_field law[] = {CAUCUS_FIELD_SEGMENTS, CAUCUS_FIELD_MEANS, CAUCUS_FIELD_SPREAD,
                                                CAUCUS_FIELD_DRIFT, CAUCUS_FIELD_ACTIVITY};
    static const char *const flag[] = {"--segments", "--means", "--spread", "--drift", "--activity"};
    for (size_t i = 0; !file && i < sizeof law / sizeof law[0]; i++)
        if (u->scenario.field[law[i]].count > 0) {
            argv[n++] = flag[i];
            argv[n++] = u->scenario.field[law[i]].text[0];
        }
    char play[24];
    if (caucus_plan_is_endless(u->prepared.plan[0])) {
        (void)snprintf(play, sizeof play, "%" PRIu64, caucus_run_rounds(run, &u->prepared.plan[0]->settings));
        argv[n++] = "--play";
        argv[n++] = play;
    }
    if (u->delay) {
        argv[n++] = "--delay";
        argv[n++] = u->delay;
    }
    argv[n] = NULL;
    if (!caucus_child_start(&u->child[index], argv, log)) {
        caucus_usage("up", "client %u could not be started: %s", index, strerror(errno));
        return CAUCUS_EXIT_FAILED;
    }
    return 0;
}

/* A child that ended badly ends the whole. */
static int check_children(const caucus_up *u) {
    for (size_t i = 0; i <= u->prepared.plan[0]->settings.clients; i++) {
        const caucus_child *c = &u->child[i];
        bool early = i == 0 && !u->summary[0];
        if (c->pid == 0 && (c->code != 0 || early)) {
            char what[64];
            if (i == 0)
                (void)snprintf(what, sizeof what, "the coordinator ended with code %d", c->code);
            else
                (void)snprintf(what, sizeof what, "client %zu ended with code %d", i, c->code);
            return caucus_up_say_why(c, what);
        }
    }
    return u->summary[0] ? 0 : caucus_up_check_relays(u);
}

/* Coordinator and clients that are there; what is between them is there as long as it is wanted. */
static size_t count_alive(const caucus_up *u) {
    size_t ret = 0;
    for (size_t i = 0; i <= u->prepared.plan[0]->settings.clients; i++)
        ret += u->child[i].pid != 0;
    return ret;
}

int caucus_up_play(caucus_up *u) {
    const caucus_settings *s = &u->prepared.plan[0]->settings;
    const uint64_t rounds = caucus_run_rounds(&u->prepared.run[0], s);
    int code = 0;
    for (uint32_t i = 1; code == 0 && !caucus_up_stop && i <= s->clients; i++)
        code = start_client(u, i);
    caucus_progress_bar progress;
    caucus_progress_begin(&progress, "live", 4);
    size_t alive = count_alive(u);
    double clients_gone = INFINITY;
    /* With a page to show the coordinator stays when all is over. */
    while (code == 0 && !caucus_up_stop && alive > (u->opens && u->summary[0] ? 1 : 0)) {
        (void)caucus_children_read(u->child, u->children, 200, take_line, u);
        alive = count_alive(u);
        code = check_children(u);
        uint64_t least = rounds;
        for (uint32_t i = 0; i < s->clients; i++)
            least = u->played[i] < least ? u->played[i] : least;
        caucus_progress_update(&progress, least, rounds);
        if (alive == 1 && u->child[0].pid != 0 && !u->summary[0] && isinf(clients_gone)) {
            clients_gone = caucus_clock_seconds();
            if (caucus_plan_is_endless(u->prepared.plan[0])) /* it waits for them to come again */
                (void)kill(u->child[0].pid, SIGTERM);
        }
        if (caucus_clock_seconds() - clients_gone > END_SECONDS) {
            caucus_progress_end(&progress);
            return caucus_usage("up", "the clients have gone and the coordinator has not ended"), CAUCUS_EXIT_FAILED;
        }
    }
    caucus_progress_end(&progress);
    u->seconds = caucus_clock_seconds() - u->start;
    return code == 0 && caucus_up_stop ? (caucus_usage("up", "stopped"), CAUCUS_EXIT_FAILED) : code;
}

bool caucus_up_listen(caucus_up *u, int timeout_ms) {
    (void)caucus_children_read(u->child, u->children, timeout_ms, take_line, u);
    return u->child[0].pid != 0;
}
