/* SPDX-License-Identifier: Apache-2.0 */
/* svt_coordinator.c: Fed-SVT. Keep the expert in force until it has cost too much, then choose another.
 *
 * After each block but the last: q (what the expert has cost all clients since it was chosen) plus fresh noise is
 * compared with a noisy threshold. If it is above, the exponential mechanism chooses on
 * score(y) = max(cum(y), m*Lstar), an epoch ends and the next begins with q = 0 and a fresh threshold. Every verdict is
 * announced, "keep" included. At most `switches` selections are made; then the expert stays in force for good, or to
 * the end of the cycle where the run renews itself: there sums, q, threshold and the number of selections begin again,
 * with the expert in force, and nothing is decided from the cycle's last block (docs/PRIVACY.md, statement 16).
 * Without an end and without renewal the threshold grows with the number of the check, and when one more block could
 * bring a sum to 2^62 nothing more is asked (docs/PRIVACY.md, statement 17).
 * docs/PRIVACY.md, statement 9: epsilon = eps_AT + sum of eta_k.
 *
 * Protocol two-step: a block's report is one number, vectors are asked for only when a check fires. Protocol paper: a
 * vector every block. Both see the same q and the same scores, so they announce the same experts. */
#include <stdlib.h>

#include <caucus/select.h>

#include "algo/machine.h"
#include "dp/growth.h"

#define CHECKS_A_STREAM 8u

static void open_epoch(caucus_coordinator *c) {
    const caucus_svt_plan *plan = &c->plan->svt;
    uint64_t k = caucus_coordinator_epoch(c);
    caucus_stream stream;
    caucus_coordinator_stream(c, &stream, CAUCUS_PURPOSE_THRESHOLD, 0, k);
    caucus_threshold_begin(&c->threshold, k, c->now.expert, plan->threshold[c->selections - c->cycle_first],
                           &plan->threshold_noise, &stream);
    caucus_stream_wipe(&stream);
}

/* Ask about the block after `block`, if there is still anything to decide from it. */
static void ask_next(caucus_coordinator *c, uint64_t block) {
    bool vectors = c->plan->settings.protocol == CAUCUS_PROTOCOL_PAPER;
    const uint64_t blocks = c->plan->svt.blocks;
    const bool room = c->plan->settings.renew != 0 || block < c->plan->svt.checks;
    bool more = block + 1 < blocks && room &&
                (c->threshold.open || vectors || caucus_cycle_follows(&c->plan->settings, block, blocks));
    caucus_ask ask = !more ? CAUCUS_ASK_NOTHING : vectors ? CAUCUS_ASK_SUMS : CAUCUS_ASK_COST;
    caucus_coordinator_announce(c, ask, more ? block + 1 : block, 0);
}

static caucus_status svt_new(caucus_coordinator *c) {
    const uint32_t m = c->plan->settings.clients, d = c->plan->settings.experts;
    c->cost_next = caucus_progress_new(m, 1);
    c->sums_next = caucus_progress_new(m, 1);
    c->cum = calloc(d, sizeof *c->cum);
    c->score = calloc(d, sizeof *c->score);
    if (!c->cost_next || !c->sums_next || !c->cum || !c->score)
        return CAUCUS_E_MEMORY;
    if (c->plan->svt.switches > 0)
        open_epoch(c);
    ask_next(c, 0);
    c->now.serial = 0;
    return CAUCUS_OK;
}

/* Add what the expert in force cost in the report's block to q, if the report is about this epoch. */
static inline void add_cost(const caucus_coordinator *c, caucus_partial *p, const caucus_report *r, int64_t cost) {
    if (!c->threshold.open || r->epoch_or_leaf != c->threshold.epoch)
        return;
    if (cost < 0 || cost > c->plan->grid) { /* more than one round can cost */
        int64_t most = caucus_coordinator_most(c, r->block, r->block);
        cost = cost < 0 ? 0 : cost > most ? most : cost;
    }
    p->epoch = r->epoch_or_leaf;
    p->expert = c->now.expert;
    p->q += cost; /* all of them together: below 2^62 in every plan */
}

/* The threshold refuses cost of another expert or epoch (docs/PRIVACY.md, "Lemma AT"). */
static void svt_take(caucus_coordinator *c, const caucus_partial *p) {
    if (p->q != 0 && caucus_threshold_add(&c->threshold, p->epoch, p->expert, p->q) != CAUCUS_OK)
        abort();
}

/* One number: what the expert in force cost this client in one block. Late ones about the expert in force still count;
 * about an earlier expert they are ignored (their losses arrive with the next vector). Each is counted once, in order;
 * in a run without an end those of a client that was away are left out.
 * A report about an epoch that has not begun yet is refused: no honest client can make one, and counting it would mark
 * the block as reported (cost_next) although its cost went nowhere. */
static inline caucus_status check_cost(const caucus_coordinator *c, const caucus_report *r) {
    const uint64_t next = caucus_progress_get(c->cost_next, r->client - 1);
    if (r->first != r->block || r->epoch_or_leaf > c->now.epoch)
        return CAUCUS_E_RANGE;
    if (r->block < next)
        return CAUCUS_E_DUPLICATE;
    const bool follows = r->block == next || caucus_plan_is_endless(c->plan);
    return !follows || c->now.ask == CAUCUS_ASK_NOTHING || r->block > c->now.block ? CAUCUS_E_ORDER : CAUCUS_OK;
}

static caucus_status count_cost(const caucus_coordinator *c, caucus_partial *p, const caucus_report *r) {
    caucus_status status = r->count == 1 ? check_cost(c, r) : CAUCUS_E_RANGE;
    if (status != CAUCUS_OK)
        return status;
    add_cost(c, p, r, r->value[0]);
    p->answered += caucus_coordinator_note(c, r);
    return CAUCUS_OK;
}

static bool is_cost(const caucus_coordinator *c, const caucus_report *r) {
    return r->kind == CAUCUS_ASK_COST && c->plan->settings.protocol == CAUCUS_PROTOCOL_TWO_STEP;
}

static caucus_status svt_check(const caucus_coordinator *c, const caucus_report *r) {
    return is_cost(c, r) ? check_cost(c, r) : caucus_coordinator_check_sums(c, r);
}

static caucus_status svt_count(const caucus_coordinator *c, caucus_partial *p, const caucus_report *r) {
    if (is_cost(c, r))
        return count_cost(c, p, r);
    caucus_status status = caucus_coordinator_count_sums(c, p, r);
    if (status == CAUCUS_OK && c->plan->settings.protocol == CAUCUS_PROTOCOL_PAPER && r->first == r->block)
        add_cost(c, p, r, r->value[c->now.expert]);
    return status;
}

/* The stream of the check of `block`, at its draw. Eight checks share a stream, which is one block of ChaCha20, and
 * each has its place in it: a coordinator that was restored draws what comes before and throws it away. */
static caucus_stream *check_stream(caucus_coordinator *c, uint64_t block) {
    uint64_t before = block % CHECKS_A_STREAM;
    if (c->check_next != block || before == 0) {
        caucus_coordinator_stream(c, &c->check_stream, CAUCUS_PURPOSE_CHECK, 0, block / CHECKS_A_STREAM);
        for (uint64_t k = 0; k < before; k++)
            (void)caucus_noise_draw(&c->check_stream, &c->plan->svt.check_noise);
    }
    c->check_next = block + 1;
    return &c->check_stream;
}

static bool check(caucus_coordinator *c) {
    bool fired = false;
    const caucus_noise *noise = &c->plan->svt.check_noise;
    const int64_t more = caucus_settings_grow(&c->plan->settings) ? caucus_growth(noise->parameter, c->now.block) : 0;
    caucus_stream *stream = check_stream(c, c->now.block);
    if (caucus_threshold_check_raised(&c->threshold, more, noise, stream, &fired) != CAUCUS_OK)
        abort(); /* only called with an open epoch */
    c->checks++;
    return fired;
}

static void choose(caucus_coordinator *c) {
    const caucus_svt_plan *plan = &c->plan->svt;
    uint32_t d = c->plan->settings.experts;
    for (uint32_t y = 0; y < d; y++)
        c->score[y] = c->cum[y] > plan->score_floor ? c->cum[y] : plan->score_floor;
    caucus_stream stream;
    caucus_coordinator_stream(c, &stream, CAUCUS_PURPOSE_SELECT, 0, c->selections);
    c->now.expert = caucus_select_exponential(&stream, c->score, d, plan->select_rate[c->selections - c->cycle_first]);
    caucus_stream_wipe(&stream);
    caucus_coordinator_selected(c);
    c->now.epoch = caucus_coordinator_epoch(c);
    if (c->selections - c->cycle_first < plan->switches)
        open_epoch(c);
}

static void renew(caucus_coordinator *c) {
    caucus_coordinator_renewed(c, c->now.block);
    open_epoch(c);
}

static void svt_decide(caucus_coordinator *c) {
    uint64_t block = c->now.block;
    bool two_step = c->plan->settings.protocol == CAUCUS_PROTOCOL_TWO_STEP;
    if (c->now.ask == CAUCUS_ASK_SUMS && two_step) {
        choose(c);
    } else if (caucus_cycle_ends(&c->plan->settings, block)) {
        renew(c);
    } else if (c->threshold.open && check(c)) {
        if (two_step) {
            caucus_coordinator_announce(c, CAUCUS_ASK_SUMS, block, 0);
            return;
        }
        choose(c);
    }
    ask_next(c, block);
}

static void pack_threshold(caucus_pack *p, caucus_threshold *at) {
    caucus_pack_u32(p, &at->expert);
    caucus_pack_u64(p, &at->epoch);
    caucus_pack_bool(p, &at->open);
    caucus_pack_i64(p, &at->q);
    caucus_pack_i64(p, &at->theta);
    caucus_pack_u64(p, &at->checks);
}

static void svt_pack(caucus_pack *p, caucus_coordinator *c) {
    pack_threshold(p, &c->threshold);
    caucus_pack_progress(p, c->cost_next);
    caucus_pack_progress(p, c->sums_next);
    caucus_pack_i64s(p, c->cum, c->plan->settings.experts);
}

static bool svt_sound(caucus_coordinator *c) {
    const caucus_plan *plan = c->plan;
    bool two_step = plan->settings.protocol == CAUCUS_PROTOCOL_TWO_STEP;
    const uint64_t made = c->selections - c->cycle_first; /* in this cycle */
    if (made > plan->svt.switches)
        return false;
    if (two_step && c->now.ask == CAUCUS_ASK_SUMS && (c->threshold.open || made == plan->svt.switches))
        return false; /* vectors are asked for when a check has fired, and only if a selection is left */
    if (two_step && c->now.ask == CAUCUS_ASK_COST && !c->threshold.open && plan->settings.renew == 0)
        return false; /* without renewal nothing would come of it */
    /* An open epoch is about the expert in force, and has a selection left to end with. */
    return !c->threshold.open || (c->threshold.expert == c->now.expert &&
                                  c->threshold.epoch == caucus_coordinator_epoch(c) && made < plan->svt.switches);
}

/* The checks of all epochs together, then one selection after another. */
static uint64_t svt_releases(const caucus_plan *plan) {
    return (uint64_t)plan->svt.switches + 1;
}

static caucus_u128 svt_spent(const caucus_plan *plan, uint64_t n, caucus_u128 *sum) {
    caucus_rational t = plan->svt.threshold_noise.parameter, q = plan->svt.check_noise.parameter;
    *sum += n == 1 ? caucus_releases_amount(plan, 1, caucus_rational_compare(t, q) > 0 ? t : q)
                   : caucus_releases_amount(plan, 2, plan->svt.select_rate[n - 2]);
    return caucus_releases_steps(*sum);
}

static caucus_status svt_record(caucus_releases *r, const caucus_announcement *before, const caucus_announcement *after,
                                caucus_error *ret_error) {
    const caucus_svt_plan *svt = &r->plan->svt;
    if (svt->switches == 0)
        return CAUCUS_OK;
    caucus_status status = CAUCUS_OK;
    if (r->plan->settings.renew != 0)
        return caucus_releases_once(r, before->block, "cycles", ret_error);
    if (r->taken == 0)
        status = caucus_releases_take(r, before->block, "checks", ret_error);
    while (status == CAUCUS_OK && r->taken - 1 < after->epoch && r->taken - 1 < svt->switches)
        status = caucus_releases_take(r, before->block, "selection", ret_error);
    return status;
}

const caucus_machine_ops caucus_machine_svt = {
    .client = &caucus_block_client,
    .costs = true,
    .new = svt_new,
    .check = svt_check,
    .count = svt_count,
    .take = svt_take,
    .decide = svt_decide,
    .asks = caucus_block_asks,
    .pack = svt_pack,
    .sound = svt_sound,
    .record = svt_record,
    .spent = svt_spent,
    .releases = svt_releases,
};
