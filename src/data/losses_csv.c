/* SPDX-License-Identifier: Apache-2.0 */
/* losses_csv.c: see losses_csv.h.
 *
 * Rows may come in any order, so each is put in its place, and every place must have been filled exactly once. */
#include "data/losses_csv.h"

#include "algo/wipe.h"
#include "data/csv_table.h"
#include "num/fail.h"
#include "num/hand_over.h"
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

/* The columns before the experts', which say whose row it is and of which round. */
typedef struct places {
    bool client, round;           /* which of them there are */
    uint32_t client_at, round_at; /* and where */
    uint32_t count;
} places;

/* `client` and `round` in either order, one or both, before anything else. */
static places places_of(const caucus_csv_table *t) {
    places p = {false, false, 0, 0, 0};
    for (; t->name != NULL && p.count < t->columns; p.count++) { /* names differ: neither is found twice */
        if (strcmp(t->name[p.count], "client") == 0) {
            p.client = true;
            p.client_at = p.count;
        } else if (strcmp(t->name[p.count], "round") == 0) {
            p.round = true;
            p.round_at = p.count;
        } else {
            break;
        }
    }
    return p;
}

static double client_of(const places *p, const double *row) {
    return p->client ? row[p->client_at] : 1;
}

/* The largest client and round; every row has a whole number of each. */
static caucus_status measure(const char *name, const caucus_csv_table *t, const places *p, caucus_npy *ret,
                             caucus_error *ret_error) {
    for (uint64_t i = 0; i < t->rows; i++) {
        const double *row = t->values + (size_t)i * t->columns;
        const double client = client_of(p, row), round = row[p->round_at];
        if (!is_whole(client, CLIENTS_MAX) || !is_whole(round, ROUNDS_MAX))
            return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                               "%s:%" PRIu64 ": client %g, round %g — expected whole numbers from 1 on", name, i + 2,
                               client, round);
        ret->clients = (uint32_t)client > ret->clients ? (uint32_t)client : ret->clients;
        ret->rounds = (uint64_t)round > ret->rounds ? (uint64_t)round : ret->rounds;
    }
    ret->experts = t->columns - p->count;
    ret->single = !p->client;
    if ((uint64_t)ret->clients * ret->rounds == t->rows)
        return CAUCUS_OK;
    return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                       "%s: %" PRIu64 " rows for %u clients × %" PRIu64
                       " rounds — expected one row for every client and round",
                       name, t->rows, ret->clients, ret->rounds);
}

/* As many rows as places: if none is filled twice, all are filled. */
static caucus_status place_rows(const char *name, const caucus_csv_table *t, const places *p, caucus_npy *ret,
                                caucus_error *ret_error) {
    const size_t d = ret->experts;
    bool *filled = calloc((size_t)t->rows, sizeof *filled);
    caucus_status status = CAUCUS_OK;
    ret->read = malloc((size_t)t->rows * d * sizeof *ret->read);
    if (ret->read == NULL || filled == NULL)
        status = caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "%s: %s", name, caucus_status_text(CAUCUS_E_MEMORY));
    for (uint64_t i = 0; status == CAUCUS_OK && filled != NULL && i < t->rows; i++) {
        const double *row = t->values + (size_t)i * t->columns;
        const double client = client_of(p, row), round = row[p->round_at];
        const size_t at = ((size_t)client - 1) * ret->rounds + ((size_t)round - 1);
        if (filled[at])
            status = caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s:%" PRIu64 ": client %.0f has round %.0f twice",
                                 name, i + 2, client, round);
        else
            memcpy(ret->read + at * d, row + p->count, d * sizeof *row);
        filled[at] = true;
    }
    free(filled);
    return status;
}

/* What the header calls the columns of experts: the last `experts` of them. The table has checked them. */
static caucus_status take_names(const char *name, const caucus_csv_table *t, caucus_npy *ret, caucus_error *ret_error) {
    if (t->name == NULL)
        return CAUCUS_OK;
    ret->first_column = t->columns - ret->experts + 1;
    ret->names = caucus_labels_text((const char *const *)t->name + (t->columns - ret->experts), ret->experts);
    return ret->names != NULL
               ? CAUCUS_OK
               : caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "%s: %s", name, caucus_status_text(CAUCUS_E_MEMORY));
}

/* Rows that say where they belong; or one client's, round after round as they stand. */
static caucus_status take_rows(const char *name, bool own, caucus_csv_table *table, caucus_npy *ret,
                               caucus_error *ret_error) {
    const places p = places_of(table);
    if (p.round && (p.client || own) && p.count < table->columns) {
        const caucus_status status = measure(name, table, &p, ret, ret_error);
        return status == CAUCUS_OK ? place_rows(name, table, &p, ret, ret_error) : status;
    }
    if (!own || p.count > 0)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                           "%s: no columns 'client' and 'round' before the experts' — expected a header "
                           "client,round,NAME,… and a row for every client and round",
                           name);
    ret->clients = 1;
    ret->rounds = table->rows;
    ret->experts = table->columns;
    ret->single = true;
    ret->read = table->values;
    table->values = NULL; /* they are the caller's now */
    return CAUCUS_OK;
}

caucus_status caucus_losses_csv_open(const char *path, bool own, caucus_npy *ret, caucus_error *ret_error) {
    const char *name = caucus_path_tail(path);
    caucus_csv_table table = {0};
    caucus_npy made = {.wide = true};
    caucus_status status = caucus_csv_table_read(path, &table, ret_error);
    if (status != CAUCUS_OK)
        return status;
    status = take_rows(name, own, &table, &made, ret_error);
    if (status == CAUCUS_OK)
        status = take_names(name, &table, &made, ret_error);
    caucus_csv_table_free(&table);
    made.values = (const uint8_t *)made.read;
    return CAUCUS_HAND_OVER(status, ret, made, caucus_npy_close(&made));
}
