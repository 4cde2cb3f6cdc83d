/* SPDX-License-Identifier: Apache-2.0 */
/* switches.c: what the status page says of changes of the expert. See http_view.h.
 * layer: net
 *
 * Algorithms with a number of switches count each of them, whichever expert comes out: that number is spent. The others
 * select anew in every block or phase, mostly the expert that is in force anyway; of them only changes are told. */
#include "net/http_view.h"

#include <inttypes.h>

#include "plan/family.h"

static bool has_switches(const caucus_view *view) {
    return caucus_plan_ops_of(view->plan)->checks;
}

void caucus_view_switch_word(const caucus_view *view, FILE *to) {
    (void)fputs(has_switches(view) ? "Switches" : "Changes of expert", to);
}

static void put_changes(const caucus_view *view, FILE *to) {
    const uint64_t changes = view->stretches > 0 ? view->left_off + view->stretches - 1 : 0;
    (void)fputs(view->skipped ? "at least " : "", to);
    caucus_put_thousands(to, changes);
    (void)fprintf(to, "%s; this algorithm selects anew in every %s", view->status.finished ? "" : " so far",
                  caucus_view_block_word(view));
}

void caucus_view_switches(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    if (!has_switches(view))
        put_changes(view, to);
    else if (s->selections_allowed > 0)
        (void)fprintf(to, "%" PRIu64 " of %" PRIu64 " used, %" PRIu64 " left", s->selections, s->selections_allowed,
                      s->selections_allowed > s->selections ? s->selections_allowed - s->selections : 0);
    else
        (void)fprintf(to, "%" PRIu64 " so far; the plan sets no limit", s->selections);
}

void caucus_figure_switches(const caucus_view *view, FILE *to) {
    if (has_switches(view) && view->status.selections_allowed > 0)
        caucus_figure_bar(to, (double)view->status.selections, (double)view->status.selections_allowed,
                          "share of switches used");
}
