/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_wire.c: bytes from a stranger on a connection. The first byte says how many experts the plan has, the second how
 * the rest lies in memory; the rest is taken frame by frame. Whatever reads must be written back and read as the same,
 * and a report must be what protobuf-c makes of the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "wire/caucus.pb-c.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition) {
    if (!condition)
        abort();
}

static void check_report(const caucus_report *ours, const uint8_t *envelope, size_t size) {
    Caucus__V2__Envelope *theirs = caucus__v2__envelope__unpack(NULL, size, envelope);
    must(theirs != NULL && theirs->report != NULL);
    const Caucus__V2__Report *r = theirs->report;
    must(ours->client == r->client && (int)ours->kind == (int)r->kind && ours->first == r->first &&
         ours->block == r->block && ours->epoch_or_leaf == r->epoch_or_leaf && ours->count == r->n_values);
    must(ours->count == 0 || memcmp(ours->value, r->values, 8 * r->n_values) == 0);
    caucus__v2__envelope__free_unpacked(theirs, NULL);
}

static void check_again(const caucus_frame *frame, uint32_t experts) {
    size_t room = caucus_wire_max_bytes(experts), used;
    uint8_t *bytes = malloc(room), *twice = malloc(room);
    int64_t *scratch = malloc(experts * sizeof *scratch);
    if (bytes != NULL && twice != NULL && scratch != NULL) {
        caucus_frame again;
        size_t size = caucus_wire_put(frame, bytes, room);
        must(size > 0);
        must(caucus_wire_take(bytes, size, experts, scratch, &used, &again, NULL) == CAUCUS_OK && used == size);
        must(caucus_wire_put(&again, twice, room) == size && memcmp(bytes, twice, size) == 0);
    }
    free(bytes);
    free(twice);
    free(scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    uint32_t experts = 2 + data[0];
    size_t shift = data[1] % 8, length = size - 2;
    uint8_t *memory = malloc(shift + length);
    int64_t *scratch = malloc(experts * sizeof *scratch);
    if (memory != NULL && scratch != NULL) {
        memcpy(memory + shift, data + 2, length);
        const uint8_t *at = memory + shift, *end = at + length;
        caucus_frame frame;
        caucus_error error;
        for (size_t used;
             caucus_wire_take(at, (size_t)(end - at), experts, scratch, &used, &frame, &error) == CAUCUS_OK && used > 0;
             at += used) {
            must(used <= (size_t)(end - at) && used <= caucus_wire_max_bytes(experts));
            if (frame.kind == CAUCUS_FRAME_REPORT)
                check_report(&frame.report, at + 4, used - 4);
            check_again(&frame, experts);
        }
    }
    free(memory);
    free(scratch);
    return 0;
}
