/* SPDX-License-Identifier: Apache-2.0 */
/* run_ranks.c: one run over several processes. See run.h and ranks.h.
 *
 * Trials dealt by number: in every rank some threads play, and the thread that was here before speaks with the others.
 *
 *     rank k to rank 0:  WANT (count)             its trials are running out; one at a time, until there are no more
 *                        TRIAL (number, result)   a trial is complete
 *                        END (status, error)      nothing more comes from this rank in this run
 *     rank 0 to rank k:  DEAL (first, count)      play these; count 0: there are no more
 *     rank 0 to all:     HALT                     a signal, or a failure somewhere: play no more; once, to everybody
 *
 * Numbers are dealt when they are asked for, not beforehand: cores are never equally fast, and with equal parts all
 * would wait for the slowest (5 to 25 % of the time on a machine with neighbours). Which rank plays a trial changes
 * nothing about its result. After HALT rank 0 deals nothing, so that a DEAL never arrives after it.
 *
 * Once rank 0 has heard END from everybody it shares the outcome and all results, so that every rank knows the same.
 * A rank that dies says nothing. On the same machine it is missed at once; from another one, whoever started the ranks
 * ends those that are left by a signal. So after a signal rank 0 waits only a moment for the others, and goes on with
 * the trials it knows of: they can be kept, and played on from. */
#include "sim/run_impl.h"

#include "store/clock.h"
#include "store/timed_wait.h"

#include <stdlib.h>
#include <string.h>

/* How long the others may take to say END after a signal: less than mpirun's second until it kills. */
#define END_SECONDS 0.3

/* How long a rank looks for a HALT that must be under way. */
#define HALT_SECONDS 10.0

/* Nobody is told of a message that arrives, so it is looked for, and what this process has finished is passed on at the
 * same time. Each look takes a core from a thread that plays, so while trials are played here there are as few as the
 * others can bear: the pause is twice as long each time, up to the longest, and a quarter where much came at once, so
 * that short trials do not pile up. Who only waits for the others looks more often. */
#define LOOK_NS_LEAST 50000
#define LOOK_NS_WAITING 1000000
#define LOOK_NS_PLAYING 10000000
#define LOOK_MUCH 16 /* messages */

/* A rank asks for as many trials as it has played in about so long lately. It is much longer than a pause, so that the
 * next ones are there before the last are begun; and short, because trials count for a later run to go on from only
 * once all before them are complete. */
#define HAND_SECONDS 0.1

typedef enum kind { TRIAL = 1, END, HALT, WANT, DEAL } kind;

typedef struct message {
    uint32_t kind;
    uint32_t number; /* TRIAL: of the trial; END: a caucus_status; WANT: how many; DEAL: the first */
    uint32_t count;  /* DEAL: how many */
    union {
        caucus_trial_result result;
        caucus_error error;
    } as;
} message;
_Static_assert(sizeof(message) <= CAUCUS_RANKS_MESSAGE_BYTES, "a message fits");

typedef struct conversation {
    caucus_run_pool *p;
    const caucus_ranks *ranks;
    uint32_t told;  /* own trials that were sent, or counted here in rank 0 */
    uint32_t ended; /* rank 0: others that have said END */
    bool asked;     /* the others: a WANT has not been answered yet */
    uint32_t want;  /* the others: how many the last WANT asked for */
    double asked_time;
    bool halted; /* HALT was said (rank 0), or heard (the others) */
    double halt_time;
    uint32_t moved; /* messages since the last pause */
    long look_ns;
} conversation;

static bool signalled(const caucus_run_pool *p) {
    return p->run->stop && __atomic_load_n(p->run->stop, __ATOMIC_RELAXED);
}

/* Rank 0: nobody plays on. */
static void halt_all(conversation *c) {
    if (c->halted)
        return;
    c->halted = true;
    c->halt_time = caucus_clock_seconds();
    caucus_run_halt(c->p);
    message m = {.kind = HALT};
    for (uint32_t to = 1; to < c->ranks->size; to++)
        c->ranks->send(to, &m, sizeof m);
}

/* Pass on the trials of this process that have ended. Under the lock, which is let go of while messages are sent. That
 * may wait for rank 0 while trials go on to end, so a signal is looked for here too: without it a rank whose trials are
 * short would be passing on for as long as it plays, and play for as long. */
static void tell_finished(conversation *c) {
    caucus_run_pool *p = c->p;
    while (c->told < p->finished_count) {
        uint32_t number = p->finished[c->told++];
        c->moved++;
        if (c->ranks->rank == 0) {
            caucus_run_note(p, number);
            continue;
        }
        pthread_mutex_unlock(&p->lock);
        message m = {.kind = TRIAL, .number = number, .as.result = p->trial[number]};
        c->ranks->send(0, &m, sizeof m);
        if (signalled(p))
            caucus_run_halt(p);
        pthread_mutex_lock(&p->lock);
    }
}

/* Ask for trials while there are still some to play: for more at a time where the last were played in a moment, and for
 * fewer where they took long. Under the lock, which is let go of as above. */
static void ask(conversation *c) {
    caucus_run_pool *p = c->p;
    if (c->ranks->rank == 0 || c->asked || p->no_more || p->halt || p->then.next < p->then.end ||
        p->now.end - p->now.next > p->now.low)
        return;
    const double now = caucus_clock_seconds(), lasted = now - c->asked_time;
    if (c->want == 0)
        c->want = p->playing > 0 ? p->playing : 1;
    else if (lasted < HAND_SECONDS / 4)
        c->want = c->want < UINT32_MAX / 4 ? 4 * c->want : c->want;
    else if (lasted < HAND_SECONDS / 2)
        c->want = c->want < UINT32_MAX / 2 ? 2 * c->want : c->want;
    else if (lasted > 2 * HAND_SECONDS)
        c->want = c->want / 2 > p->playing ? c->want / 2 : p->playing > 0 ? p->playing : 1;
    c->asked = true;
    c->asked_time = now;
    c->moved++;
    pthread_mutex_unlock(&p->lock);
    message m = {.kind = WANT, .number = c->want};
    c->ranks->send(0, &m, sizeof m);
    pthread_mutex_lock(&p->lock);
}

/* Rank 0: deal what is asked for, but never so much that the others would run out of trials long before. */
static void hear_want(conversation *c, uint32_t from, uint32_t want) {
    caucus_run_pool *p = c->p;
    if (c->halted)
        return;
    const uint32_t trials = p->run->trials, begun = atomic_load(&p->next), left = begun < trials ? trials - begun : 0;
    const uint32_t fair = left / (2 * c->ranks->size) + 1;
    message m = {.kind = DEAL, .count = want < fair ? want : fair};
    m.number = left > 0 ? atomic_fetch_add(&p->next, m.count) : trials;
    m.count = m.number >= trials ? 0 : m.count < trials - m.number ? m.count : trials - m.number;
    c->ranks->send(from, &m, sizeof m);
}

static void hear_deal(conversation *c, const message *m) {
    caucus_run_pool *p = c->p;
    if (!c->asked || m->count > p->run->trials || m->number > p->run->trials - m->count)
        abort(); /* another program than this one speaks */
    pthread_mutex_lock(&p->lock);
    c->asked = false;
    p->no_more = m->count == 0;
    if (m->count > 0)
        p->then = (caucus_run_hand){m->number, m->number + m->count, m->count / 2};
    p->dealt_count += m->count;
    pthread_cond_broadcast(&p->dealt);
    pthread_mutex_unlock(&p->lock);
}

static void hear_trial(conversation *c, const message *m) {
    caucus_run_pool *p = c->p;
    if (m->number >= p->run->trials)
        abort(); /* another program than this one speaks */
    pthread_mutex_lock(&p->lock);
    p->trial[m->number] = m->as.result;
    caucus_run_note(p, m->number);
    pthread_mutex_unlock(&p->lock);
}

static void hear_end(conversation *c, uint32_t from, const message *m) {
    c->ended++;
    if (m->number == CAUCUS_E_STOPPED)
        halt_all(c);
    if (m->number == CAUCUS_OK || m->number == CAUCUS_E_STOPPED)
        return;
    caucus_error error = m->as.error;
    caucus_ranks_name(&error, from);
    caucus_run_fail(c->p, (caucus_status)m->number, &error);
}

static void hear_halt(conversation *c) {
    c->halted = true;
    caucus_run_halt(c->p);
}

/* Take every message that has come. */
static void hear_all(conversation *c) {
    union {
        message m;
        char bytes[CAUCUS_RANKS_MESSAGE_BYTES];
    } buffer;
    uint32_t from = 0;
    size_t count = 0;
    while (c->ranks->receive(&from, &buffer, &count)) {
        c->moved++;
        if (count != sizeof buffer.m)
            abort(); /* another program than this one speaks */
        if (buffer.m.kind == TRIAL)
            hear_trial(c, &buffer.m);
        else if (buffer.m.kind == END)
            hear_end(c, from, &buffer.m);
        else if (buffer.m.kind == WANT)
            hear_want(c, from, buffer.m.number);
        else if (buffer.m.kind == DEAL)
            hear_deal(c, &buffer.m);
        else
            hear_halt(c);
    }
}

/* Pause until the next look, or until the last thread of this process has ended. Under the lock. */
static void pause_talking(conversation *c) {
    caucus_run_pool *p = c->p;
    const bool playing = p->playing > p->idle;
    const long most = playing ? LOOK_NS_PLAYING : LOOK_NS_WAITING;
    c->look_ns = c->moved >= LOOK_MUCH ? c->look_ns / 4 : 2 * c->look_ns;
    c->look_ns = c->look_ns < LOOK_NS_LEAST ? LOOK_NS_LEAST : c->look_ns < most ? c->look_ns : most;
    c->moved = 0;
    if (p->playing > 0 || c->told == p->finished_count)
        (void)caucus_timed_wait(&p->news, &p->lock, caucus_clock_ns() + (uint64_t)c->look_ns);
}

/* Rank 0: everybody has ended, or has been waited for long enough after a signal. */
static bool all_ended(conversation *c) {
    if (c->ended == c->ranks->size - 1)
        return true;
    bool waited = signalled(c->p) && caucus_clock_seconds() - c->halt_time > END_SECONDS;
    if (!c->halted || (!waited && c->ranks->gone() < 0))
        return false;
    c->ranks->give_up();
    return true;
}

static void say_end(conversation *c) {
    const caucus_run_pool *p = c->p;
    uint32_t status = (uint32_t)atomic_load(&p->failed);
    if (status == CAUCUS_OK && (!p->no_more || c->told < p->dealt_count))
        status = CAUCUS_E_STOPPED; /* not all of this rank's trials: by a signal that perhaps only it was sent */
    message m = {.kind = END, .number = status, .as.error = p->error};
    c->ranks->send(0, &m, sizeof m);
}

/* Speak with the others until there is nothing more to say about this run. */
static void converse(conversation *c) {
    caucus_run_pool *p = c->p;
    bool first = c->ranks->rank == 0, over = false;
    while (!over) {
        hear_all(c);
        if (signalled(p) || c->ranks->gone() >= 0 || (first && atomic_load(&p->failed) != CAUCUS_OK)) {
            if (first)
                halt_all(c);
            caucus_run_halt(c->p);
        }
        pthread_mutex_lock(&p->lock);
        tell_finished(c);
        ask(c);
        over = p->playing == 0 && c->told == p->finished_count;
        pthread_mutex_unlock(&p->lock);
        over = over && (!first || all_ended(c));
        if (!over) {
            pthread_mutex_lock(&p->lock);
            pause_talking(c);
            pthread_mutex_unlock(&p->lock);
        }
    }
    if (!first)
        say_end(c);
}

/* A rank may have ended before rank 0 said HALT: it takes it here, so that no run hears what was said in another, and
 * nothing is under way when the ranks end. It was sent before the outcome; only a rank 0 that died makes it wait. */
static void take_halt(conversation *c) {
    const double start = caucus_clock_seconds();
    for (;;) {
        hear_all(c);
        if (c->halted || c->ranks->gone() >= 0 || caucus_clock_seconds() - start >= HALT_SECONDS)
            return;
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS_LEAST}, NULL);
    }
}

/* Rank 0's outcome to everybody. */
static void share_outcome(conversation *c) {
    caucus_run_pool *p = c->p;
    const caucus_ranks *ranks = c->ranks;
    struct {
        int32_t failed;
        uint32_t whole;
        int32_t halted;
        caucus_error error;
    } outcome = {atomic_load(&p->failed), p->whole, c->halted, p->error};
    if (ranks->share(&outcome, sizeof outcome) != CAUCUS_OK)
        return; /* given up: this rank ends with what it knows */
    if (outcome.halted)
        take_halt(c);
    atomic_store(&p->failed, outcome.failed);
    p->error = outcome.error;
    if (outcome.failed == CAUCUS_OK && ranks->share(p->trial, outcome.whole * sizeof *p->trial) == CAUCUS_OK)
        p->whole = outcome.whole;
}

static void deal_trials(caucus_run_pool *p) {
    const caucus_ranks *ranks = p->run->ranks;
    conversation c = {.p = p, .ranks = ranks};
    uint32_t threads = caucus_run_threads(p), started = 0;
    pthread_t *thread = calloc(threads, sizeof *thread);
    p->finished = calloc(p->run->trials + 1, sizeof *p->finished);
    p->stop = &p->halt;
    p->halt = signalled(p); /* who was stopped before it began plays nothing */
    p->playing = p->finished ? threads : 0;
    while (p->finished && thread && started < threads &&
           pthread_create(&thread[started], NULL, caucus_run_work, p) == 0)
        started++;
    pthread_mutex_lock(&p->lock);
    p->playing -= p->finished ? threads - started : 0;
    pthread_mutex_unlock(&p->lock);
    if (started == 0 && threads > 0) {
        caucus_error error = {0};
        (void)caucus_fail(&error, CAUCUS_E_MEMORY, "threads", "no memory for a thread");
        caucus_run_fail(p, CAUCUS_E_MEMORY, &error);
    }
    converse(&c);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    free(p->finished);
    p->finished = NULL;
    share_outcome(&c);
}

/* One trial after the other, each over all ranks: every rank has its result. */
static void deal_clients(caucus_run_pool *p) {
    const caucus_run *run = p->run;
    for (uint32_t i = 0; i < run->trials && atomic_load(&p->failed) == CAUCUS_OK; i++) {
        caucus_status status = caucus_trial_play_split(p->plan, p->adversary, run->seed, run->first + i, run->ranks,
                                                       run->stop, &p->trial[i]);
        if (status == CAUCUS_E_STOPPED)
            return;
        if (status != CAUCUS_OK)
            caucus_run_fail_trial(p, status);
        pthread_mutex_lock(&p->lock);
        if (status == CAUCUS_OK)
            caucus_run_note(p, i); /* which may fail in rank 0: it keeps what is complete */
        pthread_mutex_unlock(&p->lock);
        status = caucus_ranks_agree(run->ranks, (caucus_status)atomic_load(&p->failed), &p->error);
        atomic_store(&p->failed, status == CAUCUS_E_STOPPED ? CAUCUS_OK : (int)status);
        if (status != CAUCUS_OK)
            return;
    }
}

void caucus_run_over_ranks(caucus_run_pool *p) {
    if (caucus_run_splits(p->run, p->plan))
        deal_clients(p);
    else
        deal_trials(p);
}
