/* SPDX-License-Identifier: Apache-2.0 */
/* report.h: reports, read and written by hand where they lie.
 * layer: wire
 *
 * The only frequent and the only long message. Its values are packed sfixed64: on the wire a little-endian int64 array,
 * which this machine can add up where it lies if it lies on an 8-byte boundary. tests/wire/test_wire.c holds this
 * decoder to protobuf-c. */
#ifndef CAUCUS_WIRE_REPORT_H
#define CAUCUS_WIRE_REPORT_H

#include <caucus/message.h>

/** Bytes of a Report message without its envelope, and writing that many. */
size_t caucus_report_size(const caucus_report *report);
uint8_t *caucus_report_put(const caucus_report *report, uint8_t *to);

/** Read a Report message. ret->value points into `bytes` if aligned, else at scratch (room for `experts` values).
 *  Returns: CAUCUS_OK, CAUCUS_E_FORMAT. */
caucus_status caucus_report_take(const uint8_t *bytes, size_t size, uint32_t experts, int64_t *scratch,
                                 caucus_report *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
