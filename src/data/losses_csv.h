/* SPDX-License-Identifier: Apache-2.0 */
/* losses_csv.h: losses from a CSV file, as an array of clients x rounds x experts.
 * layer: data */
#ifndef CAUCUS_DATA_LOSSES_CSV_H
#define CAUCUS_DATA_LOSSES_CSV_H

#include "data/npy.h"

/** Read a file (npy.h says what it holds); `own`: one client's losses will do.
 *  Returns: CAUCUS_OK, CAUCUS_E_FORMAT, CAUCUS_E_PATH, CAUCUS_E_MEMORY; the error's text begins with the name. */
caucus_status caucus_losses_csv_open(const char *path, bool own, caucus_npy *ret,
                                     caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
