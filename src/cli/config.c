/* SPDX-License-Identifier: Apache-2.0 */
/* config.c: see config.h. */
#include "cli/config.h"

#include "cli/complain.h"
#include "scenario/yaml_sheet.h"
#include "store/atomic_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The one file of this process: complaints ask it where a value stands. */
static struct {
    const char *path;
    const caucus_option *options;
    const char *const *value; /* a flag's, and then what was taken from the file */
    caucus_values *found;
    bool *taken; /* from the file: no flag gave it */
} config;

static const char *option_name(const void *user, size_t i) {
    return ((const caucus_option *)user)[i].name;
}

static caucus_sheet_values option_takes(const void *user, size_t i) {
    const caucus_option *options = user;
    static const char *const pairs[] = {"budget", "connect"};
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++)
        if (strcmp(options[i].name, pairs[k]) == 0)
            return CAUCUS_SHEET_PAIR;
    return CAUCUS_SHEET_ONE;
}

static size_t find(const char *option) {
    for (size_t i = 0; config.options && config.options[i].name; i++)
        if (strcmp(config.options[i].name, option) == 0)
            return i;
    return SIZE_MAX;
}

bool caucus_config_place(const char *option, char ret[CAUCUS_CONFIG_PLACE_BYTES]) {
    size_t i = find(option);
    if (i == SIZE_MAX || !config.taken[i])
        return false;
    (void)snprintf(ret, CAUCUS_CONFIG_PLACE_BYTES, "%.200s:%u", config.path, config.found[i].line);
    return true;
}

int caucus_config_refuse(const char *verb, const char *option, const char *value, const char *format, ...) {
    char why[512], place[CAUCUS_CONFIG_PLACE_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, sizeof why, format, args);
    va_end(args);
    const char *blank = value ? " " : "", *colon = value ? ": " : " ";
    if (caucus_config_place(option, place))
        fprintf(stderr, "%s: %s%s%s%s%s\n", place, option, blank, value ? value : "", colon, why);
    else
        fprintf(stderr, "%s: --%s%s%s%s%s\n", caucus_program(verb), option, blank, value ? value : "", colon, why);
    return CAUCUS_EXIT_USAGE;
}

/* What a flag may not stand for in a file. */
static int take_one(const char *verb, size_t i, caucus_option_taker take, void *user) {
    const char *name = config.options[i].name, *text = config.found[i].text[0];
    config.taken[i] = true;
    if (strcmp(name, "config") == 0)
        return caucus_config_refuse(verb, name, text, "a file names no other file");
    if (config.options[i].argument == NULL && strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return caucus_config_refuse(verb, name, text, "must be true or false");
    return take(user, i, text);
}

int caucus_config_read(const char *verb, const caucus_option *options, const char *path, const char *const *value,
                       caucus_option_taker take, void *user) {
    size_t count = 0, size = 0;
    while (options[count].name)
        count++;
    uint8_t *bytes = NULL;
    caucus_error error = {0};
    caucus_complaint complaint = {0};
    config.path = path;
    config.options = options;
    config.value = value;
    config.found = calloc(count, sizeof *config.found);
    config.taken = calloc(count, sizeof *config.taken);
    if (!config.found || !config.taken)
        return caucus_complain_memory(verb);
    caucus_status status = caucus_file_load(path, CAUCUS_SCENARIO_BYTES, "a file of settings", &bytes, &size, &error);
    if (status != CAUCUS_OK)
        return caucus_complain(verb, options, status, &error);
    const caucus_sheet sheet = {.what = "a file of settings",
                                .example = "plan: plan.yaml",
                                .examples = "'plan: plan.yaml', as on the command line",
                                .name = option_name,
                                .takes = option_takes,
                                .user = options,
                                .found = config.found};
    status = caucus_sheet_parse(&sheet, path, bytes, size, &complaint);
    free(bytes);
    if (status != CAUCUS_OK)
        return caucus_complain_scenario(verb, status, &complaint);
    int code = 0;
    for (size_t i = 0; code == 0 && i < count; i++)
        if (config.found[i].line != 0 && (value[i] == NULL || strcmp(options[i].name, "config") == 0))
            code = take_one(verb, i, take, user);
    return code;
}
