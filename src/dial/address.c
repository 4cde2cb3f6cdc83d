/* SPDX-License-Identifier: Apache-2.0 */
/* address.c: see address.h. */
#include "dial/address.h"
#include "num/fail.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static caucus_status malformed(const char *text, const char *field, caucus_error *ret_error) {
    return caucus_fail(ret_error, CAUCUS_E_RANGE, field,
                       "%.100s — write HOST:PORT, for example 127.0.0.1:7400 or [::1]:7400", text);
}

/* 0..65535 in decimal digits and nothing else. */
static bool read_port(const char *text, uint16_t *ret) {
    uint32_t port = 0;
    size_t length = strlen(text);
    if (length < 1 || length > 5 || strspn(text, "0123456789") != length)
        return false;
    for (const char *p = text; *p; p++)
        port = port * 10 + (uint32_t)(*p - '0');
    *ret = (uint16_t)port;
    return port <= 65535;
}

caucus_status caucus_address_split(const char *text, const char *field, caucus_address *ret, caucus_error *ret_error) {
    memset(ret, 0, sizeof *ret);
    const char *colon = strrchr(text, ':'), *host = text;
    if (!colon || !read_port(colon + 1, &ret->port))
        return malformed(text, field, ret_error);
    size_t length = (size_t)(colon - text);
    if (text[0] == '[') {
        if (length < 3 || colon[-1] != ']')
            return malformed(text, field, ret_error);
        host = text + 1;
        length -= 2;
    } else if (memchr(text, ':', length)) {
        return malformed(text, field, ret_error); /* ::1:7400 could be read in two ways */
    }
    if (length == 0 || length >= sizeof ret->host)
        return malformed(text, field, ret_error);
    memcpy(ret->host, host, length);
    return CAUCUS_OK;
}

/* *ret_found: to be freed. */
static caucus_status look_up(const char *text, const char *field, int flags, caucus_address *ret,
                             struct addrinfo **ret_found, caucus_error *ret_error) {
    caucus_status status = caucus_address_split(text, field, ret, ret_error);
    if (status != CAUCUS_OK)
        return status;
    char port[8];
    snprintf(port, sizeof port, "%u", (unsigned)ret->port);
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | flags};
    int failed = getaddrinfo(ret->host, port, &hints, ret_found);
    if (failed == EAI_MEMORY || (failed == EAI_SYSTEM && errno == ENOMEM))
        return caucus_fail_memory(ret_error, field);
    if (failed != 0 || !*ret_found)
        return caucus_fail(ret_error, CAUCUS_E_NETWORK, field, "%.100s — %s", text, gai_strerror(failed));
    return CAUCUS_OK;
}

static void take(caucus_address *ret, const struct addrinfo *found) {
    memset(&ret->socket, 0, sizeof ret->socket);
    memcpy(&ret->socket, found->ai_addr, found->ai_addrlen);
    ret->bytes = found->ai_addrlen;
    ret->loopback = caucus_address_is_loopback(&ret->socket);
}

caucus_status caucus_address_resolve(const char *text, const char *field, bool listening, caucus_address *ret,
                                     caucus_error *ret_error) {
    struct addrinfo *found = NULL;
    caucus_status status = look_up(text, field, listening ? AI_PASSIVE : 0, ret, &found, ret_error);
    if (status != CAUCUS_OK)
        return status;
    take(ret, found);
    freeaddrinfo(found);
    return CAUCUS_OK;
}

caucus_status caucus_address_resolve_all(const char *text, const char *field, caucus_address ret[CAUCUS_ADDRESSES_MOST],
                                         size_t *ret_count, caucus_error *ret_error) {
    struct addrinfo *found = NULL;
    caucus_address one;
    caucus_status status = look_up(text, field, 0, &one, &found, ret_error);
    if (status != CAUCUS_OK)
        return status;
    *ret_count = 0;
    for (const struct addrinfo *each = found; each && *ret_count < CAUCUS_ADDRESSES_MOST; each = each->ai_next) {
        take(&one, each);
        ret[(*ret_count)++] = one;
    }
    freeaddrinfo(found);
    return CAUCUS_OK;
}

bool caucus_address_same(const struct sockaddr_storage *a, const struct sockaddr_storage *b) {
    if (a->ss_family != b->ss_family || caucus_address_port(a) != caucus_address_port(b))
        return false;
    if (a->ss_family == AF_INET)
        return ((const struct sockaddr_in *)a)->sin_addr.s_addr == ((const struct sockaddr_in *)b)->sin_addr.s_addr;
    const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)a, *b6 = (const struct sockaddr_in6 *)b;
    return a->ss_family == AF_INET6 && a6->sin6_scope_id == b6->sin6_scope_id &&
           memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof a6->sin6_addr) == 0;
}

bool caucus_address_is_loopback(const struct sockaddr_storage *address) {
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)address;
        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    }
    if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
        return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
    }
    return false;
}

void caucus_address_text(const struct sockaddr_storage *address, char ret[CAUCUS_ADDRESS_BYTES]) {
    char host[INET6_ADDRSTRLEN] = "?";
    if (address->ss_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, host, sizeof host);
    else if (address->ss_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, host, sizeof host);
    snprintf(ret, CAUCUS_ADDRESS_BYTES, address->ss_family == AF_INET6 ? "[%s]:%u" : "%s:%u", host,
             (unsigned)caucus_address_port(address));
}

uint16_t caucus_address_port(const struct sockaddr_storage *address) {
    if (address->ss_family == AF_INET)
        return ntohs(((const struct sockaddr_in *)address)->sin_port);
    if (address->ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
    return 0;
}

void caucus_address_set_port(struct sockaddr_storage *address, uint16_t port) {
    if (address->ss_family == AF_INET)
        ((struct sockaddr_in *)address)->sin_port = htons(port);
    else if (address->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)address)->sin6_port = htons(port);
}
