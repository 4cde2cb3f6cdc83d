/* SPDX-License-Identifier: Apache-2.0 */
/* json.h: the one writer of JSON: results, plans, ledgers, audits, reports, the coordinator's status.
 * layer: store
 *
 * Every document is an object whose first member is "version": 1; docs/schemas describes each. Keys are snake_case: the
 * hyphens of a plan file's keys become underscores. A number that is not finite is null. Text is escaped; it is taken
 * to be UTF-8. A list or object is written over several lines, one member each, unless it is opened as a row. */
#ifndef CAUCUS_STORE_JSON_H
#define CAUCUS_STORE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CAUCUS_JSON_VERSION 1
#define CAUCUS_JSON_DEPTH 16

typedef struct caucus_json {
    FILE *out; /* errors are found when it is closed */
    unsigned depth;
    struct {
        char close;      /* } or ] */
        bool row, empty; /* row: all in one line */
    } level[CAUCUS_JSON_DEPTH];
} caucus_json;

/** Begin a document and write its version; `row`: the whole of it in one line, for a stream of documents. */
void caucus_json_begin(caucus_json *ret, FILE *out, bool row);
/** End the document, with a line end. */
void caucus_json_end(caucus_json *json);

/** A member of an object; in a list `key` is NULL. */
void caucus_json_text(caucus_json *json, const char *key, const char *value); /* NULL: null */
void caucus_json_real(caucus_json *json, const char *key, double value);
void caucus_json_whole(caucus_json *json, const char *key, uint64_t value);
void caucus_json_signed(caucus_json *json, const char *key, int64_t value);
void caucus_json_truth(caucus_json *json, const char *key, bool value);
void caucus_json_null(caucus_json *json, const char *key);

/** An object or a list inside, closed by caucus_json_close(). Rows stand in one line, and so does all within them. */
void caucus_json_object(caucus_json *json, const char *key);
void caucus_json_object_row(caucus_json *json, const char *key);
void caucus_json_list(caucus_json *json, const char *key);
void caucus_json_list_row(caucus_json *json, const char *key);
void caucus_json_close(caucus_json *json);

#endif
