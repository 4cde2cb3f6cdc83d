/* SPDX-License-Identifier: Apache-2.0 */
/* route.h: all that a name stands for: which of them is tried now, and which have refused.
 * layer: dial
 *
 * A link knows names and decides when one of them is dialled (link/redial.h). What a name stands for is looked up anew
 * with every attempt, and an attempt goes through all of it, one after the other: it begins with the one that served
 * last time, or behind the one that did not. One that does not answer is left for the next after a while. One that has
 * refused for good is not tried again; the name has refused when all that it stands for have. */
#ifndef CAUCUS_DIAL_ROUTE_H
#define CAUCUS_DIAL_ROUTE_H

#include "dial/address.h"

#define CAUCUS_ROUTE_REFUSALS 64u /* that are remembered */

typedef struct caucus_route {
    caucus_address address[CAUCUS_ADDRESSES_MOST]; /* what the name stands for, without those that are not tried */
    size_t count, tried;
    caucus_address *now;          /* the one in hand; NULL: none yet */
    struct sockaddr_storage last; /* the last one of an attempt that is over */
    bool last_served;
    struct sockaddr_storage refused[CAUCUS_ROUTE_REFUSALS];
    size_t refusals;
} caucus_route;

/** Look a name up; an attempt begins. plain: only addresses of this machine are tried.
 *  Returns: CAUCUS_OK, also if nothing is left to try (see caucus_route_next); as caucus_address_resolve. */
caucus_status caucus_route_begin(caucus_route *route, const char *connect, bool plain,
                                 caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** The next one to try in this attempt: it is in hand now. NULL: there is none, and the one in hand stays. */
const caucus_address *caucus_route_next(caucus_route *route);
/** Is there one that was not tried in this attempt? */
bool caucus_route_has_next(const caucus_route *route);
/** The attempt is over. served: the one in hand was a coordinator. */
void caucus_route_end(caucus_route *route, bool served);
/** The one in hand refuses for good. Returns: whether another one that the name stands for has not. */
bool caucus_route_refused(caucus_route *route);
/** Nobody has refused any more: this client has got another certificate. */
void caucus_route_forgive(caucus_route *route);

#endif
