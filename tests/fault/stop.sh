#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SIGTERM and SIGINT: the coordinator says goodbye, ends with 0 and says how to go on; clients stay and wait; started
# again it goes on.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
seed=24 clients=3 security=(--insecure)
flags=(--algorithm svt --clients 3 --experts 8 --rounds 60 --epsilon 60 --trust coordinator)
plan=$work/plan.yaml
make_plan "$plan" "${flags[@]}"
make_losses 3 60 8
undisturbed reference "$plan" "${flags[@]}"

# Before anybody has come.
start_coordinator stopped "$plan" 0 "${security[@]}"
fixed=$port
kill -TERM "$server"
ended "$server" "SIGTERM before the first client" 0
[ "$(field finished "$work/stopped.out")" = false ] ||
    bad "stopped before it began, and it says: $(cat "$work/stopped.out")"

# join_all NAME HELD FLAGS...: starts three clients, and holds the first so many of them; sets pid
join_all() {
    local name=$1 held=$2 i how
    shift 2
    for i in 1 2 3; do
        how=client
        [ "$i" -gt "$held" ] || how=held
        "start_$how" "$name" "$plan" "$port" "$i" --insecure --client "$i" "$@" ${state:+--state "$work/$name.$i.state"}
        pid[i]=$client
    done
}

# In the middle, twice; the last client is stopped, too, and comes back from its state.
start_coordinator stopped "$plan" "$fixed" "${security[@]}"
state=yes join_all stopped 1
in_hand="stopping when the step in hand is decided"
stopping() { [ "$(grep -cF "$in_hand" "$work/stopped.err")" -ge "$1" ]; } # stopping N: for the Nth time
for signal in TERM INT; do
    rounds=10 times=1
    [ "$signal" = TERM ] || rounds=30 times=2
    let_play stopped 1 $rounds
    until_true 20 has_lines "$work/stopped.1.1.out" $((rounds + 1)) || bad "no $rounds rounds were played"
    kill "-$signal" "$server"
    until_true 20 stopping $times || bad "SIG$signal was not heard: $(cat "$work/stopped.err")"
    ! is_over "$server" || bad "SIG$signal: it did not wait for the step in hand"
    let_play stopped 1 $((rounds + 1))
    ended "$server" "SIG$signal" 0
    [ "$(field finished "$work/stopped.out")" = false ] || bad "SIG$signal: $(cat "$work/stopped.out")"
    for i in 1 2 3; do kill -0 "${pid[i]}" 2>/dev/null ||
        bad "SIG$signal: client $i has gone: $(cat "$work/stopped.$i.1.err")"; done
    if [ "$signal" = INT ]; then
        kill -TERM "${pid[3]}"
        ended "${pid[3]}" "client 3, SIGTERM" 1
        start_client stopped "$plan" "$fixed" 3 --insecure --client 3 --state "$work/stopped.3.state"
        pid[3]=$client
    fi
    start_coordinator stopped "$plan" "$fixed" "${security[@]}"
done
let_play stopped 1 60
for i in "${pid[@]}" "$server"; do ended "$i" "going on" 0; done
same_run stopped reference
says "$work/stopped.err" "going on at step" || bad "it does not say that it goes on: $(cat "$work/stopped.err")"

# A client that hangs (SIGSTOP: connected, silent) holds up nobody beyond the deadline; when it moves again it walks
# through what it missed.
start_coordinator hangs "$plan" 0 "${security[@]}" --deadline 0.1 --quorum 2
join_all hangs 2 # client 3 alone is no quorum
for i in 1 2; do let_play hangs "$i" 5; done
until_true 20 has_lines "$work/hangs.3.1.out" 6 || bad "hangs: no 5 rounds were played"
kill -STOP "${pid[3]}"
for i in 1 2; do let_play hangs "$i" 16; done
until_true 20 has_lines "$work/hangs.1.1.out" 17 ||
    bad "hangs: the others do not go on: $(wc -l <"$work/hangs.1.1.out") rounds"
[ "$(wc -l <"$work/hangs.3.1.out")" -le 6 ] || bad "hangs: client 3 did not stop"
kill -CONT "${pid[3]}"
for i in 1 2; do let_play hangs "$i" 60; done
for i in "${pid[@]}" "$server"; do ended "$i" "hangs" 0; done
for i in 2 3; do cmp -s "$work/hangs.1.1.out" "$work/hangs.$i.1.out" || bad "hangs: client $i plays otherwise"; done
[ "$(wc -l <"$work/hangs.3.1.out")" -eq 60 ] || bad "hangs: client 3 played $(wc -l <"$work/hangs.3.1.out") rounds"

# In words, too.
"$CAUCUS" serve --plan "$plan" --state "$work/words" --listen 127.0.0.1:0 --insecure >"$work/words.out" \
    2>"$work/words.err" &
server=$!
until_true 20 says "$work/words.out" "listening on" || bad "no 'listening on'"
kill -TERM "$server"
ended "$server" "words" 0
says "$work/words.out" "to go on: the same command with --state $work/words" ||
    bad "it does not say how to go on: $(cat "$work/words.out")"

# A finished run, started again: it stays for clients that have not heard of the end, at most --linger, and says so.
start_coordinator stopped "$plan" 0 "${security[@]}" --linger 0.2
ended "$server" "finished, started again" 0
says "$work/stopped.err" "this run was over after step" || bad "finished: it does not say: $(cat "$work/stopped.err")"
says "$work/stopped.err" "answering clients that have not heard of it, for 0.2 seconds" ||
    bad "finished: it does not say what it does: $(cat "$work/stopped.err")"
[ "$(field finished "$work/stopped.out")" = true ] || bad "finished, started again: $(cat "$work/stopped.out")"
# A page that stays (--stay), told to end many times over: the first is heard, the others find nothing to stop.
start_coordinator stays "$plan" 0 "${security[@]}" --http 127.0.0.1:0 --stay
for i in 1 2 3; do
    start_client stays "$plan" "$port" "$i" --insecure --client "$i"
    pid[i]=$client
done
for i in 1 2 3; do ended "${pid[i]}" "a client of a page that stays" 0; done
until_true 30 says "$work/stays.err" "page and coordinator stay until this program is stopped" ||
    bad "the page does not stay: $(cat "$work/stays.err")"
while kill -TERM "$server" 2>/dev/null; do :; done &
flood=$!
ended "$server" "--stay, signals without end" 0
kill "$flood" 2>/dev/null || true
wait "$flood" 2>/dev/null || true

# A client that was away when the run ended: a coordinator that stays tells it so, and it plays to its end: 0.
start_coordinator away "$plan" 0 "${security[@]}" --deadline 0.05 --quorum 2 --linger 0.1 --stay
fixed=$port
state=yes join_all away 2
for i in 1 2; do let_play away "$i" 5; done
until_true 20 has_lines "$work/away.3.1.out" 6 || bad "away: no 5 rounds were played"
kill -9 "${pid[3]}"
exit_code "${pid[3]}"
for i in 1 2; do let_play away "$i" 60; done
for i in 1 2; do ended "${pid[i]}" "away: client $i" 0; done
until_true 20 says "$work/away.err" "page and coordinator stay" || bad "away: $(cat "$work/away.err")"
[ "$(field finished "$work/away.out")" = true ] || bad "away: no summary when the run was over: $(cat "$work/away.out")"
start_client away "$plan" "$fixed" 3 --insecure --client 3 --state "$work/away.3.state"
ended "$client" "a client that comes when the run is over" 0
experts away 3 >"$work/away.played"
cmp -s "$work/away.played" "$work/away.1.1.out" || bad "away: client 3 plays otherwise"
kill -TERM "$server"
ended "$server" "away: the coordinator that stayed" 0

done_with "stop"
