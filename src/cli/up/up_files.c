/* SPDX-License-Identifier: Apache-2.0 */
/* up_files.c: the directory of a live federation: made, and removed without trace. See up.h.
 *
 * It holds keys. Whoever kills this process without asking (SIGKILL) leaves nobody to remove them, so a second process
 * does: it is started before the first key is made, knows nothing but the directory's name, and waits for the end of a
 * pipe that only the first one holds open. */
#define _GNU_SOURCE /* pipe2 */
#include "cli/options.h"
#include "cli/up/up.h"
#include "dial/certify.h"
#include "num/error_line.h"
#include "relay/certify_relays.h"
#include "store/atomic_folder.h"
#include <caucus/plan_file.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REMOVALS 200 /* children of the killed process die with it; until they have, they may make a file yet */

void caucus_up_file(const caucus_up *u, caucus_up_path ret, const char *format, ...) {
    char name[64];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(name, sizeof name, format, args);
    va_end(args);
    (void)snprintf(ret, sizeof(caucus_up_path), "%s/%s", u->dir, name);
}

/* In the second process: nothing here may return. */
static _Noreturn void watch(const char *dir, int pipe_fd) {
    sigset_t all;
    char end;
    sigfillset(&all); /* Ctrl-C is for the first one */
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    (void)setsid();
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
        (void)dup2(null, fd); /* whoever reads our output must not wait for this one */
    while (read(pipe_fd, &end, 1) < 0 && errno == EINTR)
        ;
    for (int i = 0; i < REMOVALS && access(dir, F_OK) == 0; i++) {
        caucus_folder_remove(dir);
        (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    _exit(0);
}

static bool start_watcher(caucus_up *u) {
    int pipe_fd[2];
    if (pipe2(pipe_fd, O_CLOEXEC) != 0)
        return false;
    u->watcher = fork();
    if (u->watcher == 0) {
        (void)close(pipe_fd[1]);
        watch(u->dir, pipe_fd[0]);
    }
    (void)close(pipe_fd[0]);
    if (u->watcher < 0) {
        (void)close(pipe_fd[1]);
        u->watcher = 0;
        return false;
    }
    u->watched = pipe_fd[1];
    return true;
}

/* The directory, certificates and the plan. */
int caucus_up_make_files(caucus_up *u) {
    char path[sizeof(caucus_up_path)], line[CAUCUS_ERROR_LINE_BYTES];
    caucus_error error = {0};
    const char *temporary = getenv("TMPDIR");
    if (u->keep && strlen(u->keep) < CAUCUS_UP_PATH_BYTES && mkdir(u->keep, 0700) == 0)
        (void)snprintf(u->dir, sizeof u->dir, "%s", u->keep);
    else if (u->keep)
        return caucus_usage("up", "--keep %s: %s — give a directory that does not exist yet", u->keep, strerror(errno)),
               CAUCUS_EXIT_USAGE;
    else if (snprintf(u->dir, sizeof u->dir, "%s/caucus-up-XXXXXX", temporary && temporary[0] ? temporary : "/tmp") >=
                 (int)sizeof u->dir ||
             !mkdtemp(u->dir)) {
        caucus_usage("up", "%s: %s — set TMPDIR to a directory that can be written to", u->dir, strerror(errno));
        u->dir[0] = '\0';
        return CAUCUS_EXIT_FAILED;
    }
    if (!u->keep && !start_watcher(u)) {
        caucus_usage("up", "cannot start a process: %s", strerror(errno));
        return CAUCUS_EXIT_FAILED;
    }
    caucus_up_file(u, path, "certs");
    caucus_certify_settings certify = {.dir = path,
                                       .clients = u->prepared.plan[0]->settings.clients,
                                       .days = 1,
                                       .relays = u->relays,
                                       .more = u->relays ? caucus_certify_relays : NULL,
                                       .stop = &caucus_up_stop};
    caucus_status status = caucus_certify(&certify, &error);
    if (status == CAUCUS_OK) {
        caucus_up_file(u, path, "plan.yaml");
        status = caucus_plan_file_write(u->prepared.plan[0], path, false, &error);
    }
    if (status == CAUCUS_OK || caucus_up_stop)
        return status == CAUCUS_OK ? 0 : CAUCUS_EXIT_FAILED;
    caucus_error_line(&error, status, line);
    caucus_usage("up", "%s%s%s", error.field, error.field[0] ? ": " : "", line);
    return CAUCUS_EXIT_FAILED;
}

void caucus_up_remove_files(caucus_up *u) {
    if (u->dir[0] && u->keep)
        fprintf(stderr, "caucus up: kept in %s\n", u->dir);
    else if (u->dir[0])
        caucus_folder_remove(u->dir);
    if (u->watcher > 0) {
        (void)close(u->watched);
        while (waitpid(u->watcher, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    u->watcher = 0;
}
