/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_view.h: what a ledger says, for people and for programs.
 * layer: show */
#ifndef CAUCUS_SHOW_LEDGER_VIEW_H
#define CAUCUS_SHOW_LEDGER_VIEW_H

#include <caucus/ledger.h>
#include <stdio.h>

#include "store/budget.h"

/* One run: what it reserved and what it has released so far. */
typedef struct caucus_run_view {
    uint32_t run;
    char name[CAUCUS_RUN_NAME_BYTES];
    char tag[CAUCUS_RUN_TAG_BYTES]; /* of a live run; "" */
    bool elsewhere;                 /* what it has released stands in its own state, not here */
    caucus_trust trust;             /* COUNT: the entry does not say */
    caucus_unit unit;               /* likewise */
    bool seeded;
    uint64_t clients; /* of its plan; 0: the entry does not say */
    double reserved_choices, reserved_messages, delta;
    double device; /* what that comes to for everything one client contributes; INFINITY: no bound; NAN: unknown */
    double released_choices, released_messages;
    uint32_t releases;
    uint64_t first_block, last_block;
} caucus_run_view;

typedef struct caucus_ledger_view {
    const char *path;
    const caucus_ledger *ledger; /* borrowed */
    bool state;                  /* one run's own, from a coordinator's state: what is left for others it cannot say */
    const char *reserved_in; /* borrowed; of a state: the ledger that its run was reserved in; NULL: none is known */
    const caucus_ledger_totals *shared; /* borrowed; of that ledger; NULL: it cannot be read here */
    caucus_ledger_totals totals;
    caucus_run_view *run;                 /* [totals.runs] */
    char last[2 * CAUCUS_HASH_BYTES + 1]; /* hash of the last entry, hexadecimal */
} caucus_ledger_view;

/** In:      state  whether it is the ledger inside a coordinator's state.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_ledger_view_init(const char *path, const caucus_ledger *ledger, bool state,
                                      caucus_ledger_view *ret) CAUCUS_MUST_CHECK;
void caucus_ledger_view_free(caucus_ledger_view *view);

/** Table, picture and what is left. `ascii`: draw with plain characters. `releases`: list every release, too. `width`:
 *  columns of the screen, 0: as wide as it is; where the table is wider, every run is told in words. */
void caucus_ledger_view_print(FILE *out, const caucus_ledger_view *view, bool ascii, bool releases, int width);
/** One JSON object; infinite is null. */
void caucus_ledger_view_json(FILE *out, const caucus_ledger_view *view, bool releases);

#endif
