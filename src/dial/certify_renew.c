/* SPDX-License-Identifier: Apache-2.0 */
/* certify_renew.c: certificates of relays, signed again by the authority of relays. See certify.h.
 *
 * Each is replaced by renaming one file over it, and its key stays: who reads it meanwhile has the old one or the new
 * one, and either goes with the key. */
#include "dial/certificate.h"
#include "dial/certify.h"
#include "store/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <string.h>
#include <unistd.h>

static FILE *open_at(int at, const char *name) {
    const int fd = openat(at, name, O_RDONLY | O_CLOEXEC);
    FILE *in = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (in == NULL && fd >= 0)
        (void)close(fd);
    return in;
}

static X509 *read_certificate(int at, const char *name) {
    FILE *in = open_at(at, name);
    X509 *ret = in != NULL ? PEM_read_X509(in, NULL, NULL, NULL) : NULL;
    if (in != NULL)
        (void)fclose(in);
    return ret;
}

static caucus_status read_authority(int at, const char *dir, caucus_certificate *ret, caucus_error *ret_error) {
    FILE *in = open_at(at, "relay-ca.key");
    if (in == NULL && errno == ENOENT)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "", "%s holds no relay-ca.key: it was made without relays",
                           caucus_path_tail(dir));
    if (in == NULL)
        return caucus_fail_path(ret_error, CAUCUS_E_PATH, "", "relay-ca.key");
    ret->key = PEM_read_PrivateKey(in, NULL, NULL, NULL);
    (void)fclose(in);
    ret->x509 = read_certificate(at, "relay-ca.pem");
    if (ret->key == NULL || ret->x509 == NULL || X509_check_private_key(ret->x509, ret->key) != 1)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "relay-ca.pem and relay-ca.key do not belong together");
    return CAUCUS_OK;
}

static caucus_status replace(const char *dir, const char *name, const caucus_certificate *with,
                             caucus_error *ret_error) {
    caucus_atomic_file file;
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
        return caucus_fail(ret_error, CAUCUS_E_PATH, "", "%s: the name is too long", caucus_path_tail(dir));
    errno = 0;
    bool good = caucus_atomic_file_begin(&file, path, 0644);
    if (good) {
        (void)PEM_write_X509(file.out, with->x509); /* what goes wrong is found at its end */
        good = caucus_atomic_file_end(&file, true);
    }
    return good ? CAUCUS_OK : caucus_fail_path(ret_error, CAUCUS_E_PATH, "", name);
}

static caucus_status renew_one(int at, const char *dir, const caucus_certificate *authority, uint32_t number,
                               uint32_t days, bool *ret_there, caucus_error *ret_error) {
    char name[32];
    (void)snprintf(name, sizeof name, "relay-%u.pem", number);
    *ret_there = faccessat(at, name, F_OK, 0) == 0;
    if (!*ret_there)
        return CAUCUS_OK;
    X509 *old = read_certificate(at, name);
    if (old == NULL)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s is no certificate", name);
    caucus_certificate made = {0};
    caucus_status status = caucus_certificate_again(authority, old, days, &made, ret_error);
    if (status == CAUCUS_OK)
        status = replace(dir, name, &made, ret_error);
    caucus_certificate_free(&made);
    X509_free(old);
    return status;
}

caucus_status caucus_certify_renew(const char *dir, uint32_t days, uint32_t *ret_count, caucus_error *ret_error) {
    *ret_count = 0;
    const int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        return caucus_fail_path(ret_error, CAUCUS_E_PATH, "", dir);
    caucus_certificate authority = {0};
    caucus_status status = read_authority(at, dir, &authority, ret_error);
    bool there = true;
    for (uint32_t i = 1; status == CAUCUS_OK && there && i <= CAUCUS_CERTIFY_MAX_RELAYS; i++) {
        status = renew_one(at, dir, &authority, i, days, &there, ret_error);
        *ret_count += status == CAUCUS_OK && there;
    }
    if (status == CAUCUS_OK && *ret_count == 0)
        status = caucus_fail(ret_error, CAUCUS_E_RANGE, "", "%s holds no relay-1.pem", caucus_path_tail(dir));
    caucus_certificate_free(&authority);
    (void)close(at);
    return status;
}
