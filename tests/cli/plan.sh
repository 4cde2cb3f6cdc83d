#!/usr/bin/env bash
# `caucus plan`: exact words of plans and refusals, the calibrated values to the digits that were worked out by hand, plan files that
# come back, and advice that says when a federation cannot help.
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
plan() { "$CAUCUS" plan "$@"; }

# refused NAME CODE LINE ARGUMENT...: this exit code, exactly this line, nothing on standard output.
refused() {
    local name=$1 want=$2 line=$3 code=0
    shift 3
    plan "$@" >out 2>err </dev/null || code=$?
    printf '%s\n' "$line" >want
    if [ "$code" -ne "$want" ] || [ -s out ] || ! diff -u want err; then
        fail "$name (exit code $code)"
    else
        pass "$name"
    fi
}

# shows NAME TEXT ARGUMENT...: exit code 0 and exactly this text; the plan's hash and what was simulated are left out.
shows() {
    local name=$1 text=$2 code=0
    shift 2
    plan "$@" >out 2>err </dev/null || code=$?
    sed -i -E 's/^(  Plan        )[0-9a-f]{64}$/\1HASH/; s/losses: about [0-9.,]+\)/losses: about N)/
        s/about [0-9.,]+ numbers up per client, [0-9.]+ k?B(ytes)? /about N numbers up per client, SIZE /' out
    printf '%s\n' "$text" >want
    if [ "$code" -ne 0 ] || [ -s err ] || ! diff -u want out; then
        fail "$name (exit code $code)"
    else
        pass "$name"
    fi
}

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
next="  Next        --write plan.yaml, then: caucus serve --plan plan.yaml …   (--explain shows how it came about)"

shows "Fed-SVT" "  Fed-SVT, 10 clients, 100 experts, 512 rounds, one report per round
  Privacy     choices: epsilon 10 (pure), unit: one loss of one client     messages: coordinator is trusted
  Noise       threshold and checks: geometric, scale 0.273        selections: eta 0.634, at most 10
  Switch when the expert in force has cost 10.6 since it was chosen, all clients together
  Regret      at most 24.7 per client with probability 95 %   (a quick simulation, realizable losses: about N)
              if some expert loses at most 0 in all at each client
  Traffic     about N numbers up per client, SIZE (at most 1,511, 24.6 kB; the paper's protocol: 51,200)
  Memory      about 1.82 kB per client, 2.7 kB at the coordinator
  Plan        HASH
$next" --algorithm svt --clients 10 --experts 100 --rounds 512 --interval 1 --epsilon 10 "${c[@]}"

shows "Fed-DP-OPE-Stoch" "  Fed-DP-OPE-Stoch, 10 clients, 100 experts, 20 rounds, 5 phases
  Privacy     choices: epsilon 1 (pure), unit: one loss of one client     messages: coordinator is trusted
  Noise       at the coordinator: selections by permute-and-flip
  Phases         plays rounds   learns from   trees   leaves   scale   excess per round
    2                       2-3         1 each       0        1       2               1.32
    3                       4-7         2 each       0        1       2              0.758
    4                      8-15         4 each       0        1       2              0.449
    5                     16-20         8 each       0        1       2              0.274
              scale: of the selections, in units of a loss, against sums over all clients and samples
  Regret      at most 13.1 per client on average   (a quick simulation, gaussian losses: about N)
              if losses are drawn independently from one distribution
  Traffic     about N numbers up per client, SIZE (at most 400, 3.3 kB)
  Memory      about 1.82 kB per client, 4.26 kB at the coordinator
  Plan        HASH
$next" --algorithm stoch --rounds 20 "${c[@]}"

holds "trees" "    6                     32-60        16 each       2        6      16" --algorithm stoch --experts 10 --rounds 60 --convex 1,0.5 --trees 2 "${c[@]}"
holds "votes" "  Noise       at every client: vote (one private vote per phase)" --algorithm stoch --rounds 100 --trust nobody
holds "votes have no bound" "  Regret      no bound is proved: votes have none that shrinks with the number of clients" --algorithm stoch --rounds 100 --trust nobody
holds "Gaussian messages" "messages: epsilon 1, delta 1e-06" --algorithm stoch --rounds 100 --trust nobody --message gauss --delta 1e-6
holds "the paper's local noise" "messages: epsilon 2.5 (pure)" --algorithm stoch --experts 10 --rounds 100 --trust paper-local --calibration paper
holds "Fed-Hedge, privacy not free" "what privacy allows (0.268 would be best, and free from 275 clients on)" --algorithm hedge "${c[@]}"
holds "Fed-Hedge, privacy free" "learning rate 0.268: the best one, so privacy is free here" --algorithm hedge --clients 275 --rounds 512 "${c[@]}"
holds "what a convex bound assumes" "if losses are drawn independently from one distribution, and have gradients up to 1 and smoothness 0.5" --algorithm stoch --rounds 60 --convex 1,0.5 "${c[@]}"
holds "select auto with a delta: flip where its bound is smaller" "selections by permute-and-flip" --algorithm stoch --rounds 100 --delta 1e-6 "${c[@]}"
holds "select auto with a delta: exponential where its bound is smaller" "selections by exponential mechanism" --algorithm stoch --rounds 4096 --trees 4 --delta 1e-3 --epsilon 0.1 "${c[@]}"
holds "message auto where trees are built" "at every client: knorm" --algorithm stoch --rounds 100 --trees 1 --trust nobody
holds "no privacy" "choices: not private" --algorithm leader "${c[@]}"
holds "a vacuous bound, in plain words" "  Regret      the proved bound is vacuous: 1,341, and there is no more than 512 to lose" --algorithm sparse-vector "${c[@]}"
holds "nothing to decide" "choices: nothing is spent" --interval 512 "${c[@]}"
holds "front-load" "front-load has no proof" --front-load "${c[@]}"
holds "losses that the bound does not cover" "NOT COVERED: the bound is for losses that are realizable; you said any" --losses-are any "${c[@]}"
holds "another range scales everything" "at most 49.4 per client with probability 95 %" --epsilon 10 --range=-1,1 "${c[@]}"
holds "too large to play" "(too large for a quick simulation: caucus simulate)" --clients 1000000 --rounds 100000 "${c[@]}"

# Worked out by hand in the specification: g, kappa, eps_AT, eta, L and the bound.
golden() {
    local name=$1 values=$2
    shift 2
    if plan "$@" "${c[@]}" --format json >out && $python - "$values" <<'END'; then
import json, sys
p = json.load(open('out'))
m = p['meaning']
got = '%g %d %.5f %.5f %.4f %.2f' % (m['margin'], p['svt']['switches'], m['epsilon_threshold'], m['eta'], m['threshold'], p['bound']['value'])
sys.exit(0 if got == sys.argv[1] else 'got ' + got)
END
        pass "$name"
    else
        fail "$name"
    fi
}
golden "golden: m 10, T 512, epsilon 10, d 100" "5 10 3.66293 0.63371 10.5997 24.70" --epsilon 10
golden "golden: m 10, T 512, epsilon 1, d 100" "3 12 0.40639 0.04947 85.0687 145.81" --epsilon 1
golden "golden: m 10, T 604, epsilon 10, d 18" "4.5 7 4.20254 0.82821 7.8345 15.50" --epsilon 10 --experts 18 --rounds 604
for text in "eps_AT = epsilon sqrt(A)/(sqrt(A)+sqrt(B)) = 3.66293" "eta = eps_EM/kappa = 0.63371" "= 0 + 7.8901 + 2.7096 = 10.5997." \
    "(g/eta + A/eps_AT)/m] = 24.70 with probability 95 %"; do
    holds "--explain: $text" "$text" --epsilon 10 "${c[@]}" --explain
done
holds "--explain: zCDP" "Selections compose by zCDP: kappa eta^2/8 = " --delta 1e-6 "${c[@]}" --explain
holds "--explain: votes" "Vote by permute-and-flip at rate epsilon/(2W) = 4.76837e-07 per step." --algorithm stoch --trust nobody --explain
holds "--explain: trees" "Tree 2 of the last phase: 4 leaves" --algorithm stoch --experts 10 --rounds 60 --convex 1,0.5 --trees 2 "${c[@]}" --explain
holds "--explain: Fed-Hedge" "Taken: e_H = 0.00978474, the most that is allowed." --algorithm hedge "${c[@]}" --explain
# Every section that an explanation names is there.
for title in $(plan --epsilon 10 "${c[@]}" --explain | sed -nE 's/.*\("(.*)"\)$/\1/p' | tr ' ' _ | sort -u); do
    grep -qE "^##+ ${title//_/ }\$" "${CAUCUS_SOURCE:?source directory}/docs/PRIVACY.md" || fail "docs/PRIVACY.md has no section '${title//_/ }'"
done

# JSON has every integer, fractions as text.
if plan "${c[@]}" --format json >out && $python - <<'END'; then
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
for a in "--algorithm stoch --trust nobody --rounds 40" "--algorithm hedge --trust coordinator --rounds 40" "--recommend --rounds 40 --experts 5"; do
    # shellcheck disable=SC2086
    if plan $a --format json | $python -m json.tool >/dev/null; then pass "JSON: $a"; else fail "JSON: $a"; fi
done

# Files: the hash is of the bytes; nothing is replaced by accident; what was altered is named.
if plan "${c[@]}" --write p.yaml >out 2>err && hash=$(sha256sum p.yaml | cut -d' ' -f1) && grep -q "^  Plan        $hash\$" out &&
    [ "$(cat err)" = "caucus plan: p.yaml holds plan $hash" ] && [ "$(ls)" = "err
out
p.yaml
want" ]; then
    pass "--write: the hash is that of the file"
else
    fail "--write"
fi
cp p.yaml q.yaml
plan "${c[@]}" --write q.yaml >/dev/null 2>&1 && cmp -s p.yaml q.yaml && pass "--write again: the same bytes" || fail "--write again"
refused "another plan is there" 2 "q.yaml: holds something else — add --force to replace it, or give another name" "${c[@]}" --epsilon 2 --write q.yaml
cmp -s p.yaml q.yaml && pass "and stays" || fail "another plan was replaced"
plan "${c[@]}" --epsilon 2 --write q.yaml --force >/dev/null 2>&1 && ! cmp -s p.yaml q.yaml && pass "--force" || fail "--force"
refused "a directory that is not there" 2 "nowhere/p.yaml: No such file or directory" "${c[@]}" --write nowhere/p.yaml
plan p.yaml >again && plan "${c[@]}" >first && diff <(grep -v '^  Next' first) again >/dev/null && pass "a plan file is shown as it was made" || fail "a plan file shown"
sed 's/^  epsilon: 1$/  epsilon: 9/' p.yaml >bad.yaml
refused "another epsilon over the same integers" 2 "bad.yaml:31: switches: 12, but these settings give 10 — the file was edited" bad.yaml
sed 's/^  clients: 10$/&\n&/' p.yaml >bad.yaml
refused "a key twice" 2 "bad.yaml:14: 'clients' where 'experts' is expected — unknown, given twice or out of order" bad.yaml
head -c 300 p.yaml >bad.yaml
refused "a torn file" 2 "bad.yaml:9: unit: 'e' (accepted: event, client-block)" bad.yaml
refused "no such file" 2 "none.yaml: No such file or directory" none.yaml
refused "settings beside a file" 2 "caucus plan: --epsilon: a plan file has its settings already" p.yaml --epsilon 2

# What cannot be is refused in one line that says what could.
refused "no trust" 2 "caucus plan: --trust is missing: whom do the clients trust with their sums? coordinator, nobody, or paper-local to reproduce the paper"
refused "epsilon 0" 2 "caucus plan: --epsilon 0: must be above 0 (0.01 to 100 is usual); for no privacy write infinite" "${c[@]}" --epsilon 0
refused "epsilon NaN" 2 "caucus plan: --epsilon nan: must be above 0 (0.01 to 100 is usual); for no privacy write infinite" "${c[@]}" --epsilon nan
refused "a Gaussian without delta" 2 "caucus plan: --delta 0 with message gauss, which is never purely private (accepted: above 0, below 0.1; 1e-6 is usual)" --algorithm stoch --trust nobody --message gauss
refused "phases too short for the trees" 2 "caucus plan: --trees 7 trees fit no phase of 100 rounds (accepted: fewer, or auto)" --algorithm stoch --rounds 100 --trees 7 "${c[@]}"
refused "sums that could overflow" 2 "caucus plan: --rounds 1073741824 rounds of 16777216 clients on a grid of 65536 steps (accepted: clients * rounds * grid below 2^62)" --clients 16777216 --rounds 1073741824 "${c[@]}"
refused "trust that the algorithm cannot have" 2 "caucus plan: --trust nobody with svt, whose messages are sums in clear (accepted: coordinator; or algorithm stoch, limited-updates)" --trust nobody
refused "noise too large" 2 "caucus plan: --epsilon 1e-09 needs noise so large that 62 bits cannot hold it (rate 3.77e-16 per grid step) — feasible: from about 1.2e-09" "${c[@]}" --epsilon 1e-9
refused "several values" 2 "caucus plan: --epsilon 2: a second value: one at a time here" "${c[@]}" --epsilon 1,2
refused "convex losses for svt" 2 "caucus plan: --convex: loss-shape convex with svt (accepted: linear; or algorithm stoch, limited-updates)" "${c[@]}" --convex 1,1
refused "half of --convex" 2 "caucus plan: --convex 1: must be two numbers, for example 1,0.5" "${c[@]}" --convex 1
refused "a grid of 0" 2 "caucus plan: --grid 0: must be a whole number from 1 to 1048576" "${c[@]}" --grid 0
refused "--force alone" 2 "caucus plan: --force: belongs to --write" "${c[@]}" --force
refused "an option mistyped" 2 "caucus plan: unknown option '--epsilom' — did you mean '--epsilon'?" --epsilom 1
refused "--recommend one" 2 "caucus plan: --recommend: compares all algorithms — leave out --algorithm" --recommend --algorithm svt
refused "--recommend --write" 2 "caucus plan: --recommend: compares plans and keeps none — leave out --write" --recommend --write x.yaml
refused "--recommend paper-local" 2 "caucus plan: --trust paper-local is for reproducing the paper, not to be recommended (accepted: coordinator, nobody, or nothing)" --recommend --trust paper-local

# Advice.
r=(--recommend --epsilon 10 --experts 50 --rounds 256)
holds "realizable: svt" "    Take svt with trust coordinator: about " "${r[@]}" --losses-are realizable
holds "iid: stoch" "    Take stoch with trust coordinator: about " "${r[@]}" --losses-are iid
holds "any: hedge" "    Take hedge with trust coordinator: about " "${r[@]}" --losses-are any
holds "identical losses: a federation cannot help" "If all clients see the same losses a federation cannot help" "${r[@]}" --losses-are any
holds "few clients: privacy is not free" "Privacy would be free from about " "${r[@]}" --losses-are any
holds "many clients: privacy is free" "Privacy is free here: with 100 clients" "${r[@]}" --clients 100 --losses-are any
holds "nobody trusted" "    Take stoch, message shortlist with trust nobody: about " "${r[@]}" --trust nobody --losses-are iid
holds "what does not fit is listed" "does not fit: unit client-block with hedge" "${r[@]}" --unit client-block --losses-are any
plan "${r[@]}" >out && [ "$(grep -c '^  If ' out)" -eq 3 ] && pass "all three situations" || fail "all three situations"
holds "help" "  caucus plan plan.yaml " --help

[ "$failures" -eq 0 ]
