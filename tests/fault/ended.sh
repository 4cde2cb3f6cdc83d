#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `caucus stop`: a run that is ended for good. Clients hear of it, wherever they are, and end with 0; the state holds
# nothing of sums and keys any more; nobody goes on with it. With a coordinator that runs, without one, and with one
# that dies at the commit.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
patience=300 seed=24 adversary=halving clients=3 security=(--insecure)
plan=$work/plan.yaml
names=(tiny small lean distilled wide deep large huge)
make_plan "$plan" --algorithm svt --clients 3 --names "$(IFS=,; echo "${names[*]}")" --rounds 60 --epsilon 60 \
    --trust coordinator
make_plan "$work/other.yaml" --algorithm svt --clients 3 --experts 8 --rounds 60 --epsilon 60 --trust coordinator

stopped() { # stopped CODE NAME FLAGS...: what it says in $work/stop.out and .err
    local want=$1 code=0
    state_asked "$2"
    shift 2
    "$CAUCUS" stop "${state_flags[@]}" "$@" >"$work/stop.out" 2>"$work/stop.err" </dev/null || code=$?
    [ "$code" -eq "$want" ] || bad "stop $*: exit code $code, expected $want: $(cat "$work/stop.out" "$work/stop.err")"
}
is_forgotten() { # is_forgotten NAME: its state holds no sums and no key, its last announcement ends the run
    open_kept "$1"
    python3 - "$work/$1/coordinator.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
(root,) = db.execute("SELECT root FROM run").fetchone()
parts = [bytes for (bytes,) in db.execute("SELECT bytes FROM chunk")]
ask, leaf = db.execute("SELECT ask, leaf FROM announcement ORDER BY serial DESC LIMIT 1").fetchone()
# Four public numbers and a hash are left: no sum and no key has room in them.
if len(root) != 68 or root[:4] != b"acE1" or any(parts) or (ask, leaf) != (0, 1):
    sys.exit(f"root of {len(root)} bytes, parts of {[len(p) for p in parts]}, last announcement asks {ask}, {leaf}")
PY
}
not_of_other() { # not_of_other NAME: who gives another plan ends nothing, and asks nobody to
    state_asked "$1"
    wrong 2 "nothing was ended" "$CAUCUS" stop "${state_flags[@]}" --plan "$work/other.yaml"
    [ ! -e "$work/$1/stop" ] || bad "$1: another plan, and the end was asked for"
}
is_refused() { # is_refused NAME: one line, exit code 3
    state_of "$1"
    wrong 3 "this run was ended for good after step" "$CAUCUS" serve --plan "$plan" "${state_flags[@]}" \
        --listen 127.0.0.1:0 --insecure --seed "$seed"
    [ "$(wc -l <"$work/wrong.err")" -eq 1 ] || bad "$1: more than one line: $(cat "$work/wrong.err")"
}

# A coordinator that runs; clients in the middle of a round that will never be fed. A further one has played on alone
# from its own state and comes back when the run is over.
start_coordinator live "$plan" 0 "${security[@]}" --deadline 600 --quorum 2
for i in 1 2 3; do start_fed live $i --state "$work/live.$i.state"; done
feed 1 2 3
for i in 1 2 3; do
    until_true 20 has_lines "$work/live.$i.1.out" 2 || give_up "live: client $i plays no second round"
done
kill -9 "${pid[3]}"
exit_code "${pid[3]}"
end_feed 3
not_of_other live
stopped 0 live --plan "$plan" --format json
in_force=$(field expert "$work/stop.out")
says "$work/stop.out" "\"expert_name\": \"${names[in_force]}\"" || bad "live: $(cat "$work/stop.out")"
[ "$(field coordinator_running "$work/stop.out")" = true ] || bad "live: $(cat "$work/stop.out")"
[ "$(field before "$work/stop.out")" = false ] || bad "live: $(cat "$work/stop.out")"
for i in 1 2; do
    ended "${pid[i]}" "live: client $i" 0
    says "$work/live.$i.1.err" "the run was ended for good: 1 rounds" || bad "live: $(cat "$work/live.$i.1.err")"
done
kill -TERM "$server" 2>/dev/null || true # it waits for client 3, which is away
ended "$server" "live: the coordinator" 0
[ "$(field finished "$work/live.out")" = true ] || bad "live: $(cat "$work/live.out")"
figures() { for key in steps_decided selections checks expert; do field $key "$work/live.out"; done; }
at_end=$(figures)
[ "$(head -n 1 <<<"$at_end")" = 1 ] || bad "live: one step was decided, and not: $(cat "$work/live.out")"
end_feed 1 2
is_forgotten live || bad "live: something is left"
is_refused live
stopped 0 live
says "$work/stop.out" "this run was ended before" || bad "twice: $(cat "$work/stop.out")"
says "$work/stop.out" "; expert $(tail -n 1 <<<"$at_end") was in force" || bad "no plan: $(cat "$work/stop.out")"
start_coordinator live "$plan" 0 "${security[@]}" --stay
start_fed live 3 --state "$work/live.3.state"
ended "${pid[3]}" "live: the client that was away" 0
says "$work/live.3.2.err" "the run was ended for good" || bad "away: $(cat "$work/live.3.2.err")"
stopped 0 live # nothing to do, also while it stays
kill -TERM "$server"
ended "$server" "live: --stay" 0
[ "$(figures)" = "$at_end" ] || bad "live: what was done is not known any more: $(cat "$work/live.out")"
end_feed 3
# A client that comes again after that knows it without a coordinator.
code=0
"$CAUCUS" join --connect 127.0.0.1:1 --plan "$plan" --insecure --client 3 --seed "$seed" --give-up 20 \
    --state "$work/live.3.state" >"$work/again.out" 2>"$work/again.err" </dev/null || code=$?
{ [ "$code" -eq 0 ] && says "$work/again.err" "this run was ended for good"; } || bad "again: $(cat "$work/again.err")"

# One that is not running, before and after its first step; and before anybody has come.
for rounds in 0 2; do
    name=still$rounds
    start_coordinator "$name" "$plan" 0 "${security[@]}"
    if [ $rounds -gt 0 ]; then
        for i in 1 2; do start_fed "$name" $i; done
        python3 "$CAUCUS_SOURCE/tests/e2e/peer.py" --connect "127.0.0.1:$port" --insecure --plan "$plan" --client 3 \
            --seed "$seed" --function "expert / 8" --timeout 300 >"$work/$name.3.1.out" 2>"$work/$name.3.1.err" &
        pid[3]=$! # a stranger to this program's code
        feed 1 2
        for i in 1 2 3; do
            until_true 20 has_lines "$work/$name.$i.1.out" $rounds || give_up "$name: client $i plays no round $rounds"
        done
    fi
    kill -9 "$server"
    exit_code "$server"
    not_of_other "$name"
    stopped 0 "$name" --plan "$plan"
    says "$work/stop.out" "no coordinator was running" || bad "$name: $(cat "$work/stop.out")"
    in_force=$(sed -n 's/.*; expert [a-z]* (\([0-7]\)) was in force$/\1/p' "$work/stop.out")
    says "$work/stop.out" "; expert ${names[in_force]} ($in_force) was" || bad "$name: $(cat "$work/stop.out")"
    is_forgotten "$name" || bad "$name: something is left"
    is_refused "$name"
    if [ $rounds -gt 0 ]; then # they dial again and hear of it
        fixed=$port
        start_coordinator "$name" "$plan" "$fixed" "${security[@]}" --stay
        for i in 1 2 3; do ended "${pid[i]}" "$name: client $i" 0; done
        kill -TERM "$server"
        ended "$server" "$name: --stay" 0
        end_feed 1 2
    fi
done

# It dies at the very commit that ends the run, before it and after it: the request is there, and so, then, is the end.
for when in "" ":after"; do
    name=dies${when#:}
    start_coordinator "$name" "$plan" 0 "${security[@]}" --fault-commit "2$when" # 1: the state of a new run
    stopped 0 "$name"
    exit_code "$server"
    [ "$code" -eq 137 ] || bad "$name: the coordinator ended with $code, not killed"
    is_forgotten "$name" || bad "$name: something is left"
    is_refused "$name"
    [ -e "$work/$name/stop" ] && [ -z "$when" ] && bad "$name: the request is left" # a database keeps the word
done

# A request that nobody lived to hear: the next coordinator does.
start_coordinator asked "$plan" 0 "${security[@]}"
kill -9 "$server"
exit_code "$server"
if in_postgres; then
    sql "UPDATE asked.caucus_run SET stop = true"
else
    : >"$work/asked/stop"
fi
start_coordinator asked "$plan" 0 "${security[@]}" --linger 0
ended "$server" "a request found at the start" 0
is_forgotten asked || bad "asked: something is left"
[ ! -e "$work/asked/stop" ] || bad "asked: the request is left"
is_refused asked

wrong 2 "no run is kept here" "$CAUCUS" stop --state "$work/nowhere"
wrong 2 "is needed" "$CAUCUS" stop
done_with "ended"
