/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h: how a verb that several ranks run together ends alike in all of them (mpi/here.h).
 * layer: cli
 *
 * The line that says why is rank 0's, or that of the lowest rank that failed; a rank that ends because of another one
 * ends with CAUCUS_RANKS_EXIT_ELSEWHERE. */
#ifndef CAUCUS_CLI_RANKS_H
#define CAUCUS_CLI_RANKS_H

#include "mpi/here.h"

/** A code that every rank has found for itself, 0 = go on. Returns: 0 if it is 0 in all of them. */
int caucus_cli_agree_code(const caucus_ranks *ranks, int code);

/** A code that rank 0 has found for all. Returns: 0 if it is 0. */
int caucus_cli_share_code(const caucus_ranks *ranks, int code);

/** Do all ranks read the same there? A copy on one machine's disk that is older than the others would give results that
 *  are nobody's.
 *  In:      a file, or a folder whose files count; NULL: nothing is read. The same in every rank.
 *  Returns: 0; else a code in all ranks, and the lowest that reads something else than rank 0 says so. */
int caucus_cli_same_input(const caucus_ranks *ranks, const char *verb, const char *path);

/** The same for MovieLens: in `data`, or where it is looked for if that is NULL. */
int caucus_cli_same_movielens(const caucus_ranks *ranks, const char *verb, const char *data);

/** For the line that says why a verb stopped: "rank 3 is gone, " or "". */
const char *caucus_cli_gone(const caucus_ranks *ranks);

#endif
