/* SPDX-License-Identifier: Apache-2.0 */
/* loss_lines.c: see loss_lines.h. */
#include "data/loss_lines.h"

#include "algo/wipe.h"
#include "num/number_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLOT "slot " /* what a line about the clock begins with */
/* Longest line: this much per expert, and something for blanks. More is no line of losses. */
#define NUMBER_BYTES 64u
#define BLANK_BYTES 65536u

bool caucus_loss_lines_add(caucus_loss_lines *l, const void *bytes, size_t size) {
    if (size == 0)
        return true;
    if (l->used > 0)
        memmove(l->text, l->text + l->used, l->size - l->used);
    l->size -= l->used;
    l->used = 0;
    if (l->room - l->size < size + 1) { /* one more: the last line gets an end */
        size_t least = l->size + size + 1, room = 2 * l->room > least ? 2 * l->room : least;
        char *more = caucus_wipe_grow(l->text, l->size, l->room, room);
        if (!more)
            return false;
        l->text = more;
        l->room = room;
    }
    memcpy(l->text + l->size, bytes, size);
    l->size += size;
    return true;
}

void caucus_loss_lines_free(caucus_loss_lines *l) {
    caucus_wipe_free(l->text, l->room);
    *l = (caucus_loss_lines){0};
}

static const char *skip_space(const char *at) {
    return at + strspn(at, " \t\r");
}

/* One value; NULL if there is none. JSON has no NaN: null stands for it. */
static const char *take_value(const char *at, double *ret) {
    if (strncmp(at, "null", 4) == 0) {
        *ret = NAN;
        return at + 4;
    }
    char *end = NULL;
    *ret = strtod(at, &end);
    return end == at ? NULL : end;
}

static caucus_status no_value(const char *at, const char *end, uint64_t number, caucus_error *ret_error) {
    size_t length = strcspn(at, ",] \t\r");
    if (end && end == at + length) /* a number, and then another */
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                           "no comma after value %llu, '%.*s' — values are separated by commas: 0.1,0.2,…",
                           (unsigned long long)number, length < 40 ? (int)length : 40, at);
    return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "value %llu is '%.*s' — expected a number",
                       (unsigned long long)number, length < 40 ? (int)length : 40, at);
}

caucus_status caucus_loss_line(const char *line, uint32_t experts, double *ret, caucus_error *ret_error) {
    const char *at = skip_space(line);
    bool json = *at == '[';
    uint64_t count = 0;
    if (json)
        at = skip_space(at + 1);
    while (*at != '\0' && *at != ']') {
        double value = 0;
        const char *end = take_value(at, &value), *next = end ? skip_space(end) : at;
        if (!end || (*next != ',' && *next != ']' && *next != '\0'))
            return no_value(at, end, count + 1, ret_error);
        if (count < experts)
            ret[count] = value;
        count++;
        at = next;
        if (*at == ',') {
            at = skip_space(at + 1);
            if (*at == '\0' || *at == ']')
                return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                                   "nothing follows the last comma — expected a number");
        }
    }
    if (json != (*at == ']') || (json && *skip_space(at + 1) != '\0'))
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "brackets do not match — expected 0.1,0.2,… or [0.1,0.2,…]");
    if (count != experts)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%llu values — expected %u", (unsigned long long)count,
                           experts);
    return CAUCUS_OK;
}

static caucus_losses_state wrong(const caucus_loss_lines *l, const char *why, caucus_error *ret_error) {
    (void)caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "stdin:%llu: %.200s", (unsigned long long)l->line, why);
    return CAUCUS_LOSSES_WRONG;
}

/* The next line of the buffer, ended by a zero: *ret; NULL if none is complete. Returns: false, and an error, if what
 * is there can be no line. */
static bool next_line(caucus_loss_lines *l, char **ret, caucus_error *ret_error) {
    *ret = NULL;
    if (l->used == l->size)
        return true;
    char *from = l->text + l->used, *stop = l->text + l->size;
    char *end = memchr(from, '\n', l->size - l->used);
    bool whole = end || l->ended; /* the last line needs no end */
    size_t length = (size_t)((end ? end : stop) - from);
    if (length > (size_t)NUMBER_BYTES * l->experts + BLANK_BYTES) {
        l->line++;
        (void)wrong(l, "the line is too long for its values", ret_error);
        return false;
    }
    if (!whole)
        return true;
    l->line++;
    l->used += length + (end != NULL);
    if (memchr(from, '\0', length)) { /* what follows it would go unseen */
        (void)wrong(l, "a zero byte — losses are text", ret_error);
        return false;
    }
    from[length] = '\0';
    *ret = from;
    return true;
}

static bool is_slot(const caucus_loss_lines *l, const char *line) {
    return l->slots && strncmp(line, SLOT, sizeof SLOT - 1) == 0;
}

caucus_losses_state caucus_loss_lines_next(caucus_loss_lines *l, double *ret, caucus_error *ret_error) {
    char *line;
    for (;;) {
        if (!next_line(l, &line, ret_error))
            return CAUCUS_LOSSES_WRONG;
        if (!line || l->skip == 0)
            break;
        if (!is_slot(l, line)) /* rows are skipped, and the slots between them */
            l->skip--;
    }
    if (!line)
        return l->ended ? CAUCUS_LOSSES_ENDED : CAUCUS_LOSSES_LATER;
    caucus_error error = {0};
    if (is_slot(l, line))
        return caucus_whole_parse(line + sizeof SLOT - 1, 0, INT64_MAX, &l->slot)
                   ? CAUCUS_LOSSES_SLOT
                   : wrong(l, "the number of a slot is missing — expected slot N", ret_error);
    if (caucus_loss_line(line, l->experts, ret, &error) == CAUCUS_OK)
        return CAUCUS_LOSSES_READY;
    return wrong(l, error.text, ret_error);
}
