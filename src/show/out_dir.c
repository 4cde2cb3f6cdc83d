/* SPDX-License-Identifier: Apache-2.0 */
/* out_dir.c: result files, whole or not at all. See out_dir.h. */
#include "show/out_dir.h"

#include "show/out_file.h"
#include "store/atomic_folder.h"

#include <errno.h>
#include <unistd.h>

caucus_status caucus_out_dir_make(const char *directory, bool *ret_made, caucus_error *ret_error) {
    bool good = caucus_folder_make(directory, false, ret_made) && access(directory, W_OK | X_OK) == 0;
    return good ? CAUCUS_OK : caucus_fail_path(ret_error, CAUCUS_E_PATH, "out", directory);
}

caucus_status caucus_out_file_begin(caucus_atomic_file *file, const char *directory, const char *name,
                                    caucus_error *ret_error) {
    char path[sizeof file->path];
    int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    errno = ENAMETOOLONG;
    if (length < 0 || (size_t)length >= sizeof path)
        return caucus_fail_path(ret_error, CAUCUS_E_PATH, "", directory);
    return caucus_atomic_file_begin(file, path, 0666) ? CAUCUS_OK
                                                      : caucus_fail_path(ret_error, CAUCUS_E_PATH, "", path);
}

caucus_status caucus_out_file_end(caucus_atomic_file *file, caucus_error *ret_error) {
    return caucus_atomic_file_end(file, true) ? CAUCUS_OK : caucus_fail_path(ret_error, CAUCUS_E_PATH, "", file->path);
}

caucus_status caucus_out_dir_write(const char *directory, const caucus_outcome *outcome, caucus_error *ret_error) {
    static const struct {
        const char *name;
        void (*write)(FILE *out, const caucus_outcome *outcome);
    } files[] = {{"trials.csv", caucus_output_trials},
                 {"curves.csv", caucus_output_curves},
                 {"choices.csv", caucus_output_choices},
                 {"results.json", caucus_output_json}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        caucus_atomic_file file = {.out = NULL};
        caucus_status status = caucus_out_file_begin(&file, directory, files[i].name, ret_error);
        if (status != CAUCUS_OK)
            return status;
        files[i].write(file.out, outcome);
        status = caucus_out_file_end(&file, ret_error);
        if (status != CAUCUS_OK)
            return status;
    }
    return CAUCUS_OK;
}
