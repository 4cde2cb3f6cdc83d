/* plan_note.c: one plain sentence about a guarantee: whom it protects from what. */
#include "plan/calibrate.h"

#include <math.h>
#include <stdio.h>

static const char *unit_of(const caucus_settings *s) {
    const bool stoch = s->algorithm == CAUCUS_ALGORITHM_STOCH || s->algorithm == CAUCUS_ALGORITHM_LIMITED_UPDATES;
    if (s->unit == CAUCUS_UNIT_EVENT)
        return "loss";
    return stoch ? "phase of a client" : "block of a client";
}

void caucus_plan_note(const caucus_plan *plan, caucus_guarantee *g) {
    const caucus_settings *s = &plan->settings;
    const char *unit = unit_of(s);
    char privacy[40], messages[40];
    if (g->delta > 0) {
        (void)snprintf(privacy, sizeof privacy, "(%.4g, %.3g)-private", g->epsilon_choices, g->delta);
        (void)snprintf(messages, sizeof messages, "(%.4g, %.3g)-private", g->epsilon_messages, g->delta);
    } else {
        (void)snprintf(privacy, sizeof privacy, "%.4g-private (pure)", g->epsilon_choices);
        (void)snprintf(messages, sizeof messages, "%.4g-private", g->epsilon_messages);
    }
    if (isinf(g->epsilon_choices))
        (void)snprintf(g->note, sizeof g->note, "No privacy: what is announced may reveal any loss.");
    else if (g->epsilon_choices <= 0)
        (void)snprintf(g->note, sizeof g->note,
                       "Nothing that depends on a loss is ever announced: no privacy is spent.");
    else if (s->trust == CAUCUS_TRUST_PAPER_LOCAL)
        (void)snprintf(g->note, sizeof g->note,
                       "Reproduction only: everything announced is %s per %s, but a client's messages "
                       "are only %s: do not send them to a coordinator you do not trust.",
                       privacy, unit, messages);
    else if (s->trust == CAUCUS_TRUST_NOBODY)
        (void)snprintf(g->note, sizeof g->note,
                       "Everything a client sends is %s per %s, so the coordinator and everybody else "
                       "learn no more than that.",
                       privacy, unit);
    else if (g->epsilon_choices > s->epsilon)
        (void)snprintf(g->note, sizeof g->note,
                       "The paper's constants do not give what was asked: everything announced is %s per "
                       "%s, not %.4g; the coordinator sees each client's sums.",
                       privacy, unit, s->epsilon);
    else
        (void)snprintf(g->note, sizeof g->note,
                       "Everything announced is %s per %s; the coordinator sees each client's sums.", privacy, unit);
}
