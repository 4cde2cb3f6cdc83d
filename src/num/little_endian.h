/* SPDX-License-Identifier: Apache-2.0 */
/* little_endian.h: integers as bytes, least significant first: on the wire, in states, in nonces.
 * layer: num */
#ifndef CAUCUS_NUM_LITTLE_ENDIAN_H
#define CAUCUS_NUM_LITTLE_ENDIAN_H

#include <stddef.h>
#include <stdint.h>

/** Write the low `bytes` bytes (1 to 8) of a value. Returns: where the next one goes. */
static inline uint8_t *caucus_le_put(uint8_t *to, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> (8 * i));
    return to + bytes;
}

/** The value of `bytes` bytes (1 to 8). */
static inline uint64_t caucus_le_get(const uint8_t *from, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

static inline uint8_t *caucus_le_put32(uint8_t *to, uint32_t value) {
    return caucus_le_put(to, value, 4);
}

static inline uint32_t caucus_le_get32(const uint8_t *from) {
    return (uint32_t)caucus_le_get(from, 4);
}

#endif
