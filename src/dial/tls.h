/* SPDX-License-Identifier: Apache-2.0 */
/* tls.h: TLS 1.3 with certificates on both sides, for the coordinator and for its clients.
 * layer: dial
 *
 * A client is its certificate: the common name is the client's index, decimal, and it speaks for no other. A connection
 * can be resumed with a ticket; the certificate travels inside it, so identity and revocation are judged every time,
 * and past its expiry no session is resumed. Certificates must say what they are for (tls_judge.h). */
#ifndef CAUCUS_DIAL_TLS_H
#define CAUCUS_DIAL_TLS_H

#include <caucus/status.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>

/** Context of a coordinator: its certificate (chain) and key, and the authority that signs clients. PEM files.
 *  Returns: CAUCUS_OK, CAUCUS_E_PATH or CAUCUS_E_FORMAT (names the file), CAUCUS_E_CONFLICT (key and certificate),
 *           CAUCUS_E_EXPIRED (it has expired, or is not valid yet), CAUCUS_E_RANGE (others can read the key; the
 *           certificate is for something else). */
caucus_status caucus_tls_server_new(const char *cert, const char *key, const char *client_ca, SSL_CTX **ret,
                                    caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Context of a client, likewise: its own certificate and key, and the authority that signs coordinators. */
caucus_status caucus_tls_client_new(const char *cert, const char *key, const char *server_ca, SSL_CTX **ret,
                                    caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** A client's connection on a socket, about to shake hands (SSL_do_handshake, or the first SSL_read). The
 *  coordinator's certificate must name `host` (a name or an address).
 *  In:      session  of an earlier connection (caucus_tls_session()), or NULL. Borrowed.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY. SSL_free(*ret) does not close fd. */
caucus_status caucus_tls_client_open(SSL_CTX *context, int fd, const char *host, SSL_SESSION *session, SSL **ret,
                                     caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** The coordinator's side of the same. */
caucus_status caucus_tls_server_open(SSL_CTX *context, int fd, SSL **ret) CAUCUS_MUST_CHECK;

/** What resumes this connection later: call it when something has been read (tickets come after the handshake). NULL if
 *  there is nothing. Free with SSL_SESSION_free(). */
SSL_SESSION *caucus_tls_session(SSL *ssl);

/** The index that a certificate gives its owner: one common name, one to eight decimal digits, no leading zero. 0:
 *  none. The same for a client that reads its own and for the coordinator that reads the client's. */
uint32_t caucus_tls_certificate_index(const X509 *certificate);
/** The index that the other side's certificate gives it. 0: none. Whether it has expired since the handshake is
 *  caucus_tls_peer_expiry()'s to say. */
uint32_t caucus_tls_peer_index(SSL *ssl);
/** The serial number of the other side's certificate, hexadecimal, capital letters. "" if there is none.
 *  Returns: false without memory to write it: whoever looks for it on a list must not take "" for an answer. */
#define CAUCUS_SERIAL_BYTES 64
bool caucus_tls_peer_serial(SSL *ssl, char ret[CAUCUS_SERIAL_BYTES]) CAUCUS_MUST_CHECK;

/** Why the last TLS call failed, in words; empties OpenSSL's queue of this thread. */
void caucus_tls_why(const SSL *ssl, char *ret, size_t ret_bytes);

#endif
