/* SPDX-License-Identifier: Apache-2.0 */
/* plan_file.c: plan files on disk. See <caucus/plan_file.h>; the bytes are made in plan/text/plan_text.c and read in
 * plan_parse.c. */
#include <caucus/plan_file.h>

#include "plan/text/plan_text.h"

#include "store/atomic_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static caucus_status load(const char *path, uint8_t **ret, size_t *ret_size, caucus_error *ret_error) {
    return caucus_file_load(path, CAUCUS_PLAN_FILE_BYTES, "a plan file", ret, ret_size, ret_error);
}

caucus_status caucus_plan_file_read(const char *path, caucus_plan **ret, caucus_error *ret_error) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    caucus_status status = load(path, &bytes, &size, ret_error);
    if (status != CAUCUS_OK)
        return status;
    status = caucus_plan_file_parse(path, bytes, size, ret, ret_error);
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
        return errno == ENOENT ? CAUCUS_OK : caucus_fail_path(ret_error, CAUCUS_E_PATH, "", path);
    *ret = OTHER;
    if (S_ISREG(info.st_mode) && info.st_size > (off_t)CAUCUS_PLAN_FILE_BYTES)
        return CAUCUS_OK;
    caucus_status status = load(path, &bytes, &there, ret_error);
    if (status == CAUCUS_OK && bytes != NULL && there == size && memcmp(bytes, text, size) == 0)
        *ret = SAME;
    free(bytes);
    return status;
}

caucus_status caucus_plan_file_text(const caucus_plan *plan, char **ret, size_t *ret_size) {
    return caucus_plan_text(plan, ret, ret_size);
}

caucus_status caucus_plan_file_write(const caucus_plan *plan, const char *path, bool replace, caucus_error *ret_error) {
    char *text = NULL;
    size_t size = 0;
    found there = NOTHING;
    caucus_status status = caucus_plan_text(plan, &text, &size);
    if (status != CAUCUS_OK)
        return caucus_fail(ret_error, status, "", "%s: %s", caucus_path_tail(path), caucus_status_text(status));
    status = look(path, text, size, &there, ret_error);
    if (status == CAUCUS_OK && there == OTHER && !replace)
        status = caucus_fail_hint(
            ret_error, caucus_fail(ret_error, CAUCUS_E_EXISTS, "", "%s: holds something else", caucus_path_tail(path)),
            "add 'force' to replace it, or give another name");
    else if (status == CAUCUS_OK && there != SAME)
        status = caucus_atomic_file_write(path, text, size, 0666, there == OTHER)
                     ? CAUCUS_OK
                     : caucus_fail_path(ret_error, CAUCUS_E_PATH, "", path);
    free(text);
    return status;
}
