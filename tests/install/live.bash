# SPDX-License-Identifier: Apache-2.0
# live.bash: the example client, compiled from the installed tree, in a live federation beside two `caucus join`, over
# mutual TLS: expert for expert what two others play and what the simulation says. Sourced by run.sh, which has set cc,
# prefix, libdir, work and fail().
# shellcheck shell=bash
# shellcheck disable=SC2154

cp "$CAUCUS_SOURCE/examples/link_client.c" "$work/"
# shellcheck disable=SC2046
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -o "$work/link_client" "$work/link_client.c" \
    $(pkg-config --cflags --libs caucus-link openssl)
# Held in variables first: grep -q would stop at the first match, and pipefail would see ldd stopped by it.
needs=$(LD_LIBRARY_PATH=$libdir ldd "$work/link_client")
grep -q "$libdir/libcaucus-link.so" <<<"$needs" || fail "link_client uses another library: $needs"
if grep -qE 'sqlite|microhttpd' <<<"$needs"; then fail "link_client needs what only a coordinator needs: $needs"; fi

live=$work/live
program=$prefix/bin/caucus
rounds=60
mkdir "$live"
children=()
end_live() { for pid in "${children[@]}"; do kill -9 "$pid" 2>/dev/null || true; done; }
trap 'end_live; rm -rf "$work"' EXIT

# Losses of 3 clients, 5 experts: all but expert 3 turn bad one by one, so that svt must switch. As an array for
# simulate and join, and client 2's as lines for the example.
python3 - "$live" "$rounds" <<'PY'
import random, struct, sys
folder, rounds = sys.argv[1], int(sys.argv[2])
random.seed(3)
bad_from = [5, 14, 25, 999, 37]
row = lambda t: [1.0 if t >= bad_from[e] else 0.02 * random.random() for e in range(5)]
losses = [[row(t) for t in range(rounds)] for i in range(3)]
head = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, %d, 5), }" % rounds
head += ' ' * (63 - (10 + len(head)) % 64) + '\n'
values = [v for client in losses for row in client for v in row]
with open(folder + '/losses.npy', 'wb') as f:
    f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode())
    f.write(struct.pack('<%dd' % len(values), *values))
with open(folder + '/losses-2.txt', 'w') as f:
    for row in losses[1]:
        f.write(', '.join(repr(v) for v in row) + '\n')
PY

# Losses that it would take for those of other experts are refused.
"$program" plan --algorithm stoch --trust coordinator --clients 3 --experts 5 --rounds 64 --evaluate 2 --epsilon 1 \
    --write "$live/few.yaml" >/dev/null 2>"$live/err" || fail "plan: $(cat "$live/err")"
code=0
LD_LIBRARY_PATH=$libdir "$work/link_client" "$live/few.yaml" 1 cert key ca "$live/few.state" 127.0.0.1:1 \
    </dev/null >/dev/null 2>"$live/err" || code=$?
if [ "$code" -ne 2 ] || ! grep -q "few.yaml: evaluate or pace own" "$live/err"; then
    fail "link_client plays a plan with evaluate: $code, $(cat "$live/err")"
fi

flags=(--algorithm svt --trust coordinator --clients 3 --interval 2 --epsilon 60)
"$program" plan "${flags[@]}" --experts 5 --rounds "$rounds" --write "$live/plan.yaml" >/dev/null 2>"$live/err" ||
    fail "plan: $(cat "$live/err")"
"$program" certify "$live/certs" --clients 3 >/dev/null 2>"$live/err" || fail "certify: $(cat "$live/err")"
"$program" serve --plan "$live/plan.yaml" --state "$live/coordinator" --listen 127.0.0.1:0 --seed 5 --format json \
    --cert "$live/certs/coordinator.pem" --key "$live/certs/coordinator.key" --client-ca "$live/certs/ca.pem" \
    >"$live/serve.out" 2>"$live/serve.err" </dev/null &
children+=($!)
for _ in $(seq $((400 * ${CAUCUS_PATIENCE:-1}))); do grep -qs listening "$live/serve.out" && break; sleep 0.05; done
port=$(sed -n 's/^{.*"listening": "127.0.0.1:\([0-9]*\)".*/\1/p' "$live/serve.out")
[ -n "$port" ] || fail "serve does not listen: $(cat "$live/serve.err")"
for i in 1 3; do
    "$program" join --connect "127.0.0.1:$port" --plan "$live/plan.yaml" --losses "$live/losses.npy" --give-up 200 \
        --cert "$live/certs/client-$i.pem" --key "$live/certs/client-$i.key" --ca "$live/certs/ca.pem" \
        >"$live/experts-$i" 2>"$live/join-$i.err" </dev/null &
    children+=($!)
done
own=("$live/plan.yaml" 2 "$live/certs/client-2.pem" "$live/certs/client-2.key" "$live/certs/ca.pem" "$live/state-2")

# First with losses for half of the run: it ends, its state stays. Then all of them: it goes on where it was. The first
# of the two addresses is one where nobody listens.
code=0
head -n 30 "$live/losses-2.txt" | LD_LIBRARY_PATH=$libdir timeout 200 "$work/link_client" "${own[@]}" 127.0.0.1:1 \
    "127.0.0.1:$port" >"$live/experts-2" 2>"$live/client.err" || code=$?
[ "$code" -eq 1 ] || fail "link_client without losses must end with 1, not $code: $(cat "$live/client.err")"
grep -q 'no losses for round 31' "$live/client.err" || fail "link_client: $(cat "$live/client.err")"
LD_LIBRARY_PATH=$libdir timeout 200 "$work/link_client" "${own[@]}" 127.0.0.1:1 "127.0.0.1:$port" \
    <"$live/losses-2.txt" >"$live/experts-2.rest" 2>"$live/client.err" ||
    fail "link_client: exit code $?: $(cat "$live/client.err")"
grep -q "^link_client: $rounds rounds, all reports counted$" "$live/client.err" ||
    fail "link_client: $(cat "$live/client.err")"
head -n 30 "$live/experts-2" >"$live/experts-2.all" # the expert of round 31 was printed before its losses were missing
cat "$live/experts-2.rest" >>"$live/experts-2.all"
for pid in "${children[@]}"; do
    code=0
    wait "$pid" || code=$?
    [ "$code" -eq 0 ] || fail "serve or join ended with $code: $(cat "$live"/serve.err "$live"/join-*.err)"
done
children=()
played=$(wc -l <"$live/experts-2.all")
[ "$played" -eq "$rounds" ] || fail "link_client played $played of $rounds rounds"
for i in 1 3; do
    diff -u "$live/experts-$i" "$live/experts-2.all" >"$live/diff" ||
        fail "client $i plays otherwise: $(cat "$live/diff")"
done

# And that is the simulation: the same seed and losses give the same regret, which these experts have.
"$program" simulate "${flags[@]}" --losses "$live/losses.npy" --seed 5 --trials 1 --format csv >"$live/sim.csv" \
    2>"$live/err" || fail "simulate: $(cat "$live/err")"
python3 - "$live" "$rounds" <<'PY' || fail "the federation is not the simulation"
import csv, struct, sys
folder, rounds = sys.argv[1], int(sys.argv[2])
played = [int(line) for line in open(folder + "/experts-2.all")]
data = open(folder + "/losses.npy", "rb").read()
values = struct.unpack("<%dd" % (3 * rounds * 5), data[10 + struct.unpack_from("<H", data, 8)[0]:])
total = lambda choice: sum(values[(i * rounds + t) * 5 + choice(t)] for i in range(3) for t in range(rounds))
regret = (total(lambda t: played[t]) - min(total(lambda t, e=e: e) for e in range(5))) / 3
simulated = next(csv.DictReader(open(folder + "/sim.csv")))
changes = sum(a != b for a, b in zip(played, played[1:]))
print(f"link_client: {rounds} rounds, {changes} changes, regret {regret:.6f}, simulated {simulated['regret']}")
if abs(regret - float(simulated["regret"])) > 1e-3 or changes == 0:
    sys.exit(1)
PY

# A certificate of another authority: refused for good, and the client ends instead of coming again and again.
"$program" certify "$live/other" --clients 3 >/dev/null 2>&1
rm -f "$live/serve.out" # what the last one said is not what this one says
"$program" serve --plan "$live/plan.yaml" --state "$live/again" --listen 127.0.0.1:0 --seed 5 --format json \
    --cert "$live/certs/coordinator.pem" --key "$live/certs/coordinator.key" --client-ca "$live/certs/ca.pem" \
    >"$live/serve.out" 2>"$live/serve.err" </dev/null &
children+=($!)
for _ in $(seq $((400 * ${CAUCUS_PATIENCE:-1}))); do grep -qs listening "$live/serve.out" && break; sleep 0.05; done
port=$(sed -n 's/^{.*"listening": "127.0.0.1:\([0-9]*\)".*/\1/p' "$live/serve.out")
code=0
LD_LIBRARY_PATH=$libdir timeout 200 "$work/link_client" "$live/plan.yaml" 2 "$live/other/client-2.pem" \
    "$live/other/client-2.key" "$live/certs/ca.pem" "$live/state-other" "127.0.0.1:$port" \
    <"$live/losses-2.txt" >/dev/null 2>"$live/client.err" || code=$?
[ "$code" -eq 3 ] || fail "a certificate of another authority: exit code $code: $(cat "$live/client.err")"
kill "${children[0]}"
wait "${children[0]}" 2>/dev/null || true
children=()
