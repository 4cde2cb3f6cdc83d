/* link.h: a client for your own event loop: give it losses and bytes, take an expert and bytes.
 * layer: link
 *
 * It is the client to embed. It wraps the client's machine (client.h, for simulations and transports of your own:
 * messages in and out, no bytes) with what a network that fails needs: reports wait until they are known to
 * be counted and are sent again as they were, announcements wait until their losses have been seen, and everything that
 * must survive a restart goes through `save` before a byte that depends on it is handed out. It opens no socket and
 * reads no clock; TLS and reconnecting are the caller's (or those of `caucus join`). */
#ifndef CAUCUS_LINK_H
#define CAUCUS_LINK_H

#include <caucus/client.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct caucus_link caucus_link;

/** Make these bytes durable (write, fsync, rename); false: they are not, and nothing may be sent that depends on them.
 */
typedef bool (*caucus_link_save)(void *user, const uint8_t *bytes, size_t size);

/** In: plan borrowed; plan_hash: SHA-256 of the plan file's bytes; state: what `save` was last given, or NULL for a new
 * client. Returns: CAUCUS_OK, CAUCUS_E_FORMAT (the state is damaged), CAUCUS_E_MISMATCH (of another plan),
 * CAUCUS_E_CONFLICT (of another client), CAUCUS_E_RANGE, CAUCUS_E_MEMORY. */
CAUCUS_API caucus_status caucus_link_new(const caucus_plan *plan, const uint8_t plan_hash[32], uint32_t index,
                                         const caucus_key *key, const uint8_t *state, size_t state_bytes,
                                         caucus_link_save save, void *user, caucus_link **ret,
                                         caucus_error *ret_error) CAUCUS_MUST_CHECK;
CAUCUS_API void caucus_link_free(caucus_link *link);
/** Convex losses only: where gradients come from, as caucus_client_set_gradient(). */
CAUCUS_API void caucus_link_set_gradient(caucus_link *link, caucus_gradient gradient, void *user);

/** A connection is up (again): what was not sent, or not known to be counted, will be sent. */
CAUCUS_API caucus_status caucus_link_connected(caucus_link *link, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** The connection is gone: half a frame in either direction is forgotten. */
CAUCUS_API void caucus_link_disconnected(caucus_link *link);

/** Bytes from the coordinator. Returns: CAUCUS_OK; anything else: drop the connection (the error says why).
 *  CAUCUS_E_LATER: it has no room now: come again; CAUCUS_E_SAVE: `save` failed, and nothing is wrong with the
 *  connection. A status for which caucus_status_is_final() holds (another plan: CAUCUS_E_MISMATCH; unknown or revoked
 *  client: CAUCUS_E_REFUSED; a coordinator that went back to an older state: CAUCUS_E_ROLLED_BACK): do not come
 *  again. */
CAUCUS_API caucus_status caucus_link_receive(caucus_link *link, const uint8_t *bytes, size_t size,
                                             caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** False while so many announcements wait for their losses that no more should be read. */
CAUCUS_API bool caucus_link_wants(const caucus_link *link);
/** Bytes for the coordinator: *ret_size = 0 if none. caucus_link_sent() takes off what was really sent. */
CAUCUS_API const uint8_t *caucus_link_to_send(caucus_link *link, size_t *ret_size);
CAUCUS_API void caucus_link_sent(caucus_link *link, size_t bytes);

/** True when the next round can be played: an expert is in force and the machine wants losses. */
CAUCUS_API bool caucus_link_ready(const caucus_link *link);
/** True after the last round of a block (or phase), until the coordinator has announced what follows. */
CAUCUS_API bool caucus_link_awaits(const caucus_link *link);
/** How long the coordinator keeps a step open, as its last welcome said; 0: until everybody has answered, or nothing
 * was said yet. Whoever awaits an announcement for longer does well to dial again: the coordinator may be gone. */
CAUCUS_API uint32_t caucus_link_deadline_ms(const caucus_link *link);
CAUCUS_API uint32_t caucus_link_expert(const caucus_link *link);
CAUCUS_API uint64_t caucus_link_round(const caucus_link *link); /* rounds observed so far */
/** One round of d losses. Returns as caucus_client_observe; CAUCUS_E_FORMAT if an announcement that waited for it
 * turned out to be wrong: drop the connection; CAUCUS_E_SAVE if `save` failed, CAUCUS_E_MEMORY if there was no memory for
 * its report: the round counts, and the rest is tried again with the next call of this or of caucus_link_receive(). */
CAUCUS_API caucus_status caucus_link_observe(caucus_link *link, const double *loss,
                                             caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Go away in good order: save the state as it is, in the middle of a block too, and (if connected) put a farewell
 * behind what is being sent. Returns: CAUCUS_OK, CAUCUS_E_SAVE (not saved; a restart goes on from the last state that
 * was). */
CAUCUS_API caucus_status caucus_link_leave(caucus_link *link, const char *words,
                                           caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** The run is over: all rounds are played and every report is counted or no longer wanted. */
CAUCUS_API bool caucus_link_done(const caucus_link *link);
/** The coordinator said goodbye or refused: its words ("" if it did not). */
CAUCUS_API const char *caucus_link_last_words(const caucus_link *link);
/** Numbers for people: reports sent (again), bytes. */
typedef struct caucus_link_counts {
    uint64_t reports, again, bytes_sent, bytes_received;
} caucus_link_counts;
CAUCUS_API void caucus_link_count(const caucus_link *link, caucus_link_counts *ret);
/** The machine inside, for its mixture, cost and clips. */
CAUCUS_API const caucus_client *caucus_link_client(const caucus_link *link);

#ifdef __cplusplus
}
#endif
#endif
