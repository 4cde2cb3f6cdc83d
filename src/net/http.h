/* SPDX-License-Identifier: Apache-2.0 */
/* http.h: the status page, /metrics, /livez, /readyz and /api/v1/status on a second port (libmicrohttpd).
 * layer: net
 *
 * Shows the plan's public words, caucus_server_status, the history of experts and who is present, and nothing else: no
 * sum, no loss, no key. One thread of its own; only GET and HEAD; bodies are small, connections few and short. No
 * request is logged. A relay has texts of its own here (net/relay/relay_texts.h), and so has a coordinator that stands
 * by (net/page/standby_texts.h). Bound to loopback unless told otherwise; beyond it a bearer token is needed. */
#ifndef CAUCUS_NET_HTTP_H
#define CAUCUS_NET_HTTP_H

#include <stdio.h>

#include "net/server.h"

#define CAUCUS_HTTP_TOKEN_MIN 16 /* shortest token accepted, bytes */

/* What is said by somebody who is no coordinator; each is called in this one thread. `page` is HTML. */
typedef struct caucus_http_texts {
    void (*page)(void *user, FILE *to);
    void (*metrics)(void *user, FILE *to);
    void (*json)(void *user, FILE *to);  /* NULL: there is none */
    bool (*ready)(void *user, FILE *to); /* true and "ok", or false and why not */
    void *user;
} caucus_http_texts;

typedef struct caucus_http_settings {
    const char *listen;                  /* host:port, [v6]:port; port 0 = any (see caucus_http_port) */
    const char *token;                   /* wanted in `Authorization: Bearer`; NULL is allowed on loopback only */
    const char *name;                    /* of the federation, shown on the page; NULL = "caucus" */
    const caucus_plan *plan;             /* borrowed until caucus_http_close() */
    const uint8_t *plan_hash;            /* 32 bytes, copied */
    const _Atomic uint64_t *log_dropped; /* lines that the log had to drop; NULL: nobody counts */
    const caucus_http_texts *texts; /* borrowed; NULL: a coordinator's. Else plan, name and hash are not asked for */
    int listener; /* from caucus_http_bind(), taken over by caucus_http_open(); 0: it binds by itself */
} caucus_http_settings;

typedef struct caucus_http caucus_http;

/** Check token and address and bind, before there is a coordinator: what is wrong with them is found before a state is
 *  written. *ret_fd is a listening socket.
 *  Returns: as caucus_http_open(). */
caucus_status caucus_http_bind(const caucus_http_settings *settings, int *ret_fd,
                               caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Answer from a thread of its own.
 *  In:      server  NULL if there are texts; borrowed until caucus_http_close(): close this before
 *                   caucus_server_close().
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (listen, token), CAUCUS_E_BUSY, CAUCUS_E_NETWORK (cannot bind),
 *           CAUCUS_E_MEMORY; the error names the fix. */
caucus_status caucus_http_open(caucus_server *server, const caucus_http_settings *settings, caucus_http **ret,
                               caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** From now on what is said is the coordinator's: the texts are not asked any more.
 *  Returns: CAUCUS_OK or CAUCUS_E_MEMORY. */
caucus_status caucus_http_take_over(caucus_http *http, caucus_server *server, const caucus_http_settings *settings,
                                    caucus_error *ret_error) CAUCUS_MUST_CHECK;
uint16_t caucus_http_port(const caucus_http *http);
/** Has somebody been sent the whole status page? */
bool caucus_http_shown(const caucus_http *http);
/** Stop answering and free. NULL is allowed. */
void caucus_http_close(caucus_http *http);

#endif
