/* SPDX-License-Identifier: Apache-2.0 */
/* http_page.c: the page itself: web/index.html with each {{key}} replaced by what its function writes.
 *
 * The page is whole as it is served; web/app.js only fetches it again and exchanges what has changed. So it reads the
 * same with scripts off, and there is one place that turns a number into words. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <caucus/version.h>

#include "net/http_view.h"
#include "plan/family.h"
#include "plan/stoch/look.h"
#include "store/look_json.h"

extern const char caucus_web_index_html[];
extern const unsigned long caucus_web_index_html_length;

#define TABLE_STRETCHES 20 /* rows of the table of experts, the latest first */

void caucus_put_thousands(FILE *to, uint64_t value) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            (void)fputc(',', to);
        (void)fputc(digits[i], to);
    }
}

void caucus_put_bytes(FILE *to, uint64_t bytes) {
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB"};
    if (bytes < 1000) {
        (void)fprintf(to, "%" PRIu64 " bytes", bytes);
        return;
    }
    double value = (double)bytes / 1000;
    size_t unit = 0;
    while (value >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        unit++;
    }
    (void)fprintf(to, value < 9.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void caucus_put_ago(FILE *to, double seconds) {
    const uint64_t s = seconds > 0 ? (uint64_t)seconds : 0;
    if (s >= 2 * 86400)
        (void)fprintf(to, "%" PRIu64 " d ago", s / 86400);
    else if (s >= 2 * 3600)
        (void)fprintf(to, "%" PRIu64 " h ago", s / 3600);
    else if (s >= 120)
        (void)fprintf(to, "%" PRIu64 " min ago", s / 60);
    else
        (void)fprintf(to, "%" PRIu64 " s ago", s);
}

void caucus_put_duration(FILE *to, double seconds) {
    uint64_t s = seconds > 0 ? (uint64_t)seconds : 0;
    if (s >= 86400)
        (void)fprintf(to, "%" PRIu64 " d %" PRIu64 " h", s / 86400, s / 3600 % 24);
    else if (s >= 3600)
        (void)fprintf(to, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s / 60 % 60);
    else if (s >= 60)
        (void)fprintf(to, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
    else
        (void)fprintf(to, "%" PRIu64 " s", s);
}

static void put_name(const caucus_view *view, FILE *to) {
    caucus_html_put(to, view->name);
}

static void put_version(const caucus_view *view, FILE *to) {
    (void)view;
    (void)fputs(CAUCUS_VERSION, to);
}

static void put_plan(const caucus_view *view, FILE *to) {
    (void)fputs(view->plan_hash, to);
}

static void put_plan_short(const caucus_view *view, FILE *to) {
    (void)fprintf(to, "%.12s", view->plan_hash);
}

static void put_plan_words(const caucus_view *view, FILE *to) {
    const caucus_settings *s = &view->plan->settings;
    (void)fprintf(to, "%s, ", caucus_algorithm_word(s->algorithm));
    caucus_put_thousands(to, s->clients);
    (void)fprintf(to, " client%s, ", s->clients == 1 ? "" : "s");
    caucus_put_thousands(to, s->experts);
    (void)fputs(" experts, ", to);
    if (caucus_plan_is_endless(view->plan))
        (void)fputs("endless", to);
    else
        caucus_put_thousands(to, s->rounds);
    (void)fprintf(to, " rounds, trust: %s", caucus_trust_word(s->trust));
}

/* For people: a run that decides nothing more is not running. (The JSON has its claims beside its state.) */
static void put_state(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    const char *state = caucus_view_state(view);
    if (!s->finished && s->rollback_claims > 0)
        state = s->rolled_back ? "stopped" : "held";
    else if (caucus_view_overdue(view))
        state = "overdue";
    (void)fprintf(to, "<span class=\"state %s\">%s</span>", state, state);
}

static void put_warning(const caucus_view *view, FILE *to) {
    if (view->status.seeded)
        (void)fputs("<p class=\"warning\"><strong>NOT PRIVATE (seeded).</strong> The noise of this run comes from a "
                    "seed that others may know.</p>",
                    to);
    char weak[CAUCUS_PLAN_WEAKNESSES][CAUCUS_PLAN_WEAKNESS_BYTES];
    const size_t count = caucus_plan_weaknesses(view->plan, weak);
    for (size_t i = 0; i < count; i++)
        (void)fprintf(to, "<p class=\"warning\"><strong>WEAK:</strong> %s.</p>", weak[i]);
}

static void put_expert(const caucus_view *view, FILE *to) {
    const caucus_stretch *now = caucus_view_now(view);
    if (now)
        caucus_html_put(to, caucus_plan_expert_words(view->plan, now->expert).text);
    else
        (void)fputs("none yet", to);
}

/* A number is short; a name may be long. */
static void put_expert_size(const caucus_view *view, FILE *to) {
    (void)fputs(caucus_plan_expert_name(view->plan, 0) != NULL ? "name" : "big", to);
}

static void put_since(const caucus_view *view, FILE *to) {
    const caucus_stretch *now = caucus_view_now(view);
    if (!now)
        (void)fputs("The run starts when the clients have joined.", to);
    else if (now->serial == 0)
        (void)fputs("since the start", to);
    else
        (void)fprintf(to, "since %s %" PRIu64 " (announcement %" PRIu64 ")", caucus_view_block_word(view), now->block,
                      now->serial);
}

static void put_privacy(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    if (!isfinite(s->epsilon_choices)) {
        (void)fputs("not private: this plan has no epsilon", to);
        return;
    }
    char words[CAUCUS_BUDGET_WORDS_BYTES];
    caucus_budget_words(s->epsilon_reserved, s->epsilon_spent, s->budget_epsilon, s->left_epsilon, s->finished, NULL,
                        words);
    (void)fprintf(to, "%s", words);
    if (s->delta > 0)
        (void)fprintf(to, "; delta %.2g", s->delta);
}

/* Epsilon is about one record; a person signs for a device, which has many. */
static void put_device(const caucus_view *view, FILE *to) {
    const double device = view->status.epsilon_device;
    if (!isfinite(view->status.epsilon_choices))
        (void)fputs("everything one client contributes to the run: not private", to);
    else if (isfinite(device) && view->status.delta > 0)
        (void)fprintf(to, "everything one client contributes to the run: epsilon %.6g at most, delta %.2g", device,
                      view->status.delta);
    else if (isfinite(device))
        (void)fprintf(to, "everything one client contributes to the run: epsilon %.6g at most", device);
    else
        (void)fputs("everything one client contributes to the run: no bound", to);
}

/* Of what the sentence above it says is left: of the ledger's budget, or without one of what this run may use. */
static void put_privacy_bar(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    if (!isfinite(s->epsilon_choices))
        return;
    if (isfinite(s->budget_epsilon))
        caucus_figure_bar(to, s->budget_epsilon - s->left_epsilon, s->budget_epsilon,
                          "share of the ledger's epsilon that is reserved, by this run and others");
    else
        caucus_figure_bar(to, s->epsilon_spent, s->epsilon_choices, "share of this run's epsilon used");
}

static void put_note(const caucus_view *view, FILE *to) {
    caucus_html_put(to, view->plan->guarantee.note);
}

static void put_history_rows(const caucus_view *view, FILE *to) {
    for (uint32_t i = 0; i < view->stretches && i < TABLE_STRETCHES; i++) {
        const caucus_stretch *s = &view->stretch[view->stretches - 1 - i];
        (void)fputs("<tr><td>", to);
        caucus_html_put(to, caucus_plan_expert_words(view->plan, s->expert).text);
        (void)fprintf(to, "</td><td>%s %" PRIu64 "</td><td>", caucus_view_block_word(view), s->block);
        if (s->seen_at >= 0)
            caucus_put_ago(to, view->status.uptime_seconds - s->seen_at);
        else
            (void)fputs("before this process started", to);
        (void)fprintf(to, "</td><td>%" PRIu64 "</td></tr>", s->serial);
    }
    if (view->stretches == 0)
        (void)fputs("<tr><td colspan=\"4\">nothing yet</td></tr>", to);
}

static void put_last_look(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    char words[CAUCUS_LOOK_WORDS_BYTES];
    if (s->looks == 0) {
        (void)fputs("<p>Nothing yet: it is shown with a decision.</p>", to);
        return;
    }
    caucus_look_words(&s->look[0], words);
    (void)fprintf(to, "<p class=\"row\"><strong>%s</strong> <span>expert ", words);
    caucus_html_put(to, caucus_plan_expert_words(view->plan, s->look[0].expert).text);
    (void)fprintf(to, " in phase %" PRIu64 "</span></p>", s->look[0].phase);
    caucus_figure_look(view, to);
}

static void put_look_rows(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    char words[CAUCUS_LOOK_WORDS_BYTES];
    for (uint32_t i = 0; i < s->looks; i++) {
        caucus_look_words(&s->look[i], words);
        (void)fprintf(to, "<tr><td>%" PRIu64 "</td><td>", s->look[i].phase);
        caucus_html_put(to, caucus_plan_expert_words(view->plan, s->look[i].expert).text);
        (void)fprintf(to, "</td><td>%s</td><td>%u</td></tr>", words, s->look[i].clients);
    }
    if (s->looks == 0)
        (void)fputs("<tr><td colspan=\"4\">nothing yet</td></tr>", to);
}

/* What a figure is of: the reports that the decision was taken from. */
static const char *what_is_shown(const caucus_settings *s) {
    if (s->unit == CAUCUS_UNIT_CLIENT)
        return "What the expert would have cost in all rounds so far, on average over those that reported";
    return s->pace == CAUCUS_PACE_OWN ? "What the expert would have cost the devices that reported"
                                      : "What was paid, on average over those that reported";
}

/* The whole section, since a plan that shows nothing has none. */
static void put_look(const caucus_view *view, FILE *to) {
    if (!caucus_look_shows(view->plan))
        return;
    (void)fputs("<section class=\"card whole-width\" aria-labelledby=\"look-title\"><h2 id=\"look-title\">Loss of the "
                "expert in force</h2><div id=\"look\" data-live>",
                to);
    put_last_look(view, to);
    (void)fprintf(to,
                  "</div><p class=\"quiet\">%s, with noise; in brackets where it lies with probability 0.95, of the "
                  "losses that were counted, not of losses to come.</p>",
                  what_is_shown(&view->plan->settings));
    (void)fputs("<details><summary>As a table</summary><table><caption class=\"hidden\">Losses shown, the latest "
                "first</caption><thead><tr><th scope=\"col\">phase</th><th scope=\"col\">expert</th>"
                "<th scope=\"col\">loss</th><th scope=\"col\">clients</th></tr></thead>"
                "<tbody id=\"look-rows\" data-live>",
                to);
    put_look_rows(view, to);
    (void)fputs("</tbody></table></details></section>", to);
}

/* Clients that have heard more than is committed: nothing is decided until a person has looked. */
static void put_claims(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    if (s->rolled_back)
        (void)fprintf(
            to,
            "<p class=\"warning\"><strong>Rolled back.</strong> %u client%s heard more than this state holds: it "
            "is an older copy. Nothing more is decided; put the newest copy back.</p>",
            s->rollback_claims, s->rollback_claims == 1 ? " has" : "s have");
    else if (s->rollback_claims > 0)
        (void)fprintf(
            to,
            "<p class=\"warning\"><strong>Rolled back?</strong> %u client%s to have heard more than this state "
            "holds. No step is decided meanwhile.</p>",
            s->rollback_claims, s->rollback_claims == 1 ? " says" : "s say");
}

/* A step that nobody decides: its deadline has passed, and too few have answered. */
static void put_overdue(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    if (s->rollback_claims == 0 && caucus_view_overdue(view))
        (void)fprintf(
            to,
            "<p class=\"warning\"><strong>Overdue.</strong> Past the deadline: waiting for a quorum. %u of %u "
            "clients have answered the step in hand, too few to decide it.</p>",
            s->answered, s->clients);
}

/* A decision that cannot be announced, since it is not durable yet. */
static void put_committing(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    if (s->committing_seconds > CAUCUS_VIEW_BUSY_SECONDS)
        (void)fprintf(to,
                      "<p class=\"warning\"><strong>Waiting for a commit.</strong> A decision is being committed for "
                      "%.0f s, and is announced when it is: look at the disk, or the database and its standby.</p>",
                      s->committing_seconds);
}

/* What must be known first: a state that is an older copy, a step that is stuck, a run that is over and with which
 * expert. */
static void put_over(const caucus_view *view, FILE *to) {
    const caucus_stretch *now = caucus_view_now(view);
    put_claims(view, to);
    put_overdue(view, to);
    put_committing(view, to);
    if (!view->status.finished || now == NULL)
        return;
    const bool stopped = caucus_announcement_stops(&view->status.now);
    (void)fprintf(to, "<p class=\"done\"><strong>%sxpert ", stopped ? "This run was ended for good; e" : "E");
    caucus_html_put(to, caucus_plan_expert_words(view->plan, now->expert).text);
    (void)fprintf(to, " %s in force.</strong> Nothing more is asked of anybody.</p>", stopped ? "was" : "stays");
}

/* Blocks that are over. Phases double, so that their number says little of how far a run is. */
static uint64_t blocks_done(const caucus_view *view) {
    const caucus_server_status *s = &view->status;
    if (caucus_view_whole(view))
        return caucus_view_blocks(view);
    return s->started && s->now.block > 0 ? s->now.block - 1 : 0;
}

static void put_progress(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    const uint64_t done = blocks_done(view);
    const char *word = caucus_view_block_word(view);
    if (!s->started) {
        (void)fprintf(to, "Waiting: %u of %u clients are here", s->present, s->clients);
    } else if (caucus_plan_is_endless(view->plan)) {
        caucus_put_thousands(to, done);
        (void)fprintf(to, " %s%s done; this run has %s", word, done == 1 ? "" : "s",
                      s->finished ? "been ended" : "no end");
    } else {
        caucus_put_thousands(to, done);
        (void)fputs(" of ", to);
        caucus_put_thousands(to, caucus_view_blocks(view));
        (void)fprintf(to, " %ss done", word);
    }
    if (s->started && !s->finished && s->rollback_claims == 0 && !caucus_view_overdue(view) &&
        !caucus_plan_ops_of(view->plan)->phases && !caucus_plan_is_endless(view->plan) && view->pace_blocks > 0) {
        (void)fputs(", about ", to);
        caucus_put_duration(to,
                            view->pace_seconds / (double)view->pace_blocks * (double)(caucus_view_blocks(view) - done));
        (void)fputs(" left", to);
    }
}

static void put_progress_bar(const caucus_view *view, FILE *to) {
    if (view->status.started && !caucus_plan_is_endless(view->plan))
        caucus_figure_bar(to, (double)blocks_done(view), (double)caucus_view_blocks(view),
                          "share of the run that is done");
}

static void put_scalars(const caucus_view *view, FILE *to) {
    caucus_put_thousands(to, view->status.scalars_up);
}

/* Counts of an earlier process are not in ours. */
static void put_since_restart(const caucus_view *view, FILE *to) {
    if (caucus_view_resumed(view))
        (void)fputs(", since the coordinator was started again", to);
}

static void put_traffic_words(const caucus_view *view, FILE *to) {
    caucus_put_bytes(to, view->status.bytes_in);
    (void)fputs(" in, ", to);
    caucus_put_bytes(to, view->status.bytes_out);
    (void)fprintf(to, " out, since this process started%s",
                  view->status.relays.count > 0 ? " by connections of clients; what relays send is not in it" : "");
}

/* The rows that no figure shows. */
static void put_rows(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    if (caucus_plan_ops_of(view->plan)->checks) {
        (void)fputs("<tr><th scope=\"row\">Checks made</th><td>", to);
        caucus_put_thousands(to, s->checks);
        (void)fputs("</td></tr>", to);
    }
    (void)fputs("<tr><th scope=\"row\">Epsilon of messages</th><td>", to);
    if (isnan(s->epsilon_messages))
        (void)fputs("the coordinator is trusted with them", to);
    else if (isinf(s->epsilon_messages))
        (void)fputs("not private", to);
    else
        (void)fprintf(to, "%.3g", s->epsilon_messages);
    (void)fputs("</td></tr>", to);
    if (s->finished && view->ended_at < 0) /* it was over before this process looked */
        return;
    (void)fprintf(to, "<tr><th scope=\"row\">%s</th><td>", s->finished ? "Ran for" : "Running for");
    caucus_put_duration(to, s->finished ? view->ended_at : s->uptime_seconds);
    (void)fputs("</td></tr>", to);
}

static const struct {
    const char *key;
    void (*put)(const caucus_view *view, FILE *to);
} fields[] = {
    {"name", put_name},
    {"version", put_version},
    {"plan", put_plan},
    {"plan_short", put_plan_short},
    {"plan_words", put_plan_words},
    {"state", put_state},
    {"warning", put_warning},
    {"expert", put_expert},
    {"expert_size", put_expert_size},
    {"since", put_since},
    {"privacy", put_privacy},
    {"privacy_bar", put_privacy_bar},
    {"device", put_device},
    {"note", put_note},
    {"switch_word", caucus_view_switch_word},
    {"switches", caucus_view_switches},
    {"switch_bar", caucus_figure_switches},
    {"history", caucus_figure_strip},
    {"history_words", caucus_view_history_words},
    {"history_rows", put_history_rows},
    {"look", put_look},
    {"over", put_over},
    {"progress", put_progress},
    {"progress_bar", put_progress_bar},
    {"missing", caucus_view_missing},
    {"clients_card", caucus_view_clients},
    {"hour", caucus_figure_hour},
    {"scalars", put_scalars},
    {"since_restart", put_since_restart},
    {"traffic_words", put_traffic_words},
    {"step_card", caucus_view_step},
    {"relays_card", caucus_view_relays},
    {"rows", put_rows},
};

static void put_field(const caucus_view *view, FILE *to, const char *key, size_t length) {
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strlen(fields[i].key) == length && memcmp(fields[i].key, key, length) == 0) {
            fields[i].put(view, to);
            return;
        }
    }
    /* A key of the page that is not in the list: left as it stands, where the page's test finds it. */
    (void)fprintf(to, "{{%.*s}}", (int)length, key);
}

void caucus_view_page(const caucus_view *view, FILE *to) {
    const char *at = caucus_web_index_html, *end = at + caucus_web_index_html_length;
    while (at < end) {
        const char *open = strstr(at, "{{"), *close = open ? strstr(open, "}}") : NULL;
        if (!close) {
            (void)fwrite(at, 1, (size_t)(end - at), to);
            return;
        }
        (void)fwrite(at, 1, (size_t)(open - at), to);
        put_field(view, to, open + 2, (size_t)(close - open - 2));
        at = close + 2;
    }
}
