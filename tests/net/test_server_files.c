/* SPDX-License-Identifier: Apache-2.0 */
/* test_server_files.c: open files: looked at before anybody comes, said when they run out, and no reason to spin. */
#include "net/server_testing.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define CLIENTS 2
#define LOOPS 2u

int __real_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);

int __real_epoll_wait(int epoll, struct epoll_event *event, int events, int patience_ms);
int __wrap_epoll_wait(int epoll, struct epoll_event *event, int events, int patience_ms);

static _Atomic bool none_left;
static _Atomic uint64_t asked, paused; /* accept4() without files, and waits of a loop to their end */

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags) {
    if (!none_left)
        return __real_accept4(fd, address, size, flags);
    asked++;
    errno = EMFILE;
    return -1;
}

int __wrap_epoll_wait(int epoll, struct epoll_event *event, int events, int patience_ms) {
    const int count = __real_epoll_wait(epoll, event, events, patience_ms);
    paused += count == 0 && patience_ms > 0;
    return count;
}

static caucus_plan *small_plan(uint32_t clients) {
    caucus_settings s;
    caucus_plan *plan = NULL;
    caucus_settings_init(&s);
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.clients = clients;
    s.experts = 3;
    s.rounds = 4;
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    return plan;
}

/* What the coordinator says of this many clients, in a process with this many files: its status, and the line. */
static caucus_status open_with(const caucus_plan *plan, uint32_t max_clients, caucus_error *ret_error) {
    hall h;
    hall_init(&h, plan, 3);
    h.settings.loops = LOOPS;
    h.settings.max_clients = max_clients;
    caucus_status status = caucus_server_open(&h.settings, &h.server, ret_error);
    hall_free(&h);
    return status;
}

/* In a process of its own: a limit that is lowered for good cannot be raised again. Returns: 0, or which of them is
 * wrong. */
static int few_files(const caucus_plan *few, const caucus_plan *many) {
    struct rlimit less = {.rlim_cur = 256, .rlim_max = 256};
    caucus_error error = {0};
    if (setrlimit(RLIMIT_NOFILE, &less) != 0)
        return 1;
    if (open_with(few, 1000, &error) != CAUCUS_E_RANGE || strcmp(error.field, "max-clients") != 0 ||
        !strstr(error.text, "1000 connections of clients") || !strstr(error.text, "the limit of open files, 256"))
        return 2;
    if (open_with(few, 0, &error) != CAUCUS_OK) /* not asked for: as many as there can be */
        return 3;
    if (open_with(many, 0, &error) != CAUCUS_E_RANGE || !strstr(error.text, "300 connections of clients"))
        return 4;
    return 0;
}

static void test_limit(void **state) {
    (void)state;
    caucus_plan *few = small_plan(CLIENTS), *many = small_plan(300);
    pid_t child = forked();
    if (child == 0)
        _exit(few_files(few, many));
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
    struct rlimit before, less; /* what the process may raise by itself is raised */
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    less = (struct rlimit){.rlim_cur = 256, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &less), 0);
    if (before.rlim_max >= 2000)
        assert_int_equal(open_with(few, 1000, NULL), CAUCUS_OK);
    caucus_plan_free(few);
    caucus_plan_free(many);
}

static _Atomic uint32_t said;

static void note(void *user, const caucus_log_line *line) {
    (void)user;
    if (line->level == 0 && strstr(line->text, "no connection can be accepted: Too many open files") &&
        strstr(line->text, "the limit of open files is"))
        said++;
}

static void test_run_out(void **state) {
    (void)state;
    caucus_plan *plan = small_plan(CLIENTS);
    hall h;
    hall_init(&h, plan, 3);
    h.settings.loops = LOOPS;
    h.settings.log = note;
    hall_open(&h);
    paused = 0;
    none_left = true;
    wire_end w;
    wire_open(&w, caucus_server_port(h.server)); /* the kernel has it; the coordinator cannot */
    for (int tries = 0; (asked < 8 || said == 0) && tries < PATIENCE_MS; tries++)
        usleep(1000);
    const uint64_t attempts = asked; /* first: pauses that come later do no harm */
    assert_true(attempts >= 8);
    assert_true(attempts <= LOOPS + paused); /* a loop pauses before it asks again: one that spins never waits */
    assert_int_equal(said, 1);               /* and it is not said with every attempt */
    caucus_server_status now;
    caucus_server_get_status(h.server, &now);
    assert_true(now.files_out >= 3);
    none_left = false;
    caucus_frame hello = hello_of(&h, 1, 0), frame;
    assert_true(wire_send(&w, &hello));
    assert_int_equal(wire_receive(&w, 3, &frame, PATIENCE_MS), 1);
    assert_int_equal(frame.kind, CAUCUS_FRAME_WELCOME);
    wire_close(&w);
    hall_stop(&h);
    hall_free(&h);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_run_out), cmocka_unit_test(test_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
