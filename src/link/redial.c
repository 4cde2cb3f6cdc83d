/* SPDX-License-Identifier: Apache-2.0 */
/* redial.c: see redial.h. */
#include "link/redial.h"

#include "algo/wipe.h"
#include "num/fail.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* An address where one is not welcome is treated as if it had failed so often: the longest pause, whatever `first`
 * is. */
#define UNWELCOME_FAILURES 31u

caucus_status caucus_redial_init(caucus_redial *r, const caucus_link_settings *s, caucus_error *ret_error) {
    static const char *const nameless[] = {""};
    const char *const *text = s->addresses > 0 ? s->address : nameless;
    size_t count = s->addresses > 0 ? s->addresses : 1;
    *r = (caucus_redial){.pause_first_ms = s->pause_first_ms,
                         .pause_most_ms = s->pause_most_ms,
                         .open_ms = s->open_ms,
                         .grace_ms = s->grace_ms,
                         .patience_most_ms = s->patience_most_ms};
    randombytes_buf(&r->jitter, sizeof r->jitter);
    r->address = calloc(count, sizeof *r->address);
    if (!r->address)
        return caucus_fail_memory(ret_error, "address");
    for (; r->addresses < count; r->addresses++) {
        const char *own = text[r->addresses];
        if (!own)
            return caucus_fail(ret_error, CAUCUS_E_RANGE, "address", "number %zu of %zu is missing", r->addresses + 1,
                               count);
        r->address[r->addresses] = (caucus_redial_address){.text = strdup(own), .when = INT64_MIN};
        if (!r->address[r->addresses].text)
            return caucus_fail_memory(ret_error, "address");
    }
    r->floor = INT64_MIN;
    return CAUCUS_OK;
}

void caucus_redial_free(caucus_redial *r) {
    for (size_t i = 0; i < r->addresses; i++)
        caucus_wipe_free(r->address[i].text, strlen(r->address[i].text));
    caucus_wipe_free(r->address, r->addresses * sizeof *r->address);
    *r = (caucus_redial){0};
}

/* A number of SplitMix64 (Steele, Lea, Flood 2014): pauses of different clients must differ, nothing more. */
static uint64_t random_number(caucus_redial *r) {
    uint64_t z = r->jitter += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The pause after failure n (from 0): uniform in [w/2, w], w = min(first * 2^n, most). */
static int64_t pause_ms(caucus_redial *r, uint32_t n) {
    uint64_t most = n < 31 ? (uint64_t)r->pause_first_ms << n : r->pause_most_ms;
    most = most < r->pause_most_ms ? most : r->pause_most_ms;
    return (int64_t)(most / 2 + random_number(r) % (most - most / 2 + 1));
}

static int64_t allowed(const caucus_redial *r, size_t i) {
    return r->address[i].when > r->floor ? r->address[i].when : r->floor;
}

/* The address that may be dialled first; `addresses` if all have refused. */
static size_t earliest(const caucus_redial *r) {
    size_t best = r->addresses;
    for (size_t k = 0; k < r->addresses; k++) {
        size_t i = (r->current + k) % r->addresses;
        if (!r->address[i].refused && (best == r->addresses || allowed(r, i) < allowed(r, best)))
            best = i;
    }
    return best;
}

const char *caucus_redial_next(caucus_redial *r, int64_t now) {
    if (!r->begun)
        r->seen = now;
    r->begun = true;
    if (r->phase != CAUCUS_REDIAL_APART)
        return NULL;
    size_t i = earliest(r);
    if (i == r->addresses || allowed(r, i) > now)
        return NULL;
    r->current = i;
    r->phase = CAUCUS_REDIAL_DIALLING;
    r->give_up = now + r->open_ms;
    return r->address[i].text;
}

void caucus_redial_connected(caucus_redial *r, int64_t now) {
    r->phase = CAUCUS_REDIAL_CONNECTED;
    r->since = now;
    r->fruitful = r->unwelcome = false;
}

void caucus_redial_lost(caucus_redial *r, int64_t now) {
    if (r->phase == CAUCUS_REDIAL_APART)
        return;
    caucus_redial_address *a = &r->address[r->current];
    if (r->unwelcome)
        a->failures = UNWELCOME_FAILURES;
    else if (r->fruitful)
        a->failures = 0;
    int64_t soon = pause_ms(r, 0);
    r->floor = now + soon;
    a->when = a->failures == 0 ? r->floor : now + pause_ms(r, a->failures);
    a->failures += a->failures < UNWELCOME_FAILURES;
    if (r->unwelcome || !r->fruitful)
        r->current = (r->current + 1) % r->addresses;
    r->fruitful = r->unwelcome = false;
    r->phase = CAUCUS_REDIAL_APART;
}

void caucus_redial_refused(caucus_redial *r) {
    r->address[r->current].refused = true;
}

void caucus_redial_forgive(caucus_redial *r) {
    r->address[r->current].refused = false;
}

void caucus_redial_forgive_all(caucus_redial *r) {
    for (size_t i = 0; i < r->addresses; i++)
        r->address[i].refused = false;
}

bool caucus_redial_all_refused(const caucus_redial *r) {
    return earliest(r) == r->addresses;
}

/* Note since when an announcement is waited for, if one is. */
static void look(caucus_redial *r, const caucus_redial_due *due, int64_t now) {
    if (due->heard != r->heard || !due->awaits) {
        r->heard = due->heard;
        r->late = false;
        r->patience_ms = 0;
    }
    if (r->patience_ms == 0 ||
        r->phase != CAUCUS_REDIAL_CONNECTED) /* not waiting until now, or not on this connection */
        r->since = now;
    if (due->awaits && due->deadline_ms > 0 && r->patience_ms == 0)
        r->patience_ms = (int64_t)due->deadline_ms + r->grace_ms;
}

caucus_link_overdue caucus_redial_timeout(caucus_redial *r, const caucus_redial_due *due, int64_t now) {
    look(r, due, now);
    if (r->phase == CAUCUS_REDIAL_DIALLING)
        return now >= r->give_up ? CAUCUS_LINK_NO_ANSWER : CAUCUS_LINK_IN_TIME;
    if (r->phase != CAUCUS_REDIAL_CONNECTED || r->patience_ms == 0 || now - r->since <= r->patience_ms)
        return CAUCUS_LINK_IN_TIME;
    r->late = true;
    int64_t twice = 2 * r->patience_ms < r->patience_most_ms ? 2 * r->patience_ms : r->patience_most_ms;
    r->patience_ms = twice > r->patience_ms ? twice : r->patience_ms;
    r->since = now;
    return CAUCUS_LINK_NO_ANNOUNCEMENT;
}

int64_t caucus_redial_wait(caucus_redial *r, const caucus_redial_due *due, int64_t now) {
    look(r, due, now);
    int64_t when;
    if (r->phase == CAUCUS_REDIAL_CONNECTED) {
        if (r->patience_ms == 0)
            return -1;
        when = r->since + r->patience_ms + 1;
    } else if (r->phase == CAUCUS_REDIAL_DIALLING) {
        when = r->give_up;
    } else {
        size_t i = earliest(r);
        if (i == r->addresses)
            return 0; /* nothing will change: the caller should see it now, not sleep over it */
        when = allowed(r, i);
    }
    return when > now ? when - now : 0;
}

int64_t caucus_redial_missing(caucus_redial *r, int64_t now) {
    /* A connection alone is no coordinator: a proxy in front of one that is gone accepts all of them. */
    if (!r->begun || (r->phase == CAUCUS_REDIAL_CONNECTED && r->fruitful && !r->late))
        r->seen = now;
    r->begun = true;
    return now - r->seen;
}
