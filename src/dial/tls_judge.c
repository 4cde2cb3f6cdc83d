/* SPDX-License-Identifier: Apache-2.0 */
/* tls_judge.c: see tls_judge.h. */
#include "dial/tls_judge.h"

#include <openssl/x509v3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#define SOON_SECONDS (14 * 86400)

/* As PostgreSQL does: readable by its owner alone, or, if it is the administrator's, by a group too (files that an
 * administrator hands to a service). */
caucus_status caucus_tls_key_mode(const char *path, caucus_error *ret_error) {
    struct stat file;
    if (stat(path, &file) != 0 || !S_ISREG(file.st_mode))
        return CAUCUS_OK;
    const unsigned others = file.st_uid == 0 ? 0037 : 0077, mode = file.st_mode & 0777;
    if ((mode & others) == 0)
        return CAUCUS_OK;
    char hint[160];
    (void)snprintf(hint, sizeof hint, "chmod 600 %.140s", path);
    return caucus_fail_hint(ret_error,
                            caucus_fail(ret_error, CAUCUS_E_RANGE, "key",
                                        "%.120s: others can read or change it (mode %04o), and a key is for its owner "
                                        "alone",
                                        path, mode),
                            hint);
}

static bool is_for(X509 *certificate, bool server) {
    const uint32_t use = X509_get_extended_key_usage(certificate); /* all bits: it does not say */
    return use != UINT32_MAX && (use & (server ? XKU_SSL_SERVER : XKU_SSL_CLIENT)) != 0;
}

caucus_status caucus_tls_own_use(SSL_CTX *context, bool server, const char *path, caucus_error *ret_error) {
    X509 *own = SSL_CTX_get0_certificate(context);
    if (own && is_for(own, server))
        return CAUCUS_OK;
    return caucus_fail(ret_error, CAUCUS_E_RANGE, "cert",
                       "%.120s: its extended key usage must contain %s, or no %s would accept it", path,
                       server ? "serverAuth" : "clientAuth", server ? "client" : "coordinator");
}

/* Called for every certificate of the chain; what OpenSSL found wrong stays wrong. */
static int check_peer(int good, X509_STORE_CTX *store, bool server) {
    if (!good || X509_STORE_CTX_get_error_depth(store) > 0)
        return good;
    X509 *certificate = X509_STORE_CTX_get_current_cert(store);
    if (certificate && is_for(certificate, server))
        return 1;
    X509_STORE_CTX_set_error(store, X509_V_ERR_INVALID_PURPOSE);
    return 0;
}

int caucus_tls_check_client(int good, X509_STORE_CTX *store) {
    return check_peer(good, store, false);
}

static int check_server(int good, X509_STORE_CTX *store) {
    return check_peer(good, store, true);
}

static bool expired(const X509 *certificate) {
    return certificate && ASN1_TIME_cmp_time_t(X509_get0_notAfter(certificate), time(NULL)) <= 0;
}

bool caucus_tls_may_resume(const SSL_SESSION *session) {
    X509 *peer = SSL_SESSION_get0_peer((SSL_SESSION *)(uintptr_t)session); /* it takes no const, and changes nothing */
    return peer && !expired(peer);
}

/* A ticket that is not taken means a whole handshake, in which everything is judged anew. */
static SSL_TICKET_RETURN judge_ticket(SSL *ssl, SSL_SESSION *session, const unsigned char *name, size_t name_bytes,
                                      SSL_TICKET_STATUS status, void *user) {
    (void)name;
    (void)name_bytes;
    (void)user;
    if ((status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW) || !caucus_tls_may_resume(session) ||
        expired(SSL_get_certificate(ssl)))
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

void caucus_tls_demand(SSL_CTX *context, bool server) {
    SSL_CTX_set_verify(context, server ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT : SSL_VERIFY_PEER,
                       server ? caucus_tls_check_client : check_server);
    if (server)
        SSL_CTX_set_session_ticket_cb(context, NULL, judge_ticket, NULL);
}

static int64_t seconds_of(const ASN1_TIME *when) {
    struct tm parts;
    return when && ASN1_TIME_to_tm(when, &parts) == 1 ? (int64_t)timegm(&parts) : 0;
}

int64_t caucus_tls_expiry(const X509 *certificate) {
    return seconds_of(X509_get0_notAfter(certificate));
}

bool caucus_tls_expires_soon(const X509 *certificate, int64_t now) {
    const int64_t ends = caucus_tls_expiry(certificate), life = ends - seconds_of(X509_get0_notBefore(certificate));
    return ends - now < (life / 3 < SOON_SECONDS ? life / 3 : SOON_SECONDS);
}
