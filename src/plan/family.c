/* SPDX-License-Identifier: Apache-2.0 */
/* family.c: see family.h. */
#include "plan/family.h"

#include <assert.h>
#include <stdio.h>

#define DECLARE(NAME, name) extern const caucus_plan_ops caucus_plan_##name;
CAUCUS_FAMILY_LIST(DECLARE)
#undef DECLARE

static const caucus_plan_ops *const families[CAUCUS_FAMILY_COUNT] = {
#define ENTRY(NAME, name) &caucus_plan_##name,
    CAUCUS_FAMILY_LIST(ENTRY)
#undef ENTRY
};

/* Which variant of which family; every algorithm is in one (tests/plan/test_family.c). */
static const caucus_variant *find(caucus_algorithm algorithm, caucus_family *ret_family) {
    for (unsigned f = 0; f < CAUCUS_FAMILY_COUNT; f++)
        for (unsigned v = 0; v < CAUCUS_VARIANTS_MAX && families[f]->variant[v].name != NULL; v++)
            if (families[f]->variant[v].algorithm == algorithm) {
                *ret_family = (caucus_family)f;
                return &families[f]->variant[v];
            }
    assert(false && "an algorithm without a family");
    *ret_family = CAUCUS_FAMILY_COUNT;
    return NULL;
}

caucus_family caucus_algorithm_family(caucus_algorithm algorithm) {
    caucus_family family;
    (void)find(algorithm, &family);
    return family;
}

const caucus_variant *caucus_algorithm_variant(caucus_algorithm algorithm) {
    caucus_family family;
    return find(algorithm, &family);
}

caucus_family caucus_plan_family(const caucus_plan *plan) {
    return caucus_algorithm_family(plan->settings.algorithm);
}

const caucus_plan_ops *caucus_family_ops(caucus_family family) {
    assert(family < CAUCUS_FAMILY_COUNT);
    return families[family];
}

const caucus_plan_ops *caucus_plan_ops_of(const caucus_plan *plan) {
    return caucus_family_ops(caucus_plan_family(plan));
}

bool caucus_algorithm_takes(caucus_algorithm algorithm, caucus_plan_option option) {
    return (caucus_family_ops(caucus_algorithm_family(algorithm))->options & option) != 0;
}

static bool takes(const caucus_plan_ops *ops, const caucus_variant *variant, unsigned option) {
    (void)variant;
    return (ops->options & option) != 0;
}

static bool federates(const caucus_plan_ops *ops, const caucus_variant *variant, unsigned option) {
    (void)ops, (void)option;
    return !variant->alone && !variant->reference;
}

static caucus_takers words_of(bool (*wanted)(const caucus_plan_ops *, const caucus_variant *, unsigned),
                              unsigned option, const char *last) {
    caucus_takers ret = {""};
    const char *word[CAUCUS_FAMILY_COUNT * CAUCUS_VARIANTS_MAX] = {NULL};
    size_t count = 0, used = 0;
    for (unsigned f = 0; f < CAUCUS_FAMILY_COUNT; f++)
        for (unsigned v = 0; v < CAUCUS_VARIANTS_MAX && families[f]->variant[v].name != NULL; v++)
            if (wanted(families[f], &families[f]->variant[v], option))
                word[count++] = caucus_algorithm_word(families[f]->variant[v].algorithm);
    for (size_t i = 0; i < count && used < sizeof ret.text; i++)
        used += (size_t)snprintf(ret.text + used, sizeof ret.text - used, "%s%s",
                                 i == 0           ? ""
                                 : i + 1 == count ? last
                                                  : ", ",
                                 word[i]);
    return ret;
}

caucus_takers caucus_option_takers(caucus_plan_option option, const char *last) {
    return words_of(takes, option, last);
}

caucus_takers caucus_federating(const char *last) {
    return words_of(federates, 0, last);
}
