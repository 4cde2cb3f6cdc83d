/* SPDX-License-Identifier: Apache-2.0 */
/* server.c: the coordinator process: open, run, stop; and what it may tell anybody. See server.h. */
#include "net/server.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "net/loop.h"
#include "net/relay/relay.h"
#include "num/fail.h"
#include "num/hand_over.h"
#include "plan/family.h"
#include "plan/pace/pace.h"
#include "store/clock.h"

#define BACKLOG 4096
#define LOOK_NS 500000 /* between two attempts to have the lock, for those who give up in the end */

static void log_text(caucus_server *s, const caucus_log_line *about, const char *format, va_list args) {
    char text[512];
    caucus_log_line line = *about;
    (void)vsnprintf(text, sizeof text, format, args);
    line.text = text;
    pthread_mutex_lock(&s->log_lock);
    s->set.log(s->set.log_user, &line);
    pthread_mutex_unlock(&s->log_lock);
}

void caucus_server_log(caucus_server *s, int level, const char *format, ...) {
    if (!s->set.log)
        return;
    va_list args;
    va_start(args, format);
    log_text(s, &(caucus_log_line){.level = level}, format, args);
    va_end(args);
}

void caucus_server_log_about(caucus_server *s, const caucus_log_line *about, const char *format, ...) {
    if (!s->set.log)
        return;
    va_list args;
    va_start(args, format);
    log_text(s, about, format, args);
    va_end(args);
}

void caucus_server_wake(caucus_server *s) {
    int before = errno;
    uint64_t once = 1;
    for (uint32_t i = 0; i < s->loops; i++)
        if (s->loop[i])
            (void)!write(s->loop[i]->wake, &once, sizeof once);
    caucus_hub_wake(s->relays);
    if (s->relay)
        caucus_relay_wake(s->relay);
    errno = before;
}

void caucus_server_reload(caucus_server *s) {
    atomic_store(&s->reload_wanted, true);
    caucus_server_wake(s);
}

void caucus_server_stop(caucus_server *s) {
    if (atomic_exchange(&s->last_wanted, true))
        atomic_store(&s->stopping, true);
    caucus_server_wake(s);
}

/* ---- open ---- */

static caucus_status check_settings(caucus_server *s, caucus_error *ret_error) {
    caucus_server_settings *set = &s->set;
    if (set->plan->settings.protocol == CAUCUS_PROTOCOL_PAPER)
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "protocol",
                           "paper is for the simulator — live runs need a plan with protocol two-step");
    /* At the devices' own pace the clock ends a step, and a deadline is not needed. */
    const bool own_pace = set->plan->settings.pace == CAUCUS_PACE_OWN;
    if (caucus_pace_by_question(&set->plan->settings) && set->plan->settings.start == 1 && !set->key.seeded)
        return caucus_fail_hint(
            ret_error,
            caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "start", "none in this plan: by a clock its run is long over"),
            "make the plan with 'start', the day on which the run begins");
    if (set->quorum && set->quorum < s->clients && own_pace && set->key.seeded)
        return caucus_fail_hint(
            ret_error,
            caucus_fail(ret_error, CAUCUS_E_RANGE, "quorum",
                        "%u: a seeded run at the devices' own pace decides when all clients have answered",
                        set->quorum),
            "leave out 'quorum'");
    if (set->quorum && set->quorum < s->clients && !own_pace && !set->deadline_ms)
        return caucus_fail_hint(ret_error,
                                caucus_fail(ret_error, CAUCUS_E_RANGE, "quorum",
                                            "%u: is looked at when a deadline has passed", set->quorum),
                                "give 'deadline', too");
    if (set->missed && !set->deadline_ms)
        return caucus_fail_hint(
            ret_error,
            caucus_fail(ret_error, CAUCUS_E_RANGE, "missed", "%u: without a deadline none is missed", set->missed),
            "give 'deadline', too");
    if (set->quorum > s->clients)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "quorum",
                           "%u (accepted: 1 to %u, the plan's clients; 0 = all of them)", set->quorum, s->clients);
    if (set->loops > CAUCUS_LOOPS_MAX)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "loops", "%u (accepted: 1 to %u; 0 = one per core)", set->loops,
                           CAUCUS_LOOPS_MAX);
    if (!caucus_server_is_shared(s) && set->max_clients && set->max_clients < s->clients)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "max-clients", "%u (accepted: at least %u, the plan's clients)",
                           set->max_clients, s->clients);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    s->loops = set->loops                       ? set->loops
               : cores < 1                      ? 1
               : cores > (long)CAUCUS_LOOPS_MAX ? CAUCUS_LOOPS_MAX
                                                : (uint32_t)cores;
    if (!set->hello_ms)
        set->hello_ms = 10000;
    if (!set->stall_ms)
        set->stall_ms = 30000;
    return caucus_descriptors_check(s, ret_error);
}

static caucus_status open_tls(caucus_server *s, const caucus_address *address, caucus_error *ret_error) {
    const caucus_server_settings *set = &s->set;
    if (set->revoked) {
        caucus_status status = caucus_revoked_open(set->revoked, &s->revoked, ret_error);
        if (status != CAUCUS_OK)
            return status;
    }
    if (set->cert && set->key_file && set->client_ca) {
        caucus_status status = caucus_tls_server_new(set->cert, set->key_file, set->client_ca, &s->tls, ret_error);
        s->secure = status == CAUCUS_OK;
        if (s->secure)
            caucus_watch_own(s);
        return status;
    }
    if (set->cert || set->key_file || set->client_ca)
        return caucus_fail_hint(ret_error,
                                caucus_fail(ret_error, CAUCUS_E_RANGE, "cert",
                                            "belongs together with its key and the authority of the clients"),
                                "give 'cert', 'key' and 'client-ca'");
    if (!address->loopback)
        return caucus_fail_hint(ret_error,
                                caucus_fail(ret_error, CAUCUS_E_RANGE, "listen",
                                            "%.100s: without certificates only this machine may connect", set->listen),
                                "listen on 127.0.0.1, or give 'cert', 'key' and 'client-ca'");
    return CAUCUS_OK;
}

/* What accepted connections inherit: set once, not for every stranger who knocks. */
static void set_options(int fd) {
    int on = 1, idle = 30, interval = 10, count = 3, unheard_ms = 60000;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unheard_ms, sizeof unheard_ms);
}

/* A listener. first: one that shares the port with nobody, so that another coordinator there is found out, not joined;
 * only when the port is ours is it opened to our own further listeners, so that it is never free in between. */
static int listen_on(const caucus_address *address, bool first, bool shared) {
    int fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    set_options(fd);
    bool ok = first || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0;
    ok = ok && bind(fd, (const struct sockaddr *)&address->socket, address->bytes) == 0;
    ok = ok && (!first || !shared || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0);
    if (ok && listen(fd, BACKLOG) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

/* errno says why. */
static caucus_status fail_listen(const char *listen, caucus_error *ret_error) {
    return caucus_fail_os(ret_error, errno == EADDRINUSE ? CAUCUS_E_BUSY : CAUCUS_E_NETWORK, errno, "listen", "%.100s",
                          listen);
}

static caucus_status bind_all(caucus_server *s, caucus_address *address, caucus_error *ret_error) {
    s->listener[0] = listen_on(address, true, s->loops > 1);
    if (s->listener[0] < 0)
        return caucus_fail_hint(ret_error, fail_listen(s->set.listen, ret_error), "another port, or 0 for any");
    socklen_t bytes = sizeof address->socket;
    getsockname(s->listener[0], (struct sockaddr *)&address->socket, &bytes);
    s->port = caucus_address_port(&address->socket);
    for (uint32_t i = 1; i < s->loops; i++) {
        s->listener[i] = listen_on(address, false, true);
        if (s->listener[i] < 0)
            return fail_listen(s->set.listen, ret_error);
    }
    return CAUCUS_OK;
}

static caucus_status open_loops(caucus_server *s, caucus_error *ret_error) {
    caucus_status status = CAUCUS_OK;
    for (uint32_t i = 0; status == CAUCUS_OK && i < s->loops; i++) {
        int fd = s->listener[i];
        s->listener[i] = -1; /* the loop's from now on */
        status = caucus_loop_new(s, fd, i, &s->loop[i], ret_error);
    }
    return status;
}

/* In this order: whatever can be refused, before anything is written. */
static caucus_status open_parts(caucus_server *s, caucus_error *ret_error) {
    caucus_address address;
    caucus_status status = check_settings(s, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_address_resolve(s->set.listen, "listen", true, &address, ret_error);
    if (status == CAUCUS_OK)
        status = open_tls(s, &address, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_waits_open(s, ret_error);
    if (status == CAUCUS_OK && s->relay) /* nobody is listened to before the coordinator has been heard */
        status = caucus_relay_begin(s->relay, s, ret_error);
    if (status == CAUCUS_OK && !s->relay)
        status = caucus_hub_open(s, ret_error);
    if (status == CAUCUS_OK && !s->relay)
        status = caucus_step_reserve(s, ret_error);
    if (status == CAUCUS_OK)
        status = bind_all(s, &address, ret_error);
    if (status == CAUCUS_OK && !s->relay)
        status = caucus_step_open(s, ret_error);
    if (status == CAUCUS_OK)
        status = open_loops(s, ret_error);
    return status;
}

caucus_status caucus_server_open(const caucus_server_settings *settings, caucus_server **ret, caucus_error *ret_error) {
    caucus_server *s = calloc(1, sizeof *s);
    if (!s)
        return caucus_fail_memory(ret_error, "");
    s->set = *settings;
    s->relay = settings->relay;
    s->clients = settings->plan->settings.clients;
    s->experts = settings->plan->settings.experts;
    s->frame_max = caucus_wire_max_bytes(s->experts);
    s->opened_ns = caucus_clock_ns();
    s->opened_seconds = (int64_t)time(NULL);
    s->history.endless = caucus_plan_is_endless(settings->plan);
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->log_lock, NULL);
    pthread_mutex_init(&s->tls_lock, NULL);
    pthread_mutex_init(&s->shared_lock, NULL);
    caucus_limiter_init(&s->limiter);
    caucus_commit_open(s);
    s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    s->session = calloc(s->clients, sizeof *s->session);
    s->expected = calloc(s->clients, sizeof *s->expected);
    s->claim = calloc(s->clients, sizeof *s->claim);
    for (uint32_t i = 0; i < CAUCUS_LOOPS_MAX; i++)
        s->listener[i] = -1;
    caucus_status status = s->timer >= 0 && s->session && s->expected && s->claim ? open_parts(s, ret_error)
                                                                                  : caucus_fail_memory(ret_error, "");
    return CAUCUS_HAND_OVER(status, ret, s, caucus_server_close(s));
}

void caucus_server_close(caucus_server *s) {
    if (!s)
        return;
    for (uint32_t i = 0; i < s->loops; i++) {
        caucus_loop_free(s->loop[i]);
        s->loop[i] = NULL;
        if (s->listener[i] >= 0)
            close(s->listener[i]);
    }
    caucus_hub_close(s->relays);
    s->relays = NULL;
    free(s->placed);
    caucus_step_close(s);
    caucus_waits_close(s);
    SSL_CTX_free(s->tls);
    caucus_revoked_close(s->revoked);
    if (s->timer >= 0)
        close(s->timer);
    free(s->session);
    free(s->expected);
    free(s->claim);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->log_lock);
    pthread_mutex_destroy(&s->tls_lock);
    pthread_mutex_destroy(&s->shared_lock);
    caucus_limiter_close(&s->limiter);
    caucus_key_wipe(&s->set.key);
    free(s);
}

uint16_t caucus_server_port(const caucus_server *s) {
    return s->port;
}

/* ---- run ---- */

caucus_status caucus_server_run(caucus_server *s, caucus_error *ret_error) {
    /* Signals are the caller's; in particular a peer that is gone (SIGPIPE, through OpenSSL) must not end the
     * process. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = 0;
    caucus_status beside = s->relay ? caucus_relay_run(s->relay, ret_error) : caucus_commit_run(s, ret_error);
    if (beside == CAUCUS_OK && s->relays)
        beside = caucus_hub_run(s->relays, ret_error);
    for (uint32_t i = 0; failed == 0 && beside == CAUCUS_OK && i < s->loops; i++) {
        failed = pthread_create(&s->loop[i]->thread, NULL, caucus_loop_run, s->loop[i]);
        s->loop[i]->running = failed == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed != 0 || beside != CAUCUS_OK) {
        atomic_store(&s->stopping, true);
        caucus_server_wake(s);
    }
    for (uint32_t i = 0; i < s->loops; i++)
        if (s->loop[i]->running)
            pthread_join(s->loop[i]->thread, NULL);
    caucus_commit_end(s);
    caucus_hub_end(s->relays);
    if (s->relay)
        caucus_relay_end_run(s->relay);
    caucus_loop_tell_held_back(s, UINT64_MAX);
    if (beside != CAUCUS_OK)
        return beside;
    if (failed != 0)
        return caucus_fail_os(ret_error, CAUCUS_E_MEMORY, failed, "loops", "cannot start a thread");
    if (s->failure != CAUCUS_OK && ret_error)
        *ret_error = s->failure_error;
    if (s->failure == CAUCUS_OK && caucus_claims_rolled_back(s))
        return caucus_fail(ret_error, CAUCUS_E_ROLLED_BACK, "",
                           "this state is an older copy: %u clients have heard more than it holds",
                           caucus_claims_open(s));
    return s->failure;
}

/* ---- for people ---- */

/* From `then` to `now` on a clock that shows whole tenths: finer, a page would tell how long a decision took. Both ends
 * are cut, not their difference: that would change at a moment that tells `then` to whoever asks often. */
static double tenths_between(uint64_t then, uint64_t now) {
    const uint64_t tenth_ns = 100000000u, tenths = now / tenth_ns - then / tenth_ns;
    return (double)tenths / 10;
}

/* The most selections the plan allows, and the numbers that the paper's protocol would have sent by now: a vector of d
 * numbers per client and block, or per leaf. */
static void compare_with_paper(const caucus_server *s, caucus_server_status *ret) {
    const caucus_plan *plan = s->set.plan;
    uint64_t vector = (uint64_t)s->clients * s->experts;
    uint64_t decided = ret->now.ask == CAUCUS_ASK_NOTHING ? ret->now.block : ret->now.block - 1;
    ret->blocks = decided;
    ret->scalars_paper = vector * (caucus_plan_ops_of(plan)->phases ? ret->selections : decided);
    const uint64_t allowed = caucus_plan_selections(plan);
    ret->selections_allowed = allowed == CAUCUS_ROUNDS_ENDLESS ? 0 : allowed; /* 0: any number */
}

/* Under the lock. */
static void get_status(caucus_server *s, caucus_server_status *ret) {
    const caucus_guarantee *g = &s->set.plan->guarantee;
    const uint64_t now_ns = caucus_clock_ns();
    *ret = (caucus_server_status){.clients = s->clients,
                                  .present = atomic_load(&s->present),
                                  .started = atomic_load(&s->started),
                                  .finished = atomic_load(&s->finished),
                                  .seeded = s->set.key.seeded,
                                  .epsilon_choices = g->epsilon_choices,
                                  .epsilon_messages = g->epsilon_messages,
                                  .epsilon_device = caucus_plan_epsilon_device(s->set.plan),
                                  .delta = g->delta,
                                  .reports = atomic_load(&s->reports),
                                  .rollback_claims = caucus_claims_open(s),
                                  .rolled_back = caucus_claims_rolled_back(s),
                                  .files_out = atomic_load(&s->files_out),
                                  .certificate_ends = atomic_load(&s->ends),
                                  .reload_failed = atomic_load(&s->reload_failed),
                                  .list_broken = atomic_load(&s->list_broken),
                                  .scalars_up = atomic_load(&s->scalars_up),
                                  .deadline_seconds = s->set.deadline_ms / 1e3,
                                  .uptime_seconds = tenths_between(s->opened_ns, now_ns)};
    for (int i = 0; i < CAUCUS_REASON_COUNT; i++)
        ret->refused += ret->refused_for[i] = atomic_load(&s->refused[i]);
    for (uint32_t i = 0; i < s->loops; i++) {
        ret->bytes_in += atomic_load_explicit(&s->loop[i]->bytes_in, memory_order_relaxed);
        ret->bytes_out += atomic_load_explicit(&s->loop[i]->bytes_out, memory_order_relaxed);
        ret->strangers += atomic_load_explicit(&s->loop[i]->strangers, memory_order_relaxed);
        int64_t ends = atomic_load_explicit(&s->loop[i]->ends, memory_order_relaxed);
        if (ends != 0 && (ret->client_certificate_ends == 0 || ends < ret->client_certificate_ends))
            ret->client_certificate_ends = ends;
    }
    /* The last announcement that is committed: the machine may be one ahead of it if a commit has failed. */
    uint64_t committed = atomic_load_explicit(&s->committed, memory_order_acquire);
    ret->now = caucus_history_get(&s->history, committed - 1);
    ret->answered = ret->now.ask == CAUCUS_ASK_NOTHING ? 0 : atomic_load(&s->answered);
    ret->selections = s->shown.tally.selections;
    ret->checks = s->shown.tally.checks;
    ret->looks = s->shown.looks;
    memcpy(ret->look, s->shown.look, s->shown.looks * sizeof ret->look[0]);
    ret->epsilon_spent = s->shown.epsilon_spent;
    const bool closed = caucus_commit_closed(s);
    ret->commits = closed ? s->shown.commits : s->relay ? 0 : caucus_store_commits(s->store);
    ret->commit_seconds = tenths_between(0, closed ? s->shown.commit_ns : s->commit_ns);
    /* With ticks a commit shows as an announcement does: if it takes longer than a tick. */
    const bool shows =
        s->commit.what != CAUCUS_COMMIT_NONE && now_ns - s->commit.since_ns >= (uint64_t)s->set.tick_ms * 1000000u;
    ret->committing_seconds = shows ? tenths_between(s->commit.since_ns, now_ns) : 0;
    ret->term = atomic_load(&s->term);
    ret->unknown_outcomes = atomic_load(&s->unknown_outcomes);
    ret->seconds_in_step = tenths_between(s->step_ns, now_ns);
    ret->since_serial = s->shown.tally.since_serial;
    ret->since_block = s->shown.tally.since_block;
    ret->steps_decided = caucus_announcement_steps(&ret->now);
    caucus_waits_status(s, ret);
    if (s->relays)
        caucus_hub_get_status(s->relays, &ret->relays, ret->relay, CAUCUS_RELAYS_LISTED);
    compare_with_paper(s, ret);
}

/* Under the lock: nothing is counted meanwhile. Of the announcement that is public: the machine may be one ahead. */
static void get_presence(caucus_server *s, uint8_t *ret) {
    const caucus_announcement asked = caucus_history_get(&s->history, atomic_load(&s->committed) - 1);
    caucus_step_hold_loops(s);
    for (uint32_t i = 0; i < s->clients; i++) {
        const bool answered = caucus_coordinator_has_answered(s->machine, i + 1, &asked);
        ret[i] = atomic_load(&s->session[i]) == 0 ? 0 : answered ? 2 : 1;
    }
    caucus_step_release_loops(s);
}

void caucus_server_get_status(caucus_server *s, caucus_server_status *ret) {
    pthread_mutex_lock(&s->lock);
    get_status(s, ret);
    pthread_mutex_unlock(&s->lock);
    caucus_budget_look(s, ret);
}

bool caucus_server_try_status(caucus_server *s, uint32_t wait_ms, caucus_server_status *ret, uint8_t *ret_presence) {
    const uint64_t until = caucus_clock_ns() + (uint64_t)wait_ms * 1000000u;
    while (pthread_mutex_trylock(&s->lock) != 0) { /* a wait by the monotonic clock is no POSIX, nor known to tsan */
        if (caucus_clock_ns() >= until)
            return false;
        (void)nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
    get_status(s, ret);
    if (ret_presence)
        get_presence(s, ret_presence);
    pthread_mutex_unlock(&s->lock);
    caucus_budget_look(s, ret);
    return true;
}

uint64_t caucus_server_history(caucus_server *s, uint64_t first, caucus_announcement *ret, uint32_t room) {
    if (s->history.endless)
        pthread_mutex_lock(&s->lock); /* places are used again */
    uint64_t committed = atomic_load_explicit(&s->committed, memory_order_acquire);
    for (uint32_t i = 0; i < room && first + i < committed; i++)
        ret[i] = caucus_history_get(&s->history, first + i);
    if (s->history.endless)
        pthread_mutex_unlock(&s->lock);
    return committed;
}

uint64_t caucus_server_history_from(caucus_server *s) {
    return caucus_history_from(&s->history, atomic_load_explicit(&s->committed, memory_order_acquire));
}

void caucus_server_presence(caucus_server *s, uint8_t *ret) {
    pthread_mutex_lock(&s->lock);
    get_presence(s, ret);
    pthread_mutex_unlock(&s->lock);
}
