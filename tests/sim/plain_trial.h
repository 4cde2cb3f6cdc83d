/* SPDX-License-Identifier: Apache-2.0 */
/* plain_trial.h: a trial played the slow and obvious way, to compare the real driver (src/sim/trial.c) with.
 *
 * One row of losses at a time, every loss rounded by the scalar function that defines the grid and added to plain sums;
 * what was played is charged from those same integers, not from what a client says it cost. No buffer, no borrowed
 * sums, no rounds taken together. Only the machines of src/algo are shared with the real driver. */
#ifndef CAUCUS_TESTS_PLAIN_TRIAL_H
#define CAUCUS_TESTS_PLAIN_TRIAL_H

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "num/grid.h"
#include "sim/run.h"

typedef struct plain_trial {
    const caucus_plan *plan;
    const caucus_adversary_trial *losses;
    bool wide;
    uint32_t m, d;
    caucus_coordinator *coordinator;
    caucus_client **client;
    double *row;      /* [d] */
    int64_t *totals;  /* [d] */
    int64_t *segment; /* [d]: of the segment in hand */
    int64_t best;     /* of the segments that have ended, summed */
    int64_t cost;
    caucus_clips clips; /* of every loss there was */
    caucus_trial_result result;
} plain_trial;

static inline void plain_keys(uint64_t seed, uint32_t number, uint64_t entity, caucus_key *ret) {
    caucus_key seeded, run;
    caucus_key_from_seed(seed, &seeded);
    caucus_key_derive(&seeded, number, &run);
    caucus_key_derive(&run, entity, ret);
}

static inline void plain_open(plain_trial *p, uint64_t seed, uint32_t number) {
    caucus_key key;
    plain_keys(seed, number, 0, &key);
    assert_int_equal(caucus_coordinator_new(p->plan, &key, &p->coordinator), CAUCUS_OK);
    p->client = calloc(p->m, sizeof *p->client);
    p->row = calloc(p->d, sizeof *p->row);
    p->totals = calloc(p->d, sizeof *p->totals);
    p->segment = calloc(p->d, sizeof *p->segment);
    assert_true(p->client && p->row && p->totals && p->segment);
    for (uint32_t i = 0; i < p->m; i++) {
        plain_keys(seed, number, i + 1, &key);
        assert_int_equal(caucus_client_new(p->plan, i + 1, &key, &p->client[i]), CAUCUS_OK);
    }
}

static inline void plain_close(plain_trial *p) {
    for (uint32_t i = 0; i < p->m; i++)
        caucus_client_free(p->client[i]);
    caucus_coordinator_free(p->coordinator);
    free(p->client);
    free(p->row);
    free(p->totals);
    free(p->segment);
}

/* One client, one round, counted from 0. */
static inline void plain_observe(plain_trial *p, uint32_t i, uint32_t round) {
    caucus_grid grid = {.lo = p->plan->settings.lo, .hi = p->plan->settings.hi, .steps = p->plan->grid};
    float *narrow = (float *)p->row;
    if (p->wide)
        caucus_adversary_fill64(p->losses, i + 1, round, 1, p->row);
    else
        caucus_adversary_fill(p->losses, i + 1, round, 1, narrow);
    uint32_t expert = caucus_client_expert(p->client[i]);
    assert_true(expert < p->d);
    for (uint32_t y = 0; y < p->d; y++) {
        int64_t loss = caucus_grid_loss(&grid, p->wide ? p->row[y] : (double)narrow[y], &p->clips);
        p->totals[y] += loss;
        p->segment[y] += loss;
        p->cost += y == expert ? loss : 0;
    }
    caucus_status status =
        p->wide ? caucus_client_observe(p->client[i], p->row, 1) : caucus_client_observe_f32(p->client[i], narrow, 1);
    assert_int_equal(status, CAUCUS_OK);
}

static inline void plain_announce(plain_trial *p) {
    const caucus_announcement *a = caucus_coordinator_announcement(p->coordinator);
    for (uint32_t i = 0; i < p->m; i++) {
        assert_int_equal(caucus_client_hear(p->client[i], a), CAUCUS_OK);
        p->result.scalars_down += 1 + a->listed;
        p->result.bytes_down += CAUCUS_ANNOUNCEMENT_HEAD_BYTES + 4 * a->listed;
    }
}

static inline void plain_digest(plain_trial *p, uint32_t expert) {
    p->result.digest = (p->result.digest ^ (expert + 1)) * 0x100000001b3u;
}

/* Everything that is due. A request for a vector after a cost, for a shortlist, or for another leaf is no decision. */
static inline void plain_talk(plain_trial *p, uint32_t *expert) {
    while (caucus_client_report(p->client[0])) {
        for (uint32_t i = p->m; i-- > 0;) { /* backwards: the order of clients changes nothing */
            const caucus_report *report = caucus_client_report(p->client[i]);
            assert_non_null(report);
            assert_int_equal(caucus_coordinator_receive(p->coordinator, report), CAUCUS_OK);
            p->result.scalars_up += report->count;
            p->result.bytes_up += CAUCUS_REPORT_HEAD_BYTES + 8 * report->count;
        }
        caucus_announcement before = *caucus_coordinator_announcement(p->coordinator);
        assert_int_equal(caucus_coordinator_decide(p->coordinator), CAUCUS_OK);
        plain_announce(p);
        const caucus_announcement *now = caucus_coordinator_announcement(p->coordinator);
        bool request = (before.ask == CAUCUS_ASK_COST && now->ask == CAUCUS_ASK_SUMS) ||
                       now->ask == CAUCUS_ASK_SHORTLIST || (now->ask == CAUCUS_ASK_LEAF && now->leaf > 0);
        if (request)
            continue;
        p->result.switches += now->expert != *expert;
        *expert = now->expert;
        plain_digest(p, now->expert);
    }
}

static inline int64_t plain_least(const int64_t *value, uint32_t count) {
    int64_t least = value[0];
    for (uint32_t y = 1; y < count; y++)
        least = value[y] < least ? value[y] : least;
    return least;
}

static inline double plain_regret_over(const plain_trial *p, int64_t best) {
    double unit = (p->plan->settings.hi - p->plan->settings.lo) / (double)p->plan->grid;
    return (double)(p->cost - best) * unit / (double)p->m;
}

static inline double plain_regret(const plain_trial *p) {
    return plain_regret_over(p, plain_least(p->totals, p->d));
}

/* After round `round`, from 1: is it the last of its segment? */
static inline void plain_segment(plain_trial *p, uint64_t round, uint64_t rounds, uint64_t segments) {
    if (round < rounds && round * segments / rounds == (round - 1) * segments / rounds)
        return;
    p->best += plain_least(p->segment, p->d);
    memset(p->segment, 0, p->d * sizeof *p->segment);
}

/* Who was in force when, from a list of all rounds: every change, or those that are far enough apart. */
static inline void plain_choices(const uint32_t *played, uint64_t rounds, caucus_trial_result *ret) {
    uint64_t changes = 1;
    for (uint64_t t = 1; t < rounds; t++)
        changes += played[t] != played[t - 1];
    ret->choices.thinned = changes > CAUCUS_CHOICES;
    const uint64_t apart = ret->choices.thinned ? (rounds + CAUCUS_CHOICES - 2) / (CAUCUS_CHOICES - 1) : 1;
    uint64_t kept = 0;
    for (uint64_t t = 0; t < rounds; t++) {
        if (t > 0 && played[t] == played[t - 1])
            continue;
        ret->since = t;
        if (t > 0 && t - kept < apart)
            continue;
        ret->choices.before[ret->choices.count] = kept = t;
        ret->choices.expert[ret->choices.count++] = played[t];
    }
}

/* Linear losses: the whole trial. */
static inline caucus_trial_result plain_play(const caucus_plan *plan, const caucus_adversary *adversary, uint64_t seed,
                                             uint32_t number) {
    caucus_adversary_trial *losses = NULL;
    assert_int_equal(caucus_adversary_trial_new(adversary, number, &losses), CAUCUS_OK);
    plain_trial p = {.plan = plan,
                     .losses = losses,
                     .wide = caucus_adversary_is_wide(adversary),
                     .m = plan->settings.clients,
                     .d = plan->settings.experts};
    plain_open(&p, seed, number);
    plain_announce(&p);
    uint32_t expert = caucus_coordinator_announcement(p.coordinator)->expert;
    uint64_t rounds = plan->settings.rounds;
    p.result.digest = 0xcbf29ce484222325u;
    plain_digest(&p, expert);
    uint32_t *played = calloc(rounds, sizeof *played);
    assert_non_null(played);
    for (uint32_t round = 1; round <= rounds; round++) {
        played[round - 1] = expert; /* as announced: with trees clients play others in the middle of a phase */
        for (uint32_t i = 0; i < p.m; i++)
            plain_observe(&p, i, round - 1);
        for (uint32_t k = 0; k < CAUCUS_CURVE_POINTS; k++)
            if ((uint64_t)rounds * (k + 1) > (uint64_t)(round - 1) * CAUCUS_CURVE_POINTS &&
                (uint64_t)rounds * (k + 1) <= (uint64_t)round * CAUCUS_CURVE_POINTS)
                p.result.curve[k] = plain_regret(&p);
        plain_segment(&p, round, rounds, caucus_adversary_segments(adversary));
        plain_talk(&p, &expert);
    }
    p.result.regret = plain_regret(&p);
    p.result.regret_segments = plain_regret_over(&p, p.best);
    p.result.last = expert;
    p.result.loss = (double)rounds * plan->settings.lo + plain_regret_over(&p, 0);
    plain_choices(played, rounds, &p.result);
    free(played);
    for (uint32_t y = 0; y < p.d; y++)
        if (p.totals[y] < p.totals[p.result.best])
            p.result.best = y;
    p.result.losses = caucus_client_round(p.client[0]) * p.m;
    p.result.selections = caucus_coordinator_selections(p.coordinator);
    p.result.clipped = p.clips.low + p.clips.high + p.clips.nan;
    p.result.nan = p.clips.nan;
    plain_close(&p);
    caucus_adversary_trial_free(losses);
    return p.result;
}

/* Every field, bit by bit. */
static inline void same_results(const char *what, const caucus_trial_result *a, const caucus_trial_result *b) {
    if (memcmp(a, b, sizeof *a) == 0)
        return;
    print_error("%s (bytes up %llu %llu, down %llu %llu): regret %a %a, of segments %a %a, switches %" PRIu64
                " %" PRIu64 ", selections %" PRIu64 " %" PRIu64 ", "
                "scalars up %llu %llu, down %llu %llu, clipped %llu %llu, "
                "nan %llu %llu, digest %016llx %016llx\n",
                what, (unsigned long long)a->bytes_up, (unsigned long long)b->bytes_up,
                (unsigned long long)a->bytes_down, (unsigned long long)b->bytes_down, a->regret, b->regret,
                a->regret_segments, b->regret_segments, a->switches, b->switches, a->selections, b->selections,
                (unsigned long long)a->scalars_up, (unsigned long long)b->scalars_up,
                (unsigned long long)a->scalars_down, (unsigned long long)b->scalars_down,
                (unsigned long long)a->clipped, (unsigned long long)b->clipped, (unsigned long long)a->nan,
                (unsigned long long)b->nan, (unsigned long long)a->digest, (unsigned long long)b->digest);
    for (uint32_t k = 0; k < CAUCUS_CURVE_POINTS; k++)
        if (memcmp(&a->curve[k], &b->curve[k], sizeof a->curve[k]) != 0)
            print_error("  curve[%u] %a %a\n", k, a->curve[k], b->curve[k]);
    print_error("  loss %a %a, since %" PRIu64 " %" PRIu64 ", choices %u %u, thinned %u %u\n", a->loss, b->loss,
                a->since, b->since, a->choices.count, b->choices.count, a->choices.thinned, b->choices.thinned);
    for (uint32_t k = 0; k < CAUCUS_CHOICES; k++)
        if (a->choices.before[k] != b->choices.before[k] || a->choices.expert[k] != b->choices.expert[k])
            print_error("  choice[%u] %" PRIu64 " %u, %" PRIu64 " %u\n", k, a->choices.before[k], a->choices.expert[k],
                        b->choices.before[k], b->choices.expert[k]);
    fail();
}

static inline caucus_plan *plan_of(const caucus_settings *settings) {
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    if (caucus_plan_new(settings, &plan, &error) != CAUCUS_OK)
        print_error("%s: %s\n", error.field, error.text);
    assert_non_null(plan);
    return plan;
}

static inline caucus_adversary *adversary_of(const caucus_adversary_settings *settings) {
    caucus_adversary *adversary = NULL;
    caucus_error error = {0};
    if (caucus_adversary_open(settings, &adversary, &error) != CAUCUS_OK)
        print_error("%s: %s\n", error.field, error.text);
    assert_non_null(adversary);
    return adversary;
}

#endif
