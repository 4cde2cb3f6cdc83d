# SPDX-License-Identifier: Apache-2.0
"""Convex losses, known by their gradients: bare machines, and a live federation of clients in Python."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import caucus_dp as caucus
from conftest import CLIENTS, EXPERTS, PATIENCE, ROUNDS, Federation, Program

Mixtures = list[list[float]]


@pytest.fixture(scope="module")
def convex() -> caucus.Plan:
    """A plan for losses of three clients with gradients up to 1 and smoothness 1."""
    return caucus.plan(
        algorithm="stoch",
        clients=CLIENTS,
        experts=EXPERTS,
        rounds=ROUNDS,
        epsilon=20,
        convex=(1, 1),
        trust="coordinator",
    )


def gradient_of(client: int) -> caucus.Gradient:
    """Half the squared distance from a point near the third corner, a little different in every round."""
    centre: NDArray[np.float64] = np.random.default_rng(client).random((ROUNDS, EXPERTS)) * 0.1
    centre[:, 2] += 0.9

    def gradient(round: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
        assert not x.flags.writeable
        return np.asarray(x - centre[round - 1])

    return gradient


def machines(plan: caucus.Plan, seed: int) -> Mixtures:
    """The mixtures of the first client, round by round, by the bare machines."""
    coordinator = caucus.Coordinator(plan, seed=seed)
    clients = [caucus.Client(plan, i, seed=seed, gradient=gradient_of(i)) for i in range(1, plan.clients + 1)]
    mixtures: Mixtures = []
    while len(mixtures) < plan.rounds:
        for client in clients:
            client.hear(coordinator.announcement)
            left = client.rounds_left
            if client.index == 1:
                mixtures += [client.mixture.tolist()] * left
            client.observe(rounds=left)
            report = client.report()
            if report is not None:
                coordinator.receive(report)
        if len(mixtures) < plan.rounds:
            coordinator.decide()
    return mixtures


async def member(federation: Federation, client: int, gradient: caucus.Gradient, state: Path | None) -> Mixtures:
    """One client; what it plays."""
    mixtures: Mixtures = []
    async with caucus.join(
        federation.address,
        plan=federation.plan,
        client=client,
        seed=federation.seed,
        give_up=PATIENCE,
        state=state,
        gradient=gradient,
        **federation.files(client),
    ) as me:
        async for round in me:
            mixtures.append(round.mixture.tolist())
            round.observe()
            with pytest.raises(caucus.Error, match="observed before"):
                round.mixture  # noqa: B018
    assert me.done
    assert me.round == ROUNDS
    assert me.counts["reports"] > 0
    return mixtures


def test_the_mixture_goes_to_the_corner(convex: caucus.Plan) -> None:
    """With so much epsilon the third expert has most of it in the end."""
    mixtures = machines(convex, seed=2)
    assert mixtures[0] == [0.25] * 4
    assert mixtures[-1][2] == max(mixtures[-1]) > 0.5


def test_live_and_bare_machines_play_the_same(program: Program, convex: caucus.Plan, tmp_path: Path) -> None:
    """A gradient that fails ends its client, keeps nothing and sends nothing: the run goes on as if it had not been."""
    federation = Federation(program, tmp_path, convex, seed=8)
    state, right = tmp_path / "1.state", gradient_of(1)
    failures = 0

    def wrong(round: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
        if round == 9:
            raise OSError("no such picture")
        return np.asarray(right(round, x))

    async def play() -> list[Mixtures]:
        nonlocal failures
        others = [asyncio.create_task(member(federation, i, gradient_of(i), None)) for i in (2, 3)]
        with pytest.raises(caucus.Error, match="the gradient of round 9 has failed: no such picture") as caught:
            await member(federation, 1, wrong, state)
        assert isinstance(caught.value.__cause__, OSError)
        failures += 1
        later = await member_from(federation, state, right)
        return [later, *[await other for other in others]]

    try:
        later, second, third = asyncio.run(play())
    finally:
        federation.close()
    expected = machines(convex, seed=8)
    assert failures == 1
    assert second == third == expected
    assert later == expected[-len(later) :]
    assert len(later) >= ROUNDS - 9


async def member_from(federation: Federation, state: Path, gradient: caucus.Gradient) -> Mixtures:
    """Client 1 from its state on."""
    return await member(federation, 1, gradient, state)


def test_what_is_refused(convex: caucus.Plan, plan: caucus.Plan, losses: NDArray[np.float64]) -> None:
    """Gradients where there are numbers, numbers where there are gradients, and gradients of a wrong size."""
    with pytest.raises(caucus.InputError, match="gradient is needed: the plan's losses are convex functions"):
        caucus.Client(convex, 1)
    with pytest.raises(caucus.InputError, match="gradient is needed"):
        caucus.join("127.0.0.1:1", plan=convex, client=1, insecure=True)
    with pytest.raises(caucus.InputError, match="gradient goes with a plan whose losses are convex"):
        caucus.Client(plan, 1, gradient=gradient_of(1))
    first = caucus.Coordinator(convex, seed=1).announcement
    client = caucus.Client(convex, 1, seed=1, gradient=lambda _round, x: x[1:])
    client.hear(first)
    with pytest.raises(caucus.InputError, match="losses are convex functions in this plan"):
        client.observe(losses[0, 0])
    client.observe(rounds=client.rounds_left)
    with pytest.raises(caucus.Error, match=r"the gradient of round 1 has failed: gradient shape \(3,\)"):
        client.report()
    with pytest.raises(caucus.Error, match="this client is over"):
        client.report()
    with pytest.raises(caucus.Error, match="this client is over"):
        client.save()
    linear = caucus.Client(plan, 1, seed=1)
    linear.hear(caucus.Coordinator(plan, seed=1).announcement)
    with pytest.raises(caucus.InputError, match="losses are missing"):
        linear.observe()


def test_an_interrupt_goes_through(convex: caucus.Plan) -> None:
    """Ctrl-C within a gradient is Ctrl-C."""

    def interrupted(_round: int, _x: NDArray[np.float64]) -> NDArray[np.float64]:
        raise KeyboardInterrupt

    client = caucus.Client(convex, 1, seed=1, gradient=interrupted)
    client.hear(caucus.Coordinator(convex, seed=1).announcement)
    client.observe()
    with pytest.raises(KeyboardInterrupt):
        client.report()
