/* SPDX-License-Identifier: Apache-2.0 */
/* labels.c: see labels.h. */
#include "scenario/labels.h"

#include "num/fail.h"
#include "num/hand_over.h"
#include "num/label.h"
#include "store/atomic_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXPERTS_MAX (1u << 20)
#define FILE_BYTES ((size_t)EXPERTS_MAX * (CAUCUS_LABEL_MAX + 2))

void caucus_labels_free(caucus_labels *labels) {
    for (uint32_t i = 0; i < labels->count; i++)
        free(labels->label[i]);
    free(labels->label);
    *labels = (caucus_labels){0};
}

static caucus_status add(caucus_labels *labels, const char *label, size_t length, caucus_error *ret_error) {
    caucus_status status = caucus_label_check(label, length, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (labels->count == EXPERTS_MAX)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "names", "more than %u labels", EXPERTS_MAX);
    if ((labels->count & (labels->count - 1)) == 0) {
        const size_t room = labels->count == 0 ? 1 : 2 * (size_t)labels->count;
        char **grown = realloc(labels->label, room * sizeof *grown);
        if (grown == NULL)
            return caucus_fail_memory(ret_error, "names");
        labels->label = grown;
    }
    if ((labels->label[labels->count] = strndup(label, length)) == NULL)
        return caucus_fail_memory(ret_error, "names");
    labels->count++;
    return CAUCUS_OK;
}

/* All of a text, cut at `separator`; of a file the last line may have an end. */
static caucus_status split(const char *text, size_t size, char separator, caucus_labels *ret, caucus_error *ret_error) {
    const char *at = text, *end = text + size;
    caucus_status status = CAUCUS_OK;
    while (status == CAUCUS_OK && (at < end || separator == ',')) {
        const char *stop = at < end ? memchr(at, separator, (size_t)(end - at)) : NULL;
        size_t length = (size_t)((stop != NULL ? stop : end) - at);
        const bool carriage = separator == '\n' && length > 0 && at[length - 1] == '\r';
        status = add(ret, at, length - carriage, ret_error);
        if (stop == NULL)
            break;
        at = stop + 1;
    }
    return status;
}

/* A file's labels, a line each, after the mark that spreadsheets put first. */
static caucus_status split_file(const char *bytes, size_t size, caucus_labels *ret, caucus_error *ret_error) {
    const size_t mark = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    return split(bytes + mark, size - mark, '\n', ret, ret_error);
}

static caucus_status check(const caucus_labels *labels, caucus_error *ret_error) {
    if (labels->count < 2)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "names", "%u label (accepted: 2 or more, one per expert)",
                           labels->count);
    return caucus_labels_differ((const char *const *)labels->label, labels->count, ret_error);
}

/* The end of whatever makes labels: checked and handed over, or freed. */
static caucus_status hand_over(caucus_labels *labels, caucus_status status, caucus_labels *ret,
                               caucus_error *ret_error) {
    if (status == CAUCUS_OK)
        status = check(labels, ret_error);
    return CAUCUS_HAND_OVER(status, ret, *labels, caucus_labels_free(labels));
}

caucus_status caucus_labels_read(const char *text, caucus_labels *ret, caucus_error *ret_error) {
    caucus_labels labels = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    caucus_status status = CAUCUS_OK;
    const bool file = text[0] == '@' && text[1] != '@';
    const char *list = text + (text[0] == '@' && !file); /* behind the first of two */
    if (file)
        status = caucus_file_load(text + 1, FILE_BYTES, "a file of names", &bytes, &size, ret_error);
    if (status == CAUCUS_OK)
        status = file ? split_file((const char *)bytes, size, &labels, ret_error)
                      : split(list, strlen(list), ',', &labels, ret_error);
    free(bytes);
    return hand_over(&labels, status, ret, ret_error);
}

caucus_status caucus_labels_copy(const char *const *label, uint32_t count, caucus_labels *ret,
                                 caucus_error *ret_error) {
    caucus_labels labels = {0};
    caucus_status status = CAUCUS_OK;
    for (uint32_t i = 0; status == CAUCUS_OK && i < count; i++)
        status = add(&labels, label[i], strlen(label[i]), ret_error);
    return hand_over(&labels, status, ret, ret_error);
}
