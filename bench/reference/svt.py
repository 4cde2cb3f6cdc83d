# SPDX-License-Identifier: Apache-2.0
"""Fed-SVT: keep an expert until it has cost more than a noisy threshold, then draw another (docs/PRIVACY.md,
"Fed-SVT"). Sparse-Vector is the same with one client and blocks of one round.

This is the paper's protocol (a vector per client and block); the two-step protocol announces the same experts in law.
"""
import numpy as np

from select_noise import exponential_mechanism


def svt(rng, losses, plan, N=1, Lstar=0.0):
    """One run over a loss sequence. Returns (cost of the experts played, cost per expert, selections made), costs
    summed over clients and rounds."""
    m, T, d = losses.m, losses.T, losses.d
    noise = rng.exponential if plan.kind == "tight" else lambda scale: rng.laplace(scale=scale)
    last = -(-T // N)
    cum, q, cost, k = np.zeros(d), 0.0, 0.0, 0
    x = rng.integers(d)
    theta = plan.threshold + noise(plan.noise_threshold)
    for n, client_sums in enumerate(losses.blocks(N), start=1):
        S = client_sums.sum(axis=0)
        cum += S
        q += S[x]
        cost += S[x]
        if n < last and k < plan.kappa and q + noise(plan.noise_check) > theta:
            x = exponential_mechanism(rng, np.maximum(cum, m * Lstar), plan.eta / 2)
            k, q = k + 1, 0.0
            theta = plan.threshold + noise(plan.noise_threshold)
    return cost, cum, k
