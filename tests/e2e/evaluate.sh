#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# caucus join of a plan whose clients evaluate some experts only: each line says which, and a row of losses has that
# many values; of a plan with names it says what the expert is called. The client is fed by this test, line by line,
# so that nothing depends on how fast anybody is.
set -euo pipefail
: "${CAUCUS:?path of the program}"
work=$(mktemp -d)
finish() { # every process of this test has this path in its command line
    for pid in $(pgrep -f "$work"); do kill -9 "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap finish EXIT
"$CAUCUS" plan --algorithm stoch --clients 1 --names small,distilled,large --rounds 12 --evaluate 2 --epsilon 10 \
    --trust coordinator --write "$work/plan.yaml" >/dev/null
"$CAUCUS" serve --plan "$work/plan.yaml" --state "$work/state" --listen 127.0.0.1:0 --insecure --seed 4 --format json \
    >"$work/serve.out" 2>"$work/serve.err" </dev/null &
server=$!
for _ in $(seq $((1000 * ${CAUCUS_PATIENCE:-1}))); do
    grep -qs listening "$work/serve.out" && break
    sleep 0.02
done
port=$(sed -n 's/^{.*"listening": "127.0.0.1:\([0-9]*\)".*/\1/p' "$work/serve.out")
timeout $((200 * ${CAUCUS_PATIENCE:-1})) python3 - "$CAUCUS" "$work" "$port" <<'PY'
import re, subprocess, sys
caucus, work, port = sys.argv[1:]
names = ["small", "distilled", "large"]
command = [caucus, "join", "--connect", "127.0.0.1:" + port, "--plan", work + "/plan.yaml", "--insecure", "--client",
           "1", "--state", work + "/1.state", "--seed", "4"]

def start():
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

def play(join):
    line = join.stdout.readline()
    found = re.fullmatch(r"(\d) evaluate=(\d),(\d) name=(\w+)\n", line)
    if not found:
        sys.exit(f"not ok: a round that says {line!r}")
    expert, first, second = (int(found[i]) for i in (1, 2, 3))
    if found[4] != names[expert] or second != (first + 1) % 3:
        sys.exit(f"not ok: expert {expert}: {line!r}")
    return first, second

# Rows of another length are refused with what is expected.
for wrong, says in (("0.1\n", "1 values"), ("0.1,0.2,0.3\n", "3 values")):
    join = start()
    play(join)
    _, said = join.communicate(wrong)
    if join.returncode != 2 or f"{says} — expected 2" not in said:
        sys.exit(f"not ok: {wrong!r}: {join.returncode}, {said}")
evaluated = [0, 0, 0]
join = start()
for _ in range(12):
    first, second = play(join)
    evaluated[first] += 1
    evaluated[second] += 1
    join.stdin.write("%g,%g\n" % tuple(0.0 if y == 1 else 1.0 for y in (first, second)))
    join.stdin.flush()
said = join.communicate()
if join.returncode != 0 or said[0]:
    sys.exit(f"not ok: {join.returncode}, {said}")
if sum(evaluated) != 24 or min(evaluated) < 6:
    sys.exit(f"not ok: evaluated {evaluated} times")
print("ok: two of three experts, line by line")
PY
wait "$server"
grep -q '"expert": 1' "$work/serve.out" ||
    { echo "not ok: another expert than the best: $(cat "$work/serve.out")"; exit 1; }
