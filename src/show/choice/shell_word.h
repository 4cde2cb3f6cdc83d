/* SPDX-License-Identifier: Apache-2.0 */
/* shell_word.h: words of a command that is to be typed again.
 * layer: show */
#ifndef CAUCUS_SHOW_CHOICE_SHELL_WORD_H
#define CAUCUS_SHOW_CHOICE_SHELL_WORD_H

#include <stdio.h>

/** A word as a shell reads it back: in single quotes, unless it is plain. */
void caucus_shell_word(FILE *out, const char *word);

#endif
