/* SPDX-License-Identifier: Apache-2.0 */
/* descriptors.c: a connection is an open file, and a process may have so many of them and no more.
 *
 * Whether they are enough is found out at the start, not when the fleet comes: clients, strangers (lobby.h), and what
 * the coordinator needs for itself. If the limit is too small for what was asked for, that is said in one line that
 * names it; where nothing was asked for, the defaults become smaller instead. Should files run out all the same
 * (other limits of the machine, a limit that was lowered), it is said, and accepting waits (loop.c). */
#include "net/loop.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

/* Standard streams, state, ledger, list, certificates while they are read: with room to spare; per loop its listener,
 * its epoll and its eventfd, and a connection that is on its way in or out; the status page's own limit. */
#define OWN_FILES 48u
#define LOOP_FILES 4u
#define PAGE_FILES 72u
#define STRANGERS_DEFAULT 256u /* and one for each client: a whole fleet may come back at once */
#define SAY_AGAIN_NS 60000000000u

static uint64_t open_files_allowed(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return UINT64_MAX;
    if (files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
        (void)getrlimit(RLIMIT_NOFILE, &files);
    }
    return files.rlim_cur == RLIM_INFINITY ? UINT64_MAX : (uint64_t)files.rlim_cur;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

caucus_status caucus_descriptors_check(caucus_server *s, caucus_error *ret_error) {
    caucus_server_settings *set = &s->set;
    const uint64_t own = OWN_FILES + PAGE_FILES + (uint64_t)s->loops * LOOP_FILES, allowed = open_files_allowed();
    const uint64_t lobby = (uint64_t)s->loops * CAUCUS_LOBBY_LEAST;
    const uint64_t strangers = set->max_strangers ? (set->max_strangers > lobby ? set->max_strangers : lobby) : lobby;
    /* Where there are relays nobody has all clients: unless more was asked for, as many as the limit has room for. */
    const uint64_t room = allowed > own + strangers ? (allowed - own - strangers) / 2 : 0;
    const uint64_t clients = set->max_clients             ? set->max_clients
                             : caucus_server_is_shared(s) ? least(s->clients, room)
                                                          : s->clients;
    const uint64_t need = own + strangers + clients, spare = allowed > need ? allowed - need : 0;
    if (need > allowed) {
        caucus_status status =
            caucus_fail(ret_error, CAUCUS_E_RANGE, "max-clients",
                        "%" PRIu64 " connections of clients, %" PRIu64 " of strangers and %" PRIu64
                        " files of its own are more than the limit of open files, %" PRIu64 " (RLIMIT_NOFILE)",
                        clients, strangers, own, allowed);
        return caucus_fail_hint(ret_error, status,
                                "raise it (ulimit -n; LimitNOFILE= of a systemd unit), or give smaller ones");
    }
    /* What is to spare goes to strangers first: a fleet of m needs m places, and a little more where old connections
     * are still being closed. */
    if (!set->max_strangers)
        set->max_strangers = (uint32_t)least(strangers + spare / 2, (uint64_t)s->clients + STRANGERS_DEFAULT);
    if (!set->max_clients)
        set->max_clients = (uint32_t)least(clients + spare / 2, 2 * (uint64_t)s->clients + 64);
    return CAUCUS_OK;
}

void caucus_descriptors_out(caucus_loop *loop, int why) {
    caucus_server *s = loop->server;
    uint64_t last = atomic_load(&s->files_out_ns);
    atomic_fetch_add(&s->files_out, 1);
    if ((last == 0 || loop->now_ns > last + SAY_AGAIN_NS) &&
        atomic_compare_exchange_strong(&s->files_out_ns, &last, loop->now_ns))
        caucus_server_log(s, 0,
                          "no connection can be accepted: %s; %u clients are connected, the limit of open files is "
                          "%" PRIu64 ": raise it, or lower max-clients",
                          strerror(why), atomic_load(&s->present), open_files_allowed());
}
