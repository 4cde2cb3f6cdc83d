#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One run, played four ways: simulated, live with `caucus up`, live through processes started by hand over mutual TLS,
# and the same with one client replaced by the Python peer, which shares no code with caucus. Expert for expert the
# same; for each algorithm. (tests/net/test_server.c and test_link.c hold the parts in one process to the same
# experts.) Sourced by equality.sh and equality_nobody.sh (its name does not end in .sh, so that it is no test).
set -euo pipefail
: "${CAUCUS:?path of the program}" "${CAUCUS_SOURCE:?source directory}"
work=$(mktemp -d) # every process of this test has this path in its command line
finish() {
    for pid in $(pgrep -f "$work"); do kill -9 "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap finish EXIT
failures=0
serve_more=() join_more=() peer_more=() # further flags of all three
bad() { echo "not ok: $*"; failures=$((failures + 1)); }

# Losses of 3 clients, 6 experts, 63 rounds. "turning": all experts but number 4 get bad one by one, so that svt must
# switch; "drawn": independent draws for hedge and stoch. On no grid, outside of the range here and there, and one is
# no number.
python3 - "$work" <<'PY'
import random, struct, sys

def save(name, losses): # NumPy's format 1.0, without NumPy
    shape = (len(losses), len(losses[0]), len(losses[0][0]))
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': %r, }" % (shape,)
    head += ' ' * (63 - (10 + len(head)) % 64) + '\n'
    values = [v for client in losses for row in client for v in row]
    with open(sys.argv[1] + '/' + name + '.npy', 'wb') as f:
        f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode())
        f.write(struct.pack('<%dd' % len(values), *values))

random.seed(11)
bad_from = [4, 9, 16, 24, 99, 33]
turning = [[[1.0 if t >= bad_from[e] else 0.02 * random.random() for e in range(6)] for t in range(63)]
           for client in range(3)]
drawn = [[[random.gauss(0.6 if e != 3 else 0.4, 0.2) for e in range(6)] for t in range(63)] for client in range(3)]
turning[1][40][2] = drawn[1][40][2] = float('nan')
save('turning', turning)
save('drawn', drawn)
PY

# federation NAME WHO: serve and three clients; WHO of client 2 is caucus or peer. Experts in NAME.1 .. NAME.3, one
# per line.
federation() {
    local name=$1 who=$2 port server pids=() i pid code
    "$CAUCUS" serve --plan "$kept/plan.yaml" --state "$work/$name" --listen 127.0.0.1:0 \
        --cert "$kept/certs/coordinator.pem" \
        --key "$kept/certs/coordinator.key" --client-ca "$kept/certs/ca.pem" --seed 5 --format json "${serve_more[@]}" \
        >"$work/$name.out" 2>"$work/$name.err" </dev/null &
    server=$!
    for _ in $(seq $((1000 * ${CAUCUS_PATIENCE:-1}))); do
        grep -qs listening "$work/$name.out" && break
        sleep 0.02
    done
    port=$(sed -n 's/^{.*"listening": "127.0.0.1:\([0-9]*\)".*/\1/p' "$work/$name.out")
    for i in 1 2 3; do
        local tls=(--connect "127.0.0.1:$port" --cert "$kept/certs/client-$i.pem" --key "$kept/certs/client-$i.key" \
            --ca "$kept/certs/ca.pem")
        # A bad network, too: it breaks off after every 5 reports, and sends each twice.
        if [ "$i" -eq 2 ] && [ "$who" = peer ]; then
            timeout 200 python3 "$CAUCUS_SOURCE/tests/e2e/peer.py" "${tls[@]}" --plan "$kept/plan.yaml" --seed 5 \
                --client 2 --losses "$losses" "${peer_more[@]}" \
                --twice --cut 5 >"$work/$name.pairs" 2>"$work/$name.2.err" </dev/null &
        else
            timeout 200 "$CAUCUS" join "${tls[@]}" --plan "$kept/plan.yaml" --seed 5 --losses "$losses" \
                "${join_more[@]}" >"$work/$name.$i" 2>"$work/$name.$i.err" </dev/null &
        fi
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        code=0
        wait "$pid" || code=$?
        [ "$code" -eq 0 ] || bad "$name: exit code $code: $(tail -qn 1 "$work/$name".*err)"
    done
    if [ -n "$endless" ]; then kill -TERM "$server"; fi # it would wait for them to come again
    code=0
    wait "$server" || code=$?
    [ "$code" -eq 0 ] || bad "$name: exit code $code: $(tail -qn 1 "$work/$name".*err)"
    for i in 1 2 3; do [ ! -e "$work/$name.$i" ] || sed -i 's/ .*//' "$work/$name.$i"; done # the number alone
    if [ "$who" = peer ]; then awk '$1 != NR { print "round " $1; exit } { print $2 }' "$work/$name.pairs" \
        >"$work/$name.2"; fi
}

# endless NAME ALGORITHM TRUST LOSSES INTERVAL FLAGS...: the same of a run without an end, of which all losses are
# played. Its last decision may or may not have been made when the clients have gone, so states are not compared.
endless() {
    endless=yes join_more=(--play 63) peer_more=(--play 63)
    equal "$@" --rounds endless --play 63
    endless="" join_more=() peer_more=()
}
endless=""
# equal NAME ALGORITHM TRUST LOSSES INTERVAL FLAGS...
equal() {
    local name=$1 who i
    losses=$work/$4.npy kept=$work/$name-kept
    local flags=(--algorithm "$2" --trust "$3" --clients 3 --losses "$losses" --interval "$5" --seed 5 "${@:6}")
    timeout 200 "$CAUCUS" up "${flags[@]}" --keep "$kept" --format json >"$work/up.json" 2>"$work/err" ||
        bad "$name: up: $(cat "$work/err")"
    grep -q '"equal": true' "$work/up.json" || bad "$name: up and simulate differ"
    "$CAUCUS" simulate "${flags[@]}" --trials 1 --format csv >"$work/sim.csv" 2>/dev/null
    for who in caucus peer; do
        federation "$name-$who" "$who"
        for i in 1 2 3; do
            [ "$(wc -l <"$work/$name-$who.$i")" -eq 63 ] ||
                bad "$name: client $i of $who played $(wc -l <"$work/$name-$who.$i") of 63 rounds"
            cmp -s "$work/$name-caucus.1" "$work/$name-$who.$i" || bad "$name: client $i of $who plays otherwise"
        done
        # By hand and by `up` the coordinators decided the same, to the last bit of their sums; and that was the
        # simulation.
        python3 - "$kept/coordinator/coordinator.db" "$work/$name-$who/coordinator.db" "$work/$name-caucus.1" \
            "$losses" "$work/sim.csv" "$endless" <<'PY' || bad "$name: $who"
import csv, math, sqlite3, struct, sys
a, b = (sqlite3.connect(path) for path in sys.argv[1:3])
run = "plan, seeded, begun, announcements, lines, chunks, root" # terms differ, and so seals
for table, what in (("run", run), ("chunk", "*"), ("announcement", "*")):
    query = f"SELECT {what} FROM {table} ORDER BY 1"
    if sys.argv[6]:
        break
    if not (rows := a.execute(query).fetchall()) or rows != b.execute(query).fetchall():
        sys.exit(f"another {table} than caucus up")
played = [int(line) for line in open(sys.argv[3])]
data = open(sys.argv[4], "rb").read()
values = struct.unpack("<%dd" % (3 * 63 * 6), data[10 + struct.unpack_from("<H", data, 8)[0]:])
loss = lambda i, t, e: 1.0 if math.isnan(v := values[(i * 63 + t) * 6 + e]) else min(max(v, 0.0), 1.0)
total = lambda choice: sum(loss(i, t, choice(t)) for i in range(3) for t in range(63))
regret = (total(lambda t: played[t]) - min(total(lambda t: e) for e in range(6))) / 3
simulated = next(csv.DictReader(open(sys.argv[5])))
if abs(regret - float(simulated["regret"])) > 1e-3:
    sys.exit(f"regret {regret}, simulated {simulated['regret']}")
if len(set(played)) < 2:
    sys.exit("one expert all the time: shows nothing")
PY
    done
    echo "ok: $name"
}

ended() { # nothing runs any more, and nothing was wrong
    for _ in $(seq $((400 * ${CAUCUS_PATIENCE:-1}))); do pgrep -f "$work" >/dev/null || break; sleep 0.05; done
    if pgrep -af "$work" >"$work/left"; then bad "processes left: $(cat "$work/left")"; fi
    [ "$failures" -eq 0 ]
}
