/* SPDX-License-Identifier: Apache-2.0 */
/* make_corpus.c: what fuzz_state.c, fuzz_link.c and fuzz_relayed.c begin with:  build/tests/make_corpus DIRECTORY
 *
 * A run of every plan of state_plans.h; at its beginning, twice on the way and at its end the coordinator's machine and
 * client 1's go to state/, and client 1's link, whose reports nobody acknowledges, to link/; to relayed/ go partials of
 * both clients for the machines of relayed_machine.h. To be run on tests/fuzz/corpus when a format changes; findings
 * (files with other names) are not touched. make_corpus --check DIRECTORY: are they still taken? States of an old
 * format would all be refused at their first word, and fuzzing would begin with nothing. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "algo/relayed/relayed.h"
#include "link/plain_link.h"
#include "plan/plan.h"
#include "relayed_machine.h"
#include "wire/wire.h"

#include <caucus/link.h>

enum { HASH = 32, BYTES_MAX = 1 << 16, PARTS = 4 };

typedef struct run {
    const char *to;
    int plan;
    caucus_coordinator *coordinator;
    caucus_client *client[2];
    caucus_link *link;
    uint8_t link_state[BYTES_MAX];
    size_t link_bytes;
} run;

static void need(bool good, const char *what) {
    if (good)
        return;
    (void)fprintf(stderr, "make_corpus: %s\n", what);
    exit(1);
}

static bool keep_link(void *user, const uint8_t *bytes, size_t size) {
    run *r = user;
    need(size <= sizeof r->link_state, "a state is too long");
    memcpy(r->link_state, bytes, size);
    r->link_bytes = size;
    return true;
}

/* One file: the byte that chooses plan and machine, and a state without its checksum. */
static void put(const run *r, const char *folder, const char *kind, int part, uint8_t choice, const uint8_t *state,
                size_t bytes) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s/%s-%d-%d", r->to, folder, kind, r->plan, part);
    FILE *out = fopen(path, "wb");
    need(out != NULL && fputc(choice, out) == choice && fwrite(state, 1, bytes - HASH, out) == bytes - HASH &&
             fclose(out) == 0,
         path);
}

static void tell(run *r, const caucus_frame *frame) {
    uint8_t bytes[1024];
    size_t size = caucus_wire_put(frame, bytes, sizeof bytes);
    need(size > 0 && caucus_link_receive(r->link, bytes, size, NULL) == CAUCUS_OK, "the link does not listen");
}

static void connect_link(run *r) {
    caucus_frame welcome = {.kind = CAUCUS_FRAME_WELCOME, .version = CAUCUS_WIRE_VERSION};
    memset(welcome.plan, PLAN_HASH_BYTE, sizeof welcome.plan);
    caucus_link_connected(r->link, 0);
    tell(r, &welcome);
}

static void announce(run *r) {
    const caucus_announcement *a = caucus_coordinator_announcement(r->coordinator);
    for (int i = 0; i < 2; i++)
        need(caucus_client_hear(r->client[i], a) == CAUCUS_OK, "a client does not hear");
    caucus_frame frame = {.kind = CAUCUS_FRAME_ANNOUNCEMENT, .announcement = *a};
    tell(r, &frame);
}

static void put_all(run *r, int part) {
    uint8_t state[BYTES_MAX];
    size_t bytes = caucus_coordinator_state_bytes(r->coordinator), own = caucus_client_state_bytes(r->client[0]);
    need(bytes <= sizeof state && own <= sizeof state, "a state is too long");
    need(caucus_coordinator_save(r->coordinator, state, sizeof state) == CAUCUS_OK, "a coordinator is not saved");
    put(r, "state", "coordinator", part, (uint8_t)(2 * r->plan), state, bytes);
    need(caucus_client_save(r->client[0], state, sizeof state) == CAUCUS_OK, "a client is not saved");
    put(r, "state", "client", part, (uint8_t)(2 * r->plan + 1), state, own);
    need(caucus_link_leave(r->link, "", NULL) == CAUCUS_OK, "the link is not saved");
    put(r, "link", "link", part, (uint8_t)r->plan, r->link_state, r->link_bytes);
    connect_link(r);
}

static void open_run(run *r) {
    const caucus_plan *plan = plans[r->plan];
    caucus_key key[3];
    uint8_t hash[HASH];
    memset(hash, PLAN_HASH_BYTE, sizeof hash);
    for (uint64_t i = 0; i < 3; i++)
        caucus_key_from_seed(10 * (uint64_t)r->plan + i, &key[i]);
    need(caucus_coordinator_new(plan, &key[0], &r->coordinator) == CAUCUS_OK &&
             caucus_client_new(plan, 1, &key[1], &r->client[0]) == CAUCUS_OK &&
             caucus_client_new(plan, 2, &key[2], &r->client[1]) == CAUCUS_OK &&
             plain_link(plan, hash, 1, &key[1], NULL, 0, keep_link, r, &r->link, NULL) == CAUCUS_OK,
         "no memory");
    for (int i = 0; i < 2; i++)
        caucus_client_set_gradient(r->client[i], flat, NULL);
    caucus_link_set_gradient(r->link, flat, NULL);
    connect_link(r);
    announce(r);
}

static void play(run *r) {
    open_run(r);
    put_all(r, 0);
    uint64_t rounds = plans[r->plan]->settings.rounds;
    for (uint32_t round = 1; round <= rounds; round++) {
        for (int i = 0; i < 2; i++) {
            double loss[3] = {round > 10, round > 30, round % 3 * 0.1 + i * 0.05};
            need(caucus_client_observe(r->client[i], loss, 1) == CAUCUS_OK, "no round can be played");
            if (i == 0)
                need(caucus_link_observe(r->link, loss, NULL) == CAUCUS_OK, "no round can be played");
        }
        while (caucus_client_report(r->client[0])) {
            for (int i = 0; i < 2; i++)
                need(caucus_coordinator_receive(r->coordinator, caucus_client_report(r->client[i])) == CAUCUS_OK,
                     "a report is not counted");
            need(caucus_coordinator_decide(r->coordinator) == CAUCUS_OK, "a step is not decided");
            announce(r);
        }
        if (round == 8 || round == 40)
            put_all(r, round == 8 ? 1 : 2);
    }
    put_all(r, 3);
    caucus_coordinator_free(r->coordinator);
    caucus_client_free(r->client[0]);
    caucus_client_free(r->client[1]);
    caucus_link_free(r->link);
}

/* The state of one file, its checksum made; returns its bytes. */
static size_t get(const char *to, const char *folder, const char *kind, int plan, int part, uint8_t *ret) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s/%s-%d-%d", to, folder, kind, plan, part);
    FILE *in = fopen(path, "rb");
    need(in != NULL && fgetc(in) != EOF, path);
    size_t bytes = fread(ret, 1, BYTES_MAX - HASH, in);
    need(fclose(in) == 0, path);
    crypto_hash_sha256(ret + bytes, ret, bytes);
    return bytes + HASH;
}

static void check(const char *to, int plan, int part) {
    static uint8_t state[BYTES_MAX];
    uint8_t hash[HASH];
    caucus_key key;
    caucus_coordinator *coordinator = NULL;
    caucus_client *client = NULL;
    caucus_link *link = NULL;
    caucus_key_from_seed(1, &key);
    memset(hash, PLAN_HASH_BYTE, sizeof hash);
    size_t bytes = get(to, "state", "coordinator", plan, part, state);
    need(caucus_coordinator_restore(plans[plan], &key, state, bytes, &coordinator) == CAUCUS_OK,
         "state/coordinator is refused: make the corpus anew");
    bytes = get(to, "state", "client", plan, part, state);
    need(caucus_client_restore(plans[plan], 1, &key, state, bytes, &client) == CAUCUS_OK,
         "state/client is refused: make the corpus anew");
    bytes = get(to, "link", "link", plan, part, state);
    need(plain_link(plans[plan], hash, 1, &key, state, bytes, NULL, NULL, &link, NULL) == CAUCUS_OK,
         "link is refused: make the corpus anew");
    caucus_coordinator_free(coordinator);
    caucus_client_free(client);
    caucus_link_free(link);
}

enum { RELAYED_Q = 8 }; /* where a partial has it: beyond what its items can reach it is refused as a whole */

static void write_relayed(const char *to, const char *what, uint8_t choice, const uint8_t *bytes, size_t size) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/relayed/%s-%d-%d", to, what, choice % PLANS, choice / PLANS);
    FILE *out = fopen(path, "wb");
    need(out != NULL && fputc(choice, out) == choice && fwrite(bytes, 1, size, out) == size && fclose(out) == 0, path);
}

/* A relay's partial for each machine that fuzz_relayed.c knows: both clients, the second with what it owes; and one
 * that is refused after its items were noted. */
static void put_relayed(const char *to, uint8_t choice) {
    static uint8_t bytes[BYTES_MAX];
    caucus_coordinator *follower = relayed_machine(choice);
    caucus_gather *gather = NULL;
    need(caucus_gather_new(follower, &gather) == CAUCUS_OK, "no memory");
    for (uint32_t client = 1; client <= 2; client++)
        for (int items = 0; items < RELAYED_STEPS; items++) {
            const caucus_report r = relayed_answer(follower, client);
            (void)!caucus_gather_count(gather, &r);
        }
    const size_t size = caucus_gather_bytes(gather);
    need(caucus_gather_items(gather) > 0 && size <= sizeof bytes, "a partial is empty");
    caucus_gather_write(gather, bytes);
    write_relayed(to, "partial", choice, bytes, size);
    bytes[RELAYED_Q + 6] = 0x40;
    write_relayed(to, "beyond", choice, bytes, size);
    caucus_gather_free(gather);
    caucus_coordinator_free(follower);
}

static caucus_status take_relayed(const char *to, const char *what, uint8_t choice, uint32_t *ret_answered) {
    static uint8_t bytes[BYTES_MAX];
    char path[512];
    (void)snprintf(path, sizeof path, "%s/relayed/%s-%d-%d", to, what, choice % PLANS, choice / PLANS);
    FILE *in = fopen(path, "rb");
    need(in != NULL && fgetc(in) == choice, path);
    const size_t size = fread(bytes, 1, sizeof bytes, in);
    need(fclose(in) == 0, path);
    caucus_coordinator *c = relayed_machine(choice);
    caucus_relayed partial;
    need(caucus_relayed_read(plans[choice % PLANS], bytes, size, &partial) == CAUCUS_OK, path);
    const caucus_status status = caucus_relayed_take(c, &partial, &(caucus_relayed_from){0}, ret_answered);
    caucus_coordinator_free(c);
    return status;
}

static void check_relayed(const char *to, uint8_t choice) {
    uint32_t answered = 0;
    need(take_relayed(to, "partial", choice, &answered) == CAUCUS_OK && answered == 2,
         "relayed is refused: make the corpus anew");
    need(take_relayed(to, "beyond", choice, &answered) == CAUCUS_E_FORMAT,
         "relayed beyond reach is taken: make the corpus anew");
}

int main(int argc, char **argv) {
    bool checking = argc == 3 && strcmp(argv[1], "--check") == 0;
    need(argc == 2 || checking, "usage: make_corpus [--check] DIRECTORY");
    make_plans();
    for (uint8_t choice = 0; choice < PLANS * RELAYED_STEPS; choice++)
        (checking ? check_relayed : put_relayed)(argv[argc - 1], choice);
    for (int plan = 0; plan < PLANS; plan++) {
        static run r;
        r = (run){.to = argv[argc - 1], .plan = plan};
        for (int part = 0; checking && part < PARTS; part++)
            check(r.to, plan, part);
        if (!checking)
            play(&r);
        caucus_plan_free(plans[plan]);
    }
    return 0;
}
