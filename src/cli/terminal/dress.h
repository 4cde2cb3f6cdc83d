/* SPDX-License-Identifier: Apache-2.0 */
/* dress.h: what is printed fits where it is read: the width, characters and colours of a terminal, the locale's
 * characters elsewhere.
 * layer: cli
 *
 * What goes into a file or a pipe has its own line breaks and no colours (but with --color always), whatever the
 * terminal. Data for programs (JSON, CSV, an expert for each round) are the same bytes in every locale, everywhere. */
#ifndef CAUCUS_CLI_DRESS_H
#define CAUCUS_CLI_DRESS_H

#include "num/text.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum caucus_color { CAUCUS_COLOR_AUTO, CAUCUS_COLOR_ALWAYS, CAUCUS_COLOR_NEVER } caucus_color;

/** The value of --color. Returns: false if it is none of auto, always, never. */
bool caucus_color_parse(const char *word, caucus_color *ret);

/** Take `--color WHEN` and `--color=WHEN` out of a command line, wherever they stand before `--`.
 *  Returns: 0, or CAUCUS_EXIT_USAGE; it has said why. */
int caucus_color_take(int *argc, char **argv, caucus_color *ret);

/* How lines have to be to fit. */
typedef struct caucus_dress {
    int width;     /* columns; 0: as wide as they are */
    bool ascii;    /* signs that this program prints are replaced: 2.1 +- 0.7 */
    bool foreign;  /* with ascii: other characters, as of names and paths, stay as they are; else each is a '?' */
    bool coloured; /* words that warn stand out */
} caucus_dress;

/** What a stream of this descriptor needs. In: terminal  false: it is none, whatever the descriptor says. */
caucus_dress caucus_dress_of(int fd, bool terminal, caucus_color when);

/** Append one line, without its newline, so that it fits: broken at blanks, further lines indented under the text of
 *  the first. */
void caucus_dress_line(const caucus_dress *dress, const char *line, size_t length, caucus_text *ret);

/** From now on standard output, and standard error after caucus_clean_stderr(), fit. In: terminals  false: none of them
 *  is one. */
void caucus_dress_streams(bool terminals, caucus_color when);
/** What standard output gets from here on is data for programs: as it is. */
void caucus_dress_data(void);
/** What standard output still has to show: a line without an end. At the end of the program. */
void caucus_dress_end(void);
/** How standard error fits; NULL: as it is. */
const caucus_dress *caucus_dress_stderr(void);

#endif
