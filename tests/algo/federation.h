/* SPDX-License-Identifier: Apache-2.0 */
/* federation.h: a whole federation in one process for tests: real machines, losses from a function. */
#ifndef CAUCUS_TEST_FEDERATION_H
#define CAUCUS_TEST_FEDERATION_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <caucus/caucus.h>

#include "plan/plan.h"

#define MAX_CLIENTS 16
#define MAX_DECISIONS 4096

/* Losses of client (1-based) in round (1-based). */
typedef void (*loss_function)(uint32_t client, uint32_t round, uint32_t d, double *ret);

typedef struct federation {
    caucus_plan *plan;
    caucus_coordinator *coordinator;
    caucus_client *client[MAX_CLIENTS];
    uint32_t m, d;
    uint32_t expert[MAX_DECISIONS]; /* expert in force in each round, client 1 */
    uint32_t rounds;
    uint64_t scalars_up;
    uint32_t announcements;
} federation;

static inline void federation_open(federation *f, const caucus_settings *settings, uint64_t seed) {
    memset(f, 0, sizeof *f);
    caucus_error error = {0};
    caucus_status status = caucus_plan_new(settings, &f->plan, &error);
    if (status != CAUCUS_OK)
        fail_msg("plan: %s: %s", error.field, error.text);
    f->m = f->plan->settings.clients;
    f->d = f->plan->settings.experts;
    assert_true(f->m <= MAX_CLIENTS);
    caucus_key run, key;
    caucus_key_from_seed(seed, &run);
    caucus_key_derive(&run, 0, &key);
    assert_int_equal(caucus_coordinator_new(f->plan, &key, &f->coordinator), CAUCUS_OK);
    for (uint32_t i = 0; i < f->m; i++) {
        caucus_key_derive(&run, i + 1, &key);
        assert_int_equal(caucus_client_new(f->plan, i + 1, &key, &f->client[i]), CAUCUS_OK);
        assert_int_equal(caucus_client_hear(f->client[i], caucus_coordinator_announcement(f->coordinator)), CAUCUS_OK);
    }
}

static inline void federation_close(federation *f) {
    for (uint32_t i = 0; i < f->m; i++)
        caucus_client_free(f->client[i]);
    caucus_coordinator_free(f->coordinator);
    caucus_plan_free(f->plan);
}

static inline void federation_talk(federation *f) {
    while (caucus_client_report(f->client[0])) {
        for (uint32_t i = 0; i < f->m; i++) {
            const caucus_report *report = caucus_client_report(f->client[i]);
            assert_non_null(report);
            assert_int_equal(caucus_coordinator_receive(f->coordinator, report), CAUCUS_OK);
            assert_int_equal(caucus_coordinator_receive(f->coordinator, report), CAUCUS_E_DUPLICATE);
            f->scalars_up += report->count;
        }
        assert_int_equal(caucus_coordinator_waiting(f->coordinator), 0);
        assert_int_equal(caucus_coordinator_decide(f->coordinator), CAUCUS_OK);
        f->announcements++;
        for (uint32_t i = 0; i < f->m; i++)
            assert_int_equal(caucus_client_hear(f->client[i], caucus_coordinator_announcement(f->coordinator)),
                             CAUCUS_OK);
    }
}

/* Play all rounds. */
static inline void federation_play(federation *f, loss_function losses) {
    double *row = malloc(f->d * sizeof *row);
    assert_non_null(row);
    for (uint32_t round = 1; round <= f->plan->settings.rounds; round++) {
        assert_true(round < MAX_DECISIONS);
        f->expert[f->rounds++] = caucus_client_expert(f->client[0]);
        for (uint32_t i = 0; i < f->m; i++) {
            losses(i + 1, round, f->d, row);
            assert_int_equal(caucus_client_observe(f->client[i], row, 1), CAUCUS_OK);
        }
        federation_talk(f);
    }
    for (uint32_t i = 0; i < f->m; i++) {
        assert_int_equal(caucus_client_round(f->client[i]), f->plan->settings.rounds);
        assert_int_equal(caucus_client_rounds_left(f->client[i]), 0);
    }
    free(row);
}

/* Losses that differ everywhere but need no generator: a hash of (client, round, expert) in [0,1]; expert 3 is
 * better. */
static inline void hashed_losses(uint32_t client, uint32_t round, uint32_t d, double *ret) {
    for (uint32_t y = 0; y < d; y++) {
        uint64_t h =
            (uint64_t)client * 0x9e3779b97f4a7c15u + (uint64_t)round * 0xbf58476d1ce4e5b9u + y * 0x94d049bb133111ebu;
        h ^= h >> 31;
        h *= 0xd6e8feb86659fd93u;
        h ^= h >> 29;
        ret[y] = (double)(h >> 40) / (double)(1u << 24) * (y == 3 ? 0.2 : 1.0);
    }
}

#endif
