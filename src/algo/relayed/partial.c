/* SPDX-License-Identifier: Apache-2.0 */
/* partial.c: the sums of one counting thread: made, merged into the coordinator, wiped. See partial.h. */
#include "algo/relayed/partial.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "algo/machine.h"
#include "algo/wipe.h"
#include "num/hand_over.h"
#include "num/vector.h"

#define LINE_BYTES 64u /* two threads that write to one cache line wait for each other */

/* Zeroed memory that shares its cache lines with nothing else. */
static void *own_lines(size_t bytes) {
    size_t whole = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    void *ret = aligned_alloc(LINE_BYTES, whole);
    return ret ? memset(ret, 0, whole) : NULL;
}

caucus_status caucus_partial_new(const caucus_coordinator *c, caucus_partial **ret) {
    size_t d = c->plan->settings.experts;
    caucus_partial *p = own_lines(sizeof *p);
    if (!p)
        return CAUCUS_E_MEMORY;
    p->experts = (uint32_t)d;
    p->sum = own_lines(d * sizeof *p->sum);
    if (c->votes_now)
        p->votes = own_lines(d * sizeof *p->votes);
    const caucus_status status = p->sum && (!c->votes_now || p->votes) ? CAUCUS_OK : CAUCUS_E_MEMORY;
    return CAUCUS_HAND_OVER(status, ret, p, caucus_partial_free(p));
}

void caucus_partial_free(caucus_partial *p) {
    if (!p)
        return;
    caucus_wipe_free(p->sum, p->experts * sizeof *p->sum);
    caucus_wipe_free(p->votes, p->experts * sizeof *p->votes);
    caucus_wipe_free(p, sizeof *p);
}

uint32_t caucus_partial_answered(const caucus_partial *p) {
    return p->answered;
}

void caucus_partial_clear(caucus_partial *p) {
    sodium_memzero(p->sum, p->experts * sizeof *p->sum);
    if (p->votes)
        sodium_memzero(p->votes, p->experts * sizeof *p->votes);
    *p = (caucus_partial){.sum = p->sum, .votes = p->votes, .experts = p->experts};
}

size_t caucus_partial_numbers(const caucus_partial *p) {
    return 2 + (p->filled ? (size_t)p->experts * (p->votes ? 2 : 1) : 0);
}

void caucus_partial_copy_out(const caucus_partial *p, int64_t *ret) {
    ret[0] = p->q;
    ret[1] = p->answered;
    for (size_t y = 0; p->filled && y < p->experts; y++) {
        ret[2 + y] = p->sum[y];
        if (p->votes)
            ret[2 + p->experts + y] = p->votes[y];
    }
}

void caucus_partial_replace(caucus_partial *p, const int64_t *value) {
    p->q = value[0];
    p->answered = (uint32_t)value[1];
    for (size_t y = 0; p->filled && y < p->experts; y++) {
        p->sum[y] = value[2 + y];
        if (p->votes)
            p->votes[y] = (uint32_t)value[2 + p->experts + y];
    }
}

void caucus_coordinator_take_numbers(caucus_coordinator *c, const caucus_partial *p) {
    if (c->ops->take)
        c->ops->take(c, p);
    c->answered += p->answered;
}

void caucus_coordinator_merge(caucus_coordinator *c, caucus_partial *p) {
    if (!p->begun)
        return;
    assert(p->serial == c->now.serial); /* a step that was decided without it would have forgotten reports */
    size_t d = p->experts;
    if (p->filled) {
        caucus_vector_add_i64(c->cum ? c->cum : c->sum, p->sum, d);
        memset(p->sum, 0, d * sizeof *p->sum);
        for (size_t y = 0; p->votes && y < d; y++) {
            c->votes_now[y] += p->votes[y];
            p->votes[y] = 0;
        }
    }
    caucus_coordinator_take_numbers(c, p);
    *p = (caucus_partial){.sum = p->sum, .votes = p->votes, .experts = p->experts};
}
