#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shell blocks of the pages, typed from the Markdown itself.

    run_blocks.py SOURCE PROGRAM

Every block of a page in PAGES that is marked sh is run, in order, by a bash of its own in one directory that is empty
at first, with PROGRAM as `caucus`; each must end with 0. A block marked text that follows one says what its output
holds: its lines, in their order, other lines between them; blanks do not matter, and … stands for anything. A block
that is not run has <!-- not run: why --> before it, and there are at most NOT_RUN of those in all. A block with any
other mark, or none, is an error: it says neither whether it is to be typed nor what it is. Port 7400 becomes a free
one, so that several tests may run at once.

Pages that do not hold to this yet are in STILL_TO_COME, and nowhere else: a new page is either run or listed.
"""
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile

PAGES = ("README.md", "docs/TUTORIAL.md", "docs/FIT.md")
STILL_TO_COME = ("docs/ARCHITECTURE.md", "docs/AUDIT.md", "docs/FAILOVER.md", "docs/LINES.md", "docs/OPERATIONS.md",
                 "docs/PAPER.md", "docs/PRIVACY.md", "docs/PROTOCOL.md", "docs/PYTHON.md", "docs/RELEASING.md",
                 "docs/SCALE.md", "docs/TESTING.md", "docs/VECTORS.md")
NOT_RUN = 5
BLOCK = re.compile(r"(?:^<!-- not run: (?P<why>[^\n]+) -->\n)?^```(?P<mark>[^\n]*)\n(?P<text>.*?)^```$", re.S | re.M)
PATIENCE_S = 120 * int(os.environ.get("CAUCUS_PATIENCE", "1"))


class Wrong(Exception):
    """A page that does not do what it says."""


def blocks(page):
    """(mark, text, line, why it is not run) of each fenced block."""
    return [(match["mark"].strip(), match["text"], page.count("\n", 0, match.start("text")), match["why"])
            for match in BLOCK.finditer(page)]


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


def type_page(name, page, program):
    """Type the page; give back how many blocks were not run."""
    port, output, before, not_run, typed = free_port(), "", None, 0, 0
    with tempfile.TemporaryDirectory() as work:
        bin_dir = os.path.join(work, "bin")
        os.makedirs(os.path.join(work, "here"))
        os.mkdir(bin_dir)
        os.symlink(program, os.path.join(bin_dir, "caucus"))
        environment = {**os.environ, "PATH": bin_dir + ":" + os.environ["PATH"], "LC_ALL": "C.UTF-8", "COLUMNS": "200"}
        for mark, text, line, why in blocks(page):
            if why is not None:
                not_run, before = not_run + 1, None
            elif mark == "sh":
                code, output = type_block(text.replace("7400", port), os.path.join(work, "here"), environment)
                before, typed = line, typed + 1
                if code != 0:
                    raise Wrong(f"{name}:{line}: ended with {code}\n{output}")
            elif mark == "text" and before is not None:
                missing = holds(output, text)
                if missing is not None:
                    raise Wrong(f"{name}:{line}: the block of line {before} does not print '{missing}'\n{output}")
            else:
                raise Wrong(f"{name}:{line}: a block marked '{mark}': neither run nor <!-- not run: why -->")
    if typed == 0:
        raise Wrong(f"{name}: nothing was run")
    print(f"{name}: {typed} blocks run, {not_run} not")
    return not_run


def all_pages(source):
    docs = sorted(name for name in os.listdir(os.path.join(source, "docs")) if name.endswith(".md"))
    return {"README.md", *("docs/" + name for name in docs)}


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
    for bad in (good.replace("sh\n", "\n", 1), good.replace("echo two", "false"), good.replace("text\none", "text\n1"),
                good.replace("text\none", "text\ntwo\none"), good.replace("```sh", "```python"), "no block at all\n"):
        if not refused(bad, program):
            raise Wrong(f"this page should be refused:\n{bad}")


def main():
    source, program = sys.argv[1], os.path.abspath(sys.argv[2])
    try:
        check_itself(program)
        if all_pages(source) != {*PAGES, *STILL_TO_COME}:
            raise Wrong("pages and lists differ: " + ", ".join(sorted(all_pages(source) ^ {*PAGES, *STILL_TO_COME})))
        not_run = 0
        for name in PAGES:
            with open(os.path.join(source, name), encoding="utf-8") as file:
                not_run += type_page(name, file.read(), program)
        if not_run > NOT_RUN:
            raise Wrong(f"{not_run} blocks are not run; at most {NOT_RUN} may be")
    except Wrong as error:
        sys.exit(f"not ok: {error}")


if __name__ == "__main__":
    main()
