/* SPDX-License-Identifier: Apache-2.0 */
/* http_figures.c: the status page's figures, as SVG and plain elements.
 *
 * Lengths are percentages, so a figure fits a phone and a screen alike. No style attribute: the page's security policy
 * forbids them; colours and shapes come from style.css by class. What a colour says, a shape or a number says too.
 * Each figure is one image with one sentence to a screen reader; the same values stand in the page's tables. */
#include <inttypes.h>
#include <math.h>

#include "net/http_view.h"

static double per_cent(double part, double whole) {
    if (!(whole > 0) || !(part > 0))
        return 0;
    return part >= whole ? 100 : 100 * part / whole;
}

void caucus_figure_bar(FILE *to, double part, double whole, const char *label) {
    double width = per_cent(part, whole);
    (void)fprintf(to, "<svg class=\"bar%s\" role=\"img\" aria-label=\"", width >= 100 ? " full" : "");
    caucus_html_put(to, label);
    (void)fprintf(to,
                  "\"><rect class=\"whole\" width=\"100%%\" height=\"100%%\" rx=\"7\"/>"
                  "<rect class=\"part\" width=\"%.2f%%\" height=\"100%%\" rx=\"7\"/></svg>",
                  width);
}

/* Losses shown: a line from low to high and a point between per phase, the oldest first; the range of a loss is the
 * height. */
void caucus_figure_look(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    const double lo = view->plan->settings.lo, range = view->plan->settings.hi - lo;
    (void)fprintf(
        to,
        "<svg class=\"look\" role=\"img\" aria-label=\"losses shown of %u phases, from %g at the bottom to %g "
        "at the top\">",
        s->looks, lo, view->plan->settings.hi);
    for (uint32_t i = s->looks; i-- > 0;) {
        const caucus_look *look = &s->look[i];
        const double x = 100 * ((double)(s->looks - 1 - i) + 0.5) / (double)s->looks;
        const double y = 100 - per_cent(look->loss - lo, range);
        (void)fprintf(to,
                      "<g><title>phase %" PRIu64 ": %.3g</title><line x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%.2f%%\" "
                      "y2=\"%.2f%%\"/><circle class=\"part\" cx=\"%.2f%%\" cy=\"%.2f%%\" r=\"4\"/></g>",
                      look->phase, look->loss, x, x, 100 - per_cent(look->low - lo, range),
                      100 - per_cent(look->high - lo, range), x, y);
    }
    (void)fputs("</svg>", to);
}

/* The step in hand: a ring that fills until the deadline. pathLength makes the ring 100 long. */
void caucus_figure_clock(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    bool running = s->started && !s->finished;
    double share = running ? per_cent(s->seconds_in_step, s->deadline_seconds) : 0;
    (void)fprintf(to, "<svg class=\"clock%s\" viewBox=\"0 0 100 100\" role=\"img\" aria-label=\"",
                  caucus_view_overdue(view) ? " overdue" : "");
    if (!running)
        (void)fprintf(to, "%s", s->finished ? "the run is over" : "the run has not started");
    else if (s->deadline_seconds > 0)
        (void)fprintf(to, "step open for %.0f of %.0f seconds", floor(s->seconds_in_step), s->deadline_seconds);
    else
        (void)fprintf(to, "step open for %.0f seconds, no deadline", floor(s->seconds_in_step));
    (void)fprintf(to, "\"><circle class=\"whole\" cx=\"50\" cy=\"50\" r=\"42\"/>");
    if (share > 0)
        (void)fprintf(
            to,
            "<circle class=\"part\" cx=\"50\" cy=\"50\" r=\"42\" pathLength=\"100\" stroke-dasharray=\"%.2f 100\" "
            "transform=\"rotate(-90 50 50)\"/>",
            share);
    if (running && s->seconds_in_step < 600)
        (void)fprintf(to, "<text x=\"50\" y=\"50\" dy=\".35em\">%.0f s</text></svg>", floor(s->seconds_in_step));
    else if (running)
        (void)fprintf(to, "<text x=\"50\" y=\"50\" dy=\".35em\">%.0f min</text></svg>", floor(s->seconds_in_step / 60));
    else
        (void)fprintf(to, "<text x=\"50\" y=\"50\" dy=\".35em\">%s</text></svg>", s->finished ? "done" : "–");
}
