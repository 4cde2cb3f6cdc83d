#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# At their own pace, with a quorum below all clients: a time to decide that finds fewer items changes nothing and the
# question stays open; once enough have come the next one decides. A seeded run has no such time, and says so.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
seed='' security=(--insecure)
plan=$work/plan.yaml
make_plan "$plan" --algorithm stoch --pace own --unit client-block --clients 3 --experts 2 --epsilon 100 \
    --trust coordinator --phase-time 1s --grace 0s
start_coordinator quorum "$plan" 0 "${security[@]}" --log-level detail --linger 1 --quorum 2
declare -a held pid
hold() { # hold INDEX: a client whose losses this test feeds
    local fd
    mkfifo "$work/$1.pipe"
    exec {fd}<>"$work/$1.pipe"
    "$CAUCUS" join --connect "127.0.0.1:$port" --plan "$plan" --insecure --client "$1" --give-up 300 \
        <"$work/$1.pipe" >"$work/quorum.$1.out" 2>"$work/quorum.$1.err" &
    pid[$1]=$!
    held[$1]=$fd
}
feed_until() { # feed_until TEXT CLIENTS...: expert 0 loses, as often as is needed to fill a slot that counts
    local text=$1 tries=$((100 * ${CAUCUS_PATIENCE:-1})) i _
    shift
    for _ in $(seq "$tries"); do
        for i in "$@"; do echo "1,0" >&"${held[i]}"; done
        says "$work/quorum.err" "$text" && return 0
        sleep 0.2
    done
    return 1
}
hold 1
feed_until "stays open: 1 answers, 2 are needed" 1 || give_up "one item: $(tail -n 3 "$work/quorum.err")"
hold 2
feed_until "decided with 2 of 3 clients: expert 1 in force" 1 2 || give_up "two items: $(tail -n 3 "$work/quorum.err")"
heard() { grep -qx 1 "$work/quorum.$1.out"; } # at some time: of slots without losses anything may be chosen
for i in 1 2; do until_true 20 heard $i || bad "client $i does not hear of expert 1"; done
! grep -qE "decided with [01] of" "$work/quorum.err" || bad "one item was enough: $(cat "$work/quorum.err")"
stop_run quorum
for i in 1 2; do ended "${pid[i]}" "client $i" 0; done
ended "$server" "the coordinator" 0
wrong 2 "a seeded run at the devices' own pace decides when all clients have answered — leave out --quorum" \
    "$CAUCUS" serve --plan "$plan" --state "$work/no" --listen 127.0.0.1:0 --insecure --seed 5 --quorum 2
done_with "a quorum at their own pace"
