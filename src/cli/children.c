/* SPDX-License-Identifier: Apache-2.0 */
/* children.c: see children.h. */
#define _GNU_SOURCE /* pipe2 */
#include "cli/children.h"

#include "cli/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* In the child: nothing here may return. */
static _Noreturn void become(const char *program, const char *folder, const char *const *argv, int out, int log,
                             pid_t parent) {
    (void)setpgid(0, 0); /* Ctrl-C is for the parent, which ends its children in order */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    int null = open("/dev/null", O_RDONLY);
    if (getppid() != parent || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(log, STDERR_FILENO) < 0 || (folder && chdir(folder) != 0))
        _exit(126);
    caucus_on_signals(SIG_DFL);
    caucus_on_signal(SIGPIPE, SIG_DFL);
    execv(program, (char *const *)(const void *)argv);
    _exit(127);
}

bool caucus_child_start(caucus_child *ret, const char *const *argv, const char *log) {
    return caucus_child_start_other(ret, "/proc/self/exe", NULL, argv, log);
}

bool caucus_child_start_other(caucus_child *ret, const char *program, const char *folder, const char *const *argv,
                              const char *log) {
    int pipe_fd[2] = {-1, -1};
    *ret = (caucus_child){.out = -1, .log = strdup(log)};
    int log_fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (!ret->log || log_fd < 0 || pipe2(pipe_fd, O_CLOEXEC) != 0) {
        int why = errno;
        if (log_fd >= 0)
            (void)close(log_fd);
        errno = why;
        return false;
    }
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become(program, folder, argv, pipe_fd[1], log_fd, parent);
    int why = errno;
    (void)close(log_fd);
    (void)close(pipe_fd[1]);
    if (pid < 0) {
        (void)close(pipe_fd[0]);
        errno = why;
        return false;
    }
    ret->pid = pid;
    ret->out = pipe_fd[0];
    return true;
}

static void take_bytes(caucus_child *c, size_t number, caucus_child_line each, void *user) {
    ssize_t n = read(c->out, c->line + c->used, sizeof c->line - 1 - c->used);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        (void)close(c->out);
        c->out = -1;
        return;
    }
    size_t end = c->used + (size_t)n, from = 0;
    c->line[end] = '\0';
    for (char *stop; (stop = memchr(c->line + from, '\n', end - from)) != NULL; from = (size_t)(stop - c->line) + 1) {
        *stop = '\0';
        each(user, number, c->line + from);
    }
    memmove(c->line, c->line + from, end - from);
    c->used = end - from;
    if (c->used == sizeof c->line - 1)
        c->used = 0; /* none of ours is as long */
}

static void reap(caucus_child *c, int flags) {
    int status = 0;
    if (c->pid == 0 || waitpid(c->pid, &status, flags) != c->pid)
        return;
    c->pid = 0;
    c->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

size_t caucus_children_read(caucus_child *child, size_t count, int timeout_ms, caucus_child_line each, void *user) {
    struct pollfd *fds = calloc(count ? count : 1, sizeof *fds);
    size_t open_count = 0, alive = 0;
    for (size_t i = 0; fds && i < count; i++) {
        fds[i] = (struct pollfd){.fd = child[i].out, .events = POLLIN};
        open_count += child[i].out >= 0;
    }
    /* With nothing to read only ends are waited for: look often. */
    if (fds && poll(fds, (nfds_t)count, open_count > 0 || timeout_ms < 20 ? timeout_ms : 20) > 0)
        for (size_t i = 0; i < count; i++)
            if (fds[i].fd >= 0 && fds[i].revents != 0)
                take_bytes(&child[i], i, each, user);
    free(fds);
    for (size_t i = 0; i < count; i++) {
        if (child[i].out < 0)
            reap(&child[i], WNOHANG);
        alive += child[i].pid != 0;
    }
    return alive;
}

void caucus_children_end(caucus_child *child, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (child[i].pid != 0)
            (void)kill(child[i].pid, SIGTERM);
    for (int patience = 0; patience < 50; patience++) {
        size_t alive = 0;
        for (size_t i = 0; i < count; i++) {
            reap(&child[i], WNOHANG);
            alive += child[i].pid != 0;
        }
        if (alive == 0)
            break;
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    for (size_t i = 0; i < count; i++) {
        if (child[i].pid != 0)
            (void)kill(child[i].pid, SIGKILL);
        reap(&child[i], 0);
        if (child[i].out >= 0)
            (void)close(child[i].out);
        child[i].out = -1;
        free(child[i].log);
        child[i].log = NULL;
    }
}
