#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The clients of docs/LINES.md, in Python and in bash, beside one of caucus join: all play what the simulation plays,
# whose clients look at all experts or at some of them, and also if their losses end early and are given again from the
# first on; the one for devices at their own pace; and the page shows the programs that are run here.
set -euo pipefail
: "${CAUCUS:?path of the program}"
CAUCUS=$(realpath "$CAUCUS")
source=$(realpath "${CAUCUS_SOURCE:-$(dirname "$0")/../..}")
work=$(mktemp -d)
finish() { # every process of this test has this path in its command line
    for pid in $(pgrep -f "$work"); do kill -9 "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap finish EXIT
failures=0
ok() { echo "ok: $*"; }
bad() { echo "not ok: $*"; failures=$((failures + 1)); }

# The page's blocks are the files without their heads.
if python3 - "$source" <<'PY'; then
import re, sys
page = open(sys.argv[1] + '/docs/LINES.md').read()
for language, name, most in (('python', 'client.py', 12), ('bash', 'client.sh', 6), ('bash', 'own-pace.sh', 2)):
    block = re.search('```%s title="%s"\n(.*?)```' % (language, name), page, re.S)[1]
    text = open(sys.argv[1] + '/examples/lines/' + name).read()
    body = re.sub(r'\A(#.*\n)+', '', text)
    assert block == body, name
    assert len([line for line in block.splitlines() if line.strip()]) <= most, name
PY
    ok "the page shows the files"
else
    bad "docs/LINES.md shows other programs than examples/lines"
fi

# Three clients, 60 rounds, four experts with names; the first gets bad, so that the expert changes.
rounds=60 early=25
python3 - "$work" $rounds $early <<'PY'
import random, sys
random.seed(7)
work, rounds, early = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rows = [[[float(t >= 20) if e == 0 else random.random() * (0.05 if e == 2 else 1) for e in range(4)]
         for t in range(rounds)] for client in range(3)]
for i, client in enumerate(rows, 1):
    text = [','.join(map(repr, row)) + '\n' for row in client]
    for name, lines in (('csv', text), ('early.csv', text[:early])):
        with open('%s/%d.%s' % (work, i, name), 'w') as f:
            f.writelines(lines)
with open(work + '/all.csv', 'w') as f:
    f.write('client,round,' + ','.join('abcd') + '\n')
    f.writelines('%d,%d,%s\n' % (i, t, ','.join(map(repr, row)))
                 for i, client in enumerate(rows, 1) for t, row in enumerate(client, 1))
PY
mkdir "$work/bin"
ln -s "$CAUCUS" "$work/bin/caucus"
export PATH="$work/bin:$PATH"
lines=$source/examples/lines
serve() { # serve NAME FLAGS...: sets server, port; the plan is $work/NAME.yaml
    local name=$1
    shift
    "$CAUCUS" serve --plan "$work/$name.yaml" --state "$work/$name.state" --listen 127.0.0.1:0 --insecure "$@" \
        >"$work/$name.out" 2>"$work/$name.err" </dev/null &
    server=$!
    for _ in $(seq $((400 * ${CAUCUS_PATIENCE:-1}))); do
        grep -qs '^listening on' "$work/$name.out" && break
        sleep 0.05
    done
    port=$(sed -n 's/^listening on 127.0.0.1:\([0-9]*\)$/\1/p' "$work/$name.out")
}
# A client that hangs is ended by timeout, and fails.
by_python() { timeout 120 python3 "$lines/client.py" "$@"; }
by_bash() { timeout 120 bash "$lines/client.sh" "$@"; }
# whole NAME CLIENT PROGRAM: losses that end early, and then all of them again: twice with the same state
whole() {
    local name=$1 i=$2 program=$3 code=0 options
    options=(--connect "127.0.0.1:$port" --plan "$work/$name.yaml" --insecure --seed 5 --client "$i")
    options+=(--state "$work/$name.$i")
    "$program" "$work/$i.early.csv" "${options[@]}" >"$work/$name.first.$i" 2>"$work/err.$i" || code=$?
    { [ $code -eq 1 ] && grep -qF "standard input ended after round $early of $rounds" "$work/err.$i"; } ||
        { echo "losses that end early: exit code $code" >>"$work/err.$i" && return 1; }
    "$program" "$work/$i.csv" "${options[@]}" --replay >"$work/$name.again.$i" 2>"$work/err.$i"
}
# as_simulated NAME FLAGS...: the three clients and the simulation
as_simulated() {
    local name=$1 first second
    shift
    "$CAUCUS" plan "$@" --clients 3 --names 'a,b,c,d' --rounds $rounds --trust coordinator \
        --write "$work/$name.yaml" >/dev/null
    serve "$name" --seed 5
    whole "$name" 1 by_python &
    first=$!
    whole "$name" 2 by_bash &
    second=$!
    timeout 300 caucus join --connect "127.0.0.1:$port" --plan "$work/$name.yaml" --insecure --seed 5 --client 3 \
        --losses "$work/all.csv" >"$work/$name.told" 2>"$work/err.3" || bad "$name: join: $(cat "$work/err.3")"
    wait "$first" || bad "$name: the client in Python: $(cat "$work/err.1")"
    wait "$second" || bad "$name: the client in bash: $(cat "$work/err.2")"
    [ "$failures" -eq 0 ] || { kill "$server" && return; } # it would wait for the client that failed
    wait "$server" || bad "$name: serve: $(cat "$work/$name.err")"
    "$CAUCUS" simulate "$@" --clients 3 --names 'a,b,c,d' --rounds $rounds --trust coordinator \
        --losses "$work/all.csv" --seed 5 --trials 1 --out "$work/$name.simulated" >/dev/null
    if python3 - "$work/$name" $rounds $early <<'PY'; then
import csv, sys
name, rounds, early = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open(name + '.simulated/choices.csv') as file:
    changes = [(int(row['from_round']), int(row['expert'])) for row in csv.DictReader(file)]
wanted = [[expert for since, expert in changes if since <= t][-1] for t in range(1, rounds + 1)]
assert len(set(wanted)) > 1, 'nothing was ever switched: the test shows little'
with open(name + '.told') as file:
    told = [int(line.split()[0]) for line in file]
assert told == wanted, ('join', told, wanted)
def played(which):
    with open(f'{name}.{which}.{client}') as file:
        return [int(line.split()[1]) for line in file]
for client in '12': # a row that was played before is answered by the expert of the round that is to come
    assert played('first') == wanted[:early], (client, played('first'), wanted)
    assert played('again') == wanted[early:early + 1] * early + wanted[early:], (client, played('again'), wanted)
PY
        ok "$name: all three play what the simulation plays"
    else
        bad "$name: other experts than the simulation's"
    fi
}
as_simulated all --algorithm svt --epsilon 40
as_simulated some --algorithm stoch --evaluate 2 --epsilon 200

# At its own pace: the losses go in at once, whatever comes out, and their end is the end of the visit.
"$CAUCUS" plan --algorithm stoch --pace own --unit client-block --clients 1 --experts 4 --epsilon 200 \
    --trust coordinator --phase-time 1m --write "$work/own.yaml" >/dev/null
serve own
code=0
timeout 120 bash "$lines/own-pace.sh" "$work/1.csv" --connect "127.0.0.1:$port" --plan "$work/own.yaml" --insecure \
    --client 1 --state "$work/own.1" >"$work/own.played" 2>"$work/err.1" || code=$?
if [ $code -eq 0 ] && grep -qF "$rounds losses" "$work/err.1" && grep -qx 'playing [0-3]' "$work/own.played"; then
    ok "at its own pace"
else
    bad "at its own pace: exit code $code: $(cat "$work/own.played" "$work/err.1")"
fi
kill "$server"
[ "$failures" -eq 0 ]
