/* SPDX-License-Identifier: Apache-2.0 */
/* server_commit.c: a decision into the store, and nothing before it is known to be there.
 *
 * A commit is done, or it is not, or nobody can tell (store/coordinator/store.h). In the last case nothing is
 * announced: the store is asked what became of it, and only if it is certain that it is not there the same bytes are
 * committed again. The machine is not thrown away: it has drawn its noise, and nobody has heard of it.
 *
 * A commit can take long (a disk that is full of other work, a database whose standby does not answer), and nobody who
 * only wants to look or to join has to wait for it: a thread of its own commits, and no lock is held meanwhile. What is
 * committed is copied out of the machine first. From then on the machine holds a verdict that is not in the store, so
 * until the commit is over nothing is counted (the answer to a report, and what a client is told has been counted of
 * it, would tell the verdict), nothing else is decided, and nobody else touches the store. With ticks (--tick) the
 * first two are so until the verdict is announced. */
#include <stdlib.h>

#include "net/server_impl.h"
#include "num/error_line.h"
#include "num/fail.h"
#include "plan/ledger.h"
#include "store/clock.h"
#include "store/timed_wait.h"

#define COMMIT_TRIES 3
#define SOON_NS 100000000u /* so long a loop waits for a commit before it goes on with other things */

/* Whether the last commit was made is not known: nothing leaves until it is. Found out here and now, or not at all by
 * this process: the next one opens the store and finds out. */
static caucus_status settle(caucus_server *s, const caucus_error *why, bool *ret_done) {
    char line[CAUCUS_ERROR_LINE_BYTES];
    caucus_error error = {0};
    caucus_error_line(why, CAUCUS_E_UNKNOWN, line);
    caucus_server_log(s, 0, "whether the last decision is on disk is not known (%s): nothing is announced until it is",
                      line);
    atomic_fetch_add(&s->unknown_outcomes, 1);
    caucus_status status = caucus_store_settle(s->store, ret_done, &error);
    if (status == CAUCUS_OK)
        caucus_server_log(s, 0, *ret_done ? "it is on disk" : "it is not on disk, and is written again");
    return status;
}

/* Commit `what`, settling an unknown outcome. The same bytes are committed again if they are not there: the verdict and
 * its noise stay what they were. `what` returns as caucus_store_commit(). */
static caucus_status try_commit(caucus_server *s, caucus_status (*what)(caucus_server *, void *, caucus_error *),
                                void *user, caucus_error *ret_error) {
    caucus_status status = CAUCUS_E_UNKNOWN;
    for (int tries = 0; status == CAUCUS_E_UNKNOWN && tries < COMMIT_TRIES; tries++) {
        bool done = false;
        status = what(s, user, ret_error);
        if (status != CAUCUS_E_UNKNOWN)
            break;
        caucus_status settled = settle(s, ret_error, &done);
        if (settled == CAUCUS_E_FENCED)
            return caucus_fail(ret_error, settled, "state", "%.100s: another coordinator has taken this run over",
                               s->set.state_dir);
        if (settled != CAUCUS_OK) /* what was wrong with the commit says more */
            return CAUCUS_E_UNKNOWN;
        if (done)
            status = CAUCUS_OK;
    }
    return status;
}

static caucus_status commit_machine(caucus_server *s, void *user, caucus_error *ret_error) {
    const caucus_commit *c = user;
    return caucus_store_commit(s->store, &s->root, s->chunk, s->chunks, &c->announcement, c->line, c->lines, ret_error);
}

static caucus_status commit_start(caucus_server *s, void *user, caucus_error *ret_error) {
    (void)user;
    return caucus_store_begin(s->store, ret_error);
}

static caucus_status commit_stop(caucus_server *s, void *user, caucus_error *ret_error) {
    const caucus_commit *c = user;
    return caucus_store_stop(s->store, &c->announcement, &c->tally, ret_error);
}

static void forget_lines(caucus_commit *c) {
    free(c->text);
    free(c->line);
    c->text = NULL;
    c->line = NULL;
    c->lines = 0;
}

/* All locks are held: copy what is to be committed out of the machine, and the ledger's lines from `first_line` on. */
static caucus_status copy_machine(caucus_server *s, size_t first_line) {
    caucus_commit *c = &s->commit;
    const size_t count = caucus_ledger_count(s->ledger) - first_line;
    c->text = calloc(count + 1, sizeof *c->text);
    c->line = calloc(count + 1, sizeof *c->line);
    c->lines = count;
    const uint32_t machine = caucus_coordinator_chunks(s->set.plan);
    if (s->chunk == NULL) {
        s->chunks = machine + s->waits.kept + s->waits.kept_serials;
        s->chunk = calloc(s->chunks, sizeof *s->chunk);
    }
    caucus_status status = c->text && c->line && s->chunk ? CAUCUS_OK : CAUCUS_E_MEMORY;
    if (status == CAUCUS_OK)
        status = caucus_coordinator_save_parts(s->machine, &s->root, s->chunk);
    if (status == CAUCUS_OK && !caucus_waits_save(s, s->chunk + machine))
        status = CAUCUS_E_MEMORY;
    for (size_t i = 0; status == CAUCUS_OK && i < count; i++) {
        status = caucus_ledger_line(s->ledger, first_line + i, c->text[i], sizeof c->text[i]);
        c->line[i] = c->text[i];
    }
    return status;
}

/* Without a lock, or with nobody else there. */
static void run(caucus_server *s) {
    static caucus_status (*const what[])(caucus_server *, void *, caucus_error *) = {
        [CAUCUS_COMMIT_DECISION] = commit_machine,
        [CAUCUS_COMMIT_START] = commit_start,
        [CAUCUS_COMMIT_STOP] = commit_stop,
    };
    caucus_commit *c = &s->commit;
    c->error = (caucus_error){0};
    c->status = try_commit(s, what[c->what], c, &c->error);
}

caucus_status caucus_commit_begin(caucus_server *s, caucus_commit_what what, size_t first_line,
                                  caucus_error *ret_error) {
    caucus_commit *c = &s->commit;
    const caucus_status status = what == CAUCUS_COMMIT_DECISION ? copy_machine(s, first_line) : CAUCUS_OK;
    if (status != CAUCUS_OK) {
        forget_lines(c);
        return caucus_fail(ret_error, status, "state", "%s", caucus_status_text(status));
    }
    c->announcement = *caucus_coordinator_announcement(s->machine);
    c->tally = caucus_coordinator_tally_of(s->machine);
    c->since_ns = caucus_clock_ns();
    s->shown.commits = caucus_store_commits(s->store); /* what a page shows meanwhile */
    s->shown.commit_ns = s->commit_ns;
    c->what = what;
    atomic_store(&c->since_shown_ns, c->since_ns);
    if (c->running)
        pthread_cond_signal(&c->wake);
    else
        run(s);
    return CAUCUS_OK;
}

caucus_status caucus_commit_over(caucus_server *s, caucus_error *ret_error) {
    caucus_commit *c = &s->commit;
    s->commit_ns += caucus_clock_ns() - c->since_ns;
    atomic_store(&s->term, caucus_store_term(s->store));
    if (c->status == CAUCUS_OK && c->what == CAUCUS_COMMIT_DECISION)
        caucus_ledger_drop_releases(s->ledger); /* the store has them */
    if (c->status == CAUCUS_OK && c->what == CAUCUS_COMMIT_STOP)
        caucus_store_stop_heard(s->store);
    forget_lines(c);
    c->what = CAUCUS_COMMIT_NONE;
    atomic_store(&c->since_shown_ns, 0);
    pthread_cond_broadcast(&c->over);
    if (c->status != CAUCUS_OK && ret_error)
        *ret_error = c->error;
    return c->status;
}

void caucus_commit_hold(caucus_server *s, uint64_t until_ns) {
    s->held_ns = until_ns;
    atomic_store(&s->commit.held, until_ns != 0);
    pthread_cond_broadcast(&s->commit.over);
}

bool caucus_commit_await(caucus_server *s) {
    caucus_commit *c = &s->commit;
    pthread_mutex_lock(&s->lock);
    while (caucus_commit_closed(s) && caucus_clock_ns() < c->since_ns + SOON_NS)
        (void)caucus_timed_wait(&c->over, &s->lock, c->since_ns + SOON_NS);
    const bool open = !caucus_commit_closed(s);
    pthread_mutex_unlock(&s->lock);
    return open;
}

bool caucus_commit_is_long(const caucus_server *s) {
    const uint64_t since = atomic_load(&s->commit.since_shown_ns);
    return atomic_load(&s->commit.held) || (since != 0 && caucus_clock_ns() >= since + SOON_NS);
}

static void *keep_committing(void *user) {
    caucus_server *s = user;
    caucus_commit *c = &s->commit;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (c->what == CAUCUS_COMMIT_NONE && !c->ending)
            pthread_cond_wait(&c->wake, &s->lock);
        if (c->what == CAUCUS_COMMIT_NONE)
            break;
        pthread_mutex_unlock(&s->lock);
        run(s);
        pthread_mutex_lock(&s->lock);
        caucus_step_committed(s);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

void caucus_commit_open(caucus_server *s) {
    pthread_cond_init(&s->commit.wake, NULL);
    caucus_timed_init(&s->commit.over);
}

caucus_status caucus_commit_run(caucus_server *s, caucus_error *ret_error) {
    const int failed = pthread_create(&s->commit.thread, NULL, keep_committing, s);
    s->commit.running = failed == 0;
    return failed == 0 ? CAUCUS_OK
                       : caucus_fail_os(ret_error, CAUCUS_E_MEMORY, failed, "state", "cannot start a thread");
}

void caucus_commit_end(caucus_server *s) {
    caucus_commit *c = &s->commit;
    if (!c->running)
        return;
    pthread_mutex_lock(&s->lock);
    c->ending = true;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(c->thread, NULL);
    c->running = false;
}

void caucus_commit_close(caucus_server *s) {
    forget_lines(&s->commit);
    caucus_piece_free(&s->root);
    for (uint32_t i = 0; s->chunk != NULL && i < s->chunks; i++)
        caucus_piece_free(&s->chunk[i]);
    free(s->chunk);
    pthread_cond_destroy(&s->commit.wake);
    pthread_cond_destroy(&s->commit.over);
}
