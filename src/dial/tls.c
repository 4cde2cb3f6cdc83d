/* SPDX-License-Identifier: Apache-2.0 */
/* tls.c: see tls.h. */
#include "dial/tls.h"

#include "dial/tls_judge.h"
#include "num/fail.h"
#include "num/hand_over.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* The newest error of OpenSSL's queue in a few words. */
static void last_words(char *ret, size_t ret_bytes) {
    unsigned long code = ERR_peek_last_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;
    snprintf(ret, ret_bytes, "%s", reason ? reason : "cannot be used");
    ERR_clear_error();
}

/* Memory was missing if the first thing that went wrong says so; what OpenSSL says after it are consequences. */
static bool out_of_memory(void) {
    return ERR_GET_REASON(ERR_peek_error()) == ERR_R_MALLOC_FAILURE ||
           ERR_GET_REASON(ERR_peek_last_error()) == ERR_R_MALLOC_FAILURE;
}

static caucus_status fail_file(const char *field, const char *path, caucus_error *ret_error) {
    if (out_of_memory()) {
        ERR_clear_error();
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, field, "%.120s: %s", path, caucus_status_text(CAUCUS_E_MEMORY));
    }
    char why[128];
    last_words(why, sizeof why);
    if (access(path, R_OK) != 0)
        return caucus_fail_os(ret_error, CAUCUS_E_PATH, errno, field, "%.120s: cannot be read", path);
    return caucus_fail(ret_error, CAUCUS_E_FORMAT, field, "%.120s: %s (a PEM file is expected)", path, why);
}

/* What both sides share. Fields are called as in the settings of both sides. */
static caucus_status new_context(const SSL_METHOD *method, const char *cert, const char *key, const char *ca,
                                 const char *ca_field, SSL_CTX **ret, caucus_error *ret_error) {
    caucus_status status = caucus_tls_key_mode(key, ret_error);
    if (status != CAUCUS_OK)
        return status;
    ERR_clear_error();
    SSL_CTX *context = SSL_CTX_new(method);
    if (!context)
        return caucus_fail_memory(ret_error, "");
    SSL_CTX_set_mode(context,
                     SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_read_ahead(context, 1); /* one system call per record instead of two */
    if (SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1)
        status = caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "", "this OpenSSL does not know TLS 1.3");
    else if (SSL_CTX_use_certificate_chain_file(context, cert) != 1)
        status = fail_file("cert", cert, ret_error);
    else if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
        status = ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH && !out_of_memory()
                     ? caucus_fail(ret_error, CAUCUS_E_CONFLICT, "key", "%.120s: is not the key of %.60s", key, cert)
                     : fail_file("key", key, ret_error);
    else if (SSL_CTX_check_private_key(context) != 1)
        status = out_of_memory()
                     ? fail_file("key", key, ret_error)
                     : caucus_fail(ret_error, CAUCUS_E_CONFLICT, "key", "%.120s: is not the key of %.60s", key, cert);
    else if (SSL_CTX_load_verify_locations(context, ca, NULL) != 1)
        status = fail_file(ca_field, ca, ret_error);
    ERR_clear_error();
    return CAUCUS_HAND_OVER(status, ret, context, SSL_CTX_free(context));
}

/* Every client would turn away: better said here. */
static caucus_status check_dates(SSL_CTX *context, const char *cert, caucus_error *ret_error) {
    const X509 *own = SSL_CTX_get0_certificate(context);
    int64_t warn_from;
    const time_t now = time(NULL); /* compared without memory, so that a missing one is not taken for a wrong date */
    if (ASN1_TIME_cmp_time_t(X509_get0_notAfter(own), now) <= 0)
        return caucus_fail(ret_error, CAUCUS_E_EXPIRED, "cert",
                           "%.120s: has expired, no client would accept it — renew it, and look at the clock", cert);
    if (ASN1_TIME_cmp_time_t(X509_get0_notBefore(own), now) > 0)
        return caucus_fail(ret_error, CAUCUS_E_EXPIRED, "cert",
                           "%.120s: is not valid yet, no client would accept it — look at the clock", cert);
    if (caucus_tls_own_expiry(context, &warn_from) <= (int64_t)now)
        return caucus_fail(ret_error, CAUCUS_E_EXPIRED, "cert",
                           "%.120s: the certificate of its authority has expired, no client would accept it — renew "
                           "it, and look at the clock",
                           cert);
    return CAUCUS_OK;
}

caucus_status caucus_tls_server_new(const char *cert, const char *key, const char *client_ca, SSL_CTX **ret,
                                    caucus_error *ret_error) {
    SSL_CTX *context = NULL;
    caucus_status status = new_context(TLS_server_method(), cert, key, client_ca, "client-ca", &context, ret_error);
    if (status != CAUCUS_OK)
        return status;
    status = check_dates(context, cert, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_tls_own_use(context, true, cert, ret_error);
    if (status != CAUCUS_OK) {
        SSL_CTX_free(context);
        return status;
    }
    caucus_tls_demand(context, true);
    SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(client_ca));
    static const unsigned char scope[] = "caucus/1";
    SSL_CTX_set_session_id_context(context, scope, sizeof scope - 1);
    /* Tickets alone: nothing is kept here per client. One is enough, since each connection brings a new one. */
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 1);
    *ret = context;
    return CAUCUS_OK;
}

caucus_status caucus_tls_client_new(const char *cert, const char *key, const char *server_ca, SSL_CTX **ret,
                                    caucus_error *ret_error) {
    SSL_CTX *context = NULL;
    caucus_status status = new_context(TLS_client_method(), cert, key, server_ca, "ca", &context, ret_error);
    if (status == CAUCUS_OK && (status = caucus_tls_own_use(context, false, cert, ret_error)) != CAUCUS_OK)
        SSL_CTX_free(context);
    if (status != CAUCUS_OK)
        return status;
    caucus_tls_demand(context, false);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    *ret = context;
    return CAUCUS_OK;
}

caucus_status caucus_tls_client_open(SSL_CTX *context, int fd, const char *host, SSL_SESSION *session, SSL **ret,
                                     caucus_error *ret_error) {
    SSL *ssl = SSL_new(context);
    X509_VERIFY_PARAM *verify = ssl ? SSL_get0_param(ssl) : NULL;
    /* An address is looked for among the certificate's addresses, a name among its names. */
    bool ok = ssl && SSL_set_fd(ssl, fd) == 1 &&
              (X509_VERIFY_PARAM_set1_ip_asc(verify, host) == 1 ||
               (SSL_set_tlsext_host_name(ssl, host) == 1 && SSL_set1_host(ssl, host) == 1));
    if (ok && session && SSL_SESSION_is_resumable(session) && caucus_tls_may_resume(session)) {
        SSL_SESSION *own = SSL_SESSION_dup(session); /* see caucus_tls_session() */
        ok = own && SSL_set_session(ssl, own) == 1;
        SSL_SESSION_free(own);
    }
    ERR_clear_error();
    if (!ok) {
        SSL_free(ssl);
        return caucus_fail_memory(ret_error, "");
    }
    SSL_set_connect_state(ssl);
    *ret = ssl;
    return CAUCUS_OK;
}

caucus_status caucus_tls_server_open(SSL_CTX *context, int fd, SSL **ret) {
    SSL *ssl = SSL_new(context);
    if (!ssl || SSL_set_fd(ssl, fd) != 1) {
        SSL_free(ssl);
        ERR_clear_error();
        return CAUCUS_E_MEMORY;
    }
    SSL_set_accept_state(ssl);
    *ret = ssl;
    return CAUCUS_OK;
}

SSL_SESSION *caucus_tls_session(SSL *ssl) {
    SSL_SESSION *session = SSL_get0_session(ssl);
    /* A copy: OpenSSL spoils the session of a connection that breaks, and those are the ones to resume. */
    SSL_SESSION *ret = session && SSL_SESSION_is_resumable(session) ? SSL_SESSION_dup(session) : NULL;
    caucus_tls_note_chain(ssl, ret);
    return ret;
}

/* "1" .. "99999999": what certificates say and nothing that looks like it. */
static uint32_t read_index(const char *text, size_t length) {
    uint32_t index = 0;
    if (length < 1 || length > 8 || text[0] == '0')
        return 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return 0;
        index = index * 10 + (uint32_t)(text[i] - '0');
    }
    return index;
}

uint32_t caucus_tls_certificate_index(const X509 *certificate) {
    X509_NAME *name = X509_get_subject_name(certificate);
    int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
    if (at < 0 || X509_NAME_get_index_by_NID(name, NID_commonName, at) >= 0)
        return 0; /* none, or two of them */
    const ASN1_STRING *text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
    return read_index((const char *)ASN1_STRING_get0_data(text), (size_t)ASN1_STRING_length(text));
}

uint32_t caucus_tls_peer_index(SSL *ssl) {
    X509 *peer = SSL_get0_peer_certificate(ssl);
    if (!peer || SSL_get_verify_result(ssl) != X509_V_OK)
        return 0;
    return caucus_tls_certificate_index(peer);
}

bool caucus_tls_peer_serial(SSL *ssl, char ret[CAUCUS_SERIAL_BYTES]) {
    ret[0] = '\0';
    X509 *peer = SSL_get0_peer_certificate(ssl);
    if (peer == NULL)
        return true;
    BIGNUM *number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(peer), NULL);
    char *text = number ? BN_bn2hex(number) : NULL;
    if (text)
        snprintf(ret, CAUCUS_SERIAL_BYTES, "%s", text);
    const bool known = text != NULL;
    OPENSSL_free(text);
    BN_free(number);
    return known;
}

void caucus_tls_why(const SSL *ssl, char *ret, size_t ret_bytes) {
    long verified = ssl ? SSL_get_verify_result(ssl) : X509_V_OK;
    unsigned long code = ERR_peek_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;
    if (verified != X509_V_OK)
        snprintf(ret, ret_bytes, "certificate: %s", X509_verify_cert_error_string(verified));
    else
        snprintf(ret, ret_bytes, "%s", reason ? reason : "the connection was closed");
    ERR_clear_error();
}
