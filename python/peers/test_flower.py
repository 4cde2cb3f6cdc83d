# SPDX-License-Identifier: Apache-2.0
"""examples/flower: the machines over a Flower federation play what is simulated."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flower import Federation
from flwr.app import ConfigRecord, Context, Error, Message, RecordDict, UserConfig
from flwr.serverapp import Grid
from flwr.supercore.task_identity import TaskIdentity
from numpy.typing import NDArray

import caucus_dp as caucus

APP = Path(__file__).parents[2] / "examples" / "flower"
sys.path.insert(0, str(APP))

from caucus_flower import client_app, server_app  # noqa: E402

CLIENTS, ROUNDS, EXPERTS, SEED = 3, 24, 4, 3
PLANS: dict[str, dict[str, Any]] = {
    "hedge": {"algorithm": "hedge", "interval": 4, "epsilon": 50, "trust": "coordinator"},
    "svt": {"algorithm": "svt", "epsilon": 50, "trust": "coordinator"},
    "stoch": {"algorithm": "stoch", "epsilon": 50, "trust": "coordinator"},
    "few": {"algorithm": "stoch", "epsilon": 50, "evaluate": 2, "trust": "coordinator"},
    "nobody": {"algorithm": "stoch", "epsilon": 50, "trust": "nobody", "message": "vote"},
    "noisy": {"algorithm": "stoch", "epsilon": 50, "trust": "nobody", "message": "laplace-d"},
}


@pytest.fixture(scope="session")
def losses() -> NDArray[np.float64]:
    """Losses of three clients: the first expert is best at first, the third later."""
    draws = np.random.default_rng(7).random((CLIENTS, ROUNDS, EXPERTS))
    draws[:, :5, 0] *= 0.2
    draws[:, 5:, 2] *= 0.1
    return draws


@pytest.fixture(autouse=True)
def task() -> None:
    """Messages are made by a task, which Flower's own programs say."""
    TaskIdentity.run_id = TaskIdentity.node_id = TaskIdentity.task_id = 1


class Here(Grid):  # type: ignore[misc,unused-ignore]
    """A federation in this process: messages go through Flower's own forms, and nodes keep only their contexts."""

    def __init__(self, folder: Path, plan: caucus.Plan, seed: int, node_seed: int | None = None) -> None:
        """A node's seed is the coordinator's, if none is said."""
        self.folder, self.node_seed = folder, seed if node_seed is None else node_seed
        plan.write(folder / "plan.yaml", replace=True)
        self.run_config: UserConfig = {"plan": str(folder / "plan.yaml"), "deadline": 0.0, "out": "", "seed": seed}
        self.contexts = {100 + i: self.context(i) for i in range(1, plan.clients + 1)}
        self.replies: list[Message] = []
        self.lost: set[int] = set()  # nodes that do not answer
        self.twice = False  # every message comes twice

    def context(self, client: int) -> Context:
        """A node's."""
        node: UserConfig = {
            "client": client,
            "plan": str(self.folder / "plan.yaml"),
            "losses": str(self.folder / "losses.npy"),
            "seed": self.node_seed,
        }
        node["played"] = str(self.folder / f"{client}.played")
        return Context(1, 100 + client, node, RecordDict(), self.run_config)

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> list[Message]:
        """Have every node answer."""
        replies = []
        for message in messages:
            node = message.metadata.dst_node_id
            if node in self.lost:
                continue
            for _ in range(2 if self.twice else 1):
                try:
                    reply = client_app.app(message, self.contexts[node])
                except caucus.Error as error:
                    reply = Message(Error(0, str(error)), reply_to=message)
            replies.append(reply)
        self.replies += replies
        return replies

    def get_node_ids(self) -> list[int]:
        """All of them."""
        return list(self.contexts)

    def set_run(self, run: Any) -> None:
        """Not asked for here."""

    @property
    def run(self) -> Any:
        """Not asked for here."""
        return None

    def create_message(self, *_: Any, **__: Any) -> Message:
        """Not asked for here."""
        raise NotImplementedError

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        """Not asked for here."""
        raise NotImplementedError

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        """Not asked for here."""
        raise NotImplementedError


def played(folder: Path) -> list[list[int]]:
    """The experts that each client has played."""
    return [[int(line) for line in (folder / f"{i}.played").read_text().split()] for i in range(1, CLIENTS + 1)]


def expected(plan: caucus.Plan, losses: NDArray[np.float64]) -> tuple[int, int]:
    """What the simulation says: the expert in force at the end, and how often it changed."""
    r = caucus.simulate(plan, losses=losses, trials=1, seed=SEED)
    return int(r.expert[0]), int(r.switches[0])


def judge(folder: Path, plan: caucus.Plan, losses: NDArray[np.float64]) -> None:
    """Every client has played every round, and the experts are those of the simulation."""
    experts = played(folder)
    assert [len(own) for own in experts] == [ROUNDS] * CLIENTS
    assert experts[0] == experts[1] == experts[2]
    assert (experts[0][-1], int(np.count_nonzero(np.diff(experts[0])))) == expected(plan, losses)


@pytest.fixture
def plan_of(tmp_path: Path, losses: NDArray[np.float64]) -> Any:
    """Make a plan by its name, and put the losses where nodes look for them."""
    np.save(tmp_path / "losses.npy", losses)
    return lambda name: caucus.plan(clients=CLIENTS, experts=EXPERTS, rounds=ROUNDS, **PLANS[name])


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("twice", [False, True])
def test_it_plays_what_is_simulated(
    name: str, twice: bool, plan_of: Any, losses: NDArray[np.float64], tmp_path: Path
) -> None:
    """All that a node keeps is its context; a message that comes twice is answered with the same report."""
    plan, grid = plan_of(name), Here(tmp_path, plan_of(name), SEED)
    grid.twice = twice
    out = tmp_path / "out.json"
    grid.run_config["out"] = str(out)
    server_app.main(grid, Context(1, 1, {}, RecordDict(), grid.run_config))
    judge(tmp_path, plan, losses)
    result = json.loads(out.read_text())
    assert result["experts"][-1] == played(tmp_path)[0][-1]


def reports(plan: caucus.Plan, folder: Path, seed: int, node_seed: int, named: bool = True) -> list[bytes]:
    """Everything that the nodes report in a run of its own; not named: nodes have no word of a seed at all."""
    grid = Here(folder, plan, seed, node_seed)
    if not named:
        for context in grid.contexts.values():
            del context.node_config["seed"]
    server_app.main(grid, Context(1, 1, {}, RecordDict(), grid.run_config))
    answers = [reply.content.config_records["answer"] for reply in grid.replies]
    return [bytes(answer["report"]) for answer in answers if "report" in answer]  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, SEED])
@pytest.mark.parametrize("named", [False, True])
def test_without_a_seed_of_its_own_a_node_s_noise_is_real(seed: int, named: bool, plan_of: Any, tmp_path: Path) -> None:
    """The same losses, two runs: the reports are others, whatever seed the coordinator's side says.

    Only the first reports are compared: later ones depend on what was announced.
    """
    seen = [reports(plan_of("noisy"), tmp_path, seed, -1, named) for _ in range(2)]
    assert len(seen[0]) == len(seen[1]) > CLIENTS
    assert seen[0][:CLIENTS] != seen[1][:CLIENTS]
    same = [reports(plan_of("noisy"), tmp_path, SEED, SEED) for _ in range(2)]
    assert same[0] == same[1]


def test_who_may_say_what(plan_of: Any, tmp_path: Path) -> None:
    """A lost state, another plan, a node that is two clients: without a deadline the run ends with the words."""
    plan = plan_of("nobody")
    grid = Here(tmp_path, plan, SEED)
    fleet, coordinator = server_app.Fleet(grid, plan, None), caucus.Coordinator(plan, seed=SEED)
    fleet.ask(coordinator.announcement, coordinator)
    assert coordinator.waiting == 0
    announcement = coordinator.decide()
    grid.contexts[102] = grid.context(2)  # it has forgotten everything
    with pytest.raises(caucus.Error, match="client 2: its state is lost"):
        fleet.ask(announcement, coordinator)
    grid, coordinator = Here(tmp_path, plan, SEED), caucus.Coordinator(plan, seed=SEED)
    grid.contexts[102].node_config["client"] = 1
    with pytest.raises(caucus.Error, match="node 102 says that it is client 1"):
        server_app.Fleet(grid, plan, None).ask(coordinator.announcement, coordinator)
    other = caucus.plan(clients=3, experts=5, rounds=ROUNDS, **PLANS["hedge"])
    with pytest.raises(caucus.Error, match="the coordinator has another plan"):
        server_app.Fleet(grid, other, None).ask(caucus.Coordinator(other).announcement, caucus.Coordinator(other))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"algorithm": "stoch", "rounds": "endless", "pace": "own"}, "its devices have their own pace"),
        ({"algorithm": "stoch", "rounds": "endless", "longest_phase": 8}, "it has no end, and an app has one"),
        ({"algorithm": "stoch", "rounds": ROUNDS, "convex": (1, 1)}, "its losses are convex functions"),
    ],
)
def test_plans_that_are_not_for_it(settings: dict[str, Any], words: str, tmp_path: Path) -> None:
    """Refused before any node is asked; and a node refuses them, too."""
    plan = caucus.plan(clients=CLIENTS, experts=EXPERTS, epsilon=50, trust="coordinator", **settings)
    grid = Here(tmp_path, plan, SEED)
    with pytest.raises(caucus.InputError, match=rf"plan .*plan\.yaml: {words}"):
        server_app.main(grid, Context(1, 1, {}, RecordDict(), grid.run_config))
    assert grid.replies == []
    with pytest.raises(caucus.Error, match=words):
        server_app.Fleet(grid, plan, None).ask(caucus.Coordinator(plan).announcement, caucus.Coordinator(plan))


def test_losses_of_another_shape(plan_of: Any, losses: NDArray[np.float64], tmp_path: Path) -> None:
    """A node that has losses for fewer rounds says so in its first answer."""
    grid = Here(tmp_path, plan_of("hedge"), SEED)
    np.save(tmp_path / "losses.npy", losses[:, :-1])
    with pytest.raises(
        caucus.Error, match=r"losses .*: shape \(3, 23, 4\) — expected 3 clients × 24 rounds × 4 experts"
    ):
        server_app.main(grid, Context(1, 1, {}, RecordDict(), grid.run_config))


def test_with_a_deadline_who_is_missing_is_not_counted(
    plan_of: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run goes on without a node that says nothing, and without one that fails."""
    plan = plan_of("stoch")
    grid = Here(tmp_path, plan, SEED)
    fleet, coordinator = server_app.Fleet(grid, plan, 1.0), caucus.Coordinator(plan, seed=SEED)
    grid.lost = {103}
    grid.contexts[102].node_config["client"] = 1
    assert len(fleet.ask(coordinator.announcement, coordinator)) == 1
    assert coordinator.waiting == 2
    assert "node 102 says that it is client 1" in capsys.readouterr().out
    assert coordinator.decide().serial == 1


def test_answers_that_are_none(plan_of: Any, tmp_path: Path) -> None:
    """Whatever a node sends is an answer or refused."""
    plan = plan_of("hedge")
    grid = Here(tmp_path, plan, SEED)
    fleet, coordinator = server_app.Fleet(grid, plan, None), caucus.Coordinator(plan, seed=SEED)
    good = grid.send_and_receive(
        [
            Message(
                RecordDict(
                    {"announcement": ConfigRecord({"plan": plan.hash, "bytes": coordinator.announcement.to_bytes()})}
                ),
                dst_node_id=101,
                message_type="query",
            )
        ]
    )[0]
    report = bytes(good.content.config_records["answer"]["report"])  # type: ignore[arg-type]
    for said, words in (
        ({}, "an answer that is none"),
        ({"client": 1}, "an answer that is none"),
        ({"client": "1", "round": 1}, "an answer that is none"),
        ({"client": 1, "round": 1, "report": "x"}, "an answer that is none"),
        ({"client": 1, "round": 1, "report": b"x"}, "report: 1 bytes that are none"),
        ({"client": 1, "round": 1, "report": report[:-1]}, "bytes for 4 values"),
        ({"client": 1, "round": 1, "report": report[:4] + b"\x02" + report[5:]}, "brings a report of client 2"),
    ):
        good.content["answer"] = ConfigRecord(said)  # type: ignore[arg-type]
        with pytest.raises(caucus.Error, match=words):
            fleet._count(good, coordinator)
    good.content["answer"] = ConfigRecord({"client": 1, "round": 4, "report": report})
    assert fleet._count(good, coordinator) == 4
    assert coordinator.waiting == 2


def test_a_federation_of_real_processes(plan_of: Any, losses: NDArray[np.float64], tmp_path: Path) -> None:
    """SuperLink and SuperNodes of Flower, over loopback: each client's experts are those of the simulation."""
    plan: caucus.Plan = plan_of("hedge")
    plan.write(tmp_path / "plan.yaml")
    nodes = [
        f'client={i} plan="{tmp_path}/plan.yaml" losses="{tmp_path}/losses.npy" played="{tmp_path}/{i}.played" '
        f"seed={SEED}"
        for i in range(1, CLIENTS + 1)
    ]
    with Federation(tmp_path / "federation", nodes) as federation:
        out = tmp_path / "out.json"
        text = federation.run(APP, f'plan="{tmp_path}/plan.yaml" out="{out}" seed={SEED}', out)
    assert json.loads(text)["plan"] == plan.hash
    judge(tmp_path, plan, losses)
