/* SPDX-License-Identifier: Apache-2.0 */
/* tls_judge.h: what is demanded of keys and certificates beyond a valid signature.
 * layer: dial
 *
 * A key is for its owner alone. A certificate must say what it is for (extended key usage: clientAuth or serverAuth):
 * OpenSSL takes one that says nothing for good for everything, so that a web server's could be used by a client. And a
 * session is not resumed once the certificate it began with has expired, on either side: resuming would look at no
 * date. A certificate is as good as what it builds on: it has expired when the first of its chain has, which is often
 * an authority that everybody had forgotten. */
#ifndef CAUCUS_DIAL_TLS_JUDGE_H
#define CAUCUS_DIAL_TLS_JUDGE_H

#include <caucus/status.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

/** Is the file of a key out of others' reach? The error says what to type if not. Files that cannot be looked at, and
 *  what is no file, are left to whoever opens them. */
caucus_status caucus_tls_key_mode(const char *path, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Is this side's own certificate one for this role (server or client)? */
caucus_status caucus_tls_own_use(SSL_CTX *context, bool server, const char *path,
                                 caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Set up a context of this side: the other side's certificate is demanded, and one for its role; the server resumes no
 *  session whose certificates have expired. */
void caucus_tls_demand(SSL_CTX *context, bool server);

/** What caucus_tls_demand() has a coordinator call for every certificate of a client's chain (SSL_CTX_set_verify): for
 *  whoever wants to look on. */
int caucus_tls_check_client(int good, X509_STORE_CTX *store);

/** May a session be resumed? Not past the expiry of the other side's certificate, or of one that it builds on. */
bool caucus_tls_may_resume(const SSL_SESSION *session);
/** Keep with a session when the first certificate of the other side's chain expires; nothing if it was resumed itself:
 *  then it is kept already. The coordinator does so by itself (caucus_tls_demand). */
void caucus_tls_note_chain(SSL *ssl, SSL_SESSION *session);

/** When the other side's certificate expires, or the first of those that it builds on, in seconds since 1970; 0: it has
 *  shown none. */
int64_t caucus_tls_peer_expiry(SSL *ssl);
/** The same of this side's own, as far as the chain is in its file or among its authorities.
 *  Out:     ret_warn_from  since when one should say so: the last 14 days of the first of them, or the last third of
 *                          its life if that is shorter. */
int64_t caucus_tls_own_expiry(SSL_CTX *context, int64_t *ret_warn_from);
/** ret_warn_from of one certificate. */
int64_t caucus_tls_warn_from(const X509 *certificate);

#endif
