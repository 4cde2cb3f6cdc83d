/* SPDX-License-Identifier: Apache-2.0 */
/* slot_trial.c: see slot_trial.h.
 *
 * Slot k of every device, one after the other: the losses before the slot's decision are played with the expert of the
 * slot before; then the items of slot k - 1 are counted and decided on; then the rest is played. All devices are
 * connected and in time here, so each has one item in every decision but the first, which has none to decide on. Unit
 * client decides where a question ends, and not after every slot.
 * What a device sees in a slot is added up when the slot is over for it; the rows that it played before the decision
 * are made a second time for that, which is less than keeping sums of all devices. */
#include "sim/slot/slot_trial.h"

#include <stdlib.h>
#include <string.h>

#include "algo/borrowed_rows.h"
#include "algo/look/look.h"
#include "num/grid.h"
#include "num/int128.h"
#include "num/vector.h"
#include "plan/pace/pace.h"
#include "sim/slot/activity.h"
#include "sim/slot/slot_regret.h"

#define BUFFER_FLOATS ((size_t)1 << 15)

typedef struct trial {
    const caucus_plan *plan;
    const caucus_adversary *adversary;
    caucus_adversary_trial *losses;
    uint32_t m, d;
    uint64_t slots;
    caucus_coordinator *coordinator;
    caucus_partial *partial;
    caucus_client **client; /* [m] */
    float *rows;            /* [ahead][d] */
    uint64_t ahead;         /* rows made at once */
    int64_t *early, *late;  /* [d]: what one device has seen in one slot, before its decision and after it */
    caucus_slot_regret *devices;
    int64_t *totals;         /* [d]: every loss of every client, grid units */
    int64_t *segment_totals; /* [d]: what they were when the segment began */
    uint64_t segment;
    int64_t best_of_segments;
    caucus_grid grid;
    caucus_clips clips;
    uint32_t expert;    /* in force */
    uint64_t decisions; /* made so far */
    caucus_trial_result *result;
    caucus_trial_watch watch;
    void *user;
} trial;

static void close_trial(trial *t) {
    caucus_clients_free(t->client, t->m);
    caucus_partial_free(t->partial);
    caucus_coordinator_free(t->coordinator);
    caucus_adversary_trial_free(t->losses);
    free(t->rows);
    free(t->early);
    free(t->late);
    free(t->totals);
    free(t->segment_totals);
    caucus_slot_regret_free(t->devices);
}

static caucus_status open_trial(trial *t, uint64_t seed, uint32_t number) {
    caucus_key seeded, run, key;
    caucus_key_from_seed(seed, &seeded);
    caucus_key_derive(&seeded, number, &run);
    caucus_status status = caucus_adversary_trial_new(t->adversary, number, &t->losses);
    t->totals = calloc(t->d, sizeof *t->totals);
    t->segment_totals = calloc(t->d, sizeof *t->segment_totals);
    t->early = calloc(t->d, sizeof *t->early);
    t->late = calloc(t->d, sizeof *t->late);
    t->devices = caucus_slot_regret_new(t->plan);
    t->ahead = BUFFER_FLOATS / t->d > 0 ? BUFFER_FLOATS / t->d : 1;
    t->rows = malloc((size_t)t->ahead * t->d * sizeof *t->rows);
    t->client = calloc(t->m, sizeof *t->client);
    if (status == CAUCUS_OK &&
        !(t->totals && t->segment_totals && t->early && t->late && t->devices && t->rows && t->client))
        status = CAUCUS_E_MEMORY;
    caucus_key_derive(&run, 0, &key);
    if (status == CAUCUS_OK)
        status = caucus_coordinator_new(t->plan, &key, &t->coordinator);
    if (status == CAUCUS_OK)
        status = caucus_partial_new(t->coordinator, &t->partial);
    for (uint32_t i = 0; status == CAUCUS_OK && i < t->m; i++) {
        caucus_key_derive(&run, i + 1, &key);
        status = caucus_client_new_shared(t->plan, i + 1, &key, t->client[0], &t->client[i]);
        if (status == CAUCUS_OK) /* the first slot of a new client does not count: it is over before anything is seen */
            status = caucus_client_slot(t->client[i], t->plan->settings.start - 1);
    }
    caucus_key_wipe(&key);
    return status;
}

/* Client i sees rows first .. first+count-1, or has seen them (`again`). Their sums go to `sums`, unless NULL. */
static void play_rows(trial *t, uint32_t i, uint64_t first, uint64_t count, bool again, int64_t *sums) {
    for (uint64_t done = 0; done < count;) {
        const uint64_t step = count - done < t->ahead ? count - done : t->ahead;
        caucus_adversary_fill(t->losses, i + 1, first + done, step, t->rows);
        if (!again && caucus_client_observe_f32(t->client[i], t->rows, step) != CAUCUS_OK)
            abort(); /* at its own pace it takes any number */
        if (sums)
            caucus_grid_add_rows_f32(&t->grid, sums, NULL, t->rows, t->d, step, &t->clips);
        done += step;
    }
}

static void announce(trial *t, uint64_t slot) {
    const caucus_announcement *a = caucus_coordinator_announcement(t->coordinator);
    t->result->scalars_down += caucus_announcement_scalars(a) * t->m;
    t->result->bytes_down += caucus_announcement_bytes(a) * t->m;
    for (uint32_t i = 0; i < t->m; i++) {
        uint64_t cost = 0, next = 0;
        bool answered = false;
        caucus_coordinator_counted(t->coordinator, i + 1, &cost, &next, &answered);
        if (caucus_client_hear(t->client[i], a) != CAUCUS_OK ||
            caucus_client_acknowledge(t->client[i], next) != CAUCUS_OK)
            abort(); /* simulated messages arrive */
    }
    t->result->switches += slot > 0 && a->expert != t->expert;
    if (slot == 0 || a->expert != t->expert) {
        t->result->since = slot;
        caucus_choices_add(&t->result->choices, slot, t->slots, a->expert);
    }
    t->expert = a->expert;
    t->result->digest = (t->result->digest ^ (a->expert + 1)) * 0x100000001b3u; /* FNV-1a: order matters */
    if (t->watch)
        t->watch(t->user, slot, a);
}

/* All items of the slots that are over, and the decision. */
static void decide(trial *t, uint64_t slot) {
    for (uint32_t i = 0; i < t->m; i++) {
        const caucus_report *report = caucus_client_report(t->client[i]);
        if (!report || caucus_coordinator_count(t->coordinator, t->partial, report) != CAUCUS_OK)
            abort(); /* every one of them has an item, once */
        t->result->scalars_up += report->count;
        t->result->bytes_up += caucus_report_bytes(report);
    }
    caucus_coordinator_merge(t->coordinator, t->partial);
    if (caucus_coordinator_decide(t->coordinator) != CAUCUS_OK)
        abort();
    announce(t, slot);
}

static double regret_over(const trial *t, int64_t best) {
    const caucus_settings *s = &t->plan->settings;
    int64_t cost = 0;
    for (uint32_t i = 0; i < t->m; i++)
        cost += caucus_client_cost(t->client[i]);
    return (double)(cost - best) * (s->hi - s->lo) / (double)t->plan->grid / (double)t->m;
}

static void end_segment(trial *t) {
    int64_t best = INT64_MAX;
    for (uint32_t y = 0; y < t->d; y++) {
        const int64_t here = t->totals[y] - t->segment_totals[y];
        best = here < best ? here : best;
    }
    t->best_of_segments += best;
    memcpy(t->segment_totals, t->totals, t->d * sizeof *t->totals);
    caucus_slot_regret_segment(t->devices);
    t->segment++;
}

/* The slot is over for a client. */
static void end_slot(trial *t, uint32_t i, caucus_activity seen, uint32_t before) {
    caucus_slot_regret_device(t->devices, &(caucus_slot_seen){.device = i,
                                                              .early = seen.early,
                                                              .late = seen.late,
                                                              .early_sums = t->early,
                                                              .late_sums = t->late,
                                                              .before = before,
                                                              .now = t->expert});
    for (uint32_t y = 0; y < t->d; y++)
        t->totals[y] += t->early[y] + t->late[y];
    memset(t->early, 0, t->d * sizeof *t->early);
    memset(t->late, 0, t->d * sizeof *t->late);
    t->result->losses += seen.early + seen.late;
}

static void play_slot(trial *t, uint64_t slot) {
    const uint64_t first = slot * CAUCUS_SLOT_ROWS;
    const uint32_t before = t->expert;
    for (uint32_t i = 0; i < t->m; i++) {
        if (caucus_client_slot(t->client[i], t->plan->settings.start + slot) != CAUCUS_OK)
            abort();
        play_rows(t, i, first, caucus_activity_of(t->plan, t->losses, i + 1, slot).early, false, NULL);
    }
    if (caucus_pace_decisions(&t->plan->settings, slot) > t->decisions) {
        decide(t, slot);
        t->decisions++;
        caucus_slot_regret_decided(t->devices);
    }
    for (uint32_t i = 0; i < t->m; i++) {
        const caucus_activity seen = caucus_activity_of(t->plan, t->losses, i + 1, slot);
        play_rows(t, i, first, seen.early, true, t->early);
        play_rows(t, i, first + seen.early, seen.late, false, t->late);
        end_slot(t, i, seen, before);
    }
    caucus_slot_regret_slot(t->devices);
}

static caucus_status play(trial *t, const volatile int *stop) {
    caucus_trial_result *r = t->result;
    uint32_t point = 0;
    r->digest = 0xcbf29ce484222325u;
    announce(t, 0);
    for (uint64_t slot = 0; slot < t->slots; slot++) {
        if (stop && __atomic_load_n(stop, __ATOMIC_RELAXED))
            return CAUCUS_E_STOPPED;
        play_slot(t, slot);
        for (; point < CAUCUS_CURVE_POINTS && caucus_curve_round(t->slots, point) == slot + 1; point++)
            r->curve[point] = regret_over(t, caucus_vector_min_i64(t->totals, t->d));
        if ((slot + 1) * CAUCUS_SLOT_ROWS == caucus_adversary_segment_start(t->adversary, t->segment + 1))
            end_segment(t);
    }
    const int64_t least = caucus_vector_min_i64(t->totals, t->d);
    r->regret = regret_over(t, least);
    r->regret_segments = regret_over(t, t->best_of_segments);
    caucus_slot_regret_end(t->devices, r);
    r->last = t->expert;
    r->loss = (double)r->losses * t->plan->settings.lo / (double)t->m + regret_over(t, 0);
    while (t->totals[r->best] != least)
        r->best++;
    r->selections = caucus_coordinator_selections(t->coordinator);
    (void)caucus_look_all(t->coordinator, &r->look, 1); /* 0 of them: stays zeros */
    r->clipped = t->clips.low + t->clips.high + t->clips.nan;
    r->nan = t->clips.nan;
    return CAUCUS_OK;
}

caucus_status caucus_slot_trial_play(const caucus_plan *plan, const caucus_adversary *adversary, uint64_t seed,
                                     uint32_t number, const volatile int *stop, caucus_trial_watch watch, void *user,
                                     caucus_trial_result *ret) {
    const caucus_settings *s = &plan->settings;
    uint64_t rows = 0;
    caucus_adversary_shape(adversary, NULL, NULL, &rows);
    if ((caucus_u128)s->clients * rows * (uint64_t)plan->grid >> 62 != 0)
        return CAUCUS_E_OVERFLOW; /* machines add up an item at a time, but a regret needs the whole run */
    memset(ret, 0, sizeof *ret);
    trial t = {.plan = plan,
               .adversary = adversary,
               .m = s->clients,
               .d = s->experts,
               .slots = rows / CAUCUS_SLOT_ROWS,
               .grid = {.lo = s->lo, .hi = s->hi, .steps = plan->grid},
               .result = ret,
               .watch = watch,
               .user = user};
    caucus_status status = open_trial(&t, seed, number);
    if (status == CAUCUS_OK)
        status = play(&t, stop);
    close_trial(&t);
    return status;
}
