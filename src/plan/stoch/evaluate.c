/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate.c: see evaluate.h.
 *
 * pi_g: an alternating Feistel network of six rounds over the b bits that m - 1 has, again and again until the number
 * is below m (b is the least, so that it takes less than two turns on average). Its rounds mix with the finaliser of
 * SplitMix64. It need not be secret, only even and unrelated to what clients are. */
#include "plan/stoch/evaluate.h"

#include "dp/wide.h"

#include "num/clones.h"
#include "num/int128.h"
#include "num/little_endian.h"
#include "plan/stoch.h"

#include <math.h>

#define GOLDEN 0x9e3779b97f4a7c15u
#define FEISTEL_ROUNDS 6u

static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* What a network of b bits needs. */
typedef struct network {
    uint32_t m, low, low_mask, high_mask;
} network;

static network network_of(uint32_t m) {
    const uint32_t bits = m > 1 ? 32 - (uint32_t)__builtin_clz(m - 1) : 0, low = bits - bits / 2;
    return (network){m, low, (uint32_t)(((uint64_t)1 << low) - 1), (uint32_t)(((uint64_t)1 << bits / 2) - 1)};
}

/* One turn of the network. */
static inline uint32_t turn(const network *n, uint64_t key, uint32_t i) {
    uint32_t right = i & n->low_mask, left = i >> n->low;
    for (uint32_t r = 0; r < FEISTEL_ROUNDS; r += 2) {
        left ^= (uint32_t)(mix(key + ((uint64_t)right * 8 + r + 1) * GOLDEN) >> 32) & n->high_mask;
        right ^= (uint32_t)(mix(key + ((uint64_t)left * 8 + r + 2) * GOLDEN) >> 32) & n->low_mask;
    }
    return left << n->low | right;
}

/* a_p: all phases of a plan have one, phase 1 too. */
static uint64_t offset_of(const caucus_plan *plan, uint64_t p) {
    return mix(caucus_le_get(plan->hash + 8, 8) + p * GOLDEN) % plan->settings.experts;
}

/* The first turn of one client in `count` rounds: a loop without branches, which has several rounds under way at
 * once. */
CAUCUS_CLONES static void first_turns(const network *n, uint64_t hash, uint64_t global, uint32_t from, size_t count,
                                      uint32_t *restrict ret) {
    const network own = *n;
    for (size_t i = 0; i < count; i++)
        ret[i] = turn(&own, mix(hash + (global + i) * GOLDEN), from);
}

void caucus_evaluate_firsts(const caucus_plan *plan, uint64_t p, uint64_t t, uint64_t global, uint32_t client,
                            size_t count, uint32_t *ret) {
    const caucus_settings *s = &plan->settings;
    const uint32_t d = s->experts, m = s->clients % d;
    const uint64_t k = caucus_evaluate_k(s), offset = offset_of(plan, p), hash = caucus_le_get(plan->hash, 8);
    const network n = network_of(s->clients);
    uint32_t before = (uint32_t)((t % d) * m % d); /* t m mod d */
    first_turns(&n, hash, global, client - 1, count, ret);
    for (size_t i = 0; i < count; i++) {
        if (ret[i] >= n.m) {
            const uint64_t key = mix(hash + (global + i) * GOLDEN);
            do
                ret[i] = turn(&n, key, ret[i]);
            while (ret[i] >= n.m);
        }
        ret[i] = (uint32_t)((offset + (before + ret[i]) % d * k) % d); /* of t m + pi */
        before = before + m < d ? before + m : before + m - d;
    }
}

uint32_t caucus_evaluate_first(const caucus_plan *plan, uint64_t p, uint64_t t, uint64_t global, uint32_t client) {
    uint32_t first = 0;
    caucus_evaluate_firsts(plan, p, t, global, client, 1, &first);
    return first;
}

/* Rounds one after the other, from phase to phase. */
typedef struct cursor {
    uint64_t p, t, length; /* round t of phase p, which has so many */
} cursor;

/* The next of `left` rounds, as many as are in the same phase and fit. Returns: how many. */
static size_t firsts_and_on(const caucus_plan *plan, cursor *at, uint64_t global, uint32_t client, uint64_t left,
                            uint32_t ret[CAUCUS_EVALUATE_BATCH]) {
    if (at->t == at->length) {
        at->p++;
        at->t = 0;
        at->length = caucus_stoch_length(&plan->settings, at->p);
    }
    uint64_t count = left < CAUCUS_EVALUATE_BATCH ? left : CAUCUS_EVALUATE_BATCH;
    count = count < at->length - at->t ? count : at->length - at->t;
    caucus_evaluate_firsts(plan, at->p, at->t, global, client, (size_t)count, ret);
    at->t += count;
    return (size_t)count;
}

void caucus_evaluate_add(const caucus_plan *plan, uint64_t p, uint64_t first, uint64_t n, uint32_t client,
                         bool take_off, uint64_t *ret) {
    const uint32_t d = plan->settings.experts, k = caucus_evaluate_k(&plan->settings);
    const uint64_t one = take_off ? UINT64_MAX : 1; /* -1, modulo 2^64 */
    cursor at = {.p = p, .length = caucus_stoch_length(&plan->settings, p)};
    uint32_t begins[CAUCUS_EVALUATE_BATCH];
    for (uint64_t t = 0, count; t < n; t += count) {
        count = firsts_and_on(plan, &at, first + t, client, n - t, begins);
        for (size_t i = 0; i < count; i++) {
            uint32_t y = begins[i];
            for (uint32_t j = 0; j < k; j++) {
                ret[y] += one;
                y = y + 1 < d ? y + 1 : 0;
            }
        }
    }
}

/* Which experts were found already is kept in the highest bit of the counts, which are far below it. */
void caucus_evaluate_touched(const caucus_plan *plan, uint64_t p, uint64_t first, uint64_t n, uint32_t client,
                             uint64_t *ret) {
    const uint64_t seen = (uint64_t)1 << 63;
    const uint32_t d = plan->settings.experts, k = caucus_evaluate_k(&plan->settings);
    cursor at = {.p = p, .length = caucus_stoch_length(&plan->settings, p)};
    uint32_t found = 0, begins[CAUCUS_EVALUATE_BATCH];
    for (uint64_t t = 0, count; t < n && found < d; t += count) {
        count = firsts_and_on(plan, &at, first + t, client, n - t, begins);
        for (size_t i = 0; i < count && found < d; i++) {
            uint32_t y = begins[i];
            for (uint32_t j = 0; j < k; j++) {
                if ((ret[y] & seen) == 0) {
                    ret[y] = (ret[y] + 1) | seen;
                    found++;
                }
                y = y + 1 < d ? y + 1 : 0;
            }
        }
    }
    for (uint32_t y = 0; y < d; y++)
        ret[y] &= ~seen;
}

void caucus_evaluate_everybody(const caucus_plan *plan, uint64_t p, uint64_t n, uint64_t *ret) {
    const caucus_settings *s = &plan->settings;
    const uint64_t d = s->experts, offset = offset_of(plan, p);
    const caucus_u128 all = (caucus_u128)n * s->clients * caucus_evaluate_k(s);
    const uint64_t each = (uint64_t)(all / d), more = (uint64_t)(all % d);
    for (uint64_t y = 0; y < d; y++)
        ret[y] = each + ((y + d - offset) % d < more);
}

uint32_t caucus_evaluate_scores(const caucus_plan *plan, const int64_t *sum, const uint64_t *count, int64_t *ret_score,
                                uint32_t *ret_who, uint64_t *ret_least, uint64_t *ret_most) {
    uint32_t candidates = 0;
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t y = 0; y < plan->settings.experts; y++) {
        if (count[y] == 0)
            continue;
        ret_who[candidates++] = y;
        least = count[y] < least ? count[y] : least;
        most = count[y] > most ? count[y] : most;
    }
    for (uint32_t i = 0; i < candidates; i++) {
        const uint64_t own = count[ret_who[i]];
        const uint64_t whole = own * (uint64_t)plan->grid, given = (uint64_t)sum[ret_who[i]];
        const uint64_t some = given & ~caucus_mask(sum[ret_who[i]] < 0);
        const caucus_ratio ratio = caucus_ratio_prepare(most, own);
        ret_score[i] =
            (int64_t)caucus_ratio_floor(caucus_pick(caucus_mask(some < whole), some, whole), most, own, &ratio);
    }
    *ret_least = least;
    *ret_most = most;
    return candidates;
}

/* Several experts of a record, or several rounds of one, and scores may move against each other. Noisy-min is accounted
 * for with 2 whatever moves. */
uint64_t caucus_evaluate_factor(const caucus_plan *plan) {
    const bool alone = plan->settings.unit == CAUCUS_UNIT_EVENT && plan->settings.evaluate == 1;
    return alone && plan->stoch.select != CAUCUS_SELECT_NOISY_MIN ? 1 : 2;
}

uint64_t caucus_evaluate_width(const caucus_plan *plan, uint64_t least, uint64_t most) {
    const caucus_u128 scaled = (caucus_u128)(uint64_t)plan->grid * most;
    return (uint64_t)((scaled + least - 1) / least); /* G*most is below 2^62: the plan's limits */
}

#define RATE_BITS 56
#define RATE_LEAST 32u /* 2^-51: as in calibrate_rate.c */

bool caucus_evaluate_rate(const caucus_plan *plan, caucus_rational budget, uint64_t width, caucus_rational *ret) {
    const caucus_u128 below = (caucus_u128)budget.den * caucus_evaluate_factor(plan) * width;
    if (budget.num >> 62 != 0 || budget.den == 0 || budget.den > CAUCUS_DEN_MAX || width == 0 || width >> 62 != 0)
        return false;
    caucus_u128 rate = ((caucus_u128)budget.num << RATE_BITS) / below;
    if (rate < RATE_LEAST || rate >> 62 != 0)
        return false;
    *ret = (caucus_rational){(uint64_t)rate, (uint64_t)1 << RATE_BITS};
    return caucus_evaluate_pays(plan, budget, width, *ret);
}

/* rate = k/2^56 with k below 2^62, f*W below 2^63: compared by a division, which cannot overflow. */
bool caucus_evaluate_pays(const caucus_plan *plan, caucus_rational budget, uint64_t width, caucus_rational rate) {
    if (rate.den != (uint64_t)1 << RATE_BITS || rate.num >> 62 != 0 || width == 0 || width >> 62 != 0 ||
        budget.num >> 62 != 0 || budget.den == 0 || budget.den > CAUCUS_DEN_MAX)
        return false;
    const caucus_u128 below = (caucus_u128)budget.den * caucus_evaluate_factor(plan) * width;
    return rate.num <= ((caucus_u128)budget.num << RATE_BITS) / below;
}

/* N_y = floor(n m k/d) evaluations of an expert are by at least N_y/n clients, since a client evaluates it at most once
 * in a round. */
uint64_t caucus_evaluate_least(const caucus_settings *s, uint64_t n) {
    if (s->unit == CAUCUS_UNIT_CLIENT)
        return caucus_evaluate_client_least(s, n);
    const uint64_t each = (uint64_t)((caucus_u128)n * s->clients * caucus_evaluate_k(s) / s->experts);
    return s->unit == CAUCUS_UNIT_CLIENT_BLOCK ? (each + n - 1) / n : each;
}

uint64_t caucus_evaluate_floor(const caucus_settings *s, uint64_t n) {
    const uint64_t floor = caucus_evaluate_least(s, n) / 8;
    return floor > 0 ? floor : 1;
}

/* A score of age a is C_a times a mean of c_a records or more, C_a at most c_a + 1 (event) or m (means). Their mean,
 * weighted, has the variance proxy sum share^2/c_a; the mean of a client's evaluations counts as one. A selection errs
 * by factor/rate = factor f W/budget in scores: of one phase W/C = G/c; of several W is the largest of G C_a/c_a, and
 * what it is divided by is at least sum w_a c_a. */
double caucus_evaluate_error(const caucus_plan *plan, const caucus_stoch_phase *phase, uint64_t p, double factor) {
    const caucus_settings *s = &plan->settings;
    const caucus_stoch_plan *stoch = &plan->stoch;
    const double range = s->hi - s->lo;
    double mass = 0, spread = 0, width = 0;
    if (s->unit == CAUCUS_UNIT_CLIENT)
        return caucus_evaluate_client_error(plan, phase, factor);
    for (uint32_t a = 0; a < stoch->past && a + 1 < p; a++)
        mass += (double)stoch->past_weights[a] * (double)caucus_evaluate_least(s, caucus_stoch_length(s, p - 1 - a));
    if (caucus_evaluate_least(s, caucus_stoch_length(s, p - 1)) == 0)
        return range; /* some experts are not even looked at */
    for (uint32_t a = 0; a < stoch->past && a + 1 < p; a++) {
        const double c = (double)caucus_evaluate_least(s, caucus_stoch_length(s, p - 1 - a));
        if (c <= 0)
            continue;
        const double share = (double)stoch->past_weights[a] * c / mass;
        spread += share * share / c;
        width = fmax(width, s->unit == CAUCUS_UNIT_EVENT ? (c + 1) / c : s->clients / c);
    }
    if (stoch->past <= 1)
        width = 1;
    const double selection =
        factor * (double)caucus_evaluate_factor(plan) * width / (caucus_rational_double(phase->select_budget) * mass);
    return range * (sqrt(log((double)s->experts) * spread / 2) + selection);
}
