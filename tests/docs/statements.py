#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The numbered statements of docs/PRIVACY.md and those who cite them.

    statements.py [SOURCE]

A statement is written **Statement N** (`FILE`; `TEST`): the file that does it, then the test that holds it. N runs from
1 without gaps. Both files must be there and cite the number ("docs/PRIVACY.md, statement N", or "statements 4, 5 and
30"), FILE in src or include and TEST in tests. Every citation of a number, wherever it stands, must be of a statement
that exists. The check is checked itself first, on a tree with one fault of each kind.
"""
import os
import re
import sys
import tempfile

STATEMENT = re.compile(r"\*\*Statement (\d+)\*\*\s+\(([^)]*)\)")
CITED = re.compile(r"docs/PRIVACY\.md,\s+statements?\s+((?:\d+(?:,\s+|\s+and\s+)?)+)")
AGAIN = re.compile(r"\(statement (\d+) there\)")
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


def faults(root):
    """What is wrong, line by line, and how many statements there are."""
    with open(os.path.join(root, "docs/PRIVACY.md"), encoding="utf-8") as file:
        stated = [(int(n), re.findall(r"`([^`]+)`", files)) for n, files in STATEMENT.findall(file.read())]
    numbers, cited, wrong = [n for n, _ in stated], citations(root), []
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
    page = "**Statement 1** (`src/a.c`;\n`tests/b.c`). It holds.\n**Statement 2** (`src/a.c`; `tests/b.c`). It does.\n"
    good = {"docs/PRIVACY.md": page, "src/a.c": "/* docs/PRIVACY.md,\n * statements 1\n * and 2. */\n",
            "tests/b.c": "/* docs/PRIVACY.md, statement 1; docs/PRIVACY.md, statement 2 */\n"}
    for name, text in (("", ""), ("docs/PRIVACY.md", page.replace("Statement 2", "Statement 3")),
                       ("docs/PRIVACY.md", page.replace("`src/a.c`; `", "`")),
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
