/* SPDX-License-Identifier: Apache-2.0 */
/* Above-threshold: what lemma AT needs is refused or reset by construction; and the noise a plan names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <caucus/threshold.h>

#include <stdlib.h>
#include <string.h>

#define SEED 7
static const caucus_noise quiet = {CAUCUS_NOISE_NONE, {0, 1}};

static caucus_stream open_stream(uint32_t lane) {
    caucus_key key;
    caucus_stream stream;
    caucus_key_from_seed(SEED, &key);
    caucus_stream_init(&stream, &key, CAUCUS_PURPOSE_TEST, 1, 0, lane);
    return stream;
}

static void the_test_is_strict(void **state) {
    (void)state;
    caucus_stream s = open_stream(0);
    caucus_threshold at = {0};
    bool fired = true;
    caucus_threshold_begin(&at, 1, 4, 10, &quiet, &s);
    assert_int_equal(caucus_threshold_add(&at, 1, 4, 10), CAUCUS_OK);
    assert_int_equal(caucus_threshold_check(&at, &quiet, &s, &fired), CAUCUS_OK);
    assert_false(fired); /* 10 > 10 is false */
    assert_int_equal(caucus_threshold_add(&at, 1, 4, 1), CAUCUS_OK);
    assert_int_equal(caucus_threshold_check(&at, &quiet, &s, &fired), CAUCUS_OK);
    assert_true(fired);
    assert_int_equal(at.checks, 2);
}

static void firing_closes_the_epoch(void **state) {
    (void)state;
    caucus_stream s = open_stream(1);
    caucus_threshold at = {0};
    bool fired = false;
    assert_int_equal(caucus_threshold_check(&at, &quiet, &s, &fired), CAUCUS_E_ORDER); /* none open yet */
    assert_int_equal(caucus_threshold_add(&at, 0, 0, 1), CAUCUS_E_ORDER);
    caucus_threshold_begin(&at, 1, 4, -1, &quiet, &s);
    assert_int_equal(caucus_threshold_check(&at, &quiet, &s, &fired), CAUCUS_OK);
    assert_true(fired);
    fired = false;
    assert_int_equal(caucus_threshold_check(&at, &quiet, &s, &fired), CAUCUS_E_ORDER);
    assert_false(fired); /* not written */
    assert_int_equal(caucus_threshold_add(&at, 1, 4, 1), CAUCUS_E_ORDER);
}

static void another_expert_or_epoch_is_refused(void **state) {
    (void)state;
    caucus_stream s = open_stream(2);
    caucus_threshold at = {0};
    caucus_threshold_begin(&at, 3, 4, 100, &quiet, &s);
    assert_int_equal(caucus_threshold_add(&at, 3, 5, 50), CAUCUS_E_ORDER);
    assert_int_equal(caucus_threshold_add(&at, 2, 4, 50), CAUCUS_E_ORDER);
    assert_int_equal(caucus_threshold_add(&at, 4, 4, 50), CAUCUS_E_ORDER);
    assert_true(at.q == 0);
    assert_int_equal(caucus_threshold_add(&at, 3, 4, 50), CAUCUS_OK);
    assert_true(at.q == 50);
    caucus_threshold_begin(&at, 4, 5, 100, &quiet, &s);
    assert_true(at.q == 0 && at.open && at.checks == 0 && at.theta == 100);
}

/* theta is drawn once per epoch; each check draws its own noise. One-sided noise never lowers either. */
static void noise_is_fresh_where_it_must_be(void **state) {
    (void)state;
    const caucus_noise geometric = {CAUCUS_NOISE_GEOMETRIC, {1, 1000}};
    caucus_stream s = open_stream(3), checks = open_stream(4);
    caucus_threshold at = {0};
    int64_t first = -1;
    int changed = 0, fired_some = 0, kept_some = 0;
    for (uint32_t epoch = 0; epoch < 50; epoch++) {
        caucus_threshold_begin(&at, epoch, 0, 1000, &geometric, &s);
        int64_t theta = at.theta;
        assert_true(theta >= 1000);
        changed += theta != first;
        first = theta;
        bool fired = false;
        for (int i = 0; i < 5 && !fired; i++) {
            assert_int_equal(caucus_threshold_check(&at, &geometric, &checks, &fired), CAUCUS_OK);
            assert_true(at.theta == theta && at.q == 0);
            fired_some += fired;
            kept_some += !fired;
        }
    }
    assert_true(changed >= 45 && fired_some > 0 && kept_some > 0);
}

static void q_saturates(void **state) {
    (void)state;
    caucus_stream s = open_stream(5);
    caucus_threshold at = {0};
    caucus_threshold_begin(&at, 0, 0, INT64_MAX, &quiet, &s);
    assert_true(at.theta == (int64_t)1 << 62);
    for (int i = 0; i < 5; i++)
        assert_int_equal(caucus_threshold_add(&at, 0, 0, INT64_MAX), CAUCUS_OK);
    assert_true(at.q == (int64_t)1 << 62);
}

/* Added noise is the samplers' noise: same stream, same draws, whatever the length; none draws nothing. */
static void added_noise_is_the_samplers(void **state) {
    (void)state;
    enum { N = 700 };
    const caucus_noise noises[] = {
        {CAUCUS_NOISE_GEOMETRIC, {1, 300}}, {CAUCUS_NOISE_KNORM, {1, 5000}}, {CAUCUS_NOISE_NONE, {0, 1}}};
    int64_t a[N], b[N];
    for (size_t k = 0; k < 3; k++) {
        caucus_stream s = open_stream(6), t = open_stream(6);
        for (int i = 0; i < N; i++)
            a[i] = 11 * i;
        caucus_noise_add(&s, &noises[k], a, N);
        memset(b, 0, sizeof b);
        if (noises[k].kind == CAUCUS_NOISE_GEOMETRIC)
            caucus_geometric_fill(&t, noises[k].parameter, b, N);
        else if (noises[k].kind == CAUCUS_NOISE_KNORM)
            caucus_knorm_fill(&t, noises[k].parameter, b, N);
        for (int i = 0; i < N; i++)
            assert_true(a[i] == 11 * i + b[i]);
        assert_true(caucus_stream_next(&s) == caucus_stream_next(&t));
    }
}

static void two_sided_noise_has_both_signs_and_saturates(void **state) {
    (void)state;
    const caucus_noise noises[] = {{CAUCUS_NOISE_LAPLACE, {1, 300}}, {CAUCUS_NOISE_GAUSSIAN, {90000, 1}}};
    for (int k = 0; k < 2; k++) {
        caucus_stream s = open_stream(7);
        int64_t v[600] = {0};
        int below = 0, above = 0;
        caucus_noise_add(&s, &noises[k], v, 600);
        for (int i = 0; i < 600; i++) {
            below += v[i] < 0;
            above += v[i] > 0;
            v[i] = (int64_t)1 << 62;
        }
        assert_true(below > 200 && above > 200); /* 300 +- 8 standard deviations */
        caucus_noise_add(&s, &noises[k], v, 600);
        int held = 0;
        for (int i = 0; i < 600; i++) {
            assert_true(v[i] <= (int64_t)1 << 62);
            held += v[i] == (int64_t)1 << 62;
        }
        assert_true(held > 200 && held < 400);
        assert_true(llabs((long long)caucus_noise_draw(&s, &noises[k])) < 100000);
    }
}

int main(void) {
    print_message("seed %d\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_test_is_strict),
        cmocka_unit_test(firing_closes_the_epoch),
        cmocka_unit_test(another_expert_or_epoch_is_refused),
        cmocka_unit_test(noise_is_fresh_where_it_must_be),
        cmocka_unit_test(q_saturates),
        cmocka_unit_test(added_noise_is_the_samplers),
        cmocka_unit_test(two_sided_noise_has_both_signs_and_saturates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
