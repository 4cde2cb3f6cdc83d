/* SPDX-License-Identifier: Apache-2.0 */
/* tls_judge.c: see tls_judge.h. */
#include "dial/tls_judge.h"

#include "num/little_endian.h"

#include <openssl/err.h>
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

/* ---- dates ---- */

static int64_t seconds_of(const ASN1_TIME *when) {
    struct tm parts;
    return when && ASN1_TIME_to_tm(when, &parts) == 1 ? (int64_t)timegm(&parts) : 0;
}

static int64_t ends_of(const X509 *certificate) {
    return seconds_of(X509_get0_notAfter(certificate));
}

/* The first of them to expire; chain may be NULL. */
static int64_t first_end(const X509 *certificate, const STACK_OF(X509) * chain) {
    int64_t ret = certificate ? ends_of(certificate) : 0;
    for (int i = 0; i < sk_X509_num(chain); i++) {
        const int64_t ends = ends_of(sk_X509_value(chain, i));
        ret = ret == 0 || ends < ret ? ends : ret;
    }
    return ret;
}

int64_t caucus_tls_warn_from(const X509 *certificate) {
    const int64_t ends = ends_of(certificate), life = ends - seconds_of(X509_get0_notBefore(certificate));
    return ends - (life / 3 < SOON_SECONDS ? life / 3 : SOON_SECONDS);
}

/* This side's certificate and those that it builds on, as far as they are in its file and among its authorities. */
static STACK_OF(X509) * own_chain(SSL_CTX *context) {
    STACK_OF(X509) *extra = NULL, *ret = NULL;
    X509_STORE_CTX *store = X509_STORE_CTX_new();
    (void)SSL_CTX_get0_chain_certs(context, &extra);
    if (store &&
        X509_STORE_CTX_init(store, SSL_CTX_get_cert_store(context), SSL_CTX_get0_certificate(context), extra) == 1) {
        X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(store), X509_V_FLAG_NO_CHECK_TIME);
        (void)X509_verify_cert(store); /* whether the other side accepts it is its affair: what was found is enough */
        ret = X509_STORE_CTX_get1_chain(store);
    }
    X509_STORE_CTX_free(store);
    ERR_clear_error();
    return ret;
}

int64_t caucus_tls_own_expiry(SSL_CTX *context, int64_t *ret_warn_from) {
    const X509 *own = SSL_CTX_get0_certificate(context);
    STACK_OF(X509) *chain = own_chain(context); /* without memory the certificate alone is judged */
    const int64_t ret = first_end(own, chain);
    *ret_warn_from = caucus_tls_warn_from(own);
    for (int i = 0; i < sk_X509_num(chain); i++) {
        const int64_t from = caucus_tls_warn_from(sk_X509_value(chain, i));
        *ret_warn_from = from < *ret_warn_from ? from : *ret_warn_from;
    }
    sk_X509_pop_free(chain, X509_free);
    return ret;
}

/* ---- sessions ---- */

/* A ticket holds the other side's certificate and not the chain behind it; so when the first of that chain expires is
 * put in beside it, 8 bytes. */
static int64_t noted(SSL_SESSION *session) {
    void *data = NULL;
    size_t size = 0;
    if (!session || SSL_SESSION_get0_ticket_appdata(session, &data, &size) != 1 || size != 8)
        return 0;
    return (int64_t)caucus_le_get(data, 8);
}

void caucus_tls_note_chain(SSL *ssl, SSL_SESSION *session) {
    const STACK_OF(X509) *chain = SSL_get0_verified_chain(ssl); /* NULL: resumed, and what was noted then stays */
    uint8_t bytes[8];
    if (!chain || !session)
        return;
    (void)caucus_le_put(bytes, (uint64_t)first_end(NULL, chain), sizeof bytes);
    (void)SSL_SESSION_set1_ticket_appdata(session, bytes, sizeof bytes); /* without memory: the certificate alone */
}

static int64_t session_ends(SSL_SESSION *session) {
    const X509 *peer = session ? SSL_SESSION_get0_peer(session) : NULL;
    const int64_t chain = noted(session), own = peer ? ends_of(peer) : 0;
    return chain != 0 && chain < own ? chain : own;
}

int64_t caucus_tls_peer_expiry(SSL *ssl) {
    const X509 *peer = SSL_get0_peer_certificate(ssl);
    const STACK_OF(X509) *chain = SSL_get0_verified_chain(ssl);
    return chain ? first_end(peer, chain) : session_ends(SSL_get_session(ssl));
}

bool caucus_tls_may_resume(const SSL_SESSION *session) {
    /* OpenSSL takes no const here, and changes nothing. */
    return session_ends((SSL_SESSION *)(uintptr_t)session) > (int64_t)time(NULL);
}

static int note_ticket(SSL *ssl, void *user) {
    (void)user;
    caucus_tls_note_chain(ssl, SSL_get_session(ssl));
    return 1;
}

static bool own_expired(SSL *ssl) {
    STACK_OF(X509) *chain = NULL;
    (void)SSL_get0_chain_certs(ssl, &chain);
    return first_end(SSL_get_certificate(ssl), chain) <= (int64_t)time(NULL);
}

/* A ticket that is not taken means a whole handshake, in which everything is judged anew. */
static SSL_TICKET_RETURN judge_ticket(SSL *ssl, SSL_SESSION *session, const unsigned char *name, size_t name_bytes,
                                      SSL_TICKET_STATUS status, void *user) {
    (void)name;
    (void)name_bytes;
    (void)user;
    if ((status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW) || !caucus_tls_may_resume(session) ||
        own_expired(ssl))
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

void caucus_tls_demand(SSL_CTX *context, bool server) {
    SSL_CTX_set_verify(context, server ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT : SSL_VERIFY_PEER,
                       server ? caucus_tls_check_client : check_server);
    if (server)
        SSL_CTX_set_session_ticket_cb(context, note_ticket, judge_ticket, NULL);
}
