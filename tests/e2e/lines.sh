#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The clients of docs/LINES.md, in Python and in bash, beside one of caucus join: all play what the simulation plays,
# and the page shows the programs that are run here.
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
for language, name, most in (('python', 'client.py', 12), ('bash', 'client.sh', 6)):
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
python3 - "$work" <<'PY'
import random, sys
random.seed(7)
rows = [[[float(t >= 20) if e == 0 else random.random() * (0.05 if e == 2 else 1) for e in range(4)]
         for t in range(60)] for client in range(3)]
for i, client in enumerate(rows, 1):
    with open('%s/%d.csv' % (sys.argv[1], i), 'w') as f:
        f.writelines(','.join(map(repr, row)) + '\n' for row in client)
with open(sys.argv[1] + '/all.csv', 'w') as f:
    f.write('client,round,' + ','.join('abcd') + '\n')
    f.writelines('%d,%d,%s\n' % (i, t, ','.join(map(repr, row)))
                 for i, client in enumerate(rows, 1) for t, row in enumerate(client, 1))
PY
settings=(--algorithm svt --clients 3 --names 'a,b,c,d' --rounds 60 --epsilon 40 --trust coordinator)
"$CAUCUS" plan "${settings[@]}" --write "$work/plan.yaml" >/dev/null
"$CAUCUS" serve --plan "$work/plan.yaml" --state "$work/state" --listen 127.0.0.1:0 --insecure --seed 5 \
    >"$work/serve.out" 2>"$work/serve.err" </dev/null &
server=$!
for _ in $(seq $((400 * ${CAUCUS_PATIENCE:-1}))); do
    grep -qs '^listening on' "$work/serve.out" && break
    sleep 0.05
done
port=$(sed -n 's/^listening on 127.0.0.1:\([0-9]*\)$/\1/p' "$work/serve.out")
mkdir "$work/bin"
ln -s "$CAUCUS" "$work/bin/caucus"
export PATH="$work/bin:$PATH"
options=(--connect "127.0.0.1:$port" --plan "$work/plan.yaml" --insecure --seed 5)
lines=$source/examples/lines
timeout 300 python3 "$lines/client.py" "$work/1.csv" "${options[@]}" --client 1 >"$work/played.1" 2>"$work/err.1" &
first=$!
timeout 300 bash "$lines/client.sh" "$work/2.csv" "${options[@]}" --client 2 >"$work/played.2" 2>"$work/err.2" &
second=$!
timeout 300 caucus join "${options[@]}" --client 3 <"$work/3.csv" >"$work/out.3" 2>"$work/err.3" ||
    bad "join: $(cat "$work/err.3")"
wait "$first" || bad "the client in Python: $(cat "$work/err.1")"
wait "$second" || bad "the client in bash: $(cat "$work/err.2")"
wait "$server" || bad "serve: $(cat "$work/serve.err")"
sed 's/^\([0-9]*\).*/playing \1/' "$work/out.3" >"$work/played.3"

"$CAUCUS" simulate "${settings[@]}" --losses "$work/all.csv" --seed 5 --trials 1 --out "$work/simulated" >/dev/null
if python3 - "$work" <<'PY'; then
import csv, sys
with open(sys.argv[1] + '/simulated/choices.csv') as file:
    changes = [(int(row['from_round']), int(row['expert'])) for row in csv.DictReader(file)]
wanted = [[expert for since, expert in changes if since <= t][-1] for t in range(1, 61)]
assert len(set(wanted)) > 1, 'nothing was ever switched: the test shows little'
for client in '123':
    played = [int(line.split()[1]) for line in open(sys.argv[1] + '/played.' + client)]
    assert played == wanted, (client, played, wanted)
PY
    ok "all three play what the simulation plays"
else
    bad "other experts than the simulation's"
fi
[ "$failures" -eq 0 ]
