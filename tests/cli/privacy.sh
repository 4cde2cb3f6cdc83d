#!/usr/bin/env bash
# `caucus privacy`: what a ledger shows, that runs add up, and that a torn or altered ledger is named by its line.
set -euo pipefail
: "${CAUCUS:?path of the program}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0
python=/usr/bin/python3

pass() { echo "ok: $1"; }
fail() {
    echo "not ok: $*"
    failures=$((failures + 1))
}
privacy() { "$CAUCUS" privacy "$@"; }
simulate() { "$CAUCUS" simulate --trials 1 --rounds 10 --experts 5 "$@" >/dev/null 2>&1; }

# expect NAME CODE STDOUT STDERR ARGUMENT...: all three exactly.
expect() {
    local name=$1 want=$2 code=0
    printf '%s' "$3" >want-out
    printf '%s' "$4" >want-err
    shift 4
    privacy "$@" >out 2>err </dev/null || code=$?
    if [ "$code" -ne "$want" ] || ! diff -u want-out out || ! diff -u want-err err; then
        fail "$name (exit code $code)"
    else
        pass "$name"
    fi
}

# A ledger of two runs on the same data, written down here, so that nothing else decides what is shown.
printf '%s\n' \
    'budget	0	0	caucus ledger 1	private	10737418240	0	1e-5	f7594f799d3cd30afa7ce1cb66c58ba394f1655574006adfefd6948c7f743fea' \
    'run	1	0	simulate stoch nobody event	seeded	2147483648	2147483648	0	c919975a247fbb02d4d8819758026ae31b0022d8f588ca63af29981c937b341a' \
    'release	1	2	phase	seeded	2147483648	2147483648	0	9d780130180e3811446d764d0dd19af576a3a151a33382839fb3d62c296f0ba5' \
    'release	1	3	phase	seeded	0	0	0	06740517cc63dff8489fe145dbb51eb4de59bf147e0872f3451d29d1d9b90038' \
    'release	1	4	phase	seeded	0	0	0	5ddd3e967e0bb61f15022668ebae9eba3ea28438b49ff6867d12a70d8464c127' \
    'run	2	0	simulate stoch nobody event	seeded	2147483648	2147483648	1e-6	a5a68ea013456092ea2cab2d04bfc6edb0c2d92bb51c21a7123331a30396ba0f' >two
table='  two: budget epsilon 10, delta 1e-05; 2 runs, 3 releases, NOT PRIVATE (seeded)

  run  name            trust        unit          choices released   messages released   delta   releases   in blocks
    1  simulate stoch  nobody       event         2 of 2             2 of 2              0              3   2-4   NOT PRIVATE (seeded)
    2  simulate stoch  nobody       event         0 of 2             0 of 2              1e-06          0   -   NOT PRIVATE (seeded)
'
list='
  run  block  release           choices    messages
    1      2  phase             2          2
    1      3  phase             0          0
    1      4  phase             0          0
'
rest='  Left      epsilon 6 of 10, delta 9e-06 of 1e-05
  Runs on the same data add up; each counts with all it has reserved, and with the larger of its two epsilons.
  The chain of 6 entries is whole and ends in a5a68ea013456092ea2cab2d04bfc6edb0c2d92bb51c21a7123331a30396ba0f.
  It catches accidents, torn or altered lines, not somebody who can cut it short or rewrite it all.
'
plain='
  Choices   ########========........................  2 released, 4 reserved
  Messages  ########========........................  2 released, 4 reserved
            # released   = reserved, not released   . left
'
expect "a ledger" 0 "$table$plain$rest" "" two --ascii
expect "every release" 0 "$table$list$plain$rest" "" two --releases --ascii
LC_ALL=C expect "plain characters where the locale has no others" 0 "$table$plain$rest" "" two
if grep -qiE '^C\.utf-?8$' <<<"$(locale -a 2>/dev/null)"; then
    blocks='
  Choices   ████████▒▒▒▒▒▒▒▒░░░░░░░░░░░░░░░░░░░░░░░░  2 released, 4 reserved
  Messages  ████████▒▒▒▒▒▒▒▒░░░░░░░░░░░░░░░░░░░░░░░░  2 released, 4 reserved
            █ released   ▒ reserved, not released   ░ left
'
    LC_ALL=C.UTF-8 expect "blocks" 0 "$table$blocks$rest" "" two
fi
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

# Torn and altered: exit code 2, the file, the line and what is wrong; nothing is shown.
sed '3s/2147483648/2147483647/' two >bad
expect "an altered amount" 2 "" "bad:3: does not continue the one before: altered, torn, missing or out of order
" bad
sed '4d' two >bad
expect "a missing line" 2 "" "bad:4: does not continue the one before: altered, torn, missing or out of order
" bad
sed '4{h;d};5G' two >bad
expect "two lines exchanged" 2 "" "bad:4: does not continue the one before: altered, torn, missing or out of order
" bad
head -c -20 two >bad
expect "a torn line" 2 "" "bad:6: the last line is torn (a write was cut short) — remove that line to go on
" bad
: >bad
expect "an empty file" 2 "" "bad: empty — a ledger begins with its budget; remove the file to begin one
" bad
expect "no such file" 2 "" "none: No such file or directory
" none
expect "a directory that is no coordinator's state" 2 "" "./coordinator.db: No such file or directory — name the directory that holds a coordinator's state
" .
for n in 1 2 3 4 5 6; do # every line, every field: any digit changed is seen
    for field in 2 3 6 7 9; do
        awk -v n=$n -v f=$field 'BEGIN { FS = OFS = "\t" } NR == n { $f = ($f ~ /^0/ ? "1" : "0") substr($f, 2) } { print }' two >bad
        code=0
        privacy bad >out 2>err || code=$?
        [ "$code" -eq 2 ] && [ ! -s out ] && grep -q "^bad:$n: " err || fail "line $n, field $field altered: exit code $code, $(cat err)"
    done
done
pass "30 alterations"

expect "no ledger named" 2 "" "caucus privacy: which ledger? — caucus privacy FILE (caucus simulate --ledger FILE) or DIR (caucus serve --state DIR)
"
expect "two ledgers" 2 "" "caucus privacy: 'two': one ledger at a time, 'two' was given already
" two two
expect "an unknown format" 2 "" "caucus privacy: --format csv: must be text or json
" two --format csv
privacy --help >out && grep -q 'caucus privacy runs.ledger --releases' out && pass "help" || fail "help"

# From a simulation: two runs add up, a third that does not fit is refused and changes nothing.
simulate --algorithm svt --epsilon 2 --trust coordinator --ledger l --budget 5
simulate --algorithm hedge --epsilon 2 --trust coordinator --ledger l
cp l before
code=0
simulate --algorithm hedge --epsilon 2 --trust coordinator --ledger l || code=$?
[ "$code" -eq 1 ] && cmp -s l before && pass "a run that does not fit is refused" || fail "a run that does not fit (exit code $code)"
privacy l --format json >out
if $python - <<'END'; then
import json
l = json.load(open('out'))
assert abs(l['left']['epsilon'] - 1) < 1e-6 and abs(l['reserved']['choices'] - 4) < 1e-6, l
assert l['reserved']['messages'] == 0 and [r['trust'] for r in l['runs']] == ['coordinator'] * 2
assert abs(l['released']['choices'] - sum(r['released']['choices'] for r in l['runs'])) < 1e-9
END
    pass "two simulations add up"
else
    fail "two simulations"
fi
privacy l >out && grep -q 'trusted' out && pass "messages of a trusted coordinator" || fail "trusted"
simulate --algorithm leader --trust coordinator --ledger free && privacy free >out && grep -q '^  free: no limit; 1 run' out &&
    grep -q '0 of infinite' out && grep -q 'no limit was set' out && pass "no limit" || fail "no limit"

[ "$failures" -eq 0 ]
