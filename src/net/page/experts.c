/* SPDX-License-Identifier: Apache-2.0 */
/* experts.c: for what share of the rounds each expert has been in force, and the key of the status page's strip, which
 * says it. See http_view.h.
 * layer: net
 *
 * Where the expert changes often (hedge), when the one in force came says little; its share says which one the fleet
 * plays. Rounds are counted when the next expert comes: memory is one number per expert, however long the run. */
#include "net/http_view.h"

#include <inttypes.h>

#include "algo/schedule.h"
#include "plan/family.h"

enum { NAMED = 8 }; /* experts in the key */

/* Rounds before a block or phase, up to a factor: blocks have equally many rounds each. */
static uint64_t rounds_before(const caucus_view *view, uint64_t block) {
    if (block == 0)
        return 0;
    return (caucus_plan_ops_of(view->plan)->phases ? caucus_phase_first(view->plan, block) : block) - 1;
}

/* Rounds that are over, and the end of a run that is. */
static uint64_t rounds_done(const caucus_view *view) {
    if (!view->status.finished)
        return rounds_before(view, view->status.now.block);
    return caucus_plan_ops_of(view->plan)->phases ? view->plan->settings.rounds : caucus_view_blocks(view);
}

void caucus_view_stretch_over(caucus_view *view, uint64_t next_block) {
    const caucus_stretch *last = &view->stretch[view->stretches - 1];
    const uint64_t from = rounds_before(view, last->block), end = rounds_before(view, next_block);
    if (view->in_force && end > from)
        view->in_force[last->expert] += end - from;
}

uint64_t caucus_view_in_force(const caucus_view *view, uint32_t expert) {
    const caucus_stretch *now = caucus_view_now(view);
    uint64_t rounds = view->in_force ? view->in_force[expert] : 0;
    if (view->in_force && now && now->expert == expert) {
        const uint64_t from = rounds_before(view, now->block), end = rounds_done(view);
        rounds += end > from ? end - from : 0;
    }
    return rounds;
}

/* 82 %, below 1 % */
static void put_share(FILE *to, uint64_t part, uint64_t whole) {
    const double share = 100.0 * (double)part / (double)whole;
    if (part > 0 && share < 1)
        (void)fputs("below 1 %", to);
    else if (part < whole && share > 99)
        (void)fputs("above 99 %", to);
    else
        (void)fprintf(to, "%.0f %%", share);
}

/* The expert in force, then those with the largest shares, among those that are not in `taken` yet. Returns: false if
 * no other has been in force. */
static bool next_expert(const caucus_view *view, const uint32_t *taken, uint32_t count, uint32_t *ret) {
    if (count == 0) {
        *ret = caucus_view_now(view)->expert;
        return true;
    }
    uint64_t most = 0;
    for (uint32_t y = 0; y < view->plan->settings.experts; y++) {
        uint32_t at = 0;
        while (at < count && taken[at] != y)
            at++;
        if (at == count && caucus_view_in_force(view, y) > most) {
            most = caucus_view_in_force(view, y);
            *ret = y;
        }
    }
    return most > 0;
}

/* The colour of an expert's latest stretch; where none of them is kept, it has no place on the strip either. */
static void put_box(const caucus_view *view, FILE *to, uint32_t expert) {
    for (uint32_t i = view->stretches; i-- > 0;) {
        if (view->stretch[i].expert == expert) {
            (void)fprintf(to, "<i class=\"box e%u\"></i> ", view->stretch[i].colour);
            return;
        }
    }
}

void caucus_figure_expert_key(const caucus_view *view, FILE *to) {
    uint64_t whole = 0, told = 0;
    for (uint32_t y = 0; view->in_force && y < view->plan->settings.experts; y++)
        whole += caucus_view_in_force(view, y);
    uint32_t named[NAMED], expert = 0;
    (void)fputs("<p class=\"legend quiet\" id=\"shares\">", to);
    for (uint32_t count = 0; count < NAMED && next_expert(view, named, count, &expert); count++) {
        named[count] = expert;
        told += caucus_view_in_force(view, expert);
        (void)fputs("<span>", to);
        put_box(view, to, expert);
        caucus_html_put(to, caucus_plan_expert_words(view->plan, expert).text);
        (void)fputs(count == 0 ? ", in force" : "", to);
        if (whole > 0) {
            (void)fputs(": ", to);
            put_share(to, caucus_view_in_force(view, expert), whole);
        }
        (void)fputs("</span> ", to);
    }
    if (told < whole) {
        (void)fputs("<span>others: ", to);
        put_share(to, whole - told, whole);
        (void)fputs("</span>", to);
    }
    (void)fputs("</p>", to);
}

void caucus_view_history_words(const caucus_view *view, FILE *to) {
    if (view->stretches == 0)
        return;
    caucus_put_thousands(to, view->read);
    (void)fprintf(to, " announcement%s", view->read == 1 ? "" : "s");
    if (view->left_off > 0)
        (void)fprintf(to, "; shown: the latest %u experts, %" PRIu64 " earlier ones left off", view->stretches,
                      view->left_off);
    (void)fprintf(to, "%s.", view->in_force ? "; per cent: of the rounds so far" : "");
}
