/* SPDX-License-Identifier: Apache-2.0 */
/* audit_mechanism.c: single mechanisms, through the public samplers. See audit_parts.h. */
#include "audit/audit_stage.h"

#include <caucus/select.h>
#include <caucus/threshold.h>

#include <stdlib.h>

#define EXPERTS_MAX 128

/* A mechanism with its fault. */
typedef struct selection {
    caucus_audit_select setting;
} selection;

typedef struct checks {
    caucus_audit_threshold setting;
    caucus_audit_fault_kind fault;
} checks;

static caucus_status open_select(const caucus_audit *audit, void **ret_self, caucus_error *ret_error) {
    (void)ret_error;
    selection *self = malloc(sizeof *self);
    if (self == NULL)
        return CAUCUS_E_MEMORY;
    self->setting = *(const caucus_audit_select *)audit->setting;
    self->setting.rate = caucus_audit_break_rate(self->setting.rate, &audit->fault);
    *ret_self = self;
    return CAUCUS_OK;
}

static caucus_status open_threshold(const caucus_audit *audit, void **ret_self, caucus_error *ret_error) {
    (void)ret_error;
    checks *self = malloc(sizeof *self);
    if (self == NULL)
        return CAUCUS_E_MEMORY;
    self->setting = *(const caucus_audit_threshold *)audit->setting;
    self->setting.rate = caucus_audit_break_rate(self->setting.rate, &audit->fault);
    self->fault = audit->fault.kind;
    *ret_self = self;
    return CAUCUS_OK;
}

/* One stream per chunk: the chunk's number is its index. */
static void open_stream(caucus_stream *ret, const caucus_key *key, uint64_t first) {
    caucus_stream_init(ret, key, CAUCUS_PURPOSE_TEST, 0, (uint32_t)(first / CAUCUS_AUDIT_CHUNK), 0);
}

static caucus_status draw_select(const void *self, unsigned world, const caucus_key *key, uint64_t first, size_t count,
                                 double *ret) {
    const caucus_audit_select *s = &((const selection *)self)->setting;
    int64_t score[EXPERTS_MAX];
    uint32_t d = s->experts < EXPERTS_MAX ? s->experts : EXPERTS_MAX;
    caucus_stream stream;
    open_stream(&stream, key, first);
    for (uint32_t y = 0; y < d; y++)
        score[y] = y == 0 ? s->challenger[world] : s->others[world];
    for (size_t i = 0; i < count; i++) {
        uint32_t chosen = s->kind == CAUCUS_SELECT_FLIP          ? caucus_select_flip(&stream, score, d, s->rate)
                          : s->kind == CAUCUS_SELECT_EXPONENTIAL ? caucus_select_exponential(&stream, score, d, s->rate)
                                                                 : caucus_select_noisy_min(&stream, score, d, s->rate);
        ret[i] = chosen == 0;
    }
    caucus_stream_wipe(&stream);
    return CAUCUS_OK;
}

static double fired_bits(const checks *c, unsigned world, caucus_stream *stream) {
    const caucus_audit_threshold *s = &c->setting;
    const caucus_noise noise = {CAUCUS_NOISE_GEOMETRIC, s->rate};
    caucus_threshold at = {0};
    uint32_t epoch = 0, bits = 0;
    caucus_threshold_begin(&at, epoch, 0, s->threshold, &noise, stream);
    for (uint32_t i = 0; i < s->checks; i++) {
        bool fired = false;
        if (caucus_threshold_add(&at, epoch, 0, s->cost[world][i]) != CAUCUS_OK ||
            caucus_threshold_check(&at, &noise, stream, &fired) != CAUCUS_OK)
            abort(); /* the epoch is open */
        bits |= (uint32_t)fired << i;
        if (fired && i + 1 < s->checks) {
            caucus_threshold before = at;
            caucus_threshold_begin(&at, ++epoch, 0, s->threshold, &noise, stream);
            at.q = c->fault == CAUCUS_AUDIT_KEEP_Q ? before.q
                                                   : at.q; /* the rules that caucus_threshold itself cannot break */
            at.theta = c->fault == CAUCUS_AUDIT_KEEP_THETA ? before.theta : at.theta;
        }
    }
    return bits;
}

static caucus_status draw_threshold(const void *self, unsigned world, const caucus_key *key, uint64_t first,
                                    size_t count, double *ret) {
    caucus_stream stream;
    open_stream(&stream, key, first);
    for (size_t i = 0; i < count; i++)
        ret[i] = fired_bits(self, world, &stream);
    caucus_stream_wipe(&stream);
    return CAUCUS_OK;
}

const caucus_audit_family caucus_audit_select_family = {.open = open_select, .draw = draw_select, .close = free};
const caucus_audit_family caucus_audit_threshold_family = {
    .open = open_threshold, .draw = draw_threshold, .close = free};
