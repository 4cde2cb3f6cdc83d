#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `caucus statement`: overclaims and numbers (statement.py), files, refusals. Exact words are in exact/statement.exact.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"

$python "$CAUCUS_SOURCE/tests/cli/statement.py" || fail "what it says"

"$CAUCUS" plan --algorithm svt --clients 2 --experts 3 --rounds 9 --trust coordinator --write plan.yaml >/dev/null 2>&1

# Everything that the claim rests on is cited: with few evaluations those beside the unit or the phases.
for unit in event client; do
    "$CAUCUS" plan --algorithm stoch --clients 50 --experts 4 --rounds 64 --trust coordinator --unit $unit \
        --evaluate 1 --write few-$unit.yaml >/dev/null 2>&1
    "$CAUCUS" statement few-$unit.yaml 2>/dev/null | tr -s ' \n' ' ' >out
    cited='"Few evaluations", "Side channels"'
    [ $unit = event ] || cited="\"Unit client\", $cited"
    grep -qF "$cited" out && pass "few evaluations are cited, unit $unit" ||
        fail "few evaluations, unit $unit: $(cat out)"
done
"$CAUCUS" statement plan.yaml 2>/dev/null | grep -q "Few evaluations" && fail "cited without them"

# A name in the plan is text in the page, not markup.
"$CAUCUS" plan --algorithm svt --clients 2 --experts 3 --rounds 9 --trust coordinator --federation '<b>&x' \
    --write odd.yaml >/dev/null 2>&1
"$CAUCUS" statement odd.yaml --html odd.html 2>/dev/null
grep -q '<dd>&lt;b&gt;&amp;x</dd>' odd.html && ! grep -q '<b>' odd.html && pass "names are text" || fail "names"

# What cannot be written leaves what was there, and says why.
echo before >page.html
code=0
"$CAUCUS" statement plan.yaml --html no/such/page.html >out 2>err || code=$?
[ "$code" -eq 2 ] && grep -q '^caucus statement: --html no/such/page.html: ' err && pass "a folder that is missing" ||
    fail "a folder that is missing: exit code $code, $(cat err)"
sed 's/epsilon: .*/epsilon: 0.5/' plan.yaml >altered.yaml
code=0
"$CAUCUS" statement altered.yaml --html page.html >out 2>err || code=$?
[ "$code" -eq 2 ] && [ ! -s out ] && [ "$(cat page.html)" = before ] && pass "a plan that does not hold" ||
    fail "a plan that does not hold: exit code $code, $(cat err)"

[ "$failures" -eq 0 ]
