/* SPDX-License-Identifier: Apache-2.0 */
/* recommend_asked.c: what `caucus plan --recommend` says, for other languages (caucus/advice.h). */
#include <caucus/advice.h>

#include "data/npy.h"
#include "num/fail.h"
#include "num/hand_over.h"
#include "plan/family.h"
#include "show/choice/recommend.h"

#include <stdlib.h>

struct caucus_advice {
    char *text, *json;
    size_t text_bytes, json_bytes;
};

/* A plan's settings hold what was chosen for them; what other algorithms choose otherwise is open again. */
static caucus_question question_of(const caucus_plan *plan) {
    caucus_question q = {.settings = *caucus_plan_settings(plan), .known = CAUCUS_KNOWLEDGE_COUNT};
    q.interval_open = !caucus_algorithm_takes(q.settings.algorithm, CAUCUS_OPTION_INTERVAL);
    q.settings.grid = 0;
    if (q.settings.loss_shape == CAUCUS_LOSS_SHAPE_LINEAR)
        q.settings.trees = CAUCUS_TREES_AUTO;
    q.settings.federation = NULL;
    return q;
}

static caucus_status print(const caucus_question *question, caucus_advice *ret, caucus_error *ret_error) {
    FILE *text = open_memstream(&ret->text, &ret->text_bytes), *json = open_memstream(&ret->json, &ret->json_bytes);
    caucus_status status = text == NULL || json == NULL ? caucus_fail_memory(ret_error, "")
                                                        : caucus_recommend(text, json, question, ret_error);
    bool whole = text != NULL && json != NULL && !ferror(text) && !ferror(json);
    whole = (text == NULL || fclose(text) == 0) && whole;
    whole = (json == NULL || fclose(json) == 0) && whole;
    return status == CAUCUS_OK && !whole ? caucus_fail_memory(ret_error, "") : status;
}

caucus_status caucus_advice_new(const caucus_plan *plan, const char *losses_are, const caucus_loss_array *losses,
                                caucus_advice **ret, caucus_error *ret_error) {
    caucus_question question = question_of(plan);
    caucus_status status = caucus_loss_array_check(losses, ret_error);
    if (status != CAUCUS_OK)
        return status;
    question.array = losses;
    if (losses != NULL && losses_are != NULL)
        return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "losses",
                           ": are looked at for what they are, and were said "
                           "to be something");
    if (losses_are != NULL)
        status = caucus_knowledge_parse(losses_are, &question.known, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (question.settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX)
        return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "convex", ": for convex losses there is only stoch");
    caucus_advice *advice = calloc(1, sizeof *advice);
    if (advice == NULL)
        return caucus_fail_memory(ret_error, "");
    status = print(&question, advice, ret_error);
    return CAUCUS_HAND_OVER(status, ret, advice, caucus_advice_free(advice));
}

void caucus_advice_free(caucus_advice *advice) {
    if (advice == NULL)
        return;
    free(advice->text);
    free(advice->json);
    free(advice);
}

const char *caucus_advice_text(const caucus_advice *advice, size_t *ret_size) {
    *ret_size = advice->text_bytes;
    return advice->text;
}

const char *caucus_advice_json(const caucus_advice *advice, size_t *ret_size) {
    *ret_size = advice->json_bytes;
    return advice->json;
}
