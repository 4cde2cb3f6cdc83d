/* SPDX-License-Identifier: Apache-2.0 */
/* commit.c: one decision in, whole; and what becomes of one whose outcome is not known.
 *
 * State, announcement and ledger lines are one change of the backend's: after a crash either all of them are there or
 * none is, so a coordinator that starts again repeats what it decided and draws no noise twice (docs/PRIVACY.md, "Keys
 * and epochs"). Then the mark is written, and only then may the announcement leave.
 *
 * Every change is prepared in `then`, a summary of what the store will be, and becomes `now` when it is durable. If
 * that is not known, `then` stays what may have happened. Settling raises the term: a change that is still on its way
 * somewhere carries the old one and can no longer be made, so what is read after that is the truth. It is one of the
 * two, or somebody else was here. */
#include "store/coordinator/impl.h"

#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "num/fail.h"
#include "store/atomic_file.h"
#include "store/coordinator/sealed.h"

_Noreturn void caucus_store_die(void) {
    (void)kill(getpid(), SIGKILL); /* no handler, no buffer written out, nothing closed */
    for (;;)
        (void)pause();
}

void caucus_store_fault(caucus_store *r, uint64_t n, bool after) {
    r->fault_at = n;
    r->fault_after = after;
}

bool caucus_store_room(caucus_store_summary *summary, uint32_t chunks) {
    if (chunks <= summary->room)
        return true;
    void *grown = realloc(summary->chunk_hash, chunks * sizeof *summary->chunk_hash);
    if (grown == NULL)
        return false;
    summary->chunk_hash = grown;
    summary->room = chunks;
    return true;
}

void caucus_store_hash(const caucus_piece *piece, uint8_t ret[CAUCUS_CHAIN_BYTES]) {
    (void)crypto_hash_sha256(ret, piece->bytes, piece->size);
}

void caucus_store_seal(const caucus_store *r, const caucus_store_summary *summary, uint8_t ret[CAUCUS_CHAIN_BYTES]) {
    caucus_chain_seal(summary->chain, &summary->row, summary->root_hash,
                      (const uint8_t(*)[CAUCUS_CHAIN_BYTES])summary->chunk_hash, ret);
    if (r->mark.keyed)
        caucus_seal_row(&r->mark, &summary->row, ret);
}

caucus_status caucus_store_mark(caucus_store *r, caucus_error *ret_error) {
    return caucus_mark_write(&r->mark, r->now.row.announcements, r->now.row.term, r->now.chain, ret_error);
}

/* `then` as `now` is: the beginning of every change. */
static void prepare(caucus_store *r) {
    uint8_t(*hashes)[CAUCUS_CHAIN_BYTES] = r->then.chunk_hash;
    const uint32_t room = r->then.room;
    r->then = r->now;
    r->then.chunk_hash = hashes;
    r->then.room = room;
    assert(room >= r->now.row.chunks);
    if (r->now.row.chunks > 0)
        memcpy(hashes, r->now.chunk_hash, r->now.row.chunks * sizeof *hashes);
}

/* It is durable. */
static void adopt(caucus_store *r) {
    caucus_store_summary before = r->now;
    r->now = r->then;
    r->then = before;
    r->unsure = false;
}

/* Make the change from `now` to `then`. */
static caucus_status make(caucus_store *r, caucus_store_change *change, caucus_error *ret_error) {
    caucus_store_seal(r, &r->then, r->then.row.seal);
    change->term = r->now.row.term;
    change->announcements = r->now.row.announcements;
    change->row = r->then.row;
    caucus_status status = r->backend->change(r->at, change, ret_error);
    if (status == CAUCUS_OK)
        adopt(r);
    r->unsure = status == CAUCUS_E_UNKNOWN;
    return status;
}

caucus_status caucus_store_refuse_fenced(const caucus_store *r, caucus_error *ret_error) {
    return caucus_fail(ret_error, CAUCUS_E_FENCED, "", "%s: another coordinator has taken this run over",
                       caucus_path_tail(r->at->folder));
}

/* A change that counts as a commit of this process. */
static caucus_status make_commit(caucus_store *r, caucus_store_change *change, caucus_error *ret_error) {
    const bool fault = r->fault_at != 0 && r->commits + 1 == r->fault_at;
    change->die_before = fault && !r->fault_after;
    change->die_after = fault && r->fault_after;
    caucus_status status = make(r, change, ret_error);
    r->commits += status == CAUCUS_OK;
    return status == CAUCUS_E_FENCED ? caucus_store_refuse_fenced(r, ret_error) : status;
}

static caucus_status refuse_unsettled(caucus_error *ret_error) {
    return caucus_fail(ret_error, CAUCUS_E_ORDER, "", "what became of the last commit is not known yet");
}

/* Room for what was seen of so many chunks; false without memory. */
static bool seen_room(caucus_store *r, uint32_t chunks) {
    if (chunks <= r->seen_room)
        return true;
    struct caucus_seen *grown = realloc(r->seen, chunks * sizeof *grown);
    if (grown == NULL)
        return false;
    memset(grown + r->seen_room, 0, (chunks - r->seen_room) * sizeof *grown);
    r->seen = grown;
    r->seen_room = chunks;
    return true;
}

/* A chunk's hash. One with the stamp that it had last time has the same bytes: it is not read. */
static void hash_chunk(struct caucus_seen *seen, const caucus_piece *chunk, uint8_t ret[CAUCUS_CHAIN_BYTES]) {
    if (chunk->stamp == 0 || chunk->stamp != seen->stamp)
        caucus_store_hash(chunk, seen->hash);
    seen->stamp = chunk->stamp;
    memcpy(ret, seen->hash, CAUCUS_CHAIN_BYTES);
}

/* Hashes of the chunks, and which of them have changed. */
static caucus_status compare_chunks(caucus_store *r, const caucus_piece *chunk, uint32_t chunks,
                                    caucus_error *ret_error) {
    const bool first = r->now.row.announcements == 0;
    if (!first && chunks != r->now.row.chunks)
        return caucus_fail(ret_error, CAUCUS_E_ORDER, "state", "%u chunks, %u were committed before", chunks,
                           r->now.row.chunks);
    bool *changed = realloc(r->changed, chunks * sizeof *changed + 1);
    if (changed != NULL)
        r->changed = changed;
    if (changed == NULL || !seen_room(r, chunks) || !caucus_store_room(&r->now, chunks) ||
        !caucus_store_room(&r->then, chunks))
        return caucus_fail_memory(ret_error, "");
    r->chunks_changing = r->bytes_changing = 0;
    for (uint32_t i = 0; i < chunks; i++) {
        hash_chunk(&r->seen[i], &chunk[i], r->then.chunk_hash[i]);
        changed[i] = first || memcmp(r->then.chunk_hash[i], r->now.chunk_hash[i], CAUCUS_CHAIN_BYTES) != 0;
        r->chunks_changing += changed[i];
        r->bytes_changing += changed[i] ? chunk[i].size : 0;
    }
    return CAUCUS_OK;
}

/* A store that others can reach gets the state sealed: the root, and the chunks that have changed. */
static caucus_status seal_change(caucus_store *r, caucus_store_change *change, caucus_error *ret_error) {
    const uint32_t chunks = r->then.row.chunks;
    if (chunks > r->sealed_chunks) {
        caucus_piece *grown = realloc(r->sealed_chunk, chunks * sizeof *grown);
        if (grown == NULL)
            return caucus_fail_memory(ret_error, "");
        memset(grown + r->sealed_chunks, 0, (chunks - r->sealed_chunks) * sizeof *grown);
        r->sealed_chunk = grown;
        r->sealed_chunks = chunks;
    }
    bool good = caucus_seal_root(&r->mark, &r->then.row, r->then.chain, change->root, &r->sealed_root);
    for (uint32_t i = 0; good && i < chunks; i++)
        if (change->changed[i])
            good = caucus_seal_chunk(&r->mark, i, &change->chunk[i], &r->sealed_chunk[i]);
    change->root = &r->sealed_root;
    change->chunk = r->sealed_chunk;
    return good ? CAUCUS_OK : caucus_fail_memory(ret_error, "");
}

caucus_status caucus_store_commit(caucus_store *r, const caucus_piece *root, const caucus_piece *chunk, uint32_t chunks,
                                  const caucus_announcement *announcement, const char *const *ledger_line,
                                  size_t ledger_lines, caucus_error *ret_error) {
    const uint64_t next = r->now.row.announcements;
    assert(announcement->listed <= CAUCUS_SHORTLIST);
    if (r->unsure)
        return refuse_unsettled(ret_error);
    if (announcement->serial + 1 == next && r->mark.count == announcement->serial)
        return caucus_store_mark(r, ret_error); /* tried again: the mark was missing */
    if (announcement->serial != next)
        return caucus_fail(ret_error, CAUCUS_E_ORDER, "serial", "%" PRIu64 ": the next commit is announcement %" PRIu64,
                           announcement->serial, next);
    prepare(r);
    caucus_status status = compare_chunks(r, chunk, chunks, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (r->keep_last) {
        r->then.row.first = announcement->serial;
        memcpy(r->then.row.past, r->now.chain, sizeof r->then.row.past);
    }
    r->then.row.announcements++;
    r->then.row.lines += ledger_lines;
    r->then.row.chunks = chunks;
    if (r->mark.keyed && ledger_lines > 0) {
        const char *last = ledger_line[ledger_lines - 1];
        (void)crypto_hash_sha256(r->then.row.last_line, (const uint8_t *)last, strlen(last));
    }
    caucus_chain_add(r->then.chain, announcement);
    r->then.last = *announcement;
    caucus_store_hash(root, r->then.root_hash);
    caucus_store_change change = {.root = root,
                                  .chunk = chunk,
                                  .changed = r->changed,
                                  .announcement = announcement,
                                  .line = ledger_line,
                                  .lines = ledger_lines};
    if (r->mark.keyed)
        status = seal_change(r, &change, ret_error);
    if (status == CAUCUS_OK)
        status = make_commit(r, &change, ret_error);
    if (status != CAUCUS_OK)
        return status;
    r->chunks_written += r->chunks_changing;
    r->bytes_written += root->size + r->bytes_changing;
    /* If this fails nothing may leave; the next opening finds the store one commit ahead of the mark, and goes on. */
    return caucus_store_mark(r, ret_error);
}

caucus_status caucus_store_begin(caucus_store *r, caucus_error *ret_error) {
    if (r->unsure)
        return refuse_unsettled(ret_error);
    if (r->now.row.begun)
        return CAUCUS_OK;
    prepare(r);
    r->then.row.begun = true;
    caucus_store_change change = {0};
    return make_commit(r, &change, ret_error);
}

caucus_status caucus_store_take(caucus_store *r, caucus_error *ret_error) {
    prepare(r);
    /* Above the mark's, too: whoever puts back a copy without the last starts must not begin a term twice. */
    r->then.row.term = (r->mark.term > r->now.row.term ? r->mark.term : r->now.row.term) + 1;
    caucus_store_change change = {0};
    caucus_status status = make(r, &change, ret_error);
    if (status == CAUCUS_E_FENCED)
        return caucus_fail(ret_error, CAUCUS_E_BUSY, "", "%s: another coordinator has just taken it",
                           caucus_path_tail(r->at->folder));
    return status == CAUCUS_OK ? caucus_store_mark(r, ret_error) : status;
}

/* Is what was found this summary, of that term? The seal covers everything in it. */
static bool is_found(const caucus_store *r, const caucus_store_summary *summary, const caucus_store_row *found) {
    caucus_store_summary as = *summary;
    uint8_t seal[CAUCUS_CHAIN_BYTES];
    as.row.term = found->term;
    caucus_store_seal(r, &as, seal);
    return memcmp(found->seal, seal, sizeof seal) == 0;
}

/* Look, and raise the term over what is found. Returns CAUCUS_E_LATER if it moved in between. */
static caucus_status settle_once(caucus_store *r, bool *ret_done, caucus_error *ret_error) {
    caucus_store_row found;
    bool any = false;
    caucus_status status = r->backend->look(r->at, &any, &found, ret_error);
    if (status != CAUCUS_OK)
        return status;
    const bool ours = any && found.term >= r->now.row.term && found.term <= r->now.row.term + r->raises;
    const bool done = ours && is_found(r, &r->then, &found);
    if (!done && !(ours && is_found(r, &r->now, &found)))
        return caucus_store_refuse_fenced(r, ret_error);
    caucus_store_summary next = done ? r->then : r->now;
    next.row.term = found.term + 1;
    caucus_store_seal(r, &next, next.row.seal);
    const caucus_store_change change = {.term = found.term, .announcements = found.announcements, .row = next.row};
    status = r->backend->change(r->at, &change, ret_error);
    r->raises += status == CAUCUS_E_UNKNOWN;
    if (status != CAUCUS_OK)
        return status == CAUCUS_E_FENCED ? CAUCUS_E_LATER : status; /* somebody else's change came in between */
    if (done)
        adopt(r);
    r->now.row = next.row;
    r->unsure = false;
    r->raises = 0;
    r->commits += done;
    *ret_done = done;
    return caucus_store_mark(r, ret_error);
}

caucus_status caucus_store_settle(caucus_store *r, bool *ret_done, caucus_error *ret_error) {
    if (!r->unsure)
        return caucus_fail(ret_error, CAUCUS_E_ORDER, "", "nothing is unknown");
    caucus_status status = r->backend->settle(r->at, ret_error);
    if (status != CAUCUS_OK)
        return status;
    status = CAUCUS_E_LATER;
    for (int i = 0; status == CAUCUS_E_LATER && i < 3; i++) /* it may arrive in between, once */
        status = settle_once(r, ret_done, ret_error);
    return status == CAUCUS_E_LATER ? caucus_store_refuse_fenced(r, ret_error) : status;
}

caucus_status caucus_store_wipe(caucus_store *r, caucus_error *ret_error) {
    caucus_status status = r->backend->wipe(r->at, ret_error);
    return status == CAUCUS_OK ? caucus_mark_wipe(&r->mark, ret_error) : status;
}
