/* SPDX-License-Identifier: Apache-2.0 */
/* up_compare.c: see up_compare.h.
 *
 * The simulation gives the announcements; a machine of each client, with the key and losses of the simulation, hears
 * them and says what it plays: mixtures are drawn by the client itself, so announcements alone would not do. */
#include "cli/up/up_compare.h"

#include <math.h>
#include <stdlib.h>

#include "algo/borrowed_rows.h"
#include "num/grid.h"
#include "num/vector.h"
#include "sim/slot/activity.h"

typedef struct heard_list {
    caucus_announcement *said;
    size_t count, room;
    bool failed;
} heard_list;

static void watch(void *user, uint64_t round, const caucus_announcement *a) {
    heard_list *list = user;
    (void)round;
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 256;
        caucus_announcement *more = realloc(list->said, room * sizeof *more);
        if (!more) {
            list->failed = true;
            return;
        }
        list->said = more;
        list->room = room;
    }
    list->said[list->count++] = *a;
}

typedef struct comparison {
    const caucus_plan *plan;
    const caucus_adversary_trial *losses;
    heard_list list;
    double *row;     /* [d] */
    int64_t *totals; /* [d]: everybody's losses, grid units */
    int64_t cost;    /* of what was played live, grid units */
    caucus_up_compared *out;
    uint64_t rounds; /* that were played */
} comparison;

/* The expert that number `k` of what a client printed should be; the first difference is kept. */
static void compare_one(caucus_up_compared *out, uint32_t index, uint64_t k, uint32_t expert, const uint32_t *live,
                        uint64_t played) {
    if (!out->equal || (k < played && live[k] == expert))
        return;
    out->equal = false;
    out->client = index;
    out->round = k + 1;
    out->live = k < played ? live[k] : UINT32_MAX;
    out->simulated = expert;
}

/* One client's rounds: what it should have played, against `live`. */
static caucus_status compare_client(comparison *c, uint64_t seed, uint32_t index, const uint32_t *live,
                                    uint64_t played) {
    const caucus_settings *s = &c->plan->settings;
    caucus_key seeded, run, key;
    caucus_key_from_seed(seed, &seeded);
    caucus_key_derive(&seeded, 0, &run);
    caucus_key_derive(&run, index, &key);
    caucus_client *client = NULL;
    caucus_status status = caucus_client_new(c->plan, index, &key, &client);
    caucus_grid grid = {.lo = s->lo, .hi = s->hi, .steps = c->plan->grid};
    caucus_clips clips = {0, 0, 0};
    size_t next = 0;
    for (uint64_t round = 0; status == CAUCUS_OK && round < c->rounds; round++) {
        while (next < c->list.count && caucus_client_rounds_left(client) == 0)
            if (caucus_client_hear(client, &c->list.said[next++]) != CAUCUS_OK)
                abort(); /* the simulation's own announcements */
        uint32_t expert = caucus_client_expert(client);
        caucus_adversary_fill64(c->losses, index, round, 1, c->row);
        compare_one(c->out, index, round, expert, live, played);
        if (round < played && live[round] < s->experts)
            c->cost += caucus_grid_loss(&grid, c->row[live[round]], &clips);
        caucus_grid_add_rows_f64(&grid, c->totals, c->row, s->experts, 1, &clips);
        status = caucus_client_observe_whole(client, c->row, 1);
    }
    caucus_client_free(client);
    return status;
}

/* At its own pace a client prints an expert when it takes the place of another: the announcements without those that
 * change nothing. */
static void compare_changes(comparison *c, uint32_t index, const uint32_t *live, uint64_t played) {
    uint64_t changes = 0;
    for (size_t k = 0; k < c->list.count; k++) {
        const uint32_t expert = c->list.said[k].expert;
        if (k > 0 && expert == c->list.said[k - 1].expert)
            continue;
        compare_one(c->out, index, changes, expert, live, played);
        changes++;
    }
    if (c->out->equal && played > changes)
        *c->out = (caucus_up_compared){.simulation = c->out->simulation,
                                       .client = index,
                                       .round = changes + 1,
                                       .live = live[changes],
                                       .simulated = UINT32_MAX};
}

static caucus_status compare_own_pace(comparison *c, const caucus_adversary *adversary, uint64_t seed,
                                      const uint32_t *expert, const uint64_t *played, const volatile int *stop) {
    caucus_status status = caucus_trial_play(c->plan, adversary, seed, 0, stop, watch, &c->list, &c->out->simulation);
    for (uint32_t i = 0; status == CAUCUS_OK && i < c->plan->settings.clients; i++)
        compare_changes(c, i + 1, expert + (size_t)i * c->rounds, played[i]);
    c->out->regret_live = c->out->equal ? c->out->simulation.regret : (double)NAN;
    if (status == CAUCUS_OK && c->list.failed)
        status = CAUCUS_E_MEMORY;
    free(c->list.said);
    return status;
}

caucus_status caucus_up_compare(const caucus_plan *plan, const caucus_adversary *adversary, uint64_t seed,
                                const uint32_t *expert, const uint64_t *played, const volatile int *stop,
                                caucus_up_compared *ret) {
    const caucus_settings *s = &plan->settings;
    comparison c = {.plan = plan, .out = ret};
    caucus_adversary_shape(adversary, NULL, NULL, &c.rounds);
    caucus_adversary_trial *losses = NULL;
    *ret = (caucus_up_compared){.equal = true};
    if (s->pace == CAUCUS_PACE_OWN) {
        c.rounds /= CAUCUS_SLOT_ROWS;
        return compare_own_pace(&c, adversary, seed, expert, played, stop);
    }
    c.row = calloc(s->experts, sizeof *c.row);
    c.totals = calloc(s->experts, sizeof *c.totals);
    caucus_status status = c.row && c.totals ? CAUCUS_OK : CAUCUS_E_MEMORY;
    if (status == CAUCUS_OK)
        status = caucus_trial_play(plan, adversary, seed, 0, stop, watch, &c.list, &ret->simulation);
    if (status == CAUCUS_OK)
        status = c.list.failed ? CAUCUS_E_MEMORY : caucus_adversary_trial_new(adversary, 0, &losses);
    c.losses = losses;
    for (uint32_t i = 0; status == CAUCUS_OK && i < s->clients; i++)
        status = stop && *stop ? CAUCUS_E_STOPPED
                               : compare_client(&c, seed, i + 1, expert + (size_t)i * c.rounds, played[i]);
    if (status == CAUCUS_OK) {
        double unit = (s->hi - s->lo) / (double)plan->grid;
        ret->regret_live = (double)(c.cost - caucus_vector_min_i64(c.totals, s->experts)) * unit / s->clients;
    }
    caucus_adversary_trial_free(losses);
    free(c.list.said);
    free(c.row);
    free(c.totals);
    return status;
}
