/* SPDX-License-Identifier: Apache-2.0 */
/* pick_privately.c: one private choice, from the first number to the last line of the ledger.
 *
 * Forty clients have each tried five spam filters and know the share of mails each one got wrong. They want
 * the best filter without anyone learning from the choice what a single client saw.
 *
 * Compile against an installed caucus:   cc pick_privately.c $(pkg-config --cflags --libs caucus)
 * Run:   ./a.out            a private run
 *        ./a.out --seed 7   a repeatable one, which is NOT PRIVATE */
#include <caucus/caucus.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 40, EXPERTS = 5 };

static const char *const filter_name[EXPERTS] = {"word-list", "naive-bayes", "forest", "small-net", "sender-fame"};

/* What client i measured for filter n. In earnest this number never leaves the client unrounded. */
static double measured_loss(int client, int n) {
    static const double usual[EXPERTS] = {0.62, 0.31, 0.35, 0.08, 0.55};
    return usual[n] + 0.02 * ((client + n) % 5);
}

static int give_up(const char *step, const caucus_error *error) {
    fprintf(stderr, "%s: %s%s%s\n", step, error->field, error->field[0] != '\0' ? ": " : "", error->text);
    return 1;
}

/* 1. Say what is wanted: epsilon 1 for one loss vector of one client. Two rounds of Fed-DP-OPE-Stoch are exactly
 * one selection: in the first everybody tries everything, the second plays what was learned from it. */
static caucus_status make_plan(caucus_plan **ret, caucus_error *error) {
    caucus_settings settings;
    caucus_settings_init(&settings);
    settings.algorithm = CAUCUS_ALGORITHM_STOCH;
    settings.trust = CAUCUS_TRUST_COORDINATOR;
    settings.select = CAUCUS_SELECT_FLIP;
    settings.clients = CLIENTS;
    settings.experts = EXPERTS;
    settings.rounds = 2;
    settings.epsilon = 1;
    return caucus_plan_new(&settings, ret, error);
}

/* 2. Each client rounds its losses once to the plan's integer grid; the coordinator adds them up. From here on
 * there is no floating point, so the proof speaks about the numbers that are really in the machine. */
static void add_up(const caucus_plan *plan, int64_t score[EXPERTS]) {
    memset(score, 0, EXPERTS * sizeof score[0]);
    for (int client = 0; client < CLIENTS; client++)
        for (int n = 0; n < EXPERTS; n++)
            score[n] += (int64_t)(measured_loss(client, n) * (double)caucus_plan_grid(plan) + 0.5);
}

/* 3. What the selection costs: 2 * rate * (how far one client can move a score = one full loss = grid). */
static caucus_status price(const caucus_plan *plan, caucus_rational rate, caucus_rational *ret) {
    return caucus_rational_mul(rate, caucus_rational_make(2 * (uint64_t)caucus_plan_grid(plan), 1), ret);
}

/* 4. Record the release, then draw it: a ledger that refuses must be asked before anything is known. */
static int pick(const caucus_plan *plan, caucus_ledger *ledger, const caucus_key *key) {
    const caucus_rational nothing = caucus_rational_make(0, 1);
    caucus_rational rate, spent;
    caucus_error error = {0};
    uint32_t run;
    if (caucus_ledger_reserve(ledger, plan, "spam-filter", key->seeded, &run, &error) != CAUCUS_OK)
        return give_up("ledger", &error);
    if (caucus_plan_select_rate(plan, 0, &rate) != CAUCUS_OK || price(plan, rate, &spent) != CAUCUS_OK ||
        caucus_ledger_release(ledger, run, 1, "selection", spent, nothing, &error) != CAUCUS_OK)
        return give_up("ledger", &error);

    int64_t score[EXPERTS];
    caucus_stream stream;
    add_up(plan, score);
    printf("scores (mistakes summed over %d clients; the coordinator's secret):", CLIENTS);
    for (int n = 0; n < EXPERTS; n++)
        printf(" %.1f", (double)score[n] / (double)caucus_plan_grid(plan));
    caucus_stream_init(&stream, key, CAUCUS_PURPOSE_SELECT, 2, 0, 0);
    uint32_t chosen = caucus_select_flip(&stream, score, EXPERTS, rate);
    caucus_stream_wipe(&stream);
    printf("\npicked: expert %u (%s), permute-and-flip, epsilon %.3g\n", (unsigned)chosen, filter_name[chosen],
           caucus_rational_double(spent));
    return 0;
}

/* 5. The budget is spent: the same data cannot be asked again. */
static int show_ledger(const caucus_plan *plan, caucus_ledger *ledger, bool seeded) {
    caucus_ledger_totals totals;
    caucus_error error = {0};
    uint32_t run;
    caucus_ledger_totals_init(&totals);
    if (caucus_ledger_total(ledger, &totals) != CAUCUS_OK)
        return 1;
    printf("ledger: released %.3g of %.3g, left %.3g\n", totals.released_choices, totals.budget_epsilon,
           totals.left_epsilon);
    for (size_t i = 0; i < caucus_ledger_count(ledger); i++) {
        char line[CAUCUS_LEDGER_LINE_BYTES];
        if (caucus_ledger_line(ledger, i, line, sizeof line) != CAUCUS_OK)
            return 1;
        printf("  %s\n", line);
    }
    caucus_status again = caucus_ledger_reserve(ledger, plan, "once-more", seeded, &run, &error);
    if (again == CAUCUS_OK)
        return 1;
    printf("a second pick is refused: %s\n", caucus_status_text(again));
    if (totals.any_seeded)
        printf("NOT PRIVATE (seeded): whoever knows the seed knows the noise\n");
    return 0;
}

static int choose_key(int argc, char **argv, caucus_key *key) {
    char *end = NULL;
    if (argc == 1)
        return caucus_key_generate(key) == CAUCUS_OK ? 0 : 1;
    errno = 0;
    unsigned long long seed = argc == 3 ? strtoull(argv[2], &end, 10) : 0;
    if (argc != 3 || strcmp(argv[1], "--seed") != 0 || errno != 0 || end == argv[2] || *end != '\0') {
        fprintf(stderr, "usage: %s [--seed NUMBER]\n", argv[0]);
        return 2;
    }
    caucus_key_from_seed(seed, key);
    return 0;
}

int main(int argc, char **argv) {
    caucus_plan *plan = NULL;
    caucus_ledger *ledger = NULL;
    caucus_error error = {0};
    caucus_key key;
    int result = choose_key(argc, argv, &key);
    if (result != 0)
        return result;
    if (make_plan(&plan, &error) != CAUCUS_OK || caucus_ledger_new(1, 0, &ledger, &error) != CAUCUS_OK)
        result = give_up("plan", &error);
    if (result == 0)
        result = pick(plan, ledger, &key);
    if (result == 0)
        result = show_ledger(plan, ledger, key.seeded);
    caucus_key_wipe(&key);
    caucus_ledger_free(ledger);
    caucus_plan_free(plan);
    return result;
}
