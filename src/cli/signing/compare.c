/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c: `caucus compare`: what changes from one plan to another, privacy first. */
#include "show/signing/compare.h"
#include "cli/complain.h"
#include "cli/terminal/screen.h"
#include "cli/verbs.h"

#include <caucus/plan_file.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { SCREEN_WIDTH = 100 }; /* where nothing says how wide it is */

enum { OPTION_FORMAT, OPTIONS };
static const caucus_option options[] = {
    [OPTION_FORMAT] = {"format", "NAME", "text", "text or json on standard output"},
    [OPTIONS] = {NULL, NULL, NULL, NULL},
};

typedef struct request {
    const char *file[2];
    bool json;
} request;

static int take_option(void *user, size_t index, const char *value) {
    request *r = user;
    if (index == OPTION_FORMAT)
        return caucus_take_format("compare", value, &r->json);
    if (r->file[1] != NULL)
        return caucus_usage("compare", "'%s': two plans at a time, '%s' and '%s' were given already", value, r->file[0],
                            r->file[1]);
    r->file[r->file[0] != NULL] = value;
    return 0;
}

static const caucus_small_verb verb = {
    .name = "compare",
    .options = options,
    .take = take_option,
    .help = "caucus compare: what changes from one plan to another, privacy first\n"
            "\n"
            "  caucus compare before.yaml after.yaml\n"
            "  caucus compare before.yaml after.yaml --format json\n"
            "\n"
            "Only what differs is shown. The first line says whether the second plan promises more privacy, less, or\n"
            "both in different respects; plans with different units cannot be compared in one word.\n",
};

static int compare(const request *r, const caucus_plan *const plan[2]) {
    caucus_plan_comparison comparison;
    caucus_error error = {0};
    const caucus_status status = caucus_compare_make(plan, r->file, &comparison, &error);
    if (status != CAUCUS_OK)
        return caucus_complain("compare", options, status, &error);
    if (r->json)
        caucus_compare_json(stdout, &comparison);
    else
        caucus_compare_print(stdout, &comparison, caucus_screen_width(STDOUT_FILENO, SCREEN_WIDTH));
    caucus_compare_free(&comparison);
    return CAUCUS_EXIT_DONE;
}

int caucus_cli_compare(int argc, char **argv) {
    request r = {.json = false};
    int code = 0;
    if (caucus_small_verb_over(&verb, argc, argv, &r, NULL, &code))
        return code;
    if (r.file[1] == NULL)
        return caucus_usage("compare", "two plans are compared — caucus compare before.yaml after.yaml");
    caucus_plan *plan[2] = {NULL, NULL};
    caucus_error error = {0};
    caucus_status status = CAUCUS_OK;
    for (size_t p = 0; p < 2 && status == CAUCUS_OK; p++)
        status = caucus_plan_file_read(r.file[p], &plan[p], &error);
    code = status == CAUCUS_OK ? compare(&r, (const caucus_plan *const *)plan)
                               : caucus_complain("compare", options, status, &error);
    caucus_plan_free(plan[0]);
    caucus_plan_free(plan[1]);
    return code;
}
