# SPDX-License-Identifier: Apache-2.0
"""The bare machines: a run of them is the simulation's run."""

from __future__ import annotations

import copy
import gc
import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import caucus_dp as caucus
from conftest import reference


def test_machines_play_what_is_simulated(plan: caucus.Plan, losses: NDArray[np.float64]) -> None:
    """The same seed and losses: the same expert at the end, the same switches, in every seed."""
    for seed in range(1, 6):
        experts = reference(plan, losses, seed)
        r = caucus.simulate(plan, losses=losses, trials=1, seed=seed)
        assert experts[-1] == r.expert[0]
        assert int(np.count_nonzero(np.diff(experts))) == r.switches[0]


def test_state_survives_a_restart_anywhere(plan: caucus.Plan, losses: NDArray[np.float64]) -> None:
    """Saved and restored between any two calls, the reports are the same, noise and all."""
    nobody = caucus.plan(algorithm="stoch", clients=3, experts=4, rounds=40, epsilon=5, trust="nobody")
    coordinator, client = caucus.Coordinator(nobody, seed=4), caucus.Client(nobody, 2, seed=4)
    client.hear(coordinator.announcement)
    client.observe(losses[1, : client.rounds_left].astype(np.float32))
    report = client.report()
    assert report is not None
    again = caucus.Client.restore(nobody, 2, client.save(), key=caucus.Key())
    repeated = again.report()
    assert repeated is not None
    assert np.array_equal(report.values, repeated.values)
    assert again.round == client.round
    assert client.mixture.sum() == pytest.approx(1)
    coordinator.receive(report)
    coordinator.receive(report)  # counted once
    assert coordinator.waiting == 2
    same = caucus.Coordinator.restore(nobody, coordinator.save(), seed=4)
    assert same.announcement == coordinator.announcement
    with pytest.raises(caucus.InputError):
        caucus.Client.restore(plan, 2, client.save())


def test_looks_are_the_simulation_s(losses: NDArray[np.float64]) -> None:
    """What a plan with `show_loss` shows of the losses: the latest first, with its interval, the same as simulated."""
    plan = caucus.plan(
        algorithm="stoch", clients=3, experts=4, rounds=40, epsilon=10, show_loss=2.0, trust="coordinator"
    )
    coordinator = caucus.Coordinator(plan, seed=4)
    clients = [caucus.Client(plan, i, seed=4) for i in (1, 2, 3)]
    assert coordinator.looks == []
    while coordinator.announcement.ask != "nothing":
        for i, client in enumerate(clients):
            client.hear(coordinator.announcement)
            client.observe(losses[i, client.round : client.round + client.rounds_left])
            report = client.report()
            assert report is not None
            coordinator.receive(report)
        coordinator.decide()
    looks = coordinator.looks
    assert [look.phase for look in looks] == sorted((look.phase for look in looks), reverse=True)
    assert looks[0].phase == 5
    assert looks[0].clients == 3
    assert all(0 <= look.low <= look.loss <= look.high <= 1 and look.expert < 4 for look in looks)
    restored = caucus.Coordinator.restore(plan, coordinator.save(), seed=4)
    assert restored.looks == looks


def test_messages_can_be_carried(plan: caucus.Plan, losses: NDArray[np.float64]) -> None:
    """Announcements and reports are values: pickled, or as bytes, they are what they were."""
    client = caucus.Client(plan, 1, seed=1)
    announcement = pickle.loads(pickle.dumps(caucus.Coordinator(plan, seed=1).announcement))
    assert caucus.Announcement.from_bytes(announcement.to_bytes()) == announcement
    listed = replace(announcement, ask="shortlist", listed=(3, 0, (1 << 32) - 1), serial=(1 << 64) - 1)
    assert caucus.Announcement.from_bytes(listed.to_bytes()) == listed
    client.hear(announcement)
    client.hear(announcement)  # heard once
    assert client.rounds_left == 4
    client.observe(losses[0, :4])
    assert client.rounds_left == 0
    report = client.report()
    assert report is not None
    carried = pickle.loads(pickle.dumps(report))
    assert (carried.kind, carried.client, carried.values.dtype) == ("sums", 1, np.int64)
    same = caucus.Report.from_bytes(report.to_bytes())
    assert same.to_bytes() == report.to_bytes()
    assert (same.client, same.kind, same.first, same.block) == (1, "sums", report.first, report.block)
    assert np.array_equal(same.values, report.values)
    for one in (report, carried, same, copy.deepcopy(report), replace(report, values=report.values.copy())):
        with pytest.raises(ValueError, match="read-only"):
            one.values[0] = 7  # what was drawn once is not changed
    own = report.values.copy()
    mine = replace(report, values=own)
    own[0] += 1
    assert mine.values[0] == report.values[0]
    assert client.clips == (0, 0, 0)


def test_bytes_that_are_no_messages(plan: caucus.Plan, losses: NDArray[np.float64]) -> None:
    """Whatever a transport brings is a message or refused: every cut, and every byte changed."""
    client = caucus.Client(plan, 1, seed=1)
    first = caucus.Coordinator(plan, seed=1).announcement
    client.hear(first)
    client.observe(losses[0, :4])
    report = client.report()
    assert report is not None
    for read, whole in (
        (caucus.Announcement.from_bytes, replace(first, listed=(1, 2)).to_bytes()),
        (caucus.Report.from_bytes, report.to_bytes()),
    ):
        for cut in range(len(whole)):
            with pytest.raises(caucus.InputError):
                read(whole[:cut])
        with pytest.raises(caucus.InputError):
            read(whole + b"\0")
        for at in range(len(whole)):
            for change in (1, 0x80, 0xFF):
                altered = whole[:at] + bytes([whole[at] ^ change]) + whole[at + 1 :]
                try:
                    found = read(altered)
                except caucus.InputError as error:
                    assert error.status == "CAUCUS_E_FORMAT"  # noqa: PT017 (either may happen)
                else:
                    assert found.to_bytes() == altered
    with pytest.raises(caucus.InputError, match="at most 8"):
        replace(first, listed=tuple(range(9))).to_bytes()
    with pytest.raises(caucus.InputError, match="announcement -1"):
        replace(first, serial=-1).to_bytes()
    with pytest.raises(caucus.InputError, match="report of client -1"):
        replace(report, client=-1).to_bytes()


def test_what_is_refused(plan: caucus.Plan, losses: NDArray[np.float64]) -> None:
    """A caller's mistakes are exceptions, never the end of the process."""
    coordinator, client = caucus.Coordinator(plan, seed=1), caucus.Client(plan, 1, seed=1)
    with pytest.raises(caucus.Error, match="a call came before"):
        client.observe(losses[0, :1])
    client.hear(coordinator.announcement)
    with pytest.raises(caucus.Error, match="a call came before"):
        client.observe(losses[0, :5])  # the block has four rounds
    with pytest.raises(caucus.InputError, match="expected 4 numbers a round"):
        client.observe(losses[0, 0, :3])
    with pytest.raises(caucus.InputError, match="client 4: must be a client's number, 1 to 3"):
        caucus.Client(plan, 4)
    with pytest.raises(caucus.InputError, match="ask 'dance'"):
        client.hear(replace(coordinator.announcement, ask="dance"))
    with pytest.raises(caucus.InputError, match="at most 8"):
        client.hear(replace(coordinator.announcement, listed=tuple(range(9))))
    with pytest.raises(caucus.Error, match="announcement 7: a call came before"):
        client.hear(replace(coordinator.announcement, serial=7))
    client.observe(losses[0, :4])
    report = client.report()
    assert report is not None
    with pytest.raises(caucus.InputError, match="report of client 9"):
        coordinator.receive(replace(report, client=9))
    with pytest.raises(caucus.InputError, match="report of client 1"):
        coordinator.receive(replace(report, values=report.values[:2]))
    with pytest.raises(caucus.InputError, match="a key was given, too"):
        caucus.Coordinator(plan, seed=1, key=caucus.Key())
    convex = caucus.plan(algorithm="stoch", clients=3, experts=4, rounds=40, convex=(1, 0.5), trust="coordinator")
    with pytest.raises(caucus.InputError, match="convex functions"):
        caucus.Client(convex, 1)


def test_keys() -> None:
    """A key never shows itself."""
    assert not caucus.Key().seeded
    assert caucus.Key(1).derive(0).seeded
    assert "NOT PRIVATE" in repr(caucus.Key(1))
    assert repr(caucus.Key()) == "<caucus key>"


def test_what_is_borrowed_is_freed_last(losses: NDArray[np.float64]) -> None:
    """A plan that nobody has any more, in a circle with what borrows it, is freed after that."""
    for _ in range(50):
        plan = caucus.plan(algorithm="hedge", clients=3, experts=4, rounds=40, epsilon=50, trust="coordinator")
        circle: list[object] = [caucus.Client(plan, 1), caucus.Coordinator(plan), caucus.simulate(plan, trials=1), plan]
        circle.append(circle)
        del plan, circle
        gc.collect()
