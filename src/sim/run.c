/* SPDX-License-Identifier: Apache-2.0 */
/* run.c: trials on threads. See run.h. */
#include "sim/run_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algo/borrowed_rows.h"
#include "store/clock.h"
#include "store/timed_wait.h"

void caucus_run_fail(caucus_run_pool *p, caucus_status status, const caucus_error *error) {
    pthread_mutex_lock(&p->lock);
    if (atomic_load(&p->failed) == CAUCUS_OK) {
        p->error = *error;
        atomic_store(&p->failed, (int)status);
    }
    pthread_cond_broadcast(&p->dealt);
    pthread_mutex_unlock(&p->lock);
}

void caucus_run_halt(caucus_run_pool *p) {
    pthread_mutex_lock(&p->lock);
    __atomic_store_n(&p->halt, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&p->dealt);
    pthread_mutex_unlock(&p->lock);
}

void caucus_run_fail_trial(caucus_run_pool *p, caucus_status status) {
    caucus_error error = {0};
    const caucus_settings *settings = &p->plan->settings;
    if (status == CAUCUS_E_OVERFLOW)
        (void)caucus_fail(&error, status, "rounds",
                          "%" PRIu64 " rounds of %u clients on a grid of %lld steps: their losses do not add up below "
                          "2^62 (simulate fewer)",
                          caucus_run_rounds(p->run, settings), settings->clients, (long long)p->plan->grid);
    else if (status != CAUCUS_E_CHANGED)
        (void)caucus_fail(&error, status, "clients", "no memory for %u clients with %u experts", settings->clients,
                          settings->experts);
    else if (caucus_adversary_whole(p->adversary, &error) == CAUCUS_OK) /* and back again since */
        (void)caucus_fail(&error, status, "losses", "%s", caucus_status_text(status));
    caucus_run_fail(p, status, &error);
}

void caucus_run_note(caucus_run_pool *p, uint32_t number) {
    const caucus_run *run = p->run;
    p->complete[number] = true;
    p->done++;
    while (p->whole < run->trials && p->complete[p->whole])
        p->whole++;
    if (run->progress)
        run->progress(run->progress_user, p->done, run->trials);
    if (!run->keep || !caucus_ranks_first(run->ranks) || p->done == run->trials ||
        caucus_clock_seconds() - p->kept < CAUCUS_RUN_KEEP_SECONDS)
        return;
    caucus_error error = {0};
    caucus_status status = run->keep(run->keep_user, p->trial, p->whole, &error);
    p->kept = caucus_clock_seconds();
    if (status != CAUCUS_OK && atomic_load(&p->failed) == CAUCUS_OK) {
        p->error = error;
        atomic_store(&p->failed, (int)status);
    }
}

static bool over(const caucus_run_pool *p) {
    return (p->stop && __atomic_load_n(p->stop, __ATOMIC_RELAXED)) || atomic_load(&p->failed) != CAUCUS_OK;
}

/* A number of those that rank 0 has dealt, once there is one. Returns: false if there will be none. */
static bool take_dealt(caucus_run_pool *p, uint32_t *ret_number) {
    pthread_mutex_lock(&p->lock);
    while (p->now.next == p->now.end && p->then.next == p->then.end && !p->no_more && !over(p)) {
        p->idle++;
        pthread_cond_wait(&p->dealt, &p->lock);
        p->idle--;
    }
    if (p->now.next == p->now.end) {
        p->now = p->then;
        p->then = (caucus_run_hand){0};
    }
    const bool taken = p->now.next < p->now.end && !over(p);
    if (taken)
        *ret_number = p->now.next++;
    if (taken && p->now.end - p->now.next == p->now.low)
        pthread_cond_signal(&p->news);
    pthread_mutex_unlock(&p->lock);
    return taken;
}

/* The next trial for a thread of this process. Returns: false if there is none. */
static bool take_number(caucus_run_pool *p, uint32_t *ret_number) {
    if (over(p))
        return false;
    if (!caucus_ranks_first(p->run->ranks))
        return take_dealt(p, ret_number);
    *ret_number = atomic_fetch_add(&p->next, 1);
    return *ret_number < p->run->trials;
}

void *caucus_run_work(void *argument) {
    caucus_run_pool *p = argument;
    uint32_t number = 0;
    while (take_number(p, &number)) {
        caucus_status status = caucus_trial_play(p->plan, p->adversary, p->run->seed, p->run->first + number, p->stop,
                                                 NULL, NULL, &p->trial[number]);
        if (status == CAUCUS_E_STOPPED)
            break; /* stopped in the middle: this trial does not count */
        if (status != CAUCUS_OK) {
            caucus_run_fail_trial(p, status);
            break;
        }
        pthread_mutex_lock(&p->lock);
        if (p->finished) /* the thread that speaks with the other ranks counts it, when it looks */
            p->finished[p->finished_count++] = number;
        else
            caucus_run_note(p, number);
        pthread_mutex_unlock(&p->lock);
    }
    pthread_mutex_lock(&p->lock);
    p->playing--;
    pthread_cond_signal(&p->news);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

uint32_t caucus_run_trials_that_fit(const caucus_plan *plan) {
    uint64_t one = plan->settings.clients * (caucus_client_shared_bytes(plan) + sizeof(caucus_client *));
    uint64_t fit = CAUCUS_RUN_BYTES / one;
    return fit == 0 ? 1 : fit > UINT32_MAX ? UINT32_MAX : (uint32_t)fit;
}

bool caucus_run_splits(const caucus_run *run, const caucus_plan *plan) {
    return run->ranks && run->split_clients && plan->settings.clients >= run->ranks->size &&
           plan->settings.pace != CAUCUS_PACE_OWN;
}

uint32_t caucus_run_threads(const caucus_run_pool *p) {
    uint32_t threads = caucus_ranks_threads(p->run->ranks, p->run->threads);
    uint32_t fit = caucus_run_trials_that_fit(p->plan);
    threads = threads < fit ? threads : fit;
    return threads < p->run->trials ? threads : p->run->trials;
}

/* Play on all threads; this one takes part. Fewer threads than asked is only slower. */
static void play_all(caucus_run_pool *p) {
    uint32_t threads = caucus_run_threads(p);
    pthread_t *thread = calloc(threads, sizeof *thread);
    uint32_t started = 0;
    p->playing = threads;
    while (thread && started + 1 < threads && pthread_create(&thread[started], NULL, caucus_run_work, p) == 0)
        started++;
    caucus_run_work(p);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    free(thread);
}

static caucus_status open_adversary(const caucus_run *run, const caucus_settings *settings, caucus_adversary **ret,
                                    caucus_error *ret_error) {
    caucus_adversary_settings a = run->adversary;
    a.seed = run->seed;
    a.clients = run->settings.clients; /* the baselines play the first of them */
    a.experts = settings->experts;
    if (settings->rounds != CAUCUS_ROUNDS_ENDLESS)
        a.rounds = settings->rounds;
    a.epsilon = settings->epsilon;
    a.convex = settings->loss_shape == CAUCUS_LOSS_SHAPE_CONVEX;
    return caucus_adversary_open(&a, ret, ret_error);
}

caucus_status caucus_run_play(const caucus_run *run, const caucus_adversary *shared, caucus_run_result *ret,
                              caucus_error *ret_error) {
    memset(ret, 0, sizeof *ret);
    double start = caucus_clock_seconds();
    const caucus_plan *plan = run->plan;
    caucus_plan *made = NULL;
    caucus_adversary *own = NULL;
    bool *complete = NULL;
    caucus_status status = CAUCUS_OK;
    if (!plan) {
        status = caucus_plan_new(&run->settings, &made, ret_error);
        plan = made;
    }
    if (status == CAUCUS_OK && !shared)
        status = open_adversary(run, &plan->settings, &own, ret_error);
    ret->trial = calloc(run->trials ? run->trials : 1, sizeof *ret->trial);
    complete = calloc(run->trials ? run->trials : 1, sizeof *complete);
    if (status == CAUCUS_OK && (!ret->trial || !complete))
        status = caucus_fail(ret_error, CAUCUS_E_MEMORY, "trials", "no memory for %u results", run->trials);
    status = caucus_ranks_agree(run->ranks, status, ret_error);
    if (status != CAUCUS_OK)
        goto out;
    caucus_run_pool p = {.run = run,
                         .plan = plan,
                         .adversary = shared ? shared : own,
                         .stop = run->stop,
                         .trial = ret->trial,
                         .complete = complete,
                         .kept = start};
    pthread_mutex_init(&p.lock, NULL);
    caucus_timed_init(&p.news);
    pthread_cond_init(&p.dealt, NULL);
    if (run->ranks)
        caucus_run_over_ranks(&p);
    else
        play_all(&p);
    pthread_cond_destroy(&p.dealt);
    pthread_cond_destroy(&p.news);
    pthread_mutex_destroy(&p.lock);
    status = (caucus_status)atomic_load(&p.failed);
    if (status != CAUCUS_OK) {
        if (ret_error)
            *ret_error = p.error;
        goto out;
    }
    ret->trials = run->trials;
    ret->done = p.whole;
    ret->plan = plan;
    ret->made = made;
    ret->seconds = caucus_clock_seconds() - start;
    made = NULL;
out:
    if (status != CAUCUS_OK) {
        free(ret->trial);
        memset(ret, 0, sizeof *ret);
    }
    free(complete);
    caucus_plan_free(made);
    caucus_adversary_close(own);
    return status;
}

void caucus_run_result_free(caucus_run_result *result) {
    if (!result)
        return;
    free(result->trial);
    caucus_plan_free(result->made);
    memset(result, 0, sizeof *result);
}

/* Two passes, in order: the same bytes on every machine. */
static caucus_summary summarise(const caucus_run_result *r, double (*value)(const caucus_trial_result *, uint32_t),
                                uint32_t k) {
    caucus_summary s = {.min = INFINITY, .max = -INFINITY};
    if (r->done == 0)
        return (caucus_summary){0};
    for (uint32_t i = 0; i < r->done; i++) {
        double v = value(&r->trial[i], k);
        s.mean += v;
        s.min = v < s.min ? v : s.min;
        s.max = v > s.max ? v : s.max;
    }
    s.mean /= r->done;
    for (uint32_t i = 0; i < r->done; i++) {
        double off = value(&r->trial[i], k) - s.mean;
        s.std += off * off;
    }
    s.std = r->done > 1 ? sqrt(s.std / (r->done - 1)) : NAN;
    return s;
}

/* What a trial has one of. */
#define VALUE_OF(field)                                                                                                \
    static double field##_of(const caucus_trial_result *t, uint32_t k) {                                               \
        (void)k;                                                                                                       \
        return (double)t->field;                                                                                       \
    }
VALUE_OF(regret)
VALUE_OF(regret_segments)
VALUE_OF(regret_devices)
VALUE_OF(bound)
VALUE_OF(switches)

static double curve_of(const caucus_trial_result *t, uint32_t k) {
    return t->curve[k];
}

caucus_summary caucus_run_regret(const caucus_run_result *result) {
    return summarise(result, regret_of, 0);
}

caucus_summary caucus_run_regret_segments(const caucus_run_result *result) {
    return summarise(result, regret_segments_of, 0);
}

caucus_summary caucus_run_regret_devices(const caucus_run_result *result) {
    return summarise(result, regret_devices_of, 0);
}

caucus_summary caucus_run_bound(const caucus_run_result *result) {
    return summarise(result, bound_of, 0);
}

caucus_summary caucus_run_switches(const caucus_run_result *result) {
    return summarise(result, switches_of, 0);
}

caucus_summary caucus_run_curve(const caucus_run_result *result, uint32_t k) {
    return summarise(result, curve_of, k);
}

double caucus_run_mean_u64(const caucus_run_result *result, size_t field_offset) {
    double sum = 0;
    for (uint32_t i = 0; i < result->done; i++) {
        uint64_t value;
        memcpy(&value, (const char *)&result->trial[i] + field_offset, sizeof value);
        sum += (double)value;
    }
    return result->done ? sum / result->done : 0;
}
