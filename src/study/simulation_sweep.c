/* SPDX-License-Identifier: Apache-2.0 */
/* simulation_sweep.c: see simulation_sweep.h. */
#include "study/simulation_sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Settings in which runs may differ. Numbers can be swept; words only tell runs apart. */
typedef struct trait {
    const char *what;
    double (*number)(const caucus_run *run, const caucus_settings *s); /* NULL: a word */
    const char *(*word)(const caucus_run *run, const caucus_settings *s);
} trait;

#define NUMBER(name, value)                                                                                            \
    static double name(const caucus_run *run, const caucus_settings *s) {                                              \
        (void)run, (void)s;                                                                                            \
        return (double)(value);                                                                                        \
    }
#define WORD(name, value)                                                                                              \
    static const char *name(const caucus_run *run, const caucus_settings *s) {                                         \
        (void)run, (void)s;                                                                                            \
        return value;                                                                                                  \
    }
NUMBER(clients_of, run->settings.clients)
NUMBER(experts_of, s->experts)
NUMBER(rounds_of, caucus_run_rounds(run, s))
NUMBER(interval_of, s->interval)
NUMBER(epsilon_of, run->settings.epsilon)
NUMBER(delta_of, s->delta)
NUMBER(rho_of, s->rho)
NUMBER(lstar_of, s->lstar)
NUMBER(longest_of, s->longest_phase)
NUMBER(renew_of, s->renew)
NUMBER(trees_of, run->settings.trees)
NUMBER(segments_of, run->adversary.segments)
NUMBER(spread_of, run->adversary.spread)
NUMBER(drift_of, run->adversary.drift)
WORD(algorithm_of, caucus_algorithm_word(s->algorithm))
WORD(adversary_of, caucus_adversary_kind_word(run->adversary.kind))
WORD(trust_of, caucus_trust_word(s->trust))
WORD(calibration_of, caucus_calibration_word(s->calibration))
WORD(protocol_of, caucus_protocol_word(s->protocol))
WORD(unit_of, caucus_unit_word(s->unit))
WORD(select_of, caucus_select_word(s->select))
WORD(message_of, caucus_message_word(s->message))

static const trait traits[] = {
    {"algorithm", NULL, algorithm_of},
    {"adversary", NULL, adversary_of},
    {"trust", NULL, trust_of},
    {"calibration", NULL, calibration_of},
    {"protocol", NULL, protocol_of},
    {"unit", NULL, unit_of},
    {"select", NULL, select_of},
    {"message", NULL, message_of},
    {"clients", clients_of, NULL},
    {"experts", experts_of, NULL},
    {"rounds", rounds_of, NULL},
    {"interval", interval_of, NULL},
    {"epsilon", epsilon_of, NULL},
    {"delta", delta_of, NULL},
    {"rho", rho_of, NULL},
    {"lstar", lstar_of, NULL},
    {"longest phase", longest_of, NULL},
    {"renew", renew_of, NULL},
    {"trees", trees_of, NULL},
    {"segments", segments_of, NULL},
    {"spread", spread_of, NULL},
    {"drift", drift_of, NULL},
};
enum { TRAITS = sizeof traits / sizeof traits[0] };

static bool same(const caucus_outcome *o, const trait *t, size_t i, size_t k) {
    const caucus_settings *a = &o->result[i].plan->settings, *b = &o->result[k].plan->settings;
    if (t->number == NULL)
        return strcmp(t->word(&o->run[i], a), t->word(&o->run[k], b)) == 0;
    const double x = t->number(&o->run[i], a), y = t->number(&o->run[k], b);
    return x == y || (isnan(x) && isnan(y));
}

static bool differs(const caucus_outcome *o, const trait *t) {
    for (size_t i = 1; i < o->count; i++)
        if (!same(o, t, 0, i))
            return true;
    return false;
}

/* The name of a run without the trait `swept`, or with all (NULL). */
static void name_without(const caucus_outcome *o, size_t i, const trait *swept, char ret[CAUCUS_SWEEP_NAME_BYTES]) {
    const caucus_settings *s = &o->result[i].plan->settings;
    size_t used = (size_t)snprintf(ret, CAUCUS_SWEEP_NAME_BYTES, "%s", caucus_algorithm_word(s->algorithm));
    for (size_t t = 1; t < TRAITS && used < CAUCUS_SWEEP_NAME_BYTES; t++) {
        int more = 0;
        if (&traits[t] == swept || !differs(o, &traits[t]))
            continue;
        if (traits[t].number != NULL)
            more = snprintf(ret + used, CAUCUS_SWEEP_NAME_BYTES - used, ", %s %.6g", traits[t].what,
                            traits[t].number(&o->run[i], s));
        else
            more = snprintf(ret + used, CAUCUS_SWEEP_NAME_BYTES - used, ", %s", traits[t].word(&o->run[i], s));
        used += (size_t)more;
    }
}

void caucus_sweep_name(const caucus_outcome *outcome, size_t i, char ret[CAUCUS_SWEEP_NAME_BYTES]) {
    name_without(outcome, i, NULL, ret);
}

/* Alike but for the trait. */
static bool alike(const caucus_outcome *o, size_t i, size_t k, const trait *swept) {
    for (size_t t = 0; t < TRAITS; t++)
        if (&traits[t] != swept && !same(o, &traits[t], i, k))
            return false;
    return true;
}

/* How many values a number has. */
static size_t values_of(const caucus_outcome *o, const trait *t) {
    size_t values = 0;
    for (size_t i = 0; i < o->count; i++) {
        bool new = true;
        for (size_t k = 0; k < i && new; k++)
            new = !same(o, t, i, k);
        values += new;
    }
    return values;
}

/* The number that is swept: two runs differ in it alone. Of several such numbers the one that has most values: the
 * others make lines of their own. */
static const trait *swept_of(const caucus_outcome *o) {
    const trait *found = NULL;
    size_t most = 0;
    for (size_t t = 0; t < TRAITS; t++) {
        if (traits[t].number == NULL || !differs(o, &traits[t]))
            continue;
        bool within = false;
        for (size_t i = 0; i < o->count && !within; i++)
            for (size_t k = i + 1; k < o->count && !within; k++)
                within = !same(o, &traits[t], i, k) && alike(o, i, k, &traits[t]);
        const size_t values = within ? values_of(o, &traits[t]) : 0;
        if (values > most) {
            found = &traits[t];
            most = values;
        }
    }
    return found;
}

static void take_axis(const caucus_outcome *o, const trait *swept, caucus_sweep_found *f) {
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < o->count; i++) {
        f->x[i] = swept->number(&o->run[i], &o->result[i].plan->settings);
        least = fmin(least, f->x[i]);
        most = fmax(most, f->x[i]);
        f->line[i] = f->lines;
        for (size_t k = 0; k < i; k++)
            if (alike(o, i, k, swept)) {
                f->line[i] = f->line[k];
                break;
            }
        if (f->line[i] == f->lines)
            name_without(o, i, swept, f->name[f->lines++]);
    }
    f->found = isfinite(least) && isfinite(most);
    f->what = swept->what;
    f->logarithmic = least > 0 && most > 20 * least;
}

caucus_status caucus_sweep_find(const caucus_outcome *o, caucus_sweep_found *ret, caucus_error *ret_error) {
    const trait *swept = swept_of(o);
    caucus_sweep_found f = {.found = false};
    if (swept != NULL) {
        f.x = calloc(o->count, sizeof *f.x);
        f.line = calloc(o->count, sizeof *f.line);
        f.name = calloc(o->count, sizeof *f.name);
        if (f.x == NULL || f.line == NULL || f.name == NULL) {
            caucus_sweep_free(&f);
            return caucus_fail(ret_error, CAUCUS_E_MEMORY, "plot", "no memory for a figure");
        }
        take_axis(o, swept, &f);
    }
    *ret = f;
    return CAUCUS_OK;
}

void caucus_sweep_free(caucus_sweep_found *sweep) {
    free(sweep->x);
    free(sweep->line);
    free(sweep->name);
    *sweep = (caucus_sweep_found){0};
}
