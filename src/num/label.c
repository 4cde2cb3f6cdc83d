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

caucus_status caucus_labels_twice(const char *const *label, uint32_t count, uint32_t *ret_first, uint32_t *ret_second) {
    numbered *sorted = malloc(((size_t)count + 1) * sizeof *sorted);
    if (sorted == NULL)
        return CAUCUS_E_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (numbered){label[i], i};
    qsort(sorted, count, sizeof *sorted, by_label);
    *ret_first = *ret_second = count;
    for (uint32_t i = 1; *ret_first == count && i < count; i++)
        if (strcmp(sorted[i - 1].label, sorted[i].label) == 0) {
            *ret_first = sorted[i - 1].index;
            *ret_second = sorted[i].index;
        }
    free(sorted);
    return CAUCUS_OK;
}

caucus_status caucus_labels_differ(const char *const *label, uint32_t count, caucus_error *ret_error) {
    uint32_t first = count, second = count;
    if (caucus_labels_twice(label, count, &first, &second) != CAUCUS_OK)
        return caucus_fail_memory(ret_error, "names");
    if (first == count)
        return CAUCUS_OK;
    return caucus_fail(ret_error, CAUCUS_E_FORMAT, "names", "'%.64s' names both expert %u and expert %u", label[first],
                       first, second);
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

caucus_status caucus_labels_match(const char *header, const char *names, const char *file, uint32_t column,
                                  caucus_error *ret_error) {
    for (uint32_t i = 0; header != NULL; i++) {
        const size_t called = strcspn(header, ","), wanted = strcspn(names, ",");
        if (called != wanted || memcmp(header, names, called) != 0)
            return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "names",
                               "%.60s: column %u is called '%.*s', and expert %u '%.*s' — expected the labels in the "
                               "header, in their order",
                               file, column + i, (int)called, header, i, (int)wanted, names);
        header = header[called] == '\0' ? NULL : header + called + 1;
        names += wanted + (names[wanted] == ',');
    }
    return CAUCUS_OK;
}
