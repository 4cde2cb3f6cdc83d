/* announcement_pack.h: the parts of a state that client and coordinator share. */
#ifndef CAUCUS_ALGO_ANNOUNCEMENT_PACK_H
#define CAUCUS_ALGO_ANNOUNCEMENT_PACK_H

#include <caucus/message.h>

#include "algo/pack.h"
#include "algo/tree.h"

void caucus_pack_announcement(caucus_pack *pack, const caucus_plan *plan, caucus_announcement *announcement);
void caucus_pack_leaf(caucus_pack *pack, caucus_leaf *leaf);

#endif
