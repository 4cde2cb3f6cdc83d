/* SPDX-License-Identifier: Apache-2.0 */
/* html.h: text as HTML: the status page, the audits' page, the report.
 * layer: store */
#ifndef CAUCUS_STORE_HTML_H
#define CAUCUS_STORE_HTML_H

#include <stdio.h>

/** What stands for a character that means something in HTML text or in a quoted attribute; NULL: it stands for
 *  itself. */
const char *caucus_html_entity(char character);

/** The text, escaped. */
void caucus_html_put(FILE *to, const char *text);

#endif
