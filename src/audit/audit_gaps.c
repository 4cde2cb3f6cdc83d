/* SPDX-License-Identifier: Apache-2.0 */
/* audit_gaps.c: a client of a run without an end, and a coordinator that leaves announcements out. See audit_parts.h.
 *
 * Who was away goes on from the announcement in force, so gaps between announcements are no errors. That is private
 * only because what is asked moves forward: a phase that was answered is not answered again (docs/PRIVACY.md, "Runs
 * without an end"). Here the coordinator asks for a phase, and then, after a gap, for the same phase once more, when
 * the client sees other losses. An honest client refuses. The broken twin has forgotten what it answered: noise is
 * named by the phase, so it sends the same noise on other sums, and the difference is what the noise should have
 * hidden. */
#include "audit/audit_stage.h"

#include "algo/client.h"
#include "plan/stoch.h"

#include <math.h>
#include <stdlib.h>

#define EXPERTS 2u
#define LONGEST 2u
#define PHASE 9u /* far into phases of equal length */

typedef struct gaps {
    caucus_audit_planned planned;
    bool goes_back;
    double rate; /* of the noise on a message, per grid step */
} gaps;

static caucus_status open_gaps(const caucus_audit *audit, void **ret_self, caucus_error *ret_error) {
    caucus_settings s;
    caucus_settings_init(&s);
    s.algorithm = CAUCUS_ALGORITHM_STOCH;
    s.trust = CAUCUS_TRUST_NOBODY;
    s.message = CAUCUS_MESSAGE_KNORM;
    s.clients = 1;
    s.experts = EXPERTS;
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    s.longest_phase = LONGEST;
    s.epsilon = audit->claimed;
    const caucus_status status = caucus_audit_open_planned(&s, sizeof(gaps), ret_self, ret_error);
    if (status != CAUCUS_OK)
        return status;
    gaps *g = *ret_self;
    caucus_audit_break_plan(g->planned.plan, &audit->fault);
    g->goes_back = audit->fault.kind == CAUCUS_AUDIT_GO_BACK;
    g->rate = caucus_rational_double(caucus_stoch_phase_of(g->planned.plan, PHASE)->vertex_noise[0].parameter);
    return CAUCUS_OK;
}

static double largest(const int64_t *value, int64_t centre) {
    const double a = fabs((double)(value[0] - centre)), b = fabs((double)(value[1] - centre));
    return fmax(a, b);
}

/* One answer, of a phase whose first losses are `loss` for both experts and whose others are 0. */
static const caucus_report *answer(caucus_client *c, double loss) {
    const double row[EXPERTS] = {loss, loss}, none[EXPERTS] = {0, 0};
    for (bool first = true; caucus_client_rounds_left(c) > 0; first = false)
        if (caucus_client_observe(c, first ? row : none, 1) != CAUCUS_OK)
            abort(); /* a round is wanted */
    return caucus_client_report(c);
}

/* The log-likelihood ratio of the first answer; and where there is a second one, what it tells by itself. */
static caucus_status play(const void *self, unsigned world, const caucus_key *key, double *ret) {
    const gaps *g = self;
    caucus_client *c = NULL;
    caucus_status status = caucus_client_new(g->planned.plan, 1, key, &c);
    if (status != CAUCUS_OK)
        return status;
    caucus_announcement a = {.serial = 20, .ask = CAUCUS_ASK_LEAF, .block = PHASE};
    if (caucus_client_hear(c, &a) != CAUCUS_OK)
        abort(); /* the first that it hears */
    const caucus_report *report = answer(c, world);
    if (report == NULL)
        abort(); /* all its rounds were played */
    const int64_t first[EXPERTS] = {report->value[0], report->value[1]};
    *ret = g->rate * (largest(first, 0) - largest(first, g->planned.plan->grid));
    if (g->goes_back) /* the rule that caucus_client_hear() itself cannot break */
        c->heard.block = PHASE - 1;
    a.serial = 30;
    if (caucus_client_hear(c, &a) == CAUCUS_OK) {
        report = answer(c, 0);
        if (report != NULL)
            *ret = (double)(first[0] - report->value[0]);
    }
    caucus_client_free(c);
    return CAUCUS_OK;
}

const caucus_audit_family caucus_audit_gaps_family = {
    .open = open_gaps, .play = play, .close = caucus_audit_close_planned};
