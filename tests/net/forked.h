/* SPDX-License-Identifier: Apache-2.0 */
/* forked.h: a child of a test that never outlives it, however the test ends. */
#ifndef CAUCUS_TEST_FORKED_H
#define CAUCUS_TEST_FORKED_H

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

/* fork(), and in the child: die with the thread that made it. */
static inline pid_t forked(void) {
    pid_t parent = getpid(), child = fork();
    if (child == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent))
        _exit(126);
    return child;
}

#endif
