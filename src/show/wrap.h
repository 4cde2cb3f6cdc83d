/* SPDX-License-Identifier: Apache-2.0 */
/* wrap.h: text in lines of a certain width.
 * layer: show */
#ifndef CAUCUS_SHOW_WRAP_H
#define CAUCUS_SHOW_WRAP_H

#include <stdio.h>

/** A paragraph: words of `text`, separated by blanks, in lines of at most `width` columns, each ended. `first` begins
 *  its first line ("  - "), the others are indented by as many columns. A word that is wider than a line is
 *  broken. A no-break space (U+00A0) is printed as a blank at which no line ends. */
void caucus_wrap_put(FILE *out, int width, const char *first, const char *text);

#endif
