/* SPDX-License-Identifier: Apache-2.0 */
/* saying.c: see saying.h. */
#include "relay/saying.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/wipe.h"
#include "num/little_endian.h"
#include "num/number_text.h"
#include "wire/wire.h"

#define FIRST_ROOM 512u
#define FRAME_ROOM 512u /* an announcement is far shorter */

/* Room for so many bytes more. */
static bool make_room(caucus_saying *s, size_t more) {
    if (s->failed || s->room - s->used >= more)
        return !s->failed;
    size_t room = s->room > 0 ? s->room : FIRST_ROOM;
    while (room - s->used < more)
        room *= 2;
    uint8_t *grown = caucus_wipe_grow(s->bytes, s->used, s->room, room); /* what is sealed later lies open in it now */
    if (!grown) {
        s->failed = true;
        return false;
    }
    s->bytes = grown;
    s->room = room;
    return true;
}

void caucus_saying_begin(caucus_saying *s, caucus_saying_kind kind) {
    s->used = 0;
    s->failed = false;
    if (make_room(s, CAUCUS_SEAL_MORE_BYTES))
        s->used = CAUCUS_SEAL_MORE_BYTES;
    caucus_saying_put(s, kind, 1);
}

void caucus_saying_put(caucus_saying *s, uint64_t value, size_t bytes) {
    if (!make_room(s, bytes))
        return;
    (void)caucus_le_put(s->bytes + s->used, value, bytes);
    s->used += bytes;
}

void caucus_saying_put_bytes(caucus_saying *s, const void *from, size_t size) {
    if (size == 0 || !make_room(s, size))
        return;
    memcpy(s->bytes + s->used, from, size);
    s->used += size;
}

void caucus_saying_put_text(caucus_saying *s, const char *text) {
    const size_t length = strnlen(text, 255);
    caucus_saying_put(s, length, 1);
    caucus_saying_put_bytes(s, text, length);
}

void caucus_saying_put_announcement(caucus_saying *s, const caucus_announcement *announcement) {
    const caucus_frame frame = {.kind = CAUCUS_FRAME_ANNOUNCEMENT, .announcement = *announcement};
    if (!make_room(s, FRAME_ROOM))
        return;
    const size_t bytes = caucus_wire_put(&frame, s->bytes + s->used, s->room - s->used);
    s->failed = bytes == 0;
    s->used += bytes;
}

void caucus_saying_set(caucus_saying *s, size_t at, uint64_t value, size_t bytes) {
    if (!s->failed)
        (void)caucus_le_put(s->bytes + CAUCUS_SEAL_MORE_BYTES + at, value, bytes);
}

size_t caucus_saying_size(const caucus_saying *s) {
    return s->failed ? 0 : s->used - CAUCUS_SEAL_MORE_BYTES;
}

void caucus_saying_free(caucus_saying *s) {
    caucus_wipe_free(s->bytes, s->room);
    *s = (caucus_saying){0};
}

bool caucus_saying_send(caucus_saying *s, caucus_seal *seal, caucus_line *line, const char *subject) {
    if (s->failed)
        return false;
    const size_t size = caucus_saying_size(s);
    uint8_t *sealed = malloc(size + CAUCUS_SEAL_MORE_BYTES);
    if (!sealed)
        return false;
    caucus_seal_put(seal, subject, s->bytes + CAUCUS_SEAL_MORE_BYTES, size, sealed);
    const bool sent = caucus_line_say(line, subject, sealed, size + CAUCUS_SEAL_MORE_BYTES);
    free(sealed);
    return sent;
}

uint64_t caucus_hearing_get(caucus_hearing *h, size_t bytes) {
    const uint8_t *from = caucus_hearing_bytes(h, bytes);
    return from ? caucus_le_get(from, bytes) : 0;
}

const uint8_t *caucus_hearing_bytes(caucus_hearing *h, size_t size) {
    if (h->failed || (size_t)(h->end - h->at) < size) {
        h->failed = true;
        return NULL;
    }
    const uint8_t *ret = h->at;
    h->at += size;
    return ret;
}

void caucus_hearing_text(caucus_hearing *h, char *ret, size_t room) {
    const size_t length = caucus_hearing_get(h, 1);
    const uint8_t *from = caucus_hearing_bytes(h, length);
    size_t i = 0;
    for (; from && i < length && i + 1 < room; i++)
        ret[i] = from[i] >= ' ' && from[i] <= '~' ? (char)from[i] : '?';
    ret[i] = '\0';
}

caucus_announcement caucus_hearing_announcement(caucus_hearing *h) {
    caucus_frame frame = {0};
    caucus_error error = {0};
    int64_t scratch[CAUCUS_SHORTLIST]; /* for reports, which these are not */
    size_t used = 0;
    if (h->failed ||
        caucus_wire_take(h->at, (size_t)(h->end - h->at), CAUCUS_SHORTLIST, scratch, &used, &frame, &error) !=
            CAUCUS_OK ||
        used == 0 || frame.kind != CAUCUS_FRAME_ANNOUNCEMENT) {
        h->failed = true;
        return (caucus_announcement){0};
    }
    h->at += used;
    return frame.announcement;
}

void caucus_subject(const caucus_seal_about *about, bool up, uint32_t relay, char ret[CAUCUS_LINE_SUBJECT_BYTES]) {
    char run[33], number[16] = "*";
    if (relay > 0)
        (void)snprintf(number, sizeof number, "%u", relay);
    (void)snprintf(ret, CAUCUS_LINE_SUBJECT_BYTES, "caucus.%s.%s.%s", sodium_bin2hex(run, sizeof run, about->run, 16),
                   up ? "up" : "down", number);
}

uint16_t caucus_subject_relay(const char *subject) {
    const char *last = strrchr(subject, '.');
    uint64_t relay = 0;
    return last && caucus_whole_parse(last + 1, 1, UINT16_MAX, &relay) ? (uint16_t)relay : 0;
}

void caucus_seal_run(const uint8_t plan[32], const char *name, uint8_t ret[32]) {
    crypto_generichash_state hash;
    (void)crypto_generichash_init(&hash, NULL, 0, 32);
    (void)crypto_generichash_update(&hash, plan, 32);
    (void)crypto_generichash_update(&hash, (const uint8_t *)name, strlen(name));
    (void)crypto_generichash_final(&hash, ret, 32);
}
