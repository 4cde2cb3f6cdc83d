/* SPDX-License-Identifier: Apache-2.0 */
/* excused.c: see excused.h. */
#include "net/excused.h"
#include "num/fail.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number from 1 to the plan's clients; *at moves behind it. */
static bool read_number(const char **at, uint32_t clients, uint32_t *ret) {
    char *end = NULL;
    if (!isdigit((unsigned char)**at))
        return false;
    errno = 0;
    unsigned long value = strtoul(*at, &end, 10);
    *at = end;
    *ret = (uint32_t)value;
    return errno == 0 && value >= 1 && value <= clients;
}

/* "7", "3-7", either with blanks around it. */
static bool read_range(const char *text, uint32_t clients, uint32_t *ret_first, uint32_t *ret_last) {
    static const char blanks[] = " \t\v\f\r";
    const char *at = text + strspn(text, blanks);
    if (!read_number(&at, clients, ret_first))
        return false;
    *ret_last = *ret_first;
    if (*at == '-') {
        at++;
        if (!read_number(&at, clients, ret_last) || *ret_last < *ret_first)
            return false;
    }
    return at[strspn(at, blanks)] == '\0';
}

static caucus_status take_line(const caucus_excused *e, char *line, size_t length, size_t number, uint8_t *list,
                               caucus_error *ret_error) {
    uint32_t first, last;
    if (memchr(line, '\0', length))
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "excused", "%.100s:%zu: a zero byte", e->path, number);
    line[strcspn(line, "#\n")] = '\0';
    if (line[strspn(line, " \t\v\f\r")] == '\0')
        return CAUCUS_OK;
    if (!read_range(line, e->clients, &first, &last))
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "excused",
                           "%.100s:%zu: '%.40s' — one client's number per line, 1 to %u, or a range of them, 3-7",
                           e->path, number, line, e->clients);
    memset(list + first - 1, 1, last - first + 1);
    return CAUCUS_OK;
}

static caucus_status read_file(caucus_excused *e, FILE *file, uint8_t *list, caucus_error *ret_error) {
    char *line = NULL;
    size_t room = 0, number = 0;
    ssize_t length;
    caucus_status status = CAUCUS_OK;
    while (status == CAUCUS_OK && (length = getline(&line, &room, file)) >= 0)
        status = take_line(e, line, (size_t)length, ++number, list, ret_error);
    if (status == CAUCUS_OK && !feof(file))
        status = caucus_fail_os(ret_error, CAUCUS_E_IO, errno, "excused", "%.120s: cannot be read", e->path);
    free(line);
    return status;
}

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static caucus_status read_list(caucus_excused *e, int missing, uint8_t *ret_list, caucus_error *ret_error) {
    FILE *file = missing == 0 ? fopen(e->path, "re") : NULL;
    if (!file)
        return caucus_fail_os(ret_error, CAUCUS_E_PATH, missing ? missing : errno, "excused", "%.120s", e->path);
    uint8_t *list = calloc(e->clients, 1);
    caucus_status status = list ? read_file(e, file, list, ret_error) : caucus_fail_memory(ret_error, "excused");
    if (status == CAUCUS_OK && list != NULL)
        memcpy(ret_list, list, e->clients);
    free(list);
    (void)fclose(file);
    return status;
}

caucus_status caucus_excused_look(caucus_excused *e, uint8_t *ret_list, bool *ret_news, caucus_error *ret_error) {
    struct stat now = {0};
    const int missing = stat(e->path, &now) == 0 ? 0 : errno;
    caucus_error why = {0};
    *ret_news = false;
    if (missing != 0)
        now = (struct stat){0};
    const bool same = e->read && same_file(&now, &e->seen);
    if (same && e->good)
        return CAUCUS_OK;
    e->read = true;
    e->seen = now;
    const caucus_status status = read_list(e, missing, ret_list, &why);
    e->good = *ret_news = status == CAUCUS_OK;
    const bool said = same && status == e->told && why.os_error == e->told_errno; /* not twice for one file */
    e->told = status;
    e->told_errno = why.os_error;
    if (status == CAUCUS_OK || said)
        return CAUCUS_OK;
    if (ret_error)
        *ret_error = why;
    return status;
}

void caucus_excused_again(caucus_excused *e) {
    e->read = false;
    e->told = CAUCUS_OK;
    e->told_errno = 0;
}
