/* SPDX-License-Identifier: Apache-2.0 */
/* join_pace.c: see join_pace.h.
 *
 * Simulated losses are played as the simulator plays them (sim/slot/slot_trial.c): the beginning of a slot with the
 * expert of the slot before, then nothing until the decision of this slot was heard, then the rest. All clients do so,
 * and a seeded coordinator decides when all have answered, so that a live run is the simulation, expert for expert.
 *
 * The link saves its state whenever it is given losses, and that takes a disk some milliseconds: lines that can be read
 * already are given to it together. */
#include "cli/join/join_pace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "algo/wipe.h"
#include "num/fail.h"
#include "plan/pace/pace.h"
#include "sim/slot/activity.h"

/* Rows that are given at once: at most so many, and of many experts no more than fit into so many bytes. */
#define ROWS_MOST 256
#define ROWS_BYTES ((size_t)1 << 18)

/* After the end of the input: how long a coordinator that cannot be reached is waited for, and how long it must have
 * said nothing more. It says what is new together with its welcome. */
#define END_MOST_MS 20000
#define END_QUIET_MS 150

caucus_status caucus_join_pace_begin(caucus_join_pace *p, caucus_error *ret_error) {
    const size_t bytes = p->plan->settings.experts * sizeof *p->rows, fit = ROWS_BYTES / bytes;
    p->room = p->delay_ms > 0 || fit < 1 ? 1 : fit < ROWS_MOST ? fit : ROWS_MOST;
    p->rows = malloc(p->room * bytes);
    return p->rows ? CAUCUS_OK : caucus_fail_memory(ret_error, "losses");
}

void caucus_join_pace_end(caucus_join_pace *p) {
    if (p->rows)
        caucus_wipe_free(p->rows, p->room * p->plan->settings.experts * sizeof *p->rows);
    p->rows = NULL;
}

static void pause_ms(double ms) {
    struct timespec t = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(fmod(ms, 1000) * 1e6)};
    if (ms > 0)
        (void)nanosleep(&t, NULL);
}

/* One line for each expert that is new. Returns: false if standard output is gone. */
static bool print_expert(caucus_join_pace *p) {
    const uint32_t expert = caucus_link_expert(p->link);
    if (p->printed == expert + 1)
        return true;
    p->printed = expert + 1;
    caucus_losses_ask(p->losses, p->link, 0);
    return fflush(stdout) == 0;
}

static caucus_pace_state state_of(caucus_status status) {
    return status == CAUCUS_OK       ? CAUCUS_PACE_PLAYED
           : status == CAUCUS_E_SAVE ? CAUCUS_PACE_UNSAVED
                                     : CAUCUS_PACE_BROKEN;
}

/* The row that the losses' source has just read becomes number `at` of those that are given together. */
static void put_row(caucus_join_pace *p, size_t at) {
    const size_t d = p->plan->settings.experts;
    memcpy(p->rows + at * d, p->losses->row, d * sizeof *p->rows);
}

static caucus_pace_state give_rows(caucus_join_pace *p, size_t count, caucus_error *ret_error) {
    pause_ms(p->delay_ms);
    return state_of(caucus_link_observe_rows(p->link, p->rows, count, ret_error));
}

/* Simulated losses of the slot in hand, until `count` of them are seen. */
static caucus_pace_state observe_up_to(caucus_join_pace *p, uint64_t count, caucus_error *ret_error) {
    caucus_pace_state state = CAUCUS_PACE_PLAYED;
    while (state == CAUCUS_PACE_PLAYED && caucus_link_round(p->link) < p->slot_before + count) {
        const uint64_t seen = caucus_link_round(p->link) - p->slot_before;
        size_t rows = 0;
        for (; rows < p->room && seen + rows < count; rows++) {
            const uint64_t row = p->slot * CAUCUS_SLOT_ROWS + seen + rows;
            if (caucus_losses_next(p->losses, row, ret_error) != CAUCUS_LOSSES_READY)
                return CAUCUS_PACE_FAILED;
            put_row(p, rows);
        }
        state = give_rows(p, rows, ret_error);
    }
    return state;
}

static caucus_pace_state play_simulated(caucus_join_pace *p, caucus_error *ret_error) {
    while (p->slot < p->play) {
        const caucus_activity seen = caucus_activity_of(p->plan, p->losses->trial, p->client, p->slot);
        if (!p->entered) {
            const uint64_t start = p->plan->settings.start;
            caucus_pace_state state = p->slot > 0 ? CAUCUS_PACE_PLAYED /* the first slot of all does not count */
                                                  : state_of(caucus_link_slot(p->link, start - 1, ret_error));
            if (state == CAUCUS_PACE_PLAYED)
                state = state_of(caucus_link_slot(p->link, start + p->slot, ret_error));
            if (state == CAUCUS_PACE_PLAYED)
                state = observe_up_to(p, seen.early, ret_error);
            if (state != CAUCUS_PACE_PLAYED)
                return state;
            p->entered = true;
        }
        const uint64_t decisions = caucus_pace_decisions(&p->plan->settings, p->slot);
        if (p->slot > 0 && caucus_client_heard(caucus_link_client(p->link)) <= decisions)
            return CAUCUS_PACE_WAITS; /* for this slot's decision */
        if (!print_expert(p))
            return CAUCUS_PACE_FAILED;
        caucus_pace_state state = observe_up_to(p, seen.early + seen.late, ret_error);
        if (state != CAUCUS_PACE_PLAYED)
            return state;
        p->slot_before += seen.early + seen.late;
        p->slot++;
        p->entered = false;
    }
    p->ended = true;
    return CAUCUS_PACE_PLAYED;
}

/* The slot of this device's clock. */
static uint64_t clock_slot(const caucus_join_pace *p) {
    const time_t now = time(NULL);
    return now > 0 ? (uint64_t)now / p->plan->settings.phase_time : 0;
}

/* Rows that are there now, into p->rows. Returns: how many; p->next is what ended them. */
static size_t gather(caucus_join_pace *p) {
    for (size_t rows = 0; rows < p->room; rows++) {
        const uint64_t round = caucus_link_round(p->link) + rows;
        if (p->losses->has_npy && round >= p->play)
            p->next = CAUCUS_LOSSES_ENDED;
        else
            p->next = caucus_losses_next(p->losses, round, &p->wrong);
        if (p->next != CAUCUS_LOSSES_READY)
            return rows;
        put_row(p, rows);
    }
    return p->room;
}

static caucus_pace_state play_lines(caucus_join_pace *p, caucus_error *ret_error) {
    if (p->next == CAUCUS_LOSSES_READY) {
        const size_t rows = gather(p);
        if (p->next == CAUCUS_LOSSES_LATER && rows > 0)
            p->next = CAUCUS_LOSSES_READY; /* more may have come by then */
        if (rows > 0)
            return give_rows(p, rows, ret_error);
    }
    const caucus_losses_state next = p->next;
    p->next = CAUCUS_LOSSES_READY;
    *ret_error = p->wrong;
    switch (next) {
    case CAUCUS_LOSSES_READY:
        break;
    case CAUCUS_LOSSES_SLOT:
        return state_of(caucus_link_slot(p->link, p->losses->lines.slot, ret_error));
    case CAUCUS_LOSSES_LATER:
        return CAUCUS_PACE_WAITS;
    case CAUCUS_LOSSES_WRONG:
        return CAUCUS_PACE_WRONG;
    case CAUCUS_LOSSES_FAILED:
        return CAUCUS_PACE_FAILED;
    case CAUCUS_LOSSES_ENDED:
        p->ended = true;
        break;
    }
    return CAUCUS_PACE_PLAYED;
}

caucus_pace_state caucus_join_pace_turn(caucus_join_pace *p, caucus_error *ret_error) {
    if (p->losses->trial)
        return play_simulated(p, ret_error);
    if (!p->seeded) {
        caucus_pace_state state = state_of(caucus_link_slot(p->link, clock_slot(p), ret_error));
        if (state != CAUCUS_PACE_PLAYED)
            return state;
    }
    if (!print_expert(p))
        return CAUCUS_PACE_FAILED;
    if (p->ended)
        return CAUCUS_PACE_WAITS;
    return play_lines(p, ret_error);
}

void caucus_join_pace_mind_end(caucus_join_pace *p, int64_t now_ms) {
    if (!p->ended || p->over)
        return;
    caucus_link_counts counts;
    caucus_link_counts_init(&counts);
    const bool reported = caucus_link_has_reported(p->link) && caucus_link_count(p->link, &counts) == CAUCUS_OK;
    if (p->ended_ms == 0)
        p->ended_ms = now_ms;
    if (!reported || p->quiet_ms == 0 || counts.bytes_received != p->received)
        p->quiet_ms = reported ? now_ms : 0;
    p->received = counts.bytes_received;
    p->reported = reported && now_ms - p->quiet_ms >= END_QUIET_MS;
    p->over = p->losses->trial || p->reported || now_ms - p->ended_ms >= END_MOST_MS;
}
