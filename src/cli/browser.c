/* SPDX-License-Identifier: Apache-2.0 */
/* browser.c: see browser.h. */
#define _GNU_SOURCE /* pipe2 */
#include "cli/browser.h"

#include "cli/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 32
#define COMMAND_BYTES 4096
#define OPENER "xdg-open"

static bool is_set(const char *name) {
    const char *value = getenv(name);
    return value && value[0];
}

static bool in_path(const char *program) {
    const char *path = getenv("PATH");
    for (const char *at = path; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        char file[COMMAND_BYTES];
        int length = (int)strcspn(at, ":");
        if (length > 0 && snprintf(file, sizeof file, "%.*s/%s", length, at, program) < (int)sizeof file &&
            access(file, X_OK) == 0)
            return true;
    }
    return false;
}

bool caucus_browser_there(void) {
    return is_set("BROWSER") || ((is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")) && in_path(OPENER));
}

/* The words of a command in `text`, cut at blanks; the address where %s stands, or at the end. False: too long. */
static bool split(const char *command, size_t length, const char *address, char text[COMMAND_BYTES],
                  char *argv[WORDS + 2]) {
    size_t used = 0, words = 0;
    bool placed = false, inside = false;
    for (size_t i = 0; i < length; i++) {
        bool blank = command[i] == ' ' || command[i] == '\t';
        bool here = !blank && command[i] == '%' && i + 1 < length && command[i + 1] == 's';
        if (used + strlen(address) + 2 >= COMMAND_BYTES || (!blank && !inside && words == WORDS))
            return false;
        if (!blank && !inside)
            argv[words++] = text + used;
        if (blank && inside)
            text[used++] = '\0';
        inside = !blank;
        if (here) {
            memcpy(text + used, address, strlen(address));
            used += strlen(address);
            placed = true;
            i++;
        } else if (!blank) {
            text[used++] = command[i];
        }
    }
    text[used++] = '\0';
    if (!placed)
        argv[words++] = memcpy(text + used, address, strlen(address) + 1);
    argv[words] = NULL;
    return words > (placed ? 0 : 1);
}

/* In the grandchild: become the browser, or say through `report` why not. */
static _Noreturn void become(char **argv, int report) {
    (void)setsid(); /* Ctrl-C here is not meant for it */
    int null = open("/dev/null", O_RDWR);
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0 &&
        dup2(null, STDERR_FILENO) >= 0) {
        if (null > STDERR_FILENO)
            (void)close(null);
        caucus_on_signals(SIG_DFL);
        caucus_on_signal(SIGHUP, SIG_DFL);
        caucus_on_signal(SIGPIPE, SIG_DFL);
        execvp(argv[0], argv);
    }
    int why = errno;
    (void)!write(report, &why, sizeof why);
    _exit(127);
}

/* Forked twice, so that it is nobody's child and no zombie is left. The pipe closes when the exec has worked. */
static bool start(char **argv) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        pid_t second = fork();
        if (second == 0)
            become(argv, report[1]);
        if (second < 0) {
            int failed = errno;
            (void)!write(report[1], &failed, sizeof failed);
        }
        _exit(0);
    }
    int why = errno;
    (void)close(report[1]);
    if (pid > 0) {
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        ssize_t got;
        do
            got = read(report[0], &why, sizeof why);
        while (got < 0 && errno == EINTR);
        if (got == 0)
            why = 0;
    }
    (void)close(report[0]);
    errno = why;
    return why == 0;
}

bool caucus_browser_open(const char *address) {
    char text[COMMAND_BYTES], *argv[WORDS + 2];
    const char *at = is_set("BROWSER") ? getenv("BROWSER") : OPENER;
    int why = ENOENT;
    while (at) {
        size_t length = strcspn(at, ":");
        if (split(at, length, address, text, argv)) {
            if (start(argv))
                return true;
            why = errno;
        }
        at = at[length] ? at + length + 1 : NULL;
    }
    errno = why;
    return false;
}
