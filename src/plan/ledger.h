/* ledger.h (internal): the totals of a ledger for callers in this tree, whose struct is the library's own.
 * layer: plan */
#ifndef CAUCUS_PLAN_LEDGER_H
#define CAUCUS_PLAN_LEDGER_H

#include <caucus/ledger.h>

caucus_ledger_totals caucus_ledger_totals_of(const caucus_ledger *ledger);

#endif
