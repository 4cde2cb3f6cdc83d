#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A client of a caucus federation in Python's standard library, written from docs/PROTOCOL.md alone.

It shows that the protocol is what the page says: it shares no code with caucus, not even for the noise (noise.py). It
reads the plan file and speaks svt, hedge and stoch, under every trust and message, with linear losses and no trees,
and prints "ROUND EXPERT" for each round it plays. It keeps no state on disk: while it runs, it sends again byte for
byte what it has sent; it must not be started twice for one run.

    peer.py --connect localhost:7000 --ca ca.pem --cert 3.pem --key 3.key --plan plan.yaml --client 3
        --losses losses.npy
    peer.py --check docs/PROTOCOL.md        decode and encode the page's examples
"""
import argparse
import ast
import collections
import hashlib
import random
import re
import socket
import ssl
import struct
import sys
import time
from fractions import Fraction

sys.dont_write_bytecode = True  # noise.py lies in the source tree
import noise

VERSION = 2
CONTROL_BYTES = 480  # the longest message that is no report
HELLO, WELCOME, ANNOUNCEMENT, REPORT, GOODBYE, REFUSAL = range(1, 7)
NOTHING, COST, SUMS, LEAF, VOTE, SHORTLIST = range(6)
REFUSAL_FULL, REFUSAL_LATER = 5, 8

# name: (field number, type), in the order in which they are written
FIELDS = {
    HELLO: {"version": (1, "uint32"), "plan": (2, "bytes"), "client": (3, "uint32"), "heard": (4, "uint64")},
    WELCOME: {"version": (1, "uint32"), "plan": (2, "bytes"), "cost_next": (3, "uint64"), "sums_next": (4, "uint64"),
              "deadline_ms": (5, "uint32"), "answered": (6, "uint64")},
    ANNOUNCEMENT: {"serial": (1, "uint64"), "expert": (2, "uint32"), "epoch": (3, "uint64"), "ask": (4, "uint32"),
                   "block": (5, "uint64"), "leaf": (6, "uint32"), "list": (7, "uint32s"), "cost_next": (8, "uint64"),
                   "sums_next": (9, "uint64")},
    REPORT: {"client": (1, "uint32"), "kind": (2, "uint32"), "first": (3, "uint64"), "block": (4, "uint64"),
             "epoch_or_leaf": (5, "uint64"), "values": (6, "sfixed64s")},
    GOODBYE: {"code": (1, "uint32"), "text": (2, "bytes")},
    REFUSAL: {"code": (1, "uint32"), "text": (2, "bytes")},
}
EMPTY = {"uint32": 0, "uint64": 0, "bytes": b"", "uint32s": [], "sfixed64s": []}


class Malformed(Exception):
    """Bytes that are not the protocol, or an announcement that a coordinator of this plan never makes."""


class Refused(Exception):
    """The coordinator does not want this client."""


# ---- encoding ----

def put_varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def take_varint(data, at):
    value = 0
    for i in range(10):
        if at + i >= len(data):
            raise Malformed("a number passes the end")
        byte = data[at + i]
        value |= (byte & 0x7F) << 7 * i
        if byte < 0x80:
            if value >= 1 << 64:
                raise Malformed("a number of more than 64 bits")
            return value, at + i + 1
    raise Malformed("a number of more than 10 bytes")


def fields_of(data):
    """(number, wire type, value) of each field; value is an int for type 0, else bytes."""
    at = 0
    while at < len(data):
        start = at
        tag, at = take_varint(data, at)
        number, wire = tag >> 3, tag & 7
        if number == 0 or tag >= 1 << 32 or at - start > 5:
            raise Malformed(f"field number {number}")
        if wire == 0:
            value, at = take_varint(data, at)
        elif wire in (1, 2, 5):
            size, at = (take_varint(data, at) if wire == 2 else (8 if wire == 1 else 4, at))
            if size > len(data) - at:
                raise Malformed("a field passes the end")
            value, at = data[at:at + size], at + size
        else:
            raise Malformed(f"wire type {wire}")
        yield number, wire, value


def encode(kind, /, **message):
    body = b""
    for name, (number, form) in FIELDS[kind].items():
        value = message.pop(name, EMPTY[form])
        if not value:
            continue
        if form in ("uint32", "uint64"):
            body += put_varint(number << 3) + put_varint(value)
            continue
        if form == "uint32s":
            value = b"".join(map(put_varint, value))
        elif form == "sfixed64s":
            value = struct.pack(f"<{len(value)}q", *value)
        body += put_varint(number << 3 | 2) + put_varint(len(value)) + value
    assert not message, f"unknown fields {message}"
    envelope = put_varint(kind << 3 | 2) + put_varint(len(body)) + body
    return struct.pack("<I", len(envelope)) + envelope


def decode(envelope, experts=1 << 20):
    """(kind, message) of an envelope without its length."""
    found = [(number, wire, value) for number, wire, value in fields_of(envelope) if number in FIELDS]
    if len(found) != 1 or found[0][1] != 2:
        raise Malformed("not exactly one message")
    kind, _, body = found[0]
    by_number = {number: (name, form) for name, (number, form) in FIELDS[kind].items()}
    message = {name: EMPTY[form] for name, form in by_number.values()}
    if kind != REPORT and len(body) > CONTROL_BYTES:
        raise Malformed(f"a message of {len(body)} bytes")
    given = set()
    for number, wire, value in fields_of(body):
        if number not in by_number:
            continue
        name, form = by_number[number]
        if name == "values" and name in given:
            raise Malformed("values in pieces")
        given.add(name)
        if wire != (0 if form in ("uint32", "uint64") else 2):
            raise Malformed(f"{name} has wire type {wire}")
        if form == "uint32" and value >= 1 << 32:
            raise Malformed(f"{name} of {value}")
        if form == "uint32s":
            packed, value, at = value, [], 0
            while at < len(packed):
                one, at = take_varint(packed, at)
                value.append(one)
        elif form == "sfixed64s":
            if len(value) % 8:
                raise Malformed("values that are not whole")
            value = list(struct.unpack(f"<{len(value) // 8}q", value))
        message[name] = value
    hold(kind, message, experts)
    return kind, message


def hold(kind, message, experts):
    """The limits of a message, where the number of experts is known ("Encoding")."""
    if len(message.get("plan", bytes(32))) != 32:
        raise Malformed("a plan's hash is not 32 bytes")
    if len(message.get("text", b"")) > 255 or any(not 0x20 <= byte <= 0x7E for byte in message.get("text", b"")):
        raise Malformed("a text that is not printable, or too long")
    if not 0 <= message.get("ask", 0) <= SHORTLIST or (kind == REPORT and not COST <= message["kind"] <= SHORTLIST):
        raise Malformed("asks for, or answers, what is not there")
    if len(message.get("list", [])) > min(8, experts) or len(message.get("values", [])) > experts:
        raise Malformed("more entries than experts")


# ---- the plan ----

def read_plan(data):
    """A plan file's bytes as nested dictionaries of texts and lists of texts; and its hash."""
    open_keys = [{}]
    for line in data.decode().splitlines():
        if line.startswith("#"):
            continue
        depth = (len(line) - len(line.lstrip(" "))) // 2
        name, _, value = line.strip().partition(":")
        value = value.strip()
        del open_keys[depth + 1:]
        if not value:
            open_keys[depth][name] = {}
            open_keys.append(open_keys[depth][name])
        elif value.startswith("["):
            open_keys[depth][name] = [part.strip() for part in value[1:-1].split(",")]
        else:
            open_keys[depth][name] = value
    return open_keys[0], hashlib.sha256(data).hexdigest()


WORD, GOLDEN = 2 ** 64 - 1, 0x9e3779b97f4a7c15


def mix(x):
    x &= WORD
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & WORD
    x = (x ^ x >> 27) * 0x94d049bb133111eb & WORD
    return x ^ x >> 31


def permuted(key, clients, i):
    """Where client i (from 0) stands in a round."""
    bits = (clients - 1).bit_length()
    low = bits - bits // 2
    while True:
        left, right = i >> low, i & (1 << low) - 1
        for r in (0, 2, 4):
            left ^= (mix(key + (8 * right + r + 1) * GOLDEN) >> 32) & (1 << bits - low) - 1
            right ^= (mix(key + (8 * left + r + 2) * GOLDEN) >> 32) & (1 << low) - 1
        i = left << low | right
        if i < clients:
            return i


class Plan:
    """What a client needs of it."""

    def __init__(self, path, data):
        plan, self.hash = read_plan(data)
        settings = plan["settings"]
        self.convex = settings["loss-shape"] == "convex"
        self.lipschitz = float(settings.get("lipschitz", "1"))  # the largest gradient, of convex losses
        if plan["caucus-plan"] != "2" or not (self.convex or settings["loss-shape"] == "linear"):
            sys.exit(f"peer: {path}: another format, or a shape of losses that is not known")
        alike = {"sparse-vector": "svt", "limited-updates": "stoch", "leader": "hedge"}  # to a client
        self.algorithm = alike.get(settings["algorithm"], settings["algorithm"])
        self.trust = settings["trust"]
        self.endless = settings["rounds"] == "endless"
        self.rounds = 2 ** 62 if self.endless else int(settings["rounds"])
        self.experts, self.interval, self.grid = (int(settings[name]) for name in ("experts", "interval", "grid"))
        # Rounds of a cycle, after which svt and hedge begin again; in blocks. 0: they do not.
        self.cycle = int(settings.get("renew", "0")) // max(self.interval, 1)
        self.lo, self.hi = map(float, settings["range"])
        self.per_block = settings["unit"] == "client-block"
        self.growth = int(settings.get("growth", "0"))  # unit client: phases end after 1, g, g*g, .. rounds
        self.clients = int(settings["clients"])
        self.evaluate = int(settings.get("evaluate", "0")) or self.experts  # experts that a client looks at in a round
        self.own_pace = settings.get("pace") == "own"
        self.most = int(settings.get("most", "0"))  # own pace: losses of a slot that count
        self.shows_loss = "show-loss" in settings
        self.phase, self.message, self.trees = {}, None, False
        if self.algorithm == "stoch":
            stoch = plan["stoch"]
            self.phase = {int(key[6:]): phase for key, phase in stoch.items() if re.fullmatch("phase-[0-9]+", key)}
            self.longest = int(settings.get("longest-phase", "0"))  # 0: phases only double
            self.first_phase = int(settings.get("first-phase", "1"))
            self.message = stoch["message"] if self.trust == "nobody" else None
            self.trees = any(phase["trees"] != "0" for phase in self.phase.values())
        votes = {"vote": (VOTE,), "shortlist": (VOTE, SHORTLIST)}.get(self.message, (LEAF,))
        svt = (SUMS,) if settings["protocol"] == "paper" else (COST, SUMS)
        self.asks = {"svt": svt, "hedge": (SUMS,), "stoch": votes}[self.algorithm]

    def evaluated(self, client, number):
        """The experts that a client (from 1) evaluates in round `number` (from 1) of the run."""
        if self.evaluate == self.experts:
            return range(self.experts)
        p = 1
        while self.phase_end(p) < number:
            p += 1
        t, half = number - 1 - (self.phase_end(p - 1) if p > 1 else 0), bytes.fromhex(self.hash)
        first, second = struct.unpack_from("<2Q", half)
        place = t * self.clients + permuted(mix(first + number * GOLDEN), self.clients, client - 1)
        offset = mix(second + p * GOLDEN) % self.experts
        return [(offset + self.evaluate * place + j) % self.experts for j in range(self.evaluate)]

    def phase_of(self, p):
        """What phase p does: the last that is described stands for all after it."""
        return self.phase[min(p, max(self.phase))]

    def phase_end(self, p):
        """The last round of phase p: lengths double up to the longest."""
        if self.growth:
            return self.growth ** (p - 1)
        doubling = min(p, 64)
        ends = sum(min(self.first_phase * 2 ** min(q, 62), self.longest or 2 ** 62) for q in range(doubling))
        return ends + (p - doubling) * self.longest


# ---- losses ----

def npy_losses(path, client, rounds, experts):
    """A float32 or float64 array clients x rounds x experts; loss(round, expert) from 1 and 0."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:6] != b"\x93NUMPY":
        sys.exit(f"peer: {path} is not a .npy file")
    start, form = (10, "<H") if data[6] == 1 else (12, "<I")
    end = start + struct.unpack_from(form, data, 8)[0]
    head = ast.literal_eval(data[start:end].decode("latin1"))
    if head["descr"] not in ("<f4", "<f8") or head["fortran_order"] or len(head["shape"]) != 3:
        sys.exit(f"peer: {path}: need '<f4' or '<f8', C order, clients x rounds x experts")
    m, t, d = head["shape"]
    if client > m or rounds > t or experts != d:
        sys.exit(f"peer: {path} holds {m} clients, {t} rounds, {d} experts")
    kind, size = ("f", 4) if head["descr"] == "<f4" else ("d", 8)

    def loss(number, expert):
        return struct.unpack_from("<" + kind, data, end + size * (((client - 1) * t + number - 1) * d + expert))[0]
    return loss


def on_grid(loss, lo, hi, steps):
    """Round half to even of steps * (loss - lo)/(hi - lo), clamped; NaN is the worst."""
    width = hi - lo
    scale = float(steps) if width == 1 else steps / width
    x = (loss - lo) * scale
    if not x < steps:
        return steps
    return round(x) if x > 0 else 0  # Python rounds halves to even


# ---- the client ----

Item = collections.namedtuple("Item", "kind block serial bytes")


class Client:
    """What a client is, without its connection."""

    def __init__(self, options, plan, loss):
        self.o, self.plan = options, plan
        self.loss = loss
        self.key = noise.fresh_key() if options.seed is None else noise.seeded_key(options.seed, options.client)
        self.round = 0               # rounds played
        self.heard = 0               # announcements taken
        self.now = None              # the one in force
        self.block_cost = 0
        self.block_sums = [0] * plan.experts  # of the block or phase being played
        self.block_seen = [0] * plan.experts  # rounds in which each expert was evaluated
        self.sums = [0] * plan.experts        # of whole blocks, not yet reported
        self.all = [0] * plan.experts         # unit client: of all rounds so far
        self.all_seen = [0] * plan.experts
        self.first = 1               # the first block that `sums` covers
        self.items = []              # reports not known to be counted
        self.done = False

    def say(self, *words):
        print(*words, flush=True)

    def last_round(self, a):
        """The round after which announcement a can be answered."""
        if a["ask"] == NOTHING:
            return self.plan.rounds
        if self.plan.algorithm == "stoch":
            return self.plan.phase_end(a["block"] - 1)
        return min(a["block"] * self.plan.interval, self.plan.rounds)

    def check(self, a):
        before = self.now
        if a["serial"] != self.heard or a["expert"] >= self.plan.experts:
            raise Malformed(f"announcement {a['serial']} in place of {self.heard}, expert {a['expert']}")
        if before is not None and before["ask"] == NOTHING:
            raise Malformed("asked after the last word")
        if a["ask"] == NOTHING:
            return
        if a["ask"] not in self.plan.asks or a["leaf"] != 0:
            raise Malformed(f"this plan never asks for {a['ask']}, leaf {a['leaf']}")
        follows = before is not None and (before["ask"], a["ask"]) in ((COST, SUMS), (VOTE, SHORTLIST))
        first = 2 if self.plan.algorithm == "stoch" else 1
        same = follows and a["block"] == before["block"]
        expected = before["block"] if same else before["block"] + 1 if before else a["block"] if self.round else first
        if a["block"] != expected or (a["ask"] == SHORTLIST and not follows):
            raise Malformed(f"asked for {a['ask']} about {a['block']}")
        listed = a["list"]
        if a["ask"] == SHORTLIST and (not 1 <= len(listed) <= 8 or len(set(listed)) < len(listed)
                or max(listed) >= self.plan.experts):
            raise Malformed(f"a list of {listed}")

    def jump(self, a):
        """A run without an end, and what lies between was missed: go on with what is asked now. True: it goes back to
        what was missed, and nothing is due."""
        if not self.plan.endless or (self.now is not None and a["block"] <= self.now["block"]):
            raise Malformed(f"announcement {a['serial']} in place of {self.heard}")
        missed = a["ask"] == SHORTLIST or (a["ask"] == SUMS and COST in self.plan.asks)
        before = a["block"] if missed else a["block"] - 1
        self.round = self.plan.phase_end(before - 1) if self.plan.phase else before * self.plan.interval
        self.sums, self.block_sums = [0] * self.plan.experts, [0] * self.plan.experts
        self.block_seen = [0] * self.plan.experts
        self.first, self.heard = a["block"], a["serial"]
        self.now = None
        return missed

    def hear(self, a):
        """Take an announcement: play the rounds it needs, and give back the report it asks for, or None."""
        if a["ask"] == NOTHING and a["leaf"] == 1:  # ended before its time: whatever was asked or missed
            self.heard = a["serial"] + 1
            self.done = True
            self.items.clear()
            return None
        if a["serial"] > self.heard and self.jump(a):
            self.now, self.heard, self.first = a, a["serial"] + 1, a["block"] + 1
            return None
        self.check(a)
        if self.now is not None and self.now["ask"] != COST and a["ask"] != SHORTLIST:  # reported: never again
            self.sums = [0] * self.plan.experts
            self.first = self.now["block"] + 1
        ended = self.plan.cycle and self.now is not None and self.now["block"] % self.plan.cycle == 0
        if ended and a["block"] > self.now["block"]:  # a new cycle: nothing of the one before is reported any more
            self.sums = [0] * self.plan.experts
            self.first = a["block"]
        self.now = a
        self.heard += 1
        if a["ask"] == COST:
            self.block_cost = 0
        played = self.last_round(a) - self.round
        while self.round < self.last_round(a):
            if self.o.play and self.round >= self.o.play:
                self.done = True
                return None
            self.play(a["expert"])
        if a["ask"] == NOTHING:
            self.done = True
            self.items.clear()
            return None
        if played > 0:
            self.close_block(played)
        first, epoch_or_leaf, values = a["block"], a["epoch"], self.sums
        if a["ask"] == COST:
            values = [self.block_cost]
        elif a["ask"] == SUMS:
            first = self.first
        else:
            epoch_or_leaf, values = a["leaf"], self.message(a)
        report = encode(REPORT, client=self.o.client, kind=a["ask"], first=first, block=a["block"],
            epoch_or_leaf=epoch_or_leaf, values=values)
        self.items.append(Item(a["ask"], a["block"], a["serial"], report))
        return report

    def play(self, expert):
        self.round += 1
        self.say(self.round, expert)
        seen = set(self.plan.evaluated(self.o.client, self.round))
        row = [on_grid(self.loss(self.round, y), self.plan.lo, self.plan.hi, self.plan.grid) if y in seen else 0
            for y in range(self.plan.experts)]
        self.block_cost += row[expert]
        self.block_sums = [a + b for a, b in zip(self.block_sums, row)]
        for y in seen:
            self.block_seen[y] += 1
        if self.o.pause:
            time.sleep(self.o.pause)

    def close_block(self, rounds):
        """A block or phase has been played: its sums, or for unit client-block its rounded means, are reported."""
        if self.plan.per_block:
            self.block_sums = [(s + n // 2) // n if n else 0 for s, n in zip(self.block_sums, self.block_seen)]
            self.block_cost = (self.block_cost + rounds // 2) // rounds
        self.sums = [a + b for a, b in zip(self.sums, self.block_sums)]
        if self.plan.growth:  # the mean of everything, whatever was reported before
            self.all = [a + b for a, b in zip(self.all, self.block_sums)]
            self.all_seen = [a + b for a, b in zip(self.all_seen, self.block_seen)]
            self.sums = [(2 * s + n) // (2 * n) if n else 0 for s, n in zip(self.all, self.all_seen)]
        self.block_sums = [0] * self.plan.experts
        self.block_seen = [0] * self.plan.experts

    def message(self, a):
        """The values of a LEAF, VOTE or SHORTLIST, with the noise that is the client's to add. Made once for each."""
        phase = self.plan.phase_of(a["block"])
        if self.plan.trust == "coordinator":
            return self.sums
        stream = noise.Stream(self.key, noise.SHORTLIST if a["ask"] == SHORTLIST else noise.MESSAGE, a["block"],
            a["leaf"])
        if a["ask"] == VOTE:
            return [noise.permute_and_flip(stream, self.sums, Fraction(phase["vote-rate"]))]
        if a["ask"] == SHORTLIST:
            return noise.add_noise(stream, phase["shortlist-noise"], [self.sums[y] for y in a["list"]])
        return noise.add_noise(stream, phase["vertex-noises" if self.plan.trust == "nobody" else "leaf-noises"][0],
            self.sums)

    def forget(self, message):
        """Items that are durably counted, or of a step that is over."""
        later = message.get("serial", 0)
        self.items = [i for i in self.items if (i.kind == COST and i.block >= message["cost_next"])
                      or (i.kind == SUMS and i.block >= message["sums_next"])
                      or (i.kind in (LEAF, VOTE, SHORTLIST) and i.serial >= later)]


class OwnPaceClient(Client):
    """A client at its own pace, whose slots hold options.slot_rows losses each: the rows of a slot are seen while one
    announcement is the newest; then the slot is over and its item is sent, and nothing more happens until that is
    counted."""

    def __init__(self, options, plan, loss):
        super().__init__(options, plan, loss)
        self.item = 1                # the number of the next item
        self.told = None             # the expert that was printed last

    def hear(self, a):
        if a["ask"] == NOTHING:
            self.done = True
            return None
        if a["ask"] not in self.plan.asks or a["leaf"] != 0 or a["expert"] >= self.plan.experts:
            raise Malformed(f"this plan never asks for {a['ask']}")
        if self.now is not None and a["block"] <= self.now["block"]:
            raise Malformed(f"asked again about {a['block']}")
        self.now, self.heard = a, a["serial"] + 1
        if self.told != a["expert"]:
            self.told = a["expert"]
            self.say(self.told)
        if self.items:
            return None  # one at a time
        if self.o.play and self.item > self.o.play:
            self.done = True
            return None
        rows = 0 if self.o.quiet_every and self.item % self.o.quiet_every == 0 else self.o.slot_rows
        sums = [0] * self.plan.experts
        for number in range(self.round + 1, self.round + rows + 1):
            sums = [s + on_grid(self.loss(number, y), self.plan.lo, self.plan.hi, self.plan.grid)
                for y, s in enumerate(sums)]
        self.round += rows
        values = [(s + rows // 2) // rows for s in sums] if self.plan.per_block and rows else sums
        if self.plan.shows_loss and not rows:
            values = [-1] * self.plan.experts
        if self.plan.trust == "nobody":
            stream, phase = noise.Stream(self.key, noise.MESSAGE, self.item, 0), self.plan.phase_of(2)
            values = [noise.permute_and_flip(stream, values, Fraction(phase["vote-rate"]))] if a["ask"] == VOTE \
                else noise.add_noise(stream, phase["vertex-noises"][0], values)
        report = encode(REPORT, client=self.o.client, kind=a["ask"], first=self.item, block=self.item, epoch_or_leaf=0,
            values=values)
        self.items.append(Item(a["ask"], self.item, a["serial"], report))
        return report

    def forget(self, message):
        following = message["sums_next"]
        if not 1 <= following < 2 ** 63:
            raise Malformed(f"{following} items")
        if following > self.item + 1:
            raise Malformed(f"{following - 1} items are counted, and {self.item} were made")
        self.items = [i for i in self.items if i.block >= following]
        self.item = max(self.item, following)


class QuestionClient(OwnPaceClient):
    """A client at its own pace whose record is everything that it contributes (unit client): question q is about the
    first growth^(q-1) slots, and an item, which has its number, is the mean of all that was seen by then. What is late
    for its question is dropped; question numbers only rise."""

    def __init__(self, options, plan, loss):
        super().__init__(options, plan, loss)
        self.slots = self.counted = self.answered = 0

    def see_slot(self):
        rows = 0 if self.o.quiet_every and (self.slots + 1) % self.o.quiet_every == 0 else self.o.slot_rows
        for number in range(self.round + 1, self.round + min(rows, self.plan.most) + 1):
            self.all = [s + on_grid(self.loss(number, y), self.plan.lo, self.plan.hi, self.plan.grid)
                for y, s in enumerate(self.all)]
        self.counted += min(rows, self.plan.most)
        self.round += rows
        self.slots += 1

    def hear(self, a):
        last, question = a["ask"] == NOTHING, a["block"] - 1
        if not last and (a["ask"] not in self.plan.asks or a["leaf"] != 0 or not 1 <= question < max(self.plan.phase)):
            raise Malformed(f"this plan never asks for {a['ask']} about {a['block']}")
        if a["expert"] >= self.plan.experts or (self.now is not None and self.now["ask"] == NOTHING):
            raise Malformed("an expert that is not there, or another question after the last")
        if not last and self.now is not None and a["block"] <= self.now["block"]:
            raise Malformed(f"asked again about {a['block']}")
        self.now, self.heard = a, a["serial"] + 1
        if self.told != a["expert"]:
            self.told = a["expert"]
            self.say(self.told)
        while self.slots < (self.plan.rounds if last else self.plan.phase_end(question)):
            self.see_slot()
        self.items = [i for i in self.items if not last and i.block == question]
        if last or question <= self.answered:
            self.done = last
            return None
        n, self.answered = self.counted, question
        values = [(s + n // 2) // n for s in self.all] if n else [-1 if self.plan.shows_loss else 0] * len(self.all)
        if self.plan.trust == "nobody":
            stream, phase = noise.Stream(self.key, noise.MESSAGE, question, 0), self.plan.phase_of(a["block"])
            values = [noise.permute_and_flip(stream, values, Fraction(phase["vote-rate"]))] if a["ask"] == VOTE \
                else noise.add_noise(stream, phase["vertex-noises"][0], values)
        report = encode(REPORT, client=self.o.client, kind=a["ask"], first=question, block=question, epoch_or_leaf=0,
            values=values)
        self.items.append(Item(a["ask"], question, a["serial"], report))
        return report

    def forget(self, message):
        following = message["sums_next"]
        if not 1 <= following <= self.answered + 1:
            raise Malformed(f"question {following - 1} is counted, and {self.answered} was answered last")
        self.items = [i for i in self.items if i.block >= following]


def pace_client(plan):
    return QuestionClient if plan.own_pace and plan.growth else OwnPaceClient if plan.own_pace else Client


def take_frame(stream, experts):
    """One envelope, or None at the end of the connection."""
    head = stream.read(4)
    if len(head) < 4:
        return None
    size = struct.unpack("<I", head)[0]
    if not 0 < size <= 512 + 8 * experts:
        raise Malformed(f"a frame of {size} bytes")
    envelope = stream.read(size)
    return decode(envelope, experts) if len(envelope) == size else None


def dial(options):
    host, _, port = options.connect.rpartition(":")
    raw = socket.create_connection((host.strip("[]"), int(port)), timeout=options.timeout)
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if options.insecure:
        return raw
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_verify_locations(options.ca)
    context.load_cert_chain(options.cert, options.key)
    return context.wrap_socket(raw, server_hostname=options.server_name or host.strip("[]"))


def session(client, options, sock):
    """One connection. Returns when it has ended."""
    stream = sock.makefile("rb")
    sock.sendall(encode(HELLO, version=VERSION, plan=bytes.fromhex(options.plan_hash or client.plan.hash),
        client=options.client, heard=client.heard))
    welcomed, sent = False, 0
    while not client.done:
        frame = take_frame(stream, client.plan.experts)
        if frame is None:
            return
        kind, message = frame
        if kind == REFUSAL:
            text = message["text"].decode("ascii", "replace")
            if message["code"] not in (REFUSAL_FULL, REFUSAL_LATER):
                raise Refused(f"code {message['code']}: {text}")
            return
        if kind == GOODBYE:
            return
        if kind == WELCOME and not welcomed:
            if message["plan"].hex() != client.plan.hash or message["version"] != VERSION:
                raise Refused("the coordinator has another plan or version")
            welcomed = True
            client.forget(message)
            for item in client.items:
                sock.sendall(item.bytes)
            continue
        if kind != ANNOUNCEMENT or not welcomed:
            raise Malformed(f"message {kind} out of place")
        client.forget(message)
        if message["serial"] < client.heard:
            continue
        report = client.hear(message)
        if report is not None:
            sock.sendall(report * (2 if options.twice else 1))
            sent += 1
            if options.cut and sent % options.cut == 0:
                return  # as if the network had failed
    sock.sendall(encode(GOODBYE, text=b"done"))


def run(options):
    with open(options.plan, "rb") as file:
        plan = Plan(options.plan, file.read())
    if plan.convex or plan.trees:
        sys.exit(f"peer: {options.plan}: mixtures are played by tests/vectors/mixtures.py alone")
    if options.function:
        formula = eval("lambda client, round, expert: " + options.function)  # the caller's own words
        client = pace_client(plan)(options, plan, lambda number, expert: float(formula(options.client, number, expert)))
    else:
        rounds = options.play if plan.endless else plan.rounds
        rounds *= options.slot_rows if plan.own_pace else 1
        losses = npy_losses(options.losses, options.client, rounds, plan.experts)
        client = pace_client(plan)(options, plan, losses)
    wait, silent_until = 0.0, time.monotonic() + options.timeout
    while not client.done:
        before = client.heard
        try:
            with dial(options) as sock:
                session(client, options, sock)
        except (OSError, ssl.SSLError) as error:
            if time.monotonic() > silent_until:
                sys.exit(f"peer: no progress for {options.timeout} s: {error}")
        if client.heard > before:
            wait, silent_until = 0.0, time.monotonic() + options.timeout
        elif not client.done:
            if time.monotonic() > silent_until:
                sys.exit(f"peer: no progress for {options.timeout} s")
            wait = min(max(2 * wait, 0.05), 1.0)
            time.sleep(wait * random.random())


def check(path):
    """The page's examples, decoded and encoded again."""
    with open(path, encoding="utf-8") as file:
        examples = re.findall(r"^```hex (\w+)\n(.*?)^```", file.read(), re.S | re.M)
    if len(examples) != 6:
        sys.exit(f"peer: {path} has {len(examples)} examples, not 6")
    for name, text in examples:
        frame = bytes(int(byte, 16) for line in text.splitlines() for byte in line.split("#")[0].split())
        if struct.unpack("<I", frame[:4])[0] != len(frame) - 4:
            sys.exit(f"peer: {name}: wrong length")
        kind, message = decode(frame[4:])
        if encode(kind, **message) != frame:
            sys.exit(f"peer: {name}: encodes to other bytes")
        for cut in range(4, len(frame)):
            try:
                decode(frame[4:cut])
            except Malformed:
                continue
            sys.exit(f"peer: {name}: cut at {cut} it still decodes")
        print(name, {key: value.hex() if isinstance(value, bytes) else value for key, value in message.items()})


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--check", metavar="PROTOCOL.md")
    p.add_argument("--connect", metavar="HOST:PORT")
    p.add_argument("--ca")
    p.add_argument("--cert")
    p.add_argument("--key")
    p.add_argument("--server-name", help="name in the coordinator's certificate, if not HOST")
    p.add_argument("--insecure", action="store_true", help="plain TCP")
    p.add_argument("--plan", metavar="FILE")
    p.add_argument("--plan-hash", metavar="HEX", help="say that the plan has this hash, to be refused")
    p.add_argument("--client", type=int)
    p.add_argument("--seed", type=int, metavar="N", help="repeatable noise, as of caucus join --seed: NOT PRIVATE")
    p.add_argument("--losses", metavar="FILE.npy", help="clients x rounds x experts")
    p.add_argument("--function", metavar="EXPRESSION", help="a loss, in client, round (from 1) and expert (from 0)")
    p.add_argument("--play", type=int, default=0, metavar="N",
        help="leave after round N; own pace: after item N is counted")
    p.add_argument("--quiet-every", type=int, default=0, metavar="N", help="own pace: nothing seen in every Nth slot")
    p.add_argument("--slot-rows", type=int, default=3, metavar="N", help="own pace: losses of a slot")
    p.add_argument("--timeout", type=float, default=60.0, help="seconds without progress before giving up")
    p.add_argument("--pause", type=float, default=0.0, help="seconds per round")
    p.add_argument("--twice", action="store_true", help="send every report twice")
    p.add_argument("--cut", type=int, default=0, metavar="N", help="break the connection after every N reports")
    options = p.parse_args()
    if options.check:
        return check(options.check)
    for name in ("connect", "plan", "client"):
        if getattr(options, name) is None:
            p.error(f"--{name} is needed")
    if bool(options.losses) == bool(options.function):
        p.error("one of --losses and --function is needed")
    if not options.insecure and not (options.ca and options.cert and options.key):
        p.error("--ca, --cert and --key are needed (or --insecure)")
    try:
        return run(options)
    except (Malformed, Refused) as error:
        sys.exit(f"peer: {type(error).__name__.lower()}: {error}")


if __name__ == "__main__":
    main()
