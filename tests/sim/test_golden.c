/* test_golden.c: a few trials whose outcome is written down, so that a change of behaviour is seen even where all
 * properties still hold. Losses come from operations that IEEE 754 fixes and decisions from integers, so compiler,
 * optimisation and threads change nothing; only a calibration that rounds otherwise (another C library's log) could.
 *
 * After an intended change:  build/tests/test_golden --print   prints the table again; say in CHANGELOG.md that seeds
 * now give other runs. */
#include "plain_trial.h"

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
    uint32_t switches;
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
    {"leader", A(LEADER), CO, L(BERNOULLI), 3, 20, 300, 3, 1, 0, PLAIN, 20},
};
#define RUNS (sizeof runs / sizeof runs[0])

/* regret, switches, numbers sent up, digest of the experts in force: trial 3 of each seed. */
static const outcome expected[RUNS] = {
    {0x1.9566526666666p+1, 2, 7110, 0x4d2d2f42bd2b2288},  /* svt: 3.16719 */
    {0x1.ebcd2e6666666p+3, 1, 1170, 0x11013ca71218cbbf},  /* svt N=30: 15.3688 */
    {0x1.2p+4, 2, 7110, 0xb543452116f5b4b9},              /* svt paper: 18 */
    {0x1.6p+3, 2, 12600, 0x34f2e8bc7d1cd101},             /* svt vectors: 11 */
    {0x1p+1, 2, 7180, 0x15e902b02693273d},                /* svt delta: 2 */
    {0x1.87f4a45555555p+3, 2, 528, 0xb05f91766b6e4643},   /* svt client-block: 12.2486 */
    {0x1.8p+1, 3, 5490, 0xea9072a5b1c011b3},              /* svt front-load: 3 */
    {0x1.0f9553p+4, 2, 711, 0xde5881c53e45c306},          /* sparse-vector: 16.974 */
    {0x1.aa4ba6ccccccdp+2, 9, 10000, 0xa05a94930e8eac44}, /* stoch: 6.66087 */
    {0x1.5a5b49999999ap+1, 5, 18000, 0x1cdd1b8a9f429dbc}, /* stoch paper: 2.70591 */
    {0x1.7p+2, 5, 2240, 0x0a508a5a6bc763e7},              /* stoch trees: 5.75 */
    {0x1.89c03cp+1, 8, 720, 0xe2a59d6d7207681f},          /* stoch past: 3.07618 */
    {0x1.07987e8p+5, 9, 180, 0x586b89db7cfd2627},         /* limited-updates: 32.9495 */
    {0x1.1e13d08p+3, 8, 1280, 0x1768e176baff4278},        /* paper-local: 8.93992 */
    {0x1.ca4cd8p+1, 3, 180, 0xc1dc0cce48035553},          /* vote: 3.58047 */
    {0x1.e666666666666p+0, 3, 1620, 0x5a47f9fc9aa7e558},  /* shortlist: 1.9 */
    {0x1.1bb102p+2, 5, 5400, 0x8b8fa33c2ac0c693},         /* knorm: 4.43268 */
    {0x1.4b8831ccccccdp+2, 4, 5400, 0xb0488beae3b1d5b7},  /* gauss: 5.18019 */
    {0x1.7p+4, 422, 261632, 0xb5bde45e37e1c3b4},          /* hedge: 23 */
    {0x1p+1, 2, 5940, 0x562a5d8c31aa5faf},                /* leader: 2 */
};

static caucus_settings settings_of(const golden *g) {
    caucus_settings s;
    caucus_settings_init(&s);
    s.algorithm = g->algorithm;
    s.trust = g->trust;
    s.clients = g->clients;
    s.experts = g->experts;
    s.rounds = g->rounds;
    s.interval = g->interval;
    s.epsilon = g->epsilon;
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
    caucus_adversary_free(adversary);
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
        print_error(
            "%s: regret %a, was %a; switches %u, was %u; scalars up %llu, was %llu; digest %016llx, was %016llx\n",
            runs[i].name, got.regret, want.regret, got.switches, want.switches, (unsigned long long)got.scalars_up,
            (unsigned long long)want.scalars_up, (unsigned long long)got.digest, (unsigned long long)want.digest);
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
            printf("    {%a, %u, %llu, 0x%016llx}, /* %s: %.6g */\n", o.regret, o.switches,
                   (unsigned long long)o.scalars_up, (unsigned long long)o.digest, runs[i].name, o.regret);
        }
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden), cmocka_unit_test(test_runs_are_alive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
