#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a terminal: no line is wider than it, plain characters in the C locale, warnings in colour unless NO_COLOR or
# --color say otherwise; in a pipe the same bytes everywhere. On pseudo-terminals, by terminal.py.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"

if ! $python -c 'import pty; pty.openpty()' 2>/dev/null; then
    echo "skipped: there are no pseudo-terminals here"
    exit 77
fi
$python "$CAUCUS_SOURCE/tests/cli/terminal.py"
