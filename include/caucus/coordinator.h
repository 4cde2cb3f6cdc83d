/* SPDX-License-Identifier: Apache-2.0 */
/* coordinator.h: the coordinator's state machine. Give it reports, take announcements.
 * layer: algo
 *
 * It opens no socket, reads no clock and allocates only in the functions called ..._new(). Reports are integers
 * and sums commute, so the order in which clients arrive changes nothing. When to decide a step (everybody
 * has reported, or a deadline has passed) is the caller's business and must not depend on losses. */
#ifndef CAUCUS_COORDINATOR_H
#define CAUCUS_COORDINATOR_H

#include <caucus/message.h>
#include <caucus/rng.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The coordinator's machine. */
typedef struct caucus_coordinator caucus_coordinator;

/** A coordinator of a plan.
 *  In:      plan  borrowed until caucus_coordinator_free(). key: the coordinator's own for this process, copied; each
 *           epoch (from one selection to the next) draws from a subkey of it.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
CAUCUS_API caucus_status caucus_coordinator_new(const caucus_plan *plan, const caucus_key *key,
                                                caucus_coordinator **ret) CAUCUS_MUST_CHECK;
/** Free and wipe. NULL is allowed. */
CAUCUS_API void caucus_coordinator_free(caucus_coordinator *coordinator);

/** The announcement in force; the first one is there from the start. */
CAUCUS_API const caucus_announcement *caucus_coordinator_announcement(const caucus_coordinator *coordinator);

/** Count one report. Values are clamped to their public range first, so a lying client can do no more than a client
 *  with the worst or best losses.
 *  Returns: CAUCUS_OK (counted, or about an earlier expert and rightly ignored), CAUCUS_E_DUPLICATE (counted before),
 *           CAUCUS_E_ORDER (not what this client has to send now), CAUCUS_E_RANGE (no such client, wrong count or
 *           kind).
 *  Privacy: nothing is released.
 *  Cost:    O(count), no allocation. */
CAUCUS_API caucus_status caucus_coordinator_receive(caucus_coordinator *coordinator,
                                                    const caucus_report *report) CAUCUS_MUST_CHECK;

/* Counting on several threads. Each thread adds up in a partial of its own; before the step is decided they are merged.
 * Sums commute, so the state is the same, bit for bit, as if one thread had received everything. Threads may call
 * caucus_coordinator_count() and caucus_coordinator_announcement() at the same time if no two of them count reports of
 * one client at once (a client that changes its thread does so after something that orders the two, a lock for one),
 * and nobody merges, decides, saves or asks anything else meanwhile. */
typedef struct caucus_partial caucus_partial;

/** An empty partial for a coordinator of this plan, on cache lines of its own. Free wipes; NULL is allowed.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
CAUCUS_API caucus_status caucus_partial_new(const caucus_coordinator *coordinator,
                                            caucus_partial **ret) CAUCUS_MUST_CHECK;
CAUCUS_API void caucus_partial_free(caucus_partial *partial);
/** Answers to the announcement in force that have been counted into it since it was last merged. */
CAUCUS_API uint32_t caucus_partial_answered(const caucus_partial *partial);

/** caucus_coordinator_receive(), into a partial: what the client has sent is noted in the coordinator, what it adds to
 *  in the partial. A partial that holds anything must be merged before the step it was counted in is decided. */
CAUCUS_API caucus_status caucus_coordinator_count(caucus_coordinator *coordinator, caucus_partial *partial,
                                                  const caucus_report *report) CAUCUS_MUST_CHECK;
/** Add a partial in, and empty it. Cost: O(d) if vectors or votes were counted into it, else O(1). */
CAUCUS_API void caucus_coordinator_merge(caucus_coordinator *coordinator, caucus_partial *partial);

/** Clients whose answer to the announcement in force has not come yet (or has not been merged yet). */
CAUCUS_API uint32_t caucus_coordinator_waiting(const caucus_coordinator *coordinator);

/** Decide the step on what has come, and make the next announcement. This is the release; there is no way back.
 *  Returns: CAUCUS_OK, CAUCUS_E_ORDER (nothing is being asked).
 *  Privacy: the release. Its noise is a function of the epoch's key and of the step, so a step that is decided again
 *           from the same saved state has the same noise: let only one of the two verdicts be seen. */
CAUCUS_API caucus_status caucus_coordinator_decide(caucus_coordinator *coordinator) CAUCUS_MUST_CHECK;

/** Selections made so far, and checks made so far (svt). */
CAUCUS_API uint64_t caucus_coordinator_selections(const caucus_coordinator *coordinator);
CAUCUS_API uint64_t caucus_coordinator_checks(const caucus_coordinator *coordinator);

/** How many phases can be looked back at. */
#define CAUCUS_LOOKS 32
/** What was shown of the losses of one phase (settings.show_loss; docs/PRIVACY.md, "A private look"). The struct grows
 *  at its end. */
typedef struct caucus_look {
    size_t size;      /* of this struct, as the caller knows it; set by caucus_look_init() */
    uint64_t phase;   /* whose losses these are */
    uint32_t expert;  /* that was in force before they were learnt from */
    uint32_t clients; /* that reported */
    double loss;      /* its mean loss, in the units of the losses */
    double low;       /* with probability 0.95 it is not below, nor above `high`: of the losses that were counted */
    double high;      /* the same; of losses to come it says nothing */
} caucus_look;
/** Zeros, and the size. */
CAUCUS_API void caucus_look_init(caucus_look *ret);
/** How many phases there are to look back at: CAUCUS_LOOKS at most, 0 where the plan shows none. */
CAUCUS_API uint32_t caucus_coordinator_looks(const caucus_coordinator *coordinator);
/** One of the phases that were shown.
 *  In:      index  below caucus_coordinator_looks(); 0 is the latest.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (no such phase, or a size that this library does not know).
 *  Privacy: public: part of what epsilon covers, or made of messages that are private by themselves. */
CAUCUS_API caucus_status caucus_coordinator_look(const caucus_coordinator *coordinator, uint32_t index,
                                                 caucus_look *ret) CAUCUS_MUST_CHECK;

/** What has been counted of one client (1..m): the first block whose cost, and whose sums, are still to come (0 where
 *  the algorithm has none), and whether it has answered the announcement in force. */
CAUCUS_API void caucus_coordinator_counted(const caucus_coordinator *coordinator, uint32_t client,
                                           uint64_t *ret_cost_next, uint64_t *ret_sums_next, bool *ret_answered);

/** Whether anything was ever counted of one client (1..m), kept or not: 0: nothing; otherwise, stoch: 1 + the serial of
 *  the last announcement that it has answered; svt, hedge: 1. A client that comes without its state needs to know. */
CAUCUS_API uint64_t caucus_coordinator_answered(const caucus_coordinator *coordinator, uint32_t client);

/** The whole state as bytes, and back. Save right after caucus_coordinator_decide(), before a byte that depends on the
 *  decision leaves: then a crash loses nothing but reports that their clients send again. It holds the key of the
 *  epoch in hand, with which the restored machine goes on; the epochs after it draw from `key`, a new one in every
 *  process.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (the buffer is below caucus_coordinator_state_bytes(); it is zeros then),
 *           CAUCUS_E_FORMAT (torn, altered, of another plan or version), CAUCUS_E_CONFLICT (a seeded state and a
 *           private key, or the reverse), CAUCUS_E_MEMORY.
 *  Privacy: the bytes hold sums, a threshold's noise and the epoch's key: for nobody else, and to be wiped when the
 *           epoch ends. Once nothing more is asked they hold none of these. */
CAUCUS_API size_t caucus_coordinator_state_bytes(const caucus_coordinator *coordinator);
CAUCUS_API caucus_status caucus_coordinator_save(const caucus_coordinator *coordinator, uint8_t *ret,
                                                 size_t ret_bytes) CAUCUS_MUST_CHECK;
CAUCUS_API caucus_status caucus_coordinator_restore(const caucus_plan *plan, const caucus_key *key,
                                                    const uint8_t *state, size_t bytes,
                                                    caucus_coordinator **ret) CAUCUS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
