/* SPDX-License-Identifier: Apache-2.0 */
/* clients.c: the clients on the status page: one by one where they are few, by density where they are many, and those
 * that are late or away by number, with when they were last seen. A run that is over waits for nobody and shows nobody.
 * See http_view.h.
 * layer: net */
#include "net/http_view.h"

enum {
    FOCUSED = 32,              /* of the late and the away can be reached with the keyboard */
    CELLS = CAUCUS_VIEW_CELLS, /* squares of the density, at most */
    NAMED = CAUCUS_VIEW_NAMED
};

static const char *word_of(const caucus_view *view, uint32_t client) {
    if (view->presence[client] == CAUCUS_VIEW_ANSWERED)
        return "reported";
    if (view->presence[client] == CAUCUS_VIEW_AWAY)
        return "away";
    return caucus_view_overdue(view) ? "late" : "expected";
}

/* "Late: client 3 (last report 2 min ago), 7 and 2 more." */
static void put_those(const caucus_view *view, FILE *to, const char *what, uint8_t presence, const double *when,
                      const char *event, const char *never) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < view->plan->settings.clients; i++) {
        if (view->presence[i] != presence)
            continue;
        if (count < NAMED) {
            (void)fprintf(to, "%s%u", count == 0 ? what : ", ", i + 1);
            if (when[i] >= 0) {
                (void)fprintf(to, " (%s ", event);
                caucus_put_ago(to, view->status.uptime_seconds - when[i]);
                (void)fputc(')', to);
            } else {
                (void)fputs(never, to);
            }
        }
        count++;
    }
    if (count > NAMED)
        (void)fprintf(to, " and %u more, listed under Clients", count - NAMED);
    if (count > 0)
        (void)fputs(". ", to);
}

void caucus_view_missing(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    if (s->finished)
        return;
    if (!view->presence) {
        (void)fprintf(to, "%u of %u clients are not connected.", s->clients > s->present ? s->clients - s->present : 0,
                      s->clients);
        return;
    }
    if (caucus_view_overdue(view))
        put_those(view, to, "Late: client ", CAUCUS_VIEW_HERE, view->reported_at, "last report", "");
    put_those(view, to, "Not connected: client ", CAUCUS_VIEW_AWAY, view->seen_at, "last seen", " (not seen yet)");
    if (s->present >= s->clients && !caucus_view_overdue(view))
        (void)fputs("Every client is connected.", to);
}

static void put_words(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    uint32_t away = s->clients > s->present ? s->clients - s->present : 0;
    (void)fprintf(to, "%u of %u clients have reported, %u %s, %u not connected", s->answered, s->clients,
                  caucus_view_expected(view), caucus_view_overdue(view) ? "late" : "expected", away);
}

/* Clients one by one: filled = reported, ring = expected, diamond = late, dash = away. Who is late or away can be
 * reached with the keyboard, and shows its number then. */
static void put_dots(const caucus_view *view, FILE *to) {
    uint32_t focused = 0;
    (void)fputs("<div class=\"dots\" role=\"group\" aria-label=\"", to);
    put_words(view, to);
    (void)fputs("\">", to);
    for (uint32_t i = 0; i < view->plan->settings.clients; i++) {
        const char *word = word_of(view, i);
        const bool wanted = word[0] == 'a' || word[0] == 'l';
        (void)fprintf(to, "<i class=\"%s\" title=\"client %u: %s\"", word, i + 1, word);
        if (wanted && focused++ < FOCUSED)
            (void)fprintf(to, " role=\"img\" aria-label=\"client %u: %s\" tabindex=\"0\"", i + 1, word);
        (void)fputs("></i>", to);
    }
    (void)fputs("</div>", to);
}

/* Many clients: a square for every so many of them, the darker the more have reported, with a corner where somebody is
 * late or away. */
static void put_density(const caucus_view *view, FILE *to) {
    const uint32_t clients = view->plan->settings.clients, each = (clients + CELLS - 1) / CELLS;
    (void)fputs("<div class=\"cells\" role=\"img\" aria-label=\"", to);
    put_words(view, to);
    (void)fputs("\">", to);
    for (uint32_t first = 0; first < clients; first += each) {
        const uint32_t end = clients - first < each ? clients : first + each;
        uint32_t count[3] = {0};
        for (uint32_t i = first; i < end; i++)
            count[view->presence[i] <= CAUCUS_VIEW_ANSWERED ? view->presence[i] : CAUCUS_VIEW_AWAY]++;
        const uint32_t reported = count[CAUCUS_VIEW_ANSWERED], away = count[CAUCUS_VIEW_AWAY],
                       here = count[CAUCUS_VIEW_HERE];
        const bool late = caucus_view_overdue(view);
        (void)fprintf(to, "<i class=\"c%u%s\" title=\"clients %u to %u: %u reported, %u %s, %u away\"></i>",
                      (4 * reported) / (end - first), away > 0 || (late && here > 0) ? " some" : "", first + 1, end,
                      reported, here, late ? "late" : "expected", away);
    }
    (void)fprintf(to,
                  "</div><p class=\"quiet\">Each square is %u clients: the fuller, the more have reported. A corner: "
                  "somebody there is late or away.</p>",
                  each);
}

static void put_figure(const caucus_view *view, FILE *to) {
    if (!view->presence) {
        (void)fputs("<p class=\"quiet\">", to);
        put_words(view, to);
        (void)fputs(".</p>", to);
    } else if (view->plan->settings.clients <= CAUCUS_VIEW_DOTS) {
        put_dots(view, to);
    } else {
        put_density(view, to);
    }
}

/* What the shapes mean; squares say it themselves. */
static void put_key(const caucus_view *view, FILE *to) {
    static const char *const words[] = {"reported", "expected", "late", "away"};
    if (!view->presence || view->plan->settings.clients > CAUCUS_VIEW_DOTS)
        return;
    (void)fputs("<p class=\"legend quiet\">", to);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        (void)fprintf(to, "<span><i class=\"%s\"></i> %s</span> ", words[i], words[i]);
    (void)fputs("</p>", to);
}

void caucus_view_clients(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    const bool half = caucus_view_has_step(view); /* it stands beside it */
    (void)fprintf(to,
                  "<section class=\"card %s\" aria-labelledby=\"clients-title\"><h2 id=\"clients-title\">Clients</h2>",
                  half ? "half" : "whole-width");
    if (s->finished) {
        (void)fprintf(to, "<p id=\"clients\">%u client%s; %u still connected.</p></section>", s->clients,
                      s->clients == 1 ? "" : "s", s->present);
        return;
    }
    if (s->started)
        (void)fprintf(to, "<p id=\"clients\">%u of %u reported, %u connected</p>", s->answered, s->clients, s->present);
    (void)fputs("<div id=\"dots\">", to);
    put_figure(view, to);
    (void)fputs("</div>", to);
    put_key(view, to);
    caucus_view_missing_list(view, to);
    (void)fputs("</section>", to);
}
