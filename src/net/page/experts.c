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

/* Rounds before a block or phase, up to a factor: blocks have equally many rounds each. */
static uint64_t rounds_before(const caucus_view *view, uint64_t block) {
    if (block == 0)
        return 0;
    return (caucus_plan_ops_of(view->plan)->phases ? caucus_phase_first(view->plan, block) : block) - 1;
}

/* Rounds that are over, and the end of a run that is. */
static uint64_t rounds_done(const caucus_view *view) {
    if (!caucus_view_whole(view))
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

static bool is_among(const uint32_t *experts, uint32_t count, uint32_t expert) {
    uint32_t at = 0;
    while (at < count && experts[at] != expert)
        at++;
    return at < count;
}

/* The latest that is not in `taken` yet: where there are too many experts to count their rounds. */
static bool latest_expert(const caucus_view *view, const uint32_t *taken, uint32_t count, uint32_t *ret) {
    for (uint32_t i = view->stretches; i-- > 0;) {
        if (!is_among(taken, count, view->stretch[i].expert)) {
            *ret = view->stretch[i].expert;
            return true;
        }
    }
    return false;
}

/* The expert in force, then those with the largest shares, among those that are not in `taken` yet. Returns: false if
 * no other has been in force. */
static bool next_expert(const caucus_view *view, const uint32_t *taken, uint32_t count, uint32_t *ret) {
    if (count == 0 || !view->in_force)
        return latest_expert(view, taken, count, ret);
    uint64_t most = 0;
    for (uint32_t y = 0; y < view->plan->settings.experts; y++) {
        if (caucus_view_in_force(view, y) > most && !is_among(taken, count, y)) {
            most = caucus_view_in_force(view, y);
            *ret = y;
        }
    }
    return most > 0;
}

void caucus_view_choose_told(caucus_view *view) {
    uint32_t chosen[CAUCUS_VIEW_TOLD], count = 0, expert = 0;
    while (count < CAUCUS_VIEW_TOLD && next_expert(view, chosen, count, &expert))
        chosen[count++] = expert;
    for (uint32_t colour = 0; colour < CAUCUS_VIEW_TOLD; colour++)
        if (!is_among(chosen, count, view->told[colour]))
            view->told[colour] = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t colour = 0;
        while (!is_among(view->told, CAUCUS_VIEW_TOLD, chosen[i]) && view->told[colour] != UINT32_MAX)
            colour++;
        if (!is_among(view->told, CAUCUS_VIEW_TOLD, chosen[i]))
            view->told[colour] = chosen[i];
    }
}

uint32_t caucus_view_colour(const caucus_view *view, uint32_t expert) {
    uint32_t colour = 0;
    while (colour < CAUCUS_VIEW_TOLD && view->told[colour] != expert)
        colour++;
    return colour;
}

void caucus_figure_expert_key(const caucus_view *view, FILE *to) {
    uint64_t whole = 0, told = 0;
    for (uint32_t y = 0; view->in_force && y < view->plan->settings.experts; y++)
        whole += caucus_view_in_force(view, y);
    uint32_t named[CAUCUS_VIEW_TOLD], expert = 0, count = 0;
    (void)fputs("<p class=\"legend quiet\" id=\"shares\">", to);
    for (; count < CAUCUS_VIEW_TOLD && next_expert(view, named, count, &expert); count++) {
        named[count] = expert;
        told += caucus_view_in_force(view, expert);
        (void)fprintf(to, "<span><i class=\"box e%u\"></i> ", caucus_view_colour(view, expert));
        caucus_html_put(to, caucus_plan_expert_words(view->plan, expert).text);
        (void)fputs(count == 0 ? ", in force" : "", to);
        if (whole > 0) {
            (void)fputs(": ", to);
            put_share(to, caucus_view_in_force(view, expert), whole);
        }
        (void)fputs("</span> ", to);
    }
    if (next_expert(view, named, count, &expert)) {
        (void)fprintf(to, "<span><i class=\"box e%u\"></i> others", CAUCUS_VIEW_TOLD);
        if (whole > 0) {
            (void)fputs(": ", to);
            put_share(to, whole - told, whole);
        }
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
