/* SPDX-License-Identifier: Apache-2.0 */
/* audit.c: one audit on all cores: runs to find an event, fresh runs to count it. See audit.h. */
#include "audit/audit.h"

#include "audit/audit_bound.h"
#include "audit/audit_parts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* One half of an audit: chunks of runs of both worlds, taken from a counter by any thread. */
typedef struct half {
    const caucus_audit *audit;
    const caucus_audit_options *options;
    const void *self;
    caucus_key key[2];               /* of each world, in this half */
    uint64_t runs;                   /* per world */
    double *value[2];                /* training, real statistic: by run number */
    const caucus_audit_event *event; /* testing */
    uint32_t done_before;            /* chunks of the other half, for the progress bar */
    atomic_uint next, done;
    atomic_int failed; /* a caucus_status */
    pthread_mutex_t lock;
    uint64_t *count[2]; /* training, cells; under the lock */
    uint64_t hits[2];   /* testing; under the lock */
} half;

/* Runs first .. first + count - 1 of a family. */
static caucus_status draw(const half *h, unsigned world, uint64_t first, size_t count, double *ret) {
    const caucus_audit_family *family = h->audit->family;
    if (family->draw != NULL)
        return family->draw(h->self, world, &h->key[world], first, count, ret);
    caucus_status status = CAUCUS_OK;
    for (size_t i = 0; status == CAUCUS_OK && i < count; i++) {
        caucus_key own;
        caucus_key_derive(&h->key[world], first + i, &own);
        status = family->play(h->self, world, &own, &ret[i]);
    }
    return status;
}

static uint32_t chunks_of(uint64_t runs) {
    return (uint32_t)((runs + CAUCUS_AUDIT_CHUNK - 1) / CAUCUS_AUDIT_CHUNK);
}

/* Put the statistics of a chunk where they belong. */
static void account(half *h, unsigned world, uint64_t first, size_t count, const double *value) {
    if (h->value[world] != NULL) {
        memcpy(h->value[world] + first, value, count * sizeof *value);
        return;
    }
    uint64_t hits = 0;
    for (size_t i = 0; h->event != NULL && i < count; i++)
        hits += caucus_audit_happened(h->event, value[i]);
    pthread_mutex_lock(&h->lock);
    h->hits[world] += hits;
    for (size_t i = 0; h->event == NULL && i < count; i++)
        h->count[world][(size_t)value[i]]++;
    pthread_mutex_unlock(&h->lock);
}

static void *work(void *argument) {
    half *h = argument;
    double value[CAUCUS_AUDIT_CHUNK];
    uint32_t chunks = chunks_of(h->runs);
    for (;;) {
        uint64_t number = caucus_ranks_deal(h->options->ranks, atomic_fetch_add(&h->next, 1));
        bool stopped = h->options->stop != NULL && *h->options->stop;
        if (number >= 2 * (uint64_t)chunks || stopped || atomic_load(&h->failed) != CAUCUS_OK)
            return NULL;
        unsigned world = number % 2;
        uint64_t first = number / 2 * CAUCUS_AUDIT_CHUNK, left = h->runs - first;
        size_t count = left < CAUCUS_AUDIT_CHUNK ? (size_t)left : CAUCUS_AUDIT_CHUNK;
        caucus_status status = draw(h, world, first, count, value);
        if (status != CAUCUS_OK) { /* the other threads find out before their next chunk */
            atomic_store(&h->failed, (int)status);
            return NULL;
        }
        account(h, world, first, count, value);
        uint32_t done = atomic_fetch_add(&h->done, 1) + 1;
        if (h->options->progress != NULL) {
            pthread_mutex_lock(&h->lock);
            /* the other ranks are about as far as this one */
            uint64_t all = caucus_ranks_deal(h->options->ranks, done);
            all = all < 2 * (uint64_t)chunks ? all : 2 * (uint64_t)chunks;
            h->options->progress(h->options->progress_user, h->done_before + all, 4 * (uint64_t)chunks);
            pthread_mutex_unlock(&h->lock);
        }
    }
}

/* What the ranks have counted, as the sum of all. Real statistics have their place by number and are 0 in the ranks
 * that did not draw them, so that their sum as integers is the very bits of the one that did.
 * Returns: CAUCUS_OK, CAUCUS_E_STOPPED, CAUCUS_E_MEMORY: the same in every rank. */
static caucus_status add_over_ranks(half *h, caucus_status failed, uint64_t *done) {
    const caucus_ranks *ranks = h->options->ranks;
    int64_t number[] = {(int64_t)*done, failed != CAUCUS_OK, (int64_t)h->hits[0], (int64_t)h->hits[1]};
    if (ranks == NULL)
        return failed;
    if (ranks->sum(number, sizeof number / sizeof number[0]) != CAUCUS_OK)
        return CAUCUS_E_STOPPED;
    if (number[1] > 0)
        return failed != CAUCUS_OK ? failed : CAUCUS_E_MEMORY;
    *done = (uint64_t)number[0];
    for (unsigned w = 0; w < 2; w++) {
        h->hits[w] = (uint64_t)number[2 + w];
        if (h->count[w] != NULL && ranks->sum((int64_t *)h->count[w], h->audit->cells) != CAUCUS_OK)
            return CAUCUS_E_STOPPED;
        void *bits = h->value[w]; /* each value is of one rank and all zeros elsewhere: adding bit patterns moves it */
        if (bits != NULL && ranks->sum(bits, h->runs) != CAUCUS_OK)
            return CAUCUS_E_STOPPED;
    }
    return CAUCUS_OK;
}

/* Both worlds, on all threads; this one takes part. Fewer threads than asked is only slower.
 * Returns: CAUCUS_OK, CAUCUS_E_STOPPED, CAUCUS_E_MEMORY. */
static caucus_status run_half(half *h) {
    uint32_t threads = caucus_ranks_threads(h->options->ranks, h->options->threads), started = 0;
    pthread_t *thread = calloc(threads, sizeof *thread);
    pthread_mutex_init(&h->lock, NULL);
    while (thread != NULL && started + 1 < threads && pthread_create(&thread[started], NULL, work, h) == 0)
        started++;
    work(h);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&h->lock);
    free(thread);
    uint64_t done = atomic_load(&h->done);
    caucus_status failed = add_over_ranks(h, (caucus_status)atomic_load(&h->failed), &done);
    if (failed != CAUCUS_OK)
        return failed;
    return done == 2 * (uint64_t)chunks_of(h->runs) ? CAUCUS_OK : CAUCUS_E_STOPPED;
}

/* The keys of a half: a function of the seed, the audit's name, the half and the world. */
static void set_keys(half *h, unsigned which) {
    uint64_t name = 0xcbf29ce484222325u; /* FNV-1a: audits keep their bits when others are added */
    for (const char *c = h->audit->name; *c != '\0'; c++)
        name = (name ^ (unsigned char)*c) * 0x100000001b3u;
    caucus_key key;
    caucus_key_from_seed(h->options->seed, &key);
    caucus_key_derive(&key, name, &key);
    for (unsigned world = 0; world < 2; world++)
        caucus_key_derive(&key, 2 * which + world, &h->key[world]);
}

static caucus_status train(half *h, caucus_audit_event *ret) {
    uint32_t cells = h->audit->cells;
    caucus_status status = CAUCUS_E_MEMORY;
    for (unsigned w = 0; w < 2; w++) {
        if (cells > 0)
            h->count[w] = calloc(cells, sizeof *h->count[w]);
        else
            h->value[w] = calloc(h->runs, sizeof *h->value[w]);
    }
    if ((cells > 0 ? h->count[0] && h->count[1] : h->value[0] && h->value[1])) {
        set_keys(h, 0);
        status = run_half(h);
        const uint64_t *const count[2] = {h->count[0], h->count[1]};
        if (status == CAUCUS_OK)
            status =
                cells > 0
                    ? caucus_audit_search_cells(count, cells, h->runs, h->audit->delta, h->options->confidence, ret)
                    : caucus_audit_search_reals(h->value, h->runs, h->audit->delta, h->options->confidence, ret);
    }
    for (unsigned w = 0; w < 2; w++) {
        free(h->count[w]);
        free(h->value[w]);
    }
    return status;
}

void caucus_audit_judge(caucus_audit_result *r) {
    r->lower_bound = caucus_epsilon_low(r->hits, r->hits_other, r->trials / 2, r->delta, r->confidence);
    r->refuted = r->lower_bound > r->claimed;
}

caucus_status caucus_audit_run(const caucus_audit *audit, const caucus_audit_options *options, caucus_audit_result *ret,
                               caucus_error *ret_error) {
    uint64_t trials = options->trials > 0 ? options->trials : options->quick ? audit->quick : audit->full;
    void *self = NULL;
    caucus_audit_event event = {0};
    *ret = (caucus_audit_result){.name = audit->name,
                                 .twin_of = audit->twin_of,
                                 .wrong = audit->wrong,
                                 .target = audit->target,
                                 .claimed = audit->claimed,
                                 .delta = audit->delta,
                                 .expected = audit->fault.kind != CAUCUS_AUDIT_NO_FAULT,
                                 .trials = trials / 2 * 2,
                                 .confidence = options->confidence,
                                 .seeded = true,
                                 .seed = options->seed};
    caucus_status status = audit->family->open(audit, &self, ret_error);
    if (status != CAUCUS_OK)
        return status;
    half training = {.audit = audit, .options = options, .self = self, .runs = trials / 2};
    status = train(&training, &event);
    if (status == CAUCUS_OK) {
        half testing = {.audit = audit,
                        .options = options,
                        .self = self,
                        .runs = trials / 2,
                        .event = &event,
                        .done_before = 2 * chunks_of(trials / 2)};
        set_keys(&testing, 1);
        status = run_half(&testing);
        ret->hits = testing.hits[event.likelier];
        ret->hits_other = testing.hits[!event.likelier];
        caucus_audit_judge(ret);
    }
    if (status == CAUCUS_E_MEMORY)
        (void)caucus_fail(ret_error, status, "trials", "%s", caucus_status_text(status));
    caucus_audit_event_free(&event);
    audit->family->close(self);
    return status;
}
