/* SPDX-License-Identifier: Apache-2.0 */
/* scan.c: varints and fields. See scan.h. */
#include "wire/scan.h"

/* At most 10 bytes, and no bit beyond the 64th. */
static bool take_varint(caucus_scan *scan, uint64_t *ret) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (scan->at == scan->end)
            return false;
        uint8_t byte = *scan->at++;
        if (shift == 63 && byte > 1)
            return false;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret = value;
            return true;
        }
    }
    return false;
}

static bool take_bytes(caucus_scan *scan, uint64_t size, caucus_wire_field *ret) {
    if (size > (uint64_t)(scan->end - scan->at))
        return false;
    ret->bytes = scan->at;
    ret->size = (size_t)size;
    scan->at += size;
    return true;
}

bool caucus_scan_field(caucus_scan *scan, caucus_wire_field *ret) {
    const uint8_t *start = scan->at;
    uint64_t tag, size;
    /* protobuf-c reads at most 5 bytes of a tag or a length, however many zeros a longer one ends in: so do we. */
    if (!take_varint(scan, &tag) || tag > UINT32_MAX || tag < 8 || scan->at - start > 5)
        return false;
    ret->number = (uint32_t)(tag >> 3);
    ret->type = (uint32_t)(tag & 7);
    switch (ret->type) {
    case CAUCUS_WIRE_VARINT:
        return take_varint(scan, &ret->value);
    case CAUCUS_WIRE_I64:
        return take_bytes(scan, 8, ret);
    case CAUCUS_WIRE_I32:
        return take_bytes(scan, 4, ret);
    case CAUCUS_WIRE_BYTES:
        start = scan->at;
        return take_varint(scan, &size) && scan->at - start <= 5 && take_bytes(scan, size, ret);
    default:
        return false;
    }
}

size_t caucus_varint_bytes(uint64_t value) {
    size_t bytes = 1;
    while (value >= 0x80) {
        value >>= 7;
        bytes++;
    }
    return bytes;
}

uint8_t *caucus_varint_put(uint8_t *to, uint64_t value) {
    while (value >= 0x80) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}
