/* out_dir.c: result files, whole or not at all. See out_dir.h. */
#include "show/out_dir.h"

#include "show/out_file.h"
#include "store/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static caucus_status fail_io(const char *path, caucus_error *ret_error) {
    return caucus_fail(ret_error, CAUCUS_E_IO, "", "%s: %s", caucus_path_tail(path), strerror(errno));
}

static bool is_directory(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

caucus_status caucus_out_dir_make(const char *directory, bool *ret_made, caucus_error *ret_error) {
    char *path = strdup(directory);
    caucus_status status = CAUCUS_OK;
    *ret_made = false;
    if (path == NULL)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "out", "%s", caucus_status_text(CAUCUS_E_MEMORY));
    for (char *slash = path; status == CAUCUS_OK && slash != NULL;) {
        slash = strchr(slash + (slash[0] == '/' || slash != path), '/');
        if (slash != NULL)
            *slash = '\0';
        if (path[0] != '\0') {
            *ret_made = mkdir(path, 0777) == 0;
            if (!*ret_made && (errno != EEXIST || !is_directory(path))) {
                errno = errno == EEXIST ? ENOTDIR : errno;
                status = fail_io(path, ret_error);
            }
        }
        if (slash != NULL)
            *slash = '/';
    }
    free(path);
    if (status == CAUCUS_OK && access(directory, W_OK | X_OK) != 0)
        status = fail_io(directory, ret_error);
    return status;
}

caucus_status caucus_out_file_begin(caucus_out_file *file, const char *directory, const char *name,
                                    caucus_error *ret_error) {
    int length = snprintf(file->path, sizeof file->path, "%s/%s", directory, name);
    (void)snprintf(file->draft, sizeof file->draft, "%s/.%s.%ld", directory, name, (long)getpid());
    errno = ENAMETOOLONG;
    if (length < 0 || (size_t)length + 16 >= sizeof file->path)
        return fail_io(directory, ret_error);
    file->out = fopen(file->draft, "wxe");
    return file->out != NULL ? CAUCUS_OK : fail_io(file->draft, ret_error);
}

caucus_status caucus_out_file_end(caucus_out_file *file, caucus_error *ret_error) {
    bool good = fflush(file->out) == 0 && !ferror(file->out) && fsync(fileno(file->out)) == 0;
    int error = errno;
    if (fclose(file->out) != 0 && good) {
        good = false;
        error = errno;
    }
    if (good && rename(file->draft, file->path) == 0)
        return CAUCUS_OK;
    errno = good ? errno : error;
    caucus_status status = fail_io(file->path, ret_error);
    (void)unlink(file->draft);
    return status;
}

caucus_status caucus_out_dir_write(const char *directory, const caucus_outcome *outcome, caucus_error *ret_error) {
    static const struct {
        const char *name;
        void (*write)(FILE *out, const caucus_outcome *outcome);
    } files[] = {{"trials.csv", caucus_output_trials},
                 {"curves.csv", caucus_output_curves},
                 {"results.json", caucus_output_json}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        caucus_out_file file = {.out = NULL};
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
