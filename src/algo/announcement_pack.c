/* announcement_pack.c: see announcement_pack.h. */
#include "algo/announcement_pack.h"

#include "algo/schedule.h"
#include "algo/tree.h"

/* Could this plan ask for this block, phase or leaf? What follows indexes by it. */
static bool possible(const caucus_plan *plan, const caucus_announcement *a) {
    if (a->ask == CAUCUS_ASK_NOTHING)
        return true;
    if (caucus_plan_is_stoch(plan)) {
        bool votes = plan->settings.trust == CAUCUS_TRUST_NOBODY &&
                     (plan->stoch.message == CAUCUS_MESSAGE_VOTE || plan->stoch.message == CAUCUS_MESSAGE_SHORTLIST);
        if (a->block < 2 || a->block > plan->stoch.phases)
            return false;
        if (a->ask == CAUCUS_ASK_LEAF)
            return !votes && a->step < caucus_tree_leaves(plan->stoch.phase[a->block - 2].trees);
        return votes && a->step == 0 &&
               (a->ask == CAUCUS_ASK_VOTE || (a->ask == CAUCUS_ASK_SHORTLIST && a->listed >= 1));
    }
    bool svt = caucus_plan_is_svt(plan);
    return a->block >= 1 && a->block <= (svt ? plan->svt.checks : plan->hedge.blocks - 1) &&
           (a->ask == CAUCUS_ASK_SUMS || (svt && a->ask == CAUCUS_ASK_COST));
}

void caucus_pack_announcement(caucus_pack *p, const caucus_plan *plan, caucus_announcement *a) {
    uint32_t ask = (uint32_t)a->ask;
    caucus_pack_u64(p, &a->serial);
    caucus_pack_u32(p, &a->expert);
    caucus_pack_u64(p, &a->epoch);
    caucus_pack_u32(p, &ask);
    caucus_pack_u64(p, &a->block);
    caucus_pack_u32(p, &a->step);
    caucus_pack_u32(p, &a->listed);
    caucus_pack_u32s(p, a->list, CAUCUS_SHORTLIST);
    caucus_pack_below(p, a->expert, plan->settings.experts);
    caucus_pack_below(p, ask, CAUCUS_ASK_SHORTLIST + 1);
    caucus_pack_below(p, a->listed, CAUCUS_SHORTLIST + 1);
    for (uint32_t i = 0; i < CAUCUS_SHORTLIST; i++)
        caucus_pack_below(p, a->list[i], plan->settings.experts);
    a->ask = p->failed ? CAUCUS_ASK_NOTHING : (caucus_ask)ask;
    if (p->mode == CAUCUS_PACK_READ && !possible(plan, a))
        p->failed = true;
}
