/* SPDX-License-Identifier: Apache-2.0 */
/* server_step.c: the machine and its ledger. Count, merge, decide, have it committed; then, and only then, publish.
 *
 * docs/PRIVACY.md, "Reports on a network that fails": every verdict, "keep" included, is on disk with the state it came
 * from and the items it counted before a byte that depends on it leaves. So what loops may send is published (history,
 * counts) by the one function that has just committed it, and by no other. */
#include "net/loop.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>

#include "algo/look/look.h"
#include "net/pace/slot_clock.h"
#include "num/error_line.h"
#include "num/fail.h"
#include "plan/ledger.h"
#include "plan/pace/pace.h"
#include "store/clock.h"

/* "distilled (7)", or "7": as people are told of an expert. */
static caucus_expert_words expert_words(const caucus_server *s, uint32_t expert) {
    return caucus_plan_expert_words(s->set.plan, expert);
}

/* A line of the log that names this expert. */
static caucus_log_line about_expert(const caucus_server *s, int level, const char *event, uint32_t expert) {
    return (caucus_log_line){.level = level,
                             .event = event,
                             .has_expert = true,
                             .expert = expert,
                             .expert_name = caucus_plan_expert_name(s->set.plan, expert)};
}

static bool is_committing(const caucus_server *s) {
    return s->commit.what != CAUCUS_COMMIT_NONE;
}

/* When the timer rings next: the tick that a verdict waits for, the step's deadline, the end of the wait after the run,
 * or of that for the last step before a stop. 0: never. */
static uint64_t rings_ns(const caucus_server *s) {
    if (is_committing(s)) /* whoever is done with that sets it again */
        return 0;
    if (s->held_ns)
        return s->last_ns && s->last_ns < s->held_ns ? s->last_ns : s->held_ns;
    if (s->finished_ns)
        return atomic_load(&s->told_over) ? 0 : s->finished_ns + (uint64_t)s->set.linger_ms * 1000000u;
    if (s->last_ns)
        return s->last_ns;
    if (s->strike_ns)
        return caucus_clock_ns() + caucus_slot_sleep_ns(s->strike_ns, caucus_slot_now_ns());
    return s->set.deadline_ms && !s->overdue ? s->step_ns + (uint64_t)s->set.deadline_ms * 1000000u : 0;
}

static void set_timer(caucus_server *s) {
    uint64_t at = rings_ns(s);
    struct itimerspec when = {.it_value = {.tv_sec = (time_t)(at / 1000000000u), .tv_nsec = (long)(at % 1000000000u)}};
    timerfd_settime(s->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Make what was committed visible to the loops. */
static void publish(caucus_server *s) {
    const caucus_announcement *now = caucus_coordinator_announcement(s->machine);
    const uint32_t answered = s->clients - caucus_coordinator_waiting(s->machine); /* nothing was counted since */
    caucus_coordinator_show(s->machine);
    caucus_ledger_totals totals = caucus_ledger_totals_of(s->ledger);
    s->shown.tally = caucus_coordinator_tally_of(s->machine);
    s->shown.looks = caucus_look_all(s->machine, s->shown.look, CAUCUS_LOOKS);
    s->shown.epsilon_spent = totals.released_choices;
    caucus_commit_hold(s, 0);
    s->step_ns = caucus_clock_ns();
    s->overdue = false;
    atomic_store(&s->answered, answered);
    if (answered > 0)
        caucus_waits_recount(s);
    else
        atomic_store(&s->waits.answered, 0);
    caucus_hub_published(s->relays);
    uint64_t before = atomic_load_explicit(&s->committed, memory_order_relaxed);
    atomic_store_explicit(&s->committed, now->serial + 1, memory_order_release);
    set_timer(s);
    if (before > 0 && before <= now->serial && caucus_history_get(&s->history, before - 1).expert != now->expert) {
        const caucus_log_line about = about_expert(s, 1, "expert", now->expert);
        caucus_server_log_about(s, &about, "expert %s is in force from announcement %" PRIu64 " on (before: %s)",
                                expert_words(s, now->expert).text, now->serial,
                                expert_words(s, caucus_history_get(&s->history, before - 1).expert).text);
    }
}

/* A decision is public from now on, and so is what comes of it: whether something is wiped takes time, too. */
static void announce(caucus_server *s) {
    if (s->commit.decided.ends_epoch)
        atomic_store(&s->wipe_due, true);
    publish(s);
    if (s->commit.decided.passed) /* that was said */
        return;
    const uint32_t expert = caucus_coordinator_announcement(s->machine)->expert;
    const caucus_log_line about = about_expert(s, 2, NULL, expert);
    caucus_server_log_about(s, &about, "step %" PRIu64 " decided with %u of %u clients: expert %s in force",
                            s->commit.decided.serial, s->commit.decided.answered, s->clients,
                            expert_words(s, expert).text);
}

/* What was committed is announced on the next tick, so that the time of an announcement does not tell how long the
 * decision and its commit took; without ticks, now. */
static void announce_on_tick(caucus_server *s) {
    const uint64_t tick_ns = (uint64_t)s->set.tick_ms * 1000000u;
    if (tick_ns == 0) {
        announce(s);
        return;
    }
    caucus_commit_hold(s, (caucus_clock_ns() / tick_ns + 1) * tick_ns);
    set_timer(s);
}

/* End the run: nothing that depends on what could not be kept may leave. */
void caucus_step_give_up(caucus_server *s, caucus_status status, const caucus_error *error) {
    s->failure = status;
    s->failure_error = *error;
    atomic_store(&s->aborting, true);
    atomic_store(&s->stopping, true);
}

/* Nothing more is asked: the run is over once its last announcement can be sent. */
static void finish(caucus_server *s) {
    s->finished_ns = caucus_clock_ns();
    atomic_store(&s->finished, true);
    set_timer(s);
    const caucus_announcement *last = caucus_coordinator_announcement(s->machine);
    const caucus_expert_words expert = expert_words(s, last->expert);
    const caucus_log_line about = about_expert(s, 1, NULL, last->expert);
    const bool stopped = caucus_announcement_stops(last);
    if (s->loop[0]) {
        caucus_server_log_about(s, &about,
                                stopped ? "the run is ended for good, as was asked: expert %s was in force"
                                        : "the run is over: expert %s stays in force",
                                expert.text);
        return;
    }
    char until[48] = "until this program is stopped"; /* an earlier process has played it to its end */
    if (!s->set.stay)
        (void)snprintf(until, sizeof until, "for %.3g seconds", s->set.linger_ms / 1e3);
    caucus_server_log_about(s, &about,
                            "this run was over after step %" PRIu64 ", expert %s stays in force: nothing more is asked "
                            "or released; answering clients that have not heard of it, %s",
                            caucus_announcement_steps(last), expert.text, until);
}

void caucus_step_hold_loops(caucus_server *s) {
    for (uint32_t i = 0; i < s->loops; i++)
        if (s->loop[i]) /* none yet while the server is being opened */
            pthread_mutex_lock(&s->loop[i]->lock);
}

void caucus_step_release_loops(caucus_server *s) {
    for (uint32_t i = s->loops; i-- > 0;)
        if (s->loop[i])
            pthread_mutex_unlock(&s->loop[i]->lock);
}

static void begun(caucus_server *s) {
    s->begun = true;
    s->step_ns = caucus_clock_ns();
    s->overdue = false;
    atomic_store(&s->started, true);
    set_timer(s);
    caucus_server_log(s, 1, "the run begins with %u of %u clients", s->commit.decided.answered, s->clients);
}

static void decided(caucus_server *s) {
    caucus_hub_decided(s->relays);
    announce_on_tick(s);
}

static void ended(caucus_server *s) {
    s->begun = true; /* also if it never began: who waits for that hears that it will not */
    s->finished_ns = 0;
    atomic_store(&s->ended, true);
    atomic_store(&s->started, true);
    atomic_store(&s->wipe_due, true);
    publish(s);
}

/* All locks are held: what was being committed is, or is not. */
static void committed(caucus_server *s) {
    caucus_error error = {0};
    const caucus_commit_what what = s->commit.what;
    const caucus_status status = caucus_commit_over(s, &error);
    if (s->failure != CAUCUS_OK) /* it was given up meanwhile: what is committed is for the next process to tell */
        return;
    if (status != CAUCUS_OK)
        caucus_step_give_up(s, status, &error);
    else if (what == CAUCUS_COMMIT_START)
        begun(s);
    else if (what == CAUCUS_COMMIT_STOP)
        ended(s);
    else
        decided(s);
}

/* All locks are held: have this committed. Without the thread, which is there once loops are, it is at once. */
static void commit(caucus_server *s, caucus_commit_what what, size_t first_line) {
    caucus_error error = {0};
    const caucus_status status = caucus_commit_begin(s, what, first_line, &error);
    if (status != CAUCUS_OK)
        caucus_step_give_up(s, status, &error);
    else if (!s->commit.running)
        committed(s);
}

/* Decide the step in hand on all that has been counted, and keep the decision. All locks are held. */
static void decide(caucus_server *s) {
    for (uint32_t i = 0; i < s->loops; i++)
        if (s->loop[i])
            caucus_coordinator_merge(s->machine, s->loop[i]->partial);
    caucus_announcement before = *caucus_coordinator_announcement(s->machine);
    size_t lines = caucus_ledger_count(s->ledger);
    uint32_t answered = s->clients - caucus_coordinator_waiting(s->machine);
    uint64_t selections = caucus_coordinator_selections(s->machine);
    caucus_error error = {0};
    caucus_waits_decided(s);
    caucus_status status = s->passing ? caucus_coordinator_pass(s->machine) : caucus_coordinator_decide(s->machine);
    const caucus_announcement *now = caucus_coordinator_announcement(s->machine);
    if (status == CAUCUS_OK && !s->passing)
        status = caucus_releases_record(&s->releases, &before, now, &error);
    if (status == CAUCUS_E_BUDGET) { /* the expert in force stays: nothing of this decision leaves, now or later */
        const caucus_log_line about = about_expert(s, 0, NULL, before.expert);
        caucus_server_log_about(s, &about,
                                "the privacy budget is exhausted: expert %s stays in force, nothing more is released",
                                expert_words(s, before.expert).text);
        caucus_step_give_up(s, status, &error);
        return;
    }
    if (status == CAUCUS_OK && !caucus_history_add(&s->history, now))
        status = caucus_fail_memory(&error, "history");
    if (status != CAUCUS_OK) {
        caucus_step_give_up(s, status, &error);
        return;
    }
    s->commit.decided.serial = before.serial;
    s->commit.decided.passed = s->passing;
    s->commit.decided.answered = answered;
    s->commit.decided.ends_epoch = caucus_coordinator_selections(s->machine) > selections ||
                                   now->epoch > before.epoch || /* a link may end, too */
                                   now->ask == CAUCUS_ASK_NOTHING;
    commit(s, CAUCUS_COMMIT_DECISION, lines);
}

static void decide_step(caucus_server *s) {
    caucus_step_hold_loops(s);
    decide(s);
    caucus_step_release_loops(s);
    caucus_server_wake(s); /* announce it, or end; or, while it is committed, look after those who wait for that */
}

static void log_unwiped(caucus_server *s, caucus_status status, const caucus_error *error) {
    char line[CAUCUS_ERROR_LINE_BYTES];
    caucus_error_line(error, status, line);
    caucus_server_log(s, 0, "what the last epoch held could not be wiped yet: %s", line);
}

void caucus_step_wipe(caucus_server *s) {
    if (!atomic_load(&s->wipe_due))
        return;
    caucus_error error = {0};
    pthread_mutex_lock(&s->lock);
    if (!is_committing(s) && atomic_exchange(&s->wipe_due, false)) {
        caucus_status status = caucus_store_wipe(s->store, &error);
        if (status != CAUCUS_OK)
            atomic_store(&s->wipe_due, true); /* with the next announcement, or when the store is closed */
        if (status != CAUCUS_OK && status != CAUCUS_E_BUSY && !s->wipe_failed)
            log_unwiped(s, status, &error);
        s->wipe_failed = status != CAUCUS_OK && status != CAUCUS_E_BUSY;
    }
    pthread_mutex_unlock(&s->lock);
}

static uint32_t quorum(const caucus_server *s) {
    return s->set.quorum ? s->set.quorum : s->strike_ns ? 1 : s->clients;
}

static uint32_t least(const caucus_server *s) {
    return s->set.quorum ? s->set.quorum : 1;
}

/* What closes the step in hand, or begins the run, for loops to see; then look: a loop adds first and looks at these
 * then. */
static void set_enough(caucus_server *s) {
    bool closed =
        !s->begun || caucus_commit_closed(s) || s->failure != CAUCUS_OK || s->finished_ns || caucus_claims_open(s) > 0;
    closed = closed || (s->strike_ns && !s->overdue); /* by the clock alone, however many have answered */
    atomic_store(&s->enough, closed ? UINT32_MAX : s->overdue ? quorum(s) : s->clients);
    atomic_store(&s->least, least(s));
    atomic_store(&s->enough_waited, closed || s->strike_ns ? UINT32_MAX : s->waits.count);
    const uint32_t all = s->waits.count > least(s) ? s->waits.count : least(s);
    atomic_store(&s->start_at, s->begun || is_committing(s)    ? UINT32_MAX
                               : s->strike_ns                  ? 0
                               : s->overdue && quorum(s) < all ? quorum(s)
                                                               : all);
}

static bool is_enough(const caucus_server *s) {
    const uint32_t answered = atomic_load(&s->answered);
    return answered >= atomic_load(&s->enough) ||
           (atomic_load(&s->waits.answered) >= atomic_load(&s->enough_waited) && answered >= atomic_load(&s->least));
}

static void stop_now(caucus_server *s) {
    atomic_store(&s->stopping, true);
    caucus_server_wake(s);
}

void caucus_step_over(caucus_server *s) {
    if (!s->set.stay) {
        if (!atomic_exchange(&s->stopping, true))
            caucus_server_wake(s);
    } else if (!atomic_exchange(&s->told_over, true) && s->set.over) {
        s->set.over(s->set.over_user);
    }
}

/* Announcement 0 may go out, once it is kept that it does. */
static void start(caucus_server *s, uint32_t present) {
    caucus_step_hold_loops(s);
    s->commit.decided.answered = present;
    commit(s, CAUCUS_COMMIT_START, 0);
    caucus_step_release_loops(s);
    caucus_server_wake(s);
}

/* Was this the last step before a stop? If the run is over with it, it ends as it would have. */
static bool stop_after_step(caucus_server *s) {
    bool over = caucus_coordinator_announcement(s->machine)->ask == CAUCUS_ASK_NOTHING;
    if (!s->last_ns || s->failure != CAUCUS_OK || over)
        return false;
    stop_now(s);
    return true;
}

/* Do what has become due: begin the run once enough clients are here, decide the step once enough have answered, end
 * the run after its last step. Called with s->lock held, after anything that may have made one of them due (a report, a
 * departure, the clock). Loops until nothing is due, because answers for the next step may have come already. */
static void step_progress(caucus_server *s) {
    if (s->failure != CAUCUS_OK)
        return;
    set_enough(s);
    if (is_committing(s)) /* it is looked at again then */
        return;
    const uint32_t present = atomic_load(&s->present); /* after set_enough(): who joins adds first and looks then */
    if (!s->begun && !s->last_ns && caucus_claims_open(s) == 0 &&
        (s->strike_ns || caucus_waits_all_here(s, present) || (s->overdue && present >= quorum(s))))
        start(s, present);
    while (!is_committing(s)) {
        bool asked = caucus_coordinator_announcement(s->machine)->ask != CAUCUS_ASK_NOTHING;
        if (s->begun && s->failure == CAUCUS_OK && !s->finished_ns && !s->held_ns && !asked)
            finish(s);
        set_enough(s);
        if (!is_enough(s))
            break;
        decide_step(s);
        if (!is_committing(s) && !s->held_ns && stop_after_step(s))
            break;
    }
    set_enough(s);
    if (s->last_ns && !is_committing(s) && atomic_load(&s->present) == 0 && !atomic_load(&s->stopping))
        stop_now(s); /* nobody is there to decide it */
}

void caucus_step_committed(caucus_server *s) {
    caucus_step_hold_loops(s);
    committed(s);
    caucus_step_release_loops(s);
    if (!s->commit.ending && (s->held_ns || !stop_after_step(s)))
        step_progress(s);
    caucus_server_wake(s);
}

/* Is this report's connection the one that speaks for its client? */
static bool in_force(const caucus_server *s, const caucus_connection *from) {
    return atomic_load(&s->session[from->client - 1]) == from->session;
}

/* Take the loop's lock when there is no verdict that is not public. Returns: false, without the lock, if that takes
 * long. */
static bool lock_to_count(caucus_loop *loop) {
    for (;;) {
        pthread_mutex_lock(&loop->lock);
        if (!caucus_commit_closed(loop->server))
            return true;
        pthread_mutex_unlock(&loop->lock);
        if (!caucus_commit_await(loop->server))
            return false;
    }
}

void caucus_step_count(caucus_loop *loop) {
    caucus_server *s = loop->server;
    uint64_t scalars = 0, counted = 0;
    if (!lock_to_count(loop)) {
        for (size_t i = 0; i < loop->reports; i++)
            loop->answer[i] = CAUCUS_E_LATER;
        return;
    }
    uint32_t before = caucus_partial_answered(loop->partial), waited = 0;
    for (size_t i = 0; i < loop->reports; i++) {
        const caucus_report *r = &loop->report[i];
        const uint32_t so_far = caucus_partial_answered(loop->partial);
        loop->answer[i] = s->failure == CAUCUS_OK && in_force(s, loop->from[i])
                              ? caucus_coordinator_count(s->machine, loop->partial, r)
                              : CAUCUS_E_ORDER;
        scalars += loop->answer[i] == CAUCUS_OK ? r->count : 0;
        counted += loop->answer[i] == CAUCUS_OK;
        waited += caucus_partial_answered(loop->partial) > so_far && caucus_waits_for(s, r->client);
    }
    uint32_t more = caucus_partial_answered(loop->partial) - before;
    atomic_fetch_add(&s->answered, more);
    atomic_fetch_add(&s->waits.answered, waited);
    bool enough = more > 0 && is_enough(s);
    pthread_mutex_unlock(&loop->lock);
    atomic_fetch_add_explicit(&s->scalars_up, scalars, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->reports, counted, memory_order_relaxed);
    if (enough) {
        pthread_mutex_lock(&s->lock);
        step_progress(s);
        pthread_mutex_unlock(&s->lock);
    }
}

/* Under the lock of the loop that has had the client, or of one's own if none has: nobody counts for it, and no step is
 * decided, before that is let go of. */
caucus_taken caucus_step_take_session(caucus_loop *loop, uint32_t client) {
    caucus_server *s = loop->server;
    _Atomic uint64_t *at = &s->session[client - 1];
    uint16_t from = 0;
    caucus_taken ret = {.session = (atomic_fetch_add(&s->sessions, 1) + 1) * CAUCUS_LOOPS_MAX + loop->number};
    for (bool taken = false; !taken;) {
        ret.before = atomic_load(at);
        caucus_loop *having = ret.before ? s->loop[ret.before % CAUCUS_LOOPS_MAX] : loop;
        pthread_mutex_lock(&having->lock); /* it has counted for the client by now, or never will again */
        taken = atomic_compare_exchange_strong(at, &ret.before, ret.session);
        if (taken) {
            if (s->placed && s->placed[client - 1] != 0) {
                from = s->placed[client - 1];
                s->placed[client - 1] = 0;
            }
            if (ret.before == 0)
                atomic_fetch_add(&s->present, 1); /* before anybody else can take the place, and leave it */
            ret.answered = caucus_coordinator_answered(s->machine, client);
            caucus_coordinator_shown(s->machine, client, &ret.cost_next, &ret.sums_next);
        }
        pthread_mutex_unlock(&having->lock); /* not taken: somebody has come or gone in between */
    }
    if (from != 0)
        caucus_hub_moved(s->relays, from, client, ret.before);
    return ret;
}

void caucus_step_joined(caucus_server *s) {
    if (atomic_load(&s->present) >= atomic_load(&s->start_at))
        caucus_step_look(s);
}

void caucus_step_stop(caucus_server *s) {
    if (s->failure != CAUCUS_OK || atomic_load(&s->ended) || caucus_commit_closed(s))
        return; /* it is asked for again in a second */
    caucus_error error = {0};
    caucus_step_hold_loops(s);
    const caucus_status status = caucus_stop_prepare(s, &error);
    if (status != CAUCUS_OK)
        caucus_step_give_up(s, status, &error);
    else
        commit(s, CAUCUS_COMMIT_STOP, 0);
    caucus_step_release_loops(s);
    step_progress(s);
    caucus_server_wake(s);
}

void caucus_step_look(caucus_server *s) {
    if (s->relay) /* it decides nothing */
        return;
    pthread_mutex_lock(&s->lock);
    step_progress(s);
    pthread_mutex_unlock(&s->lock);
}

void caucus_step_last(caucus_server *s) {
    if (!atomic_load(&s->last_wanted) || s->relay)
        return;
    pthread_mutex_lock(&s->lock);
    if (s->last_ns == 0 && s->failure == CAUCUS_OK && !is_committing(s)) { /* else it is asked for again then */
        uint64_t now = caucus_clock_ns(), wait_ms = s->set.deadline_ms ? s->set.deadline_ms : s->set.linger_ms;
        bool wait = s->begun && !s->finished_ns && !s->overdue && !s->strike_ns && atomic_load(&s->present) > 0;
        s->last_ns = !wait ? now : (s->set.deadline_ms ? s->step_ns : now) + wait_ms * 1000000u;
        set_timer(s);
        if (wait)
            caucus_server_log(s, 1, "stopping when the step in hand is decided, in %.1f seconds at most",
                              s->last_ns > now ? (double)(s->last_ns - now) / 1e9 : 0.0);
        else
            stop_now(s);
    }
    pthread_mutex_unlock(&s->lock);
}

/* Own pace: when what is asked now is decided. */
static int64_t next_strike_ns(const caucus_server *s) {
    return caucus_slot_decides_ns(&s->set.plan->settings, caucus_coordinator_announcement(s->machine)->block,
                                  caucus_slot_now_ns());
}

/* Unit client: who is new does not answer question p any more: it is given up where p + 1, or the run, has ended. */
static bool is_missed(const caucus_server *s) {
    const caucus_settings *plan = &s->set.plan->settings;
    const caucus_announcement *now = caucus_coordinator_announcement(s->machine);
    if (!caucus_pace_by_question(plan) || is_committing(s) || s->held_ns || now->ask == CAUCUS_ASK_NOTHING || !s->begun)
        return false;
    const uint64_t slot = caucus_slot_decided(plan, caucus_slot_now_ns());
    return caucus_pace_over(plan, slot) || caucus_pace_questions_over(plan, slot) > now->block - 1;
}

/* Own pace: the time to decide has come. With too few answers the question stays open until the next one. */
static void strike(caucus_server *s) {
    const uint64_t serial = caucus_coordinator_announcement(s->machine)->serial;
    s->strike_ns = next_strike_ns(s);
    s->overdue = true;
    step_progress(s);
    s->overdue = false;
    if (caucus_coordinator_announcement(s->machine)->serial == serial && s->failure == CAUCUS_OK && is_missed(s)) {
        caucus_server_log(s, 1, "step %" PRIu64 " is passed over: %u answers, %u are needed, and the next is due",
                          serial, atomic_load(&s->answered), quorum(s));
        s->passing = true;
        decide_step(s);
        s->passing = false;
        step_progress(s); /* it may have been the last */
    }
    s->strike_ns = next_strike_ns(s); /* another question may be open */
    set_enough(s);
    set_timer(s);
    if (caucus_coordinator_announcement(s->machine)->serial == serial && s->failure == CAUCUS_OK)
        caucus_server_log(s, 2, "step %" PRIu64 " stays open: %u answers, %u are needed", serial,
                          atomic_load(&s->answered), quorum(s));
}

void caucus_step_clock(caucus_server *s) {
    pthread_mutex_lock(&s->lock);
    uint64_t at = rings_ns(s);
    if (at == 0 || caucus_clock_ns() < at) {
        /* It rang for a step that somebody has decided since; for what is in hand now it will ring again. Or it rang
         * to have the clock that is set looked at. */
        if (s->strike_ns)
            set_timer(s);
    } else if (s->held_ns && at == s->held_ns) {
        caucus_step_hold_loops(s);
        announce(s);
        caucus_step_release_loops(s);
        caucus_server_wake(s);
        if (!stop_after_step(s))
            step_progress(s);
    } else if (s->finished_ns) {
        caucus_step_over(s);
    } else if (s->strike_ns && !s->last_ns) {
        strike(s);
    } else {
        s->overdue = s->set.deadline_ms != 0; /* if it stops here, too: a quorum of answers decides the step first */
        step_progress(s);
        if (s->last_ns && !is_committing(s) && !atomic_load(&s->stopping))
            stop_now(s);
    }
    pthread_mutex_unlock(&s->lock);
}

caucus_status caucus_step_open(caucus_server *s, caucus_error *ret_error) {
    const caucus_server_settings *set = &s->set;
    bool restored = false;
    const caucus_status status = caucus_step_restore(s, &restored, ret_error);
    if (status != CAUCUS_OK)
        return status;
    const caucus_announcement *now = caucus_coordinator_announcement(s->machine);
    if (restored && now->ask != CAUCUS_ASK_NOTHING) /* not before the budget has allowed it */
        caucus_server_log(s, 1, "going on at step %" PRIu64, now->serial);
    /* A seeded run decides when all have answered, so that it can be repeated; others by the clock. */
    if (set->plan->settings.pace == CAUCUS_PACE_OWN && !set->key.seeded)
        s->strike_ns = next_strike_ns(s);
    atomic_store(&s->wipe_due, true); /* whatever a process before this one left */
    caucus_releases_init(&s->releases, s->set.plan, s->ledger, 1);
    atomic_store(&s->term, caucus_store_term(s->store));
    publish(s);
    step_progress(s);
    return CAUCUS_OK;
}

void caucus_step_close(caucus_server *s) {
    caucus_coordinator_free(s->machine);
    caucus_ledger_free(s->ledger);
    caucus_commit_close(s);
    caucus_store_close(s->store);
    caucus_history_free(&s->history);
}
