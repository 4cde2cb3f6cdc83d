/* SPDX-License-Identifier: Apache-2.0 */
/* certify.c: `caucus certify`: certificates to try a live federation with.
 *
 * The work is done in dial/certify.c; this reads the command line and says what was made and what to type next. */
#include "dial/certify.h"
#include "cli/complain.h"
#include "cli/signals.h"
#include "cli/verbs.h"
#include "num/number_text.h"
#include "relay/certify_relays.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef enum option { CLIENTS, RELAYS, HOST, DAYS, RENEW, OPTION_COUNT } option;

static const caucus_option options[] = {
    [CLIENTS] = {"clients", "N", NULL, "how many clients; a client's name is its number, 1 to N"},
    [RELAYS] = {"relays", "N", "none",
                "how many relays, 1 to N: their certificates, keys and a configuration for NATS"},
    [HOST] = {"host", "NAME", "this machine only", "where clients will find the coordinator: a name or an address"},
    [DAYS] = {"days", "N", "30", "how long they are valid; relays at most 7 days"},
    [RENEW] = {"renew", NULL, NULL, "sign the relays' certificates of DIR again, for 7 days or --days"},
    [OPTION_COUNT] = {NULL, NULL, NULL, NULL},
};

static int take_number(const char *name, const char *value, uint32_t most, uint32_t *ret) {
    uint64_t number = 0;
    if (!caucus_whole_parse(value, 1, most, &number))
        return caucus_usage("certify", "--%s %s: must be a whole number from 1 to %u", name, value, most);
    *ret = (uint32_t)number;
    return 0;
}

typedef struct certifying {
    caucus_certify_settings set;
    bool renew;
} certifying;

static int take(void *user, size_t index, const char *value) {
    certifying *c = user;
    caucus_certify_settings *s = &c->set;
    if (index == SIZE_MAX) {
        if (s->dir != NULL || value[0] == '\0')
            return caucus_usage("certify", "'%s': takes one directory", value);
        s->dir = value;
        return 0;
    }
    switch ((option)index) {
    case CLIENTS:
        return take_number("clients", value, CAUCUS_CERTIFY_MAX_CLIENTS, &s->clients);
    case RELAYS:
        s->more = caucus_certify_relays;
        return take_number("relays", value, CAUCUS_CERTIFY_MAX_RELAYS, &s->relays);
    case HOST:
        s->host = value;
        return 0;
    case DAYS:
        return take_number("days", value, CAUCUS_CERTIFY_MAX_DAYS, &s->days);
    case RENEW:
        c->renew = true;
        return 0;
    case OPTION_COUNT:
        break;
    }
    return CAUCUS_EXIT_USAGE;
}

static void print_help(void) {
    fputs("caucus certify: certificates to try a live federation with\n"
          "\n"
          "  caucus certify certs --clients 10\n"
          "  caucus certify certs --clients 10 --host coordinator.example --days 7\n"
          "  caucus certify certs --renew\n"
          "\n"
          "Makes an authority, signs a certificate for the coordinator and one for each client, and throws the "
          "authority's\n"
          "key away. The directory appears whole; an earlier set in it is replaced, other files are left alone and "
          "refused.\n"
          "For trying things out: whoever can read the directory can be any client. Defaults in brackets.\n"
          "\n"
          "Options\n",
          stdout);
    caucus_options_help(options, 0, OPTION_COUNT);
}

/* So that the commands can be pasted into a shell whatever the directory is called. */
static void print_path(const char *dir, const char *name) {
    size_t length = strlen(dir);
    while (length > 1 && dir[length - 1] == '/')
        length--;
    bool plain = dir[0] != '-';
    for (size_t i = 0; i < length; i++)
        plain =
            plain && strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+=@%,:", dir[i]) != NULL;
    if (!plain)
        putchar('\'');
    for (size_t i = 0; i < length; i++) {
        if (dir[i] == '\'')
            fputs("'\\''", stdout);
        else
            putchar(dir[i]);
    }
    printf("/%s%s", name, plain ? "" : "'");
}

static void print_options(const char *dir, const char *who, const char *ca_option) {
    char name[40];
    (void)snprintf(name, sizeof name, "%s.pem", who);
    fputs(" --cert ", stdout);
    print_path(dir, name);
    (void)snprintf(name, sizeof name, "%s.key", who);
    fputs(" --key ", stdout);
    print_path(dir, name);
    printf(" --%s ", ca_option);
    print_path(dir, "ca.pem");
    putchar('\n');
}

static void print_relays(const caucus_certify_settings *s) {
    char last[40] = "relay-1.pem";
    if (s->relays > 1)
        (void)snprintf(last, sizeof last, "relay-1.pem … relay-%u.pem", s->relays);
    printf("  %s, each with its .secret (its signing key) and .nkey (for NATS)\n", last);
    if (s->days > CAUCUS_CERTIFY_RELAY_DAYS)
        printf("    valid for %u days: caucus certify --renew, with relay-ca.key, which stays here\n",
               CAUCUS_CERTIFY_RELAY_DAYS);
    printf("  relays.list, coordinator.secret, coordinator.public, coordinator.nkey\n");
    printf("  nats.pem, nats.conf  for nats-server -c nats.conf, started in this directory\n");
}

static void print_made(const caucus_certify_settings *s) {
    const char *host = s->host != NULL ? s->host : "127.0.0.1", *open = strchr(host, ':') != NULL ? "[" : "",
               *shut = open[0] != '\0' ? "]" : "";
    char last[40] = "client-1.pem";
    if (s->clients > 1)
        (void)snprintf(last, sizeof last, "client-1.pem … client-%u.pem", s->clients);
    printf("Made, valid for %u day%s, for trying things out (each with its .key; keep those to their owners):\n",
           s->days, s->days == 1 ? "" : "s");
    printf("  ca.pem           whom both sides trust; its key has been thrown away\n");
    printf("  coordinator.pem  for %s%slocalhost, 127.0.0.1 and ::1\n", s->host != NULL ? s->host : "",
           s->host != NULL ? ", " : "");
    printf("  %s\n", last);
    if (s->relays > 0)
        print_relays(s);
    printf("\nNext\n");
    printf("  caucus serve --plan plan.yaml --state state --listen %s%s%s:7400", open, host, shut);
    print_options(s->dir, "coordinator", "client-ca");
    printf("  caucus join --plan plan.yaml --connect %s%s%s:7400", open, host, shut);
    print_options(s->dir, "client-1", "ca");
}

static int certify(const caucus_certify_settings *s) {
    caucus_error error = {0};
    caucus_stop_on_signals();
    caucus_status status = caucus_certify(s, &error);
    if (status == CAUCUS_OK) {
        print_made(s);
        return CAUCUS_EXIT_DONE;
    }
    return caucus_complain("certify", options, status, &error);
}

static int renew(const certifying *c) {
    caucus_error error = {0};
    uint32_t count = 0;
    const uint32_t days = c->set.days ? c->set.days : CAUCUS_CERTIFY_RELAY_DAYS;
    if (c->set.clients || c->set.relays || c->set.host)
        return caucus_usage("certify", "--renew: takes a directory and --days, nothing else");
    caucus_status status = caucus_certify_renew(c->set.dir, days, &count, &error);
    if (status != CAUCUS_OK)
        return caucus_complain("certify", options, status, &error);
    printf("Signed again, valid for %u day%s: relay-1.pem", days, days == 1 ? "" : "s");
    if (count > 1)
        printf(" … relay-%u.pem", count);
    printf("\n\nNext: each to its relay, in the place of the one there; then SIGHUP to it (kill -HUP)\n");
    return CAUCUS_EXIT_DONE;
}

int caucus_cli_certify(int argc, char **argv) {
    certifying c = {.set = {.stop = &caucus_stop}};
    int code = caucus_options_parse("certify", options, argc, argv, take, &c);
    if (caucus_options_over(&code, print_help))
        return code;
    if (c.set.dir != NULL && c.renew)
        return renew(&c);
    if (c.set.dir == NULL || c.set.clients == 0)
        return caucus_usage("certify", "%s — for example: caucus certify certs --clients 10",
                            c.set.dir == NULL ? "no directory given" : "--clients is missing");
    c.set.days = c.set.days ? c.set.days : 30;
    return certify(&c.set);
}
