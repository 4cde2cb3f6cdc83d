# SPDX-License-Identifier: Apache-2.0
"""schemas.py: the JSON of every verb against docs/schemas (JSON Schema, draft 2020-12).

Documents come from the program itself, in as many shapes as it has. Then the schemas are tested: a document with a
member too many, one too few, or another version must be refused, or the schema says nothing.
"""
import copy
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request

import jsonschema

CAUCUS = os.environ["CAUCUS"]
SCHEMAS = os.path.join(os.environ["CAUCUS_SOURCE"], "docs", "schemas")
SMALL = ["--clients", "3", "--experts", "6", "--rounds", "40", "--seed", "5"]
SNAKE = re.compile(r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$")

validators = {}
# The program's own list of algorithms: schemas call them a string, and every document is compared with it.
wrong_word = subprocess.run([CAUCUS, "plan", "--trust", "coordinator", "--algorithm", "nonsense"],
    stderr=subprocess.PIPE, universal_newlines=True)
ALGORITHMS = re.search(r"accepted: (.*)\)", wrong_word.stderr).group(1).split(", ")
assert len(ALGORITHMS) > 3 and "svt" in ALGORITHMS, ALGORITHMS
for file in sorted(os.listdir(SCHEMAS)):
    with open(os.path.join(SCHEMAS, file), encoding="utf-8") as text:
        schema = json.load(text)
    jsonschema.Draft202012Validator.check_schema(schema)
    validators[file[:-len(".json")]] = jsonschema.Draft202012Validator(schema)
seen = {}


def keys(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)


def algorithms(value):
    """Every member that is called "algorithm", at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "algorithm":
                yield inner
            yield from algorithms(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from algorithms(inner)


def check(name, text, what):
    document = json.loads(text)
    wrong = [f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in validators[name].iter_errors(document)]
    wrong += [f"key '{key}' is not snake_case" for key in keys(document) if not SNAKE.match(key)]
    wrong += [f"'{word}' is no algorithm of this program" for word in algorithms(document) if word not in ALGORITHMS]
    if next(iter(document)) != "version":
        wrong.append("the first member is not the version")
    if wrong:
        sys.exit(f"not ok: {what} against {name}.json:\n  " + "\n  ".join(wrong[:5]))
    seen.setdefault(name, document)
    print(f"ok: {what}")
    return document


def caucus(*words):
    done = subprocess.run([CAUCUS, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode != 0:
        sys.exit(f"not ok: {' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def verb(name, *words):
    return check(name, caucus(*words, "--format", "json"), " ".join(words))


def picks():
    with open("scores.csv", "w", encoding="utf-8") as text:
        text.write("small,large\n0.1,0.9\n0.3,0.2\n")
    verb("pick", "pick", "scores.csv", "--epsilon", "1")
    verb("pick", "pick", "scores.csv", "--epsilon", "1", "--largest", "--seed", "3", "--names", "small,large")
    with open("sums.csv", "w", encoding="utf-8") as text:
        text.write("4,5,6\n")
    verb("pick", "pick", "sums.csv", "--epsilon", "1", "--summed", "--sensitivity", "2")


def simulations():
    own = ["simulate", *SMALL, "--trust", "coordinator"]
    verb("simulate", *own, "--algorithm", ",".join(ALGORITHMS), "--trials", "2")
    verb("simulate", *own, "--trials", "1", "--adversary", "gaussian", "--epsilon", "0.1,1", "--out", "results")
    with open("results/results.json", encoding="utf-8") as text:
        check("simulate", text.read(), "results.json")
    verb("simulate", *own, "--algorithm", "hedge", "--epsilon", "infinite", "--trials", "2", "--ledger", "open.ledger")
    verb("simulate", *own, "--algorithm", "stoch", "--adversary", "cross-entropy", "--trees", "1,auto", "--trials", "2")
    verb("simulate", *own, "--algorithm", "stoch", "--longest-phase", "none,3,auto", "--trials", "2")
    verb("simulate", *own, "--algorithm", "svt,hedge", "--renew", "none,4", "--trials", "2")
    verb("simulate", "simulate", *SMALL, "--trust", "nobody", "--algorithm", "stoch", "--message",
        "vote,shortlist,knorm",
         "--trials", "2")
    verb("simulate", *own, "--algorithm", "svt,hedge", "--trials", "2", "--ledger", "budget.ledger", "--budget",
        "5,1e-6")
    with open("mine.csv", "w", encoding="utf-8") as losses:
        losses.write("client,round,a,b,c\n")
        for line in range(2 * 40):  # two clients; which expert is good turns round half way
            better = 0.9 if line % 40 < 20 else 0.1
            losses.write(f"{line // 40 + 1},{line % 40 + 1},{better},{1 - better:.1f},0.7\n")
    own_losses = verb("simulate", "simulate", "--losses", "mine.csv", "--trust", "coordinator", "--algorithm",
        "svt,stoch,hedge", "--trials", "2")
    assert own_losses["history"]["drifts"] == "yes" and own_losses["history"]["realizable"] is False, own_losses
    assert len(own_losses["history"]["premises"]) == 2, own_losses["history"]
    assert [run["premise_refuted"] for run in own_losses["runs"]] == [True, True, False], own_losses["runs"]
    up = verb("up", "up", "--losses", "mine.csv", "--algorithm", "svt", "--open", "no")
    assert up["equal"] and up["history"] == own_losses["history"], up
    assert seen["simulate"]["history"] is None
    text, delay = "", 0.2
    while not text:  # a signal that comes before the program listens to it ends it without a word: later, then
        with subprocess.Popen([CAUCUS, "simulate", "--trust", "coordinator", "--trials", "100000", "--format", "json"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True) as stopped:
            time.sleep(delay)
            stopped.send_signal(signal.SIGTERM)
            text, delay = stopped.communicate(timeout=60)[0], 2 * delay
    document = check("simulate", text, "a simulation that was stopped")
    assert document["runs"] == [] or document["runs"][0]["done"] < 100000


def plans():
    for words in ("--trust coordinator", "--trust coordinator --front-load --delta 1e-6",
                  "--trust coordinator --unit client-block --interval 4", "--trust coordinator --rounds 1",
                  *[f"--trust coordinator --algorithm {word}" for word in ALGORITHMS],
                  "--trust coordinator --algorithm hedge --epsilon infinite",
                  "--trust coordinator --algorithm stoch --past-phases",
                  "--trust coordinator --algorithm stoch --longest-phase auto --first-phase 2 --changes 3",
                  "--trust coordinator --renew 64", "--trust coordinator --algorithm hedge --renew 64 --interval 4",
                  "--trust coordinator --algorithm stoch --convex 1,0.5 --trees 2",
                      "--trust coordinator --calibration paper",
                  "--trust paper-local --algorithm stoch --calibration paper --delta 1e-6",
                  "--trust nobody --algorithm stoch --message vote",
                      "--trust nobody --algorithm stoch --message shortlist",
                  "--trust nobody --algorithm stoch --message knorm",
                      "--trust nobody --algorithm stoch --message laplace-d",
                  "--trust nobody --algorithm stoch --message gauss --delta 1e-6",
                  "--trust coordinator --algorithm stoch --evaluate 2",
                  "--trust coordinator --algorithm stoch --evaluate 1 --unit client-block --longest-phase 8",
                  "--trust coordinator --algorithm stoch --unit client --growth 3",
                  "--trust nobody --algorithm stoch --unit client",
                  "--trust coordinator --algorithm stoch --rounds endless --longest-phase 8 --show-loss 0.25",
                  "--trust coordinator --algorithm stoch --pace own --phase-time 1h --unit client-block",
                  "--trust coordinator --rounds endless", "--trust coordinator --rounds endless --renew 64",
                  "--trust coordinator --losses-are adaptive", "--trust coordinator --clients 1000000 --rounds 100000"):
        named = "--algorithm" in words or "--losses-are" in words
        verb("plan", "plan", *([] if named else ["--algorithm", "svt"]), *words.split())
    verb("recommend", "plan", "--recommend", "--rounds", "40", "--experts", "5")
    verb("recommend", "plan", "--recommend", "--losses-are", "iid", "--epsilon", "0.001", "--rounds", "40")


def status_of(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/status", timeout=20) as answer:
        return answer.read().decode()


def live():
    caucus("plan", "--algorithm", "svt", "--trust", "coordinator", "--clients", "2", "--experts", "4", "--rounds",
           "20", "--write", "plan.yaml")
    caucus("plan", "--algorithm", "svt", "--trust", "coordinator", "--clients", "2", "--experts", "5", "--rounds",
           "20", "--write", "other.yaml")
    log = open("serve.log", "w", encoding="utf-8")
    serve = subprocess.Popen([CAUCUS, "serve", "--plan", "plan.yaml", "--state", "state", "--insecure", "--listen",
        "127.0.0.1:0",
                              "--http", "127.0.0.1:0", "--seed", "1", "--stay", "--format", "json",
                              "--log-format", "json", "--log-level", "detail"],
                             stdout=subprocess.PIPE, stderr=log, universal_newlines=True)
    log.close()
    try:
        first = check("serve_listening", serve.stdout.readline(), "serve: the first line")
        check("status", status_of(first["http_port"]), "serve: status before the start")
        stranger = subprocess.run([CAUCUS, "join", "--plan", "other.yaml", "--connect", first["listening"],
            "--insecure", "--client", "1", "--adversary", "realizable", "--seed", "1"], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, timeout=120)
        assert stranger.returncode != 0
        clients = [subprocess.Popen([CAUCUS, "join", "--plan", "plan.yaml", "--connect", first["listening"],
            "--insecure",
                                     "--client", str(i), "--adversary", "realizable", "--seed", "1"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for i in (1, 2)]
        check("serve_summary", serve.stdout.readline(), "serve: the last line")
        for client in clients:
            client.wait(timeout=60)
        for _ in range(100):  # what the status says may be a tenth of a second old
            document = json.loads(status_of(first["http_port"]))
            if document["state"] == "finished":
                break
            time.sleep(0.1)
        document = check("status", json.dumps(document), "serve: status after the end")
        with urllib.request.urlopen(f"http://127.0.0.1:{first['http_port']}/", timeout=20) as page:
            page.read()
        check("serve_page", serve.stdout.readline(), "serve: the page was loaded")
        assert document["state"] == "finished" and document["history"], document
    finally:
        serve.terminate()
        serve.wait(timeout=60)
    log_lines()
    check("privacy", caucus("privacy", "state", "--releases", "--format", "json"), "privacy of a coordinator's state")
    for word in ALGORITHMS:
        live_run(word)


def log_lines():
    """Each line of the coordinator's log; and the reasons of refusals are those of the source."""
    with open("serve.log", encoding="utf-8") as log:
        lines = [check("serve_log", line, "a line of serve's log") for line in log]
    events = {line["event"]: line for line in lines}
    assert {"joined", "left", "refused", "not-private", "remark"} <= set(events), events
    assert events["refused"]["reason"] == "plan" and events["joined"]["client"] in (1, 2), events
    with open(os.path.join(os.environ["CAUCUS_SOURCE"], "src", "net", "refusals.h"), encoding="utf-8") as source:
        reasons = re.findall(r'^    X\([A-Z_]+, "([a-z-]+)"\)', source.read(), re.M)
    assert validators["serve_log"].schema["properties"]["reason"]["enum"] == reasons, reasons


def live_run(word):
    """A live federation of it, equal to its simulation, unless it is for one client alone."""
    words = ["up", *SMALL, "--open", "no", "--algorithm", word, "--format", "json"]
    done = subprocess.run([CAUCUS, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode == 2 and "one client alone" in done.stderr:
        return
    if done.returncode != 0:
        sys.exit(f"not ok: {' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
    assert check("up", done.stdout, " ".join(words[:-2]))["equal"], word


def stops():
    """A coordinator that was killed before anybody came has a run to end."""
    caucus("plan", "--algorithm", "svt", "--trust", "coordinator", "--clients", "2", "--names", "small,wide,deep",
           "--rounds", "16", "--write", "ended.yaml")
    words = ["serve", "--plan", "ended.yaml", "--state", "ended", "--insecure", "--listen", "127.0.0.1:0"]
    with subprocess.Popen([CAUCUS, *words, "--format", "json"], stdout=subprocess.PIPE) as server:
        assert server.stdout.readline()
        server.kill()
    for before, more, names in ((False, ["--plan", "ended.yaml"], ["small", "wide", "deep"]), (True, [], [None] * 3)):
        document = verb("stop", "stop", "--state", "ended", *more)
        assert document["before"] is before and not document["coordinator_running"] and document["serial"] == 1
        assert document["expert_name"] == names[document["expert"]], document


def others():
    verb("privacy", "privacy", "open.ledger")
    document = verb("privacy", "privacy", "budget.ledger", "--releases")
    assert document["releases"] and document["runs"]
    with open("coin", "w", encoding="utf-8") as text:
        text.write("#!/bin/sh\nyes 1 | head -1000\n")
    os.chmod("coin", 0o755)
    for name in ("a", "b"):
        with open(name, "w", encoding="utf-8") as text:
            text.write("0\n")
    verb("audit", "audit", "--command", "./coin", "--data0", "a", "--data1", "b", "--claimed", "1", "--trials", "2000")
    verb("audit", "audit", "--quick", "--only", "vote")
    caucus("plan", "--algorithm", "stoch", "--trust", "coordinator", "--clients", "2", "--experts", "3", "--rounds",
           "16", "--write", "audited.yaml")
    verb("audit", "audit", "--plan", "audited.yaml", "--trials", "2000")
    caucus("plan", "--algorithm", "svt", "--trust", "coordinator", "--rounds", "16", "--write", "compared.yaml")
    assert verb("compare", "compare", "audited.yaml", "compared.yaml")["changes"]
    verb("reproduce", "reproduce", "--quick", "--only", "2", "--seed", "8", "--out", "report")


def paths(value, at=()):
    """Every object of a document that is not empty, as the keys that lead to it; one item of each list."""
    if isinstance(value, dict):
        if value:
            yield at
        for key, inner in value.items():
            yield from paths(inner, at + (key,))
    elif isinstance(value, list) and value:
        yield from paths(value[0], at + (0,))


def refused(name, document, path, change, what):
    altered = copy.deepcopy(document)
    inner = altered
    for key in path:
        inner = inner[key]
    change(inner)
    if validators[name].is_valid(altered):
        sys.exit(f"not ok: {name}.json accepts {what} at /{'/'.join(map(str, path))}")


def schemas_refuse():
    count = 0
    for name, document in seen.items():
        refused(name, document, (), lambda top: top.update(version=2), "another version")
        for path in paths(document):
            refused(name, document, path, lambda inner: inner.update(stranger={}), "a member too many")
            count += 1
        for key in document:
            if key in validators[name].schema["required"]:
                refused(name, document, (), lambda top, key=key: top.pop(key), f"no '{key}'")
    print(f"ok: a stranger is refused in {count} places")


def relays():
    """A coordinator that hears relays, as tests/browser/status_demo plays it."""
    program = os.path.join(os.environ["CAUCUS_BUILD"], "tests", "status_demo")
    demo = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, universal_newlines=True)
    try:
        port = demo.stdout.readline().split()[1]
        demo.stdin.write("relays 3\n")
        demo.stdin.flush()
        assert demo.stdout.readline() == "done\n"
        for _ in range(200):  # what the status says may be a tenth of a second old
            document = json.loads(status_of(port))
            if document["relays"]:
                break
            time.sleep(0.1)
        seen["status"] = check("status", json.dumps(document), "status with relays")  # it has all that there is
        assert document["relays"]["count"] == 3 and len(document["relays"]["each"]) == 3, document["relays"]
    finally:
        demo.stdin.close()
        demo.wait(timeout=60)


families = [picks, simulations, plans, stops, others, live, relays]
for family in families:
    family()
# tests/fault/relay.sh and postgres_standby.sh: one needs a NATS server, the other PostgreSQL.
missing = sorted(set(validators) - set(seen) - {"relay_summary", "standby"})
if missing:
    sys.exit(f"not ok: no document for {missing}")
schemas_refuse()
