/* test_samplers_exhaustive.c: the scalar samplers, compiled with 4-bit words, over every word sequence.
 *
 * The very source files of the library are included here with words of 4 bits from a script. A walk over all
 * scripts up to DEPTH words counts, for each outcome, the exact mass of the scripts that lead to it, and the mass of
 * scripts that are still undecided. The law must then satisfy, for every outcome,
 *     mass <= probability <= mass + undecided,
 * with no statistics involved. A sampler that is biased by as little as one script is caught where the
 * undecided mass is small; the tests demand that it is. */
#include <stdint.h>

#define CAUCUS_WORD_BITS 4
#define CAUCUS_DRAW(stream) script_word(stream)
struct caucus_stream;
static uint64_t script_word(struct caucus_stream *stream);

#define caucus_uniform tiny_uniform
#define caucus_uniform_wide tiny_uniform_wide
#define caucus_bernoulli tiny_bernoulli
#define caucus_bernoulli_wide tiny_bernoulli_wide
#define caucus_bernoulli_exp tiny_bernoulli_exp
#define caucus_bernoulli_exp_wide tiny_bernoulli_exp_wide
#define caucus_bernoulli_exp_unit tiny_bernoulli_exp_unit
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

#include "dp/uniform.c"
/* One file at a time: each has statics of its own. */
#include "dp/bernoulli_exp.c"
#include "dp/gaussian.c"
#include "dp/geometric.c"
#include "dp/knorm.c"
#include "dp/laplace.c"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define WORDS 16 /* values of a word */
#define DEPTH_MAX 7
#define OUTCOMES 256 /* outcomes are counted at index outcome + OUTCOMES/2 */

typedef struct walk {
    int64_t (*sample)(caucus_stream *stream);
    unsigned depth;
    uint64_t mass[OUTCOMES]; /* in units of 16^-depth */
    uint64_t undecided;
} walk;

static uint8_t script[DEPTH_MAX];
static unsigned script_length, script_next;
static jmp_buf script_over;

static uint64_t script_word(struct caucus_stream *stream) {
    (void)stream;
    if (script_next == script_length) {
        longjmp(script_over, 1);
    }
    return script[script_next++];
}

static uint64_t power(unsigned k) {
    return (uint64_t)1 << (4 * k);
}

/* Depth first over prefixes: a prefix either decides the outcome or is extended by each of the 16 words. */
static void visit(walk *w, unsigned length) {
    script_length = length;
    script_next = 0;
    if (setjmp(script_over) == 0) {
        int64_t outcome = w->sample(NULL);
        assert_int_equal(script_next, length); /* shorter scripts were tried before */
        int64_t index = outcome + OUTCOMES / 2;
        assert_in_range(index, 0, OUTCOMES - 1);
        w->mass[index] += power(w->depth - length);
    } else if (length == w->depth) {
        w->undecided++;
    } else {
        for (unsigned value = 0; value < WORDS; value++) {
            script[length] = (uint8_t)value;
            visit(w, length + 1);
        }
    }
}

/* pmf(outcome) in long double; undecided mass at most `limit`. */
static void check(const char *name, int64_t (*sample)(caucus_stream *), unsigned depth, long double limit,
                  long double (*pmf)(int64_t)) {
    static walk w;
    memset(&w, 0, sizeof w);
    w.sample = sample;
    w.depth = depth;
    visit(&w, 0);
    long double unit = 1 / (long double)power(depth), undecided = (long double)w.undecided * unit;
    long double sum = undecided;
    for (int64_t y = -OUTCOMES / 2; y < OUTCOMES / 2; y++) {
        long double mass = (long double)w.mass[y + OUTCOMES / 2] * unit, p = pmf(y);
        sum += mass;
        if (mass > p + 1e-15L || p > mass + undecided + 1e-15L) {
            fail_msg("%s: P(%d) = %.12Lf, counted %.12Lf, undecided %.12Lf", name, (int)y, p, mass, undecided);
        }
    }
    assert_true(sum == 1); /* nothing is lost: masses are multiples of 2^-28 */
    printf("%-24s depth %u, undecided %.6Lf\n", name, depth, undecided);
    assert_true(undecided <= limit);
}

static uint64_t n_now, a_now, b_now; /* parameters of the sampler under test */

static int64_t sample_uniform(caucus_stream *s) { return (int64_t)caucus_uniform(s, n_now); }
static int64_t sample_uniform_wide(caucus_stream *s) { return (int64_t)caucus_uniform_wide(s, n_now); }
static long double pmf_uniform(int64_t y) { return y >= 0 && (uint64_t)y < n_now ? 1.0L / (long double)n_now : 0; }
static int64_t sample_bernoulli(caucus_stream *s) { return caucus_bernoulli(s, a_now, b_now); }
static long double pmf_coin(int64_t y, long double p) { return y == 1 ? p : y == 0 ? 1 - p : 0; }
static long double pmf_bernoulli(int64_t y) { return pmf_coin(y, (long double)a_now / (long double)b_now); }
static int64_t sample_bernoulli_exp(caucus_stream *s) { return caucus_bernoulli_exp(s, a_now, b_now); }
static long double pmf_bernoulli_exp(int64_t y) {
    return pmf_coin(y, expl(-(long double)a_now / (long double)b_now));
}
static caucus_rational parameter(void) { return (caucus_rational){a_now, b_now}; }
static long double ratio_now(void) { return (long double)a_now / (long double)b_now; }
static int64_t sample_geometric(caucus_stream *s) { return caucus_geometric(s, parameter()); }
static long double pmf_geometric(int64_t y) {
    return y < 0 ? 0 : -expm1l(-ratio_now()) * expl(-ratio_now() * (long double)y);
}
static int64_t sample_laplace(caucus_stream *s) { return caucus_laplace(s, parameter()); }
static long double pmf_laplace(int64_t y) {
    return tanhl(ratio_now() / 2) * expl(-ratio_now() * fabsl((long double)y));
}
static int64_t sample_gaussian(caucus_stream *s) { return caucus_gaussian(s, parameter()); }
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
        check("bernoulli_exp", sample_bernoulli_exp, 6, 0.05L, pmf_bernoulli_exp);
    }
}

static void test_geometric_and_laplace(void **state) {
    (void)state;
    with(1, 1);
    check("geometric 1", sample_geometric, 6, 0.05L, pmf_geometric);
    with(2, 1);
    check("geometric 2", sample_geometric, 6, 0.05L, pmf_geometric);
    with(3, 2);
    check("geometric 3/2", sample_geometric, 6, 0.2L, pmf_geometric);
    with(2, 1);
    check("laplace 2", sample_laplace, 6, 0.2L, pmf_laplace);
    with(1, 1);
    check("laplace 1", sample_laplace, 6, 0.2L, pmf_laplace);
}

static void test_gaussian(void **state) {
    (void)state;
    with(1, 4);
    check("gaussian 1/4", sample_gaussian, 6, 0.5L, pmf_gaussian);
    with(2, 3);
    check("gaussian 2/3", sample_gaussian, 6, 0.5L, pmf_gaussian);
}

static void test_knorm(void **state) {
    (void)state;
    with(4, 1);
    check("knorm 4, d = 2", sample_knorm, 7, 0.6L, pmf_knorm);
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
        caucus_u128 rest, d = ((caucus_u128)k << 59) + 77, b = (caucus_u128)1 << 118; /* d^2 = k^2*b + 77k*2^60 + 77^2 */
        assert_int_equal(divide_square(d, b, &rest), k * k);
        assert_true(rest == ((caucus_u128)(77 * k) << 60) + 77 * 77);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniform),       cmocka_unit_test(test_bernoulli),
        cmocka_unit_test(test_bernoulli_exp), cmocka_unit_test(test_geometric_and_laplace),
        cmocka_unit_test(test_gaussian),      cmocka_unit_test(test_knorm),
        cmocka_unit_test(test_divide_square),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
