/* SPDX-License-Identifier: Apache-2.0 */
/* scripted_digits.h: streams whose every digit a test has written, for draws that look further than the first word.
 *
 * The test is linked with --wrap for the two functions that read further digits (rng/words.h). While script_on they
 * give script[place % SCRIPT_PLACES][digit], and script_rest after the last that was written; otherwise what the cipher
 * gives. Reads of digit 2 and further are counted: those are made only where 128 bits did not decide. */
#ifndef CAUCUS_TESTS_SCRIPTED_DIGITS_H
#define CAUCUS_TESTS_SCRIPTED_DIGITS_H

#include "rng/words.h"

#include <string.h>

#define SCRIPT_PLACES CAUCUS_STREAM_WORDS
#define SCRIPT_DIGITS 4

static bool script_on;
static uint64_t script[SCRIPT_PLACES][SCRIPT_DIGITS], script_rest;
static uint64_t script_far_reads;

uint64_t __real_caucus_stream_digit(const caucus_stream *stream, unsigned digit, uint64_t place);
uint64_t __wrap_caucus_stream_digit(const caucus_stream *stream, unsigned digit, uint64_t place);
uint64_t __wrap_caucus_stream_digit(const caucus_stream *stream, unsigned digit, uint64_t place) {
    script_far_reads += digit >= 2;
    if (!script_on)
        return __real_caucus_stream_digit(stream, digit, place);
    return digit < SCRIPT_DIGITS ? script[place % SCRIPT_PLACES][digit] : script_rest;
}

/* The first digits at all places, then script_rest[...] in the stream of the second. */
static inline caucus_stream script_stream(unsigned digit, bool seeded) {
    caucus_stream stream;
    memset(&stream, 0, sizeof stream);
    stream.filled = CAUCUS_STREAM_WORDS;
    stream.block = CAUCUS_STREAM_WORDS / 8;
    stream.seeded = seeded;
    for (unsigned i = 0; i < SCRIPT_PLACES; i++)
        stream.word[i] = script[i][digit];
    return stream;
}

void __real_caucus_stream_digits(caucus_stream *ret, const caucus_stream *stream, unsigned digit);
void __wrap_caucus_stream_digits(caucus_stream *ret, const caucus_stream *stream, unsigned digit);
void __wrap_caucus_stream_digits(caucus_stream *ret, const caucus_stream *stream, unsigned digit) {
    if (!script_on) {
        __real_caucus_stream_digits(ret, stream, digit);
        return;
    }
    *ret = script_stream(digit, stream->seeded);
    ret->next = stream->next;
}

/* Every place has these three digits, then `rest` for ever. */
static inline void script_all(uint64_t first, uint64_t second, uint64_t third, uint64_t rest) {
    script_on = true;
    script_rest = rest;
    for (unsigned i = 0; i < SCRIPT_PLACES; i++) {
        script[i][0] = first;
        script[i][1] = second;
        script[i][2] = third;
        script[i][3] = rest;
    }
}

#endif
