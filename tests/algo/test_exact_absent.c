/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_absent.c: privacy does not care who is waited for (docs/PRIVACY.md, statement 26).
 *
 * Two clients, two experts, Fed-DP-OPE-Stoch; the coordinator's own machine counts the reports. For every schedule of
 * who is counted in which step (every subset in every phase: so also for schedules that follow from what was announced
 * before, since a transcript sees one of them), for every pair of data sets that differ in one loss vector, the
 * probability of every transcript is computed from the scores that the machine would select from, and the largest
 * |ln(P/P')| is taken.
 *
 * The control lets a client be away because of what it saw: then a whole block stands or falls with one loss, and the
 * claim does not hold. That is what "who takes part must not depend on losses" is for. */
#include "dp/exact.h"

#include "algo/coordinator.h"
#include "plan/plan.h"

#include <caucus/client.h>
#include <caucus/coordinator.h>

#define CLIENTS 2
#define ROUNDS 8
#define STEPS_MAX 4

typedef struct data {
    uint8_t loss[CLIENTS][ROUNDS]; /* bit y: expert y loses 1 */
} data;

/* Away for a reason that no loss has: bit i of away[k]. adaptive: client 1 stays away from a step whose first loss
 * is (1, 0). */
typedef struct schedule {
    uint8_t away[STEPS_MAX];
    bool adaptive;
} schedule;

typedef struct law {
    uint32_t steps;
    long double log_p[STEPS_MAX][2];
} law;

static bool stays_away(const schedule *s, const data *in, uint32_t step, uint32_t client, uint64_t first) {
    if (s->adaptive && client == 0 && in->loss[0][first] == 1)
        return true;
    return (s->away[step] >> client & 1) != 0;
}

/* Play the machines and keep, for every selection, the law of what it may choose. */
static void play(const caucus_plan *plan, const data *in, const schedule *s, law *ret) {
    caucus_coordinator *c = NULL;
    caucus_client *client[CLIENTS] = {NULL};
    caucus_key key, own;
    caucus_key_from_seed(1, &key);
    memset(ret, 0, sizeof *ret);
    assert_int_equal(caucus_coordinator_new(plan, &key, &c), CAUCUS_OK);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        caucus_key_derive(&key, i + 1, &own);
        assert_int_equal(caucus_client_new(plan, i + 1, &own, &client[i]), CAUCUS_OK);
        assert_int_equal(caucus_client_hear(client[i], caucus_coordinator_announcement(c)), CAUCUS_OK);
    }
    uint64_t round = 0;
    while (caucus_coordinator_announcement(c)->ask != CAUCUS_ASK_NOTHING) {
        const uint64_t first = round, left = caucus_client_rounds_left(client[0]), block = c->now.block;
        for (uint32_t i = 0; i < CLIENTS; i++) {
            for (uint64_t t = 0; t < left; t++) {
                const double loss[2] = {in->loss[i][first + t] & 1, in->loss[i][first + t] >> 1};
                assert_int_equal(caucus_client_observe(client[i], loss, 1), CAUCUS_OK);
            }
            const caucus_report *report = caucus_client_report(client[i]);
            assert_non_null(report);
            if (!stays_away(s, in, ret->steps, i, first))
                assert_int_equal(caucus_coordinator_receive(c, report), CAUCUS_OK);
        }
        round += left;
        long double p[2];
        assert_true(ret->steps < STEPS_MAX);
        exact_select_law(plan->stoch.select, c->sum, 2, plan->stoch.phase[block - 2].select_rate[0], p);
        ret->log_p[ret->steps][0] = logl(p[0]);
        ret->log_p[ret->steps++][1] = logl(p[1]);
        assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
        for (uint32_t i = 0; i < CLIENTS; i++)
            assert_int_equal(caucus_client_hear(client[i], caucus_coordinator_announcement(c)), CAUCUS_OK);
    }
    for (uint32_t i = 0; i < CLIENTS; i++)
        caucus_client_free(client[i]);
    caucus_coordinator_free(c);
}

/* The largest |ln(P/P')| of a transcript: selections are independent, so the worst of each add up. */
static long double apart(const law *a, const law *b) {
    long double sum = 0;
    assert_int_equal(a->steps, b->steps);
    for (uint32_t k = 0; k < a->steps; k++)
        sum += fmaxl(fabsl(a->log_p[k][0] - b->log_p[k][0]), fabsl(a->log_p[k][1] - b->log_p[k][1]));
    return sum;
}

/* Over pairs that differ in one loss vector, around data sets that lean either way. */
static long double worst_pair(const caucus_plan *plan, const schedule *s) {
    long double worst = 0;
    for (uint8_t base = 0; base < 4; base++)
        for (uint32_t i = 0; i < CLIENTS; i++)
            for (uint32_t t = 0; t < ROUNDS - 1; t++) {
                law laws[4];
                for (uint8_t v = 0; v < 4; v++) {
                    data in;
                    memset(&in, base, sizeof in);
                    in.loss[i][t] = v;
                    play(plan, &in, s, &laws[v]);
                    for (uint8_t other = 0; other < v; other++)
                        exact_raise(&worst, apart(&laws[v], &laws[other]));
                }
            }
    return worst;
}

static caucus_plan *make_plan(caucus_unit unit) {
    caucus_settings s;
    exact_settings(&s, CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, 3);
    s.clients = CLIENTS;
    s.rounds = ROUNDS;
    s.unit = unit;
    s.grid = 2;
    return exact_plan(&s);
}

static void every_schedule(void **state) {
    (void)state;
    caucus_plan *plan = make_plan(CAUCUS_UNIT_EVENT);
    law one;
    data zeros;
    memset(&zeros, 0, sizeof zeros);
    play(plan, &zeros, &(schedule){.adaptive = false}, &one);
    assert_true(one.steps >= 2 && one.steps <= STEPS_MAX);
    long double worst = 0, everybody = 0, nobody = 1;
    for (uint32_t mask = 0; mask < 1u << (CLIENTS * one.steps); mask++) {
        schedule s = {.adaptive = false};
        for (uint32_t k = 0; k < one.steps; k++)
            s.away[k] = mask >> (CLIENTS * k) & ((1u << CLIENTS) - 1);
        long double found = worst_pair(plan, &s);
        exact_raise(&worst, found);
        if (mask == 0)
            everybody = found;
        nobody = found; /* the last mask: nobody is ever counted */
    }
    exact_assert("everybody is counted", everybody, (long double)plan->guarantee.epsilon_choices, 0.9L);
    exact_assert("any schedule of who is", worst, (long double)plan->guarantee.epsilon_choices, 0.9L);
    assert_true(nobody == 0);
    caucus_plan_free(plan);
}

static void control_away_because_of_a_loss(void **state) {
    (void)state;
    caucus_plan *plan = make_plan(CAUCUS_UNIT_EVENT);
    long double worst = worst_pair(plan, &(schedule){.adaptive = true});
    printf("  away because of a loss: %.6Lf of %.6f\n", worst, plan->guarantee.epsilon_choices);
    assert_true(worst > (long double)plan->guarantee.epsilon_choices + EXACT_SLACK);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_schedule),
        cmocka_unit_test(control_away_because_of_a_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
