/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_link.c: a client's state file (join --state), altered by somebody who can also make its checksums right. The
 * first byte says which plan, the rest is the file without its last checksum; the one of the machine inside is made
 * right, too, where the lengths allow it. It goes the way it goes at a start: from a file, through the journal, into a
 * link. Whatever is taken must be fit to go on with, and whatever it sends must be a report of this client.
 * make_corpus.c makes the corpus. */
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "link/plain_link.h"
#include "plan/plan.h"
#include "scratch.h"
#include "state_plans.h"
#include "store/journal.h"
#include "wire/wire.h"

#include <caucus/link.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 4 + 32 + 4 + 4 + 4 + 8 + 4, MACHINE_AT = 4 + 32 + 4 + 4 + 4 };

static char place[64], path[96];
static caucus_journal *journal;

static void remove_place(void) {
    char lock[128];
    (void)snprintf(lock, sizeof lock, "%s.lock", path);
    caucus_journal_close(journal);
    (void)unlink(path);
    (void)unlink(lock);
    (void)rmdir(place);
}

static void make_place(void) {
    (void)snprintf(place, sizeof place, "%s/caucus-fuzz-XXXXXX", scratch_root());
    if (mkdtemp(place) == NULL)
        abort();
    (void)snprintf(path, sizeof path, "%s/state", place);
    if (caucus_journal_open(path, &journal, NULL) != CAUCUS_OK)
        abort();
    (void)atexit(remove_place);
}

/* The checksum of the machine's part, and that of all. */
static void seal(uint8_t *state, size_t size) {
    uint64_t machine = 0;
    for (size_t i = 0; size >= HEAD && i < 8; i++)
        machine |= (uint64_t)state[MACHINE_AT + i] << (8 * i);
    if (size >= HEAD && machine >= crypto_hash_sha256_BYTES && machine <= size - HEAD)
        crypto_hash_sha256(state + HEAD + machine - crypto_hash_sha256_BYTES, state + HEAD,
                           machine - crypto_hash_sha256_BYTES);
    crypto_hash_sha256(state + size, state, size);
}

static bool save(void *user, const uint8_t *bytes, size_t size) {
    size_t *saved = user;
    *saved = size + (size > 0 && bytes[0] == 0);
    return true;
}

static void tell(caucus_link *link, const caucus_frame *frame) {
    uint8_t bytes[1024];
    size_t size = caucus_wire_put(frame, bytes, sizeof bytes);
    if (size == 0)
        abort();
    (void)!caucus_link_receive(link, bytes, size, NULL);
}

/* Everything it has to say: whole frames, after the HELLO each a report of client 1. */
static void listen(caucus_link *link, const caucus_plan *plan) {
    size_t size;
    const uint8_t *bytes;
    bool first = true;
    while ((bytes = caucus_link_to_send(link, &size)) != NULL) {
        int64_t scratch[8];
        caucus_frame frame;
        size_t used = 0;
        uint8_t *copy = malloc(size);
        if (copy == NULL)
            return;
        memcpy(copy, bytes, size);
        if (size == 0 ||
            caucus_wire_take(copy, size, plan->settings.experts, scratch, &used, &frame, NULL) != CAUCUS_OK ||
            used == 0)
            abort();
        if (!first && frame.kind != CAUCUS_FRAME_GOODBYE &&
            (frame.kind != CAUCUS_FRAME_REPORT || frame.report.client != 1))
            abort();
        first = false;
        free(copy);
        caucus_link_sent(link, used);
    }
}

static void go_on(caucus_link *link, const caucus_plan *plan) {
    const double loss[3] = {0.5, 0.25, 1};
    caucus_frame welcome = {
        .kind = CAUCUS_FRAME_WELCOME, .version = CAUCUS_WIRE_VERSION, .cost_next = 2, .sums_next = 1};
    memset(welcome.plan, PLAN_HASH_BYTE, sizeof welcome.plan);
    caucus_link_set_gradient(link, flat, NULL);
    caucus_link_connected(link, 0);
    tell(link, &welcome);
    listen(link, plan);
    for (int round = 0; round < 80 && caucus_link_ready(link); round++)
        if (caucus_link_observe(link, loss, NULL) == CAUCUS_E_RANGE)
            abort();
    listen(link, plan);
    caucus_frame last = {.kind = CAUCUS_FRAME_ANNOUNCEMENT,
                         .announcement = {.serial = caucus_client_heard(caucus_link_client(link)),
                                          .expert = 1,
                                          .ask = CAUCUS_ASK_NOTHING}};
    tell(link, &last);
    listen(link, plan);
    (void)!caucus_link_leave(link, "bye", NULL);
    listen(link, plan);
    caucus_link_disconnected(link, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (journal == NULL) {
        make_plans();
        make_place();
    }
    if (size < 1 || size > 1 << 16)
        return 0;
    const caucus_plan *plan = plans[data[0] % PLANS];
    size_t bytes = size - 1 + crypto_hash_sha256_BYTES, got = 0, saved = 0;
    uint8_t *state = malloc(bytes), *read = NULL;
    if (state == NULL)
        return 0;
    memcpy(state, data + 1, size - 1);
    seal(state, size - 1);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, state, bytes) != (ssize_t)bytes || close(fd) != 0)
        abort();
    if (caucus_journal_read(journal, &read, &got, NULL) != CAUCUS_OK || got != bytes || memcmp(read, state, bytes) != 0)
        abort();
    uint8_t hash[32];
    memset(hash, PLAN_HASH_BYTE, sizeof hash);
    caucus_key key;
    caucus_key_from_seed(1, &key);
    caucus_link *link = NULL;
    if (plain_link(plan, hash, 1, &key, read, got, save, &saved, &link, NULL) == CAUCUS_OK)
        go_on(link, plan);
    caucus_link_free(link);
    free(read);
    free(state);
    return 0;
}
