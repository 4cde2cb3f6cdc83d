/* SPDX-License-Identifier: Apache-2.0 */
/* words.h: the next word of a stream, inline, for the samplers.
 * layer: rng
 *
 * caucus_stream_next() is the same thing behind a function call. */
#ifndef CAUCUS_RNG_WORDS_H
#define CAUCUS_RNG_WORDS_H

#include <caucus/rng.h>

/** Make libsodium choose its fastest code for this machine, once per process; safe from any thread.
 *  Returns: false if the system's random source cannot be opened. */
bool caucus_rng_ready(void);

/** Subkeys for the upper parts of a phase and an index, which do not fit into a nonce (stream.c). In place is fine. */
void caucus_key_high_phase(const caucus_key *key, uint64_t high, caucus_key *ret_key);
void caucus_key_high_index(const caucus_key *key, uint64_t high, caucus_key *ret_key);

/** Fill the empty buffer with the next words of the key stream. Aborts when all 2^32 blocks are used up. */
void caucus_stream_refill(caucus_stream *stream);

/* A word of a stream is the first digit, in base 2^64, of a uniform real number in [0,1). Its further digits are the
 * words at the same place of the streams that differ in their lane alone, by digit * 2^CAUCUS_DIGIT_SHIFT: so a draw
 * that must know its number better reads nothing that another draw reads, and the next draw's place does not depend
 * on it. Only lanes below 2^CAUCUS_DIGIT_SHIFT have digits. */
#define CAUCUS_DIGIT_SHIFT 24

/** Digit number `digit` (from 1) of the real whose first digit is word number `place`. Cost: one cipher block. */
uint64_t caucus_stream_digit(const caucus_stream *stream, unsigned digit, uint64_t place);

/** The stream of a further digit of every number of `stream` from its place on, for reading both in step. */
void caucus_stream_digits(caucus_stream *ret_stream, const caucus_stream *stream, unsigned digit);

/** Continue at word number `words`, forward or back. */
void caucus_stream_go(caucus_stream *stream, uint64_t words);

/** Words read so far; and the same stream again, from there on: one that is used now and then need not stay open. */
uint64_t caucus_stream_drawn(const caucus_stream *stream);
void caucus_stream_resume(caucus_stream *ret_stream, const caucus_key *key, caucus_purpose purpose, uint64_t phase,
                          uint64_t index, uint32_t lane, uint64_t words);

static inline uint64_t caucus_word(caucus_stream *stream) {
    if (__builtin_expect(stream->next == stream->filled, 0)) {
        caucus_stream_refill(stream);
    }
    return stream->word[stream->next++];
}

#endif
