/* SPDX-License-Identifier: Apache-2.0 */
/* plan_print.c: a plan on one screen. See plan_print.h. */
#include "show/plan_print.h"

#include "plan/pace/pace.h"
#include "show/family_words.h"
#include "show/plan_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

caucus_status caucus_plan_report_make(const caucus_plan *plan, caucus_knowledge known, caucus_plan_report *ret,
                                      caucus_error *ret_error) {
    *ret = (caucus_plan_report){.plan = plan, .known = known, .traffic = caucus_plan_traffic_of(plan)};
    const bool said = known != CAUCUS_KNOWLEDGE_COUNT;
    return caucus_plan_quick(plan, said ? known : caucus_knowledge_of(plan->settings.algorithm), CAUCUS_QUICK_LOSSES,
                             &ret->quick, ret_error);
}

/* Unit client at own pace: a run with an end, decided where its phases end. */
static void print_questions(FILE *out, const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    const uint64_t questions = caucus_plan_blocks(plan) - 1;
    fprintf(out, "  Pace        %s slots of %s by the device's clock; %" PRIu64 " decision%s, ",
            caucus_words_whole(s->rounds).text, caucus_words_time(s->phase_time).text, questions,
            questions == 1 ? "" : "s");
    fprintf(out, "%s after the end of slot", caucus_words_time(s->grace).text);
    for (uint64_t p = 1; p <= questions; p++)
        fprintf(out, "%s%s",
                p == 1           ? (questions == 1 ? " " : "s ")
                : p == questions ? " and "
                                 : ", ",
                caucus_words_whole(caucus_pace_question_end(s, p) - s->start).text);
    if (s->start == 1)
        fputs("\n              no start: a plan to simulate; with one it can be played by the clock\n", out);
    else
        fprintf(out, "\n              the first slot begins %s\n", caucus_words_slot(s, s->start).text);
}

static void print_head(FILE *out, const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    if (s->pace == CAUCUS_PACE_OWN) {
        fprintf(out, "  %s, up to %s devices, %s experts, each device at its own pace\n",
                caucus_words_algorithm(s->algorithm), caucus_words_whole(s->clients).text,
                caucus_words_whole(s->experts).text);
        if (caucus_pace_by_question(s)) {
            print_questions(out, plan);
            return;
        }
        fprintf(out, "  Pace        slots of %s by the device's clock; a decision every %s, ",
                caucus_words_time(s->phase_time).text, caucus_words_time(s->phase_time).text);
        fprintf(out, "%s after a slot's end\n", caucus_words_time(s->grace).text);
        return;
    }
    fprintf(out, "  %s, %s client%s, %s experts, %s%s, ", caucus_words_algorithm(s->algorithm),
            caucus_words_whole(s->clients).text, s->clients == 1 ? "" : "s", caucus_words_whole(s->experts).text,
            caucus_plan_is_endless(plan) ? "rounds without an end" : caucus_words_whole(s->rounds).text,
            caucus_plan_is_endless(plan) ? ""
            : s->rounds == 1             ? " round"
                                         : " rounds");
    const uint64_t blocks = caucus_plan_blocks(plan);
    if (caucus_plan_ops_of(plan)->phases && caucus_plan_is_endless(plan))
        fprintf(out, "phases of %s\n", caucus_words_whole(s->longest_phase).text);
    else if (caucus_plan_ops_of(plan)->phases)
        fprintf(out, "%" PRIu64 " phase%s\n", blocks, blocks == 1 ? "" : "s");
    else if (s->interval == 1)
        fputs("one report per round\n", out);
    else
        fprintf(out, "one report every %s rounds\n", caucus_words_whole(s->interval).text);
    if (s->evaluate != 0)
        fprintf(out, "  Work        a client evaluates %s of the %s experts in a round; the plan says which\n",
                caucus_words_whole(s->evaluate).text, caucus_words_whole(s->experts).text);
    if (s->renew != 0 && caucus_plan_is_endless(plan))
        fprintf(out, "  Renewal     begins again every %s rounds on new losses, with the expert in force\n",
                caucus_words_whole(s->renew).text);
    else if (caucus_settings_cycles(s) > 1)
        fprintf(out, "  Renewal     begins again every %s rounds on new losses, with the expert in force: %s cycles\n",
                caucus_words_whole(s->renew).text, caucus_words_whole(caucus_settings_cycles(s)).text);
}

/* What the numbers stand for, as many as fit a few lines. */
static void print_names(FILE *out, const caucus_plan *plan) {
    enum { MOST = 12 };
    const uint32_t d = plan->settings.experts;
    if (caucus_plan_federation(plan) != NULL)
        fprintf(out, "  Federation  %s\n", caucus_plan_federation(plan));
    if (caucus_plan_expert_name(plan, 0) == NULL)
        return;
    for (uint32_t i = 0; i < d && i < MOST; i++)
        fprintf(out, "%s%s",
                i == 0       ? "  Experts     "
                : i % 4 == 0 ? ",\n              "
                             : ", ",
                caucus_plan_expert_words(plan, i).text);
    if (d > MOST)
        fprintf(out, " and %s more", caucus_words_whole(d - MOST).text);
    fputc('\n', out);
}

static void print_privacy(FILE *out, const caucus_plan *plan) {
    const caucus_guarantee *g = &plan->guarantee;
    fprintf(out, "  Privacy     choices: %s, unit: %s     messages: %s\n",
            caucus_words_privacy(g->epsilon_choices, g->delta).text, caucus_words_unit(&plan->settings),
            caucus_words_privacy(g->epsilon_messages, g->delta).text);
    if (isfinite(g->epsilon_choices) && g->epsilon_choices > 0 && caucus_plan_is_endless(plan))
        fputs("              for everything that one client contributes to the run, which has no end: no bound\n", out);
    else if (isfinite(g->epsilon_choices) && g->epsilon_choices > 0 && plan->settings.unit != CAUCUS_UNIT_CLIENT)
        fprintf(out, "              for everything that one client contributes to the run: epsilon %s at most%s\n",
                caucus_words_number(caucus_plan_epsilon_device(plan)).text, caucus_words_delta(g->delta).text);
    if (plan->settings.pace == CAUCUS_PACE_OWN)
        fputs("              not protected: that a device is connected, and when\n", out);
    if (plan->settings.calibration == CAUCUS_CALIBRATION_PAPER)
        fprintf(out, "              %s\n", g->note);
}

static void print_warnings(FILE *out, const caucus_plan *plan) {
    char weak[CAUCUS_PLAN_WEAKNESSES][CAUCUS_PLAN_WEAKNESS_BYTES];
    const size_t count = caucus_plan_weaknesses(plan, weak);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "  WEAK        %s\n", weak[i]);
}

static void print_assumption(FILE *out, const caucus_plan_report *r) {
    const caucus_settings *s = &r->plan->settings;
    const caucus_knowledge assumed = caucus_knowledge_of(s->algorithm);
    if (r->plan->bound_kind == CAUCUS_BOUND_NONE)
        return;
    if (r->known == CAUCUS_KNOWLEDGE_DRIFTING && assumed == CAUCUS_KNOWLEDGE_ANY)
        fputs("              NOT COVERED: the bound is against the best expert of the whole run; where losses drift "
              "another one\n              may be best in every part of it\n",
              out);
    else if (r->known != CAUCUS_KNOWLEDGE_COUNT && !caucus_knowledge_covers(s, r->known))
        fprintf(out, "              NOT COVERED: the bound is for losses that are %s; you said %s\n",
                caucus_knowledge_word(assumed), caucus_knowledge_word(r->known));
    else if (assumed == CAUCUS_KNOWLEDGE_REALIZABLE)
        fprintf(out, "              if some expert loses at most %s in all at each client%s\n",
                caucus_words_number(s->lstar).text, caucus_settings_cycles(s) > 1 ? ", in each cycle" : "");
    else if (s->loss_shape == CAUCUS_LOSS_SHAPE_CONVEX)
        fprintf(
            out,
            "              if losses are drawn independently from one distribution, and have gradients up to %s and "
            "smoothness %s\n",
            caucus_words_number(s->lipschitz).text, caucus_words_number(s->smoothness).text);
    else if (caucus_pace_by_question(s))
        fprintf(out,
                "              if every device sees exactly %s losses in every slot, drawn independently from one "
                "distribution, which may be\n              its own; against the best on average over devices\n",
                caucus_words_whole(s->most).text);
    else if (s->pace == CAUCUS_PACE_OWN)
        fprintf(
            out,
            "              per 1,000 losses, if every device sees exactly %s in every slot; against the expert that "
            "is best %s\n              between changes, at most %s in 1,000 losses; if how much a device sees says "
            "nothing about its losses\n",
            caucus_words_whole(s->most).text,
            s->unit == CAUCUS_UNIT_EVENT ? "on total loss" : "on average over devices",
            caucus_words_number(s->changes).text);
    else if (s->longest_phase != 0)
        fprintf(out,
                "              against the best expert between changes, if losses are drawn independently and what "
                "they are drawn\n              from changes at most %s times in 1,000 rounds\n",
                caucus_words_number(s->changes).text);
    else if (s->unit == CAUCUS_UNIT_CLIENT && s->evaluate == 0)
        fputs("              if each client's losses are drawn independently from one distribution, which may be its "
              "own; against the\n              best on average over the clients\n",
              out);
    else if (assumed == CAUCUS_KNOWLEDGE_IID)
        fputs("              if losses are drawn independently from one distribution\n", out);
    else if (r->known == CAUCUS_KNOWLEDGE_ADAPTIVE)
        fputs("              for losses that may follow what was announced in earlier blocks, not in their own: users "
              "who react to the\n              expert that they are being served are not covered; all reports must be "
              "counted\n",
              out);
    else
        fputs("              for any losses that are fixed in advance\n", out);
}

typedef struct stretch_words {
    char text[96];
} stretch_words;

static stretch_words stretch(const caucus_plan *plan) {
    static const char *const words[] = {"", " and cycle", " and 1,000 rounds"};
    const caucus_stretch_kind kind = caucus_plan_stretch_of(plan);
    stretch_words made = {""};
    if (kind == CAUCUS_STRETCH_NOMINAL)
        (void)snprintf(made.text, sizeof made.text, " in the first %s rounds",
                       caucus_words_whole(plan->settings.nominal_rounds).text);
    else
        (void)snprintf(made.text, sizeof made.text, "%s",
                       plan->settings.pace == CAUCUS_PACE_OWN && kind == CAUCUS_STRETCH_ROUNDS ? " and 1,000 losses"
                                                                                               : words[kind]);
    return made;
}

static void print_regret(FILE *out, const caucus_plan_report *r) {
    const caucus_plan *plan = r->plan;
    fputs("  Regret      ", out);
    if (plan->bound_kind == CAUCUS_BOUND_NONE)
        fprintf(out, "no bound is proved: %s", caucus_family_words_of(caucus_plan_family(plan))->why_none(plan));
    else if (caucus_plan_is_vacuous(plan))
        fprintf(out, "the proved bound is vacuous: %s, and there is no more than %s to lose",
                caucus_words_number(plan->bound_uncapped).text, caucus_words_number(plan->bound).text);
    else if (plan->bound_kind == CAUCUS_BOUND_PROBABILITY)
        fprintf(out, "at most %s per client%s with probability %.6g %%", caucus_words_number(plan->bound).text,
                stretch(plan).text, 100 * (1 - plan->settings.rho));
    else
        fprintf(out, "at most %s per client%s on average", caucus_words_number(plan->bound).text, stretch(plan).text);
    const caucus_quick *q = &r->quick;
    const bool bounded = plan->bound_kind != CAUCUS_BOUND_NONE && !caucus_plan_is_vacuous(plan);
    const char *above = bounded && q->done && q->regret.mean > plan->bound ? ", above what is proved" : "";
    char noise[128] = "";
    if (q->done && q->scale.fewer && isfinite(q->epsilon))
        (void)snprintf(noise, sizeof noise, "; epsilon %.40s, %s: an estimate", caucus_words_number(q->epsilon).text,
                       caucus_scale_capped(&q->scale, &plan->settings) ? "for more noise than all clients have"
                                                                       : "for the noise of all clients");
    if (q->done && caucus_scale_is_smaller(&q->scale))
        fprintf(out,
                "\n              (a quick simulation of a smaller run, %s clients and %s rounds, %s losses: about "
                "%s%s%s)\n",
                caucus_words_whole(q->scale.clients).text, caucus_words_whole(q->scale.rounds).text,
                caucus_adversary_kind_word(q->adversary), caucus_words_about(q->regret.mean).text, above, noise);
    else if (q->done)
        fprintf(out, "   (a quick simulation, %s losses: about %s%s)\n", caucus_adversary_kind_word(q->adversary),
                caucus_words_about(q->regret.mean).text, above);
    else if (caucus_plan_is_endless(plan))
        fputs("   (caucus simulate --play N plays some of it)\n", out);
    else
        fputs("   (caucus simulate plays it; the plan has no smaller one that is played quickly)\n", out);
    print_assumption(out, r);
}

static void print_traffic(FILE *out, const caucus_plan_report *r) {
    const caucus_plan_traffic *t = &r->traffic;
    if (r->quick.done && !caucus_scale_is_smaller(&r->quick.scale))
        fprintf(out, "  Traffic     about %s numbers up per client, %s (at most %s, %s",
                caucus_words_about(r->quick.scalars).text, caucus_words_bytes(r->quick.bytes).text,
                caucus_words_whole(t->scalars).text, caucus_words_bytes((double)t->bytes).text);
    else
        fprintf(out, "  Traffic     at most %s numbers up per client%s (%s", caucus_words_whole(t->scalars).text,
                caucus_plan_is_endless(r->plan) ? stretch(r->plan).text : "",
                caucus_words_bytes((double)t->bytes).text);
    if (t->paper_scalars > t->scalars)
        fprintf(out, "; the paper's protocol: %s", caucus_words_whole(t->paper_scalars).text);
    fprintf(out, ")\n  Memory      about %s per client, %s at the coordinator\n",
            caucus_words_bytes((double)t->client_memory).text, caucus_words_bytes((double)t->coordinator_memory).text);
}

void caucus_plan_print(FILE *out, const caucus_plan_report *r) {
    print_head(out, r->plan);
    print_names(out, r->plan);
    print_warnings(out, r->plan);
    print_privacy(out, r->plan);
    caucus_family_words_of(caucus_plan_family(r->plan))->print(out, r->plan, r->width);
    print_regret(out, r);
    print_traffic(out, r);
    fprintf(out, "  Plan        %s\n", caucus_plan_hash_text(r->plan));
}
