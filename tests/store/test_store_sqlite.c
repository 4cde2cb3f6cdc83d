/* SPDX-License-Identifier: Apache-2.0 */
/* test_record_sqlite.c: the conformance suite over SQLite. */
#define _GNU_SOURCE /* memmem, of store_testing.h */
#include "store/conformance.h"

/* The locks are on a directory and a file that have lost their names: the same files stand in another directory of that
 * name, where whoever comes makes new ones. */
static void take_locks_away(const char *where) {
    static unsigned count;
    static const char *const names[] = {"coordinator.db", "coordinator.db-wal", "coordinator.db-shm", "mark"};
    char other[200], from[300], to[300];
    (void)snprintf(other, sizeof other, "%s.other%u", where, count++);
    assert_int_equal(rename(where, other), 0);
    assert_int_equal(mkdir(where, 0700), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(from, sizeof from, "%s/%s", other, names[i]);
        (void)snprintf(to, sizeof to, "%s/%s", where, names[i]);
        assert_true(access(from, F_OK) != 0 || link(from, to) == 0);
    }
}

static void copy_database(const char *from, const char *to) {
    char path[300];
    size_t size = 0;
    (void)mkdir(to, 0700);
    (void)snprintf(path, sizeof path, "%s/coordinator.db", from);
    uint8_t *bytes = file_read(path, &size);
    (void)snprintf(path, sizeof path, "%s/coordinator.db", to);
    file_write(path, bytes, size);
    free(bytes);
}

static int make(void **state) {
    (void)state;
    history_make();
    return place_make(true);
}

int main(void) {
    suite = (conformance){
        .backend = &caucus_store_sqlite, .where = in_place, .intrude = take_locks_away, .copy = copy_database};
    return conformance_run(make, place_remove);
}
