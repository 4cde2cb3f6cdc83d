/* SPDX-License-Identifier: Apache-2.0 */
/* label.h: what an expert may be called.
 * layer: num
 *
 * A label is public and stands in plans, tables, logs, CSV and JSON, so it must be one word to all of them: 1 to 64
 * bytes of UTF-8 without control characters, line separators, invisible marks, commas or quotes, and without a blank at
 * either end. Labels of one list differ from each other, byte by byte. */
#ifndef CAUCUS_NUM_LABEL_H
#define CAUCUS_NUM_LABEL_H

#include <caucus/status.h>

#include <stddef.h>
#include <stdint.h>

#define CAUCUS_LABEL_MAX 64u

/** Check one label of `length` bytes.
 *  Returns: CAUCUS_OK, CAUCUS_E_FORMAT (field "names": what is wrong with it and what is accepted). */
caucus_status caucus_label_check(const char *label, size_t length, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Check that all of `count` labels differ. Returns: CAUCUS_OK, CAUCUS_E_FORMAT (names the label and both places),
 *  CAUCUS_E_MEMORY. */
caucus_status caucus_labels_differ(const char *const *label, uint32_t count, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Find a label that is there twice. Out: *ret_first and *ret_second, its places from 0, or count and count: all
 *  differ. Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_labels_twice(const char *const *label, uint32_t count, uint32_t *ret_first,
                                  uint32_t *ret_second) CAUCUS_MUST_CHECK;

/** All of them as one text, separated by commas; the caller frees it. NULL: out of memory. */
char *caucus_labels_text(const char *const *label, uint32_t count);
/** How many labels such a text holds. */
uint32_t caucus_labels_count(const char *names);

/** Whether the header of a file of losses has these labels, in their order: a column that is called otherwise holds
 *  another expert's losses.
 *  In:      header, names  two such texts, of as many labels each; header NULL: the file has none, and all is well.
 *           file           what errors call it; column  the number of its first expert's column, from 1.
 *  Returns: CAUCUS_OK, CAUCUS_E_CONFLICT (field "names": the column, what it is called, and the label in its place). */
caucus_status caucus_labels_match(const char *header, const char *names, const char *file, uint32_t column,
                                  caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
