/* SPDX-License-Identifier: Apache-2.0 */
/* mark.c: see mark.h. */
#include "store/coordinator/mark.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "num/fail.h"
#include "num/hand_over.h"
#include "num/little_endian.h"
#include "store/atomic_file.h"
#include "store/coordinator/backend.h"

#define PLACES 2
#define PLACE_BYTES 256
#define SUMMED_BYTES 96
#define KEYED_BYTES 160
#define FORMAT 2
#define FORMAT_KEYED 3

static const uint8_t magic[8] = {'C', 'A', 'U', 'C', 'm', 'a', 'r', 'k'};

static size_t summed(const caucus_commit_mark *mark) {
    return mark->keyed ? KEYED_BYTES : SUMMED_BYTES;
}

static void pack(const caucus_commit_mark *mark, uint8_t place[PLACE_BYTES]) {
    memset(place, 0, PLACE_BYTES);
    memcpy(place, magic, sizeof magic);
    (void)caucus_le_put(place + 8, mark->keyed ? FORMAT_KEYED : FORMAT, 4);
    memcpy(place + 16, mark->plan, sizeof mark->plan);
    (void)caucus_le_put(place + 48, mark->count, 8);
    memcpy(place + 56, mark->chain, sizeof mark->chain);
    (void)caucus_le_put(place + 88, mark->term, 8);
    if (mark->keyed) {
        memcpy(place + 96, mark->state_key, sizeof mark->state_key);
        memcpy(place + 128, mark->fixed_key, sizeof mark->fixed_key);
    }
    (void)crypto_hash_sha256(place + summed(mark), place, summed(mark));
}

/* A place whose bytes are whole and of the kind that *ret is; what it says goes into *ret. */
static bool unpack(const uint8_t place[PLACE_BYTES], caucus_commit_mark *ret) {
    uint8_t sum[crypto_hash_sha256_BYTES];
    (void)crypto_hash_sha256(sum, place, summed(ret));
    if (memcmp(place, magic, sizeof magic) != 0 || memcmp(sum, place + summed(ret), sizeof sum) != 0 ||
        caucus_le_get(place + 8, 4) != (ret->keyed ? FORMAT_KEYED : FORMAT))
        return false;
    memcpy(ret->plan, place + 16, sizeof ret->plan);
    ret->count = caucus_le_get(place + 48, 8);
    memcpy(ret->chain, place + 56, sizeof ret->chain);
    ret->term = caucus_le_get(place + 88, 8);
    if (ret->keyed) {
        memcpy(ret->state_key, place + 96, sizeof ret->state_key);
        memcpy(ret->fixed_key, place + 128, sizeof ret->fixed_key);
    }
    return true;
}

/* The newer of the two places that can be read. */
static caucus_status read_places(caucus_commit_mark *mark, const uint8_t plan_hash[32], caucus_error *ret_error) {
    uint8_t bytes[PLACES * PLACE_BYTES] = {0};
    const ssize_t got = pread(mark->fd, bytes, sizeof bytes, 0);
    if (got < 0)
        return caucus_fail_path(ret_error, CAUCUS_E_IO, "", mark->path);
    bool any = false;
    const uint8_t unused[32] = {0};
    for (int i = 0; i < PLACES; i++) {
        caucus_commit_mark one = *mark;
        if (!unpack(bytes + (ptrdiff_t)i * PLACE_BYTES, &one) ||
            (any && (one.count < mark->count || (one.count == mark->count && one.term <= mark->term))))
            continue;
        *mark = one;
        any = true;
        sodium_memzero(&one, sizeof one);
    }
    sodium_memzero(bytes, sizeof bytes);
    if (!any)
        return caucus_fail(ret_error, CAUCUS_E_DAMAGED, "",
                           "%s: damaged: how far the run had come cannot be told — " CAUCUS_STORE_OVER,
                           caucus_path_tail(mark->path));
    if (mark->keyed && mark->count == 0 && memcmp(mark->plan, unused, sizeof unused) == 0)
        memcpy(mark->plan, plan_hash, sizeof mark->plan);
    if (memcmp(mark->plan, plan_hash, sizeof mark->plan) != 0)
        return caucus_fail(ret_error, CAUCUS_E_MISMATCH, "",
                           "%s belongs to another plan — a run cannot change its plan; use a new %s",
                           caucus_path_tail(mark->path), mark->keyed ? "one for a new run" : "directory");
    return CAUCUS_OK;
}

/* Both places, whole from the beginning: the file appears complete or not at all. */
static caucus_status create(const caucus_commit_mark *mark, caucus_error *ret_error) {
    uint8_t bytes[PLACES * PLACE_BYTES];
    for (int i = 0; i < PLACES; i++)
        pack(mark, bytes + (ptrdiff_t)i * PLACE_BYTES);
    const bool made = caucus_atomic_file_write(mark->path, bytes, sizeof bytes, 0600, false);
    const int why = errno;
    sodium_memzero(bytes, sizeof bytes);
    errno = why;
    return made ? CAUCUS_OK : caucus_fail_path(ret_error, CAUCUS_E_IO, "", mark->path);
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
    return CAUCUS_HAND_OVER(status, ret, mark, caucus_mark_close(&mark));
}

caucus_status caucus_key_file_make(const char *path, caucus_error *ret_error) {
    caucus_commit_mark mark = {.fd = -1, .path = strdup(path), .keyed = true};
    if (mark.path == NULL)
        return caucus_fail_memory(ret_error, "");
    randombytes_buf(mark.state_key, sizeof mark.state_key);
    randombytes_buf(mark.fixed_key, sizeof mark.fixed_key);
    caucus_status status = create(&mark, ret_error);
    if (status != CAUCUS_OK)
        status = caucus_fail_path(ret_error, errno == EEXIST ? CAUCUS_E_EXISTS : CAUCUS_E_PATH, "state-key", path);
    caucus_mark_close(&mark);
    return status;
}

/* Whoever may read it can read the state: nobody but the owner. */
static caucus_status lock_key_file(const caucus_commit_mark *mark, caucus_error *ret_error) {
    struct stat info;
    if (fstat(mark->fd, &info) != 0)
        return caucus_fail_path(ret_error, CAUCUS_E_PATH, "state-key", mark->path);
    if (!S_ISREG(info.st_mode) || (info.st_mode & 077) != 0)
        return caucus_fail(ret_error, CAUCUS_E_PATH, "state-key",
                           "%s: others may read it: whoever has it can read the state — chmod 600",
                           caucus_path_tail(mark->path));
    if (flock(mark->fd, LOCK_EX | LOCK_NB) != 0)
        return caucus_fail(ret_error, CAUCUS_E_BUSY, "state-key",
                           "%s is in use by another process — each coordinator needs a copy of its own",
                           caucus_path_tail(mark->path));
    return CAUCUS_OK;
}

caucus_status caucus_key_file_open(const char *path, const uint8_t plan_hash[32],
                                   const uint8_t chain[CAUCUS_CHAIN_BYTES], caucus_commit_mark *ret,
                                   caucus_error *ret_error) {
    caucus_commit_mark mark = {.fd = -1, .path = strdup(path), .keyed = true};
    if (mark.path == NULL)
        return caucus_fail_memory(ret_error, "");
    caucus_status status = CAUCUS_OK;
    if ((mark.fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)) < 0)
        status = caucus_fail_hint(ret_error, caucus_fail_path(ret_error, CAUCUS_E_PATH, "state-key", path),
                                  "caucus store init makes one; a run goes on only with a copy of its own");
    if (status == CAUCUS_OK)
        status = lock_key_file(&mark, ret_error);
    if (status == CAUCUS_OK)
        status = read_places(&mark, plan_hash, ret_error);
    if (status == CAUCUS_OK && mark.count == 0)
        memcpy(mark.chain, chain, sizeof mark.chain);
    return CAUCUS_HAND_OVER(status, ret, mark, caucus_mark_close(&mark));
}

void caucus_mark_state_key(const caucus_commit_mark *mark, uint64_t count, uint8_t ret[32]) {
    static const uint8_t next[] = "caucus: the key of the next state";
    assert(mark->keyed && count >= mark->count);
    memcpy(ret, mark->state_key, 32);
    for (uint64_t i = mark->count; i < count; i++) {
        uint8_t key[32];
        memcpy(key, ret, sizeof key);
        (void)crypto_generichash(ret, 32, next, sizeof next - 1, key, sizeof key);
        sodium_memzero(key, sizeof key);
    }
}

static caucus_status write_place(const caucus_commit_mark *mark, uint64_t number, caucus_error *ret_error) {
    uint8_t place[PLACE_BYTES];
    pack(mark, place);
    const ssize_t put = pwrite(mark->fd, place, sizeof place, (off_t)(number % PLACES) * PLACE_BYTES);
    sodium_memzero(place, sizeof place);
    if (put >= 0 && put < (ssize_t)sizeof place)
        errno = ENOSPC;
    if (put != (ssize_t)sizeof place || fdatasync(mark->fd) != 0)
        return caucus_fail_path(ret_error, CAUCUS_E_IO, "", mark->path);
    return CAUCUS_OK;
}

caucus_status caucus_mark_write(caucus_commit_mark *mark, uint64_t count, uint64_t term,
                                const uint8_t chain[CAUCUS_CHAIN_BYTES], caucus_error *ret_error) {
    caucus_commit_mark next = *mark;
    next.count = count;
    next.term = term;
    memcpy(next.chain, chain, sizeof next.chain);
    if (mark->keyed)
        caucus_mark_state_key(mark, count, next.state_key);
    caucus_status status = write_place(&next, count, ret_error);
    if (status == CAUCUS_OK)
        *mark = next;
    sodium_memzero(&next, sizeof next);
    return status;
}

caucus_status caucus_mark_wipe(caucus_commit_mark *mark, caucus_error *ret_error) {
    return mark->keyed ? write_place(mark, mark->count + 1, ret_error) : CAUCUS_OK;
}

void caucus_mark_close(caucus_commit_mark *mark) {
    if (mark->fd >= 0)
        (void)close(mark->fd);
    free(mark->path);
    sodium_memzero(mark, sizeof *mark);
    mark->fd = -1;
}
