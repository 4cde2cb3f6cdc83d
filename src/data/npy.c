/* SPDX-License-Identifier: Apache-2.0 */
/* npy.c: the .npy header parser and row access.
 * layer: data
 *
 * The header is a Python literal, but only the part of Python that numpy writes is accepted: one dictionary with
 * string keys and values that are a string, True, False or a tuple of whole numbers. */
#include "data/npy.h"

#include "algo/wipe.h"
#include "data/losses_csv.h"
#include "num/little_endian.h"
#include "store/atomic_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "npy.c copies little-endian values as they are"
#endif

#define MAGIC_BYTES 6
#define HEADER_MAX 65536u /* numpy writes about 100 bytes */
#define DIMENSIONS_MAX 8
#define DESCR_BYTES 16

/* What the dictionary said. */
typedef struct header {
    char descr[DESCR_BYTES];
    bool fortran;
    unsigned dimensions;
    uint64_t shape[DIMENSIONS_MAX];
    bool has_descr, has_fortran, has_shape;
} header;

/* The text still to be read. */
typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_blanks(cursor *text) {
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\t' || *text->at == '\n' || *text->at == '\r'))
        text->at++;
}

/* Take one character if it comes next, after blanks. */
static bool take(cursor *text, char wanted) {
    skip_blanks(text);
    if (text->at == text->end || *text->at != wanted)
        return false;
    text->at++;
    return true;
}

static bool take_word(cursor *text, const char *word) {
    skip_blanks(text);
    size_t length = strlen(word);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0)
        return false;
    text->at += length;
    return true;
}

/* 'text' or "text" of printable ASCII without escapes, shorter than bytes. */
static bool take_string(cursor *text, char *ret, size_t bytes) {
    skip_blanks(text);
    if (text->at == text->end || (*text->at != '\'' && *text->at != '"'))
        return false;
    char quote = *text->at++;
    size_t length = 0;
    for (; text->at < text->end && *text->at != quote; text->at++) {
        if (*text->at < ' ' || *text->at > '~' || *text->at == '\\' || length + 1 >= bytes)
            return false;
        ret[length++] = *text->at;
    }
    ret[length] = '\0';
    return text->at++ < text->end;
}

/* A whole number below 2^64; Python 2 wrote 10L. */
static bool take_number(cursor *text, uint64_t *ret) {
    skip_blanks(text);
    const char *begin = text->at;
    uint64_t value = 0;
    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++)
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text->at - '0'), &value))
            return false;
    if (text->at == begin)
        return false;
    (void)take(text, 'L');
    *ret = value;
    return true;
}

/* (), (3,), (3, 4), (3, 4,) */
static bool take_shape(cursor *text, header *ret) {
    if (!take(text, '('))
        return false;
    for (ret->dimensions = 0; !take(text, ')'); ret->dimensions++) {
        if (ret->dimensions == DIMENSIONS_MAX || !take_number(text, &ret->shape[ret->dimensions]))
            return false;
        if (!take(text, ',')) {
            ret->dimensions++;
            return take(text, ')');
        }
    }
    return true;
}

static bool take_entry(cursor *text, header *ret) {
    char key[24];
    if (!take_string(text, key, sizeof key) || !take(text, ':'))
        return false;
    if (strcmp(key, "descr") == 0 && !ret->has_descr)
        return ret->has_descr = take_string(text, ret->descr, sizeof ret->descr);
    if (strcmp(key, "fortran_order") == 0 && !ret->has_fortran) {
        ret->fortran = take_word(text, "True");
        return ret->has_fortran = ret->fortran || take_word(text, "False");
    }
    if (strcmp(key, "shape") == 0 && !ret->has_shape)
        return ret->has_shape = take_shape(text, ret);
    return false;
}

static bool take_dictionary(cursor *text, header *ret) {
    if (!take(text, '{'))
        return false;
    while (!take(text, '}')) {
        if (!take_entry(text, ret))
            return false;
        if (!take(text, ',')) {
            if (!take(text, '}'))
                return false;
            break;
        }
    }
    skip_blanks(text);
    return text->at == text->end && ret->has_descr && ret->has_fortran && ret->has_shape;
}

/* "(10, 512)" as Python writes it. */
static void shape_text(const header *head, char *ret, size_t bytes) {
    size_t used = (size_t)snprintf(ret, bytes, "(");
    for (unsigned i = 0; i < head->dimensions && used < bytes; i++)
        used += (size_t)snprintf(ret + used, bytes - used, "%s%llu", i == 0 ? "" : ", ",
                                 (unsigned long long)head->shape[i]);
    if (used < bytes)
        snprintf(ret + used, bytes - used, head->dimensions == 1 ? ",)" : ")");
}

static caucus_status check_type(const char *name, const header *head, bool *ret_wide, caucus_error *ret_error) {
    const char *descr = head->descr;
    if (descr[0] == '>')
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                           "%s: values are big-endian ('%s') — save losses.astype('<f4')", name, descr);
    *ret_wide = strcmp(descr, "<f8") == 0;
    if (!*ret_wide && strcmp(descr, "<f4") != 0)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                           "%s: values of type '%s' — expected '<f4' or '<f8': save losses.astype('<f4')", name, descr);
    if (head->fortran)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s: Fortran order — save np.ascontiguousarray(losses)",
                           name);
    return CAUCUS_OK;
}

/* The shape must be three sizes that fit, and the values must fill the rest of the file exactly. `shape` is what the
 * file says, for people: sizes that were left out are in the header by now. */
static caucus_status check_shape(const char *name, const header *head, const char *shape, bool wide, size_t available,
                                 caucus_error *ret_error) {
    uint64_t bytes = wide ? 8 : 4;
    bool fits = head->dimensions == 3;
    if (!fits)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                           "%s: shape %s — expected clients × rounds × experts, for example (10, 512, 100)", name,
                           shape);
    for (unsigned i = 0; i < 3; i++)
        if (head->shape[i] == 0 || head->shape[i] > UINT32_MAX || __builtin_mul_overflow(bytes, head->shape[i], &bytes))
            fits = false;
    if (!fits)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                           "%s: shape %s — every size must be at least 1 and all must fit in memory", name, shape);
    if (bytes != available)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                           "%s: shape %s needs %llu bytes of values, the file has %llu — %s", name, shape,
                           (unsigned long long)bytes, (unsigned long long)available,
                           available < bytes ? "it is truncated" : "something follows them");
    return CAUCUS_OK;
}

/* Where the dictionary begins and how long it is. */
static caucus_status find_header(const char *name, const uint8_t *bytes, size_t size, size_t *ret_begin,
                                 size_t *ret_length, caucus_error *ret_error) {
    if (size < MAGIC_BYTES + 4 || memcmp(bytes, "\x93NUMPY", MAGIC_BYTES) != 0)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s: not a NumPy file — expected one written by np.save",
                           name);
    unsigned major = bytes[MAGIC_BYTES], minor = bytes[MAGIC_BYTES + 1];
    if (major < 1 || major > 3 || minor != 0)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s: NumPy format %u.%u — expected 1.0, 2.0 or 3.0", name,
                           major, minor);
    const size_t begin = major > 1 ? 12 : 10; /* the header's length takes 4 bytes, in version 1 only 2 */
    const size_t length = size >= begin ? (size_t)caucus_le_get(bytes + 8, begin - 8) : 0;
    if (size < begin || length > size - begin)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s: the file ends inside its header", name);
    if (length > HEADER_MAX)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s: a header of %zu bytes (at most %u)", name, length,
                           HEADER_MAX);
    *ret_begin = begin;
    *ret_length = length;
    return CAUCUS_OK;
}

/* Sizes that were left out stand in front, and are 1. */
static void put_in_front(header *head, unsigned least) {
    while (head->dimensions >= least && head->dimensions < 3) {
        for (unsigned i = head->dimensions++; i > 0; i--)
            head->shape[i] = head->shape[i - 1];
        head->shape[0] = 1;
    }
}

/* least: 2: rounds x experts will do, the losses of one client; 1: and so will one row of them. */
static caucus_status parse(const char *name, const uint8_t *bytes, size_t size, unsigned least, caucus_npy *ret,
                           caucus_error *ret_error) {
    size_t begin = 0, length = 0;
    caucus_status status = find_header(name, bytes, size, &begin, &length, ret_error);
    if (status != CAUCUS_OK)
        return status;
    header head = {.descr = ""};
    cursor text = {(const char *)bytes + begin, (const char *)bytes + begin + length};
    if (!take_dictionary(&text, &head))
        return caucus_fail(
            ret_error, CAUCUS_E_FORMAT, "",
            "%s: header not understood — expected {'descr': '<f4', 'fortran_order': False, 'shape': (10, 512, 100)}",
            name);
    bool wide = false;
    if ((status = check_type(name, &head, &wide, ret_error)) != CAUCUS_OK)
        return status;
    const unsigned dimensions = head.dimensions;
    char shape[64];
    shape_text(&head, shape, sizeof shape);
    put_in_front(&head, least);
    if ((status = check_shape(name, &head, shape, wide, size - begin - length, ret_error)) != CAUCUS_OK)
        return status;
    *ret = (caucus_npy){.clients = (uint32_t)head.shape[0],
                        .rounds = head.shape[1],
                        .experts = (uint32_t)head.shape[2],
                        .wide = wide,
                        .single = dimensions < 3,
                        .vector = dimensions < 2,
                        .values = bytes + begin + length};
    return CAUCUS_OK;
}

caucus_status caucus_npy_parse(const char *name, const uint8_t *bytes, size_t size, caucus_npy *ret,
                               caucus_error *ret_error) {
    return parse(name, bytes, size, 3, ret, ret_error);
}

static const char magic[MAGIC_BYTES + 1] = "\x93NUMPY";

static bool is_npy(const caucus_mapped *file) {
    return file->size >= MAGIC_BYTES && memcmp(file->bytes, magic, MAGIC_BYTES) == 0;
}

caucus_status caucus_npy_is(const char *path, bool *ret, caucus_error *ret_error) {
    caucus_mapped file;
    caucus_status status = caucus_mapped_open(path, &file, ret_error);
    if (status != CAUCUS_OK)
        return status;
    *ret = is_npy(&file);
    caucus_mapped_close(&file);
    return CAUCUS_OK;
}

/* Whatever is not NumPy's is taken for CSV; a name that does not say so may have meant the other. */
static caucus_status open_csv(const char *path, bool own, caucus_npy *ret, caucus_error *ret_error) {
    caucus_error why = {0};
    const caucus_status status = caucus_losses_csv_open(path, own, ret, &why);
    const size_t length = strlen(path);
    const bool said = length > 4 && strcasecmp(path + length - 4, ".csv") == 0;
    if (status == CAUCUS_E_FORMAT && !said)
        return caucus_fail(ret_error, status, "", "%.170s (no NumPy file of np.save, so read as CSV)", why.text);
    if (status != CAUCUS_OK && ret_error != NULL)
        *ret_error = why;
    return status;
}

static caucus_status open_file(const char *path, unsigned least, caucus_npy *ret, caucus_error *ret_error) {
    caucus_mapped file;
    caucus_status status = caucus_mapped_open(path, &file, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (!is_npy(&file)) {
        caucus_mapped_close(&file);
        return open_csv(path, least < 3, ret, ret_error);
    }
    status = parse(caucus_path_tail(path), file.bytes, file.size, least, ret, ret_error);
    if (status != CAUCUS_OK)
        caucus_mapped_close(&file);
    else
        ret->file = file;
    return status;
}

caucus_status caucus_npy_open(const char *path, caucus_npy *ret, caucus_error *ret_error) {
    return open_file(path, 3, ret, ret_error);
}

caucus_status caucus_npy_open_own(const char *path, caucus_npy *ret, caucus_error *ret_error) {
    return open_file(path, 2, ret, ret_error);
}

caucus_status caucus_npy_open_rows(const char *path, caucus_npy *ret, caucus_error *ret_error) {
    return open_file(path, 1, ret, ret_error);
}

void caucus_loss_array_init(caucus_loss_array *ret) {
    *ret = (caucus_loss_array){.size = sizeof *ret};
}

caucus_status caucus_loss_array_check(const caucus_loss_array *losses, caucus_error *ret_error) {
    if (losses == NULL || losses->size == sizeof *losses) /* the only size there has been */
        return CAUCUS_OK;
    return caucus_fail(ret_error, CAUCUS_E_RANGE, "size", "not set up by caucus_loss_array_init()");
}

caucus_npy caucus_npy_borrow(const caucus_loss_array *losses) {
    return (caucus_npy){.clients = losses->clients,
                        .experts = losses->experts,
                        .rounds = losses->rounds,
                        .wide = losses->wide,
                        .values = losses->values};
}

void caucus_npy_close(caucus_npy *npy) {
    caucus_mapped_close(&npy->file);
    caucus_wipe_free(npy->read, npy->read != NULL ? (size_t)npy->clients * npy->rounds * npy->experts * 8 : 0);
    free(npy->names);
    npy->read = NULL;
    npy->names = NULL;
}

caucus_status caucus_npy_whole(const caucus_npy *npy, const char *name, caucus_error *ret_error) {
    if (!caucus_mapped_cut(&npy->file))
        return CAUCUS_OK;
    return caucus_fail(ret_error, CAUCUS_E_CHANGED, "", "%s: it became shorter while it was being read", name);
}

/* Where the wanted rows begin; the product fits because the file holds it. */
static const uint8_t *rows_at(const caucus_npy *npy, uint32_t client, uint64_t first) {
    return npy->values + ((size_t)client * npy->rounds + first) * npy->experts * (npy->wide ? 8u : 4u);
}

void caucus_npy_fill(const caucus_npy *npy, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    const uint8_t *from = rows_at(npy, client, first);
    size_t values = (size_t)count * npy->experts;
    if (!npy->wide) {
        memcpy(ret, from, values * sizeof *ret);
        return;
    }
    for (size_t i = 0; i < values; i++) {
        double value;
        memcpy(&value, from + i * sizeof value, sizeof value);
        ret[i] = (float)value;
    }
}

void caucus_npy_fill64(const caucus_npy *npy, uint32_t client, uint64_t first, uint64_t count, double *ret) {
    const uint8_t *from = rows_at(npy, client, first);
    size_t values = (size_t)count * npy->experts;
    if (npy->wide) {
        memcpy(ret, from, values * sizeof *ret);
        return;
    }
    for (size_t i = 0; i < values; i++) {
        float value;
        memcpy(&value, from + i * sizeof value, sizeof value);
        ret[i] = (double)value;
    }
}
