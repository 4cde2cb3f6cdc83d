#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A relay that is cut off from NATS but not from its clients: it sends them elsewhere, and listens again when NATS is
# back. One that is cut off from its clients but not from NATS: they go elsewhere by themselves. One that NATS refuses
# for a while says so, and is let in again. One whose certificate has expired does not start, until it is signed again;
# one whose certificate expires in the run keeps its clients, says so, and takes the one that was signed again.
# Each time the run goes on as undisturbed.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/../lib.bash"
. "$(dirname "$0")/../relay.bash"
seed=24 clients=3 security=(--insecure) patience=300
proxy=$(dirname "$0")/../../../tools/soak/proxy.py
make_certificates 3 2
start_nats
name=cut plan=$work/cut.yaml
make_losses 3 240 8
settings=(--algorithm svt --trust coordinator --epsilon 60 --rounds 240 --clients 3 --experts 8)
make_plan "$plan" "${settings[@]}"
undisturbed reference "$plan" "${settings[@]}"

declare -a proxy_pid proxy_port
start_proxy() { # start_proxy NUMBER TO: sets proxy_port[NUMBER] and proxy_pid[NUMBER]
    [ -n "${proxy_port[$1]:-}" ] || { own_port && proxy_port[$1]=$free_port; }
    rm -f "$work/proxy$1.out"
    python3 "$proxy" "${proxy_port[$1]}" "$2" $$ "$work" >"$work/proxy$1.out" 2>"$work/proxy$1.err" </dev/null &
    proxy_pid[$1]=$!
    until_true 20 says "$work/proxy$1.out" ready || give_up "a proxy does not listen: $(cat "$work/proxy$1.err")"
}
stop_proxy() { kill -9 "${proxy_pid[$1]}" && ended "${proxy_pid[$1]}" "a proxy" 137; }
listens_at() { (: <>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
silent_at() { ! listens_at "$1"; }

# Relay 2 has a certificate that expired yesterday.
openssl x509 -in "$certs/relay-2.pem" -x509toreq -signkey "$certs/relay-2.key" -out "$work/relay-2.csr" 2>/dev/null
openssl x509 -req -in "$work/relay-2.csr" -CA "$certs/relay-ca.pem" -CAkey "$certs/relay-ca.key" -days -1 \
    -extfile <(printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n') \
    -out "$certs/relay-2.pem" 2>"$work/sign.err" || give_up "openssl: $(cat "$work/sign.err")"

wrong 1 "has expired" "$CAUCUS" relay --plan "$plan" --number 2 --listen 127.0.0.1:0 "${nats[@]}" \
    --nats-key "$certs/relay-2.nkey" --relay-key "$certs/relay-2.secret" --coordinator "$certs/coordinator.public" \
    --cert "$certs/relay-2.pem" --key "$certs/relay-2.key" --client-ca "$certs/ca.pem"
"$CAUCUS" certify "$certs" --renew >/dev/null

# And now one that expires in the run, half a minute from here.
cat >"$work/ca.cnf" <<CNF
[ca]
default_ca = relays
[relays]
database = $work/index.txt
serial = $work/serial
new_certs_dir = $work
default_md = sha256
policy = any
x509_extensions = server
[any]
commonName = supplied
[server]
subjectAltName = DNS:localhost,IP:127.0.0.1
extendedKeyUsage = serverAuth
CNF
: >"$work/index.txt"
echo 1000 >"$work/serial"
openssl ca -batch -notext -config "$work/ca.cnf" -cert "$certs/relay-ca.pem" -keyfile "$certs/relay-ca.key" \
    -in "$work/relay-2.csr" -startdate "$(date -u -d '-1 hour' +%y%m%d%H%M%SZ)" \
    -enddate "$(date -u -d '+30 seconds' +%y%m%d%H%M%SZ)" -out "$certs/relay-2.pem" 2>"$work/sign.err" ||
    give_up "openssl ca: $(cat "$work/sign.err")"
accepts() { # accepts PORT: would a client that comes now accept this certificate?
    openssl s_client -connect "127.0.0.1:$1" -CAfile "$certs/ca.pem" -verify_return_error -cert "$certs/client-1.pem" \
        -key "$certs/client-1.key" </dev/null >/dev/null 2>&1
}

start_coordinator "$name" "$plan" 0 "${tls[@]}" "${hears[@]}" --linger 60
start_proxy 1 "$nats_port"
direct=("${nats[@]}")
nats=(--nats "tls://127.0.0.1:${proxy_port[1]}" --nats-ca "$certs/ca.pem")
start_relay "$name" "$plan" 1 --cut-off 3
nats=("${direct[@]}")
start_relay "$name" "$plan" 2
for i in 1 2; do until_true 20 relay_listens "$name" "$i" || give_up "relay $i does not listen"; done
start_proxy 2 "${relay_port[2]}"
to=([1]="${proxy_port[2]},127.0.0.1:${relay_port[1]}" [2]="${relay_port[1]},127.0.0.1:${proxy_port[2]}" [3]="$port")
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
        give_up "the run stands before round $1:" \
            "$(tail -qn 2 "$work/$name".{1.1.err,2.1.err,err,relay1.err,relay2.err})"
}
play 50
until_true 80 says "$work/$name.relay2.err" 'the certificate of this relay has expired' ||
    bad "relay 2 does not say that its certificate has expired"
if accepts "${relay_port[2]}"; then bad "a certificate that has expired is accepted"; fi
play 60 # who is connected stays, and what it reports is carried
"$CAUCUS" certify "$certs" --renew >/dev/null
kill -HUP "${relay[2]}"
until_true 20 says "$work/$name.relay2.err" 'read again: certificate' || bad "relay 2 has not heard SIGHUP"
accepts "${relay_port[2]}" || bad "the certificate that was signed again is not accepted"
stop_proxy 1 # relay 1 is cut off from NATS, with both clients
until_true 20 silent_at "${relay_port[1]}" || bad "relay 1 listens although it is cut off"
play 120
says "$work/$name.relay1.err" 'cut off: the coordinator has not been heard' ||
    bad "relay 1 does not say that it is cut off"
start_proxy 1 "$nats_port"
until_true 20 listens_at "${relay_port[1]}" || bad "relay 1 does not listen again"
stop_proxy 2 # relay 2 is cut off from its clients
play 150
cp "$work/nats.conf" "$work/nats.kept" # NATS refuses relay 1's nkey: the library gives the connection up
sed -i '/# relay-1$/,+1d' "$work/nats.conf"
kill -HUP "$nats_pid"
until_true 40 says "$work/$name.relay1.err" 'NATS has ended the connection (' ||
    bad "relay 1 does not say that NATS refuses it"
until_true 20 silent_at "${relay_port[1]}" || bad "relay 1 listens although NATS refuses it"
mv "$work/nats.kept" "$work/nats.conf"
kill -HUP "$nats_pid"
until_true 40 listens_at "${relay_port[1]}" || bad "relay 1 does not listen again after NATS has refused it"
play 180
play 240
for i in "${pids[@]}" "$server" "${relay[1]}" "${relay[2]}"; do ended "$i" "$name" 0; done
carried "$name" 1 2
same_run "$name" reference
kill "$nats_pid" "${proxy_pid[1]}"
done_with relay_cut
