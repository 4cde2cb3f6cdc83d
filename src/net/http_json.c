/* SPDX-License-Identifier: Apache-2.0 */
/* http_json.c: /api/v1/status. docs/RUNTIME.md lists every key, docs/schemas/status.json says what they hold; a test
 * holds them to both. */
#include <caucus/version.h>
#include <math.h>
#include <stdlib.h>

#include "net/http_view.h"
#include "store/json.h"
#include "store/look_json.h"

/* What has no end is null. */
static void put_count(caucus_json *j, const char *key, uint64_t value) {
    if (value == CAUCUS_ROUNDS_ENDLESS)
        caucus_json_null(j, key);
    else
        caucus_json_whole(j, key, value);
}

static void put_plan(const caucus_view *view, caucus_json *j) {
    const caucus_settings *settings = &view->plan->settings;
    caucus_json_text(j, "name", view->name);
    caucus_json_text(j, "program", "caucus " CAUCUS_VERSION);
    caucus_json_text(j, "plan", view->plan_hash);
    caucus_json_text(j, "algorithm", caucus_algorithm_word(settings->algorithm));
    caucus_json_text(j, "trust", caucus_trust_word(settings->trust));
    caucus_json_text(j, "unit", caucus_unit_word(settings->unit));
    caucus_json_whole(j, "experts", settings->experts);
    put_count(j, "rounds", settings->rounds);
    caucus_json_text(j, "block_word", caucus_view_block_word(view));
    put_count(j, "blocks", caucus_view_blocks(view));
}

static void put_now(const caucus_view *view, caucus_json *j) {
    const caucus_server_status *s = &view->status;
    const caucus_stretch *now = caucus_view_now(view);
    caucus_json_text(j, "state", caucus_view_state(view));
    caucus_json_truth(j, "seeded", s->seeded);
    const struct {
        const char *key;
        uint64_t value;
    } figure[] = {{"expert", now ? now->expert : 0},
                  {"since_block", now ? now->block : 0},
                  {"since_serial", now ? now->serial : 0},
                  {"serial", s->now.serial},
                  {"block", s->now.block},
                  {"leaf", s->now.leaf}};
    for (size_t i = 0; i < sizeof figure / sizeof figure[0]; i++) {
        if (now)
            caucus_json_whole(j, figure[i].key, figure[i].value);
        else
            caucus_json_null(j, figure[i].key);
    }
    caucus_json_text(j, "expert_name", now ? caucus_plan_expert_name(view->plan, now->expert) : NULL);
    caucus_json_text(j, "ask", caucus_view_ask(view));
    caucus_json_whole(j, "clients", s->clients);
    caucus_json_whole(j, "present", s->present);
    caucus_json_whole(j, "waited_for", s->waited_for);
    caucus_json_whole(j, "excused", s->excused);
    caucus_json_whole(j, "revoked", s->revoked);
    caucus_json_whole(j, "expired", s->expired);
    caucus_json_whole(j, "missing", s->missing);
    caucus_json_whole(j, "answered", s->answered);
    caucus_json_whole(j, "expected", caucus_view_expected(view));
    caucus_json_truth(j, "overdue", caucus_view_overdue(view));
    caucus_json_real(j, "seconds_in_step", s->seconds_in_step);
    caucus_json_real(j, "deadline_seconds", s->deadline_seconds);
    caucus_json_real(j, "uptime_seconds", s->uptime_seconds);
}

static void put_spent(const caucus_server_status *s, caucus_json *j) {
    caucus_json_real(j, "epsilon_choices", s->epsilon_choices);
    caucus_json_real(j, "epsilon_messages", s->epsilon_messages);
    caucus_json_real(j, "epsilon_device", s->epsilon_device);
    caucus_json_real(j, "delta", s->delta);
    caucus_json_real(j, "epsilon_spent", s->epsilon_spent);
    caucus_json_real(j, "epsilon_reserved", s->epsilon_reserved);
    caucus_json_real(j, "budget_epsilon", s->budget_epsilon);
    caucus_json_real(j, "budget_delta", s->budget_delta);
    caucus_json_real(j, "left_epsilon", s->left_epsilon);
    caucus_json_real(j, "left_delta", s->left_delta);
    caucus_json_whole(j, "selections", s->selections);
    caucus_json_whole(j, "selections_allowed", s->selections_allowed);
    caucus_json_whole(j, "checks", s->checks);
    caucus_json_whole(j, "steps_decided", s->steps_decided);
    caucus_json_whole(j, "commits", s->commits);
    caucus_json_real(j, "committing_seconds", s->committing_seconds);
    caucus_json_whole(j, "term", s->term);
    caucus_json_whole(j, "unknown_outcomes", s->unknown_outcomes);
    caucus_json_whole(j, "reports", s->reports);
    caucus_json_whole(j, "refused", s->refused);
    caucus_json_whole(j, "rollback_claims", s->rollback_claims);
    caucus_json_whole(j, "bytes_in", s->bytes_in);
    caucus_json_whole(j, "bytes_out", s->bytes_out);
    caucus_json_whole(j, "scalars_up", s->scalars_up);
    caucus_json_whole(j, "scalars_paper", s->scalars_paper);
}

/* null: there are none. */
static void put_relays(const caucus_server_status *s, caucus_json *j) {
    const caucus_hub_status *r = &s->relays;
    if (r->count == 0) {
        caucus_json_null(j, "relays");
        return;
    }
    caucus_json_object(j, "relays");
    caucus_json_truth(j, "nats_up", r->up);
    caucus_json_whole(j, "count", r->count);
    caucus_json_whole(j, "here", r->here);
    caucus_json_whole(j, "clients", r->clients);
    caucus_json_whole(j, "reports", r->reports);
    caucus_json_whole(j, "accepted", r->accepted);
    caucus_json_whole(j, "stale", r->stale);
    caucus_json_whole(j, "refused", r->refused);
    caucus_json_whole(j, "cut_off", r->cut_off);
    caucus_json_list(j, "each");
    for (uint32_t i = 0; i < r->count && i < CAUCUS_RELAYS_LISTED; i++) {
        caucus_json_object_row(j, NULL);
        caucus_json_whole(j, "relay", s->relay[i].number);
        caucus_json_truth(j, "here", s->relay[i].here);
        caucus_json_whole(j, "clients", s->relay[i].clients);
        caucus_json_whole(j, "accepted", s->relay[i].accepted);
        caucus_json_whole(j, "stale", s->relay[i].stale);
        caucus_json_whole(j, "refused", s->relay[i].refused);
        caucus_json_whole(j, "durable", s->relay[i].durable);
        caucus_json_close(j);
    }
    caucus_json_close(j);
    caucus_json_close(j);
}

/* Presence as one digit per client, client 1 first: 0 away, 1 present, 2 answered; null where there are too many
 * clients to show one by one. At most CAUCUS_VIEW_LISTED clients have one. */
static void put_presence(const caucus_view *view, caucus_json *j) {
    char digits[CAUCUS_VIEW_LISTED + 1];
    uint32_t clients = view->plan->settings.clients;
    const bool listed = view->presence && clients <= CAUCUS_VIEW_LISTED;
    for (uint32_t i = 0; listed && i < clients; i++)
        digits[i] = (char)('0' + (view->presence[i] > 2 ? 0 : view->presence[i]));
    digits[listed ? clients : 0] = '\0';
    caucus_json_text(j, "presence", listed ? digits : NULL);
}

void caucus_view_json(const caucus_view *view, FILE *to) {
    caucus_json j;
    caucus_json_begin(&j, to, false);
    put_plan(view, &j);
    put_now(view, &j);
    put_spent(&view->status, &j);
    caucus_json_list(&j, "look");
    for (uint32_t i = 0; i < view->status.looks; i++)
        caucus_look_json(&j, NULL, &view->status.look[i], view->plan);
    caucus_json_close(&j);
    caucus_json_whole(&j, "history_left_off", view->left_off);
    caucus_json_list_row(&j, "history");
    for (uint32_t i = 0; i < view->stretches; i++) {
        caucus_json_object(&j, NULL);
        caucus_json_whole(&j, "serial", view->stretch[i].serial);
        caucus_json_whole(&j, "block", view->stretch[i].block);
        caucus_json_whole(&j, "expert", view->stretch[i].expert);
        caucus_json_text(&j, "name", caucus_plan_expert_name(view->plan, view->stretch[i].expert));
        caucus_json_real(&j, "uptime_seconds", view->stretch[i].seen_at >= 0 ? view->stretch[i].seen_at : (double)NAN);
        caucus_json_close(&j);
    }
    caucus_json_close(&j);
    put_presence(view, &j);
    put_relays(&view->status, &j);
    caucus_json_end(&j);
}
