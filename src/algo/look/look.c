/* SPDX-License-Identifier: Apache-2.0 */
/* look.c: see look.h.
 *
 * Own pace: a device that has seen nothing must not change the divisor, or who has seen something would be told. It is
 * counted as if it had seen the last figure that was shown, which is public; before the first one half of the range. */
#include "algo/look/look.h"

#include <stdlib.h>
#include <string.h>

#include <caucus/samplers.h>

#include "num/checked.h"
#include "plan/stoch/look.h"

caucus_status caucus_look_new(caucus_coordinator *c) {
    if (!caucus_look_shows(c->plan))
        return CAUCUS_OK;
    c->look = calloc(1, sizeof *c->look);
    return c->look ? CAUCUS_OK : CAUCUS_E_MEMORY;
}

/* The last figure as a mean on the grid, rounded down, within it. */
static int64_t last_figure(const caucus_coordinator *c) {
    const struct caucus_looking *look = c->look;
    if (look->count == 0)
        return c->plan->grid / 2;
    const int64_t sum = look->shown[0].sum;
    const uint64_t mean = sum > 0 ? (uint64_t)sum / look->shown[0].divisor : 0;
    return mean < (uint64_t)c->plan->grid ? (int64_t)mean : c->plan->grid;
}

/* The latest first. */
static void keep(struct caucus_looking *look, const caucus_shown *shown) {
    const uint32_t kept = look->count < CAUCUS_LOOKS ? look->count : CAUCUS_LOOKS - 1;
    memmove(look->shown + 1, look->shown, kept * sizeof look->shown[0]);
    look->shown[0] = *shown;
    look->count = kept + 1;
}

void caucus_look_take(caucus_coordinator *c, uint64_t divisor) {
    struct caucus_looking *look = c->look;
    if (!look)
        return;
    const int64_t unseen = (int64_t)look->unseen;
    look->unseen = 0;
    if (!caucus_look_wanted(c->plan, caucus_coordinator_phase(c), divisor, c->answered))
        return;
    caucus_shown shown = {.phase = c->now.block - 1,
                          .divisor = divisor,
                          .sum = c->sum[c->now.expert] + unseen * last_figure(c), /* m*G at most: the plan's limits */
                          .expert = c->now.expert,
                          .answers = c->answered};
    if (c->plan->settings.show_loss > 0) {
        caucus_stream stream;
        caucus_coordinator_stream(c, &stream, CAUCUS_PURPOSE_LOOK, c->now.block, 0);
        caucus_noise_add(&stream, &c->plan->stoch.show_noise, &shown.sum, 1);
        caucus_stream_wipe(&stream);
    }
    keep(look, &shown);
}

void caucus_look_init(caucus_look *ret) {
    *ret = (caucus_look){.size = sizeof *ret};
}

uint32_t caucus_coordinator_looks(const caucus_coordinator *c) {
    return c->look ? c->look->count : 0;
}

static double within(const caucus_settings *s, double loss) {
    return loss < s->lo ? s->lo : loss > s->hi ? s->hi : loss;
}

caucus_status caucus_coordinator_look(const caucus_coordinator *c, uint32_t index, caucus_look *ret) {
    if (index >= caucus_coordinator_looks(c) || ret->size != sizeof *ret) /* the only size there has been */
        return CAUCUS_E_RANGE;
    const caucus_shown *shown = &c->look->shown[index];
    const caucus_stoch_phase *phase = caucus_stoch_phase_of(c->plan, shown->phase + 1);
    const double loss = caucus_look_loss(c->plan, shown->sum, shown->divisor);
    const double half = caucus_look_half(c->plan, phase, shown->divisor, shown->answers);
    ret->phase = shown->phase;
    ret->expert = shown->expert;
    ret->clients = shown->answers;
    ret->loss = within(&c->plan->settings, loss);
    ret->low = within(&c->plan->settings, loss - half);
    ret->high = within(&c->plan->settings, loss + half);
    return CAUCUS_OK;
}

uint32_t caucus_look_all(const caucus_coordinator *c, caucus_look *ret, uint32_t ret_count) {
    uint32_t count = 0;
    while (count < ret_count) {
        caucus_look look;
        caucus_look_init(&look);
        if (caucus_coordinator_look(c, count, &look) != CAUCUS_OK)
            break;
        ret[count++] = look;
    }
    return count;
}

void caucus_look_pack(caucus_pack *p, caucus_coordinator *c) {
    struct caucus_looking *look = c->look;
    if (!look)
        return;
    caucus_pack_u64(p, &look->unseen);
    caucus_pack_u32(p, &look->count);
    for (size_t i = 0; i < CAUCUS_LOOKS; i++) {
        caucus_shown *shown = &look->shown[i];
        caucus_pack_u64(p, &shown->phase);
        caucus_pack_u64(p, &shown->divisor);
        caucus_pack_i64s(p, &shown->sum, 1);
        caucus_pack_u32(p, &shown->expert);
        caucus_pack_u32(p, &shown->answers);
    }
}

/* One figure of a phase at most, of phases that are over; no more behind it than all clients can have seen. */
bool caucus_look_sound(const caucus_coordinator *c) {
    const struct caucus_looking *look = c->look;
    const caucus_settings *s = &c->plan->settings;
    if (!look)
        return true;
    if (look->count > CAUCUS_LOOKS || look->unseen > c->answered)
        return false;
    for (uint32_t i = 0; i < look->count; i++) {
        const caucus_shown *shown = &look->shown[i];
        const uint64_t before = i == 0 ? c->now.block : look->shown[i - 1].phase;
        if (shown->phase < 1 || shown->phase >= before || shown->expert >= s->experts || shown->divisor < 1 ||
            shown->answers < 1 || shown->answers > s->clients ||
            shown->divisor > (uint64_t)s->clients * caucus_stoch_length(s, shown->phase))
            return false;
    }
    return true;
}
