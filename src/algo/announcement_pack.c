/* SPDX-License-Identifier: Apache-2.0 */
/* announcement_pack.c: see announcement_pack.h. */
#include "algo/announcement_pack.h"

#include "algo/machine.h"

void caucus_pack_announcement(caucus_pack *p, const caucus_plan *plan, caucus_announcement *a) {
    uint32_t ask = (uint32_t)a->ask;
    caucus_pack_u64(p, &a->serial);
    caucus_pack_u32(p, &a->expert);
    caucus_pack_u64(p, &a->epoch);
    caucus_pack_u32(p, &ask);
    caucus_pack_u64(p, &a->block);
    caucus_pack_u32(p, &a->leaf);
    caucus_pack_u32(p, &a->listed);
    caucus_pack_u32s(p, a->list, CAUCUS_SHORTLIST);
    caucus_pack_below(p, a->expert, plan->settings.experts);
    caucus_pack_below(p, ask, CAUCUS_ASK_SHORTLIST + 1);
    caucus_pack_below(p, a->listed, CAUCUS_SHORTLIST + 1);
    for (uint32_t i = 0; i < CAUCUS_SHORTLIST; i++)
        caucus_pack_below(p, a->list[i], plan->settings.experts);
    a->ask = p->failed ? CAUCUS_ASK_NOTHING : (caucus_ask)ask;
    if (p->mode == CAUCUS_PACK_READ && a->ask != CAUCUS_ASK_NOTHING && !caucus_machine_ops_of(plan)->asks(plan, a))
        p->failed = true;
}
