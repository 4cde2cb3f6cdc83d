/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.h (internal): what callers in this tree know of ledgers beyond <caucus/ledger.h>: totals by value, sums
 * without their entries, and one entry as one line of text and back.
 * layer: plan
 *
 *     kind <tab> run <tab> number <tab> what <tab> private|seeded <tab> choices <tab> messages <tab> delta <tab> hash
 *
 * kind is budget, run or release; number is a release's block, and of a run what its epsilon comes to for a whole
 * device (0: made before ledgers said so); choices and messages are whole numbers of 10^-9, or "infinite"; delta is the
 * shortest decimal that reads back as the same double, written as digits and exponent (1e-6, 25e-8) so that no
 * locale changes it; hash is SHA-256(hash of the line before | this line up to the tab before the hash) in lower
 * case, starting from 32 zero bytes. Between the delta of a run and its hash stands how many clients its plan has, with
 * a tab. There is one way to write an entry: a line is accepted only if writing its entry again gives the same bytes.
 *
 * The budget's `what` names the format. Format 1 counts in 2^-30 and has no clients; such a ledger is read, and goes
 * on, as what it is. */
#ifndef CAUCUS_PLAN_LEDGER_H
#define CAUCUS_PLAN_LEDGER_H

#include <caucus/ledger.h>

/** The totals of a ledger; the struct is the library's own here. */
caucus_ledger_totals caucus_ledger_totals_of(const caucus_ledger *ledger);

/** Releases of a run (1, 2, ...) so far. Cost: O(1). */
uint64_t caucus_ledger_releases_of(const caucus_ledger *ledger, uint32_t run);

/** Give the memory of releases back that somebody else keeps: a run of a million steps may make a million of them, and
 *  sums, counts and the end of the chain are all that the next one needs. caucus_ledger_entry() and
 *  caucus_ledger_line() do not have them any more (NULL, CAUCUS_E_RANGE); caucus_ledger_count() counts them. Where a
 *  run follows the releases of another nothing is given back. Cost: O(entries in memory). */
void caucus_ledger_drop_releases(caucus_ledger *ledger);

/** Steps of an epsilon of 1. */
uint64_t caucus_ledger_steps(const caucus_ledger *ledger);

/** Whether the ledger's budget is this one. */
bool caucus_ledger_has_budget(const caucus_ledger *ledger, double epsilon, double delta);

/* The `what` of the first entry: says which format follows. */
#define CAUCUS_LEDGER_MAGIC "caucus ledger 2"
#define CAUCUS_LEDGER_MAGIC_1 "caucus ledger 1"
/* A run is written "NAME TRUST UNIT"; the longest words of these have 11 and 12 letters. The name of a live run holds
 * its tag, too (store/budget.h). */
#define CAUCUS_LEDGER_NAME_MAX (CAUCUS_RUN_NAME_BYTES - 1 - 12 - 13)

/** "name" or "name suffix" into ret[CAUCUS_RUN_NAME_BYTES]. Returns: false if it is no name, or too long. */
bool caucus_ledger_text_name(const char *name, const char *suffix, char *ret);

/** A number above 0 as people write it, digits*10^exponent: the shortest decimal that reads back as the same double.
 *  Out:     ret[32]  its digits, at most 17.
 *  Returns: the exponent. */
long caucus_ledger_text_decimal(double value, char *ret);

/** The entry's line. Returns: CAUCUS_OK, CAUCUS_E_RANGE (buffer too small). */
caucus_status caucus_ledger_text_line(const caucus_entry *entry, char *ret, size_t ret_bytes) CAUCUS_MUST_CHECK;

/** The chain hash of an entry after `previous` (entry->hash itself is not read). */
void caucus_ledger_text_hash(const caucus_entry *entry, const uint8_t *previous, uint8_t *ret);

/** Read a line. Returns: NULL, or what is wrong with it (then *ret is undefined). */
const char *caucus_ledger_text_parse(const char *line, caucus_entry *ret);

#endif
