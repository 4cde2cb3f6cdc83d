# SPDX-License-Identifier: Apache-2.0
"""caucus beside its peers, in one run on this machine: OpenDP, diffprivlib, Flower.

    bench.py PROGRAM [PART...]      PROGRAM is `caucus`; parts: noise, choice, live, simulation, program; all of them

Each line has our figure, the peer's, how many times the peer's ours is, and what both include. What a peer is built for
stands with it: a ratio alone says nothing about that.
"""

from __future__ import annotations

import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from bench_live import live
from bench_ray import simulation
from speed import compare

import caucus_dp as caucus

SCALE = 10.0


def per_call(call: Callable[[], object], units: int, seconds: float = 0.5) -> float:
    """Processor seconds for one unit: the median over calls that take so long together, three at least."""
    times: list[float] = []
    while len(times) < 3 or sum(times) < seconds:
        began = time.process_time()
        call()
        times.append(time.process_time() - began)
    return statistics.median(times) / units


def line(what: str, ours: float, peer: str, theirs: float, unit: float, name: str) -> None:
    """One comparison."""
    left, right = f"{ours / unit:>10.4g} {name}", f"{theirs / unit:>10.4g} {name}"
    print(f"  {what:<34} {left}   {peer:<26} {right} {theirs / ours:>8.3g} x")


def noise() -> None:
    """Exact integer noise."""
    import diffprivlib.mechanisms as ibm  # noqa: PLC0415 (a part may be left out)
    import opendp.prelude as dp  # noqa: PLC0415

    dp.enable_features("contrib")
    print(f"noise: processor time of one draw, scale {SCALE:g}; secure randomness, exact but for diffprivlib's Laplace")
    n, few, zeros = 1_000_000, 2_000, [0] * 2_000
    vector = dp.vector_domain(dp.atom_domain(T=int))
    laplace = per_call(lambda: caucus.laplace(n, scale=SCALE), n)
    peer = dp.m.make_laplace(vector, dp.l1_distance(T=int), scale=SCALE)
    line(
        "Laplace, exact, 10^6 at a time",
        laplace,
        "OpenDP, 2,000 at a time",
        per_call(lambda: peer(zeros), few),
        1e-9,
        "ns",
    )
    geometric = ibm.Geometric(epsilon=1 / SCALE, sensitivity=1)
    each = per_call(lambda: [geometric.randomise(0) for _ in range(few)], few)
    line("", laplace, "diffprivlib, one at a time", each, 1e-9, "ns")
    gaussian = per_call(lambda: caucus.gaussian(n, scale=SCALE), n)
    peer = dp.m.make_gaussian(vector, dp.l2_distance(T=float), scale=SCALE)
    line(
        "Gaussian, exact, 10^6 at a time",
        gaussian,
        "OpenDP, 2,000 at a time",
        per_call(lambda: peer(zeros), few),
        1e-9,
        "ns",
    )
    discrete = ibm.GaussianDiscrete(epsilon=0.5, delta=1e-5)
    each = per_call(lambda: [discrete.randomise(0) for _ in range(few)], few)
    line("", gaussian, f"diffprivlib, scale {discrete._scale:.3g}", each, 1e-9, "ns")
    one = per_call(lambda: [caucus.laplace(1, scale=SCALE) for _ in range(few)], few)
    peer = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=SCALE)
    line(
        "Laplace, a call for each draw",
        one,
        "OpenDP, the same",
        per_call(lambda: [peer(0) for _ in range(few)], few),
        1e-6,
        "us",
    )


def choice() -> None:
    """One private choice among sums."""
    import diffprivlib.mechanisms as ibm  # noqa: PLC0415
    import opendp.prelude as dp  # noqa: PLC0415

    dp.enable_features("contrib")
    print(
        "choice: processor time of picking the best of d sums, epsilon 1, from the caller's array or list to the index"
    )
    for d in (10, 1_000, 100_000):
        sums = np.random.default_rng(d).integers(0, 1000, d)
        values, floats = sums.astype(np.float64), sums.astype(float).tolist()
        ours = per_call(lambda: caucus.pick(values, epsilon=1, sensitivity=1, largest=True), 1)  # noqa: B023
        domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
        peer = dp.m.make_noisy_max(domain, dp.linf_distance(T=float), dp.max_divergence(), scale=2.0)
        line(f"d = {d}, exact", ours, "OpenDP, noisy max", per_call(lambda: peer(floats), 1), 1e-6, "us")  # noqa: B023
        if d <= 1_000:  # it makes a list of probabilities first, which is part of it
            settings = {"epsilon": 1, "sensitivity": 1, "utility": floats}
            each = per_call(lambda: ibm.Exponential(**settings).randomise(), 1)  # noqa: B023
            line("", ours, "diffprivlib, exponential", each, 1e-6, "us")


def main() -> None:
    """All parts, or those named."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    path, parts = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        every: dict[str, Callable[[], None]] = {
            "noise": noise,
            "choice": choice,
            "live": lambda: live(path, work),
            "simulation": lambda: simulation(work),
            "program": lambda: compare(path, math.inf),
        }
        unknown = [part for part in parts if part not in every]
        if unknown:
            sys.exit(f"bench.py: no part '{unknown[0]}'; there are: {', '.join(every)}")
        for name, part in every.items():
            if not parts or name in parts:
                part()
                sys.stdout.flush()


if __name__ == "__main__":
    main()
