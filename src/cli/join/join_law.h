/* SPDX-License-Identifier: Apache-2.0 */
/* join_law.h: how the losses of a simulated client are drawn: the words of simulate, read by the same code.
 * layer: cli */
#ifndef CAUCUS_CLI_JOIN_JOIN_LAW_H
#define CAUCUS_CLI_JOIN_JOIN_LAW_H

#include "plan/plan.h"
#include "sim/adversary.h"

/* As given; NULL: not given. */
typedef struct caucus_law_texts {
    const char *segments, *means, *spread, *drift, *activity;
} caucus_law_texts;

/** Read them into *ret, whose kind is set; `play`: rounds, or slots at the device's own pace, that are played.
 *  Returns: 0, or an exit code after saying what is wrong. */
int caucus_join_law(const caucus_law_texts *texts, const caucus_plan *plan, uint64_t play,
                    caucus_adversary_settings *ret);

#endif
