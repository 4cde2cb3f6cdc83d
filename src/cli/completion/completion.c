/* SPDX-License-Identifier: Apache-2.0 */
/* completion.c: `caucus completion`: scripts with which a shell completes verbs, options and their values.
 *
 * Nothing about a verb is written here: every verb is started, shows the table of options with which it reads its
 * command line (caucus_options_watch), and ends. So the scripts cannot tell of other options than there are. */
#include "cli/completion/values.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "num/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERB_ENTRY(name, group, ranks, line) {#name, group, line, ranks, caucus_cli_##name},
static const caucus_verb verbs[] = {CAUCUS_VERB_LIST(VERB_ENTRY){NULL, NULL, NULL, false, NULL}};

/* What a shell is told: the script's beginning, a verb's line, its options one by one, the end of a verb, and the end.
 * `out` is standard output. */
typedef struct shell {
    const char *name;
    void (*begin)(void);
    void (*verb_begin)(const caucus_verb *verb);
    void (*option)(const char *verb, const caucus_option *option);
    void (*verb_end)(const caucus_verb *verb);
    void (*end)(void);
} shell;

static const shell *speaking; /* the shell for which options are shown */

/* Text between single quotes: a quote in it ends them, stands by itself, and begins them again. zsh reads [ ] : in
 * descriptions, and takes them literally after a backslash. */
static void quoted(const char *text, bool zsh) {
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (zsh && strchr("[]:\\", *text) != NULL)
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void print_words(const char *verb, const caucus_option *option) {
    const char *word;
    for (unsigned i = 0; (word = caucus_values_word(verb, option, i)) != NULL; i++)
        printf("%s%s", i > 0 ? " " : "", word);
}

static void print_first(const char *verb) {
    const char *word;
    for (unsigned i = 0; (word = caucus_values_first(verb, i)) != NULL; i++)
        printf("%s%s", i > 0 ? " " : "", word);
}

static void bash_begin(void) {
    fputs("# bash completion of caucus, made by: caucus completion bash\n"
          "_caucus() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} options=--help first=\n"
          "    # --name=value comes as three words\n"
          "    if [ \"$cur\" = = ]; then cur=''; elif [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ] || { [ \"$COMP_CWORD\" -eq 2 ] && [ \"$prev\" = help ]; }; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W '",
          stdout);
    for (const caucus_verb *verb = verbs; verb->name != NULL; verb++)
        printf("%s ", verb->name);
    fputs("help --help --version' -- \"$cur\")\n"
          "        return\n"
          "    fi\n"
          "    case ${COMP_WORDS[1]}:$prev in\n",
          stdout);
}

/* First all options that take something, then, in another case, the names of all of them: see bash_names(). */
static void bash_option(const char *verb, const caucus_option *option) {
    const caucus_completion_kind kind = caucus_values_of(verb, option);
    if (kind == CAUCUS_VALUES_NONE)
        return;
    printf("    %s:--%s) ", verb, option->name);
    if (kind == CAUCUS_VALUES_FILES) {
        fputs("mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); compopt -o filenames 2>/dev/null", stdout);
    } else if (kind == CAUCUS_VALUES_WORDS) {
        fputs("mapfile -t COMPREPLY < <(compgen -W '", stdout);
        print_words(verb, option);
        fputs("' -- \"$cur\")", stdout);
    }
    fputs(kind == CAUCUS_VALUES_FREE ? "return ;;\n" : "; return ;;\n", stdout);
}
static void bash_name(const char *verb, const caucus_option *option) {
    (void)verb;
    printf(" --%s", option->name);
}
static void bash_name_begin(const caucus_verb *verb) {
    printf("    %s) options='--help", verb->name);
}
static void bash_name_end(const caucus_verb *verb) {
    putchar('\'');
    if (caucus_values_first(verb->name, 0) != NULL) {
        fputs(" first='", stdout);
        print_first(verb->name);
        putchar('\'');
    }
    fputs(" ;;\n", stdout);
}
static const shell bash_names = {"bash", NULL, bash_name_begin, bash_name, bash_name_end, NULL};
static void show_verbs(const shell *to);

static void bash_end(void) {
    fputs("    esac\n"
          "    case ${COMP_WORDS[1]} in\n",
          stdout);
    show_verbs(&bash_names);
    fputs("    esac\n"
          "    if [[ $cur == -* ]]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
          "    elif [ -n \"$first\" ] && [ \"$COMP_CWORD\" -eq 2 ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$first\" -- \"$cur\")\n"
          "    else\n"
          "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
          "        compopt -o filenames 2>/dev/null\n"
          "    fi\n"
          "}\n"
          "complete -F _caucus caucus caucus-mpi\n"
          "_caucus_client() { # caucus-client is caucus join\n"
          "    local COMP_WORDS=(caucus join \"${COMP_WORDS[@]:1}\") COMP_CWORD=$((COMP_CWORD + 1))\n"
          "    _caucus\n"
          "}\n"
          "complete -F _caucus_client caucus-client\n",
          stdout);
}

static void zsh_begin(void) {
    fputs("#compdef caucus caucus-mpi caucus-client\n"
          "# zsh completion of caucus, made by: caucus completion zsh\n"
          "_caucus() {\n"
          "    local -a verbs\n"
          "    if [[ $service == caucus-client ]]; then # it is caucus join\n"
          "        words=(caucus join \"${(@)words[2,-1]}\"); (( CURRENT++ ))\n"
          "    fi\n"
          "    if (( CURRENT == 2 )) || [[ CURRENT -eq 3 && $words[2] == help ]]; then\n"
          "        verbs=(",
          stdout);
    for (const caucus_verb *verb = verbs; verb->name != NULL; verb++) {
        printf("'%s:", verb->name);
        quoted(verb->line, true);
        fputs("' ", stdout);
    }
    fputs("'help:the options of a verb')\n"
          "        _describe verb verbs\n"
          "        return\n"
          "    fi\n"
          "    local verb=$words[2]\n"
          "    shift words; (( CURRENT-- ))\n"
          "    case $verb in\n",
          stdout);
}
static void zsh_verb_begin(const caucus_verb *verb) {
    printf("    %s) _arguments '--help[what it does, with an example]'", verb->name);
}
static void zsh_option(const char *verb, const caucus_option *option) {
    const caucus_completion_kind kind = caucus_values_of(verb, option);
    printf(" \\\n        '--%s%s[", option->name, kind == CAUCUS_VALUES_NONE ? "" : "=");
    quoted(option->help, true);
    putchar(']');
    if (kind != CAUCUS_VALUES_NONE) {
        putchar(':');
        quoted(option->argument, true);
        putchar(':');
    }
    if (kind == CAUCUS_VALUES_FILES)
        fputs("_files", stdout);
    if (kind == CAUCUS_VALUES_WORDS) {
        putchar('(');
        print_words(verb, option);
        putchar(')');
    }
    putchar('\'');
}
static void zsh_verb_end(const caucus_verb *verb) {
    if (caucus_values_first(verb->name, 0) == NULL) {
        fputs(" '*:file:_files' ;;\n", stdout);
        return;
    }
    fputs(" '1:word:(", stdout);
    print_first(verb->name);
    fputs(")' ;;\n", stdout);
}
static void zsh_end(void) {
    fputs("    esac\n"
          "}\n"
          "_caucus \"$@\"\n",
          stdout);
}

static void fish_begin(void) {
    fputs("# fish completion of caucus, made by: caucus completion fish\n"
          "complete -c caucus-mpi -w caucus\n"
          "complete -c caucus-client -w 'caucus join'\n"
          "complete -c caucus -n __fish_use_subcommand -f -a help -d 'the options of a verb'\n",
          stdout);
}
static void fish_verb_begin(const caucus_verb *verb) {
    printf("complete -c caucus -n __fish_use_subcommand -f -a %s -d '", verb->name);
    quoted(verb->line, false);
    printf("'\ncomplete -c caucus -n '__fish_seen_subcommand_from help' -f -a %s\n", verb->name);
    if (caucus_values_first(verb->name, 0) == NULL)
        return;
    printf("complete -c caucus -n '__fish_seen_subcommand_from %s; and not __fish_seen_subcommand_from help ",
           verb->name);
    print_first(verb->name);
    fputs("' -f -a '", stdout);
    print_first(verb->name);
    fputs("'\n", stdout);
}
static void fish_option(const char *verb, const caucus_option *option) {
    const caucus_completion_kind kind = caucus_values_of(verb, option);
    printf("complete -c caucus -n '__fish_seen_subcommand_from %s; and not __fish_seen_subcommand_from help' -l %s",
           verb, option->name);
    if (kind == CAUCUS_VALUES_FILES)
        fputs(" -r -F", stdout);
    if (kind == CAUCUS_VALUES_FREE)
        fputs(" -x", stdout);
    if (kind == CAUCUS_VALUES_WORDS) {
        fputs(" -x -a '", stdout);
        print_words(verb, option);
        putchar('\'');
    }
    fputs(" -d '", stdout);
    quoted(option->help, false);
    fputs("'\n", stdout);
}

static const shell shells[] = {
    {"bash", bash_begin, NULL, bash_option, NULL, bash_end},
    {"zsh", zsh_begin, zsh_verb_begin, zsh_option, zsh_verb_end, zsh_end},
    {"fish", fish_begin, fish_verb_begin, fish_option, NULL, NULL},
};

/* Options that a verb knows only to say why it does not take them, and those that help does not show. */
static bool is_hidden(const char *verb, const caucus_option *option) {
    static const char *const up[] = {"out", "ledger", "budget", "threads", "trials"};
    for (size_t i = 0; strcmp(verb, "up") == 0 && i < sizeof up / sizeof up[0]; i++)
        if (strcmp(option->name, up[i]) == 0)
            return true;
    return option->help == NULL || strncmp(option->help, "for tests", strlen("for tests")) == 0;
}

static void show_options(const char *verb, const caucus_option *options) {
    for (; options->name != NULL; options++)
        if (!is_hidden(verb, options))
            speaking->option(verb, options);
}

static void show_verbs(const shell *to) {
    speaking = to;
    caucus_options_watch(show_options);
    for (const caucus_verb *verb = verbs; verb->name != NULL; verb++) {
        char name[64];
        char *argv[] = {name, NULL};
        (void)snprintf(name, sizeof name, "%s", verb->name);
        if (to->verb_begin != NULL)
            to->verb_begin(verb);
        (void)verb->run(1, argv); /* it ends at its options */
        if (to->verb_end != NULL)
            to->verb_end(verb);
    }
    caucus_options_watch(NULL);
}

static const caucus_option options[] = {{NULL, NULL, NULL, NULL}};

static void print_help(void) {
    fputs("caucus completion: let a shell complete verbs, options and their values\n"
          "\n"
          "  source <(caucus completion bash)                                      in ~/.bashrc\n"
          "  caucus completion zsh > ~/.zsh/completions/_caucus                    a folder of $fpath\n"
          "  caucus completion fish > ~/.config/fish/completions/caucus.fish\n"
          "\n"
          "make install and the packages put them where these shells look, and nothing is left to do.\n",
          stdout);
}

static int take_option(void *user, size_t index, const char *value) {
    (void)index;
    return caucus_take_word("completion", "shell", value, user);
}

int caucus_cli_completion(int argc, char **argv) {
    const char *name = NULL;
    int code = caucus_options_parse("completion", options, argc, argv, take_option, &name);
    if (caucus_options_over(&code, print_help))
        return code;
    for (size_t i = 0; name != NULL && i < sizeof shells / sizeof shells[0]; i++) {
        const shell *s = &shells[i];
        if (strcmp(name, s->name) != 0)
            continue;
        s->begin();
        show_verbs(s);
        if (s->end != NULL)
            s->end();
        return CAUCUS_EXIT_DONE;
    }
    return name == NULL ? caucus_usage("completion", "which shell? caucus completion bash, zsh or fish")
                        : caucus_usage("completion", "'%s': must be bash, zsh or fish%s", name,
                                       caucus_meant_of(name, (const char *const[]){"bash", "fish", "zsh", NULL}).text);
}
