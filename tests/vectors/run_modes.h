/* SPDX-License-Identifier: Apache-2.0 */
/* run_modes.h: the modes of which docs/vectors/runs.json has a whole short run each (docs/VECTORS.md). */
#ifndef TESTS_VECTORS_RUN_MODES_H
#define TESTS_VECTORS_RUN_MODES_H

#include "vectors.h"

enum { CLIENTS = 2, EXPERTS = 4, ROUNDS = 15 };

/* The largest coordinate of a convex loss's gradient grows by so much of the mixture. */
#define CURVATURE 0.5

/* A mode: its name, and what it changes of the settings that all share. */
typedef struct mode {
    const char *name;
    caucus_algorithm algorithm;
    caucus_trust trust;
    caucus_message message;
    caucus_unit unit;
    uint64_t interval, rounds, longest_phase, renew, growth;
    uint32_t evaluate;
    double show_loss;
    caucus_pace pace;
    uint32_t quiet; /* own pace: the last client sees nothing in this slot; 0: in each something */
    caucus_protocol protocol;
    bool convex; /* with so many trees */
    uint32_t trees;
    caucus_select select;
    bool past_phases, front_load;
    uint64_t first_phase;
    double delta, epsilon; /* 0: what all have */
} mode;

extern const mode run_modes[];
extern const size_t run_modes_count;

/** Its plan. Ends the program where there is none. */
caucus_plan *mode_plan(const mode *wanted);

#endif
