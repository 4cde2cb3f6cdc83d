#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# caucus up opens its status page: with $BROWSER or xdg-open, at a terminal or when told to; the page lives until it
# has been seen; and afterwards nothing runs. The "browser" is a script that fetches the address it is given.
set -euo pipefail
: "${CAUCUS:?path of the program}"
work=$(mktemp -d)
export TMPDIR=$work/tmp # every command line of a child holds this path
mkdir "$TMPDIR" "$work/bin" "$work/desktop"
trap 'rm -rf "$work"' EXIT
unset BROWSER DISPLAY WAYLAND_DISPLAY
failures=0
bad() { echo "not ok: $*"; failures=$((failures + 1)); }
clean() { # clean WHAT: no process of ours, nothing in TMPDIR. A browser may still be on its way out.
    for _ in $(seq $((400 * ${CAUCUS_PATIENCE:-1}))); do pgrep -f "$work" >/dev/null || break; sleep 0.05; done
    if pgrep -f "$work" >"$work/left"; then bad "$1: processes left: $(tr '\n' ' ' <"$work/left")"; fi
    [ -z "$(ls -A "$TMPDIR")" ] || bad "$1: files left: $(ls "$TMPDIR")"
}

cat >"$work/bin/fetch" <<'PY'
#!/usr/bin/env python3
"""fetch [--fail] FILE ADDRESS: what a browser would do, and a note of what it was called with."""
import os, sys, urllib.request
words = sys.argv[1:]
if words[0] == "--fail":
    sys.exit(3)
page = urllib.request.urlopen(words[1], timeout=30).read().decode()
style = urllib.request.urlopen(words[1] + "style.css", timeout=30).read()
streams = [os.readlink(f"/proc/self/fd/{i}") for i in range(3)]
with open(words[0] + ".draft", "w") as f:
    print(len(words), words[1], "<title>" in page, len(style) > 100, streams == ["/dev/null"] * 3,
          os.getsid(0) != int(os.environ["TEST_SESSION"]), file=f)
os.rename(words[0] + ".draft", words[0])
PY
chmod +x "$work/bin/fetch"
TEST_SESSION=$(ps -o sid= -p $$ | tr -d ' ')
export TEST_SESSION

up() { timeout 200 "$CAUCUS" up --clients 2 --rounds 20 "$@" >"$work/out" 2>"$work/err" </dev/null; }
seen() { # seen WHAT: the script was given the address that was printed, and got the page
    local address
    address=$(sed -n 's/^caucus up: status page //p' "$work/err")
    [ "$(cat "$work/seen" 2>/dev/null)" = "2 $address True True True True" ] ||
        bad "$1: $(cat "$work/seen" "$work/err" 2>&1)"
    rm -f "$work/seen"
}

# Told to, without a terminal: the address is appended, or stands where %s is; commands that cannot be started are
# passed over.
BROWSER="$work/bin/fetch $work/seen" up --open yes || bad "--open yes: exit code $?: $(cat "$work/err")"
seen "--open yes"
clean "--open yes"
BROWSER="$work/bin/nothing:  $work/bin/fetch   $work/seen %s  " up --open=yes ||
    bad "a list: exit code $?: $(cat "$work/err")"
seen "a list"
clean "a list"
echo "ok: BROWSER"

# A desktop: xdg-open, found in PATH.
# shellcheck disable=SC2016 # the $1 is for the script that is written
printf '#!/bin/sh\nexec "%s/bin/fetch" "%s/seen" "$1"\n' "$work" "$work" >"$work/desktop/xdg-open"
chmod +x "$work/desktop/xdg-open"
PATH="$work/desktop:$PATH" WAYLAND_DISPLAY=wayland-0 up --open yes || bad "xdg-open: exit code $?: $(cat "$work/err")"
seen "xdg-open"
clean "xdg-open"
echo "ok: xdg-open"

# What cannot be opened is no error; what opens and fails is none of our business.
BROWSER=$work/bin/nothing up --open yes || bad "no browser: exit code $?"
grep -q '^caucus up: it could not be opened: No such file' "$work/err" || bad "no browser: $(cat "$work/err")"
grep -q 'equal, expert for expert' "$work/out" || bad "no browser: $(cat "$work/out")"
clean "no browser"
# Not a terminal, or told not to: nothing is opened, and nothing waits.
BROWSER="$work/bin/fetch $work/seen" up || bad "auto: exit code $?"
BROWSER="$work/bin/fetch $work/seen" up --open no || bad "--open no: exit code $?"
[ ! -e "$work/seen" ] || bad "opened without being asked"
clean "not opened"
code=0
up --open maybe || code=$?
{ [ "$code" -eq 2 ] && grep -qF -- "--open maybe: must be yes, no or auto" "$work/err"; } ||
    bad "--open maybe: $code, $(cat "$work/err")"
echo "ok: not opened"

if ! python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
    echo "skipped: what happens at a terminal, since there are no pseudo-terminals here"
    [ "$failures" -eq 0 ]
    exit
fi

# At a terminal: opened by itself; when the run is over the page stays, finished, until Enter (or Ctrl-C: the run is
# done, so that is no failure).
cat >"$work/terminal.py" <<'PY'
"""terminal.py KEY SEEN COMMAND...: run it at a terminal of its own; when it says that the page stays, and the browser
has loaded it (the file SEEN is there), load it too and press KEY. Exit code: the command's."""
import os, pty, re, select, sys, time, urllib.request
key, seen, command = sys.argv[1].encode().decode("unicode_escape").encode(), sys.argv[2], sys.argv[3:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(command[0], command)
said, pressed, until = b"", False, time.monotonic() + 300 * int(os.environ.get("CAUCUS_PATIENCE", "1"))
while time.monotonic() < until:
    if not select.select([terminal], [], [], 1)[0]:
        continue
    try:
        part = os.read(terminal, 4096)
    except OSError:  # the other side has closed
        break
    if not part:
        break
    said += part
    stays = re.search(rb"the status page stays at (http://\S+)", said)
    if key and stays and not pressed:
        finished = False
        while time.monotonic() < until and not (finished and os.path.exists(seen)):
            time.sleep(0.05)  # what the page shows may be a tenth of a second old
            status = urllib.request.urlopen(stays[1].decode() + "api/v1/status", timeout=30).read()
            finished = b'"state": "finished"' in status
        if not finished:
            print("not finished")
        os.write(terminal, key)
        pressed = True
sys.stdout.write(said.decode(errors="replace"))
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.exit(code if pressed or not key else 99)
PY
for key in '\n' '\x03' '\x04'; do
    code=0
    BROWSER="$work/bin/fetch $work/seen" timeout 400 python3 "$work/terminal.py" "$key" "$work/seen" "$CAUCUS" up \
        --clients 2 --rounds 20 >"$work/said" 2>&1 </dev/null || code=$?
    tr -d '\r' <"$work/said" >"$work/err"
    [ "$code" -eq 0 ] || bad "a terminal, $key: exit code $code: $(cat "$work/err")"
    grep -q 'equal, expert for expert' "$work/err" || bad "a terminal, $key: $(cat "$work/err")"
    if grep -q 'not finished' "$work/err"; then bad "a terminal, $key: $(cat "$work/err")"; fi
    seen "a terminal, $key"
    clean "a terminal, $key"
done
# A terminal without a desktop: as ever.
timeout 400 python3 "$work/terminal.py" '' - "$CAUCUS" up --clients 2 --rounds 20 >"$work/said" 2>&1 </dev/null ||
    bad "no desktop: exit code $?"
if grep -q 'page stays' "$work/said"; then bad "no desktop: $(cat "$work/said")"; fi
clean "no desktop"
echo "ok: terminals"
[ "$failures" -eq 0 ]
