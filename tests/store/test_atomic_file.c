/* SPDX-License-Identifier: Apache-2.0 */
/* test_atomic_file.c: files and folders that are there whole or not at all: what is in the way, what a crash left, two
 * writers at once. */
#include "store/atomic_file.h"
#include "store/atomic_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64], path[96], draft[104];

static int make_root(void **state) {
    (void)state;
    (void)snprintf(root, sizeof root, "/tmp/caucus-atomic-XXXXXX");
    if (mkdtemp(root) == NULL)
        return -1;
    (void)snprintf(path, sizeof path, "%s/file", root);
    (void)snprintf(draft, sizeof draft, "%s.draft", path);
    return 0;
}

/* Fails if anything but the file is left. */
static int remove_root(void **state) {
    (void)state;
    (void)unlink(path);
    return rmdir(root);
}

static void expect_bytes(const char *expected) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    caucus_error error;
    assert_int_equal(caucus_file_load(path, 1 << 20, "a file", &bytes, &size, &error), CAUCUS_OK);
    assert_int_equal(size, strlen(expected));
    assert_string_equal((const char *)bytes, expected);
    free(bytes);
}

static bool put(const char *text, bool replace) {
    return caucus_atomic_file_write(path, text, strlen(text), 0600, replace);
}

static void test_write(void **state) {
    (void)state;
    struct stat info;
    assert_true(put("one", false));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(info.st_nlink, 1);
    assert_false(put("two", false));
    assert_int_equal(errno, EEXIST);
    expect_bytes("one");
    assert_true(put("three", true));
    expect_bytes("three");
    assert_int_not_equal(access(draft, F_OK), 0);
    assert_false(caucus_atomic_file_write("", "x", 1, 0600, true));
    assert_int_equal(errno, ENOENT);
    assert_false(caucus_atomic_file_write("/nonexistent/file", "x", 1, 0600, true));
    assert_int_equal(errno, ENOENT);
    /* A full device: the old file stays, the draft goes. */
    caucus_atomic_file file;
    assert_true(caucus_atomic_file_begin(&file, path, 0600));
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_true(full >= 0 && dup2(full, fileno(file.out)) >= 0);
    close(full);
    fputs("four", file.out);
    assert_false(caucus_atomic_file_end(&file, true));
    assert_int_equal(errno, ENOSPC);
    expect_bytes("three");
}

/* A draft that a crash left is not used and not in the way, whatever it is: a file that has the name of another file as
 * well (a crash between link() and unlink()), or a link that somebody put there. A folder is in the way. */
static void test_left_drafts(void **state) {
    (void)state;
    assert_true(put("one", false));
    assert_int_equal(link(path, draft), 0);
    assert_true(put("two", true));
    expect_bytes("two");
    assert_int_equal(symlink(path, draft), 0);
    assert_true(put("three", true));
    expect_bytes("three");
    assert_int_equal(mkfifo(draft, 0600), 0);
    assert_true(put("four", true));
    expect_bytes("four");
    assert_int_equal(mkdir(draft, 0700), 0);
    assert_false(put("five", true));
    expect_bytes("four");
    assert_int_equal(rmdir(draft), 0);
    pid_t child = fork();
    if (child == 0) {
        caucus_atomic_file file;
        bool good =
            caucus_atomic_file_begin(&file, path, 0600) && fputs("half", file.out) >= 0 && fflush(file.out) == 0;
        (void)kill(getpid(), good ? SIGKILL : SIGTERM);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(access(draft, F_OK), 0);
    expect_bytes("four");
    assert_true(put("six", true));
    expect_bytes("six");
}

/* Four processes write as fast as they can: every write succeeds and whoever reads sees one of them whole. */
static void test_writers_at_once(void **state) {
    (void)state;
    enum { WRITERS = 4, WRITES = 50, BYTES = 20000 };
    pid_t child[WRITERS];
    for (int w = 0; w < WRITERS; w++) {
        child[w] = fork();
        if (child[w] == 0) {
            char text[BYTES];
            memset(text, 'a' + w, sizeof text);
            bool good = true;
            for (int k = 0; good && k < WRITES; k++)
                good = caucus_atomic_file_write(path, text, sizeof text, 0600, true);
            _exit(good ? 0 : 1);
        }
    }
    int seen = 0;
    for (int left = WRITERS; left > 0;) {
        uint8_t *bytes = NULL;
        size_t size = 0;
        if (caucus_file_load(path, BYTES, "a file", &bytes, &size, NULL) == CAUCUS_OK) {
            assert_int_equal(size, BYTES);
            for (size_t i = 1; i < size; i++)
                assert_int_equal(bytes[i], bytes[0]);
            seen++;
            free(bytes);
        }
        int status = 0;
        if (waitpid(-1, &status, WNOHANG) > 0) {
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
            left--;
        }
    }
    assert_true(seen > 0);
}

static void test_load(void **state) {
    (void)state;
    uint8_t *bytes = NULL;
    size_t size = 0;
    caucus_error error = {0};
    assert_int_equal(caucus_file_load(path, 4, "a file", &bytes, &size, &error), CAUCUS_E_PATH);
    assert_true(put("12345", false));
    assert_int_equal(caucus_file_load(path, 4, "a note", &bytes, &size, &error), CAUCUS_E_FORMAT);
    assert_non_null(strstr(error.text, "5 bytes — a note has at most 4"));
    assert_int_equal(caucus_file_load(path, 5, "a note", &bytes, &size, &error), CAUCUS_OK);
    free(bytes);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* returns at once */
    assert_int_equal(caucus_file_load(path, 4, "a file", &bytes, &size, &error), CAUCUS_E_PATH);
    assert_non_null(strstr(error.text, "not a regular file"));
}

static bool is_letter(const char *folder, const char *name) {
    (void)folder;
    return strlen(name) == 1;
}

static void put_in(const char *folder, const char *name) {
    char file[256];
    (void)snprintf(file, sizeof file, "%s/%s", folder, name);
    assert_true(caucus_atomic_file_write(file, name, strlen(name), 0666, false));
}

static bool has(const char *folder, const char *name) {
    char file[256];
    (void)snprintf(file, sizeof file, "%s/%s", folder, name);
    return access(file, F_OK) == 0;
}

static void test_folder(void **state) {
    (void)state;
    caucus_atomic_folder folder;
    char name[256], slashes[128], deep[128];
    bool any = true, made = false;
    (void)snprintf(slashes, sizeof slashes, "%s//", path);
    assert_true(caucus_folder_look(path, is_letter, name, &any));
    assert_false(any);
    for (int round = 0; round < 2; round++) { /* new, then in place of the first */
        assert_true(caucus_atomic_folder_begin(&folder, slashes, 0700));
        put_in(folder.draft, round == 0 ? "a" : "b");
        assert_int_equal(has(path, "a"), round == 1);
        assert_true(caucus_atomic_folder_end(&folder, is_letter));
        assert_int_not_equal(access(folder.draft, F_OK), 0);
    }
    assert_true(has(path, "b") && !has(path, "a"));
    put_in(path, "notes");
    assert_true(caucus_folder_look(path, is_letter, name, &any));
    assert_string_equal(name, "notes");
    assert_true(any);
    /* One that a crash left is not in the way; ours goes when it is dropped. */
    char left[128];
    (void)snprintf(left, sizeof left, "%s.draft-1", path);
    assert_int_equal(mkdir(left, 0700), 0);
    assert_true(caucus_atomic_folder_begin(&folder, path, 0700));
    (void)snprintf(deep, sizeof deep, "%.90s/x/y/z", folder.draft);
    assert_true(caucus_folder_make(deep, false, &made));
    assert_true(made);
    assert_true(caucus_folder_make(deep, false, &made));
    assert_false(made);
    caucus_atomic_folder_drop(&folder);
    assert_int_not_equal(access(folder.draft, F_OK), 0);
    assert_int_equal(rmdir(left), 0);
    assert_true(has(path, "b"));
    (void)snprintf(deep, sizeof deep, "%.90s/b/c", path);
    assert_false(caucus_folder_make(deep, false, &made));
    assert_int_equal(errno, ENOTDIR);
    caucus_folder_remove(path);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* A rename would put a file in the place of a pipe or a device, /dev/null for one: both are refused and stay. */
static void test_not_a_file(void **state) {
    (void)state;
    struct stat info;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(caucus_atomic_file_write(path, "x", 1, 0600, false));
    assert_int_equal(errno, EINVAL);
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_int_equal(unlink(path), 0);
    assert_false(caucus_atomic_file_write("/dev/null", "x", 1, 0600, false));
    assert_int_equal(errno, EINVAL);
    assert_int_equal(lstat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_write, make_root, remove_root),
                                       cmocka_unit_test_setup_teardown(test_left_drafts, make_root, remove_root),
                                       cmocka_unit_test_setup_teardown(test_writers_at_once, make_root, remove_root),
                                       cmocka_unit_test_setup_teardown(test_load, make_root, remove_root),
                                       cmocka_unit_test_setup_teardown(test_not_a_file, make_root, remove_root),
                                       cmocka_unit_test_setup_teardown(test_folder, make_root, remove_root)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
