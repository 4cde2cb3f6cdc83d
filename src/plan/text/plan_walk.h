/* SPDX-License-Identifier: Apache-2.0 */
/* plan_walk.h: every setting and every integer of a plan, in one fixed order.
 * layer: plan
 *
 * One walk serves three readers: the plan file is written by it, read back by it, and JSON is printed by it, so the
 * three cannot disagree about what a plan consists of. A walker gets sections (open, close), lists and values. */
#ifndef CAUCUS_PLAN_PLAN_WALK_H
#define CAUCUS_PLAN_PLAN_WALK_H

#include "plan/plan.h"

typedef enum caucus_value_kind {
    CAUCUS_VALUE_WHOLE,    /* *whole, 0 .. most */
    CAUCUS_VALUE_SIGNED,   /* *steps: grid steps */
    CAUCUS_VALUE_REAL,     /* *real; NaN is "trusted", infinity "infinite" */
    CAUCUS_VALUE_SWITCH,   /* *whole: 0 false, 1 true */
    CAUCUS_VALUE_TREES,    /* *steps: -1 is "auto" */
    CAUCUS_VALUE_WORD,     /* *whole: index of a word */
    CAUCUS_VALUE_RATIONAL, /* *rational: "num/den" in lowest terms */
    CAUCUS_VALUE_NOISE     /* *noise: "none", or a law and its parameter: "geometric 3/8" */
} caucus_value_kind;

typedef struct caucus_value {
    caucus_value_kind kind;
    /* Found by a calibration in floating point: another machine's mathematical library may round it otherwise, and what
     * the file says counts. All others follow exactly from the settings. */
    bool tuned;
    uint64_t most;
    const char *(*word)(unsigned index);
    union {
        uint64_t *whole;
        int64_t *steps;
        double *real;
        caucus_rational *rational;
        caucus_noise *noise;
    };
} caucus_value;

typedef struct caucus_walker {
    void (*open)(struct caucus_walker *walker, const char *key);
    void (*close)(struct caucus_walker *walker);
    void (*list)(struct caucus_walker *walker, const char *key, size_t count); /* `count` values without key follow */
    void (*value)(struct caucus_walker *walker, const char *key, const caucus_value *value);
    /* A text of labels, which may be long: *at. A walker that reads makes it, and whoever walks with it frees it. */
    void (*text)(struct caucus_walker *walker, const char *key, const char **at);
    /* A key that may be left out: is it there, and do its values follow?
     * `other`: the value in hand is not the default. */
    bool (*has)(struct caucus_walker *walker, const char *key, bool other);
    bool keys_only;       /* see caucus_plan_ops.walk */
    caucus_status status; /* a walker that reads fails here; the walk goes on and changes nothing more */
} caucus_walker;

/* All operations of a walker whose functions are called prefix_open, prefix_close and so on. */
#define CAUCUS_WALKER_OPERATIONS(prefix)                                                                               \
    .open = prefix##_open, .close = prefix##_close, .list = prefix##_list, .value = prefix##_value,                    \
    .text = prefix##_text, .has = prefix##_has

/** The section "settings". A walker that reads may write every field. */
void caucus_walk_settings(caucus_walker *walker, caucus_settings *settings);
/** The section of the plan's family ("svt", "stoch", "hedge"; family.h), for a plan made from its settings. */
void caucus_walk_mechanism(caucus_walker *walker, caucus_plan *plan);
/** Values of such a section. Rates and noises are found by a calibration; grid steps are if they are `tuned`. `key` is
 *  NULL within a list. */
void caucus_walk_u32(caucus_walker *walker, const char *key, uint32_t *value);
void caucus_walk_u64(caucus_walker *walker, const char *key, uint64_t *value);
void caucus_walk_steps(caucus_walker *walker, const char *key, int64_t *value, bool tuned);
void caucus_walk_rate(caucus_walker *walker, const char *key, caucus_rational *value);
void caucus_walk_noise(caucus_walker *walker, const char *key, caucus_noise *value);
void caucus_walk_select(caucus_walker *walker, const char *key, caucus_select *value);
void caucus_walk_message(caucus_walker *walker, const char *key, caucus_message *value);
/** The section "guarantee". */
void caucus_walk_guarantee(caucus_walker *walker, caucus_guarantee *guarantee);

/** Is it a key of any plan, of whatever family and options? From the walks themselves; digits at its end do not count
 *  ("phase-2", "phase-17").
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_walk_knows(const char *key, bool *ret) CAUCUS_MUST_CHECK;

/** The one text of a value. */
#define CAUCUS_VALUE_BYTES 64
void caucus_value_text(const caucus_value *value, char *ret);
/** Parse a text into what the value points to; false (and nothing changed) unless it is the value's own text. */
bool caucus_value_parse(const caucus_value *value, const char *text);
/** Whether two values of one kind differ only by what rounding in a calibration explains (2^-30, relatively). */
bool caucus_value_is_near(const caucus_value *a, const caucus_value *b);

#endif
