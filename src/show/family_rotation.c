/* SPDX-License-Identifier: Apache-2.0 */
/* family_rotation.c: how plans of rotation are told. */
#include "show/family_words.h"
#include "show/plan_words.h"

static void print(FILE *out, const caucus_plan *plan) {
    fprintf(out,
            "  Draws       %s, none of the last %u experts again: nothing is learnt, so there is nothing to hide\n",
            caucus_words_whole(caucus_plan_selections(plan)).text, caucus_rotation_memory(plan));
}

static const char *why_none(const caucus_plan *plan) {
    (void)plan;
    return "nothing is learnt";
}

static void explain(caucus_explainer *e) {
    caucus_explain_say(e, "Rotation", "Every block an expert is drawn that was not in force lately; no loss is seen.");
    caucus_explain_account(e);
}

static void traffic(const caucus_plan *plan, caucus_plan_traffic *ret) {
    ret->reports = ret->scalars = caucus_plan_selections(plan);
    ret->coordinator_memory = 8 * (uint64_t)plan->settings.clients;
}

const caucus_family_words caucus_words_rotation = {
    .assumes = CAUCUS_KNOWLEDGE_IID,
    .print = print,
    .why_none = why_none,
    .explain = explain,
    .traffic = traffic,
};
