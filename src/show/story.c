/* SPDX-License-Identifier: Apache-2.0 */
/* story.c: see story.h. */
#include "show/story.h"

#include "num/text.h"
#include "show/family_words.h"
#include "show/plan_words.h"
#include "show/wrap.h"
#include "store/look_json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { PARAGRAPHS = 4 };     /* runs that are told in words */
enum { PAGE_WIDTH = 120 };   /* where nothing says how wide the screen is */
#define COMMON_TRIALS 10000u /* of more trials nobody counts who had which expert */

/* Rounds in which the last expert was in force, earlier stretches included, as far as they are recorded: an estimate
 * where changes were left out. */
static double rounds_of_last(const caucus_trial_result *t, uint64_t rounds) {
    const caucus_choices *c = &t->choices;
    double sum = 0;
    for (uint32_t k = 0; k < c->count; k++)
        if (c->expert[k] == t->last)
            sum += (double)((k + 1 < c->count ? c->before[k + 1] : rounds) - c->before[k]);
    return sum;
}

caucus_story caucus_story_of(const caucus_run *run, const caucus_run_result *result) {
    const caucus_plan *plan = result->plan;
    const caucus_settings *s = &plan->settings;
    const uint64_t rounds = caucus_run_rounds(run, s);
    const uint64_t most = caucus_family_words_of(caucus_plan_family(plan))->most_switches(plan);
    caucus_story story = {.experts = result->trial[0].best != UINT32_MAX, .limited = most > 0};
    double clipped = 0, losses = 0;
    for (uint32_t i = 0; i < result->done; i++) {
        const caucus_trial_result *t = &result->trial[i];
        story.loss += t->loss;
        story.best_loss += t->loss - t->regret;
        story.ended_with_best += t->last == t->best;
        story.rounds_in_force += (double)(rounds - t->since);
        story.share_of_last += rounds_of_last(t, rounds) / (double)rounds;
        story.ran_out += story.limited && t->selections >= most;
        clipped += (double)t->clipped;
        losses += (double)t->losses * s->experts;
    }
    story.loss /= result->done;
    story.best_loss /= result->done;
    story.rounds_in_force /= result->done;
    story.share_of_last /= result->done;
    story.clipped_share = story.experts && losses > 0 ? clipped / losses : (double)NAN;
    return story;
}

/* The expert that most trials have in common, of those at `offset`, and how many have it. */
static uint32_t commonest(const caucus_run_result *result, size_t offset, uint32_t *ret_trials) {
    uint32_t found = 0;
    *ret_trials = 0;
    for (uint32_t i = 0; i < result->done; i++) {
        uint32_t mine, other, count = 0;
        memcpy(&mine, (const char *)&result->trial[i] + offset, sizeof mine);
        for (uint32_t k = 0; k < result->done; k++) {
            memcpy(&other, (const char *)&result->trial[k] + offset, sizeof other);
            count += mine == other;
        }
        if (count > *ret_trials) {
            *ret_trials = count;
            found = mine;
        }
    }
    return found;
}

/* "in 48 of 50 trials"; of one trial nobody says so. */
static void in_trials(caucus_text *text, uint32_t count, uint32_t of) {
    if (of > 1)
        caucus_text_add(text, " in %u of %u trials", count, of);
}

/* Which one did it pick? Where experts are the same in all trials (they have names, or the losses are a file's) the one
 * that most trials end with; else every trial has experts of its own, and it is the first one's. */
static void add_experts(caucus_text *text, const caucus_run *run, const caucus_run_result *result) {
    const caucus_plan *plan = result->plan;
    const bool same = caucus_plan_expert_name(plan, 0) != NULL || run->adversary.kind == CAUCUS_ADVERSARY_LOSSES;
    if (!same || result->done > COMMON_TRIALS) {
        caucus_text_add(text, " %s %s was in force at the end",
                        result->done > 1 ? "In the first trial expert" : "Expert",
                        caucus_plan_expert_words(plan, result->trial[0].last).text);
        caucus_text_add(text, "; best in hindsight: %s.", caucus_plan_expert_words(plan, result->trial[0].best).text);
        return;
    }
    uint32_t last_trials = 0, best_trials = 0;
    const uint32_t last = commonest(result, offsetof(caucus_trial_result, last), &last_trials);
    const uint32_t best = commonest(result, offsetof(caucus_trial_result, best), &best_trials);
    caucus_text_add(text, " Expert %s in force at the end", caucus_plan_expert_words(plan, last).text);
    in_trials(text, last_trials, result->done);
    caucus_text_add(text, "; best in hindsight: %s", caucus_plan_expert_words(plan, best).text);
    in_trials(text, best_trials, result->done);
    caucus_text_add(text, ".");
}

static void add_story(caucus_text *text, const caucus_run *run, const caucus_run_result *result) {
    const caucus_story story = caucus_story_of(run, result);
    const uint64_t rounds = caucus_run_rounds(run, &result->plan->settings);
    caucus_text_add(text, "lost %s per client, the best %s in hindsight %s.", caucus_words_number(story.loss).text,
                    story.experts ? "expert" : "mixture", caucus_words_number(story.best_loss).text);
    if (!story.experts)
        return;
    if (result->done > 1)
        caucus_text_add(text, " It ended with that expert in %u of %u trials.", story.ended_with_best, result->done);
    else
        caucus_text_add(text, " It ended with %s expert.", story.ended_with_best > 0 ? "that" : "another");
    caucus_text_add(text, " The last expert was in force for the last %s of %s %s%s.",
                    caucus_words_about(story.rounds_in_force).text, caucus_words_whole(rounds).text,
                    result->plan->settings.pace == CAUCUS_PACE_OWN ? "slots" : "rounds",
                    result->done > 1 ? " on average" : "");
    /* Where experts change often (hedge) that is short, and says little. */
    if (story.share_of_last * (double)rounds > 1.05 * story.rounds_in_force + 1)
        caucus_text_add(text, " With earlier stretches it was in force in about %.0f %% of all.",
                        100 * story.share_of_last);
    add_experts(text, run, result);
    if (story.ran_out > 0) {
        caucus_text_add(text, " SWITCHES RAN OUT");
        in_trials(text, story.ran_out, result->done);
        caucus_text_add(text, ": the expert could not change any more; renewing, a larger epsilon or more clients "
                              "help.");
    }
}

/* What an operator would have been shown; of several trials the first one's. */
static void add_look(caucus_text *text, const caucus_run_result *result) {
    const caucus_look *look = &result->trial[0].look;
    char words[CAUCUS_LOOK_WORDS_BYTES];
    if (look->clients == 0)
        return;
    caucus_look_words(look, words);
    caucus_text_add(text, " Shown last%s: expert %s lost %s in phase %" PRIu64 ".",
                    result->done > 1 ? ", in the first trial" : "",
                    caucus_plan_expert_words(result->plan, look->expert).text, words, look->phase);
}

/* Of many runs a row each: nobody reads as many paragraphs. */
static void print_rows(FILE *out, const caucus_outcome *outcome) {
    fputs("  run  algorithm          lost  best lost   ended with best   rounds in force to the end   ran out\n", out);
    for (size_t i = 0; i < outcome->count; i++) {
        const caucus_run_result *r = &outcome->result[i];
        char ended[32] = "-", rounds[32] = "-", out_of[32] = "-";
        if (r->done == 0)
            continue;
        const caucus_story s = caucus_story_of(&outcome->run[i], r);
        if (s.experts) {
            (void)snprintf(ended, sizeof ended, "%u of %u", s.ended_with_best, r->done);
            (void)snprintf(rounds, sizeof rounds, "%.20s", caucus_words_about(s.rounds_in_force).text);
        }
        if (s.limited)
            (void)snprintf(out_of, sizeof out_of, "%u of %u", s.ran_out, r->done);
        fprintf(out, "  %3zu  %-15s  %6s  %9s  %16s  %27s  %8s\n", i + 1,
                caucus_algorithm_word(r->plan->settings.algorithm), caucus_words_number(s.loss).text,
                caucus_words_number(s.best_loss).text, ended, rounds, out_of);
    }
}

void caucus_story_print(FILE *out, const caucus_outcome *outcome) {
    if (outcome->count > PARAGRAPHS) {
        print_rows(out, outcome);
        return;
    }
    for (size_t i = 0; i < outcome->count; i++) {
        const caucus_run_result *result = &outcome->result[i];
        caucus_text text = {0};
        if (result->done == 0)
            continue;
        if (outcome->count > 1)
            caucus_text_add(&text, "Run %zu, %s, ", i + 1, caucus_algorithm_word(result->plan->settings.algorithm));
        else
            caucus_text_add(&text, "It ");
        add_story(&text, &outcome->run[i], result);
        add_look(&text, result);
        if (!text.failed)
            caucus_wrap_put(out, outcome->width > 0 ? outcome->width : PAGE_WIDTH, "  ", text.data);
        caucus_text_free(&text);
    }
}
