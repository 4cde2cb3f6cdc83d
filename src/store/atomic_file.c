/* SPDX-License-Identifier: Apache-2.0 */
/* atomic_file.c: see atomic_file.h. */
#include "store/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

const char *caucus_path_tail(const char *path) {
    const size_t most = 80;
    size_t length = strlen(path);
    if (length <= most)
        return path;
    const char *tail = path + (length - most);
    const char *slash = strchr(tail, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : tail;
}

caucus_status caucus_fail_path(caucus_error *ret_error, caucus_status status, const char *field, const char *path) {
    const int why = errno;
    return caucus_fail_os(ret_error, status, why, field, "%s", caucus_path_tail(path));
}

caucus_status caucus_fail_new_folder(caucus_error *ret_error, const char *path) {
    const bool above = errno == ENOENT;
    caucus_status status = caucus_fail_path(ret_error, CAUCUS_E_PATH, "", path);
    return above ? caucus_fail_hint(ret_error, status, "make the directory above it first") : status;
}

bool caucus_write_all(int fd, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size > 0) {
        ssize_t put = write(fd, at, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        at += put;
        size -= (size_t)put;
    }
    return true;
}

static bool read_all(int fd, uint8_t *bytes, size_t room, size_t *ret_size) {
    size_t used = 0;
    while (used < room) {
        ssize_t got = read(fd, bytes + used, room - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        if (got == 0)
            break;
        used += (size_t)got;
    }
    *ret_size = used;
    return true;
}

bool caucus_sync_folder(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && fsync(fd) == 0;
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return good;
}

bool caucus_sync_parent(const char *path) {
    char copy[4096]; /* as long as the system's longest path: no memory is needed after a file has its name */
    if (strlen(path) >= sizeof copy) {
        errno = ENAMETOOLONG;
        return false;
    }
    (void)snprintf(copy, sizeof copy, "%s", path);
    return caucus_sync_folder(dirname(copy));
}

bool caucus_file_is_named(int fd, const char *path) {
    struct stat held, named;
    return fstat(fd, &held) == 0 && lstat(path, &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

static void wait_for_lock(int fd) {
    while (flock(fd, LOCK_EX) != 0 && errno == EINTR) {
    } /* a file system without locks has none to wait for */
}

/* Remove a draft once nobody writes it any more. */
static bool remove_left(const char *draft) {
    int fd = open(draft, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return true; /* its writer is done, and what has the name next is another's */
    if (fd >= 0)
        wait_for_lock(fd);
    bool still = fd < 0 || caucus_file_is_named(fd, draft);
    bool good = !still || unlink(draft) == 0 || errno == ENOENT;
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return good;
}

/* A draft of our own, locked, always a new file: nobody else can have it open. Between making and locking it another
 * writer may take it for a crash's and remove it; then ours has lost its name, and the next try makes another. */
static int open_draft(const char *draft, mode_t mode) {
    for (int tries = 0; tries < 100; tries++) {
        int fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0) {
            wait_for_lock(fd);
            if (caucus_file_is_named(fd, draft))
                return fd;
            close(fd);
        } else if (errno != EEXIST || !remove_left(draft)) {
            return -1;
        }
    }
    errno = EBUSY;
    return -1;
}

bool caucus_atomic_file_begin(caucus_atomic_file *ret, const char *path, mode_t mode) {
    const size_t length = strlen(path);
    if (length == 0 || length >= sizeof ret->path) {
        errno = length == 0 ? ENOENT : ENAMETOOLONG;
        return false;
    }
    struct stat info;
    if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode) && !S_ISDIR(info.st_mode)) {
        errno = EINVAL; /* a device or a pipe: a rename would put a file in its place, /dev/null's for one */
        return false;
    }
    (void)snprintf(ret->path, sizeof ret->path, "%s", path);
    (void)snprintf(ret->draft, sizeof ret->draft, "%s.draft", path);
    int fd = open_draft(ret->draft, mode);
    ret->out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (ret->out == NULL && fd >= 0) {
        int why = errno;
        (void)unlink(ret->draft);
        close(fd);
        errno = why;
    }
    return ret->out != NULL;
}

/* Give the draft its name: link() refuses to replace what came in the meantime, rename() replaces. Some file systems
 * know no links. */
static bool place(const char *draft, const char *path, bool replace) {
    if (!replace && link(draft, path) == 0)
        return unlink(draft) == 0;
    if (!replace && errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
        return false;
    return rename(draft, path) == 0;
}

bool caucus_atomic_file_end(caucus_atomic_file *file, bool replace) {
    bool good = fflush(file->out) == 0 && !ferror(file->out) && fsync(fileno(file->out)) == 0 &&
                place(file->draft, file->path, replace); /* while it is locked */
    int why = errno;
    if (!good)
        (void)unlink(file->draft);
    (void)fclose(file->out); /* nothing is left to be written */
    file->out = NULL;
    errno = why;
    return good && caucus_sync_parent(file->path);
}

bool caucus_atomic_file_end_locked(caucus_atomic_file *file, bool replace, int *ret_fd) {
    int fd =
        fcntl(fileno(file->out), F_DUPFD_CLOEXEC, 0); /* a lock lasts as long as any descriptor of the same open() */
    bool good = fd >= 0;
    if (good) {
        good = caucus_atomic_file_end(file, replace);
    } else {
        int why = errno;
        (void)unlink(file->draft);
        (void)fclose(file->out);
        file->out = NULL;
        errno = why;
    }
    if (fd >= 0 && !caucus_file_is_named(fd, file->path)) {
        int why = errno;
        close(fd);
        errno = why;
        fd = -1;
    }
    *ret_fd = fd;
    return good;
}

bool caucus_atomic_file_write(const char *path, const void *bytes, size_t size, mode_t mode, bool replace) {
    caucus_atomic_file file;
    if (!caucus_atomic_file_begin(&file, path, mode))
        return false;
    (void)fwrite(bytes, 1, size, file.out);
    return caucus_atomic_file_end(&file, replace);
}

caucus_status caucus_file_load(const char *path, size_t most, const char *what, uint8_t **ret, size_t *ret_size,
                               caucus_error *ret_error) {
    const char *shown = caucus_path_tail(path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* O_NONBLOCK: a pipe must not hold us */
    struct stat info;
    caucus_status status = CAUCUS_OK;
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (fd < 0 || fstat(fd, &info) != 0) {
        status = caucus_fail_os(ret_error, CAUCUS_E_PATH, errno, "", "%s", shown);
    } else if (!S_ISREG(info.st_mode)) {
        status = caucus_fail(ret_error, CAUCUS_E_PATH, "", "%s: not a regular file", shown);
    } else if (info.st_size < 0 || (uintmax_t)info.st_size > most) {
        status = caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s: %lld bytes — %s has at most %zu", shown,
                             (long long)info.st_size, what, most);
    } else if ((bytes = malloc((size_t)info.st_size + 1)) == NULL) {
        status = caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "%s: %s", shown, caucus_status_text(CAUCUS_E_MEMORY));
    } else if (!read_all(fd, bytes, (size_t)info.st_size + 1, &size)) {
        status = caucus_fail_os(ret_error, CAUCUS_E_PATH, errno, "", "%s", shown);
    } else if (size > (size_t)info.st_size) { /* room for one byte more shows it */
        status = caucus_fail(ret_error, CAUCUS_E_CHANGED, "", "%s: grew while it was read", shown);
    }
    if (fd >= 0)
        close(fd);
    if (status != CAUCUS_OK || bytes == NULL) {
        free(bytes);
        return status;
    }
    bytes[size] = 0;
    *ret = bytes;
    *ret_size = size;
    return CAUCUS_OK;
}

char *caucus_path_in(const char *dir, const char *name) {
    size_t room = strlen(dir) + strlen(name) + 2;
    char *path = malloc(room);
    if (path != NULL)
        (void)snprintf(path, room, "%s/%s", dir, name);
    return path;
}
