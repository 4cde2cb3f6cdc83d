#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# caucus up --adversary movielens: finds MovieLens-1M where caucus reproduce does, takes its shape from the data (18
# genres, users / clients rounds), and plays what the simulation plays; without the data it says where it looked.
# CAUCUS_MOVIELENS: directory that holds ml-1m and ml-100k.
set -euo pipefail
: "${CAUCUS:?path of the program}" "${CAUCUS_SOURCE:?source directory}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
bad() { echo "not ok: $*"; failures=$((failures + 1)); }

mkdir -p "$work/empty/here"
cd "$work/empty/here"
for verb in up simulate; do
    code=0
    "$CAUCUS" "$verb" --adversary movielens --trust coordinator >"$work/out" 2>"$work/err" || code=$?
    [ "$code" -eq 2 ] || bad "$verb without the data: exit code $code"
    [ "$(cat "$work/err")" = "caucus $verb: --data is missing: no MovieLens in data/ml-1m or ../shared/data/ml-1m — \
get ml-1m.zip from https://grouplens.org/datasets/movielens/1m/ and unpack it to data/ml-1m, or give its directory" ] ||
        bad "$verb without the data: $(cat "$work/err")"
done
echo "ok: without the data"

data=${CAUCUS_MOVIELENS:-$CAUCUS_SOURCE/../shared/data}
if [ ! -e "$data/ml-1m/ratings.dat" ]; then
    [ "$failures" -eq 0 ] || exit 1
    echo "skipped: no MovieLens data in $data (CAUCUS_MOVIELENS=directory holding ml-1m)"
    exit 77
fi
data=$(cd "$data" && pwd)

# played NAME ROUNDS FLAGS...: equal, and of that shape
played() {
    local name=$1 rounds=$2
    shift 2
    timeout 300 "$CAUCUS" up "$@" --format json >"$work/up.json" 2>"$work/err" ||
        bad "$name: exit code $?: $(cat "$work/err")"
    python3 - "$work/up.json" "$rounds" <<'PY' || bad "$name: $(cat "$work/up.json" "$work/err")"
import json, sys
up = json.load(open(sys.argv[1]))
seen = [up[key] for key in ("equal", "adversary", "clients", "experts", "rounds")]
sys.exit(seen != [True, "movielens", 10, 18, int(sys.argv[2])])
PY
    "$CAUCUS" simulate --trust coordinator "$@" --trials 1 --format csv >"$work/sim.csv" 2>"$work/err" ||
        bad "$name: simulate: $(cat "$work/err")"
    python3 - "$work/up.json" "$work/sim.csv" <<'PY' || bad "$name: simulate plays otherwise"
import csv, json, sys
up, simulated = json.load(open(sys.argv[1])), next(csv.DictReader(open(sys.argv[2])))
sys.exit(abs(up["regret"] - float(simulated["regret"])) > 1e-6)
PY
    echo "ok: $name"
}
mkdir -p "$work/one/data" "$work/two/shared/data" "$work/two/here"
ln -s "$data/ml-1m" "$work/one/data/ml-1m"
ln -s "$data/ml-1m" "$work/two/shared/data/ml-1m"
cd "$work/one"
played "data/ml-1m" 604 --adversary movielens --epsilon 10
cd "$work/two/here"
played "../shared/data/ml-1m" 100 --adversary movielens --rounds 100 --epsilon 10
if [ -e "$data/ml-100k/u.data" ]; then played "--data ml-100k" 94 --data "$data/ml-100k"; fi
[ "$failures" -eq 0 ]
