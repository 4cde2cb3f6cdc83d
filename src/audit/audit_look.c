/* SPDX-License-Identifier: Apache-2.0 */
/* audit_look.c: a coordinator that shows the loss of the expert in force with its decision. See audit_parts.h.
 *
 * The coordinator is the real machine, on a grid of one step; all clients report once. The record is one loss of
 * client 1: for the expert in force and against the other one, or the reverse. That expert is as good as the other
 * in the first world and worse by two losses in the second: there it is chosen e^(-2 rate) times as often. The
 * statistic is the log-likelihood ratio of what is announced, choice and figure, by the laws that the plan claims:
 * no event says more. The broken twins: half the noise of both; a selection that has all of epsilon, as if nobody
 * had taken anything off for the look; a coordinator that is restored and shows a second figure of the same sums. */
#include "audit/audit_stage.h"

#include <caucus/select.h>

#include <math.h>
#include <stdlib.h>

#include "algo/look/look.h"
#include "plan/stoch/look.h"

#define CLIENTS 64u

typedef struct looks {
    caucus_audit_look setting;
    caucus_plan *plan;
    bool again;     /* the twin's fault: a second figure */
    double rate[2]; /* of the selection and of the figure, as they are drawn */
} looks;

static void close_looks(void *self) {
    looks *s = self;
    caucus_plan_free(s->plan);
    free(s);
}

static caucus_status open_looks(const caucus_audit *audit, void **ret_self, caucus_error *ret_error) {
    looks *s = calloc(1, sizeof *s);
    if (s == NULL)
        return CAUCUS_E_MEMORY;
    s->setting = *(const caucus_audit_look *)audit->setting;
    s->again = audit->fault.kind == CAUCUS_AUDIT_DRAW_AGAIN;
    caucus_settings settings;
    caucus_settings_init(&settings);
    settings.algorithm = CAUCUS_ALGORITHM_STOCH;
    settings.trust = CAUCUS_TRUST_COORDINATOR;
    settings.clients = CLIENTS;
    settings.experts = 2;
    settings.rounds = 2;
    settings.grid = 1;
    settings.epsilon = s->setting.epsilon;
    settings.show_loss = s->setting.show;
    caucus_status status = caucus_plan_new(&settings, &s->plan, ret_error);
    if (status != CAUCUS_OK) {
        free(s);
        return status;
    }
    caucus_stoch_phase *phase = &s->plan->stoch.phase[0];
    if (audit->fault.kind == CAUCUS_AUDIT_UNPAID) /* epsilon/(epsilon - E0) times the rate, in whole numbers */
        phase->select_rate[0].num =
            (uint64_t)((double)phase->select_rate[0].num * s->setting.epsilon / (s->setting.epsilon - s->setting.show));
    caucus_audit_break_plan(s->plan, &audit->fault);
    s->rate[0] = caucus_rational_double(phase->select_rate[0]);
    s->rate[1] = caucus_rational_double(s->plan->stoch.show_noise.parameter);
    *ret_self = s;
    return CAUCUS_OK;
}

/* ln P(sum shown | world 1) / P(.. | world 0), where the sum is `base` in world 0 and one more in world 1. */
static double figure_ratio(const looks *s, int64_t shown, int64_t base) {
    return s->rate[1] * (fabs((double)(shown - base)) - fabs((double)(shown - base - 1)));
}

static caucus_status count(caucus_coordinator *c, unsigned world) {
    const uint32_t x = caucus_coordinator_announcement(c)->expert;
    caucus_status status = CAUCUS_OK;
    for (uint32_t i = 1; status == CAUCUS_OK && i <= CLIENTS; i++) {
        int64_t value[2];
        value[x] = i == 1 ? world : i == 2 ? 1 : i % 2;
        value[1 - x] = i == 1 ? 1 - world : i % 2;
        const caucus_report report = {
            .client = i, .kind = CAUCUS_ASK_LEAF, .first = 2, .block = 2, .count = 2, .value = value};
        status = caucus_coordinator_receive(c, &report);
    }
    return status;
}

/* Permute-and-flip of two: the worse one, by g, is chosen with probability e^(-rate g)/2. */
static double choice_ratio(const looks *s, bool kept) {
    return kept ? -2 * s->rate[0] : log(2 - exp(-2 * s->rate[0]));
}

static caucus_status play(const void *self, unsigned world, const caucus_key *key, double *ret) {
    const looks *s = self;
    caucus_coordinator *c = NULL;
    caucus_status status = caucus_coordinator_new(s->plan, key, &c);
    if (status != CAUCUS_OK)
        return status;
    const uint32_t x = caucus_coordinator_announcement(c)->expert;
    const int64_t base = CLIENTS / 2; /* client 2, and all odd ones but the first */
    caucus_key other;
    caucus_key_derive(key, 1, &other);
    status = count(c, world);
    const int64_t sum = c->sum[x];
    if (status == CAUCUS_OK)
        status = caucus_coordinator_decide(c);
    if (status == CAUCUS_OK && c->look->count == 1) {
        *ret = figure_ratio(s, c->look->shown[0].sum, base) +
               choice_ratio(s, caucus_coordinator_announcement(c)->expert == x);
        if (s->again) {
            caucus_stream stream;
            caucus_stream_init(&stream, &other, CAUCUS_PURPOSE_LOOK, 2, 0, 0);
            *ret += figure_ratio(s, sum + caucus_noise_draw(&stream, &s->plan->stoch.show_noise), base);
            caucus_stream_wipe(&stream);
        }
    }
    caucus_coordinator_free(c);
    return status;
}

static caucus_status draw_looks(const void *self, unsigned world, const caucus_key *key, uint64_t first, size_t number,
                                double *ret) {
    return caucus_audit_draw_each(play, self, world, key, first, number, ret);
}

const caucus_audit_family caucus_audit_look_family = {open_looks, draw_looks, close_looks};
