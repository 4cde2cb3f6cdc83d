# SPDX-License-Identifier: Apache-2.0
"""Fed-Hedge: at each block one shared draw P(y) ~ exp(-e_H cum(y)/m) (docs/PRIVACY.md, "Fed-Hedge")."""
import numpy as np

from select_noise import exponential_mechanism


def hedge(rng, losses, rate, N=1):
    """One run over a loss sequence. Returns (cost of the experts played, cost per expert, changes of expert), costs
    summed over clients and rounds."""
    cum, cost, switches, before = np.zeros(losses.d), 0.0, 0, None
    for client_sums in losses.blocks(N):
        x = exponential_mechanism(rng, cum, rate / losses.m)
        S = client_sums.sum(axis=0)
        cost += S[x]
        cum += S
        switches += int(before is not None and x != before)
        before = x
    return cost, cum, switches
