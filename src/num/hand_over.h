/* SPDX-License-Identifier: Apache-2.0 */
/* hand_over.h: the end of every function that makes something: the caller has it, or nobody does.
 * layer: num */
#ifndef CAUCUS_NUM_HAND_OVER_H
#define CAUCUS_NUM_HAND_OVER_H

#include <caucus/status.h>

/** If all went well, `*ret` is what was made; otherwise `ret` is left alone and `undo` frees what was made, whole or
 *  not: `return CAUCUS_HAND_OVER(status, ret, made, caucus_thing_free(made));`. A macro, since `made` has any type and
 *  `undo` is only done if it is needed. `status` is looked at twice. Returns: `status`. */
#define CAUCUS_HAND_OVER(status, ret, made, undo)                                                                      \
    ((status) == CAUCUS_OK ? (void)(*(ret) = (made)) : (void)(undo), (status))

#endif
