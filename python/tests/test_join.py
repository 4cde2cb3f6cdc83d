# SPDX-License-Identifier: Apache-2.0
"""Clients of a live federation, over TLS, beside two clients of the program."""

from __future__ import annotations

import asyncio
import re
import ssl
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import caucus_dp as caucus
from conftest import PATIENCE, Federation, Files, Program, lines_of, played, reference

EXAMPLE = Path(__file__).parents[1] / "examples" / "fleet.py"


@pytest.fixture
def losses_file(losses: NDArray[np.float64], tmp_path: Path) -> Path:
    """The losses as a file."""
    file = tmp_path / "losses.npy"
    np.save(file, losses)
    return file


def play(federation: Federation, losses: NDArray[np.float64], until: int | None = None) -> list[tuple[int, int]]:
    """Client 1, blocking: the rounds it played, with their experts."""
    rounds: list[tuple[int, int]] = []
    state = federation.folder / "1.state"
    with caucus.join(
        federation.address,
        plan=federation.plan_file,
        client=1,
        state=state,
        seed=federation.seed,
        give_up=PATIENCE,
        **federation.files(1),
    ) as member:
        assert member.names is None
        for round in member:
            rounds.append((round.number, round.expert))
            round.observe(losses[0, round.number - 1])
            if round.number == until:
                break
        else:
            assert member.done
    return rounds


async def play_async(federation: Federation, losses: NDArray[np.float64]) -> tuple[list[tuple[int, int]], int]:
    """Client 1 with asyncio, while another task has its turns."""
    turns = 0
    over = asyncio.Event()

    async def other() -> None:
        nonlocal turns
        while not over.is_set():
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    rounds: list[tuple[int, int]] = []
    member = caucus.join(
        [federation.address],
        plan=federation.plan,
        client=1,
        seed=federation.seed,
        give_up=PATIENCE,
        **federation.files(1),
    )
    async with member:
        async for round in member:
            rounds.append((round.number, round.expert))
            round.observe(losses[0, round.number - 1].astype(np.float32).astype(np.float64).tolist())
    over.set()
    await task
    return rounds, turns


def test_live_python_program_and_simulation_play_the_same(
    federation: Federation, losses: NDArray[np.float64], losses_file: Path
) -> None:
    """The same seed, the same losses: every round the same expert, everywhere."""
    others = [federation.program_client(i, losses_file) for i in (2, 3)]
    rounds = play(federation, losses)
    expected = reference(federation.plan, losses, federation.seed)
    assert rounds == list(enumerate(expected, 1))
    assert [played(process) for process in others] == [expected, expected]


def test_asyncio(program: Program, plan: caucus.Plan, losses: NDArray[np.float64], tmp_path: Path) -> None:
    """The same with asyncio, and others have their turns."""
    file = tmp_path / "losses.npy"
    exact = losses.astype(np.float32).astype(np.float64)
    np.save(file, exact)
    federation = Federation(program, tmp_path, plan, seed=5)
    try:
        others = [federation.program_client(i, file) for i in (2, 3)]
        rounds, turns = asyncio.run(play_async(federation, exact))
        assert rounds == list(enumerate(reference(plan, exact, 5), 1))
        assert turns >= plan.rounds
        assert [len(played(process)) for process in others] == [plan.rounds, plan.rounds]
    finally:
        federation.close()


def test_one_state_begun_and_gone_on_with(
    federation: Federation, losses: NDArray[np.float64], losses_file: Path
) -> None:
    """A client that leaves in the middle of a block goes on there; then the program goes on with the same file."""
    others = [federation.program_client(i, losses_file) for i in (2, 3)]
    first = play(federation, losses, until=6)
    second = play(federation, losses, until=19)
    last = played(federation.program_client(1, losses_file))
    expected = reference(federation.plan, losses, federation.seed)
    assert first + second == list(enumerate(expected[:19], 1))
    assert last == expected[19:]
    assert [played(process) for process in others] == [expected, expected]


class Held:
    """A client in a process of its own, which plays a round when it is told to (held_client.py)."""

    def __init__(self, federation: Federation, losses: Path) -> None:
        self.words = [sys.executable, str(Path(__file__).with_name("held_client.py")), str(federation.plan_file)]
        self.words += [federation.address, str(federation.certs), str(federation.folder / "1.state"), str(losses)]
        self.told: list[tuple[int, int]] = []
        self.federation = federation
        self.start()

    def start(self) -> None:
        """Begin, or go on from the state."""
        self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.federation.processes.append(self.process)
        self.lines = lines_of(self.process)

    def hear(self) -> tuple[int, int] | None:
        """The round that it is held at, None if it is done."""
        words = next(self.lines).split()
        if words[0] == "done":
            return None
        self.told.append((int(words[0]), int(words[1])))
        return self.told[-1]

    def go(self) -> None:
        """Let it observe the round."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        """Kill it, wherever it is, and start it again."""
        self.process.kill()
        self.process.wait()
        self.start()


def test_killed_at_random_it_loses_and_doubles_nothing(
    federation: Federation, losses: NDArray[np.float64], losses_file: Path, tmp_path: Path
) -> None:
    """SIGKILL of client and coordinator: the experts of every round, and the client's state at the end, are those of an
    undisturbed run.
    """
    others = [federation.program_client(i, losses_file) for i in (2, 3)]
    client = Held(federation, losses_file)
    kills = np.random.default_rng(13).choice(np.arange(1, 40), size=6, replace=False)
    held, running, server = set(kills[:2]), set(kills[2:4]), set(kills[4:])
    while (at := client.hear()) is not None:
        number = at[0]
        if number in held:  # in the middle of the round
            held.remove(number)
            client.kill()
            continue
        if number in server:
            federation.kill_server()
        client.go()
        if number in running:  # wherever it is by then: it cannot play beyond the next round
            running.remove(number)
            client.kill()
    assert not held
    assert not running
    expected = reference(federation.plan, losses, federation.seed)
    told: dict[int, set[int]] = {}
    for number, expert in client.told:
        told.setdefault(number, set()).add(expert)
    assert told == {number: {expert} for number, expert in enumerate(expected, 1)}
    assert [played(process) for process in others] == [expected, expected]
    calm = Federation(federation.program, tmp_path / "calm", federation.plan, federation.seed)
    try:
        others = [calm.program_client(i, losses_file) for i in (1, 2, 3)]
        assert [played(process) for process in others] == [expected, expected, expected]
    finally:
        calm.close()
    assert (federation.folder / "1.state").read_bytes() == (calm.folder / "1.state").read_bytes()


def test_the_example_joins(federation: Federation, losses: NDArray[np.float64], losses_file: Path) -> None:
    """The second half of the example, beside two clients of the program."""
    others = [federation.program_client(i, losses_file) for i in (2, 3)]
    words = [sys.executable, str(EXAMPLE), "join", str(federation.plan_file), federation.address, "1"]
    words += [str(federation.certs), str(federation.folder / "1.state"), str(losses_file)]
    out = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout.splitlines()
    expected = reference(federation.plan, losses, federation.seed)
    assert out == [f"{number} {expert} None" for number, expert in enumerate(expected, 1)] + ["done 40"]
    assert [played(process) for process in others] == [expected, expected]


def test_the_example_plans(tmp_path: Path) -> None:
    """The first half of the example."""
    out = subprocess.run(
        [sys.executable, str(EXAMPLE), "plan", str(tmp_path / "plan.yaml")], capture_output=True, text=True, check=True
    )
    assert "distilled (1)" in out.stdout
    assert "most often 1" in out.stdout
    assert caucus.Plan.read(tmp_path / "plan.yaml").names == ["small", "distilled", "large", "huge"]
    words = [sys.executable, str(EXAMPLE), "bare", str(tmp_path / "plan.yaml")]
    out = subprocess.run(words, capture_output=True, text=True, check=True)
    assert re.fullmatch(r"picked 1\nnoise \[.*\] \[.*\]\nthen expert [0-3]\n", out.stdout)


def test_only_some_experts_are_evaluated(
    program: Program, losses: NDArray[np.float64], losses_file: Path, tmp_path: Path
) -> None:
    """Of a plan with `evaluate` a round says whose losses it wants; with them the run is that of the program."""
    plan = caucus.plan(
        algorithm="stoch",
        clients=3,
        names=["a", "b", "c", "d"],
        rounds=40,
        epsilon=50,
        evaluate=2,
        trust="coordinator",
    )
    federation = Federation(program, tmp_path, plan, seed=9)
    try:
        others = [federation.program_client(i, losses_file) for i in (2, 3)]
        experts: list[int] = []
        wanted: set[tuple[int, ...]] = set()
        with caucus.join(
            federation.address, plan=plan, client=1, seed=9, give_up=PATIENCE, **federation.files(1)
        ) as me:
            for round in me:
                row = losses[0, round.number - 1]
                experts.append(round.expert)
                wanted.add(tuple(round.evaluate))
                if round.number == 1:
                    unwanted = {expert: 0.5 for expert in range(4) if expert not in round.evaluate}
                    with pytest.raises(caucus.InputError, match=r"are missing: each of round\.evaluate needs one"):
                        round.observe(unwanted)
                if round.number % 3 == 0:
                    round.observe(row[round.evaluate])
                elif round.number % 3 == 1:
                    round.observe({"abcd"[expert]: row[expert] for expert in round.evaluate})
                else:
                    round.observe({expert: row[expert] for expert in round.evaluate})
        told = [process.communicate(timeout=PATIENCE)[0] for process in others]
    finally:
        federation.close()
    assert all(len(which) == 2 for which in wanted)
    assert len(wanted) > 1
    assert [[int(line.split()[0]) for line in out.splitlines()] for out in told] == [experts, experts]
    r = caucus.simulate(plan, losses=losses, trials=1, seed=9)
    assert experts[-1] == r.expert[0]
    assert int(np.count_nonzero(np.diff(experts))) == r.switches[0]


def test_rounds_must_be_observed(federation: Federation, losses: NDArray[np.float64], losses_file: Path) -> None:
    """What a loop can get wrong, while two others wait."""
    others = [federation.program_client(i, losses_file) for i in (2, 3)]
    files = federation.files(1)
    with caucus.join(federation.address, plan=federation.plan, client=1, seed=federation.seed, **files) as member:
        round = next(member)
        assert repr(round) == f"<round 1: expert {round.expert}>"
        with pytest.raises(caucus.Error, match="round 1: observe its losses before the next"):
            next(member)
        for bad, words in (
            ({0: 1.0}, "losses of experts 1, 2, 3 are missing"),
            ({9: 1.0}, "losses 9: experts are 0 to 3"),
            ({"a": 1.0}, "losses 'a': no expert is called so"),
            ([1.0, 2.0], "expected 4 numbers a round"),
            (losses[0, :2], "2 rounds — expected those of one"),
        ):
            with pytest.raises(caucus.InputError, match=words):
                round.observe(bad)
        round.observe(losses[0, 0])
        with pytest.raises(caucus.Error, match="observed before"):
            round.observe(losses[0, 0])
        for each in member:
            each.observe(losses[0, each.number - 1])
        assert member.counts["reports"] > 0
        inside = (member.round, member.done, member.counts["reports"])
    assert (member.round, member.done, member.counts["reports"]) == inside == (40, True, inside[2])
    with pytest.raises(caucus.Error, match="has left"):
        next(member)
    assert [len(played(process)) for process in others] == [40, 40]


def test_losses_outside_their_range_are_counted_aloud(
    federation: Federation, losses: NDArray[np.float64], losses_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """In the words that the program ends with."""
    others = [federation.program_client(i, losses_file) for i in (2, 3)]
    with caucus.join(federation.address, plan=federation.plan, seed=federation.seed, **federation.files(1)) as member:
        for round in member:
            row = losses[0, round.number - 1].copy()
            if round.number in (3, 5):
                row[:2] = [-1, 2]
            if round.number == 7:
                row[3] = np.nan
            round.observe(row)
    assert [len(played(process)) for process in others] == [40, 40]
    said = [record.getMessage() for record in caplog.records]
    assert said[-2:] == [
        "4 losses were outside [0, 1] and were moved to its border",
        "1 losses were not numbers and counted as 1, the worst",
    ]


def test_who_is_refused(federation: Federation, tmp_path: Path, plan: caucus.Plan) -> None:
    """Refused for good is an exception of its own, with the coordinator's words."""
    other = caucus.plan(algorithm="hedge", clients=3, experts=4, rounds=44, trust="coordinator")
    with (
        caucus.join(federation.address, plan=other, client=1, give_up=PATIENCE, **federation.files(1)) as member,
        pytest.raises(caucus.RefusedError, match="plan") as caught,
    ):
        next(member)
    assert caught.value.status == "CAUCUS_E_MISMATCH"
    with pytest.raises(caucus.InputError, match=r"client 2: the certificate .*client-1\.pem is that of client 1"):
        caucus.join(federation.address, plan=plan, client=2, give_up=PATIENCE, **federation.files(1))
    strangers = tmp_path / "strangers"
    assert federation.program("certify", str(strangers), "--clients", "3").returncode == 0
    files: Files = {
        "cert": str(strangers / "client-1.pem"),
        "key": str(strangers / "client-1.key"),
        "ca": str(federation.certs / "ca.pem"),
    }
    with (
        caucus.join(federation.address, plan=plan, client=1, give_up=PATIENCE, **files) as member,
        pytest.raises(caucus.RefusedError, match="does not accept this client's certificate"),
    ):
        next(member)


def test_an_unknown_coordinator_hears_nothing(
    federation: Federation, tmp_path: Path, plan: caucus.Plan, caplog: pytest.LogCaptureFixture
) -> None:
    """A coordinator that another authority signed may be mended: the client comes again until it gives up."""
    strangers = tmp_path / "strangers"
    assert federation.program("certify", str(strangers), "--clients", "3").returncode == 0
    files: Files = {**federation.files(1), "ca": str(strangers / "ca.pem")}
    with (
        caucus.join(federation.address, plan=plan, client=1, give_up=0.5, **files) as member,
        pytest.raises(caucus.Error, match=r"no coordinator at 127\.0\.0\.1:\d+ for 0.5 s") as caught,
    ):
        next(member)
    assert isinstance(caught.value.__cause__, ssl.SSLCertVerificationError)
    assert "TLS: certificate: " in caplog.text
    assert "trying again in" in caplog.text


def test_one_state_one_process(federation: Federation, plan: caucus.Plan, tmp_path: Path) -> None:
    """Two clients that go on from one state would draw noise twice."""
    state = tmp_path / "one.state"
    files = federation.files(1)
    with (
        caucus.join(federation.address, plan=plan, client=1, state=state, **files),
        pytest.raises(caucus.Error, match="another process uses it") as caught,
    ):
        caucus.join(federation.address, plan=plan, client=1, state=state, **files)
    assert caught.value.status == "CAUCUS_E_BUSY"
    caucus.join(federation.address, plan=plan, client=1, state=state, **files).leave()
    with pytest.raises(caucus.InputError, match=r"one\.state: .*client"):
        caucus.join(federation.address, plan=plan, client=2, state=state, **federation.files(2))


def test_what_join_refuses(plan: caucus.Plan, tmp_path: Path) -> None:
    """Before anything is dialled."""
    for connect, settings, words in (
        ("host", {"insecure": True}, "connect host — write HOST:PORT"),
        ("::1:7400", {"insecure": True}, "write HOST:PORT"),
        ("a:99999", {"insecure": True}, "write HOST:PORT"),
        ("127.0.0.1:1", {}, "cert is needed"),
        ("127.0.0.1:1", {"cert": "a", "key": "b"}, "ca is needed"),
        ("127.0.0.1:1", {"cert": "a", "key": "b", "ca": "c"}, "cert a: cannot be read: No such file"),
        ("127.0.0.1:1", {"cert": "a", "insecure": True}, "insecure uses no certificates"),
        ("127.0.0.1:1", {"insecure": True, "client": 4}, "client|index"),
        ("127.0.0.1:1", {"insecure": True, "new_device": True}, "new_device is for plans that trust nobody"),
        ("127.0.0.1:1", {"insecure": True, "plan": tmp_path / "none"}, "No such file"),
    ):
        with pytest.raises(caucus.InputError, match=words):
            caucus.join(connect, **{"plan": plan, "client": 1, **settings})  # type: ignore[arg-type]
    nobody = caucus.plan(algorithm="stoch", clients=3, experts=4, rounds=40, epsilon=5, trust="nobody")
    with pytest.raises(caucus.InputError, match="state is needed where clients add the noise"):
        caucus.join("127.0.0.1:1", plan=nobody, client=1, insecure=True)
    with (
        caucus.join("192.0.2.1:7400", plan=plan, client=1, insecure=True) as member,
        pytest.raises(caucus.InputError, match="is not this machine"),
    ):
        next(member)


def test_a_device_at_its_own_pace(program: Program, losses: NDArray[np.float64], tmp_path: Path) -> None:
    """Three devices with a seed, whose slots the test gives: after each slot the expert of the bare machines."""
    plan = caucus.plan(
        algorithm="stoch",
        clients=3,
        experts=4,
        rounds="endless",
        pace="own",
        unit="client-block",
        epsilon=20,
        trust="coordinator",
    )
    slots, rows = 9, 4
    coordinator = caucus.Coordinator(plan, seed=6)
    clients = [caucus.Client(plan, i, seed=6) for i in (1, 2, 3)]
    federation = Federation(program, tmp_path, plan, seed=6)
    with ExitStack() as stack:
        stack.callback(federation.close)
        devices: list[caucus.Device] = []
        for i in (1, 2, 3):
            state = tmp_path / "1.state" if i == 1 else None
            member = caucus.join(
                federation.address, plan=plan, client=i, state=state, seed=6, give_up=PATIENCE, **federation.files(i)
            )
            assert isinstance(member, caucus.Device)
            devices.append(stack.enter_context(member))
        assert devices[0].expert is None
        with pytest.raises(caucus.Error, match="nothing was announced"):
            devices[0].observe(losses[0, 0])
        with pytest.raises(caucus.Error, match="no rounds"):
            next(devices[0])
        experts = []
        for slot in range(slots + 1):
            announced = coordinator.announcement
            while any(device.heard <= announced.serial for device in devices):
                for device in devices:
                    device.wait(0.01)
            assert [device.expert for device in devices] == [announced.expert] * 3
            experts.append(announced.expert)
            if slot == 0:
                for first in (0, 1):
                    for client in clients:
                        client.slot(first)
                    for device in devices:
                        device.slot(first)
            for i, (client, device) in enumerate(zip(clients, devices, strict=True)):
                client.hear(announced)
                client.acknowledge(slot + 1)
                seen = losses[i, slot * rows : slot * rows + (rows if (slot + i) % 3 else 0)]
                if len(seen):
                    client.observe(seen)
                    device.observe(seen[:-1])
                    device.observe(dict(enumerate(seen[-1])))
                client.slot(slot + 2)
                device.slot(slot + 2)
                report = client.report()
                assert report is not None
                coordinator.receive(report)
            coordinator.decide()
        assert len(set(experts)) > 1
        assert devices[0].round == sum(rows for slot in range(slots + 1) if slot % 3)
        devices[0].leave()
        with pytest.raises(caucus.Error, match="has left"):
            devices[0].wait()
    again = caucus.join("127.0.0.1:1", plan=plan, client=1, state=tmp_path / "1.state", seed=6, insecure=True)
    assert isinstance(again, caucus.Device)
    with again:
        assert again.round == sum(rows for slot in range(slots + 1) if slot % 3)


def test_a_device_s_slots_are_its_clock_s(tmp_path: Path) -> None:
    """Without a seed nobody says which slot it is; and no state is needed, whoever adds the noise."""
    plan = caucus.plan(algorithm="stoch", clients=3, experts=4, rounds="endless", pace="own", epsilon=2, trust="nobody")
    with caucus.join("127.0.0.1:1", plan=plan, client=1, insecure=True) as device:
        assert isinstance(device, caucus.Device)
        with pytest.raises(caucus.InputError, match="slot"):
            device.slot(3)
        assert not device.wait(0)
        assert not asyncio.run(device.wait_async(0.01))
        assert device.expert is None
        assert device.heard == 0


def test_the_example_of_a_device(program: Program, tmp_path: Path) -> None:
    """Three devices that come when they like: each has an expert, observes, and leaves."""
    plan = caucus.plan(
        algorithm="stoch", clients=3, names=["a", "b"], rounds="endless", pace="own", epsilon=2, trust="coordinator"
    )
    federation = Federation(program, tmp_path, plan, seed=6)
    try:
        words = [sys.executable, str(EXAMPLE.with_name("device.py")), str(federation.plan_file), federation.address]
        calls = [[*words, i, str(federation.certs), str(tmp_path / f"{i}.state"), "9"] for i in ("1", "2", "3")]
        devices = [subprocess.Popen(call, stdout=subprocess.PIPE, text=True) for call in calls]
        federation.processes += devices
        said = [device.communicate(timeout=PATIENCE)[0] for device in devices]
        assert [re.fullmatch(r"(expert [01] [ab]\n)+observed (9|1[01])\n", out) is not None for out in said] == [
            True
        ] * 3
        again = subprocess.run(calls[0], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        assert again == said[0].splitlines(keepends=True)[-1]  # it has observed so many before
    finally:
        federation.close()
