/* SPDX-License-Identifier: Apache-2.0 */
/* audit_rows.h: how a row of the table of audits begins.
 * layer: audit
 *
 * A row begins with what is broken in it, which gives its name: SOUND("svt"), HALF_NOISE("svt") and so on. */
#ifndef CAUCUS_AUDIT_AUDIT_ROWS_H
#define CAUCUS_AUDIT_AUDIT_ROWS_H

#include "audit/audit_parts.h"

#define K 1000
#define M 1000000

/* name, whose twin, what is wrong, the fault */
/* clang-format off */
#define SOUND(name) name, NULL, NULL, {CAUCUS_AUDIT_NO_FAULT, 1, 1}
#define NOISE_125(name) name "-noise-1.25", name, "noise / 1.25", {CAUCUS_AUDIT_NOISE, 5, 4}
#define NOISE_150(name) name "-noise-1.5", name, "noise / 1.5", {CAUCUS_AUDIT_NOISE, 3, 2}
#define HALF_NOISE(name) name "-half-noise", name, "noise / 2", {CAUCUS_AUDIT_NOISE, 2, 1}
#define NOISE_16(name) name "-noise-16", name, "noise / 16", {CAUCUS_AUDIT_NOISE, 16, 1}
#define RANGE_5(name) name "-range-5", name, "losses up to 5", {CAUCUS_AUDIT_RANGE_5, 1, 1}
#define WRONG(name, word, kind, text) name "-" word, name, text, {CAUCUS_AUDIT_##kind, 1, 1}
#define PAPERS(name, of, text) name, of, text, {CAUCUS_AUDIT_OTHER, 1, 1}
/* clang-format on */

#endif
