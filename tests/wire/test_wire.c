/* SPDX-License-Identifier: Apache-2.0 */
/* test_wire.c: frames as bytes. Round trips; reports held to protobuf-c in both directions; every truncation and every
 * flipped bit either reads or is refused, from memory that ends where the bytes end (run it under AddressSanitizer);
 * limits; and the examples of docs/PROTOCOL.md, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/caucus.pb-c.h"
#include "wire/control.h"
#include "wire/wire.h"

#define EXPERTS 24u
#define SEED UINT64_C(20240607)

static uint64_t state = SEED;

/* splitmix64: a fixed sequence, so that a failure comes again. */
static uint64_t next_word(void) {
    uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint32_t below(uint32_t limit) {
    return (uint32_t)(next_word() % limit);
}

/* Numbers of every length: 0, small, large. */
static uint32_t some_number(void) {
    return (uint32_t)((next_word() >> 32) >> below(33));
}

static uint64_t some_long_number(void) {
    return (next_word() >> 1) >> below(64);
}

/* ---- examples: one frame of each kind, also those of docs/PROTOCOL.md ---- */

static const int64_t example_value[] = {1048576, 524288, -1};

static caucus_frame example(caucus_frame_kind kind) {
    caucus_frame f = {.kind = kind};
    if (kind == CAUCUS_FRAME_HELLO || kind == CAUCUS_FRAME_WELCOME) {
        f.version = CAUCUS_WIRE_VERSION;
        for (unsigned i = 0; i < CAUCUS_PLAN_HASH_BYTES; i++)
            f.plan[i] = (uint8_t)i;
    }
    switch (kind) {
    case CAUCUS_FRAME_HELLO:
        f.client = 3;
        f.heard = 300;
        break;
    case CAUCUS_FRAME_WELCOME:
        f.cost_next = 12;
        f.sums_next = 9;
        f.deadline_ms = 30000;
        break;
    case CAUCUS_FRAME_ANNOUNCEMENT:
        f.announcement = (caucus_announcement){.serial = 300,
                                               .expert = 7,
                                               .epoch = 2,
                                               .ask = CAUCUS_ASK_SHORTLIST,
                                               .block = 5,
                                               .leaf = 1,
                                               .listed = 3,
                                               .list = {7, 0, 200}};
        f.cost_next = 12;
        f.sums_next = 9;
        break;
    case CAUCUS_FRAME_REPORT:
        f.report = (caucus_report){.client = 3,
                                   .kind = CAUCUS_ASK_SUMS,
                                   .first = 9,
                                   .block = 11,
                                   .epoch_or_leaf = 2,
                                   .count = 3,
                                   .value = example_value};
        break;
    case CAUCUS_FRAME_GOODBYE:
        memcpy(f.text, "done", 5);
        break;
    default:
        f.code = CAUCUS_REFUSAL_PLAN;
        memcpy(f.text, "another plan", 13);
    }
    return f;
}

static void assert_same_frame(const caucus_frame *a, const caucus_frame *b) {
    assert_int_equal(a->kind, b->kind);
    if (a->kind == CAUCUS_FRAME_REPORT) {
        const caucus_report *x = &a->report, *y = &b->report;
        assert_int_equal(x->client, y->client);
        assert_int_equal(x->kind, y->kind);
        assert_int_equal(x->first, y->first);
        assert_int_equal(x->block, y->block);
        assert_int_equal(x->epoch_or_leaf, y->epoch_or_leaf);
        assert_int_equal(x->count, y->count);
        if (x->count > 0)
            assert_memory_equal(x->value, y->value, 8 * x->count);
        return;
    }
    assert_int_equal(a->version, b->version);
    assert_memory_equal(a->plan, b->plan, sizeof a->plan);
    assert_int_equal(a->client, b->client);
    assert_int_equal(a->heard, b->heard);
    assert_int_equal(a->cost_next, b->cost_next);
    assert_int_equal(a->sums_next, b->sums_next);
    assert_int_equal(a->deadline_ms, b->deadline_ms);
    assert_memory_equal(&a->announcement, &b->announcement, sizeof a->announcement);
    assert_int_equal(a->code, b->code);
    assert_string_equal(a->text, b->text);
}

/* Read from memory that ends with the bytes, so that a sanitizer sees one byte too many. Values are copied to
 * `scratch`. */
static caucus_status take_exact(const uint8_t *bytes, size_t size, uint32_t experts, int64_t *scratch, size_t *ret_used,
                                caucus_frame *ret) {
    caucus_error error = {0};
    uint8_t *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    int64_t *room = malloc(experts * sizeof *room);
    assert_non_null(room);
    caucus_status status = caucus_wire_take(exact, size, experts, room, ret_used, ret, &error);
    if (status != CAUCUS_OK) {
        assert_int_equal(status, CAUCUS_E_FORMAT);
        assert_int_equal(*ret_used, 0);
        assert_string_not_equal(error.field, "");
        assert_string_not_equal(error.text, "");
    } else if (*ret_used > 0 && ret->kind == CAUCUS_FRAME_REPORT) {
        assert_true(ret->report.count <= experts);
        if (ret->report.count > 0)
            memcpy(scratch, ret->report.value, 8 * ret->report.count);
        ret->report.value = scratch;
    }
    free(exact);
    free(room);
    return status;
}

/* A frame around the bytes of one envelope field. */
static size_t wrap(uint8_t *to, uint32_t number, const uint8_t *message, size_t size) {
    size_t n = 4;
    to[n++] = (uint8_t)(number << 3 | 2);
    for (size_t left = size;; left >>= 7) {
        to[n++] = (uint8_t)(left >= 0x80 ? left | 0x80 : left);
        if (left < 0x80)
            break;
    }
    if (size > 0)
        memcpy(to + n, message, size);
    n += size;
    for (unsigned b = 0; b < 4; b++)
        to[b] = (uint8_t)((n - 4) >> (8 * b));
    return n;
}

static bool refused(const uint8_t *bytes, size_t size, uint32_t experts) {
    int64_t scratch[EXPERTS];
    size_t used;
    caucus_frame frame;
    return take_exact(bytes, size, experts, scratch, &used, &frame) == CAUCUS_E_FORMAT;
}

static bool message_refused(caucus_frame_kind kind, const void *message, size_t size) {
    uint8_t bytes[2048];
    return refused(bytes, wrap(bytes, kind, message, size), EXPERTS);
}

/* ---- tests ---- */

static void fill_random(caucus_frame *f, int64_t *value) {
    *f = (caucus_frame){.kind = (caucus_frame_kind)(1 + below(6))};
    switch (f->kind) {
    case CAUCUS_FRAME_HELLO:
    case CAUCUS_FRAME_WELCOME:
        f->version = some_number();
        for (unsigned i = 0; i < CAUCUS_PLAN_HASH_BYTES; i++)
            f->plan[i] = (uint8_t)next_word();
        if (f->kind == CAUCUS_FRAME_HELLO) {
            f->client = some_number();
            f->heard = some_long_number();
        } else {
            f->cost_next = some_long_number();
            f->sums_next = some_long_number();
            f->deadline_ms = some_number();
        }
        break;
    case CAUCUS_FRAME_ANNOUNCEMENT:
        f->announcement = (caucus_announcement){.serial = some_long_number(),
                                                .expert = some_number(),
                                                .epoch = some_long_number(),
                                                .ask = (caucus_ask)below(6),
                                                .block = some_long_number(),
                                                .leaf = some_number(),
                                                .listed = below(CAUCUS_SHORTLIST + 1)};
        for (uint32_t i = 0; i < f->announcement.listed; i++)
            f->announcement.list[i] = some_number();
        f->cost_next = some_long_number();
        f->sums_next = some_long_number();
        break;
    case CAUCUS_FRAME_REPORT:
        f->report = (caucus_report){.client = some_number(),
                                    .kind = (caucus_ask)(1 + below(5)),
                                    .first = some_long_number(),
                                    .block = some_long_number(),
                                    .epoch_or_leaf = some_long_number(),
                                    .count = below(EXPERTS + 1),
                                    .value = value};
        for (uint32_t i = 0; i < f->report.count; i++)
            value[i] = (int64_t)(next_word() >> below(64));
        break;
    default:
        f->code = some_number();
        for (uint32_t i = 0, n = below(CAUCUS_WIRE_TEXT_BYTES); i < n; i++)
            f->text[i] = (char)(0x20 + below(0x5f));
    }
}

static void test_round_trips(void **user) {
    (void)user;
    uint8_t bytes[4096], again[4096];
    int64_t value[EXPERTS], scratch[EXPERTS];
    for (int i = 0; i < 20000; i++) {
        caucus_frame f, g;
        fill_random(&f, value);
        size_t size = caucus_wire_put(&f, bytes, sizeof bytes), used;
        assert_true(size > 0 && size <= caucus_wire_max_bytes(EXPERTS));
        assert_int_equal(take_exact(bytes, size, EXPERTS, scratch, &used, &g), CAUCUS_OK);
        assert_int_equal(used, size);
        assert_same_frame(&f, &g);
        assert_int_equal(caucus_wire_put(&g, again, sizeof again), size); /* one way only to write a frame */
        assert_memory_equal(bytes, again, size);
        assert_int_equal(caucus_wire_put(&f, again, size), size); /* exactly enough room */
        assert_int_equal(caucus_wire_put(&f, again, below((uint32_t)size)), 0);
    }
}

static void test_frames_in_a_row(void **user) {
    (void)user;
    uint8_t bytes[8192];
    int64_t scratch[EXPERTS];
    size_t size = 0, at = 0, used;
    for (int kind = CAUCUS_FRAME_HELLO; kind <= CAUCUS_FRAME_REFUSAL; kind++) {
        caucus_frame f = example((caucus_frame_kind)kind);
        size += caucus_wire_put(&f, bytes + size, sizeof bytes - size);
    }
    for (int kind = CAUCUS_FRAME_HELLO; kind <= CAUCUS_FRAME_REFUSAL; kind++, at += used) {
        caucus_frame f = example((caucus_frame_kind)kind), g;
        assert_int_equal(take_exact(bytes + at, size - at, EXPERTS, scratch, &used, &g), CAUCUS_OK);
        assert_true(used > 0);
        assert_same_frame(&f, &g);
    }
    assert_int_equal(at, size);
}

static void test_longest(void **user) {
    (void)user;
    const uint32_t sizes[] = {2, 3, 15, 16, 17, EXPERTS, 2047, 2048, 1u << 20};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        uint32_t d = sizes[s];
        size_t room = caucus_wire_max_bytes(d), used;
        uint8_t *bytes = malloc(room);
        int64_t *value = malloc(d * sizeof *value), *scratch = malloc(d * sizeof *scratch);
        assert_true(bytes && value && scratch);
        for (uint32_t i = 0; i < d; i++)
            value[i] = INT64_MIN + i;
        caucus_frame g, f = {.kind = CAUCUS_FRAME_REPORT};
        f.report = (caucus_report){UINT32_MAX, CAUCUS_ASK_SHORTLIST, UINT64_MAX, UINT64_MAX, UINT64_MAX, d, value};
        size_t size = caucus_wire_put(&f, bytes, room);
        assert_true(size > 0);
        assert_int_equal(caucus_wire_take(bytes, size, d, scratch, &used, &g, NULL), CAUCUS_OK);
        assert_same_frame(&f, &g);
        assert_int_equal(caucus_wire_take(bytes, size, d - 1, scratch, &used, &g, NULL),
                         CAUCUS_E_FORMAT); /* a count above d */
        f = (caucus_frame){.kind = CAUCUS_FRAME_REFUSAL, .code = UINT32_MAX};
        memset(f.text, 'x', sizeof f.text - 1);
        assert_true(caucus_wire_put(&f, bytes, room) > 0);
        f = (caucus_frame){.kind = CAUCUS_FRAME_ANNOUNCEMENT, .cost_next = UINT64_MAX, .sums_next = UINT64_MAX};
        f.announcement = (caucus_announcement){.serial = UINT64_MAX,
                                               .epoch = UINT64_MAX,
                                               .block = UINT64_MAX,
                                               .expert = UINT32_MAX,
                                               .ask = CAUCUS_ASK_SHORTLIST,
                                               .leaf = UINT32_MAX,
                                               .listed = d < CAUCUS_SHORTLIST ? d : CAUCUS_SHORTLIST};
        memset(f.announcement.list, 0xff, f.announcement.listed * sizeof f.announcement.list[0]);
        size = caucus_wire_put(&f, bytes, room);
        assert_true(size > 0);
        assert_int_equal(caucus_wire_take(bytes, size, d, scratch, &used, &g, NULL), CAUCUS_OK);
        assert_same_frame(&f, &g);
        free(bytes);
        free(value);
        free(scratch);
    }
}

static void test_values_in_place(void **user) {
    (void)user;
    int64_t memory[64], scratch[EXPERTS];
    caucus_frame f = example(CAUCUS_FRAME_REPORT), g;
    int in_place = 0;
    for (size_t shift = 0; shift < 8; shift++) {
        uint8_t *bytes = (uint8_t *)memory + shift;
        size_t size = caucus_wire_put(&f, bytes, sizeof memory - shift), used;
        assert_int_equal(caucus_wire_take(bytes, size, EXPERTS, scratch, &used, &g, NULL), CAUCUS_OK);
        assert_same_frame(&f, &g);
        bool aligned = (uintptr_t)(bytes + size - 24) % 8 == 0; /* the values are the last 24 bytes */
        assert_ptr_equal(g.report.value, aligned ? (const void *)(bytes + size - 24) : scratch);
        in_place += aligned;
    }
    assert_int_equal(in_place, 1);
}

/* What protobuf-c makes of a Report, against ours: ours accepts nothing that protobuf-c does not, and reads the
 * same. */
static bool agree_on_report(const uint8_t *message, size_t size) {
    uint8_t bytes[4096];
    int64_t scratch[EXPERTS];
    size_t used;
    caucus_frame f;
    caucus_status status =
        take_exact(bytes, wrap(bytes, CAUCUS_FRAME_REPORT, message, size), EXPERTS, scratch, &used, &f);
    if (status != CAUCUS_OK)
        return false;
    Caucus__V2__Report *r = caucus__v2__report__unpack(NULL, size, message);
    assert_non_null(r);
    assert_int_equal(f.report.client, r->client);
    assert_int_equal(f.report.kind, r->kind);
    assert_int_equal(f.report.first, r->first);
    assert_int_equal(f.report.block, r->block);
    assert_int_equal(f.report.epoch_or_leaf, r->epoch_or_leaf);
    assert_int_equal(f.report.count, r->n_values);
    if (r->n_values > 0)
        assert_memory_equal(f.report.value, r->values, 8 * r->n_values);
    caucus__v2__report__free_unpacked(r, NULL);
    return true;
}

static void test_report_as_protobuf_c(void **user) {
    (void)user;
    uint8_t ours[1024], theirs[1024], framed[1024];
    for (int i = 0; i < 20000; i++) {
        int64_t value[EXPERTS];
        caucus_frame f;
        do
            fill_random(&f, value);
        while (f.kind != CAUCUS_FRAME_REPORT);
        Caucus__V2__Report r = CAUCUS__V2__REPORT__INIT;
        r.client = f.report.client;
        r.kind = (Caucus__V2__Ask)f.report.kind;
        r.first = f.report.first;
        r.block = f.report.block;
        r.epoch_or_leaf = f.report.epoch_or_leaf;
        r.n_values = f.report.count;
        r.values = value;
        size_t size = caucus__v2__report__pack(&r, theirs);
        assert_true(agree_on_report(theirs, size));
        size_t all = caucus_wire_put(&f, ours, sizeof ours);
        assert_int_equal(all, wrap(framed, CAUCUS_FRAME_REPORT, theirs, size));
        assert_memory_equal(ours, framed, all);
        Caucus__V2__Envelope *e = caucus__v2__envelope__unpack(NULL, all - 4, ours + 4);
        assert_true(e != NULL && e->report != NULL && e->report->n_values == f.report.count);
        caucus__v2__envelope__free_unpacked(e, NULL);
    }
}

static size_t put_varint(uint8_t *to, uint64_t value) {
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        to[n++] = (uint8_t)(value | 0x80);
    to[n++] = (uint8_t)value;
    return n;
}

/* One field of a report or a stranger's: mostly well-formed. */
static size_t put_some_field(uint8_t *to) {
    uint32_t number = below(4) ? 1 + below(7) : 1 + some_number() / 16, type = number == 6 ? 2 : 0;
    if (number > 6)
        type = (uint32_t[]){0, 1, 2, 5}[below(4)];
    if (below(40) == 0)
        type = below(8);
    size_t n = put_varint(to, (uint64_t)number << 3 | type);
    size_t size = type == 1 ? 8 : type == 5 ? 4 : type == 2 ? 8 * below(6) + (below(30) == 0) : 0;
    if (type == 0)
        return n + put_varint(to + n, number == 2 ? below(7) : below(50) ? some_number() : next_word());
    if (type == 2)
        n += put_varint(to + n, size);
    for (size_t i = 0; i < size; i++)
        to[n++] = (uint8_t)next_word();
    return n;
}

static void test_field_soup(void **user) {
    (void)user;
    int accepted = 0, tries = 200000;
    for (int i = 0; i < tries; i++) {
        uint8_t message[1024];
        size_t size = 0;
        for (uint32_t fields = below(8); fields > 0; fields--)
            size += put_some_field(message + size);
        accepted += agree_on_report(message, size);
        if (size > 0) /* and cut anywhere */
            (void)agree_on_report(message, below((uint32_t)size));
    }
    assert_true(accepted > tries / 20 && accepted < tries);
}

static void test_stricter_than_protobuf(void **user) {
    (void)user;
    static const struct {
        const char *bytes;
        size_t size;
        bool accepted;
    } reports[] = {
        {"\x10\x01", 2, true},                                               /* a kind is enough to read */
        {"", 0, false},                                                      /* kind 0 */
        {"\x10\x06", 2, false},                                              /* a kind never asked for */
        {"\x10\x06\x10\x01", 4, true},                                       /* the last one counts */
        {"\x08\xff\xff\xff\xff\x0f\x10\x01", 8, true},                       /* 2^32 - 1 */
        {"\x08\x80\x80\x80\x80\x10\x10\x01", 8, false},                      /* 2^32 */
        {"\x18\x80\x80\x80\x80\x10\x10\x01", 8, true},                       /* first: 2^32 */
        {"\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x01", 13, true},  /* block: 2^64 - 1 */
        {"\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x10\x01", 13, false}, /* epoch_or_leaf: more than 64 bits */
        {"\x08\x81\x80\x00\x10\x01", 6, true},                               /* 1, written long */
        {"\x10\x01\x31\0\0\0\0\0\0\0\0", 11, false},                         /* values not packed */
        {"\x10\x01\x32\x08\0\0\0\0\0\0\0\0", 12, true},                      /* packed */
        {"\x10\x01\x32\x00\x32\x08\0\0\0\0\0\0\0\0", 14, false},             /* in two pieces */
        {"\x10\x01\x32\x07\0\0\0\0\0\0\0", 11, false},                       /* not whole numbers */
        {"\x10\x01\x00\x00", 4, false},                                      /* field number 0 */
        {"\x10\x01\x3b\x3c", 4, false},                                      /* a group */
        {"\x10\x01\x38\x07\x42\x01x", 7, true},                              /* unknown fields 7 and 8 */
    };
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
        assert_int_equal(agree_on_report((const uint8_t *)reports[i].bytes, reports[i].size), reports[i].accepted);
}

/* Every frame cut short: waits for more. The same message with an honest length: reads or is refused. */
static void test_truncations(void **user) {
    (void)user;
    for (int kind = CAUCUS_FRAME_HELLO; kind <= CAUCUS_FRAME_REFUSAL; kind++) {
        uint8_t bytes[1024];
        int64_t scratch[EXPERTS];
        caucus_frame f = example((caucus_frame_kind)kind), g;
        size_t size = caucus_wire_put(&f, bytes, sizeof bytes), used;
        for (size_t cut = 0; cut < size; cut++) {
            used = 1;
            assert_int_equal(take_exact(bytes, cut, EXPERTS, scratch, &used, &g), CAUCUS_OK);
            assert_int_equal(used, 0);
        }
        for (size_t cut = 4; cut < size; cut++) { /* the envelope's own lengths no longer fit */
            uint8_t head[4] = {(uint8_t)(cut - 4), 0, 0, 0};
            memcpy(bytes, head, 4);
            assert_true(refused(bytes, cut, EXPERTS));
        }
        for (size_t cut = 0; cut + 6 < size; cut++) { /* lengths right, message short */
            uint8_t shorter[1024];
            (void)take_exact(shorter, wrap(shorter, (uint32_t)kind, bytes + 6, cut), EXPERTS, scratch, &used, &g);
        }
    }
}

static void test_flipped_bits(void **user) {
    (void)user;
    int refusals = 0, reads = 0, waits = 0;
    for (int kind = CAUCUS_FRAME_HELLO; kind <= CAUCUS_FRAME_REFUSAL; kind++) {
        uint8_t bytes[1024];
        int64_t scratch[EXPERTS];
        caucus_frame f = example((caucus_frame_kind)kind), g;
        size_t size = caucus_wire_put(&f, bytes, sizeof bytes), used;
        for (size_t bit = 0; bit < 8 * size; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            caucus_status status = take_exact(bytes, size, EXPERTS, scratch, &used, &g);
            if (status == CAUCUS_OK && used > 0) { /* then it is some other frame that protobuf-c knows as well */
                Caucus__V2__Envelope *e = caucus__v2__envelope__unpack(NULL, used - 4, bytes + 4);
                assert_non_null(e);
                caucus__v2__envelope__free_unpacked(e, NULL);
                reads++;
            } else {
                refusals += status != CAUCUS_OK;
                waits += status == CAUCUS_OK;
            }
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
    printf("flipped bits: %d read, %d refused, %d wait for more\n", reads, refusals, waits);
    assert_true(reads > 0 && refusals > 0 && waits > 0);
}

static void test_limits(void **user) {
    (void)user;
    size_t used, most = caucus_wire_max_bytes(EXPERTS) - 4;
    caucus_frame f;
    int64_t scratch[EXPERTS];
    uint8_t head[4] = {(uint8_t)(most + 1), (uint8_t)((most + 1) >> 8), 0, 0};
    assert_true(refused(head, 4, EXPERTS)); /* before a byte of it has come */
    head[0] = (uint8_t)most, head[1] = (uint8_t)(most >> 8);
    assert_int_equal(take_exact(head, 4, EXPERTS, scratch, &used, &f), CAUCUS_OK);
    assert_int_equal(used, 0);
    memset(head, 0xff, 4);
    assert_true(refused(head, 4, EXPERTS));
    memset(head, 0, 4);
    assert_true(refused(head, 4, EXPERTS)); /* an empty envelope */

    uint8_t bytes[2048], message[1024] = {0};
    size_t size = wrap(bytes, 7, message, 4); /* an unknown kind alone */
    assert_true(refused(bytes, size, EXPERTS));
    caucus_frame hello = example(CAUCUS_FRAME_HELLO);
    size = caucus_wire_put(&hello, bytes, sizeof bytes);
    memcpy(bytes + size, "\x3a\x01x", 3); /* a hello and an unknown field of the envelope */
    bytes[0] = (uint8_t)(bytes[0] + 3);
    assert_int_equal(take_exact(bytes, size + 3, EXPERTS, scratch, &used, &f), CAUCUS_OK);
    assert_same_frame(&hello, &f);
    memcpy(bytes + size, "\x2a\x01\x08", 3); /* a hello and a goodbye */
    assert_true(refused(bytes, size + 3, EXPERTS));
    memcpy(bytes + 4, "\x08\x01", 2); /* kind 1 that is no message */
    bytes[0] = 2;
    assert_true(refused(bytes, 6, EXPERTS));

    message[0] = 0x12, message[1] = 31; /* plan hashes of 31 and 33 bytes, and none */
    assert_true(message_refused(CAUCUS_FRAME_HELLO, message, 33));
    assert_true(message_refused(CAUCUS_FRAME_WELCOME, message, 33));
    message[1] = 33;
    assert_true(message_refused(CAUCUS_FRAME_HELLO, message, 35));
    assert_true(message_refused(CAUCUS_FRAME_HELLO, message, 0));
    assert_true(message_refused(CAUCUS_FRAME_ANNOUNCEMENT, "\x20\x06", 2));                        /* ask 6 */
    assert_true(message_refused(CAUCUS_FRAME_ANNOUNCEMENT, "\x3a\x09\1\2\3\4\5\6\7\x08\x09", 11)); /* nine listed */
    assert_false(message_refused(CAUCUS_FRAME_ANNOUNCEMENT, "\x3a\x08\1\2\3\4\5\6\7\x08", 10));
    size = wrap(bytes, CAUCUS_FRAME_ANNOUNCEMENT, (const uint8_t *)"\x3a\x03\0\1\2", 5);
    assert_true(refused(bytes, size, 2)); /* more listed than there are experts */
    assert_false(refused(bytes, size, 3));
}

static void test_texts(void **user) {
    (void)user;
    uint8_t message[512] = {0x12, 0xff, 0x01};
    memset(message + 3, 'a', 256);
    assert_false(message_refused(CAUCUS_FRAME_GOODBYE, message, 3 + 255));
    message[1] = 0x80, message[2] = 0x02; /* 256 */
    assert_true(message_refused(CAUCUS_FRAME_GOODBYE, message, 3 + 256));
    assert_true(message_refused(CAUCUS_FRAME_REFUSAL, message, 3 + 256));
    for (unsigned c = 0; c < 256; c++) {
        const uint8_t one[] = {0x12, 3, 'a', (uint8_t)c, 'b'};
        assert_int_equal(message_refused(CAUCUS_FRAME_REFUSAL, one, sizeof one), c < 0x20 || c > 0x7e);
    }
    caucus_frame f = {.kind = CAUCUS_FRAME_REFUSAL, .text = "a\nb\x80"}, g; /* ours never leave unprintable */
    uint8_t bytes[64];
    int64_t scratch[EXPERTS];
    size_t size = caucus_wire_put(&f, bytes, sizeof bytes), used;
    assert_int_equal(take_exact(bytes, size, EXPERTS, scratch, &used, &g), CAUCUS_OK);
    assert_string_equal(g.text, "a?b?");
}

/* The message that makes protobuf-c ask for the most memory is still read without the heap; one byte more is not. */
static void test_many_unknown_fields(void **user) {
    (void)user;
    uint8_t message[CAUCUS_CONTROL_BYTES + 2], bytes[1024];
    int64_t scratch[EXPERTS];
    caucus_frame f;
    size_t used;
    for (size_t i = 0; i < sizeof message; i += 2)
        message[i] = 0x78, message[i + 1] = 1; /* field 15 */
    size_t size = wrap(bytes, CAUCUS_FRAME_GOODBYE, message, CAUCUS_CONTROL_BYTES);
    assert_int_equal(take_exact(bytes, size, EXPERTS, scratch, &used, &f), CAUCUS_OK);
    assert_int_equal(used, size);
    assert_true(message_refused(CAUCUS_FRAME_GOODBYE, message, CAUCUS_CONTROL_BYTES + 2));
    for (size_t i = 0; i < CAUCUS_CONTROL_BYTES; i += 2)
        message[i] = 0x38, message[i + 1] = 1; /* a list, one by one */
    assert_true(message_refused(CAUCUS_FRAME_ANNOUNCEMENT, message, CAUCUS_CONTROL_BYTES));
}

/* docs/PROTOCOL.md: blocks that begin with "```hex NAME"; '#' begins a comment. */
static size_t documented_bytes(const char *name, uint8_t *ret, size_t room) {
    const char *source = getenv("CAUCUS_SOURCE");
    char path[4096], line[512], fence[64];
    snprintf(path, sizeof path, "%s/docs/PROTOCOL.md", source ? source : ".");
    snprintf(fence, sizeof fence, "```hex %s\n", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t n = 0;
    bool inside = false;
    while (fgets(line, sizeof line, file)) {
        if (!inside) {
            inside = strcmp(line, fence) == 0;
            continue;
        }
        if (strncmp(line, "```", 3) == 0)
            break;
        line[strcspn(line, "#")] = '\0';
        for (char *at = line, *end; n < room; at = end) {
            unsigned long byte = strtoul(at, &end, 16);
            if (end == at)
                break;
            ret[n++] = (uint8_t)byte;
        }
    }
    fclose(file);
    return n;
}

static void test_documented_examples(void **user) {
    (void)user;
    static const char *const names[] = {"hello", "welcome", "announcement", "report", "goodbye", "refusal"};
    for (int kind = CAUCUS_FRAME_HELLO; kind <= CAUCUS_FRAME_REFUSAL; kind++) {
        uint8_t bytes[1024], documented[1024];
        caucus_frame f = example((caucus_frame_kind)kind);
        size_t size = caucus_wire_put(&f, bytes, sizeof bytes);
        if (getenv("CAUCUS_SHOW_EXAMPLES")) {
            printf("%s:", names[kind - 1]);
            for (size_t i = 0; i < size; i++)
                printf(" %02x", bytes[i]);
            printf("\n");
        }
        assert_int_equal(documented_bytes(names[kind - 1], documented, sizeof documented), size);
        assert_memory_equal(documented, bytes, size);
    }
}

int main(void) {
    printf("seed %" PRIu64 "\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_frames_in_a_row),
        cmocka_unit_test(test_longest),
        cmocka_unit_test(test_values_in_place),
        cmocka_unit_test(test_report_as_protobuf_c),
        cmocka_unit_test(test_field_soup),
        cmocka_unit_test(test_stricter_than_protobuf),
        cmocka_unit_test(test_truncations),
        cmocka_unit_test(test_flipped_bits),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_many_unknown_fields),
        cmocka_unit_test(test_documented_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
