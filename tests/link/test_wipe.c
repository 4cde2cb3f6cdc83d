/* SPDX-License-Identifier: Apache-2.0 */
/* test_wipe.c: "free and wipe" means it. Whatever a client, a coordinator, a partial or a link gives back is blank:
 * losses, sums, votes, means, noise and keys with it. The linker sends their allocations through this file. */
#include "algo/federation.h"

#include "link/link_impl.h"
#include "link/plain_link.h"
#include "testing_settings.h"

#define BLOCKS 4096

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *memory);

static struct {
    void *memory;
    size_t size;
} block[BLOCKS];
static bool watching;
static size_t freed, dirty; /* blocks, while watching */

static void *note(void *memory, size_t size) {
    for (size_t i = 0; memory && i < BLOCKS; i++)
        if (!block[i].memory) {
            block[i].memory = memory;
            block[i].size = size;
            return memory;
        }
    if (memory)
        abort(); /* make the table longer */
    return memory;
}

static void forget(void *memory) {
    for (size_t i = 0; memory && i < BLOCKS; i++) {
        if (block[i].memory != memory)
            continue;
        block[i].memory = NULL;
        if (!watching)
            return;
        freed++;
        const uint8_t *bytes = memory;
        size_t at = 0;
        while (at < block[i].size && bytes[at] == 0)
            at++;
        if (at < block[i].size) {
            dirty++;
            print_message("a block of %zu bytes is given back with something in byte %zu\n", block[i].size, at);
        }
        return;
    }
}

void *__wrap_malloc(size_t size) {
    return note(__real_malloc(size), size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return note(__real_calloc(count, size), count * size);
}

void *__wrap_realloc(void *memory, size_t size) {
    bool before = watching;
    watching = false; /* growing is not giving back */
    forget(memory);
    watching = before;
    return note(__real_realloc(memory, size), size);
}

char *__wrap_strdup(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = note(__real_malloc(size), size);
    return copy ? memcpy(copy, text, size) : NULL;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return note(__real_aligned_alloc(alignment, size), size);
}

void __wrap_free(void *memory) {
    forget(memory);
    __real_free(memory);
}

static void expect_blank(size_t at_least, const char *what) {
    print_message("%s: %zu blocks\n", what, freed);
    assert_int_equal(dirty, 0);
    assert_true(freed >= at_least);
    freed = 0;
}

static void pull(void *user, uint64_t round, const double *x, double *ret, uint32_t experts) {
    (void)user;
    for (uint32_t y = 0; y < experts; y++)
        ret[y] = x[y] - (y == round % experts);
}

/* Play some rounds, count the last reports in a partial that is never merged, and let everything go in the middle. */
static void play_and_free(const caucus_settings *s, const char *what) {
    federation f;
    federation_open(&f, s, 5);
    double row[64];
    for (uint32_t i = 0; i < f.m; i++)
        caucus_client_set_gradient(f.client[i], pull, NULL);
    for (uint32_t round = 1; round <= s->rounds * 3 / 4; round++) {
        for (uint32_t i = 0; i < f.m; i++) {
            hashed_losses(i + 1, round, s->experts, row);
            assert_int_equal(caucus_client_observe(f.client[i], row, 1), CAUCUS_OK);
        }
        federation_talk(&f);
    }
    caucus_partial *partial = NULL;
    assert_int_equal(caucus_partial_new(f.coordinator, &partial), CAUCUS_OK);
    for (uint32_t i = 0; i < f.m; i++) {
        while (caucus_client_rounds_left(f.client[i]) > 0)
            assert_int_equal(caucus_client_observe(f.client[i], row, 1), CAUCUS_OK);
        const caucus_report *report = caucus_client_report(f.client[i]);
        if (report)
            assert_int_equal(caucus_coordinator_count(f.coordinator, partial, report), CAUCUS_OK);
    }
    watching = true;
    caucus_partial_free(partial);
    caucus_coordinator_free(f.coordinator);
    for (uint32_t i = 0; i < f.m; i++)
        caucus_client_free(f.client[i]);
    watching = false;
    f.coordinator = NULL;
    for (uint32_t i = 0; i < f.m; i++)
        f.client[i] = NULL;
    federation_close(&f);
    expect_blank(2 + 3 + 2 * s->clients, what);
}

static caucus_settings base(caucus_algorithm algorithm, caucus_trust trust) {
    caucus_settings s = testing_settings(algorithm, trust, 3, 11, 120, 20);
    return s;
}

static void test_machines(void **state) {
    (void)state;
    caucus_settings s = base(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    s.interval = 2;
    play_and_free(&s, "svt");
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    play_and_free(&s, "svt, whole blocks");
    s = base(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR);
    play_and_free(&s, "hedge");
    s = base(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR);
    s.past_phases = true;
    play_and_free(&s, "stoch, past phases");
    s = base(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY);
    for (int message = 0; message < CAUCUS_MESSAGE_COUNT; message++) {
        s.message = (caucus_message)message;
        s.delta = message == CAUCUS_MESSAGE_GAUSS ? 1e-6 : 0;
        play_and_free(&s, caucus_message_word(s.message));
    }
    s = base(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY);
    s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
    s.smoothness = 1;
    s.trees = 2;
    s.message = CAUCUS_MESSAGE_KNORM;
    play_and_free(&s, "stoch, convex, trees");
}

static uint8_t kept[65536];
static size_t kept_bytes;

static bool keep(void *user, const uint8_t *bytes, size_t size) {
    (void)user;
    assert_true(size <= sizeof kept);
    memcpy(kept, bytes, size);
    kept_bytes = size;
    return true;
}

/* A link with reports that wait, an announcement that waits, and half a frame; and one made from its state. */
static void test_link(void **state) {
    (void)state;
    caucus_settings s = base(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR);
    caucus_plan *plan = NULL;
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    const uint8_t hash[CAUCUS_PLAN_HASH_BYTES] = {3};
    caucus_key key;
    caucus_key_from_seed(5, &key);
    caucus_link *link = NULL;
    assert_int_equal(plain_link(plan, hash, 1, &key, NULL, 0, keep, NULL, &link, NULL), CAUCUS_OK);
    assert_non_null(caucus_link_next_address(link, 0));
    caucus_link_connected(link, 0);
    uint8_t bytes[4096];
    caucus_frame welcome = {.kind = CAUCUS_FRAME_WELCOME, .version = CAUCUS_WIRE_VERSION};
    memcpy(welcome.plan, hash, sizeof hash);
    size_t size = caucus_wire_put(&welcome, bytes, sizeof bytes);
    for (uint64_t serial = 0; serial < 3; serial++) {
        caucus_frame frame = {.kind = CAUCUS_FRAME_ANNOUNCEMENT,
                              .announcement = {.serial = serial, .ask = CAUCUS_ASK_SUMS, .block = serial + 1}};
        size += caucus_wire_put(&frame, bytes + size, sizeof bytes - size);
    }
    assert_int_equal(caucus_link_receive(link, bytes, size - 1, NULL), CAUCUS_OK);
    double row[64];
    hashed_losses(1, 1, s.experts, row);
    while (caucus_link_ready(link))
        assert_int_equal(caucus_link_observe(link, row, NULL), CAUCUS_OK);
    assert_true(link->items >= 2 && kept_bytes > 0);
    watching = true;
    caucus_link_free(link);
    expect_blank(8, "link");
    watching = false;
    link = NULL;
    assert_int_equal(plain_link(plan, hash, 1, &key, kept, kept_bytes, keep, NULL, &link, NULL), CAUCUS_OK);
    assert_true(link->items >= 2);
    watching = true;
    caucus_link_free(link);
    watching = false;
    expect_blank(8, "link, restored");
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_machines), cmocka_unit_test(test_link)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
