/* SPDX-License-Identifier: Apache-2.0 */
/* digest.c: one SHA-256 over what the library computes from fixed seeds: draws of every public sampler and
 * selection, and the plans of a list of settings. run.sh compiles it with several compilers and options and
 * compares: a result must depend on the seed alone, not on compiler, optimisation or number of threads.
 *
 * usage: digest THREADS. Item i (a stream number or a plan) is worked on by thread i mod THREADS; the
 * digest is over the items in order. Integers enter exactly; the doubles of a plan are for people and enter
 * with nine digits, since compilers may use the mathematical library differently in the last one. */
#include <caucus/caucus.h>

#include "plan/family.h"

#include "dp/draws.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STREAMS = 48,
    DRAWS = 40,
    WIDTH = 33,
    EXPERTS = 37,
    CLIENTS = 3,
    THREADS_MAX = 64,
    HASH = crypto_hash_sha256_BYTES
};

typedef crypto_hash_sha256_state digest;

static void put(digest *state, const char *format, ...) CAUCUS_PRINTF(2, 3);
static void put(digest *state, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        abort();
    crypto_hash_sha256_update(state, (const unsigned char *)text, (unsigned long long)length);
}

static void put_values(digest *state, const char *name, const int64_t *value, size_t n) {
    put(state, "%s", name);
    for (size_t i = 0; i < n; i++)
        put(state, " %" PRId64, value[i]);
    put(state, "\n");
}

/* ---- draws: one per statement, since C leaves the order of a call's arguments open ---- */

static const caucus_rational rates[] = {{1, 1}, {1, 7}, {5, 2}, {3, 1048576}, {123456789, (uint64_t)1 << 50}};
enum { RATES = sizeof rates / sizeof rates[0] };

static void scalar_draws(digest *state, caucus_stream *s, caucus_rational rate) {
    caucus_rational variance = caucus_rational_make(rate.den, rate.num);
    for (int i = 0; i < DRAWS; i++) {
        put(state, "%" PRId64, caucus_geometric(s, rate));
        put(state, " %" PRId64, caucus_laplace(s, rate));
        put(state, " %" PRId64 "\n", caucus_gaussian(s, variance));
    }
}

static void vector_draws(digest *state, caucus_stream *s, caucus_rational rate) {
    int64_t value[WIDTH];
    size_t cube =
        rate.den / rate.num < WIDTH ? 2 : WIDTH; /* the K-norm draw accepts about e^(-rate*d/2) of its tries */
    caucus_rational variance = caucus_rational_make(rate.den, rate.num);
    caucus_geometric_fill(s, rate, value, WIDTH);
    put_values(state, "geometric", value, WIDTH);
    caucus_laplace_fill(s, rate, value, WIDTH);
    put_values(state, "laplace", value, WIDTH);
    caucus_gaussian_fill(s, variance, value, WIDTH);
    put_values(state, "gaussian", value, WIDTH);
    caucus_knorm(s, rate, value, cube);
    put_values(state, "knorm", value, cube);
    caucus_knorm_fill(s, rate, value, cube);
    put_values(state, "knorm-fill", value, cube);
}

static void uniform_draws(digest *state, caucus_stream *s) {
    for (int i = 0; i < DRAWS; i++) {
        caucus_u128 n = ((caucus_u128)3 << 90) + (caucus_u128)i;
        caucus_u128 wide = caucus_uniform_wide(s, n);
        put(state, "%" PRIu64 ".%" PRIu64, (uint64_t)(wide >> 64), (uint64_t)wide);
        put(state, " %" PRIu64, caucus_stream_next(s));
        put(state, " %" PRIu64, caucus_uniform(s, (uint64_t)i * 1000003 + 1));
        put(state, " %d", caucus_bernoulli(s, 3, 7));
        put(state, " %d", caucus_bernoulli_exp(s, 5, 4));
        put(state, " %d\n", caucus_bernoulli_exp_wide(s, (caucus_u128)7 << 80, (caucus_u128)9 << 80));
    }
}

static void selections(digest *state, caucus_stream *s, caucus_rational rate) {
    int64_t score[EXPERTS];
    for (int i = 0; i < EXPERTS; i++)
        score[i] = (int64_t)caucus_uniform(s, 1 + rate.den / rate.num * 4) - 100;
    for (int i = 0; i < 8; i++) {
        put(state, "%" PRIu32, caucus_select_exponential(s, score, EXPERTS, rate));
        put(state, " %" PRIu32, caucus_select_flip(s, score, EXPERTS, rate));
        put(state, " %" PRIu32, caucus_select_noisy_min(s, score, EXPERTS, rate));
        put(state, " %" PRIu32 "\n", caucus_select_min(s, score, EXPERTS));
    }
}

static void threshold_run(digest *state, const caucus_key *key, uint32_t index) {
    const caucus_noise kinds[] = {
        {CAUCUS_NOISE_GEOMETRIC, {1, 50}}, {CAUCUS_NOISE_LAPLACE, {1, 50}}, {CAUCUS_NOISE_GAUSSIAN, {2500, 1}}};
    for (uint16_t k = 0; k < 3; k++) {
        caucus_threshold at;
        caucus_stream s;
        bool fired = false;
        caucus_stream_init(&s, key, CAUCUS_PURPOSE_TEST, (uint16_t)(90 + k), index, 0);
        caucus_threshold_begin(&at, 1, 5, 1000, &kinds[k], &s);
        for (int i = 0; i < 100 && !fired; i++)
            if (caucus_threshold_add(&at, 1, 5, 30) != CAUCUS_OK ||
                caucus_threshold_check(&at, &kinds[k], &s, &fired) != CAUCUS_OK)
                abort();
        put(state, "threshold %" PRIu64 " %" PRId64 " %" PRId64 "\n", at.checks, at.q, at.theta);
    }
}

static void stream_item(digest *state, uint32_t index) {
    caucus_key run, key;
    caucus_stream s;
    caucus_key_from_seed(20241, &run);
    caucus_key_derive(&run, index, &key);
    caucus_stream_init(&s, &key, CAUCUS_PURPOSE_TEST, 1, index, 0);
    uniform_draws(state, &s);
    for (uint32_t r = 0; r < RATES; r++) {
        caucus_stream_init(&s, &key, CAUCUS_PURPOSE_TEST, 2, index, r);
        scalar_draws(state, &s, rates[r]);
        caucus_stream_init(&s, &key, CAUCUS_PURPOSE_TEST, 3, index, r);
        vector_draws(state, &s, rates[r]);
        caucus_stream_init(&s, &key, CAUCUS_PURPOSE_TEST, 4, index, r);
        selections(state, &s, rates[r]);
    }
    threshold_run(state, &key, index);
}

/* ---- plans ---- */

typedef struct setting {
    caucus_algorithm algorithm;
    caucus_trust trust;
    caucus_calibration calibration;
    caucus_select select;
    caucus_message message;
    caucus_loss_shape loss_shape;
    uint32_t clients, experts, rounds, interval;
    double epsilon, delta;
    int trees;
    bool front_load, past_phases;
} setting;

#define A(x) CAUCUS_ALGORITHM_##x
#define T(x) CAUCUS_TRUST_##x
#define M(x) CAUCUS_MESSAGE_##x
#define S(x) CAUCUS_SELECT_##x
#define TIGHT CAUCUS_CALIBRATION_TIGHT
#define PAPER CAUCUS_CALIBRATION_PAPER
#define LIN CAUCUS_LOSS_SHAPE_LINEAR
#define CVX CAUCUS_LOSS_SHAPE_CONVEX
#define AUTO CAUCUS_TREES_AUTO
static const setting settings[] = {
    {A(SVT), T(COORDINATOR), TIGHT, S(AUTO), M(AUTO), LIN, 10, 100, 512, 1, 10, 0, AUTO, false, false},
    {A(SVT), T(COORDINATOR), TIGHT, S(AUTO), M(AUTO), LIN, 10, 100, 512, 1, 1, 0, AUTO, false, false},
    {A(SVT), T(COORDINATOR), TIGHT, S(AUTO), M(AUTO), LIN, 10, 18, 604, 1, 10, 0, AUTO, true, false},
    {A(SVT), T(COORDINATOR), PAPER, S(AUTO), M(AUTO), LIN, 10, 100, 512, 30, 10, 0, AUTO, false, false},
    {A(SVT), T(COORDINATOR), TIGHT, S(AUTO), M(AUTO), LIN, 1000, 20, 2048, 16, 2, 0, AUTO, false, false},
    {A(SPARSE_VECTOR), T(COORDINATOR), TIGHT, S(AUTO), M(AUTO), LIN, 1, 100, 512, 1, 10, 0, AUTO, false, false},
    {A(STOCH), T(COORDINATOR), TIGHT, S(AUTO), M(AUTO), LIN, 10, 100, 512, 1, 1, 0, AUTO, false, false},
    {A(STOCH), T(COORDINATOR), TIGHT, S(EXPONENTIAL), M(AUTO), LIN, 100, 50, 4096, 1, 1, 1e-6, AUTO, false, true},
    {A(STOCH), T(COORDINATOR), TIGHT, S(NOISY_MIN), M(AUTO), LIN, 10, 20, 1024, 1, 1, 0, AUTO, false, false},
    {A(STOCH), T(COORDINATOR), TIGHT, S(AUTO), M(AUTO), CVX, 10, 20, 1024, 1, 1, 0, AUTO, false, false},
    {A(STOCH), T(COORDINATOR), PAPER, S(AUTO), M(AUTO), LIN, 10, 100, 16384, 1, 10, 0, AUTO, false, false},
    {A(STOCH), T(NOBODY), TIGHT, S(AUTO), M(VOTE), LIN, 100, 20, 1024, 1, 1, 0, AUTO, false, false},
    {A(STOCH), T(NOBODY), TIGHT, S(AUTO), M(SHORTLIST), LIN, 100, 100, 1024, 1, 4, 0, AUTO, false, false},
    {A(STOCH), T(NOBODY), TIGHT, S(AUTO), M(KNORM), LIN, 100, 20, 1024, 1, 1, 0, AUTO, false, false},
    {A(STOCH), T(NOBODY), TIGHT, S(AUTO), M(LAPLACE_D), LIN, 100, 20, 1024, 1, 1, 0, AUTO, false, false},
    {A(STOCH), T(NOBODY), TIGHT, S(AUTO), M(GAUSS), LIN, 100, 20, 1024, 1, 1, 1e-6, AUTO, false, false},
    {A(STOCH), T(PAPER_LOCAL), PAPER, S(AUTO), M(AUTO), LIN, 10, 100, 16384, 1, 10, 0, AUTO, false, false},
    {A(LIMITED_UPDATES), T(COORDINATOR), TIGHT, S(AUTO), M(AUTO), LIN, 1, 100, 512, 1, 10, 0, AUTO, false, false},
    {A(HEDGE), T(COORDINATOR), TIGHT, S(AUTO), M(AUTO), LIN, 10, 100, 512, 8, 1, 0, AUTO, false, false},
    {A(LEADER), T(COORDINATOR), TIGHT, S(AUTO), M(AUTO), LIN, 10, 100, 512, 1, INFINITY, 0, AUTO, false, false},
/* And one of every algorithm there is, played to its end. */
#define PLAIN(NAME, word, help)                                                                                        \
    {A(NAME), T(COORDINATOR), TIGHT, S(AUTO), M(AUTO), LIN, 3, 5, 64, 1, 1, 0, AUTO, false, false},
    CAUCUS_ALGORITHM_LIST(PLAIN)
#undef PLAIN
};
enum { PLANS = sizeof settings / sizeof settings[0], ITEMS = STREAMS + PLANS };

/* Every integer of a plan, by the walk that writes its file: families that come later are in it by themselves. */
typedef struct text_walker {
    caucus_walker walker; /* first: a walker is given back as this */
    digest *state;
} text_walker;

static void put_key(caucus_walker *w, const char *key) {
    put(((text_walker *)w)->state, " %s", key ? key : "-");
}

static void put_end(caucus_walker *w) {
    put(((text_walker *)w)->state, ".\n");
}

static void put_list(caucus_walker *w, const char *key, size_t count) {
    put(((text_walker *)w)->state, " %s %zu", key, count);
}

static void put_value(caucus_walker *w, const char *key, const caucus_value *value) {
    char text[CAUCUS_VALUE_BYTES];
    caucus_value_text(value, text);
    put(((text_walker *)w)->state, " %s %s", key ? key : "-", text);
}

static bool put_if_other(caucus_walker *w, const char *key, bool other) {
    (void)w, (void)key;
    return other;
}

static void put_integers(digest *state, caucus_plan *p) {
    text_walker w = {
        .walker = {.open = put_key, .close = put_end, .list = put_list, .value = put_value, .has = put_if_other},
        .state = state};
    caucus_walk_mechanism(&w.walker, p);
}

static void put_plan(digest *state, caucus_plan *p) {
    const caucus_guarantee *g = &p->guarantee;
    put(state, "grid %" PRId64 " clients %" PRIu32 "\n", p->grid, p->settings.clients);
    put_integers(state, p);
    put(state, "guarantee %.9g %.9g %.9g %.9g %s\n", g->epsilon_choices,
        isnan(g->epsilon_messages) ? -1 : g->epsilon_messages, g->delta, g->rho_zcdp, g->note);
    put(state, "bound %d", (int)p->bound_kind);
    if (p->bound_kind != CAUCUS_BOUND_NONE)
        put(state, " %.9g %.9g", p->bound, p->bound_uncapped);
    put(state, "\n");
}

static double loss_of(uint32_t client, uint64_t round, uint32_t expert) {
    return (double)((client * 31 + round * 17 + expert * 7) % 64) / 64;
}

/* Client c as far as it gets by itself; its report is counted, if one is due. */
static bool play_client(caucus_client *c, uint32_t index, uint32_t experts, caucus_coordinator *coordinator) {
    double loss[EXPERTS];
    const caucus_announcement *now = caucus_coordinator_announcement(coordinator);
    bool good = caucus_client_hear(c, now) == CAUCUS_OK;
    while (good && caucus_client_rounds_left(c) > 0) {
        for (uint32_t y = 0; y < experts; y++)
            loss[y] = loss_of(index, caucus_client_round(c), y);
        good = caucus_client_observe(c, loss, 1) == CAUCUS_OK;
    }
    const caucus_report *report = good ? caucus_client_report(c) : NULL;
    if (now->ask == CAUCUS_ASK_NOTHING)
        return good && !report;
    return report && caucus_coordinator_receive(coordinator, report) == CAUCUS_OK;
}

/* The machines: what a small federation announces, from its first announcement to its last. */
static bool put_run(digest *state, const caucus_plan *plan) {
    caucus_client *client[CLIENTS] = {NULL};
    caucus_coordinator *coordinator = NULL;
    const uint32_t m = plan->settings.clients, d = plan->settings.experts;
    caucus_key key;
    caucus_key_from_seed(11, &key);
    bool good = caucus_coordinator_new(plan, &key, &coordinator) == CAUCUS_OK;
    for (uint32_t i = 0; good && i < m; i++)
        good = caucus_client_new(plan, i + 1, &key, &client[i]) == CAUCUS_OK;
    for (bool more = good; good && more;) {
        const caucus_announcement *now = caucus_coordinator_announcement(coordinator);
        put(state, "announcement %" PRIu64 " %" PRIu32 " %d %" PRIu64 "\n", now->serial, now->expert, (int)now->ask,
            now->block);
        more = now->ask != CAUCUS_ASK_NOTHING;
        for (uint32_t i = 0; good && i < m; i++)
            good = play_client(client[i], i + 1, d, coordinator);
        good = good && (!more || caucus_coordinator_decide(coordinator) == CAUCUS_OK);
    }
    for (uint32_t i = 0; i < CLIENTS; i++)
        caucus_client_free(client[i]);
    caucus_coordinator_free(coordinator);
    return good;
}

/* Returns false, and says why, if a setting gives no plan: every one in the list is meant to. */
static bool plan_item(digest *state, size_t index) {
    const setting *in = &settings[index];
    caucus_settings s;
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    caucus_settings_init(&s);
    s.algorithm = in->algorithm, s.trust = in->trust, s.calibration = in->calibration;
    s.select = in->select, s.message = in->message, s.loss_shape = in->loss_shape;
    s.clients = in->clients, s.experts = in->experts, s.rounds = in->rounds, s.interval = in->interval;
    s.epsilon = in->epsilon, s.delta = in->delta, s.trees = in->trees;
    s.front_load = in->front_load, s.past_phases = in->past_phases;
    caucus_status status = caucus_plan_new(&s, &plan, &error);
    if (status != CAUCUS_OK) {
        fprintf(stderr, "setting %zu: %s (%s: %s)\n", index, caucus_status_text(status), error.field, error.text);
        return false;
    }
    put_plan(state, plan);
    const bool small = plan->settings.clients <= CLIENTS && plan->settings.experts <= EXPERTS;
    const bool played = !small || put_run(state, plan);
    if (!played)
        fprintf(stderr, "setting %zu: a run did not get to its end\n", index);
    caucus_plan_free(plan);
    return played;
}

/* ---- threads ---- */

typedef struct slice {
    pthread_t thread;
    unsigned first, step;
    bool good;
} slice;

static unsigned char item_hash[ITEMS][HASH];

static void *work(void *argument) {
    slice *mine = argument;
    mine->good = true;
    for (unsigned i = mine->first; i < ITEMS; i += mine->step) {
        digest state;
        crypto_hash_sha256_init(&state);
        if (i < STREAMS)
            stream_item(&state, i);
        else
            mine->good = plan_item(&state, i - STREAMS) && mine->good;
        crypto_hash_sha256_final(&state, item_hash[i]);
    }
    return NULL;
}

static void print_digest(const char *name, size_t first, size_t count) {
    unsigned char hash[HASH];
    char hex[2 * HASH + 1];
    crypto_hash_sha256(hash, item_hash[first], (unsigned long long)(count * HASH));
    printf("%s %s\n", name, sodium_bin2hex(hex, sizeof hex, hash, sizeof hash));
}

int main(int argc, char **argv) {
    static slice slices[THREADS_MAX];
    long threads = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    bool good = true;
    if (threads < 1 || threads > THREADS_MAX || sodium_init() < 0) {
        fprintf(stderr, "usage: %s THREADS (1 to %d)\n", argv[0], THREADS_MAX);
        return 2;
    }
    for (long t = 0; t < threads; t++) {
        slices[t].first = (unsigned)t;
        slices[t].step = (unsigned)threads;
        if (pthread_create(&slices[t].thread, NULL, work, &slices[t]) != 0)
            return 1;
    }
    for (long t = 0; t < threads; t++)
        good = pthread_join(slices[t].thread, NULL) == 0 && slices[t].good && good;
    if (!good)
        return 1;
    print_digest("draws", 0, STREAMS);
    for (size_t i = 0; i < PLANS; i++) {
        char name[32];
        snprintf(name, sizeof name, "plan-%zu", i);
        print_digest(name, STREAMS + i, 1);
    }
    print_digest("all", 0, ITEMS);
    return 0;
}
