/* SPDX-License-Identifier: Apache-2.0 */
/* write_runs.c: whole short runs of every mode that a client of another language can play (docs/PROTOCOL.md): the plan,
 * the losses, and for each client what it hears, plays and reports, frame by frame; and announcements that it must
 * refuse, at the place where it would hear them. */
#include <math.h>
#include <string.h>

#include "run_modes.h"

#include <caucus/plan_file.h>

enum { STEPS_MAX = 40, SLOT_ROWS = 3, FRAME_BYTES = 600, SEED = 11 };

/* What one client hears, plays and says in a step. */
typedef struct step {
    uint8_t hears[FRAME_BYTES], reports[FRAME_BYTES];
    size_t hears_bytes, reports_bytes;
    uint64_t first, rounds; /* played: from 0 */
    uint32_t expert, evaluated[ROUNDS][EXPERTS];
    uint32_t played[ROUNDS]; /* trees of linear losses: an expert drawn for each round */
    double mixture[EXPERTS]; /* convex, or trees: what is played */
} step;

typedef struct run {
    const mode *mode;
    caucus_plan *plan;
    uint32_t clients, evaluate;
    caucus_coordinator *coordinator;
    caucus_client *client[CLIENTS];
    uint32_t steps;
    step step[CLIENTS][STEPS_MAX];
    double loss[CLIENTS][ROUNDS][EXPERTS];
} run;

/* Convex: of round t the loss at the mixture x has the gradient row + CURVATURE x; user: the client's rows. */
static void slope(void *user, uint64_t round, const double *x, double *ret, uint32_t experts) {
    double(*loss)[EXPERTS] = user;
    for (uint32_t y = 0; y < experts; y++)
        ret[y] = loss[round - 1][y] + CURVATURE * x[y];
}

/* Multiples of 1/64 around the range, the best expert changing on the way; now and then one that is not a number. */
static void make_losses(run *r) {
    uint64_t state = SEED;
    for (uint32_t i = 0; i < CLIENTS; i++)
        for (uint32_t t = 0; t < ROUNDS; t++)
            for (uint32_t y = 0; y < EXPERTS; y++) {
                state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                uint32_t word = (uint32_t)(state >> 33);
                r->loss[i][t][y] =
                    word % 41 == 0 ? NAN : (double)(word % 80) / 64 - 0.125 + (t / 5 == y ? -0.5 : 0.125);
            }
}

static size_t announcement_frame(const run *r, uint32_t i, const caucus_announcement *a, uint8_t *ret) {
    caucus_frame frame = {.kind = CAUCUS_FRAME_ANNOUNCEMENT, .announcement = *a};
    bool answered;
    caucus_coordinator_counted(r->coordinator, i + 1, &frame.cost_next, &frame.sums_next, &answered);
    size_t size = caucus_wire_put(&frame, ret, FRAME_BYTES);
    need(size > 0, "an announcement has no room");
    return size;
}

/* Play what the announcement needs. False: the losses are used up. */
static bool play(run *r, uint32_t i, step *s) {
    caucus_client *client = r->client[i];
    s->first = caucus_client_round(client);
    s->expert = caucus_client_expert(client);
    need(caucus_client_mixture(client, s->mixture, EXPERTS) == CAUCUS_OK, "no mixture");
    for (; caucus_client_rounds_left(client) > 0; s->rounds++) {
        uint64_t t = s->first + s->rounds;
        double row[EXPERTS];
        if (t == ROUNDS)
            return false;
        s->played[s->rounds] = caucus_client_expert(client);
        need(caucus_client_evaluate(client, s->evaluated[s->rounds], EXPERTS) == CAUCUS_OK, "nothing to evaluate");
        for (uint32_t j = 0; j < r->evaluate; j++)
            row[j] = r->loss[i][t][s->evaluated[s->rounds][j]];
        need(caucus_client_observe(client, row, 1) == CAUCUS_OK, "a round cannot be played");
    }
    return true;
}

/* At its own pace: slot number `slot` holds SLOT_ROWS losses, or none, and is over. */
static bool play_slot(run *r, uint32_t i, step *s, uint64_t slot) {
    caucus_client *client = r->client[i];
    const uint64_t quiet = i + 1 == r->clients ? r->mode->quiet : 0, rows = slot == quiet ? 0 : SLOT_ROWS;
    s->first = (slot - 1 - (quiet != 0 && slot > quiet)) * SLOT_ROWS;
    s->expert = caucus_client_expert(client);
    if (slot * SLOT_ROWS > ROUNDS)
        return false;
    need(caucus_client_slot(client, slot) == CAUCUS_OK, "no slot");
    for (; s->rounds < rows; s->rounds++) {
        for (uint32_t j = 0; j < EXPERTS; j++)
            s->evaluated[s->rounds][j] = j;
        need(caucus_client_observe(client, r->loss[i][s->first + s->rounds], 1) == CAUCUS_OK, "no loss is taken");
    }
    need(caucus_client_slot(client, slot + 1) == CAUCUS_OK, "no slot");
    return true;
}

static bool play_step(run *r, uint32_t i, const caucus_announcement *a) {
    step *s = &r->step[i][r->steps];
    bool own = r->mode->pace == CAUCUS_PACE_OWN;
    s->hears_bytes = announcement_frame(r, i, a, s->hears);
    need(caucus_client_hear(r->client[i], a) == CAUCUS_OK, "an announcement is not heard");
    if (own) {
        uint64_t cost_next, sums_next;
        bool answered;
        caucus_coordinator_counted(r->coordinator, i + 1, &cost_next, &sums_next, &answered);
        need(caucus_client_acknowledge(r->client[i], sums_next) == CAUCUS_OK, "no acknowledgement is taken");
    }
    if (!(own ? play_slot(r, i, s, r->steps + 1) : play(r, i, s)))
        return false;
    const caucus_report *report = caucus_client_report(r->client[i]);
    need((report == NULL) == (a->ask == CAUCUS_ASK_NOTHING), "no report, or one too many");
    if (report) {
        caucus_frame frame = {.kind = CAUCUS_FRAME_REPORT, .report = *report};
        s->reports_bytes = caucus_wire_put(&frame, s->reports, FRAME_BYTES);
    }
    return true;
}

static void play_run(run *r) {
    caucus_key key;
    seeded_key(SEED, 0, &key);
    need(caucus_coordinator_new(r->plan, &key, &r->coordinator) == CAUCUS_OK, "no coordinator");
    for (uint32_t i = 0; i < r->clients; i++) {
        seeded_key(SEED, i + 1, &key);
        need(caucus_client_new(r->plan, i + 1, &key, &r->client[i]) == CAUCUS_OK, "no client");
        if (r->mode->convex)
            caucus_client_set_gradient(r->client[i], slope, r->loss[i]);
        if (r->mode->pace == CAUCUS_PACE_OWN) /* the first slot that a client hears of is not counted */
            need(caucus_client_slot(r->client[i], 0) == CAUCUS_OK, "no slot");
    }
    for (bool over = false; !over;) {
        const caucus_announcement a = *caucus_coordinator_announcement(r->coordinator);
        need(r->steps < STEPS_MAX, "a run is too long");
        for (uint32_t i = 0; i < r->clients; i++)
            if (!play_step(r, i, &a))
                return; /* a run without an end is left here, and this step is not written */
        r->steps++;
        over = a.ask == CAUCUS_ASK_NOTHING;
        for (uint32_t i = 0; i < r->clients && !over; i++)
            need(caucus_coordinator_receive(r->coordinator, caucus_client_report(r->client[i])) == CAUCUS_OK,
                 "a report is not counted");
        if (!over)
            need(caucus_coordinator_decide(r->coordinator) == CAUCUS_OK, "a step is not decided");
    }
}

/* ---- announcements to be refused ---- */

/* A client that has heard and answered the first announcement of the run, and nothing else. */
static caucus_client *fresh_client(run *r, caucus_announcement *ret_first) {
    caucus_client *client;
    caucus_coordinator *coordinator;
    caucus_key key;
    seeded_key(SEED, 0, &key);
    need(caucus_coordinator_new(r->plan, &key, &coordinator) == CAUCUS_OK, "no coordinator");
    *ret_first = *caucus_coordinator_announcement(coordinator);
    caucus_coordinator_free(coordinator);
    seeded_key(SEED, 1, &key);
    need(caucus_client_new(r->plan, 1, &key, &client) == CAUCUS_OK, "no client");
    if (r->mode->convex)
        caucus_client_set_gradient(client, slope, r->loss[0]);
    need(caucus_client_hear(client, ret_first) == CAUCUS_OK, "an announcement is not heard");
    double row[EXPERTS] = {0};
    while (r->mode->pace != CAUCUS_PACE_OWN && caucus_client_rounds_left(client) > 0)
        need(caucus_client_observe(client, row, 1) == CAUCUS_OK, "a round cannot be played");
    if (r->mode->pace != CAUCUS_PACE_OWN)
        need(caucus_client_report(client) != NULL, "no report");
    return client;
}

static void put_refused(caucus_json *json, run *r, const char *why, const caucus_announcement *a) {
    uint8_t bytes[FRAME_BYTES];
    caucus_announcement first;
    caucus_client *client = fresh_client(r, &first);
    caucus_status status = caucus_client_hear(client, a);
    need(status == CAUCUS_E_FORMAT || status == CAUCUS_E_ORDER, why);
    caucus_client_free(client);
    caucus_frame frame = {.kind = CAUCUS_FRAME_ANNOUNCEMENT, .announcement = *a, .cost_next = 1, .sums_next = 1};
    size_t size = caucus_wire_put(&frame, bytes, sizeof bytes);
    need(size > 0, why);
    caucus_json_object_row(json, NULL);
    caucus_json_text(json, "why", why);
    put_hex(json, "hears", bytes, size);
    caucus_json_close(json);
}

/* Each of them in place of the second announcement. */
static void put_all_refused(caucus_json *json, run *r) {
    caucus_announcement first, a;
    caucus_client_free(fresh_client(r, &first));
    caucus_json_list(json, "refuses");
    a = first, a.serial++;
    put_refused(json, r, "asks again for what was answered", &a);
    a.block++, a.ask = first.ask == CAUCUS_ASK_LEAF || first.ask == CAUCUS_ASK_VOTE ? CAUCUS_ASK_COST : CAUCUS_ASK_LEAF;
    put_refused(json, r, "asks for what this plan never asks", &a);
    a.ask = first.ask, a.expert = EXPERTS;
    put_refused(json, r, "an expert that is not there", &a);
    a.expert = 0, a.leaf = 3;
    if (first.ask == CAUCUS_ASK_LEAF || first.ask == CAUCUS_ASK_VOTE)
        put_refused(json, r, "a leaf that this plan does not have", &a);
    if (r->mode->rounds != CAUCUS_ROUNDS_ENDLESS && r->mode->pace != CAUCUS_PACE_OWN) {
        a.leaf = 0, a.serial++;
        put_refused(json, r, "one in between is missing", &a);
        a.serial--, a.block++;
        put_refused(json, r, "a block or phase is passed over", &a);
    }
    caucus_json_close(json);
}

/* ---- writing ---- */

static void put_step(caucus_json *json, const run *r, const step *s) {
    caucus_json_object(json, NULL);
    put_hex(json, "hears", s->hears, s->hears_bytes);
    caucus_json_whole(json, "plays", s->expert);
    caucus_json_whole(json, "first_round", s->first + 1);
    caucus_json_whole(json, "rounds", s->rounds);
    if (r->evaluate != EXPERTS) {
        caucus_json_list_row(json, "evaluates");
        for (uint64_t t = 0; t < s->rounds; t++) {
            caucus_json_list_row(json, NULL);
            for (uint32_t j = 0; j < r->evaluate; j++)
                caucus_json_whole(json, NULL, s->evaluated[t][j]);
            caucus_json_close(json);
        }
        caucus_json_close(json);
    }
    if (r->mode->trees > 0 && !r->mode->convex) {
        caucus_json_list_row(json, "plays_each");
        for (uint64_t t = 0; t < s->rounds; t++)
            caucus_json_whole(json, NULL, s->played[t]);
        caucus_json_close(json);
    }
    if (r->mode->convex || r->mode->trees > 0) {
        caucus_json_list_row(json, "mixture");
        for (uint32_t y = 0; y < EXPERTS; y++) {
            char text[40];
            (void)snprintf(text, sizeof text, "%.17g", s->mixture[y]);
            caucus_json_text(json, NULL, text);
        }
        caucus_json_close(json);
    }
    if (s->reports_bytes)
        put_hex(json, "reports", s->reports, s->reports_bytes);
    else
        caucus_json_null(json, "reports");
    caucus_json_close(json);
}

static void put_client(caucus_json *json, const run *r, uint32_t i) {
    caucus_frame hello = {.kind = CAUCUS_FRAME_HELLO, .version = CAUCUS_WIRE_VERSION, .client = i + 1};
    uint8_t bytes[FRAME_BYTES];
    memcpy(hello.plan, caucus_plan_hash(r->plan), sizeof hello.plan);
    caucus_json_object(json, NULL);
    caucus_json_whole(json, "client", i + 1);
    put_hex(json, "hello", bytes, caucus_wire_put(&hello, bytes, sizeof bytes));
    caucus_json_list(json, "losses");
    for (uint32_t t = 0; t < ROUNDS; t++) {
        caucus_json_list_row(json, NULL);
        for (uint32_t y = 0; y < EXPERTS; y++)
            caucus_json_real(json, NULL, r->loss[i][t][y]);
        caucus_json_close(json);
    }
    caucus_json_close(json);
    caucus_json_list(json, "steps");
    for (uint32_t n = 0; n < r->steps; n++)
        put_step(json, r, &r->step[i][n]);
    caucus_json_close(json);
    caucus_json_close(json);
}

static void put_run(caucus_json *json, run *r) {
    char *text;
    size_t size;
    need(caucus_plan_file_text(r->plan, &text, &size) == CAUCUS_OK, "no memory");
    caucus_json_object(json, NULL);
    caucus_json_text(json, "name", r->mode->name);
    caucus_json_text(json, "plan", text);
    caucus_json_text(json, "plan_hash", caucus_plan_hash_text(r->plan));
    put_ulong(json, "seed", SEED);
    caucus_json_whole(json, "slot_rounds", r->mode->pace == CAUCUS_PACE_OWN ? SLOT_ROWS : 0);
    if (r->mode->convex)
        caucus_json_text(json, "curvature", "0.5");
    caucus_json_list(json, "clients");
    for (uint32_t i = 0; i < r->clients; i++)
        put_client(json, r, i);
    caucus_json_close(json);
    put_all_refused(json, r);
    caucus_json_close(json);
    free(text);
}

void write_runs(caucus_json *json) {
    caucus_json_list(json, "runs");
    for (size_t i = 0; i < run_modes_count; i++) {
        static run r;
        r = (run){.mode = &run_modes[i]};
        make_losses(&r);
        r.plan = mode_plan(r.mode);
        r.clients = caucus_plan_settings(r.plan)->clients;
        r.evaluate = r.mode->evaluate ? r.mode->evaluate : EXPERTS;
        play_run(&r);
        put_run(json, &r);
        for (uint32_t n = 0; n < r.clients; n++)
            caucus_client_free(r.client[n]);
        caucus_coordinator_free(r.coordinator);
        caucus_plan_free(r.plan);
    }
    caucus_json_close(json);
}
