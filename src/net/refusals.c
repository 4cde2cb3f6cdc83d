/* SPDX-License-Identifier: Apache-2.0 */
/* refusals.c: see refusals.h. */
#include "net/refusals.h"

#include <netinet/in.h>
#include <sodium.h>
#include <string.h>

#include "num/little_endian.h"

#define AGAIN_NS 1000000000u

const char *caucus_reason_word(caucus_reason reason) {
    static const char *const words[] = {
#define WORD(name, word) word,
        CAUCUS_REASON_LIST(WORD)
#undef WORD
    };
    return reason < CAUCUS_REASON_COUNT ? words[reason] : "unknown";
}

caucus_reason caucus_reason_of(caucus_refusal_code code) {
    switch (code) {
    case CAUCUS_REFUSAL_VERSION:
        return CAUCUS_REASON_VERSION;
    case CAUCUS_REFUSAL_PLAN:
        return CAUCUS_REASON_PLAN;
    case CAUCUS_REFUSAL_IDENTITY:
        return CAUCUS_REASON_IDENTITY;
    case CAUCUS_REFUSAL_ORDER:
        return CAUCUS_REASON_AHEAD;
    case CAUCUS_REFUSAL_FULL:
        return CAUCUS_REASON_FULL;
    case CAUCUS_REFUSAL_FORMAT:
        return CAUCUS_REASON_FORMAT;
    case CAUCUS_REFUSAL_ELSEWHERE:
    case CAUCUS_REFUSAL_LATER:
        break;
    }
    return CAUCUS_REASON_LATER;
}

void caucus_limiter_init(caucus_limiter *limiter) {
    memset(limiter, 0, sizeof *limiter);
    pthread_mutex_init(&limiter->lock, NULL);
    randombytes_buf(limiter->secret, sizeof limiter->secret);
}

void caucus_limiter_close(caucus_limiter *limiter) {
    pthread_mutex_destroy(&limiter->lock);
}

/* IPv4 whole (also where it is written as IPv6), of IPv6 the network. */
static void put_address(uint8_t *to, const struct sockaddr_storage *from) {
    const struct sockaddr_in *four = (const struct sockaddr_in *)from;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
    if (from->ss_family == AF_INET)
        memcpy(to, &four->sin_addr, 4);
    else if (from->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
        memcpy(to, six->sin6_addr.s6_addr + 12, 4);
    else if (from->ss_family == AF_INET6)
        memcpy(to, six->sin6_addr.s6_addr, 8);
}

bool caucus_limiter_ask(caucus_limiter *limiter, uint32_t what, uint32_t client, const struct sockaddr_storage *from,
                        uint64_t now_ns, uint64_t *ret_held_back) {
    uint8_t words[16] = {0}, key[16];
    put_address(caucus_le_put(caucus_le_put(words, what, 4), client, 4), from);
    (void)crypto_generichash(key, sizeof key, words, sizeof words, limiter->secret, sizeof limiter->secret);
    const uint32_t at = caucus_le_get32(key) % CAUCUS_REFUSAL_SLOTS;
    pthread_mutex_lock(&limiter->lock);
    bool same = memcmp(limiter->slot[at].key, key, sizeof key) == 0;
    bool said = limiter->slot[at].said_ns == 0 || now_ns - limiter->slot[at].said_ns >= AGAIN_NS;
    if (said) {
        *ret_held_back = same ? limiter->slot[at].held_back : 0;
        memcpy(limiter->slot[at].key, key, sizeof key);
        limiter->slot[at].said_ns = now_ns;
        limiter->slot[at].held_back = 0;
    } else if (same) {
        limiter->slot[at].held_back++;
    }
    pthread_mutex_unlock(&limiter->lock);
    return said;
}
