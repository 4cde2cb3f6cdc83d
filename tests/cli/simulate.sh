#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `caucus simulate`: JSON keys, the same bytes for any number of threads, losses from files, ledgers, stopping and going
# on. Exact words of refusals are in exact/simulate.exact.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"

simulate() { "$CAUCUS" simulate "$@"; }

# refused NAME LINE ARGUMENT...: exit code 2, exactly this line, nothing on standard output, no directory `left`.
refused() {
    local name=$1 line=$2 code=0
    shift 2
    simulate "$@" --out left >out 2>err </dev/null || code=$?
    printf '%s\n' "$line" >want
    if [ "$code" -ne 2 ] || [ -s out ] || [ -e left ] || ! diff -u want err; then
        fail "$name (exit code $code)"
        rm -rf left
    else
        pass "$name"
    fi
}

# Losses as np.save writes them, without NumPy.
$python - <<'END'
import random, struct
def save(path, shape, values, cut=None):
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }" % (shape,)
    head += ' ' * (-(11 + len(head)) % 64) + '\n'
    data = b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode()
    data += struct.pack('<%dd' % len(values), *values)
    open(path, 'wb').write(data[:cut])
random.seed(1)
values = [random.random() for _ in range(2 * 16 * 4)]
save('good.npy', (2, 16, 4), values)
values[5], values[70] = float('nan'), 7.0
save('nan.npy', (2, 16, 4), values)
END

# The same losses as CSV, rows in another order.
$python - <<'END'
import random
random.seed(1)
values = [random.random() for _ in range(2 * 16 * 4)]
rows = [[c + 1, t + 1] + [repr(v) for v in values[(c * 16 + t) * 4:][:4]] for c in range(2) for t in range(16)]
random.shuffle(rows)
with open('good.csv', 'w') as file:
    file.write('client,round,a,b,c,d\n' + ''.join(','.join(map(str, row)) + '\n' for row in rows))
END

c=(--trust coordinator)
! simulate "${c[@]}" --losses good.csv --names a,c,b,d --trials 2 >out 2>err &&
    grep -qF -- "--names good.csv: column 4 is called 'b', and expert 1 'c'" err &&
    pass "names in another order than the header's" || fail "names in another order: $(cat err)"
for losses in good.npy good.csv; do # the header's names are what --names says of NumPy's
    names=()
    [ $losses = good.csv ] || names=(--names "a,b,c,d")
    simulate "${c[@]}" --losses $losses "${names[@]}" --algorithm "svt,hedge" --trials 3 --format json 2>err |
        grep -v '"seconds"' >"$losses.json"
done
if [ -s good.npy.json ] && cmp good.npy.json good.csv.json; then pass "CSV as NumPy"; else
    fail "CSV as NumPy: $(cat err)"
fi
for losses in good.CSV good.txt good; do # a file is what it holds, not what its name ends in
    cp good.csv $losses
    simulate "${c[@]}" --losses $losses --algorithm "svt,hedge" --trials 3 --format json 2>err | grep -v '"seconds"' |
        sed "s/$losses\"/good.csv\"/" >other.json
    cmp other.json good.csv.json && pass "CSV that is called $losses" || fail "CSV that is called $losses: $(cat err)"
done
printf 'PK\003\004 no table' >good.npz
simulate "${c[@]}" --losses good.npz --trials 2 >out 2>err && fail "no table: taken"
grep -q "good.npz.*(no NumPy file of np.save, so read as CSV)" err && pass "neither NumPy nor CSV" ||
    fail "neither NumPy nor CSV: $(cat err)"
simulate "${c[@]}" --losses good.csv --trials 2 --out named >out 2>err || fail "a header's names: $(cat err)"
ended=$(tr '\n' ' ' <out | sed -nE 's/.*Expert ([a-d]) \([0-3]\) in force at the end.*/\1/p')
if grep -q '"names": \["[abcd]"' good.csv.json && [ -n "$ended" ] &&
    [ "$(tail -n 1 named/choices.csv | cut -d, -f7)" = "$ended" ]; then pass "a header's names are the experts'"; else
    fail "a header's names: $(cat out)"
fi
if simulate "${c[@]}" --losses good.csv --names "a,b,c,d" --trials 2 >out 2>err && grep -qE "Expert [abcd] \(" out; then
    pass "names that are the header's"; else fail "names that are the header's: $(cat out err)"; fi
sed '1s/d$/a/' good.csv >twice.csv
# wrong TEXT OPTION...: losses that are refused with this text
wrong() {
    local text=$1
    shift
    simulate "${c[@]}" --losses "$@" >out 2>err && fail "$* was taken"
    if grep -qF -e "$text" err; then pass "refused: $*"; else fail "$*: $(cat err)"; fi
}
wrong "3 labels, and good.csv has 4 experts — give one for each, or leave names out: the file's header has them" \
    good.csv --names "w,x,y"
wrong "--names 3 labels, and good.npy has 4 experts — give one for each, or leave names out" good.npy --names "w,x,y"
wrong "twice.csv:1: columns 3 and 6 are both called 'a' — expected names that differ" twice.csv
printf 'algorithm: [svt, sparse-vector]\ntrust: coordinator\n\nepsilon: 0\n' >bad.yaml

# Flags override the file; the table has a row per run and goes to standard output, alone.
small=(--experts 8 --rounds 64 --trials 6)
if simulate bad.yaml --epsilon 1 "${small[@]}" >out 2>err && [ ! -s err ] &&
    [ "$(grep -c '^  \(svt\|sparse-vector\) ' out)" -eq 2 ] &&
    [ "$(head -n 1 out)" = '  NOT PRIVATE (seeded): seed 1.' ]; then pass "flags override a file";
    else fail "flags override a file"; fi

# JSON: the promised keys, the promised nulls; single-player algorithms play client 1.
simulate "${c[@]}" --algorithm svt,limited-updates,leader "${small[@]}" --format json >run.json 2>err
$python -m json.tool run.json >/dev/null || fail "JSON that cannot be read"
if $python - <<'END'
import json, math
runs = json.load(open('run.json'))['runs']
assert [r['algorithm'] for r in runs] == ['svt', 'limited-updates', 'leader'], runs
keys = ['algorithm', 'clients', 'experts', 'rounds', 'endless', 'interval', 'epsilon', 'delta', 'trust', 'calibration',
        'protocol', 'unit', 'loss_shape', 'select', 'message', 'trees', 'front_load', 'past_phases', 'rho', 'lstar',
        'range', 'adversary', 'segments', 'means', 'spread', 'drift', 'trials', 'seed', 'regret', 'last', 'best',
        'switches', 'losses', 'loss', 'best_loss', 'ended_with_best', 'rounds_in_force', 'ran_out', 'clipped_share',
        'scalars_up', 'scalars_down', 'bytes_up',
        'bytes_down', 'bound',
        'bound_assumes', 'premise_refuted', 'privacy', 'seconds']
for r in runs:
    assert [k for k in r if k in keys] == keys and set(r) - set(keys) == {'clipped', 'nan'}, list(r)
    values = r['regret']['values']
    assert list(r['regret']) == ['mean', 'std', 'min', 'max', 'values', 'segments'] and len(values) == r['trials'] == 6
    mean = sum(values) / 6
    assert math.isclose(mean, r['regret']['mean'], abs_tol=1e-12)
    assert math.isclose(math.sqrt(sum((v - mean) ** 2 for v in values) / 5), r['regret']['std'], abs_tol=1e-12)
    assert list(r['switches']) == ['mean', 'values']
    assert list(r['privacy']) == ['epsilon_choices', 'epsilon_messages', 'delta', 'unit', 'epsilon_device', 'weak',
                                  'note']
    assert r['privacy']['epsilon_messages'] is None and r['privacy']['note']
assert [r['clients'] for r in runs] == [10, 1, 10]
assert list(runs[0]['bound']) == ['value', 'kind'] and runs[0]['bound']['kind'] == 'probability'
assert [r['bound_assumes'] for r in runs] == ['realizable', 'iid', None]
assert runs[2]['epsilon'] is None and runs[2]['privacy']['epsilon_choices'] is None and runs[2]['bound'] is None
END
then pass "JSON"; else fail "JSON"; fi
# Segments: regret against the best expert of each, in JSON, CSV and the table; of one segment it is the regret itself.
moving=("${c[@]}" --algorithm stoch --adversary "shifting,drifting" --means "0.1,0.5" --drift 0.02 "${small[@]}")
simulate "${moving[@]}" --segments 1,4 --format json >run.json 2>err
simulate "${moving[@]}" --segments 1,4 --format csv >run.csv 2>err
simulate "${moving[@]}" --segments 4 --spread 0,0.1 >out 2>err
if grep -q 'spread .* of segments' out && grep -q '^  of segments: ' out && $python - <<'END'
import csv, json
runs = json.load(open('run.json'))['runs']
rows = list(csv.DictReader(open('run.csv')))
assert [(r['adversary'], r['segments'], r['drift'] is None) for r in runs] == [
    ('shifting', 1, True), ('shifting', 4, True), ('drifting', 1, False), ('drifting', 4, False)]
for n, r in enumerate(runs):
    assert r['means'] == [0.1, 0.5] and r['spread'] == 0
    whole, parts = r['regret']['values'], r['regret']['segments']['values']
    assert whole == parts if r['segments'] == 1 else all(a <= b for a, b in zip(whole, parts)) and whole != parts
    here = [row for row in rows if int(row['run']) == n + 1]
    assert [float(row['regret_segments']) for row in here] == parts
    assert {row['segments'] for row in here} == {str(r['segments'])} and {row['means_hi'] for row in here} == {'0.5'}
assert runs[2]['regret']['values'] == runs[3]['regret']['values'] # only shifting changes its losses
END
then pass "segments"; else fail "segments"; fi
# At their own pace: the best expert on average over devices beside the best on all losses, in JSON, CSV and the table,
# against every adversary that changes; and what is proved of the counts that were seen.
paced=("${c[@]}" --algorithm stoch --clients 30 --experts 4 --epsilon 5 --pace own --unit client-block --play 12
    --activity "9,1" --trials 3 --means "0.1,0.5")
simulate "${paced[@]}" --adversary "shifting,drifting" --segments 3 --spread 0,0.1 --drift 0.05 --format json \
    >run.json 2>err
simulate "${paced[@]}" --adversary "shifting,drifting" --segments 3 --spread 0,0.1 --drift 0.05 --format csv \
    >run.csv 2>err
simulate "${paced[@]}" --adversary shifting --segments 3 >out 2>err
if grep -q 'of segments   of devices   proven' out && grep -q '^  of devices: .* on average over devices' out &&
    $python - <<'END'
import csv, json
runs = json.load(open('run.json'))['runs']
rows = list(csv.DictReader(open('run.csv')))
assert [(r['adversary'], r['spread']) for r in runs] == [
    ('shifting', 0), ('shifting', 0.1), ('drifting', 0), ('drifting', 0.1)]
assert [r['bound'] is None for r in runs] == [False, True, True, True]
assert runs[0]['regret']['devices']['mean'] < runs[0]['bound']['value']
for n, r in enumerate(runs):
    assert r['comparator'] == 'devices' and r['rounds'] == 12
    here = [row for row in rows if int(row['run']) == n + 1]
    assert [float(row['regret_devices']) for row in here] == r['regret']['devices']['values']
    assert r['regret']['devices']['values'] != r['regret']['segments']['values']
END
then pass "regret of devices"; else fail "regret of devices"; fi
simulate --trust nobody --algorithm stoch "${small[@]}" --format json >run.json 2>err
if $python -c 'import json
p = json.load(open("run.json"))["runs"][0]["privacy"]
assert 0 < p["epsilon_messages"] <= 1, p'; then
    pass "messages have an epsilon under trust nobody"
else fail "messages have an epsilon under trust nobody"; fi

# A bound is a number only where the losses are what it assumes; values of a list make rows that can be told apart;
# one trial has no spread.
simulate "${c[@]}" --algorithm svt,stoch,hedge --adversary lower-bound-oblivious,realizable,halving "${small[@]}" \
    --format json >run.json 2>err
simulate "${c[@]}" --algorithm svt,stoch,hedge --losses good.npy --trials 1 --format json >own.json 2>err
simulate "${c[@]}" --algorithm stoch --adversary cross-entropy --trees auto,0,1 "${small[@]}" --format json \
    >trees.json 2>err
simulate "${c[@]}" --algorithm stoch --select flip,exponential "${small[@]}" --format csv >select.csv 2>err
simulate --trust nobody --algorithm stoch --message vote,knorm "${small[@]}" --format csv >message.csv 2>err
if $python - <<'END'
import csv, json
shown = {(r['algorithm'], r['adversary']) for r in json.load(open('run.json'))['runs'] if r['bound'] is not None}
assert shown == {('svt', 'realizable'), ('svt', 'halving'), ('stoch', 'realizable'), ('hedge', 'lower-bound-oblivious'),
                 ('hedge', 'realizable'), ('hedge', 'halving')}, shown
own = json.load(open('own.json'))['runs']
assert [r['bound'] is not None for r in own] == [False, False, True]
assert [r['bound_assumes'] for r in own] == ['realizable', 'iid', 'any']
assert all(r['regret']['std'] is None and r['regret']['mean'] is not None for r in own)
trees = json.load(open('trees.json'))['runs']
assert [r['trees'] for r in trees] == ['auto', 0, 1] and all(r['bound'] is None for r in trees)
assert all(r['bound_assumes'] == 'iid-smooth' for r in trees)
for name, words in (('select', ['flip', 'exponential']), ('message', ['vote', 'knorm'])):
    assert list(dict.fromkeys(r[name] for r in csv.DictReader(open(name + '.csv')))) == words
END
then pass "bounds need their premise, rows can be told apart";
    else fail "bounds need their premise, rows can be told apart"; fi
simulate "${c[@]}" --algorithm svt --adversary bernoulli,realizable --epsilon 1,2 --experts 8 --rounds 64 --trials 1 \
    >out 2>err
if grep -q 'none: assumes realizable ' out && grep -q '^  assumes realizable: proved only if ' out &&
    grep -q ' ± –  ' out &&
    grep -q '^  algorithm .*   epsilon   .*epsilon (choices)   epsilon (device)$' out; then pass "the table says so";
    else fail "the table says so"; fi

# The same bytes, seconds aside, for any number of threads; in the directory, too.
many=("${c[@]}" --algorithm "svt,stoch,hedge" --adversary gaussian "${small[@]}")
simulate "${many[@]}" --threads 1 --out one --format json | grep -v '"seconds"' >one.json
simulate "${many[@]}" --threads 2 --out two --format json | grep -v '"seconds"' >two.json
if cmp one.json two.json && cmp one/trials.csv two/trials.csv && cmp one/curves.csv two/curves.csv &&
    cmp one/choices.csv two/choices.csv &&
    [ "$(cd one && echo *)" = "choices.csv curves.csv results.json trials.csv" ]; then pass "any number of threads";
    else fail "any number of threads"; fi
simulate "${many[@]}" --format csv >out
if cmp out one/trials.csv; then pass "csv"; else fail "csv"; fi
[ "$(wc -l <one/trials.csv)" -eq 19 ] || fail "a line per run and trial"

# Who was in force when: every round of every trial once, as often changed as trials.csv says, and the last one last.
if $python - one <<'END'; then
import csv, sys
trials = {(r['run'], r['trial']): r for r in csv.DictReader(open(sys.argv[1] + '/trials.csv'))}
choices = {}
for row in csv.DictReader(open(sys.argv[1] + '/choices.csv')):
    choices.setdefault((row['run'], row['trial']), []).append(row)
assert choices.keys() == trials.keys()
for key, rows in choices.items():
    trial = trials[key]
    assert rows[0]['from_round'] == '1' and rows[-1]['to_round'] == trial['rounds']
    assert all(int(a['to_round']) + 1 == int(b['from_round']) for a, b in zip(rows, rows[1:]))
    assert all(row['best'] == str(row['expert'] == trial['best']).lower() for row in rows)
    if rows[0]['exact'] == 'true':
        assert len(rows) == int(trial['switches']) + 1, (rows, trial)
        assert rows[-1]['expert'] == trial['last'] and rows[-1]['from_round'] == trial['last_since']
        assert all(a['expert'] != b['expert'] for a, b in zip(rows, rows[1:]))
    assert 0 <= float(trial['regret']) <= float(trial['loss']) + 1e-9
END
    pass "choices"
else
    fail "choices"
fi

# The story: what JSON says follows from trials.csv.
simulate "${many[@]}" --format json >run.json
if $python - one <<'END'; then
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1] + '/trials.csv')))
for number, run in enumerate(json.load(open('run.json'))['runs'], 1):
    mine = [r for r in rows if r['run'] == str(number)]
    mean = lambda values: sum(values) / len(mine)
    assert abs(run['loss'] - mean([float(r['loss']) for r in mine])) < 1e-9
    assert abs(run['best_loss'] - mean([float(r['loss']) - float(r['regret']) for r in mine])) < 1e-9
    assert run['ended_with_best'] == sum(r['last'] == r['best'] for r in mine)
    assert abs(run['rounds_in_force'] - mean([run['rounds'] - int(r['last_since']) + 1 for r in mine])) < 1e-9
    assert (run['ran_out'] is None) == (run['algorithm'] != 'svt')
    share = mean([int(r['clipped']) for r in mine]) / (run['clients'] * run['rounds'] * run['experts'])
    assert abs(run['clipped_share'] - share) < 1e-12 
END
    pass "the story in numbers"
else
    fail "the story in numbers"
fi
simulate "${c[@]}" --algorithm svt --experts 8 --rounds 2000 --adversary bernoulli --epsilon 0.1 --trials 3 >out 2>err
tr '\n' ' ' <out | grep -q 'It lost [0-9.]* per client, .* SWITCHES RAN OUT in [1-3] of 3 trials: ' &&
    pass "switches that ran out are said" || fail "switches that ran out: $(cat out)"

# Pictures: of the kind that the name says, with a line for each run; refused before anything is played.
simulate "${c[@]}" "${small[@]}" --algorithm svt,hedge --plot two.svg >out 2>err
grep -q '<svg' two.svg && grep -q '>svt<' two.svg && grep -q '>hedge<' two.svg &&
    grep -q '>regret per client<' two.svg && grep -q '>% with the best expert<' two.svg &&
    pass "a picture of two runs" || fail "a picture of two runs: $(cat err)"
simulate "${c[@]}" "${small[@]}" --algorithm svt,hedge --names a1,b2,c3,d4,e5,f6,g7,h8 --plot named.svg >out 2>err
grep -qE '>expert [a-h][1-8] \([0-7]\)<' named.svg && grep -q '>run (its first trial)<' named.svg &&
    ! grep -q '>expert ' two.svg && grep -q '>the best expert in hindsight<' two.svg &&
    grep -q '>run (its first trial)<' two.svg && pass "experts over time, by name" ||
    fail "experts over time, by name: $(cat err)"
simulate "${c[@]}" --algorithm hedge --experts 3 --rounds 500 --adversary bernoulli --epsilon 1 --trials 2 >out 2>err
tr '\n' ' ' <out | grep -q 'With earlier stretches it was in force in about [0-9]* % of all\.' &&
    pass "the share of an expert that comes and goes" || fail "the share of an expert: $(cat out)"
simulate "${c[@]}" "${small[@]}" --algorithm svt,hedge --clients 1,2,3,4,5 --plot sweep.svg >out 2>err
grep -q '>clients<' sweep.svg && grep -q '>hedge<' sweep.svg && ! grep -q '>round<' sweep.svg &&
    pass "a picture of a sweep" || fail "a picture of a sweep: $(cat err)"
simulate "${c[@]}" "${small[@]}" --algorithm svt,hedge --clients 2,3 --epsilon 1,2,4 --plot both.svg >out 2>err
grep -q '>epsilon<' both.svg && grep -q '>svt, clients 2<' both.svg && grep -q '>hedge, clients 3<' both.svg &&
    pass "a picture over the one of two numbers that has more values" || fail "two numbers: $(cat err)"
csv="differs, or take the numbers with format csv"
refused "more lines than a picture holds" \
    "caucus simulate: --plot has room for 14 lines over epsilon, not 15 — give fewer values of what else $csv" \
    "${c[@]}" --algorithm svt,hedge,stoch --clients 1,2,3,4,5 --epsilon 1,2,3,4,5,6 --plot full.svg
refused "more runs than a picture holds" \
    "caucus simulate: --plot has room for 7 runs that sweep no number, not 8 — give fewer${csv#differs}" \
    "${c[@]}" --algorithm svt,hedge,stoch,leader --adversary bernoulli,realizable --plot full.svg
simulate "${c[@]}" "${small[@]}" --algorithm stoch --plot one.png >out 2>err
[ "$(head -c 4 one.png | tail -c 3)" = PNG ] && pass "PNG" || fail "PNG: $(cat err)"
refused "a picture of another kind" "caucus simulate: --plot x.gif: must end in .svg or .png" "${c[@]}" --plot x.gif
refused "a picture where nothing can be written" "caucus simulate: --plot no/x.svg: No such file or directory" \
    "${c[@]}" --plot no/x.svg

# A NaN is the worst loss, and counted.
simulate "${c[@]}" --losses nan.npy --trials 2 --format json >run.json 2>err
printf '%s\n' "  Losses that were not a number, counted as the worst loss: 2 (at most 1 in one trial)." \
    "  Losses outside their range, moved to its end: 2, 0.78 % of all — if losses can be larger, the setting range \
says so." >want
if diff want <(head -n 2 err) && grep -q "did you mean the range 0,10?" err &&
    grep -q '"nan": 1,' run.json && grep -q '"clipped": 2,' run.json; then pass "NaN is counted";
    else fail "NaN is counted"; fi

# A ledger: a reservation and its releases; a run that does not fit is not run.
simulate "${c[@]}" "${small[@]}" --ledger l.txt --budget 1.5 >out 2>err
head -1 l.txt | cut -f1,6 >got; printf 'budget\t1500000000\n' | cmp - got || fail "the ledger's budget"
# 63 rounds that are followed by a choice, epsilon a little under 1 each, in 10^-9
sed -n 2p l.txt | cut -f1-5 >got; printf 'run\t1\t62999999998\tsimulate svt coordinator event\tseeded\n' | cmp - got ||
    fail "the ledger's run"
sed -n 3p l.txt | cut -f1-5 >got; printf 'release\t1\t1\tchecks\tseeded\n' | cmp - got ||
    fail "the ledger's first release"
cp l.txt before.txt
code=0
simulate "${c[@]}" "${small[@]}" --ledger l.txt --out left >out 2>err || code=$?
if [ "$code" -eq 3 ] && [ ! -e left ] && [ ! -s out ] && cmp l.txt before.txt &&
    grep -q '^caucus simulate: l.txt: the budget does not allow run 1 of 1: epsilon .* — nothing was run$' err; then
    pass "a budget that is spent"
else fail "a budget that is spent (exit code $code)"; fi
printf 'x' >>l.txt
refused "a torn ledger" "l.txt:$(($(wc -l <before.txt) + \
    1)): the last line is torn (a write was cut short) — remove that line to go on" "${c[@]}" "${small[@]}" \
    --epsilon 0.1 --ledger l.txt

# Stopped, and gone on with: the bytes of an undisturbed run. How far it came when stopped does not matter.
run=("${c[@]}" --algorithm "svt,sparse-vector" --experts 50 --rounds 2048) # a million trials: hours
# Not the function: the signal is for the program itself.
"$CAUCUS" simulate "${run[@]}" --trials 1000000 --out stopped >out 2>err &
child=$!
while [ ! -d stopped ] && kill -0 "$child" 2>/dev/null; do sleep 0.02; done # made when it begins to play
sleep 0.3 # some trials, so that there is something to go on with; none is right, too
kill -INT "$child"
code=0
wait "$child" || code=$?
again="caucus simulate ${run[*]} --trials 1000000 --out stopped --resume"
if [ "$code" -eq 1 ] && [ -s stopped/unfinished.csv ] && [ -s stopped/trials.csv ] &&
    grep -q '"done": ' stopped/results.json &&
    grep -q "^caucus simulate: stopped after [0-9]* of 2000000 trials, kept in stopped — to go on: $again\$" err; then
    pass "stopped"
else fail "stopped (exit code $code)"; cat err; fi
code=0
simulate "${run[@]}" --trials 40 --out stopped >out 2>err || code=$?
if [ "$code" -eq 2 ] && grep -q 'holds a simulation that was stopped — add --resume to go on' err; then
    pass "not overwritten"; else fail "not overwritten"; fi
code=0
simulate "${run[@]}" --seed 2 --trials 40 --out stopped --resume >out 2>err || code=$?
if [ "$code" -eq 2 ] && grep -q '^stopped/unfinished.csv: run 1 had other settings' err; then pass "other settings";
    else fail "other settings"; fi
# Keep at most 15 trials of the first run, none of the second, so that both loaded and played trials count.
awk -F, -v OFS=, '/^run,/ { keep = $2 != 1 ? 0 : $4 < 15 ? $4 : 15; $4 = keep; print; next }
    /^(caucus|end)/ { print; next } keep-- > 0' \
    stopped/unfinished.csv >shorter && mv shorter stopped/unfinished.csv
simulate "${run[@]}" --trials 40 --out stopped --resume >out 2>err
simulate "${run[@]}" --trials 40 --out whole >out2 2>err2
if cmp out out2 && cmp stopped/trials.csv whole/trials.csv && cmp stopped/curves.csv whole/curves.csv &&
    cmp stopped/choices.csv whole/choices.csv &&
    [ ! -e stopped/unfinished.csv ] &&
    cmp <(grep -v '"seconds"' stopped/results.json) <(grep -v '"seconds"' whole/results.json); then pass "gone on with";
    else fail "gone on with"; fi

# Help names every word of every list, and warnings are said.
simulate --help >out
for word in --trust svt limited-updates paper-local movielens lower-bound-oblivious client-block shortlist \
    --resume experiments/figure1.yaml; do
    grep -q -e "$word" out || fail "help says nothing of $word"
done
simulate --trust paper-local --calibration paper --algorithm stoch "${small[@]}" >out 2>err
if grep -q '^caucus simulate: trust paper-local: messages are NOT epsilon-private' err; then pass "paper-local warns";
    else fail "paper-local warns"; fi
head -n 3 out | grep -qx "  WEAK: trust paper-local is for reproducing a paper, not for people's data" &&
    pass "paper-local is weak in the first lines" || fail "paper-local in the first lines: $(cat out)"
[ "$failures" -eq 0 ]
