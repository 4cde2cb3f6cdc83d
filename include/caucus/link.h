/* SPDX-License-Identifier: Apache-2.0 */
/* link.h: a client for your own event loop: give it losses and bytes, take an expert and bytes.
 * layer: link
 *
 * It is the client to embed. It wraps the client's machine (client.h, for simulations and transports of your own:
 * messages in and out, no bytes) with what a network that fails needs: reports wait until they are known to
 * be counted and are sent again as they were, announcements wait until their losses have been seen, and everything that
 * must survive a restart goes through `save` before a byte that depends on it is handed out.
 *
 * It opens no socket and reads no clock. It knows the coordinator's addresses and decides which one to dial, and when;
 * how long to wait for a connection and for an announcement; the caller dials, moves bytes, and passes the time:
 * milliseconds of a clock that never goes back (CLOCK_MONOTONIC), from any origin. A loop around it, in short
 * (examples/link_client.c has a whole one, with TLS):
 *
 *     while (!caucus_link_done(link) && !caucus_link_refused(link)) {
 *         while (caucus_link_ready(link)) {
 *             play(caucus_link_expert(link));
 *             caucus_link_observe(link, losses, &error);
 *         }
 *         if ((address = caucus_link_next_address(link, now())))  dial(address);  // then caucus_link_connected()
 *         if (caucus_link_timeout(link, now()))  { close(fd); caucus_link_disconnected(link, now()); }
 *         send(caucus_link_to_send(link, &size)), caucus_link_sent(link, sent);   // as much as the socket takes
 *         poll(fd, caucus_link_wait_ms(link, now()));
 *         caucus_link_receive(link, bytes, size, &error);                         // not OK: close, disconnected
 *     } */
#ifndef CAUCUS_LINK_H
#define CAUCUS_LINK_H

#include <caucus/client.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A client with what a network that fails needs. */
typedef struct caucus_link caucus_link;

/** Make these bytes durable (write, fsync, rename); false: they are not, and nothing may be sent that depends on
 *  them. */
typedef bool (*caucus_link_save)(void *user, const uint8_t *bytes, size_t size);

/* Set up by caucus_link_settings_init(), then changed field by field; it grows at its end. In brackets: what init sets.
 * Everything it points to is copied or done with when caucus_link_new() returns, but for the plan and `user`. */
typedef struct caucus_link_settings {
    size_t size;                /* of this struct, as the caller knows it; set by caucus_link_settings_init() */
    const caucus_plan *plan;    /* borrowed until caucus_link_free(); mandatory */
    const uint8_t *plan_hash;   /* 32 bytes that name the plan to the coordinator (NULL: caucus_plan_hash()) */
    uint32_t index;             /* this client's number, 1..m; mandatory */
    const caucus_key *key;      /* this client's own; mandatory */
    const uint8_t *state;       /* what `save` was last given (NULL: a new client) */
    size_t state_bytes;         /* (0) */
    caucus_link_save save;      /* (NULL: nothing survives a restart) */
    void *user;                 /* for save (NULL) */
    const char *const *address; /* where the coordinator may be, the first choice first: texts that the caller's dialler
                                   understands, "host:port" for example (NULL: one address without a name) */
    size_t addresses;           /* (0) */
    uint32_t pause_first_ms; /* after a failure an address is left alone for w/2 to w ms, at random; w begins with this
                                  and doubles with each failure in a row (200) ... */
    uint32_t pause_most_ms;  /* ... up to this (30000) */
    uint32_t open_ms;        /* an attempt to connect, handshake included, takes no longer (10000) */
    uint32_t grace_ms;       /* an announcement may come so much later than the coordinator's deadline (2000) */
    uint32_t patience_most_ms; /* a coordinator that is late is dialled again after twice as long each time, at least
                                  this often (300000) */
    bool new_device; /* under trust nobody a client without a state of which reports were counted is refused (its state
                        is lost, and it would draw noise again for the same losses); true: its number has gone to
                        another device, with losses that were never reported (false) */
} caucus_link_settings;

/** The size and the values in brackets. */
CAUCUS_API void caucus_link_settings_init(caucus_link_settings *ret);

/** Returns: CAUCUS_OK, CAUCUS_E_FORMAT (the state is damaged), CAUCUS_E_MISMATCH (of another plan), CAUCUS_E_CONFLICT
 *  (of another client), CAUCUS_E_RANGE (index, an address, pauses, or "size": not set up by
 *  caucus_link_settings_init()), CAUCUS_E_MEMORY. */
CAUCUS_API caucus_status caucus_link_new(const caucus_link_settings *settings, caucus_link **ret,
                                         caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Free and wipe. NULL is allowed. */
CAUCUS_API void caucus_link_free(caucus_link *link);
/** Convex losses only: where gradients come from, as caucus_client_set_gradient(). */
CAUCUS_API void caucus_link_set_gradient(caucus_link *link, caucus_gradient gradient, void *user);

/** The address to dial now, which begins an attempt: caucus_link_connected() or caucus_link_disconnected() ends it.
 *  NULL: not now (an attempt or a connection is there, or a pause is not over: caucus_link_wait_ms()), or never again
 *  (caucus_link_refused()). The text stays where it is until caucus_link_free(). */
CAUCUS_API const char *caucus_link_next_address(caucus_link *link, int64_t now_ms);
/** A connection is up (again), handshake included: what was not sent, or not known to be counted, will be sent. */
CAUCUS_API void caucus_link_connected(caucus_link *link, int64_t now_ms);
/** The connection is gone, or the attempt has failed: half a frame in either direction is forgotten, and the next
 *  attempt comes after a pause. */
CAUCUS_API void caucus_link_disconnected(caucus_link *link, int64_t now_ms);
/** The address that was dialled last refuses for good (it does not accept this client's certificate, or the client not
 *  its): it is not dialled again. caucus_link_receive() sees to that by itself where the coordinator says so. */
CAUCUS_API void caucus_link_refuse(caucus_link *link);
/** Every address has refused for good: there is nothing more to try. */
CAUCUS_API bool caucus_link_refused(const caucus_link *link);

/* What has taken too long. */
typedef enum caucus_link_overdue {
    CAUCUS_LINK_IN_TIME = 0,
    CAUCUS_LINK_NO_ANSWER,      /* the attempt to connect */
    CAUCUS_LINK_NO_ANNOUNCEMENT /* the announcement after a block: it hangs, is gone, or waits for a quorum */
} caucus_link_overdue;

/** Whether something has taken too long. If so, close the connection and call caucus_link_disconnected(): a connection
 *  can look alive and be dead. Call it in every turn of the loop: waiting begins with the first call that finds it
 *  due. */
CAUCUS_API caucus_link_overdue caucus_link_timeout(caucus_link *link, int64_t now_ms);
/** How long the loop may sleep before it looks at caucus_link_next_address() and caucus_link_timeout() again, if
 *  nothing else wakes it; -1: as long as it likes; 0 where caucus_link_refused() says that all is over. */
CAUCUS_API int64_t caucus_link_wait_ms(caucus_link *link, int64_t now_ms);
/** For how long there has been no connection to a coordinator that answers and keeps its deadline: 0 while there is.
 *  For callers who give up some day; the link never does. */
CAUCUS_API int64_t caucus_link_missing_ms(caucus_link *link, int64_t now_ms);
/** Whether the announcement that is awaited was not there in time, on this connection or one before. */
CAUCUS_API bool caucus_link_late(const caucus_link *link);

/** Bytes from the coordinator.
 *  Returns: CAUCUS_OK; anything else: drop the connection (the error says why). CAUCUS_E_LATER: it has no room now:
 *           come again; CAUCUS_E_SAVE: `save` failed, and nothing is wrong with the connection. A status for which
 *           caucus_status_is_final() holds (another plan: CAUCUS_E_MISMATCH; unknown or revoked client,
 *           or another version of the protocol: CAUCUS_E_REFUSED; a coordinator that went back to an older state:
 *           CAUCUS_E_ROLLED_BACK; this client's own state is gone: CAUCUS_E_LOST): this address is not dialled again;
 *           others are. */
CAUCUS_API caucus_status caucus_link_receive(caucus_link *link, const uint8_t *bytes, size_t size,
                                             caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** False while so many announcements wait for their losses that no more should be read. */
CAUCUS_API bool caucus_link_wants(const caucus_link *link);
/** Bytes for the coordinator: NULL and *ret_size = 0 if none. caucus_link_sent() takes off what was really sent. */
CAUCUS_API const uint8_t *caucus_link_to_send(caucus_link *link, size_t *ret_size);
CAUCUS_API void caucus_link_sent(caucus_link *link, size_t bytes);

/** True when the next round can be played: an expert is in force and the machine wants losses. */
CAUCUS_API bool caucus_link_ready(const caucus_link *link);
/** True after the last round of a block (or phase), until the coordinator has announced what follows. */
CAUCUS_API bool caucus_link_awaits(const caucus_link *link);
/** How long the coordinator keeps a step open, as its last welcome said; 0: until everybody has answered, or nothing
 *  was said yet. */
CAUCUS_API uint32_t caucus_link_deadline_ms(const caucus_link *link);
CAUCUS_API uint32_t caucus_link_expert(const caucus_link *link);
/** Which experts to evaluate in the coming round, as caucus_client_evaluate(). */
CAUCUS_API caucus_status caucus_link_evaluate(const caucus_link *link, uint32_t *ret,
                                              size_t ret_count) CAUCUS_MUST_CHECK;
CAUCUS_API uint64_t caucus_link_round(const caucus_link *link); /* rounds observed so far */
/** One round of d losses; of a plan with `evaluate: k` the k of caucus_link_evaluate(). Returns as
 *  caucus_client_observe; CAUCUS_E_FORMAT if an announcement that waited for it turned out to be wrong: drop the
 *  connection; CAUCUS_E_SAVE if `save` failed, CAUCUS_E_MEMORY if there was no memory for its report: the round
 *  counts, and the rest is tried again with the next call of this or of caucus_link_receive().
 *  Where every device has its own pace a loss is saved with its slot before this returns: after CAUCUS_OK it is in one
 *  item, whatever happens to the process, and must not be given again. One whose call has not returned may or may not
 *  have been taken: caucus_link_round() of the link that goes on from the state says how many were. */
CAUCUS_API caucus_status caucus_link_observe(caucus_link *link, const double *loss,
                                             caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Several rounds at once, row by row: none of them, or all. At their own pace they are saved once, which is what
 *  costs. Returns as caucus_link_observe(); CAUCUS_E_ORDER also if there are more than can be played now. */
CAUCUS_API caucus_status caucus_link_observe_rows(caucus_link *link, const double *loss, uint64_t rows,
                                                  caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Where every device has its own pace: its clock is in slot `slot`, unix time / phase_time rounded down
 *  (caucus_client_slot). Call it before each caucus_link_observe(), and now and then while there are no losses: an item
 *  about the slots that are over is made and sent by it. caucus_link_ready() is then true from the first announcement
 *  on, and losses need not wait for anything.
 *  Returns: CAUCUS_OK, CAUCUS_E_ORDER (the plan's clients are in step), and as caucus_link_observe(). */
CAUCUS_API caucus_status caucus_link_slot(caucus_link *link, uint64_t slot, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** True once the coordinator has welcomed this client on the connection in hand and whatever is to be sent was handed
 *  out: who has nothing more to observe may leave now, and has reported what could be reported. */
CAUCUS_API bool caucus_link_has_reported(const caucus_link *link);

/** Go away in good order: save the state as it is, in the middle of a block too, and (if connected) put a farewell
 *  behind what is being sent.
 *  Returns: CAUCUS_OK, CAUCUS_E_SAVE (not saved; a restart goes on from the last state that was). */
CAUCUS_API caucus_status caucus_link_leave(caucus_link *link, const char *words,
                                           caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** The run is over: all rounds are played and every report is counted or no longer wanted, or it was ended before its
 *  time (caucus_client_stopped). */
CAUCUS_API bool caucus_link_done(const caucus_link *link);
/** The coordinator said goodbye or refused: its words ("" if it did not). */
CAUCUS_API const char *caucus_link_last_words(const caucus_link *link);
/** Numbers for people: reports sent (again), bytes. The struct grows at its end. */
typedef struct caucus_link_counts {
    size_t size;                         /* of this struct, as the caller knows it; caucus_link_counts_init() sets it */
    uint64_t reports;                    /* sent, each counted once */
    uint64_t again;                      /* sent once more, since it was not known that they had arrived */
    uint64_t bytes_sent, bytes_received; /* of frames, on all connections */
} caucus_link_counts;
/** Zeros, and the size. */
CAUCUS_API void caucus_link_counts_init(caucus_link_counts *ret);
/** Fill them in. Returns: CAUCUS_OK, CAUCUS_E_RANGE (a size that this library does not know; nothing is filled in). */
CAUCUS_API caucus_status caucus_link_count(const caucus_link *link, caucus_link_counts *ret) CAUCUS_MUST_CHECK;
/** The machine inside, for its mixture, cost and clips. */
CAUCUS_API const caucus_client *caucus_link_client(const caucus_link *link);

#ifdef __cplusplus
}
#endif
#endif
