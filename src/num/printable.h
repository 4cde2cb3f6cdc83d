/* SPDX-License-Identifier: Apache-2.0 */
/* printable.h: text from outside, made fit for one line of somebody's terminal, log or page.
 * layer: num */
#ifndef CAUCUS_NUM_PRINTABLE_H
#define CAUCUS_NUM_PRINTABLE_H

#include <stddef.h>

/** Each byte that is no part of a well-formed UTF-8 character, and each byte of a control character (U+0000 to U+001F,
 *  U+007F to U+009F), becomes '?': nothing moves a cursor, changes a colour or begins a line of its own. The length
 *  stays, so a text may be cleaned where it lies.
 *  In:      length  bytes of text; a zero byte among them becomes '?', too. */
void caucus_printable_bytes(char *text, size_t length);
/** The same up to its zero byte. */
void caucus_printable(char *text);

#endif
