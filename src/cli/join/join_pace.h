/* SPDX-License-Identifier: Apache-2.0 */
/* join_pace.h: how a client plays at its own pace: losses whenever there are some, slots of its clock, and a line for
 * every expert that takes the place of another.
 * layer: cli */
#ifndef CAUCUS_CLI_JOIN_JOIN_PACE_H
#define CAUCUS_CLI_JOIN_JOIN_PACE_H

#include <caucus/link.h>

#include "cli/join/join_losses.h"

typedef struct caucus_join_pace {
    caucus_link *link;
    caucus_losses_source *losses;
    const caucus_plan *plan;
    uint32_t client;
    bool seeded;     /* slots come with the losses and not from the clock */
    uint64_t play;   /* simulated losses: slots to play; a file: rows; 0: without an end */
    double delay_ms; /* before each loss */

    uint64_t slot;        /* simulated: the slot in hand, from 0 */
    uint64_t slot_before; /* losses of the slots before it */
    bool entered;         /* its beginning was played */
    uint32_t printed;     /* the expert that was printed last, plus 1; 0: none */
    bool ended;           /* everything was played, or standard input has ended */

    bool over;                /* the input has ended and nothing more is waited for */
    bool reported;            /* and the coordinator was there for what was to be reported */
    int64_t ended_ms;         /* when the input ended; 0: it has not */
    int64_t quiet_ms;         /* since when nothing comes and nothing is to be sent; 0: something is */
    uint64_t received;        /* bytes by then */
    double *rows;             /* [room][d]: losses that are there already are given to the link together */
    size_t room;              /* 1 where each waits for its delay */
    caucus_losses_state next; /* what comes after the rows that were given last; CAUCUS_LOSSES_READY: not known yet */
    caucus_error wrong;       /* and what is wrong with it */
} caucus_join_pace;

/** Room for rows; the fields above `rows` are set. Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_join_pace_begin(caucus_join_pace *pace, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Wipe the rows and free them. One that is all zeros is allowed. */
void caucus_join_pace_end(caucus_join_pace *pace);

/* What a turn has come to. */
typedef enum caucus_pace_state {
    CAUCUS_PACE_PLAYED, /* there may be more to play at once */
    CAUCUS_PACE_WAITS,  /* for the coordinator, for standard input, or for the clock */
    CAUCUS_PACE_BROKEN, /* what the coordinator said is wrong: drop the connection */
    CAUCUS_PACE_UNSAVED,
    CAUCUS_PACE_WRONG,  /* a line of standard input: the error says which */
    CAUCUS_PACE_FAILED, /* a file is not what it was, or standard output is gone */
} caucus_pace_state;

/** Play what can be played without waiting. Called whenever something may have changed, and now and then. */
caucus_pace_state caucus_join_pace_turn(caucus_join_pace *pace, caucus_error *ret_error);

/** Call it in every turn: after the end of the input it sets `over`, as soon as the coordinator has welcomed this
 *  client, has said what is new and has all that was to be sent; or when that takes too long. Simulated losses are over
 *  at their end. */
void caucus_join_pace_mind_end(caucus_join_pace *pace, int64_t now_ms);

#endif
