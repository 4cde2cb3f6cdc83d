/* SPDX-License-Identifier: Apache-2.0 */
/* test_server_waits.c: whom a step waits for, over restarts and changes of the lists. The coordinator's loops do not
 * run: the test hands reports over as they do, says when a deadline has passed and when to look at a list, so that
 * nothing here depends on time. */
#include "net/server_testing.h"

#include "net/loop.h"
#include "testing_settings.h"

#include <sys/resource.h>

#define CLIENTS 3
#define MISSED 3
#define HOUR_MS 3600000u /* a deadline that passes when the test says so */

typedef struct post {
    hall hall;
    caucus_connection from[CLIENTS];
    char lines[4096]; /* of the log */
} post;

static void keep_line(void *user, const caucus_log_line *line) {
    post *p = user;
    const size_t used = strlen(p->lines);
    (void)snprintf(p->lines + used, sizeof p->lines - used, "%s\n", line->text);
}

static caucus_plan *three_clients(void) {
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, CLIENTS, 4, 1000, 1);
    caucus_plan *plan = NULL;
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    return plan;
}

static void post_init(post *p, const caucus_plan *plan) {
    memset(p, 0, sizeof *p);
    hall_init(&p->hall, plan, 7);
    p->hall.settings.loops = 1;
    p->hall.settings.deadline_ms = HOUR_MS;
    p->hall.settings.quorum = 2;
    p->hall.settings.missed = MISSED;
    p->hall.settings.log = keep_line;
    p->hall.settings.log_user = p;
}

static void post_open(post *p) {
    caucus_error error = {0};
    p->lines[0] = '\0';
    if (caucus_server_open(&p->hall.settings, &p->hall.server, &error) != CAUCUS_OK)
        fail_msg("server: %s: %s", error.field, error.text);
}

static void post_close(post *p) {
    caucus_server_close(p->hall.server);
    p->hall.server = NULL;
}

static void join_with(post *p, uint32_t client, const char *serial) {
    caucus_server *s = p->hall.server;
    p->from[client - 1] = (caucus_connection){.loop = s->loop[0], .client = client};
    p->from[client - 1].session = caucus_step_take_session(s->loop[0], client).session;
    caucus_waits_joined(s->loop[0], client, serial);
    caucus_step_look(s);
}

static void join(post *p, uint32_t client) {
    join_with(p, client, "");
}

static caucus_announcement now_in(const post *p) {
    caucus_announcement now;
    (void)caucus_server_history(p->hall.server, caucus_server_history(p->hall.server, 0, NULL, 0) - 1, &now, 1);
    return now;
}

static void answer(post *p, uint32_t client) {
    static const int64_t none[4] = {0};
    caucus_loop *loop = p->hall.server->loop[0];
    const caucus_announcement now = now_in(p);
    uint64_t cost_next, sums_next;
    caucus_coordinator_shown(p->hall.server->machine, client, &cost_next, &sums_next);
    loop->report[0] = (caucus_report){.client = client,
                                      .kind = now.ask,
                                      .first = sums_next, /* what it has not reported, too */
                                      .block = now.block,
                                      .epoch_or_leaf = now.epoch,
                                      .count = 4,
                                      .value = none};
    loop->from[0] = &p->from[client - 1];
    loop->reports = 1;
    caucus_step_count(loop);
    loop->reports = 0;
    assert_int_equal(loop->answer[0], CAUCUS_OK);
}

static void deadline_passes(post *p) {
    pthread_mutex_lock(&p->hall.server->lock);
    p->hall.server->overdue = true;
    pthread_mutex_unlock(&p->hall.server->lock);
    caucus_step_look(p->hall.server);
}

/* Clients 1 and 2 answer the step in hand; has that decided it? */
static bool two_answer(post *p) {
    const uint64_t step = now_in(p).serial;
    answer(p, 1);
    answer(p, 2);
    return now_in(p).serial == step + 1;
}

static void waited_for(const post *p, uint32_t waited, uint32_t missing) {
    caucus_server_status status;
    caucus_server_get_status(p->hall.server, &status);
    assert_int_equal(status.waited_for, waited);
    assert_int_equal(status.missing, missing);
}

/* Of those that are not waited for. */
static void counted(const post *p, uint32_t excused, uint32_t revoked, uint32_t expired) {
    caucus_server_status status;
    caucus_server_get_status(p->hall.server, &status);
    assert_int_equal(status.excused, excused);
    assert_int_equal(status.revoked, revoked);
    assert_int_equal(status.expired, expired);
}

static void says(const post *p, const char *line) {
    if (!strstr(p->lines, line))
        fail_msg("not said: %s\nbut:\n%s", line, p->lines);
}

/* A coordinator that is started again knows how many deadlines each client has let pass. */
static void test_missed_deadlines_are_kept(void **state) {
    (void)state;
    caucus_plan *plan = three_clients();
    post p;
    post_init(&p, plan);
    post_open(&p);
    for (uint32_t i = 1; i <= CLIENTS; i++)
        join(&p, i);
    for (int late = 1; late < MISSED; late++) {
        assert_false(two_answer(&p)); /* it is waited for */
        deadline_passes(&p);
        assert_int_equal(now_in(&p).serial, late);
        waited_for(&p, CLIENTS, 0);
        post_close(&p);
        post_open(&p);
        join(&p, 1);
        join(&p, 2);
    }
    assert_false(two_answer(&p));
    deadline_passes(&p);
    waited_for(&p, CLIENTS - 1, 1);
    says(&p, "client 3 has missed 3 deadlines: it is waited for no more until it is back");
    assert_true(two_answer(&p));
    for (int again = 0; again < 2; again++) {
        post_close(&p);
        post_open(&p);
        waited_for(&p, CLIENTS - 1, 1); /* from the start */
        says(&p, "client 3 had missed 3 deadlines: it is waited for no more until it is back");
        join(&p, 1);
        join(&p, 2);
        assert_true(two_answer(&p));
    }
    join(&p, 3);
    waited_for(&p, CLIENTS, 0);
    assert_false(two_answer(&p));
    answer(&p, 3);
    post_close(&p);
    post_open(&p);
    waited_for(&p, CLIENTS, 0); /* it was back, and that is kept, too */
    post_close(&p);
    p.hall.settings.missed = 0; /* somebody who waits for everybody does not care what was counted before */
    post_open(&p);
    waited_for(&p, CLIENTS, 0);
    hall_free(&p.hall);
    caucus_plan_free(plan);
}

/* Every altered byte of what is kept is refused: nobody is waited for, or not, by accident. */
static void test_what_is_kept_is_read_strictly(void **state) {
    (void)state;
    caucus_plan *plan = three_clients();
    post p;
    post_init(&p, plan);
    post_open(&p);
    caucus_server *s = p.hall.server;
    caucus_piece piece[2] = {0};
    caucus_waits_set_missed(s, 1, 1);
    caucus_waits_set_missed(s, 3, 7);
    caucus_waits_joined(s->loop[0], 2, "AB12"); /* one byte at most of its 2 + 1 + 2 can be another and still be good */
    caucus_waits_joined(s->loop[0], 3, "");
    assert_int_equal(s->waits.missed[2], 0);
    caucus_waits_set_missed(s, 3, UINT32_MAX);
    assert_true(caucus_waits_save(s, piece));
    assert_int_equal(piece[0].size, 4 + 2 * 6);
    assert_int_equal(piece[1].size, 4 + 3 + 2);
    for (uint32_t i = 1; i <= CLIENTS; i++) {
        caucus_waits_set_missed(s, i, 0);
        caucus_serials_note(&s->waits.serials, i, "");
    }
    assert_true(caucus_waits_restore(s, piece));
    assert_true(s->waits.missed[0] == 1 && s->waits.missed[1] == 0 && s->waits.missed[2] == UINT32_MAX);
    assert_true(s->waits.serials.serial[0] == NULL && s->waits.serials.serial[2] == NULL);
    assert_string_equal(s->waits.serials.serial[1], "AB12");
    for (int kind = 0; kind < 2; kind++)
        for (size_t size = 0; size < piece[kind].size; size++) {
            caucus_piece cut[2] = {piece[0], piece[1]};
            cut[kind].size = size;
            assert_false(caucus_waits_restore(s, cut));
        }
    static const struct {
        int kind;
        size_t at;
        uint8_t value;
    } bad[] = {{0, 0, 1}, {0, 0, 3}, {0, 4, 2}, {0, 4, 3}, {0, 6, 0}, {0, 10, 0}, {0, 10, 3}, {0, 11, 1},
               {1, 0, 0}, {1, 0, 2}, {1, 4, 3}, {1, 5, 1}, {1, 6, 0}, {1, 6, 1},  {1, 6, 3},  {1, 6, 255}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint8_t *byte = &piece[bad[i].kind].bytes[bad[i].at], before = *byte;
        *byte = bad[i].value;
        assert_false(caucus_waits_restore(s, piece));
        *byte = before;
    }
    caucus_piece_free(&piece[0]);
    caucus_piece_free(&piece[1]);
    hall_free(&p.hall);
    caucus_plan_free(plan);
}

/* A list, written whole; the next look at it finds it changed, since no two of a test are equally long. */
static void write_list(const post *p, const char *text) {
    FILE *file = fopen(p->hall.settings.revoked, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* A second has passed: the loop looks at the list. */
static void second_passes(post *p) {
    caucus_loop *loop = p->hall.server->loop[0];
    loop->now_ns = loop->watch_ns;
    caucus_watch_turn(loop);
}

/* A coordinator with an empty list of the revoked, and no limit to missed deadlines. */
static void post_open_with_list(post *p, caucus_plan *plan, char list[96]) {
    post_init(p, plan);
    (void)snprintf(list, 96, "%s.list", p->hall.dir);
    p->hall.settings.revoked = list;
    p->hall.settings.missed = 0;
    write_list(p, "");
    post_open(p);
}

/* Who is on the list of the revoked is not waited for as long as it is on it, and not a second longer. */
static void test_revoked_as_long_as_the_list_says(void **state) {
    (void)state;
    caucus_plan *plan = three_clients();
    char list[96];
    post p;
    post_open_with_list(&p, plan, list);
    for (uint32_t i = 1; i <= CLIENTS; i++)
        join(&p, i);
    second_passes(&p);
    waited_for(&p, CLIENTS, 0);
    /* By its number. */
    assert_false(two_answer(&p));
    write_list(&p, "3\n");
    second_passes(&p);
    assert_int_equal(now_in(&p).serial, 1); /* that closed the step */
    waited_for(&p, CLIENTS - 1, 0);
    write_list(&p, "# 3\n");
    second_passes(&p);
    waited_for(&p, CLIENTS, 0); /* without having come again */
    says(&p, "client 3 is let in again: it is waited for again");
    assert_false(two_answer(&p));
    answer(&p, 3);
    assert_int_equal(now_in(&p).serial, 2);
    /* By its certificate's serial number, which is known once it has come with it. */
    write_list(&p, "0xAB12\n");
    second_passes(&p);
    waited_for(&p, CLIENTS, 0);
    caucus_waits_revoked(p.hall.server, 3, "AB12");
    waited_for(&p, CLIENTS - 1, 0);
    second_passes(&p);
    waited_for(&p, CLIENTS - 1, 0);
    assert_true(two_answer(&p));
    write_list(&p, "0xCD12 # not that one\n");
    second_passes(&p);
    waited_for(&p, CLIENTS, 0);
    /* A list that cannot be read changes nothing, either way. */
    write_list(&p, "3 and what is this\n");
    second_passes(&p);
    waited_for(&p, CLIENTS, 0);
    /* Another certificate of the client is on the list: that says nothing about the one it is connected with. */
    write_list(&p, "0xAB12\n0xCD12\n0xEF12\n");
    join(&p, 3);
    second_passes(&p);
    waited_for(&p, CLIENTS, 0);
    caucus_waits_refused(p.hall.server, 3, "AB12");
    waited_for(&p, CLIENTS, 0);
    atomic_store(&p.hall.server->session[2], 0); /* gone */
    caucus_waits_refused(p.hall.server, 3, "AB12");
    waited_for(&p, CLIENTS - 1, 0);
    join(&p, 3);
    waited_for(&p, CLIENTS, 0);
    /* An expired certificate is on no list: it takes another one. */
    caucus_waits_expired(p.hall.server, 3);
    second_passes(&p);
    waited_for(&p, CLIENTS - 1, 0);
    join(&p, 3);
    waited_for(&p, CLIENTS, 0);
    hall_free(&p.hall);
    caucus_plan_free(plan);
    assert_int_equal(unlink(list), 0);
}

/* By the serial number of the certificate that it came with last: while it is away, and by a coordinator that is
 * started since, before it has come again. */
static void test_revoked_while_away(void **state) {
    (void)state;
    caucus_plan *plan = three_clients();
    char list[96];
    post p;
    post_open_with_list(&p, plan, list);
    join(&p, 1);
    join(&p, 2);
    join_with(&p, 3, "0A1B");
    assert_false(two_answer(&p));
    answer(&p, 3); /* a decision: what is known is kept */
    assert_int_equal(now_in(&p).serial, 1);
    atomic_store(&p.hall.server->session[2], 0); /* it goes */
    write_list(&p, "a1b\n");
    second_passes(&p);
    waited_for(&p, CLIENTS - 1, 0); /* it need not come to be found on the list */
    counted(&p, 0, 1, 0);
    for (int again = 0; again < 2; again++) {
        post_close(&p);
        post_open(&p);
        second_passes(&p);
        waited_for(&p, CLIENTS - 1, 0);
        says(&p, "client 3 is not let in any more: nobody waits for it");
        join(&p, 1);
        join(&p, 2);
        assert_true(two_answer(&p));
    }
    write_list(&p, "# nobody\n");
    second_passes(&p);
    waited_for(&p, CLIENTS, 0);
    write_list(&p, "a1b # again\n");
    second_passes(&p);
    waited_for(&p, CLIENTS - 1, 0);
    join_with(&p, 3, "0C2D"); /* it has got another */
    second_passes(&p);
    waited_for(&p, CLIENTS, 0);
    assert_false(two_answer(&p));
    answer(&p, 3);
    post_close(&p);
    post_open(&p);
    second_passes(&p);
    waited_for(&p, CLIENTS, 0); /* and that is kept, too */
    counted(&p, 0, 0, 0);
    hall_free(&p.hall);
    caucus_plan_free(plan);
    assert_int_equal(unlink(list), 0);
}

/* Whoever is not waited for is counted once, whatever is true of it. */
static void test_counted_once(void **state) {
    (void)state;
    caucus_plan *plan = three_clients();
    post p;
    post_init(&p, plan);
    post_open(&p);
    caucus_waits_expired(p.hall.server, 2);
    counted(&p, 0, 0, 1);
    caucus_waits_revoked(p.hall.server, 2, NULL);
    caucus_waits_revoked(p.hall.server, 3, "AB");
    counted(&p, 0, 2, 0);
    waited_for(&p, 1, 0);
    hall_free(&p.hall);
    caucus_plan_free(plan);
}

/* A list that could not be read is tried again, though the file is the one it was: it is not always the file's fault.
 * What is wrong is said once, and again to who asks. */
static void test_excused_is_tried_again(void **state) {
    (void)state;
    char path[] = "/tmp/caucus-excused-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "2\n", 2), 2);
    assert_int_equal(close(file), 0);
    caucus_excused e = {.path = path, .clients = CLIENTS};
    uint8_t list[CLIENTS] = {0};
    bool news = false;
    caucus_error error = {0};
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    const caucus_status first = caucus_excused_look(&e, list, &news, &error),
                        second = caucus_excused_look(&e, list, &news, NULL);
    caucus_excused_again(&e);
    const caucus_status asked = caucus_excused_look(&e, list, &news, NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_not_equal(first, CAUCUS_OK);
    assert_non_null(strstr(error.text, "excused"));
    assert_int_equal(second, CAUCUS_OK);
    assert_int_equal(asked, first);
    assert_false(news || e.good || list[1]);
    assert_int_equal(caucus_excused_look(&e, list, &news, NULL), CAUCUS_OK);
    assert_true(news && e.good && list[1] && !list[0]);
    assert_int_equal(caucus_excused_look(&e, list, &news, NULL), CAUCUS_OK);
    assert_false(news);
    caucus_excused_again(&e);
    assert_int_equal(caucus_excused_look(&e, list, &news, NULL), CAUCUS_OK);
    assert_true(news);
    static const char *const wrong[] = {"x\n", "xy\n"}; /* wrong in the same way: said once of each */
    for (size_t i = 0; i < 2; i++) {
        FILE *to = fopen(path, "w");
        assert_non_null(to);
        assert_true(fputs(wrong[i], to) >= 0);
        assert_int_equal(fclose(to), 0);
        assert_int_equal(caucus_excused_look(&e, list, &news, NULL), CAUCUS_E_FORMAT);
        assert_int_equal(caucus_excused_look(&e, list, &news, NULL), CAUCUS_OK);
        assert_false(news || e.good);
    }
    assert_int_equal(unlink(path), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_missed_deadlines_are_kept),
                                       cmocka_unit_test(test_what_is_kept_is_read_strictly),
                                       cmocka_unit_test(test_revoked_as_long_as_the_list_says),
                                       cmocka_unit_test(test_revoked_while_away),
                                       cmocka_unit_test(test_counted_once),
                                       cmocka_unit_test(test_excused_is_tried_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
