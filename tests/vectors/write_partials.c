/* SPDX-License-Identifier: Apache-2.0 */
/* write_partials.c: vectors of partials, what a relay sends of its clients' reports (docs/PROTOCOL.md, "Relays"): the
 * reports, and the bytes that they become; and bytes that are no partial. */
#include <string.h>

#include "algo/coordinator.h"
#include "algo/relayed/relayed.h"
#include "vectors.h"

enum { CLIENTS = 6, EXPERTS = 3, ROOM = 1024 };

static caucus_plan *make_plan(caucus_algorithm algorithm, caucus_trust trust, caucus_message message) {
    caucus_settings s;
    caucus_plan *plan = NULL;
    caucus_settings_init(&s);
    s.algorithm = algorithm;
    s.trust = trust;
    s.message = message;
    s.clients = CLIENTS;
    s.experts = EXPERTS;
    s.rounds = 15;
    s.epsilon = 20;
    s.grid = 1000;
    need(caucus_plan_new(&s, &plan, NULL) == CAUCUS_OK, "no plan");
    return plan;
}

/* Reports of clients 2, 3 and 5 about the first question: one of them late by name, two of them as it asks. */
static void put_partial(caucus_json *json, const char *name, const caucus_plan *plan, uint8_t ret[ROOM], size_t *size) {
    static const uint32_t who[] = {2, 3, 5};
    caucus_key key;
    caucus_coordinator *coordinator = NULL;
    caucus_gather *gather = NULL;
    caucus_key_from_seed(11, &key);
    need(caucus_coordinator_new(plan, &key, &coordinator) == CAUCUS_OK, "no coordinator");
    need(caucus_gather_new(coordinator, &gather) == CAUCUS_OK, "no gather");
    const caucus_announcement *now = caucus_coordinator_announcement(coordinator);
    uint8_t frame[ROOM];
    const caucus_frame said = {.kind = CAUCUS_FRAME_ANNOUNCEMENT, .announcement = *now};
    caucus_json_object(json, NULL);
    caucus_json_text(json, "name", name);
    caucus_json_whole(json, "clients", CLIENTS);
    caucus_json_whole(json, "experts", EXPERTS);
    put_hex(json, "announcement", frame, caucus_wire_put(&said, frame, sizeof frame));
    caucus_json_list(json, "reports");
    for (size_t i = 0; i < sizeof who / sizeof who[0]; i++) {
        double row[EXPERTS];
        caucus_client *client = NULL;
        caucus_key_from_seed(20 + i, &key);
        need(caucus_client_new(plan, who[i], &key, &client) == CAUCUS_OK &&
                 caucus_client_hear(client, now) == CAUCUS_OK,
             "no client");
        while (caucus_client_rounds_left(client) > 0) {
            for (uint32_t y = 0; y < EXPERTS; y++)
                row[y] = (double)((who[i] * 7 + y * 13 + caucus_client_round(client)) % 64) / 64;
            need(caucus_client_observe(client, row, 1) == CAUCUS_OK, "no loss is taken");
        }
        const caucus_report *report = caucus_client_report(client);
        need(report && caucus_gather_count(gather, report) == CAUCUS_OK, "a report is not counted");
        const caucus_frame written = {.kind = CAUCUS_FRAME_REPORT, .report = *report};
        put_hex(json, NULL, frame, caucus_wire_put(&written, frame, sizeof frame));
        caucus_client_free(client);
    }
    caucus_json_close(json);
    *size = caucus_gather_bytes(gather);
    need(*size <= ROOM, "a partial is too long");
    caucus_gather_write(gather, ret);
    put_hex(json, "partial", ret, *size);
    caucus_json_close(json);
    caucus_gather_free(gather);
    caucus_coordinator_free(coordinator);
}

void write_partials(caucus_json *json) {
    caucus_plan *const stoch = make_plan(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO);
    caucus_plan *const svt = make_plan(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO);
    caucus_plan *const vote = make_plan(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_VOTE);
    uint8_t good[ROOM], bad[ROOM + 1] = {0};
    size_t size = 0;
    caucus_json_list(json, "partials");
    put_partial(json, "votes", vote, good, &size);
    put_partial(json, "costs", svt, good, &size);
    put_partial(json, "sums", stoch, good, &size);
    caucus_json_close(json);
    caucus_json_list(json, "no_partials"); /* made of the last one; one group of three clients, no item, sums */
    memcpy(bad, good, size);
    put_refused_as(json, "partial", "a byte is missing", bad, size - 1);
    put_refused_as(json, "partial", "a byte is left over", bad, size + 1);
    put_refused_as(json, "partial", "half a head", bad, 20);
    bad[24] = 3;
    put_refused_as(json, "partial", "values of a kind that there is not", bad, size);
    memcpy(bad, good, size), bad[33] = 1;
    put_refused_as(json, "partial", "a chunk of clients that the plan does not have", bad, size);
    memcpy(bad, good, size), bad[37] = 0;
    put_refused_as(json, "partial", "a group of nobody", bad, size);
    memcpy(bad, good, size), bad[43] = bad[41];
    put_refused_as(json, "partial", "a client twice", bad, size);
    memcpy(bad, good, size), bad[45] = CLIENTS;
    put_refused_as(json, "partial", "a client that the plan does not have", bad, size);
    memcpy(bad, good, size), bad[29] = 200;
    put_refused_as(json, "partial", "more items than there are bytes", bad, size);
    caucus_json_close(json);
    caucus_plan_free(stoch);
    caucus_plan_free(svt);
    caucus_plan_free(vote);
}
