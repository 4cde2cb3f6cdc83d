/* SPDX-License-Identifier: Apache-2.0 */
/* budget.h: a ledger that live runs on one body of data share (serve --ledger, join --ledger).
 * layer: store
 *
 * A ledger belongs to a body of data, and outlives the runs on it. A run reserves its whole plan in it before anything
 * leaves, once: the entry names the run by its tag, which is made with the run's own state (a coordinator's directory,
 * a client's journal) and written there first. So whenever the process dies, a start with the same state finds its own
 * entry or makes it, and a new state is a new run. The file is locked while it is looked at and added to, not while the
 * run lasts: other runs, and people who look, come in between. */
#ifndef CAUCUS_STORE_BUDGET_H
#define CAUCUS_STORE_BUDGET_H

#include <caucus/ledger.h>

/* "1a2b3c4d-0123456789abcdef" and a 0: the beginning of the plan's hash, and the run's own number. */
#define CAUCUS_RUN_TAG_BYTES 26
#define CAUCUS_RUN_ID_BYTES 8
/* The longest name of a run that has a tag: the entry holds "NAME #TAG TRUST UNIT". */
#define CAUCUS_RUN_LABEL_MAX 38

/* What was said on the command line. */
typedef struct caucus_budget {
    const char *path; /* NULL: no ledger is kept */
    bool given;       /* epsilon and delta were: a new ledger begins with them, an old one must have them */
    double epsilon, delta;
} caucus_budget;

/** The tag of a run. */
void caucus_run_tag(const uint8_t plan_hash[32], const uint8_t id[CAUCUS_RUN_ID_BYTES], char ret[CAUCUS_RUN_TAG_BYTES]);

/** "NAME #TAG", for caucus_ledger_reserve().
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (too long, or what a ledger takes for no name). */
caucus_status caucus_run_label(const char *name, const char *tag, char ret[CAUCUS_RUN_NAME_BYTES],
                               caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** The tag within an entry's `what`. Returns: whether there is one; *ret_at: where its '#' stands. */
bool caucus_run_tag_of(const char *what, size_t *ret_at, char ret[CAUCUS_RUN_TAG_BYTES]);

/** Reserve the plan for the run that the label names, unless that was done before. `trial`: only look whether it fits.
 *  Out:     ret  the ledger's totals afterwards.
 *  Returns: CAUCUS_OK: it is on disk; CAUCUS_E_BUDGET (it does not fit; nothing was written), CAUCUS_E_CONFLICT
 *           (another budget than given), CAUCUS_E_BUSY, CAUCUS_E_FORMAT, CAUCUS_E_PATH, CAUCUS_E_IO, CAUCUS_E_FULL,
 *           CAUCUS_E_MEMORY. */
caucus_status caucus_budget_reserve(const caucus_budget *budget, const caucus_plan *plan, const char *label,
                                    bool seeded, bool trial, caucus_ledger_totals *ret,
                                    caucus_error *ret_error) CAUCUS_MUST_CHECK;

/* In the directory of a coordinator's state: the absolute path of the ledger that the run was reserved in, and a
 * newline. It is for people who look at the state alone (caucus privacy); a run goes by what is on its command line. */
#define CAUCUS_RESERVED_FILE "reserved-in"

/** Keep with the state in which ledger its run was reserved.
 *  Returns: CAUCUS_OK, CAUCUS_E_PATH, CAUCUS_E_IO, CAUCUS_E_FULL, CAUCUS_E_MEMORY. */
caucus_status caucus_budget_note(const char *dir, const char *ledger, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** What was kept, and what that ledger says by now.
 *  In:      own       the ledger in the state, which names the run.
 *  Out:     ret_path  of the ledger, to be freed; NULL: the run was reserved in none, or nothing is known of it.
 *           ret       its totals, if it was.
 *  Returns: whether the ledger is there, can be read and has the run. */
bool caucus_budget_noted(const char *dir, const caucus_ledger *own, char **ret_path, caucus_ledger_totals *ret);

/** "Reserved 1 of 3 by this run (0.49 used so far; the rest is not given back), 2 left": the one meaning of "left",
 *  what other runs on the same data may still spend. budget: NAN where no ledger is kept; `over`: nothing more is used;
 *  `instead`, if not NULL: what is said of the ledger where it cannot be looked at. */
#define CAUCUS_BUDGET_WORDS_BYTES 192
void caucus_budget_words(double reserved, double used, double budget, double left, bool over, const char *instead,
                         char ret[CAUCUS_BUDGET_WORDS_BYTES]);

#endif
