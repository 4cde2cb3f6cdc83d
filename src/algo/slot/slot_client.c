/* SPDX-License-Identifier: Apache-2.0 */
/* slot_client.c: a client at its own pace: losses by slots of its device's clock, one item outstanding.
 *
 * The machine reads no clock: its caller says which slot it is. Losses go into the open slot; when the slot number
 * rises they go over to the complete slots, and an item is made of those alone, never in place. So a slot is in at most
 * one item, whatever the coordinator asks, repeats, withholds or acknowledges falsely: the proof rests on that
 * (docs/PRIVACY.md, statement 19). The rules, by their numbers there:
 *   1  two buffers, the open slot and the complete ones;
 *   2  one item outstanding: a new one needs the last one acknowledged, a question, and a slot completed since;
 *   3  items are numbered 1, 2, ... by the client, and noise is named by that number, never by one that was sent to it;
 *   4  an item, the sums that it leaves behind, the slot and the number of losses seen are one saved state;
 *   5  who has lost its state, or is told of items that it does not know, begins anew with the next slot;
 *   6  of announcements the newest counts.
 * A slot counts its first `most` losses. One that would make an item of more than `most` losses is left out whole: what
 * of the open slot counts must not depend on how much there was in an earlier one, which may be in another item.
 *
 * Unit client (docs/PRIVACY.md, statement 32): sums are of all slots of the run that are over and go on; question p is
 * answered once, in or after the slot that follows those it is about, by the device's clock, and an item has its
 * question's number, so that numbers only rise and noise is drawn once for each. An item whose question is decided is
 * dropped and never made again. Who has no state takes all questions that are over for answered. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include <caucus/select.h>

#include "algo/look/look.h"
#include "algo/machine.h"
#include "algo/slot/slot.h"
#include "algo/wipe.h"
#include "dp/wide.h"
#include "plan/pace/pace.h"

/* c->own: this, and behind it the sums of the open slot [d] and of the complete slots [d]. */
typedef struct slot_own {
    uint64_t slot;       /* of the device's clock, the highest heard of */
    uint64_t next;       /* number of the next item, or of the one that is outstanding */
    uint64_t open_count; /* losses in the open slot's sums */
    uint64_t done_count; /* and in those of the complete slots */
    bool has_slot;       /* a slot has been heard of */
    bool passing;        /* the open slot is not counted (rule 5) */
    bool complete;       /* a slot was completed since the last item was made */
    int64_t sums[];
} slot_own;

static slot_own *own_of(const caucus_client *c) {
    return c->own;
}

static bool by_question(const caucus_client *c) {
    return caucus_pace_by_question(&c->plan->settings);
}

/* Losses that the complete slots may hold: what one item counts, or all that count of every slot of the run. */
static uint64_t most_done(const caucus_client *c) {
    const caucus_settings *s = &c->plan->settings;
    return by_question(c) ? s->rounds * s->most : s->most;
}

static int64_t *open_sums(const caucus_client *c) {
    return own_of(c)->sums;
}

static int64_t *done_sums(const caucus_client *c) {
    return own_of(c)->sums + c->plan->settings.experts;
}

static size_t slot_own_bytes(const caucus_plan *plan) {
    return sizeof(slot_own) + 2 * (size_t)plan->settings.experts * sizeof(int64_t);
}

static caucus_status slot_new(caucus_client *c, const caucus_client *first) {
    (void)first;
    own_of(c)->next = 1;
    c->own_value = calloc(c->plan->settings.experts, sizeof *c->own_value);
    return c->own_value ? CAUCUS_OK : CAUCUS_E_MEMORY;
}

static void slot_free(caucus_client *c) {
    caucus_wipe_free(c->own_value, c->plan->settings.experts * sizeof *c->own_value);
}

static size_t slot_rows(const caucus_plan *plan) {
    (void)plan;
    return 1; /* the item; the sums are in c->own */
}

static void clear(int64_t *sums, const caucus_client *c) {
    memset(sums, 0, c->plan->settings.experts * sizeof *sums);
}

/* The open slot is over. */
static void complete_slot(caucus_client *c) {
    slot_own *own = own_of(c);
    if (!own->passing && own->open_count <= most_done(c) - own->done_count) {
        for (uint32_t y = 0; y < c->plan->settings.experts; y++)
            done_sums(c)[y] += open_sums(c)[y];
        own->done_count += own->open_count;
    }
    own->complete |= !own->passing;
    own->passing = false;
    own->open_count = 0;
    clear(open_sums(c), c);
}

/* What was answered before is not known: questions that are over by this device's clock may have been. */
static void pass_over(caucus_client *c) {
    slot_own *own = own_of(c);
    if (!by_question(c) || !own->has_slot)
        return;
    const uint64_t over = caucus_pace_questions_over(&c->plan->settings, own->slot);
    if (own->next <= over)
        own->next = over + 1;
}

caucus_status caucus_client_slot(caucus_client *c, uint64_t slot) {
    if (c->ops != &caucus_slot_client)
        return CAUCUS_E_ORDER;
    slot_own *own = own_of(c);
    if (!own->has_slot) { /* what was seen of this slot before is not known: the next one is the first that counts */
        own->has_slot = own->passing = true;
        own->slot = slot;
        pass_over(c);
    } else if (slot > own->slot) {
        complete_slot(c);
        own->slot = slot;
    }
    if (by_question(c)) {
        own->passing |= own->slot < c->plan->settings.start || caucus_pace_over(&c->plan->settings, own->slot);
        caucus_client_set_ready(c); /* the run may be over */
    }
    return CAUCUS_OK;
}

static void forget_item(caucus_client *c) {
    clear(c->own_value, c);
    c->scalar = 0;
    c->made = false;
}

/* Forget sums and item; the open slot is passed over. */
static void begin_anew(caucus_client *c, uint64_t next) {
    slot_own *own = own_of(c);
    own->next = next;
    own->open_count = own->done_count = 0;
    own->complete = false;
    own->passing = own->has_slot;
    clear(open_sums(c), c);
    clear(done_sums(c), c);
    forget_item(c);
    pass_over(c);
}

caucus_status caucus_client_acknowledge(caucus_client *c, uint64_t next) {
    if (c->ops != &caucus_slot_client)
        return CAUCUS_E_ORDER;
    slot_own *own = own_of(c);
    if (next == 0 || next >> 63 != 0)
        return CAUCUS_E_FORMAT;
    if (c->made && next == own->next + 1) {
        own->next = next;
        forget_item(c);
    } else if (next > own->next) {
        begin_anew(c, next);
    } /* else: it is not counted yet, or the coordinator is mistaken: what is outstanding stays so */
    return CAUCUS_OK;
}

uint64_t caucus_client_item(const caucus_client *c) {
    return c->ops == &caucus_slot_client ? own_of(c)->next : 0;
}

/* What phase p is learnt from is asked for by question p - 1. */
static uint64_t question_of(const caucus_announcement *a) {
    return a->block - 1;
}

caucus_status caucus_slot_hear(caucus_client *c, const caucus_announcement *a) {
    const bool forward = !c->started || (c->heard.ask != CAUCUS_ASK_NOTHING && a->block > c->heard.block);
    const bool last = a->ask == CAUCUS_ASK_NOTHING && by_question(c); /* no question is open any more */
    const bool rises = !c->started || c->heard.ask != CAUCUS_ASK_NOTHING;
    if (a->expert >= c->plan->settings.experts || a->listed > 0 || (last ? !rises : !forward) ||
        (!last && !caucus_machine_ops_of(c->plan)->asks(c->plan, a)))
        return CAUCUS_E_FORMAT;
    c->heard = *a;
    c->expert = a->expert;
    c->started = true;
    if (by_question(c) && c->made && (last || question_of(a) > own_of(c)->next)) { /* it came too late */
        own_of(c)->next++;
        forget_item(c);
    }
    caucus_client_set_ready(c);
    return CAUCUS_OK;
}

/* Play every row; count the first ones of the slot. Losses out of range are counted once, when they are added up. */
static void slot_observe(caucus_client *c, caucus_rows rows, uint64_t rounds) {
    const size_t d = c->plan->settings.experts;
    slot_own *own = own_of(c);
    uint64_t counted = 0;
    if (own->has_slot && !own->passing) {
        const uint64_t left = c->plan->settings.most - own->open_count;
        counted = rounds < left ? rounds : left;
    }
    if (counted > 0) {
        const int64_t before = open_sums(c)[c->expert];
        caucus_rows_add(c, open_sums(c), rows, counted);
        c->cost += open_sums(c)[c->expert] - before;
        own->open_count += counted;
    }
    for (uint64_t r = counted; r < rounds; r++)
        c->cost += caucus_rows_loss(c, rows, (size_t)r * d + c->expert);
    c->round += rounds;
}

/* What the complete slots come to: the rounded mean, or the sums; zeros where nothing was seen. Where the loss of the
 * expert in force is shown the coordinator is told that it was nothing, in as many bytes as anything else takes, and
 * counts zeros all the same. */
static void make_value(caucus_client *c) {
    const slot_own *own = own_of(c);
    const int64_t n = (int64_t)own->done_count;
    const bool means = caucus_settings_means(&c->plan->settings);
    const bool told = n == 0 && c->plan->settings.show_loss > 0;
    const caucus_ratio one = caucus_ratio_prepare(1, n > 0 ? (uint64_t)n : 1);
    for (uint32_t y = 0; y < c->plan->settings.experts; y++) {
        const int64_t sum = done_sums(c)[y];
        c->own_value[y] = told ? CAUCUS_LOOK_UNSEEN : means && n > 0 ? caucus_rounded_mean(sum, n, &one) : sum;
    }
}

/* Noise is named by the item's own number. Whether anything was seen changes nothing but the values. Phases are all
 * alike, or each has its share of epsilon (unit client). */
static void make_private(caucus_client *c) {
    const caucus_stoch_phase *phase = caucus_stoch_phase_of(c->plan, by_question(c) ? c->heard.block : 2);
    caucus_stream stream;
    caucus_stream_init(&stream, &c->key, CAUCUS_PURPOSE_MESSAGE, own_of(c)->next, 0, 0);
    if (c->heard.ask == CAUCUS_ASK_VOTE) {
        c->scalar = caucus_select_flip(&stream, c->own_value, c->plan->settings.experts, phase->vote_rate);
        clear(c->own_value, c);
    } else {
        caucus_noise_add(&stream, &phase->vertex_noise[0], c->own_value, c->plan->settings.experts);
    }
    caucus_stream_wipe(&stream);
}

/* Is there something to be said to what is asked? */
static bool is_due(const caucus_client *c) {
    const slot_own *own = own_of(c);
    if (!c->started || c->heard.ask == CAUCUS_ASK_NOTHING)
        return false;
    if (!by_question(c))
        return own->complete;
    const uint64_t question = question_of(&c->heard);
    return own->has_slot && question >= own->next &&
           own->slot >= caucus_pace_question_end(&c->plan->settings, question);
}

const caucus_report *caucus_slot_report(caucus_client *c) {
    slot_own *own = own_of(c);
    if (c->made && !caucus_client_stopped(c))
        return &c->report;
    if (!is_due(c))
        return NULL;
    const bool vote = c->heard.ask == CAUCUS_ASK_VOTE;
    if (by_question(c))
        own->next = question_of(&c->heard);
    make_value(c);
    if (c->plan->settings.trust == CAUCUS_TRUST_NOBODY)
        make_private(c);
    c->report = (caucus_report){.client = c->index,
                                .kind = c->heard.ask,
                                .first = own->next,
                                .block = own->next,
                                .count = vote ? 1 : c->plan->settings.experts,
                                .value = vote ? &c->scalar : c->own_value};
    own->complete = false;
    if (!by_question(c)) { /* else its sums go on */
        own->done_count = 0;
        clear(done_sums(c), c);
    }
    c->made = true;
    return &c->report;
}

bool caucus_slot_over(const caucus_client *c) {
    return caucus_announcement_stops(&c->heard) ||
           (c->heard.ask == CAUCUS_ASK_NOTHING && caucus_pace_over(&c->plan->settings, own_of(c)->slot));
}

static void slot_pack(caucus_pack *p, caucus_client *c) {
    slot_own *own = own_of(c);
    const size_t d = c->plan->settings.experts;
    caucus_pack_u64(p, &own->slot);
    caucus_pack_u64(p, &own->next);
    caucus_pack_u64(p, &own->open_count);
    caucus_pack_u64(p, &own->done_count);
    caucus_pack_bool(p, &own->has_slot);
    caucus_pack_bool(p, &own->passing);
    caucus_pack_bool(p, &own->complete);
    caucus_pack_i64s(p, own->sums, 2 * d);
    caucus_pack_i64s(p, c->own_value, d);
}

static bool within(const int64_t *sums, uint64_t count, const caucus_client *c) {
    for (uint32_t y = 0; y < c->plan->settings.experts; y++)
        if (sums[y] < 0 || sums[y] > (int64_t)count * c->plan->grid)
            return false;
    return true;
}

static bool slot_sound(caucus_client *c) {
    const slot_own *own = own_of(c);
    const caucus_report *r = &c->report;
    if (own->next == 0 || own->next >> 63 != 0 || own->open_count > c->plan->settings.most ||
        own->done_count > most_done(c) || (own->passing && (!own->has_slot || own->open_count > 0)) ||
        !within(open_sums(c), own->open_count, c) || !within(done_sums(c), own->done_count, c) ||
        !caucus_sums_fit(c->own_value, c->plan->settings.experts))
        return false;
    const bool vote = r->kind == CAUCUS_ASK_VOTE;
    const caucus_announcement asked = {.ask = r->kind, .block = by_question(c) ? own->next + 1 : 2};
    return !c->made ||
           (c->started && caucus_machine_ops_of(c->plan)->asks(c->plan, &asked) && r->first == own->next &&
            r->block == own->next && r->epoch_or_leaf == 0 && r->count == (vote ? 1 : c->plan->settings.experts) &&
            r->value == (vote ? &c->scalar : c->own_value));
}

const caucus_client_ops caucus_slot_client = {
    .own_bytes = slot_own_bytes,
    .new = slot_new,
    .free = slot_free,
    .rows = slot_rows,
    .observe = slot_observe,
    .pack = slot_pack,
    .sound = slot_sound,
};
