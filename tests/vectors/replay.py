#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/vectors, replayed by the Python peer (tests/e2e/peer.py, noise.py), which shares no code with caucus.

    replay.py DIRECTORY         every vector of the five files (docs/VECTORS.md); says how many of each
    replay.py DIRECTORY --spoil every value altered in turn must be noticed: the replay looks at all of them
"""
import argparse
import copy
import json
import os
import struct
import sys
from fractions import Fraction

sys.dont_write_bytecode = True  # they lie in the source tree
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import noise
import peer

KINDS = {"hello": peer.HELLO, "welcome": peer.WELCOME, "announcement": peer.ANNOUNCEMENT, "report": peer.REPORT,
         "goodbye": peer.GOODBYE, "refusal": peer.REFUSAL}


class Differs(Exception):
    """A vector says something else than the peer does."""


def same(what, said, found):
    if said != found:
        raise Differs(f"{what}: the file says {said}, the peer {found}")


def grid(vectors):
    for case in vectors["losses"]:
        found = peer.on_grid(float(case["loss"]), float(case["lo"]), float(case["hi"]), case["grid"])
        same(f"loss {case['loss']} of {case['lo']} to {case['hi']}", case["step"], found)
    return len(vectors["losses"])


def streams(vectors):
    for case in vectors["keys"]:
        same("client's key", case["key"], noise.seeded_key(int(case["seed"]), case["client"]).hex())
        trial = noise.subkey(bytes.fromhex(case["run"]), 0, b"caucus__")
        same("trial's key", case["trial"], trial.hex())
        same("client's key", case["key"], noise.subkey(trial, case["client"], b"caucus__").hex())
    for case in vectors["streams"]:
        stream = noise.Stream(bytes.fromhex(case["key"]), case["purpose"], int(case["phase"]), case["leaf"])
        same("words", case["words"], [f"{stream.word():016x}" for _ in case["words"]])
        for digit in case["digits"]:
            same("a digit", digit["word"], f"{stream.digit(digit['digit'], digit['place']):016x}")
    return len(vectors["keys"]) + len(vectors["streams"])


def draw(case, stream):
    law, parameter, count = case["law"], Fraction(case["parameter"]), len(case["values"])
    if law == "uniform":
        return [noise.uniform(stream, int(parameter)) for _ in range(count)]
    if law == "coin":
        return [int(noise.coin(stream, parameter)) for _ in range(count)]
    if law == "geometric":
        return [noise.geometric(stream, parameter) for _ in range(count)]
    if law == "permute-and-flip":
        return [noise.permute_and_flip(stream, [int(score) for score in case["scores"]], parameter)]
    return noise.add_noise(stream, f"{law} {case['parameter']}", [0] * count)


def samplers(vectors):
    for case in vectors["draws"]:
        stream = noise.Stream(bytes.fromhex(case["key"]), noise.MESSAGE, int(case["phase"]), 0)
        what = f"{case['law']} {case['parameter']}"
        same(what, [int(value) for value in case["values"]], draw(case, stream))
        same(what + ", words taken", int(case["words"]), stream.place)
    return len(vectors["draws"])


def read(frame, experts):
    """(kind, message) of a frame with its length."""
    if len(frame) < 4:
        raise Differs("a vector without a length")
    size = struct.unpack("<I", frame[:4])[0]
    if not 0 < size <= 512 + 8 * experts:
        raise peer.Malformed(f"a frame of {size} bytes")
    if size != len(frame) - 4:
        raise Differs("a vector is not one frame")
    return peer.decode(frame[4:], experts)


def field(name, value):
    if name == "plan":
        return bytes.fromhex(value)
    if name == "text":
        return value.encode("ascii")
    return [int(one) for one in value] if isinstance(value, list) else int(value)


def messages(vectors):
    for case in vectors["good"]:
        frame, fields = bytes.fromhex(case["frame"]), {name: field(name, v) for name, v in case["fields"].items()}
        same(case["name"], (KINDS[case["kind"]], fields), read(frame, case["experts"]))
        same(case["name"] + ", written", case["canonical"], peer.encode(KINDS[case["kind"]], **fields) == frame)
    for case in vectors["bad"]:
        try:
            found = read(bytes.fromhex(case["frame"]), case["experts"])
        except peer.Malformed:
            continue
        raise Differs(f"{case['why']}: read as {found}")
    return len(vectors["good"]) + len(vectors["bad"])


def client_of(run, number, losses):
    """A client of the peer that keeps what it plays; loss(round, expert) from 1 and 0."""
    plan = peer.Plan(run["name"], run["plan"].encode())
    same("the plan's hash", run["plan_hash"], plan.hash)
    options = argparse.Namespace(client=number, seed=int(run["seed"]), play=0, pause=0, quiet_every=0,
        slot_rows=run["slot_rounds"])
    kind = peer.OwnPaceClient if plan.own_pace else peer.Client

    def loss(number, expert):
        value = losses[number - 1][expert]
        return float("nan") if value is None else value
    client = kind(options, plan, loss)
    client.played = []
    client.say = lambda *words: client.played.append(words)
    return client


def hears(client, frame):
    kind, message = read(bytes.fromhex(frame), client.plan.experts)
    same("kind", peer.ANNOUNCEMENT, kind)
    client.forget(message)
    report = client.hear(message)
    return None if report is None else report.hex()


def play(run, losses_of, client):
    for step in losses_of["steps"]:
        before, client.played = client.round, []
        what = f"{run['name']}, client {losses_of['client']}"
        same(what + ", reports", step["reports"], hears(client, step["hears"]))
        same(what + ", expert", step["plays"], client.now["expert"])
        same(what + ", rounds", (step["first_round"], step["rounds"]), (before + 1, client.round - before))
        if run["slot_rounds"] == 0:
            same(what + ", plays", [(before + 1 + i, step["plays"]) for i in range(step["rounds"])], client.played)
        for i, evaluated in enumerate(step.get("evaluates", [])):
            same(what + ", evaluates", evaluated, client.plan.evaluated(losses_of["client"], before + 1 + i))


def runs(vectors):
    for run in vectors["runs"]:
        for one in run["clients"]:
            client = client_of(run, one["client"], one["losses"])
            hello = peer.encode(peer.HELLO, version=peer.VERSION, plan=bytes.fromhex(client.plan.hash),
                client=one["client"], heard=0)
            same(run["name"] + ", hello", one["hello"], hello.hex())
            play(run, one, client)
        for bad in run["refuses"]:
            first = run["clients"][0]
            client = client_of(run, 1, first["losses"])
            hears(client, first["steps"][0]["hears"])
            try:
                found = read(bytes.fromhex(bad["hears"]), client.plan.experts)[1]
                if not client.plan.own_pace and found["serial"] != client.heard:
                    raise peer.Malformed("a gap")
                client.hear(found)
            except peer.Malformed:
                continue
            raise Differs(f"{run['name']}: {bad['why']}: heard")
    return sum(len(one["steps"]) for run in vectors["runs"] for one in run["clients"])


FILES = {"grid": grid, "streams": streams, "samplers": samplers, "messages": messages, "runs": runs}


def spoil(vectors, replay):
    """The last value of the first and of the last case altered: does the replay notice?"""
    for name in ("losses", "keys", "streams", "draws", "good", "runs"):
        if name not in vectors:
            continue
        for at in (0, -1):
            altered = copy.deepcopy(vectors)
            case = altered[name][at]
            if name == "runs":
                step = case["clients"][0]["steps"][0]
                step["reports"] = step["reports"][:-2] + ("01" if step["reports"][-2:] != "01" else "02")
            else:
                key = {"losses": "step", "keys": "key", "streams": "words", "draws": "values",
                       "good": "canonical"}[name]
                value = case[key]
                case[key] = [str(int(value[0], 16) + 1), *value[1:]] if isinstance(value, list) else \
                    value[:-1] if isinstance(value, str) else value - 1
            try:
                replay(altered)
            except Differs:
                continue
            sys.exit(f"replay: {name}[{at}] was altered, and nobody noticed")


def main():
    for name, replay in FILES.items():
        with open(os.path.join(sys.argv[1], name + ".json"), encoding="utf-8") as file:
            vectors = json.load(file)
        if (vectors["version"], vectors["protocol"]) != (1, peer.VERSION):
            sys.exit(f"replay: {name}.json has version {vectors['version']} of protocol {vectors['protocol']}")
        try:
            if sys.argv[2:] == ["--spoil"]:
                spoil(vectors, replay)
            else:
                print(f"{name}: {replay(vectors)} vectors")
        except (Differs, peer.Malformed) as error:
            sys.exit(f"replay: {name}.json: {error}")


if __name__ == "__main__":
    main()
