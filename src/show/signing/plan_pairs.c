/* SPDX-License-Identifier: Apache-2.0 */
/* plan_pairs.c: see plan_pairs.h. The same walk as the plan file, so nothing is missing. */
#include "show/signing/plan_pairs.h"

#include "plan/text/plan_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = 256, DEPTH = 8 };

typedef struct collector {
    caucus_walker walker;
    caucus_plan_pairs pairs;
    size_t room, entry; /* entry: of the list under way, from 1 */
    char path[KEY_BYTES];
    size_t length[DEPTH], depth; /* of the path before each section that is open */
    char list[KEY_BYTES];
} collector;

static char *copy(const char *text) {
    const size_t size = strlen(text) + 1;
    char *ret = malloc(size);
    if (ret != NULL)
        memcpy(ret, text, size);
    return ret;
}

static void add(collector *c, const char *key, const char *value) {
    char full[2 * KEY_BYTES];
    if (c->walker.status != CAUCUS_OK)
        return;
    if (c->pairs.count == c->room) {
        const size_t room = c->room == 0 ? 64 : 2 * c->room;
        caucus_plan_pair *more = realloc(c->pairs.pair, room * sizeof *more);
        if (more == NULL) {
            c->walker.status = CAUCUS_E_MEMORY;
            return;
        }
        c->pairs.pair = more;
        c->room = room;
    }
    (void)snprintf(full, sizeof full, "%s%s", c->path, key);
    caucus_plan_pair *pair = &c->pairs.pair[c->pairs.count++];
    *pair = (caucus_plan_pair){copy(full), copy(value)};
    if (pair->key == NULL || pair->value == NULL)
        c->walker.status = CAUCUS_E_MEMORY;
}

static void take_open(caucus_walker *walker, const char *key) {
    collector *c = (collector *)walker;
    const size_t used = strlen(c->path);
    if (c->depth < DEPTH)
        c->length[c->depth] = used;
    c->depth++;
    (void)snprintf(c->path + used, sizeof c->path - used, "%s.", key);
}

static void take_close(caucus_walker *walker) {
    collector *c = (collector *)walker;
    c->depth--;
    if (c->depth < DEPTH)
        c->path[c->length[c->depth]] = '\0';
}

static void take_list(caucus_walker *walker, const char *key, size_t count) {
    collector *c = (collector *)walker;
    (void)count;
    (void)snprintf(c->list, sizeof c->list, "%s", key);
    c->entry = 0;
}

static void take_value(caucus_walker *walker, const char *key, const caucus_value *value) {
    collector *c = (collector *)walker;
    char text[CAUCUS_VALUE_BYTES], numbered[KEY_BYTES + 24];
    caucus_value_text(value, text);
    if (key == NULL)
        (void)snprintf(numbered, sizeof numbered, "%s.%zu", c->list, ++c->entry);
    add(c, key != NULL ? key : numbered, text);
}

static void take_text(caucus_walker *walker, const char *key, const char **at) {
    add((collector *)walker, key, *at != NULL ? *at : "none");
}

static bool take_has(caucus_walker *walker, const char *key, bool other) {
    (void)walker, (void)key, (void)other;
    return true;
}

caucus_status caucus_plan_pairs_make(const caucus_plan *plan, caucus_plan_pairs *ret, caucus_error *ret_error) {
    caucus_plan writable = *plan; /* the walk wants to be able to write; this walker does not */
    collector c = {.walker = {CAUCUS_WALKER_OPERATIONS(take)}};
    caucus_walk_settings(&c.walker, &writable.settings);
    caucus_walk_mechanism(&c.walker, &writable);
    if (c.walker.status != CAUCUS_OK) {
        caucus_plan_pairs_free(&c.pairs);
        return caucus_fail(ret_error, c.walker.status, "", "%s", caucus_status_text(c.walker.status));
    }
    *ret = c.pairs;
    return CAUCUS_OK;
}

void caucus_plan_pairs_free(caucus_plan_pairs *pairs) {
    for (size_t i = 0; i < pairs->count; i++) {
        free(pairs->pair[i].key);
        free(pairs->pair[i].value);
    }
    free(pairs->pair);
    *pairs = (caucus_plan_pairs){0};
}

const char *caucus_plan_pairs_find(const caucus_plan_pairs *pairs, const char *key, size_t near) {
    if (near < pairs->count && strcmp(pairs->pair[near].key, key) == 0)
        return pairs->pair[near].value;
    for (size_t i = 0; i < pairs->count; i++)
        if (strcmp(pairs->pair[i].key, key) == 0)
            return pairs->pair[i].value;
    return NULL;
}
