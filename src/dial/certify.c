/* certify.c: see certify.h. Everything is written into a directory beside the one wanted, which then takes its place.
 */
#define _GNU_SOURCE /* renameat2, syncfs */
#include "dial/certify.h"

#include "dial/certificate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *tail(const char *path) {
    const size_t length = strlen(path), most = 80;
    return length > most ? path + (length - most) : path;
}

static caucus_status fail_io(const char *path, const char *fix, caucus_error *ret_error) {
    return caucus_fail(ret_error, CAUCUS_E_IO, "", "%s: %s%s%s", tail(path), strerror(errno),
                       fix[0] != '\0' ? " — " : "", fix);
}

/* A name we give to files: what an earlier call left may be replaced, anything else is somebody's. */
static bool is_ours(const char *name) {
    unsigned index = 0;
    char canonical[2][32];
    if (strcmp(name, "ca.pem") == 0 || strcmp(name, "coordinator.pem") == 0 || strcmp(name, "coordinator.key") == 0)
        return true;
    if (sscanf(name, "client-%9u.", &index) != 1)
        return false;
    (void)snprintf(canonical[0], sizeof canonical[0], "client-%u.pem", index);
    (void)snprintf(canonical[1], sizeof canonical[1], "client-%u.key", index);
    return strcmp(name, canonical[0]) == 0 || strcmp(name, canonical[1]) == 0;
}

static bool is_dot(const char *name) {
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* What is there already: nothing (also: an empty directory), an earlier set, or something to be refused. */
static caucus_status look(const char *dir, bool *ret_replace, caucus_error *ret_error) {
    *ret_replace = false;
    DIR *open_dir = opendir(dir);
    if (open_dir == NULL)
        return errno == ENOENT ? CAUCUS_OK : fail_io(dir, "name a new directory", ret_error);
    caucus_status status = CAUCUS_OK;
    const struct dirent *entry;
    while (status == CAUCUS_OK && (entry = readdir(open_dir)) != NULL) {
        if (is_dot(entry->d_name))
            continue;
        *ret_replace = true;
        if (!is_ours(entry->d_name))
            status = caucus_fail(ret_error, CAUCUS_E_RANGE, "", "%s holds other files ('%.60s') — name a new directory",
                                 tail(dir), entry->d_name);
    }
    closedir(open_dir);
    return status;
}

/* Only our own files and the directory itself; whatever else there might be stays, and the directory with it. */
static void remove_dir(const char *dir) {
    DIR *open_dir = opendir(dir);
    if (open_dir == NULL)
        return;
    const struct dirent *entry;
    while ((entry = readdir(open_dir)) != NULL)
        if (is_ours(entry->d_name))
            (void)unlinkat(dirfd(open_dir), entry->d_name, 0);
    closedir(open_dir);
    (void)rmdir(dir);
}

static FILE *create(int at, const char *name, mode_t mode) {
    int fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    FILE *out = fd >= 0 && fchmod(fd, mode) == 0 ? fdopen(fd, "w") : NULL; /* fchmod: whatever the umask */
    if (out == NULL && fd >= 0)
        close(fd);
    return out;
}

static bool finish(FILE *out, bool written) {
    bool good = written && fflush(out) == 0 && !ferror(out);
    return fclose(out) == 0 && good;
}

static caucus_status write_pair(int at, const char *base, const caucus_certificate *c, bool with_key,
                                caucus_error *ret_error) {
    char name[40];
    (void)snprintf(name, sizeof name, "%s.pem", base);
    errno = 0;
    FILE *out = create(at, name, 0644);
    if (out == NULL || !finish(out, PEM_write_X509(out, c->x509) == 1))
        return fail_io(name, "", ret_error);
    if (!with_key)
        return CAUCUS_OK;
    (void)snprintf(name, sizeof name, "%s.key", base);
    out = create(at, name, 0600);
    if (out == NULL || !finish(out, PEM_write_PrivateKey(out, c->key, NULL, NULL, 0, NULL, NULL) == 1))
        return fail_io(name, "", ret_error);
    return CAUCUS_OK;
}

static caucus_status make_one(int at, caucus_certificate_role role, const caucus_certificate *ca, const char *base,
                              const char *name, const caucus_certify_settings *s, caucus_error *ret_error) {
    caucus_certificate certificate = {0};
    caucus_status status = caucus_certificate_new(role, ca, name, s->host, s->days, &certificate, ret_error);
    if (status == CAUCUS_OK)
        status = write_pair(at, base, &certificate, true, ret_error);
    caucus_certificate_free(&certificate);
    return status;
}

static caucus_status fill(int at, const caucus_certify_settings *s, caucus_error *ret_error) {
    caucus_certificate ca = {0};
    caucus_status status =
        caucus_certificate_new(CAUCUS_CERTIFICATE_CA, NULL, "caucus trial authority", NULL, s->days, &ca, ret_error);
    if (status == CAUCUS_OK)
        status = write_pair(at, "ca", &ca, false, ret_error);
    if (status == CAUCUS_OK)
        status = make_one(at, CAUCUS_CERTIFICATE_COORDINATOR, &ca, "coordinator", "coordinator", s, ret_error);
    for (uint32_t i = 1; status == CAUCUS_OK && i <= s->clients; i++) {
        char base[24], index[16];
        (void)snprintf(base, sizeof base, "client-%u", i);
        (void)snprintf(index, sizeof index, "%u", i);
        status = make_one(at, CAUCUS_CERTIFICATE_CLIENT, &ca, base, index, s, ret_error);
        if (status == CAUCUS_OK && s->stop != NULL && *s->stop)
            status = caucus_fail(ret_error, CAUCUS_E_ORDER, "", "stopped; nothing was made");
    }
    caucus_certificate_free(&ca); /* wipes the key: nothing more can be signed */
    if (status == CAUCUS_OK && syncfs(at) != 0)
        status = fail_io(s->dir, "", ret_error);
    return status;
}

/* The draft takes the place of `dir` in one step; an earlier set is what is then found under the draft's name, and is
 * removed. */
static caucus_status put_in_place(const char *draft, const char *dir, bool replace, caucus_error *ret_error) {
    if (!replace)
        return rename(draft, dir) == 0 ? CAUCUS_OK : fail_io(dir, "", ret_error);
    if (renameat2(AT_FDCWD, draft, AT_FDCWD, dir, RENAME_EXCHANGE) != 0)
        return fail_io(dir, "remove the earlier certificates first", ret_error);
    remove_dir(draft);
    return CAUCUS_OK;
}

static caucus_status make_beside(const char *dir, bool replace, const caucus_certify_settings *s,
                                 caucus_error *ret_error) {
    size_t room = strlen(dir) + 16;
    char *draft = malloc(room);
    if (draft == NULL)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "%s", caucus_status_text(CAUCUS_E_MEMORY));
    (void)snprintf(draft, room, "%s.XXXXXX", dir);
    caucus_status status = CAUCUS_OK;
    if (mkdtemp(draft) == NULL) {
        status = fail_io(dir, errno == ENOENT ? "make the directory above it first" : "", ret_error);
    } else {
        int at = open(draft, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        status = at >= 0 && fchmod(at, 0700) == 0 ? fill(at, s, ret_error) : fail_io(draft, "", ret_error);
        if (at >= 0)
            close(at);
        if (status == CAUCUS_OK)
            status = put_in_place(draft, dir, replace, ret_error);
        if (status != CAUCUS_OK)
            remove_dir(draft);
    }
    free(draft);
    return status;
}

caucus_status caucus_certify(const caucus_certify_settings *s, caucus_error *ret_error) {
    if (s->clients < 1 || s->clients > CAUCUS_CERTIFY_MAX_CLIENTS)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "clients", "%u: must be a whole number from 1 to %u", s->clients,
                           CAUCUS_CERTIFY_MAX_CLIENTS);
    if (s->days < 1 || s->days > CAUCUS_CERTIFY_MAX_DAYS)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "days", "%u: must be a whole number from 1 to %u", s->days,
                           CAUCUS_CERTIFY_MAX_DAYS);
    if (s->host != NULL && !caucus_certificate_host_ok(s->host))
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "host",
                           "'%.80s': must be a host name (letters, digits, hyphens, dots) or a numeric address",
                           s->host);
    char *dir = strdup(s->dir);
    if (dir == NULL)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "%s", caucus_status_text(CAUCUS_E_MEMORY));
    for (size_t length = strlen(dir); length > 1 && dir[length - 1] == '/';)
        dir[--length] = '\0';
    bool replace = false;
    caucus_status status = look(dir, &replace, ret_error);
    if (status == CAUCUS_OK)
        status = make_beside(dir, replace, s, ret_error);
    free(dir);
    return status;
}
