/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: the program `caucus`: overview, --help, --version, and the way to a verb.
 *
 * Exit codes: see exit_codes.h. An error is one line that names the fix. */
#include "cli/clean_stderr.h"
#include "cli/exit_codes.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/terminal/dress.h"
#include "cli/verbs.h"
#include "mpi/here.h"
#include "num/nearest.h"

#include <caucus/version.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define VERB_ENTRY(name, group, ranks, line) {#name, group, line, ranks, caucus_cli_##name},
static const caucus_verb verbs[] = {CAUCUS_VERB_LIST(VERB_ENTRY){NULL, NULL, NULL, false, NULL}};

static void print_overview(FILE *out) {
    fputs("caucus: pick the best of d experts for a fleet, online, with differential privacy\n\n", out);
    const char *group = "";
    for (const caucus_verb *verb = verbs; verb->name != NULL; verb++) {
        int same = strcmp(group, verb->group) == 0;
        fprintf(out, "  %-12s  %-10s  %s\n", same ? "" : verb->group, verb->name, verb->line);
        group = verb->group;
    }
    fputs("\ncaucus help VERB, or caucus VERB --help, shows a verb's options with an example. Manual: man caucus\n"
          "--color auto, always or never: warnings stand out on a terminal (auto; NO_COLOR is heeded)\n",
          out);
}

/* Verbs, then options: whatever may stand in the first place. */
static const char *first_words(const void *user, size_t i) {
    static const char *const options[] = {"--help", "--version", NULL};
    (void)user;
    const size_t count = sizeof verbs / sizeof verbs[0] - 1;
    return i < count ? verbs[i].name : options[i - count];
}

/* What was probably meant, or NULL. An option without its dashes, and -h, are near enough. */
static const char *nearest(const char *word) {
    if (strcmp(word, "-h") == 0)
        return "--help";
    return caucus_nearest(word, first_words, NULL);
}

static int unknown(const char *word) {
    const char *kind = word[0] == '-' ? "option" : "verb";
    const char *meant = nearest(word);
    if (meant != NULL)
        fprintf(stderr, "caucus: unknown %s '%s' — did you mean '%s'?\n", kind, word, meant);
    else
        fprintf(stderr, "caucus: unknown %s '%s' — 'caucus --help' lists what there is\n", kind, word);
    return CAUCUS_EXIT_USAGE;
}

/* A verb, in every rank. */
static int run_verb(const caucus_verb *verb, int argc, char **argv) {
    const caucus_ranks *ranks = caucus_ranks_here();
    if (ranks != NULL && !verb->ranks) {
        fprintf(stderr, "caucus: %s is one process, not %u — mpirun is for simulate, reproduce and audit\n", verb->name,
                ranks->size);
        return CAUCUS_EXIT_USAGE;
    }
    caucus_progress_by_lines = ranks != NULL;
    return verb->run(argc, argv);
}

static const caucus_verb *verb_of(const char *name) {
    for (const caucus_verb *verb = verbs; verb->name != NULL; verb++)
        if (strcmp(name, verb->name) == 0)
            return verb;
    return NULL;
}

/* `caucus help VERB` is `caucus VERB --help`. */
static int help(const char *name) {
    char word[64], option[] = "--help";
    const caucus_verb *verb = verb_of(name);
    if (verb == NULL)
        return unknown(name);
    (void)snprintf(word, sizeof word, "%s", verb->name);
    char *argv[] = {word, option, NULL};
    return run_verb(verb, 2, argv);
}

static int run(int argc, char **argv) {
    if (argc > 2 && strcmp(argv[1], "help") == 0)
        return help(argv[2]);
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_overview(stdout);
        return CAUCUS_EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("caucus " CAUCUS_VERSION);
        return CAUCUS_EXIT_DONE;
    }
    const caucus_verb *verb = verb_of(argv[1]);
    return verb != NULL ? run_verb(verb, argc - 1, argv + 1) : unknown(argv[1]);
}

int main(int argc, char **argv) {
    caucus_keep_standard_files();
    caucus_clean_stderr();
    caucus_ranks_open(&argc, &argv, &caucus_stop,
                      "simulate goes on with --resume from what it kept under --out, reproduce and audit begin again");
    caucus_color color = CAUCUS_COLOR_AUTO;
    int code = caucus_color_take(&argc, argv, &color);
    /* mpirun gives a rank a terminal of mpirun's own, wherever its output goes: over ranks nothing is fitted to one. */
    caucus_dress_streams(caucus_ranks_here() == NULL, color);
    if (code == 0)
        code = run(argc, argv);
    code = caucus_exit_finish("caucus", code);
    caucus_dress_end();
    return caucus_ranks_close(code);
}
