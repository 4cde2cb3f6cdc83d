/* SPDX-License-Identifier: Apache-2.0 */
/* origin.c: which server this is, and whether it may go on with what another one has kept.
 *
 * Replication makes several servers of one: all have the same system identifier, and each promotion begins a new
 * timeline. A standby that was promoted may lack the last commits of the one it followed, and nothing in it says so.
 * So every commit writes down where it was made. Whoever opens the run on another timeline goes on by itself only if no
 * commit can be missing: each one had to wait for every standby that was listed, and this server is one of those. Else
 * a person has to say that the last announcement found here is the last that was made (serve --promoted).
 *
 * Standbys are known by the name that they stream under: application_name in their primary_conninfo, which is their
 * cluster_name if it says nothing else. A promoted server knows its cluster_name. */
#include "store/postgres/postgres.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "num/fail.h"

/* A place in synchronous_standby_names: [FIRST|ANY] N (name, ...), or name, ... (which is FIRST 1). */
typedef struct reader {
    const char *at;
} reader;

static void skip_space(reader *r) {
    while (isspace((unsigned char)*r->at))
        r->at++;
}

static bool is_word(char c) {
    return c != '\0' && !isspace((unsigned char)c) && strchr("(),\"", c) == NULL;
}

/* The next word, in quotes or not; false: there is none, or it does not fit. */
static bool next_word(reader *r, char ret[CAUCUS_PG_NAME]) {
    size_t length = 0;
    skip_space(r);
    const bool quoted = *r->at == '"';
    r->at += quoted;
    while (quoted ? *r->at != '\0' && (*r->at != '"' || r->at[1] == '"') : is_word(*r->at)) {
        r->at += quoted && *r->at == '"'; /* two of them are one */
        if (length + 1 >= CAUCUS_PG_NAME)
            return false;
        ret[length++] = *r->at++;
    }
    if (quoted && *r->at++ != '"')
        return false;
    ret[length] = '\0';
    return length > 0;
}

static bool takes(reader *r, char c) {
    skip_space(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

/* name, name, ...: how many, and whether `own` is one of them. "*" is anybody, and so nobody in particular. */
static bool read_list(reader *r, const char *own, uint32_t *ret_count, bool *ret_own) {
    char word[CAUCUS_PG_NAME];
    *ret_count = 0;
    *ret_own = false;
    do {
        if (!next_word(r, word) || strcmp(word, "*") == 0)
            return false;
        *ret_count += 1;
        *ret_own = *ret_own || strcasecmp(word, own) == 0; /* as the server compares them */
    } while (takes(r, ','));
    return true;
}

bool caucus_pg_demands_all(const char *names, const char *own) {
    reader r = {.at = names};
    char word[CAUCUS_PG_NAME];
    uint32_t count = 0, needed = 1;
    bool ours = false, listed = false;
    if (own[0] == '\0' || !next_word(&r, word))
        return false;
    if (strcasecmp(word, "first") == 0 || strcasecmp(word, "any") == 0) {
        reader ahead = r;
        char number[CAUCUS_PG_NAME];
        if (next_word(&ahead, number) && takes(&ahead, '(')) { /* else it is a standby's name */
            memcpy(word, number, sizeof word);
            r = ahead;
            listed = true;
        }
    } else {
        listed = takes(&r, '(');
    }
    if (listed) {
        char *end = NULL;
        const unsigned long value = strtoul(word, &end, 10);
        if (*end != '\0' || value > UINT32_MAX)
            return false;
        needed = (uint32_t)value;
    } else {
        r.at = names;
    }
    if (!read_list(&r, own, &count, &ours) || (listed && !takes(&r, ')')))
        return false;
    skip_space(&r);
    return *r.at == '\0' && ours && needed >= count;
}

static bool take_text(const PGresult *result, int column, size_t room, char *ret) {
    const size_t size = (size_t)PQgetlength(result, 0, column);
    if (size >= room)
        return false;
    memcpy(ret, PQgetvalue(result, 0, column), size);
    ret[size] = '\0';
    return true;
}

caucus_status caucus_pg_here(caucus_postgres *p, caucus_error *ret_error) {
    PGresult *result = NULL;
    caucus_pg_origin here = {0};
    caucus_status status = caucus_pg_query(
        p->db, p->label,
        "SELECT (SELECT system_identifier FROM pg_control_system()), ('x' || left(pg_walfile_name(pg_current_wal_lsn())"
        ", 8))::bit(32)::bigint, current_setting('synchronous_standby_names'), current_setting('cluster_name')",
        0, NULL, CAUCUS_PG_READ_MS, &result, ret_error);
    if (status != CAUCUS_OK)
        return status;
    here.system = (uint64_t)caucus_pg_int64(result, 0, 0);
    here.timeline = (uint32_t)caucus_pg_int64(result, 0, 1);
    if (!take_text(result, 2, sizeof here.names, here.names) || !take_text(result, 3, sizeof p->own, p->own))
        status = caucus_fail(ret_error, CAUCUS_E_RANGE, "state",
                             "%.60s: synchronous_standby_names has more than %zu characters", p->label,
                             sizeof here.names - 1);
    PQclear(result);
    if (status == CAUCUS_OK && p->require_sync && here.names[strspn(here.names, " ")] == '\0')
        status = caucus_fail_hint(
            ret_error,
            caucus_fail(ret_error, CAUCUS_E_CONFLICT, "require-sync",
                        "%.60s: synchronous_standby_names is empty: no standby has what is committed here", p->label),
            "name the standbys there, or do without 'require-sync'");
    if (!p->require_sync)
        here.names[0] = '\0';
    if (status == CAUCUS_OK)
        p->here = here;
    return status;
}

bool caucus_pg_take_origin(const PGresult *result, int column, caucus_pg_origin *ret) {
    const int64_t timeline = caucus_pg_int64(result, 0, column + 1);
    ret->system = (uint64_t)caucus_pg_int64(result, 0, column);
    ret->timeline = (uint32_t)timeline;
    return timeline >= 0 && timeline <= (int64_t)UINT32_MAX &&
           take_text(result, column + 2, sizeof ret->names, ret->names);
}

/* Only what is elsewhere is in doubt: who promotes no server never sees this. */
caucus_status caucus_pg_may_go_on(caucus_store_place *place, uint64_t announcements, caucus_error *ret_error) {
    const caucus_postgres *p = (const caucus_postgres *)place;
    const caucus_pg_origin *before = &p->recorded, *here = &p->here;
    const bool same = before->system == here->system;
    if (before->system == 0 || (same && before->timeline == here->timeline))
        return CAUCUS_OK;
    if (same && caucus_pg_demands_all(before->names, p->own))
        return CAUCUS_OK;
    if (p->promoted != NULL && announcements > 0 && *p->promoted == announcements - 1) /* a person knows */
        return CAUCUS_OK;
    if (announcements == 0)
        return caucus_fail_hint(ret_error,
                                caucus_fail(ret_error, CAUCUS_E_ROLLED_BACK, "",
                                            "%.60s was promoted, and may lack the beginning of this run", p->label),
                                "make new tables with caucus store init");
    if (p->promoted != NULL)
        return caucus_fail(ret_error, CAUCUS_E_ROLLED_BACK, "promoted",
                           "%" PRIu64 ": the last announcement that %.60s holds is number %" PRIu64, *p->promoted,
                           p->label, announcements - 1);
    char where[80];
    if (same)
        (void)snprintf(where, sizeof where, "was promoted (timeline %" PRIu32 ", the run was on %" PRIu32 ")",
                       here->timeline, before->timeline);
    else
        (void)snprintf(where, sizeof where, "is another server than the one the run was on");
    (void)caucus_fail(ret_error, CAUCUS_E_ROLLED_BACK, "",
                      "%.60s %s, and may lack announcements: the last it holds is number %" PRIu64, p->label, where,
                      announcements - 1);
    return caucus_fail_hint(ret_error, CAUCUS_E_ROLLED_BACK,
                            "give 'promoted' with that number if you know that no later one was made");
}
