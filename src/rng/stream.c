/* stream.c: words from ChaCha20 (RFC 8439), buffered.
 *
 * The key stream of (key, nonce) is cut into 64-bit little-endian words, on every host. The nonce is
 *     bytes 0-1 purpose | bytes 2-3 phase | bytes 4-7 index | bytes 8-11 lane,   each little-endian,
 * so two decisions never share a stream and the order in which they are made does not matter.
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

void caucus_stream_init(caucus_stream *ret_stream, const caucus_key *key, caucus_purpose purpose, uint16_t phase,
                        uint32_t index, uint32_t lane) {
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
    memcpy(ret_stream->key, key->bytes, CAUCUS_KEY_BYTES);
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

uint64_t caucus_stream_place(const caucus_stream *stream) {
    return (uint64_t)stream->block * BLOCK_WORDS - (stream->filled - stream->next);
}

void caucus_stream_resume(caucus_stream *ret_stream, const caucus_key *key, caucus_purpose purpose, uint16_t phase,
                          uint32_t index, uint32_t lane, uint64_t words) {
    assert(words / BLOCK_WORDS <= UINT32_MAX);
    caucus_stream_init(ret_stream, key, purpose, phase, index, lane);
    ret_stream->block = (uint32_t)(words / BLOCK_WORDS);
    if (words % BLOCK_WORDS != 0) {
        caucus_stream_refill(ret_stream);
        ret_stream->next = (unsigned)(words % BLOCK_WORDS);
    }
}

uint64_t caucus_stream_next(caucus_stream *stream) {
    return caucus_word(stream);
}

void caucus_stream_wipe(caucus_stream *stream) {
    sodium_memzero(stream, sizeof *stream);
}
