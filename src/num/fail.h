/* SPDX-License-Identifier: Apache-2.0 */
/* fail.h: errors that are said in many places, in one way. What fills an error in general is in <caucus/status.h>.
 * layer: num */
#ifndef CAUCUS_NUM_FAIL_H
#define CAUCUS_NUM_FAIL_H

#include <caucus/status.h>

/** There is no memory for what `field` names ("": for nothing that somebody has set). Returns: CAUCUS_E_MEMORY. */
caucus_status caucus_fail_memory(caucus_error *ret_error, const char *field);

#endif
