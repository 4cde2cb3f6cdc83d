# SPDX-License-Identifier: Apache-2.0
"""Known values: the calibration against published tables, the selections against closed forms, the sequences against
their definitions. Seeds are fixed, so the outcome is too; the chi-square limits have a false-alarm rate of 1e-6."""
import math

import numpy as np

import calibration
import losses
import select_noise
import stoch


def close(name, got, want, relative):
    return name, abs(got - want) <= relative * abs(want), f"{got:.6g} for {want:.6g}"


def renewal():
    table = {18: (6, 7, 9, 11, 6), 100: (9, 10, 12, 14, 9), 1000: (13, 14, 16, 19, 12), 10**4: (17, 18, 21, 24, 16),
             10**6: (24, 26, 29, 32, 22)}
    for d, want in table.items():
        got = tuple(calibration.kappa_renewal(d, rho, g)
                    for rho, g in ((.1, 4), (.05, 4), (.01, 4), (.001, 4), (.05, 6)))
        yield f"kappa d={d}", got == want, f"{got} for {want}"
    rng = np.random.default_rng(7)
    n, a = 200000, 2.0
    v = -np.log1p(rng.random((n, 4)) * math.expm1(-a)).sum(axis=1)
    p = calibration.renewal_probability(4, 3.0, 2 * a)
    z = ((v <= 3.0).mean() - p) / math.sqrt(p * (1 - p) / n)
    yield "renewal probability by simulation", abs(z) < 4.9, f"z = {z:.2f}, limit 4.9 (1e-6)"


def svt_vectors():
    for args, g, kappa, eps_at, eta, L, bound in (
            ((10, 512, 1, 100, 10, .05), 5, 10, 3.66293, .63371, 10.5997, 24.70),
            ((10, 512, 1, 100, 1, .05), 3, 12, .40639, .04947, 85.0687, 145.81),
            ((10, 604, 1, 18, 10, .05), 4.5, 7, 4.20254, .82821, 7.8345, 15.50)):
        plan = calibration.svt_tight(*args)
        name = f"svt {args}"
        yield name + " g, kappa", (plan.margin, plan.kappa) == (g, kappa), f"{plan.margin}, {plan.kappa}"
        yield close(name + " eps_AT", plan.eps_threshold, eps_at, 2e-5)
        yield close(name + " eta", plan.eta, eta, 1e-4)
        yield close(name + " L", plan.threshold, L, 1e-5)
        yield close(name + " bound", plan.bound, bound, 5e-4)
        yield close(name + " total", plan.eps_threshold + plan.kappa * plan.eta, args[4], 1e-12)
    paper = calibration.svt_paper(10, 512, 1, 100, 10, .05)
    yield "paper kappa", paper.kappa == 93, str(paper.kappa)
    for eps, rho in ((.1, 3.2104e-4), (1, .024356), (10, 1.5393)):
        yield close(f"zCDP rho at epsilon {eps}", calibration.caucus_zcdp_rho(eps, 1e-6), rho, 1e-4)


def selections():
    rng, n, u = np.random.default_rng(11), 200000, np.array([0., 1, 3, 3])
    for mechanism, law in ((select_noise.exponential_mechanism, (.48714, .29547, .10870, .10870)),
                           (select_noise.permute_and_flip, (.57287, .26067, .08323, .08323))):
        seen = np.bincount(mechanism(rng, np.broadcast_to(u, (n, 4)), 0.5), minlength=4)
        want = n * np.array(law) / sum(law)
        chi = float(((seen - want) ** 2 / want).sum())
        yield mechanism.__name__, chi < 30.66, f"chi-square {chi:.2f}, limit 30.66 (3 degrees, 1e-6)"
    table = {4: (4, 2), 6: (16, 10), 8: (64, 42), 10: (256, 170), 12: (1024, 682), 14: (4096, 2730)}
    got = {p: (stoch.root_batch(p, 0), stoch.root_batch(p, 1)) for p in table}
    yield "root batches", got == table, str(got)
    yield "no tree before phase 4", [stoch.tree_depth(p, "paper") for p in (2, 3, 4)] == [0, 0, 1], ""
    score = np.array([9., 0, 1])
    winner = stoch.vote_winner(rng, np.array([[50., 0, 50], [50, 50, 0], [50, 50, 0]]), 1000.0, score, True)
    yield "a winner needs a vote in the phase", winner == 2 and list(score) == [4.5, 1, 2.5], f"{winner}, {score}"


def sequences():
    m, T, d = 3, 97, 10
    for name, make in losses.ADVERSARIES.items():
        whole = make(np.random.default_rng(3), m, T, d).rounds(T)
        again = make(np.random.default_rng(3), m, T, d)
        blocks = np.array(list(again.blocks(7)))
        want = np.array([whole[t:t + 7].sum(axis=0) for t in range(0, T, 7)])
        yield f"{name}: block sums", again.t == T and np.allclose(blocks, want), f"{len(blocks)} blocks"
        yield f"{name}: range", bool(whole.min() >= 0 and whole.max() <= 1), ""
        if name in ("realizable", "halving", "creeping"):
            yield f"{name}: one perfect expert", int((whole.sum(axis=(0, 1)) == 0).sum()) == 1, ""
    law = losses.Law(segments=4, means=(.1, .5), spread=.1, drift=.05)
    for make in (losses.Bernoulli, losses.Shifting, losses.Drifting):
        source = make(np.random.default_rng(3), m, T, d, law)
        whole = source.rounds(T)
        want = [whole[[t * 4 // T == s for t in range(T)]].sum(axis=(0, 1)) for s in range(4)]
        yield f"{make.__name__}: totals of segments", np.allclose(source.segment_totals, want), ""
    walk = losses.Drifting(np.random.default_rng(3), 1, 4000, 50, losses.Law(drift=.01)).rounds_means(0, 4000)
    steps = np.diff(walk, axis=0)[(walk[:-1] > .35) & (walk[:-1] < .65)]
    z = (np.mean(steps ** 2) / 1e-4 - 1) / math.sqrt(2 / len(steps))
    yield "Drifting: steps", walk.min() >= .3 and walk.max() <= .7 and abs(z) < 4.9, f"z {z:.2f}, limit 4.9 (1e-6)"
    halving = losses.Halving(np.random.default_rng(3), 1, T, d).rounds(T).sum(axis=(1, 2))
    want = [5] * 19 + [7] * 19 + [8] * 19 + [9] * 19 + [0] * 21
    yield "halving: losing experts per round", list(halving) == want, ""
    creeping = losses.Creeping(np.random.default_rng(3), 1, T, d).rounds(T).sum(axis=(1, 2))
    yield "creeping: losing experts per round", list(creeping) == [1 + t * 9 // T for t in range(T)], ""
    for make in (losses.Bernoulli, losses.Gaussian):
        source = make(np.random.default_rng(5), 1, 1, 20)
        n = 20000
        source.m = n
        sample = source.rounds(1)[0]
        z = (sample.mean(axis=0) - source.means) / (sample.std(axis=0) / math.sqrt(n))
        yield f"{make.__name__}: expected losses", float(abs(z).max()) < 5.5, f"largest z {abs(z).max():.2f} of 20"


def run():
    failed = 0
    for group in (renewal, svt_vectors, selections, sequences):
        for name, good, detail in group():
            failed += not good
            print(f"{'ok  ' if good else 'FAIL'}  {name}  {detail}")
    print("all hold" if failed == 0 else f"{failed} failed")
    return 1 if failed else 0
