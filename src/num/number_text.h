/* SPDX-License-Identifier: Apache-2.0 */
/* number_text.h: numbers as text and back, one way each: what is written reads back as the very same number, and what
 * is read is plain decimal notation and nothing else. libc also takes hexadecimal, "nan(...)", signs of whole numbers
 * and leading space, which nobody means in a setting or a file.
 * layer: num */
#ifndef CAUCUS_NUM_NUMBER_TEXT_H
#define CAUCUS_NUM_NUMBER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAUCUS_REAL_TEXT_BYTES 32

/** The decimal of fewest digits, from 15 on, that reads back as the same double. The value must be finite. */
void caucus_real_text(double value, char ret[CAUCUS_REAL_TEXT_BYTES]);
/** With `digits` significant digits, or as many more as it takes to tell it from `other`: 10.00001, not 10, beside 10.
 *  The value must be finite. */
void caucus_real_apart(double value, double other, int digits, char ret[CAUCUS_REAL_TEXT_BYTES]);

/** text[length], digits alone, as a number of at most `most`. Returns: false if it is not one; then *ret stays. */
bool caucus_digits_parse(const char *text, size_t length, uint64_t most, uint64_t *ret);
/** The same for a whole text, from `least` on. */
bool caucus_whole_parse(const char *text, uint64_t least, uint64_t most, uint64_t *ret);
/** A finite real number. Returns: false if the whole text is not one; then *ret stays. */
bool caucus_real_parse(const char *text, double *ret);

#endif
