# SPDX-License-Identifier: Apache-2.0
"""`caucus.simulate()` beside the program `caucus simulate`: both take the same processor time, or this fails.

    speed.py PROGRAM [MOST]      exit code 1 if Python takes more than MOST (1.05) of the program's time in a case

Both play the same trials on one thread, in turn, and the least of several times is compared: what else the machine does
only adds to one. The program's time is that of a whole process that prints its table; Python's is that of the call,
arrays of all trials and the end of the results included, without the start of the interpreter and the import of NumPy.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import caucus_dp as caucus

TIMES = 9
FEW: dict[str, Any] = {"algorithm": "svt", "clients": 10, "experts": 100, "rounds": 512, "trials": 1_000}
MANY: dict[str, Any] = {"algorithm": "hedge", "clients": 2, "experts": 4, "rounds": 16, "trials": 100_000}


def of_python(call: Callable[[], object]) -> float:
    """Processor seconds of a call."""
    began = time.process_time()
    call()
    return time.process_time() - began


def of_program(words: list[str]) -> float:
    """Processor seconds of a process."""
    before = os.times()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def cases(folder: Path) -> dict[str, tuple[dict[str, Any], np.ndarray[Any, Any] | None]]:
    """What is played: few large trials, many small ones, and losses of one's own."""
    losses = np.random.default_rng(1).random((20, 2_000, 50), dtype=np.float32)
    np.save(folder / "losses.npy", losses)
    return {
        "few large trials": (FEW, None),
        "many small trials": (MANY, None),
        "an array of losses": ({"algorithm": "hedge", "trials": 40}, losses),
    }


def compare(program: str, most: float) -> bool:
    """Print a line for each case; whether all are well."""
    print(f"simulate: processor time of Python's call beside that of the program, one thread, the least of {TIMES}")
    well = True
    with tempfile.TemporaryDirectory() as work:
        for name, (settings, losses) in cases(Path(work)).items():
            given = {**settings, "epsilon": 10, "trust": "coordinator", "threads": 1}
            words = [program, "simulate", *(f"--{key}={value}" for key, value in given.items())]
            if losses is not None:
                words.append(f"--losses={work}/losses.npy")

            def play(given: dict[str, Any] = given, losses: np.ndarray[Any, Any] | None = losses) -> None:
                caucus.simulate(losses=losses, **given).regret.mean()

            ours, theirs = [], []
            for _ in range(TIMES):
                ours.append(of_python(play))
                theirs.append(of_program(words))
            ratio = min(ours) / min(theirs)
            well = well and ratio <= most
            verdict = "" if ratio <= most else f"   MORE THAN {most:g}"
            print(f"  {name:<20} Python {min(ours):.3f} s   program {min(theirs):.3f} s   {ratio:.3f} of it{verdict}")
    return well


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    if not compare(sys.argv[1], float(sys.argv[2]) if len(sys.argv) == 3 else 1.05):
        sys.exit(1)
