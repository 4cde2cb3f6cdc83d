/* SPDX-License-Identifier: Apache-2.0 */
/* test_server_long.c: a step costs the same after many of them, and what a step leaves in memory is what
 * docs/OPERATIONS.md says. Counted, not timed: allocations and what is held of them, bytes hashed, bytes and calls of
 * reading and writing files (which is what SQLite does, too). bench_steps has the clock. */
#include <malloc.h>
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../bench/long_run.h"
#include "scratch.h"

#define EARLY 1000u
#define LATE 10000u
#define WINDOW 200u /* steps that are counted together */
#define STEP_BYTES 60u

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *at, size_t size);
void __real_free(void *at);
int __real_crypto_hash_sha256(unsigned char *ret, const unsigned char *in, unsigned long long size);
int __real_crypto_hash_sha256_update(crypto_hash_sha256_state *state, const unsigned char *in, unsigned long long size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *at, size_t size);
void __wrap_free(void *at);
int __wrap_crypto_hash_sha256(unsigned char *ret, const unsigned char *in, unsigned long long size);
int __wrap_crypto_hash_sha256_update(crypto_hash_sha256_state *state, const unsigned char *in, unsigned long long size);
int fdatasync(int fd);
int fsync(int fd);

static _Atomic uint64_t allocations, hashed;
static _Atomic int64_t held;

static void *note(void *at) {
    atomic_fetch_add(&allocations, 1);
    atomic_fetch_add(&held, (int64_t)malloc_usable_size(at));
    return at;
}

void *__wrap_malloc(size_t size) {
    return note(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
    return note(__real_calloc(count, size));
}

void *__wrap_realloc(void *at, size_t size) {
    atomic_fetch_sub(&held, (int64_t)malloc_usable_size(at));
    return note(__real_realloc(at, size));
}

void __wrap_free(void *at) {
    atomic_fetch_sub(&held, (int64_t)malloc_usable_size(at));
    __real_free(at);
}

int __wrap_crypto_hash_sha256(unsigned char *ret, const unsigned char *in, unsigned long long size) {
    atomic_fetch_add(&hashed, size);
    return __real_crypto_hash_sha256(ret, in, size);
}

int __wrap_crypto_hash_sha256_update(crypto_hash_sha256_state *state, const unsigned char *in,
                                     unsigned long long size) {
    atomic_fetch_add(&hashed, size);
    return __real_crypto_hash_sha256_update(state, in, size);
}

/* For SQLite, too: nobody pulls the plug here, and a slow disk would make this a test of patience. */
int fdatasync(int fd) {
    (void)fd;
    return 0;
}

int fsync(int fd) {
    (void)fd;
    return 0;
}

typedef struct work {
    uint64_t allocations, hashed;
    uint64_t io[4]; /* bytes read and written, calls of either */
    int64_t held;
} work;

/* Of this process, by the kernel. Zeros where it does not say. */
static void count_io(uint64_t ret[4]) {
    static const char *const names[4] = {"rchar: %lu", "wchar: %lu", "syscr: %lu", "syscw: %lu"};
    FILE *io = fopen("/proc/self/io", "r");
    char line[80];
    memset(ret, 0, 4 * sizeof *ret);
    for (int i = 0; io && i < 4 && fgets(line, sizeof line, io); i++) {
        unsigned long value = 0;
        if (sscanf(line, names[i], &value) == 1)
            ret[i] = value;
    }
    if (io)
        (void)fclose(io);
}

static work work_so_far(void) {
    work w = {.allocations = allocations, .hashed = hashed, .held = held};
    count_io(w.io);
    return w;
}

static void play_to(long_run *l, uint64_t steps) {
    while (caucus_server_history(l->server, 0, NULL, 0) <= steps)
        assert_true(long_run_step(l));
}

/* What WINDOW steps take from here on. */
static work work_of_window(long_run *l) {
    const uint64_t now = caucus_server_history(l->server, 0, NULL, 0) - 1;
    const work before = work_so_far();
    play_to(l, now + WINDOW);
    work w = work_so_far();
    w.allocations -= before.allocations;
    w.hashed -= before.hashed;
    for (int i = 0; i < 4; i++)
        w.io[i] -= before.io[i];
    return w;
}

/* Numbers get longer and trees deeper: half as much again is nothing beside ten times as many steps. */
static void not_more(const char *what, uint64_t late, uint64_t early) {
    print_message("%s: %lu a step at %u steps, %lu at %u\n", what, (unsigned long)(early / WINDOW), EARLY,
                  (unsigned long)(late / WINDOW), LATE);
    if (late > early + early / 2)
        fail_msg("a step costs more after %u steps than after %u: %s", LATE, EARLY, what);
}

static void compare(const work *late, const work *early) {
    static const char *const names[4] = {"bytes read", "bytes written", "reads", "writes"};
    not_more("allocations", late->allocations, early->allocations);
    not_more("bytes hashed", late->hashed, early->hashed);
    for (int i = 0; i < 4; i++)
        not_more(names[i], late->io[i], early->io[i]);
}

static void test_a_step_costs_the_same(void **state) {
    (void)state;
    char dir[64], command[96];
    caucus_error error = {0};
    caucus_plan *plan = NULL;
    long_run l;
    (void)snprintf(dir, sizeof dir, "%s/caucus-test-XXXXXX", scratch_root());
    assert_non_null(mkdtemp(dir));
    assert_int_equal(long_run_plan(CAUCUS_ALGORITHM_HEDGE, LATE + 2 * WINDOW, &plan, &error), CAUCUS_OK);
    if (long_run_open(&l, plan, dir, &error) != CAUCUS_OK)
        fail_msg("%s: %s", error.field, error.text);
    play_to(&l, EARLY);
    const work early = work_of_window(&l);
    assert_true(early.hashed > 0 && early.allocations > 0);
    play_to(&l, LATE);
    const work late = work_of_window(&l);
    compare(&late, &early);
    const int64_t grown = late.held - early.held;
    print_message("held in memory: %.1f bytes more a step\n", (double)grown / (LATE - EARLY));
    assert_true(grown <= (int64_t)STEP_BYTES * (LATE - EARLY));
    long_run_close(&l);
    /* Taken up again it goes on at the same cost, and holds no more than if it had never stopped. */
    if (long_run_open(&l, plan, dir, &error) != CAUCUS_OK)
        fail_msg("%s: %s", error.field, error.text);
    const work again = work_of_window(&l);
    compare(&again, &early);
    assert_true(again.held - early.held <= (int64_t)STEP_BYTES * (LATE + WINDOW - EARLY));
    assert_int_equal(caucus_ledger_count(l.server->ledger), 2 + LATE + 2 * WINDOW); /* they are counted all the same */
    long_run_close(&l);
    caucus_plan_free(plan);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_step_costs_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
