/* plan_text.c: a plan as the bytes of its file (store/plan_file.h). */
#include "plan/plan_text.h"
#include "plan/plan_walk.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct writer {
    caucus_walker walker;
    FILE *out;
    int depth;
    size_t left; /* values of the list being written */
} writer;

static void write_key(writer *w, const char *key) {
    fprintf(w->out, "%*s%s:", 2 * w->depth, "", key);
}

static void write_open(caucus_walker *walker, const char *key) {
    writer *w = (writer *)walker;
    write_key(w, key);
    fputc('\n', w->out);
    w->depth++;
}

static void write_close(caucus_walker *walker) {
    ((writer *)walker)->depth--;
}

static void write_list(caucus_walker *walker, const char *key, size_t count) {
    writer *w = (writer *)walker;
    write_key(w, key);
    fputs(count == 0 ? " []\n" : " [", w->out);
    w->left = count;
}

static void write_value(caucus_walker *walker, const char *key, const caucus_value *value) {
    writer *w = (writer *)walker;
    char text[CAUCUS_VALUE_BYTES];
    caucus_value_text(value, text);
    if (key != NULL) {
        write_key(w, key);
        fprintf(w->out, " %s\n", text);
    } else {
        fprintf(w->out, "%s%s", text, --w->left > 0 ? ", " : "]\n");
    }
}

caucus_status caucus_plan_file_text(const caucus_plan *plan, char **ret, size_t *ret_size) {
    char *text = NULL;
    size_t size = 0;
    caucus_plan copy = *plan; /* the walk wants to be able to write; this walker does not */
    writer w = {.walker = {write_open, write_close, write_list, write_value, CAUCUS_OK},
                .out = open_memstream(&text, &size)};
    if (w.out == NULL)
        return CAUCUS_E_MEMORY;
    fputs("# caucus plan: what a coordinator and its clients agree on, to the last integer.\n"
          "# Its name is the SHA-256 of this file's bytes. Do not edit it: make another with 'caucus plan --write'.\n"
          "caucus-plan: 1\n",
          w.out);
    caucus_walk_settings(&w.walker, &copy.settings);
    caucus_walk_mechanism(&w.walker, &copy);
    caucus_walk_guarantee(&w.walker, &copy.guarantee);
    const bool failed = ferror(w.out) != 0;
    if (fclose(w.out) != 0 || failed) {
        free(text);
        return CAUCUS_E_MEMORY;
    }
    *ret = text;
    *ret_size = size;
    return CAUCUS_OK;
}

void caucus_plan_file_hash(const void *bytes, size_t size, char ret[CAUCUS_PLAN_HEX_BYTES]) {
    uint8_t digest[crypto_hash_sha256_BYTES];
    (void)crypto_hash_sha256(digest, bytes, size);
    (void)sodium_bin2hex(ret, CAUCUS_PLAN_HEX_BYTES, digest, sizeof digest);
}
