#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `caucus pick`: CSV and NumPy give the same choice, the best column wins where it is far ahead, --largest turns it
# round, sums do as rows do, also a vector of them. Exact words are in exact/pick.exact.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
pick() { "$CAUCUS" pick "$@" 2>err | head -n 1; }
# same NAME WANT GOT
same() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1: '$3' instead of '$2' ($(cat err))"; fi; }

$python - <<'END'
import struct
rows = [[0.9, 0.1, 0.5, (i % 10) / 10] for i in range(400)]
with open('scores.csv', 'w') as f:
    f.write('a,"b c",d,e\n' + ''.join(','.join(map(str, r)) + '\n' for r in rows))
with open('bare.csv', 'w') as f:
    f.write(''.join(','.join(map(str, r)) + '\n' for r in rows))
with open('sums.csv', 'w') as f:
    f.write(','.join(str(sum(c)) for c in zip(*rows)) + '\n')
def save(name, shape, values):
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }" % shape
    head += ' ' * (-(11 + len(head)) % 64) + '\n'
    with open(name, 'wb') as f:
        f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode())
        f.write(struct.pack('<%dd' % len(values), *values))
save('scores.npy', '(400, 4)', [v for r in rows for v in r])
save('sums.npy', '(4,)', [sum(c) for c in zip(*rows)])
open('names', 'w').write('w\nx\r\ny\nz\n')
END
e=(--epsilon 5)
same "smallest" "b c (1)" "$(pick scores.csv "${e[@]}")"
same "largest" "a (0)" "$(pick scores.csv "${e[@]}" --largest)"
same "no header" "1" "$(pick bare.csv "${e[@]}")"
same "NumPy" "1" "$(pick scores.npy "${e[@]}")"
same "names" "x (1)" "$(pick scores.npy "${e[@]}" --names w,x,y,z)"
same "names of a file" "x (1)" "$(pick bare.csv "${e[@]}" --names @names)"
same "a label that begins with @" '"@w",' \
    "$("$CAUCUS" pick bare.csv "${e[@]}" --names @@w,x,y,z --largest --format json 2>err | grep -o '"@w",')"
printf '\xef\xbb\xbfw\nx\ny\nz\n' >marked # as spreadsheets write it
same "names of a file with a byte order mark" '"w",' \
    "$("$CAUCUS" pick bare.csv "${e[@]}" --names @marked --largest --format json 2>err | grep -o '"w",')"
same "sums" "1" "$(pick sums.csv "${e[@]}" --summed --sensitivity 1)"
same "sums of a NumPy vector" "1" "$(pick sums.npy "${e[@]}" --summed --sensitivity 1)"
pick sums.npy "${e[@]}" >/dev/null || true
grep -qF "sums.npy: one dimension — expected persons × candidates; one row of sums is for --summed" err &&
    pass "a vector without --summed" || fail "a vector without --summed: $(cat err)"
head -c -8 scores.npy >cut.npy
pick cut.npy "${e[@]}" >/dev/null || true
grep -qF "cut.npy: shape (400, 4) needs 12800 bytes of values, the file has 12792 — it is truncated" err &&
    pass "a shape as the file has it" || fail "a shape as the file has it: $(cat err)"
same "sums, largest" "0" "$(pick sums.csv "${e[@]}" --summed --sensitivity 1 --largest)"
printf '1e12,3,2e12\n' >far.csv
pick far.csv "${e[@]}" --summed --sensitivity 10 >/dev/null
grep -qF "2 of 3 sums are beyond 2^30 times the sensitivity (1.07374e+10), or no numbers, and were moved there" err &&
    pass "sums beyond the limit are counted, and the limit named" || fail "sums beyond the limit: $(cat err)"
same "a range that holds all" "b c (1)" "$(pick scores.csv --epsilon 50 --range -1,3)"
pick scores.csv "${e[@]}" --range 0.4,0.6 >/dev/null
grep -q '^caucus pick: 1080 of 1600 values outside the range' err || fail "no count of clamped values: $(cat err)"
printf '0.5,nan\n0.2,0.9\n' >gaps.csv
pick gaps.csv "${e[@]}" >/dev/null
grep -qF '1 values that are not numbers were taken for the worst there is (this count is not private)' err &&
    pass "the count of what is no number is not private, and said" || fail "values that are not numbers: $(cat err)"

# One seed, one choice, in every format; hardly any privacy lost, hardly anything learnt: every column is chosen.
for seed in 1 2 3; do
    little=(--epsilon 0.01 --seed "$seed")
    same "seed $seed" "$(pick bare.csv "${little[@]}")" "$(pick scores.npy "${little[@]}")"
done
seen=$(for seed in $(seq 40); do pick bare.csv --epsilon 0.001 --seed "$seed"; done | sort -u | wc -l)
same "little epsilon, any choice" 4 "$seen"
[ "$failures" -eq 0 ]
