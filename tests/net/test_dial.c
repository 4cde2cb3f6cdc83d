/* test_dial.c: pauses between tries, addresses that are refused, and the client's state on disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/dial.h"
#include "net/journal.h"

/* Doubles from 0.2 s to 30 s, never below half of it, and not always the same. */
static void test_pauses(void **state) {
    (void)state;
    for (uint32_t n = 0; n < 40; n++) {
        uint32_t most = n < 8 && (200u << n) < 30000u ? 200u << n : 30000u, least_seen = UINT32_MAX, most_seen = 0;
        for (int i = 0; i < 200; i++) {
            uint32_t pause = caucus_dial_pause(n);
            assert_in_range(pause, most / 2, most);
            least_seen = pause < least_seen ? pause : least_seen;
            most_seen = pause > most_seen ? pause : most_seen;
        }
        assert_true(most_seen > least_seen); /* all 200 equal: below 1e-390 */
    }
}

static void test_addresses(void **state) {
    (void)state;
    caucus_dial *dial = NULL;
    caucus_error error;
    static const char *const wrong[] = {"192.0.2.1:7400", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:70000", ":", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        caucus_dial_settings settings = {.connect = wrong[i]};
        assert_int_not_equal(caucus_dial_new(&settings, &dial, &error), CAUCUS_OK);
        assert_string_equal(error.field, "connect");
    }
    caucus_dial_settings settings = {.connect = "127.0.0.1:7400"};
    assert_int_equal(caucus_dial_new(&settings, &dial, &error), CAUCUS_OK);
    assert_int_equal(caucus_dial_index(dial), 0);
    assert_false(caucus_dial_is_open(dial));
    caucus_dial_free(dial);
}

static void test_journal(void **state) {
    (void)state;
    char directory[] = "/tmp/caucus-journal-XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/state", directory);
    caucus_journal *journal = NULL, *second = NULL;
    caucus_error error;
    uint8_t *bytes = NULL;
    size_t size = 1;
    assert_int_equal(caucus_journal_open(path, &journal, &error), CAUCUS_OK);
    assert_int_equal(caucus_journal_open(path, &second, &error), CAUCUS_E_ORDER);
    assert_int_equal(caucus_journal_read(journal, &bytes, &size, &error), CAUCUS_OK);
    assert_null(bytes);
    assert_int_equal(size, 0);
    for (uint8_t n = 1; n < 20; n++) {
        uint8_t text[64];
        memset(text, n, sizeof text);
        assert_true(caucus_journal_write(journal, text, n));
        assert_int_equal(caucus_journal_read(journal, &bytes, &size, &error), CAUCUS_OK);
        assert_int_equal(size, n);
        assert_memory_equal(bytes, text, n);
        free(bytes);
    }
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    /* What cannot be written leaves the last state as it was. */
    char blocked[80], inside[96];
    snprintf(blocked, sizeof blocked, "%s.new", path);
    snprintf(inside, sizeof inside, "%s/in-the-way", blocked);
    assert_int_equal(mkdir(blocked, 0700), 0);
    assert_int_equal(mkdir(inside, 0700), 0);
    assert_false(caucus_journal_write(journal, (const uint8_t *)"new", 3));
    assert_int_not_equal(caucus_journal_errno(journal), 0);
    assert_int_equal(caucus_journal_read(journal, &bytes, &size, &error), CAUCUS_OK);
    assert_int_equal(size, 19);
    free(bytes);
    rmdir(inside);
    rmdir(blocked);
    caucus_journal_close(journal);
    assert_int_equal(caucus_journal_open(path, &journal, &error), CAUCUS_OK); /* the lock went with it */
    caucus_journal_close(journal);
    assert_int_equal(truncate(path, 0), 0); /* an empty file is no state: it must not be taken for a new client */
    assert_int_equal(caucus_journal_open(path, &journal, &error), CAUCUS_OK);
    assert_int_equal(caucus_journal_read(journal, &bytes, &size, &error), CAUCUS_E_FORMAT);
    caucus_journal_close(journal);
    unlink(path);
    snprintf(path, sizeof path, "%s/state.lock", directory);
    unlink(path);
    assert_int_equal(rmdir(directory), 0);
    assert_int_equal(caucus_journal_open("/nonexistent/state", &journal, &error), CAUCUS_E_IO);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pauses), cmocka_unit_test(test_addresses),
                                       cmocka_unit_test(test_journal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
