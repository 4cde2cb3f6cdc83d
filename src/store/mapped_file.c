/* SPDX-License-Identifier: Apache-2.0 */
/* mapped_file.c: open, check, mmap; and what happens when the file is cut meanwhile.
 * layer: store
 *
 * The handler of SIGBUS finds the mapping in a list that only grows (entries are used again, never freed), so it needs
 * no lock; it puts pages of zeros where the file is no more, and notes it. */
#include "store/mapped_file.h"

#include "store/atomic_file.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct caucus_mapping {
    _Atomic(uintptr_t) begin; /* 0: not in use */
    _Atomic(uintptr_t) end;   /* whole pages */
    atomic_bool cut;
    int fd;
    caucus_mapping *next;
};

static _Atomic(caucus_mapping *) mappings;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t page_bytes;
static struct sigaction before; /* what SIGBUS did until now */

/* Pages of zeros from `at` to `end`. The kernel is asked directly: a handler may call nothing that keeps books, and
 * what stands in for mmap() in a program under ThreadSanitizer does. It would also count the new pages as written here
 * while other threads read them, which is so, and harmless: whatever they read, a number of the file that is gone or a
 * zero, caucus_mapped_cut() is true before they ask. */
static bool map_zeros(uintptr_t at, uintptr_t end) {
#ifdef SYS_mmap2
    const long number = SYS_mmap2;
#else
    const long number = SYS_mmap;
#endif
    return syscall(number, at, end - at, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != -1;
}

static void on_bus(int signal_number, siginfo_t *info, void *context) {
    (void)signal_number, (void)context;
    int error = errno;
    uintptr_t at = (uintptr_t)info->si_addr & ~(page_bytes - 1);
    for (caucus_mapping *m = atomic_load(&mappings); m != NULL; m = m->next) {
        uintptr_t begin = atomic_load(&m->begin), end = atomic_load(&m->end);
        if (begin == 0 || at < begin || at >= end)
            continue;
        atomic_store(&m->cut, true);
        if (map_zeros(at, end)) {
            errno = error;
            return;
        }
    }
    (void)sigaction(SIGBUS, &before, NULL); /* not ours: it happens again, the old way */
    errno = error;
}

/* Whoever else takes the signal between two files gives it back here. */
static void watch_bus(void) {
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_RESTART}, now;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, NULL, &now) == 0 && ((now.sa_flags & SA_SIGINFO) == 0 || now.sa_sigaction != on_bus))
        (void)sigaction(SIGBUS, &action, &before);
}

/* An entry that is free, or a new one; NULL without memory. */
static caucus_mapping *take_entry(void) {
    caucus_mapping *m = atomic_load(&mappings);
    while (m != NULL && atomic_load(&m->begin) != 0)
        m = m->next;
    if (m == NULL && (m = calloc(1, sizeof *m)) != NULL) {
        m->next = atomic_load(&mappings);
        atomic_store(&mappings, m);
    }
    return m;
}

static caucus_mapping *enter(void *map, size_t size, int fd) {
    pthread_mutex_lock(&opening);
    watch_bus();
    caucus_mapping *m = take_entry();
    if (m != NULL) {
        m->fd = fd;
        atomic_store(&m->cut, false);
        atomic_store(&m->end, ((uintptr_t)map + size + page_bytes - 1) & ~(page_bytes - 1));
        atomic_store(&m->begin, (uintptr_t)map);
    }
    pthread_mutex_unlock(&opening);
    return m;
}

static caucus_status map_file(const char *shown, int fd, size_t size, caucus_mapped *ret, caucus_error *ret_error) {
    void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return caucus_fail_os(ret_error, CAUCUS_E_PATH, errno, "", "%s", shown);
    caucus_mapping *entry = enter(map, size, fd);
    if (entry == NULL) {
        munmap(map, size);
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "%s: %s", shown, caucus_status_text(CAUCUS_E_MEMORY));
    }
    *ret = (caucus_mapped){map, size, entry};
    return CAUCUS_OK;
}

caucus_status caucus_mapped_open(const char *path, caucus_mapped *ret, caucus_error *ret_error) {
    const char *shown = caucus_path_tail(path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* not blocked by a pipe somebody passed by mistake */
    if (fd < 0)
        return caucus_fail_os(ret_error, CAUCUS_E_PATH, errno, "", "%s", shown);
    caucus_status status = CAUCUS_OK;
    struct stat info;
    if (fstat(fd, &info) != 0) {
        status = caucus_fail_os(ret_error, CAUCUS_E_PATH, errno, "", "%s", shown);
    } else if (!S_ISREG(info.st_mode)) {
        status = caucus_fail(ret_error, CAUCUS_E_PATH, "", "%s: not a regular file", shown);
    } else if (info.st_size == 0) {
        *ret = (caucus_mapped){(const uint8_t *)"", 0, NULL};
    } else {
        status = map_file(shown, fd, (size_t)info.st_size, ret, ret_error);
        if (status == CAUCUS_OK)
            return CAUCUS_OK; /* it stays open: its size is looked at again */
    }
    close(fd);
    return status;
}

void caucus_mapped_close(caucus_mapped *file) {
    if (file->map != NULL) {
        void *map = (void *)(uintptr_t)file->bytes;
        int fd = file->map->fd;
        pthread_mutex_lock(&opening);
        atomic_store(&file->map->begin, 0); /* free from here on */
        pthread_mutex_unlock(&opening);
        munmap(map, file->size);
        close(fd);
    }
    *file = (caucus_mapped){NULL, 0, NULL};
}

bool caucus_mapped_cut(const caucus_mapped *file) {
    struct stat info;
    if (file->map == NULL)
        return false;
    /* Within the last page that is left, what was cut reads as zeros without a signal. */
    if (fstat(file->map->fd, &info) == 0 && (size_t)info.st_size < file->size)
        atomic_store(&file->map->cut, true); /* and stays so, should it grow again */
    return atomic_load(&file->map->cut);
}
