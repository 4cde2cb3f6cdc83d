# SPDX-License-Identifier: Apache-2.0
"""One choice, and exact noise."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import caucus_dp as caucus
from conftest import Program


@pytest.fixture(scope="module")
def table() -> NDArray[np.float64]:
    """Scores of 30 persons for five candidates that are nearly equal."""
    return np.random.default_rng(5).random((30, 5))


def test_pick_is_the_choice_of_the_program(program: Program, table: NDArray[np.float64], tmp_path: Path) -> None:
    """The same seed, the same choice; over many seeds there are several."""
    file = tmp_path / "scores.npy"
    np.save(file, table)
    seen = set()
    for seed in range(12):
        out = program("pick", str(file), "--epsilon", "0.5", "--seed", str(seed))
        choice = int(out.stdout.split("\n", 1)[0])
        assert caucus.pick(table, epsilon=0.5, seed=seed) == choice
        seen.add(choice)
    assert len(seen) > 1


def test_pick_of_sums_and_of_the_largest(table: NDArray[np.float64]) -> None:
    """With much epsilon the choice is the best one."""
    sums = table.sum(axis=0) + np.array([0, 100, 0, -100, 0])
    assert caucus.pick(sums, epsilon=1000, sensitivity=1) == 3
    assert caucus.pick(sums, epsilon=1000, sensitivity=1, largest=True) == 1
    assert caucus.pick(table + np.array([0, 0, 4, 0, 0]), epsilon=1000, range=(0, 5), largest=True) == 2


def test_pick_refuses(table: NDArray[np.float64]) -> None:
    """Words for what cannot be."""
    for settings, words in (
        ({"epsilon": 0}, "epsilon 0 \\(accepted: above 0"),
        ({"epsilon": 1, "range": (1, 0)}, "range 1,0: must be a lower and a higher number"),
        ({"epsilon": 1, "range": (0, 1), "sensitivity": 1}, "say sensitivity"),
        ({"epsilon": 1, "sensitivity": 0}, "sensitivity 0: must be a number above 0"),
        ({"epsilon": 1, "sensitivity": math.nan}, "must be a number above 0"),
        ({"epsilon": 1, "sensitivity": 1}, "scores: 30 rows — expected one, the sums"),
        ({"epsilon": 1, "seed": -1}, "seed -1"),
    ):
        with pytest.raises(caucus.InputError, match=words):
            caucus.pick(table, **settings)
    with pytest.raises(caucus.InputError, match="expected persons × candidates"):
        caucus.pick(table[0], epsilon=1)
    with pytest.raises(caucus.InputError, match="one column"):
        caucus.pick(table[:, :1], epsilon=1)


@pytest.mark.parametrize("scale", [0.7, 3, Fraction(10, 3), 1e6])
def test_laplace_has_its_law(scale: float | Fraction) -> None:
    """Mean 0 and the variance of the discrete law: false alarm below 1e-8 (six standard errors; seeded)."""
    n = 200_000
    draws = caucus.laplace(n, scale=scale, seed=1)
    assert draws.dtype == np.int64
    q = math.exp(-1 / float(scale))
    variance = 2 * q / (1 - q) ** 2
    assert abs(draws.mean()) < 6 * math.sqrt(variance / n)
    # The fourth moment of a Laplace law is at most 6 variances squared, and the discrete one's is near it.
    assert abs(draws.var() - variance) < 6 * variance * math.sqrt((6 + 1 / variance) / n)


@pytest.mark.parametrize("scale", [1, 2.5, Fraction(7, 2), 1e5])
def test_gaussian_has_its_law(scale: float | Fraction) -> None:
    """Mean 0 and variance scale^2, from scale 1 on up to 1e-7 of it: false alarm below 1e-8 (seeded)."""
    n = 200_000
    draws = caucus.gaussian((2, n // 2), scale=scale, seed=2)
    assert draws.shape == (2, n // 2)
    variance = float(scale) ** 2
    assert abs(draws.mean()) < 6 * math.sqrt(variance / n)
    assert abs(draws.var() - variance) < 6 * variance * math.sqrt(2 / n)


def test_draws_are_fresh_unless_seeded() -> None:
    """Two calls differ; two calls with one seed do not, and more draws begin with the same ones."""
    assert not np.array_equal(caucus.laplace(50, scale=100), caucus.laplace(50, scale=100))
    assert np.array_equal(caucus.gaussian(50, scale=9, seed=4), caucus.gaussian(50, scale=9, seed=4))
    assert caucus.laplace(0, scale=1).size == 0
    long = caucus.laplace((1 << 20) + 3, scale=5, seed=9)
    assert np.array_equal(long[: 1 << 20], caucus.laplace(1 << 20, scale=5, seed=9))
    assert not np.array_equal(long[:3], long[-3:]) or long[:3].any()


def test_extreme_scales_do_not_abort() -> None:
    """The ends of what is accepted, and what is beyond."""
    for scale in (2.0**-30, 2.0**40, 1e-3, math.pi, 1 / 3):
        assert caucus.laplace(100, scale=scale).shape == (100,)
    for scale in (2.0**-12, 2.0**26, 1e-3, math.pi, 1 / 3):
        assert caucus.gaussian(100, scale=scale).shape == (100,)
    for scale in (0, -1, math.nan, math.inf, 2.0**41, 2.0**-31):
        with pytest.raises(caucus.InputError, match="scale"):
            caucus.laplace(1, scale=scale)
    for scale in (0, math.inf, 2.0**27, 2.0**-13):
        with pytest.raises(caucus.InputError, match="scale"):
            caucus.gaussian(1, scale=scale)
