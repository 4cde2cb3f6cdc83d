#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every device at its own pace. Seeded runs, whose slots come with their losses: killed in the middle, coordinator and
# client, they choose the same experts and end in the same state. Then runs by the clock: whoever is there is counted,
# whoever was away or is new goes on with its next slot, and `caucus stop` is what ends them.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
seed=31 adversary=shifting clients=3 security=(--insecure) slots=24
law=(--segments 4 --activity "5,1" --play "$slots")

stop_coordinator() { # stop_coordinator NAME: all clients have gone, and it waits for them
    kill -TERM "$server"
    ended "$server" "$1: the coordinator" 0
}
reference() { # reference NAME PLAN
    local i pids=()
    start_coordinator "$1" "$2" 0 "${security[@]}"
    for i in 1 2 3; do
        start_client "$1" "$2" "$port" "$i" --insecure --client "$i" "${law[@]}"
        pids+=("$client")
    done
    for i in "${pids[@]}"; do ended "$i" "$1" 0; done
    stop_coordinator "$1"
    [ "$(sort -u "$work/$1.1.1.out" | wc -l)" -ge 3 ] || bad "$1: fewer than 3 experts were played: it shows little"
    cmp -s "$work/$1.1.1.out" "$work/$1.2.1.out" || bad "$1: two clients heard of other experts"
}
for kind in coordinator nobody; do
    plan=$work/$kind.yaml
    make_plan "$plan" --algorithm stoch --pace own --unit client-block --clients 3 --experts 6 --epsilon 6 \
        --trust $kind
    reference "$kind-reference" "$plan"
    name=$kind-killed pid=()
    start_coordinator "$name" "$plan" 0 "${security[@]}"
    fixed=$port
    for i in 1 2 3; do
        start_client "$name" "$plan" "$fixed" "$i" --insecure --client "$i" "${law[@]}" \
            --state "$work/$name.$i.state" --delay 2
        pid[i]=$client
    done
    for kill in 2 5; do # whoever is quicker than this test has come to the same end
        until_true 20 has_lines "$work/$name.1.1.out" $kill || bad "$name: no $kill experts were played"
        kill -9 "$server"
        exit_code "$server"
        kill -9 "${pid[3]}" 2>/dev/null || true
        exit_code "${pid[3]}"
        start_coordinator "$name" "$plan" "$fixed" "${security[@]}"
        start_client "$name" "$plan" "$fixed" 3 --insecure --client 3 "${law[@]}" --state "$work/$name.3.state"
        pid[3]=$client
    done
    for i in 1 2 3; do ended "${pid[i]}" "$name: client $i" 0; done
    stop_coordinator "$name"
    for i in 1 2; do
        cmp -s "$work/$kind-reference.1.1.out" "$work/$name.$i.1.out" || bad "$name: client $i plays otherwise"
    done
    [ "$(tail -n 1 "$work/$name.3.3.out")" = "$(tail -n 1 "$work/$kind-reference.3.1.out")" ] ||
        bad "$name: client 3 ends with another expert"
    same_state "$name" "$kind-reference" || bad "$name: the state is another"
done

# Slots from standard input, seeded; the first one is not counted, and an item is about those that are over.
plan=$work/lines.yaml
make_plan "$plan" --algorithm stoch --pace own --unit client-block --clients 1 --names small,large --epsilon 500 \
    --trust coordinator
start_coordinator lines "$plan" 0 "${security[@]}" --log-level detail
mkfifo "$work/lines.pipe"
exec {fd}<>"$work/lines.pipe"
"$CAUCUS" join --connect "127.0.0.1:$port" --plan "$plan" --insecure --client 1 --seed $seed --give-up 300 \
    <"$work/lines.pipe" >"$work/lines.1.out" 2>"$work/lines.1.err" &
client=$!
line_is() { [ "$(tail -n 1 "$work/lines.1.out")" = "$1" ] && says "$work/lines.err" "step $2 decided"; }
printf 'slot 4\n0,1\n0,1\nslot 5\n1,0\nslot 6\n' >&"$fd"
until_true 20 line_is "1 name=large" 0 || give_up "lines: expert 1 is not chosen: $(cat "$work/lines.1.err")"
printf '0,1\n0,1\nslot 3\n1,0\nslot 7\n' >&"$fd" # a slot that is over is not entered again
until_true 20 line_is "0 name=small" 1 || give_up "lines: expert 0 is not chosen: $(cat "$work/lines.1.err")"
echo "slot seven" >&"$fd"
ended "$client" "lines: a slot without a number" 2
says "$work/lines.1.err" "stdin:12: the number of a slot is missing" || bad "lines: $(cat "$work/lines.1.err")"
stop_coordinator lines

# By the clock: slots of a second. Clients have their losses from pipes that this test feeds.
seed=
plan=$work/clock.yaml
make_plan "$plan" --algorithm stoch --pace own --unit client-block --clients 3 --experts 2 --epsilon 100 \
    --trust coordinator --phase-time 1s --grace 0s
declare -a held
hold() { # hold INDEX FLAGS...: sets held[INDEX] and pid[INDEX]
    local index=$1 fd
    shift
    [ -p "$work/$index.pipe" ] || mkfifo "$work/$index.pipe"
    exec {fd}<>"$work/$index.pipe"
    "$CAUCUS" join --connect "127.0.0.1:$port" --plan "$plan" --insecure --client "$index" --give-up 300 "$@" \
        <"$work/$index.pipe" >>"$work/clock.$index.out" 2>>"$work/clock.$index.err" &
    pid[index]=$!
    held[index]=$fd
}
decided() { [ "$(grep -c "decided with" "$work/clock.err" 2>/dev/null)" -ge "$1" ]; }
last_is() { [ "$(tail -n 1 "$work/clock.$1.out" 2>/dev/null)" = "$2" ]; }
start_coordinator clock "$plan" 0 "${security[@]}" --log-level detail --linger 1
fixed=$port
hold 1 --state "$work/clock.1.state" # one of three: nobody is waited for
lose() { # lose EXPERT CLIENTS...: it loses again and again, until they play the other one
    local bad=$1 i
    shift
    for i in "$@"; do
        for _ in $(seq 40); do
            [ "$bad" -eq 0 ] && echo "1,0" >&"${held[i]}" || echo "0,1" >&"${held[i]}"
        done
    done
    for i in "$@"; do last_is "$i" $((1 - bad)) || return 1; done
}
lose_until() { # the losses must fall into a slot that counts: give them until that is so
    local tries=$((100 * ${CAUCUS_PATIENCE:-1})) _
    for _ in $(seq "$tries"); do
        lose "$@" && return 0
        sleep 0.2
    done
    return 1
}
lose_until 0 1 || give_up "clock: client 1 does not hear that expert 1 is better: $(tail -n 3 "$work/clock.err")"
until_true 20 decided 2 || give_up "clock: nothing is decided: $(tail -n 3 "$work/clock.err")"
kill -9 "${pid[1]}" "$server" # away, both
exit_code "${pid[1]}"
exit_code "$server"
before=$(grep -c "decided with" "$work/clock.err" || true)
start_coordinator clock "$plan" "$fixed" "${security[@]}" --log-level detail --linger 1
hold 1 --state "$work/clock.1.state"
hold 2 # new, without a state
lose_until 1 1 2 || give_up "clock: clients 1 and 2 do not hear of expert 0: $(tail -n 3 "$work/clock.err")"
until_true 20 decided $((before + 2)) || bad "clock: the coordinator decides nothing any more"
says "$work/clock.1.err" "going on at loss" || bad "clock: client 1 has forgotten what it saw"
kill -9 "${pid[2]}" # its state is nowhere: it comes again and goes on with its next slot
exit_code "${pid[2]}"
hold 2
lose_until 0 1 2 || give_up "clock: client 2 is not heard any more: $(tail -n 3 "$work/clock.err")"
stop_run clock
for i in 1 2; do ended "${pid[i]}" "clock: client $i" 0; done
ended "$server" "clock: the coordinator" 0
wrong 2 "goes with clients in step" "$CAUCUS" serve --plan "$plan" --state "$work/no" --listen 127.0.0.1:0 --insecure \
    --deadline 3
wrong 2 "is not needed" "$CAUCUS" join --connect 127.0.0.1:1 --plan "$plan" --insecure --client 1 --new-device
wrong 2 "has its losses by rounds" "$CAUCUS" join --connect 127.0.0.1:1 --plan "$plan" --insecure --client 1 \
    --adversary lower-bound-oblivious --play 3 --seed 1
done_with "own pace"
