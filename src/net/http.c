/* SPDX-License-Identifier: Apache-2.0 */
/* http.c: the second port: who may ask, and which text answers.
 *
 * libmicrohttpd runs one thread; every text is made in it, from a view taken at most once per VIEW_MS so that no number
 * of readers can hold up the coordinator. Where nobody asks, a second thread takes one every LOOK_MS. Requests are
 * never logged: not their address, not their path, not their headers. On loopback without a token the Host header must
 * name the loopback too: a page of another site that points its own name at 127.0.0.1 (DNS rebinding) is not
 * answered. */
#define _GNU_SOURCE /* fopencookie */
#include "net/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "dial/address.h"
#include "net/http_view.h"
#include "num/number_text.h"
#include "num/text.h"
#include "store/clock.h"

#define VIEW_MS 100        /* a view is shared by all requests within this time */
#define VIEW_WAIT_MS 100   /* so long a request waits for a decision that is being committed */
#define CONNECTIONS 64     /* at once; a further one takes the place of the one that has waited longest */
#define PLACES 256         /* libmicrohttpd's: those that are being closed count there until they are */
#define TIMEOUT_SECONDS 10 /* nothing has come or gone for so long: libmicrohttpd ends it */
#define REQUEST_MS 5000    /* from connecting, or from the answer before, until a request is answered in full */
#define SWEEP_MS 250       /* how often that is looked at */
#define LOOK_MS 1000 /* a view is taken at least so often, for the last hour and for when clients were last seen */
#define REQUEST_BYTES 16384 /* request line and headers; libmicrohttpd answers 414 or 431 beyond it */
#define BACKLOG 64

extern const char caucus_web_app_js[];
extern const unsigned long caucus_web_app_js_length;
extern const char caucus_web_style_css[];
extern const unsigned long caucus_web_style_css_length;
extern const char caucus_web_icon_svg[];
extern const unsigned long caucus_web_icon_svg_length;

/* A connection, in the order of libmicrohttpd's calls. Its socket is open from "started" until after "closed". */
typedef struct visitor {
    int fd; /* -1: the place is free */
    bool shut;
    int64_t since_ms;
} visitor;

struct caucus_http {
    struct MHD_Daemon *daemon;
    pthread_mutex_t lock; /* of the visitors */
    visitor visitor[PLACES];
    pthread_t sweeper;
    bool sweeping;
    int done;                  /* eventfd: the sweeper ends */
    pthread_mutex_t view_lock; /* of the view and its times */
    caucus_view view;
    const caucus_http_texts *texts; /* NULL: they are made of the view; under view_lock, too */
    int64_t view_ms;                /* when it was taken; below 0: never */
    int64_t busy_ms;                /* since when it could not be taken; below 0: it could */
    int64_t tried_ms;
    uint16_t port;
    atomic_bool shown; /* somebody has been sent the whole page */
    bool token_wanted;
    unsigned char token_hash[crypto_generichash_BYTES];
};

/* Under view_lock. */
static void refresh(caucus_http *http) {
    int64_t now = caucus_clock_ms();
    if (http->texts) /* which are made anew each time */
        http->view_ms = now;
    if (http->texts || (http->tried_ms >= 0 && now - http->tried_ms < VIEW_MS))
        return;
    if (caucus_view_refresh(&http->view, VIEW_WAIT_MS)) {
        http->view_ms = now;
        http->busy_ms = -1;
    } else if (http->busy_ms < 0) {
        http->busy_ms = now;
    }
    http->tried_ms = caucus_clock_ms();
}

/* Hashes are compared, in constant time: neither the token nor its length shows in how long it takes. */
static void hash_token(const char *token, unsigned char ret[crypto_generichash_BYTES]) {
    (void)crypto_generichash(ret, crypto_generichash_BYTES, (const unsigned char *)token, strlen(token), NULL, 0);
}

static bool token_right(const caucus_http *http, struct MHD_Connection *connection) {
    const char *given = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
    if (!given || strncasecmp(given, "Bearer ", 7) != 0)
        return false;
    unsigned char hash[crypto_generichash_BYTES];
    hash_token(given + 7, hash);
    return sodium_memcmp(hash, http->token_hash, sizeof hash) == 0;
}

/* The host part of "host", "host:port" or "[v6]:port" is a name of the loopback. */
static bool host_is_loopback(const char *host) {
    if (!host)
        return true; /* HTTP/1.0 by hand; browsers always send it */
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncasecmp(host, names[i], length) == 0 && (host[length] == 0 || host[length] == ':'))
            return true;
    }
    return strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.:") == strlen(host);
}

static enum MHD_Result queue(struct MHD_Connection *connection, unsigned code, const char *type,
                             struct MHD_Response *response) {
    static const char *const headers[][2] = {
        {"Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cache-Control", "no-store"},
    };
    if (!response)
        return MHD_NO;
    enum MHD_Result ok = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    for (size_t i = 0; ok == MHD_YES && i < sizeof headers / sizeof *headers; i++)
        ok = MHD_add_response_header(response, headers[i][0], headers[i][1]);
    if (ok == MHD_YES && code == MHD_HTTP_UNAUTHORIZED)
        ok = MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"caucus\"");
    if (ok == MHD_YES && code == MHD_HTTP_METHOD_NOT_ALLOWED)
        ok = MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    if (ok == MHD_YES)
        ok = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return ok;
}

/* A text that lives as long as the program. MHD takes it as void *, and does not write to it. */
static enum MHD_Result answer_constant(struct MHD_Connection *connection, unsigned code, const char *type,
                                       const char *text, size_t length) {
    union {
        const char *in;
        void *out;
    } bytes = {.in = text};
    return queue(connection, code, type, MHD_create_response_from_buffer(length, bytes.out, MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result answer_words(struct MHD_Connection *connection, unsigned code, const char *text) {
    return answer_constant(connection, code, "text/plain; charset=utf-8", text, strlen(text));
}

typedef unsigned (*caucus_writer)(const caucus_http *http, FILE *to); /* returns the status code */

/* A text of `texts`; NULL: the coordinator's. */
static unsigned write_text(const caucus_http *http, FILE *to, void (*text)(void *user, FILE *to),
                           void (*coordinators)(const caucus_view *view, FILE *to)) {
    if (text)
        text(http->texts->user, to);
    else
        coordinators(&http->view, to);
    return MHD_HTTP_OK;
}
static unsigned write_json(const caucus_http *http, FILE *to) {
    if (http->texts && !http->texts->json) {
        (void)fputs("there are /, /metrics, /livez and /readyz\n", to);
        return MHD_HTTP_NOT_FOUND;
    }
    return write_text(http, to, http->texts ? http->texts->json : NULL, caucus_view_json);
}
static unsigned write_metrics(const caucus_http *http, FILE *to) {
    return write_text(http, to, http->texts ? http->texts->metrics : NULL, caucus_view_metrics);
}
static unsigned write_page(const caucus_http *http, FILE *to) {
    return write_text(http, to, http->texts ? http->texts->page : NULL, caucus_view_page);
}
static unsigned write_ready(const caucus_http *http, FILE *to) {
    const bool ready = http->texts ? http->texts->ready(http->texts->user, to) : caucus_view_health(&http->view, to);
    return ready ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
}

/* Standard output functions onto a text that grows. 0 is how a cookie says that nothing could be written. */
static ssize_t append(void *user, const char *bytes, size_t size) {
    caucus_text *text = user;
    caucus_text_put(text, bytes, size);
    return text->failed ? 0 : (ssize_t)size;
}

/* Under view_lock. */
static enum MHD_Result answer_locked(caucus_http *http, struct MHD_Connection *connection, const char *type,
                                     caucus_writer writer) {
    refresh(http);
    if (http->view_ms < 0 || (writer == write_ready && http->busy_ms >= 0))
        return answer_words(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                            "busy: one decision is being committed for longer than usual: look at the disk\n");
    caucus_text text = {0};
    FILE *to = fopencookie(&text, "w", (cookie_io_functions_t){.write = append});
    if (!to)
        return answer_words(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory\n");
    unsigned code = writer(http, to);
    bool whole = !ferror(to);
    if (fclose(to) != 0 || !whole) {
        caucus_text_free(&text);
        return answer_words(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory\n");
    }
    struct MHD_Response *response = MHD_create_response_from_buffer(text.length, text.data, MHD_RESPMEM_MUST_FREE);
    if (!response)
        caucus_text_free(&text);
    return queue(connection, code, type, response);
}

/* /?clients=7001: where the page has a square for many clients, those from 7001 on stand below them one by one. */
static uint32_t wanted_from(struct MHD_Connection *connection) {
    const char *said = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "clients");
    uint64_t from = 0;
    return said && caucus_whole_parse(said, 1, UINT32_MAX, &from) ? (uint32_t)from : 0;
}

static enum MHD_Result answer_view(caucus_http *http, struct MHD_Connection *connection, const char *type,
                                   caucus_writer writer) {
    const uint32_t from = wanted_from(connection);
    pthread_mutex_lock(&http->view_lock);
    http->view.from = from;
    const enum MHD_Result result = answer_locked(http, connection, type, writer);
    pthread_mutex_unlock(&http->view_lock);
    return result;
}

static enum MHD_Result route(caucus_http *http, struct MHD_Connection *connection, const char *path) {
    if (strcmp(path, "/") == 0)
        return answer_view(http, connection, "text/html; charset=utf-8", write_page);
    if (strcmp(path, "/api/v1/status") == 0)
        return answer_view(http, connection, "application/json", write_json);
    if (strcmp(path, "/metrics") == 0)
        return answer_view(http, connection, "text/plain; version=0.0.4; charset=utf-8", write_metrics);
    if (strcmp(path, "/livez") == 0) /* nothing is waited for: it says that this process answers, and no more */
        return answer_words(connection, MHD_HTTP_OK, "ok\n");
    if (strcmp(path, "/readyz") == 0 || strcmp(path, "/healthz") == 0)
        return answer_view(http, connection, "text/plain; charset=utf-8", write_ready);
    if (strcmp(path, "/app.js") == 0)
        return answer_constant(connection, MHD_HTTP_OK, "text/javascript; charset=utf-8", caucus_web_app_js,
                               caucus_web_app_js_length);
    if (strcmp(path, "/style.css") == 0)
        return answer_constant(connection, MHD_HTTP_OK, "text/css; charset=utf-8", caucus_web_style_css,
                               caucus_web_style_css_length);
    if (strcmp(path, "/icon.svg") == 0)
        return answer_constant(connection, MHD_HTTP_OK, "image/svg+xml", caucus_web_icon_svg,
                               caucus_web_icon_svg_length);
    return answer_words(connection, MHD_HTTP_NOT_FOUND, "there are /, /api/v1/status, /metrics, /livez and /readyz\n");
}

/* Called once when the headers are in, and again when the request is whole. A body is refused unread. */
static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *path, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **state) {
    (void)version;
    (void)upload;
    (void)upload_size;
    caucus_http *http = user;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return answer_words(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING) ||
        (length && strcmp(length, "0") != 0))
        return answer_words(connection, MHD_HTTP_BAD_REQUEST, "a request here has no body\n");
    if (!*state) {
        *state = http;
        return MHD_YES;
    }
    if (http->token_wanted && !token_right(http, connection))
        return answer_words(connection, MHD_HTTP_UNAUTHORIZED, "send: Authorization: Bearer TOKEN\n");
    if (!http->token_wanted &&
        !host_is_loopback(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)))
        return answer_words(connection, MHD_HTTP_MISDIRECTED_REQUEST, "ask for localhost, or use a token\n");
    if (strcmp(path, "/") == 0)
        *state = &http->shown; /* for completed() */
    return route(http, connection, path);
}

/* ---- who takes too long ---- */

/* libmicrohttpd's timeout starts again with every byte, so that a few connections that send one now and then would keep
 * everybody else out for ever. Here each request has a time of its own, whatever trickles in; and where all places are
 * taken a newcomer gets one at once, that of the connection which has waited longest. Whoever holds places by being
 * slow (and a probe is not: it asks and goes) gives them up, and no number of them keeps a probe out. */
static void make_room(caucus_http *http) {
    visitor *oldest = NULL;
    size_t open = 0;
    for (size_t i = 0; i < PLACES; i++) {
        visitor *v = &http->visitor[i];
        open += v->fd >= 0 && !v->shut;
        if (v->fd >= 0 && !v->shut && (!oldest || v->since_ms < oldest->since_ms))
            oldest = v;
    }
    if (open < CONNECTIONS || !oldest)
        return;
    oldest->shut = true;
    (void)shutdown(oldest->fd, SHUT_RDWR);
}

static void connection_changed(void *user, struct MHD_Connection *connection, void **visit,
                               enum MHD_ConnectionNotificationCode code) {
    caucus_http *http = user;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    pthread_mutex_lock(&http->lock);
    if (code == MHD_CONNECTION_NOTIFY_CLOSED && *visit)
        ((visitor *)*visit)->fd = -1;
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        make_room(http);
    for (size_t i = 0; code == MHD_CONNECTION_NOTIFY_STARTED && info && i < PLACES; i++)
        if (http->visitor[i].fd < 0) {
            http->visitor[i] = (visitor){.fd = info->connect_fd, .since_ms = caucus_clock_ms()};
            *visit = &http->visitor[i];
            break;
        }
    pthread_mutex_unlock(&http->lock);
}

static void answered(caucus_http *http, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    pthread_mutex_lock(&http->lock);
    if (info && info->socket_context)
        ((visitor *)info->socket_context)->since_ms = caucus_clock_ms();
    pthread_mutex_unlock(&http->lock);
}

static void completed(void *user, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode code) {
    caucus_http *http = user;
    answered(http, connection);
    if (*state == &http->shown && code == MHD_REQUEST_TERMINATED_COMPLETED_OK)
        atomic_store(&http->shown, true);
}

/* Shut, not closed: libmicrohttpd finds the end of it and closes. */
static void *sweep(void *user) {
    caucus_http *http = user;
    struct pollfd done = {.fd = http->done, .events = POLLIN};
    while (poll(&done, 1, SWEEP_MS) <= 0) {
        int64_t now = caucus_clock_ms();
        pthread_mutex_lock(&http->view_lock);
        if (http->tried_ms < 0 || now - http->tried_ms >= LOOK_MS)
            refresh(http);
        pthread_mutex_unlock(&http->view_lock);
        pthread_mutex_lock(&http->lock);
        for (size_t i = 0; i < PLACES; i++)
            if (http->visitor[i].fd >= 0 && now - http->visitor[i].since_ms > REQUEST_MS)
                (void)shutdown(http->visitor[i].fd, SHUT_RDWR);
        pthread_mutex_unlock(&http->lock);
    }
    return NULL;
}

static caucus_status start_sweeping(caucus_http *http, caucus_error *ret_error) {
    sigset_t all, before;
    sigfillset(&all); /* signals are the caller's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    http->sweeping = http->done >= 0 && pthread_create(&http->sweeper, NULL, sweep, http) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return http->sweeping ? CAUCUS_OK : caucus_fail(ret_error, CAUCUS_E_MEMORY, "http", "cannot start a thread");
}

/* ---- open ---- */

caucus_status caucus_http_bind(const caucus_http_settings *settings, int *ret_fd, caucus_error *ret_error) {
    if (settings->token && strlen(settings->token) < CAUCUS_HTTP_TOKEN_MIN)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "token",
                           "shorter than %d characters — make one with: openssl rand -hex 32", CAUCUS_HTTP_TOKEN_MIN);
    caucus_address address;
    caucus_status status = caucus_address_resolve(settings->listen, "http", true, &address, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (!settings->token && !address.loopback)
        return caucus_fail_hint(ret_error,
                                caucus_fail(ret_error, CAUCUS_E_RANGE, "http",
                                            "%.100s can be reached from other machines", settings->listen),
                                "give 'token', or listen on 127.0.0.1");
    int one = 1, fd = socket(address.socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        bind(fd, (const struct sockaddr *)&address.socket, address.bytes) != 0 || listen(fd, BACKLOG) != 0) {
        status = caucus_fail_os(ret_error, errno == EADDRINUSE ? CAUCUS_E_BUSY : CAUCUS_E_NETWORK, errno, "http",
                                "cannot listen on %.100s", settings->listen);
        if (fd >= 0)
            (void)close(fd);
        return status;
    }
    *ret_fd = fd;
    return CAUCUS_OK;
}

caucus_status caucus_http_open(caucus_server *server, const caucus_http_settings *settings, caucus_http **ret,
                               caucus_error *ret_error) {
    int fd = settings->listener;
    caucus_status status = fd > 0 ? CAUCUS_OK : caucus_http_bind(settings, &fd, ret_error);
    if (status != CAUCUS_OK)
        return status;
    caucus_http *http = sodium_init() >= 0 ? calloc(1, sizeof *http) : NULL;
    if (!http) {
        (void)close(fd);
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "http", "out of memory");
    }
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;
    http->view_ms = http->busy_ms = http->tried_ms = -1;
    pthread_mutex_init(&http->lock, NULL);
    pthread_mutex_init(&http->view_lock, NULL);
    for (size_t i = 0; i < PLACES; i++)
        http->visitor[i].fd = -1;
    http->done = eventfd(0, EFD_CLOEXEC);
    http->port = getsockname(fd, (struct sockaddr *)&bound, &size) == 0 ? caucus_address_port(&bound) : 0;
    http->texts = settings->texts;
    status = http->texts ? CAUCUS_OK : caucus_view_open(&http->view, server, settings);
    if (status != CAUCUS_OK) {
        (void)caucus_fail(ret_error, status, "http", "out of memory");
        goto failed;
    }
    if (settings->token) {
        http->token_wanted = true;
        hash_token(settings->token, http->token_hash);
    }
    status = start_sweeping(http, ret_error);
    if (status != CAUCUS_OK)
        goto failed;
    errno = 0; /* libmicrohttpd leaves it as the system did */
    http->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, NULL, NULL, handle, http, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)PLACES, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES, MHD_OPTION_NOTIFY_COMPLETED, completed, http,
        MHD_OPTION_NOTIFY_CONNECTION, connection_changed, http, MHD_OPTION_END);
    if (!http->daemon) {
        status = caucus_fail(ret_error, errno == ENOMEM ? CAUCUS_E_MEMORY : CAUCUS_E_NETWORK, "http",
                             "cannot answer on %.100s", settings->listen);
        goto failed;
    }
    *ret = http;
    return CAUCUS_OK;
failed:
    (void)close(fd);
    caucus_http_close(http);
    return status;
}

caucus_status caucus_http_take_over(caucus_http *http, caucus_server *server, const caucus_http_settings *settings,
                                    caucus_error *ret_error) {
    pthread_mutex_lock(&http->view_lock);
    caucus_status status = caucus_view_open(&http->view, server, settings);
    if (status == CAUCUS_OK) {
        http->texts = NULL;
        http->view_ms = -1;
    }
    pthread_mutex_unlock(&http->view_lock);
    return status == CAUCUS_OK ? status : caucus_fail(ret_error, status, "http", "out of memory");
}

uint16_t caucus_http_port(const caucus_http *http) {
    return http->port;
}

bool caucus_http_shown(const caucus_http *http) {
    return atomic_load(&http->shown);
}

void caucus_http_close(caucus_http *http) {
    if (!http)
        return;
    if (http->daemon)
        MHD_stop_daemon(http->daemon); /* also closes the listener */
    if (http->sweeping) {
        uint64_t once = 1;
        (void)!write(http->done, &once, sizeof once);
        pthread_join(http->sweeper, NULL);
    }
    if (http->done >= 0)
        (void)close(http->done);
    pthread_mutex_destroy(&http->lock);
    pthread_mutex_destroy(&http->view_lock);
    caucus_view_close(&http->view);
    sodium_memzero(http->token_hash, sizeof http->token_hash);
    free(http);
}
