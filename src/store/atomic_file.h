/* SPDX-License-Identifier: Apache-2.0 */
/* atomic_file.h: a file that is there whole or not at all, and the few calls every durable file needs.
 * layer: store
 *
 * The bytes go into a draft beside the file (PATH.draft). The draft is synced and renamed, and then the directory is
 * synced: a reader never sees half a file, and after a crash there is the old file or the new one. A draft is locked
 * while it is written. So two writers of one path wait for each other, and a draft that nobody has locked was left by a
 * crash: the next writer removes it, since it may hold something that must not lie about. */
#ifndef CAUCUS_STORE_ATOMIC_FILE_H
#define CAUCUS_STORE_ATOMIC_FILE_H

#include <caucus/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct caucus_atomic_file {
    FILE *out; /* write here; errors are found by caucus_atomic_file_end */
    char path[4096], draft[4096 + 8];
} caucus_atomic_file;

/** Begin a draft of `path`. `mode` as for open(): 0666, or 0600 for what is private.
 *  Returns: false if it cannot be made; errno says why. */
bool caucus_atomic_file_begin(caucus_atomic_file *ret, const char *path, mode_t mode) CAUCUS_MUST_CHECK;

/** Close the draft and give it its name. Without `replace` a file that has come meanwhile stays (EEXIST).
 *  Returns: false on failure (errno says why); the draft is gone then, and an older file is as it was. Only if the
 *  directory cannot be synced is the new file in place although false is returned: a crash may still undo it. */
bool caucus_atomic_file_end(caucus_atomic_file *file, bool replace) CAUCUS_MUST_CHECK;

/** The same, and the new file stays open and locked: whoever locks a file before it uses it finds it taken.
 *  Out:     *ret_fd  the new file if it is in place, whatever is returned; else -1. */
bool caucus_atomic_file_end_locked(caucus_atomic_file *file, bool replace, int *ret_fd) CAUCUS_MUST_CHECK;

/** All three steps for bytes in memory. */
bool caucus_atomic_file_write(const char *path, const void *bytes, size_t size, mode_t mode,
                              bool replace) CAUCUS_MUST_CHECK;

/** A whole regular file of at most `most` bytes; `what` names it in errors ("a plan file").
 *  Out:     ret       size bytes and one 0 after them; to be freed.
 *  Returns: CAUCUS_OK, CAUCUS_E_PATH, CAUCUS_E_IO, CAUCUS_E_CHANGED, CAUCUS_E_FORMAT (larger than `most`),
 *           CAUCUS_E_MEMORY. */
caucus_status caucus_file_load(const char *path, size_t most, const char *what, uint8_t **ret, size_t *ret_size,
                               caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** All bytes, however often write() stops half-way. False: errno says why. */
bool caucus_write_all(int fd, const void *bytes, size_t size) CAUCUS_MUST_CHECK;

/** Sync a directory, or the one a file is in: a new name must survive a crash, not only the bytes. False: errno. */
bool caucus_sync_folder(const char *path) CAUCUS_MUST_CHECK;
bool caucus_sync_parent(const char *path) CAUCUS_MUST_CHECK;

/** Does the open file still have this name? A lock on a file without its name keeps nobody out. */
bool caucus_file_is_named(int fd, const char *path);

/** The path, or its end if it would fill an error's line. */
const char *caucus_path_tail(const char *path);

/** What the system has just said (errno) about a path. status and what becomes of it: caucus_fail_os(). */
caucus_status caucus_fail_path(caucus_error *ret_error, caucus_status status, const char *field, const char *path);
/** The same for a directory that could not be made, with what to do if the one above it is not there. */
caucus_status caucus_fail_new_folder(caucus_error *ret_error, const char *path);

/** "DIR/NAME", to be freed; NULL without memory. */
char *caucus_path_in(const char *dir, const char *name);

#endif
