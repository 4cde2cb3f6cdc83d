/* SPDX-License-Identifier: Apache-2.0 */
/* audit_slots.c: one client at its own pace, and a coordinator that asks it again and again in one slot. See
 * audit_parts.h.
 *
 * The client is the real machine with trust nobody: it votes. The record is everything that it sees in one slot: losses
 * against expert 0, or for it. Twice in that slot it is told of a new question and that its items are counted, whatever
 * it has sent; after the slot once more. The statistic is everything it sends: how many items, and the vote of each.
 * The broken twin takes a question for the end of a slot, as if the coordinator's questions were the client's clock:
 * the record is then in three items (docs/PRIVACY.md, "At their own pace").
 *
 * Unit client: the record is everything that it sees, and each of two questions is asked twice. The broken twin answers
 * the second one again, from a copy of its state that is older than its answer (docs/PRIVACY.md, statement 32). */
#include "audit/audit_stage.h"

#include <caucus/client.h>

#include <stdlib.h>

typedef struct slots {
    caucus_audit_planned planned;
    caucus_audit_slots setting;
    bool moved, again; /* the twin's fault */
} slots;

static caucus_status open_slots(const caucus_audit *audit, void **ret_self, caucus_error *ret_error) {
    const caucus_audit_slots *setting = audit->setting;
    caucus_settings settings;
    caucus_settings_init(&settings);
    settings.algorithm = CAUCUS_ALGORITHM_STOCH;
    settings.trust = CAUCUS_TRUST_NOBODY;
    settings.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    settings.pace = CAUCUS_PACE_OWN;
    settings.rounds = CAUCUS_ROUNDS_ENDLESS;
    settings.clients = 1;
    settings.experts = 2;
    settings.epsilon = setting->epsilon;
    if (setting->client) { /* questions end after 1 slot and after 4 */
        settings.unit = CAUCUS_UNIT_CLIENT;
        settings.rounds = 16;
        settings.growth = 4;
    }
    const caucus_status status = caucus_audit_open_planned(&settings, sizeof(slots), ret_self, ret_error);
    if (status != CAUCUS_OK)
        return status;
    slots *s = *ret_self;
    s->setting = *setting;
    s->moved = audit->fault.kind == CAUCUS_AUDIT_MOVED_SLOT;
    s->again = audit->fault.kind == CAUCUS_AUDIT_DRAW_AGAIN;
    caucus_audit_break_plan(s->planned.plan, &audit->fault);
    return CAUCUS_OK;
}

/* What the client answers to what is open: its vote, as the next two bits of what was seen. */
static void answer(caucus_client *c, uint32_t *seen) {
    const caucus_report *r = caucus_client_report(c);
    *seen = 4 * *seen + (r == NULL ? 0 : r->value[0] == 0 ? 1 : 2);
    if (r != NULL && caucus_client_acknowledge(c, r->block + 1) != CAUCUS_OK)
        abort();
}

static void ask(caucus_client *c, uint64_t question, uint32_t *seen) {
    const caucus_announcement a = {.serial = question, .ask = CAUCUS_ASK_VOTE, .block = question + 2};
    if (caucus_client_hear(c, &a) != CAUCUS_OK)
        abort(); /* it is asked in order */
    answer(c, seen);
}

static caucus_status play_slot(const void *self, unsigned world, const caucus_key *key, double *ret) {
    const slots *s = self;
    const double loss[2][2] = {{1, 0}, {0, 1}};
    caucus_client *c = NULL;
    uint64_t slot = 0;
    uint32_t seen = 0;
    caucus_status status = caucus_client_new(s->planned.plan, 1, key, &c);
    if (status != CAUCUS_OK)
        return status;
    ask(c, 0, &seen); /* nothing yet */
    for (; slot < 2 && status == CAUCUS_OK; slot++)
        status = caucus_client_slot(c, slot);
    for (uint64_t question = 1; status == CAUCUS_OK && question <= 3; question++) {
        status = caucus_client_observe(c, loss[world], 1);
        if (status == CAUCUS_OK && (s->moved || question == 3))
            status = caucus_client_slot(c, slot++);
        if (status == CAUCUS_OK)
            ask(c, question, &seen);
    }
    caucus_client_free(c);
    *ret = seen;
    return status;
}

/* Go on from a state, under a key of the new process. */
static caucus_status put_back(const caucus_plan *plan, const caucus_key *key, const uint8_t *state, size_t bytes,
                              caucus_client **client) {
    caucus_key other;
    caucus_key_derive(key, 1, &other);
    caucus_client_free(*client);
    *client = NULL;
    return caucus_client_restore(plan, 1, &other, state, bytes, client);
}

static caucus_status play_client(const void *self, unsigned world, const caucus_key *key, double *ret) {
    const slots *s = self;
    const double loss[2][2] = {{1, 0}, {0, 1}};
    caucus_client *c = NULL;
    uint8_t *copy = NULL;
    size_t bytes = 0;
    uint32_t seen = 0;
    caucus_status status = caucus_client_new(s->planned.plan, 1, key, &c);
    if (status != CAUCUS_OK)
        return status;
    ask(c, 0, &seen); /* its end has not come */
    for (uint64_t slot = 0; slot <= 5 && status == CAUCUS_OK; slot++) {
        status = caucus_client_slot(c, slot);
        if (status == CAUCUS_OK && slot > 0)
            status = caucus_client_observe(c, loss[world], 1);
        if (status == CAUCUS_OK && slot == 2)
            answer(c, &seen);
    }
    if (status == CAUCUS_OK && s->again) {
        bytes = caucus_client_state_bytes(c);
        copy = malloc(bytes);
        status = copy != NULL ? caucus_client_save(c, copy, bytes) : CAUCUS_E_MEMORY;
    }
    if (status == CAUCUS_OK)
        ask(c, 1, &seen);
    if (status == CAUCUS_OK && s->again)
        status = put_back(s->planned.plan, key, copy, bytes, &c);
    if (status == CAUCUS_OK && s->again)
        ask(c, 1, &seen);
    else if (status == CAUCUS_OK)
        answer(c, &seen);
    caucus_client_free(c);
    free(copy);
    *ret = seen;
    return status;
}

static caucus_status play(const void *self, unsigned world, const caucus_key *key, double *ret) {
    const slots *s = self;
    return s->setting.client ? play_client(self, world, key, ret) : play_slot(self, world, key, ret);
}

const caucus_audit_family caucus_audit_slots_family = {
    .open = open_slots, .play = play, .close = caucus_audit_close_planned};
