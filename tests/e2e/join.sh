#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# caucus join through the real programs over mutual TLS: every kind of input, restarts of clients and coordinator,
# wrong input.
# A run is seeded, so whatever happens on the way, the experts must be those of the undisturbed run.
set -euo pipefail
: "${CAUCUS:?path of the program}"
# shellcheck source=tests/fault/ports.bash
. "$(dirname "$0")/../fault/ports.bash"
work=$(mktemp -d)
finish() { # every process of this test has this path in its command line
    for pid in $(pgrep -f "$work"); do kill -9 "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap finish EXIT
failures=0
bad() { echo "not ok: $*"; failures=$((failures + 1)); }

# Plan and certificates from `up`; losses of three clients, 60 rounds, 5 experts; expert 2 is best, and the others get
# bad one by one.
python3 - "$work" <<'PY'
import random, struct, sys

def save(name, shape, values): # NumPy's format 1.0, without NumPy
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': %r, }" % (shape,)
    head += ' ' * (63 - (10 + len(head)) % 64) + '\n'
    with open(sys.argv[1] + '/' + name, 'wb') as f:
        f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode())
        f.write(struct.pack('<%dd' % len(values), *values))

random.seed(5)
turns_bad = {0: 5, 1: 10, 3: 15, 4: 20}
losses = [[[1.0 if t >= turns_bad.get(e, 60) else random.random() * (0.1 if e == 2 else 1) for e in range(5)]
           for t in range(60)]
          for client in range(3)]
losses[2][2][1] = float('nan')
save('all.npy', (3, 60, 5), [v for client in losses for row in client for v in row])
save('two.npy', (60, 5), [v for row in losses[1] for v in row])
save('small.npy', (3, 10, 5), [0.0] * 150)
with open(sys.argv[1] + '/three.csv', 'w') as f:
    for t, row in enumerate(losses[2]):
        values = [repr(v) for v in row]
        f.write(','.join(values) + '\n' if t % 2 else '[' + ', '.join(values).replace('nan', 'null') + ']\n')
PY
timeout 300 "$CAUCUS" up --losses "$work/all.npy" --clients 3 --epsilon 50 --seed 3 --keep "$work/kept" --format json \
    >"$work/up.json" 2>"$work/err" ||
    { cat "$work/err"; bad "up --losses"; exit 1; }
grep -q '"equal": true' "$work/up.json" || bad "up --losses is not equal to the simulation"
plan=$work/kept/plan.yaml
certs=$work/kept/certs

port=
serve() { # serve STATE [FLAGS]: sets server and port
    local state=$1 listen=$port
    shift
    [ -n "$listen" ] || { own_port && listen=$free_port; } # its own, since it is started there again
    rm -f "$work/$state.out" # an old line must not be taken for the new one
    "$CAUCUS" serve --plan "$plan" --state "$work/$state" --listen "127.0.0.1:$listen" --cert "$certs/coordinator.pem" \
        --key "$certs/coordinator.key" --client-ca "$certs/ca.pem" --seed 3 "$@" >"$work/$state.out" \
        2>"$work/$state.err" </dev/null &
    server=$!
    for _ in $(seq $((400 * ${CAUCUS_PATIENCE:-1}))); do
        grep -qs '^listening on' "$work/$state.out" && break
        sleep 0.05
    done
    port=$(sed -n 's/^listening on 127.0.0.1:\([0-9]*\)$/\1/p' "$work/$state.out")
    [ -n "$port" ] || { cat "$work/$state.err"; bad "serve does not listen"; exit 1; }
}
command_of() { # command_of CLIENT: sets cmd; started directly, a signal meets the program and not a shell
    cmd=(timeout 300 "$CAUCUS" join --connect "127.0.0.1:$port" --plan "$plan" --cert "$certs/client-$1.pem" \
        --key "$certs/client-$1.key"
        --ca "$certs/ca.pem" --seed 3)
}
join() { # join CLIENT FLAGS...: in the foreground
    command_of "$1"
    shift
    "${cmd[@]}" "$@"
}
ended() { # ended PID NAME CODE
    local code=0
    wait "$1" || code=$?
    [ "$code" -eq "$3" ] || bad "$2: exit code $code, expected $3"
}

# 1. All inputs at once: a slice of a file, a file of its own, lines. This is the reference, too.
serve one
command_of 1
"${cmd[@]}" --losses "$work/all.npy" >"$work/ref1" 2>"$work/err1" &
a=$!
command_of 2
"${cmd[@]}" --losses "$work/two.npy" >"$work/ref2" 2>"$work/err2" &
b=$!
join 3 <"$work/three.csv" >"$work/ref3" 2>"$work/err3" || bad "lines: $(cat "$work/err3")"
ended $a "client 1" 0
ended $b "client 2" 0
ended "$server" "serve" 0
[ "$(wc -l <"$work/ref1")" -eq 60 ] || bad "$(wc -l <"$work/ref1") experts for 60 rounds"
{ cmp -s "$work/ref1" "$work/ref2" && cmp -s "$work/ref1" "$work/ref3"; } || bad "clients differ"
[ "$(tail -n 1 "$work/ref1")" = 2 ] || bad "the best expert was not found: $(tail -n 1 "$work/ref1")"
[ "$(sort -u "$work/ref1" | wc -l)" -ge 2 ] || bad "nothing was ever switched: the test shows little"
grep -q '1 losses were not numbers' "$work/err3" || bad "NaN was not counted: $(cat "$work/err3")"
echo "ok: inputs"

# The same without TLS: the same experts.
"$CAUCUS" serve --plan "$plan" --state "$work/plain" --listen 127.0.0.1:0 --insecure --seed 3 >"$work/plain.out" \
    2>"$work/plain.err" </dev/null &
server=$!
for _ in $(seq $((400 * ${CAUCUS_PATIENCE:-1}))); do
    grep -qs '^listening on' "$work/plain.out" && break
    sleep 0.05
done
port=$(sed -n 's/^listening on 127.0.0.1:\([0-9]*\)$/\1/p' "$work/plain.out")
for i in 1 2 3; do
    timeout 300 "$CAUCUS" join --connect "127.0.0.1:$port" --plan "$plan" --insecure --client $i \
        --losses "$work/all.npy" --seed 3 \
        >"$work/plain$i" 2>"$work/err$i" &
    plain[i]=$!
done
for i in 1 2 3; do ended "${plain[i]}" "client $i without TLS" 0; done
ended "$server" "serve without TLS" 0
for i in 1 2 3; do cmp -s "$work/ref1" "$work/plain$i" ||
    bad "client $i plays otherwise without TLS: $(cat "$work/err$i")"; done
echo "ok: without TLS"

# 2. Client 3 dies twice (kill -9 in the middle, then SIGTERM), the coordinator once; all go on from their states.
port=
serve two
command_of 1
"${cmd[@]}" --losses "$work/all.npy" --state "$work/1.state" >"$work/out1" 2>"$work/err1" &
a=$!
command_of 2
"${cmd[@]}" --losses "$work/two.npy" --state "$work/2.state" >"$work/out2" 2>"$work/err2" &
b=$!
lines() { for _ in $(seq $((1000 * ${CAUCUS_PATIENCE:-1}))); do
    [ "$(grep -vc ' replay=' "$1")" -ge "$2" ] && return
    sleep 0.02
done;
    bad "$1 has not got $2 lines"; }
start3() { # start3 FLAGS...: not behind timeout: kill -9 must meet the client itself
    command_of 3
    : >"$work/out3"
    : >"$work/err3"
    "${cmd[@]:2}" --state "$work/3.state" "$@" <&0 >"$work/out3" 2>"$work/err3" &
    c=$!
}
: >"$work/all3"
# The experts of rounds from.. as client 3 printed them, over what an earlier start printed for the same rounds.
note3() {
    head -n $((from - 1)) "$work/all3" >"$work/next" || true
    grep -v ' replay=' "$work/out3" >>"$work/next"
    mv "$work/next" "$work/all3"
}
from=1
mkfifo "$work/first" "$work/second"
exec 8<>"$work/first" 9<>"$work/second" # held open: lines come, and no end
head -n 12 "$work/three.csv" >&8
head -n 20 "$work/three.csv" >&9
start3 <"$work/first"
lines "$work/out3" 13
kill -9 "$c"
ended "$c" "kill -9" 137
note3
start3 --replay <"$work/second"
for _ in $(seq $((1000 * ${CAUCUS_PATIENCE:-1}))); do
    grep -q 'going on at round' "$work/err3" && break
    sleep 0.02
done
from=$(sed -n 's/.*going on at round \([0-9]*\)$/\1/p' "$work/err3")
[ "${from:-0}" -ge 12 ] || bad "after kill -9: $(cat "$work/err3")"
lines "$work/out3" $((21 - from + 1))
kill -9 "$server"
ended "$server" "serve, kill -9" 137
kill -TERM "$c"
ended "$c" "SIGTERM" 1
note3
serve two
start3 < <(tail -n +21 "$work/three.csv")
ended "$c" "client 3" 0
from=$(sed -n 's/.*going on at round \([0-9]*\)$/\1/p' "$work/err3")
[ "${from:-0}" -eq 21 ] || bad "after SIGTERM it goes on at round ${from:-none}, not 21: $(cat "$work/err3")"
note3
ended "$a" "client 1" 0
ended "$b" "client 2" 0
ended "$server" "serve again" 0
for i in 1 2; do cmp -s "$work/ref1" "$work/out$i" ||
    bad "client $i plays otherwise after the coordinator's crash: $(cat "$work/err$i")"; done
cmp -s "$work/ref1" "$work/all3" || bad "client 3 plays otherwise after its restarts"
[ "$(stat -c %a "$work/3.state")" = 600 ] || bad "the state is readable by others"
echo "ok: restarts"

# 3. What is wrong is said in one line.
wrong() { # wrong CODE TEXT COMMAND...
    local want=$1 text=$2 code=0
    shift 2
    "$@" >"$work/out" 2>"$work/err" || code=$?
    { [ "$code" -eq "$want" ] && grep -qF -- "$text" "$work/err"; } ||
        bad "$*: exit code $code, expected $want and '$text': $(cat "$work/err")"
}
tls=(--plan "$plan" --cert "$certs/client-1.pem" --key "$certs/client-1.key" --ca "$certs/ca.pem")
port=
serve three
command_of 1
"${cmd[@]}" --losses "$work/all.npy" >/dev/null 2>&1 &
a=$!
command_of 2
"${cmd[@]}" --losses "$work/two.npy" >/dev/null 2>&1 &
b=$!
(head -n 6 "$work/three.csv"; echo "1,2,3,4") >"$work/short"
wrong 2 "stdin:7: 4 values — expected 5" join 3 <"$work/short"
(head -n 2 "$work/three.csv"; echo "1,2,x,4,5") >"$work/word"
wrong 2 "stdin:3: value 3 is 'x' — expected a number" join 3 <"$work/word"
wrong 1 "standard input ended after round 4 of 60" join 3 < <(head -n 4 "$work/three.csv")
wrong 1 "standard input ended after round 0 of 60" join 3 </dev/null
timeout 300 "$CAUCUS" up --clients 3 --rounds 10 --keep "$work/other" >/dev/null 2>&1
wrong 3 "plan" timeout 60 "$CAUCUS" join --connect "127.0.0.1:$port" --plan "$work/other/plan.yaml" \
    --cert "$certs/client-3.pem" \
    --key "$certs/client-3.key" --ca "$certs/ca.pem"
wrong 1 "TLS: certificate: " timeout 60 "$CAUCUS" join --connect "127.0.0.1:$port" "${tls[@]:0:6}" --give-up 5 \
    --ca "$work/other/certs/ca.pem"
wrong 3 "does not accept this client's certificate" timeout 60 "$CAUCUS" join --connect "127.0.0.1:$port" \
    --plan "$plan" \
    --cert "$work/other/certs/client-3.pem" --key "$work/other/certs/client-3.key" --ca "$certs/ca.pem"
wrong 2 "belongs to client 3, and this is client 1" join 1 --state "$work/3.state"
kill "$a" "$b" "$server" 2>/dev/null || true
wait "$a" "$b" "$server" 2>/dev/null || true
wrong 1 "no coordinator at 127.0.0.1:$port" join 1 --give-up 0.5
wrong 2 "is not this machine" "$CAUCUS" join --connect 192.0.2.1:7400 --plan "$plan" --insecure --client 1
wrong 2 "--cert is needed" "$CAUCUS" join --connect 127.0.0.1:1 --plan "$plan"
wrong 2 "--client is needed" "$CAUCUS" join --connect 127.0.0.1:1 --plan "$plan" --insecure
wrong 2 "the plan has clients 1 to 3" "$CAUCUS" join --connect 127.0.0.1:1 --plan "$plan" --insecure --client 4
wrong 2 "client 1, 60 rounds, 5 experts" "$CAUCUS" join --connect 127.0.0.1:1 "${tls[@]}" --losses "$work/small.npy"
timeout 300 "$CAUCUS" up --clients 2 --rounds 20 --algorithm stoch --trust nobody --adversary gaussian \
    --keep "$work/votes" >/dev/null 2>&1
wrong 2 "--state is needed where clients add the noise" "$CAUCUS" join --connect 127.0.0.1:1 \
    --plan "$work/votes/plan.yaml" --insecure --client 1
echo "ok: refusals"

for _ in $(seq $((400 * ${CAUCUS_PATIENCE:-1}))); do pgrep -f "$work" >/dev/null || break; sleep 0.05; done
if pgrep -f "$work" >"$work/left"; then bad "processes left: $(tr '\n' ' ' <"$work/left")"; fi
[ "$failures" -eq 0 ]
