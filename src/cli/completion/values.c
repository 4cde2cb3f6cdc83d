/* SPDX-License-Identifier: Apache-2.0 */
/* values.c: see values.h. */
#include "cli/completion/values.h"

#include "plan/plan.h"
#include "show/plan_facts.h"
#include "sim/adversary.h"

#include <string.h>

CAUCUS_EACH_CHOICE(CAUCUS_WORDS_BY_INDEX)
CAUCUS_WORDS_BY_INDEX(adversary_kind)
CAUCUS_WORDS_BY_INDEX(pace)
CAUCUS_WORDS_BY_INDEX(knowledge)

/* Settings that are one of several words: they have the same ones in every verb. */
static const struct {
    const char *option;
    const char *(*word)(unsigned);
    unsigned count;
} choices[] = {
    {"algorithm", algorithm_word, CAUCUS_ALGORITHM_COUNT},
    {"trust", trust_word, CAUCUS_TRUST_COUNT},
    {"calibration", calibration_word, CAUCUS_CALIBRATION_COUNT},
    {"protocol", protocol_word, CAUCUS_PROTOCOL_COUNT},
    {"unit", unit_word, CAUCUS_UNIT_COUNT},
    {"select", select_word, CAUCUS_SELECT_COUNT},
    {"message", message_word, CAUCUS_MESSAGE_COUNT},
    {"adversary", adversary_kind_word, CAUCUS_ADVERSARY_COUNT},
    {"pace", pace_word, CAUCUS_PACE_COUNT},
    {"losses-are", knowledge_word, CAUCUS_KNOWLEDGE_COUNT},
};

/* Words that a verb reads by itself; a verb of NULL stands for all that are not named before it. */
static const struct {
    const char *verb, *option;
    const char *word[6];
} lists[] = {
    {"simulate", "format", {"table", "json", "csv"}},
    {"audit", "format", {"table", "json", "csv"}},
    {"up", "format", {"table", "json"}},
    {"reproduce", "format", {"table", "json"}},
    {NULL, "format", {"text", "json"}},
    {"simulate", "split", {"trials", "clients"}},
    {NULL, "log-format", {"text", "json"}},
    {NULL, "log-level", {"error", "notice", "detail"}},
    {"up", "open", {"yes", "no", "auto"}},
    {"audit", "expect", {"not-refuted", "refuted"}},
    {NULL, "color", {"auto", "always", "never"}},
};

const char *caucus_values_word(const char *verb, const caucus_option *option, unsigned i) {
    for (size_t k = 0; k < sizeof choices / sizeof choices[0]; k++)
        if (strcmp(option->name, choices[k].option) == 0)
            return i < choices[k].count ? choices[k].word(i) : NULL;
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++)
        if (strcmp(option->name, lists[k].option) == 0 && (lists[k].verb == NULL || strcmp(verb, lists[k].verb) == 0))
            return i < sizeof lists[k].word / sizeof lists[k].word[0] ? lists[k].word[i] : NULL;
    return NULL;
}

const char *caucus_values_first(const char *verb, unsigned i) {
    static const struct {
        const char *verb;
        const char *word[4];
    } first[] = {
        {"store", {"init", "check", "migrate"}},
        {"completion", {"bash", "zsh", "fish"}},
    };
    for (size_t k = 0; k < sizeof first / sizeof first[0]; k++)
        if (strcmp(verb, first[k].verb) == 0)
            return i < sizeof first[k].word / sizeof first[k].word[0] ? first[k].word[i] : NULL;
    return NULL;
}

caucus_completion_kind caucus_values_of(const char *verb, const caucus_option *option) {
    if (option->argument == NULL)
        return CAUCUS_VALUES_NONE;
    if (strcmp(option->argument, "FILE") == 0 || strcmp(option->argument, "DIR") == 0)
        return CAUCUS_VALUES_FILES;
    return caucus_values_word(verb, option, 0) != NULL ? CAUCUS_VALUES_WORDS : CAUCUS_VALUES_FREE;
}
