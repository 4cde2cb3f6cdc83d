/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c: what differs between two plans. See compare.h.
 *
 * More privacy is promised where nothing is worse and something is better: epsilon of the choices, epsilon of the
 * messages (none where the coordinator is trusted), delta, and epsilon of a whole device. Promises about different
 * units, or about blocks of different lengths, are not compared in one word. */
#include "show/signing/compare.h"

#include "show/family_words.h"
#include "show/plan_words.h"
#include "show/signing/plan_pairs.h"
#include "show/signing/statement.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct maker {
    caucus_plan_comparison *to;
    size_t room;
    caucus_status status;
} maker;

static char *copy(maker *m, const char *text) {
    if (text == NULL)
        return NULL;
    const size_t size = strlen(text) + 1;
    char *ret = malloc(size);
    if (ret == NULL)
        m->status = CAUCUS_E_MEMORY;
    else
        memcpy(ret, text, size);
    return ret;
}

/* Note it if the texts differ. */
static void note(maker *m, const char *section, const char *what, const char *before, const char *after) {
    caucus_plan_comparison *c = m->to;
    if (m->status != CAUCUS_OK || (before != NULL && after != NULL && strcmp(before, after) == 0))
        return;
    if (c->count == m->room) {
        const size_t room = m->room == 0 ? 32 : 2 * m->room;
        caucus_change *more = realloc(c->change, room * sizeof *more);
        if (more == NULL) {
            m->status = CAUCUS_E_MEMORY;
            return;
        }
        c->change = more;
        m->room = room;
    }
    c->change[c->count++] = (caucus_change){section, copy(m, what), copy(m, before), copy(m, after)};
}

/* Records are the same if the unit is, and for blocks also their length. */
static bool same_records(const caucus_plan *a, const caucus_plan *b) {
    const caucus_settings *p = &a->settings, *q = &b->settings;
    if (p->unit != q->unit)
        return false;
    if (p->unit != CAUCUS_UNIT_CLIENT_BLOCK)
        return true;
    const bool phases = caucus_plan_ops_of(a)->phases;
    if (phases != caucus_plan_ops_of(b)->phases)
        return false;
    return phases ? p->first_phase == q->first_phase && p->longest_phase == q->longest_phase
                  : p->interval == q->interval;
}

/* What is promised, smaller is better: choices, messages, delta, whole device. */
enum { PROMISES = 4 };
static void promises(const caucus_plan *plan, double ret[PROMISES]) {
    const caucus_guarantee *g = &plan->guarantee;
    ret[0] = g->epsilon_choices;
    ret[1] = isnan(g->epsilon_messages) ? INFINITY : g->epsilon_messages;
    ret[2] = g->delta;
    ret[3] = caucus_plan_epsilon_device(plan);
}

static caucus_compared judge(const caucus_plan *const plan[2]) {
    double before[PROMISES], after[PROMISES];
    bool better = false, worse = false;
    if (!same_records(plan[0], plan[1]))
        return CAUCUS_COMPARED_UNITS;
    promises(plan[0], before);
    promises(plan[1], after);
    for (size_t i = 0; i < PROMISES; i++) { /* a plan aims 2^-40 below what was asked: not a difference */
        better = better || after[i] < before[i] * (1 - 1e-9);
        worse = worse || before[i] < after[i] * (1 - 1e-9);
    }
    return better && worse ? CAUCUS_COMPARED_MIXED
           : better        ? CAUCUS_COMPARED_MORE
           : worse         ? CAUCUS_COMPARED_LESS
                           : CAUCUS_COMPARED_SAME;
}

static caucus_words epsilon_words(double epsilon) {
    caucus_words ret;
    if (isnan(epsilon))
        (void)snprintf(ret.text, sizeof ret.text, "seen in clear by the coordinator");
    else if (isinf(epsilon))
        (void)snprintf(ret.text, sizeof ret.text, "no bound");
    else
        (void)snprintf(ret.text, sizeof ret.text, "%.6g", epsilon);
    return ret;
}

static caucus_words guess_words(const caucus_plan *plan, double epsilon) {
    caucus_words ret;
    (void)snprintf(ret.text, sizeof ret.text, "%.4g", caucus_statement_guess(epsilon, plan->guarantee.delta));
    return ret;
}

static void note_privacy(maker *m) {
    const caucus_plan *a = m->to->plan[0], *b = m->to->plan[1];
    const caucus_guarantee *g = &a->guarantee, *h = &b->guarantee;
    caucus_words x, y;
    note(m, "privacy", "trust", caucus_trust_word(a->settings.trust), caucus_trust_word(b->settings.trust));
    note(m, "privacy", "unit", caucus_words_unit(&a->settings), caucus_words_unit(&b->settings));
    x = epsilon_words(g->epsilon_choices), y = epsilon_words(h->epsilon_choices);
    note(m, "privacy", "epsilon_choices", x.text, y.text);
    x = epsilon_words(g->epsilon_messages), y = epsilon_words(h->epsilon_messages);
    note(m, "privacy", "epsilon_messages", x.text, y.text);
    (void)snprintf(x.text, sizeof x.text, "%.6g", g->delta);
    (void)snprintf(y.text, sizeof y.text, "%.6g", h->delta);
    note(m, "privacy", "delta", x.text, y.text);
    x = epsilon_words(caucus_plan_epsilon_device(a)), y = epsilon_words(caucus_plan_epsilon_device(b));
    note(m, "privacy", "epsilon_device", x.text, y.text);
    x = guess_words(a, g->epsilon_choices), y = guess_words(b, h->epsilon_choices);
    note(m, "privacy", "right_guesses", x.text, y.text);
    x = guess_words(a, caucus_plan_epsilon_device(a)), y = guess_words(b, caucus_plan_epsilon_device(b));
    note(m, "privacy", "right_guesses_device", x.text, y.text);
    char weak[2][CAUCUS_PLAN_WEAKNESSES][CAUCUS_PLAN_WEAKNESS_BYTES];
    size_t count[2];
    for (size_t p = 0; p < 2; p++)
        count[p] = caucus_plan_weaknesses(m->to->plan[p], weak[p]);
    for (size_t i = 0; i < CAUCUS_PLAN_WEAKNESSES; i++)
        if (i < count[0] || i < count[1])
            note(m, "privacy", "weak", i < count[0] ? weak[0][i] : NULL, i < count[1] ? weak[1][i] : NULL);
}

static caucus_words bound_words(const caucus_plan *plan) {
    static const char *const per[] = {"", " a cycle", " in 1,000 rounds"};
    caucus_words ret;
    if (plan->bound_kind == CAUCUS_BOUND_NONE)
        (void)snprintf(ret.text, sizeof ret.text, "not proved");
    else
        (void)snprintf(ret.text, sizeof ret.text, "%.20s%s%s", caucus_words_number(plan->bound).text,
                       per[caucus_plan_stretch_of(plan)],
                       plan->bound_kind == CAUCUS_BOUND_EXPECTATION ? " on average" : "");
    return ret;
}

static void note_use(maker *m) {
    const caucus_plan *a = m->to->plan[0], *b = m->to->plan[1];
    const caucus_plan_traffic t = caucus_plan_traffic_of(a), u = caucus_plan_traffic_of(b);
    caucus_words x = bound_words(a), y = bound_words(b);
    note(m, "regret", "regret_at_most", x.text, y.text);
    (void)snprintf(x.text, sizeof x.text, "%" PRIu64, t.scalars);
    (void)snprintf(y.text, sizeof y.text, "%" PRIu64, u.scalars);
    note(m, "traffic", "scalars_up", x.text, y.text);
    (void)snprintf(x.text, sizeof x.text, "%" PRIu64, t.bytes);
    (void)snprintf(y.text, sizeof y.text, "%" PRIu64, u.bytes);
    note(m, "traffic", "bytes_up", x.text, y.text);
}

/* "settings.first-phase" is "first_phase" of the section "settings". */
static void note_pair(maker *m, const char *key, const char *before, const char *after) {
    char what[512];
    const bool setting = strncmp(key, "settings.", strlen("settings.")) == 0;
    (void)snprintf(what, sizeof what, "%s", setting ? key + strlen("settings.") : key);
    for (char *c = what; *c != '\0'; c++)
        *c = *c == '-' ? '_' : *c;
    if (strcmp(key, "settings.trust") != 0 && strcmp(key, "settings.unit") != 0) /* these are said already */
        note(m, setting ? "settings" : "mechanism", what, before, after);
}

static void note_pairs(maker *m, caucus_error *ret_error) {
    caucus_plan_pairs pairs[2] = {{0}, {0}};
    for (size_t p = 0; p < 2 && m->status == CAUCUS_OK; p++)
        m->status = caucus_plan_pairs_make(m->to->plan[p], &pairs[p], ret_error);
    for (size_t i = 0; i < pairs[0].count && m->status == CAUCUS_OK; i++)
        note_pair(m, pairs[0].pair[i].key, pairs[0].pair[i].value,
                  caucus_plan_pairs_find(&pairs[1], pairs[0].pair[i].key, i));
    for (size_t i = 0; i < pairs[1].count && m->status == CAUCUS_OK; i++)
        if (caucus_plan_pairs_find(&pairs[0], pairs[1].pair[i].key, i) == NULL)
            note_pair(m, pairs[1].pair[i].key, NULL, pairs[1].pair[i].value);
    caucus_plan_pairs_free(&pairs[0]);
    caucus_plan_pairs_free(&pairs[1]);
}

caucus_status caucus_compare_make(const caucus_plan *const plan[2], const char *const file[2],
                                  caucus_plan_comparison *ret, caucus_error *ret_error) {
    caucus_plan_comparison c = {.plan = {plan[0], plan[1]}, .file = {file[0], file[1]}, .privacy = judge(plan)};
    maker m = {.to = &c};
    note_privacy(&m);
    note_use(&m);
    note_pairs(&m, ret_error);
    if (m.status != CAUCUS_OK) {
        caucus_compare_free(&c);
        return caucus_fail(ret_error, m.status, "", "%s", caucus_status_text(m.status));
    }
    *ret = c;
    return CAUCUS_OK;
}

void caucus_compare_free(caucus_plan_comparison *comparison) {
    for (size_t i = 0; i < comparison->count; i++) {
        free(comparison->change[i].what);
        free(comparison->change[i].before);
        free(comparison->change[i].after);
    }
    free(comparison->change);
    *comparison = (caucus_plan_comparison){0};
}
