/* SPDX-License-Identifier: Apache-2.0 */
/* clients.c: the clients on the status page: one by one where they are few, by density where they are many, and those
 * that are late or away by number, with when they were last seen. A run that is over waits for nobody and shows nobody.
 * See http_view.h.
 * layer: net */
#include "net/http_view.h"

enum {
    CELLS = CAUCUS_VIEW_CELLS, /* squares of the density, at most */
    NAMED = CAUCUS_VIEW_NAMED,
    SHOWN = CAUCUS_VIEW_SHOWN
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

/* Clients first+1 to end one by one: filled = reported, ring = expected, diamond = late, dash = away. Each can be
 * reached with the keyboard, and shows its number and what it is then. */
static void put_dots(const caucus_view *view, uint32_t first, uint32_t end, const char *after, FILE *to) {
    (void)fprintf(to,
                  "<a class=\"skip\" href=\"#%s\">Skip the clients</a><div class=\"dots\" role=\"group\" "
                  "aria-label=\"",
                  after);
    put_words(view, to);
    (void)fputs("\">", to);
    for (uint32_t i = first; i < end; i++) {
        const char *word = word_of(view, i);
        (void)fprintf(to, "<i class=%s title=\"client %u: %s\" role=img tabindex=0></i>", word, i + 1, word);
    }
    (void)fputs("</div>", to);
}

/* The clients that somebody wants to see of those that squares stand for, and the way to their neighbours. */
static void put_some(const caucus_view *view, FILE *to) {
    const uint32_t clients = view->plan->settings.clients;
    if (view->from == 0 || view->from > clients)
        return;
    const uint32_t first = view->from - 1, end = clients - first < SHOWN ? clients : first + SHOWN;
    (void)fprintf(to, "<h3 id=\"some\">Clients %u to %u</h3>", first + 1, end);
    put_dots(view, first, end, "some-end", to);
    (void)fputs("<p id=\"some-end\">", to);
    if (first > 0)
        (void)fprintf(to, "<a href=\"/?clients=%u#some\">earlier</a> ", first > SHOWN ? first - SHOWN + 1 : 1);
    if (end < clients)
        (void)fprintf(to, "<a href=\"/?clients=%u#some\">later</a> ", end + 1);
    (void)fputs("<a href=\"/\">close</a></p>", to);
}

/* Many clients: a square for every so many of them, the fuller the more have reported, with a corner where somebody is
 * late and a dash where somebody is away. It opens its clients one by one. */
static void put_density(const caucus_view *view, FILE *to) {
    const uint32_t clients = view->plan->settings.clients, each = (clients + CELLS - 1) / CELLS;
    const bool late = caucus_view_overdue(view);
    (void)fputs("<a class=\"skip\" href=\"#cells-end\">Skip the squares</a><div class=\"cells\" role=\"group\" "
                "aria-label=\"",
                to);
    put_words(view, to);
    (void)fputs("\">", to);
    for (uint32_t first = 0; first < clients; first += each) {
        const uint32_t end = clients - first < each ? clients : first + each;
        uint32_t count[3] = {0};
        for (uint32_t i = first; i < end; i++)
            count[view->presence[i] <= CAUCUS_VIEW_ANSWERED ? view->presence[i] : CAUCUS_VIEW_AWAY]++;
        const uint32_t reported = count[CAUCUS_VIEW_ANSWERED], away = count[CAUCUS_VIEW_AWAY],
                       here = count[CAUCUS_VIEW_HERE];
        (void)fprintf(to,
                      "<a href=\"/?clients=%u#some\" class=\"c%u%s%s\" title=\"clients %u to %u: %u reported, %u %s, "
                      "%u away\"></a>",
                      first + 1, (4 * reported) / (end - first), late && here > 0 ? " has-late" : "",
                      away > 0 ? " has-away" : "", first + 1, end, reported, here, late ? "late" : "expected", away);
    }
    (void)fprintf(to,
                  "</div><p class=\"quiet\" id=\"cells-end\">Each square is %u clients, and opens them one by one: the "
                  "fuller, the more have reported. A corner: somebody there is late. A dash: somebody is away.</p>",
                  each);
    put_some(view, to);
}

static void put_figure(const caucus_view *view, FILE *to) {
    if (!view->presence) {
        (void)fputs("<p class=\"quiet\">", to);
        put_words(view, to);
        (void)fputs(".</p>", to);
    } else if (view->plan->settings.clients <= CAUCUS_VIEW_DOTS) {
        put_dots(view, 0, view->plan->settings.clients, "clients-end", to);
    } else {
        put_density(view, to);
    }
}

/* What the shapes of dots mean; squares say it themselves. */
static void put_key(const caucus_view *view, FILE *to) {
    static const char *const words[] = {"reported", "expected", "late", "away"};
    if (!view->presence || (view->plan->settings.clients > CAUCUS_VIEW_DOTS && view->from == 0))
        return;
    (void)fputs("<p class=\"legend quiet\" id=\"clients-end\">", to);
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
