/* SPDX-License-Identifier: Apache-2.0 */
/* streams_opened.h: every stream that is opened, by key and nonce: what the cipher sees. The test's .cmake file wraps
 * caucus_stream_init. */
#ifndef CAUCUS_TESTS_STREAMS_OPENED_H
#define CAUCUS_TESTS_STREAMS_OPENED_H

#include <caucus/rng.h>
#include <stdlib.h>
#include <string.h>

typedef struct opened {
    uint8_t key[CAUCUS_KEY_BYTES];
    uint8_t nonce[12];
} opened;
static opened *streams;
static size_t streams_count, streams_room;

void __real_caucus_stream_init(caucus_stream *ret, const caucus_key *key, caucus_purpose purpose, uint64_t phase,
                               uint64_t index, uint32_t lane);
void __wrap_caucus_stream_init(caucus_stream *ret, const caucus_key *key, caucus_purpose purpose, uint64_t phase,
                               uint64_t index, uint32_t lane);
void __wrap_caucus_stream_init(caucus_stream *ret, const caucus_key *key, caucus_purpose purpose, uint64_t phase,
                               uint64_t index, uint32_t lane) {
    if (streams_count == streams_room) {
        streams_room = streams_room ? 2 * streams_room : 1024;
        streams = realloc(streams, streams_room * sizeof *streams);
        assert_non_null(streams);
    }
    __real_caucus_stream_init(ret, key, purpose, phase, index, lane);
    opened *o = &streams[streams_count++];
    memcpy(o->key, ret->key, sizeof o->key);
    memcpy(o->nonce, ret->nonce, sizeof o->nonce);
}

static int by_bytes(const void *a, const void *b) {
    return memcmp(a, b, sizeof(opened));
}

/** How many were opened again. Puts them in order. */
static size_t streams_opened_twice(void) {
    size_t twice = 0;
    qsort(streams, streams_count, sizeof streams[0], by_bytes);
    for (size_t i = 1; i < streams_count; i++)
        twice += by_bytes(&streams[i - 1], &streams[i]) == 0;
    return twice;
}

#endif
