/* SPDX-License-Identifier: Apache-2.0 */
/* up_relays.c: relays between the clients and the coordinator of `caucus up`, and the nats-server that they need. See
 * up.h.
 *
 * nats-server runs with the configuration that certify has made, at a port of its own choice on this machine, and says
 * in a file which one that is. */
#include "cli/options.h"
#include "cli/up/up.h"
#include "num/number_text.h"
#include "relay/line.h"
#include "store/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_SECONDS 20.0

size_t caucus_up_nats_child(const caucus_up *u) {
    return (size_t)u->prepared.plan[0]->settings.clients + 1;
}

/* As a shell would find it; Debian installs it where only root's shell looks. */
static bool find_nats_server(char *ret, size_t room) {
    const char *path = getenv("PATH");
    char all[4096];
    (void)snprintf(all, sizeof all, "%s:/usr/sbin:/usr/local/sbin", path ? path : "");
    for (char *rest = all, *folder; (folder = strsep(&rest, ":")) != NULL;)
        if (folder[0] == '/' && snprintf(ret, room, "%s/nats-server", folder) < (int)room && access(ret, X_OK) == 0)
            return true;
    ret[0] = '\0';
    return false;
}

int caucus_up_relays_wanted(caucus_up *u) {
    uint64_t count = 0;
    if (u->relay_count && !caucus_whole_parse(u->relay_count, 0, CAUCUS_UP_RELAYS_MAX, &count))
        return caucus_usage("up", "--relay-count %s: must be a whole number from 0 to %u", u->relay_count,
                            CAUCUS_UP_RELAYS_MAX);
    u->relays = (uint32_t)count;
    if (count > 0 && !caucus_line_version())
        return caucus_usage("up", "--relay-count %s: this program was built without NATS (libnats-dev)",
                            u->relay_count);
    if (count > 0 && !find_nats_server(u->nats_server, sizeof u->nats_server))
        return caucus_usage("up", "--relay-count %s: nats-server is not found — install it (Debian: nats-server)",
                            u->relay_count);
    return 0;
}

/* {"nats":["tls://127.0.0.1:40123"], ...}: there once it listens. */
static bool read_port(caucus_up *u, const char *file) {
    char text[1024];
    FILE *in = fopen(file, "r");
    const size_t size = in ? fread(text, 1, sizeof text - 1, in) : 0;
    if (in)
        (void)fclose(in);
    text[size] = '\0';
    const char *at = strstr(text, "127.0.0.1:");
    unsigned port = 0;
    if (!at || sscanf(at, "127.0.0.1:%5u\"", &port) != 1 || !strchr(at, ']')) /* it may be half written */
        return false;
    (void)snprintf(u->nats, sizeof u->nats, "tls://127.0.0.1:%u", port);
    return true;
}

int caucus_up_start_nats(caucus_up *u) {
    if (u->relays == 0)
        return 0;
    char path[sizeof(caucus_up_path)], log[sizeof(caucus_up_path)];
    caucus_up_file(u, log, "nats.log");
    caucus_up_file(u, path, "certs");
    char *certs = realpath(path, NULL);
    caucus_child *child = &u->child[caucus_up_nats_child(u)];
    const char *argv[] = {"nats-server", "-c", "nats.conf",        "-a",  "127.0.0.1",
                          "-p",          "-1", "--ports_file_dir", certs, NULL};
    if (!certs || !caucus_child_start_other(child, u->nats_server, certs, argv, log)) {
        caucus_usage("up", "nats-server could not be started: %s", strerror(errno));
        free(certs);
        return CAUCUS_EXIT_FAILED;
    }
    (void)snprintf(path, sizeof path, "%s/nats-server_%ld.ports", certs, (long)child->pid);
    free(certs);
    const double until = caucus_clock_seconds() + START_SECONDS;
    while (!caucus_up_stop && !read_port(u, path) && caucus_clock_seconds() < until && child->pid != 0) {
        (void)caucus_up_listen(u, 20);
    }
    if (u->nats[0] || caucus_up_stop)
        return caucus_up_stop ? CAUCUS_EXIT_FAILED : 0;
    return caucus_up_say_why(child, "nats-server did not start");
}

void caucus_up_take_relay_line(caucus_up *u, uint32_t relay, const char *line) {
    (void)caucus_up_listens_at(line, u->relay_at[relay - 1], sizeof u->relay_at[0]);
}

static int start_relay(caucus_up *u, uint32_t number) {
    enum { PLAN, CERT, KEY, CA, NKEY, SECRET, COORDINATOR, LOG, FILES };
    char file[FILES][sizeof(caucus_up_path)], which[16];
    caucus_up_file(u, file[PLAN], "plan.yaml");
    caucus_up_file(u, file[CERT], "certs/relay-%u.pem", number);
    caucus_up_file(u, file[KEY], "certs/relay-%u.key", number);
    caucus_up_file(u, file[CA], "certs/ca.pem");
    caucus_up_file(u, file[NKEY], "certs/relay-%u.nkey", number);
    caucus_up_file(u, file[SECRET], "certs/relay-%u.secret", number);
    caucus_up_file(u, file[COORDINATOR], "certs/coordinator.public");
    caucus_up_file(u, file[LOG], "relay-%u.log", number);
    (void)snprintf(which, sizeof which, "%u", number);
    const char *argv[] = {"caucus",      "relay",    "--plan",      file[PLAN],      "--number",
                          which,         "--listen", "127.0.0.1:0", "--nats",        u->nats,
                          "--nats-ca",   file[CA],   "--nats-key",  file[NKEY],      "--relay-key",
                          file[SECRET],  "--cert",   file[CERT],    "--coordinator", file[COORDINATOR],
                          "--client-ca", file[CA],   "--key",       file[KEY],       "--format",
                          "json",        NULL};
    if (caucus_child_start(&u->child[caucus_up_nats_child(u) + number], argv, file[LOG]))
        return 0;
    caucus_usage("up", "relay %u could not be started: %s", number, strerror(errno));
    return CAUCUS_EXIT_FAILED;
}

static uint32_t listening(const caucus_up *u) {
    uint32_t ret = 0;
    for (uint32_t i = 0; i < u->relays; i++)
        ret += u->relay_at[i][0] != '\0';
    return ret;
}

int caucus_up_start_relays(caucus_up *u) {
    int code = 0;
    for (uint32_t i = 1; code == 0 && i <= u->relays; i++)
        code = start_relay(u, i);
    const double until = caucus_clock_seconds() + START_SECONDS;
    while (code == 0 && !caucus_up_stop && listening(u) < u->relays) {
        (void)caucus_up_listen(u, 100);
        code = caucus_up_check_relays(u);
        if (code == 0 && caucus_clock_seconds() > until)
            for (uint32_t i = 0; i < u->relays && code == 0; i++)
                if (!u->relay_at[i][0])
                    code = caucus_up_say_why(&u->child[caucus_up_nats_child(u) + 1 + i], "a relay does not listen");
    }
    return code == 0 && caucus_up_stop ? CAUCUS_EXIT_FAILED : code;
}

void caucus_up_relays_for(const caucus_up *u, uint32_t client, char *ret, size_t room) {
    size_t used = 0;
    ret[0] = '\0';
    for (uint32_t i = 0; i < u->relays && used < room; i++)
        used += (size_t)snprintf(ret + used, room - used, "%s%s", i > 0 ? "," : "",
                                 u->relay_at[(client - 1 + i) % u->relays]);
}

int caucus_up_check_relays(const caucus_up *u) {
    for (uint32_t i = 0; u->relays > 0 && i <= u->relays; i++) {
        const caucus_child *c = &u->child[caucus_up_nats_child(u) + i];
        char what[64] = "nats-server has ended";
        if (i > 0)
            (void)snprintf(what, sizeof what, "relay %u has ended", i);
        const bool early = i == 0 || !u->relay_at[i - 1][0]; /* relays end with the coordinator */
        if (c->pid == 0 && (early || c->code != 0))
            return caucus_up_say_why(c, what);
    }
    return 0;
}
