/* SPDX-License-Identifier: Apache-2.0 */
/* client.h: the client's state machine. Give it losses and announcements, take an expert and reports.
 * layer: algo
 *
 * It opens no socket, reads no clock and allocates only in caucus_client_new(). Losses are rounded to the
 * plan's grid on the way in; what leaves is made of those integers. Rounds and blocks count from 1.
 *
 *     caucus_client_hear(c, &first);                       // the first announcement
 *     for (;;) {
 *         play(caucus_client_expert(c));
 *         caucus_client_observe(c, losses_of_this_round);
 *         while ((r = caucus_client_report(c))) { send(r); caucus_client_hear(c, receive()); }
 *     }
 *
 * For a live federation see link.h: this machine with the protocol around it, bytes in and bytes out, for any event
 * loop. */
#ifndef CAUCUS_CLIENT_H
#define CAUCUS_CLIENT_H

#include <caucus/message.h>
#include <caucus/rng.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One client's machine. */
typedef struct caucus_client caucus_client;

/** Gradient of this client's loss of `round` at the mixture x (one value per expert, sum 1), for convex losses. Called
 *  only from caucus_client_report(), for rounds already played; must give the same answer for the same arguments. */
typedef void (*caucus_gradient)(void *user, uint64_t round, const double *x, double *ret_gradient, uint32_t experts);

/** A client of a plan.
 *  In:      plan   borrowed until caucus_client_free(). index 1..clients. key: this client's own, copied.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (index), CAUCUS_E_MEMORY. */
CAUCUS_API caucus_status caucus_client_new(const caucus_plan *plan, uint32_t index, const caucus_key *key,
                                           caucus_client **ret) CAUCUS_MUST_CHECK;
/** Free and wipe. NULL is allowed. */
CAUCUS_API void caucus_client_free(caucus_client *client);

/** Convex losses only: where gradients come from. */
CAUCUS_API void caucus_client_set_gradient(caucus_client *client, caucus_gradient gradient, void *user);

/** Hear an announcement.
 *  Returns: CAUCUS_OK; CAUCUS_E_DUPLICATE (heard before: nothing changes), CAUCUS_E_ORDER (losses are due first, or
 *           one in between is missing; neither matters if it ends the run before its time, nor in a run without an
 *           end, where the client goes on from it: caucus_client_round() says with which round),
 *           CAUCUS_E_FORMAT (it asks for what this plan never asks, or out of its order, or asks again for what was
 *           answered; after CAUCUS_ASK_NOTHING whatever it asks). */
CAUCUS_API caucus_status caucus_client_hear(caucus_client *client,
                                            const caucus_announcement *announcement) CAUCUS_MUST_CHECK;

/** True once an announcement was heard that ends the run before its time (caucus_announcement_stops): nothing is played
 *  or reported any more. */
CAUCUS_API bool caucus_client_stopped(const caucus_client *client);

/* At their own pace (settings.pace own): a client observes whenever it has something, as often as it likes, and sends
 * one item at a time about the slots of its device's clock that are over (docs/PRIVACY.md, "At their own pace"):
 *
 *     caucus_client_slot(c, unix_time / phase_time);       // before losses are observed, and before a report
 *     caucus_client_observe(c, losses, n); save(c);        // only now are they taken, with their slot
 *     if ((r = caucus_client_report(c))) { save(c); send(r); }
 *     caucus_client_hear(c, &newest); caucus_client_acknowledge(c, next); */

/** The device's clock is in this slot. A slot that is not above the highest so far changes nothing: the clock may have
 *  been set back. The first slot that a new client hears of is not counted, since it may have seen some of it before.
 *  Returns: CAUCUS_OK, CAUCUS_E_ORDER (the plan's clients are in step). */
CAUCUS_API caucus_status caucus_client_slot(caucus_client *client, uint64_t slot) CAUCUS_MUST_CHECK;
/** The coordinator has counted this client's items before number `next`, and will not forget it. The item that waits
 *  for it is forgotten; a number that this client cannot know means that its state was lost or is an old copy: it
 *  begins anew from there, with its next slot.
 *  Returns: CAUCUS_OK, CAUCUS_E_ORDER (the plan's clients are in step), CAUCUS_E_FORMAT (0, or from 2^63 on). */
CAUCUS_API caucus_status caucus_client_acknowledge(caucus_client *client, uint64_t next) CAUCUS_MUST_CHECK;
/** The number of the item that waits, or of the next; 0 where the plan's clients are in step. */
CAUCUS_API uint64_t caucus_client_item(const caucus_client *client);

/** The expert to play in the coming round (0..d-1). */
CAUCUS_API uint32_t caucus_client_expert(const caucus_client *client);

/** Stoch: the mixture in force, one value per expert; they sum to 1, each a ratio of integers divided once.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (ret_count is below the number of experts; nothing is written). */
CAUCUS_API caucus_status caucus_client_mixture(const caucus_client *client, double *ret,
                                               size_t ret_count) CAUCUS_MUST_CHECK;

/** Rounds that can be observed before a report is due (0: a report or an announcement is due; or the run is over). */
CAUCUS_API uint64_t caucus_client_rounds_left(const caucus_client *client);
CAUCUS_API uint64_t caucus_client_round(const caucus_client *client); /* rounds observed so far */

/** Which experts to evaluate in the coming round, while caucus_client_rounds_left() is above 0: their losses, in this
 *  order, are its row. All of them, 0 .. d-1, unless the plan says `evaluate` (caucus_plan_evaluate()); the expert to
 *  play may or may not be among them.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (ret_count is below their number; nothing is written). */
CAUCUS_API caucus_status caucus_client_evaluate(const caucus_client *client, uint32_t *ret,
                                                size_t ret_count) CAUCUS_MUST_CHECK;

/** Observe `rounds` rounds of losses, row by row (d values each; of a plan with `evaluate: k` k values, those of
 *  caucus_client_evaluate()), in the units of the plan's range.
 *  In:      loss    borrowed for the call; outside the range it is clamped, NaN is the worst loss; both are counted.
 *  Returns: CAUCUS_OK, CAUCUS_E_ORDER (more rounds than caucus_client_rounds_left(); nothing is observed).
 *  Privacy: none spent; the losses stay in this process until a report is made.
 *  Cost:    O(rounds*d), no allocation. For convex losses the rows are ignored and may be NULL. */
CAUCUS_API caucus_status caucus_client_observe(caucus_client *client, const double *loss,
                                               uint64_t rounds) CAUCUS_MUST_CHECK;
CAUCUS_API caucus_status caucus_client_observe_f32(caucus_client *client, const float *loss,
                                                   uint64_t rounds) CAUCUS_MUST_CHECK;

/** The report that is due, NULL if none is (or if losses are convex and no gradient was set).
 *  Returns: it and its values belong to the client and stand still until the next call of hear() or observe(); asking
 *           again before that gives the same bytes: a noisy report is drawn once. */
CAUCUS_API const caucus_report *caucus_client_report(caucus_client *client);

/** What stays at the client: cost of what was played, in grid units (of a plan with `evaluate` in those rounds in which
 *  it was evaluated), and values clamped (too low, too high, NaN). */
CAUCUS_API int64_t caucus_client_cost(const caucus_client *client);
CAUCUS_API void caucus_client_clips(const caucus_client *client, uint64_t *ret_low, uint64_t *ret_high,
                                    uint64_t *ret_nan);

/** The whole state but the key as bytes, and back: the losses not yet reported, and the report that is due with the
 *  noise it was drawn with. Save after caucus_client_report() and before the report is sent: then it is sent again as
 *  it was, never drawn again.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (the buffer is below caucus_client_state_bytes(); it is zeros then),
 *           CAUCUS_E_FORMAT (torn, altered, or of another plan or client), CAUCUS_E_MEMORY.
 *  Privacy: the bytes hold this client's sums: they stay with it. */
CAUCUS_API size_t caucus_client_state_bytes(const caucus_client *client);
CAUCUS_API caucus_status caucus_client_save(const caucus_client *client, uint8_t *ret,
                                            size_t ret_bytes) CAUCUS_MUST_CHECK;
CAUCUS_API caucus_status caucus_client_restore(const caucus_plan *plan, uint32_t index, const caucus_key *key,
                                               const uint8_t *state, size_t bytes,
                                               caucus_client **ret) CAUCUS_MUST_CHECK;

/** Announcements heard so far: the serial expected next. */
CAUCUS_API uint64_t caucus_client_heard(const caucus_client *client);

#ifdef __cplusplus
}
#endif
#endif
