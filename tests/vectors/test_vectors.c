/* SPDX-License-Identifier: Apache-2.0 */
/* test_vectors.c: docs/vectors replayed from the files themselves: the grid, keys and streams, draws, frames. (The
 * Python peer replays the same files: tests/vectors/replay.py.) */
#include "json_tree.h"

#include <inttypes.h>

#include "dp/real.h"
#include "num/grid.h"
#include "num/number_text.h"
#include "plan/account.h"
#include "plan/text/plan_walk.h"
#include "rng/words.h"
#include "wire/wire.h"

#include <caucus/caucus.h>

static void test_grid(void **state) {
    (void)state;
    yaml_node_t *losses = get(tree_open("grid.json"), "losses");
    assert_true(length(losses) > 0);
    for (size_t i = 0; i < length(losses); i++) {
        const yaml_node_t *c = at(losses, i);
        const double loss = real(get(c, "loss"));
        const caucus_grid grid = {real(get(c, "lo")), real(get(c, "hi")), (int64_t)whole_of(c, "grid")};
        int64_t sum = 0;
        caucus_clips clips = {0};
        assert_int_equal(caucus_grid_step(&grid, loss), whole_of(c, "step"));
        caucus_grid_add_f64(&grid, &sum, &loss, 1, &clips);
        assert_int_equal(sum, whole_of(c, "step"));
    }
    tree_close();
}

static void key_of(const yaml_node_t *c, const char *name, caucus_key *ret) {
    *ret = (caucus_key){.seeded = true};
    assert_int_equal(bytes_of(c, name, ret->bytes, sizeof ret->bytes), sizeof ret->bytes);
}

static void test_keys_and_streams(void **state) {
    (void)state;
    yaml_node_t *root = tree_open("streams.json"), *keys = get(root, "keys"), *streams = get(root, "streams");
    assert_true(length(keys) > 0 && length(streams) > 0);
    for (size_t i = 0; i < length(keys); i++) {
        const yaml_node_t *c = at(keys, i);
        caucus_key key, said;
        caucus_key_from_seed(whole_of(c, "seed"), &key);
        key_of(c, "run", &said);
        assert_memory_equal(key.bytes, said.bytes, sizeof key.bytes);
        caucus_key_derive(&key, 0, &key);
        key_of(c, "trial", &said);
        assert_memory_equal(key.bytes, said.bytes, sizeof key.bytes);
        caucus_key_derive(&key, whole_of(c, "client"), &key);
        key_of(c, "key", &said);
        assert_memory_equal(key.bytes, said.bytes, sizeof key.bytes);
    }
    for (size_t i = 0; i < length(streams); i++) {
        const yaml_node_t *c = at(streams, i), *words = get(c, "words"), *digits = get(c, "digits");
        caucus_key key;
        caucus_stream stream;
        key_of(c, "key", &key);
        caucus_stream_init(&stream, &key, (caucus_purpose)whole_of(c, "purpose"), whole_of(c, "phase"),
                           whole_of(c, "leaf"), 0);
        assert_true(length(words) > 8 && length(digits) > 0);
        for (size_t n = 0; n < length(words); n++)
            assert_int_equal(caucus_stream_next(&stream), strtoull(text(at(words, n)), NULL, 16));
        for (size_t n = 0; n < length(digits); n++) {
            const yaml_node_t *d = at(digits, n);
            uint64_t word = caucus_stream_digit(&stream, (unsigned)whole_of(d, "digit"), whole_of(d, "place"));
            assert_int_equal(word, strtoull(text_of(d, "word"), NULL, 16));
        }
    }
    tree_close();
}

/* Seeds that are none, and noise that no plan can have: the readers of options and of plan files refuse them. */
static void test_texts_refused(void **state) {
    (void)state;
    yaml_node_t *bad = get(tree_open("streams.json"), "bad");
    assert_true(length(bad) > 0);
    for (size_t i = 0; i < length(bad); i++) {
        uint64_t seed;
        if (caucus_whole_parse(text_of(at(bad, i), "seed"), 0, UINT64_MAX, &seed))
            fail_msg("%s: a seed", text_of(at(bad, i), "why"));
    }
    tree_close();
    bad = get(tree_open("samplers.json"), "bad");
    assert_true(length(bad) > 0);
    for (size_t i = 0; i < length(bad); i++) {
        caucus_noise noise = {CAUCUS_NOISE_NONE, {1, 1}};
        const caucus_value value = {.kind = CAUCUS_VALUE_NOISE, .noise = &noise};
        if (caucus_value_parse(&value, text_of(at(bad, i), "noise")) && account_usable(noise.parameter))
            fail_msg("%s: taken for noise", text_of(at(bad, i), "why"));
    }
    tree_close();
}

/* Selections from scores; false: this law is none. */
static bool select_all(const yaml_node_t *c, const char *law, caucus_rational p, caucus_stream *stream, uint64_t *ret,
                       size_t n) {
    const bool flip = strcmp(law, "permute-and-flip") == 0, exponential = strcmp(law, "exponential") == 0;
    const bool noisy = strcmp(law, "noisy-min") == 0;
    if (!flip && !exponential && !noisy && strcmp(law, "least") != 0)
        return false;
    int64_t score[8];
    const uint32_t d = (uint32_t)length(get(c, "scores"));
    assert_true(d <= 8);
    for (uint32_t i = 0; i < d; i++)
        score[i] = strtoll(text(at(get(c, "scores"), i)), NULL, 10);
    for (size_t i = 0; i < n; i++)
        ret[i] = flip          ? caucus_select_flip(stream, score, d, p)
                 : exponential ? caucus_select_exponential(stream, score, d, p)
                 : noisy       ? caucus_select_noisy_min(stream, score, d, p)
                               : caucus_select_min(stream, score, d);
    return true;
}

static void draw(const yaml_node_t *c, const char *law, caucus_rational p, caucus_stream *stream, uint64_t *ret,
                 size_t n) {
    static const struct {
        const char *law;
        caucus_noise_kind kind;
    } noises[] = {
        {"laplace", CAUCUS_NOISE_LAPLACE}, {"gaussian", CAUCUS_NOISE_GAUSSIAN}, {"knorm", CAUCUS_NOISE_KNORM}};
    caucus_reals reals;
    caucus_reals_open(&reals, stream);
    const caucus_divisor divisor = caucus_divisor_prepare(p.den);
    memset(ret, 0, n * sizeof *ret);
    for (size_t i = 0; i < 3; i++)
        if (strcmp(law, noises[i].law) == 0) {
            caucus_noise noise = {noises[i].kind, p};
            caucus_noise_add(stream, &noise, (int64_t *)ret, n);
            return;
        }
    if (strcmp(law, "geometric") == 0) {
        caucus_geometric_fill(stream, p, (int64_t *)ret, n);
    } else if (!select_all(c, law, p, stream, ret, n)) {
        bool coin = strcmp(law, "coin") == 0;
        assert_true(coin || strcmp(law, "uniform") == 0);
        for (size_t i = 0; i < n; i++)
            ret[i] = coin ? caucus_exp_coin(stream, p.num, &divisor) : caucus_real_uniform(&reals, p.num);
    }
}

static void test_samplers(void **state) {
    (void)state;
    yaml_node_t *draws = get(tree_open("samplers.json"), "draws");
    assert_true(length(draws) > 0);
    for (size_t i = 0; i < length(draws); i++) {
        const yaml_node_t *c = at(draws, i), *values = get(c, "values");
        uint64_t value[300];
        caucus_rational p;
        caucus_key key;
        caucus_stream stream;
        key_of(c, "key", &key);
        caucus_stream_init(&stream, &key, CAUCUS_PURPOSE_MESSAGE, whole_of(c, "phase"), 0, 0);
        assert_int_equal(sscanf(text_of(c, "parameter"), "%" SCNu64 "/%" SCNu64, &p.num, &p.den), 2);
        assert_true(length(values) > 0 && length(values) <= 300);
        draw(c, text_of(c, "law"), p, &stream, value, length(values));
        for (size_t n = 0; n < length(values); n++) {
            const char *said = text(at(values, n));
            assert_int_equal(value[n], said[0] == '-' ? (uint64_t)strtoll(said, NULL, 10) : strtoull(said, NULL, 10));
        }
        assert_int_equal(caucus_stream_drawn(&stream), whole_of(c, "words"));
    }
    tree_close();
}

static void test_messages(void **state) {
    (void)state;
    yaml_node_t *root = tree_open("messages.json"), *good = get(root, "good"), *bad = get(root, "bad");
    uint8_t bytes[1024], again[1024];
    int64_t scratch[64];
    caucus_frame frame;
    caucus_error error;
    size_t used;
    assert_true(length(good) > 20 && length(bad) > 20);
    for (size_t i = 0; i < length(good); i++) {
        const yaml_node_t *c = at(good, i), *fields = get(c, "fields");
        uint32_t experts = (uint32_t)whole_of(c, "experts");
        size_t size = bytes_of(c, "frame", bytes, sizeof bytes);
        for (size_t cut = 0; cut < size; cut++) { /* not complete: neither read nor refused */
            assert_int_equal(caucus_wire_take(bytes, cut, experts, scratch, &used, &frame, &error), CAUCUS_OK);
            assert_int_equal(used, 0);
        }
        assert_int_equal(caucus_wire_take(bytes, size, experts, scratch, &used, &frame, &error), CAUCUS_OK);
        assert_int_equal(used, size);
        size_t written = caucus_wire_put(&frame, again, sizeof again);
        bool same = written == size && memcmp(bytes, again, size) == 0;
        assert_int_equal(same, strcmp(text_of(c, "canonical"), "true") == 0);
        if (frame.kind == CAUCUS_FRAME_REPORT) {
            assert_int_equal(frame.report.count, length(get(fields, "values")));
            for (uint32_t n = 0; n < frame.report.count; n++)
                assert_int_equal(frame.report.value[n], strtoll(text(at(get(fields, "values"), n)), NULL, 10));
            assert_int_equal(frame.report.block, whole_of(fields, "block"));
        } else if (frame.kind == CAUCUS_FRAME_ANNOUNCEMENT) {
            assert_int_equal(frame.announcement.serial, whole_of(fields, "serial"));
            assert_int_equal(frame.announcement.listed, length(get(fields, "list")));
        } else if (frame.kind == CAUCUS_FRAME_HELLO) {
            assert_int_equal(frame.heard, whole_of(fields, "heard"));
            assert_int_equal(frame.client, whole_of(fields, "client"));
        } else if (frame.kind != CAUCUS_FRAME_WELCOME) {
            assert_string_equal(frame.text, text_of(fields, "text"));
        }
    }
    for (size_t i = 0; i < length(bad); i++) {
        const yaml_node_t *c = at(bad, i);
        size_t size = bytes_of(c, "frame", bytes, sizeof bytes);
        caucus_status status =
            caucus_wire_take(bytes, size, (uint32_t)whole_of(c, "experts"), scratch, &used, &frame, &error);
        if (status != CAUCUS_E_FORMAT)
            fail_msg("%s: read", text_of(c, "why"));
    }
    tree_close();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_grid), cmocka_unit_test(test_keys_and_streams),
                                       cmocka_unit_test(test_texts_refused), cmocka_unit_test(test_samplers),
                                       cmocka_unit_test(test_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
