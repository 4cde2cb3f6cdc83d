/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c: words from ChaCha20 (RFC 8439), buffered.
 *
 * The key stream of (key, nonce) is cut into 64-bit little-endian words, on every host. The nonce is
 *     bytes 0-1 purpose | bytes 2-3 phase | bytes 4-7 index | bytes 8-11 lane,   each little-endian,
 * so two decisions never share a stream and the order in which they are made does not matter. The nonce holds the lower
 * 16 bits of the phase and the lower 32 of the index. If the rest of either is not 0, the key is a subkey for it:
 *     phase >> 16 = p > 0:        key <- kdf(key, "phase___", p)
 *     then index >> 32 = i > 0:   key <- kdf(key, "index___", i)
 * Two different arguments differ in what the nonce holds or in p or i, that is in the nonce or in the key; below 2^16
 * phases and 2^32 indices the key is the one given, and the streams are those of every earlier version.
 * Most streams serve one decision and need a few words: the first refill is one block (8 words).
 * Whoever comes back wants many: every later refill is eight blocks, the most that one vectorised
 * libsodium call makes at a time. */
#include "rng/words.h"

#include "num/little_endian.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 64u
#define BLOCK_WORDS 8u
#define REFILL_BLOCKS (CAUCUS_STREAM_WORDS / BLOCK_WORDS)

_Static_assert(crypto_stream_chacha20_ietf_NONCEBYTES == sizeof(((caucus_stream *)0)->nonce), "nonce size");
_Static_assert(crypto_stream_chacha20_ietf_KEYBYTES == CAUCUS_KEY_BYTES, "key size");
_Static_assert(CAUCUS_STREAM_WORDS % BLOCK_WORDS == 0, "whole blocks");

/* The key of what does not fit into the nonce. Out of the way of the common case. */
__attribute__((noinline, cold)) static void set_subkey(caucus_stream *ret_stream, const caucus_key *key,
                                                       uint64_t phase_high, uint64_t index_high) {
    caucus_key sub = *key;
    if (phase_high != 0)
        caucus_key_high_phase(&sub, phase_high, &sub);
    if (index_high != 0)
        caucus_key_high_index(&sub, index_high, &sub);
    memcpy(ret_stream->key, sub.bytes, CAUCUS_KEY_BYTES);
    caucus_key_wipe(&sub);
}

void caucus_stream_init(caucus_stream *ret_stream, const caucus_key *key, caucus_purpose purpose, uint64_t phase,
                        uint64_t index, uint32_t lane) {
    assert((unsigned)purpose <= UINT16_MAX);
    if (!caucus_rng_ready()) {
        abort();
    }
    ret_stream->next = 0;
    ret_stream->filled = 0;
    ret_stream->block = 0;
    (void)caucus_le_put(ret_stream->nonce, (uint32_t)purpose, 2);
    (void)caucus_le_put(ret_stream->nonce + 2, phase, 2);
    (void)caucus_le_put(ret_stream->nonce + 4, index, 4);
    (void)caucus_le_put(ret_stream->nonce + 8, lane, 4);
    if (__builtin_expect((phase >> 16 | index >> 32) != 0, 0))
        set_subkey(ret_stream, key, phase >> 16, index >> 32);
    else
        memcpy(ret_stream->key, key->bytes, CAUCUS_KEY_BYTES);
    ret_stream->seeded = key->seeded;
}

void caucus_stream_refill(caucus_stream *stream) {
    /* The counter is the next block; it is 0 again, with a buffer once filled, when all are used up. */
    if (stream->block == 0 && stream->filled != 0) {
        abort();
    }
    uint64_t left = ((uint64_t)1 << 32) - stream->block;
    uint32_t blocks = stream->filled == 0 ? 1 : REFILL_BLOCKS;
    if (blocks > left) {
        blocks = (uint32_t)left;
    }
    uint8_t *bytes = (uint8_t *)stream->word;
    memset(bytes, 0, blocks * BLOCK_BYTES);
    crypto_stream_chacha20_ietf_xor_ic(bytes, bytes, blocks * BLOCK_BYTES, stream->nonce, stream->block, stream->key);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    for (uint32_t i = 0; i < blocks * BLOCK_WORDS; i++) {
        stream->word[i] = __builtin_bswap64(stream->word[i]);
    }
#endif
    stream->block += blocks;
    stream->filled = blocks * BLOCK_WORDS;
    stream->next = 0;
}

uint64_t caucus_stream_drawn(const caucus_stream *stream) {
    return (uint64_t)stream->block * BLOCK_WORDS - (stream->filled - stream->next);
}

void caucus_stream_resume(caucus_stream *ret_stream, const caucus_key *key, caucus_purpose purpose, uint64_t phase,
                          uint64_t index, uint32_t lane, uint64_t words) {
    caucus_stream_init(ret_stream, key, purpose, phase, index, lane);
    caucus_stream_go(ret_stream, words);
}

/* Lanes are numbered from 0 and few; the digits of a lane are 2^24 apart from it and from one another. */
static void digit_nonce(const caucus_stream *stream, unsigned digit, uint8_t ret_nonce[12]) {
    assert(digit >= 1 && digit < 1u << (32 - CAUCUS_DIGIT_SHIFT));
    memcpy(ret_nonce, stream->nonce, sizeof stream->nonce);
    ret_nonce[11] = (uint8_t)(ret_nonce[11] + digit);
}

uint64_t caucus_stream_digit(const caucus_stream *stream, unsigned digit, uint64_t place) {
    uint8_t nonce[12], bytes[BLOCK_BYTES] = {0};
    digit_nonce(stream, digit, nonce);
    assert(place / BLOCK_WORDS <= UINT32_MAX);
    crypto_stream_chacha20_ietf_xor_ic(bytes, bytes, sizeof bytes, nonce, (uint32_t)(place / BLOCK_WORDS), stream->key);
    uint64_t word = caucus_le_get(bytes + place % BLOCK_WORDS * sizeof word, sizeof word);
    sodium_memzero(bytes, sizeof bytes);
    return word;
}

void caucus_stream_digits(caucus_stream *ret_stream, const caucus_stream *stream, unsigned digit) {
    uint64_t place = caucus_stream_drawn(stream);
    digit_nonce(stream, digit, ret_stream->nonce);
    memcpy(ret_stream->key, stream->key, CAUCUS_KEY_BYTES);
    ret_stream->seeded = stream->seeded;
    ret_stream->filled = 0;
    ret_stream->block = 0;
    caucus_stream_go(ret_stream, place);
}

void caucus_stream_go(caucus_stream *stream, uint64_t words) {
    assert(words / BLOCK_WORDS <= UINT32_MAX);
    uint64_t end = (uint64_t)stream->block * BLOCK_WORDS; /* of what is in the buffer */
    if (words < end && words + stream->filled >= end) {
        stream->next = (unsigned)(words + stream->filled - end);
        return;
    }
    stream->next = 0;
    stream->filled = 0;
    stream->block = (uint32_t)(words / BLOCK_WORDS);
    if (words % BLOCK_WORDS != 0) {
        caucus_stream_refill(stream);
        stream->next = (unsigned)(words % BLOCK_WORDS);
    }
}

uint64_t caucus_stream_next(caucus_stream *stream) {
    return caucus_word(stream);
}

void caucus_stream_wipe(caucus_stream *stream) {
    sodium_memzero(stream, sizeof *stream);
}
