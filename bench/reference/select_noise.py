# SPDX-License-Identifier: Apache-2.0
"""Private selection of the smallest score, along the last axis, as report-noisy-min with the right noise.

Continuous noise in floats: the laws are those of the exact samplers up to the grid (2^-20 of a loss), far below
what a statistical test can resolve, but floating-point noise is not private (Mironov 2012).
"""
import numpy as np


def exponential_mechanism(rng, scores, rate):
    """P(y) ~ exp(-rate scores[y]): Gumbel noise."""
    return np.argmin(rate * scores - rng.gumbel(size=scores.shape), axis=-1)


def permute_and_flip(rng, scores, rate):
    """Permute-and-flip with acceptance exp(-rate (score - min)): one-sided exponential noise."""
    return np.argmin(rate * scores - rng.exponential(size=scores.shape), axis=-1)


def noisy_min(rng, scores, scale):
    """The smallest score after Laplace noise."""
    return np.argmin(scores + rng.laplace(scale=scale, size=scores.shape), axis=-1)
