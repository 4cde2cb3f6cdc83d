/* SPDX-License-Identifier: Apache-2.0 */
/* server_commit.c: a decision into the store, and nothing before it is known to be there.
 *
 * A commit is done, or it is not, or nobody can tell (store/coordinator/store.h). In the last case nothing is
 * announced: the store is asked what became of it, and only if it is certain that it is not there the same bytes are
 * committed again. The machine is not thrown away: it has drawn its noise, and nobody has heard of it. */
#include <stdlib.h>

#include "net/server_impl.h"
#include "num/error_line.h"
#include "plan/ledger.h"
#include "store/clock.h"

#define COMMIT_TRIES 3

/* Whether the last commit was made is not known: nothing leaves until it is. Found out here and now, or not at all by
 * this process: the next one opens the store and finds out. */
static caucus_status settle(caucus_server *s, const caucus_error *why, bool *ret_done) {
    char line[CAUCUS_ERROR_LINE_BYTES];
    caucus_error error = {0};
    caucus_error_line(why, CAUCUS_E_UNKNOWN, line);
    caucus_server_log(s, 0, "whether the last decision is on disk is not known (%s): nothing is announced until it is",
                      line);
    s->unknown_outcomes++;
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

/* The same, and how long it took. */
static caucus_status commit_known(caucus_server *s, caucus_status (*what)(caucus_server *, void *, caucus_error *),
                                  void *user, caucus_error *ret_error) {
    const uint64_t before = caucus_clock_ns();
    caucus_status status = try_commit(s, what, user, ret_error);
    s->commit_ns += caucus_clock_ns() - before;
    return status;
}

typedef struct ledger_lines {
    const char **line;
    size_t count;
} ledger_lines;

static caucus_status commit_machine(caucus_server *s, void *user, caucus_error *ret_error) {
    const ledger_lines *lines = user;
    return caucus_store_commit(s->store, &s->root, s->chunk, s->chunks, caucus_coordinator_announcement(s->machine),
                               lines->line, lines->count, ret_error);
}

static caucus_status commit_start(caucus_server *s, void *user, caucus_error *ret_error) {
    (void)user;
    return caucus_store_begin(s->store, ret_error);
}

static caucus_status commit_stop(caucus_server *s, void *user, caucus_error *ret_error) {
    (void)user;
    return caucus_store_stop(s->store, caucus_coordinator_announcement(s->machine), ret_error);
}

/* Commit the machine as it is, its announcement, and the ledger's lines from `first_line` on. */
caucus_status caucus_step_commit(caucus_server *s, size_t first_line, caucus_error *ret_error) {
    const size_t count = caucus_ledger_count(s->ledger) - first_line;
    char(*text)[CAUCUS_LEDGER_LINE_BYTES] = calloc(count + 1, sizeof *text);
    ledger_lines lines = {.line = calloc(count + 1, sizeof *lines.line), .count = count};
    const uint32_t machine = caucus_coordinator_chunks(s->set.plan);
    if (s->chunk == NULL) {
        s->chunks = machine + s->waits.kept + s->waits.kept_serials;
        s->chunk = calloc(s->chunks, sizeof *s->chunk);
    }
    caucus_status status = text && lines.line && s->chunk ? CAUCUS_OK : CAUCUS_E_MEMORY;
    if (status == CAUCUS_OK)
        status = caucus_coordinator_save_parts(s->machine, &s->root, s->chunk);
    if (status == CAUCUS_OK && !caucus_waits_save(s, s->chunk + machine))
        status = CAUCUS_E_MEMORY;
    for (size_t i = 0; status == CAUCUS_OK && i < count; i++) {
        status = caucus_ledger_line(s->ledger, first_line + i, text[i], sizeof text[i]);
        lines.line[i] = text[i];
    }
    if (status != CAUCUS_OK)
        caucus_fail(ret_error, status, "state", "%s", caucus_status_text(status));
    else
        status = commit_known(s, commit_machine, &lines, ret_error);
    if (status == CAUCUS_OK)
        caucus_ledger_drop_releases(s->ledger); /* the store has them */
    free(text);
    free(lines.line);
    return status;
}

caucus_status caucus_step_commit_stop(caucus_server *s, caucus_error *ret_error) {
    return commit_known(s, commit_stop, NULL, ret_error);
}

caucus_status caucus_step_commit_start(caucus_server *s, caucus_error *ret_error) {
    return commit_known(s, commit_start, NULL, ret_error);
}

void caucus_step_commit_free(caucus_server *s) {
    caucus_piece_free(&s->root);
    for (uint32_t i = 0; s->chunk != NULL && i < s->chunks; i++)
        caucus_piece_free(&s->chunk[i]);
    free(s->chunk);
}
