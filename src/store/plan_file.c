/* plan_file.c: plan files on disk. See plan_file.h; the bytes are made in plan_text.c and read in plan_parse.c. */
#include "store/plan_file.h"
#include "store/durable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The path, or its end if it would fill the line. */
static const char *tail(const char *path) {
    const size_t length = strlen(path), most = 80;
    return length > most ? path + (length - most) : path;
}

static caucus_status fail_io(const char *path, caucus_error *ret_error) {
    return caucus_fail(ret_error, CAUCUS_E_IO, "", "%s: %s", tail(path), strerror(errno));
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

/* A whole file, if it has at most CAUCUS_PLAN_FILE_BYTES; one byte more tells that it has not. */
static caucus_status load(const char *path, uint8_t **ret, size_t *ret_size, caucus_error *ret_error) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* O_NONBLOCK: a pipe must not hold us */
    struct stat info;
    caucus_status status = CAUCUS_OK;
    uint8_t *bytes = NULL;
    if (fd < 0 || fstat(fd, &info) != 0) {
        status = fail_io(path, ret_error);
    } else if (!S_ISREG(info.st_mode)) {
        status = caucus_fail(ret_error, CAUCUS_E_IO, "", "%s: not a regular file", tail(path));
    } else if (info.st_size > (off_t)CAUCUS_PLAN_FILE_BYTES) {
        status = caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s: %lld bytes — a plan file has at most %zu", tail(path),
                             (long long)info.st_size, CAUCUS_PLAN_FILE_BYTES);
    } else if ((bytes = malloc(CAUCUS_PLAN_FILE_BYTES + 1)) == NULL) {
        status = caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "%s: %s", tail(path), caucus_status_text(CAUCUS_E_MEMORY));
    } else if (!read_all(fd, bytes, CAUCUS_PLAN_FILE_BYTES + 1, ret_size)) {
        status = fail_io(path, ret_error);
    }
    if (fd >= 0)
        close(fd);
    if (status == CAUCUS_OK)
        *ret = bytes;
    else
        free(bytes);
    return status;
}

caucus_status caucus_plan_file_read(const char *path, caucus_plan **ret, char ret_hash[CAUCUS_PLAN_HEX_BYTES],
                                    caucus_error *ret_error) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    caucus_status status = load(path, &bytes, &size, ret_error);
    if (status != CAUCUS_OK)
        return status;
    status = caucus_plan_file_parse(path, bytes, size, ret, ret_error);
    if (status == CAUCUS_OK)
        caucus_plan_file_hash(bytes, size, ret_hash);
    free(bytes);
    return status;
}

/* What is at `path`: nothing, the same bytes, or something else. */
typedef enum found { NOTHING, SAME, OTHER } found;
static caucus_status look(const char *path, const char *text, size_t size, found *ret, caucus_error *ret_error) {
    struct stat info;
    uint8_t *bytes = NULL;
    size_t there = 0;
    *ret = NOTHING;
    if (stat(path, &info) != 0)
        return errno == ENOENT ? CAUCUS_OK : fail_io(path, ret_error);
    *ret = OTHER;
    if (S_ISREG(info.st_mode) && info.st_size > (off_t)CAUCUS_PLAN_FILE_BYTES)
        return CAUCUS_OK;
    caucus_status status = load(path, &bytes, &there, ret_error);
    if (status == CAUCUS_OK && bytes != NULL && there == size && memcmp(bytes, text, size) == 0)
        *ret = SAME;
    free(bytes);
    return status;
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

/* A draft beside the file, synced, then put in place. */
static caucus_status put(const char *path, const char *text, size_t size, bool replace, caucus_error *ret_error) {
    char draft[4096];
    const int length = snprintf(draft, sizeof draft, "%s.draft-%ld", path, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof draft) {
        errno = ENAMETOOLONG;
        return fail_io(path, ret_error);
    }
    FILE *out = fopen(draft, "wxe");
    if (out == NULL)
        return fail_io(path, ret_error);
    bool good = fwrite(text, 1, size, out) == size && fflush(out) == 0 && fsync(fileno(out)) == 0;
    int error = errno;
    if (fclose(out) != 0 && good) {
        good = false;
        error = errno;
    }
    if (good && !place(draft, path, replace)) {
        good = false;
        error = errno;
    }
    if (!good)
        (void)unlink(draft);
    if (good && !caucus_sync_parent(path)) {
        good = false;
        error = errno;
    }
    errno = error;
    return good ? CAUCUS_OK : fail_io(path, ret_error);
}

caucus_status caucus_plan_file_write(const caucus_plan *plan, const char *path, bool replace,
                                     char ret_hash[CAUCUS_PLAN_HEX_BYTES], caucus_error *ret_error) {
    char *text = NULL;
    size_t size = 0;
    found there = NOTHING;
    caucus_status status = caucus_plan_file_text(plan, &text, &size);
    if (status != CAUCUS_OK)
        return caucus_fail(ret_error, status, "", "%s: %s", tail(path), caucus_status_text(status));
    status = look(path, text, size, &there, ret_error);
    if (status == CAUCUS_OK && there == OTHER && !replace)
        status = caucus_fail(ret_error, CAUCUS_E_MISMATCH, "",
                             "%s: holds something else — add --force to replace it, or give another name", tail(path));
    else if (status == CAUCUS_OK && there != SAME)
        status = put(path, text, size, there == OTHER, ret_error);
    if (status == CAUCUS_OK)
        caucus_plan_file_hash(text, size, ret_hash);
    free(text);
    return status;
}
