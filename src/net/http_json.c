/* http_json.c: /api/v1/status. docs/OPERATIONS.md lists every key; a test holds them to that list.
 *
 * A number that does not exist (an infinite epsilon, messages that are not private) is null. */
#include <inttypes.h>
#include <math.h>

#include <caucus/version.h>

#include "net/http_view.h"

static void put_string(FILE *to, const char *text) {
    (void)fputc('"', to);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            (void)fprintf(to, "\\%c", *p);
        else if (*p < 0x20 || *p == 0x7f)
            (void)fprintf(to, "\\u%04x", *p);
        else
            (void)fputc(*p, to);
    }
    (void)fputc('"', to);
}

static void string(FILE *to, const char *key, const char *value) {
    (void)fprintf(to, "\"%s\":", key);
    put_string(to, value);
    (void)fputs(",\n", to);
}

static void whole(FILE *to, const char *key, uint64_t value) {
    (void)fprintf(to, "\"%s\":%llu,\n", key, (unsigned long long)value);
}

static void number(FILE *to, const char *key, double value) {
    if (isfinite(value))
        (void)fprintf(to, "\"%s\":%.9g,\n", key, value);
    else
        (void)fprintf(to, "\"%s\":null,\n", key);
}

static void truth(FILE *to, const char *key, bool value) {
    (void)fprintf(to, "\"%s\":%s,\n", key, value ? "true" : "false");
}

static void put_plan(const caucus_view *view, FILE *to) {
    const caucus_settings *settings = &view->plan->settings;
    string(to, "name", view->name);
    string(to, "version", CAUCUS_VERSION);
    string(to, "plan", view->plan_hash);
    string(to, "algorithm", caucus_algorithm_word(settings->algorithm));
    string(to, "trust", caucus_trust_word(settings->trust));
    string(to, "unit", caucus_unit_word(settings->unit));
    whole(to, "experts", settings->experts);
    whole(to, "rounds", settings->rounds);
    string(to, "block_word", caucus_view_block_word(view));
    whole(to, "blocks", caucus_view_blocks(view));
}

static void put_now(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    const caucus_stretch *now = caucus_view_now(view);
    string(to, "state", caucus_view_state(view));
    truth(to, "seeded", s->seeded);
    if (now) {
        whole(to, "expert", now->expert);
        whole(to, "since_block", now->block);
        whole(to, "since_serial", now->serial);
        whole(to, "serial", s->now.serial);
        whole(to, "block", s->now.block);
        whole(to, "step", s->now.step);
    } else {
        (void)fputs("\"expert\":null,\n\"since_block\":null,\n\"since_serial\":null,\n\"serial\":null,\n\"block\":null,"
                    "\n\"step\":null,\n",
                    to);
    }
    string(to, "ask", caucus_view_ask(view));
    whole(to, "clients", s->clients);
    whole(to, "present", s->present);
    whole(to, "answered", s->answered);
    whole(to, "expected", caucus_view_expected(view));
    truth(to, "overdue", caucus_view_overdue(view));
    number(to, "seconds_in_step", s->seconds_in_step);
    number(to, "deadline_seconds", s->deadline_seconds);
    number(to, "uptime_seconds", s->uptime_seconds);
}

static void put_spent(const caucus_server_status *s, FILE *to) {
    number(to, "epsilon_choices", s->epsilon_choices);
    number(to, "epsilon_messages", s->epsilon_messages);
    number(to, "delta", s->delta);
    number(to, "epsilon_spent", s->epsilon_spent);
    whole(to, "selections", s->selections);
    whole(to, "switches_allowed", s->switches_allowed);
    whole(to, "checks", s->checks);
    whole(to, "steps_closed", s->steps_closed);
    whole(to, "commits", s->commits);
    whole(to, "reports", s->reports);
    whole(to, "refused", s->refused);
    whole(to, "bytes_in", s->bytes_in);
    whole(to, "bytes_out", s->bytes_out);
    whole(to, "scalars_up", s->scalars_up);
    whole(to, "scalars_paper", s->scalars_paper);
}

/* Presence as one digit per client, client 1 first: 0 away, 1 present, 2 answered. */
static void put_presence(const caucus_view *view, FILE *to) {
    (void)fputs("\"presence\":", to);
    if (!view->presence) {
        (void)fputs("null\n", to);
        return;
    }
    (void)fputc('"', to);
    for (uint32_t i = 0; i < view->plan->settings.clients; i++)
        (void)fputc('0' + (view->presence[i] > 2 ? 0 : view->presence[i]), to);
    (void)fputs("\"\n", to);
}

void caucus_view_json(const caucus_view *view, FILE *to) {
    (void)fputs("{\n", to);
    put_plan(view, to);
    put_now(view, to);
    put_spent(&view->status, to);
    whole(to, "history_left_off", view->left_off);
    (void)fputs("\"history\":[", to);
    for (uint32_t i = 0; i < view->stretches; i++)
        (void)fprintf(to, "%s{\"serial\":%" PRIu64 ",\"block\":%" PRIu64 ",\"expert\":%u}", i ? "," : "",
                      view->stretch[i].serial, view->stretch[i].block, view->stretch[i].expert);
    (void)fputs("],\n", to);
    put_presence(view, to);
    (void)fputs("}\n", to);
}
