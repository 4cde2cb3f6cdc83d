/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_lines.c: any bytes as the losses on a client's standard input.
 *
 * The first byte says how many experts there are, the second how the rest is cut into pieces. However it is cut, the
 * rows, the number of the last line and the error must be those of the whole. */
#include "data/loss_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 256u
#define EXPERTS_MAX 8u

typedef struct outcome {
    caucus_losses_state state;
    uint64_t line;
    size_t rows;
    caucus_error error;
    double row[ROWS_MAX][EXPERTS_MAX];
} outcome;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Rows until none is left; false: more bytes are wanted. */
static bool drain(caucus_loss_lines *lines, outcome *ret) {
    for (;;) {
        double row[EXPERTS_MAX] = {0};
        ret->state = caucus_loss_lines_next(lines, row, &ret->error);
        ret->line = lines->line;
        if (ret->state != CAUCUS_LOSSES_READY)
            return ret->state != CAUCUS_LOSSES_LATER;
        if (ret->rows < ROWS_MAX)
            memcpy(ret->row[ret->rows], row, sizeof row);
        ret->rows++;
    }
}

static void read_in_pieces(uint32_t experts, const uint8_t *data, size_t size, size_t piece, outcome *ret) {
    caucus_loss_lines lines = {.experts = experts};
    memset(ret, 0, sizeof *ret);
    bool over = false;
    for (size_t at = 0; !over && at < size; at += piece) {
        if (!caucus_loss_lines_add(&lines, data + at, size - at < piece ? size - at : piece))
            abort();
        over = drain(&lines, ret);
    }
    lines.ended = true;
    if (!over && !drain(&lines, ret))
        abort(); /* after the end nothing is waited for */
    caucus_loss_lines_free(&lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3)
        return 0;
    static outcome whole, pieces;
    uint32_t experts = 1 + data[0] % EXPERTS_MAX;
    read_in_pieces(experts, data + 2, size - 2, size - 2, &whole);
    read_in_pieces(experts, data + 2, size - 2, 1 + data[1], &pieces);
    if (whole.state != pieces.state || whole.line != pieces.line || whole.rows != pieces.rows ||
        memcmp(whole.row, pieces.row, sizeof whole.row) != 0 || strcmp(whole.error.text, pieces.error.text) != 0)
        abort();
    char place[32];
    (void)snprintf(place, sizeof place, "stdin:%llu: ", (unsigned long long)whole.line);
    if (whole.state == CAUCUS_LOSSES_WRONG && strncmp(whole.error.text, place, strlen(place)) != 0)
        abort();
    /* A row uses its whole line: a zero byte, or a line more than rows, never goes unseen. */
    if (whole.state == CAUCUS_LOSSES_ENDED && (whole.line != whole.rows || memchr(data + 2, '\0', size - 2)))
        abort();
    return 0;
}
