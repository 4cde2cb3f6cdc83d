/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_resolve.c: from fields to runs that have been checked. See scenario.h.
 *
 * Every run is checked and calibrated, and its data opened, before any is played: a bad value in the last of
 * a hundred combinations is refused at once, and nothing has been written by then. */
#include "data/movielens.h"
#include "num/hand_over.h"
#include "num/label.h"
#include "plan/family.h"
#include "scenario/scenario_convert.h"
#include "scenario/scenario_pace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct resolver {
    const caucus_scenario *scenario;
    caucus_prepared out;
    caucus_complaint *complaint;
} resolver;

static bool given(const resolver *r, caucus_scenario_field field) {
    return r->scenario->field[field].count != 0;
}

static caucus_scenario_text text_of(const resolver *r, caucus_scenario_field field, size_t i) {
    return caucus_scenario_text_of(r->scenario, field, i, r->complaint);
}

static caucus_status complain(const resolver *r, caucus_status status, const caucus_error *error) {
    return caucus_scenario_complain(r->scenario, status, error, r->complaint);
}

static caucus_status refuse_missing(const resolver *r, caucus_scenario_field field, const char *why) {
    r->complaint->in_file = r->scenario->file != NULL;
    const char *name = caucus_fields[field].name;
    r->complaint->field = name;
    if (r->complaint->in_file)
        (void)snprintf(r->complaint->line, sizeof r->complaint->line, "%.200s: %s is missing: %s", r->scenario->file,
                       name, why);
    else
        (void)snprintf(r->complaint->line, sizeof r->complaint->line, " is missing: %s", why);
    return CAUCUS_E_RANGE;
}

/* Words: the library's parser lists what is accepted. */
#define WORD(type, field, target)                                                                                      \
    do {                                                                                                               \
        caucus_error word_error = {0};                                                                                 \
        caucus_scenario_text word_text = text_of(r, field, at[field]);                                                 \
        caucus_status word_status = caucus_##type##_parse(word_text.text, target, &word_error);                        \
        if (word_status != CAUCUS_OK)                                                                                  \
            return complain(r, word_status, &word_error);                                                              \
    } while (0)

/* Data says where losses come from, unless the adversary is named too. */
static caucus_status read_kind(resolver *r, const size_t *at, caucus_adversary_kind *kind) {
    if (!given(r, CAUCUS_FIELD_ADVERSARY) && (given(r, CAUCUS_FIELD_LOSSES) || r->scenario->array != NULL))
        *kind = CAUCUS_ADVERSARY_LOSSES;
    else if (!given(r, CAUCUS_FIELD_ADVERSARY) && given(r, CAUCUS_FIELD_DATA))
        *kind = CAUCUS_ADVERSARY_MOVIELENS;
    else
        WORD(adversary_kind, CAUCUS_FIELD_ADVERSARY, kind);
    return CAUCUS_OK;
}

static caucus_status read_words(resolver *r, const size_t *at, caucus_settings *s, caucus_adversary_kind *kind) {
    WORD(algorithm, CAUCUS_FIELD_ALGORITHM, &s->algorithm);
    WORD(trust, CAUCUS_FIELD_TRUST, &s->trust);
    WORD(calibration, CAUCUS_FIELD_CALIBRATION, &s->calibration);
    WORD(protocol, CAUCUS_FIELD_PROTOCOL, &s->protocol);
    WORD(unit, CAUCUS_FIELD_UNIT, &s->unit);
    WORD(select, CAUCUS_FIELD_SELECT, &s->select);
    WORD(message, CAUCUS_FIELD_MESSAGE, &s->message);
    caucus_status status = caucus_scenario_pace(r->scenario, s, r->complaint);
    if (s->pace == CAUCUS_PACE_OWN && !given(r, CAUCUS_FIELD_UNIT))
        s->unit = CAUCUS_UNIT_CLIENT_BLOCK; /* one device and one slot: what can be said to whoever owns the device */
    return status == CAUCUS_OK ? read_kind(r, at, kind) : status;
}

static caucus_status read_rounds(resolver *r, caucus_scenario_field field, const size_t *at, uint64_t *ret) {
    caucus_scenario_text t = text_of(r, field, at[field]);
    if (field == CAUCUS_FIELD_ROUNDS && strcmp(t.text, "endless") == 0) {
        *ret = CAUCUS_ROUNDS_ENDLESS;
        return CAUCUS_OK;
    }
    if (caucus_scenario_whole(&t, 1, 1u << 30, ret) == CAUCUS_OK)
        return CAUCUS_OK;
    return caucus_scenario_refuse(&t, "must be a whole number from 1 to %u%s", 1u << 30,
                                  field == CAUCUS_FIELD_ROUNDS ? ", or endless" : "");
}

/* How much of a run without an end is played; of another one, all of it. */
static caucus_status read_play(resolver *r, const size_t *at, const caucus_settings *s, uint64_t *ret) {
    const bool endless = s->rounds == CAUCUS_ROUNDS_ENDLESS, own = s->pace == CAUCUS_PACE_OWN;
    *ret = s->rounds;
    if (endless && !given(r, CAUCUS_FIELD_PLAY))
        return refuse_missing(r, CAUCUS_FIELD_PLAY,
                              own ? "how many phases of a run without an end shall be played?"
                                  : "how many rounds of a run without an end shall be played?");
    if (own)
        return caucus_scenario_slots(r->scenario, at, s, ret, r->complaint);
    return endless ? read_rounds(r, CAUCUS_FIELD_PLAY, at, ret) : CAUCUS_OK;
}

/* A number of rounds, or what has the smallest proved bound. */
static caucus_status read_interval(resolver *r, const size_t *at, uint64_t *ret) {
    caucus_scenario_text t = text_of(r, CAUCUS_FIELD_INTERVAL, at[CAUCUS_FIELD_INTERVAL]);
    if (strcmp(t.text, "auto") == 0) {
        *ret = CAUCUS_INTERVAL_AUTO;
        return CAUCUS_OK;
    }
    return caucus_scenario_whole(&t, 1, 1u << 30, ret);
}

static caucus_status read_whole(resolver *r, caucus_scenario_field field, const size_t *at, uint32_t least,
                                uint32_t most, uint32_t *ret) {
    caucus_scenario_text t = text_of(r, field, at[field]);
    uint64_t value = 0;
    caucus_status status = caucus_scenario_whole(&t, least, most, &value);
    if (status == CAUCUS_OK)
        *ret = (uint32_t)value;
    return status;
}

/* Names say how many experts there are; another number beside them is refused. */
static caucus_status read_names(resolver *r, caucus_settings *s) {
    if (!given(r, CAUCUS_FIELD_NAMES))
        return CAUCUS_OK;
    caucus_scenario_text t = text_of(r, CAUCUS_FIELD_NAMES, 0);
    const uint32_t count = caucus_labels_count(t.text);
    if (given(r, CAUCUS_FIELD_EXPERTS) && s->experts != count)
        return caucus_scenario_refuse(&t, "%u labels, and %u experts were asked for — leave out experts", count,
                                      s->experts);
    s->experts = count;
    s->names = t.text;
    return CAUCUS_OK;
}

static caucus_status read_numbers(resolver *r, const size_t *at, caucus_settings *s) {
    caucus_scenario_text t;
    caucus_status status = read_whole(r, CAUCUS_FIELD_CLIENTS, at, 1, 1u << 24, &s->clients);
    if (status == CAUCUS_OK)
        status = read_whole(r, CAUCUS_FIELD_EXPERTS, at, 2, 1u << 20, &s->experts);
    if (status == CAUCUS_OK)
        status = read_names(r, s);
    if (status == CAUCUS_OK && s->pace == CAUCUS_PACE_OWN && !given(r, CAUCUS_FIELD_ROUNDS))
        s->rounds = CAUCUS_ROUNDS_ENDLESS; /* a number is for unit client, and has to be said */
    else if (status == CAUCUS_OK)
        status = read_rounds(r, CAUCUS_FIELD_ROUNDS, at, &s->rounds);
    if (status == CAUCUS_OK)
        status = read_interval(r, at, &s->interval);
    if (status == CAUCUS_OK) {
        t = text_of(r, CAUCUS_FIELD_EPSILON, at[CAUCUS_FIELD_EPSILON]);
        status = caucus_scenario_epsilon(&t, &s->epsilon);
    }
    const struct {
        caucus_scenario_field field;
        size_t at;
        double *to;
    } reals[] = {{CAUCUS_FIELD_DELTA, at[CAUCUS_FIELD_DELTA], &s->delta},
                 {CAUCUS_FIELD_RHO, 0, &s->rho},
                 {CAUCUS_FIELD_SHOW_LOSS, at[CAUCUS_FIELD_SHOW_LOSS], &s->show_loss},
                 {CAUCUS_FIELD_LSTAR, 0, &s->lstar}};
    for (size_t i = 0; status == CAUCUS_OK && i < sizeof reals / sizeof reals[0]; i++) {
        t = text_of(r, reals[i].field, reals[i].at);
        status = caucus_scenario_real(&t, false, reals[i].to);
    }
    return status;
}

static caucus_status read_trees(resolver *r, const size_t *at, caucus_settings *s, caucus_adversary_kind kind) {
    caucus_scenario_text t = text_of(r, CAUCUS_FIELD_TREES, at[CAUCUS_FIELD_TREES]);
    uint64_t trees = 0;
    if (strcmp(t.text, "auto") == 0)
        s->trees = CAUCUS_TREES_AUTO;
    else if (caucus_scenario_whole(&t, 0, CAUCUS_TREES_MAX, &trees) == CAUCUS_OK)
        s->trees = (int)trees;
    else
        return caucus_scenario_refuse(&t, "must be 0 to %d, or auto", CAUCUS_TREES_MAX);
    /* The paper's experiment: whoever speaks of trees wants the loss as a function of the mixture. */
    if (given(r, CAUCUS_FIELD_TREES) && kind == CAUCUS_ADVERSARY_CROSS_ENTROPY &&
        caucus_algorithm_takes(s->algorithm, CAUCUS_OPTION_CONVEX))
        s->loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
    return CAUCUS_OK;
}

static caucus_status read_phases(resolver *r, const size_t *at, caucus_settings *s) {
    caucus_scenario_text t = text_of(r, CAUCUS_FIELD_LONGEST_PHASE, at[CAUCUS_FIELD_LONGEST_PHASE]);
    if (strcmp(t.text, "none") == 0)
        s->longest_phase = 0;
    else if (strcmp(t.text, "auto") == 0)
        s->longest_phase = CAUCUS_PHASE_AUTO;
    else if (caucus_scenario_whole(&t, 1, 1u << 30, &s->longest_phase) != CAUCUS_OK)
        return caucus_scenario_refuse(&t, "must be a whole number from 1 to %u, auto or none", 1u << 30);
    t = text_of(r, CAUCUS_FIELD_FIRST_PHASE, 0);
    caucus_status status = caucus_scenario_whole(&t, 1, 1u << 30, &s->first_phase);
    if (status == CAUCUS_OK) {
        t = text_of(r, CAUCUS_FIELD_CHANGES, 0);
        status = caucus_scenario_real(&t, false, &s->changes);
    }
    t = text_of(r, CAUCUS_FIELD_RENEW, at[CAUCUS_FIELD_RENEW]);
    if (status == CAUCUS_OK && strcmp(t.text, "none") != 0)
        status = caucus_scenario_whole(&t, 1, 1u << 30, &s->renew);
    t = text_of(r, CAUCUS_FIELD_NOMINAL_ROUNDS, 0);
    if (status == CAUCUS_OK && given(r, CAUCUS_FIELD_NOMINAL_ROUNDS) && caucus_settings_grow(s))
        status = caucus_scenario_whole(&t, 1, 1u << 30, &s->nominal_rounds);
    uint64_t evaluate = 0;
    t = text_of(r, CAUCUS_FIELD_EVALUATE, at[CAUCUS_FIELD_EVALUATE]);
    if (status == CAUCUS_OK && strcmp(t.text, "all") != 0 &&
        caucus_scenario_whole(&t, 1, 1u << 20, &evaluate) != CAUCUS_OK)
        status = caucus_scenario_refuse(&t, "must be a whole number from 1 to %u, or all", 1u << 20);
    s->evaluate = (uint32_t)evaluate;
    t = text_of(r, CAUCUS_FIELD_GROWTH, at[CAUCUS_FIELD_GROWTH]);
    if (status == CAUCUS_OK && strcmp(t.text, "auto") != 0 &&
        caucus_scenario_whole(&t, 2, 1u << 20, &s->growth) != CAUCUS_OK)
        status = caucus_scenario_refuse(&t, "must be a whole number from 2 to %u, or auto", 1u << 20);
    return status;
}

static caucus_status read_rest(resolver *r, const size_t *at, caucus_settings *s, caucus_adversary_kind kind) {
    caucus_scenario_text t = text_of(r, CAUCUS_FIELD_FRONT_LOAD, 0);
    caucus_status status = caucus_scenario_switch(&t, &s->front_load);
    if (status == CAUCUS_OK) {
        t = text_of(r, CAUCUS_FIELD_PAST_PHASES, 0);
        status = caucus_scenario_switch(&t, &s->past_phases);
    }
    if (status == CAUCUS_OK)
        status = read_phases(r, at, s);
    if (status == CAUCUS_OK && given(r, CAUCUS_FIELD_RANGE)) {
        t = text_of(r, CAUCUS_FIELD_RANGE, 0);
        status = caucus_scenario_pair(&t, false, &s->lo, &s->hi);
        if (status == CAUCUS_OK && !(s->lo < s->hi))
            status = caucus_scenario_refuse(&t, "must be a lower and a higher number, for example 0,1");
    }
    return status == CAUCUS_OK ? read_trees(r, at, s, kind) : status;
}

/* A source that goes with another adversary would be ignored, so it is refused. */
static caucus_status check_source(const resolver *r, caucus_scenario_field field, caucus_adversary_kind kind,
                                  caucus_adversary_kind wanted) {
    if (!given(r, field) || kind == wanted)
        return CAUCUS_OK;
    caucus_scenario_text t = text_of(r, field, 0);
    return caucus_scenario_refuse(&t, "not used by adversary %s, only by %s", caucus_adversary_kind_word(kind),
                                  caucus_adversary_kind_word(wanted));
}

/* Losses in memory stand in the place of a file's. */
static caucus_status check_array(const resolver *r, caucus_adversary_kind kind) {
    if (r->scenario->array == NULL || (kind == CAUCUS_ADVERSARY_LOSSES && !given(r, CAUCUS_FIELD_LOSSES)))
        return CAUCUS_OK;
    caucus_error error = {.field = "losses"};
    if (given(r, CAUCUS_FIELD_LOSSES))
        (void)snprintf(error.text, sizeof error.text, "from a file and from memory: they come from one place");
    else
        (void)snprintf(error.text, sizeof error.text, "not used by adversary %s, only by losses",
                       caucus_adversary_kind_word(kind));
    return complain(r, CAUCUS_E_CONFLICT, &error);
}

static caucus_status read_adversary(resolver *r, const size_t *at, const caucus_settings *s, caucus_adversary_kind kind,
                                    caucus_run *run) {
    caucus_status status = check_source(r, CAUCUS_FIELD_LOSSES, kind, CAUCUS_ADVERSARY_LOSSES);
    if (status == CAUCUS_OK)
        status = check_array(r, kind);
    if (status == CAUCUS_OK)
        status = check_source(r, CAUCUS_FIELD_DATA, kind, CAUCUS_ADVERSARY_MOVIELENS);
    if (status == CAUCUS_OK)
        status = check_source(r, CAUCUS_FIELD_GENRE, kind, CAUCUS_ADVERSARY_MOVIELENS);
    const char *ratings = given(r, CAUCUS_FIELD_DATA) ? text_of(r, CAUCUS_FIELD_DATA, 0).text : NULL;
    if (kind == CAUCUS_ADVERSARY_MOVIELENS && ratings == NULL)
        ratings = caucus_movielens_find();
    if (status == CAUCUS_OK && kind == CAUCUS_ADVERSARY_MOVIELENS && ratings == NULL)
        status = refuse_missing(r, CAUCUS_FIELD_DATA, CAUCUS_MOVIELENS_MISSING);
    if (status == CAUCUS_OK && kind == CAUCUS_ADVERSARY_LOSSES && !given(r, CAUCUS_FIELD_LOSSES) &&
        r->scenario->array == NULL)
        status = refuse_missing(r, CAUCUS_FIELD_LOSSES, "a NumPy or CSV file, clients x rounds x experts");
    if (status == CAUCUS_OK && kind == CAUCUS_ADVERSARY_SHIFTING && !given(r, CAUCUS_FIELD_SEGMENTS))
        status = refuse_missing(r, CAUCUS_FIELD_SEGMENTS, "in how many parts of the run shall the means differ?");
    /* Data has a shape of its own: what was not asked for is taken from it. */
    bool data = (kind == CAUCUS_ADVERSARY_MOVIELENS || kind == CAUCUS_ADVERSARY_LOSSES) && r->scenario->plan == NULL;
    uint64_t rounds = 0;
    if (status == CAUCUS_OK)
        status = read_play(r, at, s, &rounds);
    run->adversary = (caucus_adversary_settings){
        .kind = kind,
        .seed = run->seed,
        .clients = data && !given(r, CAUCUS_FIELD_CLIENTS) ? 0 : s->clients,
        .experts = data && !given(r, CAUCUS_FIELD_EXPERTS) ? 0 : s->experts,
        .rounds = data && !given(r, CAUCUS_FIELD_ROUNDS) ? 0 : rounds,
        .epsilon = s->epsilon,
        .convex = s->loss_shape == CAUCUS_LOSS_SHAPE_CONVEX,
    };
    if (status == CAUCUS_OK)
        status = caucus_scenario_law(r->scenario, at, &run->adversary, r->complaint);
    if (status == CAUCUS_OK && s->pace == CAUCUS_PACE_OWN)
        status = caucus_scenario_activity(r->scenario, at, &run->adversary, r->complaint);
    run->adversary.data = ratings;
    if (given(r, CAUCUS_FIELD_GENRE))
        run->adversary.genre = text_of(r, CAUCUS_FIELD_GENRE, 0).text;
    if (given(r, CAUCUS_FIELD_LOSSES))
        run->adversary.losses = text_of(r, CAUCUS_FIELD_LOSSES, 0).text;
    run->adversary.array = r->scenario->array;
    r->out.genre_from_data = r->out.genre_from_data || (run->adversary.genre != NULL &&
                                                        strcmp(run->adversary.genre, CAUCUS_GENRE_FROM_DATA) == 0);
    return status;
}

static bool same_adversary(const caucus_adversary_settings *a, const caucus_adversary_settings *b) {
    return a->kind == b->kind && a->clients == b->clients && a->experts == b->experts && a->rounds == b->rounds &&
           a->convex == b->convex && a->segments == b->segments && a->mean_lo == b->mean_lo &&
           a->mean_hi == b->mean_hi && a->spread == b->spread && a->drift == b->drift &&
           a->activity_mean == b->activity_mean && a->activity_spread == b->activity_spread &&
           (a->kind != CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE || a->epsilon == b->epsilon);
}

/* Open the adversary of run `n`, or share an earlier run's. `asked` keeps the settings as asked, zeros and all. */
static caucus_status open_adversary(resolver *r, size_t n, caucus_adversary_settings *asked) {
    caucus_run *run = &r->out.run[n];
    asked[n] = run->adversary;
    for (size_t i = 0; i < n && r->out.adversary[n] == NULL; i++)
        if (same_adversary(&asked[i], &asked[n]))
            r->out.adversary[n] = r->out.adversary[i];
    if (r->out.adversary[n] == NULL) {
        caucus_error error = {0};
        caucus_status status = caucus_adversary_open(&run->adversary, &r->out.adversary[n], &error);
        if (status != CAUCUS_OK)
            return complain(r, status, &error);
    }
    const caucus_adversary *adversary = r->out.adversary[n];
    const bool own = run->settings.pace == CAUCUS_PACE_OWN; /* its rounds are slots, and not rows of losses */
    uint64_t *rounds = run->settings.rounds == CAUCUS_ROUNDS_ENDLESS || own ? NULL : &run->settings.rounds;
    caucus_adversary_shape(adversary, &run->settings.clients, &run->settings.experts, rounds);
    caucus_adversary_shape(adversary, &run->adversary.clients, &run->adversary.experts, &run->adversary.rounds);
    const bool planned = r->scenario->plan != NULL; /* it has names, or none, a range, and clamps, of its own */
    caucus_error mismatch = {0};
    caucus_status matched = CAUCUS_OK;
    if (!planned || run->settings.names != NULL)
        matched = caucus_adversary_match_names(adversary, &run->settings.names, &mismatch);
    if (matched != CAUCUS_OK)
        return complain(r, matched, &mismatch);
    if (planned)
        return CAUCUS_OK;
    if (!given(r, CAUCUS_FIELD_RANGE))
        caucus_adversary_range(adversary, &run->settings.lo, &run->settings.hi);
    if (run->adversary.convex)
        caucus_adversary_smoothness(adversary, &run->settings.lipschitz, &run->settings.smoothness);
    return CAUCUS_OK;
}

static caucus_status read_plan(resolver *r, const size_t *at, caucus_run *run, caucus_adversary_kind *kind) {
    caucus_status status = read_words(r, at, &run->settings, kind);
    if (status == CAUCUS_OK)
        status = read_numbers(r, at, &run->settings);
    return status == CAUCUS_OK ? read_rest(r, at, &run->settings, *kind) : status;
}

/* The settings of a plan that is there already: fields that make one would change nothing. */
static caucus_status take_plan(resolver *r, const size_t *at, caucus_run *run, caucus_adversary_kind *kind) {
    for (size_t i = 0; i < CAUCUS_PLAN_FIELDS; i++)
        if (given(r, caucus_plan_fields[i])) {
            caucus_scenario_text t = text_of(r, caucus_plan_fields[i], 0);
            return caucus_scenario_refuse(&t, "the plan has its settings already");
        }
    run->plan = r->scenario->plan;
    run->settings = *caucus_plan_settings(run->plan);
    return read_kind(r, at, kind);
}

/* Run number `n`, from the values picked by `at`. */
static caucus_status prepare_run(resolver *r, size_t n, const size_t *at, const caucus_run *common,
                                 caucus_adversary_settings *asked) {
    caucus_run *run = &r->out.run[n];
    caucus_adversary_kind kind = CAUCUS_ADVERSARY_COUNT;
    *run = *common;
    caucus_settings_init(&run->settings);
    caucus_status status = r->scenario->plan != NULL ? take_plan(r, at, run, &kind) : read_plan(r, at, run, &kind);
    if (status == CAUCUS_OK)
        status = read_adversary(r, at, &run->settings, kind, run);
    if (status != CAUCUS_OK)
        return status;
    status = open_adversary(r, n, asked);
    if (status != CAUCUS_OK || run->plan != NULL)
        return status;
    caucus_error error = {0};
    status = caucus_plan_new(&run->settings, &r->out.plan[n], &error);
    return status == CAUCUS_OK ? CAUCUS_OK : complain(r, status, &error);
}

static caucus_status read_common(resolver *r, caucus_run *ret) {
    uint64_t trials = 0, threads = 0;
    caucus_scenario_text t = text_of(r, CAUCUS_FIELD_TRIALS, 0);
    caucus_status status = caucus_scenario_whole(&t, 1, CAUCUS_TRIALS_MAX, &trials);
    if (status == CAUCUS_OK) {
        t = text_of(r, CAUCUS_FIELD_SEED, 0);
        status = caucus_scenario_whole(&t, 0, UINT64_MAX, &ret->seed);
    }
    t = text_of(r, CAUCUS_FIELD_THREADS, 0);
    if (status == CAUCUS_OK && strcmp(t.text, "all") != 0)
        if (caucus_scenario_whole(&t, 1, 1024, &threads) != CAUCUS_OK)
            status = caucus_scenario_refuse(&t, "must be 1 to 1024, or all");
    ret->trials = (uint32_t)trials;
    ret->threads = (uint32_t)threads;
    return status;
}

/* How many combinations; and the next one, the last field fastest. */
static caucus_status count_runs(resolver *r, size_t *ret) {
    size_t runs = 1;
    for (size_t f = 0; f < CAUCUS_FIELD_COUNT; f++) {
        size_t values = r->scenario->field[f].count;
        if (!caucus_fields[f].many || values == 0)
            continue;
        runs *= values; /* both at most 10,000 */
        if (values > CAUCUS_SCENARIO_RUNS || runs > CAUCUS_SCENARIO_RUNS) {
            caucus_scenario_text t = text_of(r, (caucus_scenario_field)f, 0);
            return caucus_scenario_refuse(&t, "with its other values this makes more than %d runs",
                                          CAUCUS_SCENARIO_RUNS);
        }
    }
    *ret = runs;
    return CAUCUS_OK;
}

static void step(const resolver *r, size_t *at) {
    for (size_t f = CAUCUS_FIELD_COUNT; f-- > 0;) {
        if (!caucus_fields[f].many || r->scenario->field[f].count < 2)
            continue;
        if (++at[f] < r->scenario->field[f].count)
            return;
        at[f] = 0;
    }
}

static caucus_status prepare_all(resolver *r, const caucus_run *common, size_t runs) {
    caucus_status status = CAUCUS_OK;
    size_t at[CAUCUS_FIELD_COUNT] = {0};
    caucus_adversary_settings *asked = calloc(runs, sizeof *asked);
    r->out.run = calloc(runs, sizeof *r->out.run);
    r->out.plan = calloc(runs, sizeof *r->out.plan);
    r->out.adversary = calloc(runs, sizeof(caucus_adversary *));
    if (asked == NULL || r->out.run == NULL || r->out.plan == NULL || r->out.adversary == NULL) {
        caucus_error error = {.field = "trials"};
        (void)snprintf(error.text, sizeof error.text, "%s", caucus_status_text(CAUCUS_E_MEMORY));
        status = complain(r, CAUCUS_E_MEMORY, &error);
        goto out;
    }
    for (size_t n = 0; status == CAUCUS_OK && n < runs; n++) {
        r->out.count = n + 1;
        status = prepare_run(r, n, at, common, asked);
        step(r, at);
    }
out:
    free(asked);
    return status;
}

static caucus_status check_trust_given(const resolver *r) {
    if (given(r, CAUCUS_FIELD_TRUST) || r->scenario->plan != NULL)
        return CAUCUS_OK;
    return refuse_missing(
        r, CAUCUS_FIELD_TRUST,
        "whom do the clients trust with their sums? coordinator, nobody, or paper-local to reproduce the paper");
}

caucus_status caucus_scenario_settings(const caucus_scenario *scenario, caucus_settings *ret,
                                       caucus_complaint *ret_complaint) {
    resolver r = {.scenario = scenario, .complaint = ret_complaint};
    const size_t at[CAUCUS_FIELD_COUNT] = {0};
    caucus_adversary_kind kind = CAUCUS_ADVERSARY_COUNT;
    caucus_settings s;
    caucus_settings_init(&s);
    caucus_status status = check_trust_given(&r);
    for (size_t f = 0; status == CAUCUS_OK && f < CAUCUS_FIELD_COUNT; f++)
        if (scenario->field[f].count > 1) {
            caucus_scenario_text t = text_of(&r, (caucus_scenario_field)f, 1);
            status = caucus_scenario_refuse(&t, "a second value: one at a time here");
        }
    if (status == CAUCUS_OK)
        status = read_words(&r, at, &s, &kind);
    if (status == CAUCUS_OK)
        status = read_numbers(&r, at, &s);
    if (status == CAUCUS_OK)
        status = read_rest(&r, at, &s, kind);
    if (status == CAUCUS_OK)
        *ret = s;
    return status;
}

caucus_status caucus_scenario_resolve(const caucus_scenario *scenario, caucus_prepared *ret,
                                      caucus_complaint *ret_complaint) {
    resolver r = {.scenario = scenario, .complaint = ret_complaint};
    caucus_run common = {0};
    size_t runs = 0;
    caucus_status status = check_trust_given(&r);
    if (status == CAUCUS_OK)
        status = read_common(&r, &common);
    if (status == CAUCUS_OK)
        status = count_runs(&r, &runs);
    if (status == CAUCUS_OK)
        status = prepare_all(&r, &common, runs);
    if (status == CAUCUS_OK)
        status = caucus_scenario_check_used(scenario, r.out.run, r.out.count, ret_complaint);
    return CAUCUS_HAND_OVER(status, ret, r.out, caucus_prepared_free(&r.out));
}

void caucus_prepared_free(caucus_prepared *prepared) {
    for (size_t i = 0; i < prepared->count; i++) {
        bool shared = false; /* with an earlier run, which has freed it */
        for (size_t j = 0; j < i && !shared; j++)
            shared = prepared->adversary[j] == prepared->adversary[i];
        if (!shared)
            caucus_adversary_close(prepared->adversary[i]);
        caucus_plan_free(prepared->plan[i]);
    }
    free(prepared->run);
    free(prepared->plan);
    free(prepared->adversary);
    memset(prepared, 0, sizeof *prepared);
}
