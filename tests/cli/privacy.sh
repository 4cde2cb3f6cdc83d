#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `caucus privacy`: JSON, that runs add up, and that any altered digit is found. Exact words are in exact/privacy.exact.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"

privacy() { "$CAUCUS" privacy "$@"; }
simulate() { "$CAUCUS" simulate --trials 1 --rounds 10 --experts 5 "$@" >/dev/null 2>&1; }

cp "$CAUCUS_SOURCE/tests/cli/two.ledger" two # two runs on the same data
if privacy two --format json --releases >out && $python - <<'END'; then
import json
l = json.load(open('out'))
assert l['entries'] == 6 and l['seeded'] and l['budget'] == {'epsilon': 10, 'delta': 1e-5}
assert l['left']['epsilon'] == 6 and abs(l['left']['delta'] - 9e-6) < 1e-15
assert l['reserved']['choices'] == 4 and l['released'] == {'choices': 2, 'messages': 2}
assert [r['released']['messages'] for r in l['runs']] == [2, 0] and l['runs'][1]['trust'] == 'nobody'
assert l['releases'][0] == {'run': 1, 'block': 2, 'what': 'phase', 'choices': 2, 'messages': 2}, l['releases']
END
    pass "JSON"
else
    fail "JSON"
fi

# Altered: exit code 2, the file and the line; nothing is shown.
for n in 1 2 3 4 5 6; do # every line, every field: any digit changed is seen
    for field in 2 3 6 7 9; do
        awk -v n=$n -v f=$field 'BEGIN { FS = OFS = "\t" }
            NR == n { $f = ($f ~ /^0/ ? "1" : "0") substr($f, 2) } { print }' two >bad
        code=0
        privacy bad >out 2>err || code=$?
        [ "$code" -eq 2 ] && [ ! -s out ] && grep -q "^bad:$n: " err ||
            fail "line $n, field $field altered: exit code $code, $(cat err)"
    done
done
pass "30 alterations"

privacy --help >out && grep -q 'caucus privacy runs.ledger --releases' out && pass "help" || fail "help"

# From a simulation: two runs add up, a third that does not fit is refused and changes nothing.
simulate --algorithm svt --epsilon 2 --trust coordinator --ledger l --budget 5
simulate --algorithm hedge --epsilon 2 --trust coordinator --ledger l
cp l before
code=0
simulate --algorithm hedge --epsilon 2 --trust coordinator --ledger l || code=$?
[ "$code" -eq 3 ] && cmp -s l before && pass "a run that does not fit is refused" ||
    fail "a run that does not fit (exit code $code)"
privacy l --format json >out
if $python - <<'END'; then
import json
l = json.load(open('out'))
assert abs(l['left']['epsilon'] - 1) < 1e-6 and abs(l['reserved']['choices'] - 4) < 1e-6, l
assert [round(r['epsilon_device'], 3) for r in l['runs']] == [18, 10], [r['epsilon_device'] for r in l['runs']]
assert l['reserved']['messages'] == 0 and [r['trust'] for r in l['runs']] == ['coordinator'] * 2
assert abs(l['released']['choices'] - sum(r['released']['choices'] for r in l['runs'])) < 1e-9
END
    pass "two simulations add up"
else
    fail "two simulations"
fi
# What is weak is said above the table; what a run comes to for a whole device stands in its row.
simulate --algorithm svt --epsilon 20 --trust coordinator --ledger weak --budget infinite
privacy weak >out
if [ "$(sed -n 2p out)" = "  WEAK: run 1 has epsilon 20, above 10: it protects little" ] &&
    grep -q '^  run .* whole device ' out && grep -qE '^    1 .* 180 ' out; then
    pass "weak, and per device"
else
    fail "weak, and per device: $(cat out)"
fi
"$CAUCUS" simulate --trials 1 --rounds 40 --experts 5 --algorithm stoch --clients 50 --epsilon 0.5 --delta 0.05 \
    --trust coordinator --ledger exposed --budget 3,0.1 >/dev/null 2>&1
privacy exposed >out
[ "$(sed -n 2p out)" = "  WEAK: run 1 has delta 0.05, above 1/clients: some client may be exposed entirely" ] &&
    pass "weak by its delta" || fail "weak by its delta: $(cat out)"

# Runs of several units share a ledger, and it says what their sum is about.
simulate --algorithm svt --epsilon 1 --trust coordinator --ledger mixed --budget 9
privacy mixed >out
grep -q 'several units' out && fail "one unit is called several: $(cat out)"
simulate --algorithm stoch --unit client --epsilon 1 --trust coordinator --ledger mixed
privacy mixed >out
[ "$(sed -n 2p out)" = "  WEAK: runs of several units: what they add up to is promised for single losses only" ] &&
    privacy mixed --format json | grep -qF '"mixed_units": true' && pass "several units" ||
    fail "several units: $(cat out)"

# Equal parts fit into their sum, none after them; the refusal has the numbers that were typed.
for n in 1 2 3 4 5 6 7 8 9 10; do
    simulate --algorithm svt --epsilon 0.1 --trust coordinator --ledger parts --budget 1 ||
        fail "part $n of ten does not fit"
done
code=0
"$CAUCUS" simulate --trials 1 --rounds 10 --experts 5 --algorithm svt --epsilon 0.1 --trust coordinator --ledger parts \
    >out 2>err || code=$?
[ "$code" -eq 3 ] && grep -qF 'epsilon 0.1 asked, 0 of 1 left' err && pass "ten parts" ||
    fail "an eleventh part: exit code $code, $(cat err)"

# A ledger of an earlier version goes on as what it is.
cp two old && simulate --algorithm svt --epsilon 0.5 --trust coordinator --ledger old &&
    privacy old --format json >out &&
    grep -qF '"left": {"epsilon": 5.5' out && grep -qF '"clients": null' out && pass "an earlier version's ledger" ||
    fail "an earlier version's ledger: $(cat out)"

privacy l >out && grep -q 'trusted' out && pass "messages of a trusted coordinator" || fail "trusted"
simulate --algorithm leader --trust coordinator --ledger free && privacy free >out &&
    grep -q '^  free: no limit; 1 run' out &&
    grep -q '0 of infinite' out && grep -q 'no limit was set' out && pass "no limit" || fail "no limit"

[ "$failures" -eq 0 ]
