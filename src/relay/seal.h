/* SPDX-License-Identifier: Apache-2.0 */
/* seal.h: what a relay and the coordinator say to each other through somebody they need not trust.
 * layer: relay
 *
 * A broker carries messages between the two. It sees who speaks, when and how much; it must not read a client's sums,
 * make up a message, or deliver an old one again. So a session begins with two signed messages and everything after
 * them is sealed:
 *
 *   greeting, relay to coordinator: label "CAUCrel1" 8, oldest version 2, newest version 2, counting rules 4, plan 32,
 *     run 32, relay 2, fresh X25519 key 32, signature of all before it (Ed25519, the relay's) 64
 *   answer, coordinator to relay: label "CAUCrel2" 8, version 2, term 8, session 8, fresh X25519 key 32,
 *     BLAKE2b-256 of the greeting 32, signature (the coordinator's) 64
 *   keys: BLAKE2b-512("caucus relay keys 1" | X25519 of the two fresh keys | greeting | answer): the first half is for
 *     messages of the relay, the second for those of the coordinator
 *   message: counter 8, XChaCha20-Poly1305 of it with nonce (counter 8, zeros 16) and as associated data
 *     "caucus relay 1" | plan 32 | run 32 | session 8 | direction 1 | subject
 * Integers have the least significant byte first. Counting rules are a number that both sides have in common if they
 * count reports alike.
 *
 * Fresh keys are made for every session and are in no file, so a session ends with either process, and no key ever
 * meets the same nonce twice: counters only rise, each direction has its key. A receiver takes only counters above the
 * last it took: what is delivered twice, late or from another run is refused, what is lost stays lost. A greeting that
 * somebody repeats gets an answer that nobody can read: it is the first sealed message that proves that the relay is
 * there. Nothing here opens a socket or reads a clock. */
#ifndef CAUCUS_RELAY_SEAL_H
#define CAUCUS_RELAY_SEAL_H

#include <caucus/status.h>
#include <stdbool.h>
#include <stddef.h>

#define CAUCUS_SEAL_GREETING_BYTES 178u
#define CAUCUS_SEAL_ANSWER_BYTES 154u
#define CAUCUS_SEAL_MORE_BYTES 24u /* by which a sealed message is longer */
#define CAUCUS_SEAL_SUBJECT_BYTES 128u
#define CAUCUS_SEAL_VERSION 1u
#define CAUCUS_SEAL_RULES 1u /* counting rules of this program (algo/relayed) */

/* Who one is, for good: an Ed25519 key pair. */
typedef struct caucus_seal_owner {
    uint8_t public_key[32], secret_key[64];
} caucus_seal_owner;

/* What both sides must agree upon before anything is said. */
typedef struct caucus_seal_about {
    uint8_t plan[32], run[32]; /* hashes of the plan, and of plan and name of the run */
    uint16_t relay;            /* its number, from 1 */
} caucus_seal_about;

/* A session, one side of it. Wipe it with caucus_seal_end(). */
typedef struct caucus_seal {
    uint8_t send_key[32], take_key[32];
    uint64_t sent, taken; /* counters of the last message each way; 0: none yet */
    uint64_t term, session;
    caucus_seal_about about;
    bool relay; /* this is the relay's side */
} caucus_seal;

/* A relay that has greeted and waits for the answer. Wipe it with caucus_seal_forget(). */
typedef struct caucus_seal_greeted {
    uint8_t secret[32], greeting[CAUCUS_SEAL_GREETING_BYTES];
    caucus_seal_about about;
} caucus_seal_greeted;

/** An identity from the system's random source. Returns: CAUCUS_OK, CAUCUS_E_RANDOM. */
caucus_status caucus_seal_owner_new(caucus_seal_owner *ret) CAUCUS_MUST_CHECK;

/** Relay: begin a session. What is to be sent is ret->greeting.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANDOM. */
caucus_status caucus_seal_greet(const caucus_seal_owner *relay, const caucus_seal_about *about,
                                caucus_seal_greeted *ret) CAUCUS_MUST_CHECK;
void caucus_seal_forget(caucus_seal_greeted *greeted);

/** Which relay says that it greets? For who has to look its public key up. Returns: 0: it is no greeting. */
uint16_t caucus_seal_greets(const uint8_t *greeting, size_t size);

/** Coordinator: take a greeting, and answer it.
 *  In:      about    the relay expected; its public key; term and session, of which no two are alike
 *  Out:     ret_answer [CAUCUS_SEAL_ANSWER_BYTES], to be sent.
 *  Returns: CAUCUS_OK; CAUCUS_E_FORMAT: no greeting; CAUCUS_E_REFUSED: not signed by that relay; CAUCUS_E_MISMATCH: of
 *           another plan; CAUCUS_E_CONFLICT: of another run, of versions that are not spoken here, or counts otherwise;
 *           CAUCUS_E_RANDOM. */
caucus_status caucus_seal_answer(const caucus_seal_owner *coordinator, const uint8_t relay_key[32],
                                 const caucus_seal_about *about, uint64_t term, uint64_t session,
                                 const uint8_t *greeting, size_t size, uint8_t *ret_answer,
                                 caucus_seal *ret) CAUCUS_MUST_CHECK;

/** Relay: take the answer to the greeting.
 *  Returns: CAUCUS_OK; CAUCUS_E_FORMAT: no answer; CAUCUS_E_REFUSED: not signed by that coordinator; CAUCUS_E_ORDER: it
 *           answers another greeting; CAUCUS_E_CONFLICT: of a version that is not spoken here. */
caucus_status caucus_seal_hear(const caucus_seal_greeted *greeted, const uint8_t coordinator_key[32],
                               const uint8_t *answer, size_t size, caucus_seal *ret) CAUCUS_MUST_CHECK;
void caucus_seal_end(caucus_seal *seal);

/** Seal a message for this subject, at most CAUCUS_SEAL_SUBJECT_BYTES long.
 *  Out:     ret [size + CAUCUS_SEAL_MORE_BYTES]. */
void caucus_seal_put(caucus_seal *seal, const char *subject, const uint8_t *message, size_t size, uint8_t *ret);
/** Open one that came by this subject.
 *  Out:     ret [size - CAUCUS_SEAL_MORE_BYTES]; may be where `sealed` is + 8.
 *  Returns: CAUCUS_OK; CAUCUS_E_FORMAT: too short, or not sealed by the other side of this session for this subject;
 *           CAUCUS_E_DUPLICATE: it, or a later one, was opened before. But for CAUCUS_OK the session is as it was. */
caucus_status caucus_seal_take(caucus_seal *seal, const char *subject, const uint8_t *sealed, size_t size,
                               uint8_t *ret) CAUCUS_MUST_CHECK;

#endif
