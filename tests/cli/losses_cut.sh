#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A file of losses that somebody cuts while it is read: one line that names it, exit code 1, nothing left behind.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"

# save FILE: 20 clients x 2000 rounds x 50 experts, as np.save writes them, without NumPy.
save() {
    /usr/bin/python3 - "$1" <<'END'
import array, random, struct, sys
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (20, 2000, 50), }"
head += ' ' * (-(11 + len(head)) % 64) + '\n'
random.seed(1)
values = array.array('f', (random.random() for _ in range(50000)))
with open(sys.argv[1], 'wb') as file:
    file.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode())
    for _ in range(40):
        values.tofile(file)
END
}

# cut_while_running NAME SIZE ARGUMENT...: a run that would take for ever, once it has begun (its directory is there).
cut_while_running() {
    local name=$1 size=$2 code=0 pid
    shift 2
    save mine.npy
    timeout 200 "$CAUCUS" simulate --losses mine.npy --trust coordinator --epsilon 10 --trials 1000000 --out results \
        "$@" >out 2>err &
    pid=$!
    while [ ! -d results ] && kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
    truncate -s "$size" mine.npy
    wait "$pid" || code=$?
    echo "mine.npy: it became shorter while it was being read" >want
    if [ "$code" -ne 1 ] || [ -s out ] || [ -e results ] || ! diff -u want err; then
        echo "not ok: $name (exit code $code)"
        failures=$((failures + 1))
    else
        echo "ok: $name"
    fi
    rm -rf results
}

cut_while_running "down to its header" 128 --algorithm svt --interval 10
cut_while_running "to nothing" 0 --algorithm hedge --interval 10
cut_while_running "by one value: no signal tells" -4 --algorithm stoch
cut_while_running "on one thread" 1000000 --algorithm svt --interval 10 --threads 1
exit $((failures > 0))
