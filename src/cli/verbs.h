/* SPDX-License-Identifier: Apache-2.0 */
/* verbs.h: the verbs of the program `caucus`, one line each.
 *
 * To add one: write src/cli/NAME.c with `int caucus_cli_NAME(int argc, char **argv)`, where argv[0] is the
 * verb, and add its line below. The function prints results to stdout and remarks to stderr, and returns
 * a code of exit_codes.h. Verbs of one group stand together. */
#ifndef CAUCUS_CLI_VERBS_H
#define CAUCUS_CLI_VERBS_H

#include <stdbool.h>

/* X(name, "Group", can be several processes (mpi/here.h), "one line for the overview") */
#define CAUCUS_VERB_LIST(X)                                                                                            \
    X(reproduce, "Try it", true, "the paper's experiments, as a report with figures")                                  \
    X(up, "Try it", false, "a live federation on this machine, ten clients over TLS")                                  \
    X(pick, "Try it", false, "one private choice from a table of scores")                                              \
    X(plan, "Plan", false, "calibrate a run: noise, budget, regret bound, bytes")                                      \
    X(audit, "Plan", true, "try to refute the privacy claims")                                                         \
    X(statement, "Plan", false, "one page about a plan, for the one who signs")                                        \
    X(compare, "Plan", false, "what changes between two plans, privacy first")                                         \
    X(simulate, "Research", true, "any algorithm against any adversary or your own losses")                            \
    X(serve, "Run", false, "the coordinator of a live federation")                                                     \
    X(relay, "Run", false, "between clients and coordinator: sums near the clients")                                   \
    X(join, "Run", false, "a client: losses in, experts out")                                                          \
    X(stop, "Run", false, "end a run for good: clients hear of it")                                                    \
    X(store, "Run", false, "tables in PostgreSQL for a coordinator's state")                                           \
    X(privacy, "Run", false, "what has been spent")                                                                    \
    X(certify, "Run", false, "certificates to try things with")                                                        \
    X(completion, "Run", false, "let bash, zsh or fish complete options and values")                                   \
    X(version, "Run", true, "this program's version and what is built in")

typedef struct caucus_verb {
    const char *name; /* NULL ends the table */
    const char *group;
    const char *line;
    bool ranks;
    int (*run)(int argc, char **argv);
} caucus_verb;

#define CAUCUS_VERB_PROTOTYPE(name, group, ranks, line) int caucus_cli_##name(int argc, char **argv);
CAUCUS_VERB_LIST(CAUCUS_VERB_PROTOTYPE)
#undef CAUCUS_VERB_PROTOTYPE

#endif
