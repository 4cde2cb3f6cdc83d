/* SPDX-License-Identifier: Apache-2.0 */
/* run.c: trials on threads. See run.h. */
#include "sim/run.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algo/borrowed_rows.h"
#include "store/clock.h"

typedef struct pool {
    const caucus_run *run;
    const caucus_plan *plan;
    const caucus_adversary *adversary;
    caucus_trial_result *trial;
    bool *complete;
    atomic_uint next, done;
    atomic_int failed; /* a caucus_status */
    pthread_mutex_t progress;
} pool;

static void *work(void *argument) {
    pool *p = argument;
    for (;;) {
        if ((p->run->stop && __atomic_load_n(p->run->stop, __ATOMIC_RELAXED)) || atomic_load(&p->failed) != CAUCUS_OK)
            return NULL;
        uint32_t number = atomic_fetch_add(&p->next, 1);
        if (number >= p->run->trials)
            return NULL;
        caucus_status status = caucus_trial_play(p->plan, p->adversary, p->run->seed, p->run->first + number,
                                                 p->run->stop, NULL, NULL, &p->trial[number]);
        if (status == CAUCUS_E_STOPPED)
            return NULL; /* stopped in the middle: this trial does not count */
        if (status != CAUCUS_OK) {
            atomic_store(&p->failed, (int)status);
            return NULL;
        }
        p->complete[number] = true;
        uint32_t done = atomic_fetch_add(&p->done, 1) + 1;
        if (p->run->progress) {
            pthread_mutex_lock(&p->progress);
            p->run->progress(p->run->progress_user, done, p->run->trials);
            pthread_mutex_unlock(&p->progress);
        }
    }
}

uint32_t caucus_run_trials_that_fit(const caucus_plan *plan) {
    uint64_t one = plan->settings.clients * (caucus_client_shared_bytes(plan) + sizeof(caucus_client *));
    uint64_t fit = CAUCUS_RUN_BYTES / one;
    return fit == 0 ? 1 : fit > UINT32_MAX ? UINT32_MAX : (uint32_t)fit;
}

static uint32_t thread_count(const caucus_run *run, const caucus_plan *plan) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t threads = run->threads ? run->threads : cores > 0 ? (uint32_t)cores : 1;
    uint32_t fit = caucus_run_trials_that_fit(plan);
    threads = threads < fit ? threads : fit;
    return threads < run->trials ? threads : run->trials;
}

/* Run `work` on all threads; this one takes part. Fewer threads than asked is only slower. */
static void play_all(pool *p) {
    uint32_t threads = thread_count(p->run, p->plan);
    pthread_t *thread = calloc(threads, sizeof *thread);
    uint32_t started = 0;
    while (thread && started + 1 < threads && pthread_create(&thread[started], NULL, work, p) == 0)
        started++;
    work(p);
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
    if (status != CAUCUS_OK)
        goto out;
    ret->trial = calloc(run->trials ? run->trials : 1, sizeof *ret->trial);
    complete = calloc(run->trials ? run->trials : 1, sizeof *complete);
    if (!ret->trial || !complete) {
        status = caucus_fail(ret_error, CAUCUS_E_MEMORY, "trials", "no memory for %u results", run->trials);
        goto out;
    }
    pool p = {.run = run, .plan = plan, .adversary = shared ? shared : own, .trial = ret->trial, .complete = complete};
    pthread_mutex_init(&p.progress, NULL);
    play_all(&p);
    pthread_mutex_destroy(&p.progress);
    status = (caucus_status)atomic_load(&p.failed);
    if (status == CAUCUS_E_CHANGED)
        status = caucus_adversary_whole(p.adversary, ret_error);
    else if (status == CAUCUS_E_OVERFLOW)
        (void)caucus_fail(ret_error, status, "rounds",
                          "%" PRIu64 " rounds of %u clients on a grid of %lld steps: their losses do not add up below "
                          "2^62 (simulate fewer)",
                          plan->settings.rounds, plan->settings.clients, (long long)plan->grid);
    else if (status != CAUCUS_OK)
        (void)caucus_fail(ret_error, status, "clients", "no memory for %u clients with %u experts",
                          plan->settings.clients, plan->settings.experts);
    if (status != CAUCUS_OK)
        goto out;
    ret->trials = run->trials;
    while (ret->done < run->trials && complete[ret->done])
        ret->done++;
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

static double regret_of(const caucus_trial_result *t, uint32_t k) {
    (void)k;
    return t->regret;
}

static double regret_segments_of(const caucus_trial_result *t, uint32_t k) {
    (void)k;
    return t->regret_segments;
}

static double switches_of(const caucus_trial_result *t, uint32_t k) {
    (void)k;
    return (double)t->switches;
}

static double curve_of(const caucus_trial_result *t, uint32_t k) {
    return t->curve[k];
}

caucus_summary caucus_run_regret(const caucus_run_result *result) {
    return summarise(result, regret_of, 0);
}

caucus_summary caucus_run_regret_segments(const caucus_run_result *result) {
    return summarise(result, regret_segments_of, 0);
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
