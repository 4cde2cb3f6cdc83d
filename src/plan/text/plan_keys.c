/* SPDX-License-Identifier: Apache-2.0 */
/* plan_keys.c: which keys there are in plans. See plan_walk.h.
 *
 * Whoever reads a plan tells a key that stands at the wrong place from one that nobody here knows. What is known is
 * what the walks name, of all families, so a family that is added or gets a key is known here by itself. */
#include "plan/family.h"

#include <stdlib.h>
#include <string.h>

typedef struct search {
    caucus_walker walker; /* first: a walker is given back as this */
    const char *key;
    bool found;
} search;

static size_t without_number(const char *key) {
    size_t length = strlen(key);
    while (length > 0 && key[length - 1] >= '0' && key[length - 1] <= '9')
        length--;
    return length;
}

static void compare(search *s, const char *key) {
    if (key == NULL)
        return;
    const size_t length = without_number(key);
    const bool numbered = key[length] != '\0' && without_number(s->key) == length && s->key[length] != '\0';
    s->found |= strcmp(key, s->key) == 0 || (numbered && strncmp(key, s->key, length) == 0);
}

static void look_open(caucus_walker *w, const char *key) {
    compare((search *)w, key);
}

static void look_close(caucus_walker *w) {
    (void)w;
}

static void look_list(caucus_walker *w, const char *key, size_t count) {
    (void)count;
    compare((search *)w, key);
}

static void look_value(caucus_walker *w, const char *key, const caucus_value *value) {
    (void)value;
    compare((search *)w, key);
}

static void look_text(caucus_walker *w, const char *key, const char **value) {
    (void)value;
    compare((search *)w, key);
}

static bool look_has(caucus_walker *w, const char *key, bool other) {
    (void)w, (void)key, (void)other;
    return true;
}

/* The section of one family, of a plan that holds nothing. */
static caucus_status look_in_family(search *s, const caucus_plan_ops *ops) {
    caucus_plan empty = {.settings.algorithm = ops->variant[0].algorithm};
    empty.part = ops->part_bytes > 0 ? calloc(1, ops->part_bytes) : NULL;
    if (ops->part_bytes > 0 && !empty.part)
        return CAUCUS_E_MEMORY;
    ops->walk(&s->walker, &empty);
    free(empty.part);
    return CAUCUS_OK;
}

caucus_status caucus_walk_knows(const char *key, bool *ret) {
    search s = {.walker = {CAUCUS_WALKER_OPERATIONS(look), .keys_only = true}, .key = key};
    caucus_settings settings = {0};
    caucus_guarantee guarantee = {0};
    caucus_status status = CAUCUS_OK;
    caucus_walk_settings(&s.walker, &settings);
    caucus_walk_guarantee(&s.walker, &guarantee);
    for (unsigned f = 0; status == CAUCUS_OK && f < CAUCUS_FAMILY_COUNT; f++)
        status = look_in_family(&s, caucus_family_ops((caucus_family)f));
    if (status == CAUCUS_OK)
        *ret = s.found;
    return status;
}
