/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c: plays one trial. See trial.h. */
#include "sim/trial.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algo/borrowed_rows.h"
#include "num/grid.h"
#include "num/int128.h"
#include "num/vector.h"
#include "sim/convex_trial.h"

/* Losses made at once: small enough to stay in the second-level cache, long enough to make them at full speed. */
#define BUFFER_FLOATS ((size_t)1 << 15)

typedef struct trial {
    const caucus_plan *plan;
    const caucus_adversary *adversary;
    const caucus_adversary_trial *losses;
    bool wide; /* losses are doubles at their source */
    uint32_t m, d;
    uint64_t rounds;
    caucus_coordinator *coordinator;
    caucus_partial *partial;         /* reports of the step in hand */
    caucus_client **client;          /* [m] */
    caucus_convex *convex;           /* convex losses only */
    float *rows;                     /* [m or 1][ahead][d] */
    double *rows64;                  /* the same for wide losses */
    bool all;                        /* the buffer holds every client's next rows, else one client's at a time */
    uint64_t ahead;                  /* rounds that fit */
    uint64_t made_first, made_count; /* rounds in the buffer (all clients) */
    int64_t *totals;                 /* [d]: every loss of every client, grid units */
    int64_t *segment_totals;         /* [d]: what they were when the segment began */
    uint64_t segment;                /* the segment in hand, from 0 */
    int64_t best_of_segments;        /* summed over the segments that have ended */
    /* The clients add to it what they add to their own sums (svt, hedge): nobody adds a loss up twice. */
    bool clients_add_totals;
    caucus_grid grid;
    caucus_clips clips; /* of the losses added up here; the clients know those of theirs */
    caucus_trial_result *result;
    caucus_trial_watch watch;
    void *user;
} trial;

/* ceil(rounds * (k + 1) / points), whole points apart from the rest so that nothing can overflow. */
uint64_t caucus_curve_round(uint64_t rounds, uint32_t k) {
    uint64_t whole = rounds / CAUCUS_CURVE_POINTS, rest = rounds % CAUCUS_CURVE_POINTS;
    return whole * (k + 1) + (rest * (k + 1) + CAUCUS_CURVE_POINTS - 1) / CAUCUS_CURVE_POINTS;
}

static void close_trial(trial *t) {
    for (uint32_t i = t->m; t->client && i > 0; i--) /* they share what the first one keeps: it is freed last */
        caucus_client_free(t->client[i - 1]);
    free(t->client);
    caucus_partial_free(t->partial);
    caucus_coordinator_free(t->coordinator);
    caucus_convex_free(t->convex);
    free(t->rows);
    free(t->rows64);
    free(t->totals);
    free(t->segment_totals);
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
        caucus_key_derive(run, i + 1, &key);
        status = caucus_client_new_shared(t->plan, i + 1, &key, t->client[0], &t->client[i]);
        if (status == CAUCUS_OK && t->convex)
            caucus_convex_attach(t->convex, t->client[i], i + 1);
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
    t->all = row_all <= BUFFER_FLOATS;
    size_t ahead = BUFFER_FLOATS / (t->all ? row_all : t->d);
    t->ahead = ahead == 0 ? 1 : ahead > t->rounds ? t->rounds : ahead;
    size_t cells = (t->all ? row_all : t->d) * (size_t)t->ahead;
    if (t->plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX)
        t->convex = caucus_convex_new(t->losses, t->m, t->d);
    else if (t->wide)
        t->rows64 = malloc(cells * sizeof *t->rows64);
    else
        t->rows = malloc(cells * sizeof *t->rows);
    if (!t->totals || !t->segment_totals || !(t->rows || t->rows64 || t->convex))
        return CAUCUS_E_MEMORY;
    return open_clients(t, &run);
}

/* Add `count` rows at place `at` of the buffer to the totals. */
static void add_rows_to_totals(trial *t, size_t at, uint64_t count) {
    if (t->wide)
        caucus_grid_add_rows_f64(&t->grid, t->totals, t->rows64 + at, t->d, count, &t->clips);
    else
        caucus_grid_add_rows_f32(&t->grid, t->totals, NULL, t->rows + at, t->d, count, &t->clips);
}

/* Make rows first .. first+count-1 of client i at place `at` of the buffer. */
static void make_rows(trial *t, uint32_t i, uint64_t first, uint64_t count, size_t at) {
    if (t->wide)
        caucus_adversary_fill64(t->losses, i + 1, first, count, t->rows64 + at);
    else
        caucus_adversary_fill(t->losses, i + 1, first, count, t->rows + at);
}

/* Client i observes rows at place `at`. The client borrows them until caucus_client_return_rows(). */
static void observe(trial *t, uint32_t i, size_t at, uint64_t rounds) {
    caucus_status status = t->wide ? caucus_client_observe(t->client[i], t->rows64 + at, rounds)
                                   : caucus_client_borrow_f32(t->client[i], t->rows + at, rounds);
    if (status != CAUCUS_OK)
        abort(); /* all clients move in step */
    if (!t->clients_add_totals)
        add_rows_to_totals(t, at, rounds);
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

/* Make the next rounds of all clients. */
static void make_ahead(trial *t, uint64_t first) {
    return_all_rows(t);
    t->made_first = first;
    t->made_count = t->rounds - first < t->ahead ? t->rounds - first : t->ahead;
    for (uint32_t i = 0; i < t->m; i++)
        make_rows(t, i, first, t->made_count, (size_t)i * t->made_count * t->d);
}

/* Per client, of what was played so far over what `best` would have cost all clients. */
static double regret_over(trial *t, int64_t best) {
    return_all_rows(t);
    int64_t cost = 0;
    for (uint32_t i = 0; i < t->m; i++)
        cost += caucus_client_cost(t->client[i]);
    double unit = (t->plan->settings.hi - t->plan->settings.lo) / (double)t->plan->grid;
    return (double)(cost - best) * unit / (double)t->m;
}

static double regret_so_far(trial *t) {
    if (t->convex)
        return caucus_convex_regret(t->convex);
    return_all_rows(t);
    return regret_over(t, caucus_vector_min_i64(t->totals, t->d));
}

/* Take the best expert of the segment that has just ended into the sum, and begin the next. */
static void end_segment(trial *t) {
    return_all_rows(t);
    int64_t best = INT64_MAX;
    for (uint32_t y = 0; y < t->d; y++) {
        const int64_t here = t->totals[y] - t->segment_totals[y];
        best = here < best ? here : best;
    }
    t->best_of_segments += best;
    memcpy(t->segment_totals, t->totals, t->d * sizeof *t->totals);
    t->segment++;
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
    r->scalars_down += caucus_announcement_scalars(a) * t->m;
    r->bytes_down += caucus_announcement_bytes(a) * t->m;
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

/* All reports that are due, and the coordinator's answers, until rounds can be played again. */
static void talk(trial *t, uint64_t round, uint32_t *expert) {
    while (caucus_client_report(t->client[0])) {
        for (uint32_t i = 0; i < t->m; i++) {
            const caucus_report *report = caucus_client_report(t->client[i]);
            if (!report || caucus_coordinator_count(t->coordinator, t->partial, report) != CAUCUS_OK)
                abort(); /* simulated clients all report, once each */
            t->result->scalars_up += report->count;
            t->result->bytes_up += caucus_report_bytes(report);
        }
        caucus_coordinator_merge(t->coordinator, t->partial);
        if (caucus_coordinator_decide(t->coordinator) != CAUCUS_OK)
            abort();
        announce(t, round);
        if (decides(t)) {
            uint32_t now = caucus_coordinator_announcement(t->coordinator)->expert;
            t->result->switches += now != *expert;
            *expert = now;
            t->result->digest = (t->result->digest ^ (now + 1)) * 0x100000001b3u; /* FNV-1a: order matters */
        }
    }
}

static caucus_status play(trial *t, const volatile int *stop) {
    announce(t, 0);
    uint32_t expert = caucus_coordinator_announcement(t->coordinator)->expert;
    t->result->digest = (0xcbf29ce484222325u ^ (expert + 1)) * 0x100000001b3u;
    uint64_t round = 0;
    uint32_t point = 0;
    while (round < t->rounds) {
        if (stop && __atomic_load_n(stop, __ATOMIC_RELAXED)) /* set by a signal or another thread */
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
            if (caucus_adversary_whole(t->adversary, NULL) != CAUCUS_OK)
                return CAUCUS_E_CHANGED;
            double regret = regret_so_far(t);
            for (; point < CAUCUS_CURVE_POINTS && caucus_curve_round(t->rounds, point) == round; point++)
                t->result->curve[point] = regret;
        }
        if (round == segment_end && !t->convex)
            end_segment(t);
        talk(t, round, &expert);
    }
    t->result->regret = regret_so_far(t);
    t->result->regret_segments = t->convex ? t->result->regret : regret_over(t, t->best_of_segments);
    return CAUCUS_OK;
}

caucus_status caucus_trial_play(const caucus_plan *plan, const caucus_adversary *adversary, uint64_t seed,
                                uint32_t number, const volatile int *stop, caucus_trial_watch watch, void *user,
                                caucus_trial_result *ret) {
    caucus_adversary_trial *losses = NULL;
    const caucus_settings *s = &plan->settings;
    if ((caucus_u128)s->clients * s->rounds * (uint64_t)plan->grid >> 62 != 0)
        return CAUCUS_E_OVERFLOW; /* machines add up a phase at a time, but a regret needs the whole run */
    caucus_status status = caucus_adversary_trial_new(adversary, number, &losses);
    if (status != CAUCUS_OK)
        return status;
    memset(ret, 0, sizeof *ret);
    trial t = {.plan = plan,
               .adversary = adversary,
               .losses = losses,
               .wide = caucus_adversary_is_wide(adversary),
               .m = plan->settings.clients,
               .d = plan->settings.experts,
               .rounds = plan->settings.rounds,
               .grid = {.lo = plan->settings.lo, .hi = plan->settings.hi, .steps = plan->grid},
               .result = ret,
               .watch = watch,
               .user = user};
    status = open_trial(&t, seed, number);
    if (status == CAUCUS_OK)
        status = play(&t, stop);
    if (status == CAUCUS_OK) {
        ret->selections = caucus_coordinator_selections(t.coordinator);
        if (t.clients_add_totals || t.convex)
            take_clips(&t);
        ret->clipped = t.clips.low + t.clips.high + t.clips.nan;
        ret->nan = t.clips.nan;
    }
    close_trial(&t);
    caucus_adversary_trial_free(losses);
    return status;
}
