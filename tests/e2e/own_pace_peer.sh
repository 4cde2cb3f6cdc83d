#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every device at its own pace: the same run with three clients of caucus, whose slots come with their losses, and with
# one of them replaced by the Python peer, which shares no code with caucus and breaks its connection now and then: the
# same experts, and the same state of the coordinator to the last bit. What is announced, and when, is held by this
# test: the losses of a slot are given when the slot before it is decided.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
set -euo pipefail
: "${CAUCUS_SOURCE:?source directory}"
# shellcheck source=tests/fault/lib.bash
. "$CAUCUS_SOURCE/tests/fault/lib.bash"
seed=41 clients=3 slots=8 rows=3
make_losses 3 $((slots * rows)) 6 drawn
decided() { says "$work/$1.err" "step $2 decided"; }
run() { # run NAME PLAN WHO: client 2 is caucus or peer
    local name=$1 plan=$2 who=$3 i k loud pids=() fd=() pipe opened
    start_coordinator "$name" "$plan" 0 --insecure --log-level detail
    for i in 1 2 3; do
        if [ "$i" -eq 2 ] && [ "$who" = peer ]; then
            python3 "$CAUCUS_SOURCE/tests/e2e/peer.py" --connect "127.0.0.1:$port" --insecure --plan "$plan" \
                --client 2 --seed $seed --losses "$losses" --slot-rows $rows --quiet-every "$quiet" --play $slots \
                --twice --cut 3 --timeout 100 \
                >"$work/$name.2.out" 2>"$work/$name.2.err" </dev/null &
            pids[i]=$!
            continue
        fi
        pipe=$work/$name.$i.pipe
        mkfifo "$pipe"
        exec {opened}<>"$pipe"
        fd[i]=$opened
        "$CAUCUS" join --connect "127.0.0.1:$port" --plan "$plan" --insecure --client "$i" --seed $seed --give-up 100 \
            <"$pipe" >"$work/$name.$i.out" 2>"$work/$name.$i.err" &
        pids[i]=$!
        printf 'slot 0\nslot 1\n' >&"${fd[i]}"
    done
    local seen=0
    for k in $(seq "$slots"); do
        ((quiet == 0 || k % quiet != 0)) && loud=$rows || loud=0
        for i in 1 2 3; do
            [ -n "${fd[i]:-}" ] || continue
            ((loud == 0)) || sed -n "$((seen + 1)),$((seen + loud))p" "$work/losses.$i" >&"${fd[i]}"
            echo "slot $((k + 1))" >&"${fd[i]}"
        done
        seen=$((seen + loud))
        until_true 20 decided "$name" $((k - 1)) ||
            give_up "$name: slot $k is not decided: $(tail -qn 2 "$work/$name".*err)"
    done
    for i in 1 3; do # they wait for more; what they were told last is in force
        until_true 20 told "$name" "$i" || bad "$name: client $i does not hear of the last expert"
        kill -TERM "${pids[i]}"
        exit_code "${pids[i]}"
    done
    if [ "$who" = peer ]; then ended "${pids[2]}" "$name: the peer: $(cat "$work/$name.2.err")" 0; else
        kill -TERM "${pids[2]}"
        exit_code "${pids[2]}"
    fi
    kill -TERM "$server"
    ended "$server" "$name: the coordinator" 0
}
told() { # told NAME INDEX: the expert in force after the last decision
    [ "$(tail -n 1 "$work/$1.$2.out")" = \
        "$(sed -n "s/.*step $((slots - 1)) decided .*: expert \([0-9]*\) in force.*/\1/p" "$work/$1.err")" ]
}
for kind in coordinator look vote knorm; do
    plan=$work/$kind.yaml quiet=0
    flags=(--algorithm stoch --pace own --clients 3 --experts 6 --epsilon 6)
    case $kind in
    coordinator) flags+=(--trust coordinator --unit client-block) ;;
    look) flags+=(--trust coordinator --unit client-block --show-loss 3) quiet=3 ;; # what was shown is in the state
    *) flags+=(--trust nobody --message "$kind") ;;
    esac
    make_plan "$plan" "${flags[@]}"
    run "$kind-caucus" "$plan" caucus
    run "$kind-peer" "$plan" peer
    [ "$(sort -u "$work/$kind-caucus.1.out" | wc -l)" -ge 2 ] || bad "$kind: one expert only: it shows little"
    for i in 1 2 3; do
        cmp -s "$work/$kind-caucus.1.out" "$work/$kind-peer.$i.out" || bad "$kind: client $i hears of other experts"
    done
    same_state "$kind-peer" "$kind-caucus" || bad "$kind: the state is another"
done
done_with "own pace, the peer"
