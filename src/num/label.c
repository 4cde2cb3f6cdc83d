/* SPDX-License-Identifier: Apache-2.0 */
/* label.c: see label.h. */
#include "num/label.h"
#include "num/fail.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* One code point at `at`: its length in bytes, 0 if what is there is not UTF-8 (overlong forms, surrogates, beyond
 * U+10FFFF, cut off). */
static size_t decode(const unsigned char *at, size_t left, uint32_t *ret) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : at[0] >> 3 == 30 ? 4 : 0;
    if (length == 0 || length > left)
        return 0;
    uint32_t point = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (at[i] >> 6 != 2)
            return 0;
        point = point << 6 | (at[i] & 0x3fu);
    }
    if (point < least[length] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return 0;
    *ret = point;
    return length;
}

/* Control characters, separators of lines, marks that nobody sees (directions, joiners, byte order), and what is no
 * character at all. */
static bool unseen(uint32_t point) {
    return point < 0x20 || (point >= 0x7f && point < 0xa0) || (point >= 0x200b && point <= 0x200f) ||
           (point >= 0x2028 && point <= 0x202e) || (point >= 0x2060 && point <= 0x206f) || point == 0xfeff ||
           (point & 0xfffe) == 0xfffe;
}

caucus_status caucus_label_check(const char *label, size_t length, caucus_error *ret_error) {
    const int shown = (int)(length < 24 ? length : 24);
    if (length == 0 || length > CAUCUS_LABEL_MAX)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "names", "'%.*s' has %zu bytes (accepted: 1 to %u)", shown,
                           label, length, CAUCUS_LABEL_MAX);
    for (size_t at = 0; at < length;) {
        uint32_t point = 0;
        const size_t step = decode((const unsigned char *)label + at, length - at, &point);
        if (step == 0)
            return caucus_fail(ret_error, CAUCUS_E_FORMAT, "names", "a label that is not UTF-8 at its byte %zu",
                               at + 1);
        if (unseen(point))
            return caucus_fail(ret_error, CAUCUS_E_FORMAT, "names",
                               "a label with the control character U+%04X at its byte %zu", point, at + 1);
        if (point == ',' || point == '"' || point == '\'')
            return caucus_fail(ret_error, CAUCUS_E_FORMAT, "names",
                               "'%.*s' holds a %s (accepted: UTF-8 without commas and quotes)", shown, label,
                               point == ',' ? "comma" : "quote");
        at += step;
    }
    if (label[0] == ' ' || label[length - 1] == ' ')
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "names", "'%.*s' begins or ends with a blank", shown, label);
    return CAUCUS_OK;
}

typedef struct numbered {
    const char *label;
    uint32_t index;
} numbered;

static int by_label(const void *a, const void *b) {
    const numbered *x = a, *y = b;
    const int order = strcmp(x->label, y->label);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

caucus_status caucus_labels_differ(const char *const *label, uint32_t count, caucus_error *ret_error) {
    numbered *sorted = malloc(((size_t)count + 1) * sizeof *sorted);
    if (sorted == NULL)
        return caucus_fail_memory(ret_error, "names");
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (numbered){label[i], i};
    qsort(sorted, count, sizeof *sorted, by_label);
    caucus_status status = CAUCUS_OK;
    for (uint32_t i = 1; status == CAUCUS_OK && i < count; i++)
        if (strcmp(sorted[i - 1].label, sorted[i].label) == 0)
            status = caucus_fail(ret_error, CAUCUS_E_FORMAT, "names", "'%.64s' names both expert %u and expert %u",
                                 sorted[i].label, sorted[i - 1].index, sorted[i].index);
    free(sorted);
    return status;
}

char *caucus_labels_text(const char *const *label, uint32_t count) {
    size_t bytes = 1;
    for (uint32_t i = 0; i < count; i++)
        bytes += strlen(label[i]) + 1;
    char *joined = malloc(bytes), *at = joined;
    for (uint32_t i = 0; joined != NULL && i < count; i++) {
        const size_t length = strlen(label[i]);
        if (i > 0)
            *at++ = ',';
        memcpy(at, label[i], length);
        at += length;
    }
    if (joined != NULL)
        *at = '\0';
    return joined;
}

uint32_t caucus_labels_count(const char *names) {
    uint32_t count = 1;
    for (; *names != '\0'; names++)
        count += *names == ',';
    return count;
}
