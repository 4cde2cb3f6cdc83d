/* SPDX-License-Identifier: Apache-2.0 */
/* revoked.c: see revoked.h. */
#include "net/revoked.h"
#include "num/fail.h"
#include "num/hand_over.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct entry {
    uint32_t client; /* 0: the serial number counts */
    char serial[CAUCUS_SERIAL_BYTES];
} entry;

typedef struct entries {
    entry *list;
    size_t count;
} entries;

struct caucus_revoked {
    pthread_rwlock_t lock; /* to read the file again: alone */
    char *path;
    struct stat seen; /* of the file as it was read */
    bool broken;      /* it could not be read the last time; why: */
    caucus_error why;
    bool again;       /* read it whether or not it looks changed */
    uint64_t version; /* good lists so far */
    entries good;     /* the last of them */
};

/* One line without its remark and its blanks. Up to 8 decimal digits are an index; 0x or colons mark a serial number,
 * however short. False: it is neither. */
static bool read_entry(char *line, entry *ret) {
    size_t length = 0;
    bool marked = false;
    memset(ret, 0, sizeof *ret);
    char *p = line + strspn(line, " \t");
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        marked = true;
        p += 2;
    }
    for (; *p && !isspace((unsigned char)*p); p++) {
        marked = marked || *p == ':';
        if (*p != ':') {
            if (!isxdigit((unsigned char)*p) || length + 1 >= sizeof ret->serial)
                return false;
            ret->serial[length++] = (char)toupper((unsigned char)*p);
        }
    }
    if (p[strspn(p, " \t\v\f")] != '\0')
        return false; /* two of them: "1 2" is not client 12 */
    bool digits = strspn(ret->serial, "0123456789") == length;
    if (!marked && digits && length <= 8)
        ret->client = (uint32_t)strtoul(ret->serial, NULL, 10);
    return length > 0 && (ret->client > 0 || marked || !digits || length > 8);
}

/* Clients by their numbers, then serial numbers; programs differ in the zeros they put before those. */
static int compare(const void *a, const void *b) {
    const entry *one = a, *other = b;
    if (one->client != other->client) /* 0 comes last */
        return one->client - 1 < other->client - 1 ? -1 : 1;
    return one->client ? 0 : strcmp(one->serial + strspn(one->serial, "0"), other->serial + strspn(other->serial, "0"));
}

/* One line, of any length, as fgets() would not give it. What follows a zero byte would go unseen: such a file is no
 * list. */
static caucus_status take_line(const char *path, entries *r, char *line, size_t length, size_t number,
                               caucus_error *ret_error) {
    if (memchr(line, '\0', length))
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "revoked", "%.100s:%zu: a zero byte", path, number);
    line[strcspn(line, "#\r\n")] = '\0';
    if (line[strspn(line, " \t\v\f")] == '\0')
        return CAUCUS_OK;
    entry *grown = realloc(r->list, (r->count + 1) * sizeof *grown);
    if (!grown)
        return caucus_fail_memory(ret_error, "revoked");
    r->list = grown;
    if (!read_entry(line, &r->list[r->count]))
        return caucus_fail(
            ret_error, CAUCUS_E_FORMAT, "revoked",
            "%.100s:%zu: '%.40s' — one client's index or one certificate's serial number (hexadecimal) per line", path,
            number, line);
    r->count++;
    return CAUCUS_OK;
}

static caucus_status read_entries(caucus_revoked *r, entries *ret, caucus_error *ret_error) {
    FILE *file = fopen(r->path, "r");
    if (!file || fstat(fileno(file), &r->seen) != 0) {
        caucus_status status = caucus_fail_os(ret_error, CAUCUS_E_PATH, errno, "revoked", "%.120s", r->path);
        if (file)
            fclose(file);
        return status;
    }
    char *line = NULL;
    size_t room = 0, number = 0;
    ssize_t length;
    caucus_status status = CAUCUS_OK;
    while (status == CAUCUS_OK && (length = getline(&line, &room, file)) >= 0)
        status = take_line(r->path, ret, line, (size_t)length, ++number, ret_error);
    if (status == CAUCUS_OK && !feof(file)) /* no memory for a line sets no error: the rest would be let in */
        status = caucus_fail_os(ret_error, CAUCUS_E_IO, errno, "revoked", "%.120s: cannot be read", r->path);
    free(line);
    fclose(file);
    return status;
}

/* The list in force is replaced by a good one and by nothing else. */
static caucus_status read_list(caucus_revoked *r) {
    entries fresh = {0};
    r->why = (caucus_error){0};
    r->again = false;
    caucus_status status = read_entries(r, &fresh, &r->why);
    r->broken = status != CAUCUS_OK;
    if (r->broken) {
        free(fresh.list);
        return status;
    }
    if (fresh.count > 0)
        qsort(fresh.list, fresh.count, sizeof *fresh.list, compare);
    free(r->good.list);
    r->good = fresh;
    r->version++;
    return CAUCUS_OK;
}

caucus_status caucus_revoked_open(const char *path, caucus_revoked **ret, caucus_error *ret_error) {
    caucus_revoked *r = calloc(1, sizeof *r);
    if (!r || !(r->path = strdup(path))) {
        free(r);
        return caucus_fail_memory(ret_error, "revoked");
    }
    pthread_rwlock_init(&r->lock, NULL);
    caucus_status status = read_list(r);
    if (status != CAUCUS_OK && ret_error)
        *ret_error = r->why;
    return CAUCUS_HAND_OVER(status, ret, r, caucus_revoked_close(r));
}

void caucus_revoked_close(caucus_revoked *r) {
    if (!r)
        return;
    pthread_rwlock_destroy(&r->lock);
    free(r->good.list);
    free(r->path);
    free(r);
}

static bool changed(const caucus_revoked *r) {
    struct stat now;
    return stat(r->path, &now) != 0 || now.st_ino != r->seen.st_ino || now.st_size != r->seen.st_size ||
           now.st_mtim.tv_sec != r->seen.st_mtim.tv_sec || now.st_mtim.tv_nsec != r->seen.st_mtim.tv_nsec;
}

/* Take the lock to read what is in force, after a look at the file. */
static void lock_fresh(caucus_revoked *r) {
    pthread_rwlock_rdlock(&r->lock);
    if (!r->broken && !r->again && !changed(r))
        return;
    pthread_rwlock_unlock(&r->lock);
    pthread_rwlock_wrlock(&r->lock);
    if (r->broken || r->again || changed(r)) /* nobody else has read it meanwhile */
        (void)!read_list(r);
    pthread_rwlock_unlock(&r->lock);
    pthread_rwlock_rdlock(&r->lock);
}

/* Under the lock. */
static bool on_list(const caucus_revoked *r, uint32_t client, const char *serial) {
    entry by_number = {.client = client}, by_serial = {0}; /* clients have numbers from 1 on */
    const size_t length = strnlen(serial, sizeof by_serial.serial - 1);
    memcpy(by_serial.serial, serial, length);
    return r->good.count > 0 && (bsearch(&by_number, r->good.list, r->good.count, sizeof by_number, compare) != NULL ||
                                 bsearch(&by_serial, r->good.list, r->good.count, sizeof by_serial, compare) != NULL);
}

caucus_revoked_answer caucus_revoked_ask(caucus_revoked *r, uint32_t client, const char *serial) {
    lock_fresh(r);
    caucus_revoked_answer answer = on_list(r, client, serial) ? CAUCUS_REVOKED_YES
                                   : r->broken                ? CAUCUS_REVOKED_UNKNOWN
                                                              : CAUCUS_REVOKED_NO;
    pthread_rwlock_unlock(&r->lock);
    return answer;
}

bool caucus_revoked_news(caucus_revoked *r, uint64_t *seen) {
    lock_fresh(r);
    bool news = r->version != *seen;
    *seen = r->version;
    pthread_rwlock_unlock(&r->lock);
    return news;
}

bool caucus_revoked_broken(caucus_revoked *r, caucus_error *ret_why) {
    lock_fresh(r);
    bool broken = r->broken;
    if (broken && ret_why)
        *ret_why = r->why;
    pthread_rwlock_unlock(&r->lock);
    return broken;
}

bool caucus_revoked_lists(caucus_revoked *r, uint32_t client, const char *serial) {
    pthread_rwlock_rdlock(&r->lock);
    bool found = on_list(r, client, serial);
    pthread_rwlock_unlock(&r->lock);
    return found;
}

void caucus_revoked_each(caucus_revoked *r, void (*each)(void *user, uint32_t client, const char *serial), void *user) {
    pthread_rwlock_rdlock(&r->lock);
    for (size_t i = 0; i < r->good.count; i++) {
        const entry *one = &r->good.list[i];
        each(user, one->client, one->serial + strspn(one->serial, "0"));
    }
    pthread_rwlock_unlock(&r->lock);
}

void caucus_revoked_again(caucus_revoked *r) {
    pthread_rwlock_wrlock(&r->lock);
    r->again = true;
    pthread_rwlock_unlock(&r->lock);
}
