/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_absent_blocks.c: as test_exact_absent.c, for Fed-SVT and Fed-Hedge, where what a client could not say
 * while it was away is said when it is back, and enters a later decision (docs/PRIVACY.md, "Who is waited for").
 *
 * Two clients, two experts, blocks of one round. The machines themselves play: clients report, the coordinator counts.
 * What it decides is not drawn but given, so that every transcript can be played: a check that must not fire meets a
 * threshold out of reach, one that must fire meets one below everything, and the expert that is chosen is put in its
 * place. Its probability follows from what the coordinator had counted by then: the cost of the expert in force at
 * every check, the sums at every selection.
 *
 * For every schedule of who is away in which block, and whether that goes for vectors, too; for every pair of data sets
 * that differ in one loss vector; for every transcript. The control lets a client leave because of a loss. */
#include "dp/exact.h"

#include "algo/coordinator.h"
#include "plan/plan.h"

#include <caucus/client.h>
#include <caucus/coordinator.h>

#define CLIENTS 2
#define ROUNDS 4
#define BLOCKS 3 /* that are asked about: nothing follows from the last one */
#define KEEP 2   /* symbols of a transcript: expert 0 or 1 is chosen after this block, or nothing is */
#define FAR ((int64_t)1 << 40)

typedef struct data {
    uint8_t loss[CLIENTS][ROUNDS]; /* bit y: expert y loses 1 */
} data;

/* away[n]: bit i: client i is not there in block n + 1, when cost is asked for; `vectors`: nor when a vector is.
 * adaptive: client 1 leaves for good when it loses (1, 0). */
typedef struct schedule {
    uint8_t away[BLOCKS];
    bool vectors, adaptive;
} schedule;

typedef struct transcript {
    uint32_t first, symbol[BLOCKS];
} transcript;

/* What a client has reported and nobody has heard yet. */
typedef struct late {
    caucus_report report[2 * BLOCKS];
    int64_t value[2 * BLOCKS][2];
    uint32_t count;
} late;

typedef struct game {
    const caucus_plan *plan;
    const data *in;
    const schedule *when;
    caucus_coordinator *c;
    caucus_client *client[CLIENTS];
    late late[CLIENTS];
    uint32_t round;
} game;

static bool is_away(const game *g, uint32_t client) {
    const schedule *s = g->when;
    const caucus_announcement *now = caucus_coordinator_announcement(g->c);
    if (s->adaptive)
        for (uint32_t t = 0; client == 0 && t < now->block; t++)
            if (g->in->loss[0][t] == 1)
                return true;
    const bool vector = now->ask == CAUCUS_ASK_SUMS && g->plan->settings.algorithm == CAUCUS_ALGORITHM_SVT;
    return (s->away[now->block - 1] >> client & 1) != 0 && (!vector || s->vectors);
}

static void open_game(game *g, const caucus_plan *plan, const data *in, const schedule *when, uint32_t first) {
    caucus_key key, own;
    *g = (game){.plan = plan, .in = in, .when = when};
    caucus_key_from_seed(1, &key);
    assert_int_equal(caucus_coordinator_new(plan, &key, &g->c), CAUCUS_OK);
    g->c->now.expert = g->c->threshold.expert = first;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        caucus_key_derive(&key, i + 1, &own);
        assert_int_equal(caucus_client_new(plan, i + 1, &own, &g->client[i]), CAUCUS_OK);
        assert_int_equal(caucus_client_hear(g->client[i], caucus_coordinator_announcement(g->c)), CAUCUS_OK);
    }
}

static void close_game(game *g) {
    for (uint32_t i = 0; i < CLIENTS; i++)
        caucus_client_free(g->client[i]);
    caucus_coordinator_free(g->c);
}

static void keep_report(late *l, const caucus_report *report) {
    assert_true(l->count < 2 * BLOCKS && report->count <= 2);
    l->report[l->count] = *report;
    memcpy(l->value[l->count], report->value, report->count * sizeof *report->value);
    l->count++;
}

/* Everybody plays the rounds of the block and reports; who is there says all that it has not said yet, in order. */
static void answer(game *g) {
    const uint64_t left = caucus_client_rounds_left(g->client[0]);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        for (uint64_t t = 0; t < left; t++) {
            const uint8_t bits = g->in->loss[i][g->round + t];
            const double loss[2] = {bits & 1, bits >> 1};
            assert_int_equal(caucus_client_observe(g->client[i], loss, 1), CAUCUS_OK);
        }
        const caucus_report *report = caucus_client_report(g->client[i]);
        assert_non_null(report);
        late *l = &g->late[i];
        keep_report(l, report);
        if (is_away(g, i))
            continue;
        for (uint32_t k = 0; k < l->count; k++) {
            l->report[k].value = l->value[k];
            assert_int_equal(caucus_coordinator_receive(g->c, &l->report[k]), CAUCUS_OK);
        }
        l->count = 0;
    }
    g->round += (uint32_t)left;
}

/* Decide, and let this be what was decided: expert y in force. */
static void decide(game *g, uint32_t expert) {
    assert_int_equal(caucus_coordinator_decide(g->c), CAUCUS_OK);
    g->c->now.expert = g->c->threshold.expert = expert;
    for (uint32_t i = 0; i < CLIENTS; i++)
        assert_int_equal(caucus_client_hear(g->client[i], caucus_coordinator_announcement(g->c)), CAUCUS_OK);
}

static long double log_select(const int64_t *cum, int64_t floor, caucus_rational rate, uint32_t y) {
    int64_t score[2];
    long double law[2];
    for (uint32_t k = 0; k < 2; k++)
        score[k] = cum[k] > floor ? cum[k] : floor;
    caucus_select_exponential_law(score, 2, rate, law);
    return logl(law[y]);
}

/* ln P of a transcript of Fed-SVT. */
static long double play_svt(const caucus_plan *plan, const data *in, const schedule *when, const transcript *t) {
    const caucus_svt_plan *svt = &plan->svt;
    game g;
    int64_t q[BLOCKS];
    uint32_t expert = t->first, k = 0, length = 0;
    long double lp = -logl(2);
    open_game(&g, plan, in, when, t->first);
    for (uint32_t n = 0; n < BLOCKS && k < svt->switches; n++) {
        const bool fires = t->symbol[n] != KEEP;
        assert_int_equal(caucus_coordinator_announcement(g.c)->ask, CAUCUS_ASK_COST);
        answer(&g);
        q[length++] = g.c->threshold.q;
        g.c->threshold.theta = fires ? -FAR : FAR;
        decide(&g, expert);
        if (!fires)
            continue;
        lp += logl(exact_epoch(&svt->threshold_noise, &svt->check_noise, svt->threshold[k], q, length, true));
        assert_int_equal(caucus_coordinator_announcement(g.c)->ask, CAUCUS_ASK_SUMS);
        answer(&g);
        lp += log_select(g.c->cum, svt->score_floor, svt->select_rate[k], t->symbol[n]);
        expert = t->symbol[n];
        decide(&g, expert);
        k++;
        length = 0;
    }
    if (k < svt->switches && length > 0)
        lp += logl(exact_epoch(&svt->threshold_noise, &svt->check_noise, svt->threshold[k], q, length, false));
    close_game(&g);
    return lp;
}

/* ln P of a transcript of Fed-Hedge: an expert is drawn after every block. */
static long double play_hedge(const caucus_plan *plan, const data *in, const schedule *when, const transcript *t) {
    game g;
    long double lp = 0;
    open_game(&g, plan, in, when, 0);
    for (uint32_t n = 0; n < BLOCKS; n++) {
        answer(&g);
        lp += log_select(g.c->cum, INT64_MIN, plan->hedge.rate, t->symbol[n]);
        decide(&g, t->symbol[n]);
    }
    assert_int_equal(caucus_coordinator_announcement(g.c)->ask, CAUCUS_ASK_NOTHING);
    close_game(&g);
    return lp;
}

/* Transcript number `number`, if there is one and it is possible. */
static bool transcript_of(const caucus_plan *plan, uint32_t number, transcript *ret) {
    const bool svt = plan->settings.algorithm == CAUCUS_ALGORITHM_SVT;
    uint32_t fired = 0;
    ret->first = svt ? number % 2 : 0;
    number = svt ? number / 2 : number;
    for (uint32_t n = 0; n < BLOCKS; n++, number /= svt ? 3 : 2) {
        ret->symbol[n] = number % (svt ? 3 : 2);
        fired += ret->symbol[n] != KEEP;
    }
    return !svt || fired <= plan->svt.switches;
}

#define TRANSCRIPTS 54

/* ln P of all transcripts; they must add up to one. */
static uint32_t law_of(const caucus_plan *plan, const data *in, const schedule *when, long double *ret) {
    const bool svt = plan->settings.algorithm == CAUCUS_ALGORITHM_SVT;
    uint32_t count = 0;
    long double total = 0;
    for (uint32_t number = 0; number < (svt ? TRANSCRIPTS : 8u); number++) {
        transcript t;
        if (!transcript_of(plan, number, &t))
            continue;
        ret[count] = svt ? play_svt(plan, in, when, &t) : play_hedge(plan, in, when, &t);
        total += expl(ret[count++]);
    }
    if (!(fabsl(total - 1) < 1e-12L))
        fail_msg("the law sums to %.18Lf", total);
    return count;
}

/* Over pairs that differ in one loss vector, around data sets that lean either way. */
static long double worst_pair(const caucus_plan *plan, const schedule *when) {
    long double worst = 0;
    for (uint8_t base = 0; base < 4; base++)
        for (uint32_t i = 0; i < CLIENTS; i++)
            for (uint32_t t = 0; t < BLOCKS; t++) {
                long double law[4][TRANSCRIPTS];
                for (uint8_t v = 0; v < 4; v++) {
                    data in;
                    memset(&in, base, sizeof in);
                    in.loss[i][t] = v;
                    const uint32_t count = law_of(plan, &in, when, law[v]);
                    for (uint8_t other = 0; other < v; other++)
                        for (uint32_t k = 0; k < count; k++)
                            exact_raise(&worst, fabsl(law[v][k] - law[other][k]));
                }
            }
    return worst;
}

static caucus_plan *make_plan(caucus_algorithm algorithm) {
    caucus_settings s;
    exact_settings(&s, algorithm, CAUCUS_TRUST_COORDINATOR, 4);
    s.clients = CLIENTS;
    s.rounds = ROUNDS;
    s.interval = 1;
    s.rho = algorithm == CAUCUS_ALGORITHM_SVT ? 0.5 : s.rho;
    return exact_plan(&s);
}

/* Every schedule: none of them reaches more than is claimed, and some reach as much as everybody there. */
static void every_schedule(caucus_algorithm algorithm, const char *name, long double power) {
    caucus_plan *plan = make_plan(algorithm);
    long double worst = 0, everybody = 0, nobody = 1;
    for (uint32_t mask = 0; mask < 1u << (CLIENTS * BLOCKS); mask++)
        for (int vectors = 0; vectors < (algorithm == CAUCUS_ALGORITHM_SVT ? 2 : 1); vectors++) {
            schedule s = {.vectors = vectors != 0};
            for (uint32_t n = 0; n < BLOCKS; n++)
                s.away[n] = mask >> (CLIENTS * n) & ((1u << CLIENTS) - 1);
            nobody = worst_pair(plan, &s); /* the last of them: nobody is ever there */
            exact_raise(&worst, nobody);
            if (mask == 0)
                everybody = nobody;
        }
    char what[64];
    (void)snprintf(what, sizeof what, "%s, everybody is counted", name);
    exact_assert(what, everybody, (long double)plan->guarantee.epsilon_choices, power);
    (void)snprintf(what, sizeof what, "%s, any schedule of who is", name);
    exact_assert(what, worst, (long double)plan->guarantee.epsilon_choices, power);
    assert_true(nobody == 0);
    long double because = worst_pair(plan, &(schedule){.adaptive = true, .vectors = true});
    (void)snprintf(what, sizeof what, "%s, away because of a loss", name);
    printf("  %-58s measured %.6Lf, where everybody counted gives %.6Lf\n", what, because, everybody);
    assert_true(because > worst + EXACT_SLACK);
    caucus_plan_free(plan);
}

static void fed_svt(void **state) {
    (void)state;
    every_schedule(CAUCUS_ALGORITHM_SVT, "svt", 0.2L);
}

static void fed_hedge(void **state) {
    (void)state;
    every_schedule(CAUCUS_ALGORITHM_HEDGE, "hedge", 0.5L);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fed_svt), cmocka_unit_test(fed_hedge)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
