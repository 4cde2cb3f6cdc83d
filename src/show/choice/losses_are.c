/* SPDX-License-Identifier: Apache-2.0 */
/* losses_are.c: from what is known of the losses to an algorithm. See losses_are.h. */
#include "show/choice/losses_are.h"

#include "num/fail.h"
#include "show/family_words.h"

#include <stdio.h>
#include <string.h>

static bool given(const caucus_scenario *scenario, caucus_scenario_field field) {
    return scenario->field[field].count > 0;
}

/* There is but one way to fail: values are right, and fields that were given are left alone. */
static bool set(caucus_scenario *scenario, caucus_scenario_field field, const char *text) {
    caucus_complaint complaint;
    return given(scenario, field) || caucus_scenario_set(scenario, field, text, &complaint) == CAUCUS_OK;
}

/* The algorithm whose bounds assume no more than what is known, and all of it. */
static caucus_algorithm algorithm_for(caucus_knowledge known) {
    const caucus_knowledge assumed = known == CAUCUS_KNOWLEDGE_DRIFTING   ? CAUCUS_KNOWLEDGE_IID
                                     : known == CAUCUS_KNOWLEDGE_ADAPTIVE ? CAUCUS_KNOWLEDGE_ANY
                                                                          : known;
    unsigned family = 0;
    while (family + 1 < CAUCUS_FAMILY_COUNT && caucus_family_words_of((caucus_family)family)->assumes != assumed)
        family++;
    return caucus_family_ops((caucus_family)family)->variant[0].algorithm;
}

static bool says(const caucus_scenario *scenario, caucus_scenario_field field, const char *word) {
    return given(scenario, field) && strcmp(scenario->field[field].text[0], word) == 0;
}

static bool set_number(caucus_scenario *scenario, caucus_scenario_field field, unsigned number) {
    char text[16];
    (void)snprintf(text, sizeof text, "%u", number);
    return set(scenario, field, text);
}

/* Phases with a longest length, which a bound chooses where there is one. */
static bool set_longest(caucus_scenario *scenario) {
    return says(scenario, CAUCUS_FIELD_TRUST, caucus_trust_word(CAUCUS_TRUST_NOBODY))
               ? set_number(scenario, CAUCUS_FIELD_LONGEST_PHASE, CAUCUS_LONGEST_MEASURED)
               : set(scenario, CAUCUS_FIELD_LONGEST_PHASE, "auto");
}

/* What a run without an end needs beside an algorithm; thresholds that grow need nothing. */
static bool set_endless(caucus_scenario *scenario, caucus_algorithm algorithm) {
    if (caucus_algorithm_takes(algorithm, CAUCUS_OPTION_LONGEST_PHASE))
        return set_longest(scenario);
    return caucus_algorithm_takes(algorithm, CAUCUS_OPTION_NOMINAL) ||
           !caucus_algorithm_takes(algorithm, CAUCUS_OPTION_RENEW) ||
           set_number(scenario, CAUCUS_FIELD_RENEW, CAUCUS_RENEW_USUAL);
}

/* At a device's own pace the phases are slots of its clock: there is no longest length to choose. */
static bool own_pace(const caucus_scenario *scenario) {
    return given(scenario, CAUCUS_FIELD_PHASE_TIME) || given(scenario, CAUCUS_FIELD_PACE);
}

static bool choose(caucus_scenario *scenario, caucus_knowledge known) {
    const caucus_algorithm algorithm = algorithm_for(known);
    bool done = set(scenario, CAUCUS_FIELD_ALGORITHM, caucus_algorithm_word(algorithm));
    if (caucus_algorithm_takes(algorithm, CAUCUS_OPTION_INTERVAL_AUTO))
        done = done && set(scenario, CAUCUS_FIELD_INTERVAL, "auto");
    if (known != CAUCUS_KNOWLEDGE_DRIFTING)
        return done && (!says(scenario, CAUCUS_FIELD_ROUNDS, "endless") || own_pace(scenario) ||
                        set_endless(scenario, algorithm));
    if (own_pace(scenario))
        return done && set(scenario, CAUCUS_FIELD_PACE, caucus_pace_word(CAUCUS_PACE_OWN));
    return done && set_longest(scenario);
}

caucus_status caucus_losses_are_choose(caucus_scenario *scenario, const char *said, caucus_knowledge *ret_known,
                                       caucus_error *ret_error) {
    caucus_knowledge known = CAUCUS_KNOWLEDGE_COUNT;
    caucus_status status = said != NULL ? caucus_knowledge_parse(said, &known, ret_error) : CAUCUS_OK;
    if (status != CAUCUS_OK)
        return status;
    if (said == NULL && !given(scenario, CAUCUS_FIELD_ALGORITHM)) {
        (void)caucus_fail(ret_error, CAUCUS_E_RANGE, "losses-are",
                          "is missing: are the losses iid, drifting, realizable, any or adaptive? It chooses the "
                          "algorithm");
        return caucus_fail_hint(ret_error, CAUCUS_E_RANGE, "or name one with 'algorithm'");
    }
    if (!given(scenario, CAUCUS_FIELD_ALGORITHM) && !choose(scenario, known))
        return caucus_fail_memory(ret_error, "losses-are");
    *ret_known = known;
    return CAUCUS_OK;
}

/* Whether a number instead of auto would do. */
static bool takes_number(const caucus_settings *settings) {
    caucus_settings tried = *settings;
    caucus_plan *plan = NULL;
    tried.longest_phase = CAUCUS_LONGEST_MEASURED;
    const bool fits = caucus_plan_new(&tried, &plan, NULL) == CAUCUS_OK;
    caucus_plan_free(plan);
    return fits;
}

void caucus_losses_are_blame(const char *said, bool longest_given, const caucus_settings *settings,
                             caucus_error *error) {
    const char *longest = caucus_fields[CAUCUS_FIELD_LONGEST_PHASE].name;
    if (said == NULL || longest_given || strcmp(error->field, longest) != 0)
        return;
    if (strcmp(said, caucus_knowledge_word(CAUCUS_KNOWLEDGE_DRIFTING)) != 0)
        (void)caucus_fail_hint(error, CAUCUS_OK, "'rounds' endless brought it: a number of rounds does without");
    else if (takes_number(settings))
        (void)caucus_fail_hint(error, CAUCUS_OK, "'losses-are' drifting brought it: give 'longest-phase' 64, say");
    else
        (void)caucus_fail_hint(error, CAUCUS_OK, "'losses-are' drifting brought it: 'losses-are' iid does without");
}
