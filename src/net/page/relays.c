/* SPDX-License-Identifier: Apache-2.0 */
/* relays.c: the status page's card of relays: how many are here, which are not, what each of them carries. See
 * http_view.h.
 * layer: net
 *
 * A coordinator without relays has no such card. */
#include "net/http_view.h"

#include <inttypes.h>

/* Relays that are shown one by one. */
static uint32_t listed(const caucus_server_status *s) {
    return s->relays.count < CAUCUS_RELAYS_LISTED ? s->relays.count : CAUCUS_RELAYS_LISTED;
}

/* Those that are not here, by number, the first few. */
static void put_away(const caucus_server_status *s, FILE *to) {
    uint32_t named = 0;
    const uint32_t away = s->relays.count > s->relays.here ? s->relays.count - s->relays.here : 0;
    if (away == 0)
        return;
    (void)fputs("<p class=\"quiet\" id=\"relays-away\">Not here: ", to);
    for (uint32_t i = 0; i < listed(s) && named < CAUCUS_VIEW_NAMED; i++)
        if (!s->relay[i].here)
            (void)fprintf(to, "%s%u", named++ > 0 ? ", " : "relay ", s->relay[i].number);
    if (away > named)
        (void)fprintf(to, "%s%u%s", named > 0 ? " and " : "", away - named, named > 0 ? " more" : " relays");
    (void)fputs(". Who was there is away, unless it came another way.</p>", to);
}

static void put_each(const caucus_server_status *s, FILE *to) {
    (void)fputs("<details id=\"relay-list\"><summary>Relay by relay</summary><table><caption class=\"hidden\">Relays"
                "</caption><thead><tr><th scope=\"col\">relay</th><th scope=\"col\">is</th>"
                "<th scope=\"col\">clients</th><th scope=\"col\">partials taken</th>"
                "<th scope=\"col\">made again</th></tr></thead><tbody>",
                to);
    for (uint32_t i = 0; i < listed(s); i++) {
        const caucus_relay_status *r = &s->relay[i];
        (void)fprintf(to, "<tr><td>%u</td><td>%s</td><td>", r->number, r->here ? "here" : "away");
        caucus_put_thousands(to, r->clients);
        (void)fputs("</td><td>", to);
        caucus_put_thousands(to, r->accepted);
        (void)fputs("</td><td>", to);
        caucus_put_thousands(to, r->stale + r->refused);
        (void)fputs("</td></tr>", to);
    }
    (void)fputs("</tbody></table>", to);
    if (s->relays.count > listed(s))
        (void)fprintf(to, "<p class=\"quiet\">The first %u of %u.</p>", listed(s), s->relays.count);
    (void)fputs("</details>", to);
}

void caucus_view_relays(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    if (s->relays.count == 0)
        return;
    (void)fputs("<section class=\"card whole-width\" aria-labelledby=\"relays-title\"><h2 id=\"relays-title\">Relays"
                "</h2>",
                to);
    if (!s->relays.up)
        (void)fputs("<p class=\"warning\"><strong>NATS is not connected.</strong> No relay is heard.</p>", to);
    (void)fprintf(to, "<p id=\"relays\">%u of %u relay%s here, with ", s->relays.here, s->relays.count,
                  s->relays.count == 1 ? "" : "s");
    caucus_put_thousands(to, s->relays.clients);
    (void)fprintf(to, " client%s; ", s->relays.clients == 1 ? "" : "s");
    caucus_put_thousands(to, s->relays.reports);
    (void)fprintf(to, " report%s came through them</p>", s->relays.reports == 1 ? "" : "s");
    if (s->relays.cut_off > 0)
        (void)fprintf(to,
                      "<p class=\"warning\"><strong>Cut off: %" PRIu64
                      ".</strong> What it sent no relay sends; the log "
                      "says which and why.</p>",
                      s->relays.cut_off);
    put_away(s, to);
    put_each(s, to);
    (void)fputs("</section>", to);
}
