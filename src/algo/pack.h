/* SPDX-License-Identifier: Apache-2.0 */
/* pack.h: one list of fields that measures, writes and reads a machine's state.
 *
 * A state is little-endian, starts with a magic word and the sizes it was made for, and ends with a SHA-256 of all
 * before it, so that a torn or altered file is never mistaken for a state. The same function walks the fields in all
 * three modes, so writing and reading cannot drift apart. */
#ifndef CAUCUS_ALGO_PACK_H
#define CAUCUS_ALGO_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum caucus_pack_mode { CAUCUS_PACK_MEASURE, CAUCUS_PACK_WRITE, CAUCUS_PACK_READ } caucus_pack_mode;

typedef struct caucus_pack {
    caucus_pack_mode mode;
    uint8_t *to;         /* WRITE: `size` bytes of room */
    const uint8_t *from; /* READ */
    size_t used, size;
    bool parts;  /* of what there is per client the common value alone is packed, which stands for it */
    bool failed; /* READ: too short, or a value that cannot be; WRITE: no room, and `to` is zeros */
} caucus_pack;

#define CAUCUS_PACK_HASH_BYTES 32

void caucus_pack_u32(caucus_pack *pack, uint32_t *value);
void caucus_pack_u64(caucus_pack *pack, uint64_t *value);
void caucus_pack_i64(caucus_pack *pack, int64_t *value);
void caucus_pack_bool(caucus_pack *pack, bool *value);
void caucus_pack_bytes(caucus_pack *pack, uint8_t *bytes, size_t count);
/* Whole arrays; NULL packs nothing (the plan decides which arrays there are, for writer and reader alike). */
void caucus_pack_u32s(caucus_pack *pack, uint32_t *values, size_t count);
void caucus_pack_u64s(caucus_pack *pack, uint64_t *values, size_t count);
void caucus_pack_i64s(caucus_pack *pack, int64_t *values, size_t count);
/* What comes next from each client: all numbers, or their common value alone (READ: everybody is in step at it). */
struct caucus_progress;
void caucus_pack_progress(caucus_pack *pack, struct caucus_progress *progress);
/* READ: refuse unless value < limit. */
void caucus_pack_below(caucus_pack *pack, uint64_t value, uint64_t limit);

/* Magic and sizes at the start; hash at the end (READ: checked by caucus_pack_init_read before anything is read). */
void caucus_pack_head(caucus_pack *pack, uint32_t magic, uint32_t clients, uint32_t experts);
void caucus_pack_seal(caucus_pack *pack);
/* READ over bytes whose final hash is right; false if it is not. */
bool caucus_pack_init_read(caucus_pack *ret, const uint8_t *bytes, size_t size);

#endif
