/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_trial.c: releases of a trial. See ledger_trial.h; algo/releases.c says what each decision costs. */
#include "sim/ledger_trial.h"

#include "algo/releases.h"

typedef struct recorder {
    caucus_releases releases;
    caucus_announcement last;
    caucus_status status;
    caucus_error *error;
} recorder;

static void watch(void *user, uint64_t round, const caucus_announcement *a) {
    recorder *r = user;
    /* The first expert is drawn before any loss. */
    if (round > 0 && r->status == CAUCUS_OK)
        r->status = caucus_releases_record(&r->releases, &r->last, a, r->error);
    r->last = *a;
}

caucus_status caucus_ledger_trial(caucus_ledger *ledger, uint32_t run, const caucus_plan *plan,
                                  const caucus_adversary *adversary, uint64_t seed, const volatile int *stop,
                                  bool *ret_played, caucus_trial_result *ret_result, caucus_error *ret_error) {
    recorder r = {.error = ret_error};
    caucus_releases_init(&r.releases, plan, ledger, run);
    if (r.releases.none) {
        *ret_played = false;
        return CAUCUS_OK;
    }
    caucus_trial_result result;
    caucus_status status = caucus_trial_play(plan, adversary, seed, 0, stop, watch, &r, &result);
    if (status == CAUCUS_OK && r.status == CAUCUS_OK) {
        *ret_played = true;
        *ret_result = result;
    }
    if (status == CAUCUS_OK)
        return r.status;
    if (status == CAUCUS_E_CHANGED)
        return caucus_adversary_whole(adversary, ret_error);
    return caucus_fail(ret_error, status, "ledger", "%s", caucus_status_text(status));
}
