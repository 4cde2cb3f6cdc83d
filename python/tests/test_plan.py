# SPDX-License-Identifier: Apache-2.0
"""Plans: what they say is what the program says."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import math
import pickle
import typing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import caucus_dp as caucus
from conftest import Program

WORDS = ["--algorithm", "svt", "--clients", "5", "--names", "small,distilled,large", "--rounds", "50", "--epsilon", "2"]
SETTINGS: dict[str, Any] = {
    "algorithm": "svt",
    "clients": 5,
    "names": ["small", "distilled", "large"],
    "rounds": 50,
    "epsilon": 2,
    "trust": "coordinator",
}


@pytest.fixture(scope="module")
def small() -> caucus.Plan:
    """A plan with names."""
    return caucus.plan(**SETTINGS)


def test_text_explanation_and_file_are_those_of_the_program(
    program: Program, small: caucus.Plan, tmp_path: Path
) -> None:
    """Every text is the program's, byte for byte."""
    file = tmp_path / "plan.yaml"
    out = program("plan", *WORDS, "--trust", "coordinator", "--explain", "--write", str(file))
    assert out.returncode == 0, out.stderr
    assert out.stdout == repr(small) + "\n" + small.explain()
    assert file.read_text() == small.to_yaml()
    assert small.hash in out.stderr
    shown = program("plan", str(file), "--format", "json")
    assert json.loads(shown.stdout) == small.to_dict()
    assert caucus.Plan.read(file) == small
    *screen, last = program("plan", *WORDS, "--trust", "coordinator").stdout.splitlines()
    assert screen == repr(small).splitlines()
    assert last.split()[0] == "Next"  # a command to type, which is of no use here


def test_figures(small: caucus.Plan) -> None:
    """What a plan is asked by name."""
    assert (small.clients, small.experts, small.rounds) == (5, 3, 50)
    assert small.names == ["small", "distilled", "large"]
    assert small.federation is None
    assert small.epsilon_choices == pytest.approx(2)
    assert small.epsilon_messages is None
    assert small.epsilon_device >= small.epsilon_choices
    assert small.delta == 0
    assert small.bound is not None
    assert small.bound_kind == "probability"
    assert 0 < small.bound <= 50
    assert "epsilon 2" in small.note


def test_no_bound_and_no_privacy() -> None:
    """The reference without privacy."""
    leader = caucus.plan(algorithm="leader", clients=2, experts=3, rounds=5, trust="coordinator", epsilon=math.inf)
    assert leader.bound is None
    assert leader.bound_kind is None
    assert leader.epsilon_choices == math.inf


def test_from_text_and_back(small: caucus.Plan, tmp_path: Path) -> None:
    """A plan survives its text, a pickle and a file."""
    assert caucus.Plan.from_yaml(small.to_yaml()) == small
    assert pickle.loads(pickle.dumps(small)).hash == small.hash
    small.write(tmp_path / "a.yaml")
    small.write(tmp_path / "a.yaml")  # the same bytes
    other = caucus.plan(**{**SETTINGS, "rounds": 51})
    assert other != small
    with pytest.raises(caucus.InputError, match="holds something else — say replace=True"):
        other.write(tmp_path / "a.yaml")
    other.write(tmp_path / "a.yaml", replace=True)
    assert caucus.Plan.read(tmp_path / "a.yaml") == other


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"epsilon": 0}, ["--epsilon", "0"]),
        ({"algorithm": "svd"}, ["--algorithm", "svd"]),
        ({"trees": 3}, ["--trees", "3"]),
        ({"clients": 2.5}, ["--clients", "2.5"]),
        ({"range": (1, 0)}, ["--range", "1,0"]),
        ({"grid": 0}, ["--grid", "0"]),
        ({"convex": (1, 0)}, ["--convex", "1,0"]),
        ({"federation": "a,b"}, ["--federation", "a,b"]),
        ({"names": ["a", "a"]}, ["--names", "a,a"]),
        ({"names": ["a", "b"], "experts": 3}, ["--names", "a,b", "--experts", "3"]),
        ({"past_phases": True}, ["--past-phases"]),
        ({"delta": 0.5}, ["--delta", "0.5"]),
        ({"epsilon": 1e-9}, ["--epsilon", "1e-09"]),
    ],
)
def test_bad_input_gets_the_words_of_the_program(program: Program, settings: dict[str, Any], words: list[str]) -> None:
    """The same line, but for what a setting is called."""
    with pytest.raises(caucus.InputError) as caught:
        caucus.plan(**{"algorithm": "svt", "trust": "coordinator", **settings})
    if "--algorithm" not in words:
        words = ["--algorithm", "svt", *words]
    refused = program("plan", "--trust", "coordinator", *words)
    assert refused.returncode == 2
    line = refused.stderr.removeprefix("caucus plan: --").rstrip("\n")
    assert str(caught.value) == line.replace("past-phases", "past_phases", 1)
    assert caught.value.field == next(iter(settings))


def test_what_losses_are_chooses_the_algorithm(program: Program) -> None:
    """As `caucus plan` chooses it; neither it nor an algorithm is refused in the program's words."""
    sizes: dict[str, Any] = {"clients": 5, "experts": 4, "rounds": 50, "trust": "coordinator"}
    words = ["--clients", "5", "--experts", "4", "--rounds", "50", "--trust", "coordinator", "--format", "json"]
    chosen = {"iid": "stoch", "drifting": "stoch", "realizable": "svt", "any": "hedge", "adaptive": "hedge"}
    for kind, algorithm in chosen.items():
        made = caucus.plan(losses_are=kind, **sizes)
        assert made.to_dict()["settings"]["algorithm"] == algorithm
        assert made.hash == json.loads(program("plan", "--losses-are", kind, *words).stdout)["plan"]
    with pytest.raises(caucus.InputError) as caught:
        caucus.plan(trust="coordinator")
    line = program("plan", "--trust", "coordinator").stderr.removeprefix("caucus plan: --").rstrip("\n")
    assert str(caught.value) == line.replace("losses-are", "losses_are").replace("--algorithm", "'algorithm'")


def test_advice_is_the_programs(program: Program, tmp_path: Path) -> None:
    """On one's own losses: the same candidates, premises and figures, from an array and from a file."""
    rng = np.random.default_rng(3)
    losses = (rng.random((6, 64, 4)) < [0.1, 0.3, 0.4, 0.5]).astype(np.float32)
    np.save(tmp_path / "mine.npy", losses)
    made = caucus.plan(losses_are="iid", clients=6, experts=4, rounds=64, epsilon=5, trust="coordinator")
    advice = made.recommend(losses=losses)
    words = ["--clients", "6", "--experts", "4", "--rounds", "64", "--epsilon", "5", "--trust", "coordinator"]
    said = program("plan", "--recommend", "--losses", str(tmp_path / "mine.npy"), *words, "--format", "json")
    assert advice.to_dict() == json.loads(said.stdout)
    assert len(advice.taken) == 1
    assert advice.to_dict()["situations"][0]["history"]["realizable"] is False
    assert "NOT PRIVATE" in repr(advice)
    assert len(made.recommend(losses_are="iid").taken) == 1
    with pytest.raises(caucus.InputError, match="did you mean drifting"):
        made.recommend(losses_are="drifing")
    with pytest.raises(caucus.InputError, match="losses"):
        made.recommend(losses=losses, losses_are="iid")
    with pytest.raises(caucus.InputError, match="not 4 experts"):
        made.recommend(losses=losses[:, :, :3])


def test_what_the_binding_refuses() -> None:
    """Words that the program cannot be given."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'losses'"):
        caucus.plan(losses="iid", trust="coordinator")  # type: ignore[call-arg]
    with pytest.raises(caucus.InputError, match="trust is missing: whom do the clients trust"):
        caucus.plan(losses_are="iid")
    with pytest.raises(caucus.InputError, match="must be a number or a word"):
        caucus.plan(algorithm="svt", epsilon=object(), trust="coordinator")  # type: ignore[arg-type]
    with pytest.raises(caucus.InputError, match="has a comma"):
        caucus.plan(algorithm="svt", names=["a,b", "c"], trust="coordinator")
    with pytest.raises(caucus.InputError, match="zero character"):
        caucus.plan(algorithm="svt", names=["a\0b", "c"], trust="coordinator")
    with pytest.raises(caucus.InputError, match="No such file"):
        caucus.Plan.read("nowhere.yaml")
    with pytest.raises(caucus.InputError):
        caucus.Plan.from_yaml("caucus-plan: 1\n")


def test_errors_survive_a_pickle() -> None:
    """Errors cross processes with their parts."""
    with pytest.raises(caucus.InputError) as caught:
        caucus.plan(algorithm="svt", epsilon=0, trust="coordinator")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.status, again.field) == (str(caught.value), "CAUCUS_E_RANGE", "epsilon")
    assert isinstance(again, ValueError)


@pytest.mark.parametrize("module", ["_plan", "_simulate"])
def test_examples_in_the_words(module: str) -> None:
    """What docstrings show is so."""
    results = doctest.testmod(importlib.import_module(f"caucus_dp.{module}"))
    assert results.attempted > 0
    assert results.failed == 0


def test_what_kind_of_run_it_is() -> None:
    """In step or not, with an end or without, numbers or functions."""
    common: dict[str, Any] = {"algorithm": "stoch", "clients": 3, "experts": 4, "epsilon": 5, "trust": "coordinator"}
    plain, endless = caucus.plan(rounds=40, **common), caucus.plan(rounds="endless", longest_phase=8, **common)
    own = caucus.plan(rounds="endless", pace="own", **common)
    convex = caucus.plan(rounds=40, convex=(1, 1), **common)
    assert [(p.endless, p.pace, p.convex) for p in (plain, endless, own, convex)] == [
        (False, "together", False),
        (True, "together", False),
        (True, "own", False),
        (False, "together", True),
    ]


def test_types_can_be_asked_for() -> None:
    """Of everything that is public, at run time, as tools do that make forms or documentation of it."""
    for name in caucus.__all__:
        thing = getattr(caucus, name)
        assert isinstance(typing.get_type_hints(thing), dict)
        for member in vars(thing).values() if isinstance(thing, type) else ():
            function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if inspect.isfunction(function):
                typing.get_type_hints(function)
    assert "return" in typing.get_type_hints(caucus.plan)
    assert {"plan", "losses", "progress", "settings"} <= set(typing.get_type_hints(caucus.simulate))
