/* SPDX-License-Identifier: Apache-2.0 */
/* lobby.c: see lobby.h.
 *
 * Addresses are found by a keyed hash (nobody can choose addresses that collide) in chains of entries that are made
 * once, as many as the lobby has places. Who has to go is looked for among the entries, not among the connections: an
 * entry has its silent ones and its speaking ones in two lists, oldest first. */
#include "net/lobby.h"

#include "net/loop.h"

#include <netinet/in.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES 16u
#define NONE UINT32_MAX

enum { SILENT, SPEAKING, LISTS };

typedef struct knocker {
    uint8_t key[KEY_BYTES]; /* the address; of IPv6 the network */
    uint32_t count;         /* connections here; 0: the entry is free */
    uint32_t next;          /* in its chain, or in the list of the free; NONE: the last */
    caucus_connection *head[LISTS], *tail[LISTS];
} knocker;

struct caucus_lobby {
    uint8_t secret[crypto_shorthash_KEYBYTES];
    uint32_t most, count;
    uint32_t free; /* the first entry that was used and is free again; NONE: there is none */
    uint32_t high; /* entries at and behind it were never used */
    uint32_t chains, *chain;
    knocker *entry; /* [most] */
};

caucus_status caucus_lobby_new(uint32_t most, caucus_lobby **ret) {
    caucus_lobby *l = calloc(1, sizeof *l);
    if (!l)
        return CAUCUS_E_MEMORY;
    l->most = most < CAUCUS_LOBBY_LEAST ? CAUCUS_LOBBY_LEAST : most;
    for (l->chains = 1; l->chains < l->most; l->chains *= 2)
        ;
    l->entry = calloc(l->most, sizeof *l->entry);
    l->chain = malloc(l->chains * sizeof *l->chain);
    if (!l->entry || !l->chain) {
        caucus_lobby_free(l);
        return CAUCUS_E_MEMORY;
    }
    memset(l->chain, 0xff, l->chains * sizeof *l->chain);
    l->free = NONE;
    crypto_shorthash_keygen(l->secret);
    *ret = l;
    return CAUCUS_OK;
}

void caucus_lobby_free(caucus_lobby *l) {
    if (!l)
        return;
    free(l->entry);
    free(l->chain);
    free(l);
}

uint32_t caucus_lobby_count(const caucus_lobby *l) {
    return l->count;
}

/* ---- addresses ---- */

/* IPv4 as IPv6 writes it, so that an address is the same by whatever listener it comes. */
static void key_of(const struct sockaddr_storage *from, uint8_t ret[KEY_BYTES]) {
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    memset(ret, 0, KEY_BYTES);
    if (from->ss_family == AF_INET) {
        memcpy(ret, mapped, sizeof mapped);
        memcpy(ret + sizeof mapped, &((const struct sockaddr_in *)from)->sin_addr, 4);
    } else if (from->ss_family == AF_INET6) {
        const uint8_t *own = ((const struct sockaddr_in6 *)from)->sin6_addr.s6_addr;
        memcpy(ret, own, memcmp(own, mapped, sizeof mapped) == 0 ? KEY_BYTES : KEY_BYTES / 2);
    }
}

static uint32_t *chain_of(caucus_lobby *l, const uint8_t key[KEY_BYTES]) {
    uint8_t hash[crypto_shorthash_BYTES];
    uint32_t number;
    crypto_shorthash(hash, key, KEY_BYTES, l->secret);
    memcpy(&number, hash, sizeof number);
    return &l->chain[number & (l->chains - 1)];
}

static uint32_t find(caucus_lobby *l, const uint8_t key[KEY_BYTES]) {
    uint32_t at = *chain_of(l, key);
    while (at != NONE && memcmp(l->entry[at].key, key, KEY_BYTES) != 0)
        at = l->entry[at].next;
    return at;
}

/* There is a free one: entries are as many as places, and each in use has a connection. */
static uint32_t add(caucus_lobby *l, const uint8_t key[KEY_BYTES]) {
    uint32_t *chain = chain_of(l, key), at = l->free;
    if (at != NONE)
        l->free = l->entry[at].next;
    else
        at = l->high++;
    l->entry[at] = (knocker){.next = *chain};
    memcpy(l->entry[at].key, key, KEY_BYTES);
    *chain = at;
    return at;
}

static void drop(caucus_lobby *l, uint32_t at) {
    uint32_t *link = chain_of(l, l->entry[at].key);
    while (*link != at)
        link = &l->entry[*link].next;
    *link = l->entry[at].next;
    l->entry[at].next = l->free;
    l->free = at;
}

/* ---- connections ---- */

static void append(knocker *k, caucus_connection *c, uint8_t list) {
    c->lobby_list = list;
    c->lobby_next = NULL;
    c->lobby_previous = k->tail[list];
    *(c->lobby_previous ? &c->lobby_previous->lobby_next : &k->head[list]) = c;
    k->tail[list] = c;
}

void caucus_lobby_enter(caucus_lobby *l, caucus_connection *c, const struct sockaddr_storage *from) {
    uint8_t key[KEY_BYTES];
    key_of(from, key);
    uint32_t at = find(l, key);
    if (at == NONE)
        at = add(l, key);
    c->lobby_entry = at;
    c->in_lobby = true;
    l->entry[at].count++;
    l->count++;
    append(&l->entry[at], c, SILENT);
}

/* Off its list. Returns: where it came from; NULL: it is not in the lobby. */
static knocker *take_off(caucus_lobby *l, caucus_connection *c) {
    if (!c->in_lobby)
        return NULL;
    knocker *k = &l->entry[c->lobby_entry];
    *(c->lobby_previous ? &c->lobby_previous->lobby_next : &k->head[c->lobby_list]) = c->lobby_next;
    *(c->lobby_next ? &c->lobby_next->lobby_previous : &k->tail[c->lobby_list]) = c->lobby_previous;
    c->lobby_next = c->lobby_previous = NULL;
    return k;
}

void caucus_lobby_speaks(caucus_lobby *l, caucus_connection *c) {
    knocker *k = c->lobby_list != SPEAKING ? take_off(l, c) : NULL;
    if (k)
        append(k, c, SPEAKING);
}

void caucus_lobby_told(caucus_lobby *l, caucus_connection *c) {
    knocker *k = take_off(l, c);
    if (!k)
        return;
    c->lobby_list = SILENT;
    c->lobby_next = k->head[SILENT];
    *(c->lobby_next ? &c->lobby_next->lobby_previous : &k->tail[SILENT]) = c;
    k->head[SILENT] = c;
}

void caucus_lobby_leave(caucus_lobby *l, caucus_connection *c) {
    knocker *k = take_off(l, c);
    if (!k)
        return;
    c->in_lobby = false;
    l->count--;
    if (--k->count == 0)
        drop(l, c->lobby_entry);
}

/* ---- who has to go ---- */

/* Of all addresses the one with most connections, one more counted for the newcomer's; among equals one with somebody
 * silent, and of those the one that is silent longest. */
static uint32_t heaviest(const caucus_lobby *l, uint32_t newcomer) {
    uint32_t best = NONE, best_count = 0;
    for (uint32_t i = 0; i < l->high; i++) {
        const knocker *k = &l->entry[i];
        if (k->count == 0)
            continue;
        const uint32_t count = k->count + (i == newcomer);
        const caucus_connection *silent = k->head[SILENT], *other = best == NONE ? NULL : l->entry[best].head[SILENT];
        if (count > best_count ||
            (count == best_count && silent && (!other || silent->expires_ns < other->expires_ns))) {
            best = i;
            best_count = count;
        }
    }
    return best;
}

bool caucus_lobby_admit(caucus_lobby *l, const struct sockaddr_storage *from, caucus_connection **ret_victim) {
    uint8_t key[KEY_BYTES];
    key_of(from, key);
    const uint32_t own = find(l, key), own_count = own == NONE ? 0 : l->entry[own].count;
    const bool half = own_count >= l->most / 2;
    *ret_victim = NULL;
    if (l->count < l->most && !half)
        return true;
    const uint32_t at = half ? own : heaviest(l, own);
    if (at == NONE)
        return false;
    const knocker *k = &l->entry[at];
    caucus_connection *victim = k->head[SILENT];
    if (!victim && at != own && k->count > own_count + 1)
        victim = k->tail[SPEAKING];
    if (!victim)
        return false;
    caucus_lobby_leave(l, victim);
    *ret_victim = victim;
    return true;
}
