/* SPDX-License-Identifier: Apache-2.0 */
/* output_head.c: the first lines of a table of results: what is not private, what is weak, and whom epsilon is about.
 * See output.h.
 *
 * Epsilon says nothing without its unit, and "epsilon 1 per loss" can come to hundreds for a device: both stand before
 * the figures, as they do where a plan is shown. */
#include "plan/family.h"
#include "show/output.h"
#include "show/plan_words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WEAK_LINES = 3 };

caucus_unnamed_words caucus_output_unnamed(const caucus_run *run) {
    caucus_unnamed_words made;
    const bool own = run->adversary.kind == CAUCUS_ADVERSARY_LOSSES;
    (void)snprintf(made.text, sizeof made.text, "; %s on %s losses, since no algorithm was named",
                   caucus_algorithm_word(run->settings.algorithm),
                   own ? "your own" : caucus_adversary_kind_word(run->adversary.kind));
    return made;
}

/* Weakness `w` of run `i` is one that an earlier run has, too. */
static bool said_before(const caucus_outcome *o, size_t i, const char *weakness) {
    char weak[CAUCUS_PLAN_WEAKNESSES][CAUCUS_PLAN_WEAKNESS_BYTES];
    for (size_t k = 0; k < i; k++) {
        const size_t count = caucus_plan_weaknesses(o->result[k].plan, weak);
        for (size_t w = 0; w < count; w++)
            if (strcmp(weak[w], weakness) == 0)
                return true;
    }
    return false;
}

static void print_weak(FILE *out, const caucus_outcome *o) {
    char weak[CAUCUS_PLAN_WEAKNESSES][CAUCUS_PLAN_WEAKNESS_BYTES];
    size_t printed = 0;
    for (size_t i = 0; i < o->count; i++) {
        const size_t count = caucus_plan_weaknesses(o->result[i].plan, weak);
        for (size_t w = 0; w < count; w++)
            if (!said_before(o, i, weak[w]) && printed++ < WEAK_LINES)
                fprintf(out, "  WEAK: %s\n", weak[w]);
    }
    if (printed > WEAK_LINES)
        fprintf(out, "  WEAK: and %zu more of this kind in the rows below\n", printed - WEAK_LINES);
}

typedef struct device_text {
    char text[96];
} device_text;

/* With the digits that are shown: what differs beyond them differs for nobody. */
static device_text device_words(const caucus_plan *plan) {
    device_text made = {" to a run without an end: no bound"};
    const double device = caucus_plan_epsilon_device(plan);
    if (isfinite(device))
        (void)snprintf(made.text, sizeof made.text, ": epsilon %.4g at most%.40s", device,
                       caucus_words_delta(plan->guarantee.delta).text);
    return made;
}

/* Whether something private is played at all, and what all such rows have in common. */
static void print_unit(FILE *out, const caucus_outcome *o) {
    const caucus_plan *first = NULL;
    bool one_unit = true, one_device = true;
    for (size_t i = 0; i < o->count; i++) {
        const caucus_plan *plan = o->result[i].plan;
        if (caucus_algorithm_variant(plan->settings.algorithm)->reference || isinf(plan->settings.epsilon))
            continue;
        if (first == NULL)
            first = plan;
        one_unit = one_unit && strcmp(caucus_words_unit(&plan->settings), caucus_words_unit(&first->settings)) == 0;
        one_device = one_device && strcmp(device_words(plan).text, device_words(first).text) == 0;
    }
    if (first == NULL)
        return;
    if (one_unit)
        fprintf(out, "  Unit: %s. ", caucus_words_unit(&first->settings));
    else
        fputs("  Unit: as in its column. ", out);
    if (!one_device)
        fputs("Everything that one client contributes: as in the column epsilon (device).\n", out);
    else
        fprintf(out, "Everything that one client contributes%s.\n", device_words(first).text);
}

void caucus_output_head(FILE *out, const caucus_outcome *outcome) {
    fprintf(out, "  NOT PRIVATE (seeded): seed %" PRIu64 "%s.\n", outcome->run[0].seed,
            outcome->unnamed ? caucus_output_unnamed(&outcome->run[0]).text : "");
    print_weak(out, outcome);
    print_unit(out, outcome);
}
