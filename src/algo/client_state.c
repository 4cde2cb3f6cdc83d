/* SPDX-License-Identifier: Apache-2.0 */
/* client_state.c: a client's state as bytes, and back. See include/caucus/client.h.
 *
 * Draws from a mixture (stoch with trees) go on from a fresh stream after a restart: they are made from what was
 * announced and cost no privacy. */
#include <assert.h>
#include <sodium.h>

#include "algo/announcement_pack.h"
#include "algo/client.h"
#include "algo/machine.h"
#include "algo/pack.h"
#include "algo/schedule.h"
#include "algo/slot/slot.h"
#include "num/checked.h"

#define MAGIC 0x326c4363u /* "cCl2"; "cCl1" had 32-bit rounds and blocks */

/* Which buffer a report points at. */
enum { VALUE_SCALAR, VALUE_SUMS, VALUE_ROOT, VALUE_LEAF, VALUE_COUNT };

static uint32_t value_array(const caucus_client *c) {
    if (c->sums && c->report.value == c->sums)
        return VALUE_SUMS;
    if (caucus_phase_value(c) && c->report.value == caucus_phase_value(c))
        return VALUE_LEAF;
    return c->root && c->report.value == c->root ? VALUE_ROOT : VALUE_SCALAR;
}

static const int64_t *value_at(const caucus_client *c, uint32_t array) {
    const int64_t *arrays[VALUE_COUNT] = {&c->scalar, c->sums, c->root, caucus_phase_value(c)};
    return arrays[array];
}

static void pack_report(caucus_pack *p, caucus_client *c) {
    uint32_t array = value_array(c), kind = (uint32_t)c->report.kind;
    caucus_pack_u32(p, &kind);
    caucus_pack_u64(p, &c->report.first);
    caucus_pack_u64(p, &c->report.block);
    caucus_pack_u64(p, &c->report.epoch_or_leaf);
    caucus_pack_u32(p, &c->report.count);
    caucus_pack_u32(p, &array);
    caucus_pack_below(p, kind, CAUCUS_ASK_SHORTLIST + 1);
    caucus_pack_below(p, array, VALUE_COUNT);
    caucus_pack_below(p, c->report.count, array == VALUE_SCALAR ? 2 : (uint64_t)c->plan->settings.experts + 1);
    if (p->mode == CAUCUS_PACK_READ && !p->failed) {
        c->report.client = c->index;
        c->report.kind = (caucus_ask)kind;
        c->report.value = value_at(c, array);
        p->failed = c->report.value == NULL;
    }
}

static void pack_fields(caucus_pack *p, caucus_client *c) {
    const caucus_plan *plan = c->plan;
    size_t d = plan->settings.experts;
    caucus_pack_head(p, MAGIC, c->index, (uint32_t)d);
    caucus_pack_u64(p, &c->round);
    caucus_pack_below(p, c->round, plan->settings.rounds + 1);
    caucus_pack_announcement(p, plan, &c->heard);
    caucus_pack_bool(p, &c->started);
    caucus_pack_bool(p, &c->made);
    if (caucus_plan_is_endless(plan))
        caucus_pack_bool(p, &c->missed);
    caucus_pack_u32(p, &c->expert);
    caucus_pack_below(p, c->expert, d);
    caucus_pack_i64(p, &c->cost);
    caucus_pack_i64(p, &c->scalar);
    caucus_pack_u64(p, &c->clips.low);
    caucus_pack_u64(p, &c->clips.high);
    caucus_pack_u64(p, &c->clips.nan);
    if (c->ops->pack)
        c->ops->pack(p, c);
    pack_report(p, c);
    caucus_pack_seal(p);
}

size_t caucus_client_state_bytes(const caucus_client *c) {
    caucus_pack p = {.mode = CAUCUS_PACK_MEASURE};
    caucus_client copy = *c;
    pack_fields(&p, &copy);
    sodium_memzero(&copy, sizeof copy);
    return p.used;
}

caucus_status caucus_client_save(const caucus_client *c, uint8_t *ret, size_t ret_bytes) {
    assert(c->borrowed_rounds == 0);
    caucus_pack p = {.mode = CAUCUS_PACK_WRITE, .to = ret, .size = ret_bytes};
    caucus_client copy = *c; /* the report keeps pointing at the original's buffers, or at the copy's scalar */
    if (c->report.value == &c->scalar)
        copy.report.value = &copy.scalar;
    pack_fields(&p, &copy);
    sodium_memzero(&copy, sizeof copy);
    return p.failed ? CAUCUS_E_RANGE : CAUCUS_OK;
}

/* Values as large as a run can make them, so that what is added to them cannot overflow: sums are below 2^62 (checked
 * when the plan was made), and noise is added with saturation there. */
bool caucus_sums_fit(const int64_t *value, size_t count) {
    for (size_t i = 0; value && i < count; i++)
        if (value[i] > CAUCUS_SUM_MAX || value[i] < -CAUCUS_SUM_MAX)
            return false;
    return true;
}

/* A report that has been made answers the announcement in force: it is sent as it is. */
static bool report_fits(const caucus_client *c) {
    const caucus_report *r = &c->report;
    caucus_ask ask = c->heard.ask;
    uint32_t count = ask == CAUCUS_ASK_COST || ask == CAUCUS_ASK_VOTE ? 1
                     : ask == CAUCUS_ASK_SHORTLIST                    ? c->heard.listed
                                                                      : c->plan->settings.experts;
    return c->started && ask != CAUCUS_ASK_NOTHING && r->kind == ask && r->block == c->heard.block && r->count == count;
}

/* What the fields must be to one another; the plan's part in it was checked as they were read. */
static bool is_sound(caucus_client *c) {
    const bool fits =
        !c->made || c->ops == &caucus_slot_client || report_fits(c); /* whose items wait for no question */
    return caucus_sums_fit(&c->cost, 1) && caucus_sums_fit(&c->scalar, 1) && fits && c->ops->sound(c);
}

caucus_status caucus_client_restore(const caucus_plan *plan, uint32_t index, const caucus_key *key,
                                    const uint8_t *state, size_t bytes, caucus_client **ret) {
    caucus_pack p;
    if (!caucus_pack_init_read(&p, state, bytes))
        return CAUCUS_E_FORMAT;
    caucus_client *c = NULL;
    caucus_status status = caucus_client_new(plan, index, key, &c);
    if (status != CAUCUS_OK)
        return status;
    pack_fields(&p, c);
    if (p.failed || !is_sound(c)) {
        caucus_client_free(c);
        return CAUCUS_E_FORMAT;
    }
    caucus_client_set_ready(c);
    c->play_index = c->round; /* lane 1: never the stream that was used before the restart */
    c->play_lane = 1;
    *ret = c;
    return CAUCUS_OK;
}

uint64_t caucus_client_heard(const caucus_client *c) {
    return c->started ? c->heard.serial + 1 : 0;
}
