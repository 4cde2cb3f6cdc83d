/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_ledger.c: a ledger file written by a stranger. Lines are appended as they come; whatever is accepted must
 * be written back as the same bytes, stay within its budget, and go on working. */
#include <caucus/ledger.h>

#include <stdlib.h>
#include <string.h>

#include "plan/ledger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_kept(const caucus_ledger *ledger, const char *line) {
    char again[CAUCUS_LEDGER_LINE_BYTES];
    caucus_ledger_totals totals;
    if (caucus_ledger_line(ledger, caucus_ledger_count(ledger) - 1, again, sizeof again) != CAUCUS_OK ||
        strcmp(again, line) != 0)
        abort();
    totals = caucus_ledger_totals_of(ledger);
    if (!(totals.left_epsilon >= 0) || !(totals.left_delta >= 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    caucus_ledger *ledger = NULL;
    caucus_error error;
    char *line = malloc(size + 1);
    if (line == NULL)
        return 0;
    for (size_t start = 0, number = 1; start < size; number++) {
        const uint8_t *end = memchr(data + start, '\n', size - start);
        size_t length = end != NULL ? (size_t)(end - data) - start : size - start;
        memcpy(line, data + start, length);
        line[length] = '\0';
        if (caucus_ledger_append_line(&ledger, line, number, &error) == CAUCUS_OK)
            check_kept(ledger, line);
        start += length + 1;
    }
    if (ledger != NULL) {
        caucus_status status =
            caucus_ledger_release(ledger, 1, 0, "check", (caucus_rational){1, 3}, (caucus_rational){0, 1}, &error);
        if (status == CAUCUS_OK) {
            char last[CAUCUS_LEDGER_LINE_BYTES];
            if (caucus_ledger_line(ledger, caucus_ledger_count(ledger) - 1, last, sizeof last) != CAUCUS_OK)
                abort();
        }
    }
    caucus_ledger_free(ledger);
    free(line);
    return 0;
}
