/* SPDX-License-Identifier: Apache-2.0 */
/* plan_parse.c: a plan back from the bytes of its file (<caucus/plan_file.h>).
 *
 * The walk over a plan says what must come next, and libyaml's events are taken one by one against it. So nothing is
 * allocated for what a file claims to hold, depth is bounded, and a key that is unknown, repeated or out of place is
 * refused where it stands. What YAML does not see (remarks, spaces, an option written out though it is off) is found at
 * the end, when the bytes are compared with the canonical text of the plan: a plan has one file, so that everybody who
 * has the plan has its name. */
#include <caucus/plan_file.h>

#include "num/hand_over.h"
#include "plan/text/plan_text.h"
#include "plan/text/plan_walk.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* What to do with a value that was read. */
typedef enum mode {
    TAKE,   /* settings: it is what was asked for */
    AGREE,  /* integers: equal to what calibration gives; a tuned one may differ in its last digits and is then taken */
    COMPARE /* the guarantee: close to what the accountant found; then what the file says is taken, as with integers */
} mode;

typedef struct reader {
    caucus_walker walker;
    yaml_parser_t parser;
    const char *name;
    caucus_error *error;
    mode mode;
    const char *section, *list; /* for the lines that refuse */
    size_t left;                /* values of the list being read */
    yaml_event_t held;          /* an event that was looked at and not taken */
    bool holds;
} reader;

static void refuse(reader *r, caucus_status status, size_t line, const char *format, ...) CAUCUS_PRINTF(4, 5);
static void refuse(reader *r, caucus_status status, size_t line, const char *format, ...) {
    char text[160], place[96];
    va_list arguments;
    if (r->walker.status != CAUCUS_OK)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    const size_t length = strlen(r->name), most = 72;
    const char *tail = length > most ? r->name + (length - most) : r->name;
    if (line == 0)
        (void)snprintf(place, sizeof place, "%s", tail);
    else
        (void)snprintf(place, sizeof place, "%s:%zu", tail, line);
    r->walker.status = caucus_fail(r->error, status, "", "%s: %.140s", place, text);
}

/* The next event; false after any failure. The caller deletes it. */
static bool next(reader *r, yaml_event_t *event) {
    if (r->walker.status != CAUCUS_OK)
        return false;
    if (r->holds) {
        *event = r->held;
        r->holds = false;
        return true;
    }
    if (yaml_parser_parse(&r->parser, event))
        return true;
    if (r->parser.error == YAML_MEMORY_ERROR)
        refuse(r, CAUCUS_E_MEMORY, 0, "%s", caucus_status_text(CAUCUS_E_MEMORY));
    else if (r->parser.error == YAML_READER_ERROR)
        refuse(r, CAUCUS_E_FORMAT, 0, "not a text file in UTF-8");
    else
        refuse(r, CAUCUS_E_FORMAT, r->parser.problem_mark.line + 1, "not YAML — %s",
               r->parser.problem != NULL ? r->parser.problem : "unreadable");
    return false;
}

/* The next event must be of this type. */
static void expect(reader *r, yaml_event_type_t type, const char *what) {
    yaml_event_t event;
    if (!next(r, &event))
        return;
    if (event.type != type)
        refuse(r, CAUCUS_E_FORMAT, event.start_mark.line + 1, "expected %s", what);
    yaml_event_delete(&event);
}

/* The next event must be a plain scalar, which is copied; `what` is what was expected. */
static size_t scalar(reader *r, const char *what, char ret[CAUCUS_VALUE_BYTES]) {
    yaml_event_t event;
    ret[0] = '\0';
    if (!next(r, &event))
        return 0;
    const size_t line = event.start_mark.line + 1;
    const bool plain = event.type == YAML_SCALAR_EVENT && event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
                       event.data.scalar.anchor == NULL && event.data.scalar.tag == NULL;
    if (!plain) {
        refuse(r, CAUCUS_E_FORMAT, line, "expected %s", what);
    } else if (event.data.scalar.length >= CAUCUS_VALUE_BYTES) {
        refuse(r, CAUCUS_E_FORMAT, line, "'%.20s...' is too long — expected %s", (const char *)event.data.scalar.value,
               what);
    } else {
        memcpy(ret, event.data.scalar.value, event.data.scalar.length);
        ret[event.data.scalar.length] = '\0';
        if (strlen(ret) != event.data.scalar.length)
            refuse(r, CAUCUS_E_FORMAT, line, "a zero byte — expected %s", what);
    }
    yaml_event_delete(&event);
    return line;
}

/* A key that comes at the wrong place is told from one that nobody here knows. */
static bool is_known(reader *r, const char *key) {
    bool known = strcmp(key, "caucus-plan") == 0;
    if (!known && caucus_walk_knows(key, &known) != CAUCUS_OK)
        refuse(r, CAUCUS_E_MEMORY, 0, "%s", caucus_status_text(CAUCUS_E_MEMORY));
    return known;
}

static void read_key(reader *r, const char *key) {
    char text[CAUCUS_VALUE_BYTES], what[CAUCUS_VALUE_BYTES];
    (void)snprintf(what, sizeof what, "'%.40s:'", key);
    size_t line = scalar(r, what, text);
    if (r->walker.status != CAUCUS_OK || strcmp(text, key) == 0)
        return;
    const bool known = is_known(r, text);
    if (known)
        refuse(r, CAUCUS_E_FORMAT, line, "'%.30s' where '%s' is expected — given twice, left out or out of order", text,
               key);
    else
        refuse(r, CAUCUS_E_FORMAT, line,
               "'%.30s' is no key that this caucus knows — the plan was made by a newer one, "
               "or edited",
               text);
}

/* Is this the next key? It stays where it is. */
static bool read_has(caucus_walker *walker, const char *key, bool other) {
    reader *r = (reader *)walker;
    (void)other;
    if (!next(r, &r->held))
        return false;
    r->holds = true;
    return r->held.type == YAML_SCALAR_EVENT && r->held.data.scalar.length == strlen(key) &&
           memcmp(r->held.data.scalar.value, key, strlen(key)) == 0;
}

static void read_open(caucus_walker *walker, const char *key) {
    reader *r = (reader *)walker;
    read_key(r, key);
    expect(r, YAML_MAPPING_START_EVENT, "a section's fields");
}

/* The end of what `end` names, or a key that does not belong there. */
static void read_end(reader *r, const char *end) {
    if (r->walker.status != CAUCUS_OK || !next(r, &r->held))
        return;
    r->holds = true;
    if (r->held.type == YAML_SCALAR_EVENT)
        read_key(r, end); /* which is no key: says what is wrong with this one */
    else
        expect(r, YAML_MAPPING_END_EVENT, end);
}

static void read_close(caucus_walker *walker) {
    read_end((reader *)walker, "the end of the section");
}

static void read_list(caucus_walker *walker, const char *key, size_t count) {
    reader *r = (reader *)walker;
    read_key(r, key);
    expect(r, YAML_SEQUENCE_START_EVENT, "a list");
    r->list = key;
    r->left = count;
    if (count == 0)
        expect(r, YAML_SEQUENCE_END_EVENT, "an empty list");
}

static void say_kind(const caucus_value *v, char *ret, size_t bytes) {
    static const char *const kinds[] = {"a whole number",
                                        "a whole number",
                                        "a number in its shortest form",
                                        "true or false",
                                        "auto, or 0 to 7",
                                        "",
                                        "a fraction in lowest terms, num/den",
                                        "a law and its parameter, for example geometric 3/8"};
    (void)snprintf(ret, bytes, "%s", kinds[v->kind]);
    for (unsigned i = 0; v->kind == CAUCUS_VALUE_WORD && i <= v->most; i++) {
        size_t used = strlen(ret);
        (void)snprintf(ret + used, bytes - used, "%s%s", i == 0 ? "" : ", ", v->word(i));
    }
}

/* Judge a text that stands for `value`, by the mode. */
static void judge(reader *r, const char *key, size_t line, const char *text, const caucus_value *value) {
    char mine[CAUCUS_VALUE_BYTES], kind[96];
    union {
        uint64_t whole;
        int64_t steps;
        double real;
        caucus_rational rational;
        caucus_noise noise;
    } store;
    memset(&store, 0, sizeof store);
    caucus_value theirs = *value;
    theirs.whole = &store.whole; /* the union's members share their place, in the value and here */
    caucus_value_text(value, mine);
    if (!caucus_value_parse(&theirs, text)) {
        say_kind(value, kind, sizeof kind);
        refuse(r, CAUCUS_E_FORMAT, line, "%s: '%.30s' (accepted: %s)", key, text, kind);
    } else if (r->mode == TAKE) {
        (void)caucus_value_parse(value, text);
    } else if (strcmp(mine, text) != 0 &&
               !((value->tuned || r->mode == COMPARE) && caucus_value_is_near(value, &theirs))) {
        refuse(r, CAUCUS_E_CONFLICT, line, "%s: %.40s, but these settings give %s — the file was edited", key, text,
               mine);
    } else if (r->mode == COMPARE && value->kind == CAUCUS_VALUE_REAL && *theirs.real < *value->real * (1 - 0x1p-48)) {
        refuse(r, CAUCUS_E_CONFLICT, line, "%s: %.40s, but the accountant finds %s — the file was edited", key, text,
               mine); /* 2^-48: another machine's logarithm; a guarantee is never believed to be better than it is */
    } else {
        (void)caucus_value_parse(value, text);
    }
}

static void read_value(caucus_walker *walker, const char *key, const caucus_value *value) {
    reader *r = (reader *)walker;
    char text[CAUCUS_VALUE_BYTES];
    if (key != NULL)
        read_key(r, key);
    size_t line = scalar(r, key != NULL ? "a value" : "another value of the list", text);
    if (r->walker.status == CAUCUS_OK)
        judge(r, key != NULL ? key : r->list, line, text, value);
    if (key == NULL && --r->left == 0)
        expect(r, YAML_SEQUENCE_END_EVENT, "the end of the list");
}

/* A single-quoted scalar of any length that a file can have. */
static void read_text(caucus_walker *walker, const char *key, const char **at) {
    reader *r = (reader *)walker;
    yaml_event_t event;
    read_key(r, key);
    if (!next(r, &event))
        return;
    const size_t line = event.start_mark.line + 1;
    if (event.type != YAML_SCALAR_EVENT || event.data.scalar.style != YAML_SINGLE_QUOTED_SCALAR_STYLE ||
        event.data.scalar.anchor != NULL || event.data.scalar.tag != NULL)
        refuse(r, CAUCUS_E_FORMAT, line, "%s: expected labels in single quotes", key);
    else if (strlen((const char *)event.data.scalar.value) != event.data.scalar.length)
        refuse(r, CAUCUS_E_FORMAT, line, "%s: a zero byte", key);
    else if ((*at = strdup((const char *)event.data.scalar.value)) == NULL)
        refuse(r, CAUCUS_E_MEMORY, 0, "%s", caucus_status_text(CAUCUS_E_MEMORY));
    yaml_event_delete(&event);
}

static void read_version(reader *r) {
    uint64_t version = 0;
    r->mode = TAKE;
    expect(r, YAML_STREAM_START_EVENT, "a plan file");
    expect(r, YAML_DOCUMENT_START_EVENT, "a plan file ('caucus-plan: 2')");
    expect(r, YAML_MAPPING_START_EVENT, "a plan file ('caucus-plan: 2')");
    read_value(&r->walker, "caucus-plan",
               &(caucus_value){.kind = CAUCUS_VALUE_WHOLE, .most = UINT32_MAX, .whole = &version});
    if (r->walker.status == CAUCUS_OK && version < CAUCUS_PLAN_FILE_VERSION)
        refuse(r, CAUCUS_E_FORMAT, 0,
               "a plan of version %llu, made by an older caucus; this one reads version %d — make it again from its "
               "settings",
               (unsigned long long)version, CAUCUS_PLAN_FILE_VERSION);
    else if (r->walker.status == CAUCUS_OK && version > CAUCUS_PLAN_FILE_VERSION)
        refuse(r, CAUCUS_E_FORMAT, 0, "a plan of version %llu, made by a newer caucus; this one reads version %d",
               (unsigned long long)version, CAUCUS_PLAN_FILE_VERSION);
}

/* Calibrate what the file asks for. */
static caucus_plan *make(reader *r, const caucus_settings *settings) {
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    if (r->walker.status != CAUCUS_OK)
        return NULL;
    caucus_status status = settings->grid != 0 ? caucus_plan_new(settings, &plan, &error)
                                               : caucus_fail(&error, CAUCUS_E_RANGE, "grid", "0 (accepted: 1 or more)");
    if (status != CAUCUS_OK)
        refuse(r, status, 0, "settings: %s: %s", error.field, error.text);
    return plan;
}

static void read_plan(reader *r, caucus_plan **ret) {
    caucus_settings settings;
    caucus_settings_init(&settings);
    read_version(r);
    caucus_walk_settings(&r->walker, &settings);
    caucus_plan *plan = make(r, &settings);
    free((char *)settings.names); /* read here; the plan has its own */
    free((char *)settings.federation);
    if (plan == NULL)
        return;
    *ret = plan;
    r->mode = AGREE;
    caucus_walk_mechanism(&r->walker, plan);
    caucus_error error = {0};
    if (r->walker.status == CAUCUS_OK) {
        caucus_status status = caucus_plan_account(plan, &plan->guarantee, &error);
        if (status != CAUCUS_OK)
            refuse(r, status, 0, "%s: %s", error.field, error.text);
    }
    r->mode = COMPARE;
    caucus_walk_guarantee(&r->walker, &plan->guarantee);
    read_end(r, "the end of the plan");
    expect(r, YAML_DOCUMENT_END_EVENT, "the end of the plan");
    expect(r, YAML_STREAM_END_EVENT, "the end of the plan");
}

/* What stands in `text`, for an error: at most 39 bytes of its line, from a little before the first one that differs;
 * or the name of what cannot be seen. */
static void quote(const char *text, size_t size, size_t begin, size_t differs, char ret[44]) {
    size_t from = differs - begin > 24 ? differs - 24 : begin, length = 0;
    if (differs >= size) {
        (void)snprintf(ret, 44, "the end of the file");
    } else if (text[differs] == '\n') {
        (void)snprintf(ret, 44, "the end of the line");
    } else if (text[differs] == '\r') {
        (void)snprintf(ret, 44, "a carriage return (Windows' line ends?)");
    } else {
        while (from + length < size && text[from + length] != '\n' && length < 39)
            length++;
        (void)snprintf(ret, 44, "'%.*s'", (int)length, text + from);
    }
}

/* The bytes are those of the plan that they stand for; then they name it. */
static void check_canonical(reader *r, const char *bytes, size_t size, caucus_plan *plan) {
    char *text = NULL;
    size_t length = 0, at = 0, begin = 0, line = 1;
    caucus_status status = caucus_plan_text(plan, &text, &length);
    if (status != CAUCUS_OK) {
        refuse(r, status, 0, "%s", caucus_status_text(status));
        return;
    }
    for (; at < size && at < length && bytes[at] == text[at]; at++)
        if (bytes[at] == '\n') {
            line++;
            begin = at + 1;
        }
    if (at == size && at == length) {
        caucus_plan_set_hash(plan, text, length);
    } else {
        char theirs[44], ours[44];
        quote(bytes, size, begin, at, theirs);
        quote(text, length, begin, at, ours);
        refuse(r, CAUCUS_E_FORMAT, line, "not the canonical text of this plan: %s where %s is expected", theirs, ours);
    }
    free(text);
}

caucus_status caucus_plan_file_parse(const char *name, const void *bytes, size_t size, caucus_plan **ret,
                                     caucus_error *ret_error) {
    reader r = {.walker = {CAUCUS_WALKER_OPERATIONS(read)}, .name = name, .error = ret_error};
    caucus_plan *plan = NULL;
    if (size > CAUCUS_PLAN_FILE_BYTES) {
        refuse(&r, CAUCUS_E_FORMAT, 0, "%zu bytes — a plan file has at most %zu", size, CAUCUS_PLAN_FILE_BYTES);
        return r.walker.status;
    }
    if (!yaml_parser_initialize(&r.parser)) {
        refuse(&r, CAUCUS_E_MEMORY, 0, "%s", caucus_status_text(CAUCUS_E_MEMORY));
        return r.walker.status;
    }
    yaml_parser_set_input_string(&r.parser, bytes, size);
    read_plan(&r, &plan);
    if (r.holds)
        yaml_event_delete(&r.held);
    yaml_parser_delete(&r.parser);
    if (r.walker.status == CAUCUS_OK)
        check_canonical(&r, bytes, size, plan);
    return CAUCUS_HAND_OVER(r.walker.status, ret, plan, caucus_plan_free(plan));
}
