/* SPDX-License-Identifier: Apache-2.0 */
/* real_text.h: a real number as text that reads back as the very same number.
 * layer: num */
#ifndef CAUCUS_NUM_REAL_TEXT_H
#define CAUCUS_NUM_REAL_TEXT_H

#define CAUCUS_REAL_TEXT_BYTES 32

/** The decimal of fewest digits, from 15 on, that reads back as the same double. The value must be finite. */
void caucus_real_text(double value, char ret[CAUCUS_REAL_TEXT_BYTES]);

#endif
