/* SPDX-License-Identifier: Apache-2.0 */
/* settings_evaluate.c: whether clients may evaluate some experts only. See evaluate.h. */
#include "plan/family.h"

caucus_status caucus_settings_check_evaluate(caucus_settings *s, caucus_error *e) {
    if (s->evaluate > s->experts)
        return caucus_fail(e, CAUCUS_E_RANGE, "evaluate", "%u of %u experts (accepted: 1 to %u)", s->evaluate,
                           s->experts, s->experts);
    if (s->evaluate == s->experts)
        s->evaluate = 0; /* all of them, in their order: a plan like any other */
    if (s->evaluate == 0)
        return CAUCUS_OK;
    if (!caucus_algorithm_takes(s->algorithm, CAUCUS_OPTION_EVALUATE))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "evaluate",
                           "%u of %u experts with %s, which needs the losses of all (accepted: %u; or algorithm %s)",
                           s->evaluate, s->experts, caucus_algorithm_word(s->algorithm), s->experts,
                           caucus_option_takers(CAUCUS_OPTION_EVALUATE, ", ").text);
    if (s->trust != CAUCUS_TRUST_COORDINATOR)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "evaluate",
                           "%u of %u experts with trust %s, where each client's own sums decide "
                           "(accepted: %u; or trust coordinator)",
                           s->evaluate, s->experts, caucus_trust_word(s->trust), s->experts);
    if (s->loss_shape != CAUCUS_LOSS_SHAPE_LINEAR || s->trees > 0 || s->calibration == CAUCUS_CALIBRATION_PAPER)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "evaluate",
                           "%u of %u experts (accepted only for linear losses without trees, calibration tight)",
                           s->evaluate, s->experts);
    if (s->pace == CAUCUS_PACE_OWN)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "evaluate",
                           "%u of %u experts with pace own, where nobody knows who has seen how many losses "
                           "(accepted: %u)",
                           s->evaluate, s->experts, s->experts);
    if (s->longest_phase == CAUCUS_PHASE_AUTO && s->unit != CAUCUS_UNIT_EVENT)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "longest-phase",
                           "auto with evaluate and unit %s (accepted: a number; 64 is usual)",
                           caucus_unit_word(s->unit));
    return CAUCUS_OK;
}
