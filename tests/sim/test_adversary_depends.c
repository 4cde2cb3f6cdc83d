/* SPDX-License-Identifier: Apache-2.0 */
/* test_adversary_depends.c: losses depend on the seed, the trial, the client, the adversary, d and T, and on nothing
 * else: a federation that grows, or asks for another epsilon, finds its first clients with the losses they had. The one
 * exception is lower-bound-realizable, which theorem 3 defines by m and epsilon. */
#include "sim/adversary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define EXPERTS 3u
#define ROUNDS 8u
#define USERS 100u
#define CELLS (ROUNDS * EXPERTS)

static char directory[] = "/tmp/caucus-depends-XXXXXX", movies[64], ratings[64], npy[64];

static int write_data(void **state) {
    (void)state;
    if (mkdtemp(directory) == NULL)
        return -1;
    snprintf(movies, sizeof movies, "%s/movies.dat", directory);
    snprintf(ratings, sizeof ratings, "%s/ratings.dat", directory);
    snprintf(npy, sizeof npy, "%s/losses.npy", directory);
    FILE *file = fopen(movies, "w");
    if (file == NULL)
        return -1;
    fputs("1::A::Drama\n2::B::War\n3::C::Western\n", file);
    fclose(file);
    if ((file = fopen(ratings, "w")) == NULL)
        return -1;
    for (unsigned user = 1; user <= USERS; user++)
        fprintf(file, "%u::1::%u::0\n%u::2::%u::0\n", user, user % 5 + 1, user, user / 5 % 5 + 1);
    fclose(file);
    if ((file = fopen(npy, "w")) == NULL)
        return -1;
    char header[119];
    snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': (12, %u, %u), }%53s\n", ROUNDS,
             EXPERTS, "");
    const uint8_t start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)strlen(header), 0};
    fwrite(start, 1, sizeof start, file);
    fputs(header, file);
    for (unsigned k = 0; k < 12 * CELLS; k++)
        fwrite(&(float){(float)k / (12 * CELLS)}, sizeof(float), 1, file);
    fclose(file);
    return 0;
}

static int remove_data(void **state) {
    (void)state;
    return unlink(movies) || unlink(ratings) || unlink(npy) || rmdir(directory);
}

typedef struct question {
    uint64_t seed;
    uint32_t clients, rounds, trial, client;
    double epsilon;
} question;

/* Losses of one client, rounds 0 .. ROUNDS-1. */
static void ask(caucus_adversary_kind kind, question q, float ret[CELLS]) {
    caucus_adversary_settings settings = {.kind = kind,
                                          .seed = q.seed,
                                          .clients = q.clients,
                                          .experts = EXPERTS,
                                          .rounds = q.rounds,
                                          .epsilon = q.epsilon,
                                          .data = directory,
                                          .losses = npy,
                                          .segments = 2,
                                          .drift = 0.1,
                                          .spread = 0.1};
    caucus_adversary *adversary = NULL;
    caucus_adversary_trial *trial = NULL;
    caucus_error error = {0};
    if (caucus_adversary_open(&settings, &adversary, &error) != CAUCUS_OK)
        fail_msg("%s: %s", error.field, error.text);
    assert_int_equal(caucus_adversary_trial_new(adversary, q.trial, &trial), CAUCUS_OK);
    caucus_adversary_fill(trial, q.client, 0, ROUNDS, ret);
    caucus_adversary_trial_free(trial);
    caucus_adversary_close(adversary);
}

static bool same(caucus_adversary_kind kind, question a, question b) {
    float left[CELLS], right[CELLS];
    ask(kind, a, left);
    ask(kind, b, right);
    return memcmp(left, right, sizeof left) == 0;
}

static const question plain = {.seed = 7, .clients = 3, .rounds = ROUNDS, .trial = 1, .client = 2, .epsilon = 0.05};

static void test_not_on_clients_nor_epsilon(void **state) {
    (void)state;
    for (int k = 0; k < CAUCUS_ADVERSARY_COUNT; k++) {
        caucus_adversary_kind kind = (caucus_adversary_kind)k;
        bool by_definition = kind == CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE;
        for (uint32_t client = 1; client <= 3; client++) {
            question more = plain, private = plain, here = plain;
            here.client = more.client = private.client = client;
            more.clients = 12;
            private.epsilon = 0.5;
            if (same(kind, here, more) == by_definition)
                fail_msg("%s, client %u: m plays a part, or none where it should", caucus_adversary_kind_word(kind),
                         client);
            if (same(kind, here, private) == by_definition)
                fail_msg("%s, client %u: epsilon plays a part, or none where it should",
                         caucus_adversary_kind_word(kind), client);
        }
    }
}

/* Is there a seed (a trial, a client) among a few that changes something? */
static bool some_other(caucus_adversary_kind kind, int what) {
    question here = plain; /* the last client: lower-bound-realizable gives it a loss */
    here.client = here.clients = 12;
    for (uint32_t k = 1; k < 20; k++) {
        question other = here;
        other.seed += what == 0 ? k : 0;
        other.trial += what == 1 ? k : 0;
        other.client = what == 2 ? k % 11 + 1 : other.client;
        if (!same(kind, here, other))
            return true;
    }
    return false;
}

static void test_on_seed_trial_client(void **state) {
    (void)state;
    for (int k = 0; k < CAUCUS_ADVERSARY_COUNT; k++) {
        caucus_adversary_kind kind = (caucus_adversary_kind)k;
        bool one_for_all = kind == CAUCUS_ADVERSARY_HALVING || kind == CAUCUS_ADVERSARY_CREEPING ||
                           kind == CAUCUS_ADVERSARY_LOWER_BOUND_OBLIVIOUS || kind == CAUCUS_ADVERSARY_ADAPTIVE;
        bool file = kind == CAUCUS_ADVERSARY_LOSSES || kind == CAUCUS_ADVERSARY_ADAPTIVE; /* nothing is drawn */
        assert_int_equal(some_other(kind, 0), !file);
        assert_int_equal(some_other(kind, 1), !file);
        assert_int_equal(some_other(kind, 2), !one_for_all);
    }
}

/* Losses drawn from one law are the same however many rounds follow. */
static void test_rounds_of_a_law(void **state) {
    (void)state;
    static const caucus_adversary_kind laws[] = {CAUCUS_ADVERSARY_GAUSSIAN,
                                                 CAUCUS_ADVERSARY_BERNOULLI,
                                                 CAUCUS_ADVERSARY_REALIZABLE,
                                                 CAUCUS_ADVERSARY_CROSS_ENTROPY,
                                                 CAUCUS_ADVERSARY_LOWER_BOUND_OBLIVIOUS,
                                                 CAUCUS_ADVERSARY_DRIFTING};
    question longer = plain;
    longer.rounds = 4 * ROUNDS;
    for (size_t i = 0; i < sizeof laws / sizeof laws[0]; i++)
        assert_true(same(laws[i], plain, longer));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_on_clients_nor_epsilon),
        cmocka_unit_test(test_on_seed_trial_client),
        cmocka_unit_test(test_rounds_of_a_law),
    };
    return cmocka_run_group_tests(tests, write_data, remove_data);
}
