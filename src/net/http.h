/* http.h: the status page, /metrics, /healthz and /api/v1/status on a second port (libmicrohttpd).
 * layer: net
 *
 * Shows caucus_server_status and nothing else. Bound to loopback unless told otherwise; beyond it a bearer token is needed. */
#ifndef CAUCUS_NET_HTTP_H
#define CAUCUS_NET_HTTP_H

#include "net/server.h"

typedef struct caucus_http caucus_http;

/** In: listen host:port; token: required in `Authorization: Bearer` unless the listener is loopback (NULL allowed only there);
 *      name: of the federation, shown on the page; expert_name(user, i): NULL if experts have no names. */
caucus_status caucus_http_open(caucus_server *server, const char *listen, const char *token, const char *name, caucus_http **ret,
                               caucus_error *ret_error) CAUCUS_MUST_CHECK;
uint16_t caucus_http_port(const caucus_http *http);
void caucus_http_close(caucus_http *http);

#endif
