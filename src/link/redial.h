/* SPDX-License-Identifier: Apache-2.0 */
/* redial.h: which address a client dials, and when; how long it believes in a silent connection.
 * layer: link
 *
 * Nothing here reads a clock or opens a socket: `now` is the caller's, in milliseconds from any origin, never going
 * back.
 *
 * An address that failed is left alone for a while: w/2 to w milliseconds, drawn uniformly so that a fleet does not
 * come back all at once, with w = first, 2*first, 4*first, ... up to the longest pause. It starts again at `first` once
 * a connection has brought something. One that sent nonsense or had no room is left alone for the longest pause; one
 * that refused for good is never dialled again. The next address is the one that may be dialled first; among equals the
 * one that worked last, then those behind it in the list. No two attempts follow each other without a first pause
 * between them.
 *
 * A connection can look alive and be dead. After the last round of a block an announcement is due when the
 * coordinator's deadline is over; one that is late by more than the grace period is not believed in, and the caller
 * dials again. If the coordinator is there it says the same once more, and reports are sent again as they were. A
 * coordinator that waits for a quorum is dialled again less and less often. */
#ifndef CAUCUS_LINK_REDIAL_H
#define CAUCUS_LINK_REDIAL_H

#include <caucus/link.h>

typedef struct caucus_redial_address {
    char *text;
    bool refused;      /* for good */
    uint32_t failures; /* in a row */
    int64_t when;      /* not before */
} caucus_redial_address;

typedef struct caucus_redial {
    caucus_redial_address *address; /* [addresses] */
    size_t addresses, current;
    uint32_t pause_first_ms, pause_most_ms, open_ms, grace_ms, patience_most_ms;
    uint64_t jitter; /* state of the generator of pauses; nothing secret */

    enum { CAUCUS_REDIAL_APART, CAUCUS_REDIAL_DIALLING, CAUCUS_REDIAL_CONNECTED } phase;
    bool fruitful;   /* this connection has brought something */
    bool unwelcome;  /* it had no room, or said what no coordinator says */
    int64_t floor;   /* no attempt before */
    int64_t give_up; /* DIALLING: the attempt has failed by then */

    /* The announcement that is due after the last round of a block. */
    uint64_t heard;      /* announcements so far */
    int64_t since;       /* when the wait for the next one on this connection began */
    int64_t patience_ms; /* how long it is believed in; 0: not waiting */
    bool late;           /* it was not there in time */

    bool begun;
    int64_t seen; /* when there last was a coordinator that kept its deadline */
} caucus_redial;

/** Returns: CAUCUS_OK, CAUCUS_E_RANGE (an address is NULL), CAUCUS_E_MEMORY. A zeroed struct can be freed. */
caucus_status caucus_redial_init(caucus_redial *redial, const caucus_link_settings *settings,
                                 caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_redial_free(caucus_redial *redial);

/** The address to dial now, which begins an attempt; NULL: not now. */
const char *caucus_redial_next(caucus_redial *redial, int64_t now);
void caucus_redial_connected(caucus_redial *redial, int64_t now);
/** The connection or the attempt is over. */
void caucus_redial_lost(caucus_redial *redial, int64_t now);
/** The current address refuses for good. */
void caucus_redial_refused(caucus_redial *redial);
/** It does not: another machine of that name may not. */
void caucus_redial_forgive(caucus_redial *redial);
/** None of them does any more: this client has got another certificate. */
void caucus_redial_forgive_all(caucus_redial *redial);
bool caucus_redial_all_refused(const caucus_redial *redial);

/** What the link knows about the announcement that it may be waiting for. */
typedef struct caucus_redial_due {
    uint64_t heard;       /* announcements so far */
    bool awaits;          /* the next one is due */
    uint32_t deadline_ms; /* 0: none is known */
} caucus_redial_due;

caucus_link_overdue caucus_redial_timeout(caucus_redial *redial, const caucus_redial_due *due, int64_t now);
/** Milliseconds until something of the above may change by time alone; -1: nothing will; 0: all have refused. */
int64_t caucus_redial_wait(caucus_redial *redial, const caucus_redial_due *due, int64_t now);
/** Milliseconds since there last was a coordinator that kept its deadline. */
int64_t caucus_redial_missing(caucus_redial *redial, int64_t now);

#endif
