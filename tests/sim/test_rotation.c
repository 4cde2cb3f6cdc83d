/* SPDX-License-Identifier: Apache-2.0 */
/* test_rotation.c: rotation through the whole simulator: equal to a trial played row by row, blind to losses, uniform
 * over what it may draw, refused where its plan was altered, and the same after a state was saved and restored. The
 * seed is fixed. */
#include <caucus/plan_file.h>

#include "plan/family.h"
#include "sim/plain_trial.h"

#define SEED 7u

static caucus_settings settings(uint32_t m, uint32_t d, uint64_t rounds, uint64_t interval) {
    caucus_settings s;
    caucus_settings_init(&s);
    s.algorithm = CAUCUS_ALGORITHM_ROTATION;
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.clients = m;
    s.experts = d;
    s.rounds = rounds;
    s.interval = interval;
    return s;
}

static caucus_adversary *losses(caucus_adversary_kind kind, const caucus_settings *s) {
    caucus_adversary_settings a = {
        .kind = kind, .seed = SEED, .clients = s->clients, .experts = s->experts, .rounds = s->rounds};
    return adversary_of(&a);
}

static caucus_trial_result play(const caucus_plan *plan, caucus_adversary_kind kind) {
    caucus_adversary *adversary = losses(kind, &plan->settings);
    caucus_trial_result fast = {0};
    assert_int_equal(caucus_trial_play(plan, adversary, SEED, 0, NULL, NULL, NULL, &fast), CAUCUS_OK);
    caucus_trial_result slow = plain_play(plan, adversary, SEED, 0);
    same_results("rotation", &fast, &slow);
    caucus_adversary_close(adversary);
    return fast;
}

static void spends_nothing_and_sees_nothing(void **state) {
    (void)state;
    caucus_settings s = settings(5, 8, 100, 7);
    caucus_plan *plan = plan_of(&s);
    assert_true(plan->guarantee.epsilon_choices == 0 && plan->guarantee.delta == 0);
    caucus_trial_result a = play(plan, CAUCUS_ADVERSARY_GAUSSIAN), b = play(plan, CAUCUS_ADVERSARY_CREEPING);
    assert_int_equal(a.selections, 14);
    assert_true(a.digest == b.digest); /* other losses, the same experts */
    assert_true(a.regret != b.regret);
    assert_int_equal(a.scalars_up, 5 * 14);
    caucus_plan_free(plan);
}

typedef struct seen {
    uint32_t pair[3][3], last;
    bool any;
} seen;

static void count_pair(void *user, uint64_t round, const caucus_announcement *a) {
    seen *s = user;
    (void)round;
    if (s->any)
        s->pair[s->last][a->expert]++;
    s->last = a->expert;
    s->any = true;
}

/* Three experts, a memory of one: exactly half to each of the two others. 8000 draws: each of the six pairs has mean
 * 1333 and a deviation below 37; six of them is a false alarm in 10^8. */
static void draws_follow_the_law(void **state) {
    (void)state;
    caucus_settings s = settings(1, 3, 8000, 1);
    caucus_plan *plan = plan_of(&s);
    caucus_adversary *adversary = losses(CAUCUS_ADVERSARY_REALIZABLE, &s);
    assert_int_equal(caucus_rotation_memory(plan), 1);
    seen count = {0};
    caucus_trial_result r;
    assert_int_equal(caucus_trial_play(plan, adversary, SEED, 0, NULL, count_pair, &count, &r), CAUCUS_OK);
    for (int x = 0; x < 3; x++)
        for (int y = 0; y < 3; y++)
            assert_in_range(count.pair[x][y], x == y ? 0 : 1333 - 222, x == y ? 0 : 1333 + 222);
    caucus_adversary_close(adversary);
    caucus_plan_free(plan);
}

/* A plan file whose memory was altered is not the plan of its settings. */
static void altered_plans_are_refused(void **state) {
    (void)state;
    caucus_settings s = settings(2, 9, 40, 4);
    caucus_plan *plan = plan_of(&s), *read = NULL;
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(caucus_plan_file_text(plan, &text, &size), CAUCUS_OK);
    assert_int_equal(caucus_plan_file_parse("plan", text, size, &read, NULL), CAUCUS_OK);
    assert_int_equal(caucus_rotation_memory(read), 4);
    caucus_plan_free(read);
    char *memory = strstr(text, "memory: 4");
    assert_non_null(memory);
    memory[8] = '3';
    caucus_error error;
    assert_int_equal(caucus_plan_file_parse("plan", text, size, &read, &error), CAUCUS_E_CONFLICT);
    free(text);
    caucus_plan_free(plan);
}

/* A coordinator that is restored after three blocks goes on as the one that was never stopped. */
static void restored(void **state) {
    (void)state;
    caucus_settings s = settings(2, 50, 40, 4);
    caucus_plan *plan = plan_of(&s);
    caucus_key key;
    caucus_key_from_seed(SEED, &key);
    caucus_coordinator *one = NULL, *two = NULL;
    assert_int_equal(caucus_coordinator_new(plan, &key, &one), CAUCUS_OK);
    const int64_t held = 4;
    while (caucus_coordinator_announcement(one)->ask != CAUCUS_ASK_NOTHING) {
        uint64_t block = caucus_coordinator_announcement(one)->block;
        for (uint32_t i = 1; i <= 2; i++) {
            caucus_report r = {.client = i, .kind = CAUCUS_ASK_COST, .first = block, .block = block, .count = 1};
            r.value = &held;
            assert_int_equal(caucus_coordinator_receive(one, &r), CAUCUS_OK);
            assert_int_equal(caucus_coordinator_receive(one, &r), CAUCUS_E_DUPLICATE);
            if (two)
                assert_int_equal(caucus_coordinator_receive(two, &r), CAUCUS_OK);
        }
        assert_int_equal(caucus_coordinator_decide(one), CAUCUS_OK);
        if (two) {
            assert_int_equal(caucus_coordinator_decide(two), CAUCUS_OK);
            assert_memory_equal(caucus_coordinator_announcement(one), caucus_coordinator_announcement(two),
                                sizeof(caucus_announcement));
        } else if (block == 3) {
            size_t bytes = caucus_coordinator_state_bytes(one);
            uint8_t *state_bytes = malloc(bytes);
            assert_non_null(state_bytes);
            assert_int_equal(caucus_coordinator_save(one, state_bytes, bytes), CAUCUS_OK);
            assert_int_equal(caucus_coordinator_restore(plan, &key, state_bytes, bytes, &two), CAUCUS_OK);
            free(state_bytes);
        }
    }
    assert_non_null(two);
    assert_int_equal(caucus_coordinator_selections(two), 9);
    caucus_coordinator_free(one);
    caucus_coordinator_free(two);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(spends_nothing_and_sees_nothing),
                                       cmocka_unit_test(draws_follow_the_law),
                                       cmocka_unit_test(altered_plans_are_refused), cmocka_unit_test(restored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
