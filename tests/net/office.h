/* SPDX-License-Identifier: Apache-2.0 */
/* office.h: certificates for tests of the coordinator: good ones, strange ones, and who gets in with them. */
#ifndef CAUCUS_TEST_OFFICE_H
#define CAUCUS_TEST_OFFICE_H

#include "net/server_testing.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "dial/certificate.h"
#include "scratch.h"
#include "testing_settings.h"

#define SEED 5
#define CLIENTS 3

/* Certificates of one test: an authority, a stranger's authority, and what they signed. */
typedef struct office {
    char dir[64];
    caucus_certificate ca, other;
} office;

static inline const char *path_in(const office *o, const char *name) {
    static char path[8][160];
    static unsigned next;
    char *ret = path[next++ % 8];
    snprintf(ret, sizeof path[0], "%s/%s", o->dir, name);
    return ret;
}

static inline void write_pair(const office *o, const char *name, const caucus_certificate *c) {
    char file[64];
    snprintf(file, sizeof file, "%s.pem", name);
    FILE *out = fopen(path_in(o, file), "w");
    assert_non_null(out);
    assert_int_equal(PEM_write_X509(out, c->x509), 1);
    fclose(out);
    snprintf(file, sizeof file, "%s.key", name);
    out = fopen(path_in(o, file), "w");
    assert_non_null(out);
    assert_int_equal(fchmod(fileno(out), 0600), 0);
    assert_int_equal(PEM_write_PrivateKey(out, c->key, NULL, NULL, 0, NULL, NULL), 1);
    fclose(out);
}

/* A client's pair under a file name of its own. expired: yesterday. */
static inline void issue(const office *o, const caucus_certificate *issuer, caucus_certificate_role role,
                         const char *common, const char *file, bool expired) {
    caucus_certificate c = {0};
    caucus_error error = {0};
    if (caucus_certificate_new(role, issuer, common, NULL, 30, &c, &error) != CAUCUS_OK)
        fail_msg("certificate: %s", error.text);
    if (expired) {
        X509_gmtime_adj(X509_getm_notBefore(c.x509), -172800);
        X509_gmtime_adj(X509_getm_notAfter(c.x509), -86400);
        assert_true(X509_sign(c.x509, issuer ? issuer->key : c.key, EVP_sha256()) > 0);
    }
    write_pair(o, file, &c);
    caucus_certificate_free(&c);
}

/* One that expires in so many seconds; use: false without an extended key usage. */
static inline void issue_odd(const office *o, caucus_certificate_role role, const char *common, const char *file,
                             long seconds, bool use) {
    caucus_certificate c = {0};
    assert_int_equal(caucus_certificate_new(role, &o->ca, common, NULL, 30, &c, NULL), CAUCUS_OK);
    X509_gmtime_adj(X509_getm_notAfter(c.x509), seconds);
    int at = X509_get_ext_by_NID(c.x509, NID_ext_key_usage, -1);
    assert_true(at >= 0);
    if (!use)
        X509_EXTENSION_free(X509_delete_ext(c.x509, at));
    assert_true(X509_sign(c.x509, o->ca.key, EVP_sha256()) > 0);
    write_pair(o, file, &c);
    caucus_certificate_free(&c);
}

static inline void open_office(office *o) {
    memset(o, 0, sizeof *o);
    (void)snprintf(o->dir, sizeof o->dir, "%s/caucus-test-XXXXXX", scratch_root());
    assert_non_null(mkdtemp(o->dir));
    assert_int_equal(caucus_certificate_new(CAUCUS_CERTIFICATE_CA, NULL, "authority", NULL, 30, &o->ca, NULL),
                     CAUCUS_OK);
    assert_int_equal(caucus_certificate_new(CAUCUS_CERTIFICATE_CA, NULL, "authority", NULL, 30, &o->other, NULL),
                     CAUCUS_OK);
    write_pair(o, "ca", &o->ca);
    write_pair(o, "other-ca", &o->other);
    issue(o, &o->ca, CAUCUS_CERTIFICATE_COORDINATOR, "coordinator", "coordinator", false);
    issue(o, &o->other, CAUCUS_CERTIFICATE_COORDINATOR, "coordinator", "impostor", false);
    char name[32], index[16];
    for (int i = 1; i <= CLIENTS + 1; i++) {
        snprintf(name, sizeof name, "client-%d", i);
        snprintf(index, sizeof index, "%d", i);
        issue(o, &o->ca, CAUCUS_CERTIFICATE_CLIENT, index, name, false);
    }
    issue(o, &o->other, CAUCUS_CERTIFICATE_CLIENT, "1", "stranger", false);
    issue(o, &o->ca, CAUCUS_CERTIFICATE_CLIENT, "1", "expired", true);
    issue(o, NULL, CAUCUS_CERTIFICATE_CA, "1", "self-signed", false);
    issue(o, &o->ca, CAUCUS_CERTIFICATE_CLIENT, "01", "zero", false);
    issue(o, &o->ca, CAUCUS_CERTIFICATE_CLIENT, "one", "word", false);
}

static inline void close_office(office *o) {
    char command[128];
    caucus_certificate_free(&o->ca);
    caucus_certificate_free(&o->other);
    snprintf(command, sizeof command, "rm -rf '%s'", o->dir);
    assert_int_equal(system(command), 0);
}

static inline SSL_CTX *client_context(const office *o, const char *name) {
    char cert[64], key[64];
    snprintf(cert, sizeof cert, "%s.pem", name);
    snprintf(key, sizeof key, "%s.key", name);
    SSL_CTX *context = NULL;
    caucus_error error = {0};
    if (caucus_tls_client_new(path_in(o, cert), path_in(o, key), path_in(o, "ca.pem"), &context, &error) != CAUCUS_OK)
        fail_msg("%s: %s", error.field, error.text);
    return context;
}

/* A context of somebody who does not look at its own certificate first. */
static inline SSL_CTX *careless_context(const office *o, const char *name) {
    char cert[64], key[64];
    snprintf(cert, sizeof cert, "%s.pem", name);
    snprintf(key, sizeof key, "%s.key", name);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    assert_non_null(context);
    assert_int_equal(SSL_CTX_use_certificate_file(context, path_in(o, cert), SSL_FILETYPE_PEM), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey_file(context, path_in(o, key), SSL_FILETYPE_PEM), 1);
    assert_int_equal(SSL_CTX_load_verify_locations(context, path_in(o, "ca.pem"), NULL), 1);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    return context;
}

/* Dial with a certificate. False: the handshake failed on this side. */
static inline bool dial_tls(wire_end *w, uint16_t port, SSL_CTX *context, SSL_SESSION *session) {
    wire_open(w, port);
    assert_int_equal(caucus_tls_client_open(context, w->fd, "127.0.0.1", session, &w->ssl, NULL), CAUCUS_OK);
    bool ok = SSL_do_handshake(w->ssl) == 1;
    ERR_clear_error();
    return ok;
}

static inline void plan_and_hall(const office *o, federation *f, hall *h) {
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CLIENTS, 12, 32, 20);
    federation_open(f, &s, SEED);
    federation_play(f, hashed_losses);
    hall_init(h, f->plan, SEED);
    h->settings.cert = strdup(path_in(o, "coordinator.pem"));
    h->settings.key_file = strdup(path_in(o, "coordinator.key"));
    h->settings.client_ca = strdup(path_in(o, "ca.pem"));
}

static inline void free_names(hall *h) {
    free((char *)(uintptr_t)h->settings.cert);
    free((char *)(uintptr_t)h->settings.key_file);
    free((char *)(uintptr_t)h->settings.client_ca);
}

static inline void close_all(office *o, federation *f, hall *h) {
    free_names(h);
    hall_free(h);
    federation_close(f);
    close_office(o);
}

/* What becomes of somebody who shakes hands with this certificate and says it is `client`: 0 the connection ends
 * without a word, 1 welcome, else 100 + the refusal's code. */
static inline int attempt(const hall *h, SSL_CTX *context, uint32_t client, SSL_SESSION *session,
                          SSL_SESSION **ret_session, bool *ret_resumed) {
    wire_end w;
    int ret = 0;
    if (dial_tls(&w, caucus_server_port(h->server), context, session)) {
        caucus_frame hello = hello_of(h, client, 0), frame;
        (void)wire_send(&w, &hello);
        int got = wire_receive(&w, 12, &frame, PATIENCE_MS);
        assert_true(got >= 0);
        if (got == 1)
            ret = frame.kind == CAUCUS_FRAME_WELCOME ? 1 : 100 + (int)frame.code;
        if (ret_resumed)
            *ret_resumed = SSL_session_reused(w.ssl) == 1;
        if (ret_session)
            *ret_session = caucus_tls_session(w.ssl);
        if (ret == 1) {
            caucus_frame goodbye = {.kind = CAUCUS_FRAME_GOODBYE, .text = "bye"};
            (void)wire_send(&w, &goodbye);
        }
    }
    ERR_clear_error();
    wire_close(&w);
    return ret;
}

static inline void write_list(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static inline void join_tls(const hall *h, wire_end *w, SSL_CTX *context, uint32_t client) {
    assert_true(dial_tls(w, caucus_server_port(h->server), context, NULL));
    caucus_frame hello = hello_of(h, client, 0), frame;
    assert_true(wire_send(w, &hello));
    assert_int_equal(wire_receive(w, 12, &frame, PATIENCE_MS), 1);
    assert_int_equal(frame.kind, CAUCUS_FRAME_WELCOME);
}

#endif
