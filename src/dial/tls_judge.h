/* SPDX-License-Identifier: Apache-2.0 */
/* tls_judge.h: what is demanded of keys and certificates beyond a valid signature.
 * layer: dial
 *
 * A key is for its owner alone. A certificate must say what it is for (extended key usage: clientAuth or serverAuth):
 * OpenSSL takes one that says nothing for good for everything, so that a web server's could be used by a client. And a
 * session is not resumed once the certificate it began with has expired, on either side: resuming would look at no
 * date. */
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

/** May a client offer this session again? Not past the expiry of the coordinator's certificate. */
bool caucus_tls_may_resume(const SSL_SESSION *session);

/** When a certificate expires, in seconds since 1970; 0 if it does not say. */
int64_t caucus_tls_expiry(const X509 *certificate);
/** Is it time to say so? In its last 14 days, or the last third of its life if that is shorter. */
bool caucus_tls_expires_soon(const X509 *certificate, int64_t now);

#endif
