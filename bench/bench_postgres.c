/* SPDX-License-Identifier: Apache-2.0 */
/* bench_postgres.c: a state in PostgreSQL: verdicts a second, and takeovers.
 *
 *     bench_postgres                 everything, with a server and coordinators of its own (bench/postgres.py)
 *     bench_postgres STATE KEYFILE   verdicts alone, in tables that caucus store init has made
 *
 * A verdict is one commit of the store: the statement with its fence, sealing, and the key file's sync. It is compared,
 * by turns, with the least that a durable verdict could be: one INSERT of as many bytes, prepared, that commits by
 * itself, on the same connection. Goal: at least 0.8 as many. Not measured where PostgreSQL or libpq is missing. */
#include "bench.h"

#include <unistd.h>

#ifdef CAUCUS_POSTGRES
#include "store/coordinator/impl.h"
#include "store/postgres/postgres.h"

#define TURNS 15
#define VERDICTS 40
#define ROOT_BYTES 2000 /* svt with a hundred experts */

typedef struct work {
    caucus_store *store;
    caucus_piece root, row;
    uint64_t next;
} work;

static PGconn *connection(const work *w) {
    return ((caucus_postgres *)w->store->at)->db;
}

static _Noreturn void give_up(const char *what) {
    fprintf(stderr, "bench_postgres: %s\n", what);
    exit(1);
}

static void verdicts(void *argument) {
    work *w = argument;
    caucus_error error = {0};
    for (int i = 0; i < VERDICTS; i++) {
        const caucus_announcement a = {
            .serial = w->next, .expert = 1, .epoch = 1, .ask = CAUCUS_ASK_COST, .block = w->next};
        w->root.bytes[0] = (uint8_t)w->next;
        if (caucus_store_commit(w->store, &w->root, NULL, 0, &a, NULL, 0, &error) != CAUCUS_OK)
            give_up(error.text);
        w->next++;
    }
}

static void run(PGconn *db, const char *sql) {
    PGresult *result = PQexec(db, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        give_up(PQerrorMessage(db));
    PQclear(result);
}

static void inserts(void *argument) {
    work *w = argument;
    const char *value[] = {(const char *)w->row.bytes};
    const int length[] = {(int)w->row.size}, format[] = {1};
    for (int i = 0; i < VERDICTS; i++) {
        bool more = false;
        PGresult *result = NULL;
        w->row.bytes[i] ^= 1;
        if (PQsendQueryPrepared(connection(w), "bench", 1, value, length, format, 1) != 1 ||
            !caucus_pg_wait(connection(w), CAUCUS_PG_COMMIT_MS, &result, &more) ||
            PQresultStatus(result) != PGRES_COMMAND_OK)
            give_up(PQerrorMessage(connection(w)));
        PQclear(result);
    }
}

static void fill(caucus_piece *piece, size_t size) {
    if (!caucus_piece_resize(piece, size))
        give_up("out of memory");
    uint32_t x = 1; /* bytes that do not compress, as what is sealed does not */
    for (size_t i = 0; i < size; i++)
        piece->bytes[i] = (uint8_t)((x = x * 1664525u + 1013904223u) >> 24);
}

static int measure(const char *state, const char *key_file) {
    static const uint8_t plan[32] = {7};
    const caucus_store_where where = {.state = state, .key_file = key_file};
    caucus_error error = {0};
    work w = {0};
    fill(&w.root, ROOT_BYTES);
    if (caucus_store_open_where(&where, plan, true, &w.store, &error) != CAUCUS_OK)
        give_up(error.text);
    const caucus_postgres *at = (const caucus_postgres *)w.store->at;
    verdicts(&w);
    const uint64_t before = at->sent;
    verdicts(&w);
    const size_t bytes = (size_t)(at->sent - before) / VERDICTS;
    fill(&w.row, bytes);
    (void)PQsetnonblocking(connection(&w), 0);
    run(connection(&w), "CREATE TABLE bench(row bytea)");
    run(connection(&w), "ALTER TABLE bench ALTER COLUMN row SET STORAGE EXTERNAL");
    PQclear(PQprepare(connection(&w), "bench", "INSERT INTO bench VALUES ($1::bytea)", 0, NULL));
    (void)PQsetnonblocking(connection(&w), 1);
    const bench_pair pair = bench_side_by_side(verdicts, &w, inserts, &w, TURNS);
    printf("  verdicts of %zu bytes: %.0f a second; INSERTs of as many bytes: %.0f\n"
           "  verdicts / INSERTs: %.2f (>= 0.8)\n",
           bytes, VERDICTS / pair.a, VERDICTS / pair.b, 1 / pair.ratio);
    caucus_store_close(w.store);
    caucus_piece_free(&w.root);
    caucus_piece_free(&w.row);
    return 0;
}
#else
static int measure(const char *state, const char *key_file) {
    (void)state, (void)key_file;
    puts("  not measured: built without libpq");
    return 0;
}
#endif

int main(int argc, char **argv) {
    if (argc == 3)
        return measure(argv[1], argv[2]);
    char where[256];
    bench_where(where, sizeof where);
    printf("%s\n\n", where);
    fflush(stdout);
    (void)execlp("python3", "python3", BENCH_SOURCE "/bench/postgres.py", BENCH_CAUCUS, argv[0], (char *)NULL);
    perror("bench_postgres: python3");
    return 1;
}
