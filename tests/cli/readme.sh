#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every line that README.md shows of the program is one that the program prints; seconds, bytes on the line and the port
# apart, which differ from run to run. It may leave lines out.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"

# shown COMMAND: the lines below it in README.md, up to the end of its block
shown() {
    awk -v command="\$ $1" '$0 == command { on = 1; next } on && /^```/ { exit } on' "$CAUCUS_SOURCE/README.md"
}
steady() {
    sed -e 's|http://127.0.0.1:[0-9]*/|http://127.0.0.1:PORT/|' -e 's|, [0-9.]* s$|, SECONDS|' -e 's|; [0-9]* bytes.*||'
}
agree() { # agree NAME COMMAND: as README.md writes it; what it printed is in out
    shown "$2" | steady >expected
    steady <out >seen
    if [ -s expected ] && ! grep -vxFf seen expected; then
        pass "$1"
    else
        fail "$1: README.md shows what is not printed"
    fi
}

simulate=(simulate --algorithm "svt,sparse-vector" --epsilon 10 --trust coordinator)
"$CAUCUS" "${simulate[@]}" >out 2>/dev/null </dev/null
agree "simulate" "caucus ${simulate[*]}"
"$CAUCUS" up >out 2>&1 </dev/null
agree "up" "build/caucus up"

[ "$failures" -eq 0 ]
