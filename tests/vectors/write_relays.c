/* SPDX-License-Identifier: Apache-2.0 */
/* write_relays.c: vectors of what relays and the coordinator say to each other (docs/PROTOCOL.md, "Relays"): a session
 * with its keys, sealed messages and what must not be opened; the messages themselves. Partials: write_partials.c.
 *
 * Keys of a session are fresh, so while they are made the library's source of random bytes is one that counts. */
#include <sodium.h>
#include <string.h>

#include "relay/saying.h"
#include "vectors.h"

enum { RELAY = 7, TERM = 3, SESSION = 41, ROOM = 1024 };

/* ---- keys that are the same every time ---- */

static uint64_t counted;
static uint8_t latest[32]; /* what was asked for last: the secret of a fresh key */

static void count_bytes(void *ret, size_t size) {
    uint8_t *to = ret;
    for (size_t i = 0; i < size; i++) {
        counted = counted * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        to[i] = (uint8_t)(counted >> 56);
    }
    if (size == sizeof latest)
        memcpy(latest, to, size);
}

static uint32_t count_word(void) {
    uint32_t ret;
    count_bytes(&ret, sizeof ret);
    return ret;
}

static const char *count_name(void) {
    return "counted";
}

static struct randombytes_implementation counting = {
    .implementation_name = count_name, .random = count_word, .buf = count_bytes};

/* ---- a session ---- */

typedef struct talk {
    caucus_seal_owner relay, coordinator, stranger;
    caucus_seal_about about;
    caucus_seal_greeted greeted;
    uint8_t answer[CAUCUS_SEAL_ANSWER_BYTES], secret[32];
    caucus_seal at_relay, at_coordinator;
    char up[CAUCUS_LINE_SUBJECT_BYTES], down[CAUCUS_LINE_SUBJECT_BYTES];
} talk;

static void begin(talk *t) {
    memset(t, 0, sizeof *t);
    counted = 5;
    need(caucus_seal_owner_new(&t->relay) == CAUCUS_OK && caucus_seal_owner_new(&t->coordinator) == CAUCUS_OK &&
             caucus_seal_owner_new(&t->stranger) == CAUCUS_OK,
         "no keys");
    for (uint8_t i = 0; i < 32; i++)
        t->about.plan[i] = (uint8_t)(3 * i + 1);
    caucus_seal_run(t->about.plan, "live", t->about.run);
    t->about.relay = RELAY;
    caucus_subject(&t->about, true, RELAY, t->up);
    caucus_subject(&t->about, false, RELAY, t->down);
    need(caucus_seal_greet(&t->relay, &t->about, &t->greeted) == CAUCUS_OK, "no greeting");
    need(caucus_seal_answer(&t->coordinator, t->relay.public_key, &t->about, TERM, SESSION, t->greeted.greeting,
                            sizeof t->greeted.greeting, t->answer, &t->at_coordinator) == CAUCUS_OK,
         "no answer");
    memcpy(t->secret, latest, sizeof latest);
    need(caucus_seal_hear(&t->greeted, t->coordinator.public_key, t->answer, sizeof t->answer, &t->at_relay) ==
             CAUCUS_OK,
         "no session");
}

static void put_head(caucus_json *json, const talk *t) {
    put_hex(json, "plan", t->about.plan, 32);
    caucus_json_text(json, "name", "live");
    put_hex(json, "run", t->about.run, 32);
    caucus_json_whole(json, "relay", RELAY);
    put_ulong(json, "term", TERM);
    put_ulong(json, "session", SESSION);
    caucus_json_text(json, "up", t->up);
    caucus_json_text(json, "down", t->down);
    put_hex(json, "relay_key", t->relay.public_key, 32);
    put_hex(json, "coordinator_key", t->coordinator.public_key, 32);
    put_hex(json, "relay_fresh_secret", t->greeted.secret, 32);
    put_hex(json, "coordinator_fresh_secret", t->secret, 32);
    put_hex(json, "greeting", t->greeted.greeting, sizeof t->greeted.greeting);
    put_hex(json, "answer", t->answer, sizeof t->answer);
    put_hex(json, "key_up", t->at_relay.send_key, 32);
    put_hex(json, "key_down", t->at_relay.take_key, 32);
}

static void put_sealed(caucus_json *json, const char *why, bool from_relay, const char *subject, const uint8_t *message,
                       size_t size, const uint8_t *sealed, size_t sealed_size) {
    caucus_json_object_row(json, NULL);
    if (why)
        caucus_json_text(json, "why", why);
    caucus_json_text(json, "from", from_relay ? "relay" : "coordinator");
    caucus_json_text(json, "subject", subject);
    if (message)
        put_hex(json, "message", message, size);
    put_hex(json, "sealed", sealed, sealed_size);
    caucus_json_close(json);
}

static void put_messages(caucus_json *json, talk *t) {
    static const uint8_t here[9] = {CAUCUS_SAY_HERE, 2}, end[2] = {CAUCUS_SAY_END, 1};
    uint8_t sealed[64], other[64], bad[64];
    caucus_seal strange = t->at_relay; /* the same keys: it knows them, and nothing else */
    caucus_json_list(json, "messages");
    for (int i = 0; i < 2; i++) {
        caucus_seal_put(&t->at_relay, t->up, here, sizeof here, sealed);
        put_sealed(json, NULL, true, t->up, here, sizeof here, sealed, sizeof here + CAUCUS_SEAL_MORE_BYTES);
    }
    caucus_seal_put(&t->at_coordinator, t->down, end, sizeof end, other);
    put_sealed(json, NULL, false, t->down, end, sizeof end, other, sizeof end + CAUCUS_SEAL_MORE_BYTES);
    caucus_json_close(json);
    const size_t size = sizeof here + CAUCUS_SEAL_MORE_BYTES;
    caucus_json_list(json, "not_opened"); /* after those above */
    put_sealed(json, "taken before", true, t->up, NULL, 0, sealed, size);
    memcpy(bad, sealed, size);
    bad[0] = 9; /* its counter alone is another */
    put_sealed(json, "another counter", true, t->up, NULL, 0, bad, size);
    caucus_seal_put(&t->at_relay, t->up, here, sizeof here, bad);
    put_sealed(json, "another subject", true, t->down, NULL, 0, bad, size);
    put_sealed(json, "the other direction", false, t->down, NULL, 0, bad, size);
    bad[size - 1] ^= 1;
    put_sealed(json, "a bit altered", true, t->up, NULL, 0, bad, size);
    put_sealed(json, "too short", true, t->up, NULL, 0, bad, CAUCUS_SEAL_MORE_BYTES - 1);
    strange.session++;
    strange.sent = 20;
    caucus_seal_put(&strange, t->up, here, sizeof here, bad);
    put_sealed(json, "of another session", true, t->up, NULL, 0, bad, size);
    caucus_json_close(json);
}

static void put_greetings(caucus_json *json, const talk *t) {
    caucus_seal_greeted g = t->greeted;
    caucus_seal_about about = t->about;
    caucus_json_list(json, "greetings_refused");
    put_refused_as(json, "greeting", "a byte is missing", g.greeting, sizeof g.greeting - 1);
    g.greeting[0] ^= 1;
    put_refused_as(json, "greeting", "another label", g.greeting, sizeof g.greeting);
    g = t->greeted;
    g.greeting[100] ^= 1;
    put_refused_as(json, "greeting", "altered after it was signed", g.greeting, sizeof g.greeting);
    need(caucus_seal_greet(&t->stranger, &about, &g) == CAUCUS_OK, "no greeting");
    put_refused_as(json, "greeting", "signed by another relay", g.greeting, sizeof g.greeting);
    about.plan[0] ^= 1;
    need(caucus_seal_greet(&t->relay, &about, &g) == CAUCUS_OK, "no greeting");
    put_refused_as(json, "greeting", "of another plan", g.greeting, sizeof g.greeting);
    about = t->about;
    about.run[0] ^= 1;
    need(caucus_seal_greet(&t->relay, &about, &g) == CAUCUS_OK, "no greeting");
    put_refused_as(json, "greeting", "of another run", g.greeting, sizeof g.greeting);
    about = t->about;
    about.relay++;
    need(caucus_seal_greet(&t->relay, &about, &g) == CAUCUS_OK, "no greeting");
    put_refused_as(json, "greeting", "of another number", g.greeting, sizeof g.greeting);
    caucus_json_close(json);
    uint8_t answer[CAUCUS_SEAL_ANSWER_BYTES];
    caucus_seal seal;
    caucus_json_list(json, "answers_refused");
    memcpy(answer, t->answer, sizeof answer);
    answer[20] ^= 1;
    put_refused_as(json, "answer", "altered after it was signed", answer, sizeof answer);
    need(caucus_seal_answer(&t->stranger, t->relay.public_key, &t->about, TERM, SESSION, t->greeted.greeting,
                            sizeof t->greeted.greeting, answer, &seal) == CAUCUS_OK,
         "no answer");
    put_refused_as(json, "answer", "signed by another coordinator", answer, sizeof answer);
    need(caucus_seal_greet(&t->relay, &t->about, &g) == CAUCUS_OK, "no greeting");
    need(caucus_seal_answer(&t->coordinator, t->relay.public_key, &t->about, TERM, SESSION, g.greeting,
                            sizeof g.greeting, answer, &seal) == CAUCUS_OK,
         "no answer");
    put_refused_as(json, "answer", "to another greeting", answer, sizeof answer);
    caucus_json_close(json);
}

/* ---- what is said ---- */

/* A message that is being written, and beside it its fields, "name value", for the file. */
static caucus_saying say;

static void say_begin(caucus_json *json, const char *name, caucus_saying_kind kind) {
    caucus_saying_begin(&say, kind);
    caucus_json_object(json, NULL);
    caucus_json_text(json, "kind", name);
    caucus_json_list_row(json, "fields");
}

static void say_end(caucus_json *json) {
    need(!say.failed, "no memory");
    caucus_json_close(json);
    put_hex(json, "message", say.bytes + CAUCUS_SEAL_MORE_BYTES, caucus_saying_size(&say));
    caucus_json_close(json);
}

/* names: one for each value, separated by spaces; widths: how many bytes each has. */
static void say_numbers(caucus_json *json, const char *names, const char *widths, const uint64_t *value) {
    for (size_t i = 0; widths[i] != '\0'; i++) {
        const int length = (int)strcspn(names, " ");
        char field[80];
        (void)snprintf(field, sizeof field, "%.*s %" PRIu64, length, names, value[i]);
        caucus_json_text(json, NULL, field);
        caucus_saying_put(&say, value[i], (size_t)(widths[i] - '0'));
        names += (size_t)length + (names[length] == ' ');
    }
}

static void say_text(caucus_json *json, const char *text) {
    char field[320];
    (void)snprintf(field, sizeof field, "text %.255s", text);
    caucus_json_text(json, NULL, field);
    caucus_saying_put_text(&say, text);
}

static void say_announcement(caucus_json *json, uint64_t serial, uint32_t expert) {
    const caucus_announcement now = {.serial = serial, .expert = expert, .ask = CAUCUS_ASK_LEAF, .block = serial + 2};
    const caucus_frame frame = {.kind = CAUCUS_FRAME_ANNOUNCEMENT, .announcement = now};
    uint8_t bytes[ROOM];
    char field[2 * ROOM + 16];
    const size_t size = caucus_wire_put(&frame, bytes, sizeof bytes);
    int used = snprintf(field, sizeof field, "announcement ");
    for (size_t i = 0; i < size; i++)
        used += snprintf(field + used, sizeof field - (size_t)used, "%02x", bytes[i]);
    caucus_json_text(json, NULL, field);
    caucus_saying_put_announcement(&say, &now);
}

#define N(...) ((const uint64_t[]){__VA_ARGS__})
static const char placed_names[] =
    "ticket client code session cost_next sums_next answered cost_durable sums_durable committed";

static void put_from_relay(caucus_json *json) {
    say_begin(json, "HERE", CAUCUS_SAY_HERE);
    say_numbers(json, "heard", "8", N(5));
    say_end(json);
    say_begin(json, "PLACE", CAUCUS_SAY_PLACE);
    say_numbers(json, "count ticket client heard", "4848", N(2, 9, 5, 5));
    say_text(json, "0A1B");
    say_numbers(json, "ticket client heard", "848", N(10, 6, 0));
    say_text(json, "");
    say_end(json);
    say_begin(json, "LEFT", CAUCUS_SAY_LEFT);
    say_numbers(json, "count client session goodbye", "4481", N(1, 5, 320, 1));
    say_end(json);
    say_begin(json, "PARTIAL", CAUCUS_SAY_PARTIAL);
    say_numbers(json, "n size at byte byte byte", "844111", N(1, 3, 0, 0, 1, 2));
    say_end(json);
    say_begin(json, "HISTORY", CAUCUS_SAY_HISTORY);
    say_numbers(json, "from", "8", N(3));
    say_end(json);
}

static void put_from_coordinator(caucus_json *json) {
    say_begin(json, "STATE", CAUCUS_SAY_STATE);
    say_numbers(json, "deadline_ms cost_next sums_next committed begun durable", "488818", N(60000, 0, 6, 5, 1, 1));
    say_announcement(json, 4, 2);
    say_end(json);
    say_begin(json, "NEWS", CAUCUS_SAY_NEWS);
    say_numbers(json, "committed begun durable", "818", N(5, 1, 2));
    say_announcement(json, 4, 2);
    say_end(json);
    say_begin(json, "PAST", CAUCUS_SAY_PAST);
    say_numbers(json, "durable first count", "884", N(2, 3, 2));
    say_announcement(json, 3, 1);
    say_announcement(json, 4, 2);
    say_end(json);
    say_begin(json, "PLACED", CAUCUS_SAY_PLACED);
    say_numbers(json, "count", "4", N(2));
    say_numbers(json, placed_names, "8418888888", N(9, 5, 0, 320, 4, 3, 5, 3, 2, 5));
    say_text(json, "");
    say_numbers(json, placed_names, "8418888888", N(10, 6, 8, 0, 0, 0, 0, 0, 0, 0));
    say_text(json, "come again later");
    say_end(json);
    say_begin(json, "TAKEN", CAUCUS_SAY_TAKEN);
    say_numbers(json, "n serial answer count client client", "881444", N(3, 4, CAUCUS_ANSWER_ITEMS, 2, 1, 6));
    say_end(json);
    say_begin(json, "OUT", CAUCUS_SAY_OUT);
    say_numbers(json, "client session code", "481", N(5, 320, 7));
    say_text(json, "the same client has connected again");
    say_end(json);
    say_begin(json, "END", CAUCUS_SAY_END);
    say_numbers(json, "over", "1", N(1));
    say_end(json);
}

static void put_sayings(caucus_json *json) {
    caucus_json_list(json, "sayings");
    put_from_relay(json);
    put_from_coordinator(json);
    caucus_json_close(json);
    caucus_saying_free(&say);
}

void write_relays(caucus_json *json) {
    talk t;
    need(randombytes_set_implementation(&counting) == 0 && sodium_init() >= 0, "no source of bytes");
    begin(&t);
    put_head(json, &t);
    put_messages(json, &t);
    put_greetings(json, &t);
    put_sayings(json);
    write_partials(json);
}
