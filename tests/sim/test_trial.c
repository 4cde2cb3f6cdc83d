/* SPDX-License-Identifier: Apache-2.0 */
/* test_trial.c: one trial equals the same trial played one row at a time (plain_trial.h), bit by bit: regret, curve,
 * traffic, clips, digest. Then what must hold between trials: protocols, baselines, edges, losses that are not numbers.
 * Nothing here is statistical; the seed is fixed and printed. */
#include "sim/plain_trial.h"

#include <unistd.h>

#include "sim/convex.h"
#include "testing_settings.h"

#define SEED 20241u

static caucus_settings base(caucus_algorithm algorithm, uint32_t m, uint32_t d, uint32_t rounds) {
    caucus_settings s = testing_settings(algorithm, CAUCUS_TRUST_COORDINATOR, m, d, rounds, 8);
    return s;
}

static caucus_adversary *open_losses(caucus_adversary_kind kind, const caucus_settings *s) {
    caucus_adversary_settings a = {.kind = kind,
                                   .seed = SEED,
                                   .clients = s->clients,
                                   .experts = s->experts,
                                   .rounds = s->rounds,
                                   .epsilon = 0.05,
                                   .convex = s->loss_shape == CAUCUS_LOSS_SHAPE_CONVEX};
    return adversary_of(&a);
}

/* Play `trials` trials both ways and compare; returns the last one. */
static caucus_trial_result compare(const char *what, const caucus_settings *s, caucus_adversary_kind kind,
                                   uint32_t trials) {
    caucus_plan *plan = plan_of(s);
    caucus_adversary *adversary = open_losses(kind, s);
    caucus_trial_result fast = {0};
    for (uint32_t number = 0; number < trials; number++) {
        assert_int_equal(caucus_trial_play(plan, adversary, SEED, number, NULL, NULL, NULL, &fast), CAUCUS_OK);
        caucus_trial_result slow = plain_play(plan, adversary, SEED, number);
        same_results(what, &fast, &slow);
    }
    caucus_adversary_close(adversary);
    caucus_plan_free(plan);
    return fast;
}

static void test_svt(void **state) {
    (void)state;
    static const uint32_t intervals[] = {1, 7, 1000};
    for (int protocol = 0; protocol < CAUCUS_PROTOCOL_COUNT; protocol++)
        for (size_t n = 0; n < 3; n++)
            for (int unit = 0; unit <= CAUCUS_UNIT_CLIENT_BLOCK; unit++) {
                caucus_settings s = base(CAUCUS_ALGORITHM_SVT, 6, 12, 200);
                s.protocol = (caucus_protocol)protocol;
                s.interval = intervals[n];
                s.unit = (caucus_unit)unit;
                (void)compare("svt realizable", &s, CAUCUS_ADVERSARY_REALIZABLE, 3);
                caucus_trial_result r = compare("svt creeping", &s, CAUCUS_ADVERSARY_CREEPING, 3);
                if (n == 2)
                    assert_int_equal(r.selections, 0);
                (void)compare("svt gaussian", &s, CAUCUS_ADVERSARY_GAUSSIAN,
                              2); /* all switches used up: asks no more */
                s.delta = 1e-6;
                (void)compare("svt delta", &s, CAUCUS_ADVERSARY_HALVING, 2);
                s.delta = 0;
                s.calibration = CAUCUS_CALIBRATION_PAPER;
                if (unit == CAUCUS_UNIT_EVENT)
                    (void)compare("svt paper", &s, CAUCUS_ADVERSARY_BERNOULLI, 2);
            }
    caucus_settings s = base(CAUCUS_ALGORITHM_SVT, 6, 12, 200);
    s.front_load = true;
    (void)compare("svt front-load", &s, CAUCUS_ADVERSARY_CREEPING, 3);
}

static void test_stoch(void **state) {
    (void)state;
    caucus_settings s = base(CAUCUS_ALGORITHM_STOCH, 5, 10, 300);
    (void)compare("stoch", &s, CAUCUS_ADVERSARY_GAUSSIAN, 3);
    s.past_phases = true;
    (void)compare("stoch past", &s, CAUCUS_ADVERSARY_BERNOULLI, 2);
    s.past_phases = false;
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    (void)compare("stoch client-block", &s, CAUCUS_ADVERSARY_GAUSSIAN, 2);
    s.unit = CAUCUS_UNIT_CLIENT;
    (void)compare("stoch client", &s, CAUCUS_ADVERSARY_GAUSSIAN, 2);
    s.unit = CAUCUS_UNIT_EVENT;
    for (int select = 0; select < CAUCUS_SELECT_COUNT; select++) {
        s.select = (caucus_select)select;
        for (s.trees = CAUCUS_TREES_AUTO; s.trees <= 2; s.trees++)
            (void)compare("stoch select", &s, CAUCUS_ADVERSARY_GAUSSIAN, 2);
    }
    s.select = CAUCUS_SELECT_AUTO;
    s.trees = CAUCUS_TREES_AUTO;
    s.calibration = CAUCUS_CALIBRATION_PAPER;
    (void)compare("stoch paper", &s, CAUCUS_ADVERSARY_GAUSSIAN, 2);
    s.trust = CAUCUS_TRUST_PAPER_LOCAL;
    (void)compare("stoch paper-local", &s, CAUCUS_ADVERSARY_GAUSSIAN, 2);
    s.trust = CAUCUS_TRUST_NOBODY;
    s.calibration = CAUCUS_CALIBRATION_TIGHT;
    for (int message = 0; message < CAUCUS_MESSAGE_COUNT; message++) {
        s.message = (caucus_message)message;
        s.delta = message == CAUCUS_MESSAGE_GAUSS ? 1e-6 : 0;
        (void)compare("stoch messages", &s, CAUCUS_ADVERSARY_CROSS_ENTROPY, 2);
        if (message >= CAUCUS_MESSAGE_KNORM) {
            s.trees = 2;
            (void)compare("stoch messages, trees", &s, CAUCUS_ADVERSARY_GAUSSIAN, 2);
            s.trees = CAUCUS_TREES_AUTO;
        }
    }
}

static void test_hedge_and_leader(void **state) {
    (void)state;
    static const uint32_t intervals[] = {1, 7, 1000};
    for (size_t n = 0; n < 3; n++) {
        caucus_settings s = base(CAUCUS_ALGORITHM_HEDGE, 6, 12, 200);
        s.interval = intervals[n];
        s.epsilon = INFINITY;
        (void)compare("hedge, no privacy", &s, CAUCUS_ADVERSARY_LOWER_BOUND_OBLIVIOUS, 2);
        s.epsilon = 5;
        s.delta = 1e-6;
        (void)compare("hedge", &s, CAUCUS_ADVERSARY_GAUSSIAN, 2);
        s = base(CAUCUS_ALGORITHM_LEADER, 6, 12, 200);
        s.interval = intervals[n];
        (void)compare("leader", &s, CAUCUS_ADVERSARY_BERNOULLI, 2);
        (void)compare("leader, late losses", &s, CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE, 2);
    }
}

/* Past 65536 losses a round the driver makes one client's rows at a time; past 65536 experts one row at a time. */
static void test_large(void **state) {
    (void)state;
    static const uint32_t shapes[][3] = {{700, 100, 40}, {1, 70000, 9}, {35000, 2, 7}, {655, 100, 20}, {656, 100, 20}};
    static const caucus_algorithm algorithms[] = {CAUCUS_ALGORITHM_SVT, CAUCUS_ALGORITHM_STOCH, CAUCUS_ALGORITHM_HEDGE};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (size_t a = 0; a < 3; a++) {
            caucus_settings s = base(algorithms[a], shapes[i][0], shapes[i][1], shapes[i][2]);
            s.interval = i % 2 && a != 1 ? 3 : 1;
            s.epsilon = a == 2 ? INFINITY : 20;
            (void)compare("large", &s, a == 1 ? CAUCUS_ADVERSARY_GAUSSIAN : CAUCUS_ADVERSARY_REALIZABLE, 1);
        }
    caucus_settings s = base(CAUCUS_ALGORITHM_SVT, 3, 4, 60000); /* a run of rounds longer than the buffer */
    s.interval = 30000;
    (void)compare("long blocks", &s, CAUCUS_ADVERSARY_GAUSSIAN, 1);
}

static void test_edges(void **state) {
    (void)state;
    static const uint32_t rounds[] = {1, 2, 3, 63, 64, 65, 127, 128};
    for (int algorithm = 0; algorithm < CAUCUS_ALGORITHM_COUNT; algorithm++)
        for (size_t t = 0; t < 8; t++)
            for (uint32_t interval = 1; interval <= 129; interval += 128) {
                caucus_settings s = base((caucus_algorithm)algorithm, 3, 2, rounds[t]);
                bool blocks = algorithm != CAUCUS_ALGORITHM_STOCH && algorithm != CAUCUS_ALGORITHM_LIMITED_UPDATES;
                s.interval = blocks ? interval : 1;
                caucus_trial_result r = compare("edges", &s, CAUCUS_ADVERSARY_GAUSSIAN, 2);
                if (rounds[t] == 1 || (blocks && interval > rounds[t]))
                    assert_true(r.switches == 0 && r.scalars_up == 0); /* nothing to decide, nothing sent */
            }
}

/* Two-step and paper protocol: the same experts, at least 30 times fewer numbers. */
static void test_protocols(void **state) {
    (void)state;
    caucus_settings s = base(CAUCUS_ALGORITHM_SVT, 10, 100, 512);
    s.epsilon = 10;
    uint64_t up[CAUCUS_PROTOCOL_COUNT] = {0};
    uint64_t switched = 0;
    uint32_t unspent = 0;
    caucus_adversary *adversary = open_losses(CAUCUS_ADVERSARY_REALIZABLE, &s);
    for (uint32_t number = 0; number < 20; number++) {
        caucus_trial_result r[CAUCUS_PROTOCOL_COUNT];
        uint32_t budget = 0;
        for (int protocol = 0; protocol < CAUCUS_PROTOCOL_COUNT; protocol++) {
            s.protocol = (caucus_protocol)protocol;
            caucus_plan *plan = plan_of(&s);
            assert_int_equal(caucus_trial_play(plan, adversary, SEED, number, NULL, NULL, NULL, &r[protocol]),
                             CAUCUS_OK);
            budget = plan->svt.switches;
            caucus_plan_free(plan);
            up[protocol] += r[protocol].scalars_up;
        }
        assert_memory_equal(r[0].curve, r[1].curve, sizeof r[0].curve);
        assert_true(r[0].regret == r[1].regret && r[0].switches == r[1].switches);
        assert_true(r[0].selections == r[1].selections);
        if (r[0].selections < budget) { /* after that the paper's protocol goes on announcing what cannot change */
            assert_true(r[0].digest == r[1].digest);
            unspent++;
        }
        switched += r[0].switches;
        assert_true(r[1].scalars_up == 10u * 100u * 511u);
    }
    assert_true(switched >= 20 && unspent >= 15);
    print_message("scalars up: two-step %llu, paper %llu, %.0f times\n",
                  (unsigned long long)up[CAUCUS_PROTOCOL_TWO_STEP], (unsigned long long)up[CAUCUS_PROTOCOL_PAPER],
                  (double)up[CAUCUS_PROTOCOL_PAPER] / (double)up[CAUCUS_PROTOCOL_TWO_STEP]);
    assert_true(up[CAUCUS_PROTOCOL_PAPER] >= 30 * up[CAUCUS_PROTOCOL_TWO_STEP]);
    caucus_adversary_close(adversary);
}

/* The expert in force after every round. */
typedef struct story {
    uint32_t round, expert;
    uint32_t *played; /* [rounds] */
} story;

static void watch(void *user, uint64_t round, const caucus_announcement *a) {
    story *s = user;
    for (; s->round < round; s->round++)
        s->played[s->round] = s->expert;
    s->expert = a->expert;
}

static void test_watch_and_digest(void **state) {
    (void)state;
    uint64_t digest[2] = {0};
    uint32_t played[2][300] = {{0}};
    for (int protocol = 0; protocol < 2; protocol++) {
        caucus_settings s = base(CAUCUS_ALGORITHM_SVT, 4, 8, 300);
        s.epsilon = 40; /* few enough switches that both protocols announce to the end */
        s.protocol = (caucus_protocol)protocol;
        caucus_plan *plan = plan_of(&s);
        caucus_adversary *adversary = open_losses(CAUCUS_ADVERSARY_REALIZABLE, &s);
        caucus_trial_result r;
        story told = {.played = played[protocol]};
        assert_int_equal(caucus_trial_play(plan, adversary, SEED, 2, NULL, watch, &told, &r), CAUCUS_OK);
        for (; told.round < 300; told.round++)
            told.played[told.round] = told.expert;
        assert_true(r.selections >= 1 && r.selections < plan->svt.switches);
        digest[protocol] = r.digest;
        caucus_adversary_close(adversary);
        caucus_plan_free(plan);
    }
    assert_memory_equal(played[0], played[1], sizeof played[0]);
    assert_true(digest[0] == digest[1]);
}

/* Convex losses: cost by value(), and the best mixture by sorting instead of bisection. */
static int larger_first(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* min over p_n >= s/d, sum p = 1, of -(1/C) sum Y_n ln p_n: the k largest share what the others leave. */
static double best_mixture(const double *truths, uint32_t d) {
    double sorted[64], s = CAUCUS_CONVEX_MIXING, best = INFINITY;
    memcpy(sorted, truths, d * sizeof *sorted);
    qsort(sorted, d, sizeof *sorted, larger_first);
    double sum = 0;
    for (uint32_t k = 1; k <= d; k++) {
        sum += sorted[k - 1];
        double rest = 1 - s * (d - k) / d, value = 0;
        if (sorted[k - 1] * rest / sum < s / d - 1e-15)
            break; /* the k-th would get less than the floor */
        for (uint32_t n = 0; n < d; n++)
            value -= sorted[n] * log(n < k ? sorted[n] * rest / sum : s / d);
        best = value < best ? value : best;
    }
    return best / caucus_convex_scale(d);
}

typedef struct slope_source {
    const caucus_adversary_trial *losses;
    uint32_t client;
} slope_source;

static void slope(void *user, uint64_t round, const double *x, double *ret, uint32_t experts) {
    (void)experts;
    const slope_source *from = user;
    caucus_adversary_gradient(from->losses, from->client, round - 1, x, ret);
}

/* One convex trial, played by the driver (clients that share their working space) and by clients that share nothing. */
static caucus_trial_result compare_convex(const caucus_settings *s) {
    enum { M_MAX = 5, D_MAX = 6 };
    const uint32_t m = s->clients, d = s->experts;
    const uint64_t rounds = s->rounds;
    assert_true(m <= M_MAX && d <= D_MAX);
    caucus_plan *plan = plan_of(s);
    caucus_adversary *adversary = open_losses(CAUCUS_ADVERSARY_CROSS_ENTROPY, s);
    caucus_trial_result fast;
    assert_int_equal(caucus_trial_play(plan, adversary, SEED, 1, NULL, NULL, NULL, &fast), CAUCUS_OK);

    caucus_adversary_trial *losses = NULL;
    assert_int_equal(caucus_adversary_trial_new(adversary, 1, &losses), CAUCUS_OK);
    plain_trial p = {.plan = plan, .losses = losses, .m = m, .d = d};
    plain_open(&p, SEED, 1);
    slope_source from[M_MAX];
    for (uint32_t i = 0; i < m; i++) {
        from[i] = (slope_source){losses, i + 1};
        caucus_client_set_gradient(p.client[i], slope, &from[i]);
    }
    plain_announce(&p);
    uint32_t expert = caucus_coordinator_announcement(p.coordinator)->expert;
    p.result.digest = 0xcbf29ce484222325u;
    plain_digest(&p, expert);
    double cost = 0, truths[D_MAX] = {0}, x[D_MAX], gain = caucus_convex_gain(d);
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i < m; i++) {
            assert_int_equal(caucus_client_mixture(p.client[i], x, d), CAUCUS_OK);
            cost += caucus_adversary_value(losses, i + 1, round, x);
            for (uint32_t n = 0; n < d; n++) { /* at the vertex e_n the value is 1 - y_n K */
                double vertex[D_MAX] = {0};
                vertex[n] = 1;
                truths[n] += (1 - caucus_adversary_value(losses, i + 1, round, vertex)) / gain;
            }
            assert_int_equal(caucus_client_observe(p.client[i], NULL, 1), CAUCUS_OK);
        }
        double regret = (cost - best_mixture(truths, d)) / m;
        for (uint32_t k = 0; k < CAUCUS_CURVE_POINTS; k++)
            if (caucus_curve_round(rounds, k) == round + 1 && fabs(fast.curve[k] - regret) >= 1e-7)
                fail_msg("round %u: regret %.9g, and %.9g by clients that share nothing", round + 1, fast.curve[k],
                         regret);
        plain_talk(&p, &expert);
    }
    double regret = (cost - best_mixture(truths, d)) / m;
    assert_true(fabs(fast.regret - regret) < 1e-7);
    assert_true(fast.digest == p.result.digest && fast.switches == p.result.switches);
    assert_true(fast.scalars_up == p.result.scalars_up && fast.bytes_down == p.result.bytes_down);
    uint64_t clipped = 0;
    for (uint32_t i = 0; i < m; i++) {
        uint64_t low, high, nan;
        caucus_client_clips(p.client[i], &low, &high, &nan);
        clipped += low + high + nan;
    }
    assert_true(fast.clipped == clipped && fast.nan == 0);
    plain_close(&p);
    caucus_adversary_trial_free(losses);
    caucus_adversary_close(adversary);
    caucus_plan_free(plan);
    return fast;
}

static caucus_settings convex(uint32_t m, uint32_t d, uint32_t rounds, int trees, double epsilon) {
    caucus_settings s = base(CAUCUS_ALGORITHM_STOCH, m, d, rounds);
    s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
    s.trees = trees;
    s.epsilon = epsilon;
    caucus_convex_clamps(d, &s.lipschitz, &s.smoothness);
    return s;
}

static void test_convex(void **state) {
    (void)state;
    for (int trees = 0; trees <= 2; trees++) {
        caucus_settings s = convex(3, 6, 150, trees, 50);
        (void)compare_convex(&s);
        s.trust = CAUCUS_TRUST_NOBODY;
        s.message = CAUCUS_MESSAGE_KNORM;
        (void)compare_convex(&s);
    }
}

/* Every message of trust nobody. A shortlist asks a second time for sums that a vote has made; clients that share
 * their working space must each answer with their own. */
static void test_convex_messages(void **state) {
    (void)state;
    caucus_settings s = convex(5, 6, 1023, 0, 20);
    s.trust = CAUCUS_TRUST_NOBODY;
    for (int message = 0; message < CAUCUS_MESSAGE_COUNT; message++) {
        s.message = (caucus_message)message;
        s.delta = message == CAUCUS_MESSAGE_GAUSS ? 1e-6 : 0;
        caucus_trial_result r = compare_convex(&s);
        print_message("message %d: regret %.6g\n", message, r.regret);
    }
}

/* A tiny .npy of 8-byte or 4-byte floats, clients x rounds x experts. */
static void write_npy(const char *path, bool wide, uint32_t m, uint32_t rounds, uint32_t d, const double *values) {
    char head[118];
    int used = snprintf(head, sizeof head, "{'descr': '<f%d', 'fortran_order': False, 'shape': (%u, %u, %u), }",
                        wide ? 8 : 4, m, rounds, d);
    memset(head + used, ' ', sizeof head - (size_t)used);
    head[sizeof head - 1] = '\n';
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file), 10);
    assert_int_equal(fwrite(head, 1, sizeof head, file), sizeof head);
    for (size_t i = 0; i < (size_t)m * rounds * d; i++) {
        float narrow = (float)values[i];
        size_t bytes = wide ? sizeof values[i] : sizeof narrow;
        assert_int_equal(fwrite(wide ? (const void *)&values[i] : (const void *)&narrow, 1, bytes, file), bytes);
    }
    assert_int_equal(fclose(file), 0);
}

/* NaN counts as the worst loss, values outside the range as its nearest end; every one is counted once, also in rounds
 * after the coordinator has stopped asking. */
static void test_not_a_number(void **state) {
    (void)state;
    enum { M = 3, ROUNDS = 40, D = 4 };
    static double values[M][ROUNDS][D], repaired[M][ROUNDS][D];
    uint64_t nan = 0, outside = 0;
    for (uint32_t i = 0; i < M; i++)
        for (uint32_t t = 0; t < ROUNDS; t++)
            for (uint32_t y = 0; y < D; y++) {
                uint32_t mix = (i * 7919u + t * 104729u + y * 1299709u) % 97u;
                double v = (double)mix / 64 - 0.2; /* -0.2 .. 1.3 */
                bool lost = mix % 11 == 3 || (y == 1 && t % 2);
                values[i][t][y] = lost ? (double)NAN : v;
                repaired[i][t][y] = lost ? 1 : v < 0 ? 0 : v > 1 ? 1 : v;
                nan += lost;
                outside += !lost && (v < 0 || v > 1);
            }
    assert_true(nan > 50 && outside > 50);
    char path[2][64];
    snprintf(path[0], sizeof path[0], "/tmp/caucus-trial-%ld-a.npy", (long)getpid());
    snprintf(path[1], sizeof path[1], "/tmp/caucus-trial-%ld-b.npy", (long)getpid());
    for (int wide = 0; wide < 2; wide++) {
        write_npy(path[0], wide, M, ROUNDS, D, &values[0][0][0]);
        write_npy(path[1], wide, M, ROUNDS, D, &repaired[0][0][0]);
        for (int algorithm = 0; algorithm < CAUCUS_ALGORITHM_COUNT; algorithm++) {
            caucus_settings s = base((caucus_algorithm)algorithm, M, D, ROUNDS);
            caucus_plan *plan = plan_of(&s);
            caucus_trial_result r[2];
            for (int k = 0; k < 2; k++) {
                caucus_adversary_settings a = {.kind = CAUCUS_ADVERSARY_LOSSES, .losses = path[k]};
                caucus_adversary *adversary = adversary_of(&a);
                assert_int_equal(caucus_trial_play(plan, adversary, SEED, 0, NULL, NULL, NULL, &r[k]), CAUCUS_OK);
                caucus_trial_result slow = plain_play(plan, adversary, SEED, 0);
                same_results("npy", &r[k], &slow);
                caucus_adversary_close(adversary);
            }
            if (plan->settings.clients == M) {
                assert_true(r[0].nan == nan && r[0].clipped == nan + outside);
            } else {
                assert_true(r[0].nan > 0 && r[0].clipped > r[0].nan);
            }
            assert_true(r[1].nan == 0 && r[1].clipped == 0);
            r[0].nan = r[0].clipped = 0;
            same_results("repaired", &r[0], &r[1]);
            caucus_plan_free(plan);
        }
    }
    unlink(path[0]);
    unlink(path[1]);
}

/* stop: looked at while a trial goes on; a stopped trial is no result. */
static void stop_now(void *user, uint64_t round, const caucus_announcement *a) {
    (void)a;
    if (round >= 10)
        *(volatile int *)user = 1;
}

static void test_stop(void **state) {
    (void)state;
    caucus_settings s = base(CAUCUS_ALGORITHM_SVT, 4, 8, 100);
    caucus_plan *plan = plan_of(&s);
    caucus_adversary *adversary = open_losses(CAUCUS_ADVERSARY_REALIZABLE, &s);
    caucus_trial_result r;
    volatile int stop = 0;
    assert_int_equal(caucus_trial_play(plan, adversary, SEED, 0, &stop, NULL, NULL, &r), CAUCUS_OK);
    assert_int_equal(caucus_trial_play(plan, adversary, SEED, 0, &stop, stop_now, (void *)&stop, &r), CAUCUS_E_STOPPED);
    assert_int_equal(caucus_trial_play(plan, adversary, SEED, 0, &stop, NULL, NULL, &r), CAUCUS_E_STOPPED);
    caucus_adversary_close(adversary);
    caucus_plan_free(plan);
}

/* Segments that end inside blocks, phases and buffers, and as many as there are rounds; losses that shift and walk. */
static void test_segments(void **state) {
    (void)state;
    static const caucus_algorithm algorithms[] = {CAUCUS_ALGORITHM_SVT, CAUCUS_ALGORITHM_STOCH, CAUCUS_ALGORITHM_HEDGE};
    static const caucus_adversary_kind kinds[] = {CAUCUS_ADVERSARY_SHIFTING, CAUCUS_ADVERSARY_DRIFTING,
                                                  CAUCUS_ADVERSARY_BERNOULLI, CAUCUS_ADVERSARY_CREEPING};
    static const uint64_t segments[] = {1, 2, 5, 7, 300};
    for (size_t a = 0; a < 3; a++)
        for (size_t k = 0; k < 4; k++)
            for (size_t n = 0; n < 5; n++) {
                caucus_settings s = base(algorithms[a], 6, 11, 300);
                s.interval = algorithms[a] == CAUCUS_ALGORITHM_HEDGE ? 7 : 1;
                caucus_adversary_settings of = {.kind = kinds[k],
                                                .seed = SEED,
                                                .clients = 6,
                                                .experts = 11,
                                                .rounds = 300,
                                                .segments = segments[n],
                                                .has_means = true,
                                                .mean_lo = 0.1,
                                                .mean_hi = 0.5,
                                                .spread = n == 2 ? 0.1 : 0,
                                                .drift = 0.02};
                caucus_plan *plan = plan_of(&s);
                caucus_adversary *adversary = adversary_of(&of);
                caucus_trial_result fast = {0};
                assert_int_equal(caucus_trial_play(plan, adversary, SEED, 1, NULL, NULL, NULL, &fast), CAUCUS_OK);
                caucus_trial_result slow = plain_play(plan, adversary, SEED, 1);
                same_results("segments", &fast, &slow);
                if (segments[n] == 1)
                    assert_true(fast.regret_segments == fast.regret);
                else
                    assert_true(fast.regret_segments >= fast.regret);
                caucus_adversary_close(adversary);
                caucus_plan_free(plan);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segments),     cmocka_unit_test(test_svt),
        cmocka_unit_test(test_stoch),        cmocka_unit_test(test_hedge_and_leader),
        cmocka_unit_test(test_large),        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_protocols),    cmocka_unit_test(test_watch_and_digest),
        cmocka_unit_test(test_convex),       cmocka_unit_test(test_convex_messages),
        cmocka_unit_test(test_not_a_number), cmocka_unit_test(test_stop),
    };
    printf("seed %u\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
