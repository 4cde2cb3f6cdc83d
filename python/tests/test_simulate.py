# SPDX-License-Identifier: Apache-2.0
"""Simulations: the same bytes as the program's."""

from __future__ import annotations

import gc
import math
import os
import re
import signal
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import caucus_dp as caucus
from caucus_dp import _simulate
from caucus_dp._native import lib
from conftest import PATIENCE, Program

SETTINGS: dict[str, Any] = {
    "algorithm": ["svt", "hedge", "stoch"],
    "clients": [1, 4],
    "experts": 5,
    "rounds": 60,
    "epsilon": 5,
    "trust": "coordinator",
    "trials": 7,
    "seed": 11,
}


def words_of(settings: dict[str, Any]) -> list[str]:
    """Settings as flags."""
    words = []
    for name, value in settings.items():
        text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        words += [f"--{name.replace('_', '-')}", text]
    return words


def timeless(text: str) -> str:
    """JSON without the time that it took."""
    return re.sub(r'"seconds": [^,}\n]*', "", text)


def test_the_same_bytes_as_the_program(program: Program, tmp_path: Path) -> None:
    """JSON, trials, curves and table."""
    out = program("simulate", *words_of(SETTINGS), "--format", "json", "--out", str(tmp_path / "out"))
    assert out.returncode == 0, out.stderr
    r = caucus.simulate(**SETTINGS)
    assert timeless(r.to_json()) == timeless(out.stdout)
    assert r.trials_csv() == (tmp_path / "out" / "trials.csv").read_text()
    assert r.curves_csv() == (tmp_path / "out" / "curves.csv").read_text()
    assert repr(r) + "\n" == program("simulate", *words_of(SETTINGS)).stdout
    assert len(r.runs) == 6
    with pytest.raises(caucus.InputError, match="6 runs: ask one of them"):
        r.regret  # noqa: B018
    assert r.runs[0].regret.shape == (7,)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_own_losses_are_those_of_the_file(
    program: Program, losses: NDArray[np.float64], tmp_path: Path, dtype: type[np.float32] | type[np.float64]
) -> None:
    """An array, a file and the program: one result."""
    array: NDArray[np.floating[Any]] = losses.astype(dtype)
    file = tmp_path / "losses.npy"
    np.save(file, array)
    settings: dict[str, Any] = {"algorithm": "hedge", "epsilon": 20, "trust": "coordinator", "trials": 9, "seed": 2}
    out = program("simulate", *words_of(settings), "--losses", str(file), "--format", "json")
    assert out.returncode == 0, out.stderr
    said = program("simulate", *words_of(settings), "--losses", str(file))
    assert repr(caucus.simulate(losses=array, **settings)) + "\n" == said.stdout + said.stderr
    for given in (array, file, str(file), np.asfortranarray(array), array[::1]):
        assert timeless(caucus.simulate(losses=given, **settings).to_json()) == timeless(out.stdout)


def test_a_plan_is_played(plan: caucus.Plan, losses: NDArray[np.float64]) -> None:
    """The results of a plan are those of its settings."""
    r = caucus.simulate(plan, losses=losses, trials=20)
    same = caucus.simulate(algorithm="hedge", interval=4, epsilon=50, trust="coordinator", losses=losses, trials=20)
    assert timeless(r.to_json()) == timeless(same.to_json())
    assert (r.best == 2).all()
    assert (r.expert == 2).sum() >= 10
    assert r.regret.shape == r.switches.shape == (20,)
    assert r.runs[0].settings["clients"] == 3
    assert r.curves.round[-1] == 40
    assert r.curves.mean[-1] == pytest.approx(r.regret.mean())
    assert r.curves.std[-1] == pytest.approx(r.regret.std(ddof=1))
    with pytest.raises(caucus.InputError, match=r"^epsilon 1: the plan has its settings already$"):
        caucus.simulate(plan, epsilon=1)
    with pytest.raises(caucus.InputError, match="too small for 3 clients, 40 rounds, or not 4 experts"):
        caucus.simulate(plan, losses=losses[:, :39])


def test_results_go_with_the_last_who_has_them() -> None:
    """Nothing waits for the collector of cycles, and a run outlives the whole."""
    settings: dict[str, Any] = {"clients": 2, "experts": 3, "rounds": 30, "trust": "coordinator", "trials": 3}
    r = caucus.simulate(**settings)
    whole, run = weakref.ref(r), r.runs[0]
    results = weakref.ref(run._results)
    gc.disable()
    try:
        del r
        assert whole() is None
        assert run.settings["rounds"] == 30
        assert run.curves.round[-1] == 30
        del run
        assert results() is None
    finally:
        gc.enable()


def test_many_expert_numbers() -> None:
    """Whatever adversary; a single trial has no spread."""
    r = caucus.simulate(
        adversary="shifting", segments=3, clients=2, experts=3, rounds=30, trust="coordinator", trials=1
    )
    assert np.isnan(r.curves.std).all()
    assert 0 <= r.expert[0] < 3


def test_pandas_and_plot(plan: caucus.Plan, losses: NDArray[np.float64]) -> None:
    """A table with a row per trial, and a figure."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    r = caucus.simulate(plan, losses=losses, trials=6)
    frame = r.to_pandas()
    assert list(frame["trial"]) == [1, 2, 3, 4, 5, 6]
    assert np.array_equal(frame["regret"].to_numpy(), r.regret)
    axes = r.plot()
    assert r.plot(axes) is axes
    assert len(axes.get_lines()) == 2
    assert axes.get_xlabel() == "round"
    matplotlib.pyplot.close("all")


def test_labels_tell_runs_apart() -> None:
    """Whatever differs between the runs is in them, and nothing else."""
    settings: dict[str, Any] = {"algorithm": "hedge", "experts": 3, "trust": "coordinator", "trials": 1}
    r = caucus.simulate(clients=[1, 4], rounds=[20, 30], interval=[1, 2], epsilon=[5, math.inf], **settings)
    labels = [run.label for run in r]
    assert len(set(labels)) == len(r) == 16
    assert labels[0] == "hedge, 1 client, epsilon 5, rounds 20, interval 1"
    assert labels[-1] == "hedge, 4 clients, epsilon infinite, rounds 30, interval 2"
    assert (
        caucus.simulate(clients=2, rounds=20, epsilon=0.5, **settings).runs[0].label == "hedge, 2 clients, epsilon 0.5"
    )
    stoch: dict[str, Any] = {**settings, "algorithm": "stoch", "clients": 2, "epsilon": 1}
    drifting = caucus.simulate(rounds=20, adversary="drifting", drift=[0.1, 0.2], longest_phase=["none", 8], **stoch)
    labels = [run.label for run in drifting]
    assert len(set(labels)) == 4
    assert labels[0].endswith(", longest_phase none, drift 0.1")


def test_it_is_a_sequence_of_runs() -> None:
    """Its length, its runs in their order, and each by its place."""
    r = caucus.simulate(clients=[1, 2], experts=3, rounds=20, trust="coordinator", trials=1)
    assert len(r) == 2
    assert list(r) == r.runs
    assert r[0] is r.runs[0]
    assert r[-1] is r.runs[1]
    assert [run.settings["clients"] for run in r] == [1, 2]


def test_a_table_keeps_names_and_numbers() -> None:
    """A name is the word that it is, even one that elsewhere means that something is missing; numbers are numbers."""
    pytest.importorskip("pandas")
    settings: dict[str, Any] = {"clients": 2, "rounds": 20, "trust": "coordinator", "trials": 40, "algorithm": "hedge"}
    for names in (["NA", "null"], ["007", "1e3"], ["nan", "None"]):
        frame = caucus.simulate(names=names, epsilon=[1, math.inf], **settings).to_pandas()
        assert set(frame["last_name"]) == set(names)
        assert set(frame["best_name"]) <= set(names)
        for column in ("regret", "last", "epsilon", "longest_phase", "spread", "loss"):
            assert frame[column].dtype.kind in "if", column
        assert frame["longest_phase"].isna().all()
    bare = caucus.simulate(experts=2, epsilon=1, **settings).to_pandas()
    assert bare["last_name"].isna().all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"epsilon": 0}, "epsilon 0: must be above 0"),
        ({"trust": "x"}, "trust 'x' \\(accepted: coordinator"),
        ({"adversary": "shifting"}, "segments is missing: in how many parts"),
        ({"adversary": "losses"}, "losses is missing: a NumPy or CSV file"),
        ({"losses": "nowhere.npy"}, "nowhere.npy: No such file"),
        ({"losses": np.zeros((3, 4))}, r"losses: shape \(3, 4\) — expected clients × rounds × experts"),
        ({"losses": np.zeros((0, 4, 2))}, "losses: shape"),
        ({"losses": np.zeros((3, 4, 1))}, "has 1 expert — expected 2 or more"),
        ({"losses": np.zeros((3, 4, 2)), "adversary": "halving"}, "losses not used by adversary halving"),
        ({"trials": 0}, "trials 0: must be"),
    ],
)
def test_bad_input(settings: dict[str, Any], words: str) -> None:
    """The program's words."""
    with pytest.raises(caucus.InputError, match=words):
        caucus.simulate(**{"trust": "coordinator", **settings})
    with pytest.raises(TypeError, match="'out'"):
        caucus.simulate(out="x", trust="coordinator")  # type: ignore[call-arg]


def test_it_can_be_watched_and_stopped() -> None:
    """Whatever `progress` raises ends the simulation, long before its million trials."""

    class StoppedError(Exception):
        pass

    seen: list[tuple[int, int, int, int]] = []

    def look(*now: int) -> None:
        seen.append((now[0], now[1], now[2], now[3]))
        raise StoppedError

    with pytest.raises(StoppedError):
        caucus.simulate(rounds=2000, trust="coordinator", trials=1_000_000, progress=look)
    run, runs, done, trials = seen[0]
    assert (run, runs, trials) == (0, 1, 1_000_000)
    assert done < trials


class HeldLibrary:
    """The library, but a simulation begins only when the test lets it."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self.begun, self.let = threading.Event(), threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)

    def caucus_simulation_ask(self, *words: Any) -> int:
        """In the thread of the simulation."""
        self.begun.set()
        self.let.wait()
        return int(self._library.caucus_simulation_ask(*words))


def test_a_second_interrupt_leaves_the_losses_to_who_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not wait for the trials under way, which have what they read until they are over, and end by themselves.

    Two interrupts are heard, the second where the first one waits; the caller has no other reference to the losses.
    """
    library, left, heard = HeldLibrary(lib), threading.Event(), 0
    monkeypatch.setattr(_simulate, "lib", library)

    def hear(*_: object) -> None:
        nonlocal heard
        heard += 1
        if heard <= 2:
            raise KeyboardInterrupt

    def interrupt() -> None:
        library.begun.wait()
        while not left.wait(0.05):
            os.kill(os.getpid(), signal.SIGINT)

    before, thread = signal.signal(signal.SIGINT, hear), threading.Thread(target=interrupt)
    thread.start()
    try:
        given = [np.random.default_rng(1).random((3, 40, 4))]
        losses = weakref.ref(given[0])
        try:
            caucus.simulate(losses=given.pop(), algorithm="hedge", epsilon=1, trust="coordinator", trials=3)
            raise AssertionError("it was not interrupted")
        except KeyboardInterrupt:
            pass
        left.set()
        thread.join()
        gc.collect()
        playing = [one for one in threading.enumerate() if one.name == "caucus simulate"]
        assert len(playing) == 1
        assert losses() is not None
        library.let.set()
        playing.pop().join(PATIENCE)
        assert not [one for one in threading.enumerate() if one.name == "caucus simulate"]
        gc.collect()
        assert losses() is None
    finally:
        library.let.set()
        library.begun.set()
        left.set()
        thread.join()
        signal.signal(signal.SIGINT, before)


def test_other_threads_run_meanwhile() -> None:
    """Python's lock is free during the work: another thread counts while a simulation that it ends is played."""
    counted = 0
    enough = threading.Event()

    def count() -> None:
        nonlocal counted
        while counted < 100_000:
            counted += 1
        enough.set()

    class StoppedError(Exception):
        pass

    def look(*_: int) -> None:
        if enough.is_set():
            raise StoppedError

    thread = threading.Thread(target=count)
    thread.start()
    with pytest.raises(StoppedError):
        caucus.simulate(rounds=2000, trust="coordinator", trials=1_000_000, progress=look)
    thread.join()
    assert counted == 100_000
