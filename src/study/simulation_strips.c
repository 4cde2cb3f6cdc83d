/* SPDX-License-Identifier: Apache-2.0 */
/* simulation_strips.c: see simulation_strips.h. */
#include "study/simulation_strips.h"

#include "show/plan_words.h"
#include "study/simulation_plot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { STRIPS = 12, SHADES = CAUCUS_PLOT_SHADES };

static const char other_colour[] = "#BBBBBB";

typedef struct share {
    uint32_t expert;
    double rounds;
} share;

static int by_rounds(const void *a, const void *b) {
    const share *x = a, *y = b;
    if (x->rounds != y->rounds)
        return x->rounds < y->rounds ? 1 : -1;
    return x->expert < y->expert ? -1 : x->expert > y->expert;
}

/* What a strip shows: one trial. */
typedef struct strip {
    const caucus_choices *choices;
    uint64_t rounds;
    uint32_t best, last; /* in hindsight; in force at the end */
} strip;

/* Of one run its first trials; of several the first trial of each. Returns: how many. */
static uint32_t strips_of(const caucus_outcome *o, strip ret[STRIPS]) {
    const uint32_t all = o->count == 1 ? o->result[0].done : (uint32_t)o->count, count = all < STRIPS ? all : STRIPS;
    for (uint32_t t = 0; t < count; t++) {
        const size_t run = o->count == 1 ? 0 : t;
        const caucus_trial_result *trial = &o->result[run].trial[o->count == 1 ? t : 0];
        ret[t] = (strip){&trial->choices, caucus_run_rounds(&o->run[run], &o->result[run].plan->settings), trial->best,
                         trial->last};
    }
    return count;
}

static uint64_t end_of(const strip *s, uint32_t k) {
    return k + 1 < s->choices->count ? s->choices->before[k + 1] : s->rounds;
}

/* The experts that were in force longest in what is shown.
 * Out:     *ret [at most STRIPS * CAUCUS_CHOICES], *ret_count of them, the longest first; to be freed. */
static caucus_status shares_of(const strip *shown, uint32_t count, share **ret, size_t *ret_count,
                               caucus_error *ret_error) {
    size_t known = 0;
    share *all = calloc((size_t)STRIPS * CAUCUS_CHOICES, sizeof *all);
    if (all == NULL)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "plot", "no memory for a figure");
    for (uint32_t t = 0; t < count; t++) {
        const caucus_choices *c = shown[t].choices;
        for (uint32_t k = 0; k < c->count; k++) {
            size_t at = 0;
            while (at < known && all[at].expert != c->expert[k])
                at++;
            known += at == known;
            all[at].expert = c->expert[k];
            all[at].rounds += (double)(end_of(&shown[t], k) - c->before[k]) / (double)shown[t].rounds;
        }
    }
    qsort(all, known, sizeof *all, by_rounds);
    *ret = all;
    *ret_count = known;
    return CAUCUS_OK;
}

/* What the colours stand for. */
typedef struct strip_key {
    const share *shares; /* experts, the longest in force first; NULL: what an expert was to its own trial */
    size_t named;        /* colours that mean one thing each; all else is grey */
} strip_key;

enum { BEST, LAST, ROLES };

static size_t colour_at(const strip_key *key, const strip *s, uint32_t expert) {
    size_t at = 0;
    if (key->shares == NULL)
        return expert == s->best ? BEST : expert == s->last ? LAST : ROLES;
    while (at < key->named && key->shares[at].expert != expert)
        at++;
    return at;
}

static void put_rectangles(caucus_text *s, const strip *shown, uint32_t count, const strip_key *key, size_t colour) {
    for (uint32_t t = 0; t < count; t++) {
        const caucus_choices *c = shown[t].choices;
        for (uint32_t k = 0; k < c->count; k++)
            if (colour_at(key, &shown[t], c->expert[k]) == colour)
                caucus_text_add(s, "%" PRIu64 " %u %" PRIu64 "\n", c->before[k], t + 1, end_of(&shown[t], k));
    }
    caucus_text_add(s, "1/0 1 1/0\ne\n"); /* gnuplot wants a line even where there is nothing to draw */
}

static void put_title(caucus_text *s, const caucus_outcome *o, const strip_key *key, size_t colour) {
    static const char *const roles[ROLES] = {"the best expert in hindsight", "the one in force at the end, if another"};
    if (colour == key->named)
        caucus_text_add(s, "'others'");
    else if (key->shares == NULL)
        caucus_text_add(s, "'%s'", roles[colour == BEST ? BEST : LAST]);
    else
        caucus_text_add(s, "\"expert %s\"",
                        caucus_plan_expert_words(o->result[0].plan, key->shares[colour].expert).text);
}

static bool used(const strip *shown, uint32_t count, const strip_key *key, size_t colour) {
    for (uint32_t t = 0; t < count; t++)
        for (uint32_t k = 0; k < shown[t].choices->count; k++)
            if (colour_at(key, &shown[t], shown[t].choices->expert[k]) == colour)
                return true;
    return false;
}

static void put_strips(caucus_text *s, const caucus_outcome *o, const strip *shown, uint32_t count,
                       const strip_key *key) {
    const char *between = "";
    caucus_text_add(s, "set xlabel 'round'\nset ylabel '%s'\nset yrange [%u.5:0.5] noextend\nset ytics %d\nplot ",
                    o->count == 1 ? "trial" : "run (its first trial)", count, count > 6 ? 3 : 1);
    for (size_t e = 0; e <= key->named; e++) {
        if (!used(shown, count, key, e))
            continue;
        caucus_text_add(s,
                        "%s'-' using 1:2:1:3:($2-0.4):($2+0.4) with boxxyerror fc rgb '%s' fs solid 1 noborder title ",
                        between, e == key->named ? other_colour : caucus_plot_shade[e]);
        put_title(s, o, key, e);
        between = ", ";
    }
    caucus_text_add(s, "\n");
    for (size_t e = 0; e <= key->named; e++)
        if (used(shown, count, key, e))
            put_rectangles(s, shown, count, key, e);
    caucus_text_add(s, "set yrange [*:*] noreverse\nset ytics auto\n");
}

/* Expert 3 is the same one in all runs: it has a name, or the losses are a file's. */
static bool same_experts(const caucus_outcome *o) {
    const char *names = o->result[0].plan->settings.names;
    for (size_t i = 0; i < o->count; i++) {
        const char *own = o->result[i].plan->settings.names;
        const bool same = names != NULL ? own != NULL && strcmp(own, names) == 0
                                        : o->run[i].adversary.kind == CAUCUS_ADVERSARY_LOSSES;
        if (!same)
            return false;
    }
    return true;
}

caucus_status caucus_plot_strips(caucus_text *s, const caucus_outcome *o, caucus_error *ret_error) {
    strip shown[STRIPS];
    const uint32_t strips = strips_of(o, shown);
    if (o->count > 1 && !same_experts(o)) {
        put_strips(s, o, shown, strips, &(strip_key){NULL, ROLES});
        return CAUCUS_OK;
    }
    share *shares = NULL;
    size_t count = 0;
    caucus_status status = shares_of(shown, strips, &shares, &count, ret_error);
    if (status != CAUCUS_OK)
        return status;
    put_strips(s, o, shown, strips, &(strip_key){shares, count < SHADES ? count : SHADES - 1});
    free(shares);
    return CAUCUS_OK;
}
