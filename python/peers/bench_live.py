# SPDX-License-Identifier: Apache-2.0
"""Live rounds on loopback: `caucus serve` with clients in Python, Flower's deployment, and Flower's older gRPC path.

All carry the same messages of the same machines: an announcement to three clients, three reports back, a decision.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from flower import QUIET, Federation, free_port

import caucus_dp as caucus

CLIENTS, EXPERTS = 3, 20
APP = Path(__file__).parents[2] / "examples" / "flower"


def prepare(work: Path, rounds: int) -> caucus.Plan:
    """A plan with a step after every round, and losses for it."""
    work.mkdir(parents=True)
    plan = caucus.plan(
        algorithm="hedge",
        clients=CLIENTS,
        experts=EXPERTS,
        rounds=rounds,
        interval=1,
        epsilon=10,
        trust="coordinator",
    )
    plan.write(work / "plan.yaml")
    np.save(work / "losses.npy", np.random.default_rng(1).random((CLIENTS, rounds, EXPERTS)))
    return plan


def children_seconds() -> float:
    """Processor time of the children that are over."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ours(program: str, work: Path, rounds: int, *, in_python: bool) -> tuple[float, float]:
    """Seconds and processor seconds for one round: coordinator with its store on disk, three clients with theirs."""
    prepare(work, rounds)
    words = [program, "serve", "--plan", str(work / "plan.yaml"), "--listen", "127.0.0.1:0", "--insecure"]
    words += ["--state", str(work / "serve")]
    before = children_seconds()
    server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert server.stdout is not None
    address = next(found[1] for text in server.stdout if (found := re.search(r"listening on (\S+)", text)))
    began = time.perf_counter()
    clients = []
    for i in range(1, CLIENTS + 1):
        if in_python:
            command = [sys.executable, __file__, "client", str(work), address, str(i)]
        else:
            command = [program, "join", "--connect", address, "--plan", str(work / "plan.yaml"), "--insecure"]
            command += ["--client", str(i), "--losses", str(work / "losses.npy"), "--state", str(work / f"{i}.state")]
        clients.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    for client in clients:
        if client.wait() != 0:
            raise RuntimeError(f"a client ended with {client.returncode}")
    seconds = time.perf_counter() - began
    server.terminate()
    server.communicate()
    return seconds / rounds, (children_seconds() - before) / rounds


def client(work: Path, address: str, number: int) -> None:
    """One client of ours."""
    losses = np.load(work / "losses.npy")[number - 1]
    state = work / f"{number}.state"
    with caucus.join(address, plan=work / "plan.yaml", client=number, state=state, insecure=True) as me:
        for round in me:
            round.observe(losses[round.number - 1])


def deployment(work: Path, rounds: int) -> tuple[float, float]:
    """The same over Flower's deployment: SuperLink, SuperNodes, and the processes that they start."""
    prepare(work, rounds)
    nodes = [f'client={i} plan="{work}/plan.yaml" losses="{work}/losses.npy"' for i in range(1, CLIENTS + 1)]
    with Federation(work / "federation", nodes) as federation:
        before = federation.processor_seconds()
        out = work / "out.json"
        result = json.loads(federation.run(APP, f'plan="{work}/plan.yaml" out="{out}"', out))
        used = federation.processor_seconds() - before
    return float(result["seconds"]) / rounds, used / rounds


def legacy(work: Path, rounds: int) -> tuple[float, float]:
    """The same over start_server() and start_client(): one process each, which keep a gRPC stream open."""
    prepare(work, rounds)
    address, environment = f"127.0.0.1:{free_port()}", {**os.environ, **QUIET}
    processes: list[subprocess.Popen[bytes]] = []
    for role in ("legacy-server", *(["legacy-client"] * CLIENTS)):
        words = [sys.executable, "-W", "ignore", __file__, role, str(work), address, str(len(processes))]
        processes.append(subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    for process in processes:
        process.wait(600)
    results = [json.loads((work / f"{number}.json").read_text()) for number in range(CLIENTS + 1)]
    return results[0]["seconds"] / rounds, sum(result["processor"] for result in results) / rounds


def legacy_server(work: Path, address: str) -> None:
    """The coordinator's machine as a strategy of the older interface."""
    from flwr.common import FitIns, Parameters  # noqa: PLC0415 (only this process needs it)
    from flwr.server import ServerConfig, start_server  # noqa: PLC0415
    from flwr.server.strategy import FedAvg  # noqa: PLC0415

    plan = caucus.Plan.read(work / "plan.yaml")
    coordinator = caucus.Coordinator(plan)
    times: list[tuple[float, float]] = []

    class Carry(FedAvg):  # type: ignore[misc,unused-ignore]
        def configure_fit(self, server_round, parameters, client_manager):  # type: ignore[no-untyped-def]
            clients = client_manager.sample(CLIENTS, CLIENTS)
            times.append((time.perf_counter(), time.process_time()))
            said = Parameters([coordinator.announcement.to_bytes()], "bytes")
            return [(each, FitIns(said, {})) for each in clients]

        def aggregate_fit(self, server_round, results, failures):  # type: ignore[no-untyped-def]
            if failures or len(results) != CLIENTS:
                raise RuntimeError(f"{len(failures)} clients have failed")
            reports = [data for _, result in results for data in result.parameters.tensors if data]
            for data in reports:
                coordinator.receive(caucus.Report.from_bytes(data))
            if server_round < plan.rounds:
                coordinator.decide()
            times.append((time.perf_counter(), time.process_time()))
            return Parameters([], "bytes"), {}

        def configure_evaluate(self, server_round, parameters, client_manager):  # type: ignore[no-untyped-def]
            return []

    strategy = Carry(min_available_clients=CLIENTS, initial_parameters=Parameters([], "bytes"))
    start_server(server_address=address, config=ServerConfig(num_rounds=plan.rounds), strategy=strategy)
    spent = {"seconds": times[-1][0] - times[0][0], "processor": times[-1][1] - times[0][1]}
    (work / "0.json").write_text(json.dumps(spent))


def legacy_client(work: Path, address: str, number: int) -> None:
    """A client's machine behind the older interface."""
    from flwr.client import Client, start_client  # noqa: PLC0415
    from flwr.common import Code, FitIns, FitRes, Parameters, Status  # noqa: PLC0415

    plan = caucus.Plan.read(work / "plan.yaml")
    machine = caucus.Client(plan, number)
    losses = np.load(work / "losses.npy")[number - 1]
    times: list[float] = []

    class Carried(Client):  # type: ignore[misc,unused-ignore]
        def fit(self, ins: FitIns) -> FitRes:
            times.append(time.process_time())
            machine.hear(caucus.Announcement.from_bytes(ins.parameters.tensors[0]))
            machine.observe(losses[machine.round : machine.round + machine.rounds_left])
            report = machine.report()
            data = b"" if report is None else report.to_bytes()
            return FitRes(Status(Code.OK, ""), Parameters([data], "bytes"), 1, {})

    with contextlib.suppress(KeyboardInterrupt):
        start_client(server_address=address, client=Carried(), insecure=True)
    (work / f"{number}.json").write_text(json.dumps({"processor": times[-1] - times[0]}))


def live(program: str, work: Path) -> None:
    """One run of each, and the ratios."""
    print(
        f"live: a round of {CLIENTS} clients on loopback without TLS: an announcement, {CLIENTS} reports, a decision."
    )
    print(
        "  Ours includes the start of coordinator and clients, and both sides keep what a kill must not take: on disk,"
    )
    print(
        "  or in a file system in memory. Flower's is in memory, begins with the first message, and has no start of the"
    )
    print(
        "  older path's processes; the deployment's has those that it starts for each message. It is built for rounds"
    )
    print("  of minutes, in which models are trained, and not for these.")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        native = ours(program, Path(memory) / "native", 2000, in_python=False)
        python = ours(program, Path(memory) / "python", 2000, in_python=True)
    disk = ours(program, work / "disk", 1000, in_python=True)
    older = legacy(work / "legacy", 500)
    newer = deployment(work / "deployment", 5)
    print(f"  {'':<42} {'time a round':>14} {'processor time':>16}   times the second line")
    for name, figures in (
        ("caucus serve, 3 of caucus join, memory", native),
        ("caucus serve, 3 clients in Python, memory", python),
        ("caucus serve, 3 clients in Python, disk", disk),
        ("Flower, older gRPC path", older),
        ("Flower, deployment (3 SuperNodes)", newer),
    ):
        ratios = [figures[i] / python[i] for i in (0, 1)]
        print(f"  {name:<42} {figures[0] * 1e3:>11.3f} ms {figures[1] * 1e3:>13.3f} ms", end="   ")
        print(f"{ratios[0]:.3g} and {ratios[1]:.3g}")


if __name__ == "__main__":
    what, folder, where, number = sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    if what == "client":
        client(folder, where, number)
    elif what == "legacy-server":
        legacy_server(folder, where)
    else:
        legacy_client(folder, where, number)
