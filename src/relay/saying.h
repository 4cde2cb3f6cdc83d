/* SPDX-License-Identifier: Apache-2.0 */
/* saying.h: what a relay and the coordinator say to each other once their session is sealed.
 * layer: relay
 *
 * A message is a byte that says what it is and the fields below, integers with the least significant byte first:
 *
 *   relay to coordinator
 *     HERE     announcements heard 8, their chain 32        first of a session, and every second; the chain is that of
 *              store/coordinator/chain.h, and left out if none were heard, or in a run without an end
 *     PLACE    count 4; each: ticket 8, client 4, heard 8, certificate's serial number (length 1, text)
 *     LEFT     count 4; each: client 4, session 8, said goodbye 1
 *     PARTIAL  n 8, bytes of all its pieces 4, this piece begins at 4, the piece (algo/relayed)
 *     HISTORY  from 8                                       announcements are missing from this serial on
 *   coordinator to relay
 *     STATE    deadline in ms 4, cost_next 8, sums_next 8 of clients in step, then as NEWS; the answer to HERE until
 *              HISTORY shows that it has arrived
 *     NEWS     announcements committed 8, the run has begun 1, durable n 8, the last announcement (a frame)
 *     PAST     durable n 8, first 8, count 4, so many announcements (frames), one after the other
 *     PLACED   count 4; each: ticket 8, client 4, code of the refusal 1 (0: placed), session 8,
 *              cost_next 8, sums_next 8, answered 8 as counted; cost_next 8, sums_next 8 as durable;
 *              announcements committed 8, text (length 1)
 *     TAKEN    n 8, serial 8, answer 1, count 4, so many clients 4 whose items are not counted
 *     OUT      client 4, session 8, code 1, text (length 1) it has no place there any more
 *     END      the run is over 1                            the coordinator ends
 *
 * Who sends asks for nothing but that a message arrives or does not: HERE and NEWS come every second and say how far
 * their sender is, a PARTIAL is sent again until it is answered. */
#ifndef CAUCUS_RELAY_SAYING_H
#define CAUCUS_RELAY_SAYING_H

#include <caucus/message.h>

#include "relay/line.h"
#include "relay/seal.h"

typedef enum caucus_saying_kind {
    CAUCUS_SAY_HERE = 1,
    CAUCUS_SAY_PLACE,
    CAUCUS_SAY_LEFT,
    CAUCUS_SAY_PARTIAL,
    CAUCUS_SAY_HISTORY,
    CAUCUS_SAY_STATE = 65,
    CAUCUS_SAY_NEWS,
    CAUCUS_SAY_PAST,
    CAUCUS_SAY_PLACED,
    CAUCUS_SAY_TAKEN,
    CAUCUS_SAY_OUT,
    CAUCUS_SAY_END
} caucus_saying_kind;

/* What becomes of a partial. */
typedef enum caucus_partial_answer {
    CAUCUS_ANSWER_TAKEN = 0, /* not to be sent again in this term */
    CAUCUS_ANSWER_STALE,     /* another announcement is in force: it is made again when that is heard */
    CAUCUS_ANSWER_ITEMS      /* without these clients it can be made again */
} caucus_partial_answer;

#define CAUCUS_SAYING_BYTES (256u << 10)  /* longest message; a longer partial comes in pieces */
#define CAUCUS_PARTIAL_BYTES (256u << 20) /* longest partial */

/* A message that is being written. Begin with = {0}. */
typedef struct caucus_saying {
    uint8_t *bytes; /* the first CAUCUS_SEAL_MORE_BYTES are for the seal */
    size_t used, room;
    bool failed; /* without memory: it is not sent */
} caucus_saying;

void caucus_saying_begin(caucus_saying *saying, caucus_saying_kind kind);
void caucus_saying_put(caucus_saying *saying, uint64_t value, size_t bytes);
void caucus_saying_put_bytes(caucus_saying *saying, const void *from, size_t size);
/** At most 255 bytes of it, with their number before them. */
void caucus_saying_put_text(caucus_saying *saying, const char *text);
void caucus_saying_put_announcement(caucus_saying *saying, const caucus_announcement *announcement);
/** Put a number at a place that was written before (caucus_saying_size() of then). */
void caucus_saying_set(caucus_saying *saying, size_t at, uint64_t value, size_t bytes);
size_t caucus_saying_size(const caucus_saying *saying);
/** Wipes. */
void caucus_saying_free(caucus_saying *saying);
/** Seal it and send it under the subject. Returns: false: it was not sent. */
bool caucus_saying_send(caucus_saying *saying, caucus_seal *seal, caucus_line *line, const char *subject);

/* A message that is being read. */
typedef struct caucus_hearing {
    const uint8_t *at, *end;
    bool failed; /* it was shorter than what was read of it, or is not what it should be */
} caucus_hearing;

uint64_t caucus_hearing_get(caucus_hearing *hearing, size_t bytes);
const uint8_t *caucus_hearing_bytes(caucus_hearing *hearing, size_t size);
/** A text, cut to the room; what is not printable is replaced. */
void caucus_hearing_text(caucus_hearing *hearing, char *ret, size_t room);
caucus_announcement caucus_hearing_announcement(caucus_hearing *hearing);

/** "caucus.RUN.up.7", "caucus.RUN.down.7"; relay 0: all of them, to hear. */
void caucus_subject(const caucus_seal_about *about, bool up, uint32_t relay, char ret[CAUCUS_LINE_SUBJECT_BYTES]);
/** Of the subject of a message: which relay it is from or for; 0: none. */
uint16_t caucus_subject_relay(const char *subject);
/** The run: of plan and name. */
void caucus_seal_run(const uint8_t plan[32], const char *name, uint8_t ret[32]);

#endif
