/* plan_print.c: a plan on one screen. See plan_print.h. */
#include "show/plan_print.h"

#include "show/plan_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

caucus_status caucus_plan_report_make(const caucus_plan *plan, caucus_knowledge known, const char *hash,
                                      caucus_plan_report *ret, caucus_error *ret_error) {
    *ret = (caucus_plan_report){.plan = plan, .known = known, .traffic = caucus_plan_traffic_of(plan)};
    if (hash != NULL) {
        memcpy(ret->hash, hash, sizeof ret->hash);
    } else {
        char *text = NULL;
        size_t size = 0;
        if (caucus_plan_file_text(plan, &text, &size) != CAUCUS_OK)
            return caucus_fail(ret_error, CAUCUS_E_MEMORY, "plan", "%s", caucus_status_text(CAUCUS_E_MEMORY));
        caucus_plan_file_hash(text, size, ret->hash);
        free(text);
    }
    const bool said = known != CAUCUS_KNOWLEDGE_COUNT;
    return caucus_plan_quick(plan, said ? known : caucus_knowledge_of(plan->settings.algorithm), CAUCUS_QUICK_LOSSES,
                             &ret->quick, ret_error);
}

static bool is_svt(const caucus_plan *plan) {
    return plan->settings.algorithm == CAUCUS_ALGORITHM_SVT ||
           plan->settings.algorithm == CAUCUS_ALGORITHM_SPARSE_VECTOR;
}

static bool is_stoch(const caucus_plan *plan) {
    return plan->settings.algorithm == CAUCUS_ALGORITHM_STOCH ||
           plan->settings.algorithm == CAUCUS_ALGORITHM_LIMITED_UPDATES;
}

static void print_head(FILE *out, const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    fprintf(out, "  %s, %s client%s, %s experts, %s round%s, ", caucus_words_algorithm(s->algorithm),
            caucus_words_whole(s->clients).text, s->clients == 1 ? "" : "s", caucus_words_whole(s->experts).text,
            caucus_words_whole(s->rounds).text, s->rounds == 1 ? "" : "s");
    if (is_stoch(plan))
        fprintf(out, "%" PRIu64 " phase%s\n", plan->stoch.phases, plan->stoch.phases == 1 ? "" : "s");
    else if (s->interval == 1)
        fputs("one report per round\n", out);
    else
        fprintf(out, "one report every %s rounds\n", caucus_words_whole(s->interval).text);
}

static void print_privacy(FILE *out, const caucus_plan *plan) {
    const caucus_guarantee *g = &plan->guarantee;
    fprintf(out, "  Privacy     choices: %s, unit: %s     messages: %s\n",
            caucus_words_privacy(g->epsilon_choices, g->delta).text, caucus_words_unit(&plan->settings),
            caucus_words_privacy(g->epsilon_messages, g->delta).text);
    if (plan->settings.calibration == CAUCUS_CALIBRATION_PAPER)
        fprintf(out, "              %s\n", g->note);
}

static void print_svt(FILE *out, const caucus_plan *plan) {
    const caucus_svt_plan *svt = &plan->svt;
    if (svt->switches == 0) {
        fputs("  Noise       none is drawn: there is nothing to decide after the only block\n", out);
        return;
    }
    const caucus_noise *t = &svt->threshold_noise, *q = &svt->check_noise;
    const double grid = (double)plan->grid;
    if (t->kind == q->kind && caucus_rational_compare(t->parameter, q->parameter) == 0)
        fprintf(out, "  Noise       threshold and checks: %s, scale %s", caucus_words_law(t->kind),
                caucus_words_number(caucus_words_spread(plan, t)).text);
    else
        fprintf(out, "  Noise       threshold: %s, scale %s     checks: scale %s", caucus_words_law(t->kind),
                caucus_words_number(caucus_words_spread(plan, t)).text,
                caucus_words_number(caucus_words_spread(plan, q)).text);
    const double first = 2 * grid * caucus_rational_double(svt->select_rate[0]),
                 last = 2 * grid * caucus_rational_double(svt->select_rate[svt->switches - 1]);
    fprintf(out, "        selections: eta %s", caucus_words_number(first).text);
    if (first > last * (1 + 1e-9))
        fprintf(out, " falling to %s", caucus_words_number(last).text);
    fprintf(out, ", at most %s\n", caucus_words_whole(svt->switches).text);
    fprintf(out, "  Switch when the expert in force has cost %s since it was chosen",
            caucus_words_number((double)svt->threshold[0] * caucus_words_step(plan)).text);
    if (first > last * (1 + 1e-9))
        fprintf(out, " (%s at the last switch)",
                caucus_words_number((double)svt->threshold[svt->switches - 1] * caucus_words_step(plan)).text);
    fputs(plan->settings.clients > 1 ? ", all clients together\n" : "\n", out);
}

/* The scale that matters in a phase: of its last selections, of a vote, or of a root's noise. */
static double phase_scale(const caucus_plan *plan, const caucus_stoch_phase *phase) {
    if (plan->settings.trust == CAUCUS_TRUST_COORDINATOR)
        return caucus_words_scale(plan, phase->select_rate[phase->trees]);
    if (plan->settings.trust == CAUCUS_TRUST_PAPER_LOCAL)
        return caucus_words_spread(plan, &phase->leaf_noise[phase->trees]);
    if (plan->stoch.message == CAUCUS_MESSAGE_VOTE || plan->stoch.message == CAUCUS_MESSAGE_SHORTLIST)
        return caucus_words_scale(plan, phase->vote_rate);
    return caucus_words_spread(plan, &phase->vertex_noise[0]);
}

static void print_stoch(FILE *out, const caucus_plan *plan) {
    const caucus_stoch_plan *stoch = &plan->stoch;
    static const char *const selects[CAUCUS_SELECT_COUNT] = {"", "permute-and-flip", "exponential mechanism",
                                                             "noisy minimum (Laplace)"};
    if (stoch->phases == 1) {
        fputs("  Noise       none is drawn: one round leaves nothing to decide\n", out);
        return;
    }
    if (plan->settings.trust == CAUCUS_TRUST_COORDINATOR)
        fprintf(out, "  Noise       at the coordinator: selections by %s\n", selects[stoch->select]);
    else if (plan->settings.trust == CAUCUS_TRUST_PAPER_LOCAL)
        fputs("  Noise       at every client: Laplace on each coordinate, the paper's scales\n", out);
    else
        fprintf(out, "  Noise       at every client: %s (%s)\n", caucus_message_word(stoch->message),
                caucus_message_help(stoch->message));
    if (stoch->past > 1)
        fprintf(out, "              earlier phases weigh in: a phase back counts %.3g\n",
                (double)stoch->past_weights[1] / (double)stoch->past_weights[0]);
    fputs("  Phases         plays rounds   learns from   trees   leaves   scale   excess per round\n", out);
    for (uint64_t i = 0; i + 1 < stoch->phases; i++) {
        const caucus_stoch_phase *phase = &stoch->phase[i];
        char rounds[32];
        (void)snprintf(rounds, sizeof rounds, "%" PRIu64 "-%" PRIu64, phase->first, phase->first + phase->length - 1);
        fprintf(out, "    %-2" PRIu64 "  %23s  %8s each  %6u  %7u  %6s  %17s\n", i + 2, rounds,
                caucus_words_whole(phase->samples).text, phase->trees,
                phase->trees > 0 ? ((uint32_t)2 << phase->trees) - 2 : 1,
                caucus_words_number(phase_scale(plan, phase)).text,
                isnan(phase->error) ? "-" : caucus_words_number(phase->error).text);
    }
    fputs(
        plan->settings.trust == CAUCUS_TRUST_COORDINATOR
            ? "              scale: of the selections, in units of a loss, against sums over all clients and samples\n"
            : "              scale: of each client's noise, in units of a loss, against its own sums\n",
        out);
}

static void print_hedge(FILE *out, const caucus_plan *plan) {
    if (plan->settings.algorithm == CAUCUS_ALGORITHM_LEADER) {
        fputs("  Noise       none: the best expert so far is played, which protects nobody\n", out);
        return;
    }
    const double rate = plan->hedge.learning_rate, best = caucus_hedge_best_rate(&plan->settings);
    fprintf(out, "  Draws       %s, learning rate %s: ", caucus_words_whole(plan->hedge.blocks).text,
            caucus_words_number(rate).text);
    if (isinf(plan->guarantee.epsilon_choices))
        fputs("the best one, without privacy\n", out);
    else if (rate >= best * (1 - 1e-6))
        fputs("the best one, so privacy is free here\n", out);
    else
        fprintf(out, "what privacy allows (%s would be best, and free from %s clients on)\n",
                caucus_words_number(best).text,
                caucus_words_whole((uint64_t)ceil(plan->settings.clients * best / rate)).text);
}

static void print_assumption(FILE *out, const caucus_plan_report *r) {
    const caucus_settings *s = &r->plan->settings;
    const caucus_knowledge assumed = caucus_knowledge_of(s->algorithm);
    if (r->plan->bound_kind == CAUCUS_BOUND_NONE)
        return;
    if (r->known != CAUCUS_KNOWLEDGE_COUNT && !caucus_knowledge_covers(s->algorithm, r->known))
        fprintf(out, "              NOT COVERED: the bound is for losses that are %s; you said %s\n",
                caucus_knowledge_word(assumed), caucus_knowledge_word(r->known));
    else if (assumed == CAUCUS_KNOWLEDGE_REALIZABLE)
        fprintf(out, "              if some expert loses at most %s in all at each client\n",
                caucus_words_number(s->lstar).text);
    else if (s->loss_shape == CAUCUS_LOSS_SHAPE_CONVEX)
        fprintf(
            out,
            "              if losses are drawn independently from one distribution, and have gradients up to %s and "
            "smoothness %s\n",
            caucus_words_number(s->lipschitz).text, caucus_words_number(s->smoothness).text);
    else if (assumed == CAUCUS_KNOWLEDGE_IID)
        fputs("              if losses are drawn independently from one distribution\n", out);
    else
        fputs("              for any losses that are fixed in advance\n", out);
}

static const char *why_none(const caucus_plan *plan) {
    if (plan->settings.front_load)
        return "front-load has no proof, only better simulations";
    if (plan->settings.algorithm == CAUCUS_ALGORITHM_LEADER)
        return "a reference";
    if (is_svt(plan))
        return "the paper's constants leave no margin";
    return "votes have none that shrinks with the number of clients";
}

static void print_regret(FILE *out, const caucus_plan_report *r) {
    const caucus_plan *plan = r->plan;
    fputs("  Regret      ", out);
    if (plan->bound_kind == CAUCUS_BOUND_NONE)
        fprintf(out, "no bound is proved: %s", why_none(plan));
    else if (caucus_plan_is_vacuous(plan))
        fprintf(out, "the proved bound is vacuous: %s, and there is no more than %s to lose",
                caucus_words_number(plan->bound_uncapped).text, caucus_words_number(plan->bound).text);
    else if (plan->bound_kind == CAUCUS_BOUND_PROBABILITY)
        fprintf(out, "at most %s per client with probability %.6g %%", caucus_words_number(plan->bound).text,
                100 * (1 - plan->settings.rho));
    else
        fprintf(out, "at most %s per client on average", caucus_words_number(plan->bound).text);
    if (r->quick.done)
        fprintf(out, "   (a quick simulation, %s losses: about %s)\n", caucus_adversary_kind_word(r->quick.adversary),
                caucus_words_about(r->quick.regret.mean).text);
    else
        fputs("   (too large for a quick simulation: caucus simulate)\n", out);
    print_assumption(out, r);
}

static void print_traffic(FILE *out, const caucus_plan_report *r) {
    const caucus_plan_traffic *t = &r->traffic;
    if (r->quick.done)
        fprintf(out, "  Traffic     about %s numbers up per client, %s (at most %s, %s",
                caucus_words_about(r->quick.scalars).text, caucus_words_bytes(r->quick.bytes).text,
                caucus_words_whole(t->scalars).text, caucus_words_bytes((double)t->bytes).text);
    else
        fprintf(out, "  Traffic     at most %s numbers up per client (%s", caucus_words_whole(t->scalars).text,
                caucus_words_bytes((double)t->bytes).text);
    if (t->paper_scalars > t->scalars)
        fprintf(out, "; the paper's protocol: %s", caucus_words_whole(t->paper_scalars).text);
    fprintf(out, ")\n  Memory      about %s per client, %s at the coordinator\n",
            caucus_words_bytes((double)t->client_memory).text, caucus_words_bytes((double)t->coordinator_memory).text);
}

void caucus_plan_print(FILE *out, const caucus_plan_report *r) {
    print_head(out, r->plan);
    print_privacy(out, r->plan);
    if (is_svt(r->plan))
        print_svt(out, r->plan);
    else if (is_stoch(r->plan))
        print_stoch(out, r->plan);
    else
        print_hedge(out, r->plan);
    print_regret(out, r);
    print_traffic(out, r);
    fprintf(out, "  Plan        %s\n", r->hash);
}
