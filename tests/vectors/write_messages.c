/* SPDX-License-Identifier: Apache-2.0 */
/* write_messages.c: vectors of frames: every message, legal bytes that nobody writes so, and bytes to be refused
 * (docs/PROTOCOL.md, "Encoding"). Each is read with our own decoder before it is written down. */
#include <string.h>

#include "vectors.h"

#define EXPERTS 3u
#define FRAME_BYTES 600u

static const char *const kind_names[] = {"", "hello", "welcome", "announcement", "report", "goodbye", "refusal"};

static caucus_status take(const uint8_t *bytes, size_t size, size_t *ret_used, caucus_frame *ret) {
    static int64_t scratch[EXPERTS]; /* a report that is returned points to it */
    caucus_error error;
    return caucus_wire_take(bytes, size, EXPERTS, scratch, ret_used, ret, &error);
}

/* ---- frames that are read ---- */

static void put_values(caucus_json *json, const caucus_report *report) {
    caucus_json_list_row(json, "values");
    for (uint32_t i = 0; i < report->count; i++)
        put_long(json, NULL, report->value[i]);
    caucus_json_close(json);
}

static void put_announcement(caucus_json *json, const caucus_frame *f) {
    const caucus_announcement *a = &f->announcement;
    put_ulong(json, "serial", a->serial);
    caucus_json_whole(json, "expert", a->expert);
    put_ulong(json, "epoch", a->epoch);
    caucus_json_whole(json, "ask", (uint64_t)a->ask);
    put_ulong(json, "block", a->block);
    caucus_json_whole(json, "leaf", a->leaf);
    caucus_json_list_row(json, "list");
    for (uint32_t i = 0; i < a->listed; i++)
        caucus_json_whole(json, NULL, a->list[i]);
    caucus_json_close(json);
    put_ulong(json, "cost_next", f->cost_next);
    put_ulong(json, "sums_next", f->sums_next);
}

static void put_fields(caucus_json *json, const caucus_frame *f) {
    caucus_json_object(json, "fields");
    switch (f->kind) {
    case CAUCUS_FRAME_HELLO:
        caucus_json_whole(json, "version", f->version);
        put_hex(json, "plan", f->plan, sizeof f->plan);
        caucus_json_whole(json, "client", f->client);
        put_ulong(json, "heard", f->heard);
        break;
    case CAUCUS_FRAME_WELCOME:
        caucus_json_whole(json, "version", f->version);
        put_hex(json, "plan", f->plan, sizeof f->plan);
        put_ulong(json, "cost_next", f->cost_next);
        put_ulong(json, "sums_next", f->sums_next);
        caucus_json_whole(json, "deadline_ms", f->deadline_ms);
        put_ulong(json, "answered", f->answered);
        break;
    case CAUCUS_FRAME_ANNOUNCEMENT:
        put_announcement(json, f);
        break;
    case CAUCUS_FRAME_REPORT:
        caucus_json_whole(json, "client", f->report.client);
        caucus_json_whole(json, "kind", (uint64_t)f->report.kind);
        put_ulong(json, "first", f->report.first);
        put_ulong(json, "block", f->report.block);
        put_ulong(json, "epoch_or_leaf", f->report.epoch_or_leaf);
        put_values(json, &f->report);
        break;
    default:
        caucus_json_whole(json, "code", f->code);
        caucus_json_text(json, "text", f->text);
    }
    caucus_json_close(json);
}

static void put_frame(caucus_json *json, const char *name, bool canonical, const uint8_t *bytes, size_t size) {
    caucus_frame read;
    size_t used = 0;
    need(take(bytes, size, &used, &read) == CAUCUS_OK && used == size, name);
    caucus_json_object(json, NULL);
    caucus_json_text(json, "name", name);
    caucus_json_text(json, "kind", kind_names[read.kind]);
    caucus_json_whole(json, "experts", EXPERTS);
    put_hex(json, "frame", bytes, size);
    caucus_json_truth(json, "canonical", canonical); /* whether writing the fields gives these bytes */
    put_fields(json, &read);
    caucus_json_close(json);
}

static void put_written(caucus_json *json, const char *name, const caucus_frame *frame) {
    uint8_t bytes[FRAME_BYTES];
    size_t size = caucus_wire_put(frame, bytes, sizeof bytes);
    need(size > 0, name);
    put_frame(json, name, true, bytes, size);
}

static void put_greetings(caucus_json *json) {
    caucus_frame f = {.kind = CAUCUS_FRAME_HELLO, .version = CAUCUS_WIRE_VERSION, .client = 3, .heard = 300};
    for (unsigned i = 0; i < sizeof f.plan; i++)
        f.plan[i] = (uint8_t)i;
    put_written(json, "a client that comes again", &f);
    f.client = 1, f.heard = 0;
    put_written(json, "a client that has heard nothing: 0 is left out", &f);
    f.client = 1u << 24, f.heard = (uint64_t)1 << 62;
    put_written(json, "the largest numbers of a hello", &f);
    f.kind = CAUCUS_FRAME_WELCOME, f.client = 0, f.heard = 0;
    put_written(json, "welcome to a new client of stoch", &f);
    f.cost_next = 12, f.sums_next = 9, f.deadline_ms = 30000, f.answered = 1;
    put_written(json, "welcome back", &f);
}

static void put_announcements(caucus_json *json) {
    caucus_frame f = {.kind = CAUCUS_FRAME_ANNOUNCEMENT, .cost_next = 1, .sums_next = 1};
    f.announcement = (caucus_announcement){.ask = CAUCUS_ASK_COST, .block = 1, .expert = 2};
    put_written(json, "the first announcement of svt", &f);
    f.announcement = (caucus_announcement){.serial = 7, .epoch = 2, .ask = CAUCUS_ASK_SUMS, .block = 6};
    put_written(json, "sums are asked for; expert 0 is left out", &f);
    f.cost_next = 0, f.sums_next = 0;
    f.announcement = (caucus_announcement){.serial = 3, .ask = CAUCUS_ASK_LEAF, .block = 5, .expert = 1};
    put_written(json, "a leaf is asked for", &f);
    f.announcement = (caucus_announcement){.serial = 3, .ask = CAUCUS_ASK_VOTE, .block = 5, .expert = 1};
    put_written(json, "a vote is asked for", &f);
    f.announcement = (caucus_announcement){
        .serial = 4, .ask = CAUCUS_ASK_SHORTLIST, .block = 5, .expert = 1, .listed = 3, .list = {2, 0, 1}};
    put_written(json, "a shortlist, which has 0 among its entries", &f);
    f.announcement = (caucus_announcement){.serial = 300, .ask = CAUCUS_ASK_NOTHING, .expert = 1};
    put_written(json, "the last announcement", &f);
    f.announcement.leaf = CAUCUS_LEAF_STOPPED;
    put_written(json, "the run is ended before its time", &f);
    f.announcement = (caucus_announcement){
        .serial = (uint64_t)1 << 62, .epoch = (uint64_t)1 << 40, .ask = CAUCUS_ASK_SUMS, .block = (uint64_t)1 << 62};
    f.cost_next = f.sums_next = (uint64_t)1 << 62;
    put_written(json, "numbers of a run without an end", &f);
}

static void put_reports(caucus_json *json) {
    static const int64_t sums[] = {1048576, 0, -1}, extremes[] = {-((int64_t)1 << 62), (int64_t)1 << 62, 1},
                         vote[] = {0};
    caucus_frame f = {.kind = CAUCUS_FRAME_REPORT};
    f.report = (caucus_report){
        .client = 3, .kind = CAUCUS_ASK_COST, .first = 4, .block = 4, .epoch_or_leaf = 1, .count = 1, .value = sums};
    put_written(json, "what a block has cost", &f);
    f.report = (caucus_report){
        .client = 3, .kind = CAUCUS_ASK_SUMS, .first = 9, .block = 11, .epoch_or_leaf = 2, .count = 3, .value = sums};
    put_written(json, "sums of three blocks", &f);
    f.report =
        (caucus_report){.client = 1, .kind = CAUCUS_ASK_LEAF, .first = 5, .block = 5, .count = 3, .value = extremes};
    put_written(json, "a leaf with the most noise there can be", &f);
    f.report = (caucus_report){.client = 1, .kind = CAUCUS_ASK_VOTE, .first = 5, .block = 5, .count = 1, .value = vote};
    put_written(json, "a vote for expert 0: a value of 0 is written", &f);
    f.report =
        (caucus_report){.client = 1, .kind = CAUCUS_ASK_SHORTLIST, .first = 5, .block = 5, .count = 2, .value = sums};
    put_written(json, "sums of a shortlist", &f);
}

static void put_ends(caucus_json *json) {
    caucus_frame f = {.kind = CAUCUS_FRAME_GOODBYE, .text = "done"};
    put_written(json, "goodbye", &f);
    f.text[0] = '\0';
    put_written(json, "goodbye without a word: an empty message", &f);
    f.kind = CAUCUS_FRAME_REFUSAL;
    for (uint32_t code = CAUCUS_REFUSAL_VERSION; code <= CAUCUS_REFUSAL_LATER; code++) {
        char name[32];
        f.code = code;
        (void)snprintf(f.text, sizeof f.text, "for reason %u", code);
        (void)snprintf(name, sizeof name, "refusal with code %u", code);
        put_written(json, name, &f);
    }
    f.code = 77;
    put_written(json, "refusal with a code that this version does not know: final", &f);
}

/* ---- bytes by hand ---- */

/* The frame of an envelope given as hexadecimal digits; its length is put before it. */
static size_t frame_of(const char *hex, uint8_t bytes[FRAME_BYTES]) {
    size_t n = 0;
    for (; hex[2 * n] != '\0'; n++) {
        unsigned byte = 0;
        need(n + 4 < FRAME_BYTES && sscanf(hex + 2 * n, "%2x", &byte) == 1, hex);
        bytes[n + 4] = (uint8_t)byte;
    }
    for (unsigned b = 0; b < 4; b++)
        bytes[b] = (uint8_t)(n >> 8 * b);
    return n + 4;
}

#define PLAN "1220000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define ONE "0100000000000000"

static void put_unusual(caucus_json *json) {
    static const char *const unusual[][2] = {
        {"fields in another order", "0a261801" PLAN "0802"},
        {"a number that comes twice: the last one counts", "0a2808010802" PLAN "1801"},
        {"an unknown field is skipped", "0a2b0802" PLAN "18017a03616263"},
        {"an unknown field of the envelope is skipped", "78010a260802" PLAN "1801"},
        {"unknown fields of four and of eight bytes are skipped", "0a340802" PLAN "18017d0102030479" ONE},
        {"zeros that are written out", "0a280802" PLAN "18012000"},
        {"a number in more groups than it needs", "0a280802" PLAN "18818000"},
        {"an empty list of values", "22080801100420053200"},
    };
    for (size_t i = 0; i < sizeof unusual / sizeof unusual[0]; i++) {
        uint8_t bytes[FRAME_BYTES];
        size_t size = frame_of(unusual[i][1], bytes);
        put_frame(json, unusual[i][0], false, bytes, size);
    }
}

static void put_refused(caucus_json *json, const char *why, const uint8_t *bytes, size_t size) {
    caucus_frame read;
    size_t used = 0;
    need(take(bytes, size, &used, &read) == CAUCUS_E_FORMAT, why);
    caucus_json_object_row(json, NULL);
    caucus_json_text(json, "why", why);
    caucus_json_whole(json, "experts", EXPERTS);
    put_hex(json, "frame", bytes, size);
    caucus_json_close(json);
}

/* Bytes that repeat, after a beginning: too long for a line. */
static void put_long_ones(caucus_json *json) {
    char hex[2 * FRAME_BYTES] = "2a83021280027878";
    for (size_t i = strlen(hex); i < 2 * (3 + 259); i++)
        hex[i] = "78"[i % 2];
    hex[2 * (3 + 259)] = '\0';
    uint8_t bytes[FRAME_BYTES];
    put_refused(json, "a text of 256 bytes", bytes, frame_of(hex, bytes));
    memcpy(hex, "2ae6037ae303", 12);
    for (size_t i = 12; i < 2 * (3 + 486); i++)
        hex[i] = '0';
    hex[2 * (3 + 486)] = '\0';
    put_refused(json, "a message of 486 bytes that is no report", bytes, frame_of(hex, bytes));
}

static void put_bad(caucus_json *json) {
    static const char *const bad[][2] = {
        {"no message in the envelope", "7801"},
        {"two messages in one envelope", "2a002a00"},
        {"a message that is no message: wire type 0", "2801"},
        {"a message that passes the end", "2a06120464"},
        {"field number 0", "2a020001"},
        {"a group", "2a021b1c"},
        {"wire type 6", "2a020e01"},
        {"a version as bytes", "0a270a0102" PLAN "1801"},
        {"a number of eleven bytes", "0a320802" PLAN "1801208080808080808080808001"},
        {"a number of more than 64 bits", "0a310802" PLAN "180120ffffffffffffffffff7f"},
        {"a number that passes the end", "0a270802" PLAN "180180"},
        {"a tag of six bytes", "0a2b0802" PLAN "88808080800001"},
        {"a plan's hash of 31 bytes", "0a250802121f000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e"
                                      "1801"},
        {"a hello without a plan", "0a0408021801"},
        {"a text with a line end", "2a0512030a6464"},
        {"an announcement that asks for 6", "1a06200628011001"},
        {"a list of more experts than there are", "1a0a200528053a0400010200"},
        {"a report of kind 0", "220408012005"},
        {"a report of kind 6", "2206080110062005"},
        {"a report of a client of 2^32", "220a08808080801010042005"},
        {"more values than experts", "2226080110033220" ONE ONE ONE ONE},
        {"values that are not whole", "220d08011003320701000000000000"},
        {"values one by one", "220d0801100431" ONE},
        {"values in two pieces", "2218080110023208" ONE "3208" ONE},
    };
    static const uint8_t nothing[4] = {0}, huge[4] = {0x19, 0x02}; /* 537 = 512 + 8 * 3 + 1 */
    put_refused(json, "a length of 0", nothing, sizeof nothing);
    put_refused(json, "a length above 512 + 8 d, refused before anything follows", huge, sizeof huge);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint8_t bytes[FRAME_BYTES];
        size_t size = frame_of(bad[i][1], bytes);
        put_refused(json, bad[i][0], bytes, size);
    }
    put_long_ones(json);
}

void write_messages(caucus_json *json) {
    caucus_json_list(json, "good");
    put_greetings(json);
    put_announcements(json);
    put_reports(json);
    put_ends(json);
    put_unusual(json);
    caucus_json_close(json);
    caucus_json_list(json, "bad");
    put_bad(json);
    caucus_json_close(json);
}
