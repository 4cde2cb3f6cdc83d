/* SPDX-License-Identifier: Apache-2.0 */
/* control.h: every message but reports, by protobuf-c.
 * layer: wire
 *
 * They are short and rare. protobuf-c wants an allocator when it reads: it gets a few kilobytes of stack, enough for
 * any message of CAUCUS_CONTROL_BYTES, so a stranger's bytes never reach the heap. */
#ifndef CAUCUS_WIRE_CONTROL_H
#define CAUCUS_WIRE_CONTROL_H

#include "wire/wire.h"

/* The longest message, without envelope, that is not a report. */
#define CAUCUS_CONTROL_BYTES 480u

/** Bytes of the message without its envelope, and writing that many. */
size_t caucus_control_size(const caucus_frame *frame);
size_t caucus_control_put(const caucus_frame *frame, uint8_t *to);

/** Read a message whose kind is known. Returns: CAUCUS_OK, CAUCUS_E_FORMAT. */
caucus_status caucus_control_take(caucus_frame_kind kind, const uint8_t *bytes, size_t size, uint32_t experts,
                                  caucus_frame *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
