#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# At its own pace a client that is killed has kept every loss that it had taken, with the slot it belongs to: started
# again and given all of them from the first on it takes none twice and none is missing. A slot lasts a day here, so no
# report is made: what is kept is kept for the sake of the losses.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
seed='' security=(--insecure)
plan=$work/plan.yaml saved=$work/client.state
make_plan "$plan" --algorithm stoch --pace own --unit client-block --clients 1 --experts 2 --epsilon 1 \
    --trust coordinator --phase-time 1d
start_coordinator kept "$plan" 0 "${security[@]}" --linger 1
mkfifo "$work/pipe"
exec {fd}<>"$work/pipe"
life=0
begin() { # a life, given its losses from the first on
    life=$((life + 1))
    "$CAUCUS" join --connect "127.0.0.1:$port" --plan "$plan" --insecure --client 1 --state "$saved" --replay \
        --give-up 300 <"$work/pipe" >"$work/$life.out" 2>"$work/$life.err" &
    client=$!
    until_true 20 has_lines "$work/$life.out" 1 || give_up "life $life: no expert: $(cat "$work/$life.err")"
}
changed() { [ -e "$saved" ] && ! cmp -s "$saved" "$work/before"; }
given=0
take() { # take COUNT: losses that were never given, in one piece; until the state has them
    local _
    cp "$saved" "$work/before" 2>/dev/null || : >"$work/before"
    for _ in $(seq "$1"); do printf '0,1\n'; done >"$work/lines"
    cat "$work/lines" >&"$fd"
    given=$((given + $1))
    until_true 20 changed || give_up "life $life: the state does not hold the losses: $(cat "$work/$life.err")"
}
kill_it() { kill -9 "$client" && exit_code "$client"; }
begin
take 1
for count in 1 3 40; do
    kill_it
    begin
    says "$work/$life.err" "going on at loss $((given + 1))" ||
        bad "life $life: $given losses were given: $(cat "$work/$life.err")"
    for _ in $(seq "$given"); do printf '1,0\n'; done >&"$fd" # those before are passed over
    take "$count"
done
kill -TERM "$client"
exit_code "$client"
says "$work/$life.err" "stopped: $given losses" || bad "at the end: $(cat "$work/$life.err")"
wrong 2 "needs --state FILE at its own pace" "$CAUCUS" join --connect 127.0.0.1:1 --plan "$plan" --insecure --client 1 \
    --replay
kill -TERM "$server"
ended "$server" "the coordinator" 0
done_with "own pace, killed"
