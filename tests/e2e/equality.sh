#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One run, played four ways (equality.bash), where the coordinator is trusted.
set -euo pipefail
: "${CAUCUS_SOURCE:?source directory}"
# shellcheck source=tests/e2e/equality.bash
. "$CAUCUS_SOURCE/tests/e2e/equality.bash"
equal svt svt coordinator turning 1 --epsilon 60
equal svt-blocks svt coordinator turning 4 --epsilon 60
equal hedge hedge coordinator drawn 2 --epsilon 30
equal stoch stoch coordinator drawn 1 --epsilon 10
equal stoch-longest stoch coordinator drawn 1 --epsilon 10 --longest-phase 5 --first-phase 3 --unit client-block
equal stoch-evaluate stoch coordinator drawn 1 --epsilon 20 --evaluate 2
equal stoch-evaluate-block stoch coordinator drawn 1 --epsilon 20 --evaluate 1 --longest-phase 5 --unit client-block
equal stoch-client stoch coordinator drawn 1 --epsilon 20 --unit client --growth 3
equal stoch-client-evaluate stoch coordinator drawn 1 --epsilon 40 --unit client --growth 3 --evaluate 2
equal stoch-look stoch coordinator drawn 1 --epsilon 10 --show-loss 2
grep -q '"look": {"phase": 5, ' "$work/up.json" || bad "stoch-look: up shows no loss of the last phase"
equal stoch-look-block stoch coordinator drawn 1 --epsilon 16 --show-loss 6 --longest-phase 5 --unit client-block
grep -q '"look": {"phase": 1[0-9], ' "$work/up.json" || bad "stoch-look-block: up shows no loss of the last phase"
equal stoch-client-look stoch coordinator drawn 1 --epsilon 40 --show-loss 9 --unit client --growth 3
grep -q '"look": {"phase": 4, ' "$work/up.json" || bad "stoch-client-look: up shows no loss of the last phase"
"$CAUCUS" up --algorithm stoch --adversary bernoulli --clients 3 --names 'a},b\c}' --rounds 32 --epsilon 10 \
    --show-loss 5 --format json >"$work/up.json" 2>"$work/up.err" </dev/null ||
    bad "names of what is shown: $(cat "$work/up.err")"
grep -qE '"look": \{"phase": [0-9]+, "expert": (0, "name": "a\}"|1, "name": "b\\\\c\}"), "cl' "$work/up.json" ||
    bad "names of what is shown: $(grep '"look"' "$work/up.json")"
# Unit client at own pace: three decisions, whoever adds the noise, and a look with each.
for kind in "coordinator --epsilon 40 --show-loss 20" "nobody --epsilon 60"; do
    # shellcheck disable=SC2086 # several words
    "$CAUCUS" up --algorithm stoch --pace own --unit client --rounds 12 --growth 3 --adversary bernoulli \
        --activity 6,0.5 --clients 3 --experts 4 --trust $kind --format json \
        >"$work/up.json" 2>"$work/up.err" </dev/null ||
        bad "own pace, unit client, trust $kind: $(cat "$work/up.err")"
    grep -q '"equal": true' "$work/up.json" || bad "own pace, unit client, trust $kind: not as simulated"
    case $kind in coordinator*)
        grep -q '"look": {"phase": 3, ' "$work/up.json" || bad "own pace, unit client: no loss of the last phase"
        ;;
    esac
done
equal svt-renew svt coordinator turning 1 --epsilon 60 --renew 20
equal hedge-renew hedge coordinator drawn 2 --epsilon 30 --renew 12
endless stoch-endless stoch coordinator drawn 1 --epsilon 10 --longest-phase 5
endless svt-endless svt coordinator turning 1 --epsilon 60 --renew 20
endless svt-nominal svt coordinator turning 1 --epsilon 60 --nominal-rounds 64
endless hedge-endless hedge coordinator drawn 2 --epsilon 30 --renew 12
equal svt-client-block svt coordinator turning 4 --epsilon 60 --unit client-block
ended
