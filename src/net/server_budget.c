/* SPDX-License-Identifier: Apache-2.0 */
/* server_budget.c: the ledger that several runs on the same data share (--ledger).
 *
 * The state is written first, with the run's tag in its own ledger, and then the run is reserved here; nothing has left
 * by then, and no loop runs. A process that dies in between is found out by the next one, which reads the tag from the
 * state and does not find it in the file. */
#include "net/server_impl.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "plan/ledger.h"
#include "store/ledger_file.h"

caucus_status caucus_budget_label(caucus_server *s, char ret[CAUCUS_RUN_NAME_BYTES], caucus_error *ret_error) {
    caucus_key fresh; /* also in a seeded run: two of them are two */
    caucus_status status = caucus_key_generate(&fresh);
    if (status != CAUCUS_OK)
        return caucus_fail(ret_error, status, "", "%s", caucus_status_text(status));
    char tag[CAUCUS_RUN_TAG_BYTES];
    caucus_run_tag(s->set.plan_hash, fresh.bytes, tag);
    caucus_key_wipe(&fresh);
    return caucus_run_label(s->set.name ? s->set.name : "live", tag, ret, ret_error);
}

/* When it was last changed, to notice that it was. */
static void note_file(caucus_server *s, const struct stat *info) {
    s->shared.changed = info->st_mtim;
    s->shared.size = info->st_size;
}

caucus_status caucus_budget_open(caucus_server *s, const char *label, bool trial, caucus_error *ret_error) {
    const caucus_budget *budget = &s->set.budget;
    if (budget->path == NULL)
        return CAUCUS_OK;
    char words[CAUCUS_RUN_NAME_BYTES]; /* "NAME #TAG": the ledger adds trust and unit by itself */
    char tag[CAUCUS_RUN_TAG_BYTES];
    size_t at;
    if (!caucus_run_tag_of(label, &at, tag))
        return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "state",
                           "%.100s: was begun without a run number, so no ledger can know it again", s->set.state_dir);
    memcpy(words, label, at + CAUCUS_RUN_TAG_BYTES);
    words[at + CAUCUS_RUN_TAG_BYTES] = '\0';
    caucus_status status =
        caucus_budget_reserve(budget, s->set.plan, words, s->set.key.seeded, trial, &s->shared.totals, ret_error);
    struct stat info;
    if (status == CAUCUS_OK && !trial && stat(s->set.state_dir, &info) == 0 && S_ISDIR(info.st_mode))
        status = caucus_budget_note(s->set.state_dir, budget->path, ret_error);
    if (status == CAUCUS_OK && stat(budget->path, &info) == 0)
        note_file(s, &info);
    return status;
}

/* A ledger that is being written to at this moment is read the next time. */
static void read_again(caucus_server *s, const struct stat *info) {
    caucus_ledger *ledger = NULL;
    if (caucus_ledger_file_read(s->set.budget.path, &ledger, NULL) != CAUCUS_OK)
        return;
    pthread_mutex_lock(&s->shared_lock);
    s->shared.totals = caucus_ledger_totals_of(ledger);
    note_file(s, info);
    pthread_mutex_unlock(&s->shared_lock);
    caucus_ledger_free(ledger);
}

void caucus_budget_look(caucus_server *s, caucus_server_status *ret) {
    const caucus_guarantee *g = &s->set.plan->guarantee;
    ret->epsilon_reserved = fmax(g->epsilon_choices, g->epsilon_messages); /* NAN: the other one */
    ret->budget_epsilon = ret->budget_delta = ret->left_epsilon = ret->left_delta = (double)NAN;
    if (s->set.budget.path == NULL)
        return;
    struct stat info;
    pthread_mutex_lock(&s->shared_lock);
    const bool changed = stat(s->set.budget.path, &info) == 0 &&
                         (info.st_size != s->shared.size || info.st_mtim.tv_sec != s->shared.changed.tv_sec ||
                          info.st_mtim.tv_nsec != s->shared.changed.tv_nsec);
    pthread_mutex_unlock(&s->shared_lock);
    if (changed)
        read_again(s, &info);
    pthread_mutex_lock(&s->shared_lock);
    const caucus_ledger_totals *t = &s->shared.totals;
    ret->budget_epsilon = t->budget_epsilon;
    ret->left_epsilon = t->left_epsilon;
    if (isfinite(t->budget_epsilon)) { /* without a limit on epsilon a delta means nothing */
        ret->budget_delta = t->budget_delta;
        ret->left_delta = t->left_delta;
    }
    pthread_mutex_unlock(&s->shared_lock);
}
