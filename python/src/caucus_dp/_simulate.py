# SPDX-License-Identifier: Apache-2.0
"""Simulated federations: settings or a plan in, results out. Seeded, and so NOT PRIVATE."""

from __future__ import annotations

import io
import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import check, new_error, owned, refuse, take_text
from ._losses import loss_array
from ._native import ffi, lib
from ._plan import PlanOrPath, as_plan, pointer
from ._words import Named, Unpack

_IN_EVERY_LABEL = ("algorithm", "clients", "epsilon")
_OF_LONGEST_PHASE = ("first_phase", "changes")  # one value for all runs; where there is no longest phase, none
_LOOK_SECONDS = 0.1  # between looks at how far a simulation is


class SimulationSettings(TypedDict, total=False):
    """What is simulated; the words, defaults and checks are those of `caucus simulate --help`.

    A sequence makes one run per value; several make every combination.
    """

    algorithm: str | Sequence[str] | None
    adversary: str | Sequence[str] | None
    clients: int | Sequence[int] | None
    experts: int | Sequence[int] | None
    names: Sequence[str] | None
    rounds: int | str | Sequence[int | str] | None
    interval: int | str | Sequence[int | str] | None
    epsilon: float | Sequence[float] | None
    delta: float | Sequence[float] | None
    trust: str | Sequence[str] | None
    calibration: str | Sequence[str] | None
    protocol: str | Sequence[str] | None
    unit: str | Sequence[str] | None
    select: str | Sequence[str] | None
    message: str | Sequence[str] | None
    trees: int | str | Sequence[int | str] | None
    front_load: bool | None
    past_phases: bool | None
    longest_phase: int | str | Sequence[int | str] | None
    first_phase: int | None
    changes: float | None
    renew: int | Sequence[int] | None
    pace: str | None
    phase_time: str | None
    grace: str | None
    most: int | None
    start: str | None
    nominal_rounds: int | None
    evaluate: int | str | Sequence[int | str] | None
    growth: int | str | Sequence[int | str] | None
    show_loss: float | Sequence[float] | None
    rho: float | None
    lstar: float | None
    range: tuple[float, float] | None
    segments: int | Sequence[int] | None
    means: tuple[float, float] | None
    spread: float | Sequence[float] | None
    drift: float | Sequence[float] | None
    activity: tuple[float, float] | None
    play: int | None
    data: str | os.PathLike[str] | None
    genre: str | None
    trials: int | None
    seed: int | None
    threads: int | str | None


@dataclass(frozen=True)
class Curves:
    """Regret per client so far, at some rounds: mean and standard deviation over the trials."""

    round: NDArray[np.int64]
    mean: NDArray[np.float64]
    std: NDArray[np.float64]


class _Results:
    """A caucus_simulation, which runs and the whole share; texts are made when they are asked for."""

    def __init__(self, simulation: Any) -> None:
        self._simulation = simulation
        self.runs = int(lib.caucus_simulation_runs(simulation))

    def show(self, view: int) -> str:
        ret, size = ffi.new("char **"), ffi.new("size_t *")
        check(lib.caucus_simulation_show(self._simulation, view, ret, size), new_error())
        return take_text(ret, size)

    def values(self, run: int, figure: int) -> NDArray[np.float64]:
        values = np.empty(lib.caucus_simulation_count(self._simulation, run, figure), dtype=np.float64)
        room = ffi.from_buffer("double[]", values, require_writable=True)
        check(lib.caucus_simulation_values(self._simulation, run, figure, room, values.size), new_error())
        return values

    @cached_property
    def json(self) -> str:
        return self.show(lib.CAUCUS_SIMULATION_VIEW_JSON)

    @cached_property
    def contents(self) -> list[dict[str, Any]]:
        contents: list[dict[str, Any]] = json.loads(self.json)["runs"]
        return contents

    @cached_property
    def differing(self) -> list[str]:
        """The settings that are not the same in every run, but for those that every label has."""
        first = self.contents[0]
        return [
            name
            for name in SimulationSettings.__annotations__
            if name not in (*_IN_EVERY_LABEL, *_OF_LONGEST_PHASE)
            and any(run.get(name) != first.get(name) for run in self.contents)
        ]


class Run:
    """One run of a simulation: one setting of everything, many trials."""

    def __init__(self, results: _Results, number: int) -> None:
        """For this module."""
        self._results, self._number = results, number
        self.regret: NDArray[np.float64] = self._values(lib.CAUCUS_SIMULATION_REGRET)
        """Per client and against the best expert in hindsight: one number per trial."""
        self.switches = self._whole(lib.CAUCUS_SIMULATION_SWITCHES)
        """How often the expert in force changed, per trial."""
        self.expert = self._whole(lib.CAUCUS_SIMULATION_LAST)
        """The expert in force at the end of each trial; -1 where a mixture is played."""
        self.best = self._whole(lib.CAUCUS_SIMULATION_BEST)
        """The best expert in hindsight of each trial; -1 where there is none."""
        bound = self._values(lib.CAUCUS_SIMULATION_BOUND)
        self.bound: float | None = float(bound[0]) if bound.size else None
        """The regret that is proved for these losses; None: nothing is proved for them."""

    def _values(self, figure: int) -> NDArray[np.float64]:
        return self._results.values(self._number, figure)

    def _whole(self, figure: int) -> NDArray[np.int64]:
        return self._values(figure).astype(np.int64)

    @cached_property
    def curves(self) -> Curves:
        """Regret so far."""
        return Curves(
            self._whole(lib.CAUCUS_SIMULATION_CURVE_ROUND),
            self._values(lib.CAUCUS_SIMULATION_CURVE_MEAN),
            self._values(lib.CAUCUS_SIMULATION_CURVE_STD),
        )

    @property
    def settings(self) -> dict[str, Any]:
        """The run as `caucus simulate --format json` has it."""
        return self._results.contents[self._number]

    @property
    def label(self) -> str:
        """A few words that tell runs apart: algorithm, clients, epsilon, and whatever else differs between the runs."""
        s = self.settings
        epsilon = "infinite" if s["epsilon"] is None else s["epsilon"]
        words = [s["algorithm"], f"{s['clients']} client{'' if s['clients'] == 1 else 's'}", f"epsilon {epsilon}"]
        for name in self._results.differing:
            value = s.get(name)  # left out, or null, where the run has none
            words.append(f"{name} {'none' if value is None else value}")
        return ", ".join(words)


class Simulation:
    """The results of a simulation: a sequence of runs.

    Its repr is the program's table, and of losses of one's own what the program says of them on standard error.
    Of one run alone its figures can be asked directly: `r.regret` is `r.runs[0].regret`.
    """

    def __init__(self, simulation: Any) -> None:
        """For this module: a caucus_simulation."""
        self._results = _Results(simulation)
        self.runs = [Run(self._results, number) for number in range(self._results.runs)]

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __getitem__(self, number: int) -> Run:
        return self.runs[number]

    def _only(self) -> Run:
        if len(self.runs) != 1:
            raise refuse("", f"{len(self.runs)} runs: ask one of them, runs[0] to runs[{len(self.runs) - 1}]")
        return self.runs[0]

    @property
    def regret(self) -> NDArray[np.float64]:
        """Of the only run: regret per client, one number per trial."""
        return self._only().regret

    @property
    def expert(self) -> NDArray[np.int64]:
        """Of the only run: the expert in force at the end of each trial."""
        return self._only().expert

    @property
    def best(self) -> NDArray[np.int64]:
        """Of the only run: the best expert in hindsight of each trial."""
        return self._only().best

    @property
    def switches(self) -> NDArray[np.int64]:
        """Of the only run: how often the expert in force changed, per trial."""
        return self._only().switches

    @property
    def curves(self) -> Curves:
        """Of the only run: regret so far."""
        return self._only().curves

    def to_json(self) -> str:
        """What `caucus simulate --format json` prints."""
        return self._results.json

    def trials_csv(self) -> str:
        """One line per run and trial: the program's trials.csv."""
        return self._results.show(lib.CAUCUS_SIMULATION_VIEW_TRIALS)

    def curves_csv(self) -> str:
        """Mean and spread of the regret so far: the program's curves.csv."""
        return self._results.show(lib.CAUCUS_SIMULATION_VIEW_CURVES)

    def to_pandas(self) -> Any:
        """A DataFrame with one row per run and trial (needs pandas).

        Names are text as they were given, "NA" and "007", too; what a run does not have is missing.
        """
        import pandas  # noqa: PLC0415 (an optional dependency)

        text = self.trials_csv()
        names = dict.fromkeys(("last_name", "best_name"), str)
        columns = text.partition("\n")[0].split(",")
        missing = {column: [""] if column in names else ["", "nan"] for column in columns}
        return pandas.read_csv(io.StringIO(text), dtype=names, keep_default_na=False, na_values=missing)

    def plot(self, axes: Any = None) -> Any:
        """Regret so far, the mean of each run in a band of one standard deviation (needs matplotlib).

        Returns the axes, new ones unless some were given.
        """
        if axes is None:
            import matplotlib.pyplot  # noqa: PLC0415 (an optional dependency)

            axes = matplotlib.pyplot.subplots(layout="constrained")[1]
        for run in self.runs:
            c = run.curves
            (line,) = axes.plot(c.round, c.mean, label=run.label)
            axes.fill_between(c.round, c.mean - c.std, c.mean + c.std, color=line.get_color(), alpha=0.2, linewidth=0)
        axes.set_xlabel("round")
        axes.set_ylabel("regret per client")
        axes.legend()
        return axes

    def __repr__(self) -> str:
        return self._results.show(lib.CAUCUS_SIMULATION_VIEW_TABLE).rstrip("\n")


def _play(call: Callable[[Any], Any], progress: Callable[[int, int, int, int], None] | None) -> Any:
    """Make the call in a thread of its own, so that this one hears a keyboard's interrupt, and looks how far it is.

    An interrupt stops it and waits for the trials that are under way; one more does not wait. The thread then ends by
    itself, so whatever it reads has to be the call's own: nothing that it needs may go with this frame.
    """
    watch = ffi.new("native_watch *")
    outcome: list[Any] = []
    over = threading.Event()

    def work() -> None:
        try:
            outcome.append(call(watch))
        except BaseException as why:
            outcome.append(why)
        finally:
            over.set()

    thread = threading.Thread(target=work, name="caucus simulate")
    seen = None
    try:
        thread.start()
        while not over.wait(_LOOK_SECONDS):
            now = (int(watch.run), int(watch.runs), int(watch.done), int(watch.trials))
            if progress is not None and now != seen and watch.runs > 0:
                progress(*now)
                seen = now
        thread.join()
    except BaseException:
        watch.stop = 1  # it ends with the trials that are under way
        if thread.is_alive():
            over.wait()  # not join(), which takes a thread for ended when its wait is interrupted
        raise
    if isinstance(outcome[0], BaseException):
        raise outcome.pop()  # it would hold its own frames, and with them the losses
    return outcome[0]


def simulate(
    plan: PlanOrPath | None = None,
    *,
    losses: ArrayLike | str | os.PathLike[str] | None = None,
    progress: Callable[[int, int, int, int], None] | None = None,
    **settings: Unpack[SimulationSettings],
) -> Simulation:
    """Play a plan, or settings, many times at once, on all cores (`caucus simulate`).

    With a plan, or the path of its file, the settings say only against what, how often and from which seed. `losses`
    are your own: an array of clients × rounds × experts (float32 and float64 in C order are read where they lie), or
    the path of a NumPy or CSV file. `progress(run, runs, done, trials)` is called now and then. A keyboard's interrupt
    ends it. The program's --ledger and --budget have no keywords here: nothing is recorded.

    >>> r = simulate(algorithm="svt", clients=3, experts=4, rounds=20, epsilon=10, trust="coordinator", trials=5)
    >>> r.regret.shape
    (5,)
    """
    words: dict[str, object] = dict(settings)
    array, borrowed = ffi.NULL, None
    if isinstance(losses, str | os.PathLike):
        words["losses"] = losses
    elif losses is not None:
        array, borrowed = loss_array(losses)
    named = Named(words, {**SimulationSettings.__annotations__, "losses": None}, "simulate")
    own = ffi.NULL if plan is None else pointer(as_plan(plan))

    def call(watch: Any, _borrowed: object = borrowed) -> Any:
        ret, error = ffi.new("caucus_simulation **"), new_error()
        status = lib.caucus_simulation_ask(own, named.array, named.count, array, lib.native_progress, watch, ret, error)
        check(status, error)
        return owned(ret[0], lib.caucus_simulation_free, own)  # freed where nobody waits for it any more

    return Simulation(_play(call, progress))
