# SPDX-License-Identifier: Apache-2.0
"""postgres.py CAUCUS BENCH_POSTGRES: what bench_postgres measures, with a PostgreSQL of its own.

Verdicts a second by BENCH_POSTGRES itself. Takeovers: a coordinator and one that stands by; the first is killed (-9) or
stopped (SIGSTOP), and from then on a client dials the other one again and again until it is welcomed: the time from the
signal to the Welcome, the median of several.
"""
import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
source = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(source / "examples/fleet"), str(source / "tests/e2e")]
import peer  # pylint: disable=wrong-import-position
from cluster import Failed, Server, programs, until  # pylint: disable=wrong-import-position

TURNS = 5


def free_port():
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        return own.getsockname()[1]


def welcomed(port, plan):
    """Say hello there; whether a Welcome came."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
            sock.sendall(peer.encode(peer.HELLO, version=peer.VERSION, plan=bytes.fromhex(plan.hash), client=1))
            frame = peer.take_frame(sock.makefile("rb"), plan.experts)
            return frame is not None and frame[0] == peer.WELCOME
    except OSError:
        return False


class Bench:
    def __init__(self, caucus, bench, work):
        self.caucus, self.bench, self.work = caucus, bench, work
        self.server, self.plan, self.processes = Server(work / "one"), None, []

    def call(self, *arguments):
        subprocess.run([str(word) for word in arguments], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def state(self, name):
        """Tables in a schema of their own, and key files for two."""
        self.server.ask(f"CREATE SCHEMA {name}")
        url = f"postgresql://caucus@/caucus?host={self.server.folder}&options=-csearch_path%3D{name}"
        self.call(self.caucus, "store", "init", "--state", url, "--state-key", self.work / f"{name}.key")
        shutil.copy(self.work / f"{name}.key", self.work / f"{name}.copy.key")
        return url

    def serve(self, name, key, port):
        with open(self.work / f"{key}.err", "w", encoding="utf-8") as err:
            # pylint: disable=consider-using-with
            self.processes.append(subprocess.Popen(
                [self.caucus, "serve", "--plan", self.work / "plan.yaml", "--state", name, "--state-key",
                 self.work / f"{key}.key", "--listen", f"127.0.0.1:{port}", "--insecure", "--standby"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err))
        return self.processes[-1]

    def said(self, key, text):
        return text in (self.work / f"{key}.err").read_text(encoding="utf-8")

    def takeover(self, number, how):
        name = f"take{number}"
        url, plan = self.state(name), self.plan
        ports = free_port(), free_port()
        first = self.serve(url, name, ports[0])
        until("the coordinator listens", lambda: welcomed(ports[0], plan))
        second = self.serve(url, f"{name}.copy", ports[1])
        until("the other one stands by", lambda: self.said(f"{name}.copy", "standing by"))
        start = time.monotonic()
        first.send_signal(how)
        until("the takeover", lambda: welcomed(ports[1], plan))
        took = time.monotonic() - start
        for process in (first, second):
            process.kill()
            process.wait()
        return took

    def run(self):
        self.server.make()
        self.call(self.caucus, "plan", "--algorithm", "svt", "--clients", 3, "--experts", 100, "--rounds", 1000,
                  "--epsilon", 10, "--trust", "coordinator", "--write", self.work / "plan.yaml")
        path = self.work / "plan.yaml"
        self.plan = peer.Plan(path, path.read_bytes())
        print("  with the key file beside the database, on the same disk:", flush=True)
        subprocess.run([self.bench, self.state("verdicts"), str(self.work / "verdicts.key")], check=True)
        with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
            url, key = self.state("alone"), pathlib.Path(memory) / "key"
            shutil.move(self.work / "alone.key", key)
            print("  with the key file in memory, which leaves what the database does:", flush=True)
            subprocess.run([self.bench, url, str(key)], check=True)
        for how, word, goal in ((signal.SIGKILL, "kill -9", 1), (signal.SIGSTOP, "SIGSTOP", 4)):
            took = [self.takeover(f"{int(how)}_{turn}", how) for turn in range(TURNS)]
            print(f"  takeover until the first Welcome, {word}: {statistics.median(took):.2f} s (<= {goal}); "
                  f"{min(took):.2f} to {max(took):.2f}", flush=True)


def main():
    try:
        programs()
    except Failed as error:
        print(f"  not measured: {error}")
        return 0
    work = pathlib.Path(tempfile.mkdtemp(prefix="caucus-bench."))
    work.chmod(0o711)
    bench = Bench(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), work)
    try:
        bench.run()
    finally:
        for process in bench.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        bench.server.end()
        shutil.rmtree(work)
    return 0


sys.exit(main())
