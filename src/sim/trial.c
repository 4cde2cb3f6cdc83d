/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c: plays one trial. See trial.h. */
#include "sim/trial.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algo/borrowed_rows.h"
#include "algo/look/look.h"
#include "algo/relayed/partial.h"
#include "num/grid.h"
#include "num/int128.h"
#include "num/vector.h"
#include "plan/stoch/evaluate.h"
#include "sim/convex_trial.h"
#include "sim/slot/slot_trial.h"

/* Losses made at once: small enough to stay in the second-level cache, long enough to make them at full speed. */
#define BUFFER_FLOATS ((size_t)1 << 15)

typedef struct trial {
    const caucus_plan *plan;
    const caucus_adversary *adversary;
    const caucus_adversary_trial *losses;
    caucus_adversary_trial *follows; /* the same where they follow what is announced, else NULL */
    bool wide;                       /* losses are doubles at their source */
    uint32_t m, d;                   /* m: clients that are played here, all of them unless they are dealt over ranks */
    uint32_t before;                 /* clients that earlier ranks play */
    uint64_t rounds;
    caucus_coordinator *coordinator;
    caucus_partial *partial;         /* reports of the step in hand */
    caucus_client **client;          /* [m]: number before + 1 is the first */
    caucus_convex *convex;           /* convex losses only */
    float *rows;                     /* [m or 1][ahead][d] */
    double *rows64;                  /* the same for wide losses */
    bool all;                        /* the buffer holds every client's next rows, else one client's at a time */
    uint64_t ahead;                  /* rounds that fit */
    uint64_t made_first, made_count; /* rounds in the buffer (all clients) */
    int64_t *totals;                 /* [d]: every loss of every client, grid units */
    int64_t *segment_totals;         /* [d]: what they were when the segment began, over all ranks */
    uint64_t segment;                /* the segment in hand, from 0 */
    int64_t best_of_segments;        /* summed over the segments that have ended */
    /* The clients add to it what they add to their own sums (svt, hedge): nobody adds a loss up twice. */
    bool clients_add_totals;
    caucus_grid grid;
    caucus_clips clips; /* of the losses added up here; the clients know those of theirs */
    caucus_trial_result *result;
    caucus_trial_watch watch;
    void *user;
    const volatile int *stop;
    const caucus_ranks *ranks; /* that play the other clients; NULL: nobody does */
    int64_t *added;            /* [2 + ADDED_FIXED + 2 d]: numbers on their way through the ranks */
} trial;

/* What goes through the ranks beside the numbers themselves: has a rank been told to stop, has its data changed? */
#define ADDED_FIXED 2

/* ceil(rounds * (k + 1) / points), whole points apart from the rest so that nothing can overflow. */
uint64_t caucus_curve_round(uint64_t rounds, uint32_t k) {
    uint64_t whole = rounds / CAUCUS_CURVE_POINTS, rest = rounds % CAUCUS_CURVE_POINTS;
    return whole * (k + 1) + (rest * (k + 1) + CAUCUS_CURVE_POINTS - 1) / CAUCUS_CURVE_POINTS;
}

static void close_trial(trial *t) {
    caucus_clients_free(t->client, t->m);
    caucus_partial_free(t->partial);
    caucus_coordinator_free(t->coordinator);
    caucus_convex_free(t->convex);
    free(t->rows);
    free(t->rows64);
    free(t->totals);
    free(t->segment_totals);
    free(t->added);
}

/* Add up t->added[ADDED_FIXED ..] over the ranks. What one rank alone has noticed becomes everybody's here.
 * Returns: CAUCUS_OK, CAUCUS_E_STOPPED, CAUCUS_E_CHANGED: the same in every rank. */
static caucus_status add_over_ranks(trial *t, size_t count) {
    t->added[0] = t->stop && __atomic_load_n(t->stop, __ATOMIC_RELAXED);
    t->added[1] = caucus_adversary_whole(t->adversary, NULL) != CAUCUS_OK;
    caucus_status status = t->ranks->sum(t->added, ADDED_FIXED + count);
    if (status != CAUCUS_OK)
        return CAUCUS_E_STOPPED;
    return t->added[1] > 0 ? CAUCUS_E_CHANGED : t->added[0] > 0 ? CAUCUS_E_STOPPED : CAUCUS_OK;
}

/* Replace the numbers of the step by their sums over all ranks. */
static caucus_status add_partial_over_ranks(trial *t) {
    if (!t->ranks)
        return CAUCUS_OK;
    caucus_partial_copy_out(t->partial, t->added + ADDED_FIXED);
    caucus_status status = add_over_ranks(t, caucus_partial_numbers(t->partial));
    if (status == CAUCUS_OK)
        caucus_partial_replace(t->partial, t->added + ADDED_FIXED);
    return status;
}

static caucus_status open_clients(trial *t, const caucus_key *run) {
    caucus_key key;
    caucus_key_derive(run, 0, &key);
    caucus_status status = caucus_coordinator_new(t->plan, &key, &t->coordinator);
    if (status == CAUCUS_OK)
        status = caucus_partial_new(t->coordinator, &t->partial);
    t->client = calloc(t->m, sizeof *t->client);
    if (status == CAUCUS_OK && !t->client)
        status = CAUCUS_E_MEMORY;
    for (uint32_t i = 0; status == CAUCUS_OK && i < t->m; i++) {
        uint32_t index = t->before + i + 1;
        caucus_key_derive(run, index, &key);
        status = caucus_client_new_shared(t->plan, index, &key, t->client[0], &t->client[i]);
        if (status == CAUCUS_OK && t->convex)
            caucus_convex_attach(t->convex, t->client[i], index);
        else if (status == CAUCUS_OK && !t->wide)
            t->clients_add_totals = caucus_client_add_total(t->client[i], t->totals);
    }
    caucus_key_wipe(&key);
    return status;
}

static caucus_status open_trial(trial *t, uint64_t seed, uint32_t number) {
    caucus_key seeded, run;
    caucus_key_from_seed(seed, &seeded);
    caucus_key_derive(&seeded, number, &run);
    t->totals = calloc(t->d, sizeof *t->totals);
    t->segment_totals = calloc(t->d, sizeof *t->segment_totals);
    size_t row_all = (size_t)t->m * t->d;
    /* Clients that evaluate some experts are told which, many rounds at a time: client by client, then. Losses that
     * follow what is announced are made for all of them, block by block. */
    t->all = row_all <= BUFFER_FLOATS && (t->follows || !caucus_evaluates_some(&t->plan->settings));
    size_t ahead = BUFFER_FLOATS / (t->all ? row_all : t->d);
    t->ahead = ahead == 0 ? 1 : ahead > t->rounds ? t->rounds : ahead;
    size_t cells = (t->all ? row_all : t->d) * (size_t)t->ahead;
    if (t->plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX)
        t->convex = caucus_convex_new(t->losses, t->m, t->d);
    else if (t->wide)
        t->rows64 = malloc(cells * sizeof *t->rows64);
    else
        t->rows = malloc(cells * sizeof *t->rows);
    if (t->ranks)
        t->added = calloc(2 + ADDED_FIXED + 2 * (size_t)t->d, sizeof *t->added);
    if (!t->totals || !t->segment_totals || !(t->rows || t->rows64 || t->convex) || (t->ranks && !t->added))
        return CAUCUS_E_MEMORY;
    return open_clients(t, &run);
}

/* Add `count` rows at `offset` of the buffer to the totals. */
static void add_rows_to_totals(trial *t, size_t offset, uint64_t count) {
    if (t->wide)
        caucus_grid_add_rows_f64(&t->grid, t->totals, t->rows64 + offset, t->d, count, &t->clips);
    else
        caucus_grid_add_rows_f32(&t->grid, t->totals, NULL, t->rows + offset, t->d, count, &t->clips);
}

/* Make rows first .. first+count-1 of client before + i + 1 at `offset` of the buffer. */
static void make_rows(trial *t, uint32_t i, uint64_t first, uint64_t count, size_t offset) {
    if (t->wide)
        caucus_adversary_fill64(t->losses, t->before + i + 1, first, count, t->rows64 + offset);
    else
        caucus_adversary_fill(t->losses, t->before + i + 1, first, count, t->rows + offset);
}

/* Client i observes rows at `offset` of the buffer. The client borrows them until caucus_client_return_rows(). */
static void observe(trial *t, uint32_t i, size_t offset, uint64_t rounds) {
    caucus_status status = t->wide ? caucus_client_observe_whole(t->client[i], t->rows64 + offset, rounds)
                                   : caucus_client_borrow_f32(t->client[i], t->rows + offset, rounds);
    if (status != CAUCUS_OK)
        abort(); /* all clients move in step */
    if (!t->clients_add_totals)
        add_rows_to_totals(t, offset, rounds);
}

/* Every client observes `count` rounds from `first`; the count never passes a report, a point of the curve or the
 * segment's or the buffer's end. */
static void play_rounds(trial *t, uint64_t first, uint64_t count) {
    if (!t->all) {
        for (uint32_t i = 0; i < t->m; i++)
            for (uint64_t done = 0; done < count;) {
                uint64_t step = count - done < t->ahead ? count - done : t->ahead;
                make_rows(t, i, first + done, step, 0);
                observe(t, i, 0, step);
                caucus_client_return_rows(t->client[i]);
                done += step;
            }
        return;
    }
    for (uint32_t i = 0; i < t->m; i++)
        observe(t, i, ((size_t)i * t->made_count + (first - t->made_first)) * t->d, count);
}

static void return_all_rows(trial *t) {
    for (uint32_t i = 0; t->all && i < t->m; i++)
        caucus_client_return_rows(t->client[i]);
}

/* Rounds from `round` to the end of its block. */
static uint64_t left_of_block(const trial *t, uint64_t round) {
    return t->plan->settings.interval - round % t->plan->settings.interval;
}

/* Make the next rounds of all clients; of losses that follow what was announced no more than the block in hand. */
static void make_ahead(trial *t, uint64_t first) {
    return_all_rows(t);
    t->made_first = first;
    t->made_count = t->rounds - first < t->ahead ? t->rounds - first : t->ahead;
    if (t->follows && t->made_count > left_of_block(t, first))
        t->made_count = left_of_block(t, first);
    for (uint32_t i = 0; i < t->m; i++)
        make_rows(t, i, first, t->made_count, (size_t)i * t->made_count * t->d);
}

/* What was played so far has cost all clients, and what each expert would have: over all ranks.
 * Out:     *ret_totals [d], until the ranks next add up.
 * Returns: CAUCUS_OK; over ranks also CAUCUS_E_STOPPED, CAUCUS_E_CHANGED. */
static caucus_status costs_so_far(trial *t, int64_t *ret_cost, const int64_t **ret_totals) {
    int64_t cost = 0;
    return_all_rows(t);
    for (uint32_t i = 0; i < t->m; i++)
        cost += caucus_client_cost(t->client[i]);
    *ret_cost = cost;
    *ret_totals = t->totals;
    if (!t->ranks)
        return CAUCUS_OK;
    t->added[ADDED_FIXED] = cost;
    memcpy(t->added + ADDED_FIXED + 1, t->totals, t->d * sizeof *t->totals);
    caucus_status status = add_over_ranks(t, 1 + (size_t)t->d);
    *ret_cost = t->added[ADDED_FIXED];
    *ret_totals = t->added + ADDED_FIXED + 1;
    return status;
}

/* Per client, of what was played so far over what `best` would have cost all clients. */
static double regret_over(const trial *t, int64_t cost, int64_t best) {
    double unit = (t->plan->settings.hi - t->plan->settings.lo) / (double)t->plan->grid;
    return (double)(cost - best) * unit / (double)t->plan->settings.clients;
}

/* The first of the best. */
static uint32_t best_expert(const int64_t *totals, uint32_t d) {
    uint32_t best = 0;
    for (uint32_t y = 1; y < d; y++)
        best = totals[y] < totals[best] ? y : best;
    return best;
}

/* Out:     *ret_segments, unless NULL: against the best expert of each segment; the result's `best` with it.
 * Returns: as costs_so_far(). */
static caucus_status regret_so_far(trial *t, double *ret, double *ret_segments) {
    int64_t cost = 0;
    const int64_t *totals = NULL;
    if (t->convex) {
        *ret = caucus_convex_regret(t->convex);
        if (ret_segments)
            *ret_segments = *ret;
        t->result->loss = caucus_convex_cost(t->convex);
        t->result->best = UINT32_MAX;
        return CAUCUS_OK;
    }
    caucus_status status = costs_so_far(t, &cost, &totals);
    *ret = regret_over(t, cost, caucus_vector_min_i64(totals, t->d));
    if (ret_segments) {
        *ret_segments = regret_over(t, cost, t->best_of_segments);
        t->result->best = best_expert(totals, t->d);
        t->result->loss = (double)t->rounds * t->plan->settings.lo + regret_over(t, cost, 0);
    }
    return status;
}

/* Take the best expert of the segment that has just ended into the sum, and begin the next.
 * Returns: as costs_so_far(). */
static caucus_status end_segment(trial *t) {
    int64_t best = INT64_MAX, cost = 0;
    const int64_t *totals = NULL;
    if (t->convex)
        return CAUCUS_OK;
    caucus_status status = costs_so_far(t, &cost, &totals);
    for (uint32_t y = 0; y < t->d; y++) {
        const int64_t here = totals[y] - t->segment_totals[y];
        best = here < best ? here : best;
    }
    t->best_of_segments += best;
    memcpy(t->segment_totals, totals, t->d * sizeof *totals);
    t->segment++;
    return status;
}

/* Count what the clients have moved so far: once, when they stop adding up. */
static void take_clips(trial *t) {
    return_all_rows(t);
    for (uint32_t i = 0; i < t->m; i++) {
        uint64_t low, high, nan;
        caucus_client_clips(t->client[i], &low, &high, &nan);
        t->clips.low += low;
        t->clips.high += high;
        t->clips.nan += nan;
    }
}

static void announce(trial *t, uint64_t round) {
    caucus_trial_result *r = t->result;
    const caucus_announcement *a = caucus_coordinator_announcement(t->coordinator);
    r->scalars_down += caucus_announcement_scalars(a) * t->plan->settings.clients;
    r->bytes_down += caucus_announcement_bytes(a) * t->plan->settings.clients;
    for (uint32_t i = 0; i < t->m; i++)
        if (caucus_client_hear(t->client[i], a) != CAUCUS_OK)
            abort(); /* simulated messages arrive in order */
    if (t->clients_add_totals &&
        a->ask == CAUCUS_ASK_NOTHING) { /* the clients stop adding up: from now on it is done here */
        t->clients_add_totals = false;
        take_clips(t);
    }
    if (t->watch)
        t->watch(t->user, round, a);
}

/* Is this announcement the decision that ends a block or phase, rather than a request in the middle of one? */
static bool decides(const trial *t) {
    const caucus_announcement *a = caucus_coordinator_announcement(t->coordinator);
    return caucus_client_rounds_left(t->client[0]) > 0 || a->ask == CAUCUS_ASK_NOTHING;
}

/* From now on `expert` is in force. Of a mixture nothing is noted: it has no one expert. */
static void note_choice(trial *t, uint64_t round, uint32_t expert) {
    if (round >= t->rounds) /* never played */
        return;
    t->result->since = round;
    if (!t->convex)
        caucus_choices_add(&t->result->choices, round, t->rounds, expert);
}

/* All reports that are due, and the coordinator's answers, until rounds can be played again.
 * Returns: CAUCUS_OK; over ranks also CAUCUS_E_STOPPED, CAUCUS_E_CHANGED. */
static caucus_status talk(trial *t, uint64_t round, uint32_t *expert) {
    while (caucus_client_report(t->client[0])) {
        for (uint32_t i = 0; i < t->m; i++) {
            const caucus_report *report = caucus_client_report(t->client[i]);
            if (!report || caucus_coordinator_count(t->coordinator, t->partial, report) != CAUCUS_OK)
                abort(); /* simulated clients all report, once each */
            t->result->scalars_up += report->count;
            t->result->bytes_up += caucus_report_bytes(report);
        }
        caucus_status status = add_partial_over_ranks(t);
        if (status != CAUCUS_OK)
            return status;
        caucus_coordinator_merge(t->coordinator, t->partial);
        if (caucus_coordinator_decide(t->coordinator) != CAUCUS_OK)
            abort();
        announce(t, round);
        if (decides(t)) {
            uint32_t now = caucus_coordinator_announcement(t->coordinator)->expert;
            t->result->switches += now != *expert;
            if (now != *expert)
                note_choice(t, round, now);
            *expert = now;
            t->result->digest = (t->result->digest ^ (now + 1)) * 0x100000001b3u; /* FNV-1a: order matters */
        }
    }
    return CAUCUS_OK;
}

static caucus_status play(trial *t) {
    announce(t, 0);
    uint32_t expert = caucus_coordinator_announcement(t->coordinator)->expert;
    t->result->digest = (0xcbf29ce484222325u ^ (expert + 1)) * 0x100000001b3u;
    note_choice(t, 0, expert);
    uint64_t round = 0;
    uint32_t before = UINT32_MAX; /* of losses that follow what was announced: the expert of the block before */
    uint32_t point = 0;
    while (round < t->rounds) {
        /* Set by a signal or another thread. Over ranks all stop where they next add up. */
        if (!t->ranks && t->stop && __atomic_load_n(t->stop, __ATOMIC_RELAXED))
            return CAUCUS_E_STOPPED;
        uint64_t until = caucus_curve_round(t->rounds, point);
        while (point + 1 < CAUCUS_CURVE_POINTS && until == round) /* more points than rounds */
            until = caucus_curve_round(t->rounds, ++point);
        const uint64_t segment_end = caucus_adversary_segment_start(t->adversary, t->segment + 1);
        uint64_t count = caucus_client_rounds_left(t->client[0]);
        if (count > until - round)
            count = until - round;
        if (count > segment_end - round)
            count = segment_end - round;
        if (t->follows && count > left_of_block(t, round))
            count = left_of_block(t, round);
        if (t->follows && round % t->plan->settings.interval == 0) {
            caucus_adversary_tell(t->follows, before);
            before = expert;
        }
        if (t->convex) {
            caucus_convex_play(t->convex, t->client, round, count);
        } else {
            if (t->all && round >= t->made_first + t->made_count)
                make_ahead(t, round);
            if (t->all && count > t->made_first + t->made_count - round)
                count = t->made_first + t->made_count - round;
            play_rounds(t, round, count);
        }
        round += count;
        if (round == until) {
            double regret = 0;
            if (!t->ranks && caucus_adversary_whole(t->adversary, NULL) != CAUCUS_OK)
                return CAUCUS_E_CHANGED;
            caucus_status status = regret_so_far(t, &regret, NULL);
            if (status != CAUCUS_OK)
                return status;
            for (; point < CAUCUS_CURVE_POINTS && caucus_curve_round(t->rounds, point) == round; point++)
                t->result->curve[point] = regret;
        }
        caucus_status status = round == segment_end ? end_segment(t) : CAUCUS_OK;
        if (status == CAUCUS_OK)
            status = talk(t, round, &expert);
        if (status != CAUCUS_OK)
            return status;
    }
    t->result->last = expert;
    return regret_so_far(t, &t->result->regret, &t->result->regret_segments);
}

/* What the clients of this rank have sent and moved, as sums over all ranks. */
static caucus_status add_counts_over_ranks(trial *t) {
    caucus_trial_result *r = t->result;
    uint64_t *const count[] = {&r->scalars_up, &r->bytes_up, &t->clips.low, &t->clips.high, &t->clips.nan};
    const size_t counts = sizeof count / sizeof count[0];
    if (!t->ranks)
        return CAUCUS_OK;
    int64_t added[sizeof count / sizeof count[0]];
    for (size_t i = 0; i < counts; i++)
        added[i] = (int64_t)*count[i];
    if (t->ranks->sum(added, counts) != CAUCUS_OK)
        return CAUCUS_E_STOPPED;
    for (size_t i = 0; i < counts; i++)
        *count[i] = (uint64_t)added[i];
    return CAUCUS_OK;
}

static caucus_status play_whole(trial *t, uint64_t seed, uint32_t number) {
    caucus_trial_result *ret = t->result;
    caucus_status status = open_trial(t, seed, number);
    if (caucus_ranks_any(t->ranks, status != CAUCUS_OK) && status == CAUCUS_OK)
        status = CAUCUS_E_MEMORY; /* another rank's */
    if (status == CAUCUS_OK)
        status = play(t);
    if (status != CAUCUS_OK)
        return status;
    ret->selections = caucus_coordinator_selections(t->coordinator);
    (void)caucus_look_all(t->coordinator, &ret->look, 1); /* 0 of them: stays zeros */
    if (t->clients_add_totals || t->convex)
        take_clips(t);
    status = add_counts_over_ranks(t);
    ret->clipped = t->clips.low + t->clips.high + t->clips.nan;
    ret->nan = t->clips.nan;
    return status;
}

static caucus_status play_part(trial *t, uint64_t seed, uint32_t number) {
    const caucus_plan *plan = t->plan;
    caucus_adversary_trial *losses = NULL;
    t->rounds = plan->settings.rounds;
    if (caucus_plan_is_endless(plan))
        caucus_adversary_shape(t->adversary, NULL, NULL, &t->rounds);
    if ((caucus_u128)plan->settings.clients * t->rounds * (uint64_t)plan->grid >> 62 != 0)
        return CAUCUS_E_OVERFLOW; /* machines add up a phase at a time, but a regret needs the whole run */
    caucus_status status = caucus_adversary_trial_new(t->adversary, number, &losses);
    if (caucus_ranks_any(t->ranks, status != CAUCUS_OK)) {
        caucus_adversary_trial_free(losses);
        return status == CAUCUS_OK ? CAUCUS_E_MEMORY : status;
    }
    memset(t->result, 0, sizeof *t->result);
    t->result->losses = t->rounds * plan->settings.clients;
    t->losses = losses;
    t->follows = caucus_adversary_follows(t->adversary) ? losses : NULL;
    t->wide = caucus_adversary_is_wide(t->adversary);
    t->d = plan->settings.experts;
    t->grid = (caucus_grid){.lo = plan->settings.lo, .hi = plan->settings.hi, .steps = plan->grid};
    status = play_whole(t, seed, number);
    close_trial(t);
    caucus_adversary_trial_free(losses);
    return status;
}

caucus_status caucus_trial_play(const caucus_plan *plan, const caucus_adversary *adversary, uint64_t seed,
                                uint32_t number, const volatile int *stop, caucus_trial_watch watch, void *user,
                                caucus_trial_result *ret) {
    if (plan->settings.pace == CAUCUS_PACE_OWN)
        return caucus_slot_trial_play(plan, adversary, seed, number, stop, watch, user, ret);
    trial t = {.plan = plan,
               .adversary = adversary,
               .m = plan->settings.clients,
               .result = ret,
               .watch = watch,
               .user = user,
               .stop = stop};
    return play_part(&t, seed, number);
}

caucus_status caucus_trial_play_split(const caucus_plan *plan, const caucus_adversary *adversary, uint64_t seed,
                                      uint32_t number, const caucus_ranks *ranks, const volatile int *stop,
                                      caucus_trial_result *ret) {
    /* Neighbours stay together; the first m % size ranks have one client more. */
    uint32_t m = plan->settings.clients, each = m / ranks->size, more = m % ranks->size;
    assert(each > 0 && plan->settings.loss_shape != CAUCUS_LOSS_SHAPE_CONVEX);
    trial t = {.plan = plan,
               .adversary = adversary,
               .m = each + (ranks->rank < more),
               .before = ranks->rank * each + (ranks->rank < more ? ranks->rank : more),
               .result = ret,
               .stop = stop,
               .ranks = ranks};
    return play_part(&t, seed, number);
}
