/* SPDX-License-Identifier: Apache-2.0 */
/* rng.h: streams of random bits, ChaCha20 (libsodium).
 * layer: rng
 *
 * A key belongs to one entity (the coordinator, one client) in one run. A stream is a key and a
 * 96-bit nonce (purpose 16 | phase 16 | index 32 | lane 32): one stream per decision (eight
 * checks of svt share one, in order), so results do not depend on the order in which threads ask, and
 * rejection consumes only its own stream. A run without end has more phases and indices than the nonce has room for:
 * what does not fit (phase >> 16, index >> 32) goes into the key, which is then a subkey of the one given.
 * A key from the operating system makes a private run; a seed makes a repeatable one, which is
 * NOT PRIVATE: whoever knows the seed can subtract the noise.
 *
 * Keys and streams lie in the memory of the caller, often by the million: their shape is frozen within a soname. */
#ifndef CAUCUS_RNG_H
#define CAUCUS_RNG_H

#include <caucus/status.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Of a key. */
#define CAUCUS_KEY_BYTES 32
/* Words buffered at once: 8 ChaCha20 blocks, what one vectorised libsodium call makes. */
#define CAUCUS_STREAM_WORDS 64

/** A secret, from the operating system or from a seed.
 *  Fixed: the key of a cipher, and how it came about. */
typedef struct caucus_key {
    uint8_t bytes[CAUCUS_KEY_BYTES]; /* of ChaCha20 */
    bool seeded;                     /* derived from a seed: whatever is drawn from it is NOT PRIVATE */
} caucus_key;

/** What a stream is for; the number is part of the nonce and never reused for anything else. */
typedef enum caucus_purpose {
    CAUCUS_PURPOSE_INITIAL = 1,   /* the first expert, before any loss */
    CAUCUS_PURPOSE_THRESHOLD = 2, /* above-threshold: theta, index = epoch */
    CAUCUS_PURPOSE_CHECK = 3,     /* above-threshold: query noise, index = block / 8 */
    CAUCUS_PURPOSE_SELECT = 4,    /* a selection, index = leaf or block */
    CAUCUS_PURPOSE_MESSAGE = 5,   /* a client's noisy message, index = leaf */
    CAUCUS_PURPOSE_SHORTLIST = 6, /* a client's second message in a phase */
    CAUCUS_PURPOSE_PLAY = 7,      /* drawing an expert from a mixture */
    CAUCUS_PURPOSE_TIE = 8,       /* breaking ties between public scores */
    CAUCUS_PURPOSE_LOOK = 9,      /* a private look at the loss of the expert in force */
    CAUCUS_PURPOSE_TEST = 100     /* tests, benchmarks, audits */
} caucus_purpose;

/** Opaque by convention: allocated by the caller (on the stack), touched only through functions.
 *  Fixed: a draw has to cost no allocation; another cipher would be another type. */
typedef struct caucus_stream {
    uint64_t word[CAUCUS_STREAM_WORDS]; /* the buffer */
    unsigned next;                      /* index of the next unread word; = filled when empty */
    unsigned filled;                    /* words in the buffer: the first refill is one block, later ones eight */
    uint32_t block;                     /* ChaCha20 block counter of the next refill */
    uint8_t nonce[12];                  /* purpose, phase, index, lane */
    uint8_t key[CAUCUS_KEY_BYTES];      /* a copy */
    bool seeded; /* as the key: samplers may take less time where that tells something, for the same draws */
} caucus_stream;

/** A fresh key from the operating system.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANDOM. */
CAUCUS_API caucus_status caucus_key_generate(caucus_key *ret_key) CAUCUS_MUST_CHECK;

/** The run key of a seeded simulation or test: NOT PRIVATE. Same seed, same key, on every machine. */
CAUCUS_API void caucus_key_from_seed(uint64_t seed, caucus_key *ret_key);

/** Subkey of an entity (0 = coordinator, i = client i, or a trial number): for simulations only,
 *  since whoever holds the run key can derive every subkey. */
CAUCUS_API void caucus_key_derive(const caucus_key *run, uint64_t entity, caucus_key *ret_key);

/** The key of a run's epoch number n (selections made before it): from the coordinator's own key, which no file ever
 *  holds. One of them tells nothing about another, nor about the key they come from.
 *  Cost:    one hash. */
CAUCUS_API void caucus_key_epoch(const caucus_key *run, uint64_t epoch, caucus_key *ret_key);

/** Overwrite a key (or a stream, which holds a copy of one) so that the compiler cannot skip it. */
CAUCUS_API void caucus_key_wipe(caucus_key *key);
CAUCUS_API void caucus_stream_wipe(caucus_stream *stream);

/** Open the stream (key, purpose, phase, index, lane) at its start. Different arguments give different streams.
 *  Cost: no cipher call yet; one hash for a phase from 2^16 on, and one for an index from 2^32 on. */
CAUCUS_API void caucus_stream_init(caucus_stream *stream, const caucus_key *key, caucus_purpose purpose, uint64_t phase,
                                   uint64_t index, uint32_t lane);

/** The next 64 uniform bits. A stream holds 2^32 blocks; using them up aborts (2^38 bytes). */
CAUCUS_API uint64_t caucus_stream_next(caucus_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
