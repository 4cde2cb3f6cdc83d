/* main.c: the program `caucus`: overview, --help, --version, and the way to a verb.
 *
 * Exit codes everywhere: 0 done, 1 failed, 2 wrong use or input. An error is one line that names the fix. */
#include "cli/verbs.h"

#include <caucus/version.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#define VERB_ENTRY(name, group, line) {#name, group, line, caucus_cli_##name},
static const caucus_verb verbs[] = {CAUCUS_VERB_LIST(VERB_ENTRY){NULL, NULL, NULL, NULL}};

/* Longer words than this are nobody's typing error; it bounds the table below. */
enum { WORD_MAX = 32 };

static void print_overview(FILE *out) {
    fputs("caucus: pick the best of d experts for a fleet, online, with differential privacy\n\n", out);
    const char *group = "";
    for (const caucus_verb *verb = verbs; verb->name != NULL; verb++) {
        int same = strcmp(group, verb->group) == 0;
        fprintf(out, "  %-12s  %-10s  %s\n", same ? "" : verb->group, verb->name, verb->line);
        group = verb->group;
    }
    fputs("\ncaucus VERB --help shows a verb's options with an example. Manual: man caucus\n", out);
}

/* Edits (insert, drop, replace, swap neighbours) from a to b: the usual table, three rows of it. */
static size_t distance(const char *a, const char *b) {
    size_t la = strlen(a), lb = strlen(b);
    size_t row[3][WORD_MAX + 1];
    if (la > WORD_MAX || lb > WORD_MAX)
        return WORD_MAX;
    for (size_t j = 0; j <= lb; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[la % 3][lb];
}

/* What was probably meant, or NULL: at most a third of the letters wrong. */
static const char *nearest(const char *word) {
    static const char *const options[] = {"--help", "--version"};
    const char *found = NULL;
    size_t best = WORD_MAX;
    for (const caucus_verb *verb = verbs; verb->name != NULL; verb++) {
        size_t d = distance(word, verb->name);
        if (d < best && 3 * d <= strlen(verb->name)) {
            best = d;
            found = verb->name;
        }
    }
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        size_t d = distance(word, options[i]);
        if (strcmp(word, options[i] + 2) == 0 || (strcmp(word, "-h") == 0 && i == 0))
            d = 0;
        if (d < best && 3 * d <= strlen(options[i])) {
            best = d;
            found = options[i];
        }
    }
    return found;
}

static int unknown(const char *word) {
    const char *kind = word[0] == '-' ? "option" : "verb";
    const char *meant = nearest(word);
    if (meant != NULL)
        fprintf(stderr, "caucus: unknown %s '%s' — did you mean '%s'?\n", kind, word, meant);
    else
        fprintf(stderr, "caucus: unknown %s '%s' — 'caucus --help' lists what there is\n", kind, word);
    return EXIT_USAGE;
}

/* A full disk or a closed pipe is a failure even if everything before went well. */
static int finish(int code) {
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("caucus: writing the output");
        return code == EXIT_DONE ? EXIT_FAILED : code;
    }
    return code;
}

int main(int argc, char **argv) {
    if (argc < 2 || strcmp(argv[1], "--help") == 0) {
        print_overview(stdout);
        return finish(EXIT_DONE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("caucus " CAUCUS_VERSION);
        return finish(EXIT_DONE);
    }
    for (const caucus_verb *verb = verbs; verb->name != NULL; verb++)
        if (strcmp(argv[1], verb->name) == 0)
            return finish(verb->run(argc - 1, argv + 1));
    return unknown(argv[1]);
}
