#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A federation that loses machines, on one machine: watch what happens.

    examples/fleet/run.py [--caucus PROGRAM] [--clients 300] [--rounds 64] [--relays 2] [--keep]

PostgreSQL with a synchronous standby, two coordinators, two relays, and clients that know both relays (without relays:
both coordinators). Then coordinators, databases, relays and clients are killed or stopped one after the other, and each
time it is printed what happened and how long the run stood. At the end the number of selections is compared with that
of the simulation: losing machines changes nothing.

One client gets its losses from here, line by line, so that the run stands where something is about to happen. Exit code
0 if everything went as it should, 1 if not, 77 if PostgreSQL is not installed.
"""
import argparse
import csv
import io
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from cluster import Failed, Server, programs, until
from relays import Broker, Relay, are_there, free_port

EXPERTS, SEED = 8, 24


def make_losses(path, clients, rounds):
    """All experts but one turn bad one after the other. As a NumPy file for the others; client 1's as lines."""
    dice = random.Random(3)
    order = dice.sample(range(EXPERTS), EXPERTS)
    turns = {e: rounds if n == EXPERTS - 1 else rounds * 3 * (n + 1) // (4 * EXPERTS) for n, e in enumerate(order)}
    rows = [[float(t >= turns[e]) for e in range(EXPERTS)] for t in range(rounds)]
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d, %d), }" % (clients, rounds, EXPERTS)
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        one = b"".join(struct.pack(f"<{EXPERTS}d", *row) for row in rows)
        for _ in range(clients):
            out.write(one)
    return [",".join(map(repr, row)) + "\n" for row in rows]


class Coordinator:
    """One of the two, started again whenever it ends, as systemd would."""

    def __init__(self, fleet, name):
        self.fleet, self.name, self.port, self.process = fleet, name, free_port(), None
        self.out, self.err = fleet.work / f"{name}.out", fleet.work / f"{name}.err"

    def start(self):
        f = self.fleet
        with open(self.out, "w", encoding="utf-8") as out, open(self.err, "a", encoding="utf-8") as err:
            # pylint: disable=consider-using-with
            self.process = subprocess.Popen(
                [f.caucus, "serve", "--plan", f.plan, "--state", f.state, "--state-key", f.work / f"{self.name}.key",
                 "--listen", f"127.0.0.1:{self.port}", "--seed", str(SEED), "--deadline", "1", "--format", "json",
                 "--standby", "--require-sync", *f.hears()], stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def look_after(self):
        """Is it at work? One that has failed is started again; whoever ended in order stays so."""
        if self.process.poll() not in (None, 0):
            self.start()
        return "listening" in self.out.read_text(encoding="utf-8")

    def is_waiting(self):
        self.look_after()
        return self.err.read_text(encoding="utf-8").rstrip().endswith("has this run")

    def kill(self):
        self.process.kill()
        self.process.wait()


class Fleet:
    def __init__(self, options, work):
        self.work, self.caucus, self.clients, self.rounds = work, options.caucus, options.clients, options.rounds
        self.plan, self.began, self.played = work / "plan.yaml", time.monotonic(), 0
        self.first = self.second = self.a = self.b = self.fed = self.state = self.broker = None
        self.joined, self.lines, self.relays, self.certs = {}, [], [], work / "certs"
        self.relay_count = options.relays

    def say(self, text):
        print(f"{time.monotonic() - self.began:7.1f} s  {text}", flush=True)

    def call(self, *arguments):
        done = subprocess.run([self.caucus, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"caucus {arguments[0]}: {done.stderr.strip()}")
        return done.stdout

    def flags(self):
        return ["--algorithm", "svt", "--clients", self.clients, "--experts", EXPERTS, "--rounds", self.rounds,
                "--epsilon", 60, "--trust", "coordinator"]

    def hears(self):
        """What a coordinator has to know of relays; without them nothing is certified."""
        if not self.relay_count:
            return ["--insecure"]
        certs = self.certs
        return ["--cert", certs / "coordinator.pem", "--key", certs / "coordinator.key", "--client-ca",
                certs / "ca.pem", "--nats", self.broker.address, "--nats-ca", certs / "ca.pem", "--nats-key",
                certs / "coordinator.nkey", "--relays", certs / "relays.list", "--relay-key",
                certs / "coordinator.secret"]

    def dials(self, number):
        """Where a client finds the run, and who it is. It knows all, beginning with one of them."""
        if not self.relay_count:
            return ["--connect", f"127.0.0.1:{self.a.port},127.0.0.1:{self.b.port}", "--insecure", "--client",
                    str(number)]
        at = number % self.relay_count
        ports = [relay.port for relay in self.relays[at:] + self.relays[:at]]
        return ["--connect", ",".join(f"127.0.0.1:{port}" for port in ports), "--cert",
                self.certs / f"client-{number}.pem", "--key", self.certs / f"client-{number}.key", "--ca",
                self.certs / "ca.pem"]

    def prepare_relays(self):
        self.call("certify", self.certs, "--clients", self.clients, "--relays", self.relay_count)
        self.broker = Broker(self.work, self.certs)
        self.broker.start()
        self.say(f"nats-server; certificates for {self.clients} clients and {self.relay_count} relays")

    def prepare(self):
        self.lines = make_losses(self.work / "losses.npy", self.clients, self.rounds)
        self.call("plan", *self.flags(), "--write", self.plan)
        self.first, self.second = Server(self.work / "one"), Server(self.work / "two")
        self.first.make()
        self.second.follow(self.first)
        self.first.wait_for("two")
        self.state = f"postgresql://caucus@/caucus?host={self.first.folder},{self.second.folder}"
        self.call("store", "init", "--state", self.state, "--state-key", self.work / "a.key")
        shutil.copy(self.work / "a.key", self.work / "b.key")
        self.say("PostgreSQL: 'one' is primary, 'two' its synchronous standby; the key file is made, and copied")
        if self.relay_count:
            self.prepare_relays()
        self.a, self.b = Coordinator(self, "a"), Coordinator(self, "b")
        self.a.start()
        until("coordinator a listens", self.a.look_after)
        self.b.start()
        until("coordinator b stands by", self.b.is_waiting)
        self.say("coordinator a is at work, b stands by")
        for number in range(1, self.relay_count + 1):
            self.relays.append(Relay(self, number))
            self.relays[-1].start()
        for relay in self.relays:
            until(f"relay {relay.number} listens", relay.look_after)

    def join(self, number):
        """A client; the first one gets its losses from here."""
        fed = number == 1
        where = self.work / f"client.{number}"
        losses = ["--replay"] if fed else ["--losses", self.work / "losses.npy"]
        source = subprocess.PIPE if fed else subprocess.DEVNULL
        with open(f"{where}.out", "a", encoding="utf-8") as out, open(f"{where}.err", "a", encoding="utf-8") as err:
            # pylint: disable=consider-using-with
            self.joined[number] = subprocess.Popen(
                [self.caucus, "join", *self.dials(number), "--plan", self.plan, "--seed", str(SEED), "--state",
                 f"{where}.state", *losses], stdin=source, stdout=out, stderr=err)
        if fed:
            self.fed = self.joined[number].stdin

    def told(self):
        """How many rounds' experts client 1 has been told."""
        return (self.work / "client.1.out").read_bytes().count(b"\n")

    def give(self, upto):
        """Losses up to that round; the run stands there until more are given."""
        upto = min(upto, self.rounds)
        self.fed.write("".join(self.lines[self.played:upto]).encode())
        self.fed.flush()
        self.played = upto

    def goes_on(self, upto):
        """Give losses and wait until the rounds were played; how long it took."""
        start = time.monotonic()
        wanted = min(upto + 1, self.rounds)
        self.give(upto)

        def played():
            for process in (self.a, self.b, *self.relays):
                process.look_after()
            return self.told() >= wanted
        until(f"round {upto} is played", played)
        return time.monotonic() - start

    def at_work(self):
        """The coordinator that listens, and the other one."""
        return (self.a, self.b) if "listening" in self.a.out.read_text(encoding="utf-8") else (self.b, self.a)

    def takeover(self, how, act):
        """The coordinator at work is lost; the other one takes over."""
        gone, other = self.at_work()
        start = time.monotonic()
        act(gone)
        until(f"coordinator {other.name} takes over", other.look_after)
        listening = time.monotonic() - start
        stood = self.goes_on(self.played + self.rounds // 8)
        self.say(f"coordinator {gone.name} {how}: {other.name} listens after {listening:.2f} s; the run went on, "
                 f"{stood:.1f} s for {self.rounds // 8} rounds")
        return gone, other

    def lose_coordinator(self):
        gone, _ = self.takeover("was killed (-9)", lambda c: c.kill())
        until(f"coordinator {gone.name} stands by", gone.is_waiting)
        self.say(f"coordinator {gone.name} was started again, and stands by")

    def stop_coordinator(self):
        gone, _ = self.takeover("was stopped (SIGSTOP)", lambda c: c.process.send_signal(signal.SIGSTOP))
        gone.process.send_signal(signal.SIGCONT)
        gone.process.terminate()  # it has lost its clients and the run; told to end, it ends
        until(f"coordinator {gone.name} ends", lambda: gone.process.poll() is not None)
        gone.start()
        until(f"coordinator {gone.name} stands by", gone.is_waiting)
        self.say(f"coordinator {gone.name} moved again and could commit nothing; it was started again, and stands by")

    def lose_replica(self):
        before = self.told()
        self.second.kill()
        self.give(self.played + self.rounds // 8)
        waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        until("a commit waits for the standby", lambda: self.first.ask(waits) != "0")
        held = self.told() - before
        start = time.monotonic()
        self.second.start()
        self.goes_on(self.played)
        took = time.monotonic() - start
        self.say(f"database 'two' was killed: a commit waited for it, {held} rounds were told meanwhile; it was "
                 f"started again, and the run went on after {took:.1f} s")

    def lose_primary(self):
        """Its machine and the coordinator's at once: the worst case that a synchronous standby is for."""
        gone, other = self.at_work()
        gone.kill()
        self.first.kill()
        start = time.monotonic()
        self.second.wait_for("one")
        self.second.promote()
        self.first.follow(self.second)
        self.say(f"database 'one' and coordinator {gone.name} were killed (-9); 'two' was promoted, and 'one' made "
                 f"anew as its standby")
        until(f"coordinator {other.name} takes over", other.look_after)
        self.goes_on(self.played + self.rounds // 8)
        self.say(f"coordinator {other.name} found another timeline, on a server that every commit had waited for: it "
                 f"went on by itself; {time.monotonic() - start:.1f} s in all")
        until(f"coordinator {gone.name} stands by", gone.is_waiting)

    def lose_relay(self):
        if not self.relays:
            return
        gone = self.relays[0]
        gone.process.kill()
        gone.process.wait()
        took = self.goes_on(self.played + self.rounds // 8)
        until("relay 1 listens", gone.look_after)
        self.say(f"relay 1 was killed (-9): its clients went on at relay 2 and, when it was started again, there; the "
                 f"run went on after {took:.1f} s")

    def lose_clients(self):
        lost = random.Random(SEED).sample(range(2, self.clients + 1), min(10, self.clients - 1))
        for number in lost:
            self.joined[number].kill()
            self.joined[number].wait()
            self.join(number)
        took = self.goes_on(self.played + self.rounds // 8)
        self.say(f"{len(lost)} clients were killed and started again; the run went on after {took:.1f} s")

    def play(self):
        for number in range(1, self.clients + 1):
            self.join(number)
        took = self.goes_on(self.rounds // 8)
        where = f"at {self.relay_count} relays" if self.relay_count else "here"
        self.say(f"{self.clients} clients are {where}; {self.rounds // 8} rounds after {took:.1f} s")
        for event in (self.lose_coordinator, self.lose_replica, self.lose_relay, self.stop_coordinator,
                      self.lose_clients, self.lose_primary):
            event()
        self.give(self.rounds)
        for number, process in self.joined.items():
            if process.wait() != 0:
                raise Failed(f"client {number} ended with {process.returncode}: see {self.work}/client.{number}.err")
        until("a coordinator ends", lambda: 0 in (self.a.process.poll(), self.b.process.poll()))

    def judge(self):
        state = self.call("store", "check", "--state", self.state).splitlines()
        self.say(f"over: {state[1]}")
        table = list(csv.DictReader(io.StringIO(self.call(
            "simulate", *self.flags(), "--losses", self.work / "losses.npy", "--seed", SEED, "--trials", 1, "--format",
            "csv"))))
        ended = next(c for c in (self.a, self.b) if c.process.poll() == 0)
        summary = json.loads(ended.out.read_text(encoding="utf-8").splitlines()[-1])
        simulated = int(table[0]["selections"])
        if summary["selections"] != simulated:
            raise Failed(f"{summary['selections']} selections, and the simulation made {simulated}")
        self.say(f"{simulated} selections, as in the simulation: nothing was lost, and nothing was decided twice")

    def end(self):
        others = [x for x in (self.a, self.b, *self.relays, self.broker) if x and x.process]
        for process in [*self.joined.values(), *(x.process for x in others)]:
            if process.poll() is None:
                process.kill()
                process.wait()
        for server in (self.first, self.second):
            if server is not None:
                server.end()


def main():
    parser = argparse.ArgumentParser(description="A federation that loses machines, on one machine.")
    parser.add_argument("--caucus", default="caucus", help="the program")
    parser.add_argument("--clients", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=64)
    parser.add_argument("--relays", type=int, default=None, help="2, or 0 where the program or this machine has none")
    parser.add_argument("--keep", action="store_true", help="keep the folder with all logs")
    options = parser.parse_args()
    if options.clients < 3 or options.rounds < 16:
        parser.error("at least 3 clients and 16 rounds")
    if os.path.sep in options.caucus:
        options.caucus = os.path.abspath(options.caucus)
    if options.relays is None:
        options.relays = 2 if are_there(options.caucus) else 0
    try:
        programs()
    except Failed as error:
        print(error)
        return 77
    work = pathlib.Path(tempfile.mkdtemp(prefix="caucus-fleet."))
    work.chmod(0o711)  # the user that PostgreSQL runs as must come through
    fleet, code = Fleet(options, work), 0
    try:
        fleet.prepare()
        fleet.play()
        fleet.judge()
    except Failed as error:
        print(f"fleet: {error}", file=sys.stderr)
        code = 1
    finally:
        fleet.end()
    if options.keep:
        print(f"the logs are in {work}")
    else:
        shutil.rmtree(work)
    return code


if __name__ == "__main__":
    sys.exit(main())
