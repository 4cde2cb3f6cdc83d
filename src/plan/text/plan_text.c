/* SPDX-License-Identifier: Apache-2.0 */
/* plan_text.c: a plan as the bytes of its file (<caucus/plan_file.h>). */
#include "plan/text/plan_text.h"
#include "num/text.h"
#include "plan/text/plan_walk.h"

#include <sodium.h>

typedef struct writer {
    caucus_walker walker;
    caucus_text out;
    int depth;
    size_t left; /* values of the list being written */
} writer;

static void write_key(writer *w, const char *key) {
    caucus_text_add(&w->out, "%*s%s:", 2 * w->depth, "", key);
}

static void write_open(caucus_walker *walker, const char *key) {
    writer *w = (writer *)walker;
    write_key(w, key);
    caucus_text_add(&w->out, "\n");
    w->depth++;
}

static void write_close(caucus_walker *walker) {
    ((writer *)walker)->depth--;
}

static void write_list(caucus_walker *walker, const char *key, size_t count) {
    writer *w = (writer *)walker;
    write_key(w, key);
    caucus_text_add(&w->out, "%s", count == 0 ? " []\n" : " [");
    w->left = count;
}

static void write_value(caucus_walker *walker, const char *key, const caucus_value *value) {
    writer *w = (writer *)walker;
    char text[CAUCUS_VALUE_BYTES];
    caucus_value_text(value, text);
    if (key != NULL) {
        write_key(w, key);
        caucus_text_add(&w->out, " %s\n", text);
    } else {
        caucus_text_add(&w->out, "%s%s", text, --w->left > 0 ? ", " : "]\n");
    }
}

/* In single quotes, within which YAML changes nothing: labels hold no quote. */
static void write_text(caucus_walker *walker, const char *key, const char **at) {
    writer *w = (writer *)walker;
    write_key(w, key);
    caucus_text_add(&w->out, " '%s'\n", *at);
}

/* A key that may be left out is written where it says something. */
static bool write_has(caucus_walker *walker, const char *key, bool other) {
    (void)walker, (void)key;
    return other;
}

caucus_status caucus_plan_text(const caucus_plan *plan, char **ret, size_t *ret_size) {
    caucus_plan copy = *plan; /* the walk wants to be able to write; this walker does not */
    writer w = {.walker = {CAUCUS_WALKER_OPERATIONS(write)}};
    caucus_text_add(
        &w.out,
        "# caucus plan: what a coordinator and its clients agree on, to the last integer.\n"
        "# Its name is the SHA-256 of this file's bytes. Do not edit it: make another with 'caucus plan --write'.\n"
        "caucus-plan: %d\n",
        CAUCUS_PLAN_TEXT_VERSION);
    caucus_walk_settings(&w.walker, &copy.settings);
    caucus_walk_mechanism(&w.walker, &copy);
    caucus_walk_guarantee(&w.walker, &copy.guarantee);
    if (w.out.failed) {
        caucus_text_free(&w.out);
        return CAUCUS_E_MEMORY;
    }
    *ret = w.out.data;
    *ret_size = w.out.length;
    return CAUCUS_OK;
}

void caucus_plan_set_hash(caucus_plan *plan, const void *text, size_t size) {
    (void)crypto_hash_sha256(plan->hash, text, size);
    (void)sodium_bin2hex(plan->hash_text, sizeof plan->hash_text, plan->hash, sizeof plan->hash);
}
