/* SPDX-License-Identifier: Apache-2.0 */
/* word.h: the words the scalar samplers are made of.
 * layer: dp
 *
 * The samplers are written for words of CAUCUS_WORD_BITS uniform bits. In the library that is 64; a
 * test compiles the very same files with 4-bit words from a script and walks through every sequence. */
#ifndef CAUCUS_DP_WORD_H
#define CAUCUS_DP_WORD_H

#include <caucus/samplers.h>

#include "num/int128.h"

#ifndef CAUCUS_WORD_BITS
#include "rng/words.h"
#define CAUCUS_WORD_BITS 64
#define CAUCUS_DRAW(stream) caucus_word(stream)
#endif

#define CAUCUS_WORD_RANGE ((caucus_u128)1 << CAUCUS_WORD_BITS)
#define CAUCUS_WORD_MASK ((uint64_t)(CAUCUS_WORD_RANGE - 1))

#endif
