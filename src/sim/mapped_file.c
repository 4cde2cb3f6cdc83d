/* mapped_file.c: open, check, mmap.
 * layer: sim */
#include "sim/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *caucus_path_tail(const char *path) {
    const size_t most = 80;
    size_t length = strlen(path);
    if (length <= most)
        return path;
    const char *tail = path + (length - most);
    const char *slash = strchr(tail, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : tail;
}

caucus_status caucus_mapped_open(const char *path, caucus_mapped *ret, caucus_error *ret_error) {
    const char *shown = caucus_path_tail(path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* not blocked by a pipe somebody passed by mistake */
    if (fd < 0)
        return caucus_fail(ret_error, CAUCUS_E_IO, "", "%s: %s", shown, strerror(errno));
    caucus_status status = CAUCUS_OK;
    struct stat info;
    if (fstat(fd, &info) != 0) {
        status = caucus_fail(ret_error, CAUCUS_E_IO, "", "%s: %s", shown, strerror(errno));
    } else if (!S_ISREG(info.st_mode)) {
        status = caucus_fail(ret_error, CAUCUS_E_IO, "", "%s: not a regular file", shown);
    } else if (info.st_size == 0) {
        *ret = (caucus_mapped){(const uint8_t *)"", 0, NULL};
    } else {
        size_t size = (size_t)info.st_size;
        void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map == MAP_FAILED)
            status = caucus_fail(ret_error, CAUCUS_E_IO, "", "%s: %s", shown, strerror(errno));
        else
            *ret = (caucus_mapped){map, size, map};
    }
    close(fd);
    return status;
}

void caucus_mapped_close(caucus_mapped *file) {
    if (file->map != NULL)
        munmap(file->map, file->size);
    *file = (caucus_mapped){NULL, 0, NULL};
}
