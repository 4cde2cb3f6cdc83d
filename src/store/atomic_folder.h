/* SPDX-License-Identifier: Apache-2.0 */
/* atomic_folder.h: a folder that is there whole or not at all, and the other things done to whole folders.
 * layer: store
 *
 * It is built beside its place (PATH.draft-N) and exchanged with what was there by one rename. Only a folder that is
 * new, empty or holds nothing but files of ours is ever replaced: a wrong --out costs nobody a file. */
#ifndef CAUCUS_STORE_ATOMIC_FOLDER_H
#define CAUCUS_STORE_ATOMIC_FOLDER_H

#include <caucus/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct caucus_atomic_folder {
    char path[3072];  /* without slashes at its end */
    char draft[3104]; /* put the files here */
} caucus_atomic_folder;

/** Is a name in a folder one that we give to files? */
typedef bool caucus_is_ours(const char *folder, const char *name);

/** Look at what is in a folder.
 *  Out:     ret_name  the first name that is not ours, cut to fit; "" if there is none, or no folder.
 *           ret_any   whether there is anything in it.
 *  Returns: false if it cannot be read (errno: ENOTDIR for a file). */
bool caucus_folder_look(const char *path, caucus_is_ours *ours, char ret_name[256], bool *ret_any) CAUCUS_MUST_CHECK;

/** Make the draft. Returns: false if it cannot be made; errno says why. */
bool caucus_atomic_folder_begin(caucus_atomic_folder *ret, const char *path, mode_t mode) CAUCUS_MUST_CHECK;

/** Sync what is in the draft and put it in place. What was there is removed as far as it is ours.
 *  Returns: false on failure (errno says why): then the draft is still there, to be dropped. */
bool caucus_atomic_folder_end(const caucus_atomic_folder *folder, caucus_is_ours *ours) CAUCUS_MUST_CHECK;

/** Instead of ending, or after it failed: remove what was built. */
void caucus_atomic_folder_drop(const caucus_atomic_folder *folder);

/** Make a folder and those above it where missing. A path that ends with a slash, or `parents_only`, needs no last one.
 *  Out:     ret_made  whether the last one is new.
 *  Returns: false on failure (errno: ENOTDIR if something else has a name in the path). */
bool caucus_folder_make(const char *path, bool parents_only, bool *ret_made) CAUCUS_MUST_CHECK;

/** Remove a folder of ours and everything below it; links are not followed. */
void caucus_folder_remove(const char *path);

#endif
