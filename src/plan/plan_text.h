/* plan_text.h: the canonical text of a plan, and its hash.
 * layer: plan
 *
 * A plan has one text: keys in a fixed order (plan_walk.h), fractions in lowest terms. A plan file (store/plan_file.h)
 * holds exactly these bytes, and their SHA-256 is the plan's name. */
#ifndef CAUCUS_PLAN_PLAN_TEXT_H
#define CAUCUS_PLAN_PLAN_TEXT_H

#include "plan/plan.h"

#define CAUCUS_PLAN_HEX_BYTES 65 /* 64 hexadecimal digits and the end */

/** The bytes of a plan's file. Returns: CAUCUS_OK, CAUCUS_E_MEMORY. The caller frees *ret. */
caucus_status caucus_plan_file_text(const caucus_plan *plan, char **ret, size_t *ret_size) CAUCUS_MUST_CHECK;

/** SHA-256 of bytes, as 64 hexadecimal digits. */
void caucus_plan_file_hash(const void *bytes, size_t size, char ret[CAUCUS_PLAN_HEX_BYTES]);

#endif
