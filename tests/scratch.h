/* SPDX-License-Identifier: Apache-2.0 */
/* scratch.h: where tests put state that is synchronised with every commit: in memory, where the system has a directory
 * for that. A process that is killed loses nothing that it has written, disk or not, and thousands of syncs of some
 * milliseconds each would be most of a test's time. */
#ifndef CAUCUS_TESTS_SCRATCH_H
#define CAUCUS_TESTS_SCRATCH_H

#include <unistd.h>

static inline const char *scratch_root(void) {
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

#endif
