/* SPDX-License-Identifier: Apache-2.0 */
/* frame.c: the length in front, the envelope around. See wire.h and docs/PROTOCOL.md.
 *
 * The length is looked at as soon as its four bytes are there, against what the plan allows; a longer frame is refused
 * before a byte of it is read. The envelope holds exactly one message. */
#include <assert.h>

#include "num/little_endian.h"
#include "wire/control.h"
#include "wire/report.h"
#include "wire/scan.h"

size_t caucus_wire_max_bytes(uint32_t experts) {
    return CAUCUS_WIRE_HEAD_BYTES + 512u + 8 * (size_t)experts;
}

size_t caucus_wire_put(const caucus_frame *frame, uint8_t *to, size_t room) {
    bool report = frame->kind == CAUCUS_FRAME_REPORT;
    size_t message = report ? caucus_report_size(&frame->report) : caucus_control_size(frame);
    size_t envelope = 1 + caucus_varint_bytes(message) + message;
    if (envelope > UINT32_MAX || room < CAUCUS_WIRE_HEAD_BYTES || room - CAUCUS_WIRE_HEAD_BYTES < envelope)
        return 0;
    to = caucus_le_put(to, envelope, CAUCUS_WIRE_HEAD_BYTES);
    *to++ = (uint8_t)((unsigned)frame->kind << 3 | CAUCUS_WIRE_BYTES);
    to = caucus_varint_put(to, message);
    if (report)
        (void)caucus_report_put(&frame->report, to);
    else
        (void)caucus_control_put(frame, to);
    return CAUCUS_WIRE_HEAD_BYTES + envelope;
}

/* The one message in an envelope; fields a later version may add around it are skipped. */
static caucus_status open_envelope(const uint8_t *bytes, size_t size, caucus_wire_field *ret, caucus_error *ret_error) {
    caucus_scan scan = {bytes, bytes + size};
    caucus_wire_field field;
    *ret = (caucus_wire_field){.number = 0};
    while (scan.at < scan.end) {
        if (!caucus_scan_field(&scan, &field))
            return caucus_fail(ret_error, CAUCUS_E_FORMAT, "frame", "broken field in the envelope");
        if (field.number > CAUCUS_FRAME_REFUSAL)
            continue;
        if (field.type != CAUCUS_WIRE_BYTES)
            return caucus_fail(ret_error, CAUCUS_E_FORMAT, "frame", "field %u of the envelope is no message",
                               field.number);
        if (ret->number != 0)
            return caucus_fail(ret_error, CAUCUS_E_FORMAT, "frame", "more than one message");
        *ret = field;
    }
    if (ret->number == 0)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "frame", "no message of a known kind");
    return CAUCUS_OK;
}

caucus_status caucus_wire_take(const uint8_t *bytes, size_t size, uint32_t experts, int64_t *scratch, size_t *ret_used,
                               caucus_frame *ret, caucus_error *ret_error) {
    assert(scratch && ret_used && ret);
    *ret_used = 0;
    if (size < CAUCUS_WIRE_HEAD_BYTES)
        return CAUCUS_OK;
    uint32_t length = caucus_le_get32(bytes);
    size_t most = caucus_wire_max_bytes(experts) - CAUCUS_WIRE_HEAD_BYTES;
    if (length > most)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "frame", "%u bytes announced (accepted: at most %zu)", length,
                           most);
    if (size - CAUCUS_WIRE_HEAD_BYTES < length)
        return CAUCUS_OK;
    caucus_wire_field message;
    caucus_status status = open_envelope(bytes + CAUCUS_WIRE_HEAD_BYTES, length, &message, ret_error);
    if (status != CAUCUS_OK)
        return status;
    caucus_frame_kind kind = (caucus_frame_kind)message.number;
    if (kind == CAUCUS_FRAME_REPORT) {
        ret->kind = kind;
        status = caucus_report_take(message.bytes, message.size, experts, scratch, &ret->report, ret_error);
    } else {
        status = caucus_control_take(kind, message.bytes, message.size, experts, ret, ret_error);
    }
    if (status == CAUCUS_OK)
        *ret_used = CAUCUS_WIRE_HEAD_BYTES + (size_t)length;
    return status;
}
