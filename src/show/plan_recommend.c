/* SPDX-License-Identifier: Apache-2.0 */
/* plan_recommend.c: candidates, comparisons, advice. See plan_recommend.h. */
#include "show/plan_recommend.h"

#include "show/family_words.h"
#include "show/output.h"
#include "show/plan_words.h"
#include "store/json.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

typedef struct candidate {
    caucus_algorithm algorithm;
    caucus_trust trust;
    caucus_message message;
    bool alone;        /* one client by itself, to see whether a federation helps */
    bool drifts;       /* with a longest phase, where none was asked for */
    caucus_plan *plan; /* NULL: does not fit */
    caucus_error why;
    caucus_quick quick;
} candidate;

enum { CANDIDATES = 5 * CAUCUS_FAMILY_COUNT, ADVICE = 6, ADVICE_BYTES = 320 };

typedef struct comparison {
    caucus_settings settings;
    candidate candidate[CANDIDATES];
    size_t count;
    caucus_knowledge known; /* the situation looked at */
    char advice[ADVICE][ADVICE_BYTES];
    size_t sentences;
    const candidate *taken;
} comparison;

static bool takes(const candidate *c, caucus_plan_option option) {
    return caucus_algorithm_takes(c->algorithm, option);
}

/* The settings with everything that another algorithm would ignore left out. */
static caucus_settings settings_for(const caucus_settings *base, const candidate *c) {
    caucus_settings s = *base, plain;
    const bool central = c->trust == CAUCUS_TRUST_COORDINATOR;
    caucus_settings_init(&plain);
    s.algorithm = c->algorithm;
    s.trust = c->trust;
    s.message = c->message;
    s.calibration = CAUCUS_CALIBRATION_TIGHT;
    s.clients = c->alone ? 1 : s.clients;
    if (!takes(c, CAUCUS_OPTION_LSTAR))
        s.lstar = 0;
    if (!takes(c, CAUCUS_OPTION_FRONT_LOAD))
        s.front_load = false;
    if (!takes(c, CAUCUS_OPTION_PROTOCOL))
        s.protocol = plain.protocol;
    if (!takes(c, CAUCUS_OPTION_SELECT) || !central)
        s.select = plain.select;
    if (!takes(c, CAUCUS_OPTION_PAST_PHASES) || !central)
        s.past_phases = false;
    if (!takes(c, CAUCUS_OPTION_LONGEST_PHASE)) {
        s.longest_phase = plain.longest_phase;
        s.first_phase = plain.first_phase;
    }
    if (c->drifts)
        s.longest_phase = CAUCUS_PHASE_AUTO;
    if (!takes(c, CAUCUS_OPTION_RENEW))
        s.renew = plain.renew;
    if (!caucus_settings_grow(&s))
        s.nominal_rounds = plain.nominal_rounds;
    if (!takes(c, CAUCUS_OPTION_EVALUATE) || !central)
        s.evaluate = plain.evaluate;
    if (!takes(c, CAUCUS_OPTION_CLIENT))
        s.growth = plain.growth;
    if (!takes(c, CAUCUS_OPTION_INTERVAL))
        s.interval = 1;
    if (s.interval == CAUCUS_INTERVAL_AUTO && !takes(c, CAUCUS_OPTION_INTERVAL_AUTO))
        s.interval = plain.interval;
    if (!takes(c, CAUCUS_OPTION_TREES))
        s.trees = plain.trees;
    return s;
}

static void add(comparison *c, const candidate *new) {
    candidate *made = &c->candidate[c->count++];
    *made = *new;
    caucus_settings s = settings_for(&c->settings, made);
    if (caucus_plan_new(&s, &made->plan, &made->why) != CAUCUS_OK)
        made->plan = NULL;
}

/* Of a family the algorithm that federates, and the one for a client alone: a baseline if it has one, else the same. */
static caucus_algorithm algorithm_of(caucus_family family, bool alone) {
    const caucus_plan_ops *ops = caucus_family_ops(family);
    for (unsigned v = 0; alone && v < CAUCUS_VARIANTS_MAX && ops->variant[v].name != NULL; v++)
        if (ops->variant[v].alone)
            return ops->variant[v].algorithm;
    return ops->variant[0].algorithm;
}

/* Every recommended family under a trusted coordinator; those whose clients can add noise under trust nobody, with a
 * second message if none was asked for; and every family alone. */
static void add_all(comparison *c) {
    const caucus_trust said = c->settings.trust;
    const caucus_trust central = CAUCUS_TRUST_COORDINATOR, nobody = CAUCUS_TRUST_NOBODY;
    const caucus_message second = c->settings.delta > 0 ? CAUCUS_MESSAGE_GAUSS : CAUCUS_MESSAGE_KNORM;
    caucus_family family[CAUCUS_FAMILY_COUNT];
    unsigned count = 0;
    for (unsigned f = 0; f < CAUCUS_FAMILY_COUNT; f++)
        if (caucus_family_words_of((caucus_family)f)->recommended)
            family[count++] = (caucus_family)f;
    for (unsigned f = 0; f < count && said != nobody; f++) {
        candidate x = {.algorithm = algorithm_of(family[f], false), .trust = central, .message = CAUCUS_MESSAGE_AUTO};
        add(c, &x);
        x.drifts = caucus_algorithm_takes(x.algorithm, CAUCUS_OPTION_LONGEST_PHASE) && c->settings.longest_phase == 0;
        if (x.drifts)
            add(c, &x);
    }
    for (unsigned f = 0; f < count && said != central; f++) {
        candidate x = {.algorithm = algorithm_of(family[f], false), .trust = nobody, .message = c->settings.message};
        if (!takes(&x, CAUCUS_OPTION_TRUST))
            continue;
        add(c, &x);
        if (x.message == CAUCUS_MESSAGE_AUTO) {
            x.message = second;
            add(c, &x);
        }
    }
    for (unsigned f = 0; f < count; f++)
        add(c, &(candidate){.algorithm = algorithm_of(family[f], true),
                            .trust = central,
                            .message = CAUCUS_MESSAGE_AUTO,
                            .alone = true});
}

/* Of those alone only the one made for such losses. */
static bool is_shown(const comparison *c, const candidate *x) {
    return !x->alone || caucus_knowledge_of(x->algorithm) == c->known;
}

static bool covers(const comparison *c, const candidate *x) {
    return x->plan != NULL && caucus_knowledge_covers(&x->plan->settings, c->known);
}

static bool is_proved(const comparison *c, const candidate *x) {
    return x->plan != NULL && x->plan->bound_kind != CAUCUS_BOUND_NONE && covers(c, x);
}

static bool is_useful(const comparison *c, const candidate *x) {
    return is_proved(c, x) && !caucus_plan_is_vacuous(x->plan);
}

/* Better: made for such losses before not made for them; then what was seen; without that, what is proved. */
static bool is_better(const comparison *c, const candidate *a, const candidate *b) {
    const bool covers_a = covers(c, a), covers_b = covers(c, b);
    if (covers_a != covers_b)
        return covers_a;
    if (a->quick.done && b->quick.done)
        return a->quick.regret.mean < b->quick.regret.mean;
    return (is_proved(c, a) ? a->plan->bound_uncapped : (double)INFINITY) <
           (is_proved(c, b) ? b->plan->bound_uncapped : (double)INFINITY);
}

static const candidate *best(const comparison *c, caucus_trust trust, bool alone) {
    const candidate *found = NULL;
    for (size_t i = 0; i < c->count; i++) {
        const candidate *x = &c->candidate[i];
        if (x->plan != NULL && is_shown(c, x) && x->alone == alone && x->trust == trust &&
            (found == NULL || is_better(c, x, found)))
            found = x;
    }
    return found;
}

static void say(comparison *c, const char *format, ...) CAUCUS_PRINTF(2, 3);
static void say(comparison *c, const char *format, ...) {
    va_list arguments;
    if (c->sentences == ADVICE)
        return;
    va_start(arguments, format);
    (void)vsnprintf(c->advice[c->sentences++], ADVICE_BYTES, format, arguments);
    va_end(arguments);
}

static void say_taken(comparison *c, const candidate *x, const char *start) {
    char seen[96] = "", proved[128];
    if (x->quick.done)
        (void)snprintf(seen, sizeof seen, "about %.40s lost per client in the simulation, ",
                       caucus_words_about(x->quick.regret.mean).text);
    if (is_useful(c, x))
        (void)snprintf(proved, sizeof proved, "at most %s proved", caucus_words_number(x->plan->bound).text);
    else
        (void)snprintf(proved, sizeof proved, "nothing useful is proved %s",
                       covers(c, x) ? "at this size" : "for such losses");
    const bool message = x->trust == CAUCUS_TRUST_NOBODY;
    say(c, "%s %s%s%s with trust %s: %s%s.", start, caucus_algorithm_word(x->algorithm), message ? ", message " : "",
        message ? caucus_message_word(x->plan->stoch.message) : "", caucus_trust_word(x->trust), seen, proved);
}

static void say_federation(comparison *c, const candidate *x) {
    const candidate *alone = best(c, CAUCUS_TRUST_COORDINATOR, true);
    if (alone == NULL || !alone->quick.done || !x->quick.done || c->settings.clients == 1)
        return;
    const double ratio = alone->quick.regret.mean / fmax(x->quick.regret.mean, 1e-9);
    if (ratio > 1.15)
        say(c, "One client alone would lose about %s: together each loses %s times less.",
            caucus_words_about(alone->quick.regret.mean).text, caucus_words_about(fmin(ratio, 1e6)).text);
    else
        say(c, "One client alone would lose about %s: here a federation helps little or nothing.",
            caucus_words_about(alone->quick.regret.mean).text);
}

/* Fed-Hedge and what no federation can change. */
static void say_any(comparison *c, const candidate *x) {
    const caucus_settings *s = &c->settings;
    const double floor_regret = sqrt((double)s->rounds * log((double)s->experts) / 2) * (s->hi - s->lo);
    const caucus_family_words *words = caucus_family_words_of(caucus_algorithm_family(x->algorithm));
    if (words->free_from != NULL && isfinite(s->epsilon)) {
        const double from = words->free_from(x->plan);
        if (from <= 0)
            say(c, "Privacy is free here: with %s clients it allows the learning rate that would be best without it.",
                caucus_words_whole(s->clients).text);
        else
            say(c, "Privacy would be free from about %s clients on (or with more rounds per block: a larger interval).",
                caucus_words_whole((uint64_t)from).text);
    }
    say(c,
        "If all clients see the same losses a federation cannot help: nobody, private or not, gets far below sqrt(T ln "
        "d/2) = %s on "
        "the worst of them (docs/PRIVACY.md, \"Lower-bound loss sequences\").",
        caucus_words_number(floor_regret).text);
}

/* Something not made for such losses did better on the simulated ones: tempting, so say what it is worth. */
static void say_tempting(comparison *c, const candidate *taken) {
    for (size_t i = 0; i < c->count; i++) {
        const candidate *x = &c->candidate[i];
        if (x->alone || x->trust != taken->trust || !x->quick.done || !taken->quick.done || covers(c, x) ||
            x->quick.regret.mean > 0.85 * taken->quick.regret.mean)
            continue;
        say(c,
            "%s lost less here (about %s), but nothing is proved for it on such losses: take it only if they are also "
            "%s.",
            caucus_algorithm_word(x->algorithm), caucus_words_about(x->quick.regret.mean).text,
            caucus_knowledge_word(caucus_knowledge_of(x->algorithm)));
        return;
    }
}

static void advise(comparison *c) {
    const candidate *central = best(c, CAUCUS_TRUST_COORDINATOR, false), *nobody = best(c, CAUCUS_TRUST_NOBODY, false);
    c->sentences = 0;
    c->taken = central != NULL ? central : nobody;
    if (c->taken == NULL) {
        say(c, "Nothing fits these settings.");
        return;
    }
    say_taken(c, c->taken, "Take");
    say_federation(c, c->taken);
    say_tempting(c, c->taken);
    if (central != NULL && nobody != NULL)
        say_taken(c, nobody, "If the coordinator must not see the clients' sums:");
    if (c->known == CAUCUS_KNOWLEDGE_ANY)
        say_any(c, c->taken);
    else if (c->known == CAUCUS_KNOWLEDGE_REALIZABLE && caucus_knowledge_of(c->taken->algorithm) == c->known &&
             !is_useful(c, c->taken))
        say(c, "The bound becomes useful with more clients, more rounds or a larger epsilon.");
}

static const char *name_of(const candidate *x) {
    return x->plan != NULL && x->trust == CAUCUS_TRUST_NOBODY ? caucus_message_word(x->plan->stoch.message) : "";
}

static void print_situation(FILE *out, const comparison *c) {
    fprintf(out, "\n  If %s (%s)\n", caucus_knowledge_help(c->known), caucus_knowledge_word(c->known));
    fprintf(out, "    %-16s %-12s %-10s %8s   %-14s %-18s %-10s   %s\n", "algorithm", "trust", "message", "clients",
            "proven at most", "simulated regret", "numbers up", "epsilon of a whole device");
    for (size_t i = 0; i < c->count; i++) {
        const candidate *x = &c->candidate[i];
        if (!is_shown(c, x))
            continue;
        fprintf(out, "%s %-16s %-12s %-10s %8s   ", x == c->taken ? "  →" : "   ", caucus_algorithm_word(x->algorithm),
                x->alone ? "-" : caucus_trust_word(x->trust), name_of(x),
                caucus_words_whole(x->alone ? 1 : c->settings.clients).text);
        if (x->plan == NULL) {
            fprintf(out, "does not fit: %s%s%s\n", x->why.field, x->why.field[0] != '\0' ? " " : "", x->why.text);
            continue;
        }
        char proved[40], seen[40] = "too large";
        if (is_proved(c, x))
            (void)snprintf(proved, sizeof proved, "%.39s",
                           is_useful(c, x) ? caucus_words_number(x->plan->bound).text : "vacuous");
        else
            (void)snprintf(proved, sizeof proved, "nothing");
        if (x->quick.done)
            (void)snprintf(seen, sizeof seen, "%.16s ± %.16s", caucus_words_about(x->quick.regret.mean).text,
                           caucus_words_about(x->quick.regret.std).text);
        const double device = caucus_plan_epsilon_device(x->plan);
        fprintf(
            out, "%-14s %s%*s %-10s   %s\n", proved, seen, 18 - caucus_words_width(seen), "",
            caucus_words_about(x->quick.done ? x->quick.scalars : (double)caucus_plan_traffic_of(x->plan).scalars).text,
            isfinite(device) ? caucus_words_number(device).text : "no bound");
    }
    for (size_t i = 0; i < c->sentences; i++)
        fprintf(out, "    %s\n", c->advice[i]);
}

/* What is weak is weak in each of them: epsilon and delta are what was asked for. */
static void print_weak(FILE *out, const comparison *c) {
    char weak[CAUCUS_PLAN_WEAKNESSES][CAUCUS_PLAN_WEAKNESS_BYTES];
    size_t count = 0;
    for (size_t i = 0; count == 0 && i < c->count; i++)
        if (c->candidate[i].plan != NULL && !c->candidate[i].alone)
            count = caucus_plan_weaknesses(c->candidate[i].plan, weak);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "  WEAK: %s\n", weak[i]);
}

static void json_candidate(caucus_json *j, const comparison *c, const candidate *x) {
    const bool seen = x->quick.done;
    caucus_json_object_row(j, NULL);
    caucus_json_text(j, "algorithm", caucus_algorithm_word(x->algorithm));
    caucus_json_text(j, "trust", caucus_trust_word(x->trust));
    caucus_json_text(j, "message", name_of(x)[0] != '\0' ? name_of(x) : NULL);
    caucus_json_whole(j, "clients", x->alone ? 1 : c->settings.clients);
    caucus_json_real(j, "proven", is_proved(c, x) && x->plan != NULL ? x->plan->bound : (double)NAN);
    caucus_json_truth(j, "vacuous", is_proved(c, x) && !is_useful(c, x));
    caucus_json_real(j, "regret", seen ? x->quick.regret.mean : (double)NAN);
    caucus_json_real(j, "regret_std", seen ? x->quick.regret.std : (double)NAN);
    caucus_json_real(j, "scalars_up", seen ? x->quick.scalars : (double)NAN);
    caucus_json_real(j, "epsilon_device", x->plan != NULL ? caucus_plan_epsilon_device(x->plan) : (double)NAN);
    char why[sizeof x->why.field + sizeof x->why.text + 2];
    (void)snprintf(why, sizeof why, "%s %s", x->why.field, x->why.text);
    caucus_json_text(j, "refused", x->plan == NULL ? why : NULL);
    caucus_json_truth(j, "take", x == c->taken);
    caucus_json_close(j);
}

static void json_situation(caucus_json *j, const comparison *c) {
    caucus_json_object(j, NULL);
    caucus_json_text(j, "losses_are", caucus_knowledge_word(c->known));
    caucus_json_list(j, "candidates");
    for (size_t i = 0; i < c->count; i++)
        if (is_shown(c, &c->candidate[i]))
            json_candidate(j, c, &c->candidate[i]);
    caucus_json_close(j);
    caucus_json_list(j, "advice");
    for (size_t i = 0; i < c->sentences; i++)
        caucus_json_text(j, NULL, c->advice[i]);
    caucus_json_close(j);
    caucus_json_close(j);
}

static caucus_status play(comparison *c, caucus_error *ret_error) {
    caucus_status status = CAUCUS_OK;
    for (size_t i = 0; status == CAUCUS_OK && i < c->count; i++) {
        candidate *x = &c->candidate[i];
        x->quick = (caucus_quick){0};
        if (x->plan != NULL && is_shown(c, x))
            status = caucus_plan_quick(x->plan, c->known, CAUCUS_QUICK_LOSSES / 6, &x->quick, ret_error);
    }
    return status;
}

/* If nothing fits, the fault is in what all have in common. */
static caucus_status check_some(const comparison *c, caucus_error *ret_error) {
    for (size_t i = 0; i < c->count; i++)
        if (c->candidate[i].plan != NULL && !c->candidate[i].alone)
            return CAUCUS_OK;
    *ret_error = c->candidate[0].why;
    return CAUCUS_E_INFEASIBLE;
}

caucus_status caucus_recommend(FILE *out, const caucus_settings *settings, caucus_knowledge known, bool json,
                               caucus_error *ret_error) {
    comparison c = {.settings = *settings};
    if (settings->trust == CAUCUS_TRUST_PAPER_LOCAL)
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "trust",
                           "paper-local is for reproducing the paper, not to be recommended "
                           "(accepted: coordinator, nobody, or nothing)");
    add_all(&c);
    caucus_status status = check_some(&c, ret_error);
    const unsigned first = known == CAUCUS_KNOWLEDGE_COUNT ? 0 : known,
                   last = known == CAUCUS_KNOWLEDGE_COUNT ? CAUCUS_KNOWLEDGE_COUNT - 1 : known;
    caucus_json j;
    if (status == CAUCUS_OK && json) {
        caucus_json_begin(&j, out, false);
        caucus_json_list(&j, "situations");
    } else if (status == CAUCUS_OK)
        fprintf(out, "  %s client%s, %s experts, %s round%s, %s, unit: %s\n",
                caucus_words_whole(settings->clients).text, settings->clients == 1 ? "" : "s",
                caucus_words_whole(settings->experts).text, caucus_words_whole(settings->rounds).text,
                settings->rounds == 1 ? "" : "s", caucus_words_privacy(settings->epsilon, settings->delta).text,
                caucus_unit_word(settings->unit));
    if (status == CAUCUS_OK && !json)
        print_weak(out, &c);
    for (unsigned i = first; status == CAUCUS_OK && i <= last; i++) {
        c.known = (caucus_knowledge)i;
        status = play(&c, ret_error);
        if (status != CAUCUS_OK)
            break;
        advise(&c);
        if (json)
            json_situation(&j, &c);
        else
            print_situation(out, &c);
    }
    if (status == CAUCUS_OK && json) {
        caucus_json_close(&j);
        caucus_json_end(&j);
    }
    for (size_t i = 0; i < c.count; i++)
        caucus_plan_free(c.candidate[i].plan);
    return status;
}
