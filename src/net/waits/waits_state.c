/* SPDX-License-Identifier: Apache-2.0 */
/* waits_state.c: what a restart must not forget of whom a step waits for.
 *
 * Two kinds of chunks of the state, each of 65,536 clients (algo/coordinator_state.h): deadlines missed, and the serial
 * numbers of certificates (serials.c). They are apart because the one changes with every deadline and the other hardly
 * ever. The first kind, least significant byte first: how many clients 4, then for each of them, rising: client - first
 * client of the chunk 2, deadlines missed 4. */
#include "net/server_impl.h"

#include "num/little_endian.h"

#define HEAD_BYTES 4u
#define ENTRY_BYTES 6u

static bool save_missed(caucus_server *s, uint32_t number, caucus_piece *chunk) {
    uint32_t first, late = 0;
    const uint32_t count = caucus_chunk_clients(s->clients, number, &first), *missed = s->waits.missed + first;
    if (chunk->size > 0 && !s->waits.missed_changed[number])
        return true;
    for (uint32_t i = 0; i < count; i++)
        late += missed[i] > 0;
    if (!caucus_piece_resize(chunk, HEAD_BYTES + (size_t)late * ENTRY_BYTES))
        return false;
    uint8_t *to = caucus_le_put(chunk->bytes, late, 4);
    for (uint32_t i = 0; i < count; i++)
        if (missed[i] > 0)
            to = caucus_le_put(caucus_le_put(to, i, 2), missed[i], 4);
    caucus_piece_stamp(chunk);
    s->waits.missed_changed[number] = 0;
    return true;
}

bool caucus_waits_save(caucus_server *s, caucus_piece *chunk) {
    for (uint32_t k = 0; k < s->waits.kept_serials; k++)
        if (!caucus_serials_save(&s->waits.serials, k, &chunk[s->waits.kept + k]))
            return false;
    for (uint32_t k = 0; k < s->waits.kept; k++)
        if (!save_missed(s, k, &chunk[k]))
            return false;
    return true;
}

static bool read_missed(caucus_server *s, uint32_t number, const caucus_piece *chunk) {
    uint32_t first, next = 0;
    const uint32_t clients = caucus_chunk_clients(s->clients, number, &first);
    if (chunk->size < HEAD_BYTES)
        return false;
    const uint8_t *from = chunk->bytes + HEAD_BYTES;
    const size_t late = (size_t)caucus_le_get(chunk->bytes, 4);
    if (late > clients || chunk->size != HEAD_BYTES + late * ENTRY_BYTES)
        return false;
    for (size_t i = 0; i < late; i++, from += ENTRY_BYTES) {
        const uint32_t at = (uint32_t)caucus_le_get(from, 2), times = (uint32_t)caucus_le_get(from + 2, 4);
        if (at < next || at >= clients || times == 0)
            return false;
        caucus_waits_set_missed(s, first + at + 1, times);
        next = at + 1;
    }
    return true;
}

bool caucus_waits_restore(caucus_server *s, const caucus_piece *chunk) {
    for (uint32_t k = 0; k < s->waits.kept; k++)
        if (!read_missed(s, k, &chunk[k]))
            return false;
    for (uint32_t k = 0; k < s->waits.kept_serials; k++)
        if (!caucus_serials_restore(&s->waits.serials, k, &chunk[s->waits.kept + k]))
            return false;
    for (uint32_t i = 0; i < s->waits.lates && s->set.missed > 0; i++) {
        const uint32_t client = s->waits.late[i], missed = s->waits.missed[client - 1];
        if (missed < s->set.missed)
            continue;
        caucus_waits_set(s, client, CAUCUS_WAITS_MISSED, true);
        caucus_server_log(s, 1, "client %u had missed %u deadlines: it is waited for no more until it is back", client,
                          missed);
    }
    return true;
}
