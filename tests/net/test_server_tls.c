/* SPDX-License-Identifier: Apache-2.0 */
/* test_server_tls.c: TLS 1.3 with certificates on both sides: who may speak, for whom, and that the experts are the
 * same. */
#include "net/office.h"

#include "net/revoked.h"

static void test_federation(void **state) {
    (void)state;
    office o;
    open_office(&o);
    federation f;
    hall h;
    plan_and_hall(&o, &f, &h);
    h.settings.linger_ms = 60000;
    hall_open(&h);
    peer *p = calloc(CLIENTS, sizeof *p);
    assert_non_null(p);
    SSL_CTX *context[CLIENTS];
    for (uint32_t i = 0; i < CLIENTS; i++) {
        char name[32];
        snprintf(name, sizeof name, "client-%u", i + 1);
        context[i] = client_context(&o, name);
        peer_open(&p[i], f.plan, SEED, i + 1);
        assert_true(dial_tls(&p[i].wire, caucus_server_port(h.server), context[i], NULL));
        assert_int_equal(SSL_version(p[i].wire.ssl), TLS1_3_VERSION);
        caucus_frame hello = hello_of(&h, i + 1, 0);
        assert_true(wire_send(&p[i].wire, &hello));
        p[i].connected = true;
    }
    peers_finish(p, CLIENTS, f.plan, hashed_losses);
    hall_wait(&h);
    peers_equal(p, &f);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        peer_close(&p[i]);
        SSL_CTX_free(context[i]);
    }
    free(p);
    close_all(&o, &f, &h);
}

static void test_identities(void **state) {
    (void)state;
    office o;
    open_office(&o);
    federation f;
    hall h;
    plan_and_hall(&o, &f, &h);
    h.settings.hello_ms = 1000;
    hall_open(&h);
    const struct {
        const char *name;
        uint32_t client;
        int expected;
    } tries[] = {{"client-1", 1, 1},
                 {"client-2", 2, 1},
                 {"client-2", 1, 100 + CAUCUS_REFUSAL_IDENTITY}, /* another's name */
                 {"client-4", 4, 100 + CAUCUS_REFUSAL_IDENTITY}, /* signed, but the plan has three */
                 {"client-4", 1, 100 + CAUCUS_REFUSAL_IDENTITY},
                 {"zero", 1, 100 + CAUCUS_REFUSAL_IDENTITY},
                 {"word", 1, 100 + CAUCUS_REFUSAL_IDENTITY},
                 {"stranger", 1, 0},
                 {"self-signed", 1, 0},
                 {"expired", 1, 0},
                 {"coordinator", 1, 0}}; /* for coordinators, not for clients */
    for (size_t k = 0; k < sizeof tries / sizeof tries[0]; k++) {
        SSL_CTX *context = careless_context(&o, tries[k].name);
        int got = attempt(&h, context, tries[k].client, NULL, NULL, NULL);
        if (got != tries[k].expected)
            fail_msg("%s as client %u: %d, expected %d", tries[k].name, tries[k].client, got, tries[k].expected);
        SSL_CTX_free(context);
    }
    /* No certificate at all; plain bytes; TLS 1.2. */
    SSL_CTX *bare = SSL_CTX_new(TLS_client_method());
    assert_int_equal(attempt(&h, bare, 1, NULL, NULL, NULL), 0);
    SSL_CTX_set_max_proto_version(bare, TLS1_2_VERSION);
    assert_int_equal(attempt(&h, bare, 1, NULL, NULL, NULL), 0);
    SSL_CTX_free(bare);
    wire_end w;
    wire_open(&w, caucus_server_port(h.server));
    caucus_frame hello = hello_of(&h, 1, 0);
    assert_true(wire_send(&w, &hello));
    char away[256];
    while (recv(w.fd, away, sizeof away, 0) > 0) /* an alert, then the end */
        ;
    wire_close(&w);
    wire_open(&w, caucus_server_port(h.server));
    assert_true(recv(w.fd, away, sizeof away, 0) <= 0); /* somebody who never shakes hands is not waited for */
    wire_close(&w);
    hall_stop(&h);
    close_all(&o, &f, &h);
}

/* A client refuses a coordinator that its authority did not sign, or that has another name. */
static void test_impostor(void **state) {
    (void)state;
    office o;
    open_office(&o);
    federation f;
    hall h;
    plan_and_hall(&o, &f, &h);
    free((char *)(uintptr_t)h.settings.cert);
    free((char *)(uintptr_t)h.settings.key_file);
    h.settings.cert = strdup(path_in(&o, "impostor.pem"));
    h.settings.key_file = strdup(path_in(&o, "impostor.key"));
    hall_open(&h);
    SSL_CTX *context = client_context(&o, "client-1");
    wire_end w;
    assert_false(dial_tls(&w, caucus_server_port(h.server), context, NULL));
    char why[160];
    caucus_tls_why(w.ssl, why, sizeof why);
    assert_non_null(strstr(why, "certificate"));
    wire_close(&w);
    hall_stop(&h);
    free_names(&h);
    hall_free(&h);
    federation_close(&f);

    plan_and_hall(&o, &f, &h);
    hall_open(&h);
    wire_open(&w, caucus_server_port(h.server));
    assert_int_equal(caucus_tls_client_open(context, w.fd, "elsewhere.example", NULL, &w.ssl, NULL), CAUCUS_OK);
    assert_true(SSL_do_handshake(w.ssl) != 1);
    ERR_clear_error();
    wire_close(&w);
    SSL_CTX_free(context);
    hall_stop(&h);
    close_all(&o, &f, &h);
}

/* Resumed connections are judged like new ones: revocation counts from the next connection on. */
static void test_revoked(void **state) {
    (void)state;
    office o;
    open_office(&o);
    federation f;
    hall h;
    plan_and_hall(&o, &f, &h);
    char list[160];
    snprintf(list, sizeof list, "%s", path_in(&o, "revoked"));
    FILE *out = fopen(list, "w");
    assert_non_null(out);
    fputs("# nobody yet but\n3\n", out);
    fclose(out);
    h.settings.revoked = list;
    hall_open(&h);
    SSL_CTX *one = client_context(&o, "client-1"), *two = client_context(&o, "client-2"),
            *three = client_context(&o, "client-3");
    SSL_SESSION *session = NULL;
    bool resumed = true;
    assert_int_equal(attempt(&h, one, 1, NULL, &session, &resumed), 1);
    assert_non_null(session);
    assert_false(resumed);
    assert_int_equal(attempt(&h, one, 1, session, NULL, &resumed), 1);
    assert_true(resumed);
    assert_int_equal(attempt(&h, one, 2, session, NULL, &resumed),
                     100 + CAUCUS_REFUSAL_IDENTITY); /* a ticket gives no other name */
    assert_int_equal(attempt(&h, three, 3, NULL, NULL, NULL), 100 + CAUCUS_REFUSAL_IDENTITY);
    X509 *certificate = SSL_CTX_get0_certificate(two);
    BIGNUM *number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), NULL);
    char *serial = BN_bn2hex(number);
    out = fopen(list, "w");
    assert_non_null(out);
    fprintf(out, "1 # lost\n%s # by its serial number\n", serial);
    fclose(out);
    OPENSSL_free(serial);
    BN_free(number);
    assert_int_equal(attempt(&h, one, 1, session, NULL, &resumed), 100 + CAUCUS_REFUSAL_IDENTITY);
    assert_true(resumed);
    assert_int_equal(attempt(&h, two, 2, NULL, NULL, NULL), 100 + CAUCUS_REFUSAL_IDENTITY);
    assert_int_equal(attempt(&h, three, 3, NULL, NULL, NULL), 1); /* taken off the list */
    assert_int_equal(unlink(list),
                     0); /* nobody's fault but the keeper's: the last good list stays, others come again */
    assert_int_equal(attempt(&h, three, 3, NULL, NULL, NULL), 100 + CAUCUS_REFUSAL_LATER);
    assert_int_equal(attempt(&h, one, 1, NULL, NULL, NULL), 100 + CAUCUS_REFUSAL_IDENTITY);
    write_list(list, "3\nclient 2 has left us\n"); /* no remark: a bad line; what stands before it is not in force */
    assert_int_equal(attempt(&h, three, 3, NULL, NULL, NULL), 100 + CAUCUS_REFUSAL_LATER);
    assert_int_equal(attempt(&h, one, 1, NULL, NULL, NULL), 100 + CAUCUS_REFUSAL_IDENTITY);
    caucus_server_status now;
    caucus_server_get_status(h.server, &now);
    assert_true(now.list_broken);
    write_list(list, "# nobody\n");
    assert_int_equal(attempt(&h, three, 3, NULL, NULL, NULL), 1);
    assert_int_equal(attempt(&h, one, 1, NULL, NULL, NULL), 1);
    SSL_SESSION_free(session);
    SSL_CTX_free(one);
    SSL_CTX_free(two);
    SSL_CTX_free(three);
    hall_stop(&h);
    close_all(&o, &f, &h);
}

/* Who is connected when its certificate is revoked is sent away, though it says nothing; the others stay, also while
 * the list cannot be read. */
static void test_revoked_while_connected(void **state) {
    (void)state;
    office o;
    open_office(&o);
    federation f;
    hall h;
    plan_and_hall(&o, &f, &h);
    char list[160];
    snprintf(list, sizeof list, "%s", path_in(&o, "revoked"));
    write_list(list, "# nobody\n");
    h.settings.revoked = list;
    hall_open(&h);
    wire_end w[CLIENTS];
    SSL_CTX *context[CLIENTS];
    for (uint32_t i = 0; i < CLIENTS; i++) {
        char name[32];
        snprintf(name, sizeof name, "client-%u", i + 1);
        context[i] = client_context(&o, name);
        join_tls(&h, &w[i], context[i], i + 1);
    }
    write_list(list, "2 # its key was stolen\n");
    caucus_frame frame = {0};
    while (frame.kind != CAUCUS_FRAME_REFUSAL) /* announcement 0 comes before */
        assert_int_equal(wire_receive(&w[1], 12, &frame, PATIENCE_MS), 1);
    assert_int_equal(frame.code, CAUCUS_REFUSAL_IDENTITY);
    assert_int_equal(wire_receive(&w[1], 12, &frame, PATIENCE_MS), 0);
    wire_close(&w[1]);
    caucus_server_status now = {.present = CLIENTS};
    for (int tries = 0; now.present == CLIENTS && tries < PATIENCE_MS; tries++) {
        caucus_server_get_status(h.server, &now);
        usleep(1000);
    }
    assert_int_equal(now.present, CLIENTS - 1);
    assert_int_equal(attempt(&h, context[1], 2, NULL, NULL, NULL), 100 + CAUCUS_REFUSAL_IDENTITY);
    assert_int_equal(unlink(list), 0);
    for (int tries = 0; !now.list_broken && tries < PATIENCE_MS; tries++) { /* it is looked for once a second */
        caucus_server_get_status(h.server, &now);
        usleep(1000);
    }
    usleep(1200000); /* and once more by now */
    caucus_server_get_status(h.server, &now);
    assert_int_equal(now.present, CLIENTS - 1);
    assert_true(now.list_broken);
    write_list(list, "");
    join_tls(&h, &w[1], context[1], 2);
    hall_stop(&h);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        wire_close(&w[i]);
        SSL_CTX_free(context[i]);
    }
    close_all(&o, &f, &h);
}

/* Files that are not what they should be are named. */
static void test_files(void **state) {
    (void)state;
    office o;
    open_office(&o);
    SSL_CTX *context = NULL;
    caucus_error error = {0};
    assert_int_equal(
        caucus_tls_server_new("/nowhere.pem", path_in(&o, "coordinator.key"), path_in(&o, "ca.pem"), &context, &error),
        CAUCUS_E_PATH);
    assert_string_equal(error.field, "cert");
    assert_int_equal(caucus_tls_server_new(path_in(&o, "coordinator.key"), path_in(&o, "coordinator.key"),
                                           path_in(&o, "ca.pem"), &context, &error),
                     CAUCUS_E_FORMAT);
    assert_int_equal(caucus_tls_server_new(path_in(&o, "coordinator.pem"), path_in(&o, "client-1.key"),
                                           path_in(&o, "ca.pem"), &context, &error),
                     CAUCUS_E_CONFLICT);
    assert_string_equal(error.field, "key");
    assert_int_equal(caucus_tls_server_new(path_in(&o, "coordinator.pem"), path_in(&o, "coordinator.key"),
                                           "/nowhere.pem", &context, &error),
                     CAUCUS_E_PATH);
    assert_string_equal(error.field, "client-ca");
    issue(&o, &o.ca, CAUCUS_CERTIFICATE_COORDINATOR, "coordinator", "old", true);
    assert_int_equal(
        caucus_tls_server_new(path_in(&o, "old.pem"), path_in(&o, "old.key"), path_in(&o, "ca.pem"), &context, &error),
        CAUCUS_E_EXPIRED);
    assert_string_equal(error.field, "cert");
    assert_non_null(strstr(error.text, "expired"));
    assert_null(context);
    caucus_revoked *list = NULL;
    assert_int_equal(caucus_revoked_open(path_in(&o, "ca.pem"), &list, &error), CAUCUS_E_FORMAT);
    assert_int_equal(caucus_revoked_open("/nowhere", &list, &error), CAUCUS_E_PATH);
    close_office(&o);
}

int main(void) {
    signal(SIGPIPE, SIG_IGN); /* this side's writes go through OpenSSL, too */
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_federation),
                                       cmocka_unit_test(test_identities),
                                       cmocka_unit_test(test_impostor),
                                       cmocka_unit_test(test_revoked),
                                       cmocka_unit_test(test_revoked_while_connected),
                                       cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
