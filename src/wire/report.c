/* SPDX-License-Identifier: Apache-2.0 */
/* report.c: the codec of reports. See report.h; the message is Report in proto/caucus.proto.
 *
 * Like protobuf: fields in any order, the last of a repeated number wins, absent numbers are 0, unknown fields are
 * skipped. Stricter than protobuf (docs/PROTOCOL.md, "Encoding"): the values come in one packed field, numbers must fit
 * their fields (client and kind 32 bits, the others 64), the kind must be one that is ever asked for. */
#include "wire/report.h"

#include <string.h>

#include "num/little_endian.h"
#include "wire/scan.h"

enum { CLIENT = 1, KIND, FIRST, BLOCK, EPOCH_OR_LEAF, VALUES };

#define TAG(number, type) ((uint8_t)((number) << 3 | (type)))

static bool host_is_little(void) {
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

static size_t number_size(uint64_t value) {
    return value ? 1 + caucus_varint_bytes(value) : 0;
}

static uint8_t *put_number(uint8_t *to, unsigned number, uint64_t value) {
    if (value == 0) /* absent is 0 */
        return to;
    *to++ = TAG(number, CAUCUS_WIRE_VARINT);
    return caucus_varint_put(to, value);
}

size_t caucus_report_size(const caucus_report *r) {
    uint64_t values = 8 * (uint64_t)r->count;
    return number_size(r->client) + number_size((uint32_t)r->kind) + number_size(r->first) + number_size(r->block) +
           number_size(r->epoch_or_leaf) + (values ? 1 + caucus_varint_bytes(values) + (size_t)values : 0);
}

uint8_t *caucus_report_put(const caucus_report *r, uint8_t *to) {
    to = put_number(to, CLIENT, r->client);
    to = put_number(to, KIND, (uint32_t)r->kind);
    to = put_number(to, FIRST, r->first);
    to = put_number(to, BLOCK, r->block);
    to = put_number(to, EPOCH_OR_LEAF, r->epoch_or_leaf);
    if (r->count == 0)
        return to;
    *to++ = TAG(VALUES, CAUCUS_WIRE_BYTES);
    to = caucus_varint_put(to, 8 * (uint64_t)r->count);
    if (host_is_little()) {
        memcpy(to, r->value, 8 * (size_t)r->count);
        return to + 8 * (size_t)r->count;
    }
    for (uint32_t i = 0; i < r->count; i++)
        for (unsigned shift = 0; shift < 64; shift += 8)
            *to++ = (uint8_t)((uint64_t)r->value[i] >> shift);
    return to;
}

/* The values where they lie, or a copy of them where they can be read. */
static const int64_t *values_at(const uint8_t *bytes, size_t count, int64_t *scratch) {
    if (host_is_little()) {
        if ((uintptr_t)bytes % _Alignof(int64_t) == 0)
            return (const int64_t *)(const void *)bytes;
        memcpy(scratch, bytes, 8 * count);
        return scratch;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t value = caucus_le_get(bytes + 8 * i, 8);
        memcpy(scratch + i, &value, 8);
    }
    return scratch;
}

static caucus_status take_number(const caucus_wire_field *field, uint64_t *ret, caucus_error *ret_error) {
    bool narrow = field->number <= KIND;
    if (field->type != CAUCUS_WIRE_VARINT || (narrow && field->value > UINT32_MAX))
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "report", "field %u is not a %d-bit number", field->number,
                           narrow ? 32 : 64);
    *ret = field->value;
    return CAUCUS_OK;
}

static caucus_status check_values(const caucus_wire_field *field, bool again, uint32_t experts,
                                  caucus_error *ret_error) {
    if (field->type != CAUCUS_WIRE_BYTES || field->size % 8 != 0 || again)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "report", "values are not one packed field of 8-byte numbers");
    if (field->size / 8 > experts)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "report", "%zu values (accepted: at most %u)", field->size / 8,
                           experts);
    return CAUCUS_OK;
}

caucus_status caucus_report_take(const uint8_t *bytes, size_t size, uint32_t experts, int64_t *scratch,
                                 caucus_report *ret, caucus_error *ret_error) {
    caucus_scan scan = {bytes, bytes + size};
    caucus_wire_field field, values = {.bytes = NULL};
    uint64_t number[EPOCH_OR_LEAF + 1] = {0};
    while (scan.at < scan.end) {
        if (!caucus_scan_field(&scan, &field))
            return caucus_fail(ret_error, CAUCUS_E_FORMAT, "report", "broken field");
        caucus_status status = CAUCUS_OK;
        if (field.number <= EPOCH_OR_LEAF) {
            status = take_number(&field, &number[field.number], ret_error);
        } else if (field.number == VALUES) {
            status = check_values(&field, values.bytes != NULL, experts, ret_error);
            values = field;
        }
        if (status != CAUCUS_OK)
            return status;
    }
    if (number[KIND] < CAUCUS_ASK_COST || number[KIND] > CAUCUS_ASK_SHORTLIST)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "report", "kind %u (accepted: 1 to 5)", (unsigned)number[KIND]);
    size_t count = values.bytes ? values.size / 8 : 0;
    *ret = (caucus_report){.client = (uint32_t)number[CLIENT],
                           .kind = (caucus_ask)number[KIND],
                           .first = number[FIRST],
                           .block = number[BLOCK],
                           .epoch_or_leaf = number[EPOCH_OR_LEAF],
                           .count = (uint32_t)count,
                           .value = count ? values_at(values.bytes, count, scratch) : scratch};
    return CAUCUS_OK;
}
