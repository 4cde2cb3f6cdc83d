/* SPDX-License-Identifier: Apache-2.0 */
/* candidates.c: everything that may be recommended. See comparison.h. */
#include "show/choice/comparison.h"
#include "show/choice/losses_are.h"
#include "show/family_words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool takes(const caucus_settings *s, caucus_plan_option option) {
    return caucus_algorithm_takes(s->algorithm, option);
}

/* Leave out what this algorithm, under this trust, would ignore or refuse. */
static void trim(caucus_settings *s) {
    caucus_settings plain;
    const bool central = s->trust == CAUCUS_TRUST_COORDINATOR;
    caucus_settings_init(&plain);
    s->calibration = CAUCUS_CALIBRATION_TIGHT;
    if (!takes(s, CAUCUS_OPTION_RHO))
        s->rho = plain.rho;
    if (!takes(s, CAUCUS_OPTION_LSTAR))
        s->lstar = 0;
    if (!takes(s, CAUCUS_OPTION_FRONT_LOAD))
        s->front_load = false;
    if (!takes(s, CAUCUS_OPTION_PROTOCOL))
        s->protocol = plain.protocol;
    if (!takes(s, CAUCUS_OPTION_SELECT) || !central)
        s->select = plain.select;
    if (!takes(s, CAUCUS_OPTION_TRUST) || central)
        s->message = plain.message;
    if (!takes(s, CAUCUS_OPTION_PAST_PHASES) || !central)
        s->past_phases = false;
    if (!takes(s, CAUCUS_OPTION_LONGEST_PHASE)) {
        s->longest_phase = plain.longest_phase;
        s->first_phase = plain.first_phase;
    }
    if (s->longest_phase == 0 && s->pace != CAUCUS_PACE_OWN)
        s->changes = plain.changes;
    if (!takes(s, CAUCUS_OPTION_RENEW))
        s->renew = plain.renew;
    if (!caucus_settings_grow(s))
        s->nominal_rounds = plain.nominal_rounds;
    if (!takes(s, CAUCUS_OPTION_EVALUATE) || !central)
        s->evaluate = plain.evaluate;
    if (!takes(s, CAUCUS_OPTION_CLIENT) || s->unit != CAUCUS_UNIT_CLIENT)
        s->growth = plain.growth;
    if (!takes(s, CAUCUS_OPTION_SHOW_LOSS) || !central)
        s->show_loss = plain.show_loss;
    if (!takes(s, CAUCUS_OPTION_INTERVAL))
        s->interval = 1;
    if (s->interval == CAUCUS_INTERVAL_AUTO && !takes(s, CAUCUS_OPTION_INTERVAL_AUTO))
        s->interval = plain.interval;
    if (!takes(s, CAUCUS_OPTION_TREES))
        s->trees = plain.trees;
}

/* Another bargain that does not fit is nobody's loss, nor is a client alone; anything else that does not fit is shown
 * with the reason. */
static void add(caucus_comparison *c, caucus_settings settings, bool alone, bool other) {
    caucus_candidate *made = &c->candidate[c->count];
    *made = (caucus_candidate){.asked = settings, .alone = alone, .other = other};
    made->wider = other && settings.unit != c->settings.unit;
    trim(&made->asked);
    if (alone)
        made->asked.clients = 1;
    if (caucus_plan_new(&made->asked, &made->plan, &made->why) != CAUCUS_OK)
        made->plan = NULL;
    if (made->plan != NULL || (!other && !alone))
        c->count++;
}

/* Of a family the algorithm that federates, and the one for a client alone: a baseline if it has one, else the same. */
static caucus_algorithm algorithm_of(caucus_family family, bool alone) {
    const caucus_plan_ops *ops = caucus_family_ops(family);
    for (unsigned v = 0; alone && v < CAUCUS_VARIANTS_MAX && ops->variant[v].name != NULL; v++)
        if (ops->variant[v].alone)
            return ops->variant[v].algorithm;
    return ops->variant[0].algorithm;
}

static bool lock_step(const caucus_settings *s) {
    return s->pace != CAUCUS_PACE_OWN;
}

static bool endless(const caucus_settings *s) {
    return lock_step(s) && s->rounds == CAUCUS_ROUNDS_ENDLESS;
}

/* Where losses drift, and where rounds have no end, phases with a longest length; where an algorithm begins again, the
 * usual length of a cycle. Both are options that were left open and without which it would not fit. */
static void follow(const caucus_comparison *c, caucus_settings *s) {
    if ((caucus_comparison_drifts(c) || endless(s)) && lock_step(s) && takes(s, CAUCUS_OPTION_LONGEST_PHASE) &&
        s->longest_phase == 0)
        s->longest_phase = s->trust == CAUCUS_TRUST_NOBODY ? CAUCUS_LONGEST_MEASURED : CAUCUS_PHASE_AUTO;
    if (endless(s) && takes(s, CAUCUS_OPTION_RENEW) && s->renew == 0 && !caucus_settings_grow(s))
        s->renew = CAUCUS_RENEW_USUAL;
}

/* Where a coordinator is trusted: as asked; and, where it was not asked for, phases with a longest length. */
static void add_central(caucus_comparison *c, caucus_settings s) {
    s.trust = CAUCUS_TRUST_COORDINATOR;
    if (endless(&s))
        follow(c, &s);
    add(c, s, false, false);
    if (takes(&s, CAUCUS_OPTION_LONGEST_PHASE) && s.longest_phase == 0 && lock_step(&s)) {
        s.longest_phase = CAUCUS_PHASE_AUTO;
        add(c, s, false, false);
    }
}

/* Where nobody is: with a second message if none was asked for. */
static void add_nobody(caucus_comparison *c, caucus_settings s) {
    s.trust = CAUCUS_TRUST_NOBODY;
    if (!takes(&s, CAUCUS_OPTION_TRUST))
        return;
    follow(c, &s);
    add(c, s, false, false);
    if (s.message == CAUCUS_MESSAGE_AUTO) {
        s.message = s.delta > 0 ? CAUCUS_MESSAGE_GAUSS : CAUCUS_MESSAGE_KNORM;
        add(c, s, false, false);
    }
}

/* Other bargains of a family that learns phase by phase: wider units, and clients that try one expert a round. */
static void add_others(caucus_comparison *c, caucus_settings s) {
    const caucus_unit asked = s.unit;
    s.trust = c->settings.trust == CAUCUS_TRUST_NOBODY ? CAUCUS_TRUST_NOBODY : CAUCUS_TRUST_COORDINATOR;
    follow(c, &s);
    for (unsigned unit = (unsigned)asked + 1; unit < CAUCUS_UNIT_COUNT; unit++) {
        s.unit = (caucus_unit)unit;
        add(c, s, false, true);
    }
    s.unit = asked;
    if (s.evaluate == 0 && s.trust == CAUCUS_TRUST_COORDINATOR && takes(&s, CAUCUS_OPTION_EVALUATE) && lock_step(&s)) {
        s.evaluate = 1;
        add(c, s, false, true);
    }
}

void caucus_candidates_add(caucus_comparison *c) {
    const caucus_trust said = c->settings.trust;
    caucus_settings each[CAUCUS_FAMILY_COUNT];
    unsigned count = 0;
    for (unsigned f = 0; f < CAUCUS_FAMILY_COUNT; f++)
        if (caucus_family_words_of((caucus_family)f)->recommended) {
            each[count] = c->settings;
            each[count++].algorithm = algorithm_of((caucus_family)f, false);
        }
    c->count = 0;
    for (unsigned i = 0; i < count && said != CAUCUS_TRUST_NOBODY; i++)
        add_central(c, each[i]);
    for (unsigned i = 0; i < count && said != CAUCUS_TRUST_COORDINATOR; i++)
        add_nobody(c, each[i]);
    for (unsigned i = 0; i < count; i++)
        if (caucus_family_ops(caucus_algorithm_family(each[i].algorithm))->phases)
            add_others(c, each[i]);
    for (unsigned i = 0; i < count && c->settings.pace != CAUCUS_PACE_OWN; i++) {
        each[i].algorithm = algorithm_of(caucus_algorithm_family(each[i].algorithm), true);
        each[i].trust = CAUCUS_TRUST_COORDINATOR;
        if (endless(&each[i]))
            follow(c, &each[i]);
        add(c, each[i], true, false);
    }
}

void caucus_candidates_free(caucus_comparison *c) {
    for (size_t i = 0; i < c->count; i++)
        caucus_plan_free(c->candidate[i].plan);
    c->count = 0;
}

caucus_candidate_words caucus_candidate_with(const caucus_candidate *x) {
    caucus_candidate_words made = {""};
    const caucus_settings *s = x->plan != NULL ? &x->plan->settings : &x->asked;
    char parts[7][40] = {"", "", "", "", "", "", ""};
    if (x->asked.trust == CAUCUS_TRUST_NOBODY && x->plan != NULL)
        (void)snprintf(parts[0], sizeof parts[0], "%s", caucus_message_word(x->plan->stoch.message));
    if (s->longest_phase != 0 && s->pace != CAUCUS_PACE_OWN && s->longest_phase != CAUCUS_PHASE_AUTO)
        (void)snprintf(parts[1], sizeof parts[1], "longest phase %" PRIu64, s->longest_phase);
    if (s->interval > 1 && s->interval != CAUCUS_INTERVAL_AUTO && takes(s, CAUCUS_OPTION_INTERVAL_AUTO))
        (void)snprintf(parts[2], sizeof parts[2], "interval %" PRIu64, s->interval);
    if (s->renew != 0)
        (void)snprintf(parts[3], sizeof parts[3], "renew %" PRIu64, s->renew);
    if (s->evaluate != 0)
        (void)snprintf(parts[4], sizeof parts[4], "evaluate %u", s->evaluate);
    if (x->wider)
        (void)snprintf(parts[5], sizeof parts[5], "unit %s", caucus_unit_word(s->unit));
    if (s->pace == CAUCUS_PACE_OWN)
        (void)snprintf(parts[6], sizeof parts[6], "own pace");
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i][0] != '\0')
            used +=
                (size_t)snprintf(made.text + used, sizeof made.text - used, "%s%.38s", used > 0 ? ", " : "", parts[i]);
    return made;
}
