/* test_exact_svt.c: Fed-SVT as a whole, exactly (docs/PRIVACY.md, "Fed-SVT").
 *
 * For two experts on a grid of two steps: every sequence of block sums, every neighbour, every transcript. The
 * integers come from caucus_plan_make, so calibration, accountant and law are judged together: the largest
 * |ln(P/P')| must not exceed the plan's epsilon. Hand-made parameters with few switches show that the sum
 * eps_AT + sum eta_k is nearly reached. The law is tied to the code by running the mechanism and comparing frequencies. */
#include "exact_svt.h"

typedef struct plan_case {
    const char *what;
    uint32_t clients, rounds, interval;
    double epsilon, rho, lstar;
    caucus_calibration calibration;
    caucus_unit unit;
    bool front_load;
    caucus_algorithm algorithm;
} plan_case;

static const plan_case cases[] = {
    {"tight, m=2 T=4", 2, 4, 1, 1, 0.5, 0, CAUCUS_CALIBRATION_TIGHT, CAUCUS_UNIT_EVENT, false, CAUCUS_ALGORITHM_SVT},
    {"tight, m=2 T=4, epsilon 10", 2, 4, 1, 10, 0.5, 0, CAUCUS_CALIBRATION_TIGHT, CAUCUS_UNIT_EVENT, false, CAUCUS_ALGORITHM_SVT},
    {"tight, m=2 T=4, L*=0.5", 2, 4, 1, 2, 0.5, 0.5, CAUCUS_CALIBRATION_TIGHT, CAUCUS_UNIT_EVENT, false, CAUCUS_ALGORITHM_SVT},
    {"tight, m=1 T=5, epsilon 4", 1, 5, 1, 4, 0.05, 0, CAUCUS_CALIBRATION_TIGHT, CAUCUS_UNIT_EVENT, false, CAUCUS_ALGORITHM_SVT},
    {"tight, m=1 T=8 N=2", 1, 8, 2, 2, 0.5, 0, CAUCUS_CALIBRATION_TIGHT, CAUCUS_UNIT_EVENT, false, CAUCUS_ALGORITHM_SVT},
    {"tight, m=2 T=6 N=2", 2, 6, 2, 2, 0.5, 0, CAUCUS_CALIBRATION_TIGHT, CAUCUS_UNIT_EVENT, false, CAUCUS_ALGORITHM_SVT},
    {"front-load, m=2 T=4", 2, 4, 1, 4, 0.5, 0, CAUCUS_CALIBRATION_TIGHT, CAUCUS_UNIT_EVENT, true, CAUCUS_ALGORITHM_SVT},
    {"client-block, m=2 T=8 N=2", 2, 8, 2, 4, 0.5, 0, CAUCUS_CALIBRATION_TIGHT, CAUCUS_UNIT_CLIENT_BLOCK, false, CAUCUS_ALGORITHM_SVT},
    {"paper, m=2 T=4", 2, 4, 1, 4, 0.05, 0, CAUCUS_CALIBRATION_PAPER, CAUCUS_UNIT_EVENT, false, CAUCUS_ALGORITHM_SVT},
    {"sparse-vector, T=5", 1, 5, 1, 4, 0.05, 0, CAUCUS_CALIBRATION_TIGHT, CAUCUS_UNIT_EVENT, false, CAUCUS_ALGORITHM_SPARSE_VECTOR},
};

static caucus_plan *case_plan(const plan_case *c) {
    caucus_settings s;
    exact_settings(&s, c->algorithm, CAUCUS_TRUST_COORDINATOR, c->epsilon);
    s.clients = c->clients;
    s.rounds = c->rounds;
    s.interval = c->interval;
    s.rho = c->rho;
    s.lstar = c->lstar;
    s.calibration = c->calibration;
    s.unit = c->unit;
    s.front_load = c->front_load;
    return exact_plan(&s);
}

/* What a plan really spends here: with fewer checks than selections allowed, the rest of its budget cannot be reached. */
static long double reachable(const exact_svt *svt) {
    long double at = fmaxl(exact_rate(svt->threshold_noise.parameter), exact_rate(svt->check_noise.parameter)), sum = 0;
    for (uint32_t k = 0; k < svt->switches; k++) {
        sum += 2 * exact_rate(svt->select_rate[k]);
    }
    return (at + sum) * (long double)svt->move;
}

static void test_plans(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        caucus_plan *plan = case_plan(&cases[i]);
        exact_svt svt;
        exact_svt_from_plan(&svt, plan);
        exact_svt_build(&svt);
        long double measured = exact_svt_epsilon(&svt), bound = reachable(&svt);
        exact_assert(cases[i].what, measured, (long double)plan->guarantee.epsilon_choices, 0);
        assert_true(measured <= (long double)cases[i].epsilon + EXACT_SLACK);
        assert_true(bound <= (long double)plan->guarantee.epsilon_choices + EXACT_SLACK);
        exact_assert("  against what this many checks can reach", measured, bound, 0.5L);
        exact_svt_free(&svt);
        caucus_plan_free(plan);
    }
}

/* Parameters by hand: few switches and strong selections, so that every part of the sum is paid in one transcript. */
static void handmade(exact_svt *svt, uint32_t clients, uint32_t checks, uint32_t switches, caucus_noise_kind kind) {
    memset(svt, 0, sizeof *svt);
    svt->checks = checks;
    svt->switches = switches;
    svt->threshold_noise = svt->check_noise = (caucus_noise){kind, caucus_rational_make(1, 4)}; /* eps_AT = 1/2 */
    for (uint32_t k = 0; k < switches; k++) {
        svt->threshold[k] = 3 + (int64_t)k;
        svt->select_rate[k] = caucus_rational_make(1, 1 + k); /* eta = 4, 2 */
    }
    svt->top = 2 * (int64_t)clients;
    svt->move = 2;
}

static void test_sum_is_nearly_reached(void **state) {
    (void)state;
    for (uint32_t switches = 1; switches <= 2; switches++) {
        for (int laplace = 0; laplace < 2; laplace++) {
            exact_svt svt;
            handmade(&svt, 2, 3, switches, laplace ? CAUCUS_NOISE_LAPLACE : CAUCUS_NOISE_GEOMETRIC);
            exact_svt_build(&svt);
            char what[64];
            snprintf(what, sizeof what, "by hand, kappa=%u, %s", switches, laplace ? "laplace" : "geometric");
            exact_assert(what, exact_svt_epsilon(&svt), reachable(&svt), 0.93L);
            exact_svt_free(&svt);
        }
    }
}

/* One run of the mechanism on given block sums, as the coordinator does it; returns the transcript's number. */
static uint32_t run_mechanism(const exact_svt *svt, int64_t sum[][2], const caucus_key *key, uint32_t trial) {
    caucus_stream stream;
    caucus_threshold at;
    int64_t cum[2] = {0, 0};
    uint32_t symbol[SVT_CHECKS_MAX], k = 0;
    memset(&at, 0, sizeof at);
    caucus_stream_open(&stream, key, CAUCUS_PURPOSE_TEST, 0, trial, 0);
    uint32_t first = (uint32_t)caucus_uniform(&stream, 2), x = first;
    caucus_threshold_open(&at, k, x, svt->threshold[k], &svt->threshold_noise, &stream);
    for (uint32_t n = 0; n < svt->checks; n++) {
        bool fired = false;
        symbol[n] = SVT_KEEP;
        cum[0] += sum[n][0];
        cum[1] += sum[n][1];
        if (k == svt->switches) {
            continue;
        }
        assert_int_equal(caucus_threshold_add(&at, k, x, sum[n][x]), CAUCUS_OK);
        assert_int_equal(caucus_threshold_check(&at, &svt->check_noise, &stream, &fired), CAUCUS_OK);
        if (fired) {
            int64_t score[2];
            for (uint32_t y = 0; y < 2; y++) {
                score[y] = cum[y] > svt->score_floor ? cum[y] : svt->score_floor;
            }
            symbol[n] = x = caucus_select_exponential(&stream, score, 2, svt->select_rate[k]);
            if (++k < svt->switches) {
                caucus_threshold_open(&at, k, x, svt->threshold[k], &svt->threshold_noise, &stream);
            }
        }
    }
    return svt_transcript_number(svt, first, symbol);
}

/* n = 2e5 runs, false-alarm rate 1e-6 each, seed fixed. */
static void test_code_follows_the_law(void **state) {
    (void)state;
    const uint64_t seed = 7300, n = 200000;
    caucus_key key;
    caucus_key_from_seed(seed, &key);
    for (uint32_t laplace = 0; laplace < 2; laplace++) {
        exact_svt svt;
        handmade(&svt, 2, 3, 2, laplace ? CAUCUS_NOISE_LAPLACE : CAUCUS_NOISE_GEOMETRIC);
        exact_svt_build(&svt);
        uint64_t count[64] = {0};
        long double law[64];
        uint32_t sequence = 7919 + 3000 * laplace;
        int64_t sum[SVT_CHECKS_MAX][2];
        assert_true(svt.transcripts <= 64 && sequence < svt.sequences);
        svt_sums(&svt, sequence, sum);
        for (uint32_t t = 0; t < svt.transcripts; t++) {
            law[t] = expl(svt.law[(size_t)sequence * svt.transcripts + t]);
        }
        for (uint32_t i = 0; i < n; i++) {
            count[run_mechanism(&svt, sum, &key, i + laplace * (uint32_t)n)]++;
        }
        double p = exact_chi2(count, law, svt.transcripts, n);
        printf("  %s: p = %.4f (seed %llu)\n", laplace ? "laplace" : "geometric", p, (unsigned long long)seed);
        assert_true(p > EXACT_P_VALUE);
        exact_svt_free(&svt);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_sum_is_nearly_reached),
        cmocka_unit_test(test_code_follows_the_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
