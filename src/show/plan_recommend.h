/* SPDX-License-Identifier: Apache-2.0 */
/* plan_recommend.h: which algorithm and which trust, and why.
 * layer: show
 *
 * Every algorithm that fits the settings is planned and played against losses of each kind that may be known; the
 * advice then follows from what is proved for such losses and from what was seen. */
#ifndef CAUCUS_SHOW_PLAN_RECOMMEND_H
#define CAUCUS_SHOW_PLAN_RECOMMEND_H

#include "show/plan_facts.h"

#include <stdio.h>

/** Compare and print.
 *  In:      settings  algorithm is ignored; trust CAUCUS_TRUST_COUNT: compare coordinator and nobody. What belongs
 *                     to one algorithm (interval, lstar, ...) is used where it applies.
 *           known     CAUCUS_KNOWLEDGE_COUNT: all three.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE or CAUCUS_E_INFEASIBLE (no algorithm fits: why the first one does not),
 *           CAUCUS_E_MEMORY. */
caucus_status caucus_recommend(FILE *out, const caucus_settings *settings, caucus_knowledge known, bool json,
                               caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
