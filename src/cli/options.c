/* SPDX-License-Identifier: Apache-2.0 */
/* options.c: see options.h. */
#include "cli/options.h"

#include "cli/terminal/dress.h"
#include "num/nearest.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *own_name; /* of a program that is one verb */

void caucus_program_is(const char *name) {
    own_name = name;
}

const char *caucus_program(const char *verb) {
    static char name[64];
    if (own_name != NULL)
        return own_name;
    (void)snprintf(name, sizeof name, "caucus %s", verb);
    return name;
}

static const char *name_at(const void *user, size_t i) {
    const caucus_option *options = user;
    return options[i].name; /* NULL at the end of the table */
}

/* Options that had another name once: whoever has it in a script is told the new one. */
static const struct { const char *verb, *before, *now; } renamed[] = {{"join", "--npy", "--losses"}};

static int refuse_unknown(const char *verb, const caucus_option *options, const char *word) {
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++) {
        if (strcmp(verb, renamed[i].verb) == 0 && strlen(renamed[i].before) == strcspn(word, "=") &&
            strncmp(word, renamed[i].before, strlen(renamed[i].before)) == 0) {
            fprintf(stderr, "%s: unknown option '%s' — it is called '%s' now\n", caucus_program(verb),
                    renamed[i].before, renamed[i].now);
            return CAUCUS_EXIT_USAGE;
        }
    }
    char name[64];
    size_t length = strcspn(word, "=");
    const char *meant = NULL;
    if (length < sizeof name) {
        memcpy(name, word, length);
        name[length] = '\0';
        meant = caucus_nearest(name + strspn(name, "-"), name_at, options);
    }
    if (meant != NULL)
        fprintf(stderr, "%s: unknown option '%.*s' — did you mean '--%s'?\n", caucus_program(verb), (int)length, word,
                meant);
    else
        fprintf(stderr, "%s: unknown option '%.*s' — '%s --help' lists what there is\n", caucus_program(verb),
                (int)length, word, caucus_program(verb));
    return CAUCUS_EXIT_USAGE;
}

/* The option a word names exactly, or SIZE_MAX. */
static size_t find(const caucus_option *options, const char *word) {
    size_t length = strcspn(word, "=");
    for (size_t i = 0; options[i].name != NULL; i++)
        if (strlen(options[i].name) == length && strncmp(options[i].name, word, length) == 0)
            return i;
    return SIZE_MAX;
}

static bool asks_help(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static void (*watching)(const char *verb, const caucus_option *options);

void caucus_options_watch(void (*see)(const char *verb, const caucus_option *options)) {
    watching = see;
}

int caucus_options_parse(const char *verb, const caucus_option *options, int argc, char **argv,
                         caucus_option_taker take, void *user) {
    if (watching != NULL) {
        watching(verb, options);
        return CAUCUS_EXIT_USAGE;
    }
    if (asks_help(argc, argv))
        return CAUCUS_OPTIONS_HELP;
    bool ended = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value;
        int code = 0;
        if (ended || word[0] != '-' || word[1] == '\0') {
            code = take(user, SIZE_MAX, word);
        } else if (strcmp(word, "--") == 0) {
            ended = true;
        } else {
            size_t at = word[1] == '-' ? find(options, word + 2) : SIZE_MAX;
            if (at == SIZE_MAX)
                return refuse_unknown(verb, options, word);
            const char *equals = strchr(word, '=');
            if (equals != NULL) {
                value = equals + 1;
            } else if (options[at].argument == NULL) {
                value = "true";
            } else if (i + 1 < argc) {
                value = argv[++i];
            } else {
                fprintf(stderr, "%s: --%s: no value — write --%s %s\n", caucus_program(verb), options[at].name,
                        options[at].name, options[at].argument);
                return CAUCUS_EXIT_USAGE;
            }
            code = take(user, at, value);
        }
        if (code != 0)
            return code;
    }
    return 0;
}

void caucus_options_help(const caucus_option *options, size_t first, size_t count) {
    for (size_t i = first; i < first + count && options[i].name != NULL; i++) {
        const caucus_option *o = &options[i];
        char left[48];
        (void)snprintf(left, sizeof left, "--%s%s%s", o->name, o->argument != NULL ? " " : "",
                       o->argument != NULL ? o->argument : "");
        printf("  %-22s %s", left, o->help);
        if (o->fallback != NULL && o->argument != NULL)
            printf(" (%s)", o->fallback);
        putchar('\n');
    }
}

void caucus_options_page(const char *text, const caucus_option *options, size_t count) {
    printf("%s\nOptions\n", text);
    caucus_options_help(options, 0, count);
}

void caucus_options_sections(const caucus_option *options, const caucus_option_section *sections) {
    for (const caucus_option_section *s = sections; s->title != NULL; s++) {
        if (s->title[0] != '\0')
            printf("\n%s\n", s->title);
        caucus_options_help(options, s->first, s->end - s->first);
        if (s->below != NULL)
            fputs(s->below, stdout);
    }
}

bool caucus_options_over(int *code, void (*help)(void)) {
    if (*code == CAUCUS_OPTIONS_HELP) {
        help();
        *code = CAUCUS_EXIT_DONE;
        return true;
    }
    return *code != 0;
}

int caucus_usage(const char *verb, const char *format, ...) {
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s\n", caucus_program(verb), line);
    return CAUCUS_EXIT_USAGE;
}

int caucus_take_word(const char *verb, const char *what, const char *value, const char **ret) {
    if (*ret != NULL)
        return caucus_usage(verb, "'%s': one %s at a time, '%s' was given already", value, what, *ret);
    *ret = value;
    return 0;
}

int caucus_take_format(const char *verb, const char *value, bool *ret_json) {
    static const char *const words[] = {"text", "json", NULL};
    *ret_json = value != NULL && strcmp(value, "json") == 0;
    if (value != NULL && !*ret_json && strcmp(value, "text") != 0)
        return caucus_usage(verb, "--format %s: must be text or json%s", value, caucus_meant_of(value, words).text);
    if (*ret_json)
        caucus_dress_data();
    return 0;
}

int caucus_take_switch(const char *verb, const char *option, const char *value, bool *ret) {
    *ret = strcmp(value, "true") == 0;
    if (!*ret && strcmp(value, "false") != 0)
        return caucus_usage(verb, "--%s %s: must be true or false", option, value);
    return 0;
}

typedef struct small_line {
    const caucus_small_verb *verb;
    void *user;
    const char **ret_word;
} small_line;

static int take_small(void *user, size_t index, const char *value) {
    const small_line *line = user;
    if (index == SIZE_MAX && line->verb->word != NULL)
        return caucus_take_word(line->verb->name, line->verb->word, value, line->ret_word);
    return line->verb->take(line->user, index, value);
}

bool caucus_small_verb_over(const caucus_small_verb *verb, int argc, char **argv, void *user, const char **ret_word,
                            int *ret_code) {
    small_line line = {verb, user, ret_word};
    *ret_code = caucus_options_parse(verb->name, verb->options, argc, argv, take_small, &line);
    if (*ret_code == CAUCUS_OPTIONS_HELP) {
        caucus_options_page(verb->help, verb->options, SIZE_MAX);
        *ret_code = CAUCUS_EXIT_DONE;
        return true;
    }
    return *ret_code != 0;
}
