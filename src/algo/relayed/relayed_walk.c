/* SPDX-License-Identifier: Apache-2.0 */
/* relayed_walk.c: the clients of a partial's groups, many at once. See relayed_taking.h.
 *
 * A large group is a bit a client, and nearly all of them are in step and at this relay: then what holds for one holds
 * for its neighbours. Eight have their bits in a byte and their forms in a word; sixty-four of whom everybody is named
 * are a word of ones, and what is looked at of them is a few words each. So a client costs a fraction of a nanosecond,
 * which is what a coordinator of ten million needs. */
#include <string.h>

#include "algo/relayed/relayed_taking.h"
#include "num/little_endian.h"

#define WORD 8u  /* clients whose bits are in one byte of a group, and whose forms are in one word */
#define MANY 64u /* clients whose bits are in one word of a group */

/* 0xff in each byte of the word whose bit is set. */
static uint64_t mask_of(uint8_t bits) {
    const uint64_t spread = (uint64_t)bits * 0x0101010101010101u & 0x8040201008040201u;
    return (((spread + 0x7f7f7f7f7f7f7f7fu) | spread) >> 7 & 0x0101010101010101u) * 0xff;
}

static uint64_t forms_at(const caucus_progress *p, uint32_t at) {
    return caucus_le_get(p->form + at, WORD);
}

static uint32_t count_of(uint8_t bits) {
    return (uint32_t)((mask_of(bits) & 0x0101010101010101u) * 0x0101010101010101u >> 56);
}

/* Clients at + 1, ..., at + 8, those of them whose bits are set: all are in step. */
static bool all_in_step(const caucus_taking *t, uint32_t at, uint8_t bits) {
    const caucus_coordinator *c = t->c;
    const uint64_t forms = (c->cost_next ? forms_at(c->cost_next, at) : 0) |
                           (c->sums_next ? forms_at(c->sums_next, at) : 0) |
                           (c->step_done ? forms_at(c->step_done, at) : 0);
    return (forms & mask_of(bits)) == 0; /* IN is 0 */
}

/* They are at this relay. */
static bool all_here(const caucus_taking *t, uint32_t at, uint8_t bits) {
    uint64_t relays[2];
    if (!t->from->placed)
        return true;
    memcpy(relays, t->from->placed + at, sizeof relays);
    const uint64_t here = t->from->relay * UINT64_C(0x0001000100010001);
    if (((relays[0] ^ here) | (relays[1] ^ here)) == 0) /* all eight, whoever is asked for */
        return true;
    for (uint32_t i = 0; i < WORD; i++)
        if ((bits >> i & 1) && t->from->placed[at + i] != t->from->relay)
            return false;
    return true;
}

static bool check_eight(caucus_taking *t, uint32_t at, uint8_t bits) {
    if (!all_in_step(t, at, bits) || !all_here(t, at, bits))
        return false;
    if (!t->in_step_known) {
        t->asked.client = at + 1 + (uint32_t)__builtin_ctz(bits);
        t->in_step = t->c->ops->check(t->c, &t->asked);
        t->in_step_known = true;
    }
    t->grouped += t->in_step == CAUCUS_OK ? count_of(bits) : 0;
    return t->in_step == CAUCUS_OK;
}

static bool note_eight(caucus_taking *t, uint32_t at, uint8_t bits) {
    if (!t->moves_all || !all_in_step(t, at, bits))
        return false;
    for (size_t k = 0; k < 2 && t->moves[k]; k++) {
        (void)caucus_le_put(t->moves[k]->form + at, forms_at(t->moves[k], at) | (mask_of(bits) & 0x0101010101010101u),
                            WORD); /* MOVED is 1 */
        caucus_progress_moves(t->moves[k], at);
    }
    t->answered += count_of(bits);
    if (t->from->answered_eight)
        t->from->answered_eight(t->from->user, at, bits);
    else
        for (uint32_t i = 0; t->from->answered && i < WORD; i++)
            if (bits >> i & 1)
                t->from->answered(t->from->user, at + i + 1);
    return true;
}

/* ---- sixty-four at once, of whom everybody is named ---- */

/* Are all these bytes 0? */
static bool are_zero(const uint8_t *of, size_t words) {
    uint64_t word, any = 0;
    for (size_t i = 0; i < words; i++) {
        memcpy(&word, of + i * sizeof word, sizeof word);
        any |= word;
    }
    return any == 0;
}

static bool many_in_step(const caucus_coordinator *c, uint32_t at) {
    const caucus_progress *const all[] = {c->cost_next, c->sums_next, c->step_done};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        if (all[k] && !are_zero(all[k]->form + at, MANY / WORD)) /* IN is 0 */
            return false;
    return true;
}

static bool many_here(const caucus_taking *t, uint32_t at) {
    const uint64_t here = t->from->relay * UINT64_C(0x0001000100010001);
    uint64_t relays, other = 0;
    for (uint32_t i = 0; t->from->placed && i < MANY; i += 4) {
        memcpy(&relays, t->from->placed + at + i, sizeof relays);
        other |= relays ^ here;
    }
    return other == 0;
}

static bool check_many(caucus_taking *t, uint32_t at) {
    if (!t->in_step_known || t->in_step != CAUCUS_OK || !many_in_step(t->c, at) || !many_here(t, at))
        return false;
    t->grouped += MANY;
    return true;
}

static bool note_many(caucus_taking *t, uint32_t at) {
    const bool asks = t->from->answered || t->from->answered_eight;
    if (!t->moves_all || (asks && !t->from->answered_all) || !many_in_step(t->c, at))
        return false;
    for (size_t k = 0; k < 2 && t->moves[k]; k++) {
        memset(t->moves[k]->form + at, CAUCUS_PROGRESS_MOVED, MANY);
        caucus_progress_moves(t->moves[k], at);
    }
    t->answered += MANY;
    if (t->from->answered_all)
        t->from->answered_all(t->from->user, at, MANY);
    return true;
}

/* ---- the walk ---- */

typedef struct ways {
    bool (*many)(caucus_taking *t, uint32_t at);
    bool (*eight)(caucus_taking *t, uint32_t at, uint8_t bits);
    bool (*each)(void *user, uint32_t client);
} ways;

/* The clients of a bitmap. Returns: false: it was ended. */
static bool walk_bits(caucus_taking *t, const uint8_t *bits, uint32_t first, uint32_t clients, const ways *by) {
    for (uint32_t i = 0; i < clients;) {
        uint64_t many = 0;
        if (clients - i >= MANY)
            memcpy(&many, bits + i / WORD, sizeof many);
        if (many == UINT64_MAX && by->many(t, first + i)) {
            i += MANY;
            continue;
        }
        const uint32_t end = clients - i < MANY ? clients : i + MANY;
        for (; i < end; i += WORD) {
            const uint8_t of = bits[i / WORD];
            if (of == 0 || (clients - i >= WORD && by->eight(t, first + i, of)))
                continue;
            for (uint32_t k = 0; k < WORD && i + k < clients; k++)
                if ((of >> k & 1) && !by->each(t, first + i + k + 1))
                    return false;
        }
    }
    return true;
}

static void walk(caucus_taking *t, const caucus_relayed *p, const ways *by) {
    const uint8_t *group = p->group;
    for (uint32_t g = 0; group && g < p->groups; g++) {
        uint32_t first;
        const uint32_t clients = caucus_relayed_chunk(t->c->plan, caucus_le_get32(group), &first);
        const uint8_t *of = group + CAUCUS_RELAYED_GROUP_BYTES;
        if (caucus_le_get32(group + 4) <= CAUCUS_RELAYED_LIST_MAX)
            group = caucus_relayed_walk(t->c->plan, group, by->each, t);
        else
            group = walk_bits(t, of, first, clients, by) ? of + (clients + 7) / 8 : NULL;
    }
}

void caucus_taking_check(caucus_taking *t, const caucus_relayed *p, bool (*each)(void *user, uint32_t client)) {
    walk(t, p, &(ways){.many = check_many, .eight = check_eight, .each = each});
}

void caucus_taking_note(caucus_taking *t, const caucus_relayed *p, bool (*each)(void *user, uint32_t client)) {
    walk(t, p, &(ways){.many = note_many, .eight = note_eight, .each = each});
}
