#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every verb without memory from some allocation on: one line that says why and exit code 1, never a signal. With
# enough it does what it always does.
# Those of libraries fail, too, but for OpenSSL's own, which does not survive that while it starts.
set -euo pipefail
: "${CAUCUS:?path of the program}" "${CAUCUS_BUILD:?build directory}"
failing=$CAUCUS_BUILD/tests/libfailing_malloc.so
if grep -qE '__(a|t)san_init|__gcov_dump' "$CAUCUS"; then
    echo "skipped: a sanitizer has its own allocator, and what counts lines does not survive a failing one"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0
bad() { echo "not ok: $*"; failures=$((failures + 1)); [ "$failures" -lt 10 ] || exit 1; }

"$CAUCUS" plan --algorithm svt --clients 1 --experts 3 --rounds 4 --trust coordinator --write plan.yaml >/dev/null 2>&1
"$CAUCUS" simulate --clients 2 --experts 3 --rounds 8 --trials 1 --trust coordinator --ledger runs.ledger >/dev/null \
    2>&1

lines() { grep -vE 'NOT PRIVATE|trying again in|status page|^$' err || true; }
# play COMMAND...: sets code; a coordinator that has enough would wait for ever, and is told to stop once it listens.
play() {
    rm -rf made
    code=0
    : >out
    timeout 100 "$@" >out 2>err </dev/null &
    local pid=$! _
    if [ "$name" = serve ]; then
        for _ in $(seq 5000); do
            if grep -q listening out || ! kill -0 "$pid" 2>/dev/null; then break; fi
            sleep 0.02
        done
        kill -TERM "$pid" 2>/dev/null || true
    fi
    wait "$pid" || code=$?
}
# without NAME COMMAND...
without() {
    local name=$1 from=1 failed=0 want want_lines
    shift
    play "$@"
    want=$code want_lines=$(lines)
    while :; do
        play env "LD_PRELOAD=$failing" CAUCUS_SPARE_OPENSSL=1 "CAUCUS_FAIL_FROM=$from" "$@"
        if [ "$code" -eq "$want" ] && { [ "$code" -eq 0 ] || [ "$(lines)" = "$want_lines" ]; }; then break; fi
        if [ "$code" -ne 1 ] || [ "$(lines | wc -l)" -ne 1 ]; then
            bad "$name, allocations from $from on: exit code $code, $(cat err)"; fi
        failed=$((failed + 1))
        from=$((from + 1 + from / 2))
    done
    [ "$failed" -ge 2 ] || bad "$name: only $failed runs failed"
    echo "ok: $name: $failed runs said why"
}

without plan "$CAUCUS" plan --algorithm svt --clients 4 --experts 3 --rounds 20 --trust coordinator
without "a plan file" "$CAUCUS" plan plan.yaml --explain
without simulate "$CAUCUS" simulate --clients 2 --experts 3 --rounds 20 --trials 2 --trust coordinator --out made
without privacy "$CAUCUS" privacy runs.ledger
without audit "$CAUCUS" audit --quick --only vote --trials 2000
without "audit of a program" "$CAUCUS" audit --command 'echo 1' --data0 plan.yaml --data1 plan.yaml --claimed 1 \
    --trials 4
without reproduce "$CAUCUS" reproduce --quick --only 2 --seed 1 --out made/report
without certify "$CAUCUS" certify made --clients 1
without join "$CAUCUS" join --plan plan.yaml --connect 127.0.0.1:1 --insecure --client 1 --adversary halving \
    --seed 1 --give-up 0 --state made
without serve "$CAUCUS" serve --plan plan.yaml --state made --listen 127.0.0.1:0 --insecure --http 127.0.0.1:0 --quiet
without up "$CAUCUS" up --clients 1 --experts 3 --rounds 3 --open no
[ "$failures" -eq 0 ]
