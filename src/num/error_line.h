/* SPDX-License-Identifier: Apache-2.0 */
/* error_line.h: an error's parts as one line for people.
 * layer: num
 *
 * The library hands out parts (caucus/status.h); whoever prints or logs makes the line here, so that it reads the same
 * everywhere. The field is left to the caller, who knows what it is called where the person wrote it. */
#ifndef CAUCUS_NUM_ERROR_LINE_H
#define CAUCUS_NUM_ERROR_LINE_H

#include <caucus/status.h>
#include <stddef.h>

/* The longest line, with what the system said. */
#define CAUCUS_ERROR_LINE_BYTES 512

/** "text: what the system said — hint", each part where there is one; the status's own text if the error has none. */
void caucus_error_line(const caucus_error *error, caucus_status status, char ret[CAUCUS_ERROR_LINE_BYTES]);

#endif
