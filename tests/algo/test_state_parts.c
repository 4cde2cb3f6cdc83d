/* SPDX-License-Identifier: Apache-2.0 */
/* test_state_parts.c: the state of a large fleet in parts: what is in step or stays away costs nothing, whatever is
 * saved comes back, and no altered chunk is mistaken for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "algo/coordinator.h"
#include "algo/coordinator_state.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define CLIENTS 140000u /* three chunks, the last one shorter */
#define CHUNKS 3u

typedef struct fleet {
    caucus_plan *plan;
    caucus_key key;
    caucus_coordinator *machine;
    caucus_piece root, chunk[CHUNKS];
} fleet;

static void fleet_open(fleet *f, caucus_algorithm algorithm) {
    caucus_settings s;
    caucus_error error = {0};
    memset(f, 0, sizeof *f);
    caucus_settings_init(&s);
    s.algorithm = algorithm;
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.clients = CLIENTS;
    s.experts = 4;
    s.rounds = 64;
    caucus_key_from_seed(3, &f->key);
    if (caucus_plan_new(&s, &f->plan, &error) != CAUCUS_OK)
        fail_msg("%s: %s", error.field, error.text);
    assert_int_equal(caucus_coordinator_new(f->plan, &f->key, &f->machine), CAUCUS_OK);
    assert_int_equal(caucus_coordinator_chunks(f->plan), CHUNKS);
}

static void fleet_save(fleet *f) {
    assert_int_equal(caucus_coordinator_save_parts(f->machine, &f->root, f->chunk), CAUCUS_OK);
}

static caucus_status fleet_restore(const fleet *f, caucus_coordinator **ret) {
    return caucus_coordinator_restore_parts(f->plan, &f->key, &f->root, f->chunk, CHUNKS, ret);
}

static void fleet_close(fleet *f) {
    caucus_coordinator_free(f->machine);
    caucus_plan_free(f->plan);
    caucus_piece_free(&f->root);
    for (uint32_t i = 0; i < CHUNKS; i++)
        caucus_piece_free(&f->chunk[i]);
}

static void hash_of(const caucus_piece *piece, uint8_t ret[crypto_hash_sha256_BYTES]) {
    (void)crypto_hash_sha256(ret, piece->bytes, piece->size);
}

/* Restored from its parts, the machine must have the same whole state. */
static void expect_same(const fleet *f) {
    caucus_coordinator *again = NULL;
    assert_int_equal(fleet_restore(f, &again), CAUCUS_OK);
    const size_t bytes = caucus_coordinator_state_bytes(f->machine);
    uint8_t *want = malloc(bytes), *got = malloc(bytes);
    assert_true(want && got);
    assert_int_equal(caucus_coordinator_save(f->machine, want, bytes), CAUCUS_OK);
    assert_int_equal(caucus_coordinator_save(again, got, bytes), CAUCUS_OK);
    assert_memory_equal(got, want, bytes);
    free(want);
    free(got);
    caucus_coordinator_free(again);
}

static void in_step_costs_nothing(void **state) {
    (void)state;
    const caucus_algorithm all[] = {CAUCUS_ALGORITHM_SVT, CAUCUS_ALGORITHM_HEDGE, CAUCUS_ALGORITHM_STOCH};
    for (size_t a = 0; a < sizeof all / sizeof all[0]; a++) {
        fleet f;
        fleet_open(&f, all[a]);
        fleet_save(&f);
        assert_true(f.root.size < 1024);
        for (uint32_t i = 0; i < CHUNKS; i++)
            assert_true(f.chunk[i].size <= 2);
        expect_same(&f);
        fleet_close(&f);
    }
}

/* Everybody answers the step in hand but one in a hundred: those whose place, from 0, leaves this remainder. */
static void answer(fleet *f, uint32_t away) {
    const caucus_announcement now = *caucus_coordinator_announcement(f->machine);
    static const int64_t none[4] = {0};
    for (uint32_t i = 0; i < CLIENTS; i++) {
        const caucus_report r = {.client = i + 1,
                                 .kind = now.ask,
                                 .first = now.block,
                                 .block = now.block,
                                 .epoch_or_leaf = now.epoch,
                                 .count = now.ask == CAUCUS_ASK_COST ? 1 : 4,
                                 .value = none};
        if (i % 100 != away)
            assert_int_equal(caucus_coordinator_receive(f->machine, &r), CAUCUS_OK);
    }
    assert_int_equal(caucus_coordinator_decide(f->machine), CAUCUS_OK);
    caucus_coordinator_show(f->machine);
}

/* One in a hundred is away and the others go on: the chunks stay as they are. One that moves changes its own alone. */
static void absent_clients_change_no_chunk(void **state) {
    (void)state;
    fleet f;
    uint8_t before[CHUNKS][crypto_hash_sha256_BYTES], now[crypto_hash_sha256_BYTES];
    uint64_t stamp[CHUNKS] = {0};
    fleet_open(&f, CAUCUS_ALGORITHM_SVT);
    for (uint64_t block = 2; block < 6; block++) {
        answer(&f, 7);
        fleet_save(&f);
        expect_same(&f);
        for (uint32_t i = 0; i < CHUNKS; i++) {
            hash_of(&f.chunk[i], now);
            if (block > 2)
                assert_memory_equal(now, before[i], sizeof now);
            assert_int_equal(f.chunk[i].stamp == stamp[i], block > 2); /* nor was it written */
            stamp[i] = f.chunk[i].stamp;
            memcpy(before[i], now, sizeof now);
            assert_true(f.chunk[i].size > 800 && f.chunk[i].size < 8000);
        }
    }
    const int64_t cost = 0;
    const caucus_report late = {.client = CAUCUS_CHUNK_CLIENTS + 64 + 8, /* away: 65,607 is 7 modulo 100 */
                                .kind = CAUCUS_ASK_COST,
                                .first = 1,
                                .block = 1,
                                .count = 1,
                                .value = &cost};
    assert_int_equal(caucus_coordinator_receive(f.machine, &late), CAUCUS_OK);
    answer(&f, 7);
    fleet_save(&f);
    expect_same(&f);
    for (uint32_t i = 0; i < CHUNKS; i++) {
        hash_of(&f.chunk[i], now);
        assert_int_equal(memcmp(now, before[i], sizeof now) != 0, i == 1);
        assert_int_equal(f.chunk[i].stamp != stamp[i], i == 1);
    }
    fleet_close(&f);
}

/* Every form, at the borders between them, and values that nobody has in common. */
static void every_form_comes_back(void **state) {
    (void)state;
    const uint32_t differ[] = {1, 4095, 4096, 30000, CLIENTS - CAUCUS_CHUNK_CLIENTS, CLIENTS};
    fleet f;
    fleet_open(&f, CAUCUS_ALGORITHM_SVT);
    for (size_t k = 0; k < sizeof differ / sizeof differ[0]; k++) {
        for (uint32_t i = 0; i < CLIENTS; i++) {
            caucus_progress_put(f.machine->cost_next, i, i < differ[k] ? 1000 + (uint64_t)i * 977 : 5);
            caucus_progress_put(f.machine->sums_next, i, CLIENTS - 1 - i < differ[k] ? UINT64_MAX - i : 1);
        }
        fleet_save(&f);
        expect_same(&f);
    }
    fleet_close(&f);
}

/* A chunk that was altered or cut is refused, or says something else; it is never read beyond its end (sanitizers). */
static void altered_chunks_are_refused(void **state) {
    (void)state;
    for (uint32_t differ = 3; differ <= 5000; differ += 4997) {
        fleet f;
        caucus_coordinator *again = NULL;
        fleet_open(&f, CAUCUS_ALGORITHM_SVT);
        for (uint32_t i = 0; i < differ; i++)
            caucus_progress_put(f.machine->cost_next, (size_t)2 * i, 9 + i);
        fleet_save(&f);
        caucus_piece *chunk = &f.chunk[0];
        const size_t size = chunk->size;
        for (size_t cut = 0; cut<size; cut += size> 64 ? size / 7 : 1) {
            chunk->size = cut;
            assert_int_equal(fleet_restore(&f, &again), CAUCUS_E_FORMAT);
        }
        chunk->size = size;
        const uint8_t form = chunk->bytes[0];
        for (unsigned other = 0; other < 5; other++) {
            chunk->bytes[0] = (uint8_t)other;
            if (other != form)
                assert_int_equal(fleet_restore(&f, &again), CAUCUS_E_FORMAT);
        }
        chunk->bytes[0] = form;
        if (form == 1) { /* entries that do not rise, a client beyond the chunk's, no entries, the common value */
            uint8_t whole[64];
            memcpy(whole, chunk->bytes, size);
            memcpy(chunk->bytes + 5, whole + 15, 2);
            assert_int_equal(fleet_restore(&f, &again), CAUCUS_E_FORMAT);
            memcpy(chunk->bytes, whole, size);
            chunk->bytes[1] = 0;
            assert_int_equal(fleet_restore(&f, &again), CAUCUS_E_FORMAT);
            memcpy(chunk->bytes, whole, size);
            memset(chunk->bytes + 7, 0, 8);
            chunk->bytes[7] = 1;
            assert_int_equal(fleet_restore(&f, &again), CAUCUS_E_FORMAT);
            memcpy(chunk->bytes, whole, size);
        }
        f.root.bytes[40] ^= 1;
        assert_int_equal(fleet_restore(&f, &again), CAUCUS_E_FORMAT);
        f.root.bytes[40] ^= 1;
        assert_int_equal(caucus_coordinator_restore_parts(f.plan, &f.key, &f.root, f.chunk, 2, &again),
                         CAUCUS_E_FORMAT);
        assert_null(again);
        expect_same(&f);
        fleet_close(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_step_costs_nothing),
        cmocka_unit_test(absent_clients_change_no_chunk),
        cmocka_unit_test(every_form_comes_back),
        cmocka_unit_test(altered_chunks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
