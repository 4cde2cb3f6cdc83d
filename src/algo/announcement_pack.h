/* SPDX-License-Identifier: Apache-2.0 */
/* announcement_pack.h: the announcement in a saved state, and whether a plan could ever have made it. */
#ifndef CAUCUS_ALGO_ANNOUNCEMENT_PACK_H
#define CAUCUS_ALGO_ANNOUNCEMENT_PACK_H

#include <caucus/message.h>

#include "algo/pack.h"
#include "plan/plan.h"

void caucus_pack_announcement(caucus_pack *pack, const caucus_plan *plan, caucus_announcement *announcement);

#endif
