#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shell and Python blocks of the pages, typed from the Markdown itself.

    run_blocks.py [--python] SOURCE PROGRAM

Every page of the tree's root, of docs, python and examples is read, and its blocks are typed in order in one directory
that is empty at first, with PROGRAM as `caucus`; each must end with 0. What a block's mark means:

    sh                  typed into a bash of its own
    python              typed into Python after the page's Python blocks before it
    text                what the block before it prints: these lines, in their order, other lines between them; blanks
                        do not matter, and … stands for anything
    LANGUAGE title="F"  kept in the directory as file F, for the blocks after it
    yaml                read as YAML
    hex NAME            an example of docs/PROTOCOL.md, which its tests read (tests/wire, tests/e2e/peer.py)
    diagram             a picture or a formula in letters: it holds nothing that could be typed

A block that is not run has <!-- not run: why --> before it, which counts for the text after it, too; there are at most
NOT_RUN of those in all. Any other mark, or none, is an error: the block says neither whether it is to be typed nor what
it is. The ports 7400 and 8080 become free ones, so that several tests may run at once. Where PROGRAM stands in a build
directory, pkg-config finds the headers of SOURCE and the libraries beside PROGRAM; installed ones it finds by itself.

With CAUCUS_INSTRUMENTED in the environment pages that compile a program are only read. Pages in PYTHON_PAGES need the
package caucus_dp: they are typed with --python, by tools/python-test, and only read without.
"""
import glob
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap

try:
    import yaml
except ImportError:  # tools/python-test types Python's pages in an environment without it; the others are read by ctest
    yaml = None

PAGES = ("*.md", "docs/*.md", "python/*.md", "examples/*/*.md")
PYTHON_PAGES = ("docs/NOTEBOOK.md", "docs/PYTHON.md", "docs/TUTORIAL_PYTHON.md", "python/README.md")
TYPED = ("README.md", "docs/CHOOSE.md", "docs/EMBED.md", "docs/LINES.md", "docs/OPERATIONS.md",
         "docs/SIGN.md", "docs/TUTORIAL.md")  # these have something
NOT_RUN = 5
BLOCK = re.compile(r"(?:^ *<!-- not run: (?P<why>[^\n]+) -->\n)?"
                   r"^(?P<in> *)```(?P<mark>[^\n]*)\n(?P<text>.*?)^(?P=in)```$", re.S | re.M)  # also within a list
FILE = re.compile(r'[a-z]+ title="([a-z0-9.-]+)"')
COMMAND = re.compile(r"^\s*(\$ |sudo |caucus |make |cmake |ctest |mpirun |python3? |pip |bash |import )", re.M)
PATIENCE_S = 120 * int(os.environ.get("CAUCUS_PATIENCE", "1"))


class Wrong(Exception):
    """A page that does not do what it says."""


def blocks(page):
    """(mark, text, line, why it is not run) of each fenced block."""
    return [(match["mark"].strip(), textwrap.dedent(match["text"]), page.count("\n", 0, match.start("text")),
             match["why"]) for match in BLOCK.finditer(page)]


def free_port():
    """Outside the ports that the system hands out by itself, so that nobody else comes upon it."""
    for _ in range(200):
        port = random.randrange(20000, 30000)
        with socket.socket() as tried:
            try:
                tried.bind(("127.0.0.1", port))
                return str(port)
            except OSError:
                continue
    raise Wrong("no free port")


def squeezed(text):
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def holds(output, said):
    """The first line that the output does not have after the ones before it, or None."""
    lines = iter(squeezed(output))
    for line in squeezed(said):
        form = re.compile(".*".join(map(re.escape, line.split("…"))))
        if not any(form.search(found) for found in lines):
            return line
    return None


def type_block(text, folder, environment):
    """(exit code, output) of a block; whatever it has started and not waited for ends with it."""
    with subprocess.Popen(["bash", "-eu", "-o", "pipefail", "-c", text], cwd=folder, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True) as shell:
        try:
            output, code = shell.communicate(timeout=PATIENCE_S)[0], shell.returncode
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            output, code = shell.communicate()[0] + "it did not end\n", 1
    return code, output


class Page:
    """A page that is being typed: its directory, its ports, and what came before."""

    def __init__(self, name, folder, environment):
        self.name, self.folder, self.environment = name, folder, environment
        self.ports = {"7400": free_port(), "8080": free_port()}
        self.output, self.before, self.python, self.typed, self.not_run = "", None, "", 0, 0

    def ours(self, text):
        for port, free in self.ports.items():
            text = text.replace(port, free)
        return text

    def run(self, text, line):
        code, self.output = type_block(text, self.folder, self.environment)
        self.before, self.typed = line, self.typed + 1
        if code != 0:
            raise Wrong(f"{self.name}:{line}: ended with {code}\n{self.output}")

    def keep(self, file, text):
        with open(os.path.join(self.folder, file), "w", encoding="utf-8") as kept:
            kept.write(text)

    def type(self, mark, text, line):
        if mark == "sh":
            self.run(self.ours(text), line)
        elif mark == "python":
            self.python += self.ours(text)
            self.keep("typed.py", self.python)
            self.run("python3 typed.py", line)
        elif mark == "text" and self.before is not None:
            missing = holds(self.output, text)
            if missing is not None:
                raise Wrong(f"{self.name}:{line}: the block of line {self.before} does not print '{missing}'\n"
                            + self.output)
        elif FILE.fullmatch(mark):
            self.keep(FILE.fullmatch(mark)[1], self.ours(text))


def check_block(name, mark, text, line, said):
    """Whether a block says what it is; `said`: a block before it prints something."""
    if yaml and (mark == "yaml" or mark.startswith("yaml title=")):
        try:
            yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise Wrong(f"{name}:{line}: not YAML: {error}") from error
    if mark == "diagram" and COMMAND.search(text):
        raise Wrong(f"{name}:{line}: this diagram can be typed: '{COMMAND.search(text)[0].strip()}'")
    if not (mark in ("sh", "python", "yaml", "diagram") or mark == "text" and said or FILE.fullmatch(mark)
            or mark.startswith("hex ")):
        raise Wrong(f"{name}:{line}: a block marked '{mark}': neither run nor <!-- not run: why -->")


def check_page(name, text):
    """How many blocks are not run, of a page whose blocks all say what they are; and how many are."""
    not_run = runs = 0
    said = False
    for mark, block, line, why in blocks(text):
        if why is None:
            check_block(name, mark, block, line, said)
            runs += mark in ("sh", "python")
        else:
            not_run += 1
        said = mark in ("sh", "python", "text")
    return not_run, runs


def describe_library(folder, source, build):
    """A file for pkg-config about a library that is not installed."""
    with open(os.path.join(folder, "caucus.pc"), "w", encoding="utf-8") as file:
        file.write(f"Name: caucus\nDescription: not installed\nVersion: 0\nCflags: -I{source}/include\n"
                   f"Libs: -L{build} -Wl,-rpath,{build} -lcaucus\n")


def type_page(name, text, program, source="."):
    """Type the page; give back how many blocks were not run."""
    not_run, _ = check_page(name, text)
    with tempfile.TemporaryDirectory() as work:
        bin_dir, here = os.path.join(work, "bin"), os.path.join(work, "here")
        os.mkdir(here)
        os.mkdir(bin_dir)
        os.symlink(program, os.path.join(bin_dir, "caucus"))
        environment = {**os.environ, "PATH": bin_dir + ":" + os.environ["PATH"], "LC_ALL": "C.UTF-8", "COLUMNS": "200"}
        if os.path.exists(os.path.join(os.path.dirname(program), "libcaucus.so")):
            describe_library(bin_dir, os.path.abspath(source), os.path.dirname(program))
            environment["PKG_CONFIG_PATH"] = bin_dir
        page = Page(name, here, environment)
        for mark, block, line, why in blocks(text):
            if why is None:
                page.type(mark, block, line)
            else:
                page.before = None
    print(f"{name}: {page.typed} blocks run, {not_run} not")
    return not_run


def all_pages(source):
    """Name and text of every page."""
    for form in PAGES:
        for path in sorted(glob.glob(os.path.join(source, form))):
            with open(path, encoding="utf-8") as file:
                yield os.path.relpath(path, source), file.read()


def refused(page, program):
    try:
        type_page("a page", page, program)
    except Wrong:
        return True
    return False


def check_itself(program):
    """Broken pages are refused; otherwise this test proves nothing."""
    good = "```sh\necho one; echo two\n```\n\n```text\none\n```\n"
    if type_page("a good page", good, program) != 0:
        raise Wrong("a good page has a block that is not run")
    kept = '```yaml title="a.yaml"\na: [1, 2]\n```\n```sh\ncat a.yaml\n```\n```text\na: [1, 2]\n```\n'
    type_page("a page with a file", kept, program)
    type_page("a page of Python", "```python\na = 1\n```\n```python\nprint(a + 1)\n```\n```text\n2\n```\n", program)
    type_page("a page with a diagram", "```diagram\na --> b\n```\n", program)
    if type_page("a page that is not run", "<!-- not run: why -->\n" + good.replace("one", "false"), program) != 1:
        raise Wrong("what is not run is not counted once")
    type_page("a list", "- so:\n\n" + textwrap.indent(good, "  "), program)
    for bad in (textwrap.indent(good.replace("echo two", "false"), "  "), good.replace("sh\n", "\n", 1),
                good.replace("echo two", "false"), good.replace("text\none", "text\n1"),
                good.replace("text\none", "text\ntwo\none"), good.replace("```sh", "```python"),
                good.replace("```sh", "```c"), good.replace("```sh\necho", "```diagram\ncaucus"),
                "```text\nnobody printed this\n```\n", kept.replace("cat a", "cat b"),
                *([kept.replace("a: [1", "a: [1]")] if yaml else [])):
        if not refused(bad, program):
            raise Wrong(f"this page should be refused:\n{bad}")


def main():
    words = sys.argv[1:]
    with_python = words[:1] == ["--python"]
    source, program = words[with_python], os.path.abspath(words[with_python + 1])
    try:
        check_itself(program)
        not_run = 0
        for name, text in all_pages(source):
            compiles = "CAUCUS_INSTRUMENTED" in os.environ and "```c title=" in text
            if (name in PYTHON_PAGES) == with_python and not compiles:
                not_run += type_page(name, text, program, source)
            else:
                not_run += check_page(name, text)[0]
            if name in (*TYPED, *PYTHON_PAGES) and check_page(name, text)[1] == 0:
                raise Wrong(f"{name}: nothing is run")
        if not_run > NOT_RUN:
            raise Wrong(f"{not_run} blocks are not run; at most {NOT_RUN} may be")
    except Wrong as error:
        sys.exit(f"not ok: {error}")


if __name__ == "__main__":
    main()
