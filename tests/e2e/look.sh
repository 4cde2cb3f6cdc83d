#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A private look, live: what the coordinator's page, metrics and status show of the losses is what the simulation shows,
# to the last digit; it is there again after a restart, and nothing of it where the plan shows nothing.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
set -euo pipefail
: "${CAUCUS_SOURCE:?source directory}"
# shellcheck source=tests/fault/lib.bash
. "$CAUCUS_SOURCE/tests/fault/lib.bash"
seed=7 clients=3 epsilon=10 security=(--insecure)
make_losses 3 32 4 drawn
finished() { says "$work/$1.out" '"finished": true'; }
fetch() { # fetch PATH FILE
    python3 -c 'import sys, urllib.request as r; sys.stdout.write(r.urlopen(sys.argv[1], timeout=60).read().decode())' \
        "http://127.0.0.1:$http$1" >"$2" 2>/dev/null
}
answers() { fetch /api/v1/status "$work/status.json"; }
shown() { grep -q '"state": "finished"' "$work/status.json"; }
look_at() { # look_at NAME: page, metrics and status of a run that is over, in $work/NAME.*
    http=$(sed -n 's/.*"http_port": \([0-9]*\).*/\1/p' "$work/$1.out")
    until_true 20 answers || give_up "$1: no status"
    until_true 20 eval 'answers && shown' || give_up "$1: the status does not say that the run is over"
    mv "$work/status.json" "$work/$1.json"
    fetch /metrics "$work/$1.metrics" || bad "$1: no metrics"
    fetch / "$work/$1.html" || bad "$1: no page"
}
play() { # play NAME FLAGS...: the whole run; then the coordinator stays
    local name=$1 i
    shift
    make_plan "$work/$name.yaml" --algorithm stoch --trust coordinator --clients 3 --experts 4 --rounds 32 \
        --epsilon "$epsilon" "$@"
    start_coordinator "$name" "$work/$name.yaml" 0 --insecure --http 127.0.0.1:0 --stay
    for i in 1 2 3; do start_client "$name" "$work/$name.yaml" "$port" $i --insecure --client $i; done
    until_true 100 finished "$name" || give_up "$name: not finished: $(tail -qn 2 "$work/$name".*err)"
    look_at "$name"
}
play look --show-loss 2
kill -TERM "$server"
ended "$server" "look: the coordinator" 0
mv "$work/look.out" "$work/look.first"
start_coordinator look "$work/look.yaml" 0 --insecure --http 127.0.0.1:0 --stay
cp "$work/look.json" "$work/first.json"
look_at look
kill -TERM "$server"
ended "$server" "look, started again" 0
"$CAUCUS" simulate --algorithm stoch --trust coordinator --clients 3 --losses "$losses" --seed 7 --trials 1 \
    --epsilon 10 --show-loss 2 --format json >"$work/sim.json" 2>/dev/null
python3 - "$work" <<'PY' || bad "look"
import json, re, sys
work = sys.argv[1]
first, again, simulated = (json.load(open(f"{work}/{name}.json")) for name in ("first", "look", "sim"))
looks = first["look"]
if [look["phase"] for look in looks] != [5, 4, 3, 2, 1][:len(looks)] or len(looks) < 4:
    sys.exit(f"not ok: phases {looks}")
if again["look"] != looks:
    sys.exit("not ok: another look after a restart")
if simulated["runs"][0]["look"] != looks[:1]:
    sys.exit(f"not ok: {looks[0]} live, {simulated['runs'][0]['look']} simulated")
summary = [json.loads(line) for line in open(f"{work}/look.first")][1]
if summary["look"] != looks[0]:
    sys.exit(f"not ok: the summary has {summary['look']}")
if not all(0 <= l["low"] <= l["loss"] <= l["high"] <= 1 and l["clients"] == 3 and l["expert"] < 4 for l in looks):
    sys.exit(f"not ok: {looks}")
metrics = dict(line.split() for line in open(f"{work}/look.metrics") if re.match(r"caucus_shown_loss\S* ", line))
for name, key in (("", "loss"), ("_low", "low"), ("_high", "high"), ("_phase", "phase"), ("_expert", "expert")):
    if abs(float(metrics["caucus_shown_loss" + name]) - looks[0][key]) > 1e-8:
        sys.exit(f"not ok: {metrics}")
page = open(f"{work}/look.html").read()
if "Loss of the expert in force" not in page or page.count("<tr><td>5</td>") != 1 or "{{" in page:
    sys.exit("not ok: the page")
PY

# Unit client: each figure is of everything so far, and the page says so.
epsilon=40
play client --unit client --growth 3 --show-loss 9
kill -TERM "$server"
ended "$server" "client: the coordinator" 0
"$CAUCUS" simulate --algorithm stoch --trust coordinator --clients 3 --losses "$losses" --seed 7 --trials 1 \
    --unit client --growth 3 --epsilon 40 --show-loss 9 --format json >"$work/sim.json" 2>/dev/null
python3 - "$work" <<'PY' || bad "client"
import json, sys
work = sys.argv[1]
live, simulated = (json.load(open(f"{work}/{name}.json")) for name in ("client", "sim"))
if [look["phase"] for look in live["look"]] != [4, 3, 2, 1]:
    sys.exit(f"not ok: phases {live['look']}")
if simulated["runs"][0]["look"] != live["look"][:1]:
    sys.exit(f"not ok: {live['look'][0]} live, {simulated['runs'][0]['look']} simulated")
if "in all rounds so far" not in open(f"{work}/client.html").read():
    sys.exit("not ok: the page does not say what is shown")
PY
epsilon=10
play plain
kill -TERM "$server"
ended "$server" "plain: the coordinator" 0
grep -q '"look": \[\]' "$work/plain.json" || bad "plain: the status shows something"
! grep -q shown_loss "$work/plain.metrics" || bad "plain: metrics show something"
! grep -q 'id="look"' "$work/plain.html" || bad "plain: the page has an empty card"
done_with "a private look"
