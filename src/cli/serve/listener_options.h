/* SPDX-License-Identifier: Apache-2.0 */
/* listener_options.h: the options that serve and relay share, since both listen for clients.
 * layer: cli
 *
 * Each is a list of X(NAME, "word", "VALUE", "default", "help") within the list of a verb (options.h), and stands there
 * where help is to show it. */
#ifndef CAUCUS_CLI_SERVE_LISTENER_OPTIONS_H
#define CAUCUS_CLI_SERVE_LISTENER_OPTIONS_H

#include "cli/options.h"

/* `whose`: certificate; `revoked`: about the list of those who are refused; `insecure`: what that option takes away. */
#define CAUCUS_LISTENER_OPTIONS(X, whose, revoked, insecure)                                                           \
    X(LISTEN, "listen", "HOST:PORT", "127.0.0.1:7400", "where clients connect; port 0 = any")                          \
    X(CERT, "cert", "FILE", NULL, whose " certificate (PEM)")                                                          \
    X(KEY, "key", "FILE", NULL, "its key")                                                                             \
    X(CLIENT_CA, "client-ca", "FILE", NULL,                                                                            \
      "the authority that signs clients' certificates (common name = index of the client)")                            \
    X(REVOKED, "revoked", "FILE", NULL, "indices or certificate serial numbers to refuse, " revoked)                   \
    X(INSECURE, "insecure", NULL, NULL, insecure "; this machine only")

/* How much it takes on. */
#define CAUCUS_LOAD_OPTIONS(X)                                                                                         \
    X(MAX_CLIENTS, "max-clients", "N", "2*clients+64",                                                                 \
      "connections of clients at once; more open files than allowed are refused")                                      \
    X(MAX_STRANGERS, "max-strangers", "N", "clients+256",                                                              \
      "connections that have not said who they are; one address has half at most")                                     \
    X(LOOPS, "loops", "N", "one per core", "event loops")

/* How it knows the NATS server, and is known to it. */
#define CAUCUS_NATS_OPTIONS(X)                                                                                         \
    X(NATS_CA, "nats-ca", "FILE", NULL, "the authority that signs its certificate")                                    \
    X(NATS_KEY, "nats-key", "FILE", NULL, "the nkey to show to it")

#define CAUCUS_PRINT_OPTIONS(X)                                                                                        \
    X(FORMAT, "format", "NAME", "text", "of what is printed: text or json")                                            \
    X(LOG_FORMAT, "log-format", "NAME", "text", "of the log on standard error: text, or json, one object per line")

#endif
