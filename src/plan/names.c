/* SPDX-License-Identifier: Apache-2.0 */
/* names.c: what the experts and the run of a plan are called. See plan.h, num/label.h.
 *
 * Labels hold no comma, so a list of them is one text; a plan also keeps it cut into pieces, to be asked by number. */
#include "num/fail.h"
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy of the text with an end after every label, behind a table of where they begin: one piece of memory. */
static char **cut(const char *names, uint32_t count) {
    const size_t table = (size_t)count * sizeof(char *), bytes = strlen(names) + 1;
    char **label = malloc(table + bytes);
    if (label == NULL)
        return NULL;
    char *text = (char *)label + table;
    memcpy(text, names, bytes);
    for (uint32_t i = 0; i < count; i++) {
        label[i] = text;
        text += strcspn(text, ",");
        if (*text == ',')
            *text++ = '\0';
    }
    return label;
}

static caucus_status check_list(const caucus_settings *s, caucus_error *ret_error) {
    uint32_t count = 0;
    if (strlen(s->names) > CAUCUS_NAMES_BYTES)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "names", "%zu bytes (accepted: at most %u in all)",
                           strlen(s->names), CAUCUS_NAMES_BYTES);
    for (const char *at = s->names;; at++) {
        const size_t length = strcspn(at, ",");
        caucus_status status = caucus_label_check(at, length, ret_error);
        if (status != CAUCUS_OK)
            return status;
        count++;
        at += length;
        if (*at == '\0')
            break;
    }
    if (count != s->experts)
        return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "names", "%u labels for %u experts (accepted: one for each)",
                           count, s->experts);
    char **label = cut(s->names, count);
    if (label == NULL)
        return caucus_fail_memory(ret_error, "names");
    caucus_status status = caucus_labels_differ((const char *const *)label, count, ret_error);
    free(label);
    return status;
}

caucus_status caucus_settings_check_names(const caucus_settings *s, caucus_error *ret_error) {
    caucus_status status = s->names != NULL ? check_list(s, ret_error) : CAUCUS_OK;
    if (status == CAUCUS_OK && s->federation != NULL) {
        status = caucus_label_check(s->federation, strlen(s->federation), ret_error);
        if (status != CAUCUS_OK && ret_error != NULL)
            (void)snprintf(ret_error->field, sizeof ret_error->field, "federation");
    }
    return status;
}

caucus_status caucus_plan_take_names(caucus_plan *plan, caucus_error *ret_error) {
    caucus_settings *s = &plan->settings;
    if (s->names != NULL) {
        plan->names = strdup(s->names);
        plan->label = cut(s->names, s->experts);
        s->names = plan->names;
        if (plan->names == NULL || plan->label == NULL)
            return caucus_fail_memory(ret_error, "names");
    }
    if (s->federation != NULL) {
        s->federation = plan->federation = strdup(s->federation);
        if (plan->federation == NULL)
            return caucus_fail_memory(ret_error, "federation");
    }
    return CAUCUS_OK;
}

const char *caucus_plan_expert_name(const caucus_plan *plan, uint32_t expert) {
    return plan->label != NULL && expert < plan->settings.experts ? plan->label[expert] : NULL;
}

const char *caucus_plan_federation(const caucus_plan *plan) {
    return plan->federation;
}

caucus_expert_words caucus_names_label(const char *names, uint32_t expert) {
    caucus_expert_words words = {""};
    for (; names != NULL && expert > 0; expert--)
        names += strcspn(names, ",") + 1;
    if (names != NULL)
        (void)snprintf(words.text, sizeof words.text, "%.*s", (int)strcspn(names, ","), names);
    return words;
}

caucus_expert_words caucus_plan_expert_words(const caucus_plan *plan, uint32_t expert) {
    caucus_expert_words words;
    const char *name = caucus_plan_expert_name(plan, expert);
    if (name != NULL)
        (void)snprintf(words.text, sizeof words.text, "%s (%u)", name, expert);
    else
        (void)snprintf(words.text, sizeof words.text, "%u", expert);
    return words;
}
