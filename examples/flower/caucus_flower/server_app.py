# SPDX-License-Identifier: Apache-2.0
"""The coordinator: its machine, whose announcements go to every node, and whose reports come back as their replies.

flwr run examples/flower CONNECTION --run-config 'plan="plan.yaml"'
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.serverapp import Grid, ServerApp

import caucus_dp as caucus

from . import read_plan

app = ServerApp()


class Fleet:
    """The nodes of a federation as the clients of a plan: which node is which client is fixed with its first answer."""

    def __init__(self, grid: Grid, plan: caucus.Plan, deadline: float | None) -> None:
        self.grid, self.plan, self.deadline = grid, plan, deadline
        self.node_of: dict[int, int] = {}
        nodes: list[int] = []
        while len(nodes) < plan.clients:
            nodes = list(grid.get_node_ids())
            if len(nodes) < plan.clients:
                time.sleep(0.2)
        if len(nodes) > plan.clients:
            raise caucus.Error(f"the federation has {len(nodes)} nodes, the plan {plan.clients} clients")
        self.nodes = nodes

    def ask(self, announcement: caucus.Announcement, coordinator: caucus.Coordinator) -> list[int]:
        """Announce, count the reports that come in time, and say at which rounds the clients are.

        When a step ends depends on time alone, never on losses. A node that fails or says what it must not is one that
        has not answered; without a deadline nobody would wait for it in vain, so that ends the run.
        """
        content = ConfigRecord({"plan": self.plan.hash, "bytes": announcement.to_bytes()})
        group = str(announcement.serial)
        messages = [
            Message(RecordDict({"announcement": content}), dst_node_id=node, message_type="query", group_id=group)
            for node in self.nodes
        ]
        rounds: list[int] = []
        for reply in self.grid.send_and_receive(messages, timeout=self.deadline):
            try:
                rounds.append(self._count(reply, coordinator))
            except caucus.Error as error:
                if self.deadline is None:
                    raise
                print(f"step {announcement.serial}: {error}")
        return rounds

    def _count(self, reply: Message, coordinator: caucus.Coordinator) -> int:
        """Count the report in an answer, if there is one: it must be that of the client whose node sent it."""
        node = reply.metadata.src_node_id
        if reply.has_error():
            raise caucus.Error(f"node {node}: {reply.error.reason}")
        answer = reply.content.config_records.get("answer", ConfigRecord())
        client, round, data = answer.get("client"), answer.get("round"), answer.get("report")
        if not isinstance(client, int) or not isinstance(round, int) or not isinstance(data, bytes | None):
            raise caucus.Error(f"node {node}: an answer that is none")
        if self.node_of.setdefault(client, node) != node or list(self.node_of.values()).count(node) != 1:
            raise caucus.Error(f"node {node} says that it is client {client}, which another one is, or not always")
        if data is not None:
            report = caucus.Report.from_bytes(data)
            if report.client != client:
                raise caucus.Error(f"client {client} brings a report of client {report.client}")
            coordinator.receive(report)
        return round


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Play a plan."""
    config = context.run_config
    plan = read_plan(str(config["plan"]))
    seed = None if config["seed"] == -1 else int(config["seed"])
    coordinator, fleet = caucus.Coordinator(plan, seed=seed), Fleet(grid, plan, float(config["deadline"]) or None)
    announcement, began = coordinator.announcement, time.monotonic()
    experts = [announcement.expert]
    while True:
        rounds = fleet.ask(announcement, coordinator)
        if announcement.ask == "nothing" or (len(rounds) == plan.clients and min(rounds) == plan.rounds):
            break
        announcement = coordinator.decide()
        experts.append(announcement.expert)
    seconds = time.monotonic() - began
    result = {"plan": plan.hash, "experts": experts, "selections": coordinator.selections, "seconds": seconds}
    print(json.dumps(result))
    if config["out"]:
        part = Path(f"{config['out']}.part")
        part.write_text(json.dumps(result))
        part.rename(str(config["out"]))  # whole, or not there
