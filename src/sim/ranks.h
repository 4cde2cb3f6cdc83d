/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h: the processes that play one simulation together, as everything below the program sees them.
 * layer: sim
 *
 * All of them run the same program with the same arguments and take the same way through it: a function that waits for
 * the others (`sum`, `share`) is called by every rank, in the same order. What a rank finds out by itself (a signal, a
 * file that cannot be read) must therefore be agreed upon before anybody acts on it: caucus_ranks_any().
 *
 * The table is filled by src/mpi; a pointer to it that is NULL stands for a process that is alone. Only one thread of a
 * rank, always the same, may call anything here. */
#ifndef CAUCUS_SIM_RANKS_H
#define CAUCUS_SIM_RANKS_H

#include <caucus/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest message of `send`. */
#define CAUCUS_RANKS_MESSAGE_BYTES 4096u

typedef struct caucus_ranks {
    uint32_t rank;    /* of this process: 0 prints, writes files and keeps what a later run can go on from */
    uint32_t size;    /* 2 or more */
    uint32_t threads; /* for this process, where nobody has said how many: its part of the machine's cores */

    /* Add up value[count] over the ranks, in place and the same everywhere. Wraps like unsigned numbers.
     * Returns: CAUCUS_OK, CAUCUS_E_MEMORY, CAUCUS_E_STOPPED (somebody is gone: `give_up`, also by itself). */
    caucus_status (*sum)(int64_t *value, size_t count);
    /* Rank 0's bytes to everybody. Returns: as `sum`. */
    caucus_status (*share)(void *bytes, size_t count);
    /* Hand over a message of at most CAUCUS_RANKS_MESSAGE_BYTES. */
    void (*send)(uint32_t to, const void *bytes, size_t count);
    /* The next message, if one has come; never waits. Its bytes go into ret, which has room for the longest. */
    bool (*receive)(uint32_t *ret_from, void *ret, size_t *ret_count);
    /* From here on nobody waits for another rank any more: one of them is gone. Every `sum` and `share` fails. */
    void (*give_up)(void);
    /* A rank that is known to have died, -1: none. Ranks on other machines are never known to. */
    int64_t (*gone)(void);
} caucus_ranks;

static inline bool caucus_ranks_first(const caucus_ranks *ranks) {
    return ranks == NULL || ranks->rank == 0;
}

/** Trials, runs and chunks are dealt by number: the k-th (from 0) of this rank. */
static inline uint64_t caucus_ranks_deal(const caucus_ranks *ranks, uint64_t k) {
    return ranks == NULL ? k : k * ranks->size + ranks->rank;
}

/** Threads to use where `asked` is what somebody has asked for, 0 = nothing. Returns: 1 or more. */
uint32_t caucus_ranks_threads(const caucus_ranks *ranks, uint32_t asked);

/** Is it so in any rank? Where the others cannot be asked any more: true. */
bool caucus_ranks_any(const caucus_ranks *ranks, bool here);

/** The worst of what has happened in any rank, so that all of them go on or none does.
 *  In:      status and error of this rank; error may hold anything if status is CAUCUS_OK.
 *  Out:     *error: that of the lowest rank that failed, with its number if it is not the first.
 *  Returns: that rank's status; CAUCUS_OK if none failed; CAUCUS_E_STOPPED if the others cannot be asked. */
caucus_status caucus_ranks_agree(const caucus_ranks *ranks, caucus_status status,
                                 caucus_error *error) CAUCUS_MUST_CHECK;

/** Say in an error which rank it comes from. */
void caucus_ranks_name(caucus_error *error, uint32_t rank);

#endif
