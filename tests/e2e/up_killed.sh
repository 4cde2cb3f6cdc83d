#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `caucus up`, killed without being asked (SIGKILL) while keys are made and while it plays: no process stays, no key.
set -euo pipefail
: "${CAUCUS:?path of the program}"
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/caucus-killed.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
failures=0
bad() { echo "not ok: $*"; failures=$((failures + 1)); }
until_true() { # until_true COMMAND...: whether it came true in a minute, or longer where all is slower
    local _
    for _ in $(seq $((3000 * ${CAUCUS_PATIENCE:-1}))); do
        if "$@"; then return 0; fi
        sleep 0.02
    done
    return 1
}
any() { compgen -G "$1" >/dev/null; }
empty() { [ -z "$(ls -A "$TMPDIR")" ]; }
nobody() { ! pgrep -f "$TMPDIR/caucus-up-" >/dev/null; }

# killed NAME PATTERN: killed as soon as a file of that pattern is there; the run would take half an hour
killed() {
    (exec "$CAUCUS" up --clients 3 --rounds 4000 --delay 500 --open no >/dev/null 2>&1 </dev/null) &
    local up=$!
    until_true any "$TMPDIR/caucus-up-*/$2" || bad "$1: nothing was made"
    kill -9 "$up"
    wait "$up" 2>/dev/null || true
    until_true empty || bad "$1: left behind: $(find "$TMPDIR" | head -n 5)"
    until_true nobody || bad "$1: processes left"
}
killed "while keys are made" "certs*"
killed "while it plays" "client-3.state"
# Asked, it removes everything itself, and its watcher goes with it.
"$CAUCUS" up --clients 2 --rounds 16 --open no >/dev/null 2>&1 || bad "undisturbed: exit code $?"
empty || bad "undisturbed: left behind: $(ls "$TMPDIR")"
[ "$failures" -eq 0 ] && echo "ok: up leaves no keys behind"
