/* SPDX-License-Identifier: Apache-2.0 */
/* test_npy.c: the .npy reader: what numpy writes is read, everything else is refused with advice. */
#include "data/npy.h"
#include <errno.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A file in memory: magic, version, padded header, `values` bytes of payload. Returns its size. */
static size_t make(uint8_t *ret, unsigned major, const char *dictionary, size_t values) {
    size_t length = strlen(dictionary), begin = major == 1 ? 10 : 12, header = length + 1;
    while ((begin + header) % 64 != 0)
        header++;
    memcpy(ret, "\x93NUMPY", 6);
    ret[6] = (uint8_t)major;
    ret[7] = 0;
    for (size_t i = 8; i < begin; i++)
        ret[i] = (uint8_t)(header >> (8 * (i - 8)));
    memset(ret + begin, ' ', header);
    memcpy(ret + begin, dictionary, length);
    ret[begin + header - 1] = '\n';
    memset(ret + begin + header, 0, values);
    return begin + header + values;
}

static void test_versions_and_values(void **state) {
    (void)state;
    for (unsigned major = 1; major <= 3; major++)
        for (int wide = 0; wide < 2; wide++) {
            uint8_t bytes[1024];
            char text[128];
            snprintf(text, sizeof text, "{'descr': '<f%d', 'fortran_order': False, 'shape': (2, 3, 4), }",
                     wide ? 8 : 4);
            size_t payload = 24u * (wide ? 8u : 4u), size = make(bytes, major, text, payload);
            for (size_t k = 0; k < 24; k++) {
                double value = 0.1 * (double)k;
                float narrow = (float)value;
                memcpy(bytes + size - payload + k * (wide ? 8u : 4u), wide ? (void *)&value : (void *)&narrow,
                       wide ? 8 : 4);
            }
            caucus_npy npy;
            caucus_error error;
            assert_int_equal(caucus_npy_parse("x.npy", bytes, size, &npy, &error), CAUCUS_OK);
            assert_int_equal(npy.clients, 2);
            assert_int_equal(npy.rounds, 3);
            assert_int_equal(npy.experts, 4);
            assert_int_equal(npy.wide, wide);
            float row[8];
            double row64[8];
            caucus_npy_fill(&npy, 1, 1, 2, row);
            caucus_npy_fill64(&npy, 1, 1, 2, row64);
            for (size_t k = 0; k < 8; k++) {
                double value = 0.1 * (double)(16 + k);
                assert_true(row[k] == (float)value);
                assert_true(row64[k] == (wide ? value : (double)(float)value));
            }
        }
}

static void test_spellings(void **state) {
    (void)state;
    const char *good[] = {"{\"shape\":(1,1,2),\"descr\":\"<f4\",\"fortran_order\":False}",
                          "{'descr': '<f4', 'fortran_order': False, 'shape': (1L, 1L, 2L)}",
                          "  { 'fortran_order' : False , 'descr' : '<f4' , 'shape' : ( 1 , 1 , 2 , ) , } "};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint8_t bytes[512];
        caucus_npy npy;
        caucus_error error = {0};
        size_t size = make(bytes, 1, good[i], 8);
        assert_int_equal(caucus_npy_parse("x.npy", bytes, size, &npy, &error), CAUCUS_OK);
    }
}

static void check_refused(const char *dictionary, size_t values, const char *message) {
    uint8_t bytes[1024];
    caucus_npy npy;
    caucus_error error;
    size_t size = make(bytes, 1, dictionary, values);
    assert_int_equal(caucus_npy_parse("losses.npy", bytes, size, &npy, &error), CAUCUS_E_FORMAT);
    assert_string_equal(error.field, "");
    assert_string_equal(error.text, message);
}

#define HEAD(shape) "{'descr': '<f4', 'fortran_order': False, 'shape': " shape ", }"
#define UNREAD                                                                                                         \
    "losses.npy: header not understood — expected {'descr': '<f4', 'fortran_order': False, 'shape': (10, 512, 100)}"

static void test_refusals(void **state) {
    (void)state;
    check_refused(HEAD("(10, 512)"), 0,
                  "losses.npy: shape (10, 512) — expected clients × rounds × experts, for example (10, 512, 100)");
    check_refused(HEAD("(7,)"), 28,
                  "losses.npy: shape (7,) — expected clients × rounds × experts, for example (10, 512, 100)");
    check_refused(HEAD("()"), 4,
                  "losses.npy: shape () — expected clients × rounds × experts, for example (10, 512, 100)");
    check_refused(HEAD("(2, 3, 4)"), 95,
                  "losses.npy: shape (2, 3, 4) needs 96 bytes of values, the file has 95 — it is truncated");
    check_refused(HEAD("(2, 3, 4)"), 97,
                  "losses.npy: shape (2, 3, 4) needs 96 bytes of values, the file has 97 — something follows them");
    const char *too_large = "losses.npy: shape (4294967295, 4294967295, 4294967295) — every size must be at least 1 "
                            "and all must fit in memory";
    check_refused(HEAD("(4294967295, 4294967295, 4294967295)"), 0, too_large);
    /* 2^22 * 2^22 * 2^18 * 4 bytes = 2^64 = 0 modulo 2^64 */
    check_refused(
        HEAD("(4194304, 4194304, 262144)"), 0,
        "losses.npy: shape (4194304, 4194304, 262144) — every size must be at least 1 and all must fit in memory");
    check_refused(HEAD("(2, 0, 4)"), 0,
                  "losses.npy: shape (2, 0, 4) — every size must be at least 1 and all must fit in memory");
    check_refused(HEAD("(99999999999999999999, 1, 1)"), 0, UNREAD);
    check_refused(HEAD("(-1, 1, 1)"), 0, UNREAD);
    check_refused(HEAD("(1, 1, 1, 1, 1, 1, 1, 1, 1)"), 4, UNREAD);
    check_refused("{'descr': '>f4', 'fortran_order': False, 'shape': (1, 1, 1)}", 4,
                  "losses.npy: values are big-endian ('>f4') — save losses.astype('<f4')");
    check_refused("{'descr': '|f4', 'fortran_order': False, 'shape': (1, 1, 1)}", 4,
                  "losses.npy: values of type '|f4' — expected '<f4' or '<f8': save losses.astype('<f4')");
    check_refused("{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1, 1)}", 8,
                  "losses.npy: values of type '<i8' — expected '<f4' or '<f8': save losses.astype('<f4')");
    check_refused("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1, 1)}", 4,
                  "losses.npy: Fortran order — save np.ascontiguousarray(losses)");
    check_refused("{'descr': '<f4', 'shape': (1, 1, 1)}", 4, UNREAD);
    check_refused("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1)}", 4, UNREAD);
    check_refused("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 1, 1)}", 4, UNREAD);
    check_refused(HEAD("(1, 1, 1)") " x", 4, UNREAD);
    check_refused("", 0, UNREAD);
}

/* Every prefix of a good file is refused, whatever is cut. */
static void test_truncation(void **state) {
    (void)state;
    uint8_t bytes[1024];
    size_t size = make(bytes, 2, HEAD("(1, 2, 3)"), 24);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *copy = malloc(cut + 1); /* its own block, so that a sanitizer sees a read past the end */
        assert_non_null(copy);
        memcpy(copy, bytes, cut);
        caucus_npy npy;
        assert_int_equal(caucus_npy_parse("x", copy, cut, &npy, NULL), CAUCUS_E_FORMAT);
        free(copy);
    }
}

static void test_wrong_start(void **state) {
    (void)state;
    uint8_t bytes[512];
    caucus_npy npy;
    caucus_error error;
    size_t size = make(bytes, 1, HEAD("(1, 1, 1)"), 4);
    bytes[6] = 4;
    assert_int_equal(caucus_npy_parse("x.npy", bytes, size, &npy, &error), CAUCUS_E_FORMAT);
    assert_string_equal(error.text, "x.npy: NumPy format 4.0 — expected 1.0, 2.0 or 3.0");
    bytes[0] = 'P';
    assert_int_equal(caucus_npy_parse("x.npy", bytes, size, &npy, &error), CAUCUS_E_FORMAT);
    assert_string_equal(error.text, "x.npy: not a NumPy file — expected one written by np.save");
}

static void test_files(void **state) {
    (void)state;
    char path[] = "/tmp/caucus-npy-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    caucus_npy npy;
    caucus_error error;
    assert_int_equal(caucus_npy_open(path, &npy, &error), CAUCUS_E_FORMAT); /* empty */
    uint8_t bytes[512];
    size_t size = make(bytes, 1, HEAD("(1, 1, 2)"), 8);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
    assert_int_equal(caucus_npy_open(path, &npy, &error), CAUCUS_OK);
    float row[2] = {1, 1};
    caucus_npy_fill(&npy, 0, 0, 1, row);
    assert_true(row[0] == 0.0f && row[1] == 0.0f);
    caucus_npy_close(&npy);
    unlink(path);
    assert_int_equal(caucus_npy_open(path, &npy, &error), CAUCUS_E_PATH);
    assert_int_equal(error.os_error, ENOENT);
    assert_int_equal(caucus_npy_open("/tmp", &npy, &error), CAUCUS_E_PATH);
    assert_string_equal(error.text, "/tmp: not a regular file");
}

/* A file that is cut while it is mapped: zeros where nothing is left, and it is known; another file is not concerned,
 * and an entry that is used again starts anew. */
static void test_cut_file(void **state) {
    (void)state;
    enum { VALUES = 20000 };
    static uint8_t bytes[512], body[VALUES * 4];
    memset(body, 0x3e, sizeof body); /* 0.18... */
    size_t size = make(bytes, 1, HEAD("(1, 1, 20000)"), 0);
    for (int turn = 0; turn < 3; turn++) {
        char path[2][32] = {"/tmp/caucus-cut-a-XXXXXX", "/tmp/caucus-cut-b-XXXXXX"};
        caucus_npy npy[2];
        float *row = malloc(VALUES * sizeof *row);
        assert_non_null(row);
        for (int i = 0; i < 2; i++) {
            int fd = mkstemp(path[i]);
            assert_true(fd >= 0);
            assert_int_equal(write(fd, bytes, size), size);
            assert_int_equal(write(fd, body, sizeof body), sizeof body);
            close(fd);
            assert_int_equal(caucus_npy_open(path[i], &npy[i], NULL), CAUCUS_OK);
            assert_int_equal(caucus_npy_whole(&npy[i], path[i], NULL), CAUCUS_OK);
        }
        off_t left = turn == 0 ? 0 : turn == 1 ? (off_t)size + 9000 : (off_t)(size + sizeof body) - 4;
        assert_int_equal(truncate(path[0], left), 0);
        caucus_npy_fill(&npy[0], 0, 0, 1, row);
        assert_true(row[VALUES - 1] == 0.0f && (turn == 0 || row[0] > 0.18f));
        caucus_error error = {0};
        assert_int_equal(caucus_npy_whole(&npy[0], "losses.npy", &error), CAUCUS_E_CHANGED);
        assert_string_equal(error.text, "losses.npy: it became shorter while it was being read");
        assert_int_equal(truncate(path[0], (off_t)(size + sizeof body)), 0); /* too late */
        assert_int_equal(caucus_npy_whole(&npy[0], "losses.npy", NULL), CAUCUS_E_CHANGED);
        caucus_npy_fill(&npy[1], 0, 0, 1, row);
        assert_true(row[VALUES - 1] > 0.18f);
        assert_int_equal(caucus_npy_whole(&npy[1], path[1], NULL), CAUCUS_OK);
        for (int i = 0; i < 2; i++) {
            caucus_npy_close(&npy[i]);
            unlink(path[i]);
        }
        free(row);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions_and_values),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_wrong_start),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_cut_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
