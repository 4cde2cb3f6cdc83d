/* SPDX-License-Identifier: Apache-2.0 */
/* serials.c: whose certificate is whose. See serials.h. */
#include "net/waits/serials.h"

#include <ctype.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "dial/tls.h"
#include "num/little_endian.h"

#define FIRST_ROOM 256u

/* A chunk: how many clients 4, then for each of them, rising: client - first client of the chunk 2, of the serial
 * number of its certificate the length 1, and so many bytes, most significant first. */
#define HEAD_BYTES 4u
#define ENTRY_BYTES 3u
#define MOST_BYTES ((CAUCUS_SERIAL_BYTES - 1u) / 2u)

static const char *significant(const char *serial) {
    return serial + strspn(serial, "0");
}

static bool same(const char *a, const char *b) {
    return strcmp(significant(a), significant(b)) == 0;
}

/* FNV-1a. Who could choose serial numbers that collide is the authority, and would only make a list slower to read. */
static uint32_t hash_of(const char *serial) {
    uint32_t hash = 2166136261u;
    for (const char *p = significant(serial); *p; p++)
        hash = (hash ^ (uint8_t)*p) * 16777619u;
    return hash;
}

static uint32_t chunks_of(const caucus_serials *s) {
    return (s->clients - 1) / CAUCUS_CHUNK_CLIENTS + 1;
}

bool caucus_serials_open(caucus_serials *s, uint32_t clients) {
    *s = (caucus_serials){.clients = clients};
    s->serial = calloc(clients, sizeof *s->serial);
    s->changed = calloc(chunks_of(s), 1);
    s->table = calloc(FIRST_ROOM, sizeof *s->table);
    s->room = FIRST_ROOM;
    pthread_rwlock_init(&s->lock, NULL);
    s->open = true;
    if (s->serial && s->changed && s->table)
        return true;
    caucus_serials_close(s);
    return false;
}

void caucus_serials_close(caucus_serials *s) {
    if (!s->open)
        return;
    for (uint32_t i = 0; s->serial && i < s->clients; i++)
        free(s->serial[i]);
    free(s->serial);
    free(s->changed);
    free(s->table);
    pthread_rwlock_destroy(&s->lock);
    *s = (caucus_serials){0};
}

static void insert(const caucus_serials *s, uint32_t *table, uint32_t room, uint32_t client) {
    uint32_t at = hash_of(s->serial[client - 1]) & (room - 1);
    while (table[at] != 0)
        at = (at + 1) & (room - 1);
    table[at] = client;
}

/* Entries of clients that have come with another since are found out and left out; a client is in it once. */
static bool is_current(const caucus_serials *s, uint32_t at) {
    const uint32_t client = s->table[at];
    if (client == 0 || !s->serial[client - 1])
        return false;
    for (uint32_t k = hash_of(s->serial[client - 1]) & (s->room - 1); s->table[k] != 0; k = (k + 1) & (s->room - 1))
        if (s->table[k] == client)
            return k == at; /* the first place where it would be looked for */
    return false;
}

/* Room for one more at least. Returns: false without memory. */
static bool grow(caucus_serials *s) {
    if (s->used < s->room / 2)
        return true;
    uint32_t current = 0;
    for (uint32_t i = 0; i < s->room; i++)
        current += is_current(s, i);
    const uint32_t room = current >= s->room / 4 ? 2 * s->room : s->room;
    uint32_t *table = calloc(room, sizeof *table);
    if (!table)
        return false;
    for (uint32_t i = 0; i < s->room; i++)
        if (is_current(s, i))
            insert(s, table, room, s->table[i]);
    free(s->table);
    s->table = table;
    s->room = room;
    s->used = current;
    return true;
}

/* Under the lock. Takes the text. */
static void put(caucus_serials *s, uint32_t client, char *text) {
    char **own = &s->serial[client - 1];
    if (text && !grow(s)) {
        free(text);
        text = NULL;
    }
    if (!*own && !text)
        return;
    s->changed[(client - 1) / CAUCUS_CHUNK_CLIENTS] = 1;
    free(*own);
    *own = text;
    if (text) {
        insert(s, s->table, s->room, client);
        s->used++;
    }
}

/* Nearly everybody comes with what it came with last: that takes a look, which nobody waits for. */
void caucus_serials_note(caucus_serials *s, uint32_t client, const char *serial) {
    const bool none = !serial || !serial[0];
    pthread_rwlock_rdlock(&s->lock);
    const char *own = s->serial[client - 1];
    const bool news = none ? own != NULL : !own || strcmp(own, serial) != 0;
    pthread_rwlock_unlock(&s->lock);
    if (!news)
        return;
    char *text = none ? NULL : strdup(serial);
    pthread_rwlock_wrlock(&s->lock);
    put(s, client, text);
    pthread_rwlock_unlock(&s->lock);
}

bool caucus_serials_is(caucus_serials *s, uint32_t client, const char *serial) {
    pthread_rwlock_rdlock(&s->lock);
    const bool is = s->serial[client - 1] && same(s->serial[client - 1], serial);
    pthread_rwlock_unlock(&s->lock);
    return is;
}

void caucus_serials_of(caucus_serials *s, uint32_t client, char *ret, size_t bytes) {
    pthread_rwlock_rdlock(&s->lock);
    const char *own = s->serial[client - 1] ? s->serial[client - 1] : "-";
    const size_t length = strnlen(own, bytes - 1);
    memcpy(ret, own, length);
    ret[length] = '\0';
    pthread_rwlock_unlock(&s->lock);
}

void caucus_serials_find(caucus_serials *s, const char *serial, void (*each)(void *user, uint32_t client), void *user) {
    pthread_rwlock_rdlock(&s->lock);
    for (uint32_t at = hash_of(serial) & (s->room - 1); s->table[at] != 0; at = (at + 1) & (s->room - 1)) {
        const uint32_t client = s->table[at];
        if (is_current(s, at) && same(s->serial[client - 1], serial))
            each(user, client);
    }
    pthread_rwlock_unlock(&s->lock);
}

/* ---- saved ---- */

/* A serial number as bytes; 0: none is known, or one that no authority gives out (zero, negative): it is not kept. */
static size_t bytes_of(const char *serial, uint8_t ret[MOST_BYTES]) {
    size_t size = 0;
    if (!serial || sodium_hex2bin(ret, MOST_BYTES, serial, strlen(serial), NULL, &size, NULL) != 0)
        return 0;
    return size;
}

static bool write_chunk(const caucus_serials *s, uint32_t number, caucus_piece *chunk) {
    uint8_t bytes[MOST_BYTES];
    uint32_t first, known = 0;
    size_t size = HEAD_BYTES, length;
    const uint32_t count = caucus_chunk_clients(s->clients, number, &first);
    for (uint32_t i = 0; i < count; i++)
        if ((length = bytes_of(s->serial[first + i], bytes)) > 0) {
            size += ENTRY_BYTES + length;
            known++;
        }
    if (!caucus_piece_resize(chunk, size))
        return false;
    uint8_t *to = caucus_le_put(chunk->bytes, known, 4);
    for (uint32_t i = 0; i < count; i++)
        if ((length = bytes_of(s->serial[first + i], bytes)) > 0) {
            to = caucus_le_put(caucus_le_put(to, i, 2), length, 1);
            memcpy(to, bytes, length);
            to += length;
        }
    return true;
}

/* Who changes something waits; who looks does not. One thread saves, and it alone writes `changed` beside them. */
bool caucus_serials_save(caucus_serials *s, uint32_t number, caucus_piece *chunk) {
    pthread_rwlock_rdlock(&s->lock);
    const bool due = s->changed[number] != 0 || chunk->size == 0;
    const bool done = !due || write_chunk(s, number, chunk);
    if (due && done) {
        caucus_piece_stamp(chunk);
        s->changed[number] = 0;
    }
    pthread_rwlock_unlock(&s->lock);
    return done;
}

static bool read_chunk(caucus_serials *s, uint32_t number, const caucus_piece *chunk) {
    uint32_t first, next = 0;
    const uint32_t count = caucus_chunk_clients(s->clients, number, &first);
    if (chunk->size < HEAD_BYTES)
        return false;
    const uint8_t *from = chunk->bytes + HEAD_BYTES, *end = chunk->bytes + chunk->size;
    const size_t known = (size_t)caucus_le_get(chunk->bytes, 4);
    for (size_t i = 0; i < known; i++) {
        if ((size_t)(end - from) < ENTRY_BYTES)
            return false;
        const uint32_t at = (uint32_t)caucus_le_get(from, 2);
        const size_t length = from[2];
        from += ENTRY_BYTES;
        if (at < next || at >= count || length == 0 || length > MOST_BYTES || (size_t)(end - from) < length)
            return false;
        char text[CAUCUS_SERIAL_BYTES];
        (void)sodium_bin2hex(text, sizeof text, from, length);
        for (char *letter = text; *letter; letter++) /* as OpenSSL writes it */
            *letter = (char)toupper((unsigned char)*letter);
        put(s, first + at + 1, strdup(text)); /* without memory: as if it had never come */
        from += length;
        next = at + 1;
    }
    return from == end;
}

bool caucus_serials_restore(caucus_serials *s, uint32_t number, const caucus_piece *chunk) {
    pthread_rwlock_wrlock(&s->lock);
    const bool good = read_chunk(s, number, chunk);
    pthread_rwlock_unlock(&s->lock);
    return good;
}
