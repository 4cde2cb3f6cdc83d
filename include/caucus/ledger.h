/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.h: what has been released about one body of data, and what is left.
 * layer: plan
 *
 * Several runs on the same data share one ledger: their epsilons and deltas add, a run counting with the larger of
 * its epsilons for choices and for messages. A run reserves its whole plan before its first release, so the total can
 * never be exceeded however the run goes; each release is then recorded against the reservation, and one that does not
 * fit is refused (CAUCUS_E_BUDGET): the expert in force stays in force. Amounts are integers in 10^-9, rounded up: so
 * decimals of nine places add up exactly, and none is lost. An entry names trust and unit: epsilons per loss and
 * epsilons per block add up to a number that holds for a loss; per block it holds for the runs of that unit only.
 * Entries form a hash chain (SHA-256): a torn or altered ledger is detected, which catches accidents, not somebody who
 * can rewrite all of it. */
#ifndef CAUCUS_LEDGER_H
#define CAUCUS_LEDGER_H

#include <caucus/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Of an entry's hash, SHA-256. */
#define CAUCUS_HASH_BYTES 32
/** Of a run's name or a release's, with its final 0. */
#define CAUCUS_RUN_NAME_BYTES 96

/** What was reserved and released, in order. */
typedef struct caucus_ledger caucus_ledger;

/** What an entry records. */
typedef enum caucus_entry_kind {
    CAUCUS_ENTRY_BUDGET = 1, /* the first entry: the total budget */
    CAUCUS_ENTRY_RUN,        /* a run reserves its plan */
    CAUCUS_ENTRY_RELEASE     /* something was announced or sent */
} caucus_entry_kind;

/** One entry. The library alone makes them and gives out pointers to its own; the struct grows at its end. */
typedef struct caucus_entry {
    size_t size;                      /* of this struct, as the library knows it: what lies behind it is not there */
    caucus_entry_kind kind;           /* which of the fields below mean something */
    uint32_t run;                     /* number of the run, from 1; 0 for BUDGET */
    uint64_t block;                   /* RELEASE: block or phase it belongs to; RUN: clients of its plan, 0: not said */
    char what[CAUCUS_RUN_NAME_BYTES]; /* RUN: name, trust and unit; RELEASE: "check", "selection", "vote", ...; no
                                         spaces at the ends, no control characters */
    bool seeded;                      /* NOT PRIVATE (seeded) */
    uint64_t choices; /* epsilon for choices: budget, reserved, used; whole steps (caucus_ledger_epsilon), rounded up */
    uint64_t messages;               /* epsilon for the messages, likewise; 0 where the coordinator is trusted */
    double delta;                    /* likewise, exact in the text form; 0 for RELEASE */
    uint8_t hash[CAUCUS_HASH_BYTES]; /* chain: SHA-256(previous hash | this entry's text) */
    uint64_t device;                 /* RUN: what its epsilon comes to for everything one client contributes, likewise,
                                         rounded up; UINT64_MAX: no bound; 0: made before ledgers said so */
} caucus_entry;

/** A ledger with a total budget. epsilon: 0 or above, or INFINITY; delta in [0, 1).
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (the error names the field), CAUCUS_E_MEMORY. */
CAUCUS_API caucus_status caucus_ledger_new(double epsilon, double delta, caucus_ledger **ret,
                                           caucus_error *ret_error) CAUCUS_MUST_CHECK;
CAUCUS_API void caucus_ledger_free(caucus_ledger *ledger);

/** Reserve a plan. name: shorter than CAUCUS_RUN_NAME_BYTES, no control characters; trust and unit are added.
 *  Returns: CAUCUS_OK, CAUCUS_E_BUDGET (nothing reserved; the error says what is left), CAUCUS_E_RANGE (the name, or a
 *           guarantee that is no number), CAUCUS_E_MEMORY. */
CAUCUS_API caucus_status caucus_ledger_reserve(caucus_ledger *ledger, const caucus_plan *plan, const char *name,
                                               bool seeded, uint32_t *ret_run,
                                               caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Record one release of a run: epsilon actually spent on it (for people and for the stop rule).
 *  Returns: CAUCUS_OK, CAUCUS_E_BUDGET (the run's reservation would be exceeded: do not release), CAUCUS_E_RANGE. */
CAUCUS_API caucus_status caucus_ledger_release(caucus_ledger *ledger, uint32_t run, uint64_t block, const char *what,
                                               caucus_rational choices, caucus_rational messages,
                                               caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Totals reserved and released, and what is left of the budget (saturating at 0). The struct grows at its end. */
typedef struct caucus_ledger_totals {
    size_t size; /* of this struct, as the caller knows it; set by caucus_ledger_totals_init() */
    double budget_epsilon, budget_delta;                        /* the total; INFINITY: no limit */
    double reserved_choices, reserved_messages, reserved_delta; /* by all runs together */
    double released_choices, released_messages;                 /* of what is reserved */
    double left_epsilon, left_delta;                            /* what a further run may reserve */
    uint32_t runs, releases;                                    /* entries of these kinds */
    bool any_seeded;                                            /* some run is NOT PRIVATE */
} caucus_ledger_totals;
/** Zeros, and the size. */
CAUCUS_API void caucus_ledger_totals_init(caucus_ledger_totals *ret);
/** Fill them in.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (a size that this library does not know; nothing is filled in).
 *  Cost:    O(1). */
CAUCUS_API caucus_status caucus_ledger_total(const caucus_ledger *ledger, caucus_ledger_totals *ret) CAUCUS_MUST_CHECK;

/** Entries in order, for reading and for writing to a file. */
CAUCUS_API size_t caucus_ledger_count(const caucus_ledger *ledger);
CAUCUS_API const caucus_entry *caucus_ledger_entry(const caucus_ledger *ledger, size_t index);

/** An amount of this ledger's entries as an epsilon: steps of 10^-9, in a ledger that an early version of caucus began
 *  of 2^-30; UINT64_MAX is infinite. */
CAUCUS_API double caucus_ledger_epsilon(const caucus_ledger *ledger, uint64_t steps);

/** Room for any line, with its final 0. */
#define CAUCUS_LEDGER_LINE_BYTES 320

/** One entry as one line of text without newline (tab separated, chain hash last), and back.
 *  `caucus_ledger_append_line` verifies format, chain and budget; the error has the line number it was given.
 *  Returns: CAUCUS_OK, CAUCUS_E_FORMAT, CAUCUS_E_BUDGET, CAUCUS_E_MEMORY; E_RANGE if the buffer is too small. */
CAUCUS_API caucus_status caucus_ledger_line(const caucus_ledger *ledger, size_t index, char *ret,
                                            size_t ret_bytes) CAUCUS_MUST_CHECK;
CAUCUS_API caucus_status caucus_ledger_append_line(caucus_ledger **ledger, const char *line, size_t line_number,
                                                   caucus_error *ret_error) CAUCUS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
