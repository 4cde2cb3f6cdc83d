/* SPDX-License-Identifier: Apache-2.0 */
/* failing_alloc.h: an allocator that fails when told to, and the loop that has every allocation of an operation fail in
 * turn.
 *
 * Include it in one source file of a test program: it defines malloc, calloc, realloc, free and their relatives for the
 * whole process, so that allocations inside SQLite, OpenSSL, protobuf-c, libyaml, libmicrohttpd and libc fail too, and
 * hands what is allowed to succeed to libc's allocator or to the sanitizer's. Threads that are started count as
 * allocations (the linker sends pthread_create here).
 *
 * A test writes one function that does the operation between failing_begin() and failing_end(), checks that a failure
 * left everything as it was, and gives what came out as a number on success. failing_each() calls it again and again:
 * with no failure, which gives the number to expect; then with allocation 1, 2, 3, ... failing, once alone and once
 * with every allocation after it, until the operation succeeds because it makes fewer allocations than that. Each time:
 *   - if an allocation of ours failed (the caller is in this program rather than in a library), the status is one of
 *     those that the test accepts, CAUCUS_E_MEMORY if it says nothing; a library may do without and succeed, with the
 *     same number;
 *   - nothing that was allocated is left;
 *   - afterwards, without failures, the operation succeeds with the same number. */
#ifndef CAUCUS_TESTS_FAILING_ALLOC_H
#define CAUCUS_TESTS_FAILING_ALLOC_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <caucus/status.h>

/* --- The allocator. --- */

typedef struct failing_state {
    bool on;             /* between failing_begin() and failing_end(): count, fail, and note what is allocated */
    bool from_there_on;  /* fail all allocations from number `fail` on, else that one alone */
    bool overflow;       /* more live allocations than the table holds */
    unsigned long fail;  /* number of the allocation that fails, from 1; 0: none */
    unsigned long count; /* allocations so far */
    unsigned long hits;  /* of those, failed */
    unsigned long ours;  /* of those that failed, asked for by this program itself rather than by a library */
} failing_state;

static failing_state failing;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAILING_SANITIZED true
#else
#define FAILING_SANITIZED false
#endif
/* Nothing is counted in this thread. Under a sanitizer that is so until a thread's own work begins: its first
 * allocations are the sanitizer's, which must not fail. */
static _Thread_local bool failing_quiet = FAILING_SANITIZED;
static bool failing_held; /* a lock of our own: the sanitizers' would not be ready when the first allocations come */

/* Called before a sanitizer has set itself up, so without its checks. */
#define FAILING_PLAIN __attribute__((no_sanitize("address"), no_sanitize("undefined"), no_sanitize("thread")))

FAILING_PLAIN static void failing_lock(void) {
    while (__atomic_test_and_set(&failing_held, __ATOMIC_ACQUIRE))
        (void)sched_yield();
}

FAILING_PLAIN static void failing_unlock(void) {
    __atomic_clear(&failing_held, __ATOMIC_RELEASE);
}

/* Allocations made while on, and not yet freed: pointer, number, who asked. */
#define FAILING_LIVE ((size_t)1 << 15)
static struct failing_live {
    void *memory;
    const void *caller;
    unsigned long number;
    bool ours;
} failing_live[FAILING_LIVE];
static size_t failing_lives;

/* The allocator behind this one: the sanitizer's, which has these names in a build that has one, or libc's. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
extern void *__interceptor_malloc(size_t) __attribute__((weak));
extern void *__interceptor_calloc(size_t, size_t) __attribute__((weak));
extern void *__interceptor_realloc(void *, size_t) __attribute__((weak));
extern void *__interceptor_aligned_alloc(size_t, size_t) __attribute__((weak));
extern void __interceptor_free(void *) __attribute__((weak));

/* This program's own code lies between these two (the linker defines them); libraries are elsewhere. */
extern const char __executable_start[], etext[];

FAILING_PLAIN static inline bool failing_is_ours(const void *caller) {
    return (const char *)caller >= __executable_start && (const char *)caller < etext;
}

FAILING_PLAIN static inline size_t failing_slot(const void *memory) {
    return ((uintptr_t)memory >> 4) * 0x9e3779b97f4a7c15u >> (64 - 15);
}

/* Is this the allocation that fails? *ret_number: its number, 0 if nobody counts. */
FAILING_PLAIN static bool failing_now(const void *caller, unsigned long *ret_number) {
    *ret_number = 0;
    if (!__atomic_load_n(&failing.on, __ATOMIC_ACQUIRE) || failing_quiet)
        return false;
    failing_lock();
    *ret_number = ++failing.count;
    bool hit =
        failing.fail > 0 && (failing.from_there_on ? failing.count >= failing.fail : failing.count == failing.fail);
    failing.hits += hit;
    failing.ours += hit && failing_is_ours(caller);
    failing_unlock();
    if (hit)
        errno = ENOMEM;
    return hit;
}

FAILING_PLAIN static void *failing_note(void *memory, const void *caller, unsigned long number) {
    if (memory == NULL || number == 0)
        return memory;
    failing_lock();
    if (failing_lives < FAILING_LIVE / 2) {
        size_t i = failing_slot(memory);
        while (failing_live[i].memory != NULL)
            i = (i + 1) % FAILING_LIVE;
        failing_live[i] = (struct failing_live){memory, caller, number, failing_is_ours(caller)};
        failing_lives++;
    } else {
        failing.overflow = true;
    }
    failing_unlock();
    return memory;
}

/* Freed: take it out, and move up what stands behind it in the same chain. */
FAILING_PLAIN static void failing_forget(const void *memory) {
    if (memory == NULL || __atomic_load_n(&failing_lives, __ATOMIC_RELAXED) == 0)
        return;
    failing_lock();
    size_t i = failing_slot(memory);
    while (failing_live[i].memory != NULL && failing_live[i].memory != memory)
        i = (i + 1) % FAILING_LIVE;
    if (failing_live[i].memory != NULL) {
        failing_lives--;
        for (size_t next = (i + 1) % FAILING_LIVE; failing_live[next].memory != NULL;
             next = (next + 1) % FAILING_LIVE) {
            size_t home = failing_slot(failing_live[next].memory);
            bool stays = i < next ? home > i && home <= next : home > i || home <= next;
            if (stays)
                continue;
            failing_live[i] = failing_live[next];
            i = next;
        }
        failing_live[i].memory = NULL;
    }
    failing_unlock();
}

#define FAILING_EXPORT FAILING_PLAIN __attribute__((visibility("default"), noinline, used))

FAILING_EXPORT void *malloc(size_t size) {
    const void *caller = __builtin_return_address(0);
    unsigned long number;
    if (failing_now(caller, &number))
        return NULL;
    return failing_note(__interceptor_malloc ? __interceptor_malloc(size) : __libc_malloc(size), caller, number);
}

FAILING_EXPORT void *calloc(size_t count, size_t size) {
    const void *caller = __builtin_return_address(0);
    unsigned long number;
    if (failing_now(caller, &number))
        return NULL;
    return failing_note(__interceptor_calloc ? __interceptor_calloc(count, size) : __libc_calloc(count, size), caller,
                        number);
}

FAILING_EXPORT void *realloc(void *old, size_t size) {
    const void *caller = __builtin_return_address(0);
    unsigned long number;
    if (failing_now(caller, &number))
        return NULL;
    failing_forget(old); /* before: the other threads may be given the same place right after */
    void *ret = __interceptor_realloc ? __interceptor_realloc(old, size) : __libc_realloc(old, size);
    return failing_note(ret, caller, number);
}

FAILING_EXPORT void *aligned_alloc(size_t alignment, size_t size) {
    const void *caller = __builtin_return_address(0);
    unsigned long number;
    if (failing_now(caller, &number))
        return NULL;
    return failing_note(__interceptor_aligned_alloc ? __interceptor_aligned_alloc(alignment, size)
                                                    : __libc_memalign(alignment, size),
                        caller, number);
}

FAILING_EXPORT int posix_memalign(void **ret, size_t alignment, size_t size) {
    void *memory = aligned_alloc(alignment, size);
    if (memory == NULL)
        return ENOMEM;
    *ret = memory;
    return 0;
}

FAILING_EXPORT void free(void *memory) {
    failing_forget(memory);
    if (__interceptor_free)
        __interceptor_free(memory);
    else
        __libc_free(memory);
}

/* libc's own would count as a library's. */
FAILING_EXPORT char *strndup(const char *text, size_t most) {
    const void *caller = __builtin_return_address(0);
    unsigned long number;
    if (failing_now(caller, &number))
        return NULL;
    size_t length = strnlen(text, most);
    char *ret = __interceptor_malloc ? __interceptor_malloc(length + 1) : __libc_malloc(length + 1);
    if (ret != NULL) {
        memcpy(ret, text, length);
        ret[length] = '\0';
    }
    return failing_note(ret, caller, number);
}

FAILING_EXPORT char *strdup(const char *text) {
    const void *caller = __builtin_return_address(0);
    unsigned long number;
    if (failing_now(caller, &number))
        return NULL;
    size_t bytes = strlen(text) + 1;
    char *ret = __interceptor_malloc ? __interceptor_malloc(bytes) : __libc_malloc(bytes);
    if (ret != NULL)
        memcpy(ret, text, bytes);
    return failing_note(ret, caller, number);
}

/* Linked with --wrap=pthread_create: a thread that cannot be started is one more thing that memory may not suffice
 * for. */
extern int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
extern int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef struct failing_thread {
    void *(*start)(void *);
    void *user;
} failing_thread;

static void *failing_thread_start(void *user) {
    failing_thread *thread = user, copy = *thread;
    free(thread);
    failing_quiet = false;
    void *ret = copy.start(copy.user);
    failing_quiet = FAILING_SANITIZED;
    return ret;
}

int __wrap_pthread_create(pthread_t *ret, const pthread_attr_t *attributes, void *(*start)(void *), void *user) {
    unsigned long number;
    if (failing_now(__builtin_return_address(0), &number))
        return EAGAIN;
    const bool quiet = failing_quiet;
    failing_quiet = true; /* what libc allocates for it is kept for the next thread */
    failing_thread *thread = malloc(sizeof *thread);
    int status = ENOMEM;
    if (thread != NULL) {
        *thread = (failing_thread){start, user};
        status = __real_pthread_create(ret, attributes, failing_thread_start, thread);
        if (status != 0)
            free(thread);
    }
    failing_quiet = quiet;
    return status;
}

/* --- The loop. --- */

static inline void failing_begin(void) {
    __atomic_store_n(&failing.on, true, __ATOMIC_RELEASE);
}

static inline void failing_end(void) {
    __atomic_store_n(&failing.on, false, __ATOMIC_RELEASE);
}

/* Numbers of what came out. */
static inline uint64_t failing_digest(uint64_t digest, const void *bytes, size_t size) {
    const uint8_t *b = bytes;
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ b[i]) * 0x100000001b3u; /* FNV-1a */
    return digest ^ size;
}

/* Does the operation once. Returns its status; *ret_digest on success. */
typedef caucus_status (*failing_operation)(void *user, uint64_t *ret_digest);

typedef struct failing_test {
    const char *name;
    failing_operation operation;
    void *user;
    uint32_t accepted; /* statuses besides CAUCUS_E_MEMORY that a failure may have: a sum of FAILING_MAY(CAUCUS_...) */
    bool does_without; /* a failure of ours may also leave everything right (fewer threads) */
    bool threads_keep; /* other threads may free later: nothing is counted here (LeakSanitizer does) */
    bool libraries_keep;    /* libraries may keep memory of their own (OpenSSL's tables): only ours is counted */
    unsigned long step;     /* fail every step-th only, where there are thousands; 0: every one */
    unsigned long at_least; /* allocations that the operation makes at least: less, and the test tests nothing */
} failing_test;

#define FAILING_MAY(status) ((uint32_t)1 << (status))

static inline void failing_forget_all(void) {
    memset(failing_live, 0, sizeof failing_live);
    failing_lives = 0;
}

/* Nothing that was allocated since failing_begin() is left. */
static inline void failing_none_left(const failing_test *t) {
    unsigned left = 0;
    for (size_t i = 0; i < FAILING_LIVE; i++) {
        struct failing_live *l = &failing_live[i];
        if (l->memory != NULL && !t->threads_keep && (l->ours || !t->libraries_keep) && left++ < 5)
            print_error("%s: allocation %lu is left, made at %s + %#lx\n", t->name, l->number,
                        l->ours ? "this program" : "a library",
                        (unsigned long)((const char *)l->caller - __executable_start));
    }
    failing_forget_all();
    if (left > 0)
        fail_msg("%s: %u allocations are left (%s %lu failed)", t->name, left,
                 failing.from_there_on ? "all from" : "only", failing.fail);
    if (failing.overflow)
        fail_msg("%s: more live allocations than this test can watch", t->name);
}

static inline caucus_status failing_once(const failing_test *t, unsigned long number, bool from_there_on,
                                         uint64_t *ret_digest) {
    failing = (failing_state){.fail = number, .from_there_on = from_there_on};
    failing_quiet = false;
    caucus_status status = t->operation(t->user, ret_digest);
    assert_false(failing.on);
    failing_none_left(t);
    return status;
}

static inline void failing_each(const failing_test *t) {
    uint64_t want = 0, got;
    failing = (failing_state){.fail = 0};
    failing_quiet = false;
    assert_int_equal(t->operation(t->user, &want), CAUCUS_OK); /* sets up what is kept for the whole process */
    failing_forget_all();
    assert_int_equal(failing_once(t, 0, false, &want), CAUCUS_OK);
    const unsigned long usual = failing.count;
    if (usual < t->at_least && !FAILING_SANITIZED)
        fail_msg("%s: %lu allocations, at least %lu expected", t->name, usual, t->at_least);
    unsigned long refused = 0, done_without = 0, step = t->step > 0 ? t->step : 1;
    if (FAILING_SANITIZED && usual > 200 && t->step <= 10)
        step *= 13; /* a sanitizer looks at each one harder: some of the thousands suffice */
    if (getenv("CAUCUS_OOM_ALL") != NULL)
        step = 1;
    for (int from_there_on = 0; from_there_on < 2; from_there_on++)
        for (unsigned long n = 1;; n += step) {
            if (n > 2 * usual + 1000)
                fail_msg("%s: there is no end to its allocations", t->name);
            caucus_status status = failing_once(t, n, from_there_on, &got);
            if (status != CAUCUS_OK && status != CAUCUS_E_MEMORY && !(t->accepted & FAILING_MAY(status)))
                fail_msg("%s: %s %lu failed: \"%s\"", t->name, from_there_on ? "all from" : "only", n,
                         caucus_status_text(status));
            if (status == CAUCUS_OK && failing.ours > 0 && !t->does_without)
                fail_msg("%s: %s %lu failed, and it says that all went well", t->name,
                         from_there_on ? "all from" : "only", n);
            if (status == CAUCUS_OK && got != want)
                fail_msg("%s: %s %lu failed, and something else came out", t->name, from_there_on ? "all from" : "only",
                         n);
            if (failing.hits == 0) {
                assert_int_equal(status, CAUCUS_OK);
                break;
            }
            refused += status != CAUCUS_OK;
            done_without += status == CAUCUS_OK;
            if (usual <= 200 || refused % 8 == 0) { /* with hundreds of them, now and then is often enough */
                assert_int_equal(failing_once(t, 0, false, &got), CAUCUS_OK);
                assert_true(got == want);
            }
        }
    print_message("%s: %lu allocations; %lu failures refused, %lu done without\n", t->name, usual, refused,
                  done_without);
    assert_true(usual == 0 || refused > 0 || (t->does_without && done_without > 0));
}

#endif
