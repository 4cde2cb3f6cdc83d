/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_file.c: ledgers on disk. See ledger_file.h. */
#include "store/ledger_file.h"

#include "num/fail.h"
#include "num/hand_over.h"
#include "plan/ledger.h"
#include "store/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static caucus_status fail_io(const char *path, const char *doing, caucus_error *ret_error) {
    return caucus_fail_os(ret_error, CAUCUS_E_PATH, errno, "", "%s%s%s", caucus_path_tail(path),
                          doing[0] != '\0' ? ": " : "", doing);
}

/* One line of the file, its newline removed; length as read, so that a zero byte inside shows. */
static caucus_status take_line(const char *path, char *line, size_t length, size_t number, caucus_ledger **ledger,
                               caucus_error *ret_error) {
    if (line[length - 1] != '\n')
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                           "%s:%zu: the last line is torn (a write was cut short) — remove that line to go on",
                           caucus_path_tail(path), number);
    line[--length] = '\0';
    if (strlen(line) != length)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s:%zu: a zero byte", caucus_path_tail(path), number);
    caucus_error why = {0};
    caucus_status status = caucus_ledger_append_line(ledger, line, number, &why);
    if (status == CAUCUS_OK)
        return CAUCUS_OK;
    if (status == CAUCUS_E_MEMORY)
        return caucus_fail(ret_error, status, "", "%s: %s", caucus_path_tail(path), caucus_status_text(status));
    return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s:%zu: %s", caucus_path_tail(path), number, why.text);
}

static caucus_status read_lines(const char *path, FILE *in, caucus_ledger **ret, caucus_error *ret_error) {
    char *line = NULL;
    size_t room = 0, number = 0;
    caucus_ledger *ledger = NULL;
    caucus_status status = CAUCUS_OK;
    ssize_t length = 0;
    while (status == CAUCUS_OK && (length = getline(&line, &room, in)) > 0)
        status = take_line(path, line, (size_t)length, ++number, &ledger, ret_error);
    if (status == CAUCUS_OK && !feof(in)) /* no memory for a line sets no error: a ledger cut short would spend twice */
        status = fail_io(path, "", ret_error);
    if (status == CAUCUS_OK && ledger == NULL)
        status = caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                             "%s: empty — a ledger begins with its budget; remove the file to begin one",
                             caucus_path_tail(path));
    free(line);
    return CAUCUS_HAND_OVER(status, ret, ledger, caucus_ledger_free(ledger));
}

/* Read from an open descriptor, which stays open and locked. */
static caucus_status read_fd(const char *path, int fd, caucus_ledger **ret, caucus_error *ret_error) {
    struct stat info;
    if (fstat(fd, &info) != 0)
        return fail_io(path, "", ret_error);
    if (!S_ISREG(info.st_mode))
        return caucus_fail(ret_error, CAUCUS_E_PATH, "", "%s: not a regular file", caucus_path_tail(path));
    int copy = dup(fd);
    FILE *in = copy >= 0 ? fdopen(copy, "r") : NULL;
    if (in == NULL) {
        if (copy >= 0)
            close(copy);
        return fail_io(path, "", ret_error);
    }
    caucus_status status = read_lines(path, in, ret, ret_error);
    fclose(in);
    return status;
}

static caucus_status lock(const char *path, int fd, int how, caucus_error *ret_error) {
    if (flock(fd, how | LOCK_NB) == 0)
        return CAUCUS_OK;
    if (errno == EWOULDBLOCK)
        return caucus_fail_hint(
            ret_error,
            caucus_fail(ret_error, CAUCUS_E_BUSY, "", "%s: in use by another process", caucus_path_tail(path)),
            "wait until it is done");
    return fail_io(path, "locking", ret_error);
}

caucus_status caucus_ledger_file_read(const char *path, caucus_ledger **ret, caucus_error *ret_error) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_io(path, "", ret_error);
    caucus_status status = lock(path, fd, LOCK_SH, ret_error);
    if (status == CAUCUS_OK)
        status = read_fd(path, fd, ret, ret_error);
    close(fd);
    return status;
}

static caucus_status open_old(caucus_ledger_file *file, caucus_error *ret_error) {
    caucus_ledger *ledger = NULL;
    caucus_status status = lock(file->path, file->fd, LOCK_EX, ret_error);
    if (status == CAUCUS_OK)
        status = read_fd(file->path, file->fd, &ledger, ret_error);
    if (status == CAUCUS_OK) {
        file->ledger = ledger;
        file->written = caucus_ledger_count(ledger);
    }
    return status;
}

static caucus_status check_budget(const caucus_ledger_file *file, double epsilon, double delta,
                                  caucus_error *ret_error) {
    caucus_ledger_totals totals = caucus_ledger_totals_of(file->ledger);
    if (caucus_ledger_has_budget(file->ledger, epsilon, delta))
        return CAUCUS_OK;
    return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "budget",
                       "%.10g,%.10g: %s has %.10g,%.10g — a ledger keeps its budget; leave the "
                       "setting out",
                       epsilon, delta, caucus_path_tail(file->path), totals.budget_epsilon, totals.budget_delta);
}

caucus_status caucus_ledger_file_open(const char *path, double epsilon, double delta, bool must_match,
                                      caucus_ledger_file *ret, caucus_error *ret_error) {
    caucus_ledger_file file = {.path = strdup(path), .fd = -1};
    caucus_status status = CAUCUS_OK;
    if (file.path == NULL)
        return caucus_fail_memory(ret_error, "ledger");
    file.fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK);
    if (file.fd >= 0) {
        status = open_old(&file, ret_error);
        if (status == CAUCUS_OK && must_match)
            status = check_budget(&file, epsilon, delta, ret_error);
    } else if (errno == ENOENT) {
        status = caucus_ledger_new(epsilon, delta, &file.ledger, ret_error);
    } else {
        status = fail_io(path, "", ret_error);
    }
    return CAUCUS_HAND_OVER(status, ret, file, caucus_ledger_file_close(&file));
}

/* Lines of the entries first .. count-1, as one text. */
static char *make_text(const caucus_ledger *ledger, size_t first, size_t count, size_t *ret_size) {
    char *text = malloc((count - first) * CAUCUS_LEDGER_LINE_BYTES + 1);
    size_t used = 0;
    for (size_t i = first; text != NULL && i < count; i++) {
        if (caucus_ledger_line(ledger, i, text + used, CAUCUS_LEDGER_LINE_BYTES) != CAUCUS_OK)
            abort(); /* the buffer has the size the ledger promises to fit */
        used += strlen(text + used);
        text[used++] = '\n';
    }
    *ret_size = used;
    return text;
}

/* A new ledger appears whole or not at all: an empty file would be taken for one whose entries were lost. */
static caucus_status create(caucus_ledger_file *file, const char *text, size_t size, caucus_error *ret_error) {
    struct stat info;
    if (!caucus_atomic_file_write(file->path, text, size, 0666, false)) {
        caucus_status status = fail_io(file->path, "creating", ret_error);
        if (errno != EEXIST)
            (void)unlink(file->path); /* its name may be there, and not be safe */
        return status;
    }
    file->fd = open(file->path, O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0)
        return fail_io(file->path, "", ret_error);
    caucus_status status = lock(file->path, file->fd, LOCK_EX, ret_error);
    if (status == CAUCUS_OK && (fstat(file->fd, &info) != 0 || info.st_size != (off_t)size))
        status =
            caucus_fail(ret_error, CAUCUS_E_BUSY, "", "%s: in use by another process", caucus_path_tail(file->path));
    return status;
}

static caucus_status append_text(caucus_ledger_file *file, const char *text, size_t size, caucus_error *ret_error) {
    off_t before = lseek(file->fd, 0, SEEK_END);
    if (before >= 0 && caucus_write_all(file->fd, text, size) && fsync(file->fd) == 0)
        return CAUCUS_OK;
    caucus_status status = fail_io(file->path, "writing", ret_error);
    if (before >= 0 && ftruncate(file->fd, before) != 0)
        status = fail_io(file->path, "cutting back a write that failed", ret_error);
    return status;
}

caucus_status caucus_ledger_file_sync(caucus_ledger_file *file, caucus_error *ret_error) {
    size_t count = caucus_ledger_count(file->ledger), size = 0;
    if (file->written == count)
        return CAUCUS_OK;
    const bool fresh = file->fd < 0;
    char *text = make_text(file->ledger, file->written, count, &size);
    if (text == NULL)
        return caucus_fail_memory(ret_error, "ledger");
    caucus_status status = fresh ? create(file, text, size, ret_error) : append_text(file, text, size, ret_error);
    free(text);
    if (status == CAUCUS_OK) {
        file->written = count;
    } else if (fresh && file->fd >= 0) {
        close(file->fd);
        file->fd = -1;
    }
    return status;
}

void caucus_ledger_file_close(caucus_ledger_file *file) {
    caucus_ledger_free(file->ledger);
    free(file->path);
    if (file->fd >= 0)
        close(file->fd);
    *file = (caucus_ledger_file){.fd = -1};
}
