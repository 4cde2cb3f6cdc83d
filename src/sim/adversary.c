/* SPDX-License-Identifier: Apache-2.0 */
/* adversary.c: words, checks, loading, and what is known about an adversary as a whole.
 * layer: sim */
#include "sim/adversary.h"
#include "num/choice.h"
#include "num/fail.h"
#include "num/hand_over.h"
#include "num/label.h"
#include "sim/adversary_impl.h"
#include "store/atomic_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CLIENTS_MAX (1u << 24)
#define ROUNDS_MAX (1u << 30)

CAUCUS_CHOICE_WORDS(adversary_kind, CAUCUS_ADVERSARY_LIST)
CAUCUS_CHOICE_PARSE(adversary_kind, "adversary")

#define DECLARE(NAME, word, help) extern const caucus_adversary_ops caucus_adversary_##NAME;
CAUCUS_ADVERSARY_LIST(DECLARE)
#undef DECLARE

static const caucus_adversary_ops *const tables[CAUCUS_ADVERSARY_COUNT] = {
#define ENTRY(NAME, word, help) &caucus_adversary_##NAME,
    CAUCUS_ADVERSARY_LIST(ENTRY)
#undef ENTRY
};

caucus_adversary_class caucus_adversary_class_of(const caucus_adversary_settings *settings) {
    caucus_adversary_class is = {.faultless = false};
    if ((size_t)settings->kind < CAUCUS_ADVERSARY_COUNT)
        is = tables[settings->kind]->class;
    is.iid_clients = is.iid_clients && !(settings->spread > 0);
    return is;
}

bool caucus_adversary_kind_has_means(caucus_adversary_kind kind) {
    return (size_t)kind < CAUCUS_ADVERSARY_COUNT && tables[kind]->means;
}

bool caucus_adversary_follows(const caucus_adversary *adversary) {
    return adversary->ops->follows;
}

static caucus_status check_shape(const caucus_adversary *adversary, caucus_error *ret_error) {
    if (adversary->clients < 1 || adversary->clients > CLIENTS_MAX)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "clients", "%u (accepted: 1 to %u)", adversary->clients,
                           CLIENTS_MAX);
    if (adversary->experts < 2 || adversary->experts > CAUCUS_ADVERSARY_EXPERTS_MAX)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "experts", "%u (accepted: 2 to %u)", adversary->experts,
                           CAUCUS_ADVERSARY_EXPERTS_MAX);
    if (adversary->rounds < 1 || adversary->rounds > ROUNDS_MAX)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "rounds", "%" PRIu64 " (accepted: 1 to %u)", adversary->rounds,
                           ROUNDS_MAX);
    return CAUCUS_OK;
}

static caucus_status check_segments(const caucus_adversary *adversary, caucus_error *ret_error) {
    const uint64_t segments = adversary->segments;
    const uint64_t most = adversary->rounds < CAUCUS_SEGMENTS_MAX ? adversary->rounds : CAUCUS_SEGMENTS_MAX;
    if (adversary->convex && segments != 1)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "segments",
                           "%" PRIu64 " (accepted with convex losses: 1; their best mixture is of the whole run)",
                           segments);
    if (segments > most)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "segments",
                           "%" PRIu64 " (accepted with %" PRIu64 " rounds: 1 to %" PRIu64 ")", segments,
                           adversary->rounds, most);
    return CAUCUS_OK;
}

/* NaN is refused too. */
static caucus_status check_means(const caucus_adversary *adversary, caucus_error *ret_error) {
    const double lo = adversary->mean_lo, hi = adversary->mean_hi;
    if (!(lo >= 0 && lo <= hi && hi <= 1))
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "means",
                           "%g,%g (accepted: a lower and a higher number from 0 to 1, for example 0.1,0.5)", lo, hi);
    if (!(adversary->spread >= 0 && adversary->spread <= 1))
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "spread", "%g (accepted: 0 to 1)", adversary->spread);
    if (!(adversary->drift >= 0 && adversary->drift <= 1))
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "drift", "%g (accepted: 0 to 1)", adversary->drift);
    return CAUCUS_OK;
}

static caucus_status open_kind(const caucus_adversary_settings *settings, caucus_adversary *adversary,
                               caucus_error *ret_error) {
    const caucus_adversary_ops *ops = adversary->ops;
    caucus_status status = ops->load != NULL ? ops->load(settings, adversary, ret_error) : CAUCUS_OK;
    if (status == CAUCUS_OK)
        status = check_shape(adversary, ret_error);
    if (status == CAUCUS_OK)
        status = check_segments(adversary, ret_error);
    if (status == CAUCUS_OK && ops->means)
        status = check_means(adversary, ret_error);
    if (status == CAUCUS_OK && ops->check != NULL)
        status = ops->check(settings, adversary, ret_error);
    return status;
}

caucus_status caucus_adversary_open(const caucus_adversary_settings *settings, caucus_adversary **ret,
                                    caucus_error *ret_error) {
    if ((size_t)settings->kind >= CAUCUS_ADVERSARY_COUNT)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "adversary", "missing");
    if (settings->convex && !tables[settings->kind]->convex)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "loss-shape",
                           "convex (accepted with adversary %s: linear; cross-entropy alone is convex)",
                           caucus_adversary_kind_word(settings->kind));
    caucus_adversary *adversary = calloc(1, sizeof *adversary);
    if (adversary == NULL)
        return caucus_fail_memory(ret_error, "");
    *adversary = (caucus_adversary){
        .ops = tables[settings->kind],
        .kind = settings->kind,
        .seed = settings->seed,
        .clients = settings->clients,
        .experts = settings->experts,
        .rounds = settings->rounds,
        .convex = settings->convex,
        .segments = settings->segments == 0 ? 1 : settings->segments,
        .mean_lo = settings->has_means ? settings->mean_lo : CAUCUS_MEAN_LO,
        .mean_hi = settings->has_means ? settings->mean_hi : CAUCUS_MEAN_HI,
        .spread = settings->spread,
        .drift = settings->drift,
        .activity_mean = settings->activity_mean,
        .activity_spread = settings->activity_spread,
        .best = UINT32_MAX,
    };
    caucus_status status = open_kind(settings, adversary, ret_error);
    return CAUCUS_HAND_OVER(status, ret, adversary, caucus_adversary_close(adversary));
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
    if (adversary->path == NULL) /* made here, not read */
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

uint64_t caucus_adversary_segments(const caucus_adversary *adversary) {
    return adversary->segments;
}

/* ceil(segment*T/S): below 2^50. Round t is in segment floor(t*S/T). */
uint64_t caucus_adversary_segment_start(const caucus_adversary *adversary, uint64_t segment) {
    return (segment * adversary->rounds + adversary->segments - 1) / adversary->segments;
}

void caucus_adversary_range(const caucus_adversary *adversary, double *ret_lo, double *ret_hi) {
    *ret_lo = 0.0;
    *ret_hi = adversary->ops->highest;
}

const char *caucus_adversary_expert_name(const caucus_adversary *adversary, uint32_t expert) {
    return adversary->movielens != NULL && expert < adversary->experts ? adversary->movielens->name[expert] : NULL;
}

caucus_status caucus_adversary_match_names(const caucus_adversary *adversary, const char **names,
                                           caucus_error *ret_error) {
    const char *header = adversary->npy.names;
    if (*names == NULL)
        *names = header;
    const uint32_t count = *names != NULL ? caucus_labels_count(*names) : adversary->experts;
    if (count == adversary->experts)
        return caucus_labels_match(header, *names, adversary->path != NULL ? caucus_path_tail(adversary->path) : "",
                                   adversary->npy.first_column, ret_error);
    return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "names",
                       "%u labels, and %s has %u experts — give one for each, or leave names out%s", count,
                       adversary->path != NULL        ? caucus_path_tail(adversary->path)
                       : adversary->movielens != NULL ? "movielens"
                                                      : "the array of losses",
                       adversary->experts, header != NULL ? ": the file's header has them" : "");
}

uint32_t caucus_adversary_best_genre(const caucus_adversary *adversary) {
    return adversary->best;
}

bool caucus_adversary_is_wide(const caucus_adversary *adversary) {
    return adversary->npy.wide;
}
