# SPDX-License-Identifier: Apache-2.0
"""terminal.py: what the program prints on a pseudo-terminal; see terminal.sh."""
import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
import threading
import unicodedata

CAUCUS = os.environ["CAUCUS"]
HASH = re.compile(r"[0-9a-f]{64}")
HALVES = re.compile(r"([0-9a-f]{32})\s+([0-9a-f]{32})\b")
ESCAPE = re.compile(r"\x1b\[[0-9;]*[mK]")
SMALL = ["--clients", "3", "--experts", "6", "--rounds", "64", "--trust", "coordinator"]


def printed(columns, words, locale="C.UTF-8", hear=None, **environment):
    """Standard output and standard error together, as a terminal of that width gets them; hear(all so far) as it
    comes."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "TERM")}
    env.update(LC_ALL=locale, **environment)
    with subprocess.Popen([CAUCUS, *words], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, env=env) as child:
        os.close(slave)
        seen = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # the other end is closed: the program has ended
                break
            if not piece:
                break
            seen += piece
            if hear is not None:
                hear(seen)
        child.wait()
    os.close(master)
    return seen.decode().replace("\r\n", "\n")


def piped(words, locale, stderr=True, **environment):
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
    env.update(LC_ALL=locale, **environment)
    done = subprocess.run([CAUCUS, *words], stdin=subprocess.DEVNULL, capture_output=True, env=env, check=False)
    return done.stdout + done.stderr if stderr else done.stdout


def check(true, what):
    print(("ok: " if true else "not ok: ") + what)
    if not true:
        sys.exit(1)


def states(line):
    """What stands in a line one after the other: a progress bar, which a slow machine draws, is drawn again in it."""
    return ESCAPE.sub("", line).split("\r")


def shown(text):
    """What stands there in the end."""
    return "\n".join(states(line)[-1] for line in text.split("\n"))


def width(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


PLAN = ["plan", "--algorithm", "svt", *SMALL]
subprocess.run([CAUCUS, *PLAN, "--write", "plan.yaml"], check=True, capture_output=True)
subprocess.run([CAUCUS, *PLAN, "--epsilon", "12", "--write", "weak.yaml"], check=True, capture_output=True)
shutil.copy(os.path.join(os.environ["CAUCUS_SOURCE"], "tests/cli/two.ledger"), "two.ledger")
VERBS = re.findall(r"^  .{12}  ([a-z]+) ", piped([], "C").decode(), re.M)
check(len(VERBS) > 10, f"{len(VERBS)} verbs are known")
AUDIT = ["audit", "--only", "flip,knorm", "--trials", "2000", "--seed", "1"]
RECOMMEND = ["plan", "--recommend", "--losses-are", "iid", "--clients", "20", "--experts", "4", "--rounds", "64"]
COMMANDS = [[], ["--version"], *[["help", verb] for verb in VERBS], ["plan", "plan.yaml", "--explain"],
            ["plan", "weak.yaml"], ["simulate", *SMALL, "--trials", "3", "--algorithm", "svt,hedge,stoch"],
            ["simulate", *SMALL, "--trials", "2"], ["compare", "plan.yaml", "weak.yaml"], ["statement", "plan.yaml"],
            ["simulate", "--algorithm", "svvt"], [*PLAN, "--epsilon", "0"], ["privacy", "missing"],
            ["privacy", "two.ledger"], AUDIT, RECOMMEND]


def fits(columns, text, what):
    wide = [state for line in text.split("\n") for state in states(line)
            if width(state) > columns and (" " in state.strip() or HASH.search(state))]
    if wide:
        check(False, f"{columns} columns: {what}:\n" + "\n".join(wide))


for columns in (60, 80, 132):
    for words in COMMANDS:
        fits(columns, printed(columns, words), " ".join(words))
    print(f"ok: {columns} columns: {len(COMMANDS)} commands fit")

# What takes longer, or says how long it took: in the narrowest terminal, and once more for its characters.
with open("losses.csv", "w", encoding="utf-8") as losses:
    losses.write("client,round,one,two,three\n")
    losses.writelines(f"{client},{round},{(client + round) % 3},{round % 2}.5,{client}\n"
                      for client in (1, 2) for round in range(1, 33))
LONGER = [["simulate", "--losses", "losses.csv", "--algorithm", "svt,hedge", "--trust", "coordinator", "--trials", "2"],
          ["simulate", *SMALL, "--trials", "2", "--range", "0,0.5"],
          ["up", "--clients", "2", "--experts", "4", "--rounds", "8", "--open", "no"]]
if shutil.which("gnuplot"):
    LONGER.append(["reproduce", "--quick", "--only", "2", "--out", "report"])
for words in LONGER:
    text = printed(60, words)
    fits(60, text, " ".join(words))
    check(len(text.split("\n")) > 8 and "egret" in text, "60 columns: fits: " + " ".join(words))
    if words[0] == "reproduce":
        check(re.search(r"^  svt, N = 1, calibration tight$\n^    regret per client \S+ ± \S+, proven at most ",
                        shown(text), re.M), "a report's numbers stand below their names")
    else:
        check(printed(60, words, locale="C").isascii(), "plain characters: " + " ".join(words))


def live(columns, locale):
    """serve and two of join, each on a terminal of its own. Returns: what the three printed."""
    shutil.rmtree("live", ignore_errors=True)
    os.mkdir("live")
    ready, port, texts = threading.Event(), [], {}

    def hear(seen):
        found = re.search(rb"listening on 127\.0\.0\.1:(\d+)\s", seen)
        if found and not port:
            port.append(found[1].decode())
            ready.set()

    def run(name, words, hear=None):
        texts[name] = printed(columns, words, locale, hear)
        ready.set()

    joins = []
    serve = threading.Thread(target=run, args=("serve", ["serve", "--plan", "live.yaml", "--state", "live/state",
        "--listen", "127.0.0.1:0", "--insecure", "--seed", "4"], hear))
    serve.start()
    ready.wait()
    check(port, "serve listens" + texts.get("serve", ""))
    for client in ("1", "2"):
        joins.append(threading.Thread(target=run, args=("join " + client, ["join", "--plan", "live.yaml", "--connect",
            "127.0.0.1:" + port[0], "--insecure", "--client", client, "--state", "live/" + client, "--seed", "4",
            "--adversary", "realizable"])))
        joins[-1].start()
    for thread in (*joins, serve):
        thread.join()
    return texts


subprocess.run([CAUCUS, "plan", "--algorithm", "svt", "--clients", "2", "--experts", "6", "--rounds", "16", "--trust",
                "coordinator", "--write", "live.yaml"], check=True, capture_output=True)
for name, text in live(60, "C.UTF-8").items():
    fits(60, text, name)
    check(len(text.split()) > 10, "60 columns: fits: " + name)
for name, text in live(60, "C").items():
    check(text.isascii(), "plain characters: " + name)

# A value that is nearly one gets a suggestion, as an option does.
for words, meant in ((["simulate", *SMALL, "--format", "jsn"], "json"), ([*PLAN, "--format", "tetx"], "text"),
                     (["audit", "--format", "tabel"], "table"), (["--color", "alway", "plan"], "always"),
                     (["reproduce", "--only", "movilens"], "movielens"), (["reproduce", "--format", "jsno"], "json"),
                     (["completion", "fsh"], "fish"),
                     (["serve", "--plan", "live.yaml", "--state", "s", "--insecure", "--log-format", "jsn"], "json"),
                     (["privacy", "two.ledger", "--format", "jason"], "json")):
    check(f"did you mean '{meant}'?" in piped(words, "C.UTF-8").decode(), "a suggestion: " + " ".join(words))
check("did you mean" not in piped(["completion", "powershell"], "C.UTF-8").decode(), "and none where nothing is near")

SIMULATED = ["simulate", *SMALL, "--trials", "2", "--algorithm", "svt,hedge"]
seconds = re.compile(rb"[0-9.]+ s\b")
check(seconds.sub(b"", piped(SIMULATED, "C.UTF-8", COLUMNS="60")) == seconds.sub(b"", piped(SIMULATED, "C.UTF-8")),
      "a simulation in a pipe does not mind COLUMNS")

# Fitting loses and adds no word. (Tables of simulate repeat a column; statement and compare are laid out anew.)
for words in COMMANDS:
    if words[:1] not in (["simulate"], ["compare"], ["statement"], ["privacy"], ["audit"]) and words != RECOMMEND:
        whole = piped(words, "C.UTF-8").decode().split()
        narrow = HALVES.sub(r"\1\2", shown(printed(60, words))).split()
        check(sorted(whole) == sorted(narrow), "the same words: " + " ".join(words or ["caucus"]))

# Tables that are wider than 60 columns are laid out anew: a run, or an audit, and what is known of it below.
narrow = shown(printed(60, ["privacy", "two.ledger"])).split("\n")
runs = [i for i, line in enumerate(narrow) if re.match(r"  run [0-9]+  \S", line)]
check(len(runs) == 2 and all(narrow[i + 1].startswith("    choices released: ") for i in runs),
      "a ledger in 60 columns tells every run")
told = re.sub(r"\s+", " ", " ".join(narrow))
for word in ("trust: ", "unit: ", "whole device: ", "messages released: ", "delta ", " in blocks "):
    check(told.count(word) >= 2, f"a ledger in 60 columns says '{word.strip()}' of each")
narrow = shown(printed(60, AUDIT)).split("\n")
names = [line.split()[0] for line in piped(AUDIT, "C.UTF-8").decode().split("\n") if "at least" in line]
barred = [line for line in narrow if "│" in line or "╋" in line]
check(len(names) > 3 and [line.split()[0] for line in barred] == names,
      "audits in 60 columns: a line with a bar for each")
check(re.sub(r"\s+", " ", " ".join(narrow)).count(": at least") == len(names), "and its finding below")

# A simulation's table in pieces: each says which run a row is of, as the words below do.
SWEPT = ["simulate", "--algorithm", "svt", "--clients", "2,3,4", *SMALL[2:], "--trials", "2"]
text = shown(printed(60, SWEPT))
fits(60, text, " ".join(SWEPT))
pieces = re.findall(r"^  run  algorithm .*\n((?: +[0-9]+  svt .*\n)+)", text, re.M)
check(len(pieces) > 1 and all([line.split()[0] for line in piece.split("\n")[:-1]] == ["1", "2", "3"]
                              for piece in pieces), "rows of a table in pieces have the numbers of their runs")
check(not re.search(r"^  run ", piped(SWEPT, "C.UTF-8").decode(), re.M), "and none where a table is whole")

# The phases of a plan stand in rows at any width: where those of a pipe do not fit, closer to each other.
PHASES = ["plan", "--algorithm", "stoch", "--clients", "3", "--experts", "6", "--rounds", "5000000", *SMALL[-2:]]
row = re.compile(r"^    ([0-9]+) +([0-9]+-[0-9]+) +(\S+)(?: each)? +([0-9]+) +([0-9]+) +(\S+) +(\S+)$", re.M)
whole = row.findall(piped(PHASES, "C.UTF-8").decode())
check(len(whole) == 22, f"{len(whole)} phases in a pipe")
for columns in (60, 80):
    text = printed(columns, PHASES)
    fits(columns, text, " ".join(PHASES))
    check(row.findall(shown(text)) == whole, f"{columns} columns: a phase is a row")

rows = [line for line in piped(RECOMMEND, "C.UTF-8").decode().split("\n") if " ± " in line]
narrow = shown(printed(60, RECOMMEND)).split("\n")
numbers = [i for i, line in enumerate(narrow) if " ± " in line]
check(len(rows) > 5 and [narrow[i - 1][4:].split(",")[0] for i in numbers] == [row[4:].split()[0] for row in rows],
      "candidates in 60 columns, in the same order")
check([narrow[i].split()[:3] for i in numbers] == [re.search(r"\S+ ± \S+", row)[0].split() for row in rows] and
      all(narrow[i][37] == " " != narrow[i][38] for i in numbers),
      "their numbers below, in columns")
start = narrow.index("    Next")
typed = "\n".join(narrow[start + 1:]).split("\n      caucus ")[0]
told = piped(RECOMMEND, "C.UTF-8").decode().split("\n")
check(typed.count("\\\n") > 1 and typed.replace("\\\n", " ").split() == told[told.index("    Next") + 1].split(),
      "a command that does not fit can be copied from 60 columns")

for words in COMMANDS:
    check(printed(80, words, locale="C").isascii(), "plain characters: " + " ".join(words or ["caucus"]))
    check(piped(words, "C").isascii(), "plain characters in a pipe: " + " ".join(words or ["caucus"]))

# Data for programs are the same bytes in every locale, and a name is nobody's to change.
NAMED = ["--names", "größe,klein,—,4,5,6"]
for words in ([*PLAN, *NAMED, "--format", "json"], ["compare", "plan.yaml", "weak.yaml", "--format", "json"],
              ["simulate", *SMALL, *NAMED, "--trials", "2", "--format", "json"],
              ["simulate", *SMALL, *NAMED, "--trials", "2", "--format", "csv"], [*AUDIT, "--format", "csv"]):
    took = re.compile(r'"seconds": [0-9.e-]+')
    plain, fine = (took.sub("", piped(words, locale, stderr=False).decode()) for locale in ("C", "C.UTF-8"))
    check(plain == fine, "the same data: " + " ".join(words))
    data = took.sub("", printed(60, words, locale="C")).split("\n")
    whole = [line for line in fine.split("\n") if len(line) > 60]
    check(whole and all(line in data for line in whole), "and whole on a terminal: " + " ".join(words))
small = piped(["simulate", *SMALL, *NAMED, "--trials", "2"], "C").decode()
check("+-" in small and "±" not in small, "signs of a table are ASCII in a pipe, names stay as they are")
check("x-é.yaml" in piped(["plan", "x—é.yaml"], "C").decode(), "as paths do")
check("x-?.yaml" in printed(80, ["plan", "x—é.yaml"], locale="C"), "which a terminal cannot show")

warned = ["plan", "weak.yaml"]
bold = "\x1b[1;33mWEAK\x1b[0m"
check(bold in printed(80, warned), "a warning stands out")
check("\x1b" not in printed(80, warned, NO_COLOR="1"), "not with NO_COLOR")
check(bold in printed(80, warned, NO_COLOR=""), "an empty NO_COLOR is none")
check("\x1b" not in printed(80, warned, TERM="dumb"), "not on a dumb terminal")
check("\x1b" not in printed(80, [*warned, "--color", "never"]), "not with --color never")
check(bold in printed(80, ["--color=always", *warned], NO_COLOR="1"), "--color always has the last word")
check(b"\x1b" not in piped(warned, "C.UTF-8"), "no colour in a pipe")
check(bold.encode() in piped([*warned, "--color", "always"], "C.UTF-8"), "but with --color always")
