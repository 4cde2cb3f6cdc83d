/* SPDX-License-Identifier: Apache-2.0 */
/* browser.h: have a page shown by whatever this desktop shows pages with.
 * layer: cli
 *
 * $BROWSER is read as xdg-open reads it: commands separated by colons, the first that can be started is; %s in it
 * stands for the address, which otherwise follows as its last word. No shell sees any of it. Without $BROWSER it is
 * xdg-open. What is started belongs to itself: another session, no standard streams of ours, nobody's child. */
#ifndef CAUCUS_CLI_BROWSER_H
#define CAUCUS_CLI_BROWSER_H

#include <stdbool.h>

/** Is there something to show a page with: $BROWSER, or a display and xdg-open in $PATH? */
bool caucus_browser_there(void);

/** Start it. Returns: whether something was started (what becomes of it is not known); if not, errno says why. */
bool caucus_browser_open(const char *address);

#endif
