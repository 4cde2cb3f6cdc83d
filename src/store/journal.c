/* journal.c: see journal.h. */
#include "store/journal.h"

#include "store/durable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* No client's state is longer; it bounds what a wrong file can ask for. */
#define BYTES_MAX ((size_t)1 << 31)

struct caucus_journal {
    char *path, *temporary, *lock_path;
    int lock; /* -1: not ours */
    int directory;
    int error;
};

static char *join_text(const char *a, const char *b) {
    size_t size = strlen(a) + strlen(b) + 1;
    char *text = malloc(size);
    if (text)
        (void)snprintf(text, size, "%s%s", a, b);
    return text;
}

static int open_directory(const char *path) {
    const char *slash = strrchr(path, '/');
    char *directory = slash == path ? strdup("/") : slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
    int fd = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(directory);
    return fd;
}

/* Lock the file that has this name now: whoever ends removes it, and a lock on a file without a name keeps nobody out.
 * Returns: its descriptor, or -1 (errno: EWOULDBLOCK if another process has it). */
static int take_lock(const char *path) {
    for (int tries = 0; tries < 100; tries++) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
            return -1;
        struct stat held, named;
        bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (locked && fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino &&
            held.st_dev == named.st_dev)
            return fd;
        int why = errno;
        (void)close(fd);
        errno = why;
        if (!locked)
            return -1;
    }
    errno = EWOULDBLOCK; /* somebody takes and leaves it all the time */
    return -1;
}

caucus_status caucus_journal_open(const char *path, caucus_journal **ret, caucus_error *ret_error) {
    caucus_journal *j = calloc(1, sizeof *j);
    if (!j)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "state", "%s", caucus_status_text(CAUCUS_E_MEMORY));
    j->lock = j->directory = -1;
    j->path = strdup(path);
    j->temporary = join_text(path, ".new");
    j->lock_path = join_text(path, ".lock");
    caucus_status status = CAUCUS_OK;
    if (!j->path || !j->temporary || !j->lock_path) {
        status = caucus_fail(ret_error, CAUCUS_E_MEMORY, "state", "%s", caucus_status_text(CAUCUS_E_MEMORY));
    } else if ((j->directory = open_directory(path)) >= 0 && (j->lock = take_lock(j->lock_path)) >= 0) {
        *ret = j;
        return CAUCUS_OK;
    } else if (j->directory >= 0 && errno == EWOULDBLOCK) {
        status = caucus_fail(ret_error, CAUCUS_E_ORDER, "state",
                             "%.150s: another process uses it — each client needs its own", path);
    } else {
        bool nowhere = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
        status = caucus_fail(ret_error, nowhere ? CAUCUS_E_RANGE : CAUCUS_E_IO, "state",
                             "%.150s: %s — give a file in a directory that can be written to", path, strerror(errno));
    }
    caucus_journal_close(j);
    return status;
}

void caucus_journal_close(caucus_journal *j) {
    if (!j)
        return;
    if (j->lock >= 0) {
        (void)unlink(j->lock_path); /* while it is ours: see take_lock() */
        (void)close(j->lock);
    }
    if (j->directory >= 0)
        (void)close(j->directory);
    free(j->path);
    free(j->temporary);
    free(j->lock_path);
    free(j);
}

static bool read_all(int fd, uint8_t *to, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t n = read(fd, to + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

caucus_status caucus_journal_read(caucus_journal *j, uint8_t **ret, size_t *ret_size, caucus_error *ret_error) {
    *ret = NULL;
    *ret_size = 0;
    int fd = open(j->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return CAUCUS_OK;
    struct stat about;
    caucus_status status = CAUCUS_OK;
    uint8_t *bytes = NULL;
    if (fd < 0 || fstat(fd, &about) != 0)
        status = caucus_fail(ret_error, CAUCUS_E_IO, "state", "%.150s: %s", j->path, strerror(errno));
    else if (!S_ISREG(about.st_mode) || about.st_size < 1 || (uint64_t)about.st_size > BYTES_MAX)
        status = caucus_fail(ret_error, CAUCUS_E_FORMAT, "state", "%.150s: is not the state of a client", j->path);
    else if ((bytes = malloc((size_t)about.st_size)) == NULL)
        status = caucus_fail(ret_error, CAUCUS_E_MEMORY, "state", "%s", caucus_status_text(CAUCUS_E_MEMORY));
    else if (!read_all(fd, bytes, (size_t)about.st_size))
        status = caucus_fail(ret_error, CAUCUS_E_IO, "state", "%.150s: cannot be read", j->path);
    if (fd >= 0)
        (void)close(fd);
    if (status != CAUCUS_OK) {
        free(bytes);
        return status;
    }
    *ret = bytes;
    *ret_size = (size_t)about.st_size;
    return CAUCUS_OK;
}

bool caucus_journal_write(void *user, const uint8_t *bytes, size_t size) {
    caucus_journal *j = user;
    j->error = 0;
    int fd = open(j->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = fd >= 0 && fchmod(fd, 0600) == 0 && caucus_write_all(fd, bytes, size) && fsync(fd) == 0;
    j->error = ok ? 0 : errno;
    if (fd >= 0 && close(fd) != 0 && ok) {
        j->error = errno;
        ok = false;
    }
    if (ok && (rename(j->temporary, j->path) != 0 || fsync(j->directory) != 0)) {
        j->error = errno;
        ok = false;
    }
    if (!ok)
        (void)unlink(j->temporary);
    return ok;
}

int caucus_journal_errno(const caucus_journal *j) {
    return j->error;
}
