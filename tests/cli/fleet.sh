#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/fleet: a figure that is met passes, one that is missed fails, a file it does not understand is refused.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"

# fleet NAME CODE PATTERN ROWS: the exit code, and a line that standard output or error must have.
fleet() {
    local name=$1 want=$2 pattern=$3 code=0
    printf 'trials: 3\nseeds: [1, 2]\ncommon: {trust: coordinator, experts: 8, rounds: 64}\nrows:\n%s\n' "$4" >rows.yaml
    "$CAUCUS_SOURCE/tools/fleet" "$CAUCUS" --file rows.yaml >out 2>&1 || code=$?
    if [ "$code" -eq "$want" ] && grep -q -- "$pattern" out; then pass "$name"; else
        fail "$name: exit code $code, $(cat out)"
    fi
}
row="{name: plain, run: {algorithm: svt}, figure: regret"
fleet "met" 0 '^plain  seed 2 .* ± .* at most 60  ok$' "  - $row, at-most: 60}"
fleet "above" 0 'above -1  ok$' "  - $row, above: -1}"
fleet "missed from above" 1 'at most 0.001  MISSED$' "  - $row, at-most: 0.001}"
fleet "missed from below" 1 '^fleet: 2 of 2 missed$' "  - $row, above: 1000}"
fleet "segments" 0 'at most 64  ok$' \
    "  - {name: s, run: {algorithm: stoch, adversary: shifting, segments: 4}, figure: regret.segments, at-most: 64}"
second="{name: second, run: {algorithm: svt}, figure: regret, per: losses, ratio-to: plain"
fleet "a ratio that is met" 0 "times 'plain', at most 1  ok\$" "  - $row, per: losses, above: -1}
  - $second, at-most: 1}"
fleet "a ratio that is missed" 1 "1 times 'plain', at most 0.9  MISSED\$" "  - $row, per: losses, above: -1}
  - $second, at-most: 0.9}"
fleet "a ratio to nothing" 2 "no row before it is called 'plain'" "  - $second, at-most: 1}"
fleet "per something else" 2 "per is losses, or left out" "  - $row, per: rounds, above: -1}"
fleet "trials of its own" 0 '^plain  seed 2  *[0-9.]* ± – (1 trials)  at most 60  ok$' \
    "  - $row, trials: 1, at-most: 60}"
fleet "no trials" 2 "row 'plain': trials is a number, 1 or more" "  - $row, trials: 0, at-most: 60}"
fleet "nothing asked" 2 "row 'plain': nothing is asked of it" "  - $row}"
fleet "a key that is not known" 2 "row 'plain': expected name, run" "  - $row, at-least: 3}"
fleet "no such figure" 2 "the results have no regret.parts" \
    "  - {name: plain, run: {algorithm: svt}, figure: regret.parts, at-most: 60}"
fleet "a row that is refused" 2 "not used by" "  - {name: p, run: {drift: 1}, figure: regret, at-most: 60}"
[ "$failures" -eq 0 ]
