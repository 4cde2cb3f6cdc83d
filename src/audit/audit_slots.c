/* SPDX-License-Identifier: Apache-2.0 */
/* audit_slots.c: one client at its own pace, and a coordinator that asks it again and again in one slot. See
 * audit_parts.h.
 *
 * The client is the real machine with trust nobody: it votes. The record is everything that it sees in one slot: losses
 * against expert 0, or for it. Twice in that slot it is told of a new question and that its items are counted, whatever
 * it has sent; after the slot once more. The statistic is everything it sends: how many items, and the vote of each.
 * The broken twin takes a question for the end of a slot, as if the coordinator's questions were the client's clock:
 * the record is then in three items (docs/PRIVACY.md, "At their own pace"). */
#include "audit/audit_stage.h"

#include <caucus/client.h>

#include <stdlib.h>

typedef struct slots {
    caucus_audit_planned planned;
    caucus_audit_slots setting;
    bool moved; /* the twin's fault */
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
    const caucus_status status = caucus_audit_open_planned(&settings, sizeof(slots), ret_self, ret_error);
    if (status != CAUCUS_OK)
        return status;
    slots *s = *ret_self;
    s->setting = *setting;
    s->moved = audit->fault.kind == CAUCUS_AUDIT_MOVED_SLOT;
    caucus_audit_break_plan(s->planned.plan, &audit->fault);
    return CAUCUS_OK;
}

/* A question, and what the client answers: its vote, as the next two bits of what was seen. */
static void ask(caucus_client *c, uint64_t question, uint32_t *seen) {
    const caucus_announcement a = {.serial = question, .ask = CAUCUS_ASK_VOTE, .block = question + 2};
    if (caucus_client_hear(c, &a) != CAUCUS_OK)
        abort(); /* it is asked in order */
    const caucus_report *r = caucus_client_report(c);
    *seen = 4 * *seen + (r == NULL ? 0 : r->value[0] == 0 ? 1 : 2);
    if (r != NULL && caucus_client_acknowledge(c, r->block + 1) != CAUCUS_OK)
        abort();
}

static caucus_status play(const void *self, unsigned world, const caucus_key *key, double *ret) {
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

const caucus_audit_family caucus_audit_slots_family = {
    .open = open_slots, .play = play, .close = caucus_audit_close_planned};
