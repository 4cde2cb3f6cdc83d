/* SPDX-License-Identifier: Apache-2.0 */
/* What the status page says of the missing, of the experts' shares and of counts, over plain memory: no socket. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fake_server.h"
#include "net/http_view.h"
#include "testing_settings.h"

static caucus_server server = {.lock = PTHREAD_MUTEX_INITIALIZER};
static const uint8_t hash[32];

static void begin_with(caucus_view *view, const caucus_settings *settings, caucus_plan **ret_plan) {
    const uint32_t clients = settings->clients;
    caucus_error error = {0};
    if (caucus_plan_new(settings, ret_plan, &error) != CAUCUS_OK)
        fail_msg("%s: %s", error.field, error.text);
    memset(&server, 0, sizeof server);
    pthread_mutex_init(&server.lock, NULL);
    server.status = (caucus_server_status){.clients = clients,
                                           .present = clients,
                                           .started = true,
                                           .epsilon_choices = 10,
                                           .epsilon_messages = NAN,
                                           .epsilon_reserved = 10,
                                           .budget_epsilon = INFINITY,
                                           .left_epsilon = INFINITY,
                                           .epsilon_device = INFINITY,
                                           .commits = 1,
                                           .deadline_seconds = 30,
                                           .uptime_seconds = 10};
    memset(server.presence, CAUCUS_VIEW_HERE, clients);
    const caucus_http_settings pages = {.plan = *ret_plan, .plan_hash = hash};
    assert_int_equal(caucus_view_open(view, &server, &pages), CAUCUS_OK);
}

static void begin_named(caucus_view *view, caucus_algorithm algorithm, uint32_t clients, const char *names,
                        caucus_plan **ret_plan) {
    caucus_settings settings = testing_settings(algorithm, CAUCUS_TRUST_COORDINATOR, clients, 100, 512, 10);
    settings.names = names;
    begin_with(view, &settings, ret_plan);
}

static void begin(caucus_view *view, caucus_algorithm algorithm, uint32_t clients, caucus_plan **ret_plan) {
    begin_named(view, algorithm, clients, NULL, ret_plan);
}

/* What a function of the page writes. Returns: to be freed. */
static char *written(const caucus_view *view, void (*put)(const caucus_view *view, FILE *to)) {
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    put(view, to);
    assert_int_equal(fclose(to), 0);
    return text;
}

static void has(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("'%s' is not in: %s", part, text);
}

static void end(caucus_view *view, caucus_plan *plan) {
    caucus_view_close(view);
    caucus_plan_free(plan);
}

/* Twelve are named in a sentence; more have a list, which is whole, however many and however scattered they are. */
static void all_that_are_missing_are_listed(void **state) {
    (void)state;
    caucus_view view;
    caucus_plan *plan = NULL;
    enum { CLIENTS = 10000 };
    begin(&view, CAUCUS_ALGORITHM_SVT, CLIENTS, &plan);
    fake_announce(&server, 1, 1, CAUCUS_ASK_COST);
    assert_true(caucus_view_refresh(&view, 0)); /* everybody is seen at 10 s */
    memset(server.presence, CAUCUS_VIEW_ANSWERED, CLIENTS);
    for (uint32_t i = 100; i < 112; i++)
        server.presence[i] = CAUCUS_VIEW_AWAY;
    server.status.uptime_seconds = 10 + 180;
    assert_true(caucus_view_refresh(&view, 0));
    char *text = written(&view, caucus_view_clients);
    assert_null(strstr(text, "missing-list"));
    free(text);

    server.presence[500] = CAUCUS_VIEW_AWAY; /* seen just now */
    memset(server.presence + 700, CAUCUS_VIEW_HERE, 300);
    server.status.uptime_seconds += 3600;
    server.status.seconds_in_step = 31;
    assert_true(caucus_view_refresh(&view, 0));
    text = written(&view, caucus_view_clients);
    has(text, "<details id=\"missing-list\"><summary>All 313 that are missing</summary>");
    has(text, "<tr><td>701 to 1000</td><td>late</td><td>60 min ago</td></tr>");
    has(text, "<tr><td>101 to 112</td><td>away</td><td>63 min ago</td></tr>");
    has(text, "<tr><td>501</td><td>away</td><td>60 min ago</td></tr>");
    free(text);
    text = written(&view, caucus_view_missing);
    has(text, "and 288 more, listed under Clients");
    free(text);

    for (uint32_t i = 0; i < CLIENTS; i += 2) /* every other one: by square, and nobody is left out */
        server.presence[i] = CAUCUS_VIEW_AWAY;
    assert_true(caucus_view_refresh(&view, 0));
    text = written(&view, caucus_view_clients);
    has(text, "<tr><td>1 to 99 (50 of them)</td><td>away</td><td>0 s ago</td></tr>");
    unsigned rows = 0, listed = 0;
    for (const char *row = text; (row = strstr(row, "<tr><td>")); row++) {
        unsigned first = 0, last = 0, count = 0;
        const int read = sscanf(row, "<tr><td>%u to %u (%u of them)", &first, &last, &count);
        listed += read == 3 ? count : read == 2 ? last - first + 1 : 1;
        rows++;
    }
    unsigned missing = 0;
    for (uint32_t i = 0; i < CLIENTS; i++)
        missing += server.presence[i] != CAUCUS_VIEW_ANSWERED;
    assert_int_equal(listed, missing);
    assert_true(rows <= 2 * CAUCUS_VIEW_CELLS);
    free(text);
    text = written(&view, caucus_view_page);
    assert_true(strlen(text) < 60000);
    free(text);
    end(&view, plan);
}

static unsigned times_in(const char *text, const char *part) {
    unsigned count = 0;
    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

/* A square is a link to its clients; each of them then has a place that the keyboard comes to, and a way on. */
static void squares_open_their_clients(void **state) {
    (void)state;
    caucus_view view;
    caucus_plan *plan = NULL;
    enum { CLIENTS = 10000 };
    begin(&view, CAUCUS_ALGORITHM_SVT, CLIENTS, &plan);
    fake_announce(&server, 1, 1, CAUCUS_ASK_COST);
    memset(server.presence, CAUCUS_VIEW_ANSWERED, CLIENTS);
    server.presence[7006] = CAUCUS_VIEW_AWAY;
    server.presence[7107] = CAUCUS_VIEW_HERE;
    server.status.seconds_in_step = 31; /* past the deadline */
    assert_true(caucus_view_refresh(&view, 0));
    char *text = written(&view, caucus_view_clients);
    has(text,
        "<a href=\"/?clients=7001#some\" class=\"c3 has-away\" title=\"clients 7001 to 7100: 99 reported, 0 late, 1 "
        "away\"></a>");
    has(text,
        "<a href=\"/?clients=7101#some\" class=\"c3 has-late\" title=\"clients 7101 to 7200: 99 reported, 1 late, 0 "
        "away\"></a>");
    assert_int_equal(times_in(text, "tabindex"), 0);
    free(text);
    view.from = 7001;
    text = written(&view, caucus_view_clients);
    has(text, "<i class=away title=\"client 7007: away\" role=img tabindex=0></i>");
    assert_int_equal(times_in(text, "tabindex"), 100);
    has(text, "<a href=\"/?clients=6901#some\">earlier</a> <a href=\"/?clients=7101#some\">later</a>");
    free(text);
    view.from = CLIENTS + 1; /* nobody */
    text = written(&view, caucus_view_clients);
    assert_int_equal(times_in(text, "tabindex"), 0);
    free(text);
    end(&view, plan);
}

/* When an expert came: the latest as long ago as its step is open, however late the look; the first one too, in a run
 * that began before anybody looked. */
static void times_are_those_of_announcements(void **state) {
    (void)state;
    caucus_view view;
    caucus_plan *plan = NULL;
    begin(&view, CAUCUS_ALGORITHM_SVT, 10, &plan);
    server.status.uptime_seconds = 6;
    server.status.seconds_in_step = 2;
    fake_announce(&server, 1, 1, CAUCUS_ASK_COST);
    fake_announce(&server, 2, 2, CAUCUS_ASK_COST);
    server.status.commits = 2;
    server.status.steps_decided = 1;
    assert_true(caucus_view_refresh(&view, 0));
    assert_true(view.stretch[0].seen_at == 2);
    assert_true(view.stretch[1].seen_at == 4);
    server.status.uptime_seconds = 11;
    server.status.seconds_in_step = 4;
    fake_announce(&server, 3, 3, CAUCUS_ASK_COST);
    assert_true(caucus_view_refresh(&view, 0));
    assert_true(view.stretch[2].seen_at == 7);
    end(&view, plan);
}

/* Shares count rounds: blocks are alike, phases are not; and a run that is over counts to its end. */
static void experts_have_shares(void **state) {
    (void)state;
    caucus_view view;
    caucus_plan *plan = NULL;
    begin(&view, CAUCUS_ALGORITHM_HEDGE, 10, &plan);
    for (uint32_t block = 1; block <= 401; block++) /* 3, then 5 and 7 by turns: more stretches than are kept */
        fake_announce(&server, block <= 100 ? 3 : block % 3 == 0 ? 5 : 7, block, CAUCUS_ASK_SUMS);
    assert_true(caucus_view_refresh(&view, 0));
    assert_int_equal(caucus_view_in_force(&view, 3), 100);
    assert_int_equal(caucus_view_in_force(&view, 5) + caucus_view_in_force(&view, 7), 300);
    char *text = written(&view, caucus_figure_expert_key);
    has(text, "7, in force: 50 %</span>");
    has(text, "5: 25 %</span>");
    has(text, "3: 25 %</span>");
    free(text);
    server.status.finished = true;
    assert_true(caucus_view_refresh(&view, 0));
    assert_int_equal(caucus_view_in_force(&view, 7), 512 - 100 - 100);
    end(&view, plan);

    begin(&view, CAUCUS_ALGORITHM_STOCH, 10, &plan);
    fake_announce(&server, 1, 1, CAUCUS_ASK_LEAF);
    fake_announce(&server, 2, 5, CAUCUS_ASK_LEAF); /* phase 5 begins with round 16 */
    fake_announce(&server, 1, 6, CAUCUS_ASK_LEAF);
    assert_true(caucus_view_refresh(&view, 0));
    assert_int_equal(caucus_view_in_force(&view, 1), 15);
    assert_int_equal(caucus_view_in_force(&view, 2), 16);
    end(&view, plan);
}

/* Experts that the key tells have a colour each, and keep it; a strip of many stretches is drawn all the same. */
static void colours_tell_experts_apart(void **state) {
    (void)state;
    caucus_view view;
    caucus_plan *plan = NULL;
    begin(&view, CAUCUS_ALGORITHM_HEDGE, 10, &plan);
    uint32_t colour = 0;
    for (uint32_t block = 1; block <= 400; block++) { /* 1 most often, then 2, ... and 9 most seldom */
        fake_announce(&server, 1 + (block * block / 3 % 9) * (block % 2), block, CAUCUS_ASK_SUMS);
        assert_true(caucus_view_refresh(&view, 0));
        if (block == 100)
            colour = caucus_view_colour(&view, 1);
    }
    assert_int_equal(caucus_view_colour(&view, 1), colour);
    char *key = written(&view, caucus_figure_expert_key), *strip = written(&view, caucus_figure_strip);
    for (uint32_t i = 0; i < CAUCUS_VIEW_COLOURS; i++) {
        char box[32], path[32];
        (void)snprintf(box, sizeof box, "<i class=\"box e%u\">", i);
        (void)snprintf(path, sizeof path, "\" class=\"e%u\"/>", i);
        const char *first = strstr(key, box);
        if (!first || strstr(first + 1, box))
            fail_msg("colour %u is not there once: %s", i, key);
        has(strip, path);
    }
    has(key, "others: ");
    assert_null(strstr(strip, "<rect")); /* none is wide enough for a frame */
    free(key);
    free(strip);
    end(&view, plan);
}

extern const unsigned long caucus_web_style_css_length, caucus_web_app_js_length, caucus_web_icon_svg_length;

/* Names as long as they may be, of letters that HTML writes with five, a change with every block, many clients, half of
 * them away: the page and all that it loads stay below 60,000 bytes. */
static void long_names_fit(void **state) {
    (void)state;
    caucus_view view;
    caucus_plan *plan = NULL;
    enum { CLIENTS = CAUCUS_VIEW_DOTS, NAME = 64, EXPERTS = 100 };
    static char names[EXPERTS * (NAME + 1)];
    memset(names, '&', sizeof names);
    for (unsigned y = 0; y < EXPERTS; y++) {
        char *name = names + (size_t)y * (NAME + 1);
        name[0] = (char)('0' + y / 10);
        name[1] = (char)('0' + y % 10);
        name[NAME] = y + 1 < EXPERTS ? ',' : '\0';
    }
    begin_named(&view, CAUCUS_ALGORITHM_HEDGE, CLIENTS, names, &plan);
    for (uint32_t block = 1; block <= 400; block++) {
        fake_announce(&server, block % 60, block, CAUCUS_ASK_SUMS);
        server.status.uptime_seconds = 60.0 * block;
        assert_true(caucus_view_refresh(&view, 0));
    }
    for (uint32_t i = 0; i < CLIENTS; i += 2)
        server.presence[i] = CAUCUS_VIEW_AWAY;
    server.status.present = CLIENTS / 2;
    server.status.seconds_in_step = 31;
    assert_true(caucus_view_refresh(&view, 0));
    char *text = written(&view, caucus_view_page);
    const size_t all =
        strlen(text) + caucus_web_style_css_length + caucus_web_app_js_length + caucus_web_icon_svg_length;
    free(text);
    if (all >= 60000)
        fail_msg("%zu bytes", all);
    end(&view, plan);

    begin_named(&view, CAUCUS_ALGORITHM_SVT, CLIENTS, names, &plan); /* as many as have an element of their own */
    for (uint32_t block = 1; block <= 14; block++)
        fake_announce(&server, block, block, CAUCUS_ASK_COST);
    memset(server.presence, CAUCUS_VIEW_AWAY, CLIENTS);
    server.status.present = 0;
    assert_true(caucus_view_refresh(&view, 0));
    text = written(&view, caucus_view_page);
    assert_true(strlen(text) + caucus_web_style_css_length + caucus_web_app_js_length + caucus_web_icon_svg_length <
                60000);
    free(text);
    end(&view, plan);
}

/* A selection that leaves the expert as it is changes nothing; where switches are a number that is spent, each
 * counts. */
static void selections_are_not_changes(void **state) {
    (void)state;
    caucus_view view;
    caucus_plan *plan = NULL;
    begin(&view, CAUCUS_ALGORITHM_HEDGE, 10, &plan);
    for (uint32_t block = 1; block <= 400; block++)
        fake_announce(&server, block <= 100 ? 3 : block <= 300 ? 5 : 7, block, CAUCUS_ASK_SUMS);
    server.status.selections = 400;
    server.status.selections_allowed = 512;
    assert_true(caucus_view_refresh(&view, 0));
    char *text = written(&view, caucus_view_page);
    has(text,
        "<strong>Changes of expert</strong> <span id=\"switches\" data-live>2 so far; this algorithm selects anew");
    has(text, "<div id=\"switch-bar\" data-live></div>");
    assert_null(strstr(text, "400 of 512"));
    free(text);
    end(&view, plan);

    begin(&view, CAUCUS_ALGORITHM_SVT, 10, &plan);
    fake_announce(&server, 3, 1, CAUCUS_ASK_COST);
    server.status.selections = 4;
    server.status.selections_allowed = 9;
    assert_true(caucus_view_refresh(&view, 0));
    text = written(&view, caucus_view_page);
    has(text, "<strong>Switches</strong> <span id=\"switches\" data-live>4 of 9 used, 5 left</span>");
    free(text);
    end(&view, plan);
}

/* A count of the last hour stands once; where it is not all, all of it stands beside. */
static void counts_stand_once(void **state) {
    (void)state;
    caucus_view view;
    caucus_plan *plan = NULL;
    begin(&view, CAUCUS_ALGORITHM_SVT, 10, &plan);
    fake_announce(&server, 1, 1, CAUCUS_ASK_COST);
    server.status.steps_decided = 41;
    assert_true(caucus_view_refresh(&view, 0));
    char *text = written(&view, caucus_view_page);
    has(text, "<strong>Steps decided</strong> 41<span");
    const char *first = strstr(text, ">Steps decided<");
    assert_non_null(first);
    assert_null(strstr(first + 1, ">Steps decided<"));
    assert_null(strstr(text, "since this process started</span>"));
    free(text);
    server.status.steps_decided = 43;
    server.status.uptime_seconds = 3 * 3600;
    assert_true(caucus_view_refresh(&view, 0));
    text = written(&view, caucus_figure_hour);
    has(text,
        "<strong>Steps decided</strong> 2<span class=\"quiet\">, at most 2 a minute; 43 since this process started");
    free(text);
    end(&view, plan);
}

/* Who looks sees at once that nothing goes on: no time left, no step in hand, and why. */
static void a_run_that_stands_still_says_so(void **state) {
    (void)state;
    caucus_view view;
    caucus_plan *plan = NULL;
    begin(&view, CAUCUS_ALGORITHM_HEDGE, 10, &plan);
    for (uint32_t block = 1; block <= 2; block++) {
        fake_announce(&server, 3, block, CAUCUS_ASK_SUMS);
        server.status.uptime_seconds += 10;
        assert_true(caucus_view_refresh(&view, 0));
    }
    char *text = written(&view, caucus_view_page);
    has(text, "<span class=\"state running\">");
    has(text, "1 of 512 blocks done, about ");
    has(text, "Step in hand");
    free(text);

    server.status.seconds_in_step = 31;
    server.status.answered = 4;
    assert_true(caucus_view_refresh(&view, 0));
    text = written(&view, caucus_view_page);
    has(text, "<span class=\"state overdue\">overdue</span>");
    has(text,
        "<p class=\"warning\"><strong>Overdue.</strong> Past the deadline: waiting for a quorum. 4 of 10 clients");
    has(text, "1 of 512 blocks done</p>");
    has(text, "Step in hand");
    free(text);

    server.status.rollback_claims = 5;
    server.status.rolled_back = true;
    assert_true(caucus_view_refresh(&view, 0));
    text = written(&view, caucus_view_page);
    has(text, "<span class=\"state stopped\">stopped</span>");
    has(text, "1 of 512 blocks done</p>");
    assert_null(strstr(text, "Step in hand"));
    assert_null(strstr(text, "Overdue."));
    free(text);
    end(&view, plan);
}

/* How long a run took is known once it is over, and does not grow. */
static void a_run_that_is_over_took_its_time(void **state) {
    (void)state;
    caucus_view view;
    caucus_plan *plan = NULL;
    begin(&view, CAUCUS_ALGORITHM_SVT, 10, &plan);
    fake_announce(&server, 1, 1, CAUCUS_ASK_COST);
    assert_true(caucus_view_refresh(&view, 0));
    server.status.finished = true;
    server.status.uptime_seconds = 125;
    assert_true(caucus_view_refresh(&view, 0));
    server.status.uptime_seconds = 999999;
    assert_true(caucus_view_refresh(&view, 0));
    char *text = written(&view, caucus_view_page);
    has(text, "<th scope=\"row\">Ran for</th><td>2 min 5 s</td>");
    has(text, "512 of 512 blocks done");
    has(text, "<span>block 512, ");
    has(text, "(0 used; the rest is not given back)");
    free(text);
    end(&view, plan);
}

static void has_not(const char *text, const char *part) {
    if (strstr(text, part))
        fail_msg("'%s' is in: %s", part, text);
}

/* A run without an end that was ended: as many phases as were played, and not all that there could be; nothing is
 * still to come. What was forgotten of its history is known from the state: since when its expert is in force. */
static void a_run_that_was_ended(void **state) {
    (void)state;
    for (int endless = 0; endless <= 1; endless++) {
        caucus_settings settings =
            testing_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, 3, 100, endless ? 0 : 512, 10);
        if (endless) {
            settings.rounds = CAUCUS_ROUNDS_ENDLESS;
            settings.longest_phase = 16;
        }
        caucus_view view;
        caucus_plan *plan = NULL;
        begin_with(&view, &settings, &plan);
        for (uint32_t p = 1; p <= 6; p++)
            fake_announce(&server, p < 3 ? 1 : 7, p + 1, CAUCUS_ASK_LEAF);
        server.from = endless ? 5 : 0; /* of an endless run the latest alone is kept */
        server.status.now.ask = CAUCUS_ASK_NOTHING;
        server.status.now.leaf = CAUCUS_LEAF_STOPPED;
        server.status.finished = true;
        server.status.since_serial = 2;
        server.status.since_block = 4;
        server.status.deadline_seconds = 0;
        assert_true(caucus_view_refresh(&view, 0));
        const caucus_stretch *now = caucus_view_now(&view);
        assert_int_equal(now->serial, 2);
        assert_int_equal(now->block, 4);
        char *text = written(&view, caucus_view_page);
        has(text, endless ? "6 phases done; this run has been ended" : "6 of 10 phases done");
        has(text, "This run was ended for good; expert 7 was in force.");
        has(text, "since phase 4 (announcement 2)");
        has(text, "<span>phase 7");
        has_not(text, "4,611,686");
        has_not(text, "4611686");
        free(text);
        text = written(&view, caucus_view_metrics);
        has_not(text, "4611686");
        free(text);
        end(&view, plan);
    }
}

/* At own pace the clock decides, and not the answers; a record is a slot. */
static void own_pace_is_decided_by_the_clock(void **state) {
    (void)state;
    caucus_settings settings =
        testing_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, 3, 100, CAUCUS_ROUNDS_ENDLESS, 10);
    settings.pace = CAUCUS_PACE_OWN;
    settings.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    settings.phase_time = 86400;
    caucus_view view;
    caucus_plan *plan = NULL;
    begin_with(&view, &settings, &plan);
    server.status.deadline_seconds = 0;
    fake_announce(&server, 1, 2, CAUCUS_ASK_LEAF);
    assert_true(caucus_view_refresh(&view, 0));
    char *text = written(&view, caucus_view_page);
    has(text, "Decided by the clock: 1 h 30 min after the end of each slot of 1 d 0 h, on whatever has come.");
    has(text, "for one slot of a client");
    has_not(text, "everybody has answered");
    free(text);
    end(&view, plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_are_missing_are_listed),
        cmocka_unit_test(squares_open_their_clients),
        cmocka_unit_test(times_are_those_of_announcements),
        cmocka_unit_test(experts_have_shares),
        cmocka_unit_test(colours_tell_experts_apart),
        cmocka_unit_test(long_names_fit),
        cmocka_unit_test(selections_are_not_changes),
        cmocka_unit_test(a_run_that_stands_still_says_so),
        cmocka_unit_test(a_run_that_was_ended),
        cmocka_unit_test(own_pace_is_decided_by_the_clock),
        cmocka_unit_test(counts_stand_once),
        cmocka_unit_test(a_run_that_is_over_took_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
