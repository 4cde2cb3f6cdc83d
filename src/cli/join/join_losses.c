/* SPDX-License-Identifier: Apache-2.0 */
/* join_losses.c: see join_losses.h. */
#include "cli/join/join_losses.h"

#include "algo/wipe.h"

#include "num/fail.h"
#include "num/label.h"
#include "sim/slot/activity.h"
#include "store/atomic_file.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define READ_BYTES 65536u

static caucus_status begin(caucus_losses_source *s, const caucus_plan *plan, uint32_t client, caucus_error *ret_error) {
    *s = (caucus_losses_source){.plan = plan, .client = client};
    s->row = calloc(plan->settings.experts, sizeof *s->row);
    s->which = calloc(caucus_plan_evaluate(plan), sizeof *s->which);
    s->few = calloc(caucus_plan_evaluate(plan), sizeof *s->few);
    return s->row && s->which && s->few ? CAUCUS_OK : caucus_fail_memory(ret_error, "");
}

caucus_status caucus_losses_from_lines(caucus_losses_source *s, const caucus_plan *plan, uint64_t skip,
                                       caucus_error *ret_error) {
    caucus_status status = begin(s, plan, 0, ret_error);
    s->lines = (caucus_loss_lines){.experts = caucus_plan_evaluate(plan), .skip = skip};
    return status;
}

caucus_status caucus_losses_from_npy(caucus_losses_source *s, const caucus_plan *plan, uint32_t client,
                                     const char *path, uint64_t *play, caucus_error *ret_error) {
    caucus_status status = begin(s, plan, client, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_npy_open_own(path, &s->npy, ret_error);
    if (status != CAUCUS_OK)
        return status;
    s->has_npy = true;
    s->path = caucus_path_tail(path);
    const caucus_settings *p = &plan->settings;
    const bool any = caucus_plan_is_endless(plan) || p->pace == CAUCUS_PACE_OWN; /* slots are not rows */
    if (any && *play == 0)
        *play = s->npy.rounds;
    const uint64_t rounds = any ? *play : p->rounds;
    if (s->npy.experts != p->experts || s->npy.rounds < rounds || (!s->npy.single && s->npy.clients < client))
        return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "",
                           "%.60s: %u clients × %" PRIu64 " rounds × %u experts — the plan needs client %u, %" PRIu64
                           " rounds, %u experts",
                           path, s->npy.clients, s->npy.rounds, s->npy.experts, client, rounds, p->experts);
    if (p->names != NULL)
        return caucus_labels_match(s->npy.names, p->names, s->path, s->npy.first_column, ret_error);
    return CAUCUS_OK;
}

caucus_status caucus_losses_from_adversary(caucus_losses_source *s, const caucus_plan *plan, uint32_t client,
                                           const caucus_adversary_settings *settings, uint64_t play,
                                           caucus_error *ret_error) {
    caucus_adversary_settings own = *settings;
    own.clients = plan->settings.clients;
    own.experts = plan->settings.experts;
    own.rounds = caucus_plan_is_endless(plan) ? play : plan->settings.rounds;
    if (plan->settings.pace == CAUCUS_PACE_OWN)
        own.rounds *= CAUCUS_SLOT_ROWS;
    own.epsilon = plan->settings.epsilon;
    caucus_status status = begin(s, plan, client, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_adversary_open(&own, &s->adversary, ret_error);
    if (status == CAUCUS_OK && caucus_adversary_follows(s->adversary))
        status = caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "adversary",
                             "%s: follows what was announced to everybody, which caucus simulate plays "
                             "(accepted: another)",
                             caucus_adversary_kind_word(own.kind));
    if (status != CAUCUS_OK)
        return status;
    status = caucus_adversary_trial_new(s->adversary, 0, &s->trial);
    return status == CAUCUS_OK ? status : caucus_fail(ret_error, status, "", "%s", caucus_status_text(status));
}

void caucus_losses_close(caucus_losses_source *s) {
    caucus_adversary_trial_free(s->trial);
    caucus_adversary_close(s->adversary);
    if (s->has_npy)
        caucus_npy_close(&s->npy);
    caucus_wipe_free(s->few, s->plan ? caucus_plan_evaluate(s->plan) * sizeof *s->few : 0);
    free(s->which);
    caucus_wipe_free(s->row, s->plan ? s->plan->settings.experts * sizeof *s->row : 0);
    caucus_loss_lines_free(&s->lines);
    *s = (caucus_losses_source){0};
}

void caucus_losses_ask(caucus_losses_source *s, const caucus_link *link, uint64_t passed) {
    const uint32_t expert = caucus_link_expert(link), k = caucus_plan_evaluate(s->plan);
    const char *name = caucus_plan_expert_name(s->plan, expert);
    printf("%u", expert);
    if (k < s->plan->settings.experts && caucus_link_evaluate(link, s->which, k) == CAUCUS_OK)
        for (uint32_t i = 0; i < k; i++)
            printf("%s%u", i == 0 ? " evaluate=" : ",", s->which[i]);
    if (passed > 0)
        printf(" replay=%" PRIu64, passed);
    printf("%s%s\n", name ? " name=" : "", name ? name : "");
}

const double *caucus_losses_wanted(caucus_losses_source *s, const caucus_link *link) {
    const uint32_t k = caucus_plan_evaluate(s->plan);
    if ((!s->trial && !s->has_npy) || k == s->plan->settings.experts)
        return s->row;
    if (caucus_link_evaluate(link, s->which, k) != CAUCUS_OK)
        abort(); /* there is room for all of them */
    for (uint32_t j = 0; j < k; j++)
        s->few[j] = s->row[s->which[j]];
    return s->few;
}

bool caucus_losses_waits(const caucus_losses_source *s) {
    return !s->trial && !s->has_npy && !s->lines.ended;
}

void caucus_losses_read(caucus_losses_source *s) {
    char bytes[READ_BYTES];
    ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0 || !caucus_loss_lines_add(&s->lines, bytes, (size_t)n))
        s->lines.ended = true;
    if (n > 0)
        sodium_memzero(bytes, (size_t)n);
}

caucus_losses_state caucus_losses_next(caucus_losses_source *s, uint64_t round, caucus_error *ret_error) {
    if (s->trial)
        caucus_adversary_fill64(s->trial, s->client, round, 1, s->row);
    else if (s->has_npy)
        caucus_npy_fill64(&s->npy, s->npy.single ? 0 : s->client - 1, round, 1, s->row);
    else
        return caucus_loss_lines_next(&s->lines, s->row, ret_error);
    caucus_status status =
        s->trial ? caucus_adversary_whole(s->adversary, ret_error) : caucus_npy_whole(&s->npy, s->path, ret_error);
    return status == CAUCUS_OK ? CAUCUS_LOSSES_READY : CAUCUS_LOSSES_FAILED;
}
