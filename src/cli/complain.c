/* SPDX-License-Identifier: Apache-2.0 */
/* complain.c: see complain.h. */
#include "cli/complain.h"
#include "cli/config.h"

#include <stdio.h>
#include <string.h>

static bool has(const caucus_option *options, const char *name, size_t length) {
    for (size_t i = 0; options[i].name != NULL; i++)
        if (strlen(options[i].name) == length && strncmp(options[i].name, name, length) == 0)
            return true;
    return false;
}

void caucus_complain_name(const caucus_option *options, caucus_error *error) {
    char named[sizeof error->hint];
    const char *hint = error->hint;
    size_t used = 0;
    while (*hint != '\0' && used + 1 < sizeof named) {
        const char *end = *hint == '\'' ? strchr(hint + 1, '\'') : NULL;
        size_t length = end != NULL ? (size_t)(end - hint) - 1 : 0;
        if (length > 0 && used + length + 3 < sizeof named && has(options, hint + 1, length)) {
            named[used++] = '-';
            named[used++] = '-';
            memcpy(named + used, hint + 1, length);
            used += length;
            hint = end + 1;
        } else {
            named[used++] = *hint++;
        }
    }
    named[used] = '\0';
    memcpy(error->hint, named, used + 1);
}

void caucus_complain_line(const caucus_option *options, caucus_status status, const caucus_error *error,
                          char ret[CAUCUS_ERROR_LINE_BYTES]) {
    caucus_error named = *error;
    caucus_complain_name(options, &named);
    caucus_error_line(&named, status, ret);
}

int caucus_complain(const char *verb, const caucus_option *options, caucus_status status, const caucus_error *error) {
    char line[CAUCUS_ERROR_LINE_BYTES], place[CAUCUS_CONFIG_PLACE_BYTES];
    caucus_complain_line(options, status, error, line);
    if (error->field[0] == '\0')
        fprintf(stderr, "%s: %s\n", caucus_program(verb), line);
    else if (caucus_config_place(error->field, place))
        fprintf(stderr, "%s: %s %s\n", place, error->field, line);
    else if (has(options, error->field, strlen(error->field)))
        fprintf(stderr, "%s: --%s %s\n", caucus_program(verb), error->field, line);
    else
        fprintf(stderr, "%s: %s: %s\n", caucus_program(verb), error->field, line);
    return caucus_exit_code(status);
}

int caucus_complain_scenario(const char *verb, caucus_status status, const caucus_complaint *complaint) {
    char place[CAUCUS_CONFIG_PLACE_BYTES];
    if (complaint->in_file)
        fprintf(stderr, "%s\n", complaint->line);
    else if (complaint->field != NULL && caucus_config_place(complaint->field, place))
        fprintf(stderr, "%s: %s%s\n", place, complaint->field, complaint->line);
    else if (complaint->field != NULL)
        fprintf(stderr, "%s: --%s%s\n", caucus_program(verb), complaint->field, complaint->line);
    else
        fprintf(stderr, "%s: %s\n", caucus_program(verb), complaint->line);
    return caucus_exit_code(status);
}

int caucus_complain_memory(const char *verb) {
    fprintf(stderr, "%s: %s\n", caucus_program(verb), caucus_status_text(CAUCUS_E_MEMORY));
    return caucus_exit_code(CAUCUS_E_MEMORY);
}
