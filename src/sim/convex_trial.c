/* SPDX-License-Identifier: Apache-2.0 */
/* convex_trial.c: playing mixtures against the cross-entropy of convex.h.
 *
 * With truths y, the loss of a mixture with prediction p is linear in y: -(1/C) sum_n y_n ln p_n. So the cost of rounds
 * in which the mixture stands still, and the best mixture in hindsight, need only the sum Y of the truths: best = min
 * over p_n >= s/d, sum p = 1 of -(1/C) sum_n Y_n ln p_n,  reached at p_n = max(s/d, Y_n/mu). */
#include "sim/convex_trial.h"

#include <math.h>
#include <stdlib.h>

#include "sim/convex.h"

typedef struct source {
    const caucus_adversary_trial *losses;
    uint32_t client;
} source;

struct caucus_convex {
    const caucus_adversary_trial *losses;
    uint32_t m, d;
    source *source;  /* [m]: what a client's gradient callback knows */
    double *middle;  /* [d]: 1/d each */
    double *row;     /* [d] */
    double *segment; /* [d]: truths of the rounds just played */
    double *truths;  /* [d]: truths of all rounds so far */
    double cost;
};

caucus_convex *caucus_convex_new(const caucus_adversary_trial *losses, uint32_t clients, uint32_t experts) {
    caucus_convex *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->losses = losses;
    c->m = clients;
    c->d = experts;
    c->source = calloc(clients, sizeof *c->source);
    c->middle = calloc(experts, sizeof *c->middle);
    c->row = calloc(experts, sizeof *c->row);
    c->segment = calloc(experts, sizeof *c->segment);
    c->truths = calloc(experts, sizeof *c->truths);
    if (!c->source || !c->middle || !c->row || !c->segment || !c->truths) {
        caucus_convex_free(c);
        return NULL;
    }
    for (uint32_t n = 0; n < experts; n++)
        c->middle[n] = 1.0 / experts;
    return c;
}

void caucus_convex_free(caucus_convex *c) {
    if (!c)
        return;
    free(c->source);
    free(c->middle);
    free(c->row);
    free(c->segment);
    free(c->truths);
    free(c);
}

static void gradient(void *user, uint64_t round, const double *x, double *ret, uint32_t experts) {
    (void)experts; /* the losses have as many */
    const source *from = user;
    caucus_adversary_gradient(from->losses, from->client, round - 1, x, ret);
}

void caucus_convex_attach(caucus_convex *c, caucus_client *client, uint32_t index) {
    c->source[index - 1] = (source){.losses = c->losses, .client = index};
    caucus_client_set_gradient(client, gradient, &c->source[index - 1]);
}

/* -(1/C) sum_n y_n ln p_n */
static double cross_entropy(const double *y, const double *p, uint32_t d) {
    double sum = 0;
    for (uint32_t n = 0; n < d; n++)
        sum -= y[n] * log(p[n]);
    return sum / caucus_convex_scale(d);
}

void caucus_convex_play(caucus_convex *c, caucus_client *const *client, uint64_t first, uint64_t count) {
    const double s = CAUCUS_CONVEX_MIXING;
    /* In the middle of the simplex dl/dx_n = -(1-s) d y_n/C: the truth from the public gradient. */
    double to_truth = -caucus_convex_scale(c->d) / ((1 - s) * c->d);
    for (uint32_t n = 0; n < c->d; n++)
        c->segment[n] = 0;
    for (uint32_t i = 0; i < c->m; i++) {
        for (uint64_t t = first; t < first + count; t++) {
            caucus_adversary_gradient(c->losses, i + 1, t, c->middle, c->row);
            for (uint32_t n = 0; n < c->d; n++)
                c->segment[n] += c->row[n] * to_truth;
        }
        if (caucus_client_observe(client[i], NULL, count) != CAUCUS_OK)
            abort(); /* all clients move in step */
    }
    if (caucus_client_mixture(client[0], c->row, c->d) != CAUCUS_OK)
        abort(); /* the row has d places */
    for (uint32_t n = 0; n < c->d; n++) {
        c->row[n] = (1 - s) * c->row[n] + s / c->d;
        c->truths[n] += c->segment[n];
    }
    c->cost += cross_entropy(c->segment, c->row, c->d);
}

/* sum_n max(s/d, Y_n/mu) - 1: decreasing in mu. */
static double excess(const caucus_convex *c, double mu) {
    double sum = -1;
    for (uint32_t n = 0; n < c->d; n++)
        sum += fmax(CAUCUS_CONVEX_MIXING / c->d, c->truths[n] / mu);
    return sum;
}

double caucus_convex_cost(const caucus_convex *c) {
    return c->cost / c->m;
}

double caucus_convex_regret(const caucus_convex *c) {
    double total = 0;
    for (uint32_t n = 0; n < c->d; n++)
        total += c->truths[n];
    double lo = total / 2, hi = total / (1 - CAUCUS_CONVEX_MIXING) + total; /* excess(lo) > 0 >= excess(hi) */
    for (int step = 0; step < 100; step++) {
        double mu = (lo + hi) / 2;
        if (excess(c, mu) > 0)
            lo = mu;
        else
            hi = mu;
    }
    double best = 0;
    for (uint32_t n = 0; n < c->d; n++)
        best -= c->truths[n] * log(fmax(CAUCUS_CONVEX_MIXING / c->d, c->truths[n] / hi));
    return (c->cost - best / caucus_convex_scale(c->d)) / c->m;
}
