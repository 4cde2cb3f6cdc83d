#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
# What the tests of relays share; sourced after lib.bash: a real nats-server, relays, and clients that dial them.
if "$CAUCUS" version | grep -q '^  NATS *none'; then
    echo "skipped: this program has no relays"
    exit 77
fi
nats_server=$(command -v nats-server || ls /usr/sbin/nats-server 2>/dev/null) || give_up "nats-server is not installed"
declare -a relay relay_port
declare -A relay_life

# make_certificates CLIENTS RELAYS: sets certs and nats_port; the server's configuration is what certify has made.
make_certificates() {
    certs=$work/certs
    "$CAUCUS" certify "$certs" --clients "$1" --relays "$2" >/dev/null 2>"$work/certify.err" ||
        give_up "certify: $(cat "$work/certify.err")"
    own_port
    nats_port=$free_port
    sed -e "s/0.0.0.0:4222/127.0.0.1:$nats_port/" -e "s,\"nats\.,\"$certs/nats.,g" "$certs/nats.conf" >"$work/nats.conf"
    tls=(--cert "$certs/coordinator.pem" --key "$certs/coordinator.key" --client-ca "$certs/ca.pem")
    nats=(--nats "tls://127.0.0.1:$nats_port" --nats-ca "$certs/ca.pem")
    hears=("${nats[@]}" --nats-key "$certs/coordinator.nkey" --relays "$certs/relays.list"
        --relay-key "$certs/coordinator.secret")
}
nats_listens() { (: <>"/dev/tcp/127.0.0.1/$nats_port") 2>/dev/null || ! kill -0 "$nats_pid" 2>/dev/null; }
start_nats() { # sets nats_pid
    "$nats_server" -c "$work/nats.conf" >>"$work/nats.log" 2>&1 </dev/null &
    nats_pid=$!
    until_true 20 nats_listens || give_up "nats-server does not listen: $(tail -n 3 "$work/nats.log")"
    kill -0 "$nats_pid" 2>/dev/null || give_up "nats-server has ended: $(tail -n 3 "$work/nats.log")"
}
# make_cluster CLIENTS RELAYS NODES: as make_certificates, for a cluster; start_node and stop_node (SIGKILL) by number.
declare -a node_pid node_port
make_cluster() {
    local i routes=() route=()
    make_certificates "$1" "$2"
    for i in $(seq "$3"); do
        own_port
        node_port[i]=$free_port
        own_port
        route[i]=$free_port
        routes+=("nats-route://127.0.0.1:$free_port")
    done
    for i in $(seq "$3"); do
        sed "s/^listen: .*/listen: \"127.0.0.1:${node_port[i]}\"\nserver_name: \"node$i\"/" "$work/nats.conf" \
            >"$work/node$i.conf"
        printf 'cluster { name: "caucus", listen: "127.0.0.1:%s", routes: [%s] }\n' "${route[i]}" \
            "$(printf '"%s", ' "${routes[@]}")" >>"$work/node$i.conf"
    done
    nats=(--nats "$(printf ',tls://127.0.0.1:%s' "${node_port[@]}" | cut -c2-)" --nats-ca "$certs/ca.pem")
    hears=("${nats[@]}" --nats-key "$certs/coordinator.nkey" --relays "$certs/relays.list"
        --relay-key "$certs/coordinator.secret")
}
start_node() {
    "$nats_server" -c "$work/node$1.conf" >>"$work/node$1.log" 2>&1 </dev/null &
    node_pid[$1]=$!
    nats_port=${node_port[$1]} nats_pid=${node_pid[$1]}
    until_true 20 nats_listens || give_up "node $1 does not listen: $(tail -n 3 "$work/node$1.log")"
}
stop_node() { kill -9 "${node_pid[$1]}" && ended "${node_pid[$1]}" "node $1" 137; }
# start_relay NAME PLAN NUMBER FLAGS...: sets relay[NUMBER]; it listens at relay_port[NUMBER], in every life the same.
start_relay() {
    local name=$1 plan=$2 number=$3 life
    shift 3
    [ -n "${relay_port[number]:-}" ] || { own_port && relay_port[number]=$free_port; }
    life=$((${relay_life[$name.$number]:-0} + 1))
    relay_life[$name.$number]=$life
    "$CAUCUS" relay --plan "$plan" --number "$number" --listen "127.0.0.1:${relay_port[number]}" "${nats[@]}" \
        --nats-key "$certs/relay-$number.nkey" --relay-key "$certs/relay-$number.secret" \
        --coordinator "$certs/coordinator.public" --cert "$certs/relay-$number.pem" --key "$certs/relay-$number.key" \
        --client-ca "$certs/ca.pem" --format json "$@" \
        >"$work/$name.relay$number.$life.out" 2>>"$work/$name.relay$number.err" </dev/null &
    relay[number]=$!
}
relay_listens() { # relay_listens NAME NUMBER: in its latest life
    says "$work/$1.relay$2.${relay_life[$1.$2]}.out" '"listening"'
}
# The options of client INDEX: who it is.
as_client() { mine=(--cert "$certs/client-$1.pem" --key "$certs/client-$1.key" --ca "$certs/ca.pem"); }
# carried NAME NUMBER...: each of these relays has had partials accepted, or the run shows nothing about relays.
carried() {
    local name=$1 number accepted
    shift
    for number in "$@"; do
        accepted=$(field accepted "$work/$name.relay$number.${relay_life[$name.$number]}.out")
        [ "${accepted:-0}" -gt 0 ] || bad "$name: relay $number has carried no report"
    done
}
