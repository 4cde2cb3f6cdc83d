/* SPDX-License-Identifier: Apache-2.0 */
/* audit_look.c: a coordinator that shows the loss of the expert in force with its decision. See audit_parts.h.
 *
 * The coordinator is the real machine, on a grid of one step; all clients report once, or (unit client) once for each
 * of two decisions. The record is one loss of client 1 (all that it says): for the expert in force and against the
 * other one, or the reverse. That expert is as good as the other
 * in the first world and worse by two losses in the second: there it is chosen e^(-2 rate) times as often. The
 * statistic is the log-likelihood ratio of what is announced, choice and figure, by the laws that the plan claims:
 * no event says more. The broken twins: half the noise of both; a selection that has all of epsilon, as if nobody
 * had taken anything off for the look; a coordinator that is restored and shows a second figure of the same sums; of
 * unit client one whose two figures have all of E0 each. */
#include "audit/audit_stage.h"

#include <caucus/select.h>

#include <math.h>
#include <stdlib.h>

#include "algo/look/look.h"
#include "plan/stoch/look.h"

#define CLIENTS 64u
#define DECISIONS 2 /* most */

typedef struct looks {
    caucus_audit_planned planned;
    caucus_audit_look setting;
    bool again;                       /* the twin's fault: a second figure */
    double select[DECISIONS], figure; /* rates of the selections and of the figures, as they are drawn */
} looks;

static caucus_status open_looks(const caucus_audit *audit, void **ret_self, caucus_error *ret_error) {
    const caucus_audit_look *setting = audit->setting;
    caucus_settings settings;
    caucus_settings_init(&settings);
    settings.algorithm = CAUCUS_ALGORITHM_STOCH;
    settings.trust = CAUCUS_TRUST_COORDINATOR;
    settings.clients = CLIENTS;
    settings.experts = 2;
    settings.rounds = setting->client ? 16 : 2;
    settings.unit = setting->client ? CAUCUS_UNIT_CLIENT : CAUCUS_UNIT_EVENT;
    settings.growth = setting->client ? 4 : settings.growth;
    settings.grid = 1;
    settings.epsilon = setting->epsilon;
    settings.show_loss = setting->show;
    const caucus_status status = caucus_audit_open_planned(&settings, sizeof(looks), ret_self, ret_error);
    if (status != CAUCUS_OK)
        return status;
    looks *s = *ret_self;
    s->setting = *setting;
    s->again = audit->fault.kind == CAUCUS_AUDIT_DRAW_AGAIN;
    caucus_stoch_plan *stoch = &s->planned.plan->stoch;
    const double unpaid = s->setting.epsilon / (s->setting.epsilon - s->setting.show);
    for (uint32_t i = 0; i < stoch->described && audit->fault.kind == CAUCUS_AUDIT_UNPAID; i++) /* in whole numbers */
        stoch->phase[i].select_rate[0].num = (uint64_t)((double)stoch->phase[i].select_rate[0].num * unpaid);
    if (audit->fault.kind == CAUCUS_AUDIT_EACH_SHOWN)
        stoch->show_noise.parameter.num *= stoch->described;
    caucus_audit_break_plan(s->planned.plan, &audit->fault);
    for (uint32_t i = 0; i < stoch->described && i < DECISIONS; i++)
        s->select[i] = caucus_rational_double(stoch->phase[i].select_rate[0]);
    s->figure = caucus_rational_double(stoch->show_noise.parameter);
    return CAUCUS_OK;
}

/* ln P(sum shown | world 1) / P(.. | world 0), where the sum is `base` in world 0 and one more in world 1. */
static double figure_ratio(const looks *s, int64_t shown, int64_t base) {
    return s->figure * (fabs((double)(shown - base)) - fabs((double)(shown - base - 1)));
}

static caucus_status count(caucus_coordinator *c, unsigned world) {
    const uint32_t x = caucus_coordinator_announcement(c)->expert;
    const uint64_t block = caucus_coordinator_announcement(c)->block;
    caucus_status status = CAUCUS_OK;
    for (uint32_t i = 1; status == CAUCUS_OK && i <= CLIENTS; i++) {
        int64_t value[2];
        value[x] = i == 1 ? world : i == 2 ? 1 : i % 2;
        value[1 - x] = i == 1 ? 1 - world : i % 2;
        const caucus_report report = {
            .client = i, .kind = CAUCUS_ASK_LEAF, .first = block, .block = block, .count = 2, .value = value};
        status = caucus_coordinator_receive(c, &report);
    }
    return status;
}

/* Permute-and-flip of two: the worse one, by g, is chosen with probability e^(-rate g)/2. */
static double choice_ratio(double rate, bool kept) {
    return kept ? -2 * rate : log(2 - exp(-2 * rate));
}

/* One decision: what was announced with it, by its likelihood. */
static caucus_status decide(const looks *s, caucus_coordinator *c, unsigned world, const caucus_key *other,
                            double *ret) {
    const uint32_t x = caucus_coordinator_announcement(c)->expert;
    const uint64_t block = caucus_coordinator_announcement(c)->block;
    const int64_t base = CLIENTS / 2; /* client 2, and all odd ones but the first */
    const uint32_t before = c->look->count;
    caucus_status status = count(c, world);
    const int64_t sum = c->sum[x];
    if (status == CAUCUS_OK)
        status = caucus_coordinator_decide(c);
    if (status != CAUCUS_OK || c->look->count == before)
        return status;
    *ret += figure_ratio(s, c->look->shown[0].sum, base) +
            choice_ratio(s->select[block - 2], caucus_coordinator_announcement(c)->expert == x);
    if (s->again) {
        caucus_stream stream;
        caucus_stream_init(&stream, other, CAUCUS_PURPOSE_LOOK, block, 0, 0);
        *ret += figure_ratio(s, sum + caucus_noise_draw(&stream, &s->planned.plan->stoch.show_noise), base);
        caucus_stream_wipe(&stream);
    }
    return CAUCUS_OK;
}

static caucus_status play(const void *self, unsigned world, const caucus_key *key, double *ret) {
    const looks *s = self;
    caucus_coordinator *c = NULL;
    caucus_status status = caucus_coordinator_new(s->planned.plan, key, &c);
    if (status != CAUCUS_OK)
        return status;
    caucus_key other;
    caucus_key_derive(key, 1, &other);
    double ratio = 0;
    while (status == CAUCUS_OK && caucus_coordinator_announcement(c)->ask != CAUCUS_ASK_NOTHING)
        status = decide(s, c, world, &other, &ratio);
    if (status == CAUCUS_OK)
        *ret = ratio;
    caucus_coordinator_free(c);
    return status;
}

const caucus_audit_family caucus_audit_look_family = {
    .open = open_looks, .play = play, .close = caucus_audit_close_planned};
