/* SPDX-License-Identifier: Apache-2.0 */
/* atomic_folder.c: see atomic_folder.h. */
#define _GNU_SOURCE /* renameat2, syncfs */
#include "store/atomic_folder.h"

#include "store/atomic_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_dot(const char *name) {
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

bool caucus_folder_look(const char *path, caucus_is_ours *ours, char ret_name[256], bool *ret_any) {
    DIR *folder = opendir(path);
    ret_name[0] = '\0';
    *ret_any = false;
    if (folder == NULL)
        return errno == ENOENT;
    for (const struct dirent *e; ret_name[0] == '\0' && (e = readdir(folder)) != NULL;) {
        if (is_dot(e->d_name))
            continue;
        *ret_any = true;
        if (!ours(path, e->d_name))
            (void)snprintf(ret_name, 256, "%s", e->d_name);
    }
    (void)closedir(folder);
    return true;
}

/* Everything below a folder, or only the plain files that `ours` knows; then the folder itself, if it is empty. */
static void remove_below(int parent, const char *name, const char *path, caucus_is_ours *ours) {
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    for (const struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
        if (is_dot(e->d_name) || (ours != NULL && !ours(path, e->d_name)))
            continue;
        if (unlinkat(dirfd(folder), e->d_name, 0) != 0 && ours == NULL)
            remove_below(dirfd(folder), e->d_name, e->d_name, NULL);
    }
    if (folder != NULL)
        (void)closedir(folder);
    else if (fd >= 0)
        (void)close(fd);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

void caucus_folder_remove(const char *path) {
    remove_below(AT_FDCWD, path, path, NULL);
}

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool caucus_folder_make(const char *path, bool parents_only, bool *ret_made) {
    char *copy = strdup(path);
    bool good = copy != NULL;
    *ret_made = false;
    for (char *slash = copy; good && slash != NULL;) {
        slash = strchr(slash + (slash[0] == '/' || slash != copy), '/');
        if (slash == NULL && parents_only)
            break;
        if (slash != NULL)
            *slash = '\0';
        if (copy[0] != '\0') {
            *ret_made = mkdir(copy, 0777) == 0;
            if (!*ret_made && (errno != EEXIST || !is_folder(copy))) {
                errno = errno == EEXIST ? ENOTDIR : errno;
                good = false;
            }
        }
        if (slash != NULL)
            *slash = '/';
    }
    int why = errno;
    free(copy);
    errno = why;
    return good;
}

bool caucus_atomic_folder_begin(caucus_atomic_folder *ret, const char *path, mode_t mode) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (length == 0 || length >= sizeof ret->path) {
        errno = length == 0 ? ENOENT : ENAMETOOLONG;
        return false;
    }
    (void)snprintf(ret->path, sizeof ret->path, "%.*s", (int)length, path);
    for (unsigned n = 1; n <= 1000; n++) { /* one that a crash left is not in the way */
        (void)snprintf(ret->draft, sizeof ret->draft, "%s.draft-%u", ret->path, n);
        if (mkdir(ret->draft, mode) == 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

void caucus_atomic_folder_drop(const caucus_atomic_folder *folder) {
    caucus_folder_remove(folder->draft);
}

static bool sync_files(const char *draft) {
    int fd = open(draft, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && syncfs(fd) == 0; /* thousands of certificates at once, not one after the other */
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return good;
}

/* For file systems that cannot exchange two names: the old folder steps aside first. After a crash between the two
 * renames it is found under the name `aside`. */
static bool place_in_two_steps(const caucus_atomic_folder *folder, caucus_is_ours *ours) {
    char aside[sizeof folder->draft + 4];
    (void)snprintf(aside, sizeof aside, "%s.old", folder->draft);
    if (rename(folder->path, aside) != 0)
        return false;
    if (rename(folder->draft, folder->path) != 0) {
        int why = errno;
        (void)rename(aside, folder->path);
        errno = why;
        return false;
    }
    remove_below(AT_FDCWD, aside, aside, ours);
    return true;
}

bool caucus_atomic_folder_end(const caucus_atomic_folder *folder, caucus_is_ours *ours) {
    if (!sync_files(folder->draft))
        return false;
    if (renameat2(AT_FDCWD, folder->draft, AT_FDCWD, folder->path, RENAME_EXCHANGE) == 0)
        remove_below(AT_FDCWD, folder->draft, folder->draft, ours); /* this is now the old one */
    else if (errno == ENOENT ? rename(folder->draft, folder->path) != 0
                             : (errno != EINVAL && errno != ENOSYS) || !place_in_two_steps(folder, ours))
        return false;
    return caucus_sync_parent(folder->path);
}
