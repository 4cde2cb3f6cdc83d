#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `caucus plan`: the calibrated values to the digits that were worked out by hand, JSON, and advice that says when a
# federation cannot help. Exact words are in exact/plan.exact.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"

plan() { "$CAUCUS" plan "$@"; }

# holds NAME PATTERN ARGUMENT...: exit code 0 and a line that holds the text.
holds() {
    local name=$1 text=$2 code=0
    shift 2
    plan "$@" >out 2>err </dev/null || code=$?
    if [ "$code" -ne 0 ] || ! grep -qF -- "$text" out; then
        cat out err
        fail "$name (exit code $code): no '$text'"
    else
        pass "$name"
    fi
}

c=(--trust coordinator)
holds "trees" "    6                     32-60        16 each       2        6      16" --algorithm stoch --experts 10 \
    --rounds 60 --convex 1,0.5 --trees 2 "${c[@]}"
holds "trees, explained" "The last phase builds trees up to depth 1, with 10 samples at a root" --algorithm stoch \
    --calibration paper --experts 10 --rounds 60 --explain "${c[@]}"
! grep -F "no trees" out || fail "trees, explained: it says that there are none"
holds "votes" "  Noise       at every client: vote (one private vote per phase)" --algorithm stoch --rounds 100 \
    --trust nobody
holds "votes have no bound" \
    "  Regret      no bound is proved: votes have none that shrinks with the number of clients" --algorithm stoch \
    --rounds 100 --trust nobody
holds "a longest phase: one line for all phases that are alike" \
    "              and so on: phases 4 to 35 are alike, 3 rounds each" --algorithm stoch --longest-phase 3 \
    --rounds 100 "${c[@]}"
holds "a longest phase: what the bound assumes" "from changes at most 0.25 times in 1,000 rounds" --algorithm stoch \
    --longest-phase auto --changes .25 "${c[@]}"
holds "renewal" "begins again every 64 rounds on new losses, with the expert in force: 8 cycles" --algorithm svt \
    --renew 64 "${c[@]}"
holds "renewal: what the bound of svt is about" "at most 27.9 per client and cycle with probability 95 %" \
    --algorithm svt --renew 512 --rounds 2000 --epsilon 10 "${c[@]}"
# With delta the whole device's epsilon is one at that delta, and says so.
hedge=(--algorithm hedge --clients 20 --experts 4 --rounds 400 --interval 1 --epsilon 1 --delta 1e-6 "${c[@]}")
holds "a whole device, with delta" "one client contributes to the run: epsilon 935 at most, delta 1e-06" \
    "${hedge[@]}"
holds "a whole device, with delta, explained" "run: epsilon 935.286 at most, delta 1e-06." "${hedge[@]}" --explain
# Of svt the pure costs of a record, in all checks and selections, times the records: squares would come to 2,577.
plan --algorithm svt --epsilon 1 --delta 1e-6 "${c[@]}" --format json >out
if $python - <<'END'; then
import json
from fractions import Fraction
p = json.load(open('out'))
s, G = p['svt'], p['settings']['grid']
record = G * Fraction(s['check_noise'].split()[1]) + sum(2 * G * Fraction(r) for r in s['select_rates'])
assert record > 1 and s['checks'] == 511 and p['guarantee']['rho_zcdp'] > 0
assert abs(p['epsilon_device'] / float(511 * record) - 1) < 1e-9, p['epsilon_device']
END
    pass "a whole device of svt, with delta"
else
    fail "a whole device of svt, with delta"
fi
holds "what clients send may be the weak part" "  WEAK        epsilon 25 for what clients send is above 10" \
    --algorithm stoch --rounds 500 --trust paper-local --calibration paper
holds "Gaussian messages" "messages: epsilon 1, delta 1e-06" --algorithm stoch --rounds 100 --trust nobody \
    --message gauss --delta 1e-6
holds "the paper's local noise" "messages: epsilon 2.5 (pure)" --algorithm stoch --experts 10 --rounds 100 \
    --trust paper-local --calibration paper
holds "Fed-Hedge, privacy not free" "what privacy allows (0.268 would be best, and free from 275 clients on)" \
    --algorithm hedge "${c[@]}"
holds "Fed-Hedge, privacy free" "learning rate 0.268: the best one, so privacy is free here" --algorithm hedge \
    --clients 275 --rounds 512 "${c[@]}"
holds "what a convex bound assumes" \
    "if losses are drawn independently from one distribution, and have gradients up to 1 and smoothness 0.5" \
    --algorithm stoch --rounds 60 --convex 1,0.5 "${c[@]}"
holds "select auto with a delta: flip where its bound is smaller" "selections by permute-and-flip" --algorithm stoch \
    --rounds 100 --delta 1e-6 "${c[@]}"
holds "select auto with a delta: exponential where its bound is smaller" "selections by exponential mechanism" \
    --algorithm stoch --rounds 4096 --trees 4 --delta 1e-3 --epsilon 0.1 "${c[@]}"
holds "message auto where trees are built" "at every client: knorm" --algorithm stoch --rounds 100 --trees 1 \
    --trust nobody
holds "no privacy" "choices: not private" --algorithm leader "${c[@]}"
holds "a vacuous bound, in plain words" \
    "  Regret      the proved bound is vacuous: 1,341, and there is no more than 512 to lose" \
    --algorithm sparse-vector "${c[@]}"
holds "nothing to decide" "choices: nothing is spent" --algorithm svt --interval 512 "${c[@]}"
holds "front-load" "front-load has no proof" --algorithm svt --front-load "${c[@]}"
holds "losses that the bound does not cover" "NOT COVERED: the bound is for losses that are realizable; you said any" \
    --algorithm svt --losses-are any "${c[@]}"
holds "another range scales everything" "at most 49.4 per client with probability 95 %" --algorithm svt --epsilon 10 \
    --range=-1,1 "${c[@]}"
holds "a smaller run is played" \
    "(a quick simulation of a smaller run, 2,074 clients and 256 rounds, realizable losses:" --algorithm svt \
    --clients 1000000 --rounds 100000 "${c[@]}"
grep -qE "losses: about [0-9.]+; epsilon [0-9.,]+, for the noise of all clients: an estimate\)" out ||
    fail "a smaller run has the noise of the whole: $(cat out)"
holds "traffic is that of the whole run" "  Traffic     at most 100,899 numbers up per client" --algorithm svt \
    --clients 1000000 --rounds 100000 "${c[@]}"
holds "adaptive losses are played" "(a quick simulation, adaptive losses: about" --losses-are adaptive "${c[@]}"

# Worked out by hand in the specification: g, kappa, eps_AT, eta, L and the bound.
golden() {
    local name=$1 values=$2
    shift 2
    if plan --algorithm svt "$@" "${c[@]}" --format json >out && $python - "$values" <<'END'; then
import json, sys
p = json.load(open('out'))
m = p['meaning']
got = '%g %d %.5f %.5f %.4f %.2f' % (m['margin'], p['svt']['switches'], m['epsilon_threshold'], m['eta'],
                                     m['threshold'], p['bound']['value'])
sys.exit(0 if got == sys.argv[1] else 'got ' + got)
END
        pass "$name"
    else
        fail "$name"
    fi
}
golden "golden: m 10, T 512, epsilon 10, d 100" "5 10 3.66293 0.63371 10.5997 24.70" --epsilon 10
golden "golden: m 10, T 512, epsilon 1, d 100" "3 12 0.40639 0.04947 85.0687 145.81" --epsilon 1
golden "golden: m 10, T 604, epsilon 10, d 18" "4.5 7 4.20254 0.82821 7.8345 15.50" --epsilon 10 --experts 18 \
    --rounds 604
for text in "eps_AT = epsilon sqrt(A)/(sqrt(A)+sqrt(B)) = 3.66293" "eta = eps_EM/kappa = 0.63371" \
    "= 0 + 7.8901 + 2.7096 = 10.5997." \
    "(g/eta + A/eps_AT)/m] = 24.70 with probability 95 %"; do
    holds "--explain: $text" "$text" --algorithm svt --epsilon 10 "${c[@]}" --explain
done
holds "--explain: zCDP" "Selections compose by zCDP: kappa eta^2/8 = " --algorithm svt --delta 1e-6 "${c[@]}" \
    --explain
holds "--explain: votes" "Vote by permute-and-flip at rate epsilon/(2W) = 4.76837e-07 per step." --algorithm stoch \
    --trust nobody --explain
holds "--explain: trees" "Tree 2 of the last phase: 4 leaves" --algorithm stoch --experts 10 --rounds 60 \
    --convex 1,0.5 --trees 2 "${c[@]}" --explain
holds "--explain: Fed-Hedge" "Taken: e_H = 0.00978474, the most that is allowed." --algorithm hedge "${c[@]}" --explain
own=(--losses-are drifting --phase-time 1d --unit event --clients 3 --experts 2 --changes 0.01 "${c[@]}" --explain)
holds "--explain: own pace" "however long the run, it costs what one decision costs." "${own[@]}"
holds "--explain: own pace, earlier phases" "which weigh in 17 decisions: however long the run, these cost epsilon" \
    "${own[@]}" --past-phases
! grep -F "what one decision costs" out || fail "--explain: own pace, earlier phases: it says that one decision is all"
# Every section that an explanation names is there.
explained=$(plan --algorithm svt --epsilon 10 "${c[@]}" --explain)
for title in $(echo "$explained" | sed -nE 's/.*\("(.*)"\)$/\1/p' | tr ' ' _ | sort -u); do
    grep -qE "^##+ ${title//_/ }\$" "$CAUCUS_SOURCE/docs/PRIVACY.md" ||
        fail "docs/PRIVACY.md has no section '${title//_/ }'"
done

# JSON has every integer, fractions as text.
if plan --algorithm svt "${c[@]}" --format json >out && $python - <<'END'; then
import json
from fractions import Fraction
p = json.load(open('out'))
s = p['svt']
assert p['settings']['epsilon'] == 1 and len(p['plan']) == 64
assert len(s['thresholds']) == len(s['select_rates']) == s['switches'] == 12
law, rate = s['check_noise'].split()
G = p['settings']['grid']
total = G * Fraction(rate) + sum(2 * G * Fraction(r) for r in s['select_rates'])
assert law == 'geometric' and 0.999999 < total <= 1, total
assert p['guarantee']['epsilon_messages'] is None
q = p['simulated']
assert q['trials'] == 20 and 5 < q['regret'] < 60 and 511 <= q['scalars_up'] <= p['most']['scalars_up'], q
END
    pass "JSON: the integers add up to epsilon"
else
    fail "JSON"
fi
for a in "--algorithm stoch --trust nobody --rounds 40" "--algorithm hedge --trust coordinator --rounds 40" \
    "--recommend --rounds 40 --experts 5"; do
    # shellcheck disable=SC2086
    if plan $a --format json | $python -m json.tool >/dev/null; then pass "JSON: $a"; else fail "JSON: $a"; fi
done

# Advice.
r=(--recommend --epsilon 10 --experts 50 --rounds 256)
holds "realizable: svt" "    Take svt with trust coordinator: about " "${r[@]}" --losses-are realizable
holds "iid: stoch" "    Take stoch with trust coordinator: about " "${r[@]}" --losses-are iid
holds "any: hedge" "    Take hedge with trust coordinator: about " "${r[@]}" --losses-are any
holds "identical losses: a federation cannot help" "If all clients see the same losses a federation cannot help" \
    "${r[@]}" --losses-are any
holds "few clients: privacy is not free" "Privacy would be free from about " "${r[@]}" --losses-are any
holds "many clients: privacy is free" "Privacy is free here: with 100 clients" "${r[@]}" --clients 100 --losses-are any
holds "nobody trusted" "    Take stoch (shortlist) with trust nobody: about " "${r[@]}" --trust nobody \
    --losses-are iid
holds "what does not fit is listed" "does not fit: unit client-block with hedge" "${r[@]}" --unit client-block \
    --losses-are any
plan "${r[@]}" >out && [ "$(grep -c '^  If ' out)" -eq 5 ] && pass "all five situations" || fail "all five situations"
plan "${r[@]}" --trust nobody >out && [ "$(grep -c '^  If ' out)" -eq 5 ] && pass "all five, nobody trusted" ||
    fail "all five situations with trust nobody"
plan "${r[@]}" --trust nobody --format json >out && python3 -m json.tool out >/dev/null && pass "as JSON" ||
    fail "all five situations with trust nobody, as JSON"
holds "drifting: a longest phase" "    Take stoch (longest phase " "${r[@]}" --losses-are drifting
grep -qF "    Simulated regret is against the best expert of each of 2 segments of equal length (segments of" out ||
    fail "drifting: what regret is against: $(cat out)"
! grep -q "^    Numbers up are those of" out || fail "numbers up of a run that was played whole: $(cat out)"
holds "never too large" "a smaller run than yours (fewer clients, fewer rounds)" --recommend --losses-are any \
    --clients 1000000 --rounds 100000
grep -qE "^    Numbers up are those of the [0-9,]+ rounds played; what is proved and epsilon of a device are not" out ||
    fail "numbers up of a smaller run: $(cat out)"
! grep -q "^    Simulated regret is against" out || fail "one best expert, and segments are named: $(cat out)"
holds "at their own pace there is no end" "    With rounds endless instead these fit: stoch (own pace)" --recommend \
    --losses-are drifting --phase-time 1h --clients 20 --experts 5 --rounds 1000
grep -qF "does not fit: rounds 1000 with pace own (accepted: endless" out ||
    fail "why not at their own pace: $(cat out)"
! plan --recommend --phase-time 1h --clients 20 --experts 5 --rounds endless --longest-phase 7 2>err &&
    grep -qF -- "caucus plan: --longest-phase given (with pace own phases are slots" err &&
    pass "what is at fault at their own pace" || fail "what is at fault at their own pace: $(cat err)"
holds "at their own pace" "    Take stoch (own pace) with trust coordinator: about " --recommend --losses-are drifting \
    --phase-time 1d --clients 20 --experts 5
for losses in any adaptive; do # they come by rounds, which a device at its own pace has not: others are played
    holds "at their own pace, $losses" " of shifting losses, in place of ones that come by rounds" --recommend \
        --losses-are $losses --phase-time 1h --clients 20 --experts 5
    grep -qE "^    Nothing that fits is made for such losses. Least was lost by stoch .*: about [0-9.]+ lost" out ||
        fail "at their own pace, $losses: $(cat out)"
done
# What nobody gave is refused together with what brought it, and the way out leads out.
fleet=(--clients 50 --experts 5 --epsilon 1 --trust coordinator)
# brought WANT ARGUMENT...
brought() {
    local want=$1
    shift
    ! plan "$@" "${fleet[@]}" >out 2>err && grep -qF -e "$want" err && pass "refused: $*" || fail "$*: $(cat err)"
}
brought "--losses-are drifting brought it: --losses-are iid does without" --losses-are drifting --unit client
brought "--losses-are drifting brought it: give --longest-phase 64, say" --losses-are drifting --unit client-block \
    --evaluate 1
plan --losses-are drifting --unit client-block --evaluate 1 --longest-phase 64 "${fleet[@]}" >out 2>err ||
    fail "the way out: $(cat err)"
! plan --losses-are drifting --longest-phase 64 --unit client "${fleet[@]}" >out 2>err && ! grep -q "brought it" err ||
    fail "a longest phase that was given: $(cat err)"
holds "own pace on iid losses" "slots of 1 hour" --losses-are iid --rounds endless --phase-time 1h --pace own \
    "${fleet[@]}"
holds "help" "  caucus plan plan.yaml " --help

# The commands are to be typed: each makes the plan that was compared.
plan --recommend --losses-are drifting --rounds 40 --experts 5 --epsilon 2.5 --range=-1,1 --format json >out
plan --recommend --losses-are iid --rounds 40 --experts 5 --epsilon 2.5 --show-loss 0.25 --format json >out2
if $python - "$CAUCUS" <<'END'; then
import json, shlex, subprocess, sys
situations = [s for name in ('out', 'out2') for s in json.load(open(name))['situations']]
rows = [c for s in situations for c in s['candidates'] if c['plan']]
assert len(rows) >= 12 and any('--show-loss' in c['command'] for c in rows)
assert len({c['plan'] for c in rows}) == len(rows)
for c in rows:
    words = shlex.split(c['command'])
    assert words[:2] == ['caucus', 'plan'] and words[-2:] == ['--write', 'plan.yaml'], words
    made = subprocess.run([sys.argv[1], *words[1:-2], '--format', 'json'], capture_output=True, text=True, check=True)
    assert json.loads(made.stdout)['plan'] == c['plan'], words
END
    pass "commands make the plans that were compared"
else
    fail "commands"
fi

# One's own history: what it says of premises, and what is refused.
$python - <<'END'
import random
random.seed(4)
with open('mine.csv', 'w') as f:
    f.write('client,round,small,distilled,large\n')
    for client in range(1, 7):
        for t in range(1, 65):
            losses = [random.randint(*ends) for ends in ((0, 6), (2, 10), (4, 10))]
            f.write(','.join(map(str, [client, t, *losses])) + '\n')
END
holds "a range that does not fit" "of the losses are outside 0,1: did you mean the range 0,10?" --recommend \
    --losses mine.csv --epsilon 5
if grep -qE "^    [0-9]+ % of your losses are outside the range 0,1 and were taken for its ends" out &&
    [ "$(grep -cE "^      caucus (plan|simulate) .* --range=0,10 " out)" -eq 2 ]; then
    pass "losses outside the range are advised on, and the commands have another"
else
    fail "losses outside the range: $(cat out)"
fi
if grep -q "^      caucus join " out && ! grep "^      caucus join " out | grep -q mine.csv &&
    grep -q "would protect nothing" out; then
    pass "no run on the history that was read without privacy"
else
    fail "a run on the history: $(cat out)"
fi
one=$(sed -nE 's/.*One client alone would lose about ([0-9.]+):.*/\1/p' out)
least=$(sed -nE 's/^    (limited-updates|sparse-vector|hedge) .* - +1 +([0-9.]+) .*/\2/p' out | sort -g | head -n 1)
{ [ -n "$one" ] && [ "$one" = "$least" ]; } || fail "one client alone, $one, is not the least of its rows, $least"
! plan --recommend --losses mine.csv --names small,large,distilled >out 2>err &&
    grep -qF -- "--names mine.csv: column 4 is called 'distilled', and expert 1 'large'" err &&
    pass "names in another order than the header's" || fail "names in another order: $(cat err)"
holds "sizes of the history" "  6 clients, 3 experts, 64 rounds, epsilon 5 (pure), unit: event" --recommend \
    --losses mine.csv --epsilon 5 --range 0,10
grep -qF "NOT PRIVATE: this comparison reads your losses as they are" out || fail "own losses: not private, said"
grep -qE "^    not realizable: svt assumes an expert that loses at most L\* = 0 in all" out || fail "own losses: L*"
grep -qE "^      caucus simulate --losses mine.csv --algorithm " out || fail "own losses: the command to type next"
! grep -q "did you mean" out || fail "own losses: a range that fits"
[ "$(grep -c "^      caucus .* --names small,distilled,large " out)" -eq 2 ] || fail "own losses: names from the header"
next=$(sed -nE 's/^      caucus (simulate .*)/\1/p' out)
eval "\"\$CAUCUS\" $next" >table 2>err || fail "the command to type next"
grep -q "Your losses: not realizable" err && pass "simulate names the same premises" || fail "simulate: premises"
# A label may begin with @, which alone would be a file's: commands double it.
sed '1s/small/@small/' mine.csv >at.csv
plan --recommend --losses at.csv --epsilon 5 --range 0,10 >out 2>err || fail "a label with @: $(cat err)"
next=$(sed -nE 's/^      caucus (simulate .*)/\1/p' out)
if [ "$(grep -c "^      caucus .* --names @@small,distilled,large " out)" -eq 2 ] &&
    eval "\"\$CAUCUS\" $next" >table 2>err && grep -qF "@small (0)" table; then
    pass "a first label that begins with @"
else
    fail "a first label that begins with @: $(cat out err)"
fi
holds "a larger fleet than the history" "Simulated: 20 trials of 6 clients in 64 rounds of your losses, a smaller run" \
    --recommend --losses mine.csv --range 0,10 --clients 500
grep -qF "simulated with epsilon 83.3, and 9.13 with trust nobody" out || fail "the noise of the fleet: $(cat out)"
# The noise is that of the fleet: a wider unit does not look ruinous because few clients have a history, and what is
# above its bound is said to be.
plan --recommend --losses mine.csv --range 0,10 --clients 6000 --epsilon 1 --format json >out 2>err
plan --recommend --losses mine.csv --range 0,10 --clients 6000 --epsilon 1 >out2 2>err
if $python - <<'END'; then
import json, math
rows = [c for c in json.load(open('out'))['situations'][0]['candidates'] if c['regret'] is not None]
assert rows[0]['take'] and {c['unit'] for c in rows} == {'event', 'client-block', 'client'}
for c in rows:
    ratio = c['clients'] / 6 if c['clients'] > 1 else 1
    want = min(1000, ratio if c['trust'] == 'coordinator' else math.sqrt(ratio))
    assert abs(c['simulated_epsilon'] - want) < 1e-9 * want, c
    above = c['proven'] is not None and not c['vacuous'] and c['regret'] > c['proven']
    assert c['above_proven'] == above, c
    if c['unit'] != 'event':
        assert c['regret'] < c['proven'], c
assert any(c['clients'] == 1 for c in rows) and any(c['trust'] == 'nobody' for c in rows)
assert ('*: more than is proved' in open('out2').read()) == any(c['above_proven'] for c in rows)
END
    pass "fewer clients with the noise of the fleet"
else
    fail "fewer clients with the noise of the fleet: $(cat out)"
fi
holds "the expert that makes them realizable, by name" "realizable: expert small (0) loses at most" --recommend \
    --losses mine.csv --range 0,10 --lstar 640
holds "its label beside its number" '"best_name": "small"' --recommend --losses mine.csv --range 0,10 --format json
holds "JSON of a history" '"drifts": "no"' --recommend --losses mine.csv --range 0,10 --format json

# Losses that drift: the command says against what the table's regret is, and gives the same figure.
$python - <<'END'
import random
random.seed(1)
with open('drift.csv', 'w') as f:
    f.write('client,round,a,b,c\n')
    for client in range(1, 21):
        for t in range(1, 201):
            means = (.2, .5, .8) if t <= 100 else (.8, .5, .2)
            f.write(','.join(map(str, [client, t, *(int(random.random() < m) for m in means)])) + '\n')
END
holds "regret of segments" "    Simulated regret is against the best expert of each of 8 segments of equal length" \
    --recommend --losses drift.csv --epsilon 1
next=$(sed -nE 's/^      caucus (simulate .*)/\1/p' out)
plan --recommend --losses drift.csv --epsilon 1 --format json >out 2>err
eval "\"\$CAUCUS\" $next --format json" >table 2>err || fail "the command for losses that drift: $(cat err)"
if $python - <<'END'; then
import json
situation = json.load(open('out'))['situations'][0]
taken = [c for c in situation['candidates'] if c['take']][0]
run = json.load(open('table'))['runs'][0]
assert situation['simulated']['segments'] == 8
assert abs(run['regret']['segments']['mean'] - taken['regret']) < 1e-9, (run['regret']['segments'], taken['regret'])
END
    pass "the command gives the figure of the table"
else
    fail "the command for losses that drift: $next, $(cat table)"
fi

# certify has a limit, and a fleet may be larger.
holds "certificates for a part of the fleet" "certify makes certificates for the first 100,000 of 200,000 clients" \
    --recommend --losses-are iid --clients 200000 --experts 3 --rounds 64 --epsilon 1
plan --recommend --losses-are iid --clients 20 --experts 3 --rounds 64 --epsilon 1 >out 2>err
! grep -q "certificates for the first" out || fail "certificates for a part of a small fleet"

[ "$failures" -eq 0 ]
