/* SPDX-License-Identifier: Apache-2.0 */
/* recommend.c: the situations, one after the other. See recommend.h. */
#include "show/choice/recommend.h"

#include "num/fail.h"
#include "show/choice/comparison.h"
#include "show/choice/recommend_print.h"

#include <stdlib.h>
#include <string.h>

static caucus_status refuse(const caucus_question *q, caucus_error *ret_error) {
    const caucus_settings *s = &q->settings;
    if (s->trust == CAUCUS_TRUST_PAPER_LOCAL)
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "trust",
                           "paper-local is for reproducing the paper, not to be recommended "
                           "(accepted: coordinator, nobody, or nothing)");
    const bool own = q->losses != NULL || q->array != NULL;
    if (own && s->pace == CAUCUS_PACE_OWN)
        return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "losses",
                           "they are in rounds, which all clients play in step: not to be compared at pace own");
    if (own && s->loss_shape == CAUCUS_LOSS_SHAPE_CONVEX)
        return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "losses", "they are linear, and convex ones were asked for");
    return CAUCUS_OK;
}

/* Sizes and premises, from the losses themselves. Of more clients or rounds than they have, those are looked at that
 * there are. */
static caucus_status read_own(caucus_comparison *c, caucus_error *ret_error) {
    const caucus_question *q = c->question;
    caucus_settings *s = &c->settings;
    caucus_adversary *adversary = NULL;
    const caucus_adversary_settings losses = {.kind = CAUCUS_ADVERSARY_LOSSES,
                                              .experts = q->experts_open ? 0 : s->experts,
                                              .losses = q->losses,
                                              .array = q->array};
    caucus_status status = caucus_adversary_open(&losses, &adversary, ret_error);
    if (status != CAUCUS_OK)
        return status;
    caucus_adversary_shape(adversary, &c->own_clients, &s->experts, &c->own_rounds);
    status = caucus_adversary_match_names(adversary, &s->names, ret_error);
    if (status == CAUCUS_OK && s->names != NULL && s->names != q->settings.names) {
        c->names = strdup(s->names); /* the adversary is closed before the last use */
        s->names = c->names;
        status = c->names != NULL ? CAUCUS_OK : caucus_fail_memory(ret_error, "names");
    }
    if (q->clients_open)
        s->clients = c->own_clients;
    if (q->rounds_open && s->rounds != CAUCUS_ROUNDS_ENDLESS)
        s->rounds = c->own_rounds;
    c->own_clients = s->clients < c->own_clients ? s->clients : c->own_clients;
    c->own_rounds = s->rounds < c->own_rounds ? s->rounds : c->own_rounds;
    if (status == CAUCUS_OK)
        status = caucus_history_read(adversary, s, c->own_clients, c->own_rounds, &c->history, ret_error);
    caucus_adversary_close(adversary);
    return status;
}

/* Why nothing fits. At the devices' own pace some algorithms are refused for that alone: the reason is that of one that
 * keeps it. */
static caucus_error why_none(const caucus_comparison *c) {
    for (size_t i = 0; i < c->count && c->settings.pace == CAUCUS_PACE_OWN; i++)
        if (caucus_algorithm_takes(c->candidate[i].asked.algorithm, CAUCUS_OPTION_OWN_PACE))
            return c->candidate[i].why;
    return c->candidate[0].why;
}

static caucus_status compare(caucus_comparison *c, caucus_printer *printer, double losses, caucus_error *ret_error) {
    caucus_status status = CAUCUS_OK;
    caucus_candidates_add(c);
    const bool fits = caucus_comparison_fits(c);
    if (!fits && !caucus_comparison_would_fit(c, false)) { /* the fault is in what all have in common */
        *ret_error = why_none(c);
        status = CAUCUS_E_INFEASIBLE;
    }
    c->scale = (caucus_scale){0};
    c->segments = 1;
    if (fits) {
        caucus_comparison_scale(c, losses);
        status = caucus_comparison_play(c, ret_error);
    }
    if (status == CAUCUS_OK) {
        caucus_comparison_advise(c);
        caucus_printer_situation(printer, c);
    }
    caucus_candidates_free(c);
    return status;
}

/* One situation, or each of them in turn. */
static caucus_status compare_all(caucus_comparison *c, caucus_printer *printer, caucus_error *ret_error) {
    const caucus_question *question = c->question;
    caucus_status status = CAUCUS_OK;
    if (c->own || question->known != CAUCUS_KNOWLEDGE_COUNT) {
        c->known = c->own ? CAUCUS_KNOWLEDGE_COUNT : question->known;
        return compare(c, printer, CAUCUS_QUICK_LOSSES, ret_error);
    }
    for (unsigned i = 0; status == CAUCUS_OK && i < CAUCUS_KNOWLEDGE_COUNT; i++) {
        c->known = (caucus_knowledge)i;
        if (caucus_comparison_playable(c))
            status = compare(c, printer, CAUCUS_QUICK_LOSSES / CAUCUS_KNOWLEDGE_COUNT, ret_error);
    }
    return status;
}

caucus_status caucus_recommend(FILE *text, FILE *json, const caucus_question *question, caucus_error *ret_error) {
    caucus_comparison c = {.question = question, .settings = question->settings};
    caucus_printer printer = {.text = text, .json = json, .width = question->width};
    caucus_status status = refuse(question, ret_error);
    c.own = question->losses != NULL || question->array != NULL;
    if (question->interval_open)
        c.settings.interval = CAUCUS_INTERVAL_AUTO;
    if (status == CAUCUS_OK && c.own)
        status = read_own(&c, ret_error);
    if (status == CAUCUS_OK)
        status = compare_all(&c, &printer, ret_error);
    if (status == CAUCUS_OK)
        caucus_printer_end(&printer);
    free(c.names);
    return status;
}
