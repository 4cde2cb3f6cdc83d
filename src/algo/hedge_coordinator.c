/* hedge_coordinator.c: Fed-Hedge (one shared draw per block) and leader (follow the leader, no privacy).
 *
 * After each block but the last the coordinator draws P(y) ~ exp(-rate*cum(y)), rate = e_H/(m*grid), on the sums over
 * all clients and all time. Each draw is (2 e_H/m)-bounded-range for one replaced loss: docs/PRIVACY.md, "Fed-Hedge".
 */
#include <stdlib.h>

#include <caucus/select.h>

#include "algo/coordinator.h"

static void ask_next(caucus_coordinator *c, uint64_t block) {
    bool more = block + 1 < c->plan->hedge.blocks;
    caucus_coordinator_announce(c, more ? CAUCUS_ASK_SUMS : CAUCUS_ASK_NOTHING, more ? block + 1 : block, 0);
}

caucus_status caucus_hedge_coordinator_new(caucus_coordinator *c) {
    size_t m = c->plan->settings.clients, d = c->plan->settings.experts;
    c->sums_next = calloc(m, sizeof *c->sums_next);
    c->cum = calloc(d, sizeof *c->cum);
    if (!c->sums_next || !c->cum)
        return CAUCUS_E_MEMORY;
    for (size_t i = 0; i < m; i++)
        c->sums_next[i] = 1;
    ask_next(c, 0);
    c->now.serial = 0;
    return CAUCUS_OK;
}

void caucus_hedge_coordinator_decide(caucus_coordinator *c) {
    uint32_t d = c->plan->settings.experts;
    uint64_t block = c->now.block;
    bool leader = c->plan->settings.algorithm == CAUCUS_ALGORITHM_LEADER;
    caucus_stream stream;
    caucus_coordinator_stream(c, &stream, leader ? CAUCUS_PURPOSE_TIE : CAUCUS_PURPOSE_SELECT, 0, block);
    c->now.expert = leader ? caucus_select_min(&stream, c->cum, d)
                           : caucus_select_exponential(&stream, c->cum, d, c->plan->hedge.rate);
    caucus_stream_wipe(&stream);
    caucus_coordinator_selected(c);
    c->now.epoch = c->selections;
    ask_next(c, block);
}
