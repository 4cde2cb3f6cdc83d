/* SPDX-License-Identifier: Apache-2.0 */
/* relay_texts.c: see relay_texts.h. */
#include "net/relay/relay_texts.h"

#include <inttypes.h>

#include <caucus/version.h>

/* One figure, for the page and for /metrics. */
typedef struct figure {
    const char *metric, *type, *help; /* help: also its words on the page */
    uint64_t value;
} figure;

enum { FIGURES = 13 };

static void take(const caucus_relay_texts *t, figure ret[FIGURES], caucus_relay_own_status *ret_now) {
    caucus_relay_get_status(t->relay, ret_now);
    const caucus_relay_own_status *s = ret_now;
    const figure all[FIGURES] = {
        {"relay_ready", "gauge", "1 while the coordinator is heard and clients are let in", s->ready},
        {"relay_term", "gauge", "Term of the coordinator", s->term},
        {"relay_session", "gauge", "Session with it", s->session},
        {"relay_announcements", "gauge", "Announcements heard", s->announcements},
        {"relay_clients", "gauge", "Clients that are here", s->clients},
        {"relay_partials_sent_total", "counter", "Partials sent, those sent again among them", s->sent},
        {"relay_partials_accepted_total", "counter", "Partials that the coordinator has taken", s->accepted},
        {"relay_partials_again_total", "counter", "Partials that had to be made again", s->stale + s->refused},
        {"relay_durable", "gauge", "Number of the last partial of this session that is in an announcement", s->durable},
        {"relay_kept_bytes", "gauge", "Bytes of reports that are kept until they are durable", s->kept_bytes},
        {"relay_hung_up_total", "counter", "Clients that were told to send again", s->hung_up},
        {"nats_reconnects_total", "counter", "Times NATS was connected again", s->reconnects},
        {"nats_drops_total", "counter", "Messages of NATS that could not be kept until they were read", s->drops},
    };
    for (size_t i = 0; i < FIGURES; i++)
        ret[i] = all[i];
}

static void put_metrics(void *user, FILE *to) {
    const caucus_relay_texts *t = user;
    figure figures[FIGURES];
    caucus_relay_own_status now;
    take(t, figures, &now);
    (void)fprintf(to,
                  "# HELP caucus_relay_info Version, plan and number of this relay; always 1.\n"
                  "# TYPE caucus_relay_info gauge\n"
                  "caucus_relay_info{version=\"%s\",plan=\"%s\",relay=\"%u\"} 1\n"
                  "# HELP caucus_nats_up 1 while a NATS server is connected.\n"
                  "# TYPE caucus_nats_up gauge\n"
                  "caucus_nats_up %d\n",
                  CAUCUS_VERSION, t->plan, t->number, now.up);
    for (size_t i = 0; i < FIGURES; i++)
        (void)fprintf(to, "# HELP caucus_%s %s.\n# TYPE caucus_%s %s\ncaucus_%s %" PRIu64 "\n", figures[i].metric,
                      figures[i].help, figures[i].metric, figures[i].type, figures[i].metric, figures[i].value);
}

static const char *state_of(const caucus_relay_own_status *now) {
    return now->ready          ? "ok"
           : !now->up          ? "NATS is not connected"
           : now->session == 0 ? "waiting for the coordinator"
                               : "the coordinator is not heard, or nobody is let in any more";
}

static bool put_ready(void *user, FILE *to) {
    const caucus_relay_texts *t = user;
    caucus_relay_own_status now;
    caucus_relay_get_status(t->relay, &now);
    (void)fprintf(to, "%s\n", state_of(&now));
    return now.ready;
}

static void put_page(void *user, FILE *to) {
    const caucus_relay_texts *t = user;
    figure figures[FIGURES];
    caucus_relay_own_status now;
    take(t, figures, &now);
    (void)fprintf(to,
                  "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" "
                  "content=\"5\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
                  "<title>Relay %u</title><link rel=\"icon\" href=\"icon.svg\"><link rel=\"stylesheet\" "
                  "href=\"style.css\"></head><body><main><h1>Relay %u</h1><p id=\"state\"%s>%s</p><p class=\"quiet\">"
                  "Plan %.12s. What the run has decided is on the coordinator's page.</p><section class=\"card "
                  "whole-width\"><table><caption class=\"hidden\">Figures of this relay</caption><tbody>",
                  t->number, t->number, now.ready ? "" : " class=\"warning\"",
                  now.ready ? "The coordinator is heard, and clients are let in." : state_of(&now), t->plan);
    for (size_t i = 1; i < FIGURES; i++) /* the first is said above */
        (void)fprintf(to, "<tr><th scope=\"row\">%s</th><td>%" PRIu64 "</td></tr>", figures[i].help, figures[i].value);
    (void)fputs("</tbody></table></section></main></body></html>\n", to);
}

void caucus_relay_texts_init(caucus_relay_texts *ret, const caucus_relay *relay, uint16_t number, const char *plan) {
    *ret = (caucus_relay_texts){.http = {.page = put_page, .metrics = put_metrics, .ready = put_ready, .user = ret},
                                .relay = relay,
                                .number = number};
    (void)snprintf(ret->plan, sizeof ret->plan, "%s", plan);
}
