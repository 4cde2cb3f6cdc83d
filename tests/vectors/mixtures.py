# SPDX-License-Identifier: Apache-2.0
"""Clients of stoch that play mixtures, with convex losses or with trees, in Python's standard library, written from
docs/PROTOCOL.md ("What to report") alone."""
import os
import sys
from fractions import Fraction

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import noise
import peer


def on_grid(gradient, most, steps):
    """Round half to even of gradient / most * steps, clamped to both sides; not a number is the worst."""
    x = gradient / most * steps
    if not x < steps:
        return steps
    return round(x) if x > -steps else -steps


def leaves(phase):
    """(tree, depth, first round of the vertex from 0, its rounds) of every leaf of a phase, in order."""
    trees, batch, at, found = int(phase["trees"]), int(phase["batch"]), 0, []
    if trees == 0:
        return [(0, 0, 0, batch)]
    for tree in range(1, trees + 1):
        for leaf in range(2 ** tree):
            depth = tree - ((leaf & -leaf).bit_length() - 1) if leaf else 0
            found.append((tree, depth, at, batch >> depth))
            at += batch >> depth
    return found


PLAY = 7  # the purpose of draws from a mixture


class ConvexClient(peer.Client):
    """gradient(round from 1, mixture) gives a number for each expert."""

    def __init__(self, options, plan, gradient):
        super().__init__(options, plan, None)
        self.gradient = gradient
        self.counts = [0] * plan.experts
        self.noted_mixture, self.noted_sum = {}, {}
        self.voted_on = None

    def steps(self, number, x):
        """The gradient of a round at x, on the grid."""
        return [on_grid(g, self.plan.lipschitz, self.plan.grid) for g in self.gradient(number, x)]

    def mixture(self):
        mass = sum(self.counts)
        return [count / mass if mass else 1.0 / self.plan.experts for count in self.counts]

    def play(self, expert):
        self.round += 1
        self.say(self.round, expert)

    def check(self, a):
        """What comes next is the next leaf of the phase, then leaf 0 of the next phase; after a vote its shortlist."""
        before = self.now
        if a["serial"] != self.heard or a["expert"] >= self.plan.experts:
            raise peer.Malformed(f"announcement {a['serial']} in place of {self.heard}, expert {a['expert']}")
        expected = (2, 0)
        if before is not None:
            if before["ask"] == peer.NOTHING:
                raise peer.Malformed("asked after the last word")
            more = before["leaf"] + 1 < len(leaves(self.plan.phase_of(before["block"])))
            expected = (before["block"], before["leaf"] + 1) if more else (before["block"] + 1, 0)
        if a["ask"] == peer.SHORTLIST:
            if before is None or before["ask"] != peer.VOTE or not 1 <= len(set(a["list"])) == len(a["list"]) <= 8:
                raise peer.Malformed(f"a list of {a['list']}")
            expected = (before["block"], 0)
        if a["ask"] != peer.NOTHING and (a["ask"] not in self.plan.asks or (a["block"], a["leaf"]) != expected):
            raise peer.Malformed(f"asked for {a['ask']} about {a['block']}, leaf {a['leaf']}")

    def hear(self, a):
        self.check(a)
        if self.now is not None and a["ask"] != peer.SHORTLIST:  # the answer to the leaf before
            if self.now["leaf"] == 0:
                self.counts = [0] * self.plan.experts
            self.counts[a["expert"]] += self.now["leaf"] + 1
        return super().hear(a)

    def vertex(self, a):
        """The increment of the vertex that is entered before this leaf; its tree and depth."""
        tree, depth, offset, count = leaves(self.plan.phase_of(a["block"]))[a["leaf"]]
        first = self.plan.phase_end(a["block"] - 2) + 1 + offset if a["block"] > 2 else 1 + offset
        here = self.mixture()
        for below in range(depth, tree + 1):
            self.noted_mixture[below] = here
        values = [0] * self.plan.experts
        for number in range(first, first + count):
            added = self.steps(number, here)
            if depth > 0:
                clamp = int(self.plan.phase_of(a["block"])["clamps"][depth - 1])
                there = self.steps(number, self.noted_mixture[depth - 1])
                added = [max(-clamp, min(clamp, g - h)) * 2 ** depth for g, h in zip(added, there)]
            values = [total + one for total, one in zip(values, added)]
        return values, tree, depth

    def message(self, a):
        phase = self.plan.phase_of(a["block"])
        if a["ask"] == peer.SHORTLIST:  # about what was voted on
            stream = noise.Stream(self.key, noise.SHORTLIST, a["block"], 0)
            return noise.add_noise(stream, phase["shortlist-noise"], [self.voted_on[y] for y in a["list"]])
        values, tree, depth = self.vertex(a)
        stream = noise.Stream(self.key, noise.MESSAGE, a["block"], a["leaf"])
        if a["ask"] == peer.VOTE:
            self.voted_on = values
            return [noise.permute_and_flip(stream, values, Fraction(phase["vote-rate"]))]
        if self.plan.trust == "nobody":
            return noise.add_noise(stream, phase["vertex-noises"][depth], values)
        if depth > 0:
            values = [one + before for one, before in zip(values, self.noted_sum[depth - 1])]
        for below in range(max(depth - 1, 0), tree):
            self.noted_sum[below] = values
        if self.plan.trust == "paper-local":
            return noise.add_noise(stream, phase["leaf-noises"][max(tree - 1, 0)], values)
        return values


class TreeClient(ConvexClient):
    """Linear losses: a gradient that is the same at every mixture, and one expert drawn from the mixture a round."""

    def __init__(self, options, plan, loss):
        super().__init__(options, plan, None)
        self.loss = loss
        self.draws = None            # a stream for each phase that is played with a mixture of several

    def steps(self, number, x):
        return [peer.on_grid(self.loss(number, y), self.plan.lo, self.plan.hi, self.plan.grid)
                for y in range(self.plan.experts)]

    def mixture(self):
        """Before the first choice the expert that was announced."""
        return super().mixture() if any(self.counts) else [float(y == self.now["expert"])
                                                           for y in range(self.plan.experts)]

    def hear(self, a):
        before = self.now
        if before is not None and (a["ask"] == peer.NOTHING or a["block"] != before["block"]):
            self.draws = noise.Stream(self.key, PLAY, before["block"], 0)
        return super().hear(a)

    def play(self, expert):
        if sum(count > 0 for count in self.counts) > 1:
            at = noise.fair_uniform(self.draws, sum(self.counts))
            expert = next(y for y in range(self.plan.experts) if at < sum(self.counts[:y + 1]))
        super().play(expert)
