/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_sheet.c: files of fields. See yaml_sheet.h.
 *
 * libyaml's events are taken one by one, and everything that is no such file (syntax, unknown or repeated fields,
 * nesting, aliases) is refused where it stands, with its line: nothing is allocated for what a file only claims to
 * hold, and no depth is followed. Values are kept as text: a number is converted where its field's meaning is known. */
#include "scenario/yaml_sheet.h"

#include "num/nearest.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* Values of one list; more than the runs allowed cannot be meant. */
#define LIST_MAX CAUCUS_SCENARIO_RUNS

typedef struct scan {
    yaml_parser_t parser;
    const caucus_sheet *sheet;
    const char *name;
    caucus_complaint *complaint;
} scan;

static caucus_status refuse(scan *s, size_t line, const char *format, ...) CAUCUS_PRINTF(3, 4);
static caucus_status refuse(scan *s, size_t line, const char *format, ...) {
    char text[320];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    s->complaint->in_file = true;
    s->complaint->field = NULL;
    if (line == 0)
        (void)snprintf(s->complaint->line, sizeof s->complaint->line, "%.200s: %s", s->name, text);
    else
        (void)snprintf(s->complaint->line, sizeof s->complaint->line, "%.200s:%zu: %s", s->name, line, text);
    caucus_complaint_clean(s->complaint);
    return CAUCUS_E_FORMAT;
}

static caucus_status refuse_memory(scan *s) {
    (void)refuse(s, 0, "%s", caucus_status_text(CAUCUS_E_MEMORY));
    return CAUCUS_E_MEMORY;
}

static caucus_status refuse_syntax(scan *s) {
    size_t line = s->parser.problem_mark.line + 1;
    if (s->parser.error == YAML_MEMORY_ERROR)
        return refuse_memory(s);
    if (s->parser.error == YAML_READER_ERROR)
        return refuse(s, 0, "not a text file in UTF-8 — %s at byte %zu", s->parser.problem, s->parser.problem_offset);
    return refuse(s, line, "not YAML — %s", s->parser.problem != NULL ? s->parser.problem : "unreadable");
}

static caucus_status next(scan *s, yaml_event_t *event) {
    return yaml_parser_parse(&s->parser, event) ? CAUCUS_OK : refuse_syntax(s);
}

static size_t find(const caucus_sheet *sheet, const char *key) {
    const char *name;
    for (size_t i = 0; (name = sheet->name(sheet->user, i)) != NULL; i++)
        if (strcmp(name, key) == 0)
            return i;
    return SIZE_MAX;
}

static caucus_sheet_values takes(const scan *s, size_t field) {
    return s->sheet->takes(s->sheet->user, field);
}

/* A scalar's text is safe to show and to hand on: no NUL inside, which would cut it short. */
static bool whole_text(const yaml_event_t *event) {
    return strlen((const char *)event->data.scalar.value) == event->data.scalar.length;
}

static caucus_status scan_key(scan *s, const yaml_event_t *event, size_t *ret) {
    size_t line = event->start_mark.line + 1;
    if (event->type != YAML_SCALAR_EVENT || !whole_text(event))
        return refuse(s, line, "expected a field's name, for example '%s'", s->sheet->example);
    const char *key = (const char *)event->data.scalar.value;
    size_t field = find(s->sheet, key);
    if (field == SIZE_MAX) {
        const char *meant = caucus_nearest(key, s->sheet->name, s->sheet->user);
        if (meant != NULL)
            return refuse(s, line, "unknown field '%.60s' — did you mean '%s'?", key, meant);
        return refuse(s, line, "unknown field '%.60s' — fields are called as the settings on the command line", key);
    }
    if (s->sheet->found[field].line != 0)
        return refuse(s, line, "%s: given twice, first in line %u", key, s->sheet->found[field].line);
    s->sheet->found[field].line = (unsigned)line;
    *ret = field;
    return CAUCUS_OK;
}

/* One more value of a field. Room grows as values come. */
static bool add_value(caucus_values *values, const char *text) {
    if ((values->count & (values->count - 1)) == 0) {
        char **grown = realloc(values->text, (values->count == 0 ? 1 : 2 * values->count) * sizeof *grown);
        if (grown == NULL)
            return false;
        values->text = grown;
    }
    char *copy = strdup(text);
    if (copy == NULL)
        return false;
    values->text[values->count++] = copy;
    return true;
}

/* "0", "1" -> "0,1": what the flag would say. */
static bool join_values(caucus_values *values) {
    size_t bytes = 1, used = 0;
    for (size_t i = 0; i < values->count; i++)
        bytes += strlen(values->text[i]) + 1;
    char *joined = malloc(bytes);
    if (joined == NULL)
        return false;
    for (size_t i = 0; i < values->count; i++) {
        used += (size_t)snprintf(joined + used, bytes - used, "%s%s", i == 0 ? "" : ",", values->text[i]);
        free(values->text[i]);
    }
    values->text[0] = joined;
    values->count = 1;
    return true;
}

static caucus_status scan_scalar(scan *s, size_t field, const yaml_event_t *event) {
    size_t line = event->start_mark.line + 1;
    const char *name = s->sheet->name(s->sheet->user, field);
    if (event->type == YAML_ALIAS_EVENT)
        return refuse(s, line, "%s: an alias — write the value itself", name);
    if (event->type != YAML_SCALAR_EVENT)
        return refuse(s, line, "%s: nested too deep — expected a value%s", name,
                      takes(s, field) == CAUCUS_SHEET_LIST ? " or a list of values" : "");
    if (event->data.scalar.anchor != NULL)
        return refuse(s, line, "%s: an anchor — write the value itself", name);
    if (event->data.scalar.length == 0)
        return refuse(s, line, "%s: no value", name);
    if (!whole_text(event))
        return refuse(s, line, "%s: a zero byte inside", name);
    return add_value(&s->sheet->found[field], (const char *)event->data.scalar.value) ? CAUCUS_OK : refuse_memory(s);
}

static caucus_status scan_list(scan *s, size_t field, size_t line) {
    const char *name = s->sheet->name(s->sheet->user, field);
    /* A range is a pair, so a list is its natural form; other single fields take one value. */
    if (takes(s, field) == CAUCUS_SHEET_ONE && field != CAUCUS_FIELD_MEANS)
        return refuse(s, line, "%s: a list — this field takes one value", name);
    for (size_t count = 0;; count++) {
        yaml_event_t event;
        caucus_status status = next(s, &event);
        if (status != CAUCUS_OK)
            return status;
        bool end = event.type == YAML_SEQUENCE_END_EVENT;
        if (end && count == 0)
            status = refuse(s, line, "%s: an empty list", name);
        else if (!end && count == LIST_MAX)
            status = refuse(s, line, "%s: more than %d values", name, LIST_MAX);
        else if (!end)
            status = scan_scalar(s, field, &event);
        yaml_event_delete(&event);
        if (status == CAUCUS_OK && end && takes(s, field) == CAUCUS_SHEET_PAIR && !join_values(&s->sheet->found[field]))
            status = refuse_memory(s);
        if (status != CAUCUS_OK || end)
            return status;
    }
}

/* One field after another until the mapping ends. */
static caucus_status scan_mapping(scan *s) {
    for (;;) {
        yaml_event_t event;
        size_t field = SIZE_MAX;
        caucus_status status = next(s, &event);
        if (status != CAUCUS_OK)
            return status;
        bool end = event.type == YAML_MAPPING_END_EVENT;
        if (!end)
            status = scan_key(s, &event, &field);
        yaml_event_delete(&event);
        if (status != CAUCUS_OK || end)
            return status;
        status = next(s, &event);
        if (status != CAUCUS_OK)
            return status;
        bool list = event.type == YAML_SEQUENCE_START_EVENT;
        size_t line = event.start_mark.line + 1;
        if (list && event.data.sequence_start.anchor != NULL)
            status = refuse(s, line, "%s: an anchor — write the value itself", s->sheet->name(s->sheet->user, field));
        else if (!list)
            status = scan_scalar(s, field, &event);
        yaml_event_delete(&event);
        if (status == CAUCUS_OK && list)
            status = scan_list(s, field, line);
        if (status != CAUCUS_OK)
            return status;
    }
}

static caucus_status scan_document(scan *s) {
    bool mapped = false;
    for (;;) {
        yaml_event_t event;
        caucus_status status = next(s, &event);
        if (status != CAUCUS_OK)
            return status;
        yaml_event_type_t type = event.type;
        size_t line = event.start_mark.line + 1;
        bool null = type == YAML_SCALAR_EVENT && event.data.scalar.length == 0;
        yaml_event_delete(&event);
        if (type == YAML_STREAM_END_EVENT)
            return mapped ? CAUCUS_OK : refuse(s, 0, "empty — expected fields, for example %s", s->sheet->examples);
        if (type == YAML_STREAM_START_EVENT || type == YAML_DOCUMENT_END_EVENT)
            continue;
        if (type == YAML_DOCUMENT_START_EVENT) {
            if (mapped)
                return refuse(s, line, "a second document — %s is one", s->sheet->what);
            continue;
        }
        if (null)
            return refuse(s, 0, "empty — expected fields, for example %s", s->sheet->examples);
        if (type != YAML_MAPPING_START_EVENT)
            return refuse(s, line, "expected fields, for example '%s'", s->sheet->example);
        mapped = true;
        status = scan_mapping(s);
        if (status != CAUCUS_OK)
            return status;
    }
}

caucus_status caucus_sheet_parse(const caucus_sheet *sheet, const char *name, const uint8_t *bytes, size_t size,
                                 caucus_complaint *ret) {
    scan s = {.sheet = sheet, .name = name, .complaint = ret};
    if (size > CAUCUS_SCENARIO_BYTES)
        return refuse(&s, 0, "%zu bytes — %s has at most %zu", size, sheet->what, CAUCUS_SCENARIO_BYTES);
    if (!yaml_parser_initialize(&s.parser))
        return refuse_memory(&s);
    yaml_parser_set_input_string(&s.parser, bytes, size);
    caucus_status status = scan_document(&s);
    yaml_parser_delete(&s.parser);
    return status;
}
