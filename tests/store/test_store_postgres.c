/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_postgres.c: the conformance suite over PostgreSQL, in a cluster of its own. A place is a schema. */
#define _GNU_SOURCE /* memmem, of store_testing.h */
#ifdef CAUCUS_POSTGRES
#include "store/cluster.h"
#include "store/conformance.h"

#define SCHEMAS 64
static char names[SCHEMAS][64]; /* schemas that are made, with their key files */
static unsigned made;

static const char *schema_of(const char *where) {
    return strstr(where, "search_path%3D") + strlen("search_path%3D");
}

static const char *key_file(const char *where) {
    char name[80];
    (void)snprintf(name, sizeof name, "%s.key", schema_of(where));
    return in_place(name);
}

static const char *make_schema(const char *name) {
    char schema[64], sql[200];
    caucus_error error = {0};
    (void)snprintf(schema, sizeof schema, "%s", name);
    for (char *at = schema; *at != '\0'; at++)
        *at = *at == '-' ? '_' : *at;
    const char *where = cluster_where(schema);
    for (unsigned i = 0; i < made; i++)
        if (strcmp(names[i], schema) == 0)
            return where;
    assert_true(made < SCHEMAS);
    (void)snprintf(names[made++], sizeof names[0], "%s", schema);
    (void)snprintf(sql, sizeof sql, "CREATE SCHEMA \"%s\"", schema);
    (void)cluster_sql(sql);
    if (caucus_store_init(where, &error) != CAUCUS_OK)
        fail_msg("%s", error.text);
    if (caucus_key_file_make(key_file(where), &error) != CAUCUS_OK)
        fail_msg("%s", error.text);
    return where;
}

/* The session with the lock is ended, and its coordinator does not get it back: another one has it, on another machine,
 * with a key file of its own. */
static void end_keeper(const char *where) {
    size_t size = 0;
    const char *path = key_file(where);
    uint8_t *bytes = file_read(path, &size);
    assert_int_equal(unlink(path), 0);
    file_write(path, bytes, size);
    assert_int_equal(chmod(path, 0600), 0);
    free(bytes);
    (void)cluster_sql("SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_locks WHERE locktype = 'advisory'");
}

static void copy_tables(const char *from, const char *to) {
    static const char *const tables[] = {"caucus_run", "caucus_chunk", "caucus_announcement", "caucus_ledger"};
    (void)make_schema(schema_of(to));
    for (size_t i = 0; i < 4; i++) {
        char sql[400];
        (void)snprintf(sql, sizeof sql, "TRUNCATE \"%s\".%s", schema_of(to), tables[i]);
        (void)cluster_sql(sql);
        (void)snprintf(sql, sizeof sql, "INSERT INTO \"%s\".%s SELECT * FROM \"%s\".%s", schema_of(to), tables[i],
                       schema_of(from), tables[i]);
        (void)cluster_sql(sql);
    }
}

static int begin(void **state) {
    (void)state;
    history_make();
    return 0;
}

static int end(void **state) {
    cluster_end();
    return place_remove(state);
}

int main(void) {
    if (place_make(true) != 0)
        return 1;
    const int started = cluster_start();
    if (started != 0) {
        (void)place_remove(NULL);
        return started;
    }
    suite = (conformance){.backend = &caucus_store_postgres,
                          .where = make_schema,
                          .key_file = key_file,
                          .intrude = end_keeper,
                          .copy = copy_tables};
    return conformance_run(begin, end);
}
#else
int main(void) {
    return 77;
}
#endif
