#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# caucus join: a state that another process uses is exit code 1, one of another plan exit code 3; no lock stays behind;
# lines of losses that are wrong. What is refused before anything is opened is in exact/join.exact.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"

# refuses NAME EXIT_CODE PATTERN ARGUMENTS...: nothing on stdout, one line on stderr that has PATTERN in it; standard
# input is ./input.
: >input
refuses() {
    local name=$1 code=$2 pattern=$3 got=0
    shift 3
    timeout 60 "$CAUCUS" join "$@" >out 2>err <input || got=$?
    if [ "$got" -ne "$code" ] || [ -s out ] || [ "$(grep -vc 'NOT PRIVATE (seeded)' err)" -ne 1 ] ||
        ! grep -qF -- "$pattern" err; then
        fail "$name (exit code $got): $(cat out err)"
    else
        echo "ok: $name"
    fi
}
"$CAUCUS" plan --algorithm svt --clients 2 --experts 3 --rounds 10 --trust coordinator --write plan.yaml >/dev/null
plain=(--connect 127.0.0.1:1 --plan plan.yaml --insecure --client 1)

# A state in use; and no lock stays, neither of the refused nor of those who ended.
mkfifo pipe
exec 9<>pipe
timeout 300 "$CAUCUS" join "${plain[@]}" --state 1.state <pipe >/dev/null 2>holder.err &
holder=$!
locked() { [ -e 1.state.lock ] && grep -q ":$(stat -c %i 1.state.lock) " /proc/locks; } # there, and taken
for _ in $(seq $((1000 * ${CAUCUS_PATIENCE:-1}))); do ! locked 2>/dev/null || break; sleep 0.02; done
refuses "a state in use" 1 "1.state: another process uses it" "${plain[@]}" --state 1.state
[ -e 1.state.lock ] || fail "the refused one took the lock away"
# It listens to signals by the time it dials: one that came before would end it without a state.
for _ in $(seq $((1000 * ${CAUCUS_PATIENCE:-1}))); do ! grep -q 'trying again' holder.err || break; sleep 0.02; done
kill -TERM "$holder"
wait "$holder" || true
# Two signals at once are one request, as timeout(1) sends them (to the process, then to its group): the state is saved.
for try in $(seq 20); do
    rm -f twice.state twice.err
    "$CAUCUS" join "${plain[@]}" --state twice.state <pipe >/dev/null 2>twice.err &
    holder=$!
    for _ in $(seq $((1000 * ${CAUCUS_PATIENCE:-1}))); do
        ! grep -q 'trying again' twice.err 2>/dev/null || break
        sleep 0.02
    done
    kill -TERM "$holder"
    sleep 0.00$((try % 5))
    kill -INT "$holder" 2>/dev/null || true
    wait "$holder" || true
    [ -s twice.state ] || fail "two signals at once, try $try: no state ($(cat twice.err))"
done
"$CAUCUS" plan --algorithm svt --clients 2 --experts 3 --rounds 11 --trust coordinator --write other.yaml >/dev/null
refuses "a state of another plan" 3 "--state 1.state: belongs to another plan" --connect 127.0.0.1:1 --plan other.yaml \
    --insecure --client 1 --state 1.state
refuses "a state of another client" 2 "--state 1.state: belongs to client 1, and this is client 2" \
    --connect 127.0.0.1:1 --plan plan.yaml --insecure \
    --client 2 --state 1.state
refuses "wrong losses, with a state" 2 "nowhere.npy" "${plain[@]}" --state 2.state --losses nowhere.npy
"$CAUCUS" plan --algorithm svt --clients 2 --names a,b,c --rounds 2 --trust coordinator --write named.yaml >/dev/null
printf 'round,a,c,b\n1,0,0,0\n2,0,0,0\n' >swapped.csv
refuses "columns in another order than the labels" 2 "swapped.csv: column 3 is called 'c', and expert 1 'b'" \
    --connect 127.0.0.1:1 --plan named.yaml --insecure --client 1 --losses swapped.csv
locks=$(find . -name '*.lock')
[ -z "$locks" ] || fail "locks stay: $locks"

# Lines, in a federation of one.
"$CAUCUS" plan --algorithm svt --clients 1 --experts 3 --rounds 10 --trust coordinator --write one.yaml >/dev/null
line() { # line NAME PATTERN: ./input is refused so
    local got=0
    rm -f serve.out
    timeout 300 "$CAUCUS" serve --plan one.yaml --state "state-$1" --listen 127.0.0.1:0 --insecure >serve.out \
        2>/dev/null </dev/null &
    local server=$!
    for _ in $(seq $((400 * ${CAUCUS_PATIENCE:-1}))); do grep -qs '^listening on' serve.out && break; sleep 0.05; done
    timeout 60 "$CAUCUS" join --connect "$(sed -n 's/^listening on //p' serve.out)" --plan one.yaml \
        --insecure --client 1 \
        --give-up 50 <input >out 2>err || got=$?
    { [ "$got" -eq 2 ] && grep -qF -- "$2" err; } || fail "$1 (exit code $got): $(cat err)"
    kill -TERM $server
    wait $server || true
    echo "ok: $1"
}
printf '0.1,0.2,0.3\n0.1 0.2 0.3\n' >input
line "blanks" "stdin:2: no comma after value 1, '0.1' — values are separated by commas"
printf '0.1,0.2,0.3\n0.1,0.2,0.3\0,0.4\n' >input
line "zero" "stdin:2: a zero byte"
[ "$failures" -eq 0 ]
