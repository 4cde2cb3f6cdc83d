/* SPDX-License-Identifier: Apache-2.0 */
/* journal.h: a client's state in one file (caucus/journal.h), and the number of a run in it.
 * layer: store
 *
 * A journal whose run is reserved in a ledger (budget.h) has a number of its own, in front of the state: "cJr1" and 8
 * bytes. It is made, and written, before the ledger is. */
#ifndef CAUCUS_STORE_JOURNAL_H
#define CAUCUS_STORE_JOURNAL_H

#include <caucus/journal.h>

/** The journal's own number, which is on disk when this returns: made now if there was none. After
 *  caucus_journal_read(), with what it gave.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANDOM, CAUCUS_E_IO, CAUCUS_E_FULL, CAUCUS_E_MEMORY. */
caucus_status caucus_journal_number(caucus_journal *journal, const uint8_t *state, size_t bytes, uint8_t ret[8],
                                    caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
