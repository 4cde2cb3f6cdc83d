/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_relayed.c: a partial as a relay sends it, into a coordinator: the first byte chooses the machine, the rest is
 * the partial. What is refused must leave the machine as it was, what is taken must leave one that can go on.
 * make_corpus.c makes the corpus. */
#include <string.h>

#include "algo/relayed/relayed.h"
#include "relayed_machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STATE_MAX = 1 << 16 };

static size_t save(const caucus_coordinator *c, uint8_t *to) {
    const size_t bytes = caucus_coordinator_state_bytes(c);
    if (bytes > STATE_MAX || caucus_coordinator_save(c, to, bytes) != CAUCUS_OK)
        abort();
    return bytes;
}

static void go_on(caucus_coordinator *c) {
    for (int step = 0; step < 100; step++) {
        const caucus_report r = relayed_answer(c, 2);
        (void)!caucus_coordinator_receive(c, &r);
        if (caucus_coordinator_decide(c) != CAUCUS_OK)
            return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t before[STATE_MAX], after[STATE_MAX];
    static const uint16_t placed[2] = {1, 1};
    const caucus_relayed_from from = {.placed = placed, .relay = 1};
    if (plans[0] == NULL)
        make_plans();
    if (size < 1)
        return 0;
    caucus_coordinator *c = relayed_machine(data[0]);
    caucus_relayed partial;
    uint32_t answered = 0;
    if (caucus_relayed_read(plans[data[0] % PLANS], data + 1, size - 1, &partial) == CAUCUS_OK) {
        const size_t bytes = save(c, before);
        const caucus_status status = caucus_relayed_take(c, &partial, &from, &answered);
        if (status != CAUCUS_OK && (save(c, after) != bytes || memcmp(before, after, bytes) != 0))
            abort();
        if (answered > 2)
            abort();
        go_on(c);
    }
    caucus_coordinator_free(c);
    return 0;
}
