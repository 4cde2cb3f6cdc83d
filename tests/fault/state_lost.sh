#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A client whose state is lost: what was counted of it is never made again. Where clients add the noise it does not go
# on at all, unless a person says that the device is another one; where the coordinator is trusted it plays from the
# beginning and reports only what was not counted. And the device's own ledger: one reservation for each state.
# Noise is real here (no seed): a report made twice would be two different reports, and a tap on the line sees them all.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
seed='' clients=2 security=(--insecure)
tap=$(dirname "$0")/tap.py
make_losses 2 63 4 drawn
make_plan "$work/nobody.yaml" --algorithm stoch --clients 2 --experts 4 --rounds 63 --epsilon 1 --trust nobody \
    --message knorm
make_plan "$work/stoch.yaml" --algorithm stoch --clients 2 --experts 4 --rounds 63 --epsilon 1 --trust coordinator
make_plan "$work/svt.yaml" --algorithm svt --clients 2 --experts 4 --rounds 63 --epsilon 1 --trust coordinator
make_plan "$work/hedge.yaml" --algorithm hedge --clients 2 --experts 4 --rounds 63 --epsilon 1 --trust coordinator

join() { # join HOW NAME PLAN PORT INDEX FLAGS...: HOW is client or held; sets client, and last_err to its last life's
    local how=$1 name=$2 plan=$3 to=$4 index=$5 life=1
    shift 5
    while [ -e "$work/$name.$index.$life.out" ]; do life=$((life + 1)); done
    "start_$how" "$name" "$work/$plan.yaml" "$to" "$index" --insecure --client "$index" \
        --state "$work/$name.$index.state" "$@"
    last_err=$work/$name.$index.$life.err
}
has_text() { [ -s "$1" ]; }
# begin NAME PLAN: coordinator, tap and both clients. The second stops after round 8, so the step in hand stays open;
# the first has answered it, is killed, and its state is deleted.
begin() {
    local name=$1 plan=$2 answers=9 # a report for each of nine rounds
    [ "$plan" != stoch ] && [ "$plan" != nobody ] || answers=4 # of phases of 1, 2, 4 and 8 rounds
    start_coordinator "$name" "$work/$plan.yaml" 0 "${security[@]}"
    python3 "$tap" "$port" "$work/$name.reports" >"$work/$name.tap" &
    tapped=$!
    until_true 20 has_text "$work/$name.tap" || give_up "$name: no tap"
    line=$(cat "$work/$name.tap")
    join held "$name" "$plan" "$port" 2
    other=$client
    join client "$name" "$plan" "$line" 1
    let_play "$name" 2 8
    until_true 20 has_answered "$name" $answers ||
        bad "$name: no report about block $answers: $(cat "$last_err" "$work/$name.reports")"
    kill -9 "$client"
    wait "$client" 2>/dev/null || true
    rm "$work/$name.1.state"
    before=$(wc -l <"$work/$name.reports")
    [ "$before" -ge 2 ] || bad "$name: $before reports before the state was lost: the test would show little"
}
has_answered() { [ -e "$work/$1.reports" ] && cut -d' ' -f4 "$work/$1.reports" | grep -x "$2" >/dev/null; }
# told NAME: the same item is the same bytes, whenever it was sent
told() {
    awk '{ item = $2 " " $3 " " $4 " " $5 }
        (item in bytes) && bytes[item] != $6 { print item; exit }
        { bytes[item] = $6 }' "$work/$1.reports" >"$work/$1.twice"
    [ ! -s "$work/$1.twice" ] || bad "$1: two different reports about $(cat "$work/$1.twice")"
}
repeated() { cut -d' ' -f2-5 "$work/$1.reports" | sort | uniq -d | wc -l; } # items that were sent more than once

# 1. Trust nobody: the state is lost, and that is the end of this device's part.
begin nobody nobody
join client nobody nobody "$line" 1
ended "$client" "nobody, without its state" 3
{ says "$last_err" "lost: reports of this client were counted" && [ "$(wc -l <"$last_err")" -eq 1 ]; } ||
    bad "nobody: it does not say why: $(cat "$last_err")"
[ "$(wc -l <"$work/nobody.reports")" -eq "$before" ] || bad "nobody: it has reported again"
told nobody
join client nobody nobody "$line" 1 --new-device
let_play nobody 2 63
for i in "$client" "$other" "$server"; do ended "$i" "nobody, a new device" 0; done
kill "$tapped"
wait "$tapped" 2>/dev/null || true
echo "ok: trust nobody"

# 2. Trust coordinator: it goes on, and what was counted is not sent again: at most the report of the step in hand is.
for plan in stoch svt hedge; do
    begin "$plan" "$plan"
    join client "$plan" "$plan" "$line" 1
    let_play "$plan" 2 63
    for i in "$client" "$other" "$server"; do ended "$i" "$plan, without its state" 0; done
    told "$plan"
    [ "$(repeated "$plan")" -le 1 ] || bad "$plan: $(repeated "$plan") items were reported again"
    kill "$tapped"
    wait "$tapped" 2>/dev/null || true
done
echo "ok: trust coordinator"

# 3. The device's own ledger: one reservation for each state, also if it dies between the two writes; then no room.
ledger=$work/device.ledger
runs() { grep -c '^run' "$ledger" || true; }
wrong 2 "caucus serve --ledger" "$CAUCUS" join --connect 127.0.0.1:1 --plan "$work/svt.yaml" --insecure --client 1 \
    --losses "$work/losses.npy" --ledger "$ledger" --budget 1
wrong 2 "--budget E or E,D begins one" "$CAUCUS" join --connect 127.0.0.1:1 --plan "$work/nobody.yaml" --insecure \
    --client 1 --losses "$work/losses.npy" --state "$work/own.1.state" --ledger "$ledger"
[ -s "$work/own.1.state" ] || bad "the state has no number before the ledger is written"
start_coordinator own "$work/nobody.yaml" 0 "${security[@]}"
join held own nobody "$port" 1 --ledger "$ledger" --budget 1 # the number is on disk, the entry is not yet
first_client=$client
is_reserved() { [ -e "$ledger" ] && [ "$(runs)" -eq 1 ]; }
until_true 20 is_reserved || bad "own: not reserved before the run begins: $(cat "$last_err")"
says "$ledger" "join 1 #" || bad "own: the run is not named: $(cat "$ledger")"
join client own nobody "$port" 2
other=$client
let_play own 1 10
until_true 20 has_lines "$work/own.1.1.out" 11 || bad "own: no 10 rounds were played"
kill -9 "$first_client"
exit_code "$first_client"
join client own nobody "$port" 1 --ledger "$ledger"
for i in "$client" "$other" "$server"; do ended "$i" "own" 0; done
[ "$(runs)" -eq 1 ] || bad "own: $(runs) reservations for one state: $(cat "$ledger")"
grep -q 'Left      epsilon 0 of 1' <("$CAUCUS" privacy "$ledger") || bad "own: $("$CAUCUS" privacy "$ledger")"
wrong 3 "the budget does not allow this run: epsilon 1" "$CAUCUS" join --connect 127.0.0.1:1 \
    --plan "$work/nobody.yaml" --insecure --client 1 --losses "$work/losses.npy" --state "$work/own.new.state" \
    --ledger "$ledger"
[ "$(runs)" -eq 1 ] || bad "own: a refused run was reserved"
done_with "a client without its state"
