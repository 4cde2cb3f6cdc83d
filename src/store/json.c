/* SPDX-License-Identifier: Apache-2.0 */
/* json.c: see json.h. */
#include "store/json.h"

#include "num/number_text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

static void put_text(FILE *out, const char *text, bool key) {
    (void)fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            (void)fprintf(out, "\\%c", *c);
        else if (*c < 0x20 || *c == 0x7f)
            (void)fprintf(out, "\\u%04x", *c);
        else
            (void)fputc(key && *c == '-' ? '_' : *c, out);
    }
    (void)fputc('"', out);
}

static void new_line(caucus_json *json) {
    (void)fprintf(json->out, "\n%*s", (int)(2 * json->depth), "");
}

/* What stands before a value: a comma, its place, its key. */
static void member(caucus_json *json, const char *key) {
    const unsigned top = json->depth - 1;
    assert(json->depth > 0 && (key != NULL) == (json->level[top].close == '}'));
    if (!json->level[top].empty)
        (void)fputs(json->level[top].row ? ", " : ",", json->out);
    json->level[top].empty = false;
    if (!json->level[top].row)
        new_line(json);
    if (key != NULL) {
        put_text(json->out, key, true);
        (void)fputs(": ", json->out);
    }
}

static void open_level(caucus_json *json, char open, char close, bool row) {
    assert(json->depth < CAUCUS_JSON_DEPTH);
    (void)fputc(open, json->out);
    json->level[json->depth].close = close;
    json->level[json->depth].row = row || (json->depth > 0 && json->level[json->depth - 1].row);
    json->level[json->depth].empty = true;
    json->depth++;
}

void caucus_json_close(caucus_json *json) {
    assert(json->depth > 0);
    json->depth--;
    if (!json->level[json->depth].row && !json->level[json->depth].empty)
        new_line(json);
    (void)fputc(json->level[json->depth].close, json->out);
}

void caucus_json_begin(caucus_json *ret, FILE *out, bool row) {
    *ret = (caucus_json){.out = out};
    open_level(ret, '{', '}', row);
    caucus_json_whole(ret, "version", CAUCUS_JSON_VERSION);
}

void caucus_json_end(caucus_json *json) {
    assert(json->depth == 1);
    caucus_json_close(json);
    (void)fputc('\n', json->out);
}

void caucus_json_text(caucus_json *json, const char *key, const char *value) {
    if (value == NULL) {
        caucus_json_null(json, key);
        return;
    }
    member(json, key);
    put_text(json->out, value, false);
}

void caucus_json_real(caucus_json *json, const char *key, double value) {
    char text[CAUCUS_REAL_TEXT_BYTES];
    if (!isfinite(value)) {
        caucus_json_null(json, key);
        return;
    }
    caucus_real_text(value, text);
    member(json, key);
    (void)fputs(text, json->out);
}

void caucus_json_whole(caucus_json *json, const char *key, uint64_t value) {
    member(json, key);
    (void)fprintf(json->out, "%" PRIu64, value);
}

void caucus_json_signed(caucus_json *json, const char *key, int64_t value) {
    member(json, key);
    (void)fprintf(json->out, "%" PRId64, value);
}

void caucus_json_truth(caucus_json *json, const char *key, bool value) {
    member(json, key);
    (void)fputs(value ? "true" : "false", json->out);
}

void caucus_json_null(caucus_json *json, const char *key) {
    member(json, key);
    (void)fputs("null", json->out);
}

static void open_member(caucus_json *json, const char *key, const char brackets[2], bool row) {
    member(json, key);
    open_level(json, brackets[0], brackets[1], row);
}

void caucus_json_object(caucus_json *json, const char *key) {
    open_member(json, key, "{}", false);
}

void caucus_json_object_row(caucus_json *json, const char *key) {
    open_member(json, key, "{}", true);
}

void caucus_json_list(caucus_json *json, const char *key) {
    open_member(json, key, "[]", false);
}

void caucus_json_list_row(caucus_json *json, const char *key) {
    open_member(json, key, "[]", true);
}
