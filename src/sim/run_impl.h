/* SPDX-License-Identifier: Apache-2.0 */
/* run_impl.h: what the threads of a run share (run.c), and how a run is played over ranks (run_ranks.c).
 * layer: sim */
#ifndef CAUCUS_SIM_RUN_IMPL_H
#define CAUCUS_SIM_RUN_IMPL_H

#include "sim/run.h"

#include <pthread.h>
#include <stdatomic.h>

/* Trials that follow each other. */
typedef struct caucus_run_hand {
    uint32_t next, end;
    uint32_t low; /* with no more than these left it is time to ask for others */
} caucus_run_hand;

typedef struct caucus_run_pool {
    const caucus_run *run;
    const caucus_plan *plan;
    const caucus_adversary *adversary;
    const volatile int *stop; /* what trials look at: the run's own, or `halt` */
    atomic_uint next;         /* trials that were begun; rank 0: or dealt to another rank */
    atomic_int failed;        /* a caucus_status */
    volatile int halt;        /* over ranks: a signal here, or rank 0's word */

    pthread_mutex_t lock; /* of all below */
    caucus_trial_result *trial;
    bool *complete;
    uint32_t done;      /* complete trials that this process knows of */
    uint32_t whole;     /* the first of them that follow each other without a gap */
    double kept;        /* when `run->keep` was called last, or the run began */
    caucus_error error; /* of the first failure */

    /* Over ranks: the thread that speaks with the others waits for those that play. */
    pthread_cond_t news;
    uint32_t *finished; /* trials of this process, in the order of their ends */
    uint32_t finished_count;
    uint32_t playing; /* threads */

    /* In the ranks after the first: the numbers that rank 0 has dealt to this process, and that are not begun yet. */
    pthread_cond_t dealt;      /* these have changed, or nobody is to play on */
    caucus_run_hand now, then; /* `then` is begun when `now` is empty */
    uint64_t dealt_count;      /* numbers dealt so far */
    uint32_t idle;             /* threads that wait for a number */
    bool no_more;              /* rank 0 has nothing left to deal */
} caucus_run_pool;

/* Note a failure, if it is the first. Called without the lock. */
void caucus_run_fail(caucus_run_pool *p, caucus_status status, const caucus_error *error);
/* The same for a trial that could not be played, with its words. */
void caucus_run_fail_trial(caucus_run_pool *p, caucus_status status);

/* Trial `number` is complete: count it, say so, and keep what is whole if it is time. Under the lock. */
void caucus_run_note(caucus_run_pool *p, uint32_t number);

/* Threads on which this process plays. */
uint32_t caucus_run_threads(const caucus_run_pool *p);

/* Nobody is to play on: those that wait for a number learn it too. Called without the lock. */
void caucus_run_halt(caucus_run_pool *p);

/* Play trials until there are no more, or a stop or a failure; argument is the pool. Any number of threads at once. */
void *caucus_run_work(void *argument);

/* Play over p->run->ranks: trials dealt by number, or the clients of each one. Afterwards every rank knows the same. */
void caucus_run_over_ranks(caucus_run_pool *p);

#endif
