/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c: the folder of a report, which appears at once or not at all. See parts.h.
 * layer: study
 *
 * Only a folder that is new, empty or an older report (index.html names its generator, and all else is .csv or .svg) is
 * ever replaced: `--out .` by mistake costs nobody a file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

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

static bool is_report_name(const char *folder, const char *name) {
    (void)folder;
    return strcmp(name, "index.html") == 0 || ends(name, ".csv") || ends(name, ".svg");
}

/* Names alone do not make a report: somebody's own figures end in .svg as well. */
static bool is_of_report(const char *folder, const char *name) {
    return is_report_name(folder, name) && is_our_page(folder);
}

static caucus_status io(caucus_error *ret_error, const char *what, const char *path) {
    return caucus_fail_os(ret_error, CAUCUS_E_PATH, errno, "out", "%s: %s", path, what);
}

static caucus_status refuse_foreign(const char *path, caucus_error *ret_error) {
    char foreign[256];
    bool any = false;
    if (!caucus_folder_look(path, is_of_report, foreign, &any))
        return errno == ENOTDIR ? caucus_fail(ret_error, CAUCUS_E_PATH, "out", "%s is a file; name a folder", path)
                                : io(ret_error, "cannot be read", path);
    if (foreign[0] != '\0')
        return caucus_fail(ret_error, CAUCUS_E_EXISTS, "out",
                           "%s holds '%s', which no report wrote; name a new folder, or one of an older report", path,
                           foreign);
    return CAUCUS_OK;
}

caucus_status caucus_folder_begin(const char *path, caucus_atomic_folder *ret, caucus_error *ret_error) {
    bool made = false;
    if (path[0] == '\0' || strlen(path) >= sizeof ret->path)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "out", "a folder's name of 1 to %zu bytes is needed",
                           sizeof ret->path - 1);
    caucus_status status = refuse_foreign(path, ret_error);
    if (status == CAUCUS_OK && (!caucus_folder_make(path, true, &made) || !caucus_atomic_folder_begin(ret, path, 0777)))
        status = io(ret_error, "cannot be made", path);
    return status;
}

caucus_status caucus_folder_check(const char *path, caucus_error *ret_error) {
    caucus_atomic_folder folder;
    caucus_status status = caucus_folder_begin(path, &folder, ret_error);
    if (status == CAUCUS_OK) /* it can be written, then: better known now than at the end */
        caucus_atomic_folder_drop(&folder);
    return status;
}

caucus_status caucus_folder_add(const caucus_atomic_folder *folder, const char *name, const caucus_text *text,
                                caucus_error *ret_error) {
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder->draft, name);
    if (text->failed)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "out", "no memory for %s", name);
    FILE *file = fopen(path, "w");
    if (!file)
        return io(ret_error, "cannot be written", path);
    bool written = fwrite(text->data, 1, text->length, file) == text->length && fflush(file) == 0;
    int error = errno;
    if (fclose(file) != 0 || !written) {
        errno = written ? errno : error;
        return io(ret_error, "cannot be written", path);
    }
    return CAUCUS_OK;
}

caucus_status caucus_folder_finish(const caucus_atomic_folder *folder, caucus_error *ret_error) {
    caucus_status status = refuse_foreign(folder->path, ret_error); /* it may have come meanwhile */
    if (status == CAUCUS_OK && !caucus_atomic_folder_end(folder, is_report_name))
        status = io(ret_error, "cannot be put in place", folder->path);
    return status;
}
