/* SPDX-License-Identifier: Apache-2.0 */
/* real_text.c: see real_text.h. 17 digits always suffice (IEEE 754, 5.12.2). */
#include "num/real_text.h"

#include <stdio.h>
#include <stdlib.h>

void caucus_real_text(double value, char ret[CAUCUS_REAL_TEXT_BYTES]) {
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(ret, CAUCUS_REAL_TEXT_BYTES, "%.*g", digits, value);
        if (strtod(ret, NULL) == value)
            return;
    }
}
