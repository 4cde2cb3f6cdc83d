/* SPDX-License-Identifier: Apache-2.0 */
/* plan_walk.c: the order of a plan's parts. See plan_walk.h; texts of values are in plan_value.c. */
#include "plan/family.h"

void caucus_walk_u32(caucus_walker *w, const char *key, uint32_t *value) {
    uint64_t wide = *value;
    w->value(w, key, &(caucus_value){.kind = CAUCUS_VALUE_WHOLE, .most = UINT32_MAX, .whole = &wide});
    *value = (uint32_t)wide;
}

void caucus_walk_u64(caucus_walker *w, const char *key, uint64_t *value) {
    w->value(w, key, &(caucus_value){.kind = CAUCUS_VALUE_WHOLE, .most = UINT64_MAX, .whole = value});
}

static void word(caucus_walker *w, const char *key, unsigned *value, unsigned count, const char *(*word_of)(unsigned)) {
    uint64_t wide = *value;
    w->value(w, key, &(caucus_value){.kind = CAUCUS_VALUE_WORD, .most = count - 1, .word = word_of, .whole = &wide});
    *value = (unsigned)wide;
}

static void yes_no(caucus_walker *w, const char *key, bool *value) {
    uint64_t wide = *value;
    w->value(w, key, &(caucus_value){.kind = CAUCUS_VALUE_SWITCH, .most = 1, .whole = &wide});
    *value = wide != 0;
}

/* An option that few plans use has a place of its own and no line where it is off: so a plan that does not use it has
 * the same text, and the same name, whether or not its reader has heard of it. Every setting that is added after
 * version 2 of the format is such a key (docs/PROTOCOL.md, "The plan file"). */
static void optional_flag(caucus_walker *w, const char *key, bool *value) {
    if (w->has(w, key, *value))
        yes_no(w, key, value);
}

/* The same for a number; `fallback` is what it is where it is left out. */
static void optional_u64(caucus_walker *w, const char *key, uint64_t *value, uint64_t fallback) {
    if (w->has(w, key, *value != fallback))
        caucus_walk_u64(w, key, value);
}

static void optional_text(caucus_walker *w, const char *key, const char **value) {
    if (w->has(w, key, *value != NULL))
        w->text(w, key, value);
}

static void real(caucus_walker *w, const char *key, double *value) {
    w->value(w, key, &(caucus_value){.kind = CAUCUS_VALUE_REAL, .real = value});
}

static void optional_real(caucus_walker *w, const char *key, double *value, double fallback) {
    if (w->has(w, key, *value < fallback || *value > fallback))
        real(w, key, value);
}

void caucus_walk_steps(caucus_walker *w, const char *key, int64_t *value, bool tuned) {
    w->value(w, key, &(caucus_value){.kind = CAUCUS_VALUE_SIGNED, .tuned = tuned, .steps = value});
}

void caucus_walk_rate(caucus_walker *w, const char *key, caucus_rational *value) {
    w->value(w, key, &(caucus_value){.kind = CAUCUS_VALUE_RATIONAL, .tuned = true, .rational = value});
}

void caucus_walk_noise(caucus_walker *w, const char *key, caucus_noise *value) {
    w->value(w, key, &(caucus_value){.kind = CAUCUS_VALUE_NOISE, .tuned = true, .noise = value});
}

/* The words of a choice, by index. */
CAUCUS_EACH_CHOICE(CAUCUS_WORDS_BY_INDEX)
CAUCUS_WORDS_BY_INDEX(loss_shape)
CAUCUS_WORDS_BY_INDEX(pace)

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
    CHOICE(w, "loss-shape", loss_shape, LOSS_SHAPE, s->loss_shape);
    caucus_walk_u32(w, "clients", &s->clients);
    caucus_walk_u32(w, "experts", &s->experts);
    caucus_walk_u64(w, "rounds", &s->rounds);
    caucus_walk_u64(w, "interval", &s->interval);
    real(w, "epsilon", &s->epsilon);
    real(w, "delta", &s->delta);
    real(w, "rho", &s->rho);
    real(w, "lstar", &s->lstar);
    pair(w, "range", &s->lo, &s->hi);
    w->value(w, "trees", &(caucus_value){.kind = CAUCUS_VALUE_TREES, .most = CAUCUS_TREES_MAX, .steps = &trees});
    s->trees = (int)trees;
    real(w, "lipschitz", &s->lipschitz);
    real(w, "smoothness", &s->smoothness);
    optional_flag(w, "front-load", &s->front_load);
    optional_flag(w, "past-phases", &s->past_phases);
    caucus_walk_u32(w, "grid", &s->grid);
    optional_u64(w, "longest-phase", &s->longest_phase, 0);
    optional_u64(w, "first-phase", &s->first_phase, 1);
    optional_real(w, "changes", &s->changes, 1);
    optional_u64(w, "renew", &s->renew, 0);
    optional_text(w, "names", &s->names);
    optional_text(w, "federation", &s->federation);
    if (w->has(w, "pace", s->pace != CAUCUS_PACE_TOGETHER)) {
        CHOICE(w, "pace", pace, PACE, s->pace);
        if (s->pace == CAUCUS_PACE_OWN || w->keys_only) {
            caucus_walk_u32(w, "phase-time", &s->phase_time);
            caucus_walk_u32(w, "grace", &s->grace);
            caucus_walk_u64(w, "most", &s->most);
        }
    }
    optional_u64(w, "nominal-rounds", &s->nominal_rounds, CAUCUS_NOMINAL_ROUNDS);
    uint64_t evaluate = s->evaluate;
    optional_u64(w, "evaluate", &evaluate, 0);
    s->evaluate = evaluate <= UINT32_MAX ? (uint32_t)evaluate : UINT32_MAX;
    optional_u64(w, "growth", &s->growth, CAUCUS_GROWTH_AUTO);
    optional_real(w, "show-loss", &s->show_loss, 0);
    optional_u64(w, "start", &s->start, 1);
    w->close(w);
}

void caucus_walk_select(caucus_walker *w, const char *key, caucus_select *value) {
    CHOICE(w, key, select, SELECT, *value);
}

void caucus_walk_message(caucus_walker *w, const char *key, caucus_message *value) {
    CHOICE(w, key, message, MESSAGE, *value);
}

void caucus_walk_mechanism(caucus_walker *w, caucus_plan *plan) {
    caucus_plan_ops_of(plan)->walk(w, plan);
}

void caucus_walk_guarantee(caucus_walker *w, caucus_guarantee *g) {
    w->open(w, "guarantee");
    real(w, "epsilon-choices", &g->epsilon_choices);
    real(w, "epsilon-messages", &g->epsilon_messages);
    real(w, "delta", &g->delta);
    real(w, "rho-zcdp", &g->rho_zcdp);
    w->close(w);
}
