#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Errors below the program: none names a flag or a verb (the program adds those), and nobody decides by an error's
# words.
set -euo pipefail
: "${CAUCUS_SOURCE:?source directory}"
python3 - "$CAUCUS_SOURCE" <<'PY'
import pathlib, re, sys

FLAG = re.compile(r"(?<![\w-])--[a-z]")
VERB = re.compile(r"\bcaucus (audit|certify|join|plan|privacy|reproduce|serve|simulate|up)\b")
WORDS = re.compile(r"\bstr(n?cmp|n?casecmp|str)\s*\([^;{]*\b\w+(?:->|\.)(?:text|hint)\b[^;]*;")
ERROR = re.compile(r"caucus_error\s*\*?\s*(\w+)")

def calls(text):
    """The argument lists of everything that makes an error."""
    for found in re.finditer(r"\b(?:caucus_fail(?:_os|_hint)?|refuse\w*|damaged|fail_\w+)\s*\(", text):
        depth, end = 1, found.end()
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        yield text[found.end():end]

def wrong(name, text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for call in calls(text):
        said = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', call))
        if FLAG.search(said) or VERB.search(said):
            yield f"{name}: an error that names a flag or a verb: {said}"
    errors = set(ERROR.findall(text))
    for found in WORDS.finditer(text):
        if any(re.search(rf"\b{error}(->|\.)(text|hint)", found.group()) for error in errors):
            yield f"{name}: a decision by an error's words: {' '.join(found.group().split())}"

# The check itself: what is planted is found.
planted = ['caucus_fail(e, 1, "x", "give --deadline, too");', 'caucus_fail_hint(e, s, "see caucus plan");',
           'caucus_error error; if (strcmp(error.text, "x") == 0) f();',
           'caucus_error *e; if (strstr(e->hint, "x")) f();']
for text in planted:
    if not list(wrong("planted", text)):
        sys.exit(f"not ok: not found: {text}")
for text in ['caucus_fail(e, 1, "x", "give \'deadline\'");',
             'caucus_error error; if (strcmp(t.text, "auto") == 0) f();']:
    if list(wrong("fine", text)):
        sys.exit(f"not ok: found though it is fine: {text}")
source = pathlib.Path(sys.argv[1]) / "src"
found, made = [], 0
for path in sorted(source.rglob("*.[ch]")):
    text = path.read_text()
    if path.relative_to(source).parts[0] != "cli":
        found += wrong(path.relative_to(source), text)
        made += len(list(calls(text)))
    else:
        found += [line for line in wrong(path.relative_to(source), text) if "decision" in line]
for line in found:
    print(line)
if made < 200:
    sys.exit(f"not ok: only {made} errors found in the sources")
print("not ok" if found else f"ok: {made} errors")
sys.exit(bool(found))
PY
