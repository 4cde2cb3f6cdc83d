/* SPDX-License-Identifier: Apache-2.0 */
/* statement.c: the words of a statement. See statement.h.
 *
 * Four readers of a run are kept apart: whoever sees what is announced; the coordinator, which also sees what clients
 * send; and both of them for one record and for all that a client contributes. What a plan promises against each is in
 * its guarantee (docs/PRIVACY.md, "The promise" and "A whole device"). */
#include "show/signing/statement.h"

#include "plan/pace/pace.h"
#include "plan/stoch/look.h"
#include "show/family_words.h"
#include "show/plan_words.h"

#include <caucus/version.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#define LONGEST_FILE 80 /* bytes of a path that stands on the page; a longer one is PLAN there */

double caucus_statement_guess(double epsilon, double delta) {
    if (!isfinite(epsilon)) /* also what is not promised at all */
        return 100;
    /* e^epsilon/(e^epsilon + 1) without overflow; a little is added so that rounding never takes from it. */
    const double right = 1 / (1 + exp(-epsilon)) + delta / (1 + exp(epsilon));
    return fmin(100, ceil(right * 1000 * (1 + 1e-12)) / 10);
}

/* The second word of the writers below: page->say or page->item. */
typedef void writer(caucus_statement_page *page, const char *text);

static void put(caucus_statement_page *page, writer *write, const char *format, ...) CAUCUS_PRINTF(3, 4);
static void put(caucus_statement_page *page, writer *write, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    write(page, text);
}

static bool is_open(const caucus_plan *plan) {
    return isinf(plan->guarantee.epsilon_choices);
}

static bool trusts_coordinator(const caucus_plan *plan) {
    return isnan(plan->guarantee.epsilon_messages);
}

/* Figures of the loss of the expert in force are announced, too. */
static bool shows_loss(const caucus_plan *plan) {
    return caucus_look_first(plan) != UINT32_MAX;
}

/* "epsilon 1", "epsilon 1, delta 1e-06". */
static caucus_words promise(double epsilon, double delta) {
    caucus_words ret, number;
    if (epsilon >= 1000 && isfinite(epsilon)) /* of a whole device: as the plan's screen and the ledger have it */
        number = caucus_words_number(epsilon);
    else
        (void)snprintf(number.text, sizeof number.text, "%.4g", epsilon);
    if (delta > 0)
        (void)snprintf(ret.text, sizeof ret.text, "epsilon\u00a0%.30s, delta\u00a0%.3g", number.text, delta);
    else
        (void)snprintf(ret.text, sizeof ret.text, "epsilon\u00a0%.30s", number.text);
    return ret;
}

static void write_head(caucus_statement_page *page, const caucus_statement *s) {
    const caucus_settings *settings = &s->plan->settings;
    char text[320];
    if (caucus_plan_federation(s->plan) != NULL)
        page->head(page, "Federation", caucus_plan_federation(s->plan));
    (void)snprintf(text, sizeof text, "%s: %s client%s, %s experts, %s%s", caucus_words_algorithm(settings->algorithm),
                   caucus_words_whole(settings->clients).text, settings->clients == 1 ? "" : "s",
                   caucus_words_whole(settings->experts).text,
                   caucus_plan_is_endless(s->plan) ? "no end" : caucus_words_whole(settings->rounds).text,
                   caucus_plan_is_endless(s->plan)               ? ""
                   : caucus_pace_by_question(&s->plan->settings) ? " slots"
                                                                 : " rounds");
    page->head(page, "Run", text);
    page->head(page, "Plan", caucus_plan_hash_text(s->plan));
    page->head(page, "Program", "caucus " CAUCUS_VERSION);
    page->head(page, "Date", s->date);
    char weak[CAUCUS_PLAN_WEAKNESSES][CAUCUS_PLAN_WEAKNESS_BYTES];
    const size_t count = caucus_plan_weaknesses(s->plan, weak);
    for (size_t i = 0; i < count; i++)
        page->warn(page, weak[i]);
}

static void write_whom(caucus_statement_page *page, const caucus_plan *plan) {
    const caucus_guarantee *g = &plan->guarantee;
    const char *unit = caucus_words_unit(&plan->settings);
    page->section(page, "Who is protected, and against whom");
    if (is_open(plan)) {
        page->say(page, "Nobody. This plan adds no noise: what is announced may reveal any loss of any client.");
    } else {
        put(page, page->say,
            "The clients, against everybody who sees which experts are announced%s (the public, other clients): %s for "
            "%s.",
            shows_loss(plan) ? " and which figures of their loss are shown" : "",
            promise(g->epsilon_choices, g->delta).text, unit);
        if (trusts_coordinator(plan))
            page->say(page, "Not against the coordinator, nor a relay: each sees its clients' sums of losses as they "
                            "are.");
        else
            put(page, page->say, "Against the coordinator and relays, which see what each client sends: %s for %s.",
                promise(g->epsilon_messages, g->delta).text, unit);
    }
    page->end_section(page);
}

static void write_person(caucus_statement_page *page, const caucus_plan *plan) {
    const double device = caucus_plan_epsilon_device(plan);
    if (is_open(plan))
        return;
    page->section(page, "What it comes to for a person");
    put(page, page->say, "The promise is about %s.%s", caucus_words_unit(&plan->settings),
        device > plan->guarantee.epsilon_choices * (1 + 1e-9)
            ? " A person whose device is one client contributes more than that."
            : "");
    if (isinf(device))
        page->say(page, "For all that a client contributes no bound is promised: the run has no end.");
    else
        put(page, page->say,
            "For all that one client contributes to the run: %s at most. A person with two clients: %s that.",
            promise(device, plan->guarantee.delta).text, plan->guarantee.delta > 0 ? "more than twice" : "twice");
    page->end_section(page);
}

static void write_meaning(caucus_statement_page *page, const caucus_plan *plan) {
    const caucus_guarantee *g = &plan->guarantee;
    const double device = caucus_plan_epsilon_device(plan);
    page->section(page, "What it means: what a guess can gain");
    put(page, page->say,
        "Somebody knows all other data and two values that %s may have, and guesses which of them it was. Without the "
        "run 50 guesses of 100 are right. Of those who have seen the run, at most:",
        caucus_words_unit(&plan->settings));
    page->bar(page, "without the run", 50, "");
    page->bar(page, "having seen what is announced", caucus_statement_guess(g->epsilon_choices, g->delta), "at most");
    page->bar(page,
              trusts_coordinator(plan) ? "the coordinator, or a relay" : "the coordinator, having seen all messages",
              caucus_statement_guess(
                  trusts_coordinator(plan) || is_open(plan) ? INFINITY : fmax(g->epsilon_messages, g->epsilon_choices),
                  g->delta),
              "at most");
    page->bar(page, "about all that one client contributed", caucus_statement_guess(device, g->delta), "at most");
    page->say(page, "At 100 of 100 as good as nothing is promised.");
    page->end_section(page);
}

static void write_not(caucus_statement_page *page, const caucus_plan *plan) {
    page->section(page, "What is not protected");
    page->item(page, "that a client takes part, when it reports and how much it sends");
    page->item(page, "what the choice says about the fleet, which may hint at people who took no part as well");
    page->item(page, "what other runs on the same data show: they add up (a common ledger: caucus privacy)");
    page->item(page, "settings that were derived from the data (rounds, names, the range of a loss)");
    if (trusts_coordinator(plan))
        page->item(
            page,
            "what clients send, against whoever gets into the coordinator, its backups of a live run, or a relay");
    page->item(page, "anything, in a run that is started with a seed (it says so itself)");
    page->end_section(page);
}

static void write_trust(caucus_statement_page *page, const caucus_plan *plan) {
    page->section(page, "Who must be trusted with what");
    if (is_open(plan))
        page->item(page, "everybody who sees the announcements: with whatever the losses say");
    else if (trusts_coordinator(plan))
        page->item(page, "the coordinator: with each client's sums, with drawing the noise, and with showing neither");
    else
        page->item(page, "each client's device: with drawing its own noise before it sends anything");
    if (trusts_coordinator(plan) && !is_open(plan))
        page->item(page, "a relay, where there are any: with its clients' sums, and with showing them to nobody else");
    if (!trusts_coordinator(plan) && !is_open(plan))
        page->item(page, "the coordinator: with counting honestly, and with what it says it counted of a device that "
                         "lost its state: a lie there costs twice the epsilon (a device's own ledger counts it)");
    if (caucus_pace_by_question(&plan->settings))
        page->item(page, "each device: with its clock, which says which questions are over, and that no old copy of "
                         "its state is put back, which could answer one of them twice");
    else if (plan->settings.pace == CAUCUS_PACE_OWN)
        page->item(page, "each device: with its clock, which says what belongs together, and that no old copy of its "
                         "state is put back, which could report a slot of it twice");
    page->item(page, "the operating system's random numbers, and that the program is the one that was reviewed");
    page->item(page, "whoever signs certificates and enrols clients: with who may take part");
    if (!is_open(plan))
        page->item(page,
                   "clients, and whoever sets deadlines: that nobody stays away because of losses, which no noise "
                   "hides");
    page->end_section(page);
}

static void write_proof(caucus_statement_page *page, const caucus_statement *s) {
    const char *file = strlen(s->file) <= LONGEST_FILE ? s->file : "PLAN"; /* all of it fits one sheet */
    page->section(page, "Where proof and audit are");
    if (is_open(s->plan))
        page->item(page, "no privacy is promised, so there is no proof (docs/PRIVACY.md, \"The promise\")");
    else
        put(page, page->item,
            "proof: docs/PRIVACY.md, \"The promise\", \"%s\", %s%s\"Side channels\" (what time shows)",
            caucus_family_words_of(caucus_plan_family(s->plan))->proof(s->plan),
            s->plan->settings.evaluate != 0 ? "\"Few evaluations\", " : "",
            shows_loss(s->plan) ? "\"A private look\", " : "");
    put(page, page->item, "caucus plan %s --explain recomputes every number from the plan's own integers", file);
    put(page, page->item, "caucus audit --plan %s tries to refute the claim; that it does not refute it is no proof",
        file);
    page->end_section(page);
}

void caucus_statement_write(caucus_statement_page *page, const caucus_statement *s) {
    write_head(page, s);
    write_whom(page, s->plan);
    write_person(page, s->plan);
    write_meaning(page, s->plan);
    write_not(page, s->plan);
    write_trust(page, s->plan);
    write_proof(page, s);
}
