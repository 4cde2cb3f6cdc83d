/* SPDX-License-Identifier: Apache-2.0 */
/* Key files of relays: what was written is read, and what is wrong with one is said, with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "relay/keys.h"

static char path[] = "/tmp/caucus-keys.XXXXXX";

static void write_text(const char *text) {
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static void test_secret_and_public(void **state) {
    (void)state;
    caucus_seal_owner made, read;
    uint8_t key[32];
    caucus_error error = {0};
    assert_int_equal(caucus_seal_owner_new(&made), CAUCUS_OK);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_true(caucus_keys_write_secret(out, &made));
    fclose(out);
    assert_int_equal(caucus_keys_read_secret(path, "relay-key", &read, &error), CAUCUS_OK);
    assert_memory_equal(&made, &read, sizeof made);
    assert_int_equal(caucus_keys_read_public(path, "coordinator", key, &error), CAUCUS_E_FORMAT);
    assert_string_equal(error.field, "coordinator");
    out = fopen(path, "w");
    assert_non_null(out);
    assert_true(caucus_keys_write_public(out, made.public_key));
    fclose(out);
    assert_int_equal(caucus_keys_read_public(path, "coordinator", key, &error), CAUCUS_OK);
    assert_memory_equal(key, made.public_key, sizeof key);
    assert_int_equal(caucus_keys_read_secret(path, "relay-key", &read, &error), CAUCUS_E_FORMAT);
    write_text("caucus relay public key 1\n00zz\n");
    assert_int_equal(caucus_keys_read_public(path, "coordinator", key, &error), CAUCUS_E_FORMAT);
    assert_int_equal(caucus_keys_read_public("/none/such", "coordinator", key, &error), CAUCUS_E_PATH);
}

#define KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void test_list(void **state) {
    (void)state;
    caucus_relay_entry *list = NULL;
    uint32_t count = 0;
    caucus_error error = {0};
    write_text("# relays\n1 " KEY "\n\n  \n7\t" KEY "\n");
    assert_int_equal(caucus_keys_read_list(path, "relays", &list, &count, &error), CAUCUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(list[1].number, 7);
    assert_int_equal(list[1].key[1], 0x11);
    free(list);
    static const char *const wrong[] = {
        "1 " KEY "\n1 " KEY "\n", /* not rising */
        "0 " KEY "\n",            /* no such number */
        "65536 " KEY "\n",        /* nor this */
        "1 " KEY "00\n",          /* too long */
        "1 00\n",                 /* too short */
        "1\n",                    /* none */
        "1 " KEY " more\n",       /* something else */
        "# a remark\n",           /* nobody */
        "",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        list = NULL;
        write_text(wrong[i]);
        assert_int_equal(caucus_keys_read_list(path, "relays", &list, &count, &error), CAUCUS_E_FORMAT);
        assert_null(list);
        assert_string_equal(error.field, "relays");
    }
    write_text("# one\n1 " KEY "\n1 " KEY "\n");
    assert_int_equal(caucus_keys_read_list(path, "relays", &list, &count, &error), CAUCUS_E_FORMAT);
    assert_non_null(strstr(error.text, "line 3"));
}

static int make_path(void **state) {
    (void)state;
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secret_and_public),
        cmocka_unit_test(test_list),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
