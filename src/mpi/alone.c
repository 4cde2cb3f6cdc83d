/* SPDX-License-Identifier: Apache-2.0 */
/* alone.c: a program without MPI is one process. See here.h. */
#include "mpi/here.h"

const char *caucus_ranks_library(void) {
    return NULL;
}

void caucus_ranks_open(int *argc, char ***argv, const volatile int *stop, const char *hint) {
    (void)argc, (void)argv, (void)stop, (void)hint;
}

const caucus_ranks *caucus_ranks_here(void) {
    return NULL;
}

int caucus_ranks_close(int code) {
    return code;
}
