# SPDX-License-Identifier: Apache-2.0
"""What the tests share: the program to compare with, a federation that is really there, losses."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

import numpy as np
import pytest
from numpy.typing import NDArray

import caucus_dp as caucus

PATIENCE = 60.0 * float(os.environ.get("CAUCUS_PATIENCE", "1"))  # seconds, for what must come; never for a result
os.environ["LC_ALL"] = "C.UTF-8"  # where the program writes the signs that the binding always does
CLIENTS, ROUNDS, EXPERTS = 3, 40, 4


class Program:
    """The program `caucus` of the tree (environment variable CAUCUS)."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        return subprocess.run([self.path, *words], capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.fixture(scope="session")
def program() -> Program:
    """Where the program is."""
    path = os.environ.get("CAUCUS", str(Path(__file__).parents[2] / "build" / "caucus"))
    if not os.access(path, os.X_OK):
        pytest.fail(f"{path} is not there: make, or set CAUCUS")
    return Program(path)


@pytest.fixture(scope="session")
def losses() -> NDArray[np.float64]:
    """Losses of three clients: the first expert is best at first, the third later."""
    draws = np.random.default_rng(7).random((CLIENTS, ROUNDS, EXPERTS))
    draws[:, : ROUNDS // 3, 0] *= 0.2
    draws[:, ROUNDS // 3 :, 2] *= 0.1
    return draws


@pytest.fixture(scope="session")
def plan() -> caucus.Plan:
    """A plan for these losses."""
    return caucus.plan(
        algorithm="hedge",
        clients=CLIENTS,
        experts=EXPERTS,
        rounds=ROUNDS,
        interval=4,
        epsilon=50,
        trust="coordinator",
    )


def lines_of(process: subprocess.Popen[str]) -> Iterator[str]:
    """What a process prints, line by line; one that says nothing for too long is killed, and that is the end."""
    assert process.stdout is not None
    while True:
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
        line = process.stdout.readline()
        timer.cancel()
        if not line:
            return
        yield line


class Files(TypedDict):
    """What join() needs of certificates."""

    cert: str
    key: str
    ca: str


class Federation:
    """A coordinator, `caucus serve`, with certificates, and what clients need to join it."""

    def __init__(
        self, program: Program, folder: Path, plan: caucus.Plan, seed: int, client_ca: Path | None = None
    ) -> None:
        self.program, self.folder, self.plan, self.seed = program, folder, plan, seed
        folder.mkdir(exist_ok=True)
        self.plan_file = folder / "plan.yaml"
        plan.write(self.plan_file)
        self.certs = folder / "certs"
        made = program("certify", str(self.certs), "--clients", str(plan.clients))
        assert made.returncode == 0, made.stderr
        self.client_ca = client_ca if client_ca is not None else self.certs / "ca.pem"
        if client_ca is not None:  # its own clients, too
            client_ca.write_text(client_ca.read_text() + (self.certs / "ca.pem").read_text())
        self.processes: list[subprocess.Popen[str]] = []
        self.address = self._serve("127.0.0.1:0")

    def _serve(self, listen: str) -> str:
        words = [self.program.path, "serve", "--plan", str(self.plan_file), "--listen", listen, "--state"]
        words += [str(self.folder / "serve"), "--cert", str(self.certs / "coordinator.pem"), "--key"]
        words += [str(self.certs / "coordinator.key"), "--client-ca", str(self.client_ca)]
        words += ["--seed", str(self.seed)]
        self.server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.processes.append(self.server)
        for line in lines_of(self.server):
            found = re.fullmatch(r"listening on (127\.0\.0\.1:\d+)\n", line)
            if found:
                return found[1]
        raise AssertionError("caucus serve said no address")

    def kill_server(self) -> None:
        """Kill the coordinator, and start it again where it was."""
        self.server.kill()
        self.server.wait()
        self._serve(self.address)

    def files(self, client: int) -> Files:
        """What join() needs of the certificates."""
        return {
            "cert": str(self.certs / f"client-{client}.pem"),
            "key": str(self.certs / f"client-{client}.key"),
            "ca": str(self.certs / "ca.pem"),
        }

    def program_client(self, client: int, losses: Path) -> subprocess.Popen[str]:
        """A client of `caucus join`."""
        words = [self.program.path, "join", "--connect", self.address, "--plan", str(self.plan_file)]
        words += [f"--{name}={path}" for name, path in self.files(client).items()]
        words += ["--seed", str(self.seed), "--losses", str(losses), "--state", str(self.folder / f"{client}.state")]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.processes.append(process)
        return process

    def close(self) -> None:
        """End every process that is still there."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.fixture
def federation(program: Program, tmp_path: Path, plan: caucus.Plan) -> Iterator[Federation]:
    """A coordinator that waits for three clients."""
    made = Federation(program, tmp_path, plan, seed=3)
    yield made
    made.close()


def played(process: subprocess.Popen[str]) -> list[int]:
    """The experts that a client of the program has played, to its end."""
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    return [int(line) for line in out.split()]


def reference(plan: caucus.Plan, losses: NDArray[np.float64], seed: int) -> list[int]:
    """The experts of a run, round by round, by the bare machines in one process."""
    coordinator = caucus.Coordinator(plan, seed=seed)
    clients = [caucus.Client(plan, i + 1, seed=seed) for i in range(plan.clients)]
    experts: list[int] = []
    announcement = coordinator.announcement
    while len(experts) < plan.rounds:
        for client in clients:
            client.hear(announcement)
        for client in clients:
            rounds = client.rounds_left
            if client.index == 1:
                experts += [client.expert] * rounds
            client.observe(losses[client.index - 1, client.round : client.round + rounds])
            report = client.report()  # none in the last block: nothing would be done with it
            if report is not None:
                coordinator.receive(report)
        if len(experts) < plan.rounds:
            assert coordinator.waiting == 0
            announcement = coordinator.decide()
    return experts
