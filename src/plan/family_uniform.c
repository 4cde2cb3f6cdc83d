/* family_uniform.c: uniform in the plan: a fresh uniform expert for every block, whatever was lost.
 *
 * Nothing that is announced or reported depends on a loss, so nothing is spent and nothing is calibrated; and nothing is
 * learnt, so nothing is proved. docs/PRIVACY.md, "Uniform". */
#include "plan/family.h"

static uint64_t blocks(const caucus_plan *plan) {
    return (plan->settings.rounds - 1) / plan->settings.interval + 1;
}

static uint64_t selections(const caucus_plan *plan) {
    return blocks(plan) - 1;
}

static caucus_status calibrate(caucus_plan *plan, caucus_error *ret_error) {
    (void)plan, (void)ret_error;
    return CAUCUS_OK;
}

static caucus_status bound(caucus_plan *plan) {
    plan->bound_kind = CAUCUS_BOUND_NONE;
    plan->bound = plan->bound_uncapped = (double)plan->settings.rounds * (plan->settings.hi - plan->settings.lo);
    return CAUCUS_OK;
}

static caucus_status account(const caucus_plan *plan, caucus_guarantee *ret, caucus_error *ret_error) {
    (void)plan, (void)ret_error;
    ret->epsilon_choices = 0;
    return CAUCUS_OK;
}

static void walk(caucus_walker *w, caucus_plan *plan) {
    uint64_t count = blocks(plan);
    w->open(w, "uniform");
    caucus_walk_u64(w, "blocks", &count);
    w->close(w);
}

const caucus_plan_ops caucus_plan_uniform = {
    .variant = {{CAUCUS_ALGORITHM_UNIFORM, "Uniform", .alone = false}},
    .options = CAUCUS_OPTION_INTERVAL,
    .calibrate = calibrate,
    .bound = bound,
    .account = account,
    .walk = walk,
    .blocks = blocks,
    .selections = selections,
};
