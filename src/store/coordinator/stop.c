/* SPDX-License-Identifier: Apache-2.0 */
/* stop.c: a run that is ended for good, by its coordinator or without one.
 *
 * The end is a commit like any other: an announcement with the next serial that ends the run, in the chain and in the
 * mark. In place of the state go four public numbers (caucus_coordinator_tally): no sum, no threshold and no key is
 * needed any more, so they are not kept, and who ends a run needs no plan to read them. What opens the store finds the
 * announcement and knows.
 *
 * A coordinator that is running has the store. It is asked by a request beside it (an empty file DIR/stop, a word in
 * the database), which it looks for about once a second and which stays until the end is committed: if it crashes
 * first, whoever opens the store next finds the request. */
#include "store/coordinator/impl.h"

#include <stdlib.h>

#include "store/atomic_file.h"

caucus_status caucus_store_stop(caucus_store *r, const caucus_announcement *last, const caucus_coordinator_tally *tally,
                                caucus_error *ret_error) {
    uint8_t none = 0; /* bytes of length 0 are at an address */
    const caucus_piece empty = {.bytes = &none};
    const uint32_t chunks = r->now.row.chunks;
    caucus_piece *chunk = calloc((size_t)chunks + 1, sizeof *chunk), root = {0};
    caucus_status status = chunk != NULL ? caucus_coordinator_tally_save(tally, &root) : CAUCUS_E_MEMORY;
    for (uint32_t i = 0; status == CAUCUS_OK && i < chunks; i++)
        chunk[i] = empty;
    if (status == CAUCUS_OK)
        status = caucus_store_commit(r, &root, chunk, chunks, last, NULL, 0, ret_error);
    else
        (void)caucus_fail(ret_error, status, "", "%s", caucus_status_text(status));
    caucus_piece_free(&root);
    free(chunk);
    return status;
}

caucus_status caucus_store_request_stop(const char *state, caucus_error *ret_error) {
    const caucus_store_backend *backend = caucus_store_backend_of(state, ret_error);
    return backend != NULL ? backend->request_stop(state, ret_error) : CAUCUS_E_PATH;
}

bool caucus_store_stop_requested(const caucus_store *r) {
    return r->backend->stop_requested(r->at);
}

bool caucus_store_taken_over(const caucus_store *r) {
    return r->backend->taken_over != NULL && r->backend->taken_over(r->at);
}

void caucus_store_stop_heard(caucus_store *r) {
    r->backend->stop_heard(r->at);
}

/* The last announcement of a run that goes on, made the last of all. */
static caucus_announcement make_last(const caucus_store *r) {
    const caucus_announcement *before = caucus_store_last(r);
    caucus_announcement last = {.ask = CAUCUS_ASK_NOTHING, .leaf = CAUCUS_LEAF_STOPPED};
    if (before != NULL) {
        last.serial = before->serial + 1;
        last.expert = before->expert;
        last.epoch = before->epoch;
        last.block = before->block;
    }
    return last;
}

static caucus_status commit_end(caucus_store *r, const caucus_announcement *last, caucus_error *ret_error) {
    bool done = false;
    caucus_store_state state = {0};
    caucus_coordinator_tally tally = {0};
    caucus_status status = caucus_store_load(r, &state, ret_error);
    /* The end matters more than its figures: a root that cannot be read is replaced all the same. */
    if (status == CAUCUS_OK && caucus_coordinator_tally_read(&state.root, last, &tally) != CAUCUS_OK)
        tally = (caucus_coordinator_tally){.since_serial = last->serial, .since_block = last->block};
    caucus_store_state_free(&state);
    if (status == CAUCUS_OK)
        status = caucus_store_stop(r, last, &tally, ret_error);
    if (status != CAUCUS_E_UNKNOWN)
        return status;
    status = caucus_store_settle(r, &done, ret_error);
    if (status == CAUCUS_OK && !done)
        status = caucus_store_stop(r, last, &tally, ret_error);
    return status;
}

caucus_status caucus_store_end(const caucus_store_where *where, caucus_announcement *ret_last, bool *ret_before,
                               caucus_error *ret_error) {
    if (!caucus_store_is_remote(where->state) && !caucus_store_exists(where->state)) /* opening would make it */
        return caucus_fail(ret_error, CAUCUS_E_PATH, "", "%s: no run is kept here", caucus_path_tail(where->state));
    caucus_store *r = NULL;
    caucus_status status = caucus_store_open_found(where, &r, ret_error);
    if (status != CAUCUS_OK)
        return status;
    const caucus_announcement *before = caucus_store_last(r);
    *ret_before = before != NULL && caucus_announcement_stops(before);
    const caucus_announcement last = *ret_before ? *before : make_last(r);
    if (r->now.row.first > 0)
        caucus_store_keep_last(r); /* as it was kept so far */
    if (!*ret_before)
        status = commit_end(r, &last, ret_error);
    if (status == CAUCUS_OK) {
        (void)!caucus_store_wipe(r, NULL); /* closing does the same */
        caucus_store_stop_heard(r);
        *ret_last = last;
    }
    caucus_store_close(r);
    return status;
}

caucus_status caucus_store_peek(const char *state, caucus_store_glance *ret, caucus_error *ret_error) {
    const caucus_store_backend *backend = caucus_store_backend_of(state, ret_error);
    caucus_store_glance glance = {0};
    const caucus_status status = backend != NULL ? backend->peek(state, &glance, ret_error) : CAUCUS_E_PATH;
    if (status == CAUCUS_OK)
        *ret = glance;
    return status;
}
