/* SPDX-License-Identifier: Apache-2.0 */
/* csv_table.h: a table of numbers from a CSV file, with or without a line of names.
 * layer: data
 *
 * Lines end with LF or CR LF; the last may do without. Values are separated by commas, blanks around them do not count.
 * The first line is a header if none of its values is a number; names differ, and may stand in double quotes. nan and
 * null are accepted as values that are not numbers. Blank lines are refused, but for those at the end. */
#ifndef CAUCUS_DATA_CSV_TABLE_H
#define CAUCUS_DATA_CSV_TABLE_H

#include <caucus/status.h>
#include <stddef.h>
#include <stdint.h>

#define CAUCUS_CSV_BYTES ((size_t)1 << 32)
#define CAUCUS_CSV_COLUMNS (1u << 20)

typedef struct caucus_csv_table {
    uint32_t columns;
    uint64_t rows;
    char **name;    /* [columns]; NULL: there was no header */
    double *values; /* [rows][columns] */
} caucus_csv_table;

/** Parse a whole file in memory; `name` is what errors call it.
 *  Returns: CAUCUS_OK, CAUCUS_E_FORMAT (the text begins with the name and the line), CAUCUS_E_MEMORY. */
caucus_status caucus_csv_table_parse(const char *name, const char *bytes, size_t size, caucus_csv_table *ret,
                                     caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** The same of a file. Returns: as above, and CAUCUS_E_PATH, CAUCUS_E_IO. */
caucus_status caucus_csv_table_read(const char *path, caucus_csv_table *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Wipe the values and free; a zeroed struct is fine. */
void caucus_csv_table_free(caucus_csv_table *table);

#endif
