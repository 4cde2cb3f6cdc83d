/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.h: a PostgreSQL cluster of a test's own (postgres.bash), which ends with the test. */
#ifndef TESTS_STORE_CLUSTER_H
#define TESTS_STORE_CLUSTER_H

#include "store/store_testing.h"

#include <libpq-fe.h>

static FILE *cluster_orders, *cluster_answers;

/* What it says next must be this. */
static inline bool cluster_says(const char *word) {
    char line[200] = "";
    if (fgets(line, sizeof line, cluster_answers) == NULL)
        return false;
    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line, word) != 0)
        fprintf(stderr, "the cluster says: %s\n", line);
    return strcmp(line, word) == 0;
}

/* In `place`. Returns: 0; 77 if PostgreSQL is not here. Ends the process if it does not start. */
static inline int cluster_start(void) {
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0)
        exit(1);
    const pid_t child = fork(); /* not killed with us: it ends the cluster when its input is closed */
    if (child == 0) {
        (void)dup2(in[0], 0);
        (void)dup2(out[1], 1);
        (void)close(in[1]);
        (void)close(out[0]);
        (void)execl(CLUSTER, CLUSTER, place, (char *)NULL);
        _exit(126);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    cluster_orders = fdopen(in[1], "w");
    cluster_answers = fdopen(out[0], "r");
    if (child < 0 || cluster_orders == NULL || cluster_answers == NULL)
        exit(1);
    if (cluster_says("ready"))
        return 0;
    int status = 0;
    (void)waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        return 77;
    exit(1);
}

static inline void cluster_do(const char *order) {
    fprintf(cluster_orders, "%s\n", order);
    assert_int_equal(fflush(cluster_orders), 0);
    assert_true(cluster_says("done"));
}

/* Closing its input ends it; then it is waited for. */
static inline void cluster_end(void) {
    if (cluster_orders == NULL)
        return;
    char rest[64];
    (void)fclose(cluster_orders);
    while (fgets(rest, sizeof rest, cluster_answers) != NULL)
        continue;
    (void)fclose(cluster_answers);
    cluster_orders = NULL;
}

/* "postgresql:///caucus?host=PLACE&options=-csearch_path=NAME", good until the sixteenth one after it. */
static inline const char *cluster_where(const char *schema) {
    static char text[16][300];
    static unsigned turn;
    char *to = text[turn++ % 16];
    (void)snprintf(to, sizeof text[0], "postgresql://caucus@/caucus?host=%s&options=-csearch_path%%3D%s", place,
                   schema);
    return to;
}

/* Statements as the owner of everything. The first value, or "". */
static inline const char *cluster_sql(const char *sql) {
    static char value[200];
    char info[200];
    (void)snprintf(info, sizeof info, "host=%s user=caucus dbname=caucus", place);
    PGconn *db = PQconnectdb(info);
    PGresult *result = PQexec(db, sql);
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(db));
    (void)snprintf(value, sizeof value, "%s", PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    PQfinish(db);
    return value;
}

#endif
