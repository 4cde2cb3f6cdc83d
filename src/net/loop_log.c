/* SPDX-License-Identifier: Apache-2.0 */
/* loop_log.c: who came, who went and who was turned away, in lines that can be investigated. See loop.h. */
#include "net/loop.h"

#include "dial/tls_judge.h"

#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/printable.h"

/* Kinds of lines about clients, beyond the reasons of refusals. */
enum { JOINED = CAUCUS_REASON_COUNT, LEFT };

#define NAME_BYTES 80
#define TELL_MS 1000u

typedef struct certificate {
    char name[NAME_BYTES], serial[CAUCUS_SERIAL_BYTES];
} certificate;

/* Common name and serial number, as far as they can be had. */
static void read_certificate(const X509 *x509, certificate *ret) {
    *ret = (certificate){.name = "", .serial = ""};
    if (!x509)
        return;
    if (X509_NAME_get_text_by_NID(X509_get_subject_name(x509), NID_commonName, ret->name, sizeof ret->name) < 0)
        ret->name[0] = '\0';
    caucus_printable(ret->name);
    BIGNUM *number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(x509), NULL);
    char *digits = number ? BN_bn2hex(number) : NULL;
    if (digits)
        (void)snprintf(ret->serial, sizeof ret->serial, "%s", digits);
    OPENSSL_free(digits);
    BN_free(number);
}

/* Also of a certificate that was not accepted: who investigates wants to know whose it is. */
static void find_certificate(const caucus_connection *c, certificate *ret) {
    if (c && c->refused_certificate) {
        *ret = (certificate){.name = "", .serial = ""};
        const char *blank = strrchr(c->refused_certificate, ' ');
        if (blank && (size_t)(blank - c->refused_certificate) < sizeof ret->name) {
            memcpy(ret->name, c->refused_certificate, (size_t)(blank - c->refused_certificate));
            (void)snprintf(ret->serial, sizeof ret->serial, "%s", blank + 1);
        }
        return;
    }
    read_certificate(c && c->ssl ? SSL_get0_peer_certificate(c->ssl) : NULL, ret);
}

static int judge(int accepted, X509_STORE_CTX *store) {
    accepted = caucus_tls_check_client(accepted, store); /* this takes the place of the context's own function */
    if (accepted)
        return accepted;
    const SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    caucus_connection *c = ssl ? SSL_get_app_data(ssl) : NULL;
    certificate found;
    read_certificate(X509_STORE_CTX_get0_cert(store), &found);
    if (c && !c->refused_certificate) {
        char text[sizeof found + 2];
        (void)snprintf(text, sizeof text, "%s %s", found.name, found.serial);
        c->refused_certificate = strdup(text); /* without memory the line has no certificate */
    }
    return 0;
}

void caucus_loop_note_certificate(caucus_connection *c) {
    SSL_set_app_data(c->ssl, c);
    SSL_set_verify(c->ssl, SSL_get_verify_mode(c->ssl), judge);
}

/* "; certificate '3' serial 0A1B", "" if there is none */
static void put_words(const certificate *of, char *ret, size_t room) {
    ret[0] = '\0';
    if (of->serial[0])
        (void)snprintf(ret, room, "; certificate '%s' serial %s", of->name, of->serial);
}

void caucus_loop_refused(caucus_loop *loop, const caucus_connection *c, const struct sockaddr_storage *from,
                         caucus_reason reason, const char *why) {
    caucus_server *s = loop->server;
    uint64_t held_back = 0;
    atomic_fetch_add(&s->refused[reason], 1);
    if (!s->set.log || !caucus_limiter_ask(&s->limiter, reason, 0, from, loop->now_ns, &held_back))
        return;
    char where[CAUCUS_ADDRESS_BYTES], words[NAME_BYTES + CAUCUS_SERIAL_BYTES + 32], before[64] = "";
    certificate of;
    caucus_address_text(from, where);
    find_certificate(c, &of);
    put_words(&of, words, sizeof words);
    if (held_back > 0)
        (void)snprintf(before, sizeof before, "; %llu more like it before", (unsigned long long)held_back);
    caucus_server_log_about(s,
                            &(caucus_log_line){.level = 1,
                                               .event = "refused",
                                               .client = c ? c->client : 0,
                                               .address = where,
                                               .reason = caucus_reason_word(reason),
                                               .certificate = of.name,
                                               .certificate_serial = of.serial},
                            "refused %s: %s (%s%s%s)", where, why, caucus_reason_word(reason), words, before);
}

void caucus_loop_tell_held_back(caucus_server *s, uint64_t now_ns) {
    caucus_held_back held;
    while (caucus_limiter_take(&s->limiter, now_ns, &held)) {
        char where[CAUCUS_ADDRESS_BYTES] = "";
        const unsigned long long count = held.count;
        if (held.others) {
            caucus_server_log(s, 1, "%llu more lines about other addresses were not written: too many at once", count);
            continue;
        }
        caucus_address_text(&held.from, where);
        caucus_log_line about = {.level = 1, .client = held.client, .address = where};
        if (held.what < CAUCUS_REASON_COUNT) {
            about.event = "refused";
            about.reason = caucus_reason_word((caucus_reason)held.what);
            caucus_server_log_about(s, &about, "refused %s: %llu more since (%s)", where, count, about.reason);
        } else {
            about.event = held.what == JOINED ? "joined" : "left";
            caucus_server_log_about(s, &about, "client %u %s %s %llu more times since (%u of %u)", held.client,
                                    held.what == JOINED ? "was here from" : "has gone from", where, count,
                                    atomic_load(&s->present), s->clients);
        }
    }
}

void caucus_loop_log_turn(caucus_loop *loop) {
    if (loop->log_ns == 0 || loop->log_ns > loop->now_ns)
        return;
    loop->log_ns = loop->now_ns + TELL_MS * 1000000u;
    caucus_loop_tell_held_back(loop->server, loop->now_ns);
}

static void say_client(const caucus_connection *c, uint32_t kind) {
    caucus_server *s = c->loop->server;
    uint64_t held_back = 0;
    if (!s->set.log || !caucus_limiter_ask(&s->limiter, kind, c->client, &c->peer, c->loop->now_ns, &held_back))
        return;
    char where[CAUCUS_ADDRESS_BYTES], words[NAME_BYTES + CAUCUS_SERIAL_BYTES + 32];
    certificate of;
    caucus_address_text(&c->peer, where);
    find_certificate(c, &of);
    put_words(&of, words, sizeof words);
    caucus_server_log_about(s,
                            &(caucus_log_line){.level = 1,
                                               .event = kind == JOINED ? "joined" : "left",
                                               .client = c->client,
                                               .address = where,
                                               .certificate = of.name,
                                               .certificate_serial = of.serial},
                            "client %u %s %s (%u of %u%s)", c->client,
                            kind == JOINED ? "is here from" : "has gone from", where, atomic_load(&s->present),
                            s->clients, words);
}

void caucus_loop_joined(const caucus_connection *c) {
    say_client(c, JOINED);
}

void caucus_loop_left(const caucus_connection *c) {
    say_client(c, LEFT);
}
