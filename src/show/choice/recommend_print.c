/* SPDX-License-Identifier: Apache-2.0 */
/* recommend_print.c: tables, sentences and commands. See recommend_print.h. */
#include "show/choice/recommend_print.h"

#include "dial/certify.h"
#include "show/plan_words.h"
#include "show/wrap.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the table on a screen that has so many; and of sentences where nothing says how wide it is. */
enum { TABLE_WIDTH = 156, PAGE_WIDTH = 120 };

/* What is weak is weak in each of them: epsilon and delta are what was asked for. */
static void print_weak(FILE *out, const caucus_comparison *c) {
    char weak[CAUCUS_PLAN_WEAKNESSES][CAUCUS_PLAN_WEAKNESS_BYTES];
    size_t count = 0;
    for (size_t i = 0; count == 0 && i < c->count; i++)
        if (c->candidate[i].plan != NULL && !c->candidate[i].alone)
            count = caucus_plan_weaknesses(c->candidate[i].plan, weak);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "  WEAK: %s\n", weak[i]);
}

static void print_head(FILE *out, const caucus_comparison *c) {
    const caucus_settings *s = &c->settings;
    const bool own_pace = s->pace == CAUCUS_PACE_OWN, endless = s->rounds == CAUCUS_ROUNDS_ENDLESS;
    fprintf(out, "  %s client%s, %s experts, %s%s, %s, unit: %s\n", caucus_words_whole(s->clients).text,
            s->clients == 1 ? "" : "s", caucus_words_whole(s->experts).text,
            own_pace  ? "each at its own pace"
            : endless ? "rounds without an end"
                      : caucus_words_whole(s->rounds).text,
            own_pace || endless ? ""
            : s->rounds == 1    ? " round"
                                : " rounds",
            caucus_words_privacy(s->epsilon, s->delta).text, caucus_unit_word(s->unit));
    if (c->own)
        fputs("  NOT PRIVATE: this comparison reads your losses as they are, and what you choose by it says something "
              "about them.\n  Compare on losses that are not part of the run, or on ones that may be known.\n",
              out);
    print_weak(out, c);
}

/* With which epsilon, where there were fewer clients. */
static void print_noise(FILE *out, const caucus_comparison *c) {
    const caucus_candidate *some[2] = {NULL, NULL}; /* a coordinator that is trusted, and not */
    for (size_t i = 0; i < c->count; i++)
        if (!c->candidate[i].alone && c->candidate[i].quick.done)
            some[c->candidate[i].asked.trust != CAUCUS_TRUST_COORDINATOR] = &c->candidate[i];
    if (!c->scale.fewer || !isfinite(c->settings.epsilon) || (some[0] == NULL && some[1] == NULL))
        return;
    bool capped = false;
    for (int i = 0; i < 2; i++)
        capped = capped || (some[i] != NULL && caucus_scale_capped(&c->scale, &some[i]->plan->settings));
    fprintf(out, "    Fewer clients with %s: simulated with epsilon ",
            capped ? "more noise than your fleet has" : "the noise of your fleet");
    if (some[0] != NULL)
        fputs(caucus_words_number(some[0]->quick.epsilon).text, out);
    if (some[1] != NULL)
        fprintf(out, "%s%s with trust nobody", some[0] != NULL ? ", and " : "",
                caucus_words_number(some[1]->quick.epsilon).text);
    fprintf(out, "%s. What fewer clients learn is not scaled: the figures are estimates.\n",
            capped ? " (1,000 is the most that is accepted)" : "");
}

/* What was played, where it is less than what was asked about. */
static void print_scale(FILE *out, const caucus_comparison *c) {
    const caucus_scale *scale = &c->scale;
    const bool own_pace = c->settings.pace == CAUCUS_PACE_OWN;
    if (scale->trials == 0) /* nothing fits */
        return;
    const bool endless = c->settings.rounds == CAUCUS_ROUNDS_ENDLESS;
    fprintf(out, "    Simulated: %u trials of %s client%s in %s %s", scale->trials,
            caucus_words_whole(scale->clients).text, scale->clients == 1 ? "" : "s",
            caucus_words_whole(scale->rounds).text, own_pace ? "phases" : "rounds");
    if (c->own)
        fputs(" of your losses", out);
    else
        fprintf(out, " of %s losses%s", caucus_adversary_kind_word(caucus_comparison_losses(c)),
                caucus_comparison_playable(c) ? ""
                                              : ", in place of ones that come by rounds, which a device at its own "
                                                "pace has not");
    if ((scale->shorter && !endless) || scale->fewer)
        fprintf(out, ", a smaller run than yours (%s%s%s): compare the rows with each other, not with what is proved",
                scale->fewer ? "fewer clients" : "", scale->fewer && scale->shorter ? ", " : "",
                scale->shorter ? "fewer rounds" : "");
    fputs(".\n", out);
    if (scale->shorter || endless) /* the other columns are about the plan */
        fprintf(out, "    Numbers up are those of the %s %s played; what is proved and epsilon of a device are not.\n",
                caucus_words_whole(scale->rounds).text, own_pace ? "phases" : "rounds");
    print_noise(out, c);
}

static void print_history(FILE *out, const caucus_comparison *c) {
    char sentence[CAUCUS_HISTORY_SENTENCES][CAUCUS_HISTORY_BYTES];
    const size_t count = caucus_history_say(&c->history, sentence);
    fputs("\n  Your losses\n", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "    %s\n", sentence[i]);
}

/* The numbers of a row. */
typedef struct row_words {
    char seen[40], proved[40], scalars[40], device[40];
} row_words;

static row_words words_of(const caucus_comparison *c, const caucus_candidate *x) {
    row_words w = {.seen = "-", .proved = "nothing", .scalars = "-", .device = "no bound"};
    if (caucus_candidate_proved(c, x))
        (void)snprintf(w.proved, sizeof w.proved, "%.39s",
                       caucus_candidate_useful(c, x) ? caucus_words_number(x->plan->bound).text : "vacuous");
    /* Without an end bounds are about stretches of their own. */
    if (caucus_candidate_useful(c, x) && caucus_plan_is_endless(x->plan) && c->settings.pace != CAUCUS_PACE_OWN)
        (void)snprintf(w.proved, sizeof w.proved, "%.16s in %.16s", caucus_words_number(x->plan->bound).text,
                       caucus_words_whole(caucus_plan_stretch_rounds(x->plan)).text);
    const char *star = caucus_candidate_above(c, x) ? " *" : ""; /* explained below the table */
    if (x->quick.done && isnan(x->quick.regret.std))
        (void)snprintf(w.seen, sizeof w.seen, "%.16s%s", caucus_words_about(x->quick.regret.mean).text, star);
    else if (x->quick.done)
        (void)snprintf(w.seen, sizeof w.seen, "%.12s ± %.12s%s", caucus_words_about(x->quick.regret.mean).text,
                       caucus_words_about(x->quick.regret.std).text, star);
    if (x->quick.done)
        (void)snprintf(w.scalars, sizeof w.scalars, "%.39s", caucus_words_about(x->quick.scalars).text);
    const double device = caucus_plan_epsilon_device(x->plan);
    if (isfinite(device))
        (void)snprintf(w.device, sizeof w.device, "%.39s", caucus_words_number(device).text);
    return w;
}

static void print_row(FILE *out, const caucus_comparison *c, const caucus_candidate *x) {
    const caucus_candidate_words with = caucus_candidate_with(x);
    fprintf(out, "%s %-16s %-36s %-12s %10s   ", x == c->taken ? "  →" : "   ",
            caucus_algorithm_word(x->asked.algorithm), with.text, x->alone ? "-" : caucus_trust_word(x->asked.trust),
            caucus_words_whole(x->alone ? 1 : c->settings.clients).text);
    if (x->plan == NULL) {
        fprintf(out, "does not fit: %s%s%s\n", x->why.field, x->why.field[0] != '\0' ? " " : "", x->why.text);
        return;
    }
    const row_words w = words_of(c, x);
    fprintf(out, "%s%*s %-14s %-10s   %s\n", w.seen, 18 - caucus_words_width(w.seen), "", w.proved, w.scalars,
            w.device);
}

/* On a narrow screen: what it is, and its numbers below, in columns that can be compared. */
static void print_row_narrow(FILE *out, const caucus_comparison *c, const caucus_candidate *x, int width) {
    const caucus_candidate_words with = caucus_candidate_with(x);
    const uint32_t clients = x->alone ? 1 : c->settings.clients;
    char what[400], why[sizeof x->why.field + sizeof x->why.text + 32];
    (void)snprintf(what, sizeof what, "%s%s%s%s%s, %s client%s", caucus_algorithm_word(x->asked.algorithm),
                   with.text[0] != '\0' ? ", " : "", with.text, x->alone ? "" : ", trust ",
                   x->alone ? "" : caucus_trust_word(x->asked.trust), caucus_words_whole(clients).text,
                   clients == 1 ? "" : "s");
    caucus_wrap_put(out, width, x == c->taken ? "  → " : "    ", what);
    if (x->plan == NULL) {
        (void)snprintf(why, sizeof why, "does not fit: %s%s%s", x->why.field, x->why.field[0] != '\0' ? " " : "",
                       x->why.text);
        caucus_wrap_put(out, width, "      ", why);
        return;
    }
    const row_words w = words_of(c, x);
    fprintf(out, "      %s%*s %-14s %-10s %s\n", w.seen, 16 - caucus_words_width(w.seen), "", w.proved, w.scalars,
            w.device);
}

static void print_table(FILE *out, const caucus_comparison *c, int width) {
    const bool narrow = width > 0 && width < TABLE_WIDTH;
    if (narrow)
        fprintf(out, "      %-16s %-14s %-10s %s\n", "simulated regret", "proven at most", "numbers up", "device");
    else
        fprintf(out, "    %-16s %-36s %-12s %10s   %-18s %-14s %-10s   %s\n", "algorithm", "with", "trust", "clients",
                "simulated regret", "proven at most", "numbers up", "epsilon of a whole device");
    for (size_t i = 0; i < c->shown; i++)
        if (narrow)
            print_row_narrow(out, c, &c->candidate[c->order[i]], width);
        else
            print_row(out, c, &c->candidate[c->order[i]]);
    bool above = false;
    for (size_t i = 0; i < c->shown; i++)
        above = above || caucus_candidate_above(c, &c->candidate[c->order[i]]);
    if (narrow)
        fputs("    device: epsilon of a whole device.\n", out);
    if (above)
        fprintf(out, "    *: more than is proved for your run%s: ranked by what is proved.\n",
                caucus_scale_is_smaller(&c->scale) ? ", of which a part was played (do not count on this figure)" : "");
    if (c->segments > 1)
        fprintf(out,
                "    Simulated regret is against the best expert of each of %" PRIu64
                " segments of equal length (segments of caucus simulate).\n",
                c->segments);
    if (c->settings.pace == CAUCUS_PACE_OWN && c->scale.trials > 0)
        fprintf(out, "    Regret, simulated and proven, is per 1,000 losses of a device, against the best expert %s.\n",
                c->settings.unit == CAUCUS_UNIT_EVENT ? "on all losses (wider units: on average over devices)"
                                                      : "on average over devices");
    else if (c->settings.rounds == CAUCUS_ROUNDS_ENDLESS && c->scale.trials > 0)
        fputs("    proven at most X in N: in N rounds, since there is no end.\n", out);
}

static void print_situation(FILE *out, const caucus_comparison *c, int width) {
    if (c->own) {
        print_history(out, c);
        fputs("\n  On your losses\n", out);
    } else {
        fprintf(out, "\n  If %s (%s)\n", caucus_knowledge_help(c->known), caucus_knowledge_word(c->known));
    }
    print_table(out, c, width);
    print_scale(out, c);
    for (size_t i = 0; i < c->sentences; i++)
        fprintf(out, "    %s\n", c->advice[i]);
    if (c->taken == NULL)
        return;
    fputs("    Next\n", out);
    caucus_command_next(out, c, "      ", width);
    if (c->taken->asked.clients > CAUCUS_CERTIFY_MAX_CLIENTS) {
        char part[200];
        (void)snprintf(part, sizeof part,
                       "(certify makes certificates for the first %.32s of %.32s clients, no more; the others need a "
                       "certificate authority of yours.)",
                       caucus_words_whole(CAUCUS_CERTIFY_MAX_CLIENTS).text,
                       caucus_words_whole(c->taken->asked.clients).text);
        caucus_wrap_put(out, width > 0 ? width : PAGE_WIDTH, "      ", part);
    }
    caucus_wrap_put(out, width > 0 ? width : PAGE_WIDTH, "      ",
                    c->own ? "(certify is for trying things. On each device: its own number for that of client-1, the "
                             "coordinator's address for 127.0.0.1, and its losses to come as lines: those compared on "
                             "have been read without privacy, and a run on them would protect nothing.)"
                           : "(certify is for trying things. On each device: its own number for that of client-1, the "
                             "coordinator's address for 127.0.0.1, and its losses as lines.)");
}

static void json_command(caucus_json *j, const char *key, const caucus_settings *settings) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out != NULL) {
        caucus_command_plan(out, settings);
        (void)fclose(out);
    }
    caucus_json_text(j, key, text);
    free(text);
}

static void json_candidate(caucus_json *j, const caucus_comparison *c, const caucus_candidate *x) {
    const bool seen = x->quick.done, nobody = x->asked.trust == CAUCUS_TRUST_NOBODY;
    const caucus_candidate_words with = caucus_candidate_with(x);
    caucus_json_object_row(j, NULL);
    caucus_json_text(j, "algorithm", caucus_algorithm_word(x->asked.algorithm));
    caucus_json_text(j, "with", with.text[0] != '\0' ? with.text : NULL);
    caucus_json_text(j, "trust", caucus_trust_word(x->asked.trust));
    caucus_json_text(j, "message", nobody && x->plan != NULL ? caucus_message_word(x->plan->stoch.message) : NULL);
    caucus_json_text(j, "unit", caucus_unit_word(x->asked.unit));
    caucus_json_whole(j, "clients", x->alone ? 1 : c->settings.clients);
    caucus_json_real(j, "proven", x->plan != NULL && caucus_candidate_proved(c, x) ? x->plan->bound : (double)NAN);
    if (x->plan != NULL && caucus_candidate_proved(c, x) && c->settings.pace != CAUCUS_PACE_OWN)
        caucus_json_whole(j, "proven_rounds", caucus_plan_stretch_rounds(x->plan));
    else
        caucus_json_null(j, "proven_rounds");
    caucus_json_truth(j, "vacuous", caucus_candidate_proved(c, x) && !caucus_candidate_useful(c, x));
    caucus_json_truth(j, "premise_refuted",
                      c->own && x->plan != NULL && caucus_history_refutes(&c->history, &x->plan->settings));
    caucus_json_real(j, "regret", seen ? x->quick.regret.mean : (double)NAN);
    caucus_json_real(j, "regret_std", seen ? x->quick.regret.std : (double)NAN);
    caucus_json_real(j, "simulated_epsilon", seen ? x->quick.epsilon : (double)NAN);
    caucus_json_truth(j, "above_proven", caucus_candidate_above(c, x));
    caucus_json_real(j, "scalars_up", seen ? x->quick.scalars : (double)NAN);
    caucus_json_real(j, "epsilon_device", x->plan != NULL ? caucus_plan_epsilon_device(x->plan) : (double)NAN);
    char why[sizeof x->why.field + sizeof x->why.text + 2];
    (void)snprintf(why, sizeof why, "%s %s", x->why.field, x->why.text);
    caucus_json_text(j, "refused", x->plan == NULL ? why : NULL);
    caucus_json_text(j, "plan", x->plan != NULL ? caucus_plan_hash_text(x->plan) : NULL);
    const caucus_settings typed = caucus_command_settings(c, x);
    json_command(j, "command", &typed);
    caucus_json_truth(j, "take", x == c->taken);
    caucus_json_close(j);
}

static void json_situation(caucus_json *j, const caucus_comparison *c) {
    caucus_json_object(j, NULL);
    caucus_json_text(j, "losses_are", c->own ? NULL : caucus_knowledge_word(c->known));
    caucus_history_json(j, c->own ? &c->history : NULL);
    caucus_json_object_row(j, "simulated");
    caucus_json_text(j, "adversary", c->own ? NULL : caucus_adversary_kind_word(caucus_comparison_losses(c)));
    caucus_json_whole(j, "trials", c->scale.trials);
    caucus_json_whole(j, "clients", c->scale.clients);
    caucus_json_whole(j, "rounds", c->scale.rounds);
    caucus_json_truth(j, "smaller", caucus_scale_is_smaller(&c->scale));
    caucus_json_whole(j, "segments", c->segments > 1 ? c->segments : 1);
    caucus_json_text(j, "ranked_by", c->by_proof ? "proved" : "simulated");
    caucus_json_close(j);
    caucus_json_list(j, "candidates");
    for (size_t i = 0; i < c->shown; i++)
        json_candidate(j, c, &c->candidate[c->order[i]]);
    caucus_json_close(j);
    caucus_json_list(j, "advice");
    for (size_t i = 0; i < c->sentences; i++)
        caucus_json_text(j, NULL, c->advice[i]);
    caucus_json_close(j);
    caucus_json_close(j);
}

void caucus_printer_situation(caucus_printer *p, const caucus_comparison *c) {
    if (!p->begun && p->json != NULL) {
        caucus_json_begin(&p->document, p->json, false);
        caucus_json_list(&p->document, "situations");
    }
    if (!p->begun && p->text != NULL)
        print_head(p->text, c);
    p->begun = true;
    if (p->json != NULL)
        json_situation(&p->document, c);
    if (p->text != NULL)
        print_situation(p->text, c, p->width);
}

void caucus_printer_end(caucus_printer *p) {
    if (!p->begun || p->json == NULL)
        return;
    caucus_json_close(&p->document);
    caucus_json_end(&p->document);
}
