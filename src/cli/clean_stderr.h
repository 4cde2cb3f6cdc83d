/* SPDX-License-Identifier: Apache-2.0 */
/* clean_stderr.h: standard error shows text, whatever it is made of. */
#ifndef CAUCUS_CLI_CLEAN_STDERR_H
#define CAUCUS_CLI_CLEAN_STDERR_H

#include <stdio.h>

/** From now on whatever is printed to stderr is cleaned (num/printable.h): words of a command line, names of files and
 *  what strangers sent may stand in any remark, and none of them moves a cursor or begins a line of its own. One call
 *  of fprintf() is one line: only its last newline stays. */
void caucus_clean_stderr(void);

/** Standard error as it is, for progress bars, which do move the cursor. */
FILE *caucus_terminal(void);

/** A socket must never take the place of a closed standard input or output. */
void caucus_keep_standard_files(void);

#endif
