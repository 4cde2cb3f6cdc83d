/* SPDX-License-Identifier: Apache-2.0 */
/* step.c: the status page's card of the step in hand: what is asked, and how long it stays open. See http_view.h.
 * layer: net
 *
 * A run that has not begun, is over, or is found to be an older copy has no step in hand and no such card. */
#include "net/http_view.h"

#include <inttypes.h>

#include "plan/pace/pace.h"

static void put_deadline(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    const caucus_settings *plan = &view->plan->settings;
    if (plan->pace == CAUCUS_PACE_OWN && !s->seeded) {
        (void)fputs("Decided by the clock: ", to);
        caucus_put_duration(to, plan->grace);
        (void)fputs(" after the end of ", to);
        if (caucus_pace_by_question(plan))
            (void)fprintf(to, "the run's first %" PRIu64 " slots of ",
                          caucus_pace_question_end(plan, s->now.block - 1) - plan->start);
        else
            (void)fputs("each slot of ", to);
        caucus_put_duration(to, plan->phase_time);
        (void)fputs(", on whatever has come.", to);
    } else if (caucus_view_overdue(view))
        (void)fputs("Past its deadline.", to);
    else if (s->deadline_seconds > 0) {
        (void)fputs("A step stays open for at most ", to);
        caucus_put_duration(to, s->deadline_seconds);
        (void)fputs(".", to);
    } else
        (void)fputs("No deadline: a step is decided when everybody has answered.", to);
}

bool caucus_view_has_step(const caucus_view *view) {
    const caucus_server_status *s = &view->status;
    return s->started && !s->finished && !s->rolled_back;
}

void caucus_view_step(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    if (!caucus_view_has_step(view))
        return;
    (void)fputs("<section class=\"card half\" aria-labelledby=\"clock-title\"><h2 id=\"clock-title\">Step in hand</h2>"
                "<div class=\"beside\"><div id=\"clock\">",
                to);
    caucus_figure_clock(view, to);
    (void)fputs("</div><div><p class=\"first-capital\" id=\"step\">", to);
    if (s->now.ask == CAUCUS_ASK_NOTHING)
        (void)fputs("nothing more is asked", to);
    else
        (void)fprintf(to, "%s %" PRIu64, caucus_view_block_word(view), s->now.block);
    (void)fprintf(to, "</p><p class=\"quiet\" id=\"ask\">asks for %s</p></div></div>", caucus_view_ask(view));
    if (s->rollback_claims == 0) {
        (void)fputs("<p class=\"quiet\" id=\"deadline\">", to);
        put_deadline(view, to);
        (void)fputs("</p>", to);
    }
    (void)fputs("</section>", to);
}
