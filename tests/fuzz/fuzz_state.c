/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_state.c: a machine's saved state, altered by somebody who can also make its checksum right. The first byte says
 * which plan and machine, the rest is the state without its checksum, and for a coordinator also a chunk of a state in
 * parts. Whatever is restored must be fit to go on with.
 * make_corpus.c makes the corpus. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include <caucus/caucus.h>

#include "algo/coordinator_state.h"
#include "state_plans.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void go_on_coordinator(caucus_coordinator *c) {
    for (int step = 0; step < 100; step++) {
        const caucus_announcement *a = caucus_coordinator_announcement(c);
        int64_t value[8] = {1, 2, 0, 0, 0, 0, 0, 0};
        uint64_t cost, sums;
        bool answered;
        caucus_coordinator_counted(c, 1, &cost, &sums, &answered);
        caucus_report r = {
            .client = 1, .kind = a->ask, .first = sums ? sums : a->block, .block = a->block, .epoch_or_leaf = a->leaf};
        r.count = a->ask == CAUCUS_ASK_COST || a->ask == CAUCUS_ASK_VOTE ? 1
                  : a->ask == CAUCUS_ASK_SHORTLIST                       ? a->listed
                                                                         : 3;
        r.value = value;
        (void)!caucus_coordinator_receive(c, &r);
        if (caucus_coordinator_decide(c) != CAUCUS_OK)
            return;
    }
}

static void go_on_client(caucus_client *c) {
    caucus_client_set_gradient(c, flat, NULL);
    double loss[3] = {0.5, 0.25, 1}, x[3];
    for (int round = 0; round < 80 && caucus_client_rounds_left(c) > 0; round++)
        if (caucus_client_observe(c, loss, 1) != CAUCUS_OK)
            abort();
    const caucus_report *r = caucus_client_report(c);
    int64_t sum = 0;
    for (uint32_t i = 0; r && i < r->count; i++)
        sum ^= r->value[i];
    if (caucus_client_mixture(c, x, sizeof x / sizeof *x) != CAUCUS_OK)
        abort();
    caucus_announcement a = {.serial = caucus_client_heard(c), .ask = CAUCUS_ASK_NOTHING, .leaf = sum == 42};
    (void)!caucus_client_hear(c, &a);
}

/* The same bytes as the chunk of a state in parts, beside a root that is whole. */
static void try_chunk(const caucus_plan *plan, const caucus_key *key, const uint8_t *bytes, size_t size) {
    caucus_coordinator *c = NULL, *again = NULL;
    caucus_piece root = {0}, chunk = {0};
    if (caucus_coordinator_new(plan, key, &c) == CAUCUS_OK &&
        caucus_coordinator_save_parts(c, &root, &chunk) == CAUCUS_OK && caucus_piece_resize(&chunk, size)) {
        if (size > 0)
            memcpy(chunk.bytes, bytes, size);
        if (caucus_coordinator_restore_parts(plan, key, &root, &chunk, 1, &again) == CAUCUS_OK)
            go_on_coordinator(again);
    }
    caucus_coordinator_free(again);
    caucus_coordinator_free(c);
    caucus_piece_free(&root);
    caucus_piece_free(&chunk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (plans[0] == NULL)
        make_plans();
    if (size < 1 || size > 1 << 16)
        return 0;
    const caucus_plan *plan = plans[data[0] / 2 % PLANS];
    uint8_t *state = malloc(size - 1 + crypto_hash_sha256_BYTES);
    if (state == NULL)
        return 0;
    memcpy(state, data + 1, size - 1);
    crypto_hash_sha256(state + size - 1, state, size - 1);
    caucus_key key;
    caucus_key_from_seed(1, &key);
    if (data[0] % 2) {
        caucus_client *c = NULL;
        if (caucus_client_restore(plan, 1, &key, state, size - 1 + crypto_hash_sha256_BYTES, &c) == CAUCUS_OK)
            go_on_client(c);
        caucus_client_free(c);
    } else {
        caucus_coordinator *c = NULL;
        if (caucus_coordinator_restore(plan, &key, state, size - 1 + crypto_hash_sha256_BYTES, &c) == CAUCUS_OK)
            go_on_coordinator(c);
        caucus_coordinator_free(c);
        try_chunk(plan, &key, data + 1, size - 1);
    }
    free(state);
    return 0;
}
