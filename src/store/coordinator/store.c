/* SPDX-License-Identifier: Apache-2.0 */
/* store.c: opening a store, and what is read from it. See store.h; committing is in commit.c.
 *
 * Opening goes in this order: look, without changing anything; compare with the plan, the mark, the chain and the seal;
 * and only then raise the term, on the condition that nothing has moved since it was looked at. What is refused is left
 * as it is, and what was read is what the new term stands on. */
#include "store/coordinator/impl.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "algo/wipe.h"
#include "num/fail.h"
#include "num/hand_over.h"
#include "store/atomic_file.h"
#include "store/coordinator/sealed.h"

static caucus_status damaged(const caucus_store *r, const char *how, caucus_error *ret_error) {
    return caucus_fail(ret_error, CAUCUS_E_DAMAGED, "", "%s: damaged (%s) — " CAUCUS_STORE_OVER,
                       caucus_path_tail(r->at->label), how);
}

static caucus_status refuse_plan(const caucus_store *r, const uint8_t *given, caucus_error *ret_error) {
    char old[9], other[9];
    (void)sodium_bin2hex(old, sizeof old, r->now.row.plan, 4);
    (void)sodium_bin2hex(other, sizeof other, given, 4);
    (void)caucus_fail(ret_error, CAUCUS_E_MISMATCH, "",
                      "%s belongs to plan %s… and you gave plan %s…: a run cannot change its plan",
                      caucus_path_tail(r->at->folder), old, other);
    return caucus_fail_hint(ret_error, CAUCUS_E_MISMATCH, "use a new 'state'");
}

/* A private run must not go on with a seed, nor a seeded one as if it were private. */
static caucus_status refuse_seed(const caucus_store *r, bool seeded, caucus_error *ret_error) {
    (void)caucus_fail(ret_error, CAUCUS_E_CONFLICT, "",
                      seeded ? "%s holds a private run and a seed was given"
                             : "%s holds a seeded run, which is not private, and no seed was given",
                      caucus_path_tail(r->at->folder));
    return caucus_fail_hint(ret_error, CAUCUS_E_CONFLICT,
                            seeded ? "leave out 'seed', or use a new 'state'"
                                   : "give its 'seed', or use a new 'state'");
}

/* The chain over the announcements as they are read, and as it was when the mark was made. */
typedef struct follower {
    uint8_t *chain;
    caucus_announcement *last;
    uint64_t count, mark_count;
    uint8_t at_mark[CAUCUS_CHAIN_BYTES];
} follower;

static void follow(void *user, const caucus_announcement *announcement) {
    follower *f = user;
    caucus_chain_add(f->chain, announcement);
    *f->last = *announcement;
    if (++f->count == f->mark_count)
        memcpy(f->at_mark, f->chain, sizeof f->at_mark);
}

static caucus_status refuse_older(const caucus_store *r, uint64_t found, caucus_error *ret_error) {
    return caucus_fail(ret_error, CAUCUS_E_ROLLED_BACK, "",
                       "%s holds %llu announcements and %llu were made: an older copy, or its log is damaged or "
                       "gone — " CAUCUS_STORE_OVER,
                       caucus_path_tail(r->at->label), (unsigned long long)found, (unsigned long long)r->mark.count);
}

/* The store must hold what the mark says was committed, and at most the one commit more whose mark was not made. */
static caucus_status check_announcements(caucus_store *r, caucus_error *ret_error) {
    follower f = {.chain = r->now.chain, .last = &r->now.last, .count = r->now.row.first, .mark_count = r->mark.count};
    if (r->now.row.first > 0)
        memcpy(r->now.chain, r->now.row.past, sizeof r->now.chain);
    else
        caucus_chain_begin(r->now.row.plan, r->now.chain);
    const bool passed = r->mark.keyed && r->mark.count < f.count; /* what the mark speaks of is not kept any more */
    if (r->mark.count == f.count)
        memcpy(f.at_mark, r->now.chain, sizeof f.at_mark);
    caucus_status status = r->backend->announcements(r->at, follow, &f, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (f.count < r->mark.count)
        return refuse_older(r, f.count, ret_error);
    if (f.count != r->now.row.announcements)
        return damaged(r, "parts not of the same commit", ret_error);
    if (!r->mark.keyed && f.count > r->mark.count + 1) /* a key file is behind when others have committed */
        return damaged(r, "not the announcements that were made", ret_error);
    if (!passed && memcmp(f.at_mark, r->mark.chain, sizeof f.at_mark) != 0)
        return damaged(r, "not the announcements that were made", ret_error);
    return CAUCUS_OK;
}

static void hash_state(const caucus_store_state *state, caucus_store_summary *ret) {
    caucus_store_hash(&state->root, ret->root_hash);
    for (uint32_t i = 0; i < state->chunks; i++)
        caucus_store_hash(&state->chunk[i], ret->chunk_hash[i]);
}

/* What came from a store that others can reach. */
static caucus_status unseal(const caucus_store *r, caucus_store_state *state, caucus_error *ret_error) {
    caucus_status status = caucus_unseal_root(&r->mark, &r->now.row, r->now.chain, &state->root);
    for (uint32_t i = 0; status == CAUCUS_OK && i < state->chunks; i++)
        status = caucus_unseal_chunk(&r->mark, i, &state->chunk[i]);
    return status == CAUCUS_OK ? CAUCUS_OK
                               : damaged(r, "it was not sealed with this key file, or altered since", ret_error);
}

/* The state, whole and as it was committed with the last announcement. */
static caucus_status load_sealed(caucus_store *r, caucus_store_state *ret, caucus_error *ret_error) {
    caucus_store_state state = {0};
    caucus_status status = r->backend->load(r->at, r->now.row.chunks, &state, ret_error);
    if (status == CAUCUS_OK && r->mark.keyed)
        status = unseal(r, &state, ret_error);
    if (status != CAUCUS_OK) {
        caucus_store_state_free(&state);
        return status;
    }
    uint8_t seal[CAUCUS_CHAIN_BYTES];
    hash_state(&state, &r->now);
    caucus_store_seal(r, &r->now, seal);
    const bool stopped = caucus_store_last(r) != NULL && caucus_announcement_stops(&r->now.last);
    if (state.root.size == 0 && r->now.row.announcements > 0 && !stopped)
        status = damaged(r, "an empty state", ret_error);
    else if (memcmp(seal, r->now.row.seal, sizeof seal) != 0)
        status = damaged(r, "the state is not the one that was committed", ret_error);
    return CAUCUS_HAND_OVER(status, ret, state, caucus_store_state_free(&state));
}

static caucus_status check_state(caucus_store *r, caucus_error *ret_error) {
    caucus_store_state state = {0};
    caucus_status status = load_sealed(r, &state, ret_error);
    caucus_store_state_free(&state);
    return status;
}

/* In the store's folder, or the key file; fresh: no store is here. */
static caucus_status open_mark(caucus_store *r, const uint8_t plan_hash[32], bool fresh, caucus_error *ret_error) {
    uint8_t none[CAUCUS_CHAIN_BYTES];
    caucus_chain_begin(plan_hash, none);
    return r->backend->remote ? caucus_key_file_open(r->key_file, plan_hash, none, &r->mark, ret_error)
                              : caucus_mark_open(r->at->folder, plan_hash, none, fresh, &r->mark, ret_error);
}

caucus_status caucus_store_check_found(caucus_store *r, const uint8_t plan_hash[32], bool seeded,
                                       caucus_error *ret_error) {
    if (memcmp(r->now.row.plan, plan_hash, 32) != 0)
        return refuse_plan(r, plan_hash, ret_error);
    if (r->now.row.seeded != seeded)
        return refuse_seed(r, seeded, ret_error);
    if (!caucus_store_room(&r->now, r->now.row.chunks) || !caucus_store_room(&r->then, r->now.row.chunks))
        return caucus_fail_memory(ret_error, "");
    caucus_status status = open_mark(r, plan_hash, false, ret_error);
    if (status == CAUCUS_OK)
        status = check_announcements(r, ret_error);
    if (status == CAUCUS_OK)
        status = check_state(r, ret_error);
    return status;
}

/* Nothing is kept here: the mark is made first, so that what was lost is found before anything is written. */
static caucus_status create(caucus_store *r, const uint8_t plan_hash[32], bool seeded, caucus_error *ret_error) {
    caucus_piece none = {0};
    r->now.row = (caucus_store_row){.seeded = seeded, .term = 1};
    memcpy(r->now.row.plan, plan_hash, 32);
    caucus_chain_begin(plan_hash, r->now.chain);
    caucus_store_hash(&none, r->now.root_hash);
    caucus_status status = open_mark(r, plan_hash, true, ret_error);
    if (status == CAUCUS_OK && r->mark.count > 0)
        status =
            caucus_fail(ret_error, CAUCUS_E_ROLLED_BACK, "", "%s: the state that was here is gone — " CAUCUS_STORE_OVER,
                        caucus_path_tail(r->at->label));
    if (status == CAUCUS_OK && r->mark.term >= r->now.row.term) /* nothing was committed, and yet others were here */
        r->now.row.term = r->mark.term + 1;
    if (status == CAUCUS_OK)
        caucus_store_seal(r, &r->now, r->now.row.seal);
    if (status == CAUCUS_OK)
        status = r->backend->create(r->at, &r->now.row, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_store_mark(r, ret_error);
    return status;
}

static caucus_status open_parts(caucus_store *r, const uint8_t *plan_hash, bool seeded, caucus_error *ret_error) {
    bool found = false;
    caucus_status status = r->backend->look(r->at, &found, &r->now.row, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (!found && plan_hash != NULL)
        return create(r, plan_hash, seeded, ret_error);
    if (!found)
        return caucus_fail(ret_error, CAUCUS_E_PATH, "", "%s: no run is kept here", caucus_path_tail(r->at->folder));
    uint8_t own[32];
    memcpy(own, r->now.row.plan, sizeof own);
    status = caucus_store_check_found(r, plan_hash != NULL ? plan_hash : own,
                                      plan_hash != NULL ? seeded : r->now.row.seeded, ret_error);
    if (status == CAUCUS_OK && plan_hash != NULL && r->backend->may_go_on != NULL) /* ending it needs no permission */
        status = r->backend->may_go_on(r->at, r->now.row.announcements, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_store_take(r, ret_error);
    if (status == CAUCUS_OK) /* a crash may have come before it was done; if it cannot be done now, later */
        (void)!r->backend->wipe(r->at, NULL);
    return status;
}

/* plan_hash NULL: whatever plan is found; nothing is made. */
static caucus_status open_any(const caucus_store_where *where, const uint8_t *plan_hash, bool seeded,
                              caucus_store **ret, caucus_error *ret_error) {
    const caucus_store_backend *backend =
        where->backend != NULL ? where->backend : caucus_store_backend_of(where->state, ret_error);
    if (backend == NULL)
        return CAUCUS_E_PATH;
    if (backend->remote != (where->key_file != NULL))
        return caucus_fail_hint(
            ret_error,
            caucus_fail(ret_error, CAUCUS_E_CONFLICT, "state-key",
                        backend->remote ? "is needed: a database keeps the state sealed, and the key file opens it"
                                        : "goes with a state in PostgreSQL; a directory is not sealed"),
            backend->remote ? "caucus store init makes one" : "");
    if (!backend->remote && (where->require_sync || where->promoted != NULL))
        return caucus_fail(ret_error, CAUCUS_E_CONFLICT, where->require_sync ? "require-sync" : "promoted",
                           "goes with a state in PostgreSQL");
    caucus_store *r = calloc(1, sizeof *r);
    if (r == NULL)
        return caucus_fail_memory(ret_error, "");
    r->backend = backend;
    r->key_file = where->key_file;
    r->mark.fd = -1;
    caucus_status status = backend->open(where, &r->at, ret_error);
    if (status == CAUCUS_OK)
        status = open_parts(r, plan_hash, seeded, ret_error);
    r->key_file = NULL; /* the caller's */
    r->open = status == CAUCUS_OK;
    return CAUCUS_HAND_OVER(status, ret, r, caucus_store_close(r));
}

caucus_status caucus_store_open_where(const caucus_store_where *where, const uint8_t plan_hash[32], bool seeded,
                                      caucus_store **ret, caucus_error *ret_error) {
    return open_any(where, plan_hash, seeded, ret, ret_error);
}

caucus_status caucus_store_open_found(const caucus_store_where *where, caucus_store **ret, caucus_error *ret_error) {
    return open_any(where, NULL, false, ret, ret_error);
}

caucus_status caucus_store_open(const char *dir, const uint8_t plan_hash[32], bool seeded, caucus_store **ret,
                                caucus_error *ret_error) {
    const caucus_store_where where = {.state = dir};
    return caucus_store_open_where(&where, plan_hash, seeded, ret, ret_error);
}

void caucus_store_close(caucus_store *r) {
    if (r == NULL)
        return;
    if (r->at != NULL)
        r->backend->close(r->at, r->open && !r->unsure);
    if (r->open && r->mark.fd >= 0)
        (void)!caucus_mark_wipe(&r->mark, NULL); /* or the next commit does */
    caucus_mark_close(&r->mark);
    free(r->now.chunk_hash);
    free(r->then.chunk_hash);
    free(r->changed);
    free(r->seen);
    caucus_piece_free(&r->sealed_root);
    for (uint32_t i = 0; i < r->sealed_chunks; i++)
        caucus_piece_free(&r->sealed_chunk[i]);
    free(r->sealed_chunk);
    free(r);
}

bool caucus_store_exists(const char *state) {
    const caucus_store_backend *backend = caucus_store_backend_of(state, NULL);
    return backend != NULL && backend->exists(state);
}

caucus_status caucus_store_load(caucus_store *r, caucus_store_state *ret, caucus_error *ret_error) {
    return load_sealed(r, ret, ret_error);
}

void caucus_store_state_free(caucus_store_state *state) {
    caucus_piece_free(&state->root);
    for (uint32_t i = 0; state->chunk != NULL && i < state->chunks; i++)
        caucus_piece_free(&state->chunk[i]);
    free(state->chunk);
    *state = (caucus_store_state){0};
}

caucus_status caucus_store_announcements(caucus_store *r, void (*each)(void *user, const caucus_announcement *),
                                         void *user, caucus_error *ret_error) {
    return r->backend->announcements(r->at, each, user, ret_error);
}

caucus_status caucus_store_ledger(caucus_store *r, bool whole, caucus_ledger **ret, caucus_error *ret_error) {
    caucus_ledger *ledger = NULL;
    caucus_status status = r->backend->ledger(r->at, whole, &ledger, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if ((ledger != NULL ? caucus_ledger_count(ledger) : 0) != r->now.row.lines) {
        caucus_ledger_free(ledger);
        return damaged(r, "lines of the ledger are missing", ret_error);
    }
    *ret = ledger;
    return CAUCUS_OK;
}

caucus_status caucus_store_open_ledger(const char *state, caucus_ledger **ret, caucus_error *ret_error) {
    const caucus_store_backend *backend = caucus_store_backend_of(state, ret_error);
    return backend != NULL ? backend->open_ledger(state, ret, ret_error) : CAUCUS_E_PATH;
}

const caucus_announcement *caucus_store_last(const caucus_store *r) {
    return r->now.row.announcements > 0 ? &r->now.last : NULL;
}

uint64_t caucus_store_first(const caucus_store *r) {
    return r->now.row.first;
}

void caucus_store_keep_last(caucus_store *r) {
    r->keep_last = true;
}

bool caucus_store_begun(const caucus_store *r) {
    return r->now.row.begun;
}

uint64_t caucus_store_term(const caucus_store *r) {
    return r->now.row.term;
}

uint64_t caucus_store_commits(const caucus_store *r) {
    return r->commits;
}

uint64_t caucus_store_chunks_written(const caucus_store *r) {
    return r->chunks_written;
}

uint64_t caucus_store_bytes_written(const caucus_store *r) {
    return r->bytes_written;
}
