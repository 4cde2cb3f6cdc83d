/* folder.c: a folder that appears at once, or not at all. See parts.h.
 * layer: study
 *
 * It is built beside its place and exchanged with what was there by one rename. Only a folder that is new, empty or an
 * older report (index.html names its generator, and all else is .csv or .svg) is ever replaced: `--out .` by mistake
 * costs nobody a file. */
#define _GNU_SOURCE /* renameat2 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "study/parts.h"

static const char generator[] = "<meta name=\"generator\" content=\"caucus reproduce\">";

static bool ends(const char *name, const char *with) {
    size_t n = strlen(name), w = strlen(with);
    return n > w && strcmp(name + n - w, with) == 0;
}

static bool is_our_page(const char *path) {
    char start[1024] = "", file[4096];
    int length = snprintf(file, sizeof file, "%s/index.html", path);
    if (length < 0 || (size_t)length >= sizeof file)
        return false;
    FILE *page = fopen(file, "r");
    if (!page)
        return false;
    size_t n = fread(start, 1, sizeof start - 1, page);
    (void)fclose(page);
    start[n] = '\0';
    return strstr(start, generator) != NULL;
}

/* Something in it that no report wrote: its name into `ret`. */
static bool has_foreign(const char *path, char *ret, size_t size) {
    DIR *folder = opendir(path);
    bool page = is_our_page(path), foreign = false;
    if (!folder)
        return false;
    for (struct dirent *e; !foreign && (e = readdir(folder));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        bool ours =
            page && (strcmp(e->d_name, "index.html") == 0 || ends(e->d_name, ".csv") || ends(e->d_name, ".svg"));
        if (!ours) {
            (void)snprintf(ret, size, "%s", e->d_name);
            foreign = true;
        }
    }
    (void)closedir(folder);
    return foreign;
}

static caucus_status io(caucus_error *ret_error, const char *what, const char *path) {
    return caucus_fail(ret_error, CAUCUS_E_IO, "out", "%s: %s: %s", path, what, strerror(errno));
}

/* mkdir -p of everything above the last part. */
static caucus_status make_parents(char *path, caucus_error *ret_error) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int failed = mkdir(path, 0777);
        if (failed != 0 && errno != EEXIST) {
            caucus_status status = io(ret_error, "cannot be made", path);
            *slash = '/';
            return status;
        }
        *slash = '/';
    }
    return CAUCUS_OK;
}

/* The path without slashes at its end, and its parents made. */
static caucus_status place(const char *path, caucus_folder *ret, caucus_error *ret_error) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (length == 0 || length >= sizeof ret->final)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "out", "a folder's name of 1 to %zu bytes is needed",
                           sizeof ret->final - 1);
    (void)snprintf(ret->final, sizeof ret->final, "%.*s", (int)length, path);
    (void)snprintf(ret->building, sizeof ret->building, "%s.new-%ld", ret->final, (long)getpid());
    return make_parents(ret->final, ret_error);
}

caucus_status caucus_folder_check(const char *path, caucus_error *ret_error) {
    caucus_folder folder;
    char foreign[256] = "";
    struct stat info;
    caucus_status status = place(path, &folder, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (stat(folder.final, &info) == 0 && !S_ISDIR(info.st_mode))
        return caucus_fail(ret_error, CAUCUS_E_IO, "out", "%s is a file; name a folder", folder.final);
    if (has_foreign(folder.final, foreign, sizeof foreign))
        return caucus_fail(ret_error, CAUCUS_E_IO, "out",
                           "%s holds '%s', which no report wrote; name a new folder, or one of an older report",
                           folder.final, foreign);
    if (mkdir(folder.building, 0777) != 0) /* can it be written? better known now than at the end */
        return io(ret_error, "cannot be made", folder.building);
    (void)rmdir(folder.building);
    return CAUCUS_OK;
}

caucus_status caucus_folder_begin(const char *path, caucus_folder *ret, caucus_error *ret_error) {
    caucus_status status = caucus_folder_check(path, ret_error);
    if (status == CAUCUS_OK)
        status = place(path, ret, ret_error);
    if (status == CAUCUS_OK && mkdir(ret->building, 0777) != 0)
        status = io(ret_error, "cannot be made", ret->building);
    return status;
}

caucus_status caucus_folder_add(const caucus_folder *folder, const char *name, const caucus_text *text,
                                caucus_error *ret_error) {
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder->building, name);
    if (text->failed)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "out", "no memory for %s", name);
    FILE *file = fopen(path, "w");
    if (!file)
        return io(ret_error, "cannot be written", path);
    bool written =
        fwrite(text->data, 1, text->length, file) == text->length && fflush(file) == 0 && fsync(fileno(file)) == 0;
    int error = errno;
    if (fclose(file) != 0 || !written) {
        errno = written ? errno : error;
        return io(ret_error, "cannot be written", path);
    }
    return CAUCUS_OK;
}

/* Remove a folder of plain files. */
static void remove_folder(const char *path) {
    DIR *folder = opendir(path);
    if (!folder)
        return;
    for (struct dirent *e; (e = readdir(folder));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            (void)unlinkat(dirfd(folder), e->d_name, 0);
    (void)closedir(folder);
    (void)rmdir(path);
}

void caucus_folder_drop(const caucus_folder *folder) {
    remove_folder(folder->building);
}

caucus_status caucus_folder_finish(const caucus_folder *folder, caucus_error *ret_error) {
    char foreign[256] = "";
    if (has_foreign(folder->final, foreign, sizeof foreign)) /* it may have come meanwhile */
        return caucus_fail(ret_error, CAUCUS_E_IO, "out", "%s holds '%s', which no report wrote; name a new folder",
                           folder->final, foreign);
    if (renameat2(AT_FDCWD, folder->building, AT_FDCWD, folder->final, RENAME_EXCHANGE) == 0) {
        remove_folder(folder->building); /* now the old one */
        return CAUCUS_OK;
    }
    if (errno == ENOENT && rename(folder->building, folder->final) == 0) /* nothing was there */
        return CAUCUS_OK;
    if (errno == EINVAL || errno == ENOSYS) { /* a file system that cannot exchange */
        remove_folder(folder->final);
        if (rename(folder->building, folder->final) == 0)
            return CAUCUS_OK;
    }
    return io(ret_error, "cannot be put in place", folder->final);
}
