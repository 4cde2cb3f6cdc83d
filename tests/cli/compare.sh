#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `caucus compare`: what is said about privacy for every kind of change, and that no difference is missed. Exact words
# are in exact/compare.exact.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"

rounds=40
plan() { "$CAUCUS" plan --clients 4 --experts 6 --rounds "$rounds" "$@" >/dev/null 2>&1; }
plan --epsilon 1 --trust coordinator --algorithm stoch --write base.yaml

# promises WORD NAME ARGUMENT...: what a plan promises, beside the base.
promises() {
    local word=$1 name=$2
    shift 2
    rm -f other.yaml
    plan "$@" --write other.yaml
    "$CAUCUS" compare base.yaml other.yaml --format json >out
    "$CAUCUS" compare other.yaml base.yaml --format json >back
    if $python - "$word" <<'END'; then
import json, sys
forth, back, word = json.load(open('out')), json.load(open('back')), sys.argv[1]
assert forth['privacy'] == word, forth['privacy']
turned = {'more': 'less', 'less': 'more'}.get(word, word)
assert back['privacy'] == turned, back['privacy']
changes = {(c['section'], c['what']): (c['before'], c['after']) for c in forth['changes'] if c['what'] != 'weak'}
other = {(c['section'], c['what']): (c['after'], c['before']) for c in back['changes'] if c['what'] != 'weak'}
assert changes == other, (changes, other)
assert all(a != b for a, b in changes.values())
END
        pass "$name: $word"
    else
        fail "$name is not '$word'"
    fi
}
s=(--trust coordinator --algorithm stoch)
promises same "another name" --epsilon 1 "${s[@]}" --federation home
promises less "a larger epsilon" --epsilon 2 "${s[@]}"
promises more "a smaller epsilon" --epsilon 0.5 "${s[@]}"
rounds=400 promises less "more rounds: the same for a loss, less for a device" --epsilon 1 "${s[@]}"
promises more "nobody is trusted with the messages" --epsilon 1 --trust nobody --algorithm stoch
rounds=10 promises mixed "messages private, choices less" --epsilon 2 --trust nobody --algorithm stoch
promises units-differ "another unit" --epsilon 1 "${s[@]}" --unit client-block
rounds=endless promises less "no end" --epsilon 1 "${s[@]}" --longest-phase 8

# Every setting and every integer in which two plan files differ is listed.
plan --epsilon 3 --trust coordinator --algorithm svt --front-load --lstar 2 --rho 0.1 --write other.yaml --force
"$CAUCUS" compare base.yaml other.yaml --format json >out
if $python - <<'END'; then
import json
c = json.load(open('out'))
have = {x['what'] for x in c['changes']}
assert {'algorithm', 'epsilon', 'lstar', 'rho', 'front_load'} <= have, have
assert any(w.startswith('svt.') for w in have) and any(w.startswith('stoch.') for w in have)
assert not {'clients', 'experts', 'rounds', 'delta'} & have, have
sections = [x['section'] for x in c['changes']]
assert sections[0] == 'privacy' and 'privacy' not in sections[sections.index('settings'):]
END
    pass "nothing is missed, nothing is invented"
else
    fail "the list of changes"
fi

COLUMNS=60 "$CAUCUS" compare base.yaml other.yaml >out
awk 'length($0) > 60 { print; bad = 1 } END { exit bad }' out && pass "60 columns" || fail "wider than 60 columns"

[ "$failures" -eq 0 ]
