#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Clients that are away: who is excused, revoked, or has missed too many deadlines holds nobody up, and counts again
# when it is back. Every run here would wait for ever, or a whole deadline at each of its steps, if one did.
# Each run stands still (lib.bash, start_held) while somebody goes, is put on a list, or comes back.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
seed=24 clients=3 security=(--insecure)
plan=$work/plan.yaml
make_plan "$plan" --algorithm svt --clients 3 --experts 8 --rounds 200 --epsilon 60 --trust coordinator
make_losses 3 200 8
start() { # start HOW NAME INDEX: HOW is client (it plays as fast as it can) or held (not before let_play)
    local how=$1 name=$2 i=$3
    "start_$how" "$name" "$plan" "$port" "$i" --insecure --client "$i" --state "$work/$name.$i.state"
    pid[i]=$client
}
# five_rounds NAME: client 3 has played five rounds, and the sixth expert is the last that anybody has been told.
five_rounds() {
    let_play "$1" 3 5
    until_true 20 has_lines "$work/$1.3.1.out" 6 || give_up "$1: no 5 rounds were played: $(cat "$work/$1".*err)"
}
stands_at() { # stands_at NAME LINES: clients 1 and 2 are there, and have been told no expert after that
    local i
    for i in 1 2; do
        kill -0 "${pid[i]}" 2>/dev/null || bad "$1: client $i did not wait"
        [ "$(wc -l <"$work/$1.$i.1.out")" -le "$2" ] || bad "$1: client $i plays $(wc -l <"$work/$1.$i.1.out") rounds"
    done
}
waited_for() { # waited_for PORT NUMBER EXCUSED MISSING: as the status says it
    python3 - "$@" <<'PY'
import json, sys, urllib.request
port, *wanted = sys.argv[1:]
now = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/status", timeout=20))
found = [now["waited_for"], now["excused"], now["missing"]]
sys.exit(found != [int(w) for w in wanted])
PY
}

# Excused from the start: the run begins and ends without client 3, and without a deadline.
echo "2-3 # in repair" >"$work/list"
start_coordinator excused "$plan" 0 "${security[@]}" --excused "$work/list" --http 127.0.0.1:0 --stay
http=$(field http_port "$work/excused.out")
until_true 20 waited_for "$http" 1 2 0 || bad "excused: the status does not say so"
echo "3" >"$work/list" # it is read again
until_true 20 waited_for "$http" 2 1 0 || bad "excused: a changed list is not read: $(cat "$work/excused.err")"
until_true 20 says "$work/excused.err" "client 2 is not excused any more: it is waited for again" ||
    bad "excused: not logged"
for i in 1 2; do start client excused "$i"; done
for i in 1 2; do ended "${pid[i]}" "excused: client $i" 0; done
# It may come all the same, is told everything, and plays to the end.
start client excused 3
ended "${pid[3]}" "excused: client 3, when all is over" 0
kill -TERM "$server"
ended "$server" "excused" 0

# Excused in the middle, once somebody has found out that it is gone; a list that cannot be read changes nothing.
: >"$work/list"
start_coordinator middle "$plan" 0 "${security[@]}" --excused "$work/list" --stay
for i in 1 2; do start client middle "$i"; done
start held middle 3
five_rounds middle
kill -9 "${pid[3]}"
echo "4" >"$work/list"
until_true 20 says "$work/middle.err" "list:1: '4' — one client's number per line, 1 to 3, or a range of them, 3-7" ||
    bad "middle: a bad list is not said: $(cat "$work/middle.err")"
stands_at middle 6
echo "3" >"$work/list"
for i in 1 2; do ended "${pid[i]}" "middle: client $i" 0; done
kill -TERM "$server"
ended "$server" "middle" 0
says "$work/middle.err" "the list of the excused can be read again" || bad "middle: $(cat "$work/middle.err")"
says "$work/middle.err" "client 3 is excused: it is waited for no more" || bad "middle: $(cat "$work/middle.err")"

# Revoked, without a deadline.
: >"$work/revoked.list"
start_coordinator revoked "$plan" 0 "${security[@]}" --revoked "$work/revoked.list"
for i in 1 2; do start client revoked "$i"; done
start held revoked 3
five_rounds revoked
stands_at revoked 6
echo 3 >"$work/revoked.list"
ended "${pid[3]}" "revoked: client 3" 3
for i in 1 2; do ended "${pid[i]}" "revoked: client $i" 0; done
ended "$server" "revoked" 0
says "$work/revoked.err" "client 3 is not let in any more: nobody waits for it" ||
    bad "revoked: $(cat "$work/revoked.err")"

# Revoked by the serial number of its certificate while it is away, and the coordinator is started again before it has
# come back: it is not waited for, from the start.
"$CAUCUS" certify "$work/certs" --clients 3 >/dev/null 2>"$work/certify.err" || give_up "$(cat "$work/certify.err")"
serve_serial() { # serve_serial PORT
    start_coordinator serial "$plan" "$1" --cert "$work/certs/coordinator.pem" --key "$work/certs/coordinator.key" \
        --client-ca "$work/certs/ca.pem" --revoked "$work/revoked.list" --http 127.0.0.1:0
}
join_serial() { # join_serial HOW INDEX
    "start_$1" serial "$plan" "$port" "$2" --cert "$work/certs/client-$2.pem" --key "$work/certs/client-$2.key" \
        --ca "$work/certs/ca.pem" --state "$work/serial.$2.state"
    pid[$2]=$client
}
: >"$work/revoked.list"
serve_serial 0
for i in 1 2; do join_serial client "$i"; done
join_serial held 3
five_rounds serial
kill -9 "${pid[3]}" "$server"
for i in "${pid[3]}" "$server"; do exit_code "$i"; done
openssl x509 -in "$work/certs/client-3.pem" -noout -serial | sed 's/serial=//' >"$work/revoked.list"
serve_serial "$port"
until_true 20 says "$work/serial.err" "client 3 is not let in any more: nobody waits for it" ||
    bad "serial: after a restart client 3 is waited for: $(cat "$work/serial.err")"
for i in 1 2; do ended "${pid[i]}" "serial: client $i" 0; done
ended "$server" "serial" 0

# Two deadlines missed: no third one is waited for. Whole deadlines at each of 200 steps would be ten minutes. Clients 1
# and 2 stop at round 50, and client 3 alone is no quorum: the run is not over when it comes back.
start_coordinator missed "$plan" 0 "${security[@]}" --deadline 3 --quorum 2 --missed 2
for i in 1 2 3; do start held missed "$i"; done
for i in 1 2; do let_play missed "$i" 5; done
five_rounds missed
kill -9 "${pid[3]}"
for i in 1 2; do let_play missed "$i" 50; done
until_true 30 says "$work/missed.err" "client 3 has missed 2 deadlines: it is waited for no more until it is back" ||
    bad "missed: $(cat "$work/missed.err")"
until_true 20 has_lines "$work/missed.1.1.out" 51 || bad "missed: no 50 rounds were played"
stands_at missed 51
start client missed 3
until_true 20 says "$work/missed.err" "client 3 is back: it is waited for again" ||
    bad "missed: $(cat "$work/missed.err")"
for i in 1 2; do let_play missed "$i" 200; done
for i in 1 2 3; do ended "${pid[i]}" "missed: client $i" 0; done
ended "$server" "missed" 0
experts missed 3 | cmp -s - "$work/missed.1.1.out" || bad "missed: client 3 played otherwise"

wrong 2 "--missed 2: without a deadline none is missed" "$CAUCUS" serve --plan "$plan" --state "$work/none" --insecure \
    --listen 127.0.0.1:0 --missed 2
wrong 2 "--excused $work/nothing: No such file" "$CAUCUS" serve --plan "$plan" --state "$work/none" --insecure \
    --listen 127.0.0.1:0 --excused "$work/nothing"
[ ! -e "$work/none" ] || bad "a refused start left a state"
done_with "absent clients"
