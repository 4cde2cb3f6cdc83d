# SPDX-License-Identifier: Apache-2.0
"""Fed-DP-OPE-Stoch for experts with fixed losses (linear in the mixture), and Limited Updates with one client.

Phase p covers the rounds 2^(p-1) .. 2^p - 1 and plays what was learnt from phase p-1 alone; phase 1 plays a uniform
expert. The gradient of a linear loss does not depend on x, so the right vertices of the paper's trees add exactly
zero: a tree of depth 1 is two selections from the sums of its root's b samples.

trust        calibration   what happens in a phase
coordinator  tight         one permute-and-flip on all clients' sums, scale 2/eps
coordinator  paper         trees of depth 1 where they fit (p >= 4), Laplace noisy-min, scale 4 * 2^j / eps
nobody       tight         each client votes by permute-and-flip; score <- score/2 + votes
paper-local  paper         as the paper's, but each client adds that noise to each of its sums
"""
import numpy as np

from select_noise import noisy_min, permute_and_flip


def root_batch(p, trees):
    """b_max(p, T1) = 2^T1 floor(2^(p-T1) / (T1 (T1+5))): the largest feasible batch; all samples for T1 = 0."""
    if trees == 0:
        return 1 << (p - 2)
    return (1 << trees) * ((1 << (p - trees)) // (trees * (trees + 5)))


def tree_depth(p, calibration):
    """T1: 1 with the paper's constants as soon as one tree fits, else 0."""
    return 1 if calibration == "paper" and root_batch(p, 1) >= 2 else 0


def paper_mixture(rng, client_sums, depth, eps, local):
    """Frank-Wolfe over the leaves of the one tree: x_(k+1) = (1 - 2/(k+1)) x_k + 2/(k+1) e_w."""
    scale = 4 * 2 ** depth / eps
    x = np.zeros(client_sums.shape[1])
    for k in range(1, 2 ** depth + 1):
        if local:
            w = np.argmin((client_sums + rng.laplace(scale=scale, size=client_sums.shape)).sum(axis=0))
        else:
            w = noisy_min(rng, client_sums.sum(axis=0), scale)
        x *= 1 - 2 / (k + 1)
        x[w] += 2 / (k + 1)
    return x


def vote_winner(rng, client_sums, eps, score, accumulate):
    """One vote per client; the winner must have a vote in this phase. Ties go to the lowest number."""
    votes = np.bincount(permute_and_flip(rng, client_sums, eps / 2), minlength=len(score))
    score *= 0.5 if accumulate else 0.0
    score += votes
    return np.argmax(np.where(votes > 0, score, -1.0))


def stoch(rng, losses, eps, trust="coordinator", calibration="tight", accumulate=True):
    """One run over a loss sequence. Returns (cost of the mixtures played, cost per expert, changes of the expert with
    the largest weight, rounds played by weight of each expert), costs summed over clients and rounds."""
    if (trust == "paper-local" and calibration != "paper") or (trust == "nobody" and calibration != "tight"):
        raise ValueError(f"trust {trust} goes with calibration {'paper' if trust == 'paper-local' else 'tight'}")
    m, T, d = losses.m, losses.T, losses.d
    P = T.bit_length()
    x = np.zeros(d)
    x[rng.integers(d)] = 1
    total, played, score = np.zeros(d), np.zeros(d), np.zeros(d)
    cost, switches = 0.0, 0
    for p in range(1, P + 1):
        length = min(1 << (p - 1), T - (1 << (p - 1)) + 1)
        depth = tree_depth(p + 1, calibration)
        batch = min(length, root_batch(p + 1, depth))
        sums = sum(piece.sum(axis=0) for piece in losses.pieces(batch))  # what phase p+1 learns from
        rest = sum(piece.sum(axis=0) for piece in losses.pieces(length - batch))
        phase = (sums + rest).sum(axis=0)
        total += phase
        played += length * x
        cost += phase @ x
        if p == P:
            break
        before = np.argmax(x)
        if calibration == "paper":
            x = paper_mixture(rng, sums, depth, eps, trust == "paper-local")
        else:
            if trust == "nobody":
                w = vote_winner(rng, sums, eps, score, accumulate)
            else:
                w = permute_and_flip(rng, sums.sum(axis=0), eps / 2)
            x = np.zeros(d)
            x[w] = 1
        switches += int(np.argmax(x) != before)
    return cost, total, switches, played
