/* SPDX-License-Identifier: Apache-2.0 */
/* write_draws.c: vectors of what a client computes by itself: losses on the grid, keys and streams, draws. */
#include <math.h>
#include <string.h>

#include "dp/real.h"
#include "num/grid.h"
#include "rng/words.h"
#include "vectors.h"

/* ---- grid ---- */

static void put_double(caucus_json *json, const char *key, double value) {
    char text[40];
    (void)snprintf(text, sizeof text, "%.17g", value);
    caucus_json_text(json, key, isnan(value) ? "nan" : text);
}

static void put_losses(caucus_json *json, double lo, double hi, int64_t steps) {
    const double width = hi - lo, step = width / (double)steps;
    const double loss[] = {lo,
                           hi,
                           lo + width / 2,
                           lo + width / 3,
                           lo + step / 2,
                           lo + 3 * step / 2,
                           lo + 5 * step / 2,
                           nextafter(lo + step / 2, hi),
                           nextafter(hi, lo),
                           hi - step / 2,
                           lo - width / 4,
                           hi + width / 4,
                           -0.0,
                           5e-324,
                           1e300,
                           -1e300,
                           INFINITY,
                           -INFINITY,
                           NAN};
    const caucus_grid grid = {lo, hi, steps};
    for (size_t i = 0; i < sizeof loss / sizeof loss[0]; i++) {
        caucus_clips clips = {0};
        caucus_json_object_row(json, NULL);
        put_double(json, "lo", lo);
        put_double(json, "hi", hi);
        caucus_json_signed(json, "grid", steps);
        put_double(json, "loss", loss[i]);
        caucus_json_signed(json, "step", caucus_grid_loss(&grid, loss[i], &clips));
        caucus_json_close(json);
    }
}

void write_grid(caucus_json *json) {
    caucus_json_list(json, "losses");
    put_losses(json, 0, 1, 1 << 20);
    put_losses(json, 0, 1, 1000);
    put_losses(json, 0, 1, 1);
    put_losses(json, -0.125, 1.75, 1000); /* no power of two: the scale itself is rounded */
    put_losses(json, -3, 4, 1 << 16);
    put_losses(json, 1e-9, 2e-9, 1 << 20);
    caucus_json_close(json);
}

/* Texts that must be refused, and why. */
struct refused {
    const char *why, *text;
};

static void put_texts_refused(caucus_json *json, const char *key, const struct refused *each, size_t n) {
    caucus_json_list(json, "bad");
    for (size_t i = 0; i < n; i++) {
        caucus_json_object_row(json, NULL);
        caucus_json_text(json, "why", each[i].why);
        caucus_json_text(json, key, each[i].text);
        caucus_json_close(json);
    }
    caucus_json_close(json);
}

/* ---- keys and streams ---- */

static void put_key(caucus_json *json, uint64_t seed, uint32_t client) {
    caucus_key run, trial, key;
    caucus_key_from_seed(seed, &run);
    caucus_key_derive(&run, 0, &trial);
    caucus_key_derive(&trial, client, &key);
    caucus_json_object_row(json, NULL);
    put_ulong(json, "seed", seed);
    caucus_json_whole(json, "client", client);
    put_hex(json, "run", run.bytes, sizeof run.bytes);
    put_hex(json, "trial", trial.bytes, sizeof trial.bytes);
    put_hex(json, "key", key.bytes, sizeof key.bytes);
    caucus_json_close(json);
}

static void put_word(caucus_json *json, const char *key, uint64_t word) {
    char text[17];
    (void)snprintf(text, sizeof text, "%016" PRIx64, word);
    caucus_json_text(json, key, text);
}

static void put_stream(caucus_json *json, caucus_purpose purpose, uint64_t phase, uint32_t leaf) {
    caucus_key key;
    caucus_stream stream;
    seeded_key(7, 2, &key);
    caucus_stream_init(&stream, &key, purpose, phase, leaf, 0);
    caucus_json_object(json, NULL);
    put_hex(json, "key", key.bytes, sizeof key.bytes);
    caucus_json_whole(json, "purpose", (uint64_t)purpose);
    put_ulong(json, "phase", phase);
    caucus_json_whole(json, "leaf", leaf);
    caucus_json_list_row(json, "words");
    for (int i = 0; i < 20; i++) /* more than two blocks of ChaCha20 */
        put_word(json, NULL, caucus_stream_next(&stream));
    caucus_json_close(json);
    caucus_json_list(json, "digits");
    for (unsigned digit = 1; digit <= 3; digit++)
        for (uint64_t place = 0; place <= 9; place += 9) {
            caucus_json_object_row(json, NULL);
            caucus_json_whole(json, "digit", digit);
            caucus_json_whole(json, "place", place);
            put_word(json, "word", caucus_stream_digit(&stream, digit, place));
            caucus_json_close(json);
        }
    caucus_json_close(json);
    caucus_json_close(json);
}

void write_streams(caucus_json *json) {
    static const uint64_t seeds[] = {0, 1, 20241, UINT64_MAX};
    caucus_json_list(json, "keys");
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        put_key(json, seeds[i], 1);
        put_key(json, seeds[i], 1000000);
    }
    caucus_json_close(json);
    caucus_json_list(json, "streams");
    put_stream(json, CAUCUS_PURPOSE_MESSAGE, 2, 0);
    put_stream(json, CAUCUS_PURPOSE_SHORTLIST, 2, 0);
    put_stream(json, CAUCUS_PURPOSE_MESSAGE, 3, 5);
    put_stream(json, CAUCUS_PURPOSE_MESSAGE, 65535, 0);
    put_stream(json, CAUCUS_PURPOSE_MESSAGE, 65536, 0); /* from here on the key is a subkey */
    put_stream(json, CAUCUS_PURPOSE_MESSAGE, ((uint64_t)1 << 40) + 3, 0);
    put_stream(json, CAUCUS_PURPOSE_PLAY, 4, 0);
    caucus_json_close(json);
    static const struct refused seeds_refused[] = {
        {"no digits", ""},
        {"a sign", "-1"},
        {"a sign, though it changes nothing", "+1"},
        {"2^64: as a number of 64 bits it would be 0", "18446744073709551616"},
        {"not whole", "1.0"},
        {"an exponent", "1e3"},
        {"hexadecimal digits", "0x10"},
        {"a blank before it", " 7"},
        {"a line's end behind it", "7\n"},
    };
    put_texts_refused(json, "seed", seeds_refused, sizeof seeds_refused / sizeof seeds_refused[0]);
}

/* ---- samplers ---- */

/* A stream of its own for every case: phase is the number of the case. */
static uint64_t cases;

static void open_case(caucus_json *json, const char *law, caucus_rational parameter, caucus_stream *ret) {
    caucus_key key;
    char text[64];
    seeded_key(7, 2, &key);
    caucus_stream_init(ret, &key, CAUCUS_PURPOSE_MESSAGE, ++cases, 0, 0);
    caucus_json_object_row(json, NULL);
    caucus_json_text(json, "law", law);
    put_hex(json, "key", key.bytes, sizeof key.bytes);
    put_ulong(json, "phase", cases);
    (void)snprintf(text, sizeof text, "%" PRIu64 "/%" PRIu64, parameter.num, parameter.den);
    caucus_json_text(json, "parameter", text);
}

static void close_case(caucus_json *json, const caucus_stream *stream) {
    put_ulong(json, "words", caucus_stream_drawn(stream));
    caucus_json_close(json);
}

static void put_values(caucus_json *json, const char *key, const int64_t *value, size_t n) {
    caucus_json_list_row(json, key);
    for (size_t i = 0; i < n; i++)
        put_long(json, NULL, value[i]);
    caucus_json_close(json);
}

/* How often it is drawn: uniform numbers below n; the parameter is n/1. */
static void put_uniform(caucus_json *json, uint64_t n) {
    caucus_stream stream;
    caucus_reals reals;
    open_case(json, "uniform", (caucus_rational){n, 1}, &stream);
    caucus_reals_open(&reals, &stream);
    caucus_json_list_row(json, "values");
    for (int i = 0; i < 12; i++)
        put_ulong(json, NULL, caucus_real_uniform(&reals, n));
    caucus_json_close(json);
    close_case(json, &stream);
}

static void put_coin(caucus_json *json, uint64_t a, uint64_t b) {
    caucus_stream stream;
    open_case(json, "coin", (caucus_rational){a, b}, &stream);
    const caucus_divisor divisor = caucus_divisor_prepare(b);
    caucus_json_list_row(json, "values");
    for (int i = 0; i < 12; i++)
        caucus_json_text(json, NULL, caucus_exp_coin(&stream, a, &divisor) ? "1" : "0");
    caucus_json_close(json);
    close_case(json, &stream);
}

static void put_geometric(caucus_json *json, caucus_rational rate) {
    int64_t value[12];
    caucus_stream stream;
    open_case(json, "geometric", rate, &stream);
    caucus_geometric_fill(&stream, rate, value, 12);
    put_values(json, "values", value, 12);
    close_case(json, &stream);
}

static void put_noise(caucus_json *json, const char *law, caucus_noise_kind kind, caucus_rational parameter, size_t n) {
    int64_t value[300] = {0};
    caucus_stream stream;
    caucus_noise noise = {kind, parameter};
    need(n <= sizeof value / sizeof value[0], "too many values");
    open_case(json, law, parameter, &stream);
    caucus_noise_add(&stream, &noise, value, n);
    put_values(json, "values", value, n);
    close_case(json, &stream);
}

static void put_flip(caucus_json *json, caucus_rational rate, const int64_t *score, uint32_t d) {
    caucus_stream stream;
    open_case(json, "permute-and-flip", rate, &stream);
    put_values(json, "scores", score, d);
    caucus_json_list_row(json, "values");
    put_ulong(json, NULL, caucus_select_flip(&stream, score, d, rate));
    caucus_json_close(json);
    close_case(json, &stream);
}

/* What the coordinator alone draws: several selections one after another from one stream. */
static void put_selections(caucus_json *json, const char *law, caucus_rational rate, const int64_t *score, uint32_t d) {
    caucus_stream stream;
    open_case(json, law, rate, &stream);
    put_values(json, "scores", score, d);
    caucus_json_list_row(json, "values");
    for (int i = 0; i < 4; i++)
        put_ulong(json, NULL,
                  strcmp(law, "exponential") == 0 ? caucus_select_exponential(&stream, score, d, rate)
                  : strcmp(law, "noisy-min") == 0 ? caucus_select_noisy_min(&stream, score, d, rate)
                                                  : caucus_select_min(&stream, score, d));
    caucus_json_close(json);
    close_case(json, &stream);
}

void write_samplers(caucus_json *json) {
    static const uint64_t below[] = {1, 2, 3, 1000003, ((uint64_t)1 << 63) + 1, UINT64_MAX};
    static const caucus_rational coins[] = {{1, 1000}, {1, 1}, {7, 2}, {3, 1048576}, {200, 1}};
    static const caucus_rational rates[] = {{5, 2}, {1, 1}, {1, 7}, {3, 1048576}, {1, (uint64_t)1 << 50}};
    static const caucus_rational variances[] = {{1, 4}, {1, 1}, {50, 7}, {1099511627776, 3}};
    static const int64_t scores[][6] = {{0, 0, 0, 0, 0, 0},
                                        {1000, 1001, 990, 1200, 995, 1000},
                                        {-5, 4000000, 12, 13, -4, 7},
                                        {1048576, 0, 524288, 262144, 131072, 65536}};
    cases = 0;
    caucus_json_list(json, "draws");
    for (size_t i = 0; i < sizeof below / sizeof below[0]; i++)
        put_uniform(json, below[i]);
    for (size_t i = 0; i < sizeof coins / sizeof coins[0]; i++)
        put_coin(json, coins[i].num, coins[i].den);
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        put_geometric(json, rates[i]);
        put_noise(json, "laplace", CAUCUS_NOISE_LAPLACE, rates[i], 12);
        if (rates[i].num < rates[i].den) /* the K-norm draw keeps about e^(-rate*d/2) of its tries */
            put_noise(json, "knorm", CAUCUS_NOISE_KNORM, rates[i], 5);
    }
    for (size_t i = 0; i < sizeof variances / sizeof variances[0]; i++)
        put_noise(json, "gaussian", CAUCUS_NOISE_GAUSSIAN, variances[i], 12);
    put_noise(json, "gaussian", CAUCUS_NOISE_GAUSSIAN, (caucus_rational){400, 1}, 260); /* a row has 256 */
    put_noise(json, "laplace", CAUCUS_NOISE_LAPLACE, (caucus_rational){1, 20}, 260);
    for (size_t i = 0; i < sizeof scores / sizeof scores[0]; i++)
        for (size_t r = 1; r < sizeof rates / sizeof rates[0]; r++)
            put_flip(json, rates[r], scores[i], 6);
    for (size_t i = 0; i < sizeof scores / sizeof scores[0]; i++)
        for (size_t r = 1; r < sizeof rates / sizeof rates[0]; r++) {
            put_selections(json, "exponential", rates[r], scores[i], 6);
            put_selections(json, "noisy-min", rates[r], scores[i], 6);
        }
    put_selections(json, "least", (caucus_rational){1, 1}, scores[0], 6); /* ties */
    put_selections(json, "least", (caucus_rational){1, 1}, scores[3], 6);
    caucus_json_close(json);
    static const struct refused noises[] = {
        {"a rate of 0: it has no law", "laplace 0/1"},
        {"a variance of 0", "gaussian 0/1"},
        {"a fraction over 0", "knorm 1/0"},
        {"a negative rate", "laplace -1/3"},
        {"not in lowest terms", "laplace 2/4"},
        {"no fraction", "laplace 0.5"},
        {"a whole number, and no fraction", "laplace 3"},
        {"a zero before other digits", "laplace 03/4"},
        {"a blank within the fraction", "laplace 3 /4"},
        {"two blanks", "laplace  3/4"},
        {"a denominator above 2^56", "laplace 1/72057594037927937"},
        {"a numerator above 64 bits", "knorm 18446744073709551616/1"},
        {"a law without its parameter", "gaussian"},
        {"no noise, with a parameter", "none 1/2"},
        {"a law that no plan has", "cauchy 1/2"},
        {"another case", "Laplace 1/2"},
        {"nothing", ""},
    };
    put_texts_refused(json, "noise", noises, sizeof noises / sizeof noises[0]);
}
