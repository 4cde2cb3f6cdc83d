#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The progress bar fits the terminal it is drawn on: no line is wider than the window, whatever its width, and what is
# done is always to be read. Drawn on pseudo-terminals by Python.
set -euo pipefail
: "${CAUCUS:?path of the program}"
if ! /usr/bin/python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
    echo "skipped: there are no pseudo-terminals here"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
/usr/bin/python3 - "$CAUCUS" <<'END'
import fcntl, os, pty, re, struct, subprocess, sys, termios, time
failures = 0

def drawn(columns, arguments, until=b""):
    """What `caucus ARGUMENTS` draws on a terminal of that width, piece by piece (\\r starts a piece)."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    nothing = subprocess.DEVNULL
    child = subprocess.Popen([sys.argv[1], *arguments], stdin=nothing, stdout=nothing, stderr=slave)
    os.close(slave)
    seen = b""
    while seen.count(b"\r") < 4 or until not in seen[:seen.rfind(b"\r")]:  # a few drawings are enough
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    child.terminate()
    os.set_blocking(master, False)
    while child.poll() is None:
        try:
            os.read(master, 65536)
        except (BlockingIOError, OSError):
            time.sleep(0.02)
    os.close(master)
    text = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", seen.decode(errors="replace"))
    return [line for line in re.split(r"[\r\n]+", text)[:-1] if re.search(r"\d+/\d+", line)]

run = ["simulate", "--algorithm", "limited-updates", "--trust", "coordinator", "--adversary", "gaussian",
       "--rounds", "4096", "--trials", "1000000"]
for columns in (200, 80, 60, 40, 30, 20):
    lines = drawn(columns, run)
    wide = max(map(len, lines), default=0)
    bar = any("━" in line or "#" in line or re.search(r"updates {4,}", line) for line in lines)
    good = bool(lines) and wide < columns and (bar or columns < 60)
    left = r"(, (\d+ (s|min|h)|days) left)?"
    good = good and all(re.search(r"\d+/1000000  \d+\.\d s" + left + "$", line) or columns < 30 for line in lines)
    good = good and (columns < 60 or any(line.endswith(" left") for line in lines))
    good = good and all(line.strip().startswith("limited-updates"[:3]) or columns < 30 for line in lines)
    print(f"{'ok' if good else 'not ok'}: {columns} columns: {len(lines)} drawings, the widest {wide}")
    failures += not good
    if not good:
        print(lines)
# A locale without UTF-8 gets a bar of plain characters.
os.environ["LC_ALL"] = "C"
lines = drawn(80, run[:-1] + ["20000"], b"#")
good = any("#" in line for line in lines) and all(line.isascii() for line in lines)
print(f"{'ok' if good else 'not ok'}: plain characters: {lines[-1:]}")
failures += not good
sys.exit(failures > 0)
END
