/* SPDX-License-Identifier: Apache-2.0 */
/* here.h: the processes that this one was started with, for the program.
 * layer: mpi
 *
 * Two files say the same in two ways, and a program is linked with one of them: alone.c (`caucus`: one process, no MPI)
 * and open_mpi.c (`caucus-mpi`: as many as mpirun started). Nothing else of the source knows MPI.
 *
 * Rank 0 speaks for all. What others print is thrown away; their complaints are held back and shown only if rank 0 has
 * nothing to complain about itself: a failure is one line. */
#ifndef CAUCUS_MPI_HERE_H
#define CAUCUS_MPI_HERE_H

#include "sim/ranks.h"

/* An exit code that says: another rank knows why. */
#define CAUCUS_RANKS_EXIT_ELSEWHERE (-100)

/** What MPI is linked, for people: "Open MPI 4.1.4"; NULL: none. */
const char *caucus_ranks_library(void);

/** Find the other ranks, once, before anything is read or printed.
 *  In:      stop  set by a signal: from then on a rank waits only a moment for the others (src/sim/run_ranks.c).
 *           hint  what to do when rank 0 is gone, for people; borrowed. */
void caucus_ranks_open(int *argc, char ***argv, const volatile int *stop, const char *hint);

/** The ranks; NULL: this process is alone. */
const caucus_ranks *caucus_ranks_here(void);

/** End together. What is in stdout must have been flushed.
 *  In:      code  with which this rank would end.
 *  Returns: the code to end with. Does not return if other ranks are gone or will not come. */
int caucus_ranks_close(int code);

#endif
