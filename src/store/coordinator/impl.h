/* SPDX-License-Identifier: Apache-2.0 */
/* impl.h: what store.c, commit.c and stop.c share.
 * layer: store */
#ifndef CAUCUS_STORE_COORDINATOR_IMPL_H
#define CAUCUS_STORE_COORDINATOR_IMPL_H

#include "store/coordinator/chain.h"

/* A store in short: enough to seal it. */
typedef struct caucus_store_summary {
    caucus_store_row row;
    uint8_t chain[CAUCUS_CHAIN_BYTES]; /* over the announcements */
    uint8_t root_hash[CAUCUS_CHAIN_BYTES];
    uint8_t (*chunk_hash)[CAUCUS_CHAIN_BYTES]; /* [room] */
    uint32_t room;
    caucus_announcement last; /* there is one if row.announcements > 0 */
} caucus_store_summary;

struct caucus_store {
    const caucus_store_backend *backend;
    caucus_store_place *at;
    const char *key_file; /* while it is being opened */
    bool open;
    caucus_commit_mark mark;
    caucus_store_summary now;  /* as committed */
    caucus_store_summary then; /* as it is being committed, or may be: `unsure` */
    bool unsure;
    bool keep_last;                          /* caucus_store_keep_last() */
    uint64_t raises;                         /* of the term, while settling, whose outcome is not known either */
    bool *changed;                           /* [now.room]: chunks of the commit in hand */
    caucus_piece sealed_root, *sealed_chunk; /* mark.keyed: of the commit in hand */
    uint32_t sealed_chunks;                  /* room of sealed_chunk */
    uint64_t chunks_changing;                /* of them */
    uint64_t bytes_changing;                 /* in them */
    struct caucus_seen { /* [seen_room]: of each chunk as it was given last: its stamp, if it had one, and hash */
        uint64_t stamp;
        uint8_t hash[CAUCUS_CHAIN_BYTES];
    } * seen;
    uint32_t seen_room;
    uint64_t commits, chunks_written, bytes_written;
    uint64_t fault_at;
    bool fault_after;
};

/* Room for so many chunks; false without memory. */
bool caucus_store_room(caucus_store_summary *summary, uint32_t chunks);
void caucus_store_hash(const caucus_piece *piece, uint8_t ret[CAUCUS_CHAIN_BYTES]);
void caucus_store_seal(const caucus_store *r, const caucus_store_summary *summary, uint8_t ret[CAUCUS_CHAIN_BYTES]);

/* Open what is kept here, whatever plan it is of; CAUCUS_E_PATH if nothing is. */
caucus_status caucus_store_open_found(const caucus_store_where *where, caucus_store **ret,
                                      caucus_error *ret_error) CAUCUS_MUST_CHECK;
/* Something is kept here, and `now.row` is its row: is it this plan's, whole, and the latest? Opens the mark. */
caucus_status caucus_store_check_found(caucus_store *r, const uint8_t plan_hash[32], bool seeded,
                                       caucus_error *ret_error) CAUCUS_MUST_CHECK;
/* Write the mark of `now`. */
caucus_status caucus_store_mark(caucus_store *r, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/* Raise the term, if nothing has moved since `now` was read. */
caucus_status caucus_store_take(caucus_store *r, caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
