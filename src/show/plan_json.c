/* plan_json.c: a plan as one JSON object. The same walk as the plan file, so nothing is missing. See plan_print.h. */
#include "plan/plan_walk.h"
#include "show/bound_fit.h"
#include "show/output.h"
#include "show/plan_print.h"
#include "show/plan_words.h"

#include <math.h>

typedef struct printer {
    caucus_walker walker;
    FILE *out;
    int depth;
    bool first; /* nothing printed yet in this object */
    size_t left;
} printer;

static void print_key(printer *p, const char *key) {
    fprintf(p->out, "%s\n%*s\"%s\": ", p->first ? "" : ",", 2 * p->depth, "", key);
    p->first = false;
}

static void print_open(caucus_walker *walker, const char *key) {
    printer *p = (printer *)walker;
    print_key(p, key);
    fputc('{', p->out);
    p->depth++;
    p->first = true;
}

static void print_close(caucus_walker *walker) {
    printer *p = (printer *)walker;
    p->depth--;
    fprintf(p->out, "\n%*s}", 2 * p->depth, "");
    p->first = false;
}

static void print_list(caucus_walker *walker, const char *key, size_t count) {
    printer *p = (printer *)walker;
    print_key(p, key);
    fputs(count == 0 ? "[]" : "[", p->out);
    p->left = count;
}

/* Numbers, true, false and null as JSON has them; words and fractions as strings. */
static void print_value(caucus_walker *walker, const char *key, const caucus_value *v) {
    printer *p = (printer *)walker;
    char text[CAUCUS_VALUE_BYTES];
    caucus_value_text(v, text);
    if (key != NULL)
        print_key(p, key);
    if (v->kind == CAUCUS_VALUE_REAL)
        caucus_print_number(p->out, *v->real, "null");
    else if (v->kind == CAUCUS_VALUE_WHOLE || v->kind == CAUCUS_VALUE_SIGNED || v->kind == CAUCUS_VALUE_SWITCH)
        fputs(text, p->out);
    else
        caucus_print_string(p->out, text);
    if (key == NULL)
        fputs(--p->left > 0 ? ", " : "]", p->out);
}

static void number(printer *p, const char *key, double value) {
    print_key(p, key);
    caucus_print_number(p->out, value, "null");
}

static void whole(printer *p, const char *key, uint64_t value) {
    print_key(p, key);
    fprintf(p->out, "%llu", (unsigned long long)value);
}

static void text(printer *p, const char *key, const char *value) {
    print_key(p, key);
    caucus_print_string(p->out, value);
}

/* What the integers mean, as real numbers in loss units. */
static void print_meaning(printer *p, const caucus_plan *plan) {
    const caucus_svt_plan *svt = &plan->svt;
    const double step = caucus_words_step(plan);
    print_open(&p->walker, "meaning");
    if (svt->switches > 0) {
        number(p, "margin", svt->margin);
        number(p, "epsilon-threshold", svt->epsilon_threshold);
        number(p, "eta", 2 * (double)plan->grid * caucus_rational_double(svt->select_rate[0]));
        number(p, "threshold", (double)svt->threshold[0] * step);
        number(p, "threshold-scale", caucus_words_spread(plan, &svt->threshold_noise));
        number(p, "check-scale", caucus_words_spread(plan, &svt->check_noise));
    }
    if (plan->settings.algorithm == CAUCUS_ALGORITHM_HEDGE)
        number(p, "learning-rate", plan->hedge.learning_rate);
    if (plan->stoch.phases > 1) {
        print_list(&p->walker, "excess-per-round", plan->stoch.phases - 1);
        for (uint64_t i = 0; i + 1 < plan->stoch.phases; i++)
            print_value(&p->walker, NULL,
                        &(caucus_value){.kind = CAUCUS_VALUE_REAL, .real = &plan->stoch.phase[i].error});
    }
    text(p, "note", plan->guarantee.note);
    print_close(&p->walker);
}

static void print_bound(printer *p, const caucus_plan *plan) {
    static const char *const kinds[] = {"none", "probability", "expectation"};
    const bool some = plan->bound_kind != CAUCUS_BOUND_NONE;
    print_open(&p->walker, "bound");
    text(p, "kind", kinds[plan->bound_kind]);
    number(p, "value", some ? plan->bound : (double)NAN);
    number(p, "uncapped", some ? plan->bound_uncapped : (double)NAN);
    print_key(p, "vacuous");
    fputs(some && caucus_plan_is_vacuous(plan) ? "true" : "false", p->out);
    text(p, "assumes",
         some ? caucus_premise_word(caucus_premise_of(plan))
              : caucus_knowledge_word(caucus_knowledge_of(plan->settings.algorithm)));
    print_close(&p->walker);
}

static void print_quick(printer *p, const caucus_quick *q) {
    if (!q->done) {
        print_key(p, "simulated");
        fputs("null", p->out);
        return;
    }
    print_open(&p->walker, "simulated");
    text(p, "adversary", caucus_adversary_kind_word(q->adversary));
    whole(p, "trials", q->trials);
    number(p, "regret", q->regret.mean);
    number(p, "regret-std", q->regret.std);
    number(p, "switches", q->switches);
    number(p, "scalars-up", q->scalars);
    number(p, "bytes-up", q->bytes);
    print_close(&p->walker);
}

void caucus_plan_print_json(FILE *out, const caucus_plan_report *r) {
    caucus_plan copy = *r->plan; /* the walk wants to be able to write; this walker does not */
    const caucus_plan_traffic *t = &r->traffic;
    printer p = {
        .walker = {print_open, print_close, print_list, print_value, CAUCUS_OK}, .out = out, .depth = 1, .first = true};
    fputc('{', out);
    text(&p, "plan", r->hash);
    caucus_walk_settings(&p.walker, &copy.settings);
    caucus_walk_mechanism(&p.walker, &copy);
    caucus_walk_guarantee(&p.walker, &copy.guarantee);
    print_meaning(&p, r->plan);
    print_bound(&p, r->plan);
    print_quick(&p, &r->quick);
    print_open(&p.walker, "most");
    whole(&p, "reports-up", t->reports);
    whole(&p, "scalars-up", t->scalars);
    whole(&p, "bytes-up", t->bytes);
    whole(&p, "paper-scalars-up", t->paper_scalars);
    whole(&p, "client-memory-bytes", t->client_memory);
    whole(&p, "coordinator-memory-bytes", t->coordinator_memory);
    print_close(&p.walker);
    fputs("\n}\n", out);
}
