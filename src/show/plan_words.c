/* SPDX-License-Identifier: Apache-2.0 */
/* plan_words.c: see plan_words.h. */
#include "show/plan_words.h"

#include "show/family_words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

caucus_words caucus_words_whole(uint64_t value) {
    caucus_words ret = {.text = "endless"};
    char digits[24];
    if (value == CAUCUS_ROUNDS_ENDLESS)
        return ret;
    const size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, value);
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            ret.text[used++] = ',';
        ret.text[used++] = digits[i];
    }
    ret.text[used] = '\0';
    return ret;
}

/* Rounded to `digits` that count; from 1000 on a whole number with commas. */
static caucus_words rounded(double value, int digits) {
    caucus_words ret;
    if (!isfinite(value)) {
        (void)snprintf(ret.text, sizeof ret.text, "none");
        return ret;
    }
    (void)snprintf(ret.text, sizeof ret.text, "%.*e", digits - 1, value);
    double near = 0;
    (void)sscanf(ret.text, "%lf", &near);
    if (fabs(near) >= 1000 && fabs(near) < 1e15) {
        caucus_words whole = caucus_words_whole((uint64_t)fabs(near));
        (void)snprintf(ret.text, sizeof ret.text, "%s%.40s", near < 0 ? "-" : "", whole.text);
    } else {
        (void)snprintf(ret.text, sizeof ret.text, "%.*g", fabs(near) >= 100 && fabs(near) < 1000 ? 3 : digits, near);
    }
    return ret;
}

caucus_words caucus_words_number(double value) {
    return fabs(value) >= 1000 && fabs(value) < 1e15 ? rounded(value, 6) : rounded(value, 3);
}

caucus_words caucus_words_about(double value) {
    return rounded(value, 2);
}

caucus_words caucus_words_bytes(double bytes) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    caucus_words ret;
    size_t unit = 0;
    while (bytes >= 1000 && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1000;
        unit++;
    }
    (void)snprintf(ret.text, sizeof ret.text,
                   unit == 0     ? "%.0f %s"
                   : bytes < 100 ? "%.3g %s"
                                 : "%.0f %s",
                   bytes, units[unit]);
    return ret;
}

typedef struct time_unit {
    uint64_t seconds;
    const char *name;
} time_unit;
static const time_unit time_units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};

/* The largest unit that a time is a whole number of; of no time at all the smallest. */
static size_t unit_of(uint64_t seconds) {
    size_t unit = 0;
    while (seconds % time_units[unit].seconds != 0 || (seconds == 0 && time_units[unit].seconds > 1))
        unit++;
    return unit;
}

/* Up to 120 of a unit are counted; of more, the larger unit first. */
static void add_time(uint64_t seconds, char *ret, size_t bytes) {
    const size_t unit = unit_of(seconds);
    uint64_t count = seconds / time_units[unit].seconds;
    size_t used = 0;
    ret[0] = '\0';
    if (unit > 0 && count > 120) {
        const uint64_t larger = time_units[unit - 1].seconds;
        add_time(seconds / larger * larger, ret, bytes);
        count = seconds % larger / time_units[unit].seconds;
        used = strlen(ret);
    }
    (void)snprintf(ret + used, bytes - used, "%s%llu %s%s", used > 0 ? " " : "", (unsigned long long)count,
                   time_units[unit].name, count == 1 ? "" : "s");
}

caucus_words caucus_words_time(uint64_t seconds) {
    caucus_words ret = {.text = ""};
    add_time(seconds, ret.text, sizeof ret.text);
    return ret;
}

caucus_words caucus_words_typed_time(uint64_t seconds) {
    caucus_words ret;
    const time_unit *unit = &time_units[unit_of(seconds)];
    (void)snprintf(ret.text, sizeof ret.text, "%llu%c", (unsigned long long)(seconds / unit->seconds), unit->name[0]);
    return ret;
}

static caucus_words day_words(const caucus_settings *s, uint64_t slot, const char *format) {
    caucus_words ret = {.text = "?"}; /* of a year that no calendar here has */
    const uint64_t seconds = slot * s->phase_time;
    struct tm day;
    if (gmtime_r(&(time_t){(time_t)seconds}, &day) != NULL && strftime(ret.text, sizeof ret.text, format, &day) == 0)
        (void)snprintf(ret.text, sizeof ret.text, "?");
    return ret;
}

caucus_words caucus_words_slot(const caucus_settings *s, uint64_t slot) {
    return day_words(s, slot, "%Y-%m-%d %H:%M:%S UTC");
}

caucus_words caucus_words_typed_slot(const caucus_settings *s, uint64_t slot) {
    return day_words(s, slot, slot * s->phase_time % 86400 == 0 ? "%Y-%m-%d" : "%Y-%m-%dT%H:%M:%S");
}

caucus_words caucus_words_delta(double delta) {
    caucus_words ret = {.text = ""};
    if (delta > 0)
        (void)snprintf(ret.text, sizeof ret.text, ", delta %.3g", delta);
    return ret;
}

caucus_words caucus_words_privacy(double epsilon, double delta) {
    caucus_words ret;
    if (isnan(epsilon))
        (void)snprintf(ret.text, sizeof ret.text, "coordinator is trusted");
    else if (isinf(epsilon))
        (void)snprintf(ret.text, sizeof ret.text, "not private");
    else if (epsilon <= 0)
        (void)snprintf(ret.text, sizeof ret.text, "nothing is spent");
    else if (delta > 0)
        (void)snprintf(ret.text, sizeof ret.text, "epsilon %.4g, delta %.3g", epsilon, delta);
    else
        (void)snprintf(ret.text, sizeof ret.text, "epsilon %.4g (pure)", epsilon);
    return ret;
}

const char *caucus_words_algorithm(caucus_algorithm algorithm) {
    return caucus_algorithm_variant(algorithm)->name;
}

const char *caucus_words_unit(const caucus_settings *s) {
    if (s->unit == CAUCUS_UNIT_EVENT)
        return "one loss of one client";
    if (s->unit == CAUCUS_UNIT_CLIENT)
        return "everything one client contributes to the run";
    if (s->pace == CAUCUS_PACE_OWN)
        return "everything one device sees in one slot of its clock";
    return caucus_family_ops(caucus_algorithm_family(s->algorithm))->phases ? "all losses of one client in one phase"
                                                                            : "all losses of one client in one block";
}

double caucus_words_step(const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    const bool means = caucus_family_words_of(caucus_plan_family(plan))->means;
    const double unit = s->loss_shape == CAUCUS_LOSS_SHAPE_CONVEX ? s->lipschitz : s->hi - s->lo;
    return unit * (means && s->unit == CAUCUS_UNIT_CLIENT_BLOCK ? (double)s->interval : 1) / (double)plan->grid;
}

double caucus_words_scale(const caucus_plan *plan, caucus_rational rate) {
    return caucus_words_step(plan) / caucus_rational_double(rate);
}

double caucus_words_spread(const caucus_plan *plan, const caucus_noise *noise) {
    if (noise->kind == CAUCUS_NOISE_NONE)
        return 0;
    if (noise->kind == CAUCUS_NOISE_GAUSSIAN)
        return caucus_words_step(plan) * sqrt(caucus_rational_double(noise->parameter));
    return caucus_words_scale(plan, noise->parameter);
}

const char *caucus_words_law(caucus_noise_kind kind) {
    static const char *const names[] = {"none", "geometric", "Laplace", "Gaussian", "K-norm"};
    return names[kind];
}

size_t caucus_words_character(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    size_t length = c[0] < 0x80                   ? 1
                    : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
                    : c[0] >= 0xe0 && c[0] < 0xf0 ? 3
                    : c[0] >= 0xf0 && c[0] < 0xf5 ? 4
                                                  : 0;
    for (size_t i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0) || (c[0] == 0xf0 && c[1] < 0x90) ||
        (c[0] == 0xf4 && c[1] >= 0x90))
        return 0;
    return length;
}

int caucus_words_width(const char *text) {
    int count = 0;
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}
