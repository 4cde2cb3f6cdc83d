/* SPDX-License-Identifier: Apache-2.0 */
/* test_golden.c: a few trials whose outcome is written down, so that a change of behaviour is seen even where all
 * properties still hold. Losses come from operations that IEEE 754 fixes and decisions from integers, so compiler,
 * optimisation and threads change nothing; only a calibration that rounds otherwise (another C library's log) could.
 *
 * After an intended change:  build/tests/test_golden --print   prints the table again; say in CHANGELOG.md that seeds
 * now give other runs. */
#include "sim/plain_trial.h"
#include "testing_settings.h"

#include <inttypes.h>

typedef struct golden {
    const char *name;
    caucus_algorithm algorithm;
    caucus_trust trust;
    caucus_adversary_kind adversary;
    uint32_t clients, experts, rounds, interval;
    double epsilon, delta;
    int option; /* what else: see settings_of */
    uint64_t seed;
} golden;

typedef struct outcome {
    double regret;
    uint64_t switches;
    uint64_t scalars_up, digest;
} outcome;

enum { PLAIN, PAPER, PROTOCOL, BLOCK, FRONT, TREES, VOTE, SHORTLIST, KNORM, GAUSS, PAST };

#define CO CAUCUS_TRUST_COORDINATOR
#define NO CAUCUS_TRUST_NOBODY
#define PL CAUCUS_TRUST_PAPER_LOCAL
#define A(name) CAUCUS_ALGORITHM_##name
#define L(name) CAUCUS_ADVERSARY_##name

static const golden runs[] = {
    {"svt", A(SVT), CO, L(REALIZABLE), 10, 100, 512, 1, 10, 0, PLAIN, 1},
    {"svt N=30", A(SVT), CO, L(REALIZABLE), 10, 100, 512, 30, 10, 0, PLAIN, 2},
    {"svt paper", A(SVT), CO, L(CREEPING), 10, 100, 512, 1, 10, 0, PAPER, 3},
    {"svt vectors", A(SVT), CO, L(HALVING), 10, 30, 300, 7, 5, 0, PROTOCOL, 4},
    {"svt delta", A(SVT), CO, L(CREEPING), 20, 30, 300, 1, 5, 1e-6, PLAIN, 5},
    {"svt client-block", A(SVT), CO, L(GAUSSIAN), 6, 12, 200, 7, 8, 0, BLOCK, 6},
    {"svt front-load", A(SVT), CO, L(CREEPING), 10, 50, 400, 1, 8, 0, FRONT, 7},
    {"sparse-vector", A(SPARSE_VECTOR), CO, L(REALIZABLE), 10, 100, 512, 1, 10, 0, PLAIN, 8},
    {"stoch", A(STOCH), CO, L(GAUSSIAN), 10, 100, 1024, 1, 1, 0, PLAIN, 9},
    {"stoch paper", A(STOCH), CO, L(GAUSSIAN), 10, 100, 1024, 1, 10, 0, PAPER, 10},
    {"stoch trees", A(STOCH), CO, L(BERNOULLI), 4, 20, 511, 1, 10, 0, TREES, 11},
    {"stoch past", A(STOCH), CO, L(CROSS_ENTROPY), 4, 20, 512, 1, 1, 0, PAST, 12},
    {"limited-updates", A(LIMITED_UPDATES), CO, L(GAUSSIAN), 4, 20, 513, 1, 2, 0, PLAIN, 13},
    {"paper-local", A(STOCH), PL, L(GAUSSIAN), 4, 20, 512, 1, 10, 0, PAPER, 14},
    {"vote", A(STOCH), NO, L(GAUSSIAN), 20, 30, 512, 1, 2, 0, VOTE, 15},
    {"shortlist", A(STOCH), NO, L(BERNOULLI), 20, 30, 512, 1, 4, 0, SHORTLIST, 16},
    {"knorm", A(STOCH), NO, L(GAUSSIAN), 20, 30, 512, 1, 4, 0, KNORM, 17},
    {"gauss", A(STOCH), NO, L(GAUSSIAN), 20, 30, 512, 1, 4, 1e-6, GAUSS, 18},
    {"hedge", A(HEDGE), CO, L(LOWER_BOUND_OBLIVIOUS), 16, 32, 512, 1, 10, 1e-6, PLAIN, 19},
    {"leader", A(LEADER), CO, L(BERNOULLI), 3, 20, 300, 3, 1, 0, PLAIN, 21},
};
#define RUNS (sizeof runs / sizeof runs[0])

/* regret, switches, numbers sent up, digest of the experts in force: trial 3 of each seed. */
static const outcome expected[RUNS] = {
    {0x1.65417cp+1, 2, 7110, 0x7108887b1bfdeef0},         /* svt: 2.79106 */
    {0x1.bf9c91ccccccdp+3, 1, 1170, 0xf62321dc6d31ec73},  /* svt N=30: 13.9879 */
    {0x1.2p+4, 2, 7110, 0xde14c17973a80425},              /* svt paper: 18 */
    {0x1.8p+3, 3, 12600, 0x1a2ad94fbd98ccd0},             /* svt vectors: 12 */
    {0x1p+0, 1, 6580, 0xbd66fa5c4a56e1eb},                /* svt delta: 1 */
    {0x1.31ac94aaaaaabp+3, 2, 528, 0x0ab266ccad53440a},   /* svt client-block: 9.55232 */
    {0x1p+1, 2, 4990, 0x0a141637e84440f1},                /* svt front-load: 2 */
    {0x1.b240f2p+4, 3, 811, 0x94f53295947d5c15},          /* sparse-vector: 27.1409 */
    {0x1.8b8036p+2, 9, 10000, 0x783b47b086537bae},        /* stoch: 6.1797 */
    {0x1.ba667p+0, 5, 18000, 0xde88f66b82480029},         /* stoch paper: 1.72813 */
    {0x1.fp+2, 8, 2240, 0x54643fb4ecb4aefd},              /* stoch trees: 7.75 */
    {0x1.0538b8p+1, 7, 720, 0xbe3596096045a218},          /* stoch past: 2.04079 */
    {0x1.a3145cp+4, 9, 180, 0x0272bdc5d5c9ef07},          /* limited-updates: 26.1925 */
    {0x1.7a4bb1p+2, 8, 1280, 0xb861045dfbd26ff4},         /* paper-local: 5.91087 */
    {0x1.19b426ccccccdp+1, 4, 180, 0xf2e10c3d435a27c8},   /* vote: 2.20081 */
    {0x1.d99999999999ap+1, 5, 1620, 0x83aa50b8a8f450c7},  /* shortlist: 3.7 */
    {0x1.3a7d4f3333333p+2, 5, 5400, 0x605fe5b96175ba8e},  /* knorm: 4.9139 */
    {0x1.3797e0999999ap+2, 4, 5400, 0xf76ab75bd51f981d},  /* gauss: 4.86864 */
    {0x1.cp+4, 434, 261632, 0xa43455da46e467c8},          /* hedge: 28 */
    {0x1.6aaaaaaaaaaabp+2, 11, 5940, 0xb3f2f4ce04ccdd37}, /* leader: 5.66667 */
};

static caucus_settings settings_of(const golden *g) {
    caucus_settings s = testing_settings(g->algorithm, g->trust, g->clients, g->experts, g->rounds, g->epsilon);
    s.interval = g->interval;
    s.delta = g->delta;
    s.calibration = g->option == PAPER ? CAUCUS_CALIBRATION_PAPER : CAUCUS_CALIBRATION_TIGHT;
    s.protocol = g->option == PROTOCOL ? CAUCUS_PROTOCOL_PAPER : CAUCUS_PROTOCOL_TWO_STEP;
    s.unit = g->option == BLOCK ? CAUCUS_UNIT_CLIENT_BLOCK : CAUCUS_UNIT_EVENT;
    s.front_load = g->option == FRONT;
    s.past_phases = g->option == PAST;
    s.trees = g->option == TREES ? 2 : CAUCUS_TREES_AUTO;
    s.message = g->option == VOTE        ? CAUCUS_MESSAGE_VOTE
                : g->option == SHORTLIST ? CAUCUS_MESSAGE_SHORTLIST
                : g->option == KNORM     ? CAUCUS_MESSAGE_KNORM
                : g->option == GAUSS     ? CAUCUS_MESSAGE_GAUSS
                                         : CAUCUS_MESSAGE_AUTO;
    return s;
}

static outcome play(const golden *g) {
    caucus_settings s = settings_of(g);
    caucus_plan *plan = plan_of(&s);
    caucus_adversary_settings a = {
        .kind = g->adversary, .seed = g->seed, .clients = g->clients, .experts = g->experts, .rounds = g->rounds};
    caucus_adversary *adversary = adversary_of(&a);
    caucus_trial_result r = {0};
    assert_int_equal(caucus_trial_play(plan, adversary, g->seed, 3, NULL, NULL, NULL, &r), CAUCUS_OK);
    caucus_adversary_close(adversary);
    caucus_plan_free(plan);
    return (outcome){r.regret, r.switches, r.scalars_up, r.digest};
}

static void test_golden(void **state) {
    (void)state;
    int changed = 0;
    for (size_t i = 0; i < RUNS; i++) {
        outcome got = play(&runs[i]), want = expected[i];
        if (got.regret == want.regret && got.switches == want.switches && got.scalars_up == want.scalars_up &&
            got.digest == want.digest)
            continue;
        changed++;
        print_error("%s: regret %a, was %a; switches %" PRIu64 ", was %" PRIu64
                    "; scalars up %llu, was %llu; digest %016llx, was %016llx\n",
                    runs[i].name, got.regret, want.regret, got.switches, want.switches,
                    (unsigned long long)got.scalars_up, (unsigned long long)want.scalars_up,
                    (unsigned long long)got.digest, (unsigned long long)want.digest);
    }
    assert_int_equal(changed, 0);
}

/* A frozen run says little if nothing happens in it. */
static void test_runs_are_alive(void **state) {
    (void)state;
    for (size_t i = 0; i < RUNS; i++) {
        assert_true(expected[i].regret > 0 && expected[i].scalars_up > 0 && expected[i].switches > 0);
        for (size_t j = 0; j < i; j++)
            assert_true(expected[i].digest != expected[j].digest);
    }
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--print") == 0) {
        for (size_t i = 0; i < RUNS; i++) {
            outcome o = play(&runs[i]);
            printf("    {%a, %" PRIu64 ", %llu, 0x%016llx}, /* %s: %.6g */\n", o.regret, o.switches,
                   (unsigned long long)o.scalars_up, (unsigned long long)o.digest, runs[i].name, o.regret);
        }
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden), cmocka_unit_test(test_runs_are_alive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
