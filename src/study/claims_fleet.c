/* SPDX-License-Identifier: Apache-2.0 */
/* claims_fleet.c: what must hold of fleets, and whether it did. See claims.c.
 * layer: study */
#include <math.h>
#include <stdio.h>

#include "study/parts.h"

#define FOLLOWS 0.1     /* of what doubling phases lose, after four changes */
#define DEVICE_MOST 1.0 /* regret per client of 2,000 with epsilon 1 for a whole device, in 1,024 rounds */
#define FEW_MOST 3.0    /* regret per client of 500 that evaluate one expert of 20, in 1,024 rounds */

static void judge_changes(caucus_study *study) {
    const caucus_summary doubling = caucus_study_fleet_at(caucus_study_fleet_series(study, "changes-doubling"), 5),
                         following = caucus_study_fleet_at(caucus_study_fleet_series(study, "changes-auto"), 5);
    /* written so that a regret that is no number fails */
    caucus_claim *claim = caucus_study_claim(
        study, CAUCUS_SECTION_FLEET, following.mean <= FOLLOWS * doubling.mean,
        "four changes of the best expert: a longest phase loses at most a tenth of phases that double");
    (void)snprintf(claim->measured, sizeof claim->measured, "%.0f ± %.0f against %.0f ± %.0f", following.mean,
                   following.std, doubling.mean, doubling.std);
}

static void judge_few(caucus_study *study) {
    const caucus_summary one = caucus_study_fleet_at(caucus_study_fleet_series(study, "evaluate-500"), 1),
                         all = caucus_study_fleet_at(caucus_study_fleet_series(study, "evaluate-500"), 20);
    caucus_claim *claim =
        caucus_study_claim(study, CAUCUS_SECTION_FLEET, one.mean <= FEW_MOST,
                           "500 clients that evaluate one expert of 20 lose at most 3 in 1,024 rounds");
    (void)snprintf(claim->measured, sizeof claim->measured, "%.2f ± %.2f (evaluating all: %.2f ± %.2f)", one.mean,
                   one.std, all.mean, all.std);
}

static void judge_device(caucus_study *study) {
    const caucus_summary whole = caucus_study_fleet_at(caucus_study_fleet_series(study, "device-whole"), 2000),
                         few = caucus_study_fleet_at(caucus_study_fleet_series(study, "device-whole"), 100);
    caucus_claim *claim =
        caucus_study_claim(study, CAUCUS_SECTION_FLEET, whole.mean <= DEVICE_MOST,
                           "epsilon 1 for a whole device: 2,000 clients lose at most 1 in 1,024 rounds");
    (void)snprintf(claim->measured, sizeof claim->measured, "%.2f ± %.2f (100 clients: %.1f ± %.1f)", whole.mean,
                   whole.std, few.mean, few.std);
}

void caucus_study_judge_fleet(caucus_study *study) {
    if (study->fleet.count == 0)
        return;
    judge_changes(study);
    judge_few(study);
    judge_device(study);
}
