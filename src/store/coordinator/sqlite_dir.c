/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_dir.c: the coordinator's directory: who may read it, and who has it now.
 *
 * The state holds sums and thresholds that are not private, so whatever we create is for the owner alone, whatever the
 * umask. Two locks keep a second coordinator out, and both end with the process, however that ends: an flock on the
 * directory itself, which nobody can take away while the state stays where it is, and one on DIR/lock, for file systems
 * that lock no directory and for programs of older versions. Whoever removes DIR/lock opens nothing. The number of the
 * process stands in that file only to help people; nothing is decided by it. */
#include "num/fail.h"
#include "store/coordinator/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* An existing directory keeps its mode: it may hold other things, and our files in it are 0600 anyway. */
static caucus_status make_dir(const char *dir, caucus_error *ret_error) {
    struct stat info;
    if (mkdir(dir, 0700) == 0) {
        if (chmod(dir, 0700) != 0 || !caucus_sync_parent(dir))
            return caucus_fail_path(ret_error, CAUCUS_E_PATH, "", dir);
        return CAUCUS_OK;
    }
    if (errno != EEXIST)
        return caucus_fail_new_folder(ret_error, dir);
    if (stat(dir, &info) != 0)
        return caucus_fail_path(ret_error, CAUCUS_E_PATH, "", dir);
    if (!S_ISDIR(info.st_mode))
        return caucus_fail(ret_error, CAUCUS_E_PATH, "", "%s: not a directory — name a new one for the state",
                           caucus_path_tail(dir));
    return CAUCUS_OK;
}

/* Opens for reading and writing; never through a link, which somebody else might have put there. */
static int open_private(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    struct stat info;
    if (fd < 0)
        return -1;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && ((info.st_mode & 0777) == 0600 || fchmod(fd, 0600) == 0))
        return fd;
    int why = errno != 0 ? errno : EINVAL;
    close(fd);
    errno = why;
    return -1;
}

caucus_status caucus_sqlite_touch(const char *path, caucus_error *ret_error) {
    errno = 0;
    int fd = open_private(path);
    if (fd < 0)
        return caucus_fail_hint(ret_error, caucus_fail_path(ret_error, CAUCUS_E_PATH, "", path),
                                "the coordinator must be able to write here");
    close(fd);
    return caucus_sync_parent(path) ? CAUCUS_OK : caucus_fail_path(ret_error, CAUCUS_E_PATH, "", path);
}

/* fd: DIR/lock, or -1 if it is not there. */
static caucus_status refuse_locked(const char *dir, int fd, caucus_error *ret_error) {
    char text[16] = "";
    ssize_t got = fd < 0 ? 0 : pread(fd, text, sizeof text - 1, 0);
    long pid = got > 0 ? strtol(text, NULL, 10) : 0;
    if (pid > 0)
        return caucus_fail(ret_error, CAUCUS_E_BUSY, "",
                           "%s is in use by process %ld — stop that coordinator first, or use another directory",
                           caucus_path_tail(dir), pid);
    return caucus_fail(ret_error, CAUCUS_E_BUSY, "",
                       "%s is in use by another process — stop that coordinator first, or use another directory",
                       caucus_path_tail(dir));
}

static caucus_status take_lock(const char *dir, const char *path, int *ret_lock, caucus_error *ret_error) {
    errno = 0;
    int fd = open_private(path);
    if (fd < 0)
        return caucus_fail_hint(ret_error, caucus_fail_path(ret_error, CAUCUS_E_PATH, "", path),
                                "the coordinator must be able to write here");
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        caucus_status status = errno == EWOULDBLOCK ? refuse_locked(dir, fd, ret_error)
                                                    : caucus_fail_path(ret_error, CAUCUS_E_PATH, "", path);
        close(fd);
        return status;
    }
    char text[16];
    int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    /* On a full disk the number is missing and the lock holds all the same. */
    if (ftruncate(fd, 0) == 0 && length > 0)
        (void)!pwrite(fd, text, (size_t)length, 0);
    *ret_lock = fd;
    return CAUCUS_OK;
}

/* *ret_fd: the directory, locked where its file system can do that. */
static caucus_status lock_dir(const char *dir, const char *path, int *ret_fd, caucus_error *ret_error) {
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return caucus_fail_path(ret_error, CAUCUS_E_PATH, "", dir);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        int lock = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        caucus_status status = refuse_locked(dir, lock, ret_error);
        if (lock >= 0)
            close(lock);
        close(fd);
        return status;
    }
    *ret_fd = fd;
    return CAUCUS_OK;
}

caucus_status caucus_sqlite_take_dir(const char *dir, int *ret_dir, int *ret_lock, caucus_error *ret_error) {
    caucus_status status = make_dir(dir, ret_error);
    if (status != CAUCUS_OK)
        return status;
    char *path = caucus_path_in(dir, "lock");
    if (path == NULL)
        return caucus_fail_memory(ret_error, "");
    int fd = -1;
    status = lock_dir(dir, path, &fd, ret_error);
    if (status == CAUCUS_OK)
        status = take_lock(dir, path, ret_lock, ret_error);
    free(path);
    if (status == CAUCUS_OK)
        *ret_dir = fd;
    else if (fd >= 0)
        close(fd);
    return status;
}

bool caucus_sqlite_exists(const char *dir) {
    struct stat info;
    char *path = caucus_path_in(dir, CAUCUS_SQLITE_FILE);
    const bool there = path != NULL && stat(path, &info) == 0 && info.st_size > 0;
    free(path);
    return there;
}

/* A request to end the run: an empty file in the directory. */
#define REQUEST "stop"

caucus_status caucus_sqlite_request_stop(const char *where, caucus_error *ret_error) {
    char *path = caucus_path_in(where, REQUEST);
    if (path == NULL)
        return caucus_fail_memory(ret_error, "");
    caucus_status status = CAUCUS_OK;
    if (!caucus_atomic_file_write(path, "", 0, 0600, true))
        status = caucus_fail_os(ret_error, CAUCUS_E_PATH, errno, "", "%s", caucus_path_tail(path));
    free(path);
    return status;
}

bool caucus_sqlite_stop_requested(caucus_store_place *place) {
    struct stat info;
    char *path = caucus_path_in(place->folder, REQUEST);
    const bool there = path != NULL && lstat(path, &info) == 0;
    free(path);
    return there;
}

void caucus_sqlite_stop_heard(caucus_store_place *place) {
    char *path = caucus_path_in(place->folder, REQUEST);
    if (path != NULL)
        (void)unlink(path); /* left behind it asks for what is done */
    free(path);
}
