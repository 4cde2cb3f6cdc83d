#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SIGKILL for a relay, the coordinator, nats-server, and all of them at once, SIGTERM for a relay, in the middle of a
# run over mutual TLS; each is started again. The same experts as undisturbed, and the same state: no report is lost,
# none is counted twice, no noise is drawn twice. Client 1 is held, so that the run lasts until the last kill.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/relay.bash"
seed=24 clients=4 security=(--insecure) patience=300
make_certificates 4 2
start_nats
name=kills plan=$work/kills.yaml
make_losses 4 240 8
settings=(--algorithm svt --trust coordinator --epsilon 60 --rounds 240 --clients 4 --experts 8)
make_plan "$plan" "${settings[@]}"
undisturbed reference "$plan" "${settings[@]}"

serve() { start_coordinator "$name" "$plan" "${fixed:-0}" "${tls[@]}" "${hears[@]}" --linger 60; }
stop_nats() { kill -9 "$nats_pid" && ended "$nats_pid" nats-server 137; }
serve
fixed=$port
start_relay "$name" "$plan" 1
start_relay "$name" "$plan" 2
one=${relay_port[1]},127.0.0.1:${relay_port[2]} two=${relay_port[2]},127.0.0.1:${relay_port[1]}
to=([1]="$one" [2]="$two" [3]="$one" [4]="$fixed")
pids=()
for i in 1 2 3 4; do
    as_client "$i"
    if [ "$i" -eq 1 ]; then how=held; else how=client; fi
    "start_$how" "$name" "$plan" "${to[i]}" "$i" "${mine[@]}"
    pids+=("$client")
done

# play ROUND: client 1 plays so far, and with it the run.
play() {
    let_play "$name" 1 "$1"
    [ "$1" -eq 240 ] || until_true 100 has_lines "$work/$name.1.1.out" $(($1 + 1)) ||
        give_up "$name: the run stands before round $1: $(tail -qn 2 "$work/$name".{1.1.err,err,relay1.err,relay2.err})"
}
play 40
kill -9 "${relay[1]}"
ended "${relay[1]}" "relay 1, killed" 137
start_relay "$name" "$plan" 1
play 80
kill -9 "$server"
ended "$server" "the coordinator, killed" 137
serve
play 120
stop_nats
start_nats
play 160
kill "${relay[2]}"
ended "${relay[2]}" "relay 2, stopped" 0
start_relay "$name" "$plan" 2
play 200
kill -9 "${relay[1]}" "${relay[2]}" "$server"
for i in "${relay[1]}" "${relay[2]}" "$server"; do ended "$i" "killed at once" 137; done
stop_nats
start_nats
serve
start_relay "$name" "$plan" 1
start_relay "$name" "$plan" 2
play 240
for i in "${pids[@]}" "$server" "${relay[1]}" "${relay[2]}"; do ended "$i" "$name" 0; done
accepted=0
for i in 1 2; do accepted=$((accepted + $(field accepted "$work/$name.relay$i.${relay_life[$name.$i]}.out"))); done
[ "$accepted" -gt 0 ] || bad "the relays have carried no report since the last kill"
same_run "$name" reference
kill "$nats_pid"
done_with relay_kills
