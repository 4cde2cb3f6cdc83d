#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# caucus up: a live federation over mutual TLS plays what the simulation plays, and leaves nothing: no process, no file.
set -euo pipefail
: "${CAUCUS:?path of the program}"
work=$(mktemp -d)
export TMPDIR=$work/tmp # every command line of a child holds this path
mkdir "$TMPDIR"
trap 'rm -rf "$work"' EXIT
failures=0
bad() { echo "not ok: $*"; failures=$((failures + 1)); }
clean() { # clean WHAT: no process of ours, nothing in TMPDIR. Who was told to end may be on its way out.
    for _ in $(seq $((400 * ${CAUCUS_PATIENCE:-1}))); do pgrep -f "$work" >/dev/null || break; sleep 0.05; done
    if pgrep -f "$work" >"$work/left"; then bad "$1: processes left: $(tr '\n' ' ' <"$work/left")"; fi
    [ -z "$(ls -A "$TMPDIR")" ] || bad "$1: files left: $(ls "$TMPDIR")"
}
number() { sed -n "s/.*\"$1\": \([-0-9.e+]*\).*/\1/p" "$2" | head -n 1; }

# same NAME FLAGS...: equal to the simulation, whose regret is what `caucus simulate` prints. live_only: flags that the
# simulation does not have.
live_only=()
same() {
    local name=$1
    shift
    if ! timeout 200 "$CAUCUS" up "$@" "${live_only[@]}" --format json >"$work/up.json" 2>"$work/err"; then
        bad "$name: $(cat "$work/err" "$work/up.json")"
        return
    fi
    grep -q '"equal": true' "$work/up.json" || bad "$name: not equal"
    case " $* " in *" --trust "*) ;; *) set -- "$@" --trust coordinator ;; esac
    "$CAUCUS" simulate "$@" --trials 1 --format csv >"$work/sim.csv" 2>/dev/null
    live=$(number regret "$work/up.json")
    awk -v live="$live" 'BEGIN { FS = "," }
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "regret" || $i == "regret_mean") at = i }
        NR == 2 { d = $at - live; if (at && d < 1e-6 && d > -1e-6) ok = 1 } END { exit !ok }' "$work/sim.csv" ||
        bad "$name: regret $live, simulate says: $(cat "$work/sim.csv")"
    [ "$(number scalars_up "$work/up.json")" = "$(number scalars_up_simulated "$work/up.json")" ] ||
        bad "$name: other traffic than simulated"
    grep -q '^caucus up: status page http://127.0.0.1:[0-9]*/$' "$work/err" ||
        bad "$name: no status page: $(cat "$work/err")"
    clean "$name"
    echo "ok: $name"
}
same "svt" --clients 10 --rounds 60 --epsilon 10
same "svt in blocks, per client and block" --clients 3 --rounds 64 --interval 4 --unit client-block --epsilon 10
same "stoch, votes" --clients 4 --rounds 100 --algorithm stoch --trust nobody --adversary gaussian --epsilon 5
same "stoch, mixtures" --clients 3 --rounds 70 --algorithm stoch --calibration paper --trees 2 --adversary gaussian \
    --experts 8 --epsilon 10
same "hedge" --clients 3 --rounds 40 --interval 2 --algorithm hedge --adversary bernoulli
same "shifting" --clients 3 --rounds 50 --algorithm stoch --adversary shifting --segments 4 --means 0.1,0.5 --spread 0.1
same "names" --names small,distilled,large --clients 2 --rounds 30 --algorithm stoch --adversary bernoulli
grep -q '"expert_name": "\(small\|distilled\|large\)"' "$work/up.json" || bad "names: $(cat "$work/up.json")"
same "drifting" --clients 2 --rounds 50 --algorithm stoch --adversary drifting --drift 0.05 --means 0,1

# Behind relays, over a nats-server of its own; without one it says so.
if ! "$CAUCUS" version | grep -q '^  NATS *none'; then
    live_only=(--relay-count 2)
    same "behind relays" --clients 5 --rounds 60 --epsilon 10
    live_only=()
    [ "$(number relays "$work/up.json")" = 2 ] || bad "behind relays: $(cat "$work/up.json")"
    [ "$(number bytes_in "$work/up.json")" = 0 ] || bad "behind relays: clients have spoken to the coordinator itself"
    timeout 200 "$CAUCUS" up --clients 2 --rounds 20 --relay-count 1 >"$work/out" 2>/dev/null || bad "one relay: $?"
    grep -q '2 clients over mutual TLS behind 1 relay, ' "$work/out" || bad "one relay: $(cat "$work/out")"
    clean "one relay"
fi

# Plans that spend nothing: one round, one block.
same "svt, one round" --clients 2 --rounds 1
same "svt, one block" --clients 2 --rounds 4 --interval 8
same "hedge, one block" --clients 2 --rounds 3 --interval 3 --algorithm hedge
same "stoch, one round" --clients 2 --rounds 1 --algorithm stoch --adversary gaussian
same "stoch, one round, votes" --clients 2 --rounds 1 --algorithm stoch --trust nobody --adversary gaussian

# A table for people.
timeout 200 "$CAUCUS" up --clients 2 --rounds 20 >"$work/out" 2>/dev/null || bad "the table: exit code $?"
grep -q 'equal, expert for expert: 40 choices' "$work/out" || bad "the table: $(cat "$work/out")"
head -n 1 "$work/out" | grep -q 'NOT PRIVATE (seeded): seed 1' || bad "the table does not say NOT PRIVATE first"
grep -q 'everything that one client contributes: epsilon' "$work/out" || bad "the table does not say what a device gets"
clean "the table"

# Kept files: plan, certificates, states, logs.
timeout 200 "$CAUCUS" up --clients 2 --rounds 20 --keep "$work/kept" >/dev/null 2>&1 || bad "--keep: exit code $?"
for name in plan.yaml certs/ca.pem certs/client-2.key client-1.state coordinator.log; do
    [ -e "$work/kept/$name" ] || bad "--keep: no $name"
done
[ "$(stat -c %a "$work/kept/client-1.state")" = 600 ] || bad "a client's state is readable by others"
code=0
timeout 200 "$CAUCUS" up --keep "$work/kept" >/dev/null 2>"$work/err" || code=$?
[ "$code" -eq 2 ] || bad "--keep of a directory that exists: exit code $code"

# Stopped in the middle, by Ctrl-C and by kill -9: nothing goes on. At a round an hour it is not over before.
for signal in INT TERM KILL; do
    "$CAUCUS" up --clients 3 --rounds 5000 --delay 3600000 >"$work/out" 2>"$work/err" &
    pid=$!
    for _ in $(seq $((400 * ${CAUCUS_PATIENCE:-1}))); do
        [ "$(pgrep -cf "$work.*join|join.*$work")" -ge 3 ] && break
        sleep 0.05
    done
    [ "$(pgrep -cf "join.*$work")" -eq 3 ] || bad "SIG$signal: the clients did not start"
    kill "-$signal" "$pid"
    code=0
    wait "$pid" || code=$?
    [ "$signal" = KILL ] || [ "$code" -eq 1 ] || bad "SIG$signal: exit code $code"
    for _ in $(seq $((400 * ${CAUCUS_PATIENCE:-1}))); do pgrep -f "$work" >/dev/null || break; sleep 0.05; done
    [ "$signal" != KILL ] || rm -rf "${TMPDIR:?}"/*
    clean "SIG$signal"
    echo "ok: SIG$signal"
done

# Wrong use, said in one line before anything is started.
wrong() { # wrong TEXT FLAGS...
    local text=$1 code=0
    shift
    timeout 200 "$CAUCUS" up "$@" >"$work/out" 2>"$work/err" || code=$?
    { [ "$code" -eq 2 ] && grep -qF -- "$text" "$work/err" && [ "$(wc -l <"$work/err")" -eq 1 ]; } ||
        bad "$*: exit code $code, $(cat "$work/err")"
    clean "$*"
}
wrong "one trial" --trials 3
wrong "one value per flag" --epsilon 1,2
wrong "at most 500" --clients 501
wrong "for one client alone" --algorithm sparse-vector
wrong "two-step" --protocol paper
wrong "must be table or json" --format csv
wrong "did you mean '--clients'" --client 3
wrong "--threads: for caucus simulate" --threads 2
wrong "at most 86400000" --delay inf
wrong "at most 86400000" --delay nan
wrong "at most 86400000" --delay 1e300
wrong "write HOST:PORT" --http nonsense
wrong "must be on this machine, 127.0.0.1:PORT" --http 0.0.0.0:0
wrong "must be a whole number from 0 to 16" --relay-count 17
wrong "not used by adversary realizable" --genre Comedy
# What the coordinator refuses is refused with the coordinator's code: here for lack of open files.
few() { (ulimit -n 64 && wrong "the coordinator did not start: caucus serve: --max-clients 20" --clients 20 &&
    exit "$failures"); }
few || failures=$((failures + 1))
[ "$failures" -eq 0 ] && echo "ok: up"
