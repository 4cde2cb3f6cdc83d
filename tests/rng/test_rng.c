/* SPDX-License-Identifier: Apache-2.0 */
/* test_rng.c: the bit stream is ChaCha20, its addresses are what rng.h says, its derivations are frozen. */
#include "rng/words.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sodium.h>

static caucus_key counting_key(void) {
    caucus_key key = {.seeded = true};
    for (unsigned i = 0; i < CAUCUS_KEY_BYTES; i++) {
        key.bytes[i] = (uint8_t)i;
    }
    return key;
}

static void assert_block(caucus_stream *stream, const uint8_t *expected) {
    for (unsigned w = 0; w < 8; w++) {
        uint64_t word = caucus_stream_next(stream);
        for (unsigned i = 0; i < 8; i++) {
            assert_int_equal((uint8_t)(word >> (8 * i)), expected[8 * w + i]);
        }
    }
}

/* RFC 8439, 2.3.2: nonce 00000009 0000004a 00000000, block 1. */
static void test_rfc_block(void **state) {
    (void)state;
    static const uint8_t expected[64] = {
        0x10, 0xf1, 0xe7, 0xe4, 0xd1, 0x3b, 0x59, 0x15, 0x50, 0x0f, 0xdd, 0x1f, 0xa3, 0x20, 0x71, 0xc4,
        0xc7, 0xd1, 0xf4, 0xc7, 0x33, 0xc0, 0x68, 0x03, 0x04, 0x22, 0xaa, 0x9a, 0xc3, 0xd4, 0x6c, 0x4e,
        0xd2, 0x82, 0x64, 0x46, 0x07, 0x9f, 0xaa, 0x09, 0x14, 0xc2, 0xd7, 0x05, 0xd9, 0x8b, 0x02, 0xa2,
        0xb5, 0x12, 0x9c, 0xd1, 0xde, 0x16, 0x4e, 0xb9, 0xcb, 0xd0, 0x83, 0xe8, 0xa2, 0x50, 0x3c, 0x4e,
    };
    caucus_key key = counting_key();
    caucus_stream stream;
    caucus_stream_init(&stream, &key, (caucus_purpose)0, 0x0900, 0x4a000000, 0);
    for (int i = 0; i < 8; i++) {
        (void)caucus_stream_next(&stream);
    }
    assert_block(&stream, expected);
}

/* RFC 8439, 2.4.2: nonce 00000000 0000004a 00000000, blocks 1 and 2. */
static void test_rfc_key_stream(void **state) {
    (void)state;
    static const uint8_t expected[64] = {
        0x22, 0x4f, 0x51, 0xf3, 0x40, 0x1b, 0xd9, 0xe1, 0x2f, 0xde, 0x27, 0x6f, 0xb8, 0x63, 0x1d, 0xed,
        0x8c, 0x13, 0x1f, 0x82, 0x3d, 0x2c, 0x06, 0xe2, 0x7e, 0x4f, 0xca, 0xec, 0x9e, 0xf3, 0xcf, 0x78,
        0x8a, 0x3b, 0x0a, 0xa3, 0x72, 0x60, 0x0a, 0x92, 0xb5, 0x79, 0x74, 0xcd, 0xed, 0x2b, 0x93, 0x34,
        0x79, 0x4c, 0xba, 0x40, 0xc6, 0x3e, 0x34, 0xcd, 0xea, 0x21, 0x2c, 0x4c, 0xf0, 0x7d, 0x41, 0xb7,
    };
    caucus_key key = counting_key();
    caucus_stream stream;
    caucus_stream_init(&stream, &key, (caucus_purpose)0, 0, 0x4a000000, 0);
    for (int i = 0; i < 8; i++) {
        (void)caucus_stream_next(&stream);
    }
    assert_block(&stream, expected);
}

/* Our own derivations, frozen: a change here changes every seeded run that was ever published. */
static void test_frozen_derivations(void **state) {
    (void)state;
    caucus_key key, sub;
    caucus_key_from_seed(1, &key);
    assert_true(key.seeded);
    caucus_key_derive(&key, 7, &sub);
    assert_true(sub.seeded);
    caucus_stream stream;
    caucus_stream_init(&stream, &sub, CAUCUS_PURPOSE_CHECK, 2, 3, 4);
    static const uint8_t seed_1[8] = {0x50, 0x8b, 0xf9, 0xad, 0xf4, 0x39, 0x3c, 0xed};
    static const uint8_t entity_7[8] = {0xd5, 0x5b, 0x9a, 0x9a, 0x26, 0x17, 0x8d, 0x6d};
    static const uint64_t words[3] = {0x51eb3b6eb33624fa, 0xc90ec40473b292bb, 0xdf87147c3cf0335d};
    assert_memory_equal(key.bytes, seed_1, sizeof seed_1);
    assert_memory_equal(sub.bytes, entity_7, sizeof entity_7);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(caucus_stream_next(&stream), words[i]);
    }
    caucus_key epoch;
    caucus_key_epoch(&key, 7, &epoch);
    static const uint8_t epoch_7[8] = {0x29, 0x89, 0x27, 0x74, 0x2f, 0x60, 0xd3, 0x2c}; /* as Python's hashlib has it */
    assert_true(epoch.seeded);
    assert_memory_equal(epoch.bytes, epoch_7, sizeof epoch_7);
    caucus_key_derive(&key, 7, &key); /* in place */
    assert_memory_equal(key.bytes, sub.bytes, sizeof sub.bytes);
}

/* However the buffer is refilled, the words are those of the plain key stream, in order. */
static void test_refills_are_seamless(void **state) {
    (void)state;
    caucus_key key = counting_key();
    caucus_stream all, one;
    caucus_stream_init(&all, &key, CAUCUS_PURPOSE_TEST, 1, 2, 3);
    for (uint32_t block = 0; block < 40; block++) {
        caucus_stream_init(&one, &key, CAUCUS_PURPOSE_TEST, 1, 2, 3);
        one.block = block; /* a stream opened in the middle reads one block there */
        for (int i = 0; i < 8; i++) {
            assert_int_equal(caucus_word(&all), caucus_stream_next(&one));
        }
    }
}

static void test_addresses_differ(void **state) {
    (void)state;
    caucus_key key = counting_key(), other;
    caucus_key_derive(&key, 0, &other);
    caucus_stream streams[6];
    caucus_stream_init(&streams[0], &key, CAUCUS_PURPOSE_TEST, 1, 1, 1);
    caucus_stream_init(&streams[1], &key, CAUCUS_PURPOSE_PLAY, 1, 1, 1);
    caucus_stream_init(&streams[2], &key, CAUCUS_PURPOSE_TEST, 2, 1, 1);
    caucus_stream_init(&streams[3], &key, CAUCUS_PURPOSE_TEST, 1, 2, 1);
    caucus_stream_init(&streams[4], &key, CAUCUS_PURPOSE_TEST, 1, 1, 2);
    caucus_stream_init(&streams[5], &other, CAUCUS_PURPOSE_TEST, 1, 1, 1);
    uint64_t word[6];
    for (int i = 0; i < 6; i++) {
        word[i] = caucus_stream_next(&streams[i]);
        for (int k = 0; k < i; k++) {
            assert_true(word[i] != word[k]);
        }
    }
}

/* What does not fit into the nonce goes into the key: no two of all these names share a stream, and below 2^16 phases
 * and 2^32 indices the key is the one given. */
static void test_long_names(void **state) {
    (void)state;
    static const uint64_t phases[] = {0, 1, 0xffff, 0x10000, 0x10001, 0x20000, 0x1ffff, (uint64_t)1 << 32, UINT64_MAX};
    static const uint64_t indices[] = {
        0, 1, UINT32_MAX, (uint64_t)1 << 32, ((uint64_t)1 << 32) + 1, (uint64_t)1 << 48, UINT64_MAX};
    enum { PHASES = sizeof phases / sizeof phases[0], INDICES = sizeof indices / sizeof indices[0] };
    caucus_key key = counting_key();
    caucus_stream stream[PHASES * INDICES];
    for (size_t i = 0; i < PHASES * INDICES; i++) {
        uint64_t phase = phases[i / INDICES], index = indices[i % INDICES];
        caucus_stream_init(&stream[i], &key, CAUCUS_PURPOSE_TEST, phase, index, 5);
        bool short_name = phase < 0x10000 && index <= UINT32_MAX;
        assert_true((memcmp(stream[i].key, key.bytes, sizeof key.bytes) == 0) == short_name);
        for (size_t k = 0; k < i; k++)
            assert_false(memcmp(stream[i].key, stream[k].key, sizeof key.bytes) == 0 &&
                         memcmp(stream[i].nonce, stream[k].nonce, sizeof stream[k].nonce) == 0);
    }
    /* The derivation itself, which a client of another make must repeat (docs/PROTOCOL.md, "Noise"). */
    uint8_t expected[32];
    assert_int_equal(crypto_kdf_derive_from_key(expected, sizeof expected, 3, "phase___", key.bytes), 0);
    caucus_stream_init(&stream[0], &key, CAUCUS_PURPOSE_TEST, 0x30002, 9, 0);
    assert_memory_equal(stream[0].key, expected, sizeof expected);
    assert_int_equal(stream[0].nonce[2] | stream[0].nonce[3] << 8, 2);
    assert_int_equal(crypto_kdf_derive_from_key(expected, sizeof expected, 7, "index___", expected), 0);
    caucus_stream_init(&stream[0], &key, CAUCUS_PURPOSE_TEST, 0x30002, ((uint64_t)7 << 32) + 9, 0);
    assert_memory_equal(stream[0].key, expected, sizeof expected);
    assert_int_equal(stream[0].nonce[4], 9);
}

static void test_fresh_keys_and_wiping(void **state) {
    (void)state;
    caucus_key a, b;
    assert_int_equal(caucus_key_generate(&a), CAUCUS_OK);
    assert_int_equal(caucus_key_generate(&b), CAUCUS_OK);
    assert_false(a.seeded || b.seeded);
    assert_memory_not_equal(a.bytes, b.bytes, sizeof a.bytes);
    caucus_stream stream;
    caucus_stream_init(&stream, &a, CAUCUS_PURPOSE_TEST, 0, 0, 0);
    (void)caucus_stream_next(&stream);
    caucus_stream_wipe(&stream);
    caucus_key_wipe(&a);
    static const uint8_t zero[sizeof stream];
    assert_memory_equal(a.bytes, zero, sizeof a.bytes);
    assert_memory_equal(&stream, zero, sizeof stream);
}

/* The last blocks of a stream come out once; asking for more aborts rather than repeat the first. */
static void test_end_of_stream(void **state) {
    (void)state;
    caucus_key key = counting_key();
    caucus_stream stream;
    caucus_stream_init(&stream, &key, CAUCUS_PURPOSE_TEST, 0, 0, 0);
    (void)caucus_stream_next(&stream);
    stream.next = stream.filled;
    stream.block = UINT32_MAX - 2;
    for (int i = 0; i < 3 * 8; i++) {
        (void)caucus_stream_next(&stream);
    }
    assert_int_equal(stream.block, 0);
    assert_int_equal(stream.next, stream.filled);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        (void)caucus_stream_next(&stream);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rfc_block),
        cmocka_unit_test(test_rfc_key_stream),
        cmocka_unit_test(test_frozen_derivations),
        cmocka_unit_test(test_refills_are_seamless),
        cmocka_unit_test(test_addresses_differ),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_fresh_keys_and_wiping),
        cmocka_unit_test(test_end_of_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
