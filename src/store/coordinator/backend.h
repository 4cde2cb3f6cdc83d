/* SPDX-License-Identifier: Apache-2.0 */
/* backend.h: what keeps a store: a table of operations for each backend.
 * layer: store
 *
 * A backend keeps rows and knows nothing of what they mean: one row of the run, rows of chunks, announcements and
 * ledger lines. What must agree with what, the seal, the chain, the mark and the order of events are store.c's, for
 * all backends alike. tests/store/conformance.h is what a backend has to pass. */
#ifndef CAUCUS_STORE_COORDINATOR_BACKEND_H
#define CAUCUS_STORE_COORDINATOR_BACKEND_H

#include "store/coordinator/mark.h"
#include "store/coordinator/store.h"

/* What to do about a store that cannot go on. An older copy of it would decide anew what has been announced. */
#define CAUCUS_STORE_OVER "the run is over: run no older copy; a new run needs a new directory and its own budget"

/* The run's one row, without the root of the state. */
typedef struct caucus_store_row {
    uint8_t plan[32];                 /* hash of the plan */
    bool seeded;                      /* NOT PRIVATE */
    bool begun;                       /* announcement 0 may have left */
    uint64_t term;                    /* from 1 */
    uint64_t announcements;           /* committed so far: the serial of the next */
    uint64_t lines;                   /* of the ledger */
    uint32_t chunks;                  /* of the state */
    uint64_t first;                   /* the first announcement that is kept; those before it are only in the chain */
    uint8_t past[CAUCUS_CHAIN_BYTES]; /* first > 0: the chain over those (chain.h) */
    uint8_t seal[CAUCUS_CHAIN_BYTES]; /* over all of this and the state (chain.h) */
    uint8_t last_line[32];            /* SHA-256 of the last ledger line, 0 if there is none; remote backends only */
} caucus_store_row;

#define CAUCUS_STORE_NUMBERS 7
/** The numbers of a row, in the order in which they stand above from `seeded` to `first`, as they were read. Returns:
 *  false if no coordinator has written them. */
bool caucus_store_row_of(const int64_t number[CAUCUS_STORE_NUMBERS], caucus_store_row *ret);

/* A change, made whole or not at all. */
typedef struct caucus_store_change {
    uint64_t term, announcements;            /* the fence: the run's row has these, else nothing is changed */
    caucus_store_row row;                    /* what it becomes; plan and seeded stay */
    const caucus_piece *root;                /* NULL: stays */
    const caucus_piece *chunk;               /* all of them ... */
    const bool *changed;                     /* [row.chunks]: ... of which these are written; NULL: none */
    const caucus_announcement *announcement; /* to be added, and those before row.first removed; NULL: none */
    const char *const *line;                 /* to be added to the ledger */
    size_t lines;
    bool die_before, die_after; /* test hook: just before the change can be durable, and just after it is */
} caucus_store_change;

/* Where a backend begins its own struct. */
typedef struct caucus_store_place {
    const char *label;  /* what messages call it */
    const char *folder; /* where the mark is kept */
} caucus_store_place;

typedef struct caucus_store_backend {
    const char *name;
    /* Several machines can reach it: the state is sealed, and the mark is in a key file (mark.h). */
    bool remote;
    bool (*exists)(const char *where);
    /* Take hold of it, alone, and change nothing of what is there. */
    caucus_status (*open)(const caucus_store_where *where, caucus_store_place **ret, caucus_error *ret_error);
    /* The run's row; *ret_found false: nothing is kept here yet. Damage and strangers' files are refused. */
    caucus_status (*look)(caucus_store_place *place, bool *ret_found, caucus_store_row *ret, caucus_error *ret_error);
    /* NULL: any. May a coordinator go on with what look() has found here, or can later commits be missing? */
    caucus_status (*may_go_on)(caucus_store_place *place, uint64_t announcements, caucus_error *ret_error);
    /* The state as committed. */
    caucus_status (*load)(caucus_store_place *place, uint32_t chunks, caucus_store_state *ret, caucus_error *ret_error);
    caucus_status (*announcements)(caucus_store_place *place,
                                   void (*each)(void *user, const caucus_announcement *announcement), void *user,
                                   caucus_error *ret_error);
    /* whole: as caucus_store_ledger(). */
    caucus_status (*ledger)(caucus_store_place *place, bool whole, caucus_ledger **ret, caucus_error *ret_error);
    /* Make everything, with this row and nothing else in it. */
    caucus_status (*create)(caucus_store_place *place, const caucus_store_row *row, caucus_error *ret_error);
    /* Returns: CAUCUS_OK: durable; CAUCUS_E_FENCED: the fence does not hold; CAUCUS_E_UNKNOWN: it may be made or not;
     * any other: it is not made. */
    caucus_status (*change)(caucus_store_place *place, const caucus_store_change *change, caucus_error *ret_error);
    /* After CAUCUS_E_UNKNOWN: come back to where look() tells what is durable. */
    caucus_status (*settle)(caucus_store_place *place, caucus_error *ret_error);
    caucus_status (*wipe)(caucus_store_place *place, caucus_error *ret_error);
    /* `kept`: something was committed by this process, or found; else what is refused is left as it is. */
    void (*close)(caucus_store_place *place, bool kept);
    caucus_status (*open_ledger)(const char *where, caucus_ledger **ret, caucus_error *ret_error);
    /* As caucus_store_peek(), into zeros: also while another process has the store. */
    caucus_status (*peek)(const char *where, caucus_store_glance *ret, caucus_error *ret_error);
    /* As caucus_store_request_stop() and those after it. */
    caucus_status (*request_stop)(const char *where, caucus_error *ret_error);
    bool (*stop_requested)(caucus_store_place *place);
    void (*stop_heard)(caucus_store_place *place);
    /* remote only. As caucus_store_taken_over(). */
    bool (*taken_over)(caucus_store_place *place);
    /* remote only. As open(), without taking hold of it: for look() and load() only. Does a coordinator have it? */
    caucus_status (*watch)(const caucus_store_where *where, caucus_store_place **ret, caucus_error *ret_error);
    caucus_status (*held)(caucus_store_place *place, bool *ret, caucus_error *ret_error);
    /* As caucus_store_init() and those after it. */
    caucus_status (*init)(const char *where, caucus_error *ret_error);
    caucus_status (*migrate)(const char *where, uint32_t *ret_from, uint32_t *ret_to, caucus_error *ret_error);
    caucus_status (*check)(const char *where, caucus_store_report *ret, caucus_error *ret_error);
} caucus_store_backend;

extern const caucus_store_backend caucus_store_sqlite;
#ifdef CAUCUS_POSTGRES
extern const caucus_store_backend caucus_store_postgres;
#endif
/* What `state` names; NULL with an error if it is not built in. */
const caucus_store_backend *caucus_store_backend_of(const char *state, caucus_error *ret_error);

/* For backends: end this process without a word, as a power cut would. */
_Noreturn void caucus_store_die(void);

#endif
