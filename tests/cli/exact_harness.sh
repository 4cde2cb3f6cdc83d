#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/exact.py itself: it fails for every kind of difference, rewrites with --update and only then, and refuses
# what is no transcript. What every file of tests/cli/exact relies on.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "$1"; echo oops >&2; exit 3\n' >fake
chmod +x fake
export CAUCUS=$work/fake
fail() { echo "not ok: $*"; exit 1; }
exact() { python3 "$here/exact.py" "$@" >said 2>&1; }

cat >good.exact <<'END'
# Words stay.
$ caucus a
1| a
2| oops
= 3

$ touch made
# In the same directory; in two lines; without an end of line.
$ ls made &&
>   printf x
1| made
1\ x
END
exact good.exact || { cat said; fail "a transcript that is right"; }
grep -q '3 commands' said || fail "the number of commands: $(cat said)"
# differs WHAT FROM TO: a transcript with this one change is refused and left as it is; --update makes it good again.
differs() {
    sed "s/$2/$3/" good.exact >bad.exact
    cmp -s good.exact bad.exact && fail "$1: the change changes nothing"
    cp bad.exact before
    if exact bad.exact; then fail "$1 is not seen"; fi
    cmp -s bad.exact before || fail "$1: the file was rewritten without --update"
    exact --update bad.exact || fail "$1: --update"
    cmp -s bad.exact good.exact || { diff good.exact bad.exact; fail "$1: --update writes something else"; }
    echo "ok: $1"
}
differs "another line of output" '1| a' '1| b'
differs "another line of errors" '2| oops' '2| oop'
differs "another exit code" '= 3' '= 4'
differs "the wrong stream" '2| oops' '1| oops'
differs "an end of line too many" '1\\ x' '1| x'
printf '$ caucus a\n1| a\n2| oops\n' >short.exact
if exact short.exact; then fail "an exit code that is not written is not seen"; fi
printf '$ caucus a\nnonsense\n' >nonsense.exact
if exact --update nonsense.exact; then fail "a line that belongs to no transcript is taken"; fi
grep -q 'nonsense.exact:2: not a line of a transcript' said || fail "it does not name the line: $(cat said)"
printf '# nothing\n' >empty.exact
if exact empty.exact; then fail "a transcript without a command passes"; fi
echo "ok"
