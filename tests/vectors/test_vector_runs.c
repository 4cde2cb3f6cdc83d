/* SPDX-License-Identifier: Apache-2.0 */
/* test_vector_runs.c: the runs of docs/vectors replayed from the file itself. A client that reads the plan's text and
 * the losses, and hears the frames of the file, plays and reports what stands there; a coordinator that receives the
 * reports of the file says its announcements; and what is to be refused is refused. */
#include "json_tree.h"

#include "wire/wire.h"

#include <caucus/caucus.h>
#include <caucus/plan_file.h>

enum { FRAME_BYTES = 1024, EXPERTS_MAX = 16, CLIENTS_MAX = 4 };

typedef struct heard {
    caucus_frame frame;
    int64_t value[EXPERTS_MAX]; /* of a report */
    _Alignas(8) uint8_t bytes[FRAME_BYTES];
    size_t size;
} heard;

static void read_frame(const yaml_node_t *object, const char *key, uint32_t experts, heard *ret) {
    caucus_error error;
    size_t used;
    ret->size = bytes_of(object, key, ret->bytes, sizeof ret->bytes);
    assert_int_equal(caucus_wire_take(ret->bytes, ret->size, experts, ret->value, &used, &ret->frame, &error),
                     CAUCUS_OK);
    assert_int_equal(used, ret->size);
}

static void key_of(const yaml_node_t *run, uint32_t entity, caucus_key *ret) {
    caucus_key_from_seed(whole_of(run, "seed"), ret);
    caucus_key_derive(ret, 0, ret);
    caucus_key_derive(ret, entity, ret);
}

static caucus_plan *read_plan(const yaml_node_t *run) {
    const char *plan_text = text_of(run, "plan");
    caucus_plan *plan = NULL;
    caucus_error error;
    if (caucus_plan_file_parse(text_of(run, "name"), plan_text, strlen(plan_text), &plan, &error) != CAUCUS_OK)
        fail_msg("%s: %s", error.field, error.text);
    assert_string_equal(caucus_plan_hash_text(plan), text_of(run, "plan_hash"));
    return plan;
}

/* Convex losses: row + curvature x is the gradient; user: the rows of the file. */
static double curvature;

static void slope(void *user, uint64_t round, const double *x, double *ret, uint32_t experts) {
    const yaml_node_t *row = at((const yaml_node_t *)user, round - 1);
    for (uint32_t y = 0; y < experts; y++)
        ret[y] = real(at(row, y)) + curvature * x[y];
}

static caucus_client *open_client(const yaml_node_t *run, const caucus_plan *plan, uint32_t number) {
    caucus_client *client;
    caucus_key key;
    key_of(run, number, &key);
    assert_int_equal(caucus_client_new(plan, number, &key, &client), CAUCUS_OK);
    if (whole_of(run, "slot_rounds") > 0)
        assert_int_equal(caucus_client_slot(client, 0), CAUCUS_OK);
    if (find(run, "curvature")) {
        curvature = real(get(run, "curvature"));
        caucus_client_set_gradient(client, slope, get(at(get(run, "clients"), number - 1), "losses"));
    }
    return client;
}

static void observe(caucus_client *client, const caucus_plan *plan, const yaml_node_t *step, const yaml_node_t *losses,
                    uint64_t number) {
    uint32_t experts = caucus_plan_settings(plan)->experts, seen[EXPERTS_MAX];
    uint64_t first = whole_of(step, "first_round");
    const yaml_node_t *evaluates = find(step, "evaluates");
    const yaml_node_t *chosen = evaluates ? at(evaluates, number - first) : NULL;
    uint32_t count = chosen ? (uint32_t)length(chosen) : experts;
    double row[EXPERTS_MAX];
    if (chosen)
        assert_int_equal(caucus_client_evaluate(client, seen, EXPERTS_MAX), CAUCUS_OK);
    for (uint32_t j = 0; j < count; j++) {
        if (chosen)
            assert_int_equal(seen[j], whole(at(chosen, j)));
        row[j] = real(at(at(losses, number - 1), chosen ? seen[j] : j));
    }
    const yaml_node_t *each = find(step, "plays_each"); /* drawn from a mixture */
    assert_int_equal(caucus_client_expert(client), each ? whole(at(each, number - first)) : whole_of(step, "plays"));
    assert_int_equal(caucus_client_observe(client, row, 1), CAUCUS_OK);
}

/* Hear, play, and compare the report. */
static void replay_step(const yaml_node_t *run, const caucus_plan *plan, caucus_client *client, const yaml_node_t *one,
                        size_t number) {
    const yaml_node_t *step = at(get(one, "steps"), number);
    uint64_t first = whole_of(step, "first_round"), rounds = whole_of(step, "rounds");
    bool own = whole_of(run, "slot_rounds") > 0;
    heard a;
    read_frame(step, "hears", caucus_plan_settings(plan)->experts, &a);
    assert_int_equal(caucus_client_hear(client, &a.frame.announcement), CAUCUS_OK);
    if (own) {
        assert_int_equal(caucus_client_acknowledge(client, a.frame.sums_next), CAUCUS_OK);
        assert_int_equal(caucus_client_slot(client, number + 1), CAUCUS_OK);
    } else {
        assert_int_equal(caucus_client_round(client) + 1, first);
        assert_int_equal(caucus_client_rounds_left(client), rounds);
    }
    for (uint32_t y = 0; find(step, "mixture") && y < caucus_plan_settings(plan)->experts; y++) {
        double mixture[EXPERTS_MAX];
        assert_int_equal(caucus_client_mixture(client, mixture, EXPERTS_MAX), CAUCUS_OK);
        assert_true(mixture[y] == real(at(get(step, "mixture"), y)));
    }
    for (uint64_t t = first; t < first + rounds; t++)
        observe(client, plan, step, get(one, "losses"), t);
    if (own)
        assert_int_equal(caucus_client_slot(client, number + 2), CAUCUS_OK);
    const caucus_report *report = caucus_client_report(client);
    if (strcmp(text_of(step, "reports"), "null") == 0) {
        assert_null(report);
        return;
    }
    heard said;
    uint8_t bytes[FRAME_BYTES];
    assert_non_null(report);
    caucus_frame frame = {.kind = CAUCUS_FRAME_REPORT, .report = *report};
    read_frame(step, "reports", caucus_plan_settings(plan)->experts, &said);
    assert_int_equal(caucus_wire_put(&frame, bytes, sizeof bytes), said.size);
    assert_memory_equal(bytes, said.bytes, said.size);
}

/* The coordinator's side: what the file reports gives what the file announces, to every client. */
static void replay_coordinator(const yaml_node_t *run, const caucus_plan *plan) {
    const yaml_node_t *clients = get(run, "clients");
    size_t steps = length(get(at(clients, 0), "steps"));
    uint32_t experts = caucus_plan_settings(plan)->experts;
    caucus_coordinator *coordinator;
    caucus_key key;
    key_of(run, 0, &key);
    assert_int_equal(caucus_coordinator_new(plan, &key, &coordinator), CAUCUS_OK);
    for (size_t n = 0; n < steps; n++) {
        for (size_t i = 0; i < length(clients); i++) {
            heard said;
            bool answered;
            uint8_t bytes[FRAME_BYTES];
            caucus_frame a = {.kind = CAUCUS_FRAME_ANNOUNCEMENT,
                              .announcement = *caucus_coordinator_announcement(coordinator)};
            caucus_coordinator_counted(coordinator, (uint32_t)i + 1, &a.cost_next, &a.sums_next, &answered);
            read_frame(at(get(at(clients, i), "steps"), n), "hears", experts, &said);
            assert_int_equal(caucus_wire_put(&a, bytes, sizeof bytes), said.size);
            assert_memory_equal(bytes, said.bytes, said.size);
        }
        if (caucus_coordinator_announcement(coordinator)->ask == CAUCUS_ASK_NOTHING)
            break;
        for (size_t i = length(clients); i-- > 0;) { /* in another order than they were made */
            heard report;
            read_frame(at(get(at(clients, i), "steps"), n), "reports", experts, &report);
            assert_int_equal(caucus_coordinator_receive(coordinator, &report.frame.report), CAUCUS_OK);
        }
        assert_int_equal(caucus_coordinator_decide(coordinator), CAUCUS_OK);
    }
    caucus_coordinator_free(coordinator);
}

static void replay_refused(const yaml_node_t *run, const caucus_plan *plan) {
    const yaml_node_t *one = at(get(run, "clients"), 0), *refuses = get(run, "refuses");
    assert_true(length(refuses) > 0);
    for (size_t i = 0; i < length(refuses); i++) {
        heard a;
        caucus_client *client = open_client(run, plan, 1);
        replay_step(run, plan, client, one, 0);
        read_frame(at(refuses, i), "hears", caucus_plan_settings(plan)->experts, &a);
        caucus_status status = caucus_client_hear(client, &a.frame.announcement);
        if (status != CAUCUS_E_FORMAT && status != CAUCUS_E_ORDER)
            fail_msg("%s: %s: heard", text_of(run, "name"), text_of(at(refuses, i), "why"));
        caucus_client_free(client);
    }
}

static void test_runs(void **state) {
    (void)state;
    yaml_node_t *runs = get(tree_open("runs.json"), "runs");
    assert_true(length(runs) > 70);
    for (size_t n = 0; n < length(runs); n++) {
        const yaml_node_t *run = at(runs, n), *clients = get(run, "clients");
        caucus_plan *plan = read_plan(run);
        print_message("%s\n", text_of(run, "name"));
        assert_true(length(clients) > 0 && length(clients) <= CLIENTS_MAX);
        for (size_t i = 0; i < length(clients); i++) {
            const yaml_node_t *one = at(clients, i);
            caucus_client *client = open_client(run, plan, (uint32_t)whole_of(one, "client"));
            for (size_t step = 0; step < length(get(one, "steps")); step++)
                replay_step(run, plan, client, one, step);
            caucus_client_free(client);
        }
        replay_coordinator(run, plan);
        replay_refused(run, plan);
        caucus_plan_free(plan);
    }
    tree_close();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
