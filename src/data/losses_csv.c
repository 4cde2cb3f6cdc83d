/* SPDX-License-Identifier: Apache-2.0 */
/* losses_csv.c: see losses_csv.h.
 *
 * Rows may come in any order, so each is put in its place, and every place must have been filled exactly once. */
#include "data/losses_csv.h"

#include "algo/wipe.h"
#include "data/csv_table.h"
#include "num/fail.h"
#include "num/label.h"
#include "store/atomic_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLIENTS_MAX (1u << 24)
#define ROUNDS_MAX (1u << 30)

static bool is_whole(double value, double most) {
    return value >= 1 && value <= most && value == floor(value);
}

static bool numbered(const caucus_csv_table *t) {
    return t->name != NULL && t->columns > 2 && strcmp(t->name[0], "client") == 0 && strcmp(t->name[1], "round") == 0;
}

/* The largest client and round; every row has a whole number of each. */
static caucus_status measure(const char *name, const caucus_csv_table *t, caucus_npy *ret, caucus_error *ret_error) {
    for (uint64_t i = 0; i < t->rows; i++) {
        const double *row = t->values + (size_t)i * t->columns;
        if (!is_whole(row[0], CLIENTS_MAX) || !is_whole(row[1], ROUNDS_MAX))
            return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                               "%s:%" PRIu64 ": client %g, round %g — expected whole numbers from 1 on", name, i + 2,
                               row[0], row[1]);
        ret->clients = (uint32_t)row[0] > ret->clients ? (uint32_t)row[0] : ret->clients;
        ret->rounds = (uint64_t)row[1] > ret->rounds ? (uint64_t)row[1] : ret->rounds;
    }
    ret->experts = t->columns - 2;
    if ((uint64_t)ret->clients * ret->rounds == t->rows)
        return CAUCUS_OK;
    return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                       "%s: %" PRIu64 " rows for %u clients × %" PRIu64
                       " rounds — expected one row for every client and round",
                       name, t->rows, ret->clients, ret->rounds);
}

/* As many rows as places: if none is filled twice, all are filled. */
static caucus_status place_rows(const char *name, const caucus_csv_table *t, caucus_npy *ret, caucus_error *ret_error) {
    const size_t d = ret->experts;
    bool *filled = calloc((size_t)t->rows, sizeof *filled);
    caucus_status status = CAUCUS_OK;
    ret->read = malloc((size_t)t->rows * d * sizeof *ret->read);
    if (ret->read == NULL || filled == NULL)
        status = caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "%s: %s", name, caucus_status_text(CAUCUS_E_MEMORY));
    for (uint64_t i = 0; status == CAUCUS_OK && filled != NULL && i < t->rows; i++) {
        const double *row = t->values + (size_t)i * t->columns;
        const size_t at = ((size_t)row[0] - 1) * ret->rounds + ((size_t)row[1] - 1);
        if (filled[at])
            status = caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s:%" PRIu64 ": client %.0f has round %.0f twice",
                                 name, i + 2, row[0], row[1]);
        else
            memcpy(ret->read + at * d, row + 2, d * sizeof *row);
        filled[at] = true;
    }
    free(filled);
    return status;
}

/* What the header calls the columns of experts: the last `experts` of them. The table has checked each by itself. */
static caucus_status take_names(const char *name, const caucus_csv_table *t, caucus_npy *ret, caucus_error *ret_error) {
    if (t->name == NULL)
        return CAUCUS_OK;
    const char *const *label = (const char *const *)t->name + (t->columns - ret->experts);
    caucus_error error = {0};
    caucus_status status = caucus_labels_differ(label, ret->experts, &error);
    if (status == CAUCUS_OK && (ret->names = caucus_labels_text(label, ret->experts)) == NULL)
        status = caucus_fail_memory(&error, "names");
    if (status == CAUCUS_OK)
        return CAUCUS_OK;
    return caucus_fail(ret_error, status, "", "%s:1: %.160s%s", name, error.text,
                       status == CAUCUS_E_MEMORY ? "" : " — expected names that differ");
}

caucus_status caucus_losses_csv_open(const char *path, bool own, caucus_npy *ret, caucus_error *ret_error) {
    const char *name = caucus_path_tail(path);
    caucus_csv_table table = {0};
    caucus_npy made = {.wide = true};
    caucus_status status = caucus_csv_table_read(path, &table, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (numbered(&table)) {
        status = measure(name, &table, &made, ret_error);
        if (status == CAUCUS_OK)
            status = place_rows(name, &table, &made, ret_error);
    } else if (own) {
        made.clients = 1;
        made.rounds = table.rows;
        made.experts = table.columns;
        made.single = true;
        made.read = table.values;
        table.values = NULL; /* they are the caller's now */
    } else {
        status =
            caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                        "%s: no columns 'client' and 'round' — expected a header client,round,NAME,… and a row for "
                        "every client and round",
                        name);
    }
    if (status == CAUCUS_OK)
        status = take_names(name, &table, &made, ret_error);
    caucus_csv_table_free(&table);
    made.values = (const uint8_t *)made.read;
    if (status == CAUCUS_OK)
        *ret = made;
    else
        caucus_npy_close(&made);
    return status;
}
