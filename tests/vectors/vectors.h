/* SPDX-License-Identifier: Apache-2.0 */
/* vectors.h: what the writers of docs/vectors share (docs/VECTORS.md describes the files).
 *
 * Integers of 64 bits are texts of decimal digits, since not every reader of JSON keeps more than 53 bits; words, keys
 * and frames are texts of hexadecimal digits. */
#ifndef TESTS_VECTORS_VECTORS_H
#define TESTS_VECTORS_VECTORS_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/json.h"
#include "wire/wire.h"

#include <caucus/caucus.h>

/** One for each file. They end the program where something does not work: half a file is none. */
void write_grid(caucus_json *json);
void write_streams(caucus_json *json);
void write_samplers(caucus_json *json);
void write_messages(caucus_json *json);
void write_runs(caucus_json *json);
void write_relays(caucus_json *json);
void write_partials(caucus_json *json); /* a part of relays.json */

static inline void need(bool good, const char *what) {
    if (good)
        return;
    (void)fprintf(stderr, "make_vectors: %s\n", what);
    exit(1);
}

static inline void put_hex(caucus_json *json, const char *key, const uint8_t *bytes, size_t size) {
    char *text = calloc(2 * size + 1, 1);
    need(text != NULL, "no memory");
    for (size_t i = 0; i < size; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    caucus_json_text(json, key, text);
    free(text);
}

/* Something that must be refused, and why. */
static inline void put_refused_as(caucus_json *json, const char *key, const char *why, const uint8_t *bytes,
                                  size_t size) {
    caucus_json_object_row(json, NULL);
    caucus_json_text(json, "why", why);
    put_hex(json, key, bytes, size);
    caucus_json_close(json);
}

static inline void put_long(caucus_json *json, const char *key, int64_t value) {
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRId64, value);
    caucus_json_text(json, key, text);
}

static inline void put_ulong(caucus_json *json, const char *key, uint64_t value) {
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    caucus_json_text(json, key, text);
}

/* As of `caucus join --seed`: the client's key in the only trial of a seeded run; 0 is the coordinator. */
static inline void seeded_key(uint64_t seed, uint32_t client, caucus_key *ret) {
    caucus_key run, trial;
    caucus_key_from_seed(seed, &run);
    caucus_key_derive(&run, 0, &trial);
    caucus_key_derive(&trial, client, ret);
}

#endif
