# SPDX-License-Identifier: Apache-2.0
"""What a device keeps for itself where nobody is trusted: its ledger, and when its reports leave."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import caucus_dp as caucus
from caucus_dp import _link
from conftest import PATIENCE, Federation, Program, played, reference


@pytest.fixture(scope="module")
def nobody() -> caucus.Plan:
    """A plan whose clients add the noise."""
    return caucus.plan(algorithm="stoch", clients=3, experts=4, rounds=40, epsilon=5, trust="nobody")


def begin(plan: caucus.Plan, folder: Path, name: str, **settings: Any) -> caucus.Member:
    """A client that reaches nobody."""
    return caucus.join("127.0.0.1:1", plan=plan, client=1, insecure=True, state=folder / name, **settings)


def runs(ledger: Path) -> list[str]:
    """The entries of runs."""
    return [line for line in ledger.read_text().splitlines() if "join 1 #" in line]


def test_a_run_is_reserved_once_for_each_state(
    program: Program, nobody: caucus.Plan, losses: NDArray[np.float64], tmp_path: Path
) -> None:
    """As `caucus join --ledger` does it, in the same file; what does not fit is refused for good."""
    ledger = tmp_path / "mine.ledger"
    with pytest.raises(caucus.InputError, match=r"ledger .*mine\.ledger: No such file.*budget"):
        begin(nobody, tmp_path, "a", ledger=ledger)
    begin(nobody, tmp_path, "a", ledger=ledger, budget=(12, 0.0)).leave()
    assert len(runs(ledger)) == 1
    begin(nobody, tmp_path, "a", ledger=ledger).leave()
    begin(nobody, tmp_path, "a", ledger=ledger, budget=12).leave()
    assert len(runs(ledger)) == 1
    words = ["join", "--connect", "127.0.0.1:1", "--plan", str(tmp_path / "plan.yaml"), "--insecure", "--client", "1"]
    words += ["--give-up", "0.1", "--losses", str(tmp_path / "l.npy"), "--ledger", str(ledger), "--state"]
    np.save(tmp_path / "l.npy", losses)
    nobody.write(tmp_path / "plan.yaml")
    program(*words, str(tmp_path / "a"))  # finds its entry
    assert len(runs(ledger)) == 1
    assert program(*words, str(tmp_path / "b")).returncode == 1  # makes one, and finds no coordinator
    assert len(runs(ledger)) == 2
    refused = program(*words, str(tmp_path / "c"))
    with pytest.raises(caucus.RefusedError, match="the budget does not allow this run") as caught:
        begin(nobody, tmp_path, "d", ledger=ledger)
    assert refused.returncode == 3
    assert caught.value.status == "CAUCUS_E_BUDGET"
    assert refused.stderr.splitlines()[-1] == f"caucus join: --{caught.value}"
    with pytest.raises(caucus.InputError, match="budget") as other:
        begin(nobody, tmp_path, "a", ledger=ledger, budget=13)
    assert other.value.status == "CAUCUS_E_CONFLICT"
    begin(nobody, tmp_path, "a", ledger=tmp_path / "free.ledger", budget=math.inf).leave()
    assert len(runs(tmp_path / "free.ledger")) == 1


def test_what_is_refused(nobody: caucus.Plan, plan: caucus.Plan, tmp_path: Path) -> None:
    """Before a file is touched."""
    for settings, words in (
        ({"budget": 3}, "budget 3: is of a ledger"),
        ({"ledger": "l", "budget": -1}, "budget -1: must be epsilon"),
        ({"ledger": "l", "budget": math.nan}, "budget nan: must be epsilon"),
        ({"ledger": "l", "budget": (1, 1)}, r"budget \(1, 1\): must be epsilon"),
        (
            {"ledger": "l", "budget": 1, "plan": plan},
            "ledger l: the plan trusts the coordinator, which keeps the budget",
        ),
        ({"ledger": "l", "budget": 1, "state": None}, "state is needed"),
        ({"ledger": "l", "budget": 1, "state": None, "seed": 1}, "ledger l: needs state: a run is reserved once"),
        ({"tick": -1}, "tick -1: must be milliseconds, at most 60000"),
        ({"tick": 60_001}, "tick 60001: must be milliseconds"),
        ({"tick": 5, "plan": plan}, "tick 5: goes with trust nobody"),
    ):
        given: dict[str, Any] = {"plan": nobody, "state": tmp_path / "x", **settings}
        with pytest.raises(caucus.InputError, match=words):
            caucus.join("127.0.0.1:1", client=1, insecure=True, **given)
    assert list(tmp_path.iterdir()) == []


def test_bytes_leave_on_ticks(nobody: caucus.Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is to be sent waits for the first multiple after it was there, and a farewell for none."""
    now = 1010
    monkeypatch.setattr(_link, "now_ms", lambda: now)
    member = begin(nobody, tmp_path, "a", tick=250)
    link = member._link
    assert link.next_address() == "127.0.0.1:1"
    link.connected()
    assert link.to_send() == b""
    assert link.wait_seconds == pytest.approx(0.24)
    now = 1249
    assert link.to_send() == b""
    now = 1250
    hello = link.to_send()
    assert hello
    link.sent(len(hello))
    assert link.to_send() == b""
    link.leave("stopped")
    assert link.to_send()
    member.leave()


def test_a_run_with_ticks_is_the_run_without(
    program: Program, nobody: caucus.Plan, losses: NDArray[np.float64], tmp_path: Path
) -> None:
    """Ticks and ledgers change no expert."""
    np.save(tmp_path / "losses.npy", losses)
    federation = Federation(program, tmp_path, nobody, seed=4)
    try:
        others = [federation.program_client(i, tmp_path / "losses.npy") for i in (2, 3)]
        experts = []
        with caucus.join(
            federation.address,
            plan=nobody,
            client=1,
            seed=4,
            tick=7,
            state=tmp_path / "1.state",
            ledger=tmp_path / "1.ledger",
            budget=6,
            give_up=PATIENCE,
            **federation.files(1),
        ) as me:
            for round in me:
                experts.append(round.expert)
                round.observe(losses[0, round.number - 1])
        assert me.done
        assert [played(process) for process in others] == [experts, experts]
    finally:
        federation.close()
    assert experts == reference(nobody, losses, 4)
    assert [line.split("\t")[4] for line in runs(tmp_path / "1.ledger")] == ["seeded"]
