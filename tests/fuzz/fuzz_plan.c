/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_plan.c: any bytes as a plan file. Either it is refused with one line that names the file, or it is a plan that
 * the accountant accepts, whose file has these very bytes, and which reads back as the same plan. */
#include <caucus/plan_file.h>

#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    caucus_plan *plan = NULL, *again = NULL;
    caucus_error error = {0};
    caucus_guarantee guarantee;
    char *text = NULL, *second = NULL;
    size_t text_size = 0, second_size = 0;
    if (caucus_plan_file_parse("fuzz.yaml", data, size, &plan, &error) != CAUCUS_OK) {
        if (plan != NULL || strncmp(error.text, "fuzz.yaml", 9) != 0 || strchr(error.text, '\n') != NULL)
            abort();
        return 0;
    }
    if (caucus_plan_account(plan, &guarantee, &error) != CAUCUS_OK ||
        caucus_plan_file_text(plan, &text, &text_size) != CAUCUS_OK || text_size != size ||
        memcmp(text, data, size) != 0 ||
        caucus_plan_file_parse("fuzz.yaml", text, text_size, &again, &error) != CAUCUS_OK ||
        caucus_plan_file_text(again, &second, &second_size) != CAUCUS_OK || text_size != second_size ||
        memcmp(text, second, text_size) != 0)
        abort();
    free(text);
    free(second);
    caucus_plan_free(plan);
    caucus_plan_free(again);
    return 0;
}
