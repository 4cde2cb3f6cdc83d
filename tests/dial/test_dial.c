/* SPDX-License-Identifier: Apache-2.0 */
/* test_dial.c: pauses between tries, addresses that are refused, what a socket is told, sessions that are resumed, and
 * the client's state on disk. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "dial/certify.h"
#include "dial/dial.h"
#include "dial/tls.h"
#include "store/journal.h"
#include "wire/wire.h"

static void test_addresses(void **state) {
    (void)state;
    caucus_dial *dial = NULL;
    caucus_error error;
    caucus_dial_settings settings = {0};
    assert_int_equal(caucus_dial_new(&settings, &dial, &error), CAUCUS_OK);
    static const char *const wrong[] = {"192.0.2.1:7400", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:70000", ":", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_not_equal(caucus_dial_check(dial, wrong[i], &error), CAUCUS_OK);
        assert_string_equal(error.field, "connect");
    }
    assert_int_equal(caucus_dial_check(dial, "127.0.0.1:7400", &error), CAUCUS_OK);
    assert_int_equal(caucus_dial_index(dial), 0);
    assert_false(caucus_dial_is_open(dial));
    caucus_dial_free(dial);
}

/* The index of a certificate with these common names, each of `size` bytes (0: up to its end). */
static uint32_t index_of(const char *first, int size, int type, const char *second) {
    X509 *certificate = X509_new();
    assert_non_null(certificate);
    X509_NAME *name = X509_get_subject_name(certificate);
    assert_int_equal(
        X509_NAME_add_entry_by_NID(name, NID_organizationName, MBSTRING_ASC, (const uint8_t *)"7", -1, -1, 0), 1);
    if (first)
        assert_int_equal(X509_NAME_add_entry_by_NID(name, NID_commonName, type, (const uint8_t *)first,
                                                    size ? size : (int)strlen(first), -1, 0),
                         1);
    if (second)
        assert_int_equal(
            X509_NAME_add_entry_by_NID(name, NID_commonName, type, (const uint8_t *)second, (int)strlen(second), -1, 0),
            1);
    uint32_t index = caucus_tls_certificate_index(certificate);
    X509_free(certificate);
    return index;
}

/* What a certificate says, and nothing that looks like it: the client reads its own as the coordinator will. */
static void test_certificate_index(void **state) {
    (void)state;
    assert_int_equal(index_of("7", 0, MBSTRING_ASC, NULL), 7);
    assert_int_equal(index_of("99999999", 0, MBSTRING_ASC, NULL), 99999999);
    static const char *const wrong[] = {"0", "07", "123456789", "-1", "+1", " 7", "7 ", "7a", "0x7", "client-7"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(index_of(wrong[i], 0, MBSTRING_ASC, NULL), 0);
    assert_int_equal(index_of("7\0008", 3, V_ASN1_UTF8STRING, NULL), 0); /* what follows a zero byte counts */
    assert_int_equal(index_of("\0007", 2, V_ASN1_BMPSTRING, NULL), 0);
    assert_int_equal(index_of(NULL, 0, MBSTRING_ASC, NULL), 0);
    assert_int_equal(index_of("7", 0, MBSTRING_ASC, "8"), 0); /* two names are none */
    assert_int_equal(index_of("7", 0, MBSTRING_ASC, "7"), 0);
}

/* ---- a coordinator that greets and hangs up ---- */

#define VISITS 3

typedef struct greeter {
    int listener;
    uint16_t port;
    SSL_CTX *context; /* NULL: plain */
    uint8_t plan[32];
    _Atomic bool greeted[VISITS];
    bool resumed[VISITS];
    pthread_t thread;
} greeter;

static bool move_all(SSL *ssl, int fd, uint8_t *bytes, size_t size, bool out) {
    for (size_t done = 0; done < size;) {
        ssize_t n = ssl   ? (out ? SSL_write(ssl, bytes + done, (int)(size - done))
                                 : SSL_read(ssl, bytes + done, (int)(size - done)))
                    : out ? send(fd, bytes + done, size - done, MSG_NOSIGNAL)
                          : recv(fd, bytes + done, size - done, 0);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* One visit: HELLO, WELCOME, and the connection is cut without a word. */
static void *greet(void *user) {
    greeter *g = user;
    for (int visit = 0; visit < VISITS; visit++) {
        int fd = accept(g->listener, NULL, NULL);
        SSL *ssl = NULL;
        uint8_t head[4], body[256], bytes[512];
        bool ok =
            fd >= 0 &&
            (!g->context || (caucus_tls_server_open(g->context, fd, &ssl) == CAUCUS_OK && SSL_do_handshake(ssl) == 1));
        g->resumed[visit] = ssl && SSL_session_reused(ssl) == 1;
        caucus_frame welcome = {.kind = CAUCUS_FRAME_WELCOME, .version = CAUCUS_WIRE_VERSION, .deadline_ms = 1500};
        memcpy(welcome.plan, g->plan, sizeof welcome.plan);
        size_t size = caucus_wire_put(&welcome, bytes, sizeof bytes);
        ok = ok && move_all(ssl, fd, head, sizeof head, false) && head[0] <= 250 &&
             (head[1] | head[2] | head[3]) == 0 && move_all(ssl, fd, body, head[0], false) &&
             move_all(ssl, fd, bytes, size, true);
        g->greeted[visit] = ok;
        if (visit + 1 == VISITS && ok) /* the last one stays until the client goes */
            (void)!recv(fd, head, 1, 0);
        (void)shutdown(fd, SHUT_WR);
        SSL_free(ssl);
        (void)close(fd);
    }
    return NULL;
}

static void open_greeter(greeter *g, const uint8_t plan[32], SSL_CTX *context) {
    *g = (greeter){.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .context = context};
    memcpy(g->plan, plan, sizeof g->plan);
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof here;
    assert_int_equal(bind(g->listener, (struct sockaddr *)&here, sizeof here), 0);
    assert_int_equal(listen(g->listener, 5), 0);
    assert_int_equal(getsockname(g->listener, (struct sockaddr *)&here, &size), 0);
    g->port = ntohs(here.sin_port);
    assert_int_equal(pthread_create(&g->thread, NULL, greet, g), 0);
}

static caucus_plan *small_plan(void) {
    caucus_settings settings;
    caucus_plan *plan = NULL;
    caucus_settings_init(&settings);
    settings.clients = 2;
    settings.experts = 3;
    settings.rounds = 4;
    settings.trust = CAUCUS_TRUST_COORDINATOR;
    assert_int_equal(caucus_plan_new(&settings, &plan, NULL), CAUCUS_OK);
    return plan;
}

/* It dials a port that nobody listens on first, and is not kept by that from the right one. */
static caucus_link *small_link(const caucus_plan *plan, const uint8_t hash[32], const char *where) {
    caucus_key key;
    caucus_link *link = NULL;
    caucus_link_settings settings;
    const char *const address[] = {"127.0.0.1:1", where};
    caucus_key_from_seed(1, &key);
    caucus_link_settings_init(&settings);
    settings.plan = plan;
    settings.plan_hash = hash;
    settings.index = 1;
    settings.key = &key;
    settings.address = address;
    settings.addresses = 2;
    assert_int_equal(caucus_link_new(&settings, &link, NULL), CAUCUS_OK);
    return link;
}

static void step(caucus_dial *dial, caucus_link *link) {
    bool awake;
    caucus_error error = {0};
    if (caucus_dial_step(dial, link, -1, 20, &awake, &error) != CAUCUS_OK)
        fail_msg("%s %s", error.field, error.text);
}

/* This process's end of the connection to a port. */
static int socket_to(uint16_t port) {
    for (int fd = 3; fd < 256; fd++) {
        struct sockaddr_in peer;
        socklen_t size = sizeof peer;
        if (getpeername(fd, (struct sockaddr *)&peer, &size) == 0 && ntohs(peer.sin_port) == port)
            return fd;
    }
    return -1;
}

static int option_of(int fd, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, name, &value, &size), 0);
    return value;
}

/* A host that vanished is noticed within half a minute or so, whether something is under way or not; a connection that
 * is dropped on purpose is dialled again; the deadline of WELCOME is known. */
static void test_socket(void **state) {
    (void)state;
    const uint8_t hash[32] = {1, 2, 3};
    greeter g;
    caucus_plan *plan = small_plan();
    caucus_dial *dial = NULL;
    char where[32];
    open_greeter(&g, hash, NULL);
    snprintf(where, sizeof where, "127.0.0.1:%u", (unsigned)g.port);
    caucus_link *link = small_link(plan, hash, where);
    caucus_dial_settings settings = {0};
    assert_int_equal(caucus_dial_new(&settings, &dial, NULL), CAUCUS_OK);
    assert_int_equal(caucus_link_deadline_ms(link), 0);
    while (socket_to(g.port) < 0)
        step(dial, link);
    int fd = socket_to(g.port);
    assert_int_equal(option_of(fd, TCP_USER_TIMEOUT), 30000);
    assert_in_range(option_of(fd, TCP_KEEPIDLE) + option_of(fd, TCP_KEEPINTVL) * option_of(fd, TCP_KEEPCNT), 1, 30);
    int on = 0;
    socklen_t size = sizeof on;
    assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, &size), 0);
    assert_int_equal(on, 1);
    while (!g.greeted[VISITS - 1] || caucus_link_deadline_ms(link) == 0)
        step(dial, link);
    assert_int_equal(caucus_link_deadline_ms(link), 1500);
    assert_false(caucus_link_awaits(link));           /* nothing was announced yet */
    caucus_dial_drop(dial, link, &(caucus_error){0}); /* the last visit lasts until the client goes */
    assert_false(caucus_dial_is_open(dial));
    pthread_join(g.thread, NULL);
    caucus_dial_free(dial);
    caucus_link_free(link);
    caucus_plan_free(plan);
    close(g.listener);
}

static void keep_notice(void *user, const char *line) {
    (void)snprintf(user, 512, "%s", line);
}

/* The same misfortune is not said every time, nor only once for ever: now and then, with how often it was. */
static void test_notices(void **state) {
    (void)state;
    const uint8_t hash[32] = {1, 2, 3};
    char line[512] = "";
    caucus_plan *plan = small_plan();
    caucus_link *link = small_link(plan, hash, "127.0.0.1:1");
    caucus_dial *dial = NULL;
    caucus_dial_settings settings = {.notice = keep_notice, .user = line, .repeat_ms = 1000};
    assert_int_equal(caucus_dial_new(&settings, &dial, NULL), CAUCUS_OK);
    while (line[0] == '\0')
        step(dial, link);
    assert_non_null(strstr(line, "Connection refused — trying again in "));
    while (strstr(line, " times since this was last said) — trying again in ") == NULL)
        step(dial, link);
    caucus_dial_free(dial);
    caucus_link_free(link);
    caucus_plan_free(plan);
}

/* A client that comes again brings its ticket: the handshake of a fleet is what a coordinator's restart costs. */
static void test_resumption(void **state) {
    (void)state;
    const uint8_t hash[32] = {1, 2, 3};
    char dir[] = "/tmp/caucus-dial-XXXXXX", path[6][96], where[32];
    assert_non_null(mkdtemp(dir));
    static const char *const name[6] = {"coordinator.pem", "coordinator.key", "ca.pem",
                                        "client-1.pem",    "client-1.key",    "certs"};
    for (size_t i = 0; i < 6; i++)
        snprintf(path[i], sizeof path[i], i < 5 ? "%s/certs/%s" : "%s/%s", dir, name[i]);
    caucus_certify_settings certify = {.dir = path[5], .clients = 1, .days = 1};
    caucus_error error = {0};
    SSL_CTX *context = NULL;
    if (caucus_certify(&certify, &error) != CAUCUS_OK ||
        caucus_tls_server_new(path[0], path[1], path[2], &context, &error) != CAUCUS_OK)
        fail_msg("%s %s", error.field, error.text);
    greeter g;
    caucus_plan *plan = small_plan();
    caucus_dial *dial = NULL;
    open_greeter(&g, hash, context);
    snprintf(where, sizeof where, "127.0.0.1:%u", (unsigned)g.port);
    caucus_link *link = small_link(plan, hash, where);
    caucus_dial_settings settings = {.cert = path[3], .key = path[4], .ca = path[2]};
    assert_int_equal(caucus_dial_new(&settings, &dial, &error), CAUCUS_OK);
    assert_int_equal(caucus_dial_index(dial), 1);
    while (!g.greeted[VISITS - 1])
        step(dial, link);
    caucus_dial_finish(dial, link, 0);
    pthread_join(g.thread, NULL);
    for (int visit = 0; visit < VISITS; visit++)
        assert_int_equal(g.resumed[visit], visit > 0);
    caucus_dial_free(dial);
    caucus_link_free(link);
    caucus_plan_free(plan);
    SSL_CTX_free(context);
    close(g.listener);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(unlink(path[i]), 0);
    assert_int_equal(rmdir(path[5]), 0);
    assert_int_equal(rmdir(dir), 0);
}

static void test_journal(void **state) {
    (void)state;
    char directory[] = "/tmp/caucus-journal-XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/state", directory);
    caucus_journal *journal = NULL, *second = NULL;
    caucus_error error;
    uint8_t *bytes = NULL;
    size_t size = 1;
    assert_int_equal(caucus_journal_open(path, &journal, &error), CAUCUS_OK);
    assert_int_equal(caucus_journal_open(path, &second, &error), CAUCUS_E_BUSY);
    assert_int_equal(caucus_journal_read(journal, &bytes, &size, &error), CAUCUS_OK);
    assert_null(bytes);
    assert_int_equal(size, 0);
    for (uint8_t n = 1; n < 20; n++) {
        uint8_t text[64];
        memset(text, n, sizeof text);
        assert_true(caucus_journal_write(journal, text, n));
        assert_int_equal(caucus_journal_read(journal, &bytes, &size, &error), CAUCUS_OK);
        assert_int_equal(size, n);
        assert_memory_equal(bytes, text, n);
        free(bytes);
    }
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    /* What cannot be written leaves the last state as it was. */
    char blocked[80], inside[96];
    snprintf(blocked, sizeof blocked, "%s.draft", path);
    snprintf(inside, sizeof inside, "%s/in-the-way", blocked);
    assert_int_equal(mkdir(blocked, 0700), 0);
    assert_int_equal(mkdir(inside, 0700), 0);
    assert_false(caucus_journal_write(journal, (const uint8_t *)"new", 3));
    assert_int_not_equal(caucus_journal_errno(journal), 0);
    assert_int_equal(caucus_journal_read(journal, &bytes, &size, &error), CAUCUS_OK);
    assert_int_equal(size, 19);
    free(bytes);
    rmdir(inside);
    rmdir(blocked);
    caucus_journal_close(journal);
    assert_int_equal(caucus_journal_open(path, &journal, &error), CAUCUS_OK); /* the lock went with it */
    caucus_journal_close(journal);
    assert_int_equal(truncate(path, 0), 0); /* an empty file is no state: it must not be taken for a new client */
    assert_int_equal(caucus_journal_open(path, &journal, &error), CAUCUS_OK);
    assert_int_equal(caucus_journal_read(journal, &bytes, &size, &error), CAUCUS_E_FORMAT);
    caucus_journal_close(journal);
    unlink(path);
    assert_int_equal(rmdir(directory), 0); /* no lock is left */
    assert_int_equal(caucus_journal_open("/nonexistent/state", &journal, &error), CAUCUS_E_PATH);
}

/* FILE.lock can be removed, by hand or by something that tidies up: that opens nothing. */
static void test_journal_without_its_lock(void **state) {
    (void)state;
    char directory[] = "/tmp/caucus-journal-XXXXXX", path[64], lock[72], other[72];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/state", directory);
    snprintf(lock, sizeof lock, "%s.lock", path);
    snprintf(other, sizeof other, "%s.other", path);
    caucus_journal *journal = NULL, *second = NULL;
    caucus_error error = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    /* Before there is a state two may begin; who writes first has it, and the other one's stays unwritten. */
    assert_int_equal(caucus_journal_open(path, &journal, &error), CAUCUS_OK);
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(caucus_journal_open(path, &second, &error), CAUCUS_OK);
    assert_true(caucus_journal_write(journal, (const uint8_t *)"first", 5));
    assert_false(caucus_journal_write(second, (const uint8_t *)"second", 6));
    assert_int_equal(caucus_journal_errno(second), EBUSY);
    caucus_journal_close(second);
    /* From then on nobody gets in, however often it is written. */
    for (int i = 0; i < 3; i++) {
        (void)unlink(lock);
        assert_int_equal(caucus_journal_open(path, &second, &error), CAUCUS_E_BUSY);
        assert_non_null(strstr(error.text, "another process uses it"));
        assert_true(caucus_journal_write(journal, (const uint8_t *)"again", 5));
    }
    /* A state that somebody has put in its place is not replaced; one that was removed is written anew. */
    assert_int_equal(link(path, other), 0);
    assert_int_equal(unlink(path), 0);
    assert_true(caucus_journal_write(journal, (const uint8_t *)"third", 5));
    assert_int_equal(rename(other, path), 0);
    assert_false(caucus_journal_write(journal, (const uint8_t *)"fourth", 6));
    assert_int_equal(caucus_journal_errno(journal), EBUSY);
    caucus_journal_close(journal);
    assert_int_equal(caucus_journal_open(path, &journal, &error), CAUCUS_OK);
    assert_int_equal(caucus_journal_read(journal, &bytes, &size, &error), CAUCUS_OK);
    assert_true(size == 5 && memcmp(bytes, "again", 5) == 0);
    free(bytes);
    caucus_journal_close(journal);
    /* A link to a state is read, and a file takes its place, as ever. */
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(caucus_journal_open(path, &journal, &error), CAUCUS_OK);
    assert_true(caucus_journal_write(journal, (const uint8_t *)"fifth", 5));
    assert_true(caucus_journal_write(journal, (const uint8_t *)"sixth", 5));
    caucus_journal_close(journal);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(other), 0);
    (void)unlink(lock);
    assert_int_equal(rmdir(directory), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_addresses),
                                       cmocka_unit_test(test_certificate_index),
                                       cmocka_unit_test(test_socket),
                                       cmocka_unit_test(test_notices),
                                       cmocka_unit_test(test_resumption),
                                       cmocka_unit_test(test_journal),
                                       cmocka_unit_test(test_journal_without_its_lock)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
