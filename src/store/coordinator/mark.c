/* SPDX-License-Identifier: Apache-2.0 */
/* mark.c: see mark.h. */
#include "store/coordinator/mark.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "num/fail.h"
#include "num/little_endian.h"
#include "store/atomic_file.h"
#include "store/coordinator/backend.h"

#define PLACES 2
#define PLACE_BYTES 256
#define SUMMED_BYTES 96
#define USED_BYTES (SUMMED_BYTES + crypto_hash_sha256_BYTES)
#define FORMAT 2

static const uint8_t magic[8] = {'C', 'A', 'U', 'C', 'm', 'a', 'r', 'k'};

static void pack(const caucus_commit_mark *mark, uint8_t place[PLACE_BYTES]) {
    memset(place, 0, PLACE_BYTES);
    memcpy(place, magic, sizeof magic);
    (void)caucus_le_put(place + 8, FORMAT, 4);
    memcpy(place + 16, mark->plan, sizeof mark->plan);
    (void)caucus_le_put(place + 48, mark->count, 8);
    memcpy(place + 56, mark->chain, sizeof mark->chain);
    (void)caucus_le_put(place + 88, mark->term, 8);
    (void)crypto_hash_sha256(place + SUMMED_BYTES, place, SUMMED_BYTES);
}

/* A place whose bytes are whole; what it says goes into *ret. */
static bool unpack(const uint8_t place[PLACE_BYTES], caucus_commit_mark *ret) {
    uint8_t sum[crypto_hash_sha256_BYTES];
    (void)crypto_hash_sha256(sum, place, SUMMED_BYTES);
    if (memcmp(place, magic, sizeof magic) != 0 || memcmp(sum, place + SUMMED_BYTES, sizeof sum) != 0 ||
        caucus_le_get(place + 8, 4) != FORMAT)
        return false;
    memcpy(ret->plan, place + 16, sizeof ret->plan);
    ret->count = caucus_le_get(place + 48, 8);
    memcpy(ret->chain, place + 56, sizeof ret->chain);
    ret->term = caucus_le_get(place + 88, 8);
    return true;
}

/* The newer of the two places that can be read. */
static caucus_status read_places(caucus_commit_mark *mark, const uint8_t plan_hash[32], caucus_error *ret_error) {
    uint8_t bytes[PLACES * PLACE_BYTES] = {0};
    const ssize_t got = pread(mark->fd, bytes, sizeof bytes, 0);
    if (got < 0)
        return caucus_fail_path(ret_error, CAUCUS_E_IO, "", mark->path);
    bool any = false;
    for (int i = 0; i < PLACES; i++) {
        caucus_commit_mark one = *mark;
        if (!unpack(bytes + (ptrdiff_t)i * PLACE_BYTES, &one) ||
            (any && (one.count < mark->count || (one.count == mark->count && one.term <= mark->term))))
            continue;
        *mark = one;
        any = true;
    }
    if (!any)
        return caucus_fail(ret_error, CAUCUS_E_DAMAGED, "",
                           "%s: damaged: how far the run had come cannot be told — " CAUCUS_STORE_OVER,
                           caucus_path_tail(mark->path));
    if (memcmp(mark->plan, plan_hash, sizeof mark->plan) != 0)
        return caucus_fail(ret_error, CAUCUS_E_MISMATCH, "",
                           "%s belongs to another plan — a run cannot change its plan; use a new directory",
                           caucus_path_tail(mark->path));
    return CAUCUS_OK;
}

/* Both places, whole from the beginning: the file appears complete or not at all. */
static caucus_status create(const caucus_commit_mark *mark, caucus_error *ret_error) {
    uint8_t bytes[PLACES * PLACE_BYTES];
    for (int i = 0; i < PLACES; i++)
        pack(mark, bytes + (ptrdiff_t)i * PLACE_BYTES);
    return caucus_atomic_file_write(mark->path, bytes, sizeof bytes, 0600, false)
               ? CAUCUS_OK
               : caucus_fail_path(ret_error, CAUCUS_E_IO, "", mark->path);
}

caucus_status caucus_mark_open(const char *dir, const uint8_t plan_hash[32], const uint8_t chain[CAUCUS_CHAIN_BYTES],
                               bool fresh, caucus_commit_mark *ret, caucus_error *ret_error) {
    caucus_commit_mark mark = {.fd = -1, .path = caucus_path_in(dir, CAUCUS_MARK_FILE)};
    if (mark.path == NULL)
        return caucus_fail_memory(ret_error, "");
    memcpy(mark.plan, plan_hash, sizeof mark.plan);
    memcpy(mark.chain, chain, sizeof mark.chain);
    caucus_status status = CAUCUS_OK;
    struct stat info;
    const bool found = lstat(mark.path, &info) == 0;
    if (!found && errno != ENOENT)
        status = caucus_fail_path(ret_error, CAUCUS_E_IO, "", mark.path);
    if (status == CAUCUS_OK && !found && !fresh)
        status = caucus_fail(
            ret_error, CAUCUS_E_ROLLED_BACK, "",
            "%s: the file 'mark' is gone, so nobody can tell whether this is the latest state — " CAUCUS_STORE_OVER,
            caucus_path_tail(dir));
    if (status == CAUCUS_OK && !found)
        status = create(&mark, ret_error);
    if (status == CAUCUS_OK && (mark.fd = open(mark.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)) < 0)
        status = caucus_fail_path(ret_error, CAUCUS_E_IO, "", mark.path);
    if (status == CAUCUS_OK)
        status = read_places(&mark, plan_hash, ret_error);
    if (status != CAUCUS_OK) {
        caucus_mark_close(&mark);
        return status;
    }
    *ret = mark;
    return CAUCUS_OK;
}

caucus_status caucus_mark_write(caucus_commit_mark *mark, uint64_t count, uint64_t term,
                                const uint8_t chain[CAUCUS_CHAIN_BYTES], caucus_error *ret_error) {
    uint8_t place[PLACE_BYTES];
    caucus_commit_mark next = *mark;
    next.count = count;
    next.term = term;
    memcpy(next.chain, chain, sizeof next.chain);
    pack(&next, place);
    const off_t at = (off_t)(count % PLACES) * PLACE_BYTES;
    const ssize_t put = pwrite(mark->fd, place, sizeof place, at);
    if (put >= 0 && put < (ssize_t)sizeof place)
        errno = ENOSPC;
    if (put != (ssize_t)sizeof place || fdatasync(mark->fd) != 0)
        return caucus_fail_path(ret_error, CAUCUS_E_IO, "", mark->path);
    *mark = next;
    return CAUCUS_OK;
}

void caucus_mark_close(caucus_commit_mark *mark) {
    if (mark->fd >= 0)
        (void)close(mark->fd);
    free(mark->path);
    *mark = (caucus_commit_mark){.fd = -1};
}
