/* SPDX-License-Identifier: Apache-2.0 */
/* testing_stream.h: a stream of its own for each index, from a test's seed. */
#ifndef CAUCUS_TESTS_TESTING_STREAM_H
#define CAUCUS_TESTS_TESTING_STREAM_H

#include <caucus/rng.h>

/** `seeded`: whether the stream says of itself that it comes from a seed (some draws are buffered only then). */
static inline caucus_stream testing_stream(uint64_t seed, uint32_t index, bool seeded) {
    caucus_key key;
    caucus_key_from_seed(seed, &key);
    key.seeded = seeded;
    caucus_stream stream;
    caucus_stream_init(&stream, &key, CAUCUS_PURPOSE_TEST, 0, index, 0);
    return stream;
}

#endif
