/* SPDX-License-Identifier: Apache-2.0 */
/* loss_lines.h: losses as lines of text, one row per line, in pieces as they come.
 * layer: data
 *
 * What a client reads from standard input (caucus join). Bytes go in as they arrive, rows come out in order; however
 * the bytes were cut into pieces, the rows and the errors are the same. */
#ifndef CAUCUS_DATA_LOSS_LINES_H
#define CAUCUS_DATA_LOSS_LINES_H

#include <caucus/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum caucus_losses_state {
    CAUCUS_LOSSES_READY, /* a row is there */
    CAUCUS_LOSSES_SLOT,  /* a line "slot N": lines.slot */
    CAUCUS_LOSSES_LATER, /* not yet: wait until more can be read */
    CAUCUS_LOSSES_ENDED, /* no more will come */
    CAUCUS_LOSSES_WRONG, /* malformed: the error says where */
    CAUCUS_LOSSES_FAILED /* a file is not what it was: the error says which */
} caucus_losses_state;

typedef struct caucus_loss_lines {
    uint32_t experts;
    char *text;
    size_t size, used, room;
    uint64_t line; /* number of the last line taken */
    uint64_t skip; /* lines to pass over first */
    bool ended;    /* no more will come: set by the caller */
    bool slots;    /* lines "slot N" say which slot of the clock it is: set by the caller */
    uint64_t slot; /* of the last such line */
} caucus_loss_lines;

/** Append what has been read. Returns: false if there is no memory; nothing is appended then. */
bool caucus_loss_lines_add(caucus_loss_lines *lines, const void *bytes, size_t size);
/** The next row, into ret[experts]. An error begins with "stdin:LINE: ". */
caucus_losses_state caucus_loss_lines_next(caucus_loss_lines *lines, double *ret, caucus_error *ret_error);
void caucus_loss_lines_free(caucus_loss_lines *lines);

/** One line of d numbers: "0.1,0.2" or "[0.1, 0.2]"; nan and null are not numbers, and accepted.
 *  Returns: CAUCUS_OK, CAUCUS_E_FORMAT (what is wrong, without the place). */
caucus_status caucus_loss_line(const char *line, uint32_t experts, double *ret,
                               caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
