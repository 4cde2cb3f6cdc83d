/* SPDX-License-Identifier: Apache-2.0 */
/* audit_federation.c: whole runs of coordinator and clients on neighbouring losses. See audit_parts.h.
 *
 * Plans come from caucus_plan_new and the machines are those of src/algo; a broken twin alters the integers of its own
 * copy of the plan. Where a message's law is known its log-likelihood ratio is the statistic, since by Neyman and
 * Pearson no other event says more; it is computed from the plan's parameters and judges nothing by itself. */
#include "audit/audit_parts.h"
#include "dp/laws.h"
#include "plan/family.h"
#include "plan/stoch.h"

#include <caucus/client.h>
#include <caucus/coordinator.h>
#include <caucus/select.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define CLIENTS_MAX 32
#define EXPERTS_MAX 128

typedef struct federation {
    const caucus_audit_federation *setting;
    caucus_plan *plan;
    uint32_t m, d;
    uint64_t rounds;
    uint64_t replaced,
        window;       /* first round (from 0) and number of rounds of the block or phase that holds the replaced loss */
    uint64_t records; /* what can be replaced there: losses, or with unit client-block clients */
    double *loss[2];  /* [m][rounds][d], by world */
    int64_t sum[2][EXPERTS_MAX]; /* what client 1 has to say about that phase, before noise */
    double vote[2][EXPERTS_MAX]; /* ln P of its vote */
} federation;

/* A client's gradients: whose, in which world. */
typedef struct slope {
    const federation *f;
    uint32_t client;
    unsigned world;
} slope;

static bool is_stoch(const federation *f) {
    return caucus_plan_ops_of(f->plan)->phases;
}

static uint64_t replaced_phase(const federation *f) {
    return f->setting->phase > 0 ? f->setting->phase : f->plan->stoch.phases;
}

static const caucus_stoch_phase *learner(const federation *f) {
    return caucus_stoch_phase_of(f->plan, replaced_phase(f));
}

static void settings_of(const caucus_audit_federation *a, caucus_settings *ret) {
    caucus_settings_init(ret);
    ret->algorithm = a->algorithm;
    ret->trust = a->trust;
    ret->calibration = a->calibration;
    ret->unit = a->unit;
    ret->select = a->select;
    ret->message = a->message;
    ret->clients = a->clients;
    ret->experts = a->experts;
    ret->rounds = a->rounds;
    ret->interval = a->interval > 0 ? a->interval : 1;
    ret->epsilon = a->epsilon;
    ret->delta = a->delta;
    ret->rho = a->rho > 0 ? a->rho : 0.5;
    ret->loss_shape = a->convex ? CAUCUS_LOSS_SHAPE_CONVEX : CAUCUS_LOSS_SHAPE_LINEAR;
    ret->trees = a->convex || a->trust == CAUCUS_TRUST_PAPER_LOCAL ? a->trees : CAUCUS_TREES_AUTO;
    ret->smoothness = a->smoothness;
    ret->front_load = a->front_load;
    ret->past_phases = a->past_phases;
    ret->longest_phase = a->longest_phase;
    ret->renew = a->renew;
    ret->grid = a->fault == CAUCUS_AUDIT_RANGE_5 ? 1u << 16 : 0; /* five times it is still a grid */
}

static caucus_rational doubled(caucus_rational r) {
    return r.den > 0 ? caucus_rational_make(2 * r.num, r.den) : r; /* 0/0: not used by this plan */
}

static void halve(caucus_noise *noise) {
    if (noise->kind == CAUCUS_NOISE_GAUSSIAN) /* a variance */
        noise->parameter = caucus_rational_make(noise->parameter.num / 4, noise->parameter.den);
    else
        noise->parameter = doubled(noise->parameter);
}

/* Every rate and every noise of the plan, whatever its family: the walk meets all of them. */
static void halve_value(caucus_walker *walker, const char *key, const caucus_value *value) {
    (void)walker, (void)key;
    if (value->kind == CAUCUS_VALUE_RATIONAL)
        *value->rational = doubled(*value->rational);
    else if (value->kind == CAUCUS_VALUE_NOISE)
        halve(value->noise);
}

static void pass_open(caucus_walker *walker, const char *key) {
    (void)walker, (void)key;
}

static void pass_close(caucus_walker *walker) {
    (void)walker;
}

static void pass_list(caucus_walker *walker, const char *key, size_t count) {
    (void)walker, (void)key, (void)count;
}

static bool pass_has(caucus_walker *walker, const char *key, bool other) {
    (void)walker, (void)key;
    return other;
}

static void halve_noise(caucus_plan *plan) {
    caucus_walker walker = {
        .open = pass_open, .close = pass_close, .list = pass_list, .value = halve_value, .has = pass_has};
    caucus_walk_mechanism(&walker, plan);
}

static void break_plan(caucus_plan *plan, caucus_audit_fault fault) {
    if (fault == CAUCUS_AUDIT_HALF_NOISE)
        halve_noise(plan);
    if (fault == CAUCUS_AUDIT_RANGE_5) {
        plan->settings.hi = plan->settings.lo + 5 * (plan->settings.hi - plan->settings.lo);
        plan->grid *= 5;
        plan->stoch.gradient_hi *= 5;
    }
}

/* A loss of the block or phase that holds the replaced loss: that of record k; record 0 is the replaced one. */
static void window_loss(const federation *f, unsigned world, uint64_t k, double *loss) {
    const caucus_audit_federation *a = f->setting;
    double most = f->plan->settings.hi, others = (double)f->records - 1;
    for (uint32_t y = 0; y < f->d; y++) {
        if (a->losses == CAUCUS_AUDIT_ONES) {
            loss[y] = k == 0 && world == 1 ? most : 0;
        } else if (a->losses == CAUCUS_AUDIT_GAP) {
            bool against = k == 0 ? world == 1 : (double)k <= a->gap;
            loss[y] = (k == 0 || (double)k <= a->gap) && against == (y == 0) ? most : 0;
        } else { /* EDGE: the replaced loss adds 1 to the first expert's cost, or to the others' */
            double edge = (double)f->plan->svt.threshold[0] * most / (double)f->plan->grid;
            double share = fmax(0, y == 0 ? edge - most : edge + a->gap) / others;
            loss[y] = k == 0 ? ((world == 1) == (y == 0) ? most : 0) : fmin(most, share);
        }
    }
}

/* Later blocks of an EDGE run, where a second switch is possible: whoever is in force gets to the next threshold. */
static double later_loss(const federation *f, uint64_t round) {
    const caucus_svt_plan *svt = &f->plan->svt;
    uint64_t block = round / f->plan->settings.interval;
    if (f->setting->losses != CAUCUS_AUDIT_EDGE || block >= svt->switches)
        return 0;
    return (double)svt->threshold[block] / (double)f->plan->grid / (double)f->records;
}

static void fill_losses(federation *f, unsigned world) {
    bool blocks = f->plan->settings.unit == CAUCUS_UNIT_CLIENT_BLOCK;
    for (uint32_t i = 0; i < f->m; i++) {
        for (uint64_t t = 0; t < f->rounds; t++) {
            double *loss = f->loss[world] + ((size_t)i * f->rounds + t) * f->d;
            if (t >= f->replaced && t < f->replaced + f->window)
                window_loss(f, world, blocks ? i : i * f->window + (t - f->replaced), loss);
            else
                for (uint32_t y = 0; y < f->d; y++)
                    loss[y] = later_loss(f, t);
        }
    }
}

/* Convex losses by their gradients. ROOT: the two root samples of phase 4 (rounds 4 and 5). RIGHT: round 6 is the right
 * vertex's; its gradient changes sign from expert 0 to expert 1, so that the difference between two mixtures is as
 * large as any. */
static void gradient(void *user, uint64_t round, const double *x, double *ret, uint32_t experts) {
    const slope *s = user;
    (void)experts; /* every convex audit has two */
    bool root = s->f->setting->losses == CAUCUS_AUDIT_TREE_ROOT;
    double sign = s->client == 1 && s->world == 0 && round == (root ? 4 : 6) ? -1 : 1;
    double size = root ? (round == 4 || round == 5) : round == 6 ? x[0] - x[1] : 0;
    ret[0] = sign * size;
    ret[1] = -sign * size;
}

/* Sums and votes of client 1 in the phase of the replaced loss. */
static void expect_messages(federation *f) {
    const caucus_stoch_phase *phase = learner(f);
    for (unsigned w = 0; w < 2; w++) {
        long double law[EXPERTS_MAX];
        for (uint32_t y = 0; y < f->d; y++) {
            double sum = 0;
            for (uint32_t t = 0; t < phase->batch; t++)
                sum += f->loss[w][(size_t)(f->replaced + t) * f->d + y];
            f->sum[w][y] = llrint(sum / f->plan->settings.hi * (double)f->plan->grid);
        }
        if (phase->vote_rate.num == 0)
            continue;
        caucus_select_flip_law(f->sum[w], f->d, phase->vote_rate, law);
        for (uint32_t y = 0; y < f->d; y++)
            f->vote[w][y] = (double)logl(law[y]);
    }
}

static void close_federation(void *self) {
    federation *f = self;
    free(f->loss[0]);
    free(f->loss[1]);
    caucus_plan_free(f->plan);
    free(f);
}

/* A plan may leave out what it need not use; an audit of that would be an audit of nothing. */
static bool is_what_it_says(const federation *f) {
    const caucus_audit_federation *a = f->setting;
    bool trees = (a->convex || a->trust == CAUCUS_TRUST_PAPER_LOCAL) && is_stoch(f);
    return (a->delta <= 0 || f->plan->guarantee.delta > 0) && (!a->past_phases || f->plan->stoch.past > 1) &&
           (!trees || (int)learner(f)->trees == a->trees) && f->m <= CLIENTS_MAX && f->d <= EXPERTS_MAX &&
           (a->losses != CAUCUS_AUDIT_EDGE || f->plan->svt.switches > 0) &&
           (!a->front_load || f->plan->svt.switches > 1);
}

static caucus_status open_federation(const void *setting, void **ret_self, caucus_error *ret_error) {
    federation *f = calloc(1, sizeof *f);
    if (f == NULL)
        return CAUCUS_E_MEMORY;
    caucus_settings s;
    f->setting = setting;
    settings_of(f->setting, &s);
    caucus_status status = caucus_plan_new(&s, &f->plan, ret_error);
    if (status != CAUCUS_OK) {
        free(f);
        return status;
    }
    f->m = f->plan->settings.clients;
    f->d = f->plan->settings.experts;
    f->rounds = f->plan->settings.rounds;
    if (!is_what_it_says(f)) {
        close_federation(f);
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "audit", "the plan does not use what is to be audited");
    }
    break_plan(f->plan, f->setting->fault);
    f->window = is_stoch(f) ? learner(f)->samples : f->plan->settings.interval;
    f->replaced = is_stoch(f) ? caucus_stoch_first(&f->plan->settings, replaced_phase(f) - 1) - 1 : 0;
    f->records = f->m * (f->plan->settings.unit == CAUCUS_UNIT_CLIENT_BLOCK ? 1 : f->window);
    for (unsigned w = 0; w < 2; w++) {
        f->loss[w] = calloc((size_t)f->m * f->rounds * f->d, sizeof *f->loss[w]);
        if (f->loss[w] == NULL) {
            close_federation(f);
            return CAUCUS_E_MEMORY;
        }
        if (!f->setting->convex)
            fill_losses(f, w);
    }
    if (f->setting->messages)
        expect_messages(f);
    *ret_self = f;
    return CAUCUS_OK;
}

/* ln of P(value | sums of world 1) / P(value | sums of world 0), for noise added to the listed (NULL: all) sums. */
static double noise_ratio(const federation *f, const caucus_noise *noise, const int64_t *value, uint32_t count,
                          const uint32_t *list) {
    double total = 0, most[2] = {0, 0}, parameter = caucus_rational_double(noise->parameter);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t y = list != NULL ? list[i] : i;
        double off0 = fabs((double)(value[i] - f->sum[0][y])), off1 = fabs((double)(value[i] - f->sum[1][y]));
        most[0] = fmax(most[0], off0);
        most[1] = fmax(most[1], off1);
        total += noise->kind == CAUCUS_NOISE_GAUSSIAN ? (off0 * off0 - off1 * off1) / (2 * parameter)
                                                      : parameter * (off0 - off1);
    }
    return noise->kind == CAUCUS_NOISE_KNORM ? parameter * (most[0] - most[1]) : total;
}

static double message_ratio(const federation *f, const caucus_report *r, const caucus_announcement *asked) {
    const caucus_stoch_phase *phase = learner(f);
    if (r->client != 1 || r->block != replaced_phase(f))
        return 0;
    switch (r->kind) {
    case CAUCUS_ASK_VOTE:
        return f->vote[1][r->value[0]] - f->vote[0][r->value[0]];
    case CAUCUS_ASK_SHORTLIST:
        return noise_ratio(f, &phase->shortlist_noise, r->value, r->count, asked->list);
    default:
        return noise_ratio(f,
                           f->plan->settings.trust == CAUCUS_TRUST_PAPER_LOCAL ? &phase->leaf_noise[phase->trees]
                                                                               : &phase->vertex_noise[0],
                           r->value, r->count, NULL);
    }
}

typedef struct run {
    caucus_coordinator *coordinator;
    caucus_client *client[CLIENTS_MAX];
    slope slope[CLIENTS_MAX];
} run;

/* Returns: CAUCUS_OK, CAUCUS_E_MEMORY; end() frees what was made in either case. */
static caucus_status begin(const federation *f, unsigned world, const caucus_key *key, run *r) {
    bool noisy = f->plan->settings.trust != CAUCUS_TRUST_COORDINATOR;
    caucus_status status = caucus_coordinator_new(f->plan, key, &r->coordinator);
    for (uint32_t i = 0; status == CAUCUS_OK && i < f->m; i++) {
        caucus_key own = *key; /* a client that trusts the coordinator draws nothing that leaves it */
        if (noisy)
            caucus_key_derive(key, i + 1, &own);
        status = caucus_client_new(f->plan, i + 1, &own, &r->client[i]);
        r->slope[i] = (slope){f, i + 1, world};
        if (status == CAUCUS_OK && f->setting->convex)
            caucus_client_set_gradient(r->client[i], gradient, &r->slope[i]);
    }
    return status;
}

static void end(const federation *f, run *r) {
    for (uint32_t i = 0; i < f->m; i++)
        caucus_client_free(r->client[i]);
    caucus_coordinator_free(r->coordinator);
}

static void tell(const federation *f, run *r) {
    for (uint32_t i = 0; i < f->m; i++)
        if (caucus_client_hear(r->client[i], caucus_coordinator_announcement(r->coordinator)) != CAUCUS_OK)
            abort(); /* messages arrive in order here */
}

/* One step: play up to the next report, report, decide. Returns what it adds to a message statistic. */
static double step(const federation *f, unsigned world, run *r) {
    double ratio = 0;
    const caucus_announcement *asked = caucus_coordinator_announcement(r->coordinator);
    for (uint32_t i = 0; i < f->m; i++) {
        size_t at = ((size_t)i * f->rounds + caucus_client_round(r->client[i])) * f->d;
        if (caucus_client_observe(r->client[i], f->loss[world] + at, caucus_client_rounds_left(r->client[i])) !=
            CAUCUS_OK)
            abort();
        const caucus_report *report = caucus_client_report(r->client[i]);
        if (report == NULL || caucus_coordinator_receive(r->coordinator, report) != CAUCUS_OK)
            abort();
        if (f->setting->messages)
            ratio += message_ratio(f, report, asked);
    }
    if (caucus_coordinator_decide(r->coordinator) != CAUCUS_OK)
        abort();
    return ratio;
}

/* What an announcement says: is another than expert 0 in force, and has the check just made fired? */
static uint32_t words(const caucus_announcement *a, caucus_ask before) {
    bool fired = before == CAUCUS_ASK_COST && a->ask == CAUCUS_ASK_SUMS;
    return (a->expert != 0 ? 1u : 0u) + (fired ? 2u : 0u);
}

static caucus_status play(const federation *f, unsigned world, const caucus_key *key, double *ret) {
    run r = {0};
    caucus_status status = begin(f, world, key, &r);
    if (status != CAUCUS_OK) {
        end(f, &r);
        return status;
    }
    const caucus_announcement *a = caucus_coordinator_announcement(r.coordinator);
    uint32_t said = 2 + words(a, CAUCUS_ASK_NOTHING); /* a leading 1 keeps transcripts of different lengths apart */
    double ratio = 0;
    tell(f, &r);
    while (a->ask != CAUCUS_ASK_NOTHING && (!f->setting->messages || a->block <= replaced_phase(f))) {
        caucus_ask before = a->ask;
        ratio += step(f, world, &r);
        said = 4 * said + words(a, before);
        tell(f, &r);
    }
    end(f, &r);
    *ret = f->setting->messages ? ratio : said;
    return CAUCUS_OK;
}

static caucus_status draw_federation(const void *self, unsigned world, const caucus_key *key, uint64_t first,
                                     size_t count, double *ret) {
    caucus_status status = CAUCUS_OK;
    for (size_t i = 0; status == CAUCUS_OK && i < count; i++) {
        caucus_key own;
        caucus_key_derive(key, first + i, &own);
        status = play(self, world, &own, &ret[i]);
    }
    return status;
}

const caucus_audit_family caucus_audit_federation_family = {open_federation, draw_federation, close_federation};
