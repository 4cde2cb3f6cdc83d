/* plan_walk.c: the order of a plan's parts. See plan_walk.h; texts of values are in plan_value.c. */
#include "plan/plan_walk.h"

#include <stdio.h>

static void whole32(caucus_walker *w, const char *key, uint32_t *at, uint32_t most) {
    uint64_t wide = *at;
    w->value(w, key, &(caucus_value){.kind = CAUCUS_VALUE_WHOLE, .most = most, .whole = &wide});
    *at = (uint32_t)wide;
}

static void word(caucus_walker *w, const char *key, unsigned *at, unsigned count, const char *(*word_of)(unsigned)) {
    uint64_t wide = *at;
    w->value(w, key, &(caucus_value){.kind = CAUCUS_VALUE_WORD, .most = count - 1, .word = word_of, .whole = &wide});
    *at = (unsigned)wide;
}

static void yes_no(caucus_walker *w, const char *key, bool *at) {
    uint64_t wide = *at;
    w->value(w, key, &(caucus_value){.kind = CAUCUS_VALUE_SWITCH, .most = 1, .whole = &wide});
    *at = wide != 0;
}

static void real(caucus_walker *w, const char *key, double *at) {
    w->value(w, key, &(caucus_value){.kind = CAUCUS_VALUE_REAL, .real = at});
}

static void steps(caucus_walker *w, const char *key, int64_t *at, bool tuned) {
    w->value(w, key, &(caucus_value){.kind = CAUCUS_VALUE_SIGNED, .tuned = tuned, .steps = at});
}

static void rate(caucus_walker *w, const char *key, caucus_rational *at) {
    w->value(w, key, &(caucus_value){.kind = CAUCUS_VALUE_RATIONAL, .tuned = true, .rational = at});
}

static void noise(caucus_walker *w, const char *key, caucus_noise *at) {
    w->value(w, key, &(caucus_value){.kind = CAUCUS_VALUE_NOISE, .tuned = true, .noise = at});
}

/* The words of a choice, by index. */
#define WORDS(type)                                                                                                    \
    static const char *type##_word(unsigned i) {                                                                       \
        return caucus_##type##_word((caucus_##type)i);                                                                 \
    }
WORDS(algorithm)
WORDS(trust)
WORDS(calibration)
WORDS(protocol)
WORDS(unit)
WORDS(select)
WORDS(message)
WORDS(losses)

#define CHOICE(w, key, type, TYPE, field)                                                                              \
    do {                                                                                                               \
        unsigned index = (unsigned)(field);                                                                            \
        word(w, key, &index, CAUCUS_##TYPE##_COUNT, type##_word);                                                      \
        (field) = (caucus_##type)index;                                                                                \
    } while (0)

static void pair(caucus_walker *w, const char *key, double *first, double *second) {
    w->list(w, key, 2);
    real(w, NULL, first);
    real(w, NULL, second);
}

void caucus_walk_settings(caucus_walker *w, caucus_settings *s) {
    int64_t trees = s->trees;
    w->open(w, "settings");
    CHOICE(w, "algorithm", algorithm, ALGORITHM, s->algorithm);
    CHOICE(w, "trust", trust, TRUST, s->trust);
    CHOICE(w, "calibration", calibration, CALIBRATION, s->calibration);
    CHOICE(w, "protocol", protocol, PROTOCOL, s->protocol);
    CHOICE(w, "unit", unit, UNIT, s->unit);
    CHOICE(w, "select", select, SELECT, s->select);
    CHOICE(w, "message", message, MESSAGE, s->message);
    CHOICE(w, "losses", losses, LOSSES, s->losses);
    whole32(w, "clients", &s->clients, UINT32_MAX);
    whole32(w, "experts", &s->experts, UINT32_MAX);
    whole32(w, "rounds", &s->rounds, UINT32_MAX);
    whole32(w, "interval", &s->interval, UINT32_MAX);
    real(w, "epsilon", &s->epsilon);
    real(w, "delta", &s->delta);
    real(w, "rho", &s->rho);
    real(w, "lstar", &s->lstar);
    pair(w, "range", &s->lo, &s->hi);
    w->value(w, "trees", &(caucus_value){.kind = CAUCUS_VALUE_TREES, .most = CAUCUS_TREES_MAX, .steps = &trees});
    s->trees = (int)trees;
    real(w, "lipschitz", &s->lipschitz);
    real(w, "smoothness", &s->smoothness);
    yes_no(w, "front-load", &s->front_load);
    yes_no(w, "past-phases", &s->past_phases);
    whole32(w, "grid", &s->grid, UINT32_MAX);
    w->close(w);
}

static void walk_svt(caucus_walker *w, caucus_svt_plan *svt) {
    w->open(w, "svt");
    whole32(w, "blocks", &svt->blocks, UINT32_MAX);
    whole32(w, "checks", &svt->checks, UINT32_MAX);
    whole32(w, "switches", &svt->switches, UINT32_MAX);
    noise(w, "threshold-noise", &svt->threshold_noise);
    noise(w, "check-noise", &svt->check_noise);
    w->list(w, "thresholds", svt->switches);
    for (uint32_t k = 0; k < svt->switches; k++)
        steps(w, NULL, &svt->threshold[k], true);
    w->list(w, "select-rates", svt->switches);
    for (uint32_t k = 0; k < svt->switches; k++)
        rate(w, NULL, &svt->select_rate[k]);
    steps(w, "score-floor", &svt->score_floor, true);
    w->close(w);
}

/* Only what the plan's trust and message use; the rest is zero in every plan. */
static void walk_phase(caucus_walker *w, const caucus_plan *plan, uint32_t number) {
    caucus_stoch_phase *phase = &plan->stoch.phase[number - 2];
    const uint32_t trees = phase->trees, first = trees > 0 ? 1 : 0;
    const bool votes = plan->stoch.message == CAUCUS_MESSAGE_VOTE || plan->stoch.message == CAUCUS_MESSAGE_SHORTLIST;
    char key[24];
    (void)snprintf(key, sizeof key, "phase-%u", number);
    w->open(w, key);
    whole32(w, "first", &phase->first, UINT32_MAX);
    whole32(w, "length", &phase->length, UINT32_MAX);
    whole32(w, "samples", &phase->samples, UINT32_MAX);
    whole32(w, "trees", &phase->trees, UINT32_MAX);
    whole32(w, "batch", &phase->batch, UINT32_MAX);
    if (trees > 0) {
        w->list(w, "clamps", trees);
        for (uint32_t h = 1; h <= trees; h++)
            steps(w, NULL, &phase->clamp[h], true);
    }
    if (plan->settings.trust == CAUCUS_TRUST_COORDINATOR) {
        w->list(w, "select-rates", trees + 1 - first);
        for (uint32_t j = first; j <= trees; j++)
            rate(w, NULL, &phase->select_rate[j]);
    } else if (plan->settings.trust == CAUCUS_TRUST_PAPER_LOCAL) {
        w->list(w, "leaf-noises", trees + 1 - first);
        for (uint32_t j = first; j <= trees; j++)
            noise(w, NULL, &phase->leaf_noise[j]);
    } else if (votes) {
        rate(w, "vote-rate", &phase->vote_rate);
        if (plan->stoch.message == CAUCUS_MESSAGE_SHORTLIST)
            noise(w, "shortlist-noise", &phase->shortlist_noise);
    } else {
        w->list(w, "vertex-noises", trees + 1);
        for (uint32_t h = 0; h <= trees; h++)
            noise(w, NULL, &phase->vertex_noise[h]);
    }
    w->close(w);
}

static void walk_stoch(caucus_walker *w, caucus_plan *plan) {
    caucus_stoch_plan *stoch = &plan->stoch;
    w->open(w, "stoch");
    CHOICE(w, "select", select, SELECT, stoch->select);
    CHOICE(w, "message", message, MESSAGE, stoch->message);
    w->list(w, "gradient", 2);
    steps(w, NULL, &stoch->gradient_lo, false);
    steps(w, NULL, &stoch->gradient_hi, false);
    w->list(w, "past-weights", stoch->past);
    for (uint32_t a = 0; a < stoch->past; a++)
        w->value(w, NULL,
                 &(caucus_value){
                     .kind = CAUCUS_VALUE_WHOLE, .tuned = true, .most = UINT64_MAX, .whole = &stoch->past_weights[a]});
    whole32(w, "phases", &stoch->phases, UINT32_MAX);
    for (uint32_t p = 2; p <= stoch->phases; p++)
        walk_phase(w, plan, p);
    w->close(w);
}

void caucus_walk_mechanism(caucus_walker *w, caucus_plan *plan) {
    switch (plan->settings.algorithm) {
    case CAUCUS_ALGORITHM_SVT:
    case CAUCUS_ALGORITHM_SPARSE_VECTOR:
        walk_svt(w, &plan->svt);
        break;
    case CAUCUS_ALGORITHM_STOCH:
    case CAUCUS_ALGORITHM_LIMITED_UPDATES:
        walk_stoch(w, plan);
        break;
    default:
        w->open(w, "hedge");
        whole32(w, "blocks", &plan->hedge.blocks, UINT32_MAX);
        rate(w, "rate", &plan->hedge.rate);
        w->close(w);
        break;
    }
}

void caucus_walk_guarantee(caucus_walker *w, caucus_guarantee *g) {
    w->open(w, "guarantee");
    real(w, "epsilon-choices", &g->epsilon_choices);
    real(w, "epsilon-messages", &g->epsilon_messages);
    real(w, "delta", &g->delta);
    real(w, "rho-zcdp", &g->rho_zcdp);
    w->close(w);
}
