/* SPDX-License-Identifier: Apache-2.0 */
/* audit_command.c: audit a program that is not ours: it reads a data set and prints one output per line. See audit.h.
 *
 * The command is split at spaces and started directly (posix_spawnp), never through a shell: what is in a path cannot
 * become a command. The data set's path is its last argument, standard input is empty, standard error is passed on. It
 * is started again until it has printed enough; each line must be an independent run of the mechanism. The first half
 * of the lines of each data set finds the event, the second half counts it. */
#include "audit/audit.h"
#include "num/fail.h"
#include "num/number_text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORDS_MAX 64    /* of a command */
#define OUTPUT_MAX 255  /* bytes of one output */
#define REALS_FROM 1024 /* more different numbers than this are a real statistic, fewer are cells */

extern char **environ;

typedef struct process {
    pid_t pid;
    int fd; /* its standard output */
    char buffer[1 << 16];
    size_t start, end;
} process;

typedef struct outputs {
    char **line; /* [count] */
    uint64_t count;
} outputs;

static caucus_status fail_command(const caucus_audit_command *c, caucus_error *ret_error, const char *what,
                                  int os_error) {
    return caucus_fail_os(ret_error, CAUCUS_E_PROGRAM, os_error, "command", "'%.80s' %s", c->command, what);
}

/* The command's words; argv points into `copy`. */
static caucus_status split(const char *data, char *copy, char **argv, caucus_error *ret_error) {
    size_t count = 0;
    for (char *at = copy; *at != '\0';) {
        at += strspn(at, " ");
        if (*at == '\0')
            break;
        if (count + 2 >= WORDS_MAX)
            return caucus_fail(ret_error, CAUCUS_E_RANGE, "command", "has more than %d words", WORDS_MAX - 2);
        argv[count++] = at;
        at += strcspn(at, " ");
        if (*at != '\0')
            *at++ = '\0';
    }
    if (count == 0)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "command", "is empty");
    argv[count++] = (char *)(uintptr_t)data; /* posix_spawn does not write to it */
    argv[count] = NULL;
    return CAUCUS_OK;
}

static caucus_status start(const caucus_audit_command *c, const char *data, process *ret, caucus_error *ret_error) {
    char *argv[WORDS_MAX] = {NULL}, *copy = strdup(c->command);
    int ends[2] = {-1, -1};
    if (copy == NULL)
        return caucus_fail_memory(ret_error, "command");
    caucus_status status = split(data, copy, argv, ret_error);
    if (status == CAUCUS_OK && pipe(ends) != 0)
        status = fail_command(c, ret_error, "cannot be run", errno);
    if (status == CAUCUS_OK && argv[0] != NULL) {
        posix_spawn_file_actions_t actions;
        (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
        (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        int error = posix_spawnp(&ret->pid, argv[0], &actions, NULL, argv, environ);
        posix_spawn_file_actions_destroy(&actions);
        close(ends[1]);
        ret->fd = ends[0];
        ret->start = ret->end = 0;
        if (error != 0) {
            close(ends[0]);
            status = fail_command(c, ret_error, "cannot be run", error);
        }
    }
    free(copy);
    return status;
}

/* More bytes into the buffer. Returns: CAUCUS_OK (0 bytes at the end of output), CAUCUS_E_PROGRAM, CAUCUS_E_STOPPED. */
static caucus_status receive(const caucus_audit_command *c, process *p, size_t *ret_bytes, caucus_error *ret_error) {
    memmove(p->buffer, p->buffer + p->start, p->end - p->start);
    p->end -= p->start;
    p->start = 0;
    double left = c->timeout;
    while (c->stop == NULL || !*c->stop) {
        struct pollfd wait = {.fd = p->fd, .events = POLLIN};
        int ready = poll(&wait, 1, 100); /* short: a signal between the test and the call is seen soon */
        if (ready > 0) {
            ssize_t got = read(p->fd, p->buffer + p->end, sizeof p->buffer - p->end);
            if (got < 0 && errno == EINTR)
                continue;
            if (got < 0)
                return fail_command(c, ret_error, "cannot be read", errno);
            p->end += (size_t)got;
            *ret_bytes = (size_t)got;
            return CAUCUS_OK;
        }
        left -= ready == 0 ? 0.1 : 0;
        if (left <= 0)
            return caucus_fail(ret_error, CAUCUS_E_PROGRAM, "command", "'%.80s' printed nothing for %g seconds",
                               c->command, c->timeout);
    }
    return CAUCUS_E_STOPPED;
}

/* One line, trimmed, as an output. */
static caucus_status keep(const caucus_audit_command *c, const char *at, size_t length, outputs *ret,
                          caucus_error *ret_error) {
    while (length > 0 && (at[length - 1] == '\r' || at[length - 1] == ' ' || at[length - 1] == '\t'))
        length--;
    while (length > 0 && (at[0] == ' ' || at[0] == '\t')) {
        at++;
        length--;
    }
    bool word = length > 0 && length <= OUTPUT_MAX;
    for (size_t i = 0; i < length && word; i++)
        word = (unsigned char)at[i] >= 0x20 && at[i] != 0x7f;
    if (!word)
        return caucus_fail(ret_error, CAUCUS_E_PROGRAM, "command",
                           "'%.80s' printed a line that is no output — a number or a word of at most %d "
                           "bytes per line",
                           c->command, OUTPUT_MAX);
    ret->line[ret->count] = strndup(at, length);
    if (ret->line[ret->count] == NULL)
        return caucus_fail_memory(ret_error, "trials");
    ret->count++;
    return CAUCUS_OK;
}

/* All lines of one invocation, until there are enough. *ret_ended: it closed its output by itself. */
static caucus_status read_lines(const caucus_audit_command *c, process *p, outputs *ret, bool *ret_ended,
                                caucus_error *ret_error) {
    caucus_status status = CAUCUS_OK;
    *ret_ended = false;
    while (status == CAUCUS_OK && ret->count < c->trials && !*ret_ended) {
        char *from = p->buffer + p->start, *newline = memchr(from, '\n', p->end - p->start);
        if (newline != NULL) {
            status = keep(c, from, (size_t)(newline - from), ret, ret_error);
            p->start += (size_t)(newline - from) + 1;
        } else if (p->end - p->start > OUTPUT_MAX + 16) {
            status = keep(c, from, p->end - p->start, ret, ret_error); /* too long: says so */
        } else {
            size_t got = 0;
            status = receive(c, p, &got, ret_error);
            *ret_ended = status == CAUCUS_OK && got == 0;
        }
    }
    if (status == CAUCUS_OK && *ret_ended && p->end > p->start &&
        ret->count < c->trials) /* a last line without newline */
        status = keep(c, p->buffer + p->start, p->end - p->start, ret, ret_error);
    return status;
}

/* Wait for a program that closed its output; end one that has more to say, or does not end. */
static caucus_status finish(const caucus_audit_command *c, process *p, bool ended, caucus_error *ret_error) {
    int how = 0;
    close(p->fd);
    if (!ended) {
        (void)kill(p->pid, SIGKILL);
        (void)waitpid(p->pid, &how, 0);
        return CAUCUS_OK;
    }
    const struct timespec nap = {.tv_nsec = 1000000};
    double left = c->timeout;
    while (waitpid(p->pid, &how, WNOHANG) == 0) {
        nanosleep(&nap, NULL);
        left -= 0.001;
        if (left <= 0) {
            (void)kill(p->pid, SIGKILL);
            (void)waitpid(p->pid, &how, 0);
            return caucus_fail(ret_error, CAUCUS_E_PROGRAM, "command",
                               "'%.80s' closed its output and did not end for %g seconds", c->command, c->timeout);
        }
    }
    if (!WIFSIGNALED(how) && WEXITSTATUS(how) == 0)
        return CAUCUS_OK;
    return caucus_fail(ret_error, CAUCUS_E_PROGRAM, "command", "'%.80s' %s %d", c->command,
                       WIFSIGNALED(how) ? "was ended by signal" : "failed with exit code",
                       WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
}

static caucus_status collect(const caucus_audit_command *c, unsigned world, process *p, outputs *ret,
                             caucus_error *ret_error) {
    ret->line = calloc(c->trials, sizeof *ret->line);
    if (ret->line == NULL)
        return caucus_fail_memory(ret_error, "trials");
    caucus_status status = CAUCUS_OK;
    while (status == CAUCUS_OK && ret->count < c->trials) {
        uint64_t before = ret->count;
        bool ended = false;
        status = start(c, c->data[world], p, ret_error);
        if (status != CAUCUS_OK)
            break;
        status = read_lines(c, p, ret, &ended, ret_error);
        caucus_error late = {0};
        caucus_status end = finish(c, p, ended && status == CAUCUS_OK, &late);
        if (status == CAUCUS_OK && end != CAUCUS_OK) {
            *ret_error = late;
            status = end;
        }
        if (status == CAUCUS_OK && ret->count == before)
            status = fail_command(c, ret_error, "printed nothing — one output per line is expected", 0);
        if (c->progress != NULL)
            c->progress(c->progress_user, (uint32_t)((world * c->trials + ret->count) * 1000 / (2 * c->trials)), 1000);
    }
    return status;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int by_number(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Statistics [2][trials]: the numbers printed, or the numbers of the words in alphabetical order. *ret_cells as in
 * caucus_audit. */
static caucus_status statistics(const outputs out[2], uint64_t trials, double *value, uint32_t *ret_cells) {
    bool numbers = true;
    for (uint64_t i = 0; i < 2 * trials; i++)
        numbers = numbers && caucus_real_parse(out[i / trials].line[i % trials], &value[i]);
    char **text = calloc(2 * trials, sizeof *text);
    double *known = calloc(2 * trials, sizeof *known);
    uint64_t different = 0;
    if (text == NULL || known == NULL) {
        free(text);
        free(known);
        return CAUCUS_E_MEMORY;
    }
    if (numbers) {
        memcpy(known, value, 2 * trials * sizeof *known);
        qsort(known, 2 * trials, sizeof *known, by_number);
        for (uint64_t i = 0; i < 2 * trials; i++)
            if (i == 0 || known[i] > known[different - 1])
                known[different++] = known[i];
        for (uint64_t i = 0; i < 2 * trials && different <= REALS_FROM; i++)
            value[i] = (double)((double *)bsearch(&value[i], known, different, sizeof *known, by_number) - known);
    } else {
        for (uint64_t i = 0; i < 2 * trials; i++)
            text[i] = out[i / trials].line[i % trials];
        qsort(text, 2 * trials, sizeof *text, by_text);
        for (uint64_t i = 0; i < 2 * trials; i++)
            if (i == 0 || strcmp(text[i], text[different - 1]) != 0)
                text[different++] = text[i];
        for (uint64_t i = 0; i < 2 * trials; i++) {
            char *const *found = bsearch(&out[i / trials].line[i % trials], text, different, sizeof *text, by_text);
            value[i] = (double)(found - text);
        }
    }
    *ret_cells = numbers && different > REALS_FROM ? 0 : (uint32_t)different;
    free(text);
    free(known);
    return CAUCUS_OK;
}

/* First half: the event. Second half: how often. */
static caucus_status measure(const caucus_audit_command *c, double *value, uint32_t cells, caucus_audit_result *ret) {
    uint64_t half = c->trials / 2;
    double *world[2] = {value, value + c->trials};
    caucus_audit_event event = {0};
    caucus_status status = CAUCUS_E_MEMORY;
    if (cells == 0) {
        status = caucus_audit_search_reals(world, half, c->delta, c->confidence, &event);
    } else {
        uint64_t *count = calloc(2 * (size_t)cells, sizeof *count);
        const uint64_t *const counts[2] = {count, count + cells};
        for (uint64_t i = 0; count != NULL && i < 2 * half; i++)
            count[(i / half) * cells + (size_t)world[i / half][i % half]]++;
        if (count != NULL)
            status = caucus_audit_search_cells(counts, cells, half, c->delta, c->confidence, &event);
        free(count);
    }
    if (status != CAUCUS_OK)
        return status;
    for (uint64_t i = half; i < 2 * half; i++) {
        ret->hits += caucus_audit_happened(&event, world[event.likelier][i]);
        ret->hits_other += caucus_audit_happened(&event, world[!event.likelier][i]);
    }
    caucus_audit_event_free(&event);
    return CAUCUS_OK;
}

caucus_status caucus_audit_command_run(const caucus_audit_command *c, caucus_audit_result *ret,
                                       caucus_error *ret_error) {
    outputs out[2] = {{0}};
    double *value = NULL;
    uint32_t cells = 0;
    *ret = (caucus_audit_result){.name = "command",
                                 .target = c->command,
                                 .claimed = c->claimed,
                                 .delta = c->delta,
                                 .expected = c->refuted,
                                 .trials = c->trials / 2 * 2,
                                 .confidence = c->confidence};
    process *p = calloc(1, sizeof *p);
    caucus_status status = p != NULL ? CAUCUS_OK : CAUCUS_E_MEMORY;
    for (unsigned w = 0; status == CAUCUS_OK && w < 2; w++)
        status = collect(c, w, p, &out[w], ret_error);
    if (status == CAUCUS_OK) {
        value = calloc(2 * c->trials, sizeof *value);
        status = value != NULL ? statistics(out, c->trials, value, &cells) : CAUCUS_E_MEMORY;
        if (status == CAUCUS_OK)
            status = measure(c, value, cells, ret);
        if (status == CAUCUS_OK)
            caucus_audit_judge(ret);
        else
            (void)caucus_fail(ret_error, status, "trials", "%s", caucus_status_text(status));
    }
    for (unsigned w = 0; w < 2; w++) {
        for (uint64_t i = 0; i < out[w].count; i++)
            free(out[w].line[i]);
        free(out[w].line);
    }
    free(value);
    free(p);
    return status;
}
