/* adversary.c: words, checks, loading, and what is known about an adversary as a whole.
 * layer: sim
 *
 * The lower bound's number of elements (docs/PRIVACY.md, "Lower-bound loss sequences"): the paper's k = ln d/(2 m
 * epsilon) rounds need not be whole and vanishes for large m, so loss is given to floor(ln d/(2 epsilon)) single
 * (round, client) pairs at the end; the proof is the same with m*k replaced by this number. */
#include "sim/adversary.h"
#include "sim/adversary_impl.h"
#include "sim/convex.h"
#include "store/atomic_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLIENTS_MAX (1u << 24)
#define EXPERTS_MAX (1u << 20)
#define ROUNDS_MAX (1u << 30)
#define MOVIELENS_CLIENTS 10u
#define MOVIELENS_RANGE 5.0

static const struct {
    const char *word, *help;
} kinds[] = {
#define KIND(name, word, help) {word, help},
    CAUCUS_ADVERSARY_LIST(KIND)
#undef KIND
};

const char *caucus_adversary_kind_word(caucus_adversary_kind value) {
    return (size_t)value < CAUCUS_ADVERSARY_COUNT ? kinds[value].word : "?";
}

const char *caucus_adversary_kind_help(caucus_adversary_kind value) {
    return (size_t)value < CAUCUS_ADVERSARY_COUNT ? kinds[value].help : "?";
}

caucus_status caucus_adversary_kind_parse(const char *word, caucus_adversary_kind *ret, caucus_error *ret_error) {
    char words[176] = "";
    size_t used = 0;
    for (size_t i = 0; i < CAUCUS_ADVERSARY_COUNT; i++) {
        if (strcmp(word, kinds[i].word) == 0) {
            *ret = (caucus_adversary_kind)i;
            return CAUCUS_OK;
        }
        if (used < sizeof words)
            used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", i == 0 ? "" : ", ", kinds[i].word);
    }
    return caucus_fail(ret_error, CAUCUS_E_RANGE, "adversary", "'%.24s' (accepted: %s)", word, words);
}

/* The hidden expert of `realizable` never errs and the others' losses are independent: it is both. Fair coins that all
 * clients share are independent over rounds only. */
static const caucus_adversary_class classes[CAUCUS_ADVERSARY_COUNT] = {
    [CAUCUS_ADVERSARY_GAUSSIAN] = {.iid_rounds = true, .iid_clients = true},
    [CAUCUS_ADVERSARY_BERNOULLI] = {.iid_rounds = true, .iid_clients = true},
    [CAUCUS_ADVERSARY_REALIZABLE] = {.faultless = true, .iid_rounds = true, .iid_clients = true},
    [CAUCUS_ADVERSARY_HALVING] = {.faultless = true},
    [CAUCUS_ADVERSARY_CREEPING] = {.faultless = true},
    [CAUCUS_ADVERSARY_CROSS_ENTROPY] = {.iid_rounds = true, .iid_clients = true},
    [CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE] = {.faultless = true},
    [CAUCUS_ADVERSARY_LOWER_BOUND_OBLIVIOUS] = {.iid_rounds = true},
    [CAUCUS_ADVERSARY_MOVIELENS] = {.faultless = true},
    [CAUCUS_ADVERSARY_LOSSES] = {.faultless = false},
};

caucus_adversary_class caucus_adversary_class_of(caucus_adversary_kind kind) {
    return (size_t)kind < CAUCUS_ADVERSARY_COUNT ? classes[kind] : (caucus_adversary_class){.faultless = false};
}

static caucus_status check_shape(const caucus_adversary *adversary, caucus_error *ret_error) {
    if (adversary->clients < 1 || adversary->clients > CLIENTS_MAX)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "clients", "%u (accepted: 1 to %u)", adversary->clients,
                           CLIENTS_MAX);
    if (adversary->experts < 2 || adversary->experts > EXPERTS_MAX)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "experts", "%u (accepted: 2 to %u)", adversary->experts,
                           EXPERTS_MAX);
    if (adversary->rounds < 1 || adversary->rounds > ROUNDS_MAX)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "rounds", "%" PRIu64 " (accepted: 1 to %u)", adversary->rounds,
                           ROUNDS_MAX);
    return CAUCUS_OK;
}

/* Both conditions of the lower bound: at least one element carries loss, and there are as many as needed. */
static caucus_status check_lower_bound(caucus_adversary *adversary, double epsilon, caucus_error *ret_error) {
    if (!(epsilon > 0) || isinf(epsilon))
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "epsilon", "%g (accepted by lower-bound-realizable: above 0)",
                           epsilon);
    double log_experts = log((double)adversary->experts), elements = floor(log_experts / (2 * epsilon));
    if (elements < 1) {
        char more[48] = "";
        if (exp(2 * epsilon) <= EXPERTS_MAX)
            snprintf(more, sizeof more, ", or at least %.0f experts", ceil(exp(2 * epsilon)));
        return caucus_fail(
            ret_error, CAUCUS_E_INFEASIBLE, "epsilon",
            "%g leaves lower-bound-realizable no loss with %u experts — feasible: at most ln(%u)/2 = %.4f%s", epsilon,
            adversary->experts, adversary->experts, floor(log_experts / 2 * 1e4) / 1e4, more);
    }
    double available = (double)adversary->clients * (double)adversary->rounds;
    if (elements > available)
        return caucus_fail(
            ret_error, CAUCUS_E_INFEASIBLE, "epsilon",
            "%g asks for %.0f losses, clients × rounds is %.0f — feasible: at least ln(%u)/(2 × %.0f) = %.4f", epsilon,
            elements, available, adversary->experts, available, ceil(log_experts / (2 * available) * 1e4) / 1e4);
    adversary->elements = (uint64_t)elements;
    return CAUCUS_OK;
}

/* Every (client, round) is another user: m*T of them are needed. */
static caucus_status check_users(caucus_adversary *adversary, caucus_error *ret_error) {
    uint32_t users = adversary->movielens->users, genres = adversary->movielens->genres;
    if (adversary->clients == 0)
        adversary->clients = MOVIELENS_CLIENTS;
    if (adversary->experts == 0)
        adversary->experts = genres;
    if (adversary->rounds == 0)
        adversary->rounds = users / adversary->clients;
    if (adversary->experts != genres)
        return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "experts", "%u (movielens has %u, its genres)",
                           adversary->experts, genres);
    if (adversary->clients > users)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "clients",
                           "%u (every round of a client is another user, movielens has %u: at most %u clients)",
                           adversary->clients, users, users);
    if ((uint64_t)adversary->clients * adversary->rounds > users)
        return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "rounds",
                           "%u clients × %" PRIu64
                           " rounds need as many users, movielens has %u (accepted: at most %u rounds)",
                           adversary->clients, adversary->rounds, users, users / adversary->clients);
    return CAUCUS_OK;
}

static caucus_status open_movielens(const caucus_adversary_settings *settings, caucus_adversary *adversary,
                                    caucus_error *ret_error) {
    const char *data = settings->data != NULL ? settings->data : caucus_movielens_find();
    if (data == NULL)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "data", "missing: " CAUCUS_MOVIELENS_MISSING);
    caucus_status status = caucus_movielens_read(data, &adversary->movielens, ret_error);
    if (status != CAUCUS_OK)
        return status;
    const caucus_movielens *movielens = adversary->movielens;
    const char *genre = settings->genre != NULL ? settings->genre : CAUCUS_GENRE_DEFAULT;
    if (strcmp(genre, CAUCUS_GENRE_FROM_DATA) == 0)
        adversary->best = caucus_movielens_best(movielens);
    else if ((status = caucus_movielens_genre(movielens, genre, &adversary->best, ret_error)) != CAUCUS_OK)
        return status;
    if ((status = check_users(adversary, ret_error)) != CAUCUS_OK)
        return status;
    adversary->user_losses = malloc((size_t)movielens->users * movielens->genres * sizeof *adversary->user_losses);
    if (adversary->user_losses == NULL)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "data", "out of memory");
    for (uint32_t user = 0; user < movielens->users; user++)
        caucus_movielens_losses(movielens, adversary->best, user,
                                adversary->user_losses + (size_t)user * movielens->genres);
    return CAUCUS_OK;
}

static caucus_status open_losses(const caucus_adversary_settings *settings, caucus_adversary *adversary,
                                 caucus_error *ret_error) {
    if (settings->losses == NULL)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "losses", "missing (a NumPy file, clients × rounds × experts)");
    caucus_status status = caucus_npy_open(settings->losses, &adversary->npy, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if ((adversary->path = strdup(settings->losses)) == NULL)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "losses", "out of memory");
    const caucus_npy *npy = &adversary->npy;
    const char *name = caucus_path_tail(settings->losses);
    if (npy->experts < 2)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                           "%s: shape (%u, %" PRIu64 ", %u) has %u expert — expected 2 or more to choose from", name,
                           npy->clients, npy->rounds, npy->experts, npy->experts);
    if (adversary->clients == 0)
        adversary->clients = npy->clients;
    if (adversary->rounds == 0)
        adversary->rounds = npy->rounds;
    if (adversary->experts == 0)
        adversary->experts = npy->experts;
    if (adversary->clients > npy->clients || adversary->rounds > npy->rounds || adversary->experts != npy->experts)
        return caucus_fail(
            ret_error, CAUCUS_E_CONFLICT, "",
            "%s: shape (%u, %" PRIu64 ", %u) — too small for %u clients, %" PRIu64 " rounds, or not %u experts", name,
            npy->clients, npy->rounds, npy->experts, adversary->clients, adversary->rounds, adversary->experts);
    return CAUCUS_OK;
}

static caucus_status open_kind(const caucus_adversary_settings *settings, caucus_adversary *adversary,
                               caucus_error *ret_error) {
    caucus_status status = CAUCUS_OK;
    if (settings->kind == CAUCUS_ADVERSARY_MOVIELENS)
        status = open_movielens(settings, adversary, ret_error);
    else if (settings->kind == CAUCUS_ADVERSARY_LOSSES)
        status = open_losses(settings, adversary, ret_error);
    if (status == CAUCUS_OK)
        status = check_shape(adversary, ret_error);
    if (status == CAUCUS_OK && settings->kind == CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE)
        status = check_lower_bound(adversary, settings->epsilon, ret_error);
    if (status == CAUCUS_OK && settings->kind == CAUCUS_ADVERSARY_CROSS_ENTROPY)
        adversary->gain = (float)caucus_convex_gain(adversary->experts);
    return status;
}

caucus_status caucus_adversary_open(const caucus_adversary_settings *settings, caucus_adversary **ret,
                                    caucus_error *ret_error) {
    if ((size_t)settings->kind >= CAUCUS_ADVERSARY_COUNT)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "adversary", "missing");
    if (settings->convex && settings->kind != CAUCUS_ADVERSARY_CROSS_ENTROPY)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "loss-shape",
                           "convex (accepted with adversary %s: linear; cross-entropy alone is convex)",
                           kinds[settings->kind].word);
    caucus_adversary *adversary = calloc(1, sizeof *adversary);
    if (adversary == NULL)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "out of memory");
    adversary->kind = settings->kind;
    adversary->seed = settings->seed;
    adversary->clients = settings->clients;
    adversary->experts = settings->experts;
    adversary->rounds = settings->rounds;
    adversary->convex = settings->convex;
    adversary->best = UINT32_MAX;
    caucus_status status = open_kind(settings, adversary, ret_error);
    if (status != CAUCUS_OK)
        caucus_adversary_close(adversary);
    else
        *ret = adversary;
    return status;
}

void caucus_adversary_close(caucus_adversary *adversary) {
    if (adversary == NULL)
        return;
    caucus_movielens_free(adversary->movielens);
    free(adversary->user_losses);
    caucus_npy_close(&adversary->npy);
    free(adversary->path);
    free(adversary);
}

caucus_status caucus_adversary_whole(const caucus_adversary *adversary, caucus_error *ret_error) {
    if (adversary->kind != CAUCUS_ADVERSARY_LOSSES)
        return CAUCUS_OK;
    return caucus_npy_whole(&adversary->npy, caucus_path_tail(adversary->path), ret_error);
}

void caucus_adversary_shape(const caucus_adversary *adversary, uint32_t *ret_clients, uint32_t *ret_experts,
                            uint64_t *ret_rounds) {
    if (ret_clients != NULL)
        *ret_clients = adversary->clients;
    if (ret_experts != NULL)
        *ret_experts = adversary->experts;
    if (ret_rounds != NULL)
        *ret_rounds = adversary->rounds;
}

void caucus_adversary_range(const caucus_adversary *adversary, double *ret_lo, double *ret_hi) {
    *ret_lo = 0.0;
    *ret_hi = adversary->kind == CAUCUS_ADVERSARY_MOVIELENS ? MOVIELENS_RANGE : 1.0;
}

const char *caucus_adversary_expert_name(const caucus_adversary *adversary, uint32_t expert) {
    return adversary->movielens != NULL && expert < adversary->experts ? adversary->movielens->name[expert] : NULL;
}

uint32_t caucus_adversary_best_genre(const caucus_adversary *adversary) {
    return adversary->best;
}

bool caucus_adversary_is_wide(const caucus_adversary *adversary) {
    return adversary->kind == CAUCUS_ADVERSARY_LOSSES && adversary->npy.wide;
}
