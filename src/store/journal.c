/* SPDX-License-Identifier: Apache-2.0 */
/* journal.c: see journal.h. */
#include "store/journal.h"

#include "num/fail.h"
#include "store/atomic_file.h"

#include <caucus/rng.h>

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* No client's state is longer; it bounds what a wrong file can ask for. */
#define BYTES_MAX ((size_t)1 << 31)
#define NUMBER_BYTES 8
#define HEAD_BYTES (sizeof head + NUMBER_BYTES)

static const uint8_t head[4] = {'c', 'J', 'r', '1'};

struct caucus_journal {
    char *path, *lock_path;
    int lock; /* -1: not ours */
    int held; /* the state itself, locked; -1: there is none yet */
    int error;
    bool numbered;
    uint8_t number[NUMBER_BYTES];
};

static char *join_text(const char *a, const char *b) {
    size_t size = strlen(a) + strlen(b) + 1;
    char *text = malloc(size);
    if (text)
        (void)snprintf(text, size, "%s%s", a, b);
    return text;
}

/* Lock the file that has this name now: whoever ends removes it, and a lock on a file without a name keeps nobody out.
 * Returns: its descriptor, or -1 (errno: EWOULDBLOCK if another process has it). */
static int take_lock(const char *path) {
    for (int tries = 0; tries < 100; tries++) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
            return -1;
        bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (locked && caucus_file_is_named(fd, path))
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

/* Lock the state as well, as it is now: FILE.lock can be removed, and then another process would have another
 * FILE.lock. A file system without locks, or a name that is a link, leaves it at that one.
 * Returns: false if another process has it (errno: EWOULDBLOCK). */
static bool hold_state(caucus_journal *j) {
    for (int tries = 0; tries < 100; tries++) {
        int fd = open(j->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0)
            return true; /* none yet, or one that cannot be read: reading it says why */
        bool taken = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (!taken && caucus_file_is_named(fd, j->path)) {
            j->held = fd;
            return true;
        }
        (void)close(fd);
        if (taken)
            break;
    }
    errno = EWOULDBLOCK;
    return false;
}

caucus_status caucus_journal_open(const char *path, caucus_journal **ret, caucus_error *ret_error) {
    caucus_journal *j = calloc(1, sizeof *j);
    if (!j)
        return caucus_fail_memory(ret_error, "state");
    j->lock = j->held = -1;
    j->path = strdup(path);
    j->lock_path = join_text(path, ".lock");
    caucus_status status = CAUCUS_OK;
    if (!j->path || !j->lock_path) {
        status = caucus_fail_memory(ret_error, "state");
    } else if ((j->lock = take_lock(j->lock_path)) >= 0 && hold_state(j)) {
        *ret = j;
        return CAUCUS_OK;
    } else if (errno == EWOULDBLOCK) {
        status = caucus_fail(ret_error, CAUCUS_E_BUSY, "state",
                             "%.150s: another process uses it — each client needs its own", path);
    } else {
        status = caucus_fail_hint(ret_error, caucus_fail_os(ret_error, CAUCUS_E_PATH, errno, "state", "%.150s", path),
                                  "give a file in a directory that can be written to");
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
    if (j->held >= 0)
        (void)close(j->held);
    free(j->path);
    free(j->lock_path);
    free(j);
}

caucus_status caucus_journal_read(caucus_journal *j, uint8_t **ret, size_t *ret_size, caucus_error *ret_error) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    *ret = NULL;
    *ret_size = 0;
    if (access(j->path, F_OK) != 0 && errno == ENOENT)
        return CAUCUS_OK;
    caucus_status status = caucus_file_load(j->path, BYTES_MAX, "the state of a client", &bytes, &size, ret_error);
    if (status == CAUCUS_OK && size == 0)
        status = caucus_fail(ret_error, CAUCUS_E_FORMAT, "state", "%s: is not the state of a client",
                             caucus_path_tail(j->path));
    if (status != CAUCUS_OK) {
        free(bytes);
        return status;
    }
    if (size >= HEAD_BYTES && memcmp(bytes, head, sizeof head) == 0) {
        j->numbered = true;
        memcpy(j->number, bytes + sizeof head, sizeof j->number);
        size -= HEAD_BYTES;
        memmove(bytes, bytes + HEAD_BYTES, size);
        sodium_memzero(bytes + size, HEAD_BYTES);
    }
    if (size == 0) { /* numbered, and killed before anything was to be kept */
        free(bytes);
        return CAUCUS_OK;
    }
    *ret = bytes;
    *ret_size = size;
    return CAUCUS_OK;
}

/* The file is ours to replace if it is the one we hold, or a link to somewhere else; if there is none, *ret_replace is
 * false, and one that comes meanwhile stays. Anything else was put there by another process. */
static bool is_ours(const caucus_journal *j, bool *ret_replace) {
    struct stat info;
    const bool there = lstat(j->path, &info) == 0;
    *ret_replace = there;
    if (!there || S_ISLNK(info.st_mode) || (j->held >= 0 && caucus_file_is_named(j->held, j->path)))
        return true;
    errno = EBUSY;
    return false;
}

/* The new state is locked before it has its name, and the old one until then: at no moment can another process have
 * either. */
static bool write_held(caucus_journal *j, const uint8_t *bytes, size_t size) {
    caucus_atomic_file file;
    bool replace = false;
    if (!is_ours(j, &replace) || !caucus_atomic_file_begin(&file, j->path, 0600))
        return false;
    (void)fwrite(bytes, 1, size, file.out);
    int fd = -1;
    bool good = caucus_atomic_file_end_locked(&file, replace, &fd);
    int why = errno;
    if (fd >= 0) {
        if (j->held >= 0)
            (void)close(j->held);
        j->held = fd;
    }
    errno = !good && !replace && why == EEXIST ? EBUSY : why;
    return good;
}

static bool write_numbered(caucus_journal *j, const uint8_t *bytes, size_t size) {
    uint8_t *whole = malloc(HEAD_BYTES + size);
    if (!whole) {
        errno = ENOMEM;
        return false;
    }
    memcpy(whole, head, sizeof head);
    memcpy(whole + sizeof head, j->number, sizeof j->number);
    if (size > 0)
        memcpy(whole + HEAD_BYTES, bytes, size);
    bool good = write_held(j, whole, HEAD_BYTES + size);
    int why = errno;
    sodium_memzero(whole, HEAD_BYTES + size); /* it holds this client's sums */
    free(whole);
    errno = why;
    return good;
}

bool caucus_journal_write(void *user, const uint8_t *bytes, size_t size) {
    caucus_journal *j = user;
    bool good = j->numbered ? write_numbered(j, bytes, size) : write_held(j, bytes, size);
    j->error = good ? 0 : errno;
    return good;
}

caucus_status caucus_journal_number(caucus_journal *j, const uint8_t *state, size_t bytes, uint8_t ret[8],
                                    caucus_error *ret_error) {
    if (!j->numbered) {
        caucus_key fresh;
        caucus_status status = caucus_key_generate(&fresh);
        if (status != CAUCUS_OK)
            return caucus_fail(ret_error, status, "", "%s", caucus_status_text(status));
        memcpy(j->number, fresh.bytes, sizeof j->number);
        caucus_key_wipe(&fresh);
        j->numbered = true;
        if (!caucus_journal_write(j, state, bytes)) {
            j->numbered = false;
            return caucus_fail_os(ret_error, CAUCUS_E_IO, j->error, "state", "%s", caucus_path_tail(j->path));
        }
    }
    memcpy(ret, j->number, sizeof j->number);
    return CAUCUS_OK;
}

int caucus_journal_errno(const caucus_journal *j) {
    return j->error;
}
