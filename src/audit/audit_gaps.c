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
    caucus_plan *plan;
    bool goes_back;
    double rate; /* of the noise on a message, per grid step */
} gaps;

static void close_gaps(void *self) {
    gaps *g = self;
    caucus_plan_free(g->plan);
    free(g);
}

static caucus_status open_gaps(const caucus_audit *audit, void **ret_self, caucus_error *ret_error) {
    gaps *g = calloc(1, sizeof *g);
    if (g == NULL)
        return CAUCUS_E_MEMORY;
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
    caucus_status status = caucus_plan_new(&s, &g->plan, ret_error);
    if (status != CAUCUS_OK) {
        free(g);
        return status;
    }
    caucus_audit_break_plan(g->plan, &audit->fault);
    g->goes_back = audit->fault.kind == CAUCUS_AUDIT_GO_BACK;
    g->rate = caucus_rational_double(caucus_stoch_phase_of(g->plan, PHASE)->vertex_noise[0].parameter);
    *ret_self = g;
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
    caucus_status status = caucus_client_new(g->plan, 1, key, &c);
    if (status != CAUCUS_OK)
        return status;
    caucus_announcement a = {.serial = 20, .ask = CAUCUS_ASK_LEAF, .block = PHASE};
    if (caucus_client_hear(c, &a) != CAUCUS_OK)
        abort(); /* the first that it hears */
    const caucus_report *report = answer(c, world);
    if (report == NULL)
        abort(); /* all its rounds were played */
    const int64_t first[EXPERTS] = {report->value[0], report->value[1]};
    *ret = g->rate * (largest(first, 0) - largest(first, g->plan->grid));
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

static caucus_status draw_gaps(const void *self, unsigned world, const caucus_key *key, uint64_t first, size_t count,
                               double *ret) {
    return caucus_audit_draw_each(play, self, world, key, first, count, ret);
}

const caucus_audit_family caucus_audit_gaps_family = {open_gaps, draw_gaps, close_gaps};
