/* SPDX-License-Identifier: Apache-2.0 */
/* children.h: processes, most of them of this same program, started, read from, and always ended.
 * layer: cli
 *
 * A child's standard output comes back line by line; its standard error goes to a file. Whatever ends this process ends
 * the children: they are killed and reaped by caucus_children_end(), and by the kernel (PR_SET_PDEATHSIG) if this
 * process is killed itself. */
#ifndef CAUCUS_CLI_CHILDREN_H
#define CAUCUS_CLI_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct caucus_child {
    pid_t pid; /* 0: reaped, or never started */
    int out;   /* its standard output; -1: at its end */
    int code;  /* once reaped: its exit code, or 128 + signal */
    char *log; /* file of its standard error */
    char line[4096];
    size_t used; /* bytes of an unfinished line */
} caucus_child;

/* What is done with a line (without its end). */
typedef void (*caucus_child_line)(void *user, size_t child, const char *line);

/** Start `caucus argv[1] argv[2] ...` (argv[0] is what it is called; the last one is NULL). False: errno says why. */
bool caucus_child_start(caucus_child *ret, const char *const *argv, const char *log);

/** Likewise another program, started in a folder. */
bool caucus_child_start_other(caucus_child *ret, const char *program, const char *folder, const char *const *argv,
                              const char *log);

/** Read what the children have written, or wait at most timeout_ms for something. Children that have ended are reaped.
 *  Returns: how many are still there. */
size_t caucus_children_read(caucus_child *child, size_t count, int timeout_ms, caucus_child_line each, void *user);

/** SIGTERM, half a second of patience, SIGKILL; reap all; free names. */
void caucus_children_end(caucus_child *child, size_t count);

#endif
