#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The numbered statements of docs/PRIVACY.md and those who cite them.

    statements.py [SOURCE]

A statement is written **Statement N** (`FILE`; `TEST`): the file that does it, then the test that holds it. N runs from
1 without gaps. Both files must be there and cite the number ("docs/PRIVACY.md, statement N", or "statements 4, 5 and
30"), FILE in src or include and TEST in tests. Every citation of a number, wherever it stands, must be of a statement
that exists.

A statement is set so that a person can check it on a screen: it begins a paragraph, what it claims takes few lines,
then come its premises, if it has some, and its proof, a list of short steps that ends with QED. A symbol in it is in
the page's table, or is introduced in its section ("V is", "with V =", "every V"). All other proofs of the page are set
as lists, too. The check is checked itself first, on a tree with one fault of each kind.
"""
import os
import re
import sys
import tempfile

STATEMENT = re.compile(r"\*\*Statement (\d+)\*\*\s+\(([^)]*)\)")
CITED = re.compile(r"docs/PRIVACY\.md,\s+statements?\s+((?:\d+(?:,\s+|\s+and\s+)?)+)")
AGAIN = re.compile(r"\(statement (\d+) there\)")
SYMBOL = re.compile(r"(?<![\w`'\-/.])([A-Zb-z]'?(?:_\w+)?|eta|rho|alpha|beta|lam|mu|phi)(?![\w'\-])")
INTRODUCED = (r"(?<![\w']){}(?![\w'])(?: =| :=|,? the | is | are | in | uniform| drawn| fresh| of | that |\(\w+\) <=)",
              r"\b(?:[Ll]et|with|every|each|all|some|its|the|rate|weights|steps|same|pmf|variables) {}(?![\w'])")
CLAIM_LINES, PREMISE_LINES, STEP_LINES, LEAD_LINES = 6, 4, 4, 3
FOLDERS = ("src", "include", "tests", "bench", "examples", "python", "docs", "man")
ENDINGS = (".c", ".h", ".py", ".sh", ".md", ".1")


def cited_in(text):
    """The numbers that a file cites; a comment may break the line anywhere."""
    flat = re.sub(r"\s*\n[ \t]*(?:\*|#|//)?[ \t]*", " ", text)
    found = {int(n) for match in CITED.finditer(flat) for n in re.findall(r"\d+", match[1])}
    return found | {int(n) for n in AGAIN.findall(flat)}


def citations(root):
    """File: the numbers that it cites."""
    found = {}
    for folder in FOLDERS:
        for path, dirs, names in os.walk(os.path.join(root, folder)):
            dirs[:] = sorted(d for d in dirs if d != "corpus")
            for name in sorted(names):
                whole = os.path.join(path, name)
                inside = os.path.relpath(whole, root)
                if name.endswith(ENDINGS) and inside not in ("docs/PRIVACY.md", "tests/docs/statements.py"):
                    with open(whole, encoding="utf-8", errors="replace") as file:
                        found[inside] = cited_in(file.read())
    return found


def proof_faults(lead, steps):
    """How a proof is not a list of short steps that ends with QED: the paragraph *Proof.*, and the one after it."""
    if lead.count("\n") >= LEAD_LINES or not steps.startswith("- "):
        return ["its proof is not a list of steps"]
    long = [step for step in re.split(r"\n(?=- )", steps) if step.count("\n") >= STEP_LINES]
    wrong = [f"a step of its proof has more than {STEP_LINES} lines: {step[:60]}" for step in long]
    return wrong + ([] if steps.rstrip().endswith("QED.") else ["its proof does not end with QED"])


def symbols_of_table(page):
    """The symbols that the table at the beginning of the page explains."""
    rows = re.findall(r"^\| ([^|]+) \|", page.partition("| symbol |")[2].partition("\n\n")[0], re.MULTILINE)
    return {"e"} | {name for row in rows for name in re.findall(r"[A-Za-z][\w']*", row)}


def form_faults(page):
    """Statements and proofs that are not set as the first lines of this file say."""
    wrong, known = [], symbols_of_table(page)
    for match in STATEMENT.finditer(page):
        what = f"docs/PRIVACY.md, statement {match[1]}: "
        start = match.start()
        ends = [at for at in (page.find(mark, start + 1) for mark in ("\n**Statement", "\n## ", "\n### ")) if at > 0]
        paragraphs = page[start:min(ends, default=len(page))].strip().split("\n\n")
        if not re.search(r"(?:\n|\n#[^\n]*)\n$", page[:start]):
            wrong.append(what + "does not begin a paragraph")
        if paragraphs[0].count("\n") >= CLAIM_LINES:
            wrong.append(what + f"its claim has more than {CLAIM_LINES} lines")
        proof = next((i for i, text in enumerate(paragraphs) if text.startswith("*Proof.*")), 0)
        if proof == 0 or proof + 1 == len(paragraphs):
            wrong.append(what + "has no proof")
            continue
        for text in paragraphs[1:proof]:
            if not text.startswith(("*Premise.*", "|")) or (text[0] == "*" and text.count("\n") >= PREMISE_LINES):
                wrong.append(what + f"between claim and proof: {text[:60]}")
        wrong += [what + fault for fault in proof_faults(paragraphs[proof], paragraphs[proof + 1])]
        whole = re.sub(r"`[^`]*`", "", "\n\n".join(paragraphs[:proof + 2]))
        before = max(page.rfind("\n## ", 0, start), page.rfind("\n### ", 0, start), 0)
        section = " ".join((page[before:start] + whole).split())
        for name in sorted({n for n in SYMBOL.findall(whole) if n != "A" or re.search(r"[(|]A\b|\bA[,)]", whole)}):
            stem = name.partition("_")[0].rstrip("'")
            if not known & {name, stem} and not any(re.search(form.format(re.escape(part)), section)
                                                    for form in INTRODUCED for part in (name, stem + "_n")):
                wrong.append(what + f"the symbol {name} is nowhere introduced")
    texts = page.split("\n\n") + [""]
    for lead, steps in zip(texts, texts[1:]):
        if "*Proof.*" in lead and (not lead.startswith("*Proof.*") or proof_faults(lead, steps)):
            wrong.append(f"docs/PRIVACY.md: a proof that is not a list of steps: {lead[lead.index('*Proof.*'):][:60]}")
    return wrong


def faults(root):
    """What is wrong, line by line, and how many statements there are."""
    with open(os.path.join(root, "docs/PRIVACY.md"), encoding="utf-8") as file:
        page = file.read()
    stated = [(int(n), re.findall(r"`([^`]+)`", files)) for n, files in STATEMENT.findall(page)]
    numbers, cited, wrong = [n for n, _ in stated], citations(root), form_faults(page)
    if numbers != list(range(1, len(numbers) + 1)):
        wrong.append(f"docs/PRIVACY.md: the statements are not 1, 2, 3, ...: {numbers}")
    for number, files in stated:
        if len(files) != 2 or not files[0].startswith(("src/", "include/")) or not files[1].startswith("tests/"):
            wrong.append(f"docs/PRIVACY.md, statement {number}: names {files}, not a file of src or include and a test")
            continue
        for name in files:
            if number not in cited.get(name, ()):
                wrong.append(f"{name} does not cite docs/PRIVACY.md, statement {number}, which names it")
    for name, those in cited.items():
        missing = sorted(those - set(numbers))
        wrong += [f"{name} cites docs/PRIVACY.md, statement {n}, which is not there" for n in missing]
    return wrong, len(stated)


def check_itself():
    """A tree without a fault passes, and each fault is found."""
    proof = "*Proof.*\n\n- Let u = 1: G is larger.\n- So it is. QED.\n\n"
    page = ("| symbol | what |\n|---|---|\n| G | steps |\n\n## One\n"
            "**Statement 1** (`src/a.c`;\n`tests/b.c`). It holds.\n\n*Premise.* G > 1.\n\n" + proof +
            "**Statement 2** (`src/a.c`; `tests/b.c`). It does.\n\n" + proof)
    good = {"docs/PRIVACY.md": page, "src/a.c": "/* docs/PRIVACY.md,\n * statements 1\n * and 2. */\n",
            "tests/b.c": "/* docs/PRIVACY.md, statement 1; docs/PRIVACY.md, statement 2 */\n"}
    for name, text in (("", ""), ("docs/PRIVACY.md", page.replace("Statement 2", "Statement 3")),
                       ("docs/PRIVACY.md", page.replace("`src/a.c`; `", "`")),
                       ("docs/PRIVACY.md", page.replace("- Let", "Let")),
                       ("docs/PRIVACY.md", page.replace(" QED.", "")),
                       ("docs/PRIVACY.md", page.replace("So it is.", "So" + 5 * "\n  it" + " is.")),
                       ("docs/PRIVACY.md", page.replace("It does.", "It" + 7 * "\ndoes" + ".")),
                       ("docs/PRIVACY.md", page.replace("*Premise.* G", "G")),
                       ("docs/PRIVACY.md", page.replace("Let u = 1", "Now v > 1")),
                       ("docs/PRIVACY.md", page.replace("It does.\n\n" + proof, "It does.\n")),
                       ("docs/PRIVACY.md", page.replace("**Statement 2", "So: **Statement 2")),
                       ("docs/PRIVACY.md", page + "*Bound.* It is. *Proof.* As above. QED.\n"),
                       ("src/a.c", "/* docs/PRIVACY.md, statement 1 */\n"),
                       ("tests/b.c", "/* docs/PRIVACY.md, statement 2 */\n"),
                       ("tests/c.c", "/* docs/PRIVACY.md, statements 1 and 12 */\n")):
        with tempfile.TemporaryDirectory() as root:
            for file, words in {**good, **({name: text} if name else {})}.items():
                os.makedirs(os.path.dirname(os.path.join(root, file)), exist_ok=True)
                with open(os.path.join(root, file), "w", encoding="utf-8") as out:
                    out.write(words)
            found = faults(root)[0]
            if bool(found) != bool(name):
                sys.exit(f"not ok: the check itself: {name or 'a good tree'}: {found}")


def main():
    check_itself()
    wrong, count = faults(sys.argv[1] if len(sys.argv) > 1 else ".")
    print("\n".join(wrong))
    print(f"{count} statements, {len(wrong)} faults")
    sys.exit(1 if wrong or count < 20 else 0)


if __name__ == "__main__":
    main()
