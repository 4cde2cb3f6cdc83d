/* SPDX-License-Identifier: Apache-2.0 */
/* audit_event.c: which event to count. See audit.h.
 *
 * Any event gives a valid bound, since it is counted on fresh runs; a good one gives a large bound. Events are judged
 * on the training runs by the bound they would give there, with Wilson's interval in place of the exact one (a closed
 * form; rare events get wide intervals, so none is chosen for a lucky handful of runs):
 *  - a real statistic: every threshold, both directions;
 *  - cells: taken in the order of their empirical likelihood ratio (Neyman and Pearson), as many as serve best. */
#include "audit/audit.h"

#include <math.h>
#include <stdlib.h>

/* z with P(N > z) = alpha, by Newton steps on erfc from above, where the tail is log-concave. */
static double normal_quantile(double alpha) {
    double z = sqrt(-2 * log(alpha));
    for (int i = 0; i < 50; i++) {
        double tail = erfc(z / sqrt(2)) / 2, density = exp(-z * z / 2) / sqrt(8 * atan(1));
        z += (log(tail) - log(alpha)) * tail / density;
    }
    return z;
}

typedef struct judge {
    double z, n, delta;
    double best;
    bool found;
} judge;

static judge judge_of(uint64_t n, double delta, double confidence) {
    return (judge){.z = normal_quantile((1 - confidence) / 2), .n = (double)n, .delta = delta};
}

/* Wilson's interval, one end: sign -1 or +1. */
static double wilson(const judge *j, double k, double sign) {
    double zz = j->z * j->z;
    return (k + zz / 2 + sign * j->z * sqrt(k * (1 - k / j->n) + zz / 4)) / (j->n + zz);
}

/* Is an event with these counts better than the best so far? `ret_likelier` then says which world it is about. */
static bool better(judge *j, double k0, double k1, unsigned *ret_likelier) {
    double k[2] = {k0, k1};
    unsigned up = k1 > k0;
    double low = wilson(j, k[up], -1) - j->delta, high = wilson(j, k[!up], 1);
    double score = low > 0 ? low / high : 0;
    if (j->found && score <= j->best)
        return false;
    j->best = score;
    j->found = true;
    *ret_likelier = up;
    return true;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

caucus_status caucus_audit_search_reals(double *value[2], size_t n, double delta, double confidence,
                                        caucus_audit_event *ret) {
    judge j = judge_of(n, delta, confidence);
    *ret = (caucus_audit_event){0};
    for (unsigned w = 0; w < 2; w++)
        qsort(value[w], n, sizeof *value[w], by_value);
    size_t i0 = 0, i1 = 0; /* runs below the threshold */
    while (i0 < n || i1 < n) {
        double t = i1 >= n || (i0 < n && value[0][i0] <= value[1][i1]) ? value[0][i0] : value[1][i1];
        if (better(&j, (double)(n - i0), (double)(n - i1), &ret->likelier)) {
            ret->threshold = t;
            ret->below = false;
        }
        while (i0 < n && value[0][i0] <= t)
            i0++;
        while (i1 < n && value[1][i1] <= t)
            i1++;
        if (better(&j, (double)i0, (double)i1, &ret->likelier)) {
            ret->threshold = t;
            ret->below = true;
        }
    }
    return CAUCUS_OK;
}

typedef struct ranked {
    double ratio;
    uint32_t cell;
} ranked;

static int by_ratio(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    return x->ratio != y->ratio ? (x->ratio > y->ratio) - (x->ratio < y->ratio)
                                : (x->cell > y->cell) - (x->cell < y->cell);
}

caucus_status caucus_audit_search_cells(const uint64_t *const count[2], uint32_t cells, uint64_t n, double delta,
                                        double confidence, caucus_audit_event *ret) {
    judge j = judge_of(n, delta, confidence);
    ranked *order = calloc(cells, sizeof *order);
    uint32_t used = 0, taken = 0;
    bool from_end = false;
    *ret = (caucus_audit_event){.cell = calloc(cells, 1)};
    if (order == NULL || ret->cell == NULL) {
        free(order);
        caucus_audit_event_free(ret);
        return CAUCUS_E_MEMORY;
    }
    for (uint32_t c = 0; c < cells; c++)
        if (count[0][c] + count[1][c] > 0)
            order[used++] = (ranked){((double)count[1][c] + 0.5) / ((double)count[0][c] + 0.5), c};
    qsort(order, used, sizeof *order, by_ratio);
    for (int end = 0; end < 2; end++) {
        double k0 = 0, k1 = 0;
        for (uint32_t i = 0; i < used; i++) {
            uint32_t c = order[end ? used - 1 - i : i].cell;
            k0 += (double)count[0][c];
            k1 += (double)count[1][c];
            if (better(&j, k0, k1, &ret->likelier)) {
                taken = i + 1;
                from_end = end;
            }
        }
    }
    for (uint32_t i = 0; i < taken; i++)
        ret->cell[order[from_end ? used - 1 - i : i].cell] = 1;
    free(order);
    return CAUCUS_OK;
}

bool caucus_audit_happened(const caucus_audit_event *event, double statistic) {
    if (event->cell != NULL)
        return event->cell[(size_t)statistic] != 0;
    return event->below ? statistic <= event->threshold : statistic >= event->threshold;
}

void caucus_audit_event_free(caucus_audit_event *event) {
    free(event->cell);
    event->cell = NULL;
}
