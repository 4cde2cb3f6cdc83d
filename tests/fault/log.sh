#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The coordinator's log: dates, who comes, goes and is turned away with address and certificate, changes of expert, as
# text and as JSON; one kind of line about one address a second, whatever others do; and nobody who stops reading it
# holds up the run.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
seed=24 adversary=halving clients=3 security=(--insecure)
flags=(--algorithm svt --clients 3 --names "a,b,c,d,e,f,g,h" --rounds 60 --epsilon 60 --trust coordinator)
plan=$work/plan.yaml
make_plan "$plan" "${flags[@]}"
undisturbed reference "$plan" "${flags[@]}"
certs=$work/certs
"$CAUCUS" certify "$certs" --clients 3 >/dev/null 2>&1
"$CAUCUS" certify "$work/others" --clients 1 >/dev/null 2>&1
tls=(--cert "$certs/coordinator.pem" --key "$certs/coordinator.key" --client-ca "$certs/ca.pem")
serial() { openssl x509 -in "$1" -noout -serial | sed 's/serial=0*//'; }
date='[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z'

# turned_away NAME CERTS CLIENT PLAN
turned_away() {
    timeout 60 "$CAUCUS" join --connect "127.0.0.1:$port" --plan "$4" --cert "$2/client-$3.pem" \
        --key "$2/client-$3.key" --ca "$certs/ca.pem" --adversary halving --seed 24 --give-up 60 \
        >/dev/null 2>"$work/$1.err" </dev/null && bad "$1: was let in"
    return 0
}
make_plan "$work/other.yaml" --algorithm svt --clients 3 --experts 8 --rounds 61 --epsilon 60 --trust coordinator
play() { # play NAME FLAGS...: a run, with clients that are turned away
    local name=$1 i pids=()
    shift
    start_coordinator "$name" "$plan" 0 "${tls[@]}" "$@"
    turned_away "$name.plan" "$certs" 1 "$work/other.yaml"
    turned_away "$name.handshake" "$work/others" 1 "$plan"
    for i in 1 2 3; do
        start_client "$name" "$plan" "$port" "$i" --cert "$certs/client-$i.pem" --key "$certs/client-$i.key" \
            --ca "$certs/ca.pem"
        pids+=("$client")
    done
    for i in "${pids[@]}" "$server"; do ended "$i" "$name" 0; done
    same_run "$name" reference
}
line() { # line FILE REGEX
    grep -qE "^caucus serve: $date $2" "$1" || bad "no line '$2': $(head -c 2000 "$1")"
}
play text
log=$work/text.err
if grep -vE "^caucus serve: $date " "$log" >"$work/undated"; then bad "lines without a date: $(cat "$work/undated")"; fi
from='127\.0\.0\.1:[0-9]+'
line "$log" "refused $from: the plan here is .* \(plan; certificate '1' serial 0*$(serial "$certs/client-1.pem")\)"
other=$(serial "$work/others/client-1.pem")
line "$log" "refused $from: certificate: .*\(handshake; certificate '1' serial 0*$other\)"
line "$log" "client 2 is here from $from \([123] of 3; certificate '2' serial 0*$(serial "$certs/client-2.pem")\)"
line "$log" "client 2 has gone from $from"
line "$log" "expert [a-h] \([0-7]\) is in force from announcement [0-9]+ on \(before: [a-h] \([0-7]\)\)"
[ "$(grep -c 'is in force from' "$log")" -ge 2 ] || bad "fewer than 2 changes of expert were said"

play json --log-format json --log-level detail
python3 - "$work/json.err" <<'PY' || failures=$((failures + 1))
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
events = {l["event"] for l in lines}
wanted = {"joined", "left", "refused", "expert", "not-private"}
if not wanted <= events:
    sys.exit(f"not ok: json: no {wanted - events}")
for l in lines:
    if not (l["time"].endswith("Z") and l["level"] in ("error", "notice", "detail") and l["text"]):
        sys.exit(f"not ok: json: {l}")
reasons = {l["reason"]: l for l in lines if l["event"] == "refused"}
if not {"plan", "handshake"} <= set(reasons):
    sys.exit(f"not ok: json: refused for {set(reasons)}")
for l in reasons.values():
    if not (l["address"].startswith("127.0.0.1:") and l["certificate"] and int(l["certificate_serial"], 16) > 0):
        sys.exit(f"not ok: json: {l}")
if not any("decided with" in l["text"] for l in lines):
    sys.exit("not ok: json: --log-level detail shows no step")
changes = [l for l in lines if l["event"] == "expert"]
for l in changes + [l for l in lines if "decided with" in l["text"] or "the run is over" in l["text"]]:
    if f"expert {l['expert_name']} ({l['expert']}) " not in l["text"]:
        sys.exit(f"not ok: json: {l}")
if not all(l["client"] in (1, 2, 3) for l in lines if l["event"] in ("joined", "left")):
    sys.exit("not ok: json: whose joins?")
PY
play quiet --quiet
if grep -vE 'NOT PRIVATE|WEAK' "$work/quiet.err" >"$work/loud"; then bad "--quiet: $(cat "$work/loud")"; fi

# Nobody reads standard error: a pipe that is full from the start, and a line for every step.
mkfifo "$work/pipe"
exec 7<>"$work/pipe"
timeout 5 dd if=/dev/zero of="$work/pipe" bs=4096 count=1000 oflag=nonblock 2>/dev/null || true
state_of stalled
"$CAUCUS" serve --plan "$plan" "${state_flags[@]}" --listen 127.0.0.1:0 --insecure --seed 24 --format json \
    --log-level detail --http 127.0.0.1:0 --stay >"$work/stalled.out" 2>"$work/pipe" 7>&- </dev/null &
server=$!
until_true 20 says "$work/stalled.out" "listening" || give_up "stalled: it does not start"
port=$(sed -n 's/^{.*"listening": "127.0.0.1:\([0-9]*\)".*/\1/p' "$work/stalled.out")
http=$(field http_port "$work/stalled.out")
for round in $(seq 100); do # lines more than the queue holds
    python3 -c "import socket, struct, sys
for i in range(4):
    s = socket.create_connection(('127.0.0.1', $port), timeout=10)
    s.sendall(b'\xff' * 64)
    s.close()" || true
    [ "$round" -lt 3 ] || break
done
pids=()
for i in 1 2 3; do
    start_client stalled "$plan" "$port" "$i" --insecure --client "$i"
    pids+=("$client")
done
for i in "${pids[@]}"; do ended "$i" "stalled: a client" 0; done
until_true 20 says "$work/stalled.out" '"finished": true' || bad "stalled: the run did not end"
same_run stalled reference
python3 - "$http" <<'PY' || failures=$((failures + 1))
import sys, urllib.request
text = urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/metrics", timeout=20).read().decode()
found = dict(l.rsplit(" ", 1) for l in text.splitlines() if not l.startswith("#"))
if "caucus_log_dropped_total" not in found or int(found['caucus_refused_total{reason="format"}']) < 4:
    sys.exit("not ok: metrics: " + text)
PY
kill -TERM "$server"
ended "$server" "stalled: the coordinator" 0
exec 7>&-
done_with "log"
