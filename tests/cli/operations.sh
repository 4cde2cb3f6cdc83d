#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/RUNTIME.md names every metric, every log line, every reason for a refusal and every line of a client, as the
# sources have them.
set -euo pipefail
: "${CAUCUS_SOURCE:?the project}"
python3 - "$CAUCUS_SOURCE" <<'PY'
import re, sys

root = sys.argv[1] + "/"
page = open(root + "docs/RUNTIME.md", encoding="utf-8").read()
flat = " ".join(page.split())  # words may be in two lines of the page
LITERAL = r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*'

# Lines that two files say stand in a header.
line_h = open(root + "src/relay/line.h", encoding="utf-8").read()
shared = dict(re.findall(r'^#define (CAUCUS_\w+_TEXT) (".*")$', line_h, re.M))

def source(*names):
    text = "\n".join(open(root + "src/" + name, encoding="utf-8").read() for name in names)
    text = re.sub(r"\bCAUCUS_\w+_TEXT\b", lambda m: shared.get(m[0], m[0]), text)
    return re.sub(r'%" PRIu64(?: ")?', lambda m: "%llu" if m[0].endswith('"') else '%llu"', text)

def literals(text):
    """C strings, put together where they stand side by side."""
    for found in re.findall(LITERAL, text):
        yield "".join(part for part in re.findall(r'"((?:[^"\\]|\\.)*)"', found)).replace("\\n", "").replace('\\"', '"')

def calls(text, name):
    """The arguments of every call of a function, as text."""
    for at in re.finditer(name + r"\(", text):
        depth, end, quoted = 1, at.end(), False
        while depth > 0:
            c = text[end]
            if c == '"' and text[end - 1] != "\\":
                quoted = not quoted
            depth += 0 if quoted else (c == "(") - (c == ")")
            end += 1
        yield text[at.end():end - 1]

def fragments(line):
    """What of a format is always printed, in pieces long enough to be looked for."""
    for piece in re.split(r"%[-+ 0#]*[0-9]*(?:\.[0-9*]+)?(?:ll|z|hh)?[a-zA-Z]", line):
        piece = piece.strip(" '…[],()")
        if len(re.findall("[A-Za-z]", piece)) >= 4:
            yield piece

def missing(lines, least, what):
    lines = sorted(set(lines))
    if len(lines) < least:
        sys.exit(f"not ok: only {len(lines)} {what} were found in the sources: the test looks in the wrong place")
    return [f"{what}: '{piece}' (of '{line}')" for line in lines for piece in fragments(line)
            if " ".join(piece.split()) not in flat]

wrong = []

# Metrics: each in the first column of a row; a counter has a row of its own.
metrics = source("net/http_metrics.c")
named = re.findall(r'\b(?:gauge|whole_gauge|counter|head)\(to, "(\w+)"', metrics)
if len(named) < 25:
    sys.exit("not ok: the metrics were not found in the sources")
entries = re.findall(r"^- (`[^:]*):", page.split("\n## Metrics\n")[1], re.M)
rows = [re.findall(r"`(\w+)`", entry) for entry in entries]
for name in named:
    if not any(name in row for row in rows):
        wrong.append(f"metric {name}")
for name in re.findall(r'\bcounter\(to, "(\w+)"', metrics):
    if not any(row == [name] or set(row) == {"selections_allowed", name} for row in rows):
        wrong.append(f"metric {name}: no row of its own")

# The coordinator's log.
server = source("net/watch.c", "net/descriptors.c", "net/loop.c", "net/loop_input.c", "net/loop_output.c",
                "net/loop_log.c", "net/server.c", "net/server_step.c", "net/server_claims.c", "net/hub/hub.c",
                "net/hub/hub_place.c", "net/relay/relay.c", "net/relay/relay_begin.c", "net/relay/relay_hear.c",
                "net/relay/relay_place.c")
of = r"\s*(?:s|[rb]->server),"
log = [next(literals(call)) for call in calls(server, "caucus_server_log") if re.match(of + " [012],", call)]
log += [list(literals(call))[-1] for call in calls(server, "caucus_server_log_about") if re.match(of + r"\s*&", call)]
log += [list(literals(call))[-1] for call in calls(source("cli/serve/serve.c", "cli/serve/serve_stay.c"),
                                                   "caucus_log_say")]
wrong += missing((line for line in log if line != "weak"), 16, "log line")

# Reasons: words of a metric's label and of the log.
for name, word in re.findall(r'X\((\w+), "([\w-]+)"\)', source("net/refusals.h")):
    if f"`{word}`" not in page:
        wrong.append(f"reason {word}")

# Why somebody is refused, or told goodbye.
refusals = ("caucus_output_refuse", "caucus_output_refuse_for", "caucus_output_goodbye", "caucus_loop_refused",
            r"snprintf")
whys = [line for name in refusals for call in calls(server, name)
        if name != "snprintf" or call.startswith("text, sizeof text,") for line in literals(call)]
whys += [line for found in re.findall(r"(?:\*ret_why|\*why|\.text) = ([^;]*?)[;}]", server) for line in literals(found)]
wrong += missing(whys, 14, "refusal")

# A client's lines.
join = source("cli/join/join.c", "cli/join/join_open.c", "cli/join/join_options.c")
lines = [line for name in ("fprintf", "fputs") for call in calls(join, name) if "stderr" in call
         for line in literals(call)
         if "every setting has a name" not in line]
wrong += missing((re.sub("^%s: ", "", line) for line in lines), 12, "line of join")
dial = source("dial/dial.c")
lines = [line for name in ("lose", r"snprintf") for call in calls(dial, name) for line in literals(call)]
wrong += missing(lines, 5, "line of dial")
link = source("link/link.c", "link/link_state.c")
lines = [list(literals(call))[-1] for name in ("caucus_fail", "damaged") for call in calls(link, r"\b" + name)
         if '"' in call]
lines += [line for line in literals(link) if line == "it gave no reason"]
# (the number of a client is wrong use; a round too many is a fault of a program of one's own)
never = "clients 1 to|no round can be played"
wrong += missing((line for line in lines if not re.search(never, line)), 18, "line of link")
reader = source("data/loss_lines.c")
lines = [list(literals(call))[-1] for name in ("caucus_fail", "wrong") for call in calls(reader, r"\b" + name)
         if '"' in call]
wrong += missing(lines, 7, "line about losses")

# The test itself: what is not on the page is found missing.
if not missing(["no such line was ever %s written"], 1, "planted"):
    sys.exit("not ok: a planted line was not missed")
for line in wrong:
    print("not in docs/RUNTIME.md:", line)
print("not ok" if wrong else "ok: operations")
sys.exit(bool(wrong))
PY
