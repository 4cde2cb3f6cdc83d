#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/REFERENCE.md, and the sections of docs/RUNTIME.md that it leads to, against the program, in both directions.

    reference.py SOURCE PROGRAM

What exists and is not listed fails, and so does what is listed and does not exist: verbs (`caucus help`) and their
manual pages, JSON schemas, headers, names of the Python package, metrics, variables of the environment. Log lines and
refusals: tests/cli/operations.sh looks for all of the sources' on the page; here all of the page's are looked for in
the sources. Every page leads to the glossary, and has no mark that the site would show otherwise than it is meant;
pages that are read first explain the terms they use.
tools/docs-refusals must know what the program says when it refuses some command lines.
"""
import ast
import os
import re
import subprocess
import sys

LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*')
# What stands in the sections on log lines and refusals and is put together when it is said, or is said by others.
ELSEWHERE = ("log-format json", "Connection refused", "certificate expired", "bad certificate",
             "a new run needs a new --state and its own budget", "stay only tells clients that were away",
             "plan the coordinator runs plan", "no announcement at")
# The glossary itself, and pages for those who work on caucus.
NO_TERMS = ("ARCHITECTURE.md", "PICTURES.md", "RELEASING.md", "TESTING.md")
# What somebody who knows no differential privacy reads first, and words that have to be explained there. (SIGN.md is
# read after FIT.md, and says so.)
FIRST = ("README.md", "docs/FIT.md", "docs/TUTORIAL.md", "docs/TUTORIAL_PYTHON.md", "docs/CHOOSE.md")
TERMS = ("expert", "client", "loss", "coordinator", "epsilon", "noise", "regret", "plan", "unit", "ledger", "seed",
         "pure", "delta", "slot", "round", "block", "phase", "relay")
REFUSED = (["plan", "--epsilon", "-1"], ["plan", "--trust", "everybody"], ["pick", "--no-such-option"],
           ["simulate", "--trials", "0"])


def read(root, *names):
    text = ""
    for name in names:
        with open(os.path.join(root, name), encoding="utf-8") as file:
            text += file.read()
    return text


def sources(root, *endings):
    return [os.path.relpath(os.path.join(path, name), root) for path, _, names in os.walk(os.path.join(root, "src"))
            for name in names if name.endswith(endings)]


def section(page, title):
    """A section of a page, up to the next heading of its kind or above."""
    match = re.search(rf"^(#+) {re.escape(title)}$(.*?)(?=^#{{1,2}} |\Z)", page, re.S | re.M)
    if match is None:
        sys.exit(f"not ok: there is no section '{title}'")
    return match[2]


def differences(what, listed, there):
    return [f"{what} '{name}' is not listed" for name in sorted(there - listed)] + \
           [f"{what} '{name}' is listed and does not exist" for name in sorted(listed - there)]


def first_column(text):
    return set(re.findall(r"^\| \[?`?([\w.]+)`?\]?[^|]*\|", text, re.M)) - {"verb", "schema", "header", "file"}


def python_names(root):
    for node in ast.parse(read(root, "python/src/caucus_dp/__init__.py")).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def literals(text):
    """The strings of a C file, put together where they stand side by side."""
    text = re.sub(r'%" PRIu64(?: ")?', lambda m: "%llu" if m[0].endswith('"') else '%llu"', text)
    for match in LITERAL.findall(text):
        said = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match))
        yield " ".join(said.replace("\\n", " ").replace('\\"', '"').split())


def metric_names(root):
    """Of the coordinator and of a relay, as their sources write them."""
    net = "".join(read(root, name) for name in sources(root, ".c") if name.startswith("src/net/"))
    return set(re.findall(r'\b(?:gauge|whole_gauge|counter|head|each_relay)\((?:s, )?to, "(\w+)"', net)) | \
        set(re.findall(r'\{"(\w+)", "(?:gauge|counter)", "', net)) | set(re.findall(r"# TYPE caucus_(\w+) ", net))


def never_said(root, text):
    """Pieces of the page's quoted lines that no string of the sources has; and how many were looked for."""
    said = "\0".join(one for name in sources(root, ".c", ".h") for one in literals(read(root, name)))
    pieces = []
    for quoted in re.findall(r"`([^`]+)`", " ".join(text.split())):
        for piece in re.split(r"\b[A-Z]+\b|…|[0-9]+|['():;]", quoted):
            piece = piece.strip(" ,.—-")
            if len(re.findall("[a-z]", piece)) >= 12 and " " in piece and piece not in ELSEWHERE:
                pieces.append(piece)
    return [f"no source says '{piece}'" for piece in pieces if piece not in said], len(pieces)


def refused_words(root, program):
    """Lines of the program that tools/docs-refusals does not know."""
    page = subprocess.run([os.path.join(root, "tools/docs-refusals")], check=True, stdout=subprocess.PIPE, text=True)
    forms = [re.compile(".*?".join(map(re.escape, said.split("…"))))
             for said in re.findall(r"\| `([^`]+)` \| [123…] \|$", page.stdout, re.M)]
    if len(forms) < 300:
        return [f"tools/docs-refusals finds only {len(forms)} refusals"]
    wrong = []
    for words in REFUSED:
        ended = subprocess.run([program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        line = ended.stderr.strip().splitlines()[-1]
        if ended.returncode != 2 or not any(len(form.pattern) > 12 and form.search(line) for form in forms):
            wrong.append(f"tools/docs-refusals does not know '{line}' (exit code {ended.returncode})")
    return wrong


def badly_marked(name, text):
    """What the site would show otherwise than it is meant: a list without an empty line before it is no list there, and
    stars between letters are emphasis."""
    text = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.S | re.M)
    lines = text.split("\n")
    wrong = [f"{name}: no empty line before the list '{line[:40]}'" for before, line in zip(lines, lines[1:])
             if re.match(r"[-*] ", line) and before.strip() and not re.match(r"[-*] |  ", before)]
    plain = re.sub(r"`[^`]*`", "", text)
    return wrong + [f"{name}: a star between letters: '{star}'" for star in re.findall(r"\w+\*\w+", plain)]


def unexplained(root, pages):
    """Terms that a page for newcomers uses and does not explain: not set as *term* in the paragraph where it is used
    first or the next one, or not in the glossary."""
    glossary = section(read(root, "docs/ARCHITECTURE.md"), "Glossary")
    heads = " ".join(re.findall(r"^- ([^:]*):", glossary, re.M))
    wrong = [f"'{term}' is not in the glossary" for term in TERMS if not re.search(rf"\b{term}\b", heads)]
    for name, text in pages:
        text = re.sub(r"`[^`]*`|\]\([^)]*\)|<[^>]*>", "", re.sub(r"^ *```.*?^ *```$", "", text, flags=re.S | re.M))
        paragraphs = [one for one in text.split("\n\n") if one.strip() and not one.lstrip().startswith("#")]
        for term in TERMS:
            used = next((i for i, one in enumerate(paragraphs) if re.search(rf"\b{term}(?:s|es)?\b", one, re.I)), None)
            said = "\n".join(paragraphs[:used + 2]) if used is not None else ""
            if used is not None and not re.search(rf"\*{term}(?:s|es)?\*", said, re.I):
                wrong.append(f"{name} uses '{term}' and does not explain it there (*{term}*)")
    return wrong


def faults(root, program):
    page, runtime = read(root, "docs/REFERENCE.md"), read(root, "docs/RUNTIME.md")
    overview = subprocess.run([program, "help"], check=True, stdout=subprocess.PIPE, text=True).stdout
    verbs = dict(re.findall(r"^  .{12}  ([a-z]+) +(.*)$", overview, re.M))
    wrong = differences("verb", first_column(section(page, "Commands")), set(verbs))
    wrong += [f"verb '{verb}' is described otherwise than by `caucus help`: {says}" for verb, says in verbs.items()
              if f"| `{verb}` | {says} |" not in page]
    manuals = {name[len("caucus-"):-2] for name in os.listdir(os.path.join(root, "man")) if name.startswith("caucus-")}
    wrong += differences("manual page", set(verbs) - {"version"}, manuals - {"client", "mpi"})
    wrong += differences("schema", first_column(section(page, "JSON")),
                         set(os.listdir(os.path.join(root, "docs/schemas"))))
    wrong += differences("header", first_column(section(page, "C interface")),
                         set(os.listdir(os.path.join(root, "include/caucus"))))
    python = section(page, "Python interface").split("\n\n- ", 1)[1]
    wrong += differences("Python name", set(re.findall(r"`(\w+)`", python)), python_names(root))
    heeded = re.search(r"environment that are heeded: (.*?)\.\n", page, re.S)[1]
    wrong += differences("variable", set(re.findall(r"`(\w+)`", heeded)),
                         set(re.findall(r'\bgetenv\("(\w+)"', read(root, *sources(root, ".c")))))
    metrics = re.search(r"^## Metrics$(.*?)^## ", runtime, re.S | re.M)[1]
    wrong += differences("metric", {name for entry in re.findall(r"^- (`[^:]*):", metrics, re.M)
                                    for name in re.findall(r"`(\w+)`", entry)},
                         metric_names(root))
    wrong += [f"docs/{name} does not lead to the glossary" for name in sorted(os.listdir(os.path.join(root, "docs")))
              if name.endswith(".md") and name not in NO_TERMS
              and "ARCHITECTURE.md#glossary" not in read(root, "docs/" + name)]
    pages = ["README.md"] + ["docs/" + name for name in sorted(os.listdir(os.path.join(root, "docs")))
                             if name.endswith(".md")]
    wrong += [fault for name in pages for fault in badly_marked(name, read(root, name))]
    wrong += unexplained(root, [(name, read(root, name)) for name in FIRST])
    unsaid, looked = never_said(root, runtime.split("## Log lines")[1])
    if looked < 150 or not never_said(root, "`nobody has ever written this line`")[0]:
        wrong.append("the log lines were not found on the page, or one that nobody says is not missed")
    return wrong + unsaid + refused_words(root, program)


def main():
    root, program = sys.argv[1], os.path.abspath(sys.argv[2])
    if differences("x", {"a", "b"}, {"b", "c"}) != ["x 'c' is not listed", "x 'a' is listed and does not exist"]:
        sys.exit("not ok: the test itself")
    if len(badly_marked("x", "so:\n- a\n- b\n  c\n\n- d\n")) != 1 or len(badly_marked("x", "a*b `c*d` *e*\n")) != 1:
        sys.exit("not ok: the test itself")
    tried = "A *plan*, its plans, a ledger and `noise`.\n\nA slot.\n\nMore.\n\nA *slot*."
    if len(unexplained(root, [("x", tried)])) != 2:
        sys.exit("not ok: the test itself")
    wrong = faults(root, program)
    print("\n".join(wrong + ["see docs/REFERENCE.md, and docs/RUNTIME.md for what is said"])
          if wrong else "ok: docs/REFERENCE.md is what the program has")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
