/* SPDX-License-Identifier: Apache-2.0 */
/* csv_table.c: see csv_table.h. */
#include "data/csv_table.h"

#include "algo/wipe.h"
#include "data/loss_lines.h"
#include "num/hand_over.h"
#include "num/label.h"
#include "store/atomic_file.h"
#include "store/mapped_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *name;
    const char *at, *end;
    uint64_t line; /* of the line last taken */
    char *text;    /* that line, with a zero at its end */
    size_t room;
    uint64_t space; /* rows that there is memory for */
    caucus_csv_table *table;
    caucus_error *error;
} reader;

static caucus_status out_of_memory(const reader *r) {
    return caucus_fail(r->error, CAUCUS_E_MEMORY, "", "%s: %s", r->name, caucus_status_text(CAUCUS_E_MEMORY));
}

static caucus_status refuse(const reader *r, const char *what) {
    return caucus_fail(r->error, CAUCUS_E_FORMAT, "", "%s:%llu: %.200s", r->name, (unsigned long long)r->line, what);
}

/* The next line into r->text; *ret_more is false where the file has ended. */
static caucus_status next_line(reader *r, bool *ret_more) {
    *ret_more = r->at < r->end;
    if (!*ret_more)
        return CAUCUS_OK;
    const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
    size_t length = (size_t)((stop != NULL ? stop : r->end) - r->at);
    r->line++;
    if (memchr(r->at, '\0', length) != NULL)
        return refuse(r, "a zero byte — a CSV file is text");
    if (r->text == NULL || length + 1 > r->room) {
        char *more = malloc(length + 1);
        if (more == NULL)
            return out_of_memory(r);
        caucus_wipe_free(r->text, r->room);
        r->text = more;
        r->room = length + 1;
    }
    memcpy(r->text, r->at, length);
    while (length > 0 && strchr(" \t\r", r->text[length - 1]) != NULL)
        length--;
    r->text[length] = '\0';
    r->at = stop != NULL ? stop + 1 : r->end;
    return CAUCUS_OK;
}

/* One value of the header, without blanks and quotes around it. */
static char *cell_of(const char **at) {
    const size_t whole = strcspn(*at, ",");
    const char *from = *at + strspn(*at, " \t");
    size_t length = from - *at < (ptrdiff_t)whole ? whole - (size_t)(from - *at) : 0;
    while (length > 0 && strchr(" \t", from[length - 1]) != NULL)
        length--;
    if (length >= 2 && from[0] == '"' && from[length - 1] == '"') {
        from++;
        length -= 2;
    }
    *at += whole + ((*at)[whole] == ',');
    return strndup(from, length);
}

static bool is_number(const char *text) {
    double value;
    return caucus_loss_line(text, 1, &value, NULL) == CAUCUS_OK;
}

/* Two columns of one name: nobody could say which of them is meant. */
static caucus_status check_differ(const reader *r) {
    const caucus_csv_table *t = r->table;
    uint32_t first = 0, second = 0;
    if (caucus_labels_twice((const char *const *)t->name, t->columns, &first, &second) != CAUCUS_OK)
        return out_of_memory(r);
    if (first == t->columns)
        return CAUCUS_OK;
    return caucus_fail(r->error, CAUCUS_E_FORMAT, "",
                       "%s:%llu: columns %u and %u are both called '%.64s' — expected names that differ", r->name,
                       (unsigned long long)r->line, first + 1, second + 1, t->name[first]);
}

/* Names, and no numbers among them: a row with one bad value must not pass for a header. */
static caucus_status take_header(reader *r) {
    caucus_csv_table *t = r->table;
    const char *at = r->text;
    t->name = calloc(t->columns, sizeof *t->name);
    if (t->name == NULL)
        return out_of_memory(r);
    for (uint32_t i = 0; i < t->columns; i++) {
        if ((t->name[i] = cell_of(&at)) == NULL)
            return out_of_memory(r);
        caucus_error error = {0};
        if (is_number(t->name[i]))
            return caucus_fail(r->error, CAUCUS_E_FORMAT, "",
                               "%s:%llu: value %u is the number %.20s, others are not — expected numbers, or a line of "
                               "names first",
                               r->name, (unsigned long long)r->line, i + 1, t->name[i]);
        if (caucus_label_check(t->name[i], strlen(t->name[i]), &error) != CAUCUS_OK)
            return refuse(r, error.text);
    }
    return check_differ(r);
}

static caucus_status take_row(reader *r) {
    caucus_csv_table *t = r->table;
    if (t->rows == r->space) { /* not realloc(): it would leave losses where they were */
        const size_t cells = (size_t)t->rows * t->columns, room = r->space == 0 ? 64 : 2 * (size_t)r->space;
        double *more = malloc(room * t->columns * sizeof *more);
        if (more == NULL)
            return out_of_memory(r);
        if (cells > 0)
            memcpy(more, t->values, cells * sizeof *more);
        caucus_wipe_free(t->values, cells * sizeof *more);
        t->values = more;
        r->space = room;
    }
    caucus_error error = {0};
    if (caucus_loss_line(r->text, t->columns, t->values + (size_t)t->rows * t->columns, &error) != CAUCUS_OK)
        return refuse(r, error.text);
    t->rows++;
    return CAUCUS_OK;
}

static caucus_status take_first(reader *r) {
    size_t columns = 1;
    if (r->text == NULL)
        return out_of_memory(r);
    for (const char *c = r->text; *c != '\0'; c++)
        columns += *c == ',';
    if (r->text[0] == '\0')
        return refuse(r, "a blank line — expected numbers, or a line of names");
    if (columns > CAUCUS_CSV_COLUMNS)
        return refuse(r, "more than 1048576 values in a line");
    r->table->columns = (uint32_t)columns;
    double *values = malloc(columns * sizeof *values);
    if (values == NULL)
        return out_of_memory(r);
    const bool numbers = caucus_loss_line(r->text, (uint32_t)columns, values, NULL) == CAUCUS_OK;
    caucus_wipe_free(values, columns * sizeof *values);
    return numbers ? take_row(r) : take_header(r);
}

static caucus_status read_all(reader *r) {
    bool more = false;
    uint64_t blank = 0; /* line of the first blank one since the last row */
    caucus_status status = next_line(r, &more);
    if (status == CAUCUS_OK && more)
        status = take_first(r);
    while (status == CAUCUS_OK && more) {
        status = next_line(r, &more);
        if (status != CAUCUS_OK || !more)
            break;
        if (r->text[0] == '\0') {
            blank = blank == 0 ? r->line : blank;
        } else if (blank != 0) {
            r->line = blank;
            status = refuse(r, "a blank line — expected numbers");
        } else {
            status = take_row(r);
        }
    }
    if (status == CAUCUS_OK && r->table->rows == 0)
        status = caucus_fail(r->error, CAUCUS_E_FORMAT, "", "%s: no row of numbers", r->name);
    return status;
}

caucus_status caucus_csv_table_parse(const char *name, const char *bytes, size_t size, caucus_csv_table *ret,
                                     caucus_error *ret_error) {
    caucus_csv_table table = {0};
    reader r = {.name = name, .at = bytes, .end = bytes + size, .table = &table, .error = ret_error};
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) /* the mark that spreadsheets put first */
        r.at += 3;
    caucus_status status = read_all(&r);
    caucus_wipe_free(r.text, r.room);
    return CAUCUS_HAND_OVER(status, ret, table, caucus_csv_table_free(&table));
}

caucus_status caucus_csv_table_read(const char *path, caucus_csv_table *ret, caucus_error *ret_error) {
    caucus_mapped file;
    caucus_status status = caucus_mapped_open(path, &file, ret_error);
    if (status != CAUCUS_OK)
        return status;
    const char *name = caucus_path_tail(path);
    if (file.size > CAUCUS_CSV_BYTES)
        status = caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s: more than 4 GiB — use a NumPy file", name);
    else
        status = caucus_csv_table_parse(name, (const char *)file.bytes, file.size, ret, ret_error);
    if (status == CAUCUS_OK && caucus_mapped_cut(&file)) {
        caucus_csv_table_free(ret);
        *ret = (caucus_csv_table){0};
        status = caucus_fail(ret_error, CAUCUS_E_CHANGED, "", "%s: it became shorter while it was being read", name);
    }
    caucus_mapped_close(&file);
    return status;
}

void caucus_csv_table_free(caucus_csv_table *table) {
    for (uint32_t i = 0; table->name != NULL && i < table->columns; i++)
        free(table->name[i]);
    free(table->name);
    caucus_wipe_free(table->values, (size_t)table->rows * table->columns * sizeof *table->values);
    *table = (caucus_csv_table){0};
}
