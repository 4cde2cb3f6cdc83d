# SPDX-License-Identifier: Apache-2.0
"""Plans: the immutable result of calibration."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import Any, TypedDict

from numpy.typing import ArrayLike

from ._errors import check, new_error, refuse, take_text
from ._losses import loss_array
from ._native import ffi, lib
from ._words import Named, Unpack

FilePath = str | os.PathLike[str]


class PlanSettings(TypedDict, total=False):
    """What a plan is made from; the words, defaults and checks are those of `caucus plan --help`."""

    losses_are: str | None
    algorithm: str | None
    clients: int | None
    experts: int | None
    names: Sequence[str] | None
    rounds: int | str | None
    interval: int | str | None
    lstar: float | None
    range: tuple[float, float] | None
    epsilon: float | None
    delta: float | None
    trust: str | None
    unit: str | None
    rho: float | None
    calibration: str | None
    protocol: str | None
    select: str | None
    message: str | None
    trees: int | str | None
    front_load: bool | None
    past_phases: bool | None
    longest_phase: int | str | None
    first_phase: int | None
    changes: float | None
    renew: int | None
    pace: str | None
    phase_time: str | None
    grace: str | None
    most: int | None
    start: str | None
    nominal_rounds: int | None
    evaluate: int | str | None
    growth: int | str | None
    show_loss: float | None
    convex: tuple[float, float] | None
    grid: int | None
    federation: str | None


class Advice:
    """Everything that fits a plan's settings, compared in simulations; made by `Plan.recommend()`.

    Its repr is the text that `caucus plan --recommend` prints. NOT PRIVATE where it was made from losses.
    """

    def __init__(self, text: str, json_text: str) -> None:
        """For this module."""
        self._text = text.rstrip("\n")
        self._json = json_text

    def to_dict(self) -> dict[str, Any]:
        """What `caucus plan --recommend --format json` prints (docs/schemas/recommend.json)."""
        content: dict[str, Any] = json.loads(self._json)
        return content

    @property
    def taken(self) -> list[dict[str, Any]]:
        """What to take, one candidate for each kind of losses: algorithm, regret, proven, the command to type, ..."""
        return [c for situation in self.to_dict()["situations"] for c in situation["candidates"] if c["take"]]

    def __repr__(self) -> str:
        return self._text


class Plan:
    """Everything that is fixed about a run; made by `plan()`, `Plan.read()` or `Plan.from_yaml()`.

    Its repr is the text that `caucus plan` prints, but for the last line, "Next", which is a command to type. Two plans
    are equal if they have the same hash.
    """

    def __init__(self, pointer: Any) -> None:
        """For this module: takes over a caucus_plan."""
        self._plan = ffi.gc(pointer, lib.caucus_plan_free)
        self._text: str | None = None

    @classmethod
    def from_yaml(cls, text: str | bytes, name: str = "plan") -> Plan:
        """A plan from the text of a plan file, which is checked as `caucus serve` checks it."""
        ret, error = ffi.new("caucus_plan **"), new_error()
        data = text.encode() if isinstance(text, str) else text
        check(lib.caucus_plan_file_parse(name.encode(), data, len(data), ret, error), error)
        return cls(ret[0])

    @classmethod
    def read(cls, path: FilePath) -> Plan:
        """A plan from a file that `caucus plan --write` or `write()` has made."""
        ret, error = ffi.new("caucus_plan **"), new_error()
        check(lib.caucus_plan_file_read(os.fsencode(path), ret, error), error)
        return cls(ret[0])

    def write(self, path: FilePath, *, replace: bool = False) -> None:
        """Write the plan file, whole or not at all; another one is replaced only if that is said."""
        error = new_error()
        status = lib.caucus_plan_file_write(self._plan, os.fsencode(path), replace, error)
        if status == lib.CAUCUS_E_EXISTS:  # what the program calls --force
            error.hint = b"say replace=True, or give another name"
        check(status, error)

    def to_yaml(self) -> str:
        """The canonical text: the bytes of the plan file."""
        ret, size = ffi.new("char **"), ffi.new("size_t *")
        check(lib.caucus_plan_file_text(self._plan, ret, size), new_error())
        return take_text(ret, size)

    def _show(self, view: int) -> str:
        ret, size, error = ffi.new("char **"), ffi.new("size_t *"), new_error()
        check(lib.caucus_plan_show(self._plan, view, ret, size, error), error)
        return take_text(ret, size)

    def explain(self) -> str:
        """How every number came about, step by step (`caucus plan --explain`)."""
        return self._show(lib.CAUCUS_PLAN_VIEW_EXPLAIN)

    def recommend(self, *, losses: ArrayLike | None = None, losses_are: str | None = None) -> Advice:
        """Compare everything that fits this plan's settings, and say what to take (`caucus plan --recommend`).

        On simulated losses of each kind, or of the one named; or on one's own, clients × rounds × experts, whose
        premises are checked. These are read as they are: the answer is NOT PRIVATE.
        """
        ret, error, size = ffi.new("caucus_advice **"), new_error(), ffi.new("size_t *")
        array, borrowed = (ffi.NULL, None) if losses is None else loss_array(losses)
        kind = ffi.NULL if losses_are is None else losses_are.encode()
        status = lib.caucus_advice_new(self._plan, kind, array, ret, error)
        del borrowed
        check(status, error)
        try:
            text = ffi.unpack(lib.caucus_advice_text(ret[0], size), size[0]).decode()
            content = ffi.unpack(lib.caucus_advice_json(ret[0], size), size[0]).decode()
        finally:
            lib.caucus_advice_free(ret[0])
        return Advice(text, content)

    def to_dict(self) -> dict[str, Any]:
        """Every setting and integer, and what follows from them (`caucus plan --format json`)."""
        content: dict[str, Any] = json.loads(self._show(lib.CAUCUS_PLAN_VIEW_JSON))
        return content

    def __repr__(self) -> str:
        if self._text is None:  # it holds a quick simulation: made once
            self._text = self._show(lib.CAUCUS_PLAN_VIEW_TEXT).rstrip("\n")
        return self._text

    def __eq__(self, other: object) -> bool:
        return self.hash == other.hash if isinstance(other, Plan) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.hash)

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan.from_yaml, (self.to_yaml(),)

    @property
    def hash(self) -> str:
        """The plan's name: 64 digits, the same for everybody who has the same plan."""
        text: str = ffi.string(lib.caucus_plan_hash_text(self._plan)).decode()
        return text

    @property
    def evaluate(self) -> int:
        """How many experts a client evaluates in a round."""
        return int(lib.caucus_plan_evaluate(self._plan))

    @property
    def clients(self) -> int:
        """How many clients learn together."""
        return int(lib.caucus_plan_clients(self._plan))

    @property
    def experts(self) -> int:
        """How many experts there are to choose from."""
        return int(lib.caucus_plan_experts(self._plan))

    @property
    def rounds(self) -> int:
        """How many rounds are played."""
        return int(lib.caucus_plan_rounds(self._plan))

    @property
    def endless(self) -> bool:
        """Whether the run has no end; `rounds` is then 2^62."""
        return bool(lib.caucus_plan_is_endless(self._plan))

    @property
    def pace(self) -> str:
        """Whether clients play round by round "together", or every device at its "own" pace."""
        own = lib.caucus_plan_settings(self._plan).pace == lib.CAUCUS_PACE_OWN
        return "own" if own else "together"

    @property
    def convex(self) -> bool:
        """Whether losses are convex functions, known by their gradients, and a mixture of experts is played."""
        shape = lib.caucus_plan_settings(self._plan).loss_shape
        return bool(shape == lib.CAUCUS_LOSS_SHAPE_CONVEX)

    @property
    def names(self) -> list[str] | None:
        """What the experts are called; None: they have numbers."""
        if lib.caucus_plan_expert_name(self._plan, 0) == ffi.NULL:
            return None
        return [ffi.string(lib.caucus_plan_expert_name(self._plan, i)).decode() for i in range(self.experts)]

    @property
    def federation(self) -> str | None:
        """What the run is called."""
        name = lib.caucus_plan_federation(self._plan)
        return None if name == ffi.NULL else ffi.string(name).decode()

    @property
    def epsilon_choices(self) -> float:
        """Epsilon for everything announced, recomputed from the plan's integers; infinite: not private."""
        return float(lib.caucus_plan_epsilon_choices(self._plan))

    @property
    def epsilon_messages(self) -> float | None:
        """Epsilon for everything a client sends; None: the coordinator is trusted with it."""
        value = float(lib.caucus_plan_epsilon_messages(self._plan))
        return None if math.isnan(value) else value

    @property
    def epsilon_device(self) -> float:
        """What epsilon comes to for everything that one client contributes to the whole run."""
        return float(lib.caucus_plan_epsilon_device(self._plan))

    @property
    def delta(self) -> float:
        """Delta of both; 0: pure."""
        return float(lib.caucus_plan_delta(self._plan))

    @property
    def note(self) -> str:
        """Whom the plan protects from what, one plain sentence."""
        text: str = ffi.string(lib.caucus_plan_note(self._plan)).decode()
        return text

    @property
    def bound(self) -> float | None:
        """The regret per client that is proved not to be exceeded, in the units of the losses; None: nothing is."""
        if lib.caucus_plan_bound_kind(self._plan) == lib.CAUCUS_BOUND_NONE:
            return None
        return float(lib.caucus_plan_bound(self._plan))

    @property
    def bound_kind(self) -> str | None:
        """How the bound is to be read: it holds with "probability" 1 - rho, or bounds the mean ("expectation")."""
        kinds = {lib.CAUCUS_BOUND_PROBABILITY: "probability", lib.CAUCUS_BOUND_EXPECTATION: "expectation"}
        return kinds.get(lib.caucus_plan_bound_kind(self._plan))


def plan(**settings: Unpack[PlanSettings]) -> Plan:
    """Calibrate a run: noise, budget, regret bound.

    Settings are those of `caucus plan`, with underscores. `trust` must be said, and `losses_are` ("iid", "drifting",
    "realizable", "any" or "adaptive"), which chooses the algorithm, or `algorithm`. What cannot be is refused in the
    program's words (InputError).

    >>> plan(losses_are="iid", clients=500, names=["small", "large"], epsilon=1, trust="coordinator").experts
    2
    """
    named = Named(settings, PlanSettings.__annotations__, "plan")
    ret, error = ffi.new("caucus_plan **"), new_error()
    check(lib.caucus_plan_ask(named.array, named.count, ret, error), error)
    return Plan(ret[0])


def pointer(plan: Plan) -> Any:
    """The caucus_plan itself."""
    return plan._plan


PlanOrPath = Plan | FilePath


def as_plan(given: PlanOrPath) -> Plan:
    """A plan, or that of a file."""
    if isinstance(given, Plan):
        return given
    if isinstance(given, str | os.PathLike):
        return Plan.read(given)
    raise refuse("plan", f"{given!r}: must be a Plan, or the path of its file")
