/* SPDX-License-Identifier: Apache-2.0 */
/* test_samplers_exhaustive.c: the scalar samplers over every sequence of random choices, no statistics involved
 * (docs/PRIVACY.md, statement 3).
 *
 * The very source files of the library are included here, compiled with words of 4 bits from a script. A walk over all
 * scripts up to some depth adds up, for each outcome, the exact mass of the scripts that lead to it, and the mass of
 * those still undecided. The law must then satisfy, for every outcome,
 *     mass <= probability <= mass + undecided.
 * Samplers that reject a lot leave much undecided at any affordable depth of words. They are walked a second time one
 * level up, where a choice is a whole uniform(n), a coin a/b or (above the coin's own test) a coin e^(-a/b), all
 * proved exact before, down to branches of weight 10^-6: there the undecided mass is small. */
#include <stdint.h>

#define CAUCUS_WORD_BITS 4
#define CAUCUS_DRAW(stream) script_word(stream)
struct caucus_stream;
static uint64_t script_word(struct caucus_stream *stream);

#define caucus_bernoulli_exp tiny_bernoulli_exp
#define caucus_bernoulli_exp_wide series_bernoulli_exp_wide
#define caucus_bernoulli_exp_unit series_bernoulli_exp_unit
#define caucus_geometric tiny_geometric
#define caucus_geometric_log_pmf tiny_geometric_log_pmf
#define caucus_laplace tiny_laplace
#define caucus_laplace_log_pmf tiny_laplace_log_pmf
#define caucus_gaussian tiny_gaussian
#define caucus_gaussian_log_pmf tiny_gaussian_log_pmf
#define caucus_gaussian_prepare tiny_gaussian_prepare
#define caucus_gaussian_distance tiny_gaussian_distance
#define caucus_gaussian_accept tiny_gaussian_accept
#define caucus_knorm tiny_knorm
#define caucus_knorm_accept tiny_knorm_accept
#define caucus_knorm_log_weight tiny_knorm_log_weight
#define caucus_uniform word_uniform
#define caucus_uniform_wide word_uniform_wide
#define caucus_bernoulli word_bernoulli
#define caucus_bernoulli_wide word_bernoulli_wide
#include "dp/uniform.c"
#undef caucus_uniform
#undef caucus_uniform_wide
#undef caucus_bernoulli
#undef caucus_bernoulli_wide

/* Everything above the uniform draws calls these, which read words or whole choices as the walk demands. */
#define caucus_uniform any_uniform
#define caucus_bernoulli any_bernoulli
#define caucus_bernoulli_wide any_bernoulli_wide
static uint64_t any_uniform(caucus_stream *stream, uint64_t n);
static bool any_bernoulli(caucus_stream *stream, uint64_t a, uint64_t b);
static bool any_bernoulli_wide(caucus_stream *stream, caucus_u128 a, caucus_u128 b);

#include "dp/bernoulli_exp.c"
#undef caucus_bernoulli_exp_wide
#undef caucus_bernoulli_exp_unit
#define caucus_bernoulli_exp_wide any_bernoulli_exp
#define caucus_bernoulli_exp_unit any_bernoulli_exp
static bool any_bernoulli_exp(caucus_stream *stream, caucus_u128 a, caucus_u128 b);
#include "dp/gaussian.c"
#include "dp/geometric.c"
#include "dp/knorm.c"
#include "dp/laplace.c"
#include "dp/laws.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define WORD_VALUES 16
#define DEPTH_MAX 200
#define OUTCOMES 256 /* outcomes are counted at index outcome + OUTCOMES/2 */

typedef struct walk {
    int64_t (*sample)(caucus_stream *stream);
    int depth; /* words allowed; or CHOICES, COINS: down to least_weight */
    long double mass[OUTCOMES], undecided;
} walk;

enum { CHOICES = 0, COINS = -1 }; /* a choice is a uniform or a coin a/b; also a coin e^(-a/b) */
static bool whole_choices, whole_coins;
static long double least_weight = 1e-6L;
static uint64_t script[DEPTH_MAX];
static unsigned script_length, script_next;
static jmp_buf script_over;
static uint64_t open_choices;  /* when a script is over: the number of ways to go on ... */
static long double open_heads; /* ... and if there are 2, the probability of 1 */

static uint64_t choose(uint64_t choices, long double heads) {
    if (script_next == script_length) {
        open_choices = choices;
        open_heads = heads;
        longjmp(script_over, 1);
    }
    return script[script_next++];
}

static uint64_t script_word(struct caucus_stream *stream) {
    (void)stream;
    return choose(WORD_VALUES, -1);
}

static uint64_t any_uniform(caucus_stream *stream, uint64_t n) {
    return !whole_choices ? word_uniform(stream, n) : n == 1 ? 0 : choose(n, -1);
}

static bool any_bernoulli_wide(caucus_stream *stream, caucus_u128 a, caucus_u128 b) {
    if (!whole_choices) {
        return word_bernoulli_wide(stream, a, b);
    }
    return a == 0 ? false : a == b ? true : choose(2, (long double)a / (long double)b) == 1;
}

static bool any_bernoulli(caucus_stream *stream, uint64_t a, uint64_t b) {
    return any_bernoulli_wide(stream, a, b);
}

static bool any_bernoulli_exp(caucus_stream *stream, caucus_u128 a, caucus_u128 b) {
    if (whole_coins) {
        return a == 0 || choose(2, expl(-(long double)a / (long double)b)) == 1;
    }
    return series_bernoulli_exp_wide(stream, a, b);
}

/* Depth first over prefixes: a prefix either decides the outcome or is extended by every choice. */
static void visit(walk *w, unsigned length, long double weight) {
    script_length = length;
    script_next = 0;
    if (setjmp(script_over) == 0) {
        int64_t outcome = w->sample(NULL);
        assert_int_equal(script_next, length); /* shorter scripts were tried before */
        assert_true(outcome >= -OUTCOMES / 2 && outcome < OUTCOMES / 2);
        w->mass[outcome + OUTCOMES / 2] += weight;
    } else if (w->depth > 0 ? (int)length == w->depth : weight < least_weight || length == DEPTH_MAX) {
        w->undecided += weight;
    } else {
        uint64_t choices = open_choices;
        long double heads = open_heads;
        for (uint64_t value = 0; value < choices; value++) {
            script[length] = value;
            long double p = heads < 0 ? 1 / (long double)choices : value == 1 ? heads : 1 - heads;
            visit(w, length + 1, weight * p);
        }
    }
}

/* pmf(outcome) in long double; undecided mass at most `limit`. Masses of words are sums of multiples of 2^-28, exact in
 * long double; those of whole choices are rounded at 2^-64 each, far below the 1e-12 allowed. */
static void check(const char *name, int64_t (*sample)(caucus_stream *), int depth, long double limit,
                  long double (*pmf)(int64_t)) {
    static walk w;
    memset(&w, 0, sizeof w);
    w.sample = sample;
    w.depth = depth;
    whole_choices = depth <= 0;
    whole_coins = depth == COINS;
    visit(&w, 0, 1);
    long double sum = w.undecided, slack = depth > 0 ? 1e-15L : 1e-12L;
    for (int64_t y = -OUTCOMES / 2; y < OUTCOMES / 2; y++) {
        long double mass = w.mass[y + OUTCOMES / 2], p = pmf(y);
        sum += mass;
        if (mass > p + slack || p > mass + w.undecided + slack) {
            fail_msg("%s: P(%d) = %.12Lf, counted %.12Lf, undecided %.12Lf", name, (int)y, p, mass, w.undecided);
        }
    }
    assert_true(fabsl(sum - 1) <= slack); /* nothing is lost */
    if (w.undecided > limit) {
        fail_msg("%s, depth %d: undecided %.6Lf, more than %.6Lf", name, depth, w.undecided, limit);
    }
}

static uint64_t n_now, a_now, b_now; /* parameters of the sampler under test */

static int64_t sample_uniform(caucus_stream *s) {
    return (int64_t)word_uniform(s, n_now);
}
static int64_t sample_uniform_wide(caucus_stream *s) {
    return (int64_t)word_uniform_wide(s, n_now);
}
static long double pmf_uniform(int64_t y) {
    return y >= 0 && (uint64_t)y < n_now ? 1.0L / (long double)n_now : 0;
}
static int64_t sample_bernoulli(caucus_stream *s) {
    return word_bernoulli(s, a_now, b_now);
}
static long double pmf_coin(int64_t y, long double p) {
    return y == 1 ? p : y == 0 ? 1 - p : 0;
}
static long double pmf_bernoulli(int64_t y) {
    return pmf_coin(y, (long double)a_now / (long double)b_now);
}
static int64_t sample_bernoulli_exp(caucus_stream *s) {
    return caucus_bernoulli_exp(s, a_now, b_now);
}
static long double pmf_bernoulli_exp(int64_t y) {
    return pmf_coin(y, expl(-(long double)a_now / (long double)b_now));
}
static caucus_rational parameter(void) {
    return (caucus_rational){a_now, b_now};
}
static long double ratio_now(void) {
    return (long double)a_now / (long double)b_now;
}
static int64_t sample_geometric(caucus_stream *s) {
    return caucus_geometric(s, parameter());
}
static long double pmf_geometric(int64_t y) {
    return y < 0 ? 0 : -expm1l(-ratio_now()) * expl(-ratio_now() * (long double)y);
}
static int64_t sample_laplace(caucus_stream *s) {
    return caucus_laplace(s, parameter());
}
static long double pmf_laplace(int64_t y) {
    return tanhl(ratio_now() / 2) * expl(-ratio_now() * fabsl((long double)y));
}
static int64_t sample_gaussian(caucus_stream *s) {
    return caucus_gaussian(s, parameter());
}
static long double pmf_gaussian(int64_t y) {
    long double sum = 0, v = ratio_now();
    for (int64_t x = -100; x <= 100; x++) {
        sum += expl(-(long double)(x * x) / (2 * v));
    }
    return expl(-(long double)(y * y) / (2 * v)) / sum;
}
/* K-norm in dimension 2, a vector packed as 11*z1 + z2 while both are within -5..5. */
static int64_t sample_knorm(caucus_stream *s) {
    int64_t z[2];
    caucus_knorm(s, parameter(), z, 2);
    bool small = z[0] >= -5 && z[0] <= 5 && z[1] >= -5 && z[1] <= 5;
    return small ? 11 * z[0] + z[1] : OUTCOMES / 2 - 1;
}
static long double pmf_knorm(int64_t y) {
    long double r = ratio_now(), total = 0, inside = 0;
    for (int64_t m = 0; m < 200; m++) { /* 8m vectors have max norm m >= 1 */
        long double shell = (m == 0 ? 1 : 8 * (long double)m) * expl(-r * (long double)m);
        total += shell;
        inside += m <= 5 ? shell : 0;
    }
    if (y == OUTCOMES / 2 - 1) {
        return 1 - inside / total;
    }
    if (y < -60 || y > 60) {
        return 0;
    }
    int64_t z1 = (y + 60) / 11 - 5, z2 = (y + 60) % 11 - 5;
    int64_t norm = llabs(z1) > llabs(z2) ? llabs(z1) : llabs(z2);
    return expl(-r * (long double)norm) / total;
}

static void test_uniform(void **state) {
    (void)state;
    for (n_now = 1; n_now <= 100; n_now++) { /* one word below 16, two and more above */
        check("uniform", sample_uniform, n_now < 16 ? 4 : 5, n_now < 16 ? 0.05L : 0.3L, pmf_uniform);
    }
    n_now = 37;
    check("uniform_wide", sample_uniform_wide, 5, 0.3L, pmf_uniform);
}

static void test_bernoulli(void **state) {
    (void)state;
    for (b_now = 1; b_now <= 20; b_now++) {
        for (a_now = 0; a_now <= b_now; a_now++) {
            check("bernoulli", sample_bernoulli, 5, 0.3L, pmf_bernoulli);
        }
    }
}

static void with(uint64_t a, uint64_t b) {
    a_now = a;
    b_now = b;
}

static void test_bernoulli_exp(void **state) {
    (void)state;
    static const uint64_t pairs[][2] = {{0, 1}, {1, 1}, {1, 2}, {2, 3}, {5, 7}, {3, 2}, {7, 3}, {9, 5}, {1, 20}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        with(pairs[i][0], pairs[i][1]);
        check("bernoulli_exp", sample_bernoulli_exp, 6, 0.15L, pmf_bernoulli_exp);
        check("bernoulli_exp", sample_bernoulli_exp, CHOICES, 1e-4L, pmf_bernoulli_exp);
    }
}

static void test_geometric(void **state) {
    (void)state;
    static const uint64_t rates[][2] = {{1, 1}, {2, 1}, {3, 2}, {1, 3}, {5, 7}};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        with(rates[i][0], rates[i][1]);
        check("geometric", sample_geometric, 5, 0.75L, pmf_geometric);
        check("geometric", sample_geometric, CHOICES, 0.03L, pmf_geometric);
    }
}

static void test_laplace(void **state) {
    (void)state;
    static const uint64_t rates[][2] = {{1, 1}, {2, 1}, {3, 2}, {1, 3}};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        with(rates[i][0], rates[i][1]);
        check("laplace", sample_laplace, 5, 0.95L, pmf_laplace);
        check("laplace", sample_laplace, CHOICES, 0.1L, pmf_laplace);
    }
}

static void test_gaussian(void **state) {
    (void)state;
    static const uint64_t variances[][2] = {{1, 4}, {1, 1}, {2, 3}, {9, 2}};
    for (size_t i = 0; i < sizeof variances / sizeof *variances; i++) {
        with(variances[i][0], variances[i][1]);
        check("gaussian", sample_gaussian, COINS, 0.15L, pmf_gaussian);
    }
    with(1, 4);
    check("gaussian", sample_gaussian, 6, 0.7L, pmf_gaussian);
}

static void test_knorm(void **state) {
    (void)state;
    with(2, 1);
    least_weight = 1e-7L;
    check("knorm, d = 2", sample_knorm, COINS, 0.6L, pmf_knorm);
    least_weight = 1e-6L;
}

/* The division of a square too wide for 128 bits, which no run reaches by chance: against squares that
 * are known, d = x*b + y with d^2 = (x^2*b + 2xy)*b + y^2. */
static void test_divide_square(void **state) {
    (void)state;
    for (uint64_t x = 0; x < 30; x++) {
        for (unsigned shift = 20; shift < 114; shift += 3) {
            caucus_u128 b = ((caucus_u128)1 << shift) + 12345, y = 6789 % b, rest;
            caucus_u128 k = x * x * b + 2 * x * y + y * y / b;
            unsigned coins = divide_square(x * b + y, b, &rest);
            assert_true(rest == y * y % b);
            assert_int_equal(coins, k > COINS_LIMIT ? COINS_LIMIT : (unsigned)k);
        }
    }
    for (unsigned k = 1; k < 32; k++) {
        caucus_u128 rest, d = ((caucus_u128)k << 59) + 77,
                          b = (caucus_u128)1 << 118; /* d^2 = k^2*b + 77k*2^60 + 77^2 */
        assert_int_equal(divide_square(d, b, &rest), k * k);
        assert_true(rest == ((caucus_u128)(77 * k) << 60) + 77 * 77);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniform),   cmocka_unit_test(test_bernoulli),     cmocka_unit_test(test_bernoulli_exp),
        cmocka_unit_test(test_geometric), cmocka_unit_test(test_laplace),       cmocka_unit_test(test_gaussian),
        cmocka_unit_test(test_knorm),     cmocka_unit_test(test_divide_square),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
