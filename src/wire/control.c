/* SPDX-License-Identifier: Apache-2.0 */
/* control.c: between caucus_frame and what protoc-c made of proto/caucus.proto. See control.h. */
#include "wire/control.h"

#include "wire/scan.h"

#include <assert.h>
#include <stdalign.h>
#include <string.h>

#include "wire/caucus.pb-c.h"

/* ---- writing ---- */

/* A frame's message in protobuf-c's form; what it points to is in the frame or in here. */
typedef struct outgoing {
    union {
        Caucus__V2__Hello hello;
        Caucus__V2__Welcome welcome;
        Caucus__V2__Announcement announcement;
        Caucus__V2__Goodbye goodbye;
        Caucus__V2__Refusal refusal;
    } as;
    uint32_t list[CAUCUS_SHORTLIST];
    uint8_t plan[CAUCUS_PLAN_HASH_BYTES];
    uint8_t text[CAUCUS_WIRE_TEXT_BYTES];
} outgoing;

static ProtobufCBinaryData plan_bytes(outgoing *out, const caucus_frame *frame) {
    memcpy(out->plan, frame->plan, sizeof out->plan);
    return (ProtobufCBinaryData){sizeof out->plan, out->plan};
}

static bool printable(uint8_t c) {
    return c >= 0x20 && c <= 0x7e;
}

/* Texts may quote what an operating system said: what is not printable ASCII becomes '?'. */
static ProtobufCBinaryData text_bytes(outgoing *out, const caucus_frame *frame) {
    size_t n = 0;
    for (; n < sizeof out->text - 1 && frame->text[n] != '\0'; n++)
        out->text[n] = printable((uint8_t)frame->text[n]) ? (uint8_t)frame->text[n] : '?';
    return (ProtobufCBinaryData){n, out->text};
}

static void fill_announcement(outgoing *out, const caucus_frame *frame) {
    const caucus_announcement *a = &frame->announcement;
    assert(a->listed <= CAUCUS_SHORTLIST);
    memcpy(out->list, a->list, sizeof out->list);
    Caucus__V2__Announcement *to = &out->as.announcement;
    caucus__v2__announcement__init(to);
    to->serial = a->serial;
    to->expert = a->expert;
    to->epoch = a->epoch;
    to->ask = (Caucus__V2__Ask)a->ask;
    to->block = a->block;
    to->leaf = a->leaf;
    to->n_list = a->listed;
    to->list = out->list;
    to->cost_next = frame->cost_next;
    to->sums_next = frame->sums_next;
}

static const ProtobufCMessage *fill(outgoing *out, const caucus_frame *frame) {
    switch (frame->kind) {
    case CAUCUS_FRAME_HELLO:
        caucus__v2__hello__init(&out->as.hello);
        out->as.hello.version = frame->version;
        out->as.hello.plan = plan_bytes(out, frame);
        out->as.hello.client = frame->client;
        out->as.hello.heard = frame->heard;
        return &out->as.hello.base;
    case CAUCUS_FRAME_WELCOME:
        caucus__v2__welcome__init(&out->as.welcome);
        out->as.welcome.version = frame->version;
        out->as.welcome.plan = plan_bytes(out, frame);
        out->as.welcome.cost_next = frame->cost_next;
        out->as.welcome.sums_next = frame->sums_next;
        out->as.welcome.deadline_ms = frame->deadline_ms;
        out->as.welcome.answered = frame->answered;
        return &out->as.welcome.base;
    case CAUCUS_FRAME_ANNOUNCEMENT:
        fill_announcement(out, frame);
        return &out->as.announcement.base;
    case CAUCUS_FRAME_GOODBYE:
        caucus__v2__goodbye__init(&out->as.goodbye);
        out->as.goodbye.code = frame->code;
        out->as.goodbye.text = text_bytes(out, frame);
        return &out->as.goodbye.base;
    default:
        assert(frame->kind == CAUCUS_FRAME_REFUSAL);
        caucus__v2__refusal__init(&out->as.refusal);
        out->as.refusal.code = frame->code;
        out->as.refusal.text = text_bytes(out, frame);
        return &out->as.refusal.base;
    }
}

size_t caucus_control_size(const caucus_frame *frame) {
    outgoing out;
    return protobuf_c_message_get_packed_size(fill(&out, frame));
}

size_t caucus_control_put(const caucus_frame *frame, uint8_t *to) {
    outgoing out;
    return protobuf_c_message_pack(fill(&out, frame), to);
}

/* ---- reading ---- */

/* Memory that is given out once and never taken back. The worst message of CAUCUS_CONTROL_BYTES is made of unknown
 * fields of two bytes: 240 records of 24 bytes and 240 pieces of 16 for them, and protobuf-c's tables of 32 bytes per
 * field, which double up to 256 and stay: under 26 KiB. More than there is reads as malformed. */
typedef struct arena {
    alignas(16) uint8_t memory[32 * 1024];
    size_t used;
} arena;

static void *arena_alloc(void *user, size_t size) {
    arena *a = user;
    size_t need = (size + 15) & ~(size_t)15;
    if (need < size || need > sizeof a->memory - a->used)
        return NULL;
    void *memory = a->memory + a->used;
    a->used += need;
    return memory;
}

static void arena_free(void *user, void *memory) {
    (void)user, (void)memory;
}

static caucus_status broken(caucus_error *ret_error, const char *what, const char *how) {
    return caucus_fail(ret_error, CAUCUS_E_FORMAT, what, "%s", how);
}

static caucus_status take_plan(const ProtobufCBinaryData *plan, const char *what, caucus_frame *ret,
                               caucus_error *ret_error) {
    if (plan->len != CAUCUS_PLAN_HASH_BYTES)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, what, "a plan hash of %zu bytes (accepted: %u)", plan->len,
                           CAUCUS_PLAN_HASH_BYTES);
    memcpy(ret->plan, plan->data, CAUCUS_PLAN_HASH_BYTES);
    return CAUCUS_OK;
}

static caucus_status take_text(const ProtobufCBinaryData *text, const char *what, caucus_frame *ret,
                               caucus_error *ret_error) {
    if (text->len >= CAUCUS_WIRE_TEXT_BYTES)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, what, "a text of %zu bytes (accepted: at most %u)", text->len,
                           CAUCUS_WIRE_TEXT_BYTES - 1);
    for (size_t i = 0; i < text->len; i++) {
        if (!printable(text->data[i]))
            return broken(ret_error, what, "the text is not printable ASCII");
        ret->text[i] = (char)text->data[i];
    }
    return CAUCUS_OK; /* the frame was zeros: the text ends in one */
}

static caucus_status take_announcement(const Caucus__V2__Announcement *a, uint32_t experts, caucus_frame *ret,
                                       caucus_error *ret_error) {
    if (a->ask < CAUCUS__V2__ASK__ASK_NOTHING || a->ask > CAUCUS__V2__ASK__ASK_SHORTLIST)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "announcement", "ask %d (accepted: 0 to 5)", (int)a->ask);
    if (a->n_list > CAUCUS_SHORTLIST || a->n_list > experts)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "announcement", "%zu experts listed (accepted: at most %u)",
                           a->n_list, experts < CAUCUS_SHORTLIST ? experts : CAUCUS_SHORTLIST);
    ret->announcement = (caucus_announcement){.serial = a->serial,
                                              .expert = a->expert,
                                              .epoch = a->epoch,
                                              .ask = (caucus_ask)a->ask,
                                              .block = a->block,
                                              .leaf = a->leaf,
                                              .listed = (uint32_t)a->n_list};
    for (size_t i = 0; i < a->n_list; i++)
        ret->announcement.list[i] = a->list[i];
    ret->cost_next = a->cost_next;
    ret->sums_next = a->sums_next;
    return CAUCUS_OK;
}

/* protobuf-c shortens numbers of more than 64 bits, and takes a known field of another type for an unknown one; here
 * both are errors (docs/PROTOCOL.md, "Encoding"). */
static bool strict(const ProtobufCMessageDescriptor *message, const uint8_t *bytes, size_t size) {
    caucus_scan scan = {bytes, bytes + size};
    while (scan.at < scan.end) {
        caucus_wire_field field;
        if (!caucus_scan_field(&scan, &field))
            return false;
        const ProtobufCFieldDescriptor *known = protobuf_c_message_descriptor_get_field(message, field.number);
        if (known == NULL)
            continue;
        bool long_form = known->type == PROTOBUF_C_TYPE_BYTES || known->label == PROTOBUF_C_LABEL_REPEATED;
        if (field.type != (long_form ? CAUCUS_WIRE_BYTES : CAUCUS_WIRE_VARINT))
            return false;
    }
    return true;
}

caucus_status caucus_control_take(caucus_frame_kind kind, const uint8_t *bytes, size_t size, uint32_t experts,
                                  caucus_frame *ret, caucus_error *ret_error) {
    static const struct {
        const char *name;
        const ProtobufCMessageDescriptor *message;
    } kinds[] = {[CAUCUS_FRAME_HELLO] = {"hello", &caucus__v2__hello__descriptor},
                 [CAUCUS_FRAME_WELCOME] = {"welcome", &caucus__v2__welcome__descriptor},
                 [CAUCUS_FRAME_ANNOUNCEMENT] = {"announcement", &caucus__v2__announcement__descriptor},
                 [CAUCUS_FRAME_GOODBYE] = {"goodbye", &caucus__v2__goodbye__descriptor},
                 [CAUCUS_FRAME_REFUSAL] = {"refusal", &caucus__v2__refusal__descriptor}};
    const char *what = kinds[kind].name;
    arena a;
    a.used = 0;
    ProtobufCAllocator allocator = {arena_alloc, arena_free, &a};
    memset(ret, 0, sizeof *ret);
    ret->kind = kind;
    if (size > CAUCUS_CONTROL_BYTES)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, what, "%zu bytes (accepted: at most %u)", size,
                           CAUCUS_CONTROL_BYTES);
    ProtobufCMessage *message = NULL;
    if (strict(kinds[kind].message, bytes, size))
        message = protobuf_c_message_unpack(kinds[kind].message, &allocator, size, bytes);
    if (message == NULL)
        return broken(ret_error, what, "not a protobuf message of this kind");
    switch (kind) {
    case CAUCUS_FRAME_HELLO: {
        const Caucus__V2__Hello *hello = (const Caucus__V2__Hello *)message;
        ret->version = hello->version;
        ret->client = hello->client;
        ret->heard = hello->heard;
        return take_plan(&hello->plan, what, ret, ret_error);
    }
    case CAUCUS_FRAME_WELCOME: {
        const Caucus__V2__Welcome *welcome = (const Caucus__V2__Welcome *)message;
        ret->version = welcome->version;
        ret->cost_next = welcome->cost_next;
        ret->sums_next = welcome->sums_next;
        ret->deadline_ms = welcome->deadline_ms;
        ret->answered = welcome->answered;
        return take_plan(&welcome->plan, what, ret, ret_error);
    }
    case CAUCUS_FRAME_ANNOUNCEMENT:
        return take_announcement((const Caucus__V2__Announcement *)message, experts, ret, ret_error);
    case CAUCUS_FRAME_GOODBYE: {
        const Caucus__V2__Goodbye *goodbye = (const Caucus__V2__Goodbye *)message;
        ret->code = goodbye->code;
        return take_text(&goodbye->text, what, ret, ret_error);
    }
    default: {
        const Caucus__V2__Refusal *refusal = (const Caucus__V2__Refusal *)message;
        ret->code = refusal->code;
        return take_text(&refusal->text, what, ret, ret_error);
    }
    }
}
