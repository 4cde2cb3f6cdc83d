/* SPDX-License-Identifier: Apache-2.0 */
/* store_testing.h: a little history of commits whose every byte is known, and how to tell how much of it a store
 * holds. */
#ifndef TESTS_STORE_TESTING_H
#define TESTS_STORE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "num/error_line.h"
#include "plan/plan.h"
#include "store/coordinator/store.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/forked.h"
#include "scratch.h"

static const uint8_t plan_hash[32] = {0x3f, 0x9c, 0x10, 0xaa, 7};

#define HISTORY 64
static char history_line[HISTORY + 2][CAUCUS_LEDGER_LINE_BYTES]; /* budget, run, one release per commit */

static inline void history_make(void) {
    caucus_plan plan = {0};
    caucus_ledger *ledger = NULL;
    uint32_t run = 0;
    caucus_settings_init(&plan.settings);
    plan.settings.trust = CAUCUS_TRUST_COORDINATOR;
    plan.guarantee = (caucus_guarantee){.epsilon_choices = 10, .epsilon_messages = (double)NAN};
    assert_int_equal(caucus_ledger_new(20, 0, &ledger, NULL), CAUCUS_OK);
    assert_int_equal(caucus_ledger_reserve(ledger, &plan, "test", false, &run, NULL), CAUCUS_OK);
    for (uint32_t k = 0; k < HISTORY; k++)
        assert_int_equal(
            caucus_ledger_release(ledger, run, k, "check", (caucus_rational){1, 100}, (caucus_rational){0, 1}, NULL),
            CAUCUS_OK);
    for (size_t i = 0; i < HISTORY + 2; i++)
        assert_int_equal(caucus_ledger_line(ledger, i, history_line[i], sizeof history_line[i]), CAUCUS_OK);
    caucus_ledger_free(ledger);
}

/* State number k, of a length of its own: several pages, so that a mix of two would show. */
static inline size_t history_state(uint32_t k, uint8_t ret[16384]) {
    size_t bytes = 900 + (size_t)(k * 2711 % 9000);
    for (size_t i = 0; i < bytes; i++)
        ret[i] = (uint8_t)(k * 37 + i * (k + 1));
    return bytes;
}

static inline caucus_announcement history_announcement(uint32_t k) {
    caucus_announcement a = {.serial = k,
                             .expert = UINT32_MAX - k,
                             .epoch = k / 3,
                             .ask = (caucus_ask)(k % 6),
                             .block = k * 5,
                             .leaf = k % 2,
                             .listed = k % (CAUCUS_SHORTLIST + 1)};
    for (uint32_t i = 0; i < a.listed; i++)
        a.list[i] = k * 1000003u + i;
    return a;
}

/* Chunk i of state k: the first changes every time, the second every fourth time, the third never. */
#define HISTORY_CHUNKS 3
static inline size_t history_chunk(uint32_t k, uint32_t i, uint8_t ret[700]) {
    const uint32_t version = i == 0 ? k : i == 1 ? k / 4 : 0;
    size_t bytes = i == 2 ? 1 : 200 + 300 * (size_t)(version % 2);
    memset(ret, (int)(0x40 + 7 * i + version), bytes);
    return bytes;
}

static inline caucus_piece piece_of(const uint8_t *bytes, size_t size) {
    return (caucus_piece){.bytes = (uint8_t *)(uintptr_t)bytes, .size = size};
}

/* A state without chunks. */
static inline caucus_status plain_commit(caucus_store *store, const void *state, size_t bytes,
                                         const caucus_announcement *announcement, const char *const *line, size_t lines,
                                         caucus_error *ret_error) {
    const caucus_piece root = piece_of(state, bytes);
    return caucus_store_commit(store, &root, NULL, 0, announcement, line, lines, ret_error);
}

/* Commit number k (from 0): what the store must hold then is known to history_expect(). */
static inline caucus_status history_commit(caucus_store *store, uint32_t k, caucus_error *ret_error) {
    static uint8_t state[16384], chunk[HISTORY_CHUNKS][700]; /* they stay: an outcome may be found out later */
    static const char *lines[3];
    static caucus_announcement announcement;
    lines[0] = history_line[0], lines[1] = history_line[1], lines[2] = history_line[k + 2];
    static caucus_piece root, part[HISTORY_CHUNKS];
    root = piece_of(state, history_state(k, state));
    for (uint32_t i = 0; i < HISTORY_CHUNKS; i++)
        part[i] = piece_of(chunk[i], history_chunk(k, i, chunk[i]));
    announcement = history_announcement(k);
    return k == 0 ? caucus_store_commit(store, &root, part, HISTORY_CHUNKS, &announcement, lines, 3, ret_error)
                  : caucus_store_commit(store, &root, part, HISTORY_CHUNKS, &announcement, lines + 2, 1, ret_error);
}

static inline void history_expect_announcement(void *user, const caucus_announcement *got) {
    uint32_t *k = user;
    caucus_announcement want = history_announcement((*k)++);
    assert_int_equal(got->serial, want.serial);
    assert_int_equal(got->expert, want.expert);
    assert_int_equal(got->epoch, want.epoch);
    assert_int_equal(got->ask, want.ask);
    assert_int_equal(got->block, want.block);
    assert_int_equal(got->leaf, want.leaf);
    assert_int_equal(got->listed, want.listed);
    assert_memory_equal(got->list, want.list, sizeof want.list);
}

static inline void history_expect_ledger(const caucus_ledger *ledger, uint32_t commits) {
    if (commits == 0) {
        assert_null(ledger);
        return;
    }
    assert_non_null(ledger);
    assert_int_equal(caucus_ledger_count(ledger), commits + 2);
    for (size_t i = 0; i < caucus_ledger_count(ledger); i++) {
        char line[CAUCUS_LEDGER_LINE_BYTES];
        assert_int_equal(caucus_ledger_line(ledger, i, line, sizeof line), CAUCUS_OK);
        assert_string_equal(line, history_line[i]);
    }
}

static inline void history_expect_state(const caucus_store_state *got, uint32_t commits) {
    uint8_t want[16384];
    if (commits == 0) {
        assert_int_equal(got->root.size, 0);
        assert_int_equal(got->chunks, 0);
        return;
    }
    assert_int_equal(got->root.size, history_state(commits - 1, want));
    assert_memory_equal(got->root.bytes, want, got->root.size);
    assert_int_equal(got->chunks, HISTORY_CHUNKS);
    for (uint32_t i = 0; i < HISTORY_CHUNKS; i++) {
        assert_int_equal(got->chunk[i].size, history_chunk(commits - 1, i, want));
        assert_memory_equal(got->chunk[i].bytes, want, got->chunk[i].size);
    }
}

/* The store must hold some prefix of the history, whole. Returns how many commits. */
static inline uint32_t history_found(caucus_store *store) {
    uint32_t commits = 0;
    caucus_store_state state = {0};
    caucus_ledger *ledger = NULL;
    assert_int_equal(caucus_store_announcements(store, history_expect_announcement, &commits, NULL), CAUCUS_OK);
    assert_int_equal(caucus_store_load(store, &state, NULL), CAUCUS_OK);
    history_expect_state(&state, commits);
    caucus_store_state_free(&state);
    assert_int_equal(caucus_store_ledger(store, true, &ledger, NULL), CAUCUS_OK);
    history_expect_ledger(ledger, commits);
    caucus_ledger_free(ledger);
    return commits;
}

static inline caucus_store *store_opened(const char *dir) {
    caucus_store *store = NULL;
    caucus_error error = {0};
    caucus_status status = caucus_store_open(dir, plan_hash, false, &store, &error);
    if (status != CAUCUS_OK)
        fail_msg("%s: %s", caucus_status_text(status), error.text);
    return store;
}

/* Open for this plan must fail, and the line must hold `words`. */
static inline void store_refused(const char *dir, caucus_status want, const char *words) {
    caucus_store *store = NULL;
    caucus_error error = {0};
    caucus_status status = caucus_store_open(dir, plan_hash, false, &store, &error);
    char line[CAUCUS_ERROR_LINE_BYTES];
    caucus_error_line(&error, status, line);
    if (status != want || store != NULL || strstr(line, words) == NULL)
        fail_msg("got %s: '%s', want %s: '%s'", caucus_status_text(status), line, caucus_status_text(want), words);
}

/* A place of our own; a path is good until the sixteenth one after it. */
static char place[64];
static inline const char *in_place(const char *name) {
    static char path[16][160];
    static unsigned turn;
    char *to = path[turn++ % 16];
    (void)snprintf(to, sizeof path[0], "%s/%s", place, name);
    return to;
}

/* On the disk, or in memory (scratch.h). */
static inline int place_make(bool in_memory) {
    (void)snprintf(place, sizeof place, "%s/caucus-store-XXXXXX", in_memory ? scratch_root() : "/tmp");
    return mkdtemp(place) != NULL ? 0 : -1;
}

static inline int place_remove(void **state) {
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", place);
    return system(command);
}

static inline uint8_t *file_read(const char *path, size_t *ret_size) {
    FILE *in = fopen(path, "rb");
    if (in == NULL)
        fail_msg("%s cannot be read", path);
    assert_int_equal(fseek(in, 0, SEEK_END), 0);
    long size = ftell(in);
    rewind(in);
    uint8_t *bytes = malloc((size_t)size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)size, in), size);
    fclose(in);
    *ret_size = (size_t)size;
    return bytes;
}

static inline void file_write(const char *path, const uint8_t *bytes, size_t size) {
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
}

static inline bool file_holds(const char *path, const uint8_t *what, size_t size) {
    size_t total = 0;
    uint8_t *bytes = file_read(path, &total);
    bool found = memmem(bytes, total, what, size) != NULL;
    free(bytes);
    return found;
}

/* As file_holds(), of a file that is being written to, or is gone. */
static inline bool changing_file_holds(const char *path, const void *what, size_t size) {
    static _Thread_local uint8_t bytes[1 << 21];
    FILE *in = fopen(path, "rb");
    if (in == NULL)
        return false;
    size_t total = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    assert_true(total < sizeof bytes);
    return memmem(bytes, total, what, size) != NULL;
}

/* The files of the directory that hold these bytes. */
static inline uint32_t dir_holds(const char *dir, const void *bytes, size_t size) {
    DIR *d = opendir(dir);
    assert_non_null(d);
    uint32_t found = 0, files = 0;
    for (struct dirent *entry; (entry = readdir(d)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        char path[512];
        (void)snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        found += changing_file_holds(path, bytes, size);
        files++;
    }
    closedir(d);
    assert_true(files >= 2); /* the database and the lock at least */
    return found;
}

#endif
