/* SPDX-License-Identifier: Apache-2.0 */
/* bench_evaluate.c: what a device saves by evaluating k of d experts.
 *
 *   bench_evaluate [--json]
 *
 * An expert is a small linear model, a dot product of 4096 floats: far less work than any model that is worth
 * choosing. A client plays 255 rounds of a plan with d = 20 experts, evaluates what caucus_client_evaluate() says and
 * observes it, for k = d (the plan without `evaluate`) and for fewer. Best of several runs each, side by side; the goal
 * is k/d of the work and at most 20 % of that more, and the program ends with 1 where it is missed. */
#include "store/clock.h"

#include <caucus/caucus.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXPERTS = 20, WEIGHTS = 4096, ROUNDS = 255, REPEATS = 30 };

static float model[EXPERTS][WEIGHTS], input[WEIGHTS];

static void must(caucus_status status, const caucus_error *error) {
    if (status == CAUCUS_OK)
        return;
    fprintf(stderr, "bench_evaluate: %s: %s\n", error->field, error->text);
    exit(1);
}

static double evaluate(uint32_t expert) {
    float sum = 0;
    for (int i = 0; i < WEIGHTS; i++)
        sum += model[expert][i] * input[i];
    return (double)(sum < 0 ? -sum : sum) / (1 + (double)(sum < 0 ? -sum : sum));
}

static caucus_plan *plan_of(uint32_t k) {
    caucus_settings s;
    caucus_error error = {0};
    caucus_plan *plan = NULL;
    caucus_settings_init(&s);
    s.algorithm = CAUCUS_ALGORITHM_STOCH;
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.clients = 500;
    s.experts = EXPERTS;
    s.rounds = ROUNDS;
    s.evaluate = k;
    must(caucus_plan_new(&s, &plan, &error), &error);
    return plan;
}

/* Nanoseconds of one run of one client, losses included. */
static double play(const caucus_plan *plan) {
    caucus_error error = {0};
    caucus_client *client = NULL;
    caucus_key key;
    caucus_announcement a = {.ask = CAUCUS_ASK_LEAF, .block = 2};
    const uint32_t k = caucus_plan_evaluate(plan);
    caucus_key_from_seed(1, &key);
    must(caucus_client_new(plan, 1, &key, &client), &error);
    must(caucus_client_hear(client, &a), &error);
    const double begin = (double)caucus_clock_ns();
    for (;;) {
        while (caucus_client_rounds_left(client) > 0) {
            uint32_t which[EXPERTS];
            double row[EXPERTS];
            must(caucus_client_evaluate(client, which, k), &error);
            for (uint32_t j = 0; j < k; j++)
                row[j] = evaluate(which[j]);
            must(caucus_client_observe(client, row, 1), &error);
        }
        if (caucus_client_round(client) == ROUNDS)
            break;
        (void)caucus_client_report(client);
        a.serial++;
        a.block++;
        if (a.block > caucus_plan_blocks(plan))
            a.ask = CAUCUS_ASK_NOTHING;
        must(caucus_client_hear(client, &a), &error);
    }
    const double time = (double)caucus_clock_ns() - begin;
    caucus_client_free(client);
    return time;
}

int main(int argc, char **argv) {
    static const uint32_t few[] = {1, 2, 4, 10};
    enum { COUNT = sizeof few / sizeof few[0] };
    const bool json = argc > 1 && strcmp(argv[1], "--json") == 0;
    caucus_plan *all = plan_of(0), *plan[COUNT];
    double best_all = 1e30, best[COUNT];
    bool good = true;
    for (int y = 0; y < EXPERTS; y++)
        for (int i = 0; i < WEIGHTS; i++)
            model[y][i] = (float)((y * 37 + i * 11) % 101 - 50) / 5000;
    for (int i = 0; i < WEIGHTS; i++)
        input[i] = (float)(i % 7) / 7;
    for (int i = 0; i < COUNT; i++) {
        plan[i] = plan_of(few[i]);
        best[i] = 1e30;
    }
    for (int r = 0; r < REPEATS; r++) { /* in turn, so that a busy moment meets all of them */
        const double time = play(all);
        best_all = time < best_all ? time : best_all;
        for (int i = 0; i < COUNT; i++) {
            const double own = play(plan[i]);
            best[i] = own < best[i] ? own : best[i];
        }
    }
    if (json)
        printf("{\n  \"evaluate 20 of 20, ns a round\": %.4g", best_all / ROUNDS);
    else
        printf("  evaluate 20 of 20   %9.0f ns a round\n", best_all / ROUNDS);
    for (int i = 0; i < COUNT; i++) {
        const double ratio = best[i] / best_all, goal = 1.2 * few[i] / EXPERTS;
        good = good && ratio <= goal;
        if (json)
            printf(",\n  \"evaluate %u of 20, ratio\": %.4g", few[i], ratio);
        else
            printf("  evaluate %2u of 20   %9.0f ns a round   %.3f of it (goal: at most %.3f)\n", few[i],
                   best[i] / ROUNDS, ratio, goal);
        caucus_plan_free(plan[i]);
    }
    printf(json ? "\n}\n" : "");
    caucus_plan_free(all);
    return good ? 0 : 1;
}
