/* SPDX-License-Identifier: Apache-2.0 */
/* error_line.c: see error_line.h.
 * layer: num */
#include "num/error_line.h"

#include <stdio.h>
#include <string.h>

void caucus_error_line(const caucus_error *error, caucus_status status, char ret[CAUCUS_ERROR_LINE_BYTES]) {
    const char *words = error->os_error != 0 ? strerror(error->os_error) : "";
    (void)snprintf(ret, CAUCUS_ERROR_LINE_BYTES, "%s%s%s%s%s",
                   error->text[0] != '\0' ? error->text : caucus_status_text(status), words[0] != '\0' ? ": " : "",
                   words, error->hint[0] != '\0' ? " — " : "", error->hint);
}
