/* SPDX-License-Identifier: Apache-2.0 */
/* tls_revoked.c: the list of certificates that no longer count. See tls.h. */
#include "dial/tls.h"

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

struct caucus_revoked {
    pthread_mutex_t lock;
    char *path;
    struct stat seen; /* of the file as it was read */
    bool readable;
    uint64_t version; /* times it was read */
    entry *list;
    size_t count;
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

/* Programs differ in the zeros they put before a serial number. */
static bool same_serial(const char *a, const char *b) {
    return strcmp(a + strspn(a, "0"), b + strspn(b, "0")) == 0;
}

/* One line, of any length, as fgets() would not give it. What follows a zero byte would go unseen: such a file is no
 * list. */
static caucus_status take_line(caucus_revoked *r, char *line, size_t length, size_t number, caucus_error *ret_error) {
    if (memchr(line, '\0', length))
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "revoked", "%.100s:%zu: a zero byte", r->path, number);
    line[strcspn(line, "#\r\n")] = '\0';
    if (line[strspn(line, " \t\v\f")] == '\0')
        return CAUCUS_OK;
    entry *grown = realloc(r->list, (r->count + 1) * sizeof *grown);
    if (!grown)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "revoked", "%s", caucus_status_text(CAUCUS_E_MEMORY));
    r->list = grown;
    if (!read_entry(line, &r->list[r->count]))
        return caucus_fail(
            ret_error, CAUCUS_E_FORMAT, "revoked",
            "%.100s:%zu: '%.40s' — one client's index or one certificate's serial number (hexadecimal) per line",
            r->path, number, line);
    r->count++;
    return CAUCUS_OK;
}

static caucus_status read_list(caucus_revoked *r, caucus_error *ret_error) {
    r->readable = false;
    r->count = 0;
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
        status = take_line(r, line, (size_t)length, ++number, ret_error);
    if (status == CAUCUS_OK && !feof(file)) /* no memory for a line sets no error: the rest would be let in */
        status = caucus_fail_os(ret_error, CAUCUS_E_IO, errno, "revoked", "%.120s: cannot be read", r->path);
    free(line);
    fclose(file);
    r->readable = status == CAUCUS_OK;
    r->version += r->readable;
    return status;
}

caucus_status caucus_revoked_open(const char *path, caucus_revoked **ret, caucus_error *ret_error) {
    caucus_revoked *r = calloc(1, sizeof *r);
    if (!r || !(r->path = strdup(path))) {
        free(r);
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "revoked", "%s", caucus_status_text(CAUCUS_E_MEMORY));
    }
    pthread_mutex_init(&r->lock, NULL);
    caucus_status status = read_list(r, ret_error);
    if (status != CAUCUS_OK) {
        caucus_revoked_close(r);
        return status;
    }
    *ret = r;
    return CAUCUS_OK;
}

void caucus_revoked_close(caucus_revoked *r) {
    if (!r)
        return;
    pthread_mutex_destroy(&r->lock);
    free(r->list);
    free(r->path);
    free(r);
}

static bool changed(const caucus_revoked *r) {
    struct stat now;
    return stat(r->path, &now) != 0 || now.st_ino != r->seen.st_ino || now.st_size != r->seen.st_size ||
           now.st_mtim.tv_sec != r->seen.st_mtim.tv_sec || now.st_mtim.tv_nsec != r->seen.st_mtim.tv_nsec;
}

/* Under the lock, all three. */
static void refresh(caucus_revoked *r) {
    if ((!r->readable || changed(r)) && read_list(r, NULL) != CAUCUS_OK)
        r->readable = false;
}

static bool on_list(const caucus_revoked *r, uint32_t client, const char *serial) {
    for (size_t i = 0; i < r->count; i++)
        if (r->list[i].client ? r->list[i].client == client : same_serial(r->list[i].serial, serial))
            return true;
    return false;
}

bool caucus_revoked_has(caucus_revoked *r, uint32_t client, const char *serial) {
    pthread_mutex_lock(&r->lock);
    refresh(r);
    bool found = !r->readable || on_list(r, client, serial);
    pthread_mutex_unlock(&r->lock);
    return found;
}

bool caucus_revoked_news(caucus_revoked *r, uint64_t *seen) {
    pthread_mutex_lock(&r->lock);
    refresh(r);
    bool news = r->readable && r->version != *seen;
    if (news)
        *seen = r->version;
    pthread_mutex_unlock(&r->lock);
    return news;
}

bool caucus_revoked_lists(caucus_revoked *r, uint32_t client, const char *serial) {
    pthread_mutex_lock(&r->lock);
    bool found = r->readable && on_list(r, client, serial);
    pthread_mutex_unlock(&r->lock);
    return found;
}
