#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs without an end: killed in the middle, coordinator and client, they go on as if nothing had happened, and the
# store keeps the last announcement alone. A client that was away for long goes on from the one in force. `caucus stop`
# is what ends them.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
seed=24 adversary=bernoulli clients=3 security=(--insecure) rounds=40

is_small() { # is_small NAME: whatever was announced, the store holds one announcement and three lines of the ledger
    open_kept "$1"
    python3 - "$work/$1/coordinator.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
held = [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("announcement", "ledger")]
(made,) = db.execute("SELECT announcements FROM run").fetchone()
if held != [1, 3] or made < 10:
    sys.exit(f"{held[0]} announcements of {made}, {held[1]} lines of the ledger")
PY
}
stop_coordinator() { # stop_coordinator NAME: all clients have gone, and it waits for them
    kill -TERM "$server"
    ended "$server" "$1: the coordinator" 0
}
# undisturbed_endless NAME PLAN: the reference
undisturbed_endless() {
    local i pids=()
    start_coordinator "$1" "$2" 0 "${security[@]}"
    for i in 1 2 3; do
        start_client "$1" "$2" "$port" "$i" --insecure --client "$i" --play $rounds
        pids+=("$client")
    done
    for i in "${pids[@]}"; do ended "$i" "$1" 0; done
    stop_coordinator "$1"
    [ "$(experts "$1" 1 | sort -u | wc -l)" -ge 3 ] || bad "$1: fewer than 3 experts were played: it shows little"
}

for kind in stoch svt hedge; do
    plan=$work/$kind.yaml
    flags=(--algorithm "$kind" --clients 3 --experts 8 --rounds endless --epsilon 60 --trust coordinator)
    adversary=bernoulli
    case $kind in
    stoch) flags+=(--longest-phase 3) ;;
    svt) flags+=(--renew 20) adversary=halving ;;
    hedge) flags+=(--renew 12 --interval 2) ;;
    esac
    make_plan "$plan" "${flags[@]}"
    undisturbed_endless "$kind-reference" "$plan"
    name=$kind-killed pid=()
    start_coordinator "$name" "$plan" 0 "${security[@]}"
    fixed=$port
    for i in 1 2 3; do
        start_client "$name" "$plan" "$fixed" "$i" --insecure --client "$i" --play $rounds \
            --state "$work/$name.$i.state" --delay 5
        pid[i]=$client
    done
    for kill in 10 25; do # whoever is quicker than this test has come to the same end
        until_true 20 has_lines "$work/$name.1.1.out" $kill || bad "$name: no $kill rounds were played"
        kill -9 "$server"
        exit_code "$server"
        kill -9 "${pid[3]}" 2>/dev/null || true
        exit_code "${pid[3]}"
        start_coordinator "$name" "$plan" "$fixed" "${security[@]}"
        start_client "$name" "$plan" "$fixed" 3 --insecure --client 3 --play $rounds --state "$work/$name.3.state"
        pid[3]=$client
    done
    for i in 1 2 3; do ended "${pid[i]}" "$name: client $i" 0; done
    stop_coordinator "$name"
    for i in 1 2 3; do
        experts "$name" "$i" >"$work/$name.played"
        experts "$kind-reference" "$i" | cmp -s - "$work/$name.played" || bad "$name: client $i plays otherwise"
    done
    is_small "$name" || bad "$name: the store has grown"
done

# A client that was away. The others are fed by this test, a round at a time: what is announced, and when, is held.
plan=$work/away.yaml
make_plan "$plan" --algorithm stoch --clients 3 --experts 8 --rounds endless --epsilon 4 --trust coordinator \
    --longest-phase 1
patience=300
start_coordinator away "$plan" 0 "${security[@]}" --deadline 0.05 --quorum 2
for i in 1 2 3; do start_fed away $i --state "$work/away.$i.state"; done
feed 1 2 3
for i in 1 2 3; do
    until_true 20 has_lines "$work/away.$i.1.out" 2 || give_up "away: client $i plays no second round"
done
kill -9 "${pid[3]}"
exit_code "${pid[3]}"
end_feed 3
for round in $(seq 2 72); do # as many phases: more than the coordinator remembers
    feed 1 2
    for i in 1 2; do
        until_true 20 has_lines "$work/away.$i.1.out" $((round + 1)) || give_up "away: client $i stays at round $round"
    done
done
start_fed away 3 --state "$work/away.3.state"
until_true 20 has_lines "$work/away.3.2.out" 1 ||
    give_up "away: client 3 does not come back: $(cat "$work/away.3.2.err")"
[ "$(tail -n 1 "$work/away.3.2.out")" = "$(tail -n 1 "$work/away.1.1.out")" ] ||
    bad "away: client 3 plays another expert"
[ "$(wc -l <"$work/away.3.2.out")" -le 2 ] || bad "away: client 3 walks through what it missed"
is_small away || bad "away: the store has grown"
stop_run away
for i in 1 2 3; do
    ended "${pid[i]}" "away: client $i" 0
    end_feed "$i"
done
ended "$server" "away: the coordinator" 0
is_small away || bad "away: it has grown with the last announcement"
state_of away
wrong 3 "this run was ended for good" "$CAUCUS" serve --plan "$plan" "${state_flags[@]}" --listen 127.0.0.1:0 \
    --insecure --seed "$seed"

wrong 2 "must be a number of rounds" "$CAUCUS" join --connect 127.0.0.1:1 --plan "$plan" --insecure --client 1 --play 0
wrong 2 "is needed" "$CAUCUS" join --connect 127.0.0.1:1 --plan "$plan" --insecure --client 1 --adversary bernoulli \
    --seed 1
done_with "endless"
