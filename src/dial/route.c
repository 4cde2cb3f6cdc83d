/* SPDX-License-Identifier: Apache-2.0 */
/* route.c: see route.h. */
#include "dial/route.h"

#include <string.h>

static bool has_refused(const caucus_route *r, const struct sockaddr_storage *address) {
    for (size_t i = 0; i < r->refusals; i++)
        if (caucus_address_same(&r->refused[i], address))
            return true;
    return false;
}

/* Begin with the one at `first`. */
static void rotate(caucus_route *r, size_t first) {
    caucus_address before[CAUCUS_ADDRESSES_MOST];
    memcpy(before, r->address, r->count * sizeof before[0]);
    for (size_t i = 0; i < r->count; i++)
        r->address[i] = before[(first + i) % r->count];
}

caucus_status caucus_route_begin(caucus_route *r, const char *connect, bool plain, caucus_error *ret_error) {
    size_t all = 0;
    r->now = NULL;
    r->count = r->tried = 0;
    caucus_status status = caucus_address_resolve_all(connect, "connect", r->address, &all, ret_error);
    if (status != CAUCUS_OK)
        return status;
    for (size_t i = 0; i < all; i++)
        if (!has_refused(r, &r->address[i].socket) && !(plain && !r->address[i].loopback))
            r->address[r->count++] = r->address[i];
    for (size_t i = 0; i < r->count; i++)
        if (caucus_address_same(&r->address[i].socket, &r->last)) {
            rotate(r, r->last_served ? i : i + 1);
            break;
        }
    return CAUCUS_OK;
}

bool caucus_route_has_next(const caucus_route *r) {
    return r->tried < r->count;
}

const caucus_address *caucus_route_next(caucus_route *r) {
    if (!caucus_route_has_next(r))
        return NULL;
    r->now = &r->address[r->tried++];
    return r->now;
}

void caucus_route_end(caucus_route *r, bool served) {
    if (r->now)
        r->last = r->now->socket;
    r->last_served = served;
}

void caucus_route_forgive(caucus_route *r) {
    r->refusals = 0;
}

bool caucus_route_refused(caucus_route *r) {
    if (r->now && r->refusals < CAUCUS_ROUTE_REFUSALS)
        r->refused[r->refusals++] = r->now->socket;
    for (size_t i = 0; i < r->count; i++)
        if (!has_refused(r, &r->address[i].socket))
            return true;
    return false;
}
