/* SPDX-License-Identifier: Apache-2.0 */
/* pace.c: see pace.h. */
#include "plan/pace/pace.h"

#include <inttypes.h>

#include "plan/family.h"
#include "plan/stoch.h"

static caucus_status only_own(const char *field, caucus_error *e) {
    return caucus_fail(e, CAUCUS_E_INFEASIBLE, field, "given (accepted only with pace own)");
}

/* What would be ignored is refused. */
static caucus_status together(const caucus_settings *s, caucus_error *e) {
    caucus_settings plain;
    caucus_settings_init(&plain);
    if (s->phase_time != plain.phase_time)
        return only_own("phase-time", e);
    if (s->grace != plain.grace)
        return only_own("grace", e);
    return s->most != plain.most ? only_own("most", e) : CAUCUS_OK;
}

/* Where every slot is a phase like any other it does not matter with which the run begins. */
static caucus_status check_start(const caucus_settings *s, caucus_error *e) {
    if (s->start < 1 || s->start > CAUCUS_START_MAX)
        return caucus_fail(e, CAUCUS_E_RANGE, "start", "%" PRIu64 " (accepted: slots 1 to 2^40)", s->start);
    if (s->start != 1 && !caucus_pace_by_question(s))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "start", "given (accepted only with pace own and unit client)");
    return CAUCUS_OK;
}

static caucus_status check_times(const caucus_settings *s, caucus_error *e) {
    if (s->phase_time < 1 || s->phase_time > CAUCUS_PHASE_TIME_MAX)
        return caucus_fail(e, CAUCUS_E_RANGE, "phase-time", "%u seconds (accepted: 1 second to 366 days)",
                           s->phase_time);
    if (s->grace != CAUCUS_GRACE_AUTO && s->grace >= s->phase_time)
        return caucus_fail(e, CAUCUS_E_RANGE, "grace", "%u seconds (accepted: less than phase-time, which is %u)",
                           s->grace, s->phase_time);
    if (s->most < 1 || s->most > CAUCUS_MOST_MAX)
        return caucus_fail(e, CAUCUS_E_RANGE, "most", "%" PRIu64 " (accepted: 1 to %u losses)", s->most,
                           CAUCUS_MOST_MAX);
    return CAUCUS_OK;
}

/* What has no meaning where devices are not in step, or would need an item to be in two decisions. */
static caucus_status check_fit(const caucus_settings *s, caucus_error *e) {
    if (!caucus_algorithm_takes(s->algorithm, CAUCUS_OPTION_OWN_PACE) || s->calibration == CAUCUS_CALIBRATION_PAPER)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "pace", "own (accepted only for %s with calibration tight)",
                           caucus_option_takers(CAUCUS_OPTION_OWN_PACE, " and ").text);
    if (s->rounds != CAUCUS_ROUNDS_ENDLESS && s->unit != CAUCUS_UNIT_CLIENT)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "rounds",
                           "%" PRIu64 " with pace own (accepted: endless; or unit client, whose rounds are slots of "
                           "phase-time)",
                           s->rounds);
    if (s->rounds == CAUCUS_ROUNDS_ENDLESS && s->unit == CAUCUS_UNIT_CLIENT)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "rounds",
                           "endless with pace own and unit client, to which a device contributes without an end "
                           "(accepted: a number, of slots of phase-time; or unit client-block or event)");
    if ((s->longest_phase != 0 && s->longest_phase != s->most) || (s->first_phase != 1 && s->first_phase != s->most))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, s->longest_phase != 0 ? "longest-phase" : "first-phase",
                           "given (with pace own phases are slots of the clock: phase-time)");
    if (s->loss_shape != CAUCUS_LOSS_SHAPE_LINEAR)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "loss-shape", "convex with pace own (accepted: linear)");
    if (s->trees > 0)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "trees", "%d with pace own (accepted: 0 or auto)", s->trees);
    if (s->message == CAUCUS_MESSAGE_SHORTLIST)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "message",
                           "shortlist with pace own, where an item is one message (accepted: auto, vote, knorm, "
                           "laplace-d, gauss)");
    return CAUCUS_OK;
}

caucus_status caucus_settings_pace(caucus_settings *s, caucus_error *ret_error) {
    caucus_status status = check_start(s, ret_error);
    if (status == CAUCUS_OK && s->pace != CAUCUS_PACE_OWN)
        return together(s, ret_error);
    if (status == CAUCUS_OK)
        status = check_times(s, ret_error);
    if (status == CAUCUS_OK)
        status = check_fit(s, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (s->grace == CAUCUS_GRACE_AUTO) /* a second at least, where that is less than a phase: reports need some time */
        s->grace = s->phase_time >= 32 ? s->phase_time / 16 : s->phase_time > 1;
    if (s->trust == CAUCUS_TRUST_NOBODY && s->message == CAUCUS_MESSAGE_AUTO)
        s->message = CAUCUS_MESSAGE_VOTE; /* a shortlist would be a second message */
    if (!caucus_pace_by_question(s))
        s->longest_phase = s->first_phase = s->most;
    return CAUCUS_OK;
}

uint64_t caucus_pace_question_end(const caucus_settings *s, uint64_t question) {
    return s->start + caucus_stoch_first(s, question + 1) - 1;
}

uint64_t caucus_pace_questions_over(const caucus_settings *s, uint64_t slot) {
    const uint64_t questions = caucus_stoch_phases(s) - 1;
    uint64_t over = 0;
    while (over < questions && caucus_pace_question_end(s, over + 1) <= slot)
        over++;
    return over;
}

bool caucus_pace_over(const caucus_settings *s, uint64_t slot) {
    return caucus_pace_by_question(s) && slot >= s->start + s->rounds;
}

uint64_t caucus_pace_decisions(const caucus_settings *s, uint64_t slots) {
    return caucus_pace_by_question(s) ? caucus_pace_questions_over(s, s->start + slots) : slots;
}
