/* SPDX-License-Identifier: Apache-2.0 */
/* scan.h: walk through protobuf fields where they lie, never past the end, never allocating.
 * layer: wire
 *
 * Stricter than protobuf asks (docs/PROTOCOL.md, "Encoding"): field number 0, groups, and numbers that do not fit what
 * they stand for are errors, not things to shorten. */
#ifndef CAUCUS_WIRE_SCAN_H
#define CAUCUS_WIRE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct caucus_scan {
    const uint8_t *at, *end;
} caucus_scan;

enum { CAUCUS_WIRE_VARINT = 0, CAUCUS_WIRE_I64 = 1, CAUCUS_WIRE_BYTES = 2, CAUCUS_WIRE_I32 = 5 };

/* One field: its number, its wire type, and its number (VARINT) or its bytes (BYTES, I32, I64). */
typedef struct caucus_wire_field {
    uint32_t number;
    uint32_t type;
    uint64_t value;
    const uint8_t *bytes;
    size_t size;
} caucus_wire_field;

/** The next field; false at a malformed one. Call while scan->at < scan->end. */
bool caucus_scan_field(caucus_scan *scan, caucus_wire_field *ret);

/** Writers: bytes a varint takes, and the byte after it. */
size_t caucus_varint_bytes(uint64_t value);
uint8_t *caucus_varint_put(uint8_t *to, uint64_t value);

#endif
