#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A ledger that live runs share: each run is reserved in it exactly once, before anything leaves, whenever its
# coordinator is killed; what does not fit is refused and leaves nothing behind; the page, the metrics, JSON and
# `caucus privacy` say the same of what is left.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
seed='' adversary=halving clients=2 security=(--insecure)
plan=$work/plan.yaml
make_plan "$plan" --algorithm svt --clients 2 --experts 4 --rounds 40 --epsilon 1 --trust coordinator
make_plan "$work/other.yaml" --algorithm svt --clients 2 --experts 4 --rounds 40 --epsilon 0.5 --trust coordinator

serve() { # serve NAME FLAGS...: in the foreground, to be refused or to die; sets code
    local name=$1
    shift
    code=0
    state_of "$name"
    timeout 60 "$CAUCUS" serve --plan "$plan" "${state_flags[@]}" --listen 127.0.0.1:0 --insecure "$@" \
        >"$work/serve.out" 2>"$work/serve.err" </dev/null || code=$?
}
runs() { grep -c '^run' "$1" 2>/dev/null || true; }
once() { # once LEDGER RUNS WHEN: so many runs, each of another tag
    [ "$(runs "$1")" -eq "$2" ] || bad "$3: $(runs "$1") reservations, not $2: $(cat "$1")"
    [ "$(grep -o '#[0-9a-f]\{8\}-[0-9a-f]\{16\}' "$1" | sort | uniq -d | wc -l)" -eq 0 ] ||
        bad "$3: a run is reserved twice: $(cat "$1")"
}
left() { "$CAUCUS" privacy "$1" --format json | sed -n 's/.*"left": *{"epsilon": *\([^,]*\),.*/\1/p'; }
whole_run() { # whole_run NAME FLAGS...: to its end
    local name=$1 i pids=()
    shift
    start_coordinator "$name" "$plan" 0 "${security[@]}" "$@"
    for i in 1 2; do
        start_client "$name" "$plan" "$port" "$i" --insecure --client "$i"
        pids+=("$client")
    done
    for i in "${pids[@]}" "$server"; do ended "$i" "$name" 0; done
}

# 1. Three runs of epsilon 1 fit into 3, a fourth does not: exit code 3, one line, no state.
ledger=$work/data.ledger
serve none --ledger "$ledger"
{ [ "$code" -eq 2 ] && says "$work/serve.err" "--budget E or E,D begins one" && keeps_nothing none; } ||
    bad "no ledger, no budget: $code: $(cat "$work/serve.err")"
serve none --budget 3
{ [ "$code" -eq 2 ] && says "$work/serve.err" "a budget belongs to a ledger"; } ||
    bad "a budget without a ledger: $code: $(cat "$work/serve.err")"
whole_run first --ledger "$ledger" --budget 3
once "$ledger" 1 "the first run"
says "$ledger" "live #" || bad "the run is not named: $(cat "$ledger")"
[ "$(field budget_epsilon "$work/first.out")" = 3 ] ||
    bad "the summary does not know the budget: $(cat "$work/first.out")"
whole_run second --ledger "$ledger"
serve none --ledger "$ledger" --budget 4
{ [ "$code" -eq 2 ] && says "$work/serve.err" "a ledger keeps its budget"; } ||
    bad "another budget: $code: $(cat "$work/serve.err")"
whole_run third --ledger "$ledger" --budget 3
once "$ledger" 3 "three runs"
cp "$ledger" "$work/full.ledger"
serve fourth --ledger "$ledger"
{ [ "$code" -eq 3 ] && [ "$(wc -l <"$work/serve.err")" -eq 1 ] &&
    says "$work/serve.err" "the budget does not allow this run: epsilon 1" && keeps_nothing fourth &&
    cmp -s "$ledger" "$work/full.ledger"; } || bad "a fourth run: $code: $(cat "$work/serve.err")"
whole_run unlimited
# A state that was begun without a ledger, and goes on with one that has no room: the same.
start_coordinator outside "$plan" 0 "${security[@]}"
kill "$server"
ended "$server" "outside" 0
serve outside --ledger "$ledger"
{ [ "$code" -eq 3 ] && [ "$(wc -l <"$work/serve.err")" -eq 1 ] && cmp -s "$ledger" "$work/full.ledger"; } ||
    bad "begun outside of the ledger: $code: $(cat "$work/serve.err")"
echo "ok: 3 of 4 runs fit"

# 2. Killed before the state is written, between state and ledger, after the ledger, and at any commit later: one
# reservation.
for at in 1 1:after 2 2:after 5 9:after; do
    kill_ledger=$work/kill.$at.ledger name=kill.$at
    start_coordinator "$name" "$plan" 0 "${security[@]}" --ledger "$kill_ledger" --budget 1 --fault-commit "$at"
    fixed=$port pids=()
    if [ "$at" = 1 ] || [ "$at" = 1:after ]; then # before both writes, and between them
        exit_code "$server"
        [ "$code" -eq 137 ] || bad "$name: was to be killed before it listened: $code"
        [ ! -e "$kill_ledger" ] || bad "$name: reserved before the state was whole"
        start_coordinator "$name" "$plan" 0 "${security[@]}" --ledger "$kill_ledger" --budget 1
        fixed=$port
    fi
    for i in 1 2; do
        start_client "$name" "$plan" "$fixed" "$i" --insecure --client "$i"
        pids+=("$client")
    done
    if [ "$at" != 1 ] && [ "$at" != 1:after ]; then
        exit_code "$server"
        [ "$code" -eq 137 ] || bad "$name: was to be killed: $code"
        once "$kill_ledger" 1 "$name, killed"
        start_coordinator "$name" "$plan" "$fixed" "${security[@]}" --ledger "$kill_ledger"
    fi
    for i in "${pids[@]}" "$server"; do ended "$i" "$name" 0; done
    once "$kill_ledger" 1 "$name"
    serve "$name.new" --ledger "$kill_ledger" # a new state is a new run
    [ "$code" -eq 3 ] || bad "$name: a second run fits into a budget for one: $code"
done
echo "ok: killed at every place, reserved once"

# 3. A ledger that somebody holds: this script, for as long as it takes.
exec 9>>"$ledger"
flock -x 9
serve locked --ledger "$ledger"
{ [ "$code" -eq 1 ] && says "$work/serve.err" "in use by another process" && keeps_nothing locked; } ||
    bad "a locked ledger: $code: $(cat "$work/serve.err")"
exec 9>&-

# 4. What is left is said alike while a run goes on, also after another run has reserved.
small=$work/small.ledger
start_coordinator shown "$plan" 0 "${security[@]}" --ledger "$small" --budget 3 --http 127.0.0.1:0
shown_server=$server
http=$(field http_port "$work/shown.out")
page() {
    python3 -c 'import sys, urllib.request
sys.stdout.write(urllib.request.urlopen(sys.argv[1], timeout=20).read().decode())' "http://127.0.0.1:$http$1"
}
says_left() { # says_left N
    grep -qF "Reserved 1 of 3 by this run (0 used so far; the rest is not given back), $1 left" <(page /) &&
        grep -qx "caucus_left_epsilon $1" <(page /metrics) &&
        grep -qF "\"left_epsilon\": $1," <(page /api/v1/status) && [ "$(left "$small")" = "$1" ]
}
until_true 20 says_left 2 || bad "left is not 2 everywhere: $(page /metrics | grep left), $(left "$small")"
plan=$work/other.yaml start_coordinator beside "$work/other.yaml" 0 "${security[@]}" --ledger "$small"
until_true 20 says_left 1.5 || bad "left is not 1.5 everywhere: $(page /metrics | grep left), $(left "$small")"
shown=$("$CAUCUS" privacy "$small")
grep -q '^  Left      epsilon 1.5 of 3' <<<"$shown" || bad "privacy: $shown"
grep -q '? of 1 ' <<<"$shown" || bad "privacy claims to know what a live run has released: $shown"
# A state says what its ledger says, where it can be read, and that it has one where it cannot.
says_state() { # says_state WORDS BUDGET LEFT
    state_of shown
    shown=$("$CAUCUS" privacy "$state")
    grep -qF "$1" <<<"$shown" && grep -qF "Reserved in $small" <<<"$shown" &&
        grep -qF "\"budget\": {\"epsilon\": $2," <("$CAUCUS" privacy "$state" --format json) &&
        [ "$(left "$state")" = "$3" ]
}
# A database, which many machines read, does not name a file of one of them.
without_ledger=(unlimited)
if in_postgres; then
    without_ledger+=(shown)
else
    says_state "Reserved 1 of 3 by this run (0 used so far; the rest is not given back), 1.5 left." 3 1.5 ||
        bad "the state does not say what its ledger says: $shown"
    mv "$small" "$small.away"
    says_state "; what is left its ledger says, which cannot be read here." null null ||
        bad "the state does not say that its ledger cannot be read: $shown"
    mv "$small.away" "$small"
fi
for what in "${without_ledger[@]}"; do
    state_of "$what"
    shown=$("$CAUCUS" privacy "$state")
    { grep -qF "; no ledger is known here: other runs on this data are not counted." <<<"$shown" &&
        ! grep -q "Reserved in\|budget" <<<"$shown"; } || bad "$what, which names no ledger: $shown"
done
kill "$server" "$shown_server"
for i in "$server" "$shown_server"; do ended "$i" "shown" 0; done

# Parts of a budget fit into it, and what does not fit is refused with the numbers that were typed.
make_plan "$work/part.yaml" --algorithm svt --clients 2 --experts 4 --rounds 40 --epsilon 0.1 --trust coordinator
for i in 1 2 3; do
    start_coordinator "part.$i" "$work/part.yaml" 0 "${security[@]}" --ledger "$work/parts.ledger" --budget 0.3
    kill "$server"
    ended "$server" "part.$i" 0
done
plan=$work/part.yaml serve part.4 --ledger "$work/parts.ledger"
{ [ "$code" -eq 3 ] && says "$work/serve.err" "does not allow this run: epsilon 0.1 asked, 0 of 0.3 left"; } ||
    bad "a fourth part of 0.3: $code: $(cat "$work/serve.err")"
# A delta above 1/clients is said first, of the ledger and of the state.
make_plan "$work/weak.yaml" --algorithm stoch --clients 50 --experts 4 --rounds 40 --epsilon 0.5 --delta 0.05 \
    --trust coordinator
start_coordinator weak "$work/weak.yaml" 0 "${security[@]}" --ledger "$work/weak.ledger" --budget 3,0.1
kill "$server"
ended "$server" "weak" 0
state_of weak
for what in "$work/weak.ledger" "$state"; do
    shown=$("$CAUCUS" privacy "$what")
    [ "$(sed -n 2p <<<"$shown")" = \
        "  WEAK: run 1 has delta 0.05, above 1/clients: some client may be exposed entirely" ] ||
        bad "privacy of $what does not say that its delta is weak: $shown"
done
echo "ok: parts, and what is weak"

# 5. From a file system that cannot be written to, or by a role of the database that may only read: the ledger, the
# state of a run that ended, and that of one that was killed with its log.
make_losses 2 40 4
start_coordinator torn "$plan" 0 "${security[@]}"
start_held torn "$plan" "$port" 1 --insecure --client 1
pids=("$client")
start_client torn "$plan" "$port" 2 --insecure --client 2
pids+=("$client")
let_play torn 1 10
until_true 20 has_lines "$work/torn.1.1.out" 11 || bad "torn: no 10 rounds were played"
kill -9 "$server" "${pids[@]}"
for i in "$server" "${pids[@]}"; do exit_code "$i"; done
state_of torn
"$CAUCUS" privacy "$state" --format json | sed 's/"ledger": "[^"]*"//' >"$work/torn.json"
if in_postgres; then
    sql "CREATE ROLE reader LOGIN"
    for what in first torn; do
        state_of $what
        sql "GRANT USAGE ON SCHEMA $schema TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA $schema TO reader"
        "$CAUCUS" privacy "${state/caucus@/reader@}" >"$work/ro.out" 2>"$work/ro.err" ||
            bad "privacy of $what, by who may only read: $(cat "$work/ro.err")"
    done
    "$CAUCUS" privacy "${state/caucus@/reader@}" --format json | sed 's/"ledger": "[^"]*"//' |
        cmp -s - "$work/torn.json" || bad "who may only read is shown another ledger"
    done_with "budgets across live runs"
    exit 0
fi
mkdir "$work/ro"
cp "$ledger" "$work/ro/data.ledger"
cp -r "$work/first" "$work/ro/ended"
cp -r "$work/torn" "$work/ro/killed"
rm -f "$work/ro/killed/coordinator.db-shm" "$work/ro/ended/coordinator.db-shm" "$work/ro/ended/coordinator.db-wal"
[ -s "$work/ro/killed/coordinator.db-wal" ] || bad "the killed run has no log: the test would show little"
reader=()
if [ "$(id -u)" -eq 0 ]; then
    mkdir "$work/full"
    if mount --bind "$work/ro" "$work/full" 2>/dev/null && mount -o remount,ro,bind "$work/full" 2>/dev/null; then
        view=$work/full
    else
        view=$work/ro
        umount "$work/full" 2>/dev/null || true
        chmod -R a+rX,a-w "$work" "$work/ro"
        reader=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    fi
else
    view=$work/ro
    chmod -R a-w "$work/ro"
fi
"${reader[@]}" touch "$view/ended/x" 2>/dev/null && bad "the directory can be written to: the test would show little"
for what in data.ledger ended killed; do
    "${reader[@]}" "$CAUCUS" privacy "$view/$what" >"$work/ro.out" 2>"$work/ro.err" ||
        bad "privacy of $what, read-only: $(cat "$work/ro.err")"
done
"${reader[@]}" "$CAUCUS" privacy "$view/killed" --format json | sed 's/"ledger": "[^"]*"//' |
    cmp -s - "$work/torn.json" || bad "read-only shows another ledger"
umount "$work/full" 2>/dev/null || true
chmod -R u+w "$work/ro"
done_with "budgets across live runs"
