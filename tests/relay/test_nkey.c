/* SPDX-License-Identifier: Apache-2.0 */
/* nkeys: what the file holds, and signatures that a NATS server takes, none of which begins with a zero byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "relay/nkey.h"

/* Made by `caucus certify --relays 1`. */
#define PUBLIC_KEY "UBEN2MKQO5YOWFLOY5E7L7L6ZEV4BADYEBQC2MQING347FUMAPZHOGPQ"
#define SEED "SUANAYCY46XLRNNBZMCODUKNEFDH64VXRG4NZ4IZCPMWC6QHVKWUPIP5QM"
#define ANOTHER "UBFUAEZPT5AIA2QZAWAIG4NNMGSPPCFAXWC5NNXNISU5ZKT5LGPQV4IV"

static caucus_status read_text(const char *text, caucus_nkey *ret, caucus_error *error) {
    char path[] = "/tmp/caucus-nkey.XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, text, strlen(text)), strlen(text));
    close(descriptor);
    const caucus_status status = caucus_nkey_read(path, ret, error);
    unlink(path);
    return status;
}

static void test_file(void **state) {
    (void)state;
    caucus_nkey key;
    caucus_error error = {0};
    assert_int_equal(read_text(PUBLIC_KEY "\n" SEED "\n", &key, &error), CAUCUS_OK);
    assert_string_equal(key.name, PUBLIC_KEY);
    assert_int_equal(read_text(SEED "\r\n" PUBLIC_KEY, &key, &error), CAUCUS_OK);
    static const char *const wrong[] = {"",
                                        PUBLIC_KEY "\n",
                                        SEED "\n",
                                        ANOTHER "\n" SEED "\n",
                                        PUBLIC_KEY "A\n" SEED "\n",
                                        PUBLIC_KEY "\n" SEED "AA\n",
                                        PUBLIC_KEY "\nSUANAYCY46XL\n",
                                        PUBLIC_KEY "\nSU1NAYCY46XLRNNBZMCODUKNEFDH64VXRG4NZ4IZCPMWC6QHVKWUPIP5QM\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(read_text(wrong[i], &key, &error), CAUCUS_E_FORMAT);
    assert_int_equal(caucus_nkey_read("/nowhere/at/all", &key, &error), CAUCUS_E_PATH);
}

/* Of so many nonces several have a signature by RFC 8032 that begins with zero; theirs are others, and as good. */
static void test_signatures(void **state) {
    (void)state;
    caucus_nkey key;
    caucus_error error = {0};
    assert_int_equal(read_text(PUBLIC_KEY "\n" SEED "\n", &key, &error), CAUCUS_OK);
    unsigned others = 0;
    for (unsigned i = 0; i < 2000; i++) {
        char nonce[32];
        uint8_t have[64], usual[64];
        (void)snprintf(nonce, sizeof nonce, "nonce-%u", i);
        caucus_nkey_sign(&key, nonce, have);
        assert_true(have[0] != 0);
        assert_int_equal(crypto_sign_verify_detached(have, (const uint8_t *)nonce, strlen(nonce), key.secret_key + 32),
                         0);
        (void)crypto_sign_detached(usual, NULL, (const uint8_t *)nonce, strlen(nonce), key.secret_key);
        assert_true((memcmp(have, usual, sizeof have) != 0) == (usual[0] == 0));
        others += usual[0] == 0;
    }
    assert_true(others >= 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_signatures),
    };
    return sodium_init() < 0 || cmocka_run_group_tests(tests, NULL, NULL);
}
