/* SPDX-License-Identifier: Apache-2.0 */
/* screen.h: what the terminal that a stream goes to can show.
 * layer: cli */
#ifndef CAUCUS_CLI_SCREEN_H
#define CAUCUS_CLI_SCREEN_H

/* Nothing is laid out for less. */
#define CAUCUS_SCREEN_LEAST 60

/** Columns of the terminal that `fd` is; else of the environment's COLUMNS; else `fallback`. At least
 *  CAUCUS_SCREEN_LEAST. */
int caucus_screen_width(int fd, int fallback);

#endif
