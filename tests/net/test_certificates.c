/* SPDX-License-Identifier: Apache-2.0 */
/* test_certificates.c: what becomes of certificates while a coordinator runs: they expire, they are replaced, and some
 * were never for this. */
#include "net/office.h"

#include <sys/stat.h>

#include "dial/tls_judge.h"

#define SHORT_SECONDS 3

/* OpenSSL reads the clock for this: tests wait for it, and judge nothing by when it comes. */
static bool has_expired(const X509 *certificate) {
    return X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0;
}

/* A certificate that does not say what it is for is for nothing, on either side, and one's own is looked at first. */
static void test_use(void **state) {
    (void)state;
    office o;
    open_office(&o);
    federation f;
    hall h;
    plan_and_hall(&o, &f, &h);
    hall_open(&h);
    issue_odd(&o, CAUCUS_CERTIFICATE_CLIENT, "1", "useless", 86400, false);
    issue_odd(&o, CAUCUS_CERTIFICATE_COORDINATOR, "coordinator", "useless-coordinator", 86400, false);
    SSL_CTX *context = NULL;
    caucus_error error = {0};
    assert_int_equal(caucus_tls_client_new(path_in(&o, "useless.pem"), path_in(&o, "useless.key"),
                                           path_in(&o, "ca.pem"), &context, &error),
                     CAUCUS_E_RANGE);
    assert_string_equal(error.field, "cert");
    assert_non_null(strstr(error.text, "clientAuth"));
    assert_int_equal(caucus_tls_server_new(path_in(&o, "useless-coordinator.pem"),
                                           path_in(&o, "useless-coordinator.key"), path_in(&o, "ca.pem"), &context,
                                           &error),
                     CAUCUS_E_RANGE);
    assert_non_null(strstr(error.text, "serverAuth"));
    /* A client of somebody else's making does not look at its own. */
    context = careless_context(&o, "useless");
    assert_int_equal(attempt(&h, context, 1, NULL, NULL, NULL), 0);
    SSL_CTX_free(context);
    hall_stop(&h);
    close_all(&o, &f, &h);
}

/* Connected, and then its certificate expires: it is told so, and the page knew when. Each event loop looks at its own
 * clients once a second: on one loop the first that is seen is the first to expire, since it came first; on two it is
 * when both have looked, and if that is not before it expires, nothing can be said. */
static void expires_while_connected(uint32_t loops) {
    office o;
    open_office(&o);
    federation f;
    hall h;
    plan_and_hall(&o, &f, &h);
    h.settings.loops = loops;
    hall_open(&h);
    issue_odd(&o, CAUCUS_CERTIFICATE_CLIENT, "1", "short", SHORT_SECONDS, true);
    SSL_CTX *brief = client_context(&o, "short"), *other = client_context(&o, "client-2");
    wire_end w, stays;
    join_tls(&h, &w, brief, 1);
    join_tls(&h, &stays, other, 2);
    caucus_server_status now = {0};
    const X509 *certificate = SSL_CTX_get0_certificate(brief);
    int64_t warn_from;
    const int64_t ends = caucus_tls_own_expiry(brief, &warn_from);
    caucus_server_get_status(h.server, &now);
    for (int tries = 0; tries < PATIENCE_MS && !has_expired(certificate); tries++) {
        caucus_server_get_status(h.server, &now);
        if (loops == 1 ? now.client_certificate_ends != 0 : now.client_certificate_ends == ends)
            break;
        usleep(1000);
    }
    if (!has_expired(certificate)) /* nor had it when the status was made */
        assert_int_equal(now.client_certificate_ends, ends);
    assert_true(now.certificate_ends > ends);
    caucus_frame frame = {0};
    assert_int_equal(wire_receive(&w, 12, &frame, PATIENCE_MS), 1);
    assert_int_equal(frame.kind, CAUCUS_FRAME_REFUSAL);
    assert_int_equal(frame.code, CAUCUS_REFUSAL_LATER); /* it may be renewed, and whose clock is wrong nobody knows */
    assert_string_equal(frame.text, "the certificate has expired, by the clock here: come again later");
    assert_true(has_expired(SSL_CTX_get0_certificate(brief)));
    assert_int_equal(wire_receive(&stays, 12, &frame, 100), -1);
    for (int tries = 0; tries < PATIENCE_MS && now.expired == 0; tries++) {
        caucus_server_get_status(h.server, &now);
        usleep(1000);
    }
    assert_int_equal(now.expired, 1); /* no clock has jumped: nobody waits for it */
    wire_close(&w);
    wire_close(&stays);
    SSL_CTX_free(brief);
    SSL_CTX_free(other);
    hall_stop(&h);
    close_all(&o, &f, &h);
}

static void test_expires_while_connected(void **state) {
    (void)state;
    expires_while_connected(1);
    expires_while_connected(2);
}

/* A session that began with a certificate that has expired since is not resumed: there is a whole handshake, in which a
 * new certificate is as good as ever. And a client does not offer one past the expiry of the coordinator's. */
static void test_sessions(void **state) {
    (void)state;
    office o;
    open_office(&o);
    federation f;
    hall h;
    plan_and_hall(&o, &f, &h);
    hall_open(&h);
    issue_odd(&o, CAUCUS_CERTIFICATE_CLIENT, "1", "short", SHORT_SECONDS, true);
    issue_odd(&o, CAUCUS_CERTIFICATE_COORDINATOR, "coordinator", "short-coordinator", SHORT_SECONDS, true);
    SSL_CTX *brief = client_context(&o, "short"), *renewed = client_context(&o, "client-1");
    SSL_SESSION *session = NULL;
    bool resumed = false;
    assert_int_equal(attempt(&h, brief, 1, NULL, &session, NULL), 1);
    assert_non_null(session);
    assert_int_equal(attempt(&h, brief, 1, session, NULL, &resumed), 1);
    if (!has_expired(SSL_CTX_get0_certificate(brief))) /* a busy machine has had no time to show it */
        assert_true(resumed);
    hall second;
    federation g;
    plan_and_hall(&o, &g, &second);
    free((char *)(uintptr_t)second.settings.cert);
    free((char *)(uintptr_t)second.settings.key_file);
    second.settings.cert = strdup(path_in(&o, "short-coordinator.pem"));
    second.settings.key_file = strdup(path_in(&o, "short-coordinator.key"));
    SSL_SESSION *offered = NULL;
    X509 *other = NULL;
    caucus_error error = {0};
    bool open = caucus_server_open(&second.settings, &second.server, &error) == CAUCUS_OK; /* else it was too late */
    if (open) {
        assert_int_equal(pthread_create(&second.thread, NULL, hall_thread, &second), 0);
        (void)attempt(&second, renewed, 1, NULL, &offered, NULL);
        other = offered ? SSL_SESSION_get0_peer(offered) : NULL;
    }
    while (!has_expired(SSL_CTX_get0_certificate(brief)) || (other && !has_expired(other)))
        usleep(50000);
    assert_int_equal(attempt(&h, brief, 1, session, NULL, NULL), 0); /* TLS says that it has expired */
    assert_int_equal(attempt(&h, renewed, 1, session, NULL, &resumed), 1);
    assert_false(resumed);
    if (offered) {
        SSL *ssl = NULL;
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_true(SSL_SESSION_is_resumable(offered));
        assert_int_equal(caucus_tls_client_open(renewed, fd, "127.0.0.1", offered, &ssl, NULL), CAUCUS_OK);
        assert_null(SSL_get_session(ssl));
        SSL_free(ssl);
        close(fd);
    }
    SSL_SESSION_free(session);
    SSL_SESSION_free(offered);
    SSL_CTX_free(brief);
    SSL_CTX_free(renewed);
    if (open)
        hall_stop(&second);
    free_names(&second);
    hall_free(&second);
    federation_close(&g);
    hall_stop(&h);
    close_all(&o, &f, &h);
}

/* The number of the certificate that a newcomer sees. */
static void serial_seen(const hall *h, SSL_CTX *context, char ret[CAUCUS_SERIAL_BYTES]) {
    wire_end w;
    assert_true(dial_tls(&w, caucus_server_port(h->server), context, NULL));
    assert_true(caucus_tls_peer_serial(w.ssl, ret));
    wire_close(&w);
}

/* Files are replaced and read again: who is connected stays, who comes sees the new certificate; a bad file changes
 * nothing. */
static void test_reload(void **state) {
    (void)state;
    office o;
    open_office(&o);
    federation f;
    hall h;
    plan_and_hall(&o, &f, &h);
    hall_open(&h);
    SSL_CTX *one = client_context(&o, "client-1"), *two = client_context(&o, "client-2");
    wire_end w;
    join_tls(&h, &w, one, 1);
    char before[CAUCUS_SERIAL_BYTES], after[CAUCUS_SERIAL_BYTES];
    serial_seen(&h, two, before);
    issue(&o, &o.ca, CAUCUS_CERTIFICATE_COORDINATOR, "coordinator", "coordinator", false);
    serial_seen(&h, two, after);
    assert_string_equal(after, before); /* nobody has asked for it */
    caucus_server_reload(h.server);
    for (int tries = 0; strcmp(after, before) == 0 && tries < PATIENCE_MS; tries++) {
        serial_seen(&h, two, after);
        usleep(1000);
    }
    assert_string_not_equal(after, before);
    caucus_server_status now;
    caucus_server_get_status(h.server, &now);
    assert_int_equal(now.present, 1);
    assert_false(now.reload_failed);
    write_list(path_in(&o, "coordinator.pem"), "not a certificate");
    caucus_server_reload(h.server);
    for (int tries = 0; !now.reload_failed && tries < PATIENCE_MS; tries++) {
        caucus_server_get_status(h.server, &now);
        usleep(1000);
    }
    assert_true(now.reload_failed);
    serial_seen(&h, two, before);
    assert_string_equal(after, before);
    caucus_frame frame;
    assert_int_equal(wire_receive(&w, 12, &frame, 100), -1);
    wire_close(&w);
    SSL_CTX_free(one);
    SSL_CTX_free(two);
    hall_stop(&h);
    close_all(&o, &f, &h);
}

/* A key that others can read is refused, with what to type. */
static void test_key_mode(void **state) {
    (void)state;
    office o;
    open_office(&o);
    SSL_CTX *context = NULL;
    caucus_error error = {0};
    const mode_t wrong[] = {0644, 0604, 0660, 0620, 0602};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(chmod(path_in(&o, "client-1.key"), wrong[i]), 0);
        assert_int_equal(caucus_tls_client_new(path_in(&o, "client-1.pem"), path_in(&o, "client-1.key"),
                                               path_in(&o, "ca.pem"), &context, &error),
                         CAUCUS_E_RANGE);
        assert_string_equal(error.field, "key");
        assert_non_null(strstr(error.hint, "chmod 600 "));
        assert_non_null(strstr(error.hint, "client-1.key"));
    }
    assert_int_equal(chmod(path_in(&o, "client-1.key"), 0400), 0);
    context = client_context(&o, "client-1");
    SSL_CTX_free(context);
    close_office(&o);
}

/* An authority that lives for `seconds` from now on. */
static void brief_authority(const office *o, long seconds, caucus_certificate *ret) {
    assert_int_equal(caucus_certificate_new(CAUCUS_CERTIFICATE_CA, NULL, "brief authority", NULL, 30, ret, NULL),
                     CAUCUS_OK);
    X509_gmtime_adj(X509_getm_notAfter(ret->x509), seconds);
    assert_true(X509_sign(ret->x509, ret->key, EVP_sha256()) > 0);
    write_pair(o, "brief-ca", ret);
}

/* Both authorities in one file. */
static void write_both(const office *o, const caucus_certificate *brief) {
    FILE *out = fopen(path_in(o, "both.pem"), "w");
    assert_non_null(out);
    assert_int_equal(PEM_write_X509(out, o->ca.x509), 1);
    assert_int_equal(PEM_write_X509(out, brief->x509), 1);
    assert_int_equal(fclose(out), 0);
}

/* A certificate is as good as the authority that signed it: when that expires who is connected is cut off, and no
 * session is resumed, though the certificate itself has a month to live. */
static void test_chain_of_a_client(void **state) {
    (void)state;
    office o;
    open_office(&o);
    federation f;
    hall h;
    caucus_certificate brief = {0};
    brief_authority(&o, SHORT_SECONDS, &brief);
    write_both(&o, &brief);
    plan_and_hall(&o, &f, &h);
    free((char *)(uintptr_t)h.settings.client_ca);
    h.settings.client_ca = strdup(path_in(&o, "both.pem"));
    h.settings.loops = 1;
    hall_open(&h);
    issue(&o, &brief, CAUCUS_CERTIFICATE_CLIENT, "1", "of-brief", false);
    SSL_CTX *context = client_context(&o, "of-brief");
    SSL_SESSION *session = NULL, *resumed_session = NULL;
    bool resumed = false;
    wire_end w;
    assert_int_equal(attempt(&h, context, 1, NULL, &session, NULL), 1);
    assert_int_equal(attempt(&h, context, 1, session, &resumed_session, &resumed), 1);
    if (!has_expired(brief.x509))
        assert_true(resumed);
    if (dial_tls(&w, caucus_server_port(h.server), context, resumed_session)) { /* a busy machine has had no time */
        caucus_frame hello = hello_of(&h, 1, 0), frame = {0};
        assert_true(wire_send(&w, &hello));
        while (frame.kind != CAUCUS_FRAME_REFUSAL)
            assert_int_equal(wire_receive(&w, 12, &frame, PATIENCE_MS), 1);
        assert_int_equal(frame.code, CAUCUS_REFUSAL_LATER);
        assert_true(has_expired(brief.x509));
    }
    wire_close(&w);
    while (!has_expired(brief.x509))
        usleep(50000);
    assert_int_equal(attempt(&h, context, 1, resumed_session, NULL, NULL), 0); /* a whole handshake, and TLS says no */
    SSL_SESSION_free(session);
    SSL_SESSION_free(resumed_session);
    SSL_CTX_free(context);
    caucus_certificate_free(&brief);
    hall_stop(&h);
    close_all(&o, &f, &h);
}

/* The same of the coordinator's own: what expires first is what metrics and warnings are about, and it does not start
 * on what no client accepts. */
static void test_chain_of_the_coordinator(void **state) {
    (void)state;
    office o;
    open_office(&o);
    caucus_certificate brief = {0}, gone = {0};
    SSL_CTX *context = NULL;
    caucus_error error = {0};
    int64_t warn_from, other;
    brief_authority(&o, 3L * 86400, &brief);
    write_both(&o, &brief);
    issue(&o, &brief, CAUCUS_CERTIFICATE_COORDINATOR, "coordinator", "of-brief", false);
    assert_int_equal(caucus_tls_server_new(path_in(&o, "of-brief.pem"), path_in(&o, "of-brief.key"),
                                           path_in(&o, "both.pem"), &context, &error),
                     CAUCUS_OK);
    const int64_t ends = caucus_tls_own_expiry(context, &warn_from);
    assert_int_equal(X509_cmp_time(X509_get0_notAfter(brief.x509), &(time_t){(time_t)ends - 1}), 1);
    assert_int_equal(X509_cmp_time(X509_get0_notAfter(brief.x509), &(time_t){(time_t)ends}), -1);
    assert_int_equal(warn_from, caucus_tls_warn_from(brief.x509));
    SSL_CTX_free(context);
    /* Signed by nobody whose certificate is here: it speaks for itself. */
    context = client_context(&o, "stranger");
    assert_true(caucus_tls_own_expiry(context, &other) > ends + 86400);
    SSL_CTX_free(context);
    brief_authority(&o, -60, &gone);
    issue(&o, &gone, CAUCUS_CERTIFICATE_COORDINATOR, "coordinator", "of-gone", false);
    assert_int_equal(caucus_tls_server_new(path_in(&o, "of-gone.pem"), path_in(&o, "of-gone.key"),
                                           path_in(&o, "brief-ca.pem"), &context, &error),
                     CAUCUS_E_EXPIRED);
    assert_non_null(strstr(error.text, "authority has expired"));
    caucus_certificate_free(&brief);
    caucus_certificate_free(&gone);
    close_office(&o);
}

/* From when on it is said that a certificate expires, in seconds before it does. */
static int said_before(uint32_t days) {
    caucus_certificate c = {0};
    int whole = 0, seconds = 0;
    assert_int_equal(caucus_certificate_new(CAUCUS_CERTIFICATE_CA, NULL, "one", NULL, days, &c, NULL), CAUCUS_OK);
    ASN1_TIME *from = ASN1_TIME_set(NULL, (time_t)caucus_tls_warn_from(c.x509));
    assert_int_equal(ASN1_TIME_diff(&whole, &seconds, from, X509_get0_notAfter(c.x509)), 1);
    ASN1_TIME_free(from);
    caucus_certificate_free(&c);
    return whole * 86400 + seconds;
}

/* Two weeks before the end, or the last third of a short life (which begins ten minutes before it is made). */
static void test_soon(void **state) {
    (void)state;
    assert_int_equal(said_before(365), 14 * 86400);
    assert_in_range(said_before(3), 86400, 86400 + 201);
}

int main(void) {
    signal(SIGPIPE, SIG_IGN); /* this side's writes go through OpenSSL, too */
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_use),
                                       cmocka_unit_test(test_expires_while_connected),
                                       cmocka_unit_test(test_sessions),
                                       cmocka_unit_test(test_chain_of_a_client),
                                       cmocka_unit_test(test_chain_of_the_coordinator),
                                       cmocka_unit_test(test_reload),
                                       cmocka_unit_test(test_key_mode),
                                       cmocka_unit_test(test_soon)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
