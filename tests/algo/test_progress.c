/* SPDX-License-Identifier: Apache-2.0 */
/* test_progress.c: which item of each client comes next, against an array that says so plainly: numbers, what is shown,
 * who is silent, and that a chunk in which nobody's number differs from before in a way that must be kept is not called
 * changed. Steps that hardly anybody answers, items of earlier steps, renewals, verdicts that wait to be shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/progress/progress.h"

#define CLIENTS (CAUCUS_CHUNK_CLIENTS + 37u) /* two chunks; the last word of forms is not whole */

static uint64_t seed = 20;

static uint32_t below(uint32_t n) {
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) % n);
}

typedef struct model {
    uint64_t number[CLIENTS];
    uint64_t committed[CLIENTS]; /* when the last step was closed */
    uint64_t shown[CLIENTS];     /* committed when it was last shown */
} model;

static void expect_numbers(const caucus_progress *p, const model *m, bool exact) {
    for (uint32_t i = 0; i < CLIENTS; i++) {
        if (caucus_progress_get(p, i) != m->number[i])
            fail_msg("client %u: %llu, not %llu", i, (unsigned long long)caucus_progress_get(p, i),
                     (unsigned long long)m->number[i]);
        const uint64_t shown = caucus_progress_shown(p, i);
        if (shown > m->shown[i] || (exact && shown != m->shown[i]))
            fail_msg("client %u is told %llu, not %llu", i, (unsigned long long)shown, (unsigned long long)m->shown[i]);
    }
}

static void put(caucus_progress *p, model *m, uint32_t i, uint64_t number) {
    caucus_progress_put(p, i, number);
    m->number[i] = number;
}

/* Everybody, or one in `away`, moves to `next`; some send something of an earlier step instead. */
static void play_step(caucus_progress *p, model *m, uint64_t next, uint32_t away, bool late) {
    for (uint32_t i = 0; i < CLIENTS; i++) {
        if (away > 0 && below(away) == 0)
            continue;
        if (late && m->number[i] + 1 < next && below(2) == 0)
            put(p, m, i, m->number[i] + 1);
        else
            put(p, m, i, next);
    }
}

static void expect_silent(const caucus_progress *p, const model *m, uint64_t next) {
    uint32_t i = caucus_progress_silent(p, 0), plain = 0;
    while (plain < CLIENTS) {
        if (m->number[plain] != next) {
            assert_int_equal(i, plain);
            i = caucus_progress_silent(p, i + 1);
        }
        plain++;
    }
    assert_int_equal(i, CLIENTS);
}

static void numbers_are_those_of_an_array(void **state) {
    (void)state;
    model *m = calloc(1, sizeof *m);
    caucus_progress *p = caucus_progress_new(CLIENTS, 1);
    assert_true(m && p);
    for (uint32_t i = 0; i < CLIENTS; i++)
        m->number[i] = m->committed[i] = m->shown[i] = 1;
    uint64_t next = 1;
    for (uint32_t step = 0; step < 60; step++) {
        const uint32_t few = step % 11 == 5, many_away = step % 7 == 3;
        next += 1 + below(2);
        caucus_progress_ask(p, next);
        expect_numbers(p, m, true);
        if (few)
            for (uint32_t i = 0; i < 5; i++)
                put(p, m, below(CLIENTS), next);
        else
            play_step(p, m, next, many_away ? 2 : step % 3 == 0 ? 0 : 100, step % 4 == 1);
        expect_numbers(p, m, false);
        expect_silent(p, m, next);
        caucus_progress_close(p, !few);
        memcpy(m->committed, m->number, sizeof m->number);
        if (step % 13 == 9) { /* between steps: a cycle ends */
            next += 3;
            caucus_progress_reset(p, next);
            for (uint32_t i = 0; i < CLIENTS; i++)
                m->number[i] = m->committed[i] = next;
        }
        expect_numbers(p, m, true); /* nothing more may be told yet */
        if (step % 5 == 2) {        /* somebody is counted while the verdict waits to be shown */
            next++;
            caucus_progress_ask(p, next);
            for (uint32_t k = 0; k < 1000; k++)
                put(p, m, below(CLIENTS), next);
            caucus_progress_show(p);
            memcpy(m->shown, m->committed, sizeof m->shown);
            expect_numbers(p, m, false);
            caucus_progress_close(p, true);
            memcpy(m->committed, m->number, sizeof m->number);
        }
        caucus_progress_show(p);
        memcpy(m->shown, m->committed, sizeof m->shown);
        expect_numbers(p, m, true);
        p->changed[0] = p->changed[1] = 0; /* as who saves them does */
    }
    caucus_progress_free(p);
    free(m);
}

static bool changed(const caucus_progress *p, uint32_t chunk) {
    return atomic_load(&p->changed[chunk]) != 0;
}

static void saved(caucus_progress *p) {
    atomic_store(&p->changed[0], 0);
    atomic_store(&p->changed[1], 0);
}

static void only_what_has_changed_is_called_so(void **state) {
    (void)state;
    caucus_progress *p = caucus_progress_new(CLIENTS, 1);
    assert_non_null(p);
    for (uint64_t next = 2; next < 8; next++) {
        caucus_progress_ask(p, next);
        for (uint32_t i = 0; i < CLIENTS; i++)
            if (i != 3 || next < 4)
                caucus_progress_put(p, i, next);
        caucus_progress_close(p, true);
        caucus_progress_show(p);
        assert_int_equal(changed(p, 0), next == 4); /* it falls behind, and stays behind */
        assert_false(changed(p, 1));
        saved(p);
    }
    caucus_progress_ask(p, 8);
    caucus_progress_put(p, 3, 8); /* and is back */
    for (uint32_t i = 0; i < CLIENTS; i++)
        if (i != 3 && i != CLIENTS - 1)
            caucus_progress_put(p, i, 8);
    caucus_progress_close(p, true);
    assert_true(changed(p, 0) && changed(p, 1));
    assert_true(caucus_progress_shown(p, 3) == 3 && caucus_progress_shown(p, 4) == 7);
    caucus_progress_show(p);
    assert_true(caucus_progress_shown(p, 3) == 8 && caucus_progress_shown(p, 4) == 8);
    assert_true(caucus_progress_shown(p, CLIENTS - 1) == 7);
    saved(p);
    caucus_progress_close(p, true); /* nothing is asked */
    assert_true(!changed(p, 0) && !changed(p, 1));
    caucus_progress_free(p);
}

static void comes_back_from_an_array(void **state) {
    (void)state;
    uint64_t *number = calloc(CLIENTS, sizeof *number);
    caucus_progress *p = caucus_progress_new(CLIENTS, 1);
    assert_true(number && p);
    for (uint32_t i = 0; i < CLIENTS; i++)
        number[i] = i % 3 == 0 ? 5 + i : 9;
    caucus_progress_restore_all(p, number);
    assert_true(p->common == 9);
    for (uint32_t i = 0; i < CLIENTS; i++)
        assert_true(caucus_progress_get(p, i) == number[i] && caucus_progress_shown(p, i) == number[i]);
    caucus_progress_free(p);
    free(number);
}

int main(void) {
    printf("seed %llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_an_array),
        cmocka_unit_test(only_what_has_changed_is_called_so),
        cmocka_unit_test(comes_back_from_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
