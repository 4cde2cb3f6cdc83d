/* SPDX-License-Identifier: Apache-2.0 */
/* test_vector_relays.c: docs/vectors/relays.json replayed: both sides of a session, what they must not take, the
 * messages, and partials. (The Python peer replays the same file: tests/vectors/relays.py.) */
#include "json_tree.h"

#include <sodium.h>

#include "algo/coordinator.h"
#include "algo/relayed/relayed.h"
#include "plan/plan.h"
#include "relay/saying.h"
#include "wire/wire.h"

enum { ROOM = 1024 };

typedef struct both {
    uint8_t relay_key[32], coordinator_key[32];
    caucus_seal_greeted greeted;
    caucus_seal_about about;
    caucus_seal at_relay;
} both;

static void read_session(const yaml_node_t *root, both *ret) {
    uint8_t answer[CAUCUS_SEAL_ANSWER_BYTES], key[32], run[32];
    char subject[CAUCUS_LINE_SUBJECT_BYTES];
    *ret = (both){.about = {.relay = (uint16_t)whole_of(root, "relay")}};
    (void)bytes_of(root, "plan", ret->about.plan, 32);
    (void)bytes_of(root, "run", ret->about.run, 32);
    (void)bytes_of(root, "relay_key", ret->relay_key, 32);
    (void)bytes_of(root, "coordinator_key", ret->coordinator_key, 32);
    caucus_seal_run(ret->about.plan, text_of(root, "name"), run);
    assert_memory_equal(run, ret->about.run, 32);
    caucus_subject(&ret->about, true, ret->about.relay, subject);
    assert_string_equal(subject, text_of(root, "up"));
    caucus_subject(&ret->about, false, ret->about.relay, subject);
    assert_string_equal(subject, text_of(root, "down"));
    ret->greeted.about = ret->about;
    (void)bytes_of(root, "relay_fresh_secret", ret->greeted.secret, 32);
    assert_int_equal(bytes_of(root, "greeting", ret->greeted.greeting, sizeof ret->greeted.greeting),
                     sizeof ret->greeted.greeting);
    assert_int_equal(bytes_of(root, "answer", answer, sizeof answer), sizeof answer);
    assert_int_equal(caucus_seal_hear(&ret->greeted, ret->coordinator_key, answer, sizeof answer, &ret->at_relay),
                     CAUCUS_OK);
    assert_int_equal(ret->at_relay.term, whole_of(root, "term"));
    assert_int_equal(ret->at_relay.session, whole_of(root, "session"));
    (void)bytes_of(root, "key_up", key, 32);
    assert_memory_equal(key, ret->at_relay.send_key, 32);
    (void)bytes_of(root, "key_down", key, 32);
    assert_memory_equal(key, ret->at_relay.take_key, 32);
    (void)bytes_of(root, "coordinator_fresh_secret", key, 32);
    (void)crypto_scalarmult_base(run, key);
    assert_memory_equal(run, answer + 26, 32);
}

/* The coordinator's side has the same keys, the other way round. */
static caucus_seal turned(const caucus_seal *seal) {
    caucus_seal ret = *seal;
    memcpy(ret.send_key, seal->take_key, 32);
    memcpy(ret.take_key, seal->send_key, 32);
    ret.relay = !seal->relay;
    return ret;
}

static void test_session(void **state) {
    (void)state;
    yaml_node_t *root = tree_open("relays.json"), *messages = get(root, "messages"),
                *not_opened = get(root, "not_opened");
    uint8_t sealed[ROOM], open[ROOM], message[ROOM];
    both b;
    read_session(root, &b);
    caucus_seal relay = b.at_relay, coordinator = turned(&relay), writer[2] = {relay, coordinator};
    assert_true(length(messages) > 1 && length(not_opened) > 5);
    for (size_t i = 0; i < length(messages); i++) {
        const yaml_node_t *c = at(messages, i);
        const bool from_relay = strcmp(text_of(c, "from"), "relay") == 0;
        const size_t size = bytes_of(c, "sealed", sealed, sizeof sealed), said = bytes_of(c, "message", message, ROOM);
        assert_int_equal(size, said + CAUCUS_SEAL_MORE_BYTES);
        caucus_seal_put(&writer[!from_relay], text_of(c, "subject"), message, said, open);
        assert_memory_equal(open, sealed, size);
        assert_int_equal(
            caucus_seal_take(from_relay ? &coordinator : &relay, text_of(c, "subject"), sealed, size, open), CAUCUS_OK);
        assert_memory_equal(open, message, said);
    }
    for (size_t i = 0; i < length(not_opened); i++) {
        const yaml_node_t *c = at(not_opened, i);
        const size_t size = bytes_of(c, "sealed", sealed, sizeof sealed);
        caucus_seal *side = strcmp(text_of(c, "from"), "relay") == 0 ? &coordinator : &relay;
        if (caucus_seal_take(side, text_of(c, "subject"), sealed, size, open) == CAUCUS_OK)
            fail_msg("%s: opened", text_of(c, "why"));
    }
    tree_close();
}

static void test_refused(void **state) {
    (void)state;
    yaml_node_t *root = tree_open("relays.json");
    uint8_t bytes[ROOM], answer[CAUCUS_SEAL_ANSWER_BYTES];
    caucus_seal_owner owner;
    caucus_seal seal;
    both b;
    read_session(root, &b);
    assert_int_equal(caucus_seal_owner_new(&owner), CAUCUS_OK);
    assert_int_equal(caucus_seal_answer(&owner, b.relay_key, &b.about, 1, 1, b.greeted.greeting,
                                        sizeof b.greeted.greeting, answer, &seal),
                     CAUCUS_OK);
    const yaml_node_t *greetings = get(root, "greetings_refused"), *answers = get(root, "answers_refused");
    assert_true(length(greetings) > 5 && length(answers) > 2);
    for (size_t i = 0; i < length(greetings); i++) {
        const size_t size = bytes_of(at(greetings, i), "greeting", bytes, sizeof bytes);
        if (caucus_seal_answer(&owner, b.relay_key, &b.about, 1, 1, bytes, size, answer, &seal) == CAUCUS_OK)
            fail_msg("%s: answered", text_of(at(greetings, i), "why"));
    }
    for (size_t i = 0; i < length(answers); i++) {
        const size_t size = bytes_of(at(answers, i), "answer", bytes, sizeof bytes);
        if (caucus_seal_hear(&b.greeted, b.coordinator_key, bytes, size, &seal) == CAUCUS_OK)
            fail_msg("%s: heard", text_of(at(answers, i), "why"));
    }
    tree_close();
}

/* How many bytes each field has, as hearings of the program take them, in order; t a text, a an announcement. A list
 * of entries repeats from its bracket on. */
static const char *form_of(const char *kind) {
    static const char *const forms[][2] = {{"HERE", "8"},        {"PLACE", "4(848t"}, {"LEFT", "4(481"},
                                           {"PARTIAL", "844(1"}, {"HISTORY", "8"},    {"STATE", "488818a"},
                                           {"NEWS", "818a"},     {"PAST", "884(a"},   {"PLACED", "4(8418888888t"},
                                           {"TAKEN", "8814(4"},  {"OUT", "481t"},     {"END", "1"}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(forms[i][0], kind) == 0)
            return forms[i][1];
    fail_msg("%s is no message", kind);
    return NULL;
}

static void test_sayings(void **state) {
    (void)state;
    yaml_node_t *sayings = get(tree_open("relays.json"), "sayings");
    assert_int_equal(length(sayings), 12);
    for (size_t i = 0; i < length(sayings); i++) {
        const yaml_node_t *c = at(sayings, i), *fields = get(c, "fields");
        const char *form = form_of(text_of(c, "kind")), *again = strchr(form, '(');
        uint8_t bytes[ROOM];
        const size_t size = bytes_of(c, "message", bytes, sizeof bytes);
        caucus_hearing h = {.at = bytes + 1, .end = bytes + size};
        for (size_t n = 0; n < length(fields); n++) {
            const char *value = strchr(text(at(fields, n)), ' ') + 1;
            form += *form == '(';
            form = *form == '\0' ? again + 1 : form;
            if (*form == 't') {
                char heard[256];
                caucus_hearing_text(&h, heard, sizeof heard);
                assert_string_equal(heard, value);
            } else if (*form == 'a') {
                const caucus_announcement a = caucus_hearing_announcement(&h);
                const caucus_frame frame = {.kind = CAUCUS_FRAME_ANNOUNCEMENT, .announcement = a};
                uint8_t again_bytes[ROOM];
                char hex[2 * ROOM + 1];
                const size_t used = caucus_wire_put(&frame, again_bytes, sizeof again_bytes);
                assert_string_equal(sodium_bin2hex(hex, sizeof hex, again_bytes, used), value);
            } else {
                assert_int_equal(caucus_hearing_get(&h, (size_t)(*form - '0')), strtoull(value, NULL, 10));
            }
            form++;
        }
        assert_true(!h.failed && h.at == h.end);
    }
    tree_close();
}

static caucus_plan *plan_of(const yaml_node_t *c) {
    caucus_settings s;
    caucus_plan *plan = NULL;
    caucus_settings_init(&s);
    s.algorithm = strcmp(text_of(c, "name"), "costs") == 0 ? CAUCUS_ALGORITHM_SVT : CAUCUS_ALGORITHM_STOCH;
    s.trust = strcmp(text_of(c, "name"), "votes") == 0 ? CAUCUS_TRUST_NOBODY : CAUCUS_TRUST_COORDINATOR;
    s.message = strcmp(text_of(c, "name"), "votes") == 0 ? CAUCUS_MESSAGE_VOTE : CAUCUS_MESSAGE_AUTO;
    s.clients = (uint32_t)whole_of(c, "clients");
    s.experts = (uint32_t)whole_of(c, "experts");
    s.rounds = 15;
    s.epsilon = 20;
    s.grid = 1000;
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    return plan;
}

/* The reports, gathered, are the partial; and a coordinator takes it as it takes the reports. */
static void test_partials(void **state) {
    (void)state;
    yaml_node_t *root = tree_open("relays.json"), *partials = get(root, "partials"), *bad = get(root, "no_partials");
    uint8_t bytes[ROOM], frame[ROOM], made[ROOM];
    caucus_relayed partial;
    assert_true(length(partials) == 3 && length(bad) > 7);
    for (size_t i = 0; i < length(partials); i++) {
        const yaml_node_t *c = at(partials, i), *reports = get(c, "reports");
        caucus_plan *plan = plan_of(c);
        caucus_coordinator *coordinator = NULL;
        caucus_gather *gather = NULL;
        caucus_key key;
        uint32_t answered = 0;
        caucus_key_from_seed(11, &key);
        assert_int_equal(caucus_coordinator_new(plan, &key, &coordinator), CAUCUS_OK);
        assert_int_equal(caucus_gather_new(coordinator, &gather), CAUCUS_OK);
        for (size_t n = 0; n < length(reports); n++) {
            const char *hex = text(at(reports, n));
            size_t size = 0, used = 0;
            int64_t scratch[64];
            caucus_frame read;
            assert_int_equal(sodium_hex2bin(frame, sizeof frame, hex, strlen(hex), NULL, &size, NULL), 0);
            assert_int_equal(caucus_wire_take(frame, size, plan->settings.experts, scratch, &used, &read, NULL),
                             CAUCUS_OK);
            assert_int_equal(caucus_gather_count(gather, &read.report), CAUCUS_OK);
        }
        const size_t size = bytes_of(c, "partial", bytes, sizeof bytes);
        assert_int_equal(caucus_gather_bytes(gather), size);
        caucus_gather_write(gather, made);
        assert_memory_equal(made, bytes, size);
        caucus_gather_free(gather);
        caucus_coordinator_free(coordinator);
        assert_int_equal(caucus_coordinator_new(plan, &key, &coordinator), CAUCUS_OK);
        assert_int_equal(caucus_relayed_read(plan, bytes, size, &partial), CAUCUS_OK);
        assert_int_equal(caucus_relayed_take(coordinator, &partial, &(caucus_relayed_from){0}, &answered), CAUCUS_OK);
        assert_int_equal(answered, length(reports));
        for (size_t n = 0; i == 2 && n < length(bad); n++) {
            const size_t less = bytes_of(at(bad, n), "partial", bytes, sizeof bytes);
            if (caucus_relayed_read(plan, bytes, less, &partial) == CAUCUS_OK)
                fail_msg("%s: read", text_of(at(bad, n), "why"));
        }
        caucus_coordinator_free(coordinator);
        caucus_plan_free(plan);
    }
    tree_close();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_session), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_sayings), cmocka_unit_test(test_partials)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
