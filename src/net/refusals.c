/* SPDX-License-Identifier: Apache-2.0 */
/* refusals.c: see refusals.h. */
#include "net/refusals.h"

#include <netinet/in.h>
#include <sodium.h>
#include <string.h>

#include "num/little_endian.h"

#define AGAIN_NS 1000000000u
#define WAYS 8u /* places where a kind of line may stand: so few collide */

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

/* Its slot, or of the places where it may stand the one that has been silent longest. */
static struct caucus_limiter_slot *find(caucus_limiter *limiter, const uint8_t key[16]) {
    struct caucus_limiter_slot *at = &limiter->slot[caucus_le_get32(key) % (CAUCUS_REFUSAL_SLOTS / WAYS) * WAYS];
    struct caucus_limiter_slot *ret = at;
    for (uint32_t i = 0; i < WAYS; i++) {
        if (memcmp(at[i].key, key, sizeof at[i].key) == 0)
            return &at[i];
        if (at[i].said_ns < ret->said_ns)
            ret = &at[i];
    }
    return ret;
}

/* Was it said so long ago that it may be said again? Loops have their own `now`, one a little behind another. */
static bool is_due(uint64_t said_ns, uint64_t now_ns) {
    return said_ns == 0 || (now_ns > said_ns && now_ns - said_ns >= AGAIN_NS);
}

bool caucus_limiter_ask(caucus_limiter *limiter, uint32_t what, uint32_t client, const struct sockaddr_storage *from,
                        uint64_t now_ns, uint64_t *ret_held_back) {
    uint8_t words[16] = {0}, key[16];
    put_address(caucus_le_put(caucus_le_put(words, what, 4), client, 4), from);
    (void)crypto_generichash(key, sizeof key, words, sizeof words, limiter->secret, sizeof limiter->secret);
    pthread_mutex_lock(&limiter->lock);
    struct caucus_limiter_slot *slot = find(limiter, key);
    const bool same = memcmp(slot->key, key, sizeof key) == 0, said = is_due(slot->said_ns, now_ns);
    if (said) {
        *ret_held_back = same ? slot->held_back : 0;
        if (!same)
            limiter->others += slot->held_back; /* somebody else's place: theirs are told without their address */
        memcpy(slot->key, key, sizeof key);
        slot->said_ns = now_ns;
        slot->held_back = 0;
        slot->what = what;
        slot->client = client;
        slot->from = *from;
    } else if (same) {
        slot->held_back++;
        slot->from = *from;
    } else {
        limiter->others++;
    }
    pthread_mutex_unlock(&limiter->lock);
    return said;
}

bool caucus_limiter_take(caucus_limiter *limiter, uint64_t now_ns, caucus_held_back *ret) {
    bool found = false;
    pthread_mutex_lock(&limiter->lock);
    for (uint32_t i = 0; !found && i < CAUCUS_REFUSAL_SLOTS; i++) {
        struct caucus_limiter_slot *slot = &limiter->slot[i];
        if (slot->held_back == 0 || !is_due(slot->said_ns, now_ns))
            continue;
        *ret = (caucus_held_back){
            .count = slot->held_back, .what = slot->what, .client = slot->client, .from = slot->from};
        slot->held_back = 0;
        slot->said_ns = now_ns;
        found = true;
    }
    if (!found && limiter->others > 0 && is_due(limiter->others_ns, now_ns)) {
        *ret = (caucus_held_back){.count = limiter->others, .others = true};
        limiter->others = 0;
        limiter->others_ns = now_ns;
        found = true;
    }
    pthread_mutex_unlock(&limiter->lock);
    return found;
}
