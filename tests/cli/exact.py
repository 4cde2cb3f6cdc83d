#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exact output of the program: runs the commands of a transcript and compares what they print, byte for byte.

    exact.py FILE.exact...            run and compare; a difference is shown as a diff and fails
    exact.py --update FILE.exact...   write what the commands print now into the files (read the diff before committing)

CAUCUS is the program; a command finds it as `caucus`. Lines of a transcript:

    # words          what the next command shows; kept as they are, as are empty lines
    $ command        run by bash (pipefail), standard input empty, in a directory of its own that all commands of a file
    > more of it     share; `source` in it is the source tree
    1| line          standard output
    2| line          standard error
    1\\ line          the same without an end of line (2\\ for standard error)
    = 2              exit code, where it is not 0
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS = 60  # for one command; only one that hangs takes as long


def read(text, path):
    """The transcript as a list of (kept lines before the command, the command's lines)."""
    steps, kept, command = [], [], []
    for number, line in enumerate(text.split("\n")[:-1], 1):
        if line.startswith("$ "):
            steps.append((kept, [line]))
            kept, command = [], steps[-1][1]
        elif line.startswith("> ") and command:
            command.append(line)
        elif line == "" or line.startswith("#"):
            kept.append(line)
        elif not (steps and not kept and re.match(r"[12][|\\]|= \d+$", line)):
            raise SystemExit(f"{path}:{number}: not a line of a transcript: {line}")
    return steps, kept


def marked(mark, data):
    """What was printed, as lines of a transcript."""
    if not data:
        return []
    lines = data.decode("utf-8", "backslashreplace").split("\n")
    out = [f"{mark}| {line}".rstrip(" ") if line == "" else f"{mark}| {line}" for line in lines[:-1]]
    return out + ([f"{mark}\\ {lines[-1]}"] if lines[-1] else [])


def play(text, path):
    """The transcript with what the commands print now, and how many there were."""
    steps, rest = read(text, path)
    out = []
    program = Path(os.environ["CAUCUS"]).resolve()
    with tempfile.TemporaryDirectory() as bin_dir, tempfile.TemporaryDirectory() as work:
        (Path(bin_dir) / "caucus").symlink_to(program)
        (Path(work) / "source").symlink_to(Path(__file__).resolve().parents[2])
        env = dict(os.environ, PATH=f"{bin_dir}:{os.environ['PATH']}", LC_ALL="C.UTF-8")
        for kept, command in steps:
            script = "set -o pipefail\n" + "\n".join(line[2:] for line in command)
            done = subprocess.run(["bash", "-c", script], cwd=work, env=env, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=SECONDS, check=False)
            out += kept + command + marked(1, done.stdout) + marked(2, done.stderr)
            out += [f"= {done.returncode}"] if done.returncode != 0 else []
    return "".join(line + "\n" for line in out + rest), len(steps)


def main(arguments):
    update = arguments[:1] == ["--update"]
    failed = 0
    for path in map(Path, arguments[update:]):
        old = path.read_bytes().decode()
        new, commands = play(old, path)
        if commands == 0:
            print(f"not ok: {path}: no command")
            failed += 1
        elif new == old:
            print(f"ok: {path.name}: {commands} commands")
        elif update:
            path.write_bytes(new.encode())
            print(f"{path}: rewritten")
        else:
            both = old.splitlines(True), new.splitlines(True)
            sys.stdout.writelines(difflib.unified_diff(*both, str(path), "printed now"))
            print(f"not ok: {path.name}; if this is meant:")
            print(f"  CAUCUS={os.environ['CAUCUS']} tests/cli/exact.py --update {path}")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1:] == ["--update"] or "CAUCUS" not in os.environ:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
