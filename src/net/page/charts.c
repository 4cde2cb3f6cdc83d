/* SPDX-License-Identifier: Apache-2.0 */
/* charts.c: the last hour on the status page, three small charts of sixty minutes each. See http_view.h.
 * layer: net
 *
 * One path a chart: a bar per minute, the oldest on the left. The words beside it say the same numbers. */
#include "net/http_view.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

enum { HEIGHT = 24 };

static uint64_t field_at(const caucus_recent *recent, uint32_t ago, size_t offset) {
    uint64_t value;
    memcpy(&value, (const char *)caucus_recent_at(recent, ago) + offset, sizeof value);
    return value;
}

/* `all`: since the process started; said where it is more than the chart shows. */
static void put_chart(const caucus_recent *recent, FILE *to, const char *what, size_t offset, uint64_t all) {
    uint64_t total = 0, most = 0;
    for (uint32_t ago = 0; ago < recent->known; ago++) {
        const uint64_t value = field_at(recent, ago, offset);
        total += value;
        most = value > most ? value : most;
    }
    (void)fprintf(to, "<div><p><strong>%s</strong> ", what);
    caucus_put_thousands(to, total);
    (void)fprintf(to, "<span class=\"quiet\">, at most ");
    caucus_put_thousands(to, most);
    (void)fputs(" a minute", to);
    if (all > total) {
        (void)fputs("; ", to);
        caucus_put_thousands(to, all);
        (void)fputs(" since this process started", to);
    }
    (void)fprintf(to,
                  "</span></p><svg class=\"hour\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
                  "role=\"img\" aria-label=\"%s in the last %u minute%s: %" PRIu64 ", at most %" PRIu64
                  " a minute\"><rect class=\"whole\" width=\"%d\" height=\"%d\"/><path class=\"part\" d=\"",
                  CAUCUS_RECENT_MINUTES, HEIGHT, what, recent->known, recent->known == 1 ? "" : "s", total, most,
                  CAUCUS_RECENT_MINUTES, HEIGHT);
    for (uint32_t ago = recent->known; ago-- > 0;) {
        const uint64_t value = field_at(recent, ago, offset);
        if (value > 0) /* anything that happened is seen: at least a twelfth of the height */
            (void)fprintf(to, "M%u %dv-%.1fh.85V%dz", CAUCUS_RECENT_MINUTES - 1 - ago, HEIGHT,
                          2 + (HEIGHT - 2) * ((double)value / (double)most), HEIGHT);
    }
    (void)fputs("\"/></svg></div>", to);
}

void caucus_figure_hour(const caucus_view *view, FILE *to) {
    const caucus_recent *recent = &view->recent;
    (void)fputs("<div class=\"charts\">", to);
    put_chart(recent, to, "Steps decided", offsetof(caucus_recent_counts, steps), view->status.steps_decided);
    put_chart(recent, to, "Reports counted", offsetof(caucus_recent_counts, reports), view->status.reports);
    put_chart(recent, to, "Refusals", offsetof(caucus_recent_counts, refused), view->status.refused);
    (void)fputs("</div><p class=\"axis quiet\"><span>60 minutes ago</span><span>now</span></p>", to);
    if (recent->known < CAUCUS_RECENT_MINUTES)
        (void)fprintf(to, "<p class=\"quiet\">Known so far: %u minute%s.</p>", recent->known,
                      recent->known == 1 ? "" : "s");
}
