#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Several ranks give the bytes that one process gives: tables, JSON, CSV, curves; trials dealt, and clients dealt.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
source "$(dirname "$0")/lib.bash"

# both NAME RANKS ARGUMENTS...: simulate with caucus, over ranks, and with the clients of each trial dealt.
both() {
    local name=$1 count=$2 kind
    shift 2
    "$CAUCUS" simulate "$@" --out "$name.one" >"$name.one.txt" 2>"$name.err" || { fail "$name"; cat "$name.err"; }
    for kind in trials clients; do
        if ! ranks "$count" simulate "$@" --split "$kind" --out "$name.$kind" >"$name.$kind.txt" 2>"$name.err"; then
            fail "$name, $kind dealt over $count ranks"
            cat "$name.err"
        fi
        same "$name, $kind dealt over $count ranks" "$name.one" "$name.$kind"
        same "$name, $kind dealt: on the screen" "$name.one.txt" "$name.$kind.txt"
    done
}

# Every family, one client alone among them; 7 clients are not the same number for 3 ranks.
both families 3 --algorithm svt,stoch,hedge,sparse-vector --trust coordinator --epsilon 5 --delta 1e-6 --clients 7 \
    --experts 9 --rounds 64 --trials 5 --seed 3
both votes 2 --algorithm stoch --trust nobody --epsilon 4 --clients 20 --experts 5 --rounds 128 --trials 3 --format json
both blocks 2 --algorithm svt --trust coordinator --unit client-block --interval 4 --epsilon 8 --clients 6 --experts 4 \
    --rounds 100 --trials 4 --format csv

# Losses of a file, in doubles, some of them outside their range.
"$python" - <<'P'
import numpy
numpy.save("mine.npy", numpy.random.default_rng(7).uniform(-0.1, 1.1, (5, 40, 6)))
P
both file 3 --losses mine.npy --algorithm svt --trust coordinator --epsilon 5 --trials 3 --format json

# More ranks than trials, and than clients.
both few 4 --algorithm svt --trust coordinator --epsilon 5 --clients 3 --experts 4 --rounds 32 --trials 2

[ "$failures" -eq 0 ]
