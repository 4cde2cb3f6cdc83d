/* SPDX-License-Identifier: Apache-2.0 */
/* link_client.c: a client of a live federation inside your own program: your event loop, your TLS, your storage.
 *
 * `caucus join` is a client for the shell. A device that measures losses itself embeds the link instead
 * (include/caucus/link.h): it takes losses and bytes and gives an expert and bytes, opens no socket and reads no clock.
 * This program is all that is left to write: a poll() loop, TLS 1.3 with this client's certificate, and a file for what
 * must survive a restart. Losses come from standard input, one line of numbers per round, where a real device would
 * measure them; the expert to play is printed before each line is read.
 *
 * Compile against an installed caucus:  cc link_client.c $(pkg-config --cflags --libs caucus-link openssl)
 * Run beside `caucus serve`:            ./a.out plan.yaml 2 certs/client-2.pem certs/client-2.key certs/ca.pem \
 *                                           state-2 127.0.0.1:7400 <losses.txt
 * Several addresses may be given: the link tries them in turn. */
#define _POSIX_C_SOURCE 200809L
#include <caucus/caucus.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The link wants the time from us: milliseconds that never go back. */
static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int failed(const char *what, const caucus_error *error) {
    fprintf(stderr, "link_client: %s: %s%s%s\n", what, error->field, error->field[0] ? ": " : "", error->text);
    return 1;
}

/* ---- 1. What must survive a restart ----
 *
 * The link calls this before it hands out a byte that depends on what it saves: a noisy report must never be drawn a
 * second time. So the answer must be true. The bytes hold this client's sums: nobody else may read them. */
static bool save_state(void *user, const uint8_t *bytes, size_t size) {
    const char *path = user;
    char draft[PATH_MAX], folder[PATH_MAX];
    if (snprintf(draft, sizeof draft, "%s.new", path) >= (int)sizeof draft)
        return false;
    int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0;
    for (size_t done = 0; ok && done < size;) {
        ssize_t n = write(fd, bytes + done, size - done);
        ok = n > 0 || (n < 0 && errno == EINTR);
        done += n > 0 ? (size_t)n : 0;
    }
    ok = ok && fsync(fd) == 0; /* the bytes, before the name points at them */
    if (fd >= 0)
        ok = close(fd) == 0 && ok;
    ok = ok && rename(draft, path) == 0;
    (void)snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    (void)snprintf(slash ? slash + 1 : folder, 2, ".");
    int dir = ok ? open(folder, O_RDONLY | O_CLOEXEC) : -1;
    ok = dir >= 0 && fsync(dir) == 0; /* and the name */
    if (dir >= 0)
        (void)close(dir);
    return ok;
}

/* The state of an earlier run of this program, if there is one. */
static bool load_state(const char *path, uint8_t **ret, size_t *ret_size) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return errno == ENOENT;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    uint8_t *bytes = size > 0 ? malloc((size_t)size) : NULL;
    bool ok = bytes && fseek(file, 0, SEEK_SET) == 0 && fread(bytes, 1, (size_t)size, file) == (size_t)size;
    (void)fclose(file);
    if (!ok) {
        free(bytes);
        return false;
    }
    *ret = bytes;
    *ret_size = (size_t)size;
    return true;
}

/* ---- 2. A connection ---- */

typedef struct connection {
    SSL_CTX *tls;
    SSL *ssl;
    int fd;          /* -1: none */
    bool reached;    /* connect() has ended */
    bool shaken;     /* and so has the handshake: the link knows of the connection */
    bool want_write; /* TLS waits for room in the socket */
} connection;

/* TLS 1.3 and nothing older, with a certificate on both sides: the coordinator knows a client by the common name of its
 * certificate, and the client must not tell its sums to anybody else who happens to answer. */
static SSL_CTX *make_tls(const char *cert, const char *key, const char *ca) {
    SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
    if (tls && SSL_CTX_set_min_proto_version(tls, TLS1_3_VERSION) == 1 &&
        SSL_CTX_use_certificate_chain_file(tls, cert) == 1 &&
        SSL_CTX_use_PrivateKey_file(tls, key, SSL_FILETYPE_PEM) == 1 &&
        SSL_CTX_load_verify_locations(tls, ca, NULL) == 1) {
        SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, NULL);
        SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        return tls;
    }
    ERR_print_errors_fp(stderr);
    SSL_CTX_free(tls);
    return NULL;
}

static void hang_up(connection *c, caucus_link *link) {
    SSL_free(c->ssl);
    c->ssl = NULL;
    if (c->fd >= 0)
        (void)close(c->fd);
    c->fd = -1;
    c->reached = c->shaken = c->want_write = false;
    caucus_link_disconnected(link, now_ms()); /* from here on it counts the pause before the next attempt */
}

/* Begin to dial "host:port". The link says when, and which address; if this fails it says so again, later. */
static bool dial(connection *c, const char *address) {
    char host[256];
    const char *colon = strrchr(address, ':');
    if (!colon || (size_t)(colon - address) >= sizeof host)
        return false;
    (void)snprintf(host, sizeof host, "%.*s", (int)(colon - address), address);
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = NULL;
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0)
        return false;
    c->fd = socket(found->ai_family, found->ai_socktype, found->ai_protocol);
    bool ok = c->fd >= 0 && fcntl(c->fd, F_SETFL, O_NONBLOCK) == 0 && fcntl(c->fd, F_SETFD, FD_CLOEXEC) == 0 &&
              (connect(c->fd, found->ai_addr, found->ai_addrlen) == 0 || errno == EINPROGRESS);
    freeaddrinfo(found);
    c->ssl = ok ? SSL_new(c->tls) : NULL;
    if (!c->ssl || SSL_set_fd(c->ssl, c->fd) != 1)
        return false;
    SSL_set_connect_state(c->ssl);
    /* The certificate at the other end must be for what we dialled, a number or a name. */
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(c->ssl), host) == 1)
        return true;
    ERR_clear_error();
    return SSL_set1_host(c->ssl, host) == 1 && SSL_set_tlsext_host_name(c->ssl, host) == 1;
}

/* One side does not accept the other's certificate: coming again to this address cannot help; the link should know. */
static bool refused_for_good(const SSL *ssl) {
    int reason = ERR_GET_REASON(ERR_peek_error()); /* OpenSSL gives an alert as 1000 + its number */
    return SSL_get_verify_result(ssl) != X509_V_OK || (reason >= 1042 && reason <= 1048) || reason == 1116;
}

/* After a TLS call that did not do what it was asked: false if the connection is lost. */
static bool try_later(connection *c, caucus_link *link, int result) {
    int why = SSL_get_error(c->ssl, result);
    c->want_write = why == SSL_ERROR_WANT_WRITE;
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
        return true;
    if (why == SSL_ERROR_SSL && refused_for_good(c->ssl))
        caucus_link_refuse(link);
    ERR_clear_error();
    return false;
}

/* Do what the socket allows: shake hands, hand bytes to the link, take bytes from it. False: the connection is lost. */
static bool move_bytes(connection *c, caucus_link *link, caucus_error *error) {
    c->want_write = false;
    ERR_clear_error();
    if (!c->reached) {
        struct pollfd one = {.fd = c->fd, .events = POLLOUT};
        int wrong = 0;
        socklen_t size = sizeof wrong;
        if (poll(&one, 1, 0) < 1)
            return true;
        if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &wrong, &size) != 0 || wrong != 0)
            return false;
        c->reached = true;
    }
    if (!c->shaken) {
        int result = SSL_do_handshake(c->ssl);
        if (result != 1)
            return try_later(c, link, result);
        c->shaken = true;
        caucus_link_connected(link, now_ms()); /* it has a greeting to send now, and whatever was not counted yet */
    }
    uint8_t buffer[16384];
    while (caucus_link_wants(link)) { /* not while announcements are far ahead of our losses */
        int n = SSL_read(c->ssl, buffer, sizeof buffer);
        if (n <= 0) {
            if (!try_later(c, link, n))
                return false;
            break;
        }
        if (caucus_link_receive(link, buffer, (size_t)n, error) != CAUCUS_OK) {
            failed("the coordinator", error);
            return false; /* the link remembers what this says about the address */
        }
    }
    size_t size = 0;
    const uint8_t *bytes;
    while ((bytes = caucus_link_to_send(link, &size)) != NULL) {
        int n = SSL_write(c->ssl, bytes, size > INT_MAX ? INT_MAX : (int)size);
        if (n <= 0)
            return try_later(c, link, n);
        caucus_link_sent(link, (size_t)n);
    }
    return true;
}

/* ---- 3. Losses ---- */

/* One line of d numbers, separated by blanks or commas. Here you would measure instead. */
static bool read_losses(double *ret, uint32_t d) {
    static char *line;
    static size_t room;
    if (getline(&line, &room, stdin) < 0)
        return false;
    char *at = line;
    for (uint32_t y = 0; y < d; y++) {
        char *end;
        ret[y] = strtod(at, &end);
        if (end == at)
            return false;
        at = end + strspn(end, ", \t");
    }
    return true;
}

/* Play the rounds that can be played now: an expert is in force, and its losses are asked for. */
static bool play(caucus_link *link, connection *c, double *row, uint32_t d) {
    while (caucus_link_ready(link)) {
        printf("%u\n", (unsigned)caucus_link_expert(link)); /* what this device uses in this round */
        if (!read_losses(row, d)) {
            fprintf(stderr, "link_client: no losses for round %llu\n", (unsigned long long)caucus_link_round(link) + 1);
            return false;
        }
        caucus_error error = {0};
        caucus_status status = caucus_link_observe(link, row, &error);
        if (status == CAUCUS_OK)
            continue;
        failed("after the round", &error);
        if (status == CAUCUS_E_SAVE) /* nothing more may leave: end here, and go on from the last state later */
            return false;
        hang_up(c, link); /* an announcement that waited for this round was none that a coordinator makes */
    }
    return true;
}

/* ---- 4. The loop ---- */

static int run(caucus_link *link, connection *c, double *row, uint32_t d) {
    caucus_error error = {0};
    while (!caucus_link_done(link)) {
        if (!play(link, c, row, d))
            return 1;
        if (caucus_link_refused(link)) {
            fprintf(stderr, "link_client: every address has refused this client for good\n");
            return 3;
        }
        /* The link holds the addresses. It gives one when it is time to dial, and never one that refused for good. */
        const char *address = caucus_link_next_address(link, now_ms());
        if (address && !dial(c, address))
            hang_up(c, link);
        if (c->fd >= 0 && !move_bytes(c, link, &error))
            hang_up(c, link);
        /* A connection that does not come about, or brings no announcement after the coordinator's own deadline, is not
         * believed in any more. */
        if (c->fd >= 0 && caucus_link_timeout(link, now_ms()) != CAUCUS_LINK_IN_TIME)
            hang_up(c, link);
        if (caucus_link_done(link) || caucus_link_ready(link))
            continue;
        /* Sleep until the socket has something or the link wants to be asked again. Your own files go here, too. */
        short events = (short)((c->want_write || !c->reached ? POLLOUT : 0) | (c->shaken || c->reached ? POLLIN : 0));
        struct pollfd one = {.fd = c->fd, .events = events}; /* -1 is ignored by poll() */
        int64_t wait = caucus_link_wait_ms(link, now_ms());
        (void)poll(&one, 1, wait < 0 || wait > 60000 ? 60000 : (int)wait);
    }
    return 0;
}

/* Go in good order: save the state once more, and say goodbye, for two seconds at most. */
static void leave(caucus_link *link, connection *c) {
    caucus_error error = {0};
    if (caucus_link_leave(link, caucus_link_done(link) ? "done" : "failed", &error) != CAUCUS_OK)
        failed("the state", &error);
    size_t size = 0;
    for (int64_t end = now_ms() + 2000; c->shaken && caucus_link_to_send(link, &size) && now_ms() < end;) {
        if (!move_bytes(c, link, &error))
            break;
        struct pollfd one = {.fd = c->fd, .events = POLLOUT};
        (void)poll(&one, 1, 50);
    }
    if (c->shaken)
        (void)SSL_shutdown(c->ssl);
    hang_up(c, link);
}

int main(int argc, char **argv) {
    if (argc < 8) {
        fprintf(stderr, "usage: %s PLAN CLIENT CERT KEY CA STATE HOST:PORT...  <losses\n", argv[0]);
        return 2;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    caucus_error error = {0};
    /* The plan is the coordinator's; a client with another one is refused, by a hash of all of it. */
    caucus_plan *plan = NULL;
    if (caucus_plan_file_read(argv[1], &plan, &error) != CAUCUS_OK)
        return failed(argv[1], &error);
    /* This client knows the losses of all experts in rounds that everybody plays. Where a plan says `evaluate`, a line
     * holds those of the experts that caucus_link_evaluate() names; at its own pace a client also says when a slot of
     * its clock begins, caucus_link_slot(). */
    if (caucus_plan_evaluate(plan) < caucus_plan_experts(plan) || caucus_plan_settings(plan)->pace == CAUCUS_PACE_OWN) {
        fprintf(stderr, "link_client: %s: evaluate or pace own, which this example does not play\n", argv[1]);
        caucus_plan_free(plan);
        return 2;
    }
    /* A key from the operating system makes the noise that this client adds private (where the plan asks for any). */
    caucus_key key;
    if (caucus_key_generate(&key) != CAUCUS_OK)
        return 1;
    uint8_t *state = NULL;
    size_t state_bytes = 0;
    if (!load_state(argv[6], &state, &state_bytes)) {
        fprintf(stderr, "link_client: %s cannot be read\n", argv[6]);
        return 1;
    }
    caucus_link_settings settings;
    caucus_link_settings_init(&settings);
    settings.plan = plan;
    settings.index = (uint32_t)strtoul(argv[2], NULL, 10);
    settings.key = &key;
    settings.state = state;
    settings.state_bytes = state_bytes;
    settings.save = save_state;
    settings.user = argv[6];
    settings.address = (const char *const *)argv + 7;
    settings.addresses = (size_t)argc - 7;
    caucus_link *link = NULL;
    caucus_status status = caucus_link_new(&settings, &link, &error);
    caucus_key_wipe(&key); /* the link has its own copy, and wipes it */
    free(state);
    uint32_t d = caucus_plan_experts(plan);
    double *row = calloc(d, sizeof *row);
    connection c = {.tls = make_tls(argv[3], argv[4], argv[5]), .fd = -1};
    int code = 1;
    if (status != CAUCUS_OK) {
        failed("this client", &error);
    } else if (row && c.tls) {
        for (uint64_t played = 0; played < caucus_link_round(link); played++)
            (void)!read_losses(row, d); /* after a restart: rounds that were played before */
        code = run(link, &c, row, d);
        leave(link, &c);
    }
    if (code == 0)
        fprintf(stderr, "link_client: %llu rounds, all reports counted\n", (unsigned long long)caucus_link_round(link));
    free(row);
    caucus_link_free(link);
    caucus_plan_free(plan);
    SSL_CTX_free(c.tls);
    return code;
}
