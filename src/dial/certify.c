/* SPDX-License-Identifier: Apache-2.0 */
/* certify.c: see certify.h. Everything is written into a directory beside the one wanted, which then takes its
 * place. */
#include "dial/certify.h"

#include "dial/certificate.h"
#include "store/atomic_file.h"
#include "store/atomic_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "client-7.pem", and nothing that only begins so. */
static bool is_numbered(const char *name, const char *who, const char *ending) {
    char canonical[48];
    const size_t length = strlen(who);
    unsigned index = 0;
    if (strncmp(name, who, length) != 0 || sscanf(name + length, "%9u", &index) != 1)
        return false;
    (void)snprintf(canonical, sizeof canonical, "%s%u.%s", who, index, ending);
    return strcmp(name, canonical) == 0;
}

/* A name we give to files: what an earlier call left may be replaced, anything else is somebody's. */
static bool is_ours(const char *folder, const char *name) {
    static const char *const single[] = {"ca.pem",           "coordinator.pem",    "coordinator.key",
                                         "coordinator.nkey", "coordinator.secret", "coordinator.public",
                                         "nats.pem",         "nats.key",           "nats.conf",
                                         "relays.list",      "relay-ca.pem",       "relay-ca.key"};
    (void)folder;
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++)
        if (strcmp(name, single[i]) == 0)
            return true;
    return is_numbered(name, "client-", "pem") || is_numbered(name, "client-", "key") ||
           is_numbered(name, "relay-", "pem") || is_numbered(name, "relay-", "key") ||
           is_numbered(name, "relay-", "nkey") || is_numbered(name, "relay-", "secret");
}

/* Nothing, an empty directory and an earlier set may be replaced; anything else is refused. */
static caucus_status look(const char *dir, caucus_error *ret_error) {
    char foreign[256];
    bool any = false;
    if (!caucus_folder_look(dir, is_ours, foreign, &any))
        return caucus_fail_hint(ret_error, caucus_fail_path(ret_error, CAUCUS_E_PATH, "", dir), "name a new directory");
    if (foreign[0] != '\0')
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "", "%s holds other files ('%.60s') — name a new directory",
                           caucus_path_tail(dir), foreign);
    return CAUCUS_OK;
}

FILE *caucus_certify_create(int at, const char *name, unsigned mode) {
    int fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    FILE *out = fd >= 0 && fchmod(fd, mode) == 0 ? fdopen(fd, "w") : NULL; /* fchmod: whatever the umask */
    if (out == NULL && fd >= 0)
        close(fd);
    return out;
}

bool caucus_certify_finish(FILE *out, bool written) {
    bool good = written && fflush(out) == 0 && !ferror(out);
    return fclose(out) == 0 && good;
}

static caucus_status write_pair(int at, const char *base, const caucus_certificate *c, caucus_error *ret_error) {
    char name[40];
    (void)snprintf(name, sizeof name, "%s.pem", base);
    errno = 0;
    FILE *out = caucus_certify_create(at, name, 0644);
    if (out == NULL || !caucus_certify_finish(out, PEM_write_X509(out, c->x509) == 1))
        return caucus_fail_path(ret_error, CAUCUS_E_PATH, "", name);
    (void)snprintf(name, sizeof name, "%s.key", base);
    out = caucus_certify_create(at, name, 0600);
    if (out == NULL || !caucus_certify_finish(out, PEM_write_PrivateKey(out, c->key, NULL, NULL, 0, NULL, NULL) == 1))
        return caucus_fail_path(ret_error, CAUCUS_E_PATH, "", name);
    return CAUCUS_OK;
}

static caucus_status make_for(int at, caucus_certificate_role role, const caucus_certificate *ca, const char *base,
                              const char *name, const caucus_certify_settings *s, uint32_t days,
                              caucus_error *ret_error) {
    caucus_certificate certificate = {0};
    caucus_status status = caucus_certificate_new(role, ca, name, s->host, days, &certificate, ret_error);
    if (status == CAUCUS_OK)
        status = write_pair(at, base, &certificate, ret_error);
    caucus_certificate_free(&certificate);
    return status;
}

static caucus_status make_one(int at, caucus_certificate_role role, const caucus_certificate *ca, const char *base,
                              const char *name, const caucus_certify_settings *s, caucus_error *ret_error) {
    return make_for(at, role, ca, base, name, s, s->days, ret_error);
}

/* Whom both sides trust: with relays also their authority, which signs servers only. */
static caucus_status write_trusted(int at, const caucus_certificate *ca, const caucus_certificate *relay_ca,
                                   caucus_error *ret_error) {
    errno = 0;
    FILE *out = caucus_certify_create(at, "ca.pem", 0644);
    const bool good = out != NULL && PEM_write_X509(out, ca->x509) == 1 &&
                      (relay_ca->x509 == NULL || PEM_write_X509(out, relay_ca->x509) == 1);
    if (out == NULL || !caucus_certify_finish(out, good))
        return caucus_fail_path(ret_error, CAUCUS_E_PATH, "", "ca.pem");
    return relay_ca->x509 == NULL ? CAUCUS_OK : write_pair(at, "relay-ca", relay_ca, ret_error);
}

static caucus_status fill(int at, const caucus_certify_settings *s, caucus_error *ret_error) {
    caucus_certificate ca = {0}, relay_ca = {0};
    caucus_status status =
        caucus_certificate_new(CAUCUS_CERTIFICATE_CA, NULL, "caucus trial authority", NULL, s->days, &ca, ret_error);
    if (status == CAUCUS_OK && s->relays > 0)
        status = caucus_certificate_new(CAUCUS_CERTIFICATE_RELAY_CA, NULL, "caucus trial authority of relays", NULL,
                                        s->days, &relay_ca, ret_error);
    if (status == CAUCUS_OK)
        status = write_trusted(at, &ca, &relay_ca, ret_error);
    if (status == CAUCUS_OK)
        status = make_one(at, CAUCUS_CERTIFICATE_COORDINATOR, &ca, "coordinator", "coordinator", s, ret_error);
    for (uint32_t i = 1; status == CAUCUS_OK && i <= s->clients; i++) {
        char base[24], index[16];
        (void)snprintf(base, sizeof base, "client-%u", i);
        (void)snprintf(index, sizeof index, "%u", i);
        status = make_one(at, CAUCUS_CERTIFICATE_CLIENT, &ca, base, index, s, ret_error);
        if (status == CAUCUS_OK && s->stop != NULL && *s->stop)
            status = caucus_fail(ret_error, CAUCUS_E_STOPPED, "", "stopped; nothing was made");
    }
    for (uint32_t i = 1; status == CAUCUS_OK && i <= s->relays; i++) {
        char base[24];
        (void)snprintf(base, sizeof base, "relay-%u", i);
        status = make_for(at, CAUCUS_CERTIFICATE_COORDINATOR, &relay_ca, base, base, s,
                          s->days < CAUCUS_CERTIFY_RELAY_DAYS ? s->days : CAUCUS_CERTIFY_RELAY_DAYS, ret_error);
    }
    if (status == CAUCUS_OK && s->relays > 0)
        status = make_one(at, CAUCUS_CERTIFICATE_COORDINATOR, &ca, "nats", "nats", s, ret_error);
    if (status == CAUCUS_OK && s->more != NULL)
        status = s->more(at, s, ret_error);
    caucus_certificate_free(&relay_ca);
    caucus_certificate_free(&ca); /* wipes the key: nothing more can be signed */
    return status;
}

static caucus_status make_draft(const caucus_certify_settings *s, caucus_error *ret_error) {
    caucus_atomic_folder folder;
    if (!caucus_atomic_folder_begin(&folder, s->dir, 0700))
        return caucus_fail_new_folder(ret_error, s->dir);
    int at = open(folder.draft, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    caucus_status status = at >= 0 && fchmod(at, 0700) == 0
                               ? fill(at, s, ret_error)
                               : caucus_fail_path(ret_error, CAUCUS_E_PATH, "", folder.draft);
    if (at >= 0)
        close(at);
    if (status == CAUCUS_OK && !caucus_atomic_folder_end(&folder, is_ours))
        status = caucus_fail_path(ret_error, CAUCUS_E_PATH, "", s->dir);
    if (status != CAUCUS_OK)
        caucus_atomic_folder_drop(&folder);
    return status;
}

caucus_status caucus_certify(const caucus_certify_settings *s, caucus_error *ret_error) {
    if (s->clients < 1 || s->clients > CAUCUS_CERTIFY_MAX_CLIENTS)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "clients", "%u: must be a whole number from 1 to %u", s->clients,
                           CAUCUS_CERTIFY_MAX_CLIENTS);
    if (s->relays > CAUCUS_CERTIFY_MAX_RELAYS)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "relays", "%u: at most %u", s->relays, CAUCUS_CERTIFY_MAX_RELAYS);
    if (s->days < 1 || s->days > CAUCUS_CERTIFY_MAX_DAYS)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "days", "%u: must be a whole number from 1 to %u", s->days,
                           CAUCUS_CERTIFY_MAX_DAYS);
    if (s->host != NULL && !caucus_certificate_host_ok(s->host))
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "host",
                           "'%.80s': must be a host name (letters, digits, hyphens, dots) or a numeric address",
                           s->host);
    caucus_status status = look(s->dir, ret_error);
    return status == CAUCUS_OK ? make_draft(s, ret_error) : status;
}
