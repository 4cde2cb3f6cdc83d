/* SPDX-License-Identifier: Apache-2.0 */
/* plan_json.c: a plan as one JSON object. The same walk as the plan file, so nothing is missing. See plan_print.h. */
#include "plan/text/plan_walk.h"
#include "show/bound_fit.h"
#include "show/family_words.h"
#include "show/plan_print.h"
#include "show/plan_words.h"
#include "store/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct printer {
    caucus_walker walker;
    caucus_json *json;
    size_t left; /* values of the list under way */
} printer;

static caucus_json *json_of(caucus_walker *walker) {
    return ((printer *)walker)->json;
}

static void print_open(caucus_walker *walker, const char *key) {
    caucus_json_object(json_of(walker), key);
}

static void print_close(caucus_walker *walker) {
    caucus_json_close(json_of(walker));
}

static void print_list(caucus_walker *walker, const char *key, size_t count) {
    caucus_json_list_row(json_of(walker), key);
    ((printer *)walker)->left = count;
    if (count == 0)
        caucus_json_close(json_of(walker));
}

/* Numbers, true, false and null as JSON has them; words and fractions as strings. */
static void print_value(caucus_walker *walker, const char *key, const caucus_value *v) {
    caucus_json *j = json_of(walker);
    char text[CAUCUS_VALUE_BYTES];
    if (v->kind == CAUCUS_VALUE_REAL) {
        caucus_json_real(j, key, *v->real);
    } else {
        caucus_value_text(v, text);
        if (v->kind == CAUCUS_VALUE_WHOLE && *v->whole == CAUCUS_ROUNDS_ENDLESS)
            caucus_json_null(j, key);
        else if (v->kind == CAUCUS_VALUE_WHOLE)
            caucus_json_whole(j, key, strtoull(text, NULL, 10));
        else if (v->kind == CAUCUS_VALUE_SIGNED)
            caucus_json_signed(j, key, strtoll(text, NULL, 10));
        else if (v->kind == CAUCUS_VALUE_SWITCH)
            caucus_json_truth(j, key, strcmp(text, "true") == 0);
        else
            caucus_json_text(j, key, text);
    }
    if (key == NULL && --((printer *)walker)->left == 0)
        caucus_json_close(j);
}

/* Names as a list, in the order of their numbers. */
static void print_text(caucus_walker *walker, const char *key, const char **at) {
    caucus_json *j = json_of(walker);
    if (*at == NULL) {
        caucus_json_null(j, key);
    } else if (strcmp(key, "names") == 0) {
        caucus_json_list_row(j, key);
        for (const char *from = *at; *from != '\0';) {
            char label[CAUCUS_LABEL_MAX + 1];
            const size_t length = strcspn(from, ",");
            (void)snprintf(label, sizeof label, "%.*s", (int)length, from);
            caucus_json_text(j, NULL, label);
            from += length + (from[length] == ',');
        }
        caucus_json_close(j);
    } else {
        caucus_json_text(j, key, *at);
    }
}

/* JSON says everything, defaults too. */
static bool print_has(caucus_walker *walker, const char *key, bool other) {
    (void)walker, (void)key, (void)other;
    return true;
}

/* What the integers mean, as real numbers in loss units. */
static void print_meaning(caucus_json *j, const caucus_plan *plan) {
    const caucus_family_words *words = caucus_family_words_of(caucus_plan_family(plan));
    caucus_json_object(j, "meaning");
    if (words->meaning != NULL)
        words->meaning(j, plan);
    caucus_json_text(j, "note", plan->guarantee.note);
    caucus_json_close(j);
}

static void print_bound(caucus_json *j, const caucus_plan *plan) {
    static const char *const kinds[] = {"none", "probability", "expectation"};
    const bool some = plan->bound_kind != CAUCUS_BOUND_NONE;
    caucus_json_object(j, "bound");
    static const char *const stretches[] = {"run", "cycle", "1000 rounds", "nominal rounds"};
    const bool own = plan->settings.pace == CAUCUS_PACE_OWN && caucus_plan_is_endless(plan);
    caucus_json_text(j, "kind", kinds[plan->bound_kind]);
    caucus_json_text(j, "per", own ? "1000 losses" : stretches[caucus_plan_stretch_of(plan)]);
    caucus_json_real(j, "value", some ? plan->bound : (double)NAN);
    caucus_json_real(j, "uncapped", some ? plan->bound_uncapped : (double)NAN);
    caucus_json_truth(j, "vacuous", some && caucus_plan_is_vacuous(plan));
    caucus_json_text(j, "assumes",
                     some ? caucus_premise_word(caucus_premise_of(plan))
                          : caucus_knowledge_word(caucus_knowledge_of(plan->settings.algorithm)));
    caucus_json_close(j);
}

static void print_quick(caucus_json *j, const caucus_quick *q) {
    if (!q->done) {
        caucus_json_null(j, "simulated");
        return;
    }
    caucus_json_object(j, "simulated");
    caucus_json_text(j, "adversary", caucus_adversary_kind_word(q->adversary));
    caucus_json_whole(j, "trials", q->trials);
    caucus_json_whole(j, "clients", q->scale.clients);
    caucus_json_whole(j, "rounds", q->scale.rounds);
    caucus_json_truth(j, "smaller", caucus_scale_is_smaller(&q->scale));
    caucus_json_real(j, "epsilon", q->epsilon);
    caucus_json_real(j, "regret", q->regret.mean);
    caucus_json_real(j, "regret_std", q->regret.std);
    caucus_json_real(j, "switches", q->switches);
    caucus_json_real(j, "scalars_up", q->scalars);
    caucus_json_real(j, "bytes_up", q->bytes);
    caucus_json_close(j);
}

void caucus_plan_print_json(FILE *out, const caucus_plan_report *r) {
    caucus_plan copy = *r->plan; /* the walk wants to be able to write; this walker does not */
    const caucus_plan_traffic *t = &r->traffic;
    caucus_json j;
    printer p = {.walker = {CAUCUS_WALKER_OPERATIONS(print)}, .json = &j};
    caucus_json_begin(&j, out, false);
    caucus_json_text(&j, "plan", caucus_plan_hash_text(r->plan));
    caucus_walk_settings(&p.walker, &copy.settings);
    caucus_walk_mechanism(&p.walker, &copy);
    caucus_walk_guarantee(&p.walker, &copy.guarantee);
    caucus_json_real(&j, "epsilon_device", caucus_plan_epsilon_device(r->plan));
    print_meaning(&j, r->plan);
    print_bound(&j, r->plan);
    print_quick(&j, &r->quick);
    caucus_json_object(&j, "most");
    caucus_json_whole(&j, "reports_up", t->reports);
    caucus_json_whole(&j, "scalars_up", t->scalars);
    caucus_json_whole(&j, "bytes_up", t->bytes);
    caucus_json_whole(&j, "paper_scalars_up", t->paper_scalars);
    caucus_json_whole(&j, "client_memory_bytes", t->client_memory);
    caucus_json_whole(&j, "coordinator_memory_bytes", t->coordinator_memory);
    caucus_json_close(&j);
    caucus_json_end(&j);
}
