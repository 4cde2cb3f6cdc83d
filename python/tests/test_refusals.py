# SPDX-License-Identifier: Apache-2.0
"""What callers get wrong: one line in the program's words, and an InputError, whatever was given."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import resource
import socket
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import caucus_dp as caucus
from caucus_dp._member import Round
from conftest import PATIENCE, Program

ADDRESS = "127.0.0.1:1"
SCORES = np.full((4, 3), 0.5)
api: Any = caucus  # types are for those who look at them first


@pytest.fixture(scope="module")
def nobody() -> caucus.Plan:
    """A plan whose clients add the noise."""
    return caucus.plan(algorithm="stoch", clients=3, experts=4, rounds=40, epsilon=5, trust="nobody")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"client": -1}, "client -1: must be a client's number, from 1"),
        ({"client": 0}, "client 0: must be a client's number, from 1"),
        ({"client": 1 << 24 | 1}, "client 16777217: must be a client's number, from 1"),
        ({"client": 1 << 70}, f"client {1 << 70}: must be a client's number, from 1"),
        ({"client": "1"}, "client '1': must be a client's number, from 1"),
        ({"client": 1.0}, "client 1.0: must be a client's number, from 1"),
        ({"client": True}, "client True: must be a client's number, from 1"),
        ({"client": 4}, "client 4 (the plan has clients 1 to 3)"),
        ({"client": None}, "client is needed with insecure: no certificate says who this is"),
        ({"give_up": math.nan}, "give_up nan: must be seconds, or None: never"),
        ({"give_up": -1}, "give_up -1: must be seconds, or None: never"),
        ({"give_up": "x"}, "give_up 'x': must be seconds, or None: never"),
        ({"tick": -1}, "tick -1: must be milliseconds, at most 60000 (a minute)"),
        ({"tick": 0.5}, "tick 0.5: must be milliseconds, at most 60000 (a minute)"),
        ({"seed": "x"}, "seed 'x': must be a whole number"),
        ({"seed": 1 << 64}, f"seed {1 << 64}: must be a whole number"),
        ({"plan": 3}, "plan 3: must be a Plan, or the path of its file"),
        ({"plan": None}, "plan None: must be a Plan, or the path of its file"),
    ],
)
def test_join(plan: caucus.Plan, settings: dict[str, Any], words: str) -> None:
    """Before anything is dialled."""
    with pytest.raises(caucus.InputError) as caught:
        caucus.join(ADDRESS, **{"plan": plan, "client": 1, "insecure": True, **settings})
    assert str(caught.value) == words
    assert caught.value.field == words.split(" ", maxsplit=1)[0] or caught.value.field == "index"


@pytest.mark.parametrize("budget", [(1,), (1, 2, 3), (), "1", ("1", 0), (1, 1), (-1, 0), math.nan, -1, True, {}])
def test_budget(nobody: caucus.Plan, budget: Any, tmp_path: Path) -> None:
    """One number, or two."""
    words = "must be epsilon, 0 or above, or \\(epsilon, delta\\) with delta from 0 to below 1$"
    with pytest.raises(caucus.InputError, match=f"^budget .*: {words}"):
        caucus.join(
            ADDRESS,
            plan=nobody,
            client=1,
            insecure=True,
            state=tmp_path / "state",
            ledger=tmp_path / "ledger",
            budget=budget,
        )
    assert not (tmp_path / "ledger").exists()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: api.pick(SCORES, epsilon=1, range=(0,)), "range (0,): must be a lower and a higher number"),
        (lambda: api.pick(SCORES, epsilon=1, range="0,1"), "range '0,1': must be a lower and a higher number"),
        (
            lambda: api.pick(SCORES, epsilon=1, range=(0, math.nan)),
            "range (0, nan): must be a lower and a higher number",
        ),
        (lambda: api.pick(SCORES, epsilon="x"), "epsilon 'x': must be above 0, at most 1000"),
        (lambda: api.pick(SCORES, epsilon=math.nan), "epsilon nan: must be above 0, at most 1000"),
        (lambda: api.pick([["a", "b"]], epsilon=1), "scores: could not convert string to float"),
        (lambda: api.pick([[1, 2], [3]], epsilon=1), "scores: setting an array element with a sequence"),
        (lambda: api.laplace(2, scale="1"), "scale '1': must be a number above 0"),
        (lambda: api.laplace(2, scale=np.float32(np.nan)), "scale nan: must be a number above 0"),
        (lambda: api.gaussian(2, scale=None), "scale None: must be a number above 0"),
        (lambda: api.laplace(-1, scale=1), "size -1: must be a whole number, 0 or above, or the shape of an array"),
        (lambda: api.laplace("a", scale=1), "size 'a': must be a whole number"),
        (lambda: api.simulate("nowhere.yaml"), "nowhere.yaml: No such file"),
        (lambda: api.simulate(7), "plan 7: must be a Plan, or the path of its file"),
        (lambda: api.simulate(losses=[["a"]], trust="coordinator"), "losses: could not convert string to float"),
        (lambda: api.Client("nowhere.yaml", 1), "nowhere.yaml: No such file"),
        (lambda: api.Coordinator(None), "plan None: must be a Plan, or the path of its file"),
        (lambda: api.Key(-1), "seed -1: must be a whole number"),
        (lambda: api.Key(2.0), "seed 2.0: must be a whole number"),
    ],
)
def test_calls(call: Callable[[], object], words: str) -> None:
    """Everything else."""
    with pytest.raises(caucus.InputError) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize("index", [0, 4, -1, 1.0, "1", None, 1 << 40])
def test_bare_clients(plan: caucus.Plan, index: Any) -> None:
    """A machine has a place in its plan."""
    with pytest.raises(caucus.InputError, match="must be a client's number, 1 to 3"):
        caucus.Client(plan, index)


@pytest.mark.parametrize(
    ("losses", "words"),
    [
        ({0: None, 1: 0.5}, "losses of expert 0: None is no number"),
        ({"small": "x", "large": 0.5}, "losses of expert 'small': 'x' is no number"),
        ({0: [1.0, 2.0], 1: 0.5}, "losses of expert 0: [1.0, 2.0] is no number"),
        ({0: 10**400, 1: 0.5}, f"losses of expert 0: {10**400} is no number"),
        ({None: 0.5, 1: 0.5}, "losses None: must be an expert's number or name"),
        ({0.0: 0.5, 1: 0.5}, "losses 0.0: must be an expert's number or name"),
        ({True: 0.5, 0: 0.5}, "losses True: must be an expert's number or name"),
        ({"small": 0.5, 0: 0.25, 1: 0.5}, "losses of expert 0 are there twice, by its number and its name"),
        ({0: 0.25, 1: 0.5, "large": 0.5}, "losses of expert 1 are there twice, by its number and its name"),
        ({-1: 0.5, 1: 0.5}, "losses -1: experts are 0 to 1"),
        ({"medium": 0.5}, "losses 'medium': no expert is called so"),
    ],
)
def test_mappings_of_losses(losses: Any, words: str) -> None:
    """From experts, by number or name, to numbers; the round is not over."""
    plan = caucus.plan(algorithm="hedge", clients=3, names=["small", "large"], rounds=40, trust="coordinator")
    with caucus.join(ADDRESS, plan=plan, client=1, insecure=True) as member:
        round = member._current = Round(member, 1, 0, [0, 1])
        with pytest.raises(caucus.InputError) as caught:
            round.observe(losses)
        assert str(caught.value) == words
        assert caught.value.field == "losses"
        assert not round.observed
        good: Any = {np.int64(1): np.float32(0.5), "small": 1}
        assert member._row(round, good) == [1.0, 0.5]


def test_numbers_may_be_numpy_s(plan: caucus.Plan) -> None:
    """Of any width."""
    assert np.array_equal(caucus.laplace(9, scale=np.float32(2), seed=1), caucus.laplace(9, scale=2, seed=1))
    assert np.array_equal(caucus.gaussian(9, scale=np.int64(3), seed=1), caucus.gaussian(9, scale=3, seed=1))
    assert api.pick(SCORES, epsilon=np.float64(1), range=(np.float32(0), np.int8(1)), seed=2) < 3
    assert api.pick(SCORES, epsilon=1, range=np.array([0.0, 1.0]), seed=2) < 3
    assert api.Client(plan, np.int64(2)).index == 2
    with api.join(ADDRESS, plan=plan, client=np.int32(2), insecure=True, give_up=np.float32(1)) as member:
        assert member.index == 2


def test_plans_may_be_files(plan: caucus.Plan, losses: NDArray[np.float64], tmp_path: Path) -> None:
    """Everywhere."""
    file = tmp_path / "plan.yaml"
    plan.write(file)
    assert np.array_equal(
        caucus.simulate(str(file), losses=losses, trials=4).regret,
        caucus.simulate(plan, losses=losses, trials=4).regret,
    )
    assert caucus.Client(file, 1).plan == caucus.Coordinator(file).plan == plan


def test_pick_says_what_it_moved(program: Program, tmp_path: Path) -> None:
    """In the program's words, as a warning: the counts are for the owner of the data."""
    table = np.array([[0.5, math.nan, 2.0], [-1.0, math.nan, 0.5]])
    np.save(tmp_path / "scores.npy", table)
    out = program("pick", str(tmp_path / "scores.npy"), "--epsilon", "1", "--seed", "1")
    with pytest.warns(caucus.OutsideWarning) as said:
        caucus.pick(table, epsilon=1)
    theirs = [line.removeprefix("caucus pick: ") for line in out.stderr.splitlines() if "NOT PRIVATE" not in line]
    assert [str(warning.message) for warning in said] == theirs
    assert {warning.filename for warning in said} == {__file__}
    assert len(theirs) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        caucus.pick(SCORES, epsilon=1)


def test_in_step_or_at_its_own_pace(plan: caucus.Plan) -> None:
    """What a client of the other kind has is refused in words."""
    with caucus.join(ADDRESS, plan=plan, client=1, insecure=True) as member:
        for ask in (
            lambda: member.expert,
            lambda: member.expert_name,
            lambda: member.heard,
            lambda: member.slot(1),
            lambda: member.observe([1, 2, 3, 4]),
            lambda: member.wait(1),
            lambda: member.wait_async(1).send(None),
        ):
            with pytest.raises(caucus.Error, match="this plan's clients are in step: iterate over rounds"):
                ask()


def test_why_there_is_no_connection(plan: caucus.Plan, caplog: pytest.LogCaptureFixture) -> None:
    """The log says so, once, with the program's words; and so does the cause of giving up."""
    with (
        caucus.join(ADDRESS, plan=plan, client=1, insecure=True, give_up=0.7) as member,
        pytest.raises(caucus.Error, match=r"^no coordinator at 127\.0\.0\.1:1 for 0\.7 s$") as caught,
    ):
        next(member)
    assert isinstance(caught.value.__cause__, ConnectionRefusedError)
    said = [record for record in caplog.records if record.name == "caucus_dp"]
    assert [record.levelname for record in said] == ["WARNING"]
    assert said[0].getMessage().startswith("127.0.0.1:1: Connection refused — trying again in 0.")


def test_sockets_have_any_number(plan: caucus.Plan) -> None:
    """select() ends at 1024; a process may have more files open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2048), hard))
    kept: list[int] = []
    try:
        while not kept or kept[-1] < 1100:
            kept.append(os.dup(0))
        with (
            socket.create_server(("127.0.0.1", 0)) as listener,
            caucus.join("{}:{}".format(*listener.getsockname()), plan=plan, client=1, insecure=True) as member,
        ):
            peer: socket.socket | None = None
            listener.setblocking(False)
            end = time.monotonic() + PATIENCE
            while peer is None and time.monotonic() < end:
                assert member._next() is None
                member._dial_or_wait(0.01)
                with contextlib.suppress(BlockingIOError):
                    peer = listener.accept()[0]
            assert peer is not None
            assert member._connection is not None
            assert member._connection.socket.fileno() > 1024
            peer.close()
    finally:
        for descriptor in kept:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_of_several_machines_the_next_one_is_tried(plan: caucus.Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name stands for two, and the first does not answer: its queue is full, so that it drops who comes."""
    with ExitStack() as stack:
        full = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        good = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        for _ in range(3):
            guest = stack.enter_context(socket.socket())
            guest.setblocking(False)
            guest.connect_ex(full.getsockname())
        kind = (socket.AF_INET, socket.SOCK_STREAM, 0, "")
        found = [(*kind, full.getsockname()), (*kind, good.getsockname())]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        monkeypatch.setattr("caucus_dp._connection._NEXT_MS", 20)
        good.setblocking(False)
        peer: socket.socket | None = None
        member = stack.enter_context(caucus.join("name:7400", plan=plan, client=1, insecure=True))
        end = time.monotonic() + PATIENCE
        while peer is None and time.monotonic() < end:
            assert member._next() is None
            member._dial_or_wait(min(member._seconds(), 0.05))
            with contextlib.suppress(BlockingIOError):
                peer = stack.enter_context(good.accept()[0])
        assert peer is not None


def test_leaving_blocks_no_other_task(plan: caucus.Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a farewell is on its way asyncio goes on; here it is under way for ten turns."""
    turns = 0

    async def play() -> int:
        nonlocal turns
        other = asyncio.create_task(count())
        async with caucus.join(ADDRESS, plan=plan, client=1, insecure=True) as member:
            left = iter([True] * 10)
            monkeypatch.setattr(member, "_saying", lambda end: end > 0 and next(left, False))
        seen = turns
        other.cancel()
        return seen

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    assert asyncio.run(play()) >= 10
