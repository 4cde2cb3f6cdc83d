/* SPDX-License-Identifier: Apache-2.0 */
/* join_end.h: what a client says when it ends, or goes on after it was away.
 * layer: cli */
#ifndef CAUCUS_CLI_JOIN_JOIN_END_H
#define CAUCUS_CLI_JOIN_JOIN_END_H

#include <caucus/link.h>

#include "plan/plan.h"

/** How much was played and sent, and losses that were out of range; on standard error. */
void caucus_join_say_end(const caucus_link *link, const caucus_plan *plan);
/** Rounds `first` to `last` of a run without an end were played while this client was away. */
void caucus_join_say_missed(uint64_t first, uint64_t last);
/** At its own pace: the losses ended, and nobody was there to report them to. kept: there is a state. */
void caucus_join_say_alone(const char *connect, bool kept);

#endif
