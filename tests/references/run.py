#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""References from code, tests, scripts and documents to documents lead somewhere.

Found are `docs/NAME.md` (the file must exist), `docs/NAME.md, "Title"` (the file must have a heading "Title"; several
titles may follow one another), links of Markdown ([text](path#anchor)), and the sections that `plan --explain` names
(say(e, "Title", ...) in the show layer, headings of docs/PRIVACY.md), lemmas by name ("lemma AT": a heading of
docs/PRIVACY.md), and in sources and documents the names of C files (grid.h, dp/grid.h). The check is checked itself
first, on a tree with one dead reference of each kind. Usage: run.py [SOURCE_DIR]
"""
import os
import re
import sys
import tempfile

FOLDERS = ("src", "include", "tests", "bench", "examples", "tools", "docs", "man", "cmake", "proto",
           "experiments", "web", ".github", ".ci")
ENDINGS = (".c", ".h", ".md", ".py", ".sh", ".bash", ".cmake", ".1", ".inc", ".yaml", ".yml", ".proto", ".html", ".js")
REFERENCE = re.compile(r'(?<![\w/.-])(docs/[A-Za-z_/]+\.(?:md|json))((?:[,:;]? \(?(?:and )?"[^"\n]{2,60}"\)?)*)')
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
EXPLAINED = re.compile(r'\b(?:caucus_explain_)?say\(\s*e,\s*"([^"]+)"')
LEMMA = re.compile(r"\b[Ll]emma ([A-Z]+)\b")
C_FILE = re.compile(r"(?<![\w<*$}.-])((?:[a-z_0-9]+/)*[a-z][a-z_0-9]{2,}\.[ch])(?![\w(])")
KEPT = re.compile(r'^```c title="([a-z0-9_.-]+)"', re.M)  # a file that a page has its reader make
NAMES_C_FILES = ("src/", "include/", "bench/", "examples/", "docs/")


def plain(title):
    return re.sub(r"[`*_]", "", title).strip()


def anchor(title):
    return re.sub(r"[^\w\- ]", "", plain(title).lower()).replace(" ", "-")


def headings(path):
    with open(path, encoding="utf-8") as file:
        return [plain(match.group(1)) for match in re.finditer(r"^#+ (.*)$", file.read(), re.M)]


def sources(root):
    for name in sorted(os.listdir(root)):
        if name == "Makefile" or name.endswith(".md") and name != "CHANGELOG.md":  # the past may speak of what is gone
            yield name
    for folder in FOLDERS:
        for path, dirs, names in os.walk(os.path.join(root, folder)):
            dirs[:] = sorted(d for d in dirs if d not in ("corpus", "references"))
            for name in sorted(names):
                if name.endswith(ENDINGS) or "." not in name:
                    yield os.path.relpath(os.path.join(path, name), root)


def c_files(root):
    """Every C file by its path and by the paths that includes and comments use."""
    paths = set()
    for folder in ("src", "include", "tests", "bench", "examples"):
        for path, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                whole = os.path.relpath(os.path.join(path, name), root)
                paths.update((whole, name, whole.partition("/")[2]))
    return paths


def dead(root):
    """Lines that say which reference leads nowhere, and how many were looked at."""
    found, looked = [], 0
    known_files = c_files(root)
    lemmas = headings(os.path.join(root, "docs/PRIVACY.md"))
    for name in sources(root):
        with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
            text = file.read()
        flat = re.sub(r"\s*\n[ \t]*(?:\*|#|//|\.\\\")?[ \t]*", " ", text)
        for match in REFERENCE.finditer(flat):
            looked += 1
            target = os.path.join(root, match.group(1))
            if not os.path.exists(target):
                found.append(f"{name}: {match.group(1)} does not exist")
                continue
            known = headings(target)
            for title in re.findall(r'"([^"]*)"', match.group(2)):
                if plain(title) not in known:
                    found.append(f'{name}: {match.group(1)} has no section "{title}"')
        for lemma in LEMMA.findall(flat):
            looked += 1
            if f"Lemma {lemma}" not in lemmas:
                found.append(f"{name}: docs/PRIVACY.md has no lemma {lemma}")
        if name.startswith(NAMES_C_FILES):
            kept = KEPT.findall(text)
            for line in text.split("\n"):
                for path in [] if line.lstrip().startswith("#include") else C_FILE.findall(line):
                    looked += 1
                    if path not in known_files and path not in kept and not path.endswith(".pb-c.h"):
                        found.append(f"{name}: there is no file {path}")
        if name.endswith(".md"):
            for link in LINK.findall(text):
                if re.match(r"[a-z]+:", link):
                    continue
                looked += 1
                path, _, mark = link.partition("#")
                target = os.path.join(root, os.path.dirname(name), path) if path else os.path.join(root, name)
                if not os.path.exists(target):
                    found.append(f"{name}: the link {link} leads nowhere")
                elif mark and target.endswith(".md") and mark not in map(anchor, headings(target)):
                    found.append(f"{name}: the link {link} names no section")
        if name.startswith("src/show/"):
            privacy = headings(os.path.join(root, "docs/PRIVACY.md"))
            for title in EXPLAINED.findall(flat):
                looked += 1
                if title not in privacy:
                    found.append(f'{name}: docs/PRIVACY.md has no section "{title}"')
    return found, looked


def self_test():
    with tempfile.TemporaryDirectory() as root:
        for folder in ("src/show", "docs", "proto", "tools"):
            os.makedirs(os.path.join(root, folder))

        def put(name, text):
            with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                file.write(text)

        put("docs/PRIVACY.md", "# Privacy\n\n## The grid\n\nSee [here](#the-grid).\n")
        put("src/show/a.c", '/* docs/PRIVACY.md,\n * "The\n * grid" */\nsay(e, "The grid", "x");\n')
        put("README.md", "[privacy](docs/PRIVACY.md#the-grid)\n")
        if dead(root)[0]:
            sys.exit(f"self-test: a faultless tree was refused: {dead(root)[0]}")
        broken = {
            "src/show/b.c": '/* docs/PRIVACY.md, "The grille" */\n',
            "src/show/c.c": "/* docs/SECRECY.md */\n",
            "src/show/d.c": 'say(e, "The grille", "x");\n',
            "docs/E.md": "[x](../nowhere.md)\n",
            "docs/F.md": "[x](PRIVACY.md#the-grille)\n",
            "src/show/g.c": "/* By lemma XY. */\n",
            "src/show/h.c": "/* See dp/gone.h. */\n",
            "Makefile": "# docs/SECRECY.md\n",
            "proto/x.proto": "// docs/SECRECY.md\n",
            "tools/y": "# docs/SECRECY.md\n",
        }
        for name, text in broken.items():
            put(name, text)
            if len(dead(root)[0]) != 1:
                sys.exit(f"self-test: not caught: {text!r} ({dead(root)[0]})")
            os.remove(os.path.join(root, name))
            print("caught:", text.strip())


self_test()
wrong, count = dead(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("CAUCUS_SOURCE", "."))
print("\n".join(wrong))
print(f"{count} references, {len(wrong)} of them dead")
sys.exit(1 if wrong or count < 100 else 0)
