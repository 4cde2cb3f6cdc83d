/* SPDX-License-Identifier: Apache-2.0 */
/* audit_plan.c: the audit of a plan that is going to be signed. See audit.h.
 *
 * Pairs. Which neighbouring data are worst depends on the plan: how far the others have already spoken (an exponential
 * mechanism is most telling where the choice is unlikely), in which epoch or phase the replaced loss is. So a list is
 * tried, each with a short audit of its own, and the best is audited with fresh keys: what was searched does not bend
 * the result. */
#include "audit/audit_stage.h"

#include "num/fail.h"
#include "plan/family.h"
#include "plan/stoch.h"
#include "plan/stoch/evaluate.h"
#include "show/plan_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS_MAX 64

typedef struct pair {
    caucus_audit_federation setting;
    char words[160];
} pair;

typedef struct search {
    const caucus_plan *plan; /* as it is run */
    caucus_audit_federation base;
    pair pair[PAIRS_MAX];
    uint32_t count;
} search;

static pair *add_pair(search *s, caucus_audit_losses losses, double gap) {
    if (s->count == PAIRS_MAX)
        return NULL;
    pair *p = &s->pair[s->count++];
    p->setting = s->base;
    p->setting.losses = losses;
    p->setting.gap = gap;
    return p;
}

/* How far others have spoken before a selection of this rate, in losses: nothing, then what makes the choice e^1, e^2
 * times less (or more) likely. At most `most`. */
static unsigned gaps(double rate, double grid, double most, double ret[5]) {
    static const double exponent[5] = {0, 1, 2, 3, -2};
    unsigned n = 0;
    for (unsigned i = 0; i < 5; i++) {
        double gap = round(exponent[i] / (rate * grid));
        if (fabs(gap) > most)
            gap = floor(most) * (gap < 0 ? -1 : 1);
        bool known = false;
        for (unsigned j = 0; j < n; j++)
            known = known || fabs(ret[j] - gap) < 0.5;
        if (!known)
            ret[n++] = gap;
    }
    return n;
}

static void svt_pairs(search *s) {
    static const struct {
        caucus_audit_around around;
        const char *words;
    } kinds[] = {{CAUCUS_AUDIT_FIRES, "the first epoch's check at its threshold, every later check fires"},
                 {CAUCUS_AUDIT_IDLE, "the first epoch's check at its threshold, later blocks cost nothing"},
                 {CAUCUS_AUDIT_AT, "every epoch's check at its threshold"},
                 {CAUCUS_AUDIT_SECOND, "the second epoch's check at its threshold"}};
    const caucus_svt_plan *svt = &s->plan->svt;
    double gap[5] = {0};
    unsigned n = gaps(caucus_rational_double(svt->select_rate[0]), (double)s->plan->grid,
                      (double)svt->threshold[0] / 2 / (double)s->plan->grid, gap);
    for (unsigned k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        if (kinds[k].around != CAUCUS_AUDIT_AT && (svt->switches < 2 || svt->checks < 2))
            continue;
        for (unsigned i = 0; i < n && gap[i] >= 0; i++) {
            pair *p = add_pair(s, CAUCUS_AUDIT_EDGE, gap[i]);
            if (p == NULL)
                return;
            p->setting.around = kinds[k].around;
            (void)snprintf(p->words, sizeof p->words, "%s; the other expert %g losses worse", kinds[k].words, gap[i]);
        }
    }
}

static void hedge_pairs(search *s) {
    const caucus_settings *settings = &s->plan->settings;
    double gap[5] = {0};
    unsigned n = gaps(caucus_rational_double(s->plan->hedge.rate), (double)s->plan->grid,
                      (double)settings->clients * (double)settings->interval - 1, gap);
    for (unsigned i = 0; i < n; i++) {
        pair *p = add_pair(s, CAUCUS_AUDIT_GAP, gap[i]);
        if (p != NULL)
            (void)snprintf(p->words, sizeof p->words, "a loss of the first block; %g others %s the same expert",
                           fabs(gap[i]), gap[i] < 0 ? "for" : "against");
    }
}

/* What is replaced: a loss, or all that goes into one mean. */
static const char *replaced(caucus_unit unit) {
    return unit == CAUCUS_UNIT_CLIENT         ? "all that a client sees, from the first round on,"
           : unit == CAUCUS_UNIT_CLIENT_BLOCK ? "all that a client sees in a phase,"
                                              : "a loss";
}

static void phase_pairs(search *s, uint64_t number) {
    const caucus_stoch_phase *phase = caucus_stoch_phase_of(s->plan, number);
    const caucus_settings *settings = &s->plan->settings;
    const bool means = caucus_settings_means(settings), messages = settings->trust != CAUCUS_TRUST_COORDINATOR;
    const char *learnt = settings->unit == CAUCUS_UNIT_CLIENT ? "in every phase up to" : "in";
    const double others = (messages ? 1 : settings->clients) * (means ? 1.0 : (double)phase->batch) - 1;
    caucus_rational rate = messages ? phase->vote_rate : phase->select_rate[phase->trees > 0 ? phase->trees : 0];
    if (caucus_evaluates_some(settings)) /* about: it depends on who reports */
        (void)caucus_evaluate_rate(s->plan, phase->select_budget, (uint64_t)s->plan->grid, &rate);
    if (rate.num == 0) { /* noisy sums */
        pair *p = add_pair(s, CAUCUS_AUDIT_ONES, 0);
        if (p != NULL) {
            p->setting.phase = (uint32_t)number;
            (void)snprintf(p->words, sizeof p->words, "%s 0 or 1 for every expert; learnt from %s phase %" PRIu64,
                           replaced(settings->unit), learnt, number);
        }
        return;
    }
    double gap[5] = {0};
    unsigned n = gaps(caucus_rational_double(rate), (double)s->plan->grid, others, gap);
    for (unsigned i = 0; i < n; i++) {
        pair *p = add_pair(s, CAUCUS_AUDIT_GAP, gap[i]);
        if (p == NULL)
            return;
        p->setting.phase = (uint32_t)number;
        (void)snprintf(p->words, sizeof p->words, "%s learnt from %s phase %" PRIu64 "; %g others %s",
                       replaced(settings->unit), learnt, number, fabs(gap[i]),
                       gap[i] < 0 ? "for the same expert" : "against the same expert");
    }
}

static void all_pairs(search *s) {
    const caucus_plan *plan = s->plan;
    s->base.plan = plan;
    s->base.statistic = plan->settings.trust == CAUCUS_TRUST_COORDINATOR ? CAUCUS_AUDIT_CHOICES : CAUCUS_AUDIT_MESSAGES;
    if (plan->svt.switches > 0) {
        svt_pairs(s);
    } else if (!caucus_plan_ops_of(plan)->phases) {
        hedge_pairs(s);
    } else { /* the last phases first: there are most others */
        const uint64_t last = plan->stoch.phases;
        const bool all = plan->settings.unit == CAUCUS_UNIT_CLIENT; /* a client is in all of them */
        for (uint64_t p = last; p >= (all ? last : 2); p--)
            phase_pairs(s, p);
    }
}

/* Runs per world that take about as long for every plan. */
static uint64_t trials_of(const caucus_plan *plan, bool quick) {
    const caucus_settings *s = &plan->settings;
    double cells = (double)s->clients * (double)s->rounds * s->experts + 200 * (double)caucus_plan_selections(plan);
    double runs = (quick ? 2e8 : 1e9) / (cells + 1000);
    return (uint64_t)fmax(10000, fmin(runs, 1e6));
}

/* The claim that is audited: of what clients send where they add the noise, else of what is announced. */
static caucus_status claim_of(const caucus_plan *plan, caucus_audit *ret, caucus_error *ret_error) {
    const bool messages = plan->settings.trust != CAUCUS_TRUST_COORDINATOR;
    ret->claimed = messages ? plan->guarantee.epsilon_messages : plan->guarantee.epsilon_choices;
    ret->delta = plan->guarantee.delta;
    if (!isfinite(ret->claimed))
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "plan", "claims no privacy: nothing can be refuted");
    if (!(ret->claimed > 0) || caucus_plan_selections(plan) == 0)
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "plan",
                           "never decides anything from a loss: nothing can be refuted");
    return CAUCUS_OK;
}

/* The pair on which a short audit finds most. */
static caucus_status find_pair(search *s, caucus_audit *audit, const caucus_audit_options *options, uint64_t trials,
                               const pair **ret, caucus_error *ret_error) {
    caucus_status status = CAUCUS_OK;
    double best = -1;
    for (uint32_t i = 0; status == CAUCUS_OK && i < s->count; i++) {
        char name[32];
        caucus_audit_result result;
        caucus_audit_options own = *options;
        (void)snprintf(name, sizeof name, "plan-pair-%" PRIu32, i); /* keys of its own */
        audit->name = name;
        audit->setting = &s->pair[i].setting;
        own.trials = trials / 16 > 1000 ? trials / 16 : 1000;
        own.confidence = 0.99; /* it chooses, it claims nothing */
        own.progress = NULL;   /* pairs and twins are the steps */
        status = caucus_audit_run(audit, &own, &result, ret_error);
        if (status == CAUCUS_OK && result.lower_bound > best) {
            best = result.lower_bound;
            *ret = &s->pair[i];
        }
        if (options->progress != NULL)
            options->progress(options->progress_user, i + 1, 2 * s->count);
    }
    return status;
}

static caucus_status run_pair(caucus_audit *audit, const pair *found, const caucus_audit_options *options,
                              uint64_t trials, caucus_audit_plan_result *ret, caucus_error *ret_error) {
    static const struct {
        const char *name, *wrong;
        caucus_audit_fault fault;
    } twin[CAUCUS_AUDIT_PLAN_RESULTS] = {{"plan", NULL, {CAUCUS_AUDIT_NO_FAULT, 1, 1}},
                                         {"plan-noise-1.25", "noise / 1.25", {CAUCUS_AUDIT_NOISE, 5, 4}},
                                         {"plan-half-noise", "noise / 2", {CAUCUS_AUDIT_NOISE, 2, 1}}};
    caucus_status status = CAUCUS_OK;
    caucus_audit_options own = *options;
    own.trials = trials;
    own.progress = NULL;
    audit->setting = &found->setting;
    for (unsigned i = 0; status == CAUCUS_OK && i < CAUCUS_AUDIT_PLAN_RESULTS; i++) {
        audit->name = twin[i].name;
        audit->wrong = twin[i].wrong;
        audit->twin_of = i > 0 ? twin[0].name : NULL;
        audit->fault = twin[i].fault;
        status = caucus_audit_run(audit, &own, &ret->result[i], ret_error);
        ret->count += status == CAUCUS_OK;
        if (i > 0)
            ret->result[i].expected = ret->result[i].refuted;
        if (options->progress != NULL)
            options->progress(options->progress_user, CAUCUS_AUDIT_PLAN_RESULTS + i + 1, 2 * CAUCUS_AUDIT_PLAN_RESULTS);
    }
    return status;
}

caucus_status caucus_audit_plan_run(const caucus_plan *plan, const caucus_audit_options *options,
                                    caucus_audit_plan_result *ret, caucus_error *ret_error) {
    *ret = (caucus_audit_plan_result){0};
    memcpy(ret->hash, caucus_plan_hash_text(plan), sizeof ret->hash);
    ret->unit = plan->settings.unit;
    ret->record = caucus_words_unit(&plan->settings);
    caucus_audit audit = {.target = ret->target, .family = &caucus_audit_federation_family};
    const bool messages = plan->settings.trust != CAUCUS_TRUST_COORDINATOR;
    (void)snprintf(ret->target, sizeof ret->target, "%s, trust %s: %s", caucus_algorithm_word(plan->settings.algorithm),
                   caucus_trust_word(plan->settings.trust), messages ? "messages" : "choices");
    caucus_status status = claim_of(plan, &audit, ret_error);
    if (status != CAUCUS_OK)
        return status;
    caucus_plan *run = caucus_audit_reduced(plan, ret->reduced, sizeof ret->reduced);
    search *s = calloc(1, sizeof *s);
    const pair *found = NULL;
    if (run == NULL || s == NULL) {
        caucus_plan_free(run);
        free(s);
        return caucus_fail_memory(ret_error, "plan");
    }
    const uint64_t trials = options->trials > 0 ? options->trials : trials_of(run, options->quick);
    s->plan = run;
    all_pairs(s);
    ret->pairs = s->count;
    status = find_pair(s, &audit, options, trials, &found, ret_error);
    if (status == CAUCUS_OK && found != NULL) {
        memcpy(ret->pair, found->words, sizeof ret->pair);
        status = run_pair(&audit, found, options, trials, ret, ret_error);
    }
    caucus_plan_free(run);
    free(s);
    return status;
}
