/* SPDX-License-Identifier: Apache-2.0 */
/* coordinator_epoch.c: which key a coordinator draws from, and when it forgets.
 *
 * An epoch lasts from one selection to the next, or to the end of its cycle where the run renews itself. Its key is
 * kdf(run key, number of epochs before it), a number that renewal does not reset; the run key is new
 * in every process (or comes from a seed) and is in no file, the epoch's key is part of the saved state. So:
 *  - a verdict that was computed and never committed is computed again, after a crash, with the very same noise;
 *  - whoever steals a state can recompute the noise of that epoch, but of no earlier one (those keys are gone, and what
 *    comes out of the kdf for one number says nothing about another) and of no later one.
 *
 * No stream (key, purpose, phase, index) serves two decisions of a run. Two epochs have different numbers or come from
 * different run keys: different keys. Within an epoch the stream's name tells its draws apart:
 *    INITIAL, THRESHOLD   once, when the epoch begins, before any of its reports;
 *    CHECK                eight blocks share a stream and each has its place in it; a block is checked once: the next
 *                         announcement asks about a later block or for vectors;
 *    LOOK                 once, with the selection, for the loss that is shown with it;
 *    SELECT, TIE          once, since the selection ends the epoch. A vote that leads to a shortlist opens TIE and
 *                         releases nothing of it; the shortlist is decided without noise.
 * After a restart the same name may be opened on other reports (a smaller quorum, say), but then the first verdict was
 * never committed and so was never seen. docs/PRIVACY.md, statement 28. */
#include <sodium.h>

#include "algo/machine.h"

void caucus_coordinator_stream(const caucus_coordinator *c, caucus_stream *ret, caucus_purpose purpose, uint64_t phase,
                               uint64_t index) {
    caucus_stream_init(ret, &c->key, purpose, phase, index, 0);
}

static void next_key(caucus_coordinator *c) {
    caucus_key_epoch(&c->run_key, caucus_coordinator_epoch(c), &c->key); /* over the old one */
    caucus_stream_wipe(&c->check_stream);
    c->check_next = 0;
}

void caucus_coordinator_selected(caucus_coordinator *c) {
    c->selections++;
    next_key(c);
}

static void forget(void *memory, size_t bytes) {
    if (memory)
        sodium_memzero(memory, bytes);
}

void caucus_coordinator_renewed(caucus_coordinator *c, uint64_t block) {
    c->renewals++;
    c->cycle_first = c->selections;
    next_key(c);
    forget(&c->threshold, sizeof c->threshold);
    forget(c->cum, c->plan->settings.experts * sizeof *c->cum);
    caucus_progress_reset(c->sums_next, block + 1);
    if (c->cost_next)
        caucus_progress_reset(c->cost_next, block + 1);
    c->now.epoch = caucus_coordinator_epoch(c);
}

/* What remains is public, or what clients are told: announcements, counts, what was counted of whom. */
void caucus_coordinator_forget(caucus_coordinator *c) {
    size_t d = c->plan->settings.experts, row = d * sizeof(int64_t);
    bool seeded = c->key.seeded;
    caucus_key_wipe(&c->run_key);
    caucus_key_wipe(&c->key);
    c->run_key.seeded = c->key.seeded = seeded;
    caucus_stream_wipe(&c->check_stream);
    c->check_next = 0;
    forget(&c->threshold, sizeof c->threshold);
    forget(c->own, c->own ? c->ops->own_bytes(c->plan) : 0);
    forget(c->cum, row);
    forget(c->score, row);
    forget(c->sum, row);
    forget(c->past, (c->plan->stoch.past ? c->plan->stoch.past : 1) * row);
    forget(c->votes, row);
    forget(c->votes_now, d * sizeof *c->votes_now);
    forget(c->mean_num, d * sizeof *c->mean_num);
    forget(c->mean_den, d * sizeof *c->mean_den);
    forget(c->stack, c->stack ? caucus_coordinator_stack_rows(c) * row : 0);
}
