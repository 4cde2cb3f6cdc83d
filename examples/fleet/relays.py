# SPDX-License-Identifier: Apache-2.0
"""Relays of an example's own: a nats-server, certificates for everybody, and relays that clients dial.

Where the program has no relays, or nats-server is not installed, there are none: clients dial the coordinators.
"""
import os
import random
import shutil
import socket
import subprocess

from cluster import Failed, until


def free_port():
    """Not one that the system hands out by itself: a coordinator that is started again finds it free."""
    for port in random.sample(range(20000, 30000), 200):
        with socket.socket() as tried:
            try:
                tried.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise Failed("no free port")


def nats_server():
    """The broker's program, or None."""
    found = shutil.which("nats-server", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    return found


def are_there(caucus):
    """Is the program built with relays, and is there a broker for them?"""
    said = subprocess.run([caucus, "version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    nats = [line.split() for line in said.splitlines() if line.split()[:1] == ["NATS"]]
    return bool(nats) and nats[0][1:2] != ["none"] and nats_server() is not None


class Broker:
    def __init__(self, work, certs):
        self.port, self.log, self.process = free_port(), work / "nats.log", None
        self.conf, self.address = work / "nats.conf", f"tls://127.0.0.1:{self.port}"
        text = (certs / "nats.conf").read_text(encoding="utf-8")
        text = text.replace("0.0.0.0:4222", f"127.0.0.1:{self.port}").replace('"nats.', f'"{certs}/nats.')
        self.conf.write_text(text, encoding="utf-8")

    def listens(self):
        with socket.socket() as tried:
            return tried.connect_ex(("127.0.0.1", self.port)) == 0

    def start(self):
        with open(self.log, "a", encoding="utf-8") as log:
            # pylint: disable=consider-using-with
            self.process = subprocess.Popen([nats_server(), "-c", self.conf], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log)
        until("nats-server listens", self.listens)


class Relay:
    """Started again whenever it ends, as systemd would."""

    def __init__(self, fleet, number):
        self.fleet, self.number, self.port, self.process = fleet, number, free_port(), None
        self.out, self.err = fleet.work / f"relay{number}.out", fleet.work / f"relay{number}.err"

    def start(self):
        f, certs = self.fleet, self.fleet.certs
        with open(self.out, "w", encoding="utf-8") as out, open(self.err, "a", encoding="utf-8") as err:
            # pylint: disable=consider-using-with
            self.process = subprocess.Popen(
                [f.caucus, "relay", "--plan", f.plan, "--number", str(self.number), "--listen",
                 f"127.0.0.1:{self.port}", "--nats", f.broker.address, "--nats-ca", certs / "ca.pem", "--nats-key",
                 certs / f"relay-{self.number}.nkey", "--relay-key", certs / f"relay-{self.number}.secret",
                 "--coordinator", certs / "coordinator.public", "--cert", certs / f"relay-{self.number}.pem", "--key",
                 certs / f"relay-{self.number}.key", "--client-ca", certs / "ca.pem", "--format", "json"],
                stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def look_after(self):
        """Does it listen? One that has failed is started again; whoever ended in order stays so."""
        if self.process.poll() not in (None, 0):
            self.start()
        return "listening" in self.out.read_text(encoding="utf-8")
