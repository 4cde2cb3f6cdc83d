/* SPDX-License-Identifier: Apache-2.0 */
/* server_claims.c: clients that have heard more than is committed here.
 *
 * A client says in its HELLO how many announcements it has heard. More than were committed means that somebody runs an
 * older copy of the coordinator's state (a backup put back, with its mark), or that the client's own state is not of
 * this run. Deciding on would announce serials a second time with other experts, and draw noise twice for what was
 * released. So such a client is told to come again later, no step is decided while its claim is open, and from two
 * different clients on (one, in a fleet of fewer than four) the coordinator holds that it is the older copy and says
 * so. A claim is closed when the client comes again having heard no more than was committed, or when it is revoked; a
 * person who knows better starts with ignore_claims, and then the clients are refused instead. */
#include "net/server_impl.h"

#include <inttypes.h>

#define FLEET_OF_ONE_CLAIM 4 /* below this many clients one claim is enough */

static uint32_t enough(const caucus_server *s) {
    return s->clients < FLEET_OF_ONE_CLAIM ? 1 : 2;
}

uint32_t caucus_claims_open(const caucus_server *s) {
    return atomic_load(&s->claims);
}

bool caucus_claims_rolled_back(const caucus_server *s) {
    return atomic_load(&s->claims) >= enough(s);
}

bool caucus_claims_note(caucus_server *s, uint32_t client, uint64_t heard, uint64_t committed) {
    if (s->set.ignore_claims)
        return false;
    if (atomic_exchange(&s->claim[client - 1], 1) == 1)
        return true;
    const uint32_t open = atomic_fetch_add(&s->claims, 1) + 1;
    caucus_server_log(s, 0,
                      "client %u has heard %" PRIu64 " announcements and %" PRIu64 " are committed here: no step is "
                      "decided until this is cleared up",
                      client, heard, committed);
    if (open == enough(s))
        caucus_server_log(s, 0,
                          "this state is an older copy: %u clients have heard more than it holds, and nothing more is "
                          "decided — stop this coordinator and start the one with the latest state",
                          open);
    return true;
}

void caucus_claims_drop(caucus_server *s, uint32_t client) {
    if (atomic_exchange(&s->claim[client - 1], 0) == 0)
        return;
    atomic_fetch_sub(&s->claims, 1);
    caucus_server_log(s, 1, "client %u no longer claims to have heard more than is committed here", client);
    caucus_step_look(s);
}
