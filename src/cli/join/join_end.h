/* SPDX-License-Identifier: Apache-2.0 */
/* join_end.h: what a client says when it ends.
 * layer: cli */
#ifndef CAUCUS_CLI_JOIN_JOIN_END_H
#define CAUCUS_CLI_JOIN_JOIN_END_H

#include <caucus/link.h>

#include "plan/plan.h"

/** How much was played and sent, and losses that were out of range; on standard error. */
void caucus_join_say_end(const caucus_link *link, const caucus_plan *plan);

#endif
