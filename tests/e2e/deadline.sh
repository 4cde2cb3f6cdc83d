#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# caucus join and the coordinator's deadline: after the last round of a block it waits for the announcement no longer
# than that (and a little); a coordinator that is there and silent is dialled again, which is said once; --give-up
# ends it. Without a deadline it waits.
set -euo pipefail
. "$CAUCUS_SOURCE/tests/fault/lib.bash"
seed=4 clients=2 security=(--insecure)
plan=$work/plan.yaml
flags=(--algorithm hedge --interval 2 --clients 2 --experts 5 --rounds 60 --epsilon 50 --trust coordinator)
make_plan "$plan" "${flags[@]}"
make_losses 2 60 5 drawn
# sockets PID: its connection, by a number that is never used twice.
sockets() { find "/proc/$1/fd" -lname 'socket:*' -printf '%l\n' 2>/dev/null; }
other_socket() { [ -n "$(sockets "$1")" ] && [ "$(sockets "$1")" != "$2" ]; } # other_socket PID OLD
late="no announcement 2 s after the deadline"

undisturbed quiet "$plan" "${flags[@]}"

# hang NAME FLAGS...: both clients play 10 rounds and are held there, then the coordinator hangs (its kernel still
# answers: nothing is closed), and they play on: to the end of the next block.
hang() {
    local name=$1 i
    shift
    start_coordinator "$name" "$plan" 0 "${security[@]}" "$@"
    pids=()
    for i in 1 2; do
        patience=${give_up_after[i]}
        start_held "$name" "$plan" "$port" "$i" --insecure --client "$i"
        pids+=("$client")
    done
    for i in 1 2; do let_play "$name" "$i" 10; done
    for i in 1 2; do
        until_true 30 has_lines "$work/$name.$i.1.out" 11 ||
            give_up "$name: the run did not begin: $(cat "$work/$name".*.err)"
    done
    kill -STOP "$server"
    first=$(sockets "${pids[0]}")
    for i in 1 2; do let_play "$name" "$i" 60; done
}

# With a deadline: said once however long it lasts; who gives up ends with 1; the other plays on as if nothing had been.
give_up_after=("" never 6)
hang late --deadline 1
until_true 40 says "$work/late.1.1.err" "$late" || bad "client 1 waits for ever: $(cat "$work/late.1.1.err")"
until_true 20 other_socket "${pids[0]}" "$first" || bad "client 1 did not dial again: it has $first"
ended "${pids[1]}" "--give-up" 1
says "$work/late.2.1.err" "no announcement at 127.0.0.1:$port for 6 s" || bad "--give-up: $(cat "$work/late.2.1.err")"
[ "$(grep -c "$late" "$work/late.1.1.err")" -eq 1 ] || bad "not said once: $(cat "$work/late.1.1.err")"
kill -CONT "$server"
patience=30
start_client late "$plan" "$port" 2 --insecure --client 2 # no --state: it walks through the run again
pids[1]=$client
for i in "${pids[@]}" "$server"; do ended "$i" "after the silence" 0; done
experts quiet 1 >"$work/quiet.played"
cmp -s "$work/quiet.played" "$work/late.1.1.out" ||
    bad "client 1 plays otherwise after the silence: $(cat "$work/late.1.1.err")"
cmp -s "$work/quiet.played" "$work/late.2.2.out" ||
    bad "client 2 plays otherwise after the silence: $(cat "$work/late.2.2.err")"
echo "ok: a deadline"

# Without one there is nothing to wait for: no word, no other connection, and --give-up is about coordinators that are
# away.
give_up_after=("" never 1)
hang patient
sleep 5
for i in 1 2; do
    kill -0 "${pids[i - 1]}" 2>/dev/null || bad "client $i did not wait: $(cat "$work/patient.$i.1.err")"
    ! says "$work/patient.$i.1.err" "announcement" || bad "client $i does not wait: $(cat "$work/patient.$i.1.err")"
done
[ "$(sockets "${pids[0]}")" = "$first" ] || bad "client 1 dialled again without a deadline"
kill -CONT "$server"
for i in "${pids[@]}" "$server"; do ended "$i" "without a deadline" 0; done
same_run patient quiet
done_with "deadline"
