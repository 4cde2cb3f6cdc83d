/* SPDX-License-Identifier: Apache-2.0 */
/* The live coordinator when memory runs out: opening it, a whole run over loopback with and without TLS, the list of
 * the revoked, the status page.
 *
 * In a run the server's threads fail and the test's own does not. Whatever fails, a client is never told that it is
 * refused for good: its connection ends and it comes again, or the server ends with CAUCUS_E_MEMORY and is started
 * again from its state. The experts are those of the federation in one process, and so is every decision. */
#include "fault/failing_alloc.h"

#include "net/server_testing.h"

#include <openssl/err.h>

#include "dial/certify.h"
#include "net/http.h"
#include "net/server_impl.h"
#include "scratch.h"
#include "testing_settings.h"

#define SEED 20241u
#define CLIENTS 2

static char place[64];

static const char *in_place(const char *name) {
    static char path[8][160];
    static unsigned turn;
    char *to = path[turn++ % 8];
    (void)snprintf(to, sizeof path[0], "%s/%s", place, name);
    return to;
}

static void remove_state(const char *dir) {
    char command[256];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

typedef struct trial {
    federation f;
    hall h;
    bool tls;
    SSL_CTX *context[CLIENTS];
    peer p[CLIENTS];
    atomic_bool ended;
    unsigned restarts;
} trial;

static void use_tls(caucus_server_settings *settings) {
    static char path[3][160];
    (void)snprintf(path[0], sizeof path[0], "%s", in_place("certs/coordinator.pem"));
    (void)snprintf(path[1], sizeof path[1], "%s", in_place("certs/coordinator.key"));
    (void)snprintf(path[2], sizeof path[2], "%s", in_place("certs/ca.pem"));
    settings->cert = path[0];
    settings->key_file = path[1];
    settings->client_ca = path[2];
}

static void trial_open(trial *t, bool tls, caucus_algorithm algorithm) {
    memset(t, 0, sizeof *t);
    caucus_settings s = testing_settings(algorithm, CAUCUS_TRUST_COORDINATOR, CLIENTS, 6, 5, 8);
    federation_open(&t->f, &s, SEED);
    federation_play(&t->f, hashed_losses);
    t->tls = tls;
    static char dir[160];
    (void)snprintf(dir, sizeof dir, "%s", in_place("state"));
    hall_init(&t->h, t->f.plan, SEED);
    assert_int_equal(rmdir(t->h.dir), 0);
    t->h.settings.state_dir = dir;
    t->h.settings.loops = 1;
    t->h.settings.linger_ms = 1000;
    remove_state(dir);
    if (tls)
        use_tls(&t->h.settings);
    for (int i = 0; tls && i < CLIENTS; i++) {
        char cert[32], key[32];
        (void)snprintf(cert, sizeof cert, "certs/client-%d.pem", i + 1);
        (void)snprintf(key, sizeof key, "certs/client-%d.key", i + 1);
        caucus_error error = {0};
        if (caucus_tls_client_new(in_place(cert), in_place(key), in_place("certs/ca.pem"), &t->context[i], &error) !=
            CAUCUS_OK)
            fail_msg("%s: %s", error.field, error.text);
    }
}

static void trial_close(trial *t) {
    for (int i = 0; i < CLIENTS; i++)
        SSL_CTX_free(t->context[i]);
    federation_close(&t->f);
}

/* ---- opening ---- */

#define UNTOUCHED ((void *)8)

static caucus_status open_server(void *user, uint64_t *ret_digest) {
    trial *t = user;
    caucus_server *server = UNTOUCHED;
    caucus_error error = {0};
    failing_begin();
    caucus_status status = caucus_server_open(&t->h.settings, &server, &error);
    failing_end();
    if (status != CAUCUS_OK) {
        assert_ptr_equal(server, UNTOUCHED);
        assert_true(error.text[0] != '\0');
        failing.fail = 0; /* what it left behind is good enough to start from */
        assert_int_equal(caucus_server_open(&t->h.settings, &server, &error), CAUCUS_OK);
    }
    caucus_announcement first = {0};
    *ret_digest = caucus_server_history(server, 0, &first, 1);
    *ret_digest = failing_digest(*ret_digest, &first.expert, sizeof first.expert);
    caucus_server_close(server);
    remove_state(t->h.settings.state_dir);
    return status;
}

static caucus_status reopen_server(void *user, uint64_t *ret_digest) {
    trial *t = user;
    caucus_server *server = NULL;
    assert_int_equal(caucus_server_open(&t->h.settings, &server, NULL), CAUCUS_OK);
    caucus_server_close(server);
    return open_server(user, ret_digest);
}

static void test_open(void **state) {
    (void)state;
    static trial t;
    trial_open(&t, false, CAUCUS_ALGORITHM_SVT);
    failing_each(&(failing_test){.name = "open", .operation = open_server, .user = &t, .at_least = 500, .step = 17});
    failing_each(
        &(failing_test){.name = "open again", .operation = reopen_server, .user = &t, .at_least = 500, .step = 29});
    trial_close(&t);
    trial_open(&t, true, CAUCUS_ALGORITHM_SVT);
    failing_each(
        &(failing_test){.name = "open with TLS",
                        .operation = open_server,
                        .user = &t,
                        .at_least = 1000,
                        .step = 101,
                        .accepted = FAILING_MAY(CAUCUS_E_FORMAT), /* OpenSSL does not always say what was missing */
                        .libraries_keep = true});
    trial_close(&t);
}

/* ---- a whole run ---- */

static void *serve(void *user) {
    trial *t = user;
    t->h.status = caucus_server_run(t->h.server, &t->h.error);
    atomic_store(&t->ended, true);
    return NULL;
}

static void start(trial *t) {
    failing_quiet = true; /* this thread's memory never fails */
    assert_int_equal(caucus_server_open(&t->h.settings, &t->h.server, NULL), CAUCUS_OK);
    atomic_store(&t->ended, false);
    pthread_attr_t usual;
    pthread_attr_init(&usual);
    assert_int_equal(__real_pthread_create(&t->h.thread, &usual, serve, t), 0);
    pthread_attr_destroy(&usual);
}

/* The server has ended by itself. Returns what it said; started again if there is more to do. */
static caucus_status end(trial *t) {
    assert_int_equal(pthread_join(t->h.thread, NULL), 0);
    caucus_server_close(t->h.server);
    t->h.server = NULL;
    return t->h.status;
}

/* False: the connection did not come about. */
static bool connect_peer(trial *t, uint32_t i) {
    peer *p = &t->p[i];
    memset(&p->wire, 0, sizeof p->wire);
    p->wire.fd = dial_port(caucus_server_port(t->h.server));
    if (p->wire.fd < 0)
        return false;
    struct timeval soon = {.tv_sec = 5};
    setsockopt(p->wire.fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
    if (t->tls) {
        assert_int_equal(caucus_tls_client_open(t->context[i], p->wire.fd, "127.0.0.1", NULL, &p->wire.ssl, NULL),
                         CAUCUS_OK);
        if (SSL_do_handshake(p->wire.ssl) != 1) {
            ERR_clear_error();
            peer_disconnect(p);
            return false;
        }
    }
    caucus_frame hello = hello_of(&t->h, p->index, (uint32_t)caucus_client_heard(p->client));
    p->connected = wire_send(&p->wire, &hello);
    if (!p->connected)
        peer_disconnect(p);
    return p->connected;
}

static caucus_status run(void *user, uint64_t *ret_digest) {
    trial *t = user;
    caucus_status first = CAUCUS_OK;
    t->restarts = 0;
    bool quiet = failing_quiet;
    for (uint32_t i = 0; i < CLIENTS; i++)
        peer_open(&t->p[i], t->f.plan, SEED, i + 1);
    failing_begin();
    start(t);
    for (unsigned turns = 0; !peers_over(t->p, CLIENTS); turns++) {
        if (turns > 10000)
            fail_msg("the federation hangs (%lu failed)", failing.fail);
        if (atomic_load(&t->ended)) {
            caucus_status said = end(t);
            if (said == CAUCUS_OK || t->restarts++ > 0)
                fail_msg("the server ended: %s: %s", t->h.error.field, t->h.error.text);
            first = said;
            failing.fail = 0;
            start(t);
        }
        bool broken = false;
        for (uint32_t i = 0; i < CLIENTS; i++)
            if (!t->p[i].connected && !t->p[i].over)
                broken = !connect_peer(t, i) || broken;
        if (failing.hits > 0 && turns > 50)
            failing.fail = 0; /* it has been without for long enough */
        if (!peers_turn(t->p, CLIENTS, t->f.plan, hashed_losses, broken ? 1 : 20) && broken)
            usleep(1000);
        for (uint32_t i = 0; i < CLIENTS; i++)
            if (t->p[i].refused)
                fail_msg("client %u was refused (%lu failed)", i + 1, failing.fail);
    }
    if (first == CAUCUS_OK) { /* after the last goodbye it may still fail */
        caucus_status said = end(t);
        first = said;
    } else {
        (void)end(t);
    }
    failing_end();
    failing_quiet = quiet;
    peers_equal(t->p, &t->f);
    *ret_digest = failing_digest(1, t->p[0].expert, t->f.plan->settings.rounds * sizeof *t->p[0].expert);
    for (uint32_t i = 0; i < CLIENTS; i++)
        peer_close(&t->p[i]);
    remove_state(t->h.settings.state_dir);
    return first;
}

static void test_run(void **state) {
    (void)state;
    static trial t;
    trial_open(&t, false, CAUCUS_ALGORITHM_SVT);
    failing_each(&(failing_test){
        .name = "run", .operation = run, .user = &t, .at_least = 20, .does_without = true, .libraries_keep = true});
    trial_close(&t);
    trial_open(&t, false, CAUCUS_ALGORITHM_HEDGE);
    t.h.settings.loops = 2;
    failing_each(&(failing_test){.name = "run on two loops",
                                 .operation = run,
                                 .user = &t,
                                 .at_least = 20,
                                 .step = 3,
                                 .does_without = true,
                                 .libraries_keep = true});
    trial_close(&t);
}

static void test_run_tls(void **state) {
    (void)state;
    static trial t;
    trial_open(&t, true, CAUCUS_ALGORITHM_SVT);
    failing_each(&(failing_test){.name = "run with TLS",
                                 .operation = run,
                                 .user = &t,
                                 .at_least = 500,
                                 .step = 401,
                                 .does_without = true,
                                 .libraries_keep = true});
    trial_close(&t);
}

/* ---- the list of the revoked ---- */

static caucus_status revoked(void *user, uint64_t *ret_digest) {
    caucus_revoked *list = UNTOUCHED;
    failing_begin();
    caucus_status status = caucus_revoked_open(user, &list, NULL);
    failing_end();
    if (status != CAUCUS_OK) {
        assert_ptr_equal(list, UNTOUCHED);
        return status;
    }
    *ret_digest = (uint64_t)(caucus_revoked_ask(list, 7, "AA") == CAUCUS_REVOKED_YES) * 2 +
                  (caucus_revoked_ask(list, 1, "F00D") == CAUCUS_REVOKED_YES);
    assert_int_equal(*ret_digest, 3);
    caucus_revoked_close(list);
    return CAUCUS_OK;
}

/* Read again while it is in use: whoever stands on it is never let in for want of memory. */
static caucus_status revoked_again(void *user, uint64_t *ret_digest) {
    const char *path = user;
    caucus_revoked *list = NULL;
    assert_int_equal(caucus_revoked_open(path, &list, NULL), CAUCUS_OK);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    assert_true(fprintf(file, "# changed\n") > 0);
    assert_int_equal(fclose(file), 0);
    failing_begin();
    caucus_revoked_answer has = caucus_revoked_ask(list, 1, "F00D");
    failing_end();
    assert_int_equal(has, CAUCUS_REVOKED_YES);
    assert_int_equal(caucus_revoked_ask(list, 7, "AA"), CAUCUS_REVOKED_YES);
    assert_int_equal(caucus_revoked_ask(list, 2, "AA"), CAUCUS_REVOKED_NO);
    caucus_revoked_close(list);
    *ret_digest = 1;
    return failing.hits > 0 ? CAUCUS_E_MEMORY : CAUCUS_OK;
}

static void test_revoked(void **state) {
    (void)state;
    char path[160];
    (void)snprintf(path, sizeof path, "%s", in_place("revoked"));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "# the first line\n7\n") > 0);
    assert_true(fprintf(file, "# %0400d\nF00D\n", 1) > 0);
    assert_int_equal(fclose(file), 0);
    failing_each(&(failing_test){.name = "revoked", .operation = revoked, .user = path, .at_least = 5});
    failing_each(&(failing_test){.name = "revoked, again", .operation = revoked_again, .user = path, .at_least = 3});
}

/* ---- the status page ---- */

static caucus_status open_page(void *user, uint64_t *ret_digest) {
    trial *t = user;
    caucus_http *http = UNTOUCHED;
    caucus_http_settings settings = {.listen = "127.0.0.1:0", .plan = t->f.plan, .plan_hash = t->h.settings.plan_hash};
    failing_begin();
    caucus_status status = caucus_http_open(t->h.server, &settings, &http, NULL);
    failing_end();
    if (status != CAUCUS_OK) {
        assert_ptr_equal(http, UNTOUCHED);
        return status;
    }
    assert_true(caucus_http_port(http) > 0);
    caucus_http_close(http);
    *ret_digest = 1;
    return CAUCUS_OK;
}

/* Every answer is whole, or says that there is no memory, or there is none. */
static caucus_status ask_page(void *user, uint64_t *ret_digest) {
    static const char request[] = "GET /metrics HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n";
    caucus_http *http = user;
    static char answer[1 << 16];
    size_t size = 0;
    bool quiet = failing_quiet;
    failing_quiet = true;
    int fd = dial_port(caucus_http_port(http));
    assert_true(fd >= 0);
    failing_begin();
    assert_int_equal(send(fd, request, sizeof request - 1, MSG_NOSIGNAL), sizeof request - 1);
    for (ssize_t n; size < sizeof answer - 1 && (n = recv(fd, answer + size, sizeof answer - 1 - size, 0)) > 0;)
        size += (size_t)n;
    failing_end();
    close(fd);
    failing_quiet = quiet;
    answer[size] = '\0';
    *ret_digest = 1;
    if (strncmp(answer, "HTTP/1.1 200", 12) != 0 && strncmp(answer, "HTTP/1.0 200", 12) != 0)
        return CAUCUS_E_MEMORY;
    assert_non_null(strstr(answer, "caucus_info"));
    const char *body = strstr(answer, "\r\n\r\n");
    assert_non_null(body);
    const char *length = strstr(answer, "Content-Length: ");
    assert_non_null(length);
    assert_int_equal(strtoul(length + 16, NULL, 10), strlen(body + 4));
    unsigned lines = 0;
    for (const char *at = body + 4; *at; at++)
        lines += *at == '\n';
    *ret_digest = lines;
    return CAUCUS_OK;
}

static void test_page(void **state) {
    (void)state;
    static trial t;
    trial_open(&t, false, CAUCUS_ALGORITHM_SVT);
    assert_int_equal(caucus_server_open(&t.h.settings, &t.h.server, NULL), CAUCUS_OK);
    failing_each(&(failing_test){.name = "page", .operation = open_page, .user = &t, .at_least = 3});
    caucus_http *http = NULL;
    caucus_http_settings settings = {.listen = "127.0.0.1:0", .plan = t.f.plan, .plan_hash = t.h.settings.plan_hash};
    assert_int_equal(caucus_http_open(t.h.server, &settings, &http, NULL), CAUCUS_OK);
    failing_each(&(failing_test){.name = "metrics",
                                 .operation = ask_page,
                                 .user = http,
                                 .does_without = true,
                                 .libraries_keep = true,
                                 .threads_keep = true,
                                 .at_least = 3});
    caucus_http_close(http);
    caucus_server_close(t.h.server);
    remove_state(t.h.settings.state_dir);
    trial_close(&t);
}

static int set_up(void **state) {
    (void)state;
    (void)signal(SIGPIPE, SIG_IGN); /* the server closes connections that a client is writing to */
    (void)snprintf(place, sizeof place, "%s/caucus-oom-XXXXXX", scratch_root());
    if (mkdtemp(place) == NULL)
        return -1;
    caucus_certify_settings certify = {.dir = in_place("certs"), .clients = CLIENTS, .days = 30};
    return caucus_certify(&certify, NULL) == CAUCUS_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    remove_state(place);
    return 0;
}

/* The list of the excused: read whole, or the one in force stays. */
static caucus_status look_at_excused(void *user, uint64_t *ret_digest) {
    caucus_excused e = {.path = user, .clients = CLIENTS};
    uint8_t list[CLIENTS];
    bool news = false;
    caucus_error error = {0};
    memset(list, 9, sizeof list);
    failing_begin();
    caucus_status status = caucus_excused_look(&e, list, &news, &error);
    failing_end();
    if (status != CAUCUS_OK) {
        assert_false(news || e.good);
        for (size_t i = 0; i < CLIENTS; i++)
            assert_int_equal(list[i], 9);
        return status;
    }
    assert_true(news && e.good);
    *ret_digest = failing_digest(1, list, sizeof list);
    return CAUCUS_OK;
}

static void test_excused(void **state) {
    (void)state;
    char path[] = "/tmp/caucus-excused-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "# away\n2\n", 9), 9);
    assert_int_equal(close(file), 0);
    failing_each(&(failing_test){.name = "excused", .operation = look_at_excused, .user = path, .at_least = 3});
    assert_int_equal(unlink(path), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_open),    cmocka_unit_test(test_run),
                                       cmocka_unit_test(test_run_tls), cmocka_unit_test(test_revoked),
                                       cmocka_unit_test(test_page),    cmocka_unit_test(test_excused)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
