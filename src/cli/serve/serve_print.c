/* serve_print.c: see serve_print.h. */
#include "cli/serve/serve_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dial/address.h"

static void json_text(const char *text) {
    putchar('"');
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            printf("\\u%04x", (unsigned)(unsigned char)*text);
        else
            putchar(*text);
    putchar('"');
}

static void json_number(const char *name, double value) {
    if (isfinite(value))
        printf(", \"%s\": %.10g", name, value);
    else
        printf(", \"%s\": null", name);
}

void caucus_serve_listening(bool json, const char *listen, uint16_t port, const char *hash, uint16_t http_port,
                            bool seeded) {
    caucus_address where;
    caucus_error error;
    char host[CAUCUS_HOST_BYTES + 2] = "?";
    if (caucus_address_split(listen, "listen", &where, &error) == CAUCUS_OK)
        snprintf(host, sizeof host, strchr(where.host, ':') ? "[%s]" : "%s", where.host);
    if (json) {
        printf("{\"listening\": \"%s:%u\", \"plan\": \"%s\"", host, (unsigned)port, hash);
        if (http_port > 0)
            printf(", \"http_port\": %u", (unsigned)http_port);
        printf(", \"seeded\": %s}\n", seeded ? "true" : "false");
    } else {
        printf("listening on %s:%u\nplan %s\n", host, (unsigned)port, hash);
        if (http_port > 0)
            printf("status page on port %u\n", (unsigned)http_port);
    }
    fflush(stdout);
}

void caucus_serve_summary(bool json, const caucus_server_status *now, const char *name, const char *state_dir) {
    if (json) {
        printf("{\"finished\": %s, \"expert\": %u, \"selections\": %" PRIu64 ", \"selections_allowed\": %" PRIu64
               ", \"checks\": %" PRIu64 ", "
               "\"steps\": %" PRIu64,
               now->finished ? "true" : "false", now->now.expert, now->selections, now->switches_allowed, now->checks,
               now->steps_closed);
        json_number("epsilon_spent", now->epsilon_spent);
        json_number("epsilon_choices", now->epsilon_choices);
        json_number("epsilon_messages", now->epsilon_messages);
        json_number("delta", now->delta);
        printf(", \"bytes_in\": %" PRIu64 ", \"bytes_out\": %" PRIu64 ", \"scalars_up\": %" PRIu64
               ", \"scalars_paper\": %" PRIu64 ", \"reports\": %" PRIu64 ", \"refused\": %" PRIu64
               ", \"commits\": %" PRIu64 ", \"seeded\": %s, \"name\": ",
               now->bytes_in, now->bytes_out, now->scalars_up, now->scalars_paper, now->reports, now->refused,
               now->commits, now->seeded ? "true" : "false");
        json_text(name);
        fputs("}\n", stdout);
        return;
    }
    printf("%s: expert %u in force, %" PRIu64 " of at most %" PRIu64 " selections, %" PRIu64 " steps\n",
           now->finished ? "done" : "stopped", now->now.expert, now->selections, now->switches_allowed,
           now->steps_closed);
    printf("epsilon spent on choices: %.6g of %.6g%s\n", now->epsilon_spent, now->epsilon_choices,
           now->seeded ? "   NOT PRIVATE (seeded)" : "");
    printf("received %" PRIu64 " numbers (the paper's protocol: %" PRIu64 "); %" PRIu64 " bytes in, %" PRIu64
           " bytes out\n",
           now->scalars_up, now->scalars_paper, now->bytes_in, now->bytes_out);
    if (!now->finished)
        printf("to go on: the same command with --state %s\n", state_dir);
}
