# SPDX-License-Identifier: Apache-2.0
"""Loss sequences by name. All losses lie in [0, 1]; every one is fixed before the run sees an expert.

A sequence is read forward: rounds(n) gives the next n rounds as an array (n, clients, experts). The time spent
there is kept in .seconds, so that a benchmark can tell making losses from learning from them.
"""
import math
import time

import numpy as np

PIECE = 1 << 20  # losses made at once: 8 MiB


class Law:
    """What may be chosen of bernoulli, shifting and drifting; segments of all."""

    def __init__(self, segments=1, means=(0.3, 0.7), spread=0.0, drift=0.001):
        self.segments, self.means, self.spread, self.drift = segments, means, spread, drift


class Losses:
    means = None  # expected loss per expert, where the losses are drawn from one distribution

    def __init__(self, rng, m, T, d, law=Law()):
        self.rng, self.m, self.T, self.d, self.law = rng, m, T, d, law
        self.segment_totals = np.zeros((law.segments, d))  # per segment and expert, over all clients
        self.t, self.seconds = 0, 0.0
        start = time.perf_counter()
        self.prepare()
        self.seconds += time.perf_counter() - start

    def rounds(self, n):
        start = time.perf_counter()
        out = self.make(self.t, n)
        if self.law.segments > 1:
            np.add.at(self.segment_totals, np.arange(self.t, self.t + n) * self.law.segments // self.T,
                      out.sum(axis=1))
        self.t += n
        self.seconds += time.perf_counter() - start
        return out

    def pieces(self, n):
        """The next n rounds, in arrays small enough for memory."""
        step = max(1, PIECE // (self.m * self.d))
        while n > 0:
            now = min(n, step)
            yield self.rounds(now)
            n -= now

    def blocks(self, N):
        """The sums (clients, experts) of each block of N rounds; the last block may be short."""
        left, many = self.T, max(1, PIECE // (N * self.m * self.d))
        while left > 0:
            whole = min(many, left // N)
            if many > 1 and whole > 0:
                yield from self.rounds(whole * N).reshape(whole, N, self.m, self.d).sum(axis=1)
                left -= whole * N
            else:
                now = min(N, left)
                yield sum(piece.sum(axis=0) for piece in self.pieces(now))
                left -= now

    def everyone(self, experts):
        """The same losses (n, experts) for all clients."""
        return np.broadcast_to(experts[:, None, :], (len(experts), self.m, self.d))


class Realizable(Losses):
    """Uniform losses, and one expert, drawn at random, that never loses anything."""

    def prepare(self):
        self.good = self.rng.integers(self.d)

    def make(self, t, n):
        out = self.rng.random((n, self.m, self.d))
        out[:, :, self.good] = 0
        return out


class Coins(Losses):
    """Losses 0 or 1 with the means of each round; a client's differ from them by law.spread, for good."""

    def prepare(self):
        self.offset = self.rng.normal(0, self.law.spread, (self.m, self.d)) if self.law.spread > 0 else 0.0
        self.begin()

    def make(self, t, n):
        means = np.clip(self.rounds_means(t, n)[:, None, :] + self.offset, 0, 1)
        return (self.rng.random((n, self.m, self.d)) < means).astype(float)


class Bernoulli(Coins):
    """The means are uniform in law.means."""

    def begin(self):
        drawn = self.rng.uniform(*self.law.means, self.d)
        if self.law.spread == 0:
            self.means = drawn
        self.drawn = drawn[None, :]

    def rounds_means(self, t, n):
        return np.broadcast_to(self.drawn, (n, self.d))


class Shifting(Coins):
    """New means in every segment."""

    def begin(self):
        self.drawn = self.rng.uniform(*self.law.means, (self.law.segments, self.d))

    def rounds_means(self, t, n):
        return self.drawn[np.arange(t, t + n) * self.law.segments // self.T]


class Drifting(Coins):
    """The means take a normal step every round and are reflected at the ends of law.means, step by step."""

    def begin(self):
        self.here = self.rng.uniform(*self.law.means, self.d)
        self.steps = np.random.default_rng(self.rng.integers(1 << 62))  # of its own: however many rounds are asked for

    def rounds_means(self, t, n):
        lo, hi = self.law.means
        out = np.empty((n, self.d))
        for row in out:
            row[:] = self.here
            step = self.here + self.steps.normal(0, self.law.drift, self.d)
            while ((step < lo) | (step > hi)).any():
                step = np.where(step < lo, 2 * lo - step, np.where(step > hi, 2 * hi - step, step))
            self.here = step
        return out


class Gaussian(Losses):
    """N(mu, sigma^2) clamped to [0, 1], mu and sigma^2 uniform in [0, 1] per expert."""

    def prepare(self):
        self.mu = self.rng.random(self.d)
        self.sigma = np.sqrt(self.rng.random(self.d))
        # E clamp(X, 0, 1) = integral of P(X > x) over [0, 1] = sigma (h(-mu/sigma) - h((1-mu)/sigma)),
        # h(z) = phi(z) - z (1 - Phi(z)).
        def h(z):
            return math.exp(-z * z / 2) / math.sqrt(2 * math.pi) - z * math.erfc(z / math.sqrt(2)) / 2
        self.means = np.array([s * (h(-mu / s) - h((1 - mu) / s)) for mu, s in zip(self.mu, self.sigma)])

    def make(self, t, n):
        return np.clip(self.rng.normal(self.mu, self.sigma, (n, self.m, self.d)), 0, 1)


class Halving(Losses):
    """ceil(log2 d) blocks; in each, half of the experts still without a loss join those that lose 1 a round."""

    def prepare(self):
        depth = math.ceil(math.log2(self.d))
        self.length = max(1, self.T // (depth + 1))
        order = self.rng.permutation(self.d)
        self.rows = np.zeros((depth + 1, self.d))  # one per block; the last is the quiet time after them
        keep = self.d
        for r in range(depth):
            keep = -(-keep // 2)
            self.rows[r, order[keep:]] = 1

    def make(self, t, n):
        block = np.minimum(np.arange(t, t + n) // self.length, len(self.rows) - 1)
        return self.everyone(self.rows[block])


class Creeping(Losses):
    """The experts start to lose 1 a round one after the other, and never stop; one is spared."""

    def prepare(self):
        self.rank = np.argsort(self.rng.permutation(self.d))

    def make(self, t, n):
        last = np.arange(t, t + n) * (self.d - 1) // self.T
        return self.everyone((self.rank <= last[:, None]).astype(float))


ADVERSARIES = {"realizable": Realizable, "bernoulli": Bernoulli, "gaussian": Gaussian,
               "halving": Halving, "creeping": Creeping, "shifting": Shifting, "drifting": Drifting}
