/* SPDX-License-Identifier: Apache-2.0 */
/* plan_text.h: the canonical text of a plan, and its hash.
 * layer: plan
 *
 * A plan has one text: keys in a fixed order (plan_walk.h), fractions in lowest terms. A plan file
 * (<caucus/plan_file.h>) holds exactly these bytes, and their SHA-256 is the plan's name. */
#ifndef CAUCUS_PLAN_PLAN_TEXT_H
#define CAUCUS_PLAN_PLAN_TEXT_H

#include "plan/plan.h"

#define CAUCUS_PLAN_TEXT_VERSION 2

/** The bytes of a plan's file. Returns: CAUCUS_OK, CAUCUS_E_MEMORY. The caller frees *ret. */
caucus_status caucus_plan_text(const caucus_plan *plan, char **ret, size_t *ret_size) CAUCUS_MUST_CHECK;

/** Name the plan after its text: due whenever one of its integers was set. */
void caucus_plan_set_hash(caucus_plan *plan, const void *text, size_t size);

#endif
