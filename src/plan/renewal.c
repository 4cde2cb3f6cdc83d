/* SPDX-License-Identifier: Apache-2.0 */
/* renewal.c: the number of switches that suffices for Fed-SVT, kappa(d, rho, g).
 *
 * Let the threshold leave a margin g/eta and let phi be the sum over experts of e^(-eta*score/2). When the
 * expert in force, drawn from the Gibbs law, is dropped (and no check was a false alarm), its score has grown by at
 * least g/eta, and the fall of ln phi since it was drawn dominates V ~ Exp(1) cut to [0, g/2]. The
 * total fall is at most ln d, so P(at least k+1 switches) <= P(V_1 + ... + V_{k+1} <= ln d)
 * (docs/PRIVACY.md, "The number of switches").
 *
 * The law of the sum is computed on a grid of step h = (g/2)/BINS; V is rounded down, so the sum only gets
 * smaller and the probability only larger: conservative. The density is a cut exponential, so one
 * convolution is a running sum, S[i] = e^-h S[i-1] + f[i] - e^-(BINS*h) f[i-BINS], linear in the grid. */
#include "plan/renewal.h"

#include <math.h>
#include <stdlib.h>

#define BINS 2048
/* The running sum's rounding errors stay below 1e-12 in absolute terms (values at most 1, memory of 1/h steps). */
#define ROUNDING 1e-11
/* Below this the rounding errors would matter: use the exponential moment instead. */
#define RHO_GRID 1e-9
#define SWITCHES_MAX 1000000u

/* ln of E e^(-sV), V ~ Exp(1) cut to [0, v]. */
static double log_moment(double s, double v) {
    return log(-expm1(-(1 + s) * v)) - log1p(s) - log(-expm1(-v));
}

/* Chernoff: P(V_1 + ... + V_n <= x) <= inf_s e^(sx) (E e^(-sV))^n; any s is valid. */
static uint32_t switches_by_moment(double x, double rho, double v) {
    double least = SWITCHES_MAX;
    for (double s = 0.05; s < 1e4; s *= 1.05) {
        double n = ceil((log(1 / rho) + s * x) / -log_moment(s, v) * (1 + 1e-9));
        least = n < least ? n : least;
    }
    return least < 2 ? 1 : (uint32_t)least - 1;
}

/* f <- f * pmf, in place from the law of n terms to that of n+1; history holds the old f. */
static double convolve(double *f, double *history, size_t n, double h) {
    const double decay = exp(-h);
    const double last = exp(-h * BINS);
    const double scale = -expm1(-h) / -expm1(-h * BINS);
    double running = 0;
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        history[i] = f[i];
        running = decay * running + history[i];
        if (i >= BINS)
            running -= last * history[i - BINS];
        f[i] = running > 0 ? scale * running : 0;
        total += f[i];
    }
    return total;
}

caucus_status caucus_renewal_switches(uint32_t d, double rho, double margin, uint32_t *ret) {
    const double x = log((double)d);
    const double v = margin / 2;
    if (rho < RHO_GRID) {
        *ret = switches_by_moment(x, rho, v);
        return CAUCUS_OK;
    }
    const double h = v / BINS;
    const size_t n = (size_t)(x / h) + 2; /* one more than needed, in case x/h was rounded down */
    double *f = malloc(2 * n * sizeof *f);
    if (!f)
        return CAUCUS_E_MEMORY;
    for (size_t i = 0; i < n; i++)
        f[i] = i == 0;
    uint32_t k = 0;
    convolve(f, f + n, n, h);
    while (k < SWITCHES_MAX && convolve(f, f + n, n, h) + ROUNDING > rho)
        k++;
    free(f);
    *ret = k + 1;
    return CAUCUS_OK;
}
