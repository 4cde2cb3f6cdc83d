/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c: the words people write, the defaults, and what can be refused without calibrating.
 * layer: plan
 *
 * Every refusal is one line that names the field, its value and what is accepted. */
#include "num/choice.h"
#include "num/int128.h"
#include "plan/family.h"
#include "plan/pace/pace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Every choice: its words, and whether a value is one of them. */
#define CHOICE_FUNCTIONS(type, field, LIST)                                                                            \
    CAUCUS_CHOICE_WORDS(type, LIST)                                                                                    \
    CAUCUS_CHOICE_PARSE(type, field)                                                                                   \
    static caucus_status check_##type(caucus_##type value, caucus_error *ret_error) {                                  \
        if ((size_t)value < type##_count)                                                                              \
            return CAUCUS_OK;                                                                                          \
        return caucus_choice_refuse(type##_choices, type##_count, field, "missing", ret_error);                        \
    }

CHOICE_FUNCTIONS(algorithm, "algorithm", CAUCUS_ALGORITHM_LIST)
CHOICE_FUNCTIONS(trust, "trust", CAUCUS_TRUST_LIST)
CHOICE_FUNCTIONS(calibration, "calibration", CAUCUS_CALIBRATION_LIST)
CHOICE_FUNCTIONS(protocol, "protocol", CAUCUS_PROTOCOL_LIST)
CHOICE_FUNCTIONS(unit, "unit", CAUCUS_UNIT_LIST)
CHOICE_FUNCTIONS(select, "select", CAUCUS_SELECT_LIST)
CHOICE_FUNCTIONS(message, "message", CAUCUS_MESSAGE_LIST)
CHOICE_FUNCTIONS(loss_shape, "loss-shape", CAUCUS_LOSS_SHAPE_LIST)
CHOICE_FUNCTIONS(pace, "pace", CAUCUS_PACE_LIST)

void caucus_settings_init(caucus_settings *ret) {
    *ret = (caucus_settings){
        .size = sizeof *ret,
        .algorithm = CAUCUS_ALGORITHM_SVT,
        .trust = CAUCUS_TRUST_COUNT, /* nobody is trusted by default, and nobody is distrusted: it must be said */
        .calibration = CAUCUS_CALIBRATION_TIGHT,
        .protocol = CAUCUS_PROTOCOL_TWO_STEP,
        .unit = CAUCUS_UNIT_EVENT,
        .select = CAUCUS_SELECT_AUTO,
        .message = CAUCUS_MESSAGE_AUTO,
        .loss_shape = CAUCUS_LOSS_SHAPE_LINEAR,
        .clients = 10,
        .experts = 100,
        .rounds = 512,
        .interval = 1,
        .epsilon = 1,
        .delta = 0,
        .rho = 0.05,
        .lstar = 0,
        .lo = 0,
        .hi = 1,
        .trees = CAUCUS_TREES_AUTO,
        .lipschitz = 1,
        .smoothness = 0,
        .first_phase = 1,
        .changes = 1,
        .pace = CAUCUS_PACE_TOGETHER,
        .phase_time = 86400,
        .grace = CAUCUS_GRACE_AUTO,
        .most = 64,
        .start = 1,
        .nominal_rounds = CAUCUS_NOMINAL_ROUNDS,
    };
}

static bool takes(const caucus_settings *s, caucus_plan_option option) {
    return caucus_algorithm_takes(s->algorithm, option);
}

static caucus_status check_choices(const caucus_settings *s, caucus_error *e) {
    caucus_status status = CAUCUS_OK;
#define CHECK_NEXT(type)                                                                                               \
    if (status == CAUCUS_OK)                                                                                           \
        status = check_##type(s->type, e);
    CAUCUS_EACH_CHOICE(CHECK_NEXT)
    CHECK_NEXT(loss_shape)
    CHECK_NEXT(pace)
#undef CHECK_NEXT
    return status;
}

static caucus_status whole(const char *field, uint64_t value, uint32_t least, uint32_t most, caucus_error *e) {
    if (value >= least && value <= most)
        return CAUCUS_OK;
    return caucus_fail(e, CAUCUS_E_RANGE, field, "%" PRIu64 " (accepted: %u to %u)", value, least, most);
}

static caucus_status check_phases(const caucus_settings *s, caucus_error *e) {
    caucus_status status = whole("first-phase", s->first_phase, 1, 1u << 30, e);
    if (status == CAUCUS_OK && s->longest_phase != 0 && s->longest_phase != CAUCUS_PHASE_AUTO)
        status = whole("longest-phase", s->longest_phase, 1, 1u << 30, e);
    if (status == CAUCUS_OK && !(s->changes > 0 && s->changes <= 1000))
        status = caucus_fail(e, CAUCUS_E_RANGE, "changes",
                             "%.10g (accepted: above 0, at most 1000, per 1,000 rounds; where nothing changes leave "
                             "longest-phase out)",
                             s->changes);
    return status;
}

static caucus_status check_sizes(const caucus_settings *s, caucus_error *e) {
    caucus_status status = whole("clients", s->clients, 1, 1u << 24, e);
    if (status == CAUCUS_OK)
        status = whole("experts", s->experts, 2, 1u << 20, e);
    if (status == CAUCUS_OK && s->rounds != CAUCUS_ROUNDS_ENDLESS)
        status = whole("rounds", s->rounds, 1, 1u << 30, e);
    if (status == CAUCUS_OK)
        status = s->interval == CAUCUS_INTERVAL_AUTO ? CAUCUS_OK : whole("interval", s->interval, 1, 1u << 30, e);
    if (status == CAUCUS_OK && s->grid > 1u << 20)
        status = caucus_fail(e, CAUCUS_E_RANGE, "grid", "%u (accepted: 1 to %u, or 0 to choose)", s->grid, 1u << 20);
    if (status == CAUCUS_OK && (s->trees < CAUCUS_TREES_AUTO || s->trees > CAUCUS_TREES_MAX))
        status = caucus_fail(e, CAUCUS_E_RANGE, "trees", "%d (accepted: 0 to %d, or auto)", s->trees, CAUCUS_TREES_MAX);
    return status == CAUCUS_OK ? check_phases(s, e) : status;
}

/* Written so that NaN fails each condition. */
static caucus_status check_reals(const caucus_settings *s, caucus_error *e) {
    if (!(s->epsilon > 0 && (s->epsilon <= 1000 || isinf(s->epsilon))))
        return caucus_fail(e, CAUCUS_E_RANGE, "epsilon", "%.10g (accepted: above 0, at most 1000; or infinite)",
                           s->epsilon);
    if (!(s->delta >= 0 && s->delta < 0.1))
        return caucus_fail(e, CAUCUS_E_RANGE, "delta", "%.10g (accepted: 0 for pure privacy, or above 0 and below 0.1)",
                           s->delta);
    if (!(s->rho > 0 && s->rho <= 0.5))
        return caucus_fail(e, CAUCUS_E_RANGE, "rho", "%.10g (accepted: above 0, at most 0.5)", s->rho);
    if (!isfinite(s->lo))
        return caucus_fail(e, CAUCUS_E_RANGE, "lo", "%.10g (accepted: a finite number)", s->lo);
    if (!isfinite(s->hi) || !(s->hi > s->lo))
        return caucus_fail(e, CAUCUS_E_RANGE, "hi", "%.10g (accepted: a finite number above lo, which is %.10g)", s->hi,
                           s->lo);
    double width = s->hi - s->lo;
    if (!(width >= 1e-200 && width <= 1e200)) /* so that G/(hi-lo) and sums in loss units stay finite */
        return caucus_fail(e, CAUCUS_E_RANGE, "hi", "hi - lo is %.10g (accepted: 1e-200 to 1e200)", width);
    if (!(s->lstar >= 0 && s->lstar <= (double)s->rounds * width))
        return caucus_fail(e, CAUCUS_E_RANGE, "lstar", "%.10g (accepted: 0 to rounds*(hi-lo) = %.10g)", s->lstar,
                           (double)s->rounds * width);
    if (!(s->lipschitz > 0) || !isfinite(s->lipschitz))
        return caucus_fail(e, CAUCUS_E_RANGE, "lipschitz", "%.10g (accepted: finite, above 0)", s->lipschitz);
    if (!(s->smoothness >= 0) || !isfinite(s->smoothness))
        return caucus_fail(e, CAUCUS_E_RANGE, "smoothness", "%.10g (accepted: finite, 0 or above)", s->smoothness);
    return CAUCUS_OK;
}

/* Which algorithm can do what is asked of trust, calibration and budget. */
static caucus_status check_privacy(const caucus_settings *s, caucus_error *e) {
    const char *algorithm = caucus_algorithm_word(s->algorithm);
    if (s->trust != CAUCUS_TRUST_COORDINATOR && !takes(s, CAUCUS_OPTION_TRUST))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "trust",
                           "%s with %s, whose messages are sums in clear "
                           "(accepted: coordinator; or algorithm %s)",
                           caucus_trust_word(s->trust), algorithm,
                           caucus_option_takers(CAUCUS_OPTION_TRUST, ", ").text);
    if (s->trust == CAUCUS_TRUST_PAPER_LOCAL && s->calibration != CAUCUS_CALIBRATION_PAPER)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "trust",
                           "paper-local is for reproducing the paper "
                           "(accepted with calibration paper; for messages that are private use trust nobody)");
    if (s->trust == CAUCUS_TRUST_NOBODY && s->calibration == CAUCUS_CALIBRATION_PAPER)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "calibration",
                           "paper with trust nobody: the paper has no message-private "
                           "calibration; use trust paper-local or calibration tight");
    if (s->calibration == CAUCUS_CALIBRATION_PAPER && !takes(s, CAUCUS_OPTION_PAPER))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "calibration",
                           "paper with %s, which is not in the paper (accepted: tight)", algorithm);
    if (isinf(s->epsilon) && !takes(s, CAUCUS_OPTION_NO_PRIVACY))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "epsilon",
                           "infinite with %s (accepted: above 0, at most 1000; "
                           "without privacy use algorithm %s)",
                           algorithm, caucus_option_takers(CAUCUS_OPTION_NO_PRIVACY, " or ").text);
    if (s->unit == CAUCUS_UNIT_CLIENT_BLOCK && !takes(s, CAUCUS_OPTION_CLIENT_BLOCK))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "unit", "client-block with %s (accepted: event; or algorithm %s)",
                           algorithm, caucus_option_takers(CAUCUS_OPTION_CLIENT_BLOCK, ", ").text);
    if (s->unit == CAUCUS_UNIT_CLIENT && !takes(s, CAUCUS_OPTION_CLIENT))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "unit", "client with %s (accepted: event%s; or algorithm %s)",
                           algorithm, takes(s, CAUCUS_OPTION_CLIENT_BLOCK) ? ", client-block" : "",
                           caucus_option_takers(CAUCUS_OPTION_CLIENT, ", ").text);
    if (s->unit == CAUCUS_UNIT_CLIENT_BLOCK && s->trees > 0)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "trees",
                           "%d with unit client-block, where a client's block enters one "
                           "selection (accepted: 0 or auto)",
                           s->trees);
    return CAUCUS_OK;
}

/* Options that belong to one algorithm or one trust model: given elsewhere they would be ignored, so they are refused.
 * Those whose default cannot be told from a value that was asked for (rho, and leader's privacy) are left to the front
 * end, which knows what was given. */
static caucus_status check_mechanisms(const caucus_settings *s, caucus_error *e) {
    if (s->select != CAUCUS_SELECT_AUTO && (!takes(s, CAUCUS_OPTION_SELECT) || s->trust != CAUCUS_TRUST_COORDINATOR))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "select",
                           "%s (accepted: auto; others only for %s with trust coordinator)",
                           caucus_select_word(s->select), caucus_option_takers(CAUCUS_OPTION_SELECT, " and ").text);
    if (s->message != CAUCUS_MESSAGE_AUTO && (!takes(s, CAUCUS_OPTION_TRUST) || s->trust != CAUCUS_TRUST_NOBODY))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "message",
                           "%s (accepted: auto; others only for %s with trust nobody)", caucus_message_word(s->message),
                           caucus_option_takers(CAUCUS_OPTION_TRUST, " and ").text);
    if (s->message == CAUCUS_MESSAGE_GAUSS && !(s->delta > 0))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "delta",
                           "0 with message gauss, which is never purely private "
                           "(accepted: above 0, below 0.1; 1e-6 is usual)");
    if ((s->message == CAUCUS_MESSAGE_VOTE || s->message == CAUCUS_MESSAGE_SHORTLIST) && s->trees > 0)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "trees",
                           "%d with message %s, which sends no sums to build trees from "
                           "(accepted: 0 or auto; or message knorm, laplace-d, gauss)",
                           s->trees, caucus_message_word(s->message));
    if (s->trees > 0 && !takes(s, CAUCUS_OPTION_TREES))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "trees", "%d with %s (accepted: auto; trees are for %s)", s->trees,
                           caucus_algorithm_word(s->algorithm),
                           caucus_option_takers(CAUCUS_OPTION_TREES, " and ").text);
    return CAUCUS_OK;
}

static caucus_status check_options(const caucus_settings *s, caucus_error *e) {
    const char *algorithm = caucus_algorithm_word(s->algorithm);
    if (s->protocol == CAUCUS_PROTOCOL_PAPER && !takes(s, CAUCUS_OPTION_PROTOCOL))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "protocol",
                           "paper with %s (accepted: two-step; the choice exists for %s)", algorithm,
                           caucus_option_takers(CAUCUS_OPTION_PROTOCOL, " and ").text);
    if (s->interval > 1 && !takes(s, CAUCUS_OPTION_INTERVAL))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "interval",
                           "%" PRIu64 " with %s, which reports once per phase (accepted: 1)", s->interval, algorithm);
    if (s->interval == CAUCUS_INTERVAL_AUTO && !takes(s, CAUCUS_OPTION_INTERVAL_AUTO))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "interval",
                           "auto with %s (accepted: a number of rounds; auto is for %s)", algorithm,
                           caucus_option_takers(CAUCUS_OPTION_INTERVAL_AUTO, " and ").text);
    if (s->lstar > 0 && !takes(s, CAUCUS_OPTION_LSTAR))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "lstar", "%.10g with %s (accepted: 0; only %s use it)", s->lstar,
                           algorithm, caucus_option_takers(CAUCUS_OPTION_LSTAR, " and ").text);
    if (s->front_load && (!takes(s, CAUCUS_OPTION_FRONT_LOAD) || s->calibration == CAUCUS_CALIBRATION_PAPER))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "front-load", "true (accepted only for %s with calibration tight)",
                           caucus_option_takers(CAUCUS_OPTION_FRONT_LOAD, " and ").text);
    if (s->loss_shape == CAUCUS_LOSS_SHAPE_CONVEX && !takes(s, CAUCUS_OPTION_CONVEX))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "loss-shape", "convex with %s (accepted: linear; or algorithm %s)",
                           algorithm, caucus_option_takers(CAUCUS_OPTION_CONVEX, ", ").text);
    if (s->loss_shape == CAUCUS_LOSS_SHAPE_LINEAR && s->smoothness > 0)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "smoothness",
                           "%.10g with linear losses, whose gradient never changes "
                           "(accepted: 0; or loss-shape convex)",
                           s->smoothness);
    if (s->loss_shape == CAUCUS_LOSS_SHAPE_LINEAR && s->lipschitz != 1)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "lipschitz",
                           "%.10g with linear losses (accepted: 1; give their range as "
                           "lo and hi, or use loss-shape convex)",
                           s->lipschitz);
    if (s->past_phases &&
        (!takes(s, CAUCUS_OPTION_PAST_PHASES) || s->trust != CAUCUS_TRUST_COORDINATOR ||
         s->loss_shape != CAUCUS_LOSS_SHAPE_LINEAR || s->trees > 0 || s->calibration == CAUCUS_CALIBRATION_PAPER))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "past-phases",
                           "true (accepted only for %s with trust coordinator, linear losses, no trees, "
                           "calibration tight)",
                           caucus_option_takers(CAUCUS_OPTION_PAST_PHASES, " and ").text);
    return CAUCUS_OK;
}

static caucus_status check_longest(const caucus_settings *s, caucus_error *e) {
    if (s->longest_phase == 0 && s->first_phase > 1)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "first-phase", "%" PRIu64 " (accepted only with longest-phase)",
                           s->first_phase);
    if (s->longest_phase == 0)
        return CAUCUS_OK;
    if (!takes(s, CAUCUS_OPTION_LONGEST_PHASE) || s->calibration == CAUCUS_CALIBRATION_PAPER)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "longest-phase",
                           "given (accepted only for %s with calibration tight)",
                           caucus_option_takers(CAUCUS_OPTION_LONGEST_PHASE, " and ").text);
    if (s->longest_phase == CAUCUS_PHASE_AUTO && s->trust != CAUCUS_TRUST_COORDINATOR)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "longest-phase",
                           "auto with trust %s, where no bound says which is best (accepted: a number; 64 is usual)",
                           caucus_trust_word(s->trust));
    if (s->longest_phase == CAUCUS_PHASE_AUTO && s->loss_shape != CAUCUS_LOSS_SHAPE_LINEAR)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "longest-phase", "auto with convex losses (accepted: a number)");
    return CAUCUS_OK;
}

static caucus_status check_renew(const caucus_settings *s, caucus_error *e) {
    if (s->renew == 0)
        return CAUCUS_OK;
    if (!takes(s, CAUCUS_OPTION_RENEW) || s->calibration == CAUCUS_CALIBRATION_PAPER ||
        s->protocol == CAUCUS_PROTOCOL_PAPER || s->front_load)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "renew",
                           "%" PRIu64
                           " (accepted only for %s with calibration tight, protocol two-step and no front-load)",
                           s->renew, caucus_option_takers(CAUCUS_OPTION_RENEW, " and ").text);
    const uint64_t interval = s->interval == CAUCUS_INTERVAL_AUTO ? 1 : s->interval; /* auto: one of its divisors */
    if (s->renew > 1u << 30 || s->renew % interval != 0 || s->renew / interval < 2)
        return caucus_fail(e, CAUCUS_E_RANGE, "renew",
                           "%" PRIu64 " (accepted: a multiple of interval, which is %" PRIu64
                           ", two blocks or more and at most %u rounds)",
                           s->renew, interval, 1u << 30);
    return CAUCUS_OK;
}

/* Thresholds that grow are made for what tight calibration draws, sent in two steps. */
static caucus_status check_nominal(const caucus_settings *s, caucus_error *e) {
    if (!caucus_settings_grow(s))
        return s->nominal_rounds == CAUCUS_NOMINAL_ROUNDS
                   ? CAUCUS_OK
                   : caucus_fail(e, CAUCUS_E_INFEASIBLE, "nominal-rounds",
                                 "%" PRIu64 " (accepted only for %s with rounds endless and without renew)",
                                 s->nominal_rounds, caucus_option_takers(CAUCUS_OPTION_NOMINAL, " and ").text);
    if (s->nominal_rounds < s->interval || s->nominal_rounds > 1u << 30)
        return caucus_fail(e, CAUCUS_E_RANGE, "nominal-rounds",
                           "%" PRIu64 " (accepted: a block, %" PRIu64 ", to %u rounds)", s->nominal_rounds, s->interval,
                           1u << 30);
    if (s->calibration == CAUCUS_CALIBRATION_PAPER || s->protocol == CAUCUS_PROTOCOL_PAPER || s->front_load)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "rounds",
                           "endless with %s (accepted: a number; or calibration tight, protocol two-step and no "
                           "front-load)",
                           s->front_load                                ? "front-load"
                           : s->calibration == CAUCUS_CALIBRATION_PAPER ? "calibration paper"
                                                                        : "protocol paper");
    return CAUCUS_OK;
}

/* A run without an end must not add up without an end: phases of at most W rounds, cycles that begin again, or
 * thresholds that grow, of which the coordinator stops before a sum could leave 62 bits. */
static caucus_status check_endless(const caucus_settings *s, caucus_error *e) {
    if (s->rounds != CAUCUS_ROUNDS_ENDLESS)
        return CAUCUS_OK;
    const char *algorithm = caucus_algorithm_word(s->algorithm);
    const bool phases = takes(s, CAUCUS_OPTION_LONGEST_PHASE), cycles = takes(s, CAUCUS_OPTION_RENEW);
    if (!phases && !cycles)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "rounds", "endless with %s (accepted: a number)", algorithm);
    if (phases ? s->longest_phase == 0 : s->renew == 0 && !caucus_settings_grow(s))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "rounds", "endless with %s (accepted only with %s)", algorithm,
                           phases ? "longest-phase" : "renew");
    if (s->loss_shape != CAUCUS_LOSS_SHAPE_LINEAR || s->trees > 0)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "rounds",
                           "endless with %s (accepted: a number; or linear losses without trees)",
                           s->trees > 0 ? "trees" : "convex losses");
    return CAUCUS_OK;
}

/* Every sum is below m*n*G, n the rounds that it spans; grid 0 may still become 2^16. */
static caucus_status check_sums(const caucus_settings *s, caucus_error *e) {
    uint64_t grid = s->grid != 0 ? s->grid : 1u << 16;
    const caucus_u128 records = (caucus_u128)s->clients * caucus_settings_span(s); /* at most 2^74 */
    if (records < (((uint64_t)1 << 62) + grid - 1) / grid)
        return CAUCUS_OK;
    return caucus_fail(e, CAUCUS_E_OVERFLOW, "rounds",
                       "%" PRIu64 " rounds of %u clients on a grid of %llu steps "
                       "(accepted: clients * rounds * grid below 2^62)",
                       caucus_settings_span(s), s->clients, (unsigned long long)grid);
}

/* Every size that a version of the struct had: what a caller does not know of yet has its default. */
static const size_t shapes[] = {offsetof(caucus_settings, grid),           offsetof(caucus_settings, longest_phase),
                                offsetof(caucus_settings, names),          offsetof(caucus_settings, pace),
                                offsetof(caucus_settings, nominal_rounds), offsetof(caucus_settings, evaluate),
                                offsetof(caucus_settings, growth),         offsetof(caucus_settings, show_loss),
                                offsetof(caucus_settings, start),          sizeof(caucus_settings)};

caucus_status caucus_settings_take(const caucus_settings *given, caucus_settings *ret, caucus_error *ret_error) {
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (given->size == shapes[i]) {
            caucus_settings_init(ret);
            memcpy(ret, given, given->size);
            ret->size = sizeof *ret;
            return CAUCUS_OK;
        }
    return caucus_fail(
        ret_error, CAUCUS_E_RANGE, "size",
        given->size > sizeof *ret
            ? "%zu: settings of a later version of caucus than this library, which knows %zu bytes of them"
            : "%zu (accepted: what caucus_settings_init() sets, %zu)",
        given->size, sizeof *ret);
}

caucus_status caucus_settings_check(caucus_settings *settings, caucus_error *ret_error) {
    caucus_settings s = {0};
    caucus_status status = caucus_settings_take(settings, &s, ret_error);
    if (status == CAUCUS_OK)
        status = check_choices(&s, ret_error);
    if (status == CAUCUS_OK)
        status = check_sizes(&s, ret_error);
    if (status == CAUCUS_OK)
        status = check_reals(&s, ret_error);
    if (status != CAUCUS_OK)
        return status;
    const caucus_variant *variant = caucus_algorithm_variant(s.algorithm);
    if (variant->alone)
        s.clients = 1;
    if (variant->reference) { /* nothing about privacy applies to it */
        s.epsilon = INFINITY;
        s.delta = 0;
        s.unit = CAUCUS_UNIT_EVENT;
        s.calibration = CAUCUS_CALIBRATION_TIGHT;
    }
    status = caucus_settings_pace(&s, ret_error);
    if (status == CAUCUS_OK)
        status = check_privacy(&s, ret_error);
    if (status == CAUCUS_OK)
        status = check_mechanisms(&s, ret_error);
    if (status == CAUCUS_OK)
        status = check_options(&s, ret_error);
    if (status == CAUCUS_OK)
        status = check_longest(&s, ret_error);
    if (status == CAUCUS_OK)
        status = check_renew(&s, ret_error);
    if (status == CAUCUS_OK)
        status = check_nominal(&s, ret_error);
    if (status == CAUCUS_OK)
        status = check_endless(&s, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_settings_check_evaluate(&s, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_settings_check_client(&s, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_settings_check_look(&s, ret_error);
    if (status == CAUCUS_OK)
        status = check_sums(&s, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_settings_check_names(&s, ret_error);
    if (status == CAUCUS_OK) {
        s.size = settings->size;
        memcpy(settings, &s, s.size);
    }
    return status;
}
