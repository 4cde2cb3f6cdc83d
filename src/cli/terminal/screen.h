/* SPDX-License-Identifier: Apache-2.0 */
/* screen.h: what the terminal that a stream goes to can show.
 * layer: cli */
#ifndef CAUCUS_CLI_SCREEN_H
#define CAUCUS_CLI_SCREEN_H

/* Nothing is laid out for less. */
#define CAUCUS_SCREEN_LEAST 60

#include <stdbool.h>

/** Whether characters beyond ASCII can be shown: the locale's are UTF-8. */
bool caucus_screen_utf8(void);

/** Columns of the terminal that `fd` is, or else of the environment's COLUMNS, at least CAUCUS_SCREEN_LEAST; or else
 *  `fallback`. */
int caucus_screen_width(int fd, int fallback);

/** Columns that tables on standard output are laid out for; 0: as wide as they are, since it is no terminal: a file or
 *  a pipe gets the same bytes whatever COLUMNS says. */
int caucus_screen_table_width(void);

#endif
