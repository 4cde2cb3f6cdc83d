/* SPDX-License-Identifier: Apache-2.0 */
/* certificate.c: see certificate.h. */
#include "dial/certificate.h"

#include <arpa/inet.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

enum { SERIAL_BITS = 127, CLOCK_SKEW_SECONDS = 600 };

static bool is_address(const char *host) {
    unsigned char address[16];
    return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

/* Strict, because the name goes into an extension's text, where a comma would begin another entry. */
bool caucus_certificate_host_ok(const char *host) {
    if (is_address(host))
        return true;
    size_t label = 0, length = strlen(host);
    bool letter = false;
    if (length == 0 || length > 253)
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = host[i];
        bool alpha = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), digit = c >= '0' && c <= '9';
        if (c == '.') {
            if (label == 0 || host[i - 1] == '-')
                return false;
            label = 0;
            continue;
        }
        if (!(alpha || digit || (c == '-' && label > 0)) || ++label > 63)
            return false;
        letter = letter || alpha;
    }
    return letter && host[length - 1] != '-' && host[length - 1] != '.'; /* all digits would be a mistyped address */
}

static bool extend(X509 *x509, X509V3_CTX *context, int what, const char *value) {
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, context, what, value);
    bool good = extension != NULL && X509_add_ext(x509, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return good;
}

/* old: a certificate whose hosts are taken over; NULL: there is none. */
static bool extend_all(X509 *x509, X509 *issuer, caucus_certificate_role role, const char *host, const X509 *old) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, x509, NULL, NULL, 0);
    bool ca = role == CAUCUS_CERTIFICATE_CA || role == CAUCUS_CERTIFICATE_RELAY_CA;
    char names[400];
    (void)snprintf(names, sizeof names, "DNS:localhost,IP:127.0.0.1,IP:::1%s%s",
                   host == NULL       ? ""
                   : is_address(host) ? ",IP:"
                                      : ",DNS:",
                   host == NULL ? "" : host);
    return extend(x509, &context, NID_basic_constraints, ca ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE") &&
           extend(x509, &context, NID_key_usage, ca ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature") &&
           extend(x509, &context, NID_subject_key_identifier, "hash") &&
           (ca || extend(x509, &context, NID_authority_key_identifier, "keyid:always")) &&
           (role == CAUCUS_CERTIFICATE_CA || extend(x509, &context, NID_ext_key_usage,
                                                    role == CAUCUS_CERTIFICATE_CLIENT ? "clientAuth" : "serverAuth")) &&
           (role != CAUCUS_CERTIFICATE_COORDINATOR ||
            (old == NULL
                 ? extend(x509, &context, NID_subject_alt_name, names)
                 : X509_add_ext(x509, X509_get_ext(old, X509_get_ext_by_NID(old, NID_subject_alt_name, -1)), -1) == 1));
}

/* A serial nobody can guess, never zero: the highest bit is set. */
static bool set_serial(X509 *x509) {
    BIGNUM *number = BN_new();
    bool good = number != NULL && BN_rand(number, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
                BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x509)) != NULL;
    BN_free(number);
    return good;
}

/* Clocks differ: valid from a little before now. */
static bool date(X509 *x509, uint32_t days) {
    return set_serial(x509) && X509_gmtime_adj(X509_getm_notBefore(x509), -(long)CLOCK_SKEW_SECONDS) != NULL &&
           X509_time_adj_ex(X509_getm_notAfter(x509), (int)days, 0, NULL) != NULL;
}

static bool fill(const caucus_certificate *c, const caucus_certificate *issuer, caucus_certificate_role role,
                 const char *name, const char *host, uint32_t days) {
    X509_NAME *subject = X509_get_subject_name(c->x509);
    return X509_set_version(c->x509, X509_VERSION_3) == 1 && date(c->x509, days) &&
           X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0) == 1 &&
           X509_set_issuer_name(c->x509, X509_get_subject_name(issuer->x509)) == 1 &&
           X509_set_pubkey(c->x509, c->key) == 1 && extend_all(c->x509, issuer->x509, role, host, NULL) &&
           X509_sign(c->x509, issuer->key, EVP_sha256()) > 0;
}

static caucus_status fail_made(const char *name, caucus_error *ret_error) {
    unsigned long code = ERR_peek_error();
    const char *why = code != 0 ? ERR_reason_error_string(code) : NULL;
    return caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "OpenSSL made no certificate for '%s': %s", name,
                       why != NULL ? why : "no reason given");
}

caucus_status caucus_certificate_new(caucus_certificate_role role, const caucus_certificate *issuer, const char *name,
                                     const char *host, uint32_t days, caucus_certificate *ret,
                                     caucus_error *ret_error) {
    ERR_clear_error();
    caucus_certificate made = {.key = EVP_EC_gen("P-256"), .x509 = X509_new()};
    if (made.key != NULL && made.x509 != NULL && fill(&made, issuer != NULL ? issuer : &made, role, name, host, days)) {
        *ret = made;
        return CAUCUS_OK;
    }
    const caucus_status status = fail_made(name, ret_error); /* before OpenSSL is asked for anything else */
    caucus_certificate_free(&made);
    return status;
}

caucus_status caucus_certificate_again(const caucus_certificate *issuer, X509 *old, uint32_t days,
                                       caucus_certificate *ret, caucus_error *ret_error) {
    ERR_clear_error();
    caucus_certificate made = {.x509 = X509_new()};
    const bool good = made.x509 != NULL && X509_get_ext_by_NID(old, NID_subject_alt_name, -1) >= 0 &&
                      X509_set_version(made.x509, X509_VERSION_3) == 1 && date(made.x509, days) &&
                      X509_set_subject_name(made.x509, X509_get_subject_name(old)) == 1 &&
                      X509_set_issuer_name(made.x509, X509_get_subject_name(issuer->x509)) == 1 &&
                      X509_set_pubkey(made.x509, X509_get0_pubkey(old)) == 1 &&
                      extend_all(made.x509, issuer->x509, CAUCUS_CERTIFICATE_COORDINATOR, NULL, old) &&
                      X509_sign(made.x509, issuer->key, EVP_sha256()) > 0;
    if (good) {
        *ret = made;
        return CAUCUS_OK;
    }
    const caucus_status status = fail_made("a relay", ret_error);
    caucus_certificate_free(&made);
    return status;
}

void caucus_certificate_free(caucus_certificate *certificate) {
    EVP_PKEY_free(certificate->key);
    X509_free(certificate->x509);
    *certificate = (caucus_certificate){0};
}
