#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Three nats-servers as a cluster, and any one of them is killed: whoever was connected to it goes to another, and the
# run goes on and ends as the undisturbed one. Client 1 is held, so that the run lasts until the last kill.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/../lib.bash"
. "$(dirname "$0")/../relay.bash"
seed=24 clients=3 security=(--insecure) patience=300
make_cluster 3 2 3
for i in 1 2 3; do start_node "$i"; done
name=cluster plan=$work/cluster.yaml
make_losses 3 240 8
settings=(--algorithm svt --trust coordinator --epsilon 60 --rounds 240 --clients 3 --experts 8)
make_plan "$plan" "${settings[@]}"
undisturbed reference "$plan" "${settings[@]}"
start_coordinator "$name" "$plan" 0 "${tls[@]}" "${hears[@]}" --linger 60
for i in 1 2; do start_relay "$name" "$plan" "$i"; done
for i in 1 2; do until_true 20 relay_listens "$name" "$i" || give_up "relay $i does not listen"; done
to=([1]=${relay_port[1]} [2]=${relay_port[2]} [3]=${relay_port[1]})
pids=()
for i in 1 2 3; do
    as_client "$i"
    if [ "$i" -eq 1 ]; then how=held; else how=client; fi
    "start_$how" "$name" "$plan" "${to[i]}" "$i" "${mine[@]}"
    pids+=("$client")
done
play() { # play ROUND: client 1 plays so far, and with it the run
    let_play "$name" 1 "$1"
    [ "$1" -eq 240 ] || until_true 100 has_lines "$work/$name.1.1.out" $(($1 + 1)) ||
        give_up "the run stands before round $1: $(tail -qn 2 "$work/$name".{1.1.err,err,relay1.err,relay2.err})"
}
for i in 1 2 3; do
    play $((i * 60))
    stop_node "$i"
    play $((i * 60 + 30))
    start_node "$i"
done
play 240
for i in "${pids[@]}" "$server" "${relay[1]}" "${relay[2]}"; do ended "$i" "$name" 0; done
carried "$name" 1 2
same_run "$name" reference
kill "${node_pid[@]}"
done_with relay_cluster
