/* SPDX-License-Identifier: Apache-2.0 */
/* coordinator.h (internal): what the coordinator machines share.
 *
 * coordinator.c holds what is common: announcements and who has answered. The families (machine.h) decide: svt
 * (svt_coordinator.c), hedge and leader (hedge_coordinator.c), stoch (phase_coordinator.c, and phase_messages.c for
 * what becomes of messages that are private by themselves).
 *
 * Counting takes the coordinator as const: it reads the announcement in force and writes, of the coordinator's own
 * memory, nothing but what is the client's of cost_next, sums_next and step_done. All sums go into a partial, which is
 * a thread's own or, for caucus_coordinator_receive(), stands for the coordinator's sums themselves. */
#ifndef CAUCUS_ALGO_COORDINATOR_H
#define CAUCUS_ALGO_COORDINATOR_H

#include <caucus/coordinator.h>

#include "algo/progress/progress.h"
#include "algo/relayed/partial.h"
#include "algo/schedule.h"
#include "algo/tree.h"
#include "num/int128.h"
#include "plan/plan.h"
#include "plan/stoch.h"

struct caucus_coordinator {
    const caucus_plan *plan;
    const struct caucus_machine_ops *ops; /* of its family */
    void *own; /* what no other family's coordinator has: a struct of the family's file (machine.h); NULL: nothing */
    caucus_key run_key; /* this process's own: in no file; every epoch's key but a restored one comes from it */
    caucus_key key;     /* of the epoch: all draws */
    caucus_announcement now;
    uint32_t answered; /* clients that have answered `now` */
    uint64_t selections;
    uint64_t checks;
    uint64_t since_serial, since_block; /* of the announcement with which the expert in force came */
    uint64_t renewals;                  /* cycles that have ended; an epoch ends with a selection or with its cycle */
    uint64_t cycle_first;               /* selections that were made before this cycle */

    /* Blocks. */
    caucus_progress *cost_next; /* svt: the block whose cost client i has to send next: each counts once, in order */
    caucus_progress *sums_next; /* first block not yet in client i's vectors; at own pace: its next item */
    int64_t *cum;               /* [d]: sums over clients and time */
    int64_t *score;             /* [d]: what a selection sees */
    caucus_threshold threshold; /* svt */
    caucus_stream check_stream;
    uint64_t check_next; /* the check whose draw comes next from it; 0: none */

    /* Phases. */
    caucus_progress *step_done; /* serial + 1 of the last announcement client i has answered */
    int64_t *sum;               /* [d]: reports of the current step, added up */
    int64_t *stack;             /* [T1 + 1][d]: trust nobody with trees: noisy V at each depth */
    int64_t *past;              /* [past][d]: past_phases: sums of earlier phases, newest first */
    int64_t *votes;             /* [d]: accumulated votes, halved every phase */
    uint32_t *votes_now;        /* [d]: votes of this phase */
    caucus_i128 *mean_num;      /* [d]: accumulated noisy sums, weighted */
    caucus_i128 *mean_den;      /* [d]: their weight: clients times samples times up to 2^12 */
    caucus_leaf leaf;
    struct caucus_looking *look; /* what was shown of the losses so far (algo/look/look.h); NULL: nothing ever is */
};

/* The end of whatever makes a coordinator: given out, without its secrets if its run is over, or freed. */
caucus_status caucus_coordinator_hand_over(caucus_coordinator *c, caucus_status status, caucus_coordinator **ret);

/* The announcement in force is new, or was restored: what comes next from who answers it. */
void caucus_coordinator_aim(caucus_coordinator *c);
/* Nothing more is counted in the step in hand: what was counted in it stays as it is. follow: as of
 * caucus_progress_close(). */
void caucus_coordinator_close_step(caucus_coordinator *c, bool follow);
/* Which of the three an answer to the announcement in force moves. */
const caucus_progress *caucus_coordinator_asked(const caucus_coordinator *c);

/* Next announcement: copies expert and epoch, clears the rest. */
void caucus_coordinator_announce(caucus_coordinator *c, caucus_ask ask, uint64_t block, uint32_t leaf);

/* Whose noise it is (coordinator_epoch.c). Open the stream of one decision, under the epoch's key. */
void caucus_coordinator_stream(const caucus_coordinator *c, caucus_stream *ret, caucus_purpose purpose, uint64_t phase,
                               uint64_t index);
/* A selection has been made: count it and go over to the next epoch's key. Draws of the new epoch come after it. */
void caucus_coordinator_selected(caucus_coordinator *c);
/* A cycle has ended with `block`: count it, go over to the next epoch's key and forget the cycle's sums. What is still
 * to come of its blocks is not wanted any more. */
void caucus_coordinator_renewed(caucus_coordinator *c, uint64_t block);
/* Epochs that have ended: the number of the one in hand. */
static inline uint64_t caucus_coordinator_epoch(const caucus_coordinator *c) {
    return c->selections + c->renewals;
}
/* The phase in hand (stoch). */
static inline const caucus_stoch_phase *caucus_coordinator_phase(const caucus_coordinator *c) {
    return caucus_stoch_phase_of(c->plan, c->now.block);
}
/* Nothing more is asked: forget keys, threshold and sums. */
void caucus_coordinator_forget(caucus_coordinator *c);

/* The most that the losses of one expert at one client can add up to in blocks first..last: a loss is at most `grid`;
 * with unit client-block so is a block. Reports are clamped to it. */
static inline int64_t caucus_coordinator_most(const caucus_coordinator *c, uint64_t first, uint64_t last) {
    const caucus_settings *s = &c->plan->settings;
    uint64_t records = s->unit == CAUCUS_UNIT_CLIENT_BLOCK ? last - first + 1 : caucus_blocks_rounds(s, first, last);
    return (int64_t)records * c->plan->grid;
}

/* Could a plan of blocks (svt, hedge) ask this? A block is asked about if another one follows. */
bool caucus_block_asks(const caucus_plan *plan, const caucus_announcement *a);

/* Vectors of svt, hedge and leader; and whether one would be counted (machine.h: check). */
caucus_status caucus_coordinator_count_sums(const caucus_coordinator *c, caucus_partial *p, const caucus_report *r);
caucus_status caucus_coordinator_check_sums(const caucus_coordinator *c, const caucus_report *item);
/* The item that the announcement in force asks for, beginning with the block `first` (at own pace: its number), without
 * its client and its values; and with which block that of a client in step begins. */
caucus_report caucus_coordinator_item_asked(const caucus_coordinator *c, uint64_t first);
uint64_t caucus_coordinator_first_in_step(const caucus_coordinator *c);
/* An item that was checked is counted: what comes next from its client. Returns: whether it answers the announcement in
 * force. */
static inline bool caucus_coordinator_note(const caucus_coordinator *c, const caucus_report *r) {
    const size_t i = r->client - 1;
    if (c->step_done) {
        caucus_progress_put(c->step_done, i, c->now.serial + 1);
        if (c->sums_next) /* at own pace */
            caucus_progress_put(c->sums_next, i, r->block + 1);
        return true;
    }
    caucus_progress_put(r->kind == CAUCUS_ASK_COST ? c->cost_next : c->sums_next, i, r->block + 1);
    return c->now.ask == r->kind && r->block == c->now.block;
}

/* Take what a partial holds beside its vectors and votes: answers, and numbers that are the family's (machine.h). */
void caucus_coordinator_take_numbers(caucus_coordinator *c, const caucus_partial *p);

/* phase_coordinator.c: of stoch's operations those that algo/slot has too. */
caucus_status caucus_phase_coordinator_new(caucus_coordinator *c) CAUCUS_MUST_CHECK;
void caucus_phase_decide(caucus_coordinator *c);
/* Between what each value of a client's vector is clamped: a leaf's, a shortlist's. */
void caucus_phase_range(const caucus_coordinator *c, int64_t *ret_lo, int64_t *ret_hi);
/* Count a report that may be counted: its values, and who has sent it. */
caucus_status caucus_phase_count_checked(const caucus_coordinator *c, caucus_partial *p,
                                         const caucus_report *r) CAUCUS_MUST_CHECK;
/* Select with the plan's mechanism, from the stream of the step in hand. */
uint32_t caucus_phase_draw(const caucus_coordinator *c, const int64_t *score, uint32_t count, caucus_rational rate);
uint64_t caucus_phase_records(const caucus_coordinator *c); /* losses (or means) of a client behind a phase's sums */
void caucus_phase_finish(caucus_coordinator *c);            /* the phase's learning is over: ask for the next */

/* phase_coordinator_state.c: of stoch's operations (machine.h) those about questions, saved states and releases. */
struct caucus_pack;
struct caucus_releases;
bool caucus_phase_asks(const caucus_plan *plan, const caucus_announcement *a);
void caucus_phase_coordinator_pack(struct caucus_pack *p, caucus_coordinator *c);
bool caucus_phase_coordinator_sound(caucus_coordinator *c);
caucus_status caucus_phase_record(struct caucus_releases *r, const caucus_announcement *before,
                                  const caucus_announcement *after, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/* phase_evaluate.c: choose where some of the experts are evaluated; and of its state (machine.h: own) the size, the
 * fields and whether they can be true. */
uint32_t caucus_phase_choose_some(caucus_coordinator *c);
size_t caucus_phase_own_bytes(const caucus_plan *plan);
void caucus_phase_pack_some(struct caucus_pack *p, caucus_coordinator *c);
bool caucus_phase_sound_some(const caucus_coordinator *c);

/* Rows of c->stack: T1 + 1 of the deepest tree. */
size_t caucus_coordinator_stack_rows(const caucus_coordinator *c);

/* Messages that are private by themselves (phase_messages.c). */
caucus_status caucus_phase_messages_new(caucus_coordinator *c);
void caucus_phase_count_votes(caucus_coordinator *c);      /* decide a VOTE step: the winner, or a shortlist */
void caucus_phase_decide_shortlist(caucus_coordinator *c); /* decide a SHORTLIST step */
uint32_t caucus_phase_noisy_winner(caucus_coordinator *c); /* decide a LEAF step under trust nobody */

#endif
