/* SPDX-License-Identifier: Apache-2.0 */
/* failing_malloc.c: preloaded into the program, has its allocations fail from one on (CAUCUS_FAIL_FROM=N, from 1).
 *
 * With CAUCUS_SPARE_OPENSSL those that OpenSSL asks for itself are not counted and succeed: it does not survive being
 * without memory while it starts. What was allocated before main() is not counted. */
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static atomic_ulong count;
static unsigned long fail_from; /* 0: not yet, or never */
static bool spare_openssl;
static struct range { uintptr_t begin, end; } spared[2];
static size_t spared_count;

/* Where libcrypto and libssl lie. */
static int find_openssl(struct dl_phdr_info *info, size_t size, void *user) {
    (void)size;
    (void)user;
    if (strstr(info->dlpi_name, "libcrypto.") == NULL && strstr(info->dlpi_name, "libssl.") == NULL)
        return 0;
    struct range r = {UINTPTR_MAX, 0};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, end = begin + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        r.begin = begin < r.begin ? begin : r.begin;
        r.end = end > r.end ? end : r.end;
    }
    if (spared_count < sizeof spared / sizeof spared[0])
        spared[spared_count++] = r;
    return 0;
}

__attribute__((constructor)) static void begin(void) {
    const char *from = getenv("CAUCUS_FAIL_FROM");
    (void)dl_iterate_phdr(find_openssl, NULL);
    spare_openssl = getenv("CAUCUS_SPARE_OPENSSL") != NULL;
    fail_from = from != NULL ? strtoul(from, NULL, 10) : 0;
}

static bool fails(const void *caller) {
    uintptr_t at = (uintptr_t)caller;
    if (fail_from == 0)
        return false;
    for (size_t i = 0; spare_openssl && i < spared_count; i++)
        if (at >= spared[i].begin && at < spared[i].end)
            return false;
    if (atomic_fetch_add(&count, 1) + 1 < fail_from)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}
