/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_yaml.c: scenario files.
 *
 * A file is one mapping from field names to a scalar or a list of scalars:
 *
 *     algorithm: [svt, sparse-vector]
 *     epsilon: 10
 *     trust: coordinator
 *
 * libyaml's events are taken one by one, and everything that is no scenario (syntax, unknown or repeated fields,
 * nesting, aliases) is refused where it stands, with its line: nothing is allocated for what a file only claims to
 * hold, and no depth is followed. Values are kept as text: a number is converted where its field's meaning is known
 * (scenario_resolve.c). */
#include "scenario/nearest.h"
#include "scenario/scenario.h"
#include "store/atomic_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* Values of one list; more than the runs allowed cannot be meant. */
#define LIST_MAX CAUCUS_SCENARIO_RUNS

typedef struct scan {
    yaml_parser_t parser;
    const char *name;
    caucus_complaint *complaint;
    caucus_values found[CAUCUS_FIELD_COUNT]; /* line 0: not in the file */
} scan;

static caucus_status refuse(scan *s, size_t line, const char *format, ...) CAUCUS_PRINTF(3, 4);
static caucus_status refuse(scan *s, size_t line, const char *format, ...) {
    char text[320];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    s->complaint->placed = true;
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

static const char *field_name(const void *user, size_t i) {
    (void)user;
    return i < CAUCUS_FIELD_COUNT ? caucus_fields[i].name : NULL;
}

/* A scalar's text is safe to show and to hand on: no NUL inside, which would cut it short. */
static bool whole_text(const yaml_event_t *event) {
    return strlen((const char *)event->data.scalar.value) == event->data.scalar.length;
}

static caucus_status scan_key(scan *s, const yaml_event_t *event, caucus_scenario_field *ret) {
    size_t line = event->start_mark.line + 1;
    if (event->type != YAML_SCALAR_EVENT || !whole_text(event))
        return refuse(s, line, "expected a field's name, for example 'algorithm: svt'");
    const char *key = (const char *)event->data.scalar.value;
    caucus_scenario_field field = caucus_field_find(key);
    if (field == CAUCUS_FIELD_COUNT) {
        const char *meant = caucus_nearest(key, field_name, NULL);
        if (meant != NULL)
            return refuse(s, line, "unknown field '%.60s' — did you mean '%s'?", key, meant);
        return refuse(s, line, "unknown field '%.60s' — fields are called as the settings on the command line", key);
    }
    if (s->found[field].line != 0)
        return refuse(s, line, "%s: given twice, first in line %u", key, s->found[field].line);
    s->found[field].line = (unsigned)line;
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

static caucus_status scan_scalar(scan *s, caucus_scenario_field field, const yaml_event_t *event) {
    size_t line = event->start_mark.line + 1;
    const char *name = caucus_fields[field].name;
    if (event->type == YAML_ALIAS_EVENT)
        return refuse(s, line, "%s: an alias — write the value itself", name);
    if (event->type != YAML_SCALAR_EVENT)
        return refuse(s, line, "%s: nested too deep — expected a value%s", name,
                      caucus_fields[field].many ? " or a list of values" : "");
    if (event->data.scalar.anchor != NULL)
        return refuse(s, line, "%s: an anchor — write the value itself", name);
    if (event->data.scalar.length == 0)
        return refuse(s, line, "%s: no value", name);
    if (!whole_text(event))
        return refuse(s, line, "%s: a zero byte inside", name);
    return add_value(&s->found[field], (const char *)event->data.scalar.value) ? CAUCUS_OK : refuse_memory(s);
}

static caucus_status scan_list(scan *s, caucus_scenario_field field, size_t line) {
    const char *name = caucus_fields[field].name;
    /* A range is a pair, so a list is its natural form; other single fields take one value. */
    if (!caucus_fields[field].many && field != CAUCUS_FIELD_RANGE && field != CAUCUS_FIELD_BUDGET &&
        field != CAUCUS_FIELD_MEANS)
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
        if (status == CAUCUS_OK && end && !caucus_fields[field].many && !join_values(&s->found[field]))
            status = refuse_memory(s);
        if (status != CAUCUS_OK || end)
            return status;
    }
}

/* One field after another until the mapping ends. */
static caucus_status scan_mapping(scan *s) {
    for (;;) {
        yaml_event_t event;
        caucus_scenario_field field = CAUCUS_FIELD_COUNT;
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
            status = refuse(s, line, "%s: an anchor — write the value itself", caucus_fields[field].name);
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
    static const char empty[] = "empty — expected fields, for example 'algorithm: svt' and 'trust: coordinator'";
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
            return mapped ? CAUCUS_OK : refuse(s, 0, empty);
        if (type == YAML_STREAM_START_EVENT || type == YAML_DOCUMENT_END_EVENT)
            continue;
        if (type == YAML_DOCUMENT_START_EVENT) {
            if (mapped)
                return refuse(s, line, "a second document — a scenario is one");
            continue;
        }
        if (null)
            return refuse(s, 0, empty);
        if (type != YAML_MAPPING_START_EVENT)
            return refuse(s, line, "expected fields, for example 'algorithm: svt'");
        mapped = true;
        status = scan_mapping(s);
        if (status != CAUCUS_OK)
            return status;
    }
}

/* What was found goes to the fields that no flag has set. */
static void take(caucus_scenario *scenario, scan *s) {
    for (size_t i = 0; i < CAUCUS_FIELD_COUNT; i++) {
        if (s->found[i].line == 0 || scenario->field[i].count != 0)
            continue;
        scenario->field[i] = s->found[i];
        s->found[i] = (caucus_values){0};
    }
}

caucus_status caucus_scenario_parse(caucus_scenario *scenario, const char *name, const uint8_t *bytes, size_t size,
                                    caucus_complaint *ret) {
    scan s = {.name = name, .complaint = ret};
    if (size > CAUCUS_SCENARIO_BYTES)
        return refuse(&s, 0, "%zu bytes — a scenario has at most %zu", size, CAUCUS_SCENARIO_BYTES);
    free(scenario->file);
    scenario->file = strdup(name);
    if (scenario->file == NULL || !yaml_parser_initialize(&s.parser))
        return refuse_memory(&s);
    yaml_parser_set_input_string(&s.parser, bytes, size);
    caucus_status status = scan_document(&s);
    yaml_parser_delete(&s.parser);
    if (status == CAUCUS_OK)
        take(scenario, &s);
    for (size_t i = 0; i < CAUCUS_FIELD_COUNT; i++)
        caucus_values_clear(&s.found[i]);
    return status;
}

caucus_status caucus_scenario_load(caucus_scenario *scenario, const char *path, caucus_complaint *ret) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    caucus_error error = {0};
    caucus_status status = caucus_file_load(path, CAUCUS_SCENARIO_BYTES, "a scenario", &bytes, &size, &error);
    if (status != CAUCUS_OK)
        return caucus_scenario_complain(scenario, status, &error, ret);
    status = caucus_scenario_parse(scenario, path, bytes, size, ret);
    free(bytes);
    return status;
}
