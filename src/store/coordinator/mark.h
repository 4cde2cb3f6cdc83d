/* SPDX-License-Identifier: Apache-2.0 */
/* mark.h: how far a coordinator has committed, kept outside its store.
 * layer: store
 *
 * One flipped bit in SQLite's log, or a log that is gone, silently takes a database back to an earlier commit, and so
 * does a copy of it that somebody puts back. DIR/mark holds what such an accident does not reach: the number of
 * announcements that are committed, the hash chain over them (chain.h), and the term. It is written and synced after
 * each commit and before anything that depends on it leaves, so a database that is behind the mark was rolled back, and
 * one that is one commit ahead was interrupted between the two. Anything else is damage. The term is kept so that none
 * begins twice, also if a copy from before the last start is put back.
 *
 * The file has two places of 256 bytes, written in turn: a write that is torn leaves the other place, which is one
 * commit older. A place holds, integers with the least significant byte first:
 *   0   8  "CAUCmark"
 *   8   4  format, 2 (1 had no term)
 *   12  4  0
 *   16  32 hash of the plan
 *   48  8  announcements committed
 *   56  32 chain over them
 *   88  8  term
 *   96  32 SHA-256 of bytes 0 to 95
 *
 * A store that several machines can reach (PostgreSQL) has no folder: its mark is in a file of each coordinator's own,
 * the key file (--state-key), which also holds the keys that the state is sealed with (sealed.h). Format 3:
 *   96  32 key of the state with so many announcements; the next one's is a hash of it, so none leads back
 *   128 32 key of what stays: seals and chunks
 *   160 32 SHA-256 of bytes 0 to 159
 * It is made before there is a run (plan and chain 0 then) and copied to the other coordinators. A key file may be any
 * number of commits behind its store, since others have committed, and leads forward to its key; it is never ahead,
 * unless the store was rolled back. Until the next commit, or caucus_mark_wipe(), the other place holds the key before
 * it. Whoever loses all key files has lost the state. */
#ifndef CAUCUS_STORE_COORDINATOR_MARK_H
#define CAUCUS_STORE_COORDINATOR_MARK_H

#include <caucus/status.h>
#include <stdbool.h>

#define CAUCUS_MARK_FILE "mark"
#define CAUCUS_CHAIN_BYTES 32

typedef struct caucus_commit_mark {
    int fd;           /* -1: not open */
    char *path;       /* to be freed by caucus_mark_close */
    uint8_t plan[32]; /* hash of the plan */
    uint64_t count;   /* announcements committed */
    uint64_t term;    /* of the coordinator that wrote it */
    uint8_t chain[CAUCUS_CHAIN_BYTES];
    bool keyed;            /* it is a key file, and locked */
    uint8_t state_key[32]; /* keyed: of the state with `count` announcements */
    uint8_t fixed_key[32]; /* keyed: of seals and chunks */
} caucus_commit_mark;

/** Open DIR/mark. It is there before the store, and never goes: if only one of the two is found, the other was lost.
 *  A crash between the two leaves a mark of nothing.
 *  In:      fresh  no store is here: if there is no mark either, make one with count 0, term 0 and the chain given.
 *  Returns: CAUCUS_OK, CAUCUS_E_ROLLED_BACK (not fresh, and no mark), CAUCUS_E_DAMAGED (neither place can be read),
 *           CAUCUS_E_MISMATCH (of another plan), CAUCUS_E_IO, CAUCUS_E_MEMORY. On failure nothing is open. */
caucus_status caucus_mark_open(const char *dir, const uint8_t plan_hash[32], const uint8_t chain[CAUCUS_CHAIN_BYTES],
                               bool fresh, caucus_commit_mark *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Durably: `count` announcements are committed, `chain` is theirs, and `term` is in force.
 *  Returns: CAUCUS_OK, CAUCUS_E_IO: then nothing that depends on the last commit may leave. */
caucus_status caucus_mark_write(caucus_commit_mark *mark, uint64_t count, uint64_t term,
                                const uint8_t chain[CAUCUS_CHAIN_BYTES], caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Make a key file with keys of its own.
 *  Returns: CAUCUS_OK, CAUCUS_E_EXISTS (something has this name), CAUCUS_E_PATH, CAUCUS_E_MEMORY. */
caucus_status caucus_key_file_make(const char *path, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Open a key file, for this process alone. One that belongs to no plan yet is taken for this one, and says so from the
 *  first caucus_mark_write() on.
 *  Returns: CAUCUS_OK, CAUCUS_E_PATH (not there, or others may read it), CAUCUS_E_BUSY, CAUCUS_E_DAMAGED,
 *           CAUCUS_E_MISMATCH, CAUCUS_E_IO, CAUCUS_E_MEMORY. On failure nothing is open. */
caucus_status caucus_key_file_open(const char *path, const uint8_t plan_hash[32],
                                   const uint8_t chain[CAUCUS_CHAIN_BYTES], caucus_commit_mark *ret,
                                   caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** keyed: the key of the state with `count` announcements, not fewer than the mark's. To be wiped. */
void caucus_mark_state_key(const caucus_commit_mark *mark, uint64_t count, uint8_t ret[32]);
/** keyed: no place of the file holds a key from before the last caucus_mark_write(). */
caucus_status caucus_mark_wipe(caucus_commit_mark *mark, caucus_error *ret_error) CAUCUS_MUST_CHECK;

void caucus_mark_close(caucus_commit_mark *mark);

#endif
