/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c: which item of each client comes next. See progress.h. */
#include "algo/progress/progress.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define WORD 8u  /* forms looked at together */
#define MANY 64u /* likewise, where all of them are the same */
#define ALL_MOVED 0x0101010101010101u

enum {
    IN = CAUCUS_PROGRESS_IN,
    MOVED = CAUCUS_PROGRESS_MOVED,
    OUT = CAUCUS_PROGRESS_OUT,
    KIND = CAUCUS_PROGRESS_KIND,
    OWN = CAUCUS_PROGRESS_OWN,
    FRESH = CAUCUS_PROGRESS_FRESH
};

static uint32_t chunks_of(const caucus_progress *p) {
    return (p->clients - 1) / CAUCUS_CHUNK_CLIENTS + 1;
}

caucus_progress *caucus_progress_new(uint32_t clients, uint64_t common) {
    caucus_progress *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->clients = clients;
    p->common = p->shown_common = common;
    p->form = calloc(clients, sizeof *p->form);
    p->value = calloc(clients, sizeof *p->value);
    p->shown = calloc(clients, sizeof *p->shown);
    p->changed = calloc(chunks_of(p), sizeof *p->changed);
    p->moves = calloc(chunks_of(p), sizeof *p->moves);
    p->touched = calloc(chunks_of(p), sizeof *p->touched);
    p->own = calloc(chunks_of(p), sizeof *p->own);
    if (p->form && p->value && p->shown && p->changed && p->moves && p->touched && p->own)
        return p;
    caucus_progress_free(p);
    return NULL;
}

void caucus_progress_free(caucus_progress *p) {
    if (!p)
        return;
    for (uint32_t k = 0; p->touched && p->value && p->shown && k < chunks_of(p); k++) {
        uint32_t first;
        const size_t count = caucus_chunk_clients(p->clients, k, &first);
        if (atomic_load_explicit(&p->touched[k], memory_order_relaxed) == 0)
            continue;
        sodium_memzero(p->value + first, count * sizeof *p->value);
        sodium_memzero(p->shown + first, count * sizeof *p->shown);
    }
    if (p->form)
        sodium_memzero(p->form, p->clients);
    for (uint32_t k = 0; p->moves && k < chunks_of(p); k++)
        atomic_store_explicit(&p->moves[k], 0, memory_order_relaxed);
    free(p->form);
    free(p->value);
    free(p->shown);
    free(p->changed);
    free(p->moves);
    free(p->touched);
    free(p->own);
    sodium_memzero(p, sizeof *p);
    free(p);
}

static void touch(caucus_progress *p, size_t i) {
    atomic_store_explicit(&p->changed[i / CAUCUS_CHUNK_CLIENTS], 1, memory_order_relaxed);
    atomic_store_explicit(&p->touched[i / CAUCUS_CHUNK_CLIENTS], 1, memory_order_relaxed);
}

void caucus_progress_put_slowly(caucus_progress *p, size_t i, uint64_t value) {
    if (!(p->form[i] & OWN))
        p->shown[i] = caucus_progress_shown(p, i);
    const bool moved = p->asked && value == p->moved;
    p->form[i] = (uint8_t)((moved ? MOVED : OUT) | OWN | FRESH);
    if (!moved)
        p->value[i] = value;
    touch(p, i);
}

void caucus_progress_ask(caucus_progress *p, uint64_t moved) {
    p->asked = true;
    p->moved = moved;
}

void caucus_progress_show(caucus_progress *p) {
    p->shown_common = p->common;
    for (uint32_t k = 0; k < chunks_of(p); k++) {
        if (!p->own[k])
            continue;
        uint32_t first;
        const size_t count = caucus_chunk_clients(p->clients, k, &first);
        for (size_t i = first; i < first + count; i++)
            if ((p->form[i] & (OWN | FRESH)) == OWN)
                p->form[i] &= KIND;
        p->own[k] = 0;
    }
}

/* The number of client i is `value` and not `common`, or it is and was not: said to be so from now on. Everything that
 * was closed before is shown: nobody is OWN but who is FRESH. */
static void write_one(caucus_progress *p, size_t i, uint64_t value, uint64_t common) {
    const unsigned form = p->form[i];
    const unsigned kind = value == common ? IN : OUT;
    if (!(form & OWN) && kind == OUT && (form & KIND) == IN) { /* fell behind: it is told what it was told before */
        p->form[i] = OUT;
    } else {
        if (!(form & OWN))
            p->shown[i] = caucus_progress_shown(p, i);
        p->form[i] = (uint8_t)(kind | OWN);
        p->own[i / CAUCUS_CHUNK_CLIENTS] = 1;
    }
    if (kind == OUT)
        p->value[i] = value;
    touch(p, i);
}

/* Whoever was in step and stays so needs one byte written, and who was out of step and stays so, nothing. */
static void close_one(caucus_progress *p, size_t i, uint64_t common) {
    const unsigned form = p->form[i];
    const uint64_t value = caucus_progress_get(p, i);
    if (form == MOVED && value == common)
        p->form[i] = IN;
    else if (form != (value == common ? IN : OUT))
        write_one(p, i, value, common);
}

/* Have all of these clients moved? */
static bool many_moved(const uint8_t *form) {
    uint64_t word, other = 0;
    for (size_t i = 0; i < MANY / WORD; i++) {
        memcpy(&word, form + i * WORD, sizeof word);
        other |= word ^ ALL_MOVED;
    }
    return other == 0;
}

static void close_chunk(caucus_progress *p, uint32_t chunk, uint64_t common) {
    uint32_t first;
    const size_t count = caucus_chunk_clients(p->clients, chunk, &first), end = first + count;
    for (size_t i = first; i < end;) {
        const size_t until = end - i < MANY ? end : i + MANY;
        if (common == p->moved && until - i == MANY && many_moved(p->form + i)) {
            memset(p->form + i, IN, MANY);
            i = until;
        }
        while (i < until)
            close_one(p, i++, common);
    }
}

void caucus_progress_close(caucus_progress *p, bool follow) {
    caucus_progress_show(p);
    const uint64_t common = p->asked && follow ? p->moved : p->common;
    const bool behind = common != p->common; /* who has not moved falls behind */
    for (uint32_t k = 0; k < chunks_of(p); k++) {
        const bool moved = atomic_load_explicit(&p->moves[k], memory_order_relaxed) != 0;
        if (behind || moved || atomic_load_explicit(&p->changed[k], memory_order_relaxed) != 0)
            close_chunk(p, k, common);
        if (moved)
            atomic_store_explicit(&p->moves[k], 0, memory_order_relaxed);
    }
    p->common = common;
    p->asked = false;
}

void caucus_progress_reset(caucus_progress *p, uint64_t common) {
    for (size_t i = 0; i < p->clients; i++) {
        if ((p->form[i] & KIND) == IN)
            continue;
        if (!(p->form[i] & OWN))
            p->shown[i] = caucus_progress_shown(p, i);
        p->form[i] = IN | OWN;
        p->own[i / CAUCUS_CHUNK_CLIENTS] = 1;
        touch(p, i);
    }
    p->common = common;
}

uint32_t caucus_progress_silent(const caucus_progress *p, uint32_t i) {
    while (i < p->clients) {
        uint64_t word;
        if (p->asked && p->clients - i >= WORD) {
            memcpy(&word, p->form + i, sizeof word);
            if (word == ALL_MOVED) {
                i += WORD;
                continue;
            }
        }
        if (!caucus_progress_has_moved(p, i))
            return i;
        i++;
    }
    return p->clients;
}

void caucus_progress_restore(caucus_progress *p, uint64_t common) {
    memset(p->form, IN, p->clients);
    memset(p->own, 0, chunks_of(p));
    p->asked = false;
    p->common = p->shown_common = common;
}

void caucus_progress_restore_one(caucus_progress *p, size_t i, uint64_t value) {
    p->form[i] = value == p->common ? IN : OUT;
    p->value[i] = value;
    touch(p, i);
}

/* The number that more than half of the clients have, if there is one; some number otherwise. */
static uint64_t common_of(const uint64_t *value, size_t count) {
    uint64_t common = value[0];
    size_t lead = 0;
    for (size_t i = 0; i < count; i++) {
        if (lead == 0)
            common = value[i];
        lead = value[i] == common ? lead + 1 : lead - 1;
    }
    return common;
}

void caucus_progress_restore_all(caucus_progress *p, const uint64_t *value) {
    caucus_progress_restore(p, common_of(value, p->clients));
    for (uint32_t k = 0; k < chunks_of(p); k++)
        atomic_store_explicit(&p->touched[k], 1, memory_order_relaxed);
    for (size_t i = 0; i < p->clients; i++)
        if (value[i] != p->common)
            caucus_progress_restore_one(p, i, value[i]);
}
