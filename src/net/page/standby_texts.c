/* SPDX-License-Identifier: Apache-2.0 */
/* standby_texts.c: see standby_texts.h. */
#include "net/page/standby_texts.h"

#include <inttypes.h>

#include <caucus/version.h>

#include "store/html.h"
#include "store/json.h"

static caucus_store_waiting look(caucus_standing *s) {
    pthread_mutex_lock(&s->lock);
    const caucus_store_waiting now = s->now;
    pthread_mutex_unlock(&s->lock);
    return now;
}

static void head(FILE *to, const char *name, const char *help) {
    (void)fprintf(to, "# HELP caucus_%s %s\n# TYPE caucus_%s gauge\n", name, help, name);
}

static void put_metrics(void *user, FILE *to) {
    const caucus_store_waiting now = look(user), *w = &now;
    head(to, "role", "What this coordinator is. Always 1.");
    (void)fputs("caucus_role{role=\"standby\"} 1\n", to);
    head(to, "term", "Of the run, as last read.");
    (void)fprintf(to, "caucus_term %" PRIu64 "\n", w->term);
    head(to, "standby_reached", "1 while the database can be reached.");
    (void)fprintf(to, "caucus_standby_reached %d\n", w->reached);
    head(to, "standby_announcements", "Announcements that were committed when the run was last read.");
    (void)fprintf(to, "caucus_standby_announcements %" PRIu64 "\n", w->announcements);
}

static void put_json(void *user, FILE *to) {
    caucus_standing *s = user;
    const caucus_store_waiting now = look(s), *w = &now;
    caucus_json j;
    caucus_json_begin(&j, to, false);
    caucus_json_text(&j, "role", "standby");
    caucus_json_text(&j, "name", s->name);
    caucus_json_text(&j, "program", "caucus " CAUCUS_VERSION);
    caucus_json_text(&j, "plan", s->plan);
    caucus_json_truth(&j, "reached", w->reached);
    caucus_json_whole(&j, "term", w->term);
    caucus_json_whole(&j, "announcements", w->announcements);
    caucus_json_end(&j);
}

static bool put_ready(void *user, FILE *to) {
    const caucus_store_waiting now = look(user), *w = &now;
    if (w->reached)
        (void)fprintf(to, "standing by: term %" PRIu64 ", %" PRIu64 " announcements\n", w->term, w->announcements);
    else
        (void)fputs("standing by, and the database cannot be reached\n", to);
    return w->reached;
}

/* The page asks for itself again, so that after a takeover it is the coordinator's. */
static void put_page(void *user, FILE *to) {
    caucus_standing *s = user;
    const caucus_store_waiting now = look(s), *w = &now;
    (void)fputs("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
                "<meta http-equiv=\"refresh\" content=\"5\">"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
                "<link rel=\"icon\" href=\"/icon.svg\"><link rel=\"stylesheet\" href=\"/style.css\"><title>",
                to);
    caucus_html_put(to, s->name);
    (void)fputs(": standing by</title></head><body><main><h1>", to);
    caucus_html_put(to, s->name);
    (void)fputs("</h1><p>This coordinator stands by: another one has the run.</p>", to);
    if (w->reached)
        (void)fprintf(to, "<p>Term %" PRIu64 ", %" PRIu64 " announcements are committed.</p>", w->term,
                      w->announcements);
    else
        (void)fputs("<p class=\"warning\"><strong>No database.</strong> It cannot be reached, and this coordinator "
                    "cannot take over before it can.</p>",
                    to);
    (void)fputs("</main></body></html>\n", to);
}

void caucus_standing_init(caucus_standing *s, const char *name, const char *plan) {
    *s = (caucus_standing){.name = name ? name : "caucus", .plan = plan};
    pthread_mutex_init(&s->lock, NULL);
    s->texts =
        (caucus_http_texts){.page = put_page, .metrics = put_metrics, .json = put_json, .ready = put_ready, .user = s};
}

void caucus_standing_say(caucus_standing *s, const caucus_store_waiting *now) {
    pthread_mutex_lock(&s->lock);
    s->now = *now;
    pthread_mutex_unlock(&s->lock);
}
