/* SPDX-License-Identifier: Apache-2.0 */
/* strip.c: the status page's strip of experts: who was in force when, over an axis of blocks or phases and one of time.
 * See http_view.h.
 * layer: net
 *
 * A stretch that is wide enough is an element of its own, with a frame, a number and what it is called. Narrow ones
 * would be nothing but frame, and hundreds of them as long as the rest of the page: they are one path per colour. */
#include "net/http_view.h"

#include <inttypes.h>
#include <math.h>

#define WIDE_PER_CENT 7.0  /* a stretch narrower than this has no number and no frame */
#define TIME_PER_CENT 25.0 /* what "59 min ago" takes on a phone, and what the ends of the axis take */

/* The axis: from `first`, `blocks` long. */
typedef struct axis {
    double first, blocks;
} axis;

/* The last block of a run that is over is not announced any more. */
static uint64_t last_block(const caucus_view *view) {
    return caucus_view_whole(view) ? caucus_view_blocks(view) : view->status.now.block;
}

static axis axis_of(const caucus_view *view) {
    const double first = (double)view->stretch[0].block;
    return (axis){first, fmax((double)last_block(view) - first + 1, 1)};
}

/* Where a stretch begins and how wide it is, in per cent. */
static double place_of(const caucus_view *view, axis a, uint32_t i, double *ret_width) {
    const double from = (double)view->stretch[i].block;
    const double end = i + 1 < view->stretches ? (double)view->stretch[i + 1].block : a.first + a.blocks;
    *ret_width = 100 * (end - from) / a.blocks;
    return 100 * (from - a.first) / a.blocks;
}

/* The axis of time: when an expert came, below the place where it did, as far as there is room. How long ago the first
 * one came stands at the end of the axis of blocks. */
static void put_times(const caucus_view *view, axis a, FILE *to) {
    double free_from = TIME_PER_CENT;
    bool begun = false;
    for (uint32_t i = 1; i < view->stretches; i++) {
        const caucus_stretch *s = &view->stretch[i];
        const double x = 100 * ((double)s->block - a.first) / a.blocks;
        if (s->seen_at < 0 || x < free_from || x > 100 - TIME_PER_CENT)
            continue;
        (void)fprintf(to, "%s<line x1=\"%.3f%%\" x2=\"%.3f%%\" y2=\"5\"/><text x=\"%.3f%%\" y=\"16\">",
                      begun ? "" : "<svg class=\"times\" aria-hidden=\"true\">", x, x, x);
        caucus_put_ago(to, view->status.uptime_seconds - s->seen_at);
        (void)fputs("</text>", to);
        begun = true;
        free_from = x + TIME_PER_CENT;
    }
    (void)fputs(begun ? "</svg>" : "", to);
}

/* What the ends of the strip are, and what its colours mean. */
static void put_key(const caucus_view *view, FILE *to) {
    const double now = view->status.uptime_seconds;
    (void)fprintf(to, "<p class=\"axis quiet\"><span>%s %" PRIu64, caucus_view_block_word(view),
                  view->stretch[0].block);
    if (view->stretch[0].seen_at >= 0) {
        (void)fputs(", ", to);
        caucus_put_ago(to, now - view->stretch[0].seen_at);
    }
    (void)fprintf(to, "</span><span>%s %" PRIu64, caucus_view_block_word(view), last_block(view));
    if (!view->status.finished) {
        (void)fputs(", now", to);
    } else if (view->ended_at >= 0) {
        (void)fputs(", ", to);
        caucus_put_ago(to, now - view->ended_at);
    }
    (void)fputs("</span></p>", to);
    caucus_figure_expert_key(view, to);
}

static void put_wide(const caucus_view *view, uint32_t i, double x, double width, FILE *to) {
    const caucus_stretch *s = &view->stretch[i];
    (void)fputs("<g><title>expert ", to);
    caucus_html_put(to, caucus_plan_expert_words(view->plan, s->expert).text);
    (void)fprintf(to, " from %s %" PRIu64, caucus_view_block_word(view), s->block);
    if (s->seen_at >= 0) {
        (void)fputs(", ", to);
        caucus_put_ago(to, view->status.uptime_seconds - s->seen_at);
    }
    (void)fprintf(to,
                  "</title><rect class=\"e%u%s\" x=\"%.3f%%\" width=\"%.3f%%\" height=\"100%%\"/>"
                  "<text x=\"%.3f%%\" y=\"50%%\" dy=\".35em\">%u</text></g>",
                  caucus_view_colour(view, s->expert), i + 1 == view->stretches ? " now" : "", x, width, x + width / 2,
                  s->expert);
}

/* Those of one colour, in a drawing that is 1000 wide and 1 high, whatever the page's width. */
static void put_narrow(const caucus_view *view, axis a, uint32_t colour, FILE *to) {
    bool begun = false;
    for (uint32_t i = 0; i < view->stretches; i++) {
        double width, x = place_of(view, a, i, &width);
        if (width >= WIDE_PER_CENT || caucus_view_colour(view, view->stretch[i].expert) != colour)
            continue;
        (void)fprintf(to, "%sM%.1f 0h%.1fv1H%.1fz", begun ? "" : "<path d=\"", 10 * x, 10 * width, 10 * x);
        begun = true;
    }
    if (begun)
        (void)fprintf(to, "\" class=\"e%u\"/>", colour);
}

void caucus_figure_strip(const caucus_view *view, FILE *to) {
    if (view->stretches == 0) {
        (void)fputs("<p class=\"quiet\">Nothing has been announced yet.</p>", to);
        return;
    }
    const axis a = axis_of(view);
    (void)fprintf(
        to, "<svg class=\"strip\" role=\"img\" aria-label=\"%u stretches of one expert each; in force now: expert ",
        view->stretches);
    caucus_html_put(to, caucus_plan_expert_words(view->plan, view->stretch[view->stretches - 1].expert).text);
    (void)fputs("\"><svg viewBox=\"0 0 1000 1\" preserveAspectRatio=\"none\">", to);
    for (uint32_t colour = 0; colour < CAUCUS_VIEW_COLOURS; colour++)
        put_narrow(view, a, colour, to);
    (void)fputs("</svg>", to);
    for (uint32_t i = 0; i < view->stretches; i++) {
        double width, x = place_of(view, a, i, &width);
        if (width >= WIDE_PER_CENT)
            put_wide(view, i, x, width, to);
    }
    (void)fputs("</svg>", to);
    put_times(view, a, to);
    put_key(view, to);
}
