/* SPDX-License-Identifier: Apache-2.0 */
/* missing.c: the list of all clients that are late or away, for the status page. See http_view.h.
 * layer: net
 *
 * Neighbours that are missing in the same way are one row. Where that makes more rows than the page has room for, a row
 * is a square of the figure above the list, with how many of its clients are missing: nobody is left out, and the list
 * is as long for a million of them as for a hundred. */
#include "net/http_view.h"

/* Clients first..last, `count` of them missing in one way: when they were last heard of. */
typedef struct range {
    uint32_t first, last, count;
    uint32_t never;        /* of them were not heard of by this process */
    double newest, oldest; /* of the others, in seconds since the process started */
} range;

typedef struct missing_way {
    const char *word;   /* in the column */
    uint8_t presence;   /* that makes it */
    const double *when; /* last heard of */
} missing_way;

static void join(range *r, const missing_way *way, uint32_t client) {
    const double when = way->when[client];
    if (r->count == 0)
        *r = (range){.first = client, .newest = -1, .oldest = -1};
    r->last = client;
    r->count++;
    if (when < 0) {
        r->never++;
        return;
    }
    r->newest = r->newest < 0 || when > r->newest ? when : r->newest;
    r->oldest = r->oldest < 0 || when < r->oldest ? when : r->oldest;
}

static void put_row(const caucus_view *view, const missing_way *way, const range *r, FILE *to) {
    const double now = view->status.uptime_seconds;
    (void)fprintf(to, "<tr><td>%u", r->first + 1);
    if (r->last > r->first)
        (void)fprintf(to, " to %u", r->last + 1);
    if (r->count < r->last - r->first + 1)
        (void)fprintf(to, " (%u of them)", r->count);
    (void)fprintf(to, "</td><td>%s</td><td>", way->word);
    if (r->never < r->count) {
        caucus_put_ago(to, now - r->newest);
        if (r->oldest < r->newest) {
            (void)fputs(" to ", to);
            caucus_put_ago(to, now - r->oldest);
        }
    }
    if (r->never == r->count)
        (void)fputs("not yet", to);
    else if (r->never > 0)
        (void)fprintf(to, ", %u not yet", r->never);
    (void)fputs("</td></tr>", to);
}

/* In:      each  0: neighbours are one row; else every so many clients are.  to  NULL: count rows alone.
 * Returns: rows. */
static uint32_t put_rows(const caucus_view *view, const missing_way *way, uint32_t each, FILE *to) {
    const uint32_t clients = view->plan->settings.clients;
    uint32_t rows = 0;
    range r = {0};
    for (uint32_t i = 0; i <= clients; i++) {
        const bool missing = i < clients && view->presence[i] == way->presence;
        const bool ends = i == clients || (each == 0 ? !missing : i % each == 0);
        if (ends && r.count > 0) {
            if (to)
                put_row(view, way, &r, to);
            rows++;
            r = (range){0};
        }
        if (missing)
            join(&r, way, i);
    }
    return rows;
}

void caucus_view_missing_list(const caucus_view *view, FILE *to) {
    const uint32_t clients = view->plan->settings.clients;
    if (!view->presence)
        return;
    const missing_way ways[] = {{"late", CAUCUS_VIEW_HERE, view->reported_at},
                                {"away", CAUCUS_VIEW_AWAY, view->seen_at}};
    const size_t from = caucus_view_overdue(view) ? 0 : 1, end = sizeof ways / sizeof *ways;
    uint32_t count = 0, most = 0, rows = 0;
    for (size_t w = from; w < end; w++) {
        const uint32_t missing = put_rows(view, &ways[w], 1, NULL);
        count += missing;
        most = missing > most ? missing : most;
        rows += put_rows(view, &ways[w], 0, NULL);
    }
    if (most <= CAUCUS_VIEW_NAMED)
        return;
    (void)fprintf(to,
                  "<details id=\"missing-list\"><summary>All %u that are missing</summary><table><caption "
                  "class=\"hidden\">Clients that are missing</caption><thead><tr><th scope=\"col\">clients</th>"
                  "<th scope=\"col\">are</th><th scope=\"col\">%s</th></tr></thead><tbody>",
                  count, from == 0 ? "last report, or last seen" : "last seen");
    const uint32_t cells = CAUCUS_VIEW_CELLS;
    for (size_t w = from; w < end; w++)
        (void)put_rows(view, &ways[w], rows <= cells ? 0 : (clients + cells - 1) / cells, to);
    (void)fputs("</tbody></table></details>", to);
}
