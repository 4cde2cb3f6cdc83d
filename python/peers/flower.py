# SPDX-License-Identifier: Apache-2.0
"""A Flower federation of this machine: a SuperLink and SuperNodes in processes of their own, on loopback."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

PATIENCE = 300.0 * float(os.environ.get("CAUCUS_PATIENCE", "1"))  # seconds, for what must come; never for a result
# Nothing leaves this machine: no telemetry, no question whether there is a newer version.
QUIET = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}
_TRIES = 5


def free_port() -> int:
    """A port that nobody has now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def waits(what: str) -> Iterator[None]:
    """Turns of a loop that waits, a moment apart; it ends with an error when patience does."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        yield
        time.sleep(0.1)
    raise TimeoutError(what)


def descendants(parent: int) -> list[int]:
    """The processes that a process has started, and those that these have."""
    found = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{parent}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *descendants(child)]
    return found


class Federation:
    """A SuperLink and its SuperNodes, ended with the block."""

    def __init__(self, folder: Path, nodes: list[str]) -> None:
        """One SuperNode for each node's configuration."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        programs = str(Path(sys.executable).parent)  # Flower's programs start each other by their names
        path = f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        self.environment = {**os.environ, **QUIET, "FLWR_HOME": str(folder / "home"), "PATH": path}
        (folder / "home").mkdir(exist_ok=True)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._nodes = nodes

    def __enter__(self) -> Federation:
        try:
            port = self._start(
                "superlink", "flower-superlink", "--insecure", "--disable-runtime-dependency-installation"
            )
            connection = (
                f'[superlink]\ndefault = "here"\n[superlink.here]\naddress = "127.0.0.1:{port}"\ninsecure = true\n'
            )
            (self.folder / "home" / "config.toml").write_text(connection)
            for number, config in enumerate(self._nodes, 1):
                words = ["--insecure", "--superlink", f"127.0.0.1:{port}", "--node-config", config]
                self._start(f"supernode-{number}", "flower-supernode", *words)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self, name: str, program: str, *words: str) -> int:
        """Start a program, and wait until its port is there. A port that was taken meanwhile means another one."""
        for _ in range(_TRIES):
            port = free_port()
            with (self.folder / f"{name}.log").open("ab") as log:
                process = subprocess.Popen(
                    [str(Path(sys.executable).with_name(program)), *words, "--host", "127.0.0.1", "--port", str(port)],
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=self.environment,
                )
            self._processes.append(process)
            for _ in waits(f"{name} is not there"):
                if process.poll() is not None:
                    break
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    return port
        raise RuntimeError(f"{name} does not start: {self.logs()}")

    def run(self, app: Path, config: str, out: Path) -> str:
        """Run an app, and wait for the file that it writes at its end."""
        words = [str(Path(sys.executable).with_name("flwr")), "run", str(app), "here", "--run-config", config]
        done = subprocess.run(
            words, env=self.environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"flwr run: {done.stdout}{done.stderr}")
        try:
            for _ in waits("the app has not ended"):
                if out.exists():
                    return out.read_text()
                ended = [process.args for process in self._processes[-1 - len(self._nodes) :] if process.poll()]
                if ended:
                    raise RuntimeError(f"{ended} ended")
        except (RuntimeError, TimeoutError) as error:
            raise RuntimeError(f"{error}: {self.logs()}") from None
        raise AssertionError

    def logs(self) -> str:
        """What the programs have printed."""
        return "\n".join(f"{file.name}:\n{file.read_text()[-4000:]}" for file in sorted(self.folder.glob("*.log")))

    def processor_seconds(self) -> float:
        """Processor time of the programs and all that they have started, so far."""
        total = 0.0
        everybody = [pid for process in self._processes for pid in (process.pid, *descendants(process.pid))]
        for pid in everybody:
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                total += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        return total

    def close(self) -> None:
        """End every process, and what it has started: some of that is in a session of its own, and would stay."""
        children = [child for process in self._processes for child in descendants(process.pid)]
        for process in self._processes:
            process.kill()
            process.wait()
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, 9)
