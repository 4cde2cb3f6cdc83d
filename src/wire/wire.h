/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h: messages to bytes and back.
 * layer: wire
 *
 * A frame is a 32-bit little-endian length and that many bytes of a protobuf Envelope (proto/caucus.proto,
 * docs/PROTOCOL.md). The length is checked against what the plan allows before anything else happens; decoding
 * allocates nothing. Reports, the only frequent and the only long message, are read and written by a small decoder of
 * ours that is tested equal to protobuf-c; protobuf-c does the rest. */
#ifndef CAUCUS_WIRE_WIRE_H
#define CAUCUS_WIRE_WIRE_H

#include <caucus/message.h>

#define CAUCUS_WIRE_VERSION 2u
#define CAUCUS_WIRE_HEAD_BYTES 4u
#define CAUCUS_WIRE_TEXT_BYTES 256u /* longest text in a message, with its final zero */

typedef enum caucus_frame_kind {
    CAUCUS_FRAME_HELLO = 1,    /* client: who I am, which plan, how much I have heard */
    CAUCUS_FRAME_WELCOME,      /* coordinator: you are in; what is counted of you */
    CAUCUS_FRAME_ANNOUNCEMENT, /* coordinator */
    CAUCUS_FRAME_REPORT,       /* client */
    CAUCUS_FRAME_GOODBYE,      /* either side: an orderly end */
    CAUCUS_FRAME_REFUSAL       /* coordinator: why not; the connection ends */
} caucus_frame_kind;

/* What a refusal is about; clients decide by it whether to come again. */
typedef enum caucus_refusal_code {
    CAUCUS_REFUSAL_VERSION = 1, /* another protocol version */
    CAUCUS_REFUSAL_PLAN,        /* another plan */
    CAUCUS_REFUSAL_IDENTITY,    /* unknown client, or not what the certificate says */
    CAUCUS_REFUSAL_ORDER,       /* this client has heard what this coordinator never said */
    CAUCUS_REFUSAL_FULL,        /* as many clients as allowed; come again later */
    CAUCUS_REFUSAL_FORMAT,      /* a malformed frame */
    CAUCUS_REFUSAL_ELSEWHERE,   /* the same client has connected again: this connection is the older one */
    CAUCUS_REFUSAL_LATER        /* not now, and not the client's fault: come again later */
} caucus_refusal_code;

typedef struct caucus_frame {
    caucus_frame_kind kind;
    /* HELLO, WELCOME */
    uint32_t version;
    uint8_t plan[CAUCUS_PLAN_HASH_BYTES];
    uint32_t client; /* HELLO: 1..m */
    uint64_t heard;  /* HELLO: announcements heard so far */
    /* WELCOME, ANNOUNCEMENT: durably counted of this client (0 where the algorithm has none): the client forgets items
     * below. */
    uint64_t cost_next, sums_next;
    uint64_t answered;    /* WELCOME: caucus_coordinator_answered(), kept or not */
    uint32_t deadline_ms; /* WELCOME: how long a step stays open once it could have been answered; 0 = for ever */
    caucus_announcement announcement; /* ANNOUNCEMENT */
    caucus_report report; /* REPORT: value points into the frame's bytes (8-byte aligned) or at the scratch given */
    /* GOODBYE, REFUSAL */
    uint32_t code;
    char text[CAUCUS_WIRE_TEXT_BYTES]; /* printable ASCII */
} caucus_frame;

/** The longest frame, head included, that a plan with d experts can need; whatever announces more is refused unread. */
size_t caucus_wire_max_bytes(uint32_t experts);

/** Write one whole frame. Returns: its bytes, 0 if `room` is too small (caucus_wire_max_bytes() is always enough). */
size_t caucus_wire_put(const caucus_frame *frame, uint8_t *to, size_t room);

/** Read one frame from the start of `bytes`.
 *  In:      scratch  d values of working space, for reports whose values lie unaligned.
 *  Out:     *ret_used  bytes taken; 0: the frame is not complete yet.
 *  Returns: CAUCUS_OK, CAUCUS_E_FORMAT (too long, malformed, unknown kind, a count above d, text not printable: the
 *           error says which).
 *  Cost:    no allocation for reports. */
caucus_status caucus_wire_take(const uint8_t *bytes, size_t size, uint32_t experts, int64_t *scratch, size_t *ret_used,
                               caucus_frame *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
