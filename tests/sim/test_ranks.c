/* SPDX-License-Identifier: Apache-2.0 */
/* test_ranks.c: runs over ranks, which here are threads of this process: the same code as over MPI (src/mpi), where
 * sanitizers can see it. tests/mpi has the real thing. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "audit/audit.h"
#include "sim/run.h"
#include "sim/testing_run.h"

#define RANKS 3
#define BOX 4096

typedef struct letter {
    uint32_t from;
    size_t count;
    char bytes[CAUCUS_RANKS_MESSAGE_BYTES];
} letter;

/* What the threads share. */
static struct {
    pthread_barrier_t all;
    pthread_mutex_t lock;
    int64_t *added;
    void *shared;
    letter *box[RANKS]; /* [BOX]: a ring for each */
    size_t put[RANKS], taken[RANKS];
} world = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Thread_local uint32_t own_rank;
static int *stop_at_first_letter; /* rank 1 is signalled while it hands over its first letter; NULL: it is not */

static caucus_status sum(int64_t *value, size_t count) {
    if (pthread_barrier_wait(&world.all) == PTHREAD_BARRIER_SERIAL_THREAD)
        world.added = calloc(count, sizeof *world.added);
    pthread_barrier_wait(&world.all);
    pthread_mutex_lock(&world.lock);
    for (size_t i = 0; i < count; i++)
        world.added[i] += value[i];
    pthread_mutex_unlock(&world.lock);
    pthread_barrier_wait(&world.all);
    memcpy(value, world.added, count * sizeof *value);
    if (pthread_barrier_wait(&world.all) == PTHREAD_BARRIER_SERIAL_THREAD)
        free(world.added);
    return CAUCUS_OK;
}

static caucus_status share(void *bytes, size_t count) {
    if (own_rank == 0)
        world.shared = bytes;
    pthread_barrier_wait(&world.all);
    if (own_rank != 0)
        memcpy(bytes, world.shared, count);
    pthread_barrier_wait(&world.all);
    return CAUCUS_OK;
}

static void send_letter(uint32_t to, const void *bytes, size_t count) {
    if (own_rank == 1 && stop_at_first_letter) { /* slower than its trials end, too: there is always one more to tell */
        __atomic_store_n(stop_at_first_letter, 1, __ATOMIC_RELAXED);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    pthread_mutex_lock(&world.lock);
    letter *l = &world.box[to][world.put[to]++ % BOX];
    l->from = own_rank;
    l->count = count;
    memcpy(l->bytes, bytes, count);
    pthread_mutex_unlock(&world.lock);
}

static bool receive_letter(uint32_t *ret_from, void *ret, size_t *ret_count) {
    pthread_mutex_lock(&world.lock);
    bool there = world.taken[own_rank] < world.put[own_rank];
    if (there) {
        const letter *l = &world.box[own_rank][world.taken[own_rank]++ % BOX];
        *ret_from = l->from;
        *ret_count = l->count;
        memcpy(ret, l->bytes, l->count);
    }
    pthread_mutex_unlock(&world.lock);
    return there;
}

static void give_up(void) {
    abort(); /* nobody dies here */
}

static int64_t nobody_gone(void) {
    return -1;
}

typedef struct rank {
    pthread_t thread;
    caucus_ranks table;
    caucus_run run;
    int stop;
    caucus_status status;
    caucus_error error;
    caucus_run_result result;
    caucus_audit_result audited;
} rank;

static void *play(void *argument) {
    rank *r = argument;
    own_rank = r->table.rank;
    r->run.ranks = &r->table;
    r->run.stop = &r->stop;
    r->status = caucus_run_play(&r->run, NULL, &r->result, &r->error);
    return NULL;
}

/* An audit whose statistic is a real number: its values are summed over the ranks, too. */
static const caucus_audit *of_reals(void) {
    size_t i = 0;
    while (caucus_audit_at(i)->cells > 0)
        i++;
    return caucus_audit_at(i);
}

static void *audit_one(void *argument) {
    rank *r = argument;
    own_rank = r->table.rank;
    caucus_audit_options options = {.seed = 1, .trials = 8192, .confidence = 0.999, .threads = 2, .ranks = &r->table};
    r->status = caucus_audit_run(of_reals(), &options, &r->audited, &r->error);
    return NULL;
}

static void open_world(rank r[RANKS], const caucus_run *run) {
    memset(r, 0, RANKS * sizeof *r);
    pthread_barrier_init(&world.all, NULL, RANKS);
    for (uint32_t i = 0; i < RANKS; i++) {
        world.box[i] = calloc(BOX, sizeof *world.box[i]);
        assert_non_null(world.box[i]);
        world.put[i] = world.taken[i] = 0;
        r[i].table = (caucus_ranks){i, RANKS, 2, sum, share, send_letter, receive_letter, give_up, nobody_gone};
        if (run)
            r[i].run = *run;
    }
}

static void run_world(rank r[RANKS], void *(*work)(void *)) {
    for (uint32_t i = 0; i < RANKS; i++)
        assert_int_equal(pthread_create(&r[i].thread, NULL, work, &r[i]), 0);
    for (uint32_t i = 0; i < RANKS; i++)
        pthread_join(r[i].thread, NULL);
}

static void close_world(rank r[RANKS]) {
    for (uint32_t i = 0; i < RANKS; i++) {
        caucus_run_result_free(&r[i].result);
        free(world.box[i]);
    }
    pthread_barrier_destroy(&world.all);
}

static caucus_run run_of(caucus_algorithm algorithm, caucus_trust trust, uint32_t clients, uint32_t trials) {
    caucus_run run = {.trials = trials, .seed = 5, .threads = 2, .adversary = {.kind = CAUCUS_ADVERSARY_BERNOULLI}};
    caucus_settings_init(&run.settings);
    run.settings.algorithm = algorithm;
    run.settings.trust = trust;
    run.settings.clients = clients;
    run.settings.experts = 6;
    run.settings.rounds = 128;
    run.settings.epsilon = 4;
    return run;
}

/* Every rank has the results of one process, bit for bit. */
static void same_as_alone(const caucus_run *run) {
    rank r[RANKS];
    caucus_error error = {0};
    caucus_run_result alone;
    assert_int_equal(caucus_run_play(run, NULL, &alone, &error), CAUCUS_OK);
    assert_int_equal(alone.done, run->trials);
    open_world(r, run);
    run_world(r, play);
    for (uint32_t i = 0; i < RANKS; i++) {
        assert_int_equal(r[i].status, CAUCUS_OK);
        assert_int_equal(r[i].result.done, run->trials);
        assert_memory_equal(r[i].result.trial, alone.trial, run->trials * sizeof *alone.trial);
    }
    close_world(r);
    caucus_run_result_free(&alone);
}

static void trials_and_clients(void **state) {
    (void)state;
    static const struct {
        caucus_algorithm algorithm;
        caucus_trust trust;
    } kinds[] = {{CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR},
                 {CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR},
                 {CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY}};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (unsigned split = 0; split < 2; split++) {
            caucus_run run = run_of(kinds[k].algorithm, kinds[k].trust, 8, 7);
            run.split_clients = split;
            same_as_alone(&run);
        }
    caucus_run few = run_of(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, 2, 2); /* fewer than ranks, of both */
    few.split_clients = true;
    same_as_alone(&few);
}

/* All ended together, before all trials were played. */
static void all_stopped(const rank *r, uint32_t trials) {
    for (uint32_t i = 0; i < RANKS; i++) {
        assert_int_equal(r[i].status, CAUCUS_OK);
        assert_true(r[i].result.done < trials);
        assert_int_equal(r[i].result.done, r[0].result.done);
        assert_int_equal(world.taken[i], world.put[i]); /* nothing is left for a later run to hear */
    }
}

/* One rank is told to stop before it begins: nobody plays on, and all know how far they got. */
static void one_stops(void **state) {
    (void)state;
    for (unsigned split = 0; split < 2; split++) {
        rank r[RANKS];
        caucus_run run = run_of(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, 8, 3000); /* as many letters as fit */
        run.split_clients = split;
        run.settings.rounds = 4096; /* so that the others do not play them all before they hear of it */
        open_world(r, &run);
        r[1].stop = 1;
        run_world(r, play);
        all_stopped(r, run.trials);
        close_world(r);
    }
}

/* One rank is told to stop while it passes on trials, which takes longer than playing them: it plays no more, although
 * there is always another one to pass on. */
static void one_stops_while_it_tells(void **state) {
    (void)state;
    rank r[RANKS];
    caucus_run run = run_of(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, 8, 3000); /* as many letters as fit */
    run.settings.rounds = 4096;
    open_world(r, &run);
    stop_at_first_letter = &r[1].stop;
    run_world(r, play);
    stop_at_first_letter = NULL;
    all_stopped(r, run.trials);
    close_world(r);
}

/* One rank cannot play: all fail with its words. */
static void one_fails(void **state) {
    (void)state;
    rank r[RANKS];
    caucus_run run = run_of(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, 8, 5);
    open_world(r, &run);
    r[2].run.adversary.kind = CAUCUS_ADVERSARY_LOSSES;
    r[2].run.adversary.losses = "nowhere.npy";
    run_world(r, play);
    for (uint32_t i = 0; i < RANKS; i++) {
        assert_int_equal(r[i].status, CAUCUS_E_PATH);
        assert_non_null(strstr(r[i].error.text, "nowhere.npy"));
        assert_non_null(strstr(r[i].error.text, "(rank 2)"));
    }
    close_world(r);
}

static void audits(void **state) {
    (void)state;
    rank r[RANKS];
    caucus_audit_options options = {.seed = 1, .trials = 8192, .confidence = 0.999, .threads = 2};
    caucus_audit_result alone;
    caucus_error error = {0};
    assert_int_equal(caucus_audit_run(of_reals(), &options, &alone, &error), CAUCUS_OK);
    assert_true(alone.hits > 0);
    open_world(r, NULL);
    run_world(r, audit_one);
    for (uint32_t i = 0; i < RANKS; i++) {
        assert_int_equal(r[i].status, CAUCUS_OK);
        assert_int_equal(r[i].audited.hits, alone.hits);
        assert_int_equal(r[i].audited.hits_other, alone.hits_other);
        assert_true(r[i].audited.lower_bound == alone.lower_bound);
    }
    close_world(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trials_and_clients), cmocka_unit_test(one_stops),
                                       cmocka_unit_test(one_stops_while_it_tells), cmocka_unit_test(one_fails),
                                       cmocka_unit_test(audits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
