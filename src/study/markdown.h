/* SPDX-License-Identifier: Apache-2.0 */
/* markdown.h: the part of Markdown our own documents use, to HTML.
 * layer: study
 *
 * Blocks: # headings, paragraphs, - and 1. lists (one level; indented lines continue an item), | tables | with a
 * |---| line, ``` fenced code, > quotes, --- rules. Inside a line: `code`, **strong**, *emphasis*, [text](address),
 * backslash before a mark to write it plainly. Everything else is text and is escaped: the result contains no
 * element and no attribute that is not listed here, whatever the input. Only http, https, # and relative
 * addresses become links. */
#ifndef CAUCUS_STUDY_MARKDOWN_H
#define CAUCUS_STUDY_MARKDOWN_H

#include "study/text_buffer.h"

/** Append `markdown` as HTML.
 *  In:      level  added to every heading's level (1: "# A" becomes <h2>), at most <h6>.
 *  Cost:    linear in the input. */
void caucus_markdown_html(const char *markdown, size_t length, int level, caucus_text *ret);

#endif
