/* SPDX-License-Identifier: Apache-2.0 */
/* plan_value.c: one value of a plan as text, and back. See plan_walk.h.
 *
 * Every value has exactly one text: integers without sign or leading zeros, fractions in lowest terms, reals in the
 * fewest digits, from 15 on, that read back as the same double. So a plan has one form, and equal plans have equal
 * hashes. */
#include "plan/text/plan_walk.h"

#include "num/number_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* By caucus_noise_kind. */
static const char *const laws[] = {"none", "geometric", "laplace", "gaussian", "knorm"};
enum { LAWS = sizeof laws / sizeof laws[0] };

static void real_text(double value, char *ret) {
    if (isnan(value)) {
        (void)snprintf(ret, CAUCUS_VALUE_BYTES, "trusted");
    } else if (isinf(value)) {
        (void)snprintf(ret, CAUCUS_VALUE_BYTES, value > 0 ? "infinite" : "-infinite");
    } else {
        caucus_real_text(value, ret);
    }
}

void caucus_value_text(const caucus_value *v, char *ret) {
    switch (v->kind) {
    case CAUCUS_VALUE_WHOLE:
        if (*v->whole == CAUCUS_ROUNDS_ENDLESS)
            (void)snprintf(ret, CAUCUS_VALUE_BYTES, "endless");
        else
            (void)snprintf(ret, CAUCUS_VALUE_BYTES, "%" PRIu64, *v->whole);
        break;
    case CAUCUS_VALUE_SIGNED:
        (void)snprintf(ret, CAUCUS_VALUE_BYTES, "%" PRId64, *v->steps);
        break;
    case CAUCUS_VALUE_REAL:
        real_text(*v->real, ret);
        break;
    case CAUCUS_VALUE_SWITCH:
        (void)snprintf(ret, CAUCUS_VALUE_BYTES, *v->whole != 0 ? "true" : "false");
        break;
    case CAUCUS_VALUE_TREES:
        if (*v->steps == CAUCUS_TREES_AUTO)
            (void)snprintf(ret, CAUCUS_VALUE_BYTES, "auto");
        else
            (void)snprintf(ret, CAUCUS_VALUE_BYTES, "%" PRId64, *v->steps);
        break;
    case CAUCUS_VALUE_WORD:
        (void)snprintf(ret, CAUCUS_VALUE_BYTES, "%s", v->word((unsigned)*v->whole));
        break;
    case CAUCUS_VALUE_RATIONAL:
        (void)snprintf(ret, CAUCUS_VALUE_BYTES, "%" PRIu64 "/%" PRIu64, v->rational->num, v->rational->den);
        break;
    case CAUCUS_VALUE_NOISE:
        if (v->noise->kind == CAUCUS_NOISE_NONE)
            (void)snprintf(ret, CAUCUS_VALUE_BYTES, "none");
        else
            (void)snprintf(ret, CAUCUS_VALUE_BYTES, "%s %" PRIu64 "/%" PRIu64, laws[v->noise->kind],
                           v->noise->parameter.num, v->noise->parameter.den);
        break;
    }
}

/* Canonical: no zero before other digits. */
static bool parse_whole(const char *text, size_t length, uint64_t most, uint64_t *ret) {
    return (length == 1 || text[0] != '0') && caucus_digits_parse(text, length, most, ret);
}

static bool parse_steps(const char *text, int64_t *ret) {
    const bool negative = text[0] == '-';
    uint64_t value;
    if (!parse_whole(text + negative, strlen(text + negative), INT64_MAX, &value) || (negative && value == 0))
        return false;
    *ret = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

static bool parse_real(const char *text, double *ret) {
    if (strcmp(text, "trusted") == 0 || strcmp(text, "infinite") == 0) {
        *ret = text[0] == 't' ? (double)NAN : (double)INFINITY;
        return true;
    }
    return caucus_real_parse(text, ret);
}

static bool parse_rational(const char *text, caucus_rational *ret) {
    const char *slash = strchr(text, '/');
    uint64_t num, den;
    if (slash == NULL || !parse_whole(text, (size_t)(slash - text), UINT64_MAX, &num) ||
        !parse_whole(slash + 1, strlen(slash + 1), UINT64_MAX, &den) || den == 0)
        return false;
    *ret = caucus_rational_make(num, den);
    return ret->num == num && ret->den == den;
}

static bool parse_noise(const char *text, caucus_noise *ret) {
    const size_t length = strcspn(text, " ");
    for (unsigned i = 0; i < LAWS; i++) {
        if (strlen(laws[i]) != length || memcmp(laws[i], text, length) != 0)
            continue;
        ret->kind = (caucus_noise_kind)i;
        if (i == CAUCUS_NOISE_NONE)
            return text[length] == '\0';
        return text[length] == ' ' && parse_rational(text + length + 1, &ret->parameter);
    }
    return false;
}

static bool parse_word(const caucus_value *v, const char *text, uint64_t *ret) {
    for (unsigned i = 0; i <= v->most; i++)
        if (strcmp(v->word(i), text) == 0) {
            *ret = i;
            return true;
        }
    return false;
}

static bool parse_any(const caucus_value *v, const char *text) {
    switch (v->kind) {
    case CAUCUS_VALUE_WHOLE:
        if (strcmp(text, "endless") == 0 && v->most >= CAUCUS_ROUNDS_ENDLESS) {
            *v->whole = CAUCUS_ROUNDS_ENDLESS;
            return true;
        }
        return parse_whole(text, strlen(text), v->most, v->whole);
    case CAUCUS_VALUE_SIGNED:
        return parse_steps(text, v->steps);
    case CAUCUS_VALUE_REAL:
        return parse_real(text, v->real);
    case CAUCUS_VALUE_SWITCH:
        *v->whole = strcmp(text, "true") == 0;
        return *v->whole != 0 || strcmp(text, "false") == 0;
    case CAUCUS_VALUE_TREES:
        *v->steps = CAUCUS_TREES_AUTO;
        return strcmp(text, "auto") == 0 ||
               (parse_steps(text, v->steps) && *v->steps >= 0 && (uint64_t)*v->steps <= v->most);
    case CAUCUS_VALUE_WORD:
        return parse_word(v, text, v->whole);
    case CAUCUS_VALUE_RATIONAL:
        return parse_rational(text, v->rational);
    case CAUCUS_VALUE_NOISE:
        return parse_noise(text, v->noise);
    }
    return false;
}

/* Parsed into a store of its own first, so that a refused text leaves no trace. */
bool caucus_value_parse(const caucus_value *v, const char *text) {
    struct {
        uint64_t whole;
        int64_t steps;
        double real;
        caucus_rational rational;
        caucus_noise noise;
    } store = {.rational = {0, 1}, .noise = {CAUCUS_NOISE_NONE, {0, 1}}};
    caucus_value copy = *v;
    if (v->kind == CAUCUS_VALUE_SIGNED || v->kind == CAUCUS_VALUE_TREES)
        copy.steps = &store.steps;
    else if (v->kind == CAUCUS_VALUE_REAL)
        copy.real = &store.real;
    else if (v->kind == CAUCUS_VALUE_RATIONAL)
        copy.rational = &store.rational;
    else if (v->kind == CAUCUS_VALUE_NOISE)
        copy.noise = &store.noise;
    else
        copy.whole = &store.whole;
    char own[CAUCUS_VALUE_BYTES];
    if (!parse_any(&copy, text))
        return false;
    caucus_value_text(&copy, own);
    if (strcmp(own, text) != 0) /* "010", "2/4", "1.0": understood, but not the one form */
        return false;
    return parse_any(v, text);
}

static bool near(double a, double b) {
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return a == b || fabs(a - b) <= 0x1p-30 * fmax(fabs(a), fabs(b)); /* a == b: infinities */
}

/* Rates are multiples of 2^-56: the least of them cannot be nearer than one such step. */
static bool near_rate(caucus_rational a, caucus_rational b) {
    const double x = caucus_rational_double(a), y = caucus_rational_double(b);
    return near(x, y) || fabs(x - y) <= 0x1p-56;
}

static bool near_whole(double a, double b) {
    return near(a, b) || fabs(a - b) <= 1;
}

bool caucus_value_is_near(const caucus_value *a, const caucus_value *b) {
    switch (a->kind) {
    case CAUCUS_VALUE_SIGNED:
    case CAUCUS_VALUE_TREES:
        return near_whole((double)*a->steps, (double)*b->steps);
    case CAUCUS_VALUE_REAL:
        return near(*a->real, *b->real);
    case CAUCUS_VALUE_RATIONAL:
        return near_rate(*a->rational, *b->rational);
    case CAUCUS_VALUE_NOISE:
        return a->noise->kind == b->noise->kind &&
               (a->noise->kind == CAUCUS_NOISE_NONE || near_rate(a->noise->parameter, b->noise->parameter));
    default:
        return near_whole((double)*a->whole, (double)*b->whole);
    }
}
