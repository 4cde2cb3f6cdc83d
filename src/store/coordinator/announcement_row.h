/* SPDX-License-Identifier: Apache-2.0 */
/* announcement_row.h: an announcement from its row, whichever database holds it.
 * layer: store */
#ifndef CAUCUS_STORE_ANNOUNCEMENT_ROW_H
#define CAUCUS_STORE_ANNOUNCEMENT_ROW_H

#include <caucus/coordinator.h>

#include "num/little_endian.h"

/** In:      value  serial, expert, epoch, ask, block and leaf, as the database has them; list: `size` bytes, may be
 *                  NULL without any.
 *  Returns: false if they cannot be ours: serial, epoch and block have 63 bits, the others 32. */
static inline bool caucus_announcement_from_row(const int64_t value[6], const uint8_t *list, int size,
                                                caucus_announcement *ret) {
    static const bool wide[6] = {true, false, true, false, true, false};
    for (int i = 0; i < 6; i++)
        if (value[i] < 0 || (!wide[i] && value[i] > (int64_t)UINT32_MAX))
            return false;
    if (value[3] > CAUCUS_ASK_SHORTLIST || size < 0 || size % 4 != 0 || size > 4 * (int)CAUCUS_SHORTLIST ||
        (size > 0 && list == NULL))
        return false;
    *ret = (caucus_announcement){.serial = (uint64_t)value[0],
                                 .expert = (uint32_t)value[1],
                                 .epoch = (uint64_t)value[2],
                                 .ask = (caucus_ask)value[3],
                                 .block = (uint64_t)value[4],
                                 .leaf = (uint32_t)value[5],
                                 .listed = (uint32_t)size / 4};
    for (uint32_t i = 0; i < ret->listed; i++)
        ret->list[i] = caucus_le_get32(list + 4 * (size_t)i);
    return true;
}

#endif
