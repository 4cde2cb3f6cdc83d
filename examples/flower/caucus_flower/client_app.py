# SPDX-License-Identifier: Apache-2.0
"""A client: it hears an announcement, plays the rounds of a block, and answers with a report.

    flower-supernode --superlink HOST:PORT --node-config 'client=7 plan="plan.yaml" losses="losses.npy"'

A ClientApp may run in a new process for every message, so the machine is restored from `context.state`, which stays
with the SuperNode, and saved there before its report leaves: a report that is asked for twice is the same bytes twice.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp
from numpy.typing import NDArray

import caucus_dp as caucus

from . import read_plan

app = ClientApp()


class Losses:
    """Where a device would use an expert and measure what each would have cost: here a NumPy file has it."""

    def __init__(self, context: Context, plan: caucus.Plan, client: int) -> None:
        path = str(context.node_config["losses"])
        every: NDArray[np.float64] = np.load(path, mmap_mode="r")
        fits = every.ndim == 3 and every.shape[0] >= plan.clients and every.shape[1] >= plan.rounds
        if not fits or every.shape[2] != plan.experts:
            expected = f"{plan.clients} clients × {plan.rounds} rounds × {plan.experts} experts"
            raise caucus.InputError(f"losses {path}: shape {every.shape} — expected {expected}")
        self._rows = every[client - 1]
        played = context.node_config.get("played")
        self._played = None if played is None else Path(str(played))

    def play(self, expert: int) -> None:
        """Use this expert in a round. Which one is known to everybody."""
        if self._played is not None:
            with self._played.open("a") as file:
                file.write(f"{expert}\n")

    def of(self, round: int, experts: list[int]) -> NDArray[np.float64]:
        """The losses of these experts in a round, from 1."""
        return np.asarray(self._rows[round - 1, experts], dtype=np.float64)


def own_seed(context: Context) -> int | None:
    """The seed in the node's own configuration, which only who starts the node writes; None: noise is real.

    The run's configuration has one for the coordinator, and comes from there. A client must not take it: whoever chose
    it could draw the client's noise, too, and take it away from the reports.
    """
    seed = int(context.node_config.get("seed", -1))
    return None if seed == -1 else seed


def machine(context: Context, plan: caucus.Plan, serial: int) -> caucus.Client:
    """The client's machine as the last message left it."""
    client, seed = int(context.node_config["client"]), own_seed(context)
    kept = context.state.config_records.get("caucus")
    if kept is not None:
        return caucus.Client.restore(plan, client, bytes(kept["state"]), seed=seed)  # type: ignore[arg-type]
    if serial > 0:
        # Without its state it would draw noise again for losses that it has reported.
        raise caucus.Error(f"client {client}: its state is lost, and announcement {serial} is not the first")
    return caucus.Client(plan, client, seed=seed)


@app.query()
def answer(message: Message, context: Context) -> Message:
    """Play what an announcement allows, and answer it."""
    asked = message.content.config_records["announcement"]
    plan = read_plan(str(context.node_config["plan"]))
    if asked["plan"] != plan.hash:
        raise caucus.Error(f"the coordinator has another plan: {asked['plan']!r}")
    announcement = caucus.Announcement.from_bytes(asked["bytes"])  # type: ignore[arg-type]
    client = machine(context, plan, announcement.serial)
    client.hear(announcement)
    losses = Losses(context, plan, client.index)
    while client.rounds_left > 0:
        losses.play(client.expert)
        client.observe(losses.of(client.round + 1, client.evaluate))
    report = client.report()
    context.state["caucus"] = ConfigRecord({"state": client.save()})
    said = ConfigRecord({"client": client.index, "round": client.round})
    if report is not None:
        said["report"] = report.to_bytes()
    return Message(RecordDict({"answer": said}), reply_to=message)
