#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/vectors, replayed by the Python peer (tests/e2e/peer.py, noise.py), which shares no code with caucus.

    replay.py DIRECTORY         every vector of the six files (docs/VECTORS.md); says how many of each
    replay.py DIRECTORY --spoil every value altered in turn must be noticed: the replay looks at all of them
"""
import argparse
import copy
import hashlib
import json
import os
import struct
import sys
from fractions import Fraction

sys.dont_write_bytecode = True  # they lie in the source tree
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import noise
import peer

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mixtures
import relays as relay_side

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


def texts_refused(cases, name, read_text):
    """None of them is a seed, or noise of a plan."""
    for case in cases:
        try:
            found = read_text(case[name])
        except ValueError:
            continue
        raise Differs(f"{case['why']}: read as {found}")
    return len(cases)


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
    return len(vectors["keys"]) + len(vectors["streams"]) + texts_refused(vectors["bad"], "seed", noise.seed_of)


def draw(case, stream):
    law, parameter, count = case["law"], Fraction(case["parameter"]), len(case["values"])
    if law == "uniform":
        return [noise.uniform(stream, int(parameter)) for _ in range(count)]
    if law == "coin":
        return [int(noise.coin(stream, parameter)) for _ in range(count)]
    if law == "geometric":
        return [noise.geometric(stream, parameter) for _ in range(count)]
    if "scores" in case:
        scores = [int(score) for score in case["scores"]]
        select = {"permute-and-flip": noise.permute_and_flip, "exponential": noise.exponential,
                  "noisy-min": noise.noisy_min, "least": lambda stream, scores, _: noise.least(stream, scores)}[law]
        return [select(stream, scores, parameter) for _ in range(count)]
    return noise.add_noise(stream, f"{law} {case['parameter']}", [0] * count)


def samplers(vectors):
    for case in vectors["draws"]:
        stream = noise.Stream(bytes.fromhex(case["key"]), noise.MESSAGE, int(case["phase"]), 0)
        what = f"{case['law']} {case['parameter']}"
        same(what, [int(value) for value in case["values"]], draw(case, stream))
        same(what + ", words taken", int(case["words"]), stream.place)
    return len(vectors["draws"]) + texts_refused(vectors["bad"], "noise", noise.law_of)


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

    def loss(number, expert):
        value = losses[number - 1][expert]
        return float("nan") if value is None else value

    def gradient(number, x):
        return [loss(number, y) + float(run["curvature"]) * x[y] for y in range(plan.experts)]
    client = mixtures.ConvexClient(options, plan, gradient) if plan.convex else \
        mixtures.TreeClient(options, plan, loss) if plan.trees else \
        peer.pace_client(plan)(options, plan, loss)
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
        if run["slot_rounds"]:
            client.o.slot_rows = step["rounds"]  # a slot may be empty
        what = f"{run['name']}, client {losses_of['client']}"
        same(what + ", reports", step["reports"], hears(client, step["hears"]))
        drawn = [expert for _, expert in client.played] if "plays_each" in step else []
        same(what + ", expert", step["plays"], drawn[0] if drawn else client.now["expert"])
        same(what + ", rounds", (step["first_round"], step["rounds"]), (before + 1, client.round - before))
        if run["slot_rounds"] == 0:
            experts = step.get("plays_each", [step["plays"]] * step["rounds"])
            same(what + ", plays", [(before + 1 + i, expert) for i, expert in enumerate(experts)], client.played)
        if "mixture" in step:
            same(what + ", mixture", [float(one) for one in step["mixture"]], client.mixture())
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


def refuses(cases, try_one):
    """Every one of them is refused."""
    for case in cases:
        try:
            try_one(case)
        except relay_side.Refused:
            continue
        raise Differs(f"{case['why']}: taken")
    return len(cases)


def gathered(case):
    """A partial, from the reports that it was made of."""
    announced = read(bytes.fromhex(case["announcement"]), case["experts"])[1]
    reports = [read(bytes.fromhex(one), case["experts"])[1] for one in case["reports"]]
    kinds = {report["kind"] for report in reports}
    same("what is asked", {announced["ask"]}, kinds)
    q, values = 0, []
    if kinds == {peer.COST}:
        q = sum(report["values"][0] for report in reports)
    else:
        vote = kinds == {peer.VOTE}
        values = [sum(report["values"] == [y] if vote else report["values"][y] for report in reports)
                  for y in range(case["experts"])]
    return announced["serial"], q, reports[0]["first"], [report["client"] for report in reports], [], values


def relays(vectors):
    about = {name: bytes.fromhex(vectors[name]) for name in ("plan", "run", "relay_key", "coordinator_key")}
    about["relay"] = vectors["relay"]
    greeting, answer = (bytes.fromhex(vectors[name]) for name in ("greeting", "answer"))
    session = relay_side.Session(about, greeting, answer, bytes.fromhex(vectors["relay_fresh_secret"]))
    run = hashlib.blake2b(about["plan"] + vectors["name"].encode(), digest_size=32).hexdigest()
    same("run", vectors["run"], run)
    same("subjects", [vectors["up"], vectors["down"]],
         [f"caucus.{run[:32]}.{way}.{vectors['relay']}" for way in ("up", "down")])
    same("term and session", (vectors["term"], vectors["session"]), (str(session.term), str(session.session)))
    same("keys", (vectors["key_up"], vectors["key_down"]),
         (session.key["relay"].hex(), session.key["coordinator"].hex()))
    fresh = relay_side.x25519(bytes.fromhex(vectors["coordinator_fresh_secret"]), (9).to_bytes(32, "little"))
    same("the coordinator's fresh key", answer[26:58], fresh)
    for case in vectors["messages"]:
        sealed, side, subject = bytes.fromhex(case["sealed"]), case["from"], case["subject"]
        counter = session.taken[side] + 1
        same("opened", case["message"], session.open(side, subject, sealed).hex())
        same("sealed", sealed, session.seal(side, subject, counter, bytes.fromhex(case["message"])))
    for case in vectors["sayings"]:
        same(case["kind"], [field.split(" ", 1)[1] for field in case["fields"]],
             relay_side.said(case["kind"], bytes.fromhex(case["message"])))
    for case in vectors["partials"]:
        found = relay_side.partial(bytes.fromhex(case["partial"]), case["clients"], case["experts"])
        same("partial of " + case["name"], gathered(case), found)
    last = vectors["partials"][-1]
    return len(vectors["messages"]) + len(vectors["sayings"]) + len(vectors["partials"]) + \
        refuses(vectors["not_opened"], lambda c: session.open(c["from"], c["subject"], bytes.fromhex(c["sealed"]))) + \
        refuses(vectors["greetings_refused"],
                lambda c: relay_side.check_greeting(about, bytes.fromhex(c["greeting"]))) + \
        refuses(vectors["answers_refused"],
                lambda c: relay_side.check_answer(about, greeting, bytes.fromhex(c["answer"]))) + \
        refuses(vectors["no_partials"],
                lambda c: relay_side.partial(bytes.fromhex(c["partial"]), last["clients"], last["experts"]))


FILES = {"grid": grid, "streams": streams, "samplers": samplers, "messages": messages, "runs": runs, "relays": relays}


def spoil(vectors, replay):
    """The last value of the first and of the last case altered: does the replay notice?"""
    for name in ("losses", "keys", "streams", "draws", "good", "runs", "sayings", "partials"):
        if name not in vectors:
            continue
        for at in (0, -1):
            altered = copy.deepcopy(vectors) if name != "runs" else {"runs": [copy.deepcopy(vectors["runs"][at])]}
            case = altered[name][at]
            if name == "runs":
                step = case["clients"][0]["steps"][0]
                step["reports"] = step["reports"][:-2] + ("01" if step["reports"][-2:] != "01" else "02")
            else:
                key = {"losses": "step", "keys": "key", "streams": "words", "draws": "values", "good": "canonical",
                       "sayings": "message", "partials": "partial"}[name]
                value = case[key]
                case[key] = [str(int(value[0], 16) + 1), *value[1:]] if isinstance(value, list) else \
                    value[:-1] if isinstance(value, str) else value - 1
            try:
                replay(altered)
            except (Differs, relay_side.Refused, ValueError):
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
        except (Differs, peer.Malformed, relay_side.Refused) as error:
            sys.exit(f"replay: {name}.json: {error}")


if __name__ == "__main__":
    main()
